# Where an agent lives. A store is a list of functions on these tables:
#   dpts_agent       one row: who the agent is, the clock and counters
#   dpts_page        the policy's state and what else changes, in pages, with the change that wrote each: a
#                    change writes those that it changed, and who reads has those that it needs
#   dpts_definition  one row that never changes: policy, arms, rules
#   dpts_ticket      one row per choice; its reward until that is forgotten
#   dpts_event       the journal: rows are added, never changed (a trigger sees to that); each holds a digest
#                    of itself and of the row before (R/agent-chain.R)
#   dpts_outcome     answers of other outcomes than the reward, until their block is released; and, as outcome
#                    0, the rewards of a `window` until it is due, with the ticket's round as `batch`. part:
#                    the name of one of several reports of a window, "" where a ticket has one
#   dpts_release     the release table, as at the head of R/releases.R, and of which outcome a row is (0: of
#                    the reward)
#   dpts_person      by keyed hash: how many choices of each person count, and the last of them
#
#   begin(seq, how, after)  the agent's head, with `known`, the journal's digest after entry `after`, and with
#                    `state`, pages of its state that change number `seq` did not leave as they are (their
#                    `numbers` and `bytes`), unless that was the last change. how: "lock" keeps everybody else
#                    out until commit() or rollback(); "read" looks at what is there; "remember" may be what
#                    was last seen here
#   commit(changes)  writes tickets, journal, counters and state in one transaction -> TRUE, once
#                    they are durable; FALSE, with nothing written, if another process has written
#                    since begin()
#   rollback()       leaves all as it was
#   create(rows)     makes the tables and these first rows in them: columns, by table
#   tables()         all rows, as create() takes them
#   answers(outcome, batch), answered(outcome, ids), tickets(ids), asked(key), of_persons(ids), persons(ids),
#   due(now), ahead(now), kept(what), log(n), has_keys(before), course(from, to, width),
#   releases(outcome, from), journal(where), digest(entry), tallies(from, to), newest(), counted(),
#   totals(from, to), missing(from, to), count(kind)      look
#
# Locking is optimistic: each change raises `seq`, and nothing is written unless `seq` and the state are still
# those that the change was computed from, and the agent the one that the handle was opened on. On SQLite a
# single process so needs one statement for a choice, and under contention the second try takes the lock;
# PostgreSQL takes it at once.

# The format of a store; a store of another one is refused. Raise it when a table or the trigger changes (a
# test compares checksums of both), or when a value that is kept would be misread: a status, the head, the
# life, a term of the definition, a checksum. Do not raise it for a new term whose absence (NULL) means what
# was so before, nor for the layout of a session or of a policy's state: these have versions of their own
# (play_session_save.c).
STORE_VERSION <- 17

# A checksum of bytes, as text
checksum <- function(bytes) .Call(C_checksum, bytes)

# Who an agent is, whatever else may lie in the same database
new_identity <- function(sum) paste0(.Call(C_hex, system_bytes(16)), "-", sum)

# What becomes of a ticket, as it is stored. `done`: resolved and forgotten, with or without a
# reward, where that difference is protected. `beyond`: of a choice that was no round of the policy.
# `returned`: drawn in advance, and used by nobody.
TICKET <- c(open = 0L, waiting = 1L, used = 2L, missing = 3L, beyond = 4L, done = 5L, returned = 6L)

COUNTED_AT_ONCE <- 2.5e4 # tickets: 0.02 s of processor time

# The columns of the agent's head that change. `seq` counts all changes; `entry` only those that the journal
# tells of, and is what it shows: how many others there were may be protected.
HEAD <- c("seq", "entry", "clock", "next_due", "restored", "pages", "journal", "state_sum")

# Columns of the journal beside the number of the change, the part of it, the time and the digest
EVENT <- c("kind", "ticket", "t", "arm", "who", "note")

# Tickets that are not resolved, those of them that a deadline will resolve, those that are resolved and have
# the key of a call, and those whose batch may be released
UNRESOLVED <- sprintf("status IN (%d, %d)", TICKET[["open"]], TICKET[["waiting"]])
DUE <- paste(UNRESOLVED, "AND due IS NOT NULL")
WITH_KEY <- sprintf("asked IS NOT NULL AND status NOT IN (%d, %d)", TICKET[["open"]], TICKET[["waiting"]])
IN_BATCH <- sprintf("status IN (%d, %d)", TICKET[["used"]], TICKET[["missing"]])

# Rows for tables beside the agent's own that a change may have
CHANGED <- c("tickets", "resolved", "forget", "persons", "events", "releases", "paged", "moved", "erased",
             "answers", "answered")

# The tables, and the view by which they are changed: a row of it is one change, with the rows for each table
# as JSON, which its trigger writes, or a function on PostgreSQL. `sql`: a dialect, with its names of types
# and functions, and `at`, what comes before the name of a table.
schema_tables <- function(sql) {
  table <- function(name) paste0(sql$at, name)
  c(
    sprintf("CREATE TABLE %s (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, identity TEXT NOT NULL,
      seq %2$s NOT NULL, entry %2$s NOT NULL, clock %2$s NOT NULL, next_due %2$s,
      restored %2$s NOT NULL, pages INTEGER NOT NULL, journal TEXT NOT NULL, state_sum TEXT NOT NULL)",
      table("dpts_agent"),
      sql$number),
    sprintf("CREATE TABLE %s (page INTEGER PRIMARY KEY, seq %s NOT NULL, bytes %s NOT NULL)",
            table("dpts_page"), sql$number, sql$blob),
    sprintf("CREATE TABLE %s (id INTEGER PRIMARY KEY, definition %s NOT NULL,
      definition_sum TEXT NOT NULL)", table("dpts_definition"), sql$blob),
    # t: the round, NULL for a choice that was none. asked: the key of the call that it came with, which was
    # asked for a person (by hash), and for asked_n choices in all, where persons are told apart
    sprintf("CREATE TABLE %s (id %s PRIMARY KEY, ticket TEXT NOT NULL UNIQUE, t %3$s, arm INTEGER NOT NULL,
      batch %3$s NOT NULL, time %3$s NOT NULL, due %3$s, status INTEGER NOT NULL, reward %3$s, context TEXT,
      asked TEXT, asked_for TEXT, asked_n INTEGER, probability %3$s)",
      table("dpts_ticket"), sql$row_number, sql$number),
    sprintf("CREATE INDEX dpts_ticket_due ON %s (due) WHERE %s", table("dpts_ticket"), DUE),
    sprintf("CREATE INDEX dpts_ticket_batch ON %s (arm, batch) WHERE %s", table("dpts_ticket"), IN_BATCH),
    sprintf("CREATE INDEX dpts_ticket_asked ON %s (asked) WHERE asked IS NOT NULL", table("dpts_ticket")),
    sprintf("CREATE TABLE %s (seq %2$s NOT NULL, part INTEGER NOT NULL, time %2$s NOT NULL,
      kind TEXT NOT NULL, ticket TEXT, t %2$s, arm INTEGER, who TEXT, note TEXT, digest TEXT NOT NULL,
      PRIMARY KEY (seq, part)) %3$s",
      table("dpts_event"), sql$number, sql$by_key),
    sprintf("CREATE TABLE %s (ticket TEXT NOT NULL, outcome INTEGER NOT NULL, part TEXT NOT NULL,
      arm INTEGER NOT NULL, batch %s NOT NULL, reward %2$s, PRIMARY KEY (ticket, outcome, part))",
             table("dpts_outcome"), sql$number),
    sprintf("CREATE INDEX dpts_outcome_batch ON %s (outcome, batch)", table("dpts_outcome")),
    sprintf("CREATE TABLE %s (id %s PRIMARY KEY, outcome INTEGER NOT NULL, arm INTEGER NOT NULL, %s)",
            table("dpts_release"), sql$row_number,
            paste(RELEASE[-1], sql$number, ifelse(RELEASE[-1] == "squares", "", "NOT NULL"),
                  collapse = ", ")),
    sprintf("CREATE TABLE %s (person TEXT PRIMARY KEY, pulls INTEGER NOT NULL, arm INTEGER NOT NULL,
      ticket TEXT NOT NULL)", table("dpts_person")),
    sprintf("CREATE VIEW %s AS SELECT version, identity, %s, %s, CAST('' AS %s) AS bytes, 0 AS find_next_due,
               CAST(NULL AS %s) AS keys_before, 0 AS no_persons FROM %s",
      table("dpts_change"), paste(HEAD, collapse = ", "),
      paste0("CAST('' AS TEXT) AS ", c(CHANGED, "sum_before", sql$asks), collapse = ", "),
      sql$blob, sql$number, table("dpts_agent")),
    sql$triggers(paste0(vapply(change_statements(sql), paste0, "", ";"), collapse = "\n"))
  )
}

# How a change is written, by names without a schema; the first statement must find its row. Most changes have
# rows for few tables.
change_statements <- function(sql) {
  fields <- function(types) paste(mapply(sql$field, seq_along(types) - 1, types), collapse = ", ")
  number <- sql$number
  field <- function(i, type) sql$field(i, type)
  each <- function(column, ...) sql$if_so(sprintf("NEW.%s <> '[]'", column), sprintf(...))
  c(
    sprintf("UPDATE dpts_agent SET %s WHERE id = 1 AND version = NEW.version AND seq = NEW.seq - 1
               AND identity = NEW.identity AND state_sum = NEW.sum_before",
            paste0(HEAD, " = NEW.", HEAD, collapse = ", ")),
    sql$or_fail,
    # Each row of `paged` is a page's number and where it begins in the bytes of all new pages.
    each("paged", "INSERT INTO dpts_page (page, seq, bytes)
               SELECT %s, NEW.seq, substr(NEW.bytes, %s, %d) FROM %s
               WHERE 1 = 1 ON CONFLICT (page) DO UPDATE SET seq = excluded.seq, bytes = excluded.bytes",
         field(0, "INTEGER"), field(1, "INTEGER"), IMAGE_PAGE, sql$rows("paged")),
    "DELETE FROM dpts_page WHERE page >= NEW.pages",
    each("tickets", "INSERT INTO dpts_ticket (ticket, t, arm, batch, time, due, status, context, asked,
               asked_for, asked_n, probability) SELECT %s FROM %s",
         fields(c("TEXT", number, "INTEGER", number, number, number, "INTEGER", "TEXT", "TEXT", "TEXT",
                  "INTEGER", number)),
         sql$rows("tickets")),
    each("resolved", "UPDATE dpts_ticket SET status = %s, reward = %s,
               context = CASE WHEN %s = 0 THEN context END FROM %s WHERE ticket = %s",
         field(1, "INTEGER"), field(2, number), field(3, "INTEGER"), sql$rows("resolved"), field(0, "TEXT")),
    # Rewards go out of the tickets of a released batch. Where a missing answer is protected, whether there
    # was one goes too: the batch's tickets get another status.
    each("forget", "UPDATE dpts_ticket SET reward = NULL, status = coalesce(%s, status) FROM %s
               WHERE arm = %s AND batch = %s AND %s", field(2, "INTEGER"), sql$rows("forget"),
         field(0, "INTEGER"), field(1, number), IN_BATCH),
    each("moved", "UPDATE dpts_ticket SET time = %s, due = %s FROM %s WHERE ticket = %s", field(1, number),
         field(2, number), sql$rows("moved"), field(0, "TEXT")),
    # What tells who somebody is goes when it is not needed any more.
    sql$if_so("NEW.keys_before IS NOT NULL", sprintf(
      "UPDATE dpts_ticket SET asked = NULL, asked_for = NULL
               WHERE NEW.keys_before IS NOT NULL AND time <= NEW.keys_before AND %s", WITH_KEY)),
    sql$if_so("NEW.no_persons = 1", "DELETE FROM dpts_person WHERE NEW.no_persons = 1"),
    sql$if_so("NEW.no_persons = 1", "UPDATE dpts_ticket SET asked_for = NULL
               WHERE NEW.no_persons = 1 AND asked IS NOT NULL"),
    each("erased", "DELETE FROM dpts_person WHERE person IN (SELECT %s FROM %s)", field(0, "TEXT"),
         sql$rows("erased")),
    each("erased", "UPDATE dpts_ticket SET asked = NULL, asked_for = NULL,
               reward = CASE WHEN %1$s = 1 THEN reward END, context = CASE WHEN %1$s = 1 THEN context END
               FROM %2$s WHERE ticket = %3$s", field(2, "INTEGER"), sql$rows("erased"), field(1, "TEXT")),
    each("persons", "INSERT INTO dpts_person (person, pulls, arm, ticket) SELECT %s FROM %s WHERE 1 = 1
               ON CONFLICT (person) DO UPDATE SET pulls = excluded.pulls, arm = excluded.arm,
               ticket = excluded.ticket", fields(c("TEXT", "INTEGER", "INTEGER", "TEXT")),
         sql$rows("persons")),
    each("events", "INSERT INTO dpts_event (seq, time, part, kind, ticket, t, arm, who, note, digest)
               SELECT NEW.entry, NEW.clock, %s FROM %s",
         fields(c("INTEGER", "TEXT", "TEXT", number, "INTEGER", "TEXT", "TEXT", "TEXT")), sql$rows("events")),
    each("answers", "INSERT INTO dpts_outcome (ticket, outcome, part, arm, batch, reward)
               SELECT %s FROM %s WHERE 1 = 1
               ON CONFLICT (ticket, outcome, part) DO UPDATE SET reward = excluded.reward",
         fields(c("TEXT", "INTEGER", "TEXT", "INTEGER", number, number)), sql$rows("answers")),
    each("answered", "DELETE FROM dpts_outcome WHERE (outcome, batch) IN (SELECT %s FROM %s)",
         fields(c("INTEGER", number)), sql$rows("answered")),
    each("releases", "INSERT INTO dpts_release (outcome, %s) SELECT %s FROM %s",
         paste(RELEASE, collapse = ", "),
         fields(c("INTEGER", "INTEGER", rep(number, length(RELEASE) - 1))), sql$rows("releases")),
    sql$if_so("NEW.find_next_due = 1",
              sprintf("UPDATE dpts_agent SET next_due = (SELECT min(due) FROM dpts_ticket WHERE %s)
               WHERE id = 1 AND NEW.find_next_due = 1", DUE))
  )
}

# Makes the tables with these first rows, in one transaction
store_create <- function(server, sql, rows) {
  on.exit(server$rollback())
  server$begin()
  server$send(schema_tables(sql))
  for (table in names(rows)) server$insert(table, rows[[table]])
  server$commit()
  on.exit() # it is done
}

# The row for dpts_change, columns named; CHANGED are rows of other tables, as columns
change_row <- function(changes) {
  events <- changes$events
  c(
    list(version = STORE_VERSION), changes[c("identity", "sum_before")], changes$agent,
    list(
      tickets = changes$tickets[c("ticket", "t", "arm", "batch", "time", "due", "status", "context", "asked",
                                  "asked_for", "asked_n", "probability")],
      resolved = changes$resolved[c("ticket", "status", "reward", "drop")],
      forget = changes$forget,
      persons = changes$persons[c("person", "pulls", "arm", "ticket")],
      events = c(list(part = seq_along(events$kind)), events[c(EVENT, "digest")]),
      releases = changes$releases,
      paged = list(changes$image$numbers, page_starts(changes$image)),
      moved = changes$moved[c("ticket", "time", "due")], erased = changes$erased,
      answers = changes$answers[c("ticket", "outcome", "part", "arm", "batch", "reward")],
      answered = changes$answered[c("outcome", "batch")],
      bytes = changes$image$bytes, find_next_due = as.integer(changes$find_next_due),
      keys_before = changes$keys_before %||% NA_real_, no_persons = as.integer(isTRUE(changes$no_persons))
    )
  )
}

# Tables and columns that make an agent, with the types of R. (Rows of tickets and releases are numbered anew,
# in their order: in a copy as well a round's row has no lower number than the round.)
stored <- function() list(
  dpts_definition = c(id = "integer", definition = "bytes", definition_sum = "text"),
  dpts_agent = c(id = "integer", version = "integer", identity = "text", seq = "number", entry = "number",
                 clock = "number", next_due = "number", restored = "number", pages = "integer",
                 journal = "text", state_sum = "text"),
  dpts_page = c(page = "integer", seq = "number", bytes = "bytes"),
  dpts_ticket = c(ticket = "text", t = "number", arm = "integer", batch = "number", time = "number",
                  due = "number", status = "integer", reward = "number", context = "text", asked = "text",
                  asked_for = "text", asked_n = "integer", probability = "number"),
  dpts_event = c(seq = "number", part = "integer", time = "number", kind = "text", ticket = "text",
                 t = "number", arm = "integer", who = "text", note = "text", digest = "text"),
  dpts_release = c(outcome = "integer", arm = "integer",
                   stats::setNames(rep("number", length(RELEASE) - 1), RELEASE[-1])),
  dpts_outcome = c(ticket = "text", outcome = "integer", part = "text", arm = "integer", batch = "number",
                   reward = "number"),
  dpts_person = c(person = "text", pulls = "integer", arm = "integer", ticket = "text")
)

# Of the agent's row `a`: which pages `p` have changed since change number `seq`. There is at least one if
# anything was changed. (All are written anew when their number changes. A store that went back to an older
# change is read as a whole.)
pages_since <- function(seq) sprintf("a.seq <> %1$s AND (p.seq > %1$s OR p.page = 0 OR a.seq < %1$s)", seq)

# As in src/play_image.h
IMAGE_PAGE <- 256L

# Where each new page begins in their bytes, from 1
page_starts <- function(image) IMAGE_PAGE * (seq_along(image$numbers) - 1L) + 1L

# A number as SQL reads it back
exactly <- function(x) {
  text <- sprintf("%.17g", x)
  if (sprintf("%.1f", 0.5) == "0.5") text else sub(",", ".", text, fixed = TRUE) # some locales write a comma
}

# A head with what these changes made of it
with_head <- function(head, new, names = HEAD) {
  head[names] <- new[names]
  head
}

# Rewards live on the grid of exact noise
on_grid <- function(reward) round(reward * 2^20) / 2^20

# Rewards in the units of the user, as the policy sees them: parts of the range, on the grid; and back
in_units <- function(reward, range) on_grid(in_shares(reward, range))
in_shares <- function(reward, range) (reward - range[1]) / (range[2] - range[1])
from_units <- function(x, range) range[1] + x * (range[2] - range[1])
# What counts for a missing answer, printed: more digits would show the grid.
missing_text <- function(x) number_text(from_units(x$missing, x$range), digits = 5)

# Ask for suggested packages by name, all that are missing at once, when they are needed
need_package <- function(packages, why) {
  missing <- packages[!vapply(packages, requireNamespace, NA, quietly = TRUE)]
  if (length(missing) == 0) return(invisible())
  quoted <- paste0("\"", missing, "\"", collapse = ", ")
  said <- if (length(missing) == 1) "Package %s is needed %s: install.packages(%s)." else
    "Packages %s are needed %s: install.packages(c(%s))."
  abort_dpts(sprintf(said, words_list(missing), why, quoted), "dpts_error_package")
}

# How long a process waits for the lock of another one, in milliseconds, and after how many seconds without a
# change a lock that can be given up is. A service has other requests to answer.
lock_limits <- function() list(patience = getOption("dpts.patience", 10000), silence = 30)

# Turn the words of a database into errors that say what to do. Every change is one transaction: the store is
# as it was, unless this was the writing of a change (`writes`), of which only the answer may have been lost.
with_store_errors <- function(expr, writes = FALSE) {
  tryCatch(expr, error = function(e) {
    if (inherits(e, "dpts_error")) raise_again(e)
    abort_store(conditionMessage(e), writes)
  })
}

abort_store <- function(said, writes = FALSE) {
  kinds <- list(
    full = list("disk is full|No space left|could not extend file",
                "The disk is full; nothing was changed. Make room and try again."),
    readonly = list("readonly database|read-only|unable to open database|permission denied",
                    "The store cannot be written; nothing was changed."),
    locked = list("database is locked|lock timeout|database table is locked",
                  "Another process holds the store's lock; nothing was changed. Try again."),
    damaged = list("malformed|not a database|disk I/O error|checksum|cannot be read",
                   paste("The store is damaged, or is none; nothing was changed. Restore a copy, and open it",
                         "by `agent_open(store, restored = TRUE)`.")),
    inside = list("within a transaction|invalid transaction termination",
                  paste("The connection is inside a transaction, which could take the change back; nothing",
                        "was changed. End it first.")),
    append = list("append-only", "The journal is append-only; nothing was changed."),
    closed = list("external pointer is not valid",
                  paste("This agent is not connected to its store: `saveRDS()` does not keep an agent, its",
                        "store does. `agent_open()` opens it again."))
  )
  hit <- Filter(function(name) grepl(kinds[[name]][[1]], said, ignore.case = TRUE), names(kinds))
  if (length(hit)) {
    words <- paste0(kinds[[hit[1]]][[2]], " The database says: ", said)
    abort_dpts(words, c(paste0("dpts_error_store_", hit[1]), "dpts_error_store"))
  }
  words <- if (!writes) "The store failed; nothing was changed." else paste(
    "The store failed, and it is not known whether this was changed. What has a `key` is done once, however",
    "often it is called.")
  abort_dpts(paste(words, "The database says:", said),
             c(if (writes) "dpts_error_store_unknown", "dpts_error_store"))
}
