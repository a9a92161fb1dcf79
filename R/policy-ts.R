#' Gaussian Thompson sampling, plain and modified
#'
#' Thompson sampling whose own randomness is what hides the rewards. Thompson sampling with a Gaussian prior:
#' in each round every arm draws from its posterior and the arm of the largest draw is pulled. With `prepulls`
#' and `variance_scale` it is the modified algorithm whose privacy can be tuned.
#'
#' @details
#' Ou, Avella Medina and Cummings (2024), Algorithm 1 (`prepulls = 0`,
#' `variance_scale = 1`) and Algorithm 2 (their b and c):
#'
#' 1. Pull arm 1 `prepulls` times, then arm 2, and so on: blocks in arm order.
#' 2. In every later round draw, for each arm i with n rewards of sum S, theta_i from N(S / (n + 1),
#'    `variance_scale` / (n + 1)), and pull the arm of the largest theta.
#'
#' The mean is S / (n + 1), the exact posterior of a N(0, 1) prior, and not the running mean S / n that some
#' pseudo-codes compute: with the latter the privacy of a round is worse by a factor of up to 2.
#'
#' @section Late rewards:
#' n counts the pulls of an arm, and a reward that has not come yet counts as 1/2 in S. With
#' immediate rewards this is the algorithm of the paper; with late ones a reward still moves a
#' mean by no more than 1 / (n + 1). Had n counted rewards, a delay would void the guarantee.
#'
#' @section Filter:
#' With `filter = privacy_gdp(mu)` the policy enforces a budget as it goes and needs no horizon. In each round
#' a draw costs every available arm that has had a reward 1 / (`variance_scale` (n + 1)), the squared mu of
#' its draw. A draw is made only if no arm has then paid more than mu^2; from the first round in which one
#' would have, the available arm that was pulled most is pulled from then on, which costs nothing since pulls
#' are published. The run is mu-GDP at every stopping time (fully adaptive composition of Gaussian DP: Smith
#' and Thakurta 2022; Koskela, Tobaben and Honkela 2023).
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. What is published is the
#' sequence of arms. One round is mu-GDP with mu = 1 / sqrt(`variance_scale` (max(`prepulls`, 1) + 1)),
#' because a replaced reward moves one posterior mean by at most 1 / (n + 1) (Lemmas 3 and 5); a horizon
#' composes to sqrt(rounds) mu. [dpts_privacy()] gives tighter statements. `prepulls` and `variance_scale`
#' must be chosen without looking at the data, and the horizon be known.
#'
#' Conditions: n counts the pulls that were assigned, and the guarantee holds for every delay of rewards. If
#' arms can be unavailable, all rounds of the horizon are charged and not only those after the pre-pulls
#' (`pools = TRUE` in [dpts_privacy()]). In a replay of a log whose arms are known, every event read is
#' charged, kept or not, and the accountants `"sequence"` and `"direct"` do not apply.
#'
#' @param prepulls Pulls of each arm before sampling starts: a whole number, at least 0.
#' @param variance_scale Factor on the posterior variance: a number from 1e-6 (hardly any variance, and no
#'   privacy) to 1e12 (a draw of an arm with one reward is less than 1e-6-GDP, and double precision hardly
#'   sees a mean). Ou et al. assume at least 1 for their regret bound; privacy holds for any.
#' @param filter A budget that is enforced while the policy runs, from [privacy_gdp()], or `NULL` for none.
#' @template dots
#' @returns A policy, for [dpts_simulate()] and its relatives.
#' @template ou
#' @template smith
#' @references Koskela, A., Tobaben, M. and Honkela, A. (2023). Individual Privacy Accounting with Gaussian
#'   Differential Privacy. ICLR. arXiv:2209.15596.
#' @template see_policies
#' @examples
#' policy_ts_gaussian()
#' policy_ts_gaussian(prepulls = 100, variance_scale = 5)
#' policy_ts_gaussian(prepulls = 100, variance_scale = 5, filter = privacy_gdp(1))
#' @export
policy_ts_gaussian <- function(prepulls = 0, variance_scale = 1, filter = NULL, ...) {
  check_dots_empty(...)
  prepulls <- check_count(prepulls, 0)
  variance_scale <- check_number(variance_scale, VARIANCE_SCALE[1], VARIANCE_SCALE[2])
  mu <- check_filter(filter)
  new_policy(
    "ts_gaussian",
    list(prepulls = prepulls, variance_scale = variance_scale, filter = mu),
    guarantee_draws(prepulls, variance_scale, mu),
    args = list(prepulls = prepulls, variance_scale = variance_scale, filter = filter),
    title = "Gaussian Thompson sampling",
    rounds_per_arm = prepulls
  )
}

# The mu that a filter keeps to
check_filter <- function(filter) {
  if (is.null(filter)) return(Inf)
  if (!inherits(filter, "dpts_budget") || is.null(filter$mu) || !is.null(filter$nu)) {
    abort_arg("filter", "a budget from `privacy_gdp()` with `nu = 0`, or NULL", filter)
  }
  filter$mu
}

#' Beta Thompson sampling
#'
#' The classical policy without privacy: an arm is chosen as often as it may be the best. This is Thompson
#' sampling with a Beta prior for each arm's mean.
#'
#' @details
#' Lecture notes on Thompson sampling, Algorithm 1: draw theta_i from Beta(prior\[1\] + successes,
#' prior\[2\] + failures), pull the arm of the largest. A reward strictly inside (0, 1) is first replaced by a
#' random 0 or 1 that is 1 with that probability.
#'
#' @section Privacy:
#' None is claimed, and the randomness of the draws gives none worth having. Given the other arms' draws, a
#' round publishes a bit: is this arm's draw above theirs? With one reward, 0 or 1, a threshold of 1 - u is
#' passed with probability u^2 or 2u - u^2, so that the worst u has delta = 1 / (1 + e^epsilon): one round
#' costs epsilon = ln(1 / delta - 1), 11.5 at delta = 1e-5, where Gaussian Thompson sampling costs 2.9. And
#' what leaks grows in proportion to the rounds T. If all other rewards are 1, one failure tells as much after
#' n pulls as after one: epsilon can grow by up to 0.334 T if the other arms' draws stand where they hurt
#' most, and does grow by 0.179 T on two arms whose rewards are all 1. The vignette "Foundations"
#' (`vignette("foundations", "dpts")`) derives and computes these numbers. [policy_ts_gaussian()] leaks far
#' less, and says how much.
#'
#' @param prior Two positive numbers, the parameters of every arm's Beta prior.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Agrawal, S. and Goyal, N. (2012). Analysis of Thompson Sampling
#'   for the Multi-armed Bandit Problem. COLT.
#' @template see_policies
#' @examples
#' policy_ts_beta()
#' policy_ts_beta(prior = c(1, 9))
#' # What it leaks in ten rounds, on arms that all pay 1
#' dpts_audit(policy_ts_beta(), horizon = 10, streams = "success", delta = c(1e-2, 1e-5),
#'            method = "exact")
#' @export
policy_ts_beta <- function(prior = c(1, 1), ...) {
  check_dots_empty(...)
  prior <- check_numbers(prior, 0, open = TRUE)
  if (length(prior) != 2) abort_arg("prior", "two positive numbers", prior)
  new_policy("ts_beta", list(prior_1 = prior[1], prior_2 = prior[2]),
             args = list(prior = prior), title = "Beta Thompson sampling")
}
