# How the work of dpts_simulate() and dpts_replay() is cut into chunks and played: here, or by the
# workers of a future plan; with a bar, and a checkpoint. A job has
#   problems  by name: what decides the numbers besides policy and run (arms, or a log, and delays)
#   policies  by name
#   runs      run numbers
#   keeps     the names of what a chunk results in
# and whatever its play() needs. A chunk is some runs of one policy on one problem. Random numbers
# are keyed by run, so that it makes no difference how the work is cut, and who does it.

# Play all of a job
# `play`: A function of the job, a chunk and tick, a function of the share of the chunk that is
#   done, which says whether to continue. It returns a list named by `keeps`, or NULL if it stopped.
# Returns All chunks, each with its results.
play_job <- function(job, play, checkpoint, progress, call = caller_env()) {
  checkpoint <- checkpoint_open(checkpoint, job, call)
  if (!is.null(checkpoint)) checkpoint$done <- checkpoint_asked(checkpoint, job)
  on.exit(checkpoint_flush(checkpoint))
  shares <- use_future()
  chunks <- job_chunks(job, checkpoint, if (shares) future::nbrOfWorkers())
  weight <- vapply(chunks, function(chunk) length(chunk$run), 0)
  bar <- job_bar(job, progress, sum(weight))
  keep <- function(chunk, result) checkpoint_put(checkpoint, c(chunk, result))
  played <- if (shares) {
    play_by_future(job, play, chunks, weight, keep, bar)
  } else {
    play_here(job, play, chunks, weight, keep, bar)
  }
  bar(NULL)
  c(checkpoint$done, played)
}

# A bar; or, where none is shown, a message once the pace of the first seconds says that a call takes long
job_bar <- function(job, progress, total, frame = parent.frame()) {
  bar <- progress_bar(progress, total, job$name %||% "Simulating", frame = force(frame))
  if (progress) return(bar)
  begun <- seconds_now()
  said <- FALSE
  function(done) {
    if (said || is.null(done) || done <= 0) return(invisible())
    spent <- seconds_now() - begun
    left <- spent * (total / done - 1)
    if (spent < getOption("dpts.seconds_before_message", 5) || left < 60) return(invisible())
    said <<- TRUE
    each <- names(job$policies)[!vapply(job$policies, is_true_of, NA, "skips")]
    rlang::inform(c(
      sprintf("This call takes about %s more, at its pace so far.", format_seconds(left, 2)),
      i = if (length(each)) {
        sprintf("%s %s cannot skip rounds.", if (length(each) > 1) "Policies" else "Policy",
                words_list(paste0('"', each, '"'), most = 4))
      },
      i = "Fewer `runs` take less. `progress = TRUE` shows how far it is."
    ), class = "dpts_message_long")
  }
}

# The work in chunks, without what the checkpoint holds. Without a checkpoint or workers one for
# each policy and problem is best for the threads.
job_chunks <- function(job, checkpoint = NULL, workers = NULL) {
  # With a checkpoint always 16, so that a job that is killed loses little under any plan.
  most <- if (!is.null(checkpoint)) 16 else if (!is.null(workers)) {
    ceiling(4 * workers / length(job$policies) / length(job$problems))
  } else 1
  chunks <- list()
  for (problem in names(job$problems)) for (policy in names(job$policies)) {
    runs <- job$runs
    if (!is.null(checkpoint)) runs <- setdiff(runs, checkpoint_runs(checkpoint, problem, policy))
    n <- length(runs)
    parts <- if (n > 0 && most == 1) list(runs) else
      split(runs, ceiling(seq_len(n) * min(most, n) / max(n, 1)))
    for (run in parts) {
      chunks[[length(chunks) + 1]] <- list(problem = problem, policy = policy, run = run)
    }
  }
  chunks
}

# Is there a plan with workers? If future is not loaded, no plan was set in this session.
use_future <- function() {
  (isNamespaceLoaded("future") || nzchar(Sys.getenv("R_FUTURE_PLAN"))) &&
    requireNamespace("future.apply", quietly = TRUE) && !inherits(future::plan(), "sequential")
}

# Chunk by chunk, for as long as it should continue
# `go_on`: A function of the weight that is done, that of a part of a chunk included.
# Returns The chunks with their results, those not played as they were.
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

# Chunks go out in parcels of about so many seconds: what a bar and a checkpoint can be late.
SECONDS_OF_PARCEL <- 5

# What is better played here: the first second, which workers take to get going, and the rest if, by the pace
# so far, it takes no more than 4. Two workers would save 2 seconds of 4, and take as long to start and to
# load the package.
# Returns As play_here().
play_first <- function(job, play, chunks, weight, keep, bar) {
  limit <- getOption("dpts.seconds_before_workers", 1)
  if (limit <= 0) return(chunks)
  begun <- seconds_now()
  play_here(job, play, chunks, weight, keep, bar, function(done) {
    spent <- seconds_now() - begun
    spent < limit || spent * (sum(weight) / done - 1) <= 4 * limit
  })
}

# By the workers of the plan
play_by_future <- function(job, play, chunks, weight, keep, bar) {
  chunks <- play_first(job, play, chunks, weight, keep, bar)
  left <- which(!vapply(chunks, is_played, NA))
  packages <- c("dpts", if (plays_r(job$policies)) .packages())
  globals <- globals_of(job$policies)
  workers <- future::nbrOfWorkers()
  size <- 4 * workers
  done <- sum(weight) - sum(weight[left])
  while (length(left)) {
    parcel <- utils::head(left, size)
    left <- utils::tail(left, -size)
    started <- seconds_now()
    results <- future.apply::future_lapply(
      chunks[parcel],
      function(chunk, play, job, globals) {
        list2env(globals, globalenv()) # the worker's
        play(job, chunk, function(share) TRUE)
      },
      play = play, job = job, globals = globals, future.packages = packages, future.seed = NULL,
      # Four shares for each worker: few enough to send, enough to even out.
      future.scheduling = 4
    )
    for (j in seq_along(parcel)) chunks[[parcel[j]]] <- keep(chunks[[parcel[j]]], results[[j]])
    done <- done + sum(weight[parcel])
    bar(done)
    if (seconds_now() - started < SECONDS_OF_PARCEL) size <- 2 * size
  }
  chunks
}

# What the chunks of a job have come to, problem by problem and policy by policy: for each of them
# a list named by what is kept, matrices with a column for each of the job's runs
join_chunks <- function(job, chunks) {
  if (length(chunks) == 1) return(list(bind_runs(chunks, job$keeps))) # as played without a checkpoint
  of <- function(what) vapply(chunks, `[[`, "", what)
  n <- length(job$policies)
  at <- n * (match(of("problem"), names(job$problems)) - 1) + match(of("policy"), names(job$policies))
  own <- split(chunks, factor(as.integer(at), seq_len(n * length(job$problems))))
  lapply(unname(own), function(chunks) {
    place <- match(job$runs, unlist(lapply(chunks, `[[`, "run")))
    lapply(bind_runs(chunks, job$keeps), function(all) {
      if (identical(place, seq_len(ncol(all)))) all else all[, place, drop = FALSE]
    })
  })
}

# What is kept of some runs and of others, side by side
bind_runs <- function(parts, keeps) {
  if (length(parts) == 1) return(parts[[1]][keeps])
  lapply(stats::setNames(nm = keeps), function(name) do.call(cbind, lapply(parts, `[[`, name)))
}

# The columns of such matrices one by one, for a list column with an element for each run
by_run <- function(joined, name) {
  unlist(lapply(joined, function(one) {
    seen <- one[[name]]
    lapply(seq_len(ncol(seen)), function(i) seen[, i])
  }), recursive = FALSE)
}

# What is kept of each run, as it is
cells_of <- function(job, joined) {
  names <- observed(job$observers[job$observers != "sums"], "cell")
  lapply(stats::setNames(nm = names), function(name) {
    kept <- by_run(joined, name)
    if (name == "releases") lapply(kept, trim_releases) else kept
  })
}

is_played <- function(chunk) length(setdiff(names(chunk), c("problem", "policy", "run"))) > 0

# A function of one argument that computes each answer once
remembering <- function(f) {
  known <- new.env()
  function(x) {
    key <- rlang::hash(x)
    if (is.null(known[[key]])) known[[key]] <- f(x)
    known[[key]]
  }
}
