skip_on_cran() # takes seconds

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
    r <- ceiling(rounds)
    at <- t + seq_len(min(r * s, horizon - t))
    chosen[at] <- rep(active, length.out = length(at))
    t <- t + length(at)
    if (length(at) < r * s) return(list(arm = chosen, ledger = ledger))
    sum <- rowSums(matrix(rewards[cbind(at, chosen[at])], s))
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
  expect_skip_exact(arms, policy_dp_se(1, 0.9), 2500, c(1, 2, 5, 700, 1301, 2000, 2500), 3000)
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

# R translation of sequential halving, with the noise handed in
ref_halving <- function(rewards, people, mu, epsilon, noise) {
  k <- ncol(rewards)
  active <- seq_len(k)
  variance <- if (!is.null(mu)) 1 / mu^2 else if (!is.null(epsilon)) 2 / epsilon^2 else 0
  seen <- data.frame(arm = integer(), r = numeric(), y = numeric())
  ledger <- data.frame(exact = numeric(), round = numeric())
  chosen <- integer(0)
  while (length(active) > 1) {
    r <- max(1, floor(people / (length(active) * ceiling(log2(k)))))
    at <- length(chosen)
    if (at + r * length(active) > nrow(rewards)) {
      chosen <- c(chosen, rep(active, r))
      break
    }
    sum <- vapply(seq_along(active), function(i) {
      sum(rewards[at + i + length(active) * (seq_len(r) - 1), active[i]])
    }, 0)
    chosen <- c(chosen, rep(active, r))
    ledger <- rbind(ledger, data.frame(exact = sum, round = length(chosen)))
    seen <- rbind(seen, data.frame(arm = active, r = r, y = sum + noise[seq_along(sum)]))
    noise <- noise[-seq_along(sum)]
    mean <- vapply(active, function(a) {
      own <- seen[seen$arm == a, ]
      stats::weighted.mean(own$y / own$r, own$r^2 / (own$r / 4 + variance))
    }, 0)
    active <- sort(active[order(-mean)][seq_len(ceiling(length(active) / 2))])
  }
  list(arm = c(chosen, rep(active[1], nrow(rewards)))[seq_len(nrow(rewards))], ledger = ledger)
}

test_that("policy_halving() is the algorithm, step by step, with the ledger's noise", {
  for (seed in 1:12) { # from 7 the noise weighs more than the rewards
    k <- c(2, 3, 5, 8, 9, 1, rep(8, 6))[seed]
    n <- c(200, 500, 999, 1000, 40, 10, rep(240, 6))[seed]
    budget <- if (seed > 6) list(mu = 0.1) else list(list(mu = 0.3), list(epsilon = 1), list())[[1 + seed %% 3]]
    people <- if (seed == 3) 700
    rewards <- withr::with_seed(seed, matrix(stats::runif(n * k), n))
    policy <- do.call(policy_halving, c(budget, list(people = people)))
    out <- trace_policy(policy, k, rewards, seed = seed)
    ref <- ref_halving(rewards, people %||% n, budget$mu, budget$epsilon, c(out$ledger$noise, numeric(50)))
    expect_identical(out$arm, as.integer(ref$arm))
    expect_equal(out$ledger[names(ref$ledger)], ref$ledger, ignore_attr = TRUE)
    scale <- if (!is.null(budget$mu)) 1 / budget$mu else if (!is.null(budget$epsilon)) 1 / budget$epsilon else 0
    expect_true(all(out$ledger$scale == scale))
  }
})

test_that("while the rewards of a stage are out, the arms that are left are played in turn", {
  for (policy in list(policy_halving(mu = 1, people = 20), policy_dp_se(30, 0.9))) {
    arm <- run_script(policy, 2, rep(NA, 1200), rep(1, 1200), delays = rep(2000L, 1200))$arm
    expect_identical(arm, rep_len(1:2, 1200))
  }
})

test_that("halving drops the later of equal arms, and a stage without rewards releases nothing at the end", {
  # Without noise, with equal rewards: arms 1 to 3 of 5, then 1 and 2, then 1
  out <- run_script(policy_halving(people = 120), 5, rep(NA, 150), matrix(1, 150, 5))
  expect_identical(out$arm[c(41:43, 80:81, 141:150)], c(1:3, 1:2, rep(1L, 10)))
  # A stage that nobody has answered yet releases nothing.
  for (cut in c(100, 80)) {
    late <- run_script(policy_halving(mu = 1, people = 160), 4, rep(NA, cut), matrix(1, cut, 4), finish = TRUE,
                       delays = rep(c(0, 1e4), c(80, cut - 80)))
    expect_equal(late$total, 4)
  }
})

test_that("halving weighs stages by the inverse variance of their means, noise included", {
  # Arms 1 and 2 stay; arm 1 is ahead by 4 in 10 rewards, then behind by `back` in 20.
  last <- function(policy, back) {
    out <- run_script(policy, 4, rep(NA, 84), matrix(0, 84, 4), forced = c(8, 4, 0, 0, 10, 10 + back))
    unique(out$arm[81:84])
  }
  weight <- function(r, noise) r / (r / 4 + noise)
  for (policy in list(policy_halving(epsilon = 0.5, people = 80), policy_halving(mu = 0.4, people = 80))) {
    noise <- if (is.null(policy$params$epsilon)) 1 / 0.4^2 else 2 / 0.5^2
    even <- 4 * weight(10, noise) / weight(20, noise)
    expect_identical(c(last(policy, even - 0.001), last(policy, even + 0.001)), 1:2)
  }
})

test_that("halving names an arm with all people, and its verdict is no promise", {
  arms <- arms_bernoulli(c(0.5, 0.8, 0.4, 0.45, 0.3))
  found <- dpts_identify(arms, list(half = policy_halving(mu = 1), top = policy_top_two(mu = 1)), limit = 900, runs = 200, seed = 1)
  half <- summary(found)[1, ]
  expect_gt(half$median, 900 - 3 * 5)
  expect_lt(half$wrong, 0.02)
  expect_identical(half$undecided, 0)
  expect_match(paste(capture.output(print(found)), collapse = " "), "but for half: no guarantee", fixed = TRUE)
  # The chance of an error for two arms in closed form: one stage
  two <- summary(dpts_identify(arms_bernoulli(c(0.5, 0.6)), policy_halving(mu = 0.2), limit = 400, runs = 4000, seed = 1))
  expect_lt(abs(two$wrong - stats::pnorm(-20 / sqrt(200 * (0.25 + 0.24) + 2 * 25))), 0.02)
  # What is released proves what it proves.
  sim <- dpts_simulate(arms, policy_halving(mu = 1), 900, runs = 3, seed = 1, history = TRUE)
  expect_identical(as.character(evidence(sim)$line[1]), as.character(log(4 / 0.05)))
  expect_skip_exact(arms, policy_halving(epsilon = 1), 900, c(1, 2, 5, 301, 600, 900), 800)
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  bad(policy_halving(mu = 1, epsilon = 1), "`epsilon`")
  bad(policy_halving(people = 0), "`people`")
  bad(dpts_agent(policy_halving(), c("a", "b"), use = "arrival"), "horizon")
})
