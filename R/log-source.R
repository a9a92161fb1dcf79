#' A log in chunks: a query, a file, or a function
#'
#' `log_query()` makes a source of chunks for [dpts_replay()] and [dpts_ope()] from a log that does not fit
#' into memory. The results are bit for bit those of the same log in a data frame, for every size of chunks.
#'
#' @details
#' A source is read once and in order. Each chunk is checked and its events are written to a file
#' in `dir`: 12 bytes an event, 8 more for a propensity and for each number of the context, and 4 for a
#' pool. From there they are replayed in blocks of the same size, all runs of a policy
#' in parallel, so that memory does not grow with the number of events. It grows with `chunk`, the number of
#' distinct pools, and runs x delay, because late rewards are kept there. The
#' file is removed at the end. (On some systems /tmp is kept in memory: choose another `dir` there.)
#'
#' A checkpoint keeps complete runs: an interrupted run restarts. With parallel workers (a future plan) all of
#' them must have access to `dir`.
#'
#' All chunks must have the same columns (see [dpts_replay()]) and the same type of arms; the set of arms
#' need not be known in advance. A formula for `context` needs a data frame: name columns instead, and
#' compute them in the query or in `prepare`.
#'
#' * `log_query()`: order the rows (`ORDER BY`) by when the events happened; databases give no
#'   order otherwise. Whole numbers of 64 bits need a connection with `bigint = "numeric"`.
#' * `log_file()`: comma-separated text with a line of names, not compressed. A column is taken as numbers if
#'   the first 1,000 lines of the first file hold numbers without quotes. Several files follow one another.
#' * `log_chunks()`: `read(i)` gives chunk 1, 2, ... as a data frame, and `NULL` after the last. Pools come
#'   as list columns, as they do in a data frame.
#'
#' In queries and files a pool can only be text; `prepare` makes a list column of it.
#'
#' @param con A DBI connection.
#' @param query The query in the database's own language: a string.
#' @param path Paths of the files, in the order in which they are read.
#' @param read A function that returns the chunk of a number: 1, 2, ...
#' @param events Number of events, if it is known: progress bars then show the remaining time.
#' @param ... Not used; later arguments must be named.
#' @param chunk Number of rows in memory at a time: a whole number.
#' @param prepare A function that is applied to each chunk, for example to rename or add columns, or `NULL`.
#' @param text Names of columns that are read as text even if they look like numbers.
#' @param dir Folder for the temporary file of events.
#' @returns A value of class `dpts_log_source`, for the argument `log` of [dpts_replay()] and [dpts_ope()].
#' @seealso [dpts_ope()] estimates what another policy would have earned, [dpts_replay()] replays a policy.
#' @concept logged data
#' @examples
#' file <- tempfile(fileext = ".csv")
#' log <- open_bandit[open_bandit$logger == "random", c("arm", "reward", "propensity")]
#' write.csv(log, file, row.names = FALSE)
#' dpts_replay(log_file(file, chunk = 1000), policy_ts_beta(), runs = 3, seed = 1)
#'
#' # a query, with pools kept as text
#' if (requireNamespace("RSQLite", quietly = TRUE)) {
#'   con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#'   events <- data.frame(t = 1:300, item = rep(c("a", "b", "c"), 100), click = c(0, 1, 1, 0))
#'   events$offered <- rep(c("a b", "a b c", "b c"), 100)
#'   DBI::dbWriteTable(con, "events", events)
#'   source <- log_query(
#'     con, "SELECT item AS arm, click AS reward, offered FROM events ORDER BY t",
#'     prepare = function(rows) {
#'       rows$pool <- strsplit(rows$offered, " ")
#'       rows
#'     }
#'   )
#'   print(dpts_ope(source, "uniform"))
#'   DBI::dbDisconnect(con)
#' }
#' @export
log_query <- function(con, query, ..., chunk = 1e5, prepare = NULL, dir = tempdir(), events = NULL) {
  check_dots_empty(...)
  check_class(con, "DBIConnection", "a DBI connection")
  query <- check_string(query)
  new_source(paste("the rows of", query), function(chunk) query_reader(con, query, chunk), chunk, prepare,
             dir, events)
}

#' @rdname log_query
#' @export
log_file <- function(path, ..., chunk = 1e5, prepare = NULL, text = character(), dir = tempdir()) {
  check_dots_empty(...)
  check_given(path)
  check_files(path)
  for (file in path) {
    if (identical(readBin(file, "raw", 2), as.raw(c(0x1f, 0x8b)))) {
      abort_arg("path", sprintf("files that are not compressed; \"%s\" is", basename(file)))
    }
  }
  if (!is.character(text)) abort_arg("text", "names of columns", text)
  path <- normalizePath(path)
  new_source(paste("the lines of", paste(basename(path), collapse = ", ")),
             function(chunk) file_reader(path, text, chunk), chunk, prepare, dir)
}

#' @rdname log_query
#' @export
log_chunks <- function(read, ..., prepare = NULL, dir = tempdir(), events = NULL) {
  check_dots_empty(...)
  check_given(read)
  check_callback(read, "read(i)")
  new_source("the chunks of a function", function(chunk) {
    i <- 0
    list(read = function() read(i <<- i + 1), close = function() NULL)
  }, NULL, prepare, dir, events)
}

# `open`: A function of the size of chunks that gives a reader: `read()`, the next chunk or NULL,
#   and `close()`; and, where it is known, how many `bytes` there are, and `at()`, how many have been read.
new_source <- function(title, open, chunk, prepare, dir, events = NULL) {
  if (!is.null(chunk)) chunk <- check_count(chunk, 1, 1e8)
  if (!is.null(prepare)) check_callback(prepare, "prepare(chunk)")
  if (!is.null(events)) check_count(events)
  check_string(dir)
  if (!dir.exists(dir)) abort_arg("dir", "a folder that exists", dir)
  structure(list(title = title, open = open, chunk = chunk, prepare = prepare, dir = normalizePath(dir),
                 events = events), class = "dpts_log_source")
}

#' @export
format.dpts_log_source <- function(x, ...) {
  title <- gsub("\\s+", " ", x$title)
  if (nchar(title) > 70) title <- paste0(substr(title, 1, 67), "...")
  sprintf("A log: %s%s", title, if (is.null(x$chunk)) "" else sprintf(", %s at a time", label_count(x$chunk)))
}

#' @export
print.dpts_log_source <- function(x, ...) print_lines(x, ...)

# ---- readers ------------------------------------------------------------------------------

# A data frame is a source of one chunk
log_reader <- function(log) {
  if (is.data.frame(log)) {
    return(list(read = function() {
      chunk <- log
      log <<- NULL
      chunk
    }, close = function() NULL))
  }
  reader <- log$open(log$chunk)
  list(close = reader$close, bytes = reader$bytes, at = reader$at, read = function() {
    chunk <- reader$read()
    if (is.null(chunk)) return(NULL)
    if (!is.null(log$prepare)) chunk <- log$prepare(chunk)
    if (!is.data.frame(chunk)) {
      abort_input("log", "The chunks of `log` must be data frames, not %s.", describe(chunk),
                  class = "dpts_error_log")
    }
    chunk
  })
}

query_reader <- function(con, query, chunk) {
  database <- function(code) {
    here <- rlang::current_env() # the handler is called from no frame of ours
    rlang::try_fetch(code, error = function(e) {
      raise("The database refused the query of `log`, or lost the connection.",
            c("dpts_error_log", "dpts_error_input", "dpts_error"), here, arg = "log", parent = e)
    })
  }
  result <- database(DBI::dbSendQuery(con, query))
  first <- TRUE
  list(
    read = function() {
      rows <- database(DBI::dbFetch(result, n = chunk))
      if (nrow(rows) == 0 && !first) return(NULL)
      first <<- FALSE
      rows
    },
    close = function() try(DBI::dbClearResult(result), silent = TRUE) # the connection may be gone
  )
}

file_reader <- function(path, text, chunk) {
  what <- guess_columns(path[1], text)
  sizes <- file.size(path)
  con <- NULL
  close_file <- function() {
    if (!is.null(con)) close(con)
    con <<- NULL
  }
  line <- 0
  open_next <- function() {
    con <<- file(path[1], "r")
    names <- read_header(con)
    if (!identical(names, names(what))) {
      abort_log(sprintf("have the same columns in all files; \"%s\" has others", basename(path[1])))
    }
    line <<- 1
  }
  read <- function() {
    if (length(path) == 0) return(NULL)
    if (is.null(con)) open_next()
    columns <- tryCatch(scan_csv(con, what, chunk), error = function(e) {
      abort_log(sprintf(paste("be a file of comma-separated values; \"%s\", after line %.0f: %s (columns",
                              "named in `text` are read as text)"), basename(path[1]), line,
                        conditionMessage(e)))
    })
    n <- length(columns[[1]])
    line <<- line + n
    if (n == 0) {
      close_file()
      path <<- path[-1]
      return(read())
    }
    as.data.frame(columns, optional = TRUE)
  }
  at <- function() {
    read <- sum(utils::head(sizes, length(sizes) - length(path)))
    if (is.null(con)) read else read + seek(con)
  }
  list(read = read, close = close_file, bytes = sum(sizes), at = at)
}

scan_csv <- function(con, what, n, na = c("NA", "")) {
  scan(con, what, nmax = n, sep = ",", quote = "\"", na.strings = na, strip.white = TRUE,
       comment.char = "", multi.line = FALSE, quiet = TRUE, encoding = "UTF-8")
}

read_header <- function(con) {
  names <- scan(con, "", sep = ",", quote = "\"", nlines = 1, comment.char = "", strip.white = TRUE,
                quiet = TRUE, encoding = "UTF-8")
  sub("^\ufeff", "", names) # the mark of UTF-8 that some programs write
}

# Names and types of columns, from the first lines and not from the first chunk, so that they do not depend
# on the size of chunks
guess_columns <- function(file, text) {
  con <- file(file, "r")
  on.exit(close(con))
  names <- read_header(con)
  if (length(names) == 0) abort_log(sprintf("hold events; \"%s\" is empty", basename(file)))
  strange <- setdiff(text, names)
  if (length(strange)) abort_log(sprintf("have a column `%s`, which `text` names", strange[1]))
  what <- stats::setNames(rep(list(""), length(names)), names)
  head <- tryCatch(scan_csv(con, what, 1000), error = function(e) {
    abort_log(sprintf("be a file of comma-separated values; \"%s\": %s", basename(file), conditionMessage(e)))
  })
  lapply(stats::setNames(names, names), function(name) {
    if (name %in% text) return("")
    switch(class(utils::type.convert(head[[name]], as.is = TRUE, na.strings = "NA"))[1],
           integer = , numeric = 0, logical = if (all(is.na(head[[name]]))) "" else NA, "")
  })
}

# An error that says what a log must do
abort_log <- function(must, arg = "log") {
  abort_input(arg, "`%s` must %s.", arg, must, class = "dpts_error_log")
}
