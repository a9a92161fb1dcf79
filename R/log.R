# Logged data, one row per event: checked once and converted for replays and estimators. A log comes in
# chunks of rows; a data frame is one chunk. Each chunk becomes a block of events. A single block stays in
# memory; several go to a file, so that memory does not grow with the log. All code reads events in order by
# each_block(), so that results do not depend on the size of chunks.

# Read a log
#
# `context`, `contexts`: Which columns are the context, and whether any are wanted.
# Returns A list: `n`, `k`, `arms` (labels in order); `pool_start`, `pool_arms` (the distinct pools, as
#   in src/play_replay.h) and `times` (how often each was on offer); `shown` (how often each arm was);
#   `uniform` (are propensities uniform over pools?), `assumed` (because the column is missing?), `least` (the
#   least propensity); `context` (with `names`, `range` and how many are `outside` of [0, 1]); and the
#   events, as a `block` or a `spool`; and `progress`: show progress bars?
read_log <- function(log, context = NULL, contexts = !is.null(context), progress = FALSE) {
  reader <- log_reader(log)
  on.exit(reader$close())
  spool <- if (!is.data.frame(log)) new_spool(log$dir)
  done <- FALSE
  on.exit(if (!done) close_spool(spool), add = TRUE)
  if (!is.null(spool) && inherits(context, "formula")) {
    abort_arg("context", "names of columns, or a prefix of them, for a log in chunks", context)
  }
  bar <- progress_bar(progress && !is.null(spool), reader$bytes %||% log$events %||% NA, "Reading")
  seen <- list(n = 0)
  while (!is.null(chunk <- reader$read())) {
    part <- read_chunk(chunk, seen, context, contexts)
    seen <- part$seen
    if (is.null(part$block)) next
    if (is.null(spool)) block <- part$block else spool <- write_block(spool, part$block)
    bar(if (is.null(reader$bytes)) min(seen$n, log$events - 0.5) else reader$at())
  }
  bar(NULL)
  if (seen$n == 0) abort_log("hold events; it has no rows")
  data <- finish_log(seen)
  data$progress <- progress
  if (is.null(spool)) {
    block$arm <- data$rank[block$arm]
    data$block <- block
  } else {
    data$spool <- finish_spool(spool)
  }
  if (data$assumed) check_looks_uniform(data)
  done <- TRUE
  data
}

check_log <- function(log) {
  check_given(log)
  if (!is.data.frame(log) && !inherits(log, "dpts_log_source")) {
    abort_arg("log", "a data frame with one row per event, or a source of such rows, as of log_query()", log,
              hint = if (is_policy(log)) "Were the policies and `log` given in the other order?")
  }
}

# The log with its columns renamed. `given`: list(arm =, reward =, propensity =), NULL for the usual name.
name_columns <- function(log, given) {
  given <- Filter(Negate(is.null), given)
  if (length(given) == 0) return(log)
  check_class(log, "data.frame", "a data frame, where its columns are named", "log")
  for (name in names(given)) {
    column <- check_string(given[[name]], name)
    if (!column %in% names(log)) abort_arg(name, "the name of a column of `log`", column)
  }
  columns <- lapply(given, function(column) log[[column]])
  log[names(given)] <- columns
  log
}

# Adds one chunk to `seen`, the statistics of the log so far; also returns the chunk's events as a block
read_chunk <- function(chunk, seen, context, contexts) {
  check_columns(chunk, seen)
  seen$columns <- names(chunk)
  n <- nrow(chunk)
  if (n == 0) return(list(seen = seen))
  block <- list(reward = log_numbers(chunk[["reward"]], "reward", 0, 1, FALSE, seen$n))
  pools <- log_pools(chunk[["pool"]], seen$n)
  seen <- see_arms(seen, chunk[["arm"]])
  block$arm <- seen$at
  if (!is.null(pools)) {
    seen <- see_pools(seen, pools, chunk[["arm"]])
    block$pool <- seen$pool
  }
  seen$shown <- add_counts(seen$shown, block$arm, length(seen$arms))
  if (!is.null(chunk[["propensity"]])) {
    block$propensity <- log_numbers(chunk[["propensity"]], "propensity", 0, 1, c(TRUE, FALSE), seen$n)
    # Without pools the size is the number of all arms, which is not known yet.
    size <- if (is.null(pools)) 1 else lengths(seen$pools)[block$pool + 1L]
    seen$least <- min(seen$least, block$propensity)
    seen$certain <- sum(seen$certain, is_certain(block$propensity) & (is.null(pools) | size > 1))
    ratio <- block$propensity * size
    seen$ratio <- c(min(seen$ratio, ratio), max(seen$ratio, ratio))
  }
  if (contexts) block$context <- log_contexts(chunk, context, seen$n)
  if (!is.null(block$context)) {
    seen$context$names <- rownames(block$context)
    seen$context$range <- range(seen$context$range, block$context)
    seen$context$outside <- sum(seen$context$outside, block$context < 0 | block$context > 1)
  }
  seen$n <- seen$n + n
  seen$at <- seen$pool <- NULL
  list(seen = seen, block = block)
}

check_columns <- function(chunk, seen) {
  if (!is.null(seen$columns) && !identical(names(chunk), seen$columns)) {
    abort_log(sprintf("have the same columns in all chunks; they are %s up to row %.0f, and %s after it",
                      word_columns(seen$columns), seen$n, word_columns(names(chunk))))
  }
  lacks <- setdiff(c("arm", "reward"), names(chunk))
  if (length(lacks)) {
    abort_log(sprintf("have %s; it has %s. Columns of other names are given by %s",
                      words_list(sprintf("a column `%s`", lacks)), word_columns(names(chunk)),
                      words_list(sprintf("`%s = `", lacks))))
  }
  for (column in intersect(log_columns, names(chunk))) {
    if (length(chunk[[column]]) != nrow(chunk)) {
      abort_log(sprintf("hold one value an event in `%s`, not a matrix or a data frame", column))
    }
  }
}

word_columns <- function(names) {
  paste0("`", utils::head(names, 6), "`", collapse = ", ")
}

# Counts of 1 to n, added to earlier ones of fewer
add_counts <- function(counts, x, n) {
  tabulate(x, n) + c(counts, numeric(n - length(counts)))
}

# The statistics of the whole log, from those of all chunks
finish_log <- function(seen) {
  arms <- switch(seen$kind, factor = seen$arms, numbers = sort(seen$arms),
                 strings = sort(enc2utf8(seen$arms), method = "radix")) # alike in all locales
  rank <- match(seen$arms, arms) - 1L
  if (is.numeric(arms) && all(arms == trunc(arms))) arms <- whole(arms)
  k <- length(arms)
  data <- list(n = seen$n, k = k, arms = arms, rank = rank, shown = numeric(k), times = seen$times)
  data$shown[rank + 1L] <- seen$shown
  if (!is.null(seen$pools)) {
    data$pool_start <- c(0L, cumsum(lengths(seen$pools)))
    data$pool_arms <- rank[unlist(seen$pools)]
  }
  data$assumed <- is.null(seen$least)
  largest <- if (is.null(seen$pools)) k else max(lengths(seen$pools))
  data$least <- seen$least %||% (1 / largest)
  data$certain <- if (k > 1) seen$certain %||% 0 else 0
  data$uniform <- data$assumed || max(abs(seen$ratio * (if (is.null(seen$pools)) k else 1) - 1)) < 1e-6
  data$context <- seen$context
  data
}

# ---- blocks -------------------------------------------------------------------------------

# Visit all events in order
# `visit`: A function of a block and the number of events before it; it returns FALSE to stop. A
#   block has `arm` (from 0) and `reward`, and `propensity`, `pool` (from 0) and `context` (with
#   one column per event) where the log has them.
# `name`: Of a progress bar; NULL for none.
each_block <- function(data, visit, name = NULL) {
  if (is.null(data$spool)) {
    visit(data$block, 0)
    return(invisible())
  }
  con <- open_spool(data$spool)
  on.exit(close(con))
  bar <- progress_bar(!is.null(name) && data$progress, sum(data$spool$rows), name)
  before <- 0
  for (n in data$spool$rows) {
    if (isFALSE(visit(read_block(con, n, data), before))) break
    before <- before + n
    bar(before)
  }
}

# How many arms were on offer in each event
block_size <- function(data, block) {
  if (is.null(block$pool)) rep_len(data$k, length(block$arm)) else diff(data$pool_start)[block$pool + 1L]
}

block_propensity <- function(data, block) block$propensity %||% (1 / block_size(data, block))

# Sums over all events of `terms`, a function of a block and the number of events before it that gives
# a named list of columns
sum_log <- function(data, terms) {
  state <- names <- NULL
  each_block(data, function(block, before) {
    columns <- lapply(terms(block, before), as.double)
    names <<- names(columns)
    state <<- .Call(C_log_sums, state, columns)
  }, "Estimating")
  stats::setNames(.Call(C_log_totals, state), names)
}

# A hash of the events and of everything else that decides how the log is read
hash_log <- function(data, ...) {
  state <- NULL
  each_block(data, function(block, before) {
    state <<- .Call(C_log_hash, state, c(block, data[intersect(c("pool_start", "pool_arms"), names(data))]))
  }, "Reading")
  rlang::hash(list(state, data$n, as.character(data$arms), data$assumed, is.null(data$times),
                   data$context$names, data$features, ...))
}

# Columns that are never contexts
log_columns <- c("arm", "reward", "pool", "propensity")

# A column of numbers inside an interval; the error names the first bad row. `before`: The number of rows in
# earlier chunks.
log_numbers <- function(x, name, lower, upper, open, before) {
  what <- words_number("numbers", lower, upper, open)
  if (is.logical(x) && !anyNA(x)) x <- x + 0
  if (!is.numeric(x) || is.object(x)) {
    abort_log(sprintf("hold %s in `%s`, not %s", what, name, describe_column(x)))
  }
  open <- rep_len(open, 2)
  inside <- function(x) !is.na(x) & (if (open[1]) x > lower else x >= lower) & x <= upper
  if (all(inside(c(min(x), max(x))))) return(as.double(x)) # without answers as long as the log
  bad <- which(!inside(x))
  abort_log(sprintf("hold %s in `%s`; row %.0f has %s (%s so)", what, name, before + bad[1],
                    number_text(x[bad[1]]), count_noun(length(bad), "row", "rows")))
}

describe_column <- function(x) {
  if (inherits(x, "integer64")) "64-bit integers; connect with `bigint = \"numeric\"`" else describe(x)
}

# A list column as its distinct vectors and the index of each event's vector
log_pools <- function(pool, before) {
  if (is.null(pool)) return(NULL)
  if (!is.list(pool)) {
    abort_log(sprintf("hold vectors of arms in the list column `pool`, not %s%s", describe(pool),
                      if (is.character(pool)) "; strsplit() makes a list of text" else ""))
  }
  ids <- .Call(C_pool_ids, unclass(pool))
  distinct <- pool[ids$first]
  bad <- which(!vapply(distinct, function(p) {
    is.atomic(p) && length(p) > 0 && !anyNA(p) && !anyDuplicated(p)
  }, NA))
  if (length(bad)) {
    abort_log(sprintf("hold vectors of distinct arms in `pool`; row %.0f has %s",
                      before + ids$first[bad[1]], describe(distinct[[bad[1]]])))
  }
  list(id = ids$id, distinct = unname(distinct))
}

# Adds the arms of a chunk to `seen$arms`, in the order of first appearance (of a factor: its levels).
# `seen$at`: The indices of the chunk's arms there; pools use the same indices.
see_arms <- function(seen, arm) {
  if (!is.atomic(arm) || anyNA(arm)) {
    abort_log(sprintf("name arms in `arm` (integers, strings or a factor) without NA, not %s",
                      if (is.atomic(arm)) sprintf("NA in row %.0f", seen$n + which(is.na(arm))[1])
                      else describe(arm)))
  }
  if (inherits(arm, "integer64")) {
    abort_log(sprintf("name arms by integers, strings or a factor, not by %s", describe_column(arm)))
  }
  kind <- if (is.factor(arm)) "factor" else if (is.numeric(arm)) "numbers" else "strings"
  if (is.null(seen$kind)) {
    seen$kind <- kind
    seen$arms <- if (kind == "factor") levels(arm) else name_arms(arm[0], kind)
  }
  if (kind != seen$kind || (kind == "factor" && !identical(levels(arm), seen$arms))) {
    abort_log(sprintf(paste("name arms alike in all chunks, as numbers, strings or a factor of the same",
                            "levels; from row %.0f on they differ"), seen$n + 1))
  }
  if (kind == "factor") {
    seen$at <- as.integer(arm)
    return(seen)
  }
  distinct <- unique(arm)
  names <- name_arms(distinct, kind)
  seen$arms <- c(seen$arms, setdiff(names, seen$arms))
  seen$at <- match(names, seen$arms)[match(arm, distinct)]
  seen
}

# Arms as the values by which they are compared
name_arms <- function(x, kind) {
  if (kind != "numbers") return(as.character(x))
  if (is.factor(x)) x <- as.character(x)
  # Pools may hold numbers as text, or other text, which becomes NA.
  if (is.character(x)) suppressWarnings(as.numeric(x)) else as.numeric(x)
}

# Adds the pools of a chunk to those seen before. `seen$pool`: The indices of the chunk's pools, from 0.
see_pools <- function(seen, pools, arm) {
  members <- lapply(pools$distinct, name_arms, seen$kind)
  offered <- unique(unlist(members))
  if (anyNA(offered)) abort_log("name arms alike in `arm` and `pool`")
  if (seen$kind == "factor") {
    strange <- setdiff(offered, seen$arms)
    if (length(strange)) {
      abort_log(sprintf("offer only levels of `arm` in `pool`, not %s", strange[1]))
    }
  }
  seen$arms <- c(seen$arms, setdiff(offered, seen$arms))
  members <- lapply(members, match, seen$arms)
  misses <- .Call(C_pool_misses, seen$at, pools$id, c(0L, cumsum(lengths(members))), unlist(members))
  if (misses[1] > 0) {
    abort_log(sprintf(
      "show only arms of their pool; row %.0f shows arm %s, which was not available (%s so)",
      seen$n + misses[2], number_text(arm[misses[2]]), count_noun(misses[1], "row", "rows")
    ))
  }
  known <- seen$pools %||% list()
  new <- members[!vctrs::vec_in(members, known)]
  seen$pools <- c(known, vctrs::vec_unique(new))
  at <- vctrs::vec_match(members, seen$pools)
  seen$pool <- at[pools$id + 1L] - 1L
  seen$times <- add_counts(seen$times, seen$pool + 1L, length(seen$pools))
  seen
}

# How often each arm was shown and on offer, and how often a uniform logger would show it on average
arm_counts <- function(log) {
  shown <- log$shown
  times <- log$times
  if (is.null(times)) {
    return(list(shown = shown, offered = rep(log$n, log$k), expected = rep(log$n / log$k, log$k)))
  }
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

# A log without propensities is taken as uniform, unless its counts contradict that
check_looks_uniform <- function(log) {
  counts <- arm_counts(log)
  counts <- lapply(counts, `[`, counts$offered > 0)
  # The tails of a count are at most those of a binomial of the same mean (Hoeffding 1956). So a uniform log
  # fails with probability at most 1e-9.
  tail <- function(x, lower) {
    stats::pbinom(x, counts$offered, counts$expected / counts$offered, lower.tail = lower)
  }
  least <- min(tail(counts$shown, TRUE), tail(counts$shown - 1, FALSE))
  if (2 * length(counts$shown) * least < 1e-9) {
    abort_log(paste("have a column `propensity`, the probability with which each arm was shown:",
                    "the arms' counts are not those of a logger that chose uniformly"))
  }
}

warn_unseen <- function(log, call = caller_env()) {
  counts <- arm_counts(log)
  unseen <- counts$shown == 0 & counts$offered > 0
  if (any(unseen)) {
    rlang::warn(sprintf(
      "%d of %d available arms were never shown (%s): the log knows nothing about them.",
      sum(unseen), sum(counts$offered > 0),
      paste(utils::head(log$arms[unseen], 5), collapse = ", ")
    ), class = c("dpts_warning_overlap", "dpts_warning"), call = call)
  }
}

is_certain <- function(chance) chance > 1 - 1e-12

# `certain`: The number of events with propensity 1 in which the target (`who`) may choose another arm
warn_certain <- function(log, certain, who, call = caller_env()) {
  if (certain == 0) return(invisible())
  rlang::warn(c(sprintf(
    "In %s of %s events the log showed its arm with probability 1; %s may choose another.",
    words_whole(certain), words_whole(log$n), who),
    i = "No weight corrects for what it would have earned in such events: estimates are biased."),
              class = c("dpts_warning_overlap", "dpts_warning"), call = call)
}

# Importance weights, target's probability / propensity, have mean 1 if the propensities are those of the
# logger. A mean that is too small may also come from rare events of large weight. `weight`: Their mean and
# its standard error. `lacking`: Did a warning already say why the mean may be below 1?
warn_weights <- function(weight, of, lacking = FALSE, call = caller_env()) {
  off <- weight[1] - 1
  if (!isTRUE(abs(off) > max(4 * weight[2], 0.01)) || (off < 0 && lacking)) return(invisible())
  rlang::warn(c(
    sprintf("The importance weights %s have mean %s, which should be 1.", of, words_weight(weight)),
    i = if (off > 0) "The propensities cannot be those with which the log's arms were chosen." else
      paste("The propensities are not those with which the log's arms were chosen, or the log lacks rare",
            "events of large weight: estimates are far off.")
  ), class = c("dpts_warning_propensities", "dpts_warning"), call = call)
}

# "1.03 (se 0.02)", and of one event "1.03"
words_weight <- function(weight) {
  paste0(number_text(signif(weight[1], 3)),
         if (!is.na(weight[2])) sprintf(" (se %s)", number_text(signif(weight[2], 2))))
}

# ---- contexts -------------------------------------------------------------------------

# The contexts as a matrix with one column per event, or `NULL`
#
# `context`: A formula, names of columns, one prefix of names, or `NULL` for the
#   columns whose names start with "context".
log_contexts <- function(log, context, before) {
  if (inherits(context, "formula")) return(formula_contexts(log, context))
  if (is.null(context)) {
    columns <- grep("^context", names(log), value = TRUE)
    if (length(columns) == 0) return(NULL)
  } else {
    if (!is.character(context) || length(context) == 0 || anyNA(context) ||
        !all(nzchar(context))) {
      abort_arg("context", "a formula, names of columns, or a prefix of such names", context)
    }
    columns <- if (length(context) == 1 && !context %in% names(log)) {
      setdiff(names(log)[startsWith(names(log), context)], log_columns)
    } else context
    check_no_context(columns)
    gone <- setdiff(columns, names(log))
    if (length(columns) == 0 || length(gone)) {
      abort_log(sprintf("have the columns of `context`; there is none called %s",
                        paste0("\"", if (length(gone)) gone[1] else context, "\"",
                               if (!length(gone)) " or starting so")))
    }
  }
  d <- length(columns)
  values <- matrix(0, d, nrow(log))
  for (i in seq_len(d)) {
    x <- log[[columns[i]]]
    if (is.logical(x)) x <- x + 0
    if (!is.numeric(x) || is.object(x) || length(x) != nrow(log)) {
      abort_log(sprintf("hold one number per event in `%s`, not %s; a formula takes factors, too",
                        columns[i], describe_column(x)))
    }
    values[i, ] <- x
  }
  check_context_values(values, columns, before)
}

# These columns are not known before the choice
check_no_context <- function(names) {
  gone <- intersect(names, log_columns)
  if (length(gone)) {
    abort_arg("context", sprintf("known before an arm is chosen; `%s` is not", gone[1]))
  }
}

formula_contexts <- function(log, context) {
  check_no_context(all.vars(context[[length(context)]]))
  known <- tibble::new_tibble(unclass(log)[setdiff(names(log), log_columns)], nrow = nrow(log))
  values <- tryCatch({
    terms <- stats::delete.response(stats::terms(context, data = known))
    stats::model.matrix(terms, stats::model.frame(terms, known, na.action = stats::na.pass))
  }, error = function(e) {
    abort_log(sprintf("have the columns of `context`: %s", conditionMessage(e)))
  })
  check_context_values(t(unname(values)), colnames(values), 0)
}

check_context_values <- function(values, names, before) {
  check_dim(nrow(values), "context")
  if (!all(is.finite(values))) {
    at <- which(!is.finite(values))[1]
    abort_log(sprintf("hold finite numbers in its contexts; `%s` of row %.0f is %s (%d so)",
                      names[(at - 1) %% nrow(values) + 1], before + (at - 1) %/% nrow(values) + 1,
                      number_text(values[at]), sum(!is.finite(values))))
  }
  rownames(values) <- names
  values
}

check_features <- function(features) {
  if (is.data.frame(features)) features <- as.matrix(features)
  if (!is.null(features) && (!is.matrix(features) || !is.numeric(features) || ncol(features) == 0 ||
                             !all(is.finite(features)))) {
    abort_arg("arm_features", "a matrix of finite numbers with one row per arm", features)
  }
  features
}

# Checked features as a matrix with one column per arm, in the log's order
log_features <- function(features, arms) {
  if (is.null(features)) return(NULL)
  if (is.null(rownames(features))) {
    if (nrow(features) != length(arms)) {
      abort_arg("arm_features", sprintf("a matrix with %d rows, one per arm", length(arms)))
    }
    rows <- seq_along(arms)
  } else {
    rows <- match(as.character(arms), rownames(features))
    if (anyNA(rows)) {
      abort_arg("arm_features", sprintf("a matrix with a row for every arm; \"%s\" has none",
                                        arms[is.na(rows)][1]))
    }
  }
  out <- t(unname(features[rows, , drop = FALSE]))
  storage.mode(out) <- "double"
  out
}
