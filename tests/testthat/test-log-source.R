# A log in chunks gives what the same log gives in a data frame, to the bit.

skip_on_cran() # takes seconds

# Rows lo to hi as chunk i of `size`
cut_log <- function(log, size) {
  log_chunks(function(i) {
    from <- (i - 1) * size + 1
    if (from <= nrow(log)) log[from:min(nrow(log), from + size - 1), , drop = FALSE]
  })
}

small_log <- function(n = 1200) {
  withr::with_seed(1, {
    chances <- c(0.1, 0.15, 0.2, 0.25, 0.3)
    log <- data.frame(arm = sample(c(3L, 10L, 2L, 7L, 20L), n, TRUE, chances))
    log$propensity <- chances[match(log$arm, c(3, 10, 2, 7, 20))]
    log$x1 <- round(runif(n), 3)
    log$x2 <- round(runif(n), 3)
    log$reward <- round(pmin(1, log$x1 * (log$arm > 5) + 0.3 * runif(n)), 3)
    log
  })
}

pool_log <- function(n = 900) {
  withr::with_seed(2, {
    pools <- list(c("a", "b"), c("b", "d", "e"), letters[1:5])
    which <- sample(3, n, TRUE)
    log <- data.frame(arm = vapply(which, function(i) sample(pools[[i]], 1), ""), reward = runif(n))
    log$pool <- pools[which]
    log
  })
}

lag <- function() {
  policy_custom(
    "lag", function(k, horizon) list(n = numeric(k), s = numeric(k)),
    function(state, round) {
      if (runif(1) < 0.3) return(round$offer[1 + floor(runif(1) * length(round$offer))])
      round$offer[which.max((state$s / pmax(state$n, 1))[round$offer])]
    },
    function(state, feedback) {
      state$n[feedback$arm] <- state$n[feedback$arm] + 1
      state$s[feedback$arm] <- state$s[feedback$arm] + feedback$reward
      state
    }
  )
}

test_that("replays of chunks are those of the data frame", {
  log <- small_log(260)
  features <- matrix(seq(0, 0.9, 0.1), 5)
  policies <- list(uniform = policy_uniform(), ts = policy_ts_beta(), private = policy_gaussian_imed(1),
                   lin = policy_linucb(alpha = 0.3), shared = policy_lin_ts(v = 0.3, model = "shared"), logistic = policy_logistic_ucb(),
                   restart = policy_restart(policy_ucb1(), 50), local = policy_local(policy_ts_beta(), 2))
  play <- function(log, ...) {
    dpts_replay(log, policies, delay = c(0, 20), runs = 2, seed = 1, context = "x", arm_features = features, ...)
  }
  for (method in c("weighted", "rejection")) {
    whole <- play(log, method = method)
    expect_gt(length(unique(whole$reward)), 20)
    for (size in c(7, 150)) expect_identical(play(cut_log(log, size), method = method), whole)
  }
  # The least propensity is that of all chunks, wherever it stands.
  chance <- c(0.1, 0.3, 0.6)
  odd <- data.frame(arm = rep(1:3, c(9, 27, 54)), reward = rep(0:1, 45), propensity = rep(chance, c(9, 27, 54)))
  for (log_of in list(odd, odd[90:1, ])) {
    reject <- function(log) dpts_replay(log, policy_uniform(), runs = 2, seed = 1, method = "rejection")
    expect_identical(reject(cut_log(log_of, 30)), reject(log_of))
  }
  short <- play(log, horizon = 60)
  expect_identical(max(short$events), 60)
  expect_identical(play(cut_log(log, 11), horizon = 60), short)
})

test_that("chunks of one row, pools, policies in R and late rewards beyond the log", {
  log <- pool_log(90)
  policies <- list(a = policy_ts_beta(), r = lag(), never = policy_ucb1())
  play <- function(log) {
    suppressWarnings(dpts_replay(log, policies, delay = c(0, 9, 1e6), runs = 2, seed = 3),
                     classes = "dpts_warning_delay")
  }
  whole <- play(log)
  for (size in c(1, 40)) expect_identical(play(cut_log(log, size)), whole)
  # Pools that come as vectors of their own are the same pools.
  own <- log
  own$pool <- lapply(log$pool, function(pool) paste0(pool, ""))
  expect_identical(play(cut_log(own, 40)), whole)
  # An arm that is only ever on offer, and one that comes last
  late <- rbind(log, data.frame(arm = "0", reward = 1, pool = I(list(c("0", "zz")))))
  expect_warning(whole <- play(late), "zz")
  expect_warning(chunks <- play(cut_log(late, 40)), "zz")
  expect_identical(chunks, whole)
})

test_that("estimates from chunks are those from the data frame", {
  log <- small_log(200)
  one <- matrix(c(0.2, 0.2, 0.2, 0.1, 0.3), 1)
  each <- matrix(1 / 5, nrow(log), 5)
  each[log$x1 > 0.5, ] <- rep(c(1, 0, 0, 0, 0), each = sum(log$x1 > 0.5))
  for (target in list("uniform", 7, one, each)) {
    for (context in list(NULL, c("x1", "x2"))) {
      estimate <- function(log) dpts_ope(log, target, context = context, clip = 5)
      whole <- estimate(log)
      for (size in c(7, 120)) expect_identical(estimate(cut_log(log, size)), whole)
    }
  }
  # What is read is closed; and arms that are no whole numbers stay what they are, beside one that is.
  held <- list() # what is held is closed by nobody else
  local_function("open_spool", function(own) function(spool) (held[[length(held) + 1]] <<- own(spool)))
  replay <- dpts_replay(cut_log(transform(log, arm = arm + (arm > 5) / 2), 120), policy_uniform(), runs = 1, seed = 1)
  expect_gt(length(held), 0)
  for (con in held) expect_true(inherits(try(isOpen(con), silent = TRUE), "try-error"))
  expect_identical(shared(replay, "arms"), c(2, 3, 7.5, 10.5, 20.5))
  log <- pool_log(400)
  whole <- dpts_ope(log, "b")
  expect_identical(dpts_ope(cut_log(log, 13), "b"), whole)
  expect_identical(dpts_ope(cut_log(log, 13), "uniform"), dpts_ope(log, "uniform"))
  expect_identical(dpts_ope(cut_log(log, 13), policy_exp3(), seed = 1), dpts_ope(log, policy_exp3(), seed = 1))
  # A warning is about all chunks.
  log <- data.frame(arm = rep(1:2, 30), reward = 0.5, propensity = rep(c(1, 0.5), c(4, 56)))
  for (source in list(log, cut_log(log, 13))) {
    expect_warning(dpts_replay(source, policy_ucb1(), seed = 1), "In 4 of 60 events the log showed its arm with probability 1",
                   class = "dpts_warning_overlap")
  }
})

test_that("a query, a file and several files are logs", {
  skip_if_not_installed("RSQLite")
  log <- small_log()
  play <- function(log) dpts_replay(log, list(policy_ts_beta(), policy_linucb()), runs = 2, seed = 1, context = "x")
  whole <- play(log)
  con <- withr::local_db_connection(DBI::dbConnect(RSQLite::SQLite(), ":memory:"))
  DBI::dbWriteTable(con, "log", log)
  query <- log_query(con, "SELECT * FROM log ORDER BY rowid", chunk = 500)
  expect_identical(play(query), whole)
  expect_identical(play(query), whole) # again
  rows <- NULL
  read_log(log_query(con, "SELECT * FROM log", chunk = 500, prepare = function(chunk) {
    rows <<- c(rows, nrow(chunk))
    chunk
  }))
  expect_identical(rows, c(500L, 500L, 200L))
  expect_identical(dpts_ope(query, 7), dpts_ope(log, 7))
  files <- withr::local_tempfile(lines = character())
  files <- c(files, paste0(files, "2"))
  withr::defer(unlink(files))
  write.csv(log[1:700, ], files[1], row.names = FALSE)
  write.csv(log[701:1200, ], files[2], row.names = FALSE, quote = FALSE)
  for (chunk in c(7, 1e5)) expect_identical(play(log_file(files, chunk = chunk)), whole)
  # Arms as text come in the order of text: the same log with such arms
  text <- log
  text$arm <- as.character(log$arm)
  expect_identical(play(log_file(files, text = "arm", chunk = 900)), play(text))
  # Line ends and marks of other systems, a last line without its end, quoted strings
  rows <- paste0("\"", text$arm, "\",", text$reward, ",", text$propensity)
  writeBin(c(as.raw(c(0xef, 0xbb, 0xbf)), charToRaw(paste(c("arm,reward,propensity", rows), collapse = "\r\n"))), files[1])
  expect_identical(dpts_ope(log_file(files[1], text = "arm"), "7"), dpts_ope(text, "7"))
  withr::with_locale(c(LC_CTYPE = "C"), {
    expect_identical(dpts_ope(log_file(files[1], text = "arm"), "7"), dpts_ope(text, "7"))
  })
  # Spaces around what is not quoted
  writeLines(c("arm , reward, propensity", gsub(",", " , ", gsub("\"", " ", rows))), files[1])
  expect_identical(dpts_ope(log_file(files[1], text = "arm"), "7"), dpts_ope(text, "7"))
  # A pool in text
  pools <- pool_log(300)
  flat <- pools
  flat$pool <- vapply(pools$pool, paste, "", collapse = " ")
  write.csv(flat, files[1], row.names = FALSE)
  split <- function(rows) {
    rows$pool <- strsplit(rows$pool, " ")
    rows
  }
  flat$reward <- utils::read.csv(files[1])$reward # as written, in 15 digits
  expect_identical(dpts_ope(log_file(files[1], prepare = split, chunk = 7), "b"), dpts_ope(split(flat), "b"))
})

test_that("a column that says nothing in the first thousand lines may say anything later", {
  path <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("arm,reward,note", rep(c("1,0,", "2,1,NA"), 510), "1,1,\"a, b\"", "2,0,7", "2,1,TRUE"), path)
  for (chunk in c(300, 1e5)) expect_equal(dpts:::read_log(log_file(path, chunk = chunk))$shown, c(511, 512))
})

test_that("checkpoints and clipping work on chunks, and nothing is left behind", {
  log <- small_log(600)
  log$x2 <- log$x2 + 0.2
  dir <- withr::local_tempdir()
  source <- log_chunks(function(i) if (i <= 3) log[200 * (i - 1) + 1:200, ], dir = dir)
  file <- withr::local_tempfile()
  play <- function(log, runs, ...) {
    dpts_replay(log, policy_linucb(epsilon = 5), runs = runs, seed = 4, context = "x", clip = TRUE, ...)
  }
  whole <- play(log, 5)
  expect_gt(shared(whole, "clipped"), 50)
  expect_identical(play(source, 5), whole)
  first <- play(source, 2, checkpoint = file)
  expect_identical(play(log, 5, checkpoint = file), whole) # from either
  expect_identical(play(source, 5, checkpoint = file), whole)
  expect_length(list.files(dir), 0)
  expect_error(dpts_replay(source, policy_linucb(epsilon = 5), runs = 1, context = "x"), class = "dpts_error_contexts")
  dpts_ope(source, "uniform")
  expect_error(dpts_ope(source, "nobody"), "`target`", class = "dpts_error_input")
  expect_length(list.files(dir), 0)
})

test_that("a source that says how many events it has shows the time left, and says nothing else", {
  withr::local_options(cli.progress_show_after = 0)
  log <- small_log(600)
  play <- function(wait, ...) {
    read <- function(i) {
      Sys.sleep(wait)
      if (i <= 3) log[200 * (i - 1) + 1:200, ]
    }
    dpts_replay(log_chunks(read, ...), policy_uniform(), runs = 1, seed = 1, progress = TRUE)
  }
  capture.output(unknown <- play(0), type = "message")
  left <- capture.output(known <- play(0.25, events = 600), type = "message") # cli draws five times a second
  expect_match(paste(left, collapse = " "), "Reading .*% .*ETA")
  capture.output(few <- play(0, events = 300), type = "message") # less than there are: the bar waits at its end
  expect_identical(known, unknown)
  expect_identical(few, unknown)
})

test_that("the workers of a plan read the events, too", {
  skip_if_not_installed("future.apply")
  old <- future::plan("multicore", workers = 2)
  withr::local_options(dpts.seconds_before_workers = 0)
  withr::defer(future::plan(old))
  skip_if(inherits(future::plan(), "sequential"), "no plan to test with")
  log <- small_log(600)
  play <- function(log) dpts_replay(log, policy_ts_beta(), runs = 4, seed = 1)
  parallel <- play(cut_log(log, 100))
  future::plan("sequential")
  expect_identical(parallel, play(log))
})

test_that("the log's identity is that of its events", {
  log <- small_log(100)
  hash <- function(log) shared(dpts_replay(log, policy_uniform(), runs = 1, seed = 1), "log")
  same <- hash(log)
  # Each thing that one event says counts.
  changes <- list(arm = 3L, reward = 0.123, propensity = 0.123, x1 = 0.123, x2 = 0.123, pool = list(c(2L, 3L, 7L, 20L)))
  log$arm[50] <- 7L
  log$pool <- list(c(2L, 3L, 7L, 10L, 20L))
  hashes <- vapply(c("none", names(changes)), function(column) {
    if (column != "none") log[[column]][50] <- changes[[column]]
    shared(dpts_replay(log, policy_uniform(), runs = 1, seed = 1, context = c("x1", "x2")), "log")
  }, "")
  expect_identical(anyDuplicated(hashes), 0L)
  # A known answer, by the arithmetic of src/r_log.c in another language
  block <- list(arm = c(0L, 2L), reward = c(0.5, -0), propensity = c(0.25, 1), pool = c(1L, 0L), pool_start = c(0L, 2L, 5L),
                pool_arms = c(0L, 2L, 0L, 1L, 3L), context = rbind(c(0.1, 0.2), c(0.3, 0.4)))
  expect_identical(.Call(dpts:::C_hex, .Call(dpts:::C_log_hash, NULL, block)), "2bef50edb304d1968d5ef3fa1f222f84")
  log <- small_log(100)
  # contexts of another name are others
  named <- function(context) shared(dpts_replay(log, policy_uniform(), runs = 1, seed = 1, context = context), "log")
  other <- log
  names(other)[names(other) == "x1"] <- "x9"
  expect_false(named("x1") == shared(dpts_replay(other, policy_uniform(), runs = 1, seed = 1, context = "x9"), "log"))
  swapped <- log[c(1:49, 51, 50, 52:100), ]
  expect_false(hash(swapped) == same)
  log$arm <- as.numeric(log$arm)
  expect_identical(hash(cut_log(log, 9)), same)
})

test_that("memory does not grow with the number of events", {
  skip_on_cran()
  # The most MB in use when the last chunk has been read, and when its events are replayed: gc() takes long.
  last <- 0
  look <- function() note(sum(gc()[, 2]))
  watch <- policy_custom("watch", function(k, horizon) 0, function(state, round) {
    if (round$t == last) look()
    1
  }, function(state, feedback) state)
  most <- function(chunks) {
    source <- log_chunks(function(i) {
      if (i > chunks) look()
      if (i <= chunks) data.frame(arm = rep(1, 400), reward = rep(c(0, 1, 0.5, 0), 100), x = matrix(0, 400, 120))
    })
    begin_notes()
    last <<- 400 * chunks
    replay <- dpts_replay(source, watch, runs = 1, seed = 1, context = "x")
    expect_equal(replay$events, 400 * chunks)
    expect_length(notes(), 2)
    max(unlist(notes()))
  }
  # 2,400 events more are 2.3 MB on disk. What other tests of this process have left may go in between, but once only.
  expect_lt(min(replicate(2, most(9) - most(3))), 1.2)
})

test_that("events that the disk has not taken are missed", {
  spool <- write_block(new_spool(withr::local_tempdir()), list(arm = 1:5, reward = c(0, 1, 0, 1, 1)))
  expect_equal(spool$bytes, 5 * 4 + 5 * 8)
  path <- spool$path
  spool$bytes <- spool$bytes + 1
  expect_error(finish_spool(spool), "cannot be written", class = "dpts_error_log")
  expect_false(file.exists(path))
})

test_that("bad sources are refused, with the reason", {
  log <- small_log(60)
  play <- function(log, ...) dpts_replay(log, policy_uniform(), runs = 1, seed = 1, ...)
  refused <- function(log, message, class = "dpts_error_log", ...) {
    expect_error(play(log, ...), message, class = class)
    expect_false(any(startsWith(basename(files_held()), "dpts-log-"))) # the file of events
  }
  parts <- function(a, b) log_chunks(function(i) if (i <= 2) list(a, b)[[i]])
  change <- function(name, value, row = 5) {
    log[[name]][row] <- value
    log
  }
  refused(parts(log, log["arm"]), "same columns.*row 60")
  refused(parts(log, log[5:1]), "same columns")
  refused(parts(log, change("reward", 2)), "row 65 has 2")
  refused(parts(log, change("arm", NA)), "NA in row 65")
  refused(parts(log, change("arm", "x")), "alike in all chunks.*row 61")
  refused(parts(log, change("propensity", 0)), "row 65 has 0")
  refused(parts(log, change("x1", Inf)), "row 65 is Inf", context = "x1")
  n <- nrow(log)
  none <- list(rep("0.5", n), factor(rep(1, n)), rep(Sys.Date() - as.numeric(Sys.Date()) + 1, n), as.difftime(rep(1, n), units = "mins"),
               rep(NA, n), rep(list(1), n), rep(NA_real_, n), rep(1i, n), structure(rep(0, n), class = "integer64"))
  for (column in c("reward", "propensity")) for (bad in none) {
    wrong <- log
    wrong[[column]] <- bad
    refused(wrong, sprintf("hold numbers in .* in `%s`", column))
  }
  wide <- log
  wide$arm <- structure(as.numeric(log$arm), class = "integer64")
  refused(wide, "integers, strings or a factor, not by 64-bit integers")
  refused(log_chunks(function(i) if (i == 1) log[0, ]), "no rows")
  refused(log_chunks(function(i) NULL), "no rows")
  refused(log_chunks(function(i) 5), "data frames, not 5")
  refused(log_chunks(function(i) log["reward"]), "column `arm`")
  refused(parts(log, log), "names of columns.*not a formula", "dpts_error_input", context = ~ x1)
  factors <- change("arm", 1)
  factors$arm <- factor(factors$arm)
  refused(parts(factors, droplevels(factors[-5, ])), "alike")
  pools <- transform(factors, pool = I(rep(list(c(levels(arm), "z")), n)))
  pools$propensity <- NULL
  refused(pools, "only levels of `arm` in `pool`, not z")
  turned <- transform(factors, arm = factor(arm, rev(levels(arm)))) # the same levels, with other codes
  refused(parts(factors, turned), "alike.*row 61")
  refused(parts(factors, transform(factors, arm = as.character(arm))), "alike.*row 61")
  for (bad in list(
    quote(log_chunks(1)), quote(log_chunks(function() 1)), quote(log_file("nosuch")), quote(log_file()),
    quote(log_query(1, "SELECT")), quote(log_chunks(function(i) NULL, dir = "/no/such")),
    quote(log_chunks(function(i) NULL, prepare = 1)), quote(log_chunks(function(i) NULL, events = -1))
  )) expect_error(eval(bad), class = "dpts_error_input")
  file <- withr::local_tempfile(lines = c("arm,reward", "1,0.5", "2"))
  refused(log_file(file), "line 2|elements")
  expect_error(open_spool(list(path = tempfile())), "not there: workers must share", class = "dpts_error_log")
  gone <- withr::local_tempdir()
  source <- log_chunks(function(i) if (i == 1) log, dir = gone)
  unlink(gone, recursive = TRUE)
  expect_identical(capture_warnings(expect_error(dpts_ope(source, "uniform"), "`dir` must be a folder that can be written to",
                                                 class = "dpts_error_input")), character())
  writeLines(c("arm,reward", rep("1,0.5", 1200), "x,1"), file)
  refused(log_file(file), "got 'x'")
  refused(log_file(file, chunk = 400), "after line 1201: .*got 'x'") # the line of names is the first
  other <- withr::local_tempfile(lines = c("arm,rewards", "1,0.5"))
  refused(log_file(c(file, other), text = "arm"), "same columns in all files")
  writeLines(c("reward,arm", "0,1"), other)
  refused(log_file(c(file, other), text = "arm"), "same columns in all files") # in another order
  writeLines(c("arm,reward", "1,0.5"), other)
  refused(log_file(c(other, file), chunk = 1000), sprintf("\"%s\", after line 1001: .*got 'x'", basename(file))) # of its own file
  expect_false(any(c(file, other) %in% files_held()))
  refused(log_file(file, text = "item"), "`item`")
  expect_error(log_file(file, chunk = 0), "`chunk`", class = "dpts_error_input")
  writeLines(character(), file)
  refused(log_file(file), "is empty")
  con <- gzfile(file, "w")
  writeLines("arm,reward", con)
  close(con)
  expect_error(log_file(file), "not compressed", class = "dpts_error_input")
})

test_that("queries that fail, or lack columns, are named", {
  expect_output(print(log_chunks(function(i) NULL)), "A log: the chunks of a function", fixed = TRUE)
  skip_if_not_installed("RSQLite")
  con <- withr::local_db_connection(DBI::dbConnect(RSQLite::SQLite(), ":memory:"))
  DBI::dbWriteTable(con, "log", small_log(50))
  play <- function(query) dpts_replay(log_query(con, query), policy_uniform(), runs = 1, seed = 1)
  expect_error(play("SELECT reward FROM log"), "column `arm`", class = "dpts_error_log")
  expect_error(play("SELECT nosuch FROM log"), "refused", class = "dpts_error_log")
  expect_error(play("SELECT * FROM log WHERE arm < 0"), "no rows", class = "dpts_error_log")
  reader <- log_reader(log_query(con, "SELECT * FROM log", chunk = 20))
  expect_identical(nrow(reader$read()), 20L)
  reader$close()
  expect_error(reader$read(), "lost the connection", class = "dpts_error_log", call = TRUE)
  expect_error(log_query(con, 5), "`query`", class = "dpts_error_input")
  expect_error(log_query(con), "`query` is absent", class = "dpts_error_input")
  expect_identical(format(log_query(con, "SELECT *\n FROM log")), "A log: the rows of SELECT * FROM log, 100,000 at a time")
  # 70 letters are shown, of longer ones 67 and three dots
  shown <- function(n) format(log_query(con, paste0("SELECT ", strrep("a", n - nchar("the rows of SELECT ")))))
  expect_identical(shown(70), sprintf("A log: the rows of SELECT %s, 100,000 at a time", strrep("a", 51)))
  expect_identical(shown(71), sprintf("A log: the rows of SELECT %s..., 100,000 at a time", strrep("a", 48)))
})

test_that("a source of files knows them in other folders, too, by their names, and names columns as they do", {
  dir <- withr::local_tempdir()
  files <- file.path(dir, c("may.csv", "june.csv"))
  for (file in files) writeLines(c("arm,reward,\"x (1)\"", "1,0,0.5", "2,1,0.25"), file)
  dir.create(file.path(dir, "events"))
  source <- withr::with_dir(dir, log_file(basename(files), dir = "events", chunk = 3))
  expect_identical(format(source), "A log: the lines of may.csv, june.csv, 3 at a time")
  found <- read_log(source, "x (1)")
  expect_identical(found$context, list(names = "x (1)", range = c(0.25, 0.5), outside = 0L))
  expect_identical(basename(dirname(found$spool$path)), "events")
  expect_identical(found$spool$rows, c(2L, 2L))
})

test_that("a bar of reading goes on from file to file to its end, and the files are closed", {
  told <- bars_told()
  log <- data.frame(arm = rep(1:2, 30), reward = 0)
  chunks <- function(...) log_chunks(function(i) if (i < 5) log[list(1:20, 0, 21:40, 41:60)[[i]], ], ...) # one is empty
  data <- read_log(chunks(), progress = TRUE)
  expect_identical(told$at, c(Reading = NA, 20, 40, 60, Inf))
  told$at <- NULL
  each_block(data, function(block, before) before < 40, "Estimating")
  expect_identical(told$at, c(Estimating = 60, 20, 40))
  told$at <- NULL
  read_log(chunks(events = 30), progress = TRUE)
  expect_identical(told$at, c(Reading = 30, 20, 29.5, 29.5, Inf))
  told$at <- NULL
  read_log(chunks()) # no bars
  read_log(log, progress = TRUE)
  expect_null(told$at)
  files <- c(withr::local_tempfile(lines = c("arm,reward", rep(c("1,0", "2,1"), 40))), withr::local_tempfile(lines = c("arm,reward", rep("1,1", 50))))
  expect_identical(capture.output(data <- read_log(log_file(files, chunk = 50), progress = TRUE), type = "message"), character())
  expect_identical(told$at[-2], c(Reading = sum(file.size(files)), file.size(files[1]), sum(file.size(files)), Inf))
  expect_true(told$at[2] > 0 && told$at[2] < told$at[3])
  expect_false(any(files %in% files_held()))
})

test_that("a reader of files says how much it has read", {
  files <- withr::local_tempfile(lines = c("arm,reward", rep(c("1,0", "2,1"), 40)))
  files <- c(files, withr::local_tempfile(lines = c("arm,reward", rep("1,1", 50))))
  reader <- log_reader(log_file(files, chunk = 30))
  expect_equal(reader$bytes, sum(file.size(files)))
  at <- reader$at()
  while (!is.null(reader$read())) at <- c(at, reader$at())
  expect_equal(at[1], 0)
  expect_false(is.unsorted(at, strictly = TRUE))
  expect_equal(at[length(at)], reader$bytes)
  expect_equal(reader$at(), reader$bytes)
})
