# The end of an agent, and arms that come and go

skip_on_cran() # takes seconds

# So little noise that sums can be read
clear_policy <- function(first = 100) policy_gaussian_imed(1e5, first = first)

test_that("agent_finish() releases what is open, once, and forgets every reward, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(clear_policy(), c("a", "b"), store, use = "arrival")
    x <- agent_choose(agent, 60, offer = "a")
    y <- agent_choose(agent, 30, offer = "b")
    agent_reward(agent, x$ticket[1:50], 0.5)
    agent_reward(agent, y$ticket, 0.75)
    expect_equal(estimates(agent)$releases, c(0, 0))
    last <- agent_choose(agent, offer = "a")$ticket # whose reward has not come
    agent_finish(agent, "verdict")
    for (reward in c(1, 0)) expect_equal(agent_reward(agent, last, reward)$status, "late")
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
  life <- function(store, keep = FALSE) {
    turn <- test_clock()
    agent <- dpts_agent(clear_policy(), 1, store, use = "deadline", deadline = hours(1), keep_rewards = keep)
    first <- agent_choose(agent, 4)$ticket
    agent_reward(agent, first[1:2], 1)
    turn(600)
    old <- agent_choose(agent, 10)$ticket
    agent_reward(agent, old[1:5], 1)
    turn(1800)
    new <- agent_choose(agent, 10)$ticket
    agent_reward(agent, new[1:5], 1)
    turn(1201)
    pulls(agent) # some deadlines are past before the end, others with it
    turn(600)
    agent_finish(agent)
    expect_equal(estimates(agent)$rewards, 14)
    expect_equal(estimates(agent)$mean, 0.5, tolerance = 1e-4)
    rows <- stored(agent, c(first, old, new))
    said <- if (keep) rep(c("used", "missing", "used", "missing", "done"), c(2, 2, 5, 5, 10)) else rep("done", 24)
    expect_identical(names(dpts:::TICKET)[match(rows$status, dpts:::TICKET)], said)
    expect_identical(rows$reward, ifelse(said == "used", 1, NA_real_))
    expect_equal(unique(dpts_history(agent)$status), "resolved")
    expect_equal(agent_reward(agent, c(old[1], new[c(1, 9)]), 1)$status, rep("late", 3))
    agent_close(agent)
  }
  each_database(life)
  life(NULL, keep = TRUE) # those that were used before are kept then
  # So it is of people who are in no block, whose deadlines pass with the end.
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(policy_randomised(block = 5), c("a", "b"), store, deadline = hours(1))
    tickets <- c(agent_choose(agent, 2)$ticket, agent_choose(agent, 2, offer = "a")$ticket)
    agent_reward(agent, tickets, 1)
    turn(3600)
    commit <- agent$store$commit
    agent$store$commit <- function(changes) { # of two rows for one ticket a database takes either
      expect_false(anyDuplicated(changes$resolved$ticket) > 0)
      commit(changes)
    }
    agent_finish(agent)
    expect_identical(stored(agent, tickets)[c("status", "reward")], list(status = rep(TICKET[["done"]], 4), reward = rep(NA_real_, 4)))
    agent_close(agent)
  })
})

test_that("at the horizon the agent ends by itself, and what is open is released once all is resolved", {
  each_database(function(store) {
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
    expect_equal(vapply(c("end", "finish"), agent$store$count, 0), c(end = 1, finish = 1))
    expect_true(all(is.na(agent$store$tickets(x$ticket)$reward)))
    agent_close(agent)
  })
  # Who does not wait for what is out says so.
  agent <- dpts_agent(clear_policy(20), c("a", "b"), use = "arrival", horizon = 10)
  agent_reward(agent, agent_choose(agent, 10)$ticket[1:6], 1)
  expect_equal(sum(pulls(agent)$outstanding), 4)
  agent_finish(agent, "verdict")
  expect_equal(sum(estimates(agent)$rewards), 6)
  expect_equal(sum(pulls(agent)$outstanding), 0)
})

test_that("what a policy without sums ends with is the arm chosen most, and keep_rewards keeps those that were used", {
  agent <- dpts_agent(policy_ts_gaussian(0), c("a", "b", "c"), use = "arrival", horizon = 40, keep_rewards = TRUE)
  x <- agent_choose(agent, 20, offer = "c")
  agent_reward(agent, x$ticket[1:10], 1)
  agent_choose(agent, 1, offer = "a")
  agent_finish(agent, "verdict")
  expect_equal(as.character(agent_choose(agent)$arm), "c")
  expect_equal(stored(agent, x$ticket)$reward, rep(c(1, NA), each = 10))
  expect_equal(agent$store$count("release"), 0)
  # One that has released something comes before those of which nothing is known, and first the one that the policy proved.
  agent <- dpts_agent(clear_policy(4), c("a", "b"), use = "arrival")
  agent_reward(agent, agent_choose(agent, 4, offer = "a")$ticket, 0.5)
  agent_choose(agent, 9, offer = "b")
  agent_finish(agent, "verdict")
  expect_identical(as.character(agent_choose(agent)$arm), "a")
  # Who cannot have the winner has the best of the others, whichever was chosen most.
  agent <- dpts_agent(clear_policy(4), c("a", "b", "c"), use = "arrival")
  for (arm in 1:3) agent_reward(agent, agent_choose(agent, c(4, 8, 4)[arm], offer = arm)$ticket, c(0.75, 0.5, 1)[arm])
  agent_finish(agent, "verdict")
  expect_identical(as.character(c(agent_choose(agent)$arm, agent_choose(agent, offer = c("a", "b"))$arm)), c("c", "a"))
  proves <- policy_custom("proves", start = function(k, horizon) 0, choose = function(state, round) 1,
                          update = function(state, feedback) state, verdict = function(state) 2)
  agent <- dpts_agent(proves, c("a", "b"), use = "arrival", horizon = 3)
  agent_choose(agent, 3)
  expect_identical(as.character(agent_choose(agent)$arm), "b")
  # Who comes when the last rewards are due has the winner that they make.
  turn <- test_clock()
  late <- dpts_agent(policy_gaussian_imed(mu = 1e6, first = 2), c("a", "b"), horizon = 4, deadline = hours(1), missing = 1, use = "arrival")
  one <- agent_choose(late, 2, offer = "a")
  agent_choose(late, 2, offer = "b")
  agent_reward(late, one$ticket, 0.5)
  expect_identical(as.character(agent_choose(late)$arm), "a")
  turn(3601)
  expect_identical(as.character(agent_choose(late, 2)$arm), c("b", "b"))
  # Where no arm is active, the winner is one of those that are paused, until another one is resumed.
  agent <- dpts_agent(policy_ucb1(), c("a", "b", "c"), use = "arrival")
  for (arm in c("a", "a", "a", "b", "b", "c")) agent_choose(agent, offer = arm)
  agent_arms(agent, retire = "a", pause = c("b", "c"))
  agent_finish(agent, "verdict")
  expect_identical(api_status(agent)$winner, "b")
  agent_arms(agent, resume = "c")
  expect_identical(as.character(agent_choose(agent)$arm), "c")
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
  each_database(function(store) {
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

test_that("a session that has grown is, to the byte, one that had all the arms, of which some were not on offer", {
  makers <- list(
    policy_uniform(), policy_ucb1(), policy_imed(), policy_klucb(), policy_ts_beta(), policy_ts_gaussian(0), policy_ts_gaussian(3),
    policy_ts_gaussian(2, filter = privacy_gdp(1)), policy_dp_ts(0.7), policy_lazy_dp_ts(0.7), policy_lazy_ucb(0.7),
    policy_lazy_gaussian_ts(0.7), policy_dp_imed(0.7, first = 2), policy_dp_imed(0.7, first = 2, index = "likelihood"),
    policy_gaussian_imed(0.7, first = 2), policy_adap_ucb(0.7), policy_dp_ucb_bound(1), policy_dp_ucb_int(0.9),
    policy_restart(policy_gaussian_imed(0.7, first = 2), 37), policy_fixed(2),
    policy_private(policy_ucb1(), mu = 1, batch = 3), policy_forget(window = 60, epsilon = 5),
    policy_forget(discount = 0.97, mu = 5)
  )
  for (k in list(c(3, 5), c(2, 60))) for (policy in makers) {
    small <- live_handle(policy, k[1], 500)
    large <- live_handle(policy, k[2], 500)
    out <- list()
    same <- TRUE
    for (i in 1:90) {
      arm <- sample.int(k[1], 1)
      x <- .Call(C_session_choose, small, arm, NULL)
      same <- same && identical(.Call(C_session_choose, large, arm, NULL)[1:3], x[1:3])
      out[[length(out) + 1]] <- x
      while (length(out) > sample(0:3, 1)) {
        x <- out[[1]]
        out <- out[-1]
        reward <- sample(0:1, 1)
        told <- .Call(C_session_update, small, x[2], as.integer(x[1]), x[3], reward, NULL, NULL)
        .Call(C_session_update, large, x[2], as.integer(x[1]), x[3], reward, NULL, told[, 3])
      }
    }
    grown <- live_handle(policy, k[2], 500)
    .Call(C_session_grow, grown, small)
    same <- same && identical(.Call(C_session_pulls, grown), .Call(C_session_pulls, large)) &&
      identical(.Call(C_session_report, grown), .Call(C_session_report, large)) &&
      (k[2] >= 48 || identical(.Call(C_session_save, grown), .Call(C_session_save, large)))
    for (i in if (!is_true_of(policy, "tosses")) 1:70) { # its trees know no less
      same <- same && identical(.Call(C_session_choose, grown, NULL, NULL), .Call(C_session_choose, large, NULL, NULL))
    }
    expect_true(same, label = format(policy))
  }
  for (policy in list(policy_mt_ts(1), policy_dp_se(1), policy_exp3(), policy_private(policy_exp3(), mu = 1),
                      policy_detect(policy_dp_imed(1)))) {
    expect_error(.Call(C_session_grow, live_handle(policy, 5), live_handle(policy, 3)), "cannot take on arms")
    agent <- dpts_agent(policy, 2, use = "arrival", horizon = 1000)
    expect_error(agent_arms(agent, add = "c"), "cannot take on arms", class = "dpts_error_input")
    expect_equal(agent_choose(agent)$t, 1)
  }
  clipped <- policy_clipped(policy_ucb1(), c(0, 1))
  expect_error(.Call(C_session_grow, live_handle(clipped, 5), live_handle(clipped, 3)), "cannot take on arms")
})

# n rounds of some arms in sessions whose releases are those of the first; the first arm's rewards are 1 and the
# others' 0 -> were all rounds the same?
play_alike <- function(handles, n, arms = NULL) {
  same <- TRUE
  for (i in seq_len(n)) {
    offer <- if (!is.null(arms)) sample(arms, 1)
    x <- lapply(handles, function(h) .Call(C_session_choose, h, offer, NULL)[1:3])
    same <- same && all(vapply(x, identical, NA, x[[1]]))
    told <- NULL
    for (h in handles) {
      told <- .Call(C_session_update, h, x[[1]][2], as.integer(x[[1]][1]), x[[1]][3], as.double(x[[1]][1] == 1), NULL, told[, 3])
    }
  }
  same
}

test_that("DP-TS-UCB and top two go on with more arms as if these had been there", {
  policy <- policy_dp_ts_ucb(1)
  both <- list(live_handle(policy, 3, 500), live_handle(policy, 5, 500))
  expect_true(play_alike(both, 120, 1:3))
  grown <- live_handle(policy, 5, 500)
  .Call(C_session_grow, grown, both[[1]])
  expect_true(play_alike(list(grown, both[[2]]), 200))
  # The same with a reward out that completes the epoch of 8
  for (again in 1:4) {
    both <- list(live_handle(policy, 3, 500), live_handle(policy, 5, 500))
    for (arm in c(1L, 3L, rep(2L, 14))) expect_true(play_alike(both, 1, c(arm, arm)))
    out <- lapply(both, function(h) .Call(C_session_choose, h, 2L, NULL))
    grown <- live_handle(policy, 5, 500)
    .Call(C_session_grow, grown, both[[1]])
    told <- NULL
    for (h in list(grown, both[[2]])) told <- .Call(C_session_update, h, out[[1]][2], 2L, out[[1]][3], 1, NULL, told[, 3])
    expect_true(play_alike(list(grown, both[[2]]), 100))
  }

  # Top two: a verdict among two arms is none among three, which it is wrong about with chance delta again.
  policy <- policy_top_two(mu = 5, error = 0.1)
  two <- live_handle(policy, 2, 1e6)
  said <- function(h) .Call(C_session_verdict, h)
  n <- 0
  while (said(two)[1] == 0 && (n <- n + 1) < 5000) play_alike(list(two), 1)
  expect_equal(said(two), c(1, 1, 0.1))
  three <- live_handle(policy, 3, 1e6)
  .Call(C_session_grow, three, two)
  expect_equal(said(three), c(0, NA, NA))
  # First a batch of the new arm, as long as if there had always been three
  first <- ceiling(12 * sqrt(2 * log(2 / 0.1)) / 5 + 2 * log(2 / 0.1))
  for (i in seq_len(first)) {
    x <- .Call(C_session_choose, three, NULL, NULL)
    expect_equal(x[1], 3)
    .Call(C_session_update, three, x[2], 3L, x[3], 0, NULL, NULL)
  }
  expect_equal(.Call(C_session_report, three)[4, 3], 1)
  n <- 0
  while (said(three)[1] == 0 && (n <- n + 1) < 5000) play_alike(list(three), 1)
  expect_equal(said(three), c(1, 1, 0.1))

  # A batch that is open then is filled first. (Arms are equal: a verdict has a chance below 1e-9.)
  policy <- policy_top_two(mu = 1, error = 1e-9)
  one_round <- function(h) {
    x <- .Call(C_session_choose, h, NULL, NULL)
    .Call(C_session_update, h, x[2], as.integer(x[1]), x[3], 1, NULL, NULL)
    x[1]
  }
  released <- function(h) .Call(C_session_report, h)[1, ]
  two <- live_handle(policy, 2, 1e6)
  while (any(released(two) == 0)) one_round(two)
  arm <- one_round(two) # the first of its second batch
  three <- live_handle(policy, 3, 1e6)
  .Call(C_session_grow, three, two)
  before <- released(three)[arm]
  own <- TRUE
  while (own && released(three)[arm] == before) own <- one_round(three) == arm
  expect_true(own)
  expect_equal(.Call(C_session_choose, three, NULL, NULL)[1], 3)
})

test_that("blocks that are open, empty or waiting when arms come are released as they are, once", {
  # No noise. Blocks of 5 people, then of 6; the last `gone` people are erased before the third arm comes.
  for (n in c(0, 1, 2, 5, 6, 7, 11, 12)) for (gone in 0:min(n, 2)) for (late in c(FALSE, TRUE)) {
    two <- live_handle(policy_randomised(block = c(5, 6)), 2, 100)
    people <- lapply(seq_len(n), function(i) .Call(C_session_choose, two, NULL, NULL))
    feed <- function(h, x) .Call(C_session_update, h, x[2], as.integer(x[1]), x[3], 1, NULL, NULL)
    for (x in rev(people)[seq_len(gone)]) .Call(C_session_unpull, two, as.integer(x[1]), x[3])
    people <- utils::head(people, n - gone)
    if (!late) for (x in people) feed(two, x)
    three <- live_handle(policy_randomised(block = c(5, 6)), 3, 100)
    .Call(C_session_grow, three, two)
    # A block that takes people and loses them all has never been.
    taking <- n - max(Filter(function(full) full <= n, c(0, 5, 11)))
    made <- (n > 0) + (n > 5) + (n > 11) - (taking > 0 && gone >= taking)
    new <- lapply(seq_len(if (made == 0) 5 else 6), function(i) .Call(C_session_choose, three, NULL, NULL))
    expect_identical(unique(vapply(new, `[`, 0, 3)), made + 1)
    if (late) for (x in people) feed(three, x)
    for (x in new) feed(three, x)
    seen <- .Call(C_session_report, three)[match(c("rewards", "terms"), REPORT), ]
    own <- vapply(c(people, new), `[`, 0, 1)
    label <- sprintf("%d people, %d erased%s", n, gone, if (late) ", late" else "")
    blocks <- length(unique(vapply(people, `[`, 0, 3)))
    expect_equal(seen, rbind(tabulate(own, 3), c(blocks + 1, blocks + 1, 1)), label = label)
    # All that counts has come: the end has nothing to add, and what was released before is whole.
    .Call(C_session_finish, three)
    expect_equal(.Call(C_session_report, three)[match(c("rewards", "terms"), REPORT), ], seen, label = label)
  }
})

test_that("who was in no batch before an arm came is not waited for in the end", {
  for (policy in list(policy_randomised(block = 5), policy_randomised(epsilon = 3, block = 5))) {
    two <- live_handle(policy, 2, 100)
    out <- list(.Call(C_session_choose, two, NULL, NULL))
    for (arm in 1:2) out <- c(out, list(.Call(C_session_choose, two, arm, NULL))) # other arms on offer than the block's
    expect_identical(vapply(out, `[`, 0, 3), c(1, 0, 0))
    three <- live_handle(policy, 3, 100)
    .Call(C_session_grow, three, two)
    for (i in 1:3) out <- c(out, list(.Call(C_session_choose, three, NULL, NULL)))
    for (x in out[-1]) .Call(C_session_update, three, x[2], as.integer(x[1]), x[3], 1, NULL, NULL)
    .Call(C_session_news, three)
    .Call(C_session_finish, three)
    # Only the arm whose first reward is out is not whole.
    news <- .Call(C_session_news, three)
    expect_identical(news[, 7], as.double(news[, 1] != out[[1]][1]))
  }
})

test_that("after a batch was closed early the next arm is the policy's choice", {
  for (policy in list(policy_dp_imed(5, first = 6), policy_dp_imed(5, first = 6, index = "likelihood"), policy_dp_klucb(5, first = 6),
                      policy_gaussian_imed(5, first = 6), policy_top_two(5))) for (come in c(TRUE, FALSE)) {
    h <- live_handle(policy, 2, 1000)
    out <- lapply(1:3, function(i) .Call(C_session_choose, h, NULL, NULL))
    expect_identical(vapply(out, `[`, 0, 1), c(1, 1, 1))
    feed <- function(x) .Call(C_session_update, h, x[2], as.integer(x[1]), x[3], 0, NULL, NULL)
    if (come) for (x in out) feed(x)
    expect_identical(.Call(C_session_close, h, 1L, NULL), c(come, come) + 0)
    # The first batch of the other arm
    second <- .Call(C_session_choose, h, NULL, NULL)
    expect_identical(second[1], 2, label = format(policy))
    if (!come) for (x in out) feed(x)
    expect_equal(.Call(C_session_report, h)[1, ], c(3, 0))
  }
  # Who comes again is in no batch while the last reward is out, or is in the one that takes pulls.
  h <- live_handle(policy_dp_imed(5, first = 2), 2, 1000)
  look <- function(held) .Call(C_session_look, h, NULL, NULL, 1L, held)
  expect_equal(.Call(C_session_choose, h, NULL, NULL)[c(1, 3)], c(1, 1))
  expect_equal(vapply(c(-1, 1, 2), look, 0), c(1, 1, 0))
  .Call(C_session_choose, h, NULL, NULL)
  expect_equal(vapply(c(-1, 1), look, 0) != 0, c(TRUE, FALSE))
  # Fifteen batches wait, and the sixteenth goes on; if its own rewards are in, it ends and leaves a slot.
  h <- live_handle(policy_dp_imed(5, 1.1, 1), 1, 1000)
  out <- lapply(1:20, function(i) .Call(C_session_choose, h, NULL, NULL))
  expect_identical(vapply(out, `[`, 0, 3), c(1:11, rep(12:15, each = 2), 16))
  last <- Filter(function(x) x[3] == 16, out)
  for (x in last) .Call(C_session_update, h, x[2], 1L, x[3], 1, NULL, NULL)
  expect_identical(.Call(C_session_close, h, 1L, NULL), c(1, 16))
  expect_identical(.Call(C_session_choose, h, NULL, NULL)[3], 17)
})

test_that("a tree of MT-UCB keeps its noise when arms come, and a new one has a share of its own", {
  for (split in c(TRUE, FALSE)) for (tuned in c(TRUE, FALSE)) {
    policy <- policy_mt_ucb(1, split_budget = split, tuned = tuned)
    small <- live_handle(policy, 2, 100)
    play_alike(list(small), 20)
    grown <- live_handle(policy, 4, 100)
    .Call(C_session_grow, grown, small)
    scale <- 7 * (if (split) c(2, 2, 4, 4) else rep(1, 4)) # levels / eps0
    seen <- .Call(C_session_report, small)
    expect_equal(.Call(C_session_report, grown)[, 1:2], seen)
    for (arm in c(3, 4, 1, 2)) {
      x <- .Call(C_session_choose, grown, if (arm < 3) as.integer(arm), NULL) # new arms come first
      expect_equal(x[1], arm)
      told <- .Call(C_session_update, grown, x[2], as.integer(arm), x[3], 1, NULL, NULL)
      expect_equal(unique(told[, 2]), scale[arm])
    }
    # The indices of all arms have the relaxation of four, also of those that were there before.
    again <- live_handle(policy, 4, 100)
    .Call(C_session_grow, again, small)
    gamma <- log(100)^2 * log(4 * 100 * log(100) / policy$params$gamma) * if (split) 4 else 1
    for (t in 21:60) {
      sums <- .Call(C_session_report, again)
      n <- sums[1, ]
      r <- sums[2, ]
      index <- r / n + if (tuned) sqrt(pmax(r, 0) * log(t)) / n + log(t) / n else sqrt(2 * log(t) / n) + gamma / n
      x <- .Call(C_session_choose, again, NULL, NULL)
      if (all(n > 0)) expect_equal(x[1], which.max(index))
      .Call(C_session_update, again, x[2], as.integer(x[1]), x[3], as.double(x[1] == 1), NULL, NULL)
    }
  }
})

test_that("a choice that only looks wrong in a process that is behind is made", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  one <- dpts_agent(clear_policy(4), c("a", "b"), file, use = "arrival", horizon = 1000)
  two <- agent_open(file)
  agent_arms(one, pause = "a")
  expect_identical(agent_choose(two)$t, NA_real_)
  agent_arms(one, resume = "a")
  expect_identical(as.character(agent_choose(two, offer = "a")$arm), "a")
  agent_arms(one, add = "c")
  expect_identical(as.character(agent_choose(two, offer = factor("c"))$arm), "c")
  for (new in list(c("a", "d"), c(1, 5))) { # one that it knows, and one that it does not
    agent_arms(one, add = utils::tail(letters[1:5][seq_along(one$life$arms) + 1], 1))
    expect_no_error(agent_choose(two, offer = new))
  }
  expect_error(agent_choose(two, offer = 6), "`offer`", class = "dpts_error_input")
  agent_close(one)
  agent_close(two)
})

test_that("arms come, pause and go while rewards are out, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(clear_policy(4), c("a", "b"), store, use = "arrival", horizon = 1000)
    out <- agent_choose(agent, 6)$ticket
    other <- if (is.character(store)) agent_open(store)
    expect_equal(agent_arms(agent, add = c("c", "d"))$arm, factor(c("a", "b", "c", "d")))
    expect_equal(agent_reward(agent, out, 1)$status, rep("used", 6))
    x <- agent_choose(agent, 8, offer = c("c", "d"))
    expect_setequal(as.character(x$arm), c("c", "d"))
    if (!is.null(other)) { # another process knows of them, and may offer them
      expect_equal(as.character(agent_choose(other, offer = "d")$arm), "d")
      expect_equal(agent_reward(other, x$ticket[1], 1)$status, "used")
      agent_reward(agent, x$ticket[-1], 1)
      expect_equal(pulls(other), pulls(agent))
      agent_close(other)
    } else agent_reward(agent, x$ticket, 1)
    expect_equal(nrow(autoplot(agent)$data) / 4, sum(pulls(agent)$pulls))
    # Retired for good, paused for a while: whatever is offered
    before <- agent$seq
    expect_equal(agent_arms(agent, retire = "a", pause = "b")$status, c("retired", "paused", "active", "active"))
    expect_setequal(as.character(agent_choose(agent, 30, offer = c("a", "b", "c"))$arm), "c")
    expect_error(agent_choose(agent, offer = c("a", "b")), "agent_arms", class = "dpts_error_paused")
    expect_error(agent_arms(agent, resume = "a"), "retired", class = "dpts_error_input")
    expect_equal(agent_arms(agent)$status, c("retired", "paused", "active", "active"))
    # With one arm left of which others are paused no rounds are spent.
    n <- sum(pulls(agent)$pulls)
    agent_arms(agent, pause = 3)
    y <- agent_choose(agent, 5)
    expect_true(all(y$arm == "d") && all(is.na(y$t)))
    expect_equal(sum(pulls(agent)$pulls), n)
    agent_arms(agent, resume = c("b", "c"))
    expect_equal(agent_choose(agent)$t, n + 1)
    expect_equal(vapply(c("add", "retire", "pause", "resume"), agent$store$count, 0), c(add = 2, retire = 1, pause = 2, resume = 2))
    # Whoever opens it finds the same.
    if (is.character(store)) {
      agent_close(agent)
      agent <- agent_open(store)
      expect_equal(agent_arms(agent)$status, c("retired", "active", "active", "active"))
      expect_equal(levels(agent_choose(agent)$arm), c("a", "b", "c", "d"))
    }
    agent_finish(agent, "verdict")
    winner <- agent_choose(agent)$arm
    expect_true(winner != "a")
    expect_error(agent_arms(agent, add = "e"), "has ended", class = "dpts_error_input")
    agent_arms(agent, retire = as.character(winner))
    expect_false(agent_choose(agent)$arm %in% c("a", as.character(winner)))
    agent_close(agent)
  })
})

test_that("the arm that evidence proves best is the one that all get at the end, whichever arms went before", {
  end <- function(gone, best) {
    agent <- dpts_agent(policy_randomised(mu = 1e6, block = 200, rule = "equal"), c("a", "b", "c", "d"), use = "arrival")
    agent_arms(agent, retire = gone)
    x <- agent_choose(agent, 200)
    agent_reward(agent, x$ticket, as.numeric(x$arm == best))
    agent_finish(agent, "verdict")
    expect_identical(as.character(agent_choose(agent)$arm), best)
  }
  end("a", "c")
  end("b", "d")
  # One that is paused gives way to the best of those that take part.
  agent <- dpts_agent(policy_randomised(mu = 1e6, block = 200), c("a", "b", "c"), use = "arrival")
  x <- agent_choose(agent, 200)
  agent_reward(agent, x$ticket, c(1, 0.2, 0.4)[as.integer(x$arm)])
  agent_arms(agent, pause = "a")
  expect_identical(as.character(verdict(agent)$arm), "a")
  agent_finish(agent, "verdict")
  expect_identical(as.character(agent_choose(agent)$arm), "c")
  expect_match(format(agent), "goes on with c", all = FALSE)
})

test_that("the release table says when each arm was added and retired, whatever was changed later", {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 10), c("a", "b", "c"), use = "arrival")
  agent_choose(agent, 20)
  agent_arms(agent, retire = "a")
  agent_choose(agent, 30)
  agent_arms(agent, add = "d", pause = "b")
  agent_choose(agent, 10)
  agent_arms(agent, retire = "b")
  table <- as.data.frame(dpts_releases(agent))
  expect_identical(table$t[match(c("retired a", "added d", "retired b"), paste(table$event, table$arm))], c(20, 50, 60))
  expect_identical(paste(table$event, table$arm)[table$t == 0], paste("begin", c("a", "b", "c"))) # those it began with
  agent_close(agent)
})

test_that("a call that goes beyond the horizon has the rounds that are left, wherever they end", {
  for (calls in list(c(4, 9), c(13), c(10, 1), c(9, 2, 2), c(1, 1, 30))) {
    agent <- dpts_agent(policy_uniform(), 2, use = "arrival", horizon = 10)
    t <- unlist(lapply(calls, function(n) agent_choose(agent, n)$t))
    expect_identical(t, c(1:10, rep(NA, sum(calls) - 10)) + 0)
    expect_equal(sum(pulls(agent)$pulls), 10)
    agent_close(agent)
  }
})

test_that("arms go through all states in all orders, before and after the end", {
  verbs <- c("retire", "pause", "resume")
  orders <- as.matrix(expand.grid(verbs, verbs, verbs, stringsAsFactors = FALSE))
  # Before the end an arm for each order; after it the arm is who wins by then.
  agents <- lapply(c(FALSE, TRUE), function(ended) dpts_agent(policy_uniform(), 2 + nrow(orders), use = "arrival"))
  agent_choose(agents[[2]], 9)
  agent_finish(agents[[2]], "verdict")
  for (ended in c(FALSE, TRUE)) for (i in seq_len(nrow(orders))) {
    if (ended && orders[i, 2] == orders[i, 3]) next # twice the same comes first in other orders
    agent <- agents[[1 + ended]]
    arm <- agent$life$arms[if (ended) agent$life$winner else i]
    status <- "active"
    for (verb in orders[i, ]) {
      change <- function() do.call(agent_arms, c(list(agent), stats::setNames(list(arm), verb)))
      if (status == "retired" && verb != "retire") expect_error(change(), "retired", class = "dpts_error_input") else change()
      if (status != "retired") status <- c(retire = "retired", pause = "paused", resume = "active")[[verb]]
      now <- agent_arms(agent)
      expect_identical(now$status[now$arm == arm], status, info = paste(orders[i, ], collapse = " "))
      if (ended) {
        shown <- agent$life$arms[agent$life$winner]
        expect_identical(now$status[now$arm == shown], "active", info = paste(orders[i, ], collapse = " "))
        expect_identical(as.character(agent_choose(agent)$arm), shown)
      }
    }
    if (ended) expect_identical(dpts:::api_status(agent)$winner, shown)
  }
})

test_that("mistakes with arms are named, and what cannot be promised is refused", {
  agent <- dpts_agent(batch_policy(), c("a", "b"), use = "arrival")
  for (bad in list(list(add = "a"), list(add = 3), list(add = c("x", "x")), list(retire = "z"), list(pause = 3),
                   list(retire = c("a", "b")), list(retire = "a", pause = "a"), list(add = "line\nbreak"), list(add = strrep("a", 201)), list(add = "a\u202eb"))) {
    expect_error(do.call(agent_arms, c(list(agent), bad)), class = "dpts_error_input")
    expect_equal(agent_arms(agent)$status, c("active", "active"))
  }
  agent_arms(agent, pause = c("a", "b"))
  expect_error(agent_choose(agent), class = "dpts_error_paused")
  expect_error(agent_arms(dpts_agent(policy_mt_ts(1), 2, horizon = 100, use = "arrival"), add = "c"),
               "cannot take on arms", class = "dpts_error_input")
  expect_error(agent_arms(dpts_agent(greedy_policy(), 2, use = "arrival"), add = "c"), "cannot take on arms",
               class = "dpts_error_input")
  # The same guarantee as before, whatever policy can take on arms: a budget need not be looked at again.
  grows <- 0
  for (case in session_policies()) {
    policy <- withr::with_seed(1, case$make())
    if (!is_true_of(policy, "grows") || promises_nothing(policy$guarantee)) next
    forms <- function(k) {
      at <- conditions(1000, k, delay = Inf, pools = TRUE)
      curve <- form(policy$guarantee, "curve", at)
      list(form(policy$guarantee, "epsilon", at), form(policy$guarantee, "mu", at), if (!is.null(curve)) curve(c(1e-9, 0.1)))
    }
    expect_identical(forms(200), forms(2))
    grows <- grows + 1
  }
  expect_gt(grows, 10)
  agent <- dpts_agent(policy_gaussian_imed(1), 2, use = "arrival", budget = privacy_gdp(1))
  before <- dpts_privacy(agent)
  agent_arms(agent, add = "c")
  expect_equal(dpts_privacy(agent), before)
})

test_that("a state that would be too large to write at each choice is refused before anything is made", {
  file <- withr::local_tempfile(fileext = ".sqlite")
  for (policy in list(policy_detect(policy_dp_imed(1)), policy_top_two(1))) {
    expect_error(dpts_agent(policy, 1e5, file, use = "arrival"), "`arms` must be fewer: for 100,000 arms .* has (1,9|2,0)[0-9]{2} MB.* 128, enough for about 6,[67]00",
                 class = "dpts_error_input")
  }
  expect_false(file.exists(file))
  expect_error(dpts_agent(policy_linucb(), 1e5, dim = 100, use = "arrival"), "`arms` must be fewer", class = "dpts_error_input")
  few <- policy_randomised(1, floor = 1e-5)
  expect_error(suppressWarnings(dpts_agent(few, 1e4, strata = as.character(1:100), use = "arrival")), "10,000 arms in 100 strata")
  agent <- dpts_agent(policy_top_two(1), 2, use = "arrival")
  expect_error(agent_arms(agent, add = paste0("n", 1:7000)), "`add` must be fewer: for 7,002 arms", class = "dpts_error_input")
  expect_identical(nrow(pulls(agent)), 2L)
  # As much as is saved, or a little more
  handle <- agent$session$handle
  saved <- length(.Call(dpts:::C_session_save, handle))
  expect_lt(abs(dpts:::session_bytes(policy_top_two(1), 2, NULL, NULL, 1) / saved - 1), 0.05)
})

test_that("an experiment takes on an arm: its open block ends, and the new arm has its share of the tosses", {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 60, rule = "thompson"), c("a", "b"), use = "arrival")
  x <- agent_choose(agent, 90)
  agent_reward(agent, x$ticket[1:70], as.numeric(x$arm[1:70] == "a"))
  agent_arms(agent, add = "c")
  y <- agent_choose(agent, 55) # nobody gets c with probability 2e-10
  expect_equal(unique(y$probability[y$arm == "c"]), 1 / 3)
  expect_lte(sum(tapply(y$probability, y$arm, unique), na.rm = TRUE), 1 + 1e-9) # not all may have been tossed
  agent_reward(agent, c(x$ticket[71:90], y$ticket), 0.5)
  expect_equal(sum(estimates(agent)$rewards), 90) # two blocks, the second of 30
  z <- agent_choose(agent, 10)
  agent_reward(agent, z$ticket, 0.5)
  expect_equal(sum(estimates(agent)$rewards), 150)
  rows <- dpts_releases(agent)
  expect_equal(unique(rows$floor[rows$n > 0]), 0.1) # of the two arms of the beginning: bets on old blocks do not change
})

test_that("`block_time` is of UTC: where summer time begins or ends a block of a day is 24 hours, as always", {
  withr::local_timezone("Europe/Berlin")
  changes <- c("2026-03-28 12:30", "2026-10-24 12:30") # the clock goes from 2 to 3 on the 29th, and from 3 to 2 on the 25th
  ends <- list(c("03-29 01:30", "03-30 02:30", "03-31 02:30"), c("10-25 02:30", "10-26 01:30", "10-27 01:30"))
  for (i in 1:2) {
    now <- as.numeric(as.POSIXct(changes[i], tz = "UTC"))
    withr::local_options(dpts.clock = function() now)
    agent <- dpts_agent(policy_randomised(mu = 1, block = 1000), 2, use = "arrival", block_time = hours(24))
    for (visit in 1:24) {
      agent_reward(agent, agent_choose(agent)$ticket, 1)
      now <- now + 3 * 3600
    }
    journal <- agent_journal(agent)
    ended <- journal$time[journal$kind == "end of block"]
    expect_identical(format(ended, "%m-%d %H:%M"), ends[[i]])
    expect_equal(as.numeric(ended) %% 86400, rep(1800, 3)) # the first call after midnight UTC
    released <- dpts_releases(agent)
    expect_equal(as.vector(rowsum(released$n, released$block)), c(4, 8, 8))
  }
})

test_that("an agent ends also where several blocks, of different arms, are open", {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 10), c("a", "b", "c"), use = "arrival")
  for (paused in c(NA, "a")) {
    if (!is.na(paused)) agent_arms(agent, pause = paused)
    agent_reward(agent, agent_choose(agent, 2)$ticket[1], 1)
  }
  agent_finish(agent)
  released <- dpts_releases(agent)
  released <- released[is.na(released$event), ]
  # One release of two blocks, of three arms and of two
  expect_equal(released$terms, c(1, 2, 2))
  expect_equal(released$chance, c(1 / 3, 1 / 2, 1 / 2))
  expect_equal(sum(released$n), 2)
  expect_false(all(released$whole))
  expect_equal(nrow(evidence(agent, kind = "tosses")), 0) # it proves nothing
  expect_equal(sum(estimates(agent)$rewards), 2)
  again <- as_releases(utils::read.csv(text = utils::capture.output(utils::write.csv(dpts_releases(agent)))))
  expect_equal(again$chance, dpts_releases(agent)$chance)
  # A whole block has a distribution
  released$terms <- 1
  released$whole <- TRUE
  expect_error(as_releases(released), "`chance`.*add up to 1", class = "dpts_error_releases")
})

test_that("a block ends where the arms on offer change, and not where a call leaves them as they are", {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 20), c("a", "b", "c"), use = "arrival")
  calls <- list(list(), list(pause = "c"), list(pause = "c"), list(resume = "a"), list(resume = "c"), list(retire = "b"),
                list(retire = "b"))
  for (call in calls) {
    if (length(call)) do.call(agent_arms, c(list(agent), call))
    agent_choose(agent, 2)
  }
  expect_identical(as.numeric(agent$store$kept("all")$batch), c(1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4, 4, 4))
})
