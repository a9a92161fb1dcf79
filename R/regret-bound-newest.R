# Regret bounds of the newest policies, for regret_bound().

#' @export
bounds_of.policy_adap_ucb <- function(policy, problem) {
  alpha <- policy$params$alpha
  if (alpha <= 3) {
    return(bound_row("problem-dependent", "none: Azize and Basu 2022 need alpha > 3"))
  }
  scale <- pmin(problem$gap, policy$params$epsilon)
  bound <- sum(16 * alpha * log(problem$horizon) / scale + alpha / (alpha - 3))
  bound_row("problem-dependent",
            "sum (16 alpha ln(T) / min(D, epsilon) + alpha / (alpha - 3)) (Azize and Basu 2022)",
            bound)
}

#' @export
bounds_of.policy_dp_klucb <- function(policy, problem) {
  bound_row("problem-dependent", paste(
    "ratio sum D ln(T) / d_epsilon(mean, best mean) + o(ln(T)) (Azize et al. 2025)"
  ))
}

#' @export
bounds_of.policy_dp_imed <- function(policy, problem) {
  p <- policy$params
  published <- p$by_variance == 0 && p$index == 0 && p$leader == p$ratio
  if (published) return(bounds_of.policy_dp_klucb(policy, problem))
  bound_row("problem-dependent", "none is proved for these options")
}

#' @export
bounds_of.policy_dp_ts_ucb <- function(policy, problem) {
  both_bounds("O(sum ln(T)^alpha ln(T^((3 - alpha) / 2) D^2) / D)",
              "O(sqrt(K T) ln(T)^((1 + alpha) / 2))", "Hu et al. 2025")
}

#' @export
bounds_of.policy_imed <- function(policy, problem) {
  bound_row("problem-dependent",
            "sum D ln(T) / kl(mean, best mean) + O(1) (Honda and Takemura 2015)")
}

#' @export
bounds_of.policy_klucb <- function(policy, problem) {
  bound_row("problem-dependent",
            "sum D ln(T) / kl(mean, best mean) + o(ln(T)) (Garivier and Cappe 2011)")
}
