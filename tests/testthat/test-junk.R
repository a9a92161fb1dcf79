# Any junk in any argument of an exported function: an error with a class of its own, or a value, and soon.

test_that("calls with junk in one argument end in a classed error or a value", {
  withr::local_dir(withr::local_tempdir())
  calls <- junk_calls()
  expect_gt(length(unique(calls$f)), 100)
  withr::local_seed(25)
  if (!identical(Sys.getenv("DPTS_EXTENDED_TESTS"), "true")) calls <- calls[sample(nrow(calls), 90), ]
  usual <- usual_arguments()
  junk <- junk_values()
  faults <- lapply(seq_len(nrow(calls)), function(i) junk_fault(calls[i, ], usual, junk))
  expect_identical(unlist(faults), NULL)
})

test_that("the sweep sees what it is to see", {
  bad <- function(x) stop("bare")
  namespace <- new.env()
  namespace$bad <- bad
  row <- list(f = "bad", argument = "x", junk = "na")
  expect_match(junk_fault(row, list(), junk_values(), namespace), "bad(x = <na>): bare [simpleError]", fixed = TRUE)
  namespace$bad <- function(x) check_count(x)
  expect_null(junk_fault(row, list(), junk_values(), namespace))
})
