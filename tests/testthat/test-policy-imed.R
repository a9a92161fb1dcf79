skip_on_cran() # takes seconds

ref_index <- function(rewards, index) {
  k <- ncol(rewards)
  n <- sum <- numeric(k)
  chosen <- integer(nrow(rewards))
  for (t in seq_len(nrow(rewards))) {
    chosen[t] <- i <- if (any(n == 0)) which(n == 0)[1] else index(sum / n, n, t)
    n[i] <- n[i] + 1
    sum[i] <- sum[i] + rewards[t, i]
  }
  chosen
}

test_that("IMED and KL-UCB are their algorithms, step by step", {
  imed <- function(x, n, t) which.min(ifelse(x >= max(x), 0, n * ref_kl(x, max(x))) + log(n))
  klucb <- function(x, n, t) {
    which.max(mapply(function(x, n) {
      if (n * ref_kl(x, 1 - 1e-12) <= log(t)) return(1)
      if (x == 0) return(1 - exp(-log(t) / n)) # where kl(0, y) = -ln(1 - y)
      stats::uniroot(function(y) n * ref_kl(x, y) - log(t), c(x, 1 - 1e-12), tol = 1e-14)$root
    }, x, n))
  }
  for (seed in 1:2) {
    rewards <- withr::with_seed(seed, {
      if (seed == 1) matrix(rbinom(750, 1, rep(c(0.6, 0.5, 0.3), each = 250)), ncol = 3)
      else matrix(runif(750), ncol = 3)
    })
    expect_identical(trace_policy(policy_imed(), 3, rewards)$arm, ref_index(rewards, imed))
    expect_identical(trace_policy(policy_klucb(), 3, rewards)$arm, ref_index(rewards, klucb))
  }
})

test_that("they come close to the bound of Lai and Robbins, and release nothing", {
  arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
  bound <- sum(arms$gap[-1] * log(1e4) / ref_kl(arms$mean[-1], 0.75)) # 37.8: leading term
  for (policy in list(policy_imed(), policy_klucb())) {
    regret <- dpts_simulate(arms, policy, 1e4, runs = 60, seed = 1, record = I(1e4))$regret
    expect_lt(mean(regret), 2 * bound)
    expect_equal(format(policy$guarantee), "none")
    expect_equal(nrow(trace_policy(policy, 2, matrix(1, 50, 2))$ledger), 0)
  }
})

test_that("first batches are an eighth of the horizon for all arms together, where the budget wants more", {
  first <- function(policy, horizon, k) {
    # (The last arm may be the best.)
    rle(run_script(policy, k, rep(NA, horizon), rep(0:1, horizon / 2))$arm)$lengths[seq_len(k - 1)]
  }
  small <- policy_dp_imed(0.05, index = "likelihood") # 24 / 0.05 = 480
  expect_equal(first(small, 800, 2), 50)
  expect_equal(first(small, 600, 3), c(25, 25))
  expect_equal(first(policy_dp_imed(0.5, index = "likelihood"), 800, 2), 48)
})

test_that("options that have no meaning together are refused, and so is a horizon too short for the first batches", {
  expect_error(policy_dp_imed(1, schedule = "evidence"), "`schedule` must be \"geometric\" unless",
               class = "dpts_error_input")
  expect_error(policy_dp_imed(1, safety = 0.1), "`safety` must be NULL with `index", class = "dpts_error_input")
  expect_error(dpts_simulate(arms_bernoulli(c(0.5, 0.4)), policy_gaussian_imed(1, first = 16), 31),
               "`horizon` must be at least 32", class = "dpts_error_horizon")
  expect_error(dpts_simulate(arms_bernoulli(c(0.5, 0.4)), policy_gaussian_imed(1, first = 1e6), 31),
               "at least 2,000,000: .* first pulls each of 2 arms 1,000,000 times", class = "dpts_error_horizon")
  expect_error(dpts_simulate(arms_bernoulli(c(0.5, 0.4)), policy_gaussian_imed(1), 1),
               "first pulls each of 2 arms once", class = "dpts_error_horizon")
})

test_that("policies print the call that makes them", {
  for (policy in list(policy_dp_imed(0.5), policy_gaussian_imed(1, 1.5, 16),
                      policy_gaussian_imed(0.1, correlation = 0.5, safety = 0),
                      policy_dp_imed(1, 2, 3), policy_dp_imed(1, index = "likelihood"),
                      policy_dp_imed(1, index = "likelihood", schedule = "geometric"), policy_dp_ts_ucb(1),
                      policy_adac_ucb(2), policy_dp_ucb_int(0.1), policy_klucb())) {
    expect_equal(eval(parse(text = format(policy))), policy)
  }
})
