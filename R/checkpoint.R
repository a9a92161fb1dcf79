# A checkpoint is one .rds file: what all its pieces share, and the pieces that are done, each
# some runs of a policy in a world. A call takes from it what it asks for and adds what is
# missing. It is replaced by renaming a finished copy, so a killed process leaves the old file or
# the new one, never a torn one.

CHECKPOINT_FORMAT <- "dpts checkpoint 3"

checkpoint_error <- function(message, call = caller_env(2)) {
  abort_dpts(message, c("dpts_error_checkpoint", "dpts_error_input"), call, arg = "checkpoint")
}

#' A seed that was drawn at random is not drawn again: such a file could never be resumed from
#' @noRd
check_checkpoint <- function(path, seed, call = caller_env()) {
  if (is.null(path)) return(invisible())
  check_string(path, "checkpoint", call)
  if (is.null(seed)) {
    checkpoint_error("`checkpoint` must come with a `seed`: without one no call could resume from the file.",
                     call)
  }
}

#' Open or start a checkpoint: an environment with `pieces`, or NULL
#' @noRd
checkpoint_open <- function(path, job, call = caller_env()) {
  if (is.null(path)) return(NULL)
  store <- new.env(parent = emptyenv())
  store$path <- path
  # What decides the numbers besides the world, the policy and the run.
  store$key <- list(seed = job$seed, record = job$record, engine = job$engine,
                    version = as.character(utils::packageVersion("dpts")))
  store$pieces <- list()
  if (dir.exists(path)) {
    checkpoint_error("`checkpoint` must be a file, not a folder.", call)
  }
  if (file.exists(path)) {
    old <- tryCatch(readRDS(path), error = function(e) NULL)
    if (!is.list(old) || !identical(old$format, CHECKPOINT_FORMAT)) {
      checkpoint_error(sprintf(
        "`checkpoint` must be a file that this version of dpts wrote, or a new one; \"%s\" is neither.",
        path
      ), call)
    }
    differs <- names(Filter(isFALSE, Map(identical, store$key, old$key[names(store$key)])))
    worlds <- vapply(old$pieces, function(piece) {
      !is.na(same_thing_index(piece$world, unname(job$worlds)))
    }, NA)
    if (length(worlds) && !any(worlds)) differs <- c(differs, "arms or horizon")
    if (length(differs)) {
      words <- c(seed = "another seed", record = "other recorded rounds", engine = "another engine",
                 version = "another version of dpts", "arms or horizon" = "other arms, or another horizon, log, delay or batch")
      checkpoint_error(sprintf(
        "`checkpoint` must belong to this call; \"%s\" was written with %s.", path,
        words_list(words[differs])
      ), call)
    }
    store$pieces <- old$pieces
  }
  checkpoint_write(store, call)
  checkpoint_sweep(path)
  store
}

checkpoint_write <- function(store, call = caller_env()) {
  begun <- seconds_now()
  part <- tempfile(checkpoint_prefix(store$path), tmpdir = dirname(store$path))
  on.exit(unlink(part))
  tryCatch({
    suppressWarnings(saveRDS(
      list(format = CHECKPOINT_FORMAT, key = store$key, pieces = store$pieces), part
    ))
    if (!file.rename(part, store$path)) stop("cannot rename")
  }, error = function(e) {
    store$waiting <- FALSE
    checkpoint_error(sprintf("`checkpoint` must be a file that can be written; \"%s\" can not.",
                             store$path), call)
  })
  store$waiting <- FALSE
  store$written <- seconds_now()
  store$cost <- store$written - begun
}

#' Write what has not been written yet
#' @noRd
checkpoint_flush <- function(store) if (isTRUE(store$waiting)) checkpoint_write(store)

checkpoint_prefix <- function(path) paste0(".", basename(path), "-")

#' Remove the unfinished copies of killed processes. One that was written to in the last
#' minute may belong to a process that lives.
#' @noRd
checkpoint_sweep <- function(path) {
  copies <- list.files(dirname(path), all.files = TRUE, no.. = TRUE)
  copies <- copies[startsWith(copies, checkpoint_prefix(path))]
  # What tempfile() appends, and nothing else that a user may have named so.
  tails <- substring(copies, nchar(checkpoint_prefix(path)) + 1)
  copies <- file.path(dirname(path), copies[grepl("^[0-9a-f]{8,}$", tails)])
  unlink(copies[difftime(Sys.time(), file.mtime(copies), units = "secs") > 60])
}

#' The pieces of a policy of the job on one of its problems, under the labels that they have there.
#' What was not observed then is played again.
#' @noRd
checkpoint_own <- function(store, job, problem, policy) {
  own <- Filter(function(piece) {
    same_thing(piece$policy, job$policies[[policy]]) &&
      same_thing(piece$world, job$worlds[[problem]]) &&
      all(job$keeps %in% names(piece))
  }, store$pieces)
  lapply(own, function(piece) {
    c(list(problem = problem, policy = policy), piece[c("run", job$keeps)])
  })
}

checkpoint_runs <- function(store, job, problem, policy) {
  if (is.null(store)) return(numeric())
  unlist(lapply(checkpoint_own(store, job, problem, policy), `[[`, "run"))
}

#' All pieces that the job asks for
#' @noRd
checkpoint_pieces <- function(store, job) {
  if (is.null(store)) return(NULL)
  unlist(lapply(names(job$worlds), function(problem) {
    unlist(lapply(names(job$policies), function(policy) {
      checkpoint_own(store, job, problem, policy)
    }), recursive = FALSE)
  }), recursive = FALSE)
}

# The file is written whole, and there may be thousands of pieces: one that is done waits until the work
# since the last writing has taken so many times as long as that did. So a checkpoint costs little,
# and a process that is killed loses no more than that work; one that is interrupted flushes.
WORK_PER_WRITING <- 10

#' Keep a chunk that is done; the chunk
#' @noRd
checkpoint_put <- function(store, job, chunk) {
  if (!is.null(store)) {
    piece <- c(list(world = job$worlds[[chunk$problem]]), chunk)
    piece$problem <- NULL
    piece$policy <- job$policies[[chunk$policy]]
    store$pieces <- c(store$pieces, list(piece))
    store$waiting <- TRUE
    if (seconds_now() - store$written >= WORK_PER_WRITING * store$cost) checkpoint_write(store)
  }
  chunk
}
