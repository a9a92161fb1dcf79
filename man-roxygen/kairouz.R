#' @references Kairouz, P., Oh, S. and Viswanath, P. (2015). The Composition Theorem for
#'   Differential Privacy. ICML.
