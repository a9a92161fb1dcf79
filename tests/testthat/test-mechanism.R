test_that("mechanisms add noise of the stated distribution and scale", {
  n <- 2e5
  x <- rep(3, n)
  lap <- as.numeric(mechanism_laplace(x, epsilon = 0.5, sensitivity = 2, seed = 1)) - 3
  # Lap(4): P(|z| > 4 m) = exp(-m); ks.test against the closed form
  cdf <- function(z) ifelse(z < 0, exp(z / 4) / 2, 1 - exp(-z / 4) / 2)
  expect_gt(ks.test(lap, cdf)$p.value, 1e-3)
  gauss <- as.numeric(mechanism_gaussian(x, mu = 0.5, sensitivity = 2, seed = 1)) - 3
  expect_gt(ks.test(gauss, "pnorm", 0, 4)$p.value, 1e-3)
})

test_that("the Gamma mechanism has a Gamma length and a uniform direction", {
  p <- 3
  z <- t(vapply(1:1500, function(i) {
    as.numeric(mechanism_gamma(c(1, 2, 3), epsilon = 2, sensitivity = 0.5, seed = i)) - 1:3
  }, numeric(p)))
  len <- sqrt(rowSums(z^2))
  # Length: Gamma(p, sensitivity / epsilon), mean p s / epsilon
  expect_gt(ks.test(len, "pgamma", shape = p, scale = 0.25)$p.value, 1e-3)
  # In three dimensions each coordinate of a uniform direction is uniform on [-1, 1]
  # (Archimedes).
  for (i in 1:p) expect_gt(ks.test(z[, i] / len, "punif", -1, 1)$p.value, 1e-3)
  expect_lt(abs(cor(z[, 1] / len, len)), 4 / sqrt(1500))
  # For one number it is Laplace.
  one <- vapply(1:1500, function(i) {
    as.numeric(mechanism_gamma(0, epsilon = 1, seed = i))
  }, 0)
  expect_gt(ks.test(one, function(z) ifelse(z < 0, exp(z) / 2, 1 - exp(-z) / 2))$p.value,
            1e-3)
})

test_that("mechanisms say what they did, and use the seed", {
  x <- mechanism_laplace(c(a = 1, b = 2), epsilon = 2, sensitivity = 3, seed = 4)
  expect_equal(attr(x, "scale"), 1.5)
  expect_equal(attr(x, "distribution"), "Laplace")
  expect_equal(format(attr(x, "guarantee")), "2-DP")
  expect_output(print(x), "Laplace noise of scale 1.5; guarantee: 2-DP")
  expect_identical(x, mechanism_laplace(c(a = 1, b = 2), 2, 3, seed = 4))
  set.seed(1)
  a <- mechanism_gaussian(1, mu = 1)
  set.seed(1)
  expect_identical(a, mechanism_gaussian(1, mu = 1))
  set.seed(1)
  before <- .Random.seed
  mechanism_gaussian(1, mu = 1, seed = 3)
  expect_identical(.Random.seed, before)
  expect_equal(as.numeric(mechanism_laplace(1:3, epsilon = Inf)), 1:3)
  expect_equal(as.numeric(mechanism_gamma(1:3, epsilon = Inf)), 1:3)
})

test_that("mechanisms refuse bad input", {
  for (bad in list(0, -1, NA_real_, NaN, "1", c(1, 2), NULL)) {
    expect_error(mechanism_laplace(1, epsilon = bad), class = "dpts_error_input")
    expect_error(mechanism_gaussian(1, mu = bad), class = "dpts_error_input")
    expect_error(mechanism_gamma(1, epsilon = 1, sensitivity = bad),
                 class = "dpts_error_input")
  }
  expect_error(mechanism_laplace(NA, 1), class = "dpts_error_input")
  expect_error(mechanism_laplace(Inf, 1), class = "dpts_error_input")
  expect_error(mechanism_laplace(1, 1, 1, 1), class = "dpts_error_dots")
  for (sensitivity in c(1e305, 1e-320)) {
    expect_error(mechanism_laplace(1, 1e-6, sensitivity), "`sensitivity` must be a number for which the noise", class = "dpts_error_input")
  }
  expect_identical(as.numeric(mechanism_gaussian(1, Inf, 1e305)), 1)
})

test_that("what is computed from releases is a number without a guarantee, for two of them cost more", {
  one <- mechanism_laplace(c(a = 1, b = 2), epsilon = 1, seed = 1)
  two <- mechanism_laplace(c(a = 1, b = 2), epsilon = 1, seed = 2)
  x <- c(a = as.numeric(one)[1], b = as.numeric(one)[2])
  expect_identical(list(-one, one + 1, 2 * one, one > 0, abs(one), round(one, 1)),
                   list(-x, x + 1, 2 * x, x > 0, abs(x), round(x, 1)))
  expect_identical(one + two, x + stats::setNames(as.numeric(two), names(two)))
})

test_that("a release is a column of a data frame and an aesthetic of a plot", {
  x <- mechanism_laplace(c(1, 2), epsilon = 1, seed = 1)
  expect_equal(as.numeric(data.frame(noisy = x)$noisy), as.numeric(x))
  expect_equal(as.numeric(tibble::tibble(noisy = x)$noisy), as.numeric(x))
  expect_identical(format(x, digits = 3), format(as.numeric(x), digits = 3))
  plot <- ggplot2::ggplot(data.frame(noisy = x), ggplot2::aes(noisy, 1)) + ggplot2::geom_point()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(drawn <- ggplot2::layer_data(plot))
  expect_equal(as.numeric(drawn$x), as.numeric(x))
  expect_s3_class(ggplot2::layer_scales(plot)$x, "ScaleContinuous")
})

test_that("mechanisms refuse bad input by name", {
  expect_error(mechanism_laplace(factor(1), 1), "`value`.*a factor", class = "dpts_error_input")
  for (bad in list("1", NA_real_, Inf, numeric(), list(1), data.frame(x = 1), NULL)) {
    expect_error(mechanism_gamma(bad, 1), "`value`", class = "dpts_error_input")
  }
  for (bad in list(0, -1, NA_real_, "1", c(1, 2), NULL)) {
    expect_error(mechanism_laplace(1, bad), "`epsilon`", class = "dpts_error_input")
    expect_error(mechanism_gaussian(1, bad), "`mu`", class = "dpts_error_input")
    expect_error(mechanism_gamma(1, 1, bad), "`sensitivity`", class = "dpts_error_input")
  }
})

test_that("laplace_accuracy() states Theorems 11.9 and 11.12, both ways", {
  # Theorem 11.9: epsilon = 1 / (n sigma), alpha = sigma ln(1 / beta)
  one <- laplace_accuracy(n = 100, scale = 0.05, beta = 0.1)
  expect_equal(one$epsilon, 1 / (100 * 0.05))
  expect_equal(one$alpha, 0.05 * log(10))
  # Theorem 11.12: epsilon = k / (n sigma), alpha = sigma ln(k / beta)
  many <- laplace_accuracy(n = 1000, k = 10, epsilon = 2, beta = c(0.05, 0.5))
  expect_equal(many$scale, rep(10 / (1000 * 2), 2))
  expect_equal(many$alpha, 0.005 * log(10 / c(0.05, 0.5)))
  back <- laplace_accuracy(n = 1000, k = 10, epsilon = 2, alpha = many$alpha)
  expect_equal(back$beta, c(0.05, 0.5))
  noise <- laplace_accuracy(n = 1000, k = 10, alpha = many$alpha, beta = c(0.05, 0.5))
  expect_equal(noise$epsilon, c(2, 2))
  expect_equal(laplace_accuracy(n = 10, k = 5, epsilon = 1, alpha = 1e-6)$beta, 1)
  expect_named(many, c("n", "k", "epsilon", "scale", "alpha", "beta"))
})

test_that("laplace_accuracy() holds: exactly for one query, as a bound for many", {
  x <- laplace_accuracy(n = 50, k = 1, epsilon = 1, beta = 0.2)
  z <- as.numeric(mechanism_laplace(numeric(1e5), epsilon = 1 / x$scale, seed = 2))
  # Binomial standard error of the share at beta = 0.2
  expect_lt(abs(mean(abs(z) >= x$alpha) - 0.2), 4 * sqrt(0.2 * 0.8 / 1e5))
  y <- laplace_accuracy(n = 50, k = 4, epsilon = 1, beta = 0.2)
  m <- matrix(mechanism_laplace(numeric(4e5), epsilon = 1 / y$scale, seed = 3), 4)
  off <- mean(colSums(abs(m) >= y$alpha) > 0)
  expect_lt(off, 0.2)
  # With independent noise: 1 - (1 - 0.05)^4
  expect_lt(abs(off - (1 - 0.95^4)), 4 * sqrt(0.2 * 0.8 / 1e5))
})

test_that("laplace_accuracy() refuses bad input", {
  expect_error(laplace_accuracy(10, epsilon = 1), class = "dpts_error_input")
  expect_error(laplace_accuracy(10, epsilon = 1, alpha = 1, beta = 0.1),
               class = "dpts_error_input")
  expect_error(laplace_accuracy(10, epsilon = 1, scale = 1, beta = 0.1),
               class = "dpts_error_input")
  expect_error(laplace_accuracy(10, epsilon = 1, beta = 1), class = "dpts_error_input")
  expect_error(laplace_accuracy(10.5, epsilon = 1, beta = 0.1), class = "dpts_error_input")
  expect_error(laplace_accuracy(0, epsilon = 1, beta = 0.1), class = "dpts_error_input")
})
