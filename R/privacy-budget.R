#' Privacy budgets
#'
#' How much a run may leak, for [dpts_calibrate()], [dpts_tune()] and [dpts_recommend()]; or how much another
#' release is known to leak, for [privacy_compose()] and [privacy_group()]:
#'
#' * `privacy_pure()`: epsilon-DP;
#' * `privacy_approx()`: (epsilon, delta)-DP;
#' * `privacy_gdp()`: mu-GDP, a whole curve of (epsilon, delta); see [gdp_delta()]. With a positive `nu`
#'   it is mu-GDP up to nu: at every epsilon at once, delta is at most `gdp_delta(mu, epsilon) + nu`. Gaussian
#'   Thompson sampling needs much less noise for that; see [sequence_gdp()].
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]; what is
#' published is the sequence of arms.
#'
#' @param epsilon,mu A number from 1e-6 to 1e12, or 0: nothing may leak. (Below 1e-6 double precision
#'   no longer holds noise and rewards side by side; at 1e-6 a noisy sum is off by 4e-9 of a reward.)
#' @param delta,nu A number in \[0, 1).
#' @returns A budget: an object of class `dpts_budget`.
#' @family privacy
#' @examples
#' privacy_pure(1)
#' privacy_approx(1, 1e-6)
#' privacy_gdp(0.5)
#' privacy_gdp(0.5, nu = 1e-7)
#' @export
privacy_pure <- function(epsilon) {
  new_budget("pure", epsilon = check_budget_number(epsilon, inf = FALSE, zero = TRUE))
}

#' @rdname privacy_pure
#' @export
privacy_approx <- function(epsilon, delta) {
  epsilon <- check_budget_number(epsilon, inf = FALSE, zero = TRUE)
  delta <- check_number(delta, 0, 1, open = c(FALSE, TRUE))
  new_budget("approx", epsilon = epsilon, delta = delta)
}

#' @rdname privacy_pure
#' @export
privacy_gdp <- function(mu, nu = 0) {
  mu <- check_budget_number(mu, inf = FALSE, zero = TRUE)
  nu <- check_number(nu, 0, 1, open = c(FALSE, TRUE))
  if (nu == 0) new_budget("gdp", mu = mu) else new_budget("gdp", mu = mu, nu = nu)
}

new_budget <- function(kind, ...) {
  structure(list(kind = kind, ...), class = c(paste0("privacy_", kind), "dpts_budget"))
}

check_budget <- function(x, arg = caller_arg(x), call = caller_env()) {
  check_class(x, "dpts_budget",
              "a budget from `privacy_pure()`, `privacy_approx()` or `privacy_gdp()`", arg, call)
}

#' @export
format.dpts_budget <- function(x, ...) {
  # In full: a rounded budget is another one.
  full <- function(value) format(value, digits = 15)
  switch(x$kind,
    pure = sprintf("%s-DP", full(x$epsilon)),
    approx = sprintf("(%s, %s)-DP", full(x$epsilon), full(x$delta)),
    gdp = paste0(full(x$mu), "-GDP", if (!is.null(x$nu)) paste(" up to", full(x$nu)))
  )
}

#' The call that makes the budget, exactly as it is
#' @export
#' @noRd
as.character.dpts_budget <- function(x, ...) {
  sprintf("privacy_%s(%s)", x$kind, format_args(unclass(x)[-1], 15))
}

#' @export
print.dpts_budget <- function(x, ...) {
  cat("<privacy budget> ", format(x), "\n", sep = "")
  invisible(x)
}
