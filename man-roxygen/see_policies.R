#' @seealso [dpts_recommend()] chooses a policy within a budget, [dpts_simulate()] measures its regret,
#'   [dpts_agent()] runs it on people.
#' @concept policies
