# Where to begin to look for the least variance scale of Gaussian Thompson sampling: a value at most a
# thousandth above it, for each accountant that calibrates. A goal has an epsilon and a delta, or a mu and
# perhaps a nu; `sampler` is a function of the scale.

# From the total mu: rounds / (scale (max(b, 1) + 1)) = mu^2
scale_of_mu <- function(mu, sampler) {
  one <- sampler(1)
  one$rounds / (mu^2 * one$weight)
}

start_sequence <- function(goal, sampler, ...) {
  scale <- max(calibrate_sequence(goal$epsilon, goal$delta, sampler), VARIANCE_SCALE[1])
  if (is_certified(sampler(scale))) scale else Inf
}

# The least scale at which one of the bounds is enough: a secant search for each, from what the cheaper ones
# ask for, and only where it may ask for less
# `sharp`: `FALSE`: without the lattice, which takes seconds.
start_direct <- function(goal, sampler, sharp = TRUE) {
  to_mu <- !is.null(goal$mu)
  aim <- goal$mu %||% goal$epsilon
  scale <- scale_of_mu(goal$mu %||% gdp_mu(goal$epsilon, goal$delta), sampler)
  if (!to_mu) scale <- min(scale, start_sequence(goal, sampler))
  scale <- max(scale, VARIANCE_SCALE[1])
  if (!is_certified(sampler(scale))) return(Inf)
  if (aim == 0 || scale == VARIANCE_SCALE[1]) return(scale) # none is less
  excess <- if (to_mu) function(raw) log(raw / aim) else function(raw) asinh(20 * raw) - asinh(20 * aim)
  # Outside what is certified nothing is known; policies have no scale that small or large.
  clamp <- function(x) min(max(exp(x), VARIANCE_SCALE[1]), 1e12 / sampler(1)$weight)
  bar <- progress_bar(total = NA, name = "Calibrating", things = "scales")
  tried <- 0
  # Where a bound does not apply, it is far too large.
  root <- function(bound, from, tolerance, slope = NULL) {
    search <- function(x, order) {
      bar(tried <<- tried + 1)
      list(raw = min(bound(sampler(clamp(x))), 100 * aim), order = order)
    }
    found <- secant_above(search, excess, log(from), NA, tolerance, slope)
    list(scale = clamp(found$x), slope = found$slope)
  }
  near <- function(fine) {
    function(own) {
      if (to_mu) near_gdp(own, goal$nu, if (fine) 1 else COARSE) else direct_near(goal$delta, own, fine)
    }
  }
  # A coarse grid asks for up to a tenth more.
  if (near(FALSE)(sampler(scale)) < 1.15 * aim) {
    rough <- root(near(FALSE), scale, 0.01)
    scale <- min(scale, root(near(TRUE), rough$scale, 1e-3, rough$slope)$scale)
  }
  if (!sharp) return(scale)
  if (!is.null(lattice_size(sampler(scale)))) {
    lattice <- function(own) if (to_mu) lattice_gdp(own, goal$nu) else direct_lattice(goal$delta, own)
    scale <- min(scale, root(lattice, scale, 0.01, slope = -0.6)$scale)
  }
  if (!to_mu || orders_gdp(sampler(scale), goal$nu, aim) >= 0.99 * aim) return(scale)
  min(scale, root(function(own) orders_gdp(own, goal$nu), scale, 0.01)$scale)
}

# The largest mu whose Rényi curve is within (epsilon, delta)
rdp_mu <- function(epsilon, delta) {
  at <- function(log_mu) rdp_linear(exp(2 * log_mu) / 2, delta, "improved") - epsilon
  # The conversion by orders never beats the exact one, so its mu is no larger.
  upper <- log(gdp_mu(epsilon, delta))
  lower <- upper - 1
  while (at(lower) > 0) lower <- lower - 1
  if (at(upper) <= 0) return(exp(upper))
  # At epsilon = 0 the curve is flat: bisect for its edge.
  while (upper - lower > 1e-13 * max(1, abs(lower))) {
    middle <- (lower + upper) / 2
    if (at(middle) <= 0) lower <- middle else upper <- middle
  }
  exp(lower)
}

# The least variance scale by the sequence accountant
#
# Epsilon falls with the scale. Secants in the logarithms, aimed at the safe side: first on three
# orders and a coarse grid, whose epsilon is too large by a few per cent, then on the fine grid and as
# fine a lattice of orders as the full search ends on. To a relative `tolerance` in the scale.
calibrate_sequence <- function(epsilon, delta, sampler, tolerance = 1e-3) {
  # The Rényi accountant's scale is enough: the sequence bound is never above it. Its best
  # order is close to the one sought.
  rho <- rdp_mu(epsilon, delta)^2 / 2
  x <- log(sampler(1)$rounds / (2 * rho * sampler(1)$weight))
  order <- max(-15, min(15, rdp_best_order(rho, -log(delta))))
  # asinh is a logarithm that does not mind epsilon = 0, nor what the conversion gives below it.
  excess <- function(raw) asinh(20 * raw) - asinh(20 * epsilon)
  u <- order + c(-0.5, 0, 0.5)
  rough <- function(x, order) {
    cost <- order_cost(u, sequence_value(u, sampler(exp(x)), COARSE), delta)
    least <- which.min(cost)
    if (least != 2) return(list(raw = cost[least], order = u[least]))
    # the bottom of the parabola
    bend <- cost[1] - 2 * cost[2] + cost[3]
    tilt <- cost[1] - cost[3]
    list(raw = cost[2] - tilt^2 / (8 * bend), order = u[2] + tilt / (4 * bend))
  }
  fine <- function(x, order) {
    # The full search halves its way from spacing 1 to 1/16.
    order <- max(-15, min(15, round(order * 16) / 16))
    found <- orders_of_sequence(delta, sampler(exp(x)), order + (-1:1) / 16)
    list(raw = attr(found, "raw"), order = attr(found, "order"))
  }
  near <- secant_above(rough, excess, x, order, tolerance = 0.01)
  root <- secant_above(fine, excess, near$x, near$order, tolerance, near$slope)
  exp(root$x)
}

# An x at most `tolerance` above the root of a falling function
#
# `search(x, order)` gives a `raw` value and the `order` where it was found; `excess(raw)` is
# to be brought to 0 or just below. `slope` is its slope in x, where that is known well enough to end on.
secant_above <- function(search, excess, x, order, tolerance, slope = NULL) {
  least <- if (is.null(slope)) 2 else 1
  slope <- slope %||% -0.7
  upper <- Inf
  lower <- -Inf
  found <- search(x, order)
  f <- excess(found$raw)
  for (i in 1:60) {
    if (f <= 0) upper <- x else lower <- x
    if (f <= 0 && i >= least && (f > slope * tolerance || upper - lower < tolerance)) break
    next_x <- x - (f - 0.4 * slope * tolerance) / slope
    if (is.finite(lower) && is.finite(upper)) {
      if (next_x <= lower || next_x >= upper) next_x <- (lower + upper) / 2
    } else {
      next_x <- x + max(-4, min(4, next_x - x))
    }
    found <- search(next_x, found$order)
    new <- excess(found$raw)
    if (next_x != x) slope <- max(-3, min(-1e-5, (new - f) / (next_x - x)))
    f <- new
    x <- next_x
  }
  list(x = x, order = found$order, slope = slope)
}
