#' @seealso [dpts_experiment()] lists the experiments, [dpts_reproduce()] runs one and [claims()] compares
#'   it with its paper.
#' @concept experiments
