# The cost of a round of Gaussian Thompson sampling against the number of arms, the plain loop and
# skipping: Rscript bench/arms-ts.R > bench/arms-ts.md. Processor time, one thread, about a minute.

suppressMessages(library(dpts))

cost <- function(k, horizon, engine, runs) {
  options(dpts.engine = engine)
  set.seed(1)
  arms <- arms_bernoulli(sample(seq(0.1, 0.9, length.out = k)))
  play <- function(horizon, runs) {
    dpts_simulate(arms, policy_ts_gaussian(0), horizon, runs = runs, record = I(horizon), seed = 1,
                  threads = 1, progress = FALSE)
  }
  play(10, 1)
  time <- system.time(play(horizon, runs))
  (time[["user.self"]] + time[["sys.self"]]) / runs / horizon * 1e6
}

ks <- c(5, 100, 1000, 1e4)
number <- function(x) vapply(signif(x, 2), format, "", scientific = FALSE, drop0trailing = TRUE)
row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")

cat("# The cost of a round of Gaussian Thompson sampling against the number of arms\n\nWritten by",
    "`Rscript bench/arms-ts.R`: microseconds of processor time per round, one thread, Bernoulli arms with",
    "means from 0.1 to 0.9 in random order, `policy_ts_gaussian(0)`. *Plain*: a draw of each arm in each round.",
    "*Skip*: a block of a leader where one leads; else, from 64 arms on, rounds by groups of arms",
    "(`src/policy_ts_gaussian_groups.c`). The distribution is the same.\n\n")
row("rounds per arm", "", paste("k =", format(ks, big.mark = ",", scientific = FALSE, trim = TRUE)))
row(rep("---", length(ks) + 2))
for (each in c(3, 100)) {
  # A plain round costs the same all along: a few hundred tell.
  seconds <- lapply(c("plain", "skip"), function(engine) {
    vapply(ks, function(k) {
      horizon <- each * k
      if (engine == "plain") horizon <- min(horizon, max(500, 1e7 / k))
      cost(k, horizon, engine, ceiling(2e5 / horizon / if (engine == "plain") max(1, k / 100) else 1))
    }, 0)
  })
  row(each, "plain", number(seconds[[1]]))
  row("", "skip", number(seconds[[2]]))
  row("", "ratio", number(seconds[[1]] / seconds[[2]]))
}
cat("\nMeasured on a machine that others use, too: differences of a factor 1.5 mean nothing.\n")
