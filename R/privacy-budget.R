# Pure, approximate and Gaussian DP: the kinds of guarantee that budgets have, and conversions between them

#' Privacy budgets
#'
#' A limit on how much a run may reveal about one person, for [dpts_calibrate()], [dpts_tune()] and
#' [dpts_recommend()]; or what another release is known to reveal, for [privacy_compose()] and
#' [privacy_group()]:
#'
#' * `privacy_pure()`: epsilon-DP;
#' * `privacy_approx()`: (epsilon, delta)-DP;
#' * `privacy_gdp()`: mu-GDP, a whole curve of (epsilon, delta); see [gdp_delta()]. With a positive `nu`
#'   it is mu-GDP up to nu: at every epsilon at once, delta is at most `gdp_delta(mu, epsilon) + nu`. Gaussian
#'   Thompson sampling needs much less noise for that; see [sequence_gdp()].
#'
#' Others are [privacy_zcdp()], [privacy_rdp()] and [privacy_loss()].
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]; what is
#' published is the sequence of arms.
#'
#' @param epsilon,mu The privacy parameter: a number from 1e-6 to 1e12, or 0 if nothing may leak. (Below 1e-6
#'   the noise is so large that double precision loses the rewards; at 1e-6 a noisy sum is off by 4e-9 of a
#'   reward.)
#' @param delta,nu The probability with which epsilon, or the curve of mu-GDP, may be exceeded: a number in
#'   \[0, 1).
#' @template dots
#' @returns A budget: a guarantee, of classes `dpts_budget` and `dpts_guarantee`.
#' @template see_privacy
#' @examples
#' privacy_pure(1)
#' privacy_approx(1, 1e-6)
#' privacy_gdp(0.5)
#' privacy_gdp(0.5, nu = 1e-7)
#' @export
privacy_pure <- function(epsilon, ...) {
  check_dots_empty(...)
  epsilon <- check_budget_number(epsilon, inf = FALSE, zero = TRUE)
  as_budget(guarantee_pure(epsilon, published = "release"))
}

#' @rdname privacy_pure
#' @export
privacy_approx <- function(epsilon, delta, ...) {
  check_dots_empty(...)
  epsilon <- check_budget_number(epsilon, inf = FALSE, zero = TRUE)
  delta <- check_number(delta, 0, 1, open = c(FALSE, TRUE))
  as_budget(guarantee_approx(epsilon, delta, published = "release"))
}

#' @rdname privacy_pure
#' @export
privacy_gdp <- function(mu, nu = 0, ...) {
  check_dots_empty(...)
  mu <- check_budget_number(mu, inf = FALSE, zero = TRUE)
  nu <- check_number(nu, 0, 1, open = c(FALSE, TRUE))
  as_budget(guarantee_gdp(mu, nu, published = "release"))
}

# A guarantee used as a limit. It prints in full, since a rounded budget would be another one.
as_budget <- function(guarantee) {
  class(guarantee) <- c("dpts_budget", class(guarantee))
  guarantee
}

# A budget as the guarantee that it is
unlimited <- function(guarantee) {
  class(guarantee) <- setdiff(class(guarantee), "dpts_budget")
  guarantee
}

check_budget <- function(x, arg = caller_arg(x)) {
  check_given(x, arg)
  if (!inherits(x, "dpts_guarantee") || is.null(kind_of(x)$largest) || !is_fixed(x)) {
    other <- if (is.numeric(x)) "the horizon" else if (inherits(x, "dpts_arms")) "the arms"
    abort_arg(arg, "a budget, such as `privacy_pure(1)`", x,
              hint = if (!is.null(other)) sprintf("Were `%s` and %s given in the other order?", arg, other))
  }
  x
}

#' @export
format.dpts_budget <- function(x, digits = 15, ...) NextMethod(digits = 15)

# The call that makes the budget, exactly as it is
#' @export
as.character.dpts_budget <- function(x, ...) {
  args <- unclass(x)[intersect(c("epsilon", "mu", "delta", "nu", "rho", "alpha", "rdp", "pairs"), names(x))]
  args <- paste(names(args), vapply(args, code_text, ""), sep = " = ", collapse = ", ")
  sprintf("privacy_%s(%s)", x$kind, args)
}

#' @export
print.dpts_budget <- function(x, ...) {
  cat("<privacy budget> ", format(x), "\n", sep = "")
  invisible(x)
}

#' @export
describe_thing.dpts_budget <- function(x) format(x)[1]

# ---- pure -----------------------------------------------------------------------------------

guarantee_pure <- function(epsilon, ...) {
  if (epsilon == Inf) return(guarantee_none())
  new_guarantee("pure", epsilon = as.double(epsilon), ...)
}

kind_pure <- list(
  forms = list(
    epsilon = function(g, at) g$epsilon,
    mu = function(g, at) pure_mu(g$epsilon),
    near = function(g, at) exactly_near(pure_mu(g$epsilon)),
    rdp = function(g, at) function(alpha) pure_rdp(g$epsilon, alpha),
    pair = function(g, at) pair_point(g$epsilon, 0)
  ),
  flat = TRUE,
  fixed = function(g) TRUE,
  largest = function(g) list(epsilon = g$epsilon, mu = 0),
  together = function(parts) guarantee_pure(sum(numbers_of(parts, "epsilon")),
                                            neighbours = parts[[1]]$neighbours),
  times = function(g, k) guarantee_pure(k * g$epsilon, neighbours = g$neighbours),
  words = function(g, digits) short_words(g, g$epsilon, "DP", digits),
  sentences = function(g, digits) sentence_whole(g, paste0(format_up(g$epsilon, digits), "-DP"))
)

# ---- (epsilon, delta) at one delta ------------------------------------------------------------

guarantee_approx <- function(epsilon, delta, ...) {
  if (delta == 0) return(guarantee_pure(epsilon, ...))
  new_guarantee("approx", epsilon = epsilon, delta = delta, ...)
}

kind_approx <- list(
  forms = list(pair = function(g, at) pair_point(g$epsilon, g$delta)),
  fixed = function(g) TRUE,
  largest = function(g) list(epsilon = curve_pure(g$epsilon, g$delta), mu = gdp_mu(g$epsilon, g$delta)),
  targets = function(g, delta) list(g),
  words = function(g, digits) {
    sprintf("(%s, %s)-DP", format_up(g$epsilon, digits), format_up(g$delta, digits))
  },
  sentences = function(g, digits) sentence_whole(g, kind_approx$words(g, digits))
)

# ---- Gaussian -------------------------------------------------------------------------------

# mu-GDP over the whole run; mu may be a function of (horizon, arms). With a `nu` it holds up to nu:
# delta(epsilon) <= gdp_delta(mu, epsilon) + nu for every epsilon.
guarantee_gdp <- function(mu, nu = 0, ...) {
  if (is.numeric(mu)) mu <- as.double(mu)
  if (identical(mu, Inf)) return(guarantee_none())
  if (nu == 0) new_guarantee("gdp", mu = mu, ...) else new_guarantee("gdp", mu = mu, nu = nu, ...)
}

kind_gdp <- list(
  forms = list(
    mu = function(g, at) {
      if (!is.null(g$nu)) return(NULL)
      if (is.function(g$mu)) g$mu(at$horizon, at$arms) else g$mu
    },
    rdp = function(g, at) {
      mu <- form(g, "mu", at)
      if (!is.null(mu)) mu^2 / 2
    },
    pair = function(g, at) {
      mu <- form(g, "mu", at)
      if (!is.null(mu)) pair_gaussian(mu)
    },
    near = function(g, at) {
      if (is.null(g$nu)) return(exactly_near(form(g, "mu", at)))
      list(least = g$nu, free = FALSE, mu = function(nu, ...) if (nu >= g$nu) g$mu else Inf)
    },
    direct = function(g, at) if (!is.null(g$nu)) function(delta, ...) near_epsilon(g$mu, g$nu, delta)
  ),
  fixed = function(g) is.numeric(g$mu),
  largest = function(g) list(epsilon = mu_pure(g$mu), mu = g$mu),
  # Without a nu of its own it is read up to delta / 100, or at delta.
  targets = function(g, delta) {
    list(guarantee_gdp(g$mu), guarantee_gdp(g$mu, g$nu %||% (delta / 100)),
         guarantee_approx(gdp_epsilon(g$mu, delta), delta))
  },
  together = function(parts) guarantee_gdp(gdp_compose(numbers_of(parts, "mu")),
                                           sum(numbers_of(parts, "nu")),
                                           neighbours = parts[[1]]$neighbours),
  times = function(g, k) {
    if (is.numeric(g$mu) && is.null(g$nu)) guarantee_gdp(k * g$mu, neighbours = g$neighbours)
  },
  words = function(g, digits) {
    if (is.function(g$mu)) return("GDP that depends on the horizon")
    paste0(short_words(g, g$mu, "GDP", digits), if (!is.null(g$nu)) paste(" up to", format_up(g$nu, digits)))
  },
  sentences = function(g, digits) {
    if (is.function(g$mu)) return(sentence_growing(g, "mu-GDP", "a mu"))
    mu <- format_up(g$mu, digits)
    if (is.null(g$nu)) return(sentence_whole(g, paste0(mu, "-GDP")))
    nu <- format_up(g$nu, digits)
    c(sentence_whole(g, sprintf("%s-GDP up to nu = %s", mu, nu)),
      sprintf("That is, delta is at most gdp_delta(%s, epsilon) + %s, at every epsilon at once.", mu, nu))
  }
)

exactly_near <- function(mu) list(least = 0, free = FALSE, mu = function(nu, ...) mu)

# Epsilon of mu-GDP up to nu at each delta: that of mu-GDP at what nu leaves
near_epsilon <- function(mu, nu, delta) {
  epsilon <- ifelse(delta == 1, 0, Inf)
  inside <- delta > nu & delta < 1
  if (is.finite(mu) && any(inside)) epsilon[inside] <- gdp_epsilon(mu, delta[inside] - nu)
  epsilon
}

# One number of each guarantee; 0 where it has none
numbers_of <- function(parts, name) vapply(parts, function(part) part[[name]] %||% 0, 0)

# ---- an epsilon that depends on the horizon and on delta --------------------------------------

# `epsilon` is a function of (horizon, arms, delta).
kind_curve <- list(
  forms = list(
    curve = function(g, at) {
      function(delta) vapply(delta, function(d) g$epsilon(at$horizon, at$arms, d), 0)
    }
  ),
  fixed = function(g) FALSE,
  words = function(g, digits) "(epsilon, delta)-DP that depends on the horizon",
  sentences = function(g, digits) sentence_growing(g, "(epsilon, delta)-DP", "an epsilon")
)

# ---- conversions ------------------------------------------------------------------------------

# The least mu for which epsilon-DP is mu-GDP, and the largest epsilon for which epsilon-DP
# is mu-GDP (Dong, Roth and Su 2022): the GDP curve touches the corner of epsilon-DP's
# at type I error Phi(-mu / 2) = 1 / (1 + exp(epsilon)).
pure_mu <- function(epsilon) {
  # log(1 + exp(epsilon)) without overflow
  -2 * stats::qnorm(-(epsilon + log1p(exp(-epsilon))), log.p = TRUE)
}

mu_pure <- function(mu) stats::pnorm(mu / 2, log.p = TRUE) - stats::pnorm(-mu / 2, log.p = TRUE)

# The exact epsilon' at delta of an epsilon-DP release, that of randomised response, and
# the largest epsilon such that epsilon-DP is (epsilon', delta)-DP
pure_curve <- function(epsilon, delta) {
  # ln(exp(epsilon) - delta (1 + exp(epsilon))) = epsilon + ln(1 - delta (1 + exp(-epsilon)))
  inside <- pmax(1 - delta * (1 + exp(-epsilon)), 0)
  pmax(epsilon + log(inside), 0)
}

curve_pure <- function(epsilon, delta) epsilon + log1p(delta * exp(-epsilon)) - log1p(-delta)

# The Rényi curve of epsilon-DP, that of randomised response: with a = alpha - 1 and
# p = 1 / (1 + exp(-epsilon)), log(1 + p expm1(a epsilon) (1 - exp(-alpha epsilon))) / a
pure_rdp <- function(epsilon, alpha) {
  a <- alpha - 1
  share <- -expm1(-alpha * epsilon) * stats::plogis(epsilon)
  large <- a * epsilon > 30
  value <- log1p(share * expm1(pmin(a * epsilon, 30)))
  value[large] <- (a * epsilon + log(share) + log1p((1 - share) / share * exp(-a * epsilon)))[large]
  value / a
}
