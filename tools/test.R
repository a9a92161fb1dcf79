# Run the tests against the installed package, close with one line of counts.

Sys.setenv(NOT_CRAN = "true") # snapshots too
results <- testthat::test_dir("tests/testthat", package = "dpts", load_package = "installed",
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
