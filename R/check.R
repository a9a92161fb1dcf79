# Argument checks. Each names the argument and says what was expected, in the
# user's own call, before any work is done. Classes: `dpts_error_input` for a
# bad argument, `dpts_error` for every error of the package.

#' Raise a classed error about one argument
#' @noRd
abort_arg <- function(arg, must, x, call, class = NULL) {
  but <- if (missing(x)) "" else paste0(", not ", describe(x))
  rlang::abort(
    paste0("`", arg, "` must be ", must, but, "."),
    class = c(class, "dpts_error_input", "dpts_error"),
    arg = arg, call = call
  )
}

#' Raise a classed error that is not about the shape of one argument
#' @noRd
abort_dpts <- function(message, class, call = caller_env(), ...) {
  rlang::abort(message, class = c(class, "dpts_error"), call = call, ...)
}

#' What a bad value is, in words
#' @noRd
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.matrix(x)) return("a matrix")
  if (inherits(x, "policy")) return("a policy")
  if (inherits(x, "arms")) return("arms")
  if (is.function(x)) return("a function")
  if (is.data.frame(x)) return("a data frame")
  if (is.factor(x)) return("a factor")
  if (is.list(x)) return(sprintf("a list of length %d", length(x)))
  if (length(x) == 0) return(sprintf("an empty %s vector", typeof(x)))
  if (is.atomic(x) && length(x) == 1) {
    if (is.na(x) && !is.nan(x)) return("NA")
    if (is.character(x)) return(paste0("the string \"", x, "\""))
    return(format(x, digits = 6))
  }
  if (is.factor(x)) return("a factor")
  sprintf("%s %s vector of length %d", if (is.integer(x)) "an" else "a", typeof(x), length(x))
}

#' The words for an interval: "a number in [0, 1]", "a positive number"
#' @noRd
words_number <- function(what, lower, upper, open) {
  open <- rep_len(open, 2)
  if (lower == -Inf && upper == Inf) return(what)
  if (upper == Inf && lower == 0) {
    adjective <- if (open[1]) "positive" else "non-negative"
    return(sub("number", paste(adjective, "number"), what, fixed = TRUE))
  }
  if (upper == Inf) {
    return(paste(what, if (open[1]) "above" else "of at least", format(lower)))
  }
  paste0(what, " in ", if (open[1]) "(" else "[", format(lower), ", ",
         format(upper), if (open[2]) ")" else "]")
}

#' Is every element a number of the interval?
#' @noRd
all_inside <- function(x, lower, upper, open, inf) {
  open <- rep_len(open, 2)
  is.numeric(x) && !anyNA(x) && (inf || all(is.finite(x))) &&
    all(if (open[1]) x > lower else x >= lower) &&
    all(if (open[2]) x < upper | (inf & x == Inf) else x <= upper)
}

#' One number; `open` says whether the ends are excluded, `inf` whether
#' infinite values are welcome.
#' @noRd
check_number <- function(x, lower = -Inf, upper = Inf, open = FALSE, inf = FALSE,
                         arg = caller_arg(x), call = caller_env()) {
  if (length(x) != 1 || is.object(x) || !all_inside(x, lower, upper, open, inf)) {
    abort_arg(arg, words_number("a number", lower, upper, open), x, call)
  }
  as.double(x)
}

# The least epsilon or mu that a policy or a budget may have, other than 0 (nothing may leak) and Inf
# (no noise). Noise of scale 1 / epsilon made from 53-bit uniforms stays below 37 / epsilon, so at
# 1e-6 a noisy sum is rounded by at most 37e6 x 2^-53 = 4e-9 of one reward; and indices, whose
# largest terms are of the order of ln(t) / epsilon^2, stay far from overflow. Below it sums lose
# rewards (at 1e-16 all of them) and 1 / epsilon^2 or 1 / epsilon overflows. Above the most squares of
# epsilon x pulls would overflow in the end, and nothing is private: Inf says so.
LEAST_BUDGET <- 1e-6
MOST_BUDGET <- 1e12

# The range of a variance scale c. Above, one draw is less than 1e-6-GDP: the least budget again.
# Below, a draw is more than 700-GDP, and exp(epsilon) overflows.
VARIANCE_SCALE <- c(1e-6, 1e12)

#' An epsilon or a mu, from LEAST_BUDGET to MOST_BUDGET; with `inf`, Inf for no noise; with `zero`, 0
#' @noRd
check_budget_number <- function(x, inf = TRUE, zero = FALSE, arg = caller_arg(x),
                                call = caller_env()) {
  force(arg)
  ok <- length(x) == 1 && !is.object(x) && all_inside(x, 0, Inf, FALSE, inf) &&
    ((x >= LEAST_BUDGET && x <= MOST_BUDGET) || x == Inf || (zero && x == 0))
  if (!ok) {
    abort_arg(arg, paste0("a number from ", format(LEAST_BUDGET), " to ", format(MOST_BUDGET),
                          if (inf) ", or Inf for no noise", if (zero) ", or 0"), x, call)
  }
  as.double(x)
}

#' A vector of numbers, not empty; the error names the first bad element
#' @noRd
check_numbers <- function(x, lower = -Inf, upper = Inf, open = FALSE, inf = FALSE,
                          min_length = 1, arg = caller_arg(x), call = caller_env()) {
  what <- words_number("a vector of numbers", lower, upper, open)
  if (!is.numeric(x) || is.object(x) || length(dim(x)) > 1) abort_arg(arg, what, x, call)
  if (length(x) < min_length) {
    if (min_length > 1) what <- sprintf("%s, at least %d of them", what, min_length)
    abort_arg(arg, what, x, call)
  }
  if (!all_inside(x, lower, upper, open, inf)) {
    bad <- which(!vapply(x, all_inside, NA, lower, upper, open, inf))[1]
    rlang::abort(
      sprintf("`%s` must be %s; element %d is %s.", arg, what, bad, format(x[[bad]])),
      class = c("dpts_error_input", "dpts_error"), arg = arg, call = call
    )
  }
  storage.mode(x) <- "double"
  x
}

#' One whole number. 2^53 is where doubles stop counting.
#' @noRd
check_count <- function(x, lower = 1, upper = 2^53, arg = caller_arg(x),
                        call = caller_env()) {
  if (length(x) != 1 || is.object(x) || !all_inside(x, lower, upper, FALSE, FALSE) ||
      x != trunc(x)) {
    what <- if (upper < 2^53) {
      sprintf("a whole number from %s to %s", format(lower), format(upper))
    } else {
      sprintf("a whole number from %s to 2^53", format(lower))
    }
    abort_arg(arg, what, x, call)
  }
  as.double(x)
}

#' @noRd
check_flag <- function(x, arg = caller_arg(x), call = caller_env()) {
  if (!is.logical(x) || length(x) != 1 || is.na(x)) {
    abort_arg(arg, "TRUE or FALSE", x, call)
  }
  x
}

#' @noRd
check_string <- function(x, arg = caller_arg(x), call = caller_env()) {
  if (!is.character(x) || length(x) != 1 || is.na(x) || !nzchar(x)) {
    abort_arg(arg, "a string", x, call)
  }
  x
}

#' One or more of a set of words; the whole default vector means the first
#' @noRd
check_choice <- function(x, choices, several = FALSE, arg = caller_arg(x),
                         call = caller_env()) {
  if (!several && identical(x, choices)) return(choices[[1]])
  ok <- is.character(x) && length(x) >= 1 && !anyNA(x) && all(x %in% choices) &&
    (several || length(x) == 1)
  if (!ok) {
    words <- paste0("\"", choices, "\"", collapse = ", ")
    abort_arg(arg, paste(if (several) "some of" else "one of", words), x, call)
  }
  x
}

#' A value of one of our classes
#' @noRd
check_class <- function(x, class, what, arg = caller_arg(x), call = caller_env()) {
  if (!inherits(x, class)) abort_arg(arg, what, x, call)
  x
}

#' The dots must be empty: options are named, typos are caught
#' @noRd
check_dots_empty <- function(..., call = caller_env()) {
  if (...length() == 0) return(invisible())
  names <- ...names() %||% character()
  named <- names[!is.na(names) & nzchar(names)]
  words <- if (length(named)) {
    paste0("unknown argument", if (length(named) > 1) "s", " ",
           paste0("`", named, "`", collapse = ", "))
  } else {
    "an argument without a name after the first ones"
  }
  rlang::abort(
    paste0("`...` must be empty: ", words, "."),
    class = c("dpts_error_dots", "dpts_error_input", "dpts_error"), call = call
  )
}

#' Recycle named arguments to one length (1 or n), naming the culprits
#' @noRd
recycle_common <- function(..., call = caller_env()) {
  args <- list(...)
  sizes <- lengths(args)
  n <- if (any(sizes == 0)) 0L else max(sizes)
  bad <- sizes != n & sizes != 1
  if (any(bad)) {
    rlang::abort(
      sprintf("`%s` must have length 1 or %d, not %d.", names(args)[bad][1], n,
              sizes[bad][1]),
      class = c("dpts_error_input", "dpts_error"), arg = names(args)[bad][1], call = call
    )
  }
  lapply(args, rep_len, n)
}

#' A vector of whole numbers
#' @noRd
check_whole <- function(x, lower = 1, arg = caller_arg(x), call = caller_env()) {
  force(arg)
  x <- check_numbers(x, lower, 2^53, arg = arg, call = call)
  if (any(x != trunc(x))) {
    abort_arg(arg, sprintf("whole numbers of at least %s", format(lower)),
              x[x != trunc(x)][1], call)
  }
  x
}
