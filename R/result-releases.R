# The release tables of simulations and replays.

#' @rdname dpts_releases
#' @export
dpts_releases.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  if (!nrow(x)) abort_arg("x", "a result with rows")
  kept <- checked_runs(x)
  policies <- things_of(x$policy)[as.character(unique(kept$policy))]
  check_concludes(policies, arg = "x")
  own <- run_keys(x, kept)
  why <- table_missing(kept, policies, own$bounded)
  for (i in utils::head(which(nzchar(why)), 1)) refuse_table(why[i], as.character(kept$policy[i]))
  releases_of_runs(x, kept, own, as_of(x, kept, own))
}

# For each run why it has no release table, "" if it has one
table_missing <- function(kept, policies, bounded) {
  if (is.null(kept$releases)) return(rep("history", nrow(kept)))
  flips <- vapply(policies, flip_of, 0)[as.character(kept$policy)]
  sizes <- lengths(kept$releases)
  kept_rows <- vapply(kept$releases, function(numbers) c(numbers, NA)[1], 0)
  why <- ifelse(bounded, "", "range")
  why[sizes < 1 + length(RELEASE) * kept_rows] <- "many"
  why[kept_rows == 0 & flips > 0 & vapply(kept$pulls, sum, 0) > 1000] <- "bits"
  why[sizes == 0] <- "history"
  why
}

has_table <- function(kept, policies, bounded) {
  concludes <- vapply(policies, function(policy) is.null(no_evidence(policy)), NA)
  concludes[as.character(kept$policy)] & !nzchar(table_missing(kept, policies, bounded))
}

refuse_table <- function(why, policy) {
  must <- switch(why,
    history = "`x` must hold its history.",
    bits = sprintf(paste("`x` must hold when bits came: runs of policy \"%s\" ran side by side,",
                         "which shows it at the end alone."), policy),
    many = "`x` must have few enough releases to keep them: at most 10,000 in a run.",
    range = "`x` must have rewards of a known range: without one nothing can be concluded from sums.")
  abort_input("x", must, class = if (why == "range") "dpts_error_verdict" else "dpts_error_history",
              hint = switch(why, history = "`dpts_simulate(history = TRUE)` keeps it.",
                            bits = "`options(dpts.engine = \"skip\")` plays them one by one."))
}

#' @rdname dpts_releases
#' @export
dpts_releases.dpts_replay <- function(x, ...) {
  check_result(x, labels = TRUE)
  # Weights correct averages; what the policy has seen, and released, still favours what the logger did.
  if (!shared(x, "uniform") && shared(x, "method") != "rejection") {
    abort_input("x", paste("`x` must be a replay of a uniform log, or by `method = \"rejection\"`: the",
                           "events that another keeps favour what the logger favoured, and prove nothing."),
                class = "dpts_error_verdict")
  }
  dpts_releases.dpts_simulation(x, ...)
}

guarantees_of <- function(x, policies) {
  if (inherits(x, "dpts_replay")) replay_statements(x) else lapply(policies, `[[`, "guarantee")
}

# `kept`: runs with their releases; `own`: run_keys() of them; `until`: the round up to which they count
releases_of_runs <- function(x, kept, own, until) {
  policies <- things_of(x$policy)[as.character(unique(kept$policy))]
  rows <- lapply(seq_along(until), function(i) {
    rows <- matrix(kept$releases[[i]][-1], ncol = length(RELEASE), byrow = TRUE)
    if (until[i] < Inf) rows[rows[, 2] <= until[i], , drop = FALSE] else rows
  })
  policy <- match(as.character(kept$policy), names(policies))
  strata <- unique(lapply(problems_of(x), function(problem) problem$arms$world$names))
  if (length(strata) > 1) abort_input("x", "`x` must have the same strata, or none, in all problems.")
  strata <- strata[[1]]
  k <- lengths(kept$pulls) / max(1, length(strata))
  # A design for each policy and number of arms
  case <- paste(policy, k)
  first <- which(!duplicated(case))
  designs <- Map(release_design, policies[policy[first]], k[first])[match(case, case[first])]
  design <- function(name) unlist(lapply(designs, `[[`, name), use.names = FALSE)
  flip <- vapply(policies, flip_of, 0)[policy]
  report <- vapply(kept$report, function(r) r[match(c("kind", "scale", "weight"), REPORT)], numeric(3))
  # Bits of local privacy are public at once, also those that no batch has gathered yet. (Beside noisy sums of
  # the others they would tell the noise.)
  more <- lapply(which(flip > 0 & until == Inf & report[2, ] == 0), function(i) {
    bits <- matrix(kept$report[[i]], length(REPORT))
    open_bits(i, rows[[i]], bits[1, ], bits[2, ], sum(kept$pulls[[i]]))
  })
  arms <- own$arms
  if (!is.null(strata)) {
    labels <- problems_of(x)[[1]]$arms$world$arms
    arms <- function(run, arm) if (is.null(labels)) arm else factor(labels[arm], labels)
  }
  release_table(own$keys, arms, rows, k, list(
    noise = report[1, ], scale = report[2, ], weight = report[3, ], correlation = design("correlation"),
    floor = ifelse(design("tosses"), design("floor"), NA), low = own$range[1, ], high = own$range[2, ],
    flip = flip, permuted = design("permuted"), grid = 0, predicted_low = design("predicted_low"),
    predicted_high = design("predicted_high")), more, guarantees_of(x, policies), strata)
}

# The noise of a live session's releases: on a grid of 2^-20, and larger as noise_as_drawn() says
# `report`: As its arms() gives it.
live_noise <- function(report) {
  scale <- report$scale[[1]] * (1 + 2^-19)
  list(noise = report$kind[[1]], scale = scale, weight = report$weight[[1]],
       grid = if (report$kind[[1]] == 2 && scale > 0) 2^-20 else 0)
}
