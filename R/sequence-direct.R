#' The direct accountant: what the published arms leak, without Rényi orders
#'
#' @description
#' Bounds on what the sequence of arms of Gaussian Thompson sampling leaks, straight in
#' Gaussian DP. [sequence_rdp()] has the same setting and goes through Rényi orders.
#'
#' * `sequence_gdp()` gives a mu such that the published arms are mu-GDP up to `nu`.
#'
#' @details
#' mu-GDP up to nu says that delta(epsilon) is at most `gdp_delta(mu, epsilon) + nu` for *every*
#' epsilon at once, in both directions. It composes: together with another mu'-GDP
#' release of the same people the whole is sqrt(mu^2 + mu'^2)-GDP up to nu. mu depends on nu
#' weakly, through sqrt(log(1 / nu)); take nu a tenth to a hundredth of the delta in mind.
#'
#' Let M_tau(n) stand for mu^2 after tau remaining rounds when the private arm has n rewards. A
#' round that publishes one bit lifts it by what a Rényi round of order alpha = 1/2 + epsilon / M
#' lifts it, less a credit for the pull that makes the next rounds leak less; finitely many
#' orders cover all epsilon that matter, and beyond them the excess is below nu / `rounds`. The
#' solution is linear between nodes in n and tau, and meets the inequality at every integer by
#' convexity. The vignette "What the arms leak" (`vignette("sequence-accountant", "dpts")`) has
#' the proof. It is complete but for rounding errors, which a margin of 1e-9 or more covers; an
#' inequality that is not met is an error and never a number.
#'
#' It is sharp where `variance_scale` (max(`prepulls`, 1) + 1) is above 100 or so: then the arms
#' leak almost exactly like a Gaussian mechanism. Without pre-pulls it is valid and loose; use
#' [sequence_rdp()] there.
#'
#' @inheritSection sequence_rdp Privacy
#' @inheritParams sequence_rdp
#' @param nu A number in (0, 1): the part of delta that stands outside the Gaussian curve.
#' @returns `sequence_gdp()`: a tibble, one row for each element of the recycled arguments:
#'   * `mu`: the arms are mu-GDP up to nu;
#'   * `nu`: as given.
#' @section Errors:
#' Settings outside the certified range, 1e-12 <= `variance_scale` (max(`prepulls`, 1) + 1) <= 1e12,
#' are refused with class `dpts_error_range`; an unmet inequality is of class
#' `dpts_error_certificate`.
#' @references Dong, J., Roth, A. and Su, W. J. (2022). Gaussian Differential Privacy. Journal of
#'   the Royal Statistical Society B 84, 3-37.
#' @family privacy
#' @examples
#' # The paper's accounting of the same run is 3.73-GDP
#' sequence_gdp(rounds = 97500, prepulls = 500, variance_scale = 14)
#' sqrt(97500 / (14 * 501))
#' @export
sequence_gdp <- function(rounds, prepulls = 0, variance_scale = 1, nu = 1e-7) {
  args <- check_sequence(rounds, prepulls, variance_scale, nu = nu)
  tibble::new_tibble(list(mu = near_gdp(args), nu = args$nu), nrow = length(args$nu))
}

#' Check and recycle the arguments that the sequence accountants share
#' @noRd
check_sequence <- function(rounds, prepulls, variance_scale, ..., nu = NULL,
                           call = caller_env()) {
  rounds <- check_counts(rounds, 1, call = call)
  prepulls <- check_counts(prepulls, 0, call = call)
  variance_scale <- check_numbers(variance_scale, 0, open = TRUE, call = call)
  if (!is.null(nu)) nu <- check_numbers(nu, 1e-300, 1, open = c(FALSE, TRUE), call = call)
  args <- list(rounds = rounds, prepulls = prepulls, variance_scale = variance_scale, nu = nu, ...)
  args <- do.call(recycle_common, c(Filter(Negate(is.null), args), call = call))
  check_certified(args$prepulls, args$variance_scale, call)
  args
}

#' @noRd
near_gdp <- function(args, call = caller_env()) {
  mu <- .Call(C_near_gdp, args$rounds, pmax(args$prepulls, 1), args$variance_scale, args$nu)
  if (anyNA(mu)) {
    bad <- which(is.na(mu))[1]
    abort_dpts(sprintf(paste("An inequality of the proof is not met at %s rounds, %s pre-pulls and",
                             "variance scale %s: no value is certified."),
                       format(args$rounds[bad]), format(args$prepulls[bad]),
                       format(args$variance_scale[bad])),
               "dpts_error_certificate", call)
  }
  mu
}
