# Draws against laws. Seeds are fixed, so a test that passes once passes always; levels are
# those of a test at 1e-4 a piece.

expect_ks <- function(x, cdf) {
  x <- sort(x)
  n <- length(x)
  p <- cdf(x)
  d <- max(abs(p - (seq_len(n) - 0.5) / n)) + 0.5 / n
  # 2.23 is the 1 - 1e-4 quantile of Kolmogorov's law: 2 exp(-2 x^2) = 1e-4.
  testthat::expect_lt(d * sqrt(n), 2.23)
}

#' Counts of whole numbers against a probability mass function, cells of at least 20
expect_chisq <- function(x, pmf, support) {
  expected <- length(x) * pmf(support)
  cell <- cut_cells(expected)
  observed <- tabulate(match(x, support), length(support))
  testthat::expect_equal(sum(observed), length(x)) # nothing outside the support
  o <- tapply(observed, cell, sum)
  e <- tapply(expected, cell, sum)
  stat <- sum((o - e)^2 / e)
  testthat::expect_gt(stats::pchisq(stat, length(e) - 1, lower.tail = FALSE), 1e-4)
}

cut_cells <- function(expected) {
  cell <- integer(length(expected))
  at <- 1L
  sum <- 0
  for (i in seq_along(expected)) {
    cell[i] <- at
    sum <- sum + expected[i]
    if (sum >= 20) {
      at <- at + 1L
      sum <- 0
    }
  }
  if (at > 1L) cell[cell == at] <- at - 1L # what is left joins the last full cell
  cell
}

#' Counts beyond a cut against a Binomial, two-sided at 1e-4
expect_tail_count <- function(count, n, p) {
  testthat::expect_gt(stats::binom.test(count, n, p)$p.value, 1e-4)
}
