# testthat's third edition compares with waldo, which takes milliseconds even for what is the same. What is plainly
# equal passes here without it; all else, and with it every message of a failure, is testthat's.

quick_expectation <- function(name, same) {
  slow <- getExportedValue("testthat", name)
  function(object, expected, ..., label = NULL, expected.label = NULL) {
    act <- testthat::quasi_label(rlang::enquo(object), label, arg = "object")
    exp <- testthat::quasi_label(rlang::enquo(expected), expected.label, arg = "expected")
    if (same(act$val, exp$val, ...)) testthat::succeed()
    else slow(act$val, exp$val, ..., label = act$lab, expected.label = exp$lab)
    invisible(act$val)
  }
}

quick_constant <- function(name, value) {
  slow <- getExportedValue("testthat", name)
  function(object, info = NULL, label = NULL) {
    act <- testthat::quasi_label(rlang::enquo(object), label, arg = "object")
    if (identical(as.vector(act$val), value)) testthat::succeed() else slow(act$val, info, act$lab)
    invisible(act$val)
  }
}

# Close in each element is close on average, which is testthat's rule.
plainly_equal <- function(x, y, ..., tolerance = testthat::testthat_tolerance()) {
  identical(x, y) || is.numeric(x) && is.numeric(y) && identical(attributes(x), attributes(y)) &&
    length(x) == length(y) && !is.null(tolerance) && isTRUE(all(x == y | abs(x - y) < tolerance * abs(y)))
}

expect_identical <- quick_expectation("expect_identical", function(x, y, ...) identical(x, y))
expect_equal <- quick_expectation("expect_equal", plainly_equal)
expect_true <- quick_constant("expect_true", TRUE)
expect_false <- quick_constant("expect_false", FALSE)

# An error of the right class and message passes without a backtrace, which takes ten times as long as the check that
# raised it.
expect_error <- function(object, regexp = NULL, class = NULL, ..., info = NULL, label = NULL) {
  traced <- options(`rlang:::disable_trace_capture` = TRUE)
  on.exit(options(traced))
  label <- label %||% rlang::as_label(substitute(object))
  error <- tryCatch(list(object)[0], error = identity)
  said <- inherits(error, class %||% "error") && !identical(regexp, NA) &&
    (is.null(regexp) || any(grepl(regexp, conditionMessage(error), ...)))
  if (said) testthat::succeed()
  else testthat::expect_error(if (length(error)) stop(error) else object, regexp, class, ..., info = info, label = label)
  invisible(if (length(error)) error else object)
}

# Debian's dplyr beside a newer vctrs of CRAN stops with an error of its own.
skip_without_dplyr <- function() {
  skip_if_not_installed("dplyr")
  works <- !inherits(try(dplyr::filter(data.frame(a = 1), TRUE), silent = TRUE), "try-error")
  skip_if_not(works, "dplyr and vctrs are of versions that do not fit together")
}
