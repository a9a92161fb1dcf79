# What a replay promises. A rejection replay reads events one by one, asks the policy for an arm
# and keeps the event if that is the arm of the log. Who knows the log's arms sees from the kept
# events every choice of the policy, of discarded events too ("not that arm").
#
# * Policies that release noisy sums or means: each reward is in its releases once, whether or
#   not other events are kept, and all else is post-processing. The statement is the live one.
# * Gaussian Thompson sampling is private in its draws: every event read is a draw, kept or not,
#   and a discarded one does not let the arm's rewards grow. Events read are charged, by the
#   accountants that count draws.
# * Where the log's arms are uniform, secret and independent of all else, kept events have the
#   distribution of a live run: then the live statement holds of the kept events' arms.

#' The statement of a replay
#'
#' @param policy A policy.
#' @param events How many events the log has: all may be read.
#' @param arms,delay,pools As in conditions(). `pools`: may an arm be off offer?
#' @param logger `"known"`, or `"secret"`: uniform, secret and independent arms.
#' @param horizon The most events that are kept.
#' @returns A guarantee of kind `stated`: it prints as sentences, and dpts_privacy() draws it.
#' @noRd
replay_statement <- function(policy, events, arms, delay = 0, pools = FALSE,
                             logger = c("known", "secret"), horizon = events) {
  logger <- check_choice(logger, c("known", "secret"))
  guarantee <- policy$guarantee
  if (promises_nothing(guarantee)) return(guarantee)
  live <- logger == "secret" || is.null(form(guarantee, "rounds", conditions(events, arms)))
  guarantee_stated(guarantee, conditions(
    horizon = if (live) min(horizon, events) else events, arms, delay, pools,
    source = if (logger == "secret") "secret" else "replay"
  ))
}

#' @noRd
words_stated <- function(x) {
  at <- x$at
  rounds <- format(at$horizon, big.mark = ",", scientific = FALSE)
  switch(at$source,
         live = sprintf("over %s rounds", rounds),
         replay = sprintf("in a replay of at most %s events, arms of the log known", rounds),
         secret = sprintf("over %s kept events, arms of the log secret", rounds))
}

#' @noRd
stated_sentences <- function(x, digits) {
  at <- x$at
  words <- paste0("Stated for ", format(at$horizon, big.mark = ",", scientific = FALSE), " ",
                  switch(at$source, live = "rounds", replay = "events", secret = "kept events"),
                  " of ", count_noun(at$arms, "arm", "arms"),
                  if (at$pools) ", not all of them always on offer" else "",
                  if (at$delay > 0) ", with late rewards" else "", ".")
  drawn <- !is.null(form(x$part, "rounds", at))
  how <- switch(
    at$source,
    replay = if (drawn) {
      paste("The log's arms are taken as known: every event read is a draw of the policy, kept or",
            "not, and is charged. The accountants of the published arms do not apply.")
    } else {
      paste("The log's arms may be known: a reward is in the policy's releases once, whichever",
            "other events are kept.")
    },
    secret = paste("The log's arms are taken as uniform, secret and independent of all else: kept",
                   "events then have the distribution of a live run. Of someone who knows the",
                   "log's arms this says nothing.")
  )
  c(guarantee_sentences(x$part, digits), words, how)
}
