# Small things that tests of worlds share.

# Regret of one policy at the horizon, one number for each run
world_regret <- function(arms, policy, horizon, ...) {
  dpts_simulate(arms, policy, horizon, record = I(horizon), ...)$regret
}

# Everything that a simulation says, without what it is called
numbers_of <- function(sim) {
  list(as.list(as.data.frame(sim))[c("run", "t", "regret", "reward")], pulls(sim)$pulls)
}

# Fixed-arm regret from a matrix of means, one row for each round
regret_of_means <- function(means, arm) cumsum(apply(means, 1, max) - means[, arm])

# UCB1 in R on recorded rewards (the m-th of an arm is rewards[[arm]][m]), each learned at the end of
# the round that `learned(t)` gives: ties to the first arm; while rewards of some arm are out that has
# none yet, the least pulled
ucb1_late <- function(rewards, horizon, learned) {
  k <- length(rewards)
  n <- sum <- pulls <- numeric(k)
  due <- arm_of <- reward_of <- numeric(horizon)
  for (t in seq_len(horizon)) {
    arm <- if (any(pulls == 0)) which(pulls == 0)[1] else if (any(n == 0)) which.min(pulls) else
      which.max(sum / n + sqrt(2 * log(max(1, t - 1)) / n))
    pulls[arm] <- pulls[arm] + 1
    arm_of[t] <- arm
    reward_of[t] <- rewards[[arm]][pulls[arm]]
    due[t] <- learned(t)
    for (u in which(due[seq_len(t)] == t)) {
      n[arm_of[u]] <- n[arm_of[u]] + 1
      sum[arm_of[u]] <- sum[arm_of[u]] + reward_of[u]
    }
  }
  list(arm = arm_of, reward = reward_of)
}
