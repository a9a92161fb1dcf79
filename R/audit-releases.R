# Method "coupling" of dpts_audit(): R/audit-coupling.R on the streams of an adversary.

# Each path is checked exactly, so few will do.
MOST_PATHS <- 200

#' What the releases that differ cost on the worst path, at each delta; Inf if anything but
#' releases decides an arm, or when to release
#' @noRd
audit_coupling <- function(policy, pairs, runs, seed, delta) {
  play <- coupling_player(policy)
  paths <- min(runs, MOST_PATHS)
  worst <- function(pair) {
    cost <- vapply(seq_len(paths), function(run) {
      # On every other path the releases are 0 or 1: with ties between arms, the least weight on
      # anything else shows.
      values <- if (run %% 2 == 0) drop(coin_tosses(4 * nrow(pair$x), 1, seed + run))
      out <- couple(play, table_script(pair$x, seed + run), table_script(pair$y, seed + run), values)
      if (!out$arms || !out$releases) return(rep(Inf, length(delta)))
      path_epsilon(out$cost, delta)
    }, numeric(length(delta)))
    apply(matrix(cost, length(delta)), 1, max)
  }
  lapply(pairs, function(pair) {
    if (is.null(pair$candidates)) return(list(lower = worst(pair), runs = paths, pair = pair))
    lower <- lapply(pair$candidates, worst)
    list(lower = do.call(pmax, lower), runs = paths * length(lower),
         pair = pair$candidates[[which.max(vapply(lower, `[`, 0, 1))]])
  })
}

#' Epsilon at each delta of a path's cost: the same statements as the accountants make of guarantees
#' @noRd
path_epsilon <- function(cost, delta) {
  epsilon <- coupling_epsilon(cost, delta)
  if (cost$mu > 0) epsilon else pmin(epsilon, pure_curve(sum(cost$epsilon), delta))
}

#' Does the policy choose by noisy sums that pass the ledger?
#' @noRd
check_coupling <- function(policy, call = caller_env()) {
  why <- if (is_kernel(policy, "custom")) {
    "a policy in R keeps no ledger of what it releases"
  } else if (inherits(policy, "policy_wrapped")) {
    "it is for policies that release noisy sums, as they are"
  } else if (is_kernel(policy, c("uniform", "fixed", "ucb1", "imed", "klucb", "ts_beta",
                                 "ts_gaussian"))) {
    "it releases no noisy sums"
  }
  if (is.null(why)) return(invisible())
  rlang::abort(sprintf("`method` \"coupling\" does not apply to %s: %s. Use \"sampling\".",
                       format(policy, digits = 5), why),
               class = c("dpts_error_method", "dpts_error_input", "dpts_error"), arg = "method",
               call = call)
}
