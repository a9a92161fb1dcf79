# What people do with arms besides pulling them.

#' Count, name and join arms
#'
#' Count, name, pick and join arms. `length()` is the number of arms, `names()` are their names, and `c()`
#' puts the arms of several problems into one, whatever their distributions; `x[i]` takes some of them.
#' `x$means` are their means. `tidy()` is a table of them.
#'
#' @param x An `arms` object.
#' @param value Names, one for each arm, or `NULL`.
#' @param i Arms, by number or name, of a problem that does not change from round to round and has no
#'   contexts.
#' @param ... `arms` objects that do not change from round to round and have no contexts. A name given
#'   to a single arm is its name. Where some arms have names, the others take their numbers.
#' @returns `length()`: a number. `names()`: strings, or `NULL`. `c()`, `[`: an `arms` object. `tidy()`: a
#'   tibble with columns `arm`, `mean`, `gap` (to the best mean) and `best`; of changing arms, in round 1.
#' @template see_arms
#' @examples
#' arms <- arms_bernoulli(c(control = 0.5, treatment = 0.6))
#' length(arms)
#' names(arms)
#' c(arms, other = arms_beta(2, 3))
#' arms["treatment"]
#' tidy(arms)
#' @name length.dpts_arms
NULL

#' @rdname length.dpts_arms
#' @export
length.dpts_arms <- function(x) n_arms(x)

#' @rdname length.dpts_arms
#' @export
names.dpts_arms <- function(x) names(x$mean)

# They are made from `means`, and hold `mean`.
#' @export
`$.dpts_arms` <- function(x, name) .subset2(x, if (name == "means") "mean" else name)

#' @rdname length.dpts_arms
#' @export
`names<-.dpts_arms` <- function(x, value) {
  if (!is.null(value)) {
    ok <- is.character(value) && length(value) == n_arms(x) && !anyNA(value) && all(nzchar(value)) &&
      !anyDuplicated(value)
    if (!ok) {
      abort_arg("value", sprintf("NULL or %d distinct names, one for each arm", n_arms(x)), value)
    }
  }
  names(x$mean) <- value
  names(x$gap) <- value
  x
}

#' @rdname length.dpts_arms
#' @export
c.dpts_arms <- function(...) {
  parts <- list(...)
  for (part in parts) check_class(part, "dpts_arms", "arms", "...")
  given <- names(parts) %||% rep("", length(parts))
  labels <- unlist(Map(function(part, name) {
    if (nzchar(name) && n_arms(part) == 1) name else names(part$mean) %||% rep("", n_arms(part))
  }, parts, given), use.names = FALSE)
  labels <- check_arm_names(labels, "...")
  if (length(parts) == 1) {
    names(parts[[1]]) <- labels
    return(parts[[1]])
  }
  join_arms(unname(parts), labels)
}

#' @rdname length.dpts_arms
#' @export
`[.dpts_arms` <- function(x, i) {
  if (!world_kind(x) %in% c("stationary", "supplied") || !is.null(x$contexts)) {
    abort_arg("x", "arms without contexts, which do not change and are not recorded rewards in order")
  }
  at <- tryCatch(stats::setNames(seq_len(n_arms(x)), names(x))[i], error = function(e) NA)
  if (length(at) == 0 || anyNA(at) || anyDuplicated(at)) {
    what <- paste0("different arms, numbers from 1 to ", n_arms(x), if (!is.null(names(x))) " or names")
    abort_arg("i", what)
  }
  at <- unname(at)
  kind <- x$distribution[1]
  args <- if (length(x$distribution) == 1 && kind %in% JOINED_BY_ARGUMENT) lapply(x$args, `[`, at) else
    list(arms = x, i = at)
  new_arms(if (length(x$distribution) == 1) kind else x$distribution[at], x$mean[at], x$par[at], args,
           x$title, x$range, if (world_kind(x) == "supplied") world_supplied(x$world$draw[at]),
           class = sub("^dpts_arms_", "", class(x)[1]))
}

#' @rdname length.dpts_arms
#' @export
tidy.dpts_arms <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(arm = arm_labels(x), mean = unname(x$mean), gap = unname(x$gap), best = unname(x$gap) == 0)
}

# The arms of several problems as one. Each arm keeps its distribution, and what draws it.
join_arms <- function(parts, labels) {
  kinds <- vapply(parts, world_kind, "")
  if (!all(kinds %in% c("stationary", "supplied"))) {
    abort_arg("...", "arms without contexts, which do not change and are not recorded rewards in order")
  }
  each <- function(name) lapply(parts, `[[`, name)
  all_of <- function(name) unlist(each(name), recursive = FALSE, use.names = FALSE)
  ranges <- unique(each("range"))
  # Rewards in [0, 1] go with rewards without bounds; what is scaled goes with its like alone.
  if (length(ranges) > 1 && !all(ranges %in% list(c(0, 1), c(-Inf, Inf)))) {
    abort_arg("...", "arms whose rewards have the same range")
  }
  distribution <- Map(function(part) rep_len(part$distribution, n_arms(part)), parts)
  draws <- Map(function(part) part$world$draw %||% vector("list", n_arms(part)), parts)
  one <- length(unique(lapply(parts, class))) == 1 && distribution[[1]][1] %in% JOINED_BY_ARGUMENT
  new_arms(
    if (one) distribution[[1]][1] else unlist(distribution), stats::setNames(all_of("mean"), labels),
    all_of("par"), if (one) do.call(Map, c(f = c, each("args"))) else list(parts = parts),
    if (length(unique(each("title"))) == 1) parts[[1]]$title else "rewards of several distributions",
    range = if (length(ranges) == 1) ranges[[1]] else c(-Inf, Inf),
    world = if ("supplied" %in% kinds) {
      world_supplied(unlist(draws, recursive = FALSE))
    },
    class = if (one) distribution[[1]][1] else "mixed"
  )
}

# Arms whose arguments are vectors with an element for each arm: joined, they are what one call makes.
JOINED_BY_ARGUMENT <- c("bernoulli", "truncexp", "beta")

# "bernoulli(0.7, 0.5)": a problem in a few words
#' @export
describe_thing.dpts_arms <- function(x) {
  means <- unname(x$mean)
  many <- length(means) > 5
  means <- shorts(if (many) means[c(1:3, length(means))] else means)
  if (many) means <- append(means, "...", after = 3)
  sprintf("%s(%s)", sub("^dpts_arms_", "", class(x)[1]), paste(means, collapse = ", "))
}
