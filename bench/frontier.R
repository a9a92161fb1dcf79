# Regret and bad runs of policy_gaussian_imed() and policy_dp_imed(), and what other settings would cost.
# Rscript bench/frontier.R [runs] > bench/FRONTIER.md. Random numbers are shared run by run.
suppressMessages(library(dpts))
runs <- as.numeric(c(commandArgs(TRUE), 2000)[1])

panel <- dpts:::standard_panel(5)
# Regret at 1e5 and at twelve horizons from 0.4 to 2.5 times that, by which the phase of the leader's last batch
# averages out: an array of runs, problems and horizons
at <- c(1e5, round(1e5 * 0.4 * 6.25^(seq(0, 1, length.out = 12))))
play <- function(policy, seed, n = runs) {
  one <- function(arms) {
    sim <- dpts_simulate(arms, policy, max(at), runs = n, seed = seed, record = I(sort(at)), progress = FALSE)
    matrix(sim$regret[order(match(sim$t, at), sim$run)], n)
  }
  aperm(simplify2array(lapply(panel, one)), c(1, 3, 2))
}
# Over the twelve horizons: geometric mean of the ratios of mean regret, and its standard error from paired runs
means <- function(x) apply(x, 2:3, mean)
ratio <- function(new, old) {
  new <- new[, , -1]
  old <- old[, , -1]
  influence <- sweep(new, 2:3, means(new), "/") - sweep(old, 2:3, means(old), "/")
  value <- exp(mean(log(means(new) / means(old))))
  sprintf("%.3f (%.3f)", value, value * sd(apply(influence, 1, mean)) / sqrt(nrow(new)))
}
# Per cent of runs above five medians of `old`
bad <- function(x, old = x) 100 * colMeans(sweep(x[, , 1], 2, 5 * apply(old[, , 1], 2, median), ">"))
line <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
numbers <- function(x, digits = 0) paste(formatC(x, format = "f", digits = digits), collapse = " ")

gaussian <- function(mu, ...) policy_gaussian_imed(mu, ...)
pure <- function(epsilon, ...) policy_dp_imed(epsilon, index = "likelihood", ...)
safe <- function(now, x) now(x, safety = dpts:::safer(now(x))) # of dpts_recommend(prefer = "safe")
mus <- c(0.1, 0.25, 0.5, 1, 5)
epsilons <- c(0.1, 0.25, 0.5, 1)

cat("# Regret inside a budget\n\nWritten by `Rscript bench/frontier.R ", runs, "`: horizon 1e5, the panel of ",
    "`dpts_recommend()` with five arms,\nin the order ", paste(names(panel), collapse = ", "),
    ". *Bad runs* lose more than five medians of their policy. *Safe* is\n`dpts_recommend(prefer = \"safe\")`, ",
    "*published* `policy_dp_imed(epsilon)`. No setting was chosen on the seeds of these tables.\n\n", sep = "")
line("policy", "mean", "95th percentile", "bad runs, per cent", "worst run")
line(rep("---", 5))
row <- function(name, policy) {
  x <- play(policy, 2651)
  end <- x[, , 1]
  line(name, numbers(colMeans(end)), numbers(apply(end, 2, quantile, 0.95)), numbers(bad(x), 2),
       numbers(apply(end, 2, max)))
}
for (mu in mus) {
  row(sprintf("Gaussian IMED, mu = %g", mu), gaussian(mu))
  row(sprintf("... safe, mu = %g", mu), safe(gaussian, mu))
}
for (epsilon in epsilons) {
  row(sprintf("DP-IMED, likelihood, epsilon = %g", epsilon), pure(epsilon))
  row(sprintf("... safe, epsilon = %g", epsilon), safe(pure, epsilon))
  row(sprintf("... published, epsilon = %g", epsilon), policy_dp_imed(epsilon))
}

# Each row changes one thing.
tried <- function(title, name, budgets, now, variants) {
  cat("\n## ", title, "\n\nRegret over the default's, geometric mean of the panel and of twelve horizons from 4e4 to ",
      "2.5e5 (se); then the\nlargest share of runs above five of the default's medians, in per cent.\n\n", sep = "")
  line("setting", sprintf("%s = %g", name, budgets))
  line(rep("---", length(budgets) + 1))
  base <- lapply(budgets, function(x) play(now(x), 2652, runs / 4))
  for (one in names(variants)) {
    line(one, vapply(seq_along(budgets), function(i) {
      x <- play(variants[[one]](budgets[i]), 2652, runs / 4)
      sprintf("%s, %.1f", ratio(x, base[[i]]), max(bad(x, base[[i]])))
    }, ""))
  }
}
setting <- function(now, ...) function(budget) now(budget, ...)
tried("Settings of Gaussian IMED", "mu", mus, gaussian, list(
  "correlation 0" = setting(gaussian, correlation = 0), "correlation 0.5" = setting(gaussian, correlation = 0.5),
  "correlation 0.8" = setting(gaussian, correlation = 0.8), "safety 0" = setting(gaussian, safety = 0),
  "safety 0.6" = setting(gaussian, safety = 0.6), "ratio 1.4" = setting(gaussian, ratio = 1.4),
  "ratio 2.4" = setting(gaussian, ratio = 2.4),
  "first 16 / mu" = function(mu) gaussian(mu, first = max(4, ceiling(16 / mu)))
))
tried("Settings of DP-IMED with the likelihood", "epsilon", epsilons, pure, list(
  "safety 0" = setting(pure, safety = 0), "safety 0.6" = setting(pure, safety = 0.6),
  "ratio 1.7" = setting(pure, ratio = 1.7), "ratio 3.2" = setting(pure, ratio = 3.2),
  "geometric batches, ratio 1.4" = setting(pure, schedule = "geometric"),
  "first 16 / epsilon" = function(epsilon) pure(epsilon, first = ceiling(16 / epsilon)),
  "first 28 / epsilon" = function(epsilon) pure(epsilon, first = ceiling(28 / epsilon))
))
