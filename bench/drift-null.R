# Nulls that drift: how often something false is proved or claimed, and how often intervals hold what is true.
# `Rscript bench/drift-null.R > bench/drift-null.md`; a smaller number of runs as its argument.

library(dpts)
runs <- as.integer(c(commandArgs(TRUE), 2000)[1])
alpha <- 0.1
cat(sprintf("# Nulls that drift between .15 and .65\n\n`Rscript bench/drift-null.R`: %d runs each, 2,000 people, alpha %s.", runs, alpha),
    "*proved* is the share of runs in which evidence by tosses proved at some look that an arm is the best, *z-test* the same",
    "by the one test at the end, *covered* the share in which the intervals of all differences hold: each at most alpha, or at",
    "least 1 - alpha, but for the error of so many runs. Intervals of designs whose chances follow are approximate.", sep = "\n")

null <- function(k, period) {
  arms <- stats::setNames(rep(0.15, k), letters[seq_len(k)])
  arms_drift(arms, rep(0.65, k), "sine", period)
}
designs <- list(
  "equal" = policy_randomised(mu = 0.5, block = 200), "Laplace" = policy_randomised(epsilon = 1, block = 200),
  "no noise" = policy_randomised(block = 50), "default block" = policy_randomised(mu = 0.5),
  "growing" = policy_randomised(mu = 0.5, block = 1.3), "thompson, floor .1" = policy_randomised(mu = 1, rule = "thompson", block = 100),
  "thompson, floor .02" = policy_randomised(mu = 1, rule = "thompson", block = 100, floor = 0.02),
  "top two" = policy_randomised(mu = 1, rule = "top_two", block = 150, floor = 0.05),
  "neyman" = policy_randomised(mu = 1, rule = "neyman", block = 150),
  "unequal: control .8" = policy_randomised(mu = 1, block = 150, control = 1, floor = c(0.05, 0.8)),
  "permuted" = policy_randomised(mu = 1, block = 100, permuted = TRUE),
  "permuted, thompson, unequal" = policy_randomised(mu = 1, rule = "thompson", block = 100, control = 1, floor = c(0.05, 0.6), permuted = TRUE)
)
worst <- function(x) max(x, na.rm = TRUE)
for (k in 2:3) {
  cat(sprintf("\n## %d arms\n\n| design | rewards late by | proved | z-test | covered |\n| --- | --- | ---: | ---: | ---: |\n", k))
  for (delay in if (k == 2) list(0, 150, 0:300) else list(0:300)) {
    plan <- dpts_plan(designs, list(slow = null(k, 2000), fast = null(k, 400)), 2000, error = alpha, delay = delay,
                      batch = if (length(delay) > 1) 50 else 1, runs = runs, seed = 1)
    proved <- tapply(summary(plan)$proved, rep(seq_len(nrow(plan)), each = k), sum)
    for (design in names(designs)) {
      at <- plan$design == design
      cat(sprintf("| %s | %s | %.4f | %.4f | %.4f |\n", design, if (length(delay) > 1) "0 to 300, in groups of 50" else delay,
                  worst(proved[at]), worst(plan$false_claims[at]), min(plan$coverage[at])))
    }
  }
  cat("\nThe worse of two drifts: one sine in 2,000 people, and one in 400.\n")
}

cat("\n## Pools: two of three arms are on offer, others every 500 people; rewards late by 20\n\n| design | proved |\n| --- | ---: |\n")
pool <- rep(list(c("a", "b"), c("b", "c"), c("a", "c"), c("a", "b", "c")), each = 500, length.out = 4000)
some <- designs[c("equal", "no noise", "thompson, floor .1", "permuted")]
proved <- vapply(seq_len(runs), function(run) {
  set.seed(run)
  log <- data.frame(arm = vapply(pool, sample, "", 1), reward = stats::rbinom(4000, 1, 0.4 + 0.25 * sin(2 * pi * seq_len(4000) / 1300)))
  log$pool <- pool
  found <- evidence(dpts_replay(log, some, runs = 1, seed = run, delay = 20), "tosses")
  tapply(found$evidence >= log(3 * 2 / alpha), found$policy, any)
}, logical(length(some)))
cat(sprintf("| %s | %.4f |\n", names(some), rowMeans(proved)), sep = "")
