# Draws against distributions. Seeds are fixed, so a test that passes once passes always; levels are
# those of a test at 1e-4 a piece.

expect_ks <- function(x, cdf) {
  x <- sort(x, method = "quick")
  n <- length(x)
  # At 2e4 of the values at most; between two of them the distance is larger by 1 / n a value, at most.
  step <- ceiling(n / 2e4)
  at <- unique(c(seq(1, n, by = step), n))
  d <- max(abs(cdf(x[at]) - (at - 0.5) / n)) + (step - 0.5) / n
  # 2.23 is the 1 - 1e-4 quantile of Kolmogorov's distribution: 2 exp(-2 x^2) = 1e-4.
  testthat::expect_lt(d * sqrt(n), 2.23)
}

#' Counts of whole numbers against a probability mass function, cells of at least 20
expect_chisq <- function(x, pmf, support) {
  expected <- length(x) * pmf(support)
  cell <- cut_cells(expected)
  observed <- tabulate(match(x, support), length(support))
  expect_equal(sum(observed), length(x)) # nothing outside the support
  o <- tapply(observed, cell, sum)
  e <- tapply(expected, cell, sum)
  stat <- sum((o - e)^2 / e)
  testthat::expect_gt(stats::pchisq(stat, length(e) - 1, lower.tail = FALSE), 1e-4)
}

#' Whole numbers less `from` against chances of 0, 1, ...: by all cells and by the mean, which notices a shift with a third of the runs
expect_distribution <- function(x, from, probability) {
  value <- seq_along(probability) - 1
  expect_chisq(x - from, function(i) probability[i + 1], value)
  mean <- sum(value * probability)
  se <- sqrt(sum((value - mean)^2 * probability) / length(x))
  testthat::expect_lt(abs(mean(x - from) - mean), 3.9 * se) # 1e-4
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

#' Counts beyond a cut against a Binomial, `level` with half on each side. (binom.test() takes seconds where
#' n is in the millions.)
expect_tail_count <- function(count, n, p, level = 1e-4) {
  below <- stats::pbinom(count, n, p)
  above <- stats::pbinom(count - 1, n, p, lower.tail = FALSE)
  testthat::expect_gt(2 * min(below, above), level)
}

# ---- two samples, and exact distributions of histories ------------------------------------

# Do two samples have one distribution? Chi-squared test of homogeneity on bins of about equal
# weight (whole values where there are few of them). -> p-value
same_distribution <- function(x, y, bins = 20) {
  cuts <- unique(stats::quantile(c(x, y), seq(0, 1, length.out = bins + 1), type = 1))
  if (length(cuts) == 1) return(1)
  count <- function(x) tabulate(findInterval(x, cuts, rightmost.closed = length(cuts) > 2), length(cuts))
  counts <- cbind(count(x), count(y))
  counts <- counts[rowSums(counts) > 0, , drop = FALSE]
  if (nrow(counts) == 1) return(1)
  suppressWarnings(stats::chisq.test(counts)$p.value)
}

#' The smallest p-value, times their number, of Kolmogorov-Smirnov and Wilcoxon tests of two lists of samples
#' (ties make both conservative or are corrected for)
smallest_p <- function(x, y) {
  p <- mapply(function(a, b) {
    if (all(c(a, b) == a[1])) return(c(1, 1))
    c(suppressWarnings(stats::ks.test(a, b)$p.value), stats::wilcox.test(a, b, exact = FALSE)$p.value)
  }, x, y)
  min(p, na.rm = TRUE) * length(p)
}

# A policy's short cut plays the distribution of the plain loop: pulls of every arm, curves of regret
# and of reward at the recorded rounds. Bonferroni over the comparisons: at most 1e-3 of
# false alarms a call, and the seeds are fixed.
expect_skip_exact <- function(arms, policy, horizon, record, runs, plain_runs = runs) {
  play <- function(engine, runs, seed) {
    withr::local_options(dpts.engine = engine)
    dpts_simulate(arms, policy, horizon, runs = runs, record = record, seed = seed,
                  progress = FALSE)
  }
  a <- play("auto", runs, 11)
  b <- play("plain", plain_runs, 12)
  since <- c(0, record)
  # regret so far, regret since the last recorded round, reward so far
  p <- unlist(lapply(seq_along(record), function(i) {
    at <- function(sim, what, t) if (t == 0) 0 else sim[[what]][sim$t == t]
    gain <- function(sim) at(sim, "regret", record[i]) - at(sim, "regret", since[i])
    c(same_distribution(at(a, "regret", record[i]), at(b, "regret", record[i])),
      if (i > 1) same_distribution(gain(a), gain(b)),
      same_distribution(at(a, "reward", record[i]), at(b, "reward", record[i])))
  }))
  pulls <- lapply(list(a, b), function(sim) do.call(cbind, runs_in(sim)$pulls)) # a row an arm, a column a run
  p <- c(p, vapply(seq_len(n_arms(arms)), function(i) same_distribution(pulls[[1]][i, ], pulls[[2]][i, ]), 0))
  testthat::expect_gt(min(p) * length(p), 1e-3)
  # Every recorded curve is a path: pulls add up, rewards are within reach.
  testthat::expect_true(all(colSums(pulls[[1]]) == horizon))
  testthat::expect_true(all(a$reward <= a$t & a$reward >= 0))
  invisible(p)
}

# A Bernoulli policy's choices on forced histories, against the distribution that an R translation
# draws: counts over arms, chi-squared. draw(n) -> n arms.
expect_same_choices <- function(policy, k, rewards, arms, draw, runs = 3000) {
  rounds <- length(arms)
  script <- scripted(policy, k, c(arms, NA), c(rewards, 0), max_ledger = 10 * rounds)
  chosen <- vapply(seq_len(runs), function(seed) script(seed)$arm[rounds + 1], 0)
  # Beta draws of bad parameters are NaN and choose no arm at all.
  testthat::expect_true(all(chosen %in% seq_len(k)))
  other <- withr::with_seed(5, draw(10 * runs))
  counts <- rbind(tabulate(chosen, k), tabulate(other, k))
  p <- suppressWarnings(stats::chisq.test(counts[, colSums(counts) > 0])$p.value)
  testthat::expect_gt(p, 1e-3)
  invisible(p)
}

rlaplace <- function(n, scale) scale * rexp(n) * sample(c(-1, 1), n, TRUE)

# Arm of the largest column, row by row
largest <- function(theta) max.col(theta, "first")

#' The distribution of the pulls of arm 2 and of the total reward after `rounds` more rounds, for
#' two Bernoulli arms, by a forward sum over all histories: an array of the chance of (n2,
#' S1, S2), whatever the order in which they came about. `win(S1, n1, S2, n2)`
#' is the chance that arm 2 is pulled.
exact_distribution <- function(means, b, rounds, win) {
  # one matrix of (S1, S2) for each number of pulls of arm 2 past b
  chances <- list(outer(dbinom(0:b, b, means[1]), dbinom(0:b, b, means[2])))
  for (t in seq_len(rounds)) {
    new <- rep(list(0), t + 1)
    for (i in seq_len(t)) {
      m <- chances[[i]]
      p2 <- win(row(m) - 1, b + t - i, col(m) - 1, b + i - 1)
      to1 <- m * (1 - p2)
      to2 <- m * p2
      new[[i]] <- new[[i]] + (1 - means[1]) * rbind(to1, 0) + means[1] * rbind(0, to1)
      new[[i + 1]] <- new[[i + 1]] + (1 - means[2]) * cbind(to2, 0) + means[2] * cbind(0, to2)
    }
    chances <- new
  }
  reward <- vapply(chances, function(m) rowsum(c(m), c(row(m) + col(m)))[, 1], numeric(2 * b + rounds + 1))
  list(pulls = vapply(chances, sum, 0), reward = rowSums(reward))
}

beats_gaussian <- function(c) {
  function(s1, n1, s2, n2) {
    gap <- s1 / (n1 + 1) - s2 / (n2 + 1)
    pnorm(-gap / sqrt(c / (n1 + 1) + c / (n2 + 1)))
  }
}

# The distribution of the pulls of arm 2 by Gaussian Thompson sampling on two Bernoulli arms, b
# pre-pulls each and then `rounds` rounds: a forward sum over all histories
exact_distribution_of_pulls <- function(means, b, rounds, c) {
  exact_distribution(means, b, rounds, beats_gaussian(c))$pulls
}
