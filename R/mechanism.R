#' Release numbers with privacy noise
#'
#' `mechanism_laplace()` adds noise to numbers, so that they may be published. The Laplace, Gaussian and Gamma
#' mechanisms: add noise to a number or a vector, so that what is returned is private.
#'
#' @details
#' * Laplace: independent noise of density exp(-|z| / s) / (2 s), s = `sensitivity` /
#'   `epsilon`, for a vector that one record moves by at most `sensitivity` in the L1 norm.
#' * Gaussian: independent N(0, s^2), s = `sensitivity` / `mu`, for the L2 norm.
#' * Gamma: noise z of density proportional to exp(-||z|| / s), s = `sensitivity` /
#'   `epsilon`, for the L2 norm; z has a uniform direction and a Gamma-distributed length of
#'   mean p s for p numbers. For a single number it is the Laplace mechanism.
#'
#' Noise is made from uniforms of 53 bits, unless `exact`.
#'
#' With `exact = TRUE` no floating-point number is drawn. `value` and `sensitivity` must be
#' multiples of `grid`, to which integer noise is added:
#' * Laplace: the discrete Laplace distribution P(k) ~ exp(-|k| `epsilon` `grid` /
#'   `sensitivity`), by the integer arithmetic of Canonne, Kamath and Steinke (2020);
#' * Gaussian: the integer nearest to s Z, s = `sensitivity` / (`mu` `grid`) and Z normal, by Karney's (2016)
#'   comparison of bits. A whole number plus the nearest integer to s Z is the nearest integer to their sum,
#'   so this is a rounded Gaussian mechanism and exactly `mu`-GDP, which discrete Gaussian noise is not.
#'
#' `epsilon` and `mu` are first taken down to 24 significant bits, so that a ratio of small
#' integers is left. The bits come from the operating system; there is no seed. A mean or a
#' sum of measurements is brought to the grid by rounding each record *before* they are added:
#' rounding the sum alone would change its sensitivity.
#'
#' @section Privacy:
#' Neighbouring data sets differ in one record, replaced by any other. One call releases `value`, whole, and
#' is `epsilon`-DP (`mu`-GDP for the Gaussian); calls on the same data add up. The caller must know the
#' sensitivity: it must hold for all data sets, not only for the one at hand. Without `exact` the statement is
#' about real numbers, and the result is for research only: doubles have low bits through which noise of any
#' kind can leak (Mironov 2012). With `exact` it holds for the numbers that are returned. The time that a call
#' takes may depend on its noise; the guarantee does not cover it.
#'
#' @param value The exact numbers: a vector.
#' @param epsilon,mu The privacy of the release: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no
#'   noise.
#' @param sensitivity How far one record can move `value`: a positive number.
#' @param ... Not used; later arguments must be named.
#' @param seed A whole number, or `NULL` to take one from R's generator. Anybody who knows the
#'   seed can remove the noise. Not with `exact`.
#' @param exact Whether to draw exact noise, for data that matter.
#' @param grid With `exact`, the step of the grid on which the values lie: a power of 2 from 2^-40 to 1.
#' @returns The noisy numbers: a numeric vector of class `dpts_release` whose attributes `distribution`,
#'   `scale` and `guarantee` say what was added. `as.numeric()` drops them, and so does arithmetic, since the
#'   losses of two releases in one number add up.
#' @template dwork
#' @template mishra
#' @template canonne
#' @references Karney, C. (2016). Sampling Exactly from the Normal Distribution. ACM Transactions on
#'   Mathematical Software 42.
#'
#'   Mironov, I. (2012). On Significance of the Least Significant Bits for Differential
#'   Privacy. CCS.
#' @template see_counters
#' @examples
#' mechanism_laplace(c(12, 30), epsilon = 1, seed = 1)
#' mechanism_gaussian(c(12, 30), mu = 1, sensitivity = sqrt(2), seed = 1)
#' mechanism_gamma(c(0.2, 0.5, 0.1), epsilon = 2, sensitivity = 0.1, seed = 1)
#' # Counts of people, released for good
#' mechanism_laplace(c(12, 30), epsilon = 1, exact = TRUE, grid = 1)
#' @export
mechanism_laplace <- function(value, epsilon, sensitivity = 1, ..., exact = FALSE,
                              grid = 2^-20, seed = NULL) {
  check_dots_empty(...)
  release("Laplace", value, check_budget_number(epsilon), sensitivity, guarantee_pure, exact, grid, seed)
}

#' @rdname mechanism_laplace
#' @export
mechanism_gaussian <- function(value, mu, sensitivity = 1, ..., exact = FALSE,
                               grid = 2^-20, seed = NULL) {
  check_dots_empty(...)
  release("Gaussian", value, check_budget_number(mu), sensitivity, guarantee_gdp, exact, grid, seed)
}

#' @rdname mechanism_laplace
#' @export
mechanism_gamma <- function(value, epsilon, sensitivity = 1, ..., seed = NULL) {
  check_dots_empty(...)
  release("Gamma", value, check_budget_number(epsilon), sensitivity, guarantee_pure, seed = seed)
}

# Names of the kinds of noise that ledgers and reports number (src/noise.h)
noise_names <- function(numbers) .Call(C_noise_names)[numbers]

# `strength`: epsilon or mu, of which `guarantee` makes one
release <- function(kind, value, strength, sensitivity, guarantee, exact = FALSE, grid = NULL, seed) {
  value <- check_numbers(value)
  guarantee <- guarantee(strength, published = "release", neighbours = "input")
  sensitivity <- check_number(sensitivity, 0, open = TRUE)
  if (!is.null(grid)) check_number(grid, 2^-40, 1)
  noisy <- if (check_flag(exact)) exact_noise(kind, value, strength, sensitivity, grid, seed) else {
    scale <- sensitivity / strength
    if (strength < Inf && (scale < 1e-300 || scale > 1e300)) {
      abort_arg("sensitivity", "a number for which the noise has a scale from 1e-300 to 1e300", sensitivity)
    }
    list(.Call(C_mechanism, kind, value, scale, check_seed(seed)), kind, scale)
  }
  structure(noisy[[1]], names = names(value), distribution = noisy[[2]], scale = noisy[[3]],
            guarantee = guarantee, class = "dpts_release")
}

# Exact noise on numbers of a grid: list(numbers, the distribution's name, its scale)
exact_noise <- function(kind, value, strength, sensitivity, grid, seed) {
  if (!is.null(seed)) abort_arg("seed", "left out with `exact = TRUE`: the bits are the operating system's")
  if (log2(grid) != trunc(log2(grid))) abort_arg("grid", "a power of 2", grid)
  for (arg in c("value", "sensitivity")) {
    steps <- get(arg) / grid
    if (any(steps != trunc(steps) | abs(steps) >= 2^52)) {
      abort_arg(arg, sprintf("multiples of the grid, 2^%d, with `exact = TRUE`, below %s",
                             log2(grid), number_text(2^52 * grid, digits = 3)),
                get(arg)[steps != trunc(steps) | abs(steps) >= 2^52][1])
    }
  }
  exact <- switch(kind, Laplace = c("laplace", "discrete Laplace"), c("normal", "rounded Gaussian"))
  if (strength == Inf) return(list(value, exact[2], 0))
  rate <- .Call(C_exact_rate, strength, sensitivity / grid)
  if (is.null(rate)) abort_dpts("The noise would be larger than 2^61 steps of `grid`.", "dpts_error_input")
  list(.Call(C_exact_noise, exact[1], value / grid, rate) * grid, exact[2], 2^rate[2] / rate[1] * grid)
}

#' @export
format.dpts_release <- function(x, ...) format(as.numeric(x), ...)

#' @export
print.dpts_release <- function(x, ...) {
  cat(sprintf("<release> %s with %s noise of scale %s; guarantee: %s\n",
              count_noun(length(x), "number", "numbers"), attr(x, "distribution"),
              number_text(signif(attr(x, "scale"), 5)), format(attr(x, "guarantee"))))
  print(stats::setNames(as.numeric(x), names(x)), ...)
  invisible(x)
}

# What is computed from a release is a plain number: of two releases, for one, the losses add up.
#' @export
Ops.dpts_release <- function(e1, e2) {
  do.call(.Generic, lapply(if (missing(e2)) list(e1) else list(e1, e2), plain_numbers))
}

#' @export
Math.dpts_release <- function(x, ...) do.call(.Generic, list(plain_numbers(x), ...))

plain_numbers <- function(x) if (inherits(x, "dpts_release")) stats::setNames(as.numeric(x), names(x)) else x

# A release is a column like any other.
#' @export
as.data.frame.dpts_release <- as.data.frame.vector

#' @exportS3Method ggplot2::scale_type
scale_type.dpts_release <- function(x) "continuous"

#' Accuracy of the Laplace mechanism for counting queries
#'
#' `laplace_accuracy()` says how far off noisy counts may be. How far off the answers to k counting queries on
#' n records may be, and how likely: any two of noise, error and failure probability give the third.
#'
#' @details
#' A counting query is the share of n records that have a property, so one record moves it by
#' 1 / n. With independent Laplace noise of scale s on each of k of them, the answers are
#' epsilon-DP with epsilon = k / (n s), and with probability at least 1 - beta all errors are
#' below alpha = s ln(k / beta): Theorem 11.12 of the lecture notes, and for k = 1 Theorem
#' 11.9, where the probability is exact. For k > 1 it comes from a union bound.
#'
#' Give the noise (`epsilon` or `scale`) and one of `alpha` and `beta`, or both `alpha` and
#' `beta`. All arguments are recycled to a common length.
#'
#' @param n Number of records.
#' @param k Number of queries.
#' @param ... Not used; later arguments must be named.
#' @param epsilon,scale The noise, by its privacy or by its scale: positive numbers.
#' @param alpha Error: positive numbers.
#' @param beta Probability that some answer is off by `alpha` or more: numbers in (0, 1).
#' @returns A tibble, one row for each element of the arguments: `n`, `k`, `epsilon` (privacy of all answers
#'   together), `scale` (of the noise on a share of the records), `alpha`, `beta` (at most 1).
#' @references Wang, L. Lecture notes, lecture 11: Thompson Sampling, Differential Privacy;
#'   Theorems 11.9 and 11.12.
#' @template see_counters
#' @examples
#' # The error that 10 answers stay below with probability 0.95
#' laplace_accuracy(n = 1000, k = 10, epsilon = 1, beta = 0.05)
#' # The other way round
#' laplace_accuracy(n = 1000, k = 10, epsilon = 1, alpha = 0.05)
#' # The epsilon that an error costs
#' laplace_accuracy(n = 1000, k = 10, alpha = c(0.1, 0.05, 0.01), beta = 0.05)
#' @export
laplace_accuracy <- function(n, k = 1, ..., epsilon = NULL, scale = NULL, alpha = NULL,
                             beta = NULL) {
  check_dots_empty(...)
  n <- check_counts(n)
  k <- check_counts(k)
  if (!is.null(epsilon)) epsilon <- check_numbers(epsilon, 0, open = TRUE)
  if (!is.null(scale)) scale <- check_numbers(scale, 0, open = TRUE)
  if (!is.null(alpha)) alpha <- check_numbers(alpha, 0, open = TRUE)
  if (!is.null(beta)) beta <- check_numbers(beta, 0, 1, open = TRUE)
  if (!is.null(epsilon) && !is.null(scale)) {
    abort_input("scale", "Give one of `epsilon` and `scale`, not both: each follows from the other.")
  }
  known <- c(!is.null(epsilon) || !is.null(scale), !is.null(alpha), !is.null(beta))
  if (sum(known) != 2) {
    abort_input("alpha", paste("Give two of the noise (`epsilon` or `scale`), `alpha` and `beta`; the third",
                               "follows."))
  }
  given <- Filter(Negate(is.null), list(n = n, k = k, epsilon = epsilon, scale = scale,
                                        alpha = alpha, beta = beta))
  x <- do.call(recycle_common, given)
  x$scale <- if (!is.null(scale)) x$scale
    else if (!is.null(epsilon)) x$k / (x$n * x$epsilon) else x$alpha / log(x$k / x$beta)
  x$epsilon <- if (is.null(epsilon)) x$k / (x$n * x$scale) else x$epsilon
  if (is.null(alpha)) x$alpha <- x$scale * log(x$k / x$beta)
  if (is.null(beta)) x$beta <- pmin(1, x$k * exp(-x$alpha / x$scale))
  tibble::new_tibble(x[c("n", "k", "epsilon", "scale", "alpha", "beta")], nrow = length(x$n))
}
