# What people do with policies besides playing them.

#' Change or print a policy
#'
#' Change the settings of a policy, or write the call that makes it. `update()` makes the policy again with
#' some arguments changed. `as.character()` is the call that makes it, to the last digit.
#'
#' @param object,x A policy.
#' @param ... Arguments of the policy's constructor, by name.
#' @returns `update()`: a policy. `as.character()`: a string.
#' @template see_policies
#' @examples
#' policy <- policy_dp_imed(epsilon = 1)
#' update(policy, epsilon = 2)
#' as.character(policy)
#' @export
update.dpts_policy <- function(object, ...) {
  changes <- list(...)
  constructor <- sub("^dpts_", "", class(object)[1])
  make <- get(constructor, envir = asNamespace("dpts"))
  known <- setdiff(names(formals(make)), "...")
  check_argument_names(changes, known, sprintf("`%s()`", constructor))
  args <- Filter(Negate(is.null), object$args) # what is NULL has its default
  args[names(changes)] <- changes
  do.call(make, args)
}

#' @export
update.dpts_policy_custom <- function(object, ...) {
  object$args <- unclass(object)[c("name", "start", "choose", "update", host_optional, "guarantee")]
  update.dpts_policy(object, ...)
}

#' @rdname update.dpts_policy
#' @export
as.character.dpts_policy <- function(x, ...) format(x)

# What decides what a policy does: all but the words for it
#' @export
definition.dpts_policy <- function(x) {
  x <- unclass(x)
  x$title <- NULL
  x$guarantee$text <- NULL
  x
}

#' @export
describe_thing.dpts_policy <- function(x) format(x)[1]
