reference <- function(kind) {
  all <- read.csv(test_path("fixtures", "gdp-reference.csv"))
  all[all$kind == kind, ]
}

# What a correct algorithm on doubles can promise: 1e-13, and four roundings of
# the inputs through the condition number.
tolerance <- function(ref) 1e-13 + 4 * ref$cond * 2.2e-16

test_that("delta, epsilon and mu agree with values of 260 digits", {
  ref <- reference("delta")
  expect_lt(max(abs(gdp_delta(ref$mu, ref$eps) / ref$delta - 1) / tolerance(ref)), 1)
  # log(delta) has the condition number of delta, over |log(delta)|
  allowed <- 1e-13 * abs(ref$log_delta) + 4 * ref$cond * 2.2e-16
  expect_lt(max(abs(gdp_delta(ref$mu, ref$eps, log = TRUE) - ref$log_delta) / allowed), 1)

  ref <- reference("eps")
  zero <- ref$eps == 0
  expect_identical(gdp_epsilon(ref$mu, ref$delta)[zero], rep(0, sum(zero)))
  ref <- ref[!zero, ]
  expect_lt(max(abs(gdp_epsilon(ref$mu, ref$delta) / ref$eps - 1) / tolerance(ref)), 1)

  ref <- reference("mu")
  expect_lt(max(abs(gdp_mu(ref$eps, ref$delta) / ref$mu - 1) / tolerance(ref)), 1)
})

test_that("the textbook form agrees where it works", {
  mu <- c(0.5, 1, 2, 5)
  epsilon <- c(0.1, 1, 3, 10)
  textbook <- pnorm(-epsilon / mu + mu / 2) - exp(epsilon) * pnorm(-epsilon / mu - mu / 2)
  expect_equal(gdp_delta(mu, epsilon), textbook, tolerance = 1e-10)
  # At epsilon = 0: 2 Phi(mu / 2) - 1
  expect_equal(gdp_delta(mu, 0), 2 * pnorm(mu / 2) - 1, tolerance = 1e-14)
})

test_that("the inverse functions invert, over the whole range", {
  set.seed(1)
  n <- 2000
  mu <- 10^runif(n, -6, 4)
  delta <- c(10^runif(n / 2, -300, -0.31), 10^runif(n / 2, -12, -0.31))
  epsilon <- gdp_epsilon(mu, delta)
  inside <- epsilon > 0 & epsilon < 1e8
  expect_gt(mean(inside), 0.5)
  # The condition number of delta in epsilon is below about 1e6 here, that of mu near 1
  expect_lt(max(abs(gdp_delta(mu, epsilon) / delta - 1)[inside]), 1e-8)
  expect_lt(max(abs(gdp_delta(mu, epsilon, log = TRUE) / log(delta) - 1)[inside]), 1e-10)
  expect_lt(max(abs(gdp_mu(epsilon, delta) / mu - 1)[inside]), 1e-12)
  # where delta(0; mu) is already below delta, nothing is needed
  expect_true(all(gdp_delta(mu, 0)[epsilon == 0] <= delta[epsilon == 0]))
})

test_that("delta falls and is convex in exp(epsilon), and grows with mu", {
  for (mu in c(0.01, 0.5, 1, 3, 10)) {
    # Steps in exp(epsilon) need epsilon small enough for the grid to be one
    t <- seq(1, 1 + 4 * mu, length.out = 200)
    delta <- gdp_delta(mu, log(t))
    expect_true(all(diff(delta) < 0))
    expect_true(all(diff(delta, differences = 2) > -1e-15))
  }
  mu <- 10^seq(-6, 4, length.out = 500)
  for (epsilon in c(0, 1e-3, 1, 100, 1e5)) {
    log_delta <- gdp_delta(mu, epsilon, log = TRUE)
    expect_true(all(diff(log_delta) >= 0))
  }
  # dense steps across the switches between formulas: no jump
  a <- seq(-3, 6, length.out = 20001)
  for (mu in c(1e-3, 0.3, 2)) {
    log_delta <- gdp_delta(mu, pmax(0, mu * a + mu^2 / 2), log = TRUE)
    expect_true(all(diff(log_delta) <= 1e-12))
  }
})

test_that("ends have their limits", {
  expect_identical(gdp_delta(0, c(0, 1, Inf)), c(0, 0, 0))
  expect_identical(gdp_delta(Inf, c(0, 1)), c(1, 1))
  expect_identical(gdp_delta(1, Inf), 0)
  expect_identical(gdp_delta(0, 1, log = TRUE), -Inf)
  expect_identical(gdp_epsilon(1, c(0, 1)), c(Inf, 0))
  expect_identical(gdp_epsilon(0, 1e-5), 0)
  expect_identical(gdp_epsilon(Inf, 1e-5), Inf)
  expect_identical(gdp_mu(1, c(0, 1)), c(0, Inf))
  expect_identical(gdp_mu(Inf, 0.5), Inf)
  # far below the smallest double, log(delta) is about -a^2 / 2, a = 99.5
  expect_identical(gdp_delta(1, 100), 0)
  expect_equal(gdp_delta(1, 100, log = TRUE), -99.5^2 / 2, tolerance = 0.01)
  expect_equal(gdp_delta(1e-300, 1e300, log = TRUE), -Inf)
})

test_that("extreme arguments give limits, never NaN, and keep their order", {
  mu <- c(0, 1e-300, 1e-20, 1e-6, 0.1, 30, 1e4, 1e8, 1e154, 1e200, Inf)
  epsilon <- c(0, 1e-300, 1e-10, 1, 700, 1e8, 1e300, Inf)
  delta <- c(0, 1e-310, 1e-300, 1e-100, 1e-10, 0.5, 1 - 1e-10, 1)
  grow <- function(x) all(x[-1] >= x[-length(x)] * (1 - 1e-14))
  for (e in epsilon) expect_true(grow(gdp_delta(mu, e)))
  for (m in mu) expect_true(grow(rev(gdp_delta(m, epsilon))))
  for (d in delta) expect_true(grow(gdp_epsilon(mu, d)))
  for (m in mu) expect_true(grow(rev(gdp_epsilon(m, delta))))
  for (d in delta) expect_true(grow(gdp_mu(epsilon, d)))
  for (e in epsilon) expect_true(grow(gdp_mu(e, delta)))
  # near epsilon = 0, mu is sqrt(2 pi) delta
  expect_equal(gdp_mu(c(0, 1e-300, 1e-110), 1e-100) / (sqrt(2 * pi) * 1e-100), rep(1, 3),
               tolerance = 1e-9)
})

test_that("composition is the root of the sum of squares", {
  expect_equal(gdp_compose(c(3, 4)), 5)
  # Lemma 4: rounds of sqrt(1/2) compose to sqrt(T/2) (Ou et al. 2024)
  expect_equal(gdp_compose(rep(sqrt(1 / 2), 1000)), sqrt(500))
  expect_equal(gdp_compose(c(3e-200, 4e-200)) / 5e-200, 1)
  expect_identical(gdp_compose(c(0, 0)), 0)
  expect_identical(gdp_compose(c(1, Inf)), Inf)
})

test_that("epsilons of theory are met", {
  # Exact epsilons at delta = 1e-5, computed for this project at high precision:
  # mu = 0.5, 1, 2, 5, 10 and sqrt(500), to the digits shown
  expect_equal(round(gdp_epsilon(c(0.5, 1, 2, 5), 1e-5), 3), c(1.993, 4.377, 9.997, 33.104))
  expect_equal(round(gdp_epsilon(c(10, sqrt(500)), 1e-5), 2), c(91.82, 344.45))
})

test_that("bad input is named", {
  expect_error(gdp_delta(-1, 1), "`mu`", class = "dpts_error_input")
  expect_error(gdp_delta(NaN, 1), "`mu`", class = "dpts_error_input")
  expect_error(gdp_delta(1, -1), "`epsilon`", class = "dpts_error_input")
  expect_error(gdp_delta(1, "a"), "`epsilon`", class = "dpts_error_input")
  expect_error(gdp_delta(1, 1, log = NA), "`log`", class = "dpts_error_input")
  expect_error(gdp_epsilon(1, 1.5), "`delta`", class = "dpts_error_input")
  expect_error(gdp_mu(1, -0.1), "`delta`", class = "dpts_error_input")
  expect_error(gdp_mu(NA_real_, 0.1), "`epsilon`", class = "dpts_error_input")
  expect_error(gdp_delta(1:2, 1:3), "`mu`", class = "dpts_error_input")
  expect_error(gdp_compose(numeric()), "`mu`", class = "dpts_error_input")
})
