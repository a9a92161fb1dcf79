# How the work of dpts_simulate() and dpts_replay() is cut into chunks and played: here, or by the
# workers of a future plan; with a bar, and a checkpoint. A job has
#   worlds    by name: what decides the numbers besides policy and run (problems, or logs and delays)
#   policies  by name
#   runs      run numbers
#   keeps     the names of what a chunk results in
# and whatever its play() needs. A chunk is some runs of one policy in one world. Random numbers are
# keyed by run, so that it makes no difference how the work is cut, and who does it.

#' Play all of a job
#' @param play A function of the job, a chunk and tick, which is told the share of the chunk that is
#'   done and says whether to go on. It returns a list named by `keeps`, or NULL if it did not go on.
#' @returns All chunks, each with its results.
#' @noRd
play_job <- function(job, play, checkpoint, progress, call = caller_env()) {
  store <- checkpoint_open(checkpoint, job, call)
  on.exit(checkpoint_flush(store))
  done <- checkpoint_pieces(store, job)
  chunks <- job_chunks(job, store)
  weight <- vapply(chunks, function(chunk) length(chunk$run), 0)
  bar <- progress_bar(progress, sum(weight), job$name %||% "Simulating")
  # What is kept here is not sent to workers.
  keep <- function(chunk, result) checkpoint_put(store, job, c(chunk, result))
  sent <- job[setdiff(names(job), c("worlds", "keeps"))]
  chunks <- if (use_future()) {
    play_by_future(sent, play, chunks, weight, keep, bar)
  } else {
    play_here(sent, play, chunks, weight, keep, bar)
  }
  bar(NULL)
  c(done, chunks)
}

#' The work in chunks, without what the checkpoint holds. Without a checkpoint or workers one for
#' each policy and world is best for the threads.
#' @noRd
job_chunks <- function(job, store) {
  parts <- expand.grid(policy = names(job$policies), problem = names(job$worlds),
                       stringsAsFactors = FALSE)
  # With a checkpoint always 16, so that a job that is killed loses little under any plan.
  pieces <- if (!is.null(store)) 16 else if (use_future()) {
    ceiling(4 * future::nbrOfWorkers() / nrow(parts))
  } else 1
  unlist(Map(function(problem, policy) {
    runs <- setdiff(job$runs, checkpoint_runs(store, job, problem, policy))
    n <- length(runs)
    chunks <- if (n > 0 && pieces == 1) list(runs) else
      split(runs, ceiling(seq_len(n) * min(pieces, n) / max(n, 1)))
    lapply(unname(chunks), function(run) list(problem = problem, policy = policy, run = run))
  }, parts$problem, parts$policy), recursive = FALSE, use.names = FALSE)
}

use_future <- function() {
  requireNamespace("future.apply", quietly = TRUE) &&
    requireNamespace("future", quietly = TRUE) &&
    !inherits(future::plan(), "sequential")
}

seconds_now <- function() proc.time()[["elapsed"]]

#' Chunk by chunk, for as long as it should go on
#' @param go_on A function of the weight that is done, that of a part of a chunk included.
#' @returns The chunks with their results, those not played as they were.
#' @noRd
play_here <- function(job, play, chunks, weight, keep, bar, go_on = function(done) TRUE) {
  before <- cumsum(weight) - weight
  for (i in seq_along(chunks)) {
    result <- play(job, chunks[[i]], function(share) {
      done <- before[i] + weight[i] * share
      bar(done)
      go_on(done)
    })
    if (is.null(result)) break
    chunks[[i]] <- keep(chunks[[i]], result)
    if (!go_on(before[i] + weight[i])) break
  }
  chunks
}

# Workers take about a second to get going: jobs that are over by then are played here.
seconds_before_workers <- function() getOption("dpts.seconds_before_workers", 1)
# Chunks go out in batches of about so many seconds: what a bar and a checkpoint can be late.
SECONDS_OF_BATCH <- 5

#' What is better played here: the first second, and the rest if, by the pace so far, it takes no more than 4.
#' Of those two workers would save 2, which is what they take to start and to load the package.
#' @returns As play_here().
#' @noRd
play_first <- function(job, play, chunks, weight, keep, bar) {
  limit <- seconds_before_workers()
  if (limit <= 0) return(chunks)
  begun <- seconds_now()
  play_here(job, play, chunks, weight, keep, bar, function(done) {
    spent <- seconds_now() - begun
    spent < limit || spent * (sum(weight) / done - 1) <= 4 * limit
  })
}

#' By the workers of the plan
#' @noRd
play_by_future <- function(job, play, chunks, weight, keep, bar) {
  chunks <- play_first(job, play, chunks, weight, keep, bar)
  left <- which(!vapply(chunks, is_played, NA))
  packages <- c("dpts", if (plays_r(job$policies)) .packages())
  globals <- globals_of(job$policies)
  workers <- future::nbrOfWorkers()
  size <- 4 * workers
  done <- sum(weight) - sum(weight[left])
  while (length(left)) {
    batch <- utils::head(left, size)
    left <- utils::tail(left, -size)
    started <- seconds_now()
    results <- future.apply::future_lapply(
      chunks[batch],
      function(chunk, play, job, globals) {
        list2env(globals, globalenv()) # the worker's
        play(job, chunk, function(share) TRUE)
      },
      play = play, job = job, globals = globals, future.packages = packages, future.seed = NULL,
      # Four parcels for each worker: few enough to send, enough to even out.
      future.scheduling = 4
    )
    for (j in seq_along(batch)) chunks[[batch[j]]] <- keep(chunks[[batch[j]]], results[[j]])
    done <- done + sum(weight[batch])
    bar(done)
    if (seconds_now() - started < SECONDS_OF_BATCH) size <- 2 * size
  }
  chunks
}

#' What the chunks of a policy in a world have come to: a function of a result's name that gives it
#' with a column for each of `runs`, or NULL where it was not kept
#' @noRd
played_part <- function(chunks, problem, policy, runs) {
  own <- Filter(function(chunk) chunk$problem == problem && chunk$policy == policy, chunks)
  at <- match(runs, unlist(lapply(own, `[[`, "run")))
  function(name) {
    all <- do.call(cbind, lapply(own, `[[`, name))
    if (is.null(all) || identical(at, seq_len(ncol(all)))) all else all[, at, drop = FALSE]
  }
}

is_played <- function(chunk) length(setdiff(names(chunk), c("problem", "policy", "run"))) > 0

#' A function of the work done that moves a bar; NULL ends it. Without a total it counts events.
#' @noRd
progress_bar <- function(show, total, name = "Simulating") {
  if (!show) return(function(done) NULL)
  frame <- parent.frame()
  id <- cli::cli_progress_bar(
    name, total = total, .envir = frame,
    format = if (is.na(total)) "{cli::pb_name} {cli::pb_current} events | {cli::pb_rate}" else
      "{cli::pb_name} {cli::pb_bar} {cli::pb_percent} | {cli::pb_eta_str}"
  )
  function(done) {
    if (is.null(done)) cli::cli_progress_done(id, .envir = frame)
    else cli::cli_progress_update(set = done, id = id, .envir = frame)
  }
}
