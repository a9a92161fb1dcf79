# A store in PostgreSQL, which several processes may share. Two messages to the server make a
# change: one locks the agent's row and reads it, one writes everything and commits.

sql_postgres <- function() {
  list(
    blob = "BYTEA", number = "DOUBLE PRECISION", row_number = "DOUBLE PRECISION", by_key = "",
    divide = "floor((%s) / %s)", places = function(n) paste0("$", seq_len(n)),
    triggers = c(
      "CREATE FUNCTION dpts_event_append_only() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN RAISE EXCEPTION ''dpts_event is append-only''; END'",
      "CREATE TRIGGER dpts_event_append_only BEFORE UPDATE OR DELETE ON dpts_event
         FOR EACH ROW EXECUTE FUNCTION dpts_event_append_only()",
      "CREATE FUNCTION dpts_step_insert() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
         UPDATE dpts_agent SET seq = NEW.seq, clock = NEW.clock, next_due = NEW.next_due,
           late = NEW.late, restored = NEW.restored, state = NEW.state, state_sum = NEW.state_sum
           WHERE id = 1;
         IF NEW.kind = ''choose'' THEN
           INSERT INTO dpts_ticket (ticket, t, arm, batch, time, due, status, context)
             VALUES (NEW.ticket, NEW.t, NEW.arm, NEW.batch, NEW.time, NEW.due, NEW.status, NEW.context);
         ELSE
           UPDATE dpts_ticket SET status = NEW.status, reward = NEW.reward WHERE ticket = NEW.ticket;
         END IF;
         IF NEW.kind IS NOT NULL THEN
           INSERT INTO dpts_event (seq, part, time, kind, ticket, t, arm)
             VALUES (NEW.seq, 1, NEW.clock, NEW.kind, NEW.ticket, NEW.t, NEW.arm);
         END IF;
         RETURN NEW;
       END'",
      "CREATE TRIGGER dpts_step_insert INSTEAD OF INSERT ON dpts_step
         FOR EACH ROW EXECUTE FUNCTION dpts_step_insert()",
      # The row is written anew by each change: room for many versions of it on its page
      "ALTER TABLE dpts_agent SET (fillfactor = 10)"
    )
  )
}

#' @noRd
store_postgres <- function(con, call = caller_env()) {
  sql <- sql_postgres()
  run <- function(text, values = NULL) {
    if (is.null(values)) DBI::dbExecute(con, text) else DBI::dbExecute(con, text, params = values)
  }
  query <- function(text, values = NULL) {
    if (is.null(values)) DBI::dbGetQuery(con, text)
    else DBI::dbGetQuery(con, text, params = values)
  }
  send <- function(text) DBI::dbExecute(con, text, immediate = TRUE)
  clock <- "extract(epoch FROM clock_timestamp())::double precision"
  locked <- FALSE
  rollback <- function() {
    if (locked) try(send("ROLLBACK"), silent = TRUE)
    locked <<- FALSE
  }
  transaction <- function(expr) {
    with_store_errors({
      send("BEGIN")
      locked <<- TRUE
      on.exit(rollback())
      expr
      send("COMMIT")
      locked <<- FALSE
    })
  }
  with_store_errors(send("SET lock_timeout = 10000; SET synchronous_commit = on;
                          SET standard_conforming_strings = on"), call)
  utils::modifyList(store_dbi(sql, run, query, transaction), list(
    label = "a PostgreSQL connection",
    exists = function() {
      # The table that an unqualified name means, in whatever schema
      with_store_errors(
        !is.na(query("SELECT to_regclass('dpts_agent')::text AS name")$name)
      )
    },
    begin = function(seq, how) {
      with_store_errors({
        if (how == "read") return(read_head(query(head_sql(seq, clock))))
        locked <<- TRUE # also if this fails: then there is a transaction to leave
        text <- paste("BEGIN;", head_sql(seq, clock, "FOR UPDATE"))
        read_head(DBI::dbGetQuery(con, text, immediate = TRUE))
      })
    },
    rollback = rollback,
    commit = function(changes) {
      if (!locked) return(FALSE)
      values <- single_step(changes)
      statements <- if (is.null(values)) literal_statements(change_statements(changes))
        else step_sql(vapply(values, literal, ""))
      with_store_errors(send(paste(c(
        # Let go of the lock before the disk has it, so that others need not wait for the disk
        # too; then wait. The log is written in order: with the message on disk, so is the change.
        "SET LOCAL synchronous_commit = off",
        statements,
        "COMMIT",
        # (As a DO: what gives rows, RPostgres cancels over another connection after dbExecute().)
        "DO 'BEGIN PERFORM pg_logical_emit_message(true, ''dpts'', ''''); END'"
      ), collapse = ";\n")))
      locked <<- FALSE
      TRUE
    },
    close = function() NULL
  ))
}

#' Statements with the values in them
#' @noRd
literal_statements <- function(statements) {
  unlist(lapply(statements, function(s) {
    if (is.null(s$values)) return(s$text)
    parts <- strsplit(paste0(s$text, " "), "?", fixed = TRUE)[[1]]
    out <- parts[1]
    for (i in seq_along(s$values)) out <- paste0(out, literal(s$values[[i]]), parts[i + 1])
    out
  }))
}

#' Values as PostgreSQL reads them, exactly; strings here have no backslashes and few quotes
#' @noRd
literal <- function(x) {
  if (is.list(x)) {
    return(vapply(x, function(b) {
      if (is.null(b)) "NULL" else sprintf("'\\x%s'::bytea", .Call(C_hex, b))
    }, ""))
  }
  text <- if (is.character(x)) paste0("'", gsub("'", "''", x, fixed = TRUE), "'")
    else if (is.integer(x)) sprintf("%d", x) else exactly(x)
  text[is.na(x)] <- "NULL"
  text
}
