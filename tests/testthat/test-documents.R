# What surrounds the code: README, articles, the cheat sheet and the index of the site. Most of it is
# in the sources alone, and is tested where they are.

source_file <- function(...) {
  path <- file.path("..", "..", ...)
  skip_if_not(all(file.exists(path)), "the sources are here")
  path
}

read_text <- function(path) readLines(path, encoding = "UTF-8", warn = FALSE)

test_that("the README has at most 600 words", {
  readme <- paste(read_text(source_file("README.md")), collapse = "\n")
  readme <- gsub("(?s)<!--.*?-->", "", readme, perl = TRUE)
  expect_lt(length(strsplit(trimws(readme), "\\s+")[[1]]), 601)
})

test_that("the README's experiment runs and prints a table of the shape that is shown, without a message", {
  readme <- read_text(source_file("README.md"))
  begin <- which(readme == "library(dpts)")
  code <- parse(text = readme[begin:(which(readme == "```" & seq_along(readme) > begin)[1] - 1)])
  shown <- readme[(which(readme == "<!-- first: begin -->") + 2):(which(readme == "<!-- first: end -->") - 2)]
  run <- new.env(parent = globalenv())
  withr::local_seed(1)
  expect_silent(for (line in head(code, -2)) eval(line, run))
  answers <- lapply(tail(code, 2), eval, run)
  # live noise has no seed; of 5,000 simulated experiments 5 had no verdict by then, and none a wrong one
  expect_true(as.character(answers[[1]]$arm) %in% c("new", NA))
  heads <- function(lines) strsplit(trimws(grep("^ +arm ", lines, value = TRUE)), " +")
  expect_identical(heads(utils::capture.output(for (x in answers) print(x))), heads(shown))
})

test_that("lines of help pages' usage and examples are whole in the manual", {
  # The limits of R CMD check of R 4.6. What a condition around examples is made of is roxygen's.
  for (file in list.files(source_file("man"), "\\.Rd$", full.names = TRUE)) {
    page <- tools::parse_Rd(file)
    tags <- vapply(page, attr, "", "Rd_tag")
    lines <- function(tag) strsplit(paste(unlist(page[tags == tag]), collapse = ""), "\n")[[1]]
    long <- c(Filter(function(line) nchar(line) > 90, lines("\\usage")),
              Filter(function(line) nchar(line) > 100 && !grepl("examplesIf", line), lines("\\examples")))
    expect_equal(long, character(), info = basename(file))
  }
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
    known <- unlist(lapply(Filter(is.function, own), function(f) names(formals(f))))
    if (name == "autoplot") known <- c(known, "log")
    expect_true(all(setdiff(names(call)[-1], "") %in% known), info = deparse1(call))
  }
})

# The entries of a part of _pkgdown.yml, and which of the names each of them means
index_entries <- function(part) {
  index <- read_text(source_file("_pkgdown.yml"))
  from <- which(index == part)
  sub("^      - ", "", grep("^      - ", index[seq(from, c(which(index == "articles:" & seq_along(index) > from), length(index))[1])], value = TRUE))
}
means <- function(entry, names) {
  start <- sub("^starts_with\\(\"(.*)\"\\)$", "\\1", entry)
  if (start == entry) names == entry else startsWith(names, start)
}

test_that("no two help pages have one alias, and each argument in a usage is documented", {
  aliases <- lapply(list.files(source_file("man"), "\\.Rd$", full.names = TRUE), function(file) {
    unique(grep("^\\\\alias\\{", read_text(file), value = TRUE))
  })
  expect_equal(unlist(aliases)[duplicated(unlist(aliases))], character())
  expect_gt(length(unlist(aliases)), 150)
  wrong <- tools::checkDocFiles(dir = dirname(source_file("DESCRIPTION")))
  expect_equal(as.character(names(wrong)), character())
})

test_that("every help page and every article is in the index of the site, and no entry of it is empty", {
  pages <- lapply(list.files(source_file("man"), "\\.Rd$", full.names = TRUE), function(file) {
    sub("^\\\\alias\\{(.*)\\}$", "\\1", grep("^\\\\alias\\{", read_text(file), value = TRUE))
  })
  articles <- sub("\\.Rmd$", "", list.files(source_file("vignettes"), "\\.Rmd$"))
  for (part in list(list("reference:", pages), list("articles:", as.list(articles)))) {
    entries <- index_entries(part[[1]])
    expect_gt(length(entries), 15)
    found <- vapply(part[[2]], function(names) any(vapply(entries, function(e) any(means(e, names)), NA)), NA)
    expect_equal(vapply(part[[2]][!found], `[`, "", 1), character())
    used <- vapply(entries, function(e) any(means(e, unlist(part[[2]]))), NA)
    expect_equal(unname(entries[!used]), character())
  }
})

# What a help page says: its first sentence, its sections by name, and its lines
read_page <- function(file) {
  lines <- read_text(file)
  text <- function(x) trimws(gsub("\\\\(code|link|emph)(\\[[^]]*\\])?|[{}]", "", gsub("\\s+", " ", paste(x, collapse = " "))))
  start <- which(lines == "\\description{")
  said <- text(lines[seq(start + 1, start + which(lines[-seq_len(start)] == "}")[1] - 1)])
  list(first = sub("(?<=\\.) .*", "", said, perl = TRUE), title = text(sub("^.title", "", grep("^.title", lines, value = TRUE))),
       sections = gsub("^.section.|..$", "", grep("^.section[{]", lines, value = TRUE)), lines = lines)
}

test_that("no line of a help page's text begins with a plus, which would be an item of a list", {
  for (file in list.files(source_file("R"), "\\.R$", full.names = TRUE)) {
    expect_identical(grep("^#' *[+] ", readLines(file), value = TRUE), character(), info = basename(file))
  }
})

test_that("every help page begins with a sentence for newcomers, has an example, and its sections in one order", {
  last <- c("Errors", "Privacy", "What is published", "Assignments", "For operators")
  hard <- "posterior|prior\\b|divergence|hockey|transcript|convex|supremum|pseudo|martingale|zCDP|GDP|<=|="
  wrong <- lapply(list.files(source_file("man"), "\\.Rd$", full.names = TRUE), function(file) {
    page <- read_page(file)
    words <- length(strsplit(page$first, " ")[[1]])
    paste(basename(file), c(
      if (words < 4 || words > 34 || page$first == page$title || grepl(hard, page$first)) page$first,
      if ("\\usage{" %in% page$lines && !"\\examples{" %in% page$lines) "no example",
      if (is.unsorted(match(page$sections, last, nomatch = 0L))) page$sections
    ), recycle0 = TRUE)
  })
  expect_equal(as.character(unlist(wrong)), character())
})

test_that("an article takes twelve minutes at most: 2,600 words, its code counted too", {
  for (file in list.files(source_file("vignettes"), "\\.Rmd$", full.names = TRUE)) {
    text <- read_text(file)
    text <- text[-seq_len(which(text == "---")[2])]
    words <- strsplit(paste(text, collapse = " "), "\\s+")[[1]]
    expect_lt(sum(grepl("[[:alnum:]]", words)), 2600, label = basename(file))
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

test_that("each listing of the journal article that readers see runs", {
  skip_on_cran()
  skip_if_not_installed("RSQLite")
  text <- read_text(source_file("inst", "paper", "dpts.Rmd"))
  starts <- grep("^```\\{r [^}]*echo = TRUE", text)
  expect_gt(length(starts), 10)
  expect_false(any(grepl("eval = FALSE", text[starts], fixed = TRUE)))
  ends <- which(text == "```")
  reader <- new.env(parent = globalenv())
  for (start in starts) {
    code <- text[(start + 1):(min(ends[ends > start]) - 1)]
    expect_true(all(nchar(code) <= 85), label = text[start]) # as wide as a page
    for (one in parse(text = code, keep.source = FALSE)) {
      shown <- withVisible(suppressMessages(eval(one, reader)))
      if (shown$visible) expect_output(print(shown$value))
    }
  }
  # The text says so of the last two
  expect_equal(reader$found$holds, FALSE)
  expect_false(is.na(verdict(reader$course)$arm))
})

test_that("what articles have stored, by this version or an earlier one, prints without a warning", {
  files <- list.files(source_file("vignettes", "stored"), "\\.rds$", full.names = TRUE)
  expect_gt(length(files), 20)
  for (file in files) for (value in readRDS(file)$values) {
    expect_no_warning(expect_error(utils::capture.output(print(value)), NA, info = basename(file)))
    if (inherits(value, "dpts_reproduction")) expect_true(nrow(claims(value)) >= 0, info = basename(file))
  }
})

test_that("the field's words lead to the page that is about them", {
  # as ??"e-value" searches: titles, aliases and concepts
  about <- list(
    evidence = c("e-value", "e-process", "confidence sequence", "anytime-valid", "always-valid", "sequential test"),
    verdict = c("best-arm identification", "stopping rule"), effects = c("non-inferiority", "equivalence"),
    dpts_identify = c("best-arm identification", "fixed confidence", "sample complexity"),
    dpts_plan = c("sample size", "power", "group sequential", "response-adaptive"),
    policy_randomised = "A/B/n test", policy_detect = c("change point", "non-stationary"), arms_switch = "non-stationary",
    dpts_simulate = "pseudo-regret", policy_mt_ucb = c("tree mechanism", "continual observation"),
    counter_tree = c("matrix mechanism", "continual observation"), privacy_compose = "user-level",
    policy_local = "local model", dpts_agent = "central model", dpts_privacy = "moments accountant",
    dpts_ope = "off-policy evaluation", policy_linucb = "contextual bandit"
  )
  for (topic in names(about)) {
    page <- grep(sprintf("^\\\\(title|alias|concept)\\{"), read_text(source_file("man", paste0(topic, ".Rd"))), value = TRUE)
    for (word in about[[topic]]) expect_true(any(grepl(word, page, fixed = TRUE)), label = paste(word, "in", topic))
  }
})
