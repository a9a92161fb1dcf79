# Rewards that are learned late, by dpts_simulate().

recorded <- function(horizon) {
  withr::with_seed(1, {
    trial <- data.frame(arm = rep(1:3, each = horizon),
                        y = c(stats::rbinom(horizon, 1, 0.3), stats::rbeta(horizon, 2, 2), stats::runif(horizon, 0, 0.8)))
  })
  list(arms = arms_data(trial, "arm", "y", replace = FALSE), rewards = split(trial$y, trial$arm))
}

play_late <- function(log, horizon, policy = policy_ucb1(), ...) {
  h <- dpts_history(dpts_simulate(log$arms, policy, horizon, runs = 1, seed = 1, history = TRUE, ...))
  list(arm = as.numeric(h$arm), reward = h$reward)
}

test_that("delayed rewards and batches are learned when they should be: UCB1 in R, round by round", {
  horizon <- 400
  log <- recorded(horizon)
  expect_equal(play_late(log, horizon), ucb1_late(log$rewards, horizon, identity))
  for (delay in c(1, 7, 60)) {
    expect_equal(play_late(log, horizon, delay = delay),
                 ucb1_late(log$rewards, horizon, function(t) t + delay))
  }
  for (batch in c(2, 7, 100)) {
    expect_equal(play_late(log, horizon, batch = batch),
                 ucb1_late(log$rewards, horizon, function(t) ceiling(t / batch) * batch))
  }
  expect_equal(play_late(log, horizon, delay = 10, batch = 7),
               ucb1_late(log$rewards, horizon, function(t) ceiling((t + 10) / 7) * 7))
  own <- withr::with_seed(2, sample(0:50, horizon, replace = TRUE))
  expect_equal(play_late(log, horizon, delay = function(n) own[seq_len(n)]),
               ucb1_late(log$rewards, horizon, function(t) t + own[t]))
  expect_equal(play_late(log, horizon, delay = function(n) own[seq_len(n)], batch = 7),
               ucb1_late(log$rewards, horizon, function(t) ceiling((t + own[t]) / 7) * 7))
})

test_that("delay 0 and batch 1 change nothing, to the bit, and neither do other names for a delay", {
  arms <- arms_bernoulli(c(0.6, 0.4, 0.5))
  play <- function(...) {
    numbers_of(dpts_simulate(arms, known_policies(), 800, runs = 3, seed = 2, record = c(1, 400, 800), ...))
  }
  expect_identical(play(delay = 0, batch = 1), play())
  # Late policies are played round by round: the same as that engine with no delay at all.
  plain <- withr::with_options(list(dpts.engine = "plain"), play())
  expect_identical(play(delay = c(0, 0)), plain)
  expect_identical(play(delay = function(n) rep(0, n)), plain)
  five <- play(delay = 5)
  expect_false(identical(five, plain))
  expect_identical(play(delay = c(5L, 5L, 5L)), five)
  expect_identical(play(delay = function(n) rep(5, n)), five)
  expect_identical(play(delay = function(n) (6 - seq_len(n) %% 6) %% 6), play(batch = 6))
})

test_that("random delays have a stream of their own, keyed by seed and run", {
  arms <- arms_bernoulli(c(0.6, 0.4))
  policies <- list(policy_ucb1(), policy_ts_gaussian(), policy_dp_imed(1))
  for (delay in list(0:40, function(n) stats::rgeom(n, 0.05))) {
    play <- function(...) {
      dpts_simulate(arms, policies, 600, seed = 5, record = c(100, 600), delay = delay, ...)
    }
    all <- play(runs = 5)
    expect_identical(numbers_of(play(runs = 5, threads = 2)), numbers_of(all))
    part <- play(runs = run_range(4, 5))
    expect_identical(part$regret, all$regret[all$run >= 4])
    expect_gt(length(unique(all$regret)), 5)
    # Rewards and a policy without learning are as without delays.
    none <- dpts_simulate(arms, policy_uniform(), 600, seed = 5, record = c(100, 600))
    expect_identical(dpts_simulate(arms, policy_uniform(), 600, seed = 5, record = c(100, 600),
                                   delay = delay)$reward, none$reward)
  }
  # The delays that are drawn have the frequencies of those given: a batch of two arms, of which one
  # is learned at the end of round 1 or not.
  log <- recorded(3)
  watch <- policy_custom("watch", start = function(k, horizon) 0, choose = function(state, round) if (state > 0) 2 else 1,
                         update = function(state, feedback) state + 1)
  sim <- dpts_simulate(log$arms, watch, 3, runs = 400, seed = 1, delay = c(0, 5, 5, 5), record = I(3))
  first <- matrix(pulls(sim)$pulls, 2)[2, ] == 2
  expect_lt(abs(mean(first) - 1 / 4), 5 * sqrt(3 / 16 / 400))
  # With batches the first of them is learned when one ends: here mostly after 14 rounds, else after 21.
  batches <- dpts_simulate(arms_bernoulli(c(0.5, 0.5)), watch, 28, runs = 50, seed = 1, delay = 8:30, batch = 7, history = TRUE)
  until <- with(dpts_history(batches), tapply(arm == "1", run, sum))
  expect_setequal(until, c(14, 21))
})

test_that("a policy that never learns does not look at its rewards", {
  # Contextual ones too: with other coefficients and the same contexts they pull the same arms.
  theta <- rbind(c(0.7, 0.1), c(0.1, 0.7))
  for (policy in list(policy_linucb(), policy_lin_ts(), policy_logistic_ucb(), policy_linucb(epsilon = 1, batch = 50))) {
    play <- function(theta, delay) {
      dpts_history(dpts_simulate(arms_linear(theta, "simplex"), policy, 300, runs = 2, seed = 1, delay = delay,
                            history = TRUE))$arm
    }
    expect_identical(play(theta, 300), play(theta[2:1, ], 300))
    expect_false(identical(play(theta, 20), play(theta[2:1, ], 20)))
  }
})

test_that("every policy and world plays with late rewards", {
  arms <- list(a = arms_bernoulli(c(0.6, 0.4)), b = arms_walk(c(0.5, 0.5), 0.01),
               c = arms_custom(function(arm, n) stats::runif(n), c(0.5, 0.5)))
  sim <- dpts_simulate(arms, known_policies(), 500, runs = 2, seed = 1, delay = 0:30, batch = 7,
                       record = I(500))
  expect_equal(sum(pulls(sim)$pulls), 500 * 2 * 3 * length(known_policies()))
  expect_true(all(is.finite(sim$regret)))
  # Learning late costs regret, on average over policies that learn.
  late <- summary(dpts_simulate(arms$a, policy_ucb1(), 500, runs = 50, seed = 1, delay = 200, record = I(500)))
  now <- summary(dpts_simulate(arms$a, policy_ucb1(), 500, runs = 50, seed = 1, record = I(500)))
  expect_gt(late$mean - now$mean, 3 * sqrt(late$se^2 + now$se^2))
})

test_that("delays pass through advice and tuning", {
  arms <- arms_bernoulli(c(0.7, 0.4))
  advice <- function(...) {
    dpts_recommend(privacy_pure(1), arms, 600, candidates = list(i = policy_dp_imed(1), l = policy_lazy_ucb(1)),
                   runs = 5, seed = 1, ...)
  }
  late <- advice(delay = 50, batch = 10)
  sim <- dpts_simulate(arms, list(i = policy_dp_imed(1), l = policy_lazy_ucb(1)), 600, runs = 5, seed = 1,
                       delay = 50, batch = 10, record = I(600))
  means <- tapply(sim$regret, sim$policy, mean)
  expect_equal(late$regret, unname(sort(means)), ignore_attr = TRUE)
  expect_false(isTRUE(all.equal(late$regret, advice()$regret)))
  expect_match(paste(format(late), collapse = " "), "50 rounds late, learned every 10 rounds")
  tuning <- function(...) {
    dpts_tune(privacy_approx(4, 1e-3), arms, 300, prepulls = c(5, 20), accountant = "gdp", runs = 4,
              seed = 1, ...)$regret
  }
  expect_false(identical(tuning(delay = 40), tuning()))
  expect_false(identical(tuning(batch = 40), tuning()))
  expect_identical(tuning(delay = c(40, 40)), tuning(delay = 40))
})

test_that("bad delays are refused by name, and functions that fail name the run", {
  arms <- arms_bernoulli(c(0.6, 0.4))
  expect_snapshot(error = TRUE, {
    dpts_simulate(arms, policy_ucb1(), 100, delay = -1)
    dpts_simulate(arms, policy_ucb1(), 100, delay = c(1, NA))
    dpts_simulate(arms, policy_ucb1(), 100, delay = 1.5)
    dpts_simulate(arms, policy_ucb1(), 100, delay = "week")
    dpts_simulate(arms, policy_ucb1(), 100, delay = numeric())
    dpts_simulate(arms, policy_ucb1(), 100, batch = 0)
    dpts_simulate(arms, policy_ucb1(), 100, batch = c(1, 2))
    dpts_simulate(arms, policy_ucb1(), 100, delay = function() 1)
    dpts_simulate(arms, policy_ucb1(), 100, delay = function(n) -seq_len(n), seed = 1)
    dpts_simulate(arms, policy_ucb1(), 100, delay = function(n) NULL, seed = 1)
    dpts_simulate(arms, policy_ucb1(), 100, delay = function(n) seq_len(n - 1), seed = 1)
    dpts_simulate(arms, policy_ucb1(), 100, delay = function(n) stop("lost in the post"), seed = 1)
    dpts_tune(privacy_gdp(1), arms, 100, delay = -1)
    dpts_recommend(privacy_gdp(1), arms, 100, delay = NA)
  })
})

test_that("delays of a function are drawn for each run, the same for each policy", {
  seen <- list()
  delay <- function(n) {
    seen[[length(seen) + 1]] <<- sample(0:9, n, TRUE)
    seen[[length(seen)]]
  }
  dpts_simulate(arms_bernoulli(c(0.5, 0.6)), list(a = policy_ucb1(), b = policy_imed()), 50, runs = 3, seed = 1, delay = delay)
  expect_identical(lengths(unname(split(seen, match(seen, unique(seen))))), c(2L, 2L, 2L))
})
