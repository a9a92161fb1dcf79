# What to cite: inst/CITATION says of each entry what it is for.

#' The paper to cite for a policy or an experiment
#'
#' Each policy and experiment of this package was published by somebody. `toBibtex()` gives the BibTeX
#' entries of the papers that define it, so that their authors are cited. For a policy of this package's
#' own the entry is the package; `citation("dpts")` lists all entries.
#'
#' @param object A policy, also one around another (both are cited), or an experiment of [dpts_experiment()].
#' @param ... Passed on to the method of [utils::bibentry()].
#' @returns An object of class `"Bibtex"`, a character vector with an element for each line, which prints as
#'   the text of a `.bib` file.
#' @seealso [dpts_experiment()] lists the experiments, [dpts_reproduce()] runs one; the page of a policy has
#'   its references as text.
#' @examples
#' toBibtex(policy_dp_imed(1))
#' toBibtex(dpts_experiment("ou-1"))
#' @importFrom utils toBibtex
#' @export
toBibtex.dpts_policy <- function(object, ...) {
  names <- character()
  while (!is.null(object)) {
    names <- c(names, sub("^dpts_", "", class(object)[1])) # policy_local, then what is inside it
    object <- object$policy
  }
  utils::toBibtex(entries_for(paste0(names, "()")), ...)
}

#' @rdname toBibtex.dpts_policy
#' @export
toBibtex.dpts_experiment <- function(object, ...) {
  utils::toBibtex(entries_for(sprintf("\"%s-1\"", sub("-.*", "", object$id))), ...)
}

# The entries whose headers name one of these, or else the package
entries_for <- function(names) {
  all <- utils::citation("dpts")
  headers <- vapply(unclass(all), function(entry) attr(entry, "header"), "")
  said <- strsplit(headers, "[ ,:]+") # "policy_mt_ts()" is no part of another policy's name
  named <- vapply(said, function(words) any(names %in% words), NA)
  all[if (any(named)) named else 1]
}
