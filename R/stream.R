# R's generator in the service of the engine. A function of the user's draws from it as it likes;
# what it draws depends on a key alone, and R's generator is put back afterwards.

#' Run code on a stream of its own
#' @param purpose,number Whole numbers that tell the streams of a run apart.
#' @noRd
with_stream <- function(seed, run, purpose, number, code) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(
    if (is.null(old)) rm(".Random.seed", envir = globalenv())
    else assign(".Random.seed", old, envir = globalenv())
  )
  assign(".Random.seed", .Call(C_stream_seed, seed, run, purpose, number), envir = globalenv())
  code
}

#' An error of the user's own function, in the words of the argument that it was given as
#' @noRd
abort_callback <- function(arg, message, call, parent = NULL) {
  rlang::abort(paste0("`", arg, "` ", message), parent = parent, arg = arg, call = call,
               class = c("dpts_error_callback", "dpts_error_input", "dpts_error"))
}

#' Call the user's function; `where()` says what for if it fails
#' @noRd
call_back <- function(code, arg, where, call) {
  tryCatch(code, error = function(cnd) {
    abort_callback(arg, sprintf("failed %s.", where()), call, parent = cnd)
  })
}

#' Can a function be called with so many arguments?
#' @noRd
check_function <- function(f, args, arg = caller_arg(f), call = caller_env()) {
  what <- sprintf("a function of %s", words_and(paste0("`", args, "`")))
  if (!is.function(f)) abort_arg(arg, what, f, call)
  formals <- formals(args(f))
  takes <- if ("..." %in% names(formals)) Inf else length(formals)
  optional <- vapply(formals, function(x) !identical(x, quote(expr = )), NA)
  needs <- sum(!optional & names(formals) != "...")
  if (length(args) > takes || length(args) < needs) {
    has <- names(formals)
    rlang::abort(sprintf("`%s` must be %s, not of %s.", arg, what,
                         if (length(has)) words_and(paste0("`", has, "`")) else "nothing"),
                 class = c("dpts_error_input", "dpts_error"), arg = arg, call = call)
  }
  f
}

#' "a, b and c"
#' @noRd
words_and <- function(x) {
  if (length(x) < 2) return(paste(x))
  paste(paste(utils::head(x, -1), collapse = ", "), "and", utils::tail(x, 1))
}
