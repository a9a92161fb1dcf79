# The expectations of helper-expect.R can fail.

test_that("what is not as expected fails", {
  expect_failure(expect_identical(1, 1L))
  expect_failure(expect_equal(1, 1 + 1e-6))
  expect_failure(expect_equal(c(a = 1), 1))
  expect_failure(expect_lt(1, 1))
  expect_failure(expect_gt(1, 1))
  expect_failure(expect_lte(2, 1))
  expect_failure(expect_gte(1, 2))
  expect_failure(expect_true(NA))
  expect_failure(expect_false(TRUE))
  expect_failure(expect_error(1))
  expect_failure(expect_no_message(message("a")))
  expect_failure(expect_no_message(rlang::inform("a", class = "b"), class = "b"))
  expect_failure(expect_no_warning(warning("a")))
  expect_failure(expect_says_argument(rlang::error_cnd("dpts_error_input", message = "It must be a number.", arg = "size")))
  # An error with other words, or of another class, remains one.
  expect_error(expect_error(stop("this"), "that"), "this")
  expect_error(expect_error(stop("this"), class = "that"), "this")
})
