# Prints at the widths of a small terminal, a usual one and a large one. The numbers are of fixed
# seeds; what is looked at is the words and what fits.

skip_on_cran() # takes seconds

# The first rows of each of the results as they are printed, by width
printed <- once(function() {
  lapply(c(`60` = 60, `120` = 120), function(width) {
    withr::local_options(width = width, cli.width = width)
    lapply(results(), function(x) cli::ansi_strip(capture.output(print(x[1:3, ]))))
  })
})

test_that("every result prints within its width, with its seed", {
  unseeded <- c("privacy", "ope", "reproduction_privacy", "audit")
  for (width in names(printed())) {
    out <- printed()[[width]]
    expect_identical(names(out)[vapply(out, function(x) max(nchar(x)) > as.numeric(width), NA)], character(), label = width)
    expect_match(vapply(out, `[`, "", 1), "[A-Za-z]")
    expect_setequal(names(out)[!vapply(out, function(x) any(grepl("^# Seed: +1", x)), NA)], unseeded)
  }
})

test_that("prints read well", {
  skip_if(utils::packageVersion("pillar") >= "1.9", "the columns that fit are those of an older pillar")
  show <- function(width) {
    out <- printed()[[format(width)]]
    for (name in names(out)) writeLines(c(paste0("\n[", name, ", ", width, "]"), out[[name]]))
  }
  for (width in c(60, 120)) expect_snapshot(show(width), cran = FALSE) # each snapshot takes 30 ms
})

test_that("arms with long names print within the width", {
  withr::local_options(width = 80)
  arms <- arms_bernoulli(stats::setNames(1:9 / 10, paste("the second version of page", 1:9)))
  out <- capture.output(print(arms))
  expect_lte(max(nchar(out)), 80)
  expect_match(gsub(" +", " ", paste(out, collapse = " ")), "means: the second version of page 1 0.1, .* page 8 0.8, ...")
})

test_that("claims print in full, within the width", {
  withr::local_options(width = 80)
  found <- claims(results()$reproduction_simulation)
  out <- capture.output(print(found))
  expect_lte(max(nchar(out)), 80)
  expect_identical(sum(grepl("^(reproduced|not reproduced|undecided): margin", out)), nrow(found))
  expect_match(gsub(" +", " ", paste(out, collapse = " ")), found$claim[1], fixed = TRUE)
  long <- claims(results()$reproduction_tuning)
  expect_lte(max(nchar(capture.output(print(long)))), 80)
  expect_s3_class(long[c("claim", "se")], "tbl_df")
  expect_match(capture.output(print(long[c("claim", "se")]))[1], "tibble")
})

test_that("the arguments that verbs share stand in one order, after the dots", {
  shared <- c("runs", "seed", "record", "threads", "progress", "checkpoint", "delay", "batch")
  for (verb in list(dpts_simulate, dpts_recommend, dpts_tune, dpts_audit, dpts_reproduce)) {
    has <- names(formals(verb))
    expect_false(is.unsorted(match(intersect(has, shared), shared)))
    expect_gt(match("runs", has), match("...", has))
  }
})

test_that("a recommendation keeps what matters, and its call can be copied", {
  budget <- privacy_gdp(0.8)
  x <- dpts_recommend(budget, two_arms(), 3000, runs = 4, seed = 1, candidates = c("gaussian_imed", "dp_imed"))
  for (width in c(60, 76, 80, 120)) {
    withr::local_options(width = width, cli.width = width)
    out <- capture.output(print(x))
    for (column in c("policy", "regret", "lower", "upper", "standing")) {
      expect_true(any(grepl(paste0("^ .*", column), out)), label = paste(column, "at", width))
    }
    first <- grep("^  policy_", out)
    last <- first - 1 + grep("\\)$", out[first:length(out)])[1]
    expect_identical(eval(parse(text = out[first:last])), recommended_policy(x))
    expect_lte(max(nchar(out)), width)
  }
})

test_that("dropped candidates are in the open", {
  x <- new_recommendation(array(c(1, 2, 3, 4), c(4, 1, 1)), list(a = policy_dp_imed(1)), 0.95,
                          list(budget = privacy_pure(1), horizon = 100, arms = list(two_arms()), panel = FALSE,
                               runs = 4, seed = 1),
                          c(b = "the budget has no room for it", c = "the budget has no room for it",
                            d = "its first batches do not fit"))
  out <- paste(capture.output(print(x)), collapse = " ")
  expect_match(out, "Left out: b, c (the budget has no room for it).", fixed = TRUE)
  s <- summary(x)
  expect_equal(s$standing, c("best", "dropped", "dropped", "dropped"))
  expect_equal(s$reason, c(NA, rep("the budget has no room for it", 2), "its first batches do not fit"))
  expect_equal(glance(x)$dropped, 3)
})

test_that("a printed table shows no epsilon below the promise, and no lower bound above it", {
  printed <- function(x, column) {
    lines <- cli::ansi_strip(format(x))
    lines <- lines[!startsWith(lines, "#")]
    at <- match(column, strsplit(trimws(lines[1]), " +")[[1]])
    rows <- strsplit(trimws(lines[-(1:2)]), " +")
    as.numeric(vapply(rows, function(row) row[at + 1], ""))
  }
  mu <- c(0.0123, 0.5, 1, 7, 31, 444)
  delta <- c(1e-1, 3e-6, 1e-5)
  for (policy in lapply(mu, policy_gaussian_imed)) {
    x <- dpts_privacy(policy, 10, delta = delta, accountant = c("gdp"))
    for (table in list(x, summary(x), x[c("policy", "delta", "epsilon")])) {
      epsilon <- table$epsilon
      expect_true(all(printed(table, "epsilon") >= epsilon * (1 - 1e-9)), label = format(policy))
      expect_true(all(printed(table, "epsilon") <= epsilon * 1.011))
    }
  }
  expect_identical(printed(dpts_privacy(privacy_pure(0.3), 10, delta = 0, accountant = "pure"), "epsilon"), 0.3)
  agent <- dpts_agent(policy_gaussian_imed(1), c("a", "b"), use = "arrival")
  own <- dpts_privacy(agent, delta = delta)
  expect_true(all(printed(own, "epsilon") >= own$epsilon))
  audit <- dpts_audit(policy_ts_gaussian(), 5, delta = c(0.2, 0.01, 1e-3), method = "exact", streams = c("silent", "success"))
  expect_true(all(printed(audit, "claimed") >= audit$claimed & printed(audit, "lower") <= audit$lower))
  expect_true(all(printed(summary(audit), "lower") <= summary(audit)$lower))
  gdp <- sequence_gdp(c(10, 30), 10, 5)
  expect_true(all(printed(gdp, "mu") >= gdp$mu))
  withr::local_options(pillar.sigfig = 5)
  expect_true(all(printed(x, "epsilon") >= x$epsilon))
})

test_that("numbers and lists in words are right on both sides of each limit", {
  expect_identical(words_list(letters[1:6], most = 4), "a, b, c, ... and f")
  expect_identical(words_list(letters[1:5], "or", most = 5), "a, b, c, d or e")
  expect_identical(vapply(c(0.5, 1, 59, 60, 61, 3599, 3600, 86399, 86400), format_seconds, "", digits = 2),
                   c("0.5 seconds", "1 second", "59 seconds", "1 minute", "1 minute", "60 minutes", "1 hour", "24 hours",
                     "1 day"))
  expect_identical(label_count(c(999999, 1e6, 1234567, 0.001, 0.00099, 0, NA, 20000)),
                   c("999,999", "1e6", "1.23e6", "0.001", "9.9e-4", "0", NA, "20,000"))
  expect_identical(shorts(c(3999, 4.3849, 0.001, 999.96, 2e9)), c("3,999", "4.38", "0.001", "1,000", "2e9"))
  expect_identical(signif_to(c(1.234, 1.236, 0.99951, 2), 3, "up"), c(1.24, 1.24, 1, 2))
  expect_identical(signif_to(c(1.234, 1.236, 0.99951, 2), 3, "down"), c(1.23, 1.23, 0.999, 2))
  expect_identical(short_label(c("abcdefgh", "abcdefghi"), 8), c("abcdefgh", "abc\u2026ghi"))
  bounds <- as_bounds(tibble::tibble(epsilon = 1.2341, lower = 1.2349, other = 1.2349))
  expect_match(format(bounds), "1.24.* 1.23.* 1.23", all = FALSE)
})

test_that("what counts for a missing answer is printed in units, not on the grid of 2^-20", {
  agent <- dpts_agent(policy_randomised(mu = 1), c("a", "b"), use = "deadline", range = c(0, 50), missing = 5,
                      deadline = as.difftime(1, units = "days"),
                      outcomes = list(harm = agent_outcome(range = c(0, 50), missing = 5)))
  expect_match(capture.output(print(agent))[3], "missing counts 5$")
  expect_match(format(agent$terms$outcomes$harm), "missing counts 5$|missing counts 5[ ,]")
  agent_close(agent)
})
