# Contexts on people: what is released is integers on the grid, and the arms are those of the simulated policy.

skip_on_cran() # takes seconds

grid_10 <- function(x) round(x * 2^10) / 2^10

# An agent that hands over what its policy releases: a matrix with columns kind, scale, value, gain, correlation
watched <- function(agent, env = parent.frame()) {
  agent$seen <- NULL
  local_function("session_feed", function(feed) function(session, ...) {
    values <- feed(session, ...)
    if (identical(session, agent$session)) agent$seen <- rbind(agent$seen, values)
    invisible(values)
  }, env)
  agent
}

learn_one <- function(agent, context, reward, offer = NULL) {
  choice <- agent_choose(agent, context = context, offer = offer)
  agent_reward(agent, choice$ticket, reward)
  as.integer(choice$arm)
}

# The numbers of a round as they are added up: products of whole numbers, in steps of 2^-20
grid_item <- function(z, reward, norm = Inf, private = TRUE, centre = 0.5, length = function(x) sqrt(sum(x^2))) {
  whole <- round(z * 1024)
  ratio <- norm * 1024 / length(whole)
  root <- if (ratio == Inf) 1 else if (ratio < 1) ratio else sqrt(ratio) # of the round's weight
  if (root != 1) whole <- floor(whole * root - 1e-6) # downwards, whatever the last bit
  pairs <- outer(whole, whole)
  c(if (private) pairs[upper.tri(pairs, TRUE)], trunc(root * (round(reward * 1024) - centre * 1024)) * whole)
}

test_that("without noise the releases are the weighted sums of a batch's whole numbers, rounded down to the grid", {
  withr::local_seed(1)
  d <- 3; n <- 24; B <- 4
  # Noise of less than 1e-9 of a step is none.
  none <- list(list(policy_linucb(mu = 1e12, batch = B, norm = 0.9), 0.9, TRUE, "toeplitz"),
               list(policy_lin_ts(mu = 1e12, batch = B, contexts = "public"), sqrt(3), FALSE, "toeplitz"),
               list(policy_linucb(mu = 1e12, batch = B, mechanism = "tree"), sqrt(3), TRUE, "tree"),
               list(policy_linucb(1e12, batch = B, mechanism = "tree"), Inf, TRUE, "tree"),
               list(policy_linucb(1e12, batch = B, norm = 0.9), 0.9, TRUE, "batches"))
  for (case in none) {
    z <- matrix(runif(d * n), d)
    rewards <- runif(n)
    agent <- watched(dpts_agent(case[[1]], 2, horizon = n, use = "arrival", dim = d))
    arms <- vapply(seq_len(n), function(i) learn_one(agent, z[, i], rewards[i]), 0L)
    laplace <- case[[4]] == "batches"
    items <- vapply(seq_len(n), function(i) {
      grid_item(z[, i], rewards[i], case[[2]], case[[3]], case[[1]]$params$centre, if (laplace) sum else function(x) sqrt(sum(x^2)))
    }, numeric(if (case[[3]]) 9 else 3))
    # Which rounds are in a model's batch, all models' or its own; when it ends
    batch <- lapply(1:2, function(a) {
      if (case[[3]]) rep(seq_len(n / B), each = B) else ifelse(arms == a, (cumsum(arms == a) - 1) %/% B + 1, 0)
    })
    done <- vapply(batch, function(x) sum(tabulate(x, n / B) == B), 0)
    right <- if (laplace) diag(n / B) else toeplitz_of(case[[4]], n / B)$right
    sums <- lapply(1:2, function(a) {
      leaves <- vapply(seq_len(done[a]), function(j) rowSums(items[, batch[[a]] == j & arms == a, drop = FALSE]), items[, 1])
      # rounding of doubles must not carry a whole number down
      floor(leaves %*% t(right[seq_len(done[a]), seq_len(done[a])]) + 1e-6)
    })
    # In a release: the numbers of one arm's model after the other's
    ended <- unlist(lapply(1:2, function(a) vapply(seq_len(done[a]), function(j) max(which(batch[[a]] == j)), 0)))
    expected <- do.call(cbind, sums)[, order(ended, rep(1:2, done))]
    expect_lte(max(abs(agent$seen[, 3] * 2^20 - expected)), if (case[[4]] == "toeplitz") 1 else 0)
    expect_gt(mean(agent$seen[, 3] * 2^20 == expected), 0.99)
  }
})

test_that("given the same releases an agent chooses as the simulated policy does", {
  withr::local_seed(2)
  d <- 2; k <- 3; n <- 32; first <- 5
  policies <- list(policy_linucb(mu = 30, alpha = 0.3, batch = first, norm = 1), policy_logistic_ucb(mu = 30, batch = first),
                   policy_linucb(mu = 30, alpha = 0.3, batch = first, contexts = "public"),
                   policy_linucb(mu = 30, alpha = 0.3, batch = first, model = "shared"))
  for (policy in policies) {
    own <- dpts:::is_shared(policy)
    z <- array(grid_10(runif(d * n * k)), c(d, k, n))
    if (!own) z <- z[, 1, ]
    z <- if (own) z / 2 else sweep(z, 2, pmax(1, sqrt(colSums(z^2)) / 0.95), "/")
    z <- grid_10(z)
    rewards <- rbinom(n, 1, 0.5)
    begin <- rep(seq_len(k), first) # before their first release arms tie
    all <- trace_context(policy, c(begin, rep(NA, n - first * k)), rewards, if (own) array(z, c(d, k, n)) else z, k, n, seed = 3,
                         max_ledger = 500)
    values <- (all$exact + all$noise)[seq_len(all$total)]
    agent <- watched(dpts_agent(policy, k, horizon = n, use = "arrival", dim = d))
    arms <- integer(n)
    for (i in seq_len(n)) {
      context <- if (own) t(z[, , i]) else z[, i]
      choice <- agent_choose(agent, context = context, offer = if (i <= first * k) begin[i])
      arms[i] <- as.integer(choice$arm)
      now <- seq_len(all$total) > c(0, all$released)[i] & seq_len(all$total) <= all$released[i]
      withr::with_options(list(dpts.forced_releases = values[now]), agent_reward(agent, choice$ticket, rewards[i]))
    }
    expect_identical(arms, all$arm)
    expect_gt(length(unique(arms[-seq_len(first * k)])), 1)
    # The noise is that of the simulation, and a trifle more for rounding.
    more <- agent$seen[, 2] / all$scale[seq_len(all$total)]
    expect_true(all(more >= 1 + 2^-13 & more < 1 + 2^-12))
  }
})

test_that("one person's context and reward move the released integers by no more than the noise allows", {
  withr::local_seed(4)
  d <- 2; mu <- 1e12; norm <- 0.7
  # Contexts that rounding and cutting could lengthen, and corners
  rounds <- rbind(as.matrix(expand.grid(0:1, 0:1, 0:1)), matrix(runif(3 * 4), 4))
  for (policy in list(policy_linucb(mu = mu, batch = 1, norm = norm), policy_linucb(mu = mu, batch = 1),
                      policy_logistic_ucb(mu = mu, batch = 1, norm = norm),
                      policy_linucb(mu = mu, batch = 1, norm = norm, contexts = "public"))) {
    public <- policy$params$public == 1
    scale <- NULL
    moves <- lapply(seq_len(nrow(rounds)), function(i) {
      session <- live_session(policy, 1, 1, d)
      session_start(session)
      z <- if (public) rounds[1 + i %% 2 * 3, 1:2] else rounds[i, 1:2]
      round <- session_play(session, NULL, z)
      released <- session_feed(session, round[2], 1L, round[3], rounds[i, 3], z)
      scale <<- released[, 2]
      released[, 3]
    })
    scaled <- do.call(rbind, moves) / rep(scale, each = nrow(rounds))
    if (public) {
      same <- rep(0:1, length.out = nrow(rounds))
      most <- max(vapply(0:1, function(g) max(stats::dist(scaled[same == g, ])), 0))
    } else {
      most <- max(stats::dist(scaled))
      # In models of two arms the squares add up.
      most <- max(most, sqrt(2 * max(rowSums(scaled^2))))
    }
    expect_lte(most, mu)
    if (!public) expect_gt(most, 0.75 * mu)
  }
})

test_that("noise is whole steps of the scale that the ledger names, in every number", {
  withr::local_seed(5)
  n <- 500
  agent <- watched(dpts_agent(policy_linucb(mu = 0.5, batch = 1, norm = 0.8), 1, horizon = n, use = "arrival", dim = 2))
  ticket <- agent_choose(agent, n, context = c(0, 0))$ticket
  agent_reward(agent, ticket, 0) # all sums are 0
  noise <- matrix(agent$seen[, 3], ncol = n)
  scale <- matrix(agent$seen[, 2], ncol = n)
  expect_identical(noise * 2^20, round(noise * 2^20))
  # 2.45 N^2 on A's diagonal, less by sqrt(2) off it, 1.096 N in b; a factorisation's norm, and what rounding costs
  move <- sqrt(6) / 0.5 * c(c(1, 1 / sqrt(2), 1) * 0.64, c(0.8, 0.8) / sqrt(5))
  factor <- toeplitz_of("toeplitz", n)$factor
  expect_equal(scale[, 1] / factor, move, tolerance = 1e-3)
  expect_true(all(scale == scale[, 1]))
  expect_true(all(scale[, 1] / factor > move))
  z <- noise / scale
  # The noise is live: each limit fails by chance less than once in 1e9, all numbers together show more.
  jitter <- z + runif(length(z), -0.5, 0.5) * 2^-20
  for (x in c(asplit(jitter, 1), list(jitter))) expect_gt(stats::ks.test(as.vector(x), "pnorm")$p.value, 1e-10)
  # Laplace noise of this scale has twice the variance, and is hardly farther from a normal distribution.
  expect_lt(abs(mean(z^2) - 1), 6.7 * sqrt(2 / length(z)))
  expect_lt(max(abs(stats::cor(t(z)) - diag(5))), 6.7 / sqrt(n))
  # and Laplace noise from normal noise by the mean of its size, which is 1 and not 0.8
  n <- 1000
  agent <- watched(dpts_agent(policy_mt_ucb(1), 2, horizon = n, use = "arrival"))
  for (i in seq_len(n / 100)) agent_reward(agent, agent_choose(agent, 100)$ticket, 0) # more are fed together
  expect_gte(nrow(agent$seen), n)
  expect_lt(abs(mean(abs(agent$seen[, 3] / agent$seen[, 2])) - 1), 6.7 / sqrt(n))
})

test_that("a context is forgotten once it is learned from, and what is open goes on after a crash in mid-batch", {
  withr::local_seed(6)
  turn <- test_clock()
  n <- 8
  z <- matrix(grid_10(runif(2 * n)), n)
  rewards <- runif(n)
  each_database(function(store) {
    for (use in c("arrival", "deadline")) {
      agent <- watched(dpts_agent(policy_linucb(mu = 1e12, batch = 4, model = "shared"), 2, store, horizon = n,
                                  use = use, deadline = hours(1), dim = 2))
      contexts <- function(ticket) agent$store$tickets(ticket)$context
      seen <- NULL
      for (i in seq_len(n)) {
        ticket <- agent_choose(agent, context = z[c(i, i), ])$ticket
        expect_identical(dpts:::read_context(contexts(ticket)), z[i, ])
        turn(1)
        agent_reward(agent, ticket, rewards[i])
        expect_identical(is.na(contexts(ticket)), use == "arrival")
        if (use == "deadline") turn(3600)
        if (i %in% c(2, 7)) {
          pulls(agent) # what is due is learned
          seen <- rbind(seen, agent$seen)
          agent <- watched(agent_open(store)) # nobody closes what has crashed
        }
      }
      pulls(agent)
      expect_true(all(is.na(contexts(dpts_history(agent)$ticket))))
      seen <- rbind(seen, agent$seen)
      items <- vapply(seq_len(n), function(i) grid_item(z[i, ], rewards[i], sqrt(2)), numeric(5))
      sums <- items %*% (diag(n / 4) %x% rep(1, 4)) %*% t(toeplitz_of("toeplitz", n / 4)$right)
      expect_lte(max(abs(seen[, 3] * 2^20 - as.vector(sums))), 1)
      agent_close(agent)
      if (!is.character(store)) break
      unlink(store)
    }
  })
  # Rewards that are kept are kept with what they were for.
  agent <- dpts_agent(policy_linucb(mu = 1), 2, use = "arrival", dim = 2, keep_rewards = TRUE)
  ticket <- agent_choose(agent, context = c(1, 0))$ticket
  agent_reward(agent, ticket, 1)
  expect_identical(dpts:::read_context(agent$store$tickets(ticket)$context), c(1, 0))
})

test_that("contexts that are none are answered by name, before any work", {
  agent <- dpts_agent(policy_linucb(mu = 1, norm = 1), 2, use = "arrival", dim = 2)
  shared <- dpts_agent(policy_lin_ts(mu = 1, model = "shared"), 3, use = "arrival", dim = 2)
  junk <- list(NULL, 1, c(0, 0, 0), c(NA, 1), c(NaN, 0), c(Inf, 0), c("0", "1"), "text", list(0, 1), c(1.001, 0), c(0, -1e-9),
               c(TRUE, FALSE), matrix(0, 2, 2), matrix(0, 1, 3), mean, c(1e300, 0))
  for (bad in junk) {
    expect_error(agent_choose(agent, context = bad), "`context`", class = "dpts_error_input")
    expect_error(agent_choose(shared, context = bad), "`context`", class = "dpts_error_input")
  }
  expect_error(agent_choose(shared, context = c(0, 1)), "3 rows, one per arm", class = "dpts_error_input")
  expect_equal(nrow(dpts_history(agent)) + nrow(dpts_history(shared)), 0)
  expect_error(dpts_agent(policy_linucb(mu = 1), 2, use = "arrival"), "`dim`", class = "dpts_error_input")
  expect_error(dpts_agent(policy_linucb(mu = 1), 2, use = "arrival", dim = 129), "`dim`", class = "dpts_error_input")
  expect_error(dpts_agent(policy_linucb(1, mechanism = "gamma"), 2, horizon = 9, use = "arrival", dim = 2),
               "linucb.*no exact form", class = "dpts_error_input")
  # Longer than `norm` is cut.
  expect_equal(nrow(agent_choose(agent, context = c(1, 1))), 1)
})

test_that("choices that are no rounds follow the context, too, and not how often arms were chosen", {
  agent <- dpts_agent(policy_linucb(mu = 1e6, batch = 20), c("a", "b"), horizon = 60, use = "arrival", dim = 2)
  for (i in 1:20) { # a suits (1, 0) and b suits (0, 1)
    arm <- i %% 2 + 1
    choice <- agent_choose(agent, context = c(i %% 4 < 2, i %% 4 > 1) + 0, offer = arm)
    agent_reward(agent, choice$ticket, (i %% 4 < 2) == (arm == 1))
  }
  for (i in 1:2) agent_reward(agent, agent_choose(agent, 20, context = c(1, 0))$ticket, 1)
  after <- agent_choose(agent, 4, context = rbind(c(1, 0), c(0, 1), c(0.9, 0), c(0, 0.8)))
  expect_identical(as.character(after$arm), c("a", "b", "a", "b"))
  expect_true(all(is.na(after$t)))
  expect_true(all(is.na(agent$store$tickets(after$ticket)$context)))
  expect_output(print(agent), "goes on with what it has learned")
})

test_that("at the end the batch that is open is released, and choices go by it", {
  fed <- function(policy) {
    agent <- dpts_agent(policy, c("a", "b"), use = "arrival", dim = 2)
    for (i in 1:19) {
      first <- i %% 4 < 2
      choice <- agent_choose(agent, context = c(first, !first) + 0, offer = i %% 2 + 1)
      agent_reward(agent, choice$ticket, first == (i %% 2 == 0))
    }
    agent_finish(agent, "verdict")
  }
  suits <- rbind(c(1, 0), c(0, 1))
  for (policy in list(policy_linucb(mu = 1e6, batch = 100, alpha = 0), policy_logistic_ucb(mu = 1e6, batch = 100, alpha = 0),
                      policy_linucb(mu = 1e6, batch = 100, alpha = 0, contexts = "public"))) {
    expect_identical(as.character(agent_choose(fed(policy), 2, context = suits)$arm), c("a", "b"), label = format(policy))
  }
})

test_that("an agent with contexts takes on arms, and a choice by an old view of them is refused", {
  withr::local_seed(7)
  for (policy in list(policy_linucb(), policy_lin_ts(), policy_logistic_ucb())) {
    small <- live_handle(policy, 2, 100, 2)
    large <- live_handle(policy, 4, 100, 2)
    for (i in 1:30) {
      z <- runif(2)
      x <- .Call(C_session_choose, small, sample.int(2, 1), z)
      .Call(C_session_choose, large, as.integer(x[1]), z)
      reward <- sample(0:1, 1)
      for (h in list(small, large)) .Call(C_session_update, h, x[2], as.integer(x[1]), x[3], reward, z, NULL)
    }
    grown <- live_handle(policy, 4, 100, 2)
    .Call(C_session_grow, grown, small)
    expect_identical(.Call(C_session_save, grown), .Call(C_session_save, large))
  }
  # A batch of 8 rewards of all arms goes on.
  policy <- policy_linucb(mu = 1, batch = 8)
  old <- live_handle(policy, 2, 100, 2)
  grown <- live_handle(policy, 3, 100, 2)
  releases <- vapply(1:16, function(i) {
    h <- if (i < 4) old else grown
    if (i == 4) .Call(C_session_grow, grown, old)
    x <- .Call(C_session_choose, h, NULL, c(0.3, 0.7))
    NROW(.Call(C_session_update, h, x[2], as.integer(x[1]), x[3], 1, c(0.3, 0.7), NULL)) > 0
  }, NA)
  expect_equal(which(releases), c(8, 16))
  agent <- dpts_agent(policy_linucb(mu = 1e6, batch = 4, alpha = 0), 2, use = "arrival", dim = 1)
  agent_reward(agent, agent_choose(agent, 3, context = 1, offer = 2)$ticket, 1)
  agent_arms(agent, add = "new")
  agent_reward(agent, agent_choose(agent, 5, context = 1, offer = "new")$ticket, c(0, 1, 1, 1, 1))
  agent_reward(agent, agent_choose(agent, 8, context = 1, offer = 2)$ticket, 0)
  expect_equal(as.character(agent_choose(agent, 3, context = 1)$arm), rep("new", 3))
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  one <- dpts_agent(policy_linucb(mu = 1, model = "shared"), 2, file, use = "arrival", dim = 1)
  other <- agent_open(file)
  agent_arms(one, add = "c")
  expect_equal(nrow(agent_choose(other, context = matrix(0, 3, 1))), 1)
  agent_arms(one, add = "d")
  expect_error(agent_choose(other, context = matrix(0, 3, 1)), "4 rows", class = "dpts_error_input")
  expect_equal(nrow(agent_choose(other, context = matrix(0, 4, 1))), 1)
  agent_close(one)
  agent_close(other)
})

test_that("what is promised for a context survives a restored copy, and is said", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  copy <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_linucb(mu = 1, batch = 4, norm = 1), c("a", "b"), file, use = "arrival", dim = 2,
                      max_per_person = 2, budget = privacy_gdp(2))
  out <- agent_choose(agent, 3, context = c(0.5, 0.5), person = c("u", "v", "v"))
  agent_reward(agent, out$ticket[1:2], 1)
  agent_backup(agent, copy)
  agent_close(agent)
  agent <- agent_open(copy) # in mid-batch, with a ticket out
  expect_equal(agent_reward(agent, out$ticket, 1)$status, c("known", "known", "used"))
  expect_equal(agent_choose(agent, context = c(1, 0), person = "w")$t, 4)
  expect_true(is.na(agent_choose(agent, context = c(1, 0), person = "v")$t))
  agent_restored(agent) # 2 sqrt(2)-GDP for a person is beyond the budget
  expect_true(is.na(agent_choose(agent, context = c(1, 0), person = "x")$t))
  said <- unclass(privacy_statement(agent))
  expect_match(said[["Who is protected"]], "^Each person's context and outcome, as seen by all others")
  expect_match(said[["What is published"]], "^The arms of all other people")
  expect_match(said[["What is guaranteed"]], "joint-GDP for rewards and contexts")
  agent_close(agent)
})

test_that("a ticket whose context is gone or is no context is damage, and no crash, for one and for many", {
  skip_if_not_installed("RSQLite")
  wrong <- list("", "00", "zz", write_context("a"), write_context(c(1, 2, 3)), write_context(1:2), NA)
  for (n in c(1, 150)) {
    turn <- test_clock()
    con <- withr::local_db_connection(DBI::dbConnect(RSQLite::SQLite(), ":memory:"))
    agent <- dpts_agent(policy_linucb(mu = 1, norm = 1), c("a", "b"), con, use = "deadline", deadline = hours(1), dim = 2)
    agent_reward(agent, agent_choose(agent, n, context = c(0.5, 0.5))$ticket, 1)
    turn(3601)
    for (context in if (n == 1) wrong else NA) {
      DBI::dbExecute(con, "UPDATE dpts_ticket SET context = ?", params = list(context))
      for (i in 1:2) expect_error(pulls(agent), "says: the context of a ticket cannot be read$", class = "dpts_error_store_damaged")
      expect_error(agent_open(con), class = "dpts_error_store_damaged")
    }
  }
  # A policy in R is not told that there was none.
  con <- withr::local_db_connection(DBI::dbConnect(RSQLite::SQLite(), ":memory:"))
  agent <- dpts_agent(greedy_policy(), 2, con, use = "deadline", deadline = hours(1))
  agent_reward(agent, agent_choose(agent, context = c(0.5, 0.5))$ticket, 1)
  turn(3601)
  DBI::dbExecute(con, "UPDATE dpts_ticket SET context = '0zz'")
  expect_error(pulls(agent), "says: the context of a ticket cannot be read$", class = "dpts_error_store_damaged")
  # Nor does the code in C read what is not there.
  handle <- live_handle(policy_linucb(), dim = 2)
  expect_error(.Call(C_session_choose, handle, NULL, NULL), "contexts of 2 numbers")
  expect_error(.Call(C_session_choose, handle, NULL, c(0.5, 0.5, 0.5)), "contexts of 2 numbers")
  play <- .Call(C_session_choose, handle, NULL, c(0.5, 0.5))
  expect_error(.Call(C_session_update, handle, play[2], play[1], play[3], 1, NULL, NULL), "contexts of 2 numbers")
  expect_error(.Call(C_session_update, handle, play[2], play[1], play[3], 1, 1:2, NULL), "contexts of 2 numbers")
  expect_error(.Call(C_session_update_until, handle, play[2], as.integer(play[1]), play[3], 1, 1L), "contexts of 2 numbers")
})

test_that("after the end a contextual agent names no arm by counts: to R, to the service, in print", {
  agent <- dpts_agent(policy_linucb(mu = 1, norm = 1, batch = 5), c("short", "long"), use = "arrival", dim = 2)
  agent_choose(agent, 21, context = c(1, 0), offer = "long")
  agent_finish(agent)
  expect_match(format(agent), "^  end: +chooses no more$", all = FALSE)
  expect_true(is.na(api_status(agent)$winner))
  expect_error(agent_choose(agent, context = c(1, 0)), class = "dpts_error_ended")
  if (requireNamespace("jsonlite", quietly = TRUE)) {
    service <- new_service(agent, "0123456789-secret", Inf, NULL)
    answer <- api_caught(service, list2env(list(dpts_experiment = "agent")),
                         tryCatch(agent_choose(agent, context = c(1, 0)), error = identity))
    expect_identical(answer$status, 410L)
    expect_match(answer$body, '"arm":null', fixed = TRUE)
  }
  # Arms go without a new winner, and choices go by the context.
  agent_finish(agent, "verdict")
  expect_output(print(agent), "goes on with what it has learned")
  agent_arms(agent, retire = "long")
  expect_true(is.na(agent$life$winner))
  expect_equal(as.character(agent_choose(agent, context = c(1, 0))$arm), "short")
})

test_that("where one model is for all arms a ticket keeps the context of its arm", {
  agent <- dpts_agent(policy_linucb(model = "shared"), 3, use = "arrival", dim = 2)
  context <- matrix(1:6 / 10, 3)
  for (arm in c(3, 1, 2)) {
    x <- agent_choose(agent, 2, context = context, offer = arm)
    kept <- lapply(stored(agent, x$ticket)$context, read_context, numbers = TRUE)
    expect_equal(kept, list(context[arm, ], context[arm, ]))
  }
})

test_that("a number of a context that is missing is named", {
  agent <- dpts_agent(policy_linucb(mu = 1), 2, use = "arrival", dim = 3)
  expect_error(agent_choose(agent, context = c(0.5, NA, 1)), "element 2 is NA", class = "dpts_error_input")
  expect_error(agent_choose(agent, context = c(0.5, 0, Inf)), "element 3 is Inf", class = "dpts_error_input")
  expect_error(agent_choose(agent, 2, context = rbind(c(0.1, 0.2, 0.3), c(0.4, NA, 0.6))), "number 2 of row 2 is NA",
               class = "dpts_error_input")
  expect_error(evidence(agent), "strata", class = "dpts_error_input")
})

test_that("contexts longer than `norm` are counted, and shown to others only where they are public", {
  withr::local_seed(31)
  z <- rbind(c(0.9, 0.5), c(0.1, 0.2), c(0.6, 0.8), c(0.7, 0.8))
  seen <- function(policy, ...) {
    agent <- dpts_agent(policy, 2, use = "arrival", dim = 2, ...)
    agent_choose(agent, 4, context = z)
    agent_choose(agent, 2, context = z[1, ], key = "a")
    agent_choose(agent, 2, context = z[1, ], key = "a") # asked for again: no new context
    agent
  }
  said <- function(agent) utils::capture.output(print(agent))
  agent <- seen(policy_linucb(mu = 1, norm = 1))
  expect_equal(agent$life$clipped, 4) # 0.6, 0.8 is of length 1
  expect_match(said(agent), "contexts:  no longer than 1, 4 shortened", all = FALSE, fixed = TRUE)
  expect_identical(api_status(agent)$clipped, NA)
  expect_equal(api_status(seen(policy_linucb(mu = 1, norm = 1, contexts = "public")))$clipped, 4)
  expect_equal(seen(policy_linucb(1, norm = 1.3))$life$clipped, 5) # sums of 1.4, 0.3, 1.4, 1.5 and twice 1.4
  without <- seen(policy_linucb(mu = 1))
  expect_no_match(said(without), "contexts:")
  expect_identical(api_status(without)$clipped, NA)
  # With contexts of their own it is that of the arm chosen.
  shared <- dpts_agent(policy_linucb(mu = 1, norm = 1, model = "shared"), 2, use = "arrival", dim = 2)
  for (i in 1:6) agent_choose(shared, context = rbind(c(1, 1), c(0.1, 0)), offer = 1 + (i > 2))
  expect_equal(shared$life$clipped, 2)
})

test_that("a number of a context that is not finite is named", {
  agent <- dpts_agent(policy_linucb(mu = 1), 2, use = "arrival", dim = 2)
  bad <- function(context, what, n = 1) expect_error(agent_choose(agent, n, context = context), what, class = "dpts_error_input")
  bad(c(0.1, NA), "element 2 is NA")
  bad(c(NA, NA), "element 1 is NA")
  bad(c(0.1, -Inf), "element 2 is -Inf")
  bad(rbind(c(0.1, 0.2), c(0.3, NaN)), "number 2 of row 2 is NaN", 2)
  bad(c(TRUE, FALSE), "not a logical vector")
  expect_equal(sum(pulls(agent)$pulls), 0)
})
