#' @references Shariff, R. and Sheffet, O. (2018). Differentially Private Contextual Linear Bandits.
#'   NeurIPS. arXiv:1810.00068.
