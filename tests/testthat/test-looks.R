# Looks of a board: a group sequential test in dpts_plan() and effects(at = "end").

quiet <- function(expr) withr::with_options(list(rlib_message_verbosity = "quiet"), expr)

test_that("critical values are those of the published tables", {
  # Five looks, two sides of .05 in all: Lan and DeMets's boundaries, as the programs ld98 and ldbounds print them
  expect_equal(look_boundary(1:5 / 5, 0.025, "obrien_fleming"), c(4.8769, 3.3569, 2.6803, 2.2898, 2.0310), tolerance = 5e-5)
  expect_equal(look_boundary(1:5 / 5, 0.025, "pocock"), c(2.4380, 2.4268, 2.4101, 2.3966, 2.3859), tolerance = 5e-5)
  # Jennison and Turnbull (2000), Tables 2.1 and 2.3: with these constants the error is .05
  crossed <- function(line) 2 * sum(walk_looks(seq_along(line) / length(line), function(j, cross) line[j])$crossed)
  expect_equal(crossed(rep(2.413, 5)), 0.05, tolerance = 2e-3)
  expect_equal(crossed(2.040 * sqrt(5 / 1:5)), 0.05, tolerance = 2e-3)
  expect_equal(crossed(rep(2.555, 10)), 0.05, tolerance = 2e-3)
  expect_equal(crossed(2.087 * sqrt(10 / 1:10)), 0.05, tolerance = 3e-3)
})

test_that("two looks, near and far apart, spend what they should, by integration", {
  for (share in c(0.05, 0.5, 0.98)) for (spending in c("obrien_fleming", "pocock")) {
    line <- look_boundary(c(share, 1), 0.1, spending)
    late <- stats::integrate(function(x) {
      stats::dnorm(x) * stats::pnorm((line[2] - sqrt(share) * x) / sqrt(1 - share), lower.tail = FALSE)
    }, -10, min(line[1], 10), rel.tol = 1e-10, subdivisions = 1000)$value
    expect_equal(stats::pnorm(-line[1]) + late, 0.1, tolerance = 1e-6, info = paste(share, spending))
  }
  expect_equal(look_boundary(1, 0.03, "pocock"), stats::qnorm(0.97))
  # A p-value is the error at which the critical value is met.
  share <- c(0.2, 0.45, 1)
  for (error in c(1e-4, 0.0123, 0.3)) {
    line <- look_boundary(share, error, "obrien_fleming")
    z <- matrix(NA_real_, 3, 3)
    diag(z) <- line
    expect_equal(look_errors(z[is.finite(line), , drop = FALSE], share, "obrien_fleming") / error, rep(1, sum(is.finite(line))),
                 tolerance = 1e-4)
  }
  expect_equal(log(look_errors(rbind(c(NA, NA), c(-1, NA), c(1, 30)), c(0.5, 1), "pocock")), c(NA, 0, stats::pnorm(-6, log.p = TRUE)))
})

test_that("power and errors of a plan with looks are those of sums of normal variables", {
  skip_on_cran()
  runs <- 1200
  plan <- dpts_plan(policy_randomised(mu = 0.5, block = 80),
                    list(hope = arms_bernoulli(c(a = 0.5, b = 0.6)), null = arms_bernoulli(c(a = 0.5, b = 0.5))), 800,
                    control = "a", error = 0.025, looks = 1:4 / 5, runs = runs, seed = 2)
  # Of each fifth of the people, a normal variable: two means of 80, and noise of variance 4 in each of four sums
  v <- 0.5 * 0.5 / 80 + 0.6 * 0.4 / 80 + 2 * (2 * 4 / 80^2)
  set.seed(1)
  sums <- apply(matrix(rnorm(5 * 2e4, 0.1, sqrt(v)), 5), 2, cumsum) # known boundaries, and not ours
  over <- sums / sqrt(1:5 * v) >= c(4.8769, 3.3569, 2.6803, 2.2898, 2.0310)
  first <- apply(rbind(over, TRUE), 2, which.max)
  hope <- plan[plan$scenario == "hope", ]
  se <- 3 * sqrt(0.25 / runs + 0.25 / 2e4)
  expect_lt(abs(hope$power - mean(first < 6)), se)
  expect_lt(abs(hope$stopped - mean(first < 5)), se)
  expect_lt(abs(hope$mean_people - mean(160 * pmin(first, 5))), 3 * sd(160 * first) / sqrt(runs))
  null <- plan[plan$scenario == "null", ]
  expect_lt(null$false_claims, 0.025 + 3 * sqrt(0.025 * 0.975 / runs))
  expect_gt(null$false_claims, 0.025 - 3 * sqrt(0.025 * 0.975 / runs))
  expect_gt(min(plan$coverage), 0.975 - 3 * sqrt(0.025 * 0.975 / runs))
  # With fixed looks at the end alone, the test of the plan is as before.
  expect_match(format(plan)[5], "Looks: +at 20%, 40%, 60%, 80% and 100% of the people, spending as O'Brien")
})

test_that("the analysis at looks is that of the plan, run by run", {
  skip_on_cran()
  scenario <- arms_bernoulli(c(0.3, 0.36, 0.6))
  designs <- list(gauss = policy_randomised(mu = 0.5, block = 150), laplace = policy_randomised(epsilon = 0.3, block = 150))
  for (name in names(designs)) {
    control <- if (name == "laplace") 1
    looks <- c(0.3, 0.5) # of 900 people: 300 and 450, as blocks have it
    row <- dpts_plan(designs[name], list(hope = scenario), 900, control = control, looks = looks, spending = "pocock", runs = 10,
                      seed = 3, delay = 40)
    sim <- dpts_simulate(scenario, designs[name], 900, runs = 10, seed = 3, history = TRUE, finish = TRUE,
                         record = I(c(300, 450, 900)))
    stopped <- rep(NA_real_, 10)
    best <- held <- logical(10)
    width <- numeric(10)
    share <- 0.05 / if (is.null(control)) 3 else 2
    for (n in c(300, 450, 900)) {
      found <- quiet(effects(sim[sim$t <= n, ], control = control, at = "end", looks = looks, spending = "pocock",
                             people = 900))
      claims <- function(arm) { # of each run: above its control, or above all others
        vapply(split(seq_len(nrow(found)), found$run), function(at) {
          up <- (found$arm == arm & found$difference > 0 & found$p / 2 < share)[at]
          down <- (found$control == arm & found$difference < 0 & found$p / 2 < share)[at]
          sum(up) + sum(down) == if (is.null(control)) 2 else 1
        }, NA)
      }
      all <- vapply(setdiff(1:3, control), claims, logical(10))
      ends <- is.na(stopped) & (rowSums(all) > 0 | n == 900)
      stopped[ends] <- n
      best[ends] <- all[ends, ncol(all)]
      truth <- c(0.3, 0.36, 0.6)
      inside <- found$lower - 1e-9 <= truth[found$arm] - truth[found$control] &
        truth[found$arm] - truth[found$control] <= found$upper + 1e-9
      held[ends] <- tapply(inside, found$run, all)[ends]
      width[ends] <- tapply(found$upper - found$lower, found$run, mean)[ends]
    }
    expect_gt(mean(stopped < 900), 0.1)
    expect_equal(row$power, mean(best), info = name)
    expect_equal(row$stopped, mean(stopped < 900), info = name)
    expect_equal(row$mean_people, mean(stopped), info = name)
    expect_equal(row$coverage, mean(held), info = name)
    expect_equal(row$width, mean(width), tolerance = 1e-4, info = name) # quantiles are rounded
  }
})

test_that("where later blocks are smaller, critical values allow for noise that grows faster than people", {
  # Without noise, or with blocks of one size, people are the clock; else the slower one of both, step by step.
  expect_identical(look_clock(c(0.3, 0.5, 1), c(0, 0, 0)), c(0.3, 0.5, 1))
  expect_identical(look_clock(c(0.3, 0.5, 1), c(3, 5, 10)), c(0.3, 0.5, 1))
  expect_equal(look_clock(c(0.3, 0.5, 1), c(1, 3, 4)), c(1 / 6, 0.5, 1)) # 1 / 3 and 0.5; people: 0.6 and 0.5
  expect_equal(look_clock(c(0.2, 0.5, 0.8), c(1, 2, 4)), c(0.16, 0.4, 0.8)) # before the end
  # Two looks of a walk on that clock spend what they should, by integration.
  line <- look_boundary(c(0.5, 1), 0.1, "pocock", c(0.04, 1))
  late <- stats::integrate(function(x) {
    stats::dnorm(x) * stats::pnorm((line[2] - 0.2 * x) / sqrt(0.96), lower.tail = FALSE)
  }, -10, line[1], rel.tol = 1e-10)$value
  expect_equal(stats::pnorm(-line[1]) + late, 0.1, tolerance = 1e-6)
  # One block of 250, and then of 5, with much noise: 7.6% were claimed by the clock of people.
  skip_on_cran()
  null <- arms_bernoulli(c(a = 0.5, b = 0.5))
  looks <- 5:9 / 10
  plan <- dpts_plan(policy_randomised(mu = 0.06, block = c(250, 5)), null, 500, control = "a", looks = looks,
                    spending = "pocock", runs = 2500, seed = 1)
  expect_lt(plan$false_claims, 0.05 + 3 * sqrt(0.05 * 0.95 / 2500))
  # The analysis has the same critical values.
  policy <- policy_randomised(epsilon = 0.4, block = c(300, 50))
  arms <- arms_bernoulli(c(a = 0.4, b = 0.6))
  plan <- dpts_plan(policy, arms, 600, control = "a", looks = c(0.5, 0.7), spending = "pocock", runs = 25, seed = 1)
  sim <- dpts_simulate(arms, policy, 600, runs = 25, seed = 1, history = TRUE, finish = TRUE)
  found <- quiet(effects(sim, "a", at = "end", looks = c(0.5, 0.7), spending = "pocock", people = 600))
  expect_equal(plan$power, mean(found$p / 2 < 0.05))
  # Two looks at one release are one, with the noise of the release; and of four arms there are six intervals.
  null <- arms_bernoulli(rep(0.5, 4))
  looks <- c(0.25, 0.5, 0.7)
  plan <- dpts_plan(policy, null, 600, looks = looks, spending = "pocock", runs = 6, seed = 1)
  sim <- dpts_simulate(null, policy, 600, runs = 6, seed = 1, history = TRUE, finish = TRUE)
  found <- quiet(effects(sim, at = "end", looks = looks, spending = "pocock", people = 600))
  expect_identical(plan$stopped, 0)
  expect_equal(plan$width, mean(found$upper - found$lower), tolerance = 1e-4)
})

test_that("an arm is claimed once it has beaten each other arm, at one look or another, and the run ends there", {
  # Of each look, and of the end, the pairs of which the first arm is far above the second; all others are equal
  run <- function(...) {
    parts <- lapply(list(...), function(pairs) {
      z <- numeric(9)
      for (pair in pairs) z[pair[1] + 3 * (pair[2] - 1)] <- 9
      c(z, rep(1, 9), z, rep(0, 9), rep(1, 9)) # estimate, error, Z, and a noise without share
    })
    c(parts[[3]], 100, 0, parts[[1]], 200, 0, parts[[2]], 0)
  }
  seen <- cbind(run(list(1:2), list(c(1, 3)), list()), run(list(1:2, c(1, 3)), list(), list()), run(list(1:2), list(), list(c(2, 1))),
                run(list(2:1), list(1:2), list(2:3)), run(list(), list(), list(c(3, 1), 3:2)))
  problem <- list(arms = arms_bernoulli(c(0.5, 0.5, 0.5)), horizon = 300, record = c(100, 200, 300))
  job <- list(ask = list(error = 0.05, claims = 3, intervals = 3, margin = 0), spending = "pocock")
  found <- dpts:::looks_end(seen, 0, problem, job, 1, NULL)
  expect_identical(found$claimed, cbind(c(TRUE, FALSE, FALSE), c(TRUE, FALSE, FALSE), FALSE, c(FALSE, TRUE, FALSE), c(FALSE, FALSE, TRUE)))
  expect_equal(c(found$stopped, found$mean_people), c(2 / 5, (200 + 100 + 3 * 300) / 5))
})

test_that("an error is the least of all looks, whichever it is", {
  z <- rbind(c(3, 1, 0), c(0, 3, 1), c(0, 1, 3), c(3, NA, NA), NA)
  share <- c(0.3, 0.6, 1)
  p <- look_errors(z, share, "pocock")
  expect_true(p[1] < 0.02 && p[2] < 0.02 && p[3] < 0.02)
  expect_identical(is.na(p), c(FALSE, FALSE, FALSE, FALSE, TRUE))
  for (i in 1:3) {
    critical <- look_boundary(share, p[i], "pocock")
    expect_equal(critical[i], 3, tolerance = 1e-3)
  }
})

test_that("a look at a share of the people is when so many have come", {
  for (people in c(7, 20, 33, 100, 1000)) for (of in c(3, 10, 20)) {
    least <- vapply(seq_len(of - 1), function(j) which(of * seq_len(people) >= j * people)[1], 0L) # in whole numbers
    expect_equal(looks_people(list(share = seq_len(of - 1) / of), people), unique(c(least, people)))
  }
})

test_that("looks that fall on one release are one", {
  plan <- function(looks) {
    dpts_plan(policy_randomised(mu = 1.4, block = 100), arms_bernoulli(c(0.5, 0.6)), 400, looks = looks, runs = 40, seed = 1)
  }
  expect_equal(as.data.frame(plan(c(0.62, 0.65))), as.data.frame(plan(0.65)), ignore_attr = TRUE)
  # The last release is the end.
  expect_equal(plan(c(0.8, 0.9))$stopped, 0)
})

test_that("looks compare people of the same stratum", {
  skip_on_cran()
  arms <- arms_strata(north = arms_bernoulli(c(a = 0.2, b = 0.35)), south = arms_bernoulli(c(a = 0.6, b = 0.75)),
                      share = c(0.3, 0.7))
  policy <- policy_randomised(mu = 1, block = 50)
  plan <- dpts_plan(policy, arms, 600, control = 1, looks = 0.5, spending = "pocock", runs = 25, seed = 1)
  sim <- dpts_simulate(arms, policy, 600, runs = 25, seed = 1, history = TRUE, finish = TRUE)
  claimed <- function(x) {
    found <- quiet(effects(x, 1, at = "end", looks = 0.5, spending = "pocock", people = 600))
    found$p / 2 < 0.05 & found$difference > 0
  }
  expect_equal(plan$power, mean(claimed(sim)))
  # It is the first look of both strata with 300 people in what was released.
  table <- dpts_releases(sim)
  first <- do.call(rbind, lapply(split(table, table$run), function(own) {
    each <- own[!is.na(own$block) & !duplicated(own$block), ]
    people <- as.vector(tapply(own$n, own$block, sum))
    look <- has_look(as.integer(each$stratum), people, each$t, 2)
    own[own$block %in% c(NA, each$block[seq_len(which(look & cumsum(people) >= 300)[1])]), ]
  }))
  expect_gt(plan$stopped, 0.2)
  expect_equal(plan$stopped, mean(claimed(first)))
  expect_error(dpts_plan(policy, arms, 600, by = "stratum", looks = 0.5, runs = 5), "`looks`.*`by`", class = "dpts_error_input")
})

test_that("a margin at looks is a share of the rewards' range, though residuals are wider", {
  arms <- arms_predicted(c(a = 20, b = 22), sd = 8, r2 = 0.4, range = c(0, 50))
  policy <- policy_randomised(mu = 1, block = 50, outcome = "continuous", predicted = c(0, 1))
  plan <- dpts_plan(policy, arms, 400, control = 1, margin = 0.1, looks = 0.5, spending = "pocock", runs = 40, seed = 1)
  sim <- dpts_simulate(arms, policy, 400, runs = 40, seed = 1, history = TRUE, finish = TRUE, record = I(c(200, 400)))
  claimed <- function(n) {
    quiet(effects(sim[sim$t <= n, ], 1, at = "end", margin = 5, looks = 0.5, spending = "pocock", people = 400))$p < 0.05
  }
  expect_equal(plan$power, mean(claimed(400)))
  expect_equal(plan$stopped, mean(claimed(200)))
  expect_true(all(c(plan$stopped, 1 - plan$power) > 0.1))
  once <- dpts_plan(policy, arms, 400, control = 1, margin = 0.1, runs = 40, seed = 1)
  expect_equal(once$power, mean(quiet(effects(sim, 1, at = "end", margin = 5))$p < 0.05))
  # Intervals are those of the look at which each run ended.
  at <- lapply(c(200, 400), function(n) {
    quiet(effects(sim[sim$t <= n, ], 1, at = "end", margin = 5, looks = 0.5, spending = "pocock", people = 400))
  })
  own <- at[[2]]
  first <- at[[1]]$p < 0.05
  own[first, ] <- at[[1]][first, ]
  expect_equal(plan$width, mean(own$upper - own$lower), tolerance = 1e-6)
  expect_equal(plan$coverage, mean(own$lower <= 2 & own$upper >= 2))
})

test_that("an agent is analysed at the looks of its plan", {
  skip_if_not_installed("RSQLite")
  policy <- policy_randomised(mu = 1, block = 50)
  arms <- arms_bernoulli(c(old = 0.2, new = 0.6))
  plan <- dpts_plan(policy, arms, 200, control = "old", looks = c(0.5, 0.75), spending = "pocock", runs = 5, seed = 1)
  agent <- dpts_agent(policy, c("old", "new"), use = "arrival")
  agent_plan(agent, plan)
  people <- function(n) {
    choice <- agent_choose(agent, n)
    agent_reward(agent, choice$ticket, rep_len(0:2, n) < 1 + (choice$arm == "new"))
  }
  look <- function(...) quiet(effects(agent, control = "old", at = "end", ...))
  people(60)
  expect_true(is.na(look()$p))
  people(50)
  first <- look()
  expect_equal(first, look(looks = c(0.5, 0.75), spending = "pocock", people = 200))
  table <- dpts_releases(agent)
  expect_equal(unique(table$looks), "0.5 0.75 pocock")
  file <- tempfile()
  on.exit(unlink(file))
  utils::write.csv(table, file, row.names = FALSE)
  expect_equal(quiet(effects(as_releases(utils::read.csv(file)), "old", at = "end"))$p / first$p, 1)
  # At the first look the error that is spent is the tail.
  once <- quiet(effects(table[names(table) != "looks"], control = "old", at = "end"))
  expect_equal(first$p * log1p((exp(1) - 1) / 2) / once$p, 1, tolerance = 1e-3)
  people(90)
  rlang::reset_message_verbosity("looks")
  withr::local_options(rlib_message_verbosity = "verbose")
  expect_message(effects(agent, control = "old", at = "end"), "look 3 of 3, of 200 people", class = "dpts_message_end")
  # A larger number of people in words leaves the looks; a plan without looks has none.
  agent_plan(agent, "people: 300", reason = "more come")
  expect_equal(look(), look(looks = c(0.5, 0.75), spending = "pocock", people = 300))
  agent_plan(agent, dpts_plan(policy, arms, 300, control = "old", runs = 5, seed = 1), reason = "no board")
  expect_null(dpts_releases(agent)[["looks"]])
  agent_close(agent)
})

test_that("looks are refused where they hold nothing", {
  bad <- function(arg, ..., design = policy_randomised(), what = "") {
    expect_error(dpts_plan(design, arms_bernoulli(c(0.4, 0.6)), people = 300, runs = 5, ...), paste0("`", arg, "`.*", what),
                 class = "dpts_error_input")
  }
  bad("looks", looks = c(0.5, 0.5))
  bad("looks", looks = c(0.5, 1))
  bad("spending", looks = 0.5, spending = "fast")
  bad("looks", looks = 0.5, visits = 2, what = "come again")
  bad("looks", looks = 0.5, futility = 0.1)
  bad("looks", looks = 0.5, design = policy_randomised(rule = "thompson"), what = "never change")
  bad("looks", looks = 0.5, design = policy_uniform(), what = "never change")
  bad("looks", looks = 0.5, design = policy_randomised(control = 1), what = "guard", rates = list(harm = c(0.1, 0.1)),
      outcomes = list(harm = agent_outcome(guard = 0.1, missing = 1)))
  sim <- dpts_simulate(arms_bernoulli(c(0.4, 0.6)), policy_randomised(rule = "thompson"), 600, runs = 1, seed = 1, history = TRUE)
  wrong <- function(what, ..., at = "end") {
    expect_error(effects(sim, at = at, ...), what, class = "dpts_error_input")
  }
  wrong("probabilities changed", looks = 0.5, people = 600)
  wrong("`people`", looks = 0.5)
  wrong("`at`", looks = 0.5, people = 600, at = "any")
  wrong("`by`", looks = 0.5, people = 600, by = "stratum")
})

test_that("the text of looks is read back, and any other text is none", {
  read <- dpts:::looks_of_text
  looks <- list(share = c(1 / 3, 0.5), spending = "pocock")
  expect_equal(read(dpts:::looks_text(looks)), looks)
  for (text in c("0.5 0.5 pocock", "0.5 0.4 pocock", "0.5 1 pocock", "0 0.5 pocock", "0.5 other", "0.5", "pocock", "x pocock")) {
    expect_null(read(text), info = text)
  }
})

test_that("with a margin a first look of a board spends its part of the error on non-inferiority", {
  # One look of two has been reached: P(Z > z) is what is spent by then, p ln(1 + (e - 1) / 2) by Pocock's.
  rows <- data.frame(arm = c("a", "b"), block = rep(1:4, each = 2), n = 50, sum = c(25, 24, 20, 19, 28, 30, 24, 20), chance = 0.5,
                     t = rep(1:4 * 100, each = 2))
  table <- as_releases(rows, "gaussian", 2)
  for (margin in c(0, 0.08, 0.15)) {
    one <- quiet(effects(table, control = "a", at = "end", margin = margin))
    look <- quiet(effects(table, control = "a", at = "end", margin = margin, looks = 0.5, spending = "pocock", people = 800))
    expect_equal(look$p, min(1, one$p / log1p((exp(1) - 1) / 2)), tolerance = 1e-3)
  }
})
