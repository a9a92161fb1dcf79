# A live session: one policy at work on people, written in C or in R (src/r_session.c).

# A live session
#
# Returns A list of functions:
#   * `start()`: a fresh state
#   * `play(offer, context)`: choose an arm and commit to it; gives c(arm, round, batch, probability).
#     `context`: the same for all arms, or that of each in turn
#   * `look(offer, context)`: the arm of a choice that is no round, by a policy in C
#   * `feed(t, arm, batch, reward, context)`: the reward of round t, once
#   * `feed_all(t, arm, batch, reward)`: the same for many rewards of a policy in C, without contexts
#   * `finish()`: what is open is released, once
#   * `verdict()`: the arm that the policy itself proves to be the best, or NA
#   * `grow(more)`: there are so many arms now
#   * `released()`: batches released since the last call: columns `arm` and `batch`
#   * `sums()`: rows of the release table (R/evidence.R) since the last call or restore(): to be kept with the
#   change that they belong to
#   * `save()`, `restore(kept)`: the whole state, an R value
#   * `image(...)`: the same with other bytes or numbers, as a list of the pages that are new since the last
#     call, their `numbers`, `bytes`, how many `pages` there are and the `sum` of all; `known(bytes)`: the
#     pages that are stored
#   * `pulls()`: of each arm; `arms()`: what is public of each arm: `pulls`; `report` (the numbers of
#   [REPORT], `NULL` where the
#     policy publishes no sums), and from it how many `rewards` and `releases` are in the arm's sum; and
#     `flip`, the chance with which each bit was turned (0: rewards, not bits)
#   * `paid()`: the mu^2 that a filter has charged, NA without one
#
#   and `by_batch`: is a reward needed until the release of its batch, and no longer?
#   Nothing but what arms() and paid() give is public.
live_session <- function(policy, k, horizon, dim) {
  flip <- flip_of(policy)
  sums_are_public <- if (flip > 0) bits_are_public(policy) else
    is_true_of(policy, "releases") && is_true_of(policy, "reports")
  # In a policy that is started anew, batches may end with its life and never be released.
  by_batch <- is_true_of(policy, "batches") && flip == 0 && life_of(policy) == Inf
  handle <- kernel <- NULL
  news <- sums <- list()
  note_sums <- function() sums[[length(sums) + 1]] <<- .Call(C_session_news, handle)
  note_release <- function(arm, batch) {
    note_sums()
    if (by_batch) news[[length(news) + 1]] <<- c(arm, batch)
  }
  new <- function() {
    kernel <<- live_kernel(policy, horizon %||% Inf, dim)
    handle <<- .Call(C_session_new, kernel, k, horizon %||% Inf, as.integer(dim %||% 0))
  }
  # What C is shown of a context; the host of a policy in R is shown any.
  context_of <- function(context) {
    if (is.null(kernel$host) || !is.null(dim)) return(context)
    assign("context", context, kernel$host$env)
    NULL
  }
  list(
    by_batch = by_batch,
    start = new,
    play = function(offer, context) {
      context <- context_of(context)
      with_host(kernel, .Call(C_session_choose, handle, offer, context))
    },
    look = function(offer, context) .Call(C_session_look, handle, offer, context),
    feed = function(t, arm, batch, reward, context) {
      context <- context_of(context)
      released <- with_host(kernel, .Call(C_session_update, handle, t, arm, batch, reward, context,
                                          getOption("dpts.forced_releases"))) # of tests
      if (nrow(released)) note_release(arm, batch)
      invisible(released)
    },
    feed_all = if (!is_custom(core(policy))) function(t, arm, batch, reward) {
      at <- 0L
      repeat {
        at <- .Call(C_session_update_until, handle, t, arm, batch, reward, at + 1L)
        if (at == 0) break
        note_release(arm[at], batch[at])
      }
    },
    finish = function() {
      while (.Call(C_session_release_next, handle)) note_sums()
      with_host(kernel, .Call(C_session_finish, handle))
      note_sums()
    },
    verdict = function() {
      said <- with_host(kernel, .Call(C_session_verdict, handle))
      if (said[1] == 1) as.integer(said[2]) else NA_integer_
    },
    grow = function(more) {
      old <- handle
      k <<- more
      new()
      .Call(C_session_grow, handle, old)
    },
    released = function() {
      old <- matrix(as.double(unlist(news)), 2)
      news <<- list()
      list(arm = as.integer(old[1, ]), batch = old[2, ])
    },
    sums = function(keep = FALSE) {
      old <- do.call(rbind, c(list(matrix(0, 0, length(RELEASE))), sums))
      if (!keep) sums <<- list()
      old
    },
    save = function() list(bytes = .Call(C_session_save, handle), state = kernel$host$env$state),
    image = function(...) {
      parts <- list(...)
      if (!is.null(kernel$host)) parts <- c(parts, list(serialize(kernel$host$env$state, NULL, xdr = FALSE)))
      stats::setNames(.Call(C_session_image, handle, parts), c("numbers", "bytes", "pages", "sum"))
    },
    known = function(bytes) .Call(C_session_known, handle, bytes),
    restore = function(kept) {
      if (is.null(handle)) new()
      .Call(C_session_restore, handle, kept$bytes)
      if (!is.null(kernel$host)) assign("state", kept$state, kernel$host$env)
      news <<- sums <<- list()
    },
    pulls = function() .Call(C_session_pulls, handle),
    arms = function() {
      if (is.null(handle)) new()
      none <- rep(NA_real_, k)
      out <- list(pulls = .Call(C_session_pulls, handle), rewards = none, releases = none, flip = flip)
      if (!sums_are_public) return(out)
      report <- with_host(kernel, .Call(C_session_report, handle))
      out$report <- stats::setNames(asplit(report, 1), REPORT)
      out$rewards <- report[1, ]
      out$releases <- if (flip > 0) out$rewards else
        pmax(report[match("terms", REPORT), ], report[match("looks", REPORT), ])
      out
    },
    paid = function() .Call(C_session_paid, handle)
  )
}
