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

help_text <- function() {
  files <- list.files(file.path("..", "..", "man"), "\\.Rd$", full.names = TRUE)
  skip_if(length(files) == 0, "the sources are not here")
  stats::setNames(lapply(files, page_text), basename(files))
}

# Each pattern with the most pages' sentences that may have it
test_that("help pages have the field's words", {
  pages <- help_text()
  sentences <- unlist(lapply(pages, function(text) strsplit(text, "(?<=[.:;!?]) +", perl = TRUE)))
  expect_gt(length(sentences), 3000)
  never <- c("(^|[.:;] )Who (?!is|are)", "whoever", "\\btoss", "\\banew\\b", "\\bin the mean\\b", "\\bper cent\\b",
             "\\bfor ever\\b", "\\bso many (people|runs|rounds|events)\\b", "\\bpromis", "\\bo(n|ff) offer\\b",
             "\\b(is|are|be|being) proved (the|to be) (the )?(best|better)", "\\bplays? (the|every|each) (arm|polic)")
  for (pattern in never) {
    expect_identical(unname(grep(pattern, sentences, perl = TRUE, value = TRUE)), character(), label = pattern)
  }
  expect_true(all(vapply(never, grepl, NA, perl = TRUE, x = paste(
    "Who asks: whoever is tossed anew, in the mean 5 per cent for ever; so many people promise what is on offer.",
    "It is proved to be the best and plays the arm. Who asks."))))
})

test_that("no sentence of a help page is longer than 60 words, and none is longer than 45 between its stops", {
  pages <- help_text()
  count <- function(x) lengths(strsplit(x, " +"))
  parts <- unlist(lapply(pages, function(text) strsplit(text, "(?<=[.:;!?]) +", perl = TRUE)))
  expect_identical(unname(parts[count(parts) > 45]), character())
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
