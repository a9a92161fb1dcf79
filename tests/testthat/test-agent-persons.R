# People who come again: no release holds two rewards of a person, and the promise is mu sqrt(m)

skip_on_cran()
skip_if_not_installed("RSQLite")

new_trial <- function(m = 3, ..., policy = policy_randomised(mu = 0.5, block = 10), deadline = Inf) {
  dpts_agent(policy, c("a", "b"), use = "arrival", max_per_person = m, deadline = deadline, ...)
}

# Visits one by one; a reward comes at once, or never for those whose `answers` is FALSE
visit <- function(agent, people, answers = TRUE, rewards = 1) {
  answers <- rep_len(answers, length(people))
  rewards <- rep_len(rewards, length(people))
  seen <- lapply(seq_along(people), function(i) {
    choice <- agent_choose(agent, person = people[i])
    status <- if (answers[i]) agent_reward(agent, choice$ticket, rewards[i])$status else NA
    c(as.list(choice), status = status)
  })
  column <- function(name) unlist(lapply(seen, `[[`, name))
  data.frame(person = people, t = column("t"), arm = column("arm"), ticket = column("ticket"), status = column("status"))
}

# Of each ticket that counts, the block, from the store
blocks_of <- function(agent, tickets) {
  rows <- agent$store$tickets(tickets)
  rows$batch[match(tickets, rows$ticket)]
}

test_that("who comes again while a reward is out, or in one call, is in no block", {
  agent <- new_trial(5, policy = policy_randomised(mu = 0.5, block = 5))
  choice <- agent_choose(agent, n = 3, person = c("p", "p", "q"))
  expect_identical(is.na(choice$t), c(FALSE, TRUE, FALSE))
  others <- visit(agent, c("r", "s", "t", "u"))
  # The first block is full, and waits for p and q; p's reward is out, so that the new block does not take p.
  expect_identical(is.na(visit(agent, "p")$t), TRUE)
  agent_reward(agent, choice$ticket[c(1, 3)], 1)
  expect_identical(is.na(visit(agent, c("p", "p"))$t), c(FALSE, TRUE))
})

test_that("visits that do not count end a block, so that few people never stall it", {
  agent <- new_trial(50, policy = policy_randomised(mu = 0.5, block = 10))
  visits <- visit(agent, rep(c("p", "q"), 14))
  # Blocks of 2 people and 11 more visits
  expect_identical(which(!is.na(visits$t)), c(1:2, 13L + 1:2, 26L + 1:2))
  expect_equal(sum(dpts_releases(agent)$n), 4)
  # Where everybody comes once nothing has changed.
  expect_false(anyNA(visit(new_trial(50), paste0("p", 1:11))$t))
})

test_that("the promise is mu sqrt(m) everywhere: printed, accounted, budgeted, stated, shown", {
  agent <- new_trial(49, policy = policy_randomised(mu = 0.125), budget = privacy_gdp(0.875))
  known <- dpts_privacy(agent, delta = 1e-6)
  expect_equal(min(known$epsilon[known$unit == "person"]), gdp_epsilon(0.875, 1e-6), tolerance = 1e-9)
  expect_match(format(agent)[2], "0.875-GDP for people with up to 49 rewards in different releases")
  expect_equal(api_status(agent)$guess, pnorm(0.4375), tolerance = 1e-3)
  expect_identical(api_status(agent)$guarantee, "0.875-GDP for people with up to 49 rewards in different releases")
  said <- privacy_statement(agent)
  expect_match(said[["What is guaranteed"]], "at most 67 times in 100") # Phi(0.4375) = 0.6691
  expect_match(said[["What is assumed"]], "no two of them are in one release")
  expect_error(new_trial(50, policy = policy_randomised(mu = 0.125), budget = privacy_gdp(0.875)), "`budget`",
               class = "dpts_error_input")
  agent_restored(agent)
  known <- dpts_privacy(agent, delta = 1e-6)
  expect_equal(min(known$epsilon[known$unit == "person"]), gdp_epsilon(0.875 * sqrt(2), 1e-6), tolerance = 1e-9)
  # Laplace noise composes; what does not keep rewards apart is charged as a group.
  pure <- dpts_privacy(new_trial(20, policy = policy_randomised(epsilon = 1)), delta = 1e-6)
  expect_equal(min(pure$epsilon[pure$unit == "person" & pure$accountant == "pld"]),
               dpts_privacy(privacy_group(policy_randomised(epsilon = 1), 20, TRUE), 1, delta = 1e-6,
                            accountant = "pld")$epsilon)
  group <- dpts_privacy(new_trial(4, policy = policy_gaussian_imed(0.5)), delta = 1e-6)
  expect_equal(min(group$epsilon[group$unit == "person"]), gdp_epsilon(2, 1e-6))
  bits <- dpts_privacy(new_trial(100, policy = policy_local(policy_imed(), 0.5)), delta = 1e-6)
  expect_lt(min(bits$epsilon[bits$unit == "person"]), 40) # of 50
})

test_that("evidence by means is refused with several rewards of a person, and by tosses it is there", {
  withr::local_seed(1)
  agent <- new_trial(policy = policy_randomised(mu = 1, block = 10))
  visit(agent, sample(letters, 30, replace = TRUE), rewards = runif(30))
  expect_error(evidence(agent, "means"), "must be \"tosses\".*several rewards of a person",
               class = "dpts_error_verdict")
  expect_identical(evidence(agent), evidence(agent, "tosses"))
  expect_s3_class(effects(agent), "dpts_effects")
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(dpts_releases(agent), file)
  expect_error(evidence(as_releases(utils::read.csv(file)), "means"), "several rewards", class = "dpts_error_verdict")
  other <- new_trial(policy = policy_top_two(mu = 1))
  two <- new_trial(2, policy = policy_top_two(mu = 1))
  for (f in list(evidence, effects, verdict)) for (agent in list(other, two)) {
    expect_error(f(agent), "several rewards of a person", class = "dpts_error_verdict")
  }
  expect_identical(nrow(estimates(other)), 2L)
  fixed <- dpts_agent(policy_randomised(mu = 1, block = 10, permuted = TRUE), 2, use = "arrival", max_per_person = 3)
  expect_error(effects(fixed), "which has no intervals by randomisation, .* and has several rewards",
               class = "dpts_error_verdict")
})

test_that("a store opened anew remembers who is in which block", {
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_randomised(mu = 1, block = 20), 2, file, use = "arrival", max_per_person = 5)
  visit(agent, c("p", "q"))
  agent_close(agent)
  agent <- agent_open(file)
  expect_identical(is.na(visit(agent, c("p", "z", "q", "p"))$t), c(TRUE, FALSE, TRUE, TRUE))
  agent_close(agent)
})

test_that("with late rewards, restarts, and arms that come and go no release holds a person twice", {
  file <- withr::local_tempfile(fileext = ".sqlite")
  for (seed in 1:2) {
    withr::local_seed(seed)
    policy <- policy_randomised(mu = 1, rule = "thompson", block = 8, permuted = seed == 2)
    agent <- dpts_agent(policy, c("a", "b", "c"), file, use = "arrival", max_per_person = 4)
    seen <- data.frame()
    waiting <- character()
    late <- NULL
    tell <- function(ticket, reward) late[ticket] <<- agent_reward(agent, ticket, reward)$status == "late"
    for (i in 1:33) {
      people <- sample(letters[1:12], 4, replace = TRUE)
      choice <- agent_choose(agent, n = 4, person = people, offer = if (runif(1) < 0.2) c("a", "b"))
      seen <- rbind(seen, data.frame(person = people, t = choice$t, ticket = choice$ticket))
      waiting <- c(waiting, choice$ticket)
      now <- runif(length(waiting)) < 0.4
      if (any(now)) tell(waiting[now], runif(sum(now)))
      waiting <- waiting[!now]
      if (i == 8) agent_arms(agent, pause = "c")
      if (i == 16) agent_arms(agent, resume = "c", add = if (seed == 1) "d")
      if (i %in% c(12, 24)) {
        agent_close(agent)
        agent <- agent_open(file)
      }
    }
    counted <- seen[!is.na(seen$t), ]
    block <- blocks_of(agent, counted$ticket)
    expect_true(all(table(counted$person) <= 4))
    expect_false(anyDuplicated(data.frame(counted$person, block)[block > 0, ]) > 0)
    expect_gt(length(unique(block)), 3)
    expect_identical(sum(pulls(agent)$pulls), as.numeric(nrow(counted)))
    # As many rewards are in what is released as have a block. A visit that is no round has a ticket, whose reward is late.
    tell(waiting, 0.5)
    expect_identical(unname(late[seen$ticket]), is.na(seen$t))
    agent_finish(agent)
    expect_equal(sum(dpts_releases(agent)$n), sum(block > 0))
    expect_identical(unique(dpts_releases(agent)$per_person), 4)
    agent_close(agent)
    unlink(file)
  }
})

test_that("visits that are no rounds change nothing for the policy, also for one that starts anew", {
  policy <- policy_restart(policy_klucb(), 5)
  agent <- dpts_agent(policy, 3, use = "arrival", max_per_person = 1)
  alone <- dpts_agent(policy, 3, use = "arrival")
  arms <- integer()
  tickets <- matrix("", 0, 2)
  for (i in 1:18) {
    mine <- agent_choose(agent, 1 + i %% 3, person = as.character(c(i, max(i - 1, 1), 1)[seq_len(1 + i %% 3)]))
    own <- agent_choose(alone)
    expect_identical(mine$t, c(i, NA, NA)[seq_along(mine$t)] + 0)
    expect_identical(mine$arm[1], own$arm)
    tickets <- rbind(tickets, c(mine$ticket[1], own$ticket))
    arms[i] <- as.integer(own$arm)
    if (i <= 2) next # rewards are late
    reward <- (7 * i) %% 5 * arms[i - 2] / 15
    agent_reward(agent, tickets[i - 2, 1], reward)
    agent_reward(alone, tickets[i - 2, 2], reward)
  }
})

test_that("few people never stall a batch of one arm, and what may be in one sum is charged as a group", {
  # Two people fill no batch of 20: 20 visits more end it, and its sum is released.
  agent <- new_trial(50, policy = policy_gaussian_imed(1, first = 20, correlation = 0))
  visits <- visit(agent, rep(c("p", "q"), 12))
  expect_identical(which(!is.na(visits$t)), c(1L, 2L, 24L))
  expect_equal(sum(dpts_releases(agent)$n), 2)
  # So it is in each batch: of 6 people, of 4 times the people so far, and again.
  agent <- new_trial(50, policy = policy_gaussian_imed(1, first = 6, ratio = 5, correlation = 0))
  counts <- vapply(1:40, function(i) {
    ticket <- agent_choose(agent, offer = "a", person = c("p", "q")[1 + i %% 2])
    if (!is.na(ticket$t)) agent_reward(agent, ticket$ticket, 1)
    !is.na(ticket$t)
  }, NA)
  expect_identical(which(counts), cumsum(c(1L, 1L, 6L + 2L, 1L, 8L + 2L, 1L, 16L + 2L)))
  # What may be in one sum is charged as a group.
  promise <- function(policy) format(new_trial(25, policy = policy))[2]
  expect_match(promise(policy_gaussian_imed(1, correlation = 0)), "5-GDP for people with up to 25 rewards in different")
  expect_match(promise(policy_gaussian_imed(1)), "25-GDP for people with up to 25 rewards$")
  expect_match(promise(policy_restart(policy_gaussian_imed(1, correlation = 0), 100)), "25 rewards$")
})

test_that("blocks and batches end by the clock, and what is released then is stored", {
  day <- 86400
  now <- 100.5 * day
  withr::local_options(dpts.clock = function() now)
  file <- withr::local_tempfile(fileext = ".sqlite")
  for (policy in list(policy_randomised(mu = 1, block = 100), policy_gaussian_imed(1, first = 100, correlation = 0))) {
    unlink(file)
    agent <- dpts_agent(policy, c("a", "b"), file, use = "arrival", max_per_person = 9,
                        block_time = as.difftime(2, units = "days"))
    visit(agent, c("p", "q", "r"))
    now <- 101.5 * day # not a multiple of two days
    expect_identical(is.na(visit(agent, c("p", "s"))$t), c(TRUE, FALSE))
    expect_equal(sum(dpts_releases(agent)$n), 0)
    now <- 102.1 * day
    table <- dpts_releases(agent)
    expect_equal(sum(table$n), 4)
    expect_identical(dpts_releases(agent), table)
    agent_close(agent)
    agent <- agent_open(file)
    expect_identical(dpts_releases(agent), table)
    expect_false(anyNA(visit(agent, c("p", "q"))$t))
    # A block that nobody is in, or whose rewards are out, does not release.
    out <- visit(agent, "s", FALSE)
    now <- 104.1 * day
    agent_clock(agent)
    waits <- dpts_releases(agent)
    now <- 106.1 * day
    agent_clock(agent)
    expect_identical(dpts_releases(agent), waits)
    agent_reward(agent, out$ticket, 1)
    expect_equal(sum(dpts_releases(agent)$n), 7)
    # After the end there is no block to end.
    ended <- function() sum(agent_journal(agent)$kind == "end of block")
    visit(agent, "t", FALSE)
    agent_finish(agent, "verdict")
    expect_equal(ended(), 3)
    now <- 108.1 * day
    agent_clock(agent)
    expect_equal(ended(), 3)
    agent_close(agent)
    now <- 100.5 * day
  }
  expect_error(new_trial(policy = policy_ucb1(), block_time = as.difftime(1, units = "days")), "`block_time`",
               class = "dpts_error_input")
  expect_error(new_trial(block_time = 7), "`block_time`", class = "dpts_error_input")
  # A time is one that a clock can tell. Only a deadline may be none.
  for (seconds in c(Inf, 1e-9, 0.0009)) for (name in c("block_time", "window", "retention", if (seconds < 1) "deadline")) {
    given <- stats::setNames(list(as.difftime(seconds, units = "secs")), name)
    expect_error(do.call(new_trial, given), sprintf("`%s` must be finite, and a millisecond at least", name), class = "dpts_error_input")
  }
  expect_error(agent_outcome(deadline = hours(Inf)), "`deadline` must be finite", class = "dpts_error_input")
  expect_match(format(new_trial(deadline = hours(Inf))), "waited for without limit", all = FALSE)
  expect_match(format(new_trial(block_time = hours(36))), "an open block or batch ends after 1.5 days at the latest", all = FALSE)
})

test_that("a window is over when its end is reached, and not before", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(mu = 1), 2, store, use = "arrival", max_per_person = 9, window = hours(1))
    x <- agent_choose(agent, 3, person = c("Ada", "Bob", "Cy"))$ticket
    turn(3599)
    expect_identical(agent_choose(agent, person = "Ada")$ticket, x[1])
    expect_identical(agent_reward(agent, x[1], 1)$status, "waiting")
    turn(1)
    # Of one who has told nothing until then the first reward is all; of one who has, the mean is taken.
    expect_identical(agent_reward(agent, x[c(1, 2, 2)], c(0, 1, 0))$status, c("late", "used", "late"))
    expect_equal(sum(pulls(agent)$outstanding), 1)
    expect_false(agent_choose(agent, person = "Cy")$ticket == x[3])
    expect_identical(dpts:::api_status(agent)$window, 3600)
    # After the end nothing is kept of who comes for the first time.
    agent_finish(agent, "verdict")
    expect_identical(agent_choose(agent, 2, person = c("Di", "Di"))$t, c(NA_real_, NA_real_))
    expect_identical(agent_person(agent, c("Cy", "Di"))$person, "Cy")
    agent_close(agent)
  })
})

test_that("nobody is given a ticket of somebody else, whatever the key, in every store", {
  each_database(function(store) {
    turn <- test_clock()
    for (window in list(NULL, 40)) {
      agent <- dpts_agent(policy_randomised(mu = 1, block = 5), c("a", "b"), if (is.null(window)) NULL else store, deadline = hours(1 / 90),
                          max_per_person = 9, window = if (!is.null(window)) as.difftime(window, units = "secs"))
      other <- if (!is.null(window) && is.character(store)) agent_open(store) else agent
      ask <- function(key, ..., of = agent) agent_choose(of, length(c(...)), person = c(...), key = key)$ticket
      refused <- function(key, ...) expect_error(ask(key, ...), "came with another call", class = "dpts_error_key")
      one <- ask("k1", "A")
      if (!is.null(window)) expect_identical(ask("k2", "A"), one)
      two <- ask("k2", "A", "B")
      expect_identical(two[1] == one, !is.null(window))
      for (of in list(agent, other)) expect_identical(ask("k2", "A", "B", of = of), two)
      expect_identical(ask("k2", "B", "A"), rev(two))
      refused("k2", "A")
      refused("k2", "C")
      refused("k2", "C", "D")
      refused("k1", "B")
      refused("k1", "A", "B")
      # One who comes twice in a call has the tickets of the first and the second time, or twice the one of a window.
      three <- ask("k3", "E", "F", "E")
      expect_identical(three[1] == three[3], !is.null(window))
      expect_identical(ask("k3", "E", "F", "E"), three)
      refused("k3", "E", "G", "G")
      if (is.null(window)) refused("k3", "E", "F", "F")
      for (i in 1:3) ask(NULL, paste0("more", i)) # A's block is full
      # Their tickets are resolved, and a window is over: B's of this key stays, and A, who had another one's, has a new one.
      turn(41)
      later <- ask("k2", "A", "B")
      expect_identical(later == two, c(is.null(window), TRUE))
      expect_identical(ask("k2", "A", "B", of = other), later)
      # Who was erased is new; a first visit, and one that is no round
      agent_erase(agent, "A")
      expect_false(anyNA(agent_choose(agent, person = "A", key = "k1")$t)) # of A no key is known
      anew <- ask("k2", "A", "B", of = other)
      expect_false(anew[1] %in% c(one, two, later))
      expect_identical(anew[2], two[2])
      expect_identical(ask("k2", "A", "B"), anew)
      agent_erase(other, c("A", "B"))
      expect_length(intersect(ask("k2", "C", "D"), c(one, two, later, anew)), 0)
      # After the end, and after persons were forgotten
      agent_finish(agent, "verdict")
      out <- ask("k4", "new", "C")
      expect_identical(ask("k4", "new", "C"), out)
      refused("k4", "C", "other")
      expect_identical(agent_erase(agent, "new"), 1L)
      expect_identical(ask("k4", "new", "C") == out, c(FALSE, TRUE))
      expect_true("k4" %in% agent$store$tables()$dpts_ticket$asked)
      turn(3600)
      pulls(agent)
      expect_true(all(is.na(agent$store$tables()$dpts_ticket$asked_for)))
      expect_length(intersect(ask("k4", "new", "C"), out), 0)
      agent_close(agent)
      agent_close(other)
    }
  })
})

test_that("a report that is sent again after its window is known if it is what was used, and rewards are kept", {
  for (keep in c(TRUE, FALSE)) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(mu = 1), 2, use = "arrival", deadline = hours(9), max_per_person = 9, window = hours(1),
                        keep_rewards = keep)
    ticket <- agent_choose(agent, 3, person = c("p", "q", "r"))$ticket
    say <- function(i, reward, key) agent_reward(agent, ticket[i], reward, key = key)$status
    expect_identical(c(say(1, 1, "a"), say(2, 0, "b"), say(2, 1, "c")), rep("waiting", 3))
    turn(3601)
    expect_identical(c(say(1, 1, "a"), say(1, 0, "d"), say(2, 0, "b")), c(if (keep) "known" else "late", "late", "late"))
    expect_identical(c(say(3, 0.3, "e"), say(3, 0.3, "e"), say(3, 0.4, "e")), c("used", if (keep) "known" else "late", "late"))
  }
})

test_that("what was reported in a window that is open at the end is used for nothing, and kept by nobody", {
  for (use in c("arrival", "deadline")) for (keep in c(FALSE, TRUE)) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(mu = 1, block = 2), 2, use = use, deadline = hours(2), max_per_person = 3, window = hours(1),
                        keep_rewards = keep)
    first <- agent_choose(agent, 2, person = c("a", "b"))$ticket
    agent_reward(agent, rep(first, 2), c(1, 0, 0.5, 1))
    turn(4 * 3600)
    second <- agent_choose(agent, 2, person = c("c", "d"))$ticket
    agent_reward(agent, rep(second, 2), c(1, 0, 0.5, 1))
    agent_finish(agent)
    rows <- agent$store$tables()
    expect_setequal(as.character(rows$dpts_outcome$ticket[rows$dpts_outcome$outcome == 0]), first[rep(keep, 2)])
    expect_identical(rows$dpts_ticket$reward, if (keep) c(0.75, 0.5, NA, NA) else rep(NA_real_, 4))
  }
})

test_that("all choices of a person in a window are one visit, whose reward is the mean of all reports, by a model", {
  # Reports of one ticket and outcome: those of a name (NULL: a new one) count once, until `last`; then they are late.
  report <- function(m, j, outcome, value, key, now, last) {
    x <- m$said[m$said$ticket == j & m$said$outcome == outcome, ]
    if (now >= last || j %in% m$erased) return("late")
    old <- if (!is.null(key)) x$value[x$key == key]
    if (length(old)) return(if (old == value) "known" else "refused")
    m$said[nrow(m$said) + 1, ] <- list(j, outcome, key %||% paste("new", nrow(m$said)), value)
    "waiting"
  }
  play <- function(store, use, seed) {
    withr::local_seed(seed)
    turn <- test_clock()
    now <- 0
    agent <- dpts_agent(policy_randomised(1000, block = 6), c("a", "b"), store, use = use, deadline = hours(30), max_per_person = 4,
                        window = hours(24), outcomes = list(harm = agent_outcome(mu = 1000, deadline = hours(40))))
    m <- new.env()
    m$said <- data.frame(ticket = numeric(), outcome = character(), key = character(), value = numeric())
    m$erased <- numeric()
    seen <- data.frame(ticket = character(), person = character(), arm = character(), batch = numeric(), since = numeric())
    status <- character()
    for (i in 1:42) {
      hours_on <- sample(c(1, 5, 9), 1)
      turn(3600 * hours_on)
      now <- now + hours_on
      person <- sample(letters[1:6], 1)
      choice <- agent_choose(agent, person = person, offer = if (i %% 7 == 0) "b")
      mine <- which(seen$person == person & seen$since + 24 > now & !seq_along(seen$person) %in% m$erased)
      if (length(mine)) {
        expect_identical(c(choice$ticket, as.character(choice$arm)), unlist(seen[mine, c("ticket", "arm")], use.names = FALSE))
        expect_false(is.na(choice$t))
      } else if (!is.na(choice$t)) {
        batch <- blocks_of(agent, choice$ticket)
        expect_false(any(batch > 0 & seen$person == person & seen$batch == batch & !seq_along(seen$person) %in% m$erased))
        seen[nrow(seen) + 1, ] <- list(choice$ticket, person, as.character(choice$arm), batch, now)
      }
      for (j in sample(nrow(seen), 3, replace = TRUE)) {
        j <- max(1, min(nrow(seen), nrow(seen) - j %% 9))
        outcome <- sample(c("reward", "harm"), 1)
        key <- if (runif(1) < 0.8) sample(c("x", "y"), 1)
        value <- sample(c(0, 1, 1 / 3), 1)
        # Times of answers are public with "arrival": then the window decides, or the first report after it.
        alone <- outcome == "reward" && use == "arrival" && now >= seen$since[j] + 24 && now < seen$since[j] + 30 &&
          !any(m$said$ticket == j & m$said$outcome == "reward")
        last <- seen$since[j] + if (outcome == "harm") 40 else if (use == "arrival" && !alone) 24 else 30
        want <- if (outcome == "harm" && seen$batch[j] == 0) "late" else
          report(m, j, outcome, value, if (!alone && !is.null(key)) paste0(key, "#1"), now, last)
        if (alone && want == "waiting") want <- "used"
        got <- agent_reward(agent, seen$ticket[j], value, outcome, key = key)$status
        expect_identical(got, want)
        status <- c(status, got)
      }
      if (i == 21) {
        # Who is erased has said nothing, of what is not yet used.
        j <- nrow(seen)
        person <- seen$person[j]
        agent_erase(agent, person)
        until <- seen$since[j] + c(reward = if (use == "deadline") 30 else 24, harm = 40)
        used <- m$said$ticket == j & now >= until[m$said$outcome]
        m$said <- m$said[m$said$ticket != j | used, ]
        m$erased <- c(m$erased, which(seen$person == person))
      }
      # What is kept of rewards are the reports of tickets that are not due.
      open <- which(seen$since + (if (use == "deadline") 30 else 24) > now & !seq_along(seen$since) %in% m$erased)
      expect_length(agent$store$answered(0L, seen$ticket)$part, sum(m$said$ticket %in% open & m$said$outcome == "reward"))
      if (i %in% c(12, 27) && !is.null(store)) {
        agent_close(agent)
        agent <- agent_open(store)
      }
    }
    expect_gt(nrow(seen), 12)
    expect_setequal(status, c("waiting", "known", "refused", "late", if (use == "arrival") "used"))
    for (i in 1:3) {
      turn(3600 * 20)
      pulls(agent)
    }
    agent_finish(agent)
    rows <- dpts_releases(agent)
    block <- match(seen$batch, sort(unique(seen$batch[seen$batch > 0])))
    for (outcome in c("reward", "harm")) {
      # What is left at the end, if rewards of it may be out, is no block of other outcomes.
      whole <- rows$block[rows$n > 0 & rows$outcome == "reward" & (rows$whole | outcome == "reward")]
      counts <- block %in% whole
      of <- paste(block, seen$arm)[counts]
      own <- rows[rows$n > 0 & rows$outcome == outcome, ]
      mean <- vapply(which(counts), function(j) {
        x <- m$said$value[m$said$ticket == j & m$said$outcome == outcome]
        if (length(x)) round(2^20 * mean(x)) / 2^20 else 0
      }, 0)
      expect_equal(own$n, as.vector(table(of)), ignore_attr = TRUE)
      expect_equal(own$sum, as.vector(tapply(mean, of, sum)), tolerance = 0.02) # noise of sd 1e-3
    }
    expect_length(agent$store$answered(0L, seen$ticket)$part, 0)
    expect_match(paste(format(agent), collapse = " "), "4 rewards of a person used at most, one in 1 day")
    expect_match(privacy_statement(agent)[["What is assumed"]], "One outcome is all that a person says within 1 day, as its mean")
    agent_close(agent)
  }
  play(withr::local_tempfile(fileext = ".sqlite"), "deadline", 5)
  play(if (postgres_available()) postgres_connection(), "arrival", 6)
})

test_that("all that a person says in a window moves one released sum by at most one", {
  turn <- test_clock()
  sum_of <- function(day) {
    agent <- dpts_agent(policy_gaussian_imed(1e6, first = 2, correlation = 0), 1, use = "arrival", max_per_person = 3, window = hours(24))
    tickets <- vapply(seq_along(day), function(i) agent_choose(agent, person = "p")$ticket, "")
    expect_length(unique(tickets), 1)
    q <- agent_choose(agent, person = "q")$ticket
    # In one call or in several, with or without keys
    expect_identical(agent_reward(agent, c(tickets, q), c(day, 0.5))$status, rep("waiting", length(day) + 1))
    for (i in 1:2) agent_reward(agent, c(tickets[1], tickets[1]), day[1:2], key = "again")
    expect_identical(stored(agent, q)$reward, NA_real_)
    expect_true(all(dpts_releases(agent)$n == 0))
    agent_choose(agent, person = "r") # has no deadline of its own, and leaves those of others as they are
    turn(24 * 3600)
    pulls(agent)
    expect_identical(agent_reward(agent, q, 0.5)$status, "late")
    rows <- dpts_releases(agent)
    expect_identical(unname(rows$n[rows$n > 0]), 2)
    unname(rows$sum[rows$n > 0])
  }
  expect_equal(sum_of(c(1, 1, 1, 1, 1)) - sum_of(c(0, 0, 0, 0, 0)), 1, tolerance = 1e-4)
  expect_equal(sum_of(c(1, 0, 0)), 0.5 + round(2^20 * 2 / 5) / 2^20, tolerance = 1e-4) # and 1, 0 again
  # The promise is that of windows, and a service gives the same ticket.
  agent <- new_trial(42, policy = policy_randomised(mu = 0.1), window = hours(24))
  known <- dpts_privacy(agent, delta = 1e-6)
  expect_equal(min(known$epsilon[known$unit == "person"]), gdp_epsilon(0.1 * sqrt(42), 1e-6), tolerance = 1e-9)
  if (rlang::is_installed("jsonlite")) {
    router <- agent_api(agent, TOKEN, log = NULL)
    ask <- function(key) call_api(router, "POST", "/choose", sprintf('{"person": "p", "key": "%s"}', key))$json
    expect_identical(ask("one")[c("ticket", "t", "arm")], ask("two")[c("ticket", "t", "arm")])
    tell <- function(reward, key) {
      body <- sprintf('{"ticket": "%s", "reward": %s, "key": %s}', ask("one")$ticket, reward, key)
      call_api(router, "POST", "/reward", body)$json$status
    }
    expect_identical(c(tell(1, '"x"'), tell(1, '"x"'), tell(0, '"x"'), tell(0, '"y"'), tell(1, "null")),
                     c("waiting", "known", "refused", "waiting", "waiting"))
  }
  # Persons of one call, with a key that comes again
  three <- agent_choose(agent, 3, person = c("x", "y", "x"), key = "three")
  expect_identical(three$ticket[3], three$ticket[1])
  expect_identical(agent_choose(agent, 3, person = c("x", "y", "x"), key = "three"), three)
  bad <- function(...) expect_error(dpts_agent(policy_randomised(mu = 1), 2, ...), "`window`", class = "dpts_error_input")
  bad(use = "arrival", window = hours(1))
  bad(use = "arrival", window = 3, max_per_person = 2)
  bad(use = "arrival", window = hours(1), sticky = TRUE)
  bad(deadline = hours(1), window = hours(1.01), max_per_person = 2)
  bad(use = "arrival", window = hours(Inf), max_per_person = 2)
  expect_s3_class(dpts_agent(policy_randomised(mu = 1), 2, deadline = hours(1), window = hours(1), max_per_person = 2), "dpts_agent")
})

# A coupled pair of agents in which all that person "c" ever says is another thing: a 0 became a 1, a 1 became a 0 or, with
# `use = "deadline"`, is not reported in time. The first run notes what was released and which arms were drawn. The second
# is given the same: releases by force, and a coin by drawing from the same state again, so that its probability is compared.
# Within a `window` of seconds a person has several rewards for one ticket, all the same; those of "c" are 1, so that their mean
# moves by 1.
live_pair <- function(policy, use, m, n, window = NULL, strata = NULL, env = parent.frame()) {
  people <- c("c", "b", "c", sample(c(letters[1:6], rep("c", if (is.null(window)) 1 else 4)), n - 3, replace = TRUE))
  own <- people == "c"
  x <- rep_len(c(0, 0, 1, 0.5, 0.25), n)
  x[own] <- rep_len(c(1, 0, 1), sum(own))
  if (!is.null(window)) x <- c(0.5, 0, 1, 0.25, 0, 1)[match(people, letters)]
  stratum <- strata[1 + match(people, letters) %% 2]
  after <- sample(0:4, n, replace = TRUE) # so many visits later
  after[!own & use == "deadline"] <- rep_len(c(0:4, 7), sum(!own)) # a deadline is past after five
  notes <- new.env()
  turn <- test_clock(env)
  # What is forced is asked for before each call that may release, and what was released is noted after it.
  local_function("forced_releases", function(old) function() {
    notes$calls <- notes$calls + 1
    notes$forced[[as.character(notes$calls)]]
  }, env)
  local_function("note_sums", function(old) function(session) {
    old(session)
    rows <- session$sums[[length(session$sums)]]
    if (nrow(rows)) notes$released[[as.character(notes$calls)]] <- rows[rows[, 6] > 0, 4]
  }, env)
  for (name in c("session_play", "session_look")) local_function(name, function(old) function(session, ...) {
    notes$draws <- notes$draws + 1
    kept <- c(session_save(session), list(batches = session$batches, sums = session$sums))
    calls <- notes$calls
    repeat {
      drawn <- old(session, ...)
      if (notes$draws > length(notes$arms) || drawn[1] == notes$arms[notes$draws]) break
      session_restore(session, kept)
      list2env(kept[c("batches", "sums")], session)
      notes$calls <- calls
    }
    notes$drawn[notes$draws] <- drawn[1]
    drawn
  }, env)
  function(moved, forced = NULL, arms = integer()) {
    # A store in memory is faster: the one with a window and strata goes through a file, which is opened again.
    file <- if (!is.null(window) && !is.null(strata)) withr::local_tempfile(fileext = ".sqlite")
    list2env(list(calls = 0, draws = 0, forced = forced, arms = arms, drawn = integer(), released = list()), notes)
    reward <- ifelse(moved & own, 1 - x, x)
    late <- ifelse(moved & own & x == 1 & use == "deadline", 7, after)
    agent <- dpts_agent(policy, c("a", "b", "c"), file, use = use, max_per_person = m, strata = strata,
                        window = if (!is.null(window)) as.difftime(window, units = "secs"),
                        deadline = if (use == "deadline") as.difftime(5.5, units = "secs") else Inf)
    out <- data.frame(person = people, t = NA_real_, arm = "", probability = NA_real_, ticket = "", batch = NA_real_)
    for (i in seq_len(n)) {
      turn(1)
      choice <- agent_choose(agent, person = people[i], stratum = stratum[i])
      out[i, 2:5] <- list(choice$t, as.character(choice$arm), choice$probability, choice$ticket)
      now <- which(seq_len(n) + late == i)
      if (length(now)) agent_reward(agent, out$ticket[now], reward[now])
      if (i == 11 && is.null(strata)) agent_arms(agent, add = "d")
      if (i == 18) agent_arms(agent, pause = "a")
      if (i == 24) agent_arms(agent, resume = "a", retire = "c")
      if (i == 21 && !is.null(file)) {
        agent_close(agent)
        agent <- agent_open(file)
      }
    }
    turn(10)
    now <- which(seq_len(n) + late > n)
    agent_reward(agent, out$ticket[now], reward[now])
    released <- notes$released
    # At the end all that is open is released, and nothing depends on that any more.
    agent_finish(agent)
    table <- dpts_releases(agent)
    table <- table[table$n > 0, ]
    counted <- which(!is.na(out$t))
    out$batch[counted] <- blocks_of(agent, out$ticket[counted])
    promise <- dpts_privacy(agent, delta = 1e-4)
    agent_close(agent)
    # Of a ticket its reward, or the mean of what came in its window or until its deadline, or the first after a window.
    first <- match(out$ticket, out$ticket)
    at <- ifelse(seq_len(n) + late > n, n + 10, seq_len(n) + late)
    known <- at < first + (if (use == "deadline") 5.5 else window %||% Inf)
    value <- vapply(split(seq_len(n), first), function(i) {
      if (any(known[i])) mean(reward[i[known[i]]]) else if (use == "deadline") 0 else reward[i[which.min(at[i])]] # `missing` is 0
    }, 0)
    out$new <- first == seq_len(n)
    list(out = out, table = table, released = released, drawn = notes$drawn,
         value = unname(value[as.character(first)]),
         promise = promise[promise$unit == "person" & promise$accountant %in% c("gdp", "pure"), ])
  }
}

test_that("coupling: with all that a person says moved and the same releases all is the same, and costs the promise", {
  # Noise of 1e-3 leaves the sums to be seen. Of so many visits m of the person count.
  cases <- list(
    list(policy_gaussian_imed(1000, first = 3, correlation = 0), "deadline", 3, 36, window = 4.5),
    list(policy_top_two(1000), "deadline", 2, 32),
    list(policy_randomised(1000, rule = "thompson", block = 6), "arrival", 3, 36, window = 4.5),
    list(policy_randomised(epsilon = 1000, block = 6, permuted = TRUE), "deadline", 3, 36, window = 3.5,
         strata = c("north", "south")),
    list(policy_dp_imed(1000, first = 3), "arrival", 3, 36, strata = c("north", "south"))
  )
  for (case in cases) local({
    withr::local_seed(4)
    m <- case[[3]]
    run <- do.call(live_pair, c(case, list(env = environment())))
    a <- run(FALSE)
    b <- run(TRUE, a$released, a$drawn)
    same <- c("person", "t", "arm", "probability", "batch")
    expect_identical(b$out[same], a$out[same])
    expect_identical(b$released, a$released)
    expect_identical(b$table[setdiff(names(a$table), "sum")], a$table[setdiff(names(a$table), "sum")])
    expect_gt(length(a$released), 0)
    # What is released are the sums of the visits that count, by arm and block; of these m are the person's.
    held <- a$out$batch > 0 & a$out$new & !is.na(a$out$batch)
    if (!is.null(case$window)) expect_gt(sum(a$out$person == "c" & !a$out$new), 2)
    of <- function(value) tapply(value[held], paste(a$out$arm, a$out$batch)[held], sum)
    released <- function(arm, n, sum) {
      x <- data.frame(arm = as.character(arm), n, sum = round(4 * sum) / 4)
      unname(as.matrix(x[do.call(order, x), ]))
    }
    expect_identical(released(a$table$arm, a$table$n, a$table$sum),
                     released(sub(" .*", "", names(of(a$value))), of(rep(1, case[[4]])), of(a$value)))
    moved <- of(b$value) - of(a$value)
    expect_identical(c(sum(abs(moved)), max(abs(moved))), c(m, 1))
    # All that moved, over the scale of the noise, is the promise; the grid takes less than 2^-12 of it.
    ratio <- moved / unique(a$table$scale)
    cost <- if (a$promise$accountant == "gdp") gdp_epsilon(sqrt(sum(ratio^2)), 1e-4) else sum(abs(ratio))
    expect_lte(cost, a$promise$epsilon)
    expect_gt(cost, 0.999 * a$promise$epsilon)
  })
})

test_that("a report that cannot be read is not left out of the mean of its window", {
  expect_identical(mean_in_window(c(1, NA)), NA_real_)
  expect_identical(mean_in_window(c(0.75, 0.25, 0.5)), 0.5)
  turn <- test_clock()
  con <- withr::local_db_connection(DBI::dbConnect(RSQLite::SQLite(), ":memory:"))
  agent <- dpts_agent(policy_uniform(), 2, con, use = "arrival", max_per_person = 1, window = hours(1))
  agent_reward(agent, agent_choose(agent, person = "Ada")$ticket, 1)
  DBI::dbExecute(con, "DELETE FROM dpts_outcome")
  turn(3600)
  expect_error(pulls(agent), "says: the rewards of a ticket cannot be read$", class = "dpts_error_store_damaged")
})
