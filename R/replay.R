#' Replay policies on logged data
#'
#' Plays policies on a log of shown arms and their rewards, as if they had been running,
#' by keeping those events in which the policy chooses the arm that the log shows.
#'
#' @details
#' Events are read in order. The policy chooses from the event's pool; if it
#' chooses the arm that was shown, the event is kept: its reward counts, and the policy
#' observes it. Otherwise the event is discarded without a trace (Li, Chu, Langford and
#' Wang 2011). Where the logger chose uniformly and events are independent, the kept
#' events have the law of the policy's own interaction, so `rate` is unbiased. The
#' policy's clock counts kept events.
#'
#' Where propensities are not uniform, kept events favour what the logger favoured. Then:
#'
#' * `"weighted"` keeps every match and weights its reward by 1 / propensity. That corrects
#'   the average (it is self-normalised, so unbiased only as the log grows), but the policy
#'   still *learns* from a history in which events the logger favoured are more frequent;
#' * `"rejection"` keeps a match with the chance least propensity / propensity, which
#'   makes the whole history right (Dudik et al. 2012), and keeps few events if one
#'   propensity is small.
#'
#' `"auto"` takes plain replay for a uniform log and `"weighted"` else. A log without
#' `propensity` is taken as uniform, and refused if the arms' counts speak clearly against
#' it. Where pools differ in size, plain replay keeps an event with a chance of 1 / pool
#' size and so leans towards small pools; the other two do not.
#'
#' With a delay of D, the reward of a kept event is observed after D further kept events;
#' up to then the policy chooses without it. A policy that begins with one pull of each arm
#' so repeats the first one until its reward arrives.
#'
#' The rate of the uniform policy, to which `relative` refers, is estimated from the whole
#' log: its mean reward if the log is uniform (in plain replay weighted by 1 / pool size, as
#' above), else the self-normalised importance weighted mean. Both are less noisy than a
#' replay of [policy_uniform()].
#'
#' Runs differ in the policy's own random numbers and noise, not in the events: averaging
#' over runs does not remove the error that comes from the log being finite. See
#' [summary()][summary.dpts_replay].
#'
#' @section Arms:
#' Arms may be integers, strings or a factor. Their order, in which
#' [policy_fixed()] and the columns of a matrix in [dpts_ope()] count, is that of a
#' factor's levels, else of the sorted values of `arm` and `pool`. The Open Bandit items
#' 0, 1, ... are so arms 1, 2, ... in order, labelled by their own ids.
#'
#' @section Privacy:
#' A private policy's guarantee is about the events that are kept. An event is kept or not
#' before its reward is looked at, so for rewards the guarantee holds in a replay as it does
#' live. Another context can change which arm is chosen and so whether the event is kept at
#' all; for contexts the guarantee compares logs of which the same events are kept. Results
#' of a seeded replay of real people's data must not be published as private.
#'
#' @param log A data frame with one row an event:
#'   * `arm`: the arm shown;
#'   * `reward`: its reward, in \[0, 1\];
#'   * `pool` (optional): a list column, the arms on offer; without it all arms are that the
#'     log shows, or that are levels of the factor `arm`;
#'   * `propensity` (optional): the chance with which the logger showed `arm`, in (0, 1\];
#'   * contexts (optional): columns of numbers.
#' @param policies A policy, or a named list of them.
#' @param ... Must be empty: what follows is named.
#' @param delay Delays in kept events: one or more whole numbers.
#' @param runs How many runs, or the run numbers themselves, as in [dpts_simulate()].
#' @param seed A whole number, or `NULL` to take one from R's generator.
#' @param context Which columns are the context: a formula such as `~ position + age`
#'   (turned into numbers by [model.matrix()]), names of columns, or one prefix of their
#'   names. `NULL` takes the columns whose names start with `"context"`. `arm`, `reward`,
#'   `pool` and `propensity` are never contexts: `~ .` and prefixes pass them over.
#' @param arm_features A matrix with one row an arm (in order, or named by arm), for
#'   policies with `model = "shared"`: they see for each arm all products of the event's
#'   context with the arm's features. The default is what [read_yahoo_r6()] attached.
#' @param method How events are kept and weighted; see Details.
#' @param clip Bring contexts outside \[0, 1\] into it? The number of entries changed is
#'   kept and shown. Without it such contexts are an error for private policies, whose
#'   guarantee needs the range.
#' @param horizon Stop a run after so many kept events: a whole number. Private policies
#'   fit their noise to it, so a horizon near the number of events that will be kept means
#'   less noise.
#' @param progress Show a progress bar?
#' @returns A tibble of class `dpts_replay`, one row for each policy, delay and run:
#'   * `policy`: factor, labelled by the names of `policies`;
#'   * `delay`: in kept events;
#'   * `run`: the run's number;
#'   * `events`: how many events were kept;
#'   * `reward`: their total reward, `rate` x `events` (where events are weighted, weights
#'     are scaled to add up to `events`);
#'   * `rate`: reward per kept event, `NA` if none was kept;
#'   * `relative`: `rate` divided by the uniform policy's rate.
#' @references
#' Li, L., Chu, W., Langford, J. and Wang, X. (2011). Unbiased Offline Evaluation of
#' Contextual-bandit-based News Article Recommendation Algorithms. WSDM. arXiv:1003.5956.
#'
#' Dudik, M., Erhan, D., Langford, J. and Li, L. (2012). Sample-efficient Nonstationary
#' Policy Evaluation for Contextual Bandits. UAI. arXiv:1210.4862.
#' @family logged data
#' @examples
#' log <- open_bandit[open_bandit$logger == "random", ]
#' replay <- dpts_replay(
#'   log, list(uniform = policy_uniform(), LinUCB = policy_linucb(alpha = 0.1)),
#'   delay = c(0, 100), runs = 3, seed = 1
#' )
#' replay
#' summary(replay)
#' @export
dpts_replay <- function(log, policies, ..., delay = 0, runs = 10, seed = NULL, context = NULL,
                        arm_features = attr(log, "arm_features"),
                        method = c("auto", "weighted", "rejection"), clip = FALSE,
                        horizon = nrow(log), progress = interactive()) {
  check_dots_empty(...)
  call <- rlang::current_env()
  data <- read_log(log)
  policies <- check_policies(policies)
  delay <- check_delays(delay)
  runs <- check_runs(runs)
  method <- check_choice(method, c("auto", "weighted", "rejection"))
  check_flag(clip)
  horizon <- min(check_count(horizon), data$n)
  check_flag(progress)
  seed <- check_seed(seed)
  check_horizon(policies, data$k, horizon)
  contextual <- any(vapply(policies, is_contextual, NA))
  shared <- any(vapply(policies, is_shared, NA))
  if (contextual || !is.null(context)) data$context <- log_contexts(log, context, call)
  if (shared) data$features <- log_features(arm_features, data$arms, call)
  data <- clip_log(data, clip)
  check_replay_fit(policies, data, call)
  data <- weight_log(data, method)
  warn_unseen(data)

  sums <- replay_all(data, policies, delay, runs, seed, horizon, progress)
  new_replay(data, policies, delay, runs, seed, sums)
}

check_delays <- function(delay, arg = caller_arg(delay), call = caller_env()) {
  force(arg)
  delay <- check_numbers(delay, 0, 2^31, arg = arg, call = call)
  if (any(delay != trunc(delay)) || anyDuplicated(delay)) {
    abort_arg(arg, "distinct whole numbers, at least 0", delay, call)
  }
  delay
}

clip_log <- function(data, clip) {
  data$clipped <- 0
  if (!clip) return(data)
  for (what in intersect(c("context", "features"), names(data))) {
    x <- data[[what]]
    bad <- x < 0 | x > 1
    data$clipped <- data$clipped + sum(bad)
    data[[what]][] <- pmin(pmax(x, 0), 1)
  }
  data
}

check_replay_fit <- function(policies, data, call) {
  ranges <- range(0, data$context, data$features)
  context <- if (!is.null(data$context) || !is.null(data$features)) {
    list(own = !is.null(data$features), lower = ranges[1], upper = ranges[2])
  }
  for (name in names(policies)) {
    policy <- policies[[name]]
    see <- context
    if (is_contextual(policy) && !is_shared(policy)) {
      # Models of single arms look at the event's context alone.
      see <- if (!is.null(data$context)) {
        list(own = FALSE, lower = min(data$context), upper = max(data$context))
      }
    }
    check_fit(policies[name], data$k, see, "`log`", call)
  }
  if (!is.null(data$features)) {
    check_dim(nrow(data$features) * max(1, NROW(data$context)), "arm_features", call)
  }
}

#' The chance that a match is kept, and what it weighs then
#' @noRd
weight_log <- function(data, method) {
  if (method == "auto") method <- if (data$uniform) "replay" else "weighted"
  data$method <- method
  if (method == "weighted") {
    data$keep <- rep(1, data$n)
    # Only ratios of weights matter.
    data$weight <- min(data$propensity) / data$propensity
  } else if (method == "rejection") {
    data$keep <- min(data$propensity) / data$propensity
    data$weight <- rep(1, data$n)
  }
  data
}

#' One matrix of sums for each policy and delay
#' @noRd
replay_all <- function(data, policies, delay, runs, seed, horizon, progress) {
  jobs <- expand.grid(delay = seq_along(delay), policy = seq_along(policies))
  bar <- progress_bar(progress, nrow(jobs))
  sums <- vector("list", nrow(jobs))
  for (i in seq_len(nrow(jobs))) {
    policy <- policies[[jobs$policy[i]]]
    # A reward that is later than the log is long is never seen.
    late <- min(delay[jobs$delay[i]], data$n)
    out <- .Call(C_replay_begin, data, kernel(policy, horizon), is_shared(policy), runs, seed,
                 late, horizon)
    repeat {
      share <- .Call(C_replay_advance, out$handle, 0.05)
      bar(i - 1 + share)
      if (share >= 1) break
    }
    sums[[i]] <- list(policy = jobs$policy[i], delay = delay[jobs$delay[i]], sums = out$sums)
  }
  bar(NULL)
  sums
}

# ---- result ---------------------------------------------------------------------------

new_replay <- function(data, policies, delay, runs, seed, sums) {
  base <- uniform_rate(data)
  each <- length(runs)
  row <- function(name) unlist(lapply(sums, function(s) s$sums[name, ]), use.names = FALSE)
  events <- row("events")
  rate <- ifelse(events > 0, row("wr") / row("w"), NA_real_)
  # The error of a weighted mean: squared weighted residuals.
  variance <- (row("wwrr") - 2 * rate * row("wwr") + rate^2 * row("ww")) / row("w")^2
  policy <- structure(rep(vapply(sums, `[[`, 0L, "policy"), each = each),
                      levels = names(policies), class = "factor")
  tibble::new_tibble(
    list(policy = policy, delay = rep(vapply(sums, `[[`, 0, "delay"), each = each),
         run = rep(whole(runs), length(sums)), events = events, reward = rate * events,
         rate = rate, relative = if (base$rate > 0) rate / base$rate else rate * NA),
    nrow = length(policy), class = "dpts_replay",
    detail = list(variance = pmax(variance, 0), effective = row("w")^2 / row("ww"),
                  key = paste(policy, rep(vapply(sums, `[[`, 0, "delay"), each = each),
                              rep(runs, length(sums)))),
    setup = list(policies = policies, seed = seed, events = data$n, arms = data$arms,
                 uniform = data$uniform, assumed = data$assumed, method = data$method,
                 clipped = data$clipped, base = base$rate, base_se = base$se)
  )
}

#' The uniform policy's rate, from the whole log. Plain replay keeps an event with a chance
#' of 1 / pool size, and so its base must count events alike.
#' @noRd
uniform_rate <- function(data) {
  w <- if (data$method == "replay") 1 / data$size else 1 / (data$propensity * data$size)
  rate <- sum(w * data$reward) / sum(w)
  list(rate = rate, se = sqrt(sum(w^2 * (data$reward - rate)^2)) / sum(w))
}

#' @export
tbl_sum.dpts_replay <- function(x, ...) {
  setup <- attr(x, "setup")
  head <- if (is.null(setup)) NULL else c(
    "Replay" = sprintf("%s events, %s, %s", label_count(setup$events),
                       count_noun(length(setup$arms), "arm", "arms"),
                       count_noun(length(setup$policies), "policy", "policies")),
    "Logger" = paste0(
      if (setup$assumed) "uniform (assumed: no propensities)" else
        if (setup$uniform) "uniform" else "not uniform",
      switch(setup$method, weighted = ", matches weighted by 1 / propensity",
             rejection = ", matches kept in proportion to 1 / propensity")
    ),
    "Uniform policy" = sprintf("rate %s (se %s)", format(signif(setup$base, 4)),
                               format(signif(setup$base_se, 2))),
    if (setup$clipped > 0) c("Clipped" = sprintf("%s entries of contexts into [0, 1]",
                                                 label_count(setup$clipped)))
  )
  c(head, NextMethod())
}

#' Average a replay over its runs
#'
#' @details
#' Two errors meet in a rate. Runs differ in the policy's random numbers: that
#' part shrinks with more runs. And the log is one sample of events: that part does not,
#' because all runs read the same log. `se` counts the second in full, from the rewards of
#' one run's kept events, and adds the first, `sd`^2 / `runs`. It is conservative when
#' runs keep different events.
#'
#' The interval is Wilson's, with the number of events that gives `se`. It stays honest
#' when no kept event had a reward, where a standard error is 0.
#'
#' @param object A result of [dpts_replay()].
#' @param ... Must be empty.
#' @param level Confidence level of the interval: a number in (0, 1).
#' @returns A tibble of class `dpts_replay_summary`, one row for each policy and delay:
#'   * `policy`, `delay`: as in the replay;
#'   * `runs`: how many runs were averaged;
#'   * `events`: mean number of kept events;
#'   * `rate`: mean reward per kept event;
#'   * `sd`: of the rate between runs, `NA` for one run;
#'   * `se`: standard error of `rate`;
#'   * `lower`, `upper`: confidence interval for `rate`;
#'   * `relative`: `rate` divided by the uniform policy's;
#'   * `relative_se`: its standard error, with that of the uniform policy's rate.
#' @family logged data
#' @examples
#' log <- open_bandit[open_bandit$logger == "random", ]
#' summary(dpts_replay(log, policy_ts_beta(), runs = 3, seed = 1))
#' @export
summary.dpts_replay <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  check_number(level, 0, 1, open = TRUE)
  need_columns(object, c("policy", "delay", "run", "events", "rate"))
  setup <- attr(object, "setup")
  detail <- attr(object, "detail")
  if (is.null(setup) || is.null(detail)) {
    abort_dpts("The replay's own record was lost; summarise the result as dpts_replay() gave it.",
               "dpts_error_columns")
  }
  at <- match(paste(object$policy, object$delay, object$run), detail$key)
  groups <- split(seq_len(nrow(object)), list(object$delay, object$policy), drop = TRUE)
  z <- stats::qnorm((1 + level) / 2)
  rows <- lapply(groups, function(rows) {
    rate <- object$rate[rows]
    seen <- !is.na(rate)
    runs <- sum(seen)
    mean <- if (runs) mean(rate[seen]) else NA_real_
    sd <- if (runs > 1) stats::sd(rate[seen]) else NA_real_
    variance <- if (runs == 0) NA_real_ else {
      mean(detail$variance[at[rows]][seen]) + if (runs > 1) sd^2 / runs else 0
    }
    effective <- mean(detail$effective[at[rows]][seen])
    if (runs && variance > 0) effective <- min(effective, mean * (1 - mean) / variance)
    interval <- wilson(mean, effective, z)
    events <- mean(object$events[rows])
    half <- (interval[2] - interval[1]) / (2 * z)
    # Kept events are part of the log that the base rests on: their share of its error is
    # common to both.
    common <- half^2 * events / setup$events
    relative <- mean / setup$base
    relative_se <- sqrt(pmax(half^2 + relative^2 * setup$base_se^2 - 2 * relative * common, 0)) /
      setup$base
    list(policy = as.integer(object$policy[rows[1]]), delay = object$delay[rows[1]], runs = runs,
         events = events, rate = mean, sd = sd, se = sqrt(variance), lower = interval[1],
         upper = interval[2], relative = if (setup$base > 0) relative else NA_real_,
         relative_se = if (setup$base > 0) relative_se else NA_real_)
  })
  column <- function(name) vapply(rows, function(r) as.numeric(r[[name]]), 0, USE.NAMES = FALSE)
  out <- lapply(rlang::set_names(names(rows[[1]])), column)
  out$policy <- structure(as.integer(out$policy), levels = levels(object$policy), class = "factor")
  out$runs <- as.integer(out$runs)
  tibble::new_tibble(out, nrow = length(rows), class = "dpts_replay_summary", level = level)
}

#' Wilson's interval for a mean in \[0, 1\]
#' @noRd
wilson <- function(p, n, z) {
  centre <- (p + z^2 / (2 * n)) / (1 + z^2 / n)
  half <- z / (1 + z^2 / n) * sqrt(p * (1 - p) / n + z^2 / (4 * n^2))
  c(max(0, centre - half), min(1, centre + half))
}

#' Draw a replay
#'
#' Each policy's reward relative to the uniform policy, with one standard error on either
#' side, for each delay: Mishra and Thakurta's Figure 2.
#'
#' @param object A result of [dpts_replay()], or its summary.
#' @param ... Must be empty.
#' @returns A ggplot, which can be restyled like any other.
#' @family logged data
#' @examples
#' log <- open_bandit[open_bandit$logger == "random", ]
#' autoplot(dpts_replay(log, policy_ts_beta(), delay = c(0, 100), runs = 3, seed = 1))
#' @export
autoplot.dpts_replay <- function(object, ...) {
  check_dots_empty(...)
  autoplot(summary(object))
}

#' @rdname autoplot.dpts_replay
#' @export
autoplot.dpts_replay_summary <- function(object, ...) {
  check_dots_empty(...)
  object$at <- factor(label_count(object$delay), label_count(sort(unique(object$delay))))
  dodge <- ggplot2::position_dodge(width = 0.6)
  ggplot2::ggplot(object, ggplot2::aes(
    x = .data$at, y = .data$relative, colour = .data$policy
  )) +
    ggplot2::geom_hline(yintercept = 1, linewidth = 0.3) +
    ggplot2::geom_pointrange(
      ggplot2::aes(ymin = pmax(.data$relative - .data$relative_se, 0),
                   ymax = .data$relative + .data$relative_se),
      position = dodge, na.rm = TRUE
    ) +
    scales_by(levels(object$policy), title = "Policy")[1] +
    ggplot2::labs(
      x = "Delay (kept events)", y = "Reward relative to the uniform policy",
      alt = sprintf("Relative reward and standard error of %s at %s.",
                    count_noun(nlevels(object$policy), "policy", "policies"),
                    count_noun(length(unique(object$delay)), "delay", "delays"))
    )
}
