# Install the packages that dpts imports, with `--tests` those that its tests use too, and those named on
# the command line. Debian's own packages come built and are far quicker than compiling, so they are tried
# first where there is apt and the right to use it.

asked <- commandArgs(trailingOnly = TRUE)
imports <- trimws(sub("\\(.*?\\)", "", strsplit(read.dcf("DESCRIPTION", "Imports")[1], ",")[[1]]))
tests <- c("testthat", "dplyr", "future.apply", "knitr", "rmarkdown", "withr", "DBI", "RSQLite", "shiny")
wanted <- c(if (!length(setdiff(asked, "--tests"))) imports, if ("--tests" %in% asked) tests, setdiff(asked, "--tests"))
missing <- function() {
  wanted[!nzchar(vapply(wanted, function(name) system.file(package = name), ""))] # loading them takes seconds
}

apt <- nzchar(Sys.which("apt-get")) && identical(Sys.info()[["effective_user"]], "root")
if (length(missing()) && apt) {
  message("Installing by apt: ", paste(missing(), collapse = ", "))
  debian <- paste0("r-cran-", tolower(missing()))
  Sys.setenv(DEBIAN_FRONTEND = "noninteractive")
  system2("apt-get", c("update", "-qq"), stdout = FALSE)
  system2("apt-get", c("install", "-y", "-qq", "--no-install-recommends", debian),
          stdout = FALSE)
}
if (length(missing())) {
  message("Installing from CRAN: ", paste(missing(), collapse = ", "))
  # Of what these compile from source, only fs (testthat's way to files) needs a system tool.
  if (apt) system2("apt-get", c("install", "-y", "-qq", "libuv1-dev"), stdout = FALSE)
  if (getOption("repos")[["CRAN"]] == "@CRAN@") utils::chooseCRANmirror(ind = 1)
  if (file.access(.libPaths()[1], 2) != 0) {
    dir.create(Sys.getenv("R_LIBS_USER"), recursive = TRUE, showWarnings = FALSE)
    .libPaths(Sys.getenv("R_LIBS_USER"))
  }
  utils::install.packages(missing(), Ncpus = max(1, parallel::detectCores()))
}
if (length(missing())) {
  stop("could not install ", paste(missing(), collapse = ", "), call. = FALSE)
}

# With pngquant the pictures of articles need a third of the bytes (vignettes/setup.R).
if (apt && "knitr" %in% asked && !nzchar(Sys.which("pngquant"))) {
  system2("apt-get", c("install", "-y", "-qq", "--no-install-recommends", "pngquant"), stdout = FALSE, stderr = FALSE)
}

# Where tests run with the rights of root, as in CI, agents are tested on PostgreSQL too. RPostgres is not in every
# Debian; without it, or without the server, those tests are left out.
server <- length(Sys.glob("/usr/lib/postgresql/*/bin/initdb")) > 0
if (apt && "--tests" %in% asked && !(server && nzchar(system.file(package = "RPostgres")))) {
  message("Installing PostgreSQL for the tests")
  Sys.setenv(DEBIAN_FRONTEND = "noninteractive")
  install <- function(packages) {
    system2("apt-get", c("install", "-y", "-qq", "--no-install-recommends", packages), stdout = FALSE, stderr = FALSE)
  }
  install("postgresql")
  if (!requireNamespace("RPostgres", quietly = TRUE) && install("r-cran-rpostgres") != 0) {
    install(c("libpq-dev", paste0("r-cran-", c("bit64", "hms", "lubridate", "cpp11", "plogr"))))
    Sys.setenv(MAKEFLAGS = paste0("-j", max(1, parallel::detectCores())))
    try(utils::install.packages("RPostgres", repos = "https://cloud.r-project.org", quiet = TRUE))
  }
}
