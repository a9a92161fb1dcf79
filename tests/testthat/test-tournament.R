# Tournaments of arms (src/policy_tournament.c) against a look at every arm: the same choices, bit for bit.

skip_on_cran() # takes seconds

# Every policy whose choices may come from a tournament
tournament_policies <- function() {
  list(
    ucb1 = policy_ucb1(), imed = policy_imed(), klucb = policy_klucb(),
    adap_ucb = policy_adap_ucb(1), adap_ucb_free = policy_adap_ucb(Inf),
    adap_klucb = policy_adap_klucb(1), adap_klucb_free = policy_adap_klucb(Inf),
    adac_ucb = policy_adac_ucb(1), adac_ucb_plain = policy_adac_ucb(0.5, correlation = 0),
    dp_klucb = policy_dp_klucb(1), dp_klucb_free = policy_dp_klucb(Inf),
    dp_imed = policy_dp_imed(1), dp_imed_free = policy_dp_imed(Inf, index = "divergence"),
    dp_imed_divergence = policy_dp_imed(1, ratio = 1.3, first = 4, index = "divergence"),
    dp_imed_likelihood = policy_dp_imed(2, ratio = 1.3, first = 4, index = "likelihood"),
    gaussian_imed = policy_gaussian_imed(1),
    gaussian_imed_plain = policy_gaussian_imed(2, 1.2, 4, correlation = 0, safety = 0),
    gaussian_imed_free = policy_gaussian_imed(Inf, 1.2, 2),
    lazy_ucb = policy_lazy_ucb(1), lazy_ucb_free = policy_lazy_ucb(Inf),
    dp_ucb_bound = policy_dp_ucb_bound(1)
  )
}

# A script played with a tournament (no offer: all arms) and by scans (all arms are offered)
expect_same_play <- function(policy, k, rewards, ..., offers = NULL, info = NULL) {
  n <- nrow(rewards)
  play <- function(offers) {
    run_script(policy, k, rep(NA, n), rewards, offers = offers, silent = TRUE, ...)$arm
  }
  if (is.null(offers)) offers <- rep(list(integer()), n)
  full <- lengths(offers) == 0
  scanned <- offers
  scanned[full] <- list(seq_len(k))
  arm <- play(offers)
  expect_identical(arm, play(scanned), info = info)
  invisible(arm)
}

coins <- function(n, mean) matrix(rbinom(n * length(mean), 1, rep(mean, each = n)), n)

test_that("a tournament chooses what a scan chooses", {
  withr::local_seed(1)
  policies <- tournament_policies()
  rounds <- 0
  for (name in names(policies)) {
    k <- if (match(name, names(policies)) %% 2) 48 else 131
    mean <- sample(list(runif(k), rep(0.5, k), rbeta(k, 0.2, 0.2), c(0.9, runif(k - 1, 0, 0.2))), 1)[[1]]
    n <- 17 * k + 1000
    rewards <- if (runif(1) < 0.5) coins(n, mean) else matrix(runif(n * k) * rep(mean, each = n), n)
    arm <- expect_same_play(policies[[name]], k, rewards, info = paste(name, k))
    rounds <- rounds + length(arm)
  }
  expect_gt(rounds, 5e4)
})

test_that("late rewards, pools and discarded choices find the same arms", {
  withr::local_seed(2)
  policies <- tournament_policies()
  k <- 50
  n <- 1200
  # half of the rounds offer all arms, the others some, in any order
  pools <- lapply(seq_len(n), function(i) if (i %% 2) integer() else sample(k, sample(1:10, 1)))
  for (name in names(policies)) {
    rewards <- coins(n, runif(k))
    expect_same_play(policies[[name]], k, rewards, delays = c(0, 3, 60, 0, 1), info = name)
    expect_same_play(policies[[name]], k, rewards, offers = pools, delays = c(0, 9), info = name)
    # a tree of sums must know the horizon
    expect_same_play(policies[[name]], k, rewards, discard = runif(n) < 0.3,
                     horizon = if (name == "dp_ucb_bound") n else Inf, info = name)
  }
})

test_that("a lead that is said to last does, over 1e5 rounds of many arms", {
  # Indices with closing() or certificate() in src/policy_tournament.h, with parameters at which too long a
  # lead changes choices
  withr::local_seed(8)
  policies <- list(ucb1 = policy_ucb1(), adap_ucb = policy_adap_ucb(2, alpha = 0.02),
                   adap_ucb_free = policy_adap_ucb(Inf), adac_ucb = policy_adac_ucb(0.3, beta = 0.5),
                   adac_ucb_carried = policy_adac_ucb(2, correlation = 0.6),
                   lazy_ucb = policy_lazy_ucb(1, log_base = 1000), dp_ucb_bound = policy_dp_ucb_bound(20),
                   imed = policy_imed())
  worlds <- list(arms_bernoulli(runif(300)), arms_bernoulli(rep(0.5, 300)), # all alike
                 arms_beta(rep(c(1, 9, 30), 100), rep(c(9, 1, 30), 100)),
                 arms_beta(rep(1e5, 200), runif(200, 0, 1e-2)), # nearly always 1
                 arms_beta(runif(200, 0, 1e-2), rep(1e5, 200)),
                 arms_switch(list(arms_bernoulli(rep(c(0.1, 0.9), 150)),
                                  arms_bernoulli(rep(c(0.9, 0.1), 150))), 1800))
  rounds <- 2200
  for (world in worlds) {
    play <- function(engine) {
      withr::local_options(dpts.engine = engine)
      sim <- dpts_simulate(world, policies, rounds, runs = 1, seed = 9, history = TRUE, progress = FALSE)
      dpts_history(sim)$arm
    }
    expect_identical(play("plain"), play("scan"))
  }
  expect_gt(rounds * length(worlds) * length(policies), 1e5)
})

test_that("rewards far from [0, 1] do not make leads last too long", {
  withr::local_seed(10)
  mean <- rnorm(100, 0, 1000)
  arms <- arms_gaussian(mean, 0.5)
  play <- function(engine) {
    withr::local_options(dpts.engine = engine)
    dpts_simulate(arms, policy_ucb1(), 5000, runs = 2, seed = 1, progress = FALSE)$reward
  }
  expect_identical(play("plain"), play("scan"))
})

test_that("means that differ by a rounding error do not count as equal", {
  # Then who is ahead may change with the clock, though the indices are parallel.
  withr::local_seed(12)
  k <- 60
  rewards <- matrix(0.5 + sample(0:3, 3000 * k, TRUE) * 2^-53, 3000)
  for (policy in list(policy_ucb1(), policy_lazy_ucb(Inf), policy_adap_ucb(Inf), policy_adac_ucb(Inf))) {
    expect_same_play(policy, k, rewards)
  }
})

test_that("arms of one mean that vary more or less can be told apart", {
  k <- 60
  rewards <- matrix(0.5, 20 * k, k)
  rewards[, c(3, 20, 41)] <- 0:1 # in batches of even numbers of people
  rewards[, c(7, 50)] <- c(0.2, 0.8)
  rewards[, 30] <- 0.6
  for (first in c(2, 4)) {
    policy <- policy_gaussian_imed(Inf, ratio = 2, first = first, correlation = 0, outcome = "continuous")
    arm <- expect_same_play(policy, k, rewards)
    expect_gt(diff(range(tabulate(arm, k)[c(1, 3, 7)])), 0)
  }
})

test_that("arms that cannot be told apart are chosen in order", {
  for (policy in list(policy_ucb1(), policy_imed(), policy_klucb(), policy_lazy_ucb(Inf))) {
    for (reward in c(0, 0.5, 1)) {
      k <- 64
      arm <- expect_same_play(policy, k, matrix(reward, 40 * k, k))
      expect_identical(arm[1:k], 1:k)
      # With equal rewards, of arms that were pulled as often the first comes first: at all times
      # counts fall from arm to arm.
      count <- vapply(seq_len(k), function(i) cumsum(arm == i), numeric(length(arm)))
      expect_true(all(count[, -1] <= count[, -k]))
    }
  }
})

test_that("one arm, and as many as need no tournament, are played", {
  for (policy in tournament_policies()) for (k in c(1, 47)) {
    expect_same_play(policy, k, matrix(0.5, 25 * k, k))
  }
})

test_that("whole simulations do not depend on tournaments", {
  withr::local_seed(3)
  means <- runif(250)
  world <- arms_switch(list(arms_bernoulli(means), arms_bernoulli(rev(means))), 1000) # others are below
  policies <- list(ucb1 = policy_ucb1(), imed = policy_imed(), klucb = policy_klucb(),
                   dp_klucb = policy_dp_klucb(1), gaussian_imed = policy_gaussian_imed(1, first = 2),
                   lazy_ucb = policy_lazy_ucb(1),
                   restarted = policy_restart(policy_imed(), every = 800))
  play <- function(engine) {
    withr::local_options(dpts.engine = engine)
    sim <- dpts_simulate(world, policies, 1600, runs = 1, seed = 5, progress = FALSE)
    list(pulls(sim)$pulls, sim$reward)
  }
  expect_identical(play("plain"), play("scan"))
  # Where arms are alike the highest mean falls and rises with most batches, and leads must hold both ways.
  policies <- list(policy_gaussian_imed(Inf, 1.2, 2), policy_dp_imed(50, 1.05, 2, index = "divergence"))
  order <- function(engine) {
    withr::local_options(dpts.engine = engine)
    dpts_history(dpts_simulate(arms_bernoulli(rep(0.5, 300)), policies, 3500, runs = 1, seed = 9, history = TRUE,
                               progress = FALSE))$arm
  }
  expect_identical(order("plain"), order("scan"))
})

test_that("the highest mean among thousands is that of a loop", {
  # With an arm more than fit without a tree, which is never on offer, batches are as long.
  withr::local_seed(4)
  n <- 4000
  rewards <- coins(n, runif(48))
  offers <- rep(list(1:47), n)
  for (policy in list(policy_gaussian_imed(1, first = 5),
                      policy_dp_imed(1, ratio = 1.5, first = 5),
                      policy_dp_imed(1, first = 5, index = "likelihood", schedule = "evidence"))) {
    one <- run_script(policy, 47, rep(NA, n), rewards[, -48], offers = offers, silent = TRUE)
    two <- run_script(policy, 48, rep(NA, n), rewards, offers = offers, silent = TRUE)
    expect_identical(one$arm, two$arm)
    expect_identical(one$released, two$released)
  }
})

test_that("an index that is NaN is an error in a tournament, too", {
  # Infinite rewards make means that are no numbers.
  k <- 60
  rewards <- c(rep(Inf, k), rep(-Inf, 300))
  for (policy in list(policy_ucb1(), policy_imed())) {
    expect_error(run_script(policy, k, rep(NA, length(rewards)), rewards), "an index was not a number")
  }
  # at once, in the very round after the mean became none
  expect_error(run_script(policy_ucb1(), k, rep(NA, k + 2), c(rep(Inf, k), -Inf, 0)),
               "an index was not a number")
})

test_that("a look at the end of a batch leaves the choices before it as they are", {
  # Rewards that hardly vary: skipped and plain play are the same, up to the round.
  withr::local_seed(1)
  policy <- list(policy_lazy_ucb(Inf), policy_lazy_ucb(Inf, log_base = 1e6))
  for (i in 1:2) {
    mean <- c(0.5, 0.5 - rexp(47, 100))
    arms <- arms_beta(1e15 * mean, 1e15 * (1 - mean))
    rounds <- I(sort(sample(5e5, 1000)))
    play <- function(engine) {
      withr::local_options(dpts.engine = engine)
      dpts_simulate(arms, policy, 5e5, runs = 1, seed = 3, record = rounds, progress = FALSE)$regret
    }
    expect_equal(play("skip"), play("plain"), tolerance = 1e-8)
  }
})

expect_skips_like_plain <- function(rounds, runs) {
  withr::local_seed(6)
  arms <- arms_bernoulli(c(0.8, runif(63, 0, 0.6)))
  for (policy in list(policy_ucb1(), policy_imed(), policy_klucb(), policy_lazy_ucb(2))) {
    play <- function(engine, seed) {
      withr::local_options(dpts.engine = engine)
      dpts_simulate(arms, policy, rounds, runs = runs, seed = seed, record = I(rounds), progress = FALSE)$regret
    }
    p <- suppressWarnings(ks.test(play("plain", 1), play("skip", 2))$p.value)
    expect_gt(p, 1e-4)
  }
}

test_that("many arms skip with the distribution of plain play", {
  expect_skips_like_plain(1200, 140)
})

test_that("many arms skip with the distribution of plain play, 2e4 rounds", {
  skip_unless_extended()
  expect_skips_like_plain(2e4, 2000)
})

expect_no_scan_needed <- function(rounds) {
  withr::local_seed(12)
  policies <- c(tournament_policies(), adac_ucb_carried = list(policy_adac_ucb(1, correlation = 0.5)))
  for (world in list(arms_beta(runif(100, 0, 5), runif(100, 0, 5)), arms_bernoulli(rep(0.5, 100)))) {
    play <- function(engine) {
      withr::local_options(dpts.engine = engine)
      sim <- dpts_simulate(world, policies, rounds, runs = 1, seed = 13, progress = FALSE)
      list(sim$regret, sim$reward, pulls(sim)$pulls)
    }
    expect_identical(play("plain"), play("scan"))
  }
}

test_that("every policy chooses what a scan chooses, on random and on identical arms", {
  expect_no_scan_needed(1500)
})

test_that("every policy chooses what a scan chooses for 1e5 rounds", {
  skip_unless_extended()
  expect_no_scan_needed(1e5)
})

test_that("pre-pulls come in order, whether arms are remembered or looked at", {
  withr::local_seed(11)
  k <- 30
  n <- 300
  rewards <- coins(n, runif(k))
  pools <- lapply(seq_len(n), function(i) if (i %% 3) integer() else sample(k, 5))
  for (policy in list(policy_ts_gaussian(prepulls = 4), policy_ts_gaussian(prepulls = 4, variance_scale = 9))) {
    expect_identical(expect_same_play(policy, k, rewards)[1:(4 * k)], rep(1:k, each = 4))
    expect_same_play(policy, k, rewards, offers = pools, delays = c(0, 9))
    expect_same_play(policy, k, rewards, delays = c(30, 0, 3), discard = runif(n) < 0.3)
  }
})

test_that("a saved session brings its tournament along", {
  k <- 60
  rewards <- withr::with_seed(7, coins(600, runif(k)))
  play <- function(engine, rounds) {
    vapply(rounds, function(t) {
      played <- session_play(engine, NULL, NULL)
      session_feed(engine, t, played[1], played[3], rewards[t, played[1]], NULL)
      played[1]
    }, 0)
  }
  for (policy in list(policy_ucb1(), policy_imed(), policy_klucb())) {
    engine <- live_session(policy, k, NULL, NULL)
    session_start(engine)
    play(engine, 1:300)
    bytes <- session_save(engine)
    again <- live_session(policy, k, NULL, NULL)
    session_restore(again, bytes)
    expect_identical(play(again, 301:600), play(engine, 301:600))
  }
})
