#' @keywords internal
#' @useDynLib dpts, .registration = TRUE, .fixes = "C_"
#' @importFrom rlang %||% caller_env
"_PACKAGE"

#' Generics that dpts re-exports
#'
#' `autoplot()` comes from ggplot2, `tidy()`, `glance()` and `augment()` from generics. They
#' are re-exported so that `library(dpts)` is enough to use them.
#'
#' @param object,x An object of one of the dpts classes.
#' @param ... Passed on to the method.
#' @returns What the method for the class of the first argument returns.
#' @importFrom ggplot2 autoplot
#' @importFrom generics tidy glance augment
#' @name reexports
#' @aliases autoplot tidy glance augment
#' @keywords internal
#' @export autoplot
#' @export tidy
#' @export glance
#' @export augment
NULL
