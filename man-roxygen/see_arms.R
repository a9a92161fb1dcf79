#' @seealso [dpts_simulate()] runs policies on these arms, [dpts_identify()] counts people until a verdict,
#'   [dpts_plan()] plans an experiment.
#' @concept arms
