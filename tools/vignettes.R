# Build every vignette (FILE=audit: that one) into doc/ and say how much processor time each took: all together must stay
# under 100 s. With ARTICLES=store what takes long is computed and stored anew (vignettes/setup.R).
files <- list.files("vignettes", pattern = "\\.Rmd$", full.names = TRUE)
if (nzchar(one <- Sys.getenv("FILE"))) files <- files[grepl(one, basename(files), fixed = TRUE)]
dir.create("doc", showWarnings = FALSE)
took <- vapply(cli::cli_progress_along(files, "Articles"), function(i) {
  time <- sum(system.time(rmarkdown::render(files[i], output_dir = "doc", quiet = TRUE,
                                            intermediates_dir = tempfile(), envir = new.env()))[-3])
  cat(sprintf("%6.1f s  %s\n", time, basename(files[i])))
  time
}, 0)
cat(sprintf("%6.1f s  all. Wrote doc/\n", sum(took)))
