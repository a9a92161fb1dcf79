# With immediate feedback nothing that a policy does may change unless it is meant to.

test_that("every policy and engine does what it did", {
  skip_on_cran() # the last bit of log() and exp() may differ elsewhere
  old <- utils::read.csv(test_path("fixtures", "known-answers.csv"), colClasses = "character")
  new <- known_simulations()
  new$run <- as.character(new$run)
  expect_identical(as.list(new), as.list(old))
})

test_that("replays without delay keep the events that they kept", {
  skip_on_cran()
  old <- utils::read.csv(test_path("fixtures", "known-replays.csv"))
  expect_equal(known_replays(), old, tolerance = 1e-12)
})

test_that("every contextual policy does what it did", {
  skip_on_cran()
  old <- utils::read.csv(test_path("fixtures", "known-contextual.csv"), colClasses = "character")
  expect_identical(as.list(known_contextual()), as.list(old))
})
