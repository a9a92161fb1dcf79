#' @references Ou, T., Avella Medina, M. and Cummings, R. (2024). Thompson Sampling Itself is
#'   Differentially Private. AISTATS. arXiv:2407.14879.
