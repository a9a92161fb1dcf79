#' The direct accountant: what the published arms leak, straight in epsilon and delta
#'
#' @description These functions bound from above how much the arms that Gaussian Thompson sampling chooses
#' reveal. [sequence_rdp()] bounds Rényi divergences in the same setting; here nothing is lost in a
#' conversion.
#'
#' * `sequence_gdp()` gives a mu such that the published arms are mu-GDP up to `nu`: one
#'   statement for every epsilon, which composes.
#' * `sequence_delta()` and `sequence_epsilon()` give the delta at an epsilon and the epsilon
#'   at a delta: the least of three bounds.
#'
#' @details
#' mu-GDP up to nu says that delta(epsilon) is at most `gdp_delta(mu, epsilon) + nu` for *every*
#' epsilon at once, in both directions. It composes: together with a mu'-GDP
#' release of the same people the whole is sqrt(mu^2 + mu'^2)-GDP up to nu. mu depends on nu
#' weakly, through sqrt(log(1 / nu)); take nu a tenth to a hundredth of the delta in mind.
#' [privacy_gdp()] with a `nu` is such a statement as a budget, or as a part of [privacy_compose()].
#'
#' Three bounds stand behind `sequence_delta()` and `sequence_epsilon()`:
#'
#' * Near-GDP, `sequence_gdp()` at a nu that suits the delta. Let M_tau(n) be mu^2 for tau remaining rounds
#'   when the private arm has n rewards. A round that publishes one bit lifts it by what a Rényi round of
#'   order 1/2 + epsilon / M lifts it, less a credit for the pull, after which rounds leak less. The solution
#'   is linear between nodes in n and tau and meets this inequality at every integer by convexity. Used where
#'   `variance_scale` (max(`prepulls`, 1) + 1) is at least 16, and sharp above some thousands: there the arms
#'   leak almost exactly like a Gaussian mechanism.
#' * The recursion for delta(epsilon) itself, on a lattice of privacy losses with every loss rounded up, for
#'   some thousands of rounds. Within 1 percent of the truth for vanilla Thompson sampling over 10 to 1,000
#'   rounds, and used where `variance_scale` (max(`prepulls`, 1) + 1) is between 1/4 and 1600; a bound also
#'   holds at every larger scale.
#' * Rényi orders, [sequence_rdp()], for all else, or the draws themselves, where nearly all that they
#'   leak shows in the arms.
#'
#' The last two bound delta at each epsilon: `sequence_gdp()` is the least of near-GDP's mu and of those whose
#' Gaussian curve, with nu, is nowhere below one of them (the lattice's for a nu above 4e-13). Without
#' pre-pulls that is less than half of what near-GDP says.
#'
#' That mu can say a little more than the three: the epsilon of its Gaussian curve at delta - nu, with a nu of
#' delta / 20, say, may be up to about 1 percent below `sequence_epsilon()`. A sampler that just meets a
#' budget [privacy_gdp()] with a `nu` may so have an epsilon that little above the budget's own.
#'
#' Each is proved but for rounding errors, which margins cover; the sources (src/account_near_gdp.c,
#' src/account_lattice.c) state the inequalities. An inequality that is not met is an error and never a
#' number.
#'
#' @inheritSection sequence_rdp Privacy
#' @inheritParams sequence_rdp
#' @param nu The part of delta outside the Gaussian curve: numbers in \[1e-300, 1).
#' @param epsilon Privacy parameter of (epsilon, delta)-DP: non-negative numbers.
#' @param delta The probability with which epsilon may be exceeded: numbers in \[0, 1\].
#' @template dots
#' @returns `sequence_gdp()`: a tibble, one row for each element of the recycled arguments:
#'   * `mu`: the arms are mu-GDP up to nu;
#'   * `nu`: as given.
#'
#'   `sequence_delta()` and `sequence_epsilon()`: a vector, all arguments recycled to one length.
#'   The published arms are (epsilon, delta)-DP. Only delta = 1 and epsilon = `Inf` are
#'   certain without a bound: `sequence_epsilon(0, ...)` is `Inf`.
#' @section Errors:
#' Settings outside the certified range, 1e-12 <= `variance_scale` (max(`prepulls`, 1) + 1) <= 1e12, are
#' refused with class `dpts_error_range`; an unmet inequality is of class `dpts_error_certificate`.
#' @template dong
#' @template see_privacy
#' @examples
#' # The paper's accounting of the same run is 3.73-GDP
#' sequence_gdp(rounds = 97500, prepulls = 500, variance_scale = 14)
#' sqrt(97500 / (14 * 501))
#'
#' sequence_epsilon(delta = c(1e-2, 1e-5, 1e-10), rounds = 500, prepulls = 500, variance_scale = 14)
#' sequence_delta(epsilon = 9, rounds = 10)
#' @export
sequence_gdp <- function(rounds, prepulls = 0, variance_scale = 1, nu = 1e-7, ...) {
  check_dots_empty(...)
  nu <- check_numbers(nu, 1e-300, 1, open = c(FALSE, TRUE))
  args <- check_samplers(rounds, prepulls, variance_scale, nu = nu)
  mu <- by_sampler(args, args$nu, function(nu, sampler) published_gdp(sampler, nu))
  as_bounds(tibble::new_tibble(list(mu = mu, nu = args$nu), nrow = length(mu)))
}

#' @rdname sequence_gdp
#' @export
sequence_delta <- function(epsilon, rounds, prepulls = 0, variance_scale = 1, ...) {
  check_dots_empty(...)
  epsilon <- check_numbers(epsilon, 0, inf = TRUE)
  args <- check_samplers(rounds, prepulls, variance_scale, epsilon = epsilon)
  by_sampler(args, args$epsilon, direct_delta)
}

#' @rdname sequence_gdp
#' @export
sequence_epsilon <- function(delta, rounds, prepulls = 0, variance_scale = 1, ...) {
  check_dots_empty(...)
  delta <- check_numbers(delta, 0, 1)
  args <- check_samplers(rounds, prepulls, variance_scale, delta = delta)
  by_sampler(args, args$delta, direct_epsilon)
}

# `fine`: `FALSE`: an approximation, somewhat too large, in a tenth of the time.
# `enough`: An epsilon that will do: bounds that cost more are not looked at once all are below it.
direct_epsilon <- function(delta, sampler, fine = TRUE, enough = -Inf) {
  epsilon <- ifelse(delta == 1, 0, Inf)
  open <- delta > 0 & delta < 1
  if (!any(open)) return(epsilon)
  goal <- delta[open]
  bound <- as.numeric(orders_of_sequence(goal, sampler, fine = fine))
  bound <- pmin(bound, gdp_epsilon(mu_published(sampler), goal))
  if (any(bound > enough)) bound <- pmin(bound, direct_near(goal, sampler, fine))
  if (any(bound > enough)) bound <- pmin(bound, direct_lattice(goal, sampler, fine))
  epsilon[open] <- bound
  epsilon
}

# Epsilon by near-GDP alone, and by the lattice alone: Inf where they do not apply
direct_near <- function(delta, sampler, fine = TRUE) {
  near <- near_curves(delta, sampler, fine)
  bound <- rep(Inf, length(delta))
  for (i in seq_along(near$nu)) bound <- pmin(bound, near_epsilon(near$mu[i], near$nu[i], delta))
  bound
}

direct_lattice <- function(delta, sampler, fine = TRUE) {
  curve <- lattice_curve(sampler, min(delta), fine)
  if (is.null(curve)) rep(Inf, length(delta)) else lattice_epsilon(curve, delta)
}

direct_delta <- function(epsilon, sampler) {
  delta <- rep(0, length(epsilon))
  open <- is.finite(epsilon)
  if (!any(open)) return(delta)
  goal <- epsilon[open]
  bound <- exp(log_delta_of_sequence(goal, sampler))
  bound <- pmin(bound, gdp_delta(mu_published(sampler), goal))
  curve <- lattice_curve(sampler, min(bound))
  if (!is.null(curve)) bound <- pmin(bound, lattice_delta(curve, goal))
  # A first mu tells which nu suits.
  first <- near_curves(1e-6, sampler)
  guess <- bound
  if (length(first$mu) == 1) guess <- pmin(bound, gdp_delta(first$mu, goal) + first$nu)
  near <- near_curves(guess, sampler)
  for (i in seq_along(near$nu)) bound <- pmin(bound, gdp_delta(near$mu[i], goal) + near$nu[i])
  delta[open] <- pmin(1, bound)
  delta
}

# The arms are a function of the draws: what all of these leak
mu_published <- function(sampler) sqrt(sampler$rounds / sampler$weight)

# ---- near-GDP -------------------------------------------------------------------------

# mu such that the published arms are mu-GDP up to nu: the least of what proves it
published_gdp <- function(sampler, nu, enough = -Inf) {
  vapply(nu, function(nu) {
    mu <- mu_published(sampler)
    if (mu <= enough) return(mu)
    mu <- min(mu, near_gdp(sampler, nu))
    if (mu > enough) mu <- min(mu, lattice_gdp(sampler, nu))
    if (mu > enough) mu <- min(mu, orders_gdp(sampler, nu, mu))
    mu
  }, 0)
}

near_gdp <- function(sampler, nu, coarse = 1) {
  # With wider shifts than 1/4 it is above the orders, and far from them over many rounds, for hours.
  if (sampler$weight < 16) return(rep(Inf, length(nu)))
  # Over so many rounds a large nu takes minutes, since steps fail; a smaller one says more.
  if (sampler$rounds > 1e8) nu <- pmin(nu, 1e-4)
  args <- recycle_common(nu = nu, rounds = sampler$rounds, start = sampler$start, scale = sampler$scale)
  # Where shifts are wide, wide cells take steps of single rounds: a minute for a second.
  if (sampler$weight < 64) coarse <- 1
  bar <- progress_bar()
  solve <- function(coarse) {
    unlist(solve_once("near", c(args, coarse), function(i) {
      .Call(C_near_gdp, args$rounds[i], args$start[i], args$scale[i], args$nu[i], coarse, bar)
    }))
  }
  mu <- solve(coarse)
  # Wide cells may fail where narrow ones do not.
  if (coarse > 1 && anyNA(mu)) mu <- solve(1)
  if (anyNA(mu)) {
    abort_dpts(sprintf(paste("An inequality of the proof is not met at %s rounds, %s rewards of the private",
                             "arm and variance scale %s: no value is certified."),
                       number_text(sampler$rounds), number_text(sampler$start), number_text(sampler$scale)),
               "dpts_error_certificate")
  }
  mu
}

# The nus for given deltas: 1/60 of some of them. A nu that is 300 times smaller than it need be
# costs less than 1 percent of mu, so that one curve serves some neighbours.
nu_for <- function(delta) {
  delta <- sort(delta[delta > 1e-298 & delta < 1])
  nu <- numeric()
  while (length(delta) > 0) {
    nu <- c(nu, delta[1] / 60)
    delta <- delta[delta > 300 * delta[1]]
  }
  nu
}

# Curves for given deltas
near_curves <- function(delta, sampler, fine = TRUE) {
  nu <- nu_for(delta)
  if (length(nu) == 0) return(list(mu = numeric(), nu = numeric()))
  list(mu = near_gdp(sampler, nu, if (fine) 1 else COARSE), nu = nu)
}

# Renyi orders bound delta at each epsilon, and so with nu a mu. Their points are the same for all samplers:
# the mu is as monotone as the bounds.
# `enough`: Another bound: Inf where the orders are surely above it.
orders_gdp <- function(sampler, nu, enough = Inf) {
  end <- as.numeric(orders_of_sequence(nu, sampler, fine = FALSE))
  if (!is.finite(end)) return(Inf)
  epsilon <- 0.02 * expm1(0.01 * seq(0, ceiling(100 * log1p(end / 0.02)) + 1))
  delta_at <- function(epsilon, fine = FALSE) exp(log_delta_of_sequence(epsilon, sampler, fine = fine))
  # A few points, and a coarse bound, will do where little is asked.
  few <- epsilon[ceiling(length(epsilon) * 1:4 / 5)]
  if (enough < Inf && any(delta_at(few) - nu > gdp_delta(enough / 0.85, few))) return(Inf)
  delta <- delta_at(epsilon)
  asked <- curve_points(epsilon, delta, nu)
  rough <- curve_mu(asked)
  if (rough == 0) return(0) # nothing is asked: delta is below nu everywhere
  if (rough == Inf || 0.85 * rough > enough) return(Inf)
  binds <- asked$left[asked$delta > gdp_delta(0.85 * rough, asked$epsilon)]
  binds <- unique(c(binds, binds + 1))
  if (length(binds)) delta[binds] <- pmin(delta[binds], delta_at(epsilon[binds], TRUE))
  curve_mu(curve_points(epsilon, delta, nu))
}

# What a Gaussian curve must be above to be, with nu, nowhere below a bound that is known at some points, from
# epsilon = 0 to where it is at most nu: at each epsilon the delta, beside the number of the last point on the
# left
#
# The delta that is bounded is convex in exp(epsilon): below the chords between the points. Both curves fall,
# so that it is enough to hold the Gaussian one at the right end of a short interval against the chord at its
# left end. Where the bound is below nu, and so from its last point on, nothing is asked. Epsilon below 0
# follows: P and Q may change places, and delta(-e) = 1 - exp(-e) + exp(-e) delta(e) of the exchanged pair,
# for both curves.
curve_points <- function(epsilon, delta, nu, parts = 8) {
  delta <- cummin(delta)
  n <- length(delta)
  if (delta[n] > nu) return(list(epsilon = 0, delta = 1, left = n)) # more than any curve has
  left <- rep(seq_len(n - 1), each = parts)
  step <- diff(epsilon)[left]
  into <- step * (seq_len(parts) - 1) / parts
  share <- exp(into - step) * expm1(-into) / expm1(-step)
  asked <- delta[left] + share * (delta[left + 1] - delta[left]) - nu
  asks <- which(asked > 0)
  list(epsilon = c(epsilon[left] + into, epsilon[n])[asks + 1], delta = asked[asks], left = left[asks])
}

# The least mu of a Gaussian curve above all of them: from some of those that are not yet below it, and again
curve_mu <- function(asked) {
  mu <- 0
  open <- seq_along(asked$delta)
  mu_of <- function(some) max(gdp_mu(asked$epsilon[some], asked$delta[some]))
  while (length(open) > 20) {
    some <- open[round(seq(1, length(open), length.out = 20))]
    mu <- max(mu, mu_of(some))
    open <- setdiff(open[asked$delta[open] > gdp_delta(mu, asked$epsilon[open])], some)
  }
  if (length(open)) mu <- max(mu, mu_of(open))
  mu * (1 + 1e-12)
}

# ---- the lattice ----------------------------------------------------------------------

# Below this the lattice does not resolve delta.
MIN_LATTICE_DELTA <- 1e-13

# delta at points epsilon = 0, step, ..., far enough for `delta`, or NULL where the lattice would be
# too coarse for the work it may take
lattice_curve <- function(sampler, delta, fine = TRUE) {
  size <- lattice_size(sampler)
  if (is.null(size)) return(NULL)
  # Beyond its end the lattice of the last scale holds: with more noise the adversary's shifts, at most d(n),
  # are some of those that it has with less, and all else is the same.
  if (sampler$weight > LATTICE_WEIGHT) {
    sampler$scale <- LATTICE_WEIGHT / (sampler$start + 1)
    sampler$weight <- LATTICE_WEIGHT
  }
  # U is read as constant beyond the lattice, so that this should be small there against delta.
  least <- max(delta / 1000, MIN_LATTICE_DELTA)
  reach <- as.numeric(orders_of_sequence(least, sampler, fine = fine))
  if (!is.finite(reach) || reach <= 0) return(NULL)
  points <- if (fine) size$points else 200
  left <- min(3, reach)
  step <- (reach + left) / points
  below <- ceiling(left / step)
  points <- below + ceiling(reach / step) + 1
  args <- list(sampler$rounds, sampler$start, sampler$scale, size$nodes, step, below, points)
  bar <- progress_bar()
  delta <- solve_once("lattice", args, function(i) {
    list(do.call(.Call, c(list(C_sequence_lattice), args, bar)))
  })
  list(delta = delta[[1]][seq(below + 1, points)], step = step)
}

# How far the private arm's rewards are told apart, and the points in epsilon, or NULL
LATTICE_WEIGHT <- 1600

lattice_size <- function(sampler) {
  # At four times the weight near-GDP, or orders, are below it.
  if (sampler$weight < 0.25 || sampler$weight > 4 * LATTICE_WEIGHT) return(NULL)
  nodes <- min(sampler$rounds + 1, 40 + 4 * sampler$start)
  points <- min(1600, floor(1e8 / (sampler$rounds * nodes)))
  if (points >= 300) list(nodes = nodes, points = points)
}

# delta is convex in y = exp(epsilon): chords in y are above it.
lattice_epsilon <- function(curve, delta) {
  # the first point at which each delta is reached
  falling <- -cummin(curve$delta)
  at <- findInterval(-delta, falling, left.open = TRUE) + 1
  n <- length(curve$delta)
  high <- curve$delta[pmax(at - 1, 1)]
  low <- curve$delta[pmin(at, n)]
  share <- (high - delta) / (high - low)
  share[!(share > 0 & share <= 1)] <- 1 # off the lattice; see below
  epsilon <- curve$step * (at - 2) + log1p(share * expm1(curve$step))
  ifelse(at == 1, 0, ifelse(at > n, Inf, epsilon))
}

lattice_gdp <- function(sampler, nu) {
  # The last point is where delta is at most half of nu by Renyi orders.
  curve <- if (nu > 4 * MIN_LATTICE_DELTA) lattice_curve(sampler, 500 * nu)
  if (is.null(curve)) return(Inf)
  curve_mu(curve_points(curve$step * (seq_along(curve$delta) - 1), curve$delta, nu))
}

lattice_delta <- function(curve, epsilon) {
  n <- length(curve$delta)
  left <- pmin(floor(epsilon / curve$step), n - 2)
  share <- expm1(epsilon - left * curve$step) / expm1(curve$step)
  inside <- curve$delta[left + 1] + pmin(share, 1) * (curve$delta[left + 2] - curve$delta[left + 1])
  ifelse(epsilon >= (n - 1) * curve$step, curve$delta[n], inside)
}
