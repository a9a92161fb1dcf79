# The cost of a round of Thompson sampling against the number of arms, the plain loop and skipping:
# Rscript bench/arms-ts.R > bench/arms-ts.md. Processor time, one thread, two to three minutes; a million
# arms of a lazy policy take 0.7 GB.

suppressMessages(library(dpts))

# With how many pulls of each arm a run opens, before it chooses
policies <- list(
  "Gaussian TS" = list(policy_ts_gaussian(0), 0), "Beta TS" = list(policy_ts_beta(), 0),
  "Lazy Gaussian TS, mu = 1" = list(policy_lazy_gaussian_ts(1), 1),
  "Lazy-DP-TS, epsilon = 1" = list(policy_lazy_dp_ts(1), 1)
)
arms_of <- function(k) {
  set.seed(1)
  arms_bernoulli(if (k == 2) c(0.1, 0.9) else sample(seq(0.1, 0.9, length.out = k)))
}

# Seconds of so many runs
seconds <- function(arms, policy, horizon, engine, runs = 1) {
  options(dpts.engine = engine)
  gc()
  time <- system.time(dpts_simulate(arms, policy, horizon, runs = runs, record = I(horizon), seed = 1,
                                    threads = 1, progress = FALSE))
  time[["user.self"]] + time[["sys.self"]]
}

# Microseconds of a round, all of a run included
cost <- function(policy, k, each, engine) {
  arms <- arms_of(k)
  horizon <- max(each * k, 500)
  runs <- ceiling(2e5 / horizon)
  if (k <= 100) seconds(arms, policy, 10 + k, engine) # warms up
  seconds(arms, policy, horizon, engine, runs) / runs / horizon * 1e6
}

# Many arms cost the plain loop the same in every round after the opening: some hundred of them tell.
cost_plain <- function(policy, opening, k, each) {
  if (k < 1000) return(cost(policy, k, each, "plain"))
  n <- max(500, 1e7 / k)
  arms <- arms_of(k)
  start <- max(1, opening * k)
  seconds(arms, policy, start, "plain") # warms up
  least <- function(horizon) min(replicate(2, seconds(arms, policy, horizon, "plain")))
  (least(start + n) - least(start)) / n * 1e6
}

ks <- c(2, 5, 100, 1000, 1e4, 1e5, 1e6)
most <- c(plain = 1e4, few = 1e6, many = 1e4) # arms; more would take minutes and tell nothing new
few <- 2
many <- 100
number <- function(x) {
  ifelse(is.na(x), "", vapply(signif(x, 2), format, "", scientific = FALSE, drop0trailing = TRUE))
}
row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
exponent <- function(x) {
  use <- ks >= 100 & !is.na(x)
  stats::coef(stats::lm(log(x[use]) ~ log(ks[use])))[[2]]
}
over <- function(most, measure) vapply(ks, function(k) if (k > most) NA_real_ else measure(k), 0)

cat("# The cost of a round of Thompson sampling against the number of arms\n\nWritten by",
    "`Rscript bench/arms-ts.R`: microseconds of processor time per round, one thread, Bernoulli arms with",
    "means from 0.1 to 0.9 in random order.\n\n* *Plain*: a draw of each arm in each round. From 1,000 arms on,",
    "the rounds after the opening of the lazy policies alone, which pulls each arm once.",
    "\n* *Skip*, with so many rounds per arm and at least 500: a block of a leader where one leads; else, from",
    "64 arms on, rounds by groups of arms (`src/skip_thompson.c`). The",
    "distribution is the same. All of a run is included.",
    "\n* *Ratio*: plain over skip with", many, "rounds per arm. The exponent is that of k, fitted from 100 arms on.\n\n")
row("policy", "", paste("k =", format(ks, big.mark = ",", scientific = FALSE, trim = TRUE)), "exponent")
row(rep("---", length(ks) + 3))
for (name in names(policies)) {
  policy <- policies[[name]][[1]]
  plain <- over(most[["plain"]], function(k) cost_plain(policy, policies[[name]][[2]], k, many))
  skip_few <- over(most[["few"]], function(k) cost(policy, k, few, "skip"))
  skip_many <- over(most[["many"]], function(k) cost(policy, k, many, "skip"))
  row(name, "plain", number(plain), number(exponent(plain)))
  row("", paste("skip,", few, "rounds per arm"), number(skip_few), number(exponent(skip_few)))
  row("", paste("skip,", many, "rounds per arm"), number(skip_many), number(exponent(skip_many)))
  row("", "ratio", number(plain / skip_many), "")
}
cat("\nMeasured on a machine that others use, too: differences of a factor 1.5 mean nothing.\n")
