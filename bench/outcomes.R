# What the squares of real outcomes buy: people to a proof, people to the best arm, and regret, with and without
# them, beside a test without privacy at one look. `Rscript bench/outcomes.R 2000 20261126 > bench/outcomes.md`:
# the number of runs, and a seed with which nothing here was tuned.

library(dpts)
given <- as.numeric(commandArgs(TRUE))
runs <- c(given, 300)[1]
seed <- c(given[-1], 1)[1]
count <- function(x) format(round(x), big.mark = ",", trim = TRUE)
people <- function(s) sprintf("%s (%s)", count(s$mean), count(s$se))
row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
head_of <- function(...) {
  row(...)
  row("---", rep("---:", length(c(...)) - 1))
}
scores <- function(means, sd, r2 = 0) arms_predicted(means, sd, r2)
best <- c(0.55, 0.5, 0.45, 0.4, 0.35)

cat(sprintf("# Real outcomes: what the squares buy\n\n`%s`: means over %s runs (standard errors). \"Coins\" is
`outcome = \"binary\"`, which takes any reward for a coin. Scores are normal and clipped to [0, 1].\n\n",
            paste(c("Rscript bench/outcomes.R", given), collapse = " "), count(runs)))

# ---- effects ---------------------------------------------------------------------------------------
cat("## Proof of an effect: `policy_randomised()`, two arms, error 0.05\n\nOne look: people of a t-test (of ANCOVA, where the",
    "share R^2 of the variance is predicted) without privacy that looks\nonce and finds the effect with power 0.9, one-sided.",
    "Best: the best of fixed blocks of 200, 300, 500, 1,000 and 1,500\npeople. Predictions are clipped to [0.3, 0.7].\n\n")
one_look <- function(sd, effect, r2) 2 * stats::power.t.test(delta = effect, sd = sd * sqrt(1 - r2), power = 0.9, alternative = "one.sided")$n
identify <- function(arms, policies, error = 0.05) {
  summary(dpts_identify(arms, policies, error = error, runs = runs, seed = seed, limit = 3e5))
}
# The mean of the default blocks, and the least of the fixed ones
effect_of <- function(arms, ...) {
  sizes <- list(NULL, 200, 300, 500, 1000, 1500)
  policies <- lapply(sizes, function(block) policy_randomised(..., block = block))
  names(policies) <- c("default", paste("blocks of", sizes[-1]))
  s <- identify(arms, policies)
  fixed <- s[-1, ]
  sprintf("%s; %s", people(s[1, ]), people(fixed[which.min(fixed$mean), ]))
}
head_of("sd, effect, R^2", "one look", "mu", "coins", "squares: default; best", "protect = \"person\"", "protect = \"reward\"")
for (case in list(c(0.1, 0.02, 0), c(0.1, 0.02, 0.5), c(0.2, 0.04, 0), c(0.2, 0.04, 0.5), c(0.15, 0.02, 0.3))) {
  arms <- scores(0.5 + case[2] * c(-0.5, 0.5), case[1], case[3])
  for (mu in c(5, 1, 0.5)) {
    predicted <- function(protect) {
      if (case[3] > 0) effect_of(arms, mu = mu, outcome = "continuous", predicted = c(0.3, 0.7), protect = protect) else ""
    }
    row(toString(case), count(one_look(case[1], case[2], case[3])), mu, people(identify(arms, list(coins = policy_randomised(mu = mu)))),
        effect_of(arms, mu = mu, outcome = "continuous"), predicted("person"), predicted("reward"))
  }
}

# ---- best arm ----------------------------------------------------------------------------------------
budgets <- list(none = NULL, "mu 1" = 1, "mu 0.25" = 0.25)
cat("\n## The best arm: `policy_top_two()`, means", toString(best), "and error 0.01\n\n")
head_of("rewards", "budget", "coins", "squares", "wrong")
problems <- list("sd 0.05" = scores(best, 0.05), "sd 0.1" = scores(best, 0.1), "sd 0.3" = scores(best, 0.3), "0 or 1" = arms_bernoulli(best))
for (name in names(problems)) {
  for (budget in names(budgets)) {
    both <- lapply(c(binary = "binary", continuous = "continuous"), function(outcome) {
      policy_top_two(mu = budgets[[budget]], error = 0.01, outcome = outcome)
    })
    s <- identify(problems[[name]], both, 0.01)
    row(name, budget, people(s[1, ]), people(s[2, ]), paste(s$wrong, collapse = ", "))
  }
}

# ---- regret --------------------------------------------------------------------------------------------
cat("\n## Regret after 1e5 rounds: `policy_gaussian_imed()`, the same arms\n\n")
head_of("rewards", "budget", "coins", "squares")
for (name in c("sd 0.1", "sd 0.3", "0 or 1")) {
  for (budget in names(budgets)) {
    both <- lapply(c(binary = "binary", continuous = "continuous"), function(outcome) {
      policy_gaussian_imed(c(budgets[[budget]], Inf)[1], outcome = outcome)
    })
    sim <- dpts_simulate(problems[[name]], both, 1e5, runs = runs, seed = seed, record = I(1e5))
    regret <- split(sim$regret, sim$policy)
    row(name, budget, vapply(regret, function(x) sprintf("%.1f (%.1f)", mean(x), stats::sd(x) / sqrt(runs)), ""))
  }
}

# ---- coins -----------------------------------------------------------------------------------------------
cat("\n## What squares cost where rewards are 0 or 1: `policy_randomised()`, two arms, error 0.05\n\n")
head_of("rates", "mu", "coins", "squares", "ratio")
for (rates in list(c(0.5, 0.6), c(0.2, 0.3), c(0.85, 0.9), c(0.06, 0.08), c(0.02, 0.05))) {
  for (mu in c(5, 0.5)) {
    s <- identify(arms_bernoulli(rates), list(coins = policy_randomised(mu = mu), squares = policy_randomised(mu = mu, outcome = "continuous")))
    row(toString(rates), mu, people(s[1, ]), people(s[2, ]), sprintf("%.2f", s$mean[2] / s$mean[1]))
  }
}

# ---- time ------------------------------------------------------------------------------------------------
cat("\n## Time of a round, one by one, scores of sd 0.1: squares over coins, the least of five\n\n")
options(dpts.engine = "plain")
time_of <- function(policy) {
  min(replicate(5, sum(system.time(dpts_simulate(problems[["sd 0.1"]], policy, 2e5, runs = 2, seed = 1, record = I(2e5)))[1:2])))
}
head_of("policy", "ratio")
for (policy in list(policy_gaussian_imed, policy_randomised, policy_top_two)) {
  both <- list(policy(mu = 1), policy(mu = 1, outcome = "continuous"))
  row(sprintf("`%s()`", sub("^dpts_", "", class(both[[1]])[1])), sprintf("%.2f", time_of(both[[2]]) / time_of(both[[1]])))
}
