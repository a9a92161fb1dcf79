# People who come again: no release holds two rewards of a person, and the promise is mu sqrt(m)

skip_on_cran()
skip_if_not_installed("RSQLite")
skip_if_not_installed("openssl")

new_trial <- function(m = 3, ..., policy = policy_randomised(mu = 0.5, block = 10), deadline = Inf) {
  dpts_agent(policy, c("a", "b"), use = "arrival", max_per_person = m, deadline = deadline, ...)
}

# Visits one by one; a reward comes at once, or never for those whose `answers` is FALSE
visit <- function(agent, people, answers = TRUE, rewards = 1) {
  answers <- rep_len(answers, length(people))
  rewards <- rep_len(rewards, length(people))
  do.call(rbind, lapply(seq_along(people), function(i) {
    choice <- agent_choose(agent, person = people[i])
    status <- if (answers[i]) agent_reward(agent, choice$ticket, rewards[i])$status else NA
    data.frame(person = people[i], t = choice$t, arm = choice$arm, ticket = choice$ticket, status)
  }))
}

# Of each ticket that counts, the block, from the store
blocks_of <- function(agent, tickets) {
  rows <- agent$store$tickets(tickets)
  rows$batch[match(tickets, rows$ticket)]
}

test_that("no block holds a person twice, and no more than m rewards of a person are used", {
  withr::local_seed(3)
  agent <- new_trial()
  people <- sample(c(letters, rep(c("x", "y"), 10)), 250, replace = TRUE)
  visits <- visit(agent, people, answers = runif(250) < 0.9, rewards = runif(250))
  counted <- visits[!is.na(visits$t), ]
  expect_true(all(table(counted$person) <= 3))
  expect_false(anyDuplicated(data.frame(counted$person, blocks_of(agent, counted$ticket))) > 0)
  expect_gt(nrow(counted), 40)
  # What is released is the rewards of rounds alone: n adds up to no more than the rounds.
  table <- dpts_releases(agent)
  expect_lte(sum(table$n), nrow(counted))
  expect_identical(sum(pulls(agent)$pulls), as.numeric(nrow(counted)))
  expect_identical(unique(table$per_person), 3)
  # A visit that does not count gives a ticket whose reward is refused as late.
  expect_setequal(stats::na.omit(visits$status[is.na(visits$t)]), "late")
  expect_setequal(as.character(visits$arm[is.na(visits$t)]), c("a", "b"))
})

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
  visits <- visit(agent, rep(c("p", "q"), 40))
  # Blocks of 2 people and 11 more visits
  expect_identical(sum(!is.na(visits$t)), as.integer(2 * ceiling(80 / 13)))
  expect_gt(nrow(dpts_releases(agent)), 8)
  # Where everybody comes once nothing has changed.
  expect_false(anyNA(visit(new_trial(50), paste0("p", 1:30))$t))
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
  visit(agent, sample(letters, 100, replace = TRUE), rewards = runif(100))
  expect_error(evidence(agent, "means"), "must be \"tosses\".*several rewards of a person",
               class = "dpts_error_verdict")
  expect_identical(evidence(agent), evidence(agent, "tosses"))
  expect_s3_class(effects(agent), "dpts_effects")
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(dpts_releases(agent), file)
  expect_error(evidence(as_releases(utils::read.csv(file)), "means"), "several rewards", class = "dpts_error_verdict")
  other <- new_trial(policy = policy_top_two(mu = 1))
  visit(other, letters)
  for (f in list(evidence, effects, verdict)) {
    expect_error(f(other), "several rewards of a person", class = "dpts_error_verdict")
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
    for (i in 1:45) {
      people <- sample(letters[1:12], 4, replace = TRUE)
      choice <- agent_choose(agent, n = 4, person = people, offer = if (runif(1) < 0.2) c("a", "b"))
      seen <- rbind(seen, data.frame(person = people, t = choice$t, ticket = choice$ticket))
      waiting <- c(waiting, choice$ticket)
      now <- runif(length(waiting)) < 0.4
      if (any(now)) agent_reward(agent, waiting[now], runif(sum(now)))
      waiting <- waiting[!now]
      if (i == 10) agent_arms(agent, pause = "c")
      if (i == 20) agent_arms(agent, resume = "c", add = if (seed == 1) "d")
      if (i %in% c(15, 30)) {
        agent_close(agent)
        agent <- agent_open(file)
      }
    }
    counted <- seen[!is.na(seen$t), ]
    block <- blocks_of(agent, counted$ticket)
    expect_true(all(table(counted$person) <= 4))
    expect_false(anyDuplicated(data.frame(counted$person, block)[block > 0, ]) > 0)
    expect_gt(length(unique(block)), 3)
    # As many rewards are in what is released as have a block.
    agent_reward(agent, waiting, 0.5)
    agent_finish(agent)
    expect_equal(sum(dpts_releases(agent)$n), sum(block > 0))
    agent_close(agent)
    unlink(file)
  }
})

test_that("with batches of one arm no batch holds a person twice, and few people never stall one", {
  for (policy in list(policy_gaussian_imed(mu = 1, first = 6, correlation = 0), policy_top_two(mu = 1),
                      policy_dp_imed(1), policy_dp_klucb(1, first = 4))) {
    withr::local_seed(2)
    agent <- new_trial(8, policy = policy)
    visits <- visit(agent, sample(letters[1:9], 70, replace = TRUE), rewards = runif(70))
    counted <- visits[!is.na(visits$t), ]
    expect_true(all(table(counted$person) <= 8))
    held <- data.frame(counted$person, counted$arm, blocks_of(agent, counted$ticket))
    expect_false(anyDuplicated(held) > 0)
    expect_gt(nrow(counted), 12)
    expect_lt(nrow(counted), 70)
    expect_gt(sum(dpts_releases(agent)$n > 0), 0)
  }
  # Two people fill no batch of 20: 20 visits more end it, and its sum is released.
  agent <- new_trial(50, policy = policy_gaussian_imed(1, first = 20, correlation = 0))
  visits <- visit(agent, rep(c("p", "q"), 12))
  expect_identical(which(!is.na(visits$t)), c(1L, 2L, 24L))
  expect_equal(sum(dpts_releases(agent)$n), 2)
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
    agent_close(agent)
    now <- 100.5 * day
  }
  expect_error(new_trial(policy = policy_ucb1(), block_time = as.difftime(1, units = "days")), "`block_time`",
               class = "dpts_error_input")
  expect_error(new_trial(block_time = 7), "`block_time`", class = "dpts_error_input")
})

test_that("coupling: with all rewards of a person moved and the same releases, all choices are the same", {
  withr::local_seed(4)
  file <- withr::local_tempfile(fileext = ".sqlite")
  n <- 60
  people <- sample(letters[1:7], n, replace = TRUE)
  x <- runif(n)
  # Of each visit, when its reward comes: after so many more visits
  late <- sample(0:6, n, replace = TRUE)
  live <- function(policy, moved, forced = NULL) {
    unlink(file)
    agent <- dpts_agent(policy, c("a", "b", "c"), file, use = "arrival", max_per_person = 6)
    out <- data.frame(person = people, t = NA, arm = "", batch = NA, ticket = "")
    released <- list()
    record <- function(at, do) {
      withr::local_options(dpts.forced_releases = forced[[at]])
      before <- agent$store$count("release")
      do()
      if (agent$store$count("release") > before) released[[at]] <<- {
        table <- dpts_releases(agent)
        utils::tail(table[table$n > 0, ], 1)
      }
    }
    for (i in seq_len(n)) {
      record(paste("visit", i), function() {
        choice <- agent_choose(agent, person = people[i])
        out[i, c("t", "arm", "ticket")] <<- list(choice$t, as.character(choice$arm), choice$ticket)
      })
      for (j in which(seq_len(n) + late == i)) {
        record(paste("reward", j), function() agent_reward(agent, out$ticket[j], moved[j]))
      }
      if (i == 20) agent_arms(agent, add = "d")
      if (i == 30) agent_arms(agent, pause = "a")
      if (i == 40) agent_arms(agent, resume = "a", retire = "c")
      if (i == 45) {
        agent_close(agent)
        agent <- agent_open(file)
      }
    }
    out$batch[!is.na(out$t)] <- blocks_of(agent, out$ticket[!is.na(out$t)])
    agent_close(agent)
    list(out = out[c("person", "t", "arm", "batch")], released = released)
  }
  for (policy in list(policy_gaussian_imed(1, first = 3, correlation = 0), policy_dp_imed(2, first = 3))) {
    a <- live(policy, x)
    values <- lapply(a$released, function(rows) rows$sum)
    b <- live(policy, ifelse(people == "c", 1 - x, x), values)
    expect_identical(b$out, a$out)
    expect_equal(lapply(b$released, `[[`, "n"), lapply(a$released, `[[`, "n"))
    expect_equal(lapply(b$released, `[[`, "sum"), values)
    # The exact sums differ by no more than 1 in no more than 6 batches.
    mine <- a$out[people == "c" & !is.na(a$out$t), ]
    expect_false(anyDuplicated(mine[c("arm", "batch")]) > 0)
    expect_lte(nrow(mine), 6)
    expect_gt(length(values), 4)
  }
})
