# What the plots of the package share: colours that colour-blind readers can tell apart,
# numbers on axes that people read, and nothing that touches the user's theme.

#' Okabe and Ito's palette, black first, the pale yellow last. More lines than colours:
#' the line types tell them apart.
#' @noRd
okabe_ito <- function() {
  c("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
    "#F0E442")
}

#' Scales that give each level of a factor one colour and line type, in the order of
#' `breaks` in the legend
#' @noRd
scales_by <- function(levels, breaks = levels, title = NULL) {
  palette <- okabe_ito()
  i <- seq_along(levels) - 1
  colours <- stats::setNames(palette[i %% length(palette) + 1], levels)
  types <- c("solid", "22", "42", "12", "62", "4212")
  # With few lines colour suffices; the types come in when colours repeat.
  types <- stats::setNames(types[(i %/% length(palette)) %% length(types) + 1], levels)
  list(
    ggplot2::scale_colour_manual(title, values = colours, breaks = breaks),
    ggplot2::scale_fill_manual(title, values = colours, breaks = breaks),
    ggplot2::scale_linetype_manual(title, values = types, breaks = breaks)
  )
}

#' "1e5", "20,000": short labels for counts
#' @noRd
label_count <- function(x) {
  vapply(x, function(v) {
    if (is.na(v)) return(NA_character_)
    if (v != 0 && abs(v) >= 1e6) return(sub("e\\+0*", "e", format(v, scientific = TRUE, digits = 3)))
    if (v != 0 && abs(v) < 1e-3) return(sub("e-0*", "e-", format(v, scientific = TRUE, digits = 3)))
    format(v, big.mark = ",", scientific = FALSE, digits = 6, trim = TRUE)
  }, "")
}

#' Continuous axes, logarithmic where `log` holds the axis's letter, as in `plot()`
#' @noRd
axes <- function(log, call = caller_env()) {
  check_choice(log, c("", "x", "y", "xy", "yx"), call = call, arg = "log")
  axis <- function(letter, linear, logarithmic) {
    if (grepl(letter, log, fixed = TRUE)) logarithmic(labels = label_count)
    else linear(labels = label_count)
  }
  list(axis("x", ggplot2::scale_x_continuous, ggplot2::scale_x_log10),
       axis("y", ggplot2::scale_y_continuous, ggplot2::scale_y_log10))
}

#' "100k", "2M": counts where there is little room
#' @noRd
label_thousands <- function(x) {
  vapply(x, function(v) {
    if (is.na(v)) return(NA_character_)
    if (abs(v) >= 1e9) return(label_count(v))
    if (abs(v) >= 1e6) return(paste0(format(v / 1e6, digits = 4), "M"))
    if (abs(v) >= 1e3) return(paste0(format(v / 1e3, digits = 4), "k"))
    format(v, digits = 4)
  }, "")
}
