# The trial of 900 patients of vignette("adaptive-trial"), in 4,000 runs: power and failures of each design.
# `Rscript bench/trial.R > bench/trial.md`; a smaller number of runs as its argument.

library(dpts)
runs <- as.integer(c(commandArgs(TRUE), 4000)[1])
cat("# A trial of 900 patients\n\n`Rscript bench/trial.R`:", runs, "runs. Success of (control, A, B) as said, 50 patients a month, outcomes 100",
    "patients late, level .05 in all, z-test at the end where people are tossed. Asked for: a private design with power .90 or more and at",
    "most 565 failures.\n\n")
scenarios <- list(
  "hope: .30, .32, .45" = arms_bernoulli(c(control = 0.30, A = 0.32, B = 0.45)),
  "null: .30, .30, .30" = arms_bernoulli(c(control = 0.30, A = 0.30, B = 0.30)),
  "drifting null" = arms_drift(c(control = 0.15, A = 0.15, B = 0.15), c(0.65, 0.65, 0.65), "sine", period = 900)
)
tossed <- function(rule, block, floor) policy_randomised(mu = 0.5, rule = rule, block = block, control = 1, floor = floor)
designs <- list(
  "equal, no privacy" = policy_uniform(), "equal, mu .5, released at the end" = policy_randomised(mu = 0.5, block = 1e9),
  "thompson, blocks of 150, floors .05 and .25" = tossed("thompson", 150, c(0.05, 0.25)),
  "thompson, blocks of 100, floors .05 and .25" = tossed("thompson", 100, c(0.05, 0.25)),
  "top two, blocks of 150, floors .05 and .25" = tossed("top_two", 150, c(0.05, 0.25)),
  "`policy_top_two()`" = policy_top_two(mu = 0.5), "`policy_gaussian_imed()`" = policy_gaussian_imed(mu = 0.5)
)
plan <- dpts_plan(designs, scenarios, 900, control = "control", delay = 100, batch = 50, runs = runs, seed = 1)
number <- function(x, digits = 3) ifelse(is.na(x), "", formatC(x, digits, format = "f"))
for (scenario in names(scenarios)) {
  cat("## ", scenario, "\n\n| design | failures | best | power | false claims | coverage | width | longest run |\n",
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n", sep = "")
  x <- plan[plan$scenario == scenario, ]
  cat(sprintf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", x$design, number(x$failures, 1), number(x$best), number(x$power),
              number(x$false_claims), number(x$coverage), number(x$width), number(x$longest_run, 0)), sep = "")
  cat("\n")
}
