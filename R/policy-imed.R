#' DP-IMED and DP-KLUCB
#'
#' Two published policies that lose little reward under pure epsilon-differential privacy. They are index
#' policies with batches that grow geometrically (Azize et al. 2025), and come closest to the lower bound
#' among the published ones. Use `index = "likelihood"` in practice: it has about half of the regret at small
#' `epsilon`. Not for: a trial that needs a conclusion ([policy_randomised()]). If a guarantee of mu-GDP is
#' enough, [policy_gaussian_imed()] has less regret.
#'
#' @details
#' Quick start:
#'
#' ```
#' policy_dp_imed(epsilon = 1, index = "likelihood")   # tuned
#' policy_dp_imed(epsilon = 1)                         # as published
#' ```
#'
#' @section The algorithm:
#' 1. Pull each arm `first` times.
#' 2. At the end of a batch add its sum, with one Lap(1 / `epsilon`), to the arm's private sum of
#'    n rewards; x is the private mean clipped to \[0, 1\].
#' 3. Choose the arm of the best index and pull it (`ratio` - 1) n times, rounded up.
#'
#' DP-IMED takes the least n d(x, x*) + ln(n), where x* is the highest x. DP-KLUCB takes, in round t, the
#' largest y with d(x, y) <= ln(t) / n. Here d is the divergence
#'
#' d(x, y) = inf over z between x and y of `epsilon` |z - x| + kl(z, y),
#'
#' with kl the relative entropy of Bernoulli distributions. It has a closed form. For x < y it is
#' kl(x, y) while logit(y) - logit(x) <= `epsilon`, and -`epsilon` x -
#' ln(1 - y + y exp(-`epsilon`)) after; for x > y the same with 1 - x and 1 - y.
#'
#' @section Readings:
#' The sizes of the first batches and the ratio of the paper's experiments are not known.
#' `ratio = 2` and `first = 1` are the defaults; at small `epsilon` neither takes account of how noisy the
#' first sums are, and some runs have very large regret. A `first` of about 1 / `epsilon` avoids
#' most of that. Where arms of DP-KLUCB tie, at index 1, the one with the fewest pulls is taken.
#'
#' @section The likelihood index:
#' `index = "likelihood"` is an addition of this package. It uses only what has been released, so it costs no
#' privacy.
#'
#' A weighted mean uses half of the information in sums with Laplace noise (a Laplace variable of scale b has
#' the information 1 / b^2 about its centre, and the variance 2 b^2). A batch of L rewards of mean t has a
#' released sum y that is nearly N(t L, t (1 - t) L) + Lap(1 / `epsilon`). The private mean x is the t in \[0,
#' 1\] of maximum likelihood (with t (1 - t) held at its value, and at least 0.01). Let R be the logarithm of
#' the likelihood ratio of x and x*, where x has the variance of x* if that is larger (a smaller variance that
#' fits better is no evidence against an arm). Let w be the information in the releases divided by that in n
#' rewards of variance 1 / 4. The evidence against the arm is
#'
#' c = (1 - w) R + w (-ln(2 P(N(0, 1) >= sqrt(2 R)))).
#'
#' Where the noise is small this is the significance of a normal deviation. Where Laplace noise dominates, the
#' tail is at least as heavy as R implies. The index is max(0, c - `safety` ln(1 + c)) + ln(n) + h ln(w),
#' with h = 2 `epsilon`, at most 2. An arm that looks bad because of noise alone is soon tried again.
#'
#' This index has its own first batch and its own schedule, `"evidence"`. After n pulls the next batch has
#' (`ratio` - 1) n / (1 + c) rewards, so that each batch moves the index by about `ratio` - 1. It has at least
#' half as many as the first batch, because a batch of any size has the same noise. The sums of batches before
#' the last 32 are added up, and their noise is taken to be normal. Regret is about half of that of the
#' published index at `epsilon` = 0.1 and 0.25.
#'
#' No setting is free of runs that fail; a larger `safety` makes them rarer. [dpts_recommend()] tries the
#' policy on your problem.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\] (or in the
#' rewards of one round, of which only the pulled one is read). What is published is the sequence of arms, at
#' every horizon, and it is `epsilon`-DP: each reward is in one batch of one arm, whose sum is released once,
#' and a batch that the horizon ends early releases nothing. Batches may depend on the past, because they hold
#' different rewards (parallel composition).
#'
#' @section Assignments:
#' A policy that does not randomise assigns people in blocks of one arm. Anyone who sees
#' the releases can predict the next assignment. **Nothing here protects against a time trend**: the arm is
#' confounded with time. A trial or a test that needs a conclusion should randomise people to arms, with
#' [policy_randomised()]; [dpts_plan()] compares the designs.
#'
#' @param epsilon Privacy parameter of pure DP: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no
#'   noise.
#' @param ratio Factor by which an arm's pulls grow with each batch: a number above 1. `NULL` is 2; with
#'   `index = "likelihood"` 2.4, or 1.4 if batches are geometric.
#' @param first Size of the first batch of each arm: a whole number. `NULL` is 1; with `index = "likelihood"`
#'   24 / `epsilon`, rounded up, but at least 4, and at most an eighth of the horizon for all arms together.
#' @param index Which index chooses the arm: `"divergence"`, that of the paper, or `"likelihood"`.
#' @param schedule Sizes of batches: `"geometric"`, or by the `"evidence"`. `NULL`: the latter for
#'   `index = "likelihood"`, with which alone it is available.
#' @param safety Leniency of the index `"likelihood"` towards arms that look bad: a number in \[0, 1\]; `NULL`
#'   for 0.25 `epsilon`, but at most 0.25.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Azize, A., Wu, Y., Honda, J., Orabona, F., Ito, S. and Basu, D. (2025). Optimal
#'   Regret of Bernoulli Bandits under Global Differential Privacy. arXiv:2505.05613.
#' @template see_policies
#' @examples
#' policy_dp_imed(epsilon = 1)
#' policy_dp_imed(epsilon = 0.25, index = "likelihood")
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' sim <- dpts_simulate(arms, list(imed = policy_dp_imed(1), klucb = policy_dp_klucb(1)),
#'                      horizon = 1e6, runs = 5, seed = 1)
#' subset(summary(sim), t == 1e6)
#' @export
policy_dp_imed <- function(epsilon, ratio = NULL, first = NULL, index = c("divergence", "likelihood"),
                           schedule = NULL, safety = NULL, ...) {
  check_dots_empty(...)
  epsilon <- check_budget_number(epsilon)
  if (!is.null(ratio)) ratio <- check_number(ratio, 1, open = TRUE)
  if (!is.null(first)) first <- check_count(first)
  index <- check_choice(index, c("divergence", "likelihood"))
  fitted <- index == "likelihood"
  usual <- if (fitted) "evidence" else "geometric"
  schedule <- check_choice(schedule %||% usual, c("geometric", "evidence"))
  if (schedule == "evidence" && !fitted) {
    abort_arg("schedule", "\"geometric\" unless `index = \"likelihood\"`", schedule)
  }
  if (!is.null(safety)) safety <- check_number(safety, 0, 1)
  if (!is.null(safety) && !fitted) {
    abort_arg("safety", "NULL with `index = \"divergence\"`, which has no use for it", safety)
  }
  args <- list(epsilon = epsilon, ratio = ratio, first = first,
               index = if (index != "divergence") index,
               schedule = if (schedule != usual) schedule, safety = safety)
  usual_ratio <- if (!fitted) 2 else if (schedule == "geometric") 1.4 else 2.4
  # A small budget can pay for little forgiving, from `epsilon` = 1 on all of it.
  share <- if (fitted) min(1, epsilon) else 0
  if (!fitted) first <- first %||% 1
  new_policy(
    "dp_imed",
    list(epsilon = epsilon, ratio = ratio %||% usual_ratio, first = first, index = index,
         safety = safety %||% (0.25 * share), schedule = schedule, information = 2 * share),
    guarantee_pure(epsilon), title = "DP-IMED (Azize et al.)", args = args,
    rounds_per_arm = first %||% 1
  )
}

#' @rdname policy_dp_imed
#' @export
policy_dp_klucb <- function(epsilon, ratio = 2, first = 1, ...) {
  check_dots_empty(...)
  params <- list(epsilon = check_budget_number(epsilon), ratio = check_number(ratio, 1, open = TRUE),
                 first = check_count(first))
  new_policy("dp_klucb", params, guarantee_pure(epsilon), "DP-KLUCB (Azize et al.)",
             rounds_per_arm = params$first)
}

#' IMED and KL-UCB, without privacy
#'
#' Policies without privacy that lose as little reward as theory allows. Their regret reaches the lower bound
#' of Lai and Robbins on Bernoulli arms. Use them to measure the price of privacy: compare a private policy
#' with one of these.
#'
#' @details
#' An arm has n rewards and mean x, x* is the highest mean, and kl is the relative entropy of Bernoulli
#' distributions.
#'
#' * IMED (Honda and Takemura 2015) pulls the arm of the least n kl(x, x*) + ln(n);
#' * KL-UCB (Garivier and Cappe 2011, with c = 0) pulls each arm once, then in round t the arm
#'   of the largest q with n kl(x, q) <= ln(t).
#'
#' @section Privacy:
#' None: the arms are a deterministic function of the rewards.
#'
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template honda
#' @references Garivier, A. and Cappe, O. (2011). The KL-UCB Algorithm for Bounded Stochastic Bandits and
#'   Beyond. COLT, PMLR 19, 359-376.
#' @template see_policies
#' @examples
#' policy_imed()
#' policy_klucb()
#' @export
policy_imed <- function(...) {
  check_dots_empty(...)
  new_policy("imed", title = "IMED (Honda and Takemura)")
}

#' @rdname policy_imed
#' @export
policy_klucb <- function(...) {
  check_dots_empty(...)
  new_policy("klucb", title = "KL-UCB (Garivier and Cappe)")
}
