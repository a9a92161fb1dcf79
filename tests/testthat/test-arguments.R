# Each optional argument of an exported function changes what the function gives: none is lost on its way. What an
# argument means is held by the tests of its topic.

skip_on_cran() # takes seconds

# What is known of a value: its numbers and texts, without labels, calls and classes
bare <- function(x) {
  if (is.function(x) || is.environment(x)) return(NULL)
  if (is.factor(x)) return(as.character(x))
  if (is.list(x)) return(lapply(unclass(as.list(x)), bare))
  as.vector(x)
}

# The arms that a policy pulls
plays <- function(policy, n = 300, arms = arms_bernoulli(c(0.7, 0.2, 0.5))) {
  sim <- dpts_simulate(arms, policy, n, runs = 2, seed = 3, history = TRUE)
  dpts_history(sim)$arm
}

# Evaluate `base` in `env` with each of `change` in turn: names of those that changed nothing
idle <- function(base, change, env, look = identity) {
  value <- function(call) bare(look(suppressMessages(suppressWarnings(eval(call, env)))))
  plain <- value(base)
  names(change)[vapply(names(change), function(name) {
    call <- base
    call[name] <- list(change[[name]])
    identical(value(call), plain)
  }, NA)]
}

# One expectation of all cases, since each takes as long as a small simulation
expect_none_idle <- function(cases, ...) {
  found <- lapply(cases, function(x) {
    names <- idle(x$base, x$change, ...)
    if (length(names)) paste(deparse1(x$base), "with", names)
  })
  expect_identical(unlist(found), NULL)
}

# A call, and other values of its arguments
case <- function(base, ...) list(base = substitute(base), change = as.list(substitute(list(...)))[-1])

test_that("each optional argument of a policy changes what it does", {
  contextual <- arms_linear(matrix(c(0.7, 0.1, 0.3, 0.1, 0.6, 0.3), 3))
  cases <- list(
    case(policy_adac_ucb(1), beta = 0.5, correlation = 0.5), case(policy_adap_klucb(1), alpha = 0.3),
    case(policy_adap_ucb(1), alpha = 0.3), case(policy_dp_imed(1), ratio = 3, first = 9, index = "likelihood"),
    case(policy_dp_imed(0.3, index = "likelihood"), schedule = "geometric", safety = 1),
    case(policy_dp_klucb(1), ratio = 3, first = 5), case(policy_dp_ts(1), log_base = 9),
    case(policy_lazy_dp_ts(1), log_base = 9), case(policy_dp_ts_ucb(0.9), c0 = 90), case(policy_dp_ucb_int(1), v = 1.4),
    case(policy_exp3(), rule = "tsallis", rate = 0.4), case(policy_fixed(), arm = 2),
    case(policy_forget(window = 50), window = 90, mu = 1, epsilon = 1, width = 0.05), case(policy_forget(discount = 0.9), discount = 0.99),
    case(policy_forget(window = 90, mu = 1), batch = 40),
    case(policy_gaussian_imed(0.3), ratio = 3, first = 9, correlation = 0, safety = 1, outcome = "continuous"),
    case(policy_lazy_ucb(1), log_base = 9), case(policy_lazy_gaussian_ts(1), correlation = 0.9),
    case(policy_mt_ts(1), tuned = TRUE), case(policy_mt_ts(1, tuned = TRUE), warmup = 40, split_budget = FALSE),
    case(policy_mt_ucb(1), gamma = 0.9, tuned = TRUE, split_budget = FALSE),
    case(policy_private(policy_ucb1(), epsilon = 1), batch = 40), case(policy_detect(policy_dp_imed(5)), explore = 0.3),
    case(policy_randomised(mu = 1, block = 40), permuted = TRUE),
    case(policy_randomised(mu = 1, block = 40, rule = "thompson"), rule = "neyman", floor = 0.3, block = 41, control = 2, burn_in = 4),
    case(policy_randomised(mu = 1, block = 40, rule = "neyman"), outcome = "continuous"),
    case(policy_top_two(mu = 1), outcome = "continuous"), case(policy_ts_beta(), prior = c(1, 5)),
    case(policy_ts_gaussian(), prepulls = 4, variance_scale = 4, filter = privacy_gdp(0.3))
  )
  linear <- list(
    case(policy_linucb(), epsilon = 1, mu = 1, alpha = 3, ridge = 4, intercept = TRUE),
    case(policy_linucb(mu = 3), contexts = "public", mechanism = "tree", batch = 5, norm = 0.4, ridge = 2, margin = 0, centre = 0.2,
         intercept = TRUE),
    case(policy_lin_ts(), epsilon = 1, mu = 1, v = 3, ridge = 4, intercept = TRUE),
    case(policy_lin_ts(mu = 3), contexts = "public", mechanism = "tree", batch = 5, norm = 0.4, ridge = 2, margin = 0, centre = 0.2,
         intercept = TRUE),
    case(policy_logistic_ucb(), mu = 1, alpha = 3, ridge = 4),
    case(policy_logistic_ucb(mu = 3), contexts = "public", batch = 5, norm = 0.4, margin = 0)
  )
  expect_none_idle(cases, globalenv(), plays)
  # a norm of .4 is shorter than the contexts, which the policies say
  expect_none_idle(linear, globalenv(), function(p) suppressWarnings(plays(p, 150, contextual)))
})

test_that("each optional argument of what computes from arms, logs and results changes the result", {
  env <- new.env(parent = globalenv())
  local({
    arms <- arms_bernoulli(c(b = 0.7, c = 0.2, a = 0.5))
    sim <- dpts_simulate(arms, list(x = policy_randomised(mu = 2, block = 50), y = policy_ucb1()), 600, runs = 4, seed = 1,
                         history = TRUE)
    one <- dpts_simulate(arms, policy_randomised(mu = 2, block = 50), 600, runs = 1, seed = 1, history = TRUE)
    near <- dpts_simulate(arms_bernoulli(c(b = 0.5, c = 0.2, a = 0.55)), policy_randomised(mu = 2, block = 50), 600, runs = 1, seed = 1,
                          history = TRUE)
    set.seed(4)
    log <- data.frame(arm = sample(c("b", "c", "a"), 300, TRUE, c(0.5, 0.3, 0.2)), x = stats::runif(300), z = stats::runif(300))
    log$propensity <- c(b = 0.5, c = 0.3, a = 0.2)[log$arm]
    log$reward <- 0 + (stats::runif(300) < 0.3 + 0.4 * log$x)
    log$value <- 1 - log$reward
    log$other <- c("c", "a", "b")[match(log$arm, c("b", "c", "a"))]
    log$odds <- 1.1 * log$propensity
  }, env)
  imed <- quote(policy_dp_imed(2))
  cases <- list(
    case(dpts_ope(log, matrix(c(0.6, 0.3, 0.1), 300, 3, TRUE, list(NULL, c("b", "c", "a")))), estimator = "dr", clip = 0.9, level = 0.5, arm = "other", reward = "value", propensity = "odds"),
    case(dpts_ope(log, "uniform", estimator = "dr", context = "x"), context = "z", ridge = 50),
    case(dpts_replay(log, policy_ts_beta(), runs = 3, seed = 1), runs = 4, seed = 2, delay = 30, method = "rejection",
         horizon = 99, arm = "other", reward = "value", propensity = "odds"),
    case(dpts_simulate(arms, policy_dp_imed(1), 300, runs = 3, seed = 1), runs = 4, seed = 2, record = 5, delay = 60, batch = 40),
    case(dpts_identify(arms, policy_top_two(mu = 2), runs = 4, seed = 1), limit = 300, runs = 5, seed = 2,
         delay = 60, batch = 50),
    case(dpts_recommend(privacy_pure(2), arms, 300, runs = 4, seed = 1, candidates = c("dp_imed", "dp_klucb", "dp_se")),
         candidates = c("dp_imed", "dp_klucb"), level = 0.5, runs = 5, seed = 2, delay = 60, batch = 50),
    case(dpts_compare(sim), reference = "y", level = 0.5),
    case(dpts_tune(privacy_approx(4, 1e-3), arms, 20, runs = 3, seed = 1, accountant = "gdp", prepulls = c(0, 2)), prepulls = c(1, 3), accountant = "rdp",
         runs = 4, seed = 2, delay = 20, batch = 10),
    case(dpts_calibrate(privacy_approx(4, 1e-3), 9, 3), accountant = "gdp"),
    case(dpts_calibrate(privacy_gdp(1), 9, 3, "rdp"), delta = 1e-4),
    case(dpts_plan(policy_randomised(mu = 1, block = 50, rule = "thompson"), arms, 300, runs = 20, seed = 1), control = 2, error = 0.3, margin = 0.2,
         runs = 21, seed = 2, delay = 99, batch = 40, visits = 2, dropout = 0.4),
    case(dpts_privacy(policy_ts_gaussian(), 5, delta = 1e-2), delta = 1e-3, accountant = "gdp", lower = TRUE),
    case(dpts_identify(arms, policy_randomised(mu = 2, block = 100), runs = 4, seed = 1), error = 0.3, margin = 0.2),
    case(evidence(one), kind = "tosses", against = 0.4, error = 0.2), case(verdict(one), error = 0.3, margin = 0.3),
    case(estimates(one), level = 0.5), case(estimates(sim), level = 0.5), case(summary(sim), level = 0.5, quantiles = 0.3),
    case(tidy(sim), conf.level = 0.5),
    case(effects(one), control = "c", level = 0.5, at = "end", margin = 0.2), case(effects(one, margin = 0.2), level = 0.6),
    case(forecast(near, 1200, runs = 10, seed = 1), error = 0.4, margin = 0.3, block = 300, runs = 11, seed = 2),
    case(rdp_epsilon(c(2, 8), c(0.1, 0.4), 1e-5), conversion = "mironov"),
    case(noisy_max_privacy(c(5, 5), 1, 1e-4), noise = "gaussian", changed = "all"), case(noisy_max_privacy(5, 1, 1e-4, "gaussian", "all"), k = 4),
    case(laplace_accuracy(500, epsilon = 1, beta = 0.05), k = 3, epsilon = 2, beta = 0.2),
    case(laplace_accuracy(500, scale = 1, alpha = 0.05), scale = 2, alpha = 0.2),
    case(mechanism_gamma(c(1, 2), 1, seed = 1), sensitivity = 3, seed = 2),
    case(mechanism_gaussian(c(1, 2), 1, seed = 1), sensitivity = 3, seed = 2),
    case(mechanism_laplace(c(1, 2), 1, seed = 1), sensitivity = 3, seed = 2),
    case(privacy_compose(policy_ts_gaussian(), policy_ts_gaussian(), horizon = 9), horizon = 8, arms = 4),
    case(privacy_group(privacy_gdp(1), 3), apart = TRUE), case(privacy_gdp(1), nu = 0.1),
    case(sequence_account(3, 9), prepulls = 2, variance_scale = 3), case(sequence_delta(1, 9), prepulls = 2, variance_scale = 3),
    case(sequence_epsilon(1e-3, 9), prepulls = 2, variance_scale = 3), case(sequence_rdp(3, 9), prepulls = 2, variance_scale = 3),
    case(sequence_gdp(9), prepulls = 2, variance_scale = 3, nu = 0.01),
    case(sequence_lower_bound(0.01, 100, runs = 500), prepulls = 2, variance_scale = 3, bounded = TRUE, runs = 600, level = 0.9),
    case(gdp_delta(1, 2), log = TRUE)
  )
  expect_none_idle(cases, env)
})

test_that("three arms in another order, which is not its own inverse, give the same results by name", {
  near <- dpts_simulate(arms_bernoulli(c(b = 0.75, c = 0.2, a = 0.5)), policy_randomised(mu = 1, block = 60, rule = "neyman"), 480, runs = 1,
                        seed = 1, history = TRUE)
  rows <- as.data.frame(dpts_releases(near))
  rows <- rows[!names(rows) %in% c("problem", "policy", "run")]
  look <- function(levels) {
    rows$arm <- factor(as.character(rows$arm), levels)
    table <- as_releases(rows[order(rows$block, rows$arm), ])
    sorted <- function(x, ...) {
      x <- as.data.frame(x)
      key <- x[intersect(c("arm", "rival", "side"), names(x))]
      x[] <- lapply(x, function(column) if (is.factor(column)) as.character(column) else as.vector(column))
      x <- x[do.call(order, c(list(x$t %||% x$arm), lapply(key, as.character))), ]
      rownames(x) <- NULL
      x
    }
    quiet <- suppressMessages
    list(sorted(estimates(table)), sorted(quiet(evidence(table, "means"))), sorted(quiet(evidence(table, "tosses"))),
         sorted(quiet(evidence(table, "means", against = 0.4))), sorted(quiet(effects(table, control = "c"))),
         sorted(quiet(effects(table, control = "a", at = "end"))), sorted(quiet(verdict(table, error = 0.2))))
  }
  expect_equal(look(c("c", "a", "b")), look(c("b", "c", "a")), tolerance = 1e-6)

  withr::local_seed(5)
  log <- data.frame(arm = sample(c("b", "c", "a"), 600, TRUE, c(0.5, 0.3, 0.2)))
  log$propensity <- c(b = 0.5, c = 0.3, a = 0.2)[log$arm]
  log$reward <- 0 + (stats::runif(600) < c(b = 0.2, c = 0.9, a = 0.5)[log$arm])
  target <- matrix(c(0.1, 0.7, 0.2), 600, 3, byrow = TRUE, dimnames = list(NULL, c("b", "c", "a")))
  of <- function(target) as.data.frame(dpts_ope(log, target))$estimate
  expect_equal(of(target[, c(2, 3, 1)]), of(target))
  expect_equal(of(target)[1], mean(log$reward * c(b = 0.1, c = 0.7, a = 0.2)[log$arm] / log$propensity))
})
