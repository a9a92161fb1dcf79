# Speed of the private policies: rounds a second, one thread, five arms, T = 1e5, and with
# 10,000 arms; and whether each is played by its best engine. Rscript bench/policies.R > bench/policies.md
# Seconds are of processor time, so that a busy machine does not slow them much.

library(dpts)

arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
policies <- list(
  "MT-UCB" = policy_mt_ucb(1), "MT-UCB, tuned" = policy_mt_ucb(1, tuned = TRUE),
  "MT-TS" = policy_mt_ts(1), "MT-TS, tuned" = policy_mt_ts(1, tuned = TRUE),
  "MT-TS, tuned, no warm-up" = policy_mt_ts(1, tuned = TRUE, warmup = 0),
  "DP-TS" = policy_dp_ts(1),
  "Lazy-DP-TS" = policy_lazy_dp_ts(1), "Lazy-DP-TS, epsilon = 0.1" = policy_lazy_dp_ts(0.1),
  "DP-SE" = policy_dp_se(1), "Anytime-Lazy-UCB" = policy_lazy_ucb(1)
)

seconds <- function(arms, policy, horizon, runs) {
  time <- system.time(dpts_simulate(arms, policy, horizon, runs = runs, record = I(horizon),
                                    seed = 1, threads = 1, progress = FALSE))
  time[["user.self"]] + time[["sys.self"]]
}

# Best of three, with enough runs to fill about half a second
speed <- function(arms, policy, horizon) {
  play <- function(runs) seconds(arms, policy, horizon, runs)
  runs <- 4
  while (play(runs) < 0.25 && runs < 1e5) runs <- 4 * runs
  runs * horizon / min(vapply(1:3, function(i) play(runs), 0))
}

row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")

cat("# Speed of the private policies\n\nWritten by `Rscript bench/policies.R`; processor time,",
    "one thread.\n\n## Five Bernoulli arms (0.75 to 0.25), epsilon = 1, T = 1e5\n\n")
row("policy", "rounds a second")
row("---", "---")
for (name in names(policies)) {
  row(name, sprintf("%.2g", speed(arms, policies[[name]], 1e5)))
}

# The newest. Those that commit to batches are held to 5e7 rounds a second.
newest <- list(
  "AdaP-UCB" = policy_adap_ucb(1), "AdaP-KLUCB" = policy_adap_klucb(1),
  "DP-KLUCB" = policy_dp_klucb(1), "DP-IMED" = policy_dp_imed(1),
  "AdaC-UCB" = policy_adac_ucb(1), "Gaussian IMED" = policy_gaussian_imed(1),
  "Gaussian IMED, not correlated" = policy_gaussian_imed(1, correlation = 0),
  "DP-IMED, maximum likelihood" = policy_dp_imed(1, index = "likelihood"),
  "DP-TS-UCB" = policy_dp_ts_ucb(1),
  "lazy Gaussian TS" = policy_lazy_gaussian_ts(1),
  "DP-UCB-Int, epsilon = 0.1" = policy_dp_ucb_int(0.1),
  "DP-UCB-Int, epsilon = 0.01" = policy_dp_ucb_int(0.01),
  "DP-UCB-Bound (a round at a time)" = policy_dp_ucb_bound(1),
  "IMED" = policy_imed(), "KL-UCB" = policy_klucb()
)
for (name in names(newest)) {
  row(name, sprintf("%.2g", speed(arms, newest[[name]], 1e5)))
}

cat("\n## Longer horizons, milliseconds a run (mean of 10)\n\n")
horizons <- c(1e7, 1e9, 1e12)
row("policy", paste("T =", format(horizons, trim = TRUE)))
row("---", "---", "---", "---")
every <- c(policies, newest)
for (name in c("Lazy-DP-TS", "DP-SE", "Anytime-Lazy-UCB", "lazy Gaussian TS", "Gaussian IMED",
               "DP-IMED", "IMED", "KL-UCB")) {
  row(name, vapply(horizons, function(horizon) {
    sprintf("%.2g", 100 * seconds(arms, every[[name]], horizon, 10))
  }, ""))
}

cat("\n## 10,000 arms (0.1 to 0.9), T = 20,000\n\nMT-TS and DP-SE pull arms in turn up to this",
    "horizon and do not choose yet.\n\n")
row("policy", "microseconds a round")
row("---", "---")
many <- arms_bernoulli(seq(0.1, 0.9, length.out = 1e4))
for (name in names(policies)) {
  row(name, sprintf("%.2g", seconds(many, policies[[name]], 2e4, 1) / 2e4 * 1e6))
}

# The engine is chosen by the problem alone (src/play_simulate.c): is the choice a good one? Engines take turns,
# the least time of each counts, and what R collects for others is collected before.
cat("\n## The chosen engine against the best\n\nProcessor time with engine \"auto\" over the least with",
    "\"plain\", \"skip\" and \"lanes\"; five arms.\nHorizon, and whether every round is kept:\n\n")
settings <- expand.grid(history = c(FALSE, TRUE), horizon = c(500, 20000))
row("policy", paste0(settings$horizon, ifelse(settings$history, ", history", "")))
row("---", rep("---", nrow(settings)))
every <- c(every, list(
  "Gaussian TS" = policy_ts_gaussian(), "Gaussian TS, 500 pre-pulls" = policy_ts_gaussian(500, 20),
  "Beta TS" = policy_ts_beta(), "UCB1" = policy_ucb1()
))
against_best <- function(policy, horizon, history) {
  time <- function(engine, runs) {
    options(dpts.engine = engine)
    gc()
    time <- system.time(dpts_simulate(arms, policy, horizon, runs = runs, record = I(horizon), seed = 1,
                                      threads = 1, progress = FALSE, history = history), gcFirst = FALSE)
    time[["user.self"]] + time[["sys.self"]]
  }
  runs <- 32
  while (time("auto", runs) < 0.05 && runs * horizon < (if (history) 4e5 else 2e6)) runs <- 2 * runs
  least <- c(auto = Inf, plain = Inf, skip = Inf, lanes = Inf)
  for (turn in 1:25) { # more turns where the choice looks bad, for all engines alike
    least <- pmin(least, vapply(names(least), time, 0, runs = runs))
    ratio <- least[["auto"]] / min(least[-1])
    if (turn >= 4 && ratio < 1.1) break
  }
  sprintf("%.2f", ratio)
}
for (name in names(every)) {
  row(name, mapply(settings$horizon, settings$history, FUN = function(horizon, history) {
    tryCatch(against_best(every[[name]], horizon, history), dpts_error_input = function(e) "too short")
  }))
}

cat("\n## What evidence costs: ten runs of 2,000 rounds, milliseconds\n\n`dpts_simulate(history = TRUE)`, and `evidence()`",
    "of its result by means.\n\n")
row("policy", "arms", "simulation", "evidence", "ratio")
row("---", "---", "---", "---", "---")
for (name in c("Gaussian IMED", "Gaussian IMED, not correlated", "DP-IMED", "top two")) {
  policy <- if (name == "top two") policy_top_two(mu = 1) else every[[name]]
  for (k in c(2, 5)) {
    play <- function() dpts_simulate(arms[1:k], policy, 2000, runs = 10, seed = 1, history = TRUE)
    played <- play()
    took <- vapply(list(play, function() suppressMessages(evidence(played, "means"))), function(f) {
      min(replicate(7, system.time(for (i in 1:10) f())[["user.self"]])) / 10 * 1000
    }, 0)
    row(name, k, sprintf("%.1f", took[1]), sprintf("%.1f", took[2]), sprintf("%.2f", took[2] / took[1]))
  }
}
