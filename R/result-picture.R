# What depends on the size of a picture is decided when it is drawn, once for all plots of the package: where
# the legend stands and in how many columns, how many panels there are, where a title breaks. What has no room
# is left out, and the caption says so. A setting that the user has changed stays.

# The end of each autoplot() method: words around the plot, and what fits it to its picture
# `rows`: names of the rows of a discrete axis, once for each panel below another
plot_words <- function(..., caption = NULL, rows = NULL) {
  parts <- list(
    ggplot2::labs(..., caption = if (!is.null(caption)) wrap_caption(gsub("\n", " ", caption))),
    ggplot2::theme(plot.caption.position = "plot", plot.title.position = "plot",
                   plot.caption = ggplot2::element_text(size = ggplot2::rel(0.75)))
  )
  structure(list(parts = parts, rows = rows), class = "dpts_words")
}

#' @exportS3Method ggplot2::ggplot_add
ggplot_add.dpts_words <- function(object, plot, ...) {
  plot <- plot + object$parts
  if (!is.null(object$rows)) attr(plot, "dpts_rows") <- object$rows
  class(plot) <- c("dpts_plot", setdiff(class(plot), "dpts_plot"))
  plot
}

#' @exportS3Method ggplot2::ggplot_build
ggplot_build.dpts_plot <- function(plot, ...) {
  class(plot) <- setdiff(class(plot), "dpts_plot")
  ggplot2::ggplot_build(fit_plot(plot, picture_size()), ...)
}

# Width and height in points of where the plot will be drawn; 7 inches where there is no device
picture_size <- function() {
  if (grDevices::dev.cur() == 1) return(c(504, 504))
  whole <- grid::unit(1, "npc")
  c(grid::convertWidth(whole, "points", valueOnly = TRUE),
    grid::convertHeight(whole, "points", valueOnly = TRUE))
}

# ---- names and captions --------------------------------------------------------------------------

# Names on lines that fit beside a panel. Words that are longer are broken, after punctuation
# where there is some.
wrap_label <- function(x, width = 26) {
  cut <- sprintf("(\\S{1,%d}[,;_(]|\\S{%d})(?=\\S)", width - 1, width)
  vapply(scales::label_wrap(width)(as.character(x)), function(label) {
    lines <- strsplit(label, "\n", fixed = TRUE)[[1]]
    long <- nchar(lines) > width
    lines[long] <- gsub(cut, "\\1\n", lines[long], perl = TRUE)
    paste(lines, collapse = "\n")
  }, "", USE.NAMES = FALSE)
}

# Words below a plot, on lines that fit into 5 cm; fit_titles() breaks them anew
wrap_caption <- function(..., width = 34) {
  text <- paste(c(...), collapse = " ")
  if (nzchar(text)) paste(strwrap(text, width), collapse = "\n")
}

# Names on one line, without their middle if they are long: both ends tell policies apart
short_label <- function(x, width = 28) {
  long <- nchar(x) > width
  half <- (width - 1) %/% 2
  x[long] <- paste0(substr(x[long], 1, half), "\u2026", substring(x[long], nchar(x[long]) - half + 1))
  x
}

# More lines than a legend can tell apart carry their names at their ends; more than have room there get
# panels.
MANY_LINES <- 8
MAX_LABELS <- 18

# The caption of a plot with a sentence before it
caption_first <- function(plot, words) {
  plot + ggplot2::labs(caption = wrap_caption(words, gsub("\n", " ", plot$labels$caption %||% "")))
}

# ---- all parts -----------------------------------------------------------------------------------

# Below this width, in points, type is smaller: that of a column in a journal is 240.
NARROW <- 270
NARROW_TYPE <- 8

# The width of a letter in ems, on the average
LETTER <- 0.52

fit_plot <- function(plot, size) {
  narrow <- size[1] < NARROW
  complete <- isTRUE(attr(plot$theme, "complete"))
  whole <- function() if (complete) plot$theme else ggplot2::theme_get() + plot$theme
  type_of <- function(element) ggplot2::calc_element(element, whole())$size
  if (narrow && isTRUE(all.equal(type_of("text"), 11))) {
    plot <- plot + ggplot2::theme(text = ggplot2::element_text(size = NARROW_TYPE),
                                  panel.spacing.x = ggplot2::unit(9, "pt"))
  }
  # A complete theme of the user's takes the width of captions, and the room of names at the ends of curves.
  if (complete) plot <- plot + ggplot2::theme(plot.caption.position = "plot")
  plot <- fit_ends(plot, size)
  # In a narrow picture the title of the y axis stands above.
  if (narrow) {
    above <- paste(c(plot$labels$subtitle, plot$labels$y), collapse = "\n")
    plot <- plot + ggplot2::labs(y = NULL, subtitle = if (nzchar(above)) above)
  }
  type <- type_of("text")
  margin <- ggplot2::calc_element("plot.margin", whole()) # in ggplot2 4 the default theme has none of its own
  breaks <- function(room) fit_titles(plot, room, type, type_of("plot.caption"), margin)
  plot <- breaks(size)
  lines <- vapply(plot$labels[c("caption", "subtitle")], count_lines, 0L)
  room <- size - c(0, 5 * type + sum(c(0.9, 1.2) * type * lines))
  plot <- fit_legend(plot, size, room[2], type, whole()$legend.position)
  room <- room - c(attr(plot, "dpts_beside") %||% 0, attr(plot, "dpts_below") %||% 0)
  plot <- fit_numbers(fit_rows(fit_panels(plot, room, type), room, type))
  breaks(c(size[1], room[2]))
}

count_lines <- function(x) lengths(strsplit(x %||% "", "\n", fixed = TRUE))

# ---- legends -------------------------------------------------------------------------------------

# On the right where a legend leaves the panels most of the width, else below, in as many columns as fit
# `high`: the height that panels and legend share
fit_legend <- function(plot, size, high, type, position) {
  guides <- plot$guides
  if (inherits(guides, "Guides")) guides <- guides$guides
  shown <- Filter(function(scale) { # those of a legend
    own <- guides[[scale$aesthetics[1]]] %||% scale$guide
    is.character(scale$breaks) && (identical(own, "legend") || inherits(own, c("guide", "Guide")))
  }, plot$scales$scales)
  if (length(shown) == 0 || !is.character(position) || !position %in% c("right", "bottom")) return(plot)
  one <- !duplicated(lapply(shown, function(scale) scale$breaks)) # scales of the same names share a legend
  names <- lapply(shown[one], function(scale) {
    labels <- if (is.function(scale$labels)) scale$labels(scale$breaks) else scale$breaks
    vapply(strsplit(labels, "\n", fixed = TRUE), function(x) max(nchar(x), 0), 0)
  })
  n <- lengths(names)
  text <- 0.8 * type
  key <- if (type < 10) 12 else 17
  entry <- pmax(18 + key + LETTER * text * vapply(names, max, 0), 8 * LETTER * type)
  columns <- ceiling(n / max(1, floor(0.85 * size[2] / key)))
  beside <- max(columns * entry) + 11
  right <- position == "right" && beside <= (if (type < 10) 0.25 else 0.38) * size[1] &&
    sum(n * key / columns) < 0.9 * size[2]
  # Below, it stands under the panels.
  room <- size[1] + 10 - left_of(plot, size, type)
  if (!right) columns <- pmin(n, pmax(1, floor(room / entry)))
  rows <- sum(ceiling(n / columns))
  titles <- 1.5 * type * sum(one)
  height <- if (right) key else min(key, 0.3 * size[2] / rows, (high - titles - 3 * type) / rows)
  if (height < 6) {
    plot <- caption_first(plot, sprintf("%s names have no room in so small a picture.", label_count(sum(n))))
    return(plot + ggplot2::theme(legend.position = "none"))
  }
  for (i in seq_along(shown)) {
    at <- match(TRUE, vapply(shown[one], function(scale) identical(scale$breaks, shown[[i]]$breaks), NA))
    shown[[i]]$guide <- ggplot2::guide_legend(ncol = columns[at])
    if (!right && entry[at] > room) {
      shown[[i]]$labels <- narrow_names(floor((room - 18 - key) / (LETTER * text)))
    }
  }
  if (right) {
    attr(plot, "dpts_beside") <- beside
    return(plot)
  }
  attr(plot, "dpts_below") <- rows * height + titles
  plot + ggplot2::theme(
    legend.position = "bottom", legend.box = "vertical", legend.direction = "vertical",
    legend.margin = ggplot2::margin(), legend.box.spacing = ggplot2::unit(4, "pt"),
    legend.spacing.y = ggplot2::unit(2, "pt"), legend.key.height = ggplot2::unit(height, "pt"),
    legend.text = ggplot2::element_text(size = min(text, height))
  )
}

# Names that break after so many letters
narrow_names <- function(letters) function(x) wrap_label(gsub("\n", " ", x), max(8, letters))

# What stands on the left of the panels: names of rows, or numbers and a title
left_of <- function(plot, size, type) {
  if (!is.null(attr(plot, "dpts_rows"))) 0.4 * size[1] else if (size[1] < NARROW) 3.5 * type else 5 * type
}

# ---- names at the ends of curves -----------------------------------------------------------------

# Names at the ends take at most 38% of the width, and have their room also with a complete theme.
fit_ends <- function(plot, size) {
  named <- vapply(plot$layers, function(layer) {
    is.data.frame(layer$data) && !is.null(layer$data[["dpts_name"]])
  }, NA)
  if (!any(named)) return(plot)
  i <- which(named)
  names <- plot$layers[[i]]$data$dpts_name
  points <- max(5, min(NAME_POINTS, (size[2] - 72) / MAX_LABELS)) # of the gap that spread_ends() leaves
  letters <- min(28, max(6, floor(0.38 * size[1] / (LETTER * points))))
  names <- short_label(names, letters)
  given <- plot$layers[[i]] # a parent is looked up by its name
  layer <- ggplot2::ggproto(NULL, given)
  layer$data$dpts_name <- names
  layer$aes_params <- utils::modifyList(given$aes_params, list(size = points / ggplot2::.pt))
  plot$layers[[i]] <- layer
  right <- 6 + 1.15 * LETTER * points * max(nchar(names))
  plot + ggplot2::theme(plot.margin = ggplot2::margin(5.5, right, 5.5, 5.5))
}

# Type of the names at the ends of curves, in points
NAME_POINTS <- 8.5

# ---- panels --------------------------------------------------------------------------------------

# Until fit_panels() knows their width
panel_names <- function(labels) ggplot2::label_value(labels, multi_line = FALSE)

# As many panels as have room for their numbers, the first ones, with names that break at their width
fit_panels <- function(plot, size, type) {
  given <- plot$facet # a parent is looked up by its name
  by <- names(given$params$facets)
  own <- inherits(given, "FacetWrap") && is.null(given$params$nrow)
  if (!own || !all(by %in% names(plot$data))) return(plot)
  panels <- unique(plot$data[by])
  panels <- panels[do.call(order, unname(as.list(panels))), , drop = FALSE]
  n <- nrow(panels)
  most <- max(1, floor((size[1] - 40) / if (type < 10) 42 else 54))
  high <- max(1, floor(size[2] / 30))
  columns <- min(most, given$params$ncol %||% grDevices::n2mfrow(n)[1])
  if (is.null(given$params$ncol) && n > columns * high) columns <- min(n, most)
  kept <- panels[seq_len(min(n, columns * high)), , drop = FALSE]
  facet <- ggplot2::ggproto(NULL, given)
  facet$params$ncol <- columns
  if (identical(given$params$labeller, panel_names)) {
    letters <- max(8, floor((size[1] - 40) / columns / (0.73 * LETTER * type * length(by))) - 1)
    lines <- max(vapply(panels, function(x) max(count_lines(wrap_label(x, letters))), 0L))
    fit <- if (lines * type > 0.4 * size[2] / ceiling(nrow(kept) / columns)) short_label else wrap_label
    facet$params$labeller <- ggplot2::labeller(.default = function(x) fit(x, letters), .multi_line = FALSE)
  }
  plot$facet <- facet
  if (nrow(kept) == n) return(plot)
  keep <- function(data) {
    if (!is.data.frame(data) || !all(by %in% names(data))) return(data)
    data[vctrs::vec_in(as.data.frame(data)[by], as.data.frame(kept)), , drop = FALSE]
  }
  plot$data <- keep(plot$data)
  plot$layers <- lapply(plot$layers, function(given) {
    layer <- ggplot2::ggproto(NULL, given)
    layer$data <- keep(given$data)
    layer
  })
  caption_first(plot, sprintf("Drawn are %d of %s panels; the others have no room in so small a picture.",
                              nrow(kept), label_count(n)))
}

# ---- rows ----------------------------------------------------------------------------------------

# Names of rows are as large as there is height for, on one line if they must.
fit_rows <- function(plot, size, type) {
  rows <- attr(plot, "dpts_rows")
  scale <- plot$scales$get_scales("y")
  if (is.null(rows) || is.null(scale)) return(plot)
  height <- size[2]
  letters <- max(8, floor(0.4 * size[1] / (LETTER * 0.8 * type)))
  lines <- lengths(strsplit(wrap_label(rows, min(26, letters)), "\n", fixed = TRUE))
  if (sum(lines) * 0.95 * type <= height) {
    scale$labels <- function(x) wrap_label(x, min(26, letters))
    return(plot)
  }
  text <- max(5, min(0.8 * type, height / length(rows) / 1.15))
  scale$labels <- function(x) short_label(x, min(40, floor(0.4 * size[1] / (LETTER * text))))
  scale$guide <- ggplot2::guide_axis(check.overlap = TRUE)
  plot + ggplot2::theme(axis.text.y = ggplot2::element_text(size = text))
}

# Numbers of an axis that would touch are left out.
fit_numbers <- function(plot) {
  for (axis in c("x", "y")) {
    scale <- plot$scales$get_scales(axis)
    if (inherits(scale, "ScaleContinuous") && inherits(scale$guide, "waiver")) {
      scale$guide <- ggplot2::guide_axis(check.overlap = TRUE)
    }
  }
  plot
}

# ---- titles --------------------------------------------------------------------------------------

# Titles of axes, subtitle and caption break where their room ends.
fit_titles <- function(plot, size, type, small, margin) {
  fit <- function(text, room, type) {
    letters <- max(8, floor(room / (LETTER * type)))
    if (!is.character(text)) return(text)
    paste(strwrap(strsplit(text, "\n", fixed = TRUE)[[1]], letters), collapse = "\n")
  }
  across <- size[1] - sum(grid::convertUnit(margin[c(2, 4)], "points", valueOnly = TRUE))
  labels <- plot$labels
  caption <- if (is.character(labels$caption)) gsub("\n", " ", labels$caption)
  plot + ggplot2::labs(x = fit(labels$x, across - left_of(plot, size, type), type),
                       y = fit(labels$y, size[2], type), subtitle = fit(labels$subtitle, across, type),
                       caption = fit(caption, 1.1 * across, small))
}
