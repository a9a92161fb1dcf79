# Method "coupling" of dpts_audit(): R/audit-coupling.R on the streams of an adversary.

# Each path is checked exactly, so few will do.
MAX_PATHS <- 200

# What the releases that differ cost on the worst path, at each delta; Inf if anything but releases decides an
# arm, when to release, or what the policy says of itself
audit_coupling <- function(policy, pairs, runs, seed, delta, play = coupling_player(policy),
                           checkpoint = NULL, progress = FALSE, visits = NULL) {
  job <- audit_job(policy, pairs, min(runs, MAX_PATHS), seed, "paths", visits, delta = list(delta))
  job$play <- play
  found <- join_chunks(job, play_job(job, coupling_chunk, checkpoint, progress))
  worst <- lapply(found, function(one) {
    list(lower = apply(one$paths, 1, max), runs = ncol(one$paths))
  })
  worst_candidates(pairs, worst)
}

coupling_chunk <- function(job, chunk, tick) {
  pair <- job$problems[[chunk$problem]]
  paths <- matrix(0, length(pair$delta), length(chunk$run))
  # Most paths cost what others do.
  cost_of <- remembering(function(cost) path_epsilon(cost, pair$delta, !is.null(pair$visits)))
  for (i in seq_along(chunk$run)) {
    seed <- job$seed + chunk$run[i]
    # On every other path the releases are 0 or 1: with ties between arms, the least weight on
    # anything else shows.
    values <- if (chunk$run[i] %% 2 == 0) drop(coin_tosses(4 * nrow(pair$x), 1, seed))
    # On every fourth some rewards are late.
    delays <- if (chunk$run[i] %% 4 == 3) c(7L, 0L, 2L)
    script <- function(table) c(table_script(table, seed, delays), list(visits = pair$visits))
    out <- couple(job$play, script(pair$x), script(pair$y), values)
    same <- out$arms && out$releases && out$said
    paths[, i] <- if (same) cost_of(out$cost) else Inf
    if (!tick(i / length(chunk$run)) && i < length(chunk$run)) return(NULL)
  }
  list(paths = paths)
}

# What was found on each pair, that of a searching adversary being at each delta the most that one of its
# candidates told
# `found`: Of each pair and each candidate, lower and runs.
worst_candidates <- function(pairs, found) {
  last <- cumsum(vapply(pairs, function(pair) max(1, length(pair$candidates)), 0))
  Map(function(pair, last) {
    if (is.null(pair$candidates)) return(c(found[[last]], pair = list(pair)))
    own <- found[last - length(pair$candidates) + seq_along(pair$candidates)]
    lower <- lapply(own, `[[`, "lower")
    list(lower = do.call(pmax, lower), runs = sum(vapply(own, `[[`, 0, "runs")),
         pair = pair$candidates[[which.max(vapply(lower, `[`, 0, 1))]])
  }, pairs, last)
}

# Epsilon at each delta of a path's cost: the same statements as the accountants make of guarantees. `apart`:
# also the composition of all releases that moved, as kind_apart has it. A single release counts, too: a
# Laplace sum that j rewards of a person move costs less, at a delta above 0, than a guarantee of j epsilon.
path_epsilon <- function(cost, delta, apart = FALSE) {
  epsilon <- coupling_epsilon(cost, delta)
  if (cost$mu > 0) return(epsilon)
  epsilon <- pmin(epsilon, pure_curve(sum(cost$epsilon), delta))
  each <- cost$each
  if (!apart || length(each) == 0) return(epsilon)
  pair <- if (cost$laplace) pair_laplace else function(epsilon) pair_point(epsilon, 0)
  whole <- if (all(each == each[1])) pair_power(pair(each[1]), length(each)) else
    pair_compose(lapply(each, pair))
  pmin(epsilon, pair_epsilon(whole, delta))
}

# Does the policy choose by what passes the ledger: noisy sums, or the bits of local privacy? If
# not, why not, in words
why_not_coupled <- function(policy) {
  if (is_custom(policy)) return("a policy in R keeps no ledger of what it releases")
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

check_coupling <- function(policy) {
  why <- why_not_coupled(policy)
  if (is.null(why)) return(invisible())
  abort_input("method", "`method` \"coupling\" does not apply to %s: %s. Use \"sampling\".",
              format(policy, digits = 5), why, class = "dpts_error_method")
}
