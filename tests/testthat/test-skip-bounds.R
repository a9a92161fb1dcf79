# A short cut that plays by bounds stops where a chance is above its bound: what it plays would not be exact.

test_that("no chance is above the bound by which rounds are skipped", {
  worlds <- list(five_arms(), arms_bernoulli(c(0.52, 0.5, 0.1)), arms_bernoulli(c(0.9, 0.2)),
                 arms_beta(c(2, 1, 3), c(1, 1, 5)), arms_bernoulli(seq(0.9, 0.1, length.out = 70)))
  policies <- list(policy_lazy_dp_ts(0.3), policy_lazy_dp_ts(3, exp(1)), policy_lazy_gaussian_ts(1, correlation = 0),
                   policy_lazy_gaussian_ts(1, correlation = 0.5), policy_ts_gaussian(5, 0.5), policy_ts_gaussian(0, 5))
  withr::local_options(dpts.engine = "skip")
  for (arms in worlds) {
    runs <- if (n_arms(arms) < 64) 4 else 1 # many arms take long, and in each round many events
    sim <- dpts_simulate(arms, policies, 20000, runs = runs, seed = 1, record = I(20000), progress = FALSE)
    expect_true(all(is.finite(sim$regret)))
  }
})
