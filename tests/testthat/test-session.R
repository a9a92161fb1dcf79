# A session: one policy at work, saved, restored and fed whatever comes.

skip_on_cran() # takes seconds

test_that("no policy in C is left out", {
  withr::local_seed(1)
  policies <- lapply(session_policies(), function(case) case$make())
  expect_setequal(c(vapply(policies, function(x) unwrapped(x)$name, ""), "custom"), names(.Call(C_policy_properties)))
  covered <- unique(vapply(policies, function(x) sub("^dpts_", "", class(x)[1]), ""))
  constructors <- grep("^policy_", getNamespaceExports("dpts"), value = TRUE)
  expect_setequal(setdiff(constructors, c("policy_custom", "policy_compiled")), covered)
})

test_that("a session that is saved and restored in the middle goes on to the bit", {
  withr::local_seed(1)
  scripts <- if (extended()) 100 else 4
  cases <- session_policies()
  for (name in names(cases)) for (i in seq_len(scripts)) {
    case <- cases[[name]]
    policy <- case$make()
    steps <- case$steps()
    script <- random_script(sample.int(4, 1), steps, case$dim, runif(1) < 0.5 || is_shared(policy))
    if (i %% 2 == 0) script$delays <- random_delays(steps) # pulls are out when it is saved
    script <- utils::modifyList(script, list(fresh = NULL, max_ledger = 64 * steps, silent = FALSE))
    play <- function(saves) {
      script$saves <- saves
      out <- .Call(C_trace, kernel(policy, script$horizon), script)
      columns <- c("exact", "kind", "scale", "noise", "value", "release", "gain", "correlation")
      out[columns] <- lapply(out[columns], utils::head, out$total)
      out
    }
    straight <- play(NULL)
    expect_identical(play(sort(sample.int(steps, min(steps, 5)))), straight,
                     label = paste(name, format(policy)))
  }
})

# ---- bytes -------------------------------------------------------------------------------

# One session of each policy after some rounds
live_sessions <- function(rounds = 20) {
  lapply(session_policies(), function(case) {
    policy <- case$make()
    context <- if (case$dim) c(0.3, 0.8)[seq_len(case$dim)]
    handle <- live_handle(policy, dim = case$dim)
    for (i in seq_len(rounds)) {
      x <- .Call(C_session_choose, handle, NULL, context)
      # Noise on contexts has no exact form, and such policies no live sessions.
      if (is.null(not_live(policy))) {
        .Call(C_session_update, handle, x[2], as.integer(x[1]), x[3], 0.5, context, NULL)
      }
    }
    list(policy = policy, dim = case$dim, handle = handle, bytes = .Call(C_session_save, handle))
  })
}

# What restoring says; "nothing" if it is done
restore <- function(handle, bytes) tryCatch({
  .Call(C_session_restore, handle, bytes)
  "nothing"
}, error = conditionMessage)

OTHER <- "another policy, problem or version"
DAMAGED <- "damaged"

test_that("the plain loop of a simulation is choose, commit and update, round by round", {
  # A script has hooks, and there nothing is left out or joined.
  set.seed(38)
  for (name in names(session_policies())) {
    case <- session_policies()[[name]]
    if (case$dim > 0) next
    for (arms in list(arms_bernoulli(c(0.6, 0.55, 0.2)), arms_beta(c(2, 1, 3), c(1, 1, 2)))) {
      policy <- case$make()
      horizon <- max(400, 3 * policy$rounds_per_arm)
      played <- withr::with_options(list(dpts.engine = "plain"), dpts_simulate(
        arms, policy, horizon, runs = 1, seed = 5, history = TRUE, record = 7
      ))
      saw <- dpts_history(played)
      rewards <- matrix(0.5, horizon, 3)
      rewards[cbind(seq_len(horizon), saw$arm)] <- saw$reward
      script <- run_script(policy, 3, rep(NA, horizon), rewards, horizon, seed = 5)
      expect_identical(script$arm, as.integer(saw$arm), label = paste(name, class(arms)[1]))
      # And where nobody looks at every round.
      quiet <- withr::with_options(list(dpts.engine = "plain"), dpts_simulate(
        arms, policy, horizon, runs = 1, seed = 5, record = 3
      ))
      expect_identical(pulls(quiet)$pulls, tabulate(saw$arm, 3) + 0, label = paste(name, class(arms)[1]))
    }
  }
})

test_that("what is saved has nothing of the random numbers of a choice", {
  # Two sessions that did the same have the same bytes, whatever they drew from.
  saved <- replicate(2, simplify = FALSE, {
    handle <- live_handle(policy_fixed(1))
    .Call(C_session_choose, handle, NULL, NULL)
    .Call(C_session_save, handle)
  })
  expect_identical(saved[[1]], saved[[2]])
})

test_that("a saved session goes into one of the same policy and problem only", {
  withr::local_seed(2)
  sessions <- live_sessions()
  for (x in sessions) {
    again <- live_handle(x$policy, dim = x$dim)
    expect_identical(restore(again, x$bytes), "nothing")
    expect_identical(.Call(C_session_save, again), x$bytes)
    problems <- list(live_handle(x$policy, k = 4, dim = x$dim), live_handle(x$policy, dim = x$dim + 1),
                     # A policy that is started anew looks no further than that.
                     if (life_of(x$policy) == Inf) live_handle(x$policy, horizon = 201, dim = x$dim))
    problems <- Filter(Negate(is.null), problems)
    expect_match(vapply(problems, restore, "", x$bytes), OTHER)
  }
  # Nor into one that differs in what is around the policy alone
  around <- list(function(x) policy_local(policy_imed(), x), function(x) policy_restart(policy_ucb1(), 20 * x),
                 function(x) policy_restart(policy_local(policy_ucb1(), x), 20))
  for (wrap in around) {
    bytes <- .Call(C_session_save, live_handle(wrap(1)))
    expect_identical(restore(live_handle(wrap(1)), bytes), "nothing")
    expect_match(restore(live_handle(wrap(2)), bytes), OTHER)
  }
  # Every pair; a refused restore leaves the session as it was.
  errors <- list()
  names <- vapply(sessions, function(x) format(x$policy), "")
  for (i in seq_along(sessions)) for (j in setdiff(seq_along(sessions), i)) {
    a <- sessions[[i]]
    b <- sessions[[j]]
    if (identical(a$policy$args, b$policy$args) && a$policy$name == b$policy$name) next
    errors[[paste(names[i], "from", names[j])]] <- restore(a$handle, b$bytes)
  }
  expect_identical(names(errors)[!grepl(OTHER, errors)], character())
  for (x in sessions) expect_identical(.Call(C_session_save, x$handle), x$bytes)
})

test_that("a session of another version, of another parameter, or from another machine is refused", {
  handle <- live_handle(policy_dp_imed(1))
  bytes <- .Call(C_session_save, handle)
  # src/play_session_save.c: after four words come the versions of the format and of the state.
  for (at in c(33, 37)) {
    newer <- bytes
    newer[at] <- as.raw(as.integer(newer[at]) + 1L)
    expect_match(restore(handle, newer), OTHER)
  }
  for (policy in list(policy_dp_imed(2), policy_dp_imed(1, ratio = 1.9), policy_dp_klucb(1))) {
    expect_match(restore(live_handle(policy), bytes), OTHER)
  }
  swapped <- bytes
  swapped[9:16] <- rev(swapped[9:16])
  expect_match(restore(handle, swapped), DAMAGED)
})

test_that("a session with any byte flipped, or cut anywhere, is refused", {
  withr::local_seed(3)
  for (x in live_sessions()) {
    n <- length(x$bytes)
    flip <- function(at) {
      x$bytes[at] <- xor(x$bytes[at], as.raw(2^sample(0:7, 1)))
      restore(x$handle, x$bytes)
    }
    errors <- c(vapply(c(1:60, sample.int(n, 40)), flip, ""),
                vapply(c(0:40, n - 1, sample.int(n - 1, 20)), function(length) {
                  restore(x$handle, utils::head(x$bytes, length))
                }, ""),
                restore(x$handle, c(x$bytes, raw(1))), restore(x$handle, as.raw(sample(0:255, n, TRUE))))
    expect_match(errors, paste(OTHER, DAMAGED, sep = "|"))
    expect_identical(.Call(C_session_save, x$handle), x$bytes)
  }
})

# Up to three words of a saved session become nonsense, under a checksum that is made anew. It is refused, or plays
# on, with errors of R.
nonsense <- function() {
  switch(sample.int(6, 1), as.raw(sample(0:255, 8, TRUE)), as.raw(c(sample.int(40, 1), rep(0, 7))), as.raw(rep(255, 8)),
         writeBin(NaN, raw()), writeBin(1e300, raw()), as.raw(c(255, 255, 255, 127, 0, 0, 0, 0)))
}

play_nonsense <- function(case, k = sample(c(2:5, 60), 1), dim = case$dim %||% 0) {
  while (!is.null(not_live(policy <- case$make()))) next
  context <- if (dim) stats::runif(dim)
  play <- function(handle, rounds) {
    for (i in seq_len(rounds)) {
      x <- .Call(C_session_choose, handle, NULL, context)
      if (i %% 4) .Call(C_session_update, handle, x[2], as.integer(x[1]), x[3], i %% 3 / 2, context, NULL)
    }
  }
  handle <- live_handle(policy, k, 300, dim)
  play(handle, sample.int(2 * k, 1))
  bytes <- .Call(C_session_save, handle)
  for (at in sample(seq(49, length(bytes) - 7, 8), sample.int(3, 1))) bytes[at + 0:7] <- nonsense()
  again <- live_handle(policy, k, 300, dim)
  if (restore(again, sealed(bytes)) != "nothing") return("refused")
  calls <- list(function() play(again, 40), function() .Call(C_session_report, again), function() .Call(C_session_news, again),
                function() .Call(C_session_verdict, again), function() .Call(C_session_finish, again))
  for (call in calls) tryCatch(call(), error = function(e) NULL)
  "played"
}

survives <- function(times, seed) {
  job <- parallel::mcparallel({
    set.seed(seed)
    unlist(lapply(session_policies(), function(case) replicate(times, play_nonsense(case))))
  })
  out <- suppressWarnings(parallel::mccollect(job)[[1]])
  expect_setequal(out, c("refused", "played"))
}

test_that("nonsense under a right checksum is refused or an error, and never the end of R", {
  skip_on_os("windows") # cannot fork
  survives(4, seed = 1)
})

test_that("nonsense under a right checksum, at length", {
  skip_unless_extended()
  for (seed in 1:20) survives(20, seed)
})

# ---- whatever comes --------------------------------------------------------------------

# Random calls of one session: random arms on offer, rewards in any order, now and then feedback on
# what was never pulled, with an arm of another pull, or twice. What is refused is an error that
# says so and changes nothing; what is not leaves a session that goes on.
fuzz_session <- function(policy, operations, k = sample.int(5, 1), dim = 0) {
  handle <- live_handle(policy, k, 2 * operations, dim)
  context <- if (dim) stats::runif(dim)
  must <- function(ok, what) if (!ok) fail(paste(format(policy), what))
  out <- list()
  known <- list()
  pulls <- numeric(k)
  t <- 0
  feed <- function(x, arm = x[1], round = x[2]) {
    tryCatch({
      .Call(C_session_update, handle, round, as.integer(arm), x[3], sample(c(0, 1, 0.5, stats::runif(1)), 1),
            context, NULL)
      "used"
    }, error = conditionMessage)
  }
  for (i in seq_len(operations)) {
    what <- sample(c("play", "reward", "never", "arm", "twice", "save"), 1,
                   prob = c(8, 6, 1, 0.2, 0.2, 0.5))
    if (what == "play" || !length(known)) {
      offer <- sort(sample.int(k, sample.int(k, 1)))
      x <- .Call(C_session_choose, handle, if (length(offer) < k) offer, context)
      t <- t + 1
      pulls[x[1]] <- pulls[x[1]] + 1
      must(x[1] %in% offer && x[2] == t, "chooses an arm that is not on offer")
      out <- c(out, list(x))
      known <- c(known, list(x))
    } else if (what == "reward" && length(out)) {
      at <- sample.int(length(out), 1)
      must(feed(out[[at]]) == "used", "refuses a reward that is due")
      out[[at]] <- NULL
    } else if (what == "never") {
      x <- known[[1]]
      wrong <- sample(c("no arm", "arm 0", "later", "round 0"), 1)
      before <- .Call(C_session_save, handle)
      error <- switch(wrong, "no arm" = feed(x, arm = k + 1), "arm 0" = feed(x, arm = 0),
                      later = feed(x, round = t + 1), "round 0" = feed(x, round = 0))
      must(grepl("there was no pull", error), paste("takes feedback on", wrong))
      must(identical(.Call(C_session_save, handle), before), paste("is changed by feedback on", wrong))
    } else if (what %in% c("arm", "twice")) {
      # A caller's mistake that only its table of pulls can see: the session must live through it.
      x <- known[[sample.int(length(known), 1)]]
      feed(x, arm = if (what == "arm") sample.int(k, 1) else x[1])
    } else if (what == "save") {
      again <- live_handle(policy, k, 2 * operations, dim)
      .Call(C_session_restore, again, .Call(C_session_save, handle))
      handle <- again
    }
  }
  expect_identical(.Call(C_session_pulls, handle), pulls)
}

fuzz_sessions <- function(times, operations) {
  for (case in session_policies()) for (i in seq_len(times)) {
    while (!is.null(not_live(policy <- case$make()))) next
    fuzz_session(policy, operations, dim = case$dim)
  }
}

test_that("a session lives through whatever order and nonsense its caller makes", {
  withr::local_seed(4)
  fuzz_sessions(1, 80)
})

test_that("a session lives through it, at length", {
  skip_unless_extended()
  withr::local_seed(5)
  fuzz_sessions(5, 1000)
})

# The same through an agent, whose tickets see what a session cannot: a model in R says what each
# call must answer.
fuzz_agent <- function(policy, operations, use) {
  turn <- test_clock()
  k <- 3
  agent <- dpts_agent(policy, k, use = use, deadline = as.difftime(30, units = "secs"), horizon = 2 * operations)
  model <- list(ticket = character(), arm = integer(), due = numeric(), reward = numeric(), open = logical())
  now <- 0
  refused <- function(expr) tryCatch({
    expr
    "nothing"
  }, error = function(e) class(e)[1])
  for (i in seq_len(operations)) {
    step <- sample(0:2, 1)
    turn(step)
    now <- now + step
    # Deadlines are kept by whichever call comes next.
    model$open <- model$open & model$due > now
    what <- sample(c("choose", "reward", "again", "other", "unknown", "nonsense"), 1, prob = c(6, 5, 1, 1, 1, 1))
    if (what == "choose") {
      offer <- sort(sample.int(k, sample.int(k, 1)))
      x <- agent_choose(agent, sample.int(2, 1), offer = offer)
      expect_true(all(as.integer(x$arm) %in% offer))
      n <- nrow(x)
      model <- Map(c, model, list(x$ticket, as.integer(x$arm), rep(now + 30, n), rep(NA_real_, n), rep(TRUE, n)))
      next
    }
    if (what == "unknown") {
      expect_identical(agent_reward(agent, strrep("0", 32), 1)$status, "unknown")
      next
    }
    fresh <- which(model$open & is.na(model$reward))
    told <- which(model$open & !is.na(model$reward))
    if (what == "nonsense" && length(fresh)) {
      bad <- list(NaN, -0.1, 1.1, Inf, "1", NULL, NA_real_, c(0, 1))
      expect_identical(refused(agent_reward(agent, model$ticket[fresh[1]], bad[[sample.int(8, 1)]])),
                       "dpts_error_input")
    } else if (what == "reward" && length(fresh)) {
      at <- fresh[sample.int(length(fresh), 1)]
      model$reward[at] <- sample(0:4, 1) / 4
      expect_identical(agent_reward(agent, model$ticket[at], model$reward[at])$status,
                       if (use == "deadline") "waiting" else "used")
    } else if (what == "again" && length(told) && use == "deadline") {
      at <- told[sample.int(length(told), 1)]
      expect_identical(agent_reward(agent, model$ticket[at], model$reward[at])$status, "known")
    } else if (what == "other" && length(told) && use == "deadline") {
      at <- told[sample.int(length(told), 1)]
      expect_identical(agent_reward(agent, model$ticket[at], (model$reward[at] + 0.25) %% 1.25)$status, "refused")
    } else if (what %in% c("again", "other") && any(!model$open)) {
      # Past its deadline a reward changes nothing. Where it is protected whether an answer came, nobody is told.
      for (at in utils::head(which(!model$open), 5)) {
        answer <- agent_reward(agent, model$ticket[at], 1)$status
        kept <- if (is.na(model$reward[at]) || use == "deadline") "late" else c("known", "refused")
        expect_true(answer %in% kept)
      }
    }
  }
  shown <- pulls(agent)
  model$open <- model$open & model$due > now
  expect_equal(shown$pulls, tabulate(model$arm, k))
  out <- model$open & (use == "deadline" | is.na(model$reward))
  expect_equal(shown$outstanding, tabulate(model$arm[out], k))
  # Each resolved pull is in at most one release.
  resolved <- tabulate(model$arm[!out], k)
  rewards <- estimates(agent)$rewards
  expect_true(all(is.na(rewards) | rewards <= resolved))
  agent_close(agent)
}

test_that("an agent answers every ticket, order and nonsense as its tickets say", {
  withr::local_seed(6)
  for (use in c("arrival", "deadline")) {
    for (policy in list(policy_gaussian_imed(1, first = 2), policy_dp_se(5), policy_mt_ts(1), policy_ts_gaussian())) {
      fuzz_agent(policy, 16, use)
    }
  }
})

test_that("an agent answers every ticket as it should, at length", {
  skip_unless_extended()
  withr::local_seed(7)
  for (i in 1:4) for (use in c("arrival", "deadline")) {
    for (policy in list(policy_gaussian_imed(1, first = 2), policy_dp_se(5), policy_mt_ts(1), policy_ts_gaussian(),
                        policy_lazy_dp_ts(1), policy_dp_ts_ucb(0.5), greedy_policy())) {
      fuzz_agent(policy, 500, use)
    }
  }
})
