# Independent truths for the tests: R translations and exact enumeration.

# Exact mean regret after each round t <= horizon for two Bernoulli arms, by enumerating
# every history (as the counts that a policy may depend on). `win(n, s)` is the chance
# that arm 1 is pulled given pulls n and successes s of both arms.
exact_regret <- function(means, horizon, win) {
  gap <- max(means) - means
  states <- list(list(n = c(0, 0), s = c(0, 0), p = 1))
  total <- 0
  regret <- numeric(horizon)
  for (t in seq_len(horizon)) {
    after <- list()
    for (state in states) {
      p1 <- win(state$n, state$s)
      for (arm in 1:2) {
        p_arm <- if (arm == 1) p1 else 1 - p1
        total <- total + state$p * p_arm * gap[arm]
        for (reward in 0:1) {
          p <- state$p * p_arm * (if (reward) means[arm] else 1 - means[arm])
          if (p == 0) next
          n <- state$n
          s <- state$s
          n[arm] <- n[arm] + 1
          s[arm] <- s[arm] + reward
          key <- paste(n, s, collapse = " ")
          p <- p + if (is.null(after[[key]])) 0 else after[[key]]$p
          after[[key]] <- list(n = n, s = s, p = p)
        }
      }
    }
    states <- after
    regret[t] <- total
  }
  regret
}

# P(theta_1 > theta_2) for two Gaussian posteriors: a closed form.
win_gaussian <- function(prepulls, c) function(n, s) {
  if (n[1] < prepulls) return(1)
  if (n[2] < prepulls) return(0)
  m <- s / (n + 1)
  v <- c / (n + 1)
  stats::pnorm((m[1] - m[2]) / sqrt(sum(v)))
}

# The same for two Beta posteriors: an integral.
win_beta <- function(prior) function(n, s) {
  a <- prior[1] + s
  b <- prior[2] + n - s
  stats::integrate(function(x) {
    stats::dbeta(x, a[1], b[1]) * stats::pbeta(x, a[2], b[2])
  }, 0, 1, rel.tol = 1e-10)$value
}

# Plain R translations: play `rounds` rounds of a policy on Bernoulli arms, all runs side by side;
# returns the pulls, a row for each run. choose(n, s, t) has pulls and successes in such rows.
play_in_r <- function(means, rounds, choose, runs) {
  n <- s <- matrix(0, runs, length(means))
  for (t in seq_len(rounds)) {
    arm <- choose(n, s, t)
    at <- cbind(seq_len(runs), arm)
    n[at] <- n[at] + 1
    s[at] <- s[at] + (stats::runif(runs) < means[arm])
  }
  n
}

# The first arm that lacks a pull in each row, or else the one of the largest index
first_short <- function(short, index) ifelse(rowSums(short) > 0, largest(short + 0), largest(index))

choose_ts_gaussian <- function(b, c) function(n, s, t) {
  theta <- stats::rnorm(length(n), s / (n + 1), sqrt(c / (n + 1)))
  first_short(n < b, matrix(theta, nrow(n)))
}

choose_ts_beta <- function(a0, b0) function(n, s, t) {
  largest(matrix(stats::rbeta(length(n), a0 + s, b0 + n - s), nrow(n)))
}

choose_ucb1 <- function(n, s, t) {
  first_short(n == 0, ifelse(n == 0, 0, s / n + sqrt(2 * log(t - 1) / n)))
}

# Mean regret of a simulation at its last round, and its standard error.
final_regret <- function(sim) {
  last <- sim$regret[sim$t == max(sim$t)]
  c(mean = mean(last), se = stats::sd(last) / sqrt(length(last)))
}

# 700 rewards of three arms: bits for an odd i, numbers of [0, 1] for an even one
bits_or_shares <- function(i) {
  withr::with_seed(i, {
    if (i %% 2) matrix(rbinom(3 * 700, 1, rep(c(0.7, 0.55, 0.2), each = 700)), ncol = 3)
    else matrix(runif(3 * 700), ncol = 3)
  })
}
