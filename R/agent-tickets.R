# Tickets: a choice is a ticket, whose reward comes once, late, out of order, or never.

# n strings that nobody can guess: 128 bits each
new_tickets <- function(n) {
  hex <- .Call(C_hex, system_bytes(16 * n))
  first <- 32 * seq_len(n) - 31
  substring(hex, first, first + 31)
}

# Which of these strings may be tickets: nothing else is looked up in a store.
may_be_tickets <- function(x) grepl("^[0-9a-f]{32}\\z", x, perl = TRUE, useBytes = TRUE)

# Person identifiers as keyed hashes: HMAC-SHA256 (RFC 2104) with a key that never leaves the store
hash_person <- function(person, key) {
  key <- c(key, raw(64 - length(key)))
  hash <- function(pad, bytes) cli::hash_raw_sha256(c(xor(key, as.raw(pad)), bytes))
  vapply(person, function(text) hash(0x5c, .Call(C_unhex, hash(0x36, charToRaw(text)))), "",
         USE.NAMES = FALSE)
}

# Resolve tickets past their deadline: with the reward that waited, or with `missing`
resolve_due <- function(agent, tx) {
  if (is.na(tx$next_due) || tx$next_due > tx$now) return(invisible())
  agent$open <- new.env()
  due <- agent$store$due(tx$now)
  waited <- due$status == TICKET[["waiting"]]
  reward <- if (is.null(agent$terms$window)) due$reward else mean_of_parts(agent, due)
  use_rewards(agent, tx, due, ifelse(waited, reward, NA_real_))
  # What is left, once these are resolved
  tx$find_next_due <- TRUE
}

# In an agent with a `window`: of what was reported for each of these tickets the mean, NA for nothing,
# rounded to the grid once. (Parts are sorted, since a sum of doubles depends on their order.)
mean_of_parts <- function(agent, tickets) {
  parts <- agent$store$answered(0L, tickets$ticket)
  means <- as.vector(tapply(as.numeric(parts$reward), factor(parts$ticket, tickets$ticket), mean_in_window))
  waited <- tickets$status == TICKET[["waiting"]]
  if (anyNA(means[waited])) abort_store("the rewards of a ticket cannot be read")
  means
}

mean_in_window <- function(x) on_grid(mean(sort(x, na.last = TRUE)))

# By the clock: blocks that take people at a multiple of `block_time` end. `last`: the time of the last
# change. What is released then has its noise, so that the change must be written.
end_blocks <- function(agent, tx, last) {
  every <- agent$terms$block_time
  if (is.null(every) || agent$over || agent$life$then != "go" || agent$life$moved) return(invisible())
  if (floor(tx$now / every) <= floor(last / every)) return(invisible())
  session_close(agent$session)
  note_events(tx, "end of block")
}

# A ticket that was given out is often the next that is asked for: it is remembered until then, or until
# anything else may have changed it. After an error, or when another process has written, the state is read
# again, and nothing is remembered.
remember_open <- function(agent, tickets) {
  n <- length(tickets$ticket)
  if (n > 100) return(invisible()) # their time would be a tenth of the call's
  if (length(agent$open) + n > 1000) agent$open <- new.env()
  rows <- c(tickets[c("ticket", "t", "arm", "batch", "time", "status", "probability")],
            list(reward = rep(NA_real_, n), context = rep(NA_character_, n)))
  list2env(stats::setNames(rep(list(rows), n), tickets$ticket), agent$open)
}

# Rows of tickets, as the store has them or as they were given out. A ticket that
# is read leaves the cache of open tickets, or its reward could be used twice.
open_tickets <- function(agent, ids) {
  if (length(ids) != 1) agent$open <- new.env()
  rows <- if (length(ids) == 1) agent$open[[ids]]
  if (is.null(rows)) return(of_known_arms(agent, agent$store$tickets(ids)))
  rm(list = ids, envir = agent$open)
  if (length(rows$ticket) == 1) rows else some_tickets(rows, match(ids, rows$ticket))
}

# Tickets or persons of the store. Another process may have added their arm: then what is known here is old,
# and agent_transact() tries the change again.
of_known_arms <- function(agent, rows) {
  k <- length(agent$terms$arms)
  if (any(rows$arm > k, na.rm = TRUE)) abort_store("the arm of a ticket cannot be read")
  rows
}

# Give rewards to the policy, NA for none in time, and note what becomes of their tickets. An agent beyond its
# budget learns nothing: its rewards are resolved as missing, and forgotten.
use_rewards <- function(agent, tx, tickets, reward) {
  if (!length(reward)) return(invisible())
  came <- !is.na(reward) & !agent$over
  value <- ifelse(came, reward, agent$terms$missing)
  if (!agent$over) feed_rewards(agent, tickets, value)
  agent$outstanding <- agent$outstanding - tabulate(tickets$arm, length(agent$outstanding))
  status <- ifelse(came, "used", "missing")
  note_events(tx, if (agent$silent) rep("resolved", length(reward)) else status, tickets)
  # Without releases a reward is inside the policy's state at once.
  gone <- agent$over || (!agent$releases && !agent$terms$keep_rewards)
  if (gone && agent$silent) status[] <- "done"
  note_resolved(tx, tickets$ticket, unname(TICKET[status]), if (gone) NA * reward else reward)
  if ((gone && any(!is.na(reward))) || any(!is.na(tickets$context))) tx$forgotten <- TRUE
  if (!is.null(agent$terms$window)) {
    forget_answers(agent, tx, 0L, tickets$t[tickets$status == TICKET[["waiting"]]])
  }
}

feed_rewards <- function(agent, tickets, value) {
  session <- agent$session
  terms <- agent$terms
  if (length(value) > 100 && is.null(session$dim) && !is_custom(terms$policy)) {
    return(session_feed_all(session, tickets$t, tickets$arm, as.double(tickets$batch), value))
  }
  wrong <- function(...) abort_store("the context of a ticket cannot be read")
  for (i in seq_along(value)) {
    context <- tryCatch(read_context(tickets$context[i], !is.null(session$dim)), error = wrong)
    if (!is.null(session$dim) && !(is.double(context) && length(context) == session$dim)) wrong()
    session_feed(session, tickets$t[i], tickets$arm[i], tickets$batch[i], value[i], context)
  }
}

# A context as the text that a store keeps: numbers by their bytes, since unserialize() of nonsense may end R;
# any other value, of a policy in R, as R writes it
write_context <- function(context, numbers = FALSE) {
  if (!numbers) return(.Call(C_hex, serialize(context, NULL)))
  paste0("n", .Call(C_hex, writeBin(as.double(context), raw())))
}

# `numbers`: must it be numbers?
read_context <- function(text, numbers = FALSE) {
  if (!length(text) || is.na(text)) return(NULL)
  if (!startsWith(text, "n")) return(if (!numbers) unserialize(.Call(C_unhex, text)))
  bytes <- .Call(C_unhex, substring(text, 2))
  readBin(bytes, "double", length(bytes) / 8)
}

# Tickets as they are in the middle of a change
as_of_now <- function(rows, tx) {
  if (!length(tx$resolved$ticket)) return(rows)
  fresh <- match(rows$ticket, tx$resolved$ticket)
  rows$status <- ifelse(is.na(fresh), rows$status, tx$resolved$status[fresh])
  rows$reward <- ifelse(is.na(fresh), rows$reward, tx$resolved$reward[fresh])
  rows
}

# The i-th of tickets that are columns
some_tickets <- function(tickets, i) lapply(tickets, `[`, i)

# What a transaction will write, collected in `tx`

note_resolved <- function(tx, ticket, status, reward) {
  tx$resolved <- with_rows(tx$resolved, list(status = status, reward = reward, ticket = ticket))
}

# Reports of outcome h (0: of the reward, in a window), and which are forgotten
note_answers <- function(tx, rows, h, reward, part, batch = rows$batch) {
  if (!length(reward)) return(invisible())
  tx$answers <- with_rows(tx$answers, list(ticket = rows$ticket, outcome = rep(h, length(reward)),
                                           part = part, arm = rows$arm, batch = batch, reward = reward))
}

forget_answers <- function(agent, tx, h, batch, always = FALSE) {
  if (!length(batch) || agent$terms$keep_rewards && !always) return(invisible())
  tx$answered <- with_rows(tx$answered, list(outcome = rep(h, length(batch)), batch = batch))
  tx$forgotten <- TRUE
}

# Events of tickets, or of none: then t and arm say what they are about. What an operator did has a name and a
# `reason`.
note_events <- function(tx, kind, about = list(), reason = tx$reason) {
  n <- length(kind)
  if (n == 0) return(invisible())
  by <- !is.null(reason) & kind %in% OPERATED
  new <- list(kind = kind, ticket = about$ticket %||% rep(NA_character_, n),
              t = about$t %||% rep(NA_real_, n), arm = about$arm %||% rep(NA_integer_, n),
              who = ifelse(by, operator(), NA_character_),
              note = about$note %||% ifelse(by, reason %||% NA, NA_character_))
  tx$events <- with_rows(tx$events, new)
}

# Columns, with more rows
with_rows <- function(old, new) if (is.null(old)) new else Map(c, old, new)

# After rewards: which batches were released, and which rewards can be forgotten. Where a missing answer is
# protected, whether there was one is forgotten too.
note_releases <- function(agent, tx) {
  new <- take_batches(agent$session)
  n <- length(new$arm)
  if (n == 0) return(invisible())
  note_events(tx, rep("release", n), list(t = new$batch, arm = new$arm))
  if (agent$terms$keep_rewards) return(invisible())
  tx$forget <- c(new, list(status = rep(if (agent$silent) TICKET[["done"]] else NA_integer_, n)))
}

# Who people were is forgotten when it is not needed any more, with the first call in an hour. -> is there
# anything to forget?
forget_who <- function(agent, tx, last) {
  if (floor(tx$now / 3600) <= floor(last / 3600)) return(FALSE)
  terms <- agent$terms
  life <- agent$life
  tx$keys_before <- tx$now - (terms$retention %||% 86400)
  over <- !is.null(terms$max_per_person) && !life$forgotten && tx$now >= life$ended + keeps_persons(terms)
  tx$no_persons <- isTRUE(over)
  if (tx$no_persons) {
    agent$life$forgotten <- TRUE
    agent$counted <- 0
  }
  found <- tx$no_persons || agent$store$has_keys(tx$keys_before)
  if (found) tx$forgotten <- tx$find_next_due <- TRUE # who looks, looks once that is written
  found
}

# Seconds after the end in which persons are told apart
keeps_persons <- function(terms) {
  terms$retention %||% if (terms$deadline < Inf) terms$deadline else 86400
}
