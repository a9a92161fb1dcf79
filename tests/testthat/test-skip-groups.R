# Thompson sampling among many arms by groups of arms (src/skip_arm_groups.h, src/skip_thompson.c), against
# chances by numerical integration and against the plain loop.

skip_on_cran() # takes seconds

# Pulls in one round from a given state, which pulls and successes of the arms have led to, in so many
# runs
choices_from <- function(policy, n, s, runs, rounds = 1) {
  rewards <- unlist(Map(function(n, s) rep(1:0, c(s, n - s)), n, s)) + 0
  state <- run_script(policy, length(n), rep(seq_along(n), n), rewards)$state
  .Call(C_skip_from, kernel(policy, 1e4), state, sum(n), 0 * n, rounds, runs, 5)
}

# The chance of each arm to have the largest draw, of the distribution functions F(x, i) and densities
# f(x, i), by the trapezoidal rule
win_chances <- function(x, cdf, density, k) {
  log_below <- vapply(seq_len(k), function(i) log(cdf(x, i)), x)
  all <- rowSums(log_below)
  vapply(seq_len(k), function(i) {
    sum(ifelse(log_below[, i] == -Inf, 0, density(x, i) * exp(all - log_below[, i]))) * diff(x[1:2])
  }, 0)
}

gaussian_chances <- function(n, s, c) {
  mean <- s / (n + 1)
  sd <- sqrt(c / (n + 1))
  x <- seq(min(mean - 9 * sd), max(mean + 9 * sd), length.out = 801)
  win_chances(x, function(x, i) pnorm(x, mean[i], sd[i]), function(x, i) dnorm(x, mean[i], sd[i]), length(n))
}

# Beta(a, b) posteriors, by the logit of theta: its density vanishes at both ends
beta_chances <- function(a, b) {
  y <- seq(-40, 40, length.out = 1201)
  x <- plogis(y)
  win_chances(y, function(y, i) pbeta(x, a[i], b[i]),
              function(y, i) dbeta(x, a[i], b[i]) * x * plogis(y, lower.tail = FALSE), length(a))
}

# Choices of single arms and of arms that are alike, those with few expected choices put together
expect_choices <- function(n, chance, alike) {
  expect_equal(sum(chance), 1, tolerance = 1e-9)
  counts <- rowSums(n)
  runs <- sum(counts)
  for (by in list(seq_along(chance), alike)) {
    if (length(unique(by)) == 1) next
    p <- tapply(chance, by, sum)
    m <- tapply(counts, by, sum)
    rare <- p * runs < 20
    p <- c(p[!rare], sum(p[rare]))
    m <- c(m[!rare], sum(m[rare]))
    keep <- p > 0
    expect_equal(sum(m[!keep]), 0)
    statistic <- sum((m[keep] - p[keep] * runs)^2 / (p[keep] * runs))
    expect_gt(pchisq(statistic, sum(keep) - 1, lower.tail = FALSE), 1e-4)
  }
}

# States without a leader, of 64 arms and more: fresh; a few arms ahead whose draws are above the level
# nearly always; many pulls and few; one arm of a wide posterior among narrow ones
many_arms <- local({
  set.seed(3)
  n <- sample(c(0:6, 40), 90, TRUE)
  list(
    fresh = list(n = rep(0, 64), s = rep(0, 64)),
    mixed = list(n = n, s = rbinom(90, n, 0.5)),
    ahead = list(n = rep(c(30, 8), c(5, 75)), s = rep(c(24, 23, 4, 3, 2), c(4, 1, 25, 25, 25))),
    wide = list(n = rep(c(50, 1), c(69, 1)), s = c(rep(c(25, 30, 20), 23), 0))
  )
})

test_that("groups choose each arm with its exact chance: Gaussian posteriors", {
  for (state in many_arms) {
    for (c in c(0.2, 3)) {
      chance <- gaussian_chances(state$n, state$s, c)
      n <- choices_from(policy_ts_gaussian(0, c), state$n, state$s, 2500)
      expect_choices(n, chance, paste(state$n, state$s))
      # The chances that groups hold at the end are those of the posteriors.
      groups <- .Call(C_read_skip, attr(n, "state"), nrow(n))
      after <- state$n + n[, ncol(n)] + 1
      exact <- pnorm((groups$groups_level - state$s / after) / sqrt(c / after), lower.tail = FALSE)
      expect_equal(groups$chance / exact, rep(1, nrow(n)), tolerance = 1e-9)
    }
  }
})

test_that("groups choose each arm with its exact chance: Beta posteriors", {
  priors <- list(fresh = c(2.5, 1.2), mixed = c(1, 1), ahead = c(1.4, 2), wide = c(1, 1))
  for (name in names(many_arms)) {
    state <- many_arms[[name]]
    prior <- priors[[name]]
    chance <- beta_chances(prior[1] + state$s, prior[2] + state$n - state$s)
    n <- choices_from(policy_ts_beta(prior), state$n, state$s, 2000)
    expect_choices(n, chance, paste(state$n, state$s))
  }
})

# Pulls in the next round of a lazy policy whose arms have released `batches` batches, the last of which
# have these sums with noise
lazy_choices_from <- function(policy, batches, noisy, runs) {
  pulls <- 2^batches - 1
  forced <- unlist(Map(function(b, y) c(rep(0, b - 1), y), batches, noisy))
  arms <- rep(seq_along(batches), pulls)
  state <- run_script(policy, length(batches), arms, 0 * arms, forced = forced)$state
  .Call(C_skip_from, kernel(policy, 1e4), state, sum(pulls), 0 * batches, 1, runs, 5)
}

test_that("groups choose each arm with its exact chance while posteriors drift: lazy policies", {
  # In the first round of a stretch, at whose end posteriors are up to half of an sd higher: chances that
  # were not thinned, or draws from the end of the stretch, would show.
  batches <- rep(1:6, 15)
  n <- 2^(batches - 1)
  t <- sum(2^batches - 1) + 1
  where <- withr::with_seed(4, runif(length(n), 0.2, 0.8))
  # Some are cut at 1, where they do not drift, and two at 0
  where[c(8, 22, 35, 47, 60)] <- 1.5
  where[c(12, 70)] <- -0.5
  where[n == 32] <- pmin(where[n == 32], 0.7)
  policies <- list(list(policy_lazy_dp_ts(0.1), 3 * log2(t) / 0.1),
                   list(policy_lazy_dp_ts(1, exp(1)), 3 * log(t)),
                   list(policy_lazy_dp_ts(Inf), 0),
                   list(policy_lazy_gaussian_ts(0.05, correlation = 0), sqrt(6 * log(t)) / 0.05))
  shifted <- pmin(pmax(where, 0), 1)
  chance <- beta_chances(shifted * n + 1, (1 - shifted) * n + 1)
  for (case in policies) {
    chosen <- lazy_choices_from(case[[1]], batches, n * where - case[[2]], 2000)
    expect_choices(chosen, chance, batches)
  }
  # One arm of 256 rewards, which hardly drifts, wins unless one of those that do is above the level: a chance of
  # theirs that is a fifth too large would show.
  batches <- c(9, rep(6, 66))
  where <- c(0.86, rep(0.65, 66))
  n <- 2^(batches - 1)
  chance <- beta_chances(where * n + 1, (1 - where) * n + 1)
  noisy <- n * where - 3 * log2(sum(2^batches - 1) + 1) / 0.1
  expect_choices(lazy_choices_from(policy_lazy_dp_ts(0.1), batches, noisy, 8000), chance, batches)
})

test_that("the rare round in which no arm exceeds the level is drawn given that", {
  # A narrow posterior a little below the level, which 63 wide ones exceed by about 5 at a time: it is
  # chosen only if none of them does.
  n <- rep(c(0, 400), c(63, 1))
  s <- rep(c(0, 249), c(63, 1))
  chance <- gaussian_chances(n, s, 0.25)
  chosen <- choices_from(policy_ts_gaussian(0, 0.25), n, s, 20000)
  expect_lt(chance[64], 0.002)
  expect_gt(binom.test(sum(chosen[64, ]), 20000, chance[64])$p.value, 1e-4)
  expect_choices(chosen, chance, n)

  s[64] <- 353 # 63 fresh Beta posteriors exceed 0.92 five at a time
  chance <- beta_chances(1 + s, 1 + n - s)
  chosen <- choices_from(policy_ts_beta(), n, s, 20000)
  expect_lt(chance[64], 0.002)
  expect_gt(binom.test(sum(chosen[64, ]), 20000, chance[64])$p.value, 1e-4)
  expect_choices(chosen, chance, n)
})

test_that("groups keep the distribution while arms change groups and levels change", {
  same_distribution <- function(arms, policy, horizon, runs) {
    play <- function(engine, seed, runs) {
      withr::local_options(dpts.engine = engine)
      sim <- dpts_simulate(arms, policy, horizon, runs = runs, seed = seed, record = I(c(5, horizon)),
                           progress = FALSE, threads = 1)
      n <- matrix(pulls(sim)$pulls, ncol = runs)
      k <- nrow(n)
      regret <- matrix(sim$regret, 2)
      list(early = regret[1, ], regret = regret[2, ], most = apply(n, 2, max), untried = colSums(n == 0),
           spread = colSums(n^2), best = n[1, ], first = colSums(n[seq_len(k / 4), ]),
           last = colSums(n[(3 * k / 4):k, ]))
    }
    # Lanes, which are held to the plain loop by test-skip.R, take a tenth of its time: with many of their
    # runs, 0.6 times as many of the others tell as much.
    lanes <- policy$name == "ts_gaussian"
    x <- play(if (lanes) "lanes" else "plain", 21, if (lanes) 3 * runs else runs)
    y <- play("skip", 22, if (lanes) 0.6 * runs else runs)
    expect_gt(smallest_p(x, y), 1e-3)
  }
  same_distribution(arms_bernoulli(seq(0.9, 0.1, length.out = 80)), policy_ts_gaussian(0), 400, 500)
  # A leader arises: groups and blocks take turns
  same_distribution(arms_bernoulli(c(0.95, rep(0.2, 69))), policy_ts_gaussian(0, 0.1), 1500, 180)

  same_distribution(arms_bernoulli(c(0.98, rep(0.1, 69))), policy_ts_beta(), 1000, 70)
  # Openings, stretches, releases; with a budget that lets posteriors tell arms apart
  same_distribution(arms_bernoulli(seq(0.9, 0.1, length.out = 64)), policy_lazy_dp_ts(20, exp(1)), 450, 160)
  # and a leader, with correlated noise
  same_distribution(arms_bernoulli(c(0.98, rep(0.1, 63))), policy_lazy_gaussian_ts(20, correlation = 0.5), 1200, 70)
  # Other scales and priors, whose choices have their exact chances above
  if (extended()) {
    same_distribution(arms_bernoulli(seq(0.9, 0.1, length.out = 100)), policy_ts_gaussian(0, 0.1), 500, 360)
    same_distribution(arms_truncexp(seq(-2, 3, length.out = 100)), policy_ts_gaussian(2, 1), 500, 300)
    same_distribution(arms_truncexp(seq(-2, 3, length.out = 100)), policy_ts_beta(c(2, 1.5)), 400, 240)
  }
})

test_that("groups know of what happened while an arm led", {
  # Four arms are alike, but three of them lack 8 pulls of their next batch, which is worth nothing. Arm 1
  # then leads, until its own batch of 128 is released, which is worth nothing either.
  pulls <- rep(c(127, 247, 7), c(1, 3, 60))
  forced <- rep(1:64, pulls)
  rewards <- unlist(lapply(pulls, function(n) (seq_len(n) <= 127 & n > 7) + 0))
  policy <- policy_lazy_gaussian_ts(Inf, correlation = 0)
  rounds <- 220
  from <- run_script(policy, 64, forced, rewards)$state
  skipped <- .Call(C_skip_from, kernel(policy, 1e4), from, sum(pulls), rep(0, 64), rounds, 300, 5)
  plain <- vapply(1:200, function(run) {
    arms <- run_script(policy, 64, c(forced, rep(NA, rounds)), c(rewards, rep(0, rounds)), run = run)$arm
    tabulate(arms[-seq_along(forced)], 64)
  }, numeric(64))
  expect_gt(mean(plain[1, ] == 128), 0.9)
  count <- function(n) list(n[1, ], colSums(n[2:4, ]), apply(n[5:64, ], 2, max))
  p <- mapply(function(a, b) suppressWarnings(ks.test(a, b)$p.value), count(skipped), count(plain))
  expect_gt(min(p), 1e-4)
})

test_that("the groups of Beta posteriors are those of the posteriors, also after an arm has led", {
  # Stale groups heal: an arm whose chance is wrong gets the right one when it is pulled next. So they are
  # looked at, beside those of R's pbeta(), in a world in which one arm after the other pays.
  policy <- policy_ts_beta()
  kernel <- kernel(policy, 1e5)
  state <- run_script(policy, 64, 1:64, rep(0, 64))$state
  back <- wrong <- misplaced <- 0
  led <- FALSE
  n <- rep(1, 64)
  s <- 0 * n
  for (i in 1:1000) {
    rewards <- as.numeric(1:64 == 1 + (i %/% 50) %% 4)
    out <- .Call(C_skip_from, kernel, state, sum(n), rewards, 40, 1, i)
    n <- n + out[, 1]
    s <- s + out[, 1] * rewards
    state <- attr(out, "state")
    now <- .Call(C_read_skip, state, 64L)
    led <- led || now$leader >= 0
    if (!now$open) next
    back <- back + (led && now$leader < 0)
    led <- now$leader >= 0
    chance <- pbeta(-expm1(-now$groups_level), s + 1, n - s + 1, lower.tail = FALSE)
    wrong <- max(wrong, abs(now$chance / chance - 1))
    group <- pmin(pmax(ceiling(-log2(now$chance)) - 1, 0), 39)
    misplaced <- misplaced + sum(now$group != group)
  }
  expect_gt(back, 10)
  expect_lt(wrong, 1e-8)
  expect_equal(misplaced, 0)
})

test_that("a run by groups is the same however it is sliced, and on any number of threads", {
  withr::local_options(dpts.engine = "skip")
  for (policy in list(policy_ts_gaussian(0), policy_ts_beta(), policy_lazy_dp_ts(5))) {
    play <- function(runs, record, threads = 1) {
      dpts_simulate(arms_bernoulli(seq(0.9, 0.1, length.out = 300)), policy, 5000, runs = runs,
                    seed = 4, record = I(record), progress = FALSE, threads = threads)
    }
    all <- play(1:6, c(100, 5000))
    some <- play(c(5, 2), c(100, 5000))
    expect_identical(all$regret, play(1:6, c(100, 5000), 2)$regret)
    expect_identical(all$regret[all$run == 5], some$regret[some$run == 5])
    other <- play(1:6, c(1:300, 5000))
    expect_identical(other$regret[other$t == 5000], all$regret[all$t == 5000])
  }
})

test_that("thousands of arms are played by groups, not by lanes", {
  regret <- function(engine, k, policy = policy_ts_gaussian(0)) {
    withr::local_options(dpts.engine = engine)
    dpts_simulate(arms_bernoulli(seq(0.9, 0.1, length.out = k)), policy, k + 1000, runs = 2,
                  seed = 6, record = I(k + 1000), progress = FALSE, threads = 1)$regret
  }
  groups <- regret("skip", 3000)
  expect_identical(regret("auto", 3000), groups)
  expect_identical(regret("auto", 80), regret("lanes", 80))
  expect_false(identical(groups, regret("lanes", 3000)))
  for (policy in list(policy_ts_beta(), policy_lazy_gaussian_ts(5, correlation = 0), policy_lazy_dp_ts(10))) {
    groups <- regret("skip", 500, policy)
    expect_identical(regret("auto", 500, policy), groups)
    expect_false(identical(groups, regret("plain", 500, policy)))
  }
})

test_that("a prior below 1, whose draws above a level would be slow, is played plainly", {
  withr::local_options(dpts.engine = "skip")
  play <- function(seed) {
    dpts_simulate(arms_bernoulli(seq(0.9, 0.1, length.out = 80)), policy_ts_beta(c(0.5, 1)), 300, runs = 3,
                  seed = seed, record = I(300), progress = FALSE)$regret
  }
  skipped <- play(1)
  withr::local_options(dpts.engine = "plain")
  expect_identical(skipped, play(1))
})
