# A guarantee is data: what a policy promises about the arms it publishes,
# attached to the policy value, so that accountants need no list of policies.
# `kind` says which accountants apply:
#   none          nothing is promised
#   pure          epsilon-DP at every horizon
#   gdp           mu-GDP at every horizon; mu may be a function of (horizon, arms)
#   gdp_rounds    Gaussian Thompson sampling: GDP in each round, composed
#                 over the horizon (prepulls, variance_scale)
#   approx        a function of (horizon, arms, delta) giving epsilon
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

#' @export
format.dpts_guarantee <- function(x, ...) x$text

#' @export
print.dpts_guarantee <- function(x, ...) {
  cat("<guarantee> ", format(x), "\n", sep = "")
  invisible(x)
}
