test_that("DP-UCB-Bound is its algorithm, with the hybrid mechanism's sums", {
  rewards <- withr::with_seed(1, matrix(rbinom(1200, 1, rep(c(0.7, 0.4), each = 600)), ncol = 2))
  # A large epsilon, too: where nu is less than the other terms, its constants decide rounds.
  for (epsilon in c(3, 30, 300)) {
    out <- trace_policy(policy_dp_ucb_bound(epsilon), 2, rewards, seed = 2)
    # Translation. The hybrid mechanism of Chan, Shi and Song (2011): the total is renewed at
    # n = 1, 2, 4, ...; between two of them a binary mechanism sums the rest.
    counts <- c(0, 0)
    total <- c(0, 0)
    nodes <- list(numeric(), numeric()) # noisy partial sums, exact ones beside
    exact <- list(numeric(), numeric())
    block <- c(0, 0)
    since <- c(0, 0)
    used <- 0
    noise <- function() out$ledger$noise[used <<- used + 1]
    x <- c(0, 0)
    chosen <- integer(600)
    for (t in 1:600) {
      if (any(counts == 0)) {
        i <- which(counts == 0)[1]
      } else {
        power <- log2(counts) == round(log2(counts))
        nu <- sqrt(8) / epsilon * log(4 * t^4) * ifelse(power, 1, log(counts) + 1)
        i <- which.max(x / counts + sqrt(2 * log(t) / counts) + nu / counts)
      }
      chosen[t] <- i
      r <- rewards[t, i]
      counts[i] <- counts[i] + 1
      block[i] <- block[i] + r
      if (log2(counts[i]) == round(log2(counts[i]))) {
        total[i] <- total[i] + block[i] + noise()
        block[i] <- since[i] <- 0
        nodes[[i]] <- exact[[i]] <- numeric(20)
        x[i] <- total[i]
      } else {
        since[i] <- since[i] + 1
        level <- which(bitwAnd(since[i], 2^(0:19)) > 0)[1]
        exact[[i]][level] <- sum(exact[[i]][seq_len(level - 1)]) + r
        exact[[i]][seq_len(level - 1)] <- 0
        nodes[[i]][seq_len(level - 1)] <- 0
        nodes[[i]][level] <- exact[[i]][level] + noise()
        x[i] <- total[i] + sum(nodes[[i]][bitwAnd(since[i], 2^(0:19)) > 0])
      }
    }
    expect_identical(out$arm, chosen)
  }
})

test_that("no reward spends more than epsilon in DP-UCB-Bound", {
  arms <- withr::with_seed(1, sample(2, 70, TRUE))
  rewards <- withr::with_seed(2, runif(70))
  cost <- spent(taint(policy_dp_ucb_bound(0.8), 2, rewards, arms, horizon = 70))
  expect_true(all(cost <= 0.8 + 1e-12))
  expect_gt(max(cost), 0.6)
})

test_that("DP-UCB-Int is its algorithm, and spends what its guarantee adds up", {
  rewards <- withr::with_seed(3, matrix(rbinom(2400, 1, rep(c(0.7, 0.5, 0.4), each = 800)),
                                        ncol = 3))
  epsilon <- 0.3 # f = 4
  v <- 1.2
  out <- trace_policy(policy_dp_ucb_int(epsilon, v), 3, rewards, seed = 5)
  n <- sum <- mean <- numeric(3)
  used <- 0
  exact <- scale <- numeric()
  chosen <- integer(800)
  for (t in 1:800) {
    i <- if (t <= 12) (t - 1L) %% 3L + 1L else which.max(mean + sqrt(2 * log(t) / n))
    chosen[t] <- i
    n[i] <- n[i] + 1
    sum[i] <- sum[i] + rewards[t, i]
    if (n[i] %% 4 == 0) {
      used <- used + 1
      # Lap(n^(v / 2 - 1)) on a mean of n rewards is Lap(n^(v / 2)) on their sum.
      exact[used] <- sum[i]
      scale[used] <- n[i]^(v / 2)
      mean[i] <- (sum[i] + out$ledger$noise[used]) / n[i]
    }
  }
  expect_identical(out$arm, chosen)
  expect_equal(out$ledger$exact, exact)
  expect_equal(out$ledger$scale, scale)
  # What is said of an arm is its last release.
  sim <- dpts_simulate(arms_bernoulli(c(0.7, 0.5)), policy_dp_ucb_int(epsilon), 998, runs = 1, seed = 1)
  expect_equal(estimates(sim)$rewards, 4 * floor(pulls(sim)$pulls / 4))
  expect_true(any(pulls(sim)$pulls %% 4 > 0))
  # The first reward of an arm is in every release: (4 j)^(-v / 2) each
  found <- taint(policy_dp_ucb_int(epsilon, v), 1, rep(c(0, 1), 20), rep(1, 40))
  first <- found[[1]]
  expect_equal(first$moved / first$scale, (4 * (1:10))^(-v / 2))
})

test_that("DP-UCB-Int's short cut has the distribution of the plain loop", {
  # Stretches end before the next release: f is 100.
  expect_skip_exact(arms_bernoulli(c(0.7, 0.5, 0.4)), policy_dp_ucb_int(0.01), 3000, c(700, 1500, 3000),
                    3000, 1500)
})

test_that("DP-UCB-Int's (epsilon, delta) is a valid composition, and no epsilon of its own", {
  guarantee <- policy_dp_ucb_int(0.1)$guarantee
  e <- (10 * (1:1000))^-0.55
  # Kairouz, Oh and Viswanath (2015), Theorem 3.5, in their form
  theirs <- sum((exp(e) - 1) * e / (exp(e) + 1)) + sqrt(2 * log(1e6) * sum(e^2))
  expect_equal(guarantee$epsilon(1e4, 2, 1e-6), min(sum(e), theirs), tolerance = 1e-10)
  expect_gt(theirs, 0.1)
  # delta = 0: the plain sum; and past 1e5 releases the bound by integrals stays above
  expect_equal(guarantee$epsilon(1e4, 2, 0), sum(e), tolerance = 1e-12)
  e <- (10 * seq_len(1e6))^-0.55
  upper <- guarantee$epsilon(1e7, 2, 0)
  expect_gte(upper, sum(e))
  expect_lt(upper, 1.001 * sum(e))
  expect_equal(guarantee$epsilon(5, 2, 1e-6), 0) # no release
  curve <- dpts_privacy(policy_dp_ucb_int(0.1), 1e4, delta = c(1e-3, 1e-6))
  expect_equal(curve$epsilon[2], theirs, tolerance = 1e-10)
})
