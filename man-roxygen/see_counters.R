#' @seealso [policy_custom()] for a policy of your own, [dpts_audit()] to test what it reveals,
#'   [privacy_compose()] for several releases together.
#' @concept mechanisms and counters
