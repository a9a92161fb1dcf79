# What people answer in a plan, beside rewards that come in full: some never do, and there are other outcomes,
# whose guards pause arms as an agent's do; and when an experiment would be stopped for futility.

# How many futures a forecast draws at each look of a plan
FUTURES <- 100

# The share of people who never answer, of each arm
check_dropout <- function(dropout, k) {
  dropout <- check_numbers(dropout, 0, 1)
  if (!length(dropout) %in% c(1, k)) abort_arg("dropout", "one number for each arm, or one for all", dropout)
  rep_len(dropout, k)
}

# The means of other outcomes, in parts of their range: of each scenario a matrix with a row for each arm and
# a column for each outcome; of several strata one after the other
check_rates <- function(rates, outcomes, scenarios, k, strata) {
  if (is.null(outcomes)) {
    if (!is.null(rates)) abort_arg("rates", "NULL without `outcomes`")
    return(NULL)
  }
  if (!is.list(rates) || !setequal(names(rates), names(outcomes)) || anyDuplicated(names(rates))) {
    must <- sprintf("a list with the means of each outcome: %s", words_list(names(outcomes)))
    abort_arg("rates", must, rates)
  }
  of_one <- function(name, scenario) {
    own <- rates[[name]]
    range <- outcomes[[name]]$range
    if (is.matrix(own)) {
      if (!setequal(rownames(own), scenarios)) {
        abort_arg("rates", sprintf("matrices with a row for each scenario: %s", words_list(scenarios)))
      }
      own <- own[scenario, ]
    }
    if (!is.numeric(own) || !length(own) %in% c(k, k * strata) || !all(own >= range[1] & own <= range[2])) {
      abort_arg("rates", sprintf("a number from %s to %s for each arm%s in \"%s\"", number_text(range[1]),
                                 number_text(range[2]), if (strata > 1) ", or for each arm of each stratum,"
                                 else "", name), own)
    }
    rep_len((own - range[1]) / diff(range), k * strata)
  }
  lapply(stats::setNames(nm = scenarios), function(scenario) {
    vapply(names(outcomes), of_one, numeric(k * strata), scenario = scenario)
  })
}

# How the probability of an outcome grows with a reward of 0 or 1, so that the two have this correlation
outcome_slopes <- function(rates, arms, correlation) {
  if (correlation == 0) return(0 * rates)
  if (is_changing(arms) || !all(arms$distribution == "bernoulli")) {
    abort_arg("correlation", "0 where rewards are not 0 and 1, or their means change", correlation)
  }
  mean <- arms$mean
  slope <- correlation * sqrt(rates * (1 - rates) / (mean * (1 - mean)))
  slope[!is.finite(slope)] <- 0
  worst <- cbind(rates - slope * mean, rates + slope * (1 - mean))
  if (any(worst < -1e-9 | worst > 1 + 1e-9)) {
    abort_arg("correlation", "possible: with these means no two outcomes of 0 and 1 have it", correlation)
  }
  slope
}

# All that src/play_answers.c reads of a scenario; NULL: everybody answers, and nobody looks
answers_of <- function(arms, rates, outcomes, correlation, dropout, missing, futility) {
  if (is.null(outcomes) && is.null(futility) && all(dropout == 0)) return(NULL)
  k <- n_arms(arms)
  rates <- rates %||% matrix(0, k, 0)
  list(strata = as.double(strata_in(arms)), looks = !is.null(futility) || any(has_guard(outcomes)),
       silent = as.double(dropout),
       missing = as.double(missing), rate = as.double(rates),
       slope = as.double(outcome_slopes(rates, arms, correlation)),
       mean = as.double((arms$mean - arms$range[1]) / diff(arms$range)),
       none = vapply(unname(outcomes), `[[`, 0, "missing") + 0,
       how = lapply(unname(outcomes), function(o) as.double(outcome_how(o))))
}

has_guard <- function(outcomes) !vapply(outcomes, function(o) is.null(o$guard), NA)

# Which arms are worse than the control by more than a guard allows
harmful_arms <- function(rates, outcomes, control) {
  harmful <- logical(nrow(rates))
  for (name in names(outcomes)[has_guard(outcomes)]) {
    own <- outcomes[[name]]
    more <- (rates[, name] - rates[control, name]) * if (own$worse == "more") 1 else -1
    harmful <- harmful | more > own$guard / diff(own$range) + 1e-12
  }
  harmful
}

# ---- looks at what was released ----------------------------------------------------------------------

# What R does after each release of a design's runs: list(asks, see, seen). It asks where people are tossed.
# see() is given a run, how many have come, and rows of src/play_answers.h, and says which arms are paused;
# seen() gives, for each run, after how many people each arm was paused and the experiment would have stopped
looks_of <- function(job, policy) {
  k <- n_arms(job$arms) / strata_in(job$arms)
  if (!tosses_people(policy) || flip_of(policy) > 0) {
    return(list(asks = FALSE, seen = function(run) list(looks = matrix(NA_real_, k + 1, length(run)))))
  }
  outcomes <- job$outcomes
  records <- lapply(c(list(NULL), outcomes), empty_record, policy = policy, arms = job$arms)
  runs <- new.env(parent = emptyenv())
  see <- function(run, t, rows) {
    key <- sprintf("%.0f", run)
    now <- runs[[key]] %||% list(records = records, paused = rep(NaN, k), stopped = NaN, looks = 0)
    rows <- t(rows)
    before <- which(!is.nan(now$paused))
    for (h in seq_along(records)) {
      own <- record_rows(now$records[[h]], rows[rows[, 1] == h - 1, , drop = FALSE])
      now$records[[h]]$releases <- rbind(now$records[[h]]$releases, own)
    }
    if (!is.null(job$futility) && is.nan(now$stopped)) {
      futile <- with_stream(job$seed, run, 1, now$looks, {
        is_futile(now$records[[1]], job$horizon, job$futility, job$ask$error, FUTURES,
                  block_rule(policy, strata_in(job$arms)), job$ask$margin * diff(job$arms$range))
      })
      if (futile) now$stopped <- t
    }
    for (h in which(has_guard(outcomes))) {
      worse <- to_pause(now$records[[h + 1]], outcomes[[h]], policy$params$control, which(is.nan(now$paused)))
      now$paused[worse] <- t
    }
    new <- setdiff(which(!is.nan(now$paused)), before)
    now$looks <- now$looks + 1
    assign(key, now, runs)
    new
  }
  seen <- function(run) {
    of <- function(name, n) {
      vapply(sprintf("%.0f", run), function(key) runs[[key]][[name]] %||% rep(NaN, n), numeric(n))
    }
    list(looks = unname(rbind(of("paused", k), of("stopped", 1))))
  }
  list(asks = TRUE, see = see, seen = seen)
}

# A record (R/releases.R) of a design's runs before the first release: of rewards, or of another outcome; with
# the noise of its rows in `law`
empty_record <- function(outcome, policy, arms) {
  labels <- labels_within(arms)
  k <- length(labels)
  strata <- arms$world[["names"]]
  design <- release_design(policy, k)
  range <- outcome$range %||% arms$range
  report <- if (!is.null(outcome)) outcome_noise(outcome) else
    lapply(session_arms(live_session(policy, k, 1e6, NULL))$report, `[[`, 1)
  law <- list(noise = report$kind * (report$scale > 0), scale = report$scale, weight = report$weight)
  predicted <- if (is.null(outcome)) design[c("predicted_low", "predicted_high")]
  table <- release_table(
    list(), function(run, arm) factor(labels[arm], labels), list(matrix(0, 0, length(RELEASE))), k,
    c(law, list(low = range[1], high = range[2], flip = 0, grid = 0, permuted = design$permuted,
                floor = if (design$tosses) design$floor else NA, correlation = design$correlation),
      predicted), strata = if (strata_in(arms) > 1) strata)
  c(release_records(table)$records[[1]], list(law = law))
}

record_rows <- function(record, rows) {
  n <- nrow(rows)
  law <- lapply(record$law, rep_len, n)
  cbind(arm = rows[, 3], t = rows[, 4], size = rows[, 5], sum = rows[, 6], terms = rows[, 8],
        whole = rows[, 9], chance = rows[, 7], block = rows[, 2], noise = law$noise, scale = law$scale,
        grid = rep(0, n), correlation = rep(record$correlation, n),
        squares = replace(rows[, 10], is.na(rows[, 10]), 0), weight = law$weight, stratum = rows[, 11])
}

# What looks come to in a cell. `claimed`: was the best arm claimed, in each run? `harmful`: of each arm
looks_cell <- function(looks, people, harmful, claimed) {
  k <- length(harmful)
  if (anyNA(looks) && !any(is.nan(looks))) { # nobody looked
    return(list(paused = NA_real_, false_alarms = NA_real_, stopped = NA_real_, mean_people = NA_real_,
                power_stopped = NA_real_, paused_share = rep(NA_real_, k), paused_at = rep(NA_real_, k)))
  }
  paused <- looks[seq_len(k), , drop = FALSE]
  stopped <- looks[k + 1, ]
  any_of <- function(arms) mean(colSums(!is.nan(paused[arms, , drop = FALSE])) > 0)
  list(paused = if (any(harmful)) any_of(harmful) else NA_real_, false_alarms = any_of(!harmful),
       stopped = mean(!is.nan(stopped)), mean_people = mean(ifelse(is.nan(stopped), people, stopped)),
       power_stopped = mean(claimed & is.nan(stopped)), paused_share = rowMeans(!is.nan(paused)),
       paused_at = apply(paused, 1, stats::median, na.rm = TRUE) + 0)
}
