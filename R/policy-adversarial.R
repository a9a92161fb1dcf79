# Policies against an adversary, and the reduction that makes any policy private.

#' Against an adversary: EXP3 and Tsallis-INF
#'
#' Policies for rewards that may change in any way, even to mislead them.
#' Policies whose regret against the best fixed arm grows with sqrt(k T), whatever the rewards are
#' ([arms_adversary()]). They randomise: `dpts_history()` has the probabilities.
#'
#' @details
#' An arm that was pulled with probability p has its loss, 1 - reward, counted as (1 - reward) / p.
#' With the sums L of these, the probabilities in round t, where eta = `rate` / sqrt(t), are
#'
#' * `"entropy"`, EXP3: in proportion to exp(-eta L), with `rate` sqrt(ln(k) / k): a regret of at most
#'   2 sqrt(T k ln k) (Bubeck and Cesa-Bianchi 2012, Theorem 3.1);
#' * `"tsallis"`, Tsallis-INF: 4 / (eta (L - x))^2, x such that they add up to 1, with `rate` 2: at most
#'   4 sqrt(k T) + 1, and about ln(T) / gap where rewards are stochastic (Zimmert and Seldin 2021).
#'
#' A late reward is weighed with the probability of its own round.
#'
#' @section Privacy:
#' None of its own: see [policy_private()].
#'
#' @param rule `"entropy"` or `"tsallis"`.
#' @param rate A positive number, or `NULL` for the rate above.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Bubeck, S. and Cesa-Bianchi, N. (2012). Regret Analysis of Stochastic and Nonstochastic
#'   Multi-armed Bandit Problems. Foundations and Trends in Machine Learning 5.
#'
#'   Zimmert, J. and Seldin, Y. (2021). Tsallis-INF: An Optimal Algorithm for Stochastic and Adversarial
#'   Bandits. Journal of Machine Learning Research 22.
#' @template see_policies
#' @examples
#' policy_exp3()
#' policy_exp3("tsallis")
#' @export
policy_exp3 <- function(rule = c("entropy", "tsallis"), rate = NULL, ...) {
  check_dots_empty(...)
  rule <- check_choice(rule, c("entropy", "tsallis"))
  new_policy("exp3", list(rule = rule, rate = if (!is.null(rate)) check_number(rate, 0, open = TRUE)),
             title = if (rule == "tsallis") "Tsallis-INF" else "EXP3", any_reward = TRUE)
}

#' Make any policy private by batches
#'
#' `policy_private()` makes any policy private: the policy learns from noisy sums alone.
#' Each choice of the inner policy is repeated `batch` times in a row, and the policy learns one reward: the
#' batch's noisy sum over its size. This is the conversion of Asi, Raman and Talwar (2025).
#'
#' @details
#' From the paper: batches of one arm, Laplace noise on their means, batches of 1 / epsilon rounds,
#'   by which the noise is no larger than rewards are; the regret is then that of the inner policy for T
#'   epsilon rounds, times 1 / epsilon, and so of the order of sqrt(k T / epsilon) against an adversary. On
#'   five arms with gap sqrt(k / (T epsilon)) it was measured as 0.73 to 0.83 times that, at T of 1e4 and 1e5.
#'
#' Ours: Gaussian noise by `mu`; late rewards and arms that are unavailable (an arm's batch stays open until
#' it is back); other sizes of batches. Noisy rewards lie outside \[0, 1\]. [policy_exp3()] and index policies
#' such as [policy_ucb1()] take them as they are; where a policy needs rewards of \[0, 1\] they are clipped,
#' and then biased unless `batch` is several times 1 / epsilon. An index whose width does not know of the
#' noise also wants such batches.
#'
#' @section Privacy:
#' Each reward is in one noisy sum and moves it by at most 1. With Laplace noise of scale 1
#'   / `epsilon` the sums together are `epsilon`-DP (parallel composition), with Gaussian noise of standard
#'   deviation 1 / `mu` they are `mu`-GDP; which reward is in which sum depends on published arms alone, and
#'   all else is computed from the sums.
#'
#' @param policy A policy without a guarantee, in C: of this package or [policy_compiled()], without contexts,
#'   and not wrapped (wrap the result instead).
#' @param epsilon,mu The budget: one of the two, a number of at least 1e-6.
#' @param batch Rounds in a batch: a whole number. `NULL`: 1 / `epsilon` or 1 / `mu`, rounded up.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Asi, H., Raman, V. and Talwar, K. (2025). Faster Rates for Private Adversarial Bandits. ICML.
#'   arXiv:2505.21790.
#' @template see_policies
#' @examples
#' policy_private(policy_exp3("tsallis"), epsilon = 0.2)
#' policy_private(policy_ucb1(), mu = 1, batch = 20)
#' @export
policy_private <- function(policy, epsilon = NULL, mu = NULL, batch = NULL, ...) {
  check_dots_empty(...)
  check_policy(policy)
  if (is.null(epsilon) == is.null(mu)) abort_arg("epsilon", "given, or `mu`, and not both")
  if (!is.null(epsilon)) epsilon <- check_budget_number(epsilon, inf = FALSE)
  if (!is.null(mu)) mu <- check_budget_number(mu, inf = FALSE)
  plain <- promises_nothing(policy$guarantee)
  check_inner(policy, if (!plain) "without a guarantee: its own noise would be added")
  batch <- check_count(batch %||% max(1, ceiling(1 / (epsilon %||% mu) * (1 - 1e-12))), 1, 2^40, "batch")
  guarantee <- if (is.null(mu)) guarantee_pure(epsilon) else guarantee_gdp(mu)
  around_policy("private", policy,
                list(noise = if (is.null(mu)) "laplace" else "gaussian", scale = 1 / (epsilon %||% mu),
                                        batch = batch, clip = as.double(!policy$any_reward)), guarantee,
                list(epsilon = epsilon, mu = mu, batch = batch),
                sprintf("private by batches of %s", label_count(batch)), batch, "grows")
}

# A policy whose kernel plays another one's. What that says of itself holds for both: `inherits`.
around_policy <- function(name, policy, params, guarantee, args, title, rounds = 1, inherits = character()) {
  out <- new_policy(name, params, guarantee, sprintf("%s, %s", policy$title, title),
                    args = c(list(policy = policy), args), rounds_per_arm = rounds * policy$rounds_per_arm)
  out$policy <- policy
  inherits <- c("needs_horizon", "tosses", inherits)
  own <- lapply(stats::setNames(nm = inherits), function(name) property(policy, name))
  out$properties <- utils::modifyList(properties_by_name(name), own)
  class(out) <- append(class(out), "dpts_policy_around", 1)
  out
}

#' @export
kernel.dpts_policy_around <- function(policy, horizon) {
  list(name = policy$name, params = policy$params,
       inner = kernel(policy$policy, floor(horizon / (policy$params$batch %||% 1))), memory = raw(512))
}

# May a kernel of the package play it inside another one?
check_inner <- function(policy, why) {
  why <- why %||% if (is_custom(policy) || !is.null(policy$policy)) "in C, and not around another one" else
    if (is_contextual(policy)) "without contexts" else
      if (!is.null(predictions_of(policy))) "without predictions"
  if (!is.null(why)) abort_arg("policy", paste("a policy", why), policy)
}
