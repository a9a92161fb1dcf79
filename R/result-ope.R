# The result of dpts_ope(): what people do with it.

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
    "Level" = words_level(get("level")),
    NextMethod())
}

#' Off-policy estimates beside what the logger earned
#'
#' Puts what another policy would have earned beside what the log earned, and draws it.
#'
#' @param object A result of [dpts_ope()].
#' @param ... Must be empty.
#' @returns A tibble, one row for each estimator: `estimator`, `estimate`, `se`, `lower`, `upper`,
#'   `logged` (the mean reward of the log) and `relative`, `estimate` divided by `logged`.
#'
#'   `autoplot()`: a ggplot, each estimator's estimate and confidence interval, and the mean reward of the log
#'   as a dotted line.
#' @family logged data
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
  half <- stats::qnorm((1 + level) / 2) * x$se
  list(list(term = as.character(x$estimator)), estimate = x$estimate, se = x$se, lower = x$estimate - half,
       upper = x$estimate + half)
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_ope <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    target = shared(x, "target"), nobs = shared(x, "events"), matched = shared(x, "matched"),
    effective = shared(x, "effective"), clipped = shared(x, "clipped"), logged = shared(x, "logged")
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
