# Policies are small values: the name of a kernel in src/policy_*.c, its
# parameters by name, and the guarantee that the policy declares.

#' Make a policy value
#'
#' @param name The kernel's name in the table of src/policy.c.
#' @param params A named list of single numbers; the kernel looks its own
#'   parameters up by name. `NULL` and `NA` reach C as NaN: "choose for me".
#' @param args The arguments as a user would type them, for printing.
#' @param guarantee A `dpts_guarantee`.
#' @param title What the print method calls it.
#' @param rounds_per_arm How many rounds an arm needs before the policy can
#'   choose for itself; the horizon must leave room for it.
#' @noRd
new_policy <- function(name, params = list(), guarantee = guarantee_none(),
                       title = name, args = params, rounds_per_arm = 0) {
  structure(
    list(name = name, params = params, args = args, guarantee = guarantee,
         title = title, rounds_per_arm = rounds_per_arm),
    class = c(paste0("policy_", name), "policy")
  )
}

is_policy <- function(x) inherits(x, "policy")

#' @export
format.policy <- function(x, ...) {
  shown <- Filter(Negate(is.null), x$args)
  values <- vapply(shown, function(p) paste(deparse(p, nlines = 1), collapse = ""), "")
  sprintf("policy_%s(%s)", x$name,
          paste(names(shown), values, sep = " = ", collapse = ", "))
}

#' @export
print.policy <- function(x, ...) {
  cat("<policy> ", x$title, "\n", sep = "")
  cat("  call:      ", format(x), "\n", sep = "")
  cat("  guarantee: ", format(x$guarantee), "\n", sep = "")
  invisible(x)
}

#' One policy or a named list of them, as a named list with distinct names
#' @noRd
check_policies <- function(policies, arg = caller_arg(policies), call = caller_env()) {
  force(arg)
  if (is_policy(policies)) {
    return(stats::setNames(list(policies), policies$name))
  }
  if (!is.list(policies) || length(policies) == 0) {
    abort_arg(arg, "a policy or a named list of policies", policies, call)
  }
  bad <- which(!vapply(policies, is_policy, NA))
  if (length(bad)) {
    rlang::abort(
      sprintf("`%s` must hold policies only; element %d is %s.", arg, bad[1],
              describe(policies[[bad[1]]])),
      class = c("dpts_error_input", "dpts_error"), arg = arg, call = call
    )
  }
  # An unnamed element is labelled by its own kernel's name.
  given <- names(policies) %||% rep("", length(policies))
  own <- vapply(policies, function(p) p$name, "")
  names(policies) <- ifelse(is.na(given) | !nzchar(given), own, given)
  twice <- names(policies)[duplicated(names(policies))]
  if (length(twice)) {
    rlang::abort(
      sprintf("`%s` must have distinct names; \"%s\" comes twice.", arg, twice[1]),
      class = c("dpts_error_input", "dpts_error"), arg = arg, call = call
    )
  }
  policies
}
