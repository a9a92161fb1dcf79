#' @references Sajed, T. and Sheffet, O. (2019). An Optimal Private Stochastic-MAB Algorithm Based
#'   on an Optimal Private Stopping Rule. ICML. arXiv:1905.09383.
