#' Gaussian IMED and lazy Gaussian Thompson sampling
#'
#' Policies for a budget of Gaussian differential privacy, which hold at every horizon at once:
#' `policy_gaussian_imed()` is an index policy that knows its own noise,
#' `policy_lazy_gaussian_ts()` a Thompson sampling that adds noise to block sums.
#'
#' @section Gaussian IMED:
#' 1. Pull each arm `first` times.
#' 2. At the end of a batch add its sum, with one N(0, 1 / `mu`^2), to the arm's private sum; n
#'    is the number of rewards in it, B that of its batches, x the private mean clipped to
#'    \[0, 1\], x* the highest x.
#' 3. Choose the arm of the least
#'
#'    inf over z between x and x* of n^2 `mu`^2 (z - x)^2 / (2 B) + n kl(z, x*) + ln(n)
#'
#'    and pull it (`ratio` - 1) n times, rounded up.
#'
#' It is IMED (Honda and Takemura 2015) with batches and noise: the infimum is the large-deviation
#' cost of seeing x where the mean is x*, shared between the rewards and the noise. It was
#' first used here. kl is kept finite by holding x* 1e-12 away from 0 and 1.
#'
#' Three options act on what has been released, and so cost no privacy. `weights = "variance"`: the
#' private mean weighs batches by 1 / (1 / (4 L) + 1 / (`mu` L)^2), L being the size of a batch,
#' and not by L, so that small noisy batches no longer spoil it. With weights w, n in the index is
#' then (sum w)^2 / sum(w^2 / L), and B / n^2 is sum((w / L)^2) / (sum w)^2. `index = "tail"`:
#' -ln(2 P(Z >= z - x)), Z being the noise in the mean, in place of its rate n^2 `mu`^2 (z - x)^2
#' / (2 B), at the z of the infimum. `leader`: an arm whose private mean is the highest when its
#' batch is released has (`leader` - 1) n rewards in its next batch: what is known to be good needs
#' fewer looks, and each costs a noise variable.
#'
#' What did best on a panel of instances is `first = max(4, ceiling(16 / mu))`, `ratio = 1.5` (1.3
#' from `mu = 0.5` on, 1.15 from `mu = 1` on), `weights = "variance"` and `index = "tail"`: 40 per
#' cent less regret than the defaults at `mu` = 0.1, 29 at 0.25, 19 at 0.5, 14 at 1 and 16 at 5.
#' `bench/SEARCH.md` in the sources has the search, and [dpts_recommend()] tries it on your
#' problem.
#'
#' @section Lazy Gaussian Thompson sampling:
#' Algorithm 2 of Hu and Hegde (2022) with N(0, 1 / `mu`^2) in place of Lap(1 / `epsilon`) on the
#' sum of a block: pull each arm once; in round t draw theta from Beta(s n + 1, (1 - s) n + 1) for
#' each arm, where s = mean + sqrt(6 ln(t)) / (`mu` n), clipped to \[0, 1\], with n and mean those
#' of its last full block, of 1, 2, 4, ... rewards; pull the arm of the largest. sqrt(6 ln(t)) /
#' `mu` is exceeded by the noise with a chance below t^-3, as 3 ln(t) / `epsilon` is there.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\] (or in the
#' rewards of one round, of which only the pulled one is read). What is published is the sequence
#' of arms, at every horizon, and it is `mu`-GDP: each reward is in one batch of one arm, whose
#' sum, moved by at most 1, is released once with N(0, 1 / `mu`^2), and the rest is
#' post-processing. A batch that the horizon cuts releases nothing.
#'
#' @param mu Privacy of Gaussian DP: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no noise.
#' @param ratio Growth of an arm's pulls with each batch: a number above 1.
#' @param first Size of the first batch of each arm: a whole number.
#' @param weights Weigh batches by their `"size"` or by the inverse of their `"variance"`.
#' @param index Count the noise by its `"rate"` or by its `"tail"`.
#' @param leader Growth of an arm's pulls while its private mean is the highest: a number above 1.
#' @inherit policy_ts_gaussian return
#' @references Honda, J. and Takemura, A. (2015). Non-asymptotic Analysis of a New Bandit
#'   Algorithm for Semi-bounded Rewards. Journal of Machine Learning Research 16, 3721-3756.
#'
#'   Hu, B. and Hegde, N. (2022). Near-Optimal Thompson Sampling-based Algorithms for
#'   Differentially Private Stochastic Bandits. UAI, PMLR 180, 844-852.
#' @family policies
#' @examples
#' policy_gaussian_imed(mu = 1)
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' sim <- dpts_simulate(
#'   arms, list(imed = policy_gaussian_imed(1), ts = policy_lazy_gaussian_ts(1)),
#'   horizon = 1e4, runs = 5, seed = 1
#' )
#' subset(summary(sim), t == 1e4)
#' @export
policy_gaussian_imed <- function(mu, ratio = NULL, first = NULL,
                                 weights = c("variance", "size"),
                                 index = c("total", "tail", "rate"), leader = NULL,
                                 schedule = c("evidence", "geometric"), correlation = NULL,
                                 safety = NULL) {
  mu <- check_budget_number(mu)
  if (!is.null(ratio)) ratio <- check_number(ratio, 1, open = TRUE)
  if (!is.null(first)) first <- check_count(first)
  weights <- check_choice(weights, c("variance", "size"))
  index <- check_choice(index, c("total", "tail", "rate"))
  schedule <- check_choice(schedule, c("evidence", "geometric"))
  leader <- check_leader(leader, schedule)
  correlation <- check_correlation(correlation, weights)
  safety <- check_safety(safety, index, "total")
  args <- list(mu = mu, ratio = ratio, first = first,
               weights = if (weights != "variance") weights,
               index = if (index != "total") index, leader = leader,
               schedule = if (schedule != "evidence") schedule,
               correlation = correlation, safety = safety)
  ratio <- ratio %||% if (schedule == "evidence") 1.8 else 1.5
  new_policy(
    "gaussian_imed",
    list(mu = mu, ratio = ratio, first = first, weights = weights, index = index,
         leader = leader %||% ratio,
         correlation = correlation %||% if (weights == "size") 0 else 0.65,
         safety = safety %||% min(0.3, mu / 2), schedule = schedule),
    guarantee_gdp(mu), title = "Gaussian IMED", args = args, rounds_per_arm = first %||% 1
  )
}

#' The leader's growth: what a geometric schedule has
#' @noRd
check_leader <- function(leader, schedule, call = caller_env()) {
  if (is.null(leader)) return(NULL)
  leader <- check_number(leader, 1, open = TRUE, call = call)
  if (schedule == "geometric") return(leader)
  abort_arg("leader", "NULL with `schedule = \"evidence\"`, which has no use for it", leader, call)
}

#' A coefficient of a moving average, which only weights by variance can read
#' @noRd
check_correlation <- function(correlation, weights, call = caller_env()) {
  if (is.null(correlation)) return(NULL)
  correlation <- check_number(correlation, 0, 0.99, call = call)
  if (correlation == 0 || weights == "variance") return(correlation)
  abort_arg("correlation", "0 with `weights = \"size\"`, which ignore the noise", correlation, call)
}

#' @noRd
check_safety <- function(safety, index, used_by, call = caller_env()) {
  if (is.null(safety)) return(NULL)
  safety <- check_number(safety, 0, 1, call = call)
  if (index == used_by) return(safety)
  abort_arg("safety", sprintf("NULL with `index = \"%s\"`, which has no use for it", index),
            safety, call)
}

#' @rdname policy_gaussian_imed
#' @export
policy_lazy_gaussian_ts <- function(mu, correlation = 0) {
  mu <- check_budget_number(mu)
  correlation <- check_number(correlation, 0, 0.99)
  new_policy("lazy_gaussian_ts", list(mu = mu, correlation = correlation), guarantee_gdp(mu),
             title = "lazy Gaussian Thompson sampling",
             args = list(mu = mu, correlation = if (correlation > 0) correlation),
             rounds_per_arm = 1)
}
