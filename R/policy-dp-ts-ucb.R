#' DP-TS-UCB
#'
#' Gaussian Thompson sampling with a limited number of draws, so that it reveals less. After the last draw
#' from its distribution an arm keeps its largest draw (Hu et al. 2025). Privacy comes from the posterior's
#' own spread; no other noise is added.
#'
#' @section The algorithm:
#' With T the horizon, phi = `c0` T^((1 - `alpha`) / 2) ln(T)^((3 - `alpha`) / 2).
#'
#' 1. Pull each arm once. Rewards of an arm gather in epochs of 1, 2, 4, ... of them; its mean is
#'    that of its last full epoch, of n rewards.
#' 2. In each round an arm that has drawn less than phi times in this epoch draws theta from
#'    N(mean, ln(T)^`alpha` / n). Another arm has as theta the largest of its draws in the epoch.
#' 3. Pull the arm of the largest theta.
#'
#' `alpha = 0` draws most often and has the least regret; `alpha = 1` is the most private.
#'
#' @section Readings:
#' `c0` is not given in the sources at hand; sqrt(2 pi e) is what their argument needs at least. The draws for
#' a round are made when the round before is over, so that a choice that a replay discards costs none.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\] (or in the
#' rewards of one round, of which only the pulled one is read). What is published is the sequence
#' of arms up to the horizon, which must be known. A reward is in one epoch of one arm, which has
#' at most floor(phi) draws, and one draw is 1 / sqrt(n ln(T)^`alpha`)-GDP, n >= 1. The policy
#' is therefore sqrt(min(floor(phi), T) / ln(T)^`alpha`)-GDP. (The paper's Theorem 4.4 has a factor sqrt(2)
#' more, which is not needed.) It grows with the horizon, unlike [policy_gaussian_imed()].
#'
#' @param alpha Trade-off between regret and privacy: a number in \[0, 1\].
#' @param c0 Factor on the number of draws: a positive number.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Hu, B., Huang, Z., Zhang, T., Lecuyer, M. and Hegde, N. (2025). Connecting Thompson Sampling
#'   and UCB: Towards More Efficient Trade-offs Between Privacy and Regret. arXiv:2505.02383.
#' @template see_policies
#' @examples
#' policy_dp_ts_ucb(alpha = 1)
#' @export
policy_dp_ts_ucb <- function(alpha, c0 = sqrt(2 * pi * exp(1)), ...) {
  check_dots_empty(...)
  params <- list(alpha = check_number(alpha, 0, 1), c0 = check_number(c0, 0, open = TRUE))
  mu <- guarantee_function(c("horizon", "arms"), bquote(draws_mu(horizon, .(params$alpha), .(params$c0))))
  new_policy("dp_ts_ucb", params, guarantee_gdp(mu), "DP-TS-UCB (Hu et al.)", rounds_per_arm = 1)
}

# DP-TS-UCB: floor(phi) draws of the posterior of one reward, and no more than there are
# rounds; one draw is 1 / sqrt(ln(T)^alpha)-GDP
draws_mu <- function(horizon, alpha, c0) {
  log_t <- log(horizon)
  draws <- pmin(dp_ts_ucb_draws(alpha, c0, horizon), horizon)
  ifelse(log_t > 0, sqrt(draws / log_t^alpha), 0)
}

# How many draws an arm may have in an epoch, phi in the paper, a whole number
dp_ts_ucb_draws <- function(alpha, c0, horizon) {
  floor(c0 * horizon^((1 - alpha) / 2) * log(horizon)^((3 - alpha) / 2))
}

#' @export
kernel_params.dpts_policy_dp_ts_ucb <- function(policy, horizon) {
  list(alpha = policy$params$alpha, phi = dp_ts_ucb_draws(policy$params$alpha, policy$params$c0, horizon))
}
