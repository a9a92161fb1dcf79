# The papers' orderings at T = 1e5 on five arms, as in bench/orderings.md: which hold and which
# do not. Differences are taken run by run and must stand out by 4 standard errors.

better <- function(sim, a, b) {
  d <- sim$regret[sim$policy == b] - sim$regret[sim$policy == a]
  mean(d) / (sd(d) / sqrt(length(d)))
}

play <- function(policies, runs) {
  dpts_simulate(five_arms(), policies, 1e5, runs = runs, record = I(1e5), seed = 2,
                progress = FALSE)
}

test_that("Hu and Hegde's orderings at their setting", {
  skip_unless_extended()
  for (epsilon in c(500, 1, 0.5, 0.25, 0.1)) {
    sim <- play(list(lazy_2 = policy_lazy_dp_ts(epsilon),
                     lazy_e = policy_lazy_dp_ts(epsilon, exp(1)), se = policy_dp_se(epsilon),
                     ucb_2 = policy_lazy_ucb(epsilon, 2), ucb_e = policy_lazy_ucb(epsilon)), 100)
    expect_gt(better(sim, "lazy_e", "se"), 4)
    expect_gt(better(sim, "lazy_e", "ucb_e"), 4)
    expect_gt(better(sim, "lazy_2", "ucb_2"), 4)
    # With base 2, which the paper's text has, "always outperforms" fails at epsilon = 0.1.
    if (epsilon > 0.1) expect_gt(better(sim, "lazy_2", "se"), 4)
    else expect_gt(better(sim, "se", "lazy_2"), 4)
  }
  sim <- play(list(dp = policy_dp_ts(500), lazy = policy_lazy_dp_ts(500)), 60)
  expect_gt(better(sim, "dp", "lazy"), 4)
  sim <- play(list(dp = policy_dp_ts(1), se = policy_dp_se(1)), 20)
  expect_gt(better(sim, "se", "dp"), 4)
})

test_that("Ou et al.'s orderings of Appendix D", {
  skip_unless_extended()
  # epsilon of mu-GDP at delta = 1e-5; least c for 499 or 1999 pre-pulls
  cases <- list(list(mu = 1, epsilon = 4.377, b = 1999), list(mu = 5, epsilon = 33.10, b = 499),
                list(mu = 10, epsilon = 91.82, b = 499))
  for (case in cases) {
    sim <- play(list(
      mts = policy_ts_gaussian(case$b, 1e5 / (case$mu^2 * (case$b + 1))),
      se = policy_dp_se(case$epsilon), ucb = policy_lazy_ucb(case$epsilon)
    ), 40)
    expect_gt(better(sim, "ucb", "se"), 4)
    if (case$mu == 1) expect_gt(better(sim, "ucb", "mts"), 4)
    if (case$mu == 10) expect_gt(better(sim, "mts", "ucb"), 4)
  }
})
