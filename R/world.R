# Worlds: arms as the engine sees them. What is special about a problem stands in its `world`:
#
#   NULL                                        drawn in C, the same in every round
#   kind = "linear"                             with contexts (R/arms-linear.R)
#   kind = "recorded"                           a log's rewards in order (R/arms-data.R)
#   kind = "supplied", draw                     drawn in R (R/arms-custom.R, R/supply.R)
#   kind = "table", draw, means                 drawn in R, and changing
#   kind = "switch", "drift" or "walk", ...     changing (R/arms-changing.R)

world_kind <- function(arms) arms$world$kind %||% "stationary"

is_changing <- function(arms) world_kind(arms) %in% c("table", "switch", "drift", "walk")

#' What src/r_read.c reads
#' @noRd
world_kernel <- function(arms) {
  world <- arms$world
  parts <- switch(world_kind(arms), switch = world$worlds, drift = list(world$from, world$to),
                  list(arms))
  how <- world[intersect(names(world), c("at", "sd", "period", "sine", "reflect"))]
  list(kind = world_kind(arms), arms = lapply(unname(parts), arms_kernel), how = how)
}

#' Arms whose rewards are scaled to \[0, 1\], as the engine pulls them
#' @noRd
arms_kernel <- function(arms) {
  range <- arms_scale(arms)
  list(distribution = arms$distribution, mean = (arms$mean - range[1]) / diff(range),
       gap = arms$gap / diff(range), par = arms$par, unit = all(is.finite(arms$range)),
       contexts = arms$contexts)
}

#' The range that the engine scales to \[0, 1\]: rewards without bounds stay as they are
#' @noRd
arms_scale <- function(arms) if (all(is.finite(arms$range))) arms$range else c(0, 1)

# ---- are arms whole? --------------------------------------------------------------------

#' What the parameters of the arms of a distribution must be, a vector for each, in src/play_arms.c, which
#' reads them as they are
#' @noRd
SOUND_PARAMETERS <- list(
  bernoulli = function(par) all(lengths(par) == 1) && all(unlist(par) >= 0 & unlist(par) <= 1),
  truncexp = function(par) all(lengths(par) == 1),
  beta = function(par) all(lengths(par) == 2) && all(unlist(par) > 0),
  discrete = function(par) { # values, thresholds, aliases
    all(vapply(par, function(x) {
      m <- length(x) / 3
      m >= 1 && m == trunc(m) && all(utils::tail(x, m) %in% (seq_len(m) - 1))
    }, NA))
  },
  gaussian = function(par) all(lengths(par) == 3) && all(vapply(par, `[`, 0, 2) >= 0),
  data = function(par) all(lengths(par) > 0),
  linear = function(par) all(lengths(par) > 0),
  supplied = function(par) all(lengths(par) == 0)
)

#' Arms are lists, which may have been edited: is everything in them that the engine reads?
#' @noRd
are_sound <- function(arms) {
  k <- length(arms$mean)
  numbers <- function(x, n = k) is.double(x) && length(x) == n && all(is.finite(x))
  names <- arms$distribution
  whole <- k > 0 && numbers(arms$mean) && numbers(arms$gap) && all(arms$gap >= 0) &&
    is.character(names) && length(names) %in% c(1, k) && all(names %in% names(SOUND_PARAMETERS)) &&
    is.list(arms$par) && length(arms$par) == k && is.double(arms$range) && length(arms$range) == 2 &&
    isTRUE(arms$range[1] < arms$range[2])
  if (!whole) return(FALSE)
  names <- rep_len(names, k)
  if (!all(vapply(arms$par, is.double, NA)) || !all(is.finite(unlist(arms$par)))) return(FALSE)
  for (name in unique(names)) {
    if (!SOUND_PARAMETERS[[name]](arms$par[names == name])) return(FALSE)
  }
  coin <- arms$mean[names == "bernoulli"] # by which it is drawn
  if (any(coin < 0 | coin > 1)) return(FALSE)
  world <- arms$world
  switch(world_kind(arms),
    stationary = is.null(world),
    linear = are_sound_contexts(arms),
    recorded = TRUE,
    supplied = is.list(world$draw) && length(world$draw) == k,
    table = is.function(world$draw) && is.function(world$means),
    walk = numbers(world$sd) && all(world$sd >= 0),
    drift = numbers(world$period, 1) && world$period > 0 && are_alike(list(world$from, world$to), k),
    switch = are_alike(world$worlds, k) && numbers(world$at, length(world$worlds) - 1),
    FALSE
  )
}

are_alike <- function(parts, k) {
  length(parts) > 0 && all(vapply(parts, function(x) inherits(x, "dpts_arms") && n_arms(x) == k && are_sound(x), NA))
}

are_sound_contexts <- function(arms) {
  contexts <- arms$contexts
  dim <- lengths(arms$par)
  all(dim == dim[1]) && dim[1] <= .Call(C_max_context) &&
    isTRUE(contexts$kind %in% c("given", "uniform", "simplex")) && is.logical(contexts$own) &&
    is.double(contexts$noise) && is.double(contexts$values) &&
    nrow(contexts$values) == dim[1] && (contexts$kind != "given" || ncol(contexts$values) > 0)
}

#' Means of the arms in the rounds 1, 2, ..., n of a run: a column for each arm
#' @noRd
world_means <- function(arms, n, seed = 1, run = 1) {
  kind <- world_kind(arms)
  means <- if (kind == "table") {
    arms$world$means(seq_len(n))
  } else if (is_changing(arms)) {
    range <- arms_scale(arms)
    .Call(C_world_means, world_kernel(arms), n, seed, run) * diff(range) + range[1]
  } else {
    matrix(arms$mean, n, n_arms(arms), byrow = TRUE)
  }
  dimnames(means) <- list(NULL, arm_labels(arms))
  means
}

# ---- does a policy fit a world? ---------------------------------------------------------

takes_any_reward <- function(policy) isTRUE(policy$any_reward)

#' Rewards outside \[0, 1\] are for policies that make sense of them. A private policy's noise is
#' fitted to \[0, 1\], and others toss coins or take logarithms.
#' @noRd
check_rewards <- function(policies, arms, call = caller_env()) {
  if (all(is.finite(arms$range))) return(invisible())
  for (name in names(policies)) {
    policy <- policies[[name]]
    if (takes_any_reward(policy)) next
    why <- if (promises_nothing(policy$guarantee)) "needs rewards in [0, 1]" else
      "is private and needs rewards in [0, 1], to which its noise is fitted"
    rlang::abort(
      c(sprintf("`policies` must fit `arms`, whose rewards may lie outside [0, 1]: policy \"%s\" %s.",
                name, why),
        i = if (inherits(arms, "dpts_arms_data")) {
          "Scale outcomes to [0, 1], by a range that does not depend on the data."
        } else {
          "A finite `range` clips rewards, and scales them for the policies."
        }),
      class = c("dpts_error_rewards", "dpts_error_input", "dpts_error"), arg = "policies",
      call = call
    )
  }
}

#' Bounds in gaps of means are about rewards in \[0, 1\] whose means stand still
#' @noRd
check_stationary <- function(arms, arg = caller_arg(arms), call = caller_env()) {
  if (is_changing(arms)) abort_arg(arg, "arms whose means do not change", call = call)
  if (!identical(arms$range, c(0, 1))) abort_arg(arg, "arms with rewards in [0, 1]", call = call)
}

#' A log in its recorded order has an end
#' @noRd
check_recorded <- function(arms, horizon, call = caller_env()) {
  if (world_kind(arms) != "recorded") return(invisible())
  rows <- sum(lengths(arms$par))
  if (horizon > rows) {
    abort_arg("horizon", sprintf(
      "at most %s, the number of recorded rewards, which are used once each (`replace = FALSE`)",
      format(rows, big.mark = ",")
    ), horizon, call, class = "dpts_error_horizon")
  }
}
