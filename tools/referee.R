# Play the games of tests/referee against the installed package until time is up. MINUTES: how long; SEED: of the first
# game; MODEL: some of the models, with commas; GAMES: so many of each at most. A line for each game that failed, with what
# repeats it; exit status 1 if there was one.
suppressPackageStartupMessages(library(dpts))
setting <- function(name, default) {
  value <- Sys.getenv(name)
  if (nzchar(value)) value else default
}
folder <- "tests/referee"
source(file.path(folder, "referee.R"))
for (file in list.files(folder, "^model-.*\\.R$", full.names = TRUE)) source(file)
# Agents live in PostgreSQL, too, where a server can be started.
if (requireNamespace("withr", quietly = TRUE)) {
  Sys.setenv(NOT_CRAN = "true")
  source("tests/testthat/helper-agent.R")
  if (postgres_available()) life_postgres <- postgres_connection
}
names <- strsplit(setting("MODEL", paste(names(models), collapse = ",")), ",")[[1]]
if (!all(names %in% names(models))) stop("MODEL: one of ", paste(names(models), collapse = ", "), call. = FALSE)
found <- referee_play(names, as.numeric(setting("SEED", "1")), 60 * as.numeric(setting("MINUTES", "30")),
                      as.numeric(setting("GAMES", "Inf")))
quit(status = if (found$failed > 0) 1 else 0)
