#' @references Zhu, Y., Dong, J. and Wang, Y.-X. (2022). Optimal Accounting of Differential Privacy
#'   via Characteristic Function. AISTATS.
