# Write man/ and NAMESPACE from the comments in R/. The installed package is read, so that nothing
# is compiled here. Where NAMESPACE changed, what it imports may make methods of functions: once more.

document <- function() {
  before <- readLines("NAMESPACE")
  source("tools/install.R", local = new.env())
  roxygen2::roxygenise(load_code = "installed")
  !identical(before, readLines("NAMESPACE"))
}
if (document()) invisible(document())
