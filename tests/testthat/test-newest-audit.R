# What an attacker sees of the newest policies, by the tools of test-privacy-audit.R, which
# are repeated here in short: an event chosen on one half of the runs, measured on the other.

lower_bound <- function(a, b, level = 1e-4) {
  codes <- sort(unique(c(a, b)))
  half <- function(x, i) tabulate(match(x[seq_along(x) %% 2 == i], codes), length(codes))
  p <- half(a, 0) + 0.5
  q <- half(b, 0) + 0.5
  order <- order(p / q, decreasing = TRUE)
  n <- sum(half(a, 0))
  limit <- function(x, y) {
    log(ifelse(x == 0, 0, qbeta(level, x, n - x + 1)) /
          qbeta(level, y + 1, pmax(n - y, 1e-9), lower.tail = FALSE))
  }
  size <- which.max(limit(cumsum(p[order] - 0.5), cumsum(q[order] - 0.5)))
  event <- order[seq_len(size)]
  limit(sum(half(a, 1)[event]), sum(half(b, 1)[event]))
}
sees <- function(a, b) max(lower_bound(a, b), lower_bound(b, a))

sequences <- function(policy, table, runs, seed) {
  arms <- .Call(C_play_table, policy, table, as.integer(runs), seed)
  drop(crossprod(arms - 1, ncol(table)^(seq_len(nrow(table)) - 1)))
}

test_that("no pure policy leaks more than its epsilon, and the attack sees part of it", {
  a <- cbind(rep(0, 8), 1)
  b <- a
  b[1, ] <- c(1, 0)
  policies <- list(policy_adap_ucb(1), policy_adap_klucb(1), policy_dp_klucb(1),
                   policy_dp_imed(1), policy_dp_imed(1, 1.5, 1, "variance", "tail"),
                   policy_dp_ucb_bound(1))
  found <- vapply(policies, function(policy) {
    sees(sequences(policy, a, 1e5, 1), sequences(policy, b, 1e5, 2))
  }, 0)
  expect_true(all(found < 1))
  expect_gt(max(found), 0.4)
})

test_that("no Gaussian policy leaks more than its mu", {
  a <- cbind(rep(0, 6), 1)
  b <- a
  b[1, ] <- c(1, 0)
  policies <- list(policy_adac_ucb(1), policy_gaussian_imed(1, 1.5, 1),
                   policy_gaussian_imed(1, 1.5, 1, "variance", "tail"),
                   policy_lazy_gaussian_ts(1))
  n <- 1e5
  for (policy in policies) {
    x <- sequences(policy, a, n, 1)
    y <- sequences(policy, b, n, 2)
    # Total variation over the sequences that were more frequent in one half, measured in
    # the other; mu-GDP allows gdp_delta(mu, 0) = 2 Phi(mu / 2) - 1.
    codes <- unique(c(x, y))
    odd <- seq_len(n) %% 2 == 1
    f <- function(v, which) tabulate(match(v[which], codes), length(codes)) / (n / 2)
    event <- f(x, odd) > f(y, odd)
    gap <- sum(f(x, !odd)[event]) - sum(f(y, !odd)[event])
    se <- sqrt(2 * 0.25 / (n / 2))
    expect_lt(gap, gdp_delta(1, 0) + 4 * se)
  }
})

test_that("broken copies are caught: noise of half the scale, noise drawn anew", {
  withr::local_seed(1)
  n <- 1e5
  # Equal first batches of one: the policies pull the arm of the larger noisy reward.
  pick <- function(x1, x2, scale) as.numeric(x1 + rlaplace(n, scale) < x2 + rlaplace(n, scale))
  expect_lt(sees(pick(0, 1, 1), pick(1, 0, 1)), 1)
  expect_gt(sees(pick(0, 1, 0.5), pick(1, 0, 0.5)), 1)
  # A cumulative sum that gets fresh noise on all its rewards at every batch (and not on the
  # new ones alone): ten looks at one reward add up. A threshold stands for the index.
  looks <- function(x, fresh) {
    noisy <- vapply(1:10, function(i) {
      if (fresh || i == 1) first <<- x + rlaplace(n, 1)
      first > 0.5
    }, logical(n))
    rowSums(noisy)
  }
  first <- 0
  expect_lt(sees(looks(0, FALSE), looks(1, FALSE)), 1.05)
  expect_gt(sees(looks(0, TRUE), looks(1, TRUE)), 1.5)
})
