# Games for tools/known.c, and whether it plays them as the installed package does, to the bit:
#   Rscript tools/known.R games > games; ./known < games > answers; Rscript tools/known.R check answers
library(dpts)
helpers <- testthat::test_env("dpts")
invisible(testthat::source_test_helpers("tests/testthat", helpers))

`%||%` <- function(x, y) if (is.null(x)) y else x
bits <- function(x) vapply(x, function(x) paste(writeBin(x + 0, raw(), endian = "big"), collapse = ""), "")

# One of each policy that has no other one, no context and no function of R inside: the first two random ones
games <- function() {
  set.seed(1)
  cases <- Filter(function(case) case$dim == 0, helpers$session_policies())
  policies <- unlist(lapply(cases, function(case) lapply(1:2, function(i) case$make())), recursive = FALSE)
  out <- lapply(policies, function(policy) {
    rounds <- 400
    kernel <- dpts:::kernel(policy, rounds)
    if (!setequal(setdiff(names(kernel), c("every", "flip")), c("name", "params")) || any(lengths(kernel$params) > 1)) return(NULL)
    list(policy = policy, kernel = kernel, rewards = as.numeric(stats::runif(rounds) < 0.5), seed = sample.int(1e6, 1))
  })
  Filter(Negate(is.null), out)
}

line <- function(game) {
  params <- Filter(Negate(is.null), game$kernel$params)
  values <- vapply(params, function(x) if (is.character(x)) x else bits(x), "")
  paste(c(game$kernel$name, bits(c(4, length(game$rewards), game$kernel$every %||% 0, game$kernel$flip %||% 0, game$seed,
                                   length(params))),
          rbind(names(params), values), bits(c(length(game$rewards), game$rewards))), collapse = " ")
}

answer <- function(game) {
  found <- helpers$run_script(game$policy, 4, rep(NA, length(game$rewards)), game$rewards, seed = game$seed)
  paste(c(paste0(found$arm, ",", collapse = ""), bits(found$noise[seq_len(found$total)])), collapse = " ")
}

# Are the arms the same, and all noise, but for the last bits of a power, which libraries of C round differently?
of_bits <- function(x) {
  bytes <- as.raw(strtoi(substring(x, seq(1, 15, 2), seq(2, 16, 2)), 16))
  readBin(bytes, "double", endian = "big")
}
near <- function(x, y) {
  x <- strsplit(x, " ")[[1]]
  y <- strsplit(y, " ")[[1]]
  if (length(x) != length(y) || x[1] != y[1]) return(NA)
  other <- which(x != y)
  if (!all(vapply(other, function(i) abs(of_bits(x[i]) / of_bits(y[i]) - 1) < 4e-16, NA))) return(NA)
  length(other)
}

how <- commandArgs(TRUE)
all <- games()
if (how[1] == "games") {
  writeLines(vapply(all, line, ""))
} else {
  found <- trimws(readLines(how[2]))
  true <- vapply(all, answer, "")
  moved <- if (length(found) == length(true)) mapply(near, found, true) else rep(NA, length(true))
  bad <- vapply(all[is.na(moved)], function(game) game$kernel$name, "")
  cat(sprintf("%d games as in R (%d of their numbers but for the last bit), %d not%s\n", sum(!is.na(moved)),
              sum(moved, na.rm = TRUE), length(bad), if (length(bad)) paste0(": ", paste(unique(bad), collapse = ", ")) else ""))
  quit(status = length(bad) > 0)
}
