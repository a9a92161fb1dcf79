# The least budget: where double precision still holds noise and rewards side by side.

skip_on_cran() # takes seconds

makers <- list(
  policy_adap_ucb, policy_adap_klucb, policy_dp_klucb, policy_dp_imed, policy_dp_ucb_bound,
  policy_dp_ts, policy_lazy_dp_ts, policy_lazy_ucb, policy_dp_se, policy_mt_ucb, policy_mt_ts,
  policy_adac_ucb, policy_lazy_gaussian_ts, policy_gaussian_imed
)

test_that("budgets below the least are refused by name, everywhere", {
  for (make in c(makers, privacy_pure, privacy_gdp, function(x) privacy_approx(x, 0.1),
                 function(x) policy_linucb(epsilon = x), function(x) policy_lin_ts(epsilon = x),
                 function(x) mechanism_laplace(1, x), function(x) mechanism_gaussian(1, x),
                 function(x) counter_logarithmic(x))) {
    for (bad in c(9.9e-7, 1.1e12, NaN)) {
      expect_error(make(bad), "from 1e-06 to 1e\\+12", class = "dpts_error_input")
    }
  }
  for (bad in c(1e-310, 1e-160, -1, 1e308, NA)) {
    expect_error(policy_dp_imed(bad), "from 1e-06 to 1e\\+12", class = "dpts_error_input")
  }
  expect_error(policy_dp_imed(0), "`epsilon`", class = "dpts_error_input")
  expect_identical(privacy_pure(0)$epsilon, 0) # nothing may leak
  for (bad in c(1e-7, 1e13, 1e308)) {
    expect_error(policy_ts_gaussian(0, bad), "`variance_scale`", class = "dpts_error_input")
  }
  expect_error(policy_dp_ucb_int(1e-13), "`epsilon`", class = "dpts_error_input")
})

test_that("every policy plays every round at the least and the most budget", {
  arms <- arms_bernoulli(c(0.7, 0.3, 0.3))
  independent <- function(x) policy_gaussian_imed(x, correlation = 0)
  likelihood <- function(x) policy_dp_imed(x, index = "likelihood")
  policies <- unlist(lapply(c(makers, independent, likelihood), function(make) {
    lapply(c(1e-6, 1e3, 1e12, Inf), make)
  }), recursive = FALSE)
  policies <- c(policies, lapply(c(1e-6, 1e12), function(c) policy_ts_gaussian(3, c)))
  names(policies) <- paste0("p", seq_along(policies))
  sim <- dpts_simulate(arms, policies, 2000, runs = 2, seed = 1, record = I(2000))
  expect_true(all(is.finite(sim$regret)))
  total <- tapply(pulls(sim)$pulls, pulls(sim)[c("policy", "run")], sum)
  expect_true(all(total == 2000))
})

test_that("at the least budget a noisy sum is off by less than 1e-8 of a reward", {
  # Laplace noise from 53-bit uniforms: at most 53 ln(2) / epsilon
  largest <- 53 * log(2) / 1e-6
  expect_lt(largest * 2^-53, 1e-8)
  expect_lt(abs((1e12 + largest + 1) - (1e12 + largest) - 1), 1e-3) # and after 1e12 rewards
})
