# Labels: a column of a result whose levels carry what they stand for.
#
# A label is a factor, and more: each level has a `meaning` (a policy, a problem), and the column has
# what all rows of its table have in common (`shared`: a horizon, a log, a level of confidence) and
# what is kept of the runs of each level (`runs`: a seed, pulls). So whatever chooses, sorts,
# repeats, joins, saves or reads rows keeps all that, with no attribute on the table. Labels
# that mean different things cannot be put together: that is an error, which says what differs.
#
# For vctrs a label is its text, which can be put together without looking at levels; for base R it
# is a factor. What makes a new factor of it, such as factor() or as.character(), leaves the meaning behind.

# ---- meanings ------------------------------------------------------------------------------------

# A thing and, where `now`, its definition as of now: that of a thing with functions of the user's
# can be another one later. Others are defined when they are compared.
meant <- function(thing, now = FALSE) list(thing = thing, id = if (now) definition_of(thing))

same_meaning <- function(x, y) {
  identical(x, y) || identical(meaning_id(x), meaning_id(y))
}

meaning_id <- function(meaning) meaning$id %||% definition_of(meaning$thing)

# A thing in a few words, for a message; NULL if there are none
describe_thing <- function(x) UseMethod("describe_thing")

#' @export
describe_thing.default <- function(x) {
  if (is.character(x) && length(x) == 1) return(sprintf("\"%s\"", x))
  if (is.atomic(x) && length(x) == 1) return(label_count(x))
  NULL
}

# ---- the type ------------------------------------------------------------------------------------

# A label
#
# `codes`: The place of each element in `levels`.
# `things`: What the levels stand for, a list; NULL: nothing but their names.
# `runs`: For each level a data frame with a row for each run or what is alike (a list).
# `shared`: A named list.
# `now`: Does anything hold functions of the user's?
new_label <- function(codes, levels, things = NULL, runs = NULL, shared = NULL, now = FALSE) {
  codes <- as.integer(codes)
  attributes(codes) <- list(
    levels = as.character(levels), meaning = lapply(unname(things %||% levels), meant, now),
    runs = unname(runs), shared = if (length(shared)) lapply(shared, meant, now),
    class = c("dpts_label", "factor")
  )
  codes
}

is_label <- function(x) inherits(x, "dpts_label")

# The factor alone
plain_factor <- function(x) structure(as.integer(x), levels = levels(x), class = "factor")

# Other elements of a label
relabelled <- function(codes, x) {
  names(x) <- NULL
  attributes(codes) <- attributes(x)
  codes
}

# What the levels stand for, by their names
things_of <- function(label) {
  stats::setNames(lapply(attr(label, "meaning"), `[[`, "thing"), levels(label))
}

# What all rows have in common, by name
label_shared <- function(label, name) attr(label, "shared")[[name]]$thing # NULL without a label

# A label of all levels of two, without elements: an error if they do not fit together
join_labels <- function(x, y) {
  own <- list(x = attributes(x[0]), y = attributes(y[0]))
  if (identical(own$x, own$y)) return(x[0])
  for (name in intersect(names(own$x$shared), names(own$y$shared))) {
    if (!same_meaning(own$x$shared[[name]], own$y$shared[[name]])) {
      abort_differs(name, own$x$shared[[name]]$thing, own$y$shared[[name]]$thing)
    }
  }
  at <- match(own$y$levels, own$x$levels)
  for (i in which(!is.na(at))) {
    if (!same_meaning(own$x$meaning[[at[i]]], own$y$meaning[[i]])) {
      abort_other(own$y$levels[i], own$x$meaning[[at[i]]]$thing, own$y$meaning[[i]]$thing)
    }
    own$x$runs[[at[i]]] <- join_runs(own$x$runs[[at[i]]], own$y$runs[[i]], own$y$levels[i])
  }
  new <- is.na(at)
  structure(
    integer(), levels = c(own$x$levels, own$y$levels[new]),
    meaning = c(own$x$meaning, own$y$meaning[new]),
    runs = if (!is.null(own$x$runs) || !is.null(own$y$runs)) {
      c(own$x$runs %||% vector("list", length(own$x$levels)),
        (own$y$runs %||% vector("list", length(own$y$levels)))[new])
    },
    shared = c(own$x$shared, own$y$shared[setdiff(names(own$y$shared), names(own$x$shared))]),
    class = c("dpts_label", "factor")
  )
}

# The runs of one level in two parts, each once
join_runs <- function(x, y, label) {
  if (is.null(x) || is.null(y) || identical(x, y)) return(x %||% y)
  by <- run_key(x)
  if (!identical(by, run_key(y))) {
    abort_join("One has named problems, the other has one without a name.",
               "Name the problems: `rbind(easy = x, hard = y)`.")
  }
  at <- vctrs::vec_match(y[by], x[by])
  both <- which(!is.na(at))
  other <- both[which(x$seed[at[both]] != y$seed[both])]
  if (length(other)) {
    abort_join(
      sprintf("%s of \"%s\" was run with seed %s and with seed %s.",
              if (is.null(y$run)) "A part" else paste("Run", number_text(y$run[other[1]])), label,
              number_text(x$seed[at[other[1]]]), number_text(y$seed[other[1]])),
      "Give the runs of one of them other numbers: `runs = run_range(11, 20)`."
    )
  }
  out <- vctrs::vec_rbind(x, y[is.na(at), , drop = FALSE])
  # In the order in which one call has them
  place <- lapply(unname(as.list(out[by])), function(v) if (is.character(v)) match(v, v) else v)
  vctrs::vec_slice(out, do.call(order, place))
}

# What tells runs apart: all but lists and these
run_key <- function(runs) {
  setdiff(names(runs)[!vapply(runs, is.list, NA)], c("seed", "regret", "variance", "effective"))
}

# ---- the words for what does not fit -------------------------------------------------------------

abort_join <- function(why, hint, call = NULL) {
  abort_dpts(c("These results do not belong together.", x = why, i = hint),
             c("dpts_error_join", "dpts_error_input"), call)
}

# What to do where two things differ
hint_differs <- function(x) UseMethod("hint_differs")

#' @export
hint_differs.default <- function(x) hint_tibble

hint_tibble <- "To stack them all the same, make tibbles of them, with labels as text: `as.character()`."

abort_other <- function(label, x, y) {
  words <- c(describe_thing(x), describe_thing(y))
  differ <- length(words) == 2 && words[1] != words[2]
  abort_join(sprintf("\"%s\" is not the same in both%s.", label,
                     if (differ) sprintf(": `%s` and `%s`", words[1], words[2]) else ""),
             "Give it another name in one of them, by `levels()` of the column.")
}

abort_differs <- function(name, x, y) {
  x <- definition(x)
  y <- definition(y)
  words <- c(describe_thing(x), describe_thing(y))
  if (is.list(x) && is.list(y) && (length(words) < 2 || words[1] == words[2])) {
    # The first part that differs says more than the whole.
    for (part in intersect(names(x), names(y))) {
      if (!same_thing(x[[part]], y[[part]])) return(abort_differs(part, x[[part]], y[[part]]))
    }
  }
  abort_join(sprintf("They differ in `%s`%s.", name,
                     if (length(words) == 2 && words[1] != words[2]) {
                       sprintf(": %s in one, %s in the other", words[1], words[2])
                     } else ""),
             hint_differs(x))
}

# ---- base R --------------------------------------------------------------------------------------

#' @export
`[.dpts_label` <- function(x, ..., drop = FALSE) {
  out <- relabelled(unclass(x)[...], x)
  if (drop) droplevels(out) else out
}

#' @export
`[[.dpts_label` <- function(x, ...) relabelled(unclass(x)[[...]], x)

#' @export
`[<-.dpts_label` <- function(x, ..., value) {
  if (!is_label(value)) return(NextMethod())
  type <- join_labels(x, value)
  codes <- match(levels(x), levels(type))[unclass(x)]
  codes[...] <- match(levels(value), levels(type))[unclass(value)]
  relabelled(codes, type)
}

# Other names for the levels. One name for two things is no label.
#' @export
`levels<-.dpts_label` <- function(x, value) {
  out <- plain_factor(x)
  levels(out) <- value
  # Where each level has gone
  new <- structure(seq_along(levels(x)), levels = levels(x), class = "factor")
  levels(new) <- value
  at <- match(seq_along(levels(out)), as.integer(new))
  if (anyNA(new) || anyDuplicated(as.integer(new)) || anyNA(at)) return(out)
  for (part in c("meaning", "runs")) attr(x, part) <- attr(x, part)[if (!is.null(attr(x, part))) at]
  attr(x, "levels") <- levels(out)
  relabelled(as.integer(out), x)
}

#' @export
c.dpts_label <- function(...) vctrs::vec_c(...)

#' @export
rep.dpts_label <- function(x, ...) x[rep(seq_along(x), ...)]

#' @export
unique.dpts_label <- function(x, ...) x[!duplicated(unclass(x))]

#' @export
droplevels.dpts_label <- function(x, ...) {
  kept <- seq_along(levels(x)) %in% unclass(x)
  for (part in c("meaning", "runs")) attr(x, part) <- attr(x, part)[kept[seq_along(attr(x, part))]]
  attr(x, "levels") <- levels(x)[kept]
  relabelled(cumsum(kept)[unclass(x)], x)
}

#' @export
print.dpts_label <- function(x, ...) {
  print(plain_factor(x), ...)
  invisible(x)
}

#' @importFrom utils str
#' @export
str.dpts_label <- function(object, ...) str(plain_factor(object), ...)

# ---- vctrs, and so dplyr -------------------------------------------------------------------------

#' @exportS3Method vctrs::vec_proxy
vec_proxy.dpts_label <- function(x, ...) levels(x)[unclass(x)]

#' @exportS3Method vctrs::vec_proxy_compare
vec_proxy_compare.dpts_label <- function(x, ...) as.integer(x)

#' @exportS3Method vctrs::vec_restore
vec_restore.dpts_label <- function(x, to, ...) {
  new <- setdiff(x, c(levels(to), NA))
  if (length(new)) to <- join_labels(to, new_label(integer(), new))
  relabelled(match(x, levels(to)), to)
}

#' @exportS3Method vctrs::vec_ptype_abbr
vec_ptype_abbr.dpts_label <- function(x, ...) "fct"

#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_label.dpts_label <- function(x, y, ...) join_labels(x, y)
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_label.character <- function(x, y, ...) x[0]
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.character.dpts_label <- function(x, y, ...) y[0]
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_label.factor <- function(x, y, ...) x[0]
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.factor.dpts_label <- function(x, y, ...) y[0]

#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_label.dpts_label <- function(x, to, ...) {
  vec_restore.dpts_label(as.character(x), join_labels(to, x))
}
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_label.character <- function(x, to, ...) vec_restore.dpts_label(x, to)
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_label.factor <- function(x, to, ...) vec_restore.dpts_label(as.character(x), to)
#' @exportS3Method vctrs::vec_cast
vec_cast.character.dpts_label <- function(x, to, ...) as.character(x)
#' @exportS3Method vctrs::vec_cast
vec_cast.factor.dpts_label <- function(x, to, ...) vctrs::vec_cast(plain_factor(x), to, ...)
