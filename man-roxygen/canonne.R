#' @references Canonne, C., Kamath, G. and Steinke, T. (2020). The Discrete Gaussian for
#'   Differential Privacy. NeurIPS.
