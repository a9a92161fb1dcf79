# People of several strata, simulated

rates <- function() {
  arms_strata(low = arms_bernoulli(c(control = 0.1, new = 0.2)), high = arms_bernoulli(c(control = 0.6, new = 0.7)),
              share = c(0.25, 0.75))
}

test_that("people come by the shares, get arms of their stratum, and regret is within it", {
  arms <- rates()
  expect_identical(names(arms), c("low: control", "low: new", "high: control", "high: new"))
  expect_equal(unname(arms$gap), c(0.1, 0, 0.1, 0))
  sim <- dpts_simulate(arms, policy_randomised(block = 20), 4000, runs = 2, seed = 1, history = TRUE)
  pulled <- pulls(sim)
  n <- tapply(pulled$pulls, pulled$arm, sum)
  # standard errors of binomial counts
  expect_equal(sum(n[1:2]), 2000, tolerance = 4 * sqrt(8000 * 0.25 * 0.75) / 2000)
  expect_equal(n[["low: new"]], sum(n[1:2]) / 2, tolerance = 4 * sqrt(500) / 1000)
  last <- sim[sim$t == 4000, ]
  expect_equal(sum(last$regret), 0.1 * sum(n[c(1, 3)]))
  # What is released is of the strata, and without noise it is what was seen.
  table <- dpts_releases(sim)
  expect_setequal(levels(table$stratum), c("low", "high"))
  expect_setequal(levels(table$arm), c("control", "new"))
  mean_of <- function(stratum, arm) {
    own <- table[table$stratum == stratum & table$arm == arm, ]
    c(sum(own$sum) / sum(own$n), sum(own$n))
  }
  for (case in list(list("low", "control", 0.1), list("low", "new", 0.2), list("high", "control", 0.6), list("high", "new", 0.7))) {
    found <- mean_of(case[[1]], case[[2]])
    expect_lt(abs(found[1] - case[[3]]), 4 * sqrt(case[[3]] * (1 - case[[3]]) / found[2]))
  }
  # A stratum's blocks are of 20 of its own people.
  whole <- table[table$whole, ]
  expect_true(all(tapply(whole$n, paste(whole$run, whole$block), sum) == 20))
  expect_true(all(tapply(as.integer(whole$stratum), paste(whole$run, whole$block), function(s) length(unique(s))) == 1))
})

test_that("strata save people, and their verdicts are seldom wrong", {
  skip_on_cran() # takes seconds
  people <- function(arms) {
    sim <- dpts_simulate(arms, policy_randomised(block = 10), 4000, runs = 80, seed = 3, history = TRUE)
    found <- verdict(sim)
    expect_false("control" %in% found$arm)
    mean(found$t)
  }
  strata <- arms_strata(low = arms_bernoulli(c(control = 0.1, new = 0.2)), high = arms_bernoulli(c(control = 0.6, new = 0.7)))
  # bench/strata.md has 0.76; the standard error of this ratio is 0.05.
  expect_lt(people(strata), 0.87 * people(arms_bernoulli(c(control = 0.35, new = 0.45))))
})

test_that("a stratum's intervals hold under a null that differs between strata, and files keep them", {
  skip_on_cran() # takes seconds
  null <- arms_strata(a = arms_bernoulli(c(0.2, 0.2)), b = arms_bernoulli(c(0.8, 0.8)))
  sim <- dpts_simulate(null, policy_randomised(mu = 1, rule = "thompson", block = 20), 1500, runs = 60, seed = 2, history = TRUE)
  by <- effects(sim, by = "stratum")
  expect_lte(mean(by$lower > 0 | by$upper < 0), 0.05)
  expect_lte(mean(!is.na(verdict(sim)$arm)), 0.05 + 3 * sqrt(0.05 * 0.95 / 60))
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(dpts_releases(sim[sim$run <= 2, ]), file)
  expect_equal(verdict(as_releases(utils::read.csv(file)))$wrong, verdict(sim)$wrong[1:2])
})

test_that("bad strata are named", {
  one <- arms_bernoulli(c(a = 0.1, b = 0.2))
  bad <- function(x, why) expect_error(x, why, class = "dpts_error_input")
  bad(arms_strata(one, one), "different name")
  bad(arms_strata(x = one, x = one), "different name")
  bad(arms_strata(x = one, y = 3), "`...`")
  bad(arms_strata(x = one, y = arms_bernoulli(c(a = 0.1, c = 0.2))), "same arms")
  bad(arms_strata(x = arms_gaussian(c(1, 2), 1), y = arms_gaussian(c(1, 2), 1)), "known range")
  bad(arms_strata(x = one, y = one, share = c(0.5, 0.6)), "`share`")
  bad(arms_strata(x = one, y = one, share = c(0, 1)), "`share`")
  bad(dpts_simulate(rates(), policy_ucb1(), 10, runs = 1, seed = 1), "one noisy sum")
  bad(dpts_identify(rates(), policy_randomised(), runs = 1), "no strata")
  bad(dpts_plan(policy_randomised(), rates(), 100), "no strata")
  broken <- rates()
  broken$world$share <- c(2, -1)
  expect_error(dpts_simulate(broken, policy_randomised(), 10, runs = 1, seed = 1))
})

test_that("dpts_recommend() ranks what can be played in strata by its regret there", {
  arms <- arms_strata(north = arms_bernoulli(c(0.1, 0.3)), south = arms_bernoulli(c(0.8, 0.6)))
  advice <- dpts_recommend(privacy_gdp(1), arms, horizon = 1000, runs = 3, seed = 1)
  rows <- summary(advice)
  expect_setequal(rows$policy[grepl("in strata", rows$reason)], c("dp_ts_ucb", "ts_gaussian"))
  sim <- dpts_simulate(arms, recommended_policy(advice), 1000, runs = 3, seed = 1, record = I(1000))
  expect_equal(rows$regret[rows$standing == "best"], mean(sim$regret))
  # Without strata the same arms would be two of rates .45 each: only a policy with strata gains.
  expect_lt(min(rows$regret, na.rm = TRUE), 1000 * 0.2 / 2 - 3 * 1000 * 0.2 / 2 / sqrt(1000))
  expect_error(dpts_recommend(privacy_gdp(1), arms, horizon = 1000, runs = 3, candidates = "ts_gaussian", seed = 1),
               "noisy sum", class = "dpts_error_input")
  for (goal in c("verdict", "effect")) {
    expect_error(dpts_recommend(privacy_gdp(1), arms, horizon = 1000, runs = 3, goal = goal, seed = 1), "strata",
                 class = "dpts_error_input")
  }
})
