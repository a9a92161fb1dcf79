#' Arms with Gaussian rewards
#'
#' Arms whose rewards are normal, and so may be any number. Unbounded rewards are for policies without
#' privacy: a private policy adds noise that is fitted to rewards in \[0, 1\], and is refused. With `range`,
#' rewards are clipped to it, and policies see them scaled from it to \[0, 1\].
#'
#' @details
#' With `range = c(a, b)` a reward is X clipped to \[a, b\], X Gaussian: values below a become a,
#' those above b become b. Its mean is not that of X, and not always in the same order: an arm that
#' is clipped more may change places with another. `$mean` holds the means of the clipped rewards
#' in the units of X, by their closed form, and regret and reward are in these units too. Only the
#' policies see rewards scaled to \[0, 1\].
#'
#' @param means Means of the rewards before they are clipped: numbers, one for each arm. Names are
#'   the arms' names.
#' @param sd Standard deviations: positive numbers, one for all arms or one for each.
#' @param range `NULL`, or two numbers between which rewards are clipped.
#' @template dots
#' @inherit arms_bernoulli return
#' @template see_arms
#' @examples
#' pressure <- arms_gaussian(c(control = 120, drug = 112), sd = 15)
#' dpts_simulate(pressure, policy_ucb1(), 100, runs = 2, seed = 1)
#' # clipped to a range that is known in advance, for private policies
#' arms_gaussian(c(control = 120, drug = 112), sd = 15, range = c(60, 200))
#' @export
arms_gaussian <- function(means, sd, range = NULL, ...) {
  check_dots_empty(...)
  means <- check_by_arm(means)
  sd <- check_each(check_numbers(sd, 0, open = TRUE), length(means), "arms", "sd")
  args <- list(means = means, sd = sd, range = range)
  if (is.null(range)) {
    return(new_arms("gaussian", means, rbind(means, sd, 0), args, "Gaussian rewards", range = c(-Inf, Inf)))
  }
  range <- check_range(range)
  width <- diff(range)
  new_arms("gaussian", clipped_mean(means, sd, range[1], range[2]),
           rbind((means - range[1]) / width, sd / width, 1), args,
           sprintf("Gaussian rewards clipped to [%s, %s]", number_text(range[1]), number_text(range[2])),
           range = range)
}

# Mean of a Gaussian variable clipped to [a, b]: a + the integral of P(X > x) over [a, b],
# which is sd times the difference of z Phi(z) + phi(z)
clipped_mean <- function(mean, sd, a, b) {
  above <- function(x) {
    z <- (mean - x) / sd
    sd * (z * stats::pnorm(z) + stats::dnorm(z))
  }
  pmin(pmax(a + above(a) - above(b), a), b) # in this order: the first argument's names are kept
}
