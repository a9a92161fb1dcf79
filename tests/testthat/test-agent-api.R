skip_on_cran() # takes seconds

new_api <- function(..., token = TOKEN) {
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(batch_policy(), c("a", "b"), use = "arrival", ...)
  list(agent = agent, router = agent_api(agent, token, log = NULL))
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
                                   "horizon", "outstanding", "clipped", "arms", "then", "winner", "shares", "deadline", "window", "range",
                                   "sums", "spends", "guess", "often", "outcomes"))
  # 1-GDP: the best test errs with probability pnorm(-1/2) on either side.
  expect_gte(status$guess, stats::pnorm(0.5))
  expect_lt(status$guess, stats::pnorm(0.5) + 0.01)
  privacy <- call_api(api$router, "GET", "/privacy", query = "?delta=1e-6")$json
  expect_equal(privacy$epsilon, dpts_privacy(api$agent, delta = 1e-6)$epsilon)
  estimates <- call_api(api$router, "GET", "/estimates", query = "?level=0.9")$json
  expect_equal(estimates$upper, estimates(api$agent, 0.9)$upper)
})

test_that("the service takes a prediction with each choice, null where nothing is known", {
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(policy_randomised(1, outcome = "continuous", predicted = c(0.2, 0.8)), c("a", "b"),
                      use = "arrival", range = c(0, 50))
  log <- textConnection("noted", "w", local = TRUE)
  withr::defer(close(log))
  router <- agent_api(agent, TOKEN, log = log)
  choose <- function(body) call_api(router, "POST", "/choose", body)
  two <- choose('{"n": 2, "predicted": [41.625, null]}')
  expect_equal(two$status, 200)
  expect_equal(two$json$t, 1:2)
  expect_equal(choose('{"predicted": [null]}')$status, 200)
  expect_equal(choose('{"predicted": 20}')$status, 200)
  for (body in c("{}", '{"predicted": null}', '{"n": 2, "predicted": 20}', '{"predicted": "20"}')) {
    said <- choose(body)
    expect_equal(said$status, 400)
    expect_match(said$json$message, "predicted", fixed = TRUE)
  }
  status <- call_api(router, "GET", "/status")$json
  expect_equal(status$clipped, 1)
  # No prediction is noted, in the log or in the journal.
  expect_gt(length(noted), 5)
  expect_false(any(grepl("41.625|predicted\":", noted)))
  expect_named(agent$store$log(1), c("ticket", "t", "arm", "batch", "time", "status", "probability"), ignore.order = TRUE)
  expect_equal(call_api(router, "GET", "/estimates")$status, 400)
  call_api(router, "POST", "/reward", sprintf('{"ticket": ["%s", "%s"], "reward": [0, 50]}', two$json$ticket[1],
                                              two$json$ticket[2]))
  call_api(router, "POST", "/finish", "{}")
  expect_equal(call_api(router, "GET", "/overview")$status, 200)
  releases <- call_api(router, "GET", "/releases")$json
  expect_equal(unique(releases$predicted_high), 0.8)
})

test_that("only who shows the token gets in, and the token is nowhere in an answer", {
  api <- new_api()
  for (token in list(NULL, "", "x", paste0(TOKEN, "x"), substr(TOKEN, 1, 16))) {
    answer <- call_api(api$router, "POST", "/choose", token = token)
    expect_equal(answer$status, 401)
    expect_identical(answer$headers[["WWW-Authenticate"]], "Bearer") # RFC 9110, 11.6.1
    expect_no_match(answer$text, TOKEN, fixed = TRUE)
  }
  # Without the word Bearer it is no bearer token, nor are bytes that are no text.
  roles_of <- dpts:::token_keeper(TOKEN)
  for (none in list(TOKEN, NULL, "Bearer \xff", "\xff", paste("bearer\xff", TOKEN))) expect_length(roles_of(none), 0)
  for (size in 15:16) expect_equal(inherits(try(agent_api(api$agent, strrep("\u00e4", size / 2), log = NULL), silent = TRUE), "try-error"), size < 16)
  expect_equal(as.vector(roles_of(paste("bearer", TOKEN))), "admin")
  expect_equal(nrow(dpts_history(api$agent)), 0)
  expect_error(agent_api(api$agent, "short"), class = "dpts_error_input")
  expect_error(agent_api(api$agent, NULL), class = "dpts_error_input")
  page <- call_api(api$router, "GET", "/", token = NULL)
  expect_equal(page$status, 200)
  # The page needs nothing from elsewhere.
  expect_no_match(gsub("http://www.w3.org/2000/svg", "", page$text, fixed = TRUE), "https?://")
  description <- call_api(api$router, "GET", "/openapi.json", token = NULL)$json
  expect_true(all(c("/", "/openapi.json", "/choose", "/reward", "/status", "/privacy", "/estimates", "/health", "/ready",
                    "/metrics", "/experiments") %in% names(description$paths)))
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
  # Nothing in brackets is not the same as a field that is left out.
  fields <- list("/choose" = c("offer", "person", "key"), "/finish" = c("then", "reason"),
                 "/arms" = c("add", "retire", "pause", "resume", "reason"), "/reward" = 'reward": 1, "ticket')
  for (path in names(fields)) for (field in fields[[path]]) for (none in c("[]", "{}", "[{}]")) {
    expect_equal(ask("POST", path, sprintf('{"%s": %s}', field, none)), 400)
  }
  expect_equal(ask("POST", "/choose", as.raw(c(0xff, 0xfe, 0))), 400)
  expect_equal(ask("POST", "/choose", as.raw(c(0x7b, 0, 0x7d))), 400) # a NUL in braces
  expect_equal(ask("POST", "/choose", strrep(" ", 1e6 + 1)), 413)
  expect_equal(ask("POST", "/choose", paste0(strrep(" ", 1e6 - 10), '{"n": 1.5}')), 400) # as long as may be, and read
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
  expect_error(agent_api(api$agent, token = TOKEN), "`agent` is closed", class = "dpts_error_closed")
  expect_equal(ask("POST", "/choose"), 503)
})

test_that("each kind of error has the status of the help page", {
  skip_if_not_installed("jsonlite")
  status <- c(body = 400, input = 400, key = 409, paused = 409, size = 413, clock = 503, closed = 503, store = 503)
  service <- dpts:::new_service(dpts_agent(batch_policy(), 2, use = "arrival"), TOKEN, Inf, NULL)
  caught <- function(class) {
    error <- tryCatch(dpts:::abort_dpts("It is so.", unique(c(class, "dpts_error_input"))), error = identity)
    dpts:::api_caught(service, list(PATH_INFO = "/choose"), error)
  }
  answers <- lapply(paste0("dpts_error_", names(status)), caught)
  expect_equal(vapply(answers, `[[`, 0L, "status"), unname(status))
  expect_true(all(vapply(answers, function(x) jsonlite::parse_json(x$body)$message, "") == "It is so."))
  # Of what is not the package's own error nothing is told.
  other <- dpts:::api_caught(service, list(PATH_INFO = "/choose"), simpleError("a secret"))
  expect_equal(other$status, 500)
  expect_no_match(other$body, "secret")
  # A clock that is not to be believed, over HTTP
  turn <- test_clock()
  agent <- dpts_agent(batch_policy(), 2, use = "deadline", deadline = hours(1))
  router <- agent_api(agent, TOKEN, log = NULL)
  expect_equal(call_api(router, "POST", "/choose")$status, 200)
  turn(86401)
  answer <- call_api(router, "POST", "/choose")
  expect_equal(answer$status, 503)
  expect_match(answer$json$message, "ahead of the agent's last change")
})

test_that("a schema says what fits, and in words what is wanted", {
  value <- function(json) jsonlite::parse_json(sprintf('{"x": %s}', json))$x
  holds <- function(schema, yes, no) {
    for (json in yes) expect_true(fits(value(json), schema), label = json)
    for (json in no) expect_false(fits(value(json), schema), label = json)
  }
  text <- c('"a"', '""')
  numbers <- c("1", "0.5", "-3e10")
  flags <- c("true", "false")
  lists <- c("[]", "[1]", '["a"]', "{}", '{"a": 1}')
  holds(SCHEMA_TEXT, text, c(numbers, flags, lists, "null"))
  holds(SCHEMA_NUMBER, numbers, c(text, flags, lists, "null", "1e999"))
  holds(SCHEMA_FLAG, flags, c(text, numbers, lists, "null"))
  holds(SCHEMA_ANY, c(text, numbers, flags, lists), character())
  holds(or_null(SCHEMA_TEXT), c(text, "null"), numbers)
  holds(list(type = "integer", minimum = 1, maximum = 3), c("1", "3", "2.0"), c("0", "4", "1.5", '"1"', "true"))
  holds(schema_chance(0.5), c("0.2", "1e-300"), c("0", "1", "-0.1", "1.1", "null"))
  holds(schema_chance(open = FALSE), c("0", "1", "0.2"), c("-0.1", "1.1", "null"))
  holds(schema_enum(c("b", "c")), c('"b"', '"c"'), c('"a"', "null"))
  expect_match(api_json(schema_enum("b")), '"enum":["b"]', fixed = TRUE) # a list also of one, as OpenAPI demands
  holds(list(type = "string", pattern = "^[ab]{1,2}$"), c('"a"', '"ab"'), c('""', '"aba"', '"c"'))
  holds(schema_several(SCHEMA_TEXT, 2), c('"a"', '["a"]', '["a", "b"]'),
        c("[]", '["a", "b", "c"]', "1", '["a", 1]', "[null]", '[["a"]]', '{"x": "a"}', "null"))
  holds(schema_body(a = SCHEMA_TEXT, b = SCHEMA_NUMBER, required = "a")$properties$b, c("1", "null"), text)
  words <- list(
    "a string" = SCHEMA_TEXT, "true or false" = SCHEMA_FLAG, "a number" = SCHEMA_NUMBER,
    "a number in [0, 1]" = schema_chance(open = FALSE), "a number in (0, 1)" = schema_chance(), "one of \"a\", \"b\"" = schema_enum(c("a", "b")),
    "a string or a list of 1 to 9, each a string" = schema_several(SCHEMA_TEXT, 9)
  )
  expect_identical(vapply(words, schema_words, "", USE.NAMES = FALSE), names(words))
})

test_that("malformed requests: no crash and no 500", {
  api <- new_api()
  n <- if (extended()) 5000 else 120
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

test_that("tickets are returned, by who may report", {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 9), 2, use = "arrival")
  api <- list(router = agent_api(agent, TOKEN, log = NULL))
  three <- call_api(api$router, "POST", "/choose", '{"n": 3, "key": "a"}')$json
  body <- sprintf('{"ticket": ["%s", "%s"]}', three$ticket[2], three$ticket[3])
  expect_equal(call_api(api$router, "POST", "/return", body)$json, data.frame(ticket = three$ticket[2:3], status = "returned"))
  expect_equal(sum(pulls(agent)$outstanding), 1)
  expect_equal(call_api(api$router, "POST", "/return", '{"ticket": "x"}')$status, 400)
})

test_that("broken JSON leaves nothing in memory, and depth has a limit", {
  api <- new_api()
  send <- function(n) {
    status <- replicate(n, call_api(api$router, "POST", "/choose", strrep("[", 20000))$status)
    expect_equal(unique(status), 400)
  }
  deep <- function(n) { # brackets in brackets, of which the object's own is one
    call_api(api$router, "POST", "/choose", paste0('{"context": ', strrep("[", n - 1), strrep("]", n - 1), "}"))$json$message
  }
  for (n in c(51, 21)) expect_match(deep(n), "must be a JSON object")
  expect_match(deep(20), "context") # which this policy has not
  expect_identical(json_depth('{"a": [["[", "\\"["]], "b": {}}'), 3)
  # Brackets in a string are none.
  offer <- sprintf('{"offer": ["%s\\""]}', strrep("[", 50))
  expect_match(call_api(api$router, "POST", "/choose", offer)$json$message, "offer")
  skip_if_not(file.exists("/proc/self/status"))
  skip_if(nzchar(Sys.getenv("ASAN_OPTIONS")), "AddressSanitizer keeps what was freed")
  # For a parser that keeps what it could not read this would be 22 MB.
  memory <- function() {
    gc()
    line <- grep("^VmRSS", readLines("/proc/self/status"), value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) / 1024
  }
  send(5)
  before <- memory()
  send(15)
  expect_lt(memory() - before, 12)
})

test_that("objects whose names all differ make no huge table, and half a character is none", {
  api <- new_api()
  objects <- function(n, name) sprintf('{"context": [%s]}', paste(sprintf(name, seq_len(n)), collapse = ", "))
  # Of 20,000 rows and 20,000 columns a table would have 3 GB.
  wide <- call_api(api$router, "POST", "/choose", objects(2e4, '{"a%d": 1}'))
  expect_equal(wide$status, 400)
  expect_match(wide$json$message, "names")
  long <- call_api(api$router, "POST", "/choose", objects(2e4, '{"a": %d}')) # a policy without contexts
  expect_match(long$json$message, "left out")
  escaped <- '{"context": [{"a\\\\": 1, "\\"b\\" : ": 2}, {"\\"": 0}]}' # four names
  expect_equal(dpts:::json_cells(escaped), 3 * 4)
  for (body in c('{"offer": "\\udc00"}', '{"context": {"\\udc00": "a"}}')) {
    expect_match(call_api(api$router, "POST", "/choose", body)$json$message, "half a character")
  }
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
  local_function("session_play", function(play) function(...) {
    seen <<- tryCatch(dpts:::abort_arg("offer", "right", "wrong", NULL), error = identity)
    stop(seen)
  })
  expect_equal(call_api(api$router, "POST", "/choose")$status, 400)
  expect_s3_class(seen, "dpts_error_input")
  expect_null(seen$trace)
  expect_null(getOption("dpts.service"))
})

# Several agents, roles of tokens, and what operators see

role_tokens <- list(choose = c("choose-1-0123456789", "choose-2-0123456789"), report = "report-0123456789",
                    read = "read-0123456789012", watch = "watch-012345678901", admin = "admin-0123456789012")

log_lines <- function(file) lapply(readLines(file), jsonlite::parse_json)

test_that("one service has many agents: a list, a folder, a database", {
  skip_if_not_installed("jsonlite")
  skip_if_not_installed("RSQLite")
  folder <- withr::local_tempdir()
  make <- function(store, name) dpts_agent(batch_policy(), c("a", "b"), store, use = "arrival", name = name)
  for (name in c("one", "two words")) agent_close(make(file.path(folder, paste0(name, ".sqlite")), toupper(name)))
  try_all <- function(agents, count) {
    router <- agent_api(agents, TOKEN, log = NULL)
    for (i in 1:20) { # a busy machine reads fewer names in a call
      listed <- call_api(router, "GET", "/experiments")$json
      if (!anyNA(listed$name)) break
    }
    expect_equal(listed, data.frame(experiment = c("one", "two words"), name = c("ONE", "TWO WORDS")))
    for (none in c("/choose", "/experiments/three/choose", if (identical(agents, folder)) c("/experiments/%zz/choose",
                                                                                           "/experiments/..%2Fone/choose"))) {
      expect_equal(call_api(router, "POST", none)$status, 404)
    }
    chosen <- call_api(router, "POST", "/experiments/two%20words/choose", '{"n": 3}')$json
    expect_equal(chosen$t, 1:3)
    reward <- sprintf('{"ticket": "%s", "reward": 1}', chosen$ticket[1])
    # A ticket belongs to one experiment.
    expect_equal(call_api(router, "POST", "/experiments/one/reward", reward)$json$status, "unknown")
    expect_equal(call_api(router, "POST", "/experiments/two%20words/reward", reward)$json$status, "used")
    expect_equal(call_api(router, "GET", "/experiments/two%20words/status")$json$rounds, 3)
    expect_equal(call_api(router, "GET", "/experiments/one/status")$json$rounds, 0)
    metrics <- call_api(router, "GET", "/metrics")$text
    expect_match(metrics, 'dpts_tickets_out{experiment="two words"} 2\n', fixed = TRUE)
    expect_equal(call_api(router, "GET", "/ready")$json$experiments, 2)
    router
  }
  router <- try_all(list(one = make(NULL, "ONE"), "two words" = make(NULL, "TWO WORDS")))
  paths <- call_api(router, "GET", "/openapi.json")$json$paths
  expect_true("/experiments/{experiment}/choose" %in% names(paths))
  router <- try_all(folder)
  # A store that comes later is found, one that is none does not matter.
  writeLines("no store", file.path(folder, "zzz.sqlite"))
  agent_close(make(file.path(folder, "later.sqlite"), NULL))
  Sys.sleep(1.1)
  expect_equal(call_api(router, "POST", "/experiments/later/choose")$status, 200)
  expect_equal(call_api(router, "POST", "/experiments/zzz/choose")$status, 503)
  for (i in 1:20) call_api(router, "GET", "/experiments")
  expect_equal(call_api(router, "GET", "/experiments")$json$name, c(NA, "ONE", "TWO WORDS", NA))
  expect_equal(call_api(router, "GET", "/ready")$status, 200)
  # Two are open at most: the one that was not asked for the longest is closed, and opened again.
  agents <- dpts:::agent_registry(folder, most = 2)
  one <- agents$find("one")
  agents$find("later")
  expect_identical(agents$find("one"), one)
  agents$find("two words")
  expect_equal(agents$at_hand(), c("one", "two words"))
  later <- agents$find("later")
  expect_error(pulls(one), class = "dpts_error_closed")
  expect_equal(pulls(later)$pulls, c(1, 0))
  agents$close(all = FALSE)
  expect_error(pulls(later), class = "dpts_error_closed")
  # Those that were given stay open, however many they are, and in their order.
  given <- lapply(c(a = "A", b = "B", c = "C"), function(name) make(NULL, name))
  agents <- dpts:::agent_registry(given, most = 2)
  expect_identical(lapply(c("a", "b", "a", "c"), agents$find), unname(given[c("a", "b", "a", "c")]))
  expect_identical(agents$at_hand(), c("a", "b"))
  agents$close(all = FALSE)
  expect_equal(pulls(given$a)$pulls, c(0, 0))
  agents$close(all = TRUE)
  for (agent in given) expect_error(pulls(agent), class = "dpts_error_closed")
  # Of a folder of any size so many are at hand as the help page says, those that are open among them.
  many <- withr::local_tempdir()
  file.create(file.path(many, sprintf("e%03d.sqlite", 1:104)))
  file.copy(file.path(folder, "one.sqlite"), file.path(many, "zz.sqlite"))
  agents <- dpts:::agent_registry(many)
  agents$find("zz")
  expect_identical(agents$at_hand(), c(sprintf("e%03d", 1:99), "zz"))
  agents$close(all = TRUE)
  if (postgres_available()) {
    con <- postgres_connection()
    withr::defer(DBI::dbExecute(con, 'DROP SCHEMA one CASCADE; DROP SCHEMA "two words" CASCADE', immediate = TRUE))
    for (name in c("one", "two words")) {
      DBI::dbExecute(con, sprintf('CREATE SCHEMA "%s"; SET search_path = "%1$s"', name), immediate = TRUE)
      make(con, toupper(name))
    }
    DBI::dbExecute(con, "SET search_path = public")
    try_all(con)
    expect_equal(DBI::dbGetQuery(con, "SHOW search_path")[[1]], "public")
  }
  # One agent may be called by its name, too, or by "agent".
  single <- new_api()$router
  expect_equal(call_api(single, "POST", "/experiments/agent/choose")$json$t, 1)
  expect_equal(call_api(single, "POST", "/choose")$json$t, 2)
  # One in a file, by the file's name
  router <- agent_api(file.path(folder, "two words.sqlite"), TOKEN, log = NULL)
  expect_equal(call_api(router, "GET", "/status")$json$name, "TWO WORDS")
  expect_equal(call_api(router, "GET", "/experiments/two%20words/status")$json$name, "TWO WORDS")
  expect_equal(call_api(router, "GET", "/experiments/one/status")$status, 404)
  two <- list(make(NULL, NULL), make(NULL, NULL))
  for (bad in list(list(), list(1), two[1], stats::setNames(two, c("a", "")), stats::setNames(two, c("a", "a")), list(a = two[[1]], b = 1),
                   "/no/such/place", NA_character_, c(folder, folder), 1)) {
    expect_error(agent_api(bad, TOKEN), class = "dpts_error_input", "`agent`")
  }
})

test_that("whoever changes an experiment is its admin, and nothing of one is shown without a token", {
  for (route in api_routes()) {
    own <- c("/choose" = "choose", "/reward" = "report", "/return" = "report", "/openapi.json" = "")[route$path]
    if (!is.na(own)) expect_identical(route$role, own[[1]], label = route$path)
    else if (route$method == "POST") expect_identical(route$role, "admin", label = route$path)
    else if (route$agent) expect_identical(route$role, "read", label = route$path)
  }
})

test_that("a token does what its roles may, and tokens change while the service runs", {
  tokens <- role_tokens
  api <- new_api(token = function() tokens)
  ask <- function(token, method, path) call_api(api$router, method, path, token = token)$status
  may <- function(token) c(ask(token, "POST", "/choose"), ask(token, "POST", "/reward"), ask(token, "GET", "/status"),
                           ask(token, "GET", "/metrics"))
  # (A report without a body is bad input, for who may report.)
  expect_equal(may(role_tokens$choose[1]), c(200, 403, 403, 403))
  expect_equal(may(role_tokens$choose[2]), c(200, 403, 403, 403))
  expect_equal(may(role_tokens$report), c(403, 400, 403, 403))
  expect_equal(may(role_tokens$read), c(403, 403, 200, 403))
  expect_equal(may(role_tokens$watch), c(403, 403, 403, 200))
  expect_equal(may(role_tokens$admin), c(200, 400, 200, 200))
  tokens <- list(choose = "choose-3-0123456789", read = "choose-3-0123456789", watch = "choose-3-0123456789")
  expect_equal(may(role_tokens$choose[1]), rep(401, 4))
  expect_equal(may("choose-3-0123456789"), c(200, 403, 200, 200))
  # While the new ones cannot be read, those before them hold.
  tokens <- list(choose = "short")
  expect_equal(ask("choose-3-0123456789", "POST", "/choose"), 200)
  for (bad in list(list(chose = TOKEN), c(choose = "short"), list(), 1, c(TOKEN, TOKEN), function() "short", function(role) TOKEN)) {
    expect_error(agent_api(api$agent, bad), class = "dpts_error_input", "token")
  }
})

test_that("each token has its rate", {
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  router <- agent_api(agent, role_tokens, rate = 3, log = NULL)
  ask <- function(token) call_api(router, "POST", "/choose", token = token)
  answers <- lapply(1:9, function(i) ask(role_tokens$choose[1]))
  status <- vapply(answers, `[[`, 0, "status")
  expect_equal(status[1:3], rep(200, 3))
  expect_equal(answers[[match(429, status)]]$headers[["Retry-After"]], "1")
  expect_equal(ask(role_tokens$choose[2])$status, 200)
  expect_equal(unique(replicate(9, call_api(router, "GET", "/health")$status)), 200)
  # A request whose body comes after its head is one.
  service <- new_service(agent, role_tokens, 0.001, NULL)
  request <- function(...) {
    list2env(list(REQUEST_METHOD = "POST", PATH_INFO = "/choose", HTTP_AUTHORIZATION = paste("Bearer", role_tokens$choose[1]),
                  bodyRaw = raw(), ...))
  }
  expect_null(answer_head(service, request()))
  expect_equal(answer_request(service, request(again = TRUE))$status, 200)
  expect_equal(answer_head(service, request())$status, 429)
})

test_that("a store that another process has locked holds up the others of a service for a second or two", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  agents <- list(locked = dpts_agent(batch_policy(), 2, file, use = "arrival"), free = dpts_agent(batch_policy(), 2, use = "arrival"))
  router <- agent_api(agents, TOKEN, log = NULL)
  con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
  withr::defer(DBI::dbDisconnect(con))
  DBI::dbExecute(con, "BEGIN IMMEDIATE")
  choose <- function(name) call_api(router, "POST", sprintf("/experiments/%s/choose", name))
  expect_lt(system.time(answers <- lapply(1:5, function(i) choose("locked")))[["elapsed"]], 4)
  for (answer in answers) expect_identical(list(answer$status, answer$headers[["Retry-After"]]), list(503L, "1"))
  expect_equal(choose("free")$status, 200)
  expect_equal(call_api(router, "GET", "/experiments/locked/status")$status, 200)
  DBI::dbExecute(con, "ROLLBACK")
  expect_equal(choose("locked")$json$t, 1)
  # A call that is no request waits as it did.
  pulls(agents$locked)
  expect_identical(DBI::dbGetQuery(environment(agents$locked$store$close)$reader, "PRAGMA busy_timeout")[[1]], 10000L)
  for (agent in agents) agent_close(agent)
})

test_that("the log has a line per request and the database's words; answers have neither", {
  skip_if_not_installed("jsonlite")
  file <- withr::local_tempfile()
  log <- file(file, "w")
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  router <- agent_api(agent, role_tokens, log = log)
  call_api(router, "GET", "/estimates", token = role_tokens$read, query = "?level=0.9")
  call_api(router, "POST", "/choose", '{"person": "secret-person"}', token = role_tokens$choose[1])
  agent$store$commit <- function(...) dpts:::abort_store("could not extend file: No space left on device")
  full <- call_api(router, "POST", "/choose", token = role_tokens$admin)
  expect_equal(full$status, 503)
  expect_no_match(full$text, "extend|database says")
  metrics <- call_api(router, "GET", "/metrics", token = role_tokens$watch)$text
  call_api(router, "PUT", strrep("/long", 100), token = NULL)
  close(log)
  lines <- log_lines(file)
  last <- lines[[6]]
  expect_identical(last[names(last) != "time"], list(event = "request", method = "PUT", path = strrep("/long", 40), status = 404L, error = "not_found",
                                                     seconds = last$seconds, roles = ""))
  expect_named(lines[[3]], c("time", "event", "error", "path", "experiment", "message"))
  expect_identical(lines[[3]][c("error", "path", "experiment")], list(error = "store", path = "/choose", experiment = "agent"))
  lines <- lines[-6]
  event <- vapply(lines, `[[`, "", "event")
  expect_equal(event, c("request", "request", "error", "request", "request"))
  expect_equal(vapply(lines[event == "request"], `[[`, 0L, "status"), c(200L, 400L, 503L, 200L))
  expect_identical(lapply(lines[event == "request"], `[[`, "error"), list(NULL, "input", "store", NULL))
  expect_match(lines[[3]]$message, "could not extend file: No space left on device", fixed = TRUE)
  expect_equal(lines[[1]]$roles, "read")
  withr::with_timezone("Asia/Tokyo", for (hourly in c(FALSE, TRUE)) {
    said <- utils::capture.output(dpts:::write_log(stdout(), event = "x", hourly = hourly))
    time <- as.POSIXct(jsonlite::fromJSON(said)$time, "UTC", if (hourly) "%Y-%m-%dT%HZ" else "%Y-%m-%dT%H:%M:%OSZ")
    expect_lt(abs(as.numeric(Sys.time() - time, units = "secs")), if (hourly) 3700 else 60) # of UTC
  })
  for (bad in list("day", 2, TRUE)) expect_error(agent_api(agent, TOKEN, log = bad), "`log` must be a connection", class = "dpts_error_input")
  for (bad in list(0, -1, NA, "1", NULL)) expect_error(agent_api(agent, TOKEN, rate = bad), "`rate`", class = "dpts_error_input")
  # On stderr, where it goes if nothing is said
  for (log in list(list(), list(log = "hour"))) {
    own <- do.call(agent_api, c(list(agent, TOKEN), log))
    said <- jsonlite::parse_json(utils::capture.output(invisible(call_api(own, "GET", "/health")), type = "message"))
    expect_match(said$time, if (length(log)) "^.{10}T[0-9]{2}Z$" else "^.{10}T.{8}[.][0-9]{3}Z$")
    expect_equal(said$path, "/health")
  }
  expect_no_match(readLines(file), "secret-person|0123456789|level")
  expect_match(metrics, 'dpts_requests_total{path="/choose",method="POST",status="503"} 1\n', fixed = TRUE)
  expect_match(metrics, "dpts_store_errors_total 1\n", fixed = TRUE)
  # A histogram's buckets grow to its count.
  buckets <- grep('dpts_request_seconds_bucket{path="/choose"', strsplit(metrics, "\n")[[1]], fixed = TRUE, value = TRUE)
  values <- as.numeric(sub(".* ", "", buckets))
  expect_true(!is.unsorted(values) && max(values) == 2)
  # Every line is a comment or a sample.
  lines <- strsplit(metrics, "\n")[[1]]
  expect_true(all(grepl('^# (HELP|TYPE) dpts_[a-z_]+ .+$|^dpts_[a-z_]+(\\{([a-z]+="[^"]*",?)+\\})? [-+.0-9eInf]+$', lines)))
})

test_that("where deadlines decide, neither /metrics nor the log tells of a report; where arrivals do, both do", {
  skip_if_not_installed("jsonlite")
  file <- withr::local_tempfile()
  log <- file(file, "w")
  agents <- list(silent = dpts_agent(batch_policy(), 2, use = "deadline", deadline = hours(1)),
                 open = dpts_agent(batch_policy(), 2, use = "arrival"),
                 other = dpts_agent(policy_randomised(mu = 1), 2, use = "arrival", # whether this outcome was told is protected
                                    outcomes = list(harm = agent_outcome(mu = 1, deadline = hours(1)))))
  router <- agent_api(agents, role_tokens, log = log)
  local_function("is_cached", function(old) function(...) FALSE) # numbers are of now, however slow the machine is
  ask <- function(name, what, body, token) {
    call_api(router, "POST", sprintf("/experiments/%s/%s", name, what), body, token = token)
  }
  numbers <- function() {
    text <- strsplit(call_api(router, "GET", "/metrics", token = role_tokens$watch)$text, "\n")[[1]]
    grep('path="/metrics"', text, invert = TRUE, value = TRUE, fixed = TRUE)
  }
  for (name in names(agents)) {
    ticket <- ask(name, "choose", "", role_tokens$choose[1])$json$ticket
    before <- numbers()
    lines <- length(readLines(file))
    # Taken, refused, unknown, no report at all
    told <- sprintf('{"ticket": "%s", "reward": %s}', ticket, c(1, 0, 2))
    if (name == "other") told <- sub("}", ', "outcome": "harm"}', told, fixed = TRUE)
    for (body in c(told, '{"ticket": "x", "reward": 1}', "{", "")) {
      ask(name, "reward", body, role_tokens$report)
    }
    flush(log)
    told <- utils::tail(readLines(file), -lines)
    if (name != "open") {
      expect_identical(numbers(), before)
      expect_identical(grep("reward", told, value = TRUE), character())
    } else {
      expect_match(numbers(), 'path="/reward",method="POST",status="200"} 3', fixed = TRUE, all = FALSE)
      expect_length(grep("/reward", told), 6)
    }
    # Who may not report is told of, and so is a service that fails.
    path <- sprintf("/experiments/%s/reward", name)
    call_api(router, "POST", path, token = NULL)
    ask(name, "reward", "", role_tokens$read)
    ask("nobody", "reward", "", role_tokens$report)
    call_api(router, "GET", path, token = role_tokens$report)
    begin <- agents[[name]]$store$begin
    agents[[name]]$store$begin <- function(...) dpts:::abort_store("gone")
    ask(name, "reward", sprintf('{"ticket": "%s", "reward": 1}', ticket), role_tokens$report)
    agents[[name]]$store$begin <- begin
    flush(log)
    told <- vapply(lapply(utils::tail(readLines(file), 6), jsonlite::parse_json), function(x) paste(x$event, x$status), "")
    expect_identical(told, c("request 401", "request 403", "request 404", "request 405", "error ", "request 503"))
  }
  close(log)
  # A service that limits requests tells nothing either.
  log <- file(file, "w")
  router <- agent_api(dpts_agent(batch_policy(), 2, use = "deadline", deadline = hours(1)), role_tokens, rate = 1, log = log)
  answers <- replicate(3, call_api(router, "POST", "/reward", '{"ticket": "x", "reward": 1}', token = role_tokens$report)$status)
  close(log)
  expect_identical(answers, c(200L, 429L, 429L))
  expect_identical(readLines(file), character())
  # Warnings of the store are in the log, without the path of a report.
  log <- file(file, "w")
  router <- agent_api(agents[1:2], role_tokens, log = log)
  local_function("agent_reward", function(old) function(...) {
    warning("the disk is nearly full")
    old(...)
  })
  for (name in names(agents)[1:2]) {
    expect_equal(ask(name, "reward", '{"ticket": "x", "reward": 1}', role_tokens$report)$json$status, "unknown")
  }
  close(log)
  warned <- Filter(function(line) line$event == "warning", lapply(readLines(file), jsonlite::parse_json))
  expect_identical(lapply(warned, `[[`, "message"), rep(list("the disk is nearly full"), 2))
  expect_identical(lapply(warned, `[[`, "path"), list(NULL, "/experiments/open/reward"))
})

test_that("an experiment that has ended says which arm to fall back on, or gives it to everyone", {
  api <- new_api(token = role_tokens)
  finish <- function(body, token = role_tokens$admin) call_api(api$router, "POST", "/finish", body, token = token)
  choose <- function() call_api(api$router, "POST", "/choose", token = role_tokens$choose[1])
  tickets <- call_api(api$router, "POST", "/choose", '{"n": 9, "offer": ["b"]}', token = role_tokens$choose[1])$json$ticket
  agent_reward(api$agent, tickets, 1)
  expect_equal(finish("", role_tokens$choose[1])$status, 403)
  expect_equal(finish('{"then": "stop"}')$status, 400)
  expect_equal(finish('{"then": "end"}')$json[c("rounds", "then", "winner")], list(rounds = 9, then = "end", winner = "b"))
  ended <- choose()
  expect_equal(ended$status, 410)
  expect_equal(ended$json[c("error", "arm")], list(error = "ended", arm = "b"))
  expect_equal(finish('{"then": "verdict"}')$status, 200)
  expect_equal(choose()$json[c("t", "arm")], data.frame(t = NA, arm = "b"))
})

# What the service says to what it refuses, and in which headers
tell_refusals <- function() {
  agent <- dpts_agent(policy_randomised(1, outcome = "continuous", predicted = c(0, 1)), c("a", "b"), use = "arrival", strata = c("n", "s"))
  many <- agent_api(list(x = agent), role_tokens, log = NULL)
  one <- agent_api(dpts_agent(batch_policy(), 2, use = "arrival"), role_tokens, log = NULL)
  ask <- function(method, path, body = "", token = role_tokens$admin, query = "", at = many) {
    said <- call_api(at, method, path, body, token, query)
    own <- said$headers[setdiff(names(said$headers), c("Cache-Control", "Connection", "Content-Type", "X-Content-Type-Options"))]
    cat(method, substr(paste0(path, query, " ", body), 1, 80), "\n ", said$status, sprintf("%s: %s", names(own), own), said$text, "\n")
  }
  x <- function(path) paste0("/experiments/x/", path)
  for (path in c("/choose", "/experiments/y/choose", x("metrics"), "/experiments/x", "/experiments/", "/nothing")) ask("POST", path)
  for (path in c("/experiments/agent/status", x("status"), "/status")) ask("POST", path, at = one)
  for (path in c("/", "/metrics", x("choose"))) ask("PUT", path)
  for (path in x(c("choose", "arms"))) ask("POST", path, token = role_tokens$report)
  for (token in list(NULL, role_tokens$read)) ask("GET", "/metrics", token = token)
  for (query in c("?dleta=1", "?delta=0.1&delta=0.2", "?delta=2", "?delta=a", "?delta", "?x=%FF", paste0("?", strrep("long", 20)))) {
    ask("GET", x("privacy"), query = query)
  }
  for (query in c("?by=arm", "?outcome=harm", "?level=1")) ask("GET", x("effects"), query = query)
  for (body in list("[]", "{", "7", '{"a": "\\u0000"}', '{"a": 1}', '{"n": 1, "n": 1}', '{"n": 1.5}', '{"n": [1]}', '{"n": 1001}', '{"offer": [1]}', '{"offer": []}',
                    '{"key": "a b"}', '{"key": 1}', '{"predicted": "1"}', '{"stratum": 1}', '{"person": {}}', '{"stratum": "w", "predicted": 0}',
                    as.raw(255), strrep(" ", 1e6 + 1))) ask("POST", x("choose"), body)
  for (body in c("", '{"ticket": "a"}', '{"ticket": "a", "reward": "b"}', '{"ticket": [], "reward": 1}', '{"ticket": "a", "reward": [true, null]}')) {
    ask("POST", x("reward"), body)
  }
  for (body in c('{"then": "go"}', '{"then": 1}', '{"reason": 1}')) ask("POST", x("finish"), body)
}

test_that("what is refused is told why", {
  skip_if_not_installed("jsonlite")
  expect_snapshot(tell_refusals(), cran = FALSE)
})

test_that("the help page has every request with its parameters and their defaults", {
  page <- paste(as.character(tools::Rd_db("dpts")[["agent_api.Rd"]]), collapse = "")
  rows <- strsplit(page, "\\cr", fixed = TRUE)[[1]]
  # They are those of the routes as they are now.
  plain <- gsub("\\\\(code|verb)\\{([^{}]*)\\}", "`\\2`", gsub("\\\\code\\{\\\\link\\[=[a-z_]+\\]\\{([a-z_]+\\(\\))\\}\\}", "[\\1]", rows))
  now <- strsplit(dpts:::api_table(), "\n")[[1]]
  expect_identical(sprintf("| %s |", gsub(" *\\\\tab +", " | ", trimws(plain[seq_along(api_routes()) + 1]))), now[-(1:2)])
  for (route in api_routes()) {
    row <- grep(paste0("{", route$method, " ", route$path, "}"), rows, fixed = TRUE, value = TRUE)
    expect_length(row, 1)
    asked <- vapply(names(route$query), function(name) paste0(name, "=", route$query[[name]]$default), "")
    for (words in c(names(route$body$properties), asked, route$role, sub("`.*", "", route$summary))) expect_match(row, words, fixed = TRUE)
  }
})

test_that("a request is refused by its head alone, and that is noted", {
  skip_if_not_installed("jsonlite")
  noted <- textConnection("lines", "w", local = TRUE)
  withr::defer(close(noted))
  router <- agent_api(dpts_agent(batch_policy(), 2, use = "arrival"), TOKEN, log = noted)
  head <- function(...) {
    router$onHeaders(list2env(list(REQUEST_METHOD = "POST", PATH_INFO = "/choose", HTTP_AUTHORIZATION = paste("Bearer", TOKEN), ...)))
  }
  expect_null(head(HTTP_CONTENT_LENGTH = "1000000")) # the body may come
  long <- head(HTTP_CONTENT_LENGTH = "1000001")
  expect_equal(long$status, 413)
  expect_equal(long$headers$Connection, "close")
  expect_identical(jsonlite::parse_json(long$body), list(error = "too_large", message = "The body is too large, or of unknown size."))
  for (unknown in list(list(HTTP_CONTENT_LENGTH = "x"), list(HTTP_TRANSFER_ENCODING = "chunked"))) {
    expect_equal(do.call(head, unknown)$status, 413)
  }
  none <- router$onHeaders(new.env()) # no HTTP
  expect_equal(none$status, 400)
  expect_identical(jsonlite::parse_json(none$body), list(error = "bad_request", message = "The request cannot be read."))
  expect_identical(vapply(lines, function(line) jsonlite::parse_json(line)$status, 0L, USE.NAMES = FALSE), c(413L, 413L, 413L, 400L))
})

test_that("what fails where it is asked if an answer waits is left to the answer, and a service that ends refuses", {
  skip_if_not_installed("jsonlite")
  service <- new_service(list(x = dpts_agent(batch_policy(), 2, use = "arrival")), TOKEN, Inf, NULL)
  request <- function(path) {
    list2env(list(REQUEST_METHOD = "GET", PATH_INFO = path, HTTP_AUTHORIZATION = paste("Bearer", TOKEN)))
  }
  find <- service$agents$find
  service$agents$find <- function(...) abort_store("gone")
  expect_false(serve_later(service, request("/experiments/x/verdict")))
  expect_length(service$waiting, 0)
  service$agents$find <- find
  service$ending <- TRUE
  said <- answer_request(service, request("/experiments/x/status"))
  expect_equal(list(said$status, said$headers[["Retry-After"]]), list(503, "5"))
  service$ending <- FALSE
  service$agents$names <- function(...) abort_store("gone")
  expect_false(serve_later(service, request("/experiments/x/status")))
})

test_that("one damaged experiment hurts nobody else, and experiments are listed without being opened", {
  folder <- withr::local_tempdir()
  for (i in 1:4) {
    agent_close(dpts_agent(batch_policy(), 2, file.path(folder, paste0("e", i, ".sqlite")), use = "arrival",
                           name = if (i != 3) paste("Experiment", i)))
  }
  writeLines(rep("this is no database", 1000), file.path(folder, "bad.sqlite"))
  # One of a format that is not read is listed, too.
  file.copy(file.path(folder, "e1.sqlite"), file.path(folder, "old.sqlite"))
  con <- DBI::dbConnect(RSQLite::SQLite(), file.path(folder, "old.sqlite"), synchronous = NULL)
  DBI::dbExecute(con, "UPDATE dpts_agent SET version = 6")
  DBI::dbDisconnect(con)
  opened <- looked <- closed <- 0
  local_function("begin_opening", function(open) function(...) {
    opened <<- opened + 1
    open(...)
  })
  local_function("store_sqlite_file", function(make) function(...) {
    store <- make(...)
    looked <<- looked + 1
    close <- store$close
    store$close <- function() {
      closed <<- closed + 1
      close()
    }
    store
  })
  # Names are read for a twentieth of a second at a time; what is new is looked for after a second.
  now <- 100
  local_function("seconds_now", function(old) function() now <<- now + 1 / 64)
  agents <- dpts:::agent_registry(folder)
  name <- c(NA, ifelse(1:4 == 3, NA, paste("Experiment", 1:4)), NA)
  for (read in c(3, 6)) expect_identical(agents$titles(), replace(name, seq_along(name) > read, NA))
  known <- agents$names()
  expect_identical(known, c("bad", paste0("e", 1:4), "old"))
  for (wanted in list("e5", NULL)) {
    file.create(file.path(folder, "e5.sqlite"))
    agents$names("e5")
    expect_identical(agents$names(wanted), known)
    now <- now + 1
    expect_identical(agents$names("e1"), known) # there is no need to look
    expect_identical(agents$names(wanted), append(known, "e5", 5))
    unlink(file.path(folder, "e5.sqlite"))
    now <- now + 1
    expect_identical(agents$names(), known)
  }
  opened <- looked <- closed <- 0
  router <- agent_api(folder, TOKEN, log = NULL)
  for (i in 1:20) listed <- call_api(router, "GET", "/experiments")$json
  expect_identical(listed$experiment, known)
  expect_identical(listed$name, name)
  expect_equal(c(opened, looked, closed), c(0, 5, 5)) # each that can be read was looked at once
  expect_equal(call_api(router, "GET", "/ready", token = NULL)$status, 200)
  expect_equal(call_api(router, "GET", "/experiments/bad/status")$status, 503)
  expect_equal(call_api(router, "POST", "/experiments/e4/choose")$status, 200)
  # Whether an answer to the damaged one is protected is not known: a refused report leaves no trace.
  noted <- textConnection("said", "w", local = TRUE)
  limited <- agent_api(folder, TOKEN, rate = 1, log = noted)
  expect_equal(replicate(3, call_api(limited, "POST", "/experiments/bad/reward", "{")$status), c(400, 429, 429))
  close(noted)
  expect_identical(said, character())
  said <- call_api(router, "GET", "/metrics")$text
  expect_match(said, "dpts_experiment_up{experiment=\"bad\"} 0", fixed = TRUE)
  expect_match(said, "dpts_experiment_up{experiment=\"e4\"} 1", fixed = TRUE)
  expect_equal(call_api(router, "GET", "/ready", token = NULL)$status, 200)
  unlink(folder, recursive = TRUE)
  expect_error(agents$check(), "the folder cannot be read", class = "dpts_error_store")
  router <- NULL
  two <- list(good = dpts_agent(batch_policy(), 2, use = "arrival"), bad = dpts_agent(batch_policy(), 2, use = "arrival"))
  two$bad$store$begin <- function(...) dpts:::abort_store("server closed the connection")
  expect_equal(call_api(agent_api(two, TOKEN, log = NULL), "GET", "/ready", token = NULL)$status, 200)
})

test_that("a store that cannot be read is not ready", {
  api <- new_api()
  expect_identical(call_api(api$router, "GET", "/ready", token = NULL)$json, list(status = "ready", experiments = 1L))
  api$agent$store$begin <- function(...) dpts:::abort_store("server closed the connection")
  file <- withr::local_tempfile()
  log <- file(file, "w")
  other <- new_api()$agent
  other$store$begin <- api$agent$store$begin
  router <- agent_api(list("first one" = api$agent, other = other), TOKEN, log = log)
  said <- call_api(router, "GET", "/ready", token = NULL)
  expect_equal(list(said$status, said$json$error, names(said$json)), list(503, "store", c("error", "message")))
  close(log)
  # Which it is, the log says; nobody without a token is told.
  expect_identical(log_lines(file)[[1]]$experiment, "first one")
  router <- agent_api(api$agent, TOKEN, log = NULL)
  expect_identical(call_api(router, "GET", "/health", token = NULL)$json, list(status = "ok", version = as.character(packageVersion("dpts"))))
})

# What a validator of OpenAPI 3.0 asks of what is used here. (Two from npm accept it.)
must <- function(ok, where) if (!isTRUE(ok)) stop("the description of ", where, call. = FALSE)

check_schema <- function(schema, where) {
  must(is.list(schema) && (!length(schema) || !is.null(names(schema))), where)
  if (!length(setdiff(names(schema), "description"))) return(invisible()) # anything
  must(any(c("type", "oneOf", "$ref") %in% names(schema)), where)
  if (identical(schema$type, "array")) {
    must("items" %in% names(schema), where)
    check_schema(schema$items, where)
  }
  for (name in names(schema$properties)) check_schema(schema$properties[[name]], paste(where, name))
  for (each in schema$oneOf) check_schema(each, where)
  if (!is.null(schema$required)) {
    must(is.list(schema$required), where) # an array, of one name, too
    if (!is.null(schema$properties)) must(all(unlist(schema$required) %in% names(schema$properties)), where)
  }
}

check_answer <- function(x, schema, where) {
  if (is.null(x)) return(must(schema$nullable, where))
  must(switch(schema$type, string = is.character(x) && (is.null(schema$enum) || x %in% unlist(schema$enum)), number = is.numeric(x),
              boolean = is.logical(x), array = is.list(x) && is.null(names(x)), object = is.list(x) && !is.null(names(x))), where)
  for (each in if (schema$type == "array") x) check_answer(each, schema$items, where)
  must(all(unlist(schema$required) %in% names(x)), where)
  if (!is.null(schema$properties)) must(all(names(x) %in% names(schema$properties)), where)
  for (name in if (!is.null(schema$properties)) names(x)) check_answer(x[[name]], schema$properties[[name]], paste(where, name))
}

test_that("the description is OpenAPI: ids, parameters, required fields, all statuses with schemas", {
  api <- new_api()
  many <- agent_api(list(x = api$agent), TOKEN, log = NULL)
  for (router in list(api$router, many)) {
    spec <- jsonlite::parse_json(call_api(router, "GET", "/openapi.json", token = NULL)$text)
    expect_match(spec$openapi, "^3\\.0\\.")
    expect_identical(spec$components$securitySchemes, list(bearer = list(type = "http", scheme = "bearer")))
    check_schema(spec$components$schemas$Error, "Error")
    ids <- unlist(lapply(spec$paths, function(path) lapply(path, `[[`, "operationId")))
    expect_false(anyDuplicated(ids) > 0)
    for (path in names(spec$paths)) for (method in names(spec$paths[[path]])) {
      entry <- spec$paths[[path]][[method]]
      where <- paste(method, path)
      must(all(c("operationId", "summary", "responses", "security") %in% names(entry)), where)
      braces <- regmatches(path, gregexpr("(?<=\\{)[^}]+", path, perl = TRUE))[[1]]
      inside <- Filter(function(p) p$`in` == "path", entry$parameters)
      must(identical(vapply(inside, `[[`, "", "name"), braces), where)
      for (p in entry$parameters) check_schema(p$schema, where)
      if (!is.null(entry$requestBody)) check_schema(entry$requestBody$content[[1]]$schema, where)
      must("200" %in% names(entry$responses), where)
      must(("404" %in% names(entry$responses)) == (length(braces) > 0), where) # no such experiment, where one is named
      if (length(entry$security)) must(all(c("401", "403") %in% names(entry$responses)), where)
      for (answer in entry$responses) {
        must(nzchar(answer$description), where)
        check_schema(answer$content[[1]]$schema, where)
      }
    }
  }
  # The whole description, but for what all errors have alike
  text <- sub('.*"paths":', "", call_api(many, "GET", "/openapi.json", token = NULL)$text)
  text <- gsub(',"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}', "", text, fixed = TRUE)
  tell_paths <- function() writeLines(strsplit(text, ",(?=\"/)", perl = TRUE)[[1]])
  expect_snapshot(tell_paths(), cran = FALSE)
  # What is described is what is answered, before anybody came and after, and at the end.
  trial <- dpts_agent(policy_randomised(mu = 3, block = 20, control = 1), c("a", "b", "c"), use = "arrival", strata = c("n", "s"), name = "trial",
                      outcomes = list(harm = agent_outcome(mu = 3, deadline = hours(1), missing = 1, guard = 0.1)))
  play <- list(
    function(agent) NULL,
    function(agent) {
      x <- agent_choose(agent, 40, stratum = if (identical(agent$terms$name, "trial")) rep(c("n", "s"), 20))
      agent_reward(agent, x$ticket, rep(0:1, 20))
    },
    function(agent) agent_finish(agent, "verdict"))
  for (agent in list(api$agent, trial, dpts_agent(policy_ucb1(), 2, use = "arrival"))) {
    router <- agent_api(agent, TOKEN, log = NULL)
    spec <- jsonlite::parse_json(call_api(router, "GET", "/openapi.json")$text)$paths
    for (act in play) {
      act(agent)
      for (path in names(spec)) for (query in c("", c("/evidence" = "?against=0.4", "/effects" = "?by=stratum")[path])) {
        answer <- if (!is.null(spec[[path]]$get) && !is.na(query)) call_api(router, "GET", path, query = query)
        own <- spec[[path]]$get$responses[[format(answer$status)]]
        if (!is.null(answer)) must(!is.null(own), paste(path, answer$status))
        if (identical(answer$status, 200L) && identical(names(own$content), "application/json")) {
          check_answer(jsonlite::parse_json(answer$text), own$content[[1]]$schema, path)
        }
      }
    }
  }
})

# What a schema takes, and what it does not: its bounds, what is just beside them, and values of other types
probes <- function(schema) {
  if (!is.null(schema$oneOf)) {
    each <- lapply(schema$oneOf, probes)
    return(list(yes = unlist(lapply(each, `[[`, "yes")), no = each[[2]]$no))
  }
  if (is.null(schema$type)) return(list())
  if (schema$type == "array") {
    of <- function(n) sprintf("[%s]", paste(rep(probes(schema$items)$yes[1], n), collapse = ","))
    return(list(yes = c(of(schema$minItems), of(schema$maxItems)), no = c(of(schema$minItems - 1), of(schema$maxItems + 1))))
  }
  if (schema$type == "string") {
    yes <- if (!is.null(schema$enum)) unlist(schema$enum) else if (is.null(schema$pattern)) "x" else strrep("k", c(1, 100))
    no <- if (!is.null(schema$enum)) "other" else if (!is.null(schema$pattern)) c("", "a b", strrep("k", 101))
    return(list(yes = encodeString(yes, quote = "\""), no = c(encodeString(as.character(no), quote = "\""), "{}")))
  }
  if (schema$type == "boolean") return(list(yes = "true", no = "{}"))
  bounds <- c(schema$minimum, schema$maximum)
  step <- if (schema$type == "integer") 1 else 1e-9
  inside <- c(if (!is.null(schema$minimum)) schema$minimum + step, if (!is.null(schema$maximum)) schema$maximum - step)
  outside <- c(if (!is.null(schema$minimum)) schema$minimum - step, if (!is.null(schema$maximum)) schema$maximum + step)
  closed <- c(if (!isTRUE(schema$exclusiveMinimum)) schema$minimum, if (!isTRUE(schema$exclusiveMaximum)) schema$maximum)
  list(yes = sprintf("%.10g", c(inside, closed)), no = c(sprintf("%.10g", c(outside, setdiff(bounds, closed))), "\"z\""))
}

test_that("what the description takes is taken, and what it does not is refused, with the statuses and fields that it has", {
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(policy_randomised(mu = 3, block = 10), c("a", "b"), use = "arrival", strata = c("n", "s"))
  x <- agent_choose(agent, 20, stratum = rep(c("n", "s"), 10))
  agent_reward(agent, x$ticket, rep(0:1, 10))
  router <- agent_api(list(x = agent), role_tokens, log = NULL)
  spec <- jsonlite::parse_json(call_api(router, "GET", "/openapi.json")$text)
  asked <- 0
  ask <- function(method, path, want = NULL, body = "", query = "", token = role_tokens$admin) {
    answer <- call_api(router, method, sub("{experiment}", "x", path, fixed = TRUE), body, token, query)
    where <- paste(method, path, substr(body, 1, 60), query)
    own <- spec$paths[[path]][[tolower(method)]]$responses[[format(answer$status)]]
    must(!is.null(own) && answer$status %in% (want %||% answer$status), paste(where, "is", answer$status))
    schema <- own$content[["application/json"]]$schema
    if (!is.null(schema[["$ref"]])) schema <- spec$components$schemas[[basename(schema[["$ref"]])]]
    if (answer$status != 200) check_answer(jsonlite::parse_json(answer$text), schema, where)
    asked <<- asked + 1
  }
  ask_all <- function(path, method) {
    entry <- spec$paths[[path]][[method]]
    method <- toupper(method)
    open <- !length(entry$security)
    ask(method, path, if (open) 200 else 400, query = "?nothing=1")
    ask(method, path, if (open) 200 else 401, token = NULL)
    for (parameter in Filter(function(p) p$`in` == "query", entry$parameters)) {
      has <- lapply(probes(parameter$schema), function(text) gsub("\"", "", text))
      number <- parameter$schema$type == "number"
      for (value in has$yes) ask(method, path, if (number) 200, query = sprintf("?%s=%s", parameter$name, value))
      for (value in setdiff(has$no, "{}")) ask(method, path, 400, query = sprintf("?%s=%s", parameter$name, value))
    }
    body <- entry$requestBody$content[[1]]$schema
    with_field <- function(field, value) { # and with those that are needed
      also <- setdiff(unlist(body$required), field)
      values <- c(value, vapply(also, function(name) probes(body$properties[[name]])$yes[1], ""))
      sprintf("{%s}", paste(sprintf("\"%s\": %s", c(field, also), values), collapse = ", "))
    }
    for (field in names(body$properties)) {
      has <- probes(body$properties[[field]])
      for (value in has$yes) ask(method, path, body = with_field(field, value))
      for (value in has$no) ask(method, path, 400, body = with_field(field, value))
    }
    if (length(body)) ask(method, path, 413, body = strrep(" ", 1e6 + 1))
  }
  finish <- grep("/finish$", names(spec$paths), value = TRUE)
  for (path in c(setdiff(names(spec$paths), finish), finish)) for (method in names(spec$paths[[path]])) ask_all(path, method)
  ask("POST", sub("finish", "choose", finish), 410, body = '{"stratum": "n"}')
  expect_gt(asked, 100)
})

test_that("the journal names who asked, by the name of the token", {
  token <- list(admin = "0123456789abcdef-admin", "admin:maria o." = "0123456789abcdef-maria")
  api <- new_api(token = token)
  for (own in token) expect_equal(call_api(api$router, "POST", "/arms", sprintf('{"add": "%s"}', own), token = own)$status, 200)
  journal <- agent_journal(api$agent)
  expect_identical(journal$who[-1], c("service: admin", "service: admin:maria o."))
  expect_equal(call_api(api$router, "POST", "/arms", '{"add": "z"}', token = "0123456789abcdef-other")$status, 401)
  for (bad in c("boss:maria", "admin:", "admin:a\nb")) {
    expect_error(new_api(token = stats::setNames("0123456789abcdef-admin", bad)), "`token`", class = "dpts_error_input")
  }
})

test_that("arms are managed, and releases read, over HTTP", {
  api <- new_api(token = role_tokens)
  ask <- function(method, path, body = "", token = role_tokens$admin, ...) {
    call_api(api$router, method, path, body, token = token, ...)
  }
  expect_equal(ask("POST", "/arms", '{"add": "c"}', role_tokens$read)$status, 403)
  arms <- ask("POST", "/arms", '{"add": ["c", "d"], "pause": "a", "retire": "b", "reason": "By \\"us\\"."}')$json
  journal <- agent_journal(api$agent)
  expect_identical(unique(journal[-1, c("who", "note")]), tibble::tibble(who = "service: admin", note = "By \"us\"."))
  expect_equal(arms$status, c("paused", "retired", "active", "active"))
  expect_equal(ask("POST", "/arms", '{"resume": "z"}')$status, 400)
  expect_equal(ask("POST", "/arms", '{"pause": ["c", "d"]}')$status, 200)
  expect_equal(ask("POST", "/choose")$status, 409)
  api <- new_api(token = role_tokens)
  withr::with_seed(1, play_rounds(api$agent, 100, c(0.2, 0.9), at_a_time = 50))
  # What each parameter of a look does is in test-agent-page.R; two of them are two parameters.
  expect_equal(ask("GET", "/effects", query = "?control=a&level=0.9")$json$upper, effects(api$agent, "a", 0.9)$upper)
  expect_equal(ask("GET", "/evidence", query = "?against=2")$status, 400)
  # The table goes by JSON as it goes through a file.
  expect_identical(effects(as_releases(jsonlite::fromJSON(ask("GET", "/releases", token = role_tokens$read)$text))),
                   effects(api$agent))
  expect_equal(ask("GET", "/releases", token = role_tokens$report)$status, 403)
  expect_equal(ask("GET", "/statement")$json[["Who is protected"]], privacy_statement(api$agent)[["Who is protected"]])
})

test_that("the numbers of the page add up, in each store", {
  skip_if_not_installed("jsonlite")
  turn <- test_clock()
  each_database(function(store) {
    agent <- dpts_agent(batch_policy(), c("a", "b"), store, use = "arrival", deadline = hours(1), name = "Buttons")
    old <- agent_choose(agent, 60)
    agent_reward(agent, old$ticket[1:40], rep(0:1, 20)) # 20 will be missing
    turn(2 * 86400)
    agent_clock(agent)
    new <- agent_choose(agent, 50)
    agent_reward(agent, new$ticket[1:30], 1)
    x <- dpts:::api_overview(agent)
    expect_equal(x$arms$choices, pulls(agent)$pulls)
    expect_equal(x$arms$counted + x$arms$open + x$arms$awaited, x$arms$choices)
    expect_true(all(x$arms$open >= 0))
    expect_equal(sum(x$arms$awaited), 20)
    expect_equal(sum(x$arms$missing), 20)
    expect_equal(x$arms$recent, as.vector(table(new$arm)))
    expect_equal(as.numeric(as.POSIXct(x$now, "UTC", "%Y-%m-%dT%H:%M:%SZ") - as.POSIXct(x$since, "UTC", "%Y-%m-%dT%H:%M:%SZ"), units = "days"), 2)
    means <- estimates(agent)$mean
    expect_equal(x$leads$by, abs(diff(means)))
    # What is shown of the evidence is that of the arm nearest to a verdict, at each release
    e <- evidence(agent)
    last <- e[e$t == max(e$t), ]
    best <- utils::tail(last, 2)
    best <- best$arm[which.max(best$evidence)]
    expect_equal(x$proof$evidence, e$evidence[e$arm == best])
    expect_equal(x$proof$t, e$t[e$arm == best])
    expect_equal(unique(x$proof$line), e$line[1])
    # What was counted is not read again, and hours that are past go.
    agent$cache <- NULL
    turn(20 * 3600)
    agent_arms(agent, add = "c")
    late <- agent_choose(agent, 30)
    turn(7 * 3600)
    y <- dpts:::api_overview(agent)
    expect_equal(y$arms$recent, as.vector(table(late$arm)))
    expect_equal(sum(y$arms$choices), 140)
    expect_equal(sum(y$arms$missing), 70)
    agent$cache <- agent$totals <- NULL
    expect_equal(dpts:::api_overview(agent), y)
    agent_close(agent)
  })
  # Where deadlines decide, the number of missing answers is protected.
  agent <- dpts_agent(batch_policy(), 2, use = "deadline", deadline = hours(1))
  agent_choose(agent, 5)
  turn(7200)
  expect_equal(dpts:::api_overview(agent)$arms$missing, c(NA, NA))
})

test_that("the evidence that the page shows is against the strongest rival", {
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(batch_policy(), c("a", "b", "c"), use = "arrival")
  withr::with_seed(2, play_rounds(agent, 300, c(0.1, 0.5, 0.9), at_a_time = 50))
  e <- evidence(agent)
  n <- nrow(e) / 6
  least <- sapply(levels(e$arm), function(arm) vapply(seq_len(n), function(i) {
    now <- e[6 * (i - 1) + 1:6, ]
    min(now$evidence[now$arm == arm])
  }, 0))
  proof <- dpts:::proof_in_time(agent)
  expect_equal(proof$evidence, unname(least[, which.max(least[n, ])]))
  expect_null(dpts:::proof_in_time(dpts_agent(batch_policy(), 2, use = "arrival")))
})

test_that("choices that do not follow their tosses are seen", {
  ratio <- function(n, chance, offered = 0 * n + sum(n)) {
    dpts:::sample_ratio(cbind(n, n / chance, n * (1 - chance) / chance^2), n, offered)
  }
  # As the test of a proportion, by the variance under each arm's count
  expect_equal(ratio(c(500, 500), c(0.5, 0.5)), 1)
  expect_equal(ratio(c(560, 440), c(0.5, 0.5)), min(1, 4 * pnorm(-120 / sqrt(2 * 440))))
  expect_equal(ratio(c(560, 440, 9), c(0.5, 0.5, 0.1)), 4 * pnorm(-129 / sqrt(2 * 440))) # of two that were chosen often
  expect_equal(ratio(c(560, 440, 20), c(0.5, 0.5, 0.02)), 6 * pnorm(-140 / sqrt(2 * 440)))
  expect_lt(ratio(c(600, 400), c(0.5, 0.5)), 1e-6)
  expect_gt(ratio(c(300, 700), c(0.3, 0.7)), 0.9)
  expect_identical(dpts:::sample_ratio(cbind(c(1000, 1000), 0, 0), c(1500, 1500), c(3000, 3000)), NA)
  # One in ten choices of an arm is lost, or goes to the other.
  set.seed(1)
  for (n in stats::rbinom(20, 5000, 0.45)) expect_lt(ratio(c(n, 5000 - n), c(0.5, 0.5)), 1e-5)
  # An arm that came later, one that was paused and one that calls left out: 1 / chance counts what they were on offer
  # for. Tosses are live: each answer is held to the same sums of the choices, and these to the probabilities.
  arms <- c("a", "b", "c", "d")
  on_offer <- list(arms[1:3], arms[c(1, 3)], arms[c(1, 2, 4)], arms[c(1, 2, 4)])
  n <- c(60, 80, 120, 100)
  found <- replicate(2, simplify = FALSE, {
    agent <- dpts_agent(policy_randomised(1, block = 30), arms[1:3], use = "arrival")
    play <- function(n, ...) {
      x <- agent_choose(agent, n, ...)
      agent_reward(agent, x$ticket, 1)
      x[c("arm", "probability")]
    }
    x <- list(play(60))
    agent_arms(agent, pause = "b")
    x[[2]] <- play(80)
    agent_arms(agent, resume = "b", add = "d")
    x[[3]] <- play(120, offer = arms[c(1, 2, 4)])
    agent_arms(agent, retire = "c")
    x[[4]] <- play(100)
    all <- do.call(rbind, lapply(x, function(x) data.frame(arm = as.character(x$arm), p = x$probability)))
    of <- function(values) vapply(arms, function(arm) sum(values[all$arm == arm]), 0)
    sums <- cbind(of(1 + 0 * all$p), of(1 / all$p), of((1 - all$p) / all$p^2))
    offered <- vapply(arms, function(arm) sum(n[vapply(on_offer, function(o) arm %in% o, NA)]), 0)
    expect_equal(dpts:::api_overview(agent)$balance, dpts:::sample_ratio(sums, sums[, 1], offered))
    expect_lt(max(1 / all$p), 10)
    cbind(sums, offered)
  })
  # At most 4 times the probability that a normal variable is 7 deviations away: 1e-11; thrice that, for skewness.
  all <- Reduce(`+`, found)
  expect_lt(max(abs(all[, 2] - all[, 4]) / sqrt(all[, 3])), 7)
  expect_gt(length(unique(vapply(found, function(x) x[1, 2], 0))), 1)
})

test_that("the page's text has a contrast of 4.5 and more, light and dark", {
  page <- paste(readLines(system.file("agent", "page.html", package = "dpts")), collapse = "\n")
  colours <- regmatches(page, gregexpr(":root \\{[^}]+\\}", page))[[1]]
  expect_length(colours, 2)
  luminance <- function(hex) {
    if (nchar(hex) == 4) hex <- gsub("([0-9a-f])", "\\1\\1", hex)
    x <- grDevices::col2rgb(hex) / 255
    sum(c(0.2126, 0.7152, 0.0722) * ifelse(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055)^2.4))
  }
  for (set in colours) {
    of <- function(name) luminance(sub(sprintf(".*--%s: (#[0-9a-f]+);.*", name), "\\1", set))
    for (text in c("ink", "soft", "mark", "bad")) for (ground in c("ground", "card")) {
      x <- sort(c(of(text), of(ground)))
      expect_gt((x[2] + 0.05) / (x[1] + 0.05), 4.5)
    }
  }
})

test_that("in a browser the page fits any width, wraps long names and adds up, in the dark, too", {
  skip_on_cran()
  skip_if_not_installed("jsonlite")
  browser <- Filter(nzchar, Sys.which(c("chromium", "chromium-browser", "google-chrome")))
  skip_if(length(browser) == 0, "no browser")
  turn <- test_clock()
  long <- strrep("averylongname", 12)
  agent <- dpts_agent(batch_policy(), c("a", long, "c"), use = "arrival", name = paste("What", long))
  play_rounds(agent, 60, c(0.02, 0.05, 0.03))
  agent_choose(agent, 7)
  json <- function(x) gsub("</", "<\\/", dpts:::api_json(x), fixed = TRUE)
  folder <- withr::local_tempdir()
  writeLines(c(
    "<!doctype html><meta charset='utf-8'><body><script>",
    sprintf("const overview = %s, page = %s;", json(dpts:::api_overview(agent)), json(dpts:::api_page()$body)),
    "const answer = path => path === 'experiments' ? [{ experiment: 'x', name: null }, { experiment: 'y', name: null }] : overview;",
    "[375, 700, 1600].forEach(width => {",
    "  const frame = document.createElement('iframe');",
    "  Object.assign(frame, { width, height: 900, srcdoc: page });",
    "  frame.onload = async () => {",
    "    const there = frame.contentDocument, get = id => there.getElementById(id);",
    "    frame.contentWindow.fetch = async path => ({ ok: true, json: async () => answer(path) });",
    "    get('token').value = 'x'; get('ask').requestSubmit();",
    "    await new Promise(done => setTimeout(done, 500));",
    "    const beyond = [...there.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > width + 1);",
    "    const out = document.createElement('p');",
    "    out.textContent = `PROBE ${width}: ${there.documentElement.scrollWidth} wide, ${beyond.length} beyond, ` +",
    "      `${getComputedStyle(there.body).backgroundColor}, ${get('problem').textContent}, ${get('sums').textContent}`;",
    "    document.body.append(out);",
    "  };",
    "  document.body.append(frame);",
    "});",
    "</script>"), file.path(folder, "probe.html"))
  said <- system2("timeout", c(
    60, shQuote(browser[[1]]), "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars",
    "--virtual-time-budget=10000 --blink-settings=preferredColorScheme=0", paste0("--user-data-dir=", shQuote(folder)),
    "--dump-dom", shQuote(paste0("file://", folder, "/probe.html"))), stdout = TRUE, stderr = FALSE)
  said <- paste(said, collapse = "\n")
  said <- regmatches(said, gregexpr("PROBE [0-9]+:[^<]*", said))[[1]]
  expect_identical(sort(sub(" choices.*", "", said)), sprintf(
    "PROBE %1$s: %1$s wide, 0 beyond, rgb(19, 20, 22), , 67", c(1600, 375, 700)))
  x <- as.numeric(regmatches(said[1], gregexpr("[0-9]+(?= (choices|answers|in the|awaited))", said[1], perl = TRUE))[[1]])
  expect_length(x, 4)
  expect_equal(x[1], sum(x[-1]))
})

test_that("a choice takes a context, and junk is answered with its name", {
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(policy_linucb(mu = 1, norm = 1), c("a", "b"), use = "arrival", dim = 2)
  router <- agent_api(agent, TOKEN, log = NULL)
  choose <- function(body) call_api(router, "POST", "/choose", body)
  expect_equal(choose('{"context": [0.1, 1]}')$status, 200)
  two <- choose('{"n": 2, "context": [[0.1, 1], [0, 0.5]]}')$json
  expect_equal(two$t, 2:3)
  expect_equal(dpts:::read_context(agent$store$tickets(two$ticket[2])$context), c(0, 0.5))
  for (junk in c("{}", '{"context": null}', '{"context": []}', '{"context": [1]}', '{"context": [0, 2]}', '{"context": [-1, 0]}',
                 '{"context": ["0", "1"]}', '{"context": [null, 1]}', '{"context": "NaN"}', '{"context": [[0, 1], [0]]}',
                 '{"context": {"a": 0, "b": 1}}', '{"context": [[0, 1], [1, 0]]}', '{"context": [true, false]}')) {
    answer <- choose(junk)
    expect_equal(answer$status, 400, label = junk)
    expect_match(answer$json$message, "context", label = junk)
  }
  expect_equal(nrow(dpts_history(agent)), 3)
  expect_equal(call_api(router, "POST", "/reward", sprintf('{"ticket": "%s", "reward": 1}', two$ticket[1]))$json$status, "used")
  status <- call_api(router, "GET", "/status")$json
  expect_match(status$guarantee, "joint")
  for (path in c("/overview", "/statement", "/privacy", "/estimates")) {
    expect_equal(call_api(router, "GET", path)$status, 200, label = path)
  }
})

test_that("parameters of an address are read as they were sent", {
  read <- dpts:::parse_query
  expect_identical(read(""), read(NULL))
  expect_length(read("?"), 0)
  expect_identical(read("?a=1&b=x%20y+z&c"), list(a = "1", b = "x y z", c = ""))
  expect_identical(read("a=1=2&&a=3&"), list(a = c("1=2", "3")))
  expect_identical(read("a=%00%4&%0"), list(a = "%00%4", "%0" = "")) # no byte that a string may have
  expect_identical(read("%C3%A4=%C3%B6"), list("\u00e4" = "\u00f6"))
  expect_error(read("a=%FF"), "UTF-8", class = "dpts_error_body")
})
