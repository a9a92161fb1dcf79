# R translation of DP-SE (Sajed and Sheffet 2019), with the noise handed in. Beside the arms:
# what it releases, which is the ledger that the policy should have. Lap(1 / (epsilon r)) on a
# mean of r rewards is Lap(1 / epsilon) on their sum, which is what is released.
ref_dp_se <- function(rewards, eps, beta, noise) {
  horizon <- nrow(rewards)
  active <- seq_len(ncol(rewards))
  chosen <- integer(horizon)
  t <- e <- draws <- 0
  ledger <- data.frame(exact = numeric(), scale = numeric(), round = numeric())
  repeat {
    if (length(active) == 1) {
      if (t < horizon) chosen[(t + 1):horizon] <- active
      return(list(arm = chosen, ledger = ledger))
    }
    e <- e + 1
    s <- length(active)
    rounds <- rounds_of_epoch(s, e, eps, beta)
    sum <- numeric(s)
    r <- 0
    while (r < rounds) {
      r <- r + 1
      for (i in seq_len(s)) {
        if (t == horizon) return(list(arm = chosen, ledger = ledger))
        t <- t + 1
        chosen[t] <- active[i]
        sum[i] <- sum[i] + rewards[t, active[i]]
      }
    }
    private <- (sum + noise[draws + seq_len(s)]) / r
    draws <- draws + s
    ledger <- rbind(ledger, data.frame(exact = sum, scale = 1 / eps, round = t))
    h <- sqrt(log(8 * s * e^2 / beta) / (2 * rounds))
    c <- log(4 * s * e^2 / beta) / (rounds * eps)
    active <- active[max(private) - private <= 2 * h + 2 * c]
  }
}

test_that("epochs have the lengths and thresholds of the paper", {
  # Worked out by hand from the formulas for K = |S| = 5, beta = 1e-5, epsilon 1 and 0.1
  expect_equal(rounds_of_epoch(5, 1:4, 1, 1e-5),
               c(1946.83, 8494.11, 35634.21, 147247.23), tolerance = 1e-6)
  expect_equal(rounds_of_epoch(5, 1:2, 0.1, 1e-5), c(2322.39, 8494.11), tolerance = 1e-6)
  arms <- rep(1:5, 1947)
  out <- trace_policy(policy_dp_se(1), 5, rep(1, 5 * 1947), horizon = 1e5)
  expect_identical(out$arm, as.integer(arms))
  expect_equal(nrow(out$ledger), 5)
  expect_equal(out$ledger$exact, rep(1947, 5))
  expect_equal(out$ledger$scale, rep(1, 5))
})

test_that("policy_dp_se() is the algorithm, step by step, with the ledger's noise", {
  for (seed in 1:3) {
    means <- list(c(0.9, 0.5, 0.2, 0.85), c(0.5, 0.5, 0.1), c(0.3, 0.9))[[seed]]
    rewards <- withr::with_seed(seed, {
      vapply(means, function(m) rbinom(30000, 1, m) + 0, numeric(30000))
    })
    for (eps in c(0.05, 1, Inf)) {
      out <- trace_policy(policy_dp_se(eps, 0.2), length(means), rewards, seed = seed)
      ref <- ref_dp_se(rewards, eps, 0.2, c(out$ledger$noise, numeric(20)))
      expect_identical(out$arm, ref$arm)
      expect_equal(out$ledger[names(ref$ledger)], ref$ledger, ignore_attr = TRUE)
    }
  }
})

test_that("at the threshold the noise of every arm decides who is dropped", {
  # Three arms in their first epoch: the first has ones only, the second is below it by the
  # threshold as nearly as whole rewards allow, the third never pays. The noise has scale
  # 1 / epsilon = 2, and each logarithm in the threshold is worth as much.
  eps <- 0.5
  rounds <- rounds_of_epoch(3, 1, eps, 0.9)
  r <- ceiling(rounds)
  below <- round(r * 2 * (sqrt(log(8 * 3 / 0.9) / (2 * rounds)) + log(4 * 3 / 0.9) / (rounds * eps)))
  table <- matrix(0, 3 * r + 4, 3)
  table[, 1] <- 1
  table[seq(2 + 3 * below, 3 * r, by = 3), 2] <- 1 # its turns, but for the first `below`
  runs <- lapply(1:60, function(seed) {
    out <- trace_policy(policy_dp_se(eps, 0.9), 3, table, horizon = 1e5, seed = seed)
    out$reference <- ref_dp_se(table, eps, 0.9, out$ledger$noise)$arm
    out
  })
  expect_equal(lapply(runs, function(out) out$ledger$exact), rep(list(c(r, r - below, 0)), 60))
  expect_identical(lapply(runs, `[[`, "arm"), lapply(runs, `[[`, "reference"))
  stays <- vapply(runs, function(out) out$arm[3 * r + 2] == 2, NA)
  # Both ends come about: chances away from 0 and 1
  expect_gt(sum(stays), 12)
  expect_lt(sum(stays), 48)
})

test_that("an epoch forgets the one before, and counts the arms that are left", {
  # Arm 3 is dropped in the first epoch; in the second the others' fortunes are reversed.
  eps <- 2
  beta <- 0.5
  r <- c(ceil_rounds(3, 1, eps, beta), ceil_rounds(2, 2, eps, beta))
  arms <- c(rep(1:3, r[1]), rep(1:2, r[2]))
  rewards <- c(rep(c(1, 1, 0), r[1]), rep(c(0, 1), r[2]))
  out <- trace_policy(policy_dp_se(eps, beta), 3, rewards, horizon = 1e5)
  expect_identical(out$arm, as.integer(arms))
  expect_equal(out$ledger$exact, c(1, 1, 0, 0, 1) * rep(r, 3:2))
  expect_equal(out$ledger$scale, rep(1 / eps, 5))
  expect_equal(out$ledger$round, rep(c(3 * r[1], 3 * r[1] + 2 * r[2]), 3:2))
})

test_that("beta is 1 / horizon unless given", {
  rewards <- matrix(0.5, 5000, 3)
  expect_identical(trace_policy(policy_dp_se(1), 3, rewards)$arm,
                   trace_policy(policy_dp_se(1, 1 / 5000), 3, rewards)$arm)
})

test_that("its short cut has the distribution of the plain loop, and of round robin inside an epoch", {
  # Epochs of 356 or more pulls; the horizon cuts one, and recorded rounds cut turns.
  arms <- arms_bernoulli(c(0.9, 0.6, 0.55))
  expect_skip_exact(arms, policy_dp_se(1, 0.9), 5000, c(1, 2, 5, 700, 1301, 4000, 5000), 3000)
  # Distributions without a short cut
  expect_skip_exact(arms_truncexp(c(0.1, 20)), policy_dp_se(1, 0.9), 2000,
                    c(11, 800, 2000), 1000)
  # Round robin: after t rounds of the first epoch the regret is that of whole turns and
  # the rest, exactly.
  record <- c(1:7, 100, 101, 355)
  sim <- dpts_simulate(five_arms(), policy_dp_se(1), 1e4, runs = 2, record = record, seed = 3)
  gaps <- c(0, 0.125, 0.25, 0.375, 0.5)
  expect_equal(sim$regret, rep(cumsum(rep(gaps, 71))[record], 2))
})

test_that("recording does not change what happens", {
  end <- function(record) {
    sim <- dpts_simulate(five_arms(), policy_dp_se(1), 5e4, runs = 3, record = record,
                         seed = 3)
    sim[sim$t == 5e4, c("regret", "reward")]
  }
  expect_equal(end(I(5e4)), end(500))
})
