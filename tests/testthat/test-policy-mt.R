# R translations of Mishra and Thakurta (2015).

# Algorithm 1 and the variant of section 5.1, with the ledger's noise
ref_mt_ucb <- function(rewards, eps, gamma, tuned, split, noise) {
  horizon <- nrow(rewards)
  k <- ncol(rewards)
  eps0 <- if (split) eps / k else eps
  relax <- log(horizon)^2 * log(k * horizon * log(horizon) / gamma) / eps0
  n <- total <- numeric(k)
  node <- vector("list", k)
  chosen <- integer(horizon)
  for (t in seq_len(horizon)) {
    if (t <= k) {
      a <- t
    } else {
      r <- total + mapply(tree_noise, node, n)
      index <- if (tuned) r / n + sqrt(pmax(r, 0) * log(t)) / n + log(t) / n
               else r / n + sqrt(2 * log(t) / n) + relax / n
      a <- which.max(index)
    }
    chosen[t] <- a
    n[a] <- n[a] + 1
    total[a] <- total[a] + rewards[t, a]
    node[[a]] <- c(node[[a]], noise[t])
  }
  chosen
}

test_that("policy_mt_ucb() is Algorithm 1, step by step, with the ledger's noise", {
  rewards <- withr::with_seed(1, matrix(rbinom(4 * 300, 1, rep(c(0.9, 0.6, 0.4, 0.2), each = 300)),
                                        ncol = 4) + 0)
  for (tuned in c(FALSE, TRUE)) for (split in c(FALSE, TRUE)) for (eps in c(0.5, 20, Inf)) {
    out <- trace_policy(policy_mt_ucb(eps, 0.2, tuned, split), 4, rewards, seed = 3)
    ref <- ref_mt_ucb(rewards, eps, 0.2, tuned, split, out$ledger$noise)
    expect_identical(out$arm, ref)
  }
  # The relaxation that the paper's formula gives for T = 1e5, k = 5, epsilon = 1,
  # gamma = 0.1: 11,842 (worked out by hand).
  expect_equal(5 * log(1e5)^2 * log(5 * 1e5 * log(1e5) / 0.1), 11842, tolerance = 1e-4)
})

test_that("tuned Thompson sampling chooses with the distribution of lines 13 to 17", {
  for (case in list(list(eps = 10, warmup = 5, split = TRUE, n = 50),
                    list(eps = 5, warmup = 1, split = FALSE, n = 33),
                    # noise far above n: the clip to [0, n] decides the distribution
                    list(eps = 0.3, warmup = 2, split = FALSE, n = 30),
                    list(eps = Inf, warmup = 3, split = TRUE, n = 40))) {
    k <- 3
    w <- case$warmup
    withr::with_seed(case$n, {
      arms <- c(rep(1:k, each = w), sample.int(k, case$n - k * w, TRUE))
      rewards <- rbinom(case$n, 1, c(0.7, 0.6, 0.4)[arms])
    })
    levels <- floor(log2(case$n + 1)) + 1
    eps0 <- case$eps / if (case$split) k else 1
    draw <- function(n) {
      largest(vapply(1:k, function(j) {
        x <- rewards[arms == j]
        leaves <- 1 + length(x) - w # the first w pulls are one leaf
        noise <- numeric(n)
        for (i in seq_len(sum(as.integer(intToBits(leaves))))) {
          noise <- noise + rlaplace(n, levels / eps0)
        }
        r <- pmin(pmax(sum(x) + noise, 0), length(x))
        rbeta(n, r + 1, length(x) - r + 1)
      }, numeric(n)))
    }
    expect_same_choices(policy_mt_ts(case$eps, TRUE, w, case$split), k, rewards, arms, draw)
  }
})

test_that("half of the budget is for gap estimation, half for the trees", {
  # One pull of each arm shows the gap; the tree has 11 levels for the other 1998 rounds.
  out <- run_script(policy_mt_ts(1e4), 2, rep(NA, 2000), matrix(rep(c(1, 0), each = 2000), 2000))
  each <- 2 * 2 / 1e4
  expect_equal(out$scale[seq_len(out$total)], rep(c(each, 11 * each), c(2, out$total - 2)))
  # A tree has leaves for the rounds that are left: of 1,024 rounds less than 1,024, which takes a level less.
  short <- run_script(policy_mt_ts(1e9), 2, rep(NA, 1024), cbind(rep(1, 1024), 0))
  expect_equal(unique(short$scale[3:short$total]), 10 * 4 / 1e9)
  # Each reward was released by itself: in the first batch of its arm, or as a leaf.
  expect_equal(short$report[match("looks", REPORT), ], short$report[match("rewards", REPORT), ])
})

test_that("gap estimation follows lines 1 to 8", {
  # epsilon = 20, k = 2, T = 4000: m = 192 k ln(T) / (epsilon D^2)
  eps <- 20
  horizon <- 4000
  m <- function(gap) ceiling(192 * 2 * log(horizon) / (eps * gap^2))
  m1 <- m(1)
  m2 <- m(0.5)
  # Means 0.7 and 0.3 without noise: 0.4 < 1/2, so a second batch with D = 1/2; then 0.4 > 1/4.
  pattern <- function(size, share) rep_len(c(rep(1, 10 * share), rep(0, 10 - 10 * share)), size)
  rewards <- cbind(rep(0, horizon), 0)
  batches <- c(0, m1, 2 * m1, 2 * m1 + m2, 2 * m1 + 2 * m2)
  for (b in 1:4) {
    at <- (batches[b] + 1):batches[b + 1]
    arm <- c(1, 2, 1, 2)[b]
    rewards[at, arm] <- pattern(length(at), c(0.7, 0.3)[arm])
  }
  out <- trace_policy(policy_mt_ts(eps), 2, rewards, silent = TRUE)
  expect_identical(out$arm[1:batches[5]], as.integer(rep(c(1, 2, 1, 2), diff(batches))))
  expect_equal(out$ledger$round[1:4], rep(batches[c(3, 5)], each = 2))
  # Lap(2 k / (epsilon m)) on a mean of m rewards is Lap(2 k / epsilon) on their sum.
  expect_equal(out$ledger$scale[1:4], rep(2 * 2 / eps, 4))
  expect_equal(out$ledger$exact[1:4],
               c(sum(rewards[1:m1, 1]), sum(rewards[m1 + 1:m1, 2]),
                 sum(rewards[2 * m1 + 1:m2, 1]), sum(rewards[2 * m1 + m2 + 1:m2, 2])))
  expect_equal(out$ledger$exact[1:4] / rep(c(m1, m2), each = 2), c(0.7, 0.3, 0.7, 0.3),
               tolerance = 0.02)
  # Line 12 then asks for 192 ln(T)^3 / (epsilon D^2) pulls of arm 1, more than are left.
  expect_gt(192 * log(horizon)^3 / (eps * 0.25^2), horizon)
  expect_true(all(out$arm[(batches[5] + 1):horizon] == 1))
  expect_equal(nrow(out$ledger), 4)
})

test_that("pulls while a batch of the gap estimation waits for a reward are in no batch", {
  # Batches of 192 k ln(T) / epsilon = 3 rewards; the last reward of the first two is known after round 26.
  expect_identical(ceiling(192 * 2 * log(2000) / 1000), 3)
  out <- run_script(policy_mt_ts(1000), 2, rep(NA, 2000), matrix(1, 2000, 2), delays = replace(numeric(2000), 6, 20))
  expect_setequal(out$arm[7:26], 1:2)
  expect_identical(out$released[c(25, 26)], c(0L, 2L))
  expect_identical(out$exact[1:2], c(3, 3))
})

test_that("between gap estimation and sampling each arm is pulled as often as line 12 says", {
  # Rewards 1 and 0: the first batch, D = 1, tells them apart at once, so D = 1/2.
  eps <- 2000
  horizon <- 5000
  m1 <- ceiling(192 * log(horizon) / (eps / 2))
  m2 <- ceiling(192 * log(horizon)^3 / (eps * 0.5^2))
  out <- trace_policy(policy_mt_ts(eps), 2, cbind(rep(1, horizon), 0), silent = TRUE)
  expect_identical(rle(out$arm)$lengths[1:3], as.integer(c(m1, m1, m2)))
  expect_true(all(out$arm[2 * m1 + m2 + seq_len(m2)] == 2))
  expect_equal(mean(out$arm[-seq_len(2 * (m1 + m2))] == 1), 1, tolerance = 0.01)
})

test_that("the defaults are the paper's, and tuned sampling beats UCB at its setting", {
  expect_equal(format(policy_mt_ucb(1)),
               "policy_mt_ucb(epsilon = 1, gamma = 0.1, tuned = FALSE, split_budget = TRUE)")
  expect_equal(format(policy_mt_ts(1)),
               "policy_mt_ts(epsilon = 1, tuned = FALSE, split_budget = TRUE)")
  arms <- arms_bernoulli(c(0.9, 0.4, 0.4, 0.4, 0.4))
  sim <- dpts_simulate(arms, list(
    ucb = policy_mt_ucb(2, split_budget = FALSE),
    ts_tuned = policy_mt_ts(2, tuned = TRUE, split_budget = FALSE)
  ), 10000, runs = 40, record = I(10000), seed = 1)
  regret <- tapply(sim$regret, sim$policy, mean)
  expect_lt(regret[["ts_tuned"]], regret[["ucb"]])
})
