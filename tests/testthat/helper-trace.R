# What a policy does with given rewards, and every number that it releases.

# A session in a scripted environment (src/r_trace.c). arms: NA where the policy chooses;
# offers: a list of the arms on offer in each step; discard: is the choice discarded?;
# delays: of each round's reward, over and over; forced: values to release in place of the
# noisy ones, in order; saves: steps after which the session is saved and restored, increasing; finish: is what is
# open released after the last step?; ask: is the policy asked for
# the chances in each step?
run_script <- function(policy, k, arms, rewards, horizon = length(arms), seed = 1,
                       silent = FALSE, max_ledger = 1e5, offers = NULL, discard = NULL,
                       delays = NULL, forced = NULL, contexts = NULL, own = FALSE, run = 1, saves = NULL,
                       finish = FALSE, ask = FALSE) {
  scripted(policy, k, arms, rewards, horizon, silent, max_ledger, offers, discard, delays, forced, contexts,
           own, run, saves, finish, ask)(seed)
}

# The same session for many seeds: a function of the seed
scripted <- function(policy, k, arms, rewards, horizon = length(arms), silent = FALSE, max_ledger = 1e5,
                     offers = NULL, discard = NULL, delays = NULL, forced = NULL, contexts = NULL, own = FALSE,
                     run = 1, saves = NULL, finish = FALSE, ask = FALSE) {
  kernel <- kernel(policy, horizon)
  script <- list(
    k = k, horizon = horizon, arms = as.integer(arms), rewards = rewards + 0, seed = NULL, run = run,
    silent = silent, max_ledger = max_ledger, offers = if (!is.null(offers)) lapply(offers, as.integer),
    discard = discard, delays = if (!is.null(delays)) as.integer(delays), forced = forced,
    contexts = contexts, own = own, finish = finish, ask = ask, saves = if (!is.null(saves)) as.integer(saves)
  )
  function(seed) {
    script["seed"] <- list(seed)
    # A long ledger takes longer to make than a short script to play: try a short one first.
    script$max_ledger <- min(1000, max_ledger)
    out <- with_host(kernel, .Call(C_trace, kernel, script))
    if (out$total <= script$max_ledger) return(out)
    script$max_ledger <- max_ledger
    with_host(kernel, .Call(C_trace, kernel, script))
  }
}

# rewards: one per round, or a matrix with a column an arm; arms: the arm that is pulled in
# each round, NA where the policy chooses. `ledger`: one row a released number.
trace_policy <- function(policy, k, rewards, arms = NULL, horizon = NULL, seed = 1,
                         silent = FALSE, max_ledger = 1e5) {
  rounds <- NROW(rewards)
  if (is.null(arms)) arms <- rep(NA, rounds)
  if (is.null(horizon)) horizon <- rounds
  out <- run_script(policy, k, arms, rewards, horizon, seed, silent, max_ledger)
  stopifnot(out$total <= max_ledger)
  rows <- seq_len(out$total)
  ledger <- lapply(out[c("exact", "kind", "scale", "noise", "gain", "correlation")], `[`, rows)
  ledger <- structure(ledger, class = "data.frame", row.names = rows)
  # The round in which each number was released, and the arm observed then.
  ledger$round <- rep(seq_along(out$arm), diff(c(0L, out$released)))
  ledger$arm <- out$arm[ledger$round]
  list(arm = out$arm, released = out$released, ledger = ledger, state = out$state)
}

# The same for a counter.
trace_counter <- function(counter, x, seed = 1, silent = FALSE, max_ledger = 1e5) {
  out <- .Call(dpts:::C_counter_add, counter, as.double(x), seed, silent, as.integer(max_ledger))
  ledger <- attr(out, "ledger")
  stopifnot(ledger$total <= max_ledger)
  list(released = out$released,
       ledger = as.data.frame(ledger[c("exact", "kind", "scale", "noise")])[seq_len(ledger$total), ])
}

# In how many noisy sums is each reward? Change one reward at a time and see which exact
# values of the ledger move. With the arms forced, the same numbers are released at the same
# rounds, so rows correspond. -> the ledger's rows that move, for each reward, and by how much
taint <- function(policy, k, rewards, arms, ...) {
  base <- trace_policy(policy, k, rewards, arms, silent = TRUE, ...)$ledger
  lapply(seq_along(rewards), function(i) {
    changed <- rewards
    changed[i] <- 1 - changed[i]
    other <- trace_policy(policy, k, changed, arms, silent = TRUE, ...)$ledger
    stopifnot(nrow(other) == nrow(base), identical(other$scale, base$scale))
    moved <- abs(other$exact - base$exact)
    data.frame(moved = moved[moved > 1e-12], scale = base$scale[moved > 1e-12],
               arm = base$arm[moved > 1e-12])
  })
}

# epsilon that the ledger spends on a reward: sum of |shift| / scale
spent <- function(tainted) vapply(tainted, function(x) sum(x$moved / x$scale), 0)

# What a tree's nodes, in order of their making, add up to after n leaves: the nodes in the
# binary expansion of n, of which the last is that of its lowest bit.
tree_noise <- function(node, n) {
  sum <- 0
  while (n > 0) {
    sum <- sum + node[n]
    n <- bitwAnd(n, n - 1L)
  }
  sum
}

# DP-SE: R of epoch e with `s` arms, and the pulls of each (Sajed and Sheffet 2019)
rounds_of_epoch <- function(s, e, eps, beta) {
  pmax(32 * log(8 * s * e^2 / beta) * 4^e, 8 * log(4 * s * e^2 / beta) * 2^e / eps) + 1
}
ceil_rounds <- function(s, e, eps, beta) ceiling(rounds_of_epoch(s, e, eps, beta))

# Two arms in the first epoch of DP-SE: its length and the difference of sums that drops an
# arm. With Lap(1 / (epsilon r)) on the means the sums have noise of scale 1 / epsilon.
dp_se_setting <- function(eps, beta) {
  rounds <- rounds_of_epoch(2, 1, eps, beta)
  r <- ceiling(rounds)
  h <- sqrt(log(8 * 2 / beta) / (2 * rounds))
  c <- log(4 * 2 / beta) / (rounds * eps)
  list(r = r, threshold = r * (2 * h + 2 * c))
}

# Rewards of two epochs' beginnings: arm 1 has so many ones (a fraction goes to the next
# whole number), arm 2 none; two rounds after the epoch show who is left.
dp_se_table <- function(setting, ones) {
  table <- matrix(0, 2 * setting$r + 2, 2)
  table[2 * seq_len(ceiling(ones)) - 1, 1] <- 1
  table
}

# The state of policy_ts_gaussian: a header of 8 numbers' size, then (m, n, sum, mean, sd,
# paid) for each arm (src/policy_ts_gaussian.h). -> sum, n, mean, sd
posterior_of <- function(state, k) {
  matrix(readBin(state, "double", 8 + 6 * k)[-(1:8)], 6)[c(3, 2, 4, 5), ]
}
