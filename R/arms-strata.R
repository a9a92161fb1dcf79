#' People of several strata
#'
#' `arms_strata()` simulates people of several strata, such as countries or age groups, each with arms of its
#' own. Policies are run with strata, as by `dpts_agent(strata = )`: each stratum has its own blocks and
#' probabilities.
#'
#' @details
#' In each round a person of one stratum comes, independently, with the probabilities `share`, and gets one of
#' the arms of that stratum. Regret is against the best arm of the person's stratum. In results the arms are
#' called `"north: control"`; in [dpts_releases()], and in all that is concluded from it, they are the arms of
#' the strata, and there is a column `stratum`.
#'
#' A policy must release each reward in one noisy sum, and be written in C. For conclusions
#' ([dpts_identify()], [dpts_plan()], [dpts_recommend()] with a `goal` other than regret) it must also
#' randomise, because evidence by means is not valid where means differ between strata.
#'
#' @param ... Arms that do not change, by the names of their strata: the same number of arms, of the same
#'   names and the same range of rewards.
#' @param share The probabilities of the strata: positive numbers that add up to 1. `NULL`: equal ones.
#' @returns An `arms` object.
#' @template see_arms
#' @examples
#' arms <- arms_strata(north = arms_bernoulli(c(control = 0.1, new = 0.2)),
#'                     south = arms_bernoulli(c(control = 0.6, new = 0.7)), share = c(0.5, 0.5))
#' sim <- dpts_simulate(arms, policy_randomised(mu = 1), 3000, runs = 2, seed = 1, history = TRUE)
#' verdict(sim)
#' effects(sim, by = "stratum")
#' dpts_plan(policy_randomised(mu = 1), arms, people = 800, runs = 50, seed = 1)
#' @export
arms_strata <- function(..., share = NULL) {
  parts <- list(...)
  strata <- names(parts)
  if (!length(parts) || is.null(strata) || !all(nzchar(strata)) || anyDuplicated(strata)) {
    abort_input("...", "`...` must be arms, each named after its stratum, with a different name for each.",
                hint = "As in `arms_strata(north = arms, south = arms)`.")
  }
  for (part in parts) check_class(part, "dpts_arms", "arms", "...")
  same <- function(f) length(unique(lapply(parts, f))) == 1
  if (!same(arm_labels) || !same(function(part) part$range)) {
    abort_input("...", "`...` must have the same arms, with the same range of rewards, in all strata.")
  }
  if (!all(vapply(parts, world_kind, "") == "stationary") ||
      any(vapply(parts, function(part) !is.null(part$contexts) || !all(is.finite(part$range)), NA))) {
    abort_input("...", "`...` must be arms of known range that do not change and have no contexts.")
  }
  share <- check_share(share, strata)
  labels <- arm_labels(parts[[1]])
  out <- join_arms(unname(parts), paste0(rep(strata, each = length(labels)), ": ", labels))
  out$gap <- stats::setNames(unlist(lapply(parts, `[[`, "gap")), names(out$mean))
  out$world <- new_world("strata", strata = length(parts), share = as.double(share), names = strata,
                         arms = names(parts[[1]]))
  out$title <- sprintf("%s, in %s", parts[[1]]$title, count_noun(length(parts), "stratum", "strata"))
  class(out)[1] <- "dpts_arms_strata"
  out
}

#' @export
format.dpts_arms_strata <- function(x, ...) {
  first <- apply(matrix(x$gap == 0, ncol = strata_in(x)), 2, which.max)
  best <- labels_within(x)[first]
  where <- if (length(unique(best)) == 1) paste(best[1], "in each stratum") else
    words_list(paste(best, "in", x$world$names), most = 8)
  c(utils::head(NextMethod(), -1), paste("  best: ", where))
}

check_share <- function(share, strata) {
  if (is.null(share)) return(rep(1 / length(strata), length(strata)))
  named <- names(share)
  share <- check_numbers(share, 0, 1)
  must <- sprintf("a positive number for each stratum: %s", words_list(strata, most = 8))
  if (length(share) != length(strata)) {
    abort_input("share", "`share` must be %s; these are %d.", must, length(share))
  }
  if (!is.null(named)) {
    if (!setequal(named, strata)) abort_arg("share", paste0(must, ", by its name or in this order"))
    share <- unname(share[match(strata, named)])
  }
  if (any(share == 0)) {
    abort_input("share", "`share` must be positive: nobody is in stratum \"%s\".", strata[share == 0][1],
                hint = "Leave out a stratum of nobody.")
  }
  if (abs(sum(share) - 1) > 1e-9) {
    abort_input("share", "`share` must add up to 1, not %s.", number_text(sum(share)))
  }
  share
}

# Blocks that are large for the people of a stratum: it is seen too late, or never, what was released.
warn_small_strata <- function(policies, share, people, call = caller_env()) {
  first <- max(0, unlist(lapply(policies, function(policy) {
    block_rule(unwrapped(policy), length(share))$size[1]
  })))
  needed <- ceiling(first / min(share) - 1e-9)
  if (length(share) == 1 || length(share) <= 20 && needed <= people / 2) return(invisible())
  rlang::warn(sprintf(paste(
    "With %s strata each has blocks of its own%s: noise is added to the sums of each, and a stratum of few",
    "people releases nothing until its block is full."), label_count(length(share)),
    if (first == 0) "" else sprintf(
      ", at first of %s people, so that about %s people are needed before each has released something",
      label_count(first), label_count(needed))),
    class = c("dpts_warning_strata", "dpts_warning"), call = call)
}

# How many strata there are
strata_in <- function(arms) if (world_kind(arms) == "strata") arms$world$strata else 1

# The names of the arms of one stratum, or of all
labels_within <- function(arms) {
  if (strata_in(arms) == 1) return(arm_labels(arms))
  arms$world$arms %||% as.character(seq_len(n_arms(arms) / strata_in(arms)))
}

# The mean of each arm over the strata, by their shares; or of other numbers for each arm of each stratum
average_over_strata <- function(x, arms) {
  if (strata_in(arms) == 1) return(x)
  as.vector(matrix(x, ncol = strata_in(arms)) %*% arms$world$share)
}

# What is concluded in strata rests on tosses.
check_tossed <- function(policies, problem, arg) {
  if (strata_in(problem) == 1) return(invisible())
  for (name in names(policies)) {
    why <- untossed(policies[[name]])
    if (!is.null(why)) {
      abort_input(arg, "`%s` must randomise people to arms where there are strata: policy \"%s\" %s.", arg,
                  name, why, class = "dpts_error_verdict")
    }
  }
}

# Why nothing is concluded from a policy in strata; NULL: it tosses people to arms
untossed <- function(policy) {
  if (!tosses_people(policy)) "is judged by means, and those of strata differ"
}

#' @export
world_sound.dpts_world_strata <- function(world, arms) {
  n <- length(world$names)
  is.character(world$names) && identical(world$strata, n) && are_finite(world$share, n) &&
    all(world$share > 0) && abs(sum(world$share) - 1) < 1e-9 && n_arms(arms) %% n == 0
}
