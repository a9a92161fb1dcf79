# Exact noise: integer arithmetic on bits of the operating system.

skip_on_cran() # takes seconds

# These draws have no seed: a limit of 1e-10 on p-values keeps false alarms away.

exact_tree <- function(kind, m, e, depth, most = 40L) {
  .Call(dpts:::C_exact_tree, kind, c(m, e), as.integer(depth), most)
}
exact_draws <- function(kind, n, m, e) .Call(dpts:::C_exact_noise, kind, rep(0, n), c(m, e))

# P(X <= k)
laplace_cdf <- function(k, rate) {
  ifelse(k < 0, exp(k * rate), 1 + exp(-rate) - exp(-(k + 1) * rate)) / (1 + exp(-rate))
}
normal_cdf <- function(k, rate) stats::pnorm((k + 0.5) * rate)

# 200 bins of about equal weight, the same share of the line at every scale
chi_square <- function(x, cdf, rate) {
  edges <- unique(round(stats::qnorm(seq_len(199) / 200) / rate))
  edges <- unique(c(edges, round(c(-8, -5, 5, 8) / rate)))
  edges <- sort(edges)
  expected <- diff(c(0, cdf(edges, rate), 1)) * length(x)
  observed <- tabulate(findInterval(x, edges, left.open = TRUE) + 1, length(edges) + 1)
  keep <- expected > 5
  stats::pchisq(sum(((observed - expected)^2 / expected)[keep]), sum(keep) - 1, lower.tail = FALSE)
}

# A continuous distribution between grid points, for ks.test()
jitter_grid <- function(x) x + stats::runif(length(x), -0.5, 0.5) * 2^-20

test_that("the coin exp(-u / 2^e) has exactly its chance, by its decision tree", {
  for (ratio in list(c(1, 0), c(1, 1), c(3, 2), c(13, 4), c(0, 0))) {
    tree <- exact_tree("exp", ratio[1], ratio[2], if (ratio[1] == 13) 27 else 26, 1L)
    truth <- exp(-ratio[1] / 2^ratio[2])
    # Every chance is a sum of powers of 2 above 2^-30, so doubles add them exactly.
    expect_equal(sum(tree$chance) + tree$undecided, 1, tolerance = 0)
    expect_lt(tree$undecided, 1e-3)
    expect_gte(truth, tree$chance[3])
    expect_lte(truth, tree$chance[3] + tree$undecided)
  }
})

test_that("neighbouring chances of the discrete Laplace sampler have the ratio exp(-m / 2^e)", {
  # A pass draws e bits u, tosses exp(-u / t), then exp(-1) until it shows 0 (v times 1), and
  # a sign. Every path to k has the chance 2^-(e + 1) (1 - exp(-1)) exp(-x), where x, the sum of
  # its coins' exponents, is a multiple of 2^-e. If those of k are {m |k|, ..., m |k| + m - 1} / t,
  # then P(k + 1) = exp(-m / t) P(k) is an identity.
  for (rate in list(c(1, 0), c(1, 2), c(3, 1), c(3, 3), c(5, 2), c(7, 0))) {
    m <- rate[1]
    e <- rate[2]
    paths <- expand.grid(u = 0:(2^e - 1), negative = 0:1, v = 0:ceiling(4 * m / 2^e))
    pass <- t(mapply(function(u, negative, v) {
      .Call(dpts:::C_exact_path, rate, 2 * u + negative, as.integer(e + 1),
            c(1L, rep(1L, v), 0L))
    }, paths$u, paths$negative, paths$v))
    colnames(pass) <- c("accepted", "k", "bits", "coins", "exponent")
    expect_true(all(pass[, "bits"] == e + 1))
    expect_true(all(pass[, "coins"] == paths$v + 2))
    seen <- unname(pass[pass[, "accepted"] == 1, ])
    for (k in -3:3) {
      x <- sort(seen[seen[, 2] == k, 5]) * 2^e
      expect_equal(x, m * abs(k) + seq_len(m) - 1, tolerance = 0)
    }
    # One zero only, and a first coin of 0 ends the pass
    expect_true(all(pass[pass[, "accepted"] == 0, "k"] == 0))
    none <- .Call(dpts:::C_exact_path, rate, 0, as.integer(e + 1), 0L)
    expect_equal(none[1], 0)
  }
})

test_that("whole passes agree with their distributions as far as their trees are walked", {
  for (rate in list(c(1, 0), c(3, 2), c(5, 1))) {
    ratio <- rate[1] / 2^rate[2]
    depth <- if (rate[1] == 3) 19 else 18
    laplace <- exact_tree("laplace", rate[1], rate[2], depth)
    at <- function(tree, k) tree$chance[tree$k == k]
    for (k in 0:2) {
      expect_gte(exp(-ratio), at(laplace, k + 1) / (at(laplace, k) + laplace$undecided))
      expect_lte(exp(-ratio), (at(laplace, k + 1) + laplace$undecided) / at(laplace, k))
      expect_identical(at(laplace, k), at(laplace, -k))
    }
    expect_lt(laplace$undecided, 0.05)
    normal <- exact_tree("normal", rate[1], rate[2], depth)
    truth <- diff(normal_cdf(-1:3, ratio))
    for (k in 0:2) {
      expect_gte(truth[k + 2] / truth[k + 1], at(normal, k + 1) / (at(normal, k) + normal$undecided))
      expect_lte(truth[k + 2] / truth[k + 1], (at(normal, k + 1) + normal$undecided) / at(normal, k))
      expect_identical(at(normal, k), at(normal, -k))
    }
  }
})

test_that("draws have their distribution and tails, at scales from 1 to 1e6", {
  n <- if (extended()) 1e6 else 1e5
  # m / 2^e: scales 1, 8 / 3, 1000.0 and 1e6, with 24 bits
  for (rate in list(c(1, 0), c(3, 3), c(8388608 + 1, 33), c(8796093, 43))) {
    ratio <- rate[1] / 2^rate[2]
    x <- exact_draws("laplace", n, rate[1], rate[2])
    expect_gt(chi_square(x, laplace_cdf, ratio), 1e-10)
    # The tail beyond 8 scales: a binomial count
    cut <- ceiling(8 / ratio)
    tail <- 2 * exp(-(cut + 1) * ratio) / (1 + exp(-ratio))
    expect_tail_count(sum(abs(x) > cut), n, tail, 1e-10)
    z <- exact_draws("normal", n, rate[1], rate[2])
    expect_gt(chi_square(z, normal_cdf, ratio), 1e-10)
    cut <- ceiling(3.5 / ratio)
    tail <- 2 * stats::pnorm(-(cut + 0.5) * ratio)
    expect_tail_count(sum(abs(z) > cut), n, tail, 1e-10)
    # The lowest bits are as good as the others: parity at large scales is a fair coin.
    if (ratio < 0.01) {
      expect_tail_count(sum(x %% 2), n, 0.5, 1e-10)
      expect_tail_count(sum(z %% 2), n, 0.5, 1e-10)
    }
  }
})

test_that("the rate is the largest ratio of a small integer and a power of 2 that keeps the promise", {
  rate <- function(numer, denom) .Call(dpts:::C_exact_rate, numer, denom)
  expect_equal(rate(1, 1), c(1, 0))
  expect_equal(rate(3, 2^20), c(3, 20))
  x <- withr::with_seed(1, c(10^runif(200, -6, 6), 0.1, 1 / 3, 0.5, 1 - 2^-53, 1 + 2^-52))
  for (denom in c(1, 3, 2^20, 1e6 + 1)) {
    r <- vapply(x, rate, numeric(2), denom)
    value <- r[1, ] / 2^r[2, ]
    expect_true(all(r[1, ] < 2^24))
    expect_true(all(value > x / denom * (1 - 2^-22)))
    # m denom has at most 45 bits here: both sides are exact.
    expect_true(all(r[1, ] * denom <= x * 2^r[2, ]))
  }
  # Quotients that are rounded up to a whole number: m denom in two exact parts
  m <- withr::with_seed(2, 2^23 + 2 * floor(runif(400) * 2^22) + 1)
  denom <- withr::with_seed(3, 2^52 + floor(runif(400) * 2^52))
  low <- denom %% 2^26
  r <- mapply(rate, m * denom / 2^9, denom)
  over <- (r[1, ] * (denom - low) - m * denom / 2^9 * 2^r[2, ]) + r[1, ] * low
  expect_true(all(over <= 0))
  expect_gt(sum(r[1, ] != m), 20) # there were some
  expect_null(rate(1e-20, 2^20))
  expect_null(rate(0, 1))
  expect_null(rate(NaN, 1))
  expect_null(rate(Inf, 1))
})

test_that("exact mechanisms release on the grid, and say so", {
  x <- mechanism_laplace(c(a = 3, b = -2), epsilon = 0.5, exact = TRUE)
  expect_named(x, c("a", "b"))
  expect_equal(as.numeric(x) * 2^20, round(as.numeric(x) * 2^20), tolerance = 0)
  expect_output(print(x), "discrete Laplace noise of scale 2; guarantee: 0.5-DP")
  expect_output(print(mechanism_gaussian(1, mu = 2, sensitivity = 3, exact = TRUE, grid = 1)),
                "rounded Gaussian noise of scale 1.5; guarantee: 2-GDP")
  noise <- as.numeric(mechanism_laplace(rep(5, 1e5), epsilon = 1, exact = TRUE)) - 5
  expect_gt(ks.test(jitter_grid(noise), function(z) ifelse(z < 0, exp(z) / 2, 1 - exp(-z) / 2))$p.value, 1e-10)
  noise <- as.numeric(mechanism_gaussian(rep(5, 1e5), mu = 0.25, exact = TRUE)) - 5
  expect_gt(ks.test(jitter_grid(noise), "pnorm", 0, 4)$p.value, 1e-10)
  expect_equal(as.numeric(mechanism_laplace(1:3, epsilon = Inf, exact = TRUE)), 1:3)
  # Two calls never agree, and R's generator is not used.
  set.seed(1)
  before <- .Random.seed
  a <- mechanism_laplace(rep(0, 20), 1, exact = TRUE)
  expect_identical(.Random.seed, before)
  expect_false(identical(a, mechanism_laplace(rep(0, 20), 1, exact = TRUE)))
})

test_that("exact mechanisms refuse what they cannot do exactly", {
  expect_error(mechanism_laplace(0.3, 1, exact = TRUE), "`value` must be multiples of the grid",
               class = "dpts_error_input")
  expect_error(mechanism_laplace(1, 1, sensitivity = 0.3, exact = TRUE), "`sensitivity`",
               class = "dpts_error_input")
  expect_error(mechanism_laplace(1, 1, exact = TRUE, seed = 1), "`seed`",
               class = "dpts_error_input")
  expect_error(mechanism_laplace(1, 1, exact = TRUE, grid = 0.3), "power of 2",
               class = "dpts_error_input")
  expect_error(mechanism_laplace(1, 1e-18, exact = TRUE), "`epsilon` must be a number from 1e-06", class = "dpts_error_input")
  expect_error(mechanism_laplace(2^40, 1, exact = TRUE), "below", class = "dpts_error_input")
  expect_error(mechanism_laplace(1, 1, exact = NA), "`exact`", class = "dpts_error_input")
})

test_that("a sum of rewards is released with exact noise, or not at all", {
  release <- function(kind, sum, scale) .Call(dpts:::C_exact_release, kind, sum, scale)
  x <- vapply(1:2e4, function(i) release("laplace", 7.25, 2), 0) - 7.25
  expect_gt(ks.test(jitter_grid(x), function(z) ifelse(z < 0, exp(z / 2) / 2, 1 - exp(-z / 2) / 2))$p.value,
            1e-10)
  x <- vapply(1:2e4, function(i) release("normal", 7.25, 2), 0)
  expect_gt(ks.test(jitter_grid(x), "pnorm", 7.25, 2)$p.value, 1e-10)
  expect_true(all(x * 2^20 == round(x * 2^20)))
  # The status, an integer: no scale, a bad one, a sum that is not on the grid
  for (scale in c(0, -1, NaN, Inf, 2^45)) expect_identical(release("laplace", 1, scale), 2L)
  for (sum in c(0.1, NaN, Inf, 2^40)) expect_identical(release("laplace", sum, 1), 3L)
})

test_that("a live moving average's noise covers the rounding of both neighbours", {
  # the numbers that src/noise_exact_release.h states, from its code's constants
  read <- function(name, file) {
    path <- file.path("../../src", file)
    skip_if_not(file.exists(path))
    eval(parse(text = sub(sprintf("^#define %s +", name), "", grep(paste("define", name), readLines(path), value = TRUE))))
  }
  sd <- read("EXACT_AVERAGE_SD", "noise_exact_release.h")
  step <- 1 / read("EXACT_GRID", "noise_exact_release.h")
  c <- 0.99
  off <- step + 2 * 2^-52 * 2^26 / (1 - c)
  expect_lt(off, 2^-17.95)
  total <- sqrt((1 + c) / (1 - c))
  expect_lt(total, 14.2)
  squares <- 1 + 2 * off * total + 2^20 * off^2
  expect_lt(squares, 1 + 2^-12.9)
  expect_lt(squares, sd^2)
  expect_identical(.Call(dpts:::C_exact_pair, 2, 0)[1], 2 * sd)
})

test_that("live Laplace noise of a sum and its squares covers the grid to which squares are rounded up", {
  for (weight in c(1, 0.25)) {
    expect_identical(.Call(dpts:::C_exact_pair, 2, weight), 2 * (1 + 2^-20) * c(1, 1 / weight))
  }
  # A reward of the grid moves both together by no more: by enumeration next to the corners, and of many others.
  near <- c(0:100, 2^19 + -100:100, 2^20 - 0:100, withr::with_seed(1, sample(2^20, 300))) / 2^20
  square <- function(x) ceiling((x - 0.5)^2 * 2^20) / 2^20
  moved <- outer(near, near, function(x, y) abs(x - y) + abs(square(x) - square(y)))
  expect_lte(max(moved), 1 + 2^-20)
})
