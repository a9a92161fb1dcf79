skip_on_cran() # takes seconds

# Every parameter of every route: the answer is that of the function in R with the same argument, and not that
# without it.
test_that("each parameter of each route reaches the function that answers", {
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(policy_randomised(mu = 3, block = 60), c("a", "b", "c"), use = "arrival")
  withr::with_seed(1, play_rounds(agent, 900, c(0.2, 0.5, 0.9), at_a_time = 60))
  router <- agent_api(agent, TOKEN, log = NULL)
  rows <- function(x) {
    x <- as.data.frame(x)
    x[] <- lapply(x, function(column) if (is.factor(column)) as.character(column) else column)
    jsonlite::parse_json(dpts:::api_json(x), simplifyVector = TRUE)
  }
  functions <- list(
    "/verdict" = function(...) verdict(agent, ...), "/effects" = function(...) effects(agent, ...),
    "/evidence" = function(...) evidence(agent, ...), "/estimates" = function(...) estimates(agent, ...),
    "/privacy" = function(...) dpts_privacy(agent, ...),
    "/statement" = function(...) as.list(unclass(privacy_statement(agent, ...)))
  )
  values <- list(error = c(0.5, 1e-9), margin = c(0, 0.6), level = c(0.5, 0.99), control = c("a", "c"), delta = c(1e-3, 1e-9),
                 kind = c("means", "tosses"), against = c(0.2, 0.7))
  asked <- character()
  for (route in dpts:::api_routes()) {
    for (name in intersect(names(route$query), names(values))) { # others are for agents of another kind
      asked <- c(asked, route$path)
      answers <- lapply(values[[name]], function(value) {
        said <- call_api(router, route$method, route$path, query = sprintf("?%s=%s", name, value))
        expect_equal(said$status, 200, info = paste(route$path, name))
        want <- suppressMessages(do.call(functions[[route$path]], stats::setNames(list(value), name)))
        if (is.data.frame(want)) expect_equal(said$json[names(rows(want))], rows(want), info = paste(route$path, name)) else
          expect_equal(unlist(said$json), unlist(want), info = paste(route$path, name))
        said$text
      })
      expect_false(answers[[1]] == answers[[2]], info = paste(route$path, name))
      # Once, and of a value that fits
      query <- sprintf("?%s=%s&%1$s=%s", name, values[[name]][1], values[[name]][2])
      expect_equal(call_api(router, route$method, route$path, query = query)$status, 400, info = paste(route$path, name))
      expect_equal(call_api(router, route$method, route$path, query = sprintf("?%s=no-such", name))$status, 400)
    }
    if (route$method == "GET" && nzchar(route$role)) {
      expect_equal(call_api(router, "GET", route$path, query = "?dleta=0.2")$status, 400, info = route$path)
    }
  }
  expect_setequal(asked, names(functions))
  # What is sent in a body
  ticket <- call_api(router, "POST", "/choose", '{"n": 3, "offer": ["c"], "key": "k"}')$json$ticket
  expect_identical(call_api(router, "POST", "/choose", '{"n": 3, "key": "k"}')$json$ticket, ticket)
  expect_equal(call_api(router, "POST", "/arms", '{"pause": "a"}')$json$status, c("paused", "active", "active"))
  expect_equal(call_api(router, "POST", "/arms", '{"resume": "a", "add": ["d"]}')$json$status, rep("active", 4))
  expect_equal(call_api(router, "POST", "/arms", '{"retire": ["d", "b"]}')$json$status, c("active", "retired", "active", "retired"))
  expect_equal(call_api(router, "POST", "/arms", '{"paused": "a"}')$status, 400)
  many <- function(n) sprintf('{"ticket": [%s], "reward": 1}', paste(rep(sprintf('"%s"', ticket[1]), n), collapse = ","))
  expect_equal(call_api(router, "POST", "/reward", many(1001))$status, 400)
  expect_equal(call_api(router, "POST", "/reward", many(1000))$json$status, rep(c("used", "known"), c(1, 999)))
  # No body: the default
  expect_equal(call_api(router, "POST", "/finish", "{}")$json$then, "end")
  expect_equal(call_api(router, "POST", "/choose")$status, 410)
  expect_equal(call_api(router, "POST", "/finish", '{"then": "verdict"}')$json$then, "verdict")
  expect_true(is.na(agent_choose(agent)$t))
})

test_that("no answer is to be kept", {
  skip_if_not_installed("jsonlite")
  router <- agent_api(dpts_agent(batch_policy(), 2, use = "arrival"), TOKEN, log = NULL)
  for (route in dpts:::api_routes()) {
    for (token in list(TOKEN, "0123456789-another")) {
      answer <- call_api(router, route$method, route$path, token = token)
      expect_identical(answer$headers[["Cache-Control"]], "no-store", info = route$path)
      expect_identical(answer$headers[["X-Content-Type-Options"]], "nosniff", info = route$path)
    }
  }
  # The page may ask this service alone.
  expect_identical(call_api(router, "GET", "/")$headers[c("Content-Type", "Content-Security-Policy")], list(
    "Content-Type" = "text/html; charset=utf-8",
    "Content-Security-Policy" = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"))
  expect_identical(call_api(router, "GET", "/metrics")$headers[["Content-Type"]], "text/plain; version=0.0.4; charset=utf-8")
})

test_that("a token's rate fills again, for who was refused, too", {
  now <- 100
  local_function("seconds_now", function(old) function() now)
  may <- dpts:::rate_keeper(10)
  expect_equal(sum(replicate(12, may("a"))), 10)
  expect_false(may("a"))
  now <- now + 0.55
  expect_equal(sum(replicate(12, may("a"))), 5)
  for (i in 1:20) { # one that asks twice as often as it may gets in each second time
    now <- now + 0.05
    may("a")
  }
  now <- now + 0.2
  expect_equal(sum(replicate(12, may("a"))), 2)
  now <- now + 1e6
  expect_equal(sum(replicate(50, may("a"))), 10)
  expect_equal(sum(replicate(50, may("b"))), 10)
  may <- dpts:::rate_keeper(0.5) # one in two seconds
  let_in <- vapply(c(0, 1, 1, 0, 1, 9, 0), function(seconds) {
    now <<- now + seconds
    may("a")
  }, NA)
  expect_identical(let_in, c(TRUE, FALSE, TRUE, FALSE, FALSE, TRUE, FALSE))
  may <- dpts:::rate_keeper(2)
  expect_equal(sum(replicate(9, may(NULL))), 2) # all without a token together
  expect_true(may("a"))
  may <- dpts:::rate_keeper(Inf)
  expect_true(all(replicate(30, may(NULL))))
})

test_that("counters count twice, sums are sums, and names may have quotes", {
  service <- list(metrics = dpts:::new_metrics(), agents = list(at_hand = function() character()),
                  log = function(...) NULL)
  for (i in 1:3) service$metrics$add("store_errors", "")
  for (i in 1:2) service$metrics$add("requests", c("/x", "GET", 200))
  for (took in c(0.25, 1.5, 30)) service$metrics$time("/x", took)
  service$metrics$add("requests", c("/x", "GET", 404))
  service$metrics$time("/y", 0)
  service$agents$at_hand <- function() c("u", "v\nw")
  service$numbers <- list(u = data.frame(experiment = "u", up = 1, choices = 2^40 + 1, out = 2, releases = NA, guards = 3),
                          "v\nw" = data.frame(experiment = "v\nw", up = 0, choices = NA, out = NA, releases = NA, guards = NA))
  tell_metrics <- function() cat(sub(package_version_text(), "1.2.3", metrics_text(list2env(service)), fixed = TRUE))
  expect_snapshot(tell_metrics(), cran = FALSE)
  # Of an agent all rounds, and all releases; what cannot be read is an error, which the log tells of
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  agent_reward(agent, agent_choose(agent, 40)$ticket[1:30], 1)
  service$agents$find <- function(name) agent
  numbers <- function() dpts:::experiment_numbers(list2env(service), "x")
  expect_gt(min(estimates(agent)$releases), 1)
  expect_equal(numbers(), data.frame(experiment = "x", up = 1, choices = 40, out = 10, releases = sum(estimates(agent)$releases), guards = NA))
  said <- NULL
  service$log <- function(...) said <<- list(...)
  service$agents$find <- function(name) stop("gone")
  expect_equal(numbers(), data.frame(experiment = "x", up = 0, choices = NA, out = NA, releases = NA, guards = NA))
  expect_identical(said, list(event = "error", error = "store", experiment = "x", message = "gone"))
  expect_equal(service$metrics$counts()[["store_errors "]], 4)
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  agent_reward(agent, agent_choose(agent, 7)$ticket[1:3], 1)
  router <- agent_api(stats::setNames(list(agent), 'a"b\\c'), TOKEN, log = NULL)
  for (i in 1:30) call_api(router, "GET", paste0("/junk", i))
  text <- strsplit(call_api(router, "GET", "/metrics")$text, "\n")[[1]]
  expect_true('dpts_choices_total{experiment="a\\"b\\\\c"} 7' %in% text)
  expect_true('dpts_tickets_out{experiment="a\\"b\\\\c"} 4' %in% text)
  expect_length(grep("^dpts_requests_total", text), 1)
  expect_true('dpts_requests_total{path="other",method="GET",status="404"} 30' %in% text)
})

test_that("lines of the log have the time of all, who asked, and an end", {
  withr::local_timezone("Asia/Tokyo")
  file <- withr::local_tempfile()
  log <- file(file, "w")
  before <- unclass(Sys.time())
  dpts:::write_log(log, event = "x", none = NULL, message = strrep("long ", 5000))
  close(log)
  line <- readLines(file)
  expect_lte(nchar(line, "bytes"), 4096)
  said <- jsonlite::parse_json(line)
  expect_named(said, c("time", "event", "message"))
  expect_identical(said$message, substr(strrep("long ", 5000), 1, 900))
  expect_match(said$time, "^[-0-9]{10}T[:0-9]{8}[.][0-9]{3}Z$")
  after <- unclass(as.POSIXct(said$time, "UTC", "%Y-%m-%dT%H:%M:%OSZ")) - before # cut, not rounded, to thousandths
  expect_true(after > -0.0011 && after < unclass(Sys.time()) - before)
})

test_that("while a service ends it refuses, but says that it is there; and readiness is asked again", {
  skip_if_not_installed("jsonlite")
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  seen <- list()
  service <- dpts:::new_service(agent, TOKEN, rate = 0.001, log = NULL)
  service$log <- function(...) seen[[length(seen) + 1]] <<- list(...)
  router <- list(call = function(req) dpts:::answer_request(service, req))
  expect_equal(call_api(router, "GET", "/status")$status, 200)
  expect_equal(call_api(router, "GET", "/status")$status, 429)
  expect_equal(replicate(5, call_api(router, "GET", "/health")$status), rep(200, 5))
  expect_equal(replicate(5, call_api(router, "GET", "/ready")$status), rep(200, 5))
  expect_equal(seen[[1]]$path, "/status")
  # A readiness is remembered for two seconds at most, however long it took.
  now <- 100
  local_function("seconds_now", function(old) function() now)
  slow <- 0
  compute <- function() {
    now <<- now + 60
    slow <<- slow + 1
  }
  owner <- new.env()
  for (i in 1:3) {
    dpts:::cached(owner, "ready", compute, most = 2)
    now <- now + 1
  }
  expect_equal(slow, 2)
  service$metrics <- new_metrics()
  now <- 100
  dpts:::note_answer(service, list(PATH_INFO = "/x"), list(status = 200L), 97.123456)
  expect_identical(seen[[length(seen)]]$seconds, 2.8765)
  expect_equal(c(service$last, service$metrics$times()$other), c(100, rep(0:1, c(9, 2)), 2.876544))
  # Other answers are kept for 20 times as long as they took, parts that were computed before included.
  owner$spent <- 40
  kept <- function(wait) {
    now <<- now + wait
    before <- slow
    dpts:::cached(owner, "page", compute)
    slow == before
  }
  expect_identical(c(kept(0), kept(1999), kept(2), kept(1199), kept(2)), c(FALSE, TRUE, FALSE, TRUE, FALSE))
  asked <- NULL
  local_function("cached", function(old) function(owner, name, compute, most = Inf) {
    asked <<- most
    compute()
  })
  dpts:::api_ready(service, list())
  expect_equal(asked, 2)
  service$ending <- TRUE
  expect_equal(call_api(router, "GET", "/health")$status, 503)
})

test_that("an answer in parts is kept for twenty times what all its parts took", {
  now <- 100
  local_function("seconds_now", function(old) function() now)
  local_function("next_request", function(old) function(...) NULL)
  local_function("serve_answer", function(old) function(...) cached(owner, "x", function() 1))
  owner <- new.env()
  part <- function() {
    now <<- now + 1
    FALSE
  }
  service <- list2env(list(waiting = list(list(req = NULL, owner = owner, parts = list(part, part, part)))))
  for (i in 1:4) dpts:::serve_one(service, NULL, 0L)
  expect_equal(c(owner$cache$x$until, owner$spent, length(service$waiting)), c(now + 60, 0, 0))
  # What parts of an answer took that is not kept is not added to another one.
  local_function("serve_answer", function(old) function(...) NULL)
  service$waiting <- list(list(req = NULL, owner = owner, parts = list(part, part)))
  for (spent in c(1, 2, 0)) {
    dpts:::serve_one(service, NULL, 0L)
    expect_equal(owner$spent, spent)
  }
})

test_that("numbers that were found in parts are told once, and found anew for who asks later", {
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  service <- new_service(list(x = agent, y = dpts_agent(batch_policy(), 2, use = "arrival")), TOKEN, Inf, NULL)
  local_function("is_cached", function(old) function(...) FALSE)
  for (rounds in c(0, 2, 5)) {
    agent_choose(agent, 1 + rounds)
    parts <- dpts:::metrics_parts(service)
    for (part in parts) while (isTRUE(part())) NULL
    expect_named(service$numbers, c("x", "y"))
    text <- dpts:::metrics_text(service)
    expect_match(text, sprintf('dpts_choices_total{experiment="x"} %d\n', sum(pulls(agent)$pulls)), fixed = TRUE)
    expect_match(text, 'dpts_choices_total{experiment="y"} 0\n', fixed = TRUE)
  }
})

test_that("each look at the page counts each ticket once, in every store", {
  turn <- test_clock()
  each_database(function(store) {
    agent <- dpts_agent(policy_randomised(mu = 3, rule = "thompson", floor = 0.05, block = 20), c("a", "b", "c"), store,
                        use = "arrival", deadline = hours(1))
    withr::local_seed(1)
    look <- function() {
      agent$cache <- NULL
      dpts:::api_overview(agent)
    }
    asked <- 0
    totals <- agent$store$totals
    agent$store$totals <- function(from, ...) {
      expect_identical(from, asked + 1) # from where it was
      asked <<- sum(pulls(agent)$pulls)
      totals(from, ...)
    }
    for (i in 1:2) {
      x <- agent_choose(agent, 31)
      agent_reward(agent, x$ticket[1:20], stats::rbinom(20, 1, c(0.1, 0.5, 0.9)[as.integer(x$arm[1:20])]))
      for (again in 1:2) {
        page <- look()
        h <- dpts_history(agent)
        expect_equal(page$arms$choices, pulls(agent)$pulls)
        expect_equal(sum(page$arms$recent), sum(pulls(agent)$pulls))
        expect_equal(page$arms$missing, as.vector(table(h$arm[h$status == "missing"])), ignore_attr = TRUE)
        expect_equal(agent$totals$sums[, 1:3], ignore_attr = TRUE, tolerance = 1e-9, t(vapply(c("a", "b", "c"), function(arm) {
          p <- h$probability[h$arm == arm]
          c(length(p), sum(1 / p), sum((1 - p) / p^2))
        }, numeric(3))))
      }
      turn(2 * 3600)
      pulls(agent) # a change of what is missing alone
      page <- look()
      withr::with_timezone("Asia/Tokyo", expect_equal(look(), page)) # times are of UTC
      h <- dpts_history(agent)
      expect_equal(page$arms$missing, as.vector(table(h$arm[h$status == "missing"])), ignore_attr = TRUE)
    }
    # Of an hour 23 hours ago all is recent, of one 24 hours ago nothing
    turn(19 * 3600)
    agent_choose(agent)
    page <- look()
    expect_equal(sum(page$arms$recent), 63)
    agent$totals <- NULL # all at once is the same
    asked <- 0
    expect_equal(look(), page)
    turn(3600)
    agent_choose(agent)
    expect_equal(sum(look()$arms$recent), 64 - 31)
    for (days in c(20, 23) / 24) { # nobody for longer than a day
      turn(days * 86400)
      pulls(agent)
    }
    expect_equal(sum(look()$arms$recent), 0)
    agent_close(agent)
  })
})

test_that("what the page says of arms: the second is the rival, an open block is open, few are no alarm, and all are needed", {
  estimates <- data.frame(arm = factor(c("a", "b", "c", "d")), mean = c(0.2, 0.9, 0.1, 0.6))
  expect_equal(dpts:::leads(estimates), list(arm = "b", rival = "d", by = 0.3))
  estimates$mean[4] <- NA
  expect_equal(dpts:::leads(estimates)$rival, "a")
  agent <- dpts_agent(policy_gaussian_imed(mu = 1, first = 20), c("a", "b"), use = "arrival")
  x <- agent_choose(agent, 13)
  agent_reward(agent, x$ticket, 1)
  page <- dpts:::api_overview(agent)
  expect_equal(sum(page$arms$counted), 0)
  expect_equal(sum(page$arms$open), 13)
  # Chances of .9 and .1
  sums <- function(n, chance) cbind(n, n / chance, n * (1 - chance) / chance^2)
  z <- function(n, chance, i) (n[i] / chance[i] - sum(n)) / sqrt(n[i] * (1 - chance[i]) / chance[i]^2)
  n <- c(880, 120)
  chance <- c(0.9, 0.1)
  worst <- max(abs(z(n, chance, 1)), abs(z(n, chance, 2)))
  expect_equal(dpts:::sample_ratio(sums(n, chance), n, rep(sum(n), 2)), min(1, 4 * stats::pnorm(-worst)))
  expect_identical(dpts:::sample_ratio(sums(c(1000, 3), c(0.5, 0.5)), c(1000, 3), c(1003, 1003)), NA)
  # An arm that was hardly chosen yet is not judged.
  expect_equal(dpts:::sample_ratio(sums(c(1000, 1000, 3), rep(0.5, 3)), c(1000, 1000, 3), c(2000, 2000, 9)), 1)
  expect_equal(dpts:::sample_ratio(sums(c(3, 1000, 1000), rep(0.5, 3)), c(3, 1000, 1000), c(9, 2000, 2000)), 1)
  few <- cbind(c(3, n), rbind(c(30, 270), sums(n, chance)[, 2:3]))
  expect_equal(dpts:::sample_ratio(few, c(3, n), c(3, sum(n), sum(n))), min(1, 4 * stats::pnorm(-worst)))
})

test_that("of several accountants the page has the least epsilon, and an arm leads only where two means are known", {
  local_function("dpts_privacy", function(old) function(...) {
    data.frame(unit = rep(c("reward", "person"), c(3, 2)), accountant = c("x", "y", "z", "x", "y"), delta = 1e-6,
               spent = c(0, 0, 0, 5, 4), epsilon = c(Inf, 3, 2, Inf, Inf))
  })
  agent <- dpts_agent(policy_imed(), 2, use = "arrival")
  expect_identical(dpts:::overview(agent)$epsilon, data.frame(unit = c("reward", "person"), spent = c(0, 4), epsilon = c(2, NA)))
  leads <- function(...) dpts:::leads(data.frame(arm = c("a", "b", "c"), mean = c(...)))
  expect_null(leads(NA, NA, NA))
  expect_null(leads(NA, 0.5, NA))
  expect_identical(leads(NA, 0.5, 0.25), list(arm = "b", rival = "c", by = 0.25))
})

test_that("the page says of the risk what privacy_statement() says", {
  said <- function(agent) as.character(dpts:::overview(agent)$promise)
  for (agent in list(dpts_agent(batch_policy(), 2, use = "arrival", max_per_person = 3),
                     dpts_agent(policy_linucb(mu = 1, norm = 1), 2, use = "arrival", dim = 2))) {
    statement <- privacy_statement(agent)
    expect_identical(said(agent), as.vector(statement[intersect(c("What is guaranteed", "Who comes often"), names(statement))]))
    agent_restored(agent)
    expect_identical(said(agent)[1], privacy_statement(agent)[["What is guaranteed"]])
  }
  expect_identical(said(dpts_agent(policy_klucb(), 2, use = "arrival")), NA_character_)
})

test_that("/status says what an agent was made with, null where it has none of it", {
  skip_if_not_installed("jsonlite")
  outcomes <- list(harm = agent_outcome(mu = 0.25, missing = 1, deadline = hours(2)),
                   cost = agent_outcome(range = c(0, 5), missing = 5, guard = 0.5, error = 0.01, worse = "less"))
  agent <- dpts_agent(policy_randomised(mu = 1, control = 1, block = 10), c("a", "b", "c"), name = "Trial", use = "deadline", deadline = hours(30),
                      horizon = 1000, range = c(0, 20), max_per_person = 4, window = hours(24), outcomes = outcomes)
  agent_choose(agent, 25, person = as.character(1:25))
  agent_arms(agent, pause = "c")
  said <- function(agent) jsonlite::parse_json(dpts:::api_json(dpts:::api_status(agent)), simplifyVector = TRUE)
  shown <- said(agent)
  expect_identical(shown$outcomes$worse, list(list(), list()))
  shown$outcomes$worse <- NULL
  expect_equal(shown[setdiff(names(shown), c("guess", "often", "shares", "arms", "guarantee"))], list(
    name = "Trial", policy = "randomised", restored = 0, learning = TRUE, use = "deadline", clipped = NULL, rounds = 25, horizon = 1000, outstanding = 25,
    then = "go", winner = NULL, deadline = 108000, window = 86400, range = c(0, 20), sums = TRUE, spends = "once", outcomes = data.frame(
      outcome = names(outcomes), about = c("0.25-GDP, from 0 to 1, missing counts 1 after 2 hours",
                                           "without noise, from 0 to 5, missing counts 5 after 1.25 days, guard: at most 0.5 less than the control (error 0.01)"),
      waiting = c(3L, 3L), guard = c(NA, 0.5))))
  expect_equal(shown$arms, data.frame(arm = c("a", "b", "c"), pulls = pulls(agent)$pulls, outstanding = pulls(agent)$pulls))
  expect_null(shown$guess) # one outcome has no noise
  bare <- said(dpts_agent(policy_ts_gaussian(filter = privacy_gdp(1)), 2, use = "arrival"))
  none <- c("name", "clipped", "horizon", "winner", "deadline", "window")
  expect_identical(names(Filter(is.null, bare)), none)
  expect_equal(bare[c("use", "range", "sums", "spends", "outcomes")],
               list(use = "arrival", range = 0:1, sums = FALSE, spends = "by choice", outcomes = list()))
  # Of 1, 10 and 100 rewards of a person
  often <- said(dpts_agent(policy_gaussian_imed(mu = 0.1), 2, use = "arrival"))
  expect_equal(often$often, data.frame(rewards = c(1, 10, 100), guess = stats::pnorm(c(1, 10, 100) * 0.1 / 2)), tolerance = 1e-3)
  expect_identical(often$guess, often$often$guess[1])
  expect_identical(said(dpts_agent(policy_ucb1(), 2, use = "arrival"))$often, data.frame(rewards = c(1L, 10L, 100L), guess = NA))
})

# All that the page is sent of agents in which nothing is random: nobody has come, or as many to each arm, without noise.
tell_overviews <- function() {
  show <- function(agent) {
    shown <- dpts:::overview(agent)
    cat(gsub("([0-9][.][0-9]{4})[0-9]+", "\\1", dpts:::api_json(shown[setdiff(names(shown), c("promise", "shares", "balance"))])), "\n", sep = "")
  }
  turn <- test_clock()
  none <- dpts_agent(policy_gaussian_imed(mu = 0.5), c("a", "b"), use = "arrival", name = "None", max_per_person = 2)
  show(none)
  agent_finish(none)
  show(none)
  agent <- dpts_agent(policy_randomised(block = 30, permuted = TRUE), c("a", "b", "c"), use = "arrival", deadline = hours(5), range = c(0, 2),
                      strata = c("n", "s"), outcomes = list(harm = agent_outcome(range = c(0, 4), deadline = hours(1))))
  x <- agent_choose(agent, 90, stratum = rep(c("n", "s", "n"), 30))
  told <- unlist(lapply(levels(x$arm), function(arm) utils::head(which(x$arm == arm & rep(c("n", "s", "n"), 30) == "n"), 20)))
  agent_reward(agent, x$ticket[told], as.integer(x$arm[told]) / 2)
  agent_reward(agent, x$ticket[told], as.integer(x$arm[told]), outcome = "harm")
  turn(5400)
  agent_arms(agent, pause = "b")
  show(agent)
  turn(4 * 3600)
  agent_finish(agent, "verdict")
  show(agent)
}

test_that("the page is sent what there is, in units", {
  skip_if_not_installed("jsonlite")
  expect_snapshot(tell_overviews(), cran = FALSE)
})

test_that("the chance of a guess grows with each return to an old copy, in the same process", {
  agent <- dpts_agent(policy_gaussian_imed(mu = 1), 2, use = "arrival", max_per_person = 1)
  guess <- function() dpts:::api_status(agent)$guess
  found <- guess()
  for (i in 1:2) {
    agent_restored(agent)
    found <- c(found, guess())
    expect_equal(dpts:::api_status(agent)$restored, i)
  }
  # mu grows as the root of how many copies there are; the best guess is right with chance pnorm(mu / 2).
  expect_equal(found, stats::pnorm(sqrt(1:3) / 2), tolerance = 1e-3)
  # What grows with rounds is computed for 100,000 of them, and anew only for more.
  agent <- dpts_agent(policy_ts_gaussian(filter = privacy_gdp(1)), 2, use = "arrival")
  risk <- lapply(c(1, 1e5, 2e5), function(rounds) dpts:::risk_depends(agent, 0, rounds))
  expect_identical(risk[[1]], risk[[2]])
  expect_false(identical(risk[[2]], risk[[3]]))
})

test_that("the page draws the evidence that verdicts rest on", {
  agent <- dpts_agent(policy_randomised(mu = 5, block = 50), c("a", "b"), use = "arrival")
  # First a is far better, then b for as many: means change, so that only the randomisation is evidence.
  for (turn in 1:2) {
    choice <- agent_choose(agent, n = 600)
    agent_reward(agent, choice$ticket, as.numeric((choice$arm == "a") == (turn == 1)))
    proof <- dpts:::overview(agent)$proof
    own <- evidence(agent, "tosses")
    of_a <- own$evidence[own$arm == "a"]
    expect_equal(proof$evidence, of_a)
    expect_identical(proof$t[nrow(proof)], max(own$t))
    expect_identical(any(proof$evidence >= proof$line), !is.na(verdict(agent)$arm))
  }
})

test_that("of arms with lines of their own the page draws the one that has reached its line", {
  # An arm that was added has a higher line: its evidence of 5 is no verdict, and 4.5 of the other is.
  found <- data.frame(arm = factor(c("a", "b")), t = c(50, 50, 100, 100), evidence = c(4.5, -5, -6, 5), line = c(4, 6))
  drawn <- dpts:::proof_in_time
  environment(drawn) <- list2env(list(evidence = function(...) found), parent = environment(drawn))
  expect_equal(drawn(NULL), data.frame(t = c(50, 100), evidence = c(4.5, -6), line = 4))
  # Three arms, each against two rivals: b alone has reached its own line, c is above that of b and below its own.
  found <- data.frame(arm = factor(rep(c("a", "b", "c"), each = 2)), t = rep(c(50, 100), each = 6),
                      evidence = c(3.5, 9, 7, 6.5, 8, 7.5, 1, 2, 5, 4, 6, 3), line = rep(c(4, 6, 8), each = 2))
  expect_equal(drawn(NULL), data.frame(t = c(50, 100), evidence = c(6.5, 4), line = 6))
  # Of many releases 200 are drawn, the first and the last among them.
  found <- data.frame(arm = factor(c("a", "b")), t = rep(1:500, each = 2), evidence = c(rbind(1:500 / 100, -1)), line = 9)
  expect_identical(drawn(NULL)$t[c(1, 2, 199, 200)], c(1L, 4L, 497L, 500L))
  expect_identical(drawn(NULL)$evidence, drawn(NULL)$t / 100)
  found <- found[1:400, ]
  expect_identical(drawn(NULL)$t, 1:200)
})

test_that("the page has the effects of all people and of each stratum", {
  agent <- dpts_agent(policy_randomised(mu = 5, block = 20), c("a", "b"), use = "arrival",
                      strata = c("north", "south"))
  expect_identical(dpts:::overview(agent)$strata$difference, rep(NA_real_, 3)) # nobody has come
  for (day in 1:10) {
    choice <- agent_choose(agent, n = 40, stratum = rep(c("north", "south"), 20))
    agent_reward(agent, choice$ticket, as.numeric(choice$arm == "b"))
  }
  shown <- dpts:::overview(agent)$strata
  expect_identical(as.character(shown$stratum), c(NA, "north", "south"))
  expect_equal(shown$lower, c(effects(agent)$lower, effects(agent, by = "stratum")$lower))
  expect_equal(shown$difference, c(effects(agent)$difference, effects(agent, by = "stratum")$difference))
})

test_that("a policy whose chances are not known has no balance", {
  agent <- dpts_agent(policy_ucb1(), c("a", "b"), use = "arrival")
  for (i in 1:12) agent_reward(agent, agent_choose(agent)$ticket, 1)
  expect_true(is.na(api_overview(agent)$balance))
})

test_that("an overview in parts, and one that goes on from the last, are those of an agent that knows nothing yet", {
  local_function("COUNTED_AT_ONCE", function(most) 50)
  local_function("SLICE", function(seconds) 0)
  for (strata in list(NULL, c("n", "s"))) {
    agent <- dpts_agent(policy_randomised(mu = 3, block = 20), c("a", "b"), use = "arrival", strata = strata)
    play <- function(n) {
      ticket <- agent_choose(agent, n, stratum = if (!is.null(strata)) rep_len(strata, n))$ticket
      agent_reward(agent, ticket, as.numeric(stats::runif(n) < 0.5))
    }
    anew <- function() {
      agent$totals <- agent$course <- agent$cache <- NULL
      agent$remembered <- agent$memory$weighed <- list()
      dpts:::overview(agent)
    }
    shown <- list()
    for (i in 1:2) {
      withr::with_seed(i, play(130))
      parts <- dpts:::overview_parts(agent)
      expect_length(parts, 13) # three of them count 130 people
      slices <- vapply(parts, function(part) {
        for (n in 1:50) if (!isTRUE(part())) return(n)
      }, 0L)
      expect_true(any(slices > 1)) # what weighs blocks stops after each
      expect_equal(agent$totals$rounds, 130 * i) # nothing is left to count
      if (i == 2) withr::with_seed(9, play(40)) # between the parts and the answer
      shown[[i]] <- dpts:::overview(agent)
      expect_equal(shown[[i]][names(shown[[i]]) != "now"], anew()[names(shown[[i]]) != "now"])
      if (is.null(strata)) expect_identical(shown[[i]]$strata, list())
    }
    expect_false(identical(shown[[1]]$proof, shown[[2]]$proof))
    expect_null(dpts:::overview_parts(agent)) # nothing is new
    expect_true(rlang::is_reference(agent$remembered$verdict$from[[1]], dpts_releases(agent))) # or nothing that is kept would be used
  }
})

# The page's own program, with a stand-in for the browser that keeps the texts
test_that("the page shows the numbers of the overview, each in its place and unit", {
  skip_if_not_installed("jsonlite")
  skip_if(!nzchar(Sys.which("node")), "no node")
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(mu = 3, block = 20, control = 1), c("a", "b", "c"), use = "arrival", deadline = hours(20),
                      strata = c("north", "south"), outcomes = list(
                        harm = agent_outcome(mu = 3), cost = agent_outcome(mu = 3, range = c(0, 10))))
  withr::local_seed(1)
  visit <- function(n, told) {
    x <- agent_choose(agent, n, stratum = rep_len(c("north", "south"), n))
    agent_reward(agent, x$ticket[1:told], stats::rbinom(told, 1, c(0.1, 0.5, 0.9)[as.integer(x$arm[1:told])]))
    agent_reward(agent, x$ticket, stats::runif(n), outcome = "harm")
    agent_reward(agent, x$ticket, 10 * stats::runif(n), outcome = "cost")
  }
  visit(121, 110)
  for (i in 1:2) {
    turn(3600 * 20.5)
    pulls(agent)
  }
  visit(70, 50)
  page <- dpts:::overview(agent)
  # An epsilon is rounded up: no less is promised.
  page$epsilon <- data.frame(unit = c("reward", "person"), spent = c(0.121, 2), epsilon = c(1.2301, 2))
  html <- paste(readLines(system.file("agent", "page.html", package = "dpts")), collapse = "\n")
  file <- withr::local_tempfile(fileext = ".js")
  writeLines(c("
    class Element {
      all = []; own = ''; style = {}; clientWidth = 400;
      get textContent() { return this.own + this.all.map(e => e.textContent ?? e).join(''); }
      set textContent(text) { this.own = String(text); this.all = []; }
      append(...parts) { this.all.push(...parts); }
      prepend(...parts) { this.all.unshift(...parts); }
      replaceChildren(...parts) { this.own = ''; this.all = parts; }
      insertRow() { this.all.push(new Element()); return this.all.at(-1); }
      setAttribute(name, value) { (this.given ??= {})[name] = value; }
      addEventListener(what, act) { this[what] = act; }
    }
    const known_by = {}, location = { hash: '' }, innerWidth = 1000, document = {
      getElementById: id => known_by[id] ??= new Element(), createElement: () => new Element(), createElementNS: () => new Element() };
  ", sub(".*<script>\n\"use strict\";(.*)</script>.*", "\\1", html), sprintf("const overview = %s;", dpts:::api_json(page)), "
    show(overview);
    const cells = table => table.all.map(row => row.all.map(cell => cell.textContent));
    const tables = id => $(id).all.filter(e => e.all[0]?.all[0] instanceof Element).map(cells);
    const bars = $('bars').all.map(row => row.all[1]), axis = bars.pop().all.map(tick => [tick.textContent, tick.style.left]);
    const out = { shares: cells($('shares')), answers: cells($('answers')), strata: tables('strata'), others: tables('others'),
      said: $('others').all.map(e => e.textContent), axis, bars: bars.map(track => [track.all[0].style.left, track.all[0].style.width, track.all[1].style.left]),
      sums: $('sums').all.map(e => e.textContent), exactly: $('exactly').textContent };
    // The polygons and curves of a picture, and its lines with what they are called
    const drawn = id => { const all = ($(id).all[0]?.all ?? []).filter(e => e.given);
      return { shapes: all.filter(e => e.given.points).map(e => e.given.points.split(' ').map(p => p.split(',').map(Number))),
        fills: all.filter(e => e.given.points).map(e => e.given.fill),
        lines: all.flatMap((e, i) => e.given.x1 === undefined ? [] : [[e.given.x1, e.given.x2, e.given.y1, e.given.y2]]),
        names: all.flatMap((e, i) => all[i - 1]?.given.x1 === undefined ? [] : [e.textContent]) }; };
    out.chart = drawn('chart');
    out.marks = $('shares').all.slice(1).map(row => row.all[0].all[0].style.background);
    const proof = [[10, -2, 3], [25, 9, 3], [40, 1.5, 3]].map(([t, evidence, line]) => ({ t, evidence, line }));
    show({ ...overview, proof });
    out.proof = drawn('proof');
    out.proofs = [proof.slice(0, 1), null].map(proof => { show({ ...overview, proof }); return $('proof').textContent; });
    const told = (id, change) => { show({ ...overview, ...change }); return $(id).textContent; };
    const lead = (status, worse, then = 'go') => told('lead', { then, verdict: { arm: 'a', missing: '' }, outcomes: worse,
      arms: overview.arms.map(a => ({ ...a, status: a.arm === 'a' ? status : 'active' })) });
    const harm = worse => overview.outcomes.map(o => ({ ...o, worse: o.outcome === 'harm' ? worse : [] })), began = Date.parse(overview.since);
    out.lead = [lead('active', harm([])), lead('paused', harm(['a'])), lead('paused', harm(['c'])), lead('active', harm(['a'])),
      lead('paused', harm(['c', 'a']), 'end'), told('lead', { verdict: null, leads: { arm: 'c', rival: 'a', by: 0.25 } })];
    out.spans = [1, 90, 3600, 5400, 86400, 129600, 604800].map(window => told('counting', { window }).match(/within (.*) are one answer/)[1]);
    out.days = [0, 864e5 - 1000, 864e5, 10 * 864e5].map(after => told('since', { now: new Date(began + after).toISOString() }).match(/day \\d+/)[0]);
    // Of experiments that come and go, one is shown, and asked for again by one clock; without a right to look by none.
    let served = ['b', 'c'], status = 200, clocks = new Set(), last = 0;
    out.asked = [];
    globalThis.setTimeout = () => (clocks.add(++last), last);
    globalThis.clearTimeout = clock => clocks.delete(clock);
    globalThis.fetch = async path => {
      if (path !== 'experiments') out.asked.push(path);
      return { ok: status === 200, status, json: async () => path === 'experiments' ? served.map(experiment => ({ experiment })) : overview };
    };
    (async () => {
      const look = async act => { act(); await new Promise(setImmediate); out.asked.push(clocks.size); };
      await look(renew);
      await look(() => $('experiment').change({ target: { value: 'c' } }));
      served = ['a', 'c'];
      await look(renew);
      served = ['a', 'd'];
      await look(renew);
      status = 401;
      await look(renew);
      console.log(JSON.stringify(out));
    })();"), file)
  said <- jsonlite::fromJSON(paste(system2("node", shQuote(file), stdout = TRUE), collapse = "\n"))
  table_of <- function(...) unname(as.matrix(data.frame(...)))
  percent <- function(x, digits) sub("^-(0[.0]*%)", "\\1", sprintf("%.*f%%", digits, 100 * x)) # no -0
  arms <- page$arms
  expect_gt(sum(arms$recent), 0)
  expect_lt(sum(arms$recent), page$rounds)
  expect_identical(said$shares[-1, ], table_of(arms$arm, percent(arms$recent / sum(arms$recent), 0), percent(arms$choices / page$rounds, 0),
                                               as.character(arms$choices)))
  expect_identical(said$answers[-1, ], table_of(arms$arm, as.character(arms$counted), as.character(arms$open), as.character(arms$awaited)))
  expect_identical(said$sums, paste(c(page$rounds, sum(arms$counted), sum(arms$open), page$outstanding),
                                    c("choices =", "answers counted +", "in the open batch +", "awaited")))
  of <- page$strata
  expect_identical(said$strata[, 1, 1], c("All people", "north", "south"))
  for (i in 1:3) {
    own <- of[if (i == 1) is.na(of$stratum) else of$stratum %in% said$strata[i, 1, 1], ]
    expect_identical(said$strata[i, -1, ], table_of(paste(own$arm, "against", own$control), percent(own$difference, 1),
                                                    percent(own$lower, 1), percent(own$upper, 1)))
  }
  expect_identical(said$others[, 1, 1], c("harm", "cost"))
  for (i in 1:2) {
    of <- page$measured[[i]]
    shown <- function(x) if (i == 1) percent(x, 1) else sprintf("%.2f", x)
    expect_identical(said$others[i, -1, ], table_of(arms$arm, as.character(of$rewards), shown(of$mean), shown(of$lower), shown(of$upper)))
  }
  expect_match(said$exactly, paste("for one answer epsilon 0.13 so far, 1.24 at most; for all answers of a person",
                                   "epsilon 2.00 at most, at delta one in a million."), fixed = TRUE)
  # Bars and dots stand where the axis says.
  number <- function(x) as.numeric(sub("%", "", x))
  place <- stats::lm(number(said$axis[, 2]) ~ I(number(said$axis[, 1]) / 100))$coefficients
  at <- function(x) place[[1]] + place[[2]] * x
  expect_equal(array(number(said$bars), c(3, 3)), cbind(at(arms$lower), place[[2]] * (arms$upper - arms$lower), at(arms$mean)), tolerance = 1e-6)
  # So do the areas of the shares, one on the other, and the curve of the evidence, where it is negative as at 0.
  scaled <- function(picture, shape, top) {
    x <- picture$lines[1, 1:2]
    y <- picture$lines[match(c("0", "0%"), picture$names, 0), 3]
    cbind((shape[, 1] - x[1]) / diff(x), (y - shape[, 2]) / (y - picture$lines[picture$names == top, 3]))
  }
  chart <- said$chart
  expect_identical(chart$names, c("0%", "50%", "100%"))
  expect_equal(scaled(chart, chart$lines[, 2:3], "100%"), cbind(1, 0:2 / 2))
  shares <- tapply(page$shares$share, list(page$shares$t, factor(page$shares$arm, arms$arm)), sum)
  t <- c(0, as.numeric(rownames(shares))) / page$rounds
  edges <- apply(cbind(0, shares), 1, cumsum)[, c(1, seq_len(nrow(shares)))]
  for (i in 1:3) {
    expect_equal(scaled(chart, chart$shapes[i, , ], "100%"), cbind(c(t, rev(t)), c(edges[i, ], rev(edges[i + 1, ]))), ignore_attr = TRUE)
  }
  expect_length(unique(chart$fills), 3)
  expect_identical(chart$fills, said$marks)
  expect_identical(said$proof$names, c("0", "proved"))
  expect_equal(scaled(said$proof, said$proof$shapes[1, , ], "proved"), cbind(c(10, 25, 40) / 40, c(0, 3, 0.5)))
  expect_true(all(said$proof$shapes[1, , 2] >= 0))
  expect_identical(said$proofs, c("", ""))
  expect_identical(said$spans, c("1 second", "90 seconds", "1 hour", "90 minutes", "1 day", "36 hours", "7 days"))
  for (i in 1:2) expect_match(said$said[2 * i], page$outcomes[[i]]$about, fixed = TRUE)
  guard <- "it is proved to be worse than the guard of harm allows."
  best <- "a is proved to be the best"
  expect_identical(said$lead[1:5], c(
    paste0(best, "."), paste0(best, ", but it is paused: ", guard), paste0(best, ", but it is paused."),
    paste0(best, ", but ", guard), paste0("The experiment has ended. ", best, ", but it is paused: ", guard)))
  expect_match(said$lead[6], "^c leads a by 25[.0]* percentage points[.] It is not proved yet[.]$")
  expect_identical(said$days, paste("day", c(1, 1, 2, 11)))
  expect_identical(said$asked, c(rbind(sprintf("experiments/%s/overview", c("b", "c", "c", "a")), "1"), "0"))
})
