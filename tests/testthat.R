library(testthat)
library(dpts)

test_check("dpts")
