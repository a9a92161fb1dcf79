# Which of the papers' orderings hold? Prints the tables of bench/orderings.md.
# Rscript bench/orderings.R [runs]
#
# Hu and Hegde (2022), section 4: five Bernoulli arms, means 0.75 to 0.25, T = 1e5. Their
# text says that log has base 2; Anytime-Lazy-UCB's own paper has no base. Both are tried.
# Ou et al. (2024), Appendix D: the same arms and horizon; pure epsilon equal to the epsilon
# of 1-, 5- and 10-GDP at delta = 1e-5 (our reading: the paper's delta is not legible), and
# equal in the sense of GDP: epsilon = log(Phi(mu / 2) / Phi(-mu / 2)).

library(dpts)

runs <- as.integer(c(commandArgs(TRUE), 400)[1])
few <- max(20, runs / 10) # for the policies that play every round
horizon <- 1e5
arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))

final <- function(policies, runs) {
  sim <- dpts_simulate(arms, policies, horizon, runs = runs, record = I(horizon), seed = 1,
                       progress = FALSE)
  split(sim$regret, sim$policy)
}
show <- function(x) sprintf("%.0f (%.1f)", mean(x), stats::sd(x) / sqrt(length(x)))

cat("Regret at T, mean (standard error)\n\n")
cat("| epsilon | DP-TS, 2 | DP-TS, e | Lazy-DP-TS, 2 | Lazy-DP-TS, e | DP-SE |",
    "Lazy-UCB, 2 | Lazy-UCB, e |\n")
cat("|---|---|---|---|---|---|---|---|\n")
for (epsilon in c(500, 1, 0.5, 0.25, 0.1)) {
  every <- final(list(dp_2 = policy_dp_ts(epsilon), dp_e = policy_dp_ts(epsilon, exp(1))), few)
  skip <- final(list(
    lazy_2 = policy_lazy_dp_ts(epsilon), lazy_e = policy_lazy_dp_ts(epsilon, exp(1)),
    se = policy_dp_se(epsilon), ucb_2 = policy_lazy_ucb(epsilon, 2),
    ucb_e = policy_lazy_ucb(epsilon)
  ), runs)
  cat("|", epsilon, "|", paste(vapply(c(every, skip), show, ""), collapse = " | "), "|\n")
}

cat("\nModified Thompson sampling (best of a grid) and the pure policies\n\n")
prepulls <- c(0, 9, 49, 99, 199, 499, 999, 1999, 3999)
cat("| mu | epsilon | matched by | Modified TS (b) | DP-SE | Lazy-UCB, 2 | Lazy-UCB, e |",
    "Lazy-DP-TS, 2 | Lazy-DP-TS, e |\n|---|---|---|---|---|---|---|---|---|\n")
for (mu in c(1, 5, 10)) {
  scale <- horizon / (mu^2 * (prepulls + 1))
  grid <- Map(policy_ts_gaussian, prepulls[scale >= 1], scale[scale >= 1])
  names(grid) <- prepulls[scale >= 1]
  best <- final(grid, 20)
  b <- names(which.min(vapply(best, mean, 0)))
  again <- dpts_simulate(arms, grid[[b]], horizon, runs = 101:140, record = I(horizon), seed = 1,
                         progress = FALSE)$regret # fresh runs, not those that chose b
  delta <- function(e) {
    stats::pnorm(-e / mu + mu / 2) - exp(e + stats::pnorm(-e / mu - mu / 2, log.p = TRUE))
  }
  converted <- stats::uniroot(function(e) delta(e) - 1e-5, c(0, 200), tol = 1e-10)$root
  matched <- stats::pnorm(mu / 2, log.p = TRUE) - stats::pnorm(-mu / 2, log.p = TRUE)
  for (how in c("(epsilon, 1e-5)", "GDP")) {
    epsilon <- if (how == "GDP") matched else converted
    pure <- final(list(se = policy_dp_se(epsilon), ucb_2 = policy_lazy_ucb(epsilon, 2),
                       ucb_e = policy_lazy_ucb(epsilon), lazy_2 = policy_lazy_dp_ts(epsilon),
                       lazy_e = policy_lazy_dp_ts(epsilon, exp(1))), runs)
    cat("|", mu, "|", sprintf("%.3f", epsilon), "|", how, "|",
        sprintf("%s (%s)", show(again), b), "|",
        paste(vapply(pure, show, ""), collapse = " | "), "|\n")
  }
}
