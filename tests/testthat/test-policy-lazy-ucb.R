# R translation of Anytime-Lazy-UCB (Hu, Huang and Mehta 2021; theory in the help page), with
# the noise handed in
ref_lazy_ucb <- function(rewards, eps, base, noise) {
  k <- ncol(rewards)
  n <- mean <- numeric(k)
  buffer <- vector("list", k)
  chosen <- integer(nrow(rewards))
  draws <- 0
  for (t in seq_len(nrow(rewards))) {
    if (t <= k) {
      j <- t
    } else {
      log_t <- log(t, base)
      j <- which.max(mean + sqrt(3 * log_t / n) + 3 * log_t / (eps * n))
    }
    chosen[t] <- j
    buffer[[j]] <- c(buffer[[j]], rewards[t, j])
    want <- if (n[j] == 0) 1 else 2 * n[j]
    if (length(buffer[[j]]) == want) {
      draws <- draws + 1
      n[j] <- want
      mean[j] <- (sum(buffer[[j]]) + noise[draws]) / want
      buffer[[j]] <- numeric()
    }
  }
  list(arm = chosen, draws = draws)
}

test_that("policy_lazy_ucb() is the algorithm, step by step, with the ledger's noise", {
  for (seed in 1:4) {
    rewards <- withr::with_seed(seed, {
      if (seed %% 2) matrix(rbinom(4 * 1500, 1, rep(c(0.8, 0.6, 0.4, 0.2), each = 1500)), ncol = 4)
      else matrix(runif(4 * 1500), ncol = 4)
    })
    for (base in c(exp(1), 2)) {
      out <- trace_policy(policy_lazy_ucb(c(0.3, 2)[1 + seed %% 2], base), 4, rewards,
                          seed = seed)
      ref <- ref_lazy_ucb(rewards, c(0.3, 2)[1 + seed %% 2], base, out$ledger$noise)
      expect_identical(out$arm, ref$arm)
      expect_equal(nrow(out$ledger), ref$draws)
    }
  }
  # Without noise
  rewards <- withr::with_seed(9, matrix(rbinom(3000, 1, rep(c(0.7, 0.5, 0.4), each = 1000)),
                                        ncol = 3))
  expect_identical(trace_policy(policy_lazy_ucb(Inf), 3, rewards)$arm,
                   ref_lazy_ucb(rewards, Inf, exp(1), numeric(100))$arm)
})

test_that("a batch that a later one of its arm overtakes is not used", {
  n <- 400
  rewards <- withr::with_seed(2, matrix(rbinom(2 * n, 1, rep(c(0.7, 0.5), each = n)), n))
  arm <- rep(1:2, n / 2)
  arm[151:n] <- NA # the policy's own choices
  # The batch of arm 1's pulls 4 to 7 comes after all that are forced, or never: no choice depends on it.
  path <- function(late) {
    delays <- replace(numeric(n), which(arm == 1)[4:7], late)
    run_script(policy_lazy_ucb(Inf), 2, arm, rewards, delays = delays)$arm
  }
  for (late in seq(160, 380, 10)) expect_identical(path(late), path(1e4))
})

test_that("its short cut has the distribution of the plain loop", {
  expect_skip_exact(five_arms(), policy_lazy_ucb(1), 700, c(3, 60, 333, 700), 4000)
  expect_skip_exact(arms_bernoulli(c(0.9, 0.1)), policy_lazy_ucb(0.5, 2), 500,
                    c(40, 300, 500), 4000)
  # rewards that cannot be summed at once
  expect_skip_exact(arms_truncexp(c(0.1, 5, 10)), policy_lazy_ucb(20), 400, c(100, 400),
                    3000)
})

test_that("the short cut stops where the index crosses: the same arms, noise apart", {
  # Without noise, and with rewards that are always 1 or always 0, nothing is random: the
  # two must agree in every round. A larger base shrinks the index, so arms cross elsewhere.
  for (base in c(1.1, 2, exp(1), 10, 1e4)) {
    for (means in list(c(1, 0, 1, 0), c(0, 0, 1), c(0, 1))) {
      curve <- function(engine) {
        withr::local_options(dpts.engine = engine)
        dpts_simulate(arms_bernoulli(means), policy_lazy_ucb(Inf, base), 3000, runs = 1,
                      record = 3000, seed = 1, progress = FALSE)$regret
      }
      expect_equal(curve("auto"), curve("plain"))
    }
  }
})
