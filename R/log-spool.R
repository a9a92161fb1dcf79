# The blocks of a log on disk, as vectors in the machine's binary format.

new_spool <- function(dir) {
  path <- tempfile("dpts-log-", dir)
  con <- tryCatch(suppressWarnings(file(path, "wb")), error = function(e) {
    abort_arg("dir", sprintf("a folder that can be written to; \"%s\" is not", dir))
  })
  list(path = path, con = con, rows = list(), bytes = 0)
}

write_block <- function(spool, block) {
  for (column in intersect(SPOOLED, names(block))) {
    x <- as.vector(block[[column]])
    writeBin(x, spool$con)
    spool$bytes <- spool$bytes + length(x) * (if (is.integer(x)) 4 else 8)
  }
  spool$rows[[length(spool$rows) + 1]] <- length(block$arm)
  spool
}

# The columns of a block, in the order in which they are written
SPOOLED <- c("arm", "reward", "propensity", "pool", "context")

# writeBin() does not report a full disk, so the file's size is checked.
finish_spool <- function(spool) {
  close(spool$con)
  if (file.size(spool$path) != spool$bytes) {
    unlink(spool$path)
    abort_input("log", "`log` needs %s MB in \"%s\", and they cannot be written.",
                number_text(ceiling(spool$bytes / 1e6)), dirname(spool$path), class = "dpts_error_log")
  }
  list(path = spool$path, rows = unlist(spool$rows))
}

open_spool <- function(spool) {
  if (!file.exists(spool$path)) {
    abort_dpts(sprintf(paste("The log's events are in \"%s\", which is not there: workers must share the",
                             "folder `dir` of the log's source."), spool$path), "dpts_error_log")
  }
  file(spool$path, "rb")
}

read_block <- function(con, n, data) {
  block <- list(arm = data$rank[readBin(con, "integer", n)], reward = readBin(con, "double", n))
  if (!data$assumed) block$propensity <- readBin(con, "double", n)
  if (!is.null(data$times)) block$pool <- readBin(con, "integer", n)
  d <- length(data$context$names)
  if (d) block$context <- matrix(readBin(con, "double", n * d), d)
  block
}

# Close and remove
close_spool <- function(spool) {
  if (is.null(spool)) return(invisible())
  if (!is.null(spool$con)) try(close(spool$con), silent = TRUE)
  unlink(spool$path)
}
