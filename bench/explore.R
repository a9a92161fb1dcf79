# What an answer of the page of dpts_explore() costs: `Rscript bench/explore.R > bench/explore.md`. Processor time (user and
# system) of the calls that the page writes and of their drawing as the page draws them, the least of five; beside it, an
# empty picture of ggplot2 and one line with a legend. Times depend on what else the machine does, multiples of the empty
# picture hardly.
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

what <- list("an empty picture" = function(horizon) draw(ggplot2::ggplot()),
             "a line with a legend" = function(horizon) {
               two <- data.frame(x = c(1, 2, 1, 2), y = 1:4, of = c("a", "a", "b", "b"))
               draw(ggplot2::ggplot(two, ggplot2::aes(x, y, colour = of)) + ggplot2::geom_line())
             })
for (tab in c("regret", "shares", "promise", "attack", "stop")) local({
  name <- tab
  what[[name]] <<- function(horizon) answer(name, round(stats::runif(3), 2), horizon)
})
horizons <- c(1000, 20000)
for (one in what) one(1000)
# One after the other in each round, so that all meet the same company
took <- replicate(5, vapply(what, function(one) vapply(horizons, function(n) {
  sum(system.time(one(n), gcFirst = FALSE)[c("user.self", "sys.self")])
}, 0), horizons))
least <- apply(took, 1:2, min)
cat("# What an answer of the page of `dpts_explore()` costs\n\nWritten by `Rscript bench/explore.R`: seconds of processor time,",
    "the least of five, and in brackets\nhow many times an empty picture. This machine draws that in 0.04 s when nothing else runs, so",
    "that each answer takes less\nthan 0.3 s then.\n\n| tab | 1,000 rounds | 20,000 rounds |\n| --- | ---: | ---: |\n")
cells <- matrix(sprintf("%.2f (%.1f)", least, least / min(least[, 1])), nrow = 2)
cat(sprintf("| %s | %s | %s |\n", names(what), cells[1, ], cells[2, ]), sep = "")
