# Methods for the result of dpts_ope().

# The interval of an estimate of a mean reward in [0, 1], with Wilson's for `effective` rewards. Wilson's
# assumes rewards of 0 and 1. The variance of the log's rewards is `spread` times as large; 3 / n is added to
# that for values that no event has shown.
ope_interval <- function(estimate, se, effective, spread, level) {
  share <- wilson(pmin(pmax(estimate, 0), 1), effective / min(1, spread + 3 / effective), level)
  wider_interval(estimate, se, share, level)
}

#' @export
result_key.dpts_ope <- function(x) "estimator"

#' @export
tbl_sum.dpts_ope <- function(x, ...) {
  if (!is_whole(x)) return(NextMethod())
  get <- function(name) shared(x, name)
  c("Target" = get("target"),
    "Events" = sprintf("%s, of which %s match; effective sample size %s%s",
                       label_count(get("events")), label_count(get("matched")),
                       label_count(signif(get("effective"), 4)),
                       if (get("clipped") > 0) sprintf("; %s weights clipped",
                                                       label_count(get("clipped"))) else ""),
    "Mean weight" = paste0(words_weight(get("weight")), "; 1 with the logger's propensities"),
    "Level" = words_level(get("level")),
    NextMethod())
}

#' Compare off-policy estimates with the log
#'
#' `summary()` compares the estimated mean reward of the target with the mean reward of the log.
#'
#' @param object A result of [dpts_ope()].
#' @param ... Must be empty.
#' @returns A tibble, one row for each estimator: `estimator`, `estimate`, `se`, `lower`, `upper`,
#'   `logged` (the mean reward of the log) and `relative`, `estimate` divided by `logged`.
#'
#'   `autoplot()`: a ggplot, each estimator's estimate and confidence interval, and the mean reward of the log
#'   as a dotted line.
#' @template see_logs
#' @examples
#' value <- dpts_ope(open_bandit[open_bandit$logger == "bts", ], "uniform")
#' summary(value)
#' autoplot(value)
#' @export
summary.dpts_ope <- function(object, ...) {
  check_dots_empty(...)
  check_result(object, c("estimate", "se", "lower", "upper"))
  out <- tibble::as_tibble(object)[c("estimator", "estimate", "se", "lower", "upper")]
  out$logged <- rep(shared(object, "logged"), nrow(out))
  out$relative <- out$estimate / out$logged
  out
}

#' @export
tidied.dpts_ope <- function(x, level) {
  check_result(x, c("estimate", "se"))
  sizes <- unlist(things_of(label_of(x)))[as.character(x$estimator)]
  c(list(list(term = as.character(x$estimator)), estimate = x$estimate, se = x$se),
    ope_interval(x$estimate, x$se, sizes, shared(x, "spread"), level))
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_ope <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    target = shared(x, "target"), nobs = shared(x, "events"), matched = shared(x, "matched"),
    effective = shared(x, "effective"), clipped = shared(x, "clipped"), logged = shared(x, "logged"),
    mean_weight = shared(x, "weight")[1]
  )
}

#' @rdname summary.dpts_ope
#' @export
autoplot.dpts_ope <- function(object, ...) {
  check_dots_empty(...)
  check_result(object, c("estimate", "lower", "upper"))
  data <- bare(object)
  data$estimator <- factor(data$estimator, rev(unique(as.character(data$estimator))))
  level <- words_level(shared(object, "level"))
  if (all(is.na(data$estimate))) {
    return(nothing_to_draw("No estimate to draw: no event of the log matches the target."))
  }
  ggplot2::ggplot(data, ggplot2::aes(x = .data$estimate, y = .data$estimator)) +
    ggplot2::geom_vline(xintercept = shared(object, "logged"), linetype = "dotted") +
    ggplot2::geom_pointrange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper), na.rm = TRUE) +
    plot_words(
      x = sprintf("Mean reward of the target (%s)", shared(object, "target")), y = NULL,
      caption = sprintf("Line: %s confidence interval. Dotted: mean reward of the log.", level),
      alt = sprintf("Estimates of the mean reward of the target (%s) with %s confidence intervals: %s.",
                    shared(object, "target"), level,
                    paste(data$estimator, shorts(data$estimate), collapse = ", "))
    )
}
