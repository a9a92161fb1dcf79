# Serves agents as variables of the environment say: see README.md beside this file.

set <- function(name, default = stop("the variable ", name, " must be set", call. = FALSE)) {
  value <- Sys.getenv(name)
  if (nzchar(value)) value else default
}

# A line for each token: a role, a space, the token. It is read again at each request.
tokens <- function() {
  lines <- utils::read.table(set("DPTS_TOKENS"), colClasses = "character", col.names = c("role", "token"))
  stats::setNames(lines$token, lines$role)
}

# A file, a folder, or the database that PGHOST, PGDATABASE, PGUSER and PGPASSWORD (or PGPASSFILE) name
store <- Sys.getenv("DPTS_STORE")
if (!nzchar(store)) {
  store <- DBI::dbConnect(RPostgres::Postgres(), dbname = set("PGDATABASE"), bigint = "numeric", timezone = "UTC", timezone_out = "UTC")
}

dpts::agent_serve(store, port = as.numeric(set("DPTS_PORT", "8000")), token = tokens, host = set("DPTS_HOST", "127.0.0.1"),
                  rate = as.numeric(set("DPTS_RATE", "Inf")))
