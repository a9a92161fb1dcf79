#' @seealso [verdict()] says whether an arm is the best, [effects()] estimates differences,
#'   [dpts_releases()] has what was released.
#' @concept evidence
