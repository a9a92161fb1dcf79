# What runs inside an agent: one set of functions, whether the policy is written in C or in R.
#   start()                     a fresh state
#   play(offer, context)        choose an arm and commit to it -> c(arm, round, batch)
#   feed(t, arm, batch, reward, context)   the reward of round t, once
#   released()                  batches released since the last call: a list of list(arm, batch)
#   save() / restore(kept)      the whole state, an R value
#   arms()                      one element per arm: pulls; and for policies that release each batch
#                               once, rewards and releases inside the released sum, that sum and the
#                               noise of one release
#   paid()                      the mu^2 that a filter has charged, NA without one
# Nothing but what arms() and paid() give is public.

#' @noRd
agent_engine <- function(policy, k, horizon, dim) {
  if (inherits(policy, "policy_custom")) engine_custom(policy, k, horizon)
  else engine_session(policy, k, horizon, dim)
}

#' A policy in R: its state is any R value, kept by serialize()
#' @noRd
engine_custom <- function(policy, k, horizon) {
  state <- NULL
  t <- 0
  pulls <- numeric(k)
  call_policy <- function(what, ...) {
    tryCatch(with_system_seed(policy[[what]](...)), error = function(e) {
      abort_dpts(sprintf("`%s()` of policy \"%s\" failed in round %s: %s", what, policy$name,
                         format(t + (what == "choose")), conditionMessage(e)),
                 "dpts_error_callback")
    })
  }
  list(
    start = function() {
      state <<- call_policy("start", k, horizon)
      t <<- 0
      pulls <<- numeric(k)
    },
    play = function(offer, context) {
      offer <- offer %||% seq_len(k)
      arm <- call_policy("choose", state, list(t = t + 1, offer = offer, context = context))
      if (!is.numeric(arm) || length(arm) != 1 || !arm %in% offer) {
        abort_dpts(sprintf("`choose()` of policy \"%s\" gave %s in round %s; on offer: %s.",
                           policy$name, describe(arm), format(t + 1),
                           paste(offer, collapse = ", ")), "dpts_error_callback")
      }
      t <<- t + 1
      pulls[arm] <<- pulls[arm] + 1
      if (!is.null(policy$commit)) {
        state <<- call_policy("commit", state, list(t = t, offer = offer, context = context), arm)
      }
      c(arm, t, 0)
    },
    feed = function(t, arm, batch, reward, context) {
      state <<- call_policy("update", state,
                            list(t = t, arm = arm, reward = reward, context = context))
    },
    released = function() NULL,
    save = function() list(state, t, pulls),
    restore = function(kept) {
      state <<- kept[[1]]
      t <<- kept[[2]]
      pulls <<- kept[[3]]
    },
    arms = function() {
      none <- rep(NA_real_, k)
      list(pulls = pulls, rewards = none, releases = none, sum = none,
           noise = list(kind = "Gaussian", scale = 0))
    },
    paid = function() NA_real_
  )
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
