# Build the website into docs/. Nothing is fetched: not while it is built, and not by its
# pages.
options(pkgdown.internet = FALSE)
pkgdown::build_site(preview = FALSE, install = TRUE, new_process = FALSE, devel = FALSE)

pages <- list.files("docs", pattern = "\\.html$", recursive = TRUE, full.names = TRUE)
remote <- "<(script|link|img)[^>]*(src|href)=\"(https?:)?//"
loads <- Filter(function(page) any(grepl(remote, readLines(page, warn = FALSE))), pages)
if (length(loads)) {
  stop("these pages load something from elsewhere: ", paste(loads, collapse = ", "), call. = FALSE)
}
message("Wrote docs/index.html: ", length(pages), " pages")
