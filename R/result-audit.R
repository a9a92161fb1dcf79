# The result of dpts_audit(): what people do with it.

# `streams`: The pair of streams of each adversary.
# `risk`: The chance of error of each limit.
# `shared`: What all rows share: policy, horizon, arms, level, unit, visits (of check_visits(), NULL: one
#   each) and the guarantee that is audited.
new_audit <- function(columns, streams, seed, risk, shared) {
  levels <- unique(columns$adversary)
  runs <- lapply(levels, function(adversary) {
    method <- unique(columns$method[columns$adversary == adversary])
    vctrs::new_data_frame(list(method = method, seed = rep(seed, length(method)),
                               risk = rep(risk, length(method))))
  })
  new_result(columns, c("dpts_audit", "dpts_bounds"),
             new_label(integer(), levels, streams, runs, shared, now = plays_r(list(shared$policy))))
}

#' @export
result_key.dpts_audit <- function(x) c("adversary", "method", "delta")

AUDIT_VALUES <- c("claimed", "lower", "holds")

#' @export
tbl_sum.dpts_audit <- function(x, ...) {
  if (!is_whole(x)) return(NextMethod())
  sampled <- any(x[["method"]] == "sampling")
  c("Audit" = sprintf("%s, %s, %s", format(shared(x, "policy"), digits = 5),
                      count_noun(shared(x, "arms"), "arm", "arms"),
                      count_noun(shared(x, "horizon"), "round", "rounds")),
    "A person" = if (identical(shared(x, "unit"), "person")) sprintf(
      "comes %s, and all that they say is changed",
      count_noun(shared(x, "visits")$number %||% 1, "time", "times")),
    "Claim" = format(shared(x, "guarantee")),
    "Finding" = audit_verdict(x),
    "Reach" = if (sampled && all(c("runs", "delta") %in% names(x))) audit_reach(x),
    "Confidence" = if (sampled) sprintf("%s for all rows of a call together",
                                        words_level(shared(x, "level"))),
    "Seed" = if (sampled) words_seed(x),
    NextMethod())
}

# The largest epsilon that the runs could have shown, at each delta: runs of samples, each with its own risk
audit_reach <- function(x) {
  x <- x[x$method == "sampling", ]
  kept <- runs_in(x)
  key <- c("adversary", "method")
  risk <- kept$risk[vctrs::vec_match(keys_of(x, key), keys_of(kept, key))]
  rows <- unique(data.frame(runs = x$runs, risk, delta = x$delta))
  reach <- range(tapply(unlist(Map(sampling_reach, rows$runs, rows$risk, rows$delta)), rows$delta, max))
  reach <- unique(format_up(reach, 3))
  paste("this number of runs shows no epsilon above", paste(reach, collapse = " to "))
}

# The result in a sentence
audit_verdict <- function(x) {
  if (!all(AUDIT_VALUES %in% names(x)) || nrow(x) == 0) return(NULL)
  if (!all(x$holds)) {
    worst <- which.max(ifelse(x$holds, -Inf, x$lower - x$claimed))
    return(sprintf("the claim does NOT hold: \"%s\" finds at least %s, claimed is %s",
                   x$adversary[worst], number_text(signif_to(x$lower[worst], 3, "down")),
                   format_up(x$claimed[worst], 3)))
  }
  if (any(x$claimed < Inf)) return("nothing that contradicts the claim")
  if (promises_nothing(shared(x, "guarantee"))) return("nothing is claimed")
  if (max(x$delta) < 1e-5) "nothing is claimed at this delta; give a larger one, such as `delta = 1e-5`" else
    "nothing is claimed at this delta; give a larger one"
}

#' The worst adversary at each delta
#'
#' Picks, at each delta, the attack that found most. `autoplot()` draws the guarantee of a policy and what the
#' attacks found.
#'
#' @param object A result of [dpts_audit()].
#' @param ... Must be empty.
#' @returns A tibble, one row per method and delta: `method`, `delta`, `claimed`, the largest `lower`,
#'   the `adversary` that reaches it, and `holds`.
#'
#'   `autoplot()`: a ggplot. At one delta there is a bar for each adversary, from 0 to what it found, and a
#'   line at the claim; at several deltas a panel for each adversary, with both as curves. What contradicts
#'   the claim is red. Columns that you added to the result are there for `facet_wrap()`.
#' @template see_privacy
#' @examples
#' audit <- dpts_audit(policy_ts_gaussian(), 8, delta = 10^-(1:5), method = "exact")
#' summary(audit)
#' autoplot(audit)
#' @export
summary.dpts_audit <- function(object, ...) {
  check_dots_empty(...)
  check_result(object, AUDIT_VALUES)
  rows <- tibble::as_tibble(object)
  rows <- rows[order(match(rows$method, unique(rows$method)), -rows$delta, -rows$lower), ]
  rows <- rows[!duplicated(rows[c("method", "delta")]), ]
  as_bounds(rows[c("method", "delta", "claimed", "lower", "adversary", "holds")])
}

#' @export
tidied.dpts_audit <- function(x, level) {
  check_result(x, AUDIT_VALUES)
  list(list(term = as.character(x$adversary), method = x$method, delta = x$delta), estimate = x$lower,
       bound = "lower", more = list(claimed = x$claimed, holds = x$holds))
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_audit <- function(x, ...) {
  check_dots_empty(...)
  check_result(x, c(AUDIT_VALUES, "runs"))
  tibble::tibble(
    policy = format(shared(x, "policy"), digits = 5), arms = shared(x, "arms"),
    horizon = shared(x, "horizon"), adversaries = length(unique(x$adversary)), nobs = sum(x$runs[
      !duplicated(bare(x)[c("adversary", "method")])
    ]), seed = one_seed(x), level = shared(x, "level"), holds = all(x$holds)
  )
}
