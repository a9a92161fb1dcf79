# Run an experiment of the catalogue, and draw the paper's figure from the result.

#' Reproduce an experiment of the papers
#'
#' `dpts_reproduce()` makes a published figure again, on your machine. Runs one experiment of
#' [dpts_experiment()] and returns its data; `autoplot()` draws the paper's figure from it, and [claims()]
#' measures what the paper says about it.
#'
#' @param id An id of [dpts_experiment()], or what it returned.
#' @param ... Parameters that the paper leaves open, passed to [dpts_experiment()].
#' @param runs How many runs, or the run numbers themselves; `NULL` for the experiment's own.
#' @param seed A whole number, or `NULL` to take one from R's generator.
#' @param record How many rounds of a `"simulation"` to record, as in [dpts_simulate()]; 1 is the last round
#'   alone. To a number above 1 the last round of each pre-pulling phase is added, which [claims()] compares.
#'   `"tuning"` records the last round alone.
#' @param threads,progress,checkpoint As in [dpts_simulate()]; only the kinds that simulate use them.
#' @returns A tibble of class `dpts_reproduction`. Its columns depend on the kind of the experiment:
#'   * `"simulation"`: those of [dpts_simulate()], `policy`, `run`, `t`, `regret` (cumulative
#'     pseudo-regret, in units of reward), `reward`;
#'   * `"tuning"`: those of [dpts_tune()], `accountant`, `prepulls`, `variance_scale`, `regret`
#'     (mean at the horizon), `se`, `best` (the least regret of its guarantee), and `mu`,
#'     `lower`, `upper` (95% confidence), `runs`;
#'   * `"privacy"`: those of [dpts_privacy()], `policy`, `accountant`, `horizon`, `delta`, `epsilon`;
#'   * `"replay"`: those of [dpts_replay()], `policy`, `delay`, `run`, `events`, `reward`, `rate`, `relative`.
#'
#'   Then follow `panel` and `series` (factors: where the figure shows the row, and by what
#'   name) and the parameters of the policy.
#' @template see_experiments
#' @examples
#' # Ou et al., Figure 1: nothing is simulated
#' privacy <- dpts_reproduce("ou-1")
#' autoplot(privacy)
#'
#' # Figure 2 at a small size
#' regret <- dpts_reproduce("ou-2", mu = c(1, 10), prepulls = c(0, 49, 499),
#'                          horizon = 10000, runs = 4)
#' autoplot(regret)
#' claims(regret)
#' @export
dpts_reproduce <- function(id, ..., runs = NULL, seed = 1, record = 200,
                           threads = getOption("dpts.threads", 1L),
                           progress = interactive(), checkpoint = NULL) {
  check_given(id)
  if (inherits(id, "dpts_experiment")) {
    check_dots_empty(...)
    experiment <- id
  } else {
    experiment <- dpts_experiment(id, ...)
  }
  if (!is.null(runs)) check_runs(runs)
  check_checkpoint(checkpoint, seed)
  if (!is.null(seed)) check_seed(seed)
  check_record(record, if (experiment$kind == "simulation") experiment$horizon else 1e6) # unused by others
  check_count(threads, 1, 1024)
  check_flag(progress)
  begin_stages(progress)
  if (is.null(runs)) runs <- experiment$runs
  result <- switch(experiment$kind,
    simulation = reproduce_simulation(experiment, runs, seed, record, threads, progress, checkpoint),
    tuning = reproduce_tuning(experiment, runs, seed, threads, progress, checkpoint),
    privacy = reproduce_privacy(experiment),
    replay = reproduce_replay(experiment, runs, seed, progress, checkpoint)
  )
  new_reproduction(result, experiment)
}

# A result of its kind that knows the experiment it belongs to. Claims are functions that call others by their
# names, which a later version may have changed: claims() takes them from the catalogue again.
new_reproduction <- function(result, experiment) {
  experiment$claims <- NULL
  attr(result$policy, "shared")$experiment <- meant(experiment)
  class(result) <- c("dpts_reproduction", class(result))
  result
}

# Append each row's settings, by policy
with_settings <- function(x, settings) {
  at <- match(as.character(x$policy), as.character(settings$policy))
  for (name in setdiff(names(settings), c("policy", names(x)))) x[[name]] <- settings[[name]][at]
  x
}

reproduce_simulation <- function(experiment, runs, seed, record, threads, progress, checkpoint) {
  record <- if (is_count_argument(record) && check_count(record) > 1) {
    at <- record_rounds(check_count(record, 1), experiment$horizon)
    pre <- vapply(experiment$policies, function(p) p$rounds_per_arm, 0) * n_arms(experiment$arms)
    I(sort(unique(c(at, pre[pre > 0 & pre < experiment$horizon]))))
  } else record
  sim <- dpts_simulate(experiment$arms, experiment$policies, experiment$horizon, runs = runs,
                       seed = seed, record = record, threads = threads, progress = progress,
                       checkpoint = checkpoint)
  with_settings(sim, experiment$settings)
}

reproduce_tuning <- function(experiment, runs, seed, threads, progress, checkpoint) {
  sim <- dpts_simulate(experiment$arms, experiment$policies, experiment$horizon, runs = runs,
                       seed = seed, record = I(experiment$horizon), threads = threads,
                       progress = progress, checkpoint = checkpoint)
  settings <- experiment$settings
  seed <- one_seed(sim)
  sim <- bare(sim)
  empty <- rep(NA_real_, nrow(settings))
  new_tuning(
    list(accountant = rep(experiment$accountant, nrow(settings)),
         prepulls = settings$prepulls, variance_scale = settings$variance_scale,
         regret = empty, se = empty, best = rep(NA, nrow(settings)), mu = settings$mu,
         lower = empty, upper = empty, runs = rep(0L, nrow(settings)),
         panel = settings$panel, series = settings$series, policy = settings$policy),
    by = "policy", things = experiment$policies,
    runs = list(policy = as.character(sim$policy), run = as.double(sim$run),
                seed = rep(seed, nrow(sim)), regret = sim$regret),
    shared = list(budget = sprintf("%s-GDP", paste(shorts(unique(settings$mu)), collapse = "-, ")),
                  horizon = experiment$horizon, arms = experiment$arms)
  )
}

reproduce_privacy <- function(experiment) {
  x <- experiment
  parts <- Map(function(horizon, arms) {
    own <- setdiff(x$accountant, c("paper", "standard"))
    rows <- if (length(own)) {
      as.data.frame(
        dpts_privacy(x$policies, horizon, delta = x$delta, accountant = own, arms = arms)
      )[c("policy", "accountant", "delta", "epsilon")]
    }
    if (x$conversion == "mironov") {
      rdp <- rows$accountant == "rdp"
      # Ou et al., Theorem 8, at the best alpha
      rows$epsilon[rdp] <- rdp_epsilon(rdp = horizon / 4, delta = rows$delta[rdp], conversion = "mironov")
    }
    if ("paper" %in% x$accountant) rows <- rbind(theorem_4(x, horizon), rows)
    if ("standard" %in% x$accountant) rows <- rbind(rows, corollary_1(x, horizon, arms))
    rows$horizon <- rep(horizon, nrow(rows))
    rows$arms <- rep(arms, nrow(rows))
    rows
  }, x$horizon, x$arms)
  rows <- do.call(rbind, parts)
  rows <- new_privacy(
    list(policy = factor(rows$policy, names(x$policies)), accountant = rows$accountant,
         horizon = rows$horizon, delta = rows$delta, epsilon = rows$epsilon, arms = rows$arms),
    x$policies, list()
  )
  if (!is.null(x$settings)) return(with_settings(rows, x$settings))
  rows$panel <- ordered_labels(sprintf("N = %s, T = %s", shorts(rows$arms), shorts(rows$horizon)))
  rows$series <- factor(accountant_labels()[rows$accountant], accountant_labels()[x$accountant])
  rows
}

accountant_labels <- function() {
  c(paper = "Theorem 4", gdp = "Gaussian DP", rdp = "Renyi DP", standard = "standard DP",
    advanced = "exact rounds, composed", sequence = "sequence of arms")
}

# Ou et al., Theorem 4 as printed: T rounds of 1 / sqrt(c (b + 1))
theorem_4 <- function(experiment, horizon) {
  settings <- experiment$settings
  n <- length(experiment$delta)
  mu <- sqrt(horizon / (settings$variance_scale * (settings$prepulls + 1)))
  delta <- rep(experiment$delta, nrow(settings))
  data.frame(policy = rep(as.character(settings$policy), each = n), accountant = "paper",
             delta = delta, epsilon = gdp_epsilon(rep(mu, each = n), delta))
}

# Ou et al., Theorem 7 in Corollary 1: a round is (5 sqrt(log(2 / d)), (N - 1) d)-DP, and T
# rounds by advanced composition. Half of delta goes to the slack, half to the rounds.
corollary_1 <- function(experiment, horizon, arms) {
  delta <- experiment$delta
  d <- delta / (2 * horizon * (arms - 1))
  round <- 5 * sqrt(log(2 / d))
  data.frame(policy = names(experiment$policies), accountant = "standard", delta = delta,
             epsilon = round * sqrt(2 * horizon * log(2 / delta)) + horizon * round * expm1(round))
}

reproduce_replay <- function(experiment, runs, seed, progress, checkpoint) {
  rows <- dpts_replay(experiment$log, experiment$policies, delay = experiment$delay,
                      runs = runs, seed = seed, progress = progress, checkpoint = checkpoint)
  with_settings(rows, experiment$settings)
}

#' @export
tbl_sum.dpts_reproduction <- function(x, ...) {
  experiment <- shared(x, "experiment")
  if (is.null(experiment)) return(NextMethod())
  c("Reproduction" = sprintf("%s, %s", experiment$id, experiment$title),
    "Source" = experiment$source, NextMethod())
}

# ---- figures ------------------------------------------------------------------------------

#' Draw a figure of the papers
#'
#' `autoplot()` draws a published figure from your own runs.
#'
#' @param object A result of [dpts_reproduce()].
#' @param ... Must be empty.
#' @param log Which axes are logarithmic: `""`, `"x"`, `"y"`, `"xy"`, or `NULL` for those of the figure.
#' @param level Confidence level of the bands and bars.
#' @returns A ggplot: regret over rounds with bands (kind `"simulation"`), regret at the horizon against the
#'   guarantee with bars (`"tuning"`), epsilon against delta (`"privacy"`), or the rate relative to the
#'   uniform policy against the delay (`"replay"`); a panel for each panel of the figure.
#' @template see_experiments
#' @examples
#' autoplot(dpts_reproduce("ou-7"))
#' autoplot(dpts_reproduce("hh-2", horizon = 2e4, runs = 5), log = "xy")
#' @export
autoplot.dpts_reproduction <- function(object, ..., log = NULL, level = 0.95) {
  check_dots_empty(...)
  check_number(level, 0, 1, open = TRUE)
  if (!is.null(log)) check_choice(log, c("", "x", "y", "xy", "yx"))
  experiment <- shared(check_result(object, c("policy", "panel", "series"), labels = TRUE), "experiment")
  if (nrow(object) == 0) return(nothing_to_draw())
  draw <- switch(experiment$kind, simulation = draw_regret, tuning = draw_tuning,
                 privacy = draw_privacy, replay = draw_replay)
  plot <- draw(object, experiment, log, level)
  panels <- length(unique(object$panel))
  if (panels > 1 && experiment$kind != "tuning") {
    plot <- plot + ggplot2::facet_wrap(
      ggplot2::vars(.data$panel), nrow = if (panels <= 3) 1,
      scales = if (experiment$kind == "privacy" && is.null(experiment$settings)) "free_y" else "fixed"
    ) +
      # Room for the panels, and between the last number of one axis and the first of the next
      ggplot2::theme(legend.position = "bottom", panel.spacing.x = ggplot2::unit(13, "pt"))
  }
  plot
}

# Colours for a factor: an ordered scale for the values of a parameter ("b = 9"), black for
# what has none, Okabe and Ito's for names
scales_series <- function(series, breaks = NULL) {
  levels <- levels(droplevels(series))
  valued <- grepl(" = ", levels, fixed = TRUE)
  if (sum(valued) < 2) return(scales_by(levels, breaks %||% levels))
  colours <- stats::setNames(rep("#000000", length(levels)), levels)
  n <- sum(valued)
  colours[valued] <- ordered_colours(n)
  # Neighbours differ in more than colour, and what lies below a line shows through its gaps.
  each <- function(values) stats::setNames(rep_len(values, length(levels)), levels)
  list(
    colour = ggplot2::scale_colour_manual(NULL, values = colours, breaks = levels),
    linetype = ggplot2::scale_linetype_manual(NULL, values = each(LINE_TYPES), breaks = levels),
    shape = ggplot2::scale_shape_manual(NULL, values = each(POINT_SHAPES), breaks = levels)
  )
}

# Colours for the values of a parameter, from dark to light as far as they stand out
ordered_colours <- function(n) {
  readable(grDevices::hcl.colors(ceiling(n * 1.3), "plasma")[seq_len(n)], 3.8)
}

draw_regret <- function(object, experiment, log, level) {
  stats <- bare(summary(object, level = level))
  last <- final_rows(stats)
  log <- log %||% experiment$log %||% ""
  scales <- axes(log)
  panels <- nlevels(droplevels(stats$panel))
  # Narrow panels have room for few labels, and short ones.
  scales[[1]] <- if (grepl("x", log)) ggplot2::scale_x_log10(labels = label_thousands)
    else ggplot2::scale_x_continuous(labels = label_thousands, n.breaks = if (panels > 1) 3 else 5)
  # One panel of named policies: the legend from the highest curve to the lowest
  breaks <- if (panels == 1 && !grepl(" = ", last$series[1], fixed = TRUE)) {
    unique(as.character(last$series[order(-last$mean)]))
  }
  if (grepl("y", log)) {
    stats <- stats[stats$mean > 0, , drop = FALSE]
    # On a linear x axis the first rounds are a vertical line, not worth three decades.
    floor <- if (grepl("x", log)) max(min(stats$mean), 1) else min(last$mean) / 10
    stats <- stats[stats$mean >= floor, , drop = FALSE]
    stats$lower <- pmax(stats$lower, floor)
  }
  regret_curves(stats, "series") + scales_series(stats$series, breaks)[c("colour", "linetype")] + scales +
    plot_words(
      x = "Round", y = REGRET_Y, caption = words_mean(last$runs, level),
      alt = figure_alt(
        experiment, sprintf("mean cumulative regret against rounds, with %s confidence bands",
                            words_level(level)),
        "At the last round", last$panel, last$series, last$mean
      )
    )
}

draw_tuning <- function(object, experiment, log, level) {
  log <- log %||% "xy"
  scales <- axes(log)
  rows <- bare(check_result(object, c("mu", "regret", "best")))
  rows[c("lower", "upper")] <- tuning_interval(object, level)
  at <- unique(rows$mu)
  scales[[1]] <- if (grepl("x", log)) {
    ggplot2::scale_x_log10(breaks = at, labels = label_count, minor_breaks = NULL)
  } else ggplot2::scale_x_continuous(breaks = at, minor_breaks = NULL)
  best <- rows[rows$best, ]
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$mu, y = .data$regret, colour = .data$series)) +
    ggplot2::geom_line(ggplot2::aes(group = .data$series, linetype = .data$series), linewidth = 0.6) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), na.rm = TRUE,
                            show.legend = FALSE) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$series), size = 1.6) +
    scales_series(rows$series)[c("colour", "linetype", "shape")] + scales +
    plot_words(x = "Privacy guarantee (mu-GDP, total)", y = paste0(REGRET_Y, "\nat the horizon"),
                  colour = NULL, linetype = NULL, shape = NULL,
                  caption = words_mean(rows$runs, level, "bar"),
                  alt = figure_alt(
                    experiment, "regret at the horizon against the guarantee, a line for each b",
                    "The lowest point of each guarantee", paste0(shorts(best$mu), "-GDP"),
                    best$series, best$regret
                  ))
}

draw_privacy <- function(object, experiment, log, level) {
  rows <- bare(check_result(object, "epsilon"))
  by_parameter <- !is.null(experiment$settings)
  wide <- by_parameter || any(c("standard", "sequence") %in% rows$accountant)
  log <- log %||% if (wide) "xy" else "x"
  scales <- axes(log, rows$delta)
  labels <- accountant_labels()
  rows$account <- factor(labels[rows$accountant], labels[experiment$accountant])
  several <- by_parameter && length(unique(rows$accountant)) > 1
  # Curves of two accountants can lie on one another.
  rows$type <- if (by_parameter) rows$account else rows$series
  left <- rows[rows$delta == min(rows$delta), ]
  names <- if (by_parameter) { # at the left end of each curve
    scales[[1]]$expand <- ggplot2::expansion(c(0.6, 0.05))
    list(
      ggplot2::geom_text(ggplot2::aes(label = .data$series), hjust = 1.15, size = 2.9, show.legend = FALSE,
                         data = left[left$accountant == experiment$accountant[1], ]),
      ggplot2::scale_colour_manual(values = colours_by_panel(experiment$settings), guide = "none"),
      ggplot2::scale_linetype_manual(NULL, values = LINE_TYPES, guide = if (several) "legend" else "none")
    )
  } else scales_series(rows$series)[c("colour", "linetype")]
  ggplot2::ggplot(rows, ggplot2::aes(.data$delta, .data$epsilon, colour = .data$series, linetype = .data$type,
                                     group = interaction(.data$policy, .data$accountant))) +
    ggplot2::geom_line(linewidth = 0.6) + names + scales +
    plot_words(x = "delta", y = "epsilon", colour = NULL, linetype = NULL, alt = figure_alt(
      experiment, "epsilon against delta", sprintf("At delta = %s", label_count(min(left$delta))),
      left$panel, if (several) paste(left$series, left$account, sep = ", ") else left$series,
      left$epsilon
    ))
}

# The same colours in every panel, by the place of a series in its panel
colours_by_panel <- function(settings) {
  place <- stats::ave(seq_len(nrow(settings)), settings$panel, FUN = seq_along)
  stats::setNames(ordered_colours(max(place))[place], settings$series)
}

draw_replay <- function(object, experiment, log, level) {
  stats <- summary(object, level = level)
  autoplot.dpts_replay(object, level = level) + axes(log %||% "")[2] + ggplot2::labs(
    colour = NULL, shape = NULL, alt = figure_alt(
      experiment,
      sprintf("reward relative to the uniform policy by delay, with %s intervals", words_level(level)),
      "The points", paste("delay", label_count(stats$delay)), stats$policy, stats$relative
    )
  )
}

# Alternative text: what is drawn, and the numbers a reader would read off: each curve of a
# panel at one place, or the highest and the lowest where there are many
figure_alt <- function(experiment, what, place, panel, series, value) {
  values <- shorts(value)
  series <- as.character(series)
  parts <- vapply(split(seq_along(value), factor(panel, unique(panel))), function(i) {
    i <- i[order(-value[i])]
    if (length(i) <= 6) return(paste(series[i], "at", values[i], collapse = ", "))
    ends <- i[c(1, length(i))]
    sprintf("from %s (%s) down to %s (%s)", values[ends[1]], series[ends[1]], values[ends[2]],
            series[ends[2]])
  }, "")
  if (length(parts) > 1) parts <- paste0(gsub("\n", ", ", names(parts)), ": ", parts)
  sprintf("%s: %s. %s: %s.", experiment$source, what, place, paste(parts, collapse = "; "))
}
