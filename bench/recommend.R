# How long advice takes: Rscript bench/recommend.R > bench/recommend.md
# Processor time of dpts_recommend(), one thread, with the first rounds of its race and without them, and the
# standings of both. Each call is made in a process of its own, because fits are remembered. About two minutes.

call <- function(first_rounds, seed) {
  code <- sprintf('
    suppressMessages(library(dpts))
    %s
    time <- system.time(x <- dpts_recommend(privacy_approx(1, 1e-6), NULL, 1e6, k = 10, runs = 20, seed = %d,
                                            progress = FALSE))
    out <- list(seconds = sum(time[1:2]), policy = as.character(x$policy), standing = x$standing,
                rounds = x$rounds, regret = x$regret)
    saveRDS(out, commandArgs(TRUE))',
    if (first_rounds) "" else 'utils::assignInNamespace("LONG_RACE", Inf, "dpts")', seed)
  script <- tempfile(fileext = ".R")
  result <- tempfile(fileext = ".rds")
  writeLines(code, script)
  status <- system2(file.path(R.home("bin"), "Rscript"), c(script, result), stdout = FALSE)
  stopifnot(status == 0)
  readRDS(result)
}

cat("# How long advice takes\n\nWritten by `Rscript bench/recommend.R`: processor time of",
    "`dpts_recommend(privacy_approx(1, 1e-6), NULL, 1e6, k = 10, runs = 20)`, one thread, a new process",
    "for each call. *Before*: without the first rounds of the race, with which a race begins from a horizon",
    "of 1e5 on (`?dpts_recommend`, argument `race`).\n\n")
cat("| seed | before, seconds | now, seconds | ratio | left in the first rounds | finished, in this order |",
    "\n| --: | --: | --: | --: | --: | --- |\n", sep = "")
for (seed in 1:3) {
  before <- call(FALSE, seed)
  now <- call(TRUE, seed)
  finished <- now$policy[now$rounds == 1e6]
  # The same candidate wins, and those that finish are in the same order.
  stopifnot(finished == intersect(before$policy, finished),
            now$standing == before$standing[match(now$policy, before$policy)])
  cat(sprintf("| %d | %.1f | %.1f | %.2f | %d of %d | %s |\n", seed, before$seconds, now$seconds,
              now$seconds / before$seconds, sum(now$rounds < 1e6), length(now$rounds),
              paste(finished, collapse = ", ")))
}
cat("\nOf what is left, the fit of the variance of Gaussian Thompson sampling takes about half. Measured on a",
    "machine that others use, too: differences of a factor 1.3 mean nothing.\n")

# Lazy Gaussian Thompson sampling is no candidate unless it is named: with seed 2 it took half of the time of
# all candidates, and it never was the best.
rank_of <- function(horizon, k, mu) {
  advice <- dpts_recommend(privacy_gdp(mu), NULL, horizon, k = k, runs = 30, seed = 1, progress = FALSE,
                           candidates = c("gaussian_imed", "adac_ucb", "lazy_gaussian_ts", "dp_imed_tuned",
                                          "dp_klucb"))
  at <- which(advice$policy == "lazy_gaussian_ts")
  data.frame(horizon, k, mu, rank = at, times = advice$regret[at] / advice$regret[1], standing = advice$standing[at])
}
library(dpts)
cases <- expand.grid(mu = c(0.1, 1, 3), k = c(2, 10), horizon = c(300, 3000))
found <- do.call(rbind, Map(rank_of, cases$horizon, cases$k, cases$mu))
stopifnot(found$rank > 1)
cat("\n## Lazy Gaussian Thompson sampling\n\nIt is a candidate only by name. Its rank of five on the panel, and its",
    "regret by that of the best, 30 runs, fewer where it left the race.\n\n")
cat("| horizon | arms | mu | rank | times the best | standing |\n| --: | --: | --: | --: | --: | --- |\n",
    sprintf("| %s | %d | %g | %d | %.2f | %s |\n", format(found$horizon, big.mark = ",", trim = TRUE),
            as.integer(found$k), found$mu, found$rank, found$times, found$standing), sep = "")
