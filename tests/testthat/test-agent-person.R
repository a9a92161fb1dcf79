# What is held of people, and how it is forgotten

skip_on_cran() # takes seconds

test_that("agent_person() shows what is held, agent_erase() removes it, and released sums stay", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(policy_gaussian_imed(1, first = 2), c("a", "b"), store, use = "deadline", deadline = hours(2),
                        max_per_person = 2)
    x <- agent_choose(agent, 6, person = c("Ada", "Ada", "Bob", "Cy", "Dee", "Eve"), key = "order-17")
    agent_reward(agent, x$ticket[1:4], 1)
    held <- agent_person(agent, c("Nobody", "Ada", "Bob"))
    expect_named(held, c("person", "pulls", "arm", "ticket", "time", "status", "key"))
    expect_equal(held$time, .POSIXct(c(1e9, 1e9)))
    expect_identical(held$person, c("Ada", "Bob"))
    expect_identical(held$pulls, c(2, 1))
    expect_identical(held$ticket, x$ticket[2:3])
    expect_identical(held$arm, x$arm[2:3])
    expect_identical(held$status, c("open", "open")) # whether an answer came is protected
    expect_identical(held$key, rep("order-17", 2))
    expect_equal(nrow(agent_person(agent, character())), 0)
    before <- estimates(agent)
    expect_identical(agent_erase(agent, c("Ada", "Nobody", "Eve")), 2L)
    expect_identical(agent_erase(agent, "Ada"), 0)
    expect_equal(nrow(agent_person(agent, c("Ada", "Eve"))), 0)
    # The tickets of each are resolved without a reward: no reward, no key.
    gone <- stored(agent, x$ticket[c(1, 2, 6)])
    expect_true(all(is.na(gone$reward)))
    expect_identical(agent_reward(agent, x$ticket[c(1, 2, 6)], 1)$status, rep("late", 3))
    expect_equal(sum(pulls(agent)$outstanding), 3)
    expect_equal(agent$store$count("erase"), 2)
    expect_identical(agent_person(agent, c("Bob", "Cy"))$person, c("Bob", "Cy"))
    turn(7201)
    now <- estimates(agent)
    agent_erase(agent, "Cy")
    expect_equal(estimates(agent), now)
    # New here, when coming again
    expect_equal(agent_choose(agent, 2, person = c("Ada", "Ada"))$t, 7:8)
    expect_error(agent_person(agent, 3), "`person`", class = "dpts_error_input")
    one <- agent_choose(agent, person = "Flo")$ticket # which is remembered
    agent_erase(agent, "Flo")
    expect_identical(agent_reward(agent, one, 1)$status, "late")
    agent_close(agent)
  })
  expect_error(agent_erase(dpts_agent(batch_policy(), 2, use = "arrival"), "Ada"), "without `max_per_person`",
               class = "dpts_error_input")
})

test_that("all tickets of who is erased that have a key lose what waits, and no others, in every store", {
  erase <- function(store, keep = FALSE) {
    turn <- test_clock()
    agent <- dpts_agent(policy_linucb(mu = 1, norm = 1), 2, store, deadline = hours(2), dim = 2, max_per_person = 5, keep_rewards = keep)
    choose <- function(person, key = NULL) agent_choose(agent, person = person, key = key, context = c(0.1, 0.2))$ticket
    used <- choose("Ada", "k1")
    agent_reward(agent, used, 0.75)
    turn(7200)
    x <- c(used, choose("Ada", "k2"), choose("Ada", "k3"), choose("Ada"), choose("Bob", "k4"), choose("Ada"))
    agent_reward(agent, x[-3], 0.75) # the third waits as well, without a report
    expect_identical(agent_erase(agent, "Ada"), 1L)
    rows <- stored(agent, x)
    expect_identical(rows$reward, c(if (keep) 0.75 else NA, NA, NA, 0.75, 0.75, NA)) # of the fourth nobody knows whose it was
    expect_identical(is.na(rows$context), c(!keep, TRUE, TRUE, FALSE, FALSE, TRUE))
    expect_identical(rows$asked, c(NA, NA, NA, NA, "k4", NA))
    expect_identical(is.na(rows$asked_for), is.na(rows$asked))
    expect_identical(dpts_history(agent)$status, rep(c("resolved", "open", "resolved"), c(3, 2, 1)))
    expect_identical(agent_reward(agent, x, 0.5)$status, rep(c("late", "refused", "late"), c(3, 2, 1)))
    expect_identical(agent_journal(agent)$ticket[agent_journal(agent)$kind == "resolved"], x[c(1:3, 6)])
    agent_close(agent)
    if (is.character(store)) agent_close(agent_open(store)) # whose counts are right
  }
  each_database(erase)
  erase(NULL, keep = TRUE)
  # A reward that was used, and is compared with a second report until its release
  agent <- dpts_agent(policy_gaussian_imed(mu = 1, first = 5), 2, use = "arrival", max_per_person = 1)
  x <- agent_choose(agent, 2, person = c("Ada", "Bob"), offer = 1)$ticket
  agent_reward(agent, x, 1)
  agent_erase(agent, "Ada")
  expect_identical(stored(agent, x)$reward, c(NA, 1))
  expect_identical(agent_reward(agent, x, 0)$status, c("known", "refused"))
  agent_reward(agent, agent_choose(agent, 3, person = c("Cy", "Dee", "Eve"), offer = 1)$ticket, 1)
  expect_identical(estimates(agent)$rewards[1], 5) # it stays in the sum
})

test_that("keys are kept for the retention that was asked for, be it shorter than a day or longer", {
  for (kept in c(3, 30)) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), 2, use = "arrival", retention = hours(kept))
    ticket <- agent_choose(agent, key = "k")$ticket
    agent_reward(agent, ticket, 1)
    for (half in 1:2) {
      turn((kept - 1) / 2 * 3600)
      agent_choose(agent) # any call
    }
    expect_identical(agent_choose(agent, key = "k")$ticket, ticket)
    turn(2 * 3600)
    agent_choose(agent)
    expect_false(agent_choose(agent, key = "k")$ticket == ticket)
  }
})

test_that("persons and keys are kept as long as `retention` and the deadline say, whichever is given", {
  for (retention in list(NULL, 2, 30)) {
    for (deadline in c(Inf, 5, 50)) {
      turn <- test_clock()
      agent <- dpts_agent(batch_policy(), 2, use = "arrival", retention = if (!is.null(retention)) hours(retention), max_per_person = 2,
                          deadline = if (deadline < Inf) hours(deadline) else Inf)
      agent_reward(agent, agent_choose(agent, person = "Ada", key = "k")$ticket, 1)
      agent_finish(agent, "verdict")
      kept <- c(key = retention %||% 24, person = retention %||% if (deadline < Inf) deadline else 24)
      now <- 0
      for (at in sort(unique(c(kept - 1, kept, kept + 1, 11 * 1:4)))) {
        turn((at - now) * 3600)
        now <- at
        person <- nrow(agent_person(agent, "Ada")) > 0
        expect_identical(c(key = length(agent$store$asked("k")$ticket) > 0, person = person), at < kept)
      }
    }
  }
  # A copy has nothing that is to be forgotten by then, and an agent that moved is shown as it was when it went.
  agent <- dpts_agent(batch_policy(), 2, use = "arrival", deadline = hours(5))
  agent_reward(agent, agent_choose(agent, key = "k")$ticket, 1)
  turn(24 * 3600)
  copy <- DBI::dbConnect(RSQLite::SQLite(), agent_backup(agent, withr::local_tempfile(fileext = ".sqlite")))
  expect_identical(DBI::dbGetQuery(copy, "SELECT asked FROM dpts_ticket")$asked, NA_character_)
  DBI::dbDisconnect(copy)
  agent_choose(agent)
  agent_close(agent_copy(agent, withr::local_tempfile(fileext = ".sqlite")))
  turn(6 * 3600)
  expect_equal(sum(pulls(agent)$outstanding), 1)
  expect_identical(dpts_history(agent)$status, c("used", "open"))
})

test_that("keys go a day after the choice once the ticket is resolved, and persons when retention is over", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), c("a", "b"), store, use = "arrival", deadline = hours(72), max_per_person = 3)
    keys <- function() unlist(lapply(paste0("k", 1:4), function(key) {
      if (length(agent$store$asked(key)$ticket)) key
    }))
    x <- agent_choose(agent, person = "Ada", key = "k1")
    agent_choose(agent, person = "Ada", key = "k2")
    agent_reward(agent, x$ticket, 1)
    turn(86399.5)
    pulls(agent)
    expect_identical(agent_choose(agent, person = "Ada", key = "k1")$ticket, x$ticket)
    y <- agent_choose(agent, person = "Bob", key = "k3")
    agent_reward(agent, y$ticket, 1)
    turn(2 * 3600)
    pulls(agent) # looking is enough
    expect_identical(keys(), c("k2", "k3"))
    turn(23 * 3600)
    agent_choose(agent, person = "Bob", key = "k4")
    expect_identical(keys(), c("k2", "k4"))
    agent_finish(agent, "verdict")
    turn(71 * 3600)
    pulls(agent)
    expect_identical(keys(), NULL)
    expect_equal(nrow(agent_person(agent, c("Ada", "Bob"))), 2)
    turn(2 * 3600)
    pulls(agent)
    expect_equal(nrow(agent_person(agent, c("Ada", "Bob"))), 0)
    expect_true(is.na(agent_choose(agent, person = "Ada")$t))
    expect_equal(nrow(agent_person(agent, c("Ada", "Bob"))), 0)
    agent_close(agent)
  })
  turn <- test_clock()
  agent <- dpts_agent(batch_policy(), 2, use = "arrival", sticky = TRUE, retention = hours(2))
  agent_choose(agent, person = "Ada")
  agent_finish(agent, "verdict")
  expect_identical(agent_choose(agent, person = "Ada")$ticket, agent_person(agent, "Ada")$ticket)
  turn(3 * 3600)
  expect_equal(nrow(agent_person(agent, "Ada")), 0)
  agent_choose(agent, person = "Ada")
  expect_equal(nrow(agent_person(agent, "Ada")), 0)
  # It begins with the first end: what choices are may be changed later, and keeps nobody longer.
  agent <- dpts_agent(batch_policy(), 2, use = "arrival", sticky = TRUE, retention = hours(2))
  agent_choose(agent, person = "Ada")
  agent_finish(agent, "verdict")
  turn(3600)
  agent_finish(agent, "end")
  expect_equal(nrow(agent_person(agent, "Ada")), 1)
  turn(3600 + 1)
  agent_finish(agent, "verdict")
  expect_equal(nrow(agent_person(agent, "Ada")), 0)
  expect_error(dpts_agent(batch_policy(), 2, use = "arrival", retention = 5), "`retention` must be a positive difftime",
               class = "dpts_error_input")
})

test_that("what was erased is not in the file's bytes, and the statement says what is kept", {
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(batch_policy(), 2, file, use = "arrival", max_per_person = 5, retention = as.difftime(30, units = "days"))
  agent_choose(agent, person = "Ada", key = "a-key-of-ada")
  bytes <- function() paste(vapply(paste0(file, c("", "-wal")), function(f) {
    if (file.exists(f)) rawToChar(Filter(function(b) b != 0, readBin(f, "raw", 1e7))) else ""
  }, ""), collapse = "")
  hash <- hash_person("Ada", agent$terms$key)
  expect_true(grepl(hash, bytes(), fixed = TRUE, useBytes = TRUE) && grepl("a-key-of-ada", bytes(), fixed = TRUE, useBytes = TRUE))
  agent_erase(agent, "Ada")
  expect_false(grepl(hash, bytes(), fixed = TRUE, useBytes = TRUE) || grepl("a-key-of-ada", bytes(), fixed = TRUE, useBytes = TRUE))
  said <- privacy_statement(agent)[["What is kept"]]
  expect_match(said, "Keys of calls are kept for 30 days")
  expect_match(said, "until 30 days after the end")
  expect_match(privacy_statement(dpts_agent(batch_policy(), 2, use = "arrival", keep_rewards = TRUE))[["What is kept"]],
               "also after its release")
  agent_close(agent)
})

test_that("who is erased leaves the count with all choices, not with one", {
  agent <- dpts_agent(policy_ucb1(), c("a", "b"), use = "arrival", max_per_person = 3)
  agent_choose(agent, 6, person = c("p", "q", "p", "p", "q", "r"))
  agent_erase(agent, c("p", "q"))
  expect_identical(c(agent$counted, as.numeric(agent$store$counted())), c(1, 1))
})

test_that("what was said in a window goes with who is erased, also where rewards are kept, and what others said stays", {
  for (keep in c(FALSE, TRUE)) {
    agent <- dpts_agent(policy_randomised(1, block = 6), 2, use = "arrival", deadline = hours(30), max_per_person = 2,
                        window = hours(24), keep_rewards = keep, outcomes = list(harm = agent_outcome()))
    x <- agent_choose(agent, 2, person = c("Ada", "Bob"))$ticket
    for (outcome in c("reward", "harm")) agent_reward(agent, rep(x, 2), c(0.25, 0.75, 0.5, 1), outcome, key = "one")
    agent_erase(agent, "Ada")
    for (h in 0:1) {
      rows <- agent$store$answered(h, x)
      expect_true(all(is.na(rows$reward[rows$ticket == x[1]]))) # of an outcome NA: nothing more is taken
      expect_equal(sort(rows$reward[rows$ticket == x[2]]), c(0.75, 1))
    }
    expect_identical(agent_reward(agent, rep(x[1], 2), 1, key = "one")$status, c("late", "late"))
  }
})

test_that("at the end what was said in a window goes, also where rewards are kept, but of windows that were over before", {
  for (use in c("arrival", "deadline")) for (keep in c(FALSE, TRUE)) for (over in unique(c(FALSE, keep))) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(1, block = 6), 2, use = use, deadline = hours(30), max_per_person = 2,
                        window = hours(24), keep_rewards = keep)
    x <- agent_choose(agent, 2, person = c("Ada", "Bob"))$ticket
    agent_reward(agent, rep(x, 2), c(0.25, 0.75, 0.5, 1), key = "one")
    if (over) turn(30 * 3600) # nobody asks before the end
    y <- if (!over) agent_choose(agent, person = "Cy")$ticket
    agent_finish(agent)
    kept <- if (over) c(0.375, 0.875) else c(NA_real_, NA)
    expect_length(agent$store$answered(0L, c(x, y))$ticket, if (over) 4 else 0)
    expect_equal(stored(agent, c(x, y))$reward, c(kept, if (!over) NA))
    expect_identical(agent_reward(agent, x, 1, key = "one")$status, c("late", "late"))
  }
})
