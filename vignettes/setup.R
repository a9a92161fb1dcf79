# What all articles share: how code, pictures and numbers look. Each one runs it first, by source().
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", dpi = 80, fig.width = 7, fig.height = 3.2, out.width = "98%")
knitr::opts_knit$set(eval.after = "fig.alt")
# Pictures with a palette of 48 colours need a quarter of the bytes, where the tool is there.
if (nzchar(Sys.which("pngquant"))) {
  knitr::knit_hooks$set(pngquant = knitr::hook_pngquant)
  knitr::opts_chunk$set(pngquant = "--speed 1 48")
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

# What takes long is computed in advance. A chunk whose option `stored` names what it makes reads that from
# stored/ARTICLE.CHUNK.rds, if the code of the article up to its end is still the code that made it; else it runs.
# With ARTICLES=store (`make articles`) it runs, and stores; with ARTICLES=compare what it makes must be what is stored.
code_until <- function(lines, label) {
  fence <- grepl("^```", lines)
  block <- cumsum(fence)
  in_r <- block %in% block[grepl("^```\\{r", lines)] & !fence
  lines[in_r & block <= block[grepl(sprintf("^```\\{r %s[,}]", label), lines)]]
}
knitr::opts_hooks$set(stored = function(options) {
  article <- knitr::current_input()
  options$stored_in <- file.path("stored", sub("Rmd$", paste0(options$label, ".rds"), article))
  options$stored_code <- code_until(readLines(article), options$label)
  old <- if (Sys.getenv("ARTICLES") == "" && file.exists(options$stored_in)) readRDS(options$stored_in)
  if (identical(old$code, options$stored_code)) {
    list2env(old$values, knitr::knit_global())
    options$eval <- FALSE
    options$code <- c(options$code, sprintf("# computed in advance: it takes %.0f s", old$seconds))
  }
  options
})
knitr::knit_hooks$set(stored = local({
  began <- 0
  function(before, options, envir) {
    now <- proc.time()[["user.self"]]
    if (before) began <<- now
    if (before || Sys.getenv("ARTICLES") == "") return()
    values <- mget(options$stored, envir)
    if (Sys.getenv("ARTICLES") == "compare") {
      same <- all.equal(readRDS(options$stored_in)$values, values)
      if (!isTRUE(same)) stop(options$stored_in, ": ", toString(same), call. = FALSE)
    } else {
      saveRDS(list(code = options$stored_code, values = values, seconds = now - began), options$stored_in, compress = "xz")
    }
    NULL
  }
}))
