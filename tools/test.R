# Run the tests against the installed package, close with one line of counts. FILE=simulate (or
# tests/testthat/test-simulate.R) runs one file.

Sys.setenv(NOT_CRAN = "true", # snapshots too
           TESTTHAT_EDITION = "3", # each file looks it up in DESCRIPTION otherwise, for 60 ms
           CLI_NO_THREAD = "1") # the thread that tells cli when to draw a bar does not outlive a fork
file <- Sys.getenv("FILE")
topic <- sub("\\.R$", "", sub("^test-", "", basename(file)))
if (nzchar(file) && !file.exists(file.path("tests/testthat", paste0("test-", topic, ".R")))) {
  topics <- sub("^test-(.*)\\.R$", "\\1", list.files("tests/testthat", "^test-"))
  near <- topics[utils::adist(topic, topics)[1, ] <= 2]
  stop("there is no tests/testthat/test-", topic, ".R",
       if (length(near)) paste0("; did you mean FILE=", near[1], "?"), call. = FALSE)
}
suppressPackageStartupMessages(library(dpts))

# As many processes as there are cores and one more, since some tests wait for a database, a browser or a clock
# (one where R cannot fork). Each takes the next file until none is left; a process for each file would copy the
# memory of the first again and again, which took a fifth of the time. The largest file first, so that no core is
# left with a slow one at the end: as good as by their times, to a second. The referee's file is small, and its
# games take longest of all.
paths <- list.files("tests/testthat", if (nzchar(file)) paste0("^test-", topic, "\\.R$") else "^test-.*\\.R$",
                    full.names = TRUE)
paths <- paths[order(basename(paths) != "test-referee.R", -file.size(paths))]
# A warning that no test expects is a mistake, too, but for those of packages that grow old.
warned <- function(test) {
  of <- Filter(function(e) inherits(e, "expectation_warning"), test$results)
  sum(!grepl("deprecat", vapply(of, conditionMessage, "")))
}
# So is a setting that a file leaves behind, for the next file of the same process would run with it.
settings <- function() list(
  options = options()[grepl("^(dpts\\.|digits$|OutDec$|scipen$|warn$|width$)", names(options()))],
  variables = ls(globalenv()), random = RNGkind(), locale = Sys.getlocale(), folder = getwd(),
  plan = if (isNamespaceLoaded("future")) class(future::plan())
)
run <- function(path) {
  before <- settings()
  text <- capture.output(tests <- testthat::test_file(
    path, package = "dpts", load_package = "installed", load_helpers = FALSE, env = helpers,
    reporter = "check", stop_on_failure = FALSE
  ))
  results <- as.data.frame(tests)[c("file", "test", "nb", "failed", "skipped", "error", "real")]
  results$failed <- results$failed + vapply(tests, warned, 0)
  # Of the successes of a test only the first is reported: see tests/testthat/helper-expect.R
  if (nrow(results)) results$nb[1] <- results$nb[1] + helpers$unreported$successes
  helpers$unreported$successes <- 0
  left <- names(before)[!mapply(identical, before, settings())]
  if (length(left)) {
    text <- c(text, paste("It leaves other settings behind:", paste(left, collapse = ", ")))
    results$failed[nrow(results)] <- results$failed[nrow(results)] + 1
  }
  bad <- any(results$failed > 0 | results$error)
  cat(sprintf("%-32s %5d  %4.0f s", basename(path), sum(results$nb), sum(results$real)), if (bad) " FAILED", "\n",
      sep = "")
  list(results = results, text = if (bad || nzchar(file)) text)
}
forks <- .Platform$OS.type != "windows"
cores <- if (forks) max(1, parallel::detectCores(), na.rm = TRUE) else 1
processes <- if (forks && !nzchar(file)) cores + 1 else 1
# dpts is installed without byte code. To make it of all functions takes R four times as long as of the tenth that
# loop, and the tests gain no more by it. What loops runs as users run it.
if (!nzchar(file)) {
  own <- asNamespace("dpts")
  loops <- Filter(function(name) {
    what <- own[[name]]
    is.function(what) && any(c("for", "while", "repeat") %in% all.names(body(what)))
  }, names(own))
  compiled <- parallel::mclapply(loops, function(name) compiler::cmpfun(own[[name]]), mc.cores = cores)
  for (i in seq_along(loops)) {
    unlockBinding(loops[i], own)
    assign(loops[i], compiled[[i]], own)
  }
}
# What testthat loads and compiles for its first test is there for all processes, if it is done before; so are
# the helpers, and packages that many files need.
helpers <- testthat::test_env("dpts")
invisible(testthat::source_test_helpers("tests/testthat", helpers))
loaded <- c("DBI", "RSQLite", "RPostgres", "lubridate", "dplyr", "shiny", "future.apply")
# lubridate would ask the system for its time zone, which a container may not know.
withr::with_timezone("UTC", for (name in loaded) requireNamespace(name, quietly = TRUE))
first <- file.path(tempdir(), "test-first.R")
writeLines('test_that("a test runs", { expect_true(TRUE); expect_equal(1, 1) })', first)
invisible(capture.output(testthat::test_file(first, package = "dpts", load_package = "installed", reporter = "check")))
taken <- tempfile("taken-")
dir.create(taken)
kept <- file.path(taken, sub("R$", "rds", basename(paths)))
# Of two processes that make the same folder, one alone succeeds: the file is that one's.
work <- function(process) for (i in seq_along(paths))
  if (dir.create(sub("rds$", "taken", kept[i]), showWarnings = FALSE)) saveRDS(run(paths[i]), kept[i])
invisible(parallel::mclapply(seq_len(processes), work, mc.cores = processes))
# The file in which a process died has no results; the other files are left to the other processes.
parts <- lapply(seq_along(paths), function(i) {
  if (file.exists(kept[i])) return(readRDS(kept[i]))
  cat(sprintf("%-32s was not finished\n", basename(paths[i])))
  list(results = data.frame(file = basename(paths[i]), test = "(all)", nb = 1, failed = 1, skipped = FALSE,
                            error = FALSE, real = 0))
})
results <- do.call(rbind, lapply(parts, `[[`, "results"))
failed <- sum(results$failed) + sum(results$error)
skipped <- sum(results$skipped)
passed <- sum(results$nb) - sum(results$failed) - skipped
longest <- head(results[order(-results$real), c("file", "test", "real")], 5)
cat("\nSlowest:\n")
cat(sprintf("  %5.1f s  %s: %s\n", longest$real, longest$file, longest$test), sep = "")
# What failed comes last: of a long output, readers may be shown the end alone.
cat(unlist(lapply(parts, `[[`, "text")), sep = "\n")
cat(sprintf("\n%d passed, %d failed, %d skipped\n", passed, failed, skipped))
quit(status = if (failed > 0 || passed + skipped == 0) 1 else 0)
