# Slow truths live behind DPTS_EXTENDED_TESTS=true.
extended <- function() identical(Sys.getenv("DPTS_EXTENDED_TESTS"), "true")

skip_unless_extended <- function() testthat::skip_if_not(extended(), "extended tests are off")

five_arms <- function() arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
