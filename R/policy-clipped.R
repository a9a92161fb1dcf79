# Rewards without a range, clipped to one that is given or found

#' Heavy tails: clip rewards to a range, given or found privately
#'
#' For rewards that no range holds: amounts of money, waiting times. They are clipped, and scaled to \[0, 1\],
#' where every policy works and noise can be calibrated. Not for [dpts_agent()], which has a `range` of its
#' own.
#'
#' @details
#' `range` is two numbers, where `NA` is to be found: `c(0, NA)` the upper end, `c(NA, NA)` a range
#'   from -u to u.
#'
#' Then the first `pilot` rewards that come, of the arms in turn, are used for that and for nothing else. u
#' (less the lower end) is a level of the grid 2^(-24 + i / 2), i = 0 ... 127: the least one above which, by
#' noisy counts, at most the share `tail` of them lies. The search halves the grid with each count: 7 counts,
#' each with Lap(7 / `epsilon`). With the default `pilot` the share of rewards above u is `tail` up to about a
#' third of it, and u is up to sqrt(2) times the quantile. After that `policy` begins, with a clock and counts
#' of its own. Rewards of the pilot that come late are not used.
#'
#' @section Bias:
#' A mean of clipped rewards lies below the mean by E max(X - u, 0), and an arm with heavier
#'   tails by more: two arms may even change places, and no number of rewards mends that. With u at the
#'   quantile (`q` = 1 - `tail`) of the rewards, in percent of the mean:
#'
#' | rewards | q = 0.9 | 0.95 | 0.99 | 0.999 |
#' | --- | ---: | ---: | ---: | ---: |
#' | exponential | 10.0 | 5.0 | 1.0 | 0.1 |
#' | log-normal, sd 1 of the logarithm | 17.1 | 10.2 | 3.0 | 0.5 |
#' | Pareto, exponent 3 | 7.2 | 4.5 | 1.5 | 0.3 |
#' | Pareto, exponent 2 | 15.8 | 11.2 | 5.0 | 1.6 |
#'
#' But the noise grows with u: 1 / `epsilon` of a clipped sum is u / `epsilon` of
#' money. A larger level is for more rewards. [estimates()] are in the units of the rewards, and have this
#' bias: there is no [evidence()] of them.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any number. One of the pilot moves
#'   each of the 7 counts by at most 1: they are together `epsilon`-DP. All others are seen by `policy` alone,
#'   in \[0, 1\]. No reward is in both, so that the guarantee is the weaker of the two (parallel composition),
#'   as an epsilon or a mu.
#'
#' @param policy A policy in C, without contexts or predictions, not wrapped. Where the range is to be found:
#'   with a pure or a Gaussian guarantee, or none.
#' @param range Two numbers, increasing; or with `NA`, see Details.
#' @param epsilon Privacy of the range that is found: a number of at least 1e-6. `NULL` for a policy without a
#'   guarantee: exact counts. It, `tail` and `pilot` are for a range that is found, and for no other.
#' @param tail The share of rewards that may be clipped: a number in (0, 0.5\].
#' @param pilot Rewards: a whole number. `NULL`: 30 / (`epsilon` `tail`), rounded up (without `epsilon`: with
#'   1).
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template see_policies
#' @references Dwork, C. and Lei, J. (2009). Differential Privacy and Robust Statistics. STOC. On scales found
#'   privately.
#' @examples
#' policy_clipped(policy_dp_imed(1), range = c(0, NA), epsilon = 1)
#' rewards <- function(arm, n) rlnorm(n, c(0.5, 0)[arm])
#' arms <- arms_custom(rewards, means = exp(c(1, 0.5)), range = NULL)
#' policy <- policy_clipped(policy_dp_imed(1), c(0, NA), epsilon = 1)
#' sim <- dpts_simulate(arms, policy, 5000, runs = 2, seed = 1)
#' estimates(sim)
#' @export
policy_clipped <- function(policy, range = c(0, NA), epsilon = NULL, tail = 0.05, pilot = NULL, ...) {
  check_dots_empty(...)
  check_policy(policy)
  check_inner(policy, NULL)
  unused <- c("epsilon", "tail", "pilot")[c(!is.null(epsilon), !missing(tail), !is.null(pilot))]
  tail <- check_number(tail, 0, 0.5, open = c(TRUE, FALSE))
  if (!is.null(epsilon)) epsilon <- check_budget_number(epsilon, inf = FALSE)
  if (length(range) == 2 && anyNA(range)) {
    lower <- if (is.na(range[1])) NA_real_ else check_number(range[1], arg = "range")
    if (!is.na(range[2])) abort_arg("range", "two numbers, c(lower, NA) or c(NA, NA)", range)
    range <- c(lower, NA)
    found <- found_promise(policy$guarantee, epsilon)
    pilot <- if (is.null(pilot)) ceiling(30 / ((epsilon %||% 1) * tail)) else check_count(pilot)
  } else {
    range <- check_range(range)
    if (length(unused)) {
      abort_input(unused[1], "`%s` must be left out with a `range` that is given: it is for one to be found.",
                  unused[1])
    }
    found <- policy$guarantee
    pilot <- 0
  }
  out <- around_policy(
    "clipped", policy, list(lower = range[1], upper = range[2], pilot = pilot, tail = tail,
                            scale = 7 / (epsilon %||% Inf)), found,
    list(range = range, epsilon = epsilon, tail = if (pilot > 0) tail, pilot = if (pilot > 0) pilot),
    if (pilot > 0) sprintf("clipped at a level found by %s rewards", label_count(pilot)) else
      sprintf("clipped to [%s, %s]", number_text(range[1]), number_text(range[2])),
    inherits = c("inexact", "finishes", "reports")
  )
  out$any_reward <- TRUE
  out
}

# The weaker of two promises about different rewards
found_promise <- function(own, epsilon) {
  if (promises_nothing(own)) return(own)
  if (is.null(epsilon)) abort_arg("epsilon", "given, where a private policy's range is to be found")
  pure <- form(own, "epsilon", conditions(Inf))
  if (!is.null(pure)) return(guarantee_pure(max(pure, epsilon)))
  mu <- form(own, "mu", conditions(Inf))
  if (is.null(mu) || mu == Inf) {
    abort_arg("policy", "a policy with a pure or a Gaussian guarantee, where its range is to be found")
  }
  guarantee_gdp(max(mu, pure_mu(epsilon)))
}
