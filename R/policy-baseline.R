#' Baselines: uniform choice and UCB1
#'
#' Two simple policies to compare others with. `policy_uniform()` pulls every arm with the same probability.
#' It learns nothing and is perfectly private. `policy_ucb1()` is the classical index policy without privacy.
#'
#' @details
#' UCB1 (Auer, Cesa-Bianchi and Fischer 2002, Figure 1) pulls each arm once and then, in
#' round t + 1, the arm of the largest mean + sqrt(2 ln(t) / n), n its pulls.
#'
#' @section Privacy:
#' The uniform policy does not use the rewards: epsilon = 0. UCB1 has no guarantee: its choices are a
#' deterministic function of the rewards.
#'
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template auer
#' @template see_policies
#' @examples
#' policy_uniform()
#' policy_ucb1()
#' @export
policy_uniform <- function(...) {
  check_dots_empty(...)
  new_policy("uniform", guarantee = guarantee_pure(0), title = "uniform choice", any_reward = TRUE)
}

#' @rdname policy_uniform
#' @export
policy_ucb1 <- function(...) {
  check_dots_empty(...)
  new_policy("ucb1", title = "UCB1", any_reward = TRUE)
}

#' Always the same arm
#'
#' A policy that never learns. `policy_fixed()` pulls one arm in every round: a baseline for [dpts_replay()],
#' where it keeps the rounds in which the log shows that arm.
#'
#' @param arm The arm: a whole number, from 1. In [dpts_replay()] it counts in the log's own order of arms
#'   (see there); where it is not available, the first arm of the pool is pulled.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @section Privacy:
#' The choice does not use the rewards: epsilon = 0.
#' @template see_policies
#' @examples
#' policy_fixed(2)
#' @export
policy_fixed <- function(arm = 1, ...) {
  check_dots_empty(...)
  new_policy("fixed", list(arm = check_count(arm, 1, .Machine$integer.max)), guarantee_pure(0),
             "always the same arm", any_reward = TRUE)
}
