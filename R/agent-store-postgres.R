# A store in PostgreSQL, which several processes may share. A change is one call of a procedure, which
# commits before it answers. While nobody else writes, it begins from what this process wrote itself, and else
# from a look that takes the agent's lock. RPostgres connects anew by itself when a connection is lost, and
# what was set for it is lost too: so every name that is sent has its schema, and every transaction sets what
# it needs. What lies in the store names no schema: it finds its own, which may be renamed, or be a copy.

# The agent's row `a`, with the pages that are new since change number `seq`, which are NULL for none
sql_agent <- function(at, seq) {
  sprintf("%sdpts_agent AS a, LATERAL (SELECT string_agg(page::text, ',' ORDER BY page) AS paged,
             string_agg(bytes, '' ORDER BY page) AS bytes FROM %1$sdpts_page AS p WHERE %s) AS fresh
           WHERE a.id = 1", at, pages_since(seq))
}

# The head as one text, since what RPostgres makes of columns takes longer; and back. The clock is sent in its
# bytes, since as.numeric() is wrong in the last bit of 1 in 4,000 times, which have 16 digits.
head_as_text <- function(at, after) {
  columns <- paste0("a.", HEAD)
  columns[HEAD == "next_due"] <- "coalesce(a.next_due::text, 'NA')"
  columns[HEAD == "clock"] <- "encode(float8send(a.clock), 'hex')"
  sprintf("concat_ws(' ', a.version, a.identity, %s, extract(epoch FROM clock_timestamp())::double precision,
             a.locks, coalesce((%s), 'NA'), fresh.paged, encode(fresh.bytes, 'hex'))",
          paste(columns, collapse = ", "), sql_digest(at, after))
}

read_head_text <- function(text) {
  if (!length(text) || is.na(text)) abort_store("the agent's row cannot be read")
  words <- strsplit(text, " ", fixed = TRUE)[[1]]
  words[words == "NA"] <- NA
  names(words) <- c("version", "identity", HEAD, "now", "locks", "known", "paged", "bytes")[seq_along(words)]
  head <- as.list(words)
  numbers <- c("version", "seq", "entry", "next_due", "restored", "pages", "now", "locks")
  head[numbers] <- as.numeric(words[numbers])
  head$clock <- readBin(.Call(C_unhex, words[["clock"]]), "double", endian = "big")
  if (is.null(head$paged)) return(head)
  head$state <- list(numbers = as.integer(strsplit(head$paged, ",", fixed = TRUE)[[1]]),
                     bytes = .Call(C_unhex, head$bytes))
  head[setdiff(names(head), c("paged", "bytes"))]
}

# schema: as SQL writes it
sql_postgres <- function(schema) {
  at <- paste0(schema, ".")
  list(
    at = at, blob = "BYTEA", number = "DOUBLE PRECISION", row_number = "BIGSERIAL", by_key = "",
    divide = "floor((%s) / %s)",
    among = "SELECT json_array_elements_text($1::json)",
    rows = function(column) sprintf("json_array_elements(NEW.%s::json) AS r(value)", column),
    field = function(i, type) sprintf("CAST(r.value ->> %d AS %s)", i, type),
    if_so = function(condition, statement) sprintf("IF %s THEN %s; END IF", condition, statement),
    or_fail = "IF NOT FOUND THEN RETURN FALSE; END IF",
    asks = c("turn", "patience", "locks", "over"),
    triggers = function(change) c(
      sprintf("CREATE FUNCTION %sdpts_event_append_only() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN RAISE EXCEPTION 'dpts_event is append-only'; END$$", at),
      sprintf("CREATE TRIGGER dpts_event_append_only BEFORE UPDATE OR DELETE ON %sdpts_event
         FOR EACH ROW EXECUTE FUNCTION %1$sdpts_event_append_only()", at),
      # Writes a change, into the tables of the caller's search_path -> was it computed from what is there?
      sprintf("CREATE FUNCTION %sdpts_write(new %1$sdpts_change) RETURNS boolean LANGUAGE plpgsql AS $$
         BEGIN %s RETURN TRUE; END$$", at, change),
      sql_transact(at),
      # How many locks were given up. The row is written anew by each change: room for many versions of it on
      # its page
      sprintf("ALTER TABLE %sdpts_agent ADD COLUMN locks INTEGER NOT NULL DEFAULT 0", at),
      sprintf("ALTER TABLE %sdpts_agent SET (fillfactor = 10)", at),
      sprintf("ALTER TABLE %sdpts_page SET (fillfactor = 30)", at)
    )
  )
}

# A call is a row of dpts_change, whose `turn` says what it asks. "take": the head, by a look that takes the
# lock, which lasts from call to call; "held", "free": a change with that lock, or one that gives up if
# another process has it. The answer is the head, or the `turn` of a change that is on disk, or NULL. (Nothing
# is answered before the COMMIT: RPostgres hides errors that come after an answer.) Each writer keeps a lock
# until its commit is on disk. The first COMMIT is an error within a transaction of the user, which could take
# back what was answered. Nobody waits longer than `patience`, in milliseconds.
# Who finds the lock taken first lets others go on for up to 100 ms, as long as they write every 5 ms: a
# change that begins from what its process remembers costs half of one that must read what another wrote.
# The lock makes changes take turns; that none is lost or made twice needs no lock. So one whose holder is
# silent is given up: who does not get it hears "taken", with the number of the lock and of the change, and
# may ask again with this as `over`. If both numbers are the same still, all go on with the next lock. Only
# who may write is given one.
sql_transact <- function(at) {
  sprintf("CREATE PROCEDURE %sdpts_transact(new %1$sdpts_change, INOUT answer text) LANGUAGE plpgsql AS $$
     DECLARE
       key bigint;
       last double precision;
       before double precision;
     BEGIN
       COMMIT;
       SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
       PERFORM set_config('synchronous_commit', 'on', true), set_config('lock_timeout', new.patience, true),
         set_config('extra_float_digits', '1', false),
         set_config('search_path', 'pg_catalog, ' || typnamespace::regnamespace || ', pg_temp', true)
         FROM pg_catalog.pg_type WHERE oid = pg_typeof(new);
       answer := NULL;
       IF new.turn = 'take' THEN
         UPDATE dpts_agent SET locks = locks + 1
           WHERE id = 1 AND new.over = concat_ws(' ', 'taken', locks, seq);
         SELECT locks INTO new.locks FROM dpts_agent WHERE id = 1;
       END IF;
       key := (1685091443 + new.locks::bigint << 32) + 'dpts_change'::regclass::bigint;
       IF new.turn = 'take' THEN
         IF NOT pg_try_advisory_lock(key) THEN
           FOR i IN 0..20 LOOP
             before := last;
             SELECT seq INTO last FROM dpts_agent WHERE id = 1;
             EXIT WHEN last = before OR i = 20;
             PERFORM pg_sleep(0.005);
           END LOOP;
           BEGIN
             PERFORM pg_advisory_lock(key);
           EXCEPTION WHEN lock_not_available THEN
             SELECT concat_ws(' ', 'taken', new.locks, seq) INTO answer FROM dpts_agent WHERE id = 1;
             RETURN;
           END;
         END IF;
         SELECT %s INTO answer FROM %s;
         RETURN;
       END IF;
       IF NOT pg_try_advisory_xact_lock(key) OR NOT dpts_write(new) THEN RETURN; END IF;
       IF new.turn = 'held' THEN PERFORM pg_advisory_unlock(key); END IF;
       COMMIT;
       answer := new.turn;
     END$$", at, head_as_text("", "new.entry"), sql_agent("", "new.seq"))
}

quoted <- function(text) gsub("'", "''", text)

# What a store says to the server; `at`: what comes before the name of a table. own: was the connection made
# for this store alone? Then the call stays compiled, which saves a quarter of the time of a change.
# (RPostgres has one result per connection, and a user's own queries would be told that one was open.)
postgres_messages <- function(con, at, own) {
  compiled <- NULL # the call
  drop <- function() {
    if (!is.null(compiled)) DBI::dbClearResult(compiled)
    compiled <<- NULL
  }
  # RPostgres's own method: DBI's generic checks the class of the answer, which takes a third of the time.
  fetch <- methods::selectMethod(DBI::dbFetch, "PqResult")
  send <- function(...) {
    drop()
    DBI::dbClearResult(DBI::dbSendQuery(con, paste(c(...), collapse = ";\n"), immediate = TRUE))
  }
  # What is asked waits for the locks of other sessions no longer than `patience`. A connection of the store's
  # own keeps that setting. The user's has again what it had: in a transaction of the user's, which began
  # before this statement, for the rest of that alone.
  patience <- NULL
  set_patience <- function(value) {
    drop()
    DBI::dbGetQuery(con, sprintf(
      "SELECT current_setting('lock_timeout') AS had, set_config('lock_timeout', '%s', %s)", value,
      if (own) "false" else "now() <> statement_timestamp()"), immediate = TRUE)$had
  }
  patiently <- function(expr) {
    now <- sprintf("%.0f", lock_limits()$patience)
    had <- patience
    if (!identical(had, now)) had <- set_patience(now)
    patience <<- NULL # it is lost with the connection if this fails
    if (!own) on.exit(try(suppressWarnings(set_patience(had)), silent = TRUE))
    force(expr)
    if (own) patience <<- now
    expr
  }
  # Values go beside the text, which the server may log or show to others.
  query <- function(text, values = NULL, ...) {
    patiently({
      drop()
      DBI::dbGetQuery(con, text, params = values, ...)
    })
  }
  transact <- function(row) {
    done <- FALSE
    on.exit(if (!done || !own) try(drop(), silent = TRUE))
    if (is.null(compiled)) {
      compiled <<- DBI::dbSendQuery(con, sprintf(
        "CALL %sdpts_transact(json_populate_record(NULL::%1$sdpts_change, $1), NULL)", at))
    }
    DBI::dbBind(compiled, list(.Call(C_json_record, row)))
    answer <- fetch(compiled)$answer
    done <- TRUE
    answer
  }
  list(
    drop = drop, send = send, query = query,
    begin = function() {
      send("BEGIN ISOLATION LEVEL READ COMMITTED",
           sprintf("SET LOCAL lock_timeout = %.0f", lock_limits()$patience),
           "SET LOCAL synchronous_commit = on", "SET extra_float_digits = 1",
           sprintf("SET LOCAL search_path = pg_catalog, %s, pg_temp", sub("[.]$", "", at)))
    },
    commit = function() send("COMMIT"),
    rollback = function() try(send("ROLLBACK"), silent = TRUE),
    insert = function(table, row) {
      if (table != "dpts_change") return(postgres_insert(con, paste0(at, table), row))
      text <- sprintf("SELECT %sdpts_write(json_populate_record(NULL::%1$sdpts_change, $1))", at)
      DBI::dbGetQuery(con, text, params = list(.Call(C_json_record, row)))
    },
    # A row for dpts_change -> the answer, NA for none
    transact = function(row) patiently(transact(row))
  )
}

# Rows, as columns, into a table
postgres_insert <- function(con, table, row) {
  bytes <- vapply(row, is.list, NA)
  row[bytes] <- lapply(row[bytes], vapply, function(x) .Call(C_hex, x), "")
  doubles <- vapply(row, is.double, NA)
  row[doubles] <- lapply(row[doubles], function(x) ifelse(is.na(x), NA, exactly(x)))
  places <- sprintf(ifelse(bytes, "decode($%d, 'hex')", "$%d"), seq_along(row))
  DBI::dbExecute(con, sprintf("INSERT INTO %s (%s) VALUES (%s)", table, paste(names(row), collapse = ", "),
                              paste(places, collapse = ", ")), params = unname(row))
}

# Where the table is that an unqualified name means now, or will be made
postgres_place <- function(con) {
  found <- with_store_errors(DBI::dbGetQuery(
    con, "SELECT to_regclass('dpts_agent') IS NOT NULL AS there,
            coalesce((SELECT relnamespace::regnamespace::text FROM pg_class
                        WHERE oid = to_regclass('dpts_agent')), quote_ident(current_schema())) AS schema"))
  if (is.na(found$schema)) abort_store("there is no schema for the tables: set `search_path`")
  found
}

# own: was the connection made for this store alone, so that close() closes it?
store_postgres <- function(con, own = FALSE) {
  found <- postgres_place(con)
  sql <- sql_postgres(found$schema)
  server <- postgres_messages(con, sql$at, own)
  locked <- FALSE
  unlock <- sprintf(
    "SELECT pg_advisory_unlock((classid::bigint << 32) + objid::bigint) FROM pg_locks
       WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid::bigint >= 1685091443
         AND objsubid = 1 AND objid = '%sdpts_change'::regclass", quoted(sql$at))
  rollback <- function() {
    if (locked) try({
      server$send(unlock)
      locked <<- FALSE
    }, silent = TRUE)
  }
  seen <- NULL # the head as last seen or written here,
  read <- -Inf # when the clock in it was read, by one that nobody sets,
  alone <- FALSE # and has nobody else written since this process's change before that?
  locks <- 0 # the number of the lock
  silent <- NULL # who holds it, as the database answers, and since when
  # The head with the lock, from one who has been silent for too long if it must be
  take <- function(seq, after) {
    began <- .Call(C_ticks)
    repeat {
      long <- !is.null(silent) && .Call(C_ticks) - silent$since >= lock_limits()$silence
      answer <- server$transact(list(seq = seq, entry = after, turn = "take",
                                     patience = lock_limits()$patience,
                                     over = if (long) silent$is else NA_character_))
      if (!isTRUE(startsWith(answer, "taken "))) break
      if (!identical(answer, silent$is)) silent <<- list(is = answer, since = began)
      if (.Call(C_ticks) - silent$since < lock_limits()$silence) abort_store("lock timeout: it is taken")
    }
    silent <<- NULL
    read_head_text(answer)
  }
  c(store_looks(sql, server$query), list(
    label = sprintf("PostgreSQL, schema %s", found$schema),
    exists = function() found$there,
    create = function(rows) with_store_errors(store_create(server, sql, rows)),
    begin = function(seq, how, after = 0) {
      with_store_errors({
        if (how == "read") {
          # In one statement, which sees one moment. From then on this session tells all digits of numbers.
          look <- sprintf("SET extra_float_digits = 1; SELECT %s AS head FROM %s",
                          head_as_text(sql$at, exactly(after)), sql_agent(sql$at, exactly(seq)))
          head <- read_head_text(server$query(look, immediate = TRUE)$head)
          locks <<- head$locks
          return(head)
        }
        if (locked) rollback()
        ago <- .Call(C_ticks) - read
        if (how == "remember" && alone && seen$seq == seq && ago < 10) {
          return(with_head(seen, list(now = seen$now + ago), "now"))
        }
        locked <<- TRUE # also if this fails
        head <- take(seq, after)
        locks <<- head$locks
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
        row <- c(change_row(changes), locks = locks, patience = lock_limits()$patience,
                 turn = if (locked) "held" else "free")
        done <- !is.na(server$transact(row))
        if (done) {
          locked <<- FALSE
          seen <<- with_head(seen, changes$agent)
        }
        # When the next ticket is due may be in the store alone.
        if (!done || changes$find_next_due) alone <<- FALSE
        done
      }, writes = TRUE)
    },
    close = function() {
      try(server$drop(), silent = TRUE)
      if (own && DBI::dbIsValid(con)) DBI::dbDisconnect(con)
    }
  ))
}
