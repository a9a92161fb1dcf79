# Dominating pairs: the two distributions that are hardest to tell apart under a guarantee. A pair is kept as
# the distribution of its privacy loss log(P / Q) under P: atoms `loss` with probabilities `p`, probability
# `infinite` of an infinite loss, and an independent Gaussian part N(mu^2 / 2, mu^2). All pairs here are
# symmetric: exchanging P and Q changes nothing. Pairs of several mechanisms, chosen adaptively too, compose
# by adding independent losses (Zhu, Dong and Wang 2022), which is what this form is for. It is exact, as the
# theorems of Kairouz, Oh and Viswanath (2015) and Murtagh and Vadhan (2018) are.

new_pair <- function(loss = 0, p = 1, infinite = 0, mu = 0) {
  list(loss = loss, p = p, infinite = infinite, mu = mu)
}

pair_gaussian <- function(mu) new_pair(mu = mu)

is_gaussian <- function(pair) identical(pair$loss, 0) && pair$infinite == 0

# The pair of (epsilon, delta)-DP for a group of k: k = 1 is randomised response that tells the
# truth with probability delta.
#
# The trade-off function f of one change is symmetric, and k changes have 1 - f' with 1 - f' = g(g(...g(x))),
# g = 1 - f (Dong, Roth and Su 2022, Theorem 2.14), g the least of 1, delta + a x and 1 - (1 - delta - x) / a,
# a = exp(epsilon). Its slopes are a^k, a^(k - 2), ..., a^-k: the losses. Below, w is 1 - y at the ends of the
# pieces, and so Q's share of the loss comes from the slope.
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

# The pair of several mechanisms together. They are added two by two, so that few roundings to knots follow
# each other; equal sums are computed once.
pair_compose <- function(pairs) compose_once(list(pairs), pair_sum)

pair_sum <- function(pairs) {
  pairs <- unname(pairs)[order(vapply(pairs, rlang::hash, ""))]
  # The time grows with the square of the knots. More than 16 parts with different sums have more than 2^16.
  many <- length(pairs) > 16
  exact <- if (many) 2^12 else 2^16
  knots <- if (many) 1000 else 2000
  while (length(pairs) > 1) {
    id <- vapply(pairs, rlang::hash, "")
    second <- 2 * seq_len(length(pairs) %/% 2)
    two <- paste(id[second - 1], id[second])
    sums <- lapply(second[!duplicated(two)], function(i) pair_add(pairs[[i - 1]], pairs[[i]], exact, knots))
    pairs <- c(sums[match(two, unique(two))], pairs[-seq_len(2 * length(two))])
  }
  whole <- pairs[[1]]
  # With a Gaussian part each loss costs an integral.
  if (whole$mu > 0 && length(whole$loss) > 2000) pair_on_knots(whole, knots = 2000) else whole
}

# The pair of k releases of one pair, by squares
pair_power <- function(pair, k) {
  if (is_gaussian(pair)) pair_gaussian(sqrt(k) * pair$mu) else compose_once(list(pair, k), pair_times)
}

pair_times <- function(pair, k) {
  whole <- NULL
  repeat {
    if (k %% 2 == 1) whole <- if (is.null(whole)) pair else pair_add(whole, pair, 2^16, 2000)
    k <- k %/% 2
    if (k == 0) return(whole)
    pair <- pair_add(pair, pair, 2^16, 2000)
  }
}

# The last compositions: several accountants ask whether there is a pair, and one of them for it. Parts may
# be compositions themselves.
compose_once <- function(args, add) {
  key <- rlang::hash(args)
  if (is.null(composed[[key]])) {
    whole <- do.call(add, args)
    if (length(composed) == 8) rm(list = ls(composed), envir = composed)
    composed[[key]] <- whole
  }
  composed[[key]]
}

composed <- new.env(parent = emptyenv())

# `exact`: at most so many sums of losses are kept as they are, more if many of them are equal.
pair_add <- function(x, y, exact, knots) {
  sums <- as.double(length(x$loss)) * length(y$loss)
  if (sums > exact && (sums > 2^20 || !sums_coincide(x$loss, y$loss))) return(pair_on_knots(x, y, knots))
  keep_or_join(pair_beside(x, y, as.numeric(outer(x$loss, y$loss, `+`)), as.numeric(outer(x$p, y$p))))
}

# Two pairs together, whose sums of losses are known
pair_beside <- function(x, y, loss, p) {
  new_pair(loss, p, x$infinite + y$infinite - x$infinite * y$infinite, gdp_compose(c(x$mu, y$mu)))
}

# Are many sums of losses equal, as those of equal mechanisms are? By a sample of them
sums_coincide <- function(x, y) {
  some <- function(x) x[unique(round(seq(1, length(x), length.out = 64)))]
  sums <- sort(outer(some(x), some(y), `+`))
  sum(diff(sums) > 1e-11 * (1 + abs(sums[-1]))) < length(sums) / 4
}

# The sum of two losses, rounded to knots so that it dominates the exact one. What lies between the knots
# a < b, with probability P under the one and Q under the other distribution, is split into atoms at a and b
# with probabilities p_a + p_b = P and p_a exp(-a) + p_b exp(-b) = Q. Forgetting which of the two it was gives
# the exact outcome back, so the exact pair is at least as hard to tell apart, alone and in every composition
# (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022). The mean of exp(-loss) is kept, so that the error
# goes with the squares of the distances of knots.
#
# Floating point: all that is added is positive, so each sum is off by at most its number of terms, below
# 2^22, times 2^-53 of itself, however small it is. (An FFT errs by 2^-53 of the largest probability in each
# of many cells: too much for a small delta.) Nothing is subtracted but 1 - r; 1e-9 is added for both. Losses
# are off by less than 1e-15 of themselves. What underflows is below 1e-300 and becomes the largest loss.
pair_on_knots <- function(x, y = new_pair(), knots) {
  sizes <- as.double(c(length(x$loss), length(y$loss)))
  if (min(sizes) > 1 && prod(sizes) > knots^2) {
    if (length(x$loss) > knots) x <- pair_on_knots(x, knots = knots)
    if (length(y$loss) > knots) y <- pair_on_knots(y, knots = knots)
  }
  knots <- loss_knots(x, y, knots)
  atoms <- function(pair) list(pair$loss, pair$p, exp(log(pair$p) - pair$loss))
  cells <- .Call(C_losses_add, atoms(x), atoms(y), knots)
  a <- knots[-length(knots)]
  p <- cells[[1]] * (1 + 1e-9)
  r <- exp(log(cells[[2]]) - log(cells[[1]]) + a) # Q exp(a) / P, from exp(a - b) to 1
  up <- p * pmin(pmax(1 + 1e-9 - r, 0) / -expm1(a - knots[-1]), 1)
  up[p == 0] <- 0
  p <- c(p - up, 1e-300) + c(0, up)
  pair_beside(x, y, (knots + 1e-15 * abs(knots))[p > 0], p[p > 0])
}

# `n` knots for the sum of two losses, at distances that grow with that from the middle of the sum
loss_knots <- function(x, y, n) {
  at <- function(pair, level) pair$loss[which(cumsum(pair$p) >= level * sum(pair$p))[1]]
  sd <- function(pair) {
    p <- pair$p / sum(pair$p)
    sqrt(sum(p * (pair$loss - sum(p * pair$loss))^2))
  }
  middle <- at(x, 0.5) + at(y, 0.5)
  bulk <- sqrt((at(x, 0.9) - at(x, 0.1))^2 + (at(y, 0.9) - at(y, 0.1))^2)
  ends <- c(min(x$loss) + min(y$loss), max(x$loss) + max(y$loss))
  ends <- ends + c(-1, 1) * 1e-14 * (1 + abs(ends))
  # Where most losses are equal, the bulk has no width.
  width <- max(bulk, sd(x) / 1000, sd(y) / 1000, 1e-9 * diff(ends)) / 8
  u <- asinh((ends - middle) / width)
  knots <- middle + width * sinh(seq(u[1], u[2], length.out = n))
  knots[c(1, n)] <- ends
  knots
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
      if (pair_delta(pair, middle) <= delta) upper <- middle else lower <- middle
    }
    upper
  }, 0)
}

# Without a Gaussian part: delta(epsilon) is the largest, over m, of
# infinite + P(the m largest losses) - exp(epsilon) Q(them); each is solved for epsilon.
atoms_epsilon <- function(delta, pair) {
  if (length(pair$loss) == 0) return(ifelse(delta >= 1, 0, Inf)) # nothing is left to tell apart
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
    excess <- pair$infinite - delta + p
    open <- excess > 0
    if (any(open)) max(0, log(excess[open]) - log_q[open]) else 0
  }, 0)
}
