# A store in PostgreSQL, which several processes may share. A change is one statement and so one transaction.
# While nobody else writes, it begins from what this process wrote itself, and else from a look that takes the
# agent's lock. RPostgres connects anew by itself when a connection is lost, and what was set for it is lost
# too: so every name has its schema, and every transaction sets what it needs.

# The agent's row `a`, with the pages that are new since change number `seq`, which are NULL for none
sql_agent <- function(at, seq) {
  sprintf("%sdpts_agent AS a, LATERAL (SELECT string_agg(page::text, ',' ORDER BY page) AS paged,
             string_agg(bytes, '' ORDER BY page) AS bytes FROM %1$sdpts_page AS p WHERE %s) AS fresh
           WHERE a.id = 1", at, pages_since(seq))
}

# schema: as SQL writes it
sql_postgres <- function(schema) {
  at <- paste0(schema, ".")
  columns <- c("version", "identity", HEAD, "paged", "bytes")
  look <- sprintf("SELECT %s INTO %s FROM %s;", paste(columns, collapse = ", "),
                  paste0("NEW.", columns, collapse = ", "), sql_agent(at, "NEW.seq"))
  list(
    at = at, blob = "BYTEA", number = "DOUBLE PRECISION", row_number = "BIGSERIAL", by_key = "",
    divide = "floor((%s) / %s)",
    among = "SELECT json_array_elements_text($1::json)",
    rows = function(column) sprintf("json_array_elements(NEW.%s::json) AS r(value)", column),
    field = function(i, type) sprintf("CAST(r.value ->> %d AS %s)", i, type),
    if_so = function(condition, statement) sprintf("IF %s THEN %s; END IF", condition, statement),
    or_fail = "IF NOT FOUND THEN RETURN NULL; END IF",
    turn = "turn",
    triggers = function(change) c(
      sprintf("CREATE FUNCTION %sdpts_event_append_only() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN RAISE EXCEPTION 'dpts_event is append-only'; END$$", at),
      sprintf("CREATE TRIGGER dpts_event_append_only BEFORE UPDATE OR DELETE ON %sdpts_event
         FOR EACH ROW EXECUTE FUNCTION %1$sdpts_event_append_only()", at),
      # A row's `turn` says what it is. "take": a look that takes the lock, which lasts from statement to
      # statement; "held", "free": a change with that lock, or one that gives up if another process has it;
      # "there": is the change there that was written before? Each writer keeps a lock until its commit is on
      # disk.
      sprintf("CREATE FUNCTION %sdpts_change_insert() RETURNS trigger LANGUAGE plpgsql AS $$
         DECLARE key CONSTANT bigint := (1685091443::bigint << 32) + TG_RELID::bigint;
         BEGIN
           IF NEW.turn = 'there' THEN
             PERFORM 1 FROM %1$sdpts_agent
               WHERE id = 1 AND (seq > NEW.seq OR seq = NEW.seq AND journal = NEW.journal);
             IF NOT FOUND THEN RETURN NULL; END IF;
             RETURN NEW;
           ELSIF NEW.turn = 'take' THEN
             PERFORM pg_advisory_lock(key);
             %s
             IF NOT FOUND THEN RETURN NULL; END IF;
             RETURN NEW;
           END IF;
           IF NOT pg_try_advisory_xact_lock(key) THEN RETURN NULL; END IF;
           %s
           IF NEW.turn = 'held' THEN PERFORM pg_advisory_unlock(key); END IF;
           RETURN NEW;
         END$$", at, look, change),
      sprintf("CREATE TRIGGER dpts_change_insert INSTEAD OF INSERT ON %sdpts_change
         FOR EACH ROW EXECUTE FUNCTION %1$sdpts_change_insert()", at),
      # The row is written anew by each change: room for many versions of it on its page
      sprintf("ALTER TABLE %sdpts_agent SET (fillfactor = 10)", at),
      sprintf("ALTER TABLE %sdpts_page SET (fillfactor = 30)", at)
    )
  )
}

# How often what holds the lock tries again, if its statement is prepared anew each time
TRIES <- 5

# own: was the connection made for this store alone? Then its statement stays compiled, which saves a quarter
# of the time of a change, and close() closes it. (RPostgres has one result per connection, and a user's own
# queries would be told that one was open.)
store_postgres <- function(con, own = FALSE) {
  compiled <- NULL # the statement of changes
  drop <- function() {
    if (!is.null(compiled)) DBI::dbClearResult(compiled)
    compiled <<- NULL
  }
  send <- function(...) {
    drop()
    done <- DBI::dbSendQuery(con, paste(c(...), collapse = ";\n"), immediate = TRUE)
    DBI::dbClearResult(done)
  }
  # Values go beside the text, which the server may log or show to others.
  query <- function(text, values = NULL) {
    drop()
    DBI::dbGetQuery(con, text, params = values)
  }
  # Rows, as columns
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
  # The head as one text, since what RPostgres makes of columns takes longer
  columns <- c("version", "identity", HEAD, "now", "paged", "bytes")
  numbers <- setdiff(columns, c("identity", "journal", "state_sum", "paged", "bytes"))
  head_text <- sprintf(
    "concat_ws(' ', version, identity, %s, extract(epoch FROM clock_timestamp())::double precision,
               paged, encode(bytes, 'hex'))",
    paste(sub("next_due", "coalesce(next_due::text, 'NA')", HEAD), collapse = ", "))
  read_head <- function(text) {
    if (!length(text)) abort_store("the agent's row cannot be read")
    words <- strsplit(text, " ", fixed = TRUE)[[1]]
    words[words == "NA"] <- NA
    names(words) <- columns[seq_along(words)]
    head <- as.list(words)
    head[numbers] <- as.numeric(words[numbers])
    if (is.null(head$paged)) return(head)
    head$state <- list(numbers = as.integer(strsplit(head$paged, ",", fixed = TRUE)[[1]]),
                       bytes = .Call(C_unhex, head$bytes))
    head[setdiff(names(head), c("paged", "bytes"))]
  }
  # The head, with the pages that are new since change number `seq`: in one statement, which sees one moment
  look <- function(seq) {
    drop()
    read_head(DBI::dbGetQuery(con, sprintf("SELECT %s AS head FROM %s", head_text,
                                           sql_agent(sql$at, exactly(seq))), immediate = TRUE)$head)
  }
  # A change, or a look that takes the lock, is one value of one statement, which is a transaction of its
  # own. A commit is on disk before anybody sees what it wrote.
  change_sql <- sprintf(
    "INSERT INTO %sdpts_change SELECT * FROM json_populate_record(NULL::%1$sdpts_change, $1)", sql$at)
  # ('now' is read when the statement is prepared: in a transaction of the user it is the same moment. It is
  # read anew when PostgreSQL has to prepare it once more, as after a CREATE SCHEMA of anybody: then nothing
  # is done, and is tried again; but the question whether a change is there must have its answer.)
  alone_sql <- sprintf(
    "%s WHERE turn = 'there' OR timestamptz 'now' <> transaction_timestamp()
         AND current_setting('transaction_isolation') = 'read committed'
         AND set_config('synchronous_commit', 'on', true) IS NOT NULL
         AND set_config('lock_timeout', '10000', true) IS NOT NULL
         AND set_config('search_path', 'pg_catalog', true) IS NOT NULL
       RETURNING CASE turn WHEN 'take' THEN %s ELSE turn END AS head", change_sql, head_text)
  # Rows for dpts_change -> for each that was accepted a text: the head, or its turn. (RPostgres's own method
  # fetches: DBI's generic checks the class of the answer, which takes a third of the time of a message.)
  fetch <- methods::selectMethod(DBI::dbFetch, "PqResult")
  exchange <- function(...) {
    if (is.null(compiled)) compiled <<- DBI::dbSendQuery(con, alone_sql)
    DBI::dbBind(compiled, list(vapply(list(...), function(row) .Call(C_json_record, row), "")))
    fetch(compiled)$head
  }
  take <- function(seq) {
    for (i in 1:TRIES) {
      taken <- exchange(list(seq = seq, turn = "take"))
      if (length(taken)) return(read_head(taken))
      send("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED")
    }
    look(seq) # if its row is there
    abort_store("the connection is within a transaction")
  }
  locked <- FALSE
  unlock <- sprintf(
    "SELECT pg_advisory_unlock((classid::bigint << 32) + objid::bigint) FROM pg_locks
       WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid = 1685091443 AND objsubid = 1
         AND objid = '%sdpts_change'::regclass", gsub("'", "''", sql$at))
  rollback <- function() {
    if (locked) try({
      send(unlock)
      locked <<- FALSE
    }, silent = TRUE)
    if (!own) try(drop(), silent = TRUE)
  }
  seen <- NULL # the head as last seen or written here,
  read <- -Inf # when the clock in it was read, by one that nobody sets,
  alone <- FALSE # and has nobody else written since this process's change before that?
  c(store_looks(sql, query), list(
    label = sprintf("PostgreSQL, schema %s", found$schema),
    exists = function() found$there,
    create = function(rows) {
      with_store_errors({
        done <- FALSE
        on.exit(if (!done) try(send("ROLLBACK"), silent = TRUE))
        send("BEGIN ISOLATION LEVEL READ COMMITTED", "SET LOCAL lock_timeout = 10000",
             "SET LOCAL synchronous_commit = on", schema_tables(sql))
        for (table in setdiff(names(rows), "dpts_change")) insert(table, rows[[table]])
        first <- rows$dpts_change
        if (!is.null(first)) DBI::dbExecute(con, change_sql, params = list(.Call(C_json_record, first)))
        send("COMMIT")
        done <- TRUE
      })
    },
    begin = function(seq, how) {
      with_store_errors({
        if (how == "read") return(look(seq))
        if (locked) rollback()
        ago <- .Call(C_ticks) - read
        if (how == "remember" && alone && seen$seq == seq && ago < 10) {
          return(with_head(seen, list(now = seen$now + ago), "now"))
        }
        locked <<- TRUE # also if this fails
        head <- take(seq)
        alone <<- head$seq == seq
        seen <<- head[names(head) != "state"]
        read <<- .Call(C_ticks)
        head
      })
    },
    rollback = rollback,
    commit = function(changes) {
      with_store_errors({
        on.exit(rollback())
        turn <- if (locked) "held" else "free"
        # A commit that was cancelled looks like one that was done: so is the change there?
        for (i in 1:TRIES) {
          done <- exchange(c(change_row(changes), turn = turn),
                           c(changes$agent[c("seq", "journal")], turn = "there"))
          if (!locked || turn %in% done) break
          drop()
        }
        if (!turn %in% done) {
          alone <<- FALSE
          return(FALSE)
        }
        if (!"there" %in% done) abort_store("the commit was cancelled")
        locked <<- FALSE
        # When the next ticket is due may be in the store alone.
        if (changes$find_next_due) alone <<- FALSE
        seen <<- with_head(seen, changes$agent)
        TRUE
      })
    },
    close = function() {
      try(drop(), silent = TRUE)
      if (own && DBI::dbIsValid(con)) DBI::dbDisconnect(con)
    }
  ))
}
