#' Anytime-Lazy-UCB
#'
#' A policy that looks at rewards only when an arm has twice as many as before. A UCB policy whose means come
#' from the last full block of each arm, blocks doubling in size (Hu, Huang and Mehta 2021).
#'
#' @section The algorithm:
#' 1. Pull each arm once; private mean = reward + Lap(1 / `epsilon`), n = 1.
#' 2. In round t pull the arm of the largest mean + sqrt(3 log(t) / n) + 3 log(t) / (`epsilon` n).
#' 3. The reward goes into the arm's block. When the block holds 2 n rewards, the private mean is (their sum +
#'    Lap(1 / `epsilon`)) / (2 n), n doubles, and older rewards are forgotten.
#'
#' @section Readings:
#' The arm is chosen again in every round; a block need not be filled by consecutive pulls. The
#' constants (3 and 3) are those of the confidence events that Hu and Hegde (2022) take over
#' from this policy. log is natural by default; Hu and Hegde write base 2. Nothing is
#' clipped, and rewards of \[0, 1\] are used as they are.
#'
#' @inheritSection policy_dp_imed Assignments
#' @section Privacy:
#' Neighbouring streams differ in the rewards of one round, replaced by any numbers of
#' \[0, 1\]. What is published is the sequence of arms, at every horizon, and it is `epsilon`-DP:
#' a reward is in one block of one arm, whose sum is released once. A block that the horizon cuts has
#' released nothing. The horizon need not be known.
#'
#' @param epsilon Privacy: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no noise.
#' @param log_base Base of the logarithms in the index: a number above 1.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Hu, B., Huang, Z. and Mehta, N. A. (2021). Optimal Algorithms for Private
#'   Online Learning in a Stochastic Environment. arXiv:2102.07929.
#' @template hu
#' @template see_policies
#' @examples
#' policy_lazy_ucb(epsilon = 1)
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' summary(dpts_simulate(arms, policy_lazy_ucb(1), horizon = 1e6, runs = 5, seed = 1))
#' @export
policy_lazy_ucb <- function(epsilon, log_base = exp(1), ...) {
  check_dots_empty(...)
  policy_by_log("lazy_ucb", epsilon, log_base, "Anytime-Lazy-UCB (Hu, Huang and Mehta)")
}
