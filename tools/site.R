# Build the website into docs/. Nothing is fetched: not while it is built, and not by its
# pages.
options(pkgdown.internet = FALSE)
pkgdown::build_site(preview = FALSE, install = TRUE, new_process = FALSE, devel = FALSE)

# The README links to the table of all policies, which is not at the top where pkgdown looks.
table <- tempfile(fileext = ".html")
rmarkdown::pandoc_convert(normalizePath("bench/regret.md"), to = "html", from = "gfm", output = table)
body <- readLines(table, encoding = "UTF-8")
dir.create("docs/bench", showWarnings = FALSE)
pkgdown::render_page(pkgdown::as_pkgdown("."), "title-body", path = "bench/regret.html", quiet = TRUE,
                     data = list(pagetitle = "What privacy costs",
                                 body = paste(body[!grepl("<h1", body)], collapse = "\n")))

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

# The README's links to files of the sources, as pages of the site
home <- readLines("docs/index.html", warn = FALSE, encoding = "UTF-8")
home <- gsub("href=\"man/figures/", "href=\"reference/figures/", home, fixed = TRUE)
home <- gsub("href=\"vignettes/([^\"]+)\\.Rmd\"", "href=\"articles/\\1.html\"", home)
writeLines(home, "docs/index.html", useBytes = TRUE)

# Calls such as `policy_imed(safety = 0.3)` become links: pkgdown links calls without arguments only.
# An alias may be documented on another function's page.
aliases <- do.call(rbind, lapply(list.files("man", "\\.Rd$", full.names = TRUE), function(file) {
  found <- grep("^\\\\alias\\{", readLines(file, encoding = "UTF-8"), value = TRUE)
  data.frame(alias = sub("^\\\\alias\\{(.*)\\}$", "\\1", found), page = sub("\\.Rd$", ".html", basename(file)))
}))
call <- "<code>((policy|arms|privacy|dpts|agent)_[a-z0-9_]+)\\([^<]*\\)</code>(?!</a>)"
for (page in pages[!grepl("^docs/reference/", pages)]) {
  html <- paste(readLines(page, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  found <- unique(regmatches(html, gregexpr(call, html, perl = TRUE))[[1]])
  up <- strrep("../", lengths(regmatches(page, gregexpr("/", page))) - 1)
  for (code in found) {
    target <- aliases$page[match(sub(call, "\\1", code, perl = TRUE), aliases$alias)]
    if (is.na(target)) next
    linked <- sprintf("<a href=\"%sreference/%s\">%s</a>", up, target, code)
    html <- gsub(paste0(code, "</a>"), "\u0001", html, fixed = TRUE)
    html <- gsub("\u0001", paste0(code, "</a>"), gsub(code, linked, html, fixed = TRUE), fixed = TRUE)
  }
  writeLines(enc2utf8(html), page, useBytes = TRUE)
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

# A long formula scrolls by itself on a phone.
for (page in pages) {
  html <- paste(readLines(page, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  found <- unique(regmatches(html, gregexpr("(?s)<math.*?</math>", html, perl = TRUE))[[1]])
  found <- found[grepl("^<math display=\"block\"", found) | nchar(gsub("<[^>]*>", "", found)) > 120]
  for (one in found) html <- gsub(one, sprintf("<span class=\"formula\">%s</span>", one), html, fixed = TRUE)
  if (length(found)) writeLines(enc2utf8(html), page, useBytes = TRUE)
}

remote <- "<(script|link|img)[^>]*(src|href)=\"(https?:)?//"
loads <- Filter(function(page) any(grepl(remote, readLines(page, warn = FALSE))), pages)
if (length(loads)) {
  stop("these pages load something from elsewhere: ", paste(loads, collapse = ", "), call. = FALSE)
}
# Every link inside the site leads somewhere.
ids <- new.env()
ids_of <- function(file) {
  if (is.null(ids[[file]])) {
    html <- paste(readLines(file, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
    ids[[file]] <- gsub("^ (id|name)=\"|\"$", "", regmatches(html, gregexpr(" (id|name)=\"[^\"]+\"", html))[[1]])
  }
  ids[[file]]
}
dead <- unlist(lapply(pages, function(page) {
  html <- paste(readLines(page, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  links <- unique(regmatches(html, gregexpr("(?<=href=\")[^\"]+", html, perl = TRUE))[[1]])
  links <- links[!grepl("^([a-z]+:|//)", links) & links != "#"]
  file <- sub("[#?].*$", "", links)
  file <- ifelse(file == "", page, file.path(dirname(page), utils::URLdecode(file)))
  file <- ifelse(dir.exists(file), file.path(file, "index.html"), file)
  anchor <- ifelse(grepl("#", links), utils::URLdecode(sub("^[^#]*#", "", links)), "")
  ok <- file.exists(file) & (anchor == "" | mapply(function(f, a) {
    !grepl("\\.html$", f) || !file.exists(f) || a == "" || a %in% ids_of(normalizePath(f))
  }, file, anchor))
  if (any(!ok)) sprintf("%s: %s", page, links[!ok])
}))
if (length(dead)) stop("links that lead nowhere:\n", paste0("  ", dead, collapse = "\n"), call. = FALSE)
# What a first visit loads: the home page, and the scripts, styles and pictures that it names.
home <- paste(readLines("docs/index.html", warn = FALSE, encoding = "UTF-8"), collapse = "\n")
named <- regmatches(home, gregexpr("(?<=src=\")[^\"]+|(?<=href=\")[^\"]+[.]css(?=\")", home, perl = TRUE))[[1]]
bytes <- sum(file.size(unique(c("docs/index.html", file.path("docs", named)))))
if (is.na(bytes) || bytes > 5e5) stop("the home page loads ", bytes, " bytes, more than 500,000", call. = FALSE)
message("The home page loads ", round(bytes / 1000), " KB.")
message("Wrote docs/index.html: ", length(pages), " pages")
