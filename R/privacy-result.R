# The result of dpts_privacy(): what people do with it.

#' The best accountant at each delta
#'
#' @param object A result of [dpts_privacy()].
#' @param ... Must be empty.
#' @returns A tibble with, for each policy, horizon and delta, the smallest epsilon:
#'   columns `policy`, `horizon`, `delta`, `accountant` (the one that gives it) and
#'   `epsilon`. The minimum at each delta is a valid statement for that delta; that
#'   all deltas hold together is too, since every accountant's whole curve holds.
#' @family privacy
#' @examples
#' summary(dpts_privacy(policy_ts_gaussian(), 1000, delta = c(1e-3, 1e-6)))
#' @export
summary.dpts_privacy <- function(object, ...) {
  check_dots_empty(...)
  need_columns(object, c("policy", "accountant", "horizon", "delta", "epsilon"))
  o <- order(object$policy, object$horizon, -object$delta, object$epsilon)
  key <- c("policy", "horizon", "delta")
  keep <- o[!duplicated(as.data.frame(object)[o, key])]
  columns <- c("policy", "horizon", "delta", "accountant", "epsilon")
  tibble::new_tibble(lapply(as.list(object)[columns], `[`, keep), nrow = length(keep))
}

#' @importFrom tibble tbl_sum
#' @export
tbl_sum.dpts_privacy <- function(x, ...) {
  own <- unique(x$accountant)
  c("Privacy" = sprintf("%s, %s: %s", count_noun(length(unique(x$policy)), "policy", "policies"),
                        count_noun(length(own), "accountant", "accountants"),
                        paste(own, collapse = ", ")),
    NextMethod())
}

#' Plot privacy curves
#'
#' Epsilon against delta on logarithmic axes. With one policy there is one line an
#' accountant, with several a colour for each policy and a line type for each
#' accountant; several horizons get panels. Infinite epsilons are not drawn.
#'
#' @param object A result of [dpts_privacy()].
#' @param ... Must be empty.
#' @param log Which axes are logarithmic, as in [plot()]: `"xy"`, `"x"`, `"y"` or `""`.
#' @returns A ggplot.
#' @family privacy
#' @examples
#' autoplot(dpts_privacy(policy_ts_gaussian(), 1000))
#' @importFrom rlang .data
#' @export
autoplot.dpts_privacy <- function(object, ..., log = "xy") {
  check_dots_empty(...)
  scales <- axes(log)
  need_columns(object, c("policy", "accountant", "horizon", "delta", "epsilon"))
  data <- object[is.finite(object$epsilon), ]
  # Zero has no place on a logarithmic axis.
  if (grepl("y", log)) data <- data[data$epsilon > 0, ]
  if (grepl("x", log)) data <- data[data$delta > 0, ]
  lines <- intersect(names(accountants()), object$accountant)
  data$accountant <- factor(data$accountant, lines)
  by_policy <- nlevels(object$policy) > 1
  mapping <- if (!by_policy) {
    ggplot2::aes(.data$delta, .data$epsilon, colour = .data$accountant)
  } else if (length(lines) == 1) {
    ggplot2::aes(.data$delta, .data$epsilon, colour = .data$policy)
  } else {
    ggplot2::aes(.data$delta, .data$epsilon, colour = .data$policy,
                 linetype = .data$accountant)
  }
  levels <- if (by_policy) levels(object$policy) else lines
  colours <- stats::setNames(rep_len(okabe_ito(), length(levels)), levels)
  plot <- ggplot2::ggplot(as.data.frame(data), mapping) +
    ggplot2::geom_line() +
    ggplot2::scale_colour_manual(if (by_policy) "Policy" else "Accountant", values = colours) +
    # ggplot2 4 warns of a scale that nothing uses.
    (if (by_policy && length(lines) > 1) {
      ggplot2::scale_linetype_manual("Accountant", values = stats::setNames(
        rep_len(c("solid", "11", "4212", "82", "42", "621212"), length(lines)), lines
      ))
    }) +
    scales +
    ggplot2::labs(x = "delta", y = "epsilon")
  if (length(unique(data$horizon)) > 1) {
    plot <- plot + ggplot2::facet_wrap(
      ~ horizon, labeller = ggplot2::labeller(horizon = function(t) {
        paste("T =", label_count(as.numeric(t)))
      })
    )
  }
  plot
}
