# Means that change: policies that forget, that start anew at fixed times, and that start anew when they see a change:
# Rscript bench/drift.R
# Regret over that of the private policy that never forgets, all at epsilon = 1. The defaults of policy_forget() were chosen on
# worlds like the first four, with other seeds; the last one had no part in it.
library(dpts)
horizon <- 2e4
runs <- 40
inner <- policy_dp_imed(1, ratio = 1.1)
policies <- list(
  "DP-IMED" = inner,
  "window of 2,000" = policy_forget(window = 2000, epsilon = 1),
  "discount of 0.999" = policy_forget(discount = 0.999, epsilon = 1),
  "anew every 3,000" = policy_restart(inner, 3000),
  "anew on evidence" = policy_detect(inner)
)
world <- function(means) lapply(means, arms_bernoulli)
worlds <- list(
  "nothing changes" = arms_bernoulli(c(0.7, 0.5, 0.3)),
  "switch" = arms_switch(world(list(c(0.8, 0.5, 0.2), c(0.3, 0.5, 0.7), c(0.4, 0.8, 0.5))), at = c(5000, 12000)),
  "drift" = arms_drift(c(0.8, 0.5, 0.2), c(0.2, 0.5, 0.8), "sine", period = 1e4),
  "walk" = arms_walk(c(0.5, 0.5, 0.5), 0.005),
  "five arms, switch" = arms_switch(world(list(c(0.6, 0.5, 0.4, 0.3, 0.2), c(0.2, 0.3, 0.4, 0.5, 0.6), c(0.3, 0.3, 0.7, 0.3, 0.3))),
                                    at = c(8000, 14000))
)
mean <- vapply(worlds, function(arms) {
  summary(dpts_simulate(arms, policies, horizon, runs = runs, seed = 2026, record = I(horizon), threads = 1))$mean
}, numeric(length(policies)))
# The default of `batch` in policy_forget(): c / mu rounds, other seeds
sizes <- c(2, 4, 7, 10, 14, 20)
sweep <- vapply(sizes, function(c) {
  forgetting <- list()
  for (mu in c(1, 0.3)) {
    forgetting[[paste("window, mu", mu)]] <- policy_forget(window = 2000, mu = mu, batch = ceiling(c / mu))
    forgetting[[paste("discount, mu", mu)]] <- policy_forget(discount = 0.999, mu = mu, batch = ceiling(c / mu))
  }
  rowMeans(log(vapply(worlds[-4], function(arms) {
    summary(dpts_simulate(arms, forgetting, horizon, runs = 20, seed = 99, record = I(horizon), threads = 1))$mean
  }, numeric(4))))
}, numeric(4))
sweep <- exp(sweep - apply(sweep, 1, min))
lines <- c(
  "# Means that change", "",
  sprintf("Made by `Rscript bench/drift.R`: regret after %s rounds over that of DP-IMED, which never forgets; %d runs, epsilon = 1. The defaults were chosen on worlds like the first four, with other seeds; the last one had no part in it.",
          format(horizon, big.mark = ","), runs), "",
  paste("| policy |", paste(colnames(mean), collapse = " | "), "|"), paste("| --- |", strrep(" ---: |", ncol(mean))),
  sprintf("| %s | %s |", names(policies), apply(formatC(mean / rep(mean[1, ], each = nrow(mean)), 2, format = "f"), 1, paste,
                                                collapse = " | ")), "",
  sprintf("DP-IMED itself: %s.", paste(sprintf("%.0f (%s)", mean[1, ], colnames(mean)), collapse = ", ")), "",
  "`policy_forget()` with batches of c / mu rounds: geometric mean of the regret over the worlds without the walk, over that of the best c; 20 runs. The default is c = 10.", "",
  paste("| policy |", paste("c =", sizes, collapse = " | "), "|"), paste("| --- |", strrep(" ---: |", length(sizes))),
  sprintf("| %s | %s |", c("window, mu = 1", "discount, mu = 1", "window, mu = 0.3", "discount, mu = 0.3"),
          apply(formatC(sweep, 2, format = "f"), 1, paste, collapse = " | "))
)
writeLines(lines, "bench/drift.md")
cat(lines, sep = "\n")
