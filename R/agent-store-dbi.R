# What the stores in SQLite and PostgreSQL share: the tables, and how they are read.

#' The tables. `sql`: a dialect, with the names of its types
#' @noRd
schema_tables <- function(sql) {
  with(sql, c(
    sprintf("CREATE TABLE dpts_agent (id INTEGER PRIMARY KEY, version INTEGER NOT NULL,
      seq %2$s NOT NULL, clock %2$s NOT NULL, next_due %2$s, late %2$s NOT NULL,
      restored %2$s NOT NULL, state %1$s NOT NULL, state_sum TEXT NOT NULL)", blob, number),
    sprintf("CREATE TABLE dpts_definition (id INTEGER PRIMARY KEY, definition %s NOT NULL,
      definition_sum TEXT NOT NULL)", blob),
    sprintf("CREATE TABLE dpts_ticket (t %3$s PRIMARY KEY, ticket TEXT NOT NULL UNIQUE,
      arm INTEGER NOT NULL, batch %2$s NOT NULL, time %2$s NOT NULL, due %2$s,
      status INTEGER NOT NULL, reward %2$s, context %1$s)", blob, number, row_number),
    sprintf("CREATE INDEX dpts_ticket_due ON dpts_ticket (due) WHERE %s", DUE),
    sprintf("CREATE INDEX dpts_ticket_batch ON dpts_ticket (arm, batch) WHERE %s", IN_BATCH),
    sprintf("CREATE TABLE dpts_event (seq %1$s NOT NULL, part INTEGER NOT NULL, time %1$s NOT NULL,
      kind TEXT NOT NULL, ticket TEXT, t %1$s, arm INTEGER, PRIMARY KEY (seq, part)) %2$s", number,
      by_key),
    "CREATE TABLE dpts_person (person TEXT PRIMARY KEY, pulls INTEGER NOT NULL)",
    # A row for this view is a change of one ticket: its trigger writes the tables.
    "CREATE VIEW dpts_step AS SELECT a.version, a.seq, a.clock, a.next_due, a.late, a.restored,
       a.state, a.state_sum, e.kind, i.ticket, i.t, i.arm, i.batch, i.time, i.due, i.status,
       i.reward, i.context
     FROM dpts_agent a, dpts_event e, dpts_ticket i",
    triggers
  ))
}

STEP <- c("version", "seq", "clock", "next_due", "late", "restored", "state", "state_sum", "kind",
          "ticket", "t", "arm", "batch", "time", "due", "status", "reward", "context")

step_sql <- function(values) {
  sprintf("INSERT INTO dpts_step (%s) VALUES (%s)", paste(STEP, collapse = ", "),
          paste(values, collapse = ", "))
}

# Tickets that a deadline will resolve, and those whose batch may be released, as the indices have them
DUE <- sprintf("status IN (%d, %d) AND due IS NOT NULL", 0L, 1L) # open, waiting
IN_BATCH <- sprintf("status IN (%d, %d)", 2L, 3L) # used, missing

#' A store in a database, but for begin(), commit() and rollback(). `run` and `query` send a statement;
#' its values are ? in SQLite and $1, $2, ... in PostgreSQL (`sql$places`). `look_up`: a `query` for
#' tickets by name, which each reward needs.
#' @noRd
store_dbi <- function(sql, run, query, transaction, look_up = query) {
  place <- sql$places(1)
  number <- function(x) sprintf("CAST(%s AS %s)", x, sql$number)
  insert <- function(table, columns) {
    run(sprintf("INSERT INTO %s (%s) VALUES (%s)", table, paste(names(columns), collapse = ", "),
                paste(sql$places(length(columns)), collapse = ", ")), unname(columns))
  }
  ticket_sql <- function(where) {
    paste("SELECT ticket, t, arm, batch, status, reward, context FROM dpts_ticket WHERE", where)
  }
  by_name <- ticket_sql(paste("ticket =", place))
  ticket_rows <- function(rows) {
    rows <- as.list(rows)
    rows$reward <- as.numeric(rows$reward) # a column of NULLs has no type
    rows["context"] <- list(unclass(rows$context)) # a list, without the care of vctrs
    rows
  }
  list(
    create = function(agent, definition) {
      transaction({
        for (text in schema_tables(sql)) run(text)
        insert("dpts_agent", agent)
        insert("dpts_definition", definition)
      })
    },
    definition = function() {
      with_store_errors({
        head <- query("SELECT version FROM dpts_agent WHERE id = 1")
        if (nrow(head) != 1) return(NULL)
        # Of another version nothing but this column is known.
        if (head$version != STORE_VERSION) return(as.list(head))
        row <- query("SELECT definition, definition_sum FROM dpts_definition WHERE id = 1")
        list(version = head$version, definition = row$definition[[1]], sum = row$definition_sum)
      })
    },
    tickets = function(ids) with_store_errors(ticket_rows(look_up(by_name, list(ids)))),
    due = function(now) {
      where <- sprintf("%s AND due <= %s ORDER BY due, t", DUE, exactly(now))
      with_store_errors(ticket_rows(query(ticket_sql(where))))
    },
    persons = function(ids) {
      with_store_errors(query(paste("SELECT person, pulls FROM dpts_person WHERE person =", place),
                              list(ids)))
    },
    log = function(n) {
      last <- if (n < Inf) paste("ORDER BY t DESC LIMIT", exactly(n)) else "ORDER BY t DESC"
      with_store_errors(query(paste("SELECT ticket, t, arm, time, status FROM dpts_ticket", last)))
    },
    # How often each arm was chosen in each stretch of `width` rounds, in these rounds
    course = function(from, to, width) {
      with_store_errors(query(sprintf(
        "SELECT %s AS stretch, arm, %s AS n FROM dpts_ticket WHERE t BETWEEN %s AND %s GROUP BY 1, 2",
        number(sprintf(sql$divide, "t - 1", exactly(width))), number("count(*)"), exactly(from),
        exactly(to))))
    },
    count = function(kind) {
      with_store_errors(query(sprintf("SELECT %s AS n FROM dpts_event WHERE kind = %s",
                                      number("count(*)"), place), list(kind))$n)
    }
  )
}

#' The head of the agent; its state only if that is not the one of change number `seq`
#' @noRd
head_sql <- function(seq, clock = "NULL", lock = "") {
  sprintf("SELECT version, seq, clock, next_due, late, restored, %s AS now,
             CASE WHEN seq = %s THEN NULL ELSE state END AS state,
             CASE WHEN seq = %2$s THEN NULL ELSE state_sum END AS state_sum
           FROM dpts_agent WHERE id = 1 %s", clock, exactly(seq), lock)
}

read_head <- function(row) {
  head <- as.list(row)
  state <- head$state[[1]]
  head["state"] <- list(if (is.raw(state)) state) # a column of NULLs has no type
  head$next_due <- as.numeric(head$next_due)
  head
}

#' A number as SQL reads it back
#' @noRd
exactly <- function(x) sprintf("%.17g", x)

#' What a change writes: statements with ? for values, and columns of values, in which a statement is
#' run for each row. The agent's own row comes first.
#' @noRd
change_statements <- function(changes) {
  insert <- function(table, columns, more = "") {
    if (!length(columns[[1]])) return(NULL)
    list(list(text = sprintf("INSERT INTO %s (%s) VALUES (%s)%s", table,
                             paste(names(columns), collapse = ", "),
                             paste(rep("?", length(columns)), collapse = ", "), more),
              values = unname(columns)))
  }
  agent <- changes$agent
  old <- changes$resolved
  c(
    list(list(text = sprintf("UPDATE dpts_agent SET %s WHERE id = 1 AND version = %d AND seq = %s",
                             paste(names(agent), "= ?", collapse = ", "), STORE_VERSION,
                             exactly(agent$seq - 1)),
              values = unname(agent))),
    insert("dpts_ticket", changes$tickets),
    if (length(old$ticket)) list(list(
      text = "UPDATE dpts_ticket SET status = ?, reward = ? WHERE ticket = ?",
      values = unname(old[c("status", "reward", "ticket")])
    )),
    lapply(changes$forget, function(batch) list(text = forget_sql(batch))),
    insert("dpts_person", changes$persons,
           " ON CONFLICT (person) DO UPDATE SET pulls = excluded.pulls"),
    insert("dpts_event", changes$events),
    if (changes$find_next_due) list(list(text = sprintf(
      "UPDATE dpts_agent SET next_due = (SELECT min(due) FROM dpts_ticket WHERE %s) WHERE id = 1", DUE)))
  )
}

#' SQL that takes rewards out of the tickets of a released batch. Where a missing answer is
#' protected, whether there was one goes too.
#' @noRd
forget_sql <- function(batch) {
  set <- if (batch$silent) sprintf("reward = NULL, status = %d", TICKET[["done"]]) else "reward = NULL"
  sprintf("UPDATE dpts_ticket SET %s WHERE arm = %d AND batch = %s AND %s", set,
          as.integer(batch$arm), exactly(batch$batch), IN_BATCH)
}

#' The row for dpts_step, if the change is one of a single ticket; NULL if not
#' @noRd
single_step <- function(changes) {
  new <- changes$tickets
  old <- changes$resolved
  events <- changes$events
  plain <- length(new$ticket) + length(old$ticket) == 1 && length(events$kind) <= 1 &&
    !length(changes$forget) && !length(changes$persons$person) && !changes$find_next_due
  if (!plain) return(NULL)
  ticket <- if (length(new$ticket)) new else old
  if (length(events$kind) && !identical(events$ticket, ticket$ticket)) return(NULL)
  values <- c(list(version = STORE_VERSION), changes$agent,
              list(kind = NA_character_, t = NA_real_, arm = NA_integer_, batch = NA_real_,
                   time = NA_real_, due = NA_real_, reward = NA_real_, context = list(NULL)))
  if (length(events$kind)) values[c("kind", "t", "arm")] <- events[c("kind", "t", "arm")]
  values[names(ticket)] <- ticket
  unname(values[STEP])
}
