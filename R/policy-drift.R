# Policies for means that change: one that forgets, and one that is started anew when a change is seen.

#' Forget what is old: sliding windows and discounts
#'
#' UCB policies for arms that change: old releases count less and less, or not at all.
#'
#' @details
#' 1. Pull an arm for a batch of `batch` rounds. Its sum is released once, with fresh noise.
#' 2. With a `window`, a batch weighs 1 while its last pull was among the last `window` rounds, and 0 then.
#'    With a `discount` it weighs `discount`^a, when its last pull was a rounds ago.
#' 3. With N, S and R an arm's weighted rewards, noisy sums and batches, v the variance of a batch's noise,
#'    and n the lesser of t and `window` (with a discount: the N of all arms together), the next batch is one
#'    of the arm of the largest S / N + sqrt(`width` ln(n) (N + 4 v R)) / N; of an arm for which nothing
#'    counts first.
#'
#' Without privacy, with `batch = 1`, this is SW-UCB of Garivier and Moulines (2011) with xi = `width`, and
#' their D-UCB with 4 xi = `width`. Batches and the term 4 v R are ours. What is forgotten is seen at the
#' latest when the next batch is opened or released.
#'
#' A window should have room for several batches of each arm, and be shorter than the time in which means stay
#' alike. If means may stay as they are, [policy_detect()] costs less.
#'
#' Rounds are skipped, a batch at a time.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. A reward is
#'   in one batch, whose sum is released once, with Lap(1 / `epsilon`) or N(0, 1 / `mu`^2). When a batch is
#'   forgotten is decided by rounds, which are public: forgetting costs nothing, and brings nothing. The arms
#'   are `epsilon`-DP or `mu`-GDP, at every horizon.
#'
#' @param window Rounds: a whole number.
#' @param discount A number in (0, 1). One of `window` and `discount` is given.
#' @param epsilon,mu Privacy: one of them, a number of at least 1e-6, or none for no privacy.
#' @param batch Rounds in a batch: a whole number. `NULL`: 10 / `epsilon` or 10 / `mu`, rounded up; without
#'   privacy 1.
#' @param width A positive number.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Garivier, A. and Moulines, E. (2011). On Upper-Confidence Bound Policies for Switching Bandit
#'   Problems. ALT. arXiv:0805.3415.
#' @template see_policies
#' @concept non-stationary bandit
#' @concept sliding window
#' @examples
#' policy_forget(window = 2000, epsilon = 1)
#' policy_forget(discount = 0.999, mu = 0.5, batch = 10)
#' arms <- arms_switch(list(arms_bernoulli(c(0.8, 0.4)), arms_bernoulli(c(0.3, 0.7))), at = 5000)
#' policies <- list(policy_forget(window = 2000, epsilon = 1), policy_dp_imed(1))
#' sim <- dpts_simulate(arms, policies, 1e4, runs = 5, seed = 1)
#' subset(summary(sim), t == 1e4)
#' @export
policy_forget <- function(window = NULL, discount = NULL, epsilon = NULL, mu = NULL, batch = NULL,
                          width = 0.3, ...) {
  check_dots_empty(...)
  if (is.null(window) == is.null(discount)) abort_arg("window", "given, or `discount`, and not both")
  budget <- check_one_budget(mu, epsilon)
  batch <- if (is.null(batch)) ceiling(max(1, 10 / (epsilon %||% mu %||% Inf)) * (1 - 1e-12)) else
    check_count(batch, 1, 2^40)
  if (!is.null(window)) {
    window <- check_count(window)
    if (window < batch) abort_arg("window", sprintf("at least a batch, %s rounds", label_count(batch)),
                                  window)
    if (window > 1e6 * batch) abort_arg("window", "at most 1e6 batches", window)
  } else discount <- check_number(discount, 0, 1, open = TRUE)
  width <- check_number(width, 0, open = TRUE)
  scale <- if (is.null(mu) && is.null(epsilon)) 0 else 1 / (mu %||% epsilon)
  new_policy(
    "forget", list(noise = if (is.null(mu)) "laplace" else "gaussian", scale = scale, batch = batch,
                   window = window, discount = discount, width = width),
    guarantee_of_one(budget),
    if (is.null(window)) sprintf("UCB with the discount %s", number_text(discount)) else
      sprintf("UCB over the last %s rounds", label_count(window)),
    list(window = window, discount = discount, epsilon = epsilon, mu = mu, batch = batch, width = width),
    rounds_per_arm = batch
  )
}

#' Restart a policy when a change is detected
#'
#' `policy_detect()` watches the releases of a policy and restarts it when the mean of an arm has changed. Use
#' it if you do not know whether means change. If you know that they do, [policy_forget()] with a window
#' reacts faster.
#'
#' @details
#' The policy keeps, for each arm, a confidence interval that is valid at every look as long as the mean is
#' constant. It is that of [evidence()], with error probability `delta` / k, intersected with the intervals of
#' earlier looks. It is computed when the released rewards of an arm have grown by a fiftieth. An empty
#' interval shows that the means have changed. The policy is then restarted: its clock and its counts begin at
#' 0, what it released before is not used, and the batches that were open release nothing.
#'
#' If no mean changes, the probability that the policy is ever restarted is at most `delta`, whatever the
#' rewards in \[0, 1\]. After n rewards of an arm a change by g is seen after about sqrt(n log(k / `delta`)) /
#' g more. A change of an arm that is not pulled goes unseen. For that, a share `explore` of rounds, at fixed
#' times, pulls the arms in turn. A policy whose batches double sees nothing while one is open: use batches
#' that grow slowly, as in `policy_dp_imed(1, ratio = 1.1)`.
#'
#' A *rival* that got better is seen late, because few of its rewards are new. Of two arms with means 0.6 and
#' 0.4, one changes after 5,000 rounds. Half of the pulls were of the better arm again (medians of 20 runs):
#'
#' | policy | leader falls to 0.2 | rival rises to 0.8 |
#' | --- | ---: | ---: |
#' | `policy_detect(policy_imed())` | 950 rounds later | 2,100 rounds later |
#' | `policy_detect(policy_dp_imed(1, ratio = 1.1))` | 1,200 | 4,800 |
#' | the same with `explore = 0.1` | 1,400 | 4,000 |
#' | `policy_dp_imed(1, ratio = 1.1)` alone | 3,200 | 13,000 |
#'
#' Where rivals rise, [policy_forget()] with a window is quicker.
#'
#' The scheme is that of detectors for bandits (Besson, Kaufmann, Maillard and Seznec 2022), with the evidence
#' of this package in place of their likelihood ratios. [policy_restart()] restarts at fixed times,
#' [policy_forget()] forgets continuously. Rounds are simulated one by one. [estimates()] are those since the
#' last restart.
#'
#' @section Privacy:
#' The guarantee is that of `policy`. It releases each reward in one noisy sum, and the detector reads these
#'   sums alone: the times of restarts depend on them and on nothing else. A reward is used only until the
#'   restart after its pull, so different segments have different rewards (parallel composition).
#'
#' @param policy A policy that releases each reward in one sum, with independent noise (in C from outside:
#'   `.each_once = 1`, see [policy_compiled()]), or one in C without a guarantee that has [estimates()];
#'   without contexts, not wrapped.
#' @param delta The probability of a false alarm after each start: a number in (0, 1).
#' @param explore Share of rounds in which the arms are pulled in turn: a number from 0 to 0.5.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Besson, L., Kaufmann, E., Maillard, O.-A. and Seznec, J. (2022). Efficient Change-Point
#'   Detection for Tackling Piecewise-Stationary Bandits. Journal of Machine Learning Research 23.
#' @template see_policies
#' @concept change point
#' @concept non-stationary bandit
#' @examples
#' policy_detect(policy_dp_imed(1, ratio = 1.1))
#' arms <- arms_switch(list(arms_bernoulli(c(0.8, 0.4)), arms_bernoulli(c(0.3, 0.7))), at = 5000)
#' sim <- dpts_simulate(arms, list(
#'   blind = policy_dp_imed(1), detects = policy_detect(policy_dp_imed(1, ratio = 1.1))
#' ), 1e4, runs = 5, seed = 1)
#' subset(summary(sim), t == 1e4)
#' @export
policy_detect <- function(policy, delta = 0.01, explore = 0.02, ...) {
  check_dots_empty(...)
  check_policy(policy)
  delta <- check_number(delta, 0, 1, open = TRUE)
  explore <- check_number(explore, 0, 0.5)
  once <- is_true_of(policy, "each_once") && correlation_of(policy) == 0
  plain <- promises_nothing(policy$guarantee) && is_true_of(policy, "reports")
  why <- paste("that releases each reward in one sum, with noise of its own, or one with estimates() and no",
               "guarantee")
  check_inner(policy, if (!once && !plain) why)
  around_policy("detect", policy, list(delta = delta, explore = if (explore > 0) round(1 / explore) else 0),
                policy$guarantee,
                list(delta = delta, explore = explore), "restarted when a mean has changed",
                inherits = c("releases", "inexact", "finishes"))
}
