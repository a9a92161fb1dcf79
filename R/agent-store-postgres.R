# A store in PostgreSQL, which several processes may share. Two messages to the server make a change: one
# locks the agent's row and reads it, one writes everything and commits. While nobody else writes the first is
# left out. RPostgres connects anew by itself when a connection is lost, and what was set for it is lost too:
# so every name has its schema, and every transaction sets what it needs.

# schema: as SQL writes it
sql_postgres <- function(schema) {
  at <- paste0(schema, ".")
  list(
    at = at, blob = "BYTEA", number = "DOUBLE PRECISION", row_number = "BIGSERIAL", by_key = "",
    bytes = c("decode('", "', 'hex')"), divide = "floor((%s) / %s)",
    among = "SELECT json_array_elements_text('%s'::json)",
    rows = function(column) sprintf("json_array_elements(NEW.%s::json) AS r(value)", column),
    field = function(i, type) sprintf("CAST(r.value ->> %d AS %s)", i, type),
    if_any = function(column, statement) sprintf("IF NEW.%s <> '[]' THEN %s; END IF", column, statement),
    or_fail = sprintf("IF NOT FOUND THEN RAISE EXCEPTION '%s'; END IF", OUTPACED),
    triggers = function(change) c(
      sprintf("CREATE FUNCTION %sdpts_event_append_only() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN RAISE EXCEPTION 'dpts_event is append-only'; END$$", at),
      sprintf("CREATE TRIGGER dpts_event_append_only BEFORE UPDATE OR DELETE ON %sdpts_event
         FOR EACH ROW EXECUTE FUNCTION %1$sdpts_event_append_only()", at),
      sprintf("CREATE FUNCTION %sdpts_change_insert() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN %s RETURN NEW; END$$", at, change),
      sprintf("CREATE TRIGGER dpts_change_insert INSTEAD OF INSERT ON %sdpts_change
         FOR EACH ROW EXECUTE FUNCTION %1$sdpts_change_insert()", at),
      # The row is written anew by each change: room for many versions of it on its page
      sprintf("ALTER TABLE %sdpts_agent SET (fillfactor = 10)", at),
      sprintf("ALTER TABLE %sdpts_page SET (fillfactor = 30)", at)
    )
  )
}

store_postgres <- function(con) {
  query <- function(text) DBI::dbGetQuery(con, text)
  # (What dbExecute() adds is a part of the time of a choice.)
  send <- function(...) {
    done <- DBI::dbSendQuery(con, paste(c(...), collapse = ";\n"), immediate = TRUE)
    DBI::dbClearResult(done)
  }
  # Where the table is that an unqualified name means now, or will be made
  found <- with_store_errors(query(
    "SELECT to_regclass('dpts_agent') IS NOT NULL AS there, coalesce((SELECT relnamespace::regnamespace::text
       FROM pg_class WHERE oid = to_regclass('dpts_agent')), quote_ident(current_schema())) AS schema"))
  if (is.na(found$schema)) abort_store("there is no schema for the tables: set `search_path`")
  sql <- sql_postgres(found$schema)
  # (Text of the connection that DBI quotes; one that wants backslashes escaped finds none in ours.)
  settings <- c("SET LOCAL lock_timeout = 10000", "SET LOCAL search_path = pg_catalog")
  begin <- paste(c("BEGIN", settings), collapse = ";\n")
  # What is read is read by a statement that begins once the lock is there.
  lock <- sprintf("%s;\nDO 'BEGIN PERFORM 1 FROM %sdpts_agent WHERE id = 1 FOR UPDATE; END';\n", begin,
                  sql$at)
  # Let go of the lock before the disk has it, so that others need not wait for the disk too; then wait. The
  # log is written in order: with the message on disk, so is the change. (As a DO: what gives rows, RPostgres
  # cancels over another connection when its result is cleared.)
  change <- sprintf("SET LOCAL synchronous_commit = off;\nINSERT INTO %sdpts_change", sql$at)
  wait <- "COMMIT;\nDO 'BEGIN PERFORM set_config(''synchronous_commit'', ''on'', true);
             PERFORM pg_logical_emit_message(true, ''dpts'', ''''); END'"
  # The head, with the pages only if they are not those of change number `seq`: in one statement, which sees
  # one moment, and as one text, since what RPostgres makes of columns takes longer
  columns <- c("version", "identity", HEAD, "now", "state")
  numbers <- setdiff(columns, c("identity", "state_sum", "state"))
  head_sql <- sprintf(
    "SELECT concat_ws(' ', version, identity, %s, extract(epoch FROM clock_timestamp())::double precision,
       (SELECT encode(string_agg(bytes, '' ORDER BY page), 'hex') FROM %sdpts_page WHERE a.seq <> %%s))
       AS head FROM %2$sdpts_agent AS a WHERE id = 1",
    paste(sub("next_due", "coalesce(next_due::text, 'NA')", HEAD), collapse = ", "), sql$at)
  look <- function(seq, lock = NULL) {
    text <- DBI::dbGetQuery(con, paste0(lock, sprintf(head_sql, exactly(seq))), immediate = TRUE)$head
    if (!length(text)) abort_store("the agent's row cannot be read")
    words <- strsplit(text, " ", fixed = TRUE)[[1]]
    words[words == "NA"] <- NA
    names(words) <- columns[seq_along(words)]
    head <- as.list(words)
    head[numbers] <- as.numeric(words[numbers])
    if ("state" %in% names(head)) head$state <- .Call(C_unhex, head$state)
    head
  }
  locked <- FALSE
  rollback <- function() {
    if (locked) try(send("ROLLBACK"), silent = TRUE)
    locked <<- FALSE
  }
  # The head as last read or written here, if it was as this process had left it; it holds for a second, in
  # which the server's clock is taken to go on as this one does.
  seen <- NULL
  since <- 0
  c(store_looks(sql, query), list(
    label = sprintf("PostgreSQL, schema %s", found$schema),
    exists = function() found$there,
    create = function(agent, definition, image) {
      with_store_errors({
        locked <<- TRUE
        on.exit(rollback())
        send("BEGIN", settings[1], create_statements(sql, agent, definition, image), "COMMIT")
        locked <<- FALSE
      })
    },
    begin = function(seq, how) {
      past <- seconds_now() - since
      if (how == "remember" && !is.null(seen) && seen$seq == seq && past < 1) {
        return(with_head(seen, list(now = seen$now + past), "now"))
      }
      with_store_errors({
        if (how == "read") return(look(seq))
        locked <<- TRUE # also if this fails: then there is a transaction to leave
        head <- look(seq, lock)
      })
      since <<- seconds_now()
      seen <<- if (is.null(head[["state"]])) head
      head
    },
    rollback = rollback,
    commit = function(changes) {
      text <- paste0(change, sql_row(change_row(changes), sql))
      with_store_errors({
        written <- unless_outpaced(send(if (!locked) begin, text, wait))
        locked <<- !written
        if (!written) rollback()
        seen <<- if (written && !is.null(seen) && !changes$find_next_due) with_head(seen, changes$agent)
        written
      })
    },
    close = function() NULL
  ))
}
