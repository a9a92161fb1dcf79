#' A randomised experiment
#'
#' `policy_randomised()` assigns each person to an arm at random, with known probabilities. The probabilities
#' are equal, or adapt to what was released of earlier people. Use it for a trial or a test that needs a
#' conclusion: [verdict()] and [effects()] are then private, valid at every look, and valid under any drift.
#' If the aim is reward alone, [policy_gaussian_imed()] loses less.
#'
#' @section The design:
#' People come one by one, and time is cut into blocks of people. Within a block the probabilities of the arms
#' are fixed. When all rewards of a block's people are in, the block is released: for each arm how many were
#' randomised to it, and the sum of their rewards with N(0, 1 / `mu`^2) or Lap(1 / `epsilon`) added. Blocks
#' are released in the order in which they began, at most one with each reward that comes. While rewards are
#' out, the next blocks use what is known. At most 16 blocks wait for rewards: while all 16 wait, people are
#' randomised independently with the probabilities of the next block, and are in no block.
#'
#' The probability of arm a in a block is f_a + (1 - sum of all f) raw_a: f are the floors, and raw depends on
#' the `rule`. Let S be the released sum of an arm, n its rewards and x = S / n. Its variance V includes the
#' noise: y (1 - y) / n (at least 0.01 / n) plus the variance of the noise in S over n^2, for
#' y = (S + 1) / (n + 2).
#'
#' * `"equal"`: the probabilities are 1 / k for each of k arms; a `control` has its own floor if that is
#'   more, and the others share the rest evenly;
#' * `"thompson"`: the probability that the arm is the best, if means are independent and normal;
#' * `"top_two"`: V_a / (V_a + V_c) for the leader a, the rest for its challenger c, the arm of the least
#'   (x_a - x_c)^2 / (2 (V_a + V_c)) + 2 ln(n_c);
#' * `"neyman"`: in proportion to sqrt(x (1 - x)), which is the standard deviation where rewards are 0 or 1.
#'
#' **Floors** make a comparison possible. Without them the rivals of a leader get too few people for a
#' verdict.
#'
#' **Blocks.** `NULL` begins with 200 people. Each next block is 0.3 times all people so far, up to 200 /
#' `mu`^2 (400 / `epsilon`^2) people for each arm, but at least 200 in all. Noise matters less in a larger
#' block; with smaller ones an experiment can stop earlier. Where outcomes are continuous each block has at
#' least min(k sqrt(500 s^2 / v), 2 max(n, 500 k)) people, with n all people so far and s^2 the variance of
#' the noise in a sum. Small spreads need few people, among whom noise matters more. Here v is the
#' variance of rewards within arms, by the noisy sums, but at least s sqrt(j) over the number of rewards
#' released, for j sums. Before the first release v is 0.04, or 0.005 with predictions.
#'
#' In each of S strata `NULL` begins with max(20, 100 / S, 100 s / sqrt(S)) people, 500 at most, and each next
#' block is 0.15 times the people of its stratum so far. At a verdict the other strata have open blocks, of
#' whose people nothing is released yet, so smaller blocks save people. Each stratum may have 16 blocks that
#' wait. Where more people than that come to a stratum before their rewards are in, larger blocks of your own
#' keep all of them in blocks.
#'
#' **Assignments are independent** unless `permuted`. Then the numbers of people are fixed for a block (its
#' probabilities times its size) and only their order is random. Permuted blocks are more even, but the next
#' assignment is easier to predict. The evidence then needs rewards that do not depend on the assignments of
#' others in the block, and there are no intervals that hold under drift.
#'
#' Where arms are not available to everybody, a block is of people with the same available arms. People
#' with other available arms are randomised among those arms, and their rewards are not used. Their
#' probabilities are those of the block (and for arms that it does not have those of a new block), scaled to
#' add up to 1: these may be below a floor. When such people are more than a whole block, the open one ends
#' early, and the next is for what is available then.
#'
#' @section Predictions:
#' Something known of a person before the randomisation, such as last month's score, explains a part of the
#' reward. With `predicted = c(low, high)` each choice comes with a prediction m of the reward (`predicted` of
#' [agent_choose()], or [arms_predicted()] in a simulation), clipped to \[low, high\]; where there is none,
#' the middle counts. A block then sums residuals, reward - m, and squares of them. The assignment does not
#' depend on m, so differences between arms are the same, and the number of people that is needed falls to
#' (1 - R^2) of it. A wrong prediction costs people, but the results stay valid. Means of arms are unknown
#' afterwards: there is [evidence()] and there are [effects()][effects.dpts_simulation] by randomisation, and
#' no [estimates()].
#'
#' A prediction is one number of a person, not one for each arm. **It may use** that person's data from
#' outside of the experiment, by a model that was made from other data, and of anything that this policy has
#' released. **It must not use** other people's rewards before their release. With `protect = "reward"` it
#' must not use that person's own earlier rewards in the experiment either, and with `"person"` only if the
#' guarantee is for whole persons (`max_per_person` of [dpts_agent()]). If predictions are protected, nothing
#' that is published may depend on them: not strata, not the available arms, and not who takes part.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. A reward is in one sum, which
#' is released once, so everything together is `mu`-GDP or `epsilon`-DP: arms, probabilities, tests,
#' intervals, and the time of stopping. The probabilities are public.
#'
#' With predictions and `protect = "person"` neighbours differ in the reward and the prediction of one person,
#' each replaced by any value. A residual lies in an interval of width r = 1 + high - low, and is scaled to
#' \[0, 1\]: the noise in units of rewards is r times as large. With `protect = "reward"` predictions are
#' public and neighbours differ in the reward alone, which moves the scaled residual by e = 1 / r at most. The
#' noise is sqrt(1 + (1 - e)^2) times as large as without predictions, or 2 - e times for `epsilon`, in sums
#' and in squares alike.
#'
#' @inheritParams policy_top_two
#' @param rule Rule by which the probabilities of a block follow from the releases; see The design.
#' @param block Number of people in a block: a whole number from 5; up to six of them, the last for all
#'   blocks that follow; a growth rate g above 1 and up to 4 (each block after the first 200 people has (g -
#'   1) times the number of people before it, but at least 200); or `NULL`, see Blocks.
#' @param floor Smallest probability of an arm: a number from 0 to 1 / k. With a `control` two numbers are
#'   allowed, the second for the control, which may be larger. A number below 1e-6 counts as 1e-6, since
#'   nothing can be concluded about an arm that nobody can get.
#' @param control The number of an arm that keeps a probability of at least 1 / k (or the second `floor`), or
#'   `NULL`.
#' @param burn_in The number of blocks at first whose probabilities are equal: a whole number. The rule
#'   applies once this number of blocks has begun.
#' @param permuted Whether each block has fixed numbers of people in random order, in place of independent
#'   assignments.
#' @param outcome `"binary"`, or `"continuous"` for rewards that are any numbers in their range. Each block
#'   then also releases for each arm the sum of squares about the middle of the range, at no cost of privacy,
#'   with noise of scale 1 / (2 `mu`) or 1 / `epsilon`; see [policy_gaussian_imed()], Continuous outcomes.
#'   The probabilities then follow the variances of rewards.
#' @param predicted Two increasing numbers of \[0, 1\] between which predictions are clipped, as parts of the
#'   range of rewards; for `outcome = "continuous"`. `NULL`: there are no predictions.
#' @param protect What is protected of each person: `"person"`, reward and prediction; or `"reward"`, and
#'   predictions are public.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template see_policies
#' @concept A/B/n test
#' @concept response-adaptive randomisation
#' @concept randomised experiment
#' @examples
#' policy_randomised(mu = 0.5)
#' policy_randomised(mu = 0.5, rule = "thompson", floor = 0.2, control = 1)
#' # A first block of 200, then 1000 each
#' policy_randomised(epsilon = 1, block = c(200, 1000))
#' # Scores, with last month's as predictions
#' policy_randomised(mu = 0.5, outcome = "continuous", predicted = c(0.3, 0.7))
#' arms <- arms_bernoulli(c(control = 0.5, new = 0.6))
#' pulls(dpts_simulate(arms, policy_randomised(mu = 0.5, rule = "top_two"), 5000, runs = 3, seed = 1))
#' @export
policy_randomised <- function(mu = NULL, epsilon = NULL,
                              rule = c("equal", "thompson", "top_two", "neyman"), block = NULL,
                              floor = 0.1, control = NULL, burn_in = 1, permuted = FALSE,
                              outcome = c("binary", "continuous"), predicted = NULL,
                              protect = c("person", "reward"), ...) {
  check_dots_empty(...)
  outcome <- check_choice(outcome, c("binary", "continuous"))
  budget <- check_one_budget(mu, epsilon)
  rule <- check_choice(rule, c("equal", "thompson", "top_two", "neyman"))
  sizes <- check_blocks(block, noise_variance_of(mu, epsilon))
  if (!is.null(control)) control <- check_count(control)
  floor <- check_floor(floor, control)
  burn_in <- check_count(burn_in, 0)
  check_flag(permuted)
  protect <- check_choice(protect, c("person", "reward"))
  if (!is.null(predicted)) {
    predicted <- check_predicted(predicted)
    if (outcome == "binary") {
      abort_arg("outcome", "\"continuous\" with `predicted`: what is left of a reward is no coin")
    }
    if (permuted) abort_arg("permuted", "FALSE with `predicted`, which needs independent assignments")
  }
  # A release table takes no probability of 0, and its column `floor` is above 0, too.
  least <- pmax(floor, 1e-6)
  params <- c(
    budget,
    list(rule = rule, growth = sizes$growth, floor = least[1], control = control,
         control_floor = if (!is.null(control)) least[2], burn_in = burn_in, permuted = as.double(permuted),
         outcome = outcome),
    stats::setNames(as.list(sizes$size), paste0("size_", seq_along(sizes$size))),
    list(predicted_low = predicted[1], predicted_high = predicted[2], protect = protect)
  )
  args <- list(rule = if (rule != "equal") rule, block = block,
               floor = if (!identical(floor, c(0.1, NA))) floor[!is.na(floor)], control = control,
               burn_in = if (burn_in != 1) burn_in, permuted = if (permuted) TRUE,
               outcome = if (outcome != "binary") outcome, predicted = predicted,
               protect = if (protect != "person") protect)
  neighbours <- if (is.null(predicted)) "reward" else if (protect == "person") "predicted" else
    "public_prediction"
  new_policy("randomised", params, guarantee_of_one(budget, neighbours), "a randomised experiment",
             c(budget, args), rounds_per_arm = 1)
}

check_predicted <- function(predicted) {
  predicted <- check_range(predicted)
  if (predicted[1] >= 0 && predicted[2] <= 1) return(predicted)
  abort_arg("predicted", "two increasing numbers of [0, 1]", predicted)
}

# Between which numbers a policy clips its predictions; NULL: it has none
predictions_of <- function(policy) {
  p <- unwrapped(policy)$params
  if (!is_custom(policy) && !is.null(p$predicted_high)) c(p$predicted_low, p$predicted_high)
}

# By how much residuals are wider than rewards, and what a right prediction leaves on their scale
residual_width <- function(low, high) 1 + high - low
right_residual <- function(low, high) high / residual_width(low, high)

# A policy whose predictions are protected, as somebody sees it who moves reward and prediction together such
# that the residual is any number of [0, 1]
shown_residuals <- function(policy) {
  if (!is.null(policy$policy)) {
    policy$policy <- shown_residuals(policy$policy)
  } else if (!is.null(predictions_of(policy)) && policy$params$protect == "person") {
    policy$params[c("predicted_low", "predicted_high")] <- list(NULL)
  }
  policy
}

noise_variance_of <- function(mu, epsilon) {
  if (!is.null(mu)) 1 / mu^2 else if (!is.null(epsilon)) 2 / epsilon^2 else 0
}

# Returns list(growth, size): `growth` is NULL where sizes are given one by one; else they are the first and,
#   for each arm, the largest
# `noise`: the variance of a sum's noise
check_blocks <- function(block, noise = 0, strata = 1) {
  if (is.null(block)) return(default_blocks(noise, strata))
  block <- check_numbers(block, 1, 2^53, open = c(TRUE, FALSE))
  if (length(block) == 1 && block <= 4) return(list(growth = block, size = 200))
  if (any(block < 5 | block != trunc(block)) || length(block) > 6) {
    abort_arg("block", "a growth rate above 1 and up to 4, or up to six whole numbers from 5",
              block[block < 5 | block != trunc(block)][1])
  }
  list(growth = NULL, size = block)
}

# The same of a policy, in each of several strata
block_rule <- function(policy, strata = 1) {
  params <- if (strata == 1) policy$params else params_in_strata(policy$params, strata)
  size <- unlist(params[paste0("size_", 1:6)])
  list(growth = params$growth, size = unname(size[!is.na(size)]))
}

# The parameters in each of several strata
params_in_strata <- function(params, strata) {
  if (is.null(params$growth) || is.null(params$size_2)) return(params)
  blocks <- default_blocks(params$size_2 / 200, strata)
  params$growth <- blocks$growth
  params$size_1 <- blocks$size[1]
  params
}

# Blocks that nobody asked for are smaller where there are several strata, since at a verdict each of the
# others has an open block of people of whom nothing is released. But they are not so small that their noise
# costs more than waiting does, nor that late rewards soon fill all blocks that may wait. A verdict that takes
# n people without noise takes about n (1 + 8 s^2 / (b v)) + strata b / 2 with noise of sd s in blocks of b
# people, and v the variance of a person's score. That is least for a b that grows as s / sqrt(strata). Of the
# factors 50, 70, 100 and 140, and the growths 1.15 and 1.3, 100 and 1.15 were best or as good for 2, 5 and 20
# strata and mu = 2, 1, 0.5 and 0.2, in the problem of bench/strata.R.
default_blocks <- function(noise, strata) {
  if (strata == 1) return(list(growth = 1.3, size = c(200, 200 * noise)))
  first <- ceiling(min(500, max(20, 100 / strata, 100 * sqrt(noise / strata))))
  list(growth = 1.15, size = c(first, 200 * noise))
}

# Returns The floor, and the control's (NA: at least 1 / k)
check_floor <- function(floor, control) {
  floor <- check_numbers(floor, 0, 1, open = c(FALSE, TRUE))
  if (length(floor) > if (is.null(control)) 1 else 2) {
    abort_arg("floor", if (is.null(control)) "one number where there is no `control`" else
      "one or two numbers", floor)
  }
  c(floor, NA)[1:2]
}

#' @export
misfit.dpts_policy_randomised <- function(policy, k) {
  p <- policy$params
  if (p$floor > 1 / k) {
    sprintf("has a `floor` of %s, which is above 1/%d for %d arms", number_text(p$floor), k, k)
  } else if ((p$control %||% 1) > k) {
    sprintf("has arm %s for `control`, of %d", number_text(p$control), k)
  } else floors_beyond(policy, k)
}

# Why the floors of k arms, a control's own and those of the others, have no room; NULL if they have
floors_beyond <- function(policy, k) {
  p <- policy$params
  if (isTRUE(p$control_floor + (k - 1) * p$floor > 1 + 1e-12)) {
    sprintf("has floors that add up to more than 1 for %d arms", k)
  }
}

# No toss between two of k arms is less likely than this; 0 for policies that do not toss. `grows`: nor after
# arms were added
toss_floor <- function(policy, k, grows) UseMethod("toss_floor")

#' @export
toss_floor.default <- function(policy, k, grows) 0

#' @export
toss_floor.dpts_policy_local <- function(policy, k, grows) toss_floor(policy$policy, k, grows)

#' @export
toss_floor.dpts_policy_randomised <- function(policy, k, grows) {
  p <- policy$params
  control <- p$control %||% 0
  own <- p$control_floor %||% NA
  equal <- rep(1 / k, k)
  floors <- pmin(rep(p$floor, k), equal)
  if (control > 0) {
    floors[control] <- if (is.na(own)) 1 / k else own
    if (k > 1) equal[-control] <- (1 - max(floors[control], 1 / k)) / (k - 1)
    equal[control] <- max(floors[control], 1 / k)
  }
  if (k == 1) return(1)
  # Of every arm against every other one
  share <- function(own, other) min(outer(own, other, function(p, q) p / (p + q))[!diag(k)])
  least <- share(equal, equal)
  if (p$rule != "equal") least <- min(least, share(floors, 1 - sum(floors) + floors))
  # Only what others leave to a control that keeps its own share is divided among ever more arms.
  if (grows && !is.na(own)) least <- min(least, p$floor / (p$floor + own))
  least
}
