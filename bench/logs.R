# Events a second through dpts_replay() and dpts_ope(), from memory, a database and a file, and the
# memory that this takes: Rscript bench/logs.R > bench/logs.md. Two minutes at most.

suppressPackageStartupMessages(library(dpts))
n <- 2e6
k <- 10
set.seed(1)
log <- data.frame(arm = sample(k, n, TRUE), reward = rbinom(n, 1, 0.1), propensity = 1 / k)
file <- tempfile(fileext = ".csv")
con <- DBI::dbConnect(RSQLite::SQLite(), tempfile(fileext = ".sqlite"))
utils::write.csv(log, file, row.names = FALSE, quote = FALSE)
DBI::dbWriteTable(con, "log", log)
query <- "SELECT * FROM log ORDER BY rowid"
chunk <- 1e5
part <- log[seq_len(chunk), ]
sources <- list(
  `a data frame` = log,
  `a function that has its chunks ready` = log_chunks(function(i) if (i <= n / chunk) part),
  `SQLite, a query` = log_query(con, query),
  `CSV` = log_file(file)
)
calls <- list(
  `policy_uniform(), 1 run` = function(log) dpts_replay(log, policy_uniform(), runs = 1, seed = 1),
  `policy_fixed(1), 1 run` = function(log) dpts_replay(log, policy_fixed(1), runs = 1, seed = 1),
  `policy_uniform(), 10 runs` = function(log) dpts_replay(log, policy_uniform(), runs = 10, seed = 1),
  `dpts_ope(), ipw and snipw` = function(log) dpts_ope(log, "uniform", estimator = c("ipw", "snipw")),
  `dpts_ope()` = function(log) dpts_ope(log, "uniform")
)
# Of the processor, so that other work on the machine counts little
seconds <- function(code) {
  gc()
  sum(system.time(code)[c("user.self", "sys.self")])
}
table <- sapply(calls, function(call) sapply(sources, function(log) n / seconds(call(log)) / 1e6))
alone <- c(NA, NA, seconds({
  rows <- DBI::dbSendQuery(con, query)
  while (nrow(DBI::dbFetch(rows, chunk))) NULL
  DBI::dbClearResult(rows)
}), seconds({
  lines <- base::file(file, "r")
  readLines(lines, 1)
  while (length(scan(lines, list(0, 0, 0), nmax = chunk, sep = ",", quiet = TRUE)[[1]])) NULL
  close(lines)
}))

cat("# Logs in chunks\n\n")
cat(sprintf("Millions of events per second of CPU time, %s events with %d arms and propensities, chunks of %s, one core",
            format(n, big.mark = ",", scientific = FALSE), k, format(chunk, big.mark = ",", scientific = FALSE)))
cat(".\nThe last column is reading alone: R's own driver or `scan()`, without dpts. Written by `bench/logs.R`.\n\n")
columns <- c(paste0("`", colnames(table), "`"), "reading alone")
cat("| log |", paste(columns, collapse = " | "), "|\n| --- |", rep("---: |", length(columns)), "\n")
for (i in seq_along(sources)) {
  cells <- c(sprintf("%.2f", table[i, ]), if (is.na(alone[i])) "" else sprintf("%.2f", n / alone[i] / 1e6))
  cat("|", rownames(table)[i], "|", paste(cells, collapse = " | "), "|\n")
}

# The most memory of a process of its own, by the operating system's count
status <- "/proc/self/status"
if (file.exists(status)) {
  cat("\nThe most memory that a process of R had (VmHWM), `policy_uniform()` on chunks of 15,000 events:\n\n")
  cat("| events | MB |\n| ---: | ---: |\n")
  for (events in c(45e3, 45e4, 45e5, 45e6)) {
    code <- sprintf("suppressPackageStartupMessages(library(dpts))
      part <- data.frame(arm = rep(1:10, 1500), reward = rep(c(0, 1, 0.5, 0, 0.25), 3000))
      x <- dpts_replay(log_chunks(function(i) if (i <= %d) part), policy_uniform(), runs = 1, seed = 1)
      cat(gsub('[^0-9]', '', grep('VmHWM', readLines('%s'), value = TRUE)))", as.integer(events / 15000), status)
    kilobytes <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE)
    stopifnot(length(kilobytes) == 1)
    cat(sprintf("| %s | %.0f |\n", format(events, big.mark = ",", scientific = FALSE), as.numeric(kilobytes) / 1024))
  }
}
DBI::dbDisconnect(con)
