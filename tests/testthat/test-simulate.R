skip_on_cran() # takes seconds

arms3 <- function() arms_bernoulli(c(0.7, 0.5, 0.4))

test_that("the result is the promised tibble", {
  sim <- dpts_simulate(arms3(), list(a = policy_ucb1(), b = policy_uniform()), 500,
                       runs = 3, seed = 1, record = 20)
  expect_s3_class(sim, c("dpts_simulation", "tbl_df"), exact = FALSE)
  expect_named(sim, c("policy", "run", "t", "regret", "reward"))
  expect_identical(levels(sim$policy), c("a", "b"))
  expect_equal(nrow(sim), 2 * 3 * 20)
  expect_equal(max(sim$t), 500)
  curves <- split(sim, list(sim$policy, sim$run))
  for (curve in curves) {
    expect_false(is.unsorted(curve$t, strictly = TRUE))
    expect_false(is.unsorted(curve$regret))
    expect_false(is.unsorted(curve$reward))
  }
})

test_that("regret is pulls times gaps and rewards count successes", {
  sim <- dpts_simulate(arms3(), policy_ts_beta(), 1000, runs = 5, seed = 1, record = 3)
  counts <- pulls(sim)
  expect_equal(sim$regret[sim$t == 1000],
               as.vector(tapply(counts$pulls * c(0, 0.2, 0.3), counts$run, sum)))
  expect_true(all(tapply(counts$pulls, counts$run, sum) == 1000))
  expect_true(all(sim$reward == round(sim$reward)))
  # Uniform choice on arms that always pay: a reward each round.
  sure <- dpts_simulate(arms_bernoulli(c(1, 1)), policy_uniform(), 100, runs = 1, seed = 1)
  expect_equal(sure$reward, sure$t)
  expect_true(all(sure$regret == 0))
})

test_that("recorded rounds show both the start and the end", {
  for (horizon in c(1, 2, 10, 199, 200, 201, 1e3, 1e5, 1e9, 1e12)) {
    for (n in c(1, 2, 7, 200)) {
      rounds <- record_rounds(n, horizon)
      expect_length(rounds, min(n, horizon))
      expect_equal(max(rounds), horizon)
      if (n > 1) expect_equal(min(rounds), 1)
      expect_false(is.unsorted(rounds, strictly = TRUE))
    }
  }
  rounds <- record_rounds(200, 1e5)
  expect_gt(sum(rounds <= 100), 15)
  expect_lt(max(diff(rounds)), 1100)
})

test_that("one seed gives one answer, whatever the threads, chunks, ranges and company", {
  base <- dpts_simulate(arms3(), policy_ts_gaussian(), 3000, runs = 12, seed = 42)
  again <- function(...) dpts_simulate(arms3(), policy_ts_gaussian(), 3000, seed = 42, ...)
  expect_identical(again(runs = 12), base)
  expect_identical(again(runs = 12, threads = 2), base)
  expect_identical(again(runs = 12, checkpoint = withr::local_tempfile()), base)
  part <- again(runs = 5:8)
  expect_identical(part$regret, base$regret[base$run %in% 5:8])
  expect_identical(again(runs = c(8, 5))$reward[1:200], base$reward[base$run == 8])
  expect_identical(rbind(again(runs = 1:7), again(runs = 8:12)), base)
  both <- dpts_simulate(arms3(), list(u = policy_ucb1(), ts_gaussian = policy_ts_gaussian()),
                        3000, runs = 12, seed = 42)
  expect_identical(both$regret[both$policy == "ts_gaussian"], base$regret)
  few <- again(runs = 12, record = c(10, 3000))
  expect_identical(few$regret[few$t == 3000], base$regret[base$t == 3000])
  expect_false(identical(dpts_simulate(arms3(), policy_ts_gaussian(), 3000, runs = 12,
                                       seed = 43)$regret, base$regret))
})

test_that("workers give the sequential answer bit for bit", {
  skip_if_not_installed("future.apply")
  who <- withr::local_tempfile()
  nap <- withr::local_tempfile()
  noting <- policy_custom("noting", function(k, horizon) 0, function(state, round) {
    cat(Sys.getpid(), "\n", file = who, append = TRUE)
    if (round$t == 9 && file.exists(nap)) Sys.sleep(0.06) # more than a slice of the work
    1
  }, function(state, feedback) state)
  policies <- list(a = policy_ts_gaussian(), b = policy_ucb1(), c = noting)
  play <- function(...) dpts_simulate(arms3(), policies, 60, runs = 9, seed = 7, ...)
  players <- function() unique(scan(who, quiet = TRUE))
  base <- play()
  expect_identical(players(), as.double(Sys.getpid()))
  old <- future::plan("multicore", workers = 2)
  withr::defer(future::plan(old))
  skip_if(inherits(future::plan(), "sequential"), "no plan to test with")
  expect_identical(play(), base)
  expect_identical(players(), as.double(Sys.getpid())) # what takes no time is played here
  withr::local_options(dpts.seconds_before_workers = 0)
  unlink(who)
  file.create(nap)
  expect_identical(play(checkpoint = withr::local_tempfile()), base)
  expect_false(Sys.getpid() %in% players())
})

test_that("work is cut into one part for each policy and problem, four for each worker, or 16 with a checkpoint", {
  job <- list(problems = list(x = 1, y = 2, z = 3), policies = list(a = 1, b = 2), runs = c(3:20, 30, 40))
  parts <- function(...) {
    chunks <- job_chunks(job, ...)
    all <- expand.grid(policy = c("a", "b"), problem = c("x", "y", "z"), stringsAsFactors = FALSE)
    at <- vapply(chunks, function(chunk) paste(chunk$policy, chunk$problem), "")
    expect_identical(unique(at), paste(all$policy, all$problem))
    for (own in split(chunks, at)) expect_identical(unlist(lapply(own, `[[`, "run")), job$runs)
    range(lengths(lapply(chunks, `[[`, "run")))
  }
  expect_equal(parts(), c(20, 20))
  expect_equal(parts(workers = 1), c(20, 20))
  expect_equal(parts(workers = 3), c(10, 10)) # 12 parts
  expect_equal(parts(workers = 4), c(6, 7)) # 16 or more are 18
  expect_equal(parts(workers = 500), c(1, 1))
  expect_equal(lengths(lapply(job_chunks(job, list(), 500), `[[`, "run")), rep(rep(c(1, 1, 1, 2), 4)[c(1:16)], 6))
})

test_that("set.seed() works and a given seed leaves the generator alone", {
  set.seed(1)
  one <- dpts_simulate(arms3(), policy_ts_gaussian(), 100, runs = 2)
  set.seed(1)
  expect_identical(dpts_simulate(arms3(), policy_ts_gaussian(), 100, runs = 2), one)
  before <- .Random.seed
  dpts_simulate(arms3(), policy_ts_gaussian(), 100, runs = 2, seed = 5)
  expect_identical(.Random.seed, before)
})

test_that("memory does not grow with the horizon", {
  # 2e6 rounds of plain play; rows and pulls are all that is kept.
  used <- sum(gc(reset = TRUE)[, 6])
  dpts_simulate(arms3(), policy_uniform(), 2e6, runs = 1, seed = 1)
  expect_lt(sum(gc()[, 6]) - used, 8)
})

test_that("a slice of work answers within a tenth of a second", {
  out <- simulate_begin(list(arms = arms_truncexp(seq(0, 5, length.out = 5000)), horizon = 1e9,
                             record = c(1, 1e9), seed = 1, delay = 0L, batch = 1, engine = "plain"),
                        kernel(policy_ts_beta(), 1e9), 1)
  took <- vapply(1:5, function(i) {
    system.time(.Call(C_simulate_advance, out$handle, 0.05), gcFirst = FALSE)[["user.self"]]
  }, 0)
  expect_lt(max(took), 0.1)
})

test_that("a checkpoint resumes, is refused by another call, and is never torn", {
  path <- withr::local_tempfile(fileext = ".rds")
  call <- function(...) {
    dpts_simulate(arms3(), list(a = policy_ucb1(), b = policy_ts_beta()), 500, runs = 20,
                  checkpoint = path, ...)
  }
  base <- call(seed = 1)
  expect_identical(call(seed = 1), base)
  # Half of the chunks gone, as after a kill: the rest is computed again.
  stored <- readRDS(path)
  expect_gt(length(stored$chunks), 10)
  stored$chunks <- stored$chunks[1:5]
  saveRDS(stored, path)
  mark <- function(results, run) {
    results$regret[1] <- -1
    results
  }
  edit_checkpoint(path, mark, 1)
  resumed <- call(seed = 1)
  expect_equal(resumed$regret[1], -1) # what was stored was used
  expect_identical(resumed$regret[-1], base$regret[-1])
  expect_error(call(seed = 2), class = "dpts_error_checkpoint")
  writeLines("hello", path)
  expect_error(call(seed = 1), class = "dpts_error_checkpoint")
  expect_identical(readLines(path), "hello")
  expect_error(dpts_simulate(arms3(), policy_ucb1(), 10, checkpoint = "/nowhere/at/all.rds"),
               class = "dpts_error_checkpoint")
  expect_equal(list.files(dirname(path), paste0("^\\.", basename(path)), all.files = TRUE),
               character())
})

test_that("a checkpoint grows: more runs, other policies", {
  path <- withr::local_tempfile(fileext = ".rds")
  arms <- arms3()
  play <- function(policies, runs, ..., checkpoint = path) {
    dpts_simulate(arms, policies, 500, runs = runs, seed = 1, checkpoint = checkpoint, ...)
  }
  two <- list(a = policy_ucb1(), b = policy_ts_beta())
  first <- play(two, 5)
  edit_checkpoint(path, function(results, run) {
    results$regret[1] <- -1 # run 1 of a
    results
  }, 1)
  three <- c(two, list(c = policy_uniform()))
  more <- play(three, 8)
  plain <- play(three, 8, checkpoint = NULL)
  expect_equal(more$regret[1], -1) # what was stored was used
  expect_identical(more$regret[-1], plain$regret[-1])
  expect_identical(pulls(more), pulls(plain))
  # by the policy's definition, not by its label; and run by run
  expect_equal(play(list(other = policy_ucb1()), run_range(1, 1))$regret[1], -1)
  expect_identical(play(list(a = policy_ts_beta()), 3:7)$regret, plain$regret[plain$policy == "b" & plain$run %in% 3:7])
  n <- length(readRDS(path)$chunks)
  play(three, 8)
  expect_length(readRDS(path)$chunks, n) # nothing was left to play
  # a change of what is printed is no other policy
  withr::with_options(list(digits = 3), expect_length(readRDS(path)$chunks, n))
  refused <- function(...) tryCatch(dpts_simulate(..., checkpoint = path), error = conditionMessage)
  expect_match(refused(arms, two, 500, runs = 5, seed = 2), "another seed")
  expect_match(refused(arms, two, 500, runs = 5, seed = 1, record = 7), "other recorded rounds")
  expect_match(refused(arms, two, 600, runs = 5, seed = 1, record = I(unique(first$t))), "another horizon")
  expect_match(refused(arms_bernoulli(c(0.5, 0.4)), two, 500, runs = 5, seed = 1), "other arms")
  withr::with_options(list(dpts.engine = "skip"), expect_match(refused(arms, two, 500, runs = 5, seed = 1), "another engine[.]"))
})

test_that("a checkpoint is not rewritten for every chunk, and an error loses none", {
  path <- withr::local_tempfile(fileext = ".rds")
  size <- NULL
  now <- 0 # a clock that each look moves by a second: no other process makes a writing long
  local_function("seconds_now", function(old) function() now <<- now + 1)
  play <- function(job, chunk, tick) {
    size <<- c(size, file.size(path))
    if (chunk$run == 16) stop("full stop")
    list(x = chunk$run) # no work: writing it is what takes time
  }
  job <- list(problems = list(one = list(1)), policies = list(a = policy_ucb1()), runs = 1:16, keeps = "x", seed = 1)
  expect_error(play_job(job, play, path, FALSE), "full stop")
  expect_length(size, 16)
  expect_lt(length(unique(size)), 8)
  kept <- readRDS(path)$chunks
  expect_length(kept, 15)
  # What is long takes little room, and what is too long to be compressed is read as it is.
  results <- list(x = matrix(0L, 100, 1e4), y = NULL)
  packed <- pack_chunk(kept[[1]], results)
  expect_lt(utils::object.size(packed), utils::object.size(results) / 100)
  packed$plain <- serialize(results, NULL)
  for (as in c("packed", "plain")) expect_identical(unpack_chunk(list(packed = packed[[as]])), results)
  # A folder that goes away in the middle: the error names the argument.
  folder <- withr::local_tempdir()
  gone <- policy_custom("gone", start = function(k, horizon) unlink(folder, recursive = TRUE),
                        choose = function(state, round) 1L, update = function(state, feedback) state)
  expect_error(dpts_simulate(arms3(), gone, 10, runs = 3, seed = 1, checkpoint = withr::local_tempdir()),
               "must be a file, not a folder", class = "dpts_error_checkpoint")
  expect_error(dpts_simulate(arms3(), gone, 10, runs = 3, seed = 1, checkpoint = file.path(folder, "a.rds")),
               "`checkpoint` must be a file that can be written", class = "dpts_error_checkpoint")
})

test_that("a checkpoint needs a seed, before any work", {
  path <- withr::local_tempfile()
  expect_error(dpts_simulate(arms3(), policy_ucb1(), 10, checkpoint = path), "`seed`",
               class = "dpts_error_checkpoint")
  expect_false(file.exists(path))
})

test_that("run ranges stay runs when there is one", {
  expect_equal(as.double(run_range(7, 7)), 7)
  expect_length(run_range(1, 1e9), 1e9) # at once, and in no memory
  expect_error(dpts_simulate(arms3(), policy_ucb1(), 10, runs = run_range(1, 1e9)), class = "dpts_error_memory")
  expect_identical(unique(dpts_simulate(arms3(), policy_ucb1(), 10, runs = run_range(7, 7), seed = 1)$run), 7L)
  expect_identical(unique(dpts_simulate(arms3(), policy_ucb1(), 10, runs = run_range(3, 5), seed = 1)$run), 3:5)
  expect_error(run_range(5, 3), "`to`", class = "dpts_error_input")
  expect_error(run_range(0, 3), "`from`", class = "dpts_error_input")
})

test_that("what does not fit into memory is refused before it is made", {
  took <- system.time(expect_error(
    dpts_simulate(arms3(), policy_ucb1(), 1e9, record = 1e9, runs = 8), "8 runs and 1 policy make 8e9 rows, which need about 288 GB",
    class = "dpts_error_memory"
  ), gcFirst = FALSE)
  expect_lt(took[["elapsed"]], 2)
  expect_error(dpts_simulate(arms3(), policy_ucb1(), 1e3, runs = 1e9), class = "dpts_error_memory")
  withr::local_options(dpts.memory = 1e4)
  expect_error(dpts_simulate(arms3(), policy_ucb1(), 1e3, runs = 2), class = "dpts_error_memory")
  # Of several problems, policies and runs: 36 bytes a row, and 40 a round that is kept
  ask <- function(bytes, arg, horizon, ...) {
    withr::local_options(dpts.memory = bytes)
    play <- function() {
      dpts_simulate(list(x = arms3(), y = arms3(), z = arms3()), list(a = policy_ucb1(), b = policy_uniform()), horizon, runs = 5,
                    seed = 1, ...)
    }
    if (is.null(arg)) expect_s3_class(play(), "dpts_simulation") else
      expect_error(play(), sprintf("`%s`", arg), class = "dpts_error_memory")
  }
  ask(3 * 2 * 5 * 7 * 36, NULL, 50, record = 7)
  ask(3 * 2 * 5 * 7 * 36 - 1, "record", 50, record = 7)
  ask(3 * 2 * 5 * 50 * 36, NULL, 50, record = 70)
  ask(3 * 2 * 5 * 50 * 40, NULL, 50, history = TRUE)
  ask(3 * 2 * 5 * 50 * 40 - 1, "history", 50, history = TRUE)
  withr::local_options(dpts.memory = "16 GB")
  expect_error(dpts_simulate(arms3(), policy_ucb1(), 1e3, runs = 2), "number of bytes", class = "dpts_error_input")
})

test_that("copies that killed processes left are removed, once they are old", {
  folder <- withr::local_tempdir()
  path <- file.path(folder, "c.rds")
  old <- tempfile(".c.rds-", tmpdir = folder)
  young <- tempfile(".c.rds-", tmpdir = folder)
  mine <- file.path(folder, ".c.rds-notes")
  for (copies in list(old, c(old, young))) { # of two minutes, alone and beside a new one
    file.create(copies, mine)
    Sys.setFileTime(c(old, mine), Sys.time() - 120)
    dpts_simulate(arms3(), policy_ucb1(), 10, seed = 1, checkpoint = path)
    expect_false(file.exists(old))
  }
  expect_identical(file.exists(old, young, mine, path), c(FALSE, TRUE, TRUE, TRUE))
})

test_that("policies may come alone, named, or unnamed", {
  expect_identical(levels(dpts_simulate(arms3(), policy_ucb1(), 10, seed = 1)$policy), "ucb1")
  two <- dpts_simulate(arms3(), list(policy_ucb1(), x = policy_uniform()), 10, seed = 1)
  expect_identical(levels(two$policy), c("ucb1", "x"))
  joined <- dpts_simulate(arms3(), c(a = policy_ucb1(), list(b = policy_uniform())), 10,
                          seed = 1)
  expect_identical(levels(joined$policy), c("a", "b"))
})

test_that("unnamed policies of one kind are told apart by what they differ in", {
  labels <- function(...) names(dpts:::check_policies(list(...)))
  expect_identical(labels(policy_dp_ts(1 / 3), policy_ucb1(), policy_dp_ts(2)),
                   c("dp_ts(epsilon = 0.33333)", "ucb1", "dp_ts(epsilon = 2)"))
  expect_identical(labels(policy_ts_gaussian(2, 3), policy_ts_gaussian(2), policy_ts_gaussian(5)),
                   paste0("ts_gaussian(prepulls = ", c(2, 2, 5), ", variance_scale = ",
                          c(3, 1, 1), ")"))
  # Arguments that only some have been given.
  expect_identical(labels(policy_gaussian_imed(1), policy_gaussian_imed(1, correlation = 0)),
                   c("gaussian_imed", "gaussian_imed(correlation = 0)"))
  # What five digits cannot tell apart has more of them.
  expect_identical(labels(policy_dp_ts(1), policy_dp_ts(1 + 1e-9)),
                   c("dp_ts(epsilon = 1)", "dp_ts(epsilon = 1.000000001)"))
  expect_error(labels(ucb1 = policy_uniform(), policy_ucb1()), class = "dpts_error_input")
  expect_error(labels(policy_ucb1(), policy_ucb1()), class = "dpts_error_input")
  # A count is never rounded, and no number of the call itself is.
  policy <- policy_ts_gaussian(1234567, 10 / 3)
  expect_identical(format(policy, digits = 5),
                   "policy_ts_gaussian(prepulls = 1234567, variance_scale = 3.3333)")
  # The call that is printed is the policy, with all its digits.
  shown <- paste(capture.output(print(policy)), collapse = "")
  expect_match(gsub(" ", "", shown), gsub(" ", "", format(policy)), fixed = TRUE)
  expect_equal(eval(parse(text = format(policy))), policy, tolerance = 1e-14)
})

test_that("a factor is neither run numbers nor rounds", {
  expect_error(dpts_simulate(arms3(), policy_ucb1(), 10, runs = factor(1:2)),
               "runs", class = "dpts_error_input")
  expect_error(dpts_simulate(arms3(), policy_ucb1(), 10, record = factor(1:2)),
               "record", class = "dpts_error_input")
})

test_that("ten thousand arms work", {
  arms <- arms_bernoulli(seq(0.1, 0.9, length.out = 1e4))
  sim <- dpts_simulate(arms, list(policy_ts_gaussian(), policy_ts_beta(), policy_ucb1(),
                                  policy_uniform()), 50, runs = 1, seed = 1)
  expect_true(all(is.finite(sim$regret)))
})

test_that("bad calls are refused by name, before any work", {
  expect_snapshot(error = TRUE, {
    dpts_simulate(1, policy_ucb1(), 10)
    dpts_simulate(arms3(), "ucb1", 10)
    dpts_simulate(arms3(), list(), 10)
    dpts_simulate(arms3(), list(a = policy_ucb1(), b = 2), 10)
    dpts_simulate(arms3(), list(a = policy_ucb1(), a = policy_uniform()), 10)
    dpts_simulate(arms3(), policy_ucb1(), 0)
    dpts_simulate(arms3(), policy_ucb1(), 1.5)
    dpts_simulate(arms3(), policy_ucb1(), 1e16)
    dpts_simulate(arms3(), policy_ucb1(), NA)
    dpts_simulate(arms3(), policy_ts_gaussian(prepulls = 10), 29)
    dpts_simulate(arms3(), policy_ucb1(), 10, runs = 0)
    dpts_simulate(arms3(), policy_ucb1(), 10, runs = c(1, 2.5))
    dpts_simulate(arms3(), policy_ucb1(), 10, runs = c(1, 1))
    dpts_simulate(arms3(), policy_ucb1(), 10, record = c(1, 11))
    dpts_simulate(arms3(), policy_ucb1(), 10, record = 0)
    dpts_simulate(arms3(), policy_ucb1(), 10, seed = -1)
    dpts_simulate(arms3(), policy_ucb1(), 10, threads = 0)
    dpts_simulate(arms3(), policy_ucb1(), 10, progress = NA)
    dpts_simulate(arms3(), policy_ucb1(), 10, run = 5)
    dpts_simulate(arms3(), policy_ucb1(), 10, 5)
  })
})

test_that("progress is shown if asked for, and changes nothing", {
  withr::local_options(cli.progress_show_after = 0)
  play <- function(progress) {
    dpts_simulate(arms3(), policy_klucb(), 1e4, runs = 40, seed = 1, progress = progress)
  }
  shown <- capture.output(loud <- play(TRUE), type = "message")
  quiet <- capture.output(still <- play(FALSE), type = "message")
  expect_identical(loud, still)
  expect_length(quiet, 0)
  expect_match(paste(shown, collapse = " "), "Simulating .*% .*ETA")
})

test_that("rounds to record and runs may be named in any order", {
  play <- function(...) dpts_simulate(arms3(), policy_ucb1(), 50, seed = 1, ...)
  whole <- play(runs = 3, record = c(5, 20, 50))
  expect_identical(play(runs = 3, record = c(50, 5, 20)), whole)
  expect_equal(as.list(play(runs = c(3, 1, 2), record = c(5, 20, 50)))$regret, whole$regret[c(7:9, 1:6)])
})

test_that("a call that works in stages shows their bars once two seconds of all have passed", {
  withr::local_options(cli.progress_show_after = 2)
  stage <- function(waited) {
    begin_stages(FALSE)
    (function() begin_stages())() # a call inside: the outermost counts
    work$began <- work$began - waited
    expect_false(work$show) # by accountants too
    bar_waits()
  }
  expect_identical(bar_waits(), 2)
  expect_equal(stage(0.5), 1.5, tolerance = 0.1)
  expect_identical(stage(3), 0)
  expect_null(c(work$began, work$show))
})

test_that("Ctrl-C is answered at once, at any horizon", {
  skip_on_cran()
  skip_on_os("windows")
  # Since R 4.6 what began as a background job of a shell ignores Ctrl-C, and so do its children.
  ignored <- if (file.exists("/proc/self/status")) grep("^SigIgn:.*[2367abef]$", readLines("/proc/self/status"))
  skip_if(length(ignored) > 0, "this process ignores Ctrl-C")
  # Without a check for interrupts between slices this took ten seconds.
  started <- withr::local_tempfile()
  run <- parallel::mcparallel(tryCatch({
    file.create(started)
    dpts_simulate(arms_bernoulli(c(0.5, 0.5)), policy_ts_beta(), 1e12, runs = 2, seed = 1)
  }, interrupt = function(i) "stopped"))
  until <- Sys.time() + 20
  while (!file.exists(started) && Sys.time() < until) Sys.sleep(0.02)
  Sys.sleep(0.2)
  tools::pskill(run$pid, tools::SIGINT)
  said <- parallel::mccollect(run, wait = FALSE, timeout = 2)
  tools::pskill(run$pid, tools::SIGKILL)
  expect_identical(unname(said), list("stopped"))
})
