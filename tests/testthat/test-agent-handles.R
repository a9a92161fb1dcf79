# What a handle of an agent holds, remembers and says, after each kind of act, is what one that is opened anew does

skip_on_cran() # takes seconds
skip_if_not_installed("RSQLite")

# All that a handle keeps, but its connections, clocks and what it has computed
held <- function(agent) {
  own <- setdiff(ls(agent), c("store", "session", "remembered", "memory", "open", "read", "ticks", "behind", "course", "totals",
                              "cache", "last", "written", "life_bytes", "process"))
  c(mget(own, agent), list(session = session_save(agent$session), sums = session_sums(agent$session)))
}

# What it says, and what it counts for the page, all of which it may remember from earlier looks
said <- function(agent) {
  counted <- agent_look(agent, function(tx) {
    update_course(agent, tx)
    update_totals(agent, tx)
  })
  counted$sums <- signif(counted$sums, 12) # whichever was added first
  counted$hours <- rowSums(counted$hours) # who came by a clock that was ahead is counted in the hour of the look
  list(history = dpts_history(agent), releases = dpts_releases(agent), text = format(agent),
       persons = if (!is.null(agent$terms$max_per_person)) agent_person(agent, paste0("p", 1:9)), course = agent$course, totals = counted)
}

# Two handles take turns; a third one is opened anew after each act. `acts`: functions of the handle whose turn it is, and of
# the ticket that it has just given out by `visit`
expect_handles_alike <- function(make, visit, acts, store) {
  first <- make(store)
  open <- function() agent_open(if (is.character(store)) store else postgres_connection(attr(store, "schema"), parent.frame(2)))
  handles <- list(first, open())
  bad <- character()
  for (i in seq_along(acts)) {
    differs <- function(what, x, y) {
      same <- identical(names(x), names(y)) && length(x) == length(y)
      unlike <- if (same) which(!mapply(identical, x, y)) else 0
      if (length(unlike)) bad <<- c(bad, paste(names(acts)[i], what, (names(x) %||% seq_along(x))[unlike], sep = ": "))
    }
    agent <- handles[[1 + i %% 2]]
    # With a ticket that it remembers
    visitor <- if (agent$life$then == "go") visit(agent, i)
    acts[[i]](agent, visitor)
    # What it would begin its next change from is what the store has, and so are the tickets that it remembers.
    head <- agent$store$begin(agent$seq, "remember")
    agent$store$rollback()
    there <- agent$store$begin(agent$seq, "read")
    there[c("now", "known")] <- head[c("now", "known")]
    there$pages <- as.numeric(there$pages)
    head$pages <- as.numeric(head$pages)
    differs("head", head[names(there)], there)
    ids <- ls(agent$open)
    rows <- stored(agent, ids)
    rows[c("asked", "asked_for", "asked_n")] <- NULL # a report does not ask for them
    for (id in ids) {
      kept <- agent$open[[id]]
      differs("ticket", some_tickets(kept, match(id, kept$ticket))[names(rows)], some_tickets(rows, match(id, ids)))
    }
    for (handle in handles) pulls(handle) # deadlines that are past
    differs("held", held(handles[[1]]), held(handles[[2]]))
    if (i %% (if (is.character(store)) 3 else 6) > 0) next # to open takes longest
    anew <- open()
    differs("held anew", held(agent), held(anew))
    now <- if (i %% 6 == 0) said(anew)
    for (handle in if (!is.null(now)) c(handles, list(agent))) differs("said", said(handle), now)
    agent_close(anew)
  }
  expect_identical(bad, character())
  rows <- dpts_releases(first)
  rows <- rows[rows$terms > 0, intersect(c("stratum", "outcome", "block", "arm"), names(rows))]
  expect_gt(nrow(rows), 3)
  expect_false(anyDuplicated(rows) > 0) # nothing is released twice
  for (handle in handles) agent_close(handle)
}

test_that("of people with several outcomes and visits, in every store", {
  each_database(function(store) {
    turn <- test_clock()
    out <- NULL
    choose <- function(...) function(agent, visitor) out <<- c(out, agent_choose(agent, ...)$ticket)
    tell <- function(at, reward, ...) function(agent, visitor) agent_reward(agent, c(out[at], visitor), reward, ...)
    arms <- function(...) function(agent, visitor) agent_arms(agent, ...)
    wait <- function(seconds, act) function(agent, visitor) {
      turn(seconds)
      act(agent, visitor)
    }
    expect_handles_alike(function(store) {
      dpts_agent(policy_randomised(mu = 1, block = 5, control = 1), c("a", "b"), store, use = "arrival", deadline = hours(1),
                 max_per_person = 2, retention = hours(3), budget = privacy_gdp(2),
                 outcomes = list(harm = agent_outcome(mu = 0.5, deadline = hours(2))))
    }, function(agent, i) agent_choose(agent, person = paste("visitor", i))$ticket, list(
      choose = choose(person = "p1"), report = function(agent, visitor) agent_reward(agent, visitor, 1),
      `several choices` = choose(4, person = paste0("p", 2:5), key = "k"), `several reports` = tell(c(2, 3, 1), c(1, 0.5, 0, 1)),
      `an outcome` = tell(c(1, 2, 4), 1, outcome = "harm"), `a choice again` = choose(4, person = paste0("p", 2:5), key = "k"),
      `an arm more` = arms(add = "c"), `choices of three arms` = choose(3, person = c("p1", "p6", "p6")), pause = arms(pause = "a"),
      `a deadline` = wait(3601, choose(person = "p7")), resume = arms(resume = "a"), late = tell(c(4, 1), 1),
      erase = function(agent, visitor) agent_erase(agent, c("p7", "p1", "visitor 13")), `one more choice` = choose(person = "p8"),
      `an error while an outcome is due` = wait(3600, function(agent, visitor) {
        expect_error(agent_arms(agent, add = "b"), class = "dpts_error_input")
      }),
      `the clock` = wait(-3601, function(agent, visitor) agent_clock(agent)), `choices then` = choose(2, person = c("p1", "p9")),
      retire = arms(retire = "b"), `all deadlines` = wait(4 * 3600, choose(person = "p2")),
      restored = function(agent, visitor) agent_restored(agent), `beyond the budget` = choose(person = "p3"),
      end = function(agent, visitor) agent_finish(agent, "verdict"), after = choose(person = "p4"),
      `nobody is known` = wait(4 * 3600, choose(person = "p4"))
    ), store)
  })
})

test_that("of tickets that are given back, with predictions and deadlines that decide", {
  turn <- test_clock()
  out <- NULL
  choose <- function(n, ...) function(agent, visitor) {
    out <<- c(out, agent_choose(agent, n, stratum = rep_len(c("n", "s"), n), predicted = rep_len(c(0.25, NA), n), ...)$ticket)
  }
  file <- withr::local_tempfile(fileext = ".sqlite")
  expect_handles_alike(function(store) {
    suppressWarnings(dpts_agent(policy_randomised(mu = 1, block = 5, outcome = "continuous", predicted = c(0.2, 0.8)), c("a", "b"),
                                store, deadline = hours(1), keep_rewards = TRUE, strata = c("n", "s"), block_time = hours(24),
                                horizon = 60), "dpts_warning_strata")
  }, function(agent, i) agent_choose(agent, stratum = "n", predicted = 0.9, key = paste0("visit-", i))$ticket, list(
    choose = choose(8), report = function(agent, visitor) agent_reward(agent, c(out[1:5], visitor), 0.5),
    return = function(agent, visitor) agent_return(agent, visitor), `a call` = choose(6, key = "k"),
    `part of a call` = function(agent, visitor) agent_return(agent, out[12:14]), pause = function(agent, visitor) agent_arms(agent, pause = "b"),
    resume = function(agent, visitor) agent_arms(agent, resume = "b"), `all deadlines` = function(agent, visitor) {
      turn(3601)
      agent_reward(agent, visitor, 1)
    }, `a day` = function(agent, visitor) turn(86400), `up to the horizon` = choose(50), `a late report` = choose(1),
    end = function(agent, visitor) turn(3601), `another end` = function(agent, visitor) agent_finish(agent, "verdict")
  ), file)
  kept <- local({
    agent <- agent_open(file)
    on.exit(agent_close(agent))
    agent$store$tables()$dpts_ticket
  })
  expect_identical(is.na(kept$context), is.na(kept$t)) # all that was said is kept, as was asked for
  expect_identical(kept$reward[match(out[1:5], kept$ticket)], rep(0.5, 5))
})

test_that("that has not seen what others wrote does with their tickets what they would, in every store", {
  each_database(function(store) {
    a <- dpts_agent(policy_randomised(mu = 1, block = 5), c("a", "b"), store, use = "arrival", outcomes = list(harm = agent_outcome(deadline = hours(1))))
    b <- agent_open(if (is.character(store)) store else postgres_connection(attr(store, "schema")))
    for (i in 1:6) {
      x <- agent_choose(b, 3, key = paste0("k", i))$ticket
      agent_return(a, x[3])
      agent_choose(b, 1)
      expect_identical(agent_reward(a, x[1], 1, outcome = "harm")$status, "waiting")
      agent_choose(b, 1)
      expect_identical(agent_reward(a, x[1:2], 1)$status, c("used", "used"))
    }
    expect_equal(sum(pulls(b)$outstanding), 12)
    expect_identical(pulls(a), pulls(b))
    if (is.character(store)) {
      # What is not there stays an error, which names it.
      edit <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
      x <- agent_choose(b, key = "last")$ticket
      DBI::dbExecute(edit, "UPDATE dpts_ticket SET batch = 999 WHERE asked = 'last'")
      DBI::dbDisconnect(edit)
      expect_error(agent_return(a, x), "the block of a ticket cannot be read", class = "dpts_error_store_damaged")
    }
    for (handle in list(a, b)) agent_close(handle)
  })
})

test_that("to which an added arm is new names it, and takes its tickets, in every store", {
  turn <- test_clock()
  each_database(function(store) {
    make <- function(...) dpts_agent(policy_randomised(mu = 1, block = 5), c("x", "y"), store, use = "arrival", ...)
    other <- function() agent_open(if (is.character(store)) store else postgres_connection(attr(store, "schema"), parent.frame(2)))
    a <- make(outcomes = list(harm = agent_outcome(deadline = hours(1))))
    b <- other()
    for (arm in c("new", "newer", "newest", "last")) {
      pulls(a)
      agent_arms(b, add = arm)
      choice <- agent_choose(b, 20, key = arm, offer = arm)
      switch(arm,
        new = expect_identical(agent_choose(a, 20, key = arm), choice),
        newer = expect_identical(unique(agent_reward(a, choice$ticket, 1)$status), "used"),
        newest = expect_identical(unique(agent_reward(a, choice$ticket, 1, outcome = "harm")$status), "waiting"),
        last = expect_identical(pulls(agent_return(a, choice$ticket[11:20])), pulls(b)))
    }
    expect_identical(pulls(a), pulls(b))
    for (handle in list(a, b)) agent_close(handle)
  })
  # So do persons who had such an arm, for ever or in a window.
  for (terms in list(list(sticky = TRUE), list(max_per_person = 9, window = hours(1), deadline = hours(2)), list(max_per_person = 1))) {
    file <- withr::local_tempfile(fileext = ".sqlite")
    a <- do.call(dpts_agent, c(list(policy_randomised(mu = 1, block = 5), c("x", "y"), file, use = "arrival"), terms))
    b <- agent_open(file)
    pulls(a)
    agent_arms(b, add = c("new", "newer"))
    choice <- agent_choose(b, 30, person = paste0("p", 1:30), offer = c("new", "newer"))
    expect_identical(as.character(agent_choose(a, 30, person = paste0("p", 1:30))$arm), as.character(choice$arm))
    for (handle in list(a, b)) agent_close(handle)
  }
})

test_that("that tried what another one had done meanwhile releases each reward in one sum, in every store", {
  policies <- list(policy_randomised(mu = 1e6, block = 5), policy_dp_klucb(epsilon = 1e6),
                   policy_gaussian_imed(mu = 1e6, first = 1))
  each_database(function(store) for (policy in policies[if (is.character(store)) 1:3 else 1]) {
    place <- if (is.character(store)) withr::local_tempfile(fileext = ".sqlite") else store
    a <- dpts_agent(policy, c("x", "y"), place, use = "arrival")
    b <- agent_open(if (is.character(place)) place else postgres_connection(attr(store, "schema")))
    arm <- reward <- numeric()
    for (i in 1:6) {
      choice <- agent_choose(a, 5)
      now <- c(0.25, 0.5, 0, 1, 0.75)
      said <- character()
      # Handle a does not see that b has reported, and releases a sum with its own value, which is given up.
      for (j in 1:5) {
        agent_reward(list(a, b)[[1 + (j == 5 || i %% 2)]], choice$ticket[j], now[j])
        said[j] <- agent_reward(a, choice$ticket[j], 1 - now[j])$status
      }
      expect_true(all(said %in% c("known", "refused")))
      arm <- c(arm, as.integer(choice$arm))
      reward <- c(reward, now)
    }
    agent_finish(a)
    table <- dpts_releases(a)
    for (k in 1:2) {
      own <- table[as.integer(table$arm) == k & table$n > 0, ]
      expect_identical(sum(own$n), as.numeric(sum(arm == k)))
      expect_lt(abs(sum(own$sum) - sum(reward[arm == k])), 0.01)
      if (inherits(policy, "dpts_policy_randomised")) {
        expect_equal(own$sum, as.vector(tapply(reward[arm == k], (seq_along(arm)[arm == k] - 1) %/% 5, sum)), tolerance = 0.001)
      }
    }
    for (handle in list(a, b)) agent_close(handle)
  })
})

test_that("whose store was put back, and on which others went on, in every store", {
  each_database(function(store) {
    turn <- test_clock()
    file <- is.character(store)
    agent <- dpts_agent(policy_randomised(mu = 1, block = 9, control = 1), c("a", "b"), store, use = "arrival", deadline = hours(1),
                        max_per_person = 3, outcomes = list(harm = agent_outcome(mu = 0.5, deadline = hours(2))))
    x <- agent_choose(agent, 12, person = paste0("p", 1:12), key = "k")
    agent_reward(agent, x$ticket[c(1, 3, 5)], c(1, 0, 1))
    agent_reward(agent, x$ticket[1:2], 1, outcome = "harm")
    old <- if (file) agent_backup(agent, withr::local_tempfile(fileext = ".sqlite")) else Filter(function(rows) length(rows[[1]]), agent$store$tables())
    went_on <- list(
      choices = function(agent) for (who in c("n6", "n7")) agent_choose(agent, person = who),
      `arms of the same names` = function(agent) for (arm in c("d", "c")) agent_arms(agent, add = arm),
      `releases` = function(agent) {
        agent_reward(agent, x$ticket[-c(1, 3, 5)], 0)
        agent_arms(agent, pause = "b")
      }
    )
    acts <- list(
      choose = function(agent) agent_choose(agent, 2, person = c("p1", "p8")), copy = function(agent) agent_backup(agent, tempfile()),
      report = function(agent) agent_reward(agent, x$ticket, 1), arms = function(agent) agent_arms(agent, add = "e", pause = "b"),
      outcome = function(agent) agent_reward(agent, x$ticket, 1, outcome = "harm"), erase = function(agent) agent_erase(agent, "p1"),
      clock = function(agent) agent_clock(agent), look = function(agent) dpts_releases(agent), `no more than a report that is late` = function(agent) {
        agent_reward(agent, x$ticket[1], 1)
      }, restored = function(agent) agent_restored(agent), end = function(agent) agent_finish(agent, "verdict")
    )
    bad <- character()
    for (i in if (file) seq_along(acts) else c(1, 4, 8)) { # to make the tables takes longest
      says <- i %in% c(2, 3, 5, 8)
      put_back(store, old)
      open <- function() agent_open(if (file) store else postgres_connection(attr(store, "schema"), parent.frame(2)))
      agent_close(agent)
      agent <- open()
      # Two changes that will be lost
      agent_arms(agent, add = "c")
      lost <- agent_choose(agent, 4, person = c("n6", "n7", "n8", "n9"))$ticket
      if (says) said(agent)
      put_back(store, old)
      other <- open()
      what <- went_on[[1 + i %% 3]]
      what(other)
      # (A late report is answered by what is known of its ticket: nothing is changed.)
      if (i != 9) expect_error(acts[[i]](agent), class = "dpts_error_store_back")
      agent_restored(other)
      acts[[i]](agent)
      expect_identical(unique(agent_reward(agent, lost, 1)$status), "unknown")
      anew <- open()
      if (i %% 3 == 2) expect_gt(sum(dpts_releases(anew)$n), 3)
      for (handle in list(agent, other)) {
        pulls(handle)
        for (part in c(held, if (says) said)) {
          unlike <- mapply(identical, part(handle), part(anew))
          if (!all(unlike)) bad <- c(bad, paste(names(acts)[i], names(unlike)[!unlike]))
        }
      }
      for (handle in list(other, anew)) agent_close(handle)
    }
    expect_identical(bad, character())
    agent_close(agent)
  })
})

test_that("the tickets that a handle gave out last it does not read again for their rewards", {
  skip_if_not_installed("RSQLite")
  agent <- dpts_agent(policy_randomised(block = 1000), c("a", "b"), use = "arrival")
  first <- agent_choose(agent, 60)$ticket
  last <- agent_choose(agent, 60)$ticket
  read <- agent$store$tickets
  agent$store$tickets <- function(...) stop("it reads")
  for (ticket in c(first[1], last[60])) expect_identical(agent_reward(agent, ticket, 1)$status, "used")
  # Some thousand are remembered at most.
  agent$store$tickets <- read
  for (i in 1:12) agent_choose(agent, 90)
  expect_lte(length(agent$open), 1000)
  expect_gt(length(agent$open), 0)
})

test_that("at the end no reward is left in a file beside the store, and nothing is due any more", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_randomised(block = 1000), c("a", "b"), file, deadline = as.difftime(1, units = "hours"))
  agent_reward(agent, agent_choose(agent, 5)$ticket, 1)
  agent_finish(agent)
  expect_identical(file.size(paste0(file, "-wal")), 0)
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  expect_identical(DBI::dbGetQuery(con, "SELECT next_due FROM dpts_agent")$next_due, NA_real_)
  DBI::dbDisconnect(con)
  agent_close(agent)
})
