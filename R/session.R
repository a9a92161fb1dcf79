# A live session: one policy at work on people, written in C or in R (src/r_session.c).

# An environment:
#   policy, k, horizon, dim, strata   what it was made for. With strata C has an arm for each of a stratum's
#                     arms (src/policy_strata.c); all that is asked and said here is of the k arms
#   by_batch          is a reward needed until the release of its batch, and no longer?
#   flip              the probability with which each bit was turned (0: rewards, not bits)
#   sums_are_public   does the policy publish sums?
#   handle, kernel    the session in C and the policy's kernel; NULL before session_start()
#   batches, sums     what was released and not yet handed out: c(arm, batch), and rows of the release table
# Only what session_arms() and session_paid() give is public.
live_session <- function(policy, k, horizon, dim, strata = 1) {
  session <- new.env(parent = emptyenv())
  session$policy <- policy
  session$k <- k
  session$strata <- strata
  session$horizon <- horizon %||% Inf
  session$dim <- dim %||% if (!is.null(predictions_of(policy))) 1L # a prediction is a context of one number
  session$flip <- flip_of(policy)
  session$sums_are_public <- if (session$flip > 0) bits_are_public(policy) else
    is_true_of(policy, "releases") && is_true_of(policy, "reports")
  # In a policy that is started anew, batches may end with its life and never be released.
  session$by_batch <- is_true_of(policy, "batches") && session$flip == 0 && life_of(policy) == Inf
  session$handle <- session$kernel <- NULL
  session$batches <- session$sums <- list()
  session
}

# A fresh state
session_start <- function(session) {
  session$kernel <- stratified(live_kernel(session$policy, session$horizon, session$dim), session$strata)
  session$handle <- .Call(C_session_new, session$kernel, as.integer(session$k * session$strata),
                          session$horizon, as.integer(session$dim %||% 0))
}

# How many bytes that has, without a policy's state in R
session_bytes <- function(policy, k, horizon, dim, strata) {
  session <- live_session(policy, k, horizon, dim, strata)
  if (k * strata > .Machine$integer.max) return(Inf)
  kernel <- stratified(live_kernel(policy, session$horizon, session$dim), strata)
  .Call(C_session_bytes, kernel, as.integer(k * strata), session$horizon, as.integer(session$dim %||% 0))
}

# What C is shown of a context; the host of a policy in R is shown any.
context_for_c <- function(session, context) {
  if (is.null(session$kernel$host) || !is.null(session$dim)) return(context)
  assign("context", context, session$kernel$host$env)
  NULL
}

# The kernel of a policy in several strata
stratified <- function(kernel, strata) {
  if (strata == 1) return(kernel)
  kernel$params <- params_in_strata(kernel$params, strata)
  list(name = "strata", params = list(strata = as.double(strata)), flip = kernel$flip,
       inner = kernel[setdiff(names(kernel), "flip")], memory = raw(512))
}

# The arms of a stratum as C numbers them. NULL: all
arms_in <- function(session, arms, stratum) {
  if (session$strata == 1) arms else as.integer((stratum - 1) * session$k + (arms %||% seq_len(session$k)))
}

# The stratum of a batch; of none: any will do
stratum_of <- function(session, batch) (pmax(batch, 1) - 1) %% session$strata + 1

arm_within <- function(session, arm) (arm - 1) %% session$k + 1

# Choose an arm and commit to it -> c(arm, round, batch, probability). `context`: the same for all arms, or
# that of each in turn
session_play <- function(session, offer, context, stratum = 1) {
  context <- context_for_c(session, context)
  offer <- arms_in(session, offer, stratum)
  out <- with_host(session$kernel, .Call(C_session_choose, session$handle, offer, context))
  out[1] <- arm_within(session, out[1])
  out
}

# The arm of a choice that is no round, by a policy in C. `last`, `held`: see src/r_session.c; what is to be
# closed then is
session_look <- function(session, offer, context, stratum = 1, last = 1L, held = NA_real_) {
  last <- arms_in(session, last, stratum)
  arm <- .Call(C_session_look, session$handle, arms_in(session, offer, stratum), context, last, held)
  if (arm < 0) session_close(session, last)
  if (arm != 0) as.integer(arm_within(session, abs(arm))) else 0L
}

# The open batches of these arms, of all strata for NULL, or the blocks, take no more pulls.
session_close <- function(session, arms = seq_len(session$k * session$strata)) {
  for (arm in arms) {
    closed <- .Call(C_session_close, session$handle, arm, forced_releases())
    if (closed[1] > 0) note_released(session, arm_within(session, arm), closed[2])
  }
}

# Pulls whose rewards never come are taken out of their batches -> of each: was it there? 2: and its batch, in
# which nobody is left, is gone. What is complete then is released.
session_unpull <- function(session, arm, batch) {
  at <- arms_in(session, arm, stratum_of(session, batch))
  there <- vapply(seq_along(at), function(i) .Call(C_session_unpull, session$handle, at[i], batch[i]), 0L)
  while (.Call(C_session_release_next, session$handle)) note_sums(session)
  there
}

# The reward of round t, once -> what was released by it
session_feed <- function(session, t, arm, batch, reward, context) {
  context <- context_for_c(session, context)
  at <- arms_in(session, arm, stratum_of(session, batch))
  forced <- forced_releases()
  released <- with_host(session$kernel,
                        .Call(C_session_update, session$handle, t, at, batch, reward, context, forced))
  if (nrow(released)) note_released(session, arm, batch)
  invisible(released)
}

# What tests put in the place of noisy numbers
forced_releases <- function() getOption("dpts.forced_releases")

# The same for many rewards of a policy in C, without contexts
session_feed_all <- function(session, t, arm, batch, reward) {
  at <- 0L
  own <- arms_in(session, arm, stratum_of(session, batch))
  repeat {
    at <- .Call(C_session_update_until, session$handle, t, own, batch, reward, at + 1L)
    if (at == 0) break
    note_released(session, arm[at], batch[at])
  }
}

note_released <- function(session, arm, batch) {
  note_sums(session)
  if (session$by_batch && batch > 0) session$batches[[length(session$batches) + 1]] <- c(arm, batch)
}

note_sums <- function(session) {
  session$sums[[length(session$sums) + 1]] <- .Call(C_session_news, session$handle)
}

# What is open is released, once.
session_finish <- function(session) {
  while (.Call(C_session_release_next, session$handle)) note_sums(session)
  with_host(session$kernel, .Call(C_session_finish, session$handle))
  note_sums(session)
}

# The arm that the policy itself proves to be the best, or NA
session_verdict <- function(session) {
  said <- with_host(session$kernel, .Call(C_session_verdict, session$handle))
  if (said[1] == 1) as.integer(said[2]) else NA_integer_
}

# There are so many arms now.
session_grow <- function(session, k) {
  old <- session$handle
  session$k <- k
  session_start(session)
  .Call(C_session_grow, session$handle, old)
}

# Batches that were released since the last call
take_batches <- function(session) {
  old <- matrix(as.double(unlist(session$batches)), 2)
  session$batches <- list()
  list(arm = as.integer(old[1, ]), batch = old[2, ])
}

# Rows of the release table that are not stored yet. take_sums() hands them out once, to be stored with the
# change that they belong to.
session_sums <- function(session) do.call(rbind, c(list(matrix(0, 0, length(RELEASE))), session$sums))

take_sums <- function(session) {
  rows <- session_sums(session)
  session$sums <- list()
  rows
}

# The whole state, an R value, and back
session_save <- function(session) {
  list(bytes = .Call(C_session_save, session$handle), state = session$kernel$host$env$state)
}

session_restore <- function(session, kept) {
  if (is.null(session$handle)) session_start(session)
  # First the state of a policy in R: reading the session may call its functions.
  if (!is.null(session$kernel$host)) assign("state", kept$state, session$kernel$host$env)
  with_host(session$kernel, .Call(C_session_restore, session$handle, kept$bytes))
  session$batches <- session$sums <- list()
}

# The state with other bytes or numbers: the pages that changed since the last call, their `numbers` and
# `bytes`, how many `pages` there are and the `sum` of all
session_image <- function(session, ...) {
  parts <- list(...)
  host <- session$kernel$host
  if (!is.null(host)) parts <- c(parts, list(serialize(host$env$state, NULL, xdr = FALSE)))
  stats::setNames(.Call(C_session_image, session$handle, parts), c("numbers", "bytes", "pages", "sum"))
}

# The bytes of the image with these pages in it: `numbers` and `bytes`, of so many in all
session_pages <- function(session, new, pages) {
  .Call(C_session_pages, session$handle, new$numbers, new$bytes, as.integer(pages))
}

# The store has this image.
session_known <- function(session, bytes) .Call(C_session_known, session$handle, bytes)

session_pulls <- function(session) rowSums(matrix(.Call(C_session_pulls, session$handle), session$k))

# The numbers of [REPORT] in rows, and a column for each arm as C numbers them
session_report <- function(session) with_host(session$kernel, .Call(C_session_report, session$handle))

# What is public of each arm: `pulls`; `report` (the numbers of [REPORT], NULL where the policy publishes no
# sums), and from it how many `releases` are in the arm's sum; and `flip`
session_arms <- function(session) {
  if (is.null(session$handle)) session_start(session)
  none <- rep(NA_real_, session$k)
  out <- list(pulls = session_pulls(session), releases = none, flip = session$flip)
  if (!session$sums_are_public) return(out)
  report <- session_report(session)
  if (session$strata > 1) {
    all <- array(report, c(nrow(report), session$k, session$strata))
    report <- all[, , 1]
    added <- match(c("rewards", "sum", "terms", "looks", "squares"), REPORT)
    report[added, ] <- rowSums(all[added, , , drop = FALSE], dims = 2)
  }
  out$report <- stats::setNames(asplit(report, 1), REPORT)
  out$releases <- if (session$flip > 0) report[match("rewards", REPORT), ] else
    pmax(report[match("terms", REPORT), ], report[match("looks", REPORT), ])
  out
}

# The mu^2 that a filter has charged, NA without one
session_paid <- function(session) .Call(C_session_paid, session$handle)
