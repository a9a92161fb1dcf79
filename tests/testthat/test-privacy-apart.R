# People whose rewards are in different releases, against closed forms and sums over all outcomes

curve_at <- function(x, delta, accountant) {
  dpts_privacy(x, 1000, delta = delta, accountant = accountant)$epsilon
}

test_that("m rewards in m releases are mu sqrt(m), and m times a pure epsilon", {
  person <- privacy_group(policy_randomised(mu = 0.1), 210, apart = TRUE)
  expect_equal(curve_at(person, 1e-6, "gdp"), gdp_epsilon(0.1 * sqrt(210), 1e-6), tolerance = 1e-12)
  expect_identical(format(privacy_group(privacy_gdp(0.5), 4, apart = TRUE)),
                   "1-GDP for people with up to 4 rewards in different releases")
  expect_equal(curve_at(privacy_group(policy_dp_imed(0.3), 7, apart = TRUE), 0, "pure"), 2.1)
  expect_equal(curve_at(privacy_group(privacy_zcdp(0.02), 50, apart = TRUE), 1e-6, "rdp"),
               rdp_epsilon(rdp = 1, delta = 1e-6))
  up_to <- privacy_group(privacy_gdp(0.2, nu = 1e-9), 25, apart = TRUE)
  expect_equal(curve_at(up_to, 1e-6, "direct"), gdp_epsilon(1, 1e-6 - 25e-9), tolerance = 1e-9)
  # A budget must allow for the share nu of each release.
  at <- conditions(1000, 2)
  expect_false(inside_budget(up_to, privacy_gdp(1.01, nu = 24e-9), at))
  expect_true(inside_budget(up_to, privacy_gdp(1.01, nu = 26e-9), at))
  # One reward is as it was, more of more multiply, and a composition is of what each part becomes.
  expect_identical(privacy_group(policy_ts_gaussian(), 1, apart = TRUE), policy_ts_gaussian()$guarantee)
  expect_identical(privacy_group(privacy_group(privacy_gdp(1), 2, TRUE), 3, TRUE),
                   privacy_group(privacy_gdp(1), 6, TRUE))
  both <- privacy_group(privacy_compose(privacy_gdp(0.3), privacy_gdp(0.4)), 9, TRUE)
  expect_equal(curve_at(both, 1e-5, "gdp"), gdp_epsilon(1.5, 1e-5))
  # 3 rewards in each of 4 releases
  expect_equal(curve_at(privacy_group(privacy_group(privacy_gdp(0.1), 3), 4, TRUE), 1e-5, "gdp"),
               gdp_epsilon(0.6, 1e-5))
  expect_identical(privacy_group(policy_ucb1(), 5, TRUE), policy_ucb1()$guarantee)
  # Orders add up one by one; what has no closed form is said of one reward, and how many there are.
  renyi <- function(k) privacy_rdp(c(2, 8), k * c(0.1, 0.4))
  expect_equal(curve_at(privacy_group(renyi(1), 3, TRUE), 1e-3, "rdp"), curve_at(renyi(3), 1e-3, "rdp"))
  expect_identical(format(privacy_group(renyi(1), 3, TRUE)),
                   "what (2, 0.1), (8, 0.4)-RDP for one reward means for people with up to 3 rewards in different releases")
  expect_output(print(privacy_group(privacy_approx(1, 1e-6), 2, TRUE)),
                "No release holds two rewards of a person.\nFor one reward: What is released is \\(1, 1e-06\\)-DP for streams")
})

# delta of m sums with two-sided geometric noise of a step of 1 / n that all move by 1: over all losses
geometric_delta <- function(epsilon, n, m, at) {
  k <- -(40 * n / min(1, epsilon)):(n + 40 * n / min(1, epsilon))
  a <- exp(-epsilon / n)
  p <- (1 - a) / (1 + a) * a^abs(k)
  steps <- abs(k - n) - abs(k) # the loss is epsilon / n for each
  sums <- rowsum(p, steps)
  one <- replace(numeric(2 * n + 1), as.numeric(rownames(sums)) + n + 1, sums)
  all <- one
  for (i in seq_len(m - 1)) all <- convolve(all, rev(one), type = "open")
  loss <- epsilon / n * (-(m * n):(m * n))
  vapply(at, function(x) sum(pmax(all, 0) * pmax(-expm1(x - loss), 0)), 0)
}

test_that("Laplace noise composes as two-sided geometric noise does, and as integrals say", {
  for (epsilon in c(0.2, 2)) {
    pair <- dpts:::pair_laplace(epsilon)
    at <- c(0, 0.31, 0.8, 0.99) * epsilon
    # one release: delta(x) = 1 - e^((x - epsilon) / 2), met at the knots and not fallen below between them
    own <- vapply(at, dpts:::pair_delta, 0, pair = pair)
    laplace <- -expm1((at - epsilon) / 2)
    expect_true(all(own >= laplace - 1e-15 & own < laplace + 0.001 * epsilon))
    expect_equal(vapply(rev(pair$loss[pair$loss > 0]), dpts:::pair_delta, 0, pair = pair),
                 -expm1((rev(pair$loss[pair$loss > 0]) - epsilon) / 2), tolerance = 1e-10)
    # three: above noise of 4 times as fine a step, and next to it
    three <- dpts:::pair_power(pair, 3)
    at <- c(0, 0.7, 1.6, 2.5) * epsilon
    own <- vapply(at, dpts:::pair_delta, 0, pair = three)
    fine <- geometric_delta(epsilon, 4 * (length(pair$loss) - 1), 3, at)
    expect_true(all(own >= fine - 1e-9 & own <= fine * 1.01 + 1e-6))
  }
  # Randomised bits are their own pair, and Laplace noise is below what any pure epsilon may lose.
  bits <- privacy_group(policy_local(policy_imed(), 1), 20, apart = TRUE)
  any <- privacy_group(privacy_pure(1), 20, apart = TRUE)
  expect_equal(curve_at(bits, 1e-6, "pld"), curve_at(any, 1e-6, "pld"))
  laplace <- curve_at(privacy_group(policy_dp_imed(1), 20, apart = TRUE), 1e-6, "pld")
  expect_lt(laplace, 0.99 * curve_at(any, 1e-6, "pld"))
  # four releases of 1/2-GDP are 1-GDP, also beside another guarantee
  four <- privacy_group(policy_gaussian_imed(0.5, correlation = 0), 4, apart = TRUE)
  beside <- function(x) suppressWarnings(privacy_compose(x, policy_dp_imed(0.3)))
  expect_equal(curve_at(four, 1e-6, "gdp"), gdp_epsilon(1, 1e-6), tolerance = 1e-9)
  expect_equal(curve_at(beside(four), 1e-6, "pld"), curve_at(beside(privacy_gdp(1)), 1e-6, "pld"), tolerance = 1e-9)
  # about like sqrt(m)
  expect_lt(curve_at(privacy_group(policy_dp_imed(0.01), 1e4, apart = TRUE), 1e-6, "pld"), 6)
})

test_that("the pair of a pure policy's noise is that of its releases", {
  # privacy_group() takes each policy of pure DP that releases each reward once for one with Laplace noise.
  seen <- 0
  for (case in session_policies()) {
    policy <- withr::with_seed(1, case$make())
    if (promises_nothing(policy$guarantee) || !is_true_of(policy, "each_once") || correlation_of(policy) > 0) next
    own <- guarantee_of_release(policy, "x")
    if (own$kind != "laplace") next
    session <- live_session(policy, 3, 1000, NULL)
    expect_true(all(session_arms(session)$report$kind == 1))
    expect_equal(session_arms(session)$report$scale[1], 1 / own$epsilon, tolerance = 1e-6)
    seen <- seen + 1
  }
  expect_gt(seen, 8)
})

test_that("what cannot be kept apart says why", {
  refused <- function(x, why) expect_error(privacy_group(x, 3, apart = TRUE), why, class = "dpts_error_apart")
  refused(policy_ts_gaussian(), "depends on all rewards of an arm")
  refused(policy_ts_gaussian()$guarantee, "depends on all rewards of an arm")
  refused(policy_gaussian_imed(1), "correlated")
  refused(policy_linucb(mu = 1), "contexts")
  refused(policy_dp_ucb_int(0.1), "grows with the horizon")
  refused(policy_mt_ucb(1), "one noisy sum")
  refused(privacy_compose(privacy_gdp(1), policy_ts_gaussian()), "depends on all rewards")
  refused(privacy_compose(policy_ts_gaussian(), privacy_gdp(1)), "depends on all rewards")
  expect_error(privacy_group(privacy_gdp(1), 3, apart = 1), "`apart`", class = "dpts_error_input")
  expect_s3_class(privacy_group(policy_gaussian_imed(1, correlation = 0), 3, apart = TRUE), "dpts_guarantee")
})

test_that("the statement says it of all outcomes of a person", {
  said <- privacy_statement(privacy_group(policy_randomised(mu = 0.1), 210, apart = TRUE))
  expect_match(said[["Who is protected"]], "All outcomes of a person")
  expect_match(said[["What is assumed"]], "At most 210 outcomes of a person are used, and no two")
  # Phi(1.4491 / 2) = 0.7656
  expect_match(said[["What is guaranteed"]], "1.45-GDP.* at most 77 times in 100")
  # and what it is for one of them: Phi(0.1 / 2) = 0.5199
  expect_match(said[["What is guaranteed"]], "Of one outcome alone the guarantee is 0.1-GDP, and a guess is correct at most 52 times in 100.",
               fixed = TRUE)
  expect_no_match(privacy_statement(policy_randomised(mu = 0.1))[["What is guaranteed"]], "alone")
  skip_if_not_installed("RSQLite")
  day <- dpts_agent(policy_randomised(mu = 0.1), 2, use = "arrival", max_per_person = 42, window = as.difftime(1, units = "days"))
  expect_match(privacy_statement(day)[["What is guaranteed"]], "one outcome alone \\(all of 1 day\\) the guarantee is 0.1-GDP")
})

test_that("without a limit on visits the statement and the service say what those who come often get", {
  said <- privacy_statement(policy_randomised(mu = 0.1))[["Who comes often"]]
  # Phi(0.1 / 2) = 0.5199, Phi(1 / 2) = 0.6915, Phi(10 / 2)
  expect_match(said, "at most 52 times in 100 if there is one, at most 70 times in 100 if there are 10, and possibly every time if there are 100")
  # Randomised bits are a release each: k of them compose.
  local <- guess_often(policy_local(policy_imed(), 0.1)$guarantee, conditions(Inf), function(delta) 0.1 + 0 * delta)
  pure <- guess_chance(privacy_curve(privacy_group(privacy_pure(0.1), 100, apart = TRUE), conditions(Inf)))
  expect_equal(local[3], pure)
  expect_lt(pure, 0.75)
  skip_if_not_installed("RSQLite")
  agent <- dpts_agent(policy_randomised(mu = 0.1), 2, use = "arrival")
  status <- api_status(agent)
  expect_identical(status$often$rewards, c(1, 10, 100))
  expect_equal(status$often$guess, pnorm(c(0.1, 1, 10) / 2), tolerance = 1e-3)
  expect_identical(status$guess, status$often$guess[1])
  expect_match(privacy_statement(agent)[["Who comes often"]], "if there are 100")
  agent <- dpts_agent(policy_randomised(mu = 0.1), 2, use = "arrival", max_per_person = 1)
  expect_false("Who comes often" %in% names(privacy_statement(agent)))
  expect_identical(nrow(api_status(agent)$often), 1L)
})
