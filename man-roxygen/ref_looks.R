#' @references Armitage, P., McPherson, C. K. and Rowe, B. C. (1969). Repeated Significance Tests on
#' Accumulating Data. Journal of the Royal Statistical Society A 132, 235-244.
#'
#' Jennison, C. and Turnbull, B. W. (1989). Interim Analyses: The Repeated Confidence Interval Approach.
#' Journal of the Royal Statistical Society B 51, 305-361.
#'
#' Lan, K. K. G. and DeMets, D. L. (1983). Discrete Sequential Boundaries for Clinical Trials. Biometrika 70,
#' 659-663.
