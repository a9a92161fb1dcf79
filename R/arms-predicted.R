#' Arms whose rewards can be predicted in part
#'
#' `arms_predicted()` simulates outcomes of which something is known of each person beforehand, such as last
#' month's score. [policy_randomised()] with `predicted` uses it; other policies ignore it.
#'
#' @details
#' Person t has the deviation z_t ~ N(0, `r2`), and pulled in the same round arm a gives means_a + `sd` (z_t +
#' e_t) with e_t ~ N(0, 1 - `r2`), clipped to `range`. The prediction is the mean of `means` + `sd` z_t: it
#' does not depend on the arm, and explains the share `r2` of the variance.
#'
#' @param means Means of the rewards before they are clipped: numbers, one for each arm. Names are the arms'
#'   names.
#' @param sd Standard deviation of a reward before it is clipped: a positive number, the same for all arms.
#' @param r2 Share of the variance that the prediction explains: a number from 0 to 1.
#' @param range Two numbers between which rewards are clipped.
#' @template dots
#' @returns An `arms` object. `$mean` holds the means of the clipped rewards.
#' @template see_arms
#' @examples
#' arms <- arms_predicted(c(control = 0.5, new = 0.54), sd = 0.2, r2 = 0.5)
#' policies <- list(
#'   blind = policy_randomised(mu = 1, outcome = "continuous"),
#'   informed = policy_randomised(mu = 1, outcome = "continuous", predicted = c(0.2, 0.8))
#' )
#' effects(dpts_simulate(arms, policies, 2000, runs = 2, seed = 1, history = TRUE))
#' @export
arms_predicted <- function(means, sd, r2, range = c(0, 1), ...) {
  check_dots_empty(...)
  check_all_given()
  sd <- check_number(sd, 0, open = TRUE)
  r2 <- check_number(r2, 0, 1)
  arms <- arms_gaussian(means, sd, check_range(range))
  level <- (mean(arms$args$means) - range[1]) / diff(range)
  arms$world <- new_world("predicted", r2 = r2, level = level)
  arms$args <- list(means = arms$args$means, sd = sd, r2 = r2, range = range)
  arms$title <- sprintf("%s, with %s%% of the variance predicted", arms$title, number_text(100 * r2))
  class(arms)[1] <- "dpts_arms_predicted"
  arms
}

#' @export
world_sound.dpts_world_predicted <- function(world, arms) {
  are_finite(world$r2, 1) && world$r2 >= 0 && world$r2 <= 1 && are_finite(world$level, 1) &&
    length(unique(lapply(arms$par, `[`, -1))) == 1 && identical(arms$distribution, "gaussian")
}
