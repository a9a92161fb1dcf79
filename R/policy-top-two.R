#' The best arm with few people
#'
#' `policy_top_two()` finds the arm with the highest mean with few people, and stops at a fixed error
#' probability. It samples the leading arm and its nearest rival until the evidence between the leader and
#' every other arm is enough. From then on it pulls the winner. Use it where people come at once, or where
#' nothing changes with time; otherwise use [policy_randomised()].
#'
#' @section The algorithm:
#' With T = ln((k - 1) / `error`), for k arms:
#'
#' 1. A first batch of each arm: 12 sqrt(2 T) / `mu` + 2 T rewards, or 6 T / `epsilon` + 2 T, or 2 T without
#'    privacy, rounded up. The sum of a batch is released when all its rewards are in.
#' 2. At each release, with x the mean of an arm by inverse variances and V its variance, noise included: the
#'    leader a has the highest x, and q_b = (x_a - x_b + `margin`)^2 / (2 (V_a + V_b)). Once all q_b are at
#'    least T / 2 the smaller of q_b and W_ab takes its place. W_ab is the evidence that a is better than b
#'    ([evidence()]). If all W_ab are at least T, a is the verdict.
#' 3. Else the challenger c has the least q_b + 2 ln(n_b), where n_b is its number of people. Let r = 1 +
#'    (T / max(q_c, T / 100) - 1) / 2, but from 1.1 to 2. The next batch is (r - 1) n rewards of the leader or
#'    of the challenger, at random, such that the leader has the share V_a / (V_a + V_c) of their people.
#'
#' With `outcome = "continuous"` each batch also releases the noisy sum of the squares of its rewards about
#' the middle of their range, at no cost of privacy (see [policy_gaussian_imed()], Continuous outcomes), with
#' noise of scale 1 / (2 `mu`) or 1 / `epsilon`. V and W then know how much rewards vary ([evidence()],
#' Squares), and the first batches are half as large.
#'
#' @section Guarantee of the verdict:
#' If the mean of each arm is constant, whatever the distribution of rewards in \[0, 1\], the probability
#' that the verdict is not a best arm (with a `margin`: that some arm is better by `margin` or more) is at
#' most `error`, at every look. This uses no normal approximation and no union bound over looks.
#'
#' Assignments come in batches of one arm. **Nothing here protects against a time trend**: if means change
#' together in time, the evidence is invalid. Use [policy_randomised()] then. Where rewards are late, batches
#' overlap, and then the outcomes of different people must be independent given what was released. The delay
#' of a reward must not depend on its value.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. A reward is in one batch of
#' one arm, whose sum is released once, with N(0, 1 / `mu`^2) or Lap(1 / `epsilon`). Everything else is
#' computed from what was released. So the arms, the time of the verdict and the verdict are together `mu`-GDP
#' or `epsilon`-DP. A batch that is not completed releases nothing.
#'
#' @param mu,epsilon Privacy parameter: `mu` of Gaussian differential privacy or a pure `epsilon`, a number
#'   from 1e-6 to 1e12. One of them, or none for no privacy.
#' @param error The probability that the verdict is wrong: a number in (0, 1).
#' @param margin Tolerance: the mean of the verdict's arm may be below the best one by less than this, a
#'   number in \[0, 1). Without a margin two arms that are equally good never get a verdict.
#' @template dots
#' @param outcome `"binary"`, or `"continuous"` for rewards that are any numbers in their range: if they
#'   vary less than rewards of 0 or 1, a verdict then takes fewer people.
#' @inherit policy_ts_gaussian return
#' @references Garivier, A. and Kaufmann, E. (2016). Optimal Best Arm Identification with Fixed Confidence.
#'   COLT.
#'
#'   You, W., Qin, C., Wang, Z. and Yang, S. (2023). Information-Directed Selection for Top-Two
#'   Algorithms. COLT.
#' @template see_policies
#' @concept best-arm identification
#' @concept fixed confidence
#' @examples
#' policy_top_two(mu = 0.5, error = 0.05)
#' policy_top_two(epsilon = 1, margin = 0.02)
#' arms <- arms_bernoulli(c(0.6, 0.5, 0.4))
#' pulls(dpts_simulate(arms, policy_top_two(mu = 1), horizon = 5000, runs = 3, seed = 1))
#' @export
policy_top_two <- function(mu = NULL, epsilon = NULL, error = 0.05, margin = 0,
                           outcome = c("binary", "continuous"), ...) {
  check_dots_empty(...)
  outcome <- check_choice(outcome, c("binary", "continuous"))
  budget <- check_one_budget(mu, epsilon)
  own <- list(error = check_number(error, 0, 1, open = TRUE),
              margin = check_number(margin, 0, 1, open = c(FALSE, TRUE)))
  own$outcome <- outcome
  new_policy("top_two", c(budget, own), guarantee_of_one(budget), "top two with evidence",
             c(budget, own[c(error != 0.05, margin > 0, outcome != "binary")]), rounds_per_arm = 1)
}

# One of two kinds of privacy, or none: list(mu, epsilon)
check_one_budget <- function(mu, epsilon) {
  if (!is.null(mu) && !is.null(epsilon)) {
    abort_input("epsilon", "`mu` and `epsilon` cannot both be given: each is the whole guarantee.")
  }
  list(mu = if (!is.null(mu)) check_budget_number(mu, inf = FALSE),
       epsilon = if (!is.null(epsilon)) check_budget_number(epsilon, inf = FALSE))
}

guarantee_of_one <- function(budget, neighbours = "reward") {
  if (!is.null(budget$mu)) guarantee_gdp(budget$mu, neighbours = neighbours) else
    guarantee_pure(budget$epsilon %||% Inf, neighbours = neighbours)
}
