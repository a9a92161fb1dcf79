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
# Releases of a moving average (src/moving_average.h): the sum of what they tell of the batches has
# the noise of independent parts that add up to `terms` variables in variance, a martingale, and
# `extra` times the last release's variable, which is no part of it. That one is bounded apart: with
# probability 1 - alpha / 10 no release j has one above sqrt(2 log(20 j (j + 1) / alpha)) sd's.
#
# A union over j of Chernoff intervals would need sizes that are fixed in advance, since it
# chooses x by n; batches that grow by who leads have no such sizes.

#' Confidence sequences for the means of arms
#'
#' @param rewards,releases,sum How many rewards and releases there are, and their noisy sum.
#' @param terms,extra For releases of a moving average; see above.
#' @param noise Of one release: `list(kind = "Laplace" or "Gaussian", scale =)`, scale 0: none.
#' @returns A list of `mean`, `lower`, `upper`; NA without releases.
#' @noRd
mean_intervals <- function(rewards, releases, sum, noise, level, terms = releases,
                           extra = 0 * releases) {
  x <- mixture_points(noise)
  limits <- vapply(seq_along(rewards), function(i) {
    n <- rewards[i]
    j <- releases[i]
    if (is.na(n) || n == 0) return(c(NA_real_, NA_real_))
    alpha <- 1 - level
    own <- 0
    if (extra[i] > 0) {
      own <- extra[i] * noise$scale * sqrt(2 * log(20 * j * (j + 1) / alpha))
      alpha <- 0.9 * alpha
    }
    c(lower_limit(n, j, terms[i], sum[i] - own, noise, x, alpha),
      # Upwards in the rewards is downwards in what they lack of 1.
      1 - lower_limit(n, j, terms[i], n - sum[i] - own, noise, x, alpha))
  }, numeric(2))
  mean <- pmin(pmax(sum / rewards, 0), 1)
  list(mean = ifelse(rewards > 0, mean, NA_real_), lower = limits[1, ], upper = limits[2, ])
}

#' The x > 0 of the mixture and their weights: geometric, with heavy tails around the x that is
#' best for some 200 rewards
#' @noRd
mixture_points <- function(noise) {
  most <- 16
  if (noise$kind == "Laplace" && noise$scale > 0) most <- min(most, 0.98 / noise$scale)
  x <- most * 1.15^-(0:119)
  best <- sqrt(2 * log(40) / (50 + 10 * noise$scale^2))
  weight <- 1 / (1 + (log(x / best) / 2)^2)
  list(x = x, log_weight = log(weight / sum(weight)))
}

#' The log-mgf of one release's noise at x. The rounding of the exact Gaussian moves it by at most
#' half a step of the grid; discrete Laplace noise lies below continuous noise of its rate, since
#' (cosh(x) - 1) / x^2 grows, and the rate was taken down to 24 bits.
#' @noRd
noise_log_mgf <- function(x, noise, j = 1, terms = j) {
  scale <- noise$scale * (1 + 2^-22)
  if (scale == 0) return(0 * x)
  if (noise$kind == "Laplace") return(-terms * log1p(-(x * scale)^2))
  # Rounding to the grid moves a release by few steps, and a moving average by up to 100 more.
  terms * (x * scale)^2 / 2 + j * x * 2^-12
}

lower_limit <- function(n, j, terms, sum, noise, points, alpha) {
  x <- points$x
  fixed <- points$log_weight + x * sum - noise_log_mgf(x, noise, j, terms)
  enough <- log(2 / alpha)
  excess <- function(m) {
    parts <- fixed - n * log1p(m * expm1(x))
    top <- max(parts)
    top + log(base::sum(exp(parts - top))) - enough
  }
  if (excess(0) <= 0) return(0)
  if (excess(1) >= 0) return(1)
  root <- stats::uniroot(excess, c(0, 1), tol = 1e-10)$root
  max(0, root - 2^-20) # rewards were rounded to a grid, and the root was found
}
