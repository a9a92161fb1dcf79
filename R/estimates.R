# Intervals for a mean from noisy sums that hold at all times together.
#
# After j releases of an arm the n rewards in them have the noisy sum Y. For a reward of [0, 1] with
# mean m, E exp(x (r - m)) is at most that of a Bernoulli variable (convexity), so with a
# noise variable's log-mgf at most noise(x),
#   M(x) = exp(x Y - n log(1 - m + m e^x) - j noise(x))
# is a supermartingale over the arm's own pulls that starts at 1, whatever rule decided to pull, how
# large batches are and when one looks: sizes are decided before their rewards are seen. So is
# a mixture of M(x) over fixed x > 0, and by Ville's inequality it stays below 2 / alpha for
# ever with probability 1 - alpha / 2. It falls in m, so the m at which it is 2 / alpha is a lower
# limit; x < 0 gives the upper one. (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021.)
#
# A union over j of Chernoff intervals would need sizes that are fixed in advance, since it
# chooses x by n; batches that grow by who leads have no such sizes.
#
# Some sums have noise that later ones do not share: all of a tree's, and a part of a moving average's
# (src/noise_moving_average.h), where the noise of the sum of j batches is (1 - c) (Z_1 + ... + Z_j) + c Z_j.
# It is no martingale, and is bounded apart: with probability 1 - alpha / 10 no sum j = 1, 2, ... has more of
# it than it has with probability alpha / (20 j (j + 1)) to either side.

# Confidence sequences for the means of arms
#
# `rewards`, `sum`: How many rewards there are, and their noisy sum.
# `noise`: `list(kind = "Laplace" or "Gaussian", scale =)`, scale 0: none.
# `terms`: How many variables of the noise a sum shares with later ones, in variance for a Gaussian.
# `apart`: A bound of each sum's own noise, 0 without any.
# `steps`: Releases that were rounded to the grid of an agent.
# `squares`: The noisy sums of squares about 1/2, list(sum, scale, terms), `scale` and `terms` of their noise.
#   Half of the capital is then on bets that know the spread, by the inequality in src/policy_evidence.h: for
#   a centre c and x c < 1, exp(x (Y - n c) - psi (Q + (1 - 2 c) Y + n (c^2 - 1/4)) - n log(1 + x (m - c)) -
#   noise) with psi = (-log(1 - x c) - x c) / c^2 is a supermartingale, and so is a mixture over centres.
# Returns A list of `mean`, `lower`, `upper`; NA without rewards.
intervals <- function(rewards, sum, noise, terms, apart, level, steps = 0 * rewards, squares = NULL) {
  known <- which(rewards > 0)
  out <- list(mean = rep(NA_real_, length(rewards)))
  out$lower <- out$upper <- out$mean
  n <- rewards[known]
  y <- sum[known]
  for (name in c("sum", "terms")) squares[[name]] <- squares[[name]][known]
  alpha <- (1 - level) * ifelse(apart[known] > 0, 0.9, 1)
  limit <- function(y) {
    lower_limit(n, y - apart[known], noise, terms[known], steps[known], alpha, squares)
  }
  out$mean[known] <- pmin(pmax(y / n, 0), 1)
  out$lower[known] <- limit(y)
  # Upwards in the rewards is downwards in what they lack of 1.
  out$upper[known] <- 1 - limit(n - y)
  out
}

# The x > 0 of the mixture and their weights: geometric, with heavy tails around the x that is
# best for some 200 rewards
mixture_points <- function(noise) {
  most <- 16
  if (noise$kind == "Laplace" && noise$scale > 0) most <- min(most, 0.98 / noise$scale)
  x <- most * 1.15^-(0:119)
  best <- sqrt(2 * log(40) / (50 + 10 * noise$scale^2))
  weight <- 1 / (1 + (log(x / best) / 2)^2)
  list(x = x, log_weight = log(weight / sum(weight)))
}

# What a bet adds for each reward in the sum, for its square and for each person; where the mean is m it is
# divided by 1 + grow m for each person
mixture_bets <- function(noise, squares) {
  points <- mixture_points(noise)
  none <- 0 * points$x
  linear <- list(log_weight = points$log_weight, sum = points$x, squares = none, each = none,
                 grow = expm1(points$x))
  if (is.null(squares)) return(linear)
  at <- expand.grid(c = 1:9 / 10, x = 1.3^-(0:49))
  c <- at$c
  x <- at$x * pmin(16, 0.95 / c)
  u <- x * c
  psi <- ifelse(u < 1e-3, x^2 * (1 / 2 + u / 3 + u^2 / 4), (-log1p(-u) - u) / c^2)
  own <- list(log_weight = -log1p((log(x * sqrt(1 + noise$scale^2)) / 2)^2), sum = x - psi * (1 - 2 * c),
              squares = psi, each = -u - psi * (c^2 - 1 / 4) - log1p(-u), grow = x / (1 - u))
  most <- if (noise$kind == "Laplace") 0.98 else Inf
  own <- lapply(own, `[`, own$sum >= 0 & own$sum * noise$scale < most & psi * squares$scale < most)
  own$log_weight <- own$log_weight - log(sum(exp(own$log_weight)))
  both <- Map(c, linear, own)
  both$log_weight <- both$log_weight + log(0.5)
  both
}

# The log-mgf of the noise of so many releases at x, a row for each x. Rounding to an agent's grid
# moves a release by less than two steps of it; discrete Laplace noise lies below continuous noise of
# its rate, since (cosh(x) - 1) / x^2 grows, and the rate was taken down to 24 bits.
noise_log_mgf <- function(x, noise, terms = 1, steps = terms) {
  scale <- noise$scale * (1 + 2^-22)
  if (scale == 0) return(0 * outer(x, terms))
  if (noise$kind == "Laplace") return(outer(-log1p(-(x * scale)^2), terms))
  outer((x * scale)^2 / 2, terms) + outer(x * 2^-16, steps)
}

# The m at which the mixture comes to 2 / alpha, one for each arm. Its logarithm is convex and falls
# in m, so Newton's steps from the left never pass it. They start where a part alone comes to 2 / alpha,
# near by; no part is larger from there on.
lower_limit <- function(n, sum, noise, terms, steps, alpha, squares = NULL) {
  bets <- mixture_bets(noise, squares)
  grow <- bets$grow
  one <- function(at) {
    fixed <- bets$log_weight + outer(bets$sum, sum[at]) - noise_log_mgf(bets$sum, noise, terms[at], steps[at])
    if (!is.null(squares)) {
      law <- list(kind = noise$kind, scale = squares$scale)
      fixed <- fixed + outer(bets$each, n[at]) - outer(bets$squares, squares$sum[at]) -
        noise_log_mgf(bets$squares, law, squares$terms[at], steps[at])
    }
    goal <- log(2 / alpha[at])
    each <- function(v) rep(v, each = length(grow))
    alone <- expm1((fixed - each(goal)) / each(n[at])) / grow
    m <- do.call(pmax, c(list(0), asplit(alone, 1)))
    open <- which(m < 1)
    for (i in 1:100) {
      if (length(open) == 0) break
      times <- each(n[at[open]])
      odds <- 1 + outer(grow, m[open])
      parts <- exp(fixed[, open, drop = FALSE] - times * log(odds))
      total <- colSums(parts)
      step <- (log(total) - goal[open]) * total / colSums(parts * times * grow / odds)
      step[is.na(step) | step <= 0] <- 0 # below 2 / alpha at 0 already; NA: so far that it is 0 as a double
      m[open] <- m[open] + step
      open <- open[step >= 1e-9 & m[open] < 1]
    }
    m
  }
  # In pieces that fit into memory
  at <- seq_along(n)
  m <- unlist(lapply(split(at, ceiling(at / 1000)), one), use.names = FALSE)
  pmin(pmax(m - 2^-20, 0), 1) # an agent's rewards are rounded to a grid
}

# The chance that is left for the noise of sum j alone, to either side
own_risk <- function(j, level) (1 - level) / (20 * pmax(j, 1) * (j + 1))

# What noise exceeds with no more than the given chance: of a Gaussian variable, and of a sum of
# Laplace variables (Chernoff)
gaussian_tail <- function(sd, risk) sd * sqrt(pmax(-2 * log(risk), 0))

laplace_tail <- function(terms, scale, risk) {
  # The least over x of (terms log-mgf(x) - log(risk)) / x; every x gives a bound.
  x <- c(0.02, seq(0.05, 0.95, 0.05), 0.98)
  bounds <- outer(-log1p(-x^2), terms) - rep(log(risk), each = length(x))
  do.call(pmin, as.list(as.data.frame(t(bounds / x)))) * scale
}
