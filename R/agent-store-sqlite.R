# A store in SQLite: in a file, in memory or on a user's connection. Of its own the store has two
# connections, one to read and one to write: the statement that writes so stays compiled, which saves a third
# of the time of a change (RSQLite has one result per connection at a time).

# What an error of another process's change says
OUTPACED <- "another process has written"

sql_sqlite <- function() {
  list(
    at = "", blob = "BLOB", number = "REAL", row_number = "INTEGER", by_key = "WITHOUT ROWID",
    divide = "CAST((%s) / %s AS INTEGER)",
    among = "SELECT value FROM json_each($1)",
    rows = function(column) sprintf("json_each(NEW.%s) AS r", column),
    field = function(i, type) sprintf("json_extract(r.value, '$[%d]')", i),
    if_so = function(condition, statement) statement, # the statement finds no rows if not
    or_fail = sprintf("SELECT RAISE(ABORT, '%s') WHERE changes() = 0", OUTPACED),
    triggers = function(change) c(
      "CREATE TRIGGER dpts_event_no_update BEFORE UPDATE ON dpts_event
         BEGIN SELECT RAISE(ABORT, 'dpts_event is append-only'); END",
      "CREATE TRIGGER dpts_event_no_delete BEFORE DELETE ON dpts_event
         BEGIN SELECT RAISE(ABORT, 'dpts_event is append-only'); END",
      sprintf("CREATE TRIGGER dpts_change_insert INSTEAD OF INSERT ON dpts_change BEGIN %s END", change)
    )
  )
}

# The row of a change, as values to bind
sqlite_row <- function(row) {
  row[CHANGED] <- lapply(row[CHANGED], function(columns) .Call(C_json_rows, columns))
  row$bytes <- list(row$bytes)
  row
}

# The head of the agent, with the pages that are new: in one statement, which sees one moment; a row for each
# page
read_head <- function(rows) {
  if (!nrow(rows)) abort_store("the agent's row cannot be read")
  rows <- as.list(rows)
  head <- lapply(rows[!names(rows) %in% c("page", "bytes")], `[[`, 1)
  # A column of NULLs has no type.
  if (!is.na(rows$page[1])) head$state <- list(numbers = as.integer(rows$page), bytes = unlist(rows$bytes))
  head$next_due <- as.numeric(head$next_due)
  head
}

store_sqlite_file <- function(path, create, arg) {
  need_package(c("DBI", "RSQLite"), "for an agent")
  path <- path.expand(path)
  there <- file.exists(path)
  if (!there) {
    if (!create) abort_arg(arg, "the path of a file that exists", path)
    if (!dir.exists(dirname(path))) abort_arg(arg, "a path in a folder that exists", path)
    mask <- Sys.umask("077") # for the owner alone, from the first moment
    made <- tryCatch(file.create(path, showWarnings = FALSE), finally = Sys.umask(mask))
    if (!made) {
      abort_dpts(sprintf("The file \"%s\" cannot be made.", path),
                 c("dpts_error_store_readonly", "dpts_error_store"))
    }
  }
  cons <- with_store_errors(list(sqlite_connect(path), sqlite_connect(path)))
  tryCatch({
    store <- store_sqlite(cons[[1]], cons[[2]], path, own = TRUE, file = normalizePath(path))
    if (create && there && !store$exists()) abort_arg(arg, "a file that does not exist yet", path)
    store
  }, error = function(e) {
    lapply(cons, DBI::dbDisconnect)
    raise_again(e)
  })
}

store_memory <- function() {
  path <- sprintf("file:dpts-%s?mode=memory&cache=shared", .Call(C_hex, system_bytes(16)))
  store <- store_sqlite(sqlite_connect(path), sqlite_connect(path), "memory", own = TRUE, file = ":memory:")
  # An agent in memory may be dropped without agent_close(); RSQLite would warn of its connection.
  reg.finalizer(environment(store$close), function(frame) frame$close())
  store
}

# RSQLite turns a path into UTF-8: another file's, where that is not the session's encoding. An address of the
# bytes by which functions of R find the file it leaves alone.
sqlite_connect <- function(path) {
  if (.Platform$OS.type == "unix" && grepl("[^ -~]", path, useBytes = TRUE)) {
    path <- paste0("file:", utils::URLencode(enc2native(path), reserved = TRUE))
  }
  DBI::dbConnect(RSQLite::SQLite(), path, loadable.extensions = FALSE, bigint = "numeric", synchronous = NULL)
}

# What a store says to SQLite. con: the connection that writes; reader: the one that reads; own: were they
# opened for this store alone?
sqlite_messages <- function(con, reader, own) {
  compiled <- NULL # the statement that writes a change
  drop <- function() {
    if (!is.null(compiled) && DBI::dbIsValid(compiled)) DBI::dbClearResult(compiled)
    compiled <<- NULL
  }
  send <- function(statements) {
    drop()
    for (text in statements) DBI::dbExecute(con, text)
  }
  shared <- identical(reader, con)
  locked <- FALSE
  list(
    drop = drop, send = send,
    query = function(text, values = NULL) {
      if (shared) drop()
      DBI::dbGetQuery(reader, text, params = values)
    },
    locked = function() locked,
    begin = function() {
      send("BEGIN IMMEDIATE")
      locked <<- TRUE
    },
    # Both leave a transaction alone that was not begun here.
    commit = function() {
      if (locked) send("COMMIT")
      locked <<- FALSE
    },
    rollback = function() {
      if (locked) try(send("ROLLBACK"), silent = TRUE)
      locked <<- FALSE
    },
    insert = function(table, row) {
      if (table == "dpts_change") row <- sqlite_row(row)
      DBI::dbExecute(con, sqlite_insert(table, row), params = unname(as.list(row)))
    },
    # A row for dpts_change -> was it computed from what is there?
    transact = function(row) {
      row <- sqlite_row(row)
      if (is.null(compiled)) compiled <<- DBI::dbSendStatement(con, sqlite_insert("dpts_change", row))
      done <- FALSE
      on.exit(if (!own || !done) drop()) # a user's connection is left free
      tryCatch({
        DBI::dbBind(compiled, unname(row))
        done <- TRUE
      }, error = function(e) if (!grepl(OUTPACED, conditionMessage(e), fixed = TRUE)) stop(e))
      done
    }
  )
}

sqlite_insert <- function(table, row) {
  sprintf("INSERT INTO %s (%s) VALUES (%s)", table, paste(names(row), collapse = ", "),
          paste(rep("?", length(row)), collapse = ", "))
}

# How each connection to a file waits, and what is on disk when it says so
sqlite_settings <- function(con) {
  sqlite_waits(con)
  for (pragma in c("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON")) {
    suppressWarnings(DBI::dbGetQuery(con, paste("PRAGMA", pragma)))
  }
}

sqlite_waits <- function(con) {
  DBI::dbExecute(con, sprintf("PRAGMA busy_timeout = %d", as.integer(lock_limits()$patience)))
}

# A check that the file at this path, which a connection has from the root, is still the one of now, and its
# write-ahead log, too. They may be moved, replaced or deleted: what is written would be in no store any more,
# or would undo what others wrote since.
sqlite_file_check <- function(path) {
  files <- paste0(path, c("", "-wal"))
  identity <- function() vapply(files, function(each) .Call(C_file_identity, each), "", USE.NAMES = FALSE)
  file <- identity()
  function() {
    now <- identity()
    known <- !is.na(file)
    if (!identical(now[known], file[known])) {
      abort_dpts(paste("The file of the store was moved, replaced or deleted since it was opened; nothing",
                       "was changed. Open it again."), c("dpts_error_store_other", "dpts_error_store"))
    }
    file <<- now
  }
}

# con: the connection that writes; reader: the one that reads; own: were they opened here, so that close()
# closes them?
store_sqlite <- function(con, reader = con, label = "a SQLite connection", own = FALSE,
                         file = con@dbname) {
  in_file <- file != ":memory:"
  sql <- sql_sqlite()
  server <- sqlite_messages(con, reader, own)
  if (in_file) with_store_errors(for (each in unique(c(con, reader))) sqlite_settings(each))
  check_file <- if (in_file) sqlite_file_check(file) else function() NULL
  seen <- NULL # the head as last seen or written here
  patience <- lock_limits()$patience
  # Old values of a row live on in the write-ahead log until it is cut. If that cannot be done now (another
  # process reads it, the disk is full), the next change tries again. The first change cuts it too: a process
  # may have died after it had changed a row and before it cut the log.
  to_cut <- in_file
  cut_log <- function() {
    to_cut <<- tryCatch(server$query("PRAGMA wal_checkpoint(TRUNCATE)")$busy != 0,
                        error = function(e) TRUE) # the change itself is durable
  }
  # Whoever closes last writes its log into the file. Where that is another log than the file's of now, a
  # connection to the file keeps it from being the last one.
  close <- function() {
    server$drop()
    if (!own) return(invisible())
    other <- NULL
    if (inherits(try(check_file(), silent = TRUE), "try-error") && file.exists(file)) {
      other <- sqlite_connect(file)
      try(DBI::dbGetQuery(other, "SELECT count(*) FROM sqlite_master"), silent = TRUE)
    }
    for (each in c(con, reader, other)) if (DBI::dbIsValid(each)) DBI::dbDisconnect(each)
  }
  c(store_looks(sql, server$query), list(
    label = label,
    exists = function() {
      with_store_errors(nrow(server$query("PRAGMA table_info(dpts_agent)")) > 0)
    },
    create = function(rows) with_store_errors(store_create(server, sql, rows)),
    begin = function(seq, how, after = 0) {
      check_file()
      if (in_file && patience != lock_limits()$patience) {
        server$drop()
        for (each in unique(c(con, reader))) sqlite_waits(each)
        patience <<- lock_limits()$patience
      }
      if (how == "remember" && !is.null(seen) && seen$seq == seq) return(seen)
      with_store_errors({
        if (how == "lock" && !server$locked()) server$begin()
        head <- read_head(server$query(sprintf(
          "SELECT version, identity, %s, NULL AS now, (%s) AS known, p.page, p.bytes FROM dpts_agent AS a
           LEFT JOIN dpts_page AS p ON %s WHERE a.id = 1 ORDER BY p.page",
          paste0("a.", HEAD, collapse = ", "), sql_digest("", exactly(after)), pages_since(exactly(seq)))))
      })
      seen <<- head[names(head) != "state"]
      head
    },
    rollback = server$rollback,
    commit = function(changes) {
      with_store_errors({
        # A user's connection may be inside a transaction, whose rollback would take back what was answered,
        # and noise for the same rewards would be made anew: to begin another one is an error there.
        if (!own && !server$locked()) server$begin()
        written <- server$transact(change_row(changes))
        if (written) {
          server$commit()
          if (to_cut || in_file && (changes$forgotten || length(changes$forget))) cut_log()
          seen <<- if (!changes$find_next_due) with_head(seen, changes$agent)
        }
        written
      }, writes = TRUE)
    },
    close = close
  ))
}
