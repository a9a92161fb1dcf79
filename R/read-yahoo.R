#' Read the Yahoo! front page log (R6A)
#'
#' `read_yahoo_r6()` reads a log of news articles and clicks. It takes the files of "Yahoo! Front Page Today
#' Module User Click Log Dataset, version 1.0" (`ydata-fp-td-clicks-v1_0`), plain or compressed by gzip, into
#' a data frame for [dpts_replay()].
#'
#' @details
#' A line holds a time, the article that was shown, whether it was clicked, the
#' user's features, and the articles available with theirs:
#'
#' ```
#' 1241160900 109513 0 |user 2:0.000012 3:0.000000 4:0.000006 5:0.000023 6:0.999958 1:1.000000 |109498
#' 2:0.306008 ...
#' ```
#'
#' Features are keyed by their ids 1 to 6, of which 1 is the constant. The published files
#' have flaws. Therefore:
#'
#' * a line that does not begin as above is dropped (`lines`);
#' * an event whose user does not have exactly the features 1 to 6 is dropped (`users`);
#' * an article whose block does not have exactly the features 1 to 6, or repeats an id,
#'   leaves the pool (`articles`, counted on every line where it happens);
#' * an event whose shown article is not left in the pool is dropped (`not_offered`).
#'
#' The counts are shown in a message and kept in `attr(, "dropped")`.
#'
#' Files are read in pieces. Only the result needs memory: about 90 bytes per event, 4 gigabytes for all ten
#' days. Read one day, or use `n_max`, where that is too much. Events with the same pool share one vector.
#'
#' The data cannot be redistributed: ask Yahoo! Webscope for them. The second version of
#' the log (R6B, October 2011) has another format and is refused.
#'
#' @param path Files, read in this order.
#' @param ... Not used; later arguments must be named.
#' @param n_max Maximum number of events to read.
#' @param progress Show a progress bar?
#' @returns A tibble with one row per event:
#'   * `timestamp`: seconds since 1970, integer;
#'   * `arm`: the id of the article shown, integer;
#'   * `reward`: 1 if it was clicked, else 0;
#'   * `propensity`: 1 / the number of articles available;
#'   * `pool`: list of the ids available;
#'   * `context_1` to `context_6`: the user's features, `context_1` being the constant.
#'
#'   `attr(, "arm_features")` holds the articles' features as they first came, one row per
#'   article (sorted by id), and `attr(, "dropped")` the counts above.
#' @template li
#' @template see_logs
#' @examples
#' file <- tempfile()
#' user <- "|user 2:0.1 3:0.2 4:0.3 5:0.2 6:0.2 1:1"
#' articles <- "|101 2:0.5 3:0.1 4:0.1 5:0.2 6:0.1 1:1 |102 2:0 3:0 4:0 5:0.5 6:0.5 1:1"
#' writeLines(paste(c("1241160900 101 0", "1241160901 102 1"), user, articles), file)
#' read_yahoo_r6(file)
#' @export
read_yahoo_r6 <- function(path, ..., n_max = Inf, progress = interactive()) {
  check_dots_empty(...)
  check_given(path)
  check_files(path)
  n_max <- check_number(n_max, 1, inf = TRUE)
  check_flag(progress)
  bar <- progress_bar(progress, sum(file.size(path)), "Reading")
  parts <- list()
  before <- events <- 0
  for (file in path) {
    parts <- c(parts, read_yahoo_file(file, n_max - events, function(at) bar(before + at)))
    before <- before + file.size(file)
    events <- sum(lengths(lapply(parts, `[[`, "arm")))
    if (events == n_max) break
  }
  bar(NULL)
  if (events == 0) abort_yahoo(path[1], "it holds no event of the format R6A")
  new_yahoo(parts)
}

check_files <- function(path) {
  if (!is.character(path) || length(path) == 0 || anyNA(path)) {
    abort_arg("path", "the names of one or more files", path)
  }
  gone <- path[!file.exists(path) | dir.exists(path)]
  if (length(gone)) {
    abort_arg("path", sprintf("files that exist; \"%s\" is none", gone[1]))
  }
  if (anyDuplicated(path)) abort_arg("path", "distinct files")
}

abort_yahoo <- function(file, because) {
  abort_input("path", "`path` must be a log of Yahoo!'s format R6A; \"%s\": %s.", basename(file), because,
              class = "dpts_error_format")
}

# The events of one file, in parts
read_yahoo_file <- function(file, wanted, tick, piece = 2^22) {
  con <- gzfile(file, "rb")
  on.exit(close(con))
  size <- file.size(file)
  broken <- function(e) {
    abort_dpts(sprintf(paste("\"%s\" is not whole: its compressed data end early, are damaged,",
                             "or were joined from several files, which must be unpacked first."),
                       basename(file)),
               c("dpts_error_truncated", "dpts_error_format", "dpts_error_input"),
               arg = "path")
  }
  parts <- list()
  bytes <- 0
  lines <- list(rest = raw())
  repeat {
    chunk <- tryCatch(readBin(con, "raw", piece), error = broken, warning = broken)
    last <- length(chunk) == 0
    if (last) check_gzip_length(file, bytes, broken)
    if (bytes == 0) check_yahoo_start(file, chunk)
    bytes <- bytes + length(chunk)
    lines <- .Call(C_yahoo_lines, lines$rest, if (last) charToRaw("\n") else chunk)
    part <- yahoo_events(lines, wanted)
    parts <- c(parts, list(part))
    wanted <- wanted - length(part$arm)
    tick(if (last) size else min(bytes / 60, size)) # about how far gzip shrinks such a log
    if (last || wanted == 0) break
  }
  parts
}

# At most so many events of some lines, and the articles of what was looked at for them
yahoo_events <- function(lines, wanted) {
  status <- c("blank", "line", "user", "not_offered", "good")[lines$status + 1]
  event <- status == "good"
  seen <- cumsum(event) - event < wanted
  event <- event & seen
  first <- seen[lines$line] & !duplicated(lines$id)
  count <- function(what) sum(status[seen] == what)
  list(timestamp = lines$timestamp[event], arm = lines$arm[event], click = lines$click[event],
       user = lines$user[, event, drop = FALSE], pool = lines$offer[event], pools = lines$pools,
       articles = lines$id[first], features = lines$features[, first, drop = FALSE],
       dropped = c(lines = count("line"), users = count("user"), not_offered = count("not_offered"),
                   articles = sum(lines$malformed[lines$offer[seen]], na.rm = TRUE)))
}

# Say early, and in words, that a file is something else: no line of its start looks right
check_yahoo_start <- function(file, chunk) {
  if (length(chunk) == 0) abort_yahoo(file, "it is empty")
  start <- chunk[seq_len(min(length(chunk), 2^17))]
  if (any(start == 0)) abort_yahoo(file, "it is not text")
  lines <- strsplit(rawToChar(start), "\r?\n", useBytes = TRUE)[[1]]
  if (any(grepl("^[0-9]+ +[0-9]+ +[0-9]+ +[|]user ", lines, useBytes = TRUE))) return()
  if (any(grepl("^[0-9]+ id-[0-9]+ ", lines, useBytes = TRUE))) {
    abort_yahoo(file, "it has the format of R6B, the log of October 2011")
  }
  first <- encodeString(substr(iconv(lines[1], to = "ASCII", sub = "?"), 1, 40))
  abort_yahoo(file, sprintf("its first line begins \"%s\"", first))
}

# R ends quietly where gzip data are cut; the length in their last four bytes tells
check_gzip_length <- function(file, bytes, broken) {
  if (!identical(readBin(file, "raw", 2), as.raw(c(0x1f, 0x8b)))) return()
  con <- file(file, "rb")
  on.exit(close(con))
  seek(con, file.size(file) - 4)
  tail <- as.numeric(readBin(con, "raw", 4))
  if (bytes %% 2^32 != sum(tail * 256^(0:3))) broken()
}

new_yahoo <- function(parts) {
  column <- function(name) unlist(lapply(parts, `[[`, name), recursive = is.numeric(parts[[1]][[name]]))
  pools <- column("pools")
  offset <- cumsum(c(0, lengths(lapply(parts, `[[`, "pools"))))[seq_along(parts)]
  pool <- vctrs::vec_match(pools, pools)[column("pool") + rep(offset, lengths(lapply(parts, `[[`, "pool")))]
  out <- list(timestamp = column("timestamp"), arm = column("arm"), reward = column("click") + 0,
              propensity = (1 / lengths(pools))[pool], pool = pools[pool])
  user <- matrix(column("user"), 6)
  for (i in 1:6) out[[paste0("context_", i)]] <- user[i, ]
  features <- matrix(column("features"), ncol = 6, byrow = TRUE, dimnames = list(column("articles"), 1:6))
  ids <- sort(unique(column("articles")))
  dropped <- Reduce(`+`, lapply(parts, `[[`, "dropped"))
  if (any(dropped > 0)) {
    words <- c(lines = "malformed lines", users = "events with malformed users",
               not_offered = "events whose article was not available",
               articles = "malformed articles")
    rlang::inform(paste0("Dropped: ", paste(number_text(dropped[dropped > 0], trim = TRUE),
                                            words[dropped > 0], collapse = ", "), "."),
                  class = "dpts_message_dropped")
  }
  tibble::new_tibble(out, nrow = length(pool), dropped = dropped,
                     arm_features = features[match(ids, column("articles")), , drop = FALSE])
}
