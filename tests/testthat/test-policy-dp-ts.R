# R translations of Hu and Hegde (2022): one choice after a forced history, noise and all.

skip_on_cran() # takes seconds

plays_of <- function(n, means, seed) {
  k <- length(means)
  withr::with_seed(seed, {
    arms <- c(seq_len(k), sample.int(k, n - k, TRUE))
    list(k = k, arms = arms, rewards = rbinom(n, 1, means[arms]))
  })
}

shifted_beta <- function(n, mean, shift, size) {
  bar <- pmin(pmax(mean + shift, 0), 1)
  rbeta(n, bar * size + 1, (1 - bar) * size + 1)
}

# Algorithm 1, lines 6 to 19
ref_dp_ts <- function(h, eps, base) {
  t <- length(h$arms) + 1
  function(n) {
    largest(vapply(seq_len(h$k), function(j) {
      x <- h$rewards[h$arms == j]
      o <- length(x)
      r <- floor(log2(o + 1)) - 1
      m <- 2^(r + 1) - 1
      noise <- numeric(n)
      for (i in seq_len(r + 1)) noise <- noise + rlaplace(n, 1 / (0.5 * eps))
      bits <- sum(as.integer(intToBits(o - m)))
      for (i in seq_len(bits)) noise <- noise + rlaplace(n, (r + 1) / (0.5 * eps))
      v <- 6 * sqrt(8) * log(o + 1, base) * log(t, base) / (eps * o)
      shifted_beta(n, (sum(x) + noise) / o, v, o)
    }, numeric(n)))
  }
}

# Algorithm 2, lines 6 to 16
ref_lazy_dp_ts <- function(h, eps, base) {
  t <- length(h$arms) + 1
  function(n) {
    largest(vapply(seq_len(h$k), function(j) {
      x <- h$rewards[h$arms == j]
      o <- 2^floor(log2(length(x) + 1)) / 2 # blocks of 1, 2, 4, ...: the last full one
      block <- x[o:(2 * o - 1)]
      shifted_beta(n, (sum(block) + rlaplace(n, 1 / eps)) / o, 3 * log(t, base) / (eps * o), o)
    }, numeric(n)))
  }
}

test_that("DP-TS chooses with the distribution of Algorithm 1", {
  # A huge base makes the shift small: otherwise, where noise matters, it clips every mean to 1.
  for (case in list(list(n = 40, eps = 6, base = 1e5), list(n = 25, eps = 400, base = 2),
                    # noise far above O: the clip to [0, 1] decides the distribution
                    list(n = 30, eps = 0.3, base = 1e30))) {
    h <- plays_of(case$n, c(0.6, 0.5, 0.4), case$n)
    expect_same_choices(policy_dp_ts(case$eps, case$base), h$k, h$rewards, h$arms,
                        ref_dp_ts(h, case$eps, case$base))
  }
  # Narrow posteriors, one far more shifted than the other, that are as likely to win: a shift off by 5% would show.
  h <- list(k = 2, arms = rep(1:2, c(64, 512)), rewards = rep(c(0, 1, 0), c(64, 208, 304)))
  expect_same_choices(policy_dp_ts(29.3, 2), 2, h$rewards, h$arms, ref_dp_ts(h, 29.3, 2), runs = 1500)
})

test_that("Lazy-DP-TS chooses with the distribution of Algorithm 2", {
  for (case in list(list(n = 40, eps = 0.4, base = 1e5), list(n = 40, eps = 60, base = 2),
                    list(n = 30, eps = 0.02, base = 1e30))) {
    h <- plays_of(case$n, c(0.6, 0.5, 0.4), case$n)
    expect_same_choices(policy_lazy_dp_ts(case$eps, case$base), h$k, h$rewards, h$arms,
                        ref_lazy_dp_ts(h, case$eps, case$base))
  }
})

test_that("the tests of choices would see the exact mean in the place of the private one", {
  # Line 7 as printed. With the noise left out of the translation the distributions differ.
  h <- plays_of(40, c(0.6, 0.5, 0.4), 40)
  exact <- function(n) {
    largest(vapply(1:3, function(j) {
      x <- h$rewards[h$arms == j]
      o <- 2^floor(log2(length(x) + 1)) / 2
      shifted_beta(n, sum(x[o:(2 * o - 1)]) / o, 3 * log(41, 1e5) / (0.4 * o), o)
    }, numeric(n)))
  }
  script <- scripted(policy_lazy_dp_ts(0.4, 1e5), 3, c(h$arms, NA), c(h$rewards, 0))
  chosen <- vapply(1:2000, function(seed) script(seed)$arm[41], 0)
  counts <- rbind(tabulate(chosen, 3), tabulate(withr::with_seed(1, exact(20000)), 3))
  expect_lt(chisq.test(counts)$p.value, 1e-3)
})

test_that("without noise both are Beta Thompson sampling on all, or the last block of, rewards", {
  h <- plays_of(60, c(0.6, 0.5, 0.4), 7)
  all <- function(n) {
    largest(vapply(1:3, function(j) {
      x <- h$rewards[h$arms == j]
      rbeta(n, 1 + sum(x), 1 + sum(1 - x))
    }, numeric(n)))
  }
  expect_same_choices(policy_dp_ts(Inf), 3, h$rewards, h$arms, all)
  expect_same_choices(policy_lazy_dp_ts(Inf), 3, h$rewards, h$arms, ref_lazy_dp_ts(h, Inf, 2))
})

test_that("the envelope of a Beta tail: mass above the tail's, draws with the tail's distribution", {
  for (par in list(c(3, 9, 0.5), c(120, 80, 0.66), c(1, 30, 0.1), c(2000.5, 700.25, 0.765))) {
    mass <- .Call(C_sample, "beta_tail_mass", 1, par, 1)
    tail <- pbeta(par[3], par[1], par[2], lower.tail = FALSE)
    # f(c) / rate, with f from R
    rate <- (par[2] - 1) / (1 - par[3]) - (par[1] - 1) / par[3]
    expect_equal(mass, dbeta(par[3], par[1], par[2]) / rate, tolerance = 1e-10)
    expect_gt(mass, tail)
    x <- .Call(C_sample, "beta_tail", 1e5, par, 2)
    share <- tail / mass
    expect_lt(abs(mean(x > 0) - share), 4 * sqrt(share * (1 - share) / 1e5))
    cdf <- function(q) 1 - pbeta(q, par[1], par[2], lower.tail = FALSE) / tail
    expect_gt(ks.test(x[x > 0], cdf)$p.value, 1e-3)
  }
  # Not far enough out
  expect_equal(.Call(C_sample, "beta_tail_mass", 1, c(9, 3, 0.5), 1), Inf)
  expect_equal(.Call(C_sample, "beta_tail_mass", 1, c(5, 1, 0.9), 1), Inf)
})

#' The chance of each of some Beta variates to be the largest: the trapezoidal rule on log(x / (1 - x)),
#' where densities vanish at both ends. For means between 0.2 and 0.8 and a + b above 2000.
ref_largest <- function(a, b) {
  y <- seq(-2, 2, length.out = 801)
  x <- stats::plogis(y)
  below <- mapply(function(a, b) stats::pbeta(x, a, b), a, b)
  density <- mapply(function(a, b) stats::dbeta(x, a, b) * x * stats::plogis(-y), a, b)
  vapply(seq_along(a), function(i) {
    others <- Reduce(`*`, lapply(seq_along(a)[-i], function(j) below[, j]))
    sum(density[, i] * others) * diff(y[1:2])
  }, 0)
}

test_that("the short cut of Lazy-DP-TS has the exact distribution while chances drift", {
  # All that the policy knows is forced: three arms whose last batches have 4096, 4096 and 2048 rewards, of which
  # the first leads; every tenth round is a candidate. No batch is complete in the rounds that follow, so the
  # pulls of an arm are a sum of independent coins.
  size <- c(4096, 4096, 2048)
  pulled <- rep(1:3, 2 * size - 1)
  begin <- length(pulled)
  rounds <- 1200
  some <- begin + seq(1, rounds, length.out = 9)
  for (policy in list(policy_lazy_dp_ts(0.1, exp(1)), policy_lazy_gaussian_ts(0.02, correlation = 0))) {
    shift <- function(t) if (is.null(policy$params$mu)) 3 * log(t) / 0.1 else sqrt(6 * log(t)) / 0.02
    mean <- c(0.572, 0.55, 0.552) - shift(begin) / size
    releases <- unlist(lapply(1:3, function(i) c(numeric(log2(size[i])), mean[i] * size[i])))
    state <- run_script(policy, 3, pulled, numeric(begin), begin + rounds, forced = releases)$state
    chance <- vapply(some, function(t) {
      s <- mean + shift(t) / size
      ref_largest(s * size + 1, (1 - s) * size + 1)
    }, numeric(3))
    expect_equal(colSums(chance), rep(1, 9), tolerance = 1e-9)
    n <- .Call(C_skip_from, kernel(policy, begin + rounds), state, begin, c(0, 1, 0), rounds, 1200, 3)
    expect_equal(.Call(C_read_skip, attr(n, "state"), 3)$leader, 0)
    for (arm in 2:3) {
      exact <- 1
      for (p in stats::spline(some, chance[arm, ], xout = begin + seq_len(rounds))$y) {
        exact <- c(exact * (1 - p), 0) + c(0, exact * p)
      }
      expect_distribution(n[arm, ], 0, exact)
    }
    # The chances of the first round, kept, would be seen.
    pulls <- sum(0:rounds * exact)
    expect_gt((pulls - rounds * chance[3, 1]) / sqrt(pulls / 1200), 5)
  }
})

test_that("the bounds of a block, and the chances of groups, are those of posteriors that drift", {
  # Of three arms, of which one leads, and of 66; all that the policy knows is forced.
  for (few in c(TRUE, FALSE)) {
    batches <- if (few) c(9, 7, 8) else rep(c(5, 4, 6), 22)
    mean <- if (few) c(0.75, 0.45, 0.55) else seq(0.2, 0.7, length.out = 66)
    size <- 2^(batches - 1)
    pulled <- rep(seq_along(size), 2 * size - 1)
    releases <- unlist(Map(function(size, mean) c(numeric(log2(size)), mean * size), size, mean))
    begin <- length(pulled)
    for (policy in list(policy_lazy_dp_ts(5, exp(1)), policy_lazy_gaussian_ts(2, correlation = 0))) {
      shift <- function(t) if (is.null(policy$params$mu)) 3 * log(t) / 5 else sqrt(6 * log(t)) / 2
      state <- run_script(policy, length(size), pulled, numeric(begin), begin + 9, forced = releases)$state
      n <- .Call(C_skip_from, kernel(policy, begin + 9), state, begin, 0 * size, 1, 1, 3)
      now <- .Call(C_read_skip, attr(n, "state"), length(size))
      at <- function(drift) {
        m <- pmin(mean + drift / size, 1)
        list(a = m * size + 1, b = (1 - m) * size + 1)
      }
      if (few) {
        # f(level) / rate, the envelope's mass, for the leader at the begin and for the others at the end
        mass <- function(a, b, x) stats::dbeta(x, a, b) / ((b - 1) / (1 - x) - (a - 1) / x)
        from <- at(now$begin)
        to <- at(now$drift)
        expect_equal(now$leader, 0)
        expect_equal(now$begin, shift(begin + 1))
        expect_gt(now$drift, now$begin * (1 + 1e-6))
        expect_equal(-expm1(-now$own) / mass(from$b[1], from$a[1], 1 - now$level), 1, tolerance = 1e-9)
        expect_equal(-expm1(-now$bound[-1]) / mass(to$a, to$b, now$level)[-1], c(1, 1), tolerance = 1e-9)
      } else {
        end <- at(now$groups_drift)
        expect_equal(now$open, 1)
        expect_equal(now$groups_drift, shift(begin + 1 + (begin + 1) %/% 32))
        above <- stats::pbeta(-expm1(-now$groups_level), end$a, end$b, lower.tail = FALSE)
        expect_equal(now$chance / above, rep(1, 66), tolerance = 1e-9)
      }
    }
  }
})

test_that("the short cut of Lazy-DP-TS has the distribution of the plain loop", {
  # Between two releases its distribution is exact, above: here batches fill, and leaders change.
  expect_skip_exact(arms_bernoulli(c(0.9, 0.5, 0.2)), policy_lazy_dp_ts(2), 800, c(100, 400, 800), 2000, 700)
  # coins for rewards inside (0, 1)
  expect_skip_exact(arms_truncexp(c(0.1, 8)), policy_lazy_dp_ts(5), 600, c(200, 600), 1600, 600)
})

test_that("the short cut of Lazy-DP-TS has the distribution of the plain loop, at length", {
  skip_unless_extended()
  expect_skip_exact(five_arms(), policy_lazy_dp_ts(1), 20000, c(1000, 5000, 20000), 8000, 4000)
  expect_skip_exact(arms_bernoulli(c(0.52, 0.5, 0.1)), policy_lazy_dp_ts(3), 20000,
                    c(2000, 20000), 8000, 4000)
})
