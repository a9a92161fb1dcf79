# Install dpts from this folder into the first library that can be written to. Objects
# are built in a copy, so that the sources stay clean.

library <- .libPaths()[1]
if (file.access(library, 2) != 0) {
  library <- Sys.getenv("R_LIBS_USER")
  dir.create(library, recursive = TRUE, showWarnings = FALSE)
}
copy <- file.path(tempfile("dpts-"), "dpts")
dir.create(copy, recursive = TRUE)
parts <- intersect(c("DESCRIPTION", "NAMESPACE", "LICENSE", "NEWS.md", "R", "src", "man",
                     "inst", "data"), list.files())
invisible(file.copy(parts, copy, recursive = TRUE))
unlink(Sys.glob(file.path(copy, "src", c("*.o", "*.so"))))
log <- tempfile("install-", fileext = ".log")
status <- system2(file.path(R.home("bin"), "R"),
                  c("CMD", "INSTALL", paste0("--library=", shQuote(library)), shQuote(copy)),
                  stdout = log, stderr = log)
if (status != 0) {
  writeLines(readLines(log))
  stop("dpts could not be installed", call. = FALSE)
}
message("Installed dpts into ", library)
