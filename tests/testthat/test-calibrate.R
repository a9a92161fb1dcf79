skip_on_cran() # takes seconds

test_that("budgets are checked and printed", {
  expect_output(print(privacy_gdp(1)), "1-GDP")
  expect_output(print(privacy_approx(1, 1e-6)), "(1, 1e-06)-DP", fixed = TRUE)
  expect_output(print(privacy_pure(2)), "2-DP")
  expect_error(privacy_gdp(-1), "`mu`", class = "dpts_error_input")
  expect_error(privacy_approx(1, 1), "`delta`", class = "dpts_error_input")
  expect_error(privacy_pure(NaN), "`epsilon`", class = "dpts_error_input")
})

test_that("calibration by GDP is the closed form", {
  # Ou et al. (2024): c (b + 1) >= T / mu^2, here with the pre-pull rounds left out
  for (mu in c(1, 5, 10)) {
    policy <- dpts_calibrate(privacy_gdp(mu), 1e5, 99, "gdp", arms = 5)
    expect_s3_class(policy, "dpts_policy_ts_gaussian")
    expect_equal(policy$params$variance_scale, (1e5 - 495) / (mu^2 * 100))
    expect_equal(policy$params$prepulls, 99)
  }
  policy <- dpts_calibrate(privacy_gdp(1), 1000, 0, "gdp")
  expect_equal(policy$params$variance_scale, 1000 / 2)
})

test_that("a calibrated policy is inside its budget, and a smaller scale is not", {
  budgets <- list(privacy_approx(1, 1e-6), privacy_approx(50, 1e-3), privacy_approx(0, 1e-3))
  for (budget in budgets) {
    for (accountant in c("gdp", "rdp", "sequence")) {
      for (prepulls in switch(accountant, gdp = c(0, 30), rdp = 0, sequence = 30)) { # 0 below
        policy <- dpts_calibrate(budget, 1000, prepulls, accountant, arms = 3)
        epsilon <- function(scale) {
          dpts_privacy(policy_ts_gaussian(prepulls, scale), 1000, delta = budget$delta,
                       accountant = accountant, arms = 3)$epsilon
        }
        scale <- policy$params$variance_scale
        expect_lte(epsilon(scale), budget$epsilon)
        # the least scale, to the tolerance that the help states
        expect_gt(epsilon(scale * (if (accountant == "sequence") 0.995 else 1 - 1e-6)),
                  budget$epsilon)
      }
    }
  }
})

test_that("60 random budgets: strictly inside, by what the policy itself declares", {
  withr::local_seed(11)
  inside <- exceeded <- least <- c()
  for (i in 1:60) {
    horizon <- round(10^runif(1, 1.5, 6))
    arms <- sample(2:5, 1)
    prepulls <- sample(0:floor(horizon / (2 * arms)), 1)
    mu <- 10^runif(1, -1.5, 1.5)
    at <- dpts:::conditions(horizon, arms)
    policy <- dpts_calibrate(privacy_gdp(mu), horizon, prepulls, "gdp", arms)
    total <- dpts:::form(policy$guarantee, "mu", at)
    inside[i] <- total < mu && total > mu * (1 - 1e-12)
    # over the reals too: rounds < mu^2 c (b + 1), to more than the rounding of these products
    scale <- policy$params$variance_scale
    least[i] <- mu * mu * scale * (max(prepulls, 1) + 1) / (horizon - arms * prepulls) - 1
    delta <- 10^runif(1, -9, -2)
    epsilon <- gdp_epsilon(mu, delta)
    if (epsilon < 1e-6) next
    for (accountant in c("gdp", if (i %% 30 == 0) c("rdp", "sequence"))) {
      policy <- dpts_calibrate(privacy_approx(epsilon, delta), horizon, prepulls, accountant, arms)
      spent <- dpts_privacy(policy, horizon, delta = delta, accountant = accountant,
                            arms = arms)$epsilon
      if (!(spent < epsilon)) exceeded <- c(exceeded, paste(i, accountant))
    }
  }
  expect_identical(which(!inside), integer())
  expect_gt(min(least), 2e-15)
  expect_null(exceeded)
})

test_that("the search by secants ends at the root", {
  # epsilon from the full search over orders: what is found is inside the budget, 0.2 percent less is not,
  # and far from it there is no other root
  for (set in list(c(4, 1e-5, 60, 0), c(0.2, 1e-6, 100, 20), c(30, 1e-3, 60, 2))) {
    of_scale <- function(scale) dpts:::sampler(set[3], set[4], scale)
    inside <- function(scale) dpts:::orders_of_sequence(set[2], of_scale(scale)) <= set[1]
    found <- dpts:::calibrate_sequence(set[1], set[2], of_scale)
    expect_true(inside(found))
    expect_false(inside(found * (1 - 2e-3)))
    expect_false(inside(found / 30))
    expect_true(inside(found * 30))
  }
})

test_that("the sequence accountant needs far less variance at long horizons", {
  budget <- privacy_approx(4.377, 1e-5)
  sequence <- dpts_calibrate(budget, 1e5, 500, "sequence", arms = 5)
  gdp <- dpts_calibrate(budget, 1e5, 500, "gdp", arms = 5)
  expect_lt(sequence$params$variance_scale * 10, gdp$params$variance_scale)
  epsilon <- dpts_privacy(sequence, 1e5, delta = 1e-5, accountant = "sequence",
                          arms = 5)$epsilon
  expect_lte(epsilon, 4.377)
  expect_gt(epsilon, 4.377 * 0.998)
})

test_that("a GDP budget is read at one delta by Renyi accountants, and says so", {
  expect_message(policy <- dpts_calibrate(privacy_gdp(1), 1000, 10, "rdp"),
                 "every delta", class = "dpts_message_budget")
  epsilon <- dpts_privacy(policy, 1000, delta = 1e-4, accountant = "rdp")$epsilon
  expect_equal(epsilon, gdp_epsilon(1, 1e-4), tolerance = 1e-6) # a tenth of one over the people
  suppressMessages(
    policy <- dpts_calibrate(privacy_gdp(1), 1000, 10, "sequence", delta = 1e-6)
  )
  epsilon <- dpts_privacy(policy, 1000, delta = 1e-6, accountant = "sequence")$epsilon
  expect_equal(epsilon, gdp_epsilon(1, 1e-6), tolerance = 2e-3)
})

test_that("the direct accountant meets a GDP budget up to nu, at every delta", {
  nu <- 1e-7
  for (set in list(c(20, 0), c(1500, 100))) {
    horizon <- set[1]
    prepulls <- set[2]
    at <- dpts:::conditions(horizon, 5)
    policy <- dpts_calibrate(privacy_gdp(1, nu), horizon, prepulls, "direct", arms = 5)
    scale <- policy$params$variance_scale
    mu <- function(scale) sequence_gdp(horizon - 5 * prepulls, prepulls, scale, nu)$mu
    expect_lte(mu(scale), 1)
    expect_gt(mu(0.995 * scale), 1)
    expect_true(dpts:::inside_budget(policy$guarantee, privacy_gdp(1, nu), at))
    expect_false(dpts:::inside_budget(policy$guarantee, privacy_gdp(1), at))
    # far less noise than for 1-GDP itself, which will do too
    exact <- dpts_calibrate(privacy_gdp(1, nu), horizon, prepulls, "gdp", arms = 5)
    expect_identical(exact, dpts_calibrate(privacy_gdp(1), horizon, prepulls, "gdp", arms = 5))
    expect_lt(1.8 * scale, exact$params$variance_scale)
    delta <- 10^-(1:3)
    spent <- dpts_privacy(policy, horizon, delta = delta, accountant = "direct", arms = 5)$epsilon
    expect_true(all(spent <= gdp_epsilon(1, delta - nu) * 1.01))
  }
  # without a nu it is delta / 100, and a message says so
  policy <- dpts_calibrate(privacy_gdp(1, nu), 12, 1, "direct")
  expect_message(same <- dpts_calibrate(privacy_gdp(1), 12, 1, "direct", delta = 1e-5),
                 "up to 1e-07", class = "dpts_message_budget")
  expect_equal(policy$params, same$params, tolerance = 1e-12)
  # an (epsilon, delta) budget
  budget <- privacy_approx(4.377, 1e-5)
  direct <- dpts_calibrate(budget, 2000, 200, "direct", arms = 5)
  epsilon <- sequence_epsilon(1e-5, 1000, 200, direct$params$variance_scale)
  expect_lte(epsilon, 4.377)
  expect_gt(epsilon, 4.377 * 0.998)
  expect_lt(direct$params$variance_scale, 0.95 *
              dpts_calibrate(budget, 2000, 200, "sequence", arms = 5)$params$variance_scale)
})

test_that("where orders alone ask for less than all draws, the scale is theirs", {
  scale <- function(part) {
    local_function("orders_gdp", function(old) function(own, nu, enough = Inf) part * mu_published(own))
    start_direct(list(mu = 20, nu = 1e-6), function(scale) sampler(10, 0, scale))
  }
  all <- 10 / (2 * 20^2)
  expect_equal(scale(0.995), all)
  expect_true(scale(0.5) >= all / 4 && scale(0.5) < 1.01 * all / 4)
})

test_that("a budget of losses is read at one delta", {
  # Randomised response: delta(epsilon) is 0.75 - 0.25 exp(epsilon).
  response <- privacy_loss(list(c(0.75, 0.25), c(0.25, 0.75)))
  expect_message(policy <- dpts_calibrate(response, 1000, 10, "sequence", delta = 0.01), "is read as \\(1.08519, 0.01\\)-DP",
                 class = "dpts_message_budget")
  expect_equal(policy$params, dpts_calibrate(privacy_approx(log(3 - 0.04), 0.01), 1000, 10, "sequence")$params)
})

test_that("where the least scale is inside a wide budget, or nothing is asked, that is the answer", {
  wide <- dpts_calibrate(privacy_gdp(1e12, nu = 1e-6), 1e4, prepulls = 10)
  expect_identical(wide$params$variance_scale, 1e-6)
  expect_identical(sequence_gdp(1, 0, 1, nu = 0.99)$mu, 0) # delta is at most 2 Phi(1 / sqrt(8)) - 1 = 0.28
})

test_that("budgets that cannot be met are refused", {
  for (budget in list(privacy_pure(1), privacy_approx(1, 0))) {
    expect_error(dpts_calibrate(budget, 1000, 10), class = "dpts_error_budget")
    expect_error(dpts_calibrate(budget, 1000, 10, "gdp"), class = "dpts_error_budget")
  }
  expect_error(dpts_calibrate(privacy_gdp(0), 1000, 10, "gdp"), class = "dpts_error_budget")
  # The range of scales: 991 / (11 mu^2) above 1e12, or below 1e-6, where the least will do
  expect_error(dpts_calibrate(privacy_gdp(7e-6), 1000, 10, "gdp"), "variance scale",
               class = "dpts_error_budget")
  for (mu in c(1e4, 1e12)) {
    expect_identical(dpts_calibrate(privacy_gdp(mu), 1000, 10, "gdp")$params$variance_scale, 1e-6)
  }
  # No order up to 1 + exp(16) brings epsilon to 0 at so small a delta, whatever the variance:
  # the conversion at W = 0 is (log(1 / delta) - log(alpha)) / alpha - 1 / alpha > 0.
  expect_error(dpts_calibrate(privacy_approx(0, 1e-10), 14, 2), "`?budget",
               class = "dpts_error_budget", ignore.case = TRUE)
  expect_error(dpts_calibrate(privacy_gdp(1), 100, 50, "gdp", arms = 2), "`horizon`",
               class = "dpts_error_horizon")
  expect_error(dpts_calibrate(1, 100, 5), "`budget`", class = "dpts_error_input")
  expect_error(dpts_calibrate(privacy_gdp(1), 100, -5), "`prepulls`", class = "dpts_error_input")
  expect_error(dpts_calibrate(privacy_gdp(1), 100, 5, "advanced"), "`accountant`",
               class = "dpts_error_input")
})

test_that("any parameter is calibrated by any accountant", {
  at <- dpts:::conditions(200, 2)
  # noise of a mechanism: mu = 1 / x at (epsilon, delta), by the exact curve
  found <- dpts:::calibrate_parameter(function(x) dpts:::guarantee_gdp(1 / x), privacy_approx(1, 1e-6), at,
                                      "gdp", c(1e-3, 1e3), tolerance = 1e-9)
  expect_equal(found, 1 / gdp_mu(1, 1e-6), tolerance = 1e-8)
  expect_lte(gdp_epsilon(1 / found, 1e-6), 1)
  # by bisection what the fast start finds
  slow <- dpts:::calibrate_parameter(function(x) dpts:::guarantee_draws(5, x), privacy_approx(1, 1e-3),
                                     dpts:::conditions(40, 2), "sequence", c(1, 1e3))
  fast <- dpts_calibrate(privacy_approx(1, 1e-3), 40, 5, "sequence")$params$variance_scale
  expect_equal(slow, fast, tolerance = 2e-3)
  expect_identical(dpts:::least_inside(function(x) x >= 17.3, c(1, 1e6), whole = TRUE), 18)
  expect_equal(dpts:::least_inside(function(x) x >= 0.3, c(0, 1), tolerance = 1e-6), 0.3, tolerance = 1e-5)
  expect_identical(dpts:::least_inside(function(x) FALSE, c(1, 10)), Inf)
  expect_identical(dpts:::least_inside(function(x) TRUE, c(0, 1)), 0)
})

test_that("by default the sharpest accountant that proves the budget as it is", {
  same <- function(budget, accountant) {
    expect_silent(policy <- dpts_calibrate(budget, 12, 1))
    expect_identical(policy, dpts_calibrate(budget, 12, 1, accountant))
  }
  same(privacy_approx(2, 1e-4), "direct")
  same(privacy_gdp(1, 1e-6), "direct")
  same(privacy_gdp(1), "gdp")
})
