# A process that serves agents: which they are, and how it begins and ends.

SERVE_SECONDS <- 20 # for the head of a request, for its body, and for taking an answer
SERVE_BYTES <- 1.28e8 # of all requests and answers under way together

#' @rdname agent_api
#' @export
agent_serve <- function(agent, port, token, host = "127.0.0.1", ..., rate = Inf, log = stderr()) {
  check_dots_empty(...)
  check_all_given()
  port <- check_count(port, 1, 65535)
  check_string(host)
  service <- new_service(agent, token, rate, log)
  on.exit(service$agents$close(all = FALSE))
  server <- .Call(C_serve_open, host, port, SERVE_SECONDS, SERVE_BYTES)
  if (is.character(server)) {
    abort_input("port", "`port` %d of %s cannot be used: %s.", port, host, server, class = "dpts_error_port")
  }
  on.exit(.Call(C_serve_close, server), add = TRUE, after = FALSE)
  .Call(C_watch_end, TRUE)
  on.exit(.Call(C_watch_end, FALSE), add = TRUE)
  service$log(event = "start", address = sprintf("http://%s:%d", host, port),
              version = package_version_text(), experiments = length(service$agents$names()))
  while (!.Call(C_end_asked)) serve_one(service, server, 200L)
  # What has come is answered; what comes now is refused.
  service$ending <- TRUE
  service$last <- began <- seconds_now()
  while (seconds_now() - service$last < 0.3 && seconds_now() - began < 5) serve_one(service, server, 50L)
  service$agents$close(all = TRUE)
  service$log(event = "end")
  invisible(agent)
}

# The next request that comes in so many milliseconds, or at once if there are parts to do; NULL: none
next_request <- function(service, server, milliseconds) {
  busy <- length(service$waiting) > 0
  got <- .Call(C_serve_next, server, if (busy) 0L else milliseconds)
  # Whoever is new to this look has mostly asked already, and should not wait for a part first.
  if (is.null(got) && busy) .Call(C_serve_next, server, 1L) else got
}

# Answer the next request, if one comes in so many milliseconds, and do one part of an answer that takes long
serve_one <- function(service, server, milliseconds) {
  got <- next_request(service, server, milliseconds)
  if (!is.null(got)) {
    req <- list2env(got, parent = emptyenv())
    if (!got$whole) return(serve_answer(service, server, req, answer_head)) # the rest of it is often there
    if (serve_later(service, req)) return(invisible())
    serve_answer(service, server, req, answer_request)
  }
  if (!length(service$waiting)) return(invisible())
  first <- service$waiting[[1]]
  if (length(first$parts)) {
    began <- seconds_now()
    # What fails here fails when the answer is made, and is told there. A part gives TRUE if it has more to
    # do, and may give the parts that follow.
    old <- options(dpts.patience = service_patience(service, first$req))
    on.exit(options(old))
    more <- suppressMessages(suppressWarnings(tryCatch(first$parts[[1]](), error = function(e) {
      note_locked(service, first$req, e)
      NULL
    })))
    first$owner$spent <- (first$owner$spent %||% 0) + seconds_now() - began
    if (inherits(more, "dpts_parts")) service$waiting[[1]][names(more)] <- unclass(more)
    else if (!isTRUE(more)) service$waiting[[1]]$parts <- first$parts[-1]
  } else {
    service$waiting <- service$waiting[-1]
    serve_answer(service, server, first$req, answer_request)
    first$owner$spent <- 0
  }
}

# Does the answer to a request wait for its parts? Those of one agent wait for each other. An agent that is
# not open yet is opened in parts. Requests without other parts come first.
serve_later <- function(service, req) {
  if (!is.null(tryCatch(api_refused(service, req), error = function(e) e))) return(FALSE)
  route <- req$dpts_route
  name <- req$dpts_experiment
  own <- function() {
    owner <- if (route$agent) service$agents$find(name) else service
    parts <- if (!is.null(route$parts)) route$parts(owner, read_query(req, route$query))
    structure(list(owner = owner, parts = parts), class = "dpts_parts")
  }
  if (route$agent && !service$agents$is_open(name)) {
    item <- list(owner = new.env(), parts = list(
      function() service$agents$step(name),
      function() if (service$agents$is_open(name)) own()
    ))
  } else {
    item <- if (!is.null(route$parts)) tryCatch(own(), error = function(e) NULL)
    if (!length(item$parts)) return(FALSE)
  }
  item <- list(c(list(req = req), unclass(item)))
  service$waiting <- if (is.null(route$parts)) c(item, service$waiting) else c(service$waiting, item)
  TRUE
}

serve_answer <- function(service, server, req, work) {
  answer <- tryCatch(work(service, req), error = function(e) api_caught(service, req, e))
  if (is.null(answer)) return(.Call(C_serve_let_in, server, req$id))
  head <- c(sprintf("HTTP/1.1 %d %s", answer$status, if (answer$status == 200) "OK" else "Error"),
            paste0(names(answer$headers), ": ", answer$headers), "")
  .Call(C_serve_answer, server, req$id, paste(head, collapse = "\r\n"), answer$body)
}
