#' @references Mishra, N. and Thakurta, A. (2015). (Nearly) Optimal Differentially Private
#'   Stochastic Multi-Arm Bandits. UAI, 592-601.
