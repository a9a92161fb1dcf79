# A live session of a policy in C (src/r_session.c), as an agent's engine.

#' Kernels that release the sum of each batch once, with fresh noise, and nothing else: what they
#' released adds up to one noisy sum for each arm.
#' @noRd
BATCH_KERNELS <- c("adac_ucb", "adap_klucb", "adap_ucb", "dp_imed", "dp_klucb", "gaussian_imed",
                   "lazy_dp_ts", "lazy_gaussian_ts", "lazy_ucb")

#' @noRd
engine_session <- function(policy, k, horizon, dim) {
  every <- life_of(policy)
  flip <- flip_of(policy)
  bits <- bits_are_public(policy)
  in_batches <- is_kernel(core(policy), BATCH_KERNELS) && flip == 0
  # In a policy that is started anew, batches may end with its life and never be released.
  by_batch <- in_batches && every == Inf
  handle <- NULL
  horizon <- horizon %||% Inf
  new <- function() .Call(C_session_new, kernel(policy, horizon), k, horizon, as.integer(dim %||% 0))
  # What was released of each arm, and how many pulls each batch that is out has
  # (`shown`: the last release of each arm, which a moving average carries into the next).
  none <- list(rewards = numeric(k), releases = numeric(k), sum = numeric(k), shown = numeric(k),
               out = numeric(), noise = list(kind = "Gaussian", scale = 0))
  tally <- none
  news <- list()
  key <- function(arm, batch) paste(arm, batch)
  list(
    by_batch = by_batch,
    start = function() {
      handle <<- new()
      tally <<- none
    },
    play = function(offer, context) {
      played <- .Call(C_session_play, handle, offer, context)
      if (in_batches) {
        if ((played[2] - 1) %% every == 0) tally <<- none # the first round of a life
        name <- key(played[1], played[3])
        before <- tally$out[name]
        tally$out[name] <<- if (is.na(before)) 1 else before + 1
      }
      played
    },
    feed = function(t, arm, batch, reward, context) {
      released <- .Call(C_session_update, handle, t, arm, batch, reward, context,
                        getOption("dpts.forced_releases")) # of tests
      if (!in_batches || !nrow(released)) return(invisible(released))
      name <- key(arm, batch)
      tally$rewards[arm] <<- tally$rewards[arm] + tally$out[[name]]
      tally$releases[arm] <<- tally$releases[arm] + 1
      gain <- released[4]
      shown <- released[3] / gain
      tally$sum[arm] <<- tally$sum[arm] + shown - released[5] * tally$shown[arm]
      tally$shown[arm] <<- shown
      tally$noise <<- list(kind = noise_names(released[1]), scale = released[2] / gain,
                           carry = max(tally$noise$carry, released[5]))
      tally$out <<- tally$out[names(tally$out) != name]
      if (by_batch) news <<- c(news, list(list(arm = arm, batch = batch)))
      invisible(released)
    },
    released = function() {
      old <- news
      news <<- list()
      old
    },
    save = function() list(.Call(C_session_save, handle), tally),
    restore = function(kept) {
      if (is.null(handle)) handle <<- new()
      .Call(C_session_restore, handle, kept[[1]])
      tally <<- kept[[2]]
      news <<- list()
    },
    arms = function() {
      pulls <- if (is.null(handle)) numeric(k) else .Call(C_session_pulls, handle)
      told <- if (in_batches) c(tally[c("rewards", "releases", "sum", "noise")], flip = 0)
        else if (!bits) told_nothing(k)
        else if (is.null(handle)) told_bits(list(n = numeric(k), sum = numeric(k)), flip)
        else told_bits(.Call(C_session_shown, handle), flip)
      c(list(pulls = pulls), told)
    },
    paid = function() .Call(C_session_paid, handle)
  )
}
