folder <- test_path("fixtures", "open-bandit")

test_that("a folder and its CSV file give the same log", {
  log <- read_open_bandit(folder)
  expect_false("men.csv" %in% basename(files_held()))
  expect_equal(read_open_bandit(file.path(folder, "men.csv")), log)
  raw <- utils::read.csv(file.path(folder, "men.csv"), check.names = FALSE)
  expect_equal(log$arm, raw$item_id)
  expect_equal(log$reward, as.numeric(raw$click))
  expect_equal(log$propensity, raw$propensity_score)
  expect_equal(as.integer(as.character(log$position)), raw$position)
  expect_equal(as.character(log$user_feature_0), raw$user_feature_0)
  expect_equal(format(log$timestamp[1], "%Y-%m-%d %H:%M:%S", tz = "UTC"), "2019-11-24 00:01:03")
  withr::with_timezone("Asia/Tokyo", expect_equal(unclass(read_open_bandit(folder)$timestamp), unclass(log$timestamp)))
  expect_equal(unique(log$pool), list(0:33)) # from item_context.csv: not all 34 occur
  expect_lt(length(unique(log$arm)), 34)
})

test_that("default contexts are numbers in [0, 1] that follow the features", {
  log <- read_open_bandit(folder)
  x <- as.matrix(log[grep("^context_", names(log))])
  expect_true(all(x %in% c(0, 1)))
  # Sixty events know little of 34 items.
  expect_warning(expect_warning(ope <- dpts_ope(log, "uniform"), "never shows"), "barely overlaps")
  expect_s3_class(ope, "dpts_ope")
})

test_that("each value of a feature but the most common has a column, from the next common to the rarest", {
  times <- c("2019-11-24 00:00:01+00:00", "2019-11-24T00:00:02.5")
  seen <- data.frame(timestamp = rep_len(times, 11), item_id = rep_len(c(7, 2, 7), 11), position = c(1:3, 1:3, 1:3, 1, 2), click = 0,
                     propensity_score = 0.5, user_feature_0 = strsplit("cbdbabcbbca", "")[[1]], # b five times, c 3, a 2, d 1
                     user_feature_1 = strsplit("yxyyxyyxyyx", "")[[1]])
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(seen, file, row.names = FALSE)
  log <- read_open_bandit(file)
  expect_identical(log$pool, rep(list(c(2L, 7L)), 11))
  expect_equal(log$timestamp, as.POSIXct("2019-11-24", tz = "UTC") + rep_len(c(1, 2.5), 11))
  few <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(seen[seen$position == 2, ], few, row.names = FALSE)
  expect_identical(levels(read_open_bandit(few)$position), c("1", "2", "3"))
  other <- transform(seen, position = 7, user_feature_0 = sub("d", "", user_feature_0)) # nothing is a value, too
  names(other) <- sub("propensity_score", "action_prob", names(other))
  utils::write.csv(other, few, row.names = FALSE)
  found <- read_open_bandit(few)
  expect_identical(levels(found$position), c("1", "2", "3", "7"))
  expect_identical(found$propensity, log$propensity)
  expect_identical(as.character(found$user_feature_0), other$user_feature_0)
  utils::write.csv(other[names(other) != "action_prob"], few, row.names = FALSE)
  expect_error(read_open_bandit(few), "has no column `propensity_score`", class = "dpts_error_format")
  expect_identical(as.matrix(log[grep("^context_", names(log))]), cbind(
    context_constant = 1, context_position_2 = seen$position == 2, context_position_3 = seen$position == 3,
    context_user_0_2 = seen$user_feature_0 == "c", context_user_0_3 = seen$user_feature_0 == "a",
    context_user_0_4 = seen$user_feature_0 == "d", context_user_1 = seen$user_feature_1 == "x"))
})

test_that("the package's data are the logs, reduced", {
  expect_equal(nrow(open_bandit), 20000)
  expect_equal(tapply(open_bandit$reward, open_bandit$logger, mean), c(random = 0.0046, bts = 0.0069),
               ignore_attr = TRUE) # as the data's own toolkit says
  expect_setequal(open_bandit$arm, 0:33)
  expect_equal(range(open_bandit$propensity[open_bandit$logger == "random"]), c(1, 1) / 34)
  here <- read_open_bandit(folder)
  same <- open_bandit[open_bandit$logger == "bts", ][seq_len(nrow(here)), ]
  expect_equal(same$arm, here$arm)
  expect_equal(same$propensity, here$propensity)
  expect_equal(same$context_position_2, here$context_position_2)
})

test_that("what is cut or does not fit is an error or a warning", {
  dir <- withr::local_tempdir()
  lines <- readLines(file.path(folder, "men.csv"))
  file <- file.path(dir, "men.csv")
  file.create(file.path(dir, c("men.csv.md", "men_csv"))) # no logs
  writeLines(c(utils::head(lines, -1), substr(lines[length(lines)], 1, 100)), file)
  expect_error(read_open_bandit(dir), "to its end", class = "dpts_error_format")
  unlink(file)
  packed <- file.path(dir, "men.csv.gz")
  con <- gzfile(packed, "wb")
  writeLines(lines, con)
  close(con)
  expect_equal(as.list(read_open_bandit(dir)$arm), as.list(read_open_bandit(folder)$arm))
  bytes <- readBin(packed, "raw", file.size(packed))
  for (cut in c(5, 9, length(bytes) %/% 2)) {
    writeBin(utils::head(bytes, -cut), packed)
    expect_error(read_open_bandit(dir), "not whole", class = "dpts_error_format")
  }
  writeLines(lines, file)
  whole <- read_open_bandit(file)$timestamp
  bad <- c(3, 5, 6)
  writeLines(replace(lines, bad + 1, sub("^([^,]*),2019[^,]*", "\\1,then", lines[bad + 1])), file)
  said <- sprintf("^3 of %d timestamps are no times and become NA: \"then\" in row 3 for one", length(whole))
  expect_warning(log <- read_open_bandit(file), said, class = "dpts_warning_format")
  expect_identical(log$timestamp, replace(whole, bad, NA))
  expect_identical(tryCatch(read_open_bandit(file), warning = conditionCall)[[1]], quote(read_open_bandit))
  writeLines(lines, file)
  writeLines(c("item_id", 33:0, 5), file.path(dir, "item_context.csv"))
  expect_identical(unique(read_open_bandit(file)$pool), list(0:33))
  writeLines(c("item_id", "0"), file.path(dir, "item_context.csv"))
  expect_error(read_open_bandit(file), "does not list", class = "dpts_error_format")
  unlink(file.path(dir, "item_context.csv"))
  writeLines(character(), file.path(dir, "item_context.csv")) # which R cannot read
  expect_error(read_open_bandit(file), "no column `item_id`", class = "dpts_error_format")
  writeLines(c("item", "0"), file.path(dir, "item_context.csv"))
  expect_error(read_open_bandit(file), "item_context.csv", class = "dpts_error_format")
})

test_that("what is no log of the Open Bandit Dataset is refused", {
  dir <- withr::local_tempdir()
  expect_error(read_open_bandit(dir), "0 CSV files", class = "dpts_error_format")
  file <- file.path(dir, "men.csv")
  writeLines("a,b\n1,2", file)
  expect_error(read_open_bandit(dir), "no column `timestamp`", class = "dpts_error_format")
  head <- "timestamp,item_id,position,click,propensity_score"
  writeLines(head, file)
  expect_error(read_open_bandit(file), class = "dpts_error_format")
  writeLines(c(head, "2019-11-24 00:00:01+00:00,x,1,0,0.5"), file)
  expect_error(read_open_bandit(file), "item_id", class = "dpts_error_format")
  for (item in c("0.5", "1000000001", "-1000000001")) {
    writeLines(c(head, sprintf("2019-11-24 00:00:01+00:00,%s,1,0,0.5", item)), file)
    expect_error(read_open_bandit(file), "`item_id` that are not whole, or beyond 1e9", class = "dpts_error_format")
  }
  writeBin(as.raw(0:50), file)
  expect_error(read_open_bandit(file), class = "dpts_error_format")
  expect_error(read_open_bandit(file.path(dir, "nosuch.csv")), "exists", class = "dpts_error_input")
  expect_error(read_open_bandit(3), class = "dpts_error_input")
  expect_error(read_open_bandit(file, progress = 1), "`progress`", class = "dpts_error_input")
})

test_that("a log of more rows than are read at once is read whole", {
  lines <- readLines(file.path(folder, "men.csv"))
  file <- withr::local_tempfile(fileext = ".csv")
  times <- ceiling(1e5 / (length(lines) - 1)) + 1
  writeLines(c(lines[1], rep(lines[-1], times)), file)
  told <- bars_told()
  log <- read_open_bandit(file, progress = TRUE)
  expect_identical(told$at[-2], c(Reading = file.size(file), file.size(file), Inf))
  expect_true(told$at[2] > 0 && told$at[2] < told$at[3])
  expect_false(file %in% files_held())
  expect_equal(log$arm, rep(read_open_bandit(folder)$arm, times))
  expect_error(read_open_bandit(file, TRUE), class = "dpts_error_dots")
})
