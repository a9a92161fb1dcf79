# Samplers against their exact distributions. Draws come from fixed seeds, so a test that passes
# once passes always; levels are those of a test at 1e-4 a piece.

skip_on_cran() # takes seconds

draw <- function(kind, n, par = numeric(), seed = 1) {
  .Call(C_sample, kind, n, as.double(par), seed)
}

test_that("the generator is xoshiro256++", {
  # First words from the state 1, 2, 3, 4: the reference vector of the Rust crate
  # rand_xoshiro (src/xoshiro256plusplus.rs), generated there by the authors' C code at
  # https://prng.di.unimi.it/xoshiro256plusplus.c. The first two by hand:
  # rotl(1 + 4, 23) + 1 = 5 * 2^23 + 1.
  expect_identical(
    .Call(C_rng_words, c(1, 2, 3, 4), 10L),
    c("41943041", "58720359", "3588806011781223", "3591011842654386",
      "9228616714210784205", "9973669472204895162", "14011001112246962877",
      "12406186145184390807", "15849039046786891736", "10450023813501588000")
  )
})

test_that("a uniform is never 0 and never 1, whatever the word", {
  unit <- function(word) .Call(C_rng_unit, word)
  expect_identical(unit("18446744073709551615"), 1 - 2^-53) # it would round to 1
  expect_identical(unit("18446744073709549567"), 1 - 2^-52) # 2^11 less
  expect_identical(unit("18446744073709547519"), 1 - 2^-52)
  expect_identical(unit("0"), 2^-54)
  expect_identical(unit("9223372036854775808"), 0.5)
})

test_that("seeds, runs and purposes give unrelated streams", {
  first <- function(seed) draw("uniform", 2000, seed = seed)
  for (seed in c(0, 1, 2^31, 2^53 - 1)) {
    expect_lt(abs(cor(first(seed), first(abs(seed - 1)))), 4 / sqrt(2000))
  }
  expect_false(anyDuplicated(vapply(0:999, function(s) first(s)[1], 0)) > 0)
})

test_that("uniforms fill (0, 1) with 53 bits", {
  u <- draw("uniform", 1e6)
  expect_ks(u, punif)
  expect_true(all(u > 0 & u < 1))
  # The last of 53 bits is a fair coin: u = (k + 1/2) 2^-53, with k + 1/2 odd multiples of
  # 1/2 that doubles hold exactly for u < 1/2.
  k <- floor(u[u < 0.5] * 2^53)
  expect_tail_count(sum(k %% 2), length(k), 0.5)
})

test_that("normals and exponentials follow their distributions, tails included", {
  n <- 1e6
  z <- draw("normal", n)
  expect_ks(z, pnorm)
  # Beyond 4 standard deviations 63 of 1e6 are expected; more draws see more.
  z <- draw("normal", 1e7, seed = 2)
  z <- z[abs(z) > 3.5]
  for (cut in c(3.5, 3.6541528853610088, 4, 4.5, 5)) { # the second: the ziggurat's edge
    expect_tail_count(sum(z > cut), 1e7, pnorm(-cut))
    expect_tail_count(sum(z < -cut), 1e7, pnorm(-cut))
  }
  expect_ks(abs(z[z > 3.7]), function(x) 1 - pnorm(-x) / pnorm(-3.7))
  e <- draw("exponential", n)
  expect_ks(e, pexp)
  expect_tail_count(sum(e > 8), n, exp(-8))
  expect_ks(draw("laplace", n, 2), function(x) {
    ifelse(x < 0, 0.5 * exp(x / 2), 1 - 0.5 * exp(-x / 2))
  })
})

test_that("normals above a threshold have theirs, however far out", {
  for (a in c(-8, -1, 0, 0.44, 0.46, 1, 3, 8, 30)) {
    x <- draw("normal_above", 1e5, a)
    expect_true(all(x > a))
    expect_ks(x, function(x) {
      -expm1(pnorm(x, lower.tail = FALSE, log.p = TRUE) -
               pnorm(a, lower.tail = FALSE, log.p = TRUE))
    })
  }
})

test_that("Gamma and Beta variates follow their distributions", {
  for (shape in c(0.01, 0.3, 1, 1.5, 10, 1e4)) {
    expect_ks(draw("gamma", 1e5, shape), function(x) pgamma(x, shape))
  }
  expect_ks(draw("gamma", 2e5, 2.5), function(x) pgamma(x, 2.5))
  for (ab in list(c(1, 1), c(0.5, 0.5), c(0.1, 3), c(2, 5), c(1e4, 300), c(1e6, 2e6))) {
    expect_ks(draw("beta", 1e5, ab), function(x) pbeta(x, ab[1], ab[2]))
  }
  b <- draw("beta", 1e6, c(20, 30))
  expect_ks(b, function(x) pbeta(x, 20, 30))
  # 4 sd above and below the mean: sd = sqrt(0.4 * 0.6 / 51)
  sd <- sqrt(0.4 * 0.6 / 51)
  expect_tail_count(sum(b > 0.4 + 4 * sd), 1e6, pbeta(0.4 + 4 * sd, 20, 30, lower.tail = FALSE))
  expect_tail_count(sum(b < 0.4 - 4 * sd), 1e6, pbeta(0.4 - 4 * sd, 20, 30))
})

test_that("Binomial counts follow their distribution", {
  # Every branch: single coins, gaps, rejection, and the mirror of each.
  cases <- list(c(1, 0.3), c(16, 0.8), c(17, 0.3), c(40, 0.1), c(40, 0.5), c(60, 0.17),
                c(60, 0.9), c(1000, 0.0101), c(1000, 0.5), c(1e6, 1e-6), c(1e6, 1e-4))
  for (case in cases) {
    n <- case[1]
    p <- case[2]
    x <- draw("binomial", 2e5, case)
    support <- seq(max(0, qbinom(1e-12, n, p)), min(n, qbinom(1 - 1e-12, n, p)))
    expect_chisq(x, function(k) dbinom(k, n, p), support)
  }
  # Past where R's own pbinom can be trusted to count, the z-score is normal up to
  # 1 / sqrt(n p q) < 1e-4.
  for (case in list(c(1e9, 0.3), c(1e12, 0.75), c(2^53, 0.5))) {
    x <- draw("binomial", 1e5, case)
    expect_true(all(x == trunc(x)))
    expect_ks((x - case[1] * case[2]) / sqrt(case[1] * case[2] * (1 - case[2])), pnorm)
  }
  # 1e12 trials of chance 1e-12: Poisson of mean 1, up to 1e-12.
  expect_chisq(draw("binomial", 2e5, c(1e12, 1e-12)), function(k) dpois(k, 1), 0:15)
  expect_identical(draw("binomial", 3, c(10, 0)), rep(0, 3))
  expect_identical(draw("binomial", 3, c(10, 1)), rep(10, 3))
  expect_identical(draw("binomial", 3, c(0, 0.5)), rep(0, 3))
})

test_that("hypergeometric counts follow their distribution", {
  # n trials, s successes among them, the first m looked at
  cases <- list(c(10, 4, 5), c(100, 30, 90), c(1000, 15, 500), c(1000, 700, 800),
                c(1e4, 3000, 2500), c(1e4, 30, 9000), c(50, 50, 20), c(50, 0, 20),
                c(1e6, 5e5, 21))
  for (case in cases) {
    n <- case[1]
    s <- case[2]
    m <- case[3]
    x <- draw("hypergeometric", 1e5, case)
    support <- max(0, m + s - n):min(s, m)
    expect_chisq(x, function(k) dhyper(k, s, n - s, m), support)
  }
  case <- c(1e12, 6e11, 1e11)
  x <- draw("hypergeometric", 1e5, case)
  mean <- case[3] * case[2] / case[1]
  sd <- sqrt(mean * (1 - case[2] / case[1]) * (case[1] - case[3]) / (case[1] - 1))
  expect_ks((x - mean) / sd, pnorm)
})

test_that("geometric counts follow their distribution, at tiny chances too", {
  for (p in c(1, 0.9, 0.3, 0.01)) {
    expect_chisq(draw("geometric", 2e5, p), function(k) dgeom(k, p),
                 0:max(1, qgeom(1 - 1e-12, p)))
  }
  # p G is exponential, up to p.
  for (p in c(1e-9, 1e-13, 1e-18)) expect_ks(p * draw("geometric", 1e5, p), pexp)
})

test_that("rewards have the distributions of their arms", {
  rewards <- function(arms, n = 1e5, arm = 1L) .Call(C_draw_rewards, arms, arm, n, 3)
  for (rate in c(-5, -1, 0, 1e-13, 1e-6, 0.1, 1, 10, 50)) {
    x <- rewards(arms_truncexp(c(rate, 1)), if (rate == 0.1) 1e6 else 1e5)
    expect_true(all(x >= 0 & x <= 1))
    expect_ks(x, function(x) if (abs(rate) < 1e-10) x else expm1(-rate * x) / expm1(-rate))
  }
  x <- rewards(arms_truncexp(c(50, 1)), 1e6)
  expect_tail_count(sum(x > 0.2), 1e6, (exp(-10) - exp(-50)) / -expm1(-50))
  expect_ks(rewards(arms_beta(c(3, 2), 2)), function(x) pbeta(x, 3, 2))
  x <- rewards(arms_bernoulli(c(0.3, 0.2)))
  expect_tail_count(sum(x), 1e5, 0.3)
  arms <- arms_discrete(c(0, 0.5, 1), rbind(c(0.2, 0.5, 0.3), c(0.1, 0.1, 0.8)))
  expect_chisq(2 * rewards(arms), function(k) c(0.2, 0.5, 0.3)[k + 1], 0:2)
  expect_chisq(2 * rewards(arms, arm = 2L), function(k) c(0.1, 0.1, 0.8)[k + 1], 0:2)
})
