#' @seealso [dpts_privacy()] gives the epsilon of a policy, [privacy_statement()] says it in words,
#'   [dpts_audit()] tests it.
#' @concept privacy
