# LinUCB in plain R, one model an arm (or one for all), by solve() from the sums.
linucb_reference <- function(arms, rewards, z, k, alpha, ridge, shared = FALSE) {
  # z: a function of (round, arm)
  d <- length(z(1, 1))
  n <- if (shared) 1 else k
  a <- replicate(n, diag(ridge, d), simplify = FALSE)
  b <- replicate(n, numeric(d), simplify = FALSE)
  scores <- matrix(0, length(arms), k)
  for (t in seq_along(arms)) {
    for (i in seq_len(k)) {
      m <- if (shared) 1 else i
      x <- z(t, i)
      scores[t, i] <- sum(solve(a[[m]], b[[m]]) * x) + alpha * sqrt(sum(x * solve(a[[m]], x)))
    }
    m <- if (shared) 1 else arms[t]
    x <- z(t, arms[t])
    a[[m]] <- a[[m]] + outer(x, x)
    b[[m]] <- b[[m]] + rewards[t] * x
  }
  list(scores = scores, a = a, b = b)
}

# contexts: d x rounds, or d x k x rounds
trace_context <- function(policy, arms, rewards, contexts, k, horizon = length(arms), seed = 1,
                          silent = FALSE, max_ledger = 0) {
  own <- length(dim(contexts)) == 3
  flat <- matrix(contexts, nrow = dim(contexts)[1])
  # The linear model stands after one number in LinUCB's state, after two in lin_ts's.
  offset <- if (policy$name == "linucb") 8L else 16L
  out <- run_script(policy, k, arms, as.double(rewards), horizon, seed, silent, max_ledger,
                    contexts = flat + 0, own = own)
  d <- nrow(flat)
  out <- c(out, .Call(C_read_linear, out$state, as.integer(k), d, offset))
  out$inverse <- array(out$inverse, c(d, d, k))
  out
}
