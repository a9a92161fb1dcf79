# What surrounds the code: README, articles, the cheat sheet and the index of the site. Most of it is
# in the sources alone, and is tested where they are.

source_file <- function(...) {
  path <- file.path("..", "..", ...)
  skip_if_not(all(file.exists(path)), "the sources are here")
  path
}

read_text <- function(path) readLines(path, encoding = "UTF-8", warn = FALSE)

test_that("the README has fewer than 700 words", {
  readme <- paste(read_text(source_file("README.md")), collapse = "\n")
  readme <- gsub("(?s)<!--.*?-->", "", readme, perl = TRUE)
  expect_lt(length(strsplit(trimws(readme), "\\s+")[[1]]), 700)
})

test_that("links inside the documents lead somewhere", {
  root <- dirname(source_file("README.md"))
  documents <- list.files(root, "\\.(md|Rmd)$")
  documents <- c(documents, file.path("vignettes", list.files(file.path(root, "vignettes"), "\\.Rmd$")),
                 file.path("bench", list.files(file.path(root, "bench"), "\\.md$")))
  expect_gt(length(documents), 10)
  for (document in documents) {
    text <- paste(read_text(file.path(root, document)), collapse = "\n")
    text <- gsub("(?s)```.*?```", "", text, perl = TRUE)
    links <- regmatches(text, gregexpr("(?<=\\]\\()[^()\\s]+(?=\\))|(?<=src=\")[^\"]+", text, perl = TRUE))[[1]]
    links <- sub("#.*$", "", links[!grepl("^([a-z]+:|#)", links)])
    # an article links to the page that another one becomes
    if (startsWith(document, "vignettes/")) links <- sub("\\.html$", ".Rmd", links)
    for (link in links) {
      expect_true(file.exists(file.path(root, dirname(document), link)), info = paste(document, link))
    }
  }
})

test_that("the cheat sheet's code parses, and its functions and arguments exist", {
  file <- system.file("help", "figures", "cheatsheet.svg", package = "dpts")
  skip_if(file == "", "installed without help")
  svg <- read_text(file)
  code <- regmatches(svg, regexpr("(?<=class=\"code\" xml:space=\"preserve\">).*(?=</text>)", svg, perl = TRUE))
  code <- gsub("&amp;", "&", gsub("&lt;", "<", code, fixed = TRUE), fixed = TRUE)
  # two or more calls on a line stand apart by two spaces; a call may go on in the next line
  code <- parse(text = gsub("(?<=\\))  +(?=[a-z])", "\n", code, perl = TRUE))
  expect_gt(length(code), 30)
  calls <- function(x) {
    if (!is.call(x)) return(list())
    c(if (is.name(x[[1]])) list(x), unlist(lapply(as.list(x), calls), recursive = FALSE))
  }
  for (call in unlist(lapply(code, calls), recursive = FALSE)) {
    name <- as.character(call[[1]])
    if (!name %in% getNamespaceExports("dpts")) {
      expect_true(name %in% c("<-", "c", "$", "as.difftime", "summary"), info = name)
      next
    }
    # A generic has the arguments of its methods.
    own <- mget(c(name, paste0(name, ".default")), asNamespace("dpts"), ifnotfound = list(NULL))
    known <- unlist(lapply(own, function(f) names(formals(f))))
    if (name == "autoplot") known <- c(known, "log")
    expect_true(all(setdiff(names(call)[-1], "") %in% known), info = deparse1(call))
  }
})

test_that("every help page and every article is in the index of the site", {
  skip_if_not_installed("pkgdown")
  root <- dirname(source_file("_pkgdown.yml"))
  check <- getNamespace("pkgdown")$check_pkgdown # a tool of the site, no dependency of the package
  expect_error(suppressMessages(suppressWarnings(check(root))), NA)
})

test_that("no section of the index is empty", {
  index <- read_text(source_file("_pkgdown.yml"))
  index <- index[seq(which(index == "reference:"), which(index == "articles:"))]
  entries <- sub("^      - ", "", grep("^      - ", index, value = TRUE))
  expect_gt(length(entries), 30)
  topics <- unlist(lapply(list.files(source_file("man"), "\\.Rd$", full.names = TRUE), function(file) {
    sub("^\\\\alias\\{(.*)\\}$", "\\1", grep("^\\\\alias\\{", read_text(file), value = TRUE))
  }))
  for (entry in entries) {
    start <- sub("^starts_with\\(\"(.*)\"\\)$", "\\1", entry)
    found <- if (start == entry) entry %in% topics else startsWith(topics, start)
    expect_true(any(found), info = entry)
  }
})

test_that("the package can be cited", {
  entries <- utils::citation("dpts")
  expect_true(all(nzchar(unlist(lapply(entries, function(x) x$year)))))
  expect_false(any(grepl("????", format(entries, style = "text"), fixed = TRUE)))
})

test_that("the journal article's code parses, and what it cites is in its bibliography", {
  text <- read_text(source_file("inst", "paper", "dpts.Rmd"))
  fences <- which(startsWith(text, "```"))
  code <- unlist(lapply(split(fences, (seq_along(fences) + 1) %/% 2), function(f) text[seq_len(f[2] - f[1] - 1) + f[1]]))
  called <- intersect(all.names(parse(text = code, keep.source = FALSE)), getNamespaceExports("dpts"))
  expect_gt(length(called), 20)
  cited <- unique(unlist(regmatches(text, gregexpr("(?<=@)[a-z]+[0-9]{4}", text, perl = TRUE))))
  known <- sub("^@[a-z]+\\{([a-z0-9]+),.*", "\\1", grep("^@", read_text(source_file("inst", "paper", "dpts.bib")), value = TRUE))
  expect_setequal(cited, known)
})
