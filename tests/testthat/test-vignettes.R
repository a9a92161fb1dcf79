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
  shown <- trimws(grep("^ *policy_ucb1 <- ", text, value = TRUE))
  expect_true(shown %in% readLines(sources("R", "policy-baseline.R")))
})

test_that("no article gives a function of R's own packages another meaning", {
  # R CMD build knits all articles in one session, where the next one would meet it.
  for (file in list.files(sources("vignettes"), "\\.(Rmd|R)$", full.names = TRUE)) {
    made <- regmatches(text <- readLines(file), regexpr("^ *[A-Za-z0-9._]+(?= <- function)", text, perl = TRUE))
    own <- c("base", "stats", "utils")
    masked <- Filter(function(name) any(vapply(own, function(from) name %in% getNamespaceExports(from), NA)), trimws(made))
    expect_identical(masked, character(), label = basename(file))
  }
})
