# Install dpts from this folder into the first library that can be written to. Objects
# are built in a copy, so that the sources stay clean. With `--vignettes` the articles are built
# (about two minutes) and installed too, so that browseVignettes("dpts") finds them. What else is given
# goes to R CMD INSTALL.

given <- commandArgs(trailingOnly = TRUE)
vignettes <- "--vignettes" %in% given
if (vignettes && !(requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available())) {
  message("Without rmarkdown and pandoc the articles are not built.")
  vignettes <- FALSE
}
library <- .libPaths()[1]
if (file.access(library, 2) != 0) {
  library <- Sys.getenv("R_LIBS_USER")
  dir.create(library, recursive = TRUE, showWarnings = FALSE)
}
folder <- tempfile("dpts-")
copy <- file.path(folder, "dpts")
dir.create(copy, recursive = TRUE)
parts <- intersect(c("DESCRIPTION", "NAMESPACE", "LICENSE", "NEWS.md", "R", "src", "man",
                     "inst", "data", if (vignettes) "vignettes"), list.files())
invisible(file.copy(parts, copy, recursive = TRUE))
unlink(Sys.glob(file.path(copy, "src", c("*.o", "*.so"))))

# Without symbols for a debugger, which take a quarter of the compiler's time, unless the user's own settings ask for them.
settings <- tempfile("Makevars-")
writeLines(c("CFLAGS += -g0", unlist(lapply(tools::makevars_user(), readLines))), settings)
Sys.setenv(R_MAKEVARS_USER = settings)

# As many compilers at once as there are cores, unless the caller says how many.
if (!grepl("-j", Sys.getenv("MAKEFLAGS"))) Sys.setenv(MAKEFLAGS = paste0("-j", max(1, parallel::detectCores(), na.rm = TRUE)))

run <- function(...) {
  log <- tempfile("install-", fileext = ".log")
  status <- system2(file.path(R.home("bin"), "R"), c("CMD", ...), stdout = log, stderr = log)
  if (status != 0) {
    writeLines(readLines(log))
    stop("dpts could not be installed", call. = FALSE)
  }
}
if (vignettes) {
  here <- setwd(folder) # where R CMD build leaves its archive
  run("build", "dpts")
  copy <- file.path(folder, Sys.glob("dpts_*.tar.gz"))
  setwd(here)
}
run("INSTALL", setdiff(given, "--vignettes"), paste0("--library=", shQuote(library)), shQuote(copy))
message("Installed dpts into ", library)
