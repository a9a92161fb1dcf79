if (!requireNamespace("testthat", quietly = TRUE)) quit()
library(testthat)
library(dpts)

# Where a repository checks the package all its tests have one minute of processor time, each file the same share: a block is
# skipped if the files up to here have had more than theirs. `make test` runs all.
env <- new.env(parent = asNamespace("dpts"))
if (!identical(Sys.getenv("NOT_CRAN"), "true")) env$test_that <- local({
  now <- function() sum(proc.time()[-3])
  began <- now()
  share <- 60 / length(list.files("testthat", "^test.*\\.R$"))
  due <- 0
  file <- NULL
  function(desc, code) {
    if (!identical(file, parent.frame())) due <<- due + share
    file <<- parent.frame()
    block <- sys.call()
    block[[1]] <- quote(testthat::test_that)
    if (now() - began > due) block[[3]] <- quote({ skip("a repository's check has no time for it") })
    eval(block, parent.frame())
  }
})
test_check("dpts", env = env)
