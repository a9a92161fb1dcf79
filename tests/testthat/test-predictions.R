# Predictions: residuals in place of rewards, from the policy to what is concluded.

# The residual in [0, 1], by the help page
residual <- function(x, m, low, high) (x - pmin(pmax(m, low), high) + high) / (1 + high - low)

test_that("a block sums residuals and their squares, whatever the delay, with the noise that is said", {
  withr::local_seed(1)
  steps <- 60
  for (case in list(list(mu = 0.5), list(epsilon = 0.5), list(mu = 2, protect = "reward"),
                    list(epsilon = 2, protect = "reward"))) {
    for (delay in c(0, 7)) {
      rewards <- runif(steps)
      m <- runif(steps)
      policy <- do.call(policy_randomised, c(case, list(block = 10, outcome = "continuous", predicted = c(0.3, 0.6))))
      out <- run_script(policy, 2, rep(NA, steps), rewards, delays = rep(delay, steps), contexts = rbind(m))
      rows <- seq_len(out$total)
      u <- residual(rewards, m, 0.3, 0.6)
      block <- factor(rep(1:6, each = 10))[out$arm > 0]
      sums <- function(x) as.vector(tapply(x, list(factor(out$arm, 1:2), block), sum, default = 0))[seq_len(out$total / 2)]
      expect_equal(out$exact[rows][c(TRUE, FALSE)], sums(u))
      expect_equal(out$exact[rows][c(FALSE, TRUE)], sums((u - 0.5)^2))
      # By how much a neighbour moves the pair at most, on a grid: both channels
      w <- if (is.null(case$mu) || !is.null(case$protect)) 1 else 2
      x <- seq(0, 1, 0.05)
      p <- seq(0.3, 0.6, 0.05)
      pairs <- if (is.null(case$protect)) merge(expand.grid(x, p), expand.grid(x, p), by = NULL) else
        transform(merge(expand.grid(x, p), data.frame(y = x), by = NULL), p = Var2)
      u <- residual(pairs[[1]], pairs[[2]], 0.3, 0.6)
      v <- residual(pairs[[3]], pairs[[4]], 0.3, 0.6)
      d <- abs(u - v)
      e <- w * abs((u - 0.5)^2 - (v - 0.5)^2)
      most <- if (is.null(case$mu)) max(d + e) else sqrt(max(d^2 + e^2))
      budget <- case$mu %||% case$epsilon
      expect_equal(out$scale[rows], rep(most / budget / c(1, w), out$total / 2), tolerance = 2e-5)
      expect_gte(out$scale[1] * budget, most)
      # Where one neighbour moves it by less than 1 there is room for what is rounded to the grid of a live agent.
      if (!is.null(case$protect)) expect_gt(out$scale[1] * budget, most * (1 + 9 * 2^-20))
    }
  }
  # Default blocks: the first one is as large as noise asks for, to 2 * 1000 people
  for (case in list(list(0.5, ceiling(2 * sqrt(500 * 4 / 0.005))), list(0.1, 2000), list(10, 200))) {
    policy <- policy_randomised(case[[1]], outcome = "continuous", predicted = c(0.3, 0.6))
    out <- run_script(policy, 2, rep(NA, 2000), rep(0.5, 2000))
    expect_identical(which(out$released > 0)[1] + 0, case[[2]])
  }
  policy <- policy_randomised(epsilon = 2, block = 10, outcome = "continuous", predicted = c(0.3, 0.6))
  # Without a prediction the middle counts.
  same <- run_script(policy, 2, rep(NA, steps), rewards, contexts = rbind(rep(NaN, steps)))
  middle <- run_script(policy, 2, rep(NA, steps), rewards, contexts = rbind(rep(0.45, steps)))
  none <- run_script(policy, 2, rep(NA, steps), rewards)
  expect_equal(same$exact[rows], middle$exact[rows])
  expect_equal(none$exact[rows], middle$exact[rows])
})

test_that("random scripts of residuals are those of plain R", {
  withr::local_seed(2)
  for (i in 1:7) {
    script <- randomised_script()
    script$args <- script$args[setdiff(names(script$args), c("permuted", "rule"))]
    script$args$block <- script$args$block %||% 40
    m <- stats::runif(script$steps)
    script$rewards <- stats::runif(script$steps)
    policy <- do.call(policy_randomised, c(script$args, list(outcome = "continuous", predicted = c(0.2, 0.9))))
    out <- run_script(policy, script$k, script$arms, script$rewards, script$steps, script$seed, offers = script$offers,
                      delays = script$delays, contexts = rbind(m), finish = TRUE)
    exact <- numeric()
    model <- do.call(randomised_model, c(list(script$k, function(n, sum) {
      exact[length(exact) + 1] <<- sum
      0
    }), script$args))
    u <- residual(script$rewards, m, 0.2, 0.9)
    waits <- rep_len(script$delays, script$steps)
    block <- numeric(script$steps)
    for (t in seq_len(script$steps)) {
      block[t] <- model$commit(script$offers[[t]] %||% seq_len(script$k), out$arm[t])
      for (j in which(seq_len(t) + waits[seq_len(t)] == t)) model$update(block[j], out$arm[j], u[j])
    }
    model$finish()
    expect_equal(out$exact[seq_len(out$total)][c(TRUE, FALSE)], exact, info = deparse1(script$args))
  }
})

test_that("arms_predicted() has the means, the variance and the predictions that it says", {
  arms <- arms_predicted(c(a = 20, b = 30), sd = 5, r2 = 0.6, range = c(0, 50))
  expect_identical(arms$mean, arms_gaussian(c(a = 20, b = 30), 5, c(0, 50))$mean)
  n <- 20000
  # The sums of residuals tell the prediction of each round.
  blind <- policy_randomised(block = 5, outcome = "continuous")
  informed <- policy_randomised(block = 5, outcome = "continuous", predicted = c(0, 1))
  sim <- dpts_simulate(arms, list(blind = blind, informed = informed), n, runs = I(1), seed = 3, history = TRUE)
  rounds <- dpts_history(sim)
  x <- split(rounds$reward, rounds$policy)
  expect_identical(x$blind, x$informed) # the same people, whatever is known of them
  expect_equal(var(x$blind - arms$mean[rounds$arm[rounds$policy == "blind"]]), 25, tolerance = 6 * sqrt(2 / n))
  residuals <- dpts_releases(sim)
  expect_identical(unique(residuals$predicted_high), c(NA, 1))
  of <- function(policy) residuals[residuals$policy == policy & residuals$n > 0, ]
  rest <- lm(I(sum / n) ~ arm, of("informed"), weights = n)
  all <- lm(I(sum / n) ~ arm, of("blind"), weights = n)
  # Residuals are halved by the wider scale.
  expect_equal(4 * sigma(rest)^2 / sigma(all)^2, 0.4, tolerance = 6 * sqrt(2 / (n / 5)))
  # What is left of clipped rewards has the mean of these less that of the predictions, around the means before the clip.
  cut <- arms_predicted(c(10, 30, 5), sd = 20, r2 = 0.25, range = c(0, 100))
  left <- dpts_releases(dpts_simulate(cut, informed, 9000, runs = I(1), seed = 3, history = TRUE))
  left <- tapply(left$sum, left$arm, sum) / tapply(left$n, left$arm, sum)
  expect_lt(max(abs(left - (1 + cut$mean / 100 - arms_gaussian(0.15, 0.1, c(0, 1))$mean) / 2)), 5 * 0.1 / sqrt(3000))
  expect_error(arms_predicted(0.5, 0.1, 1.1), "`r2`", class = "dpts_error_input")
  expect_error(arms_predicted(0.5, 0, 0.5), "`sd`", class = "dpts_error_input")
  arms$world$r2 <- 2
  expect_error(dpts_simulate(arms, policy_ucb1(), 10), "damaged", class = "dpts_error_input")
})

test_that("a table of residuals concludes on the scale of rewards, and refuses what needs their sums", {
  arms <- arms_predicted(c(control = 20, new = 26), sd = 8, r2 = 0.5, range = c(0, 50))
  policy <- policy_randomised(mu = 2, outcome = "continuous", predicted = c(0.1, 0.9))
  sim <- dpts_simulate(arms, policy, 12000, runs = 1, seed = 1, history = TRUE)
  effect <- effects(sim)
  truth <- unname(diff(arms$mean))
  expect_true(effect$lower < truth && truth < effect$upper)
  expect_equal(effect$difference, truth, tolerance = 4 * 8 * sqrt(2 / 6000 * 2) / truth)
  expect_identical(as.character(verdict(sim)$arm), "new")
  refused <- function(expr, what) expect_error(expr, what, class = "dpts_error_verdict")
  refused(estimates(sim), "less predictions")
  # Predictions that are right in the mean are worth as much wherever they lie.
  wrong <- vapply(list(c(0.3, 0.7), c(0, 0.4)), function(bounds) {
    scores <- arms_predicted(mean(bounds) + c(0, 0.06), 0.12, 0.5)
    away <- policy_randomised(1, block = 300, outcome = "continuous", predicted = bounds)
    away <- dpts_releases(dpts_simulate(scores, away, 300, runs = 1, seed = 3, history = TRUE))
    evidence(away)$evidence[2]
  }, 0)
  expect_gt(min(wrong), 0.5 * max(wrong))
  refused(evidence(sim, "means"), "`kind` must be \"tosses\"")
  refused(evidence(sim, "tosses", against = 20), "less predictions")
  expect_silent(evidence(sim))
  # A margin is in units of rewards, too.
  wide <- verdict(sim, margin = 0.1)
  expect_lte(wide$t, verdict(sim)$t)
  table <- dpts_releases(sim)
  file <- withr::local_tempfile()
  utils::write.csv(table, file)
  expect_identical(effects(as_releases(utils::read.csv(file))), effects(table))
  bad <- function(x, what) expect_error(check_releases(x, "x"), what, class = "dpts_error_releases")
  bad(transform(table, predicted_high = 1.2), "predicted_high")
  bad(transform(table, predicted_low = NULL), "predicted_low")
  bad(transform(table, floor = NA_real_, chance = NA_real_), "people are randomised")
  # Simulated verdicts are those of the table.
  arms <- arms_predicted(c(control = 0.4, new = 0.52), sd = 0.16, r2 = 0.5)
  policies <- list(person = policy, reward = policy_randomised(mu = 2, outcome = "continuous", predicted = c(0.1, 0.9),
                                                               protect = "reward"))
  sim <- dpts_simulate(arms, policies, 8000, runs = 3, seed = 1, history = TRUE)
  for (margin in c(0, 0.1)) {
    found <- dpts_identify(arms, policies, margin = margin, limit = 8000, runs = 3, seed = 1)
    expect_equal(as.data.frame(found)$people, verdict(sim, margin = margin)$t)
  }
  # All of the capital is on bets with squares, where of rewards it is four fifths.
  table <- dpts_releases(sim)
  expect_identical(unique(table$weight[table$policy == "reward"]), 1)
  told <- exp(evidence(table, "tosses")$evidence)
  plain <- exp(evidence(table[!names(table) %in% c("predicted_low", "predicted_high")], "tosses")$evidence)
  expect_gte(min(plain / told), 0.8 - 1e-9)
  expect_gt(max(told / plain), 1.24)
})

test_that("effects of residuals are never larger than the range of rewards, though residuals spread further", {
  quiet <- function(x) withr::with_options(list(rlib_message_verbosity = "quiet"), x)
  for (range in list(c(0, 1), c(-5, 15))) {
    # All residuals of an arm are the least, of the other one the largest that there can be: 1.7 ranges apart.
    table <- as_releases(data.frame(arm = 1:2, n = 30, t = 60, chance = 0.5, floor = 0.5, sum = 30 * range, squares = 7.5 * diff(range)^2,
                                    predicted_low = 0.2, predicted_high = 0.9), "gaussian", diff(range), range = range)
    for (at in c("any", "end")) {
      found <- quiet(effects(table, control = 1, at = at))
      expect_equal(c(found$difference, found$upper), rep(diff(range), 2))
      expect_lte(found$lower, diff(range))
      expect_gt(found$lower, 0.9 * diff(range))
    }
  }
})

test_that("intervals of residuals cover the true effect, and nothing is claimed where there is none", {
  play <- function(gap, ...) {
    arms <- arms_predicted(c(0.35, 0.35 + gap), 0.15, 0.4)
    policies <- list(person = policy_randomised(2, outcome = "continuous", predicted = c(0.2, 0.5), ...),
                     reward = policy_randomised(2, outcome = "continuous", predicted = c(0.2, 0.5), protect = "reward", ...))
    effects(dpts_simulate(arms, policies, 2000, runs = 60, seed = 4, history = TRUE), level = 0.8)
  }
  effect <- play(0.06, rule = "thompson")
  truth <- unname(diff(arms_predicted(c(0.35, 0.41), 0.15, 0.4)$mean))
  cover <- tapply(effect$lower <= truth & truth <= effect$upper, effect$policy, mean)
  expect_gt(min(cover), 0.8 - 3 * sqrt(0.8 * 0.2 / 60))
  # And estimates are on the scale of rewards.
  off <- tapply(effect$difference - truth, effect$policy, function(d) mean(d) / (stats::sd(d) / sqrt(60)))
  expect_lt(max(abs(off)), 4)
  none <- play(0)
  expect_lt(mean(none$p < 0.2), 0.2 + 3 * sqrt(0.2 * 0.8 / 120))
})

test_that("predictions are refused where they cannot be", {
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  bad(policy_randomised(1, predicted = c(0.3, 0.7)), "`outcome`")
  make <- function(...) policy_randomised(1, outcome = "continuous", ...)
  bad(make(predicted = c(0.7, 0.3)), "`predicted`")
  bad(make(predicted = c(0, 1.2)), "`predicted`")
  bad(make(predicted = c(0, 1), permuted = TRUE), "`permuted`")
  bad(make(predicted = c(0, 1), protect = "nobody"), "`protect`")
  bad(policy_clipped(make(predicted = c(0, 1)), c(0, 1)), "without predictions")
  bad(dpts_simulate(arms_linear(rbind(c(0.5, 0.2), c(0.1, 0.3))), make(predicted = c(0, 1)), 100), "predictions")
  expect_identical(format(make(predicted = c(0.3, 0.7), protect = "reward")),
                   "policy_randomised(mu = 1, outcome = \"continuous\", predicted = c(0.3, 0.7), protect = \"reward\")")
})

# ---- agents ------------------------------------------------------------------------------------

test_that("predictions are in the units of rewards, wherever their range begins", {
  agent <- dpts_agent(policy_randomised(mu = 1, outcome = "continuous", predicted = c(0.2, 0.8)), 2, use = "arrival", range = c(-5, 15))
  x <- agent_choose(agent, 5, predicted = c(5, -5, 15, -1, 11))
  expect_equal(api_status(agent)$clipped, 2)
  kept <- vapply(stored(agent, x$ticket)$context, read_context, 0, numbers = FALSE, USE.NAMES = FALSE)
  expect_equal(kept, c(0.5, 0.2, 0.8, 0.2, 0.8))
})

test_that("an agent keeps a prediction until the reward is learned, across a restart, and no longer", {
  skip_on_cran()
  withr::local_seed(5)
  # Noise of less than 1e-9 of a step is none.
  # The middle of the predictions is not that of the range.
  policy <- policy_randomised(mu = 1e12, block = 8, outcome = "continuous", predicted = c(0.2, 0.9))
  postgres <- NULL
  stores <- list(withr::local_tempfile(fileext = ".sqlite"), if (postgres_available()) postgres_connection())
  for (store in Filter(Negate(is.null), stores)) {
    agent <- dpts_agent(policy, c("a", "b"), store, use = "arrival", range = c(0, 500))
    m <- c(120, 400, NA, 30, 499, 250, 333.3, 100)
    chosen <- agent_choose(agent, 8, predicted = m)
    said <- function() utils::capture.output(print(agent))
    expect_match(said(), "predicted: from 100 to 450, 2 clipped", all = FALSE, fixed = TRUE)
    expect_false(anyNA(stored(agent, chosen$ticket)$context))
    agent_reward(agent, chosen$ticket[1:3], 500 * (1:3) / 8)
    expect_identical(is.na(stored(agent, chosen$ticket)$context), 1:8 <= 3)
    if (is.character(store)) {
      agent_close(agent)
      agent <- agent_open(store)
    }
    agent_reward(agent, chosen$ticket[4:8], 500 * (4:8) / 8)
    expect_true(all(is.na(stored(agent, chosen$ticket)$context)))
    expect_match(said(), "2 clipped", all = FALSE, fixed = TRUE)
    table <- dpts_releases(agent)
    # In whole steps of 2^-20, squares rounded up
    u <- round(residual(1:8 / 8, ifelse(is.na(m), 275, m) / 500, 0.2, 0.9) * 2^20) / 2^20
    squares <- ceiling((u - 0.5)^2 * 2^20) / 2^20
    by <- function(x) as.vector(tapply(x, chosen$arm, sum, default = 0))[as.integer(table$arm)]
    expect_equal(table$sum, by(u), tolerance = 1e-12)
    expect_equal(table$squares, by(squares), tolerance = 1e-12)
    expect_identical(unique(table$predicted_low), 0.2)
    expect_identical(unique(table$high), 500)
    # What follows from it
    expect_identical(is.na(effects(agent)$difference), any(tabulate(chosen$arm, 2) == 0))
    expect_error(estimates(agent), "less predictions", class = "dpts_error_verdict")
    expect_true(all(is.na(summary(agent)$mean)))
    expect_identical(summary(agent)$rewards, tabulate(chosen$arm, 2) + 0)
    expect_identical(grepl("predict", unlist(dpts_history(agent))), rep(FALSE, 48))
    agent_close(agent)
  }
})

test_that("predictions are of the reward: other outcomes are sums as they are", {
  skip_on_cran()
  turn <- test_clock()
  policy <- policy_randomised(mu = 1e9, block = 40, outcome = "continuous", predicted = c(0.2, 0.9))
  agent <- dpts_agent(policy, c("a", "b"), deadline = hours(1), outcomes = list(harm = agent_outcome(mu = 1e9, missing = 1)))
  chosen <- agent_choose(agent, 40, predicted = rep(0.5, 40))
  agent_reward(agent, chosen$ticket, as.numeric(chosen$arm == "a"), outcome = "harm")
  turn(3600)
  table <- dpts_releases(agent)
  expect_identical(is.na(table$predicted_low), table$outcome == "harm")
  expect_equal(estimates(agent, outcome = "harm")$mean, c(1, 0), tolerance = 1e-6)
})

test_that("an answer that does not come counts less its prediction, at the deadline", {
  skip_on_cran()
  turn <- test_clock()
  policy <- policy_randomised(mu = 1e12, block = 5, outcome = "continuous", predicted = c(0, 1))
  agent <- dpts_agent(policy, 2, use = "deadline", deadline = hours(1), missing = 0.25)
  chosen <- agent_choose(agent, 5, predicted = 1:5 / 5)
  agent_reward(agent, chosen$ticket[1:2], 1)
  expect_false(anyNA(stored(agent, chosen$ticket)$context))
  turn(7200)
  u <- residual(c(1, 1, 0.25, 0.25, 0.25), 1:5 / 5, 0, 1)
  expect_equal(sum(dpts_releases(agent)$sum), sum(u), tolerance = 1e-5)
  expect_true(all(is.na(stored(agent, chosen$ticket)$context)))
})

test_that("a prediction is asked for where there are any, one for each choice", {
  skip_on_cran()
  policy <- policy_randomised(mu = 1, outcome = "continuous", predicted = c(0.2, 0.8))
  agent <- dpts_agent(policy, 2, use = "arrival")
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  bad(agent_choose(agent), "`predicted` must be a number, NA where")
  bad(agent_choose(agent, 2, predicted = 0.5), "`predicted` must be 2 numbers, one per choice")
  bad(agent_choose(agent, predicted = Inf), "`predicted`")
  bad(agent_choose(agent, predicted = "0.5"), "`predicted`")
  for (no in list(quote(a), mean, baseenv(), TRUE, list(1))) {
    expect_no_warning(bad(agent_choose(agent, predicted = no), "`predicted`"))
  }
  expect_no_error(agent_choose(agent_open(agent_backup(agent, withr::local_tempfile())), 2, predicted = c(NA_character_, NA)))
  bad(agent_choose(agent, predicted = 0.5, context = 1), "`context` must be left out")
  expect_identical(sum(pulls(agent)$pulls), 0)
  bad(agent_choose(dpts_agent(policy_randomised(1), 2, use = "arrival"), predicted = 0.5), "`predicted` must be left out")
  bad(dpts_agent(policy, 2, use = "arrival", dim = 1), "leave out `dim`")
  # A choice that is asked for again keeps its prediction.
  first <- agent_choose(agent, predicted = 0.9, key = "one")
  expect_identical(agent_choose(agent, predicted = 0.1, key = "one"), first)
  expect_equal(agent$life$clipped, 1)
  expect_identical(read_context(stored(agent, first$ticket)$context), 0.8)
})

test_that("an audit moves reward and prediction where both are protected, and finds the whole promise", {
  audit <- function(...) {
    policy <- policy_randomised(epsilon = 1, block = 5, outcome = "continuous", ...)
    x <- y <- matrix(0, 6, 2)
    y[2, ] <- 1
    dpts_audit(policy, 6, runs = 100, method = "coupling", seed = 1, streams = list(x, y))
  }
  none <- audit()
  person <- audit(predicted = c(0.3, 0.7))
  reward <- audit(predicted = c(0.3, 0.7), protect = "reward")
  expect_identical(person$lower, none$lower)
  expect_equal(max(person$lower), 1)
  expect_true(all(reward$holds))
  # With the middle for a prediction a reward moves sum and squares by 1 / 1.4, and by no more than 0.
  expect_equal(max(reward$lower), (1 / 1.4) / (1 / 1.4 * (2 - 1 / 1.4)), tolerance = 1e-4)
})
