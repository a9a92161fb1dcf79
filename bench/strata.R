# People until a verdict with strata and without, where strata differ in how well people do.
# `Rscript bench/strata.R > bench/strata.md`; a smaller number of runs as its argument.

library(dpts)
runs <- as.integer(c(commandArgs(TRUE), 1000)[1])
strata <- arms_strata(low = arms_bernoulli(c(control = 0.1, new = 0.2)),
                      high = arms_bernoulli(c(control = 0.6, new = 0.7)))
# Whoever does not know the strata sees coins of the mean rates.
pooled <- arms_bernoulli(c(control = 0.35, new = 0.45))
cat("# Strata\n\n`Rscript bench/strata.R`:", runs, "runs. Two strata of half the people each, of rates .1 and .2, and .6 and .7, by",
    "`policy_randomised()`: people in the mean until a verdict by tosses (standard errors), with strata and without. The variance",
    "within strata is .74 of that over all; each stratum learns its own centre and fills its own blocks, so large blocks save nothing.\n\n")
cat("| mu | block | error | strata | pooled | ratio | wrong |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
cases <- data.frame(mu = c(Inf, Inf, Inf, 1, 1, 1), block = c(10, 20, 50, 50, 50, 200), error = c(0.05, 0.01, 0.05, 0.05, 0.01, 0.05))
for (i in seq_len(nrow(cases))) {
  case <- cases[i, ]
  policy <- policy_randomised(mu = if (case$mu < Inf) case$mu, block = case$block)
  found <- lapply(list(strata, pooled), function(arms) {
    verdict(dpts_simulate(arms, policy, 6000, runs = runs, seed = 1, history = TRUE), error = case$error)
  })
  people <- vapply(found, function(v) mean(v$t), 0)
  se <- vapply(found, function(v) sd(v$t) / sqrt(runs), 0)
  wrong <- sum(vapply(found, function(v) sum(v$arm %in% "control"), 0))
  cat(sprintf("| %s | %d | %s | %.0f (%.0f) | %.0f (%.0f) | %.2f | %d |\n", case$mu, case$block, case$error, people[1], se[1], people[2],
              se[2], people[1] / people[2], wrong))
}
