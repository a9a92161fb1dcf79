# The floors of the sources: no two files call each other in a circle, and a file's name begins with its layer.

skip_on_cran() # takes seconds

sources <- function(folder, pattern) {
  files <- list.files(test_path("..", "..", folder), pattern, full.names = TRUE)
  skip_if_not(length(files) > 0, "the sources are here")
  stats::setNames(files, basename(files))
}

test_that("rings of files are found", {
  expect_length(rings(list(a = "b", b = c("c", "d"), c = "d", d = character())), 0)
  expect_setequal(names(rings(list(a = "b", b = "c", c = "b", d = character()))), c("b", "c"))
})

test_that("arrows that go up are found", {
  floors <- c(math = 1L, noise = 2L, play = 3L, r = 4L, test = 4L)
  uses <- list(math_kl.c = c("math_util.h", "noise.h"), noise.c = "math_kl.c", r_init.c = "test_kl.c")
  expect_identical(upward(uses, floors), "math_kl.c -> noise.h")
})

test_that("no two files of R/ call each other in a circle", {
  skip_if_not_installed("codetools")
  code <- lapply(sources("R", "\\.R$"), parse)
  made <- lapply(code, function(file) {
    Filter(function(x) is.call(x) && identical(x[[1]], quote(`<-`)) && is.name(x[[2]]), as.list(file))
  })
  names <- lapply(made, vapply, function(x) as.character(x[[2]]), "")
  home <- stats::setNames(rep(names(names), lengths(names)), unlist(names))
  expect_false(anyDuplicated(names(home)) > 0)
  # Any name that is a function's elsewhere, local variables too; then what remains in rings without these.
  uses <- function(names_in, among) {
    sapply(among, simplify = FALSE, function(file) {
      found <- lapply(made[[file]], function(x) {
        if (any(home[all.names(x[[3]])] %in% setdiff(among, file))) names_in(x[[3]])
      })
      setdiff(unname(home[intersect(unlist(found), names(home))]), file)
    })
  }
  suspect <- names(rings(uses(all.names, names(made))))
  globals <- function(code) codetools::findGlobals(eval(call("function", NULL, code), baseenv()))
  expect_identical(names(rings(uses(globals, suspect))), character())
})

# What stands where a function is called, but for calls of other packages and of what a list holds
heads <- function(code) {
  if (is.pairlist(code) || is.list(code)) return(unlist(lapply(code, heads)))
  if (!is.call(code)) return()
  name <- if (is.name(code[[1]])) as.character(code[[1]])
  if (identical(name, "::")) return()
  c(name, unlist(lapply(if (identical(name, "$")) code[1:2] else code, heads)))
}

test_that("every function that is called exists", {
  skip_if_not_installed("codetools")
  house <- asNamespace("dpts")
  made <- Filter(is.function, mget(ls(house, all.names = TRUE), house))
  exist <- function(names) vapply(names, exists, NA, house, mode = "function")
  called <- lapply(made, function(f) unique(heads(as.list(f))))
  expect_gt(sum(exist(unique(unlist(called)))), 1000)
  # What is no function of the house may be made where it is called: codetools knows, but takes ten times as long.
  unknown <- mapply(function(f, names) any(!exist(setdiff(names, formalArgs(f)))), made, called)
  called <- unlist(lapply(made[unknown], function(f) codetools::findGlobals(f, merge = FALSE)$functions))
  expect_identical(Filter(Negate(exist), unique(called)), character())
})

# What they call is in test-recipes.R, which builds them.
test_that("a file of src/ includes none of a higher floor, and no two include each other in a circle", {
  files <- sources("src", "\\.[ch]$")
  floors <- floors()
  expect_identical(names(files)[is.na(floor_of(files, floors))], character())
  uses <- lapply(files, function(file) {
    lines <- grep("^#include \"", readLines(file), value = TRUE)
    intersect(sub("^#include \"(.*)\".*", "\\1", lines), names(files))
  })
  expect_identical(upward(uses, floors), character())
  expect_identical(names(rings(uses)), character())
})

test_that("nothing below the shims sees R", {
  files <- sources("src", "\\.[ch]$")
  kernels <- files[!grepl("^(r|test)_", names(files))]
  seen <- Filter(function(file) any(grepl("^#include <R(_ext/|internals|\\.h|math)", readLines(file))), kernels)
  expect_identical(names(seen), "math_linalg.c") # prototypes of BLAS and LAPACK, nothing of R's own
})

test_that("no line of the sources is over 110 columns", {
  long <- lapply(c(sources("R", "\\.R$"), sources("src", "\\.[ch]$")), function(file) {
    which(nchar(readLines(file, encoding = "UTF-8"), "chars") > 110)
  })
  expect_identical(names(Filter(length, long)), character())
})

test_that("errors are raised by the helpers of check.R alone", {
  code <- lapply(sources("R", "\\.R$"), readLines)
  bare <- vapply(code, function(lines) any(grepl("rlang::abort(", lines, fixed = TRUE)), NA)
  expect_identical(names(code)[bare], "check.R")
})

test_that("arguments that several verbs share are in one order everywhere", {
  order <- c("runs", "seed", "record", "threads", "progress", "checkpoint", "delay", "batch")
  verbs <- Filter(is.function, mget(getNamespaceExports("dpts"), asNamespace("dpts"), inherits = TRUE))
  given <- lapply(lapply(lapply(verbs, formals), names), intersect, order)
  expect_gt(sum(lengths(given) > 1), 5)
  expect_identical(names(Filter(function(own) is.unsorted(match(own, order)), given)), character())
})
