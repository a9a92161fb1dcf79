# The words of help pages: the field's, in short sentences. What is allowed is in `allowed`.

# The text of each page by paragraphs, without usage, examples, references and formulas
page_text <- function(file) {
  skip <- c("\\usage", "\\examples", "\\alias", "\\name", "\\keyword", "\\concept", "\\seealso", "\\title",
            "\\references", "\\tabular", "\\preformatted", "\\if", "COMMENT")
  words <- function(x) {
    tag <- attr(x, "Rd_tag") %||% ""
    if (tag %in% skip) return("")
    if (is.character(x)) return(paste(x, collapse = ""))
    if (tag %in% c("\\code", "\\eqn", "\\deqn")) return("X")
    if (tag %in% c("\\section", "\\subsection", "\\href")) x <- x[[2]]
    if (tag == "\\item" && length(x) == 2) x <- x[[2]]
    text <- paste(vapply(x, words, ""), collapse = "")
    if (tag %in% c("\\description", "\\details", "\\value", "\\arguments", "\\itemize", "\\enumerate", "\\item",
                   "\\section", "\\subsection")) paste0("\n\n", text, "\n\n") else text
  }
  text <- strsplit(paste(vapply(tools::parse_Rd(file), words, ""), collapse = ""), "\n[ \t]*\n")[[1]]
  text <- trimws(gsub("\\s+", " ", text))
  text[nzchar(text)]
}

help_text <- once(function() {
  files <- list.files(file.path("..", "..", "man"), "\\.Rd$", full.names = TRUE)
  skip_if(length(files) == 0, "the sources are not here")
  stats::setNames(lapply(files, page_text), basename(files))
})

# The text of an article, the README or the paper by paragraphs and items, without code, formulas, tables and titles
article_text <- function(file) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  if (lines[1] == "---") lines <- lines[-seq_len(which(lines == "---")[2])]
  fence <- grepl("^\\s*```", lines)
  lines[fence | cumsum(fence) %% 2 == 1 | grepl("^(#|\\||<)", lines)] <- ""
  text <- paste(sub("^(\\s*)([*]|[0-9]+[.])\\s+", "\n\\1", lines), collapse = "\n")
  text <- gsub("(?s)\\$\\$.*?\\$\\$|\\$[^$\n]*\\$|`[^`]*`", "X", text, perl = TRUE)
  text <- strsplit(gsub("\\]\\([^)]*\\)", "]", text), "\n\\s*\n")[[1]]
  text <- trimws(gsub("\\s+", " ", text))
  text[nzchar(text)]
}

articles_text <- once(function() {
  root <- file.path("..", "..")
  files <- c(list.files(file.path(root, "vignettes"), "\\.Rmd$", full.names = TRUE),
             file.path(root, c("README.md", "NEWS.md", "inst/paper/dpts.Rmd", "inst/paper/proofs.md")))
  skip_if_not(length(files) > 10 && all(file.exists(files)), "the sources are not here")
  stats::setNames(lapply(files, article_text), basename(files))
})

# A sentence's parts between its stops
parts_of <- function(pages) {
  parts <- lapply(pages, function(text) unlist(strsplit(text, "(?<=[.:;!?]) +", perl = TRUE)))
  stats::setNames(unlist(parts), rep(names(parts), lengths(parts)))
}

never <- c("(^|[.:;] )Who (?!is|are)", "[Ww]hoever", "\\b[Tt]oss(?!ou)", "\\banew\\b", "\\bin the mean\\b", "\\bper cent\\b",
           "\\bfor ever\\b", "\\bso many (people|runs|rounds|events)\\b", "\\bpromis", "\\bo(n|ff) offer\\b",
           "\\b(is|are|be|being) proved (the|to be) (the )?(best|better)", "\\bplays? (the|every|each) (arm|polic)")
# What help pages still have here and there
never_in_articles <- c(never, "\\bchances?\\b", "\\b[Bb]eside\\b", "\\b(play|plays|played) (?!with)")

test_that("help pages, articles, README, NEWS and the paper have the field's words", {
  sentences <- parts_of(help_text())
  expect_gt(length(sentences), 3000)
  for (pattern in never) {
    expect_identical(unname(grep(pattern, sentences, perl = TRUE, value = TRUE)), character(), label = pattern)
  }
  sentences <- parts_of(articles_text())
  expect_gt(length(sentences), 1000)
  for (pattern in never_in_articles) {
    expect_identical(grep(pattern, sentences, perl = TRUE, value = TRUE), character(), ignore_attr = TRUE, label = pattern)
  }
  expect_true(all(vapply(never_in_articles, grepl, NA, perl = TRUE, x = paste(
    "Who asks: whoever is tossed anew, in the mean 5 per cent for ever; so many people promise what is on offer.",
    "It is proved to be the best and plays the arm by chance beside it. Who asks."))))
})

test_that("no sentence of a help page, an article, README, NEWS or the paper has more than 45 words between its stops", {
  parts <- parts_of(c(help_text(), articles_text()))
  expect_identical(unname(parts[lengths(strsplit(parts, " +")) > 45]), character())
})

test_that("the description of a help page has a subject", {
  pages <- list.files(file.path("..", "..", "man"), "\\.Rd$", full.names = TRUE)
  skip_if(length(pages) == 0, "the sources are not here")
  first <- vapply(pages, function(file) {
    lines <- readLines(file, encoding = "UTF-8")
    lines[match("\\description{", lines) + 1]
  }, "")
  # a verb of the third person at the very beginning
  verb <- "^(Add|Attack|Average|Bound|Check|Compare|Compile|Confirm|Convert|Count|Draw|End|Extract|Find|Give|Let|List|Make|Number|Open|Pick|Randomise|Read|Restart|Run|Say|Show|Simulate|Start|Take|Trie|Turn|Watch|Write|Return|Compute|Estimate)s "
  expect_match("Draws the means", verb)
  expect_identical(unname(grep(verb, first, value = TRUE)), character())
})
