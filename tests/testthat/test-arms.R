skip_on_cran() # takes seconds

draw <- function(arms, arm, n, seed = 1) .Call(C_draw_rewards, arms, arm, n, seed)

test_that("means are exact", {
  expect_equal(arms_bernoulli(c(0, 0.3, 1))$mean, c(0, 0.3, 1))
  expect_equal(arms_beta(c(1, 3), c(1, 2))$mean, c(0.5, 0.6))
  expect_equal(arms_beta(c(1, 3), c(1, 2))$means, c(0.5, 0.6))
  expect_equal(arms_discrete(c(0, 0.5, 1), rbind(c(0.2, 0.2, 0.6), c(1, 0, 0)))$mean, c(0.7, 0))
  rates <- c(-700, -50, -5, -1, -0.4, -0.06, -0.04, -1e-9, 0, 1e-9, 0.04, 0.06, 0.1, 1, 5, 50, 700)
  # Mean by quadrature of the density.
  reference <- vapply(rates, function(r) {
    f <- function(x) exp(-abs(r) * x)
    up <- min(1, 60 / max(abs(r), 1e-9))
    m <- stats::integrate(function(x) x * f(x), 0, up, rel.tol = 1e-12)$value /
      stats::integrate(f, 0, up, rel.tol = 1e-12)$value
    if (r < 0) 1 - m else m
  }, 0)
  expect_lt(max(abs(arms_truncexp(rates)$mean / reference - 1)), 1e-11)
  # Ou et al. 2024, section 5.2, print these to three digits.
  expect_equal(round(arms_truncexp(c(0.1, 1, 2, 5, 10))$mean, 3),
               c(0.492, 0.418, 0.343, 0.193, 0.1))
})

test_that("rewards follow their distributions", {
  n <- 1e5 # more of them: test-sample.R
  expect_ks(draw(arms_truncexp(c(1, 5)), 2, n), function(x) expm1(-5 * x) / expm1(-5))
  x <- draw(arms_beta(c(1, 0.4), c(1, 3)), 2, n)
  expect_ks(x, function(x) stats::pbeta(x, 0.4, 3))
  p <- c(0.1, 0.25, 0.05, 0.6)
  x <- draw(arms_discrete(c(0, 0.2, 0.7, 1), rbind(rep(0.25, 4), p)), 2, n)
  expect_gt(stats::chisq.test(tabulate(match(x, c(0, 0.2, 0.7, 1)), 4), p = p)$p.value, 1e-4)
  x <- draw(arms_bernoulli(c(0.2, 0.73)), 2, n)
  expect_gt(stats::chisq.test(tabulate(x + 1, 2), p = c(0.27, 0.73))$p.value, 1e-4)
})

test_that("sure things are sure", {
  expect_equal(unique(draw(arms_bernoulli(c(0, 1)), 1, 1000)), 0)
  expect_equal(unique(draw(arms_bernoulli(c(0, 1)), 2, 1000)), 1)
  expect_equal(unique(draw(arms_discrete(0.3, matrix(1)), 1, 1000)), 0.3)
})

test_that("an alias table has the probabilities that it was made from", {
  set.seed(1)
  for (m in c(1, 2, 5, 40)) {
    p <- stats::rexp(m)
    p[sample(m, m %/% 4)] <- 0
    p <- p / sum(p)
    table <- alias_table(p)
    keep <- table[seq_len(m)]
    alias <- table[m + seq_len(m)] + 1
    implied <- vapply(seq_len(m), function(i) {
      (keep[i] + sum((1 - keep)[alias == i])) / m
    }, 0)
    expect_equal(implied, p)
  }
})

test_that("arms print their means", {
  expect_snapshot({
    arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
    arms_truncexp(c(0.1, 1, 2, 5, 10))
    arms_bernoulli(seq(0, 1, 0.1))
  })
})

test_that("bad arms are refused by name", {
  expect_snapshot(error = TRUE, {
    arms_bernoulli("a")
    arms_bernoulli(numeric())
    arms_bernoulli(c(0.5, NA))
    arms_bernoulli(c(0.5, 1.1))
    arms_bernoulli(c(0.5, NaN))
    arms_bernoulli(-0.1)
    arms_truncexp(c(1, Inf))
    arms_beta(0, 1)
    arms_beta(c(1, 2), c(1, 2, 3))
    arms_discrete(c(0, 2), c(0.5, 0.5))
    arms_discrete(c(0, 0), c(0.5, 0.5))
    arms_discrete(c(0, 1), c(0.5, 0.6))
    arms_discrete(c(0, 1), matrix(0.5, 2, 3))
  })
  expect_error(arms_bernoulli(2), class = "dpts_error_input")
})

test_that("some of the arms are arms as one call makes them, and arms are a table", {
  arms <- arms_bernoulli(c(a = 0.7, b = 0.5, c = 0.4))
  expect_identical(arms[c("c", "a")], arms_bernoulli(c(c = 0.4, a = 0.7)))
  expect_identical(arms[-1], arms_bernoulli(c(b = 0.5, c = 0.4)))
  expect_identical(arms_beta(1:3, 2)[2:3], arms_beta(2:3, 2))
  # A name of one shape for all arms is no arm's.
  expect_null(names(arms_beta(1:3, c(flat = 2))))
  expect_identical(names(arms_beta(2, c(a = 1, b = 2))), c("a", "b"))
  own <- arms_custom(function(arm, n) rep(arm / 10, n), c(0.1, 0.2, 0.3))
  mixed <- c(arms, own)
  for (some in list(own[3:2], mixed[c(6, 5)])) {
    sim <- dpts_simulate(some, list(policy_fixed(1), policy_fixed(2)), 10, runs = 1, seed = 1, record = I(10))
    expect_equal(sim$reward, c(3, 2))
    expect_equal(sim$regret, c(0, 1))
  }
  expect_equal(tidy(arms)[1:3], tibble::tibble(arm = c("a", "b", "c"), mean = c(0.7, 0.5, 0.4), gap = c(0, 0.2, 0.3)))
  expect_identical(tidy(own)$best, c(FALSE, FALSE, TRUE))
  expect_error(arms[4], "`i` must be different arms, numbers from 1 to 3 or names", class = "dpts_error_input")
  expect_error(arms_bernoulli(c(0.1, 0.2))[3], "numbers from 1 to 2\\.", class = "dpts_error_input")
  expect_error(arms["d"], "`i`", class = "dpts_error_input")
  names(own) <- c("x", "y", "z")
  expect_identical(tidy(own)$arm, c("x", "y", "z"))
  expect_identical(names(own$gap), c("x", "y", "z"))
  for (bad in list(1:3, c("x", "y"), c("x", "y", NA), c("x", "y", ""), c("x", "y", "x"))) {
    expect_error(names(own) <- bad, "`value` must be NULL or 3 distinct names", class = "dpts_error_input")
  }
  names(own) <- NULL
  expect_null(names(own))
  expect_error(arms[list(1)], "`i`", class = "dpts_error_input")
  expect_error(arms[c(1, 1)], "`i`", class = "dpts_error_input")
  expect_error(arms_walk(c(0.5, 0.5), 0.1)[1], "`x`", class = "dpts_error_input")
})
