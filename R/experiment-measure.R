# The claims of a paper, measured on a reproduced figure.

#' What a paper claims about a figure, measured
#'
#' `claims()` checks a reproduced figure against what its paper says about it. Each experiment of the
#' catalogue holds the statements of its paper. A claim is turned into a margin that is positive if the claim
#' holds, such as the regret of the policy that should be worse less the regret of the other, run by run.
#'
#' Policies of one simulation share random numbers run by run, so that differences are taken within runs and
#' the standard error is theirs. Where a claim is about several pairs, the least favourable one, in standard
#' errors, is shown: a claim is reproduced only if each of its pairs is. The least of many pairs is also the
#' unluckiest. If 20 true margins are half a standard error above 0, one estimate is more than two below 0 in
#' 11% of experiments. So confirm a claim that is not reproduced with more runs. Where a claim speaks of the
#' best of several settings, the best is picked on the same runs, which flatters it by much less than the
#' margins here.
#'
#' @param x A result of [dpts_reproduce()].
#' @template dots
#' @returns A tibble with one row per claim, which prints as text:
#'   * `claim`: the claim, in our words;
#'   * `margin`: how far it holds, in units of reward (regret) or of epsilon (privacy
#'     curves); negative if it fails, `NA` if it compares rounds that were not recorded (see `record` in
#'     [dpts_reproduce()]);
#'   * `se`: the margin's standard error over runs (for a replay, that of a finite log too); 0 where nothing
#'     is simulated, `NA` where all runs but two at most have the same margin, which says nothing about other
#'     runs;
#'   * `verdict`: `"reproduced"` if the margin is more than two standard errors above
#'     0, `"not reproduced"` if it is more than two below 0, else, or without a standard error, `"undecided"`.
#' @template see_experiments
#' @examples
#' claims(dpts_reproduce("hh-2", horizon = 2e4, runs = 5))
#' @export
claims <- function(x, ...) {
  check_dots_empty(...)
  check_class(x, "dpts_reproduction", "a result of `dpts_reproduce()`")
  check_result(x, labels = TRUE)
  experiment <- shared(x, "experiment")
  if (!identical(names(policies(x)), names(experiment$policies))) {
    abort_arg("x", "whole: its claims are about all policies, under their own names")
  }
  list <- do.call(catalogue()[[experiment$id]], experiment$parameters)$claims
  regret <- switch(experiment$kind, simulation = regret_at(x), tuning = runs_of(x))
  measured <- vapply(list, function(claim) as.double(claim$measure(x, regret, experiment$settings)), c(0, 0))
  margin <- measured[1, ]
  se <- measured[2, ]
  tibble::new_tibble(list(
    claim = vapply(list, `[[`, "", "text"), margin = margin, se = se,
    verdict = claim_verdict(margin, se)
  ), nrow = length(list), class = "dpts_claims")
}

#' @export
format.dpts_claims <- function(x, ..., width = NULL) {
  if (!all(c("claim", "margin", "se", "verdict") %in% names(x))) return(NextMethod())
  width <- check_width(width %||% min(getOption("width"), 80))
  number <- function(v) number_text(signif(v, 3), trim = TRUE, big.mark = ",")
  unlist(lapply(seq_len(nrow(x)), function(i) {
    c(sprintf("%s: margin %s (se %s)", x$verdict[i], number(x$margin[i]), number(x$se[i])),
      strwrap(x$claim[i], width - 1, indent = 2, exdent = 2))
  }))
}

#' @export
print.dpts_claims <- function(x, ...) print_lines(x, ...)

claim_verdict <- function(margin, se) {
  known <- is.finite(margin) & is.finite(se)
  ifelse(known & margin > 2 * se, "reproduced",
         ifelse(known & margin < -2 * se, "not reproduced", "undecided"))
}
