# A process that serves agents: which they are, and how it begins and ends.

#' @rdname agent_api
#' @export
agent_serve <- function(agent, port, token, host = "127.0.0.1", ..., rate = Inf, log = stderr()) {
  check_all_given()
  check_dots_empty(...)
  port <- check_count(port, 1, 65535)
  check_string(host)
  service <- new_service(agent, token, rate, log)
  on.exit(service$agents$close(all = FALSE))
  # httpuv asks with the head of a request alone before it reads the body.
  # There is no router between the two: what it parses is not needed.
  app <- list(call = function(req) answer_request(service, req), onHeaders = function(req) {
    began <- seconds_now()
    answer <- api_refused(service, req)
    if (!is.null(answer)) note_answer(service, req, answer, began)
    answer
  }, onWSOpen = function(ws) ws$close())
  server <- tryCatch(httpuv::startServer(host, port, app, quiet = TRUE), error = function(e) {
    abort_input("port", "`port` %d of %s is in use, or may not be used: choose another.", port, host,
                class = "dpts_error_port")
  })
  on.exit(httpuv::stopServer(server), add = TRUE, after = FALSE)
  .Call(C_watch_end, TRUE)
  on.exit(.Call(C_watch_end, FALSE), add = TRUE)
  service$log(event = "start", address = sprintf("http://%s:%d", host, port),
              version = package_version_text(), experiments = length(service$agents$names()))
  while (!.Call(C_end_asked)) httpuv::service(200)
  # What has come is answered; what comes now is refused.
  service$ending <- TRUE
  service$last <- began <- seconds_now()
  while (seconds_now() - service$last < 0.3 && seconds_now() - began < 5) httpuv::service(50)
  service$agents$close(all = TRUE)
  service$log(event = "end")
  invisible(agent)
}
