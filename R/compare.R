# Policies of a simulation against one of them, run by run.

#' Compare policies run by run
#'
#' Says which of two policies loses less reward, and how sure that is.
#' Runs of equal number have the same rewards for all policies, so that the difference of two regrets is known
#' far better than either. `dpts_compare()` takes it run by run.
#'
#' @param x A result of [dpts_simulate()].
#' @param reference The policy that the others are compared with, by name; `NULL`: the first.
#' @param ... Must be empty: what follows is named.
#' @param level Confidence level: a number in (0, 1).
#' @returns A tibble, one row for each problem (if there are several), other policy and recorded round:
#'   * `problem`, `policy`, `t`: as in the simulation; `reference`: the policy compared with;
#'   * `runs`: how many runs both have;
#'   * `difference`: the mean of the policy's regret less the reference's: below 0 the policy is better;
#'   * `se`, `lower`, `upper`: its standard error and interval, by Student's t on the differences; `NA` for
#'     one run;
#'   * `better`: the share of runs in which the policy has less regret, ties by half.
#' @family simulation
#' @examples
#' policies <- list(a = policy_ucb1(), b = policy_imed())
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policies, 1000, seed = 1)
#' subset(dpts_compare(sim, "a"), t == 1000)
#' @export
dpts_compare <- function(x, reference = NULL, ..., level = 0.95) {
  check_all_given()
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
  own <- own[!is.na(at), ]
  own$regret <- own$regret - other$regret[at[!is.na(at)]]
  groups <- vctrs::vec_split(own$regret, own[c(by, "policy", "t")])
  of <- function(f) vapply(groups$val, f, 0)
  n <- lengths(groups$val)
  se <- of(stats::sd) / sqrt(n)
  half <- suppressWarnings(stats::qt((1 + level) / 2, n - 1)) * se
  mean <- of(mean)
  label <- function(name) factor(as.character(groups$key[[name]]), unique(as.character(x[[name]])))
  tibble::as_tibble(c(lapply(stats::setNames(nm = c(by, "policy")), label), list(
    reference = rep(reference, length(n)), t = groups$key$t,
    runs = n, difference = mean, se = se, lower = mean - half, upper = mean + half,
    better = of(function(d) mean((d < 0) + (d == 0) / 2))
  )))
}
