# Differences of regret between policies of a simulation, run by run.

#' Compare policies run by run
#'
#' `dpts_compare()` estimates the difference in mean regret between policies of a simulation, with
#' intervals. Runs of the same number share the rewards of all policies. So the difference, taken run by
#' run, has a smaller error than the mean regret of either policy.
#'
#' @param x A result of [dpts_simulate()].
#' @param reference Name of the policy that the others are compared with; `NULL`: the first.
#' @param ... Not used; later arguments must be named.
#' @param level Confidence level: a number in (0, 1).
#' @returns A tibble, one row for each problem (if there are several), other policy and recorded round:
#'   * `problem`, `policy`, `t`: as in the simulation; `reference`: the policy compared with;
#'   * `runs`: number of runs that both have;
#'   * `difference`: mean of the policy's regret minus that of the reference; below 0 the policy is better;
#'   * `se`, `lower`, `upper`: its standard error and confidence interval, as of a mean regret (see
#'     [summary.dpts_simulation()]) but not on the logarithm; `NA` for one run;
#'   * `better`: the share of runs in which the policy has less regret, ties counted as one half.
#' @seealso [dpts_simulate()] runs the policies, [dpts_recommend()] compares all within a budget.
#' @concept simulation
#' @examples
#' policies <- list(a = policy_ucb1(), b = policy_imed())
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policies, 1000, seed = 1)
#' subset(dpts_compare(sim, "a"), t == 1000)
#' @export
dpts_compare <- function(x, reference = NULL, ..., level = 0.95) {
  check_dots_empty(...)
  check_class(x, "dpts_simulation", "a result of `dpts_simulate()`")
  check_result(x, "regret")
  level <- check_number(level, 0, 1, open = TRUE)
  policies <- unique(as.character(x$policy))
  reference <- if (is.null(reference)) policies[1] else check_choice(reference, policies)
  by <- intersect("problem", result_key(x))
  is_reference <- as.character(x$policy) == reference
  key <- c(by, "run", "t")
  own <- as.data.frame(x)[!is_reference, c(by, "policy", "run", "t", "regret")]
  other <- as.data.frame(x)[is_reference, c(key, "regret")]
  at <- vctrs::vec_match(own[key], other[key])
  possible <- possible_regret(x, level)
  of_own <- function(name) possible[[name]][!is_reference][!is.na(at)]
  of_other <- function(name) possible[[name]][is_reference][at][!is.na(at)]
  low <- of_own("low") - of_other("high")
  high <- of_own("high") - of_other("low")
  fall <- of_other("failures")
  rise <- of_own("failures")
  own <- own[!is.na(at), ]
  own$regret <- own$regret - other$regret[at[!is.na(at)]]
  group <- vctrs::vec_group_id(own[c(by, "policy", "t")])
  first <- which(!duplicated(group))
  stats <- group_stats(own$regret, group)
  label <- function(name) factor(as.character(own[[name]][first]), unique(as.character(x[[name]])))
  say_failures(x, words_failures(x, final_rows(regret_by_round(x)))) # of each problem, however long it is
  tibble::as_tibble(c(lapply(stats::setNames(nm = c(by, "policy")), label), list(
    reference = rep(reference, length(first)), t = own$t[first],
    runs = stats$n, difference = stats$mean, se = stats$sd / sqrt(stats$n)
  ), mean_interval(stats, level, low[first], high[first], fall[first], rise[first]), list(
    better = group_stats((own$regret < 0) + (own$regret == 0) / 2, group)$mean
  )))
}
