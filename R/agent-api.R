#' Serve an agent over HTTP
#'
#' `agent_api()` gives a plumber router, `agent_serve()` runs it.
#'
#' @details
#' | request | body or query | answer |
#' | --- | --- | --- |
#' | `POST /choose` | `{"n": 1, "offer": \["a"\], "context": \[0.2\], "person": "id", "key": "order-17"}`, all optional: see [agent_choose()] | a list of `ticket`, `t`, `arm` |
#' | `POST /reward` | `{"ticket": "...", "reward": 1}`, or lists of both | a list of `ticket`, `status`: each report has its own |
#' | `GET /status` | | `name`, `policy`, `guarantee`, `restored` (how often), `learning` (is it inside its budget?), `use`, `deadline` (seconds), `range`, `rounds`, `horizon`, `outstanding`, `arms`, `shares`, `sums` (are there estimates?), `spends` (`"once"` per reward or `"by choice"`), `guess` (how often the best guess of a reward is right at most) |
#' | `GET /privacy` | `delta=1e-6` | as [dpts_privacy()][agent_results] |
#' | `GET /estimates` | `level=0.95` | as [estimates()][agent_results] |
#' | `GET /openapi.json` | | the description of all this, without token |
#' | `GET /` | | a page for people, without token; it asks for it |
#'
#' Every other request needs the header `Authorization: Bearer <token>`. Answers and errors are
#' JSON; an error is `{"error": "...", "message": "..."}` with status 400 (bad input), 401 (no or wrong token),
#' 404 (no such path), 405, 409 (the horizon is over, or the key came with another call), 413, 503 (the store cannot
#' be written now: try again) or 500. Numbers that are infinite or unknown are `null`.
#'
#' One process answers one request at a time. On PostgreSQL several may share an agent. There is
#' no encryption here: put it behind a server that speaks HTTPS.
#'
#' @inheritSection dpts_agent What is published
#'
#' @param agent An agent.
#' @param token What clients must show: a string of at least 16 characters.
#' @param port,host Where to listen. By default the machine itself alone can connect.
#' @returns `agent_api()`: a plumber router. `agent_serve()` runs until it is interrupted and returns the
#'   agent, invisibly.
#' @family agent
#' @examples
#' \dontrun{
#' agent <- agent_open("trial.sqlite")
#' agent_serve(agent, port = 8000, token = Sys.getenv("AGENT_TOKEN"))
#' }
#' @export
agent_api <- function(agent, token) {
  check_all_given()
  check_agent(agent)
  token <- check_token(token)
  need_package("plumber", "to serve an agent")
  need_package("openssl", "to compare tokens")
  router <- plumber::pr(envir = new.env())
  router$setDocs(FALSE)
  # Handlers catch their own errors, so whatever gets here is a request that plumber cannot read.
  router$setErrorHandler(function(req, res, err) {
    api_error(res, 400, "bad_request", "The request cannot be read.")
  })
  router$set404Handler(function(req, res) {
    api_error(res, 404, "not_found", "There is no such path.")
  })
  answer <- function(method, path, body, open = FALSE) {
    handler <- function(req, res) {
      api_headers(res)
      if (!open && !token_matches(req$HTTP_AUTHORIZATION, token)) {
        res$setHeader("WWW-Authenticate", "Bearer")
        return(api_error(res, 401, "token", "The bearer token is missing or wrong."))
      }
      old <- options(dpts.service = TRUE)
      on.exit(options(old))
      tryCatch(body(req, res), error = function(e) api_caught(res, e))
    }
    # The handlers read the body themselves: plumber's guess at what it is may fail.
    unread <- structure(list(), class = c("plumber_parsed_parsers", "list"))
    router$handle(method, path, handler, serializer = serializer_as_is(), parsers = unread)
    others <- setdiff(c("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"), method)
    router$handle(others, path, function(req, res) {
      api_headers(res)
      res$setHeader("Allow", method)
      api_error(res, 405, "method", "This path has another method.")
    }, serializer = serializer_as_is(), parsers = unread)
  }
  answer("GET", "/", function(req, res) {
    res$setHeader("Content-Type", "text/html; charset=utf-8")
    res$setHeader("Content-Security-Policy",
                  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'")
    api_page()
  }, open = TRUE)
  answer("GET", "/openapi.json", function(req, res) api_json(api_description()), open = TRUE)
  answer("POST", "/choose", function(req, res) {
    given <- api_body(req, c("n", "offer", "context", "person", "key"))
    n <- given$n %||% 1
    check_count(n, 1, 1000)
    chosen <- agent_choose(agent, n, offer = api_strings(given$offer), context = given$context,
                           person = api_strings(given$person), key = api_strings(given$key))
    api_json(chosen)
  })
  answer("POST", "/reward", function(req, res) {
    given <- api_body(req, c("ticket", "reward"))
    if (length(given$ticket) > 1000) abort_body("`ticket` must be at most 1000 tickets.")
    api_json(agent_reward(agent, api_strings(given$ticket), given$reward))
  })
  answer("GET", "/status", function(req, res) api_json(api_status(agent)))
  answer("GET", "/privacy", function(req, res) {
    delta <- api_number(req, "delta", 10^-(1:12))
    api_json(dpts_privacy(agent, delta = delta))
  })
  answer("GET", "/estimates", function(req, res) {
    api_json(estimates(agent, level = api_number(req, "level", 0.95)))
  })
  router
}

#' @rdname agent_api
#' @export
agent_serve <- function(agent, port, token, host = "127.0.0.1") {
  check_all_given()
  router <- agent_api(agent, token)
  port <- check_count(port, 1, 65535)
  check_string(host)
  # Above our own limit, so that we answer in JSON, up to where nobody reads on.
  old <- options(plumber.maxRequestSize = 10 * API_MOST_BYTES)
  on.exit(options(old))
  router$run(host = host, port = port, quiet = TRUE, docs = FALSE, swaggerCallback = NULL)
  invisible(agent)
}

API_MOST_BYTES <- 1e6
API_MOST_DEPTH <- 20

check_token <- function(token, call = caller_env()) {
  ok <- is.character(token) && length(token) == 1 && !is.na(token) && nchar(token) >= 16
  # What is wrong with a secret is not printed.
  if (!ok) abort_arg("token", "a string of at least 16 characters", call = call)
  token
}

#' Compares digests, all bytes of them: the time it takes tells nothing of the token
#' @noRd
token_matches <- function(header, token) {
  shown <- if (is.null(header)) "" else sub("^[Bb]earer +", "", header)
  digest <- function(x) as.integer(openssl::sha256(charToRaw(x)))
  sum(bitwXor(digest(shown), digest(token))) == 0 && !identical(shown, header)
}

serializer_as_is <- function() {
  function(value, req, res, errorHandler) {
    if (is.null(res$headers[["Content-Type"]])) {
      res$setHeader("Content-Type", "application/json; charset=utf-8")
    }
    res$body <- value
    res$toResponse()
  }
}

api_headers <- function(res) {
  res$setHeader("Cache-Control", "no-store")
  res$setHeader("X-Content-Type-Options", "nosniff")
  # httpuv sends the head and the body of an answer separately, and the body waits until the client has acknowledged the
  # head. On a connection that stays open clients put that off for 40 ms; on a new one they do not.
  res$setHeader("Connection", "close")
}

api_json <- function(value) {
  as.character(jsonlite::toJSON(value, dataframe = "rows", auto_unbox = TRUE, na = "null",
                                digits = NA))
}

#' As text: error handlers and the 404 handler answer through plumber's own serializer
#' @noRd
api_error <- function(res, status, error, message) {
  api_headers(res)
  res$status <- status
  res$serializer <- serializer_as_is()
  api_json(list(error = error, message = message))
}

#' Our own errors say what is wrong; of others only that they happened is told
#' @noRd
api_caught <- function(res, e) {
  kinds <- list(
    dpts_error_body = c(400, "bad_request"), dpts_error_size = c(413, "too_large"),
    dpts_error_key = c(409, "key"), dpts_error_horizon = c(409, "horizon"), dpts_error_closed = c(503, "closed"),
    dpts_error_store = c(503, "store"), dpts_error_input = c(400, "input")
  )
  hit <- Filter(function(class) inherits(e, class), names(kinds))
  if (!length(hit)) return(api_error(res, 500, "internal", "The agent failed; nothing was changed."))
  kind <- kinds[[hit[1]]]
  # The database's own words are for the operator.
  message <- sub(" The database says: .*$", "", conditionMessage(e))
  api_error(res, as.integer(kind[1]), kind[2], message)
}

abort_body <- function(message, class = "dpts_error_body") abort_dpts(message, class)

#' The fields of a JSON object; nothing is one without fields
#' @noRd
api_body <- function(req, fields) {
  bytes <- req$bodyRaw
  if (length(bytes) > API_MOST_BYTES) abort_body("The body is too large.", "dpts_error_size")
  if (!length(bytes)) return(list())
  text <- tryCatch(rawToChar(bytes), error = function(e) NULL)
  if (is.null(text) || !validUTF8(text)) abort_body("The body must be JSON in UTF-8.")
  Encoding(text) <- "UTF-8"
  # parse_json() never gives back the memory of what it could not read to the end; validate() does.
  valid <- json_depth(text) <= API_MOST_DEPTH && jsonlite::validate(text)
  given <- if (valid) tryCatch(jsonlite::parse_json(text, simplifyVector = TRUE), error = function(e) NULL)
  if (!is.list(given) || !grepl("^\\s*\\{", text)) abort_body("The body must be a JSON object.")
  unknown <- setdiff(names(given), fields)
  if (length(unknown) || anyDuplicated(names(given))) {
    abort_body(sprintf("The body may have the fields %s, each once.", paste(fields, collapse = ", ")))
  }
  given
}

#' How deep brackets are nested, of JSON or what pretends to be. Parsers recurse.
#' @noRd
json_depth <- function(text) {
  bare <- gsub("\"[^\"]*+\"", "", gsub("\\\\.", "", text, perl = TRUE), perl = TRUE)
  bytes <- charToRaw(bare)
  opens <- bytes == as.raw(0x5b) | bytes == as.raw(0x7b)
  closes <- bytes == as.raw(0x5d) | bytes == as.raw(0x7d)
  max(0, cumsum(opens - closes))
}

#' JSON's empty list is no string, and no NULL either
#' @noRd
api_strings <- function(x) if (is.list(x) && !length(x)) character() else x

api_number <- function(req, name, default, call = caller_env()) {
  text <- req$argsQuery[[name]]
  if (is.null(text)) return(default)
  number <- suppressWarnings(as.numeric(text[[1]]))
  if (length(text) != 1 || is.na(number)) abort_arg(name, "a number", text[[1]], call)
  number
}

api_status <- function(agent) {
  pulls <- pulls(agent)
  shares <- arm_shares(agent)
  terms <- agent$terms
  standing <- agent_standing(agent)
  list(
    name = terms$name %||% NA, policy = terms$policy$name, guarantee = standing$guarantee,
    restored = standing$restored, learning = standing$learning, use = terms$use,
    rounds = sum(pulls$pulls), horizon = terms$horizon %||% NA,
    outstanding = sum(pulls$outstanding), arms = pulls,
    deadline = if (terms$deadline < Inf) terms$deadline else NA, range = terms$range,
    sums = !anyNA(agent$session$arms()$releases),
    spends = if (draws_cost(agent_guarantee(terms$policy))) "by choice" else "once",
    guess = guess_chance(agent_curve(agent)),
    # One row per recorded round and arm, as in autoplot()
    shares = shares
  )
}

api_page <- function() {
  path <- system.file("agent", "page.html", package = "dpts", mustWork = TRUE)
  readChar(path, file.size(path), useBytes = TRUE)
}

api_paths <- function() {
  data.frame(
    path = c("/", "/openapi.json", "/choose", "/reward", "/status", "/privacy", "/estimates"),
    method = c("get", "get", "post", "post", "get", "get", "get"),
    summary = c("A page for people", "This description", "Choose arms", "Report rewards",
                "What was chosen", "What was spent", "What the released sums say")
  )
}

#' OpenAPI 3.0
#' @noRd
api_description <- function() {
  text <- list(type = "string")
  number <- list(type = "number", nullable = TRUE)
  several <- function(schema) list(oneOf = list(schema, list(type = "array", items = schema)))
  row <- function(...) list(type = "array", items = list(type = "object", properties = list(...)))
  unit <- list(type = "number", minimum = 0, maximum = 1)
  input <- list(
    "/choose" = list(n = list(type = "integer", minimum = 1, maximum = 1000, default = 1),
                     offer = list(type = "array", items = text),
                     context = list(type = "array", items = structure(list(), names = character())), person = several(text),
                     key = list(type = "string", pattern = "^[-A-Za-z0-9_.:]{1,100}$")),
    "/reward" = list(ticket = several(text), reward = several(list(type = "number")))
  )
  output <- list(
    "/choose" = row(ticket = text, t = number, arm = text),
    "/reward" = row(ticket = text, status = list(
      type = "string", enum = c("used", "waiting", "known", "late", "refused", "unknown"))),
    "/status" = list(type = "object"),
    "/privacy" = row(unit = text, accountant = text, delta = number, epsilon = number,
                     spent = number),
    "/estimates" = row(arm = text, rewards = number, releases = number, mean = number,
                       lower = number, upper = number)
  )
  query <- list("/privacy" = "delta", "/estimates" = "level")
  error <- function(words) list(description = words)
  paths <- api_paths()
  one <- function(i) {
    path <- paths$path[i]
    open <- is.null(output[[path]])
    entry <- list(summary = paths$summary[i], responses = list(
      "200" = c(list(description = "Done"), if (!open) list(content = list(
        "application/json" = list(schema = output[[path]]))))
    ))
    if (open) entry$security <- list()
    if (!open) entry$responses[["401"]] <- error("No token, or a wrong one")
    if (!is.null(input[[path]])) {
      entry$requestBody <- list(content = list("application/json" = list(
        schema = list(type = "object", properties = input[[path]], additionalProperties = FALSE))))
      entry$responses[["400"]] <- error("Bad input")
      entry$responses[["503"]] <- error("Not now: try again")
    }
    if (path == "/choose") {
      entry$responses[["409"]] <- error("The horizon is over, or the key came with another call")
    }
    if (!is.null(query[[path]])) {
      entry$parameters <- list(list(name = query[[path]], `in` = "query", schema = unit))
    }
    stats::setNames(list(entry), paths$method[i])
  }
  list(
    openapi = "3.0.3",
    info = list(title = "A private bandit", version = as.character(utils::packageVersion("dpts"))),
    security = list(list(bearer = list())),
    components = list(securitySchemes = list(bearer = list(type = "http", scheme = "bearer"))),
    paths = stats::setNames(lapply(seq_len(nrow(paths)), one), paths$path)
  )
}
