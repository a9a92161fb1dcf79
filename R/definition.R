# What a thing is, in all that decides the numbers it makes: parameters, code, and the variables and
# helper functions that its functions find. Two things are the same if their definitions are. A
# definition is taken when results are made, since a helper function may be changed later.

# A short text that is the same for things that are the same
definition_of <- function(x) {
  # Version 2 writes values alone, not how R holds them; the first bytes name the version of R.
  rlang::hash(serialize(definition_walk(x, new.env()), NULL, version = 2)[-(1:14)])
}

same_thing <- function(x, y) identical(x, y) || identical(definition_of(x), definition_of(y))

# What a thing of a class is defined by; `x` itself, unless a method leaves out what decides nothing,
# such as a title
definition <- function(x) UseMethod("definition")

#' @export
definition.default <- function(x) x

# Plain values, by which things can be compared
# `seen`: What is being looked at further out: functions may use each other.
definition_walk <- function(x, seen) {
  if (is.function(x) || is.environment(x)) {
    for (name in names(seen)) if (identical(seen[[name]], x)) return(c("seen before", name))
    seen[[paste(length(seen) + 1)]] <- x
  }
  if (is.primitive(x)) return(deparse(x))
  if (typeof(x) %in% c("externalptr", "weakref")) {
    rlang::signal("A pointer cannot be compared.", "dpts_unclear")
    return(NULL)
  }
  if (is.environment(x) && (isNamespace(x) || identical(x, globalenv()))) return(environmentName(x))
  if (is.language(x)) {
    x <- rlang::zap_srcref(x)
    attributes(x) <- NULL # a formula's environment
    return(x)
  }
  if (is.list(x)) x <- definition(x)
  # Functions may ask for its class and whatever else is attached (a connection is a number with a pointer).
  attached <- attributes(x)[setdiff(names(attributes(x)), c("names", "row.names", "srcref"))]
  more <- if (length(attached)) list(definition_walk(attached, seen))
  if (is.function(x)) return(c(definition_function(x, seen), more))
  if (is.environment(x)) x <- mget(sort(ls(x, all.names = TRUE)), x)
  if (!is.list(x)) return(x)
  x <- unclass(x)
  c(list(names(x), lapply(unname(as.list(x)), definition_walk, seen)), more)
}

# A function by its code and by what it uses: variables and functions that the user made, at any
# depth, and the versions of packages
definition_function <- function(f, seen) {
  code <- list(as.list(formals(f)), rlang::zap_srcref(body(f)))
  if (isNamespace(environment(f))) return(c(list(package_of(environment(f))), code))
  names <- sort(unique(names_used(f)))
  uses <- lapply(stats::setNames(nm = names), function(name) {
    env <- where_is(name, environment(f))
    if (!is.null(env)) return(definition_walk(get(name, envir = env, inherits = FALSE), seen))
    # A package's
    if (exists(name, envir = environment(f))) package_of(environment(get(name, envir = environment(f))))
  })
  c(code, list(uses[lengths(uses) > 0], names[lengths(uses) > 0]))
}

BASE_PACKAGES <- c("base", "methods", "datasets", "utils", "grDevices", "graphics", "stats", "tools",
                   "parallel", "compiler", "splines", "stats4", "grid", "tcltk")

# A package and its version; NULL for those of R, and for dpts, which says itself what changes results
package_of <- function(env) {
  name <- if (is.null(env)) "base" else environmentName(topenv(env))
  if (name %in% c(BASE_PACKAGES, "dpts", "R_GlobalEnv", "")) return(NULL)
  paste(name, tryCatch(utils::packageVersion(name), error = function(e) ""))
}

# ---- what functions use --------------------------------------------------------------------------

# Variables that functions use, directly or through functions that they use
#
# Returns A list of two named lists: `global` variables, and those of the functions' own
#   environments (`local`), which travel with the functions.
uses_of <- function(functions) {
  found <- list(global = list(), local = list())
  seen <- list()
  visit <- function(f) {
    if (is.primitive(f) || isNamespace(environment(f))) return()
    if (any(vapply(seen, identical, NA, f))) return()
    seen <<- c(seen, f)
    for (name in names_used(f)) {
      env <- where_is(name, environment(f))
      if (is.null(env)) next
      value <- get(name, envir = env, inherits = FALSE)
      found[[if (identical(env, globalenv())) "global" else "local"]][name] <<- list(value)
      if (is.function(value)) visit(value)
    }
  }
  for (f in Filter(is.function, functions)) visit(f)
  found
}

# Names that a function uses: in its code, and as text by which it looks things up
names_used <- function(f) {
  text <- character()
  walk <- function(x) {
    head <- if (is.name(x[[1]])) as.character(x[[1]]) else ""
    own <- NULL
    for (i in seq_along(x)[-1]) if (is.character(x[[i]])) own <- c(own, x[[i]])
    if (head %in% c(GETS, CALLS)) text <<- c(text, own)
    if (head %in% GETS && is.null(own)) {
      rlang::signal("A name that is computed cannot be followed.", "dpts_unclear")
    }
    for (i in seq_along(x)) if (is.call(x[[i]])) walk(x[[i]])
  }
  if (is.call(body(f))) walk(body(f))
  c(names_in_code(f), text)
}

# What codetools reads from a function's code, which takes milliseconds and is asked for again with each run
# of a policy in R: of the last 32 functions that are still there
names_in_code <- function(f) {
  known <- Find(function(x) identical(rlang::wref_value(x)$f, f), analysed$functions)
  if (!is.null(known)) return(rlang::wref_value(known)$names)
  names <- codetools::findGlobals(f)
  one <- rlang::new_weakref(environment(f), list(f = f, names = names))
  analysed$functions <- utils::head(c(one, analysed$functions), 32)
  names
}

analysed <- new.env(parent = emptyenv())

GETS <- c("get", "get0", "mget", "dynGet")
CALLS <- c("do.call", "match.fun", "lapply", "sapply", "vapply", "Map", "mapply", "Reduce", "Filter", "apply",
           "outer")

# The environment in which a variable is found from another one; NULL: it is a package's, or nowhere
where_is <- function(name, env) {
  if (!exists(name, envir = env)) return(NULL) # most names that are asked for again and again are nowhere
  while (!identical(env, globalenv())) {
    if (identical(env, emptyenv())) return(NULL)
    if (exists(name, envir = env, inherits = FALSE)) {
      imported <- startsWith(attr(env, "name") %||% "", "imports:")
      return(if (!isNamespace(env) && !imported) env)
    }
    env <- parent.env(env)
  }
  if (exists(name, envir = env, inherits = FALSE)) env
}

# The variables that functions can reach outside their arguments, each with what it holds: those that their
# code names, and all that are in environments among these (an R6 object is one).
variables_of <- function(functions) {
  found <- seen <- list()
  visit <- function(x) {
    if (is.list(x)) {
      holds <- vapply(x, function(part) is.list(part) || is.function(part) || is.environment(part), NA)
      for (part in x[holds]) visit(part)
    }
    if (is.primitive(x) || !(is.function(x) || is.environment(x))) return()
    place <- if (is.function(x)) environment(x) else x
    if (isNamespace(place) || identical(x, globalenv()) || any(vapply(seen, identical, NA, x))) return()
    seen <<- c(seen, x)
    # `e$n <- 1` changes an environment e of further out, though e is then a local variable to codetools.
    names <- if (is.environment(x)) ls(x, all.names = TRUE) else
      setdiff(union(names_used(x), all.names(body(x), functions = FALSE)), names(formals(x)))
    for (name in setdiff(names, ".Random.seed")) {
      env <- if (is.environment(x)) x else where_is(name, place)
      if (is.null(env) && exists(name, envir = place)) next # a package's
      value <- if (!is.null(env)) get(name, envir = env, inherits = FALSE)
      found <<- c(found, list(list(name = name, from = place, env = env, value = value)))
      visit(value)
    }
    if (is.environment(x)) found <<- c(found, list(list(within = x, names = names)))
  }
  visit(functions)
  found
}

# The name of a variable that no longer holds what it held, or NULL. Values are compared by their addresses
# first, so that this takes microseconds.
# `equal`: May a value have come back after a change?
changed_variable <- function(variables, equal = TRUE) {
  same <- function(name, env, value) {
    now <- get(name, envir = env, inherits = FALSE)
    if (equal || bindingIsActive(name, env)) identical(now, value) else rlang::is_reference(now, value)
  }
  changed <- function(x) {
    if (!is.null(x$within)) return(!setequal(ls(x$within, all.names = TRUE), x$names))
    env <- if (identical(x$from, x$env)) x$env else where_is(x$name, x$from)
    if (!identical(env, x$env)) return(TRUE)
    !is.null(env) && !(exists(x$name, envir = env, inherits = FALSE) && same(x$name, env, x$value))
  }
  first <- Find(changed, variables)
  if (is.null(first)) NULL else first[["name"]] %||% "a new variable of an environment"
}
