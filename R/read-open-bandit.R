#' Read the Open Bandit Dataset
#'
#' `read_open_bandit()` reads one log of the Open Bandit Dataset into a data frame for [dpts_replay()] and
#' [dpts_ope()].
#'
#' @details
#' Columns whose names start with `context_` are what the contextual policies see by default: a constant;
#' indicators of positions 2 and 3; one indicator for each level of `user_feature_0` but the most common; and
#' one that says whether `user_feature_1` is other than its most common level. In the small "men" logs these
#' are 6 numbers in \[0, 1\], as many as Mishra and Thakurta had. For others use a formula, such as
#' `context = ~ position + user_feature_2`.
#'
#' @param path A folder that holds one log, such as `men.csv`, or the CSV file itself. The arms are those of
#'   `item_context.csv` in the same folder where there is one, else those that occur.
#' @param ... Not used; later arguments must be named.
#' @param progress Show a progress bar?
#' @returns A tibble with one row per event:
#'   * `timestamp`: `POSIXct`, UTC;
#'   * `arm`: the item's id, an integer from 0;
#'   * `reward`: 1 if it was clicked, else 0;
#'   * `propensity`: the probability with which the item was shown at its position;
#'   * `pool`: list of the ids available, the same for all;
#'   * `position`: factor with levels 1 (left), 2 (centre), 3 (right);
#'   * `user_feature_0` to `user_feature_3`: factors, anonymised by the publisher;
#'   * `context_constant`, `context_position_2`, ...: the default context, see Details.
#' @template saito
#' @template see_logs
#' @examples
#' folder <- tempfile()
#' dir.create(folder)
#' writeLines(c(
#'   "timestamp,item_id,position,click,propensity_score,user_feature_0,user_feature_1",
#'   "2019-11-24 00:00:01+00:00,0,1,0,0.5,a,x",
#'   "2019-11-24 00:00:02+00:00,1,2,1,0.5,b,x"
#' ), file.path(folder, "men.csv"))
#' read_open_bandit(folder)
#' @export
read_open_bandit <- function(path, ..., progress = interactive()) {
  check_dots_empty(...)
  check_given(path)
  if (!is.character(path) || length(path) != 1 || is.na(path)) {
    abort_arg("path", "a folder or a file", path)
  }
  file <- if (dir.exists(path)) open_bandit_file(path) else path
  if (!file.exists(file)) {
    abort_arg("path", sprintf("a folder or a file that exists; \"%s\" does not", path))
  }
  check_flag(progress)
  raw <- read_open_bandit_csv(file, progress)
  raw$arm <- open_bandit_integers(raw, "item_id")
  raw$position <- open_bandit_integers(raw, "position")
  reward <- open_bandit_numbers(raw, "click")
  propensity <- open_bandit_numbers(raw, raw$propensity_column)
  items <- open_bandit_items(file, raw$arm)
  users <- raw$rows[grep("^user_feature_", names(raw$rows))]
  position <- factor(raw$position, levels = sort(unique(c(1:3, raw$position))))
  out <- c(
    list(timestamp = open_bandit_times(raw),
         arm = raw$arm, reward = reward, propensity = propensity,
         pool = rep(list(items), length(raw$arm)), position = position),
    lapply(users, factor),
    open_bandit_contexts(position, users)
  )
  tibble::new_tibble(out, nrow = length(raw$arm))
}

abort_open_bandit <- function(file, because) {
  abort_input("path", "`path` must be a log of the Open Bandit Dataset; \"%s\" %s.", basename(file),
              because, class = "dpts_error_format")
}

open_bandit_file <- function(folder) {
  files <- setdiff(list.files(folder, "\\.csv(\\.gz)?$"), "item_context.csv")
  if (length(files) != 1) {
    abort_open_bandit(folder, sprintf("holds %s, and should hold one beside item_context.csv",
                                      count_noun(length(files), "CSV file", "CSV files")))
  }
  file.path(folder, files)
}

read_open_bandit_csv <- function(file, progress) {
  bytes <- check_open_bandit_whole(file)
  con <- gzfile(file, "r") # reads plain files, too
  on.exit(close(con))
  # Errors and warnings of a reading function as one of ours
  reading <- function(code, words) {
    refuse <- function(cnd) abort_open_bandit(file, words(conditionMessage(cnd)))
    tryCatch(code, error = refuse, warning = refuse)
  }
  header <- reading(read_header(con), function(message) "cannot be read as a CSV file")
  propensity <- intersect(c("propensity_score", "action_prob"), header)[1]
  needed <- c("timestamp", "item_id", "position", "click")
  gone <- c(setdiff(needed, header), if (is.na(propensity)) "propensity_score")
  if (length(gone)) {
    abort_open_bandit(file, sprintf("has no column `%s`", gone[1]))
  }
  keep <- header %in% c(needed, propensity) | grepl("^user_feature_", header)
  what <- stats::setNames(lapply(keep, function(kept) if (kept) ""), header)
  bar <- progress_bar(progress, bytes, "Reading")
  parts <- list()
  repeat {
    part <- reading(scan_csv(con, what, 1e5, na = "NA")[keep],
                    function(message) paste("cannot be read to its end:", message))
    if (length(part[[1]]) == 0) break
    parts[[length(parts) + 1]] <- part
    bar(seek(con))
  }
  bar(NULL)
  if (length(parts) == 0) abort_open_bandit(file, "holds no events")
  rows <- lapply(stats::setNames(nm = header[keep]), function(name) unlist(lapply(parts, `[[`, name)))
  list(rows = rows, propensity_column = propensity, file = file)
}

# R ends quietly where gzip data are cut, and a cut between two lines leaves no other trace
# Returns How many bytes there are, unpacked.
check_open_bandit_whole <- function(file) {
  broken <- function(e) abort_open_bandit(file, "is not whole: its compressed data end early")
  con <- gzfile(file, "rb")
  on.exit(close(con))
  bytes <- 0
  while (n <- length(tryCatch(readBin(con, "raw", 2^22), error = broken, warning = broken))) {
    bytes <- bytes + n
  }
  check_gzip_length(file, bytes, broken)
  bytes
}

open_bandit_times <- function(raw) {
  times <- as.POSIXct(sub("T", " ", raw$rows$timestamp), tz = "UTC", format = "%Y-%m-%d %H:%M:%OS")
  gone <- which(is.na(times))
  if (length(gone)) {
    rlang::warn(sprintf("%s of %s timestamps are no times and become NA: \"%s\" in row %d for one.",
                        label_count(length(gone)), label_count(length(times)),
                        raw$rows$timestamp[gone[1]], gone[1]),
                class = c("dpts_warning_format", "dpts_warning"), call = user_frame(environment()))
  }
  times
}

open_bandit_numbers <- function(raw, column) {
  x <- suppressWarnings(as.numeric(raw$rows[[column]]))
  if (anyNA(x)) {
    at <- which(is.na(x))[1]
    abort_open_bandit(raw$file, sprintf("has \"%s\" in `%s` of row %d, which is no number",
                                        raw$rows[[column]][at], column, at))
  }
  x
}

open_bandit_integers <- function(raw, column) {
  x <- open_bandit_numbers(raw, column)
  if (any(x != trunc(x)) || any(abs(x) > 1e9)) {
    abort_open_bandit(raw$file, sprintf("has numbers in `%s` that are not whole, or beyond 1e9", column))
  }
  as.integer(x)
}

open_bandit_items <- function(file, arm) {
  beside <- file.path(dirname(file), "item_context.csv")
  if (!file.exists(beside)) return(sort(unique(arm)))
  known <- tryCatch(as.integer(utils::read.csv(beside)$item_id), error = function(e) NULL)
  if (length(known) == 0 || anyNA(known)) {
    abort_open_bandit(beside, "has no column `item_id` of whole numbers")
  }
  at <- which(!arm %in% known)
  if (length(at)) {
    abort_open_bandit(file, sprintf("shows item %d in row %d, which item_context.csv does not list",
                                    arm[at[1]], at[1]))
  }
  sort(unique(known))
}

# See the help page
open_bandit_contexts <- function(position, users) {
  by_count <- function(x) names(sort(-table(x)))
  n <- length(position)
  out <- list(context_constant = rep(1, n), context_position_2 = as.numeric(position == "2"),
              context_position_3 = as.numeric(position == "3"))
  if (!is.null(users$user_feature_0)) {
    for (i in seq_along(by_count(users$user_feature_0))[-1]) {
      out[[paste0("context_user_0_", i)]] <-
        as.numeric(users$user_feature_0 == by_count(users$user_feature_0)[i])
    }
  }
  if (!is.null(users$user_feature_1)) {
    out$context_user_1 <- as.numeric(users$user_feature_1 != by_count(users$user_feature_1)[1])
  }
  out
}
