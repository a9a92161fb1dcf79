none <- list(kind = "Gaussian", scale = 0)

test_that("intervals are those of the exact supermartingale at its limits", {
  # By hand: one arm, n rewards, no noise. At the lower limit the mixture over x is 2 / alpha.
  points <- dpts:::mixture_points(none)
  limits <- mean_intervals(100, 3, 60, none, 0.95)
  m <- limits$lower + 2^-20
  value <- sum(exp(points$log_weight + points$x * 60 - 100 * log(1 - m + m * exp(points$x))))
  expect_equal(log(value), log(40), tolerance = 1e-4)
  expect_equal(sum(exp(points$log_weight)), 1)
  # Mirrored
  mirror <- mean_intervals(100, 3, 40, none, 0.95)
  expect_equal(c(mirror$lower, mirror$upper), 1 - c(limits$upper, limits$lower), tolerance = 1e-9)
})

test_that("with squares each bet is at most 1 in the mean, and half of the mixture is on bets with them", {
  withr::local_seed(9)
  for (law in list(list(kind = "Gaussian", scale = 2), list(kind = "Laplace", scale = 3), none)) {
    bets <- dpts:::mixture_bets(law, list(scale = law$scale / 2))
    expect_equal(sum(exp(bets$log_weight)), 1)
    new <- bets$squares > 0
    expect_equal(sum(exp(bets$log_weight[new])), 0.5)
    for (i in 1:30) {
      x <- if (i %% 3) c(stats::runif(2), sample(0:1, 1)) else c(0, 1, 1)
      p <- prop.table(stats::rexp(3))
      factor <- exp(outer(bets$sum, x) - outer(bets$squares, (x - 0.5)^2) + bets$each)[new, ] %*% p
      expect_lte(max(factor / (1 + bets$grow[new] * sum(p * x))), 1 + 1e-12)
    }
    # Noise enters by its own coefficients, and has an expectation there.
    expect_true(all(bets$sum >= 0))
    if (law$kind == "Laplace") expect_lt(max(c(bets$sum[new] * law$scale, bets$squares * law$scale / 2)), 1)
  }
  # At the lower limit of 100 rewards in 3 releases the mixture is 2 / alpha.
  law <- list(kind = "Gaussian", scale = 2)
  bets <- dpts:::mixture_bets(law, list(scale = 1))
  report <- list(rewards = 100, sum = 61, kind = 2, terms = 3, scale = 2, last_terms = 0, last_scale = 0, looks = 0, squares = 2.5,
                 weight = 2)
  limits <- report_intervals(report, 0.95)
  m <- limits$lower + 2^-20
  psi <- bets$squares
  value <- sum(exp(bets$log_weight + bets$sum * 61 - psi * 2.5 + 100 * bets$each - 100 * log(1 + bets$grow * m) -
                     3 * (bets$sum * 2 * (1 + 2^-22))^2 / 2 - 3 * (psi * (1 + 2^-22))^2 / 2))
  expect_equal(log(value), log(40), tolerance = 1e-4)
  mirror <- report_intervals(utils::modifyList(report, list(sum = 39)), 0.95)
  expect_equal(c(mirror$lower, mirror$upper), 1 - c(limits$upper, limits$lower), tolerance = 1e-9)
  alone <- report_intervals(utils::modifyList(report, list(weight = 0)), 0.95)
  expect_lt(limits$upper - limits$lower, 0.8 * (alone$upper - alone$lower))
})

test_that("each number of a report has its part in the interval", {
  by_hand <- function(kind, terms, apart, steps, squares) {
    found <- dpts:::intervals(90, 40, list(kind = kind, scale = 3), terms, apart, 0.95, steps, squares)
    unlist(found[c("mean", "lower", "upper")])
  }
  found <- function(..., live = FALSE) {
    report <- list(rewards = 90, sum = 40, kind = 2, terms = 2, scale = 3, last_terms = 0, last_scale = 5, looks = 8,
                   squares = 4, weight = 2)
    unlist(dpts:::report_intervals(utils::modifyList(report, list(...)), 0.95, live = live))
  }
  # Correlated noise: the sum shares 2 variances of it, and each of 8 releases has squares with noise of its own.
  squares <- list(sum = 4, scale = 1.5, terms = 8)
  expect_equal(found(), by_hand("Gaussian", 2, 0, 0, squares))
  # The noise of the last sum alone is bounded at all of 8; live, each of 8 sums was rounded.
  apart <- 5 * sqrt(-2 * log(0.05 / (20 * 8 * 9)))
  expect_equal(found(last_terms = 1, live = TRUE), by_hand("Gaussian", 2, apart, 8, squares))
  # That bound takes a tenth of the error, and the rest is for the sum that is left.
  law <- list(kind = "Gaussian", scale = 3)
  less <- dpts:::intervals(90, 40 - apart, law, 2, 0, 1 - 0.9 * 0.05)
  more <- dpts:::intervals(90, 40 + apart, law, 2, 0, 1 - 0.9 * 0.05)
  expect_equal(dpts:::intervals(90, 40, law, 2, apart, 0.95)[c("lower", "upper")], list(lower = less$lower, upper = more$upper))
  # Looks are as many as terms where they are not told.
  expect_equal(found(kind = 1, looks = 0, weight = 1), by_hand("Laplace", 2, 0, 0, list(sum = 4, scale = 3, terms = 2)))
})

test_that("noise widens, rewards narrow, and no level is exceeded", {
  width <- function(n, j, noise, level = 0.95) {
    x <- mean_intervals(n, j, n / 2, noise, level)
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
  expect_equal(mean_intervals(c(0, NA), c(0, NA), c(0, NA), none, 0.95)$mean, c(NA_real_, NA))
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

# How many of so many paths, half with each mean, ever leave their interval: all in step, as intervals are
# found for many arms at once. next_sums(j, m, n, sum) plays the next batch of all.
paths_that_miss <- function(runs, noise, next_sums) {
  m <- rep_len(c(0.5, 0.1), runs)
  n <- sum <- miss <- numeric(runs)
  for (j in 1:10) {
    new <- next_sums(j, m, n, sum)
    n <- new$n
    sum <- new$sum
    x <- mean_intervals(n, rep(j, runs), sum, noise, 0.95)
    miss <- pmax(miss, m < x$lower | m > x$upper)
  }
  sum(miss)
}

test_that("intervals hold at all times together when batches follow the data", {
  # The next batch is long when the arm looks bad and short when it looks good, and one looks
  # after each: the worst that a rule can do. At 95% at most 5% of paths may ever miss.
  runs <- 200
  miss <- withr::with_seed(7, vapply(list(list(kind = "Gaussian", scale = 1), list(kind = "Laplace", scale = 2)), function(noise) {
    paths_that_miss(runs, noise, function(j, m, n, sum) {
      size <- ifelse(n > 0 & sum / n > m, 1, pmin(pmax(1, 2 * n), 300))
      z <- if (noise$kind == "Gaussian") stats::rnorm(runs) else rlaplace(runs, noise$scale)
      list(n = n + size, sum = sum + stats::rbinom(runs, size, m) + z)
    })
  }, 0))
  expect_lte(sum(miss), stats::qbinom(0.999, 2 * runs, 0.05))
})

test_that("intervals hold at all times together when the noises of releases cancel in part", {
  runs <- 400
  carry <- 0.65
  scale <- 2
  noise <- list(kind = "Gaussian", scale = scale, carry = carry)
  z <- numeric(runs)
  miss <- withr::with_seed(8, paths_that_miss(runs, noise, function(j, m, n, sum) {
    size <- ifelse(n > 0 & sum / n < m, 40, 4)
    before <- z
    z <<- scale * stats::rnorm(runs)
    # What least squares sees of a batch: its sum with the noise of its release, less the share
    # of the one before.
    list(n = n + size, sum = sum + stats::rbinom(runs, size, m) + z - carry * before)
  }))
  expect_lte(miss, stats::qbinom(0.999, runs, 0.05))
  # and they are narrower than with independent noises
  width <- function(noise) {
    x <- mean_intervals(5000, 12, 2500, noise, 0.95)
    x$upper - x$lower
  }
  expect_lt(width(list(kind = "Gaussian", scale = 20, carry = carry)),
            width(list(kind = "Gaussian", scale = 20)))
})
