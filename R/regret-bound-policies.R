# What the papers prove about each policy, by its name, for regret_bound(): rows, or a function of the policy
# and the problem that gives them.

bound_row <- function(kind, order, bound = NA_real_) data.frame(kind = kind, bound = bound, order = order)

dependent <- function(order, bound = NA_real_) bound_row("problem-dependent", order, bound)

both_bounds <- function(dependent, independent, source) {
  bound_row(c("problem-dependent", "problem-independent"),
            sprintf("%s (%s)", c(dependent, independent), source))
}

NO_BOUND <- dependent("no bound is stated")

KNOWN_BOUNDS <- list(
  uniform = function(policy, problem) {
    dependent("T mean(D) (exact)", problem$horizon * mean(problem$gaps))
  },
  ucb1 = function(policy, problem) {
    dependent("8 sum ln(T) / D + (1 + pi^2 / 3) sum D (Auer et al. 2002, Theorem 1)",
              8 * sum(log(problem$horizon) / problem$gap) + (1 + pi^2 / 3) * sum(problem$gap))
  },
  ts_beta = dependent(paste("(1 + e) sum D ln(T) / kl(mean, best mean) + O(K / e^2) for every e > 0",
                            "(lecture notes, Theorem 11.1)")),
  ts_gaussian = function(policy, problem) {
    if (policy$params$prepulls == 0 && policy$params$variance_scale == 1) {
      return(both_bounds("O(sum ln(T D^2) / D + D)", "O(sqrt(K T ln(K)))", "Ou et al. 2024, Theorem 2"))
    }
    if (policy$params$variance_scale < 1) {
      return(dependent("none: Ou et al. 2024, Theorem 5, needs variance_scale >= 1"))
    }
    both_bounds("O(b K + sum c ln(T D^2) / D + D), b = prepulls, c = variance_scale",
                "O(b K + c sqrt(K T ln(K)))", "Ou et al. 2024, Theorem 5")
  },
  mt_ucb = function(policy, problem) {
    if (policy$params$tuned) return(NO_BOUND)
    dependent(paste("O(sum K ln(T)^2 ln(K T / gamma) / (epsilon D) + D) with probability 1 - gamma",
                    "(Mishra and Thakurta 2015, Theorem 4)"))
  },
  mt_ts = function(policy, problem) {
    if (policy$params$tuned) return(NO_BOUND)
    dependent(paste("O(K ln(T)^3 / (D^2 epsilon^2)), D the least gap, for epsilon < 1",
                    "(Mishra and Thakurta 2015, Theorem 8)"))
  },
  dp_ts = both_bounds("O(sum max{ln(T) / D, ln(T) / epsilon ln(ln(T) / (epsilon D))})",
                      "O(sqrt(K T ln(T)) + K ln(T) / epsilon ln(sqrt(T ln(T)) / (sqrt(K) epsilon)))",
                      c("Hu and Hegde 2022, Theorem 2", "Hu and Hegde 2022, remark after Theorem 2")),
  lazy_dp_ts = both_bounds("O(sum ln(T) / min{epsilon, D})", "O(sqrt(K T ln(T)) + K ln(T) / epsilon)",
                           c("Hu and Hegde 2022, Theorem 4", "Hu and Hegde 2022, remark after Theorem 4")),
  dp_se = dependent("O(sum ln(T) / D + K ln(T) / epsilon) with beta = 1 / T (Sajed and Sheffet 2019)"),
  lazy_ucb = dependent("O(sum ln(T) / min{epsilon, D}) (Hu, Huang and Mehta 2021)"),
  adap_ucb = function(policy, problem) {
    alpha <- policy$params$alpha
    if (alpha <= 3) return(dependent("none: Azize and Basu 2022 need alpha > 3"))
    scale <- pmin(problem$gap, policy$params$epsilon)
    dependent("sum (16 alpha ln(T) / min(D, epsilon) + alpha / (alpha - 3)) (Azize and Basu 2022)",
              sum(16 * alpha * log(problem$horizon) / scale + alpha / (alpha - 3)))
  },
  dp_klucb = dependent("ratio sum D ln(T) / d_epsilon(mean, best mean) + o(ln(T)) (Azize et al. 2025)"),
  dp_imed = function(policy, problem) {
    if (policy$params$index == "divergence") return(KNOWN_BOUNDS$dp_klucb)
    dependent("none is proved for these options")
  },
  dp_ts_ucb = both_bounds("O(sum ln(T)^alpha ln(T^((3 - alpha) / 2) D^2) / D)",
                          "O(sqrt(K T) ln(T)^((1 + alpha) / 2))", "Hu et al. 2025"),
  imed = dependent("sum D ln(T) / kl(mean, best mean) + O(1) (Honda and Takemura 2015)"),
  klucb = dependent("sum D ln(T) / kl(mean, best mean) + o(ln(T)) (Garivier and Cappe 2011)")
)
