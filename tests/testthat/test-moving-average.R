# Releases of a moving average of batch sums (src/moving_average.h): the sensitivity of all
# releases together, the estimate against dense generalised least squares, and the policies that
# use them.

moving_average <- function(sizes, sums, carry, sd, seed = 1, silent = FALSE) {
  carry <- rep_len(carry, length(sizes))
  .Call(C_moving_average, sizes + 0, sums + 0, carry + 0, sd, seed, silent)
}

# The releases as a matrix: y = C s + noise. Row b has the coefficients of release b.
coefficients_of <- function(carry) {
  b <- length(carry)
  held <- diag(b) # h = held s
  for (i in seq_len(b)[-1]) held[i, ] <- carry[i - 1] * held[i - 1, ] + held[i, ]
  sqrt(1 - carry^2) * held
}

random_carry <- function(n, seed) withr::with_seed(seed, runif(n, 0, 0.95))

test_that("a reward moves the releases by a vector of length below 1, whatever the coefficients", {
  for (carry in list(rep(0.65, 12), rep(0, 12), rep(0.99, 40), random_carry(30, 1),
                     random_carry(30, 2), c(0.9, 0, 0.9, 0, 0.3))) {
    n <- length(carry)
    sums <- withr::with_seed(3, runif(n, 0, 50))
    base <- moving_average(rep(50, n), sums, carry, sd = 2, silent = TRUE)$exact
    for (j in seq_len(n)) {
      changed <- sums
      changed[j] <- changed[j] + 1
      moved <- moving_average(rep(50, n), changed, carry, sd = 2, silent = TRUE)$exact - base
      # By the formula: the squares add up to 1 - (carry_j ... carry_n)^2
      expect_equal(sum(moved^2), 1 - prod(carry[j:n])^2, tolerance = 1e-5)
      expect_lte(sum(moved^2), 1)
      expect_equal(moved, coefficients_of(carry)[, j], tolerance = 1e-5)
    }
  }
})

test_that("the ledger knows the coefficients: the batch sums can be had back from it", {
  carry <- random_carry(20, 4)
  sums <- withr::with_seed(5, runif(20, 0, 100))
  out <- moving_average(rep(100, 20), sums, carry, sd = 3)
  expect_equal(out$scale, rep(3, 20))
  expect_equal(out$carry, c(0, carry[-20]))
  expect_equal(out$gain, sqrt(1 - carry^2), tolerance = 1e-5)
  held <- out$exact / out$gain
  expect_equal(held - out$carry * c(0, held[-20]), sums)
  # Fresh noise of sd 3 in each
  noise <- unlist(lapply(1:200, function(seed) {
    moving_average(rep(100, 20), sums, carry, sd = 3, seed = seed)$noise
  }))
  expect_gt(stats::ks.test(noise / 3, "pnorm")$p.value, 1e-3)
  expect_lt(max(abs(stats::acf(noise, 3, plot = FALSE)$acf[-1])), 4 / sqrt(length(noise)))
})

test_that("the mean is generalised least squares, and its variance is split as it is said to be", {
  for (case in 1:6) {
    n <- 15
    carry <- list(rep(0.65, n), rep(0, n), random_carry(n, 6), rep(0.9, n), random_carry(n, 7),
                  c(0.5, rep(0.8, n - 1)))[[case]]
    sd <- c(10, 1, 4, 0.2, 0.01, 100)[case]
    sizes <- round(10 * c(1, 1.3, 2, 1.1, 4)[withr::with_seed(case, sample(5, n, TRUE))]^(1:n %% 6))
    sums <- withr::with_seed(case, rbinom(n, sizes, 0.4))
    out <- moving_average(sizes, sums, carry, sd, seed = case)
    for (b in seq_len(n)) {
      keep <- seq_len(b)
      # y = C s + sd z, so C^-1 y has mean L t and covariance diag(L / 4) + sd^2 (C'C)^-1.
      coefficients <- coefficients_of(carry)[keep, keep, drop = FALSE]
      y <- out$exact[keep] + out$noise[keep]
      noise <- sd^2 * solve(crossprod(coefficients))
      w <- solve(diag(sizes[keep] / 4, b) + noise, sizes[keep])
      expect_equal(out$mean[b], sum(w * solve(coefficients, y)) / sum(w * sizes[keep]),
                   tolerance = 1e-5)
      expect_equal(out$rewards[b], sum(w * sizes[keep])^2 / sum(w^2 * sizes[keep]),
                   tolerance = 1e-5)
      expect_equal(out$sd[b], sqrt(drop(w %*% noise %*% w)) / sum(w * sizes[keep]),
                   tolerance = 1e-4)
    }
  }
})

test_that("without correlation it weighs independent releases by their inverse variance", {
  sizes <- c(16, 24, 36, 54, 81)
  sums <- c(10, 11, 20, 30, 40)
  out <- moving_average(sizes, sums, 0, sd = 4)
  w <- 1 / (1 / (4 * sizes) + 16 / sizes^2)
  y <- (out$exact + out$noise) / sizes
  expect_equal(out$mean[5], sum(w * y) / sum(w), tolerance = 1e-5)
  # And without noise it is the plain mean.
  exact <- moving_average(sizes, sums, 0.65, sd = 0)
  expect_equal(exact$mean, cumsum(sums) / cumsum(sizes), tolerance = 1e-5)
  expect_equal(exact$rewards, cumsum(sizes))
  expect_equal(exact$sd, numeric(5), tolerance = 1e-6)
})

test_that("it stays exact over horizons of 1e12, in a few numbers", {
  sizes <- ceiling(20 * 1.5^(0:60)) # 1e12
  sums <- sizes / 2
  out <- moving_average(sizes, sums, 0.65, sd = 10)
  # Sizes far apart: only the last batches tell, so dense algebra on the last 40 agrees.
  expect_true(all(diff(out$rewards) > 0 & diff(out$sd) < 0))
  expect_equal(out$mean[61], 0.5, tolerance = 1e-6)
  expect_equal(out$rewards[61], sum(sizes), tolerance = 1e-6)
})
