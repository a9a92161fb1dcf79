# An attacker's view: two neighbouring tables of rewards, many runs each, and the largest
# log-ratio of probabilities of an event that can be vouched for. The event is chosen on one
# half of the runs and measured on the other, with one-sided Clopper-Pearson limits.

skip_on_cran() # takes seconds

epsilon_lower <- function(a, b, level = 1e-4) {
  half <- function(x, first) x[if (first) seq_len(length(x) / 2) else -seq_len(length(x) / 2)]
  one_way <- function(a, b) {
    codes <- sort(unique(c(a, b)))
    count <- function(x, first) tabulate(match(half(x, first), codes), length(codes))
    p <- count(a, TRUE) + 0.5
    q <- count(b, TRUE) + 0.5
    order <- order(p / q, decreasing = TRUE)
    bound <- function(x, y, n, m) {
      lower <- ifelse(x == 0, 0, stats::qbeta(level, x, n - x + 1))
      upper <- stats::qbeta(level, y + 1, pmax(m - y, 1e-9), lower.tail = FALSE)
      log(lower / upper)
    }
    n <- length(half(a, TRUE))
    m <- length(half(b, TRUE))
    best <- which.max(bound(cumsum(count(a, TRUE)[order]), cumsum(count(b, TRUE)[order]), n, m))
    event <- codes[order[seq_len(best)]]
    bound(sum(half(a, FALSE) %in% event), sum(half(b, FALSE) %in% event), n, m)
  }
  max(one_way(a, b), one_way(b, a))
}

test_that("the attack chooses its event on one half, and measures it on the other, at its level", {
  # Told apart without fail in both halves; only in the first; in the second the other way round
  found <- function(a, b) epsilon_lower(rep(a, each = 100), rep(b, each = 100), 0.01)
  expect_equal(found(c(1, 1), c(2, 2)), log(0.01^(1 / 100) / (1 - 0.01^(1 / 100))))
  expect_lt(found(c(1, 1), c(2, 1)), 0)
  expect_lt(found(c(1, 2), c(2, 1)), 0)
})

# Sequences of arms as numbers, for every run on a table
attack <- function(policy, table, runs, seed, last = nrow(table), batch = 5e4) {
  unlist(lapply(seq_len(ceiling(runs / batch)), function(i) {
    arms <- play_stream(policy, table, seq_len(min(batch, runs)), seed + i)
    arms <- utils::tail(arms, last)
    drop(crossprod(arms - 1, ncol(table)^(seq_len(last) - 1)))
  }))
}

runs <- if (extended()) 1e6 else 2.5e4

# Arm 1 pays 0, or 1 in the round where it differs; arm 2 pays 1.
neighbours <- function(rounds, differ = 1) {
  a <- cbind(rep(0, rounds), 1)
  b <- a
  b[differ, ] <- c(1, 0) # the whole vector of that round
  list(a, b)
}

test_that("no private policy leaks more than its epsilon", {
  # A huge log_base keeps the optimistic shift from clipping every mean to 1.
  policies <- list(
    lazy_ucb = policy_lazy_ucb(1), lazy_dp_ts = policy_lazy_dp_ts(1, 1e30),
    dp_ts = policy_dp_ts(1, 1e30), mt_ucb = policy_mt_ucb(1, tuned = TRUE, split_budget = FALSE),
    mt_ts = policy_mt_ts(1, tuned = TRUE, warmup = 1, split_budget = FALSE)
  )
  tables <- neighbours(8)
  found <- vapply(policies, function(policy) {
    epsilon_lower(attack(policy, tables[[1]], runs, 1000),
                  attack(policy, tables[[2]], runs, 2000))
  }, 0)
  for (name in names(found)) expect_lt(found[[name]], 1, label = name)
  # The attack is no sham: it sees a good part of what Anytime-Lazy-UCB gives away. After one
  # reward each, arm 1 is next if L1 - L2 > 1 (or > 0 for the neighbour), L Laplace of
  # scale 1: a log-ratio of log(0.5 / (0.75 exp(-1))) = 0.594.
  expect_gt(found[["lazy_ucb"]], 0.5)
})

test_that("DP-SE leaks no more than its epsilon where a reward decides an elimination", {
  # Two arms, beta = 0.99: an epoch of r pulls each; arm 2 goes if its sum is more than
  # r (2 h + 2 c) lower. Sums on either side of 2 below the threshold.
  setting <- dp_se_setting(1, 0.99)
  n <- if (extended()) runs / 4 else 7500
  play <- function(ones, seed) {
    table <- dp_se_table(setting, ones)
    attack(policy_dp_se(1, 0.99), table, n, seed, last = 2, batch = 5e3)
  }
  found <- epsilon_lower(play(setting$threshold - 3, 3000), play(setting$threshold - 2, 4000))
  expect_lt(found, 1)
  # P(L1 - L2 > x) = exp(-x) (1 + x / 2) / 2 at x within (2, 3) and one less
  expect_gt(found, 0.4)
})

test_that("the attack finds broken copies of three policies", {
  withr::local_seed(6)
  lap <- function(scale) rlaplace(runs, scale)
  # Anytime-Lazy-UCB with noise of half the scale: the choice in round 3. (Equal blocks have
  # equal confidence terms, which cancel.) With the right scale it passes.
  lazy_ucb <- function(x1, x2, scale) as.numeric(x1 + lap(scale) < x2 + lap(scale))
  good <- epsilon_lower(lazy_ucb(0, 1, 1), lazy_ucb(1, 0, 1))
  bad <- epsilon_lower(lazy_ucb(0, 1, 1 / 2), lazy_ucb(1, 0, 1 / 2))
  expect_lt(good, 1)
  expect_gt(bad, 1)
  # DP-SE with one draw of noise for all arms (a public implementation does so): it cancels.
  setting <- dp_se_setting(1, 0.99)
  dp_se <- function(ones) {
    shared <- lap(1)
    as.numeric((ones + shared) - (0 + shared) > setting$threshold)
  }
  whole <- ceiling(setting$threshold)
  expect_gt(epsilon_lower(dp_se(whole - 1), dp_se(whole)), 1)
  # Lazy-DP-TS with the exact mean, as line 7 is printed, at epsilon = 0.1: round 3.
  lazy_ts <- function(x1, x2, noise) {
    theta <- function(x) {
      bar <- pmin(pmax(x + noise(), 0) + 3 * log(3, 1e30) / 0.1, 1)
      rbeta(runs, bar + 1, 2 - bar)
    }
    as.numeric(theta(x1) < theta(x2))
  }
  exact <- function() numeric(runs)
  expect_gt(epsilon_lower(lazy_ts(0, 1, exact), lazy_ts(1, 0, exact)), 0.1)
  private <- function() lap(1 / 0.1)
  expect_lt(epsilon_lower(lazy_ts(0, 1, private), lazy_ts(1, 0, private)), 0.1)
})

test_that("noise that is drawn anew in each round would be found", {
  # A tree counter whose nodes forget their noise, read 30 times: the mean of the readings
  # tells 0 from 1. Ours, read as often, gives nothing more than its first reading.
  n <- 2000
  fresh <- function(x) as.numeric(rowMeans(matrix(x + rlaplace(30 * n, 1), n)) > 0.5)
  withr::local_seed(7)
  expect_gt(epsilon_lower(fresh(0), fresh(1)), 1)
  # A tree, too, is read so often that the mean would tell, though its nodes have noise of scale 12.
  n <- 800
  tree <- counter_tree(1, 4095)
  kept <- function(x, seed) {
    vapply(seq_len(n), function(i) mean(counter_add(tree, c(x, rep(0, 4094)), seed = seed + i)$released), 0) > 1.6
  }
  expect_lt(epsilon_lower(as.numeric(kept(0, 0)), as.numeric(kept(1, n))), 1)
})

# ---- the newest policies ------------------------------------------------------------------

test_that("no newest pure policy leaks more than its epsilon, and the attack sees part of it", {
  tables <- neighbours(8)
  policies <- list(policy_adap_ucb(1), policy_adap_klucb(1), policy_dp_klucb(1),
                   policy_dp_imed(1),
                   policy_dp_imed(1, first = 1, index = "likelihood"),
                   policy_dp_ucb_bound(1))
  found <- vapply(policies, function(policy) {
    epsilon_lower(attack(policy, tables[[1]], runs / 2, 10), attack(policy, tables[[2]], runs / 2, 20))
  }, 0)
  expect_true(all(found < 1))
  expect_gt(max(found), 0.4)
})

test_that("no Gaussian policy leaks more than its mu", {
  tables <- neighbours(6)
  policies <- list(policy_adac_ucb(1), policy_gaussian_imed(1, 1.5, 1, correlation = 0),
                   policy_gaussian_imed(1, first = 1),
                   policy_lazy_gaussian_ts(1))
  n <- runs / 2
  for (policy in policies) {
    x <- attack(policy, tables[[1]], n, 10)
    y <- attack(policy, tables[[2]], n, 20)
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

test_that("broken copies of batch policies are caught: noise drawn anew", {
  withr::local_seed(1)
  n <- 2.5e4
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
  expect_lt(epsilon_lower(looks(0, FALSE), looks(1, FALSE)), 1.05)
  expect_gt(epsilon_lower(looks(0, TRUE), looks(1, TRUE)), 1.5)
})
