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

remote <- "<(script|link|img)[^>]*(src|href)=\"(https?:)?//"
loads <- Filter(function(page) any(grepl(remote, readLines(page, warn = FALSE))), pages)
if (length(loads)) {
  stop("these pages load something from elsewhere: ", paste(loads, collapse = ", "), call. = FALSE)
}
message("Wrote docs/index.html: ", length(pages), " pages")
