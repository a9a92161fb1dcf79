# Follow the leader by noisy sums of batches, written as a user would: each reward is in one
# release with noise Laplace(1 / epsilon), so the arms are epsilon-DP. And copies with a mistake.
noisy_leader <- function(epsilon = 1, mistake = "none", batch = 1) {
  laplace <- function(n, scale) {
    draws <- rexp(2 * n)
    (draws[seq_len(n)] - draws[-seq_len(n)]) * scale
  }
  scale <- if (mistake == "half the noise") 0.5 / epsilon else 1 / epsilon
  policy_custom(
    paste("noisy leader,", mistake),
    # An arm without a release comes first.
    start = function(k, horizon) {
      list(sum = 0, n = 0, arm = 1, exact = rep(Inf, k), released = rep(Inf, k), shared = laplace(1, scale))
    },
    choose = function(state, round) {
      if (state$n > 0) return(state$arm) # the batch goes on
      which.max(switch(
        mistake,
        "raw index" = state$exact,
        "noise redrawn" = state$exact + laplace(length(state$exact), scale),
        state$released
      ))
    },
    update = function(state, feedback) {
      arm <- feedback$arm
      sum <- state$sum + feedback$reward
      n <- state$n + 1
      if (n == batch || (mistake == "peeking batch" && feedback$reward == 0)) {
        state$exact[arm] <- sum
        state$released[arm] <- sum + if (mistake == "shared noise") state$shared else laplace(1, scale)
        sum <- n <- 0
      }
      state[c("sum", "n", "arm")] <- c(sum, n, arm)
      state
    },
    guarantee = privacy_pure(epsilon)
  )
}

# Randomised response: the arm of all rounds after the first is the first reward, 0 or 1, told
# truly with chance e^epsilon / (1 + e^epsilon).
response_policy <- function(epsilon, claim) {
  policy_custom(
    "randomised response",
    start = function(k, horizon) 1,
    choose = function(state, round) state,
    update = function(state, feedback) {
      if (feedback$t > 1) return(state)
      says <- if (runif(1) < plogis(epsilon)) feedback$reward else 1 - feedback$reward
      1 + says
    },
    guarantee = privacy_pure(claim)
  )
}

# The chance of every transcript on the first stream of a pair, from the package's own list
plain_names <- function(chances, pair) {
  k <- ncol(pair$x)
  grid <- as.matrix(expand.grid(rep(list(seq_len(k)), nrow(pair$x))))
  log_p <- numeric(nrow(grid))
  n <- sum <- matrix(0, nrow(grid), k)
  for (t in seq_len(ncol(grid))) {
    at <- cbind(seq_len(nrow(grid)), grid[, t])
    log_p <- log_p + chances(n, sum)[at]
    n[at] <- n[at] + 1
    sum[at] <- sum[at] + pair$x[t, grid[, t]]
  }
  stats::setNames(exp(log_p), apply(grid, 1, paste, collapse = ""))
}
