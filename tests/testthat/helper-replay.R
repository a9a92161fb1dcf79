# A log of a logger that chooses with the given chances among arms with Bernoulli rewards.
simulated_log <- function(n, means, chances = rep(1 / length(means), length(means))) {
  arm <- sample(length(means), n, TRUE, chances)
  data.frame(arm = arm, reward = rbinom(n, 1, means[arm]), propensity = chances[arm])
}

# Replay in plain R: choose(state, t, event), observe(state, event) and commit(state, event) are
# functions. An event that is kept is committed to at once and observed `delay` kept events
# later.
replay_reference <- function(log, state, choose, observe, delay,
                             commit = function(state, i) state) {
  queue <- list()
  kept <- integer()
  for (i in seq_len(nrow(log))) {
    t <- length(kept) + 1
    if (choose(state, t, i) != log$arm[i]) next
    kept <- c(kept, i)
    state <- commit(state, i)
    queue <- c(queue, list(i))
    if (length(queue) > delay) {
      state <- observe(state, queue[[1]])
      queue <- queue[-1]
    }
  }
  c(events = length(kept), reward = sum(log$reward[kept]))
}
