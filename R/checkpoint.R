# A checkpoint is one .rds file: what all its chunks share, and the chunks that are done, each some runs of a
# policy on a problem. A call takes from it what it asks for and adds what is missing. It is replaced by
# renaming a finished copy, so a killed process leaves the old file or the new one, never a torn one.

CHECKPOINT_FORMAT <- "dpts checkpoint 5"

checkpoint_error <- function(message, call = caller_env(2)) {
  abort_dpts(message, c("dpts_error_checkpoint", "dpts_error_input"), call, arg = "checkpoint")
}

# A seed that was drawn at random is not drawn again: such a file could never be resumed from
check_checkpoint <- function(path, seed, call = caller_env()) {
  if (is.null(path)) return(invisible())
  check_string(path, "checkpoint")
  if (is.null(seed)) {
    checkpoint_error("`checkpoint` must come with a `seed`: without one no call could resume from the file.",
                     call)
  }
}

# Open or start a checkpoint, if it is not open yet: an environment, or NULL. Its `chunks` are those of the
# file, packed, with the definitions of their policies and problems in place of labels.
checkpoint_open <- function(path, job, call = caller_env()) {
  if (!is.character(path)) return(path)
  file <- new.env(parent = emptyenv())
  file$path <- path
  file$grows <- job$grows # by problems that are asked for one after the other
  # Taken now: a helper function may be changed later.
  file$problems <- checkpoint_ids(job$problems, call)
  file$policies <- checkpoint_ids(job$policies, call)
  # What decides the numbers besides the problem, the policy and the run.
  file$key <- list(seed = job$seed, record = job$record, total = job$total, engine = job$engine,
                   ask = job$ask, version = as.character(utils::packageVersion("dpts")))
  file$chunks <- list()
  if (dir.exists(path)) {
    checkpoint_error("`checkpoint` must be a file, not a folder.", call)
  }
  if (file.exists(path)) checkpoint_read(file, call)
  checkpoint_write(file, call)
  checkpoint_sweep(path)
  file
}

# What policies and problems are in all that decides their numbers, as text. What cannot be compared is said.
checkpoint_ids <- function(things, call) {
  unclear <- FALSE
  ids <- withCallingHandlers(vapply(things, definition_of, ""), dpts_unclear = function(cnd) unclear <<- TRUE)
  if (unclear) {
    rlang::warn(paste("`checkpoint` cannot see changes of all that the call depends on: some of it is held",
                      "by pointers, such as connections, or found by names that are computed."),
                class = c("dpts_warning_checkpoint", "dpts_warning"), call = call)
  }
  ids
}

checkpoint_read <- function(file, call) {
  old <- tryCatch(readRDS(file$path), error = function(e) NULL)
  if (!is.list(old) || !identical(old$format, CHECKPOINT_FORMAT)) {
    checkpoint_error(sprintf(
      "`checkpoint` must be a file that this version of dpts wrote, or a new one; \"%s\" is neither.",
      file$path
    ), call)
  }
  differs <- names(Filter(isFALSE, Map(identical, file$key, old$key[names(file$key)])))
  known <- vapply(old$chunks, function(chunk) chunk$problem %in% file$problems, NA)
  if (!isTRUE(file$grows) && length(known) && !any(known)) differs <- c(differs, "problem")
  if (length(differs)) {
    words <- c(seed = "another seed", record = "other recorded rounds", total = "another number of runs",
               engine = "another engine", ask = "another error, margin or control",
               version = "another version of dpts",
               problem = "other arms or streams, or another horizon, log, delay, batch or method")
    checkpoint_error(sprintf(
      "`checkpoint` must belong to this call; \"%s\" was written with %s.", file$path,
      words_list(words[differs])
    ), call)
  }
  file$chunks <- old$chunks
}

checkpoint_write <- function(file, call = caller_env()) {
  begun <- seconds_now()
  part <- tempfile(checkpoint_prefix(file$path), tmpdir = dirname(file$path))
  on.exit(unlink(part))
  tryCatch({
    suppressWarnings(saveRDS(
      list(format = CHECKPOINT_FORMAT, key = file$key, chunks = file$chunks), part,
      compress = FALSE # each chunk is
    ))
    if (!file.rename(part, file$path)) stop("cannot rename")
  }, error = function(e) {
    file$waiting <- FALSE
    checkpoint_error(sprintf("`checkpoint` must be a file that can be written; \"%s\" can not.",
                             file$path), call)
  })
  file$waiting <- FALSE
  file$written <- seconds_now()
  file$cost <- file$written - begun
}

# Write what has not been written yet
checkpoint_flush <- function(file) if (isTRUE(file$waiting)) checkpoint_write(file)

checkpoint_prefix <- function(path) paste0(".", basename(path), "-")

# Remove the unfinished copies of killed processes. One that was written to in the last
# minute may belong to a process that lives.
checkpoint_sweep <- function(path) {
  copies <- list.files(dirname(path), all.files = TRUE, no.. = TRUE)
  copies <- copies[startsWith(copies, checkpoint_prefix(path))]
  # What tempfile() appends, and nothing else that a user may have named so.
  tails <- substring(copies, nchar(checkpoint_prefix(path)) + 1)
  copies <- file.path(dirname(path), copies[grepl("^[0-9a-f]{8,}$", tails)])
  unlink(copies[difftime(Sys.time(), file.mtime(copies), units = "secs") > 60])
}

# The chunks of the file that the job asks for, under the labels that their policies and problems have in
# it. What was not observed then is played again.
checkpoint_asked <- function(file, job) {
  done <- list()
  for (chunk in file$chunks) {
    if (!all(job$keeps %in% chunk$keeps)) next
    # The same problem or policy may have several labels.
    problems <- intersect(names(which(file$problems == chunk$problem)), names(job$problems))
    policies <- names(which(file$policies == chunk$policy))
    if (length(problems) && length(policies)) results <- unpack_chunk(chunk)[job$keeps]
    for (problem in problems) for (policy in policies) {
      done[[length(done) + 1]] <- c(list(problem = problem, policy = policy, run = chunk$run), results)
    }
  }
  done
}

checkpoint_runs <- function(file, problem, policy) {
  unlist(lapply(file$done, function(chunk) {
    if (chunk$problem == problem && chunk$policy == policy) chunk$run
  }))
}

# The file is written whole, and there may be thousands of chunks: one that is done waits until the work
# since the last writing has taken so many times as long as that did. So a checkpoint costs little,
# and a process that is killed loses no more than that work; one that is interrupted flushes.
WORK_PER_WRITING <- 10

# Keep a chunk that is done; the chunk
checkpoint_put <- function(file, chunk) {
  if (!is.null(file)) {
    about <- list(problem = file$problems[[chunk$problem]], policy = file$policies[[chunk$policy]],
                  run = chunk$run)
    file$chunks <- c(file$chunks, list(pack_chunk(about, chunk[setdiff(names(chunk), names(about))])))
    file$waiting <- TRUE
    if (seconds_now() - file$written >= WORK_PER_WRITING * file$cost) checkpoint_write(file)
  }
  chunk
}

# Results are packed once, not whenever the file is written, and all of a long job take a tenth of the memory.
pack_chunk <- function(about, results) {
  packed <- serialize(results, NULL)
  # R compresses no more than 2 GB.
  if (length(packed) < 2^31) packed <- memCompress(packed, "gzip")
  c(about[c("problem", "policy", "run")], list(keeps = names(results), packed = packed))
}

unpack_chunk <- function(chunk) {
  compressed <- chunk$packed[1] == 0x78 # else it begins with an X
  unserialize(if (compressed) memDecompress(chunk$packed, "gzip") else chunk$packed)
}
