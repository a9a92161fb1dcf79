#' The least variance scale within a privacy budget
#'
#' Gaussian Thompson sampling with given pre-pulls and as little extra variance as the budget allows:
#' finds the smallest `variance_scale` for which `accountant` certifies the budget.
#'
#' @details
#' With mu the Gaussian DP of the whole run, `"gdp"` needs `variance_scale` = rounds /
#' (mu^2 (max(`prepulls`, 1) + 1)), rounds = `horizon` - `arms` x `prepulls` (all of `horizon` with
#' `pools = TRUE`); the paper's c (b + 1) =
#' T / mu^2 is the same up to the pre-pull rounds. An (epsilon, delta) budget is first turned
#' into mu, exactly by `"gdp"`, through Rényi orders by `"rdp"`. `"sequence"` finds the scale by
#' root search over [sequence_rdp()], `"direct"` over [sequence_gdp()] or [sequence_epsilon()], both to
#' a relative 1e-3, from above.
#'
#' mu-GDP is a statement at every delta. `"direct"` certifies it up to a `nu`: `privacy_gdp(mu, nu)`. A
#' budget without a nu is read up to `delta` / 100, and a message says so. Rényi bounds say nothing about
#' mu-GDP as such: under `"rdp"` or `"sequence"` the budget is read at one delta, at which epsilon must not
#' exceed `gdp_epsilon(mu, delta)`, and a message says so. No accountant certifies
#' epsilon-DP with delta = 0, so [privacy_pure()] cannot be met.
#'
#' @inheritSection dpts_privacy Privacy
#' @param budget A budget from [privacy_approx()] or [privacy_gdp()].
#' @param horizon Number of rounds, pre-pulls included: a whole number.
#' @param prepulls Pulls of each arm before sampling starts: a whole number.
#' @param accountant `"gdp"`, `"rdp"`, `"sequence"` or `"direct"`.
#' @param arms Number of arms: a whole number, at least 2.
#' @param delta Where a [privacy_gdp()] budget is read under `"rdp"` and `"sequence"`, and 100 times the nu
#'   up to which `"direct"` meets it: a number in (0, 1), by default 1 / `horizon`.
#' @param pools `TRUE` if arms can be off offer in some rounds: then all rounds are charged; see
#'   [dpts_privacy()].
#' @returns A policy, [policy_ts_gaussian()].
#' @section Errors:
#' A budget that cannot be met raises an error of class `dpts_error_budget`.
#' @family privacy
#' @examples
#' dpts_calibrate(privacy_gdp(1), horizon = 1e4, prepulls = 100, accountant = "gdp")
#' dpts_calibrate(privacy_gdp(1, nu = 1e-7), horizon = 1e4, prepulls = 100, accountant = "direct")
#' dpts_calibrate(privacy_approx(4.4, 1e-5), horizon = 1e4, prepulls = 100)
#' @export
dpts_calibrate <- function(budget, horizon, prepulls, accountant = "sequence", arms = 2,
                           delta = 1 / horizon, pools = FALSE) {
  check_budget(budget)
  horizon <- check_count(horizon)
  prepulls <- check_count(prepulls, 0)
  accountant <- check_choice(accountant, calibrating_accountants())
  arms <- check_count(arms, 2)
  delta <- check_number(delta, 0, 1, open = c(FALSE, TRUE))
  check_flag(pools)
  calibrate(budget, conditions(horizon, arms, pools = pools), prepulls, accountant, delta)
}

#' The accountants that can set Gaussian Thompson sampling to a budget, of all kinds or of one:
#' "approx", "gdp" or "near_gdp"
#' @noRd
calibrating_accountants <- function(kind = NULL) {
  names(Filter(function(entry) {
    !is.null(entry$least_scale) && (is.null(kind) || kind %in% entry$certifies)
  }, accountants()))
}

calibrate <- function(budget, at, prepulls, accountant, delta, quiet = FALSE,
                      call = caller_env()) {
  if (drawing_rounds(prepulls, at) <= 0) {
    rlang::abort(
      sprintf("`horizon` must be above %s, the pre-pulls of %s, not %s.",
              label_count(at$arms * prepulls), count_noun(at$arms, "arm", "arms"),
              label_count(at$horizon)),
      class = c("dpts_error_horizon", "dpts_error_input", "dpts_error"),
      arg = "horizon", call = call
    )
  }
  goal <- budget_goal(budget, accountant, delta, quiet, call)
  # What the policy itself will declare, by the accountant that certifies it
  inside <- function(scale) {
    guarantee <- guarantee_gdp_rounds(prepulls, scale)
    if (is.null(goal$mu)) {
      account(guarantee, accountant, at, goal$delta) <= goal$epsilon * (1 - 1e-14)
    } else if (is.null(goal$nu)) {
      form(guarantee, "mu", at) <= goal$mu * (1 - 1e-14)
    } else {
      form(guarantee, "near", at)$mu(goal$nu) <= goal$mu * (1 - 1e-14)
    }
  }
  scale <- accountants()[[accountant]]$least_scale(goal, drawing_rounds(prepulls, at), prepulls,
                                                   inside)
  if (scale == Inf) {
    refuse_budget(budget, sprintf("\"%s\" does not reach it with any variance scale", accountant),
                  call)
  }
  if (!(scale <= VARIANCE_SCALE[2])) {
    refuse_budget(budget, sprintf("it asks for a variance scale of %s, above %s",
                                  format(signif(scale, 3)), format(VARIANCE_SCALE[2])), call)
  }
  policy_ts_gaussian(prepulls = prepulls, variance_scale = max(scale, VARIANCE_SCALE[1]))
}

#' @noRd
refuse_budget <- function(budget, why, call) {
  abort_dpts(sprintf("The budget, %s, cannot be met: %s.", format(budget), why),
             c("dpts_error_budget", "dpts_error_input"), call, arg = "budget")
}

#' What an accountant must reach: a mu, or an epsilon at a delta
#' @noRd
budget_goal <- function(budget, accountant, delta, quiet, call) {
  refuse <- function(why) refuse_budget(budget, why, call)
  switch(
    budget$kind,
    pure = refuse(paste("Gaussian Thompson sampling has no finite epsilon at delta = 0;",
                        "use `privacy_approx()`")),
    approx = {
      if (budget$delta == 0) refuse("delta must be positive")
      list(epsilon = budget$epsilon, delta = budget$delta)
    },
    gdp = {
      if (budget$mu == 0) refuse("mu must be positive")
      if (accountant %in% calibrating_accountants("gdp")) return(list(mu = budget$mu))
      if (accountant %in% calibrating_accountants("near_gdp") && !is.null(budget$nu)) {
        return(list(mu = budget$mu, nu = budget$nu))
      }
      if (delta == 0) refuse("`delta` must be positive")
      if (accountant %in% calibrating_accountants("near_gdp")) {
        near <- privacy_gdp(budget$mu, delta / 100)
        if (!quiet) {
          rlang::inform(sprintf("Accountant \"%s\" certifies GDP up to a nu. The budget is read as %s.",
                                accountant, format(near)), class = "dpts_message_budget")
        }
        return(list(mu = near$mu, nu = near$nu))
      }
      epsilon <- gdp_epsilon(budget$mu, delta)
      if (!quiet) {
        rlang::inform(
          sprintf(paste("Accountant \"%s\" cannot certify %s at every delta. The budget is",
                        "read as (%s, %s)-DP."), accountant, format(budget),
                  format(signif(epsilon, 6)), format(delta)),
          class = "dpts_message_budget"
        )
      }
      list(epsilon = epsilon, delta = delta)
    }
  )
}

# ---- one for each accountant: a scale that is `inside`, and little above the least ----------

#' From the total mu: rounds / (scale (max(b, 1) + 1)) = mu^2
#' @noRd
scale_of_mu <- function(mu, rounds, prepulls, inside) {
  scale <- rounds / (mu^2 * (max(prepulls, 1) + 1))
  # Outside the range of policies nothing need be inside.
  if (!is.finite(scale) || scale > VARIANCE_SCALE[2]) return(scale)
  raise_until(max(scale, VARIANCE_SCALE[1]), inside, 1e-15)
}

least_scale_gdp <- function(goal, rounds, prepulls, inside) {
  scale_of_mu(goal$mu %||% gdp_mu(goal$epsilon, goal$delta), rounds, prepulls, inside)
}

least_scale_rdp <- function(goal, rounds, prepulls, inside) {
  scale_of_mu(rdp_mu(goal$epsilon, goal$delta), rounds, prepulls, inside)
}

least_scale_sequence <- function(goal, rounds, prepulls, inside) {
  scale <- calibrate_sequence(goal$epsilon, goal$delta, rounds, prepulls)
  if (is_certified(prepulls, scale)) scale else Inf
}

#' A secant search for mu, or for epsilon from what the sequence accountant asks for
#' @noRd
least_scale_direct <- function(goal, rounds, prepulls, inside) {
  if (!is.null(goal$mu)) {
    at <- function(scale, fine) near_gdp(rounds, prepulls, scale, goal$nu, if (fine) 1 else COARSE)
    start <- rounds / (goal$mu^2 * (max(prepulls, 1) + 1))
    excess <- function(raw) log(raw / goal$mu)
  } else {
    start <- least_scale_sequence(goal, rounds, prepulls, inside)
    if (!is.finite(start)) start <- rounds / (gdp_mu(goal$epsilon, goal$delta)^2 * (max(prepulls, 1) + 1))
    if (goal$epsilon == 0) return(if (is_certified(prepulls, start) && inside(start)) start else Inf)
    at <- function(scale, fine) direct_epsilon(goal$delta, rounds, prepulls, scale, fine)
    excess <- function(raw) asinh(20 * raw) - asinh(20 * goal$epsilon)
  }
  # Outside what is certified nothing is known; policies have no scale that small or large.
  clamp <- function(x) min(max(exp(x), VARIANCE_SCALE[1]), 1e12 / (max(prepulls, 1) + 1))
  # First with what is solved on a coarse grid
  search <- function(fine) function(x, order) list(raw = at(clamp(x), fine), order = order)
  near <- secant_above(search(FALSE), excess, log(start), NA, tolerance = 0.01)
  found <- secant_above(search(TRUE), excess, near$x, NA, tolerance = 1e-3, near$slope)
  scale <- raise_until(clamp(found$x), function(scale) {
    !is_certified(prepulls, scale) || inside(scale)
  }, 1e-4)
  if (is_certified(prepulls, scale)) scale else Inf
}

#' The largest mu whose Rényi curve is within (epsilon, delta)
#' @noRd
rdp_mu <- function(epsilon, delta) {
  at <- function(log_mu) rdp_epsilon(rdp = exp(2 * log_mu) / 2, delta = delta) - epsilon
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

#' Raise x by growing steps until it is inside: rounding errors, on the safe side. `Inf` if
#' it never is.
#' @noRd
raise_until <- function(x, inside, step) {
  while (is.finite(x) && !inside(x)) {
    x <- x * (1 + step)
    step <- 2 * step
  }
  x
}

#' The least variance scale by the sequence accountant
#'
#' Epsilon falls with the scale. Secants in the logarithms, aimed at the safe side: first on three
#' orders and a coarse grid, whose epsilon is too large by a few per cent, then on the fine grid and as
#' fine a lattice of orders as the full search ends on. The end is checked by the full search. To a
#' relative `tolerance` in the scale; `Inf` if no scale will do.
#' @noRd
calibrate_sequence <- function(epsilon, delta, rounds, prepulls, tolerance = 1e-3) {
  # The Rényi accountant's scale is enough: the sequence bound is never above it. Its best
  # order is close to the one sought.
  rho <- rdp_mu(epsilon, delta)^2 / 2
  x <- log(rounds / (2 * rho * (max(prepulls, 1) + 1)))
  order <- max(-15, min(15, rdp_best_order(rho, -log(delta))))
  # asinh is a logarithm that does not mind epsilon = 0, nor what the conversion
  # gives below it.
  excess <- function(raw) asinh(20 * raw) - asinh(20 * epsilon)
  u <- order + c(-0.5, 0, 0.5)
  rough <- function(x, order) {
    cost <- order_cost(u, sequence_value(u, rounds, prepulls, exp(x), COARSE), delta)
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
    found <- orders_of_sequence(delta, rounds, prepulls, exp(x), order + (-1:1) / 16)
    list(raw = attr(found, "raw"), order = attr(found, "order"))
  }
  near <- secant_above(rough, excess, x, order, tolerance = 0.01)
  root <- secant_above(fine, excess, near$x, near$order, tolerance, near$slope)
  raise_until(exp(root$x), function(scale) {
    orders_of_sequence(delta, rounds, prepulls, scale) <= epsilon
  }, tolerance / 10)
}

#' An x at most `tolerance` above the root of a falling function
#'
#' `search(x, order)` gives a `raw` value and the `order` where it was found; `excess(raw)` is
#' to be brought to 0 or just below. `slope` is its slope in x, where that is known well enough to end on.
#' @noRd
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
