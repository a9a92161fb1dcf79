# Privacy from the other side: what a policy does next must follow from the numbers in its
# ledger (exact sum plus noise, once and for all) and from nothing else. Exact means that
# reach an index, noise that is drawn anew for each look, or noise that all arms share, would
# all leave counts and scales as they should be; they are caught here.

skip_on_cran() # takes seconds

test_that("noise has the stated distribution, and is independent between arms and between releases", {
  n <- 700
  # Two arms in turn, so that their counters stand at the same place.
  play <- function(policy, rounds, rewards = rep(0:1, length.out = rounds),
                   arms = rep(1:2, length.out = rounds), horizon = rounds) {
    script <- scripted(policy, 2, arms, rewards, horizon, max_ledger = 100)
    total <- script(1)$total
    vapply(seq_len(n), function(seed) {
      out <- script(seed)
      (out$noise / out$scale)[seq_len(out$total)]
    }, numeric(total))
  }
  gap <- ceiling(192 * 2 * log(3000) / 40) # one batch of gap estimation, see policy_mt_ts()
  epoch <- ceil_rounds(2, 1, 40, 0.9)
  noise <- list(
    play(policy_lazy_dp_ts(0.5), 30), play(policy_lazy_ucb(0.5), 30), play(policy_dp_ts(0.5), 16),
    play(policy_mt_ucb(0.5), 16), play(policy_mt_ts(0.5, tuned = TRUE, warmup = 1), 16),
    play(policy_mt_ts(40), 2 * gap, horizon = 3000), play(policy_dp_se(40, 0.9), 2 * epoch)
  )
  expect_equal(vapply(noise, nrow, 0L), c(8, 8, 16, 16, 16, 2, 2))
  laplace <- function(z) ifelse(z < 0, exp(z) / 2, 1 - exp(-z) / 2)
  for (z in noise) {
    expect_gt(ks.test(as.vector(z), laplace)$p.value, 1e-3)
    cors <- cor(t(z))
    # standard error 1 / sqrt(n); 419 correlations in all, so 5 of them are no accident
    expect_lt(max(abs(cors[upper.tri(cors)])), 5 / sqrt(n))
  }
  expect_ks(unlist(noise), laplace) # all together, a scale that is off by a tenth would show
})

test_that("at every t the hybrid counter releases its ledger: boundaries, then nodes", {
  n <- 200
  x <- withr::with_seed(4, runif(n))
  for (variant in c("original", "hu-hegde")) {
    out <- trace_counter(counter_hybrid(0.5, variant), x)
    at <- if (variant == "original") 2^(0:7) else 2^(1:8) - 1
    noise <- vapply(seq_len(n), function(t) {
      past <- at[at <= t]
      sum(out$ledger$noise[past]) + tree_noise(out$ledger$noise[-seq_len(max(past))], t - max(past))
    }, 0)
    expect_equal(out$released, cumsum(x) + noise)
  }
})

test_that("a tree takes no more rewards than it has room for", {
  # Played past its horizon of 3, a tree of 2 levels holds 3 rewards and stays as it is.
  for (policy in list(policy_mt_ucb(1), policy_mt_ts(1, tuned = TRUE, warmup = 0))) {
    out <- trace_policy(policy, 1, rep(1, 9), rep(1, 9), horizon = 3)
    expect_equal(out$released, c(1:3, rep(3, 6)))
  }
})

# ---- Thompson sampling: the chance of each choice, given the ledger ---------------------

# P(theta_1 > theta_2) for independent theta_i ~ Beta(m_i n_i + 1, (1 - m_i) n_i + 1), by
# quadrature: 100 midpoints between quantiles that leave 1e-9 out.
first_wins <- function(m, n) {
  a <- m * n + 1
  b <- (1 - m) * n + 1
  ends <- qbeta(c(1e-9, 1 - 1e-9), a[1], b[1])
  h <- diff(ends) / 100
  x <- ends[1] + h * (1:100 - 0.5)
  sum(dbeta(x, a[1], b[1]) * pbeta(x, a[2], b[2])) * h
}

# (mean, size) of an arm's posterior from its `past`: the noisy numbers in order, the pulls
# and the round
lazy_dp_ts_posterior <- function(eps, base) function(past, pulls, t) {
  size <- 2^(length(past) - 1)
  c(past[length(past)] / size + 3 * log(t, base) / (eps * size), size)
}
dp_ts_posterior <- function(eps, base) function(past, pulls, t) {
  r <- floor(log2(pulls + 1)) - 1
  in_c <- 2^(r + 1) - 1
  sum <- sum(past[2^(1:(r + 1)) - 1]) + tree_noise(past[-seq_len(in_c)], pulls - in_c)
  v <- 6 * sqrt(8) * log(pulls + 1, base) * log(t, base) / (eps * pulls)
  c(sum / pulls + v, pulls)
}
mt_ts_posterior <- function(past, pulls, t) {
  c(tree_noise(past, length(past)) / max(pulls, 1), pulls)
}

# Two arms of equal luck, `runs` runs of `rounds` rounds in which the policy chooses for
# itself after `start` rounds. Residuals (arm 1 or not, minus its chance given the ledger)
# are martingale differences: their sum has the variance sum p (1 - p), plain or weighted by
# what was known before. Weights: the private means, and the noise in them, which is what a
# policy would miss that saw exact means or noise of another draw.
expect_chosen_from_ledger <- function(policy, posterior, start, rounds, runs) {
  e <- p <- private <- noise <- numeric()
  for (seed in seq_len(runs)) {
    rewards <- withr::with_seed(seed, matrix(rbinom(2 * rounds, 1, 0.5) + 0, ncol = 2))
    out <- trace_policy(policy, 2, rewards, seed = seed, max_ledger = 2 * rounds)
    ledger <- out$ledger
    at <- function(t, noisy) {
      vapply(1:2, function(i) {
        mine <- ledger$arm == i & ledger$round < t
        past <- ledger$exact[mine] + if (noisy) ledger$noise[mine] else 0
        posterior(past, sum(out$arm[seq_len(t - 1)] == i), t)
      }, numeric(2))
    }
    for (t in (start + 1):rounds) {
      now <- at(t, TRUE)
      seen <- pmin(pmax(now[1, ], 0), 1)
      exact <- pmin(pmax(at(t, FALSE)[1, ], 0), 1)
      chance <- first_wins(seen, now[2, ])
      p <- c(p, chance)
      e <- c(e, (out$arm[t] == 1) - chance)
      private <- c(private, seen[1] - seen[2])
      noise <- c(noise, (seen - exact)[1] - (seen - exact)[2])
    }
  }
  for (weight in list(1, private, noise)) {
    expect_lt(abs(sum(weight * e)) / sqrt(sum(weight^2 * p * (1 - p))), 4)
  }
  # The noise is a matter of substance here: without it the chances would be others.
  expect_gt(sqrt(mean(noise^2)), 0.1)
}

test_that("Lazy-DP-TS chooses from its ledger and from nothing else", {
  expect_chosen_from_ledger(policy_lazy_dp_ts(0.3, 1e30), lazy_dp_ts_posterior(0.3, 1e30), 2, 60,
                            12)
  # and with a shift that counts
  expect_chosen_from_ledger(policy_lazy_dp_ts(1, 1e4), lazy_dp_ts_posterior(1, 1e4), 2, 60, 12)
})

test_that("DP-TS chooses from its ledger and from nothing else", {
  expect_chosen_from_ledger(policy_dp_ts(1, 1e30), dp_ts_posterior(1, 1e30), 2, 60, 12)
  expect_chosen_from_ledger(policy_dp_ts(3, 1e4), dp_ts_posterior(3, 1e4), 2, 60, 12)
})

test_that("tuned Thompson sampling chooses from its ledger and from nothing else", {
  expect_chosen_from_ledger(policy_mt_ts(3, tuned = TRUE, warmup = 2, split_budget = FALSE),
                            mt_ts_posterior, 4, 60, 12)
  expect_chosen_from_ledger(policy_mt_ts(4, tuned = TRUE, warmup = 0), mt_ts_posterior, 0, 60, 12)
})

test_that("gap estimation compares private means: where exact ones tie, the noise decides", {
  horizon <- 3000
  m <- 76 # 192 k ln(T) / (epsilon D^2), rounded up, at k = 2, D = 1
  expect_equal(ceiling(192 * 2 * log(horizon) / 40.6), m)
  # Means 1 and 1/2: exactly the gap D = 1/2 that the difference must exceed.
  rewards <- c(rep(1, m), rep(0:1, m / 2), 1)
  goes_on <- vapply(1:40, function(seed) {
    out <- trace_policy(policy_mt_ts(40.6, warmup = 0), 2, c(rewards, rep(1, 20)),
                        c(rep(1:2, each = m), rep(NA, 21)), horizon, seed)
    stopifnot(nrow(out$ledger) >= 2)
    noise <- out$ledger$noise[1:2]
    # Past the gap estimation every pull is a leaf; another batch begins with m' pulls of arm 1.
    c(noise[1] - noise[2] > 0, nrow(out$ledger) == 2 + 21)
  }, logical(2))
  expect_identical(goes_on[2, ], goes_on[1, ])
  expect_gt(sum(goes_on[1, ]), 5)
  expect_lt(sum(goes_on[1, ]), 35)
})

test_that("the first free choice has the logarithm of its own round", {
  # After one pull each, in round 3. At later rounds log(t) and log(t - 1) are too close to
  # tell apart; here the shift is by ln 3 / ln 2.
  runs <- 2e5
  table <- rbind(c(1, 1), c(0, 0), c(0, 0)) # arm 1 pays, arm 2 does not
  draw <- function(x, noise, shift) {
    m <- pmin(pmax(x + noise + shift, 0), 1)
    rbeta(runs, m + 1, 2 - m)
  }
  withr::local_seed(3)
  for (case in list(list(policy_lazy_dp_ts(30, exp(1)), scale = 1 / 30, shift = 3 * log(3) / 30),
                    list(policy_dp_ts(100, exp(1)), scale = 2 / 100,
                         shift = 6 * sqrt(8) * log(2) * log(3) / 100))) {
    arms <- play_stream(case[[1]], table, seq_len(runs), 1)[3, ]
    theta_1 <- draw(1, rlaplace(runs, case$scale), case$shift)
    expected <- mean(theta_1 > draw(0, rlaplace(runs, case$scale), case$shift))
    expect_lt(abs(mean(arms == 1) - expected), 4 * sqrt(2 * 0.25 / runs))
  }
})
