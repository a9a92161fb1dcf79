#' @seealso [dpts_agent()] creates an agent, [agent_choose()] assigns a person and [verdict()] says when to
#'   stop.
#' @concept agent
