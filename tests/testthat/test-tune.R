skip_on_cran() # takes seconds

test_that("tuning calibrates every candidate and flags the best", {
  arms <- arms_bernoulli(c(0.8, 0.4))
  budget <- privacy_approx(4, 1e-3)
  tuning <- dpts_tune(budget, arms, 1000, prepulls = c(5, 100, 20), runs = 30, seed = 1,
                      accountant = c("gdp", "sequence"))
  expect_s3_class(tuning, "dpts_tuning")
  expect_identical(names(tuning),
                   c("accountant", "prepulls", "variance_scale", "regret", "se", "best"))
  expect_identical(tuning$accountant, rep(c("gdp", "sequence"), each = 3))
  expect_equal(tuning$prepulls, rep(c(5, 20, 100), 2))
  for (i in 1:6) {
    policy <- dpts_calibrate(budget, 1000, tuning$prepulls[i], tuning$accountant[i])
    expect_equal(tuning$variance_scale[i], policy$params$variance_scale)
  }
  expect_identical(which(tuning$best), which.min(tuning$regret))
  policy_of <- function(row) policy_ts_gaussian(tuning$prepulls[row], tuning$variance_scale[row])
  expect_identical(recommended_policy(tuning), policy_of(which.min(tuning$regret)))
  expect_identical(recommended_policy(tuning, accountant = "gdp"), policy_of(which.min(tuning$regret[1:3])))
  expect_identical(recommended_policy(tuning, accountant = "sequence"), policy_of(3 + which.min(tuning$regret[4:6])))
  expect_error(recommended_policy(tuning, accountant = "direct"), "`accountant`", class = "dpts_error_input")
  expect_error(recommended_policy(tuning[!tuning$best, ]), "left out", class = "dpts_error_input")
  # Of several budgets none is chosen unasked: the weakest has the least regret.
  several <- results()$reproduction_tuning
  expect_error(recommended_policy(several), "rows of one budget", class = "dpts_error_input")
  expect_error(recommended_policy(several, accountant = several$accountant[1]), "rows of one budget", class = "dpts_error_input")
  strong <- several[several$mu == 1, ]
  expect_identical(recommended_policy(strong, accountant = several$accountant[1]), recommended_policy(strong))
  expect_error(recommended_policy(tuning["regret"]), "`prepulls`", class = "dpts_error_columns")
  # A summary has the best of each accountant, in their order.
  best <- c(which.min(tuning$regret[1:3]), 3 + which.min(tuning$regret[4:6]))
  for (order in list(1:6, c(4:6, 1:3))) {
    rows <- if (order[1] == 1) best else rev(best)
    expect_identical(summary(tuning[order, ])[c("accountant", "prepulls", "regret")], tibble::as_tibble(tuning[rows, ])[c("accountant", "prepulls", "regret")])
  }
  # the regret is that of dpts_simulate() with the same seed
  policy <- policy_ts_gaussian(tuning$prepulls[2], tuning$variance_scale[2])
  sim <- dpts_simulate(arms, policy, 1000, runs = 30, seed = 1, record = I(1000))
  expect_equal(tuning$regret[2], mean(sim$regret))
  expect_equal(tuning$se[2], sd(sim$regret) / sqrt(30))
  # and the run is repeatable, and leaves the generator alone
  set.seed(1)
  before <- .Random.seed
  again <- dpts_tune(budget, arms, 1000, prepulls = c(5, 100, 20), runs = 30, seed = 1,
                      accountant = c("gdp", "sequence"))
  expect_identical(again, tuning)
  expect_identical(.Random.seed, before)
  expect_snapshot(print(tuning[c("accountant", "prepulls", "best")]))
})

test_that("without a `delta` it is a tenth over the horizon", {
  of <- function(...) suppressMessages(dpts_calibrate(privacy_gdp(2), 60, 10, "sequence", ...)$params$variance_scale)
  tuning <- suppressMessages(dpts_tune(privacy_gdp(2), arms_bernoulli(c(0.8, 0.4)), 60, prepulls = 10, accountant = "sequence",
                                       runs = 2, seed = 1))
  expect_equal(c(of(), tuning$variance_scale), rep(of(delta = 0.1 / 60), 2))
  expect_gt(of(delta = 1 / 60), of() * 1.01)
})

test_that("a GDP budget up to nu is met by the direct accountant", {
  tuning <- dpts_tune(privacy_gdp(1, 1e-6), arms_bernoulli(c(0.8, 0.4)), 1200, prepulls = 100,
                      accountant = c("gdp", "direct"), runs = 5, seed = 1)
  scale <- split(tuning$variance_scale, tuning$accountant)
  expect_true(all(2 * scale$direct < scale$gdp))
  expect_identical(tuning$accountant[tuning$best], "direct")
  mu <- sequence_gdp(1200 - 2 * 100, 100, scale$direct, nu = 1e-6)$mu
  expect_true(all(mu <= 1 & mu > 0.99))
})

test_that("the default grid respects the horizon", {
  grid <- prepull_grid(1e5, 5)
  expect_identical(grid[1], 0)
  expect_lte(max(grid), 1e4)
  expect_lte(length(grid), 12)
  expect_identical(prepull_grid(4, 5), 0)
  # Of a long horizon the few pre-pulls are left out, and not the many.
  expect_identical(range(prepull_grid(1e9, 5)), c(0, 1e8))
  tuning <- suppressMessages(dpts_tune(privacy_gdp(2), arms_bernoulli(c(0.7, 0.3)), 60,
                                       runs = 2, seed = 1))
  expect_identical(sum(tuning$best), 1L)
  expect_identical(max(tuning$prepulls), 10)
})

test_that("the plot shows regret against pre-pulls by accountant", {
  tuning <- dpts_tune(privacy_approx(4, 1e-3), arms_bernoulli(c(0.8, 0.4)), 150,
                      prepulls = c(0, 10), runs = 3, seed = 1, accountant = c("gdp", "sequence"))
  expect_match(gsub("[# ]+", " ", paste(capture.output(print(tuning)), collapse = " ")),
               "Tuning: (4, 0.001)-DP over 150 rounds of 2 arms, 3 runs", fixed = TRUE)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  plot <- autoplot(tuning)
  line <- ggplot2::layer_data(plot, 2)
  expect_setequal(line$y, tuning$regret)
  band <- ggplot2::layer_data(plot, 1) # 95% intervals of three runs
  runs <- runs_in(tuning)
  limits <- vapply(split(runs$regret, paste(runs$accountant, runs$prepulls)), interval_by_help, c(0, 0), high = 60)
  expect_equal(sort(band$ymin), sort(unname(limits[1, ])))
  expect_equal(sort(band$ymax), sort(unname(limits[2, ])))
  expect_match(gsub("\n", " ", plot$labels$caption), "Mean of 3 runs; bar: 95% confidence interval.", fixed = TRUE)
  expect_identical(length(unique(line$colour)), 2L)
  expect_equal(ggplot2::layer_data(plot, 4)$y, tuning$regret[tuning$best])
})

test_that("one run has no standard error, and bad input is named", {
  arms <- arms_bernoulli(c(0.8, 0.4))
  budget <- privacy_approx(4, 1e-3)
  one <- dpts_tune(budget, arms, 100, prepulls = 5, accountant = "gdp", runs = 1, seed = 1)
  expect_identical(one$se, NA_real_)
  expect_error(dpts_tune(1, arms, 100), "`budget`", class = "dpts_error_input")
  expect_error(dpts_tune(budget, 3, 100), "`arms`", class = "dpts_error_input")
  expect_error(dpts_tune(budget, arms, 100, prepulls = 80), "`horizon`",
               class = "dpts_error_horizon")
  expect_error(dpts_tune(budget, arms, 100, prepulls = -1), "`prepulls`",
               class = "dpts_error_input")
  expect_error(dpts_tune(budget, arms, 100, accountant = "best"), "`accountant`",
               class = "dpts_error_input")
  expect_error(dpts_tune(privacy_pure(1), arms, 100), class = "dpts_error_budget")
  expect_error(dpts_tune(budget, arms, 100, 5), class = "dpts_error_dots")
})

test_that("by default the sharpest accountant is tuned alone", {
  tuning <- dpts_tune(privacy_approx(4, 1e-3), arms_bernoulli(c(0.8, 0.4)), 30, prepulls = c(0, 5), runs = 2,
                      seed = 1)
  expect_identical(tuning$accountant, rep("direct", 2))
})

test_that("what takes seconds is asked for the candidates that may win, and all are proved", {
  budget <- privacy_approx(4, 1e-3)
  tuning <- dpts_tune(budget, arms_bernoulli(c(0.8, 0.4)), 60, prepulls = c(0, 15), runs = 10, seed = 1)
  cheap <- vapply(tuning$prepulls, function(b) {
    calibrate(budget, conditions(60, 2), b, "direct", 1e-3, sharp = FALSE)$params$variance_scale
  }, 0)
  # A tenth above the least regret of all, of whichever accountant, is near enough.
  grid <- expand.grid(prepulls = c(0, 15), accountant = c("direct", "gdp"), stringsAsFactors = FALSE)
  sharpened <- function(...) {
    made <- tuned_policies(grid, budget, conditions(60, 2), 1e-3, FALSE, function(policies) c(...))
    vapply(made[1:2], function(p) p$params$variance_scale, 0, USE.NAMES = FALSE) < 0.999 * cheap
  }
  expect_identical(sharpened(99, 11, 99, 10), c(FALSE, TRUE))
  expect_identical(sharpened(12, 11.1, 99, 10), c(FALSE, FALSE))
  expect_identical(tuning$best, c(FALSE, TRUE))
  expect_identical(tuning$variance_scale[1], cheap[1])
  expect_lt(tuning$variance_scale[2], 0.95 * cheap[2])
  for (i in 1:2) {
    own <- policy_ts_gaussian(tuning$prepulls[i], tuning$variance_scale[i])
    expect_lte(dpts_privacy(own, 60, delta = 1e-3, accountant = "direct")$epsilon, 4)
  }
})

test_that("parts of a tuning are the whole, with late rewards, and a candidate is one policy in all of them", {
  arms <- arms_bernoulli(c(0.8, 0.4))
  ask <- function(runs, accountant = NULL, ...) {
    dpts_tune(privacy_approx(4, 1e-3), arms, 60, prepulls = c(15, 0, 15), accountant = accountant, runs = runs, delay = 0:7,
              batch = 4, seed = 1, ...)
  }
  whole <- ask(6, c("direct", "gdp"))
  expect_equal(whole$prepulls, c(0, 15, 0, 15))
  # What is sharpened is decided by the same runs in all parts.
  expect_equal(rbind(ask(run_range(1, 2)), ask(run_range(3, 6)), ask(6, "gdp")), whole)
  played <- Map(policy_ts_gaussian, whole$prepulls, whole$variance_scale)
  sim <- dpts_simulate(arms, stats::setNames(played, 1:4), 60, runs = 6, seed = 1, record = I(60), delay = 0:7, batch = 4)
  expect_equal(whole$regret, summary(sim)$mean)
  of <- function(runs, ...) {
    suppressMessages(dpts_tune(privacy_gdp(2), arms, 60, prepulls = 10, accountant = "sequence", runs = runs, seed = 1, ...))
  }
  expect_error(rbind(of(2), of(3:4, delta = 1e-6)), "prepulls 10 has the variance scale 0.51", class = "dpts_error_join")
})

test_that("the checkpoint of a tuning is that of the simulation of its candidates", {
  file <- withr::local_tempfile(fileext = ".rds")
  asked <- list()
  local_function("dpts_simulate", function(old) function(...) {
    asked[[length(asked) + 1]] <<- list(...)$checkpoint
    old(...)
  })
  dpts_tune(privacy_approx(4, 1e-3), arms_bernoulli(c(0.8, 0.4)), 20, prepulls = 2, runs = 2, seed = 1, checkpoint = file)
  expect_identical(asked, list(file))
})
