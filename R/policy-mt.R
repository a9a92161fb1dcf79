#' The private policies of Mishra and Thakurta
#'
#' Two private policies of 2015, which later ones are compared with. Private UCB (`policy_mt_ucb()`) and
#' private Thompson sampling (`policy_mt_ts()`), in which every arm's rewards are summed by a tree counter.
#' With `tuned = TRUE` they are as in the authors' experiments, without the constants that make the originals
#' explore for longer than most horizons.
#'
#' @section The algorithms:
#' Mishra and Thakurta (2015), Algorithm 1, with k arms and horizon T:
#'
#' 1. Give each arm a [tree counter][counter_tree] with T leaves and budget eps0 = `epsilon` / k.
#' 2. (lines 2-6) Pull each arm once and insert its reward.
#' 3. (line 7) G = ln(T)^2 ln(k T ln(T) / `gamma`) / eps0.
#' 4. (lines 8-13) In round t pull the arm of the largest r / n + sqrt(2 ln(t) / n) + G / n, r the released
#'    sum of its tree and n its pulls; insert the reward.
#'
#' `tuned = TRUE` (their section 5.1): the index is
#' r / n + sqrt(r ln(t)) / n + ln(t) / n, with 0 for a negative r under the root.
#'
#' Algorithm 2:
#'
#' 1. (lines 1-8) Gap estimation: D = 1; repeat: pull each arm m = 192 k ln(T) / (`epsilon`
#'    D^2) times, release the mean of these m rewards with noise Lap(2 k / (`epsilon` m)),
#'    halve D; until the two best private means differ by more than D.
#' 2. (line 9) Give each arm a tree with as many leaves as rounds are left, and eps0 = `epsilon` / (2 k).
#' 3. (lines 10-12) Pull each arm G / D^2 times, G = 192 ln(T)^3 / `epsilon`, and insert the
#'    total as one leaf.
#' 4. (lines 13-17) Thompson sampling: theta from Beta(r + 1, n - r + 1) for each arm, pull
#'    the largest, insert the reward.
#'
#' `tuned = TRUE`: no gap estimation, `warmup` pulls of each arm for step 3, T leaves and
#' eps0 = `epsilon` / k. At T = 1e5, k = 5 and epsilon = 1 the original pulls each arm at
#' least 11,052 times in the first batch alone, and step 3 asks for more than T.
#'
#' @section Readings:
#' * log is the natural logarithm.
#' * Line 7 of Algorithm 2 compares true means, which are unknown: the private means are used.
#' * A batch of gap estimation uses its own rewards only. They are not in the trees, so
#'   n leaves them out too: counted as in the paper they would all be failures.
#' * r is clipped to \[0, n\]: the noise can take it outside, where there is no Beta distribution.
#' * A tree over N leaves has floor(log2(N)) + 1 levels, and its nodes noise of scale
#'   levels / eps0: the number of partial sums that a reward can really be in.
#' * A reward strictly inside (0, 1) becomes a random 0 or 1 with this mean before Thompson sampling inserts
#'   it. Private UCB inserts it unchanged.
#' * `warmup`: the experiments use "a smaller value" that the paper does not give.
#' * The tuned UCB has no term for the noise. An arm whose released sum happens to be low may
#'   never be pulled again, the best arm included: regret can be near that of random choice.
#'
#' @section Privacy:
#' Neighbouring streams differ in the rewards of one round, replaced by any numbers of \[0, 1\]. What is
#' published is the sequence of arms, at all rounds up to the horizon, and it is `epsilon`-DP: only the trees
#' and the private means use rewards (Theorems 3 and 7), and the rest is post-processing. A reward is in one
#' batch, or in one arm's tree and there in as many partial sums as the tree has levels. The budget is split
#' over the k arms as in the paper, which is not needed: a round touches one arm, and a reward is in a batch
#' or in a tree. `split_budget = FALSE` gives each tree all of `epsilon` and takes the factor k out of a
#' batch's noise and length; it is `epsilon`-DP as well. (With the split the guarantee is in fact `epsilon` /
#' k, or `epsilon` / (2 k); `epsilon` is what is declared.) The horizon must be known in advance.
#'
#' @param epsilon Privacy: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no noise.
#' @param gamma Failure probability in the confidence term: a number in (0, 1).
#' @param tuned The variant of the experiments?
#' @param split_budget Divide the budget by the number of arms, as in the paper?
#' @param warmup Pulls of each arm before Thompson sampling starts: a whole number, or
#'   `NULL` for what line 12 says or, if tuned, for 10.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template mishra
#' @template see_policies
#' @concept tree mechanism
#' @concept continual observation
#' @examples
#' policy_mt_ucb(epsilon = 1)
#' arms <- arms_bernoulli(c(0.9, 0.4, 0.4, 0.4, 0.4))
#' sim <- dpts_simulate(
#'   arms,
#'   list(ucb = policy_mt_ucb(1, tuned = TRUE), ts = policy_mt_ts(1, tuned = TRUE)),
#'   horizon = 2000, runs = 5, seed = 1
#' )
#' summary(sim)
#' @export
policy_mt_ucb <- function(epsilon, gamma = 0.1, tuned = FALSE, split_budget = TRUE, ...) {
  check_dots_empty(...)
  params <- list(epsilon = check_budget_number(epsilon), gamma = check_number(gamma, 0, 1, open = TRUE),
                 tuned = check_flag(tuned), split_budget = check_flag(split_budget))
  new_policy("mt_ucb", params, guarantee_pure(epsilon), "private UCB (Mishra and Thakurta)",
             rounds_per_arm = 1)
}

#' @rdname policy_mt_ucb
#' @export
policy_mt_ts <- function(epsilon, tuned = FALSE, warmup = NULL, split_budget = TRUE, ...) {
  check_dots_empty(...)
  args <- list(epsilon = check_budget_number(epsilon), tuned = check_flag(tuned),
               warmup = if (!is.null(warmup)) check_count(warmup, 0), split_budget = check_flag(split_budget))
  # The kernel reads a missing warmup as line 12.
  params <- replace(args, "warmup", list(args$warmup %||% if (tuned) 10))
  new_policy("mt_ts", params, guarantee_pure(epsilon), "private Thompson sampling (Mishra and Thakurta)",
             args, rounds_per_arm = 1)
}
