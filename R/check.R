# Argument checks. Each names the argument and says what was expected, in the user's own call, before any work
# is done. Classes: `dpts_error_input` for a bad argument, `dpts_error` for every error of the package.

# Raise a classed error about one argument, with a hint perhaps
abort_arg <- function(arg, must, x, class = NULL, hint = NULL) {
  but <- if (missing(x)) "" else paste0(", not ", describe(x))
  raise(c(paste0("`", arg, "` must be ", must, but, "."), i = hint),
        c(class, "dpts_error_input", "dpts_error"), arg = arg)
}

# Raise a classed error that is not about the shape of one argument
abort_dpts <- function(message, class, call = caller_env(), ...) {
  raise(message, c(class, "dpts_error"), call, ...)
}

# Raise an error about an argument, in words of its own
# `message`: Words, or a template for sprintf() and what goes into it.
abort_input <- function(arg, message, ..., class = NULL, hint = NULL) {
  raise(c(if (...length()) sprintf(message, ...) else message, i = hint),
        c(class, "dpts_error_input", "dpts_error"), arg = arg)
}

# Refuses what would not fit into memory, before it is made. `must`: What the argument must be, and what needs
# so many bytes.
check_memory <- function(bytes, arg, must, hint = NULL) {
  most <- getOption("dpts.memory", 4e9)
  if (!is.numeric(most) || length(most) != 1 || is.na(most)) {
    abort_input("dpts.memory", "Option `dpts.memory` must be a number of bytes, such as 16e9.")
  }
  if (bytes <= most) return(invisible())
  size <- scales::label_bytes(accuracy = 1)
  limit <- sprintf("The limit is %s; `options(dpts.memory = )` sets another, in bytes.", size(most))
  abort_input(arg, "`%s` must %s need about %s.", arg, must, size(bytes), class = "dpts_error_memory",
              hint = paste(c(limit, hint), collapse = " "))
}

# An error for the user, with the call that was typed and a backtrace. A service shows neither, and
# they take ten times as long as the rest of its answer: with the option `dpts.service` there are none.
raise <- function(message, class, call = caller_env(), ...) {
  if (isTRUE(getOption("dpts.service"))) {
    stop(rlang::error_cnd(class, ..., message = message[[1]],
                           body = rlang::format_error_bullets(message[-1])))
  }
  rlang::abort(message, class = class, call = user_frame(call), ...)
}

# From a handler: rlang's function adds a backtrace where there is none.
raise_again <- function(cnd) if (isTRUE(getOption("dpts.service"))) stop(cnd) else rlang::cnd_signal(cnd)

# What functions of a record `x` do for a verb whose argument is `object`: their errors name it so.
about_object <- function(code) {
  tryCatch(code, dpts_error_input = function(cnd) {
    if (identical(cnd$arg, "x")) {
      cnd$arg <- "object"
      for (part in c("message", "body")) {
        if (length(cnd[[part]])) cnd[[part]][] <- gsub("`x`", "`object`", cnd[[part]], fixed = TRUE)
      }
    }
    raise_again(cnd)
  })
}

# The call that the user typed, of those that led to a frame: the outermost function of the
# package that users see. Helpers and the functions inside lapply() are no names for a message.
user_frame <- function(call) {
  if (!is.environment(call)) return(call)
  at <- which(vapply(sys.frames(), identical, NA, call))
  if (length(at) == 0) return(call)
  at <- at[length(at)]
  parents <- sys.parents()
  # up to the console, or to a call in an environment that is no frame
  while (parents[at[1]] > 0 && parents[at[1]] < at[1]) at <- c(parents[at[1]], at)
  user <- Find(function(i) is_public(sys.function(i), sys.call(i)[[1]]), at)
  if (is.null(user)) call else sys.frame(user)
}

# Is it exported, or a method? By the name in its call first: to compare it with all others takes as long
# as the rest of an error.
is_public <- function(f, called) {
  if (!identical(environment(f), topenv())) return(FALSE)
  names <- c(getNamespaceExports(topenv()), getNamespaceInfo(topenv(), "S3methods")[, 3])
  own <- function(names) any(vapply(mget(names, topenv(), ifnotfound = list(NULL)), identical, NA, f))
  own(intersect(as.character(if (is.name(called)) called), names)) || own(names)
}

# An error of rlang's own as one of ours
as_input_error <- function(expr, arg) {
  rlang::try_fetch(expr, error = function(cnd) {
    cnd$arg <- arg
    class(cnd) <- unique(c("dpts_error_input", "dpts_error", class(cnd)))
    raise_again(cnd)
  })
}

# What the caller of the function in whose frame this is evaluated gave as `x`, as text: rlang's
# function of this name, but at once for a variable
caller_arg <- function(x) {
  given <- eval(call("substitute", substitute(x)), parent.frame())
  if (is.symbol(given)) as.character(given) else rlang::as_label(given)
}

# An argument without a default must be given
check_given <- function(x, arg = caller_arg(x)) {
  if (missing(x)) abort_input(arg, "`%s` is absent but must be supplied.", arg)
}

# All arguments of the calling function that have no default must be given
check_all_given <- function(frame = caller_env()) {
  f <- sys.function(sys.parent())
  needed <- Filter(function(default) identical(default, quote(expr = )), formals(f))
  for (name in setdiff(names(needed), "...")) {
    # The function itself: `missing` may be an argument, too.
    if (eval(as.call(list(base::missing, as.name(name))), frame)) {
      abort_input(name, "`%s` is absent but must be supplied.", name)
    }
  }
}

# "Did you mean `runs`?", if one of the names is near
did_you_mean <- function(x, known) {
  if (length(x) == 0 || length(known) == 0) return(NULL)
  far <- utils::adist(x, known, ignore.case = TRUE)
  near <- unique(known[apply(far, 2, min) <= 2])
  if (length(near) == 0) return(NULL)
  sprintf("Did you mean %s?", words_list(paste0("`", near, "`"), "or"))
}

# Arguments in dots, by name. `others`: what users of another package or of a paper may call one of them.
check_argument_names <- function(args, known, what, others = NULL) {
  names <- names(args) %||% rep("", length(args))
  bad <- names[!names %in% known]
  if (length(bad) == 0) return(invisible())
  bad <- beginning(bad[1])
  near <- if (nzchar(bad)) did_you_mean(c(bad, intersect(others[bad], known)), known)
  abort_dpts(
    c(sprintf("%s has no %s%s.", what,
              if (nzchar(bad)) paste0("argument `", bad, "`") else "further argument without a name",
              if (!is.null(near)) "" else if (!length(known)) "; it takes none" else
                paste("; it takes", words_list(paste0("`", known, "`")))),
      i = if (nzchar(bad)) near %||% hint_budget(bad, what)
          else if (length(known) < 3 && grepl("^`arms_", what))
            "The arms go into one vector or list: c(), list()."),
    c("dpts_error_dots", "dpts_error_input")
  )
}

# A budget of the other kind was given to a policy: which policy is the usual one for it
hint_budget <- function(name, what) {
  usual <- c(epsilon = "policy_dp_imed", mu = "policy_gaussian_imed")
  if (!name %in% names(usual) || !grepl("^`policy_", what)) return(NULL)
  sprintf("`%s()` takes `%s`, as do other private policies.", usual[[name]], name)
}

# Strings as a message shows them: of very long ones the beginning
beginning <- function(x) {
  long <- nchar(x, "bytes") > 200 & validEnc(x)
  x[long] <- paste0(substr(x[long], 1, 60), "...")
  x
}

# What a bad value is, in words
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.matrix(x)) return(sprintf("a %d x %d matrix", nrow(x), ncol(x)))
  if (inherits(x, "dpts_policy")) return(paste("the policy", dQuote(x$name, FALSE)))
  if (inherits(x, "dpts_guarantee")) return("a guarantee")
  if (inherits(x, "dpts_arms")) return("arms")
  if (is.function(x)) return("a function")
  if (is.data.frame(x)) return("a data frame")
  if (is.factor(x)) return("a factor")
  if (inherits(x, "formula")) return("a formula")
  if (is.list(x)) return(sprintf("a list of length %d", length(x)))
  if (length(x) == 0) return(sprintf("an empty %s vector", typeof(x)))
  if (is.atomic(x) && length(x) == 1) {
    if (is.na(x) && !is.nan(x)) return("NA")
    if (is.character(x) && !validEnc(x)) return("a string that is no text")
    if (is.character(x)) return(paste0("the string \"", beginning(x), "\""))
    return(close_text(x, digits = 6))
  }
  if (!is.atomic(x)) return(sprintf("an object of type \"%s\"", typeof(x)))
  sprintf("%s %s vector of length %d", if (is.integer(x)) "an" else "a", typeof(x), length(x))
}

# A number that is nearly whole, and is not, to the last digit: the bound that it misses would be printed
# otherwise
close_text <- function(x, ...) {
  text <- number_text(x, ...)
  shown <- if (is.double(x)) suppressWarnings(as.numeric(text)) else NA
  if (is.finite(shown) && shown == trunc(shown) && shown != x) number_text(x, digits = 15) else text
}

# The words for an interval: "a number in [0, 1]", "a positive number"
words_number <- function(what, lower, upper, open) {
  open <- rep_len(open, 2)
  if (lower == -Inf && upper == Inf) return(what)
  if (upper == Inf && lower == 0) {
    adjective <- if (open[1]) "positive" else "non-negative"
    return(sub("number", paste(adjective, "number"), what, fixed = TRUE))
  }
  if (upper == Inf) {
    return(paste(what, if (open[1]) "above" else "of at least", number_text(lower)))
  }
  paste0(what, " in ", if (open[1]) "(" else "[", number_text(lower), ", ",
         number_text(upper), if (open[2]) ")" else "]")
}

# Is every element a number of the interval?
all_inside <- function(x, lower, upper, open, inf) {
  # One number, as most are
  if (length(x) == 1 && is.double(x) && is.finite(x) && isFALSE(open)) return(x >= lower && x <= upper)
  open <- rep_len(open, 2)
  is.numeric(x) && !anyNA(x) && (inf || all(is.finite(x))) && all(if (open[1]) x > lower else x >= lower) &&
    all(if (open[2]) x < upper | (inf & x == Inf) else x <= upper)
}

# One number; `open` says whether the ends are excluded, `inf` whether infinite values are welcome.
check_number <- function(x, lower = -Inf, upper = Inf, open = FALSE, inf = FALSE, arg = caller_arg(x)) {
  check_given(x, arg)
  if (length(x) != 1 || is.object(x) || !all_inside(x, lower, upper, open, inf)) {
    abort_arg(arg, words_number("a number", lower, upper, open), x)
  }
  as.double(x)
}

# The least epsilon or mu that a policy or a budget may have, other than 0 (nothing may leak) and Inf
# (no noise). Noise of scale 1 / epsilon made from 53-bit uniforms stays below 37 / epsilon, so at
# 1e-6 a noisy sum is rounded by at most 37e6 x 2^-53 = 4e-9 of one reward; and indices, whose
# largest terms are of the order of ln(t) / epsilon^2, stay far from overflow. Below it sums lose
# rewards (at 1e-16 all of them) and 1 / epsilon^2 or 1 / epsilon overflows. Above the most squares of
# epsilon x pulls would overflow in the end, and nothing is private: Inf says so.
MIN_BUDGET <- 1e-6
MAX_BUDGET <- 1e12

# The range of a variance scale c. Above, one draw is less than 1e-6-GDP: the least budget again.
# Below, a draw is more than 700-GDP, and exp(epsilon) overflows.
VARIANCE_SCALE <- c(1e-6, 1e12)

# An epsilon or a mu, from MIN_BUDGET to MAX_BUDGET; with `inf`, Inf for no noise; with `zero`, 0
check_budget_number <- function(x, inf = TRUE, zero = FALSE, arg = caller_arg(x)) {
  check_given(x, arg)
  ok <- length(x) == 1 && !is.object(x) && all_inside(x, 0, Inf, FALSE, inf) &&
    ((x >= MIN_BUDGET && x <= MAX_BUDGET) || x == Inf || (zero && x == 0))
  if (!ok) {
    abort_arg(arg, paste0("a number from ", number_text(MIN_BUDGET), " to ", number_text(MAX_BUDGET),
                          if (inf) ", or Inf for no noise", if (zero) ", or 0"), x)
  }
  as.double(x)
}

# A vector of numbers, not empty; the error names the first bad element
check_numbers <- function(x, lower = -Inf, upper = Inf, open = FALSE, inf = FALSE,
                          min_length = 1, arg = caller_arg(x)) {
  check_given(x, arg)
  what <- function() words_number("a vector of numbers", lower, upper, open)
  if (!is.numeric(x) || is.object(x) || length(dim(x)) > 1) abort_arg(arg, what(), x)
  if (length(x) < min_length) {
    more <- if (min_length > 1) sprintf(", at least %d of them", min_length)
    abort_arg(arg, paste0(what(), more), x)
  }
  if (!all_inside(x, lower, upper, open, inf)) {
    what <- what()
    bad <- which(!vapply(x, all_inside, NA, lower, upper, open, inf))[1]
    if (!inf && is.infinite(x[[bad]])) what <- sub("number", "finite number", what, fixed = TRUE)
    abort_input(arg, "`%s` must be %s; element %d is %s.", arg, what, bad, close_text(x[[bad]]))
  }
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

# One whole number. 2^53 is where doubles stop counting.
check_count <- function(x, lower = 1, upper = 2^53, arg = caller_arg(x)) {
  check_given(x, arg)
  if (length(x) != 1 || is.object(x) || !all_inside(x, lower, upper, FALSE, FALSE) ||
      x != trunc(x)) {
    what <- if (upper < 2^53) {
      sprintf("a whole number from %s to %s", number_text(lower), number_text(upper))
    } else {
      sprintf("a whole number from %s to 2^53", number_text(lower))
    }
    abort_arg(arg, what, x)
  }
  as.double(x)
}

check_flag <- function(x, arg = caller_arg(x)) {
  check_given(x, arg)
  if (!is.logical(x) || length(x) != 1 || is.na(x)) {
    abort_arg(arg, "TRUE or FALSE", x)
  }
  x
}

# Texts in UTF-8, whatever encoding they have. Where the session's own has ASCII alone (LC_ALL=C), other bytes
# are taken for UTF-8. What is no text stays none, as validUTF8() says.
as_utf8 <- function(x) {
  if (!is.character(x)) return(x)
  foreign <- Encoding(x) == "unknown" & is.na(iconv(x, "", "UTF-8"))
  Encoding(x[foreign]) <- "UTF-8"
  enc2utf8(x)
}

# The name of a file that as_utf8() read, as functions of R take it
from_utf8 <- function(x) if (is.na(iconv(x, "UTF-8", ""))) `Encoding<-`(x, "unknown") else enc2native(x)

check_string <- function(x, arg = caller_arg(x)) {
  check_given(x, arg)
  if (!is.character(x) || length(x) != 1 || is.na(x) || !nzchar(x) || !validEnc(x)) {
    abort_arg(arg, "a string", x)
  }
  x
}

# A string that is kept as text, whatever encoding it has; a path stays as the system has it
check_text <- function(x, arg = caller_arg(x)) check_string(as_utf8(x), arg)

# The path of a file to be made
check_new_file <- function(path, arg = caller_arg(path)) {
  force(arg)
  path <- path.expand(check_string(path, arg))
  if (file.exists(path)) abort_arg(arg, "a file that does not exist yet", path)
  if (!dir.exists(dirname(path))) abort_arg(arg, "a path in a folder that exists", path)
  path
}

# One or more of a set of words; the whole default vector means the first
check_choice <- function(x, choices, several = FALSE, arg = caller_arg(x)) {
  check_given(x, arg)
  if (!several && identical(x, choices)) return(choices[[1]])
  force(arg)
  x <- as_utf8(if (inherits(x, "dpts_label")) as.character(x) else x)
  if (is.character(x) && (several && length(x) > 0 || length(x) == 1) && all(x %in% choices)) return(x)
  if (!is.character(x) || length(x) == 0 || anyNA(x) || (!several && length(x) > 1)) {
    words <- paste0("\"", choices, "\"", collapse = ", ")
    abort_arg(arg, paste(if (several) "some of" else "one of", words), x)
  }
  call <- user_frame(environment())
  x <- beginning(x)
  as_input_error(rlang::arg_match(x, choices, multiple = several, error_arg = arg, error_call = call), arg)
}

# A value of one of our classes
check_class <- function(x, class, what, arg = caller_arg(x)) {
  check_given(x, arg)
  if (!inherits(x, class)) abort_arg(arg, what, x)
  x
}

# The dots must be empty: options are named, typos are caught
check_dots_empty <- function(..., call = caller_env()) {
  if (...length() == 0) return(invisible())
  frame <- which(vapply(sys.frames(), identical, NA, user_frame(call)))
  f <- if (length(frame)) sys.function(frame[length(frame)])
  called <- if (length(frame)) sys.call(frame[length(frame)])[[1]]
  given <- ...names() %||% rep("", ...length())
  verb <- if (is.name(called)) sub("\\.(default|dpts_.*|data.frame)$", "", called) # of a method, the generic
  check_argument_names(stats::setNames(nm = given), setdiff(names(formals(f)), "..."),
                       if (is.null(verb)) "The function" else sprintf("`%s()`", verb), OTHER_NAMES)
}

# What papers call the arguments of Gaussian Thompson sampling, and the error of a verdict
OTHER_NAMES <- c(b = "prepulls", c = "variance_scale", delta = "error", T = "horizon", K = "k", n = "runs")

# Recycle named arguments to one length (1 or n), naming the culprits
recycle_common <- function(...) {
  args <- list(...)
  sizes <- lengths(args)
  n <- if (any(sizes == 0)) 0L else max(sizes)
  bad <- sizes != n & sizes != 1
  if (any(bad)) {
    abort_input(names(args)[bad][1], "`%s` must have length 1 or %d, not %d.", names(args)[bad][1], n,
                sizes[bad][1])
  }
  lapply(args, rep_len, n)
}

# A vector of whole numbers
check_counts <- function(x, lower = 1, upper = 2^53, arg = caller_arg(x)) {
  force(arg)
  check_given(x, arg)
  what <- sprintf("whole numbers from %s to %s", number_text(lower),
                  if (upper < 2^53) number_text(upper) else "2^53")
  if (!is.numeric(x)) abort_arg(arg, what, x)
  x <- check_numbers(x, arg = arg)
  bad <- which(x != trunc(x) | x < lower | x > upper)[1]
  if (!is.na(bad)) {
    abort_input(arg, "`%s` must be %s; element %d is %s.", arg, what, bad, close_text(x[bad]))
  }
  x
}

# How many columns a print may take
check_width <- function(width) min(check_number(width, 1, inf = TRUE), 1e4)

# Digits to print
check_digits <- function(digits) check_count(digits, 1, 22)

# Numbers, checked: one for all of n things, or one for each
check_each <- function(x, n, what, arg = caller_arg(x)) {
  if (!length(x) %in% c(1, n)) abort_arg(arg, sprintf("one number, or one for each of the %d %s", n, what), x)
  rep_len(as.vector(x), n)
}

# A seed; NULL takes one from R's generator.
check_seed <- function(seed, arg = caller_arg(seed)) {
  if (is.null(seed)) return(.Call(C_random_seed))
  check_count(seed, 0, arg = arg)
}

# Whole numbers as integers where they fit
whole <- function(x) if (all(abs(x) <= .Machine$integer.max)) as.integer(x) else x

# The least and the largest reward
check_range <- function(range, arg = caller_arg(range)) {
  force(arg)
  range <- check_numbers(range, arg = arg)
  if (length(range) != 2 || range[1] >= range[2]) {
    abort_arg(arg, "two increasing numbers", range)
  }
  as.vector(range)
}

# A difftime, in seconds
check_seconds <- function(x, also = "", arg = caller_arg(x)) {
  if (!inherits(x, "difftime") || length(x) != 1 || is.na(x) || x <= 0) {
    abort_arg(arg, paste0("a positive difftime, such as `as.difftime(7, units = \"days\")`", also), x)
  }
  seconds <- as.numeric(x, units = "secs")
  # (A clock's number of seconds since 1970 has no finer steps than 2e-7.)
  if (seconds < 0.001 || seconds == Inf) abort_arg(arg, paste0("finite, and a millisecond at least", also), x)
  seconds
}

check_names <- function(x, arg, what) {
  x <- as_utf8(x)
  if (!is.character(x) || !length(x) || anyNA(x) || !all(nzchar(x)) || !all(validUTF8(x))) {
    abort_arg(arg, what, x)
  }
  # (Marks that turn the direction of text make a page show another name.)
  if (any(grepl("[[:cntrl:]\u200e\u200f\u202a-\u202e\u2066-\u2069]", x) | nchar(x) > 200)) {
    abort_arg(arg, "names of at most 200 characters, each on one line and without marks of direction")
  }
  if (anyDuplicated(x)) abort_arg(arg, sprintf("distinct names; \"%s\" comes twice", x[duplicated(x)][1]))
  x
}
