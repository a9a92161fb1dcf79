# What the results of the package share.
#
# A result is a tibble of class `dpts_result`, with one of its own in front. What its rows belong to is
# in its labels (R/result-label.R): the first label but `problem` carries what all rows have in common, and
# the runs. Where rows are about no policy (an audit's adversaries, a tuning's accountants) the column is
# text, and a label of its names is an attribute of the table: without it, rows have no header
# and are refused. Verbs that compute from a result look first whether its rows are still what the
# package made (check_result()), since dplyr and base R may have done anything to them.

# `columns`: A named list of columns, some of them labels.
# `label`: Of the names in the first column of the key, where it is text.
new_result <- function(columns, class, label = NULL) {
  out <- vctrs::new_data_frame(columns, n = length(columns[[1]]),
                               class = c(class, "dpts_result", "tbl_df", "tbl"))
  attr(out, "label") <- label
  out
}

own_classes <- function(x, root = "dpts_result") class(x)[seq_len(match(root, class(x), 0))]

# The table alone, labels as factors
bare <- function(x) {
  columns <- lapply(as.list(x), function(column) if (is_label(column)) plain_factor(column) else column)
  tibble::new_tibble(columns, nrow = nrow(x))
}

# The columns that together identify a row
result_key <- function(x) UseMethod("result_key")

# Those of them that are labels
label_columns <- function(x) intersect(c("problem", "policy", "design", "scenario"), result_key(x))

# The name of the column that carries what rows have in common, and its label; NULL if that was lost
carrier <- function(x) {
  for (name in names(x)) if (name != "problem" && is_label(.subset2(x, name))) return(name)
  if (is_label(attr(x, "label"))) intersect(c("accountant", "adversary", "estimator"), result_key(x))[1]
}

label_of <- function(x) {
  column <- carrier(x)
  own <- if (!is.null(column)) .subset2(x, column)
  if (is_label(own)) own else attr(x, "label")
}

# What all rows have in common, by name
shared <- function(x, name) label_shared(label_of(x), name)

# Columns as a data frame: labels as text, whatever the user made of them
keys_of <- function(x, key) {
  columns <- lapply(as.list(x)[key], function(column) {
    if (is.factor(column)) as.character(column) else if (is.numeric(column)) as.double(column) else column
  })
  vctrs::new_data_frame(columns, n = nrow(x))
}

# ---- is it still what it was? -------------------------------------------------------------------

# A result whose rows can be relied on
# `labels`: Must its labels say what they stand for?
check_result <- function(x, columns = character(), labels = FALSE) {
  checked_runs(x, columns, labels)
  x
}

# The runs behind the rows of a result that can be relied on; NULL: its labels have none
checked_runs <- function(x, columns = character(), labels = TRUE) {
  key <- result_key(x)
  need_columns(x, c(key, columns))
  if (labels) check_labels(x)
  if (vctrs::vec_duplicate_any(keys_of(x, key))) abort_rows("some come twice")
  if (!is.null(attr(label_of(x), "runs"))) runs_in(x, all = TRUE) # what labels do not say is not known
}

abort_rows <- function(why) {
  abort_dpts(sprintf("These rows are not those that the package made: %s.", why),
             c("dpts_error_rows", "dpts_error_input"))
}

check_labels <- function(x) {
  labels <- label_columns(x)
  for (column in if (length(labels)) labels else carrier(x) %||% "policy") {
    if (is_label(x[[column]]) || is_label(attr(x, "label"))) next
    abort_dpts(c(sprintf("The column `%s` does not say any more what its labels stand for.", column),
                 i = sprintf(paste("as.character() and factor() make a new column;",
                                   "`levels(x$%s) <- ` only renames."), column)),
               c("dpts_error_columns", "dpts_error_input"))
  }
}

need_columns <- function(x, columns) {
  gone <- setdiff(columns, names(x))
  if (length(gone)) {
    gone <- paste0("`", gone, "`")
    abort_dpts(cli::pluralize("The column{?s} {gone} {?is/are} needed, and no longer there."),
               "dpts_error_columns")
  }
}

# Has the table what its header speaks of?
is_whole <- function(x, columns = character()) {
  all(c(result_key(x), columns) %in% names(x)) && is_label(label_of(x)) &&
    all(vapply(as.list(x)[label_columns(x)], is_label, NA))
}

# Does the result hold several problems, side by side?
has_problems <- function(x) "problem" %in% names(x)

# ---- runs -----------------------------------------------------------------------------------------

# The runs behind the rows that are there. `all`: must each row belong to one?
runs_in <- function(x, all = FALSE) {
  runs <- labelled_runs(x)
  by <- intersect(names(runs), result_key(x))
  keys <- keys_of(runs, by)
  at <- vctrs::vec_match(keys_of(x, by), keys)
  if (all && anyNA(at)) abort_rows("some belong to no run that was played")
  vctrs::vec_slice(runs, vctrs::vec_duplicate_id(keys) %in% at)
}

# All runs that labels have: `problem` and the column that carries them as factors, what tells runs apart, and
# what is kept of them
labelled_runs <- function(x) {
  label <- label_of(x)
  runs <- attr(label, "runs")
  rows <- if (length(runs) == 1) runs[[1]] else vctrs::vec_rbind(!!!runs)
  level <- rep(seq_along(runs), vapply(runs, function(run) if (is.null(run)) 0L else nrow(run), 0L))
  policies <- list(structure(level, levels = levels(label), class = "factor"))
  rows <- vctrs::new_data_frame(c(as.list(rows), stats::setNames(policies, carrier(x))))
  if (is_label(x[["problem"]])) {
    ids <- vapply(attr(x$problem, "meaning"), meaning_id, "")
    rows <- vctrs::vec_rbind(!!!lapply(seq_along(ids), function(i) {
      own <- rows[rows$problem_id == ids[i], , drop = FALSE]
      own$problem <- structure(rep(i, nrow(own)), levels = levels(x$problem), class = "factor")
      own
    }))
  }
  rows
}

# The seeds that the rows come from
seeds_of <- function(x) shared(x, "seed") %||% unique(runs_in(x)$seed)

# "1", "1 and 2": for a header
words_seed <- function(x) {
  seeds <- number_text(seeds_of(x), scientific = FALSE, trim = TRUE)
  if (length(seeds) > 4) seeds <- c(seeds[1:3], sprintf("%d others", length(seeds) - 3))
  words_list(seeds)
}

# One number where all rows have one seed
one_seed <- function(x) {
  seeds <- seeds_of(x)
  if (length(seeds) == 1) seeds else NA_real_
}

# ---- base R and dplyr -----------------------------------------------------------------------------

#' @exportS3Method tibble::as_tibble
as_tibble.dpts_result <- function(x, ...) tibble::as_tibble(plain_rows(x), ...)

# Groups take a table's own class away: it is put back
stay <- function(out, like) {
  class(out) <- c(own_classes(like), setdiff(class(out), own_classes(like)))
  attr(out, "label") <- attr(like, "label")
  out
}

#' @export
`[.dpts_result` <- function(x, ...) {
  out <- NextMethod()
  if (is.data.frame(out)) stay(out, x) else out
}

#' @exportS3Method dplyr::dplyr_row_slice
dplyr_row_slice.dpts_result <- function(data, i, ...) stay(NextMethod(), data)

#' @exportS3Method dplyr::dplyr_col_modify
dplyr_col_modify.dpts_result <- function(data, cols) stay(NextMethod(), data)

#' @exportS3Method dplyr::group_by
group_by.dpts_result <- function(.data, ...) stay(NextMethod(), .data)

#' @exportS3Method dplyr::ungroup
ungroup.dpts_result <- function(x, ...) stay(NextMethod(), x)

# Rows that count others are no rows of a result.
#' @exportS3Method dplyr::count
count.dpts_result <- function(x, ...) plain_rows(NextMethod())

# Without all columns they are combinations of values, not rows of the result.
#' @exportS3Method dplyr::distinct
distinct.dpts_result <- function(.data, ..., .keep_all = FALSE) {
  out <- NextMethod()
  if (all(names(.data) %in% names(out))) out else plain_rows(out)
}

plain_rows <- function(x) {
  class(x) <- setdiff(class(x), own_classes(x))
  attr(x, "label") <- NULL
  x
}

#' @rdname tidy.dpts_simulation
#' @export
tidy.dpts_result <- function(x, conf.int = TRUE, conf.level = 0.95, ...) {
  check_dots_empty(...)
  check_flag(conf.int)
  check_number(conf.level, 0, 1, open = TRUE)
  found <- tidied(x, conf.level)
  interval <- if (conf.int) list(conf.low = found$lower, conf.high = found$upper)
  columns <- c(found[[1]], list(estimate = found$estimate, std.error = found$se), interval, found$more)
  out <- tibble::as_tibble(Filter(Negate(is.null), columns))
  if (is.null(found$bound)) out else as_bounds(out, estimate = found$bound)
}

# What tidy() says of a result: what identifies each estimate (a list), `estimate`, and `se`, `lower`, `upper`
# and `more` columns where there are some; `bound` where the estimate is an "upper" or a "lower" bound
tidied <- function(x, level) UseMethod("tidied")

#' Draw a result
#'
#' `plot()` draws what `autoplot()` makes of a result.
#'
#' @param x A result of the package.
#' @param ... Passed on to `autoplot()`.
#' @returns The plot, invisibly.
#' @template see_simulation
#' @examples
#' plot(dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_gaussian(), 1000, seed = 1))
#' @export
plot.dpts_result <- function(x, ...) {
  plot <- autoplot(x, ...)
  print(plot)
  invisible(plot)
}

# ---- put together ---------------------------------------------------------------------------------

#' Put results together
#'
#' `rbind()` joins results of one function that belong together: parts of a simulation from the jobs of a
#' cluster, more runs, more policies, more delays of a replay. `dplyr::bind_rows()` does, too, where the parts
#' are of one problem, or have a column `problem`.
#'
#' @details
#' The columns `policy` and `problem` are factors whose levels carry what they stand for (see
#' [policies()]), and what belongs to each run, such as its seed and its pulls. Rows that are chosen,
#' sorted, grouped, joined to other tables, saved or read keep that. Therefore:
#'
#' * two simulations of different problems (other arms, another horizon) are put side by side, with a
#'   first column `problem`: `rbind(easy = x, hard = y)` names the problems;
#' * mixing what differs is an error of class `dpts_error_join` that says what differs: one name for two
#'   different policies (also where only a helper function of a policy of your own was changed), one run with
#'   two seeds, another log, budget or level; for `rbind()` also a row that comes twice.
#'
#' What makes a new column, such as `as.character()` or `factor()`, leaves the meaning behind: such rows
#' can be summarised and drawn, and [pulls()] and its like refuse them.
#'
#' `rbind()` sorts the rows by problem and policy, `bind_rows()` leaves them as they are.
#'
#' Answers, such as those of [evidence()], [verdict()] and [effects()][effects.dpts_simulation], are plain
#' tables. `rbind()` puts their rows together if the same was asked (level, error, margin and so on). It knows
#' nothing of their policies, seeds and problems, and keeps a row that comes twice: put the results together,
#' and ask then.
#'
#' @param ... Results of one function of the package, such as [dpts_simulate()].
#' @param deparse.level Not used.
#' @returns A result of the same class, with the rows of all.
#' @section Errors:
#' Results that do not belong together raise an error of class `dpts_error_join`.
#' @template see_simulation
#' @examples
#' arms <- arms_bernoulli(c(0.6, 0.4))
#' one <- dpts_simulate(arms, policy_ucb1(), 100, runs = 1:5, seed = 1)
#' two <- dpts_simulate(arms, policy_ucb1(), 100, runs = 6:10, seed = 1)
#' all <- dpts_simulate(arms, policy_ucb1(), 100, runs = 10, seed = 1)
#' identical(rbind(one, two), all)
#'
#' # two problems
#' hard <- dpts_simulate(arms_bernoulli(c(0.52, 0.48)), policy_ucb1(), 100, seed = 1)
#' tidy(rbind(easy = all, hard = hard))
#' @export
rbind.dpts_result <- function(..., deparse.level = 1) {
  parts <- Filter(Negate(is.null), list(...))
  for (part in parts) {
    check_class(part, "dpts_result", "results of one function of the package", "...")
    check_labels(part)
  }
  bind_parts(parts, "dpts_result", rlang::current_env(), function(parts) {
    like <- parts[[1]]
    parts <- before_join(like, parts)
    rows <- vctrs::vec_rbind(!!!unname(lapply(parts, tibble::as_tibble)))
    labels <- Filter(Negate(is.null), lapply(parts, attr, "label"))
    attr(like, "label") <- if (length(labels)) Reduce(join_labels, labels)
    after_join(stay(rows, like))
  })
}

# Parts of one kind as one. `root`: the last of the classes that make a kind; `call`: the user's, which an
# error names where they do not belong together; `join`: what puts several together
bind_parts <- function(parts, root, call, join) {
  rlang::try_fetch({
    for (part in parts) {
      if (!identical(own_classes(part, root), own_classes(parts[[1]], root))) {
        abort_join("They are results of different kinds.", hint_tibble)
      }
    }
    if (length(parts) == 1) parts[[1]] else join(parts)
  }, dpts_error_join = function(cnd) {
    cnd$call <- call
    raise_again(cnd)
  })
}

# Parts as they can be joined
# `like`: The first of them.
before_join <- function(like, parts) UseMethod("before_join")

#' @export
before_join.dpts_result <- function(like, parts) parts

# The joined rows, sorted. No row may come twice; where rows are averages over runs, a class may average anew.
after_join <- function(x) UseMethod("after_join")

#' @export
after_join.dpts_result <- function(x) {
  key <- result_key(x)
  keys <- keys_of(x, key)
  twice <- which(duplicated(keys))
  if (length(twice)) {
    abort_join(sprintf("%s comes twice%s.", words_row(keys[twice[1], , drop = FALSE]),
                       if (length(twice) > 1) {
                         sprintf(", and %s more", count_noun(length(twice) - 1, "row", "rows"))
                       } else ""),
               "Parts must hold different runs, policies or rounds.")
  }
  problem <- if (has_problems(x)) as.integer(x$problem) else rep(1, nrow(x))
  x[order(problem, match(x[[carrier(x)]], levels(label_of(x)))), ]
}

# "Policy \"a\", delay 0, run 1"
words_row <- function(row) {
  values <- vapply(row, function(value) {
    if (is.numeric(value)) label_count(value) else sprintf("\"%s\"", value)
  }, "")
  text <- paste(names(row), values, collapse = ", ")
  paste0(toupper(substring(text, 1, 1)), substring(text, 2))
}

# ---- what the labels stand for ------------------------------------------------------------------

#' What the rows of a result belong to
#'
#' `policies()` says which policies and arms the rows of a result belong to.
#' The labels of a result carry what they stand for, even if they were renamed: `policies()` gives the
#' policies, `dpts_problems()` the arms that they were run on.
#'
#' @param x A result of [dpts_simulate()], [dpts_recommend()], [dpts_tune()] or [dpts_reproduce()]; for
#'   `policies()` one of [dpts_privacy()], [dpts_replay()] or [dpts_plan()], too.
#' @template dots
#' @returns A list: policies (for [dpts_privacy()] perhaps guarantees) named by their labels in
#'   `policy`, or `arms` objects named by their labels in `problem`, of the rows that are there.
#' @template see_simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), list(a = policy_ts_beta(), b = policy_ucb1()),
#'                      100, seed = 1)
#' levels(sim$policy) <- c("Thompson", "UCB")
#' policies(sim)
#' dpts_problems(sim)
#' @export
policies <- function(x, ...) {
  check_dots_empty(...)
  check_class(x, "dpts_result", "a result of the package")
  column <- intersect(c("policy", "design"), names(x))
  if (!length(column)) abort_arg("x", "a result with a column `policy`")
  check_labels(x)
  things_of(droplevels(x[[column[1]]]))
}

#' @rdname policies
#' @export
dpts_problems <- function(x, ...) {
  check_dots_empty(...)
  check_class(x, "dpts_result", "a result of the package")
  if (is_label(x[["problem"]])) return(lapply(things_of(droplevels(x$problem)), `[[`, "arms"))
  arms <- shared(x, "problem")$arms %||% shared(x, "arms")
  if (inherits(arms, "dpts_arms")) arms <- stats::setNames(list(arms), describe_thing(arms))
  # A replay's arms are the names in its log.
  ok <- is.list(arms) && all(vapply(arms, inherits, NA, "dpts_arms"))
  if (!ok) abort_arg("x", "a result of simulated arms: those of a log are names alone")
  arms
}
