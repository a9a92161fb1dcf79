# Code in C from a file of the user's, or from another package: compiled once, loaded in each process that
# plays it. Policies (R/policy-compiled.R) and adversaries (R/arms-adversary.R) come in this way.

# The lines of a file; NULL of what a package registered
read_source <- function(file, arg = "file") {
  if (startsWith(file, "package:")) return(NULL)
  there <- file.exists(file) && !dir.exists(file)
  if (!there) abort_arg(arg, "a file in C that is there, or \"package:NAME\"", file)
  readLines(file, warn = FALSE)
}

# Of a policy, or an adversary -> list(its properties, its parameters: is each required, their choices)
compiled_properties <- function(library, file, name, adversary = FALSE) {
  known <- .Call(C_compiled_names, library, adversary)
  if (name %in% known) return(.Call(C_compiled_properties, library, name, adversary))
  what <- if (adversary) "adversaries" else "policies"
  if (!length(known)) abort_compiled(file, paste("it has no", what), if (adversary) "f" else "file")
  abort_arg("name", sprintf("one of the %s of \"%s\", %s", what, basename(file),
                            words_list(dQuote(known, FALSE), "or")), name)
}

check_compiled_params <- function(params, required, choices, what) {
  if (!is.list(params) || (length(params) > 0 && is.null(names(params)))) {
    abort_arg("params", "a named list", params)
  }
  check_argument_names(params, names(required), what)
  missing <- setdiff(names(required)[required], names(params))
  if (length(missing)) {
    abort_input("params", "`params` must have \"%s\", which %s requires.", missing[1], what)
  }
  for (one in names(params)) {
    p <- params[[one]]
    names <- choices[[match(one, names(required))]]
    known <- if (is.null(names)) is.numeric(p) else p %in% names
    if (length(p) != 1 || is.na(p) || is.object(p) || !known) {
      what <- if (is.null(names)) "a number" else words_list(dQuote(names, FALSE), "or")
      abort_arg(paste0("params$", one), what, p)
    }
  }
  lapply(params, function(p) if (is.numeric(p)) as.double(p) else p)
}

is_registered <- function(library) {
  length(.Call(C_compiled_names, library, FALSE)) + length(.Call(C_compiled_names, library, TRUE)) > 0
}

# Make sure that what a file has is there -> the name that C knows it by
load_library <- function(file, source, arg = "file") {
  if (is.null(source)) {
    package <- sub("^package:", "", file)
    if (!requireNamespace(package, quietly = TRUE)) abort_arg(arg, "a package that is installed", file)
    if (!is_registered(package)) abort_compiled(file, "it has registered none", arg)
    return(package)
  }
  key <- rlang::hash(source)
  if (is_registered(key)) return(key)
  loaded <- dyn.load(compile_source(source, basename(file), arg))
  entries <- c("dpts_module_of", "dpts_adversaries_of")
  entries <- entries[vapply(entries, is.loaded, NA, loaded[["name"]])]
  wrong <- if (length(entries) == 0) "it does not end with DPTS_POLICIES(...) or DPTS_ADVERSARIES(...)"
  for (entry in entries) {
    wrong <- wrong %||% .Call(C_compiled_register, key, getNativeSymbolInfo(entry, loaded)$address)
  }
  if (!is.null(wrong)) abort_compiled(file, wrong, arg)
  key
}

abort_compiled <- function(file, wrong, arg) {
  abort_input(arg, "`%s`, \"%s\", is no %s for dpts: %s.", arg, basename(file),
              if (arg == "file") "policy" else "adversary", wrong, class = "dpts_error_compiled")
}

compile_source <- function(source, name, arg) {
  header <- system.file("include", "dpts.h", package = "dpts")
  key <- rlang::hash(list(source, readLines(header), R.version$platform, getRversion()))
  folder <- file.path(tools::R_user_dir("dpts", "cache"), "compiled")
  if (!dir.create(folder, FALSE, TRUE) && file.access(folder, 2) != 0) folder <- tempdir()
  library <- file.path(folder, paste0("dpts_", key, .Platform$dynlib.ext))
  if (file.exists(library)) return(library)
  build <- tempfile("dpts_build_")
  dir.create(build)
  on.exit(unlink(build, recursive = TRUE))
  code <- file.path(build, sub("[.][^.]*$", ".c", name))
  writeLines(source, code)
  made <- paste0(build, "/made", .Platform$dynlib.ext)
  # There: `R CMD SHLIB` reads a Makevars of the working directory, and may leave a table of symbols in it.
  include <- shQuote(paste0("-I", shQuote(dirname(normalizePath(header)))))
  old <- setwd(build)
  on.exit(setwd(old), add = TRUE, after = FALSE)
  said <- suppressWarnings(system2(
    file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "-o", shQuote(made), shQuote(code)), stdout = TRUE,
    stderr = TRUE, env = paste0("PKG_CPPFLAGS=", include)
  ))
  if (!file.exists(made)) {
    raise(c(sprintf("`%s`, \"%s\", does not compile:", arg, name), said),
          c("dpts_error_compiled", "dpts_error_input", "dpts_error"), arg = arg)
  }
  # At once or not at all: another process may be looking for it.
  part <- tempfile("part", folder)
  if (!file.copy(made, part) || !file.rename(part, library)) {
    abort_arg(arg, "compiled to a folder that can be written", folder)
  }
  library
}
