# Policies in R whose twins in C are known

count_start <- function(k, horizon) list(n = numeric(k), sum = numeric(k))
count_update <- function(state, feedback) {
  arm <- feedback$arm
  state$n[arm] <- state$n[arm] + 1
  state$sum[arm] <- state$sum[arm] + feedback$reward
  state
}

custom_ucb1 <- function() policy_custom(
  "ucb1 in R", count_start,
  choose = function(state, round) {
    if (any(state$n == 0)) return(which(state$n == 0)[1])
    which.max(state$sum / state$n + sqrt(2 * log(max(1, round$t - 1))) / sqrt(state$n))
  },
  count_update
)

custom_greedy <- function(explore = 0.1) policy_custom(
  "greedy", count_start,
  choose = function(state, round) {
    if (stats::runif(1) < explore) return(sample(round$offer, 1))
    round$offer[which.max((state$sum / pmax(1, state$n))[round$offer])]
  },
  count_update
)

# What a policy in R was told, for tests. It may change no variable outside its state.
note <- function(...) options(dpts.test_notes = c(getOption("dpts.test_notes"), list(...)))
notes <- function() getOption("dpts.test_notes")
begin_notes <- function(frame = parent.frame()) withr::local_options(dpts.test_notes = NULL, .local_envir = frame)

# A policy that does nothing but what one function says
custom_fault <- function(choose = function(state, round) 1L, update = function(state, feedback) state,
                         start = function(k, horizon) 0, commit = NULL) {
  policy_custom("fault", start, choose, update, commit = commit)
}
