# Truths for the sequence accountant that share no code with it.

# H(d, g) by a dense sweep and R's optimiser.
bit_loss_r <- function(alpha, d, g) {
  value <- function(x, s) {
    up <- alpha * pnorm(x + s, log.p = TRUE) + (1 - alpha) * pnorm(x, log.p = TRUE) - g
    down <- alpha * pnorm(-x - s, log.p = TRUE) + (1 - alpha) * pnorm(-x, log.p = TRUE)
    m <- pmax(up, down)
    m + log(exp(up - m) + exp(down - m))
  }
  reach <- (alpha + 1) * d + 6 + sqrt(2 * g / (alpha * (alpha - 1))) / d
  x <- seq(-reach, reach, length.out = 1000)
  best <- vapply(c(d, -d), function(s) {
    at <- which.max(value(x, s))
    optimize(value, x[pmin(1000, pmax(1, at + c(-1, 1)))], s = s, maximum = TRUE,
             tol = 1e-9)$objective
  }, 0)
  max(0, best)
}

# The recursion as the theory states it.
sequence_r <- function(alpha, rounds, n0, c) {
  w <- numeric(rounds + 1)
  d <- 1 / sqrt(c * (n0 + 0:rounds + 1))
  for (tau in seq_len(rounds)) {
    i <- seq_len(rounds - tau + 1)
    w[i] <- w[i] + mapply(bit_loss_r, alpha, d[i], w[i] - w[i + 1])
  }
  w[1] / (alpha - 1)
}

# All 2^T transcripts of two arms, one a row; 1 where arm 1 is pulled.
transcripts <- function(rounds) {
  outer(seq_len(2^rounds) - 1, seq_len(rounds) - 1, function(i, j) (i %/% 2^j) %% 2)
}

# The exact log-probability of each transcript under Gaussian Thompson sampling.
# `n` and `s`: counts and sums of both arms at the start; `rewards`: one row a
# round, one column an arm. The chance of arm 1 is Phi of the difference of the
# posterior means over its standard deviation.
transcript_distribution <- function(bits, n, s, rewards, c) {
  n1 <- n[1]
  n2 <- n[2]
  s1 <- s[1]
  s2 <- s[2]
  total <- 0
  for (t in seq_len(ncol(bits))) {
    pull <- bits[, t]
    x <- (s1 / (n1 + 1) - s2 / (n2 + 1)) / sqrt(c / (n1 + 1) + c / (n2 + 1))
    total <- total + pnorm(ifelse(pull == 1, x, -x), log.p = TRUE)
    s1 <- s1 + pull * rewards[t, 1]
    s2 <- s2 + (1 - pull) * rewards[t, 2]
    n1 <- n1 + pull
    n2 <- n2 + 1 - pull
  }
  total
}

renyi <- function(log_p, log_q, alpha) {
  z <- alpha * log_p + (1 - alpha) * log_q
  (max(z) + log(sum(exp(z - max(z))))) / (alpha - 1)
}

hockey_stick <- function(log_p, log_q, epsilon) {
  sum(pmax(0, exp(log_p) - exp(epsilon + log_q)))
}

# The same for any number of arms, by integration, one transcript at a time: log-probabilities of
# all transcripts, in one fixed order.
transcript_distribution_many <- function(rounds, n, s, rewards, c) {
  chances <- function(n, s) {
    mean <- s / (n + 1)
    sd <- sqrt(c / (n + 1))
    p <- vapply(seq_along(n), function(i) {
      integrate(function(x) {
        dnorm(x, mean[i], sd[i]) * Reduce(`*`, lapply(seq_along(n)[-i], function(j) {
          pnorm(x, mean[j], sd[j])
        }))
      }, mean[i] - 12 * sd[i], mean[i] + 12 * sd[i], rel.tol = 1e-9, subdivisions = 1000)$value
    }, 0)
    p / sum(p)
  }
  walk <- function(t, n, s, log_p) {
    if (t > rounds) return(log_p)
    p <- chances(n, s)
    unlist(lapply(seq_along(n), function(a) {
      after <- n
      sum <- s
      after[a] <- n[a] + 1
      sum[a] <- s[a] + rewards[t, a]
      walk(t + 1, after, sum, log_p + log(p[a]))
    }))
  }
  walk(1, n, s, 0)
}

# The recursion for delta(epsilon) of the direct accountant, exactly but for the positions, of which
# some stand for all: from below. Few rounds only.
delta_r <- function(epsilon, rounds, n0, c, at = seq(-7, 7, by = 0.1)) {
  if (rounds == 0) return(pmax(0, 1 - exp(epsilon)))
  x <- c(at, at)
  s <- rep(c(-1, 1) / sqrt(c * (n0 + 1)), each = length(at))
  after <- function(log_ratio, n) delta_r(outer(log_ratio, epsilon, function(l, e) e - l), rounds - 1, n, c, at)
  pull <- after(pnorm(x + s, log.p = TRUE) - pnorm(x, log.p = TRUE), n0 + 1)
  pass <- after(pnorm(-x - s, log.p = TRUE) - pnorm(-x, log.p = TRUE), n0)
  apply(matrix(pnorm(x + s) * pull + pnorm(-x - s) * pass, length(x)), 2, max)
}

# Two arms whose rewards come `delay` rounds late, a pull that is not resolved counting as 1/2, and of
# which some rounds offer one alone.
transcript_distribution_late <- function(bits, n, s, rewards, c, delay, offered) {
  total <- 0
  for (t in seq_len(ncol(bits))) {
    before <- seq_len(t - 1)
    known <- before[before + delay < t]
    open <- setdiff(before, known)
    mean <- function(arm) {
      own <- if (arm == 1) bits else 1 - bits
      sum <- s[arm] + own[, known, drop = FALSE] %*% rewards[known, arm] +
        rowSums(own[, open, drop = FALSE]) / 2
      list(n = n[arm] + rowSums(own[, before, drop = FALSE]), sum = drop(sum))
    }
    one <- mean(1)
    two <- mean(2)
    x <- (one$sum / (one$n + 1) - two$sum / (two$n + 1)) / sqrt(c / (one$n + 1) + c / (two$n + 1))
    if (!offered[t, 2]) x <- Inf
    if (!offered[t, 1]) x <- -Inf
    total <- total + pnorm(ifelse(bits[, t] == 1, x, -x), log.p = TRUE)
  }
  total
}
