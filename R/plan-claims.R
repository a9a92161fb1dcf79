# What is claimed in the runs of a plan: of pairs of arms, and at the looks of a board (R/looks.R).

# A matrix of pairs has arm a against b, of k, in row a + k (b - 1), and a column for each run.

# Of each arm the least over those that it must beat: the control, or all others
over_rivals <- function(x, control) {
  k <- sqrt(nrow(x))
  out <- matrix(-Inf, k, ncol(x))
  for (a in setdiff(seq_len(k), control)) {
    rivals <- if (is.null(control)) setdiff(seq_len(k), a) else control
    out[a, ] <- do.call(pmin, lapply(rivals, function(b) x[a + k * (b - 1), ]))
  }
  out
}

beats <- function(x, threshold, control) {
  matrix((over_rivals(x, control) > threshold) %in% TRUE, sqrt(nrow(x)))
}

# The pairs of which there are intervals
pairs_of <- function(k, control) {
  pairs <- ordered_pairs(k)
  pairs_at(pairs, if (is.null(control)) pairs$arm < pairs$rival else pairs$rival == control)
}

# How often all intervals hold what is true, or lie within a margin, and how wide they are. What was not
# released is between -1 and 1.
plan_intervals <- function(lower, upper, truth, control, margin) {
  at <- pairs_of(sqrt(nrow(truth)), control)$column
  lower <- pmax(lower[at, , drop = FALSE], -1, na.rm = TRUE)
  upper <- pmin(upper[at, , drop = FALSE], 1, na.rm = TRUE)
  truth <- truth[at, , drop = FALSE]
  list(coverage = mean(colSums(truth < lower - 1e-12 | truth > upper + 1e-12) == 0),
       equivalent = mean(colSums(lower <= -margin | upper >= margin) == 0), width = mean(upper - lower))
}

# ---- at the end ------------------------------------------------------------------------------------------

# Each returns list(claimed, lower, upper): which arms are claimed in each run, and bounds of each pair's
# difference.

# By evidence. `lower`: bounds of each pair
evidence_end <- function(proved, lower) {
  k <- nrow(proved)
  turned <- as.vector(t(matrix(seq_len(k^2), k)))
  list(claimed = proved, lower = lower, upper = -lower[turned, , drop = FALSE])
}

# By the test. `seen`: a function that gives the i-th of its matrices of pairs, as in
# src/play_observer_trial.c, in units of `gap`
test_end <- function(seen, ask, gap, control) {
  critical <- function(p) noisy_quantile(1 - p, seen(5), seen(6))
  estimate <- seen(2) / gap
  se <- seen(3) / gap
  # A margin moves the sum by at least as much as Z, by Hölder's inequality.
  z <- pmin(estimate / se, seen(4)) + ask$margin / se
  half <- critical(ask$error / (2 * ask$intervals)) * se
  list(claimed = beats(z - critical(ask$error / ask$claims), 0, control), lower = estimate - half,
       upper = estimate + half)
}

# ---- looks of a board -----------------------------------------------------------------------------------

# Designs whose test can be made at several looks
check_looked_at <- function(designs, outcomes, futility, again, by) {
  if (!is.null(by)) {
    abort_arg("looks", paste("NULL with `by`, since each stratum reaches a share of its people at another",
                             "time: plan each by itself, at `error` over their number"))
  }
  if (!is.null(futility)) abort_arg("looks", "NULL with `futility`, which looks by another rule")
  if (again) abort_arg("looks", "NULL where people come again")
  if (any(vapply(outcomes, function(o) !is.null(o$guard), NA))) {
    abort_arg("looks", "NULL with a guard: once it has paused an arm, probabilities follow what was released")
  }
  for (name in names(designs)) {
    design <- designs[[name]]
    if (inherits(design, "dpts_policy_randomised") && design$params$rule == "equal") next
    abort_input("looks", paste("`looks` must be NULL for design \"%s\": the z-test at several looks needs",
                               "`policy_randomised()` with `rule = \"equal\"`, whose probabilities never",
                               "change and which releases sums before the end."), name,
                hint = "`verdict()` and `effects()` are valid at any number of looks.")
  }
}

# What the looks of runs come to, and the end. `seen`: of src/play_observer_trial.c; `first`: its rows before
# those of the test at the end
# Returns as the functions above, of the analysis at which each run ends; and `stopped`, `mean_people`
looks_end <- function(seen, first, problem, job, gap, control) {
  k <- n_arms(problem$arms) / strata_in(problem$arms)
  runs <- ncol(seen)
  n <- problem$horizon
  made <- length(problem$record) - 1
  before <- first + 5 * k^2 + (seq_len(made) - 1) * (2 + 5 * k^2)
  people <- rbind(seen[before + 1, , drop = FALSE], rep(n, runs))
  noise <- seen[c(before + 2, nrow(seen)), , drop = FALSE]
  starts <- c(before + 2, first)
  # Several looks after one release are one, as in effects_at_looks(), and a look at all people is the end.
  people[which(people >= rbind(people[-1, , drop = FALSE], Inf))] <- NA
  of <- function(j, i) seen[starts[j] + (i - 1) * k^2 + seq_len(k^2), , drop = FALSE]
  crossed <- matrix(FALSE, k^2, runs)
  claimed <- matrix(FALSE, k, runs)
  lower <- upper <- matrix(NA_real_, k^2, runs)
  ended <- rep(NA_real_, runs)
  # Runs that were looked at after the same numbers of people and releases have the same critical values.
  key <- apply(rbind(people, noise), 2, paste, collapse = " ")
  for (at in split(seq_len(runs), factor(key, unique(key)))) {
    looked <- which(!is.na(people[, at[1]]))
    share <- people[looked, at[1]] / n
    clock <- look_clock(share, noise[looked, at[1]])
    claim <- look_boundary(share, job$ask$error / job$ask$claims, job$spending, clock)
    wide <- look_boundary(share, job$ask$error / (2 * job$ask$intervals), job$spending, clock)
    for (j in seq_along(looked)) {
      part <- function(i) of(looked[j], i)[, at, drop = FALSE]
      se <- part(2)
      z <- pmin(part(1) / se, part(3)) + job$ask$margin * gap / se
      crossed[, at] <- crossed[, at] | (z >= look_quantile(claim[j], part(4), part(5))) %in% TRUE
      now <- beats(crossed[, at, drop = FALSE] + 0, 0.5, control)
      ends <- is.na(ended[at]) & (colSums(now) > 0 | j == length(looked))
      half <- look_quantile(wide[j], part(4), part(5)) * se
      to <- at[ends]
      claimed[, to] <- now[, ends]
      lower[, to] <- ((part(1) - half) / gap)[, ends]
      upper[, to] <- ((part(1) + half) / gap)[, ends]
      ended[to] <- people[looked[j], to]
    }
  }
  list(claimed = claimed, lower = lower, upper = upper, stopped = mean(ended < n), mean_people = mean(ended))
}
