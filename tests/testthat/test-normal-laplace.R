# Maximum likelihood from batch sums with Laplace noise (src/math_normal_laplace.h), and DP-IMED with it.

likelihood <- function(sizes, noisy, b, at = 0.5) {
  .Call(C_likelihood, sizes + 0, noisy + 0, b, at + 0)
}

# -ln density of N(0, s^2) + Lap(b) at e: the normal's integral over each side of the Laplace, in
# logarithms
ref_cost <- function(e, s, b) {
  e <- abs(e)
  up <- -e / b + stats::pnorm(e / s - s / b, log.p = TRUE)
  down <- e / b + stats::pnorm(-e / s - s / b, log.p = TRUE)
  high <- pmax(up, down)
  log(2 * b) - s^2 / (2 * b^2) - high - log(exp(up - high) + exp(down - high))
}

test_that("the reference itself is the density, by numerical convolution", {
  for (b in c(0.5, 2)) for (e in c(0, 0.7, 4)) {
    density <- stats::integrate(function(u) exp(-abs(u) / b) / (2 * b) * stats::dnorm(e - u, 0, 1.3),
                                -40, 40, rel.tol = 1e-10, subdivisions = 1000)$value
    expect_equal(ref_cost(e, 1.3, b), -log(density), tolerance = 1e-7)
  }
})

variance <- function(t) pmax(t * (1 - t), 0.01)

test_that("the cost is that of the normal-Laplace density", {
  for (b in c(0.5, 3, 20)) {
    for (size in c(5, 60, 2000)) {
      t <- c(0.02, 0.3, 0.5, 0.9)
      noisy <- 0.4 * size + c(-2, 5) * sqrt(size / 4 + 2 * b^2) # also far in the tail
      for (y in noisy) {
        cost <- likelihood(size, y, b, t)$cost
        s <- sqrt(variance(t) * size)
        ref <- mapply(function(t, s) ref_cost(y - t * size, s, b), t, s) - log(2 * b * sqrt(2 * pi))
        expect_equal(cost, ref, tolerance = 1e-9)
      }
    }
  }
  # Far out, where the Mills ratio overflows: a line of slope 1 / b
  far <- likelihood(1, 0, 0.1, c(0, 1))$cost # e / s = 0 and 10 against s / b = 1
  expect_true(all(is.finite(likelihood(100, 1e6, 0.01, c(0.2, 0.7))$cost)))
  expect_true(all(is.finite(far)))
  # Without noise it is the normal.
  expect_equal(likelihood(50, 30, 0, 0.4)$cost, (30 - 20)^2 / (2 * 0.24 * 50))
})

test_that("the mean is where what they say, weighed at its own variance, is least", {
  for (case in 1:8) {
    b <- c(0.3, 2, 10, 30)[case %% 4 + 1]
    sizes <- ceiling(20 * 1.4^(0:(case + 2)))
    noisy <- withr::with_seed(case, rbinom(length(sizes), sizes, 0.35) + rlaplace(length(sizes), b))
    out <- likelihood(sizes, noisy, b)
    # The slope of the sum of costs in t, with the variance held at that of t
    slope <- function(t) {
      h <- 1e-4
      s <- sqrt(variance(t) * sizes)
      each <- function(t) sum(mapply(ref_cost, noisy - t * sizes, s, b))
      (each(t + h) - each(t - h)) / (2 * h)
    }
    expect_equal(out$mean, stats::uniroot(slope, c(0.01, 0.99), tol = 1e-9)$root, tolerance = 1e-5)
  }
  # No mean lies outside [0, 1].
  expect_identical(likelihood(10, -40, 5)$mean, 0)
  expect_identical(likelihood(c(10, 14), c(60, 40), 5)$mean, 1)
})

test_that("its information is close to that of the distribution", {
  # Fisher information of a normal-Laplace variable about its place, by quadrature
  fisher <- function(s, b) {
    score <- function(e) (ref_cost(e + 1e-4 * s, s, b) - ref_cost(e - 1e-4 * s, s, b)) / (2e-4 * s)
    f <- function(e) exp(-ref_cost(e, s, b)) * score(e)^2
    2 * (stats::integrate(f, 0, 8 * s)$value + stats::integrate(f, 8 * s, 8 * s + 40 * b)$value)
  }
  for (size in c(4, 40, 160, 400, 1000, 4000, 1e5)) {
    truth <- size^2 * fisher(sqrt(size / 4), 10) / 4
    expect_equal(likelihood(size, size / 2, 10)$information, truth, tolerance = 0.006)
  }
  # Without noise: the rewards
  expect_equal(likelihood(c(10, 20), c(5, 5), 0)$information, 30)
})

test_that("batches beyond the 32nd back are summed up", {
  sizes <- rep(20, 80)
  noisy <- withr::with_seed(1, rbinom(80, 20, 0.6) + rlaplace(80, 5))
  out <- likelihood(sizes, noisy, 5, c(0.5, 0.6))
  old <- 1:48
  recent <- likelihood(sizes[-old], noisy[-old], 5, c(0.5, 0.6))
  v <- variance(c(0.5, 0.6))
  d <- sum(noisy[old]) - c(0.5, 0.6) * sum(sizes[old])
  expect_equal(out$cost, recent$cost + d^2 / (2 * (v * sum(sizes[old]) + 48 * 2 * 25)))
  expect_equal(out$mean, 0.6, tolerance = 0.1)
})

test_that("maximum likelihood is nearer than the weighted mean, at first batches by a third", {
  b <- 10
  sizes <- c(200, 200, 200, 200)
  both <- vapply(1:2000, function(seed) {
    noisy <- withr::with_seed(seed, rbinom(4, sizes, 0.4) + rlaplace(4, b))
    c(likelihood(sizes, noisy, b)$mean, mean(noisy / sizes))
  }, numeric(2))
  mse <- rowMeans((both - 0.4)^2)
  expect_lt(mse[1], 0.95 * mse[2])
})

# ---- DP-IMED with the likelihood -----------------------------------------------------

ref_dp_imed <- function(rewards, eps, first, ratio, safety, noise, schedule = "evidence") {
  h <- min(2 * eps, 2)
  k <- ncol(rewards)
  noisy <- sizes <- replicate(k, numeric(), simplify = FALSE)
  draws <- 0
  chosen <- integer(0)
  cost <- function(i, t, v) {
    sum(ref_cost(noisy[[i]] - t * sizes[[i]], sqrt(v * sizes[[i]]), 1 / eps))
  }
  mean_of <- function(i) {
    # The derivative of a batch's cost in e, by the two tails of the normal
    slope <- function(t) {
      s <- sqrt(variance(t) * sizes[[i]])
      e <- noisy[[i]] - t * sizes[[i]]
      up <- -e * eps + stats::pnorm(e / s - s * eps, log.p = TRUE)
      down <- e * eps + stats::pnorm(-e / s - s * eps, log.p = TRUE)
      -sum(sizes[[i]] * eps * tanh((up - down) / 2))
    }
    if (slope(0) >= 0) return(0)
    if (slope(1) <= 0) return(1)
    stats::uniroot(slope, c(0, 1), tol = 1e-12)$root
  }
  share <- function(i) {
    s <- sqrt(sizes[[i]] / 4)
    x <- s * eps
    own <- 1 / (s^2 + (2 - exp(-1.12 * x - 0.13 * x^2)) / eps^2)
    sum(sizes[[i]]^2 * own) / 4 / sum(sizes[[i]])
  }
  while (length(chosen) < nrow(rewards)) {
    started <- lengths(sizes) > 0
    if (!all(started)) {
      arm <- which(!started)[1]
      size <- first
    } else {
      x <- vapply(seq_len(k), mean_of, 0)
      c <- vapply(seq_len(k), function(i) {
        if (x[i] >= max(x)) return(0)
        v <- variance(max(x))
        rate <- max(0, cost(i, max(x), v) - cost(i, x[i], max(v, variance(x[i]))))
        tail <- -log(2) - stats::pnorm(-sqrt(2 * rate), log.p = TRUE)
        rate + min(1, share(i)) * (tail - rate)
      }, 0)
      n <- vapply(sizes, sum, 0)
      normal <- pmin(1, vapply(seq_len(k), share, 0))
      arm <- which.min(pmax(0, c - safety * log1p(c)) + log(n) + h * log(normal))
      evidence <- schedule == "evidence"
      growth <- (ratio - 1) / if (evidence) 1 + c[arm] else 1
      size <- max(1, ceiling(growth * n[arm] - 1e-9), if (evidence) ceiling(first / 2))
    }
    rounds <- length(chosen) + seq_len(size)
    chosen <- c(chosen, rep(arm, size))
    if (max(rounds) > nrow(rewards)) break
    draws <- draws + 1
    sizes[[arm]] <- c(sizes[[arm]], size)
    noisy[[arm]] <- c(noisy[[arm]], sum(rewards[rounds, arm]) + noise[draws])
  }
  list(arm = as.integer(chosen[seq_len(nrow(rewards))]), draws = draws)
}

test_that("DP-IMED with the likelihood is its algorithm, step by step, with the ledger's noise", {
  cases <- list(
    list(policy_dp_imed(0.5, first = 25, index = "likelihood"), 0.5, 25, 2.4, 0.125),
    list(policy_dp_imed(0.2, 1.8, 15, index = "likelihood", safety = 0), 0.2, 15, 1.8, 0),
    list(policy_dp_imed(0.2, first = 15, index = "likelihood"), 0.2, 15, 2.4, 0.05),
    list(policy_dp_imed(2, index = "likelihood"), 2, 12, 2.4, 0.25),
    list(policy_dp_imed(1, index = "likelihood", schedule = "geometric"), 1, 24, 1.4, 0.25)
  )
  for (i in seq_along(cases)) {
    case <- cases[[i]]
    rewards <- bits_or_shares(i)
    for (seed in 1:2) {
      out <- trace_policy(case[[1]], 3, rewards, seed = seed)
      ref <- ref_dp_imed(rewards, case[[2]], case[[3]], case[[4]], case[[5]], out$ledger$noise,
                         case[[1]]$params$schedule)
      expect_identical(out$arm, ref$arm, label = format(case[[1]]))
      expect_equal(nrow(out$ledger), ref$draws)
    }
  }
})

test_that("its rewards are in one release of scale 1 / epsilon each: coupled runs", {
  policy <- policy_dp_imed(0.5, first = 3, index = "likelihood")
  rewards <- withr::with_seed(1, matrix(runif(3 * 150), ncol = 3))
  base <- run_script(policy, 3, rep(NA, 150), rewards)
  rows <- seq_len(base$total)
  expect_gt(base$total, 10)
  expect_equal(base$scale[rows], rep(2, base$total))
  expect_equal(base$kind[rows], rep(1, base$total))
  for (t in seq_len(150)) {
    other <- rewards
    other[t, ] <- 1 - round(other[t, ])
    run <- run_script(policy, 3, rep(NA, 150), other, forced = (base$exact + base$noise)[rows])
    expect_identical(run$arm, base$arm)
    shift <- abs(run$exact - base$exact)[rows]
    expect_lte(sum(shift > 1e-12), 1)
    expect_lte(sum(shift) / 2, 0.5)
  }
})

test_that("its short cut has the distribution of the plain loop, and works with late rewards", {
  policy <- policy_dp_imed(0.5, first = 4, index = "likelihood")
  expect_skip_exact(arms_bernoulli(c(0.8, 0.6, 0.4)), policy, 500, c(50, 233, 500), 1500)
  n <- 300
  rewards <- withr::with_seed(2, runif(n))
  out <- run_script(policy, 4, rep(NA, n), rewards, delays = withr::with_seed(3, sample(0:40, n, TRUE)),
                    offers = withr::with_seed(4, replicate(n, sort(sample(4, 3)), simplify = FALSE)))
  expect_gt(out$total, 10)
  # Without noise it learns from the sums as they are, whatever lies before the 32nd batch.
  exact <- policy_dp_imed(Inf, 1.05, 1, index = "likelihood", schedule = "geometric")
  out <- trace_policy(exact, 2, cbind(rep(1, 3000), 0))
  expect_gt(nrow(out$ledger), 40)
  expect_gt(mean(out$arm == 1), 0.9)
})
