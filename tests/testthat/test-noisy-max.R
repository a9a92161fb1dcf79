test_that("the largest with noise is reported, by noise of the stated distribution", {
  withr::local_seed(1)
  expect_ks(noise_53("gaussian", 2e5), pnorm)
  expect_ks(noise_53("laplace", 2e5), function(x) ifelse(x < 0, exp(x) / 2, 1 - exp(-x) / 2))
  for (i in 1:200) {
    k <- sample(6, 1)
    values <- rnorm(k, 0, 2)
    scale <- if (i %% 2) runif(1, 0.5, 3) else runif(k, 0.5, 3)
    noise <- sample(c("laplace", "gaussian"), 1)
    found <- withr::with_seed(i, report_noisy_max(values, scale, noise))
    expect_identical(found, which.max(values + scale * withr::with_seed(i, noise_53(noise, k))))
  }
  # All together, where the chance is known: P(L1 - L2 > -x) = 1 - exp(-x / b) (2 + x / b) / 4 of Laplace
  # noise of scale b
  n <- 1500
  p <- 1 - exp(-1) * 3 / 4
  wins <- mean(replicate(n, report_noisy_max(c(2, 0), 2)) == 1)
  expect_lt(abs(wins - p), 5 * sqrt(p * (1 - p) / n))
})

test_that("uniforms have 53 bits and never reach the ends", {
  set.seed(2)
  u <- runif_53(1e5)
  expect_true(all(u > 0 & u < 1))
  # Multiples of 2^-32, as R's own draws are, would all be whole here.
  expect_gt(mean((u * 2^32) %% 1 != 0), 0.99)
  expect_gt(ks.test(u, "punif")$p.value, 1e-4)
  set.seed(3)
  a <- report_noisy_max(1:5, 3)
  set.seed(3)
  expect_identical(report_noisy_max(1:5, 3), a)
})

test_that("the privacy statements hold and are the sharpest", {
  # one round of Thompson sampling with k_i = 1: sqrt(1/2)-GDP. Epsilons at 1e-3, 1e-5
  # and 1e-6 computed for this project
  for (i in 1:3) {
    x <- noisy_max_privacy(rep(sqrt(1 / 2), 5), 1 / 2, c(1e-3, 1e-5, 1e-6)[i], "gaussian")
    expect_equal(round(x$epsilon[1], 3), c(2.053, 2.943, 3.308)[i])
    expect_equal(x$mu[1], sqrt(1 / 2))
    # Theorem 6 with (k - 1) d = delta
    d <- x$delta[2] / 4
    expect_equal(x$epsilon[2], 5 * sqrt(2 * log(2 / d)) * sqrt(1 / 2))
  }
  # exact hockey-stick divergence of two values, one of which moves by 1: below delta,
  # and close to it when the other value is almost without noise
  mu <- 1
  delta <- 1e-3
  epsilon <- noisy_max_privacy(c(1, 1e-6), 1, delta, "gaussian", k = 2)$epsilon[1]
  expect_equal(noisy_max_privacy(c(1, 1), 1, delta, "gaussian")$epsilon[1],
               gdp_epsilon(1, delta))
  threshold <- seq(-4, 8, length.out = 4001)
  p <- pnorm(threshold, 1, 1, lower.tail = FALSE)
  q <- pnorm(threshold, 0, 1, lower.tail = FALSE)
  worst <- max(p - exp(gdp_epsilon(1, delta)) * q)
  expect_lte(worst, delta)
  expect_gt(worst, 0.999 * delta)
  # Laplace: exact probabilities of the report change by at most exp(epsilon)
  expect_equal(noisy_max_privacy(2, 1, 0)$epsilon, 0.5)
  expect_equal(noisy_max_privacy(c(2, 2), 1, 0, changed = "all")$epsilon, 1)
  expect_equal(noisy_max_privacy(1, c(3, 1, 2), 0, changed = "all")$epsilon, 5) # the largest, and the next
  expect_equal(noisy_max_privacy(c(2, 1, 4), c(3, 1, 2), 0, changed = "all")$epsilon, 4)
  expect_equal(noisy_max_privacy(c(1, 4), c(1, 2), 0, changed = "all")$epsilon, 3)
  # Of three values the largest move of another one counts. P(L1 - L2 > x) = exp(-x / b) (2 + x / b) / 4, as above:
  # far out, with the third value further out, the chance of value 1 changes by as much.
  tail <- function(x) -x / 2 + log(2 + x / 2)
  expect_equal(noisy_max_privacy(2, c(1, 0.2, 0.5), 0, changed = "all")$epsilon, tail(1e7) - tail(1e7 + 1 + 0.5),
               tolerance = 1e-6)
})

test_that("as many values as one likes that are alike take no memory", {
  for (noise in c("laplace", "gaussian")) for (changed in c("one", "all")) {
    expect_equal(noisy_max_privacy(2, 1, 0.1, noise, changed, k = 5), noisy_max_privacy(rep(2, 5), 1, 0.1, noise, changed))
  }
  expect_equal(noisy_max_privacy(2^23, 1, 0.1, "gaussian", "all", k = 2^45)$mu, sqrt(0.5))
  expect_equal(noisy_max_privacy(1, 1, 0.1, "laplace", "all", k = 2^45)$epsilon, 2)
  expect_equal(noisy_max_privacy(1, 1, 0.1, "gaussian", k = 2^45)$mu[1], 1)
})

test_that("values that do not move leak nothing, whatever delta", {
  for (noise in c("laplace", "gaussian")) for (delta in c(0, 0.1, 1)) {
    expect_true(all(noisy_max_privacy(1, 0, delta, noise, k = 3)$epsilon == 0))
  }
})

test_that("Theorem 6 is NA where it is false", {
  x <- noisy_max_privacy(scale = 0.01, sensitivity = 1, delta = 1e-5, noise = "gaussian", k = 3)
  expect_equal(x$epsilon, c(gdp_epsilon(100, 1e-5), NA)) # 5426 is attained; it says 2540
  # One row says no less than the other wherever both speak, and it speaks below mu = 39
  for (ratio in 10^seq(-3, 3, by = 0.25)) {
    x <- noisy_max_privacy(1 / ratio, 1, 1e-5, "gaussian", k = 3)
    theorem <- 5 * sqrt(2 * log(2 / (1e-5 / 2))) * ratio
    expect_equal(x$epsilon[2], if (theorem >= x$epsilon[1]) theorem else NA_real_)
    expect_identical(is.na(x$epsilon[2]), ratio > 39)
  }
})

test_that("bad input is named", {
  expect_error(report_noisy_max(numeric(), 1), "`values`", class = "dpts_error_input")
  expect_error(report_noisy_max(c(1, NA), 1), "`values`", class = "dpts_error_input")
  expect_error(report_noisy_max(1:3, 0), "`scale`", class = "dpts_error_input")
  expect_error(report_noisy_max(1:3, 1:2), "`scale`", class = "dpts_error_input")
  expect_error(report_noisy_max(1:3, 1, "cauchy"), "`noise`", class = "dpts_error_input")
  expect_error(noisy_max_privacy(1, -1, 0), "`sensitivity`", class = "dpts_error_input")
  expect_error(noisy_max_privacy(1, 1, 2), "`delta`", class = "dpts_error_input")
  expect_error(noisy_max_privacy(1:3, 1, 0, k = 2), "`k` must be 3", class = "dpts_error_input")
  expect_error(noisy_max_privacy(1, 1:2, 0, k = 3), "`k` must be 2", class = "dpts_error_input")
})
