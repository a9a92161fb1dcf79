#' @references Dong, J., Roth, A. and Su, W. J. (2022). Gaussian Differential Privacy. Journal of
#'   the Royal Statistical Society B 84, 3-37.
