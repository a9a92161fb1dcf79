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
# dim: numbers of a context as the models see it
trace_context <- function(policy, arms, rewards, contexts, k, horizon = length(arms), seed = 1,
                          silent = FALSE, max_ledger = 0, dim = NULL) {
  traced_context(policy, arms, rewards, contexts, k, horizon, silent, max_ledger, dim)(seed)
}

# The same for many seeds: a function of the seed
traced_context <- function(policy, arms, rewards, contexts, k, horizon = length(arms), silent = FALSE, max_ledger = 0,
                           dim = NULL) {
  own <- length(dim(contexts)) == 3
  flat <- matrix(contexts, nrow = dim(contexts)[1])
  d <- dim %||% nrow(flat)
  script <- scripted(policy, k, arms, as.double(rewards), horizon, silent, max_ledger, contexts = flat + 0, own = own)
  function(seed) {
    out <- script(seed)
    out <- c(out, .Call(C_read_linear, out$state, as.integer(k), d))
    out$inverse <- array(out$inverse, c(d, d, k))
    out
  }
}

# When growing batches are released: rounds grow by a tenth, but at least by so many
growing_ends <- function(rounds, budget, horizon) {
  ends <- end <- 0
  first <- ceiling(min(300, 1.5 * sqrt(horizon) / min(1, budget)))
  while ((end <- max(end + first, floor(1.1 * end))) <= rounds) ends <- c(ends, end)
  ends[-1]
}

# Both mechanisms as L, R and the norm of R's columns
toeplitz_of <- function(mechanism, n) {
  if (mechanism == "tree") {
    # The node that is formed at t covers as many items as the largest power of two that divides t.
    size <- vapply(seq_len(n), function(t) bitwAnd(t, -t), 0L)
    right <- outer(seq_len(n), seq_len(n), function(t, i) i <= t & i > t - size[t]) + 0
    return(list(right = right, left = lower.tri(diag(n), TRUE) %*% solve(right),
                factor = sqrt(floor(log2(n)) + 1)))
  }
  nodes <- ceiling((log(n) + 1.5) / 2) + 2
  s <- 1.5 - 2 * (seq_len(nodes) - 1)
  r <- c(1, vapply(seq_len(n), function(k) sum(2 / pi * exp(s / 2) / (1 + exp(s))^1 * (1 + exp(s))^-k), 0))
  right <- stats::toeplitz(r[seq_len(n)]) * lower.tri(diag(n), TRUE)
  list(right = right, left = lower.tri(diag(n), TRUE) %*% solve(right), factor = sqrt(sum(r[seq_len(n)]^2)))
}
