# A process that serves agents: which they are, and how it begins and ends.

SERVE_SECONDS <- 20 # for the head of a request, for its body, and for taking an answer
SERVE_BYTES <- 1.28e8 # of all requests and answers under way together

#' @rdname agent_api
#' @export
agent_serve <- function(agent, port, token, host = "127.0.0.1", ..., rate = Inf, log = stderr()) {
  check_all_given()
  check_dots_empty(...)
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

# Answer the next request, if one comes in so many milliseconds
serve_one <- function(service, server, milliseconds) {
  got <- .Call(C_serve_next, server, milliseconds)
  if (is.null(got)) return(invisible())
  req <- list2env(got, parent = emptyenv())
  answer <- tryCatch(if (got$whole) answer_request(service, req) else answer_head(service, req),
                     error = function(e) api_caught(service, req, e))
  if (is.null(answer)) return(.Call(C_serve_let_in, server, got$id))
  head <- c(sprintf("HTTP/1.1 %d %s", answer$status, if (answer$status == 200) "OK" else "Error"),
            paste0(names(answer$headers), ": ", answer$headers), "")
  .Call(C_serve_answer, server, got$id, paste(head, collapse = "\r\n"), answer$body)
}
