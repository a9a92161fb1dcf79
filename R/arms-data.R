#' Arms with rewards from a data frame
#'
#' `arms_data()` turns a completed trial into a problem: each arm's rewards are drawn from the outcomes that
#' were recorded for it.
#'
#' @details
#' With replacement, a reward is one of its arm's outcomes, each with the same probability: the trial
#' stands for the population, and can be run at any size. Without replacement, an arm's m-th pull in a run
#' gives its m-th recorded outcome, in the order of the rows, and all runs read the same rewards. It is an
#' error, which names the arm, if an arm has no outcome left, or if `horizon` exceeds the data.
#'
#' An arm's mean is that of its outcomes, and regret is measured with these means. The outcomes
#' should come from a randomised trial; otherwise outcomes may differ because the patients do.
#'
#' Outcomes outside \[0, 1\] are for policies without privacy (as in [arms_gaussian()]); scale them
#' by a range that does not depend on the data. A simulation's results contain what its data
#' contain: with a seed they must not be published as private.
#'
#' @param data A data frame, one row for each participant.
#' @param arm,reward Names of the columns with the arm and its outcome. The arm is a factor, strings
#'   or whole numbers, its levels (else its sorted values) become the arms' names; outcomes are
#'   numbers or `TRUE` and `FALSE`, none of them missing.
#' @param replace Draw with replacement? If not, outcomes come in their recorded order.
#' @template dots
#' @inherit arms_bernoulli return
#' @seealso The article "Planning a private adaptive trial", `vignette("adaptive-trial", "dpts")`, plans
#'   a trial on the outcomes of another.
#' @template see_arms
#' @examples
#' trial <- data.frame(drug = rep(c("old", "new"), c(4, 3)), cured = c(0, 1, 0, 0, 1, 1, 0))
#' arms_data(trial, "drug", "cured")
#' @export
arms_data <- function(data, arm, reward, replace = TRUE, ...) {
  check_dots_empty(...)
  check_all_given()
  if (!is.data.frame(data)) abort_arg("data", "a data frame", data)
  if (nrow(data) == 0) abort_arg("data", "a data frame with rows")
  label <- check_column(data, arm)
  value <- check_column(data, reward)
  check_flag(replace)
  check_complete <- function(x, arg, name) if (anyNA(x)) {
    abort_input(arg, "`data` must have no missing values in column \"%s\"; it has %s.", name,
                label_count(sum(is.na(x))),
                hint = "Leave such rows out, or say what a missing outcome is worth.")
  }
  if (!is.factor(label)) {
    if (!is.atomic(label)) abort_arg("arm", "a column of labels", label)
    label <- factor(label)
  }
  check_complete(label, "arm", arm)
  if (is.logical(value)) value <- value + 0
  if (!is.numeric(value) || is.object(value) || !is.null(dim(value))) {
    abort_arg("reward", "the name of a column of numbers, or of TRUE and FALSE")
  }
  check_complete(value, "reward", reward)
  if (!all(is.finite(value))) abort_arg("reward", "a column of finite numbers")
  empty <- levels(label)[tabulate(label, nlevels(label)) == 0]
  if (length(empty)) {
    abort_input("data", "`data` must have outcomes for every arm; arm \"%s\" has none.", empty[1],
                hint = "`droplevels()` removes levels that no row has.")
  }
  new_arms_data(split(as.double(value), label), arm, reward, replace)
}

new_arms_data <- function(outcomes, arm, reward, replace) {
  mean <- vapply(outcomes, mean, 0)
  values <- unlist(outcomes, use.names = FALSE)
  range <- if (all(values >= 0 & values <= 1)) c(0, 1) else c(-Inf, Inf)
  # Of zeros and ones one is drawn by its chance alone, which can be done many at a time.
  coin <- replace && all(values %in% c(0, 1))
  new_arms(
    if (coin) "bernoulli" else "data", mean, if (coin) as.list(unname(mean)) else outcomes,
    list(outcomes = outcomes, arm = arm, reward = reward, replace = replace),
    sprintf("rewards from %s recorded ones%s", words_whole(length(values)),
            if (replace) "" else ", in their order"),
    range = range, world = if (!replace) new_world("recorded", waits = TRUE), class = "data"
  )
}

check_column <- function(data, column, arg = caller_arg(column)) {
  force(arg)
  check_string(column, arg)
  if (!column %in% names(data)) {
    abort_arg(arg, sprintf("the name of a column of `data` (%s)",
                           paste0("\"", utils::head(names(data), 8), "\"", collapse = ", ")),
              column)
  }
  data[[column]]
}

#' @export
world_sound.dpts_world_recorded <- function(world, arms) TRUE
