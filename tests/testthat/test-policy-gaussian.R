skip_on_cran() # takes seconds

test_that("lazy Gaussian Thompson sampling draws from the distribution in its help page", {
  mu <- 0.8
  rewards <- c(1, 0, 1, 1, 0.5, 1, 0.2)
  arms <- c(1, 2, 1, 1, 2, 2, 1) # blocks: arm 1 has 1 then 2 of 3, arm 2 has 1 then 2
  # The noise of a trace depends on the seed: draw it anew in the translation.
  draw <- function(n) {
    # Blocks: arm 1: (1), (1, 1), then 0.2 waiting; arm 2: (0), (0.5, 1)
    shift <- sqrt(6 * log(8)) / mu
    theta <- mapply(function(sum) {
      s <- clip((sum + rnorm(n) / mu + shift) / 2)
      rbeta(n, 2 * s + 1, 2 * (1 - s) + 1)
    }, c(2, 1.5))
    largest(theta)
  }
  clip <- function(x) pmin(pmax(x, 0), 1)
  expect_same_choices(policy_lazy_gaussian_ts(mu, correlation = 0), 2, rewards, arms, draw)
})

test_that("each reward of it is in one release of sd 1 / mu", {
  arms <- withr::with_seed(1, sample(3, 60, TRUE))
  rewards <- withr::with_seed(2, runif(60))
  found <- taint(policy_lazy_gaussian_ts(0.5, correlation = 0), 3, rewards, arms)
  expect_true(all(vapply(found, nrow, 0L) <= 1))
  ledger <- trace_policy(policy_lazy_gaussian_ts(0.5, correlation = 0), 3, rewards, arms)$ledger
  expect_equal(ledger$scale, rep(2, nrow(ledger)))
  expect_equal(ledger$kind, rep(2, nrow(ledger))) # Gaussian
  expect_equal(nrow(ledger), sum(floor(log2(tabulate(arms) + 1)))) # blocks of 1, 2, 4, ...
})

test_that("its short cut has the distribution of the plain loop", {
  # Between two releases its distribution is exact: test-policy-dp-ts.R.
  expect_skip_exact(arms_truncexp(c(0.1, 5, 10)), policy_lazy_gaussian_ts(2, correlation = 0), 400, c(60, 200, 400),
                    2000, 1000)
})

test_that("Gaussian IMED and lazy Gaussian Thompson sampling have the regret of theory", {
  # Independent simulation, section 6.9 and 6.5 of the project's notes, 100 runs at T = 1e5:
  # 250 for the lazy one at mu = 1. Gaussian IMED has the regret of the README and of bench/FRONTIER.md,
  # 111 and 60 at mu = 0.25 and 1.
  arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
  regret <- function(policy, runs) {
    mean(dpts_simulate(arms, policy, 1e5, runs = runs, seed = 5, record = I(1e5))$regret)
  }
  expect_lt(abs(regret(policy_gaussian_imed(0.25), 100) - 111), 11)
  expect_lt(abs(regret(policy_gaussian_imed(1), 100) - 60), 6)
  expect_lt(abs(regret(policy_lazy_gaussian_ts(1, correlation = 0), 20) - 250), 40)
  expect_identical(format(policy_lazy_gaussian_ts(1, correlation = 0)), "policy_lazy_gaussian_ts(mu = 1, correlation = 0)")
})

# ---- DP-TS-UCB --------------------------------------------------------------------------

test_that("DP-TS-UCB is its algorithm, step by step, with the ledger's draws", {
  horizon <- 1200
  for (alpha in c(0, 0.5, 1)) {
    c0 <- 0.4
    rewards <- withr::with_seed(1, matrix(rbinom(3 * horizon, 1, rep(c(0.7, 0.5, 0.3),
                                                                     each = horizon)), ncol = 3))
    out <- trace_policy(policy_dp_ts_ucb(alpha, c0), 3, rewards, seed = 3)
    phi <- c0 * horizon^(0.5 * (1 - alpha)) * log(horizon)^(0.5 * (3 - alpha))
    arms <- replicate(3, list(n = 0, mean = 0, h = 0, max = -Inf, fresh = numeric()),
                      simplify = FALSE)
    used <- 0
    exact <- scale <- numeric()
    chosen <- integer(horizon)
    for (t in seq_len(horizon)) {
      if (t <= 3) {
        i <- t
      } else {
        theta <- numeric(3)
        for (j in 1:3) {
          if (arms[[j]]$h >= 1) {
            used <- used + 1
            # N(mean, ln(T)^alpha / n) is (sum + N(0, n ln(T)^alpha)) / n.
            theta[j] <- arms[[j]]$mean + out$ledger$noise[used] / arms[[j]]$n
            exact[used] <- arms[[j]]$n * arms[[j]]$mean
            scale[used] <- sqrt(arms[[j]]$n * log(horizon)^alpha)
            arms[[j]]$h <- arms[[j]]$h - 1
            arms[[j]]$max <- max(arms[[j]]$max, theta[j])
          } else {
            theta[j] <- arms[[j]]$max
          }
        }
        i <- which.max(theta)
      }
      chosen[t] <- i
      a <- arms[[i]]
      a$fresh <- c(a$fresh, rewards[t, i])
      if (length(a$fresh) == max(1, 2 * a$n)) {
        a <- list(n = length(a$fresh), mean = mean(a$fresh), h = phi, max = -Inf,
                  fresh = numeric())
      }
      arms[[i]] <- a
    }
    expect_identical(out$arm, chosen)
    # The last draws are for a round that never comes.
    expect_equal(nrow(out$ledger), used + sum(vapply(arms, `[[`, 0, "h") >= 1))
    expect_equal(out$ledger$exact[seq_len(used)], exact)
    expect_equal(out$ledger$scale[seq_len(used)], scale)
  }
})

test_that("its draws per epoch, and so its mu, are what it declares", {
  alpha <- 0.5
  c0 <- 0.05
  horizon <- 400
  phi <- c0 * horizon^0.25 * log(horizon)^1.25
  arms <- rep(1:2, each = 200)
  rewards <- withr::with_seed(4, rbinom(400, 1, 0.5)) # a change moves a sum by 1
  policy <- policy_dp_ts_ucb(alpha, c0)
  found <- taint(policy, 2, rewards, arms)
  # mu^2 of a reward: sum of (shift / sd)^2 over the draws that it moved
  loss <- vapply(found, function(x) sum((x$moved / x$scale)^2), 0)
  declared <- dpts:::form(policy$guarantee, "mu", dpts:::conditions(horizon, 2))
  expect_equal(declared, sqrt(floor(phi) / log(horizon)^alpha))
  expect_lte(max(loss), declared^2 + 1e-12)
  # The first reward of an arm is an epoch of its own (n = 1) and is drawn floor(phi) times.
  # Arm 2's is, arm 1's epoch was over before draws began.
  expect_equal(loss[201], declared^2)
})

test_that("its short cut has the distribution of the plain loop", {
  expect_skip_exact(arms_bernoulli(c(0.8, 0.5)), policy_dp_ts_ucb(1, 0.5), 500, c(60, 300, 500),
                    2000)
})
