# Other outcomes than the reward, and guards

# Without noise, so that sums can be told by a model
side_policy <- function(block = 20, ...) policy_randomised(block = block, control = 1, ...)

side_agent <- function(store = NULL, ..., outcomes = list(harm = agent_outcome(missing = 1)), policy = side_policy()) {
  dpts_agent(policy, c("a", "b"), store, deadline = hours(1), outcomes = outcomes, ...)
}

# The rows of an outcome: block, arm, n, sum
side_rows <- function(agent, outcome) {
  rows <- dpts_releases(agent)
  rows <- rows[rows$outcome == outcome, ]
  if (!is.null(rows[["event"]])) rows <- rows[is.na(rows$event), ]
  data.frame(block = rows$block, arm = as.character(rows$arm), n = rows$n, sum = rows$sum)
}

test_that("an outcome prints as what it is", {
  expect_output(print(agent_outcome(range = c(0, 10), missing = 1)), "<outcome> without noise, from 0 to 10, missing counts 1", fixed = TRUE)
})

test_that("sums of outcomes are those of a model, through a random life in each store", {
  each_database(function(store) {
    withr::local_seed(1)
    turn <- test_clock()
    now <- 0
    agent <- side_agent(store, max_per_person = 3, policy = side_policy(12), outcomes = list(
      harm = agent_outcome(missing = 1), cost = agent_outcome(range = c(0, 10), deadline = hours(3), outcome = "continuous")))
    due <- c(harm = 3600, cost = 3 * 3600)
    people <- data.frame(ticket = character(), arm = character(), batch = numeric(), time = numeric(), gone = logical(),
                         harm = numeric(), cost = numeric())
    range <- list(harm = c(0, 1), cost = c(0, 10))
    # A block is released when it is full and its last person's deadline is past.
    released_now <- function(outcome) {
      full <- as.numeric(names(which(table(people$batch[people$batch > 0]) == 12)))
      ends <- vapply(full, function(b) max(people$time[people$batch == b]), 0)
      full[ends + pmax(due[[outcome]], 3600) <= now]
    }
    for (step in 1:20) {
      new <- agent_choose(agent, 4, person = sprintf("p%d-%d", step, 1:4))
      batch <- stored(agent, new$ticket)$batch
      people <- rbind(people, data.frame(ticket = new$ticket, arm = as.character(new$arm), batch, time = now, gone = FALSE, harm = NA, cost = NA))
      for (outcome in names(due)) {
        some <- sample(nrow(people), min(5, nrow(people)))
        value <- if (outcome == "harm") sample(0:1, length(some), TRUE) else sample(0:10, length(some), TRUE)
        said <- agent_reward(agent, people$ticket[some], value, outcome = outcome)$status
        late <- people$time[some] + due[[outcome]] <= now | people$batch[some] == 0 | people$gone[some]
        old <- people[[outcome]][some]
        expect_identical(said, ifelse(late, "late", ifelse(is.na(old), "waiting", ifelse(old == value, "known", "refused"))))
        people[[outcome]][some] <- ifelse(late | !is.na(old), old, value)
      }
      seconds <- sample(c(60, 900, 4000), 1)
      turn(seconds)
      now <- now + seconds
      if (step == 14 && is.character(store)) {
        agent_close(agent)
        agent <- agent_open(store)
      }
      # Who is erased has not answered any outcome that is still to be released, whether they had or not.
      if (step %in% c(9, 12, 15, 17)) {
        some <- nrow(people) - c(0, 6)
        for (outcome in names(due)) if (step != 15) agent_reward(agent, people$ticket[some], 1, outcome = outcome)
        expect_equal(agent_erase(agent, sprintf("p%d-%d", step - 0:1, c(4, 2))), 2)
        for (outcome in names(due)) {
          expect_identical(agent_reward(agent, people$ticket[some], 1, outcome = outcome)$status, c("late", "late"))
          people[some[!people$batch[some] %in% released_now(outcome)], outcome] <- NA
        }
        people$gone[some] <- TRUE
      }
    }
    fill <- c(harm = 1, cost = 0)
    for (outcome in names(due)) {
      released <- released_now(outcome)
      expect_gt(length(released), 2)
      shown <- side_rows(agent, outcome)
      expect_identical(shown$block, rep(as.numeric(seq_along(released)), each = 2))
      for (i in seq_along(released)) {
        for (arm in c("a", "b")) {
          own <- people[people$batch == released[i] & people$arm == arm, outcome]
          own[is.na(own)] <- fill[[outcome]]
          at <- shown[shown$block == i & shown$arm == arm, ]
          expect_identical(at$n, as.numeric(length(own)))
          expect_lte(abs(at$sum - sum(own) / range[[outcome]][2]), 2^-21 * length(own)) # each is rounded to 2^-20
        }
      }
      # Answers of released blocks are forgotten, those of others kept.
      h <- match(outcome, names(due))
      for (b in released) expect_length(agent$store$answers(h, b)$reward, 0)
      open <- setdiff(people$batch, c(released, 0))
      kept <- unlist(lapply(open, function(b) agent$store$answers(h, b)$reward))
      expect_length(kept[!is.na(kept)], sum(people$batch %in% open & !is.na(people[[outcome]])))
    }
    # Each release is in the journal, by the number of its block.
    rows <- agent_journal(agent)
    expect_identical(sort(rows$t[rows$kind == "outcome"]), sort(unlist(lapply(names(due), released_now))))
    # The reward is counted in the same blocks.
    expect_identical(side_rows(agent, "harm")$n, utils::head(side_rows(agent, "reward")$n, nrow(side_rows(agent, "harm"))))
    agent_close(agent)
  })
})

test_that("each question about each outcome has its own answer, whatever was asked before, in R and over HTTP", {
  skip_if_not_installed("jsonlite")
  turn <- test_clock()
  agent <- side_agent(policy = side_policy(mu = 3), outcomes = list(harm = agent_outcome(mu = 3), cost = agent_outcome(
    mu = 3, range = c(0, 10))))
  x <- agent_choose(agent, 80)
  of_b <- x$arm == "b"
  for (outcome in c("reward", "harm", "cost")) agent_reward(agent, x$ticket, c(reward = 1, harm = 0.5, cost = 2)[[outcome]] * of_b, outcome)
  turn(3601)
  router <- agent_api(agent, TOKEN, log = NULL)
  table <- dpts_releases(agent)
  expect_no_match(tbl_sum(table)[["Releases"]], "run") # it is one
  expect_identical(release_records(table, "harm")$records[[1]]$name, "randomised") # in messages
  verbs <- list(verdict = verdict, effects = effects, estimates = estimates, evidence = evidence)
  asked <- expand.grid(outcome = c("reward", "harm", "cost"), verb = names(verbs), http = c(FALSE, TRUE), stringsAsFactors = FALSE)
  said <- list()
  for (i in withr::with_seed(1, sample(rep(seq_len(nrow(asked)), 2)))) {
    one <- asked[i, ]
    want <- verbs[[one$verb]](table, outcome = one$outcome)
    if (one$http) {
      found <- call_api(router, "GET", paste0("/", one$verb), query = sprintf("?outcome=%s", one$outcome))$text
      expect_identical(found, api_json(want), info = paste(one))
    } else {
      expect_equal(plain_columns(verbs[[one$verb]](agent, outcome = one$outcome)), plain_columns(want), info = paste(one))
      if (one$verb == "estimates") {
        expect_equal(plain_columns(estimates(agent, 0.5, outcome = one$outcome)), plain_columns(estimates(table, 0.5, outcome = one$outcome)))
      }
    }
    said[[paste(one$verb, one$outcome)]] <- plain_columns(want)
  }
  expect_false(any(duplicated(said[-grep("verdict", names(said))])))
  for (shown in dpts:::overview(agent)$measured) {
    want <- estimates(table, outcome = shown$outcome)
    for (column in c("rewards", "mean", "lower", "upper")) expect_equal(as.numeric(shown[[column]]), want[[column]])
    expect_identical(shown$range, if (shown$outcome == "cost") c(0, 10) else c(0, 1))
  }
})

test_that("a prediction is of the reward, and of no other outcome", {
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(1, outcome = "continuous", predicted = c(0.2, 0.8), block = 4), 2, deadline = hours(1),
                      outcomes = list(harm = agent_outcome()))
  ticket <- agent_choose(agent, 4, predicted = c(0.3, NA, 0.7, 0.5))$ticket
  for (outcome in c("reward", "harm")) agent_reward(agent, ticket, c(0, 1, 1, 0), outcome)
  turn(3600)
  rows <- dpts_releases(agent)
  expect_setequal(paste(rows$outcome, rows$predicted_low, rows$predicted_high), c("reward 0.2 0.8", "harm NA NA"))
})

test_that("one person's answers are in one sum of each outcome", {
  skip_if_not_installed("RSQLite")
  turn <- test_clock()
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- side_agent(file, outcomes = list(harm = agent_outcome(missing = 1),
                                            cost = agent_outcome(range = c(-5, 5), outcome = "continuous")))
  tickets <- agent_choose(agent, 100)$ticket
  copy <- withr::local_tempfile(fileext = ".sqlite")
  agent_backup(agent, copy)
  other <- agent_open(copy)
  answer <- function(agent, reward, harm, cost) {
    for (i in c(1, 50)) {
      agent_reward(agent, tickets[i], reward)
      agent_reward(agent, tickets[i], harm, outcome = "harm")
      agent_reward(agent, tickets[i], cost, outcome = "cost")
    }
    agent_reward(agent, tickets[7], 1 - reward)
    agent_reward(agent, tickets[7], 1 - harm, outcome = "harm")
    agent_reward(agent, tickets[7], -cost, outcome = "cost")
  }
  agent_reward(agent, tickets[3], 1, outcome = "harm")
  agent_reward(other, tickets[3], 1, outcome = "harm")
  answer(agent, 1, 0, 5)
  for (i in c(1, 50)) { # the same, but for the 7th person
    agent_reward(other, tickets[i], 1)
    agent_reward(other, tickets[i], 0, outcome = "harm")
    agent_reward(other, tickets[i], 5, outcome = "cost")
  }
  agent_reward(other, tickets[7], 1)
  agent_reward(other, tickets[7], 0, outcome = "harm")
  agent_reward(other, tickets[7], 5, outcome = "cost")
  turn(3600)
  one <- dpts_releases(agent)
  two <- dpts_releases(other)
  expect_identical(as.list(one)[c("outcome", "t", "block", "arm", "n", "chance")],
                   as.list(two)[c("outcome", "t", "block", "arm", "n", "chance")])
  moved <- which(one$sum != two$sum)
  expect_identical(as.character(one$outcome[moved]), c("reward", "harm", "cost"))
  expect_length(unique(paste(one$block, one$arm)[moved]), 1)
  expect_equal(abs(one$sum - two$sum)[moved], c(1, 1, 1))
})

test_that("each released sum has one variable of noise of its outcome's scale, on the grid", {
  skip_if_not_installed("RSQLite")
  laws <- list(c(0.5, NA, 0), c(NA, 2, 0), c(0.5, NA, 1), c(NA, 2, 1))
  for (how in laws) {
    report <- stats::setNames(.Call(dpts:::C_outcome_report, how), dpts:::REPORT)
    laplace <- !is.na(how[2])
    expect_identical(report[["scale"]], if (laplace) 1 / how[2] else 1 / how[1])
    expect_identical(report[["kind"]], if (laplace) 1 else 2)
    drawn <- .Call(dpts:::C_outcome_release, how, 4000L, c(1L, 1L, 3L), c(1, 0.5, 0.25), NULL)
    expect_identical(drawn * 2^20, round(drawn * 2^20))
    exact <- c(1.5, 0, 0.25, numeric(3997))
    noise <- drawn[, 1] - exact
    # Live noise has no seed: p-values are held to 1e-10.
    law <- function(scale) if (laplace) function(x) ifelse(x < 0, exp(x / scale) / 2, 1 - exp(-x / scale) / 2) else
      function(x) stats::pnorm(x, 0, scale)
    expect_gt(suppressWarnings(stats::ks.test(noise, law(report[["scale"]]))$p.value), 1e-10)
    if (how[3]) {
      squares <- drawn[, 2] - c(0.25, 0, 0.0625, numeric(3997))
      expect_gt(suppressWarnings(stats::ks.test(squares, law(report[["scale"]] / report[["weight"]]))$p.value), 1e-10)
    } else expect_true(all(is.na(drawn[, 2])))
    # As many values are drawn as there are arms, and twice as many with squares.
    forced <- as.double(1:4)
    out <- .Call(dpts:::C_outcome_release, how, 2L, 1:2, c(0, 1), forced)
    expect_identical(as.vector(t(out)), if (how[3]) forced else c(1, NA, 2, NA))
  }
  # The table says the same.
  turn <- test_clock()
  agent <- side_agent(outcomes = list(harm = agent_outcome(mu = 0.5), cost = agent_outcome(epsilon = 2, range = c(0, 4))))
  agent_choose(agent, 45)
  turn(3600)
  rows <- dpts_releases(agent)
  expect_identical(as.character(rows$outcome), rep(c("reward", "harm", "cost"), each = 4))
  expect_identical(rows$noise, rep(c("none", "gaussian", "laplace"), each = 4))
  expect_equal(rows$scale, rep(c(0, 2, 0.5), each = 4), tolerance = 1e-5)
  expect_identical(rows$terms[-(1:4)], rep(1, 8))
  expect_equal(estimates(agent, outcome = "cost")$lower, rep(0, 2))
})

test_that("the guarantee of a person is over all outcomes", {
  skip_if_not_installed("RSQLite")
  agent <- dpts_agent(policy_randomised(mu = 0.3), 2, deadline = hours(1), max_per_person = 4, outcomes = list(
    harm = agent_outcome(mu = 0.4), cost = agent_outcome(mu = 1.2)))
  mu <- c(reward = sqrt(0.3^2 + 0.4^2 + 1.2^2), person = sqrt(4 * (0.3^2 + 0.4^2 + 1.2^2)))
  known <- dpts_privacy(agent, delta = 1e-6)
  for (unit in names(mu)) expect_equal(known$epsilon[known$unit == unit & known$accountant == "gdp"],
                                       dpts_privacy(privacy_gdp(mu[[unit]]), 1, delta = 1e-6)$epsilon[1], tolerance = 1e-6)
  expect_match(format(agent)[2], "2.6-GDP", fixed = TRUE)
  expect_match(unclass(privacy_statement(agent))[["Who is protected"]], "harm and cost")
  pure <- dpts_agent(policy_randomised(epsilon = 0.3), 2, deadline = hours(1), max_per_person = 2,
                     outcomes = list(harm = agent_outcome(epsilon = 0.4)))
  expect_match(format(pure)[2], "1.4-DP", fixed = TRUE)
  expect_error(dpts_agent(policy_randomised(mu = 0.3), 2, deadline = hours(1), budget = privacy_gdp(0.4),
                          outcomes = list(harm = agent_outcome(mu = 0.4))), "budget")
  # An outcome without noise leaves no guarantee.
  open <- dpts_agent(policy_randomised(mu = 0.3), 2, deadline = hours(1), outcomes = list(harm = agent_outcome()))
  expect_true(all(dpts_privacy(open)$epsilon == Inf))
})

test_that("who comes again while an outcome is out is in no block, and who is erased then has not answered", {
  skip_if_not_installed("RSQLite")
  turn <- test_clock()
  agent <- side_agent(max_per_person = 9, outcomes = list(harm = agent_outcome(deadline = hours(5), missing = 1)))
  first <- agent_choose(agent, 20, person = paste0("p", 1:20))
  agent_reward(agent, first$ticket, 0, outcome = "harm")
  turn(2 * 3600)
  expect_identical(is.na(agent_choose(agent, 2, person = c("p1", "new"))$t), c(TRUE, FALSE))
  agent_erase(agent, "p2") # whose reward was released already: the outcome is missing
  turn(3 * 3600)
  expect_false(is.na(agent_choose(agent, person = "p1")$t))
  expect_equal(sum(side_rows(agent, "harm")$sum), 1)
})

test_that("of three outcomes with other deadlines each is released at its own, and people are told apart until the longest", {
  turn <- test_clock()
  of <- function(hour, ...) agent_outcome(deadline = hours(hour), missing = 1, ...)
  agent <- side_agent(max_per_person = 3, horizon = 41, outcomes = list(one = of(1), five = of(5), three = of(3)))
  people <- paste0("p", 1:20)
  first <- agent_choose(agent, 20, person = people)
  counts <- function() vapply(c("reward", "one", "five", "three"), function(x) sum(side_rows(agent, x)$n), 0, USE.NAMES = FALSE)
  rounds <- function(person) sum(!is.na(agent_choose(agent, length(person), person = person)$t))
  seen <- NULL
  for (more in c(1, 2, 2)) { # after 1, 3 and 5 hours
    turn(more * 3600)
    if (more == 2 && length(seen) == 4) expect_identical(rounds("p1"), 0L)
    seen <- rbind(seen, counts())
  }
  expect_identical(seen, cbind(rep(20, 3), 20, c(0, 0, 20), c(0, 20, 20)))
  # The third visit is the last that counts, and the next is not.
  expect_identical(rounds(people), 20L)
  turn(5 * 3600)
  expect_identical(rounds("p1"), 1L)
  expect_false(agent$life$finished)
  turn(2 * 3600)
  expect_identical(counts(), c(40, 40, 40, 40))
  expect_false(agent$life$finished) # the second outcome of the last person is out
  turn(3 * 3600) # The first look ends it, and shows that.
  expect_identical(counts(), c(41, 41, 41, 41))
})

test_that("a block that waits for an outcome keeps its people, chances and place when arms come", {
  turn <- test_clock()
  store <- withr::local_tempfile(fileext = ".sqlite")
  agent <- side_agent(store, policy = side_policy(30), outcomes = list(
    soon = agent_outcome(missing = 1), harm = agent_outcome(deadline = hours(3), missing = 1)))
  waiting <- function() vapply(api_status(agent)$outcomes, `[[`, 0L, "waiting")
  harm <- function() {
    rows <- dpts_releases(agent)
    rows[rows$outcome == "harm" & is.na(rows$event), ]
  }
  x <- agent_choose(agent, 30)
  agent_reward(agent, x$ticket[1:20], rep(0:1, 10), outcome = "harm")
  expect_identical(waiting(), c(1L, 1L))
  turn(3600) # the rewards and the first outcome are released
  expect_identical(waiting(), c(0L, 1L))
  agent_arms(agent, add = "c")
  y <- agent_choose(agent, 30) # a block of three arms
  expect_identical(waiting(), c(1L, 2L))
  agent_arms(agent, add = c("d", "e"))
  agent_close(agent)
  agent <- agent_open(store)
  turn(2 * 3600)
  rows <- harm()
  expect_equal(rows$n, tabulate(x$arm, 2))
  expect_equal(rows$sum, as.vector(tapply(c(rep(0:1, 10), rep(1, 10)), x$arm, sum)))
  expect_equal(rows$chance, c(0.5, 0.5))
  expect_equal(rows$t, c(60, 60)) # so many have come by then, though the block is of the first 30
  agent_choose(agent, 4)
  turn(3600)
  rows <- harm()[-(1:2), ]
  expect_equal(rows$n, tabulate(y$arm, 3))
  expect_equal(rows$chance, rep(1 / 3, 3))
  expect_equal(rows$t, rep(64, 3))
  expect_identical(waiting(), c(1L, 1L)) # the block of the last four
  agent_close(agent)
})

test_that("of an open block that was returned as a whole no outcome waits, whichever arms the next people may have", {
  for (change in list(list(add = "c"), list(pause = "a"), list(retire = "b"))) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(block = c(7, 5)), c("a", "b", "x"), use = "arrival", outcomes = list(
      harm = agent_outcome(missing = 0, deadline = hours(1))))
    agent_return(agent, agent_choose(agent, 4, key = "k")$ticket)
    do.call(agent_arms, c(list(agent), change))
    x <- agent_choose(agent, 12)
    agent_reward(agent, x$ticket, rep(c(1, 0, 1), 4), outcome = "harm")
    agent_reward(agent, x$ticket, 0)
    turn(3601)
    # A model: the first seven people are the first block, as if nobody had been there before.
    rows <- dpts_releases(agent)
    rows <- rows[rows$outcome == "harm" & is.na(rows$event %||% NA), ]
    each <- split(data.frame(arm = x$arm, harm = rep(c(1, 0, 1), 4)), rep(1:2, c(7, 5)))
    expect_equal(as.vector(tapply(rows$n, rows$block, sum)), c(7, 5))
    for (b in 1:2) {
      own <- rows[rows$block == b, ]
      arms <- factor(as.character(own$arm), levels(x$arm))
      expect_equal(own$n, tabulate(each[[b]]$arm, nlevels(arms))[arms])
      expect_equal(own$sum, as.vector(tapply(each[[b]]$harm, each[[b]]$arm, sum, default = 0))[arms])
    }
    expect_identical(api_status(agent)$outcomes[[1]]$waiting, 0L)
  }
})

test_that("after the clock was wrongly ahead other outcomes wait from the right time on, as rewards do", {
  turn <- test_clock()
  agent <- side_agent(policy = side_policy(10), outcomes = list(harm = agent_outcome(missing = 1)))
  agent_reward(agent, agent_choose(agent)$ticket, 1)
  turn(10 * 3600)
  x <- agent_choose(agent, 9) # the block is full
  turn(-10 * 3600)
  suppressWarnings(agent_clock(agent, .POSIXct(getOption("dpts.clock")())))
  turn(1800)
  expect_identical(agent_reward(agent, x$ticket, 0, outcome = "harm")$status, rep("waiting", 9))
  turn(1700)
  expect_equal(nrow(side_rows(agent, "harm")), 0)
  turn(101)
  expect_equal(sum(side_rows(agent, "harm")$n), 10)
  expect_equal(sum(side_rows(agent, "harm")$sum), 1) # the first one said nothing
})

test_that("in strata each outcome's sums are of their own stratum and arms, also while an arm is paused", {
  withr::local_seed(1)
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(block = 12), c("a", "b", "c", "d"), use = "arrival", strata = c("n", "m", "s"),
                      outcomes = list(harm = agent_outcome(missing = 0, deadline = hours(1))))
  agent_arms(agent, pause = "b")
  stratum <- sample(rep(c("n", "m", "s"), 12))
  x <- agent_choose(agent, 36, stratum = stratum)
  harm <- as.integer(x$arm) / 4 > stats::runif(36)
  agent_reward(agent, x$ticket, harm, outcome = "harm")
  for (own in c("s", "n", "m")) agent_reward(agent, x$ticket[stratum == own], 0) # not in the order of their blocks
  turn(3601)
  rows <- dpts_releases(agent)
  rows <- rows[rows$outcome == "harm" & rows$n > 0, ]
  of <- function(stratum, arm) paste(stratum, arm)
  people <- tapply(harm, of(stratum, x$arm), length)
  expect_setequal(of(rows$stratum, rows$arm), names(people))
  at <- of(rows$stratum, rows$arm)
  expect_equal(rows$n, as.vector(people[at]))
  expect_equal(rows$sum, as.vector(tapply(harm, of(stratum, x$arm), sum)[at]))
})

test_that("beyond its budget an agent keeps no answer of any outcome", {
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(mu = 1, block = 10), 2, deadline = hours(1), budget = privacy_gdp(1.5),
                      outcomes = list(harm = agent_outcome(mu = 1, deadline = hours(5))))
  x <- agent_choose(agent, 25) # the blocks of the first 20 are full
  for (outcome in c("reward", "harm")) agent_reward(agent, x$ticket, 1, outcome)
  turn(3600)
  pulls(agent)
  y <- agent_choose(agent, 5)
  agent_reward(agent, y$ticket, 1, outcome = "harm")
  kept <- function() length(agent$store$answered(1, c(x$ticket, y$ticket))$ticket)
  expect_equal(kept(), 30)
  agent_restored(agent)
  expect_equal(kept(), 0)
  expect_identical(unique(agent_reward(agent, x$ticket, 0, outcome = "harm")$status), "late")
  turn(5 * 3600)
  expect_equal(nrow(side_rows(agent, "harm")), 0)
  agent_close(agent)
})

test_that("at the end outcomes that are due are released, and the others dropped", {
  skip_if_not_installed("RSQLite")
  turn <- test_clock()
  late <- function(...) side_agent(outcomes = list(harm = agent_outcome(deadline = hours(5), missing = 1)), ...)
  # By itself, at the horizon: it waits for all deadlines.
  agent <- late(horizon = 30)
  tickets <- agent_choose(agent, 30)$ticket
  turn(2 * 3600)
  expect_identical(c(nrow(side_rows(agent, "reward")), nrow(side_rows(agent, "harm"))), c(2L, 0L))
  expect_identical(agent_reward(agent, tickets[25], 0, outcome = "harm")$status, "waiting")
  turn(3 * 3600)
  expect_identical(sum(side_rows(agent, "reward")$n), 30)
  expect_identical(colSums(side_rows(agent, "harm")[c("n", "sum")]), c(n = 30, sum = 29))
  # By the operator, early; with `keep_rewards` answers are kept, those of a block that was released, too
  for (keep in c(FALSE, TRUE)) {
    agent <- late(keep_rewards = keep)
    x <- agent_choose(agent, 20)$ticket
    agent_reward(agent, x, 1, outcome = "harm")
    agent_reward(agent, x, 0.5)
    turn(5 * 3600)
    expect_identical(sum(side_rows(agent, "harm")$sum), 20)
    expect_identical(stored(agent, x)$reward, rep(if (keep) 0.5 else NA_real_, 20))
    y <- agent_choose(agent, 10)$ticket
    agent_reward(agent, y, 1, outcome = "harm")
    agent_finish(agent)
    expect_identical(sum(side_rows(agent, "harm")$n), 20)
    expect_identical(agent$store$answered(1L, c(x, y))$reward, if (keep) rep(1, 30) else numeric())
  }
  # The block that is open then is released if each of its people has a reward.
  for (told in c(6, 10)) {
    agent <- dpts_agent(side_policy(), c("a", "b"), use = "arrival", outcomes = list(
      harm = agent_outcome(deadline = hours(1), missing = 1)))
    x <- agent_choose(agent, 10)$ticket
    agent_reward(agent, x, 0, outcome = "harm")
    agent_reward(agent, x[1:told], 1)
    turn(3600)
    agent_finish(agent)
    expect_identical(colSums(side_rows(agent, "harm")[c("n", "sum")]), c(n = if (told == 10) 10 else 0, sum = 0))
  }
  # A copy takes what waits with it.
  agent <- late()
  agent_reward(agent, agent_choose(agent, 20)$ticket, 0, outcome = "harm")
  turn(2 * 3600)
  expect_identical(sum(side_rows(agent, "reward")$n), 20)
  moved <- agent_copy(agent, withr::local_tempfile(fileext = ".sqlite"))
  turn(3 * 3600)
  expect_identical(sum(side_rows(moved, "harm")$sum), 0)
  expect_identical(sum(side_rows(moved, "harm")$n), 20)
  expect_identical(nrow(side_rows(agent, "harm")), 0L) # the old one releases nothing a second time
})

test_that("a guard is the formula of its page, and pauses", {
  skip_if_not_installed("RSQLite")
  turn <- test_clock()
  agent <- dpts_agent(side_policy(c(40, 60)), c("a", "b", "c"), deadline = hours(1), outcomes = list(
    harm = agent_outcome(mu = 3, missing = 1, guard = 0.1)))
  withr::local_seed(2)
  told <- NULL
  for (i in 1:12) {
    new <- agent_choose(agent, 50)
    agent_reward(agent, new$ticket, stats::rbinom(50, 1, c(0.1, 0.1, 0.7)[as.integer(new$arm)]), outcome = "harm")
    known <- side_rows(agent, "harm")$block # a turn may release two blocks
    turn(3600)
    withCallingHandlers(pulls(agent), dpts_warning_guard = function(w) {
      told <<- c(told, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
    if (length(told)) break
  }
  expect_match(told, "\"harm\" proves that c is worse than the guard of 0.1", fixed = TRUE)
  expect_identical(agent_arms(agent)$status, c("active", "active", "paused"))
  rows <- dpts_releases(agent)
  rows <- rows[rows$outcome == "harm", ]
  pair <- function(arm, rows) guard_evidence(arm, "a", rows, 0.1)
  # At each look so far, a block more
  looks <- function(arm) vapply(unique(rows$block), function(b) pair(arm, rows[rows$block <= b, ]), 0)
  earlier <- unique(rows$block) %in% known
  expect_gte(max(looks("c")[!earlier]), log(2 / 0.05))
  expect_true(all(looks("c")[earlier] < log(2 / 0.05)))
  expect_lt(max(looks("b")), log(2 / 0.05))
  # While it is paused its pair gains neither people nor evidence.
  now <- pair("c", rows)
  agent_reward(agent, agent_choose(agent, 120)$ticket, 1, outcome = "harm")
  turn(3600)
  rows <- dpts_releases(agent)
  rows <- rows[rows$outcome == "harm", ]
  expect_identical(pair("c", rows), now)
  expect_false("c" %in% rows$arm[rows$block == max(rows$block)])
  pauses <- function() sum(agent_journal(agent)$kind == "guard")
  expect_equal(pauses(), 1) # what is paused is not paused again
  # Resumed, it is paused by the next release again.
  agent_arms(agent, resume = "c")
  new <- agent_choose(agent, 65)
  agent_reward(agent, new$ticket, as.numeric(new$arm == "c"), outcome = "harm")
  turn(3600)
  expect_warning(pulls(agent), class = "dpts_warning_guard")
  expect_identical(agent_arms(agent)$status[3], "paused")
  expect_equal(pauses(), 2)
  expect_match(paste(format(agent), collapse = " "), "guard: at most 0.1 more than the control", fixed = TRUE)
  expect_identical(as.character(api_status(agent)$outcomes[[1]]$worse), "c")
})

test_that("a guard's pause is not put down to who operates in the same call, nor to that one's reason", {
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(block = 100, control = 1), c("a", "b", "c"), deadline = hours(1), outcomes = list(
    harm = agent_outcome(missing = 1, guard = 0.1)))
  x <- agent_choose(agent, 300)
  agent_reward(agent, x$ticket, +(x$arm == "c"), outcome = "harm")
  turn(3600)
  expect_warning(agent_arms(agent, pause = "b", reason = "The supplier failed."), "c is worse than the guard of 0.1 allows: it is paused",
                 class = "dpts_warning_guard")
  rows <- agent_journal(agent)
  rows <- rows[rows$kind %in% c("guard", "pause"), ]
  expect_identical(paste(rows$kind, rows$arm, is.na(rows$who), rows$note),
                   c("guard c TRUE NA", "pause c TRUE NA", "pause b FALSE The supplier failed."))
})

test_that("of several blocks that are released at once each is judged by a guard", {
  # b does harm in the first block, and the control in the second, after which nothing is proved.
  rows <- data.frame(arm = c("a", "b"), n = c(300, 300), chance = 0.5, block = c(1, 1, 2, 2), t = 1200, scale = 1,
                     sum = c(30, 240, 270, 30))
  harm <- agent_outcome(mu = 1, missing = 1, guard = 0.1)
  worse <- function(rows) {
    proved_worse(release_records(as_releases(rows, "gaussian"))$records[[1]], harm, 1)
  }
  expect_identical(guard_evidence("b", "a", rows[1:2, ], 0.1) > log(1 / 0.05), TRUE)
  expect_identical(guard_evidence("b", "a", rows, 0.1) > log(1 / 0.05), FALSE)
  expect_identical(worse(rows), 2L)
  # Released one after the other, the first was judged when it came.
  expect_length(worse(transform(rows, t = c(600, 600, 1200, 1200))), 0)
})

test_that("a guard names the right arms, at the share of the error that each has, once arms came and went", {
  harm <- agent_outcome(mu = 1, missing = 1, guard = 0.1)
  labels <- c("gone", "old", "new", "newer")
  block <- function(b, arms, sums) {
    data.frame(arm = arms, block = b, n = 100, sum = sums, chance = 1 / length(arms), floor = 0.5, scale = 1, t = 400 * b,
               event = NA)
  }
  moved <- function(arm, t, event) {
    data.frame(arm, block = NA, n = 0, sum = 0, chance = NA, floor = 0.5, scale = 1, t, event)
  }
  rows <- rbind(block(1, labels[1:2], c(50, 20)), block(2, labels[1:2], c(60, 30)), moved(labels[3:4], 800, "added"),
                block(3, labels, c(30, 20, 50, 60)), block(4, labels, c(30, 20, 60, 40)), moved("gone", 1600, "retired"),
                block(5, labels[-1], c(25, 55, 50)))
  rows$arm <- factor(rows$arm, labels)
  expect_identical(proved_worse(release_records(as_releases(rows, "gaussian"))$records[[1]], harm, 1), integer()) # the control is gone
  # The shares of two arms at the beginning, and of the third and fourth in all; of all others ever once one has gone
  for (case in list(list(rows = rows[1:14, ], control = 1, shares = c(NA, 1 / 3, 1 / 12, 1 / 20)),
                    list(rows = rows, control = 2, shares = c(NA, NA, 1 / 36, 1 / 60)))) {
    record <- release_records(as_releases(case$rows, "gaussian"))$records[[1]]
    for (arm in which(!is.na(case$shares))) {
      last <- guard_evidence(labels[arm], labels[case$control], case$rows[is.na(case$rows$event), ], 0.1)
      for (more in c(0.999, 1.001)) {
        harm$error <- exp(-last) / case$shares[arm] * more
        expect_identical(arm %in% proved_worse(record, harm, case$control), more > 1)
      }
    }
  }
})

test_that("a guard that pauses two arms says so of both", {
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(block = 100, control = 2), c("a", "b", "c"), deadline = hours(1), outcomes = list(
    kept = agent_outcome(missing = 0, guard = 0.1, worse = "less")))
  x <- agent_choose(agent, 400)
  agent_reward(agent, x$ticket, +(x$arm == "b"), outcome = "kept")
  turn(3600)
  expect_warning(pulls(agent), "^Outcome \"kept\" proves that a and c are worse than the guard of 0.1 allows: they are paused.$",
                 class = "dpts_warning_guard")
  expect_identical(agent_arms(agent)$status, c("paused", "active", "paused"))
})

test_that("two guards whose outcomes are released in one call each pause an arm, and none after the end", {
  turn <- test_clock()
  guarded <- function(horizon = NULL) {
    agent <- dpts_agent(policy_randomised(block = 100, control = 1), c("a", "b", "c"), deadline = hours(1), horizon = horizon,
                        outcomes = list(harm = agent_outcome(missing = 1, guard = 0.1),
                                        cost = agent_outcome(range = c(0, 10), missing = 0, guard = 1)))
    x <- agent_choose(agent, 300)
    agent_reward(agent, x$ticket, +(x$arm == "c"), outcome = "harm")
    agent_reward(agent, x$ticket, 10 * (x$arm == "b"), outcome = "cost")
    turn(3600)
    agent
  }
  ended <- guarded(horizon = 300)
  expect_no_warning(status <- agent_arms(ended)$status)
  expect_identical(status, rep("active", 3))
  expect_identical(lapply(api_status(ended)$outcomes, function(x) as.character(x$worse)), list("c", "b"))
  agent <- guarded()
  told <- expect_warning(pulls(agent), "c is worse than the guard of 0.1 allows", class = "dpts_warning_guard")
  expect_match(conditionMessage(told), "\"cost\" proves that b is worse than the guard of 1 allows", fixed = TRUE)
  expect_identical(agent_arms(agent)$status, c("active", "paused", "paused"))
  agent_arms(agent, pause = "a") # which no guard did
  expect_identical(experiment_numbers(list(agents = list(find = function(name) agent)), "x")$guards, 2)
})

test_that("a pause ends the open block, whose people stay in it", {
  skip_if_not_installed("RSQLite")
  turn <- test_clock()
  agent <- dpts_agent(side_policy(c(100, 50)), c("a", "b", "c"), use = "arrival")
  early <- agent_choose(agent, 30)
  agent_arms(agent, pause = "c")
  later <- agent_choose(agent, 50)
  batch <- stored(agent, c(early$ticket, later$ticket))$batch
  expect_identical(batch, rep(c(1, 2), c(30, 50)))
  agent_reward(agent, early$ticket, 1)
  rows <- dpts_releases(agent)
  expect_identical(sum(rows$n), 30)
  # One that is complete when it ends is released at once.
  agent <- dpts_agent(side_policy(c(100, 50)), c("a", "b", "c"), use = "arrival")
  agent_reward(agent, agent_choose(agent, 30)$ticket, 1)
  expect_identical(sum(dpts_releases(agent)$n), 0)
  agent_arms(agent, pause = "c")
  expect_identical(sum(dpts_releases(agent)$n), 30)
})

test_that("false alarms of a guard stay below its error while harm drifts", {
  # Blocks as an agent releases them: harm drifts, and b is worse by exactly the guard in each block.
  withr::local_seed(3)
  guard <- 0.05
  alarms <- replicate(100, {
    block <- rep(1:8, each = 2)
    n <- as.vector(stats::rmultinom(8, 100, c(0.5, 0.5)))
    rows <- data.frame(arm = c("a", "b"), n, chance = 0.5, block, squares = NA_real_,
                       sum = stats::rbinom(16, n, 0.4 + 0.35 * sin(block * 1.7) + c(0, guard)) + stats::rnorm(16, 0, 2))
    record <- dpts:::release_records(as_releases(rows, "gaussian", 2))$records[[1]]
    w <- dpts:::record_evidence(record, "tosses", margin = -guard)$pair
    max(w[, 2]) >= log(1 / 0.2)
  })
  expect_lte(mean(alarms), 0.2 + 3 * sqrt(0.2 * 0.8 / 100))
  expect_gt(mean(alarms), 0) # the test can fail
})

test_that("what is wrong is refused", {
  expect_error(agent_outcome(guard = 0.1), "missing", class = "dpts_error_input")
  expect_error(agent_outcome(missing = 2), "missing", class = "dpts_error_input")
  expect_error(agent_outcome(missing = 1, guard = 1), "guard", class = "dpts_error_input")
  expect_error(agent_outcome(mu = 1, epsilon = 1), "epsilon", class = "dpts_error_input")
  expect_error(agent_outcome(missing = -1), "missing", class = "dpts_error_input")
  expect_error(agent_outcome(missing = 1, guard = -0.1), "guard", class = "dpts_error_input")
  for (error in 0:1) expect_error(agent_outcome(error = error), "error", class = "dpts_error_input")
  expect_error(agent_outcome(deadline = 5), "deadline", class = "dpts_error_input")
  expect_error(agent_outcome(range = c(1, 0)), "range", class = "dpts_error_input")
  expect_error(agent_outcome(outcome = "count"), "outcome", class = "dpts_error_input")
  expect_error(agent_outcome(worse = "many"), "worse", class = "dpts_error_input")
  # Nobody believes in a guard that is not there.
  expect_error(agent_outcome(error = 0.01), "`error` is that of a `guard`", class = "dpts_error_input")
  expect_error(agent_outcome(worse = "less"), "`worse` is that of a `guard`", class = "dpts_error_input")
  expect_error(agent_outcome(1, 2, 3), class = "dpts_error_input")
  plain <- agent_outcome(range = c(-1, 1)) # the lowest is missing, in units of the range
  expect_identical(unclass(plain)[c("missing", "guard", "worse", "error", "outcome")],
                   list(missing = 0, guard = NULL, worse = "more", error = 0.05, outcome = "binary"))
  expect_identical(agent_outcome(missing = 1, guard = 0)$guard, 0)
  skip_if_not_installed("RSQLite")
  new <- function(outcomes, policy = side_policy(), ...) dpts_agent(policy, 2, ..., outcomes = outcomes)
  own <- agent_outcome(deadline = hours(1))
  refused <- function(...) expect_error(new(..., use = "arrival"), "outcomes|Outcome", class = "dpts_error_input")
  refused(own)
  refused(list(own))
  refused(list(reward = own))
  refused(list(harm = 1))
  refused(list(harm = agent_outcome()))
  refused(list(harm = own), batch_policy())
  refused(list(harm = own), policy_local(side_policy(), 1))
  guard <- agent_outcome(missing = 1, guard = 0.1, deadline = hours(1))
  refused(list(harm = guard), policy_randomised(mu = 1))
  refused(list(harm = guard), side_policy(permuted = TRUE))
  agent <- new(list(harm = own), use = "arrival")
  ticket <- agent_choose(agent)$ticket
  expect_error(agent_reward(agent, ticket, 1, outcome = "harms"), "outcome", class = "dpts_error_input")
  expect_error(agent_reward(agent, ticket, 2, outcome = "harm"), "reward", class = "dpts_error_input")
  expect_error(effects(agent, outcome = "cost"), "outcome", class = "dpts_error_input")
  expect_identical(agent_reward(agent, strrep("0", 32), 1, outcome = "harm")$status, "unknown")
  expect_identical(agent_reward(agent, rep(ticket, 3), c(1, 1, 0), outcome = "harm")$status, c("waiting", "known", "refused"))
})

test_that("a guard is in the units of its outcome, and never pauses all arms that take part", {
  table <- as_releases(data.frame(block = rep(1:10, each = 2), arm = 1:2, n = 200, sum = c(400, 1000), chance = 0.5),
                       noise = "none", range = c(0, 10)) # means of 2 and 5
  record <- dpts:::release_records(table)$records[[1]]
  worse <- function(guard, ...) {
    dpts:::proved_worse(record, agent_outcome(mu = 1, range = c(0, 10), missing = 10, guard = guard, ...), 1)
  }
  expect_equal(worse(2), 2)
  expect_equal(worse(4), integer())
  expect_equal(worse(2, worse = "less"), integer())
  local_function("proved_worse", function(old) function(...) 2:3)
  expect_equal(dpts:::to_pause(NULL, NULL, 1, 1:3), 2:3)
  expect_equal(dpts:::to_pause(NULL, NULL, 1, c(1, 3)), 3)
  expect_equal(dpts:::to_pause(NULL, NULL, 1, 2:3), integer()) # the control is paused
})

test_that("an answer at its outcome's deadline is late, and one before is not, in every store", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- side_agent(store, outcomes = list(harm = agent_outcome(deadline = hours(3), missing = 1)))
    ticket <- agent_choose(agent, 3)$ticket
    agent_reward(agent, ticket, 0)
    turn(3 * 3600 - 1)
    expect_identical(agent_reward(agent, ticket[1], 1, "harm")$status, "waiting")
    turn(1)
    expect_identical(agent_reward(agent, ticket[2:3], 1, "harm")$status, c("late", "late"))
    agent_close(agent)
  })
})

test_that("an answer to a choice that another process has made since is taken, whatever this one has seen, in every store", {
  each_database(function(store) {
    agent <- side_agent(store, policy = policy_randomised(mu = 1e9, block = 6))
    con <- if (is.character(store)) store else postgres_connection(attr(store, "schema"))
    other <- agent_open(con)
    tickets <- unlist(lapply(1:12, function(i) {
      ticket <- agent_choose(agent)$ticket
      expect_identical(agent_reward(other, ticket, 1, "harm")$status, "waiting")
      if (i > 3) agent_reward(other, ticket, 0)
      ticket
    }))
    expect_identical(agent_reward(other, tickets, 1, "harm")$status, rep("known", 12))
    agent_close(other)
    agent_close(agent)
  })
})
