# lesson.html, slides made from the article "A class of ninety minutes": `make slides`. A picture begins a slide of its own,
# with the questions on it; where there is none, the questions do.
text <- readLines("vignettes/lesson.Rmd", encoding = "UTF-8")
title <- ""
apart <- FALSE # does this section have its second slide?
slides <- unlist(lapply(seq_along(text), function(i) {
  line <- text[i]
  if (startsWith(line, "## ")) {
    title <<- line
    apart <<- FALSE
  }
  second <- grepl("^```\\{r [a-z]+-figure|^<details>", line) && !apart
  apart <<- apart || second
  c(if (second) c(title, ""), line)
}))
folder <- tempfile("slides-")
dir.create(folder)
invisible(file.copy("vignettes/setup.R", folder))
writeLines(enc2utf8(slides), file.path(folder, "lesson.Rmd"), useBytes = TRUE)
rmarkdown::render(file.path(folder, "lesson.Rmd"), rmarkdown::slidy_presentation(font_adjustment = -4, fig_height = 3.6),
                  output_dir = ".", quiet = TRUE)
message("Wrote lesson.html, the slides")
