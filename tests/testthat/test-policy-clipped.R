test_that("with a range it is the policy on clipped rewards", {
  n <- 400
  rewards <- withr::with_seed(1, matrix(rnorm(2 * n, 1, 3), n))
  clipped <- pmin(pmax((rewards + 2) / 6, 0), 1)
  for (inner in list(policy_ucb1(), policy_dp_imed(1), policy_forget(window = 100, mu = 1, batch = 5))) {
    out <- run_script(policy_clipped(inner, c(-2, 4)), 2, rep(NA, n), rewards)
    expect_identical(out$arm, run_script(inner, 2, rep(NA, n), clipped)$arm)
  }
})

test_that("the range is found by seven noisy counts of the pilot, and the policy begins then", {
  n <- 600
  rewards <- withr::with_seed(2, matrix(rlnorm(2 * n, c(3, 4), 1.5), n))
  level <- 2^(-24 + (0:127) / 2)
  for (range in list(c(-40, NA), c(NA, NA))) {
    policy <- policy_clipped(policy_ucb1(), range, tail = 0.1, pilot = 200)
    private <- policy_clipped(policy_lazy_ucb(1), range, 0.5, tail = 0.1, pilot = 200)
    for (p in list(policy, private)) {
      out <- run_script(p, 2, rep(NA, n), rewards)
      expect_identical(out$arm[1:200], rep(1:2, 100))
      x <- rewards[cbind(1:200, out$arm[1:200])]
      x <- if (is.na(range[1])) abs(x) else x + 40
      expect_true(all(out$scale[1:7] == if (identical(p, policy)) 0 else 14))
      low <- 1
      high <- 128
      for (look in 1:7) {
        at <- (low + high) %/% 2
        expect_equal(out$exact[look], sum(x > level[at]))
        if (out$value[look] <= 20) high <- at else low <- at + 1
      }
      u <- level[low]
      bounds <- if (is.na(range[1])) c(-u, u) else c(-40, u - 40)
      rest <- pmin(pmax((rewards[201:n, ] - bounds[1]) / diff(bounds), 0), 1)
      inner <- p$policy
      if (identical(p, policy)) {
        expect_identical(out$arm[201:n], run_script(inner, 2, rep(NA, 400), rest)$arm)
        expect_gte(u, quantile(x, 0.9, type = 1) * (1 - 1e-9))
        expect_lte(u, quantile(x, 0.9, type = 1) * sqrt(2))
      } else {
        m <- out$total - 7
        again <- run_script(inner, 2, rep(NA, 400), rest, forced = out$value[7 + seq_len(m)])
        expect_identical(out$arm[201:n], again$arm)
        expect_equal(out$exact[7 + seq_len(m)], again$exact[seq_len(m)])
      }
    }
  }
})

test_that("a reward at a level is not above it: rewards of 0 and 1 have the range [0, 1]", {
  n <- 300
  rewards <- withr::with_seed(5, matrix(c(rep(1, 80), runif(2 * n - 80)), n, byrow = TRUE))
  out <- run_script(policy_clipped(policy_ucb1(), c(0, NA), tail = 0.1, pilot = 40), 2, rep(NA, n), rewards)
  expect_identical(out$arm[41:n], run_script(policy_ucb1(), 2, rep(NA, n - 40), rewards[41:n, ])$arm)
})

test_that("what comes late of the pilot is not used", {
  n <- 300
  rewards <- withr::with_seed(3, matrix(rexp(2 * n), n))
  late <- rep(15, n)
  out <- run_script(policy_clipped(policy_ucb1(), c(0, NA), tail = 0.1, pilot = 40), 2, rep(NA, n), rewards, delays = late)
  rest <- 56:n # the 40th reward comes in round 55
  u <- 2^(-24 + (0:127) / 2)
  u <- u[findInterval(sort(rewards[cbind(1:40, out$arm[1:40])])[36], u, left.open = TRUE) + 1]
  own <- run_script(policy_ucb1(), 2, rep(NA, length(rest)), pmin(rewards[rest, ] / u, 1), delays = late[rest])
  expect_identical(out$arm[rest], own$arm)
})

test_that("means are those of rewards that come scaled, in the rewards' own units", {
  of <- function(policy, ...) {
    estimates(dpts_simulate(arms_gaussian(c(0, 1), sd = 2, ...), list(p = policy), 500, runs = 2, seed = 1))
  }
  for (inner in list(policy_dp_imed(1), policy_gaussian_imed(1, correlation = 0.5))) {
    scaled <- of(inner, range = c(-2, 4))
    own <- of(policy_clipped(inner, c(-2, 4)))
    expect_identical(own$rewards, scaled$rewards)
    expect_equal(pmin(pmax(own$mean, -2), 4), scaled$mean)
  }
  # Each number of a report: sums of all kinds, and the noise that later ones share, and that of the last alone
  rewards <- cbind(seq(-3, 5, length.out = 150), 1)
  report <- function(policy, rewards) {
    out <- run_script(policy, 2, rep_len(1:2, 150), rewards)$report
    rownames(out) <- REPORT
    out
  }
  for (inner in list(policy_dp_imed(1), policy_gaussian_imed(1, correlation = 0.5, outcome = "continuous"), policy_mt_ucb(1),
                     policy_dp_ts(1), policy_ucb1())) {
    own <- report(policy_clipped(inner, c(-2, 4)), rewards)
    hand <- report(inner, (pmin(pmax(rewards, -2), 4) + 2) / 6)
    hand["sum", ] <- -2 * hand["rewards", ] + 6 * hand["sum", ]
    for (name in c("scale", "last_scale")) hand[name, ] <- 6 * hand[name, ]
    hand[c("squares", "weight"), ] <- 0
    expect_equal(own, hand, label = format(inner))
  }
  # Of the pilot there is nothing to tell.
  pilot <- policy_clipped(policy_dp_imed(1), epsilon = 1, pilot = 151)
  expect_identical(unname(report(pilot, rewards)), matrix(0, length(REPORT), 2))
})

test_that("estimates are in units of the rewards, with the bias that the help page has", {
  arms <- arms_custom(function(arm, n) 1 / sqrt(runif(n)), means = 2, range = NULL) # Pareto, exponent 2
  sim <- dpts_simulate(arms, policy_clipped(policy_ucb1(), c(0, sqrt(20))), 2e4, runs = 1, seed = 1)
  expect_equal(estimates(sim)$mean, 2 * (1 - 0.112), tolerance = 0.02)
  found <- dpts_simulate(arms, policy_clipped(policy_dp_imed(2), epsilon = 2), 2e4, runs = 4, seed = 1)
  expect_true(all(abs(estimates(found)$mean - 1.8) < 0.2))
  expect_error(evidence(found), class = "dpts_error")
})

test_that("its promise is the weaker of the two, and what cannot be is refused", {
  expect_equal(dpts_privacy(policy_clipped(policy_dp_imed(1), epsilon = 0.5), 1000, delta = 0)$epsilon[1], 1)
  expect_equal(dpts_privacy(policy_clipped(policy_dp_imed(1), epsilon = 3), 1000, delta = 0)$epsilon[1], 3)
  expect_equal(policy_clipped(policy_gaussian_imed(0.1), epsilon = 1)$guarantee,
               dpts:::guarantee_gdp(dpts:::pure_mu(1)))
  expect_identical(policy_clipped(policy_mt_ucb(1), c(0, 9))$guarantee, policy_mt_ucb(1)$guarantee)
  policy <- policy_clipped(policy_dp_imed(1), c(NA, NA), epsilon = 0.5)
  expect_equal(eval(str2lang(as.character(policy))), policy)
  expect_identical(policy$params$pilot, 1200)
  bad <- function(code, words) expect_error(code, words, class = "dpts_error_input")
  bad(policy_clipped(policy_dp_imed(1)), "`epsilon` must be given")
  bad(policy_clipped(policy_ucb1(), c(NA, 3)), "`range`")
  bad(policy_clipped(policy_ucb1(), c(3, 1)), "`range`")
  bad(policy_clipped(policy_ucb1(), tail = 0), "`tail`")
  # A range that is given needs no search, and a search needs more rounds than a life may have.
  bad(policy_clipped(policy_dp_imed(1), c(0, 5), epsilon = 1), "`epsilon` must be left out")
  bad(policy_clipped(policy_dp_imed(1), c(0, 5), tail = 0.1), "`tail` must be left out")
  bad(policy_clipped(policy_dp_imed(1), c(0, 5), pilot = 10), "`pilot` must be left out")
  found <- policy_clipped(policy_ucb1(), pilot = 300)
  for (around in list(found, policy_local(found, 1))) bad(policy_restart(around, 300), "`every` must be above 300")
  expect_no_error(policy_restart(found, 301))
  bad(policy_clipped(policy_ucb1(), epsilon = NA), "`epsilon` must be a number")
  bad(policy_clipped(policy_ts_gaussian(), epsilon = 1), "pure or a Gaussian")
  bad(policy_clipped(policy_restart(policy_ucb1(), 10), c(0, 1)), "not around another one")
  arms <- arms_gaussian(c(0, 1), sd = 1)
  bad(dpts_simulate(arms, policy_dp_imed(1), 100, seed = 1), "policy_clipped")
  # An agent has scaled rewards already: clipped once more to [0, 100] all would be worth 1 percent.
  store <- withr::local_tempfile()
  for (policy in list(policy_clipped(policy_ucb1(), c(0, 100)), policy, policy_restart(policy, 2000))) {
    bad(dpts_agent(policy, 2, store = store, horizon = 100, use = "arrival", range = c(0, 1e4)),
        "use `range` of `dpts_agent\\(\\)`")
  }
  expect_false(file.exists(store))
})
