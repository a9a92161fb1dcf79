# How fast the page of dpts_explore() answers: `Rscript bench/explore.R > bench/explore.md`. Seconds from what the page has
# been told (an arm was dragged) to the picture that it sends: the calls that the page writes, and their drawing.
library(dpts)
page <- asNamespace("dpts")

answer <- function(tab, means, horizon) {
  calls <- page$explore_calls(tab, means, 1, c("DP-IMED", "DP-SE", "IMED, no privacy"), horizon, 0)
  own <- new.env(parent = page)
  own$x <- eval(calls[[1]], own)
  grDevices::png(tempfile(fileext = ".png"), 700, 340, res = 84)
  print(eval(calls[[2]], own))
  grDevices::dev.off()
}

cat("# How fast the page of `dpts_explore()` answers\n\nWritten by `Rscript bench/explore.R`: the median of nine answers, in",
    "seconds.\n\n| tab | 1,000 rounds | 20,000 rounds |\n| --- | ---: | ---: |\n")
for (tab in c("regret", "shares", "promise", "attack", "stop")) {
  took <- vapply(c(1000, 20000), function(horizon) {
    answer(tab, c(0.6, 0.5, 0.4), horizon)
    stats::median(replicate(9, system.time(answer(tab, round(stats::runif(3), 2), horizon))[["elapsed"]]))
  }, 0)
  cat(sprintf("| %s | %.2f | %.2f |\n", tab, took[1], took[2]))
}
