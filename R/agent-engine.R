# What runs inside an agent: one set of functions, whether the policy is written in C or in R.
#   start()                     a fresh state
#   play(offer, context)        choose an arm and commit to it -> c(arm, round, batch)
#   feed(t, arm, batch, reward, context)   the reward of round t, once
#   released()                  batches released since the last call: a list of list(arm, batch)
#   save() / restore(kept)      the whole state, an R value
#   arms()                      one element per arm: pulls; and for policies that publish sums, rewards and
#                               releases inside the arm's sum, that sum, the noise of one release,
#                               and the chance with which each bit was turned (0: rewards, not bits)
#   paid()                      the mu^2 that a filter has charged, NA without one
#   by_batch                    is a reward needed until the release of its batch, and no longer?
# Nothing but what arms() and paid() give is public.

#' @noRd
agent_engine <- function(policy, k, horizon, dim) {
  if (is_kernel(core(policy), "custom")) engine_custom(policy, k, horizon)
  else engine_session(policy, k, horizon, dim)
}

#' Are the bits that a locally private policy sees inside its own guarantee? They are not where that is
#' better than what randomised response promises.
#' @noRd
bits_are_public <- function(policy) {
  flip_of(policy) > 0 && identical(policy$guarantee$published, "bits")
}

#' A policy in R, maybe wrapped: its state is any R value, kept by serialize(). What wrappers show it is
#' as in src/play_session_view.h.
#' @noRd
engine_custom <- function(policy, k, horizon) {
  every <- life_of(policy)
  flip <- flip_of(policy)
  tells <- bits_are_public(policy)
  policy <- core(policy)
  state <- NULL
  t <- 0
  born <- 0 # its life is after this round
  pulls <- numeric(k)
  none <- list(n = numeric(k), sum = numeric(k))
  shown <- none # bits that it has seen in this life
  call_policy <- function(what, ...) {
    tryCatch(with_system_seed(policy[[what]](...)), error = function(e) {
      abort_dpts(sprintf("`%s()` of policy \"%s\" failed in round %s: %s", what, policy$name,
                         format(t + (what == "choose")), conditionMessage(e)),
                 "dpts_error_callback")
    })
  }
  begin_life <- function() {
    state <<- call_policy("start", k, if (every < Inf) min(horizon, every) else horizon)
    born <<- t
    shown <<- none
  }
  list(
    by_batch = FALSE,
    start = function() {
      t <<- 0
      pulls <<- numeric(k)
      begin_life()
    },
    play = function(offer, context) {
      if (t == born + every) begin_life()
      offer <- offer %||% seq_len(k)
      round <- list(t = t + 1 - born, offer = offer, context = context)
      arm <- call_policy("choose", state, round)
      if (!is.numeric(arm) || length(arm) != 1 || !arm %in% offer) {
        abort_dpts(sprintf("`choose()` of policy \"%s\" gave %s in round %s; on offer: %s.",
                           policy$name, describe(arm), format(t + 1),
                           paste(offer, collapse = ", ")), "dpts_error_callback")
      }
      t <<- t + 1
      pulls[arm] <<- pulls[arm] + 1
      if (!is.null(policy$commit)) state <<- call_policy("commit", state, round, arm)
      c(arm, t, 0)
    },
    feed = function(t, arm, batch, reward, context) {
      if (t <= born) return(invisible()) # of an earlier life
      if (flip > 0) {
        reward <- random_bit(reward, flip)
        shown$n[arm] <<- shown$n[arm] + 1
        shown$sum[arm] <<- shown$sum[arm] + reward
      }
      state <<- call_policy("update", state,
                            list(t = t - born, arm = arm, reward = reward, context = context))
    },
    released = function() NULL,
    save = function() list(state = state, t = t, born = born, pulls = pulls, shown = shown),
    restore = function(kept) {
      state <<- kept$state
      t <<- kept$t
      born <<- kept$born
      pulls <<- kept$pulls
      shown <<- kept$shown
    },
    arms = function() c(list(pulls = pulls), if (tells) told_bits(shown, flip) else told_nothing(k)),
    paid = function() NA_real_
  )
}

#' What arms() gives beside pulls: sums of bits, or NA
#' @noRd
told_bits <- function(shown, flip) {
  list(rewards = shown$n, releases = shown$n, sum = shown$sum,
       noise = list(kind = "Gaussian", scale = 0), flip = flip)
}

told_nothing <- function(k) {
  none <- rep(NA_real_, k)
  list(rewards = none, releases = none, sum = none, noise = list(kind = "Gaussian", scale = 0), flip = 0)
}

#' A reward as a random bit, exactly: both chances are multiples of 2^-53
#' @noRd
random_bit <- function(reward, flip) {
  as.numeric((system_uniform() < reward) != (system_uniform() < flip))
}

#' One of the 2^53 multiples of 2^-53 in [0, 1), all alike, from bits of the operating system
#' @noRd
system_uniform <- function() {
  bytes <- as.numeric(system_bytes(7))
  bytes[7] <- bytes[7] %% 32
  sum(bytes * 256^(0:6)) * 2^-53
}

#' Evaluate with R's generator seeded by the operating system, and put it back
#' @noRd
with_system_seed <- function(expr) {
  put_back <- hold_generator()
  on.exit(put_back())
  set.seed(readBin(system_bytes(4), "integer"), kind = "default", normal.kind = "default",
           sample.kind = "default")
  expr
}

#' Bytes that nobody can guess
#' @noRd
system_bytes <- function(n) .Call(C_system_bytes, n)
