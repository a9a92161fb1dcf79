library(testthat)
library(dpts)

# Where a repository checks the package the files that take longest are left out: what they test does not
# depend on the machine. `make test` runs all of them.
all <- identical(Sys.getenv("NOT_CRAN"), "true")
long <- paste0("^(agent.*|audit.*|calibrate|evidence.*|experiment|explore|log-source|plot|print|recipes|recommend|replay|",
               "policy-(compiled|dp-ts|ts|wrapped)|privacy-(audit|compose|coupling|released)|result|sequence.*|",
               "settings|skip.*|tournament|tune)$")
test_check("dpts", filter = if (!all) long, invert = !all)
