# Regret of Tsallis-INF made private by batches: Rscript bench/adversary.R
# On the problems that are hardest for the rate: k Bernoulli arms, one better than the others by sqrt(k / (T epsilon)).
# If the regret grows as sqrt(k T / epsilon), the last column is about the same in all rows.
library(dpts)
k <- 5
runs <- 40
rows <- do.call(rbind, lapply(c(1e4, 1e5), function(horizon) {
  do.call(rbind, lapply(c(1, 0.3, 0.1, 0.03), function(epsilon) {
    gap <- min(0.5, sqrt(k / (horizon * epsilon)))
    arms <- arms_bernoulli(c(0.5 + gap / 2, rep(0.5 - gap / 2, k - 1)))
    sim <- dpts_simulate(arms, list(
      tsallis = policy_private(policy_exp3("tsallis"), epsilon), exp3 = policy_private(policy_exp3(), epsilon)
    ), horizon, runs = runs, seed = 1, record = I(horizon), threads = 1)
    s <- summary(sim)
    data.frame(horizon, epsilon, policy = s$policy, regret = s$mean, se = s$se, rate = sqrt(k * horizon / epsilon))
  }))
}))
lines <- c(
  "# Private policies against an adversary", "",
  sprintf("Made by `Rscript bench/adversary.R`: %d Bernoulli arms with the gap sqrt(k / (T epsilon)), %d runs, batches of 1 / epsilon.",
          k, runs), "",
  "| T | epsilon | policy | regret | s.e. | regret / sqrt(k T / epsilon) |", "| ---: | ---: | --- | ---: | ---: | ---: |",
  sprintf("| %s | %s | %s | %.0f | %.0f | %.2f |", format(rows$horizon, big.mark = ",", scientific = FALSE), rows$epsilon,
          rows$policy, rows$regret, rows$se, rows$regret / rows$rate)
)
writeLines(lines, "bench/adversary.md")
cat(lines, sep = "\n")
