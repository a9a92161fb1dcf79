# A checkpoint is one .rds file: the call it belongs to, and the chunks that are done.
# It is replaced by renaming a finished copy, so a killed process leaves the old file or the
# new one, never a torn one.

checkpoint_error <- function(message, call = caller_env(2)) {
  rlang::abort(message, class = c("dpts_error_checkpoint", "dpts_error_input", "dpts_error"),
               arg = "checkpoint", call = call)
}

#' Open or start a checkpoint: an environment with `done`, or NULL
#' @noRd
checkpoint_open <- function(path, job, call = caller_env()) {
  if (is.null(path)) return(NULL)
  check_string(path, "checkpoint", call)
  # Everything that decides the numbers, and the version that computed them.
  key <- list(job = job, version = utils::packageVersion("dpts"))
  store <- new.env(parent = emptyenv())
  store$path <- path
  store$key <- key
  store$done <- list()
  if (dir.exists(path)) {
    checkpoint_error("`checkpoint` must be a file, not a folder.", call)
  }
  if (file.exists(path)) {
    old <- tryCatch(readRDS(path), error = function(e) NULL)
    if (!is.list(old) || !identical(old$format, "dpts checkpoint 1")) {
      checkpoint_error(sprintf(
        "`checkpoint` must be a file that dpts wrote, or a new one; \"%s\" is neither.", path
      ), call)
    }
    if (!identical(old$key, key)) {
      checkpoint_error(sprintf(
        paste("`checkpoint` must belong to this call; \"%s\" was written by a call with other",
              "arguments or another version of dpts."), path
      ), call)
    }
    store$done <- old$done
  }
  tryCatch(checkpoint_write(store), error = function(e) {
    checkpoint_error(sprintf("`checkpoint` must be a file that can be written; \"%s\" can not.",
                             path), call)
  })
  checkpoint_sweep(path)
  store
}

checkpoint_write <- function(store) {
  part <- tempfile(checkpoint_prefix(store$path), tmpdir = dirname(store$path))
  on.exit(unlink(part))
  suppressWarnings(saveRDS(
    list(format = "dpts checkpoint 1", key = store$key, done = store$done), part
  ))
  if (!file.rename(part, store$path)) stop("cannot rename")
}

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

checkpoint_get <- function(store, i) {
  if (is.null(store)) NULL else store$done[[as.character(i)]]
}

checkpoint_put <- function(store, i, result) {
  if (!is.null(store)) {
    store$done[[as.character(i)]] <- result
    checkpoint_write(store)
  }
  result
}
