#' Replay policies on logged data
#'
#' `dpts_replay()` runs policies on logged data as if they had been running when the data were collected. It
#' keeps the events in which the policy chooses the logged arm.
#'
#' @details
#' Events are read in order. The policy chooses from the event's pool; if it chooses the arm that was
#' shown, the event is kept: its reward counts, and the policy observes it. Otherwise the event is discarded
#' without a trace (Li, Chu, Langford and Wang 2011). Where the logging policy chose uniformly and events are
#' independent, the kept events have the distribution of the policy's own interaction, and `rate` is unbiased.
#' The policy's clock counts kept events.
#'
#' Where propensities are not uniform, arms that the logging policy preferred are more frequent among the kept
#' events. Then:
#'
#' * `"weighted"` keeps every match and weights its reward by 1 / propensity. That corrects
#'   the average (it is self-normalised, so unbiased only as the log grows), but the policy
#'   still *learns* from a history in which events the logging policy favoured are more frequent;
#' * `"rejection"` keeps a match with the probability least propensity / propensity, which gives the whole
#'   history the right distribution (Dudik et al. 2012), and keeps few events if one propensity is small.
#'
#' `"auto"` takes plain replay for a uniform log and `"weighted"` otherwise. A log without
#' `propensity` is taken as uniform, and refused if the counts of arms clearly contradict that.
#' Where pools differ in size, plain replay keeps an event with probability 1 / pool
#' size, so that events with small pools are over-represented; the other two methods correct for this.
#'
#' With a delay of D, the reward of a kept event is observed after D further kept events;
#' until then the policy chooses without it. A policy that begins with one pull of each arm
#' therefore repeats the first arm until its reward arrives.
#'
#' The rate of the uniform policy, to which `relative` refers, is estimated from the whole log: its mean
#' reward if the log is uniform (in plain replay weighted by 1 / pool size, as above), else the
#' self-normalised importance weighted mean. Both are less noisy than a replay of [policy_uniform()]. The mean
#' of the importance weights of the uniform policy is printed. A warning is given where it is more than 4
#' standard errors and 1% away from 1: then the propensities are not those of the logging policy (see
#' [dpts_ope()]).
#'
#' Runs differ in the policy's own random numbers and noise, not in the events: averaging over runs does not
#' remove the error that comes from the log being finite. See [summary()][summary.dpts_replay].
#'
#' @section Arms:
#' Arms may be integers, strings or a factor. Their order, in which [policy_fixed()] and the columns of a
#' matrix in [dpts_ope()] count, is that of a factor's levels, else of the sorted values of `arm` and `pool`.
#' The Open Bandit items 0, 1, ... are thus arms 1, 2, ... in order, labelled by their own ids.
#'
#' @section Privacy:
#' A replay states its own guarantee: its print shows it, and [dpts_privacy()] of a replay
#' draws it. Anyone who knows the arms of the log can infer from the kept events every choice of the policy,
#' also in discarded events. A policy that releases noisy sums keeps its guarantee, because the decision to
#' keep an event does not depend on its reward. Gaussian Thompson sampling is private by its random draws,
#' and every event that is *read* uses one: so all events read are charged, and the accountants `"sequence"`
#' and `"direct"` do not apply. Another context can change the chosen arm and so whether the event is kept;
#' for contexts the guarantee compares logs in which the same events are kept. Results of a seeded replay of
#' real people's data must not be published as private.
#'
#' @param log A data frame with one row per event, or a source of such rows that need not fit into memory
#'   (see [log_query()]):
#'   * `arm`: the arm shown;
#'   * `reward`: its reward, in \[0, 1\];
#'   * `pool` (optional): a list column, the available arms; without it these are all arms that the
#'     log shows, or all levels of the factor `arm`;
#'   * `propensity` (optional): the probability with which the logging policy showed `arm`, in (0, 1\];
#'   * contexts (optional): columns of numbers.
#' @param policies The policies to replay: one, or a named list.
#' @param arm,reward,propensity Names of the columns of arms, rewards and propensities, if they have other
#'   names: strings, for a log that is a data frame.
#' @param delay How many kept events later a reward is observed: one or more whole numbers.
#' @param context Which columns are the context: a formula such as `~ position + age`
#'   (turned into numbers by [model.matrix()]; not for logs in chunks), names of columns, or one prefix of
#'   their names. `NULL` takes the columns whose names start with `"context"`. `arm`, `reward`,
#'   `pool` and `propensity` are never contexts: `~ .` and prefixes skip them.
#' @param arm_features Features of the arms for policies with `model = "shared"`: a matrix with one row per
#'   arm (in order, or named by arm). The policy sees for each arm all products of the event's context with
#'   the arm's features. The default is what [read_yahoo_r6()] attached.
#' @param method How events are kept and weighted; see Details.
#' @param clip Set contexts below 0 to 0 and above 1 to 1? The number of changed entries is printed. If
#'   `FALSE`, contexts outside \[0, 1\] are an error for private policies, whose guarantee needs the range.
#' @param horizon Maximum number of kept events of a run: a whole number, or `NULL` for what a run keeps at
#'   most, for which private policies add noise. In a log with propensities, without weights, that is a
#'   bound with probability 1 - 1e-9 (Bernstein's inequality: some 410 of 10,000 events with 34 arms); else
#'   the number of events.
#' @param history Keep every kept event, for [dpts_history()]?
#' @param finish Release open batches at the end, as in [dpts_simulate()]?
#' @inheritParams dpts_simulate
#' @returns A tibble of class `dpts_replay`, one row for each policy, delay and run:
#'   * `policy`: factor, labelled by the names of `policies`;
#'   * `delay`: in kept events;
#'   * `run`: the run's number;
#'   * `events`: number of kept events;
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
#' @seealso [as_log()] describes a log, [dpts_ope()] values a policy that does not learn.
#' @concept logged data
#' @examples
#' log <- open_bandit[open_bandit$logger == "random", ]
#' replay <- dpts_replay(
#'   log, list(uniform = policy_uniform(), LinUCB = policy_linucb(alpha = 0.1)),
#'   delay = c(0, 100), runs = 3, seed = 1
#' )
#' replay
#' summary(replay)
#' @export
dpts_replay <- function(log, policies, ..., runs = 10, seed = NULL, progress = interactive(),
                        checkpoint = NULL, delay = 0, context = NULL,
                        arm_features = attr(log, "arm_features"),
                        method = c("auto", "weighted", "rejection"), clip = FALSE,
                        horizon = NULL, history = FALSE, finish = FALSE, arm = NULL, reward = NULL,
                        propensity = NULL) {
  check_dots_empty(...)
  check_log(log)
  features <- check_features(arm_features)
  log <- name_columns(log, list(arm = arm, reward = reward, propensity = propensity))
  policies <- check_policies(policies)
  delay <- check_delays(delay)
  runs <- check_runs(runs)
  method <- check_choice(method, c("auto", "weighted", "rejection"))
  check_flag(clip)
  check_flag(history)
  check_finish(finish, policies)
  if (!is.null(horizon)) horizon <- check_count(horizon)
  check_flag(progress)
  check_checkpoint(checkpoint, seed)
  seed <- check_seed(seed)
  contextual <- any(vapply(policies, is_contextual, NA))
  data <- read_log(log, context, contextual || !is.null(context), progress)
  on.exit(close_spool(data$spool))
  if (any(vapply(policies, is_shared, NA))) data$features <- log_features(features, data$arms)
  data <- clip_log(data, clip)
  check_replay_fit(policies, data)
  data$method <- if (method != "auto") method else auto_method(data)
  first <- data$k * vapply(policies, `[[`, 0, "rounds_per_arm")
  horizon <- min(horizon %||% max(most_kept(data), first), data$n)
  check_horizon(policies, data$k, horizon)
  if (history) check_size(1, I(runs), policies, horizon, length(delay), history)
  warn_unseen(data)
  if (data$method != "replay") warn_certain(data, data$certain, "a policy")
  base <- uniform_rate(data)
  if (data$method != "replay") warn_weights(base$mean_weight, "of the uniform policy",
                                            data$certain > 0 || any(data$shown == 0))
  warn_never(delay, horizon)
  inform_outweighed(policies, vapply(policies, log_dim, 0, data), data$k, horizon)
  shortened <- count_shortened(policies, data)
  warn_shortened(policies, shortened / data$n)

  log <- hash_log(data, data$method, data$clipped)
  job <- list(problems = lapply(stats::setNames(delay, as.character(delay)), function(delay) {
                c(list(log = log, delay = delay, horizon = horizon), if (finish) list(finish = TRUE))
              }),
              policies = policies, runs = runs, seed = seed, data = data, horizon = horizon, log = log,
              finish = finish, name = "Replaying",
              observers = c("sums", "pulls", "estimates", "releases",
                            if (history) c("history", "probability")))
  job$keeps <- observed(job$observers)
  gather_replay(job, play_job(job, replay_chunk, checkpoint, progress), base, shortened)
}

auto_method <- function(data) if (data$uniform) "replay" else "weighted"

# How many events are kept at most, but for a chance of 1e-9. Where an event is kept with a probability that
# is known and does not depend on the policy: their sum, and what Bernstein's inequality adds.
most_kept <- function(data) {
  if (data$method == "weighted" || data$assumed) return(data$n)
  mean <- if (data$method == "rejection") data$n * data$least else
    if (is.null(data$times)) data$n / data$k else sum(data$times / diff(data$pool_start))
  tail <- log(1e9)
  ceiling(mean + tail / 3 + sqrt(tail^2 / 9 + 2 * mean * tail))
}

# How many numbers a policy sees in a context of the log
log_dim <- function(policy, data) {
  own <- length(data$context$names)
  if (is_shared(policy)) max(1, own) * nrow(data$features) else own
}

# In how many events of the log does each policy shorten the context of the arm shown?
count_shortened <- function(policies, data) {
  counts <- numeric(length(policies))
  at <- which(lengths(lapply(policies, norm_of)) > 0)
  if (length(at) == 0) return(counts)
  none <- matrix(1, 1, 1)
  sums <- sum_log(data, function(block, before) {
    seen <- block$context %||% none[, rep(1, length(block$arm)), drop = FALSE]
    if (data$clipped > 0) seen <- clip01(seen)
    # All products of the numbers of an event and of an arm: as long as the two lengths' product.
    lapply(stats::setNames(policies[at], at), function(policy) {
      times <- if (is_shared(policy)) context_length(policy, data$features)[block$arm + 1] else 1
      shortens(policy, seen, times)
    })
  })
  counts[at] <- sums
  counts
}

check_delays <- function(delay, arg = caller_arg(delay)) {
  force(arg)
  delay <- check_numbers(delay, 0, 2^31, arg = arg)
  if (any(delay != trunc(delay)) || anyDuplicated(delay)) {
    abort_arg(arg, "distinct whole numbers, at least 0", delay)
  }
  delay
}

# Rewards that would come after the last event are never observed
warn_never <- function(delay, horizon, call = caller_env()) {
  never <- delay[delay >= horizon]
  if (!length(never)) return(invisible())
  rlang::warn(sprintf(paste("At a delay of %s no reward comes before the replay is over, after %s at most:",
                            "policies learn nothing."),
                      paste(words_whole(never), collapse = ", "),
                      count_noun(horizon, "event", "events")),
              class = c("dpts_warning_delay", "dpts_warning"), call = call)
}

clip_log <- function(data, clip) {
  data$clipped <- 0
  if (!clip) return(data)
  # Contexts are clipped when they are replayed; their number and their range are known now.
  data$clipped <- sum(data$context$outside, data$features < 0 | data$features > 1)
  if (!is.null(data$context)) data$context$range <- clip01(data$context$range)
  if (!is.null(data$features)) data$features <- clip01(data$features)
  data
}

clip01 <- function(x) {
  x[] <- pmin(pmax(x, 0), 1)
  x
}

check_replay_fit <- function(policies, data, arg = "policies") {
  ranges <- range(0, data$context$range, data$features)
  context <- if (!is.null(data$context) || !is.null(data$features)) {
    list(own = !is.null(data$features), lower = ranges[1], upper = ranges[2])
  }
  for (name in names(policies)) {
    policy <- policies[[name]]
    see <- context
    if (is_contextual(policy) && !is_shared(policy)) {
      # Models of single arms look at the event's context alone.
      see <- if (!is.null(data$context)) {
        list(own = FALSE, lower = data$context$range[1], upper = data$context$range[2])
      }
    }
    check_fit(policies[name], data$k, see, "`log`", arg = arg)
  }
  if (!is.null(data$features)) {
    check_dim(nrow(data$features) * max(1, length(data$context$names)), "arm_features")
  }
}

# A block for src/play_replay.h, with the probability that a match is kept, and its weight
replay_block <- function(data, block) {
  events <- c(block, data[intersect(c("k", "pool_start", "pool_arms", "features"), names(data))])
  if (data$clipped > 0 && !is.null(block$context)) events$context <- clip01(block$context)
  if (data$method == "replay") return(events)
  # Only ratios of weights matter.
  ratio <- data$least / block_propensity(data, block)
  one <- rep(1, length(ratio))
  c(events, if (data$method == "weighted") list(keep = one, weight = ratio) else
    list(keep = ratio, weight = one))
}

# The sums of one policy's runs at one delay, a column for each run; see simulate_chunk(). A log in memory
# is read once per run; a log in blocks is read once, by all runs in parallel.
replay_chunk <- function(job, chunk, tick = function(share) TRUE) {
  data <- job$data
  policy <- job$policies[[chunk$policy]]
  # A reward that is later than the last kept event is never seen.
  late <- min(job$problems[[chunk$problem]]$delay, job$horizon)
  players <- if (is.null(data$spool)) list(chunk$run) else as.list(chunk$run)
  go_on <- TRUE
  each_block(data, function(block, before) {
    events <- replay_block(data, block)
    size <- length(events$arm)
    for (i in seq_along(players)) {
      if (before == 0) {
        kernel <- kernel(policy, job$horizon)
        players[[i]] <<- c(list(kernel = kernel), .Call(C_replay_begin, events, kernel, list(
          own = is_shared(policy), runs = players[[i]], seed = job$seed, delay = late,
          horizon = job$horizon, observers = job$observers, last = size == data$n,
          finish = job$finish, chances = if (isTRUE(job$chances)) data$n
        )))
      } else {
        .Call(C_replay_feed, players[[i]]$handle, events, before, before + size == data$n)
      }
      repeat {
        share <- with_host(players[[i]]$kernel, .Call(C_replay_advance, players[[i]]$handle, 0.05))
        go_on <<- tick((before + size * (i - 1 + share) / length(players)) / data$n) || share >= 1
        if (share >= 1 || !go_on) break
      }
      if (!go_on) return(FALSE)
    }
  })
  if (!go_on) return(NULL)
  if (isTRUE(job$chances)) return(players[[1]]$chances)
  bind_runs(lapply(players, `[[`, "seen"), job$keeps)
}

# ---- result ---------------------------------------------------------------------------

gather_replay <- function(job, chunks, base, shortened) {
  data <- job$data
  policies <- job$policies
  runs <- job$runs
  joined <- join_chunks(job, chunks)
  # Policy by policy, and then delay by delay
  joined <- joined[c(t(matrix(seq_along(joined), length(policies))))]
  sums <- lapply(joined, function(one) {
    structure(one$sums, dimnames = list(c("events", "w", "ww", "wr", "wwr", "wwrr", "wu", "wur", "wurr"),
                                        NULL))
  })
  row <- function(name) unlist(lapply(sums, function(s) s[name, ]), use.names = FALSE)
  events <- row("events")
  rate <- ifelse(events > 0, row("wr") / row("w"), NA_real_)
  # The error of a weighted mean: squared weighted residuals.
  variance <- (row("wwrr") - 2 * rate * row("wwr") + rate^2 * row("ww")) / row("w")^2
  # The covariance with the uniform policy's rate: products of residuals, of kept events alone
  common <- (row("wurr") - (rate + base$rate) * row("wur") + rate * base$rate * row("wu")) /
    (row("w") * base$weight)
  n_delays <- length(job$problems)
  cells <- cells_of(job, joined)
  delays <- rep(rep(vapply(unname(job$problems), `[[`, 0, "delay"), each = length(runs)), length(policies))
  each <- rep(seq_along(policies), each = n_delays * length(runs))
  dims <- vapply(policies, log_dim, 0, data)
  released <- mapply(function(i, seen, pulls) {
    has_released(policies[[i]], dims[i], job$horizon, seen, min(seen, max(pulls)))
  }, each, pmax(0, events - delays), cells$pulls)
  never <- !job$finish & !tapply(released, each, any)
  warn_unreleased(policies[never], dims[never], job$horizon)
  policy <- structure(each, levels = names(policies), class = "factor")
  run <- rep(runs, length(sums))
  new_replay(
    list(policy = policy, delay = delays, run = whole(run), events = events, reward = rate * events,
         rate = rate, relative = if (base$rate > 0) rate / base$rate else rate * NA),
    policies,
    runs = c(list(seed = rep(job$seed, length(run)), variance = pmax(variance, 0), common = common,
                  effective = row("w")^2 / row("ww"), released = released, shortened = shortened[each]),
             cells),
    shared = list(
      log = job$log, method = data$method, horizon = job$horizon, events = data$n,
      arms = data$arms, uniform = data$uniform, assumed = data$assumed, clipped = data$clipped,
      base = base$rate, base_se = base$se, weight = base$mean_weight, pools = !is.null(data$times)
    )
  )
}

# The uniform policy's rate, from the whole log. Plain replay keeps an event with probability 1 / pool size,
# so its reference must weight events in the same way.
uniform_rate <- function(data) {
  weight <- function(block) {
    size <- block_size(data, block)
    if (data$method == "replay") 1 / size else 1 / (block_propensity(data, block) * size)
  }
  sums <- sum_log(data, function(block, before) {
    w <- weight(block)
    list(w = w, wr = w * block$reward)
  })
  rate <- sums[["wr"]] / sums[["w"]]
  mean <- sums[["w"]] / data$n
  spread <- sum_log(data, function(block, before) {
    w <- weight(block)
    list(rate = w^2 * (block$reward - rate)^2, weight = (w / mean - 1)^2)
  })
  # `weight`: the total, in the units of src/play_replay.c; `mean_weight`: mean and standard error, where
  # events are weighted by propensities
  list(rate = rate, se = sqrt(spread[["rate"]]) / sums[["w"]],
       weight = sums[["w"]] * if (data$method == "replay") 1 else data$least,
       mean_weight = if (data$method != "replay") {
         mean * c(1, sqrt(spread[["weight"]] / (data$n - 1) / data$n))
       })
}
