# Method "coupling" of dpts_audit(): R/audit-coupling.R on the streams of an adversary.

# Each path is checked exactly, so few will do.
MOST_PATHS <- 200

# What the releases that differ cost on the worst path, at each delta; Inf if anything but
# releases decides an arm, or when to release
audit_coupling <- function(policy, pairs, runs, seed, delta, play = coupling_player(policy)) {
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

# Epsilon at each delta of a path's cost: the same statements as the accountants make of guarantees
path_epsilon <- function(cost, delta) {
  epsilon <- coupling_epsilon(cost, delta)
  if (cost$mu > 0) epsilon else pmin(epsilon, pure_curve(sum(cost$epsilon), delta))
}

# Does the policy choose by what passes the ledger: noisy sums, or the bits of local privacy? If
# not, why not, in words
why_not_coupled <- function(policy) {
  if (is_custom(core(policy))) return("a policy in R keeps no ledger of what it releases")
  local <- FALSE
  while (inherits(policy, "dpts_policy_wrapped")) {
    if (inherits(policy, "dpts_policy_local")) {
      # All that the inner policy then knows of rewards is bits.
      if (policy$guarantee$published != "bits") {
        return(paste("its bits and its noisy sums cost more one by one than its guarantee, which counts",
                     "them together"))
      }
      local <- TRUE
    }
    policy <- policy$policy
  }
  if (!is_true_of(policy, "releases") && !local) "it releases no noisy sums"
}

check_coupling <- function(policy, call = caller_env()) {
  why <- why_not_coupled(policy)
  if (is.null(why)) return(invisible())
  abort_input("method", "`method` \"coupling\" does not apply to %s: %s. Use \"sampling\".",
              format(policy, digits = 5), why, class = "dpts_error_method", call = call)
}
