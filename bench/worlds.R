# What other worlds cost: custom, changing and recorded arms, delays, batches and histories, as ratios to
# a stationary world of Bernoulli arms, both played round by round, in one run.
#   Rscript bench/worlds.R > bench/worlds.md
# One thread; times are the least of three in processor time. The limits that these worlds should keep: a
# third of the speed with custom arms, at most 2 times as long with a delay of 100, at most 1.5 times in a
# piecewise world, and 200,000 rounds a second for epsilon-greedy in R.

library(dpts)

options(dpts.engine = "plain")
means <- c(0.75, 0.625, 0.5, 0.375, 0.25)
horizon <- 3e6
policies <- list(
  "always arm 1" = policy_fixed(1), "UCB1" = policy_ucb1(), "DP-IMED" = policy_dp_imed(1),
  "Gaussian TS" = policy_ts_gaussian(), "Beta TS" = policy_ts_beta()
)

plain <- arms_bernoulli(means)
worlds <- list(
  custom = arms_custom(function(arm, n) runif(n) < means[arm], means),
  "custom, rbinom()" = arms_custom(function(arm, n) rbinom(n, 1, means[arm]), means),
  "custom, changing" = arms_custom(function(arm, n, t) runif(n) < means[arm],
                                   function(t) matrix(means, length(t), 5, byrow = TRUE)),
  piecewise = arms_switch(list(plain, arms_bernoulli(rev(means))), horizon / 2),
  drift = arms_drift(plain, arms_bernoulli(rev(means)), "linear", horizon),
  walk = arms_walk(means, 1e-3),
  data = arms_data(data.frame(arm = rep(1:5, 200), y = rep(0:9 / 9, each = 100)), "arm", "y")
)
late <- list("delay 100" = list(delay = 100), "batch 100" = list(batch = 100),
             "delays 0 to 200" = list(delay = 0:200),
             "delays of a function" = list(delay = function(n) sample.int(200, n, TRUE)),
             history = list(history = TRUE))

seconds <- function(arms, policy, ..., rounds = horizon) {
  min(vapply(1:3, function(i) {
    time <- system.time(dpts_simulate(arms, policy, rounds, runs = 1, seed = 1, record = 2,
                                      progress = FALSE, ...))
    time[["user.self"]] + time[["sys.self"]]
  }, 0))
}

cat(sprintf("Five arms, %s rounds. First column: nanoseconds a round in the stationary world; others: times as long.\n\n",
            format(horizon, big.mark = ",", scientific = FALSE)))
cat("| | ", paste(names(policies), collapse = " | "), " |\n", sep = "")
cat("|", strrep(" --- |", length(policies) + 1), "\n", sep = "")
base <- vapply(policies, function(p) seconds(plain, p), 0)
row <- function(name, times) {
  cat("| ", name, " | ", paste(formatC(times, digits = 3, format = "g"), collapse = " | "), " |\n", sep = "")
}
row("ns", base / horizon * 1e9)
limits <- c(custom = 3, "custom, rbinom()" = 3, piecewise = 1.5, "delay 100" = 2)
above <- character()
measure <- function(name, arms, ...) {
  times <- vapply(policies, function(p) seconds(arms, p, ...), 0) / base
  row(name, times)
  over <- times > limits[name] & !is.na(limits[name])
  above <<- c(above, sprintf("%s (%s): %.2f", name, names(policies)[over], times[over]))
}
for (name in names(worlds)) measure(name, worlds[[name]])
for (name in names(late)) do.call(measure, c(list(name, plain), late[[name]]))
cat("\nLimits: ", paste(names(limits), limits, collapse = "; "), ". Above them: ",
    if (length(above)) paste(above, collapse = "; ") else "none", ".\n", sep = "")

# What R itself takes for the numbers of custom arms, and what a policy in R plays.
n <- 16384
nanoseconds <- function(draw) {
  min(vapply(1:5, function(i) {
    time <- system.time(for (j in 1:200) draw(n))
    time[["user.self"]] + time[["sys.self"]]
  }, 0)) / (200 * n) * 1e9
}
cat(sprintf("\nR alone, nanoseconds a number: %.1f for `runif(n) < p`, %.1f for `rbinom(n, 1, p)`.\n",
            nanoseconds(function(n) runif(n) < 0.5), nanoseconds(function(n) rbinom(n, 1, 0.5))))
greedy <- policy_custom(
  "epsilon-greedy",
  start = function(k, horizon) list(n = rep(1, k), sum = rep(1, k)), # so that each arm has a mean
  choose = function(state, round) {
    if (runif(1) < 0.1) return(sample.int(5L, 1L))
    which.max(state$sum / state$n)
  },
  update = function(state, feedback) {
    arm <- feedback$arm
    state$n[arm] <- state$n[arm] + 1
    state$sum[arm] <- state$sum[arm] + feedback$reward
    state
  }
)
cat(sprintf("Epsilon-greedy in R: %s rounds a second of processor time.\n",
            format(signif(2e5 / seconds(plain, greedy, rounds = 2e5), 2), big.mark = ",", scientific = FALSE)))
