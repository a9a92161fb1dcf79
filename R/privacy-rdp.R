#' From Rényi differential privacy to epsilon and delta
#'
#' `rdp_epsilon()` converts Rényi differential privacy into epsilon and delta. A mechanism is (alpha, D)-RDP
#' when the Rényi divergence of order alpha between its outputs on neighbouring streams is at most D. Every
#' order gives an epsilon at delta; the smallest may be used.
#'
#' @details
#' The conversions of D at order alpha are
#'
#' * `"mironov"`: D + log(1 / delta) / (alpha - 1) (Mironov 2017, Proposition 3);
#' * `"improved"`: D + log((alpha - 1) / alpha) - (log(delta) + log(alpha)) / (alpha - 1) (Balle et al. 2020,
#'   Theorem 21; Canonne, Kamath and Steinke 2020, Proposition 12), which is never larger.
#'
#' Both are set to 0 where they fall below it.
#'
#' With `alpha = NULL` the epsilon is minimised over every alpha > 1 and not over a grid of orders: at a
#' horizon of 1e5 rounds the best order of vanilla Gaussian Thompson sampling is 1.02, and the usual grids
#' miss it by 6 percent. For a linear curve, D = rho alpha, the best order solves one equation exactly (for
#' `"improved"`, rho (alpha - 1)^2 + log(alpha) = log(1 / delta)). For a function, a coarse search in
#' log(alpha - 1) is followed by Brent's method. Any order gives a valid epsilon: an imperfect search costs
#' sharpness, never validity.
#'
#' A round of Gaussian Thompson sampling is (alpha, alpha / 4)-RDP: see [dpts_privacy()] for what Ou, Avella
#' Medina and Cummings (2024) state, and how to compute it.
#'
#' @param alpha Orders: numbers above 1, or `NULL` for the best of all orders.
#' @param rdp The divergence D. With `alpha`: numbers, one for each order, or a function of
#'   alpha. Without: a function of alpha, or numbers rho that stand for the line
#'   D = rho alpha (mu-GDP has rho = mu^2 / 2; so has rho-zCDP).
#' @param delta The probability with which epsilon may be exceeded: numbers in \[0, 1\].
#' @param conversion `"improved"` or `"mironov"`.
#' @template dots
#' @returns A vector of epsilons: with `alpha`, one for each order (all arguments are
#'   recycled to one length); without, one for each `delta` (and each rho).
#' @references Mironov, I. (2017). Rényi Differential Privacy. CSF.
#'
#'   Balle, B., Barthe, G., Gaboardi, M., Hsu, J. and Sato, T. (2020). Hypothesis Testing
#'   Interpretations and Renyi Differential Privacy. AISTATS.
#' @template canonne
#' @template see_privacy
#' @concept moments accountant
#' @concept Renyi differential privacy
#' @examples
#' # Theorem 8 at one order, then at the best
#' rdp_epsilon(alpha = 1.2, rdp = 1.2 * 1000 / 4, delta = 1e-5, conversion = "mironov")
#' rdp_epsilon(rdp = 1000 / 4, delta = 1e-5, conversion = "mironov")
#' rdp_epsilon(rdp = 1000 / 4, delta = 1e-5)
#'
#' # a curve of one's own: randomised response with epsilon = 1
#' curve <- function(alpha) {
#'   (alpha + log1p(exp(1 - 2 * alpha)) - log1p(exp(1))) / (alpha - 1)
#' }
#' rdp_epsilon(rdp = curve, delta = 1e-5)
#' @export
rdp_epsilon <- function(alpha = NULL, rdp, delta, conversion = c("improved", "mironov"), ...) {
  check_dots_empty(...)
  conversion <- check_choice(conversion, c("improved", "mironov"))
  delta <- check_numbers(delta, 0, 1)
  check_given(rdp)
  if (!is.numeric(rdp) && !is.function(rdp)) abort_arg("rdp", "numbers or a function of alpha", rdp)
  if (is.numeric(rdp)) rdp <- check_numbers(rdp, 0, inf = TRUE)
  if (is.null(alpha)) {
    if (is.function(rdp)) return(rdp_minimise(rdp, delta, conversion))
    args <- recycle_common(rdp = rdp, delta = delta)
    return(rdp_linear(args$rdp, args$delta, conversion))
  }
  alpha <- check_numbers(alpha, 1, open = TRUE)
  if (is.function(rdp)) rdp <- rdp_call(rdp, alpha)
  args <- recycle_common(alpha = alpha, rdp = rdp, delta = delta)
  rdp_convert(args$alpha, args$rdp, args$delta, conversion)
}

# Epsilon at one order; vectorised, unchecked
rdp_convert <- function(alpha, rdp, delta, conversion) {
  epsilon <- if (conversion == "mironov") {
    sum_up(rdp, -log(delta) / (alpha - 1))
  } else {
    sum_up(rdp, log1p(-1 / alpha), -log(delta) / (alpha - 1), -log(alpha) / (alpha - 1))
  }
  # delta = 1 is for nothing, delta = 0 is out of reach unless nothing is lost
  epsilon[delta == 1 | rdp == 0] <- 0
  pmax(epsilon, 0)
}

# A sum that is no less than the exact one: each term may be off by some units of its last digit
sum_up <- function(...) {
  terms <- list(...)
  Reduce(`+`, terms) + 1e-15 * Reduce(`+`, lapply(terms, abs))
}

# The user's curve at several orders, whether or not it is vectorised. Where it
# overflows it promises nothing; rounding may make it a little negative next to 1.
rdp_call <- function(rdp, alpha) {
  value <- tryCatch(rdp(alpha), error = function(e) NULL)
  if (length(value) != length(alpha)) value <- vapply(alpha, rdp, 0)
  if (!is.numeric(value) || all(is.na(value)) || any(value < -1e-6, na.rm = TRUE)) {
    abort_arg("rdp", "a function that gives a non-negative number at every alpha above 1")
  }
  value[is.na(value)] <- Inf
  pmax(value, 0)
}

# The best order of D = rho alpha, exactly
rdp_linear <- function(rho, delta, conversion) {
  inside <- rho > 0 & rho < Inf & delta > 0 & delta < 1
  epsilon <- ifelse(rho == 0 | delta == 1, 0, Inf)
  if (!any(inside)) return(epsilon)
  rho <- rho[inside]
  cost <- -log(delta[inside])
  if (conversion == "mironov") {
    epsilon[inside] <- sum_up(rho, 2 * sqrt(rho * cost))
    return(epsilon)
  }
  u <- rdp_best_order(rho, cost)
  x <- exp(u) # alpha - 1, so that orders close to 1 keep their digits
  epsilon[inside] <- pmax(0, sum_up(rho * (1 + x), -log1p(1 / x), cost / x, -log1p(x) / x))
  epsilon
}

# log(alpha - 1) at the best order of D = rho alpha, by the improved conversion; `cost` is log(1 / delta)
rdp_best_order <- function(rho, cost) {
  # f(x) = rho x^2 + log(1 + x) - cost, x = alpha - 1, is increasing; it is solved
  # for log(x) by Newton, kept between bounds that it cannot leave.
  upper <- log(pmin(sqrt(cost / rho), expm1(pmin(cost, 700))))
  lower <- upper - 40
  u <- upper
  for (i in 1:200) {
    x <- exp(u)
    f <- rho * x^2 + log1p(x) - cost
    upper <- ifelse(f > 0, u, upper)
    lower <- ifelse(f > 0, lower, u)
    new <- u - f / (2 * rho * x^2 + x / (1 + x))
    outside <- !(new > lower & new < upper)
    new[outside] <- ((lower + upper) / 2)[outside]
    if (all(abs(new - u) <= 1e-12)) break
    u <- new
  }
  u
}

# The best order of any curve
rdp_minimise <- function(rdp, delta, conversion) {
  u <- seq(-16, 16, by = 0.25) # orders that sequence_rdp() takes, too
  value <- rdp_call(rdp, 1 + exp(u))
  vapply(delta, function(delta) {
    if (delta == 1) return(0)
    at <- function(u, value) rdp_convert(1 + exp(u), value, delta, conversion)
    all <- at(u, value)
    best <- which.min(all)
    if (!is.finite(all[best])) return(Inf)
    around <- u[pmin(length(u), pmax(1, best + c(-1, 1)))]
    fit <- stats::optimize(function(u) {
      min(at(u, rdp_call(rdp, 1 + exp(u))), .Machine$double.xmax)
    }, around, tol = 1e-9)
    min(all[best], fit$objective)
  }, 0)
}

# Epsilon of a Rényi curve at each delta, minimised over continuous orders. Orders are added around the best
# one of each delta; every order is valid, so the search can only lose sharpness.
orders_epsilon <- function(delta, rdp, finest = 0.03) {
  epsilon <- ifelse(delta == 1, 0, Inf)
  u <- unique(sort(c(seq(-4.5, 3.5, by = 1), log(attr(rdp, "orders") - 1)))) # orders where a curve has a kink
  at <- function(u) rdp(1 + exp(u))
  value <- at(u)
  if (all(value == 0)) return(0 * delta)
  open <- which(delta > 0 & delta < 1)
  if (length(open) == 0) return(epsilon)
  cost <- function(d) rdp_convert(1 + exp(u), value, d, "improved")
  repeat {
    new <- as.numeric(unlist(lapply(delta[open], function(d) {
      all <- cost(d)
      best <- which.min(all)
      gaps <- diff(u)
      n <- length(u)
      c(if (best == 1) u[1] - 2 * gaps[1], if (best == n) u[n] + 2 * gaps[n - 1],
        if (best > 1 && gaps[best - 1] > finest) u[best] - gaps[best - 1] / 2,
        if (best < n && gaps[best] > finest) u[best] + gaps[best] / 2)
    })))
    new <- unique(new[abs(new) <= 16])
    if (length(new) == 0) break
    o <- order(c(u, new))
    value <- c(value, at(new))[o]
    u <- c(u, new)[o]
  }
  epsilon[open] <- vapply(delta[open], function(d) min(cost(d)), 0)
  epsilon
}
