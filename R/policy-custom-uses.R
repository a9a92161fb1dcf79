# What functions use besides their arguments and packages, so that a policy in R can be sent to a
# worker.

#' Variables that functions use, directly or through functions that they use
#'
#' @returns A list of two named lists: `global` variables, and those of the functions' own
#'   environments (`local`), which travel with the functions.
#' @noRd
uses_of <- function(functions) {
  found <- list(global = list(), local = list())
  seen <- list()
  visit <- function(f) {
    if (is.primitive(f) || isNamespace(environment(f))) return()
    if (any(vapply(seen, identical, NA, f))) return()
    seen <<- c(seen, f)
    for (name in codetools::findGlobals(f)) {
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

#' The environment in which a variable is found from another one; NULL: it is a package's, or
#' nowhere
#' @noRd
where_is <- function(name, env) {
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

# ---- workers ----------------------------------------------------------------------------------

#' The global variables that the policies in R among these use. A worker needs them; what functions
#' have in environments of their own comes with them.
#' @noRd
globals_of <- function(policies) {
  if (!plays_r(policies)) return(list())
  uses_of(unlist(lapply(policies, function(policy) unclass(core(policy))[host_calls])))$global
}

plays_r <- function(policies) {
  any(vapply(policies, function(policy) is_kernel(core(policy), "custom"), NA))
}
