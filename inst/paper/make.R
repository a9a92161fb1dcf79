# The article, in the form of the Journal of Statistical Software: dpts.html in the working directory, every number and
# picture computed anew, and with LaTeX dpts.pdf, of the same numbers. The journal's class comes with R. Runs for each
# table and picture are its argument (100 unless given): Rscript make.R 1000
runs <- as.integer(c(commandArgs(TRUE), 100)[1])
here <- grep("^--file=", commandArgs(), value = TRUE)
here <- if (length(here)) dirname(sub("^--file=", "", here[1])) else system.file("paper", package = "dpts")
here <- normalizePath(here)
work <- tempfile("paper-")
rmarkdown::render(file.path(here, "dpts.Rmd"), output_dir = getwd(), intermediates_dir = work, clean = FALSE,
                  params = list(runs = runs))

# ---- the PDF -----------------------------------------------------------------------------------------------------

# A listing in the journal's form: what is typed has a prompt, and what is printed has none.
listing <- function(lines) {
  printed <- grepl("^#>", lines)
  block <- cumsum(c(TRUE, diff(printed) != 0))
  parts <- lapply(split(seq_along(lines), block), function(at) {
    text <- lines[at]
    if (printed[at[1]]) {
      return(c("\\begin{CodeOutput}", sub("^#> ?", "", text), "\\end{CodeOutput}"))
    }
    text <- text[seq_len(max(0, which(nzchar(text))))]
    if (length(text) == 0) return(NULL)
    starts <- vapply(attr(parse(text = text, keep.source = TRUE), "srcref"), `[`, 0L, 1L)
    prompt <- ifelse(seq_along(text) %in% starts | !nzchar(text), "R> ", "+  ")
    c("\\begin{CodeInput}", paste0(prompt, text), "\\end{CodeInput}")
  })
  c("```{=latex}", "\\begin{CodeChunk}", unlist(parts, use.names = FALSE), "\\end{CodeChunk}", "```")
}

# The computed text, whose pictures and listings are HTML's
for_latex <- function(lines) {
  fences <- grep("^```", lines)
  for (i in rev(seq(1, length(fences) - 1, by = 2))) {
    inside <- seq_len(fences[i + 1] - fences[i] - 1) + fences[i]
    if (grepl("^``` *\\{?\\.?r", lines[fences[i]])) {
      lines <- append(lines[-(fences[i]:fences[i + 1])], listing(lines[inside]), fences[i] - 1)
    }
  }
  text <- paste(lines, collapse = "\n")
  text <- gsub('<div class="figure">\n<img src="([^"]*)"[^>]*/>\n<p class="caption">([^<]*)</p>\n</div>', "![\\2](\\1)", text)
  text <- gsub("(?<![*])[*]dpts[*](?![*])", "`\\\\pkg{dpts}`{=latex}", text, perl = TRUE)
  text <- gsub('<span id="[^"]*">|</span>|<div id="refs"></div>', "", text)
  text <- sub("[*]Keywords[*]:[^\n]*\n", "", text)
  # The references stand before the appendices.
  text <- sub("# References {-}", "`\\bibliography{dpts}`{=latex}", text, fixed = TRUE)
  sub("# Appendix A", "`\\appendix`{=latex}\n\n# Appendix A", text, fixed = TRUE)
}

if (!nzchar(Sys.which("pdflatex"))) {
  message("Wrote dpts.html. Without pdflatex there is no PDF.")
} else {
  knitted <- file.path(work, "dpts.knit.md")
  writeLines(for_latex(readLines(knitted)), file.path(work, "dpts.md"))
  file.copy(file.path(here, c("dpts.bib", "jss.tex")), work)
  back <- setwd(work)
  rmarkdown::pandoc_convert("dpts.md", to = "latex", from = "markdown", output = "dpts.tex",
                            options = c("--natbib", "--number-sections", "--template", "jss.tex",
                                        "-V", "plaintitle=dpts: Private Bandits That Learn, Account and Conclude",
                                        "-V", "shorttitle=dpts: Private Bandits"))
  tools::texi2pdf("dpts.tex", clean = FALSE, quiet = TRUE)
  setwd(back)
  stopifnot(file.copy(file.path(work, "dpts.pdf"), "dpts.pdf", overwrite = TRUE))
  message("Wrote dpts.html and dpts.pdf.")
}
