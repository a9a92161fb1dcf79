# The main job: five arms, four policies, a hundred thousand rounds. Writes
# demo/regret.csv (every run) and demo/regret.png (means with 95% bands).

library(dpts)

dir.create("demo", showWarnings = FALSE)
took <- system.time(sim <- dpts_simulate(
  arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25)),
  list(
    "Gaussian TS" = policy_ts_gaussian(),
    "Modified TS, b = 500, c = 14" = policy_ts_gaussian(prepulls = 500, variance_scale = 14),
    "Beta TS" = policy_ts_beta(),
    UCB1 = policy_ucb1()
  ),
  horizon = 1e5, runs = 20, seed = 1
))
print(tidy(sim))
utils::write.csv(sim, "demo/regret.csv", row.names = FALSE)
ggplot2::ggsave("demo/regret.png", autoplot(sim), width = 7, height = 4, dpi = 150)
message(sprintf("%s rounds in %.1f s. Wrote demo/regret.csv and demo/regret.png",
                format(4 * 20 * 1e5, big.mark = ","), took[["elapsed"]]))
