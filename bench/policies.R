# Speed of the private policies: rounds a second, one thread, five arms, T = 1e5, and with
# 10,000 arms. Rscript bench/policies.R

library(dpts)

arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
policies <- list(
  "MT-UCB" = policy_mt_ucb(1), "MT-UCB, tuned" = policy_mt_ucb(1, tuned = TRUE),
  "MT-TS" = policy_mt_ts(1), "MT-TS, tuned" = policy_mt_ts(1, tuned = TRUE),
  "DP-TS" = policy_dp_ts(1),
  "Lazy-DP-TS" = policy_lazy_dp_ts(1), "Lazy-DP-TS, epsilon = 0.1" = policy_lazy_dp_ts(0.1),
  "DP-SE" = policy_dp_se(1), "Anytime-Lazy-UCB" = policy_lazy_ucb(1)
)

# Best of three, with enough runs to fill about half a second
speed <- function(arms, policy, horizon) {
  play <- function(runs) {
    system.time(dpts_simulate(arms, policy, horizon, runs = runs, record = I(horizon),
                              seed = 1, threads = 1, progress = FALSE))[["elapsed"]]
  }
  runs <- 4
  while (play(runs) < 0.25 && runs < 1e5) runs <- 4 * runs
  runs * horizon / min(vapply(1:3, function(i) play(runs), 0))
}

for (name in names(policies)) {
  cat(sprintf("%-26s %8.3g rounds/s at K = 5, T = 1e5\n", name,
              speed(arms, policies[[name]], 1e5)))
}

# The newest. Those that commit to batches are held to 5e7 rounds a second.
newest <- list(
  "AdaP-UCB" = policy_adap_ucb(1), "AdaP-KLUCB" = policy_adap_klucb(1),
  "DP-KLUCB" = policy_dp_klucb(1), "DP-IMED" = policy_dp_imed(1),
  "AdaC-UCB" = policy_adac_ucb(1), "Gaussian IMED" = policy_gaussian_imed(1),
  "Gaussian IMED, advised" = policy_gaussian_imed(1, 1.15, 16, "variance", "tail"),
  "lazy Gaussian TS" = policy_lazy_gaussian_ts(1), "DP-TS-UCB" = policy_dp_ts_ucb(1),
  "DP-UCB-Int" = policy_dp_ucb_int(0.1), "DP-UCB-Bound" = policy_dp_ucb_bound(1),
  "IMED" = policy_imed(), "KL-UCB" = policy_klucb()
)
for (name in names(newest)) {
  cat(sprintf("%-26s %8.3g rounds/s at K = 5, T = 1e5\n", name,
              speed(arms, newest[[name]], 1e5)))
}

cat("\nLonger horizons, one run\n")
for (horizon in c(1e7, 1e9, 1e12)) {
  for (name in c("Lazy-DP-TS", "DP-SE", "Anytime-Lazy-UCB")) {
    seconds <- system.time(dpts_simulate(arms, policies[[name]], horizon, runs = 10, seed = 1,
                                         progress = FALSE))[["elapsed"]] / 10
    cat(sprintf("%-26s T = %g: %.4f s\n", name, horizon, seconds))
  }
}

cat("\n10,000 arms, T = 20,000\n")
many <- arms_bernoulli(seq(0.1, 0.9, length.out = 1e4))
for (name in names(policies)) {
  seconds <- system.time(dpts_simulate(many, policies[[name]], 2e4, runs = 1, seed = 1,
                                       progress = FALSE))[["elapsed"]]
  cat(sprintf("%-26s %8.1f microseconds a round\n", name, seconds / 2e4 * 1e6))
}
