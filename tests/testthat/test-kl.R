test_that("kl() is the relative entropy, also where it nearly cancels", {
  grid <- expand.grid(x = c(0, 1e-6, 0.01, 0.3, 0.5, 0.77, 0.999, 1),
                      y = c(1e-9, 0.01, 0.3, 0.5, 0.77, 0.999))
  expect_equal(kl_c("kl", grid$x, grid$y), ref_kl(grid$x, grid$y), tolerance = 1e-12)
  # Taylor: d^2 / (2 y (1 - y)) with a relative error of order d
  d <- 10^-(4:9)
  expect_equal(kl_c("kl", 0.3 + d, 0.3) / (d^2 / 0.42), rep(1, 6), tolerance = 1e-3)
  expect_identical(kl_c("kl", 0.3, 0.3), 0)
})

test_that("kl_upper() is its inverse", {
  grid <- expand.grid(x = c(0, 1e-4, 0.2, 0.5, 0.9, 0.999), bound = c(1e-8, 1e-3, 0.1, 1, 5))
  y <- kl_c("kl_upper", grid$x, grid$bound)
  expect_true(all(y > grid$x & y <= 1))
  below <- y < 1
  expect_equal(ref_kl(grid$x, y)[below], grid$bound[below], tolerance = 1e-6)
  expect_true(all(ref_kl(grid$x, 1 - 1e-12)[!below] <= grid$bound[!below]))
  expect_identical(kl_c("kl_upper", c(1, 0.4), c(1, 0)), c(1, 0.4))
})

test_that("d_epsilon() is the infimum, found numerically", {
  grid <- expand.grid(x = c(0, 0.05, 0.3, 0.5, 0.8, 1), y = c(0.02, 0.25, 0.5, 0.75, 0.99),
                      epsilon = c(0.01, 0.1, 0.5, 1, 4))
  truth <- mapply(ref_d_epsilon, grid$x, grid$y, grid$epsilon)
  for (epsilon in unique(grid$epsilon)) {
    at <- grid$epsilon == epsilon
    # optimize() stops within 1e-8 of the place, and the function is flat there
    expect_equal(kl_c("d_epsilon", grid$x[at], grid$y[at], epsilon), truth[at],
                 tolerance = 1e-8)
  }
  # Limits: kl as epsilon grows, epsilon |x - y| as it falls
  expect_equal(kl_c("d_epsilon", 0.3, 0.6, Inf), ref_kl(0.3, 0.6), tolerance = 1e-12)
  expect_equal(kl_c("d_epsilon", 0.3, 0.6, 1e-6) / (1e-6 * 0.3), 1, tolerance = 1e-5)
})

test_that("d_epsilon_upper() is its inverse in the second mean", {
  for (epsilon in c(0.05, 0.5, 2, Inf)) {
    grid <- expand.grid(x = c(0, 0.2, 0.6, 0.95), bound = c(1e-4, 0.01, 0.1, 0.6))
    y <- kl_c("d_epsilon_upper", grid$x, grid$bound, epsilon)
    inner <- y < 1
    expect_equal(kl_c("d_epsilon", grid$x, y, epsilon)[inner], grid$bound[inner],
                 tolerance = 1e-6)
    # At 1 the bound is not reached below it.
    expect_true(all(kl_c("d_epsilon", grid$x, 1 - 1e-9, epsilon)[!inner] <=
                      grid$bound[!inner] + 1e-6))
  }
})

test_that("kl_noisy() is the infimum", {
  cases <- expand.grid(x = c(0, 0.2, 0.55), y = c(0.3, 0.6, 0.95), n = c(5, 80, 3000),
                       sd = c(0.001, 0.05, 1, 2.5))
  for (i in seq_len(nrow(cases))) {
    with(cases[i, ], {
      least <- ref_infimum(function(z) (z - x)^2 / (2 * sd^2) + n * ref_kl(z, y), x, max(x, y))
      expect_equal(kl_c("noisy", x, y, sd, n), if (y <= x) 0 else least, tolerance = 1e-6)
    })
  }
  # Without noise it is n kl
  expect_equal(kl_c("noisy", 0.2, 0.5, 0, 10), 10 * ref_kl(0.2, 0.5), tolerance = 1e-12)
})
