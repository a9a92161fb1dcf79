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
