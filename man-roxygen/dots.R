#' @param ... Not used. An argument that the function does not know is an error, which names those that it
#'   knows.
