# Who reads a result must find whom to cite.

test_that("a policy and an experiment name the papers that define them", {
  keys <- function(x) {
    lines <- as.character(toBibtex(x))
    sub(".*\\{(.*),$", "\\1", grep("^@", lines, value = TRUE))
  }
  expect_identical(keys(policy_dp_imed(1)), "AzizeEtAl2025")
  expect_identical(keys(policy_mt_ts(1)), "MishraThakurta2015")
  expect_identical(keys(policy_ts_gaussian()), "OuAvellaMedinaCummings2024")
  expect_identical(keys(policy_imed()), "HondaTakemura2015") # and not that of policy_dp_imed()
  expect_identical(keys(policy_local(policy_ucb1(), 1)), c("AuerCesaBianchiFischer2002", "Warner1965"))
  expect_identical(keys(policy_gaussian_imed(1)), "dpts") # of this package
  expect_identical(keys(dpts_experiment("ou-8")), "OuAvellaMedinaCummings2024")
  expect_identical(keys(dpts_experiment("mt-2")), "MishraThakurta2015")
  expect_identical(keys(dpts_experiment("hh-1")), "HuHegde2022")
})

test_that("what entries are for is there", {
  headers <- vapply(unclass(citation("dpts")), attr, "", "header")
  named <- unlist(regmatches(headers, gregexpr("[a-z0-9_]+(?=\\(\\))", headers, perl = TRUE)))
  expect_gt(length(named), 20)
  expect_identical(setdiff(named, getNamespaceExports("dpts")), character())
})
