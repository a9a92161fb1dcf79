#' Serve agents over HTTP
#'
#' `agent_api()` lets web pages and other programs ask agents for choices.
#' `agent_serve()` runs a server; `agent_api()` gives what answers, for a server of your own.
#'
#' @details
#' `r api_table()`
#'
#' With several agents the paths that are listed before `/experiments` begin with `/experiments/NAME`. With
#' one agent this beginning may be left out. A body is a JSON object:
#' `{"n": 1, "offer": ["a"], "context": [0.2], "person": "id", "key": "order-17"}`, all optional;
#' `{"ticket": "...", "reward": 1}`, or lists of both, with `"outcome": "harm"` for another outcome
#' ([agent_outcome()]) and, with a `window`, a `"key"` ([agent_reward()]); `{"then": "end"}` or `"verdict"`;
#' `{"add": "c", "retire": ["a", "b"]}`.
#'
#' `/status` gives `name`, `policy`, `guarantee` (with `max_per_person` that of a person), `restored` (how
#' often) and `learning` (is it inside its budget?). It gives `use`, `deadline` and `window` (seconds),
#' `range`, `rounds`, `horizon`, `outstanding`, `arms`, `then` (`"go"`, or after the end `"end"` or
#' `"verdict"`), `winner`, `shares`, `sums` (are there estimates?). It also gives `spends` (`"once"` per
#' reward or `"by choice"`), `guess` (how often the best guess of a reward is right at most, with
#' `max_per_person` of all rewards of a person) and `often` (the same for people with this number of
#' `rewards`). `clipped` is the number of predictions that were clipped, or of public contexts that were
#' shortened, else `null`. `outcomes` has for each other outcome what it is (`about`), how many blocks are
#' `waiting` for it, its `guard`, and the arms that are proved to be `worse` than the guard allows.
#' A guard that pauses an arm is a warning in the log, too, and counts in `/metrics`
#' (`dpts_guard_pauses_total`).
#'
#' `/overview`, and what `/metrics` says of agents, are kept for 20 times as long as they took to compute, so
#' that a page that asks often costs little. Other answers are never older than the request. `/overview` says
#' in `now` of when it is.
#'
#' A request that needs a role has the header `Authorization: Bearer <token>`; the token is checked before the
#' body is read. `token` is a string, which may do everything, or strings named by what they may do:
#' `"choose"`, `"report"`, `"read"` (what is published), `"watch"` (`/metrics`), `"admin"` (everything). A
#' role may have several, and a token several roles. After the role a colon and a name may follow, such as
#' `"admin:maria"`: the journal then names who asked for a change ([agent_journal()]). A function is asked
#' for them at each request, so that tokens change without a restart; where it fails those before it remain.
#' The link to the page with a token
#' for `"read"` shows, and does nothing else.
#'
#' Answers and errors are JSON; an error is `{"error": "...", "message": "..."}` with status 400 (bad input),
#' 401 (no or wrong token), 403 (a token of another role), 404 (no such path), 405, 409 (the key came with
#' another call, as [agent_choose()] says, or no available arm takes part), 410 (the agent has ended: then
#' `arm` is the winner, `null` for contextual policies), 413 (more than 1 MB), 429 (more than `rate`), 503
#' (the store cannot be used now: try again) or 500 (the agent failed). Numbers that are infinite or unknown
#' are `null`.
#'
#' `log` gets a line of JSON per request and per error of the service, without the address of who asked. What
#' a database says is there and in no answer. Lines for a pipe on stderr that nobody reads are lost. Where
#' `use = "deadline"` protects whether and when an answer came, a report that was taken or refused is neither
#' logged nor counted in `/metrics`; one at which the service or the store failed is. The log of a server in
#' front of this one has all of them.
#'
#' One process answers one request at a time. What takes long, such as a first `/overview` or opening an
#' agent, is done in parts, between which others are answered. A request waits for another process that has
#' the lock of its store for a second at most; then the answer is 503, with `Retry-After`. On PostgreSQL
#' several may share an agent. A connection has one request at a time. A client has 20 seconds for the head
#' of a request, 20 for its body, and 20 for taking the answer. At most 4,096 connections are open (fewer
#' where the system allows fewer open files), and unfinished requests and answers hold at most 128 MB
#' together. Beyond that the one that waited longest is closed. There is no encryption here: put it behind a
#' server that speaks HTTPS. `agent_serve()` needs a Unix. The folder `service` of the installed package
#' (`system.file("service", package = "dpts")`) has examples.
#'
#' @inheritSection dpts_agent What is published
#'
#' @param agent An agent; a named list of agents; a path: of a SQLite file, or of a folder, whose files
#'   `*.sqlite` are then the agents; or a connection of RPostgres: all agents of the database, by schema. What
#'   is added to a folder or a database is found. The 100 agents that were asked for last are kept open.
#' @param token What clients must show: strings of at least 16 characters, or a function without
#'   arguments that gives them.
#' @param port,host Where to listen. By default the machine itself alone can connect.
#' @param ... Not used; later arguments must be named.
#' @param rate How many requests a second are answered for each token.
#' @param log A connection; `"hour"`, which is stderr with times to the hour; or `NULL` for none.
#' @returns `agent_api()`: a list of two functions of a request, `call` and `onHeaders`, as
#'   `httpuv::startServer()` takes it. `agent_serve()` runs until it is interrupted, or asked to end by
#'   the signal SIGTERM: then it answers the requests that have come, and closes all agents. It returns
#'   `agent`, invisibly.
#' @template see_agent
#' @examples
#' \dontrun{
#' agent <- agent_open("trial.sqlite")
#' agent_serve(agent, port = 8000, token = Sys.getenv("AGENT_TOKEN"))
#'
#' # All agents of a folder, with tokens that can be changed while it runs
#' agent_serve("experiments", port = 8000, token = function() {
#'   tokens <- read.table("tokens.txt", col.names = c("role", "token"))
#'   setNames(tokens$token, tokens$role)
#' })
#' }
#' @export
agent_api <- function(agent, token, ..., rate = Inf, log = stderr()) {
  check_dots_empty(...)
  check_all_given()
  service <- new_service(agent, token, rate, log)
  # httpuv sends the head and the body of an answer separately, and the body waits until the client has
  # acknowledged the head. On a connection that stays open clients put that off for 40 ms.
  as_rook <- function(answer) {
    if (is.null(answer)) return(NULL)
    list(status = answer$status, headers = c(answer$headers, Connection = "close"), body = answer$body)
  }
  list(call = function(req) as_rook(answer_request(service, req)),
       onHeaders = function(req) as_rook(answer_head(service, req)))
}

# What the requests of a service share
new_service <- function(agent, token, rate, log) {
  need_package("jsonlite", "to serve an agent")
  rate <- check_number(rate, 0, open = TRUE, inf = TRUE)
  hourly <- identical(log, "hour")
  if (hourly) log <- stderr()
  if (!is.null(log)) check_class(log, "connection", "a connection, \"hour\" or NULL")
  service <- new.env(parent = emptyenv())
  service$log <- if (is.null(log)) function(...) NULL else function(...) write_log(log, ..., hourly = hourly)
  service$roles_of <- token_keeper(token, service$log)
  service$may_ask <- rate_keeper(rate)
  service$agents <- agent_registry(agent)
  service$routes <- api_routes()
  service$by_path <- split(service$routes, vapply(service$routes, `[[`, "", "path"))
  service$own <- unique(vapply(Filter(function(route) route$agent, service$routes), `[[`, "", "path"))
  service$metrics <- new_metrics()
  service$locked <- list() # when a request last waited in vain for an experiment
  service$ending <- FALSE
  service
}

answer_request <- function(service, req) {
  began <- seconds_now()
  answer <- api_refused(service, req) %||% api_work(service, req)
  note_answer(service, req, answer, began)
  answer
}

# An answer by the head alone, or NULL: the body may come
answer_head <- function(service, req) {
  began <- seconds_now()
  answer <- if (is.null(req$PATH_INFO)) api_error(400, "bad_request", "The request cannot be read.") else
    api_refused(service, req)
  if (is.null(req$PATH_INFO)) list2env(list(PATH_INFO = "", REQUEST_METHOD = ""), req)
  if (!is.null(answer)) note_answer(service, req, answer, began)
  answer
}

API_ROLES <- c("choose", "report", "read", "watch", "admin")

# What can be refused before the body is read: NULL, and the request knows its route; or the answer
api_refused <- function(service, req) {
  if (!is.null(req$dpts_route)) return(NULL) # it was let in when its head came
  if (!is.null(req$HTTP_UPGRADE)) return(api_error(400, "upgrade", "This is HTTP alone."))
  where <- api_target(service, req$PATH_INFO)
  open <- service$by_path[[where$path]]
  if (!length(open)) return(api_error(404, "not_found", where$why %||% "There is no such path."))
  methods <- vapply(open, `[[`, "", "method")
  route <- open[methods == req$REQUEST_METHOD]
  if (!length(route)) {
    return(api_error(405, "method", sprintf("This path takes %s.", words_list(methods)),
                     Allow = paste(methods, collapse = ", ")))
  }
  route <- route[[1]]
  roles <- if (nzchar(route$role)) service$roles_of(req$HTTP_AUTHORIZATION)
  if (nzchar(route$role)) {
    if (!length(roles)) {
      return(api_error(401, "token", "The bearer token is missing or wrong.", "WWW-Authenticate" = "Bearer"))
    }
    if (!any(roles %in% c(route$role, "admin"))) {
      return(api_error(403, "role", sprintf("This needs a token for \"%s\".", route$role)))
    }
  }
  if (service$ending) return(api_error(503, "ending", "The service is being stopped.", "Retry-After" = "5"))
  free <- isTRUE(req$again) || route$path %in% c("/health", "/ready")
  if (!free && !service$may_ask(attr(roles, "id"))) {
    return(api_error(429, "rate", "Too many requests.", "Retry-After" = "1"))
  }
  size <- suppressWarnings(as.numeric(req$HTTP_CONTENT_LENGTH %||% 0))
  if (!is.null(req$HTTP_TRANSFER_ENCODING)) size <- Inf
  if (is.na(size) || size > API_MAX_BYTES) {
    return(api_error(413, "too_large", "The body is too large, or of unknown size."))
  }
  assign("dpts_route", route, req)
  assign("dpts_experiment", where$experiment, req)
  assign("dpts_roles", as.character(roles), req)
  assign("dpts_who", attr(roles, "who"), req)
  NULL
}

# What a path asks for: the path of a route, and which experiment
api_target <- function(service, path) {
  own <- service$own
  if (path %in% own && !service$agents$single) {
    return(list(path = "", why = sprintf("This service has several experiments: /experiments/NAME%s.", path)))
  }
  if (!startsWith(path, "/experiments/")) return(list(path = path, experiment = service$agents$only))
  parts <- regmatches(path, regexec("^/experiments/([^/]+)(/[a-z]+)$", path))[[1]]
  name <- decode_address(parts[2])
  if (!parts[3] %in% own || !name %in% service$agents$names(name)) {
    return(list(path = "", why = if (parts[3] %in% own) "There is no such experiment."))
  }
  list(path = parts[3], experiment = name)
}

# Do what was asked for. Errors become answers.
api_work <- function(service, req) {
  old <- options(dpts.service = TRUE, dpts.who = req$dpts_who, dpts.patience = service_patience(service, req))
  on.exit(options(old))
  failed <- function(e) api_caught(service, req, e)
  warned <- function(w) {
    service$log(event = "warning", path = if (!tells_of_answers(service, req)) req$PATH_INFO,
                message = conditionMessage(w))
    invokeRestart("muffleWarning")
  }
  withCallingHandlers(tryCatch({
    route <- req$dpts_route
    given <- c(if (nzchar(route$role)) read_query(req, route$query),
               if (length(route$body)) read_body(req, route$body))
    out <- route$work(if (route$agent) service$agents$find(req$dpts_experiment) else service, given)
    if (inherits(out, "dpts_http_answer")) out else api_answer(200L, api_json(out))
  }, error = failed), warning = warned)
}

# How many milliseconds a request may wait for another process that has the lock of its store: the others that
# have come wait as well. In the second after one that waited in vain nobody waits for long.
PATIENCE <- 1000
service_patience <- function(service, req) {
  if (isTRUE(service$locked[[req$dpts_experiment %||% "none"]] > seconds_now() - 1)) 20 else PATIENCE
}

note_locked <- function(service, req, e) {
  if (inherits(e, "dpts_error_store_locked") && identical(getOption("dpts.patience"), PATIENCE)) {
    service$locked[[req$dpts_experiment %||% "none"]] <- seconds_now()
  }
}

# Our own errors say what is wrong; of others only that they happened is told. What a database said is for the
# operator, in the log.
api_caught <- function(service, req, e) {
  kinds <- list(
    dpts_error_body = c(400, "bad_request"), dpts_error_size = c(413, "too_large"),
    dpts_error_key = c(409, "key"), dpts_error_paused = c(409, "paused"), dpts_error_ended = c(410, "ended"),
    dpts_error_clock = c(503, "clock"),
    dpts_error_closed = c(503, "closed"), dpts_error_store = c(503, "store"),
    dpts_error_input = c(400, "input")
  )
  hit <- Filter(function(class) inherits(e, class), names(kinds))
  kind <- if (length(hit)) kinds[[hit[1]]] else c(500, "internal")
  if (as.numeric(kind[1]) >= 500 && !tells_of_answers(service, req, 500, kind[2])) {
    if (kind[2] == "store") service$metrics$add("store_errors", "")
    service$log(event = "error", error = kind[2], path = req$PATH_INFO,
                experiment = req$dpts_experiment %||% e$experiment, message = conditionMessage(e))
  }
  message <- if (length(hit)) sub(" The database says: .*$", "", conditionMessage(e)) else
    "The agent failed; nothing was changed."
  note_locked(service, req, e)
  answer <- api_error(kind[1], kind[2], message)
  if (kind[2] == "store") answer$headers[["Retry-After"]] <- "1"
  # The caller has a person waiting: the arm to fall back on
  if (kind[2] == "ended") answer$body <- api_json(list(error = kind[2], message = message,
                                                       arm = ended_arm(service, req)))
  answer
}

ended_arm <- function(service, req) {
  agent <- service$agents$find(req$dpts_experiment)
  agent$life$arms[agent$life$winner]
}

# A line of the log, and the counters
note_answer <- function(service, req, answer, began) {
  service$last <- seconds_now()
  took <- service$last - began
  if (tells_of_answers(service, req, answer$status, answer$error)) return(invisible())
  path <- req$dpts_route$path %||% "other"
  service$metrics$add("requests", c(path, req$REQUEST_METHOD, answer$status))
  service$metrics$time(path, took)
  service$log(event = "request", method = req$REQUEST_METHOD, path = substr(req$PATH_INFO, 1, 200),
              status = answer$status,
              error = answer$error, seconds = round(took, 4), roles = paste(req$dpts_roles, collapse = " "))
}

# With use = "deadline", and of other outcomes, it is protected whether and when an answer came. So a report
# to such an agent leaves no trace in the counters or the log, unless the service failed (which the clock does
# not) or the caller may not report.
tells_of_answers <- function(service, req, status = 200, error = NULL) {
  failed <- status >= 500 && !identical(error, "clock")
  if (!grepl("/reward$", req$PATH_INFO) || failed || status %in% c(401, 403, 404, 405)) return(FALSE)
  asked <- api_target(service, req$PATH_INFO)
  agent <- tryCatch(service$agents$find(asked$experiment), error = function(e) NULL)
  !isFALSE(agent$silent) || !is.null(agent$terms$outcomes)
}

# A log that nobody reads does not stop the service: a line for a pipe that is full is lost. (Up to 4,096
# bytes go into one that is not.)
write_log <- function(connection, ..., hourly = FALSE) {
  if (identical(as.integer(connection), 2L) && !.Call(C_stderr_ready)) return(invisible())
  now <- Sys.time()
  second <- floor(unclass(now))
  if (!identical(c(second, hourly), log_time$of)) {
    log_time$of <- c(second, hourly)
    log_time$text <- format(now, if (hourly) "%Y-%m-%dT%HZ" else "%Y-%m-%dT%H:%M:%S", tz = "UTC")
  }
  time <- log_time$text
  if (!hourly) time <- sprintf("%s.%03dZ", time, as.integer(1e3 * (unclass(now) - second)))
  fields <- c(list(time = time), Filter(length, list(...)))
  for (name in names(fields)) {
    x <- fields[[name]] <- as_utf8(fields[[name]])
    if (is.character(x) && (nchar(x, "bytes") > 900 || !validUTF8(x))) {
      fields[[name]] <- substr(iconv(x, "UTF-8", "UTF-8", sub = "byte"), 1, 900)
    }
  }
  writeLines(api_json(fields), connection, useBytes = TRUE) # in UTF-8, whatever the session's encoding
}

# The text of the second in which a line was written last
log_time <- new.env(parent = emptyenv())

# Tokens ----

# Who may do what: a function from the header of a request to the roles of its token, with attributes `id`, of
# the token, and `who`, for the journal. All bytes of digests
# are compared: the time it takes tells nothing of the tokens.
token_keeper <- function(token, log) {
  last <- roles <- digests <- NULL
  known <- FALSE
  if (is.function(token)) check_callback(token, "token()")
  right <- list() # what right headers gave
  read <- function() {
    now <- if (is.function(token)) token() else token
    if (known && identical(now, last)) return(invisible())
    given <- check_tokens(now)
    roles <<- names(given)
    digests <<- vapply(given, token_digest, integer(32))
    last <<- now
    known <<- TRUE
    right <<- list()
  }
  read()
  function(header) {
    tryCatch(read(), error = function(e) log(event = "error", error = "token", message = conditionMessage(e)))
    if (is.null(header) || !grepl("^[Bb]earer +", header, useBytes = TRUE)) header <- "Bearer "
    if (!is.null(right[[header]])) return(right[[header]])
    shown <- sub("^[Bb]earer +", "", header, useBytes = TRUE)
    digest <- token_digest(shown)
    hit <- colSums(matrix(bitwXor(rep(digest, ncol(digests)), digests), 32)) == 0
    found <- structure(unique(sub(":.*", "", roles[hit])), id = paste(digest[1:8], collapse = "-"),
                       who = paste("service:", roles[hit][1]))
    if (any(hit)) right[[header]] <<- found
    found
  }
}

token_digest <- function(x) as.integer(.Call(C_unhex, cli::hash_raw_sha256(charToRaw(x))))

check_tokens <- function(token) {
  token <- as_utf8(unlist(token))
  if (is.character(token) && is.null(names(token)) && length(token) == 1) names(token) <- "admin"
  # What is wrong with a secret is not printed.
  if (!is.character(token) || !length(token) || anyNA(token) || any(nchar(token, "bytes") < 16)) {
    abort_arg("token", "one or more strings of at least 16 characters")
  }
  # A list of several for a role: unlist() numbers their names.
  names(token) <- sub("^([a-z]+)[0-9]+$", "\\1", as_utf8(names(token)))
  if (!all(sub(":[^[:cntrl:]]+$", "", names(token)) %in% API_ROLES)) {
    abort_arg("token", sprintf("named by roles, some of %s; a colon and a name may follow",
                               words_list(paste0("\"", API_ROLES, "\""))))
  }
  token
}

# So many requests a second, of each token: after a pause as many at once
rate_keeper <- function(rate) {
  left <- new.env(parent = emptyenv())
  function(who) {
    if (rate == Inf) return(TRUE)
    who <- who %||% "none"
    now <- seconds_now()
    old <- left[[who]] %||% c(Inf, now)
    n <- min(max(1, rate), old[1] + rate * (now - old[2]))
    assign(who, c(n - (n >= 1), now), left)
    n >= 1
  }
}
