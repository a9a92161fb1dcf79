# Privacy is proved here: how many numbers a policy releases, with which noise, and in how
# many of them a reward is. Sources: Hu and Hegde (2022), remarks to Algorithms 1 and 2;
# Sajed and Sheffet (2019); Mishra and Thakurta (2015), Theorems 3 and 7.

forced <- function(n, k = 1, seed = 1) {
  withr::with_seed(seed, list(
    arms = if (k == 1) rep(1, n) else c(seq_len(k), sample.int(k, n - k, TRUE)),
    rewards = rbinom(n, 1, 0.6)
  ))
}

test_that("DP-TS: r + 1 variables of scale 1/(0.5 eps) in C, at most r + 1 of (r + 1)/(0.5 eps) in B", {
  eps <- 0.8
  x <- forced(600)
  out <- trace_policy(policy_dp_ts(eps), 1, x$rewards, x$arms)
  expect_equal(out$released, 1:600) # one number a pull
  log <- abs(out$ledger$scale - 1 / (0.5 * eps)) < 1e-12
  for (n in c(1:20, 62:65, 126:130, 600)) {
    r <- floor(log2(n + 1)) - 1 # remark (a)
    m <- 2^(r + 1) - 1          # rewards in C
    # The releases that renew C are those at 1, 3, 7, ... pulls. (In the first tree the
    # scale (r + 1)/(0.5 eps) is the same, so positions tell them apart.)
    at <- 2^(1:(r + 1)) - 1
    expect_true(all(log[at]))
    expect_length(at, r + 1)
    expect_equal(out$ledger$exact[at], diff(c(0, cumsum(x$rewards)[at])))
    inside <- setdiff(seq_len(n)[seq_len(n) > m], at)
    # Nodes of the tree that make up B at n: one a bit of n - m
    bits <- sum(as.integer(intToBits(n - m)))
    expect_lte(bits, r + 1)
    expect_equal(out$ledger$scale[inside], rep((r + 1) / (0.5 * eps), length(inside)))
  }
})

test_that("Lazy-DP-TS and Anytime-Lazy-UCB: one Lap(1/eps) a block, blocks of 1, 2, 4, ...", {
  for (policy in list(policy_lazy_dp_ts(0.4), policy_lazy_ucb(0.4))) {
    x <- forced(1000)
    out <- trace_policy(policy, 1, x$rewards, x$arms)
    end <- cumsum(2^(0:8)) # 2^(r + 1) - 1 pulls
    expect_equal(out$ledger$round, end)
    expect_equal(out$ledger$scale, rep(1 / 0.4, length(end)))
    expect_equal(out$ledger$exact, diff(c(0, cumsum(x$rewards)[end])))
    expect_true(all(out$ledger$kind == 1))
  }
})

test_that("DP-SE: one Lap(1/eps) on the sum of an arm's epoch, independent across arms", {
  k <- 3
  eps <- 2
  beta <- 0.5
  r <- ceil_rounds(k, 1, eps, beta)
  # Equal rewards: nobody is dropped, so a second epoch follows.
  n <- k * (r + ceil_rounds(k, 2, eps, beta))
  rewards <- rep(c(0, 1), each = k, length.out = n)
  out <- trace_policy(policy_dp_se(eps, beta), k, rewards)
  expect_equal(nrow(out$ledger), 2 * k)
  expect_equal(out$ledger$round, rep(c(k * r, n), each = k))
  # Lap(1 / (eps r)) on a mean of r rewards is Lap(1 / eps) on their sum.
  expect_equal(out$ledger$scale, rep(1 / eps, 2 * k))
  expect_equal(out$ledger$exact, c(tapply(rewards, list(rep(1:k, n / k), rep(1:2, c(k * r, n - k * r))), sum)))
  # Independent: noise differs between arms, and is uncorrelated over seeds.
  noise <- vapply(1:500, function(seed) {
    trace_policy(policy_dp_se(eps, beta), k, rewards[seq_len(k * r)], seed = seed)$ledger$noise
  }, numeric(k))
  cors <- cor(t(noise))[upper.tri(diag(k))]
  expect_lt(max(abs(cors)), 4 / sqrt(500))
})

test_that("an epoch, batch or block that the horizon cuts releases nothing", {
  r <- ceil_rounds(2, 1, 1, 0.5)
  cut <- 2 * r - 1
  x <- rep(1, 2 * r)
  expect_equal(nrow(trace_policy(policy_dp_se(1, 0.5), 2, x[1:cut])$ledger), 0)
  expect_equal(nrow(trace_policy(policy_dp_se(1, 0.5), 2, x)$ledger), 2)
  for (policy in list(policy_lazy_dp_ts(1), policy_lazy_ucb(1))) {
    expect_equal(nrow(trace_policy(policy, 1, rep(1, 14), rep(1, 14))$ledger), 3)
    expect_equal(nrow(trace_policy(policy, 1, rep(1, 15), rep(1, 15))$ledger), 4)
  }
  # Mishra and Thakurta, line 4: m = 192 k ln(T) / (epsilon D^2) pulls each
  horizon <- 4000
  m <- ceiling(192 * 2 * log(horizon) / 5)
  x <- rep(1, 2 * m)
  policy <- policy_mt_ts(5)
  expect_equal(nrow(trace_policy(policy, 2, x[-1], horizon = horizon)$ledger), 0)
  full <- trace_policy(policy, 2, x, horizon = horizon)$ledger
  expect_equal(full$scale, rep(2 * 2 / 5, 2)) # Lap(2 k / (epsilon m)) on the mean of m
  expect_equal(full$exact, c(m, m))
  # Without the split there is no k in the length of a batch or in its noise.
  m <- ceiling(192 * log(horizon) / 5)
  whole <- trace_policy(policy_mt_ts(5, split_budget = FALSE), 2, rep(1, 2 * m),
                        horizon = horizon)$ledger
  expect_equal(whole$scale, rep(2 / 5, 2))
  expect_equal(whole$round, rep(2 * m, 2))
})

test_that("Mishra and Thakurta: one tree node a pull, of as many levels as the horizon has", {
  k <- 2
  n <- 40
  x <- forced(n, k)
  for (split in c(TRUE, FALSE)) {
    out <- trace_policy(policy_mt_ucb(0.5, split_budget = split), k, x$rewards, x$arms)
    levels <- floor(log2(n)) + 1
    eps0 <- 0.5 / if (split) k else 1
    expect_equal(out$ledger$scale, rep(levels / eps0, n))
    # tuned Thompson sampling: `warmup` rewards as one leaf, then one node a pull
    arms <- c(rep(1:2, each = 5), x$arms[11:n])
    out <- trace_policy(policy_mt_ts(0.5, tuned = TRUE, warmup = 5, split_budget = split), k,
                        x$rewards, arms)
    expect_equal(out$ledger$round, c(5, 10, 11:n))
    expect_equal(out$ledger$scale, rep(levels / eps0, n - 8))
    expect_equal(out$ledger$exact[1:2], c(sum(x$rewards[1:5]), sum(x$rewards[6:10])))
  }
})

test_that("each reward is in as many noisy sums as stated, and spends at most epsilon", {
  n <- 63
  k <- 2
  x <- forced(n, k)
  eps <- 0.7
  own <- function(tainted) all(mapply(function(t, arm) all(t$arm == arm), tainted, x$arms))

  for (policy in list(policy_lazy_dp_ts(eps), policy_lazy_ucb(eps))) {
    sums <- taint(policy, k, x$rewards, x$arms)
    expect_true(all(vapply(sums, nrow, 0L) <= 1))
    expect_true(own(sums))
    expect_lte(max(spent(sums)), eps + 1e-9)
    expect_equal(max(spent(sums)), eps)
  }

  sums <- taint(policy_dp_ts(eps), k, x$rewards, x$arms)
  expect_true(own(sums))
  for (arm in 1:k) {
    mine <- which(x$arms == arm)
    at <- 2^(1:10) - 1
    for (i in seq_along(mine)) {
      # i-th pull: r of the block it is in; at most one C and r + 1 nodes
      r <- floor(log2(i)) - 1
      in_c <- sum(abs(sums[[mine[i]]]$scale - 1 / (0.5 * eps)) < 1e-9 &
                    r != 0) # scales of C and of a first tree agree: count where they differ
      if (r > 0) expect_lte(in_c, 1)
      expect_lte(nrow(sums[[mine[i]]]), 1 + max(0, r + 1))
    }
  }
  expect_lte(max(spent(sums)), eps + 1e-9)

  levels <- floor(log2(n)) + 1
  for (split in c(TRUE, FALSE)) {
    policies <- list(policy_mt_ucb(eps, split_budget = split),
                     policy_mt_ucb(eps, tuned = TRUE, split_budget = split),
                     policy_mt_ts(eps, tuned = TRUE, warmup = 1, split_budget = split))
    for (policy in policies) {
      sums <- taint(policy, k, x$rewards, x$arms)
      expect_true(all(vapply(sums, nrow, 0L) <= levels))
      expect_true(own(sums))
      expect_lte(max(spent(sums)), eps + 1e-9)
    }
  }
  # One arm that fills its tree spends all of epsilon on its first reward.
  sums <- taint(policy_mt_ucb(eps), 1, rep(1, 64), rep(1, 64))
  expect_equal(spent(sums)[1], eps)
})

test_that("DP-SE and the gap estimation use each reward once, whoever chooses the arms", {
  eps <- 3
  r <- ceil_rounds(2, 1, eps, 0.9)
  n <- 2 * r + 40
  # More pulls of arm 1 than the epoch asks for: the surplus is not used.
  arms <- c(rep(1, r + 40), rep(2, r))
  rewards <- rep(c(1, 0, 1), length.out = n)
  some <- c(1, r, r + 1, r + 40, r + 41, n)
  base <- trace_policy(policy_dp_se(eps, 0.9), 2, rewards, arms, silent = TRUE)$ledger
  expect_equal(nrow(base), 2)
  moved <- vapply(some, function(i) {
    changed <- replace(rewards, i, 1 - rewards[i])
    other <- trace_policy(policy_dp_se(eps, 0.9), 2, changed, arms, silent = TRUE)$ledger
    sum(abs(other$exact - base$exact) / base$scale)
  }, 0)
  expect_equal(moved, eps * c(1, 1, 0, 0, 1, 1))

  # The literal Algorithm 2: a batch, then (the gap being wide) the trees, with no reward
  # in both. Horizon chosen so that lines 10 to 12 end inside it, and that the batch takes it
  # below a power of two: the tree has a level fewer than one of T leaves.
  horizon <- 4100
  policy <- policy_mt_ts(40, warmup = 10)
  m <- ceiling(192 * 2 * log(horizon) / 40)
  n <- 2 * m + 20 + 30
  arms <- c(rep(1:2, each = m), rep(1:2, each = 10), rep(1:2, 15))
  rewards <- c(rep(1:0, each = m), rep(1:0, each = 10), rep(1:0, 15))
  sums <- taint(policy, 2, rewards, arms, horizon = horizon)
  # Which sums: the batch for the first 2 m rewards, nodes for the others
  expect_true(all(vapply(sums[1:(2 * m)], nrow, 0L) == 1))
  levels <- floor(log2(horizon - 2 * m)) + 1 # line 9: T - tau leaves
  expect_equal(levels, 12)
  expect_true(all(vapply(sums[-(1:(2 * m))], function(s) all(s$scale == levels / (40 / 4)),
                         NA)))
  expect_lte(max(spent(sums)), 40 / 2 + 1e-9)
})

test_that("Thompson sampling does not use what its phases did not ask for", {
  # In a replay an arm may be pulled more often than a phase wants, for want of others. Three
  # surplus rewards of arm 1 in the warm-up of 5 are in no sum, the others in the tree only.
  arms <- c(rep(1, 8), rep(2, 5), 1, 2, 1)
  rewards <- rep(1, length(arms))
  policy <- policy_mt_ts(1, tuned = TRUE, warmup = 5)
  expect_equal(trace_policy(policy, 2, rewards, arms, silent = TRUE)$ledger$exact,
               c(5, 5, 6, 6, 1)) # the third leaf of arm 1 is a node of its own
  used <- vapply(taint(policy, 2, rewards, arms), nrow, 0L) > 0
  expect_identical(which(!used), 6:8)
  # The same in a batch of gap estimation.
  horizon <- 3000
  m <- ceiling(192 * 2 * log(horizon) / 40)
  arms <- c(rep(1, m + 10), rep(2, m))
  rewards <- rep(c(1, 0), c(m, 10 + m))
  out <- trace_policy(policy_mt_ts(40), 2, replace(rewards, m + 1:10, 1), arms, horizon,
                      silent = TRUE)$ledger
  expect_equal(out$exact, c(m, 0))
  expect_equal(out$round, rep(2 * m + 10, 2))
})

test_that("posterior parameters stay valid whatever the noise", {
  # Noise of sd far above the number of rewards; Beta draws of bad parameters would be NaN,
  # and NaN loses every comparison: no arm would be chosen, which the trace reports.
  for (policy in list(policy_mt_ts(1e-3, tuned = TRUE, warmup = 0),
                      policy_mt_ts(1e-3, tuned = TRUE, warmup = 3),
                      policy_dp_ts(1e-3), policy_lazy_dp_ts(1e-3))) {
    for (seed in 1:20) {
      arm <- trace_policy(policy, 3, matrix(1, 60, 3), seed = seed)$arm
      expect_true(all(arm %in% 1:3))
    }
  }
})

test_that("every private policy declares its guarantee", {
  for (make in list(policy_mt_ucb, policy_mt_ts, policy_dp_ts, policy_lazy_dp_ts,
                    policy_dp_se, policy_lazy_ucb)) {
    expect_equal(make(0.3)$guarantee$kind, "pure")
    expect_equal(make(0.3)$guarantee$epsilon, 0.3)
    expect_equal(make(Inf)$guarantee$kind, "none")
    for (bad in list(0, -1, NA_real_, NaN, "1", c(1, 2), NULL)) {
      expect_error(make(bad), class = "dpts_error_input")
    }
    expect_error(make(), "epsilon")
    expect_error(dpts_simulate(five_arms(), make(1), 4, runs = 1),
                 class = "dpts_error_horizon")
  }
  expect_error(policy_mt_ucb(1, gamma = 1), class = "dpts_error_input")
  expect_error(policy_dp_se(1, beta = 0), class = "dpts_error_input")
  expect_error(policy_dp_se(1, beta = 1), class = "dpts_error_input")
  expect_error(policy_dp_ts(1, log_base = 1), class = "dpts_error_input")
  expect_error(policy_mt_ts(1, warmup = 1.5), class = "dpts_error_input")
  expect_error(policy_mt_ts(1, tuned = NA), class = "dpts_error_input")
})

test_that("rewards inside (0, 1) become coins where the paper has Bernoulli rewards", {
  x <- rep(0.3, 4000)
  for (policy in list(policy_dp_ts(1), policy_lazy_dp_ts(1),
                      policy_mt_ts(1, tuned = TRUE, warmup = 0),
                      policy_mt_ts(1, tuned = TRUE, warmup = 7))) {
    exact <- trace_policy(policy, 1, x, rep(1, 4000))$ledger$exact
    expect_true(all(exact == round(exact)))
  }
  # Mean of the coins: the blocks of Lazy-DP-TS hold 4095 - 1 coins in all up to 2^11 - 1
  blocks <- trace_policy(policy_lazy_dp_ts(1), 1, x, rep(1, 4000))$ledger$exact
  expect_lt(abs(sum(blocks) / 2047 - 0.3), 4 * sqrt(0.3 * 0.7 / 2047))
  # and stay as they are elsewhere
  expect_equal(trace_policy(policy_lazy_ucb(1), 1, x, rep(1, 4000))$ledger$exact,
               0.3 * 2^(0:10))
  expect_equal(trace_policy(policy_mt_ucb(1), 1, x[1:4], rep(1, 4))$ledger$exact,
               0.3 * c(1, 2, 1, 4))
})

test_that("10,000 arms work in every policy", {
  k <- 10000
  arms <- arms_bernoulli(seq(0.1, 0.9, length.out = k))
  policies <- list(policy_mt_ucb(1), policy_mt_ts(1), policy_mt_ts(1, TRUE, 1),
                   policy_dp_ts(1), policy_lazy_dp_ts(1), policy_dp_se(1),
                   policy_lazy_ucb(1))
  for (policy in policies) {
    sim <- dpts_simulate(arms, policy, k + 50, runs = 1, seed = 1, record = 2)
    expect_equal(sim$t[2], k + 50)
    expect_true(all(is.finite(sim$regret)))
  }
  # Without a warm-up each round takes 10,000 Beta draws: a few rounds of it
  chosen <- run_script(policy_mt_ts(1, TRUE, 0), k, rep(NA, 50), rep(1, 50), k + 50)$arm
  expect_true(all(chosen %in% seq_len(k)))
})
