#' Plot an audit
#'
#' Claim and finding side by side. At one delta there is a bar for each adversary, from 0 to what
#' it found, and a line at the claim; at several deltas a panel for each adversary, with both as
#' curves. What contradicts the claim is red.
#'
#' @param object A result of [dpts_audit()].
#' @param ... Must be empty.
#' @returns A ggplot.
#' @family privacy
#' @examples
#' audit <- dpts_audit(policy_ts_gaussian(), 8, delta = 10^-(1:5), method = "exact")
#' autoplot(audit)
#' @export
autoplot.dpts_audit <- function(object, ...) {
  check_dots_empty(...)
  need_columns(object, c("adversary", "delta", "claimed", "lower", "holds"))
  setup <- attr(object, "setup")
  data <- tibble::as_tibble(as.data.frame(object))
  data$adversary <- factor(data$adversary, unique(data$adversary))
  data$verdict <- factor(ifelse(data$holds, "finding", "finding above the claim"),
                         c("finding", "finding above the claim"))
  plot <- if (length(unique(data$delta)) == 1) plot_audit_bars(data) else plot_audit_curves(data)
  plot + ggplot2::labs(
    subtitle = sprintf("%s, %s rounds", format(setup$policy, digits = 5),
                       label_count(setup$horizon)),
    alt = sprintf("An audit of %s: %s. The most that was found: %s.",
                  format(setup$policy, digits = 5), audit_verdict(object),
                  paste(sprintf("%s at delta %s", shorts(summary(object)$lower),
                                label_count(summary(object)$delta)), collapse = ", "))
  )
}

AUDIT_COLOURS <- c("claim" = "#000000", "finding" = "#0072B2", "finding above the claim" = "#D55E00")

#' @noRd
plot_audit_bars <- function(data) {
  claimed <- data$claimed[1]
  ggplot2::ggplot(data, ggplot2::aes(.data$lower, .data$adversary, fill = .data$verdict)) +
    ggplot2::geom_col(width = 0.6) +
    (if (is.finite(claimed)) {
      ggplot2::geom_vline(ggplot2::aes(xintercept = .data$claimed, linetype = "claim"))
    }) +
    ggplot2::scale_y_discrete(limits = rev) +
    ggplot2::scale_x_continuous(labels = label_count, limits = c(0, NA)) +
    ggplot2::scale_fill_manual(NULL, values = AUDIT_COLOURS) +
    (if (is.finite(claimed)) ggplot2::scale_linetype_manual(NULL, values = c(claim = "solid"))) +
    ggplot2::labs(x = sprintf("epsilon at delta = %s", label_count(data$delta[1])), y = NULL)
}

#' @noRd
plot_audit_curves <- function(data) {
  # Neither 0 nor Inf has a place on these axes.
  data <- data[data$delta > 0, ]
  ggplot2::ggplot(data, ggplot2::aes(.data$delta)) +
    ggplot2::geom_line(ggplot2::aes(y = .data$claimed, colour = "claim"),
                       data = data[is.finite(data$claimed), ]) +
    ggplot2::geom_line(ggplot2::aes(y = .data$lower), colour = AUDIT_COLOURS[["finding"]]) +
    ggplot2::geom_point(ggplot2::aes(y = .data$lower, colour = .data$verdict)) +
    ggplot2::facet_wrap(~ adversary) +
    ggplot2::scale_x_log10(labels = label_count) +
    ggplot2::scale_y_continuous(labels = label_count, limits = c(0, NA)) +
    ggplot2::scale_colour_manual(NULL, values = AUDIT_COLOURS) +
    ggplot2::labs(x = "delta", y = "epsilon")
}
