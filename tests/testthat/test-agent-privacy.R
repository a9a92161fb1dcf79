# What the agent publishes, and what its store keeps

skip_on_cran() # takes seconds

test_that("the ledger follows the guarantee: rewards, persons, restored copies", {
  agent <- dpts_agent(policy_gaussian_imed(0.5, first = 1), 2, use = "arrival", max_per_person = 3)
  delta <- c(1e-3, 1e-6)
  at_start <- dpts_privacy(agent, delta = delta)
  expect_named(at_start, c("unit", "accountant", "delta", "epsilon", "spent"))
  expect_equal(at_start$unit, rep(c("reward", "person"), each = 2))
  expect_equal(at_start$epsilon, gdp_epsilon(rep(c(0.5, 1.5), each = 2), c(delta, delta)))
  expect_equal(at_start$spent, rep(0, 4))
  agent_reward(agent, agent_choose(agent, person = "p")$ticket, 1)
  expect_equal(dpts_privacy(agent, delta = delta)$spent, at_start$epsilon)
  agent_restored(agent)
  expect_equal(dpts_privacy(agent, delta = delta)$epsilon,
               gdp_epsilon(rep(c(0.5, 1.5) * sqrt(2), each = 2), c(delta, delta)))
  pure <- dpts_agent(policy_dp_imed(0.5), 2, use = "arrival", max_per_person = 3)
  agent_restored(pure)
  # The releases of a person compose as independent Laplace losses, a little below their sum.
  found <- dpts_privacy(pure, delta = 1e-6)
  expect_equal(found$epsilon[found$accountant == "pure"], c(1, 3))
  expect_true(all(found$epsilon[found$unit == "person"] > 2.99 & found$epsilon[found$unit == "person"] <= 3))
})

test_that("nothing is spent before the first release, all of it after, with every policy of releases", {
  policies <- list(policy_randomised(mu = 1, block = 5), policy_gaussian_imed(mu = 1, first = 5), policy_top_two(mu = 20),
                   policy_dp_imed(1, first = 5), policy_lazy_ucb(1), policy_halving(1, people = 20))
  for (policy in policies) {
    agent <- dpts_agent(policy, 2, use = "arrival", horizon = 1000)
    spent <- function() dpts_privacy(agent, delta = 1e-3)[c("epsilon", "spent")]
    choice <- agent_choose(agent, 60)
    expect_identical(spent()$spent, 0 * spent()$epsilon, info = policy$name)
    agent_reward(agent, choice$ticket, 1)
    expect_gt(sum(estimates(agent)$releases), 0)
    expect_equal(spent()$spent, spent()$epsilon, info = policy$name)
  }
})

test_that("Gaussian Thompson sampling spends by rounds, all of them, and claims nothing below rounding", {
  agent <- dpts_agent(policy_ts_gaussian(20, 10), 3, horizon = 1000, use = "arrival")
  delta <- c(1e-3, 1e-5, 1e-13)
  agent_reward(agent, agent_choose(agent, 100)$ticket, 1)
  p <- dpts_privacy(agent, delta = delta)
  gdp <- p[p$accountant == "gdp", ]
  # Arms may be off offer: of the pre-pulls only those of two arms are certain.
  mu <- 1 / sqrt(10 * 21)
  whole <- gdp_epsilon(mu * sqrt(1000 - 40), delta)
  expect_true(all(gdp$epsilon >= whole))
  expect_equal(gdp$epsilon[1:2], whole[1:2], tolerance = 2e-3) # but for rounding
  expect_equal(gdp$epsilon[3], Inf)
  expect_equal(gdp$spent[1:2], gdp_epsilon(mu * sqrt(100 - 40), delta[1:2]), tolerance = 2e-3)
  expect_true(all(p$spent <= p$epsilon))
  # More arms are compared in more draws, each of which is rounded.
  filtered <- function(arms) dpts_agent(policy_ts_gaussian(50, 5, filter = privacy_gdp(1)), arms, use = "arrival")
  agent <- filtered(2)
  few <- dpts_privacy(agent, delta = 1e-5)
  agent_arms(agent, add = paste(3:40))
  expect_identical(dpts_privacy(agent, delta = 1e-5), dpts_privacy(filtered(40), delta = 1e-5))
  expect_gt(dpts_privacy(agent, delta = 1e-5)$epsilon, few$epsilon)
  expect_lt(dpts_privacy(agent, delta = 1e-3)$epsilon, few$epsilon) # and asked of another delta, it is of that one
})

test_that("what rounding leaves is reserved for Thompson sampling that starts anew, too", {
  agent <- dpts_agent(policy_restart(policy_ts_gaussian(50, 5, filter = privacy_gdp(1)), 1000), 5,
                      use = "arrival")
  expect_identical(dpts_privacy(agent, delta = c(1e-9, 1e-12, 1e-300))$epsilon, rep(Inf, 3))
  agent_choose(agent, 5)
  p <- dpts_privacy(agent, delta = 1e-3)
  expect_true(all(is.finite(p$epsilon)) && all(p$spent < p$epsilon))
})

test_that("a filter lets Gaussian Thompson sampling run for ever inside its budget", {
  agent <- dpts_agent(policy_ts_gaussian(2, 50, filter = privacy_gdp(0.3)), 2, use = "arrival",
                      budget = privacy_gdp(0.3))
  for (i in 1:10) agent_reward(agent, agent_choose(agent, 100)$ticket, 0.5)
  p <- dpts_privacy(agent, delta = 1e-4)
  expect_equal(p$accountant, "gdp")
  expect_equal(p$epsilon, gdp_epsilon(0.3, 1e-4), tolerance = 1e-4)
  expect_gt(p$spent, 0)
  expect_lte(p$spent, p$epsilon)
  # What rounding may leave is reserved for 1e5 rounds, and for more once there were more.
  least <- function(rounds) {
    min(dpts:::privacy_so_far(agent, 1e-8, list(rounds = rounds, restored = 0, paid = 0.01, released = TRUE))$epsilon)
  }
  expect_identical(least(1), least(1e5))
  expect_lt(least(1e5), least(1e6))
  expect_identical(least(1e8), Inf)
})

test_that("what a filter has charged is mu squared, and shown as mu", {
  agent <- dpts_agent(policy_ts_gaussian(2, 50, filter = privacy_gdp(0.3)), 2, use = "arrival")
  agent_reward(agent, agent_choose(agent, 20)$ticket, 0.5)
  agent_choose(agent, 20)
  paid <- session_paid(agent$session)
  expect_true(paid > 0 && paid < 0.09)
  expect_equal(dpts_privacy(agent, delta = 1e-2)$spent, gdp_epsilon(sqrt(paid), 1e-2), tolerance = 1e-4)
})

# As a sequence of calls: what is spent now
spending <- function(agent, delta = 1e-2) min(dpts_privacy(agent, delta = delta)$spent)
play_one_by_one <- function(agent, n) {
  for (i in seq_len(n)) agent_reward(agent, agent_choose(agent)$ticket, i %% 2)
  agent
}

test_that("each lost copy counts with all that a person may lose, and beyond its budget an agent uses nothing", {
  for (m in 1:3) {
    agent <- dpts_agent(policy_gaussian_imed(mu = 0.2), 2, use = "arrival", max_per_person = m)
    for (times in 1:2) {
      agent_restored(agent)
      x <- dpts_privacy(agent, delta = 1e-4)
      for (unit in c("reward", "person")) {
        mu <- 0.2 * (if (unit == "person") m else 1) * sqrt(times)
        found <- x$spent[x$unit == unit]
        expect_equal(gdp_delta(mu, min(found)), 1e-4, tolerance = 1e-3, info = paste(unit, m, times))
      }
    }
  }
  agent <- dpts_agent(policy_gaussian_imed(mu = 1), 2, use = "arrival", budget = privacy_gdp(1))
  x <- agent_choose(agent, 4)
  agent_reward(agent, x$ticket[1], 1)
  agent_restored(agent)
  expect_equal(agent_reward(agent, x$ticket[2:3], 1)$status, c("late", "late"))
  expect_equal(dpts_history(agent)$status, c("used", "missing", "missing", "open"))
  expect_equal(c(agent$store$count("used"), agent$store$count("missing")), c(1, 2))
  # Nor is what is said in a window, or after it
  turn <- test_clock()
  agent <- dpts_agent(policy_gaussian_imed(mu = 1), 2, use = "arrival", budget = privacy_gdp(1), max_per_person = 1, window = hours(1))
  x <- agent_choose(agent, 3, person = c("a", "b", "c"))$ticket
  agent_restored(agent)
  expect_identical(agent_reward(agent, x[1], 1)$status, "waiting")
  turn(3600)
  expect_identical(agent_reward(agent, x[1:2], 1)$status, c("late", "late"))
  expect_identical(dpts_history(agent)$status, c("missing", "missing", "open"))
  expect_length(agent$store$answered(0L, x)$ticket, 0)
  # Nothing that anybody does releases the block that is open, of which all have answered.
  agent <- dpts_agent(policy_randomised(mu = 1, block = 6), c("a", "b", "c"), use = "arrival", budget = privacy_gdp(1),
                      block_time = hours(1))
  agent_reward(agent, agent_choose(agent, 10)$ticket, 1)
  rows <- function() sum(dpts_releases(agent)$n > 0)
  before <- rows()
  agent_restored(agent)
  for (act in list(function() agent_arms(agent, pause = "a"), function() agent_arms(agent, retire = "b"), function() agent_choose(agent, 9),
                   function() agent_arms(agent, resume = "a"), function() turn(3600), function() agent_finish(agent), function() agent_finish(agent, "verdict"))) {
    act()
    expect_identical(rows(), before)
  }
})

test_that("where deadlines decide the journal does not tell who reported, in time or late, in every store", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), 2, store, use = "deadline", deadline = hours(1))
    kinds <- function() vapply(c("choose", "resolved", "used", "missing", "late", "waiting"), agent$store$count, 0)
    x <- agent_choose(agent, 6)
    agent_reward(agent, x$ticket[1:2], 1)
    expect_equal(kinds(), c(choose = 6, resolved = 0, used = 0, missing = 0, late = 0, waiting = 0))
    turn(4000)
    for (i in 1:2) expect_equal(unique(agent_reward(agent, x$ticket, 1)$status), "late")
    pulls(agent)
    expect_equal(kinds(), c(choose = 6, resolved = 6, used = 0, missing = 0, late = 0, waiting = 0))
    agent_close(agent)
  })
})

# A life in which at these hours all who are there report, and all that others see of it, by a service and in R: the journal to its
# last digest, answers, errors, warnings, the log, counters. Tickets, arms and noise are the same in each life.
seen_by_others <- function(store, reported, reward = 1, outcome = "reward", ...) {
  withr::local_seed(1)
  withr::local_options(dpts.forced_releases = rep(0.5, 9))
  local_function("system_bytes", function(old) function(n) as.raw(sample.int(256, n, TRUE) - 1L))
  turn <- test_clock()
  said <- NULL
  log <- textConnection("said", "w", local = TRUE)
  withr::defer(close(log))
  seen <- list()
  see <- function(expr) {
    seen <<- c(seen, list(withCallingHandlers(expr, warning = function(w) {
      seen <<- c(seen, conditionMessage(w))
      invokeRestart("muffleWarning")
    })))
  }
  agent <- dpts_agent(policy_randomised(mu = 1, block = 100), 2, store, deadline = hours(20), block_time = hours(6), ...)
  tickets <- character()
  serve <- function() {
    api <- agent_api(agent, c(admin = TOKEN), log = log)
    ask <- function(...) call_api(api, ...)$text
    list(look = function(...) for (path in c("/status", "/metrics", ...)) see(grep("seconds", strsplit(ask("GET", path), "\n")[[1]], invert = TRUE, value = TRUE)),
         report = function() {
           body <- list(ticket = I(tickets), reward = reward, outcome = outcome)
           ask("POST", "/reward", jsonlite::toJSON(body, auto_unbox = TRUE))
         },
         choose = function() {
           body <- list(offer = "1", key = paste0("k", length(tickets)))
           if (!is.null(agent$terms$max_per_person)) body$person <- paste0("p", length(tickets))
           see(ask("POST", "/choose", jsonlite::toJSON(body, auto_unbox = TRUE)))
         },
         back = function() see(ask("POST", "/return", sprintf("{\"ticket\": \"%s\"}", tickets[3]))))
  }
  service <- serve()
  for (now in 0:24) {
    if (now == 24) turn(-6600) # a clock that was a little ahead, but not when the last choice was made
    if (now %in% c(0, 12, 22, 24)) {
      service$choose()
      tickets <- dpts_history(agent)$ticket
    }
    turn(600)
    if (now %in% reported) service$report()
    if (now == 23) service$back()
    turn(3000)
  }
  service$look()
  if (!is.null(agent$terms$max_per_person)) see(agent_erase(agent, "p3")) # who came last
  agent_close(agent)
  turn(3600 * 40)
  see(is.null(agent <- agent_open(store)))
  service <- serve()
  service$choose()
  if (25 %in% reported) service$report() # while the clock is not believed
  service$look("/overview")
  see(is.null(agent_clock(agent)))
  turn(3600 * 15)
  if (26 %in% reported) service$report() # from which this process does not learn what time it is, either
  turn(3600 * 15)
  service$choose()
  see(is.null(agent_clock(agent)))
  see(list(agent_journal(agent), dpts_history(agent), format(agent)[-1], dpts_releases(agent)))
  agent_finish(agent)
  see(agent_journal(agent))
  agent_close(agent)
  c(seen, list(gsub("\"(time|seconds)\":[^,}]*", "", said)))
}

test_that("whether, when and what somebody reports changes nothing that others see, in every store", {
  # When nothing else has happened; when a block has ended, or a deadline passed; before the clock is set back; last; when the clock
  # is not believed; before it is not
  all <- c(1, 10, 21, 23, 24, 25, 26)
  life <- function(...) seen_by_others(withr::local_tempfile(fileext = ".sqlite"), ...)
  expect_identical(life(all), life(NULL))
  people <- function(...) life(..., max_per_person = 1)
  expect_identical(people(24, reward = 0), people(NULL))
  other <- function(...) life(..., outcome = "harm", use = "arrival", outcomes = list(harm = agent_outcome(mu = 1)))
  expect_identical(other(all), other(NULL))
  if (postgres_available()) expect_identical(seen_by_others(postgres_connection(), all), seen_by_others(postgres_connection(), NULL))
})

test_that("a service that opens an experiment for a report does nothing that others see, nor says which it was asked for last", {
  skip_if_not_installed("RSQLite")
  life <- function(reports) {
    withr::local_seed(1)
    local_function("system_bytes", function(old) function(n) as.raw(sample.int(256, n, TRUE) - 1L))
    turn <- test_clock()
    file <- file.path(withr::local_tempdir(), c("a.sqlite", "b.sqlite"))
    for (one in file) {
      agent <- dpts_agent(policy_randomised(block = 100), 2, one, deadline = hours(1))
      ticket <- agent_choose(agent, offer = 1)$ticket
      agent_close(agent)
    }
    said <- NULL
    log <- textConnection("said", "w", local = TRUE)
    withr::defer(close(log))
    api <- agent_api(dirname(file)[1], c(admin = TOKEN), log = log)
    ask <- function(...) call_api(api, ...)$text
    report <- function() if (reports) ask("POST", "/experiments/a/reward", sprintf("{\"ticket\": \"%s\", \"reward\": 1}", ticket))
    turn(7200)
    report()
    turn(3600)
    seen <- lapply(sprintf("/experiments/%s/status", c("a", "b")), function(path) ask("GET", path))
    report()
    seen <- c(seen, grep("seconds", strsplit(ask("GET", "/metrics"), "\n")[[1]], invert = TRUE, value = TRUE))
    turn(3600 * 50)
    api <- agent_api(dirname(file)[1], c(admin = TOKEN), log = log)
    report() # which opens it while the clock is not believed
    c(seen, ask("GET", "/experiments/a/status"), gsub("\"(time|seconds)\":[^,}]*", "", said), lapply(file, function(one) {
      agent <- suppressWarnings(agent_open(one))
      withr::defer(agent_close(agent))
      suppressWarnings(agent_journal(agent))
    }))
  }
  expect_identical(life(TRUE), life(FALSE))
})

test_that("what was spent never falls: not by going back to a copy once or twice, and what is lost may have been all", {
  skip_if_not_installed("RSQLite")
  policies <- list(policy_gaussian_imed(1), policy_ts_gaussian(5, 20, filter = privacy_gdp(1)), policy_ts_gaussian(5, 20))
  for (policy in policies) {
    agent <- dpts_agent(policy, 2, use = "arrival", horizon = 30)
    copies <- vapply(1:2, function(i) agent_backup(agent, tempfile(fileext = ".sqlite")), "")
    seen <- spending(play_one_by_one(agent, 12))
    again <- agent_open(copies[1])
    expect_identical(spending(again), 0)
    agent_restored(again)
    seen <- c(seen, spending(again), spending(play_one_by_one(again, 8)))
    agent_restored(again)
    seen <- c(seen, spending(again))
    expect_false(is.unsorted(seen), label = policy$name)
    expect_lte(seen[4], min(dpts_privacy(again, delta = 1e-2)$epsilon))
    # A copy that is opened as an old one is the same as one that is reported later.
    same <- agent_open(copies[2], restored = TRUE)
    expect_identical(spending(same), seen[2])
    if (policy$name != "gaussian_imed") next
    # 1, 2 and 3 copies of 1-GDP
    expect_equal(seen, gdp_epsilon(sqrt(c(1, 1, 2, 3)), 1e-2), tolerance = 1e-4)
    status <- api_status(again)
    expect_identical(status$restored, 2)
    expect_match(status$guarantee, "1.7321-GDP", fixed = TRUE)
    agent_close(again)
  }
})

test_that("a filter charges draws alone, of arms that have rewards, and is spent for all arms once it is for some", {
  # Where one arm is on offer nobody draws; then a draw costs an arm 1 / (c (n + 1)).
  alone <- live_session(policy_ts_gaussian(0, 2, filter = privacy_gdp(1)), 2, 100, NULL)
  session_start(alone)
  for (i in 1:4) {
    pull <- session_play(alone, 1L, NULL)
    session_feed(alone, pull[2], pull[1], pull[3], 1, NULL)
  }
  expect_identical(session_paid(alone), 0)
  session_play(alone, 1:2, NULL)
  expect_equal(session_paid(alone), 1 / (2 * 5))
  # An arm whose rewards are all out has nothing to hide; and once spent for some arms a budget is spent for all.
  four <- live_session(policy_ts_gaussian(0, 2, filter = privacy_gdp(0.5)), 4, 500, NULL)
  session_start(four)
  pulls <- lapply(1:5, function(i) session_play(four, 1:2, NULL))
  expect_identical(session_paid(four), 0)
  for (pull in pulls) session_feed(four, pull[2], pull[1], pull[3], 1, NULL)
  paid <- vapply(1:60, function(i) {
    session_play(four, 1:2, NULL)
    session_paid(four)
  }, 0)
  expect_true(paid[1] > 0 && paid[60] <= 0.25 && paid[59] == paid[60])
  after <- vapply(1:30, function(i) session_play(four, 3:4, NULL)[1], 0)
  expect_length(unique(after), 1) # the one that was pulled most
  expect_identical(session_paid(four), paid[60])
})

test_that("a life of a restarted policy that ends leaves what its filter charged", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_restart(policy_ts_gaussian(5, 5, filter = privacy_gdp(1)), 30), 2, file, use = "arrival")
  paid <- seen <- numeric()
  for (i in 1:34) {
    play_one_by_one(agent, 1)
    paid[i] <- session_paid(agent$session)
    if (i %in% c(15, 30, 31)) seen <- c(seen, spending(agent))
  }
  expect_false(is.unsorted(paid))
  expect_gt(paid[30], 0)
  expect_identical(paid[31:34], rep(paid[30], 4)) # the next life has just begun
  expect_false(is.unsorted(seen))
  agent_close(agent)
  agent <- agent_open(file)
  expect_identical(session_paid(agent$session), paid[34])
  agent_close(agent)
  # Of a policy that releases, too: nothing of its second life is released yet, and what was of the first stays spent.
  agent <- dpts_agent(policy_restart(policy_gaussian_imed(1, first = 10), 30), 2, use = "arrival", horizon = 60)
  expect_equal(spending(play_one_by_one(agent, 30)), gdp_epsilon(1, 1e-2), tolerance = 1e-4)
  expect_equal(spending(play_one_by_one(agent, 5)), gdp_epsilon(1, 1e-2), tolerance = 1e-4)
  expect_equal(sum(estimates(agent)$releases), 0)
})

test_that("an old copy keeps the budget from its first moment: nothing that is due is released again", {
  skip_if_not_installed("RSQLite")
  for (restored in c(FALSE, TRUE)) {
    turn <- test_clock()
    agent <- dpts_agent(policy_gaussian_imed(1, first = 2), 2, use = "deadline", deadline = hours(1), budget = privacy_gdp(1))
    agent_reward(agent, agent_choose(agent, 8)$ticket, 1)
    copy <- agent_backup(agent, withr::local_tempfile(fileext = ".sqlite"))
    turn(3601)
    expect_equal(sum(estimates(agent)$releases), 4)
    old <- agent_open(copy, restored = restored)
    expect_equal(old$store$count("release"), if (restored) 0 else 4)
    expect_equal(old$store$count("restored"), as.numeric(restored))
    if (!restored) agent_restored(old)
    expect_output(print(old), "beyond its budget")
    expect_equal(sum(pulls(old)$outstanding), 0)
    agent_close(old)
  }
  expect_error(agent_open(copy, restored = NA), "`restored`", class = "dpts_error_input")
})

test_that("the statement for distributions that are off by eta is valid and not loose", {
  curve <- function(delta) gdp_epsilon(1, delta)
  for (eta in c(0, 1e-12, 1e-9)) {
    for (delta in c(1e-3, 1e-6)) {
      epsilon <- with_rounding_of(curve, delta, eta)
      expect_lte(gdp_delta(1, epsilon) + eta * (1 + exp(epsilon)), delta * (1 + 1e-6))
      # a little less would not do
      expect_gt(gdp_delta(1, epsilon - 1e-3) + eta * (1 + exp(epsilon - 1e-3)), delta)
    }
  }
  expect_equal(with_rounding_of(curve, 1e-10, 1e-9), Inf)
  expect_identical(with_rounding_of(curve, c(1e-3, 1), 0), c(curve(1e-3), 0)) # nothing is off
  # Each epsilon leaves a part of delta for which a larger one is needed, and so on.
  expect_equal(with_rounding_of(function(delta) log((1e-3 - 0.9 * delta) / 1e-12 - 1), 1e-3, 1e-12), Inf)
})

test_that("the error of choices in doubles is at most what is reserved", {
  # The ziggurat once more. Where layers are x by h, and all areas should be equal, the density is off by the error of
  # the areas. Differences of heights within a factor of 2 are exact in doubles, so that products show them.
  build <- function(r) {
    f <- exp(-r * r / 2)
    area <- r * f + sqrt(2 * pi) * pnorm(-r)
    x <- c(area / f, r)
    h <- c(0, f)
    while (length(h) < 257) {
      h <- c(h, h[length(h)] + area / x[length(x)])
      if (h[length(h)] >= 1 && length(h) < 257) return(list(top = 2))
      if (length(h) < 257) x <- c(x, sqrt(-2 * log(h[length(h)])))
    }
    list(top = h[257], x = c(x, 0), h = c(h[-257], 1), area = area)
  }
  ends <- c(3, 4)
  for (i in 1:100) ends[1 + (build(mean(ends))$top <= 1)] <- mean(ends)
  layers <- build(ends[2])
  areas <- mean(abs(layers$x[2:256] * diff(layers$h)[-1] / layers$area - 1)) / 2
  wedge <- 1 - mean(layers$x[-1] / layers$x[-257])
  steps <- diff(layers$h)[-1]
  top <- 2^ceiling(log2(layers$h[-(1:2)]))
  test <- wedge * max(2.3e-16 * top / steps)
  rest <- 2^-53 + 4 * max(dnorm(seq(0, 3, by = 0.01)) * seq(0, 3, by = 0.01)) * 2^-53
  expect_lt(areas + test + rest, 3e-15)
  expect_lt(dnorm(0) * 2^-54, 2.3e-17)
  eta <- choice_error(policy_ts_gaussian(2, 0.5), 3, 1000)
  expect_equal(eta, 1000 * (9e-15 + 2.3e-17 * sqrt(1001 / 0.5)))
  expect_identical(choice_error(policy_restart(policy_ts_gaussian(2, 0.5), 100), 3, 1000), eta)
  # It is what agents reserve: nothing is claimed at twice eta, where epsilon is 0.
  agent <- dpts_agent(policy_ts_gaussian(2, 0.5), 3, horizon = 1000, use = "arrival")
  expect_identical(dpts_privacy(agent, delta = 2 * eta)$epsilon[1], Inf)
})

test_that("a budget leaves room for the rounding that the ledger charges", {
  # mu-GDP, by a filter for ever: of an (epsilon, delta) budget that it meets exactly nothing is left for the rounding.
  # What a person is promised is 1-GDP in both cases: with a larger mu rounding would take any room.
  policy <- function(most) policy_ts_gaussian(variance_scale = 5, filter = privacy_gdp(1 / most))
  begin <- function(epsilon, delta, most = 1, ...) dpts_agent(policy(most), 2, use = "arrival", budget = privacy_approx(epsilon, delta), ...)
  for (most in c(1, 2)) for (slack in c(1, 1.0003, 1.001, 1.01, 1.1)) {
    delta <- if (most == 1) 1e-5 else 1e-6
    persons <- if (most > 1) most
    budget <- gdp_epsilon(1, delta) * slack
    ledger <- dpts_privacy(dpts_agent(policy(most), 2, use = "arrival", max_per_person = persons), delta = delta)
    keeps <- all(ledger$epsilon[ledger$unit == if (most > 1) "person" else "reward"] <= budget)
    if (keeps) expect_error(begin(budget, delta, most, max_per_person = persons), NA)
    else expect_error(begin(budget, delta, most, max_per_person = persons), "before the rounding of doubles is charged.* not inside",
                      class = "dpts_error_input")
    if (slack == 1) expect_false(keeps)
    if (slack == 1.1) expect_true(keeps)
  }
  expect_error(begin(3, 1e-9), "not inside", class = "dpts_error_input") # below all that the rounding needs
})

# Two neighbouring streams through the whole agent: store, tickets, deadlines, offers. Run B gets
# the values that run A released; then all that is published must be equal.
test_that("forced to the same releases, neighbours publish the same: no raw reward decides or shows", {
  skip_if_not_installed("RSQLite")
  policies <- list(policy_gaussian_imed(1, first = 2), policy_dp_imed(1), policy_lazy_ucb(1), policy_adap_klucb(1))
  if (extended()) policies <- c(policies, list(policy_gaussian_imed(0.5, correlation = 0), policy_dp_klucb(1),
                                               policy_adap_ucb(1), policy_adac_ucb(1)))
  runs <- if (extended()) 40 else 1
  steps <- if (extended()) 80 else 18
  withr::local_seed(5)
  for (i in seq_along(policies)) for (run in seq_len(runs)) {
    policy <- policies[[i]]
    use <- c("arrival", "deadline")[1 + (i + run) %% 2]
    k <- sample(2:3, 1)
    script <- lapply(seq_len(steps), function(i) {
      list(offer = sort(sample(k, sample(k, 1))), reward = sample(c(0, 0.25, 1), 1),
           after = sample(0:6, 1), answers = stats::runif(1) < 0.9)
    })
    other <- script
    at <- sample(steps / 2, 1) # the sooner, the more can follow
    other[[at]]$reward <- 1 - script[[at]]$reward * (script[[at]]$reward != 0.25)
    # With deadlines, whether an answer comes is protected too.
    if (use == "deadline") other[[at]]$answers <- !script[[at]]$answers
    # A store in memory is five times as fast; the first run of every fourth policy goes through a file.
    file <- run == 1 && i %% 4 == 1
    a <- play_script(policy, k, use, script, file = file)
    b <- play_script(policy, k, use, other, forced = a$released, file = file)
    expect_gt(length(a$released), 0)
    expect_identical(b$published, a$published)
  }
})

test_that("what is not on the list of what is published is not shown by any verb", {
  # The rewards are odd numbers that would be recognised wherever they show, in any sum of a few.
  agent <- dpts_agent(policy_gaussian_imed(0.01, first = 50), c("a", "b"), use = "deadline",
                      deadline = hours(1), max_per_person = 1)
  turn <- test_clock()
  turn(as.numeric(Sys.time()) - 1e9)
  ticket <- agent_choose(agent, 100, person = paste0("person", 1:100))$ticket
  answers <- agent_reward(agent, ticket[1:60], 0.123)
  expect_equal(unique(answers$status), "waiting")
  verbs <- list(
    pulls = pulls(agent), history = dpts_history(agent),
    sums = estimates(agent), releases = dpts_releases(agent), privacy = dpts_privacy(agent),
    summary = summary(agent), format = format(agent),
    shares = autoplot(agent)$data, estimates = autoplot(agent, what = "estimates")$layers[[1]]$data, # words alone, before a release
    status = dpts:::api_status(agent), journal = agent_journal(agent)
  )
  columns <- list(
    pulls = c("arm", "pulls", "outstanding"),
    history = c("ticket", "t", "arm", "time", "status", "probability"),
    sums = c("arm", "rewards", "releases", "mean", "lower", "upper"),
    releases = c("t", "block", "arm", "n", "sum", "squares", "noise", "scale", "terms", "correlation", "chance", "floor", "whole",
                 "low", "high", "grid", "event"),
    privacy = c("unit", "accountant", "delta", "epsilon", "spent"),
    summary = c("arm", "pulls", "share", "outstanding", "rewards", "releases", "mean", "lower",
                "upper"),
    shares = c("t", "arm", "share"),
    status = c("name", "policy", "guarantee", "restored", "learning", "use", "clipped", "rounds", "horizon", "outstanding",
               "arms", "then", "winner", "deadline", "window", "range", "sums", "spends", "guess", "often", "shares", "outcomes"),
    estimates = c("x", "y"),
    journal = c("seq", "part", "time", "kind", "ticket", "t", "arm", "who", "note", "digest")
  )
  for (name in names(columns)) expect_named(verbs[[name]], columns[[name]])
  # Nobody can tell from what is published who has answered.
  expect_equal(verbs$history$status, rep("open", 100))
  expect_equal(sum(verbs$pulls$outstanding), 100)
  expect_true(all(is.na(verbs$sums$mean)))
  shown <- unlist(lapply(verbs, function(x) if (is.data.frame(x)) unlist(Filter(is.numeric, x))))
  expect_false(any(abs(outer(shown, 1:60 * round(0.123 * 2^20) / 2^20, "-")) < 1e-7, na.rm = TRUE))
  text <- unlist(lapply(verbs, function(x) if (is.data.frame(x)) lapply(x, as.character) else x))
  expect_false(any(grepl("person[0-9]", text)))
  # Every exported verb on agents is in the test, or shows nothing but tickets and statuses.
  exported <- grep("^agent_|^dpts_agent", getNamespaceExports("dpts"), value = TRUE)
  handled <- c("dpts_agent", "agent_open", "agent_close", "agent_choose", "agent_reward",
               "agent_restored", "agent_finish", "agent_arms", "agent_backup", "agent_clock", "agent_copy",
               "agent_person", "agent_erase", "agent_return", "agent_api", "agent_serve", "agent_outcome", "agent_journal", "agent_plan")
  expect_setequal(exported, handled)
  methods <- attr(utils::methods(class = "dpts_agent"), "info")$generic
  expect_setequal(methods, c("pulls", "dpts_history", "estimates", "dpts_privacy", "summary", "format", "print",
                             "autoplot", "effects", "privacy_statement", "dpts_releases", "forecast"))
})

test_that("an audit of the whole agent finds nothing, and finds a promise that is too good", {
  # The least that the third arm tells of the first reward, and that the mean that is published of it tells,
  # each with confidence 1 - 1e-9: the epsilon at delta = 0.01
  found <- function(mu, runs) {
    seen <- vapply(0:1, function(reward) {
      # Each run has two arms of an agent of its own: their noise, and which of the two is chosen, know of no others.
      agent <- dpts_agent(policy_gaussian_imed(mu, first = 1), 2 * runs, use = "arrival")
      first <- 2 * seq_len(runs) - 1
      for (i in 0:1) agent_reward(agent, agent_choose(agent, runs, offer = first + i)$ticket, if (i == 0) reward else 0.5)
      expect_equal(pulls(agent)$pulls, rep(1, 2 * runs))
      third <- vapply(first, function(arm) as.integer(agent_choose(agent, offer = arm + 0:1)$arm), 0L)
      c(sum(third == first), sum(estimates(agent)$mean[first] > 0.5))
    }, c(0, 0))
    log(pmax(stats::qbeta(5e-10, seen[, 2], runs - seen[, 2] + 1) - 0.01, 0) /
          stats::qbeta(1 - 5e-10, seen[, 1] + 1, runs - seen[, 1]))
  }
  # The agent's noise has no seed; by chance the promise is exceeded less than once in 1e8. The means show noise of
  # a tenth of its scale; a half would take thousands of runs, and is seen in test-exact.R.
  claimed <- gdp_epsilon(0.3, 0.01)
  expect_lt(max(found(0.3, 60)), claimed)
  expect_gt(min(found(20, 60)), claimed)
})

test_that("deleted rewards and predictions are not in the file's bytes, nor in its log's", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  # A reward with a bit pattern that is not there by chance
  reward <- 0.7123456
  stored <- round(reward * 2^20) / 2^20
  pattern <- writeBin(stored, raw(), endian = "big") # as SQLite stores a REAL
  found <- function() {
    files <- paste0(file, c("", "-wal", "-shm"))
    sum(vapply(files[file.exists(files)], function(f) {
      length(grepRaw(pattern, readBin(f, "raw", file.size(f)), fixed = TRUE, all = TRUE))
    }, 0L))
  }
  agent <- dpts_agent(policy_gaussian_imed(1, first = 8), 1, file, use = "arrival")
  ticket <- agent_choose(agent, 8)$ticket
  agent_reward(agent, ticket[1:7], reward)
  expect_gt(found(), 0) # the batch is not released yet, so the test can see rewards
  agent_reward(agent, ticket[8], 0)
  expect_equal(estimates(agent)$releases, 1)
  expect_equal(found(), 0)
  agent_close(agent)
  # With keep_rewards they stay.
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_gaussian_imed(1, first = 8), 1, file, use = "arrival",
                      keep_rewards = TRUE)
  agent_reward(agent, agent_choose(agent, 8)$ticket, reward)
  expect_gt(found(), 0)
  agent_close(agent)
  # Without releases a reward is never written at all.
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_ts_gaussian(), 1, file, horizon = 100, use = "arrival")
  agent_reward(agent, agent_choose(agent, 3)$ticket, c(reward, 0, 0))
  expect_false(any(file.size(paste0(file, "-wal")) > 0)) # sums under way were cut from it too
  agent_close(agent)
  # A prediction goes when its ticket is resolved, also where nobody answered.
  turn <- test_clock()
  file <- withr::local_tempfile(fileext = ".sqlite")
  rewards <- pattern
  pattern <- charToRaw(dpts:::write_context(reward, TRUE))
  agent <- dpts_agent(policy_randomised(1, block = 8, outcome = "continuous", predicted = c(0, 1)), 2, file,
                      use = "arrival", deadline = hours(1))
  agent_choose(agent, 4, predicted = rep(reward, 4))
  expect_gt(found(), 0)
  turn(1800)
  agent_choose(agent, 4, predicted = rep(0.5, 4))
  turn(1800)
  expect_equal(sum(pulls(agent)$outstanding), 4)
  expect_equal(found(), 0)
  agent_close(agent)
  pattern <- rewards
  # A reward that waits goes with a ticket that comes back.
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_randomised(1, block = 8), 2, file, deadline = hours(1))
  ticket <- agent_choose(agent, key = "k")$ticket
  agent_reward(agent, ticket, reward)
  expect_gt(found(), 0)
  agent_return(agent, ticket)
  expect_equal(found(), 0)
  agent_close(agent)
  # While another process reads the log it cannot be cut; the next change does it, of whatever process.
  for (own in c(TRUE, FALSE)) {
    file <- withr::local_tempfile(fileext = ".sqlite")
    connect <- function() {
      con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
      withr::defer(DBI::dbDisconnect(con), parent.frame(2))
      con
    }
    con <- connect()
    agent <- dpts_agent(policy_gaussian_imed(1, first = 8), 1, con, use = "arrival")
    DBI::dbExecute(con, "PRAGMA busy_timeout = 20")
    ticket <- agent_choose(agent, 8)$ticket
    agent_reward(agent, ticket[1:7], reward)
    reader <- connect()
    DBI::dbExecute(reader, "BEGIN")
    DBI::dbGetQuery(reader, "SELECT count(*) FROM dpts_ticket")
    agent_reward(agent, ticket[8], 0)
    expect_equal(estimates(agent)$releases, 1)
    expect_gt(found(), 0)
    DBI::dbExecute(reader, "COMMIT")
    next_one <- if (own) agent else agent_open(file)
    agent_choose(next_one)
    expect_equal(found(), 0)
    agent_close(next_one)
  }
})

test_that("the releases of an agent are the noisy sums of its batches, each once", {
  agent <- dpts_agent(policy_gaussian_imed(1, first = 4), 2, use = "arrival")
  seen <- list()
  local_function("session_feed", function(feed) function(session, t, arm, ...) {
    released <- feed(session, t, arm, ...)
    if (nrow(released)) seen[[length(seen) + 1]] <<- c(arm, released)
    invisible(released)
  })
  for (i in 1:8) agent_reward(agent, agent_choose(agent, 100)$ticket, 1)
  seen <- do.call(rbind, seen)
  e <- estimates(agent)
  expect_equal(as.numeric(table(seen[, 1])), e$releases)
  expect_equal(unique(seen[, 2]), 2) # Gaussian
  # 1 / mu, and what the grid costs a moving average: see src/noise_moving_average.c
  expect_equal(seen[, 3], rep(1 + 2^-13, nrow(seen)), tolerance = 1e-12)
  # exact noise is on the grid, that of a simulation is not
  expect_identical(seen[, 4] * 2^20, round(seen[, 4] * 2^20))
  expect_equal(agent$store$count("release"), sum(e$releases))
  # All rewards are 1: the sums less their counts are the noise.
  noise <- session_arms(agent$session)$report$sum - e$rewards
  expect_lt(max(abs(noise) / sqrt(e$releases)), 6 / sqrt(1 - 0.65^2))
})

test_that("what is saved has nothing of the draws that are over", {
  # Whoever knew the generator after a call could run it back to the draws of that choice.
  saved <- replicate(2, simplify = FALSE, {
    agent <- dpts_agent(policy_ucb1(), 2, use = "arrival")
    agent_reward(agent, agent_choose(agent, 3)$ticket, c(1, 0, 1))
    session_save(agent$session)[[1]]
  })
  expect_type(saved[[1]], "raw")
  expect_identical(saved[[1]], saved[[2]])
})
