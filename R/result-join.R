# Results put together, by rbind(), dplyr::bind_rows() or whatever else binds rows by vctrs.
#
# vctrs asks for the common type of two results (join_types), casts each to it (cast_result) and
# hands the rows back (vec_restore). What they say about their rows is joined in the type: labels
# must stand for the same thing in both, cells must agree, all else must be equal. Two problems
# get a column `problem`. That no row comes twice is seen when the rows are there.

# ---- are two things the same? -----------------------------------------------------------------

#' Are two things of a result the same, in what decides its numbers?
#'
#' A policy of your own kind that is not the same to [identical()] after [saveRDS()] needs a
#' method.
#' @noRd
same_thing <- function(x, y) UseMethod("same_thing")

#' @export
same_thing.default <- function(x, y) identical(x, y)

#' @export
same_thing.dpts_policy <- function(x, y) {
  identical(class(x), class(y)) && same_all(policy_definition(x), policy_definition(y))
}

#' Arms, some of which are functions
#' @export
#' @noRd
same_thing.dpts_arms <- function(x, y) inherits(y, "dpts_arms") && same_all(x, y)

#' Functions by what they do: their code, and the variables that they take from where they were made.
#' Where that is does not matter: saveRDS() makes it anew.
#' @export
#' @noRd
same_thing.function <- function(x, y) {
  is.function(y) && identical(x, y, ignore.environment = TRUE) && same_all(captured(x), captured(y))
}

#' What a function took along, functions by their code alone
#' @noRd
captured <- function(f) {
  env <- environment(f)
  if (is.null(env) || identical(env, globalenv()) || isNamespace(env)) return(list())
  used <- intersect(sort(all.names(body(f), unique = TRUE)), ls(env))
  lapply(stats::setNames(nm = used), function(name) {
    value <- get(name, env)
    if (is.function(value)) list(formals(value), body(value)) else value
  })
}

#' The world that rows were played in: arms, horizon and what else decides what happens
#' @export
#' @noRd
same_thing.dpts_problem <- function(x, y) same_all(x, y)

#' @export
same_thing.dpts_world <- function(x, y) same_all(x, y)

#' @export
same_thing.dpts_experiment <- function(x, y) same_all(experiment_data(x), experiment_data(y))

#' What decides the numbers of an experiment. Its claims are functions, made anew each time.
#' @noRd
experiment_data <- function(x) unclass(x)[setdiff(names(x), c("claims", "open", "runs"))]

#' @export
same_thing.list <- function(x, y) same_all(x, y)

same_all <- function(x, y) {
  x <- unclass(x)
  y <- unclass(y)
  if (!is.list(y) || !identical(names(x), names(y)) || length(x) != length(y)) return(FALSE)
  for (i in seq_along(x)) if (!same_thing(x[[i]], y[[i]])) return(FALSE)
  TRUE
}

same_thing_index <- function(x, table) {
  for (i in seq_along(table)) if (same_thing(x, table[[i]])) return(i)
  NA_integer_
}

#' A thing in a few words, for a message
#' @noRd
describe_thing <- function(x) {
  if (inherits(x, c("dpts_policy", "dpts_budget"))) return(format(x)[1])
  if (inherits(x, "dpts_problem")) return(world_label(x, horizon = TRUE))
  if (inherits(x, "dpts_arms")) return(arms_label(x))
  if (inherits(x, "dpts_experiment")) return(sprintf("\"%s\"", x$id))
  if (is.character(x) && length(x) == 1) return(sprintf("\"%s\"", x))
  if (is.atomic(x) && length(x) == 1) return(label_count(x))
  NULL
}

# ---- the words for what does not fit -------------------------------------------------------------

abort_join <- function(why, hint, call = NULL) {
  rlang::abort(
    c("These results do not belong together.", x = why, i = hint),
    class = c("dpts_error_join", "dpts_error_input", "dpts_error"), call = call
  )
}

hint_tibble <- "To stack them all the same, make tibbles of them first: `tibble::as_tibble()`."

abort_differs <- function(name, x, y) {
  if (inherits(x, "dpts_experiment") && inherits(y, "dpts_experiment")) {
    x <- experiment_data(x)
    y <- experiment_data(y)
  }
  words <- c(describe_thing(x), describe_thing(y))
  if (is.list(x) && is.list(y) && (length(words) < 2 || words[1] == words[2])) {
    # the first part that differs says more than the whole
    for (part in intersect(names(x), names(y))) {
      if (!same_thing(x[[part]], y[[part]])) return(abort_differs(part, x[[part]], y[[part]]))
    }
  }
  abort_join(
    sprintf("They differ in `%s`%s.", name,
            if (length(words) == 2 && words[1] != words[2]) {
              sprintf(": %s in one, %s in the other", words[1], words[2])
            } else ""),
    hint_tibble
  )
}

# ---- what is said about the rows of both -------------------------------------------------------

join_about <- function(x, y) {
  for (name in union(names(x$shared), names(y$shared))) {
    if (!same_thing(x$shared[[name]], y$shared[[name]])) {
      abort_differs(name, x$shared[[name]], y$shared[[name]])
    }
  }
  matched <- match_problems(x, y)
  x <- matched$x
  y <- matched$y
  about <- x
  problems <- union_problems(x$named$problem, y$named$problem)
  several <- length(problems) > 1 || "problem" %in% c(x$key, y$key)
  about$key <- c(if (several) "problem", setdiff(x$key, "problem"))
  if (!identical(about$key, c(if (several) "problem", setdiff(y$key, "problem")))) {
    abort_join("Their rows are identified by other columns.", hint_tibble)
  }
  for (column in setdiff(names(x$named), "problem")) {
    about$named[[column]] <- join_labels(x$named[[column]], y$named[[column]], column)
  }
  if (!is.null(problems)) about$named$problem <- problems
  about$cells <- join_cells(x, y, about)
  about$joined <- TRUE
  about
}

#' The problems of y by the labels that x has for them, and new ones by labels of their own: what
#' looks alike is told apart by its horizon, or by a number
#' @noRd
match_problems <- function(x, y) {
  problems <- y$named$problem
  if (is.null(problems)) return(list(x = x, y = y))
  at <- vapply(problems, same_thing_index, 0L, table = x$named$problem)
  clash <- function() is.na(at) & names(y$named$problem) %in% names(x$named$problem)
  if (any(clash())) {
    if ("problem" %in% x$key && "problem" %in% y$key) {
      abort_join(sprintf("Problem \"%s\" is not the same in both.", names(problems)[clash()][1]),
                 "Give the problems different names.")
    }
    if (!"problem" %in% x$key) x <- rename_problems(x, world_label(x$named$problem[[1]], TRUE))
    if (!"problem" %in% y$key) y <- rename_problems(y, world_label(y$named$problem[[1]], TRUE))
  }
  new <- names(y$named$problem)
  while (any(clash())) {
    number <- length(x$named$problem) + 1
    new[clash()] <- sprintf("%s (%d)", new[clash()], number)
    y <- rename_problems(y, new)
  }
  new[!is.na(at)] <- names(x$named$problem)[stats::na.omit(at)]
  list(x = x, y = rename_problems(y, new))
}

rename_problems <- function(about, labels) {
  if (!is.null(about$cells)) {
    about$cells$problem <- labels[match(about$cells$problem, names(about$named$problem))]
  }
  names(about$named$problem) <- labels
  about
}

union_problems <- function(x, y) c(x, y[setdiff(names(y), names(x))])

join_labels <- function(x, y, column) {
  for (label in intersect(names(x), names(y))) {
    if (!same_thing(x[[label]], y[[label]])) {
      words <- c(describe_thing(x[[label]]), describe_thing(y[[label]]))
      differ <- length(words) == 2 && words[1] != words[2]
      abort_join(
        sprintf("The %s \"%s\" is not the same in both%s.", column, label,
                if (differ) paste0(": `", words[1], "` and `", words[2], "`") else ""),
        sprintf("Give it another name in one of them, by `levels(x$%s)`.", column)
      )
    }
  }
  c(x, y[setdiff(names(y), names(x))])
}

#' The cells of both, each once, in the order of the labels
#' @noRd
join_cells <- function(x, y, about) {
  if (is.null(x$cells)) return(NULL)
  by <- cell_key(x)
  at <- vctrs::vec_match(keys_of(y$cells, by), keys_of(x$cells, by))
  both <- which(!is.na(at))
  if ("seed" %in% names(x$cells)) {
    other <- both[x$cells$seed[at[both]] != y$cells$seed[both]]
    if (length(other)) {
      row <- y$cells[other[1], ]
      abort_join(
        sprintf("%s was played with seed %s and with seed %s.", words_row(row, by),
                format(x$cells$seed[at[other[1]]]), format(row$seed)),
        "Give the runs of one of them other numbers: `runs = run_range(11, 20)`."
      )
    }
  }
  if (isTRUE(x$averages) && length(both)) {
    abort_join(paste(words_row(y$cells[both[1], ], by), "comes twice."),
               "Parts must hold different runs or candidates.")
  }
  cells <- vctrs::vec_rbind(x$cells, y$cells[is.na(at), , drop = FALSE])
  order <- lapply(intersect(names(about$named), names(cells)), function(column) {
    match(cells[[column]], names(about$named[[column]]))
  })
  if (length(order)) cells[do.call(base::order, order), , drop = FALSE] else cells
}

#' "Run 1 of policy \"a\"", "Policy \"a\", delay 0, run 1"
#' @noRd
words_row <- function(row, by) {
  values <- vapply(by, function(column) {
    value <- row[[column]]
    if (is.numeric(value)) label_count(value) else sprintf("\"%s\"", value)
  }, "")
  text <- paste(by, values, collapse = ", ")
  paste0(toupper(substring(text, 1, 1)), substring(text, 2))
}

# ---- vctrs ------------------------------------------------------------------------------------------

#' The common type of two results
#' @noRd
join_types <- function(x, y, ..., x_arg = "", y_arg = "") {
  # Both ends of the chain of classes must be the same: a reproduction is no simulation.
  if (!identical(own_classes(x), own_classes(y))) {
    abort_join("They are results of different kinds.", hint_tibble)
  }
  about <- join_about(about(x), about(y))
  columns <- vctrs::tib_ptype2(bare_type(x), bare_type(y), ...)
  if ("problem" %in% about$key) columns <- add_problem(columns, character(), integer())
  dress(columns, about, own_classes(x))
}

# While rows are bound, the number of each row's problem goes along, so that names given by
# `.id = "problem"` or a column of the user's can be the problems' labels. It comes last, since vctrs
# counts columns when it fills in `.id`.
PROBLEM_NUMBER <- "..problem"

add_problem <- function(columns, label, number) {
  columns <- as.list(columns)
  columns$problem <- columns$problem %||% label
  columns[[PROBLEM_NUMBER]] <- NULL
  columns[[PROBLEM_NUMBER]] <- number
  tibble::new_tibble(columns[c("problem", setdiff(names(columns), "problem"))], nrow = length(number))
}

bare_type <- function(x) {
  x <- bare(x)
  if (is.factor(x[["problem"]])) x$problem <- as.character(x$problem)
  class(x) <- c("tbl_df", "tbl", "data.frame")
  attr(x, "groups") <- NULL
  x
}

cast_result <- function(x, to, ..., x_arg = "", to_arg = "") {
  own <- about(x)
  about <- about(to)
  if (!isTRUE(about$joined)) {
    # Rows that are put into another result must belong to it.
    join_about(about, own)
  }
  data <- bare_type(x)
  if ("problem" %in% about$key && !PROBLEM_NUMBER %in% names(data)) {
    at <- vapply(own$named$problem, same_thing_index, 0L, table = about$named$problem)
    number <- if ("problem" %in% own$key) at[match(data$problem, names(own$named$problem))] else
      rep(at, nrow(data))
    if ("problem" %in% own$key) data$problem <- names(about$named$problem)[number]
    data <- add_problem(data, names(about$named$problem)[number], unname(number))
  }
  dress(vctrs::tib_cast(data, bare(to), ...), about, own_classes(to))
}

#' @exportS3Method vctrs::vec_restore
vec_restore.dpts_result <- function(x, to, ...) {
  about <- about(to)
  if (!isTRUE(about$joined)) return(keep_rows(x, to))
  x <- bare(x)
  # vctrs passes types, and rows that are not filled in yet, by here as well.
  if (!all(about$key %in% names(x)) || nrow(x) == 0 ||
      anyNA(as.list(x)[about$key], recursive = TRUE)) {
    return(dress(x, about, own_classes(to)))
  }
  finish_join(x, about, own_classes(to))
}

finish_join <- function(x, about, classes) {
  about$joined <- NULL
  number <- x[[PROBLEM_NUMBER]]
  x[[PROBLEM_NUMBER]] <- NULL
  out <- name_problems(x, about, classes, number)
  out <- settle_join(out)
  remember_joined(out, number)
  out
}

#' The problems by their own labels, or by those that the user gave if they tell them apart
#' @noRd
name_problems <- function(x, about, classes, number) {
  if (is.null(number)) return(dress(x, about, classes))
  pairs <- unique(data.frame(number, given = as.character(x$problem)))
  labels <- names(about$named$problem)
  if (!anyDuplicated(pairs$number) && !anyDuplicated(pairs$given)) {
    labels[pairs$number] <- pairs$given
  }
  about <- rename_problems(about, labels)
  x$problem <- factor(labels[number], labels[sort(unique(number))])
  dress(x, about, classes)
}

#' The last step, when the rows are known. No row may come twice; where rows are averages over
#' runs, a class may average anew.
#' @noRd
settle_join <- function(x) UseMethod("settle_join")

#' @export
settle_join.dpts_result <- function(x) {
  key <- about(x)$key
  keys <- keys_of(x, key)
  twice <- which(duplicated(keys))
  if (length(twice)) {
    abort_join(sprintf("%s%s.", words_row(keys[twice[1], , drop = FALSE], key),
                       if (length(twice) > 1) {
                         sprintf(" comes twice, and %s more", count_noun(length(twice) - 1, "row", "rows"))
                       } else " comes twice"),
               "Parts must hold different runs, policies or rounds.")
  }
  attr(x, "about") <- trim(about(x), keys)
  x
}

# dplyr::bind_rows() ends with dplyr_reconstruct(), which takes all attributes off the joined rows
# and knows the first part alone. They are recognised by their key columns, the very same vectors.
last_join <- new.env(parent = emptyenv())

remember_joined <- function(x, number) {
  last_join$columns <- as.list(x)[setdiff(about(x)$key, "problem")]
  last_join$result <- list(about = about(x), classes = own_classes(x), number = number)
}

#' `data` as the result that was joined last, if it is that; else NULL
#' @noRd
recall_joined <- function(data) {
  columns <- last_join$columns
  same <- !is.null(columns) && all(names(columns) %in% names(data)) &&
    all(vapply(names(columns), function(name) {
      rlang::is_reference(columns[[name]], .subset2(data, name))
    }, NA))
  if (!same) return(NULL)
  result <- last_join$result
  last_join$columns <- last_join$result <- NULL
  # By now `.id` may have filled in the problems' labels.
  name_problems(bare(data), result$about, result$classes, result$number)
}

# ---- rbind ------------------------------------------------------------------------------------------

#' Put results together
#'
#' `rbind()` and `dplyr::bind_rows()` join results of one function that belong together: parts of a
#' simulation that the jobs of a cluster played, more runs, more policies, more delays of a replay.
#' What belongs to each run, such as its pulls, is kept.
#'
#' @details
#' A result knows what its rows belong to: the problem, the policy (its definition, not only its
#' name), the seed, the run, the log. Therefore:
#'
#' * two simulations of different problems (other arms, another horizon) stand side by side, with a
#'   first column `problem`. `rbind(easy = x, hard = y)` and
#'   `bind_rows(list(easy = x, hard = y), .id = "problem")` name the problems;
#' * one name for two different policies, a row that comes twice, one run played with two seeds, or
#'   anything else that would mix what differs (another log, budget or level) is an error of
#'   class `dpts_error_join` that says what differs.
#'
#' Functions that choose, sort or group rows, add columns or change labels keep the class. If rows no longer
#' say what they belong to (a key column is gone or was changed, or a row was repeated), the result is a
#' plain tibble, as it is after [tibble::as_tibble()].
#'
#' `rbind()` sorts the rows by problem and policy, `bind_rows()` leaves them as they are.
#'
#' @param ... Results of one function of the package, such as [dpts_simulate()].
#' @param deparse.level Not used.
#' @returns A result of the same class, with the rows of all.
#' @section Errors:
#' Results that do not belong together raise an error of class `dpts_error_join`.
#' @family simulation
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
  call <- rlang::current_env()
  for (part in parts) {
    check_class(part, "dpts_result", "results of one function of the package", "...", call)
  }
  if (length(parts) == 1) return(parts[[1]])
  parts <- unname(label_parts(parts))
  out <- rlang::try_fetch(vctrs::vec_rbind(!!!parts), dpts_error_join = function(cnd) {
    cnd$call <- call
    rlang::cnd_signal(cnd)
  })
  if (!inherits(out, "dpts_result")) abort_join("They are results of different kinds.", hint_tibble, call)
  columns <- intersect(c("problem", names(about(out)$named)), about(out)$key)
  if (length(columns) == 0) return(out)
  out[do.call(order, lapply(columns, function(column) label_factor(out, column))), ]
}

#' The names of parts are those of their problems
#' @noRd
label_parts <- function(parts) {
  named <- names(parts) %||% rep("", length(parts))
  for (i in which(nzchar(named))) {
    own <- about(parts[[i]])
    if (is.null(own$named$problem) || "problem" %in% own$key) next
    attr(parts[[i]], "about") <- rename_problems(own, named[i])
  }
  parts
}

# The classes that vctrs may join: its dispatch looks at the first class alone.

#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_simulation.dpts_simulation <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_simulation.dpts_simulation <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_simulation_summary.dpts_simulation_summary <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_simulation_summary.dpts_simulation_summary <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_privacy.dpts_privacy <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_privacy.dpts_privacy <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_tuning.dpts_tuning <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_tuning.dpts_tuning <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_recommendation.dpts_recommendation <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_recommendation.dpts_recommendation <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_replay.dpts_replay <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_replay.dpts_replay <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_replay_summary.dpts_replay_summary <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_replay_summary.dpts_replay_summary <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_ope.dpts_ope <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_ope.dpts_ope <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_reproduction.dpts_reproduction <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_reproduction.dpts_reproduction <- cast_result
#' @exportS3Method vctrs::vec_ptype2
vec_ptype2.dpts_audit.dpts_audit <- join_types
#' @exportS3Method vctrs::vec_cast
vec_cast.dpts_audit.dpts_audit <- cast_result
