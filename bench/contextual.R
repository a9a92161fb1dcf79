# Speed of the contextual policies and of the reader of Yahoo!'s log, one thread.
# Rscript bench/contextual.R

library(dpts)

# The best of many short measurements: the least disturbed by whatever else runs.
best <- function(expr, times = 15) {
  expr <- substitute(expr)
  frame <- parent.frame()
  min(vapply(seq_len(times), function(i) system.time(eval(expr, frame))[["elapsed"]], 0))
}

set.seed(1)
d10 <- arms_linear(matrix(runif(50, 0, 0.1), 5, 10), "uniform")
d6 <- arms_linear(matrix(runif(30, 0, 0.4), 5, 6), "simplex")
cases <- list(
  "LinUCB, d = 10" = list(d10, policy_linucb(), 2e5),
  "linear TS, d = 10" = list(d10, policy_lin_ts(), 2e5),
  "LinUCB, d = 6, epsilon = 2.7" = list(d6, policy_linucb(epsilon = 2.7), 2e4),
  "LinUCB, d = 6, epsilon = 2.7, gamma" =
    list(d6, policy_linucb(epsilon = 2.7, mechanism = "gamma"), 2e4),
  "LinUCB, d = 6, epsilon = 0.6, contexts public" =
    list(d6, policy_linucb(epsilon = 0.6, contexts = "public"), 1e5)
)
for (name in names(cases)) {
  case <- cases[[name]]
  seconds <- best(dpts_simulate(case[[1]], case[[2]], case[[3]], runs = 1, seed = 1, record = 2,
                                threads = 1, progress = FALSE))
  cat(sprintf("%-46s K = 5: %8.3g rounds/s\n", name, case[[3]] / seconds))
}

# A log in the form of R6A: 20 articles on offer, another pool every 1500 lines
block <- function(lead) {
  x <- runif(5)
  paste(lead, paste(sprintf("%d:%.6f", 2:6, x / sum(x)), collapse = " "), "1:1.000000")
}
n <- 60000
articles <- vapply(1:60, function(i) block(paste0("|", 109400 + i)), "")
pools <- replicate(40, sample(60, 20), simplify = FALSE)
text <- vapply(pools, function(p) paste(articles[p], collapse = " "), "")
users <- replicate(5000, block("|user"))
pool <- rep(1:40, each = n / 40)
shown <- vapply(pool, function(p) 109400L + sample(pools[[p]], 1), 0L)
file <- tempfile(fileext = ".gz")
con <- gzfile(file, "wb")
writeLines(sprintf("%d %d %d %s %s", 1241160900L, shown, rbinom(n, 1, 0.04),
                   sample(users, n, TRUE), text[pool]), con)
close(con)
cat(sprintf("%-46s        %8.3g lines/s\n", "read_yahoo_r6(), gzip",
            n / best(read_yahoo_r6(file, progress = FALSE), 5)))
log <- read_yahoo_r6(file, progress = FALSE)
mixed <- tempfile(fileext = ".gz")
con <- gzfile(mixed, "wb")
writeLines(sprintf("%d %d 0 %s %s", 1241160900L, shown, sample(users, n, TRUE), vapply(pool, function(p) {
  paste(articles[sample(pools[[p]])], collapse = " ")
}, "")), con)
close(con)
cat(sprintf("%-46s        %8.3g lines/s\n", "... another order of articles on every line",
            n / best(read_yahoo_r6(mixed, progress = FALSE), 5)))
cat(sprintf("%-46s        %8.3g events/s\n", "replay of LinUCB on it",
            n / best(dpts_replay(log, policy_linucb(), runs = 1, seed = 1, progress = FALSE), 5)))
