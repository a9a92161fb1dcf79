# A store in SQLite. DBI's work for a statement takes longer than SQLite's: a change of one ticket
# is one row for dpts_step, a statement that is compiled once and a transaction in itself. So is the
# look at a ticket. RSQLite has one result per connection at a time, so in a file that the store opened
# each of these statements has a connection of its own; a user's connection serves for all.

sql_sqlite <- function() {
  list(
    blob = "BLOB", number = "REAL", row_number = "INTEGER", by_key = "WITHOUT ROWID",
    divide = "CAST((%s) / %s AS INTEGER)", places = function(n) rep("?", n),
    triggers = c(
      "CREATE TRIGGER dpts_event_no_update BEFORE UPDATE ON dpts_event
         BEGIN SELECT RAISE(ABORT, 'dpts_event is append-only'); END",
      "CREATE TRIGGER dpts_event_no_delete BEFORE DELETE ON dpts_event
         BEGIN SELECT RAISE(ABORT, 'dpts_event is append-only'); END",
      "CREATE TRIGGER dpts_step_insert INSTEAD OF INSERT ON dpts_step BEGIN
         SELECT RAISE(ABORT, 'another process has written')
           FROM dpts_agent WHERE id = 1 AND (seq <> NEW.seq - 1 OR version <> NEW.version);
         UPDATE dpts_agent SET seq = NEW.seq, clock = NEW.clock, next_due = NEW.next_due,
           late = NEW.late, restored = NEW.restored, state = NEW.state, state_sum = NEW.state_sum
           WHERE id = 1;
         INSERT INTO dpts_ticket (ticket, t, arm, batch, time, due, status, context)
           SELECT NEW.ticket, NEW.t, NEW.arm, NEW.batch, NEW.time, NEW.due, NEW.status, NEW.context
           WHERE NEW.kind = 'choose';
         UPDATE dpts_ticket SET status = NEW.status, reward = NEW.reward
           WHERE ticket = NEW.ticket AND NEW.kind IS NOT 'choose';
         INSERT INTO dpts_event (seq, part, time, kind, ticket, t, arm)
           SELECT NEW.seq, 1, NEW.clock, NEW.kind, NEW.ticket, NEW.t, NEW.arm
           WHERE NEW.kind IS NOT NULL;
       END"
    )
  )
}

#' con: a connection; path: of its file, if the store opened it and closes it too
#' @noRd
store_sqlite <- function(con, path = NULL, call = caller_env()) {
  sql <- sql_sqlite()
  step <- compiled(con, step_sql(rep("?", length(STEP))))
  run <- function(text, values = NULL) {
    step$drop()
    if (is.null(values)) DBI::dbExecute(con, text) else DBI::dbExecute(con, text, params = values)
  }
  query <- function(text, values = NULL) {
    step$drop()
    if (is.null(values)) DBI::dbGetQuery(con, text)
    else DBI::dbGetQuery(con, text, params = values)
  }
  locked <- FALSE
  seen <- NULL # the head as last seen or written here
  lock <- function() {
    run("BEGIN IMMEDIATE")
    locked <<- TRUE
  }
  unlock <- function() {
    run("COMMIT")
    locked <<- FALSE
  }
  rollback <- function() {
    if (locked) try(run("ROLLBACK"), silent = TRUE)
    locked <<- FALSE
  }
  transaction <- function(expr) {
    with_store_errors({
      lock()
      on.exit(rollback())
      expr
      unlock()
    })
  }
  take_step <- function(values) {
    tryCatch({
      step$bind(values)
      if (is.null(path)) step$drop() # a user's connection is left free
      TRUE
    }, error = function(e) {
      if (grepl("another process has written", conditionMessage(e), fixed = TRUE)) return(FALSE)
      stop(e)
    })
  }
  # A connection for one purpose, opened when it is first needed
  others <- list()
  other <- function(purpose) {
    if (is.null(path)) return(con)
    if (is.null(others[[purpose]])) {
      others[[purpose]] <<- connect_sqlite(path)
      wait_for_others(others[[purpose]])
      DBI::dbExecute(others[[purpose]], "PRAGMA synchronous = FULL")
    }
    others[[purpose]]
  }
  given <- tickets_given() # as long as no other process has written
  lookup <- NULL
  look_up <- function(text, values) {
    if (is.null(path)) return(query(text, values))
    lookup <<- lookup %||% compiled(other("look up"), text)
    DBI::dbFetch(lookup$bind(values))
  }
  # Old values of a row live on in the write-ahead log until it is cut. If that cannot be done now (another
  # process reads it, the disk is full), the next change tries again. The first change cuts it too: a process
  # may have died after it had changed a row and before it cut the log.
  to_cut <- TRUE
  cut_log <- function() {
    to_cut <<- tryCatch({
      if (is.null(path)) step$drop()
      DBI::dbGetQuery(other("cut"), "PRAGMA wal_checkpoint(TRUNCATE)")$busy != 0
    }, error = function(e) TRUE) # the change itself is durable
  }
  write_all <- function(changes) {
    if (!locked) lock()
    on.exit(rollback())
    statements <- change_statements(changes)
    for (i in seq_along(statements)) {
      n <- run(statements[[i]]$text, statements[[i]]$values)
      if (i == 1 && n == 0) return(FALSE)
    }
    unlock()
    TRUE
  }
  with_store_errors({
    wait_for_others(con)
    for (pragma in c("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON")) {
      suppressWarnings(DBI::dbGetQuery(con, paste("PRAGMA", pragma)))
    }
  }, call)
  shared <- store_dbi(sql, run, query, transaction, look_up)
  utils::modifyList(shared, list(
    label = path %||% "a SQLite connection",
    exists = function() with_store_errors(DBI::dbExistsTable(con, "dpts_agent")),
    begin = function(seq, how) {
      if (how == "remember" && !is.null(seen) && seen$seq == seq) return(seen)
      with_store_errors({
        if (how == "lock") lock()
        head <- read_head(query(head_sql(seq)))
      })
      given$at(head$seq)
      seen <<- utils::modifyList(head, list(state = NULL, state_sum = NULL))
      head
    },
    rollback = rollback,
    commit = function(changes) {
      with_store_errors({
        values <- if (!locked) single_step(changes) # with the lock there is more than one anyway
        written <- if (is.null(values)) write_all(changes) else take_step(values)
        if (written) {
          given$note(changes)
          if (to_cut || changes$forgotten || length(changes$forget)) cut_log()
          head <- changes$agent[c("seq", "clock", "next_due", "late", "restored")]
          seen <<- if (!changes$find_next_due) utils::modifyList(seen, head)
        }
        written
      })
    },
    tickets = function(ids) given$find(ids) %||% shared$tickets(ids),
    close = function() {
      step$drop()
      if (!is.null(lookup)) lookup$drop()
      for (own in c(others, if (!is.null(path)) con)) DBI::dbDisconnect(own)
    }
  ))
}

connect_sqlite <- function(path) {
  DBI::dbConnect(RSQLite::SQLite(), path, bigint = "numeric", synchronous = NULL)
}

#' Up to ten seconds
#' @noRd
wait_for_others <- function(con) DBI::dbExecute(con, "PRAGMA busy_timeout = 10000")

#' Open tickets that this handle gave out, the youngest few thousand: with no look at the table their
#' rewards are a quarter quicker. A change that is computed from them is written only if
#' nobody else has written meanwhile, as any change.
#' @noRd
tickets_given <- function(most = 5000) {
  seq <- -1 # of the change after which they were open
  empty <- function() new.env(hash = TRUE, parent = emptyenv())
  young <- empty()
  old <- empty()
  n <- 0 # noted in `young`
  list(
    at = function(now) {
      if (now != seq) {
        young <<- empty()
        old <<- empty()
        n <<- 0
      }
      seq <<- now
    },
    note = function(changes) {
      seq <<- changes$agent$seq
      for (part in list(young, old)) {
        if (!length(part)) next
        for (ticket in changes$resolved$ticket) {
          if (!is.null(part[[ticket]])) rm(list = ticket, envir = part)
        }
      }
      new <- changes$tickets
      # Contexts may be large; many at a time are quick anyway
      if (!is.null(new$context) || length(new$ticket) > 20) return(invisible())
      for (i in which(new$status == TICKET[["open"]])) {
        if (n == most) {
          old <<- young
          young <<- empty()
          n <<- 0
        }
        n <<- n + 1
        young[[new$ticket[i]]] <<- c(new$t[i], new$arm[i], new$batch[i])
      }
    },
    find = function(ids) {
      kept <- if (length(ids) == 1) young[[ids]] %||% old[[ids]]
      if (is.null(kept)) return(NULL)
      list(ticket = ids, t = kept[1], arm = as.integer(kept[2]), batch = kept[3],
           status = TICKET[["open"]], reward = NA_real_, context = list(NULL))
    }
  )
}

#' A statement that stays compiled from one use to the next. RSQLite has one result per connection at a
#' time: it must be dropped before the connection runs anything else.
#' @noRd
compiled <- function(con, text) {
  result <- NULL
  drop <- function() {
    if (!is.null(result)) DBI::dbClearResult(result)
    result <<- NULL
  }
  list(
    drop = drop,
    bind = function(values) { # runs it -> its result
      if (is.null(result)) result <<- DBI::dbSendQuery(con, text)
      tryCatch(DBI::dbBind(result, values), error = function(e) {
        drop()
        stop(e)
      })
    }
  )
}
