# The first search for better policies at a given budget: paired comparisons on the panel of
# dpts_recommend(), T = 1e5. Independent releases and geometric batches, which later ceased to be
# the defaults of policy_gaussian_imed(); bench/frontier.R goes on from here. bench/SEARCH.md says
# what the tables mean.
# Rscript bench/search.R [runs] > bench/SEARCH-TABLES.md
library(dpts)
runs <- as.numeric(c(commandArgs(TRUE), 300)[1])
cat("# Tables of the search for less regret\n\nWritten by `Rscript bench/search.R ", runs,
    "`; SEARCH.md says what they mean.\n", sep = "")
horizon <- 1e5
panel <- dpts:::standard_panel(5)

# policy_gaussian_imed() with the defaults of then
plain_gaussian_imed <- function(mu, ratio = 1.5, first = 16, weights = "size", index = "rate",
                                leader = NULL) {
  policy_gaussian_imed(mu, ratio, first, weights, index, leader, schedule = "geometric",
                       correlation = 0)
}

play <- function(policy, seed = 7, times = 1) {
  vapply(panel, function(arms) {
    dpts_simulate(arms, policy, horizon, runs = times * runs, seed = seed, record = I(horizon),
                  progress = FALSE)$regret
  }, numeric(times * runs))
}
# Geometric mean over the panel of the ratio of mean regrets, and its standard error by the
# paired runs (delta method on each instance's log ratio)
against <- function(new, old) {
  log_ratio <- log(colMeans(new) / colMeans(old))
  influence <- sweep(new, 2, colMeans(new), "/") - sweep(old, 2, colMeans(old), "/")
  se <- sd(rowMeans(influence)) / sqrt(nrow(new))
  c(ratio = exp(mean(log_ratio)), se = exp(mean(log_ratio)) * se)
}
row <- function(label, new, old) {
  a <- against(new, old)
  cat(sprintf("| %s | %.3f (%.3f) | %s | %s | %s |\n", label, a[1], a[2],
              paste(round(colMeans(new)), collapse = " "),
              paste(round(apply(new, 2, quantile, 0.95)), collapse = " "),
              paste(round(apply(new, 2, max)), collapse = " ")))
}
header <- function(title) {
  cat("\n###", title, "\n\n| policy | regret / default's (se) | mean |",
      "95th percentile | worst run |\n| --- | --- | --- | --- | --- |\n")
}

for (mu in c(0.1, 0.25, 0.5, 1, 5)) {
  header(sprintf("mu = %g", mu))
  old <- play(plain_gaussian_imed(mu))
  row("default: ratio 1.5, first 16", old, old)
  row("ratio 1.15", play(plain_gaussian_imed(mu, 1.15)), old)
  row("ratio 2", play(plain_gaussian_imed(mu, 2)), old)
  row("weights by variance", play(plain_gaussian_imed(mu, weights = "variance")), old)
  row("tail index", play(plain_gaussian_imed(mu, index = "tail")), old)
  first <- max(4, ceiling(16 / mu))
  row(sprintf("first %g", first), play(plain_gaussian_imed(mu, first = first)), old)
  row(sprintf("first %g, variance", first),
      play(plain_gaussian_imed(mu, first = first, weights = "variance")), old)
  for (ratio in c(1.15, 1.3, 1.5)) {
    row(sprintf("first %g, ratio %g, variance, tail", first, ratio),
        play(plain_gaussian_imed(mu, ratio, first, "variance", "tail")), old)
  }
}

for (epsilon in c(0.1, 0.25, 0.5, 1)) {
  header(sprintf("epsilon = %g", epsilon))
  old <- play(policy_dp_imed(epsilon))
  row("default: ratio 2, first 1", old, old)
  first <- ceiling(16 / epsilon)
  row("DP-KLUCB", play(policy_dp_klucb(epsilon)), old)
  for (index in c("divergence", "rate", "tail")) {
    for (ratio in c(1.5, 2)) {
      row(sprintf("first %g, ratio %g, variance, %s", first, ratio, index),
          play(policy_dp_imed(epsilon, ratio, first, "variance", index)), old)
    }
  }
  row(sprintf("first %g, ratio 1.5, size, tail", first),
      play(policy_dp_imed(epsilon, 1.5, first, "size", "tail")), old)
  for (f in ceiling(c(24, 32) / epsilon)) {
    row(sprintf("first %g, ratio 1.5, variance, tail", f),
        play(policy_dp_imed(epsilon, 1.5, f, "variance", "tail")), old)
  }
}

# Longer batches for the leader, on top of the advised settings. The option was chosen on other
# seeds; four times the runs, as the differences are small.
cat("\n### leader, against the advised settings\n\n")
cat("| budget | policy | regret / advised (se) | mean | 95th percentile | worst run |\n",
    "| --- | --- | --- | --- | --- | --- |\n", sep = "")
leaders <- function(budget, policy) {
  advised <- play(policy(), 29, 4)
  row(paste(budget, "| advised"), advised, advised)
  for (leader in 2:3) {
    row(sprintf("%s | leader = %g", budget, leader), play(policy(leader = leader), 29, 4),
        advised)
  }
}
for (mu in c(0.1, 0.25, 0.5, 1, 5)) {
  ratio <- if (mu < 0.5) 1.5 else if (mu < 1) 1.3 else 1.15
  leaders(sprintf("mu = %g", mu), function(leader = ratio) {
    plain_gaussian_imed(mu, ratio, max(4, ceiling(16 / mu)), "variance", "tail", leader)
  })
}
for (epsilon in c(0.1, 0.25, 0.5, 1)) {
  leaders(sprintf("epsilon = %g", epsilon), function(leader = 1.5) {
    policy_dp_imed(epsilon, 1.5, ceiling(24 / epsilon), "variance", "tail", leader)
  })
}

# Correlated noise over batches: sd of the best unbiased mean after j batches (ratio 1.5) at
# mu = 0.1, rewards and noise together; independent noise against the square-root
# factorisation of the prefix sums, scaled to the same mu over 20 batches.
mu <- 0.1
coefficient <- cumprod(c(1, (2 * seq_len(19) - 1) / (2 * seq_len(19)))) # of (1 - x)^(-1/2)
inverse <- cumprod(c(1, (2 * seq_len(19) - 3) / (2 * seq_len(19))))     # of (1 - x)^(1/2)
toeplitz_lower <- function(v) {
  m <- matrix(0, length(v), length(v))
  for (i in seq_along(v)) m[i, seq_len(i)] <- rev(v[seq_len(i)])
  m
}
# Noise on prefix sums is (1 - x)^(-1/2) z; on batch sums its differences, (1 - x)^(1/2) z.
root <- toeplitz_lower(inverse)
correlated <- root %*% t(root) * sum(coefficient^2) / mu^2
sd_of_mean <- function(noise, sizes) {
  # Generalised least squares for the common mean; a reward has variance 1/4
  total <- noise / outer(sizes, sizes) + diag(1 / (4 * sizes), length(sizes))
  sqrt(1 / sum(solve(total)))
}
cat("\n### Correlated noise, mu = 0.1\n\n")
cat("| first | batches | n | sd of the mean, independent | square-root factorisation |\n")
cat("| --- | --- | --- | --- | --- |\n")
for (first in c(16, 160)) {
  sizes <- first
  while (length(sizes) < 20) sizes <- c(sizes, ceiling(0.5 * sum(sizes)))
  for (j in c(1, 2, 3, 4, 6, 8, 12)) {
    i <- seq_len(j)
    cat(sprintf("| %d | %d | %d | %.4f | %.4f |\n", first, j, sum(sizes[i]),
                sd_of_mean(diag(1 / mu^2, j), sizes[i]),
                sd_of_mean(correlated[i, i, drop = FALSE], sizes[i])))
  }
}
