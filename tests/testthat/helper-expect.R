# testthat's third edition compares with waldo, which takes milliseconds even for what is the same, and looks up where
# a test stands in its file even if it passes. What plainly passes does so here without both; all else, and with it
# every message of a failure, is testthat's.

succeeded <- testthat::new_expectation("success", "As expected", srcref = NA)

# To report a success takes ten times as long as what was compared. A test without one would be empty, so the first is
# reported, and the others are counted.
unreported <- new.env()
unreported$successes <- 0
succeed <- function() {
  for (reporter in testthat::get_reporter()$reporters) {
    heard <- reporter$current_expectations
    if (!is.null(heard) && heard$size() > 0) {
      unreported$successes <- unreported$successes + 1
      return()
    }
  }
  withRestarts(signalCondition(succeeded), continue_test = function(...) NULL)
}

quick_expectation <- function(name, passes) {
  slow <- getExportedValue("testthat", name)
  function(object, expected, ..., label = NULL, expected.label = NULL) {
    if (passes(object, expected, ...)) succeed()
    else slow(object, expected, ..., label = label %||% rlang::as_label(substitute(object)),
              expected.label = expected.label %||% rlang::as_label(substitute(expected)))
    invisible(object)
  }
}

quick_constant <- function(name, value) {
  slow <- getExportedValue("testthat", name)
  function(object, info = NULL, label = NULL) {
    if (identical(as.vector(object), value)) succeed()
    else slow(object, info, label %||% rlang::as_label(substitute(object)))
    invisible(object)
  }
}

# Close in each element is close on average, which is testthat's rule.
plainly_equal <- function(x, y, ..., tolerance = testthat::testthat_tolerance()) {
  identical(x, y) || is.numeric(x) && is.numeric(y) && identical(attributes(x), attributes(y)) &&
    length(x) == length(y) && !is.null(tolerance) && isTRUE(all(x == y | abs(x - y) < tolerance * abs(y)))
}

plainly <- function(compare) function(x, y) {
  is.numeric(x) && is.numeric(y) && length(x) == 1 && length(y) == 1 && isTRUE(as.vector(compare(x, y)))
}

expect_identical <- quick_expectation("expect_identical", function(x, y, ...) identical(x, y))
expect_equal <- quick_expectation("expect_equal", plainly_equal)
expect_lt <- quick_expectation("expect_lt", plainly(`<`))
expect_lte <- quick_expectation("expect_lte", plainly(`<=`))
expect_gt <- quick_expectation("expect_gt", plainly(`>`))
expect_gte <- quick_expectation("expect_gte", plainly(`>=`))
expect_true <- quick_constant("expect_true", TRUE)
expect_false <- quick_constant("expect_false", FALSE)

# What dpts says in the errors, warnings and messages that tests expect is in messages.txt, so that no word changes
# unseen; `make messages` writes it anew. Paths are <file> there, long numbers #, and of an error of a
# user's code, a compiler or a database only the part that is dpts's. As with snapshots, CRAN's machines do not look.
messages_file <- normalizePath("messages.txt", mustWork = FALSE)
known_messages <- new.env()
expect_known <- function(cnd) {
  if (!any(startsWith(class(cnd), "dpts_")) || Sys.getenv("NOT_CRAN") != "true") return(invisible())
  text <- sub("( Caused by|does not compile|The database says:).*", "\\1", gsub("\\s+", " ", conditionMessage(cnd)))
  text <- gsub("\"([^\"]*/Rtmp|file[0-9a-f]{6})[^\"]*\"", "<file>", text)
  text <- gsub("\"[0-9]+\"|[0-9a-f]{32}|[0-9.]*[0-9]{5}[0-9.]*(e[-+]?[0-9]+)?", "#", text)
  new <- Sys.getenv("DPTS_NEW_MESSAGES")
  if (nzchar(new)) return(cat(paste0(text, "\n"), file = new, append = TRUE))
  if (is.null(known_messages$all)) known_messages$all <- readLines(messages_file, encoding = "UTF-8")
  if (text %in% known_messages$all) succeed() else testthat::fail(paste0(
    "messages.txt does not have this; if it should, `make messages` (FILE= for one file) takes it in:\n", text))
}

# An error about an argument names it, or the file that it is.
expect_says_argument <- function(cnd) {
  unnamed <- inherits(cnd, "dpts_error_input") && is.character(cnd$arg) && !cnd$arg %in% c("file", "path") &&
    !grepl(cnd$arg, conditionMessage(cnd), fixed = TRUE)
  if (unnamed) testthat::fail(sprintf("The error about `%s` does not name it: %s", cnd$arg, conditionMessage(cnd)))
}

# An error of the right class and message passes without a backtrace and without the user's call, as those of a service:
# they take twenty times as long as the check that raised it. `call`: is it raised as for a user, since the test looks at its
# call or at what is kept beside its message?
expect_error <- function(object, regexp = NULL, class = NULL, ..., info = NULL, label = NULL, call = FALSE) {
  traced <- options(dpts.service = !call, `rlang:::disable_trace_capture` = TRUE)
  on.exit(options(traced))
  label <- label %||% rlang::as_label(substitute(object))
  error <- tryCatch(list(object)[0], error = identity)
  said <- inherits(error, class %||% "error") && !identical(regexp, NA) &&
    (is.null(regexp) || any(grepl(regexp, conditionMessage(error), ...)))
  if (said) {
    succeed()
    expect_known(error)
    expect_says_argument(error)
  } else testthat::expect_error(if (length(error)) stop(error) else object, regexp, class, ..., info = info, label = label)
  invisible(if (length(error)) error else object)
}

# That of testthat 3.1.6, which Debian has, passes whatever is said.
expect_no_message <- function(object, class = "message") {
  said <- character()
  withCallingHandlers(object, message = function(m) if (inherits(m, class)) said <<- c(said, conditionMessage(m)))
  expect_identical(said, character())
}

# What is expected is muffled, so that no handler around hears it, and returned.
expect_in_words <- function(expect) function(object, ...) {
  said <- expect(object, ...)
  if (inherits(said, "condition")) expect_known(said)
  invisible(said)
}
expect_warning <- expect_in_words(testthat::expect_warning)
expect_message <- expect_in_words(testthat::expect_message)

# A snapshot of errors does not show where they were raised either.
expect_snapshot <- function(...) {
  traced <- options(`rlang:::disable_trace_capture` = TRUE)
  on.exit(options(traced))
  testthat::expect_snapshot(...)
}

# Debian's dplyr beside a newer vctrs of CRAN stops with an error of its own.
skip_without_dplyr <- function() {
  skip_if_not_installed("dplyr")
  works <- !inherits(try(dplyr::filter(data.frame(a = 1), TRUE), silent = TRUE), "try-error")
  skip_if_not(works, "dplyr and vctrs are of versions that do not fit together")
}

# What bars are told until the caller ends: the total of each, by its name, how far it is, and Inf at its end
bars_told <- function(frame = parent.frame()) {
  told <- new.env()
  told$at <- NULL
  local_function("progress_bar", function(own) function(show, total, name, ...) {
    if (show) told$at <- c(told$at, stats::setNames(total, name))
    function(done) if (show) told$at <- c(told$at, done %||% Inf)
  }, frame)
  told
}

# The files of all connections that are open
files_held <- function() vapply(getAllConnections(), function(i) summary(getConnection(i))$description, "")
