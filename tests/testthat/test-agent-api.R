TOKEN <- "0123456789-secret"

# A request as httpuv hands it over, without a socket
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
  list(status = answer$status, text = text, headers = answer$headers,
       json = tryCatch(jsonlite::parse_json(text, simplifyVector = TRUE), error = function(e) NULL))
}

new_api <- function(...) {
  skip_if_not_installed("plumber")
  skip_if_not_installed("openssl")
  agent <- dpts_agent(batch_policy(), c("a", "b"), use = "arrival", ...)
  list(agent = agent, router = agent_api(agent, TOKEN))
}

test_that("the service chooses, takes rewards and reports", {
  api <- new_api()
  one <- call_api(api$router, "POST", "/choose")
  expect_equal(one$status, 200)
  expect_named(one$json, c("ticket", "t", "arm", "probability"))
  two <- call_api(api$router, "POST", "/choose", '{"n": 2, "offer": ["b"]}')$json
  expect_equal(two$arm, c("b", "b"))
  reward <- call_api(api$router, "POST", "/reward",
                     sprintf('{"ticket": "%s", "reward": 1}', one$json$ticket))
  expect_equal(reward$json$status, "used")
  several <- call_api(api$router, "POST", "/reward",
                      sprintf('{"ticket": ["%s", "%s"], "reward": [0, 0.5]}', two$ticket[1], two$ticket[2]))
  expect_equal(several$json$status, c("used", "used"))
  status <- call_api(api$router, "GET", "/status")$json
  expect_equal(status$rounds, 3)
  expect_equal(status$arms$pulls, pulls(api$agent)$pulls)
  expect_setequal(names(status), c("name", "policy", "guarantee", "restored", "learning", "use", "rounds",
                                   "horizon", "outstanding", "arms", "shares", "deadline", "range", "sums",
                                   "spends", "guess"))
  # 1-GDP: the best test errs with probability pnorm(-1/2) on either side.
  expect_gte(status$guess, stats::pnorm(0.5))
  expect_lt(status$guess, stats::pnorm(0.5) + 0.01)
  privacy <- call_api(api$router, "GET", "/privacy", query = "?delta=1e-6")$json
  expect_equal(privacy$epsilon, dpts_privacy(api$agent, delta = 1e-6)$epsilon)
  estimates <- call_api(api$router, "GET", "/estimates", query = "?level=0.9")$json
  expect_equal(estimates$upper, estimates(api$agent, 0.9)$upper)
})

test_that("only who shows the token gets in, and the token is nowhere in an answer", {
  api <- new_api()
  for (token in list(NULL, "", "x", paste0(TOKEN, "x"), substr(TOKEN, 1, 16))) {
    answer <- call_api(api$router, "POST", "/choose", token = token)
    expect_equal(answer$status, 401)
    expect_no_match(answer$text, TOKEN, fixed = TRUE)
  }
  # Without the word Bearer it is no bearer token.
  expect_false(dpts:::token_matches(TOKEN, TOKEN))
  expect_true(dpts:::token_matches(paste("bearer", TOKEN), TOKEN))
  expect_equal(nrow(dpts_history(api$agent)), 0)
  expect_error(agent_api(api$agent, "short"), class = "dpts_error_input")
  expect_error(agent_api(api$agent, NULL), class = "dpts_error_input")
  page <- call_api(api$router, "GET", "/", token = NULL)
  expect_equal(page$status, 200)
  # The page needs nothing from elsewhere.
  expect_no_match(gsub("http://www.w3.org/2000/svg", "", page$text, fixed = TRUE), "https?://")
  description <- call_api(api$router, "GET", "/openapi.json", token = NULL)$json
  expect_setequal(names(description$paths), c("/", "/openapi.json", "/choose", "/reward", "/status",
                                              "/privacy", "/estimates"))
})

test_that("errors have the right status, in JSON, and change nothing", {
  api <- new_api()
  ticket <- call_api(api$router, "POST", "/choose")$json$ticket
  ask <- function(method, path, body = "", ...) {
    answer <- call_api(api$router, method, path, body, ...)
    expect_named(answer$json, c("error", "message"))
    expect_no_match(answer$text, "Error in|traceback|dpts:::|\\.R:")
    answer$status
  }
  expect_equal(ask("POST", "/choose", "{bad"), 400)
  expect_equal(ask("POST", "/choose", "[]"), 400)
  expect_equal(ask("POST", "/choose", '"x"'), 400)
  expect_equal(ask("POST", "/choose", '{"m": 1}'), 400)
  expect_equal(ask("POST", "/choose", '{"n": 1, "n": 2}'), 400)
  expect_equal(ask("POST", "/choose", '{"n": 1001}'), 400)
  expect_equal(ask("POST", "/choose", '{"offer": ["z"]}'), 400)
  expect_equal(ask("POST", "/choose", '{"person": "p"}'), 400)
  expect_equal(ask("POST", "/choose", as.raw(c(0xff, 0xfe, 0))), 400)
  expect_equal(ask("POST", "/choose", strrep(" ", 1e6 + 1)), 413)
  expect_equal(ask("POST", "/choose", '{"key": "a b"}'), 400)
  expect_equal(ask("POST", "/reward", sprintf('{"ticket": "%s", "reward": 2}', ticket)), 400)
  expect_equal(ask("POST", "/reward", sprintf('{"ticket": "%s"}', ticket)), 400)
  call_api(api$router, "POST", "/reward", sprintf('{"ticket": "%s", "reward": 1}', ticket))
  expect_equal(ask("GET", "/choose"), 405)
  expect_equal(ask("DELETE", "/status"), 405)
  expect_equal(ask("GET", "/nothing"), 404)
  expect_equal(ask("GET", "/privacy", query = "?delta=2"), 400)
  expect_equal(ask("GET", "/estimates", query = "?level=%zz"), 400)
  # Each report has its own answer. (The first batch of two is not released yet.)
  answers <- call_api(api$router, "POST", "/reward", sprintf('{"ticket": ["%s", "x"], "reward": 0}', ticket))
  expect_equal(answers$status, 200)
  expect_equal(answers$json$status, c("refused", "unknown"))
  expect_equal(nrow(dpts_history(api$agent)), 1)
  # A key brings the same ticket again, and is none for another call.
  again <- replicate(2, call_api(api$router, "POST", "/choose", '{"key": "k1"}')$json$ticket)
  expect_equal(again[1], again[2])
  expect_equal(ask("POST", "/choose", '{"key": "k1", "n": 2}'), 409)
  api$agent$store$commit <- function(...) stop("database is locked")
  expect_equal(ask("POST", "/choose"), 500)
  agent_close(api$agent)
  expect_equal(ask("POST", "/choose"), 503)
})

test_that("malformed requests: no crash and no 500", {
  api <- new_api()
  n <- if (identical(Sys.getenv("DPTS_EXTENDED_TESTS"), "true")) 5000 else 300
  parts <- c("{", "}", "[", "]", ":", ",", '"n"', '"ticket"', '"offer"', '"reward"', "1e999", "-1",
             "null", "true", "\"\\u0000\"", "\"a\"", "0.5", "NaN", "{}", "\\", "\xff", "1e5")
  status <- withr::with_seed(3, vapply(seq_len(n), function(i) {
    body <- if (i %% 3 == 0) as.raw(sample(0:255, sample(40, 1), TRUE)) else
      charToRaw(paste(sample(parts, sample(8, 1), TRUE), collapse = ""))
    if (i %% 3 == 1) {
      body <- charToRaw(sprintf('{"%s": %s, "%s": %s}', sample(c("n", "ticket", "offer", "context"), 1),
                                sample(c("[[1]]", "{}", "[]", "null", "[null]", "\"x\"", "1e300", "true",
                                         "[1,\"a\"]", "{\"a\":[1,2]}"), 1),
                                sample(c("reward", "person", "offer"), 1),
                                sample(c("[[1]]", "{}", "[]", "null", "[null]", "-0.0", "[true]"), 1)))
    }
    call_api(api$router, sample(c("POST", "POST", "GET", "PUT"), 1),
             sample(c("/choose", "/reward", "/privacy", "/%00", "//"), 1), body,
             query = sample(c("", "?delta=", "?delta=%", "?&&=", "?delta[]=1"), 1))$status
  }, 0))
  expect_true(all(status %in% c(200, 400, 404, 405, 413)))
  expect_equal(call_api(api$router, "POST", "/choose")$status, 200)
})

test_that("no answer waits for a client that puts off its acknowledgement: each has a connection of its own", {
  api <- new_api()
  for (path in c("/", "/status", "/nothing")) {
    answer <- call_api(api$router, "GET", path)
    expect_identical(answer$headers$Connection, "close")
  }
})

test_that("broken JSON leaves nothing in memory, and depth has a limit", {
  api <- new_api()
  send <- function(n) {
    status <- replicate(n, call_api(api$router, "POST", "/choose", strrep("[", 2000))$status)
    expect_equal(unique(status), 400)
  }
  deep <- paste0('{"context": ', strrep("[", 50), strrep("]", 50), "}")
  expect_equal(call_api(api$router, "POST", "/choose", deep)$status, 400)
  # Brackets in a string are none.
  offer <- sprintf('{"offer": ["%s\\""]}', strrep("[", 50))
  expect_match(call_api(api$router, "POST", "/choose", offer)$json$message, "offer")
  skip_if_not(file.exists("/proc/self/status"))
  skip_if(nzchar(Sys.getenv("ASAN_OPTIONS")), "AddressSanitizer keeps what was freed")
  # For a parser that keeps what it could not read this would be 30 MB.
  memory <- function() {
    gc()
    line <- grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) / 1024
  }
  send(50)
  before <- memory()
  send(200)
  expect_lt(memory() - before, 12)
})

test_that("the service says what R says of bad input, without the cost of a backtrace", {
  api <- new_api()
  said <- call_api(api$router, "POST", "/choose", '{"n": -1}')$json$message
  expect_equal(said, conditionMessage(tryCatch({
    n <- -1
    dpts:::check_count(n, 1, 1000)
  }, error = identity)))
  # What goes wrong in a request has no trace, and is an error like any other outside.
  seen <- NULL
  api$agent$session$play <- function(...) {
    seen <<- tryCatch(dpts:::abort_arg("offer", "right", "wrong", NULL), error = identity)
    stop(seen)
  }
  expect_equal(call_api(api$router, "POST", "/choose")$status, 400)
  expect_s3_class(seen, "dpts_error_input")
  expect_null(seen$trace)
  expect_null(getOption("dpts.service"))
})
