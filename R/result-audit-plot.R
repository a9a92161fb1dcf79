# The plot of an audit: dpts_audit() draws what it found.

#' @rdname summary.dpts_audit
#' @export
autoplot.dpts_audit <- function(object, ...) {
  check_dots_empty(...)
  check_result(object, AUDIT_VALUES)
  if (nrow(object) == 0) return(nothing_to_draw())
  data <- bare(object)
  data$adversary <- factor(data$adversary, unique(data$adversary))
  data$verdict <- factor(ifelse(data$holds, "finding", "finding above the claim"), names(audit_colours()))
  plot <- if (length(unique(data$delta)) == 1) audit_bars(data) else audit_curves(data)
  worst <- summary(object)
  small <- ggplot2::theme(plot.subtitle = ggplot2::element_text(size = ggplot2::rel(0.75)))
  plot + small + plot_words(
    subtitle = sprintf("%s, %s", policy_title(shared(object, "policy")),
                       count_noun(shared(object, "horizon"), "round", "rounds")),
    caption = wrap_caption(
      if (any(data$method == "sampling")) {
        sprintf("Findings hold together with %s confidence.", words_level(shared(object, "level")))
      },
      if (all(data$claimed == Inf)) "Nothing is claimed."
    ),
    alt = sprintf("An audit of %s: %s. The most that was found: %s.",
                  policy_title(shared(object, "policy")), audit_verdict(object),
                  words_list(sprintf("%s at delta %s", shorts(worst$lower), label_count(worst$delta))))
  )
}

# A policy in a title: one of functions by its name, for its code says nothing
policy_title <- function(policy) if (plays_r(list(policy))) policy$name else format(policy, digits = 5)

audit_colours <- function() {
  stats::setNames(LINE_COLOURS[c(1, 3, 2)], c("claim", "finding", "finding above the claim"))
}

audit_bars <- function(data) {
  # An infinite finding reaches beyond all others.
  finite <- c(data$lower, data$claimed)[is.finite(c(data$lower, data$claimed))]
  data$shown <- pmin(data$lower, 2 * max(finite, 1))
  claim <- data[is.finite(data$claimed), ]
  ggplot2::ggplot(data, ggplot2::aes(.data$shown, .data$adversary, fill = .data$verdict)) +
    ggplot2::geom_col(width = 0.6) +
    ggplot2::geom_text(ggplot2::aes(label = "Inf"), data = data[data$lower == Inf, ], hjust = 1.2,
                       colour = "white") +
    ggplot2::geom_vline(ggplot2::aes(xintercept = .data$claimed, linetype = "claim"), data = claim) +
    ggplot2::scale_y_discrete(limits = rev, labels = wrap_label) +
    ggplot2::scale_x_continuous(labels = label_count, limits = c(0, if (all(data$shown == 0)) 1 else NA)) +
    ggplot2::scale_fill_manual(NULL, values = audit_colours(), breaks = names(audit_colours())) +
    panels_by(data, "method") +
    (if (nrow(claim)) ggplot2::scale_linetype_manual(NULL, values = c(claim = "solid"))) +
    plot_words(rows = unique(as.character(data$adversary)),
               x = sprintf("epsilon at\ndelta = %s", label_count(data$delta[1])), y = NULL)
}

audit_curves <- function(data) {
  # Neither 0 nor Inf has a place on these axes.
  data <- data[data$delta > 0 & is.finite(data$lower), ]
  ggplot2::ggplot(data, ggplot2::aes(.data$delta)) +
    ggplot2::geom_line(ggplot2::aes(y = .data$claimed, colour = "claim"),
                       data = data[is.finite(data$claimed), ]) +
    ggplot2::geom_line(ggplot2::aes(y = .data$lower), colour = audit_colours()[["finding"]]) +
    ggplot2::geom_point(ggplot2::aes(y = .data$lower, colour = .data$verdict)) +
    panels_by(data, c("adversary", "method")) +
    ggplot2::scale_x_log10(labels = label_count, breaks = powers_of_ten(data$delta)) +
    ggplot2::scale_y_continuous(labels = label_count, limits = c(0, NA)) +
    ggplot2::scale_colour_manual(NULL, values = audit_colours(), breaks = names(audit_colours())) +
    plot_words(x = "delta", y = "epsilon")
}
