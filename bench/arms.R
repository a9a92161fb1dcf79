# The cost of a round against the number of arms: Rscript bench/arms.R > bench/arms.md
# Processor time of one thread, with tournaments and, side by side, with a look at every arm in each
# choice (`dpts.engine = "scan"`). Some ten minutes.

suppressMessages(library(dpts))

# Rounds for each of 10,000 arms: 100, or as many as a scan plays in a few seconds
policies <- list(
  "UCB1" = list(policy_ucb1(), 100), "IMED" = list(policy_imed(), 3),
  "KL-UCB" = list(policy_klucb(), 3), "AdaP-UCB" = list(policy_adap_ucb(1), 100),
  "AdaP-KLUCB" = list(policy_adap_klucb(1), 100), "AdaC-UCB" = list(policy_adac_ucb(1), 100),
  "DP-KLUCB" = list(policy_dp_klucb(1), 10), "DP-IMED" = list(policy_dp_imed(1, first = 1), 3),
  "Gaussian IMED" = list(policy_gaussian_imed(1, first = 1), 1.1),
  "Anytime-Lazy-UCB" = list(policy_lazy_ucb(1), 100), "DP-UCB-Bound" = list(policy_dp_ucb_bound(1), 30)
)
arms_of <- function(k) {
  set.seed(1)
  arms_bernoulli(if (k == 2) c(0.1, 0.9) else sample(seq(0.1, 0.9, length.out = k)))
}

# Microseconds per round, the best of three where that is quick. Few arms are played in many runs.
cost <- function(arms, policy, horizon, engine, again = 3) {
  options(dpts.engine = engine)
  seconds <- function(runs) {
    gc()
    time <- system.time(dpts_simulate(arms, policy, horizon, runs = runs, record = I(horizon),
                                      seed = 1, threads = 1, progress = FALSE))
    time[["user.self"]] + time[["sys.self"]]
  }
  runs <- max(1, ceiling(1e5 / horizon))
  best <- seconds(runs)
  while (again > 1 && best < 0.5) {
    best <- min(best, seconds(runs))
    again <- again - 1
  }
  best / runs / horizon * 1e6
}

row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
number <- function(x) {
  ifelse(is.na(x), "", vapply(signif(x, 2), format, "", scientific = FALSE, drop0trailing = TRUE))
}
large <- function(x) format(x, big.mark = ",", scientific = FALSE, trim = TRUE)

cat("# The cost of a round against the number of arms\n\nWritten by `Rscript bench/arms.R`:",
    "microseconds of processor time per round, one thread, all of a call of `dpts_simulate()` included,",
    "Bernoulli arms with means from 0.1 to 0.9 in random order. *Tournament*: the plain loop as it is",
    "(`src/policy_tournament.h`; below 48 arms it is a scan). *Scan*: a look at every arm in each choice. The",
    "choices are the same, bit for bit, and so are the rounds measured.\n\n## Ten thousand arms\n\n")

cat("1,000,000 rounds, or as many as the scan ends in seconds. In the first 10,000 each arm is pulled once,",
    "without an index. Policies with batches choose only when a batch is full, so with more rounds per arm there",
    "is less for a tournament to save.\n\n")
row("policy", "rounds", "rounds per arm", "tournament", "scan", "ratio")
row("---", rep("--:", 5))
arms <- arms_of(1e4)
for (name in names(policies)) {
  rounds <- policies[[name]][[2]] * 1e4
  fast <- cost(arms, policies[[name]][[1]], rounds, "plain")
  slow <- cost(arms, policies[[name]][[1]], rounds, "scan", again = 1)
  row(name, large(rounds), policies[[name]][[2]], number(fast), number(slow), number(slow / fast))
}

ks <- c(2, 5, 100, 1000, 1e4, 1e5, 1e6)
worlds <- lapply(ks, arms_of)
rounds_of <- function(k) max(3 * k, 300)
most_scanned <- 1000 # more would take minutes and tell nothing new
most_seconds <- 120  # an entry that might take longer is left out

cat("\n## From two arms to a million\n\nThree rounds per arm, and at least 300 in a run. The exponent is that of k,",
    "fitted from 1,000 arms on, and of scans from 100 to 1,000. No entry: it might take more than",
    most_seconds, "seconds.\n\n")
row("policy", "", paste("k =", large(ks)), "exponent")
row("---", "---", rep("--:", length(ks) + 1))
exponent <- function(x, use) stats::coef(stats::lm(log(x[use]) ~ log(ks[use])))[[2]]
for (name in names(policies)) {
  measured <- lapply(c("plain", "scan"), function(engine) {
    micro <- rep(NA_real_, length(ks))
    for (i in seq_along(ks)) {
      if (engine == "scan" && ks[i] > most_scanned) break
      # at ten times as many arms a round costs some twice as much
      if (i > 1 && 2 * micro[i - 1] * rounds_of(ks[i]) / 1e6 > most_seconds) break
      micro[i] <- cost(worlds[[i]], policies[[name]][[1]], rounds_of(ks[i]), engine)
    }
    micro
  })
  row(name, "tournament", number(measured[[1]]),
      number(exponent(measured[[1]], ks >= 1000 & !is.na(measured[[1]]))))
  row("", "scan", number(measured[[2]]), number(exponent(measured[[2]], ks %in% c(100, 1000))))
}
cat("\nMeasured on a machine that others use, too: differences of a factor 1.5 mean nothing.\n")
