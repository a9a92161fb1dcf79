# A policy in R with no privacy: the arm of the best mean, exploring one round in ten
greedy_policy <- function() {
  policy_custom(
    "greedy",
    start = function(k, horizon) list(n = numeric(k), sum = numeric(k)),
    choose = function(state, round) {
      mean <- state$sum / pmax(state$n, 1)
      if (stats::runif(1) < 0.1) return(round$offer[sample.int(length(round$offer), 1)])
      round$offer[which.max(mean[round$offer])]
    },
    update = function(state, feedback) {
      state$n[feedback$arm] <- state$n[feedback$arm] + 1
      state$sum[feedback$arm] <- state$sum[feedback$arm] + feedback$reward
      state
    }
  )
}

batch_policy <- function(mu = 1) policy_gaussian_imed(mu, first = 2, ratio = 1.8)

# A clock that tests turn
test_clock <- function(env = parent.frame()) {
  now <- 1e9
  withr::local_options(dpts.clock = function() now, .local_envir = env)
  function(seconds) now <<- now + seconds
}

hours <- function(n) as.difftime(n, units = "hours")

# n rounds with rewards, so many at a time
play_rounds <- function(agent, n, means, at_a_time = 10) {
  for (i in seq_len(n / at_a_time)) {
    choice <- agent_choose(agent, at_a_time)
    agent_reward(agent, choice$ticket, stats::rbinom(at_a_time, 1, means[as.integer(choice$arm)]))
  }
}

# One store after the other: a file, and PostgreSQL where there is one. What most other tests use, in memory, is a file's code.
each_database <- function(test) {
  testthat::skip_if_not_installed("RSQLite")
  test(withr::local_tempfile(fileext = ".sqlite"))
  if (postgres_available()) test(postgres_connection())
}

# What a store has of tickets, in their order
stored <- function(agent, tickets) {
  rows <- agent$store$tickets(tickets)
  lapply(rows, `[`, match(tickets, rows$ticket))
}

postgres_bin <- function() {
  paths <- c(Sys.glob("/usr/lib/postgresql/*/bin"), dirname(Sys.which("postgres")))
  paths[file.exists(file.path(paths, "initdb")) & file.exists(file.path(paths, "pg_ctl"))]
}

# initdb refuses to run as root; su needs an account to change to.
as_user <- function(command) {
  if (Sys.info()[["effective_user"]] != "root") return(command)
  sprintf("su postgres -s /bin/sh -c %s", shQuote(command))
}

# A private cluster in a temporary folder, for all processes of the tests: who asks first starts it. It ends with the session
# that they were forked from, when that one's temporary folder goes. -> the folder of its socket, with the name of a
# database of this process's own; NULL if it does not start
postgres_cluster <- local({
  place <- NULL
  tried <- FALSE
  function() {
    if (tried) return(place)
    tried <<- TRUE
    folder <- file.path("/tmp", paste0("dpts-pg-", basename(tempdir()))) # a socket's path must be short
    answer <- file.path(folder, c("ready", "failed"))
    if (dir.create(folder, showWarnings = FALSE)) file.create(answer[1 + !start_postgres(folder)])
    for (i in 1:1200) if (!any(file.exists(answer))) Sys.sleep(0.05)
    if (!file.exists(answer[1])) return(NULL)
    new <- c(folder, paste0("of_", Sys.getpid()))
    con <- postgres_connect(c(folder, "postgres"))
    withr::defer(DBI::dbDisconnect(con))
    DBI::dbExecute(con, paste("CREATE DATABASE", new[2]))
    place <<- new
  }
})

start_postgres <- function(folder) {
  if (Sys.info()[["effective_user"]] == "root") system2("chown", c("postgres", folder))
  system(sprintf(paste("(while [ -d %s ]; do sleep 1; done; kill -QUIT `head -n 1 %s/data/postmaster.pid`; rm -rf %2$s)",
                       "< /dev/null > /dev/null 2>&1 &"), shQuote(tempdir()), folder))
  command <- sprintf(paste(
    "%s/initdb -N -D %s/data -A trust -U dpts > %2$s/log 2>&1 &&",
    "%1$s/pg_ctl -D %2$s/data -o '-k %2$s -c listen_addresses= -c fsync=off' -w -l %2$s/log start > /dev/null"),
    postgres_bin()[1], folder)
  system(as_user(command)) == 0
}

postgres_connect <- function(place) {
  if (!nzchar(Sys.getenv("TZ"))) withr::local_envvar(TZ = "UTC") # R would ask systemd
  DBI::dbConnect(RPostgres::Postgres(), host = place[1], user = "dpts", dbname = place[2], timezone = "UTC",
                 timezone_out = "UTC")
}

postgres_available <- function() {
  identical(Sys.getenv("NOT_CRAN"), "true") && requireNamespace("RPostgres", quietly = TRUE) && length(postgres_bin()) &&
    .Platform$OS.type == "unix" && !is.null(postgres_cluster())
}

# A connection to a schema of its own
postgres_connection <- function(schema = basename(tempfile("s")), env = parent.frame()) {
  con <- postgres_connect(postgres_cluster())
  withr::defer(DBI::dbDisconnect(con), env)
  DBI::dbExecute(con, sprintf("SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS %s; SET search_path = %s",
                              schema, schema), immediate = TRUE)
  attr(con, "schema") <- schema
  con
}

# What the server has logged, and the last words of each of its sessions
postgres_says <- function(con) {
  c(readLines(file.path(postgres_cluster()[1], "log")),
    DBI::dbGetQuery(con, "SELECT query FROM pg_stat_activity WHERE pid <> pg_backend_pid()")$query)
}

# A function of the package, as make(it) has it until a test ends
local_function <- function(name, make, env = parent.frame()) {
  namespace <- asNamespace("dpts")
  old <- get(name, namespace)
  set <- function(value) {
    unlockBinding(name, namespace)
    assign(name, value, namespace)
    lockBinding(name, namespace)
  }
  set(make(old))
  withr::defer(set(old), env)
}

with_rounding_of <- function(...) dpts:::with_rounding(...)

# Plays a script through a store, a file or memory: arms on offer, rewards after so many rounds, or never.
# forced: the released values of another run. -> what was released, and all that was published
play_script <- function(policy, k, use, script, forced = NULL, file = TRUE) {
  turn <- test_clock()
  store <- if (file) withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy, k, store, use = use, deadline = as.difftime(8, units = "secs"))
  released <- list()
  local_function("session_feed", function(feed) function(...) {
    # Releases are told apart by the pull whose reward completed the batch. Which reward that is
    # may differ between neighbours only where it is the same by public time: here it is.
    key <- as.character(..2)
    values <- withr::with_options(list(dpts.forced_releases = forced[[key]]), feed(...))
    if (nrow(values)) released[[key]] <<- values[, 3]
    invisible(values)
  })
  tickets <- character()
  public <- list()
  for (i in seq_along(script)) {
    turn(1)
    tickets[i] <- agent_choose(agent, offer = script[[i]]$offer)$ticket
    for (j in seq_len(i)) {
      if (script[[j]]$after == i - j && script[[j]]$answers) {
        agent_reward(agent, tickets[j], script[[j]]$reward)
      }
    }
    if (i %% 8 == 0) public[[i]] <- list(pulls(agent), dpts_history(agent)[-1])
  }
  public <- c(public, list(estimates(agent), summary(agent), format(agent)[-1], dpts_privacy(agent, delta = 1e-6),
                           dpts:::api_status(agent), autoplot(agent)$data))
  agent_close(agent)
  list(released = released, published = public)
}

TOKEN <- "0123456789-secret"

# A request as a server hands it over, without a socket
call_api <- function(router, method, path, body = "", token = TOKEN, query = "") {
  bytes <- if (is.raw(body)) body else charToRaw(body)
  request <- new.env(parent = emptyenv())
  values <- list(REQUEST_METHOD = method, PATH_INFO = path, QUERY_STRING = query,
                 SERVER_NAME = "localhost", SERVER_PORT = "80", HTTP_HOST = "localhost",
                 rook.url_scheme = "http",
                 rook.input = list(read = function(...) bytes, rewind = function() NULL,
                                   read_lines = function(...) rawToChar(bytes)))
  if (!is.null(token)) values$HTTP_AUTHORIZATION <- paste("Bearer", token)
  list2env(values, request)
  answer <- router$call(request)
  text <- answer$body
  if (is.raw(text)) text <- rawToChar(text)
  said <- list2env(list(status = answer$status, text = text, headers = answer$headers))
  delayedAssign("json", tryCatch(jsonlite::parse_json(text, simplifyVector = TRUE), error = function(e) NULL),
                assign.env = said) # where it is asked for
  said
}

# The evidence of an outcome's guard, in R: the mean over kappa of the bets on an arm against another one by the rows
# of a release table, each over the most that it can be with a difference of the guard
guard_evidence <- function(arm, control, rows, guard) {
  several <- length(unique(rows[["stratum"]])) > 1
  kappa <- 0.02 * 2.2^(4 - if (several) 8:0 / 2 else 4:0)
  log_bets <- numeric(length(kappa))
  n <- 0
  known <- list() # of each stratum
  for (b in unique(rows$block)) {
    at <- paste("stratum", rows[["stratum"]][rows$block == b][1])
    guess <- known[[at]] %||% list(n = c(0, 0), sum = c(0, 0), noise = c(0, 0))
    one <- rows[rows$block == b & rows$arm == arm, ]
    two <- rows[rows$block == b & rows$arm == control, ]
    seen <- list(n = c(sum(one$n), sum(two$n)), sum = c(sum(one$sum), sum(two$sum)), noise = c(sum(one$scale^2), sum(two$scale^2)))
    known[[at]] <- Map(`+`, guess, seen) # of each arm, also where the other one was not there
    if (!nrow(one)) next
    p <- one$chance / (one$chance + two$chance)
    q <- 1 - p
    own <- if (several) 2.4 + 12 * guess$noise / pmax(guess$n, 1) else 10
    mean <- pmin(pmax((guess$sum + own / 2) / (guess$n + own), 0), 1)
    centre <- q * mean[1] + p * mean[2]
    for (i in seq_along(kappa)) {
      k <- kappa[i]
      x <- min(max(min(max(centre, 1 - 0.95 * q / k), 0.95 * p / k), 0), 1)
      a0 <- log1p(-k * x / p); l <- log1p(k * (1 - x) / p) - a0
      b0 <- log1p(k * x / q); m <- b0 - log1p(-k * (1 - x) / q)
      noise <- (l^2 + m^2) * one$scale^2 / 2
      log_bets[i] <- log_bets[i] + one$n * a0 + two$n * b0 + l * one$sum - m * two$sum - noise
    }
    n <- n + one$n + two$n
  }
  log(mean(exp(log_bets - n * log1p(kappa * guard))))
}

# The store as it was, under whoever has it open
put_back <- function(store, rows) {
  if (is.character(store)) {
    cons <- lapply(c(rows, store), function(path) DBI::dbConnect(RSQLite::SQLite(), path, synchronous = NULL))
    RSQLite::sqliteCopyDatabase(cons[[1]], cons[[2]])
    return(invisible(lapply(cons, DBI::dbDisconnect)))
  }
  con <- postgres_connection(attr(store, "schema"))
  DBI::dbExecute(con, sprintf("DROP SCHEMA %s CASCADE; CREATE SCHEMA %1$s", attr(store, "schema")), immediate = TRUE)
  dpts:::store_postgres(con)$create(rows)
}
