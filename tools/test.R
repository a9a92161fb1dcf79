# Run the tests against the installed package, close with one line of counts. FILE=simulate (or
# tests/testthat/test-simulate.R) runs one file.

Sys.setenv(NOT_CRAN = "true") # snapshots too
file <- Sys.getenv("FILE")
topic <- sub("\\.R$", "", sub("^test-", "", basename(file)))
if (nzchar(file) && !file.exists(file.path("tests/testthat", paste0("test-", topic, ".R")))) {
  topics <- sub("^test-(.*)\\.R$", "\\1", list.files("tests/testthat", "^test-"))
  near <- topics[utils::adist(topic, topics)[1, ] <= 2]
  stop("there is no tests/testthat/test-", topic, ".R",
       if (length(near)) paste0("; did you mean FILE=", near[1], "?"), call. = FALSE)
}
results <- testthat::test_dir("tests/testthat", package = "dpts", load_package = "installed",
                              filter = if (nzchar(file)) paste0("^", topic, "$"),
                              reporter = "summary", stop_on_failure = FALSE)
results <- as.data.frame(results)
failed <- sum(results$failed) + sum(results$error)
skipped <- sum(results$skipped)
passed <- sum(results$nb) - sum(results$failed) - skipped
slowest <- head(results[order(-results$real), c("file", "test", "real")], 5)
cat("\nSlowest:\n")
cat(sprintf("  %5.1f s  %s: %s\n", slowest$real, slowest$file, slowest$test), sep = "")
cat(sprintf("\n%d passed, %d failed, %d skipped\n", passed, failed, skipped))
quit(status = if (failed > 0 || passed == 0) 1 else 0)
