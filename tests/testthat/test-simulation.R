skip_on_cran() # takes seconds

sim <- dpts_simulate(arms_bernoulli(c(0.7, 0.5)),
                     list(a = policy_ts_gaussian(), b = policy_ucb1()), 300, runs = 6,
                     seed = 1, record = 10)

test_that("summary() agrees with base R", {
  stats <- summary(sim, level = 0.9)
  expect_named(stats, c("policy", "t", "runs", "mean", "sd", "se", "lower", "upper", "worst"))
  x <- sim$regret[sim$policy == "b" & sim$t == 300]
  row <- stats[stats$policy == "b" & stats$t == 300, ]
  expect_equal(row$mean, mean(x))
  expect_equal(row$sd, stats::sd(x))
  expect_equal(c(row$lower, row$upper), interval_by_help(x, 0.9, high = 60))
  expect_equal(row$worst, max(x))
  expect_true(all(stats$lower >= 0))
  expect_equal(row$runs, 6)
  one <- summary(sim[sim$run == 1, ])
  expect_true(all(is.na(one$se)))
})

test_that("the result stays the user's data", {
  plain <- as.data.frame(sim)
  expect_identical(class(plain), "data.frame")
  skip_without_dplyr()
  kept <- dplyr::filter(sim, policy == "b", run <= 2)
  expect_s3_class(kept, "dpts_simulation")
  expect_equal(unique(as.character(pulls(kept)$policy)), "b")
  expect_equal(nrow(pulls(kept)), 4)
  means <- dplyr::summarise(dplyr::group_by(sim, policy, t), m = mean(regret), .groups = "drop")
  expect_equal(means$m, summary(sim)$mean)
})

test_that("rbind() keeps pulls, and refuses what does not fit", {
  arms <- arms_bernoulli(c(0.7, 0.5))
  part <- function(runs, policies = policy_ucb1(), ...) {
    dpts_simulate(arms, policies, 300, runs = runs, seed = 1, ...)
  }
  expect_identical(pulls(rbind(part(1:3), part(4:6))), pulls(part(6)))
  # Of problems of several lengths each has its own end.
  ends <- rbind(short = dpts_simulate(arms_bernoulli(c(0.5, 0.4)), policy_imed(), 50, runs = 2, seed = 1),
                long = dpts_simulate(arms_bernoulli(c(0.5, 0.4)), policy_imed(), 80, runs = 2, seed = 1))
  expect_equal(as.vector(rowsum(pulls(ends)$pulls, as.integer(pulls(ends)$problem))), 2 * c(50, 80))
  expect_error(rbind(part(1:3), part(3:6)), class = "dpts_error_input")
  two <- rbind(part(1:3), part(1:3, policy_uniform()))
  expect_identical(levels(two$policy), c("ucb1", "uniform"))
  skip_without_dplyr()
  expect_identical(pulls(dplyr::bind_rows(part(1:3), part(4:6))), pulls(part(6)))
  # rows from nowhere are seen when they are used
  odd <- unclass(part(2))
  odd$run <- odd$run + 10L
  odd <- structure(odd, class = class(part(2)))
  for (use in list(summary, tidy, glance, pulls, autoplot)) expect_error(use(odd), class = "dpts_error_rows")
})

test_that("tidy() and glance() follow broom", {
  expect_named(tidy(sim), c("term", "t", "estimate", "std.error", "conf.low", "conf.high"))
  expect_equal(tidy(sim)$estimate, summary(sim)$mean[c(10, 20)])
  row <- glance(sim)
  expect_equal(nrow(row), 1)
  expect_equal(row$regret, min(tidy(sim)$estimate))
  expect_equal(row$nobs, 6)
})

test_that("autoplot() draws the summary", {
  plot <- autoplot(sim)
  layers <- ggplot2::ggplot_build(plot)$data
  line <- layers[[2]]
  expect_equal(sort(line$y), sort(summary(sim)$mean))
  ribbon <- layers[[1]]
  expect_equal(sort(ribbon$ymax), sort(summary(sim)$upper))
  expect_setequal(unique(line$colour), LINE_COLOURS[1:2])
  expect_match(plot$labels$alt, "2 policies")
  expect_silent(ggplot2::ggplot_build(autoplot(sim, log = "xy", runs = TRUE)))
  expect_error(autoplot(sim, log = "z"), class = "dpts_error_input")
})

test_that("a single run is drawn, without a band", {
  one <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ucb1(), 100, runs = 1, seed = 1)
  grDevices::pdf(NULL) # no Rplots.pdf
  on.exit(grDevices::dev.off())
  for (log in c("", "xy")) {
    built <- ggplot2::ggplot_build(autoplot(one, log = log))
    # Grobs, not the build alone: a ribbon of NA fails only when it is drawn.
    expect_silent(ggplot2::ggplot_gtable(built))
    expect_equal(nrow(built$data[[1]]), 0)
    expect_gt(nrow(built$data[[2]]), 50)
  }
})

test_that("no regret at all is drawn without a warning", {
  none <- dpts_simulate(arms_bernoulli(c(0.5, 0.5)), policy_ucb1(), 100, seed = 1)
  expect_no_warning(ggplot2::ggplot_build(autoplot(none, log = "x")))
  expect_no_warning(autoplot(none, log = "y"))
})

test_that("the print is short and says what it is", {
  out <- capture.output(print(sim))
  expect_match(out[1], "Simulation: 2 arms, 300 rounds, 2 policies, 6 runs")
  expect_match(tbl_sum(dpts_simulate(two_arms(), policy_ucb1(), 1, runs = 1, seed = 1))[[1]],
               "2 arms, 1 round, 1 policy, 1 run", fixed = TRUE)
  expect_lt(length(out), 25)
})

test_that("lost columns are named", {
  expect_error(summary(sim[c("policy", "run", "t", "reward")]), "regret", class = "dpts_error_columns")
  renamed <- stats::setNames(sim, c("rule", "run", "t", "regret", "reward"))
  expect_no_warning(capture.output(print(renamed)))
})

test_that("quantiles of runs, and differences run by run, are what rows say", {
  sim <- dpts_simulate(list(easy = arms_bernoulli(c(0.7, 0.3)), hard = arms_bernoulli(c(0.5, 0.4))),
                       list(a = policy_ucb1(), b = policy_uniform(), c = policy_imed()), 200, runs = 9, seed = 3,
                       record = I(c(50, 200)))
  s <- summary(sim, quantiles = c(0.05, 0.5))
  own <- sim$regret[sim$problem == "hard" & sim$policy == "c" & sim$t == 200]
  at <- s[s$problem == "hard" & s$policy == "c" & s$t == 200, ]
  expect_equal(c(at$q5, at$q50), as.numeric(quantile(own, c(0.05, 0.5))))
  expect_identical(names(s)[1:10], names(summary(sim)))
  d <- dpts_compare(sim, "b")
  expect_identical(names(d), c("problem", "policy", "reference", "t", "runs", "difference", "se", "lower", "upper", "better"))
  expect_equal(nrow(d), 2 * 2 * 2)
  other <- sim$regret[sim$problem == "hard" & sim$policy == "b" & sim$t == 200]
  at <- d[d$problem == "hard" & d$policy == "c" & d$t == 200, ]
  expect_equal(c(at$difference, at$se), c(mean(own - other), sd(own - other) / 3))
  expect_equal(c(at$lower, at$upper), interval_by_help(own - other, low = -20, high = 20))
  expect_equal(at$better, mean(own < other))
  # Without a name the reference is the first policy that is there.
  rest <- sim[sim$policy != "a", ]
  expect_equal(dpts_compare(rest), dpts_compare(rest, "b"))
  # Equal runs count by half, and runs without a partner not at all.
  twins <- dpts_simulate(arms_bernoulli(c(0.7, 0.3)), list(a = policy_ucb1(), b = policy_ucb1(), c = policy_imed()), 100,
                         runs = 5, seed = 1, record = I(100))
  expect_identical(dpts_compare(twins)$better[1], 0.5)
  fewer <- dpts_compare(twins[!(twins$policy == "a" & twins$run == 3 | twins$policy == "c" & twins$run == 5), ])
  gap <- (twins$regret[twins$policy == "c"] - twins$regret[twins$policy == "a"])[-c(3, 5)]
  expect_equal(as.list(fewer[2, c("runs", "difference", "better")]),
               list(runs = 3, difference = mean(gap), better = mean((gap < 0) + (gap == 0) / 2)))
  plot <- autoplot(sim, show = "median")
  expect_match(plot$labels$caption, "Median of 9 runs")
  drawn <- ggplot2::layer_data(plot, 2)
  expect_true(any(abs(drawn$y - median(own)) < 1e-12))
  expect_error(dpts_compare(sim, "z"), "`reference`", class = "dpts_error_input")
  expect_error(summary(sim, quantiles = 2), "`quantiles`", class = "dpts_error_input")
})
