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
#' A policy must release each reward in one noisy sum, and be written in C. [dpts_recommend()] ranks such
#' policies by their regret. [dpts_identify()] and [dpts_plan()] do not take strata: simulate with `history =
#' TRUE`, and ask [verdict()] for the round in which it was reached.
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
#' @export
arms_strata <- function(..., share = NULL) {
  parts <- list(...)
  strata <- names(parts)
  if (!length(parts) || is.null(strata) || !all(nzchar(strata)) || anyDuplicated(strata)) {
    abort_input("...", "`...` must be arms, each by a different name of its stratum.")
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
  if (is.null(share)) share <- rep(1 / length(parts), length(parts))
  share <- check_numbers(share, 0, open = TRUE)
  if (length(share) != length(parts) || abs(sum(share) - 1) > 1e-9) {
    abort_arg("share", sprintf("%d positive numbers that add up to 1", length(parts)), share)
  }
  labels <- arm_labels(parts[[1]])
  out <- join_arms(unname(parts), paste0(rep(strata, each = length(labels)), ": ", labels))
  out$gap <- stats::setNames(unlist(lapply(parts, `[[`, "gap")), names(out$mean))
  out$world <- new_world("strata", strata = length(parts), share = as.double(share), names = strata,
                         arms = names(parts[[1]]))
  out$args <- c(parts, list(share = share))
  out$title <- sprintf("%s, in %d strata", parts[[1]]$title, length(parts))
  class(out)[1] <- "dpts_arms_strata"
  out
}

# How many strata there are
strata_in <- function(arms) if (world_kind(arms) == "strata") arms$world$strata else 1

refuse_strata <- function(arms, arg) {
  if (strata_in(arms) > 1) {
    abort_input(arg, "`%s` must have no strata: `dpts_simulate()` runs them.", arg)
  }
}

#' @export
world_sound.dpts_world_strata <- function(world, arms) {
  n <- length(world$names)
  is.character(world$names) && identical(world$strata, n) && are_finite(world$share, n) &&
    all(world$share > 0) && abs(sum(world$share) - 1) < 1e-9 && n_arms(arms) %% n == 0
}
