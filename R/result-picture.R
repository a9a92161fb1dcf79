# What depends on the size of a picture is decided when it is drawn, once for all plots of the package:
# where the legend stands and in how many columns, how many panels lie side by side, where a title breaks.
# A setting that the user has changed stays.

# The end of each autoplot() method: words around the plot, and what fits it to its picture
# `rows`: names of the rows of a discrete axis, once for each panel below another
plot_words <- function(..., caption = NULL, rows = NULL) {
  parts <- list(
    ggplot2::labs(..., caption = if (!is.null(caption)) wrap_caption(gsub("\n", " ", caption))),
    ggplot2::theme(plot.caption.position = "plot", plot.title.position = "plot",
                   plot.caption = element_caption())
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

# Words below a plot, on lines that fit, in the size of plot_words(), into 5 cm
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

# The text of a caption that has the width of the picture, which is known when it is drawn. The lines of the
# text itself fit into 5 cm, for themes that replace this element.
# `less`: margins of the plot beside it, in points
element_caption <- function(less = 24) {
  element <- ggplot2::element_text(size = ggplot2::rel(0.75))
  attr(element, "less") <- less
  class(element) <- c("dpts_caption", class(element))
  element
}

#' @exportS3Method ggplot2::element_grob
element_grob.dpts_caption <- function(element, label = "", ...) {
  if (is.null(label)) return(ggplot2::zeroGrob())
  class(element) <- setdiff(class(element), "dpts_caption")
  less <- attr(element, "less") %||% 24
  text <- gsub("\n", " ", label)
  draw <- function(lines) ggplot2::element_grob(element, paste(lines, collapse = "\n"), ...)
  grid::gTree(text = text, less = less, draw = draw, cl = "dpts_caption_grob")
}

# As many letters a line as have room, by the mean width of a letter. `less`: margins of the plot, in points
wrap_to_picture <- function(x, less) {
  points <- function(width) grid::convertWidth(width, "points", valueOnly = TRUE)
  letter <- points(grid::grobWidth(x$draw(x$text)$children[[1]])) / max(nchar(x$text), 1)
  room <- points(grid::unit(1, "npc")) - less
  x$draw(strwrap(x$text, max(20, floor(0.95 * room / letter))))
}

# The height is asked for where the whole picture is at hand, before the margins are taken off.
#' @exportS3Method grid::heightDetails
heightDetails.dpts_caption_grob <- function(x) grid::grobHeight(wrap_to_picture(x, x$less))

#' @exportS3Method grid::makeContent
makeContent.dpts_caption_grob <- function(x) grid::setChildren(x, grid::gList(wrap_to_picture(x, 0)))

# ---- all parts -----------------------------------------------------------------------------------

# Below this width, in points, type is smaller: that of a column in a journal is 240.
NARROW <- 270
NARROW_TYPE <- 8

# The width of a letter in ems, on the average
LETTER <- 0.52

fit_plot <- function(plot, size) {
  whole <- function() {
    if (isTRUE(attr(plot$theme, "complete"))) plot$theme else ggplot2::theme_get() + plot$theme
  }
  # A complete theme of the user's takes the width of captions, and the room of names at the ends of curves.
  if (isTRUE(attr(plot$theme, "complete"))) {
    plot <- plot + ggplot2::theme(plot.caption = element_caption(),
                                  plot.caption.position = "plot")
  }
  plot <- fit_ends(plot, size)
  type_of <- function() ggplot2::calc_element("text", whole())$size
  if (size[1] < NARROW && isTRUE(all.equal(type_of(), 11))) {
    plot <- plot + ggplot2::theme(text = ggplot2::element_text(size = NARROW_TYPE),
                                  panel.spacing.x = ggplot2::unit(9, "pt"))
  }
  type <- type_of()
  plot <- fit_legend(plot, size, type, whole()$legend.position)
  below <- attr(plot, "dpts_below") %||% 0
  plot <- fit_panels(plot, size - c(0, below), type)
  plot <- fit_rows(plot, size - c(0, below), type)
  if (size[1] < NARROW) plot <- fit_numbers(plot)
  fit_titles(plot, size - c(0, below), type)
}

# ---- legends -------------------------------------------------------------------------------------

# On the right where a legend leaves the panels most of the width, else below, in as many columns as fit
fit_legend <- function(plot, size, type, position) {
  guides <- plot$guides
  if (inherits(guides, "Guides")) guides <- guides$guides
  plot$scales <- plot$scales$clone()
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
  panels <- !inherits(plot$facet, "FacetNull")
  share <- if (panels && type < 10) 0.25 else 0.38
  right <- position == "right" && max(columns * entry) + 11 <= share * size[1] &&
    sum(n * key / columns) < 0.9 * size[2]
  # Below, it stands under the panels.
  room <- size[1] + 10 - left_of(plot, size, type)
  if (!right) columns <- pmin(n, pmax(1, floor(room / entry)))
  rows <- sum(ceiling(n / columns))
  height <- if (right) key else max(6, min(key, (if (panels) 0.3 else 0.4) * size[2] / rows))
  for (i in seq_along(shown)) {
    at <- match(TRUE, vapply(shown[one], function(scale) identical(scale$breaks, shown[[i]]$breaks), NA))
    shown[[i]]$guide <- ggplot2::guide_legend(ncol = columns[at])
    if (!right && entry[at] > room) {
      shown[[i]]$labels <- narrow_names(floor((room - 18 - key) / (LETTER * text)))
    }
  }
  if (right) return(plot)
  attr(plot, "dpts_below") <- rows * height + 1.5 * type * sum(one)
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
left_of <- function(plot, size, type) if (is.null(attr(plot, "dpts_rows"))) 5 * type else 0.4 * size[1]

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
  layer$data <- given$data
  layer$data$dpts_name <- names
  layer$aes_params <- utils::modifyList(given$aes_params, list(size = points / ggplot2::.pt))
  plot$layers[[i]] <- layer
  right <- 6 + 1.15 * LETTER * points * max(nchar(names))
  plot + ggplot2::theme(plot.margin = ggplot2::margin(5.5, right, 5.5, 5.5),
                        plot.caption = element_caption(right + 12))
}

# Type of the names at the ends of curves, in points
NAME_POINTS <- 8.5

# ---- panels --------------------------------------------------------------------------------------

# As many panels side by side as have room for their names and numbers. Where each of the policies or arms has
# a panel and these have no room, all curves are in one.
fit_panels <- function(plot, size, type) {
  facets <- plot$facet$params$facets
  by <- names(facets)
  own <- inherits(plot$facet, "FacetWrap") && is.null(plot$facet$params$nrow)
  if (!own || !all(by %in% names(plot$data))) return(plot)
  n <- nrow(unique(plot$data[by]))
  columns <- plot$facet$params$ncol %||% grDevices::n2mfrow(n)[1]
  most <- max(1, floor((size[1] - 40) / if (type < 10) 42 else 56))
  rows <- ceiling(n / min(columns, most))
  curves <- nrow(unique(plot$data[by[1]]))
  if (rows > 1 && (size[2] - 70) / rows < 2.4 * type && curves > MANY_LINES) {
    plot <- plot + if (length(by) == 1) ggplot2::facet_null() else
      ggplot2::facet_wrap(by[-1], labeller = plot$facet$params$labeller)
    few <- sprintf("%s curves, whose names have no room in so small a picture.", label_count(curves))
    plot <- plot + ggplot2::labs(caption = wrap_caption(few, gsub("\n", " ", plot$labels$caption %||% "")))
    return(if (length(by) == 1) plot else fit_panels(plot, size, type))
  }
  if (columns > most) {
    given <- plot$facet # a parent is looked up by its name
    facet <- ggplot2::ggproto(NULL, given)
    facet$params <- utils::modifyList(given$params, list(ncol = most))
    plot$facet <- facet
  }
  plot
}

# ---- rows ----------------------------------------------------------------------------------------

# Names of rows are as large as there is height for, on one line if they must.
fit_rows <- function(plot, size, type) {
  rows <- attr(plot, "dpts_rows")
  scale <- plot$scales$get_scales("y")
  if (is.null(rows) || is.null(scale)) return(plot)
  height <- size[2] - 9 * type
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

# ---- titles of axes ------------------------------------------------------------------------------

# Titles of axes that are longer than their panels break.
fit_titles <- function(plot, size, type) {
  fit <- function(title, room) {
    letters <- floor(room / (LETTER * type))
    if (!is.character(title) || all(nchar(strsplit(title, "\n", fixed = TRUE)[[1]]) <= letters)) return(title)
    paste(strwrap(gsub("\n", " ", title), letters), collapse = "\n")
  }
  plot + ggplot2::labs(x = fit(plot$labels$x, size[1] - left_of(plot, size, type) - 7),
                       y = fit(plot$labels$y, size[2] - 8 * type))
}
