#' DP-SE: private successive elimination
#'
#' A policy that drops an arm once it is surely worse.
#' Pulls the surviving arms in turn, for epochs of growing length. At the end of each epoch it drops
#' the arms whose private mean is clearly below the best (Sajed and Sheffet 2019).
#'
#' @section The algorithm:
#' With S all arms and e = 1, 2, ...:
#'
#' 1. D = 2^-e and R = 1 + max(32 ln(8 |S| e^2 / beta) / D^2, 8 ln(4 |S| e^2 / beta) / (`epsilon` D)), |S|
#'    counted at the start of the epoch.
#' 2. Pull the arms of S in turn, r = ceil(R) times each. Older rewards are forgotten.
#' 3. Private mean of each arm = mean of its r rewards + Lap(1 / (`epsilon` r)), with
#'    independent noise for each arm.
#' 4. h = sqrt(ln(8 |S| e^2 / beta) / (2 R)), c = ln(4 |S| e^2 / beta) / (R `epsilon`); drop
#'    every arm whose private mean is more than 2 h + 2 c below the best of S.
#' 5. The last survivor is pulled from then on.
#'
#' @section Readings:
#' R is a real number, and the loop that counts to it makes r = ceil(R) pulls: r is used in
#' the noise, R in the confidence terms. `beta = NULL` is 1 / horizon, the choice behind the
#' regret bound; then the horizon must be known. Rewards of \[0, 1\] are used as they are.
#'
#' @section Privacy:
#' Neighbouring streams differ in the rewards of one round, replaced by any numbers of \[0, 1\]. What is
#' published is the sequence of arms, at every horizon, and it is `epsilon`-DP: a reward is in one epoch of
#' one arm and therefore in one private mean, which it moves by at most 1 / r. The noise of the arms must be
#' independent: one draw for all of them would cancel in the comparison. An epoch that the horizon cuts
#' releases nothing.
#'
#' @param epsilon Privacy: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no noise.
#' @param beta Failure probability: a number in (0, 1), or `NULL` for 1 / horizon.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template sajed
#' @template see_policies
#' @examples
#' policy_dp_se(epsilon = 1)
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' summary(dpts_simulate(arms, policy_dp_se(1), horizon = 1e6, runs = 5, seed = 1))
#' @export
policy_dp_se <- function(epsilon, beta = NULL, ...) {
  check_dots_empty(...)
  params <- list(epsilon = check_budget_number(epsilon),
                 beta = if (!is.null(beta)) check_number(beta, 0, 1, open = TRUE))
  new_policy("dp_se", params, guarantee_pure(epsilon), "DP-SE (Sajed and Sheffet)", rounds_per_arm = 1)
}

#' Sequential halving: the best arm with a fixed number of people
#'
#' A policy that looks for the best arm when the number of people is fixed.
#' Gives every arm that is left the same number of people, drops the worse half of them, and so on
#' until one is left, which is then pulled (Karnin, Koren and Somekh 2013; here with noisy sums).
#'
#' @section The algorithm:
#' With S all k arms and n = `people`, in each of ceil(log2(k)) stages:
#'
#' 1. Pull the arms of S in turn, r = floor(n / (|S| ceil(log2(k)))) times each, but at least once.
#' 2. Release the sum of each arm's r rewards with noise: N(0, 1 / `mu`^2) or Lap(1 / `epsilon`).
#' 3. The mean of an arm is that of all its stages, each weighted by r^2 / (r / 4 + variance of the noise).
#'    (The paper uses the last stage alone.)
#' 4. Keep the ceil(|S| / 2) arms of the highest means.
#'
#' @section Guarantee:
#' The policy names an arm at the end, but gives no bound on the probability of an error: [policy_top_two()]
#' does. The probability of an error falls exponentially in `people`; [dpts_identify()] measures it, with
#' `limit` = `people`, and [verdict()] says what its releases show.
#'
#' While a stage waits for late rewards, people are assigned in turn and their rewards are not used. With late
#' rewards take `people` so much below the horizon that the last stage ends before it.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. A reward is in one sum, which
#' is released once: all that is published, the winner included, is `mu`-GDP or `epsilon`-DP.
#'
#' @inheritParams policy_top_two
#' @param people How many people there are: a whole number, or `NULL` for the horizon, which then must be
#'   known.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Karnin, Z., Koren, T. and Somekh, O. (2013). Almost Optimal Exploration in Multi-Armed Bandits.
#'   ICML.
#' @template see_policies
#' @examples
#' policy_halving(mu = 0.5)
#' arms <- arms_bernoulli(c(0.6, 0.5, 0.4, 0.3))
#' summary(dpts_identify(arms, policy_halving(epsilon = 1), limit = 1000, runs = 20, seed = 1))
#' @export
policy_halving <- function(mu = NULL, epsilon = NULL, people = NULL, ...) {
  check_dots_empty(...)
  params <- c(check_one_budget(mu, epsilon), list(people = if (!is.null(people)) check_count(people)))
  new_policy("halving", params, guarantee_of_one(params), "sequential halving", rounds_per_arm = 1)
}
