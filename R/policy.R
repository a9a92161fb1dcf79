# Policies are small values: the name of a kernel in src/policy_*.c, its
# parameters by name, and the guarantee that the policy declares.

# Make a policy value
#
# `name`: The kernel's name in the table of src/policy.c.
# `params`: A named list of single numbers; the kernel looks its own
#   parameters up by name. `NULL` and `NA` reach C as NaN: "choose for me", an error where the
#   kernel requires the parameter.
# `args`: The arguments as a user would type them, for printing.
# `guarantee`: A `dpts_guarantee`.
# `title`: What the print method calls it.
# `rounds_per_arm`: How many rounds an arm needs before the policy can
#   choose for itself; the horizon must leave room for it.
# `any_reward`: Does the policy make sense of rewards outside [0, 1]?
new_policy <- function(name, params = list(), guarantee = guarantee_none(),
                       title = name, args = params, rounds_per_arm = 0, any_reward = FALSE) {
  structure(
    list(name = name, params = params, args = args, guarantee = guarantee,
         title = title, rounds_per_arm = rounds_per_arm, any_reward = any_reward),
    class = c(paste0("dpts_policy_", name), "dpts_policy")
  )
}

is_policy <- function(x) inherits(x, "dpts_policy")

# The policy inside all wrapping
unwrapped <- function(policy) {
  while (inherits(policy, "dpts_policy_wrapped")) policy <- policy$policy
  policy
}

# Is it written in R? It may have any name, and wrapping around it.
is_custom <- function(policy) inherits(unwrapped(policy), "dpts_policy_custom")

# ---- what a policy is, as its kernel says -------------------------------------------------------

# The numbers of a report, as src/noise_report.h writes them; a policy in R tells the first ones.
TOLD <- c("rewards", "sum", "kind", "terms", "scale", "last_terms", "last_scale", "looks")
REPORT <- c(TOLD, "squares", "weight")

# A property of the policy inside all wrapping: a field of policy_t in src/policy.h, or which verbs it
# has, by the names of src/r_policy.c. A policy of tests that has no kernel has none.
property <- function(policy, name) {
  policy <- unwrapped(policy)
  if (!is.null(policy$properties)) return(policy$properties[[name]])
  properties_by_name(if (is_custom(policy)) "custom" else policy$name)[[name]]
}

properties_by_name <- function(name) {
  if (is.null(kernel_properties$all)) kernel_properties$all <- .Call(C_policy_properties)
  kernel_properties$all[[name]]
}
kernel_properties <- new.env(parent = emptyenv())

is_true_of <- function(policy, name) isTRUE(property(policy, name) > 0)

is_contextual <- function(policy) is_true_of(policy, "needs_context")

# What a kernel reads: its name and its parameters for a problem
kernel <- function(policy, horizon) UseMethod("kernel")

#' @export
kernel.default <- function(policy, horizon) {
  list(name = policy$name, params = kernel_params(policy, horizon))
}

# The parameters of a policy's kernel. A method where they depend on the horizon.
kernel_params <- function(policy, horizon) UseMethod("kernel_params")

#' @export
kernel_params.default <- function(policy, horizon) policy$params

# The call that makes the policy, exactly as it is: a rounded epsilon may be outside the
# budget. With `digits`, for the eye, its fractions are rounded.
#' @export
format.dpts_policy <- function(x, digits = 15, ...) {
  sprintf("policy_%s(%s)", x$name, format_args(x$args, check_digits(digits)))
}

format_args <- function(args, digits) {
  shown <- Filter(Negate(is.null), args)
  values <- vapply(shown, function(p) {
    if (is_policy(p)) return(format(p, digits = digits))
    # Whole numbers stay whole, however long: a count is a count.
    if (is.double(p) && digits < 15) p <- ifelse(p == trunc(p), p, signif(p, digits))
    if (inherits(p, "dpts_budget")) return(as.character(p))
    text <- code_text(p)
    # Fifteen digits, and 17 where they are another number: the call makes the very policy.
    exact <- digits < 15 || !is.double(p) || length(p) != 1 || identical(eval(str2lang(text)), p)
    if (exact) return(text)
    code_text(p, c("keepNA", "digits17"))
  }, "")
  paste(names(shown), values, sep = " = ", collapse = ", ")
}

# A call on lines that fit, broken between arguments only, so that it can be copied
wrap_call <- function(text, width) {
  if (nchar(text) <= width) return(text)
  open <- regexpr("(", text, fixed = TRUE)
  args <- strsplit(substring(text, open + 1), ", (?=[A-Za-z_.]+ = )", perl = TRUE)[[1]]
  last <- seq_along(args) == length(args)
  c(substr(text, 1, open), paste0("  ", args, ifelse(last, "", ",")))
}

#' @export
print.dpts_policy <- function(x, ...) {
  fill <- function(text, ...) cat(strwrap(text, getOption("width"), ...), sep = "\n")
  fill(paste("<policy>", x$title), exdent = 2)
  call <- wrap_call(format(x), getOption("width") - 13)
  cat(paste0(rep(c("  call:      ", strrep(" ", 13)), c(1, length(call) - 1)), call), sep = "\n")
  fill(paste0("guarantee: ", format(x$guarantee)), indent = 2, exdent = 13)
  invisible(x)
}

# Several policies are a list of them: `c(a = policy_ucb1(), b = policy_uniform())`
#' @export
c.dpts_policy <- function(...) {
  parts <- lapply(list(...), function(p) if (is_policy(p)) list(p) else as.list(p))
  names <- names(parts)
  for (i in seq_along(parts)) {
    # A name given here is the policy's; a list brings its own.
    if (!is.null(names) && length(parts[[i]]) == 1 && nzchar(names[i])) {
      names(parts[[i]]) <- names[i]
    }
  }
  do.call(c, unname(parts))
}

# Labels for policies without a name: each one's kind, and among several of a kind the
# arguments in which they differ, with as many digits as that takes
label_by_kind <- function(policies) {
  kind <- vapply(policies, function(p) p$name, "")
  label <- kind
  for (one in unique(kind[duplicated(kind)])) {
    alike <- which(kind == one)
    args <- lapply(policies[alike], `[[`, "args")
    every <- unique(unlist(lapply(args, names)))
    differ <- every[vapply(every, function(name) {
      length(unique(lapply(args, `[[`, name))) > 1
    }, NA)]
    for (digits in c(5, 15)) {
      if (!anyDuplicated(label[alike])) break
      label[alike] <- vapply(args, function(a) {
        shown <- format_args(a[intersect(names(a), differ)], digits)
        if (nzchar(shown)) sprintf("%s(%s)", one, shown) else one
      }, "")
    }
  }
  label
}

# One policy or a named list of them, as a named list with distinct names
check_policies <- function(policies, arg = caller_arg(policies)) {
  check_given(policies, arg)
  force(arg)
  if (is_policy(policies)) return(stats::setNames(list(policies), policies$name))
  # arms and tables are lists, too
  if (!is.list(policies) || inherits(policies, c("dpts_arms", "data.frame")) || length(policies) == 0) {
    abort_arg(arg, "a policy or a named list of policies", policies, hint = hint_policy(policies, arg))
  }
  bad <- which(!vapply(policies, is_policy, NA))
  if (length(bad)) {
    hint <- if (any(grepl("(^|\\.)guarantee$", names(policies))))
      "`c()` takes a policy apart if it comes after a list: write `c(list, list(policy))`." else
      if (!is.numeric(policies[[bad[1]]])) hint_policy(policies[[bad[1]]], arg)
    abort_input(arg, "`%s` must hold policies only; element %d is %s.", arg, bad[1],
                describe(policies[[bad[1]]]), hint = hint)
  }
  name_all(policies, label_by_kind, arg)
}

# A list with distinct names: where it has none, those that a function of its elements gives
name_all <- function(x, by, arg) {
  label <- names(x) %||% rep("", length(x))
  unnamed <- is.na(label) | !nzchar(label)
  label[unnamed] <- by(x[unnamed])
  twice <- label[duplicated(label)]
  if (length(twice)) abort_input(arg, "`%s` must have distinct names; \"%s\" comes twice.", arg, twice[1])
  stats::setNames(x, label)
}

# What was meant, where that can be seen
hint_policy <- function(x, arg) {
  if (inherits(x, "dpts_arms")) return(sprintf("Were the arms and `%s` given in the other order?", arg))
  if (is.numeric(x)) return(sprintf("Were `%s` and a number given in the other order?", arg))
  if (is.character(x) && length(x) > 1) return(sprintf("Were `%s` and names given in the other order?", arg))
  if (is.data.frame(x)) return(sprintf("Were `%s` and a table given in the other order?", arg))
  if (is.function(x)) return(hint_call(x))
  if (!is.character(x) || length(x) != 1 || is.na(x) || !validEnc(x)) return(NULL)
  known <- constructors("policy_")
  name <- if (startsWith(x, "policy_")) x else paste0("policy_", x)
  near <- utils::adist(name, known)[1, ]
  if (min(near) <= 2) sprintf("Did you mean `%s()`?", known[which.min(near)])
}

constructors <- function(prefix) {
  names <- getNamespaceExports(topenv())
  sort(names[startsWith(names, prefix)])
}

# A constructor that was not called
hint_call <- function(f) {
  known <- c(constructors("policy_"), constructors("arms_"))
  same <- vapply(mget(known, topenv()), identical, NA, f)
  if (any(same)) sprintf("Did you forget the parentheses? `%s()` makes one.", known[same][1])
}
