# What the plots of the package share: colours that stand out and that colour-blind readers can
# tell apart, numbers on axes that people read, names that fit, words for what is drawn, and
# nothing that touches the user's theme.

# ---- colours -------------------------------------------------------------------------------------

# The panel of ggplot2's default theme: the darkest ground that lines are commonly drawn on
GROUND <- "#EBEBEB"

# Contrast of colours to a ground, as the web's accessibility guidelines define it (WCAG 2,
# 1.4.11 asks for 3 or more)
contrast <- function(colour, ground = GROUND) {
  luminance <- function(colour) {
    s <- grDevices::col2rgb(colour) / 255
    drop(c(0.2126, 0.7152, 0.0722) %*% ifelse(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055)^2.4))
  }
  both <- cbind(luminance(colour), luminance(ground))
  (pmax(both[, 1], both[, 2]) + 0.05) / (pmin(both[, 1], both[, 2]) + 0.05)
}

# Colours darkened until they stand out
readable <- function(colours, least = 3) {
  shares <- seq(1, 0, by = -0.01)
  vapply(unname(colours), function(colour) {
    shades <- grDevices::rgb(t(outer(grDevices::col2rgb(colour)[, 1], shares)), maxColorValue = 255)
    shades[contrast(shades) >= least][1]
  }, "", USE.NAMES = FALSE)
}

# Eight colours that also colour-blind readers tell apart, dark enough for words on white: names at the ends
# of curves have the colours of the curves. Black and two of Okabe and Ito's; the others were searched for, so
# that the least distance of two, for all readers, is as large as it can be.
LINE_COLOURS <- c("#000000", "#C15500", "#0072B2", "#481860", "#007878", "#783030", "#4860F0", "#0000F0")

# Colours of n lines, never two the same
line_colours <- function(n) {
  if (n <= length(LINE_COLOURS)) return(LINE_COLOURS[seq_len(n)])
  i <- seq_len(3 * n)
  rep_len(unique(c(LINE_COLOURS, readable(grDevices::hcl((137.5 * i) %% 360, 50 + 10 * (i %% 5),
                                                         35 + 12 * (i %% 3)), 3.8))), n)
}

# Lines with gaps and open shapes let others show through.
LINE_TYPES <- c("solid", "42", "22", "62", "12", "4212", "6222", "82", "2262")
POINT_SHAPES <- c(1, 2, 0, 3, 4, 5, 16, 17, 15)

# Scales that give each level a colour, line type and shape of its own, in the order of `breaks` in the legend
#
# With `title = waiver()` and short names the legend of a scale that the user adds is one with the others.
scales_by <- function(levels, breaks = levels, title = NULL) {
  each <- function(values) stats::setNames(rep_len(values, length(levels)), levels)
  words <- if (any(nchar(levels) > 26)) wrap_label else ggplot2::waiver()
  manual <- function(scale, values) {
    scale(title, values = each(values), breaks = breaks, labels = words, guide = "legend")
  }
  colours <- line_colours(length(levels))
  list(
    colour = manual(ggplot2::scale_colour_manual, colours),
    fill = manual(ggplot2::scale_fill_manual, colours),
    linetype = manual(ggplot2::scale_linetype_manual, LINE_TYPES),
    shape = manual(ggplot2::scale_shape_manual, POINT_SHAPES)
  )
}

# ---- names ---------------------------------------------------------------------------------------

# Heights for names at the right ends of curves, as near to them as they can be without overlap
#
# `ends`: A data frame with `x`, `y` and `label`.
# `log`: The logarithmic axes, as in `plot()`.
# `range`: What the y axis spans.
spread_ends <- function(ends, log, range) {
  to <- if (grepl("y", log)) log10 else identity
  from <- if (grepl("y", log)) function(v) 10^v else identity
  n <- nrow(ends)
  ends <- ends[order(ends$y), ]
  ends_at <- to(range)
  gap <- diff(ends_at) / max(n, MAX_LABELS)
  # The nearest heights in order that leave the gap: isotonic regression, inside the panel.
  room <- stats::isoreg(to(ends$y) - seq_len(n) * gap)$yf
  room <- pmax(pmin(room, ends_at[2] - n * gap), ends_at[1] - gap)
  ends$at <- from(room + seq_len(n) * gap)
  ends
}

# Names at the ends of curves, by spread_ends(), in place of a legend; fit_ends() makes their room.
label_ends <- function(ends) {
  ends$dpts_name <- as.character(ends$label)
  list(
    ggplot2::geom_segment(
      ggplot2::aes(x = .data$x, xend = Inf, y = .data$y, yend = .data$at, colour = .data$label),
      data = ends[names(ends) != "dpts_name"], linewidth = 0.2, inherit.aes = FALSE, show.legend = FALSE
    ),
    ggplot2::geom_text(
      ggplot2::aes(x = Inf, y = .data$at, label = paste0(" ", .data$dpts_name), colour = .data$label),
      data = ends, hjust = 0, size = NAME_POINTS / ggplot2::.pt, inherit.aes = FALSE, show.legend = FALSE
    ),
    ggplot2::coord_cartesian(clip = "off"),
    no_legend()
  )
}

# Where curves carry their names. A legend that a theme hides would come back with the user's own theme.
no_legend <- function() ggplot2::guides(colour = "none", linetype = "none", shape = "none")

# Names at the ends of the curves of a plot without panels, if a legend could not tell them apart; a panel for
# each curve, if names could not. `panel`: the column of the plot's data that tells curves apart
names_at_end <- function(x, y, label, log = "", range = base::range(y[is.finite(y)]), panel = NULL) {
  if (length(unique(label)) <= MANY_LINES) return(NULL)
  last <- order(x, decreasing = TRUE)
  last <- last[!duplicated(label[last])]
  if (length(last) > MAX_LABELS) {
    if (is.null(panel)) return(NULL)
    return(list(panels_by(stats::setNames(data.frame(label), panel), panel), no_legend()))
  }
  label_ends(spread_ends(data.frame(x = x[last], y = y[last], label = label[last]), log, range))
}

# Panels for what the data have several of, with room for their names, and for the numbers on their axes
panels_by <- function(data, columns, ...) {
  several <- columns[vapply(columns, function(name) length(unique(data[[name]])) > 1, NA)]
  if (length(several)) list(ggplot2::facet_wrap(several, ..., labeller = panel_names), room_between())
}

# Names of panels, of 8 points, may reach into the room between them.
room_between <- function() {
  ggplot2::theme(panel.spacing.x = ggplot2::unit(18, "pt"), plot.margin = ggplot2::margin(5.5, 12, 5.5, 5.5),
                 strip.clip = "off", strip.text = ggplot2::element_text(size = ggplot2::rel(0.73),
                                                                        margin = ggplot2::margin(2, 0, 2)))
}

# ---- intervals -----------------------------------------------------------------------------------

# A line for each run from `from` to `to`, with a point at `at`, for each level of `y`: what estimates,
# effects and pulls have in common
draw_ranges <- function(data, x, alt, caption, log = "", line = NULL) {
  runs <- unique(data[["run"]])
  few <- runs[seq_len(min(length(runs), MAX_RUNS))]
  if (length(runs)) data <- data[data$run %in% few, ]
  data$line <- if (length(runs)) data$run else 1
  bare <- is.na(data$from) | is.na(data$to) # a point without an interval
  data$from[bare] <- data$to[bare] <- data$at[bare]
  place <- if (length(few) > 1) ggplot2::position_dodge(width = 0.7) else "identity"
  by <- intersect(c("problem", "policy", "delay", "stratum", "site"), names(data))
  panels <- panels_by(data, by)
  large <- max(data$to, 0, na.rm = TRUE) >= 1000
  above <- vctrs::vec_unique_count(data[by])
  rows <- rep(levels(data$y), if (above > 3) grDevices::n2mfrow(above)[2] else 1)
  ggplot2::ggplot(data, ggplot2::aes(.data$at, .data$y, group = .data$line)) +
    (if (!is.null(line)) ggplot2::geom_vline(xintercept = line, linewidth = 0.3)) +
    ggplot2::geom_pointrange(ggplot2::aes(xmin = .data$from, xmax = .data$to), position = place,
                             size = point_size(length(rows) * length(few)) / 5, na.rm = TRUE) +
    ggplot2::scale_y_discrete(labels = wrap_label, drop = FALSE) +
    (if (log == "" && (large || !is.null(panels)))
      ggplot2::scale_x_continuous(labels = if (large) label_thousands else label_count, n.breaks = 3)
     else axes(log)[[1]]) +
    panels + (if (is.null(panels)) room_between()) + # the last number of the axis can lie at its end
    plot_words(x = x, y = NULL, alt = alt, rows = rows,
               caption = wrap_caption(caption, words_runs(length(runs))))
}

# Points of so many rows, in millimetres
point_size <- function(rows) if (rows > MANY_LINES) 1.2 else 2.5

# Of more runs none can be seen.
MAX_RUNS <- 20L

# From the first level at the top to the last
downwards <- function(x) factor(x, rev(if (is.factor(x)) levels(x) else unique(x)))

# ---- words ---------------------------------------------------------------------------------------

# "95%", "99.9%"
words_level <- function(level) scales::label_percent(accuracy = 0.01, drop0trailing = TRUE)(level)

# What a pseudo-regret counts
REGRET_Y <- "Mean regret\n(expected reward lost)"

# "Mean of 20 runs, with 95% confidence bands": what a plot of means shows
words_mean <- function(runs, level, mark = "band") {
  runs <- range(runs)
  over <- if (runs[1] == runs[2]) count_noun(runs[1], "run", "runs") else
    sprintf("%s to %s runs", label_count(runs[1]), label_count(runs[2]))
  if (runs[2] < 2) return("One run, which has no confidence interval.")
  sprintf("Mean of %s; %s: %s confidence interval.", over, mark, words_level(level))
}

# What a plot says of n runs, each of which it would draw
words_runs <- function(n) {
  if (n > MAX_RUNS) sprintf("Drawn are %d of %s runs.", MAX_RUNS, label_count(n)) else
    if (n > 1) "Each line is one run."
}

# A plot that says why it is empty
nothing_to_draw <- function(why = "No rows to draw.") {
  ggplot2::ggplot() +
    ggplot2::annotate("text", x = 0, y = 0, label = paste(strwrap(why, 50), collapse = "\n")) +
    ggplot2::theme_void() +
    ggplot2::theme(plot.background = ggplot2::element_rect(fill = "white", colour = NA)) +
    ggplot2::labs(alt = why)
}

# Two to four round powers of ten inside the range of x, for a narrow axis
powers_of_ten <- function(x) {
  ends <- round(log10(range(x)), 6)
  at <- unique(round(pretty(ends, 3)))
  at <- at[at >= ends[1] & at <= ends[2]]
  if (length(at)) 10^at else range(x)
}

# ---- numbers on axes ---------------------------------------------------------------------------

# "100k", "2M": counts where there is little room
label_thousands <- function(x) {
  scales::label_number(accuracy = 0.01, scale_cut = scales::cut_short_scale(), drop0trailing = TRUE)(x)
}

# Continuous axes, logarithmic where `log` holds the axis's letter, as in `plot()`
# `narrow`: What a narrow x axis spans, which has room for few numbers
axes <- function(log, narrow = NULL) {
  check_choice(log, c("", "x", "y", "xy", "yx"))
  axis <- function(letter, linear, logarithmic) {
    apart <- ggplot2::guide_axis(check.overlap = TRUE)
    if (!grepl(letter, log, fixed = TRUE)) return(linear(labels = label_count, guide = apart))
    few <- letter == "x" && !is.null(narrow)
    logarithmic(labels = label_count, guide = apart,
                breaks = if (few) powers_of_ten(narrow) else ggplot2::waiver())
  }
  list(axis("x", ggplot2::scale_x_continuous, ggplot2::scale_x_log10),
       axis("y", ggplot2::scale_y_continuous, ggplot2::scale_y_log10))
}
