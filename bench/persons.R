# What it costs to protect a person with k rewards: the rewards in k different releases (mu sqrt(k)), against a group
# that may be in one (mu k), at the same guarantee of a person. `Rscript bench/persons.R > bench/persons.md`; a smaller
# number of runs as its argument.

library(dpts)
runs <- as.integer(c(commandArgs(TRUE), 100)[1])
arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
two <- arms_bernoulli(c(control = 0.3, new = 0.4))
horizon <- 1e5
limit <- 1e6
cells <- function(mu) {
  sim <- dpts_simulate(arms, policy_gaussian_imed(mu, correlation = 0), horizon, runs = runs, record = I(horizon), seed = 1)
  found <- summary(dpts_identify(two, policy_randomised(mu = mu), limit = limit, runs = runs, seed = 1))
  visits <- sprintf("%s%s (%s)", if (found$undecided > 0) "over " else "", format(round(found$mean), big.mark = ","), format(round(found$se), big.mark = ","))
  c(sprintf("%.0f (%.0f)", mean(sim$regret), sd(sim$regret) / sqrt(runs)), visits)
}
cat("# People with several rewards\n\n`Rscript bench/persons.R`:", runs, "runs (standard errors). A person with k rewards, of which each is released with",
    "noise for mu if no release holds two of them (\"apart\"). The same guarantee for the person by groups needs noise for mu / sqrt(k). Regret:",
    "`policy_gaussian_imed(correlation = 0)`, five arms from .75 to .25,", format(horizon, big.mark = ",", scientific = FALSE), "visits. Verdict: `policy_randomised()`, .3 against",
    ".4, visits in the mean until a proof at 5%; \"over\": runs without one count with the limit of", format(limit, big.mark = ",", scientific = FALSE),
    "visits. All visits count here. With `max_per_person` those into the open block do not, so apart takes more visits than these where blocks are not",
    "much smaller than the number of people.\n\n")
cat("| k | mu of a reward | mu of the person | regret, apart | regret, group | verdict, apart | verdict, group |\n|", rep(" ---: |", 7), "\n", sep = "")
for (mu in c(0.1, 0.5)) {
  apart <- cells(mu)
  for (k in c(5, 42, 210)) {
    group <- cells(mu / sqrt(k))
    cat(sprintf("| %d | %s | %.2f | %s | %s | %s | %s |\n", k, mu, mu * sqrt(k), apart[1], group[1], apart[2], group[2]))
  }
}
