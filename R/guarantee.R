# A guarantee is data: what a policy promises about the arms it publishes,
# attached to the policy value, so that accountants need no list of policies.
# `kind` says which accountants apply:
#   none          nothing is promised
#   pure          epsilon-DP at every horizon
#   gdp           mu-GDP at every horizon
#   gdp_rounds    Gaussian Thompson sampling: GDP in each round, composed
#                 over the horizon (prepulls, variance_scale)
#   gdp_draws     DP-TS-UCB: GDP that depends on the horizon (alpha, c0)
#   approx        releases with pure guarantees that add up to an (epsilon, delta)
#                 one: release j costs a reward (j every)^-power, and the next one
#                 comes after `every` more pulls of the arm
# guarantee_mu() and guarantee_epsilon() are what holds at a horizon.
# Every guarantee is for streams that differ in one reward, replaced by any
# other value of [0, 1].

#' @noRd
new_guarantee <- function(kind, text, ...) {
  structure(list(kind = kind, ..., text = text), class = "dpts_guarantee")
}

guarantee_none <- function() new_guarantee("none", "none")

guarantee_pure <- function(epsilon) {
  if (epsilon == Inf) return(guarantee_none())
  new_guarantee("pure", sprintf("%s-DP", format(epsilon)), epsilon = epsilon)
}

guarantee_gdp <- function(mu) {
  if (mu == Inf) return(guarantee_none())
  new_guarantee("gdp", sprintf("%s-GDP", format(signif(mu, 5))), mu = mu)
}

guarantee_gdp_rounds <- function(prepulls, variance_scale) {
  # Ou et al., Lemma 5 with max(b, 1) for b: an arm that holds the changed
  # reward holds at least one reward.
  mu <- 1 / sqrt(variance_scale * (max(prepulls, 1) + 1))
  new_guarantee("gdp_rounds", sprintf("%s-GDP per round", format(signif(mu, 5))),
                mu = mu, prepulls = prepulls, variance_scale = variance_scale)
}

guarantee_gdp_draws <- function(alpha, c0) {
  new_guarantee("gdp_draws", "GDP, depending on the horizon", alpha = alpha, c0 = c0)
}

guarantee_approx <- function(every, power) {
  new_guarantee("approx", "(epsilon, delta)-DP, depending on the horizon",
                every = every, power = power)
}

#' The mu of GDP that holds for `horizon` rounds on `arms` arms; Inf where there is none
#' @noRd
guarantee_mu <- function(guarantee, horizon, arms = 2) {
  switch(
    guarantee$kind,
    gdp = guarantee$mu,
    gdp_rounds = guarantee$mu * sqrt(max(horizon - arms * guarantee$prepulls, 0)),
    gdp_draws = {
      log_t <- log(horizon)
      alpha <- guarantee$alpha
      phi <- guarantee$c0 * horizon^((1 - alpha) / 2) * log_t^((3 - alpha) / 2)
      if (log_t > 0) sqrt(min(floor(phi), horizon) / log_t^alpha) else 0
    },
    pure = pure_mu(guarantee$epsilon),
    Inf
  )
}

#' The epsilon of (epsilon, delta)-DP for `horizon` rounds, of an `approx` guarantee: Kairouz,
#' Oh and Viswanath (2015), Theorem 3.5, or the plain sum, whichever is less
#' @noRd
guarantee_epsilon_approx <- function(guarantee, horizon, delta) {
  releases <- floor(horizon / guarantee$every)
  if (releases < 1) return(rep(0, length(delta)))
  # The first million terms one by one; then sums of decreasing terms lie below
  # their integrals.
  n <- min(releases, 1e6)
  e <- (seq_len(n) * guarantee$every)^-guarantee$power
  p <- guarantee$power
  tail <- function(power) {
    if (releases <= n) return(0)
    area <- if (power == 1) log(releases / n) else
      (releases^(1 - power) - n^(1 - power)) / (1 - power)
    guarantee$every^-power * area
  }
  sum_1 <- sum(e) + tail(p)
  sum_2 <- sum(e^2) + tail(2 * p)
  drift <- sum(e * tanh(e / 2)) + tail(2 * p) / 2 # tanh(x) <= x
  pmin(sum_1, drift + sqrt(2 * log(1 / delta) * sum_2))
}

#' The least mu for which epsilon-DP is mu-GDP, and the other way round: the largest
#' epsilon such that every epsilon-DP policy is mu-GDP. Both are exact (Dong, Roth and
#' Su 2022): of the two pairs of lines that bound the trade-offs, the GDP curve touches
#' the corner of epsilon-DP's.
#' @noRd
pure_mu <- function(epsilon) {
  # log(1 + exp(epsilon)) without overflow
  -2 * stats::qnorm(-(epsilon + log1p(exp(-epsilon))), log.p = TRUE)
}

#' @rdname pure_mu
#' @noRd
mu_pure <- function(mu) {
  stats::pnorm(mu / 2, log.p = TRUE) - stats::pnorm(-mu / 2, log.p = TRUE)
}

#' @export
format.dpts_guarantee <- function(x, ...) x$text

#' @export
print.dpts_guarantee <- function(x, ...) {
  cat("<guarantee> ", format(x), "\n", sep = "")
  invisible(x)
}
