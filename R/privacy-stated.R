# The guarantee of a replay. A rejection replay reads events one by one, asks the policy for an arm
# and keeps the event if that is the arm of the log. Someone who knows the log's arms can infer every choice
# of the policy from the kept events, and for discarded events that it was another arm.
#
# * Policies that release noisy sums: each reward is in its releases once, whether or not other events are
#   kept, and all else is post-processing. The guarantee is that of a live run.
# * Gaussian Thompson sampling is private because of its draws. Every event read is a draw, kept or not, and a
#   discarded event adds no reward to the arm. The accountants that count draws charge all events read.
# * If the log's arms are uniform, secret and independent of all else, kept events have the distribution of a
#   live run: the guarantee of a live run then holds for the arms of the kept events.

# The statement of a replay
#
# `policy`: A policy.
# `events`: How many events the log has: all may be read.
# `arms`, `delay`, `pools`: As in conditions(). `pools`: may an arm be off offer?
# `logger`: `"known"`, or `"secret"`: uniform, secret and independent arms.
# `horizon`: The most events that are kept.
# Returns A guarantee of kind `stated`: it prints as sentences, and dpts_privacy() draws it.
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

# A guarantee whose conditions are settled
guarantee_stated <- function(part, at) guarantee_around("stated", part, at = at)

unstated <- function(guarantee) {
  while (identical(guarantee$kind, "stated")) guarantee <- guarantee$part
  guarantee
}

kind_stated <- list(
  conditions = function(g, at) g$at,
  fixed = function(g) TRUE,
  words = function(g, digits) sprintf("%s, %s", format(settle(g), digits = digits), words_stated(g)),
  sentences = function(g, digits) stated_sentences(g, digits)
)

# The guarantee of a policy that is restarted every `every` rounds: each reward is used in one life, and lives
# share no randomness (parallel composition)
guarantee_of_lives <- function(guarantee, every) {
  if (is_fixed(guarantee)) return(guarantee)
  if (identical(guarantee$kind, "lives")) return(replace(guarantee, "every", min(guarantee$every, every)))
  guarantee_around("lives", guarantee, every = every)
}

# A life ends after `every` kept events. Where events that are read are charged, all of them may be read in
# one life.
kind_lives <- list(
  conditions = function(g, at) {
    read <- at$source == "replay" && !is.null(form(g$part, "rounds", at))
    if (!read) at$horizon <- min(at$horizon, g$every)
    at
  },
  words = function(g, digits) format(g$part, digits = digits),
  sentences = function(g, digits) {
    c(guarantee_sentences(g$part, digits),
      sprintf(paste("The policy restarts every %s rounds, and each reward is used in one of its lives:",
                    "only the rounds of one life add up."), label_count(g$every)))
  }
)

# A stated guarantee under its conditions, as mu-GDP where there is a mu
settle <- function(x) {
  mu <- form(x$part, "mu", x$at)
  if (is.null(mu) || !is.null(form(x$part, "epsilon", x$at))) return(x$part)
  guarantee_gdp(mu, neighbours = x$neighbours, published = x$published)
}

words_stated <- function(x) {
  if (x$at$source == "live") return(sprintf("over %s rounds", label_count(x$at$horizon)))
  sprintf("in a replay, the log's arms %s", if (x$at$source == "secret") "secret" else "known")
}

# The privacy of the published arms alone, as GDP up to a nu, if it is stronger
near_sentence <- function(x, digits, nu = 1e-7) {
  near <- form(x$part, "near", x$at)
  if (is.null(near) || !near$free || near$least >= nu) return(NULL)
  mu <- near$mu(nu)
  if (mu > 0.99 * form(x$part, "mu", x$at)) return(NULL)
  sprintf("Up to nu = %s it is %s-GDP: delta is at most gdp_delta(%s, epsilon) + %s.", number_text(nu),
          format_up(mu, digits), format_up(mu, digits), number_text(nu))
}

stated_sentences <- function(x, digits) {
  at <- x$at
  drawn <- !is.null(form(x$part, "rounds", at))
  what <- switch(at$source, live = "rounds", secret = "kept events",
                 replay = if (drawn) "events read" else "kept events")
  number <- guarantee_sentences(settle(x), digits)
  c(
    if (drawn) sub(": over the whole run.*", ".", number) else number,
    near_sentence(x, digits),
    sprintf("This is for %s %s of %s%s%s.", words_whole(at$horizon),
            what, count_noun(at$arms, "arm", "arms"),
            if (at$pools) ", not always available" else ", always available",
            if (at$delay > 0) ", rewards late" else ""),
    switch(
      at$source,
      replay = if (drawn) {
        paste("The log's arms may be known: every event read is a draw of the policy, kept or not,",
              "and is charged. The accountants of the published arms do not apply.")
      } else {
        paste("The log's arms may be known: a reward is in the policy's releases once, whichever",
              "other events are kept.")
      },
      secret = paste("The log's arms are taken as uniform, secret and independent of all else, so",
                     "that kept events have the distribution of a live run. To someone who knows",
                     "the log's arms it does not apply.")
    )
  )
}
