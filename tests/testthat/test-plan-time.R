# Delays by arm, deadlines and accrual in dpts_plan().

skip_on_cran() # takes seconds

two <- function(a, b) arms_bernoulli(c(a = a, b = b))
thompson <- policy_randomised(mu = 1, rule = "thompson", block = 50)
numbers <- function(plan) lapply(as.list(plan)[!names(plan) %in% c("design", "scenario", "time")], as.vector)

test_that("with a deadline late answers are missing answers, and rewards come at the deadline", {
  late <- dpts_plan(thompson, two(0.4, 0.6), 400, delay = list(c(0, 10), c(0, 59, 20, 100)), deadline = 60, dropout = c(0.1, 0.2),
                    missing = 0.5, runs = 40, seed = 1)
  same <- dpts_plan(thompson, two(0.4, 0.6), 400, delay = 60, dropout = c(0.1, 1 - 0.8 * 0.75), missing = 0.5, runs = 40, seed = 1)
  expect_equal(numbers(late), numbers(same))
  expect_match(paste(format(late), collapse = " "), "used at a deadline of 60 people")
  # An answer just at the deadline is late, as with an agent (test-agent.R).
  at_deadline <- dpts_plan(thompson, two(0.4, 0.6), 400, delay = list(c(0, 10), c(0, 60, 20, 59)), deadline = 60, dropout = c(0.1, 0.2),
                           missing = 0.5, runs = 40, seed = 1)
  expect_equal(numbers(at_deadline), numbers(same))
  # A fixed design counts what is expected: of a's rewards 0.4, of b's a quarter of 0.6 is lost.
  fixed <- dpts_plan(policy_randomised(block = 1e9), two(0.4, 0.6), 600, delay = list(0, c(0, 0, 0, 9)), deadline = 5, runs = 2000,
                     seed = 2)
  se <- sqrt(0.4 * 0.6 / 300 + 0.45 * 0.55 / 300)
  expect_lt(abs(fixed$power - pnorm(0.05 / se - qnorm(0.975))), 3 * sqrt(0.25 / 2000) + 0.01)
})

test_that("in each stratum those who never answer, or too late, are of the arm that was said", {
  same <- two(0.5, 0.5)
  arms <- arms_strata(x = same, y = same, z = same)
  # All of one arm's people count as the missing value, which shows, and nothing else does.
  policy <- policy_randomised(mu = 1e6, block = 600)
  claims <- function(...) dpts_plan(policy, arms, 600, control = "a", by = "stratum", runs = 5, seed = 1, ...)$false_claims
  expect_identical(claims(dropout = c(0, 1), missing = 1), c(1, 1, 1))
  expect_identical(claims(dropout = c(1, 0), missing = 0), c(1, 1, 1))
  expect_identical(claims(delay = list(0, 9), deadline = 5, missing = 1), c(1, 1, 1))
  expect_identical(claims(delay = list(9, 0), deadline = 5, missing = 0), c(1, 1, 1))
})

test_that("people come at the rates that were given", {
  # Against a clock that walks through time in small steps
  rate <- c(3, 0, 5.5, 2)
  steps <- 1e4
  came <- cumsum(rep(rate[c(1:4, 4, 4, 4)], each = steps) / steps)
  when <- vapply(1:15, function(i) which(came >= i - 1e-9)[1] / steps, 0)
  expect_equal(arrivals(rate, 1:15), when, tolerance = 2 / steps)
  expect_equal(people_by(rate, seq(0.5, 6.5, 0.5)), came[seq(0.5, 6.5, 0.5) * steps])
  # Who has come until an answer is in is counted person by person.
  timing <- list(rate = rate, deadline = 1.3)
  all <- arrivals(rate, 1:100)
  expect_equal(timing_delays(timing, 15)(15), vapply(1:15, function(i) sum(all > all[i] & all <= all[i] + 1.3), 0))
})

test_that("a steady accrual is a delay in people, and the time of the end is that of the last answer", {
  steady <- dpts_plan(thompson, two(0.4, 0.6), c(200, 400), deadline = 1.5, accrual = 40, runs = 40, seed = 1)
  people <- dpts_plan(thompson, two(0.4, 0.6), c(200, 400), delay = 60, runs = 40, seed = 1)
  expect_equal(numbers(steady), numbers(people))
  expect_equal(steady$time, c(5, 10) + 1.5)
  # 20 + 40 + 60, and 80 more at 60 a month
  grows <- dpts_plan(thompson, two(0.4, 0.6), 200, delay = c(0.5, 2), accrual = c(20, 40, 60), runs = 5, seed = 1, threads = 2)
  expect_equal(grows$time, 3 + 80 / 60 + 2)
  again <- dpts_plan(thompson, two(0.4, 0.6), 200, delay = c(0.5, 2), accrual = c(20, 40, 60), runs = 5, seed = 1)
  expect_equal(grows, again)
  expect_match(paste(format(grows), collapse = " "), "20, 40 and then 60 people a unit of time")
  expect_true(is.finite(dpts_plan(policy_randomised(block = 20), two(0.2, 0.8), deadline = 1, accrual = 30, runs = 50, seed = 1)$time))
})

test_that("what is not a time is refused", {
  bad <- function(arg, ...) {
    expect_error(dpts_plan(thompson, two(0.4, 0.6), 100, runs = 5, ...), sprintf("`%s`", arg), class = "dpts_error_input")
  }
  bad("delay", delay = list(0, 5))
  bad("delay", delay = list(0, 5, 9), deadline = 7)
  bad("delay", delay = list(0, -5), deadline = 7)
  bad("delay", delay = list(0, "5"), deadline = 7)
  bad("delay", delay = function(n) rep(1, n), deadline = 7)
  bad("delay", delay = 2.5, deadline = 7)
  bad("deadline", deadline = 2.5)
  bad("deadline", deadline = 0)
  bad("deadline", deadline = 2, visits = 2)
  bad("deadline", delay = list(0, 5), accrual = 5)
  bad("accrual", accrual = c(5, 0))
  bad("accrual", accrual = -1)
})
