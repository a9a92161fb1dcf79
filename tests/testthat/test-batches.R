# R translations of the policies that commit to batches, with the noise handed in.

skip_on_cran() # takes seconds

# best(state, t) -> the arm; state: n, mean, m, a list an arm
ref_batches <- function(rewards, first, ratio, noise, best, forget = FALSE) {
  k <- ncol(rewards)
  state <- replicate(k, list(n = 0, sums = numeric(), sizes = numeric()), simplify = FALSE)
  open <- 0
  batch <- numeric()
  draws <- 0
  chosen <- integer(nrow(rewards))
  for (t in seq_len(nrow(rewards))) {
    if (open == 0) {
      n <- vapply(state, `[[`, 0, "n")
      if (any(n == 0)) {
        open <- which(n == 0)[1]
        size <- first
      } else {
        view <- lapply(state, function(s) {
          keep <- if (forget) length(s$sizes) else seq_along(s$sizes)
          m <- sum(s$sizes[keep])
          list(mean = sum(s$sums[keep]) / m, m = m, n = s$n)
        })
        open <- best(view, t)
        size <- max(1, ceiling((ratio - 1) * n[open] - 1e-9))
      }
    }
    chosen[t] <- open
    batch <- c(batch, rewards[t, open])
    if (length(batch) == size) {
      draws <- draws + 1
      state[[open]]$sums <- c(state[[open]]$sums, sum(batch) + noise[draws])
      state[[open]]$sizes <- c(state[[open]]$sizes, size)
      state[[open]]$n <- state[[open]]$n + size
      open <- 0
      batch <- numeric()
    }
  }
  list(arm = chosen, draws = draws)
}

clip <- function(x) pmin(pmax(x, 0), 1)
at <- function(view, name) vapply(view, `[[`, 0, name)

# Index policies: numeric optimisation, no closed forms
upper_by_search <- function(x, f, bound) {
  if (f(x, 1 - 1e-12) <= bound) return(1)
  stats::uniroot(function(y) f(x, y) - bound, c(x, 1 - 1e-12), tol = 1e-13)$root
}
imed_by_search <- function(cost) function(view, t) {
  x <- clip(at(view, "mean"))
  top <- max(x)
  index <- vapply(seq_along(view), function(i) {
    v <- view[[i]]
    log(v$m) + if (x[i] >= top) 0 else cost(x[i], top, v)
  }, 0)
  which.min(index)
}
fewest_of_highest <- function(index, n) order(-index, n)[1]
ref_best <- list(
  adap_ucb = function(eps, alpha) function(view, t) {
    m <- at(view, "m")
    which.max(at(view, "mean") + sqrt(alpha * log(2 * t) / (2 * m)) + alpha * log(t) / (eps * m))
  },
  adap_klucb = function(eps, alpha) function(view, t) {
    m <- at(view, "m")
    x <- clip(at(view, "mean") + alpha * log(t) / (eps * m))
    fewest_of_highest(mapply(function(x, m) upper_by_search(x, ref_kl, alpha * log(t) / m), x, m),
                      at(view, "n"))
  },
  adac_ucb = function(mu, beta) function(view, t) {
    m <- at(view, "m")
    rho <- mu^2 / 2
    which.max(at(view, "mean") + sqrt(beta * log(t) * (1 / (2 * m) + 1 / (rho * m^2))))
  },
  dp_klucb = function(eps) function(view, t) {
    f <- function(x, y) ref_d_epsilon(x, y, eps)
    n <- at(view, "n")
    fewest_of_highest(mapply(function(x, n) upper_by_search(x, f, log(t) / n),
                             clip(at(view, "mean")), n), n)
  },
  dp_imed = function(eps) imed_by_search(function(x, y, v) v$m * ref_d_epsilon(x, y, eps))
)

test_that("every batch policy is its algorithm, step by step, with the ledger's noise", {
  cases <- list(
    list(policy_adap_ucb(0.5, 3.1), ref_best$adap_ucb(0.5, 3.1), 1, 2, TRUE),
    list(policy_adap_klucb(2, 3.5), ref_best$adap_klucb(2, 3.5), 1, 2, TRUE),
    list(policy_adac_ucb(0.7, 3.1), ref_best$adac_ucb(0.7, 3.1), 1, 2, TRUE),
    list(policy_dp_klucb(0.5, 1.3, 3), ref_best$dp_klucb(0.5), 3, 1.3, FALSE),
    list(policy_dp_imed(1), ref_best$dp_imed(1), 1, 2, FALSE),
    list(policy_dp_imed(0.3, 1.1, 10), ref_best$dp_imed(0.3), 10, 1.1, FALSE),
    list(policy_dp_imed(Inf, 1.1, 10), ref_best$dp_imed(Inf), 10, 1.1, FALSE)
  )
  for (i in seq_along(cases)) {
    case <- cases[[i]]
    rewards <- withr::with_seed(i, {
      if (i %% 2) matrix(rbinom(3 * 900, 1, rep(c(0.7, 0.5, 0.2), each = 900)), ncol = 3)
      else matrix(runif(3 * 900), ncol = 3)
    })
    out <- trace_policy(case[[1]], 3, rewards, seed = i)
    ref <- ref_batches(rewards, case[[3]], case[[4]], out$ledger$noise, case[[2]], case[[5]])
    expect_identical(out$arm, as.integer(ref$arm), label = format(case[[1]]))
    expect_equal(nrow(out$ledger), ref$draws)
  }
})

test_that("the logarithms of AdaP-UCB and AdaP-KLUCB are of the right round", {
  # Much budget and little exploration, so that the means, and the constants, decide
  rewards <- withr::with_seed(6, array(runif(16 * 300 * 4), c(16, 300, 4)))
  for (seed in 1:16) {
    out <- trace_policy(policy_adap_ucb(20, 1), 4, rewards[seed, , ], seed = seed)
    ref <- ref_batches(rewards[seed, , ], 1, 2, out$ledger$noise, ref_best$adap_ucb(20, 1), TRUE)
    expect_identical(out$arm, as.integer(ref$arm))
    if (seed > 8) next # a search for each index
    out <- trace_policy(policy_adap_klucb(20, 0.3), 4, rewards[seed, , ], seed = seed)
    ref <- ref_batches(rewards[seed, , ], 1, 2, out$ledger$noise, ref_best$adap_klucb(20, 0.3),
                       TRUE)
    expect_identical(out$arm, as.integer(ref$arm))
  }
})

test_that("arms that tie at index 1 are pulled in turns, wherever the best stands", {
  # alpha ln(t) / epsilon and ln(t) / epsilon exceed any pulls here, so all indices are 1:
  # batches of 1, 1, 2, 4, 8 for each of the four arms before the next size begins.
  pulls <- c(4, 4, 8, 16, 32)
  for (policy in list(policy_adap_klucb(0.01), policy_dp_klucb(0.01))) {
    arm <- trace_policy(policy, 4, matrix(0, 64, 4), silent = TRUE)$arm
    for (end in cumsum(pulls)) expect_equal(tabulate(arm[seq_len(end)], 4), rep(end / 4, 4))
  }
})

batch_policies <- function() {
  list(
    adap_ucb = policy_adap_ucb(0.5), adap_klucb = policy_adap_klucb(0.5),
    dp_klucb = policy_dp_klucb(0.5, 1.5, 4), dp_imed = policy_dp_imed(0.5),
    dp_imed_finer = policy_dp_imed(0.5, 1.3, 4), adac_ucb = policy_adac_ucb(0.5)
  )
}

test_that("each reward is in at most one release, with noise of the stated scale", {
  policies <- batch_policies()
  # Arms as they come, and as an adversary would have them: other arms than the policy's, in
  # turns, late.
  arms <- withr::with_seed(1, sample(3, 60, TRUE))
  rewards <- withr::with_seed(2, runif(60))
  for (name in names(policies)) {
    policy <- policies[[name]]
    kind <- policy$guarantee$kind
    found <- taint(policy, 3, rewards, arms, horizon = 100)
    expect_true(all(vapply(found, nrow, 0L) <= 1), label = name)
    expect_gt(sum(vapply(found, nrow, 0L)), 20)
    expect_true(all(spent(found) <= 0.5 + 1e-12), label = name)
    ledger <- trace_policy(policy, 3, rewards, arms, horizon = 100)$ledger
    expect_equal(ledger$scale, rep(2, nrow(ledger))) # 1 / 0.5, Laplace scale or sd
    expect_equal(unique(ledger$kind), if (kind == "pure") 1 else 2)
  }
})

test_that("a batch that the horizon cuts releases nothing", {
  cut <- 0
  for (policy in batch_policies()) {
    out <- trace_policy(policy, 3, matrix(1, 500, 3))
    # Rewards are 1, so exact sums are sizes: each is that of a whole batch, the last too.
    first <- max(policy$params$first, 1, na.rm = TRUE)
    growth <- c(policy$params$ratio, 2)[1]
    n <- numeric(3)
    for (row in seq_len(nrow(out$ledger))) {
      i <- out$ledger$arm[row]
      whole <- if (n[i] == 0) first else pmax(1, ceiling(n[i] * (growth - 1) - 1e-9))
      expect_equal(out$ledger$exact[row], whole, label = format(policy))
      n[i] <- n[i] + out$ledger$exact[row]
    }
    # The rewards of the batch that is cut are in no sum.
    cut <- cut + (sum(n) < 500)
  }
  expect_gt(cut, length(batch_policies()) / 2)
})

test_that("at the end the batches that wait are released in their order, as far as their rewards have come", {
  rewards <- matrix(2^-(1:8), 8, 2)
  came <- c(1, 3, 5, 6, 8) # of each batch that waits, some
  for (policy in list(policy_private(policy_ucb1(), mu = 1, batch = 2), policy_forget(window = 100, mu = 1, batch = 2))) {
    out <- run_script(policy, 2, rep(1L, 8), rewards, delays = replace(rep(1e4, 8), came, 0), finish = TRUE)
    # the batch of pulls 5 and 6 was complete before the end
    expect_equal(out$exact[seq_len(out$total)], c(2^-5 + 2^-6, 2^-1, 2^-3, 2^-8))
  }
})

test_that("a committed policy stays with its arm, and forced rewards do not break it", {
  policy <- policy_dp_imed(Inf, ratio = 2, first = 4)
  rewards <- cbind(rep(1, 40), 0)
  out <- trace_policy(policy, 2, rewards)
  expect_equal(rle(out$arm)$lengths[1:2], c(4, 4))
  # In round 11 arm 2 is forced in the middle of arm 1's batch: arm 1 goes on after.
  forced <- rep(NA, 40)
  forced[11] <- 2
  out <- trace_policy(policy, 2, rewards, arms = forced)
  expect_equal(out$arm[9:14], c(1, 1, 2, 1, 1, 1))
})

test_that("short cuts have the distribution of the plain loop, and the very path without noise", {
  for (policy in batch_policies()[c("adap_klucb", "dp_imed_finer", "adac_ucb")]) {
    expect_skip_exact(arms_bernoulli(c(0.8, 0.6, 0.4)), policy, 600, c(50, 333, 600), 2000)
  }
  expect_skip_exact(arms_truncexp(c(0.1, 5)), policy_dp_imed(0.5), 300, c(100, 300), 2000)
  # With rewards that are always 1 or always 0 the path is the noise's alone.
  for (policy in batch_policies()) {
    play <- function(engine) {
      withr::local_options(dpts.engine = engine)
      dpts_simulate(arms_bernoulli(c(1, 0, 0)), policy, 2000, runs = 5, seed = 3, record = 50,
                    progress = FALSE)
    }
    expect_identical(as.data.frame(play("auto")), as.data.frame(play("plain")))
  }
})

test_that("blocks are played at 5e7 rounds a second and far more", {
  seconds <- min(vapply(1:3, function(i) {
    system.time(dpts_simulate(arms_bernoulli(c(0.75, 0.5)), policy_dp_imed(1), 1e9,
                              runs = 1, seed = i, progress = FALSE), gcFirst = FALSE)[["elapsed"]]
  }, 0))
  expect_lt(seconds, 1e9 / 5e7)
})

test_that("batch policies work on logs: pools without the committed arm, late rewards", {
  log <- withr::with_seed(1, {
    n <- 4000
    pools <- replicate(n, sort(sample(4, 3)), simplify = FALSE)
    arm <- vapply(pools, sample, 0L, size = 1)
    data.frame(arm = arm, reward = rbinom(n, 1, c(0.8, 0.5, 0.3, 0.1)[arm]), pool = I(pools))
  })
  for (policy in batch_policies()[c("adap_ucb", "dp_imed_finer", "adac_ucb")]) {
    for (delay in c(0, 25)) {
      x <- dpts_replay(log, policy, delay = delay, runs = 2, seed = 1)
      expect_gt(min(x$events), 1000) # a third of the events match
      expect_gt(mean(x$rate), 0.45) # uniform play has 0.425, with an se of 0.01
    }
  }
})

test_that("regret bounds of the newest policies are listed, numbers where there are constants", {
  arms <- arms_bernoulli(c(0.75, 0.5, 0.25))
  x <- regret_bound(list(a = policy_adap_ucb(0.3), b = policy_dp_imed(1), c = policy_imed(),
                         d = policy_dp_ts_ucb(1), e = policy_klucb(), f = policy_dp_klucb(1),
                         g = policy_dp_imed(1, index = "likelihood")), arms, 1e5)
  # Azize and Basu (2022): 16 alpha ln(T) / min(gap, epsilon) + alpha / (alpha - 3), alpha = 3.1
  by_hand <- 16 * 3.1 * log(1e5) * (1 / 0.25 + 1 / 0.3) + 2 * 3.1 / 0.1
  expect_equal(x$bound[x$policy == "a"], by_hand)
  expect_true(all(is.na(x$bound[x$policy %in% c("b", "c", "d", "e", "f", "g")])))
})

test_that("a batch that is too long for one step is the batch that the plain loop plays", {
  # Distributions that are not summed at once are drawn for some 65,000 rounds a step. These rewards are
  # the same whatever the draw, and the noise of a batch is: so every engine pulls the same arms.
  # Arms so close that both have long batches.
  arms <- arms_discrete(c(0.5, 0.499), diag(2))
  for (policy in list(policy_adac_ucb(1), policy_dp_klucb(1, 2.7), policy_dp_imed(1, 2.7))) {
    play <- function(engine) {
      withr::local_options(dpts.engine = engine)
      pulls(dpts_simulate(arms, policy, 1e6, runs = 2, seed = 1, record = I(1e6), progress = FALSE))
    }
    played <- play("skip")
    expect_true(all(played$pulls > 1e5))
    expect_identical(played, play("plain"))
  }
})
