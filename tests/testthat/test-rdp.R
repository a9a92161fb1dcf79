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
})

test_that("figures of theory are met", {
  # Improved and basic conversions of mu-GDP at delta = 1e-5, computed for this project
  mu <- c(0.5, 1, 2, 5)
  expect_equal(round(rdp_epsilon(rdp = mu^2 / 2, delta = 1e-5), 3),
               c(2.166, 4.728, 10.725, 35.067))
  expect_equal(round(rdp_epsilon(rdp = mu^2 / 2, delta = 1e-5, conversion = "mironov"), 3),
               c(2.524, 5.299, 11.597, 36.493))
})

test_that("composition is as published", {
  # Dwork, Rothblum and Vadhan (2010)
  expect_equal(advanced_composition(0.1, 1e-8, 1000, 1e-6),
               0.1 * sqrt(2000 * log(1e6)) + 1000 * 0.1 * (exp(0.1) - 1))
  expect_equal(basic_composition(0.1, 1e-8, c(1, 1000)), c(0.1, 100))
  # Corollary 1 of Ou et al. (2024), T = 1000: astronomical, about 2e14 
  d <- 1e-5
  expect_gt(advanced_composition(5 * sqrt(log(2 / d)), 4 * d, 1000, d), 1e11)
  # no overflow error, just no guarantee
  expect_identical(advanced_composition(1000, 0, 10, 1e-5), Inf)
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
  expect_error(advanced_composition(1, 0, 0, 0.1), "`rounds`", class = "dpts_error_input")
  expect_error(advanced_composition(1, 0, 1.5, 0.1), "`rounds`", class = "dpts_error_input")
  expect_error(advanced_composition(1, 0, 1, 0), "`slack`", class = "dpts_error_input")
  expect_error(basic_composition(1, 2, 1), "`delta`", class = "dpts_error_input")
})
