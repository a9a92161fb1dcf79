# What the papers prove about each policy, for regret_bound().

#' @export
bounds_of.dpts_policy_uniform <- function(policy, problem) {
  bound_row("problem-dependent", "T mean(D) (exact)", problem$horizon * mean(problem$gaps))
}

#' @export
bounds_of.dpts_policy_ucb1 <- function(policy, problem) {
  bound <- 8 * sum(log(problem$horizon) / problem$gap) + (1 + pi^2 / 3) * sum(problem$gap)
  bound_row("problem-dependent",
            "8 sum ln(T) / D + (1 + pi^2 / 3) sum D (Auer et al. 2002, Theorem 1)", bound)
}

#' @export
bounds_of.dpts_policy_ts_beta <- function(policy, problem) {
  bound_row("problem-dependent", paste(
    "(1 + e) sum D ln(T) / kl(mean, best mean) + O(K / e^2) for every e > 0",
    "(lecture notes, Theorem 11.1)"
  ))
}

#' @export
bounds_of.dpts_policy_ts_gaussian <- function(policy, problem) {
  if (policy$params$prepulls == 0 && policy$params$variance_scale == 1) {
    return(both_bounds("O(sum ln(T D^2) / D + D)", "O(sqrt(K T ln(K)))",
                       "Ou et al. 2024, Theorem 2"))
  }
  if (policy$params$variance_scale < 1) {
    return(bound_row("problem-dependent",
                     "none: Ou et al. 2024, Theorem 5, needs variance_scale >= 1"))
  }
  both_bounds("O(b K + sum c ln(T D^2) / D + D), b = prepulls, c = variance_scale",
              "O(b K + c sqrt(K T ln(K)))", "Ou et al. 2024, Theorem 5")
}

#' @export
bounds_of.dpts_policy_mt_ucb <- function(policy, problem) {
  if (policy$params$tuned) return(bounds_of.default(policy, problem))
  bound_row("problem-dependent", paste(
    "O(sum K ln(T)^2 ln(K T / gamma) / (epsilon D) + D) with probability 1 - gamma",
    "(Mishra and Thakurta 2015, Theorem 4)"
  ))
}

#' @export
bounds_of.dpts_policy_mt_ts <- function(policy, problem) {
  if (policy$params$tuned) return(bounds_of.default(policy, problem))
  bound_row("problem-dependent", paste(
    "O(K ln(T)^3 / (D^2 epsilon^2)), D the least gap, for epsilon < 1",
    "(Mishra and Thakurta 2015, Theorem 8)"
  ))
}

#' @export
bounds_of.dpts_policy_dp_ts <- function(policy, problem) {
  rbind(
    bound_row("problem-dependent", paste(
      "O(sum max{ln(T) / D, ln(T) / epsilon ln(ln(T) / (epsilon D))})",
      "(Hu and Hegde 2022, Theorem 2)"
    )),
    bound_row("problem-independent", paste(
      "O(sqrt(K T ln(T)) + K ln(T) / epsilon ln(sqrt(T ln(T)) / (sqrt(K) epsilon)))",
      "(Hu and Hegde 2022, remark after Theorem 2)"
    ))
  )
}

#' @export
bounds_of.dpts_policy_lazy_dp_ts <- function(policy, problem) {
  rbind(
    bound_row("problem-dependent",
              "O(sum ln(T) / min{epsilon, D}) (Hu and Hegde 2022, Theorem 4)"),
    bound_row("problem-independent", paste(
      "O(sqrt(K T ln(T)) + K ln(T) / epsilon) (Hu and Hegde 2022, remark after Theorem 4)"
    ))
  )
}

#' @export
bounds_of.dpts_policy_dp_se <- function(policy, problem) {
  bound_row("problem-dependent", paste(
    "O(sum ln(T) / D + K ln(T) / epsilon) with beta = 1 / T (Sajed and Sheffet 2019)"
  ))
}

#' @export
bounds_of.dpts_policy_lazy_ucb <- function(policy, problem) {
  bound_row("problem-dependent",
            "O(sum ln(T) / min{epsilon, D}) (Hu, Huang and Mehta 2021)")
}

#' @export
bounds_of.dpts_policy_adap_ucb <- function(policy, problem) {
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
bounds_of.dpts_policy_dp_klucb <- function(policy, problem) {
  bound_row("problem-dependent", paste(
    "ratio sum D ln(T) / d_epsilon(mean, best mean) + o(ln(T)) (Azize et al. 2025)"
  ))
}

#' @export
bounds_of.dpts_policy_dp_imed <- function(policy, problem) {
  if (policy$params$index == "divergence") return(bounds_of.dpts_policy_dp_klucb(policy, problem))
  bound_row("problem-dependent", "none is proved for these options")
}

#' @export
bounds_of.dpts_policy_dp_ts_ucb <- function(policy, problem) {
  both_bounds("O(sum ln(T)^alpha ln(T^((3 - alpha) / 2) D^2) / D)",
              "O(sqrt(K T) ln(T)^((1 + alpha) / 2))", "Hu et al. 2025")
}

#' @export
bounds_of.dpts_policy_imed <- function(policy, problem) {
  bound_row("problem-dependent",
            "sum D ln(T) / kl(mean, best mean) + O(1) (Honda and Takemura 2015)")
}

#' @export
bounds_of.dpts_policy_klucb <- function(policy, problem) {
  bound_row("problem-dependent",
            "sum D ln(T) / kl(mean, best mean) + o(ln(T)) (Garivier and Cappe 2011)")
}
