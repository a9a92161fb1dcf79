#' Draw a problem
#'
#' `autoplot()` draws the means of the arms: over time where they change, else one point for each arm.
#'
#' @param object An `arms` object.
#' @param ... Must be empty.
#' @param horizon Number of rounds to draw for arms that change; `NULL` takes what shows the
#'   changes (for [arms_walk()] and [arms_custom()] 1000 rounds).
#' @param seed,run Which path to draw for [arms_walk()]: that of [dpts_simulate()] with this seed, in
#'   this run.
#' @returns A ggplot.
#' @template see_arms
#' @examples
#' autoplot(arms_bernoulli(c(control = 0.4, drug = 0.5)))
#' autoplot(arms_drift(c(a = 0.8, b = 0.2), c(a = 0.3, b = 0.7), "sine", period = 365))
#' autoplot(arms_walk(c(0.5, 0.5, 0.5), sd = 0.02), seed = 1)
#' @export
autoplot.dpts_arms <- function(object, ..., horizon = NULL, seed = 1, run = 1) {
  check_dots_empty(...)
  seed <- check_seed(seed)
  run <- check_count(run)
  horizon <- if (is.null(horizon)) world_shown(object$world) else check_count(horizon, 1, 1e8)
  if (is_changing(object)) draw_changing(object, horizon, seed, run) else draw_means(object)
}

draw_means <- function(arms) {
  data <- data.frame(arm = factor(arm_labels(arms), rev(arm_labels(arms))),
                     mean = unname(arms$mean), best = unname(arms$gap) == 0)
  ggplot2::ggplot(data, ggplot2::aes(.data$mean, .data$arm)) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$best), size = 2.5, show.legend = FALSE) +
    ggplot2::scale_shape_manual(values = c("FALSE" = 1, "TRUE" = 16)) +
    ggplot2::scale_x_continuous(labels = label_count) + ggplot2::scale_y_discrete() +
    plot_words(x = "Mean reward", y = "Arm", rows = levels(data$arm), caption = "Filled: the best arm.",
                  alt = sprintf("Mean rewards: %s.", paste(arm_labels(arms), shorts(signif(arms$mean, 3)),
                                                           collapse = ", ")))
}

draw_changing <- function(arms, horizon, seed, run) {
  means <- arm_means(arms, horizon, seed, run)
  # What a screen can show, and both sides of every switch.
  at <- unique(round(seq(1, horizon, length.out = min(horizon, 2000))))
  breaks <- arms$world$at
  at <- sort(unique(c(at, breaks - 1, breaks)))
  at <- at[at >= 1 & at <= horizon]
  labels <- colnames(means)
  data <- data.frame(t = rep(at, length(labels)), mean = c(means[at, ]),
                     arm = factor(rep(labels, each = length(at)), labels))
  ggplot2::ggplot(data, ggplot2::aes(.data$t, .data$mean, colour = .data$arm, linetype = .data$arm)) +
    ggplot2::geom_line(linewidth = 0.7) +
    scales_by(labels, title = "Arm")[c("colour", "linetype")] +
    ggplot2::scale_x_continuous(labels = label_count) +
    names_at_end(data$t, data$mean, data$arm, panel = "arm") +
    plot_words(x = "Round", y = "Mean reward",
                  alt = sprintf("Mean reward of %s over %s rounds, from %s to %s.",
                                count_noun(length(labels), "arm", "arms"), label_count(horizon),
                                paste(shorts(signif(means[1, ], 3)), collapse = ", "),
                                paste(shorts(signif(means[horizon, ], 3)), collapse = ", ")))
}
