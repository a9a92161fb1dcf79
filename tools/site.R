# Build the website into docs/. Nothing is fetched: not while it is built, and not by its
# pages.
options(pkgdown.internet = FALSE)
pkgdown::build_site(preview = FALSE, install = TRUE, new_process = FALSE, devel = FALSE)

# pkgdown leaves an empty logo on every page and says nothing of the examples' plots to who
# cannot see them.
pages <- list.files("docs", pattern = "\\.html$", recursive = TRUE, full.names = TRUE)
for (page in pages) {
  html <- readLines(page, warn = FALSE, encoding = "UTF-8")
  html <- gsub("<img src=\"\" class=\"logo\" alt=\"\">", "", html, fixed = TRUE)
  html <- gsub("(<img src=\"[^\"]*-[0-9]+\\.png\") alt=\"\"", "\\1 alt=\"The plot that this example draws\"",
               html)
  writeLines(html, page, useBytes = TRUE)
}

# Formulas as MathML, which browsers draw by themselves; pkgdown leaves them to a script.
formula <- "<span class=\"math (inline|display)\">(\\\\[(\\[]([^<]*)\\\\[)\\]])</span>"
for (page in pages) {
  html <- paste(readLines(page, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  found <- regmatches(html, gregexpr(formula, html, perl = TRUE))[[1]]
  if (!length(found)) next
  tex <- gsub("&lt;", "<", gsub("&gt;", ">", sub(formula, "\\3", found, perl = TRUE)))
  tex <- gsub("\\s+", " ", gsub("&amp;", "&", trimws(tex), fixed = TRUE))
  mark <- ifelse(grepl("math display", found, fixed = TRUE), "$$", "$")
  source <- tempfile(fileext = ".md")
  writeLines(paste0(mark, tex, mark, "\n"), source, useBytes = TRUE)
  target <- tempfile(fileext = ".html")
  rmarkdown::pandoc_convert(source, to = "html", from = "markdown", output = target,
                            options = c("--mathml", "--wrap=none"))
  drawn <- paste(readLines(target, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  drawn <- regmatches(drawn, gregexpr("(?s)<math.*?</math>", drawn, perl = TRUE))[[1]]
  stopifnot(length(drawn) == length(found))
  for (i in seq_along(found)) html <- sub(found[i], drawn[i], html, fixed = TRUE)
  writeLines(enc2utf8(html), page, useBytes = TRUE)
}

remote <- "<(script|link|img)[^>]*(src|href)=\"(https?:)?//"
loads <- Filter(function(page) any(grepl(remote, readLines(page, warn = FALSE))), pages)
if (length(loads)) {
  stop("these pages load something from elsewhere: ", paste(loads, collapse = ", "), call. = FALSE)
}
message("Wrote docs/index.html: ", length(pages), " pages")
