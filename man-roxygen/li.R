#' @references Li, L., Chu, W., Langford, J. and Schapire, R. E. (2010). A contextual-bandit
#'   approach to personalized news article recommendation. WWW. arXiv:1003.0146.
