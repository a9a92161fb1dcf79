#' Regret bounds from the papers
#'
#' `regret_bound()` says how much reward a policy loses at most by the theorem of its paper, and how much any
#' policy loses in the long run.
#'
#' @details
#' Most papers give an order without constants. Then `bound` is `NA`, because any number would be
#' invented, and `order` says what is proved. Where there are constants `bound` is the number
#' for these arms and this horizon.
#'
#' In the orders, T is the horizon, K the number of arms and D the gap of an arm to the best; sums run over
#' the arms with D > 0. Further, ln is the natural logarithm, kl the relative entropy of two Bernoulli
#' distributions by their means, and O() and Omega() hide constants that the papers do not give.
#'
#' Lower bounds are rows of their own, called "lower bound: ..." in `policy`. That of Lai and Robbins holds
#' for every policy that does well on all Bernoulli arms, privately or not; its number is the leading term,
#' sum of D ln(T) / kl(mean, best mean). That is a limit as T grows: at a given horizon a policy may lose
#' less. That of Shariff and Sheffet is for epsilon-DP policies and is listed for each epsilon asked for. So
#' is that of Azize et al., a leading term too: kl becomes d(x, y), the largest l x - ln(1 - y + y e^l) with
#' -epsilon <= l <= epsilon. None is known for mu-GDP.
#'
#' @param policy A policy, or a named list of them.
#' @param arms The problem, from [arms_bernoulli()] and its family.
#' @param horizon Number of rounds.
#' @template dots
#' @returns A tibble with columns
#'   * `policy`: the name in the list, or which lower bound;
#'   * `kind`: `"problem-dependent"` or `"problem-independent"`;
#'   * `bound`: expected pseudo-regret at most this, in units of reward (for lower bounds: the leading term);
#'     `NA` where the source gives only an order;
#'   * `order`: the formula, as text, with its source.
#' @template auer
#' @references Lai, T. L. and Robbins, H. (1985). Asymptotically Efficient Adaptive Allocation Rules.
#'   Advances in Applied Mathematics 6, 4-22.
#' @template shariff
#' @references Azize, A., Wu, Y., Honda, J., Orabona, F., Ito, S. and Basu, D. (2025). Optimal Regret of
#'   Bernoulli Bandits under Global Differential Privacy. arXiv:2505.05613.
#' @references Those of the policies are on their own pages.
#' @template see_simulation
#' @examples
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' regret_bound(list(ucb1 = policy_ucb1(), lazy = policy_lazy_dp_ts(1)), arms, 1e5)
#' @export
regret_bound <- function(policy, arms, horizon, ...) {
  check_dots_empty(...)
  policies <- check_policies(policy)
  check_arms(arms)
  check_no_contexts(arms)
  check_stationary(arms)
  horizon <- check_count(horizon)
  problem <- list(gap = arms$gap[arms$gap > 0], gaps = arms$gap, k = n_arms(arms), horizon = horizon)
  rows <- lapply(names(policies), function(name) {
    cbind(policy = name, bounds_of(policies[[name]], problem))
  })
  rows <- do.call(rbind, c(rows, list(lower_bounds(policies, arms, problem))))
  tibble::new_tibble(as.list(rows), nrow = nrow(rows), class = "dpts_regret_bound")
}

#' Draw regret bounds
#'
#' `autoplot()` draws how much reward policies lose at most, and lower bounds as the horizon grows.
#'
#' @param object A result of [regret_bound()].
#' @param ... Must be empty.
#' @returns A ggplot: a point for each bound that is a number. Bounds of which only the order is proved are
#'   named below.
#' @template see_simulation
#' @examples
#' policies <- list(UCB1 = policy_ucb1(), TS = policy_ts_gaussian())
#' autoplot(regret_bound(policies, arms_bernoulli(c(0.6, 0.5)), 1e5))
#' @export
autoplot.dpts_regret_bound <- function(object, ...) {
  check_dots_empty(...)
  need_columns(object, c("policy", "kind", "bound"))
  data <- bare(object)
  lower <- startsWith(data$policy, "lower bound: ")
  data$y <- downwards(sub("^lower bound: ", "", data$policy))
  sides <- c("at most", "lower bound, as T grows")
  data$side <- factor(sides[1 + lower], sides)
  known <- data[!is.na(data$bound), ]
  if (nrow(known) == 0) return(nothing_to_draw("No number to draw: only orders are proved."))
  orders <- setdiff(data$y, known$y)
  ggplot2::ggplot(known, ggplot2::aes(.data$bound, .data$y, colour = .data$side, shape = .data$kind)) +
    ggplot2::geom_point(size = 2.5) +
    scales_by(levels(data$side))["colour"] + axes("x")[[1]] +
    ggplot2::scale_shape_manual(NULL, values = c("problem-dependent" = 16, "problem-independent" = 1),
                                guide = if (length(unique(known$kind)) > 1) "legend" else "none") +
    ggplot2::scale_y_discrete(labels = wrap_label) +
    plot_words(
      x = "Regret\n(expected reward lost)", y = NULL, rows = unique(as.character(known$y)),
      caption = if (length(orders)) sprintf("Only an order is proved for %s.", words_list(orders, most = 6)),
      alt = sprintf("Regret bounds: %s.", paste(known$policy, shorts(known$bound), collapse = ", "))
    )
}

# Rows for the bounds of a policy: those of its name in KNOWN_BOUNDS
bounds_of <- function(policy, problem) {
  # A name of the user's own says nothing.
  known <- if (inherits(policy, paste0("dpts_policy_", policy$name))) KNOWN_BOUNDS[[policy$name]]
  if (is.function(known)) known(policy, problem) else known %||% NO_BOUND
}

lower_bounds <- function(policies, arms, problem) {
  off <- arms$gap > 0
  leading <- function(epsilon) {
    if (!all(arms$distribution == "bernoulli")) return(NA_real_)
    sum(arms$gap[off] / private_kl(arms$mean[off], max(arms$mean), epsilon)) * log(problem$horizon)
  }
  rows <- cbind(
    policy = "lower bound: Lai and Robbins",
    bound_row("problem-dependent", paste(
      "sum D ln(T) / kl(mean, best mean) as T grows, for Bernoulli arms",
      "(Lai and Robbins 1985)"
    ), leading(Inf))
  )
  epsilons <- unlist(lapply(policies, function(p) {
    form(p$guarantee, "epsilon", conditions(problem$horizon, problem$k))
  }))
  for (epsilon in unique(epsilons[epsilons > 0])) {
    rows <- rbind(rows, cbind(
      policy = sprintf("lower bound: Shariff and Sheffet, epsilon = %s", number_text(epsilon)),
      bound_row("problem-dependent", "Omega(sum ln(T) / D + K ln(T) / epsilon) (Shariff and Sheffet 2018)")
    ), cbind(
      policy = sprintf("lower bound: Azize et al., epsilon = %s", number_text(epsilon)),
      bound_row("problem-dependent",
                "sum D ln(T) / d_epsilon(mean, best mean) as T grows (Azize et al. 2025)", leading(epsilon))
    ))
  }
  rows
}

# The largest l x - ln(1 - y + y e^l) over -epsilon <= l <= epsilon: the relative entropy of Bernoulli
# distributions with means x and y if epsilon is infinite. `slope`: its derivative by y
private_kl <- function(x, y, epsilon, slope = FALSE) {
  l <- pmin(pmax(stats::qlogis(x) - stats::qlogis(y), -epsilon), epsilon)
  if (slope) return(-expm1(l) / (1 + y * expm1(l)))
  # With certain arms l may be infinite: 0 where x = y, else the limit.
  ifelse(x == y, 0, ifelse(is.finite(l), l * x - log1p(y * expm1(l)), ifelse(x == 1, -log(y), -log1p(-y))))
}

# The number of people that a verdict of an epsilon-DP policy for Bernoulli arms needs in the mean: kl(error,
# 1 - error) / R, R = max over w of the min over other arms b and theta of w_a d(m_a, theta) + w_b d(m_b,
# theta), a the best arm. With w_a = 1 / (1 + sum x_b) all arms have the same level y = min of d(m_a, theta) +
# x_b d(m_b, theta), where theta goes from m_a at y = 0 to m_b.
people_bound <- function(mean, epsilon, error) {
  best <- which.max(mean)
  if (length(mean) < 2 || sum(mean == mean[best]) > 1 || any(mean %in% 0:1)) return(NA_real_)
  top <- mean[best]
  share <- function(theta, m) {
    -private_kl(top, theta, epsilon, TRUE) / private_kl(m, theta, epsilon, TRUE)
  }
  level <- function(theta, m) {
    private_kl(top, theta, epsilon) + share(theta, m) * private_kl(m, theta, epsilon)
  }
  weight <- function(y, m) {
    inside <- m + (top - m) * c(1e-9, 1 - 1e-9)
    share(stats::uniroot(function(theta) level(theta, m) - y, inside, tol = 1e-12)$root, m)
  }
  others <- mean[-best]
  most <- min(private_kl(top, others, epsilon))
  rate <- function(y) y / (1 + sum(vapply(others, function(m) weight(y, m), 0)))
  found <- stats::optimize(rate, most * c(1e-6, 1 - 1e-6), maximum = TRUE, tol = 1e-6 * most)$objective
  private_kl(error, 1 - error, Inf) / found
}
