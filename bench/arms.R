# The cost of a round against the number of arms: Rscript bench/arms.R > bench/arms.md
# Processor time, one thread, with tournaments and, side by side, with a look at every arm in each
# choice (`dpts.engine = "scan"`). About two minutes.

suppressMessages(library(dpts))

# Rounds per arm: 3, but so few of Gaussian IMED that scans end today
policies <- list(
  "UCB1" = list(policy_ucb1(), 3), "IMED" = list(policy_imed(), 3),
  "KL-UCB" = list(policy_klucb(), 3), "AdaP-UCB" = list(policy_adap_ucb(1), 3),
  "AdaP-KLUCB" = list(policy_adap_klucb(1), 3), "AdaC-UCB" = list(policy_adac_ucb(1), 3),
  "DP-KLUCB" = list(policy_dp_klucb(1), 3), "DP-IMED" = list(policy_dp_imed(1, first = 1), 3),
  "Gaussian IMED" = list(policy_gaussian_imed(1, first = 1), 1.1),
  "Anytime-Lazy-UCB" = list(policy_lazy_ucb(1), 3), "DP-UCB-Bound" = list(policy_dp_ucb_bound(1), 3)
)
arms_of <- function(k) {
  set.seed(1)
  arms_bernoulli(if (k == 2) c(0.1, 0.9) else sample(seq(0.1, 0.9, length.out = k)))
}

# Microseconds a round, the best of three. Few arms are played for longer and in many runs.
cost <- function(arms, policy, k, rounds, engine, again = 3) {
  horizon <- max(ceiling(rounds * k), 500)
  options(dpts.engine = engine)
  seconds <- function(runs) {
    gc()
    time <- system.time(dpts_simulate(arms, policy, horizon, runs = runs, record = I(horizon),
                                      seed = 1, threads = 1, progress = FALSE))
    time[["user.self"]] + time[["sys.self"]]
  }
  runs <- max(1, ceiling(5e4 / horizon))
  best <- seconds(runs)
  while (again > 1 && best < 0.5) {
    best <- min(best, seconds(runs))
    again <- again - 1
  }
  best / runs / horizon * 1e6
}

ks <- c(5, 100, 1000, 1e4, 1e5)
most_scanned <- 1e4 # more would take hours and tell nothing new
row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
number <- function(x) {
  ifelse(is.na(x), "", vapply(signif(x, 2), format, "", scientific = FALSE, drop0trailing = TRUE))
}

cat("# The cost of a round against the number of arms\n\nWritten by `Rscript bench/arms.R`:",
    "microseconds of processor time per round, one thread, all of a run included, Bernoulli arms with",
    "means from 0.1 to 0.9 in random order, as many rounds per arm as the table says and at least",
    "500. *Tournament*: the plain loop as it is (`src/tournament.h`; below 48 arms it is a scan).",
    "*Scan*: a look at every arm in each choice. The choices are the same, bit for bit. The exponent",
    "is that of k, fitted from 100 arms on.\n\n")
row("policy", "rounds per arm", "", paste("k =", format(ks, big.mark = ",", scientific = FALSE, trim = TRUE)),
    "exponent")
row(rep("---", length(ks) + 4))
for (name in names(policies)) {
  measured <- lapply(c("plain", "scan"), function(engine) {
    vapply(ks, function(k) {
      if (engine == "scan" && k > most_scanned) return(NA_real_)
      cost(arms_of(k), policies[[name]][[1]], k, policies[[name]][[2]], engine)
    }, 0)
  })
  exponent <- vapply(measured, function(x) {
    use <- ks >= 100 & !is.na(x)
    stats::coef(stats::lm(log(x[use]) ~ log(ks[use])))[[2]]
  }, 0)
  row(name, policies[[name]][[2]], "tournament", number(measured[[1]]), number(exponent[1]))
  row("", "", "scan", number(measured[[2]]), number(exponent[2]))
  row("", "", "ratio", number(measured[[2]] / measured[[1]]), "")
}
cat("\nMeasured on a machine that others use, too: differences of a factor 1.5 mean nothing.\n")
