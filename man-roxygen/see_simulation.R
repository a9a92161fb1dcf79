#' @seealso [dpts_simulate()] runs the policies, [summary()][summary.dpts_simulation] averages over runs
#'   and [dpts_compare()] compares policies.
#' @concept simulation
