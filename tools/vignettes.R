# Build every vignette into doc/ and say how long each took: all together must stay under
# two minutes on two cores.
files <- list.files("vignettes", pattern = "\\.Rmd$", full.names = TRUE)
dir.create("doc", showWarnings = FALSE)
took <- vapply(cli::cli_progress_along(files, "Articles"), function(i) {
  time <- system.time(rmarkdown::render(files[i], output_dir = "doc", quiet = TRUE,
                                        intermediates_dir = tempfile(), envir = new.env()))[["elapsed"]]
  cat(sprintf("%6.1f s  %s\n", time, basename(files[i])))
  time
}, 0)
cat(sprintf("%6.1f s  all. Wrote doc/\n", sum(took)))
