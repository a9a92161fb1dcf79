# What policies say of themselves (src/policy.h), held to what they do; and the verbs that few have.

# One random configuration of a policy, its arms given its releases, for two seeds
seeds_agree <- function(case) {
  policy <- case$make()
  steps <- case$steps()
  script <- random_script(sample.int(4, 1), steps, case$dim, runif(1) < 0.5 || is_shared(policy))
  play <- coupling_player(policy)
  first <- play(script)
  script$seed <- script$seed + 1
  list(same = identical(play(script, first$ledger$value)$arm, first$arm), released = length(first$ledger$exact))
}

test_that("a policy tosses, and releases, if and only if it says so", {
  cases <- Filter(function(case) !case$varies, session_policies())
  for (name in names(cases)) {
    withr::local_seed(3) # of its own, whatever other policies there are
    differs <- released <- FALSE
    for (i in 1:20) if (!(differs && released)) { # what has been seen both ways is known
      found <- seeds_agree(cases[[name]])
      differs <- differs || !found$same
      released <- released || found$released > 0
    }
    policy <- cases[[name]]$make()
    # What is tossed for rewards is not published, and decides later arms as well.
    tosses <- is_true_of(policy, "tosses") || is_true_of(policy, "tosses_coins")
    # Elimination tosses rarely.
    if (!isTRUE(cases[[name]]$drops)) expect_identical(differs, tosses, label = name)
    if (promises_nothing(policy$guarantee)) next
    expect_identical(released, is_true_of(policy, "releases"), label = name)
  }
})

test_that("a ledger holds every number, however many a step releases", {
  script <- list(k = 2, horizon = 6, arms = rep(NA_integer_, 6), rewards = matrix(0.5, 6, 2), seed = 1, own = FALSE,
                 contexts = matrix(0.2, 12, 6), fresh = TRUE)
  ledger <- coupling_player(policy_linucb(2, batch = 1))(script)$ledger
  # A matrix of 12 rows, which is symmetric, and a vector
  expect_gte(length(ledger$value), 6 * (12 * 13 / 2 + 12))
  expect_false(anyNA(unlist(ledger)))
})

test_that("a policy that needs no horizon plays without one", {
  withr::local_seed(2)
  for (case in Filter(function(case) !needs_horizon(case$make()), session_policies())) {
    policy <- case$make()
    contexts <- if (case$dim) matrix(runif(60 * case$dim), case$dim)
    if (is_shared(policy)) contexts <- array(runif(180 * case$dim), c(case$dim, 3, 60))
    out <- run_script(policy, 3, rep(NA, 60), matrix(runif(180), 60), Inf, contexts = contexts, own = is_shared(policy))
    expect_true(all(out$arm %in% 1:3), label = format(policy))
  }
  expect_true(needs_horizon(policy_dp_se(1)))
  expect_false(needs_horizon(policy_dp_se(1, 0.1)))
  expect_false(needs_horizon(policy_restart(policy_dp_se(1), 100)))
})

test_that("what may be concluded from releases each reward once, and is not wrapped", {
  concludes <- function(policy) is.null(no_evidence(policy))
  expect_true(all(vapply(list(policy_dp_imed(1), policy_dp_se(1), policy_lazy_ucb(1), policy_top_two(mu = 1),
                              policy_randomised(mu = 1), policy_adap_ucb(1), policy_lazy_gaussian_ts(1, correlation = 0.5)),
                         concludes, NA)))
  # Trees and draws use a reward many times; lives and bits are not the rewards of the whole.
  expect_false(any(vapply(list(policy_mt_ucb(1), policy_dp_ts(1), policy_dp_ts_ucb(0.5), policy_ts_gaussian(), policy_ucb1(),
                               policy_uniform(),
                               policy_restart(policy_dp_imed(1), 100), policy_local(policy_dp_imed(1), 1)), concludes, NA)))
})

# ---- the end ------------------------------------------------------------------------------

finishing <- function() {
  Filter(function(case) is_true_of(case$make(), "finishes") && !is_contextual(case$make()), session_policies())
}

test_that("at the end each reward that has come is in one release, and no other is in any", {
  withr::local_seed(3)
  cases <- finishing()
  expect_gt(length(cases), 10)
  for (name in names(cases)) for (i in 1:8) {
    policy <- cases[[name]]$make()
    if (life_of(policy) < Inf || flip_of(policy) > 0) next # the report is of the last life, or of bits
    steps <- cases[[name]]$steps()
    k <- sample.int(4, 1)
    script <- random_script(k, steps)
    script$discard <- NULL
    play <- function(finish) {
      out <- run_script(policy, k, rep(NA, steps), script$rewards, script$horizon, seed = 5, silent = TRUE,
                        finish = finish, offers = script$offers, delays = script$delays)
      columns <- c("exact", "gain", "correlation", "release")
      out[columns] <- lapply(out[columns], utils::head, out$total)
      out
    }
    out <- play(TRUE)
    before <- play(FALSE)
    expect_identical(utils::head(out$exact, before$total), before$exact, label = name)
    come <- which(seq_len(steps) + rep_len(script$delays %||% 0, steps) <= steps)
    count <- tabulate(out$arm[come], k) + 0
    drops <- cases[[name]]$drops
    if (isTRUE(drops) || drops == "interrupted" && !is.null(c(script$offers, script$delays))) {
      expect_true(all(out$report[1, ] <= count))
      next
    }
    expect_equal(out$report[1, ], count, label = name)
    if (any(out$correlation != 0 | out$gain != 1)) next # a moving average
    reward <- script$rewards[cbind(come, out$arm[come])]
    if (is_true_of(policy, "tosses_coins")) next
    predicted <- predictions_of(policy) # without contexts the middle
    if (!is.null(predicted)) {
      residuals <- (script$rewards - mean(predicted) + predicted[2]) / (1 + diff(predicted))
      reward <- residuals[cbind(come, out$arm[come])]
    }
    first <- !duplicated(out$release) # the squares of rewards come after their sum
    expect_equal(sum(out$exact[first]), sum(reward), label = name)
    if (any(!first)) expect_equal(sum(out$exact[!first]), sum((reward - 0.5)^2), label = name)
    expect_equal(out$report[2, ], vapply(seq_len(k), function(a) sum(reward[out$arm[come] == a]), 0), label = name)
  }
})

test_that("a session is finished once, may choose on, and does not use what comes later", {
  withr::local_seed(4)
  for (case in finishing()) {
    policy <- case$make()
    handle <- live_handle(policy)
    pulls <- lapply(1:9, function(i) .Call(C_session_choose, handle, NULL, NULL))
    feed <- function(x) .Call(C_session_update, handle, x[2], as.integer(x[1]), x[3], 1, NULL, NULL)
    for (x in pulls[1:5]) feed(x)
    .Call(C_session_finish, handle)
    expect_error(.Call(C_session_finish, handle), "finished before")
    restored <- live_handle(policy)
    .Call(C_session_restore, restored, .Call(C_session_save, handle))
    expect_error(.Call(C_session_finish, restored), "finished before")
    expect_true(.Call(C_session_choose, handle, NULL, NULL)[1] %in% 1:3)
    if (life_of(policy) < Inf || flip_of(policy) > 0) next
    # Those of batches that were not open are dropped as well, for these have no reward.
    expect_identical(unlist(lapply(pulls[6:9], function(x) nrow(feed(x)))), rep(0L, 4), label = format(policy))
  }
})

test_that("a simulation that is finished plays the same arms and knows of all rewards", {
  arms <- arms_bernoulli(c(0.6, 0.4, 0.5))
  policies <- list(gaussian = policy_gaussian_imed(1), dp = policy_dp_imed(1), se = policy_dp_se(2), ucb1 = policy_ucb1())
  for (engine in c("plain", "skip")) withr::with_options(list(dpts.engine = engine), {
    play <- function(...) dpts_simulate(arms, policies, 2000, runs = 4, seed = 3, record = 5, ...)
    open <- play()
    whole <- play(finish = TRUE)
    expect_identical(whole$regret, open$regret)
    expect_identical(pulls(whole)$pulls, pulls(open)$pulls)
    rewards <- function(sim, which) estimates(sim)$rewards[estimates(sim)$policy %in% which]
    expect_equal(rewards(whole, c("gaussian", "dp")), pulls(whole)$pulls[pulls(whole)$policy %in% c("gaussian", "dp")])
    expect_lt(sum(rewards(open, "gaussian")), 4 * 2000)
    expect_identical(rewards(whole, "ucb1"), rewards(open, "ucb1"))
  })
  expect_error(dpts_simulate(arms, policies, 100, finish = NA), class = "dpts_error_input")
})

# ---- chances and verdicts ------------------------------------------------------------------

test_that("the chance of the choice is given with it, where a policy tosses and can say", {
  chance <- function(policy, offer = NULL) .Call(C_session_choose, live_handle(policy), offer, NULL)[4]
  expect_equal(chance(policy_uniform()), 1 / 3)
  expect_equal(chance(policy_uniform(), c(1L, 3L)), 1 / 2)
  expect_equal(chance(policy_local(policy_uniform(), 1), 2L), 1)
  expect_identical(chance(policy_ucb1()), NA_real_)
  expect_identical(.Call(C_session_verdict, live_handle(policy_ucb1())), c(0, NA, NA))
  handle <- live_handle(policy_top_two(error = 0.01))
  expect_identical(.Call(C_session_verdict, handle), c(0, NA, NA))
  for (t in 1:200) {
    play <- .Call(C_session_choose, handle, NULL, NULL)
    .Call(C_session_update, handle, play[2], play[1], play[3], as.numeric(play[1] == 2), NULL, NULL)
  }
  expect_equal(.Call(C_session_verdict, handle), c(1, 2, 0.01))
})
