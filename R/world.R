# Worlds: how a problem's arms change, or where their rewards come from. `arms$world` is NULL for arms that
# are drawn in C and the same in every round. Else it has a kind, which is that of src/play_world_*.c and
# src/play_supply.c, and a class, `dpts_world_KIND`, whose methods stand with its constructor:
#
#   world_sound(world, arms)   is everything in it that the engine reads?
#   world_parts(world, arms)   the arms that it is made of; usually these
#   world_means(world, arms, n, seed, run)   in the rounds 1 to n of a run; usually asked of C
#   world_shown(world)         how many rounds a plot shows
#   world_supply(world, ...)   the next rewards, where R draws them (R/supply.R)

#' @param ... What the world consists of.
#' @param changing Do means change from round to round?
#' @param waits Does the engine wait for R, or stop, when rewards run out?
#' @noRd
new_world <- function(kind, ..., changing = FALSE, waits = FALSE) {
  structure(list(kind = kind, ..., changing = changing, waits = waits),
            class = c(paste0("dpts_world_", kind), "dpts_world"))
}

world_kind <- function(arms) arms$world$kind %||% "stationary"

is_changing <- function(arms) isTRUE(arms$world$changing)

world_sound <- function(world, arms) UseMethod("world_sound")
#' @export
world_sound.default <- function(world, arms) is.null(world)

world_parts <- function(world, arms) UseMethod("world_parts")
#' @export
world_parts.default <- function(world, arms) list(arms)

world_means <- function(world, arms, n, seed, run) UseMethod("world_means")
#' @export
world_means.default <- function(world, arms, n, seed, run) {
  if (!is_changing(arms)) return(matrix(arms$mean, n, n_arms(arms), byrow = TRUE))
  range <- arms_scale(arms)
  .Call(C_world_means, world_kernel(arms), n, seed, run) * diff(range) + range[1]
}

world_shown <- function(world) UseMethod("world_shown")
#' @export
world_shown.default <- function(world) 1000

world_supply <- function(world, arms, seed, run, blocks, call) UseMethod("world_supply")

#' What src/r_arms.c reads
#' @noRd
world_kernel <- function(arms) {
  world <- arms$world
  list(kind = world_kind(arms), arms = lapply(unname(world_parts(world, arms)), arms_kernel),
       how = world[c("at", "sd", "period", "sine", "reflect")])
}

#' Arms whose rewards are scaled to \[0, 1\], as the engine pulls them
#' @noRd
arms_kernel <- function(arms) {
  range <- arms_scale(arms)
  width <- range[2] - range[1]
  list(distribution = arms$distribution, mean = (arms$mean - range[1]) / width,
       gap = arms$gap / width, par = arms$par, unit = all(is.finite(arms$range)),
       contexts = arms$contexts)
}

#' The range that the engine scales to \[0, 1\]: rewards without bounds stay as they are
#' @noRd
arms_scale <- function(arms) if (all(is.finite(arms$range))) arms$range else c(0, 1)

#' Arms are lists, which may have been edited: is everything in them that the engine reads? What the
#' parameters of a distribution must be is in src/play_arms.c.
#' @noRd
are_sound <- function(arms) {
  range <- arms$range
  .Call(C_arms_sound, arms) && is.double(range) && length(range) == 2 && isTRUE(range[1] < range[2]) &&
    world_sound(arms$world, arms)
}

#' Numbers, so many
#' @noRd
are_finite <- function(x, n) is.double(x) && length(x) == n && all(is.finite(x))

#' Arms of which a world is made
#' @noRd
are_parts <- function(parts, k) {
  length(parts) > 0 && all(vapply(parts, function(x) inherits(x, "dpts_arms") && n_arms(x) == k && are_sound(x), NA))
}

#' Means of the arms in the rounds 1, 2, ..., n of a run: a column for each arm
#' @noRd
arm_means <- function(arms, n, seed = 1, run = 1) {
  means <- world_means(arms$world, arms, n, seed, run)
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
