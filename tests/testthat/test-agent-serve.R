# A service as a process of its own, started once for all tests of this file.

TOKENS <- list(choose = "choose-0123456789", report = "report-0123456789", read = "read-0123456789012",
               admin = "admin-0123456789012")

service <- local({
  running <- NULL
  function(env = parent.frame()) {
    skip_on_cran()
    skip_on_os("windows")
    for (package in c("callr", "plumber", "openssl", "RSQLite")) skip_if_not_installed(package)
    if (!is.null(running)) return(running)
    folder <- tempfile("service")
    dir.create(folder)
    for (name in c("buttons", "two words")) {
      agent_close(dpts_agent(batch_policy(), c("red", "green"), file.path(folder, paste0(name, ".sqlite")), use = "arrival"))
    }
    port <- 20000 + Sys.getpid() %% 20000
    process <- callr::r_bg(function(folder, port, tokens) {
      dpts::agent_serve(folder, port, function() readRDS(tokens))
      "returned"
    }, list(folder, port, { saveRDS(TOKENS, file.path(folder, "tokens")); file.path(folder, "tokens") }),
    stderr = file.path(folder, "log"), supervise = TRUE)
    withr::defer({
      process$kill()
      unlink(folder, recursive = TRUE)
    }, testthat::teardown_env())
    log <- function() lapply(readLines(file.path(folder, "log")), jsonlite::parse_json)
    for (i in 1:600) if (!file.size(file.path(folder, "log")) && process$is_alive()) Sys.sleep(0.1)
    if (!process$is_alive()) stop("the service did not start: ", readLines(file.path(folder, "log")))
    running <<- list(process = process, port = port, folder = folder, log = log, url = sprintf("http://127.0.0.1:%d", port))
    running
  }
})

# The status line and the rest of what the service says to these bytes
send <- function(port, ..., body = raw(), wait = 10) {
  con <- socketConnection("127.0.0.1", port, open = "r+b", blocking = TRUE, timeout = wait)
  on.exit(close(con))
  writeBin(c(charToRaw(paste0(c(..., "Connection: close", "", ""), collapse = "\r\n")), body), con)
  readLines(con, warn = FALSE)
}

test_that("the start line has address and version, and a request is answered and noted", {
  s <- service()
  start <- s$log()[[1]]
  expect_equal(start$event, "start")
  expect_equal(start$address, s$url)
  expect_equal(start$version, as.character(packageVersion("dpts")))
  expect_equal(start$experiments, 2)
  answer <- send(s$port, "GET /ready HTTP/1.1", "Host: x")
  expect_equal(answer[1], "HTTP/1.1 200 OK")
  expect_match(answer[length(answer)], '"experiments":2', fixed = TRUE)
  expect_equal(s$log()[[2]]$path, "/ready")
})

test_that("token and size are checked before the body has come", {
  s <- service()
  head <- c("POST /experiments/buttons/choose HTTP/1.1", "Host: x")
  # Of these bodies nothing is ever sent, so that whoever waited for them would not answer.
  expect_match(send(s$port, head, "Content-Length: 100")[1], " 401 ")
  expect_match(send(s$port, head, "Authorization: Bearer read-0123456789012", "Content-Length: 100")[1], " 403 ")
  long <- send(s$port, head, "Authorization: Bearer choose-0123456789", "Content-Length: 1000001")
  expect_match(long[1], " 413 ")
  expect_equal(jsonlite::parse_json(long[length(long)])$error, "too_large")
  expect_match(send(s$port, head, "Authorization: Bearer choose-0123456789", "Transfer-Encoding: chunked")[1], " 413 ")
  good <- send(s$port, head, "Authorization: Bearer choose-0123456789", "Content-Length: 8", body = charToRaw('{"n": 2}'))
  expect_match(good[1], " 200 ")
  expect_equal(jsonlite::fromJSON(good[length(good)])$t, 1:2)
})

test_that("tokens are changed while it runs", {
  s <- service()
  status <- function(token) sub(" .*", "", sub("^\\S+ ", "", send(s$port, "GET /experiments HTTP/1.1", "Host: x",
                                                                  paste("Authorization: Bearer", token))[1]))
  expect_equal(status("read-0123456789012"), "200")
  expect_equal(status("other-0123456789012"), "401")
  saveRDS(c(TOKENS, read = "other-0123456789012"), file.path(s$folder, "tokens"))
  expect_equal(status("other-0123456789012"), "200")
  saveRDS(TOKENS, file.path(s$folder, "tokens"))
  expect_equal(status("other-0123456789012"), "401")
})

test_that("a port that is in use is named", {
  s <- service()
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  error <- expect_error(agent_serve(agent, s$port, TOKENS, log = NULL), class = "dpts_error_port")
  expect_match(conditionMessage(error), sprintf("`port` %d of 127.0.0.1 is in use", s$port), fixed = TRUE)
})

# The last test of this file: it ends the service
test_that("SIGTERM: what has come is answered, the stores are closed, and all is well", {
  s <- service()
  s$process$signal(tools::SIGTERM)
  s$process$wait(15000)
  expect_equal(s$process$get_exit_status(), 0)
  expect_equal(s$process$get_result(), "returned")
  expect_equal(s$log()[[length(s$log())]]$event, "end")
  # A store that was closed has no write-ahead log.
  expect_length(list.files(s$folder, "wal$|shm$"), 0)
})
