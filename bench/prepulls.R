# How many pre-pulls should dpts_recommend() give to Gaussian Thompson sampling? Mean regret over
# its panel, with the variance scale calibrated, for b a multiple of sqrt(T ln(T)) / mu.
# Rscript bench/prepulls.R > bench/prepulls.md   (two minutes)

library(dpts)

multiples <- c(0.2, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4)
k <- 5
panel <- dpts:::standard_panel(k)
cases <- list(gdp = list(privacy_gdp(0.25), privacy_gdp(1), privacy_gdp(5)),
              sequence = list(privacy_approx(0.5, 1e-6), privacy_approx(1, 1e-6),
                              privacy_approx(4.38, 1e-5)),
              direct = list(privacy_gdp(0.25, 1e-7), privacy_gdp(1, 1e-7)))

regret <- function(budget, accountant, horizon, prepulls) {
  policy <- suppressMessages(dpts_calibrate(budget, horizon, prepulls, accountant, arms = k))
  mean(vapply(panel, function(arms) {
    mean(dpts_simulate(arms, policy, horizon, runs = 6, seed = 1, record = I(horizon),
                       progress = FALSE)$regret)
  }, 0))
}

row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
cat("# Pre-pulls of Gaussian Thompson sampling\n\nWritten by `Rscript bench/prepulls.R`: mean regret",
    "over the panel of `dpts_recommend()`, five arms, by the multiple of sqrt(T ln(T)) / mu. The least",
    "of each row is bold; no entry: more pre-pulls than half of the horizon.\n\n")
row("accountant", "budget", "horizon", multiples)
row(rep("---", 3 + length(multiples)))
for (accountant in names(cases)) for (budget in cases[[accountant]]) for (horizon in c(2e4, if (accountant != "direct") 1e5)) {
  mu <- if (budget$kind == "gdp") budget$mu else gdp_mu(budget$epsilon, budget$delta)
  b <- floor(multiples * sqrt(horizon * log(horizon)) / mu)
  means <- vapply(b, function(b) {
    if (2 * b * k > horizon) NA else regret(budget, accountant, horizon, b)
  }, 0)
  shown <- ifelse(is.na(means), "", format(round(means), big.mark = ",", trim = TRUE))
  best <- which.min(means)
  shown[best] <- paste0("**", shown[best], "**")
  row(accountant, format(budget), format(horizon, big.mark = ",", scientific = FALSE), shown)
}
