# People of several strata, simulated

rates <- function() {
  arms_strata(low = arms_bernoulli(c(control = 0.1, new = 0.2)),
              high = arms_bernoulli(c(control = 0.6, new = 0.7)),
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
  for (case in list(list("low", "control", 0.1), list("low", "new", 0.2), list("high", "control", 0.6),
                    list("high", "new", 0.7))) {
    found <- mean_of(case[[1]], case[[2]])
    expect_lt(abs(found[1] - case[[3]]), 4 * sqrt(case[[3]] * (1 - case[[3]]) / found[2]))
  }
  # A stratum's blocks are of 20 of its own people.
  whole <- table[table$whole, ]
  expect_true(all(tapply(whole$n, paste(whole$run, whole$block), sum) == 20))
  expect_true(all(tapply(as.integer(whole$stratum), paste(whole$run, whole$block),
                         function(s) length(unique(s))) == 1))
})

test_that("strata save people, and their verdicts are seldom wrong", {
  skip_on_cran() # takes seconds
  people <- function(arms) {
    sim <- dpts_simulate(arms, policy_randomised(block = 10), 3000, runs = 20, seed = 3, history = TRUE)
    found <- verdict(sim)
    expect_identical(levels(droplevels(found$arm)), "new")
    found$t
  }
  strata <- people(arms_strata(low = arms_bernoulli(c(control = 0.05, new = 0.15)),
                               high = arms_bernoulli(c(control = 0.85, new = 0.95))))
  all <- people(arms_bernoulli(c(control = 0.45, new = 0.55)))
  # A person's variance is .0875 within strata and .2475 without: a third of the people is the limit.
  expect_lt(mean(strata), mean(all) - 3 * sqrt((stats::var(strata) + stats::var(all)) / 20))
})

test_that("a stratum's intervals hold under a null that differs between strata, and files keep them", {
  skip_on_cran() # takes seconds
  null <- arms_strata(a = arms_bernoulli(c(0.2, 0.2)), b = arms_bernoulli(c(0.8, 0.8)))
  sim <- dpts_simulate(null, policy_randomised(mu = 1, rule = "thompson", block = 20), 1500, runs = 60,
                       seed = 2, history = TRUE)
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
  bad(arms_strata(x = one, y = one, share = c(0.5, 0.6)), "add up to 1, not 1.1")
  bad(arms_strata(x = one, y = one, share = c(0, 1)), "nobody is in stratum \"x\"")
  bad(arms_strata(x = one, y = one, share = c(-1, 2)), "`share`")
  bad(arms_strata(x = one, y = one, share = 1), "each stratum: x and y; these are 1")
  bad(arms_strata(x = one, y = one, share = c(x = 0.5, z = 0.5)), "by its name")
  expect_equal(arms_strata(x = one, y = one, share = c(y = 0.2, x = 0.8))$world$share, c(0.8, 0.2))
  expect_equal(arms_strata(x = one, y = one, z = one, share = c(y = 0.5, z = 0.3, x = 0.2))$world$share, c(0.2, 0.5, 0.3))
  # Blocks that are large for a stratum's people
  rare <- arms_strata(x = one, y = one, share = c(0.98, 0.02))
  late <- "about 10,000 people are needed"
  expect_warning(dpts_simulate(rare, policy_randomised(block = 200), 15000, runs = 1, seed = 1), late,
                 class = "dpts_warning_strata")
  expect_warning(dpts_identify(rare, policy_randomised(block = 200), limit = 15000, runs = 1, seed = 1), late,
                 class = "dpts_warning_strata")
  expect_no_warning(dpts_plan(policy_randomised(), rare, 1000, runs = 2,
                              seed = 1)) # its last blocks end with it
  many <- do.call(arms_strata, stats::setNames(rep(list(one), 200), paste0("s", 1:200)))
  expect_warning(dpts_simulate(many, policy_randomised(block = 5), 400, runs = 1, seed = 1),
                 "With 200 strata.*about 1,000",
                 class = "dpts_warning_strata")
  bad(dpts_simulate(rates(), policy_ucb1(), 10, runs = 1, seed = 1), "one noisy sum")
  for (policy in list(policy_top_two(), policy_gaussian_imed(1))) {
    bad(dpts_identify(rates(), policy, runs = 1), "`policies` must randomise people.*means")
    bad(dpts_plan(policy, rates(), 100), "`designs` must randomise people.*means")
  }
  plan <- function(...) dpts_plan(policy_randomised(), rates(), 100, runs = 1, ...)
  bad(dpts_plan(policy_uniform(), rates(), 100), "one noisy sum")
  bad(dpts_plan(policy_randomised(), one, 100, by = "stratum"), "`by` must be NULL")
  bad(plan(by = "site"), "`by`")
  bad(plan(control = "low: control"), "`control`.*control and new")
  bad(dpts_recommend(privacy_gdp(1), list(rates(), arms_bernoulli(1:4 / 5)), horizon = 500), "same strata")
  bad(dpts_recommend(privacy_gdp(1), rates(), horizon = 500, goal = "verdict", candidates = "top_two"),
      "`candidates`.*means")
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
  # Something is left of the candidates for each goal, however small the budget.
  for (budget in list(privacy_pure(1e-6), privacy_gdp(1e-6), privacy_approx(1e-6, 1e-9))) for (goal in c("regret", "verdict", "effect")) {
    chosen <- candidate_policies(NULL, budget, 1000, 2, goal = goal, error = 0.05)
    expect_gt(length(with_strata(chosen, goal)$policies), 0)
  }
  expect_error(dpts_recommend(privacy_gdp(1), arms, horizon = 1000, runs = 3, candidates = "ts_gaussian",
                              seed = 1),
               "noisy sum", class = "dpts_error_input")
})

# ---- conclusions ------------------------------------------------------------------------------------

three <- function() {
  arms_strata(a = arms_bernoulli(c(old = 0.2, mid = 0.3, new = 0.4)),
              b = arms_bernoulli(c(old = 0.5, mid = 0.55, new = 0.8)),
              c = arms_bernoulli(c(old = 0.7, mid = 0.65, new = 0.9)), share = c(0.5, 0.3, 0.2))
}

quietly <- function(expr) withr::with_options(list(rlib_message_verbosity = "quiet"), expr)

test_that("people until a verdict are those of the release table, run by run", {
  skip_on_cran() # takes seconds
  policies <- list(equal = policy_randomised(mu = 1, block = 40),
                   laplace = policy_randomised(epsilon = 1, block = c(20, 60)),
                   adaptive = policy_randomised(mu = 2, rule = "top_two", block = 50),
                   permuted = policy_randomised(permuted = TRUE),
                   bits = policy_local(policy_randomised(block = 30), 2))
  for (margin in c(0, 0.05)) {
    found <- dpts_identify(three(), policies, limit = 4000, margin = margin, runs = 8, seed = 3)
    sim <- dpts_simulate(three(), policies, 4000, runs = 8, seed = 3, history = TRUE)
    own <- verdict(sim, margin = margin)
    expect_equal(found$people, ifelse(is.na(own$arm), NA, own$t))
    expect_equal(found$arm, as.integer(own$arm))
    expect_identical(found$correct, found$arm == 3)
  }
  expect_gt(mean(!is.na(found$people)), 0.8)
  expect_true(all(is.na(summary(found)$bound)))
  # Best is who is best over the shares, whatever is so in a stratum.
  mixed <- arms_strata(a = arms_bernoulli(c(0.2, 0.8)), b = arms_bernoulli(c(0.7, 0.4)), share = c(0.8, 0.2))
  found <- dpts_identify(mixed, policy_randomised(), limit = 5000, runs = 5, seed = 1)
  expect_true(all(found$arm == 2 & found$correct))
  expect_identical(summary(found)$bound, NA_real_)
})

test_that("a plan in strata says what the analysis at its end says, run by run", {
  skip_on_cran() # takes seconds
  arms <- three()
  designs <- list(fixed = policy_randomised(mu = 0.5, block = 1e9),
                  laplace = policy_randomised(epsilon = 0.3, block = 60),
                  adaptive = policy_randomised(mu = 1, rule = "thompson", block = 50, burn_in = 2))
  people <- 700
  runs <- 8
  means <- matrix(arms$mean, 3)
  sims <- lapply(stats::setNames(nm = names(designs)), function(name) {
    dpts_simulate(arms, designs[name], people, runs = runs, seed = 5, history = TRUE, finish = TRUE)
  })
  for (case in list(list(NULL, 1), list("stratum", NULL))) {
    by <- case[[1]]
    control <- case[[2]]
    plan <- dpts_plan(designs, arms, people, control = control, runs = runs, seed = 5, by = by)
    for (name in names(designs)) {
      sim <- sims[[name]]
      found <- quietly(effects(sim, control = control, at = "end", by = by))
      if (is.null(by)) found$stratum <- "all"
      found[c("arm", "control")] <- lapply(found[c("arm", "control")],
                                           function(arm) match(arm, c("old", "mid", "new")))
      parts <- unique(found$stratum)
      n <- array(pulls(sim)$pulls, c(3, 3, runs)) # arm, stratum, run
      for (part in parts) {
        row <- plan[plan$design == name, ]
        if (!is.null(by)) row <- row[row$stratum == part, ]
        own <- found[found$stratum == part, ]
        share <- 0.05 / length(parts) / if (is.null(control)) 3 else 2
        claimed <- own$p / 2 < share
        best <- own$arm == 3 & own$difference > 0 & claimed | own$control == 3 & own$difference < 0 & claimed
        label <- paste(name, part, length(control))
        expect_equal(mean(tapply(best, own$run, sum) == if (is.null(control)) 2 else 1), row$power,
                     label = label)
        # what is true of the people who came
        weight <- if (is.null(by)) apply(n, 2:3, sum) / people else matrix(+(c("a", "b", "c") == part), 3,
                                                                           runs)
        truth <- means %*% weight
        true <- truth[cbind(own$arm, own$run)] - truth[cbind(own$control, own$run)]
        held <- own$lower - 1e-9 <= true & true <= own$upper + 1e-9
        expect_equal(mean(tapply(held, own$run, all)), row$coverage, label = label)
        # Quantiles of Laplace noise are those of a number of terms that is rounded, 8 to 8 or 7.9.
        expect_equal(mean(own$upper - own$lower), row$width,
                     tolerance = if (name == "laplace") 1e-3 else 1e-9, label = label)
        if (!is.null(by)) expect_equal(row$counted, mean(colSums(n[, match(part, c("a", "b", "c")), ])))
      }
    }
  }
})

test_that("the difference over strata is that within them, weighed by people", {
  # By hand: two strata, each with its difference, its variance (of 0 and 1, shrunk by five people of both
  # arms) and noise.
  n <- matrix(c(100, 120, 300, 260), 2)
  sum <- matrix(c(12.5, 25, 181, 190.25), 2)
  table <- as_releases(data.frame(t = c(220, 220, 780, 780), block = c(1, 1, 2, 2), arm = 1:2, n = c(n),
                                  sum = c(sum), chance = 0.5,
                                  floor = 0.5, stratum = rep(c("x", "y"), each = 2)), "gaussian", 2)
  found <- quietly(effects(table, at = "end"))
  mean <- sum / n
  level <- rep((colSums(sum) + 1) / (colSums(n) + 2), each = 2)
  v <- (n * ((0.25 - (mean - 0.5)^2) * n + 4 / n) / (n - 1) + 5 * (0.25 - (level - 0.5)^2)) / (n + 5) / n +
    4 / n^2
  weight <- colSums(n) / sum(n)
  expect_equal(found$difference, sum(weight * (mean[2, ] - mean[1, ])))
  expect_equal(found$upper - found$difference, qnorm(0.975) * sqrt(sum(weight^2 * colSums(v))))
  by <- quietly(effects(table, at = "end", by = "stratum"))
  expect_equal(by$difference, mean[2, ] - mean[1, ])
  expect_equal(by$upper - by$difference, qnorm(1 - 0.05 / 4) * sqrt(colSums(v)))
  # An agent's blocks come in turn. Those of a stratum with the same chances are one difference.
  withr::local_seed(4)
  agent <- dpts_agent(policy_randomised(mu = 1e6, block = 20), 2, use = "arrival", strata = c("x", "y"))
  for (i in 1:10) {
    people <- rep(c("x", "y"), c(25, 15))
    choice <- agent_choose(agent, 40, stratum = people)
    agent_reward(agent, choice$ticket, stats::rbinom(40, 1, ifelse(people == "x", 0.2, 0.7)))
  }
  agent_finish(agent)
  rows <- dpts_releases(agent)
  totals <- function(name) tapply(rows[[name]], list(rows$arm, rows$stratum), base::sum)
  means <- totals("sum") / totals("n")
  expect_equal(quietly(effects(agent, at = "end"))$difference,
               base::sum((means[2, ] - means[1, ]) * c(250, 150) / 400))
  # The test that does not see strata is wider.
  width <- function(x) diff(unlist(quietly(effects(x, at = "end"))[c("lower", "upper")]))
  expect_lt(width(agent) / width(rows[names(rows) != "stratum"]), 1)
})

test_that("power in strata is that of the closed form, and little is claimed that is false", {
  skip_on_cran() # takes seconds
  null <- arms_strata(low = arms_bernoulli(c(control = 0.1, new = 0.1)),
                      high = arms_bernoulli(c(control = 0.6, new = 0.6)))
  hope <- arms_strata(low = arms_bernoulli(c(control = 0.1, new = 0.2)),
                      high = arms_bernoulli(c(control = 0.6, new = 0.7)))
  designs <- list(open = policy_randomised(block = 1e9), private = policy_randomised(mu = 0.5, block = 1e9))
  plan <- dpts_plan(designs, list(hope = hope, null = null), 600, runs = 500, seed = 1)
  within <- (0.09 + 0.16 + 0.24 + 0.21) / 150 # variances of four means of 150
  se <- sqrt(c(within, within + 4 * 4 / 150^2) / 4)
  exact <- stats::pnorm(0.1 / se - stats::qnorm(0.975))
  off <- 3 * sqrt(0.25 / 500)
  expect_lt(max(abs(plan$power[plan$scenario == "hope"] - exact)), off)
  # Without strata the variance is that of rates .35 and .45.
  pooled <- dpts_plan(designs$open, arms_bernoulli(c(0.35, 0.45)), 600, runs = 500, seed = 1)
  expect_gt(plan$power[1], pooled$power + sqrt(2) * off)
  by <- dpts_plan(designs, list(hope = hope, null = null), 600, by = "stratum", runs = 500, seed = 1)
  of_one <- stats::pnorm(0.1 / sqrt(c(0.25, 0.45) / 150) - stats::qnorm(1 - 0.05 / 4))
  expect_lt(max(abs(by$power[by$design == "open" & by$scenario == "hope"] - of_one)), off)
  most <- function(p) p + 3 * sqrt(p * (1 - p) / 500)
  expect_true(all(plan$false_claims[plan$scenario == "null"] <= most(0.05)))
  expect_true(all(by$false_claims[by$scenario == "null"] <= most(0.025)))
  expect_gte(min(plan$coverage), 1 - most(0.05))
  expect_gte(min(by$coverage), 1 - most(0.025))
})

test_that("the number of people is that at which each stratum has its power", {
  skip_on_cran() # takes seconds
  hope <- arms_strata(low = arms_bernoulli(c(control = 0.1, new = 0.3)),
                      high = arms_bernoulli(c(control = 0.6, new = 0.7)))
  design <- policy_randomised(block = 1e9)
  all <- dpts_plan(design, hope, runs = 60, seed = 1, power = 0.8)
  by <- dpts_plan(design, hope, runs = 60, seed = 1, power = 0.8, by = "stratum")
  expect_identical(by$people[1], by$people[2])
  expect_gt(by$people[1], all$people)
  expect_gte(min(by$power), 0.8)
  expect_identical(by$stratum, factor(c("low", "high"), c("low", "high")))
  fewer <- dpts_plan(design, hope, floor(by$people[1] / 1.04), runs = 60, seed = 1, by = "stratum")
  expect_lt(min(fewer$power), 0.84)
  shown <- summary(by)
  expect_identical(names(shown)[1:5], c("design", "scenario", "stratum", "people", "arm"))
  # Half of a stratum's people get each arm.
  drawn <- autoplot(by)$data
  expect_equal(drawn$value[drawn$what == "Share of failures"], 1 - c((0.1 + 0.3) / 2, (0.6 + 0.7) / 2), tolerance = 0.02)
  expect_equal(as.vector(tapply(shown$share, shown$stratum, sum)), c(1, 1))
  expect_match(format(by), "in each stratum", all = FALSE)
  expect_s3_class(autoplot(by), "ggplot")
  expect_identical(tidy(by)$stratum, c("low", "high"))
  expect_identical(nrow(rbind(by[1, ], by[2, ])), 2L)
  expect_error(rbind(by, by), class = "dpts_error_input")
})

test_that("dpts_recommend() ranks what tosses by people until a conclusion", {
  skip_on_cran() # takes seconds
  arms <- arms_strata(low = arms_bernoulli(c(control = 0.1, new = 0.3)),
                      high = arms_bernoulli(c(control = 0.5, new = 0.8)))
  advice <- dpts_recommend(privacy_gdp(1), arms, horizon = 1500, runs = 2, goal = "verdict", seed = 1)
  found <- dpts_identify(arms, recommended_policy(advice), limit = 1500, runs = 2, seed = 1)
  expect_equal(advice$people[1], mean(ifelse(is.na(found$people), 1500, found$people)))
  rows <- summary(advice)
  expect_setequal(rows$policy[grepl("means", rows$reason)], c("top_two", "top_two_pure"))
  advice <- dpts_recommend(privacy_gdp(1), arms, horizon = 1500, runs = 10, goal = "effect", seed = 1)
  expect_equal(advice$people[1], dpts_plan(recommended_policy(advice), arms, runs = 10, seed = 1,
                                           limit = 1500)$people)
})

test_that("it prints the best arm of each stratum", {
  two <- function(p) arms_bernoulli(c(x = p, y = 0.5))
  expect_match(format(arms_strata(n = two(0.1), s = two(0.7))), "best:  y in n and x in s", all = FALSE)
  expect_match(format(arms_strata(n = two(0.1), s = two(0.2))), "best:  y in each stratum", all = FALSE)
  three <- arms_strata(n = arms_bernoulli(c(x = 0.1, y = 0.5, z = 0.7)), s = arms_bernoulli(c(x = 0.6, y = 0.5, z = 0.2)))
  expect_match(format(three), "best:  z in n and x in s", all = FALSE)
})
