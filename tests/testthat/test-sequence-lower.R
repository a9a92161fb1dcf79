# What an adversary makes the arms leak: never above what is proved, and close to it.

skip_on_cran() # takes seconds

test_that("the silent arm agrees with its closed form", {
  # T rounds without a pull: the largest log(Phi(-y)^T - delta) - T log(Phi(-y - d))
  for (set in list(c(10, 1, 1, 1e-5), c(100, 1, 1, 1e-5), c(50, 20, 3, 1e-3))) {
    d <- 1 / sqrt(set[3] * (set[2] + 1))
    y <- seq(-8, 8, by = 1e-4)
    silent <- max(suppressWarnings(
      log(pnorm(-y)^set[1] - set[4]) - set[1] * pnorm(-y - d, log.p = TRUE)), na.rm = TRUE)
    expect_equal(dpts:::silent_epsilon(set[4], dpts:::sampler(set[1], set[2], set[3])), silent, tolerance = 1e-6)
  }
  # figures of a prototype at delta 1e-5: 8.91, 22.4, 46.4, 82.2 and 131
  silent <- vapply(10^(1:5), function(t) dpts:::silent_epsilon(1e-5, dpts:::sampler(t, 1, 1)), 0)
  expect_equal(silent, c(8.91, 22.4, 46.4, 82.2, 131), tolerance = 2e-3)
})

test_that("transcripts carry exact weights", {
  # E_R P/R = E_R Q/R = 1
  for (bounded in c(0, -1, 1)) for (set in list(c(30, 1, 1), c(1000, 50, 5))) {
    t <- .Call(C_adversary, set[1], set[2], set[3], 1.3, bounded, 5, 0, 2000, function(done) NULL)
    for (ratio in list(exp(t$weight), exp(t$weight - t$loss))) {
      expect_lt(abs(mean(ratio) - 1), 5 * sd(ratio) / sqrt(length(ratio)) + 1e-9)
    }
  }
})

test_that("a bounded adversary's positions are those that rewards in [0, 1] allow, with and without the change", {
  # From a pull's loss ln(Phi(x + s) / Phi(x)); with n rewards means are in [0, n / (n + 1)], others' in [0, 1].
  for (sign in c(-1, 1)) for (n in c(0, 1, 5)) for (scale in c(0.2, 1, 20)) {
    loss <- .Call(C_adversary, 1, n, scale, 1.02, sign, 5, 0, 200, function(done) NULL)$loss
    s <- sign / sqrt(scale * (n + 1))
    off <- function(x) stats::pnorm(x + s, log.p = TRUE) - stats::pnorm(x, log.p = TRUE) - sign * max(sign * loss)
    x <- c(0, s) + stats::uniroot(off, c(-30, 30), tol = 1e-10)$root
    room <- sqrt((n + 1) / scale)
    expect_true(all(x >= -room - 1e-6 & x <= room * n / (n + 1) + 1e-6), label = sprintf("x = %g at n = %g, scale %g", x[1], n, scale))
  }
})

test_that("it is close to the upper bound, and to a prototype's adversaries", {
  # 22.9 and 50.3 in the prototype, without a confidence bound
  found <- c(sequence_lower_bound(1e-5, 100), sequence_lower_bound(1e-5, 1000))
  expect_true(all(found <= c(22.9, 50.3) * 1.02 & found >= c(22.9, 50.3) * 0.95))
  found <- sequence_lower_bound(1e-10, 2000, 500, 14, runs = 2000)
  expect_true(found <= 2.042 * 1.01 && found >= 2.042 * 0.97)
  # rewards in [0, 1] limit the adversary, but hardly with many pre-pulls
  expect_equal(sequence_lower_bound(1e-5, 400, 500, 14, bounded = TRUE, runs = 600),
               sequence_lower_bound(1e-5, 400, 500, 14, runs = 600), tolerance = 0.05)
})

test_that("it is never above the upper bound", {
  set.seed(41)
  for (i in 1:6) {
    rounds <- round(10^runif(1, 0, 1.9))
    b <- sample(c(0, 2, 10, 100, 1000), 1)
    c <- 10^runif(1, -1.3, 1.7)
    delta <- 10^-runif(2, 0.5, 10)
    lower <- sequence_lower_bound(delta, rounds, b, c, runs = 400, bounded = i %% 3 == 0, seed = i)
    upper <- sequence_epsilon(delta, rounds, b, c)
    expect_true(all(lower <= upper), label = paste(rounds, b, c))
  }
  # The two are one number in a single round: roundings go down.
  delta <- c(0.003, 1e-5, 1e-8)
  lower <- sequence_lower_bound(delta, 1, 50, 3, runs = 100)
  expect_true(all(lower <= sequence_epsilon(delta, 1, 50, 3) & lower > 0))
})

test_that("a bounded adversary's changed reward moves the mean one way in all rounds", {
  # delta at epsilon over all strategies of one sign, by backward recursion over the rounds left and the
  # private arm's rewards n. delta is convex in exp(epsilon), so chords are above it; positions are those
  # that rewards in [0, 1] allow, on a fine grid.
  most_delta <- function(goal, rounds, scale, sign, step = 0.05) {
    e <- exp(seq(-4, max(goal) + 4, by = step))
    chords <- function(value) stats::approxfun(e, value, yleft = 1, rule = 2)
    later <- rep(list(chords(pmax(1 - e, 0))), rounds + 1) # by n - 1
    for (left in seq_len(rounds)) {
      later <- lapply(seq_len(rounds + 1 - left), function(n) {
        s <- sign / sqrt(scale * (n + 1))
        room <- sqrt((n + 1) / scale)
        x <- seq(-room - min(s, 0), room * n / (n + 1) - max(s, 0), length.out = 41)
        best <- 0 * e
        for (y in x) {
          p <- pnorm(y + s)
          q <- pnorm(y)
          best <- pmax(best, p * later[[n + 1]](e * q / p) + (1 - p) * later[[n]](e * (1 - q) / (1 - p)))
        }
        chords(best)
      })
    }
    later[[1]](exp(goal))
  }
  # the last: the largest loss of a single round is so common that no goal lies below it
  for (set in list(c(5, 1, 1e-3), c(6, 3, 1e-6), c(1, 0.2, 1e-10))) {
    lower <- sequence_lower_bound(set[3], set[1], 0, set[2], bounded = TRUE, runs = 2000)
    most <- pmax(most_delta(lower * c(1, 1.03), set[1], set[2], -1), most_delta(lower * c(1, 1.03), set[1], set[2], 1))
    expect_gte(most[1], set[3])
    expect_lt(most[2], set[3]) # no strategy reaches 3 percent more
    expect_gt(lower, 0)
  }
  # By hand: passes of 8 rounds lose at most 5.88, and a sign that pulls more leaves delta 1.5e-8 there.
  expect_lt(sequence_lower_bound(1e-5, 8, bounded = TRUE), 5.9)
  expect_lt(most_delta(6.66, 8, 1, 1, 0.1), 1e-7)
})

test_that("what is reported holds with its confidence", {
  # One round: the largest delta(epsilon) over positions is known
  d <- 1 / sqrt(2)
  x <- seq(-8, 8, by = 1e-3)
  true <- function(e) {
    max(pmax(0, pnorm(x - d) - exp(e) * pnorm(x)) + pmax(0, pnorm(d - x) - exp(e) * pnorm(-x)))
  }
  truth <- uniroot(function(e) true(e) - 0.01, c(0, 5), tol = 1e-10)$root
  found <- vapply(1:30, function(seed) {
    sequence_lower_bound(0.01, 1, runs = 200, level = 0.9, seed = seed)
  }, 0)
  expect_lte(max(found), truth + 1e-6) # positions 1e-3 apart
  # the seed decides, and R's generator is left alone
  set.seed(2)
  before <- .Random.seed
  one <- sequence_lower_bound(1e-3, 50, runs = 500, seed = 7)
  expect_identical(sequence_lower_bound(1e-3, 50, runs = 500, seed = 7), one)
  expect_identical(.Random.seed, before)
})

test_that("an epsilon counts only where its delta is surely above the one asked for", {
  # by enumeration: of 60 samples k are 1; the bound is above the chance of one with at most the risk
  share <- function(k, n) rep(c(1, 0), c(k, n - k))
  for (p in c(0.2, 0.5, 0.9)) {
    above <- vapply(0:60, function(k) mean_above(share(k, 60), 1, 0.05), 0) > p
    expect_lte(sum(stats::dbinom(0:60, 60, p)[above]), 0.05)
  }
  # Maurer and Pontil's theorem 4, with the variance of a sample written out
  wide <- 2 * 5^2 * 0.3 * 0.7 * 1000 / 999
  expect_equal(mean_above(5 * share(300, 1000), 5, 0.05),
               1.5 - sqrt(wide * log(40) / 1000) - 7 * 5 * log(40) / (3 * 999))
  # Each of the proposals has its share of the risk: these transcripts lose without limit with chance 0.3.
  sample <- list(weight = numeric(1000), loss = ifelse(share(300, 1000) == 1, Inf, 0))
  sure <- mean_above(share(300, 1000), 1, 0.05 / length(TEST_MARGINS))
  given <- function(delta) accept(sample, list(epsilon = c(1, 2), cap = c(1, 1)), delta, 0.95)
  expect_equal(given(0.999 * sure), 2)
  expect_equal(given(1.001 * sure), 0)
  # The transcripts that choose an adversary do not test it.
  asked <- list()
  play <- function(one, first, runs) {
    asked[[length(asked) + 1]] <<- first + seq_len(runs)
    list(weight = numeric(runs), loss = rep_len(c(0, 0, 5), runs))
  }
  stage_epsilon(0.1, list(1, 2), play, 3000, 0.95)
  expect_equal(asked, list(1:1000, 1:1000, 1001:4000))
})

test_that("lower is never above direct, whatever is on offer and however late", {
  # With pools two arms need their pre-pulls before the first choice between them.
  pools <- dpts_privacy(policy_ts_gaussian(10, 3), 30, delta = c(1e-2, 1e-5), accountant = "direct",
                        lower = TRUE, pools = TRUE)
  expect_equal(pools$epsilon, sequence_epsilon(c(1e-2, 1e-5), 10, 10, 3))
  # rounds, pre-pulls, scale, pools, delay
  for (set in list(c(30, 10, 3, 0, 0), c(19, 10, 3, 1, Inf), c(8, 0, 1, 0, 0), c(20, 3, 0.2, 1, Inf), c(30, 5, 5, 0, Inf),
                   c(30, 5, 5, 1, 0))) {
    both <- dpts_privacy(policy_ts_gaussian(set[2], set[3]), set[1], delta = c(0.3, 1e-9),
                         accountant = "direct", lower = TRUE, pools = set[4] == 1, delay = set[5], arms = 3)
    expect_true(all(both$lower <= both$epsilon), label = paste(set, collapse = " "))
  }
  # Without pre-pulls a round goes by before there is a reward to be protected.
  new <- dpts_privacy(policy_ts_gaussian(), 1:3, delta = c(1e-2, 1e-5), accountant = "direct", lower = TRUE)
  expect_true(all(new$lower <= c(0, 0, new$epsilon[new$horizon < 3])) && all(new$lower[new$horizon > 1] > 0))
})

test_that("dpts_privacy(lower = TRUE) adds the column, and autoplot() the band", {
  p <- dpts_privacy(list(a = policy_ts_gaussian(20, 3), b = policy_dp_imed(1)), 70,
                    delta = c(1e-2, 1e-4), lower = TRUE)
  expect_identical(names(p), c("policy", "accountant", "horizon", "delta", "epsilon", "lower"))
  expect_true(all(is.na(p$lower[p$policy == "b"])))
  own <- p[p$policy == "a", ]
  expect_true(all(own$lower <= own$epsilon & own$lower > 0))
  expect_equal(own$lower[own$accountant == "gdp"],
               sequence_lower_bound(c(1e-2, 1e-4), 30, 20, 3, bounded = TRUE))
  expect_true("lower" %in% names(summary(p)))
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  plot <- autoplot(own)
  band <- ggplot2::layer_data(plot, 1)
  band <- band[order(-band$x), ]
  best <- summary(own)
  expect_equal(band$ymin, log10(best$lower))
  expect_equal(band$ymax, log10(best$epsilon))
  caption <- gsub("\n", " ", plot$labels$caption)
  expect_match(caption, "Shaded: from what leaks to an adversary who knows the other arms' largest draw")
  expect_match(caption, "With few arms, all new and always available, the truth may lie below")
  # no band without the column, or for policies that have none
  expect_false(inherits(autoplot(dpts_privacy(policy_ts_gaussian(), 50))$layers[[1]]$geom, "GeomRibbon"))
  expect_error(dpts_privacy(policy_ts_gaussian(), 50, lower = 1), "`lower`", class = "dpts_error_input")
  # nothing is drawn by the end of the pre-pulls; a filter ends the game
  none <- dpts_privacy(policy_ts_gaussian(10), 20, delta = 1e-3, lower = TRUE)
  expect_identical(unique(none$lower), 0)
})
