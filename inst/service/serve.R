# Serves agents as variables of the environment say: see README.md beside this file.

options(rlang_backtrace_on_error = "none") # an error is for the operator

set <- function(name, default = stop("the variable ", name, " must be set", call. = FALSE)) {
  value <- Sys.getenv(name)
  if (nzchar(value)) value else default
}

number <- function(name, default) {
  value <- suppressWarnings(as.numeric(set(name, default)))
  if (is.na(value)) stop("the variable ", name, " must be a number", call. = FALSE)
  value
}

# A line for each token: a role, a space, the token. Each request sees whether the file has changed.
read_tokens <- function(file) {
  if (file.access(file, 4) != 0) stop("the file of DPTS_TOKENS, ", file, ", cannot be read", call. = FALSE)
  lines <- tryCatch(
    utils::read.table(file, colClasses = "character", col.names = c("role", "token"), quote = ""),
    error = function(e) stop("the file of DPTS_TOKENS, ", file, ", must have a line ROLE TOKEN for each token: ",
                             conditionMessage(e), call. = FALSE))
  stats::setNames(lines$token, lines$role)
}

tokens <- local({
  seen <- known <- NULL
  function() {
    file <- set("DPTS_TOKENS")
    now <- file.info(file, extra_cols = FALSE)[c("size", "mtime", "ctime")]
    if (is.null(known) || !identical(now, seen)) {
      known <<- read_tokens(file)
      seen <<- now
    }
    known
  }
})

# A file, a folder, or the database that PGHOST, PGDATABASE, PGUSER and PGPASSWORD (or PGPASSFILE) name
store <- set("DPTS_STORE", NULL)
if (is.null(store)) {
  if (!nzchar(Sys.getenv("PGDATABASE"))) stop("the variable DPTS_STORE or PGDATABASE must be set", call. = FALSE)
  store <- DBI::dbConnect(RPostgres::Postgres(), bigint = "numeric", timezone = "UTC", timezone_out = "UTC",
                          dbname = Sys.getenv("PGDATABASE"))
} else if (!file.exists(store)) stop("the path of DPTS_STORE, ", store, ", does not exist", call. = FALSE)

dpts::agent_serve(store, port = number("DPTS_PORT", 8000), token = tokens, host = set("DPTS_HOST", "127.0.0.1"),
                  rate = number("DPTS_RATE", Inf), log = if (set("DPTS_LOG", "") == "hour") "hour" else stderr())
