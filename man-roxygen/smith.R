#' @references Smith, A. and Thakurta, A. (2022). Fully Adaptive Composition for Gaussian
#'   Differential Privacy. arXiv:2210.17520.
