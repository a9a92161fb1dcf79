# What people answer in a plan, beside rewards that come in full (R/plan-answers.R).

test_that("looks are summed up over runs: who was paused, who stopped, and what was claimed by those that did not", {
  looks <- rbind(c(NaN, 100, NaN, NaN), c(NaN, NaN, NaN, 300), c(NaN, 200, NaN, 400)) # arms 1 and 2, and the stop
  cell <- dpts:::looks_cell(looks, 1000, harmful = c(TRUE, FALSE), claimed = c(TRUE, TRUE, FALSE, FALSE))
  expect_equal(cell$paused, 1 / 4)
  expect_equal(cell$false_alarms, 1 / 4)
  expect_equal(cell$stopped, 2 / 4)
  expect_equal(cell$mean_people, (1000 + 200 + 1000 + 400) / 4)
  expect_equal(cell$power_stopped, 1 / 4)
  expect_equal(cell$paused_share, c(1, 1) / 4)
  expect_equal(cell$paused_at, c(100, 300))
})

test_that("a guard is in the units of its outcome, whatever their range", {
  harm <- agent_outcome(mu = 1, range = c(0, 10), guard = 0.5, missing = 0)
  rates <- cbind(harm = c(0.2, 0.24, 0.26)) # in parts of the range: 2, 2.4 and 2.6
  expect_identical(dpts:::harmful_arms(rates, list(harm = harm), 1), c(FALSE, FALSE, TRUE))
})

test_that("each outcome of a plan has its own noise", {
  # The guard of the second would often be wrong, were the noise of its sums that of the first.
  plan <- function(rates) {
    dpts_plan(policy_randomised(mu = 1, block = 200, control = 1), arms_bernoulli(c(0.5, 0.5)), people = 1000,
              outcomes = list(loud = agent_outcome(mu = 0.01, missing = 0),
                              quiet = agent_outcome(mu = 10, guard = 0.1, missing = 0)),
              rates = list(loud = c(0.1, 0.1), quiet = rates), runs = 20, seed = 1)
  }
  expect_identical(plan(c(0.5, 0.5))$false_alarms, 0)
  expect_identical(plan(c(0.1, 0.9))$paused, 1)
  # ... and its own value of a missing answer, here of all people of an arm
  alarms <- function(first, second) {
    own <- function(missing) agent_outcome(mu = 10, guard = 0.3, missing = missing)
    dpts_plan(policy_randomised(block = 200, control = 1), arms_bernoulli(c(0.5, 0.5)), 400, dropout = 0:1, runs = 3, seed = 1,
              outcomes = list(one = own(first), two = own(second)), rates = list(one = c(0.1, 0.1), two = c(0.1, 0.1)))$false_alarms
  }
  expect_identical(c(alarms(0, 0), alarms(0, 1), alarms(1, 0)), c(0, 1, 1))
})

test_that("an arm is paused once, at the first look that shows harm", {
  # No later look pauses it again, which would end blocks that are open.
  told <- character()
  local_function("looks_of", function(own) function(...) {
    look <- own(...)
    see <- look$see
    look$see <- function(run, ...) {
      new <- see(run, ...)
      told <<- c(told, sprintf("%.0f %d", run, new))
      new
    }
    look
  })
  plan <- dpts_plan(policy_randomised(mu = 1, block = 200, control = 1), arms_bernoulli(c(0.5, 0.5)), people = 1000,
                    outcomes = list(harm = agent_outcome(mu = 10, guard = 0.1, missing = 0)),
                    rates = list(harm = c(0.1, 0.9)), runs = 20, seed = 1)
  expect_identical(summary(plan)$paused, c(0, 1))
  expect_identical(summary(plan)$paused_at, c(NA, 200))
  expect_setequal(told, paste(1:20, 2))
  expect_length(told, 20)
})

test_that("the upper bound of a pair is that of the turned pair, of three arms", {
  lower <- matrix(c(1, 5, 2, 8, 3, 9, 4, 7, 6), 9)
  expect_equal(drop(evidence_end(matrix(TRUE, 3, 1), lower)$upper), -c(1, 8, 4, 5, 3, 7, 2, 9, 6))
})

test_that("several outcomes are in any order and any units, as are rewards, and each guard pauses its own arm", {
  policy <- policy_randomised(mu = 1, block = 60, rule = "thompson", control = 1, outcome = "continuous")
  # Rewards from `low` to `low + width`; outcomes likewise, an arm harmed by each
  ask <- function(low, width, order = 1:3, ...) {
    units <- function(x) low + width * x
    own <- function(guard, missing) {
      agent_outcome(mu = 10, range = units(0:1), guard = if (!is.null(guard)) width * guard, missing = units(missing))
    }
    outcomes <- list(mild = own(0.1, 0), plain = own(NULL, 0.5), bad = own(0.2, 0.25))
    rates <- lapply(list(mild = c(0.1, 0.9, 0.15), plain = c(0.4, 0.5, 0.6), bad = c(0.2, 0.25, 0.9)), units)
    dpts_plan(policy, list(s = arms_gaussian(units(c(0.4, 0.5, 0.6)), 0.2 * width, range = units(0:1))), 420, control = 1,
              outcomes = outcomes, rates = rates[order], dropout = c(0.1, 0, 0.2), runs = 5, seed = 1, ...)
  }
  unit <- ask(0, 1)
  expect_equal(unit$false_alarms, 0)
  expect_identical(summary(unit)$paused, c(0, 1, 1))
  expect_identical(plain_columns(ask(0, 1, 3:1)), plain_columns(unit))
  expect_equal(plain_columns(ask(0, 1, missing = 0)), plain_columns(unit)) # what is missing is the least, if nothing is said
  other <- ask(50, 200)
  same <- setdiff(names(unit), "width")
  expect_equal(plain_columns(other)[same], plain_columns(unit)[same])
  expect_equal(other$width, 200 * unit$width)
  expect_equal(plain_columns(summary(other)), plain_columns(summary(unit)))
})
