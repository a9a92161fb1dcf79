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
lines <- c(
  "# Means that change", "",
  sprintf("Made by `Rscript bench/drift.R`: regret after %s rounds over that of DP-IMED, which never forgets; %d runs, epsilon = 1. The defaults were chosen on worlds like the first four, with other seeds; the last one had no part in it.",
          format(horizon, big.mark = ","), runs), "",
  paste("| policy |", paste(colnames(mean), collapse = " | "), "|"), paste("| --- |", strrep(" ---: |", ncol(mean))),
  sprintf("| %s | %s |", names(policies), apply(formatC(mean / rep(mean[1, ], each = nrow(mean)), 2, format = "f"), 1, paste,
                                                collapse = " | ")), "",
  sprintf("DP-IMED itself: %s.", paste(sprintf("%.0f (%s)", mean[1, ], colnames(mean)), collapse = ", "))
)
writeLines(lines, "bench/drift.md")
cat(lines, sep = "\n")
