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

# Names and calls in a call; what is left out has the name "".
parts <- function(code) {
  all <- as.list(code)[-1]
  all[vapply(all, function(x) is.call(x) || is.name(x) && nzchar(x), NA)]
}

# What is assigned to
target <- function(code) if (is.call(code)) target(code[[2]]) else as.character(code)

# Names that code binds, but for those of functions in it
ASSIGNS <- c("<-", "=", "for")
binds <- function(code) {
  if (!any(ASSIGNS %in% all.names(code)) || identical(code[[1]], quote(`function`))) return()
  assigns <- is.name(code[[1]]) && as.character(code[[1]]) %in% ASSIGNS
  c(if (assigns) target(code[[2]]), unlist(lapply(as.list(code)[-1], binds)))
}

# Names that code uses and does not bind itself: of variables, of functions as "f()", and "<<- x"
loose <- function(code) {
  found <- character()
  note <- function(name, known, shown = name) if (!name %in% known) found[length(found) + 1] <<- shown
  walk <- function(code, known) {
    if (is.name(code)) return(note(as.character(code), known))
    if (!is.call(code)) return()
    if (!is.name(code[[1]])) walk(code[[1]], known)
    head <- if (is.name(code[[1]])) as.character(code[[1]]) else ""
    if (head == "function") {
      known <- c(known, names(code[[2]]), binds(code[[3]]))
      code <- as.call(c(head, code[[2]], list(code[[3]])))
    } else if (head %in% c("~", "quote", "bquote", "::")) {
      return()
    } else if (head %in% c("$", "@")) {
      code <- code[1:2]
    } else if (head == "<<-") {
      note(target(code[[2]]), known, paste("<<-", target(code[[2]])))
      if (is.name(code[[2]])) code <- code[-2]
    } else if (head != "") note(head, known, paste0(head, "()"))
    for (part in parts(code)) walk(part, known)
  }
  walk(code, character())
  found
}

# Of each file of R/ what it defines, and the loose names of each definition
definitions <- once(function() {
  lapply(sources("R", "\\.R$"), function(file) {
    made <- Filter(function(x) is.call(x) && identical(x[[1]], quote(`<-`)) && is.name(x[[2]]), as.list(parse(file)))
    stats::setNames(lapply(made, function(x) unique(loose(x[[3]]))), vapply(made, function(x) as.character(x[[2]]), ""))
  })
})

test_that("every variable that is read, every function that is called and all that is assigned from within exists", {
  expect_setequal(loose(quote(function(x, y = z) { f(x, y$u, g::h(v)); function(w) w <<- k <<- x[[n]] })),
                  c("{()", "z", "f()", "v", "<<- k", "[[()", "n"))
  house <- asNamespace("dpts")
  used <- unique(unlist(definitions(), use.names = FALSE))
  expect_gt(sum(endsWith(used, "()")), 1000)
  is_there <- function(name) {
    if (name == ".Generic") return(TRUE) # of a method of a group, R's own
    if (endsWith(name, "()")) exists(sub("()", "", name, fixed = TRUE), house, mode = "function") else exists(name, house)
  }
  expect_identical(Filter(Negate(is_there), used), character())
})

test_that("no two files of R/ call each other in a circle", {
  names <- lapply(definitions(), names)
  home <- stats::setNames(rep(names(names), lengths(names)), unlist(names))
  expect_false(anyDuplicated(names(home)) > 0)
  expect_gt(length(home), 1000)
  uses <- lapply(definitions(), function(file) sub("()", "", unlist(file, use.names = FALSE), fixed = TRUE))
  uses <- Map(function(used, file) setdiff(home[intersect(used, names(home))], file), uses, names(uses))
  expect_identical(names(rings(uses)), character())
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

test_that("each file of snapshots is of a file of tests", {
  kept <- sub("\\.md$", "", list.files(test_path("_snaps")))
  expect_identical(setdiff(kept, gsub("^test-|\\.R$", "", list.files(test_path(), "^test-"))), character())
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
