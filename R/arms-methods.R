# What people do with arms besides pulling them.

#' Count, name and join arms
#'
#' `length()` is the number of arms, `names()` are their names, and `c()` puts the arms of several
#' problems into one.
#'
#' @param x An `arms` object.
#' @param value Names, one for each arm, or `NULL`.
#' @param ... `arms` objects of one distribution.
#' @returns `length()`: a number. `names()`: strings, or `NULL`. `c()`: an `arms` object.
#' @family arms
#' @examples
#' arms <- arms_bernoulli(c(control = 0.5, treatment = 0.6))
#' length(arms)
#' names(arms)
#' c(arms, arms_bernoulli(c(other = 0.4)))
#' @name length.arms
NULL

#' @rdname length.arms
#' @export
length.arms <- function(x) n_arms(x)

#' @rdname length.arms
#' @export
names.arms <- function(x) names(x$mean)

#' @rdname length.arms
#' @export
`names<-.arms` <- function(x, value) {
  if (!is.null(value)) {
    ok <- is.character(value) && length(value) == n_arms(x) && !anyNA(value) && !anyDuplicated(value)
    if (!ok) {
      abort_arg("value", sprintf("NULL or %d distinct names, one for each arm", n_arms(x)), value,
                rlang::current_env())
    }
  }
  names(x$mean) <- value
  names(x$gap) <- value
  x
}

#' @rdname length.arms
#' @export
c.arms <- function(...) {
  parts <- list(...)
  call <- rlang::current_env()
  for (part in parts) check_class(part, "arms", "arms", "...", call)
  arms <- join_arms(unname(parts), call)
  labels <- lapply(parts, names)
  if (all(lengths(labels) > 0)) names(arms) <- unlist(labels)
  arms
}

#' Arms of one distribution as one problem. Distributions are mixed here, once the engine can.
#' @noRd
join_arms <- function(parts, call) {
  laws <- unique(vapply(parts, `[[`, "", "law"))
  args <- function(name) unlist(lapply(parts, function(arms) arms$args[[name]]), use.names = FALSE)
  values <- unique(lapply(parts, function(arms) arms$args$values))
  joined <- if (length(laws) == 1 && length(values) == 1) {
    switch(laws,
      bernoulli = arms_bernoulli(args("means")),
      truncexp = arms_truncexp(args("rates")),
      beta = arms_beta(args("shape1"), args("shape2")),
      discrete = arms_discrete(values[[1]], do.call(rbind, lapply(parts, function(arms) arms$args$probs)))
    )
  }
  if (is.null(joined)) {
    abort_arg("...", "arms of one distribution, which has no contexts", call = call)
  }
  joined
}

#' "bernoulli(0.7, 0.5)": a problem in a few words
#' @noRd
arms_label <- function(arms) {
  means <- shorts(unname(arms$mean))
  if (length(means) > 5) means <- c(means[1:3], "...", means[length(means)])
  sprintf("%s(%s)", arms$law, paste(means, collapse = ", "))
}
