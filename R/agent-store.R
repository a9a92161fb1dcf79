# Where an agent lives. A store is a list of functions on these tables:
#   dpts_agent       one row: the policy's state, the clock and counters
#   dpts_definition  one row that never changes: policy, arms, rules
#   dpts_ticket      one row per choice; its reward until that is forgotten
#   dpts_event       the journal: rows are added, never changed (a trigger sees to that)
#   dpts_person      how many rewards each person may have given, by keyed hash
#
#   begin(seq, how)  the agent's head, with its state unless that is the one of change number
#                    `seq`. how: "lock" keeps everybody else out until commit() or rollback();
#                    "read" looks at what is there; "remember" may be what was last seen here
#   commit(changes)  writes tickets, journal, counters and state in one transaction -> TRUE, once
#                    they are durable; FALSE, with nothing written, if this was begun without the
#                    lock and another process has written since
#   rollback()       leaves all as it was
#
# Without the lock a change is right all the same: each change raises `seq`, and nothing is
# written unless `seq` still is the one that the change was computed from. A single process so
# needs one statement for a choice. Under contention the second try takes the lock.

#' The version of the tables, and of what is kept in them. Stores of any other version are refused.
#' @noRd
STORE_VERSION <- 2

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
    if (inherits(store, "SQLiteConnection")) return(store_sqlite(store, call = call))
    if (inherits(store, "PqConnection")) return(store_postgres(store, call))
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
  con <- with_store_errors(connect_sqlite(path), call)
  tryCatch(store_sqlite(con, path, call), error = function(e) {
    DBI::dbDisconnect(con)
    rlang::cnd_signal(e)
  })
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
