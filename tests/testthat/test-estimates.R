none <- list(kind = "Gaussian", scale = 0)

test_that("intervals are those of the exact supermartingale at its limits", {
  # By hand: one arm, n rewards, no noise. At the lower limit the mixture over x is 2 / alpha.
  points <- dpts:::mixture_points(none)
  limits <- dpts:::mean_intervals(100, 3, 60, none, 0.95)
  m <- limits$lower + 2^-20
  value <- sum(exp(points$log_weight + points$x * 60 - 100 * log(1 - m + m * exp(points$x))))
  expect_equal(log(value), log(40), tolerance = 1e-4)
  expect_equal(sum(exp(points$log_weight)), 1)
  # Mirrored
  mirror <- dpts:::mean_intervals(100, 3, 40, none, 0.95)
  expect_equal(c(mirror$lower, mirror$upper), 1 - c(limits$upper, limits$lower), tolerance = 1e-9)
})

test_that("noise widens, rewards narrow, and no level is exceeded", {
  width <- function(n, j, noise, level = 0.95) {
    x <- dpts:::mean_intervals(n, j, n / 2, noise, level)
    x$upper - x$lower
  }
  laplace <- function(s) list(kind = "Laplace", scale = s)
  gauss <- function(s) list(kind = "Gaussian", scale = s)
  expect_true(width(100, 4, gauss(3)) > width(100, 4, gauss(1)))
  expect_true(width(100, 4, laplace(3)) > width(100, 4, laplace(1)))
  expect_true(width(1000, 4, gauss(1)) < width(100, 4, gauss(1)))
  expect_true(width(100, 4, gauss(1), 0.99) > width(100, 4, gauss(1), 0.9))
  # Sharper than Chernoff intervals with a union over releases
  expect_lt(width(10240, 10, gauss(1)) / 2,
            sqrt(2 * (10240 / 4 + 10) * log(2 * 10 * 11 / 0.05)) / 10240)
  expect_equal(dpts:::mean_intervals(c(0, NA), c(0, NA), c(0, NA), none, 0.95)$mean, c(NA_real_, NA))
})

test_that("the log-mgf of the noise covers the discrete and rounded noise of agents", {
  # Discrete Laplace of rate r per step, by its closed form; a step is 2^-20.
  for (epsilon in c(0.01, 1, 20)) {
    x <- epsilon * c(0.1, 0.5, 0.9, 0.97)
    r <- epsilon / 2^20
    h <- x / 2^20
    exact <- 2 * log(-expm1(-r)) - log(-expm1(h - r)) - log(-expm1(-h - r))
    expect_true(all(dpts:::noise_log_mgf(x, list(kind = "Laplace", scale = 1 / epsilon)) >= exact))
  }
})

test_that("intervals hold at all times together when batches follow the data", {
  # The next batch is long when the arm looks bad and short when it looks good, and one looks
  # after each: the worst that a rule can do. At 95% at most 5% of paths may ever miss.
  runs <- 400
  miss <- withr::with_seed(7, vapply(seq_len(runs), function(i) {
    m <- c(0.5, 0.1)[i %% 2 + 1]
    noise <- list(list(kind = "Gaussian", scale = 1), list(kind = "Laplace", scale = 2))[[i %% 4 %/% 2 + 1]]
    n <- sum <- 0
    for (j in 1:10) {
      size <- if (n > 0 && sum / n > m) 1 else min(max(1, 2 * n), 300)
      z <- if (noise$kind == "Gaussian") stats::rnorm(1) else rlaplace(1, noise$scale)
      sum <- sum + stats::rbinom(1, size, m) + z
      n <- n + size
      x <- dpts:::mean_intervals(n, j, sum, noise, 0.95)
      if (m < x$lower || m > x$upper) return(1)
    }
    0
  }, 0))
  expect_lte(sum(miss), stats::qbinom(0.999, runs, 0.05))
})

test_that("intervals hold at all times together when the noises of releases cancel in part", {
  runs <- 400
  carry <- 0.65
  scale <- 2
  miss <- withr::with_seed(8, vapply(seq_len(runs), function(i) {
    m <- c(0.5, 0.1)[i %% 2 + 1]
    noise <- list(kind = "Gaussian", scale = scale, carry = carry)
    n <- sum <- 0
    z <- 0
    for (j in 1:10) {
      size <- if (j > 1 && sum / n < m) 40 else 4
      before <- z
      z <- scale * stats::rnorm(1)
      # What least squares sees of a batch: its sum with the noise of its release, less the share
      # of the one before.
      sum <- sum + stats::rbinom(1, size, m) + z - carry * before
      n <- n + size
      x <- dpts:::mean_intervals(n, j, sum, noise, 0.95)
      if (m < x$lower || m > x$upper) return(1)
    }
    0
  }, 0))
  expect_lte(sum(miss), stats::qbinom(0.999, runs, 0.05))
  # and they are narrower than with independent noises
  width <- function(noise) {
    x <- dpts:::mean_intervals(5000, 12, 2500, noise, 0.95)
    x$upper - x$lower
  }
  expect_lt(width(list(kind = "Gaussian", scale = 20, carry = carry)),
            width(list(kind = "Gaussian", scale = 20)))
})
