# A store in PostgreSQL, which several processes may share. A change locks the agent's row and reads it,
# writes everything by one statement, and commits. RPostgres connects anew by itself when a connection is
# lost, and what was set for it is lost too: so every name has its schema, and every transaction sets what it
# needs.

# schema: as SQL writes it
sql_postgres <- function(schema) {
  at <- paste0(schema, ".")
  list(
    at = at, blob = "BYTEA", number = "DOUBLE PRECISION", row_number = "BIGSERIAL", by_key = "",
    divide = "floor((%s) / %s)",
    among = "SELECT json_array_elements_text($1::json)",
    rows = function(column) sprintf("json_array_elements(NEW.%s::json) AS r(value)", column),
    field = function(i, type) sprintf("CAST(r.value ->> %d AS %s)", i, type),
    if_any = function(column, statement) sprintf("IF NEW.%s <> '[]' THEN %s; END IF", column, statement),
    or_fail = "IF NOT FOUND THEN RETURN NULL; END IF",
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
  send <- function(...) {
    done <- DBI::dbSendQuery(con, paste(c(...), collapse = ";\n"), immediate = TRUE)
    DBI::dbClearResult(done)
  }
  # Values go beside the text, which the server may log or show to others.
  query <- function(text, values = NULL) DBI::dbGetQuery(con, text, params = values)
  # Rows, as columns -> how many were written
  insert <- function(table, row) {
    bytes <- vapply(row, is.list, NA)
    row[bytes] <- lapply(row[bytes], vapply, function(x) .Call(C_hex, x), "")
    doubles <- vapply(row, is.double, NA)
    row[doubles] <- lapply(row[doubles], function(x) ifelse(is.na(x), NA, exactly(x)))
    DBI::dbExecute(con, sprintf("INSERT INTO %s%s (%s) VALUES (%s)", sql$at, table,
                                paste(names(row), collapse = ", "),
                                paste(sprintf(ifelse(bytes, "decode($%d, 'hex')", "$%d"), seq_along(row)),
                                      collapse = ", ")), params = unname(row))
  }
  # Where the table is that an unqualified name means now, or will be made
  found <- with_store_errors(query(
    "SELECT to_regclass('dpts_agent') IS NOT NULL AS there, coalesce((SELECT relnamespace::regnamespace::text
       FROM pg_class WHERE oid = to_regclass('dpts_agent')), quote_ident(current_schema())) AS schema"))
  if (is.na(found$schema)) abort_store("there is no schema for the tables: set `search_path`")
  sql <- sql_postgres(found$schema)
  # A commit is on disk before anybody sees what it wrote. (Text of the connection that DBI quotes; one that
  # wants backslashes escaped finds none in ours.)
  begin <- paste(c("BEGIN ISOLATION LEVEL READ COMMITTED", "SET LOCAL lock_timeout = 10000",
                   "SET LOCAL synchronous_commit = on"), collapse = ";\n")
  # What is read is read by a statement that begins once the lock is there.
  lock <- sprintf("%s;\nSET LOCAL search_path = pg_catalog;
                   DO 'BEGIN PERFORM 1 FROM %sdpts_agent WHERE id = 1 FOR UPDATE; END';\n", begin, sql$at)
  # The head, with the pages only if they are not those of change number `seq`: in one statement, which sees
  # one moment, and as one text, since what RPostgres makes of columns takes longer
  columns <- c("version", "identity", HEAD, "now", "state")
  numbers <- setdiff(columns, c("identity", "journal", "state_sum", "state"))
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
  c(store_looks(sql, query), list(
    label = sprintf("PostgreSQL, schema %s", found$schema),
    exists = function() found$there,
    create = function(rows) {
      with_store_errors({
        locked <<- TRUE
        on.exit(rollback())
        send(begin, schema_tables(sql))
        for (table in names(rows)) insert(table, rows[[table]])
        send("COMMIT")
        locked <<- FALSE
      })
    },
    begin = function(seq, how) {
      with_store_errors({
        if (how == "read") return(look(seq))
        locked <<- TRUE # also if this fails: then there is a transaction to leave
        look(seq, lock)
      })
    },
    rollback = rollback,
    commit = function(changes) {
      with_store_errors({
        if (!locked) send(begin)
        locked <<- TRUE
        on.exit(rollback())
        if (insert("dpts_change", change_row(changes)) == 0) return(FALSE)
        send("COMMIT")
        locked <<- FALSE
        TRUE
      })
    },
    close = function() NULL
  ))
}
