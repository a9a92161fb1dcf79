#' @references Denisov, S., McMahan, B., Rush, K., Smith, A. and Thakurta, A. G. (2022). Improved Differential
#'   Privacy for SGD via Optimal Private Linear Operators on Adaptive Streams. NeurIPS. arXiv:2202.08312.
