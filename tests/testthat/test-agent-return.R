# Tickets that are given back: a model of blocks, enumeration of permuted blocks, restarts, errors

skip_if_not_installed("RSQLite")

# Noise of this mu is too small to see.
sure_agent <- function(..., k = 2, use = "arrival", path = NULL) {
  dpts_agent(policy_randomised(mu = 1e7, ...), k, path, use = use)
}

sums_of <- function(agent) {
  rows <- dpts_releases(agent)
  rows[rows$terms > 0, ]
}

# Rows of the release table as the model's: arm, people, sum
released <- function(agent) {
  rows <- sums_of(agent)
  data.frame(arm = as.integer(rows$arm), n = rows$n, sum = round(rows$sum, 4))
}

test_that("sums are those of the people who stay, over two open blocks and a restart", {
  path <- withr::local_tempfile(fileext = ".sqlite")
  for (life in 1:2) {
    unlink(path)
    agent <- sure_agent(block = 5, rule = "equal", path = path)
    first <- agent_choose(agent, 13, key = "first") # blocks of 5, 5 and 3 so far
    agent_return(agent, first$ticket[8:13]) # of the second block two stay, of the third nobody
    agent_close(agent)
    agent <- agent_open(path) # looks whether tables and state agree
    second <- agent_choose(agent, 6) # five in the third block, one in the fourth
    stay <- data.frame(block = rep(1:3, c(5, 2, 5)), arm = as.integer(c(first$arm[1:7], second$arm[1:5])),
                       reward = (1:12) / 16)
    tickets <- c(first$ticket[1:7], second$ticket[1:5])
    for (i in c(7, 12, 1, 6, 3, 8, 2, 4, 5, 11, 10, 9)) agent_reward(agent, tickets[i], stay$reward[i])
    model <- do.call(rbind, lapply(split(stay, stay$block), function(b) {
      data.frame(arm = 1:2, n = tabulate(b$arm, 2), sum = c(sum(b$reward[b$arm == 1]), sum(b$reward[b$arm == 2])))
    }))
    expect_equal(released(agent), model, tolerance = 1e-3, ignore_attr = TRUE)
    expect_equal(sum(pulls(agent)$outstanding), 1)
    expect_equal(sum(pulls(agent)$pulls), 19) # rounds stay counted
    expect_equal(dpts_history(agent)$status[8:13], rep("returned", 6))
    agent_close(agent)
  }
})

test_that("a block that is complete without them is released at once, with its own noise, and the guarantee stays", {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 5), 2, use = "arrival")
  five <- agent_choose(agent, 5, key = "a")
  before <- dpts_privacy(agent, delta = 1e-6)$epsilon
  agent_reward(agent, five$ticket[1:4], c(1, 0, 1, 1))
  expect_equal(nrow(sums_of(agent)), 0)
  agent_return(agent, five$ticket[5])
  rows <- sums_of(agent)
  expect_equal(rows$n, tabulate(five$arm[1:4], 2))
  expect_equal(rows$scale, c(1, 1), tolerance = 1e-3) # 1 / mu, as of a block of which all stay
  expect_equal(dpts_privacy(agent, delta = 1e-6)$epsilon, before)
  expect_equal(agent_reward(agent, five$ticket[5], 1)$status, "late")
  expect_equal(nrow(sums_of(agent)), 2)
})

test_that("at the end the sums of an open block are whole if all who stay in it have answered", {
  for (out in 0:1) {
    path <- withr::local_tempfile(fileext = ".sqlite")
    agent <- sure_agent(block = 10, rule = "equal", path = path)
    x <- agent_choose(agent, 18, key = "a")
    agent_return(agent, x$ticket[16:18])
    agent_close(agent)
    agent <- agent_open(path)
    agent_reward(agent, x$ticket[seq_len(15 - out)], 1)
    agent_finish(agent, "verdict")
    rows <- sums_of(agent)
    expect_identical(rows$whole, rep(c(TRUE, out == 0), each = 2))
    expect_equal(sum(rows$n), 15 - out)
    agent_close(agent)
  }
})

test_that("in a permuted block those who come after have the probabilities of a block that never had them", {
  # Enumeration: of 3 and 3 people, with those who stay known, the next gets arm 1 with its share of what is left.
  for (i in 1:10) {
    agent <- sure_agent(block = 6, rule = "equal", permuted = TRUE)
    five <- agent_choose(agent, 5, key = "a")
    stay <- i %% 5
    agent_return(agent, five$ticket[(stay + 1):5])
    n <- tabulate(five$arm[seq_len(stay)], 2)
    while (sum(n) < 6) {
      one <- agent_choose(agent)
      arm <- as.integer(one$arm)
      expect_equal(one$probability, (3 - n[arm]) / (6 - sum(n)))
      n[arm] <- n[arm] + 1
    }
    expect_equal(n, c(3, 3))
  }
})

test_that("strata have blocks of their own", {
  agent <- dpts_agent(policy_randomised(mu = 1e7, block = 5), 2, use = "arrival", strata = c("x", "y"))
  nine <- agent_choose(agent, 9, key = "a", stratum = rep(c("x", "y"), length.out = 9)) # five of x, four of y
  agent_reward(agent, nine$ticket[1:2], c(0.25, 0.75))
  agent_return(agent, nine$ticket[3:9])
  agent_choose(agent, 5, stratum = "y") # the fifth is of the next block
  agent_reward(agent, agent_choose(agent, 1, stratum = "x")$ticket, 0)
  expect_equal(sum(released(agent)$n), 1) # x had its block full once, y takes people into its open one
  expect_equal(nrow(sums_of(agent)), 2)
  expect_equal(sort(released(agent)$sum), c(0, 0.25), tolerance = 1e-3)
})

test_that("only the last tickets of a call are taken, without reports, once", {
  agent <- sure_agent(block = 10, use = "arrival")
  call <- agent_choose(agent, 5, key = "a")
  other <- agent_choose(agent, 2, key = "b")
  bare <- agent_choose(agent, 2)
  refused <- function(tickets, words) {
    error <- expect_error(agent_return(agent, tickets), class = "dpts_error_input")
    expect_match(conditionMessage(error), words)
    expect_equal(sum(pulls(agent)$outstanding), 9 - done)
  }
  done <- 0
  refused(call$ticket[4], "last tickets")
  refused(call$ticket[c(3, 5)], "last tickets")
  refused(c(call$ticket[5], other$ticket[2]), "one call")
  refused(bare$ticket[2], "key")
  refused("x", "of this agent")
  two <- paste(call$ticket[4:5], collapse = "\",\"") # which are no two tickets, whatever a database makes of it
  for (odd in c(two, "a\"b", "a\\b", "\n", "\001", "\\u0000", "\xff")) refused(c(call$ticket[5], odd), "of this agent")
  refused(character(), "strings")
  refused(NA_character_, "strings")
  expect_identical(withVisible(agent_return(agent, call$ticket[c(5, 5)])), list(value = agent, visible = FALSE))
  agent_return(agent, call$ticket[4:5]) # whoever got no answer asks again, with more
  done <- 2
  agent_reward(agent, call$ticket[3], 1)
  done <- 3
  refused(call$ticket[3:5], "no report")
  expect_error(agent_choose(agent, 5, key = "a"), class = "dpts_error_key")
  expect_identical(agent_choose(agent, 2, key = "b"), other)
  expect_equal(sum(agent_journal(agent)$kind == "return"), 2)
  one <- agent_choose(agent, key = "c")$ticket # which is remembered
  agent_return(agent, one)
  expect_identical(agent_reward(agent, one, 1)$status, "late")
  agent_arms(agent, pause = levels(call$arm)[-1])
  expect_error(agent_return(agent, agent_choose(agent, key = "d")$ticket), "is in no block", class = "dpts_error_input")
  agent_finish(agent)
  expect_error(agent_return(agent, other$ticket), class = "dpts_error_ended")
})

test_that("other outcomes are released for those who stay, in every store and over a restart", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(block = 5), 2, store, deadline = hours(1),
                        outcomes = list(harm = agent_outcome(deadline = hours(2), missing = 1)))
    first <- agent_choose(agent, 12, key = "a") # blocks of 5, 5 and 2 so far
    harm <- c(0, 1, 0, NA, 1, NA, 0)
    told <- which(!is.na(harm))
    agent_reward(agent, first$ticket[told], harm[told], outcome = "harm")
    agent_reward(agent, first$ticket[1:6], 0.5)
    second <- agent_choose(agent, 9, key = "b") # three in the third block, five in the fourth, one in the fifth
    expect_equal(agent_reward(agent, second$ticket[9], 1, outcome = "harm")$status, "waiting")
    agent_return(agent, first$ticket[8:12]) # three of the second block, and two of the third
    expect_equal(agent_reward(agent, first$ticket[8], 1, outcome = "harm")$status, "late")
    expect_equal(agent_reward(agent, first$ticket[8], 1)$status, "late")
    third <- agent_choose(agent, 10, key = "c") # four fill the fifth block, five are the sixth, one opens the seventh
    agent_return(agent, third$ticket[5:10]) # nobody is left in the sixth, nor in the seventh, which takes people
    if (is.character(store)) {
      agent_close(agent)
      agent <- agent_open(store)
    }
    after <- agent_choose(agent, 5) # the seventh
    agent_reward(agent, after$ticket[1:3], 0, outcome = "harm")
    turn(7201)
    people <- data.frame(block = rep(1:6, c(5, 2, 3, 5, 5, 5)),
                         arm = as.integer(c(first$arm[1:7], second$arm, third$arm[1:4], after$arm)),
                         harm = replace(rep(1, 25), c(1, 3, 7, 21:23), 0)) # a missing one is 1
    rows <- dpts_releases(agent)
    rows <- rows[rows$outcome == "harm" & !is.na(rows$block), ]
    found <- data.frame(arm = as.integer(rows$arm), n = rows$n, sum = rows$sum)
    model <- do.call(rbind, lapply(split(people, people$block), function(b) {
      data.frame(arm = 1:2, n = tabulate(b$arm, 2), sum = c(sum(b$harm[b$arm == 1]), sum(b$harm[b$arm == 2])))
    }))
    expect_equal(found, model, ignore_attr = TRUE)
    agent_close(agent)
  })
})

test_that("a report that is protected is taken back with its ticket, and nobody is told that there was one", {
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(block = 5), 2, store, deadline = hours(1),
                        outcomes = list(harm = agent_outcome(), cost = agent_outcome(deadline = hours(9))))
    x <- agent_choose(agent, 15, key = "a")$ticket
    agent_reward(agent, x[1:14], 1)
    for (name in c("harm", "cost")) agent_reward(agent, x[c(1, 3, 12)], 1, outcome = name)
    said <- agent_return(agent, x[3:15]) # three of the first block, and the others, which are gone
    expect_identical(said, agent)
    expect_identical(dpts_history(agent)$status, rep(c("open", "returned"), c(2, 13)))
    kept <- agent$store$tables()
    expect_identical(kept$dpts_ticket$reward, rep(c(1, NA), c(2, 13)))
    known <- !is.na(kept$dpts_outcome$reward)
    expect_identical(kept$dpts_outcome$ticket[known], rep(x[1], 2))
    expect_setequal(kept$dpts_outcome$ticket[!known], x[3:5]) # of the block that stays
    for (name in c("reward", "harm", "cost")) expect_identical(agent_reward(agent, x[c(3, 12)], 0, outcome = name)$status, c("late", "late"))
    turn(9 * 3600)
    rows <- dpts_releases(agent)
    rows <- aggregate(cbind(n, sum) ~ outcome, rows[rows$terms > 0, ], sum)
    expect_identical(as.list(rows[c("n", "sum")]), list(n = c(2, 2, 2), sum = c(2, 1, 1)))
    expect_length(agent$store$tables()$dpts_outcome$ticket, 0)
    agent_close(agent)
  })
  # A reward that came is not protected with `use = "arrival"`, and another outcome is.
  agent <- dpts_agent(policy_randomised(block = 5), 2, deadline = hours(1), use = "arrival", outcomes = list(harm = agent_outcome()))
  x <- agent_choose(agent, 3, key = "a")$ticket
  agent_reward(agent, x[3], 1, outcome = "harm")
  agent_return(agent, x[3])
  agent_reward(agent, x[2], 1)
  expect_error(agent_return(agent, x[2:3]), "no report", class = "dpts_error_input")
})

test_that("agents for which it is not exact say why", {
  refused <- function(policy, why, ...) {
    expect_error(agent_return(dpts_agent(policy, 2, use = "arrival", ...), "x"), why, class = "dpts_error_input")
  }
  refused(batch_policy(), "policy \"gaussian_imed\" may rest later choices on them, and only `policy_randomised\\(\\)`")
  refused(policy_top_two(1), "policy \"top_two\" may rest later")
  refused(policy_ucb1(), "policy \"ucb1\" may rest later")
  refused(policy_restart(policy_randomised(mu = 1, block = 5), every = 20), "may rest later")
  refused(policy_randomised(mu = 1, block = 5), "each is of a person \\(`max_per_person`\\)", max_per_person = 2)
})

test_that("with a deadline what is returned does not count as missing", {
  pass <- test_clock()
  agent <- dpts_agent(policy_randomised(mu = 1e7, block = 5), 2, use = "deadline", deadline = hours(1), missing = 0)
  five <- agent_choose(agent, 5, key = "a")
  agent_reward(agent, five$ticket[1:2], c(1, 1))
  agent_return(agent, five$ticket[3:5])
  expect_identical(dpts_history(agent)$status, rep(c("open", "returned"), c(2, 3)))
  pass(3601)
  expect_identical(dpts_history(agent)$status, rep(c("resolved", "returned"), c(2, 3)))
  expect_equal(sum(released(agent)$n), 2)
  expect_equal(sum(released(agent)$sum), 2, tolerance = 1e-3)
  late <- agent_choose(agent, 2, key = "b")
  pass(3601)
  expect_error(agent_return(agent, late$ticket), "must have no deadline that is past", class = "dpts_error_input")
})
