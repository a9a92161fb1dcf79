# Build every vignette into doc/ and say how long each took: all together must stay under
# two minutes on two cores.
files <- list.files("vignettes", pattern = "\\.Rmd$", full.names = TRUE)
dir.create("doc", showWarnings = FALSE)
took <- vapply(files, function(file) {
  system.time(rmarkdown::render(file, output_dir = "doc", quiet = TRUE,
                                intermediates_dir = tempfile(), envir = new.env()))[["elapsed"]]
}, 0)
cat(sprintf("%6.1f s  %s\n", took, basename(files)), sep = "")
cat(sprintf("%6.1f s  all. Wrote doc/\n", sum(took)))
