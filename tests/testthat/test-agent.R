skip_on_cran() # takes seconds

test_that("choices are tickets, rewards come once, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(batch_policy(), c("a", "b", "c"), store, use = "arrival")
    one <- agent_choose(agent)
    expect_named(one, c("ticket", "t", "arm", "probability"))
    expect_identical(levels(one$arm), c("a", "b", "c"))
    expect_match(one$ticket, "^[0-9a-f]{32}$")
    expect_equal(sum(pulls(agent)$outstanding), 1)
    many <- agent_choose(agent, 50)
    expect_equal(many$t, 2:51)
    expect_equal(anyDuplicated(c(one$ticket, many$ticket)), 0)
    got <- agent_reward(agent, rev(many$ticket), 0.5)
    expect_equal(got$status, rep("used", 50))
    expect_equal(agent_reward(agent, one$ticket, 1)$status, "used")
    expect_equal(agent_reward(agent, one$ticket, 1)$status, "known")
    log <- dpts_history(agent)
    expect_named(log, c("ticket", "t", "arm", "time", "status", "probability"))
    expect_equal(log$status, rep("used", 51))
    pulls <- pulls(agent)
    expect_named(pulls, c("arm", "pulls", "outstanding"))
    expect_equal(pulls$pulls, as.numeric(table(log$arm)))
    expect_equal(pulls$outstanding, c(0, 0, 0))
    agent_close(agent)
    expect_error(agent_choose(agent), class = "dpts_error_closed")
  })
})

test_that("of a closed agent each verb says that it is closed, and of what is none that it is none", {
  agent <- dpts_agent(policy_randomised(1, control = 1), 2, use = "arrival", max_per_person = 2)
  agent_close(agent)
  verbs <- list(
    pulls, dpts_history, estimates, summary, dpts_releases, dpts_privacy, privacy_statement, autoplot, evidence, effects, verdict)
  own <- list(
    agent_choose, agent_journal, agent_finish, agent_arms, agent_restored, agent_clock, function(agent) agent_reward(agent, "a", 1),
    function(agent) agent_return(agent, "a"), function(agent) agent_erase(agent, "a"), function(agent) agent_person(agent, "a"),
    function(agent) agent_backup(agent, tempfile()), function(agent) agent_copy(agent, tempfile()), function(agent) agent_plan(agent, "people: 3"))
  for (verb in c(verbs, own)) expect_error(verb(agent), "is closed: `agent_open", class = "dpts_error_closed")
  for (verb in own) expect_error(verb(2), "must be an agent from", class = "dpts_error_input")
  expect_identical(agent_close(agent), agent)
})

test_that("arms on offer, by name or number, are the only ones chosen", {
  agent <- dpts_agent(batch_policy(), c("a", "b", "c"), use = "arrival")
  expect_true(all(agent_choose(agent, 20, offer = c("c", "a"))$arm %in% c("a", "c")))
  expect_true(all(agent_choose(agent, 5, offer = 2)$arm == "b"))
  expect_error(agent_choose(agent, offer = "d"), "some of the arms", class = "dpts_error_input")
  expect_error(agent_choose(agent, offer = character()), class = "dpts_error_input")
  expect_equal(sum(pulls(agent)$pulls), 25)
})

test_that("each report is answered by itself, and the good ones are kept, in every store", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(policy_gaussian_imed(1, first = 100), 2, store, use = "arrival", deadline = hours(1))
    old <- agent_choose(agent)$ticket
    turn(3601)
    two <- agent_choose(agent, 4)$ticket
    agent_reward(agent, two[1], 1)
    answers <- agent_reward(agent, c(two[1], two[2], two[1], strrep("a", 32), two[2], old, two[2],
                                     "nobody's"),
                            c(0, 1, 1, 1, 1, 1, 0, 1))
    expect_equal(answers$status, c("refused", "used", "known", "unknown", "known", "late", "refused",
                                   "unknown"))
    expect_equal(sum(pulls(agent)$outstanding), 2)
    # What was refused is not in the store: the first report still is the one that counts.
    expect_equal(agent_reward(agent, two[1:2], 1)$status, c("known", "known"))
    # Nor is one that was reported with others taken again by itself.
    expect_equal(agent_reward(agent, two[2], 0)$status, "refused")
    for (ticket in c("", strrep("a", 2e4), strrep("\xff", 32), "\u00e9", "' OR 1=1")) {
      expect_equal(agent_reward(agent, c(ticket, two[3]), 1)$status[1], "unknown")
    }
    no_text <- "\xff\xfe"
    Encoding(no_text) <- "UTF-8"
    expect_equal(agent_reward(agent, no_text, 1)$status, "unknown") # and R does not warn of it
    expect_equal(sum(pulls(agent)$outstanding), 1)
    # Numbers that are no rewards: nothing of the call is done.
    expect_error(agent_reward(agent, two[4:3], c(1, 2)), class = "dpts_error_input")
    expect_equal(sum(pulls(agent)$outstanding), 1)
    agent_close(agent)
  })
})

test_that("once a reward is forgotten no report changes anything", {
  agent <- dpts_agent(policy_ucb1(), 2, use = "arrival")
  ticket <- agent_choose(agent)$ticket
  agent_reward(agent, ticket, 1)
  before <- session_save(agent$session)
  expect_equal(agent_reward(agent, ticket, 0)$status, "known")
  expect_identical(session_save(agent$session), before)
})

test_that("deadlines: a reward is used then and not before, and a missing one counts too", {
  turn <- test_clock()
  agent <- dpts_agent(policy_gaussian_imed(1, first = 1), 2, use = "deadline", deadline = hours(1),
                      missing = 0.25)
  first <- agent_choose(agent, 2)
  expect_equal(agent_reward(agent, first$ticket[1], 1)$status, "waiting")
  expect_equal(agent_reward(agent, first$ticket[1], 1)$status, "known")
  expect_equal(agent_reward(agent, first$ticket[1], 0.5)$status, "refused")
  expect_equal(pulls(agent)$outstanding, c(1, 1))
  expect_equal(sum(estimates(agent)$releases), 0)
  expect_equal(dpts_history(agent)$status, c("open", "open"))
  turn(3600)
  expect_equal(pulls(agent)$outstanding, c(0, 0))
  expect_equal(estimates(agent)$releases, c(1, 1))
  # Used or missing: the log does not tell.
  expect_equal(dpts_history(agent)$status, c("resolved", "resolved"))
  expect_equal(agent_reward(agent, first$ticket, c(1, 1))$status, c("late", "late"))
})

test_that("after the deadline nobody is told who had answered, in every store, with and without releases", {
  for (policy in list(policy_gaussian_imed(1, first = 1), policy_gaussian_imed(1, first = 50),
                      policy_ts_gaussian())) {
    each_database(function(store) {
      if (identical(policy$args$first, 50) && !is.character(store)) return()
      turn <- test_clock()
      agent <- dpts_agent(policy, 2, store, use = "deadline", deadline = hours(1), horizon = 100)
      x <- agent_choose(agent, 4)
      agent_reward(agent, x$ticket[1:2], c(1, 0))
      turn(3601)
      for (i in 1:2) { # before anybody else looks, and after
        expect_equal(agent_reward(agent, x$ticket, c(1, 1, 1, 0))$status, rep("late", 4))
        pulls(agent)
      }
      # Nor is it kept, once the sum is released or the reward is inside the policy's state.
      if (policy$args$first %||% 1 == 1) {
        expect_identical(agent$store$tickets(x$ticket)$reward, rep(NA_real_, 4))
        expect_equal(agent$store$tickets(x$ticket)$status, rep(dpts:::TICKET[["done"]], 4))
      }
      agent_close(agent)
    })
  }
})

test_that("a choice that is no round of the policy is said so where answers are protected, too", {
  turn <- test_clock()
  agent <- dpts_agent(policy_gaussian_imed(1, first = 50), 2, use = "deadline", deadline = hours(1),
                      max_per_person = 1)
  x <- agent_choose(agent, 3, person = c("ann", "ann", "bob"))
  agent_reward(agent, x$ticket, 1)
  expect_equal(dpts_history(agent)$status, c("open", "beyond", "open"))
  turn(3601)
  expect_equal(dpts_history(agent)$status, c("resolved", "beyond", "resolved"))
})

test_that("missing rewards enter the sums with their value", {
  turn <- test_clock()
  for (use in c("deadline", "arrival")) {
    # So little noise that sums can be read: 1e5 times smaller than a reward
    agent <- dpts_agent(policy_gaussian_imed(1e5, first = 4), 1, use = use, deadline = hours(1),
                        missing = 0.25)
    ticket <- agent_choose(agent, 4)$ticket
    agent_reward(agent, ticket[c(4, 2)], c(1, 0.5))
    turn(4000)
    expect_equal(estimates(agent)$mean, (1 + 0.5 + 2 * 0.25) / 4, tolerance = 1e-3)
    expect_equal(agent_reward(agent, ticket[1], 1)$status, "late")
    status <- if (use == "arrival") c("missing", "used", "missing", "used") else rep("resolved", 4)
    expect_equal(dpts_history(agent)$status, status)
  }
})

test_that("a reward that comes with the call that finds its deadline past is late", {
  turn <- test_clock()
  agent <- dpts_agent(batch_policy(), 2, use = "arrival", deadline = hours(1))
  ticket <- agent_choose(agent)$ticket
  turn(3601)
  expect_equal(agent_reward(agent, ticket, 1)$status, "late")
})

test_that("a clock that went back: the agent keeps its own time, and says so once", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), 2, store, use = "deadline", deadline = hours(1))
    first <- agent_choose(agent)$ticket
    for (i in 1:5) { # small steps add up to nothing
      turn(-5)
      expect_silent(agent_choose(agent))
      turn(5)
    }
    turn(-6)
    expect_warning(pulls(agent), "6 seconds behind", class = "dpts_warning_clock")
    turn(6)
    expect_silent(pulls(agent))
    expect_identical(diff(as.numeric(dpts_history(agent)$time)), numeric(5))
    turn(-1e6)
    expect_warning(agent_choose(agent), "11.5741 days behind", class = "dpts_warning_clock")
    expect_silent(x <- agent_choose(agent))
    expect_equal(x$t, 8)
    expect_output(print(agent), "time: +stands still")
    expect_identical(diff(as.numeric(dpts_history(agent)$time)), numeric(7))
    if (is.character(store)) { # opened, read and used by another process
      agent_close(agent)
      expect_warning(agent <- agent_open(store), class = "dpts_warning_clock")
      expect_equal(sum(pulls(agent)$pulls), 8)
      expect_equal(agent_choose(agent)$t, 9)
    }
    expect_equal(agent_reward(agent, first, 1)$status, "waiting")
    turn(1e6 + 3599)
    expect_equal(sum(pulls(agent)$outstanding), if (is.character(store)) 9 else 8)
    expect_no_match(format(agent), "stands still")
    turn(30)
    expect_equal(sum(pulls(agent)$outstanding), 0)
    agent_close(agent)
  })
})

test_that("a clock far ahead is refused until confirmed, and one that was believed is mended: nothing is lost", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), 2, store, use = "deadline", deadline = hours(48))
    out <- agent_choose(agent, 20)$ticket
    agent_reward(agent, out[1:8], 1)
    journal <- agent$store$count("resolved")
    turn(48 * 3600 + 1)
    agent$ticks <- agent$ticks + 1000 # however long this takes
    expect_error(agent_choose(agent), "2.00001 days ahead", class = "dpts_error_clock")
    ten_years <- 10 * 365 * 86400
    turn(ten_years)
    expect_error(agent_choose(agent), "ahead of the agent's last change", class = "dpts_error_clock")
    expect_error(agent_reward(agent, out[9], 1), "agent_clock", class = "dpts_error_clock")
    expect_warning(expect_equal(sum(pulls(agent)$outstanding), 20), class = "dpts_warning_clock")
    expect_silent(dpts_history(agent))
    expect_match(format(agent), "time: +of the last change: the clock is far ahead", all = FALSE)
    if (is.character(store)) {
      agent_close(agent)
      expect_warning(agent <- agent_open(store), class = "dpts_warning_clock")
    }
    # It was wrong: all is as it was.
    turn(-ten_years - 48 * 3600)
    expect_silent(expect_equal(agent_reward(agent, out[9:10], 0)$status, rep("waiting", 2)))
    expect_equal(sum(pulls(agent)$outstanding), 20)
    # It was believed, within a deadline: mended.
    turn(47 * 3600)
    late <- agent_choose(agent, 4)$ticket
    expect_equal(agent_reward(agent, late[1], 1)$status, "waiting")
    turn(-47 * 3600)
    agent_clock(agent)
    turn(47 * 3600)
    expect_silent(agent_reward(agent, late[2], 1))
    expect_equal(sum(pulls(agent)$outstanding), 24)
    turn(3600)
    expect_equal(sum(pulls(agent)$outstanding), 0)
    expect_equal(agent$store$count("resolved"), 24)
    expect_equal(agent$store$count("clock"), 1)
    # Right, after all: what was open is due.
    again <- agent_choose(agent)$ticket
    turn(100 * 86400)
    expect_error(agent_choose(agent), class = "dpts_error_clock")
    agent_clock(agent, .POSIXct(getOption("dpts.clock")()))
    expect_equal(agent_reward(agent, again, 1)$status, "late")
    expect_silent(agent_choose(agent))
    expect_error(agent_clock(agent, 5), "date-time", class = "dpts_error_input")
    agent_close(agent)
  })
})

test_that("after a mended clock a ticket waits its deadline from then on, and one with a report its window", {
  for (use in c("arrival", "deadline")) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), 2, use = use, deadline = hours(20), window = hours(1), max_per_person = 9)
    turn(10 * 3600)
    x <- agent_choose(agent, 2, person = c("Ada", "Bob"))$ticket
    agent_reward(agent, x[1], 1)
    turn(-10 * 3600)
    agent_clock(agent)
    out <- function(seconds) {
      turn(seconds)
      sum(pulls(agent)$outstanding)
    }
    expect_equal(c(out(3599), out(1)), c(2, if (use == "arrival") 1 else 2))
    expect_equal(c(out(19 * 3600 - 1), out(1)), c(if (use == "arrival") 1 else 2, 0))
  }
  # The history is in the order of the choices, whatever the time was.
  turn <- test_clock()
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  turn(3600)
  agent_choose(agent)
  agent_reward(agent, agent_choose(agent)$ticket, 1)
  turn(-3600)
  agent_clock(agent)
  agent_choose(agent)
  expect_equal(dpts_history(agent)$t, 1:3)
  expect_equal(dpts_history(agent, n = 2)$t, 2:3)
  # A process that reports, and looks at nothing in between, goes by the new time as well.
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), 2, store, use = "deadline", deadline = hours(20))
    turn(10 * 3600)
    for (i in 1:3) x <- agent_choose(agent)
    turn(-10 * 3600)
    agent_clock(agent)
    turn(20 * 3600)
    expect_equal(agent_reward(agent, x$ticket, 1)$status, "late")
    agent_close(agent)
  })
})

test_that("time goes on between the changes of one process, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(batch_policy(), 2, store, use = "arrival")
    for (i in 1:3) {
      agent_choose(agent)
      Sys.sleep(0.02)
    }
    expect_gte(min(diff(as.numeric(dpts_history(agent)$time))), 0.015)
    agent_close(agent)
  })
})

test_that("a process that has waited believes the clock, and the page counts hours anew after a mended one", {
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(1, block = 10), 2, use = "arrival")
  agent_choose(agent, 30)
  turn(5 * 86400)
  agent$ticks <- agent$ticks - 5 * 86400 # as if these days had passed here
  expect_silent(x <- agent_choose(agent, 2))
  agent_reward(agent, x$ticket, 1)
  expect_equal(sum(dpts:::api_overview(agent)$arms$recent), 2)
  turn(-3600 * 30)
  agent_clock(agent)
  agent$cache <- NULL
  expect_equal(sum(dpts:::api_overview(agent)$arms$choices), 32)
  expect_equal(sum(dpts:::api_overview(agent)$arms$recent), 2) # whose time is still to come
  agent_choose(agent)
  turn(1.1 * 86400) # ahead of the mended clock, not of what was read before
  expect_error(agent_choose(agent), "ahead", class = "dpts_error_clock")
  agent$ticks <- agent$ticks - 3 * 86400 # what passed here before the clock was set does not count after it
  agent_clock(agent)
  turn(1.1 * 86400)
  expect_error(agent_choose(agent), "ahead", class = "dpts_error_clock")
  agent_clock(agent)
  turn(86400) # a day is none too many
  expect_silent(agent_choose(agent))
  agent$ticks <- agent$ticks + 1000 # however long this takes
  turn(86401)
  expect_error(agent_choose(agent), "ahead", class = "dpts_error_clock")
  turn(-6 * 86400)
  agent_clock(agent)
  turn(1.1 * 86400) # before what was read last, but ahead of the clock as it was set
  expect_error(agent_choose(agent), "ahead", class = "dpts_error_clock")
})

test_that("an agent that ends at its horizon while rewards are out goes on with the arm that was chosen most by then", {
  agent <- dpts_agent(policy_randomised(mu = 50, block = 20), c("a", "b"), use = "arrival", horizon = 61)
  x <- agent_choose(agent, 61)
  most <- names(which.max(table(x$arm)))
  agent_reward(agent, x$ticket[1:40], as.numeric(x$arm[1:40] != most))
  expect_identical(as.character(agent_choose(agent, 3)$arm), rep(most, 3))
  expect_equal(sum(pulls(agent)$outstanding), 21)
})

test_that("no more than max_per_person rewards of a person are used, and no sum has anything of the others", {
  who <- c("ann", "bob", "ann", " ann\t", "bob", "ann", "cy", "bob", "Ann")
  each_database(function(store) {
    # So little noise that sums can be read
    agent <- dpts_agent(policy_gaussian_imed(1e5, first = 6), 1, store, use = "arrival", max_per_person = 2)
    x <- agent_choose(agent, 9, person = who)
    beyond <- c(4, 6, 8)
    expect_equal(x$t[-beyond], 1:6)
    expect_true(all(is.na(x$t[beyond])))
    expect_equal(as.list(pulls(agent))[-1], list(pulls = 6, outstanding = 6))
    status <- agent_reward(agent, x$ticket, 1)$status
    expect_equal(status, ifelse(1:9 %in% beyond, "late", "used"))
    # The mean is that of the rewards that count: a missing one would be a 0 in it.
    expect_equal(estimates(agent)$mean, 1, tolerance = 1e-4)
    expect_equal(estimates(agent)$rewards, 6)
    expect_equal(dpts_history(agent)$status, ifelse(1:9 %in% beyond, "beyond", "used"))
    expect_equal(sum(autoplot(agent)$data$t == 6), 1)
    expect_error(agent_choose(agent, person = "  "), "`person`", class = "dpts_error_input")
    agent_close(agent)
  })
  # One at a time, and after a restart, the limit is the same; the arm is the person's own, if it is on offer.
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_uniform(), 3, file, use = "arrival", max_per_person = 1)
  a <- agent_choose(agent, person = "ann", offer = 3)
  agent_choose(agent, 5, person = letters[1:5], offer = 2)
  agent_close(agent)
  agent <- agent_open(file)
  for (i in 1:5) {
    b <- agent_choose(agent, person = "ann")
    expect_identical(b$arm, a$arm)
    expect_true(b$ticket != a$ticket && is.na(b$t))
  }
  expect_equal(as.integer(agent_choose(agent, person = "a", offer = c(1, 3))$arm),
               c(1, 3)[which.max(pulls(agent)$pulls[c(1, 3)])])
  expect_equal(agent_reward(agent, c(a$ticket, b$ticket), 1)$status, c("used", "late"))
  agent_close(agent)
  # No name is in the file.
  bytes <- readBin(file, "raw", file.size(file))
  expect_length(grepRaw("ann", bytes), 0)
  expect_error(dpts_agent(batch_policy(), 2, use = "arrival") |> agent_choose(person = "x"),
               "max_per_person", class = "dpts_error_input")
})

test_that("a person has as many rounds as there may be, one call after the other, in every store", {
  for (most in c(1, 3)) each_database(function(store) {
    agent <- dpts_agent(policy_uniform(), 2, store, use = "arrival", max_per_person = most)
    for (i in 1:4) {
      x <- agent_choose(agent, 2, person = c("ann", "bob"))
      expect_identical(!is.na(x$t), rep(i <= most, 2))
    }
    expect_equal(sum(pulls(agent)$pulls), 2 * most)
    agent_close(agent)
  })
})

test_that("what waits is counted for its own arm when arms come, and when it comes", {
  agent <- dpts_agent(policy_uniform(), c("a", "b"), use = "arrival")
  x <- agent_choose(agent, 3, offer = "a")
  agent_choose(agent, 1, offer = "b")
  agent_arms(agent, add = c("c", "d"))
  y <- agent_choose(agent, 2, offer = "d")
  expect_equal(pulls(agent)$outstanding, c(3, 1, 0, 2))
  agent_reward(agent, c(x$ticket[1], y$ticket), 1)
  expect_equal(pulls(agent)$outstanding, c(2, 1, 0, 0))
})

test_that("persons are hashed with the agent's own key", {
  one <- dpts:::hash_person("ann", as.raw(1:32))
  expect_match(one, "^[0-9a-f]{64}$")
  expect_false(one == dpts:::hash_person("ann", as.raw(2:33)))
  # HMAC-SHA256: RFC 4231, test cases 1 and 2
  expect_identical(dpts:::hash_person("Hi There", as.raw(rep(0x0b, 20))),
                   "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
  expect_identical(dpts:::hash_person(c("what do ya want for nothing?", "x"), charToRaw("Jefe"))[1],
                   "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  terms <- list(max_per_person = 1, key = charToRaw("Jefe"))
  spelled <- c("\u00e9ve", iconv("\u00e9ve", "UTF-8", "latin1"), "\u2003\u00e9ve\n", iconv("\u00a0\u00e9ve", "UTF-8", "latin1"))
  expect_identical(dpts:::check_person(spelled, 4, terms), rep(dpts:::hash_person("\u00e9ve", terms$key), 4))
  keys <- replicate(2, dpts_agent(policy_uniform(), 2, use = "arrival")$terms$key)
  expect_false(identical(keys[, 1], keys[, 2]))
})

test_that("sticky: a person has one ticket for ever, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(policy_uniform(), 4, store, use = "arrival", sticky = TRUE)
    x <- agent_choose(agent, 5, person = c("ann", "bob", "ann", "cy", "ann"))
    expect_equal(x$t, c(1, 2, 1, 3, 1))
    expect_equal(x$ticket[c(3, 5)], x$ticket[c(1, 1)])
    expect_equal(x$arm[c(3, 5)], x$arm[c(1, 1)])
    again <- agent_choose(agent, 2, person = c("dan", "ann"), offer = setdiff(1:4, as.integer(x$arm[1])))
    expect_equal(again[2, ], x[1, ])
    expect_equal(again$t[1], 4)
    before <- agent$seq
    expect_equal(agent_choose(agent, 1, person = "cy ", key = "one"), x[4, ])
    expect_equal(agent$seq, before) # nothing was written
    expect_equal(sum(pulls(agent)$pulls), 4)
    expect_equal(agent_reward(agent, x$ticket, 1)$status, c("used", "used", "known", "used", "known"))
    expect_equal(nrow(dpts_history(agent)), 4)
    # Whose first choice is no round keeps its arm and its ticket too.
    agent_arms(agent, pause = 2:4)
    y <- agent_choose(agent, 3, person = c("eve", "ann", "eve"))
    expect_equal(y$t, c(NA, x$t[1], NA))
    expect_equal(y[3, ], y[1, ])
    agent_arms(agent, pause = 1, resume = 2:4)
    expect_equal(agent_choose(agent, person = "eve"), y[1, ])
    expect_equal(agent_choose(agent, person = "fay")$t, 5)
    agent_close(agent)
  })
  expect_error(dpts_agent(policy_uniform(), 2, use = "arrival", sticky = TRUE, max_per_person = 2),
               "`max_per_person`", class = "dpts_error_input")
})

test_that("a call with the key of an earlier one gives its tickets again, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(policy_uniform(), 4, store, use = "arrival")
    x <- agent_choose(agent, 3, key = "order-17")
    expect_equal(agent_choose(agent, 3, key = "order-17"), x)
    y <- agent_choose(agent, 3, key = "order-18")
    expect_equal(y$t, 4:6)
    expect_length(intersect(x$ticket, y$ticket), 0)
    expect_equal(agent_choose(agent, 3, key = "order-17"), x)
    expect_error(agent_choose(agent, 2, key = "order-17"), "another call, of 3", class = "dpts_error_key")
    # Another offer is not noticed: the arms are those of the first call, as the help says.
    expect_equal(agent_choose(agent, 3, key = "order-17", offer = setdiff(1:4, x$arm)), x)
    for (key in list("", "a b", "'; --", "\u00e9", strrep("a", 101), 7, NA_character_, c("a", "b"))) {
      expect_error(agent_choose(agent, key = key), "`key`", class = "dpts_error_input")
    }
    expect_equal(sum(pulls(agent)$pulls), 6)
    agent_close(agent)
  })
})

test_that("where each person has one ticket it is the person who counts, and not the key, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(policy_uniform(), 3, store, use = "arrival", sticky = TRUE)
    ann <- agent_choose(agent, person = "ann", key = "k")
    bob <- agent_choose(agent, person = "bob", key = "k")
    expect_true(ann$ticket != bob$ticket && bob$t == 2)
    expect_identical(agent_choose(agent, 2, person = c("bob", "ann"), key = "k")$ticket,
                     c(bob$ticket, ann$ticket))
    expect_identical(agent$store$tables()$dpts_ticket$asked_for, c(NA_character_, NA)) # nor is it noted for whom a key was
    agent_close(agent)
  })
})

test_that("tickets of a key come in the order of the choices, whatever became of them since, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(batch_policy(), c("a", "b", "c"), store, use = "arrival", keep_rewards = TRUE)
    x <- agent_choose(agent, 7, key = "k")
    for (i in c(2, 7, 1, 4)) { # a database may move what it updates
      agent_reward(agent, x$ticket[i], 1)
      agent_choose(agent, 3, key = paste0("other", i))
      again <- agent_choose(agent, 7, key = "k")
      expect_identical(lapply(again, identity), lapply(x, identity))
    }
    expect_identical(dpts_history(agent)$t, as.numeric(1:19))
    expect_identical(dpts_history(agent, n = 4)$t, as.numeric(16:19))
    expect_gt(nrow(dpts_releases(agent)), 3) # what was released is kept, too
    expect_identical(stored(agent, x$ticket)$reward, c(1, 1, NA, 1, NA, NA, 1))
    agent_close(agent)
  })
})

test_that("tickets that are due at one moment are resolved in the order of the choices, in every store", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), 2, store, use = "deadline", deadline = hours(1))
    x <- agent_choose(agent, 6)
    for (i in c(4, 1, 6)) agent_reward(agent, x$ticket[i], 1) # a database may move what it updates
    turn(10)
    y <- agent_choose(agent, 2)
    turn(2 * 3600)
    pulls(agent)
    journal <- agent$store$journal()
    expect_identical(journal$ticket[journal$kind == "resolved"], c(x$ticket, y$ticket))
    agent_close(agent)
  })
})

test_that("a deadline is past when it is reached, and not before; an hour back is said, in every store", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(batch_policy(), 2, store, use = "deadline", deadline = hours(1))
    one <- agent_choose(agent, 2)
    turn(3599.5)
    expect_equal(agent_reward(agent, one$ticket[1], 1)$status, "waiting")
    expect_equal(sum(pulls(agent)$outstanding), 2)
    turn(0.5)
    expect_equal(agent_reward(agent, one$ticket[2], 1)$status, "late")
    expect_equal(sum(pulls(agent)$outstanding), 0)
    turn(-3600)
    expect_warning(agent_choose(agent), class = "dpts_warning_clock")
    agent_close(agent)
  })
})

test_that("rewards in their own units are the same rewards as parts of the range", {
  turn <- test_clock()
  agent <- dpts_agent(policy_gaussian_imed(1e5, first = 4), 1, use = "deadline", deadline = hours(1),
                      range = c(-20, 60), missing = 20)
  x <- agent_choose(agent, 4)$ticket
  agent_reward(agent, x[1:3], c(-20, 60, 0))
  expect_equal(stored(agent, x)$reward, c(0, 1, 0.25, NA), tolerance = 1e-6)
  turn(3601)
  e <- estimates(agent)
  expect_equal(e$mean, 15, tolerance = 1e-3)
  expect_true(e$lower >= -20 && e$upper <= 60 && e$lower < 15 && e$upper > 15)
  expect_output(print(agent), "missing counts 20")
  expect_output(print(agent), "from -20 to 60")
  expect_error(agent_reward(agent, x, 61), "numbers in \\[-20, 60\\]", class = "dpts_error_input")
  # Predictions are parts of the range, too, where it does not begin at 0: the state, the tickets and what is clipped are the same.
  states <- lapply(list(c(0, 1), c(-20, 60)), function(range) {
    agent <- dpts_agent(policy_randomised(1, outcome = "continuous", predicted = c(0.2, 0.8), block = 9), 1, use = "arrival",
                        range = range)
    shares <- c(0.25, NA, 0.8, 0.1, 0.85, 0.2)
    x <- agent_choose(agent, 6, predicted = range[1] + shares * diff(range))$ticket
    agent_reward(agent, x[1:4], range[1] + c(0, 1, 0.5, 0.25) * diff(range))
    rows <- stored(agent, x)
    list(rows$context, rows$reward, agent$life$clipped, session_save(agent$session))
  })
  expect_identical(states[[2]], states[[1]])
  expect_equal(states[[1]][[3]], 2)
  low <- dpts_agent(policy_uniform(), 1, use = "arrival", range = c(5, 6))
  expect_equal(low$terms$missing, 0) # the smallest reward
  for (range in list(1, c(1, 1), c(2, 1), c(0, Inf), "a", NULL)) {
    expect_error(dpts_agent(policy_uniform(), 1, use = "arrival", range = range), "`range`",
                 class = "dpts_error_input")
  }
  expect_error(dpts_agent(policy_uniform(), 1, use = "arrival", range = c(5, 6), missing = 0), "`missing`",
               class = "dpts_error_input")
})

test_that("an agent that was restored beyond its budget learns nothing more and says so, in every store", {
  turn <- test_clock()
  life <- function(store, use) {
    agent <- dpts_agent(policy_gaussian_imed(1, first = 1), 2, store, use = use, deadline = hours(1),
                        budget = privacy_gdp(1.2))
    x <- agent_choose(agent, 30)
    agent_reward(agent, x$ticket[1:20], 1)
    expect_no_match(format(agent), "beyond")
    agent_restored(agent)
    said <- paste(format(agent), collapse = "\n")
    expect_match(said, "going back to an old copy")
    expect_match(said, "beyond its budget: nothing more is learned")
    two <- suppressWarnings(format(privacy_compose(policy_gaussian_imed(1), policy_gaussian_imed(1))))
    expect_match(said, two, fixed = TRUE)
    status <- dpts:::api_status(agent)
    expect_false(status$learning)
    expect_match(status$guarantee, two, fixed = TRUE)
    releases <- agent$store$count("release")
    y <- agent_choose(agent, 3)
    expect_true(all(is.na(y$t)))
    expect_equal(as.integer(y$arm), rep(which.max(pulls(agent)$pulls), 3))
    answer <- agent_reward(agent, x$ticket[21:25], 1)$status
    expect_equal(answer, rep(c(arrival = "late", deadline = "waiting")[[use]], 5))
    turn(3601)
    expect_equal(sum(pulls(agent)$outstanding), 0)
    expect_equal(agent$store$count("release"), releases)
    # What was never used is forgotten.
    expect_true(all(is.na(agent$store$tickets(x$ticket[21:30])$reward)))
    expect_identical(dpts_history(agent)$status[21:30], rep(c(arrival = "missing", deadline = "resolved")[[use]], 10))
    agent_close(agent)
  }
  life(withr::local_tempfile(fileext = ".sqlite"), "arrival")
  life(if (postgres_available()) postgres_connection(), "deadline")
  # Inside its budget also with two copies, it goes on.
  agent <- dpts_agent(policy_gaussian_imed(1, first = 1), 2, use = "arrival", budget = privacy_gdp(1.5))
  agent_restored(agent)
  expect_equal(agent_choose(agent)$t, 1)
  expect_true(dpts:::api_status(agent)$learning)
  agent_restored(agent) # and with a third no more
  expect_false(dpts:::api_status(agent)$learning)
  expect_true(is.na(agent_choose(agent)$t))
})

test_that("an agent goes on where it was after a restart, in every store that stays", {
  skip_if_not_installed("RSQLite")
  # The sessions of other policies are saved and restored in test-session.R.
  for (policy in list(batch_policy(), policy_restart(policy_local(greedy_policy(), 1), 33))) {
    file <- withr::local_tempfile(fileext = ".sqlite")
    agent <- dpts_agent(policy, c("a", "b"), file, use = "arrival")
    for (i in 1:3) agent_reward(agent, agent_choose(agent, 10)$ticket, stats::rbinom(10, 1, 0.5))
    out <- agent_choose(agent, 5)
    before <- list(pulls(agent), estimates(agent), dpts_history(agent),
                   session_save(agent$session))
    agent_close(agent)
    again <- agent_open(file)
    expect_equal(list(pulls(again), estimates(again), dpts_history(again),
                      session_save(again$session)), before)
    expect_equal(agent_reward(again, out$ticket, 1)$status, rep("used", 5))
    expect_equal(agent_choose(again)$t, 36)
    agent_close(again)
  }
})

# A policy in R whose state is what it was told
diary_policy <- function() {
  policy_custom(
    "diary",
    start = function(k, horizon) list(horizon = horizon, rounds = numeric(), seen = NULL),
    choose = function(state, round) round$offer[1 + round$t %% length(round$offer)],
    commit = function(state, round, arm) {
      state$rounds <- c(state$rounds, round$t)
      state
    },
    update = function(state, feedback) {
      state$seen <- rbind(state$seen, c(feedback$t, feedback$arm, feedback$reward))
      state
    }
  )
}

test_that("a policy in R that is started anew sees its own life and nothing else, live as in a session", {
  agent <- dpts_agent(policy_restart(diary_policy(), 3), 2, use = "arrival", horizon = 100)
  diary <- function() session_save(agent$session)$state
  ticket <- agent_choose(agent, 5)$ticket
  expect_equal(diary()$rounds, 1:2)
  expect_equal(diary()$horizon, 3)
  # A reward of the first life, and the one of the second life's first round
  expect_equal(agent_reward(agent, ticket[c(3, 4)], c(1, 0.5))$status, c("used", "used"))
  expect_equal(diary()$seen, rbind(c(1, 2, 0.5)))
  expect_equal(pulls(agent)$pulls, c(2, 3))
  # A choice by choice, with a new start in between, is the same.
  one <- dpts_agent(policy_restart(diary_policy(), 3), 2, use = "arrival", horizon = 100)
  arms <- vapply(1:5, function(i) as.integer(agent_choose(one)$arm), 0L)
  expect_equal(arms, as.integer(dpts_history(agent)$arm))
})

test_that("a locally private policy in R sees random bits of the right chance", {
  agent <- dpts_agent(policy_local(diary_policy(), 1), 2, use = "arrival")
  agent_reward(agent, agent_choose(agent, 800)$ticket, 0.25)
  seen <- session_save(agent$session)$state$seen
  expect_true(all(seen[, 3] %in% 0:1))
  q <- 1 / (1 + exp(1))
  chance <- q + (1 - 2 * q) * 0.25
  expect_lt(abs(mean(seen[, 3]) - chance), 6.5 * sqrt(chance * (1 - chance) / 800))
  # What is told of them: the bits with the map undone
  told <- estimates(agent, 0.9)
  bits <- tapply(seen[, 3], seen[, 2], mean)
  expect_equal(told$mean, as.numeric((bits - q) / (1 - 2 * q)))
  expect_equal(told$rewards, c(400, 400))
  plain <- mean_intervals(c(400, 400), c(400, 400), 400 * as.numeric(bits),
                                 list(kind = "Gaussian", scale = 0), 0.9)
  expect_equal(told$lower, pmax(0, (plain$lower - q) / (1 - 2 * q)))
  expect_equal(told$upper, pmin(1, (plain$upper - q) / (1 - 2 * q)))
  certain <- estimates(agent, 1 - 1e-10) # bits are live
  expect_true(all(certain$lower < 0.25 & certain$upper > 0.25))
  expect_true(dpts:::api_status(agent)$sums)
})

test_that("a policy in R finds a generator that nobody knows, and a new one in each call", {
  begin_notes()
  policy <- policy_custom("looks", start = function(k, horizon) 0, update = function(state, feedback) state,
                          choose = function(state, round) {
                            note(globalenv()$.Random.seed)
                            1
                          })
  agent <- dpts_agent(policy, 2, use = "arrival")
  declares <- policy_custom("declares", policy$start, policy$choose, policy$update,
                            guarantee = privacy_pure(1))
  expect_match(format(dpts_agent(declares, 2, use = "arrival"))[2],
               "1-DP for a reward, as declared; its noise is R's own")
  withr::with_seed(1, agent_choose(agent, 40))
  seeds <- notes()
  # The Mersenne twister, inversion and rejection; all its words are mixed before the first draw.
  expect_true(all(vapply(seeds, function(x) identical(x[1:2], c(10403L, 624L)) && length(x) == 626, NA)))
  words <- unlist(lapply(seeds, `[`, -(1:2)))
  expect_false(anyDuplicated(vapply(seeds, function(x) paste(x[3:10], collapse = " "), "")) > 0)
  bits <- vapply(0:31, function(i) mean(bitwAnd(bitwShiftR(words, i), 1L), na.rm = TRUE), 0)
  expect_lt(max(abs(bits - 0.5)), 7 * 0.5 / sqrt(length(words)))
})

test_that("estimates are of what a policy may tell: bits, sums of the present life, or nothing", {
  means <- c(0.2, 0.8)
  local <- dpts_agent(policy_local(policy_ucb1(), 2), 2, use = "arrival")
  choice <- rbind(agent_choose(local, 200, offer = 1), agent_choose(local, 200, offer = 2))
  agent_reward(local, choice$ticket, stats::rbinom(400, 1, rep(means, each = 200)))
  told <- estimates(local)
  expect_equal(told$rewards, pulls(local)$pulls)
  certain <- estimates(local, 1 - 1e-10) # bits are live
  expect_true(all(certain$lower <= means & certain$upper >= means))
  expect_true(all(told$upper - told$lower < 0.9))
  # Its rewards are not kept: they are inside the policy's state at once.
  expect_true(all(is.na(local$store$tickets(choice$ticket)$reward)))

  lives <- dpts_agent(policy_restart(batch_policy(), 100), 2, use = "arrival")
  play_rounds(lives, 100, means)
  first <- estimates(lives)
  expect_gt(sum(first$rewards), 50)
  agent_choose(lives)
  expect_equal(estimates(lives)$rewards, c(0, 0))
  expect_true(all(is.na(estimates(lives)$mean)))
  play_rounds(lives, 20, means)
  expect_lte(sum(estimates(lives)$rewards), 21)
  # Batches of an earlier life are late: nothing comes of them.
  whole <- dpts_agent(batch_policy(), 2, use = "arrival")
  ended <- dpts_agent(policy_restart(batch_policy(), 4), 2, use = "arrival")
  for (agent in list(whole, ended)) {
    old <- agent_choose(agent, 4)$ticket
    agent_choose(agent)
    agent_reward(agent, old, 1)
  }
  expect_gt(sum(estimates(whole)$rewards), 0)
  expect_equal(sum(estimates(ended)$rewards), 0)

  # Bits around a policy that is more private than they are, and sums of a policy without privacy
  for (policy in list(policy_local(policy_dp_imed(1), 1), policy_ucb1(), policy_restart(policy_ucb1(), 50),
                      greedy_policy())) {
    silent <- dpts_agent(policy, 2, use = "arrival")
    play_rounds(silent, 30, means)
    expect_true(all(is.na(estimates(silent)$mean)))
    expect_false(dpts:::api_status(silent)$sums)
  }
})

test_that("a handle that is behind is no worse: its rewards and reports are those of now", {
  skip_if_not_installed("RSQLite")
  # A policy in R that fails on a reward for a round that it has not chosen
  strict <- policy_custom(
    "strict", start = function(k, horizon) 0, choose = function(state, round) 1,
    commit = function(state, round, arm) round$t,
    update = function(state, feedback) if (feedback$t > state) stop("no such round") else state
  )
  each_database(function(store) {
    a <- dpts_agent(strict, 2, store, use = "arrival", horizon = 20)
    b <- if (is.character(store)) agent_open(store) else
      agent_open(postgres_connection(attr(store, "schema")))
    agent_choose(a)
    x <- agent_choose(b, 5)
    expect_equal(agent_reward(a, x$ticket, 1)$status, rep("used", 5))
    agent_restored(a)
    expect_equal(agent_reward(b, x$ticket[1], 1)$status, "known")
    expect_equal(sum(autoplot(b)$data$share[autoplot(b)$data$t == 6]), 1)
    agent_choose(a, 14)
    expect_identical(agent_choose(b)$t, NA_real_)
    expect_equal(sum(pulls(b)$pulls), 20)
    agent_close(a)
    agent_close(b)
  })
})

test_that("a policy in R that reports is the same for every process of its store", {
  skip_if_not_installed("RSQLite")
  policy <- policy_custom(
    "sums", start = function(k, horizon) list(n = numeric(k), sum = numeric(k)),
    choose = function(state, round) round$offer[1],
    update = function(state, feedback) {
      state$n[feedback$arm] <- state$n[feedback$arm] + 1
      state$sum[feedback$arm] <- state$sum[feedback$arm] + feedback$reward
      state
    },
    report = function(state, arm) {
      if (state$n[arm] > 0) list(rewards = state$n[arm], sum = state$sum[arm], kind = "Laplace", scale = 1,
                                 terms = 1)
    },
    guarantee = privacy_pure(1)
  )
  path <- withr::local_tempfile(fileext = ".sqlite")
  one <- dpts_agent(policy, 2, path, use = "arrival")
  two <- agent_open(path) # before there is a state
  first <- agent_choose(one, 2)
  agent_reward(two, first$ticket, c(1, 0.5))
  agent_reward(two, agent_choose(one, offer = 2)$ticket, 0.25)
  for (agent in list(one, two)) {
    expect_equal(estimates(agent)$rewards, c(2, 1))
    expect_equal(estimates(agent)$mean, c(0.75, 0.25))
  }
  agent_close(one)
  agent_close(two)

  # An error of report() while a state is read does not stay for the next call.
  policy$report <- function(state, arm) if (isTRUE(getOption("dpts.test_broken"))) stop("no report") else NULL
  path <- withr::local_tempfile(fileext = ".sqlite")
  one <- dpts_agent(policy, 2, path, use = "arrival")
  two <- agent_open(path)
  agent_choose(one, 2)
  withr::with_options(list(dpts.test_broken = TRUE), expect_error(pulls(two), class = "dpts_error_callback"))
  expect_equal(sum(pulls(two)$pulls), 2)
  agent_close(one)
  agent_close(two)
})

test_that("a policy in R runs, and its mistakes are told", {
  agent <- dpts_agent(greedy_policy(), 3, use = "arrival")
  play_rounds(agent, 40, c(0.1, 0.5, 0.9))
  expect_equal(sum(pulls(agent)$pulls), 40)
  expect_true(all(is.na(estimates(agent)$mean)))
  expect_equal(unique(dpts_privacy(agent)$epsilon), Inf)
  # R's own generator is left alone.
  set.seed(3)
  before <- .Random.seed
  agent_choose(agent)
  expect_identical(.Random.seed, before)
  broken <- greedy_policy()
  broken$choose <- function(state, round) 7
  agent <- dpts_agent(broken, 3, use = "arrival")
  expect_error(agent_choose(agent), "\"greedy\" failed in round 1.*1, 2 or 3, not 7",
               class = "dpts_error_callback")
  broken$choose <- function(state, round) stop("no idea")
  agent <- dpts_agent(broken, 3, use = "arrival")
  expect_error(agent_choose(agent), "`choose\\(\\)` of policy \"greedy\" failed in round 1.*no idea",
               class = "dpts_error_callback")
  expect_equal(nrow(dpts_history(agent)), 0)
})

test_that("contexts reach policies in C and in R, also with late rewards", {
  agent <- dpts_agent(policy_linucb(), 2, use = "arrival", dim = 3)
  x <- agent_choose(agent, 4, context = matrix(runif(12), 4))
  agent_reward(agent, rev(x$ticket), 0.5)
  agent_choose(agent, context = c(1, 0, 0))
  expect_error(agent_choose(agent), "`context`", class = "dpts_error_input")
  expect_error(agent_choose(agent, context = 1:2), "3 numbers", class = "dpts_error_input")
  expect_error(agent_choose(agent, 3, context = matrix(1, 2, 3)), "3 rows", class = "dpts_error_input")
  expect_error(agent_choose(agent, context = c(1, NA, 2)), class = "dpts_error_input")
  seen <- greedy_policy()
  seen$update <- function(state, feedback) c(state, list(feedback$context))
  seen$choose <- function(state, round) 1
  agent <- dpts_agent(seen, 2, use = "arrival")
  x <- agent_choose(agent, 3, context = data.frame(age = c(30, 40, 50)))
  agent_reward(agent, x$ticket[2], 1)
  # Each reward is learned with the context of its own choice, also late.
  each_database(function(store) {
    agent <- dpts_agent(seen, 2, store, use = "arrival")
    x <- agent_choose(agent, 2, context = rbind(c(1, pi), c(0, -7)))
    agent_choose(agent, context = c(5, 5))
    agent_reward(agent, rev(x$ticket), 1)
    expect_identical(unname(utils::tail(session_save(agent$session)$state, 2)), list(c(0, -7), c(1, pi)))
    agent_close(agent)
  })
  expect_error(agent_choose(dpts_agent(batch_policy(), 2, use = "arrival"), context = 1),
               "has no contexts", class = "dpts_error_input")
})

test_that("bad input is named", {
  bad <- function(...) expect_error(dpts_agent(...), class = "dpts_error_input")
  bad("ucb1", 2, use = "arrival")
  bad(policy_ucb1(), c("a", "a"), use = "arrival")
  bad(policy_ucb1(), character(), use = "arrival")
  bad(policy_ucb1(), 2) # a deadline is needed
  bad(policy_ucb1(), 2, use = "deadline", deadline = 3600)
  bad(policy_ucb1(), 2, use = "deadline", deadline = hours(-1))
  bad(policy_ucb1(), 2, use = "arrival", missing = 2)
  bad(policy_ucb1(), 2, use = "arrival", max_per_person = 0)
  bad(policy_ucb1(), 2, use = "arrival", keep_rewards = NA)
  for (store in list(7, "", NA_character_, c("a", "b"))) bad(policy_ucb1(), 2, store, use = "arrival")
  bad(policy_ucb1(), 2, use = "arrival", name = 1)
  bad(policy_ucb1(), 2, use = "arrival", sticky = NA)
  bad(policy_ucb1(), 2, use = "never")
  bad(policy_linucb(), 2, use = "arrival", dim = 0)
  bad(policy_ucb1(), 1e6 + 1, use = "arrival")
  bad(policy_ucb1(), 2, use = "arrival", horizon = 0)
  if (rlang::is_installed(c("DBI", "RSQLite")))
    bad(policy_ucb1(), 2, "/no/such/folder/x.sqlite", use = "arrival")
  bad(policy_ucb1(), 2, use = "arrival", budget = privacy_gdp(1))
  bad(policy_gaussian_imed(2), 2, use = "arrival", budget = privacy_gdp(1))
  bad(policy_gaussian_imed(1), 2, use = "arrival", budget = privacy_gdp(1), max_per_person = 2)
  bad(policy_mt_ucb(1), 2, use = "arrival") # needs a horizon
  bad(policy_ts_gaussian(), 2, use = "arrival")
  if (rlang::is_installed(c("DBI", "RSQLite")))
    expect_error(agent_open("/no/such/file.sqlite"), class = "dpts_error_input")
  expect_error(agent_open(NULL), class = "dpts_error_input")
  expect_error(agent_choose("agent"), class = "dpts_error_input")
  agent <- dpts_agent(policy_ts_gaussian(), 2, horizon = 3, use = "arrival",
                      budget = privacy_approx(10, 1e-2))
  agent_choose(agent, 3)
  ticket <- dpts_history(agent)$ticket[1]
  for (reward in list(-0.1, 1.1, NA_real_, NaN, "1", NULL, c(0, 1))) {
    expect_error(agent_reward(agent, ticket, reward), class = "dpts_error_input")
  }
  expect_error(agent_reward(agent, 7, 1), class = "dpts_error_input")
  expect_error(agent_reward(agent, 1, ticket), "in the other order", class = "dpts_error_input")
  expect_error(agent_reward(agent, rep(ticket, 3), c(0, 1)), class = "dpts_error_input")
  expect_error(agent_choose(dpts_agent(policy_uniform(), 12, use = "arrival"), offer = 13), class = "dpts_error_input")
  expect_error(agent_choose(dpts_agent(policy_uniform(), 2, use = "arrival", sticky = TRUE), 2, person = "Ada"), "2 strings",
               class = "dpts_error_input")
  expect_error(agent_reward(agent), "`ticket` is absent", class = "dpts_error_input")
  expect_error(dpts_history(agent, n = 0), "`n`", class = "dpts_error_input")
})

test_that("every policy that may run live does, through many releases", {
  policies <- list(
    policy_uniform(), policy_ucb1(), policy_ts_beta(), policy_ts_gaussian(5), policy_mt_ucb(1),
    policy_mt_ts(1), policy_mt_ucb(0.7, tuned = TRUE),
    policy_dp_ts(0.3), policy_lazy_dp_ts(0.3), policy_dp_se(0.7), policy_dp_se(0.7, beta = 0.1),
    policy_lazy_ucb(0.1), policy_adap_ucb(1 / 3), policy_adap_klucb(0.7), policy_dp_klucb(0.3),
    policy_dp_imed(0.123), policy_dp_ucb_bound(1), policy_dp_ucb_int(0.9), policy_adac_ucb(0.3),
    policy_lazy_gaussian_ts(0.7), policy_gaussian_imed(0.3),
    policy_dp_ts_ucb(0.5), policy_imed(), policy_klucb()
  )
  covered <- logical()
  for (policy in policies) {
    agent <- dpts_agent(policy, 3, horizon = 1000, use = "arrival")
    for (i in 1:2) {
      x <- agent_choose(agent, 70)
      agent_reward(agent, x$ticket, runif(70) * c(0.2, 0.5, 0.8)[x$arm])
    }
    expect_equal(sum(pulls(agent)$pulls), 140)
    seen <- estimates(agent)
    told <- is_true_of(policy, "releases") && is_true_of(policy, "reports")
    expect_identical(!anyNA(seen$releases), told, label = format(policy))
    if (agent$releases) expect_gt(min(seen$releases), 0)
    known <- which(seen$rewards > 0)
    expect_true(all(seen$lower[known] <= seen$mean[known] & seen$mean[known] <= seen$upper[known]))
    # Rewards are uniform up to twice these. Arms and noise are live: no interval at 1e-11 may miss, and at
    # 95% few.
    covers <- function(seen) (seen$lower < c(0.2, 0.5, 0.8) / 2 & seen$upper > c(0.2, 0.5, 0.8) / 2)[known]
    expect_true(all(covers(estimates(agent, level = 1 - 1e-11))))
    covered <- c(covered, covers(seen))
  }
  expect_lte(sum(!covered), stats::qbinom(1e-10, length(covered), 0.05, lower.tail = FALSE))
})

test_that("each look is as of its own time, though nothing is written in between", {
  skip_if_not_installed("RSQLite")
  turn <- test_clock()
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_randomised(mu = 1, block = 5), c("a", "b"), file, use = "deadline",
                      deadline = as.difftime(10, units = "secs"))
  for (i in 1:4) {
    agent_reward(agent, agent_choose(agent, 5)$ticket, c(1, 0, 1, 1, 0))
    turn(2)
  }
  rows <- vapply(1:8, function(i) {
    turn(1)
    other <- agent_open(file)
    on.exit(agent_close(other))
    expect_identical(dpts_releases(agent), dpts_releases(other))
    nrow(dpts_releases(agent))
  }, 0L)
  expect_identical(length(unique(rows)), 4L) # the four deadlines pass one after the other
  agent_close(agent)
})

test_that("prints, summaries and plots", {
  withr::local_options(width = 80)
  agent <- dpts_agent(batch_policy(), c("a", "b"), use = "arrival", horizon = 1000)
  expect_match(ggplot2::get_alt_text(autoplot(agent)), "no arm was chosen")
  expect_identical(format(summary(agent)$share), c("NA", "NA"))
  drawn <- function(agent) class(autoplot(agent)$layers[[1]]$geom)[1]
  one <- dpts_agent(batch_policy(), c("a", "b"), use = "arrival")
  agent_choose(one)
  expect_identical(drawn(one), "GeomPoint") # of one point there is no line
  agent_choose(one)
  expect_identical(drawn(one), "GeomLine")
  withr::with_seed(1, play_rounds(agent, 100, c(0.2, 0.8)))
  expect_output(print(agent), "1-GDP for a reward")
  expect_output(print(agent), "100 of 1,000, 0 outstanding")
  for (level in 0:1) expect_error(summary(agent, level = level), "`level`", class = "dpts_error_input")
  s <- summary(agent)
  expect_named(s, c("arm", "pulls", "share", "outstanding", "rewards", "releases", "mean", "lower",
                    "upper"))
  expect_equal(sum(s$share), 1)
  plot <- autoplot(agent)
  expect_identical(ggplot2::get_alt_text(plot), sprintf(
    "Share of each arm among the choices so far, against rounds; after 100: a %.0f%%; b %.0f%%.", 100 * s$share[1], 100 * s$share[2]))
  expect_identical(unname(unlist(plot$labels[c("x", "y")])), c("Round", "Share of choices so far"))
  expect_identical(plot$scales$get_scales("y")$limits, c(0, 1))
  expect_identical(plot$scales$get_scales("y")$labels(c(0, 0.5)), c("0%", "50%"))
  expect_identical(plot$scales$get_scales("x")$labels(2000), label_count(2000))
  for (what in c("colour", "linetype")) expect_length(unique(ggplot2::layer_data(plot, 1)[[what]]), 2)
  shares <- plot$data
  expect_equal(as.numeric(tapply(shares$share, shares$t, sum)), rep(1, 100))
  expect_equal(shares$share[shares$t == 100], s$share)
  plot <- autoplot(agent, what = "estimates")
  expect_equal(as.character(plot$data$arm), c("a", "b"))
  expect_match(gsub("\n", " ", plot$labels$caption), "holds at all times")
  agent_close(agent)
  expect_output(print(agent), "closed")
  # Ten arms are listed, and the others counted.
  last <- function(k) utils::tail(format(dpts_agent(policy_imed(), k, use = "arrival")), 1)
  expect_identical(c(last(10), last(11), last(13)), c("  10 0", "  and 1 more arm", "  and 3 more arms"))
})

test_that("each line of a print says what is so", {
  turn <- test_clock()
  lines <- function(agent) trimws(format(agent)[-1])
  said <- function(what, ...) {
    agent <- dpts_agent(...)
    sub("^[a-z]+: +", "", grep(paste0("^", what), lines(agent), value = TRUE))
  }
  # What is protected is said once, by the guarantee itself where it is more than a reward.
  whose <- function(policy, ...) said("guarantee", policy, 2, use = "arrival", ...)
  expect_identical(whose(policy_randomised(mu = 1)), "1-GDP for a reward")
  expect_identical(whose(policy_local(policy_imed(), 1)), "1-DP for a reward")
  expect_identical(whose(policy_linucb(mu = 1, norm = 1), dim = 2), "1-joint-GDP for rewards and contexts")
  expect_identical(whose(policy_linucb(mu = 1, norm = 1, contexts = "public"), dim = 2), "1-GDP for rewards (contexts public)")
  predicted <- function(...) policy_randomised(mu = 1, outcome = "continuous", predicted = c(0, 1), ...)
  expect_identical(whose(predicted()), "1-GDP for rewards and predictions")
  expect_identical(whose(predicted(protect = "reward")), "1-GDP for rewards (predictions public)")
  expect_identical(whose(policy_imed()), "none")
  with_harm <- function(...) list(deadline = hours(1), outcomes = list(harm = agent_outcome(...)))
  expect_identical(do.call(whose, c(list(policy_randomised(mu = 0.3)), with_harm(mu = 0.4))), "0.5-GDP for a reward")
  expect_identical(do.call(whose, c(list(policy_randomised(epsilon = 0.3)), with_harm(epsilon = 0.4))), "0.7-DP for a reward")
  expect_identical(do.call(whose, c(list(policy_randomised(epsilon = 0.3), max_per_person = 1), with_harm(mu = 0.4))), "0.3-DP + 0.4-GDP")
  rewards <- function(...) said("rewards", batch_policy(), 2, ...)
  expect_identical(rewards(use = "arrival"), "used on arrival, waited for without limit")
  expect_identical(rewards(use = "arrival", deadline = hours(2), missing = 0.3), "used on arrival, missing counts 0.3 after 2 hours")
  expect_identical(rewards(deadline = hours(48), range = c(-4, 4)), "used at the deadline of 2 days, missing counts -4")
  ended <- function(policy, then, ...) {
    agent <- dpts_agent(policy, c("old", "new"), use = "arrival", ...)
    if (is.null(agent$terms$dim)) agent_choose(agent, 9, offer = "new")
    agent_finish(agent, then)
    sub("^end: +", "", grep("^end:", lines(agent), value = TRUE))
  }
  expect_identical(ended(policy_imed(), "verdict"), "goes on with new")
  expect_identical(ended(policy_imed(), "end"), "chooses no more; the winner was new")
  expect_identical(ended(policy_linucb(), "verdict", dim = 2), "goes on with what it has learned")
  expect_identical(ended(policy_linucb(), "end", dim = 2), "chooses no more")
  agent <- dpts_agent(policy_randomised(mu = 1), c("a", "b", "c"), deadline = hours(48), window = hours(24), max_per_person = 3,
                      horizon = 2000, name = "Trial", strata = c("north", "south"), outcomes = list(
                        harm = agent_outcome(missing = 1, deadline = hours(72)), cost = agent_outcome(mu = 0.5, range = c(0, 10))))
  agent_choose(agent, 2, person = c("Ada", "Bob"), stratum = "north", offer = "a")
  agent_arms(agent, retire = "b", pause = "c")
  expect_identical(format(agent), c(
    "<agent> Trial: randomised in memory",
    "  guarantee: none", # one outcome is without noise
    "             3 rewards of a person used at most, one in 1 day",
    "  rewards:   used at the deadline of 2 days, missing counts 0",
    "  strata:    north and south",
    "  outcomes:  harm, without noise, from 0 to 1, missing counts 1 after 3 days",
    "             cost, 0.5-GDP, from 0 to 10, missing counts 0 after 2 days",
    "  rounds:    2 of 2,000, 2 outstanding", "  a 2", "  b 0, retired", "  c 0, paused"))
})

test_that("TRUE and FALSE are rewards of 1 and 0, NA is none", {
  agent <- dpts_agent(policy_gaussian_imed(1), c("a", "b"), use = "arrival")
  tickets <- agent_choose(agent, n = 3)$ticket
  expect_identical(agent_reward(agent, tickets[1:2], c(TRUE, FALSE))$status, c("used", "used"))
  expect_identical(agent_reward(agent, tickets[1:2], c(1, 0))$status, c("known", "known"))
  expect_error(agent_reward(agent, tickets[3], NA), "numbers in \\[0, 1\\]",
               class = "dpts_error_input")
})

test_that("a report at just the deadline is late, as an answer in a plan (test-plan-time.R), and one before is not", {
  for (use in c("arrival", "deadline")) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(block = 5), 2, use = use, deadline = hours(1), outcomes = list(
      harm = agent_outcome(deadline = hours(2), missing = 1)))
    ticket <- agent_choose(agent, 2)$ticket
    turn(3599)
    expect_identical(agent_reward(agent, ticket[1], 1)$status, c(arrival = "used", deadline = "waiting")[[use]])
    turn(1)
    expect_identical(agent_reward(agent, ticket[2], 1)$status, "late")
    turn(3599)
    expect_identical(agent_reward(agent, ticket[1], 0, outcome = "harm")$status, "waiting")
    turn(1)
    expect_identical(agent_reward(agent, ticket[2], 0, outcome = "harm")$status, "late")
  }
})
