# Lines in the format of the log's description; every number is made up here.
features <- function(id, x) {
  sprintf("|%s 2:%.6f 3:%.6f 4:%.6f 5:%.6f 6:%.6f 1:1.000000", id, x[1], x[2], x[3], x[4], x[5])
}
user <- features("user", c(0.000012, 0, 0.5, 0.25, 0.249988))
article <- function(id) features(id, c(id %% 7, id %% 5, 1, 1, 1) / 10)
line <- function(shown, click, pool, user_text = user, time = 1241160900) {
  paste(time, shown, click, user_text, paste(vapply(pool, article, ""), collapse = " "))
}
write_log <- function(lines, gz = FALSE, env = parent.frame()) {
  file <- withr::local_tempfile(.local_envir = env)
  con <- if (gz) gzfile(file, "wb") else file(file, "wb")
  writeLines(lines, con)
  close(con)
  file
}
good <- c(line(109498, 0, c(109498, 109509)), line(109509, 1, c(109498, 109509), time = 1241160901),
          line(109511, 0, c(109509, 109511, 109513)))

test_that("events, pools, features and propensities are read", {
  log <- read_yahoo_r6(write_log(good))
  expect_equal(log$arm, c(109498, 109509, 109511))
  expect_equal(log$reward, c(0, 1, 0))
  expect_equal(log$timestamp, 1241160900 + c(0, 1, 0))
  expect_equal(log$pool, list(c(109498L, 109509L), c(109498L, 109509L), c(109509L, 109511L, 109513L)))
  expect_equal(log$propensity, c(1 / 2, 1 / 2, 1 / 3))
  expect_equal(unlist(log[2, paste0("context_", 1:6)], use.names = FALSE),
               c(1, 0.000012, 0, 0.5, 0.25, 0.249988)) # the constant is feature 1, and comes last
  arms <- attr(log, "arm_features")
  expect_equal(rownames(arms), c("109498", "109509", "109511", "109513"))
  expect_equal(arms["109511", ], c(1, c(109511 %% 7, 109511 %% 5, 1, 1, 1) / 10), ignore_attr = TRUE)
  expect_true(all(attr(log, "dropped") == 0))
  one <- read_yahoo_r6(write_log(line(109498, 0, 109498)))
  expect_identical(attr(one, "arm_features"), arms["109498", , drop = FALSE])
})

test_that("features are keyed by id, in any order and notation", {
  text <- "|user 1:1 6:1e-3 5:.5 4:0.25 3:2.5E-1 2:0.123456789012345678"
  log <- read_yahoo_r6(write_log(line(109498, 1, 109498, text)))
  expect_equal(unlist(log[1, paste0("context_", 1:6)], use.names = FALSE),
               c(1, 0.123456789012345678, 0.25, 0.25, 0.5, 1e-3), tolerance = 1e-14)
})

test_that("what is malformed is dropped, counted and said", {
  dirty <- c(
    good[1],
    "1241160900 109498 2 |user 1:1 |109498 1:1",                   # click of 2
    rep("1241160900 109498", 10),                                  # cut
    line(109498, 0, 109498, "|user 2:0.1 3:0.2 4:0.3 5:0.4 1:1"),  # no feature 6
    line(109498, 0, 109498, "|user 2:0.1 2:0.1 3:0.2 4:0.3 5:0.4 6:0 1:1"), # one twice
    line(109498, 0, 109498, "|user 2:x 3:0.2 4:0.3 5:0.4 6:0 1:1"),         # no number
    line(109999, 0, c(109498, 109509)),                            # not on offer
    paste(line(109498, 1, c(109498, 109509)), "|109511 2:0.1 7:0.3 1:1"),   # feature 7
    paste(line(109511, 1, c(109498, 109509)), "|109511 2:0.1 1:1"),         # shown article malformed
    paste(line(109498, 1, c(109498, 109509)), article(109509)),    # an article twice
    paste(line(109498, 1, c(109498, 109509)), "|bad"), "", good[3]
  )
  expect_message(log <- read_yahoo_r6(write_log(dirty)),
                 paste("Dropped: 11 malformed lines, 3 events with malformed users, 2 events whose article was not available,",
                       "4 malformed articles."), fixed = TRUE,
                 class = "dpts_message_dropped")
  expect_equal(attr(log, "dropped"), c(lines = 11, users = 3, not_offered = 2, articles = 4))
  expect_equal(log$arm, c(109498, 109498, 109498, 109498, 109511))
  expect_equal(log$pool[[2]], c(109498, 109509))
  expect_equal(log$pool[[3]], c(109498, 109509))
})

test_that("a block that was good is looked at again when its text changes", {
  lines <- c(good[1], sub("109509 2:", "109509 7:", good[1]), good[1])
  log <- suppressMessages(read_yahoo_r6(write_log(lines)))
  expect_equal(log$pool, list(c(109498L, 109509L), 109498L, c(109498L, 109509L)))
  expect_equal(attr(log, "dropped")[["articles"]], 1)
})

test_that("a bad first line is dropped like any other", {
  for (garbage in c("garbage", "\xff\xe9")) { # also bytes that are no text in UTF-8
    expect_message(log <- read_yahoo_r6(write_log(c(garbage, good))), "1 malformed line")
    expect_equal(nrow(log), 3)
  }
  expect_error(read_yahoo_r6(write_log("\xff\xe9,1")), "its first line begins \"??,1\"", fixed = TRUE, class = "dpts_error_format")
  expect_error(read_yahoo_r6(write_log(c("\xff", "1317513291 id-560620 0 |user 1"))), "R6B", class = "dpts_error_format")
})

test_that("gzip, several files and Windows line ends give the same", {
  plain <- read_yahoo_r6(write_log(good))
  expect_equal(read_yahoo_r6(write_log(good, gz = TRUE)), plain)
  expect_equal(read_yahoo_r6(write_log(paste0(good, "\r"))), plain)
  both <- read_yahoo_r6(c(write_log(good[1:2]), write_log(good[3], gz = TRUE)))
  expect_equal(both, plain)
  for (files in list(write_log(good), c(write_log(good[1]), write_log(good[2:3])))) {
    expect_equal(as.list(read_yahoo_r6(files, n_max = 2)), as.list(plain[1:2, ]), ignore_attr = TRUE)
  }
})

test_that("a bar goes on from file to file to its end, and the files are closed", {
  told <- bars_told()
  files <- c(write_log(good[1:2]), write_log(rep(good[3], 5000), gz = TRUE)) # which gzip shrinks by more than 60 to 1
  read_yahoo_r6(files, progress = TRUE)
  size <- file.size(files)
  expect_identical(told$at[-2], c(Reading = sum(size), size[1], sum(size), sum(size), Inf))
  expect_true(told$at[2] > 0 && told$at[2] < told$at[3])
  expect_false(any(files %in% files_held()))
})

test_that("the first events of several files are those of the lines up to the last of them, of which alone flaws are counted", {
  bad <- c("nonsense", line(109498, 0, 109498, "|user 2:0.1 1:1"), line(109999, 1, c(109498, 109509)),
           paste(line(109498, 1, c(109498, 109509)), "|109777 2:0.1 1:1"))
  set.seed(1)
  lines <- c(good[2], sample(c(good, rep(bad, 3), vapply(109600:109605, function(id) line(id, id %% 2, c(id, 109498)), ""))))
  lines <- c(lines, good[1], bad)
  late <- seq_along(lines) > 15 & !lines %in% bad
  lines[late] <- gsub(" 4:0.100000", " 4:0.700000", lines[late], fixed = TRUE) # articles whose features change
  event <- which(!lines %in% bad[1:3])
  files <- lapply(split(lines, rep(1:3, c(6, 9, length(lines) - 15))), write_log, env = environment())
  foreign <- write_log("of no such log")
  all <- write_log(lines)
  for (n in seq_along(event)) {
    suppressMessages({
      some <- read_yahoo_r6(c(unlist(files), if (n < 3) foreign), n_max = n)
      expect_identical(some, read_yahoo_r6(write_log(lines[seq_len(event[n])])))
      expect_identical(new_yahoo(read_yahoo_file(all, n, identity, 500)), some) # in pieces of some lines
    })
    expect_equal(nrow(some), n)
    expect_equal(attr(some, "dropped")[["lines"]], sum(lines[seq_len(event[n])] == bad[1]))
  }
})

test_that("where the file is cut into pieces does not matter", {
  file <- write_log(good)
  whole <- read_yahoo_r6(file)
  bytes <- file.size(file)
  writeBin(utils::head(readBin(file, "raw", bytes), -1), file) # the last line does not end
  for (size in c(200, 207, 300, 5000)) { # the first piece shows that the file is such a log
    parts <- read_yahoo_file(file, Inf, identity, size)
    expect_equal(length(parts), ceiling((bytes - 1) / size) + 1)
    expect_equal(new_yahoo(parts), whole)
  }
})

test_that("pools that change on every line are read as by a plain parser in R", {
  set.seed(3)
  # Many articles and pools, so that tables grow; features that change; one text too long to keep.
  ids <- sample(1e6, 300)
  lines <- vapply(1:400, function(i) {
    pool <- sample(ids, sample(1:25, 1))
    blocks <- vapply(pool, function(id) features(id, round(runif(5), sample(1:6, 1))), "")
    if (i %% 9 == 0) blocks[1] <- sub("2:", paste0("2:", strrep("0", 90)), blocks[1])
    paste(1241160900 + i, pool[1], i %% 2, user, paste(blocks, collapse = " "))
  }, "")
  lines <- c(lines, lines)
  log <- read_yahoo_r6(write_log(lines))
  blocks <- lapply(strsplit(lines, " *[|]"), function(parts) strsplit(parts[-(1:2)], " "))
  pools <- lapply(blocks, function(line) as.integer(vapply(line, `[`, "", 1)))
  expect_identical(log$pool, pools)
  expect_equal(log$propensity, 1 / lengths(pools))
  expect_equal(log$arm, vapply(pools, `[`, 0L, 1))
  expect_equal(log$timestamp, 1241160900 + c(1:400, 1:400))
  all <- unlist(blocks, recursive = FALSE)
  first <- all[!duplicated(unlist(pools))]
  numbers <- t(vapply(first, function(x) as.numeric(sub(".*:", "", x[c(7, 2:6)])), numeric(6)))
  arms <- attr(log, "arm_features")
  expect_equal(arms, numbers[order(unique(unlist(pools))), ], ignore_attr = TRUE, tolerance = 1e-14)
  expect_equal(rownames(arms), as.character(sort(unique(unlist(pools)))))
})

test_that("events with the same pool share it, and replay takes the log as it is", {
  set.seed(1)
  pools <- list(c(1, 2, 3), c(2, 3, 4, 5))
  lines <- vapply(1:600, function(i) {
    pool <- pools[[1 + (i > 300)]]
    line(sample(pool, 1), rbinom(1, 1, 0.3), pool)
  }, "")
  log <- read_yahoo_r6(write_log(lines))
  expect_lt(unclass(object.size(unique(log$pool))), 1000)
  policies <- list(linucb = policy_linucb(), private = policy_lin_ts(epsilon = 2.7),
                   shared = policy_linucb(model = "shared"), uniform = policy_uniform())
  replay <- dpts_replay(log, policies, delay = c(0, 20), runs = 2, seed = 1)
  expect_equal(nrow(replay), 16)
  # On average 300 / 3 + 300 / 4 = 175 events are kept, with a standard deviation of 11.
  expect_true(all(abs(replay$events - 175) < 5 * 11))
})

test_that("truncated and foreign files are errors, not short results", {
  set.seed(2)
  many <- rep(vapply(1:200, function(i) {
    line(1, 0, 1:20, features("user", runif(5)))
  }, ""), 5)
  whole <- write_log(many, gz = TRUE)
  bytes <- readBin(whole, "raw", file.size(whole))
  expect_equal(nrow(read_yahoo_r6(whole)), 1000)
  expect_null(check_gzip_length(whole, sum(nchar(many) + 1) + 2^32, stop)) # the length is kept in 32 bits
  expect_error(check_gzip_length(whole, sum(nchar(many)) + 2^32, function() stop("cut")), "cut", class = "simpleError")
  for (cut in c(4, 9, 2000, length(bytes) - 12)) {
    short <- withr::local_tempfile()
    writeBin(utils::head(bytes, -cut), short)
    expect_identical(expect_error(read_yahoo_r6(short), "not whole", class = "dpts_error_truncated")$arg, "path")
  }
  damaged <- replace(bytes, length(bytes) %/% 2, as.raw(255 - as.integer(bytes[length(bytes) %/% 2])))
  file <- withr::local_tempfile()
  writeBin(damaged, file)
  expect_error(read_yahoo_r6(file), class = "dpts_error")
  expect_error(read_yahoo_r6(write_log("a,b,c")), "R6A", class = "dpts_error_format")
  expect_error(read_yahoo_r6(write_log("1317513291 id-560620 0 |user 1 9 11 |id-552077")), "R6B",
               class = "dpts_error_format")
  expect_error(read_yahoo_r6(write_log(character())), "empty", class = "dpts_error_format")
  none <- write_log(line(5, 0, c(6, 7)))
  expect_error(read_yahoo_r6(none), "no event", class = "dpts_error_format")
  binary <- withr::local_tempfile()
  writeBin(as.raw(c(1, 0, 2, 0)), binary)
  expect_error(read_yahoo_r6(binary), "not text", class = "dpts_error_format")
  expect_error(read_yahoo_r6("nosuchfile"), "nosuchfile", class = "dpts_error_input")
  expect_error(read_yahoo_r6(1), class = "dpts_error_input")
  expect_error(read_yahoo_r6(none, 5), class = "dpts_error_dots")
  expect_error(read_yahoo_r6(none, n_max = 0), "`n_max`", class = "dpts_error_input")
  expect_error(read_yahoo_r6(write_log(paste0("a\t", strrep("b", 50)))), sprintf("begins \"a\\t%s\"", strrep("b", 38)), fixed = TRUE,
               class = "dpts_error_format")
  expect_error(read_yahoo_r6(none, progress = 1), "`progress`", class = "dpts_error_input")
  expect_error(read_yahoo_r6(c(none, none)), "distinct files", class = "dpts_error_input")
  folder <- dirname(none)
  expect_error(read_yahoo_r6(c(none, folder)), sprintf("files that exist; \"%s\" is none", folder), fixed = TRUE, class = "dpts_error_input")
})
