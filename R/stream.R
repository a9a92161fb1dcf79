# R's generator in the service of the engine. A function of the user's draws from it as it likes;
# what it draws depends on a key alone, and R's generator is put back afterwards.

# Hold R's generator as it is
# Returns A function that puts it back.
hold_generator <- function() {
  global <- globalenv()
  old <- global$.Random.seed
  if (!is.null(old)) return(function() global$.Random.seed <- old)
  # R remembers the kind of its generator even without a seed.
  kinds <- RNGkind()
  function() {
    suppressWarnings(RNGkind(kinds[1], kinds[2], kinds[3]))
    rm(".Random.seed", envir = global)
  }
}

# The same for code that calls [with_stream()] many times: a generator that has a seed is held and put
# back in no time, one without takes R longer than all else.
occupy_generator <- function() {
  put_back <- hold_generator()
  global <- globalenv()
  if (is.null(global$.Random.seed)) global$.Random.seed <- .Call(C_stream_seed, 0, 0, 0, 0)
  put_back
}

# Run code on a stream of its own
# `purpose`, `number`: Whole numbers that each stream of a run has for itself.
with_stream <- function(seed, run, purpose, number, code) {
  put_back <- hold_generator()
  on.exit(put_back())
  global <- globalenv()
  global$.Random.seed <- .Call(C_stream_seed, seed, run, purpose, number)
  code
}

# An error of the user's own function, in the words of the argument that it was given as
abort_user_function <- function(arg, message, call = caller_env(), parent = NULL) {
  abort_dpts(paste0("`", arg, "` ", message), parent = parent, arg = arg, call = call,
             class = c("dpts_error_callback", "dpts_error_input"))
}

# Call the user's function; `where()` says what for if it fails
call_back <- function(code, arg, where, call = caller_env()) {
  tryCatch(code, error = function(cnd) {
    abort_user_function(arg, sprintf("failed %s.", where()), call, parent = cnd)
  })
}
