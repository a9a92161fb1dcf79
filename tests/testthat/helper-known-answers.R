# What every policy does for fixed seeds, engine by engine: pulls of each arm and the reward in
# all. fixtures/known-answers.csv holds what the engine did before its contract was redrawn
# (choose, commit, update); with immediate feedback nothing may have changed, to the bit.

known_policies <- function() {
  list(
    uniform = policy_uniform(), ucb1 = policy_ucb1(),
    ts_beta = policy_ts_beta(), ts_beta_wide = policy_ts_beta(c(3, 0.5)),
    ts_gaussian = policy_ts_gaussian(), ts_gaussian_private = policy_ts_gaussian(20, 4),
    mt_ucb = policy_mt_ucb(1), mt_ucb_tuned = policy_mt_ucb(1, tuned = TRUE),
    mt_ts = policy_mt_ts(1000), mt_ts_tuned = policy_mt_ts(1, tuned = TRUE, warmup = 20),
    mt_ts_whole = policy_mt_ts(50, tuned = TRUE, warmup = 0, split_budget = FALSE),
    dp_ts = policy_dp_ts(1), lazy_dp_ts = policy_lazy_dp_ts(1),
    lazy_dp_ts_e = policy_lazy_dp_ts(0.1, log_base = exp(1)),
    dp_se = policy_dp_se(20), lazy_ucb = policy_lazy_ucb(1),
    adap_ucb = policy_adap_ucb(1), adap_klucb = policy_adap_klucb(1),
    adac_ucb = policy_adac_ucb(1), dp_klucb = policy_dp_klucb(1),
    dp_klucb_slow = policy_dp_klucb(1, ratio = 1.3, first = 5),
    dp_imed = policy_dp_imed(1),
    dp_ucb_bound = policy_dp_ucb_bound(1), dp_ucb_int = policy_dp_ucb_int(0.2),
    lazy_gaussian_ts = policy_lazy_gaussian_ts(1, correlation = 0), dp_ts_ucb = policy_dp_ts_ucb(0.5),
    imed = policy_imed(), klucb = policy_klucb(), fixed = policy_fixed(2)
  )
}

known_worlds <- function() {
  list(bernoulli = arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25)),
       beta = arms_beta(c(2, 1, 3), c(1, 1, 5)))
}

# One row for each world, policy, engine and run
known_simulations <- function() {
  rows <- list()
  for (world in names(known_worlds())) for (engine in c("plain", "auto")) {
    withr::local_options(dpts.engine = engine)
    sim <- dpts_simulate(known_worlds()[[world]], known_policies(), 3000, runs = 3, seed = 42,
                         record = 1, progress = FALSE)
    n <- pulls(sim)
    key <- paste(n$policy, n$run)
    count <- tapply(n$pulls, factor(key, unique(key)), paste, collapse = " ")
    rows <- c(rows, list(data.frame(
      world = world, engine = engine, policy = as.character(sim$policy), run = sim$run,
      pulls = as.vector(count[paste(sim$policy, sim$run)]),
      reward = sprintf("%.17g", sim$reward)
    )))
  }
  do.call(rbind, rows)
}

# Replays of one log without delay, plain and with pools
known_replays <- function() {
  log <- withr::with_seed(3, simulated_log(6000, c(0.5, 0.3, 0.6)))
  pooled <- log
  pooled$pool <- lapply(log$arm, function(a) sort(c(a, a %% 3L + 1L)))
  pooled$propensity <- 0.5
  policies <- Filter(function(p) p$name != "fixed", known_policies())
  # Meant to differ with pools: Modified TS plays the arms that wait in turn, and DP-TS-UCB
  # draws although some arms are not on offer.
  narrow <- Filter(function(p) !p$name %in% c("mt_ts", "dp_ts_ucb"), policies)
  rows <- lapply(list(list(log, policies), list(pooled, narrow)), function(job) {
    replay <- dpts_replay(job[[1]], job[[2]], runs = 2, seed = 7, progress = FALSE, horizon = 6000)
    data.frame(policy = as.character(replay$policy), run = replay$run, events = replay$events,
               reward = replay$reward)
  })
  do.call(rbind, rows)
}

# Contextual policies that solve no eigenvalue problem: LAPACK's last bits differ between machines.
known_contextual <- function() {
  theta <- rbind(c(0.2, 0.7, 0.1), c(0.2, 0.1, 0.7), c(0.3, 0.3, 0.3))
  plain <- list(linucb = policy_linucb(), lin_ts = policy_lin_ts(v = 0.5), logistic = policy_logistic_ucb(),
                linucb_rewards = policy_linucb(epsilon = 5, contexts = "public", mechanism = "tree"),
                logistic_bits = policy_local(policy_logistic_ucb(), 2))
  shared <- list(linucb = policy_linucb(model = "shared"), lin_ts = policy_lin_ts(v = 0.5, model = "shared"),
                 logistic = policy_logistic_ucb(model = "shared"))
  jobs <- list(linear = list(arms_linear(theta, "simplex"), plain),
               logit = list(arms_linear(8 * theta - 3, "uniform", 0.5, link = "logit"), plain),
               own = list(arms_linear(c(3, -2), "uniform", arms = 3, link = "logit"), shared))
  rows <- lapply(names(jobs), function(world) {
    sim <- dpts_simulate(jobs[[world]][[1]], jobs[[world]][[2]], 2000, runs = 2, seed = 42, record = 1,
                         delay = c(0, 0, 9), progress = FALSE)
    n <- pulls(sim)
    key <- paste(n$policy, n$run)
    count <- tapply(n$pulls, factor(key, unique(key)), paste, collapse = " ")
    data.frame(world = world, policy = as.character(sim$policy), run = as.character(sim$run),
               pulls = as.vector(count[paste(sim$policy, sim$run)]), reward = sprintf("%.17g", sim$reward))
  })
  do.call(rbind, rows)
}
