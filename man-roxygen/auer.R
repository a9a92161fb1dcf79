#' @references Auer, P., Cesa-Bianchi, N. and Fischer, P. (2002). Finite-time Analysis of the
#'   Multiarmed Bandit Problem. Machine Learning 47, 235-256.
