test_that("pure and Gaussian DP convert as theory says", {
  # mu implied by pure epsilon: reference numbers of the theory notes, section 9.1
  epsilon <- c(0.1, 0.25, 0.5, 1, 2, 10)
  expect_equal(dpts:::pure_mu(epsilon), c(0.1253, 0.313, 0.6239, 1.232, 2.358, 7.828),
               tolerance = 1e-3)
  mu <- c(1e-4, 0.1, 1, 5, 30)
  expect_equal(dpts:::pure_mu(dpts:::mu_pure(mu)), mu, tolerance = 1e-8)
  expect_equal(dpts:::mu_pure(c(1, 5, 10)), c(0.807, 5.075, 15.07), tolerance = 1e-3)
  expect_true(is.finite(dpts:::pure_mu(1e4)))
  # It is the edge: the GDP curve is above epsilon-DP's at every delta, and touches it.
  for (eps in c(0.1, 1, 3)) {
    e <- seq(0, eps, length.out = 400)
    pure_delta <- (exp(eps) - exp(e)) / (1 + exp(eps)) # randomised response
    at <- dpts:::pure_mu(eps)
    expect_true(all(gdp_delta(at, e) >= pure_delta - 1e-12))
    expect_false(all(gdp_delta(0.999 * at, e) >= pure_delta))
  }
})

test_that("the exact curve of pure DP is that of randomised response", {
  eps <- 0.7
  delta <- c(0, 1e-6, 0.01, 0.2)
  curve <- dpts:::pure_curve(eps, delta)
  # hockey-stick divergence of (p, 1 - p) from (1 - p, p), p = exp(eps) / (1 + exp(eps))
  p <- exp(eps) / (1 + exp(eps))
  expect_equal(p - exp(curve) * (1 - p), delta, tolerance = 1e-10)
  expect_equal(dpts:::pure_curve(eps, 0.9), 0)
  expect_equal(dpts:::curve_pure(dpts:::pure_curve(eps, delta), delta), rep(eps, 4))
  table <- dpts_privacy(policy_dp_imed(eps), 100, delta = delta,
                        accountant = c("pure", "tradeoff"))
  expect_setequal(table$accountant, c("pure", "tradeoff"))
  expect_equal(table$epsilon[table$accountant == "pure"], rep(eps, 4))
  expect_equal(table$epsilon[table$accountant == "tradeoff"], curve)
})

test_that("policies of equal calls are equal, guarantee and all", {
  expect_identical(policy_dp_ts_ucb(0.5), policy_dp_ts_ucb(0.5))
  policy <- policy_dp_ucb_int(0.1)
  expect_identical(unserialize(serialize(policy, NULL)), policy)
  expect_identical(policy$guarantee$kind, "approx")
})

test_that("every policy's guarantee is of the declared kind", {
  kinds <- vapply(list(
    policy_adap_ucb(1), policy_adap_klucb(1), policy_dp_klucb(1), policy_dp_imed(1),
    policy_dp_ucb_bound(1), policy_adac_ucb(1), policy_lazy_gaussian_ts(1),
    policy_gaussian_imed(1), policy_dp_ts_ucb(1), policy_imed(), policy_dp_imed(Inf),
    policy_gaussian_imed(Inf)
  ), function(p) p$guarantee$kind, "")
  expect_equal(kinds, rep(c("pure", "gdp", "none"), c(5, 4, 3)))
  # The declared mu of DP-TS-UCB reaches dpts_privacy()
  mu <- sqrt(floor(4.1327 * log(1e5)) / log(1e5)) # c0 = sqrt(2 pi e), alpha = 1
  expect_equal(dpts_privacy(policy_dp_ts_ucb(1), 1e5, delta = 1e-5, accountant = "gdp")$epsilon,
               gdp_epsilon(mu, 1e-5), tolerance = 1e-9)
})
