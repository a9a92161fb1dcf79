# What all articles share: how code, pictures and numbers look. Each one runs it first, by source().
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", dpi = 80, fig.width = 7, fig.height = 3.2, out.width = "98%")
knitr::opts_knit$set(eval.after = "fig.alt")
# Pictures with a palette need a third of the bytes, where the tool is there.
if (nzchar(Sys.which("pngquant"))) {
  knitr::knit_hooks$set(pngquant = knitr::hook_pngquant)
  knitr::opts_chunk$set(pngquant = "--speed 1 128")
}
library(dpts)
ggplot2::theme_set(ggplot2::theme_minimal(base_size = 10))

alt <- function(plot) ggplot2::get_alt_text(plot)

# Three significant digits, or whole numbers
num <- function(x, digits = 3) {
  x <- ifelse(x %% 1 == 0 | abs(x) >= 1000, round(x), signif(x, digits))
  trimws(format(x, big.mark = ",", scientific = FALSE, drop0trailing = TRUE))
}

# A table of such numbers
show_table <- function(x, ...) {
  one <- function(v) if (is.na(v)) "" else if (v == Inf) "none" else num(v, if (abs(v) < 1e-3) 2 else 3)
  numeric <- vapply(x, is.numeric, NA)
  x <- as.data.frame(x)
  x[numeric] <- lapply(x[numeric], function(column) vapply(column, one, ""))
  knitr::kable(x, align = ifelse(numeric, "r", "l"), row.names = FALSE, ...)
}
