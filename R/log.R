# Logged data: one row per event, checked once and put into the form that the replay driver
# and the estimators read.

#' @returns A list: `n`, `k`, `arms` (labels in order), `arm` (from 0), `reward`, `pool`,
#'   `pool_start`, `pool_arms` (as in src/drive_replay.h), `size` (of each event's pool),
#'   `propensity`, `uniform` (are propensities uniform over pools?), `assumed` (for want
#'   of a column?)
#' @noRd
read_log <- function(log, call = caller_env()) {
  check_given(log, "log", call)
  if (!is.data.frame(log)) abort_arg("log", "a data frame with one row per event", log, call)
  for (column in c("arm", "reward")) {
    if (!column %in% names(log)) abort_log(sprintf("have a column `%s`", column), call)
  }
  n <- nrow(log)
  if (n == 0) abort_log("hold events; it has no rows", call)
  for (column in intersect(log_columns, names(log))) {
    if (length(log[[column]]) != n) {
      abort_log(sprintf("hold one value an event in `%s`, not a matrix or a data frame", column), call)
    }
  }
  reward <- log_numbers(log[["reward"]], "reward", 0, 1, FALSE, call)
  pools <- log_pools(log[["pool"]], call)
  arms <- log_arms(log[["arm"]], pools, call)
  arm <- match_arms(log[["arm"]], arms) - 1L
  out <- list(n = n, k = length(arms), arms = arms, arm = arm, reward = reward)
  if (is.null(pools)) {
    out$size <- rep_len(length(arms), n)
  } else {
    out <- c(out, index_pools(pools, arms, call))
    misses <- .Call(C_pool_misses, arm, out$pool, out$pool_start, out$pool_arms)
    if (misses[1] > 0) {
      abort_log(sprintf(
        "show only arms of their pool; row %s shows arm %s, which was not on offer (%s row%s so)",
        format(misses[2]), format(log[["arm"]][misses[2]]), format(misses[1]),
        if (misses[1] > 1) "s" else ""
      ), call)
    }
    out$size <- diff(out$pool_start)[out$pool + 1L]
  }
  out$assumed <- is.null(log[["propensity"]])
  if (out$assumed) {
    out$propensity <- 1 / out$size
    out$uniform <- TRUE
    check_looks_uniform(out, call)
  } else {
    out$propensity <- log_numbers(log[["propensity"]], "propensity", 0, 1, c(TRUE, FALSE), call)
    out$uniform <- max(abs(out$propensity * out$size - 1)) < 1e-6
  }
  out
}

#' Columns with a meaning of their own, which are no contexts
#' @noRd
log_columns <- c("arm", "reward", "pool", "propensity")

abort_log <- function(must, call, arg = "log") {
  abort_dpts(sprintf("`%s` must %s.", arg, must), c("dpts_error_log", "dpts_error_input"), call,
             arg = arg)
}

#' A column of numbers inside an interval; the error names the first bad row
#' @noRd
log_numbers <- function(x, name, lower, upper, open, call) {
  what <- words_number("numbers", lower, upper, open)
  if (is.logical(x) && !anyNA(x)) x <- x + 0
  if (!is.numeric(x) || is.object(x)) {
    abort_log(sprintf("hold %s in `%s`, not %s", what, name, describe(x)), call)
  }
  open <- rep_len(open, 2)
  bad <- is.na(x) | (if (open[1]) x <= lower else x < lower) | x > upper
  if (any(bad)) {
    at <- which(bad)[1]
    abort_log(sprintf("hold %s in `%s`; row %d has %s (%d row%s so)", what, name, at,
                      format(x[at]), sum(bad), if (sum(bad) > 1) "s" else ""), call)
  }
  as.double(x)
}

#' A list column as its distinct vectors and the number of each event's
#' @noRd
log_pools <- function(pool, call) {
  if (is.null(pool)) return(NULL)
  if (!is.list(pool)) {
    abort_log(sprintf("hold vectors of arms in the list column `pool`, not %s%s", describe(pool),
                      if (is.character(pool)) "; strsplit() makes a list of text" else ""), call)
  }
  ids <- .Call(C_pool_ids, unclass(pool))
  distinct <- pool[ids$first]
  bad <- which(!vapply(distinct, function(p) {
    is.atomic(p) && length(p) > 0 && !anyNA(p) && !anyDuplicated(p)
  }, NA))
  if (length(bad)) {
    abort_log(sprintf("hold vectors of distinct arms in `pool`; row %s has %s",
                      format(ids$first[bad[1]]), describe(distinct[[bad[1]]])), call)
  }
  list(id = ids$id, distinct = unname(distinct))
}

#' The arms in order: levels of a factor, else the sorted values of arms and pools
#' @noRd
log_arms <- function(arm, pools, call) {
  if (!is.atomic(arm) || anyNA(arm)) {
    abort_log(sprintf("name arms in `arm` (integers, strings or a factor) without NA, not %s",
                      if (is.atomic(arm)) sprintf("NA in row %d", which(is.na(arm))[1])
                      else describe(arm)), call)
  }
  offered <- if (!is.null(pools)) {
    unique(unlist(lapply(pools$distinct, function(p) if (is.factor(p)) as.character(p) else p)))
  }
  if (is.factor(arm)) {
    strange <- setdiff(as.character(offered), levels(arm))
    if (length(strange)) {
      abort_log(sprintf("offer only levels of `arm` in `pool`, not %s", strange[1]), call)
    }
    return(levels(arm))
  }
  if (is.numeric(arm) && is.character(offered)) {
    offered <- suppressWarnings(as.numeric(offered)) # numbers as text, from strsplit() for one
    if (anyNA(offered)) abort_log("name arms alike in `arm` and `pool`", call)
  }
  if (is.numeric(arm)) sort(unique(c(arm, offered))) else
    sort(unique(c(as.character(arm), as.character(offered))), method = "radix")
}

match_arms <- function(x, arms) {
  if (is.factor(x) || !is.numeric(arms)) x <- as.character(x)
  if (is.numeric(arms)) x <- as.numeric(x)
  match(x, arms)
}

index_pools <- function(pools, arms, call) {
  members <- lapply(pools$distinct, function(p) match_arms(p, arms) - 1L)
  list(pool = pools$id, pool_start = c(0L, cumsum(lengths(members))),
       pool_arms = unlist(members))
}

#' How often each arm was on offer, and expected if the logger chose uniformly
#' @noRd
arm_counts <- function(log) {
  shown <- tabulate(log$arm + 1L, log$k)
  if (is.null(log$pool)) {
    return(list(shown = shown, offered = rep(log$n, log$k), expected = rep(log$n / log$k, log$k)))
  }
  times <- tabulate(log$pool + 1L, length(log$pool_start) - 1)
  size <- diff(log$pool_start)
  per <- rep(seq_along(size), size)
  total <- function(x) {
    sums <- rowsum(x[per], log$pool_arms)
    out <- numeric(log$k)
    out[as.integer(rownames(sums)) + 1L] <- sums
    out
  }
  list(shown = shown, offered = total(times), expected = total(times / size))
}

#' Without propensities a log is taken as uniform, unless its counts say otherwise
#' @noRd
check_looks_uniform <- function(log, call) {
  counts <- arm_counts(log)
  counts <- lapply(counts, `[`, counts$offered > 0)
  # The tails of a count are at most those of a binomial of the same mean (Hoeffding 1956), so that
  # a log which is uniform fails with a chance of at most 1e-9.
  tail <- function(x, lower) {
    stats::pbinom(x, counts$offered, counts$expected / counts$offered, lower.tail = lower)
  }
  least <- min(tail(counts$shown, TRUE), tail(counts$shown - 1, FALSE))
  if (2 * length(counts$shown) * least < 1e-9) {
    abort_log(paste("have a column `propensity`, the chance with which each arm was shown:",
                    "the arms' counts are not those of a logger that chose uniformly"), call)
  }
}

warn_unseen <- function(log, call = caller_env()) {
  counts <- arm_counts(log)
  unseen <- counts$shown == 0 & counts$offered > 0
  if (any(unseen)) {
    rlang::warn(sprintf(
      "%d of %d arms on offer were never shown (%s): the log knows nothing about them.",
      sum(unseen), sum(counts$offered > 0),
      paste(utils::head(log$arms[unseen], 5), collapse = ", ")
    ), class = c("dpts_warning_overlap", "dpts_warning"), call = call)
  }
}

# ---- contexts -------------------------------------------------------------------------

#' The contexts as a matrix with one column per event, or `NULL`
#'
#' @param context A formula, names of columns, one prefix of names, or `NULL` for the
#'   columns whose names start with "context".
#' @noRd
log_contexts <- function(log, context, call) {
  if (inherits(context, "formula")) return(formula_contexts(log, context, call))
  if (is.null(context)) {
    columns <- grep("^context", names(log), value = TRUE)
    if (length(columns) == 0) return(NULL)
  } else {
    if (!is.character(context) || length(context) == 0 || anyNA(context) ||
        !all(nzchar(context))) {
      abort_arg("context", "a formula, names of columns, or a prefix of such names", context, call)
    }
    columns <- if (length(context) == 1 && !context %in% names(log)) {
      setdiff(names(log)[startsWith(names(log), context)], log_columns)
    } else context
    check_no_context(columns, call)
    gone <- setdiff(columns, names(log))
    if (length(columns) == 0 || length(gone)) {
      abort_log(sprintf("have the columns of `context`; there is none called %s",
                        paste0("\"", if (length(gone)) gone[1] else context, "\"",
                               if (!length(gone)) " or starting so")), call)
    }
  }
  d <- length(columns)
  values <- matrix(0, d, nrow(log))
  for (i in seq_len(d)) {
    x <- log[[columns[i]]]
    if (is.logical(x)) x <- x + 0
    if (!is.numeric(x) || is.object(x) || length(x) != nrow(log)) {
      abort_log(sprintf("hold one number per event in `%s`, not %s; a formula takes factors, too",
                        columns[i], describe(x)), call)
    }
    values[i, ] <- x
  }
  check_context_values(values, columns, call)
}

#' A policy that saw these would know what it is to choose or to predict
#' @noRd
check_no_context <- function(names, call) {
  gone <- intersect(names, log_columns)
  if (length(gone)) {
    abort_arg("context", sprintf("known before an arm is chosen; `%s` is not", gone[1]), call = call)
  }
}

formula_contexts <- function(log, context, call) {
  check_no_context(all.vars(context[[length(context)]]), call)
  known <- tibble::new_tibble(unclass(log)[setdiff(names(log), log_columns)], nrow = nrow(log))
  values <- tryCatch({
    terms <- stats::delete.response(stats::terms(context, data = known))
    stats::model.matrix(terms, stats::model.frame(terms, known, na.action = stats::na.pass))
  }, error = function(e) {
    abort_log(sprintf("have the columns of `context`: %s", conditionMessage(e)), call)
  })
  check_context_values(t(unname(values)), colnames(values), call)
}

check_context_values <- function(values, names, call) {
  check_dim(nrow(values), "context", call)
  if (!all(is.finite(values))) {
    at <- which(!is.finite(values))[1]
    abort_log(sprintf("hold finite numbers in its contexts; `%s` of row %d is %s (%d so)",
                      names[(at - 1) %% nrow(values) + 1], (at - 1) %/% nrow(values) + 1,
                      format(values[at]), sum(!is.finite(values))), call)
  }
  rownames(values) <- names
  values
}

#' Arm features as a matrix with one column per arm, in the log's order
#' @noRd
log_features <- function(features, arms, call) {
  if (is.null(features)) return(NULL)
  if (is.data.frame(features)) features <- as.matrix(features)
  if (!is.matrix(features) || !is.numeric(features) || ncol(features) == 0 ||
      !all(is.finite(features))) {
    abort_arg("arm_features", "a matrix of finite numbers with one row per arm", features, call)
  }
  if (is.null(rownames(features))) {
    if (nrow(features) != length(arms)) {
      abort_arg("arm_features", sprintf("a matrix with %d rows, one per arm", length(arms)),
                call = call)
    }
    rows <- seq_along(arms)
  } else {
    rows <- match(as.character(arms), rownames(features))
    if (anyNA(rows)) {
      abort_arg("arm_features", sprintf("a matrix with a row for every arm; \"%s\" has none",
                                        arms[is.na(rows)][1]), call = call)
    }
  }
  out <- t(unname(features[rows, , drop = FALSE]))
  storage.mode(out) <- "double"
  out
}
