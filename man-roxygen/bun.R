#' @references Bun, M. and Steinke, T. (2016). Concentrated Differential Privacy: Simplifications,
#'   Extensions, and Lower Bounds. TCC.
