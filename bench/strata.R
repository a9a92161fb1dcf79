# People until a verdict with strata and without, where strata differ in how well people do.
# `Rscript bench/strata.R > bench/strata.md`; a smaller number of runs as its argument.

library(dpts)
runs <- as.integer(c(commandArgs(TRUE), 4000)[1])
strata <- function(n) {
  low <- if (n == 2) c(0.1, 0.6) else seq(0.1, 0.6, length.out = n)
  do.call(arms_strata, stats::setNames(lapply(low, function(p) arms_bernoulli(c(control = p, new = p + 0.1))),
                                       paste0("s", seq_len(n))))
}
# Whoever does not know the strata sees coins of the mean rates.
pooled <- arms_bernoulli(c(control = 0.35, new = 0.45))
people <- function(arms, policy, error) {
  found <- suppressWarnings(dpts_identify(arms, policy, error, limit = 40000, runs = runs, seed = 1))
  n <- ifelse(is.na(found$people), 40000, found$people)
  list(mean = mean(n), se = sd(n) / sqrt(runs), wrong = sum(!found$correct, na.rm = TRUE))
}
design <- function(mu, block) policy_randomised(mu = if (mu < Inf) mu, block = block)
words <- function(block) if (is.null(block)) "default" else paste(block, collapse = ", ")
row <- function(n, mu, own, other, error = 0.05) {
  a <- people(strata(n), design(mu, own), error)
  b <- people(pooled, design(mu, other), error)
  ratio <- a$mean / b$mean
  cat(sprintf("| %d | %s | %s | %s | %s | %.0f (%.0f) | %.0f (%.0f) | %.3f (%.3f) | %d |\n", n, mu,
              words(own), words(other),
              error, a$mean, a$se, b$mean, b$se, ratio, ratio * sqrt((a$se / a$mean)^2 + (b$se / b$mean)^2),
                a$wrong))
}
head <- paste0("| strata | mu | block | without | error | people | without | ratio | wrong |\n",
               "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
cat("# Strata\n\n`Rscript bench/strata.R`: ", runs, " runs.\n", sep = "")
cat(
  "People in the mean until a verdict by tosses (`dpts_identify()`, `policy_randomised()`), with",
  "standard errors: in strata of equal size, and without strata, where everybody is a coin of the mean",
  "rates, .35 and .45. `block` is the size in each stratum; two numbers are the first block and all",
  "others. 'wrong' counts wrong verdicts in strata.",
  "\n## Two strata, of rates .1 and .2, and .6 and .7\n",
  sep = "\n"
)
cat(head)
row(2, Inf, 10, 10)
row(2, Inf, 20, 20, 0.01)
row(2, Inf, 50, 50)
row(2, Inf, 25, 50)
row(2, Inf, c(10, 25), 50)
row(2, 1, 50, 50)
row(2, 1, 50, 50, 0.01)
row(2, 1, c(40, 60), 50)
row(2, 1, c(40, 60), 100)
row(2, 1, c(40, 60), 200)
row(2, 1, 200, 200)
cat("\n## Default blocks\n\n")
cat(head)
for (n in c(2, 5, 20)) for (mu in c(Inf, 1, 0.5, 0.2)) row(n, mu, NULL, NULL)
cat("\n## What is reached, and what is not\n\n", paste(sep = "\n",
  "The variance within the two strata is .74 of that over all. With default blocks two strata need at most",
  "80% of the people without noise and with that of mu = 1. Against the best block without strata, 80% is not",
  "reached at mu = 1: a block of b people adds 8/b to the variance of a person (.7 within strata, .95 over",
  "all), and at a verdict the other strata have half a block each of people of whom nothing is released yet.",
  "So b is best near 100 sd/sqrt(strata), the noise per person grows as the root of the number of strata,",
  "and so does the number of people who wait. If the centre of each stratum were known from the beginning",
  "and not learned from its first block, two strata would save another 6%. With few people in each of many",
  "strata, or with a small mu, strata cost more people than they save."),
  "\n\n", paste(sep = "\n",
  "Blocks of strata are therefore smaller by default, and grow more slowly: with those of before, 100 people",
  "at first and then 0.3 times the people of the stratum, two strata took 893 people at mu = 1 and 812",
  "without noise. Each stratum's centre is drawn to 1/2 by 2.4 people",
  "(and the noise) in place of 10, and there are 9 bets in place of 5, as the best one depends on the",
  "variance within strata. Together these two save 2 to 4% of people here. To bet in each stratum by",
  "itself and to multiply these mixtures would cost a mixture in each; to average them would lose the",
  "evidence of all strata but the best."),
  "\n", sep = "")
