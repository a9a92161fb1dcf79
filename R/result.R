# A result knows what its rows belong to.
#
# Every result of the package is a tibble of class `dpts_result` (and one of its own in front)
# with one attribute more, `about`, a list:
#
#   key     the columns that together identify a row
#   values  the columns of which one at least must be left: what the result is about
#   named   for columns of labels, what each label stands for: `policy`, `problem`
#   shared  what all rows have in common, such as the log of a replay or the level of intervals
#   cells   a data frame of what rows share beyond that: one row for each run of a policy (or
#           what is alike), with its `seed` and, in other columns, what is kept of it: its pulls
#
# What leaves a row what it was keeps the class: choosing, sorting or grouping rows, more columns,
# other labels. What does not (a key that is gone or was changed, a row that comes twice) gives a
# plain tibble, as does a selection without values. R/result-join.R puts results together.

#' @param columns A named list of columns.
#' @param key,values Names of columns: those that together identify a row, and what is said of it.
#' @noRd
new_result <- function(columns, class, key, named = list(), shared = list(), cells = NULL,
                       values = setdiff(names(columns), key)) {
  about <- list(key = key, values = values, named = named, shared = shared)
  about$cells <- if (!is.null(cells)) tibble::new_tibble(cells, nrow = length(cells[[1]]))
  tibble::new_tibble(columns, nrow = length(columns[[1]]), class = c(class, "dpts_result"),
                     about = about)
}

about <- function(x) attr(x, "about", exact = TRUE)

#' What all rows have in common, by name
#' @noRd
shared <- function(x, name) about(x)$shared[[name]]

own_classes <- function(x) class(x)[seq_len(match("dpts_result", class(x)))]

#' The tibble alone
#' @noRd
bare <- function(x) {
  base <- class(x)
  if (inherits(x, "dpts_result")) base <- setdiff(base, own_classes(x))
  if (!"tbl_df" %in% base) base <- c("tbl_df", "tbl", "data.frame")
  attr(x, "about") <- NULL
  class(x) <- base
  x
}

dress <- function(x, about, classes) {
  x <- bare(x)
  attr(x, "about") <- about
  class(x) <- c(classes, class(x))
  x
}

# ---- is it still what it was? -------------------------------------------------------------------

#' Are the columns there that make a result what it is?
#' @noRd
has_columns <- function(x, about) {
  !is.null(about) && all(about$key %in% names(x)) && any(about$values %in% names(x))
}

#' Rows chosen from those of `template`, or a tibble if some came twice
#' @noRd
keep_rows <- function(x, template) {
  about <- about(template)
  x <- bare(x)
  if (isTRUE(about$joined)) return(dress(x, about, own_classes(template))) # vctrs is not done
  if (!has_columns(x, about)) return(x)
  keys <- keys_of(x, about$key)
  if (anyNA(keys, recursive = TRUE) || vctrs::vec_duplicate_any(keys)) return(x)
  dress(x, trim(about, keys), own_classes(template))
}

#' The rows of `template` one by one, with other columns; new labels are followed
#' @noRd
keep_columns <- function(x, template) {
  about <- about(template)
  x <- bare(x)
  if (!has_columns(x, about) || nrow(x) != nrow(template)) return(x)
  old <- as.list(template)
  new <- as.list(x)
  for (column in about$key) {
    if (identical(old[[column]], new[[column]])) next
    about <- if (column %in% names(about$named)) {
      relabel(about, column, as.character(old[[column]]), as.character(new[[column]]))
    }
    if (is.null(about)) return(x)
  }
  dress(x, about, own_classes(template))
}

#' Rows that may have come from elsewhere: only those of `template` keep the class
#' @noRd
keep_known <- function(x, template) {
  about <- about(template)
  if (!has_columns(x, about)) return(bare(x))
  new <- keys_of(x, about$key)
  old <- keys_of(template, about$key)
  known <- identical(lapply(new, typeof), lapply(old, typeof)) && all(vctrs::vec_in(new, old))
  if (known) keep_rows(x, template) else bare(x)
}

#' Key columns as a data frame; labels as text, whatever the user made of them
#' @noRd
keys_of <- function(x, key) {
  columns <- lapply(as.list(x)[key], function(column) {
    if (is.factor(column)) as.character(column)
    else if (is.numeric(column)) as.double(column)
    else column
  })
  vctrs::new_data_frame(columns, n = nrow(x))
}

#' The columns that tell cells apart
#' @noRd
cell_key <- function(about) intersect(names(about$cells), c("problem", about$key, "run"))

#' What is said about labels and cells of which no row is left is dropped; an empty tibble keeps
#' all, because vctrs makes one of every type
#' @noRd
trim <- function(about, keys) {
  if (nrow(keys) == 0) return(about)
  for (column in intersect(names(about$named), about$key)) {
    about$named[[column]] <- about$named[[column]][names(about$named[[column]]) %in% keys[[column]]]
  }
  if (!is.null(about$cells)) {
    by <- intersect(names(about$cells), about$key)
    kept <- vctrs::vec_in(keys_of(about$cells, by), vctrs::vec_unique(keys[by]))
    if (!all(kept)) about$cells <- about$cells[kept, , drop = FALSE]
  }
  about
}

#' Other labels, row by row: NULL unless each old one has one new one of its own
#' @noRd
relabel <- function(about, column, old, new) {
  pairs <- vctrs::vec_unique(vctrs::new_data_frame(list(old = old, new = new)))
  if (anyNA(pairs$new) || anyDuplicated(pairs$old) || anyDuplicated(pairs$new)) return(NULL)
  labels <- names(about$named[[column]])
  # What no row is left of makes way.
  present <- labels %in% pairs$old
  gone <- labels[!present & labels %in% pairs$new]
  about$named[[column]] <- about$named[[column]][!labels %in% gone]
  follow <- function(x) {
    at <- match(x, pairs$old)
    ifelse(is.na(at), x, pairs$new[at])
  }
  names(about$named[[column]]) <- follow(names(about$named[[column]]))
  if (column %in% names(about$cells)) {
    about$cells <- about$cells[!about$cells[[column]] %in% gone, , drop = FALSE]
    about$cells[[column]] <- follow(about$cells[[column]])
  }
  about
}

#' A result whose rows can be relied on, for the functions that compute from it: some ways to
#' change a tibble ask nobody
#' @noRd
check_result <- function(x, columns = character(), call = caller_env()) {
  about <- about(x)
  need_columns(x, c(about$key, columns), call)
  keys <- keys_of(x, about$key)
  cells <- about$cells
  by <- intersect(names(cells), about$key)
  strange <- vctrs::vec_duplicate_any(keys) ||
    (length(by) && !all(vctrs::vec_in(vctrs::vec_unique(keys[by]), keys_of(cells, by))))
  for (column in intersect(names(about$named), about$key)) {
    strange <- strange || !all(unique(keys[[column]]) %in% names(about$named[[column]]))
  }
  if (strange) {
    abort_dpts(paste("These rows are not those that the package made: some come twice, or belong",
                     "to nothing that was played."), c("dpts_error_rows", "dpts_error_input"), call)
  }
  x
}

need_columns <- function(x, columns, call = caller_env()) {
  gone <- setdiff(columns, names(x))
  if (length(gone)) {
    abort_dpts(sprintf("The column%s %s %s needed, and no longer there.",
                       if (length(gone) > 1) "s" else "",
                       paste0("`", gone, "`", collapse = ", "),
                       if (length(gone) > 1) "are" else "is"),
               "dpts_error_columns", call)
  }
}

#' A column of labels as a factor: its own levels, or the order in which they were made
#' @noRd
label_factor <- function(x, column) {
  value <- x[[column]]
  if (is.factor(value)) return(value)
  factor(value, levels = union(names(about(x)$named[[column]]), unique(value)))
}

#' Does the result hold several problems, side by side?
#' @noRd
has_problems <- function(x) "problem" %in% about(x)$key

#' The seeds that the rows come from
#' @noRd
seeds_of <- function(x) {
  seeds <- about(x)$cells$seed %||% shared(x, "seed")
  unique(seeds)
}

#' "1", "1 and 2": for a header
#' @noRd
words_seed <- function(x) {
  seeds <- format(seeds_of(x), scientific = FALSE, trim = TRUE)
  if (length(seeds) > 4) seeds <- c(seeds[1:3], sprintf("%d others", length(seeds) - 3))
  words_list(seeds)
}

#' One number where all rows have one seed
#' @noRd
one_seed <- function(x) {
  seeds <- seeds_of(x)
  if (length(seeds) == 1) seeds else NA_real_
}

# ---- base R ---------------------------------------------------------------------------------------

#' @export
`[.dpts_result` <- function(x, i, j, ..., drop = FALSE) {
  out <- NextMethod()
  if (is.data.frame(out)) keep_rows(out, x) else out
}

#' @export
`[<-.dpts_result` <- function(x, i, j, ..., value) {
  out <- NextMethod()
  keep_columns(out, x)
}

#' @export
`[[<-.dpts_result` <- function(x, i, j, ..., value) {
  out <- NextMethod()
  keep_columns(out, x)
}

#' @export
`$<-.dpts_result` <- function(x, name, value) {
  out <- NextMethod()
  keep_columns(out, x)
}

#' @export
`names<-.dpts_result` <- function(x, value) {
  out <- NextMethod()
  keep_columns(out, x)
}

#' @export
as.data.frame.dpts_result <- function(x, ...) {
  as.data.frame(bare(x), ...)
}

#' @exportS3Method tibble::as_tibble
as_tibble.dpts_result <- function(x, ...) {
  tibble::as_tibble(bare(x), ...)
}

#' Draw a result
#'
#' `plot()` draws what `autoplot()` makes of a result.
#'
#' @param x A result of the package.
#' @param ... Passed on to `autoplot()`.
#' @returns The plot, invisibly.
#' @family simulation
#' @examples
#' plot(dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_gaussian(), 1000, seed = 1))
#' @export
plot.dpts_result <- function(x, ...) {
  plot <- autoplot(x, ...)
  print(plot)
  invisible(plot)
}

# ---- dplyr ----------------------------------------------------------------------------------------

#' @exportS3Method dplyr::dplyr_reconstruct
dplyr_reconstruct.dpts_result <- function(data, template) {
  recall_joined(data) %||% keep_known(NextMethod(), template)
}

#' @exportS3Method dplyr::dplyr_row_slice
dplyr_row_slice.dpts_result <- function(data, i, ...) {
  keep_rows(NextMethod(), data)
}

#' @exportS3Method dplyr::dplyr_col_modify
dplyr_col_modify.dpts_result <- function(data, cols) {
  keep_columns(NextMethod(), data)
}

#' @exportS3Method dplyr::group_by
group_by.dpts_result <- function(.data, ...) {
  keep_columns(NextMethod(), .data)
}

#' @exportS3Method dplyr::ungroup
ungroup.dpts_result <- function(x, ...) {
  keep_columns(NextMethod(), x)
}

# ---- what the labels stand for ------------------------------------------------------------------

#' What the rows of a result belong to
#'
#' A result remembers what its labels stand for, even if they were changed: `policies()` gives the
#' policies, `dpts_problems()` the arms that they were played on.
#'
#' @param x A result of [dpts_simulate()], [dpts_recommend()], [dpts_tune()] or [dpts_reproduce()]; for
#'   `policies()` one of [dpts_privacy()] or [dpts_replay()], too.
#' @returns A list: policies (for [dpts_privacy()] perhaps guarantees) named by their labels in
#'   `policy`, or `arms` objects named by their labels in `problem`.
#' @family simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), list(a = policy_ts_beta(), b = policy_ucb1()),
#'                      100, seed = 1)
#' levels(sim$policy) <- c("Thompson", "UCB")
#' policies(sim)
#' dpts_problems(sim)
#' @export
policies <- function(x) {
  check_class(x, "dpts_result", "a result of the package")
  labels <- about(x)$named$policy
  if (is.null(labels)) abort_arg("x", "a result with a column `policy`", call = rlang::current_env())
  labels
}

#' @rdname policies
#' @export
dpts_problems <- function(x) {
  check_class(x, "dpts_result", "a result of the package")
  if (!is.null(about(x)$named$problem)) return(lapply(worlds_of(x), `[[`, "arms"))
  arms <- shared(x, "arms")
  if (inherits(arms, "dpts_arms")) arms <- stats::setNames(list(arms), arms_label(arms))
  # A replay's arms are the names in its log.
  ok <- is.list(arms) && all(vapply(arms, inherits, NA, "dpts_arms"))
  if (!ok) abort_arg("x", "a result that was played on arms", call = rlang::current_env())
  arms
}
