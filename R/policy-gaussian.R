#' Gaussian IMED
#'
#' The policy of this package that loses least reward under a guarantee of Gaussian differential privacy. It
#' is an index policy that takes its own noise into account, and it needs no horizon: the guarantee holds at
#' every horizon at once. Use it when the aim is reward. Not for: a pure epsilon ([policy_dp_imed()]), or a
#' trial that needs a conclusion ([policy_randomised()]), since it gives few people to the arms that look
#' worse.
#'
#' @details
#' Quick start:
#'
#' ```
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("short", "long"), use = "arrival")
#' dpts_simulate(arms_bernoulli(c(0.6, 0.5)), policy_gaussian_imed(mu = 1), 1e4, seed = 1)
#' ```
#'
#' @section Gaussian IMED:
#' 1. Pull each arm `first` times.
#' 2. When a batch is complete, release it (see Privacy). The releases of an arm give it a private mean,
#'    clipped to \[0, 1\]: x. Its variance is 1 / (4 m) + s^2, where m is the effective number of rewards and
#'    s the standard deviation of the noise.
#' 3. With x* the highest x, let R be the least, over z between x and x*, of
#'    (z - x)^2 / (2 s^2) + m kl(z, x*): the rate at which rewards and noise together rule
#'    out that the arm's mean is x*. Choose the arm of the least max(0, c - `safety` ln(1 + c)) + ln(I). Here
#'    c = -ln(2 P(N(0, 1) >= sqrt(2 R))) is the significance of the whole deviation, and
#'    I = 1 / (1 / m + 4 s^2) is the information on average, noise included, as a number of rewards.
#' 4. Pull it for another batch of (`ratio` - 1) n / (1 + c) rewards, rounded up, where n is the number of its
#'    pulls so far.
#'
#' It is IMED (Honda and Takemura 2015) with batches and noise. kl is the relative entropy of Bernoulli
#' distributions, kept finite by holding x* 1e-12 away from 0 and 1. An arm that only noise makes look bad has
#' a small I and is soon tried again. A larger `safety` is more lenient: it costs regret on average and makes
#' bad runs rarer. c grows like n and ln(I) like ln(n), so each batch moves the index by about `ratio` - 1,
#' the leader's and the others' alike, and no arm is pulled much more than its index asks for.
#'
#' The mean weighs batch sums by generalised least squares, which for `correlation = 0` means weights 1 / (1 /
#' (4 L) + 1 / (`mu` L)^2) for the mean of a batch of L rewards. On five Bernoulli arms (0.75, 0.625, ...,
#' 0.25) the mean regret of the defaults at `mu` = 1 is 62 after 1e5 rounds.
#'
#' @section Continuous outcomes:
#' A policy that takes rewards to be 0 or 1 gives them the variance x (1 - x). That is 25 times the variance
#' of scores with a standard deviation of 0.1. With `outcome = "continuous"` a batch releases two numbers: the
#' sum of rewards with N(0, 1 / `mu`^2), and the sum of (reward - 1/2)^2 with N(0, 1 / (2 `mu`)^2). A reward
#' that moves by d moves the square by at most d (1 - d), so the squared shift of the two is at most d^2 (1 +
#' 4 (1 - d)^2) `mu`^2, which is at most `mu`^2 for all d in \[0, 1\]. So the guarantee is the same. A
#' correlation is of the sums alone: their squared shifts add up to less than d^2 `mu`^2, and the squares are
#' released once.
#'
#' Let v be an upper estimate of the variance of an arm's rewards from the noisy sums. Then m kl(z, x*) is
#' replaced by Bennett's rate, m kl(h z, h x*) with h = x* / (v + x*^2). It is kl for v = x* (1 - x*), and
#' near m (z - x*)^2 / (2 v) for small gaps. At means of 0.55, 0.5, ..., 0.35 and a standard deviation of 0.1,
#' after 1e5 rounds, the mean regret is 46 for `mu` = 1 and 101 for `mu` = 0.25, and 109 and 155 with
#' `"binary"` (60 runs, standard errors of up to 3). On rewards of 0 or 1 it is about that of `"binary"`.
#'
#' @inheritSection policy_dp_imed Assignments
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\] (or in the
#' rewards of one round, of which only the pulled one is read). What is published is the sequence
#' of arms, at every horizon, and it is `mu`-GDP. A batch that was not completed releases nothing.
#'
#' Without correlation each reward is in one batch of one arm, whose sum, moved by at most 1, is released
#' once with N(0, 1 / `mu`^2), and the rest is post-processing.
#'
#' With a `correlation` of rho, the batches of an arm, with sums s_1, s_2, ..., are released as
#'
#' y_b = sqrt(1 - rho^2) h_b + N(0, 1 / `mu`^2), h_b = s_b + rho h_(b - 1).
#'
#' Earlier batches are in every later release, with fresh noise each time and decreasing weight. A reward of
#' batch j moves y_b, b >= j, by at most sqrt(1 - rho^2) rho^(b - j). The squares of these shifts telescope:
#' (1 - rho^2) rho^(2 (b - j)) is rho^(2 (b - j)) - rho^(2 (b - j + 1)), so from y_j to y_b they add up to 1 -
#' rho^(2 (b - j + 1)), which is below 1 for any number of releases. All of them together are therefore
#' `mu`-GDP, at every horizon. The next arm and the size of the next batch may depend on all earlier releases:
#' the bound holds on every path, as adaptive composition of Gaussian mechanisms requires (Smith and Thakurta
#' 2022). The rest is post-processing.
#'
#' The coefficient need not be constant. With rho_b in \[0, 1) in release b, decided by earlier releases,
#' y_b = sqrt(1 - rho_b^2) h_b + N(0, 1 / `mu`^2) and h_b = s_b + rho_(b - 1) h_(b - 1). The shift of y_b is
#' at most sqrt(1 - rho_b^2) rho_j ... rho_(b - 1), its square the difference of (rho_j ... rho_(b - 1))^2 and
#' (rho_j ... rho_b)^2, and the sum 1 - (rho_j ... rho_b)^2 < 1 on every path. The policy keeps rho constant,
#' which costs little.
#'
#' Why it helps: a release shows sqrt(1 - rho^2) (L_b + rho L_(b - 1) + ...) times the mean, and its noise is
#' the same as before. For batches that grow by the factor r and rho = 1 / r no moving average within the same
#' bound shows more, by the Cauchy-Schwarz inequality. In differences of releases the noises of successive
#' sums partly cancel. The idea is that of correlated noise for prefix sums (Denisov et al. 2022).
#'
#' @param mu Privacy parameter of Gaussian DP: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no
#'   noise.
#' @param ratio Factor by which an arm's pulls grow with a batch, at most: a number above 1; `NULL` for 1.7.
#' @param first Size of the first batch of each arm: a whole number, or `NULL` for 10 / `mu` + 10, rounded
#'   up, and at most an eighth of the horizon for all arms together.
#' @param correlation The weight with which earlier batches enter the next release: a number in \[0, 0.99\], 0
#'   for independent releases. `NULL` is 0.65.
#' @param safety Leniency of the index towards arms that look bad: a number in \[0, 1\]; `NULL` for 0.8 `mu` /
#'   (1 + `mu`). A larger one makes bad runs rarer and costs regret on average.
#' @param outcome What rewards are: `"binary"`, 0 or 1, or `"continuous"`, any numbers in their range, such as
#'   scores, times or shares. With `"continuous"` the sum of squares about the middle of the range is released
#'   beside each sum, which costs no privacy (see Continuous outcomes), and the policy uses how much rewards
#'   really vary.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template honda
#' @template hu
#' @template denisov
#' @template smith
#' @template see_policies
#' @examples
#' policy_gaussian_imed(mu = 1)
#' # Fewer bad runs; independent releases
#' policy_gaussian_imed(mu = 1, safety = 0.6)
#' policy_gaussian_imed(mu = 1, correlation = 0)
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' sim <- dpts_simulate(arms, policy_gaussian_imed(1), horizon = 1e4, runs = 5, seed = 1)
#' subset(summary(sim), t == 1e4)
#' @export
policy_gaussian_imed <- function(mu, ratio = NULL, first = NULL, correlation = NULL, safety = NULL,
                                 outcome = c("binary", "continuous"), ...) {
  check_dots_empty(...)
  outcome <- check_choice(outcome, c("binary", "continuous"))
  args <- list(
    mu = check_budget_number(mu), ratio = if (!is.null(ratio)) check_number(ratio, 1, open = TRUE),
    first = if (!is.null(first)) check_count(first),
    correlation = if (!is.null(correlation)) check_number(correlation, 0, 0.99),
    safety = if (!is.null(safety)) check_number(safety, 0, 1)
  )
  usual <- list(ratio = 1.7, correlation = 0.65, safety = 0.8 / (1 + 1 / mu))
  params <- Map(`%||%`, args, usual[names(args)])
  params$outcome <- outcome
  if (outcome != "binary") args$outcome <- outcome
  new_policy("gaussian_imed", params, guarantee_gdp(mu), "Gaussian IMED", args,
             rounds_per_arm = args$first %||% 1)
}

#' Lazy Gaussian Thompson sampling
#'
#' Thompson sampling that adds Gaussian noise to the sums of blocks of rewards. It is the published algorithm
#' of Hu and Hegde (2022) with Gaussian in place of Laplace noise. Its guarantee of Gaussian differential
#' privacy holds at every horizon at once. [policy_gaussian_imed()] has less regret; use this one to compare
#' with Thompson sampling.
#'
#' @section The algorithm:
#' Pull each arm once. In round t draw theta from Beta(x m + 1, (1 - x) m + 1) for each arm, where x = mean +
#' s sqrt(6 ln(t)), clipped to \[0, 1\], and pull the arm of the largest theta. Blocks of an arm have 1, 2, 4,
#' ... rewards. The mean is that of all full blocks as released; it is worth m rewards, and s is the standard
#' deviation of its noise. The noise exceeds s sqrt(6 ln(t)) with probability below t^-3, as Laplace noise
#' exceeds 3 ln(t) / `epsilon` in the paper's Algorithm 2.
#'
#' With `correlation = 0`, as in that algorithm, an arm's earlier blocks are forgotten: its last full block,
#' of m rewards, decides alone, and s = 1 / (`mu` m). The default of 0.5 suits blocks that double: it has 23
#' to 30% less regret on the panel of [dpts_recommend()] (five arms, 1e5 rounds, `mu` from 0.1 to 5), and less
#' on each of its problems.
#'
#' @inheritSection policy_dp_imed Assignments
#' @section Privacy:
#' Each block sum is released once with N(0, 1 / `mu`^2), and the sequence of arms is `mu`-GDP at every
#' horizon. The releases and the proof are those of [policy_gaussian_imed()], section Privacy.
#'
#' @inheritParams policy_gaussian_imed
#' @inherit policy_ts_gaussian return
#' @template hu
#' @template denisov
#' @template see_policies
#' @examples
#' policy_lazy_gaussian_ts(mu = 1)
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' sim <- dpts_simulate(
#'   arms, list(imed = policy_gaussian_imed(1), ts = policy_lazy_gaussian_ts(1)),
#'   horizon = 1e4, runs = 5, seed = 1
#' )
#' subset(summary(sim), t == 1e4)
#' @export
policy_lazy_gaussian_ts <- function(mu, correlation = 0.5, ...) {
  check_dots_empty(...)
  params <- list(mu = check_budget_number(mu), correlation = check_number(correlation, 0, 0.99))
  new_policy("lazy_gaussian_ts", params, guarantee_gdp(mu), "lazy Gaussian Thompson sampling",
             c(params[1], if (correlation != 0.5) params[2]), rounds_per_arm = 1)
}
