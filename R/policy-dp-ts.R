#' DP-TS and Lazy-DP-TS
#'
#' Thompson sampling under pure epsilon-differential privacy. The Beta posteriors are private and shifted to
#' the optimistic side (Hu and Hegde 2022). `policy_dp_ts()` uses all rewards, `policy_lazy_dp_ts()` only the
#' last full block of each arm, which needs far less noise.
#'
#' @section The algorithms:
#' DP-TS (their Algorithm 1), in which an arm has O pulls:
#'
#' 1. (lines 2-4) Pull each arm once.
#' 2. (lines 6-11) In round t, for each arm: its private mean plus
#'    v = 6 sqrt(8) log(O + 1) log(t) / (`epsilon` O), clipped to \[0, 1\], is m; draw theta
#'    from Beta(m O + 1, (1 - m) O + 1). Pull the arm of the largest theta.
#' 3. (lines 12-19) The private mean is (C + B) / O. C renews at O = 1, 3, 7, 15, ... pulls, by the sum of the
#'    rewards since plus Lap(2 / `epsilon`); B is the binary mechanism on the rewards since then, with budget
#'    `epsilon` / 2. Both together are [counter_hybrid()] with `variant = "hu-hegde"`.
#'
#' Lazy-DP-TS (their Algorithm 2), in which O is the size of an arm's last full block:
#'
#' 1. (lines 2-4) Pull each arm once; private mean = reward + Lap(1 / `epsilon`), O = 1.
#' 2. (lines 7-11) As above with v = 3 log(t) / (`epsilon` O). Theta is drawn afresh in every
#'    round, from the same mean until the block is full.
#' 3. (lines 12-16) Rewards gather in a block of 2 O; when it is full the private mean is
#'    (its sum + Lap(1 / `epsilon`)) / (2 O), O doubles, and all older rewards are forgotten.
#'
#' @section Readings:
#' * Line 7 as printed shifts the exact mean, which would not be private; it is the
#'   private mean that is shifted, and it is kept apart from the shifted one.
#' * The number of rewards in C is 2^floor(log2(O + 1)) - 1; the paper prints a ceiling.
#' * The text says that log has base 2. Privacy does not depend on it, regret does: `log_base =
#'   exp(1)` explores less.
#' * A node of the tree gets its noise once and keeps it. The tree of a block of 2^(r + 1)
#'   rewards gets all but the last of them, so r + 1 levels are enough.
#' * A reward strictly inside (0, 1) becomes a random 0 or 1 with this mean before it is counted.
#'
#' @section Privacy:
#' Neighbouring streams differ in the rewards of one round, replaced by any numbers of
#' \[0, 1\]. What is published is the sequence of arms, at every horizon, and it is
#' `epsilon`-DP (Theorems 1
#' and 3). DP-TS: a reward enters one release of C, of scale 2 / `epsilon`, and at most r + 1
#' partial sums of scale 2 (r + 1) / `epsilon`: half of `epsilon` each. Lazy-DP-TS: a
#' reward enters one block's sum, and that is released once. Arms share no rewards, and the
#' draws of theta are post-processing. A block that the horizon cuts has released nothing.
#'
#' @param epsilon Privacy: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no noise and no shift.
#' @param log_base Base of the logarithms in v: a number above 1.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template hu
#' @template see_policies
#' @examples
#' policy_dp_ts(epsilon = 1)
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' sim <- dpts_simulate(
#'   arms,
#'   list(base2 = policy_lazy_dp_ts(1), natural = policy_lazy_dp_ts(1, log_base = exp(1))),
#'   horizon = 5000, runs = 5, seed = 1
#' )
#' summary(sim)
#' @export
policy_dp_ts <- function(epsilon, log_base = 2, ...) {
  check_dots_empty(...)
  policy_by_log("dp_ts", epsilon, log_base, "DP-TS (Hu and Hegde)")
}

#' @rdname policy_dp_ts
#' @export
policy_lazy_dp_ts <- function(epsilon, log_base = 2, ...) {
  check_dots_empty(...)
  policy_by_log("lazy_dp_ts", epsilon, log_base, "Lazy-DP-TS (Hu and Hegde)")
}

policy_by_log <- function(name, epsilon, log_base, title) {
  params <- list(epsilon = check_budget_number(epsilon), log_base = check_number(log_base, 1, open = TRUE))
  new_policy(name, params, guarantee_pure(epsilon), title, rounds_per_arm = 1)
}
