# Plant single mistakes in R/, and see which no test notices: N=40 SEED=1 AREA=core, service or all, CAP=30.
#
# A mistake is drawn evenly among the statements of R/: a comparison, a sign or a constant that is another, a
# condition that is negated, an argument or a statement that is left out. It meets the files of tests that run its
# statement, those of its topic first, up to CAP seconds of them and one at least. What is printed as unseen is to be
# read: some mistakes change nothing that counts. First all files of tests run once with a mark before each statement,
# which takes some ten minutes on two cores; COVER=FILE keeps what they ran for the next time.

source(file.path("tools", "mutants-code.R"))
setting <- function(name, default) if (nzchar(Sys.getenv(name))) Sys.getenv(name) else default
count <- as.integer(setting("N", 40))
area <- match.arg(setting("AREA", "all"), c("core", "service", "all"))
cap <- as.numeric(setting("CAP", 30))
cover <- setting("COVER", tempfile(fileext = ".rds"))
Sys.setenv(NOT_CRAN = "true", R_ENABLE_JIT = "0", R_PROFILE_USER = normalizePath("tools/mutants-load.R"))
files <- list.files("tests/testthat", "^test-.*\\.R$")
cores <- max(1, parallel::detectCores(), na.rm = TRUE)
code <- definitions("R")

# Each file of tests in a process of its own, with this code in the place of the package's
# -> TRUE: all tests passed; the seconds that it took, and the numbers of the marks that were met
run_tests <- function(file, replaced, limit = 900) {
  out <- tempfile(c("code-", "marks-", "said-"))
  saveRDS(replaced, out[1])
  began <- Sys.time()
  status <- suppressWarnings(system2(
    "timeout", c(limit, file.path(R.home("bin"), "Rscript"), "tools/test.R"), stdout = out[3], stderr = out[3],
    env = c(paste0("DPTS_CODE=", out[1]), paste0("DPTS_MARKS=", out[2]), paste0("FILE=", file))
  ))
  marks <- unlist(lapply(Sys.glob(paste0(out[2], "*")), readRDS))
  unlink(Sys.glob(paste0(out, "*")))
  list(passed = status == 0, seconds = as.numeric(Sys.time() - began, units = "secs"), marks = unique(marks))
}

if (!file.exists(cover)) {
  marked <- with_marks(code)
  ran <- parallel::mclapply(stats::setNames(nm = files), run_tests, marked, mc.cores = cores, mc.preschedule = FALSE)
  failed <- names(Filter(function(x) !isTRUE(x$passed), ran))
  if (length(failed)) message("With marks these fail, and so judge nothing: ", toString(failed))
  saveRDS(ran[setdiff(names(ran), failed)], cover)
}
ran <- readRDS(cover)
seconds <- vapply(ran, `[[`, 0, "seconds")

# Files that run a statement, those of the same words first, then the quickest
order_files <- function(of, source) {
  words <- function(x) strsplit(gsub("^test-|\\.R$", "", x), "-")
  alike <- vapply(words(of), function(w) length(intersect(w, words(source)[[1]])) / length(w), 0)
  of <- of[order(seconds[of] * (1 - 0.9 * alike))]
  of[cumsum(seconds[of]) - seconds[of][1] <= cap]
}

all <- statements_of(code)
service <- grepl("^agent|^log|^ope\\.R|plot\\.R|picture|^read-", all$file)
pool <- switch(area, core = which(!service), service = which(service), all = seq_along(service))
set.seed(as.integer(setting("SEED", 1)))
mutants <- list()
while (length(mutants) < count) {
  at <- pool[sample.int(length(pool), 1)]
  mutant <- plant(code, all, at)
  if (!is.null(mutant)) mutants[[length(mutants) + 1]] <- c(mutant, at = at)
}
said <- parallel::mclapply(mutants, function(m) {
  own <- names(Filter(function(x) m$at %in% x$marks, ran))
  for (file in order_files(own, m$file)) {
    if (!run_tests(file, m$code, 60 + 8 * seconds[[file]])$passed) return(file)
  }
  sprintf("UNSEEN by %d of %d files", length(order_files(own, m$file)), length(own))
}, mc.cores = cores, mc.preschedule = FALSE)
where <- vapply(mutants, function(m) sprintf("%s:%s %s(): %s", m$file, m$line, m$name, m$what), "")
cat(sprintf("%s\n    %s\n", where, unlist(said)), sep = "")
cat(sprintf("\n%d of %d unseen\n", sum(grepl("^UNSEEN", said)), count))
