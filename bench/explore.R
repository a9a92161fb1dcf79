# What an answer of the page of dpts_explore() costs: `Rscript bench/explore.R > bench/explore.md`. Processor time (user and
# system) of the calls that the page writes and of their drawing as the page draws them, the least of five; beside it, an
# empty picture of ggplot2.
library(dpts)
page <- asNamespace("dpts")

draw <- function(plot) {
  ragg::agg_png(tempfile(fileext = ".png"), 700, 360, res = 84)
  plot(ggplot2::ggplotGrob(plot + ggplot2::theme(panel.grid.minor = ggplot2::element_blank())))
  grDevices::dev.off()
}
answer <- function(tab, means, horizon) {
  calls <- page$explore_calls(tab, means, 1, c("DP-IMED", "DP-SE", "IMED, no privacy"), horizon, 0)
  own <- new.env(parent = page)
  own$x <- eval(calls[[1]], own)
  draw(eval(calls[[2]], own))
}
least <- function(what) {
  min(replicate(5, sum(system.time(what(), gcFirst = FALSE)[c("user.self", "sys.self")])))
}

cat("# What an answer of the page of `dpts_explore()` costs\n\nWritten by `Rscript bench/explore.R`: seconds of processor time,",
    "the least of five.\n\n| tab | 1,000 rounds | 20,000 rounds |\n| --- | ---: | ---: |\n")
row <- function(name, took) cat(sprintf("| %s | %.2f | %.2f |\n", name, took[1], took[2]))
row("an empty picture", rep(least(function() draw(ggplot2::ggplot())), 2))
for (tab in c("regret", "shares", "promise", "attack", "stop")) {
  row(tab, vapply(c(1000, 20000), function(horizon) {
    answer(tab, c(0.6, 0.5, 0.4), horizon)
    least(function() answer(tab, round(stats::runif(3), 2), horizon))
  }, 0))
}
