# Articles that show code of the sources show what is there.

sources <- function(...) {
  path <- test_path("..", "..", ...)
  skip_if_not(file.exists(path), "the package's sources are not here")
  path
}

test_that("the kernels in \"Write your own policy\" are those in src", {
  text <- readLines(sources("vignettes", "write-a-policy.Rmd"))
  code <- vapply(list.files(sources("src"), "\\.c$", full.names = TRUE),
                 function(file) paste(readLines(file), collapse = "\n"), "")
  from <- which(text == "```c")
  fences <- which(text == "```")
  expect_gt(length(from), 4)
  for (start in from) {
    block <- paste(text[(start + 1):(min(fences[fences > start]) - 1)], collapse = "\n")
    found <- any(vapply(code, grepl, NA, pattern = block, fixed = TRUE))
    expect_true(found, label = block)
  }
  shown <- sub("^   ", "", text[grep("^   policy_ucb1 <- ", text) + 0:3])
  expect_match(paste(readLines(sources("R", "policy-baseline.R")), collapse = "\n"), paste(shown, collapse = "\n"),
               fixed = TRUE)
})

test_that("no article gives a function of R's own packages another meaning", {
  # R CMD build knits all articles in one session, where the next one would meet it.
  own <- unlist(lapply(c("base", "stats", "utils"), getNamespaceExports))
  for (file in list.files(sources("vignettes"), "\\.(Rmd|R)$", full.names = TRUE)) {
    made <- regmatches(text <- readLines(file), regexpr("^ *[A-Za-z0-9._]+(?= <- function)", text, perl = TRUE))
    expect_identical(intersect(trimws(made), own), character(), label = basename(file))
  }
})

test_that("what articles store was made by the code that they show", {
  skip_if_not_installed("knitr")
  setup <- new.env()
  for (call in parse(sources("vignettes", "setup.R"))) if (identical(call[[2]], quote(code_until))) eval(call, setup)
  files <- list.files(sources("vignettes", "stored"), full.names = TRUE)
  article <- function(file) sub("\\..*", ".Rmd", basename(file))
  for (file in files) {
    lines <- readLines(sources("vignettes", article(file)))
    label <- sub(".*\\.(.*)\\.rds", "\\1", basename(file))
    expect_identical(readRDS(file)$code, setup$code_until(lines, label), label = paste("make articles:", file))
  }
  # Each such chunk has its file.
  all <- unlist(lapply(list.files(sources("vignettes"), "\\.Rmd$", full.names = TRUE),
                       function(file) grep("^```\\{r.*stored = ", readLines(file))))
  expect_length(files, length(all))
})

test_that("what articles store comes out again", {
  skip_unless_extended()
  skip_if_not_installed("rmarkdown")
  withr::local_envvar(ARTICLES = "compare")
  stored <- list.files(sources("vignettes", "stored"))
  for (article in unique(sub("\\..*", ".Rmd", stored))) {
    expect_error(rmarkdown::render(sources("vignettes", article), output_dir = withr::local_tempdir(), quiet = TRUE,
                                   intermediates_dir = withr::local_tempdir(), envir = new.env()), NA)
  }
})
