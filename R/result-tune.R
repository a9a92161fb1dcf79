# Methods for the result of dpts_tune(). Its rows are means over runs; the runs are kept, so that rbind() can
# average anew.

# `columns`: The settings of the candidates.
# `by`: The column whose labels carry the runs: `accountant` or `policy`.
# `things`: What its labels stand for.
# `runs`: The regret of each run: `by`, what else tells candidates apart, `run`, `seed`, `regret`.
new_tuning <- function(columns, by, runs, shared, things = NULL) {
  levels <- unique(as.character(columns[[by]]))
  by_level <- lapply(levels, function(level) {
    vctrs::new_data_frame(lapply(runs[names(runs) != by], `[`, runs[[by]] == level))
  })
  label <- new_label(match(columns[[by]], levels), levels, things[levels], by_level, shared)
  if (by == "policy") columns$policy <- label
  average_runs(new_result(columns, "dpts_tuning", if (by != "policy") label[0]))
}

#' @export
result_key.dpts_tuning <- function(x) {
  c(if (is_label(x[["policy"]])) "policy", "accountant", "prepulls")
}

# The rows of a tuning as averages of their runs: regret, its error, the best of each budget
average_runs <- function(x) {
  stats <- stats_by_row(x)
  x$regret <- stats$mean
  x$se <- stats$sd / sqrt(stats$n)
  x$best <- are_best(x)
  if ("runs" %in% names(x)) {
    x[c("lower", "upper")] <- tuning_interval(x, 0.95, stats)
    x$runs <- stats$n
  }
  x
}

# Which rows have the least regret of their budget?
are_best <- function(x) {
  among <- split(seq_along(x$regret), if ("mu" %in% names(x)) x$mu else rep(1, length(x$regret)))
  seq_along(x$regret) %in% vapply(among, function(i) i[which.min(x$regret[i])], 0L)
}

# group_stats() of the runs behind each row
stats_by_row <- function(x) {
  runs <- runs_in(x)
  by <- intersect(names(runs), result_key(x))
  group_stats(runs$regret, vctrs::vec_match(keys_of(runs, by), keys_of(x, by)))
}

# The interval of the mean regret of each row
tuning_interval <- function(x, level, stats = stats_by_row(x)) {
  mean_interval(stats, level, 0, shared(x, "horizon") * largest_gap(shared(x, "arms")))
}

# Parts of a tuning must hold different runs or candidates, and a candidate is one policy in all of them
#' @export
before_join.dpts_tuning <- function(like, parts) {
  runs <- lapply(parts, function(part) {
    runs <- runs_in(part)
    keys_of(runs, setdiff(names(runs), c("seed", "regret")))
  })
  twice <- which(duplicated(vctrs::vec_rbind(!!!runs)))
  if (length(twice)) {
    abort_join(paste(words_row(vctrs::vec_rbind(!!!runs)[twice[1], ]), "comes twice."),
               "Parts must hold different runs or candidates.")
  }
  if (all(vapply(parts, function(part) "variance_scale" %in% names(part), NA))) {
    scale <- unlist(lapply(parts, `[[`, "variance_scale"))
    rows <- vctrs::vec_rbind(!!!lapply(parts, function(part) keys_of(part, result_key(part))))
    of_first <- scale[vctrs::vec_match(rows, rows)]
    other <- which(abs(scale - of_first) > 1e-9 * of_first)
    if (length(other)) {
      abort_join(sprintf("%s has the variance scale %s in one, %s in another.",
                         words_row(rows[other[1], ]), number_text(of_first[other[1]]),
                         number_text(scale[other[1]])),
                 "Parts must have one `delta` and one `seed`.")
    }
  }
  parts
}

# All runs of a candidate make one row
#' @export
after_join.dpts_tuning <- function(x) {
  x <- x[!duplicated(keys_of(x, result_key(x))), ]
  average_runs(x[order(match(x[[carrier(x)]], levels(label_of(x)))), ])
}

#' The best row of each accountant
#'
#' `summary()` picks the setting of least regret for each accountant. `autoplot()` draws all settings: mean
#' regret against pre-pulls, one line for each accountant, with confidence intervals and a ring around the
#' best. The axis of pre-pulls is logarithmic in 1 + `prepulls`.
#'
#' @param object A result of [dpts_tune()].
#' @param ... Must be empty.
#' @param level Confidence level of the interval: a number in (0, 1).
#' @returns A tibble, one row for each accountant: `accountant`, `prepulls`, `variance_scale`, `runs`,
#'   `regret`, `se`, and `lower`, `upper`, the interval of the regret (see [summary.dpts_simulation()]).
#'
#'   `autoplot()`: a ggplot.
#' @template see_privacy
#' @examples
#' tuning <- dpts_tune(privacy_gdp(1), arms_bernoulli(c(0.7, 0.3)), horizon = 1000,
#'                     prepulls = c(10, 50, 200), accountant = "gdp", seed = 1)
#' summary(tuning)
#' autoplot(tuning)
#' @export
summary.dpts_tuning <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  level <- check_number(level, 0, 1, open = TRUE)
  rows <- tuning_rows(object, level)
  by <- intersect(c("mu", "accountant"), names(rows))
  rows <- rows[order(match(rows$accountant, unique(rows$accountant)), rows$regret), ]
  rows <- rows[!duplicated(keys_of(rows, by)), ]
  rows[c(by, "prepulls", "variance_scale", "runs", "regret", "se", "lower", "upper")]
}

# Rows with the number of runs and an interval
tuning_rows <- function(x, level) {
  check_result(x, c("variance_scale", "regret", "se", "best"))
  rows <- tibble::as_tibble(x)
  stats <- stats_by_row(x)
  rows$runs <- stats$n
  rows[c("lower", "upper")] <- tuning_interval(x, level, stats)
  rows
}

#' @importFrom tibble tbl_sum
#' @export
tbl_sum.dpts_tuning <- function(x, ...) {
  if (!is_whole(x)) return(NextMethod())
  c("Tuning" = sprintf(
    "%s over %s of %s, %s", format(shared(x, "budget")), count_noun(shared(x, "horizon"), "round", "rounds"),
    count_noun(n_arms(shared(x, "arms")), "arm", "arms"),
    count_noun(length(unique(runs_in(x)$run)), "run", "runs")
  ), words_late(shared(x, "delay"), shared(x, "batch")), "Seed" = words_seed(x), NextMethod())
}

#' @export
tidied.dpts_tuning <- function(x, level) {
  rows <- tuning_rows(x, level)
  term <- rows[["policy"]] %||% paste(rows$accountant, rows$prepulls)
  list(list(term = as.character(term), accountant = rows$accountant, prepulls = rows$prepulls,
            variance_scale = rows$variance_scale),
       estimate = rows$regret, se = rows$se, lower = rows$lower, upper = rows$upper)
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_tuning <- function(x, ...) {
  check_dots_empty(...)
  terms <- tidy(x, conf.int = FALSE)
  least <- which.min(terms$estimate)
  tibble::tibble(
    budget = format(shared(x, "budget")), arms = n_arms(shared(x, "arms")),
    horizon = shared(x, "horizon"), candidates = nrow(x),
    nobs = length(unique(runs_in(x)$run)), seed = one_seed(x), best = terms$term[least],
    regret = terms$estimate[least]
  )
}

#' @rdname summary.dpts_tuning
#' @export
autoplot.dpts_tuning <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  level <- check_number(level, 0, 1, open = TRUE)
  data <- tuning_rows(object, level)
  if (nrow(data) == 0) return(nothing_to_draw())
  levels <- unique(as.character(data$accountant))
  data$accountant <- factor(data$accountant, levels)
  # 1, 2 and 5 in each decade, or the decades alone where that is too many labels
  inside <- function(b) b[b >= min(data$prepulls) & b <= max(data$prepulls, 1)]
  breaks <- inside(c(0, outer(c(1, 2, 5), 10^(0:11))))
  if (length(breaks) > 6) breaks <- inside(c(0, 10^(0:11)))
  best <- data[data$best, ]
  scales <- scales_by(levels, title = ggplot2::waiver())
  ggplot2::ggplot(data, ggplot2::aes(.data$prepulls, .data$regret, colour = .data$accountant)) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                            data = with_band(data), show.legend = FALSE) +
    ggplot2::geom_line(ggplot2::aes(linetype = .data$accountant)) +
    ggplot2::geom_point() +
    ggplot2::geom_point(data = best, shape = 1, size = 4, show.legend = FALSE) +
    ggplot2::scale_x_continuous(trans = "log1p", labels = label_count, breaks = breaks, minor_breaks = NULL) +
    ggplot2::scale_y_continuous(labels = label_count) +
    scales[c("colour", "linetype")] +
    plot_words(
      colour = "Accountant", linetype = "Accountant", x = "Pre-pulls of each arm", y = REGRET_Y,
      caption = wrap_caption(words_mean(data$runs, level, "bar"), "Ring: the best."),
      alt = sprintf(
        "Mean regret at the horizon against pre-pulls, a line for each accountant (%s); the best: %s.",
        paste(levels, collapse = ", "),
        paste(sprintf("%s, %s pre-pulls, regret %s", best$accountant, label_count(best$prepulls),
                      shorts(best$regret)), collapse = "; ")
      )
    )
}
