# Pictures of what releases prove.

#' Draw evidence and effects
#'
#' `autoplot()` draws how near an arm is to being declared best, or how far apart arms are. For `evidence()`
#' a line shows, for each arm, the smallest of its evidence against its rivals. A verdict is reached when it
#' reaches the threshold, a wide grey line. With `against` each arm has a line for each side. For `effects()`
#' it draws the differences between arms with their intervals.
#'
#' @param object A result of [evidence()] or of [effects()][effects.dpts_simulation].
#' @param ... Must be empty.
#' @returns A ggplot with a panel for each policy, and problem, if there are several. At most twenty runs are
#'   drawn. Of more than 18 pairs of arms only those with the arm that has the highest estimates are drawn.
#' @template see_evidence
#' @examples
#' arms <- arms_bernoulli(c(old = 0.5, new = 0.6))
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, runs = 3, seed = 1, history = TRUE)
#' autoplot(evidence(sim, "tosses"))
#' autoplot(effects(sim))
#' @export
autoplot.dpts_evidence <- function(object, ...) {
  check_dots_empty(...)
  known <- "side" %in% names(object)
  need_columns(object, c("t", "arm", if (known) "against" else "rival", "evidence", "line"))
  data <- bare(object)
  if (nrow(data) == 0) return(nothing_to_draw("No evidence to draw: nothing was released."))
  data$arm <- as.factor(data$arm)
  if (known) data$arm <- interaction(data$arm, data$side, sep = " ", lex.order = TRUE, drop = TRUE)
  panels <- intersect(c("problem", "policy", "delay"), names(data))
  by <- intersect(c(panels, "run"), names(data))
  runs <- unique(data[["run"]])
  if (length(runs) > MAX_RUNS) data <- data[data$run %in% runs[seq_len(MAX_RUNS)], ]
  # Of each arm the least over its rivals
  data <- data[do.call(order, unname(c(lapply(data[c(by, "t", "arm")], as.numeric), list(data$evidence)))), ]
  data <- data[!duplicated(data[c(by, "t", "arm")]), ]
  data$each <- if (length(runs)) data$run else 1
  data$shown <- pmax(data$evidence, 0)
  start <- data[!duplicated(data[c(by, "arm")]), ]
  start[c("t", "shown")] <- 0
  data <- rbind(start, data)
  last <- data[!duplicated(data[c(by, "arm")], fromLast = TRUE), ]
  levels <- levels(data$arm)
  line <- unique(data$line)
  what <- if (known) paste("Evidence that the mean is not", number_text(data$against[1])) else
    "Evidence to be the best arm"
  ggplot2::ggplot(data, ggplot2::aes(.data$t, .data$shown, colour = .data$arm, linetype = .data$arm,
                                     group = interaction(.data$arm, .data$each))) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = .data$line), colour = "grey75", linewidth = 1.8) +
    ggplot2::geom_step(linewidth = if (length(runs) > 3) 0.3 else 0.7) +
    scales_by(levels, title = ggplot2::waiver())[c("colour", "linetype")] +
    ggplot2::scale_x_continuous(labels = label_thousands, n.breaks = 4) +
    panels_by(data, c(panels, if (length(levels) > MAX_LABELS) "arm")) +
    (if (length(levels) > MAX_LABELS) no_legend()) +
    plot_words(x = "People", y = what, colour = "Arm", linetype = "Arm",
                  caption = paste(c("Wide and grey: the threshold. Natural logarithms; below 0 drawn at 0.",
                                    words_runs(length(runs))), collapse = " "),
                  alt = sprintf("%s, against people; at the end %s; the line is at %s.", what,
                                paste(utils::head(paste(last$arm, shorts(signif(last$evidence, 3))), 12),
                                      collapse = ", "),
                                paste(shorts(signif(line, 3)), collapse = ", ")))
}

#' @rdname autoplot.dpts_evidence
#' @export
autoplot.dpts_effects <- function(object, ...) {
  check_dots_empty(...)
  need_columns(object, c("arm", "control", "difference", "lower", "upper"))
  data <- bare(object)
  data <- data[!is.na(data$difference), ]
  if (nrow(data) == 0) return(nothing_to_draw("No effect to draw: nothing was released."))
  pairs <- nrow(unique(data[c("arm", "control")]))
  many <- pairs > MAX_LABELS && length(unique(data$control)) > 1
  if (many) {
    problems <- split(data, data[["problem"]] %||% 1, drop = TRUE)
    data <- do.call(rbind, unname(lapply(problems, pairs_with_best)))
  }
  data$case <- if (is.null(data[["missing"]])) "" else sprintf(" (missing: %s)", data$missing)
  one <- length(unique(data$control)) == 1
  data$y <- downwards(paste0(data$arm, if (!one) paste(" against", data$control), data$case))
  data[c("at", "from", "to")] <- data[c("difference", "lower", "upper")]
  first <- utils::head(data, 12)
  draw_ranges(data, paste0("Difference of mean rewards", if (one) paste(" from", data$control[1])), line = 0,
              caption = c(
                if (many) sprintf("Of %s pairs, only those with the arm that has the highest estimates.",
                                  label_count(pairs)),
                words_intervals(asked_of(object))
              ),
              alt = sprintf("Differences of mean rewards with intervals: %s.",
                            paste0(first$arm, " against ", first$control, first$case, " ",
                                   shorts(signif(first$difference, 2)), " [",
                                   shorts(signif(first$lower, 2)), ", ",
                                   shorts(signif(first$upper, 2)), "]", collapse = "; ")))
}

# Of many pairs those with the arm that has the highest estimates, the nearest first
pairs_with_best <- function(data) {
  turned <- data
  turned[c("arm", "control")] <- data[c("control", "arm")]
  turned[c("difference", "lower", "upper")] <- -data[c("difference", "upper", "lower")]
  if (!is.null(data[["missing"]])) {
    other <- c(released = "released", worst = "best", best = "worst")
    turned$missing <- unname(other[as.character(data$missing)])
  }
  both <- rbind(data, turned)
  own <- both[both$control == names(which.max(tapply(both$difference, both$arm, mean))), ]
  own[order(-stats::ave(own$difference, own$arm)), ]
}

# What the intervals of effects() promise; NULL: it is not known
words_intervals <- function(intervals) {
  if (is.null(intervals)) return("Line: an interval.")
  sprintf("Line: an interval; with %s probability all of a run hold together, %s.",
          paste0(number_text(100 * intervals$level), "%"),
          if (intervals$at == "end") "at this one analysis" else "at all looks")
}
