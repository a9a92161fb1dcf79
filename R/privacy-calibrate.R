#' The least variance scale within a privacy budget
#'
#' `dpts_calibrate()` finds the smallest `variance_scale` of Gaussian Thompson sampling, with given pre-pulls,
#' for which an accountant certifies a privacy budget.
#'
#' @details
#' With mu the Gaussian DP of the whole run, `"gdp"` needs `variance_scale` = rounds /
#' (mu^2 (max(`prepulls`, 1) + 1)), rounds = `horizon` - `arms` x `prepulls` (`horizon` - 2 `prepulls`
#' with `pools = TRUE`); the paper's c (b + 1) =
#' T / mu^2 is the same up to the pre-pull rounds. An (epsilon, delta) budget is first turned
#' into mu, exactly by `"gdp"`, through Rényi orders by `"rdp"`. `"sequence"` finds the scale by
#' root search over [sequence_rdp()], `"direct"` over [sequence_gdp()] or [sequence_epsilon()], both to
#' a relative 1e-3, from above (1e-2 at short horizons, where a solve takes seconds).
#'
#' mu-GDP is a statement at every delta. `"direct"` certifies it up to a `nu`: `privacy_gdp(mu, nu)`. A
#' budget without a nu is read up to `delta` / 100, and a message says so. Rényi bounds say nothing about
#' mu-GDP as such: under `"rdp"` or `"sequence"` the budget is read at one delta, at which epsilon must not
#' exceed `gdp_epsilon(mu, delta)`, and a message says so. No accountant certifies
#' epsilon-DP with delta = 0, so [privacy_pure()] cannot be met.
#'
#' @inheritSection dpts_privacy Privacy
#' @param budget How much may leak: a budget from [privacy_approx()] or [privacy_gdp()].
#' @param horizon Number of rounds, pre-pulls included: a whole number.
#' @param prepulls Pulls of each arm before sampling starts: a whole number.
#' @param accountant How the budget is certified: `"gdp"`, `"rdp"`, `"sequence"` or `"direct"`; or `NULL`, the
#'   sharpest that certifies the budget without weakening it: `"direct"`, and `"gdp"` for a [privacy_gdp()]
#'   budget without a nu.
#' @param arms Number of arms: a whole number, at least 2.
#' @param delta Where a [privacy_gdp()] budget is read under `"rdp"` and `"sequence"`, and 100 times the nu
#'   up to which `"direct"` meets it: a number in (0, 1), by default 0.1 / `horizon`. It should be well
#'   below one over the number of people: at delta = 1 / n a mechanism may publish everything
#'   about one person, chosen at random.
#' @param pools `TRUE` if arms can be unavailable in some rounds: then more rounds are charged; see
#'   [dpts_privacy()].
#' @template dots
#' @returns A policy, [policy_ts_gaussian()].
#' @section Errors:
#' A budget that cannot be met raises an error of class `dpts_error_budget`.
#' @template see_privacy
#' @examples
#' dpts_calibrate(privacy_gdp(1), horizon = 1e4, prepulls = 100, accountant = "gdp")
#' dpts_calibrate(privacy_gdp(1, nu = 1e-7), horizon = 1000, prepulls = 100, accountant = "direct")
#' dpts_calibrate(privacy_approx(4.4, 1e-5), horizon = 1000, prepulls = 100)
#' @export
dpts_calibrate <- function(budget, horizon, prepulls, accountant = NULL, arms = 2,
                           delta = 0.1 / horizon, pools = FALSE, ...) {
  check_dots_empty(...)
  check_budget(budget)
  horizon <- check_count(horizon)
  prepulls <- check_count(prepulls, 0)
  arms <- check_count(arms, 2)
  delta <- check_number(delta, 0, 1, open = c(FALSE, TRUE))
  accountant <- if (is.null(accountant)) sharpest_accountant(budget, delta) else
    check_choice(accountant, calibrating_accountants())
  check_flag(pools)
  begin_stages()
  calibrate(budget, conditions(horizon, arms, pools = pools), prepulls, accountant, delta)
}

# `sharp`: `FALSE`: by what is proved in a moment, where the sharpest takes seconds.
calibrate <- function(budget, at, prepulls, accountant, delta, quiet = FALSE, sharp = TRUE) {
  of_scale <- function(scale) sampler(drawing_rounds(prepulls, at), prepulls, scale)
  if (drawing_rounds(prepulls, at) <= 0) {
    abort_input("horizon", "`horizon` must be above %s, the pre-pulls of %s, not %s.",
                label_count(at$arms * prepulls),
                count_noun(at$arms, "arm", "arms"), label_count(at$horizon), class = "dpts_error_horizon")
  }
  goal <- goal_of(budget, accountant, delta, quiet)
  entry <- accountant_called(accountant)
  # What the policy itself will declare
  scale <- calibrate_parameter(function(scale) guarantee_draws(prepulls, scale), goal, at, accountant,
                               VARIANCE_SCALE, start = entry$start(goal, of_scale, sharp),
                               step = entry$step %||% 1e-4)
  if (scale == Inf) {
    refuse_budget(budget, sprintf("\"%s\" does not reach it with any variance scale", accountant))
  }
  if (!(scale <= VARIANCE_SCALE[2])) {
    refuse_budget(budget, sprintf("it asks for a variance scale of %s, above %s",
                                  number_text(signif(scale, 3)), number_text(VARIANCE_SCALE[2])))
  }
  policy_ts_gaussian(prepulls = prepulls, variance_scale = scale)
}

refuse_budget <- function(budget, why) {
  abort_input("budget", "The budget, %s, cannot be met: %s.", format(budget), why,
              class = "dpts_error_budget")
}

# ---- any parameter, any accountant --------------------------------------------------------------

# The least value of a parameter at which an accountant certifies a target
#
# `make`: A function of the parameter that gives a guarantee, the stronger the larger it is. `goal`: The
# target: a guarantee with a mu, a mu and a nu, or an epsilon and a delta. `...`: See least_inside().
calibrate_parameter <- function(make, goal, at, accountant, bracket, ...) {
  supports <- accountant_called(accountant)$supports
  least_inside(function(x) {
    guarantee <- make(x)
    if (!isTRUE(supports(guarantee, at))) return(NA)
    found <- if (!is.null(goal$delta))
      account(guarantee, accountant, at, goal$delta, enough = goal$epsilon) else
      if (is.null(goal$nu)) form(guarantee, "mu", at) else
        form(guarantee, "near", at)$mu(goal$nu, enough = goal$mu)
    found <= (goal$epsilon %||% goal$mu) * (1 - 1e-14)
  }, bracket, ...)
}

# The least x of a bracket at which something holds that holds from there on
#
# `inside`: A function of x: `TRUE`, `FALSE`, or `NA` where nothing is known.
# `bracket`: The least and the most x. From 0 the search is by halves, else by square roots.
# `tolerance`: How far what is returned may be above the least x: a share of it, or of 1 if the
#   bracket begins at 0.
# `start`: A value little above the least, found by a faster way; it is raised, by `step` and then by
#   twice as much each time, until it is inside: rounding errors, on the safe side.
# `whole`: Whole numbers only?
# Returns `Inf` if no x is inside; a `start` above the bracket as it is.
least_inside <- function(inside, bracket, tolerance = 1e-3, start = NULL, step = tolerance / 10,
                         whole = FALSE) {
  holds <- function(x) isTRUE(inside(x))
  if (!is.null(start)) {
    if (!is.finite(start) || start > bracket[2]) return(start)
    x <- max(start, bracket[1])
    while (is.finite(x) && !holds(x)) {
      if (is.na(inside(x))) return(Inf)
      x <- x * (1 + step)
      step <- 2 * step
    }
    return(x)
  }
  low <- bracket[1]
  high <- bracket[2]
  if (holds(low)) return(low)
  if (!holds(high)) return(Inf)
  wide <- function() if (whole) high - low > 1 else high - low > tolerance * (if (low > 0) low else 1)
  while (wide()) {
    middle <- if (whole) floor((low + high) / 2) else
      if (low > 0) sqrt(low) * sqrt(high) else (low + high) / 2
    if (holds(middle)) high <- middle else low <- middle
  }
  high
}

# The accountants that can set Gaussian Thompson sampling to a target, of all kinds or of one:
# "approx", "gdp" or "near_gdp"
calibrating_accountants <- function(target = NULL) {
  Filter(function(name) {
    certifies <- accountant_called(name)$certifies
    length(certifies) > 0 && (is.null(target) || target %in% certifies)
  }, ACCOUNTANTS)
}

# What an accountant must certify to reach it
goal_kind <- function(goal) {
  if (!is.null(goal$delta)) "approx" else if (is.null(goal$nu)) "gdp" else "near_gdp"
}

# The sharpest accountant that certifies a budget, weakened as little as possible
sharpest_accountant <- function(budget, delta) {
  for (goal in targets_of(budget, delta)) {
    able <- calibrating_accountants(goal_kind(goal))
    if (identical(unlist(goal[c("mu", "nu")]), unlist(budget[c("mu", "nu")])) && length(able) > 0) {
      return(able[length(able)])
    }
  }
  first <- targets_of(budget, delta)[1]
  utils::tail(calibrating_accountants(if (length(first)) goal_kind(first[[1]]) else "approx"), 1)
}

targets_of <- function(budget, delta) {
  read <- kind_of(budget)$targets
  if (is.null(read)) list() else read(budget, delta)
}

# What an accountant must reach: the first target of the budget that it certifies
goal_of <- function(budget, accountant, delta, quiet) {
  goals <- targets_of(budget, delta)
  if (length(goals) == 0) {
    refuse_budget(budget, paste("Gaussian Thompson sampling has no finite epsilon at delta = 0;",
                                "use `privacy_approx()`"))
  }
  if (identical(budget$mu, 0)) refuse_budget(budget, "mu must be positive")
  certifies <- accountant_called(accountant)$certifies
  goal <- Find(function(goal) goal_kind(goal) %in% certifies, goals)
  if (is.null(goal)) refuse_budget(budget, "`delta` must be positive")
  same <- c("epsilon", "mu", "delta", "nu")
  weaker <- !identical(unlist(goal[same]), unlist(budget[same])) && !(is.null(goal$delta) && is.null(goal$nu))
  if (weaker && !quiet) {
    rlang::inform(
      if (is.null(goal$delta)) {
        sprintf("Accountant \"%s\" certifies GDP up to a nu. The budget is read as %s.", accountant,
                format(as_budget(goal)))
      } else {
        sprintf("Accountant \"%s\" cannot certify %s at every delta. The budget is read as (%s, %s)-DP.",
                accountant, format(budget), number_text(signif(goal$epsilon, 6)), number_text(goal$delta))
      }, class = "dpts_message_budget"
    )
  }
  goal
}
