# Rewards and delays that R draws while the engine plays. src/play_supply.h says how the engine waits.

# Give the engine all that it waits for; what R does not supply is an error
supply <- function(handle, job, look, call) {
  arms <- job$arms
  put <- function(want, delays = NULL, drawn = NULL) {
    bad <- .Call(C_simulate_supply, handle, want$slot, delays, drawn$rewards, drawn$means, arms$range)
    if (bad > 0) abort_draws(drawn$rewards[[bad]], drawn$n[bad], arms$range, drawn$where[[bad]], call)
  }
  while (!is.null(want <- .Call(C_simulate_wants, handle))) {
    switch(want$what,
      dry = abort_dry(arms, want, call),
      look = .Call(C_simulate_pause, handle, want$slot, look$see(want$run, want$t - 1, want$blocks)),
      delays = put(want, supply_delays(job, want$run, call)),
      rewards = put(want, drawn = world_supply(arms$world, arms, job$seed, want$run, want$blocks))
    )
  }
}

# Does a job need R while it is played?
needs_supply <- function(job) isTRUE(job$arms$world$waits) || is.function(job$delay)

# What `draw` gave, checked and scaled to [0, 1]
scale_draws <- function(x, n, arms, where, call = caller_env()) {
  if (!good_draws(x, n, arms$range)) abort_draws(x, n, arms$range, where, call)
  scale <- arms_scale(arms)
  if (scale[1] == 0 && scale[2] == 1) as.double(x) else (as.double(x) - scale[1]) / diff(scale)
}

is_numbers <- function(x, n) {
  (is.numeric(x) || is.logical(x)) && !is.object(x) && length(x) == n
}

good_draws <- function(x, n, range) {
  if (!is_numbers(x, n)) return(FALSE)
  least <- min(x) # NA if any is
  most <- max(x)
  is.finite(least) && is.finite(most) && least >= range[1] && most <= range[2]
}

abort_draws <- function(x, n, range, where, call = caller_env(), arg = "draw") {
  gave <- paste("it gave", describe(x))
  if (is_numbers(x, n)) {
    bad <- which(!is.finite(x) | x < range[1] | x > range[2])[1]
    gave <- sprintf("number %d was %s", bad, number_text(x[bad]))
  }
  numbers <- if (all(is.finite(range))) {
    sprintf("numbers in [%s, %s]", number_text(range[1]), number_text(range[2]))
  } else {
    "finite numbers"
  }
  abort_user_function(arg, sprintf("must give %s %s %s; %s.", number_text(n), numbers, where(), gave), call)
}

# The delays of all rounds of a run
supply_delays <- function(job, run, call) {
  n <- job$horizon
  delay <- job$delay
  where <- function() sprintf("in run %s", number_text(run))
  x <- with_stream(job$seed, run, 0, 0, call_back(delay(n), "delay", where, call))
  ok <- is.numeric(x) && !is.object(x) && length(x) == n && !anyNA(x) && min(x) >= 0 && all(x == trunc(x))
  if (!ok) {
    abort_user_function("delay", sprintf(
      "must give %s whole numbers of at least 0, one for each round; %s it gave %s.", number_text(n),
      where(), if (length(x) == n && is.numeric(x)) {
        number_text(x[is.na(x) | x < 0 | x != trunc(x)][1])
      } else {
        describe(x)
      }
    ), call)
  }
  as.integer(pmin(x, n))
}

quote_arm <- function(arms, arm) {
  names <- names(arms$mean)
  if (is.null(names)) number_text(arm) else paste0("\"", names[arm], "\"")
}

abort_dry <- function(arms, want, call) {
  arm <- want$blocks
  n <- length(arms$par[[arm]])
  abort_dpts(
    c(sprintf("`arms` has %s for arm %s, and run %s asks for one more in round %s.",
              count_noun(n, "recorded reward", "recorded rewards"), quote_arm(arms, arm),
              number_text(want$run), words_whole(want$t)),
      i = "A shorter `horizon` avoids that; `replace = TRUE` draws with replacement."),
    class = c("dpts_error_dry", "dpts_error_input"), arg = "arms", call = call
  )
}
