if (!requireNamespace("testthat", quietly = TRUE)) quit()
library(testthat)
library(dpts)

# Where a repository checks the package, files that take seconds are left out, by skip_on_cran(). `make test` runs all.
test_check("dpts")
