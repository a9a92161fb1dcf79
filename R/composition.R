#' Composition of (epsilon, delta) guarantees
#'
#' The guarantee of `rounds` rounds of (epsilon, delta)-DP together: `basic_composition()` adds
#' the epsilons up; `advanced_composition()` trades a little more delta for an epsilon that
#' grows with the square root of the rounds, where epsilon is small.
#'
#' @details
#' `advanced_composition()` is Dwork, Rothblum and Vadhan (2010): over T rounds the whole is
#' (epsilon', T delta + slack)-DP with
#'
#' epsilon' = epsilon sqrt(2 T log(1 / slack)) + T epsilon (exp(epsilon) - 1).
#'
#' `basic_composition()` is (T epsilon, T delta)-DP. For epsilon above about 0.7 the basic
#' one is always the smaller; use `pmin()` of the two. Neither is as sharp as composing
#' Gaussian DP by [gdp_compose()].
#'
#' @section The statements of Ou, Avella Medina and Cummings (2024):
#' Theorem 7: with N arms a round of Gaussian Thompson sampling is
#' (5 sqrt(log(2 / d)), (N - 1) d)-DP for d in (0, 1). Corollary 1 for T rounds is
#' `advanced_composition(5 * sqrt(log(2 / d)), (N - 1) * d, T, slack)`. Its epsilon is
#' astronomical, since 5 sqrt(log(2 / d)) exceeds 4 for every d. The lemma it rests on is stated
#' for epsilon below 1, and the factor N - 1 is not needed: one round is exactly
#' (epsilon, `gdp_delta(sqrt(1/2), epsilon)`)-DP. [dpts_privacy()] composes that.
#'
#' @param epsilon,delta The guarantee of one round: non-negative numbers, and numbers in
#'   \[0, 1\]. The returned epsilon does not depend on `delta`.
#' @param rounds How many rounds: whole numbers.
#' @param slack The delta given to the composition itself: numbers in (0, 1).
#' @returns A vector of epsilons, all arguments recycled to one length. They hold at delta
#'   `rounds * delta + slack` (`advanced_composition()`) or `rounds * delta`
#'   (`basic_composition()`).
#' @references Dwork, C., Rothblum, G. N. and Vadhan, S. (2010). Boosting and Differential
#'   Privacy. FOCS.
#' @family privacy
#' @examples
#' advanced_composition(0.1, 1e-8, rounds = 1000, slack = 1e-6)
#' basic_composition(0.1, 1e-8, rounds = 1000)
#' @export
advanced_composition <- function(epsilon, delta, rounds, slack) {
  epsilon <- check_numbers(epsilon, 0, inf = TRUE)
  delta <- check_numbers(delta, 0, 1)
  rounds <- check_counts(rounds)
  slack <- check_numbers(slack, 0, 1, open = TRUE)
  args <- recycle_common(epsilon = epsilon, delta = delta, rounds = rounds, slack = slack)
  with(args, epsilon * sqrt(-2 * rounds * log(slack)) + rounds * epsilon * expm1(epsilon))
}

#' @rdname advanced_composition
#' @export
basic_composition <- function(epsilon, delta, rounds) {
  epsilon <- check_numbers(epsilon, 0, inf = TRUE)
  delta <- check_numbers(delta, 0, 1)
  rounds <- check_counts(rounds)
  args <- recycle_common(epsilon = epsilon, delta = delta, rounds = rounds)
  args$rounds * args$epsilon
}

#' A vector of whole numbers
#' @noRd
check_counts <- function(x, lower = 1, arg = caller_arg(x), call = caller_env()) {
  force(arg)
  x <- check_numbers(x, lower, 2^53, arg = arg, call = call)
  if (any(x != trunc(x))) {
    abort_arg(arg, sprintf("whole numbers from %s to 2^53", format(lower)),
              x[x != trunc(x)][1], call)
  }
  x
}

#' The smaller of basic and advanced composition of `rounds` rounds of mu-GDP at a total
#' delta, from the exact curve of one round. The best split of delta between the
#' rounds and the composition is searched for; any split is valid.
#' @noRd
compose_rounds <- function(mu, rounds, delta) {
  if (rounds == 0) return(numeric(length(delta)))
  vapply(delta, function(delta) {
    if (delta == 0) return(Inf)
    if (delta == 1) return(0)
    basic <- rounds * gdp_epsilon(mu, delta / rounds)
    advanced <- function(logit) {
      share <- stats::plogis(logit)
      epsilon <- gdp_epsilon(mu, share * delta / rounds)
      min(.Machine$double.xmax, epsilon * sqrt(-2 * rounds * log1p_share(share, delta)) +
            rounds * epsilon * expm1(epsilon))
    }
    min(basic, stats::optimize(advanced, c(-20, 20), tol = 1e-8)$objective)
  }, 0)
}

#' log of the delta that is left: log((1 - share) delta)
#' @noRd
log1p_share <- function(share, delta) log1p(-share) + log(delta)
