#' Regret bounds from the papers
#'
#' What the papers prove about a policy's expected regret, next to the lower bounds that
#' nobody can beat.
#'
#' @details
#' Most papers give an order without constants. Then `bound` is `NA`, because a number would be
#' made up, and `order` says what is proved. Where there are constants `bound` is the number
#' for these arms and this horizon.
#'
#' In the orders, T is the horizon, K the number of arms, D the gap of an arm to the best, sums
#' run over the arms with D > 0, ln is the natural logarithm, kl the relative entropy of two
#' Bernoulli laws by their means, and O() and Omega() hide constants that the papers do not give.
#'
#' Lower bounds are rows of their own, called "lower bound: ..." in `policy`. That of Lai
#' and Robbins holds for every policy that does well on all Bernoulli arms, privately or not;
#' its number is the leading term, sum of D ln(T) / kl(mean, best mean), and exact only as T
#' grows. That of
#' Shariff and Sheffet is for epsilon-DP policies and is listed for each epsilon asked for.
#'
#' @param policy A policy, or a named list of them.
#' @param arms The problem, from [arms_bernoulli()] and its family.
#' @param horizon Number of rounds.
#' @returns A tibble with columns
#'   * `policy`: the name in the list, or which lower bound;
#'   * `kind`: `"problem-dependent"` or `"problem-independent"`;
#'   * `bound`: expected pseudo-regret at most (for the lower bounds: at least) this, in units
#'     of reward; `NA` where the source gives an order only;
#'   * `order`: the formula, as text, with its source.
#' @references Auer, P., Cesa-Bianchi, N. and Fischer, P. (2002). Finite-time Analysis of the
#'   Multiarmed Bandit Problem. Machine Learning 47, 235-256.
#'
#'   Lai, T. L. and Robbins, H. (1985). Asymptotically Efficient Adaptive Allocation Rules.
#'   Advances in Applied Mathematics 6, 4-22.
#'
#'   Shariff, R. and Sheffet, O. (2018). Differentially Private Contextual Linear Bandits.
#'   NeurIPS.
#'
#'   Those of the policies are on their own pages.
#' @family simulation
#' @examples
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' regret_bound(list(ucb1 = policy_ucb1(), lazy = policy_lazy_dp_ts(1)), arms, 1e5)
#' @export
regret_bound <- function(policy, arms, horizon) {
  policies <- check_policies(policy)
  check_arms(arms)
  check_no_contexts(arms)
  horizon <- check_count(horizon)
  problem <- list(gap = arms$gap[arms$gap > 0], gaps = arms$gap, k = n_arms(arms),
                  horizon = horizon)
  rows <- lapply(names(policies), function(name) {
    cbind(policy = name, bounds_of(policies[[name]], problem))
  })
  tibble::as_tibble(do.call(rbind, c(rows, list(lower_bounds(policies, arms, problem)))))
}

#' Rows of one kind of bound each
#'
#' To give a new policy its bounds, write a method for its class.
#' @noRd
bounds_of <- function(policy, problem) UseMethod("bounds_of")

bound_row <- function(kind, order, bound = NA_real_) {
  data.frame(kind = kind, bound = bound, order = order)
}

both_bounds <- function(dependent, independent, source) {
  rbind(bound_row("problem-dependent", sprintf("%s (%s)", dependent, source)),
        bound_row("problem-independent", sprintf("%s (%s)", independent, source)))
}

#' @export
bounds_of.default <- function(policy, problem) {
  bound_row("problem-dependent", "no bound is stated")
}

#' @export
bounds_of.policy_uniform <- function(policy, problem) {
  bound_row("problem-dependent", "T mean(D) (exact)", problem$horizon * mean(problem$gaps))
}

#' @export
bounds_of.policy_ucb1 <- function(policy, problem) {
  bound <- 8 * sum(log(problem$horizon) / problem$gap) + (1 + pi^2 / 3) * sum(problem$gap)
  bound_row("problem-dependent",
            "8 sum ln(T) / D + (1 + pi^2 / 3) sum D (Auer et al. 2002, Theorem 1)", bound)
}

#' @export
bounds_of.policy_ts_beta <- function(policy, problem) {
  bound_row("problem-dependent", paste(
    "(1 + e) sum D ln(T) / kl(mean, best mean) + O(K / e^2) for every e > 0",
    "(lecture notes, Theorem 11.1)"
  ))
}

#' @export
bounds_of.policy_ts_gaussian <- function(policy, problem) {
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
bounds_of.policy_mt_ucb <- function(policy, problem) {
  if (policy$params$tuned) return(bounds_of.default(policy, problem))
  bound_row("problem-dependent", paste(
    "O(sum K ln(T)^2 ln(K T / gamma) / (epsilon D) + D) with probability 1 - gamma",
    "(Mishra and Thakurta 2015, Theorem 4)"
  ))
}

#' @export
bounds_of.policy_mt_ts <- function(policy, problem) {
  if (policy$params$tuned) return(bounds_of.default(policy, problem))
  bound_row("problem-dependent", paste(
    "O(K ln(T)^3 / (D^2 epsilon^2)), D the least gap, for epsilon < 1",
    "(Mishra and Thakurta 2015, Theorem 8)"
  ))
}

#' @export
bounds_of.policy_dp_ts <- function(policy, problem) {
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
bounds_of.policy_lazy_dp_ts <- function(policy, problem) {
  rbind(
    bound_row("problem-dependent",
              "O(sum ln(T) / min{epsilon, D}) (Hu and Hegde 2022, Theorem 4)"),
    bound_row("problem-independent", paste(
      "O(sqrt(K T ln(T)) + K ln(T) / epsilon) (Hu and Hegde 2022, remark after Theorem 4)"
    ))
  )
}

#' @export
bounds_of.policy_dp_se <- function(policy, problem) {
  bound_row("problem-dependent", paste(
    "O(sum ln(T) / D + K ln(T) / epsilon) with beta = 1 / T (Sajed and Sheffet 2019)"
  ))
}

#' @export
bounds_of.policy_lazy_ucb <- function(policy, problem) {
  bound_row("problem-dependent",
            "O(sum ln(T) / min{epsilon, D}) (Hu, Huang and Mehta 2021)")
}

lower_bounds <- function(policies, arms, problem) {
  bernoulli <- arms$distribution == "bernoulli"
  lower <- if (bernoulli) {
    best <- max(arms$mean)
    off <- arms$gap > 0
    sum(arms$gap[off] / bernoulli_kl(arms$mean[off], best)) * log(problem$horizon)
  } else {
    NA_real_
  }
  rows <- cbind(
    policy = "lower bound: Lai and Robbins",
    bound_row("problem-dependent", paste(
      "sum D ln(T) / kl(mean, best mean) as T grows, for Bernoulli arms",
      "(Lai and Robbins 1985)"
    ), lower)
  )
  pure <- Filter(function(p) p$guarantee$kind == "pure" && p$guarantee$epsilon > 0, policies)
  for (epsilon in unique(vapply(pure, function(p) p$guarantee$epsilon, 0))) {
    rows <- rbind(rows, cbind(
      policy = sprintf("lower bound: Shariff and Sheffet, epsilon = %s", format(epsilon)),
      bound_row("problem-dependent",
                "Omega(sum ln(T) / D + K ln(T) / epsilon) (Shariff and Sheffet 2018)")
    ))
  }
  rows
}

#' Relative entropy of Bernoulli laws with means p and q
#' @noRd
bernoulli_kl <- function(p, q) {
  part <- function(a, b) ifelse(a == 0, 0, a * log(a / b))
  part(p, q) + part(1 - p, 1 - q)
}
