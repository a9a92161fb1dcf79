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
log <- data.frame(arm = sample(5, 1e6, TRUE), reward = rbinom(1e6, 1, 0.5))
elsewhere <- list(
  "late rewards" = function(policy) dpts_simulate(arms, policy, 1e6, runs = 1, seed = 1, record = I(1e6), delay = 10),
  "with a history" = function(policy) dpts_simulate(arms, policy, 1e6, runs = 1, seed = 1, record = I(1e6), history = TRUE),
  "a replay" = function(policy) dpts_replay(log, policy, seed = 1),
  "an agent" = function(policy) {
    agent <- dpts_agent(policy, letters[1:5], horizon = 1e5, use = "arrival")
    for (i in 1:100) agent_reward(agent, agent_choose(agent)$ticket, 1)
  }
)
ratio <- vapply(elsewhere, function(play) {
  least <- apply(replicate(8, vapply(cases[3:4], function(case) system.time(play(case[[1]]))[["user.self"]], 0)), 1, min)
  least[[1]] / least[[2]]
}, 0)
# The same two functions in a loop of R's
bare <- compiler::cmpfun(function(n) {
  state <- in_r$start(5, n)
  round <- list(t = 1, offer = 1:5, context = NULL)
  feedback <- list(t = 1, arm = 1L, reward = 1, context = NULL)
  for (t in seq_len(n)) {
    feedback$arm <- in_r$choose(state, round)
    state <- in_r$update(state, feedback)
  }
})
limit <- 2e5 / min(replicate(5, system.time(bare(2e5))[["user.self"]]))
lines <- c(
  "# A policy in C from a file", "",
  "Made by `Rscript bench/compiled.R`: five arms, one run, one thread, the plain loop.", "",
  "| policy | rounds per second |", "| --- | ---: |",
  sprintf("| %s | %s |", names(rate), format(signif(rate, 2), big.mark = ",", scientific = FALSE)), "",
  sprintf("From a file it is %.0f times as fast as in R, and UCB1 from a file takes %.2f times as long as the one built in.",
          rate[2] / rate[1], rate[4] / rate[3]),
  sprintf("Elsewhere UCB1 from a file takes, of the time of the one built in: %s.", paste(sprintf("%.2f (%s)", ratio, names(ratio)), collapse = ", ")),
  sprintf("In R it takes %.2f times as long as its functions in a loop of R's.", limit / rate[1])
)
writeLines(lines, "bench/compiled.md")
cat(lines, sep = "\n")
