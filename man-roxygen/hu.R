#' @references Hu, B. and Hegde, N. (2022). Near-Optimal Thompson Sampling-based Algorithms for
#'   Differentially Private Stochastic Bandits. UAI, PMLR 180, 844-852.
