# Methods for the result of dpts_replay().

# `runs`: For each row of `columns` its `seed`, the `variance` of its rate that comes from the log,
#   `common`, its covariance with the uniform policy's rate, and the `effective` number of its events.
# `shared`: What all rows share: the log and how it is read.
new_replay <- function(columns, policies, runs, shared) {
  policy <- as.integer(columns$policy)
  by_policy <- lapply(seq_along(policies), function(i) {
    vctrs::new_data_frame(lapply(c(columns[c("delay", "run")], runs), `[`, policy == i))
  })
  columns$policy <- new_label(policy, names(policies), policies, by_policy, shared, plays_r(policies))
  new_result(columns, "dpts_replay")
}

#' @export
result_key.dpts_replay <- function(x) c("policy", "delay", "run")

#' @export
run_keys.dpts_replay <- function(x, runs) {
  labels <- as.character(shared(x, "arms"))
  list(keys = list(policy = runs$policy, delay = runs$delay, run = whole(runs$run)),
       arms = function(i, arm) factor(labels[arm], labels), range = matrix(c(0, 1), 2, nrow(runs)),
       bounded = rep(TRUE, nrow(runs)))
}

#' @export
tbl_sum.dpts_replay <- function(x, ...) {
  if (!is_whole(x)) return(NextMethod())
  get <- function(name) shared(x, name)
  c(
    "Replay" = sprintf("%s events, %s, %s", label_count(get("events")),
                       count_noun(length(get("arms")), "arm", "arms"),
                       count_noun(length(unique(x[["policy"]])), "policy", "policies")),
    "Logger" = paste0(
      if (get("assumed")) "uniform (assumed: no propensities)" else
        if (get("uniform")) "uniform" else "not uniform",
      switch(get("method"), weighted = ", matches weighted by 1 / propensity",
             rejection = ", matches kept in proportion to 1 / propensity"),
      if (!is.null(get("weight"))) sprintf("; mean weight %s", words_weight(get("weight")))
    ),
    "Uniform policy" = sprintf("rate %s (se %s)", number_text(signif(get("base"), 4)),
                               number_text(signif(get("base_se"), 2))),
    if (get("clipped") > 0) c("Clipped" = sprintf("%s entries of contexts into [0, 1]",
                                                  label_count(get("clipped")))),
    c("Shortened" = words_shortened(x)),
    c("Beware" = words_unlearnt(x)),
    c("Beware" = words_idle(x)),
    words_statements(x),
    "Seed" = words_seed(x),
    NextMethod()
  )
}

# The delays at which no reward was observed, because no more events were kept
words_unlearnt <- function(x) {
  if (!all(c("delay", "events") %in% names(x))) return(NULL)
  never <- x[["delay"]] > 0 & x[["events"]] <= x[["delay"]]
  if (!any(never)) return(NULL)
  at <- sort(unique(x[["delay"]][never]))
  sprintf("No reward arrived in %s at a delay of %s: no more events were kept than that.",
          if (all(never[x[["delay"]] %in% at])) "any run" else "some runs", words_list(label_count(at)))
}

# Policies that shorten contexts, with the number of the log's events of which they do
words_shortened <- function(x) {
  runs <- runs_in(x)
  runs <- runs[!duplicated(runs$policy) & runs$shortened > 0, ]
  if (nrow(runs) == 0) return(NULL)
  sprintf("contexts longer than `norm`, of %s events: %s", label_count(shared(x, "events")),
          words_list(paste0(label_count(runs$shortened), " (", as.character(runs$policy), ")")))
}

# Policies that released nothing in any run that is shown
words_idle <- function(x) {
  runs <- runs_in(x)
  words_unreleased(setdiff(as.character(runs$policy), as.character(runs$policy)[runs$released]))
}

# One line for each private policy, if there are at most three
words_statements <- function(x) {
  statements <- Filter(Negate(promises_nothing), replay_statements(x))
  if (length(statements) == 0) return(NULL)
  if (length(statements) > 3) {
    return(c("Guarantees" = "see dpts_privacy() of this replay"))
  }
  words <- vapply(statements, format, "")
  stats::setNames(words, paste("Guarantee of", names(statements)))
}

#' Average a replay over its runs
#'
#' `summary()` averages the reward of each policy on a log over the runs, with intervals. `autoplot()` draws
#' it.
#'
#' @details
#' A rate has two sources of error. Runs differ in the policy's random numbers: this error shrinks with more
#' runs. The log is one sample of events: this error does not shrink, because all runs read the same log. `se`
#' estimates the second from the rewards of one run's kept events, and adds the variance of the first, `sd`^2
#' / `runs`. It is conservative when runs keep different events.
#'
#' A policy that learns has a third source: other events would have led it to other arms. One log cannot
#' show this error, and `se` does not contain it. For a policy that soon settles on one of two similar arms,
#' rates vary more than `se` says: for [policy_imed()] at 0.6 against 0.5 (1,500 events, 300 logs) 1.2 times
#' as much, and `relative` 1.3 times as much as `relative_se`; 91% of intervals of level 0.95 held the mean.
#'
#' The interval is on each side the wider of `rate` -/+ z `se` and of Wilson's with the number of events that
#' corresponds to `se`. Wilson's has a width also where no kept event had a reward and the standard error is
#' 0. For a policy that does not learn and independent rewards of 0 and 1, intervals of level 0.95 from 10 to
#' 1,000 events hold the mean with a probability of 0.92 or more, however rare rewards are.
#'
#' @param object A result of [dpts_replay()].
#' @param ... Must be empty.
#' @param level Confidence level of the interval: a number in (0, 1).
#' @returns A tibble, one row for each policy and delay:
#'   * `policy`, `delay`: as in the replay;
#'   * `runs`: how many runs were averaged;
#'   * `events`: mean number of kept events;
#'   * `rate`: mean reward per kept event;
#'   * `sd`: of the rate between runs, `NA` for one run;
#'   * `se`: standard error of `rate`;
#'   * `lower`, `upper`: confidence interval for `rate`;
#'   * `relative`: `rate` divided by the uniform policy's;
#'   * `relative_se`: its standard error, with that of the uniform policy's rate.
#'
#'   Columns that you added follow, if they are constant in each of these rows.
#'
#'   `autoplot()`: a ggplot, each policy's mean reward relative to the uniform policy, with its confidence
#'   interval, for each delay (Mishra and Thakurta's Figure 2). Your columns are there for `facet_wrap()`.
#' @template see_logs
#' @examples
#' log <- open_bandit[open_bandit$logger == "random", ]
#' replay <- dpts_replay(log, policy_ts_beta(), delay = c(0, 100), runs = 3, seed = 1)
#' summary(replay)
#' autoplot(replay)
#' @export
summary.dpts_replay <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  level <- check_number(level, 0, 1, open = TRUE)
  rows <- replay_rows(object, level)
  rows$effective <- NULL
  rows
}

# The summary, and the effective number of events
replay_rows <- function(object, level) {
  check_result(object, c("events", "rate"), labels = TRUE)
  key <- result_key(object)
  runs <- runs_in(object)
  runs <- runs[vctrs::vec_match(keys_of(object, key), keys_of(runs, key)), ]
  log <- list(base = shared(object, "base"), base_se = shared(object, "base_se"))
  # Policy by policy, and then delay by delay
  x <- as.data.frame(object)
  by <- order(as.integer(x$policy), x$delay)
  x <- x[by, ]
  runs <- runs[by, ]
  group <- vctrs::vec_group_id(x[c("policy", "delay")])
  groups <- c(list(integer()), unname(split(seq_along(by), as.vector(group)))) # the first for its columns
  rows <- vctrs::vec_rbind(!!!lapply(groups, function(i) {
    average_replay(x$rate[i], x$events[i], runs[i, ], log, level)
  }))[-1, ]
  first <- !duplicated(group)
  own <- c("policy", "delay", "run", "events", "reward", "rate", "relative", names(rows))
  tibble::as_tibble(c(list(policy = x$policy[first], delay = x$delay[first]), as.list(rows),
                      constant_columns(x[setdiff(names(x), own)], group)))
}

# The runs of one policy at one delay in one row
average_replay <- function(rate, events, run, log, level) {
  seen <- !is.na(rate)
  runs <- sum(seen)
  mean <- if (runs) mean(rate[seen]) else NA_real_
  sd <- if (runs > 1) stats::sd(rate[seen]) else NA_real_
  variance <- if (runs == 0) NA_real_ else {
    mean(run$variance[seen]) + if (runs > 1) sd^2 / runs else 0
  }
  effective <- mean(run$effective[seen])
  if (runs && variance > 0) effective <- min(effective, mean * (1 - mean) / variance)
  share <- wilson(mean, effective, level)
  interval <- wider_interval(mean, sqrt(variance), share, level)
  events <- mean(events)
  half <- (share$upper - share$lower) / (2 * stats::qnorm((1 + level) / 2))
  relative <- mean / log$base
  # Kept events are part of the log that the base rests on.
  squares <- max(half^2, variance) + relative^2 * log$base_se^2 - 2 * relative * mean(run$common[seen])
  relative_se <- sqrt(pmax(squares, 0)) / log$base
  known <- log$base > 0
  vctrs::new_data_frame(list(
    runs = runs, events = events, rate = mean, sd = sd, se = sqrt(variance), lower = interval$lower,
    upper = interval$upper, relative = if (known) relative else NA_real_,
    relative_se = if (known) relative_se else NA_real_, effective = effective
  ))
}

#' @export
tidied.dpts_replay <- function(x, level) {
  rows <- replay_rows(x, level)
  list(list(term = as.character(rows$policy), delay = rows$delay), estimate = rows$rate, se = rows$se,
       lower = rows$lower, upper = rows$upper)
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_replay <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    events = shared(x, "events"), arms = length(shared(x, "arms")),
    policies = length(unique(x$policy)), delays = length(unique(x$delay)),
    nobs = length(unique(x$run)), seed = one_seed(x), method = shared(x, "method"),
    uniform_rate = shared(x, "base"), uniform_se = shared(x, "base_se")
  )
}

#' @rdname summary.dpts_replay
#' @export
autoplot.dpts_replay <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  data <- bare(summary(object, level = level))
  if (all(is.na(data$relative))) {
    return(nothing_to_draw("No reward to draw: no event was kept, or the log has no rewards."))
  }
  z <- stats::qnorm((1 + level) / 2)
  data$at <- delays_as_words(data$delay)
  data$from <- pmax(data$relative - z * data$relative_se, 0)
  data$to <- pmin(data$relative + z * data$relative_se, 1 / shared(object, "base")) # of a rate of 1
  dodge <- ggplot2::position_dodge(width = 0.4)
  ggplot2::ggplot(data, ggplot2::aes(
    x = .data$at, y = .data$relative, colour = .data$policy, shape = .data$policy
  )) +
    ggplot2::geom_hline(yintercept = 1, linewidth = 0.3) +
    ggplot2::geom_pointrange(
      ggplot2::aes(ymin = .data$from, ymax = .data$to), position = dodge, na.rm = TRUE
    ) +
    scales_by(levels(data$policy), title = ggplot2::waiver())[c("colour", "shape")] +
    (if (nlevels(data$policy) > MANY_LINES) list(panels_by(data, "policy"), no_legend())) +
    plot_words(
      colour = "Policy", shape = "Policy", x = "Delay of the rewards (kept events)",
      y = "Mean reward,\nrelative to the uniform policy",
      caption = wrap_caption(words_replay(data$runs, level), "Line at 1: the uniform policy.",
                             words_unlearnt(data)),
      alt = sprintf(
        "Mean reward relative to the uniform policy, with %s confidence intervals, of %s at %s: %s.",
        words_level(level), count_noun(length(unique(data$policy)), "policy", "policies"),
        count_noun(length(unique(data$delay)), "delay", "delays"),
        paste0(data$policy, " at delay ", label_count(data$delay), " ", shorts(data$relative),
               collapse = ", ")
      )
    )
}

# Delays are drawn as categories
delays_as_words <- function(delay) {
  at <- sort(unique(delay))
  factor(delay, at, ifelse(at == 0, "no delay", label_count(at)))
}

# One run of a replay has an interval too, because the log is a sample
words_replay <- function(runs, level) {
  runs <- unique(range(runs))
  sprintf("Mean of %s %s; bar: %s confidence interval, for the finite log and the runs.",
          paste(label_count(runs), collapse = " to "), if (max(runs) == 1) "run" else "runs",
          words_level(level))
}
