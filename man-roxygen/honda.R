#' @references Honda, J. and Takemura, A. (2015). Non-asymptotic Analysis of a New Bandit Algorithm
#'   for Semi-bounded Rewards. Journal of Machine Learning Research 16, 3721-3756.
