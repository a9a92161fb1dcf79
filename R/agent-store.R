# Where an agent lives. A store is a list of functions on five tables:
#   dpts_agent    one row: the definition, the policy's state, the clock and counters
#   dpts_ticket   one row per choice; its reward until that is forgotten
#   dpts_event    the journal: rows are added, never changed (a trigger sees to that)
#   dpts_person   how many rewards each person may have given, by keyed hash
# A change is one transaction: begin() locks the agent and reads its head; commit() writes
# tickets, journal, counters and state together; rollback() leaves all as it was.

#' The version of the tables. A reader refuses newer ones.
#' @noRd
STORE_VERSION <- 1

#' A store from the user's argument: NULL, a path or a DBI connection
#' @noRd
open_store <- function(store, create, arg = caller_arg(store), call = caller_env()) {
  force(arg)
  if (is.null(store) && create) return(store_memory())
  if (is.character(store) && length(store) == 1 && !is.na(store) && nzchar(store)) {
    return(store_sqlite_file(store, create, arg, call))
  }
  if (inherits(store, "DBIConnection")) {
    need_package("DBI", "for an agent in a database", call)
    if (inherits(store, "SQLiteConnection")) return(store_dbi(store, sql_sqlite(), call))
    if (inherits(store, "PqConnection")) return(store_dbi(store, sql_postgres(), call))
    abort_arg(arg, "a connection of RSQLite or RPostgres", store, call)
  }
  abort_arg(arg, paste0(if (create) "NULL (in memory), ", "the path of a SQLite file or a DBI connection"),
            store, call)
}

#' Ask for a suggested package by name, when it is needed
#' @noRd
need_package <- function(package, why, call = caller_env()) {
  if (requireNamespace(package, quietly = TRUE)) return(invisible())
  abort_dpts(sprintf("Package %s is needed %s: install.packages(\"%s\").", package, why, package),
             "dpts_error_package", call)
}

store_sqlite_file <- function(path, create, arg, call) {
  need_package("DBI", "for an agent in a file", call)
  need_package("RSQLite", "for an agent in a file", call)
  path <- path.expand(path)
  if (!file.exists(path)) {
    if (!create) abort_arg(arg, "the path of a file that exists", path, call)
    if (!dir.exists(dirname(path))) abort_arg(arg, "a path in a folder that exists", path, call)
    mask <- Sys.umask("077") # for the owner alone, from the first moment
    made <- tryCatch(file.create(path, showWarnings = FALSE), finally = Sys.umask(mask))
    if (!made) {
      abort_dpts(sprintf("The file \"%s\" cannot be made.", path),
                 c("dpts_error_store_readonly", "dpts_error_store"), call)
    }
  }
  con <- with_store_errors(
    DBI::dbConnect(RSQLite::SQLite(), path, bigint = "numeric", synchronous = NULL), call
  )
  store <- tryCatch(store_dbi(con, sql_sqlite(), call), error = function(e) {
    DBI::dbDisconnect(con)
    rlang::cnd_signal(e)
  })
  store$label <- path
  store$close <- function() DBI::dbDisconnect(con)
  store
}

#' Turn the words of a database into errors that say what to do. The file is as it was: every
#' change is one transaction.
#' @noRd
with_store_errors <- function(expr, call = caller_env()) {
  tryCatch(expr, error = function(e) {
    if (inherits(e, "dpts_error")) rlang::cnd_signal(e)
    abort_store(conditionMessage(e), call)
  })
}

abort_store <- function(said, call) {
  kinds <- list(
    full = list("disk is full|No space left|could not extend file",
                "The disk is full; nothing was changed. Make room and try again."),
    readonly = list("readonly database|read-only|unable to open database|permission denied",
                    "The store cannot be written; nothing was changed."),
    locked = list("database is locked|lock timeout|database table is locked",
                  "Another process holds the store's lock; nothing was changed. Try again."),
    damaged = list("malformed|not a database|disk I/O error|checksum|cannot be read",
                   "The store is damaged; nothing was changed. Restore a copy, and tell it so by `agent_restored()`."),
    append = list("append-only", "The journal is append-only; nothing was changed.")
  )
  hit <- Filter(function(name) grepl(kinds[[name]][[1]], said, ignore.case = TRUE), names(kinds))
  if (length(hit)) {
    words <- paste0(kinds[[hit[1]]][[2]], " The database says: ", said)
    abort_dpts(words, c(paste0("dpts_error_store_", hit[1]), "dpts_error_store"), call)
  }
  abort_dpts(paste0("The store failed; nothing was changed. The database says: ", said),
             "dpts_error_store", call)
}

#' The two dialects: types, how to lock, and what the time is
#' @noRd
sql_sqlite <- function() {
  list(
    blob = "BLOB", number = "REAL", places = function(n) rep("?", n),
    label = "a SQLite connection",
    prepare = function(con) {
      DBI::dbExecute(con, "PRAGMA busy_timeout = 10000")
      for (pragma in c("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON")) {
        suppressWarnings(DBI::dbGetQuery(con, paste("PRAGMA", pragma)))
      }
    },
    exists = function(con) DBI::dbExistsTable(con, "dpts_agent"),
    begin = function(con) DBI::dbExecute(con, "BEGIN IMMEDIATE"),
    look = function(con, text) DBI::dbGetQuery(con, text),
    lock = "", clock = "NULL",
    append_only = c(
      "CREATE TRIGGER dpts_event_no_update BEFORE UPDATE ON dpts_event
         BEGIN SELECT RAISE(ABORT, 'dpts_event is append-only'); END",
      "CREATE TRIGGER dpts_event_no_delete BEFORE DELETE ON dpts_event
         BEGIN SELECT RAISE(ABORT, 'dpts_event is append-only'); END"
    ),
    write = function(con, statements) {
      for (s in statements) {
        if (is.null(s$values)) DBI::dbExecute(con, s$text)
        else DBI::dbExecute(con, s$text, params = s$values)
      }
    },
    # Old values of a row live on in the write-ahead log until it is cut.
    forgotten = function(con) DBI::dbGetQuery(con, "PRAGMA wal_checkpoint(TRUNCATE)")
  )
}

sql_postgres <- function() {
  list(
    blob = "BYTEA", number = "DOUBLE PRECISION", places = function(n) paste0("$", seq_len(n)),
    label = "a PostgreSQL connection",
    prepare = function(con) {
      DBI::dbExecute(con, "SET lock_timeout = 10000", immediate = TRUE)
      DBI::dbExecute(con, "SET synchronous_commit = on", immediate = TRUE)
      DBI::dbExecute(con, "SET standard_conforming_strings = on", immediate = TRUE)
    },
    exists = function(con) {
      # The table that an unqualified name means, in whatever schema
      !is.na(DBI::dbGetQuery(con, "SELECT to_regclass('dpts_agent')::text AS name")$name)
    },
    begin = function(con) DBI::dbExecute(con, "BEGIN", immediate = TRUE),
    look = function(con, text) DBI::dbGetQuery(con, text, immediate = TRUE),
    lock = "FOR UPDATE", clock = "extract(epoch FROM clock_timestamp())::double precision",
    append_only = c(
      "CREATE FUNCTION dpts_event_append_only() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN RAISE EXCEPTION ''dpts_event is append-only''; END'",
      "CREATE TRIGGER dpts_event_append_only BEFORE UPDATE OR DELETE ON dpts_event
         FOR EACH ROW EXECUTE FUNCTION dpts_event_append_only()"
    ),
    write = function(con, statements) {
      DBI::dbExecute(con, literal_statements(statements), immediate = TRUE)
    },
    forgotten = function(con) NULL
  )
}

schema_tables <- function(sql) {
  with(sql, c(
    sprintf("CREATE TABLE dpts_agent (id INTEGER PRIMARY KEY, version INTEGER NOT NULL,
      seq %2$s NOT NULL, clock %2$s NOT NULL, next_due %2$s, late %2$s NOT NULL,
      restored %2$s NOT NULL, definition %1$s NOT NULL, definition_sum TEXT NOT NULL,
      state %1$s NOT NULL, state_sum TEXT NOT NULL)", blob, number),
    sprintf("CREATE TABLE dpts_ticket (ticket TEXT PRIMARY KEY, t %2$s NOT NULL UNIQUE,
      arm INTEGER NOT NULL, batch %2$s NOT NULL, time %2$s NOT NULL, due %2$s,
      status INTEGER NOT NULL, reward %2$s, context %1$s)", blob, number),
    "CREATE INDEX dpts_ticket_due ON dpts_ticket (status, due)",
    "CREATE INDEX dpts_ticket_batch ON dpts_ticket (arm, batch)",
    sprintf("CREATE TABLE dpts_event (seq %s NOT NULL, part INTEGER NOT NULL, time %1$s NOT NULL,
      kind TEXT NOT NULL, ticket TEXT, t %1$s, arm INTEGER, PRIMARY KEY (seq, part))", number),
    "CREATE TABLE dpts_person (person TEXT PRIMARY KEY, pulls INTEGER NOT NULL)",
    append_only
  ))
}

#' A store in a database
#' @noRd
store_dbi <- function(con, sql, call) {
  run <- function(text, params = NULL) {
    if (is.null(params)) DBI::dbExecute(con, text) else DBI::dbExecute(con, text, params = params)
  }
  query <- function(text, params = NULL) {
    if (is.null(params)) DBI::dbGetQuery(con, text)
    else DBI::dbGetQuery(con, text, params = params)
  }
  insert <- function(table, columns) {
    run(sprintf("INSERT INTO %s (%s) VALUES (%s)", table, paste(names(columns), collapse = ", "),
                paste(sql$places(length(columns)), collapse = ", ")), unname(columns))
  }
  rollback <- function() try(run("ROLLBACK"), silent = TRUE)
  ticket_columns <- "ticket, t, arm, batch, time, due, status, reward, context"
  ticket_rows <- function(where, params = NULL) {
    query(sprintf("SELECT %s FROM dpts_ticket WHERE %s", ticket_columns, where), params)
  }
  # A count as a double: RPostgres has integer64 for its own.
  counted <- sprintf("CAST(count(*) AS %s)", sql$number)
  with_store_errors(sql$prepare(con), call)
  self <- list(
    label = sql$label,
    exists = function() with_store_errors(sql$exists(con)),
    create = function(agent) {
      with_store_errors({
        sql$begin(con)
        ok <- FALSE
        on.exit(if (!ok) rollback())
        for (text in schema_tables(sql)) run(text)
        insert("dpts_agent", agent)
        run("COMMIT")
        ok <- TRUE
      })
    },
    definition = function() {
      with_store_errors({
        head <- query("SELECT version FROM dpts_agent WHERE id = 1")
        if (nrow(head) != 1) return(NULL)
        # Of a newer version no column but this one is known.
        if (head$version > STORE_VERSION) return(as.list(head))
        row <- query("SELECT version, definition, definition_sum FROM dpts_agent WHERE id = 1")
        list(version = row$version, definition = row$definition[[1]], sum = row$definition_sum)
      })
    },
    begin = function(seq) {
      with_store_errors({
        sql$begin(con)
        # The state is read only if another process has written since.
        head <- sql$look(con, sprintf(
          "SELECT version, seq, clock, next_due, late, restored, %s AS now,
             CASE WHEN seq = %s THEN NULL ELSE state END AS state,
             CASE WHEN seq = %2$s THEN NULL ELSE state_sum END AS state_sum
           FROM dpts_agent WHERE id = 1 %s", sql$clock, format(seq, digits = 17), sql$lock))
        head <- as.list(head)
        state <- head$state[[1]]
        head$state <- if (is.raw(state)) state # a column of NULLs has no type
        head
      })
    },
    rollback = rollback,
    commit = function(changes) {
      with_store_errors({
        sql$write(con, change_statements(changes))
        if (changes$forgotten || length(changes$forget)) sql$forgotten(con)
      })
    },
    tickets = function(ids) {
      with_store_errors(ticket_rows(paste("ticket =", sql$places(1)), list(ids)))
    },
    due = function(now) {
      with_store_errors(ticket_rows(sprintf("status IN (%d, %d) AND due <= %s ORDER BY due, t",
                                            TICKET["open"], TICKET["waiting"],
                                            format(now, digits = 17))))
    },
    persons = function(ids) {
      with_store_errors(query(paste("SELECT person, pulls FROM dpts_person WHERE person =",
                                    sql$places(1)), list(ids)))
    },
    log = function() with_store_errors(query("SELECT ticket, t, arm, time, status FROM dpts_ticket ORDER BY t")),
    open = function(status) {
      with_store_errors(query(sprintf("SELECT arm, %s AS n FROM dpts_ticket WHERE status IN (%s)
                                       GROUP BY arm", counted, paste(status, collapse = ", "))))
    },
    count = function(kind) {
      with_store_errors(query(sprintf("SELECT %s AS n FROM dpts_event WHERE kind = %s", counted,
                                      sql$places(1)), list(kind))$n)
    },
    close = function() NULL
  )
  self
}

#' What a change writes: statements with ? for values, and columns of values, in which a statement is
#' run for each row
#' @noRd
change_statements <- function(changes) {
  insert <- function(table, columns, more = "") {
    if (!length(columns[[1]])) return(NULL)
    list(list(text = sprintf("INSERT INTO %s (%s) VALUES (%s)%s", table,
                             paste(names(columns), collapse = ", "),
                             paste(rep("?", length(columns)), collapse = ", "), more),
              values = unname(columns)))
  }
  old <- changes$resolved
  agent <- changes$agent
  set <- paste(names(agent), "= ?", collapse = ", ")
  if (changes$find_next_due) {
    agent$next_due <- NULL
    set <- sprintf("%s, next_due = (SELECT min(due) FROM dpts_ticket WHERE status IN (%d, %d))",
                   paste(names(agent), "= ?", collapse = ", "), TICKET["open"], TICKET["waiting"])
  }
  c(
    insert("dpts_ticket", changes$tickets),
    if (length(old$ticket)) list(list(
      text = "UPDATE dpts_ticket SET status = ?, reward = ? WHERE ticket = ?",
      values = unname(old[c("status", "reward", "ticket")])
    )),
    lapply(changes$forget, function(batch) list(text = forget_sql(batch))),
    insert("dpts_person", changes$persons,
           " ON CONFLICT (person) DO UPDATE SET pulls = excluded.pulls"),
    insert("dpts_event", changes$events),
    list(list(text = sprintf("UPDATE dpts_agent SET %s WHERE id = 1", set), values = unname(agent))),
    list(list(text = "COMMIT"))
  )
}

#' All statements as one text with the values in it: one message to the server and back
#' @noRd
literal_statements <- function(statements) {
  paste(unlist(lapply(statements, function(s) {
    if (is.null(s$values)) return(s$text)
    parts <- strsplit(s$text, "?", fixed = TRUE)[[1]]
    out <- parts[1]
    for (i in seq_along(s$values)) {
      rest <- if (i < length(parts)) parts[i + 1] else ""
      out <- paste0(out, literal(s$values[[i]]), rest)
    }
    out
  })), collapse = ";\n")
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
    else if (is.integer(x)) sprintf("%d", x) else sprintf("%.17g", x)
  ifelse(is.na(x), "NULL", text)
}

#' SQL that takes rewards out of the tickets of a released batch. Where a missing answer is
#' protected, whether there was one goes too.
#' @noRd
forget_sql <- function(batch) {
  set <- if (batch$silent) sprintf("reward = NULL, status = %d", TICKET["done"]) else "reward = NULL"
  sprintf("UPDATE dpts_ticket SET %s WHERE arm = %d AND batch = %s AND status IN (%d, %d)", set,
          as.integer(batch$arm), format(batch$batch, digits = 17), TICKET["used"],
          TICKET["missing"])
}
