#' AdaP-UCB, AdaP-KLUCB and AdaC-UCB
#'
#' Index policies in which each decision rests on the latest batch of an arm alone. They pull an arm until its
#' pulls have doubled, and use only the last of these episodes: under pure differential privacy
#' (`policy_adap_ucb()`, `policy_adap_klucb()`; Azize and Basu 2022) and under zero-concentrated or Gaussian
#' differential privacy (`policy_adac_ucb()`; Azize and Basu 2023).
#'
#' @section The algorithm:
#' 1. Pull each arm once.
#' 2. At the start of an episode, in round t, compute every arm's index, and pull the arm of
#'    the largest until its number of pulls has doubled.
#' 3. At the end of the episode, of m rewards, the arm's private mean becomes that of
#'    the m rewards, with one noise variable on their sum. Older rewards are forgotten.
#'
#' The indices are, with `mean` the private mean and ln the natural logarithm,
#'
#' * AdaP-UCB: mean + sqrt(`alpha` ln(2 t) / (2 m)) + `alpha` ln(t) / (`epsilon` m), noise Lap(1 / `epsilon`);
#' * AdaP-KLUCB: the largest q with kl(shifted, q) <= `alpha` ln(t) / m, where
#'   shifted = mean + `alpha` ln(t) / (`epsilon` m), clipped to \[0, 1\]; the same noise;
#' * AdaC-UCB: mean + sqrt(`beta` ln(t) (1 / (2 m) + 1 / (rho m^2))) with rho = `mu`^2 / 2, noise
#'   N(0, 1 / (2 rho)).
#'
#' @section Readings:
#' The first reward of an arm is an episode of its own, and the first index has m = 1. The paper's N is twice
#' m. Its 1 / (j - i) for the mean of rewards i to j is read as one over their number. At index 1 many arms
#' may tie in AdaP-KLUCB: the one with the fewest pulls is taken. AdaC-UCB's paper states rho-zCDP; Gaussian
#' noise gives the stronger `mu`-GDP, and `mu` is the argument here so that policies can be compared. Where
#' arms are missing from the pool of a log, the best index among those available decides, round by round, and
#' the open episode waits.
#'
#' @section What is ours:
#' `correlation` above 0 in `policy_adac_ucb()`: no episode is forgotten. They are released as a moving
#' average with correlated noise, as [policy_gaussian_imed()] does, and the index is mean + sqrt(2 `beta`
#' ln(t) v), v being the variance of the least-squares mean: with v = 1 / (4 m) + 1 / (`mu` m)^2 that is the
#' published index. 0.5 suits episodes that double: it has 19 to 31% less regret on the panel of
#' [dpts_recommend()] (five arms, 1e5 rounds, `mu` from 0.1 to 5), nearly none where rewards are rare.
#'
#' @inheritSection policy_dp_imed Assignments
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\] (or in the
#' rewards of one round, of which only the pulled one is read). What is published is the sequence
#' of arms, at every horizon. Each reward is in one episode of one arm, whose sum is released
#' once; an episode that the horizon cuts releases nothing. Hence AdaP-UCB and AdaP-KLUCB are
#' `epsilon`-DP, and AdaC-UCB is `mu`-GDP. With a correlation, all releases together move by less than 1 in
#' Euclidean norm, which gives `mu`-GDP too: [policy_gaussian_imed()] has the proof.
#'
#' With a width (`alpha`, `beta`) below 1 some runs of a hundred leave the best arm for good, and most runs do
#' not show it: [summary()][summary.dpts_simulation] then gives no interval.
#'
#' @param epsilon Privacy: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no noise.
#' @param alpha Width of the index: a positive number; the regret bound needs more than 3.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Azize, A. and Basu, D. (2022). When Privacy Meets Partial Information: A Refined
#'   Analysis of Differentially Private Bandits. NeurIPS.
#'
#'   Azize, A. and Basu, D. (2023). Concentrated Differential Privacy for Bandits.
#'   arXiv:2309.00557.
#' @template see_policies
#' @examples
#' policy_adap_ucb(epsilon = 1)
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' sim <- dpts_simulate(arms, list(ucb = policy_adap_ucb(1), klucb = policy_adap_klucb(1)),
#'                      horizon = 1e6, runs = 5, seed = 1)
#' subset(summary(sim), t == 1e6)
#' @export
policy_adap_ucb <- function(epsilon, alpha = 3.1, ...) {
  check_dots_empty(...)
  adap_policy("adap_ucb", epsilon, alpha, "AdaP-UCB (Azize and Basu)")
}

#' @rdname policy_adap_ucb
#' @export
policy_adap_klucb <- function(epsilon, alpha = 3.1, ...) {
  check_dots_empty(...)
  adap_policy("adap_klucb", epsilon, alpha, "AdaP-KLUCB (Azize and Basu)")
}

adap_policy <- function(name, epsilon, alpha, title) {
  new_policy(name, list(epsilon = check_budget_number(epsilon), alpha = check_number(alpha, 0, open = TRUE)),
             guarantee_pure(epsilon), title, rounds_per_arm = 1)
}

#' @rdname policy_adap_ucb
#' @param mu Privacy of Gaussian DP: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no noise.
#' @param beta Width of the index: a positive number; the regret bound needs more than 3.
#' @param correlation The weight with which earlier batches enter the next release: a number in \[0, 0.99\], 0
#'   for the published policy.
#' @export
policy_adac_ucb <- function(mu, beta = 3.1, correlation = 0, ...) {
  check_dots_empty(...)
  params <- list(mu = check_budget_number(mu), beta = check_number(beta, 0, open = TRUE),
                 correlation = check_number(correlation, 0, 0.99))
  new_policy("adac_ucb", params, guarantee_gdp(mu), "AdaC-UCB (Azize and Basu)",
             args = c(params[1:2], if (correlation > 0) params[3]), rounds_per_arm = 1)
}
