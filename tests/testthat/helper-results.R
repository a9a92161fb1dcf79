# A function that makes something when it is first asked for it
once <- function(make) {
  made <- NULL
  function() {
    if (is.null(made)) made <<- make()
    made
  }
}

# One small result of each class
results <- once(function() make_results())

two_arms <- function() arms_bernoulli(c(0.7, 0.5))

random_log <- function() open_bandit[open_bandit$logger == "random", ][1:2000, ]

make_results <- function() {
  sim <- dpts_simulate(two_arms(), list(a = policy_ts_gaussian(), b = policy_ucb1()), 300, runs = 6,
                       seed = 1, record = 10)
  clicks <- open_bandit[open_bandit$logger == "random", ]
  clicks <- clicks[clicks$reward == 1 | seq_along(clicks$reward) <= 400, ]
  replay <- dpts_replay(random_log(), list(a = policy_uniform(), b = policy_ts_beta()),
                        delay = c(0, 50), runs = 3, seed = 1)
  list(
    simulation = sim,
    privacy = dpts_privacy(list(a = policy_ts_gaussian(), b = policy_ts_gaussian(10, 2)),
                           c(20, 30), delta = c(1e-2, 1e-4)), # where "direct" and "sequence" take no time
    tuning = dpts_tune(privacy_approx(4, 1e-3), two_arms(), 50, prepulls = c(0, 10), runs = 4,
                       accountant = c("gdp", "sequence"), seed = 1),
    recommendation = dpts_recommend(privacy_pure(1), two_arms(), 500, runs = 6, seed = 1,
                                    candidates = c("dp_imed_tuned", "dp_imed", "dp_se")),
    replay = replay,
    ope = dpts_ope(random_log(), "uniform"),
    identification = dpts_identify(two_arms(), list(a = policy_top_two(mu = 1), b = policy_randomised(mu = 1)),
                                   runs = 6, seed = 1, limit = 3000),
    audit = dpts_audit(policy_ts_gaussian(), 4, delta = c(0.1, 0.01), method = "exact"),
    reproduction_simulation = dpts_reproduce("hh-2", horizon = 2000, runs = 3, record = 8),
    reproduction_tuning = dpts_reproduce("ou-3", horizon = 2000, mu = c(1, 10), runs = 3,
                                         prepulls = c(0, 9, 49)),
    reproduction_privacy = dpts_reproduce("ou-1", delta = 10^-(2:4)),
    reproduction_replay = dpts_reproduce("mt-2", delay = c(0, 5), log = clicks, runs = 2),
    plan = dpts_plan(list(a = policy_uniform(), b = policy_randomised(mu = 1)),
                     list(hope = two_arms(), flat = arms_bernoulli(c(0.5, 0.5))), c(100, 300), runs = 6, seed = 1)
  )
}

# Change the results of some chunks of a checkpoint, `change` a function of them and of their runs
edit_checkpoint <- function(path, change, at = seq_along(readRDS(path)$chunks)) {
  stored <- readRDS(path)
  stored$chunks[at] <- lapply(stored$chunks[at], function(chunk) {
    pack_chunk(chunk, change(unpack_chunk(chunk), chunk$run))
  })
  saveRDS(stored, path)
}

# The columns of a table as plain vectors, factors and labels as text
plain_columns <- function(x) lapply(as.list(as.data.frame(x)), function(v) if (is.factor(v)) as.character(v) else v)
