# Releases of a moving average of batch sums (src/noise_moving_average.h): the sensitivity of all
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
  expect_equal(out$correlation, c(0, carry[-20]))
  expect_equal(out$gain, sqrt(1 - carry^2), tolerance = 1e-5)
  held <- out$exact / out$gain
  expect_equal(held - out$correlation * c(0, held[-20]), sums)
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
      expect_equal(out$sd[b] / (sqrt(drop(w %*% noise %*% w)) / sum(w * sizes[keep])), 1,
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

test_that("the total is the sum of what was learned of each batch, and its noise is what adds up and the last", {
  for (carry in c(0.3, 0.65)) {
    sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_gaussian_imed(0.5, correlation = carry), 2000, runs = 1,
                         seed = 1, history = TRUE)
    report <- matrix(dpts:::runs_in(sim)$report[[1]], ncol = 2, dimnames = list(dpts:::REPORT, NULL))
    releases <- as.data.frame(dpts:::release_records(sim)$records[[1]]$releases)
    expect_equal(report["sum", ], as.vector(tapply(releases$sum, releases$arm, sum)), tolerance = 1e-9, ignore_attr = TRUE)
    # Almost without noise: half of so many rewards
    exact <- estimates(dpts_simulate(arms_discrete(0.5, matrix(1, 2)), policy_gaussian_imed(1e6, correlation = carry), 500,
                                     runs = 1, seed = 1))
    expect_equal(exact$mean, c(0.5, 0.5), tolerance = 1e-4)
    # Z_1 + ... + Z_j, carried back by (1 - carry) each, of variance sd^2 / (1 - carry^2), and carry times Z_j
    expect_equal(report["terms", ], as.vector(table(releases$arm)) * (1 - carry) / (1 + carry), tolerance = 1e-5,
                 ignore_attr = TRUE)
    expect_equal(report["last_scale", ], rep(2 * carry / sqrt(1 - carry^2), 2), tolerance = 1e-5, ignore_attr = TRUE)
  }
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

# ---- the policies --------------------------------------------------------------------

# Batches in R, with dense least squares: best(views, t) -> list(arm, growth). A view has the mean
# (not clipped), m and sd of an arm. The noise is handed in: y = C s + noise.
ref_averaging <- function(rewards, mu, first, carry, noise, best) {
  k <- ncol(rewards)
  sums <- sizes <- z <- replicate(k, numeric(), simplify = FALSE)
  draws <- 0
  chosen <- integer(0)
  fit <- function(i) {
    b <- length(sizes[[i]])
    coefficients <- coefficients_of(rep(carry, b))
    y <- drop(coefficients %*% sums[[i]]) + z[[i]]
    noise <- solve(crossprod(coefficients)) / mu^2
    w <- solve(diag(sizes[[i]] / 4, b) + noise, sizes[[i]])
    total <- sum(w * sizes[[i]])
    list(mean = sum(w * solve(coefficients, y)) / total, m = total^2 / sum(w^2 * sizes[[i]]),
         sd = sqrt(drop(w %*% noise %*% w)) / total)
  }
  while (length(chosen) < nrow(rewards)) {
    started <- lengths(sizes) > 0
    if (!all(started)) {
      arm <- which(!started)[1]
      size <- first
    } else {
      choice <- best(lapply(seq_len(k), fit), length(chosen) + 1)
      arm <- choice$arm
      size <- max(1, ceiling(choice$growth * sum(sizes[[arm]]) - 1e-9))
    }
    rounds <- length(chosen) + seq_len(size)
    chosen <- c(chosen, rep(arm, size))
    if (max(rounds) > nrow(rewards)) break
    draws <- draws + 1
    sizes[[arm]] <- c(sizes[[arm]], size)
    sums[[arm]] <- c(sums[[arm]], sum(rewards[rounds, arm]))
    z[[arm]] <- c(z[[arm]], noise[draws])
  }
  list(arm = as.integer(chosen[seq_len(nrow(rewards))]), draws = draws)
}

part <- function(views, name) vapply(views, `[[`, 0, name)

best_gaussian_imed <- function(safety, ratio = 2) {
  cost <- function(v, top) {
    x <- min(max(v$mean, 0), 1)
    if (x >= top) return(0)
    rate <- ref_infimum(function(z) (z - x)^2 / (2 * v$sd^2) + v$m * ref_kl(z, top), x, top)
    -log(2) - stats::pnorm(-sqrt(2 * rate), log.p = TRUE)
  }
  function(views, t) {
    top <- min(max(part(views, "mean"), 0), 1)
    c <- vapply(views, cost, 0, top)
    arm <- which.min(pmax(0, c - safety * log1p(c)) - log(1 / part(views, "m") + 4 * part(views, "sd")^2))
    list(arm = arm, growth = (ratio - 1) / (1 + c[arm]))
  }
}

test_that("AdaC-UCB with correlated noise is its algorithm, step by step", {
  best <- function(views, t) {
    v <- 1 / (4 * part(views, "m")) + part(views, "sd")^2
    list(arm = which.max(part(views, "mean") + sqrt(2 * 3.1 * log(t) * v)), growth = 1)
  }
  for (seed in 1:3) {
    rewards <- withr::with_seed(seed, matrix(runif(3 * 900), ncol = 3))
    out <- trace_policy(policy_adac_ucb(0.7, correlation = 0.5), 3, rewards, seed = seed)
    ref <- ref_averaging(rewards, 0.7, 1, 0.5, out$ledger$noise, best)
    expect_identical(out$arm, ref$arm)
    expect_equal(nrow(out$ledger), ref$draws)
  }
})

test_that("lazy Gaussian Thompson sampling with correlated noise draws from its distribution", {
  mu <- 0.8
  rewards <- c(1, 0, 1, 1, 0.5, 1, 0.2)
  arms <- c(1, 2, 1, 1, 2, 2, 1) # blocks: arm 1 has (1), (1, 1), then 0.2 waiting; arm 2 (0), (0.5, 1)
  fit <- function(s, n) {
    coefficients <- coefficients_of(c(0.5, 0.5))
    noise <- solve(crossprod(coefficients)) / mu^2
    w <- solve(diag(c(1, 2) / 4) + noise, c(1, 2))
    u <- s + solve(coefficients, matrix(rnorm(2 * n), 2) / mu)
    m <- sum(w * 1:2)^2 / sum(w^2 * 1:2)
    sd <- sqrt(drop(w %*% noise %*% w)) / sum(w * 1:2)
    shifted <- pmin(pmax(colSums(w * u) / sum(w * 1:2) + sqrt(6 * log(8)) * sd, 0), 1)
    rbeta(n, shifted * m + 1, (1 - shifted) * m + 1)
  }
  expect_same_choices(policy_lazy_gaussian_ts(mu, correlation = 0.5), 2, rewards, arms,
                      function(n) largest(cbind(fit(c(1, 2), n), fit(c(0, 1.5), n))))
})

test_that("Gaussian IMED is its algorithm, step by step, with the ledger's noise", {
  cases <- list(
    list(policy_gaussian_imed(1, ratio = 2, safety = 0.1), 1, 20, 0.65, best_gaussian_imed(0.1)),
    list(policy_gaussian_imed(1, 2, first = 6, safety = 0.5), 1, 6, 0.65, best_gaussian_imed(0.5)),
    list(policy_gaussian_imed(0.3, 1.5, 12, correlation = 0.9, safety = 0), 0.3, 12, 0.9,
         best_gaussian_imed(0, 1.5)),
    list(policy_gaussian_imed(2, 2, first = 4, correlation = 0, safety = 0.3), 2, 4, 0,
         best_gaussian_imed(0.3))
  )
  for (i in seq_along(cases)) {
    case <- cases[[i]]
    rewards <- bits_or_shares(i)
    for (seed in 1:2) {
      out <- trace_policy(case[[1]], 3, rewards, seed = seed)
      ref <- ref_averaging(rewards, case[[2]], case[[3]], case[[4]], out$ledger$noise, case[[5]])
      expect_identical(out$arm, ref$arm, label = format(case[[1]]))
      expect_equal(nrow(out$ledger), ref$draws)
    }
  }
})

# Policies that release moving averages, with small first batches
averaging <- function() {
  list(imed = policy_gaussian_imed(0.5, first = 3),
       imed_ratio = policy_gaussian_imed(0.5, 1.3, 3, correlation = 0.8, safety = 0.3),
       adac = policy_adac_ucb(0.5, correlation = 0.5),
       lazy_ts = policy_lazy_gaussian_ts(0.5, correlation = 0.5))
}

test_that("each reward moves all releases together by mu at most: coupled runs", {
  # A neighbour's run, forced to the same releases, makes the same choices; what differs are
  # the exact values. Their distance, in units of the noise, is the loss: mu at most.
  for (policy in averaging()) {
    rewards <- withr::with_seed(1, matrix(runif(3 * 150), ncol = 3))
    base <- run_script(policy, 3, rep(NA, 150), rewards)
    rows <- seq_len(base$total)
    released <- (base$exact + base$noise)[rows]
    same <- rep(FALSE, 150)
    loss <- vapply(seq_len(150), function(t) {
      other <- rewards
      other[t, ] <- 1 - round(other[t, ]) # the whole round, and no reward inside (0, 1)
      run <- run_script(policy, 3, rep(NA, 150), other, forced = released)
      same[t] <<- identical(run$arm, base$arm) && identical(run$released, base$released)
      sqrt(sum(((run$exact - base$exact)[rows] / base$scale[rows])^2)) /
        abs(other[t, base$arm[t]] - rewards[t, base$arm[t]])
    }, 0)
    expect_identical(which(!same), integer()) # rounds whose reward changes what is public
    expect_true(all(loss <= 0.5))
    expect_gt(max(loss), 0.47) # a reward of the first batches: 1 - prod(carry^2) is nearly 1
    # One that only few releases followed has told less; one in the open batch nothing.
    expect_identical(loss[150], 0)
  }
})

test_that("the ledger of a policy gives back its batches: whole sums, arm by arm", {
  for (policy in averaging()) {
    out <- trace_policy(policy, 3, matrix(1, 400, 3))
    for (arm in 1:3) {
      rows <- out$ledger[out$ledger$arm == arm, ]
      held <- rows$exact / rows$gain
      sizes <- held - rows$correlation * c(0, held[-nrow(rows)])
      # Rewards are 1: sums are sizes, whole numbers, and no more than the arm's pulls.
      expect_equal(sizes, round(sizes))
      expect_lte(sum(sizes), sum(out$arm == arm))
      expect_equal(rows$correlation, c(0, rep(policy$params$correlation, nrow(rows) - 1)))
    }
  }
})

test_that("late rewards and arms off offer leave the sensitivity as it is", {
  for (policy in averaging()) {
    n <- 240
    rewards <- withr::with_seed(2, runif(n))
    delays <- withr::with_seed(3, sample(0:40, n, TRUE))
    offers <- withr::with_seed(4, replicate(n, sort(sample(4, 3)), simplify = FALSE))
    base <- run_script(policy, 4, rep(NA, n), rewards, offers = offers, delays = delays)
    rows <- seq_len(base$total)
    expect_gt(base$total, 10)
    same <- rep(FALSE, n)
    loss <- vapply(seq_len(n), function(t) {
      other <- rewards
      other[t] <- 1 - round(other[t])
      run <- run_script(policy, 4, rep(NA, n), other, offers = offers, delays = delays,
                        forced = (base$exact + base$noise)[rows])
      same[t] <<- identical(run$arm, base$arm)
      sum(((run$exact - base$exact)[rows] / base$scale[rows])^2) / (other[t] - rewards[t])^2
    }, 0)
    expect_identical(which(!same), integer())
    expect_true(all(loss <= 0.25))
    expect_gt(max(loss), 0.2)
  }
})

test_that("short cuts have the distribution of the plain loop, and the very path without noise", {
  for (policy in averaging()[c("imed", "lazy_ts")]) {
    expect_skip_exact(arms_bernoulli(c(0.8, 0.6, 0.4)), policy, 500, c(50, 233, 500), 2000)
  }
  # With rewards that are always 1 or always 0 the path is the noise's alone.
  for (policy in averaging()[c("imed", "imed_ratio", "adac")]) {
    play <- function(engine) {
      withr::local_options(dpts.engine = engine)
      dpts_simulate(arms_bernoulli(c(1, 0, 0)), policy, 2000, runs = 5, seed = 3, record = 50,
                    progress = FALSE)
    }
    expect_identical(as.data.frame(play("auto")), as.data.frame(play("plain")))
  }
})

test_that("a broken copy is caught: coefficients that do not fit their gain", {
  # y_b = h_b with unit gain, as if a running sum were released with the noise of one batch
  n <- 8
  held <- coefficients_of(rep(0.65, n)) / sqrt(1 - 0.65^2)
  expect_gt(max(colSums(held^2)), 1.7)
  expect_lte(max(colSums(coefficients_of(rep(0.65, n))^2)), 1)
})
