#' Simulate bandit policies
#'
#' Plays every policy on the arms, many runs each, and returns the regret curves as a
#' tidy data frame.
#'
#' @details
#' Regret is pseudo-regret: the sum over rounds of the gap between the best mean and the
#' mean of the arm that was pulled. It has the mean of the realised regret, and less
#' variance.
#'
#' Random numbers are keyed by (`seed`, run, purpose), the purposes being rewards, the
#' policy's own draws and privacy noise. So a run depends on its key, the arms, the
#' policy and the horizon, and on nothing else: not on the threads, the chunks, the workers,
#' the recorded rounds, which other runs are asked for or which other policies are in the call.
#' Policies in one call share random numbers run by run, so compare them by differences
#' within runs.
#'
#' Rounds are played by the fastest way that keeps their law: one by one; many at once, where
#' an arm leads and the rounds that surely pull it need not be played out (Gaussian and Beta
#' Thompson sampling, UCB1 and others); or for many runs side by side in vector code (Gaussian
#' Thompson sampling where no arm leads). Which way depends on the policy, the arms and the
#' horizon alone. `options(dpts.skip = FALSE)` plays every round one by one, for comparison:
#' other random numbers, the same law.
#'
#' Where the package future.apply is installed and a [future::plan()] other than
#' sequential is set, chunks of runs go through it. On a cluster without it, let each
#' job play its own `runs`, such as `runs = 101:200`, and `rbind()` the parts.
#'
#' **Rewards that come late.** With `delay`, the reward of round t comes at the end of round
#' t + delay; with `batch`, what has come is learned at the end of the group of rounds 1 to `batch`,
#' `batch` + 1 to 2 `batch`, and so on. Up to then the policy chooses without it. Rewards that would
#' come after the horizon are never learned, but count in `reward`, and regret is that of the pulls.
#' Several delays are drawn from with equal chances, on a random stream of their own; a function is
#' called once in every run, `delay(horizon)`, and draws from R's generator, which is set by `seed` and
#' run before and put back after. Guarantees of privacy hold for every delay that does not depend on
#' rewards: see [dpts_privacy()]. All rounds are then played one by one.
#'
#' The simulation's random numbers are reproducible and not cryptographic: arms computed
#' from real people's data by a seeded simulation must not be published as private. Nor do the arms
#' of several policies of a call, or of calls with one seed, compose as independent releases
#' ([privacy_compose()]): they share random numbers run by run.
#'
#' @param arms The problem, from [arms_bernoulli()] and its family.
#' @param policies A policy, such as [policy_ts_gaussian()], or a named list of them. One
#'   without a name is labelled by its kind, and several of a kind by what they differ in.
#' @param horizon Number of rounds: a whole number, up to 2^53.
#' @param ... Must be empty: what follows is named.
#' @param runs How many runs, or the run numbers themselves (two or more of them, or one
#'   as `I(7)`): distinct whole numbers.
#' @param seed A whole number, or `NULL` to take one from R's generator. A given seed
#'   leaves `.Random.seed` as it was.
#' @param record How many rounds to keep, spaced so that both the start and the end are
#'   seen, or (two or more numbers, or one as `I(1000)`) which rounds.
#' @param threads Threads to use, over runs.
#' @param progress Show a progress bar?
#' @param delay How many rounds late a reward comes: a whole number, several from which each round
#'   draws its own, or a function of n that gives the delays of n rounds; see Details.
#' @param batch A whole number: what has come is learned at the end of every group of so many rounds,
#'   such as a week of participants. 1: at once.
#' @param checkpoint A file, or `NULL`. Finished chunks of runs are kept in it; the same
#'   call resumes from it, and a file from another call is refused. It is written whole
#'   or not at all.
#' @returns A tibble of class `dpts_simulation`, one row for each policy, run and
#'   recorded round:
#'   * `policy`: factor, labelled by the names of `policies`;
#'   * `run`: the run's number;
#'   * `t`: the round, from 1;
#'   * `regret`: cumulative pseudo-regret after round `t`, in units of reward;
#'   * `reward`: cumulative realised reward after round `t`.
#'
#'   [summary()][summary.dpts_simulation] averages over runs, [pulls()] counts pulls, and
#'   [autoplot()][autoplot.dpts_simulation] draws the curves.
#' @section Errors:
#' A bad argument raises an error of class `dpts_error_input` before any work is done;
#' trouble with the checkpoint one of class `dpts_error_checkpoint`.
#' @family simulation
#' @examples
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' sim <- dpts_simulate(
#'   arms,
#'   list(gaussian = policy_ts_gaussian(), beta = policy_ts_beta()),
#'   horizon = 2000, runs = 20, seed = 1
#' )
#' sim
#' summary(sim)
#' @export
dpts_simulate <- function(arms, policies, horizon, ..., runs = 10, seed = NULL,
                          record = 200, threads = getOption("dpts.threads", 1L),
                          progress = interactive(), checkpoint = NULL, delay = 0, batch = 1) {
  check_dots_empty(...)
  check_arms(arms)
  policies <- check_policies(policies)
  horizon <- check_count(horizon)
  check_horizon(policies, n_arms(arms), horizon)
  check_fit(policies, n_arms(arms), arms$contexts, "`arms`")
  check_rewards(policies, arms)
  check_recorded(arms, horizon)
  runs <- check_runs(runs)
  record <- check_record(record, horizon)
  threads <- check_count(threads, 1, 1024)
  check_flag(progress)
  seed <- check_seed(seed)
  delay <- check_delay(delay, horizon)
  batch <- min(check_count(batch), horizon)
  job <- list(arms = arms, policies = policies, horizon = horizon, runs = runs,
              seed = seed, record = record, delay = delay, batch = batch,
              engine = simulate_engine())
  store <- checkpoint_open(checkpoint, job)

  chunks <- simulate_chunks(job, store)
  chunks <- if (use_future()) {
    simulate_by_future(job, chunks, threads, store, progress)
  } else {
    simulate_here(job, chunks, threads, store, progress)
  }
  new_simulation(job, chunks)
}

# ---- arguments ----------------------------------------------------------------------

check_horizon <- function(policies, k, horizon, call = caller_env()) {
  for (name in names(policies)) {
    least <- policies[[name]]$rounds_per_arm * k
    if (horizon < least) {
      rlang::abort(
        sprintf(paste("`horizon` must be at least %s: policy \"%s\" first pulls each of",
                      "%s %s times."),
                format(least, big.mark = ","), name, count_noun(k, "arm", "arms"),
                format(policies[[name]]$rounds_per_arm)),
        class = c("dpts_error_horizon", "dpts_error_input", "dpts_error"),
        arg = "horizon", call = call
      )
    }
  }
}

#' A count becomes 1..n; run numbers stand for themselves
#' @noRd
check_runs <- function(runs, arg = caller_arg(runs), call = caller_env()) {
  force(arg)
  what <- "a count of runs, or distinct whole numbers from 1"
  if (is_count_argument(runs)) return(seq_len(check_count(runs, 1, 1e9, arg, call)) + 0)
  runs <- plain(runs)
  if (!is.numeric(runs) || length(runs) == 0 || is.object(runs)) {
    abort_arg(arg, what, runs, call)
  }
  if (!all_inside(runs, 1, 2^53, FALSE, FALSE) || any(runs != trunc(runs))) {
    abort_arg(arg, what, runs[!(runs %in% trunc(runs[which(runs >= 1)]))][1], call)
  }
  if (anyDuplicated(runs)) {
    rlang::abort(sprintf("`%s` must be distinct; run %s comes twice.", arg,
                         format(runs[duplicated(runs)][1])),
                 class = c("dpts_error_input", "dpts_error"), arg = arg, call = call)
  }
  as.double(runs)
}

#' One plain number is a count; several, or one inside I(), are the things themselves
#' @noRd
is_count_argument <- function(x) length(x) == 1 && !inherits(x, "AsIs")

#' Without I(), and without that alone: a factor stays one, and is refused
#' @noRd
plain <- function(x) {
  class(x) <- setdiff(oldClass(x), "AsIs")
  x
}

check_record <- function(record, horizon, arg = caller_arg(record), call = caller_env()) {
  force(arg)
  if (is_count_argument(record)) {
    return(record_rounds(check_count(record, 1, arg = arg, call = call), horizon))
  }
  record <- plain(record)
  what <- sprintf("a count, or distinct rounds from 1 to the horizon, %s", format(horizon))
  if (!is.numeric(record) || length(record) == 0 || is.object(record)) {
    abort_arg(arg, what, record, call)
  }
  bad <- record[!(is.finite(record) & record >= 1 & record <= horizon &
                    record == trunc(record))]
  if (length(bad)) abort_arg(arg, what, bad[1], call)
  if (anyDuplicated(record)) abort_arg(arg, what, record[duplicated(record)][1], call)
  sort(as.double(record))
}

#' n rounds of a horizon, about half of them evenly spaced and half in geometric
#' progression, so that both the start and the end of a curve are seen
#' @noRd
record_rounds <- function(n, horizon) {
  if (n >= horizon) return(seq_len(horizon) + 0)
  if (n == 1) return(horizon)
  linear <- round(seq(1, horizon, length.out = max(2, n %/% 2)))
  mixed <- function(m) {
    unique(sort(c(linear, round(exp(seq(0, log(horizon), length.out = m))))))
  }
  # The first terms of a progression of whole numbers coincide: take as many terms as
  # leave n rounds.
  low <- 1
  high <- 2 * n
  while (length(mixed(high)) <= n) high <- 2 * high
  while (high - low > 1) {
    middle <- (low + high) %/% 2
    if (length(mixed(middle)) <= n) low <- middle else high <- middle
  }
  rounds <- mixed(low)
  # Rounding may leave a few too few: halve the widest gaps, on the cube-root scale, which
  # lies between the even and the geometric one.
  while (length(rounds) < n) {
    gap <- diff(rounds^(1 / 3))
    gap[diff(rounds) < 2] <- 0
    at <- utils::head(order(-gap), min(n - length(rounds), sum(gap > 0)))
    rounds <- sort(c(rounds, (rounds[at] + rounds[at + 1]) %/% 2))
  }
  rounds
}

check_seed <- function(seed, arg = caller_arg(seed), call = caller_env()) {
  if (is.null(seed)) return(sample.int(.Machine$integer.max, 1) + 0)
  check_count(seed, 0, arg = arg, call = call)
}

#' Delays as integers, or a function. What would come after the horizon never comes.
#' @noRd
check_delay <- function(delay, horizon, arg = caller_arg(delay), call = caller_env()) {
  force(arg)
  if (is.function(delay)) {
    check_function(delay, "n", arg, call)
    if (horizon > 1e8) abort_arg("horizon", "at most 1e8 where `delay` is a function", horizon, call)
    return(delay)
  }
  delay <- check_numbers(delay, 0, arg = arg, call = call)
  if (any(delay != trunc(delay))) {
    abort_arg(arg, "whole numbers of at least 0, or a function", delay[delay != trunc(delay)][1], call)
  }
  as.integer(pmin(delay, horizon, .Machine$integer.max - 1))
}

# ---- work ---------------------------------------------------------------------------

#' The work in pieces: a policy and some runs each. Without a checkpoint or workers one
#' piece a policy is best for the threads.
#' @noRd
simulate_chunks <- function(job, store) {
  n <- length(job$runs)
  # With a checkpoint always 16, so that a file fits any plan.
  pieces <- if (!is.null(store)) 16 else if (use_future()) 2 * future::nbrOfWorkers() else 1
  pieces <- min(pieces, n)
  at <- split(seq_len(n), ceiling(seq_len(n) * pieces / n))
  unlist(lapply(names(job$policies), function(policy) {
    lapply(unname(at), function(i) list(policy = policy, at = i))
  }), recursive = FALSE)
}

use_future <- function() {
  requireNamespace("future.apply", quietly = TRUE) &&
    requireNamespace("future", quietly = TRUE) &&
    !inherits(future::plan(), "sequential")
}

#' Play one chunk in slices of a twentieth of a second. Between slices R answers Ctrl-C.
#' @noRd
simulate_chunk <- function(job, chunk, threads, tick = function(share) NULL) {
  out <- simulate_begin(job, job$policies[[chunk$policy]], job$runs[chunk$at], threads)
  needs <- needs_supply(job)
  shown <- Sys.time()
  repeat {
    share <- .Call(C_simulate_advance, out$handle, 0.05)
    if (needs) supply(out$handle, job, quote(dpts_simulate()))
    # While R supplies rewards, slices are short.
    if (!needs || share >= 1 || Sys.time() > shown + 0.05) {
      tick(share)
      shown <- Sys.time()
    }
    if (share >= 1) break
  }
  unscale(out[c("regret", "reward", "pulls")], job$arms, job$record)
}

#' A policy's runs before their first round
#' @noRd
simulate_begin <- function(job, policy, runs, threads = 1) {
  asked <- is.function(job$delay)
  .Call(C_simulate_begin, world_kernel(job$arms), kernel(policy, job$horizon), list(
    horizon = job$horizon, record = job$record, runs = runs, seed = job$seed, threads = threads,
    engine = job$engine, delay = if (asked) 0L else job$delay, ask_delays = asked,
    batch = job$batch, history = FALSE
  ))
}

#' The engine of src/drive_simulate.h. `options(dpts.engine = "plain")` plays every round one
#' by one, the reference that skipping and lanes are held to; "skip" and "lanes" are for
#' tests and benchmarks.
#' @noRd
simulate_engine <- function() {
  engine <- getOption("dpts.engine", "auto")
  engines <- c("auto", "plain", "skip", "lanes")
  if (!is.character(engine) || length(engine) != 1 || !engine %in% engines) {
    rlang::abort(sprintf("Option `dpts.engine` must be one of %s.",
                         paste0('"', engines, '"', collapse = ", ")),
                 class = c("dpts_error_input", "dpts_error"), arg = "dpts.engine")
  }
  engine
}

simulate_here <- function(job, chunks, threads, store, progress) {
  weight <- vapply(chunks, function(chunk) length(chunk$at), 0)
  bar <- progress_bar(progress, sum(weight))
  before <- cumsum(weight) - weight
  for (i in seq_along(chunks)) {
    result <- checkpoint_get(store, i) %||% checkpoint_put(
      store, i,
      simulate_chunk(job, chunks[[i]], threads, function(share) {
        bar(before[i] + weight[i] * share)
      })
    )
    chunks[[i]] <- c(chunks[[i]], result)
  }
  bar(NULL)
  chunks
}

simulate_by_future <- function(job, chunks, threads, store, progress) {
  todo <- which(vapply(seq_along(chunks), function(i) {
    is.null(checkpoint_get(store, i))
  }, NA))
  # In batches, so that a checkpoint keeps what is finished.
  size <- if (is.null(store)) length(todo) else 2 * future::nbrOfWorkers()
  bar <- progress_bar(progress, length(chunks))
  fresh <- list()
  for (batch in split(todo, ceiling(seq_along(todo) / max(size, 1)))) {
    results <- future.apply::future_lapply(
      chunks[batch],
      function(chunk, job, threads) simulate_chunk(job, chunk, threads),
      job = job, threads = threads,
      future.packages = "dpts", future.seed = NULL, future.chunk.size = 1
    )
    for (j in seq_along(batch)) {
      fresh[[as.character(batch[j])]] <- checkpoint_put(store, batch[j], results[[j]])
    }
    bar(max(batch))
  }
  bar(NULL)
  lapply(seq_along(chunks), function(i) {
    c(chunks[[i]], fresh[[as.character(i)]] %||% checkpoint_get(store, i))
  })
}

#' A function of the work done that moves a bar; NULL ends it
#' @noRd
progress_bar <- function(show, total) {
  if (!show) return(function(done) NULL)
  id <- cli::cli_progress_bar(
    "Simulating", total = total,
    format = "{cli::pb_name} {cli::pb_bar} {cli::pb_percent} | {cli::pb_eta_str}",
    .envir = parent.frame()
  )
  frame <- parent.frame()
  function(done) {
    if (is.null(done)) cli::cli_progress_done(id, .envir = frame)
    else cli::cli_progress_update(set = done, id = id, .envir = frame)
  }
}

# ---- result -------------------------------------------------------------------------

new_simulation <- function(job, chunks) {
  n_record <- length(job$record)
  rows <- lapply(chunks, function(chunk) {
    list(
      policy = rep(match(chunk$policy, names(job$policies)), length(chunk$regret)),
      run = rep(job$runs[chunk$at], each = n_record),
      t = rep(job$record, length(chunk$at)),
      regret = c(chunk$regret),
      reward = c(chunk$reward)
    )
  })
  column <- function(name) unlist(lapply(rows, `[[`, name), use.names = FALSE)
  policy <- structure(column("policy"), levels = names(job$policies), class = "factor")
  pulls <- lapply(chunks, function(chunk) {
    list(policy = chunk$policy, run = job$runs[chunk$at], pulls = chunk$pulls)
  })
  tibble::new_tibble(
    list(policy = policy, run = whole(column("run")), t = column("t"),
         regret = column("regret"), reward = column("reward")),
    nrow = length(policy),
    class = "dpts_simulation",
    pulls = join_pulls(pulls, names(job$policies)),
    setup = job[c("arms", "policies", "horizon", "seed")]
  )
}

#' Run numbers as integers where they fit
#' @noRd
whole <- function(x) if (all(abs(x) <= .Machine$integer.max)) as.integer(x) else x
