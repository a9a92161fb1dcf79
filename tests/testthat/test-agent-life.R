# The end of an agent, and arms that come and go

# So little noise that sums can be read
clear_policy <- function(first = 100) policy_gaussian_imed(1e5, first = first)

test_that("agent_finish() releases what is open, once, and forgets every reward, in every store", {
  each_store(function(store) {
    agent <- dpts_agent(clear_policy(), c("a", "b"), store, use = "arrival")
    x <- agent_choose(agent, 60, offer = "a")
    y <- agent_choose(agent, 30, offer = "b")
    agent_reward(agent, x$ticket[1:50], 0.5)
    agent_reward(agent, y$ticket, 0.75)
    expect_equal(estimates(agent)$releases, c(0, 0))
    agent_finish(agent, "verdict")
    e <- estimates(agent)
    expect_equal(e$rewards, c(50, 30)) # what has come
    expect_equal(e$mean, c(0.5, 0.75), tolerance = 1e-4)
    expect_equal(agent$store$count("release"), 2)
    expect_true(all(is.na(agent$store$tickets(c(x$ticket, y$ticket))$reward)))
    expect_equal(pulls(agent)$outstanding, c(0, 0))
    # Everyone now gets the winner; nothing more is learned, or released.
    more <- agent_choose(agent, 3)
    expect_equal(as.character(more$arm), rep("b", 3))
    expect_true(all(is.na(more$t)) && all(is.na(more$probability)))
    expect_equal(as.character(agent_choose(agent, offer = "a")$arm), "a")
    expect_equal(agent_reward(agent, c(more$ticket[1], x$ticket[c(1, 60)]), 1)$status, c("late", "known", "late"))
    expect_output(print(agent), "end: +goes on with b")
    agent_finish(agent)
    expect_error(agent_choose(agent), "agent_finish.*verdict", class = "dpts_error_ended")
    agent_finish(agent, "verdict")
    expect_equal(as.character(agent_choose(agent)$arm), "b")
    expect_identical(estimates(agent), e)
    expect_equal(agent$store$count("release"), 2)
    expect_equal(dpts_privacy(agent, delta = 1e-6)$spent, dpts_privacy(agent, delta = 1e-6)$epsilon)
    if (is.character(store)) { # another process knows
      agent_close(agent)
      agent <- agent_open(store)
      expect_equal(as.character(agent_choose(agent)$arm), "b")
    }
    agent_close(agent)
  })
})

test_that("at the end a reward before its deadline is not used, and whether there was one is forgotten", {
  each_store(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(clear_policy(), 1, store, use = "deadline", deadline = hours(1))
    old <- agent_choose(agent, 10)$ticket
    agent_reward(agent, old[1:5], 1)
    turn(1800)
    new <- agent_choose(agent, 10)$ticket
    agent_reward(agent, new[1:5], 1)
    turn(1801)
    agent_finish(agent)
    expect_equal(estimates(agent)$rewards, 10)
    expect_equal(estimates(agent)$mean, 0.5, tolerance = 1e-4)
    rows <- agent$store$tickets(c(old, new))
    expect_true(all(is.na(rows$reward)) && all(rows$status == dpts:::TICKET[["done"]]))
    expect_equal(unique(dpts_history(agent)$status), "resolved")
    expect_equal(agent_reward(agent, c(old[1], new[c(1, 9)]), 1)$status, rep("late", 3))
    agent_close(agent)
  })
})

test_that("at the horizon the agent ends by itself, and what is open is released once all is resolved", {
  each_store(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(clear_policy(20), c("a", "b"), store, use = "deadline", deadline = hours(1), horizon = 30)
    x <- agent_choose(agent, 40)
    expect_equal(x$t, c(1:30, rep(NA, 10)))
    agent_reward(agent, x$ticket[1:30], ifelse(x$arm[1:30] == "b", 1, 0.5))
    expect_true(is.na(agent_choose(agent)$t))
    expect_equal(sum(estimates(agent)$rewards), 0)
    turn(3601)
    expect_equal(estimates(agent)$rewards, c(20, 10))
    expect_equal(estimates(agent)$mean, c(0.5, 1), tolerance = 1e-4)
    expect_equal(as.character(agent_choose(agent, 2)$arm), c("b", "b"))
    expect_equal(agent$store$count("finish"), 1)
    expect_true(all(is.na(agent$store$tickets(x$ticket)$reward)))
    agent_close(agent)
  })
})

test_that("what a policy without sums ends with is the arm chosen most, and keep_rewards keeps those that were used", {
  agent <- dpts_agent(policy_ts_gaussian(0), c("a", "b", "c"), use = "arrival", horizon = 40, keep_rewards = TRUE)
  x <- agent_choose(agent, 20, offer = "c")
  agent_reward(agent, x$ticket[1:10], 1)
  agent_choose(agent, 1, offer = "a")
  agent_finish(agent, "verdict")
  expect_equal(as.character(agent_choose(agent)$arm), "c")
  expect_equal(agent$store$tickets(x$ticket)$reward, rep(c(1, NA), each = 10))
  # One that was restored beyond its budget releases nothing at its end.
  agent <- dpts_agent(clear_policy(), 2, use = "arrival", budget = privacy_gdp(1.2e5))
  agent_reward(agent, agent_choose(agent, 5)$ticket, 1)
  agent_restored(agent)
  agent_finish(agent)
  expect_equal(estimates(agent)$rewards, c(0, 0))
  expect_equal(agent$store$count("release"), 0)
  expect_error(agent_finish(agent, "now"), "`then`", class = "dpts_error_input")
})

test_that("a policy that tosses says with which chance, in choices and in the history, in every store", {
  each_store(function(store) {
    agent <- dpts_agent(policy_randomised(mu = 1, block = 10), c("a", "b", "c"), store, use = "arrival")
    x <- agent_choose(agent, 4, key = "first")
    y <- agent_choose(agent, offer = c("a", "b"))
    expect_equal(x$probability, rep(1 / 3, 4))
    expect_equal(y$probability, 1 / 2)
    expect_equal(dpts_history(agent)$probability, c(x$probability, y$probability))
    expect_equal(agent_choose(agent, 4, key = "first"), x)
    agent_close(agent)
  })
  expect_true(is.na(agent_choose(dpts_agent(policy_ucb1(), 2, use = "arrival"))$probability))
})
