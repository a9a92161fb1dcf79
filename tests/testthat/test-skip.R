# Skipping and lanes against the plain loop and against exact distributions. Each engine draws
# differently, so distributions are compared; what must be equal is tested for equality.

skip_on_cran() # takes seconds

play_by <- function(engine, arms, policy, horizon, runs, seed, record = horizon,
                    threads = 1) {
  withr::local_options(dpts.engine = engine)
  dpts_simulate(arms, policy, horizon, runs = runs, seed = seed, record = I(record),
                progress = FALSE, threads = threads)
}

pull_matrix <- function(sim) do.call(cbind, runs_in(sim)$pulls) # a row an arm, a column a run

# ---- exact distributions ----------------------------------------------------------------------

#' P(Beta(a2, b2) > Beta(a1, b1)) for whole a2: the sum that Beta-Binomial tails give
#' (e.g. Cook 2005, Exact calculation of Beta inequalities)
win_beta <- function(s1, n1, s2, n2) {
  a1 <- s1 + 1
  b1 <- n1 - s1 + 1
  a2 <- s2 + 1
  b2 <- n2 - s2 + 1
  sum <- 0
  for (i in seq_len(n2 + 1) - 1) {
    term <- exp(lbeta(a1 + i, b1 + b2) - log(b2 + i) - lbeta(1 + i, b2) - lbeta(a1, b1))
    sum <- sum + term * (i < a2)
  }
  sum
}

test_that("every engine has the exact distribution of Gaussian Thompson sampling", {
  # b, c, means, rounds after the pre-pulls; all histories of up to 6 rounds, and of 30
  # where the thinned rounds of a skip come into play
  cases <- list(
    list(0, 1, c(0.7, 0.4), 6),
    list(20, 0.3, c(0.8, 0.3), 30),
    list(30, 0.05, c(0.5, 0.5), 20)
  )
  for (case in cases) {
    b <- case[[1]]
    horizon <- 2 * b + case[[4]]
    exact <- exact_distribution(case[[3]], b, case[[4]], beats_gaussian(case[[2]]))
    expect_equal(sum(exact$reward), 1)
    for (engine in list("plain", "skip", "lanes")) {
      sim <- play_by(engine, arms_bernoulli(case[[3]]), policy_ts_gaussian(b, case[[2]]),
                     horizon, runs = if (engine == "plain") 1000 else 6000, seed = 11)
      expect_distribution(pull_matrix(sim)[2, ], b, exact$pulls)
      expect_distribution(sim$reward, 0, exact$reward)
    }
  }
  # Rewards inside (0, 1), which are certain: what is known is the pulls of arm 2.
  exact <- 1
  for (n in 0:24) {
    n2 <- 0:n
    n1 <- n - n2
    p2 <- stats::pnorm((0.5 * n2 / (n2 + 1) - 0.8 * n1 / (n1 + 1)) / sqrt(0.1 / (n1 + 1) + 0.1 / (n2 + 1)))
    exact <- c(exact * (1 - p2), 0) + c(0, exact * p2)
  }
  for (engine in c("plain", "skip", "lanes")) {
    sim <- play_by(engine, arms_discrete(c(0.8, 0.5), diag(2)), policy_ts_gaussian(0, 0.1), 25, 3000, seed = 11)
    expect_distribution(pull_matrix(sim)[2, ], 0, exact)
  }
})

test_that("both engines have the exact distribution of Beta Thompson sampling", {
  for (case in list(list(c(0.7, 0.4), 6), list(c(0.97, 0.05), 30))) {
    exact <- exact_distribution(case[[1]], 0, case[[2]], win_beta)
    expect_equal(sum(exact$reward), 1)
    for (engine in list("plain", "skip")) {
      sim <- play_by(engine, arms_bernoulli(case[[1]]), policy_ts_beta(), case[[2]],
                     runs = if (engine == "plain") 1000 else 6000, seed = 12)
      expect_distribution(pull_matrix(sim)[2, ], 0, exact$pulls)
      expect_distribution(sim$reward, 0, exact$reward)
    }
  }
})

#' The distribution of the pulls of two rivals of arm 1, (n2, n3) as a matrix from 0, in so many rounds
#' where all rewards are certain: the arms' counts are then all that there is. wins(m1, m2, m3) gives
#' the chances of arms 2 and 3 after so many pulls, a column for each.
rivals_distribution <- function(rounds, wins) {
  exact <- matrix(0, rounds + 1, rounds + 1)
  exact[1, 1] <- 1
  for (t in seq_len(rounds)) {
    at <- which(exact > 1e-14, arr.ind = TRUE)
    m <- at - 1
    chance <- wins(t - 1 - rowSums(m), m[, 1], m[, 2]) * exact[at]
    new <- 0 * exact
    new[at] <- exact[at] - rowSums(chance)
    for (rival in 1:2) {
      to <- at
      to[, rival] <- to[, rival] + 1
      new[to] <- new[to] + chance[, rival]
    }
    exact <- new
  }
  exact
}

# Chances that arm 2 and arm 3 have the largest draw, from the distribution functions and densities of
# draws after m more pulls of an arm: cdf(x, m, arm), density(x, m, arm). By the trapezoidal rule, which is as
# good as exact where densities vanish at both ends.
rivals_win <- function(x, most, cdf, density) {
  table <- function(f, arm) t(vapply(0:most, function(m) f(x, m, arm), 0 * x))
  below <- lapply(1:3, function(arm) table(cdf, arm))
  here <- lapply(1:3, function(arm) table(density, arm) * diff(x[1:2]))
  at <- function(table, m) table[m + 1, , drop = FALSE]
  function(m1, m2, m3) {
    cbind(rowSums(at(here[[2]], m2) * at(below[[1]], m1) * at(below[[3]], m3)),
          rowSums(at(here[[3]], m3) * at(below[[1]], m1) * at(below[[2]], m2)))
  }
}

# The state of a policy after so many pulls and successes of its arms
state_after <- function(policy, n, s) {
  rewards <- unlist(Map(function(n, s) rep(1:0, c(s, n - s)), n, s)) + 0
  run_script(policy, length(n), rep(seq_along(n), n), rewards)$state
}

test_that("with two close rivals, which may beat the leader together, skipping has the exact distribution", {
  # A candidate round that both rivals win counts once, and its draws are those given that one has won: where
  # rivals differ, have more pulls than the leader and are as close to each other as to it, that matters.
  # From a state after some rounds, so that skipping begins at once: pulls and successes of the arms.
  rounds <- 40
  ones <- function(m, arm) if (arm == 1) m else 0
  gaussian <- function(c, n, s) {
    mean <- function(m, arm) (s[arm] + ones(m, arm)) / (n[arm] + m + 1)
    sd <- function(m, arm) sqrt(c / (n[arm] + m + 1))
    list(policy_ts_gaussian(0, c), n, s, rivals_win(
      seq(-1, 2, length.out = 300), rounds,
      function(x, m, arm) stats::pnorm(x, mean(m, arm), sd(m, arm)),
      function(x, m, arm) stats::dnorm(x, mean(m, arm), sd(m, arm))
    ))
  }
  beta <- function(n, s) {
    a <- function(m, arm) s[arm] + ones(m, arm) + 1
    b <- function(m, arm) n[arm] - s[arm] + m - ones(m, arm) + 1
    list(policy_ts_beta(), n, s, rivals_win(
      seq(0, 1, length.out = 300), rounds,
      function(x, m, arm) stats::pbeta(x, a(m, arm), b(m, arm)),
      function(x, m, arm) stats::dbeta(x, a(m, arm), b(m, arm))
    ))
  }
  cases <- list(gaussian(0.4, c(80, 20, 20), c(60, 10, 10)), gaussian(1, c(40, 400, 400), c(36, 240, 232)),
                beta(c(8000, 4000, 4000), c(4240, 2000, 2000)), beta(c(2000, 1e4, 1e4), c(1080, 5020, 4980)))
  for (case in cases) {
    exact <- rivals_distribution(rounds, case[[4]])
    expect_equal(sum(exact), 1, tolerance = 1e-9)
    n <- .Call(C_skip_from, kernel(case[[1]], 1e4), state_after(case[[1]], case[[2]], case[[3]]), sum(case[[2]]),
               c(1, 0, 0), rounds, 3e4, 3)
    expect_equal(.Call(C_read_skip, attr(n, "state"), 3L)$leader, 0)
    n <- n[2:3, ]
    # Both counts together, and the pulls of rivals in all
    expect_distribution(n[1, ] + nrow(exact) * n[2, ], 0, c(exact))
    expect_distribution(colSums(n), 0, as.vector(tapply(exact, row(exact) + col(exact) - 2, sum)))
  }
})

test_that("the bounds of a block are those of the posteriors", {
  # While arm 1 leads, with its rewards in steps of 1, 1 and 0. -> the largest of all errors
  follow <- function(policy, s, error) {
    kernel <- kernel(policy, 1e5)
    n <- c(1000, 300, 250)
    state <- state_after(policy, n, s)
    worst <- 0
    led <- 0
    for (i in 1:60) {
      rewards <- c(i %% 3 < 2, 0, i %% 2)
      out <- .Call(C_skip_from, kernel, state, sum(n), rewards, 10, 1, i)
      state <- attr(out, "state")
      n <- n + out[, 1]
      s <- s + out[, 1] * rewards
      block <- .Call(C_read_skip, state, 3)
      if (block$leader == 0) worst <- max(worst, abs(error(block, n, s)))
      led <- led + (block$leader == 0)
    }
    expect_true(led > 30 && sum(n[-1]) > 550) # rivals were pulled, too
    expect_lt(worst, 1e-9)
  }
  follow(policy_ts_gaussian(0, 2), c(667, 150, 121), function(block, n, s) {
    z <- (block$level - s / (n + 1)) / sqrt(2 / (n + 1) + 2 / (block$n + 1))
    (block$bound / (stats::dnorm(z) * 4 / (3 * z + sqrt(z^2 + 8))) - 1)[-1]
  })
  follow(policy_ts_beta(c(1.5, 2)), c(667, 172, 140), function(block, n, s) {
    above <- stats::pbeta(block$level, s + 1.5, n - s + 2, lower.tail = FALSE)
    c((block$bound / above)[-1] - 1, block$own < 1 - above[1])
  })
})

#' The distribution of the pulls of arm 2 over so many rounds, for an index policy on two arms of
#' which arm 1 is Bernoulli and arm 2 never pays: a forward sum over all histories, which
#' only differ in n2 and S1. `wins(x1, n1, n2, t)` tells whether arm 2 is pulled.
index_distribution <- function(mean, rounds, wins) {
  # of n2 and S1, up to t - 1 both; each arm is pulled once at first
  exact <- rbind(0, c(1 - mean, mean, 0), 0)
  for (t in 3:rounds) {
    at <- which(exact > 1e-15, arr.ind = TRUE)
    p <- exact[at]
    n2 <- at[, 1] - 1
    s1 <- at[, 2] - 1
    n1 <- t - 1 - n2
    two <- wins(s1 / n1, n1, n2, t)
    exact <- matrix(0, t + 1, t + 1)
    add <- function(where, p) exact[where] <<- exact[where] + p
    add(cbind(n2 + 2, s1 + 1)[two, , drop = FALSE], p[two])
    add(cbind(n2 + 1, s1 + 1)[!two, , drop = FALSE], (1 - mean) * p[!two])
    add(cbind(n2 + 1, s1 + 2)[!two, , drop = FALSE], mean * p[!two])
  }
  rowSums(exact)
}

test_that("index policies skip with their exact distribution", {
  gain <- function(y) -log1p(-pmin(y, 1 - 1e-12)) # kl(0, y)
  # The arm of the larger index; the first of equal ones, up to rounding.
  wins <- list(
    ucb1 = function(x, n1, n2, t) {
      sqrt(2 * log(t - 1) / n2) > x + sqrt(2 * log(t - 1) / n1) + 1e-12
    },
    imed = function(x, n1, n2, t) log(n2) + n2 * gain(x) < log(n1) - 1e-12,
    klucb = function(x, n1, n2, t) {
      y <- 1 - t^(-1 / n2)
      y > x & n1 * ref_kl(x, y) > log(t) + 1e-9
    }
  )
  policies <- list(ucb1 = policy_ucb1(), imed = policy_imed(), klucb = policy_klucb())
  for (name in names(wins)) {
    exact <- index_distribution(0.4, 150, wins[[name]])
    expect_equal(sum(exact), 1)
    for (engine in list("plain", "skip")) {
      sim <- play_by(engine, arms_bernoulli(c(0.4, 0)), policies[[name]], 150,
                     runs = if (engine == "skip") 4000 else 1000, seed = 13)
      expect_distribution(pull_matrix(sim)[2, ], 0, exact)
    }
  }
})

test_that("a stretch of skipped rounds is one that an index policy would play", {
  # Rewards that are the same whatever the draw: every engine must pull the same arms.
  for (values in list(c(0.5, 0.3, 0.45), c(0, 1, 0.9), c(0, 0, 0), c(0.2, 0.2, 0.1), 1)) {
    grid <- unique(values)
    arms <- arms_discrete(grid, 1 * outer(values, grid, "=="))
    for (policy in list(policy_ucb1(), policy_imed(), policy_klucb(), policy_dp_ucb_int(0.05),
                        policy_dp_ucb_int(0.002))) {
      skipped <- play_by("skip", arms, policy, 4e4, 1, 1, record = 1:200 * 200)
      plain <- play_by("plain", arms, policy, 4e4, 1, 1, record = 1:200 * 200)
      expect_identical(skipped$regret, plain$regret)
      expect_identical(pulls(skipped), pulls(plain))
    }
  }
})

test_that("a stretch ends where a leader that earns nothing more is overtaken", {
  # The worst case, for which bounds are made: a stretch a tenth too long skips the round in which a rival is
  # pulled. From pulls and successes of the arms; the last rival has nearly the leader's mean, and more pulls.
  overtaken <- function(policy, n, s) {
    forced <- rep(seq_along(n), n)
    earned <- unlist(Map(function(n, s) rep(1:0, c(s, n - s)), n, s)) + 0
    arms <- run_script(policy, length(n), c(forced, rep(NA, 400)), c(earned, rep(0, 400)))$arm
    arms <- arms[-seq_along(forced)]
    lead <- which(arms != 1)[1] - 1
    expect_true(lead > 24) # else its rounds are played one by one
    for (rounds in lead + c(0, 1, 30)) {
      pulled <- .Call(C_skip_from, kernel(policy, sum(n) + rounds), state_after(policy, n, s), sum(n), 0 * n,
                      rounds, 1, 1)
      expect_equal(pulled[, 1], tabulate(arms[seq_len(rounds)], length(n)))
    }
  }
  overtaken(policy_ucb1(), c(3000, 400), c(1650, 160))
  overtaken(policy_klucb(), c(3000, 400), c(1440, 160))
  overtaken(policy_klucb(), c(3000, 100, 30), c(2250, 50, 12))
  overtaken(policy_imed(), c(10000, 10), c(5100, 0))
  overtaken(policy_imed(), c(10000, 100, 30), c(7100, 50, 12))
  overtaken(policy_imed(), c(1000, 5000), c(500, 2499))
})

# ---- two samples ---------------------------------------------------------------------

#' Final regret, pulls of every arm (the first 5), and the last recorded round in which
#' the regret grew
statistics <- function(sim, record) {
  regret <- matrix(sim$regret, nrow = length(record))
  grew <- t(diff(rbind(0, regret)) > 0)[, length(record):1]
  last <- rev(record)[max.col(grew, "first")] * (rowSums(grew) > 0)
  n <- pull_matrix(sim)
  c(list(regret = regret[nrow(regret), ], last = last),
    lapply(seq_len(min(5, nrow(n))), function(i) n[i, ]))
}

five <- c(0.75, 0.625, 0.5, 0.375, 0.25)
settings <- list(
  "2 arms, gap 0.5" = list(arms_bernoulli(c(0.7, 0.2)), policy_ts_gaussian()),
  "2 arms, gap 0.001" = list(arms_bernoulli(c(0.501, 0.5)), policy_ts_gaussian(0, 0.1)),
  "2 arms, equal" = list(arms_bernoulli(c(0.5, 0.5)), policy_ts_gaussian(0, 1)),
  "2 arms, near 1" = list(arms_bernoulli(c(0.99, 0.95)), policy_ts_gaussian(10, 0.1)),
  "5 arms, c 0.1" = list(arms_bernoulli(five), policy_ts_gaussian(0, 0.1)),
  "5 arms, c 1" = list(arms_bernoulli(five), policy_ts_gaussian()),
  "5 arms, c 3, b 50" = list(arms_bernoulli(five), policy_ts_gaussian(50, 3)),
  "5 arms, c 100" = list(arms_bernoulli(five), policy_ts_gaussian(0, 100)),
  "5 arms, two best" = list(arms_bernoulli(c(0.6, 0.6, 0.3, 0.2, 0.1)),
                            policy_ts_gaussian(0, 0.5)),
  "5 truncexp" = list(arms_truncexp(c(0.1, 1, 2, 5, 10)), policy_ts_gaussian(5, 0.2)),
  "2 truncexp, close" = list(arms_truncexp(c(1, 1.1)), policy_ts_gaussian(0, 1)),
  "50 arms" = list(arms_bernoulli(c(0.9, seq(0.8, 0.1, length.out = 49))),
                   policy_ts_gaussian(0, 0.1)),
  "50 truncexp" = list(arms_truncexp(c(-3, seq(1, 8, length.out = 49))),
                       policy_ts_gaussian(10, 0.05)),
  "Beta, 5 arms" = list(arms_bernoulli(five), policy_ts_beta()),
  "Beta, 2 arms, equal" = list(arms_bernoulli(c(0.5, 0.5)), policy_ts_beta()),
  "Beta, 12 arms" = list(arms_bernoulli(c(0.9, seq(0.6, 0.1, length.out = 11))),
                         policy_ts_beta()),
  "Beta, 3 truncexp" = list(arms_truncexp(c(-2, 1, 2)), policy_ts_beta(c(2, 1.5))),
  "UCB1, 5 arms" = list(arms_bernoulli(five), policy_ucb1()),
  "UCB1, 3 truncexp" = list(arms_truncexp(c(-2, 1, 2)), policy_ucb1()),
  "IMED, 5 arms" = list(arms_bernoulli(five), policy_imed()),
  "IMED, 2 arms, near 1" = list(arms_bernoulli(c(0.99, 0.95)), policy_imed()),
  "IMED, 3 truncexp" = list(arms_truncexp(c(-2, 1, 2)), policy_imed()),
  "KL-UCB, 5 arms" = list(arms_bernoulli(five), policy_klucb()),
  "KL-UCB, 2 arms, near 0" = list(arms_bernoulli(c(0.05, 0.01)), policy_klucb()),
  "KL-UCB, 3 truncexp" = list(arms_truncexp(c(-2, 1, 2)), policy_klucb())
)

compare_engines <- function(horizon, runs) {
  record <- unique(round(seq(1, horizon, length.out = 20)))
  worst <- list()
  # Two coins have their exact distribution above, and index policies on coins, too; chances of many arms and
  # races of two have theirs. Of five scales the outer ones are played.
  known <- grepl("\\b2 arms|(UCB1|IMED|KL-UCB), 5|c 1$|c 100|two best|close|5 trunc|12 arms", names(settings))
  for (name in names(settings)[extended() | !known]) {
    setting <- settings[[name]]
    get <- function(engine, seed, runs) {
      statistics(play_by(engine, setting[[1]], setting[[2]], horizon, runs, seed, record),
                 record)
    }
    if (identical(setting[[2]]$name, "ts_gaussian")) {
      # Lanes take a tenth of the time: with five times as many of their runs, 0.6 times as many of the
      # others tell as much as equal numbers would.
      lanes <- get("lanes", 103, 3 * runs)
      worst[[paste(name, "lanes")]] <- smallest_p(lanes, get("plain", 101, 0.6 * runs))
      worst[[paste(name, "skip")]] <- smallest_p(lanes, get("skip", 102, 0.6 * runs))
    } else {
      # Index policies have their exact distribution above, in many more runs.
      n <- if (identical(setting[[2]]$name, "ts_beta")) runs else 0.6 * runs
      worst[[paste(name, "skip")]] <- smallest_p(get("plain", 101, n), get("skip", 102, n))
    }
  }
  unlist(worst)
}

test_that("skipping and lanes have the plain loop's distribution", {
  p <- compare_engines(600, 400)
  expect_gte(length(p), 2 * 4 + 5)
  # level 1e-3 for all of them together
  expect_gt(min(p), 1e-3 / length(p))
})

test_that("skipping and lanes have the plain loop's distribution, 10,000 runs", {
  skip_unless_extended()
  p <- compare_engines(2000, 10000)
  expect_gt(min(p), 1e-3 / length(p))
})

# ---- what must be equal ----------------------------------------------------------------

fast <- list(
  skip = list("skip", policy_ts_gaussian(5, 0.5)),
  lanes = list("lanes", policy_ts_gaussian(5, 0.5)),
  beta = list("skip", policy_ts_beta()),
  ucb1 = list("skip", policy_ucb1()),
  imed = list("skip", policy_imed()),
  klucb = list("skip", policy_klucb())
)

test_that("runs do not depend on threads, company or what is recorded", {
  arms <- arms_bernoulli(five)
  record <- c(1, 10, 100, 1000, 5000, 7999, 8000)
  for (engine in fast) {
    play <- function(runs, record, threads = 1) {
      play_by(engine[[1]], arms, engine[[2]], 8000, runs, 4, record, threads)
    }
    all <- play(1:20, record)
    two <- play(1:20, record, threads = 2)
    expect_identical(all$regret, two$regret)
    expect_identical(all$reward, two$reward)
    some <- play(c(19, 7), record)
    for (run in c(19, 7)) {
      expect_identical(some$regret[some$run == run], all$regret[all$run == run])
      expect_identical(some$reward[some$run == run], all$reward[all$run == run])
    }
    other <- play(1:20, c(1:50, 100, 777, 5000, 8000))
    shared <- c(1, 10, 100, 5000, 8000)
    expect_identical(other$regret[other$t %in% shared], all$regret[all$t %in% shared])
    expect_identical(other$reward[other$t %in% shared], all$reward[all$t %in% shared])
    expect_identical(pulls(other)$pulls, pulls(all)$pulls)
  }
})

test_that("lanes do the same on every vector unit, and as in full precision", {
  old <- .Call(C_lanes_widest, 2L)
  withr::defer(.Call(C_lanes_widest, old))
  for (arms in list(arms_bernoulli(five), arms_truncexp(c(0.1, 2, 5)), arms_bernoulli(c(1, 0, 1)))) {
    # From a scale with near ties in every round to one that overflows 24 bits, beyond those
    # that the constructor takes.
    for (scale in c(1e-12, 2, 1e80)) {
      policy <- policy_ts_gaussian(3)
      policy$params$variance_scale <- scale
      play <- function() play_by("lanes", arms, policy, 1500, 1:19, 9, c(10, 500, 1500))
      .Call(C_lanes_widest, 2L)
      wide <- play()
      for (unit in -1:1) { # -1: every round settled in full precision
        .Call(C_lanes_widest, unit)
        other <- play()
        expect_identical(other$regret, wide$regret)
        expect_identical(other$reward, wide$reward)
      }
    }
  }
})

test_that("lanes with counts past 31 bits are left to the other engines", {
  withr::local_options(dpts.engine = "lanes")
  sim <- dpts_simulate(arms_bernoulli(c(0.9, 0.1)), policy_ts_gaussian(), 2^31, runs = 2,
                       seed = 1, record = 1, progress = FALSE)
  expect_true(all(colSums(pull_matrix(sim)) == 2^31))
})

test_that("24 bits of a normal are within the bound that lanes rely on", {
  z <- .Call(C_sample, "normal_lanes_exact", 2^20, numeric(), 1)
  rough <- .Call(C_sample, "normal_lanes", 2^20, numeric(), 1)
  expect_lt(max(abs(z - rough)), 2e-5)
  expect_gt(max(abs(z - rough)), 1e-8) # they are not the same numbers
})

test_that("normals of lanes are normal, tails included", {
  z <- .Call(C_sample, "normal_lanes_exact", 2^20, numeric(), 1)
  n <- length(z)
  expect_ks(z, pnorm)
  for (cut in c(1, 3, 4, 4.5)) expect_tail_count(sum(abs(z) > cut), n, 2 * pnorm(-cut))
  # Squares and signs of the pair, and neighbours, are independent.
  x <- matrix(z, nrow = 16)
  expect_lt(max(abs(cor(t(x))[upper.tri(diag(16))])), 5 / sqrt(ncol(x)))
  expect_lt(max(abs(cor(t(x^2))[upper.tri(diag(16))])), 5 / sqrt(ncol(x)))
  pair <- matrix(array(z, c(16, 2, n / 32))[1, , ], nrow = 2)
  expect_lt(abs(cor(pair[1, ], pair[2, ])), 5 / sqrt(ncol(pair)))
  expect_lt(abs(cor(pair[1, ]^2, pair[2, ]^2)), 5 / sqrt(ncol(pair)))
})

test_that("tails of Beta distributions are right", {
  below <- function(a, b, x) .Call(C_sample, "beta_below", 1, c(a, b, x), 1)
  for (p in list(c(3, 4, 0.2), c(30, 40, 0.3), c(300, 100, 0.6), c(2.5, 1, 0.3),
                 c(1e6, 1e6, 0.499), c(1, 1e5, 1e-6), c(3, 4, 0.8))) {
    expect_equal(below(p[1], p[2], p[3]), pbeta(p[3], p[1], p[2]), tolerance = 1e-11)
  }
  # 1e12 pulls, 5 standard deviations out: normal up to the skewness, of order 1e-6
  sd <- sqrt(0.25 * 0.75 / 1e12)
  expect_equal(below(7.5e11, 2.5e11, 0.75 - 5 * sd), pnorm(-5), tolerance = 1e-4)
  given_above <- function(draw, p) {
    x <- .Call(C_sample, draw, 5e4, p, 1)
    expect_true(all(x > p[3] & x < 1))
    cdf <- -expm1(pbeta(sort(x), p[1], p[2], lower.tail = FALSE, log.p = TRUE) -
                    pbeta(p[3], p[1], p[2], lower.tail = FALSE, log.p = TRUE))
    expect_lt(max(abs(cdf - (seq_along(x) - 0.5) / length(x))) * sqrt(length(x)), 2.23)
  }
  cases <- list(c(1, 1, 0.5), c(2, 5, 0.4), c(30, 70, 0.45), c(200, 3, 0.3), c(1, 500, 0.01),
                c(1e5, 1e5, 0.51))
  for (p in cases) given_above("beta_above", p)
  # Where b or the point is close to 1; and both sides of where the way to draw changes
  close <- list(c(1, 1, 0.9999), c(40, 1, 0.999), c(40, 1, 0.5), c(3, 1.001, 0.9999), c(2.2, 1.01, 0.3), c(11, 2, 0.899),
                c(11, 2, 0.901), c(1, 30, 0.2))
  for (p in c(cases, close)) {
    given_above("beta_beyond", p)
    upper <- pbeta(p[3], p[1], p[2], lower.tail = FALSE)
    expect_equal(.Call(C_sample, "beta_upper", 1, p, 1), upper, tolerance = 1e-10)
    expect_equal(.Call(C_sample, "beta_upper_density", 1, p, 1), dbeta(p[3], p[1], p[2]), tolerance = 1e-10)
  }
})

# ---- recorded curves --------------------------------------------------------------------

test_that("curves inside a skipped stretch are right", {
  # One arm: a single stretch. Every recorded increment is a coin.
  sim <- play_by("skip", arms_bernoulli(0.3), policy_ts_gaussian(), 300, 300, 6, 1:300)
  step <- diff(rbind(0, matrix(sim$reward, nrow = 300)))
  expect_true(all(step %in% 0:1))
  expect_lt(max(abs(rowMeans(step) - 0.3)), 4.5 * sqrt(0.21 / 300))
  expect_tail_count(sum(step), length(step), 0.3)
  # neighbours are independent, at all scales
  for (lag in c(1, 75, 150)) {
    expect_lt(abs(cor(c(step[1:(300 - lag), ]), c(step[(lag + 1):300, ]))),
              4.5 / sqrt((300 - lag) * 300))
  }
  # At long horizons: reward given pulls has the arms' means and variances.
  record <- c(1e3, 123456789, 5e11, 1e12)
  runs <- 100
  sim <- play_by("skip", arms_bernoulli(five), policy_ts_gaussian(), 1e12, runs, 7, record)
  z <- (sim$reward - (0.75 * sim$t - sim$regret)) / sqrt(0.1875 * sim$t)
  for (t in record[-1]) {
    expect_lt(abs(mean(z[sim$t == t])), 4.5 / sqrt(runs))
    expect_ks(z[sim$t == t], pnorm)
  }
})

# ---- limits ------------------------------------------------------------------------------

test_that("a slice of work ends in time for an interrupt", {
  longest <- function(arms, policy, horizon, slices = 3) {
    job <- simulate_begin(list(arms = arms, horizon = horizon, record = horizon, seed = 1, delay = 0L,
                               batch = 1, engine = "auto"), kernel(policy, horizon), c(1, 2))
    max(vapply(seq_len(slices), function(i) {
      sum(system.time(.Call(C_simulate_advance, job$handle, 0.02), gcFirst = FALSE)[1:2])
    }, 0))
  }
  many <- arms_bernoulli(c(0.9, seq(0.8, 0.1, length.out = 9999)))
  cases <- list(
    list(arms_truncexp(c(0.1, 1, 2, 5, 10)), policy_ts_gaussian(), 1e9),
    list(arms_truncexp(c(0.1, 1, 2, 5, 10)), policy_ts_gaussian(1e7), 1e9),
    list(arms_beta(c(5, 1), 2), policy_ts_beta(), 1e9),
    list(arms_beta(c(5, 1), 2), policy_ucb1(), 1e9),
    list(arms_beta(c(5, 1), 2), policy_imed(), 1e9),
    list(arms_beta(c(5, 1), 2), policy_klucb(), 1e9),
    list(many, policy_klucb(), 1e9),
    list(many, policy_ts_gaussian(0, 0.1), 1e9),
    list(many, policy_ts_beta(), 1e9),
    list(arms_bernoulli(c(0.5, 0.5)), policy_ts_gaussian(), 1e12)
  )
  for (case in cases) {
    # 0.05 s too long at most. Time of this process: a busy machine may stop any process for longer.
    expect_lt(longest(case[[1]], case[[2]], case[[3]]), 0.07)
  }
})

test_that("horizons past 2^53 are refused by name", {
  error <- expect_error(
    dpts_simulate(arms_bernoulli(five), policy_ts_gaussian(), 2^54, progress = FALSE),
    class = "dpts_error_input"
  )
  expect_match(conditionMessage(error), "horizon")
  # and the largest of them is played
  sim <- play_by("auto", arms_bernoulli(c(0.9, 0.1)), policy_ts_gaussian(), 2^53, 3, 1)
  expect_true(all(colSums(pull_matrix(sim)) == 2^53))
})

test_that("an unknown engine is refused", {
  withr::local_options(dpts.engine = "fast")
  expect_error(dpts_simulate(arms_bernoulli(five), policy_ts_gaussian(), 100,
                             progress = FALSE), class = "dpts_error_input")
})
