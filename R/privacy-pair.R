# Dominating pairs: the two distributions that are hardest to tell apart under a guarantee.
# A pair is kept as the distribution of its privacy loss log(P / Q) under P: atoms `loss` with
# probabilities `p`, probability `infinite` of an infinite loss, and an independent Gaussian part
# N(mu^2 / 2, mu^2). All pairs here are symmetric: exchanging P and Q changes nothing. Pairs of
# several mechanisms, chosen adaptively too, compose by adding independent losses (Zhu, Dong and
# Wang 2022), which is what this form is for. It is exact, as the theorems of Kairouz, Oh and
# Viswanath (2015) and Murtagh and Vadhan (2018) are.

new_pair <- function(loss = 0, p = 1, infinite = 0, mu = 0) {
  list(loss = loss, p = p, infinite = infinite, mu = mu)
}

pair_gaussian <- function(mu) new_pair(mu = mu)

is_gaussian <- function(pair) identical(pair$loss, 0) && pair$infinite == 0

# The pair of (epsilon, delta)-DP for a group of k: k = 1 is randomised response that tells the
# truth with probability delta.
#
# The trade-off function f of one change is symmetric, and k changes have 1 - f' with
# 1 - f' = g(g(...g(x))), g = 1 - f (Dong, Roth and Su 2022, Theorem 2.14), g the least of 1,
# delta + a x and 1 - (1 - delta - x) / a, a = exp(epsilon). Its slopes are a^k, a^(k - 2),
# ..., a^-k: the losses. Below, w is 1 - y at the ends of the pieces, and so Q's share of the
# loss comes from the slope.
pair_point <- function(epsilon, delta, k = 1) {
  corner <- (1 - delta) * stats::plogis(-epsilon) # x, and 1 - y, where both slopes of g meet
  # i steps of x -> delta + a x from 0, and of w -> (w - delta) / a: geometric sums, written so that
  # nothing overflows but to 0 or to Inf
  climb <- function(i) {
    if (delta == 0 || i == 0) return(0)
    delta * if (epsilon == 0) i else exp((i - 1) * epsilon) * expm1(-i * epsilon) / expm1(-epsilon)
  }
  fall <- function(w, i) {
    pmax(0, w * exp(-i * epsilon) + delta * if (epsilon == 0) -i else expm1(-i * epsilon) / expm1(epsilon))
  }
  # g(...g(0)): as many steps up the steep side as begin at the corner or before it, then 1 - x down the other
  up <- if (delta == 0) k else if (epsilon == 0) 1 + corner / delta else
    1 + log1p((1 - delta) * tanh(epsilon / 2) / delta) / epsilon
  up <- min(k, floor(up))
  left <- fall(1 - climb(up), k - up)
  w <- pmin(left, c(left, fall(corner, seq_len(k) - 1), 0))
  keep_or_join(new_pair(loss = (k - 2 * (0:k)) * epsilon, p = w[-(k + 2)] - w[-1],
                        infinite = if (up == k) climb(k) else 1 - left))
}

# Equal losses become one atom, the larger loss of those that differ by rounding
keep_or_join <- function(pair) {
  o <- order(pair$loss)
  o <- o[pair$p[o] > 0]
  loss <- pair$loss[o]
  new <- diff(loss) > 1e-11 * (1 + abs(loss[-1]))
  group <- cumsum(c(TRUE, new))[seq_along(loss)]
  pair$loss <- loss[c(new, TRUE)[seq_along(loss)]]
  pair$p <- as.numeric(rowsum(pair$p[o], group, reorder = FALSE))
  pair
}

# Pairs side by side, or NULL if their losses make more sums than `most`
pair_compose <- function(pairs, most = 2^16) {
  Reduce(function(x, y) {
    if (is.null(x) || length(x$loss) * length(y$loss) > 16 * most) return(NULL)
    both <- keep_or_join(new_pair(
      loss = as.numeric(outer(x$loss, y$loss, `+`)), p = as.numeric(outer(x$p, y$p)),
      infinite = x$infinite + y$infinite - x$infinite * y$infinite,
      mu = gdp_compose(c(x$mu, y$mu))
    ))
    if (length(both$loss) > most) NULL else both
  }, pairs)
}

# The delta of a pair at one epsilon >= 0, and its epsilon at each delta
pair_delta <- function(pair, epsilon) {
  s <- epsilon - pair$loss
  if (pair$mu == 0) return(pair$infinite + sum(pair$p * pmax(-expm1(s), 0)))
  # E(1 - exp(s - L))+ of the Gaussian loss L; below 0 by symmetry
  tail <- gdp_delta(rep(pair$mu, length(s)), abs(s))
  below <- s < 0
  tail[below] <- -expm1(s[below]) + exp(s[below]) * tail[below]
  pair$infinite + sum(pair$p * tail)
}

pair_epsilon <- function(pair, delta) {
  if (pair$mu == 0) return(atoms_epsilon(delta, pair))
  vapply(delta, function(delta) {
    if (delta >= 1 || pair_delta(pair, 0) <= delta) return(0)
    if (delta <= pair$infinite) return(Inf)
    # Upper ends only: what is returned has at most this delta.
    upper <- 1
    while (upper < 1e300 && pair_delta(pair, upper) > delta) upper <- 2 * upper
    lower <- if (upper == 1) 0 else upper / 2
    while (upper - lower > 1e-13 * upper) {
      middle <- (lower + upper) / 2
      if (middle <= lower || middle >= upper) break
      if (pair_delta(pair, middle) <= delta) upper <- middle else lower <- middle
    }
    upper
  }, 0)
}

# Without a Gaussian part: delta(epsilon) is the largest, over m, of
# infinite + P(the m largest losses) - exp(epsilon) Q(them); each is solved for epsilon.
atoms_epsilon <- function(delta, pair) {
  if (length(pair$loss) == 0) return(ifelse(delta >= 1, 0, Inf)) # all is told
  o <- order(-pair$loss)
  # log of Q's cumulative probabilities, without underflow
  log_q <- log(pair$p[o]) - pair$loss[o]
  most <- max(log_q)
  log_q <- if (most - min(log_q) < 600) log(cumsum(exp(log_q - most))) + most else
    Reduce(function(x, y) max(x, y) + log1p(exp(-abs(x - y))), log_q, accumulate = TRUE)
  p <- cumsum(pair$p[o])
  vapply(delta, function(delta) {
    if (delta >= 1) return(0)
    if (delta < pair$infinite) return(Inf)
    room <- pair$infinite - delta + p
    open <- room > 0
    if (any(open)) max(0, log(room[open]) - log_q[open]) else 0
  }, 0)
}
