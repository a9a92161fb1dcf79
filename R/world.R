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

#' Results of the engine in the units of the rewards
#' @noRd
unscale <- function(out, arms, record) {
  range <- arms_scale(arms)
  if (identical(range, c(0, 1))) return(out)
  out$regret <- out$regret * diff(range)
  out$reward <- out$reward * diff(range) + range[1] * record
  out$rewards <- if (!is.null(out$rewards)) out$rewards * diff(range) + range[1]
  out
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
        i = if (inherits(arms, "arms_data")) {
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
