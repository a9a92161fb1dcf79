# What a bar is told while a call works: its words, its total, and how far the work is. (How cli draws a bar,
# and when, is in test-simulate.R.)

bars_of <- function(code) {
  bars <- list()
  local_function("progress_bar", function(old) {
    function(show = TRUE, total = 1, name = "Bounding", things = "events", frame = NULL) {
      if (!show) return(function(done) NULL)
      i <- length(bars) + 1
      bars[[i]] <<- list(name = name, total = total, things = things, done = numeric(), ended = FALSE)
      function(done) {
        if (is.null(done)) bars[[i]]$ended <<- TRUE else bars[[i]]$done <<- c(bars[[i]]$done, done)
      }
    }
  })
  suppressMessages(code)
  for (bar in bars) {
    expect_false(is.unsorted(bar$done))
    if (!is.na(bar$total)) expect_lte(max(bar$done, 0), bar$total)
  }
  bars
}
names_of <- function(bars) unique(vapply(bars, `[[`, "", "name"))
goes_to_its_end <- function(bar, total = bar$total) {
  expect_equal(bar$total, total)
  expect_equal(max(bar$done), total)
  expect_true(bar$ended)
}

test_that("what is played moves a bar from run to run, named by what is done", {
  arms <- arms_bernoulli(c(0.7, 0.4))
  two <- list(a = policy_ucb1(), b = policy_uniform())
  bar <- bars_of(dpts_simulate(arms, two, 300, runs = 3, seed = 1, progress = TRUE))
  expect_identical(names_of(bar), "Simulating")
  goes_to_its_end(bar[[1]], 6)
  expect_gt(length(unique(bar[[1]]$done)), 1)
  bar <- bars_of(dpts_plan(policy_randomised(), arms, 400, runs = 2, seed = 1, progress = TRUE))
  expect_identical(names_of(bar), "Planning")
  goes_to_its_end(bar[[1]])
  bar <- bars_of(dpts_identify(arms, policy_top_two(), limit = 300, runs = 2, seed = 1, progress = TRUE))
  goes_to_its_end(bar[[1]], 2)
  bar <- bars_of(dpts_reproduce("hh-1", runs = 2, seed = 1, horizon = 100, progress = TRUE))
  goes_to_its_end(Filter(function(one) one$name == "Simulating", bar)[[1]])
})

test_that("bars of advice count candidates", {
  bars <- bars_of(dpts_recommend(privacy_pure(1), arms_bernoulli(c(0.7, 0.4)), 300, runs = 2, seed = 1,
                                 candidates = c("uniform", "lazy_ucb", "dp_imed"), progress = TRUE))
  expect_identical(names_of(bars)[1], "Fitting")
  expect_identical(bars[[1]]$done, as.numeric(0:2))
  expect_equal(bars[[1]]$total, 3)
  expect_true(bars[[1]]$ended)
  expect_true("Simulating" %in% names_of(bars))
})

test_that("bars of tuning count the settings that are calibrated, and those that are sharpened", {
  bars <- bars_of(dpts_tune(privacy_approx(4, 1e-3), arms_bernoulli(c(0.8, 0.4)), 60, prepulls = c(5, 20),
                            accountant = c("gdp", "direct"), runs = 2, seed = 1, progress = TRUE))
  named <- stats::setNames(bars, vapply(bars, `[[`, "", "name"))
  expect_identical(named$Calibrating$done, as.numeric(1:4))
  for (bar in named[c("Calibrating", "Sharpening", "Simulating")]) goes_to_its_end(bar)
  expect_true("Bounding" %in% names(named)) # of the accountant, which has no argument `progress`
  scales <- Filter(function(bar) is.na(bar$total), bars)[[1]]
  expect_identical(scales$done, as.numeric(seq_along(scales$done)))
  expect_identical(scales[c("name", "things")], list(name = "Calibrating", things = "scales"))
})

test_that("bars of a log in chunks say how much of it is read, and played", {
  log <- data.frame(arm = rep(1:2, 300), reward = rep(0:1, each = 300), propensity = 0.5)
  read <- function(i) if (i <= 3) log[200 * (i - 1) + 1:200, ]
  play <- function(...) bars_of(dpts_replay(log_chunks(read, ...), policy_uniform(), runs = 2, seed = 1, progress = TRUE))
  bars <- play(events = 600)
  expect_setequal(names_of(bars), c("Reading", "Estimating", "Replaying"))
  for (bar in bars) {
    if (bar$name == "Replaying") goes_to_its_end(bar, 2) else expect_identical(ceiling(bar$done), c(200, 400, 600))
  }
  expect_true(bars[[1]]$ended)
  expect_identical(bars[[1]]$done[3], 599.5) # there might be more, until the next chunk is none
  expect_identical(play()[[1]][c("total", "done")], list(total = NA, done = c(200, 400, 600))) # nobody said how many
  expect_identical(play(events = 500)[[1]]$done, c(200, 400, 499.5)) # more came than was said
})

test_that("bars of accountants and evidence", {
  bars <- bars_of(dpts_privacy(policy_ts_gaussian(variance_scale = 60), 60, delta = 1e-3, accountant = "direct", arms = 2))
  expect_identical(names_of(bars), "Bounding")
  for (bar in bars) expect_gt(max(bar$done), 0.5)
  sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_randomised(mu = 1), 900, runs = 3, seed = 1, history = TRUE)
  bar <- bars_of(verdict(dpts_releases(sim)))[[1]]
  expect_identical(bar[c("name", "total", "done")], list(name = "Weighing", total = 3L, done = c(0, 1, 2)))
})
