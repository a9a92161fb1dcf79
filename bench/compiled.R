# A policy in C from a file beside the same in R and beside a built-in one: Rscript bench/compiled.R
# Rounds per second on the plain loop, the least time of five; and UCB1 from a file and built in by turns, elsewhere.
library(dpts)
options(dpts.engine = "plain")
example <- function(name) system.file("examples", name, package = "dpts")
laplace <- function(n, scale) scale * (rexp(n) - rexp(n))
m <- 100
in_r <- policy_custom(
  "explore_commit",
  start = function(k, horizon) list(n = numeric(k), sum = numeric(k)),
  choose = function(state, round) if (min(state$n) < m) which.min(state$n) else which.max(state$sum),
  update = function(state, feedback) {
    arm <- feedback$arm
    if (state$n[arm] < m) {
      state$sum[arm] <- state$sum[arm] + feedback$reward
      state$n[arm] <- state$n[arm] + 1
      if (state$n[arm] == m) state$sum[arm] <- state$sum[arm] + laplace(1, 1)
    }
    state
  },
  guarantee = privacy_pure(1)
)
cases <- list(
  "explore and commit, in R" = list(in_r, 2e5),
  "explore and commit, from a file" = list(policy_compiled(
    example("explore_commit.c"), "explore_commit", params = list(epsilon = 1, m = m), guarantee = privacy_pure(1)), 1e7),
  "UCB1, from a file" = list(policy_compiled(example("ucb1.c"), "ucb1"), 3e6),
  "UCB1, built in" = list(policy_ucb1(), 3e6)
)
arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
rate <- vapply(cases, function(case) {
  case[[2]] / min(replicate(5, system.time(
    dpts_simulate(arms, case[[1]], case[[2]], runs = 1, seed = 1, record = I(case[[2]])))[["user.self"]]))
}, 0)
# UCB1 in the other engines: how many times as long it takes from a file
set.seed(1)
logged <- data.frame(arm = sample(5, 1e6, TRUE), reward = rbinom(1e6, 1, 0.5))
elsewhere <- list(
  "late rewards" = function(policy) dpts_simulate(arms, policy, 1e6, runs = 1, seed = 1, record = I(1e6), delay = 10),
  "with a history" = function(policy) dpts_simulate(arms, policy, 1e6, runs = 1, seed = 1, record = I(1e6), history = TRUE),
  "a replay" = function(policy) dpts_replay(logged, policy, seed = 1),
  "an agent" = function(policy) {
    agent <- dpts_agent(policy, letters[1:5], horizon = 1e5, use = "arrival")
    for (i in 1:100) agent_reward(agent, agent_choose(agent)$ticket, 1)
  }
)
ratio <- vapply(elsewhere, function(play) {
  least <- apply(replicate(8, vapply(cases[3:4], function(case) system.time(play(case[[1]]))[["user.self"]], 0)), 1, min)
  least[[1]] / least[[2]]
}, 0)
# Policies in R: what a round takes, and what their functions alone take in a loop of R's
count <- function(k, horizon) list(n = numeric(k), sum = numeric(k))
learn <- function(state, feedback) {
  arm <- feedback$arm
  state$n[arm] <- state$n[arm] + 1
  state$sum[arm] <- state$sum[arm] + feedback$reward
  state
}
written <- list(
  "UCB1" = policy_custom("ucb1", count, function(state, round) {
    if (any(state$n == 0)) return(which.min(state$n))
    which.max(state$sum / state$n + sqrt(2 * log(round$t) / state$n))
  }, learn),
  "epsilon-greedy" = policy_custom("greedy", count, function(state, round) {
    if (runif(1) < 0.1) return(sample.int(length(state$n), 1))
    which.max(state$sum / pmax(1, state$n))
  }, learn),
  "Thompson sampling" = policy_custom("thompson", count, function(state, round) {
    which.max(rbeta(length(state$n), 1 + state$sum, 1 + state$n - state$sum))
  }, learn),
  "UCB on counters, 1-DP" = policy_custom("counters",
    start = function(k, horizon) c(count(k, horizon), list(counter = rep(list(counter_tree(1, horizon)), k))),
    choose = function(state, round) {
      if (any(state$n == 0)) return(which.min(state$n))
      which.max(state$sum / state$n + sqrt(2 * log(round$t) / state$n) + 30 / state$n)
    },
    update = function(state, feedback) {
      arm <- feedback$arm
      counter <- counter_add(state$counter[[arm]], feedback$reward)
      state$counter[[arm]] <- counter
      state$n[arm] <- counter$items
      state$sum[arm] <- counter$released
      state
    }, guarantee = privacy_pure(1))
)
alone <- compiler::cmpfun(function(policy, k, n) {
  choose <- compiler::cmpfun(policy$choose)
  update <- compiler::cmpfun(policy$update)
  state <- policy$start(k, n)
  round <- list(t = n, offer = seq_len(k), context = NULL)
  fed <- lapply(seq_len(k), function(arm) {
    lapply(c(0, 1), function(x) list(t = n, arm = arm, reward = x, context = NULL))
  })
  x <- 1L + (runif(n) < 0.5)
  for (i in seq_len(n)) state <- update(state, fed[[choose(state, round)]][[x[i]]])
})
rows <- expand.grid(policy = names(written), k = c(5, 100), stringsAsFactors = FALSE)
least <- function(play) min(replicate(4, sum(system.time(play())[1:2])))
times <- t(mapply(function(name, k) {
  n <- if (grepl("counters", name)) 5e3 else 3e4
  even <- arms_bernoulli(rep(0.5, k))
  1e6 / n * c(least(function() dpts_simulate(even, written[[name]], n, runs = 1, seed = 1, record = I(n))),
              least(function() alone(written[[name]], k, n)))
}, rows$policy, rows$k))
own <- sprintf("| %s, %d arms | %s | %s | %.0f%% |", rows$policy, rows$k, format(signif(times[, 1], 2)),
               format(signif(times[, 2], 2)), 100 * pmin(1, times[, 2] / times[, 1]))
lines <- c(
  "# A policy in C from a file", "",
  "Made by `Rscript bench/compiled.R`: five arms, one run, one thread, the plain loop.", "",
  "| policy | rounds per second |", "| --- | ---: |",
  sprintf("| %s | %s |", names(rate), format(signif(rate, 2), big.mark = ",", scientific = FALSE)), "",
  sprintf("From a file it is %.0f times as fast as in R, and UCB1 from a file takes %.2f times as long as the one built in.",
          rate[2] / rate[1], rate[4] / rate[3]),
  sprintf("Elsewhere UCB1 from a file takes, of the time of the one built in: %s.", paste(sprintf("%.2f (%s)", ratio, names(ratio)), collapse = ", ")),
  "", "## Policies in R", "",
  "Microseconds of a round: in `dpts_simulate()`, and of the policy's own functions alone, in a loop of R's over their calls.", "",
  "| policy | a round | its functions alone | share |", "| --- | ---: | ---: | ---: |", own
)
writeLines(lines, "bench/compiled.md")
cat(lines, sep = "\n")
