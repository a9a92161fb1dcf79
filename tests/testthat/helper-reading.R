# What a reader of a plot meets: every text with its size, colour and place on the page

#' @param table A plot that is laid out.
#' @param width,height Inches.
#' @returns A data frame, a row for each text: `label`, `points`, `colour`, `left`, `right`, `bottom`, `top` (inches).
read_texts <- function(table, width, height) {
  grDevices::pdf(NULL, width, height)
  on.exit(grDevices::dev.off())
  rows <- list()
  read <- function(grob) {
    pick <- function(v, j) v[(j - 1) %% length(v) + 1]
    for (j in seq_along(grob$label)) {
      own <- grid::textGrob(grob$label[j], pick(grob$x, j), pick(grob$y, j), hjust = pick(grob$hjust %||% 0.5, j),
                            vjust = pick(grob$vjust %||% 0.5, j), rot = pick(grob$rot, j),
                            gp = grid::gpar(fontsize = pick(grob$gp$fontsize %||% 12, j), lineheight = grob$gp$lineheight))
      at <- grid::deviceLoc(grid::unit.c(grid::grobX(own, 180), grid::grobX(own, 0)),
                            grid::unit.c(grid::grobY(own, 270), grid::grobY(own, 90)), valueOnly = TRUE)
      rows[[length(rows) + 1]] <<- data.frame(
        label = as.character(grob$label[j]), points = own$gp$fontsize, colour = pick(grob$gp$col %||% "black", j),
        dropped = isTRUE(grob$check.overlap), # where it would touch the one before
        left = at$x[1], right = at$x[2], bottom = at$y[1], top = at$y[2], row.names = NULL
      )
    }
  }
  walk <- function(grob) {
    inside <- function(vp, do) {
      if (is.null(vp)) return(do())
      if (inherits(vp, "vpPath")) grid::downViewport(vp) else grid::pushViewport(vp)
      depth <- grid::depth(vp)
      do()
      grid::upViewport(depth)
    }
    inside(grob$vp, function() {
      if (inherits(grob, "text")) read(grob)
      if (!is.null(grob$childrenvp)) {
        grid::pushViewport(grob$childrenvp)
        grid::upViewport(grid::depth(grob$childrenvp))
      }
      for (child in grob$children) walk(child)
    })
  }
  walk(grid::grid.force(table))
  rows <- do.call(rbind, rows)
  rows[nzchar(trimws(rows$label)), ]
}

# Pairs of texts of which one covers a part of the other
overlapping <- function(texts) {
  pairs <- utils::combn(nrow(texts), 2)
  a <- texts[pairs[1, ], ]
  b <- texts[pairs[2, ], ]
  hit <- pmin(a$right, b$right) - pmax(a$left, b$left) > 0.01 & pmin(a$top, b$top) - pmax(a$bottom, b$bottom) > 0.01 & !(a$dropped & b$dropped)
  paste(a$label[hit], "|", b$label[hit])[seq_len(sum(hit))]
}

# ---- every picture in words ------------------------------------------------------------------------

# A setting in a few words: numbers to five digits; of much the beginning and a digest
said <- function(x) {
  if (is.null(x)) return("NULL")
  if (grid::is.unit(x)) x <- grid::convertUnit(x, "points", valueOnly = TRUE)
  named <- if (is.null(names(x))) "" else paste0(names(x), "=")
  if (is.numeric(x)) x <- vapply(signif(unname(x), 5), format, "", digits = 5)
  if (is.list(x)) return(paste0(named, vapply(unname(unclass(x)), said, ""), collapse = " "))
  if (!is.atomic(x) && !is.factor(x)) return(class(x)[1])
  text <- gsub("\n", "/", gsub("\u2026", "~", paste0(named, x, collapse = ", "), fixed = TRUE))
  if (nchar(text) <= 240) text else paste0(substr(text, 1, 160), " ... ", nchar(text), " ", digest(text))
}
digest <- function(x) substr(cli::hash_md5(paste(unlist(x), collapse = "|")), 1, 4)

# Columns of data, with a digest of each, or one of all
digests <- function(data, whole = FALSE) {
  texts <- lapply(as.list(data), function(x) if (is.numeric(x)) format(round(signif(x, 6), 9), digits = 6) else as.character(x))
  paste0(nrow(data), " rows ", if (whole) digest(texts) else paste(names(texts), vapply(texts, digest, ""), collapse = ", "))
}

# Some fields of an object of ggplot2's, where it or a parent has them (by `$` it takes ten times as long)
fields <- function(x, names) {
  out <- list()
  while (is.environment(x) && length(names)) {
    own <- names[names %in% names(x)]
    out <- c(out, mget(own, x))
    names <- setdiff(names, own)
    parent <- get0("super", x, inherits = FALSE)
    x <- if (is.function(parent)) parent()
  }
  out
}

# What the code of the package says to ggplot2: for each part of a plot its settings by name. They are those of the plot
# before it is built, which is quick and does not depend on what ggplot2 makes of them. `of`: a plot whose parts, if
# they are the same, are left out
picture <- function(plot, of = NULL) {
  given <- function(x) x[!vapply(x, function(v) is.null(v) || inherits(v, "waiver") || identical(v, FALSE), NA)]
  settings <- function(x) vapply(given(x), said, "")
  mapping <- function(x) {
    what <- vapply(x, function(q) deparse1(if (rlang::is_quosure(q)) rlang::quo_get_expr(q) else q), "")
    if (length(x)) paste0(names(x), "=", gsub("\\.data\\$|ggplot2::", "", what), collapse = " ")
  }
  labels <- plot$labels[c("x", "y", "colour", "linetype", "shape", "subtitle", "caption", "alt")]
  # without those that ggplot2 makes of an aesthetic, some versions at once and some when it builds
  by_itself <- unlist(lapply(c(list(plot), plot$layers), function(x) {
    gsub('.*=|[.]data\\[\\["|"]]', "", strsplit(mapping(x$mapping) %||% "", " ")[[1]])
  }))
  out <- as.list(settings(labels[!labels %in% c(by_itself, names(labels))]))
  if (is.data.frame(plot$data) && nrow(plot$data) && !identical(plot$data, of$data)) {
    out$data <- digests(plot$data)
    out$aes <- mapping(plot$mapping)
  }
  for (i in seq_along(plot$layers)) {
    if (!is.null(of) && identical(plot$layers[[i]], of$layers[[i]])) next
    layer <- fields(plot$layers[[i]], c("data", "geom", "mapping", "aes_params", "geom_params", "position", "inherit.aes", "show.legend"))
    data <- if (is.function(layer$data)) layer$data(plot$data) else layer$data
    out[[paste("layer", i)]] <- c(
      sub("Geom", "", class(layer$geom)[1]), mapping(layer$mapping),
      settings(c(layer$aes_params, layer$geom_params["width"], dodge = layer$position$width, inherit.aes = if (!layer$inherit.aes) "no",
                 legend = if (!is.na(layer$show.legend[1])) as.character(layer$show.legend))),
      if (is.data.frame(data)) digests(data, TRUE)
    )
  }
  for (scale in plot$scales$scales) {
    continuous <- inherits(scale, "ScaleContinuous")
    placed <- continuous || inherits(scale, "ScaleDiscretePosition")
    scale <- fields(scale, c("aesthetics", "name", "trans", "transformation", "breaks", "labels", "limits", "n.breaks", "expand",
                             "minor_breaks", "drop", "guide", "palette"))
    breaks <- scale$breaks
    at <- if (is.atomic(breaks) && length(breaks)) breaks else if (continuous) c(0, 0.125, 1, 1500) else
      c("a name of more words than one line has", "b")
    of <- function(x) if (is.function(x)) x(at) else x
    labels <- of(scale$labels)
    if (any(grepl("%", labels))) labels <- labels[1:3] # more than 100% are none
    guide <- scale$guide
    if (!is.character(guide) && !inherits(guide, "waiver")) {
      guide <- given((if (is.environment(guide)) guide$params else guide)[c("ncol", "check.overlap")])
    }
    out[[paste("scale", scale$aesthetics[1])]] <- settings(list(
      name = scale$name, trans = if (continuous) (scale$trans %||% scale$transformation)$name,
      breaks = if (is.function(breaks)) "f" else breaks, labels = if (!identical(labels, breaks)) labels,
      limits = if (placed) of(scale$limits), n = scale$n.breaks,
      expand = scale$expand, minor = if (continuous && is.null(scale$minor_breaks)) "none",
      drop = if (isFALSE(scale$drop)) "no", guide = guide,
      values = if (is.character(breaks)) scale$palette(length(breaks))
    ))
  }
  params <- fields(plot$facet, "params")$params
  by <- names(params$facets)
  if (length(by)) {
    titles <- if (all(by %in% names(plot$data))) {
      panels <- unique(as.data.frame(plot$data)[by])
      panels[] <- lapply(panels, as.character)
      do.call(paste, c(unname(lapply(params$labeller(panels), as.character)), sep = " + "))
    }
    n <- length(titles)
    out$panels <- c(said(by), settings(c(params[c("nrow", "ncol")], free = if (any(unlist(params$free))) params$free)),
                    names = said(if (n > 3) c(titles[1:2], n, titles[n]) else titles))
  }
  if (!isTRUE(plot$coordinates$default)) out$coord <- plot$coordinates$clip
  guides <- if (is.environment(plot$guides)) plot$guides$guides else plot$guides
  if (length(guides)) out$guides <- said(guides)
  elements <- sort(names(plot$theme), method = "radix")
  if (isTRUE(attr(plot$theme, "complete"))) elements <- intersect(elements, c("plot.background", "plot.caption.position", "plot.margin"))
  if (length(elements)) {
    elements <- unclass(plot$theme)[elements]
    out$theme <- settings(lapply(elements, function(element) {
      if (inherits(element, "S7_object") && !grid::is.unit(element)) element <- attributes(element) # of ggplot2 4
      if (!is.list(element)) return(element)
      given(element[intersect(c("size", "colour", "fill", "hjust", "vjust", "margin"), names(element))])
    }))
  }
  out
}

# Settings of themes that many pictures have are said in a word.
usual <- list(usual = c(plot.caption = "size=0.75", plot.caption.position = "plot", plot.title.position = "plot"),
              "legend below" = c(legend.box = "vertical", legend.box.spacing = "4", legend.direction = "vertical",
                                 legend.margin = "0, 0, 0, 0", legend.position = "bottom", legend.spacing.y = "2"))
said_parts <- function(parts) {
  for (name in names(usual)) {
    if (identical(parts$theme[names(usual[[name]])], usual[[name]])) {
      parts$theme <- c(parts$theme[setdiff(names(parts$theme), names(usual[[name]]))], name)
    }
  }
  parts <- Filter(length, parts)
  paste0(names(parts), ": ", vapply(parts, function(x) paste(trimws(paste(names(x), x)), collapse = "; "), ""))
}

# A picture in full, and what is other in pictures of some sizes, in points
show_picture <- function(name, plot, ...) {
  whole <- picture(plot)
  writeLines(c("", paste0("# ", name), said_parts(whole)))
  show_fits(plot, whole, ...)
}
show_fitted <- function(name, plot, ...) {
  writeLines(c("", paste0("# ", name)))
  show_fits(plot, picture(plot), ...)
}
show_fits <- function(plot, whole, ...) {
  for (size in list(...)) {
    fitted <- picture(fit_plot(plot, size), of = plot)
    other <- lapply(stats::setNames(nm = names(fitted)), function(part) {
      new <- fitted[[part]]
      old <- whole[[part]]
      if (is.null(names(new))) new[!identical(new, old)] else new[is.na(match(paste(names(new), new), paste(names(old), old)))]
    })
    gone <- setdiff(c("x", "y"), names(fitted))
    writeLines(c(paste0("## ", size[1], " x ", size[2], if (length(gone)) paste("; without", said(gone))), said_parts(other)))
  }
}
