#' DP-UCB-Bound and DP-UCB-Int
#'
#' Two private policies of 2016, which later ones are compared with. Two private UCB policies of Tossou and
#' Dimitrakakis (2016): one sums rewards by the hybrid mechanism and widens its index by a bound on the noise,
#' the other renews noisy means now and then, and does not widen its index.
#'
#' @section DP-UCB-Bound:
#' Each arm's rewards go into a hybrid mechanism ([counter_hybrid()]) of budget `epsilon`. Pull
#' each arm once; then the arm of the largest
#'
#' X / n + sqrt(2 ln(t) / n) + nu / n,
#'
#' X being the released sum of n rewards and nu = sqrt(8) ln(4 t^4) / `epsilon`, times ln(n) + 1
#' unless n is a power of 2.
#'
#' @section DP-UCB-Int:
#' With f = 1 / `epsilon` rounded up, pull the arms in turn until each has f rewards. When an arm's pulls n
#' are a multiple of f, its private mean becomes S / n + Lap(n^(`v` / 2 - 1)), S being the sum of all its
#' rewards. Pull the arm of the largest private mean + sqrt(2 ln(t) / n), n its pulls.
#'
#' @section Readings:
#' Public implementations agree on nu. They disagree on f (rounded up or down): up is used, which spends less.
#' ln is natural. One public implementation of DP-UCB-Int has a negative noise scale, and therefore no
#' noise at all.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\] (or in the rewards of one
#' round, of which only the pulled one is read). What is published is the sequence of arms.
#'
#' DP-UCB-Bound is `epsilon`-DP at every horizon: see [counter_hybrid()]; arms hold different rewards.
#'
#' DP-UCB-Int is **not** `epsilon`-DP: `epsilon` only sets how often it looks. A reward is in every later mean
#' of its arm. The one at n = j f is moved by at most 1 / n and so is e_j-DP with e_j = (j f)^(-`v` / 2), and
#' the sum of e_j^2 stays below f^-`v` zeta(`v`). The guarantee is (epsilon', delta) with epsilon' from the
#' composition theorem of Kairouz, Oh and Viswanath (2015, Theorem 3.5) over at most horizon / f releases, or
#' the plain sum of e_j where that is less; [dpts_privacy()] shows it.
#'
#' @param epsilon A positive number. DP-UCB-Bound: privacy, or `Inf` for no noise. DP-UCB-Int:
#'   sets the time between releases, a number of at least 1e-12.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Tossou, A. C. Y. and Dimitrakakis, C. (2016). Algorithms for Differentially Private
#'   Multi-Armed Bandits. AAAI, 2087-2093.
#' @template kairouz
#' @template see_policies
#' @examples
#' policy_dp_ucb_bound(epsilon = 1)
#' policy_dp_ucb_int(epsilon = 0.1)
#' @export
policy_dp_ucb_bound <- function(epsilon, ...) {
  check_dots_empty(...)
  new_policy("dp_ucb_bound", list(epsilon = check_budget_number(epsilon)), guarantee_pure(epsilon),
             "DP-UCB-Bound (Tossou and Dimitrakakis)", rounds_per_arm = 1)
}

#' @rdname policy_dp_ucb_bound
#' @param v Decay of the noise: a number in (1, 1.5\].
#' @export
policy_dp_ucb_int <- function(epsilon, v = 1.1, ...) {
  check_dots_empty(...)
  # Not a budget; 1e12 is the longest horizon.
  epsilon <- check_number(epsilon, 1e-12)
  v <- check_number(v, 1, 1.5, open = c(TRUE, FALSE))
  every <- ceiling(1 / epsilon)
  new_policy("dp_ucb_int", list(every = every, v = v), args = list(epsilon = epsilon, v = v),
             new_guarantee("curve", epsilon = guarantee_function(
               c("horizon", "arms", "delta"),
               bquote(releases_epsilon(horizon, delta, .(every), .(v / 2)))
             )),
             title = "DP-UCB-Int (Tossou and Dimitrakakis)", rounds_per_arm = every)
}

# Releases of pure DP that add up: release j costs a reward e_j = (j every)^-power and comes with the arm's
# pull j every. Kairouz, Oh and Viswanath (2015), Theorem 3.5, or the plain sum, whichever is less.
releases_epsilon <- function(horizon, delta, every, power) {
  releases <- floor(horizon / every)
  if (releases < 1) return(rep(0, length(delta)))
  # The first terms one by one; the sum of the others lies below its integral.
  n <- min(releases, 1e5)
  e <- (seq_len(n) * every)^-power
  rest <- function(power) {
    area <- if (power == 1) log(releases / n) else (releases^(1 - power) - n^(1 - power)) / (1 - power)
    if (releases > n) every^-power * area else 0
  }
  squares <- sum(e^2) + rest(2 * power)
  drift <- sum(e * tanh(e / 2)) + rest(2 * power) / 2 # tanh(x) <= x
  epsilon <- pmin(sum(e) + rest(power), drift + sqrt(2 * log(1 / delta) * squares))
  ifelse(delta == 1, 0, epsilon)
}
