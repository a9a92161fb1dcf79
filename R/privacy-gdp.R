#' Gaussian differential privacy: exact conversions
#'
#' @description These functions convert between two measures of how much may leak: one number mu, and a pair
#' of epsilon and delta. A mechanism is mu-GDP when telling two neighbouring streams apart from its output is
#' at least as hard as telling N(0, 1) from N(mu, 1) by one draw. These functions convert between mu and the
#' curve of (epsilon, delta) that it stands for, without loss:
#'
#' * `gdp_delta()` is the delta at epsilon,
#' * `gdp_epsilon()` the epsilon at delta,
#' * `gdp_mu()` the mu whose curve passes through (epsilon, delta),
#' * `gdp_compose()` the mu of several mechanisms together.
#'
#' @details
#' mu-GDP is the same statement as (epsilon, delta)-DP for every epsilon >= 0 with
#'
#' delta = Phi(-epsilon / mu + mu / 2) - exp(epsilon) Phi(-epsilon / mu - mu / 2)
#'
#' (Dong, Roth and Su 2022, Corollary 1). As written, this overflows past epsilon = 709 and loses its digits
#' to cancellation. Here it is computed as phi(a) (M(a) - M(a + mu)) with a = epsilon / mu - mu / 2 and M the
#' Mills ratio, in which neither happens; the inverses are Newton's method on log(delta). The relative error
#' is that of the inputs' own rounding: below 1e-13 + 4 cond 2^-52, with cond the condition number, for mu
#' from 1e-6 to 1e4, delta from 1e-300 to 0.5 and epsilon up to 1e8. A delta below the smallest double is 0;
#' `log = TRUE` then still gives its logarithm.
#'
#' `gdp_epsilon(mu, gdp_delta(mu, epsilon))` is `epsilon`, and
#' `gdp_mu(epsilon, gdp_delta(mu, epsilon))` is `mu`.
#'
#' Limits: at mu = 0 delta is 0; at mu = `Inf` delta is 1 for every finite epsilon; delta = 0 needs
#' epsilon = `Inf`, and delta = 1 needs epsilon 0, as does any delta above `gdp_delta(mu, 0)`.
#'
#' The statements of Ou, Avella Medina and Cummings (2024) on Gaussian Thompson sampling are calls of these
#' functions: see [dpts_privacy()].
#'
#' @param mu Privacy parameter of Gaussian DP: non-negative numbers; `Inf` is no privacy.
#' @param epsilon Privacy parameter of (epsilon, delta)-DP: non-negative numbers.
#' @param delta The probability with which epsilon may be exceeded: numbers in \[0, 1\].
#' @param log Return log(delta)?
#' @template dots
#' @returns A vector as long as the longer argument; an argument of length 1 is recycled. `gdp_compose()`: one
#'   number, the root of the sum of squares, which holds for mechanisms chosen adaptively.
#' @template dong
#' @references Balle, B. and Wang, Y.-X. (2018). Improving the Gaussian Mechanism for Differential
#'   Privacy: Analytical Calibration and Optimal Denoising. ICML.
#' @template see_privacy
#' @examples
#' gdp_delta(mu = 1, epsilon = c(0, 1, 2))
#' gdp_epsilon(mu = 1, delta = 1e-5)
#' gdp_mu(epsilon = 1, delta = 1e-5)
#'
#' # Thompson sampling over 1e5 rounds, far past where exp(epsilon) overflows
#' gdp_epsilon(gdp_compose(rep(sqrt(1 / 2), 1e5)), delta = 1e-5)
#' gdp_delta(mu = 1, epsilon = 100, log = TRUE)
#' @export
gdp_delta <- function(mu, epsilon, log = FALSE, ...) {
  check_dots_empty(...)
  mu <- check_numbers(mu, 0, inf = TRUE)
  epsilon <- check_numbers(epsilon, 0, inf = TRUE)
  check_flag(log)
  args <- recycle_common(mu = mu, epsilon = epsilon)
  .Call(C_gdp_delta, args$mu, args$epsilon, log)
}

#' @rdname gdp_delta
#' @export
gdp_epsilon <- function(mu, delta, ...) {
  check_dots_empty(...)
  mu <- check_numbers(mu, 0, inf = TRUE)
  delta <- check_numbers(delta, 0, 1)
  args <- recycle_common(mu = mu, delta = delta)
  .Call(C_gdp_epsilon, args$mu, args$delta)
}

#' @rdname gdp_delta
#' @export
gdp_mu <- function(epsilon, delta, ...) {
  check_dots_empty(...)
  epsilon <- check_numbers(epsilon, 0, inf = TRUE)
  delta <- check_numbers(delta, 0, 1)
  args <- recycle_common(epsilon = epsilon, delta = delta)
  .Call(C_gdp_mu, args$epsilon, args$delta)
}

#' @rdname gdp_delta
#' @export
gdp_compose <- function(mu, ...) {
  check_dots_empty(...)
  mu <- check_numbers(mu, 0, inf = TRUE)
  largest <- max(mu)
  # Scaled, so that neither tiny nor huge squares are lost.
  if (largest == 0 || largest == Inf) return(largest)
  largest * sqrt(sum((mu / largest)^2))
}

# The smaller of basic and advanced composition of `rounds` rounds of mu-GDP at a total
# delta, from the exact curve of one round. The best split of delta between the
# rounds and the composition is searched for; any split is valid.
compose_rounds <- function(mu, rounds, delta) {
  if (rounds == 0) return(numeric(length(delta)))
  vapply(delta, function(delta) {
    if (delta == 0) return(Inf)
    if (delta == 1) return(0)
    basic <- rounds * gdp_epsilon(mu, delta / rounds)
    advanced <- function(logit) {
      share <- stats::plogis(logit)
      epsilon <- gdp_epsilon(mu, share * delta / rounds)
      min(.Machine$double.xmax, epsilon * sqrt(-2 * rounds * (log1p(-share) + log(delta))) +
            rounds * epsilon * expm1(epsilon))
    }
    min(basic, stats::optimize(advanced, c(-20, 20), tol = 1e-8)$objective)
  }, 0)
}
