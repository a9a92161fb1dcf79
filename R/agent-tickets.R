# Tickets: a choice is a ticket, whose reward comes once, late, out of order, or never.

#' What becomes of a ticket, as it is stored. `done`: resolved and forgotten, with or without a
#' reward, where that difference is protected.
#' @noRd
TICKET <- c(open = 0L, waiting = 1L, used = 2L, missing = 3L, capped = 4L, done = 5L)

#' n strings that nobody can guess: 128 bits each
#' @noRd
new_tickets <- function(n) {
  hex <- .Call(C_hex, system_bytes(16 * n))
  first <- 32 * seq_len(n) - 31
  substring(hex, first, first + 31)
}

#' Person identifiers as keyed hashes: HMAC-SHA256 with a key that never leaves the store
#' @noRd
hash_person <- function(person, key) {
  as.character(openssl::sha256(enc2utf8(person), key = key))
}

#' Resolve tickets past their deadline: with the reward that waited, or with `missing`
#' @noRd
resolve_due <- function(agent, tx) {
  if (is.na(tx$next_due) || tx$next_due > tx$now) return(invisible())
  due <- agent$store$due(tx$now)
  for (i in seq_len(nrow(due))) {
    waited <- due$status[i] == TICKET[["waiting"]]
    use_reward(agent, tx, due[i, ], if (waited) due$reward[i] else NA)
  }
  # What is left, once these are resolved
  tx$find_next_due <- TRUE
}

#' Give one reward to the policy, NA for none in time, and note what becomes of its ticket
#' @noRd
use_reward <- function(agent, tx, ticket, reward) {
  came <- !is.na(reward)
  agent$engine$feed(ticket$t, ticket$arm, ticket$batch,
                    if (came) reward else agent$terms$missing, ticket_context(ticket))
  status <- if (came) "used" else "missing"
  # Without releases a reward is inside the policy's state at once.
  gone <- !agent$releases && !agent$terms$keep_rewards
  if (gone && agent$silent) status <- "done"
  note_resolved(tx, ticket$ticket, TICKET[[status]], if (came && !gone) reward else NA_real_)
  note_event(tx, if (agent$silent) "resolved" else status, ticket)
  if (came && gone) tx$forgotten <- TRUE
}

ticket_context <- function(ticket) {
  bytes <- ticket$context[[1]]
  if (is.raw(bytes)) unserialize(bytes)
}

# What a transaction will write, collected in `tx`

note_resolved <- function(tx, ticket, status, reward) {
  i <- length(tx$resolved$ticket) + 1
  tx$resolved$ticket[i] <- ticket
  tx$resolved$status[i] <- status
  tx$resolved$reward[i] <- reward
}

note_events <- function(tx, columns) {
  for (name in names(columns)) tx$events[[name]] <- c(tx$events[[name]], columns[[name]])
}

note_event <- function(tx, kind, ticket = NULL, t = NA_real_, arm = NA_integer_) {
  note_events(tx, list(kind = kind, ticket = ticket$ticket %||% NA_character_,
                       t = ticket$t %||% t, arm = as.integer(ticket$arm %||% arm)))
}

#' After rewards: which batches were released, and which rewards can be forgotten
#' @noRd
note_releases <- function(agent, tx) {
  for (batch in agent$engine$released()) {
    note_event(tx, "release", t = batch$batch, arm = batch$arm)
    if (!agent$terms$keep_rewards) {
      tx$forget <- c(tx$forget, list(c(batch, silent = agent$silent)))
    }
  }
}
