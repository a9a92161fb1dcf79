#' @references Dwork, C. and Roth, A. (2014). The Algorithmic Foundations of Differential Privacy.
#'   Foundations and Trends in Theoretical Computer Science 9, 211-407.
