# How long the accountants take. Rscript bench/accountants.R, on an installed package.
library(dpts)

per_value <- function(expr, n) {
  expr <- substitute(expr)
  time <- min(replicate(3, system.time(eval(expr, parent.frame()))[["user.self"]]))
  1e6 * time / n
}

set.seed(1)
n <- 1e5
mu <- 10^runif(n, -6, 4)
delta <- c(10^runif(n / 2, -300, -0.31), 10^runif(n / 2, -12, -0.31))
epsilon <- gdp_epsilon(mu, delta)
cat("microseconds a value\n")
cat(sprintf("  gdp_delta    %.2f\n", per_value(gdp_delta(mu, epsilon), n)))
cat(sprintf("  gdp_epsilon  %.2f\n", per_value(gdp_epsilon(mu, delta), n)))
cat(sprintf("  gdp_mu       %.2f\n", per_value(gdp_mu(epsilon, delta), n)))

cat("seconds, 20 orders from 1.018 to 21\n")
alpha <- 1 + exp(seq(-4, 3, length.out = 20))
for (set in list(c(1e5, 0, 1), c(1e5, 500, 14), c(1e9, 0, 1), c(1e9, 500, 14))) {
  time <- system.time(sequence_rdp(alpha, set[1], set[2], set[3], "grid"))[["user.self"]]
  cat(sprintf("  rounds %g, prepulls %g, variance scale %g: %.2f\n", set[1], set[2], set[3], time))
}

cat("seconds, calibration at a horizon of 1e5\n")
budget <- privacy_approx(4.377, 1e-5)
for (b in c(0, 500)) {
  time <- system.time(dpts_calibrate(budget, 1e5, b, "sequence", arms = 5))[["user.self"]]
  cat(sprintf("  prepulls %g: %.2f\n", b, time))
}
