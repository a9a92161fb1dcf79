#' @seealso [as_log()] describes a log, [dpts_ope()] estimates what another policy would have earned,
#'   [dpts_replay()] replays a policy on it.
#' @concept logged data
