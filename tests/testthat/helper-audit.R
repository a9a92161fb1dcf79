# Follow the leader by noisy sums of batches, written as a user would: each reward is in one
# release with noise Laplace(1 / epsilon), so the arms are epsilon-DP. And copies with a mistake.
noisy_leader <- function(epsilon = 1, mistake = "none", batch = 1) {
  laplace <- function(n, scale) (rexp(n) - rexp(n)) * scale
  scale <- if (mistake == "half the noise") 0.5 / epsilon else 1 / epsilon
  policy_custom(
    paste("noisy leader,", mistake),
    start = function(k, horizon) {
      list(sum = 0, n = 0, arm = 1, exact = rep(NA, k), released = rep(NA, k),
           shared = laplace(1, scale))
    },
    choose = function(state, round) {
      if (state$n > 0) return(state$arm) # the batch goes on
      if (anyNA(state$exact)) return(which(is.na(state$exact))[1])
      index <- switch(
        mistake,
        "raw index" = state$exact,
        "noise redrawn" = state$exact + laplace(length(state$exact), scale),
        state$released
      )
      which.max(index)
    },
    update = function(state, feedback) {
      state$arm <- feedback$arm
      state$sum <- state$sum + feedback$reward
      state$n <- state$n + 1
      over <- state$n == batch || (mistake == "peeking batch" && feedback$reward == 0)
      if (over) {
        noise <- if (mistake == "shared noise") state$shared else laplace(1, scale)
        state$exact[state$arm] <- state$sum
        state$released[state$arm] <- state$sum + noise
        state$sum <- state$n <- 0
      }
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
