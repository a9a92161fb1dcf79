# What runs inside an agent: one set of functions, whether the policy is written in C or in R.
#   start()                     a fresh state
#   choose(offer, context)      an arm's number; changes nothing
#   commit(arm)                 the choice was played -> its round
#   update(t, arm, reward, context)   the reward of round t
#   save() / restore(bytes)     the whole state as bytes
#   arms()                      one row per arm: pulls, released (rewards inside released sums, of
#                               the arm's first pulls), releases, sum (the released noisy sum)
#   spent()                     mu^2 that a filter has paid, or NA
# Only `arms()$pulls`, released sums and `spent()` are public.

#' @noRd
agent_engine <- function(policy, k, horizon, dim) {
  if (inherits(policy, "policy_custom")) engine_custom(policy, k, horizon)
  else engine_session(policy, k, horizon, dim)
}

#' A policy in R: its state is any R value, kept by serialize()
#' @noRd
engine_custom <- function(policy, k, horizon) {
  self <- new.env(parent = emptyenv())
  self$state <- NULL
  self$t <- 0
  self$pulls <- numeric(k)
  self$context <- NULL
  call_policy <- function(what, ...) {
    tryCatch(with_system_seed(policy[[what]](...)), error = function(e) {
      abort_dpts(sprintf("`%s()` of policy \"%s\" failed in round %s: %s", what, policy$name,
                         format(self$t + (what == "choose")), conditionMessage(e)),
                 "dpts_error_policy")
    })
  }
  list(
    start = function() {
      self$state <- call_policy("start", k, horizon)
      self$t <- 0
      self$pulls <- numeric(k)
    },
    choose = function(offer, context) {
      offer <- offer %||% seq_len(k)
      arm <- call_policy("choose", self$state,
                         list(t = self$t + 1, offer = offer, context = context))
      if (!is.numeric(arm) || length(arm) != 1 || !arm %in% offer) {
        abort_dpts(sprintf("`choose()` of policy \"%s\" gave %s in round %s; on offer: %s.",
                           policy$name, describe(arm), format(self$t + 1),
                           paste(offer, collapse = ", ")), "dpts_error_policy")
      }
      self$context <- context
      as.integer(arm)
    },
    commit = function(arm) {
      self$t <- self$t + 1
      self$pulls[arm] <- self$pulls[arm] + 1
      if (!is.null(policy$commit)) {
        self$state <- call_policy("commit", self$state,
                                  list(t = self$t, arm = arm, context = self$context))
      }
      self$t
    },
    update = function(t, arm, reward, context) {
      self$state <- call_policy("update", self$state,
                                list(t = t, arm = arm, reward = reward, context = context))
    },
    save = function() serialize(list(self$state, self$t, self$pulls), NULL),
    restore = function(bytes) {
      kept <- unserialize(bytes)
      self$state <- kept[[1]]
      self$t <- kept[[2]]
      self$pulls <- kept[[3]]
    },
    arms = function() {
      list(pulls = self$pulls, released = rep(NA_real_, k), releases = rep(NA_real_, k),
           sum = rep(NA_real_, k))
    },
    spent = function() NA_real_
  )
}

#' Evaluate with R's generator seeded by the operating system, and put it back
#' @noRd
with_system_seed <- function(expr) {
  global <- globalenv()
  old <- global$.Random.seed
  on.exit(if (is.null(old)) rm(".Random.seed", envir = global)
          else assign(".Random.seed", old, envir = global))
  set.seed(readBin(system_bytes(4), "integer"), kind = "default", normal.kind = "default",
           sample.kind = "default")
  expr
}

#' Bytes that nobody can guess
#' @noRd
system_bytes <- function(n) .Call(C_system_bytes, n)
