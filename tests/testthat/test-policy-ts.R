skip_on_cran() # takes seconds

# Mean regret of the simulation against exact enumeration of all histories, at every round
# up to 6: within 4 standard errors. (Whole distributions, in longer games: test-skip.R.)
expect_exact <- function(policy, means, win, runs = 20000) {
  horizon <- 6
  exact <- exact_regret(means, horizon, win)
  sim <- dpts_simulate(arms_bernoulli(means), policy, horizon, runs = runs, seed = 11)
  regret <- matrix(sim$regret, horizon) # summary() takes longer than the games
  mean <- rowMeans(regret)
  se <- sqrt(rowSums((regret - mean)^2) / (runs - 1) / runs)
  z <- (mean - exact) / pmax(se, 1e-12)
  expect_lt(max(abs(z)), 4)
}

test_that("Gaussian Thompson sampling has the exact mean regret", {
  expect_exact(policy_ts_gaussian(prepulls = 2, variance_scale = 0.05), c(0.3, 0.8),
               win_gaussian(2, 0.05))
})

test_that("the enumeration would notice the running mean S / n", {
  # The pseudo-code's slip that Ou et al.'s Lemma 3 forbids.
  slip <- function(n, s) stats::pnorm(-diff(s / pmax(n, 1)) / sqrt(sum(0.5 / (n + 1))))
  exact <- exact_regret(c(0.2, 0.9), 6, slip)[6]
  ours <- final_regret(dpts_simulate(arms_bernoulli(c(0.2, 0.9)),
                                     policy_ts_gaussian(variance_scale = 0.5), 6,
                                     runs = 20000, seed = 11))
  expect_gt(abs(ours[["mean"]] - exact), 10 * ours[["se"]])
})

test_that("Beta Thompson sampling has the exact mean regret", {
  # far from 1/2, where both numbers of the prior count
  expect_exact(policy_ts_beta(prior = c(0.5, 4)), c(0.9, 0.2), win_beta(c(0.5, 4)))
})

test_that("rewards inside (0, 1) reach Beta Thompson sampling as coin tosses of their mean", {
  # A coin toss makes rewards of any distribution play like Bernoulli arms of the same mean.
  exact <- exact_regret(c(0.8, 0.3), 6, win_beta(c(1, 1)))
  arms <- arms_discrete(c(0.1, 0.6, 1), rbind(c(0, 0.5, 0.5), c(0.6, 0.4, 0)))
  for (engine in c("plain", "skip")) {
    withr::local_options(dpts.engine = engine)
    regret <- matrix(dpts_simulate(arms, policy_ts_beta(), 6, runs = 20000, seed = 3)$regret, 6)
    expect_lt(max(abs(rowMeans(regret) - exact) / (apply(regret, 1, stats::sd) / sqrt(20000))), 4)
  }
})

test_that("longer games agree with the R translations", {
  means <- c(0.7, 0.5, 0.4)
  rounds <- 30
  gap <- max(means) - means
  cases <- list(
    list(policy_ts_gaussian(5, 0.3), choose_ts_gaussian(5, 0.3)),
    list(policy_ts_beta(c(2, 1)), choose_ts_beta(2, 1))
  )
  set.seed(5)
  for (case in cases) {
    reference <- drop(play_in_r(means, rounds, case[[2]], 5000) %*% gap)
    ours <- final_regret(dpts_simulate(arms_bernoulli(means), case[[1]], rounds,
                                       runs = 20000, seed = 9, record = I(rounds)))
    se <- sqrt(stats::var(reference) / length(reference) + ours[["se"]]^2)
    expect_lt(abs(ours[["mean"]] - mean(reference)), 4 * se)
  }
})

test_that("pre-pulls come in blocks, in arm order", {
  out <- run_script(policy_ts_gaussian(prepulls = 3), 2, rep(NA, 6), rep(0.5, 6))
  expect_equal(out$arm, c(1, 1, 1, 2, 2, 2))
})

test_that("the posterior is N(S / (n + 1), c / (n + 1)), and nothing is released with noise", {
  rewards <- c(1, 0.5, 0.25, 0, 1)
  out <- run_script(policy_ts_gaussian(variance_scale = 3), 2, c(1, 2, 1, 1, 2), rewards)
  state <- posterior_of(out$state, 2)
  expect_equal(state[1:2, ], rbind(c(1.25, 1.5), c(3, 2)))
  expect_equal(state[3, ], c(1.25 / 4, 1.5 / 3))
  expect_equal(state[4, ], sqrt(3 / c(4, 3)))
  expect_equal(out$total, 0)
})

test_that("changing one reward moves one posterior mean by at most 1 / (n + 1)", {
  set.seed(2)
  play <- function(rewards, arms) {
    out <- run_script(policy_ts_gaussian(), 3, arms, rewards)
    posterior_of(out$state, 3)
  }
  for (i in 1:20) {
    arms <- sample(3L, 50, TRUE)
    rewards <- stats::runif(50)
    changed <- rewards
    at <- sample(50, 1)
    changed[at] <- 1 - round(rewards[at])
    move <- abs(play(rewards, arms) - play(changed, arms))[3, ]
    n <- tabulate(arms, 3)
    expect_true(all(move[-arms[at]] == 0))
    expect_lte(move[arms[at]], 1 / (n[arms[at]] + 1) + 1e-15)
  }
})

test_that("UCB1 follows its R translation round by round", {
  set.seed(4)
  table <- matrix(as.double(stats::rbinom(300 * 4, 1, 0.5)), 300)
  ours <- run_script(policy_ucb1(), 4, rep(NA, 300), table)$arm
  n <- s <- numeric(4)
  theirs <- integer(300)
  for (t in 1:300) {
    arm <- theirs[t] <- choose_ucb1(rbind(n), rbind(s), t)
    n[arm] <- n[arm] + 1
    s[arm] <- s[arm] + table[t, arm]
  }
  # Indices may tie in exact arithmetic and differ in the last bit.
  expect_equal(ours, theirs)
})

test_that("policies print what they promise", {
  expect_snapshot({
    policy_ts_gaussian()
    policy_ts_gaussian(prepulls = 500, variance_scale = 14)
    policy_ts_beta(prior = c(1, 9))
    policy_ucb1()
    policy_uniform()
  })
})

test_that("what the help page says that Beta Thompson sampling leaks", {
  # One bit, one reward: the worst threshold, by the distributions themselves
  u <- 10^seq(-9, 0, by = 1e-4)
  p <- pbeta(u, 1, 2)               # 1 - Beta(2, 1), which is Beta(1, 2), below u
  q <- pbeta(u, 2, 1)
  for (epsilon in c(1, 5, 11.5)) {
    expect_equal(max(p - exp(epsilon) * q), 1 / (1 + exp(epsilon)), tolerance = 1e-6)
  }
  expect_equal(round(log(1e5 - 1), 1), 11.5)
  expect_equal(round(sequence_epsilon(1e-5, 1), 1), 2.9)
  # The rates: Gamma(2) against Gamma(1) at the worst threshold; the share of a Polya urn
  kl <- function(p, q) p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))
  upper <- optimize(function(u) kl(pgamma(u, 1), pgamma(u, 2)), c(0.01, 5), maximum = TRUE)$objective
  lower <- optimize(function(f) kl(f, f^2), c(0.01, 0.99), maximum = TRUE)$objective
  expect_equal(round(c(upper, lower), 3), c(0.334, 0.179))
  # Every transcript: the growth from round to round, at a delta that few rounds can reach
  epsilon <- vapply(c(4, 6, 8), function(horizon) {
    dpts_audit(policy_ts_beta(), horizon, streams = "success", delta = 1e-2, method = "exact")$lower
  }, 0)
  growth <- diff(epsilon) / 2
  expect_true(all(growth > lower & growth < upper + 0.1))
})

test_that("lanes keep the pulls from before a restart, and do not play a policy with a privacy filter, of which they know nothing", {
  play <- function(engine, policy) {
    withr::local_options(dpts.engine = engine)
    dpts_simulate(arms_bernoulli(c(0.9, 0.1)), policy, 400, runs = 20, seed = 1, record = I(400))
  }
  n <- pulls(play("lanes", policy_restart(policy_ts_gaussian(5, 5), 100)))
  expect_equal(as.vector(tapply(n$pulls, n$run, sum)), rep(400, 20))
  filtered <- policy_ts_gaussian(5, 5, filter = privacy_gdp(0.5))
  expect_identical(numbers_of(play("lanes", filtered)), numbers_of(play("skip", filtered)))
})
