test_that("the conversions are the published formulas", {
  alpha <- c(1.1, 2, 8)
  rdp <- c(0.2, 1, 3)
  expect_equal(rdp_epsilon(alpha, rdp, 1e-5, "mironov"), rdp + log(1e5) / (alpha - 1))
  improved <- rdp + log((alpha - 1) / alpha) - (log(1e-5) + log(alpha)) / (alpha - 1)
  expect_equal(rdp_epsilon(alpha, rdp, 1e-5), improved)
  expect_equal(rdp_epsilon(alpha, function(a) a / 4, 1e-5),
               rdp_epsilon(alpha, alpha / 4, 1e-5))
  # never below 0
  expect_identical(rdp_epsilon(2, 0.01, 0.9), 0)
  expect_identical(rdp_epsilon(2, 1, 1), 0)
  expect_identical(rdp_epsilon(2, 1, 0), Inf)
})

test_that("the improved conversion is a true bound, by the Gaussian mechanism", {
  set.seed(2)
  mu <- 10^runif(200, -2, 2)
  delta <- 10^runif(200, -12, -1)
  gdp <- gdp_epsilon(mu, delta)
  improved <- rdp_epsilon(rdp = mu^2 / 2, delta = delta)
  mironov <- rdp_epsilon(rdp = mu^2 / 2, delta = delta, conversion = "mironov")
  expect_true(all(gdp <= improved))
  expect_true(all(improved <= mironov * (1 + 1e-12)))
})

test_that("the best order is found for lines and for functions", {
  # Theorem 8 of Ou et al. (2024) at its best order: T / 4 + sqrt(T log(1 / delta))
  expect_equal(rdp_epsilon(rdp = 1000 / 4, delta = 1e-5, conversion = "mironov"),
               250 + sqrt(1000 * log(1e5)))
  expect_equal(rdp_epsilon(rdp = function(a) a * 250, delta = 1e-5, conversion = "mironov"),
               250 + sqrt(1000 * log(1e5)))
  delta <- 10^-c(1, 3, 5, 9, 12)
  for (rho in c(1e-8, 1e-3, 0.5, 30, 25000)) {
    line <- rdp_epsilon(rdp = rho, delta = delta)
    # an independent truth: a grid of orders, and around its best one a grid as fine as one of a million
    of_orders <- function(x, d) {
      alpha <- 1 + exp(x)
      rdp_epsilon(alpha, rho * alpha, d)
    }
    coarse <- seq(-20, 20, length.out = 2e4)
    dense <- vapply(delta, function(d) {
      best <- coarse[which.min(of_orders(coarse, d))]
      min(of_orders(best + seq(-0.05, 0.05, by = 4e-5), d))
    }, 0)
    expect_true(all(line <= dense * (1 + 1e-12) + 1e-15))
    expect_equal(line, dense, tolerance = 1e-8)
    expect_equal(rdp_epsilon(rdp = function(a) rho * a, delta = delta), line,
                 tolerance = 1e-9)
  }
  # a curve that has bounds of its own
  curve <- function(alpha) sequence_rdp(alpha, 10)
  orders <- 1 + exp(seq(-10, 10, by = 0.01))
  expect_equal(rdp_epsilon(rdp = curve, delta = 1e-5), min(rdp_epsilon(orders, curve(orders), 1e-5)), tolerance = 1e-5)
  # a curve that is not vectorised
  expect_equal(rdp_epsilon(rdp = function(a) if (a > 1) 2 * a else 0, delta = 1e-3),
               rdp_epsilon(rdp = 2, delta = 1e-3), tolerance = 1e-9)
})

test_that("a curve that overflows at large orders is still minimised", {
  # randomised response with epsilon = 1, which is 1-DP: its RDP tends to 1
  p <- 1 / (1 + exp(-1))
  curve <- function(a) log(p^a * (1 - p)^(1 - a) + (1 - p)^a * p^(1 - a)) / (a - 1)
  # (p^a overflows past orders of about 1,000, so not the very best order)
  expect_lt(rdp_epsilon(rdp = curve, delta = 1e-5), 1.02)
  expect_gt(rdp_epsilon(rdp = curve, delta = 1e-5), 0.95)
  # exactly: delta = (e - e^epsilon) / (1 + e), so no less than this
  expect_gte(rdp_epsilon(rdp = curve, delta = 1e-5), log(exp(1) - 1e-5 * (1 + exp(1))))
  # at an order where the curve is NaN it promises nothing
  expect_identical(rdp_epsilon(alpha = c(2, 1e5), rdp = curve, delta = 1e-5)[2], Inf)
})

test_that("figures of theory are met", {
  # Improved and basic conversions of mu-GDP at delta = 1e-5, computed for this project
  mu <- c(0.5, 1, 2, 5)
  expect_equal(round(rdp_epsilon(rdp = mu^2 / 2, delta = 1e-5), 3),
               c(2.166, 4.728, 10.725, 35.067))
  expect_equal(round(rdp_epsilon(rdp = mu^2 / 2, delta = 1e-5, conversion = "mironov"), 3),
               c(2.524, 5.299, 11.597, 36.493))
})

test_that("advanced composition is as published, at the best split of delta", {
  # Dwork, Rothblum and Vadhan (2010): T rounds of (epsilon, d)-DP are, at delta = T d + slack,
  published <- function(epsilon, rounds, slack) {
    epsilon * sqrt(2 * rounds * log(1 / slack)) + rounds * epsilon * (exp(epsilon) - 1)
  }
  rounds <- 1000
  mu <- 1 / sqrt(5000 * 2)
  at <- dpts_privacy(policy_ts_gaussian(0, 5000), rounds, delta = 1e-5, accountant = "advanced")$epsilon
  share <- seq(0.001, 0.999, by = 0.001)
  splits <- published(gdp_epsilon(mu, share * 1e-5 / rounds), rounds, (1 - share) * 1e-5)
  expect_equal(at, min(splits), tolerance = 1e-4)
  expect_lte(at, min(splits))
  # Plain sums are smaller where a round leaks much.
  at <- dpts_privacy(policy_ts_gaussian(), 10, delta = 1e-5, accountant = "advanced")$epsilon
  expect_equal(at, 10 * gdp_epsilon(sqrt(1 / 2), 1e-6))
})

test_that("bad input is named", {
  expect_error(rdp_epsilon(1, 1, 1e-5), "`alpha`", class = "dpts_error_input")
  expect_error(rdp_epsilon(0.5, 1, 1e-5), "`alpha`", class = "dpts_error_input")
  expect_error(rdp_epsilon(2, -1, 1e-5), "`rdp`", class = "dpts_error_input")
  expect_error(rdp_epsilon(2, "a", 1e-5), "`rdp`", class = "dpts_error_input")
  expect_error(rdp_epsilon(2, delta = 1e-5), "`rdp`", class = "dpts_error_input")
  expect_error(rdp_epsilon(2, 1, 2), "`delta`", class = "dpts_error_input")
  expect_error(rdp_epsilon(2, 1, 1e-5, "best"), "`conversion`", class = "dpts_error_input")
  expect_error(rdp_epsilon(rdp = function(a) -a, delta = 0.1), "`rdp`",
               class = "dpts_error_input")
})
