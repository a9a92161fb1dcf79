#' Published top-two rules for the best arm
#'
#' Two published rules that find the best arm with few people, under pure epsilon.
#' Two rules that find the best arm under pure epsilon-DP as they were published, to compare
#' [policy_top_two()] with in [dpts_identify()].
#'
#' @section Both:
#' The batches of an arm have f, f, 2 f, 4 f, ... rewards: each as many as all before it. The sum of each is
#' released once, with Lap(1 / `epsilon`). In each round a fair coin decides between a leader and a
#' challenger. After each release they may stop, with the arm of the highest mean, and pull it from then on. K
#' is the number of arms. Batches of the two overlap in time, others wait: a verdict is for means that do not
#' change, and nothing here protects against a time trend.
#'
#' @section AdaP-TT:
#' f = 1. Only an arm's last batch counts: n rewards with the noisy mean x. With N rewards released of all
#' arms, and m rewards that were assigned to an arm:
#'
#' 1. The leader l has the highest x + ln(N) / (`epsilon` n) + sqrt(ln(N) / (2 n)).
#' 2. The challenger has the least (x_l - x + 1 / (1 + sqrt(N))) / sqrt(1 / m_l + 1 / m).
#' 3. Stop if for all others (x_l - x)^2 / (2 (1 / n_l + 1 / n)) is at least the threshold.
#'
#' The thresholds, with L = 1 / n_l + 1 / n:
#'
#' * `"proved"`: 2 (u + ln u) + 2 ln(4 + ln n_l) + 2 ln(4 + ln n) + L ln(2 K z / `error`)^2 / `epsilon`^2.
#'   Here u = ln((K - 1) z / `error`) / 2 and z = p^2 pi^2 / 6 at the p-th batch of the arm that was just
#'   released. A negative x_l - x counts as 0.
#' * `"run"`: ln(1 / `error`) + ln(1 + ln n_l) + ln(1 + ln n) + L ln(1 / `error`)^2 / `epsilon`^2, with which
#'   the authors' code runs: it has no proof, and squares negative differences, too, so that it may stop
#'   while its leader is a bad arm.
#'
#' @section DP-TT:
#' f = (2 + 6 / `epsilon`) ln((K - 1) / `error`), rounded up, as in [policy_top_two()]. All batches count: n
#' rewards with the noisy sum Y of j batches. With s = 1 or -1, I^s(theta) is the highest value of s l Y - n
#' ln(1 - theta + theta e^(s l)) + j ln(1 - (l / `epsilon`)^2) over l from 0 to `epsilon`.
#'
#' 1. The leader a has the highest Y / n.
#' 2. The challenger b has the least W_b + ln n_b, W_b being the least over theta of I_a^1(theta) +
#'    I_b^-1(theta).
#' 3. Stop if all W_b are at least the w with (1 + w) e^-w = `error` / ((K - 1) j_a (j_a + 1) j_b (j_b + 1)).
#'
#' @section Readings:
#' AdaP-TT is read from its authors' code, the proved threshold, too, but for its p, of which the code says
#' only that it is the index of the phase. DP-TT is **our reading** of the paper's abstract (an arm-dependent
#' geometric grid, cumulative sums, transportation costs that bound the divergence by `epsilon`): its own
#' first batch and threshold are not known to us; this threshold is Chernoff's inequality with a union over
#' the releases of both arms. AdaP-TT\* (Azize et al. 2024) has other transportation costs, which we could not
#' read (of both papers of 2024 and 2025 we had the abstracts, and the authors' published code is that of
#' 2023); it is not here.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. A reward is in one batch,
#' whose sum is released once: arms, stopping time and verdict are together `epsilon`-DP.
#'
#' @param epsilon Privacy: a number from 1e-6 to 1e12.
#' @param error The probability that the verdict is wrong: a number in (0, 1).
#' @param threshold Of AdaP-TT: `"proved"`, or `"run"`, with which its authors ran it.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Azize, A., Jourdan, M., Al Marjani, A. and Basu, D. (2023). On the Complexity of Differentially
#'   Private Best-Arm Identification with Fixed Confidence. NeurIPS. arXiv:2309.02202.
#'
#'   Azize, A., Jourdan, M., Al Marjani, A. and Basu, D. (2024). Differentially Private Best-Arm
#'   Identification. arXiv:2406.06408.
#'
#'   Jourdan, M. and Azize, A. (2025). Optimal Best Arm Identification under Differential Privacy.
#'   arXiv:2510.17348.
#' @template see_policies
#' @name policy_published_tt
#' @examples
#' policies <- list(top_two = policy_top_two(epsilon = 1), dp_tt = policy_dp_tt(1),
#'                  run = policy_adap_tt(1, threshold = "run"))
#' summary(dpts_identify(arms_bernoulli(c(0.9, 0.5)), policies, runs = 5, seed = 1, limit = 1e5))
NULL

#' @rdname policy_published_tt
#' @export
policy_adap_tt <- function(epsilon, error = 0.05, threshold = c("proved", "run"), ...) {
  check_dots_empty(...)
  threshold <- check_choice(threshold, c("proved", "run"))
  published_tt("adap_tt", epsilon, error, list(threshold = threshold), "AdaP-TT (Azize et al.)",
               if (threshold != "proved") list(threshold = threshold))
}

#' @rdname policy_published_tt
#' @export
policy_dp_tt <- function(epsilon, error = 0.05, ...) {
  check_dots_empty(...)
  published_tt("dp_tt", epsilon, error, NULL, "DP-TT (Jourdan and Azize), our reading", NULL)
}

published_tt <- function(name, epsilon, error, more, title, args) {
  params <- list(epsilon = check_budget_number(epsilon, inf = FALSE),
                 error = check_number(error, 0, 1, open = TRUE))
  new_policy(name, c(params, more), guarantee_pure(epsilon), title,
             c(params[1], if (error != 0.05) params[2], args), rounds_per_arm = 1)
}
