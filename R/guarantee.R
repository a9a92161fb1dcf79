# A guarantee is data: what a policy promises about the arms it publishes,
# attached to the policy value, so that accountants need no list of policies.
# `kind` says which accountants apply:
#   none          nothing is promised
#   pure          epsilon-DP at every horizon
#   gdp           mu-GDP at every horizon; mu may be a function of (horizon, arms)
#   gdp_rounds    Gaussian Thompson sampling: GDP in each round, composed
#                 over the horizon (prepulls, variance_scale)
#   approx        (epsilon, delta)-DP, epsilon a function of (horizon, arms, delta)
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

#' A guarantee that depends on the run: its function holds constants only and looks in the
#' package for the rest, so that policies made by equal calls are equal
#' @noRd
guarantee_function <- function(args, body) {
  rlang::new_function(stats::setNames(rep(list(quote(expr = )), length(args)), args), body,
                      env = topenv())
}

guarantee_gdp_draws <- function(alpha, c0) {
  new_guarantee("gdp", "GDP that depends on the horizon",
                mu = guarantee_function(c("horizon", "arms"),
                                        bquote(draws_mu(horizon, .(alpha), .(c0)))))
}

#' DP-TS-UCB: floor(phi) draws of the posterior of one reward, and no more than there are
#' rounds
#' @noRd
draws_mu <- function(horizon, alpha, c0) {
  log_t <- log(horizon)
  draws <- pmin(dp_ts_ucb_draws(alpha, c0, horizon), horizon)
  ifelse(log_t > 0, sqrt(draws / log_t^alpha), 0)
}

guarantee_releases <- function(every, power) {
  new_guarantee("approx", "(epsilon, delta)-DP that depends on the horizon",
                epsilon = guarantee_function(
                  c("horizon", "arms", "delta"),
                  bquote(releases_epsilon(horizon, delta, .(every), .(power)))
                ))
}

#' Releases of pure DP that add up: release j costs a reward e_j = (j every)^-power and comes
#' with the arm's pull j every. Kairouz, Oh and Viswanath (2015), Theorem 3.5, or the plain
#' sum, whichever is less.
#' @noRd
releases_epsilon <- function(horizon, delta, every, power) {
  releases <- floor(horizon / every)
  if (releases < 1) return(rep(0, length(delta)))
  # The first terms one by one; the sum of the others lies below its integral.
  n <- min(releases, 1e5)
  e <- (seq_len(n) * every)^-power
  rest <- function(power) {
    area <- if (power == 1) log(releases / n) else
      (releases^(1 - power) - n^(1 - power)) / (1 - power)
    if (releases > n) every^-power * area else 0
  }
  squares <- sum(e^2) + rest(2 * power)
  drift <- sum(e * tanh(e / 2)) + rest(2 * power) / 2 # tanh(x) <= x
  epsilon <- pmin(sum(e) + rest(power), drift + sqrt(2 * log(1 / delta) * squares))
  ifelse(delta == 1, 0, epsilon)
}

# ---- one currency: what each kind of guarantee is worth in another ------------------------

#' The least mu for which epsilon-DP is mu-GDP, and the largest epsilon for which epsilon-DP
#' is mu-GDP (Dong, Roth and Su 2022): the GDP curve touches the corner of epsilon-DP's
#' at type I error Phi(-mu / 2) = 1 / (1 + exp(epsilon)).
#' @noRd
pure_mu <- function(epsilon) {
  # log(1 + exp(epsilon)) without overflow
  -2 * stats::qnorm(-(epsilon + log1p(exp(-epsilon))), log.p = TRUE)
}

#' @noRd
mu_pure <- function(mu) {
  stats::pnorm(mu / 2, log.p = TRUE) - stats::pnorm(-mu / 2, log.p = TRUE)
}

#' The exact epsilon' at delta of an epsilon-DP release, that of randomised response, and
#' the largest epsilon such that epsilon-DP is (epsilon', delta)-DP
#' @noRd
pure_curve <- function(epsilon, delta) {
  # ln(exp(epsilon) - delta (1 + exp(epsilon))) = epsilon + ln(1 - delta (1 + exp(-epsilon)))
  inside <- pmax(1 - delta * (1 + exp(-epsilon)), 0)
  pmax(epsilon + log(inside), 0)
}

#' @noRd
curve_pure <- function(epsilon, delta) {
  epsilon + log1p(delta * exp(-epsilon)) - log1p(-delta)
}

#' The most epsilon of pure DP, and the most mu of GDP, that a budget has room for; 0 if none
#' @noRd
most_epsilon <- function(budget) {
  switch(budget$kind, pure = budget$epsilon, gdp = mu_pure(budget$mu),
         approx = curve_pure(budget$epsilon, budget$delta))
}

#' @noRd
most_mu <- function(budget) {
  switch(budget$kind, pure = 0, gdp = budget$mu,
         approx = if (budget$delta > 0) gdp_mu(budget$epsilon, budget$delta) else 0)
}

#' Is a guarantee inside a budget, over a horizon? Up to rounding.
#' @noRd
inside_budget <- function(guarantee, budget, horizon, arms) {
  slack <- 1 + 1e-9
  by_mu <- function() guarantee_mu(guarantee, horizon, arms) <= most_mu(budget) * slack
  at_delta <- function(accountant) {
    budget$kind == "approx" &&
      account(guarantee, accountant, horizon, arms, budget$delta) <= budget$epsilon * slack
  }
  switch(
    guarantee$kind,
    none = FALSE,
    pure = guarantee$epsilon <= most_epsilon(budget) * slack,
    gdp = by_mu(),
    gdp_rounds = by_mu() || (budget$kind == "approx" && budget$delta > 0 && at_delta("sequence")),
    approx = at_delta("advanced"),
    FALSE
  )
}

#' @export
format.dpts_guarantee <- function(x, ...) x$text

#' @export
print.dpts_guarantee <- function(x, ...) {
  cat("<guarantee> ", format(x), "\n", sep = "")
  invisible(x)
}
