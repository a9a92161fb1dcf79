# effects(at = "end"): the analysis that dpts_plan() planned.

skip_on_cran() # takes seconds

quiet <- function(expr) withr::with_options(list(rlib_message_verbosity = "quiet"), expr)

test_that("what a plan says of its runs is what their analysis says, run by run", {
  scenario <- arms_bernoulli(c(0.3, 0.36, 0.45))
  designs <- list(fixed = policy_randomised(mu = 0.5, block = 1e9), laplace = policy_randomised(epsilon = 0.2, block = 300),
                  adaptive = policy_randomised(mu = 1, rule = "thompson", block = 150, burn_in = 2),
                  spread = policy_randomised(mu = 1, outcome = "continuous", block = 300))
  people <- 900
  runs <- 14
  for (control in list(NULL, 1)) {
    plan <- dpts_plan(designs, list(hope = scenario), people, control = control, runs = runs, seed = 3)
    for (name in names(designs)) {
      sim <- dpts_simulate(scenario, designs[name], people, runs = runs, seed = 3, history = TRUE, finish = TRUE)
      found <- quiet(effects(sim, control = control, at = "end"))
      row <- plan[plan$design == name, ]
      # all claims of a run: above its control, or above all others
      share <- 0.05 / if (is.null(control)) 3 else 2
      better <- found$difference > 0 & found$p / 2 < share
      worse <- found$difference < 0 & found$p / 2 < share
      claimed <- if (is.null(control)) {
        vapply(split(seq_len(nrow(found)), found$run), function(at) {
          sum((found$arm == 3 & better)[at]) + sum((found$control == 3 & worse)[at]) == 2
        }, NA)
      } else better[found$arm == 3]
      expect_equal(mean(claimed), row$power, label = paste(name, length(control)))
      truth <- c(0.3, 0.36, 0.45)
      held <- found$lower - 1e-9 <= truth[found$arm] - truth[found$control] &
        truth[found$arm] - truth[found$control] <= found$upper + 1e-9
      expect_equal(mean(tapply(held, found$run, all)), row$coverage, label = paste(name, length(control)))
      expect_equal(mean(found$upper - found$lower), row$width, label = paste(name, length(control)))
    }
  }
})

test_that("of one block the test is the z-test of two means with their noise", {
  n <- c(400, 500)
  sum <- c(180.5, 262.25)
  table <- as_releases(data.frame(t = 900, block = 1, arm = 1:2, n = n, sum = sum, chance = c(4, 5) / 9, floor = 4 / 9), "gaussian", 3)
  found <- quiet(effects(table, at = "end", margin = 0.01))
  mean <- sum / n
  # the variance of 0 or 1 in a sample, shrunk by five people of both arms' together, and the noise
  pooled <- (sum(sum) + 1) / (sum(n) + 2)
  v <- (n * ((0.25 - (mean - 0.5)^2) * n + 9 / n) / (n - 1) + 5 * (0.25 - (pooled - 0.5)^2)) / (n + 5)
  se <- sqrt(sum(v / n + 9 / n^2))
  expect_equal(found$difference, mean[2] - mean[1])
  expect_equal(found$upper - found$difference, qnorm(0.975) * se)
  expect_equal(found$p, pnorm(-(found$difference + 0.01) / se))
  expect_equal(quiet(effects(table, at = "end"))$p, 2 * pnorm(-abs(found$difference) / se))
})

test_that("of one block with squares it is that of two means whose variances are seen, but for the noise of squares", {
  n <- c(400, 500)
  sum <- c(180.5, 262.25)
  squares <- c(21.4, 26.1)
  table <- as_releases(data.frame(t = 900, block = 1, arm = 1:2, n = n, sum = sum, squares = squares, chance = c(4, 5) / 9,
                                  floor = 4 / 9), "gaussian", 3)
  found <- quiet(effects(table, at = "end"))
  mean <- sum / n
  of_all <- sum(squares) / sum(n) - ((sum(sum) + 1) / (sum(n) + 2) - 0.5)^2
  own <- ((squares / n - (mean - 0.5)^2) * n + 9 / n) / (n - 1)
  # what noise of sd 3 / 2 in squares may hide
  v <- (n * own + 5 * of_all) / (n + 5) + 1.5 / n
  expect_equal(found$upper - found$difference, qnorm(0.975) * sqrt(sum(v / n + 9 / n^2)))
})

test_that("a margin at any look is that of verdicts, and non-inferiority is seldom shown where it is not", {
  sim <- dpts_simulate(arms_bernoulli(c(0.5, 0.45)), policy_randomised(mu = 1, block = 400), 2000, runs = 100, seed = 5,
                       history = TRUE)
  any_time <- effects(sim, control = 1, margin = 0.05)
  end <- quiet(effects(sim, control = 1, at = "end", margin = 0.05))
  # Arm 2 is worse by just the margin.
  for (p in list(any_time$p, end$p)) expect_lte(mean(p < 0.05), 0.05 + 3 * sqrt(0.05 * 0.95 / 100))
  far <- quiet(effects(sim, control = 1, at = "end", margin = 0.2))
  expect_gt(mean(far$p < 0.05), 0.95)
  expect_true(all(effects(sim, control = 1, margin = 0.2)$p <= any_time$p + 1e-12))
})

test_that("it says that it is valid once, and for people who were tossed", {
  sim <- dpts_simulate(arms_bernoulli(c(0.5, 0.45)), policy_randomised(mu = 1), 500, runs = 1, seed = 1, history = TRUE)
  expect_message(withr::with_options(list(rlib_message_verbosity = "verbose"), effects(sim, at = "end")),
                 "valid once", class = "dpts_message_end")
  top <- dpts_simulate(arms_bernoulli(c(0.5, 0.45)), policy_top_two(mu = 1), 500, runs = 1, seed = 1, history = TRUE)
  expect_error(effects(top, at = "end"), "does not randomise", class = "dpts_error_input")
  expect_error(effects(sim, at = "now"), "`at`", class = "dpts_error_input")
  expect_error(effects(sim, margin = -1), "`margin`", class = "dpts_error_input")
})

test_that("a picture of effects says what its intervals promise", {
  sim <- dpts_simulate(arms_bernoulli(c(0.5, 0.6)), policy_randomised(mu = 1), 1000, runs = 1, seed = 1, history = TRUE)
  caption <- function(...) gsub("\\s+", " ", autoplot(suppressMessages(effects(sim, ...)))$labels$caption)
  expect_match(caption(), "95% probability all of a run hold together, at all looks")
  expect_match(caption(at = "end", level = 0.9), "90% probability all of a run hold together, at this one analysis")
})

test_that("a margin is in units of the rewards, at any look, at the end and in a verdict", {
  rows <- data.frame(t = rep(c(500, 1000), each = 2), block = rep(1:2, each = 2), arm = c("a", "b"), n = 250, sum = c(120, 130, 125, 118),
                     chance = 0.5, floor = 0.5)
  one <- as_releases(rows, "gaussian", 1)
  rows$low <- 0
  rows$high <- 10
  ten <- as_releases(rows, "gaussian", 1) # the same sums, of rewards from 0 to 10
  for (at in c("any", "end")) {
    x <- quiet(effects(one, control = "a", margin = 0.12, at = at))
    y <- quiet(effects(ten, control = "a", margin = 1.2, at = at))
    expect_equal(y$p, x$p)
    expect_equal(y$lower, 10 * x$lower)
    expect_lt(x$p, 0.02)
    expect_gt(quiet(effects(ten, control = "a", margin = 0.12, at = at))$p, 0.2)
  }
  expect_equal(verdict(ten, margin = 1.2), verdict(one, margin = 0.12), ignore_attr = "asked")
  expect_false(is.na(verdict(ten, margin = 1.2)$arm))
})

test_that("two arms are compared over the people of the blocks in which both could be assigned", {
  # b is paused for the third block, c is added with the second, and the level drifts
  rows <- data.frame(t = c(150, 150, 390, 390, 390, 590, 590, 800, 800, 800), block = c(1, 1, 2, 2, 2, 3, 3, 4, 4, 4),
                     arm = c("a", "b", "a", "b", "c", "a", "c", "a", "b", "c"), n = c(70, 80, 85, 75, 80, 95, 105, 60, 80, 70),
                     sum = c(15, 24, 43, 45, 38, 66, 74, 25, 38, 28), chance = rep(c(1 / 2, 1 / 3, 1 / 2, 1 / 3), c(2, 3, 2, 3)), floor = 1 / 3)
  x <- quiet(effects(as_releases(rows, "gaussian", 1), control = "a", at = "end"))
  mean_of <- function(arm, block) (rows$sum / rows$n)[rows$arm == arm & rows$block == block]
  own <- function(arm, blocks, people) weighted.mean(vapply(blocks, function(g) mean_of(arm, g) - mean_of("a", g), 0), people)
  expect_equal(x$difference, c(own("b", c(1, 2, 4), c(150, 240, 210)), own("c", 2:4, c(240, 200, 210))))
})

test_that("a block of other arms is another part of the people, and one in which an arm got nobody shows no difference", {
  end <- function(...) suppressMessages(effects(as_releases(data.frame(...), noise = "none"), at = "end"))
  # Two of three arms: nothing is said of the third by what they got.
  rows <- list(arm = c(1:3, 1:2), block = c(1, 1, 1, 2, 2), n = c(20, 30, 50, 40, 60), sum = c(10, 12, 30, 1, 55), chance = c(0.2, 0.3, 0.5, 0.4, 0.6),
               floor = rep(0.2 / 0.7, 5))
  both <- end(arm = rows$arm, block = rows$block, n = rows$n, sum = rows$sum, chance = rows$chance, floor = rows$floor)
  first <- do.call(end, lapply(rows, utils::head, 3))
  with_third <- both$arm == 3 | both$control == 3
  expect_equal(both[with_third, c("difference", "lower", "upper")], first[with_third, c("difference", "lower", "upper")])
  expect_equal(both$difference[!with_third], (100 * (12 / 30 - 10 / 20) + 100 * (55 / 60 - 1 / 40)) / 200)
  # Nobody got the second arm in a block of other chances.
  one <- end(arm = c(1:2, 1:2), block = c(1, 1, 2, 2), n = c(50, 50, 40, 0), sum = c(20, 30, 36, 0), chance = c(0.5, 0.5, 0.9, 0.1), floor = 0.1)
  expect_equal(one$difference, 100 * (30 / 50 - 20 / 50) / 140)
  turned <- as_releases(data.frame(arm = c(1:2, 1:2), block = c(1, 1, 2, 2), n = c(50, 50, 40, 0), sum = c(20, 30, 36, 0),
                                   chance = c(0.5, 0.5, 0.9, 0.1), floor = 0.1), noise = "none")
  expect_equal(suppressMessages(effects(turned, control = 2, at = "end"))$difference, -one$difference)
})

test_that("a picture of effects says for which analysis its lines are, and of rows without that nothing", {
  sim <- dpts_simulate(arms_bernoulli(c(a = 0.7, b = 0.5)), policy_randomised(mu = 1), 2000, runs = 1, seed = 1, history = TRUE)
  said <- function(x) gsub("\\s+", " ", ggplot2::autoplot(x)$labels$caption)
  expect_match(said(effects(sim)), "with 95% probability all of a run hold together, at all looks", fixed = TRUE)
  expect_match(said(effects(sim, at = "end")), "at this one analysis", fixed = TRUE)
  bare <- effects(sim)
  attr(bare, "asked") <- NULL
  expect_match(said(bare), "Line: an interval.", fixed = TRUE)
})

test_that("which arms have gone may follow what was released: of the others all is said that was said before", {
  set.seed(1)
  block <- function(b) data.frame(arm = 1:4, block = b, n = 100, sum = rbinom(4, 100, c(0.3, 0.5, 0.4, 0.6)), t = 400 * b, event = NA)
  went <- data.frame(arm = 2:3, block = NA, n = 0, sum = 0, t = 1200, event = "retired")
  table <- function(...) as_releases(transform(rbind(...), chance = ifelse(n > 0, 0.25, NA), floor = 0.5), "gaussian", 2)
  rows <- list(block(1), block(2), block(3))
  all <- do.call(table, rows)
  left <- do.call(table, c(rows, list(went)))
  ways <- list(list(), list(at = "end"), list(at = "end", looks = c(0.3, 0.6), people = 1200), list(at = "end", margin = 0.1),
               list(margin = 0.1))
  for (way in ways) {
    for (control in list(NULL, 1)) {
      say <- function(table) as.data.frame(quiet(do.call(effects, c(list(table, control = control), way))))
      was <- say(all)
      expect_equal(lapply(say(left), as.vector), lapply(was[was$arm == 4 & was$control == 1, ], as.vector))
    }
  }
  # The best and the worst of eight equal arms are far apart, and the interval allows for it.
  missed <- replicate(30, {
    sum <- rbinom(8, 500, 0.5)
    gone <- setdiff(1:8, c(which.max(sum), which.min(sum)))
    rows <- data.frame(arm = c(1:8, gone), block = rep(c(1, NA), c(8, 6)), n = rep(c(500, 0), c(8, 6)), sum = c(sum, 0 * gone),
                       t = 4000, chance = rep(c(1 / 8, NA), c(8, 6)), floor = 0.5, event = rep(c(NA, "retired"), c(8, 6)))
    found <- quiet(effects(as_releases(rows, "none"), level = 0.8, at = "end"))
    found$lower > 0 || found$upper < 0
  })
  expect_lte(mean(missed), 0.2 + 3 * sqrt(0.2 * 0.8 / 30))
})

test_that("two sums with Laplace noise of one scale are counted as two variables of it", {
  # So that the shape of the noise in a difference has the fourth cumulant that it has: 12 scale^4 of each.
  rows <- data.frame(arm = 1:2, block = rep(1:2, each = 2), n = 100, sum = c(50, 60, 48, 55), chance = 0.5, t = rep(c(200, 400), each = 2))
  for (blocks in 1:2) {
    record <- release_records(as_releases(rows[seq_len(2 * blocks), ], "laplace", 3))$records[[1]]
    expect_equal(.Call(C_final_test, 2L, 1L, released_whole(record, TRUE))[2:3, 5], rep(2 * blocks, 2))
  }
})
