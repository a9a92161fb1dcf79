# Words and numbers as people read them. Nothing here calls another file of the package.

# "a, b and c"; with `most`, only the first three and the last of a longer list
words_list <- function(x, word = "and", most = Inf) {
  n <- length(x)
  if (n < 2) return(paste(x))
  if (n > most) return(sprintf("%s, ... %s %s", paste(x[1:3], collapse = ", "), word, x[n]))
  paste(paste(x[-n], collapse = ", "), word, x[n])
}

# "a, arm 1 20; a, arm 2 30": what the rows of a table say, each with a value
words_rows <- function(keys, values) {
  paste(do.call(paste, c(lapply(keys, as.character), sep = ", ")), values, collapse = "; ")
}

# A message that is shown once in a session. Its text is made only if it is shown, which takes rlang's own
# `.frequency` half a millisecond each time.
inform_once <- function(id, message, class) {
  verbosity <- getOption("rlib_message_verbosity", "default")
  again <- exists(id, envir = messages_shown)
  if (verbosity == "quiet" || verbosity == "default" && again) return(invisible())
  assign(id, TRUE, envir = messages_shown)
  rlang::inform(c(message, "This message is displayed once per session."), class = class)
}
messages_shown <- new.env(parent = emptyenv())

# Print what format() gives
print_lines <- function(x, ...) {
  writeLines(format(x, ...))
  invisible(x)
}

# How long something takes: "12 minutes"
format_seconds <- function(s, digits = 6) {
  units <- c(days = 86400, hours = 3600, minutes = 60, seconds = 1)
  unit <- which(s >= units)[1]
  if (is.na(unit)) unit <- 4
  n <- signif(s / units[[unit]], digits)
  paste(number_text(n), if (n == 1) sub("s$", "", names(units)[unit]) else names(units)[unit])
}

# A number as text, the same under all of options(OutDec, scipen, digits)
number_text <- function(x, digits = 7, scientific = 0, ...) {
  format(x, digits = digits, scientific = scientific, decimal.mark = ".", ...)
}

# A whole number, to the last digit: "20,000"
words_whole <- function(n) number_text(n, scientific = FALSE, big.mark = ",", trim = TRUE)

# A value as R code in one line, the same under all settings and locales
code_text <- function(x, control = c("keepNA", "keepInteger", "niceNames", "showAttributes")) {
  old <- options(scipen = 0)
  on.exit(options(old))
  if (Sys.localeconv()[["decimal_point"]] != ".") {
    locale <- Sys.getlocale("LC_NUMERIC")
    Sys.setlocale("LC_NUMERIC", "C")
    on.exit(suppressWarnings(Sys.setlocale("LC_NUMERIC", locale)), add = TRUE)
  }
  paste(deparse(x, control = control), collapse = "")
}

# "1 arm", "20 arms"
count_noun <- function(n, one, many = paste0(one, "s")) paste(label_count(n), if (n == 1) one else many)

# "1e5", "20,000": short labels for counts
label_count <- function(x) {
  far <- !is.na(x) & x != 0 & (abs(x) >= 1e6 | abs(x) < 1e-3)
  out <- rep(NA_character_, length(x))
  plain <- !is.na(x) & !far
  out[plain] <- vapply(x[plain], number_text, "", big.mark = ",", scientific = FALSE, digits = 6)
  out[far] <- sub("e\\+?(-?)0*", "e\\1", scales::label_scientific(digits = 3, decimal.mark = ".")(x[far]))
  sub("(\\.[0-9]*?)0+e", "\\1e", sub("\\.0*e", "e", out), perl = TRUE)
}

# "3,999", "4.38": whole numbers in full, others to three digits
short <- function(x) {
  if (is.na(x) || abs(x) >= 1e9) return(label_count(signif(x, 3)))
  x <- if (x %% 1 == 0) x else signif(x, 3)
  if (abs(x) < 1000 && abs(x) >= 0.001) return(number_text(x, 15)) # the same, at once
  trimws(number_text(x, big.mark = ",", scientific = FALSE, drop0trailing = TRUE))
}

shorts <- function(x) {
  if (anyNA(x) || any(abs(x) >= 999.5 | abs(x) < 0.001)) return(vapply(x, short, ""))
  old <- options(OutDec = ".", scipen = 0) # on these as.character() depends, which is quick
  on.exit(options(old))
  stats::setNames(as.character(ifelse(x %% 1 == 0, x, signif(x, 3))), names(x))
}

# A number rounded up to so many digits, as text: what is printed is never less than what is
# promised. With 15 digits it is printed in full.
format_up <- function(x, digits = 5) {
  if (digits < 15) x <- signif_to(x, digits, "up")
  vapply(x, number_text, "", digits = 15)
}

# Like signif(), to one side
signif_to <- function(x, digits, side) {
  sign <- if (side == "up") 1 else -1
  near <- signif(x, digits)
  beyond <- is.finite(x) & x > 0 & sign * (x - near) > 0
  unit <- 10^(floor(log10(x)) + 1 - digits)
  ifelse(beyond, signif(near + sign * unit, digits), near)
}

# A tibble of bounds is printed on their safe side: upper bounds are rounded up and lower ones down, to the
# digits that a tibble shows.
# `estimate`: Of which kind a column `estimate` is, "upper" or "lower".
as_bounds <- function(x, estimate = NULL) {
  structure(x, class = c("dpts_bounds", class(x)), estimate = estimate)
}

UPPER_BOUNDS <- c("epsilon", "delta", "spent", "claimed", "least_epsilon", "least_delta", "mu", "nu", "rdp",
                  "published")
LOWER_BOUNDS <- "lower"

#' @export
format.dpts_bounds <- function(x, ...) {
  if (isTRUE(attr(x, "rounded")) || nrow(x) == 0) return(NextMethod())
  columns <- as.list(x)
  upper <- c(UPPER_BOUNDS, if (identical(attr(x, "estimate"), "upper")) "estimate")
  lower <- c(LOWER_BOUNDS, if (identical(attr(x, "estimate"), "lower")) "estimate")
  for (name in intersect(names(x), c(upper, lower))) {
    if (!is.numeric(x[[name]])) next
    # Whole digits are all shown. What is beyond by rounding errors alone is not rounded.
    size <- floor(log10(abs(x[[name]]))) + 1
    digits <- getOption("pillar.sigfig") %||% 3
    digits <- ifelse(is.finite(size) & size < 9, pmax(digits, size), digits)
    columns[[name]] <- if (name %in% upper) signif_to(x[[name]] * (1 - 1e-12), digits, "up") else
      signif_to(x[[name]] * (1 + 1e-12), digits, "down")
  }
  as_it_was <- utils::modifyList(attributes(x), list(row.names = .set_row_names(nrow(x)), rounded = TRUE))
  attributes(columns) <- as_it_was
  format(columns, ...)
}
