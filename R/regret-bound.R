#' Regret bounds from the papers
#'
#' Says how much reward a policy loses at most by the theorem of its paper, and how much any policy loses in
#' the long run.
#'
#' @details
#' Most papers give an order without constants. Then `bound` is `NA`, because any number would be
#' invented, and `order` says what is proved. Where there are constants `bound` is the number
#' for these arms and this horizon.
#'
#' In the orders, T is the horizon, K the number of arms, D the gap of an arm to the best, sums
#' run over the arms with D > 0, ln is the natural logarithm, kl the relative entropy of two
#' Bernoulli distributions by their means, and O() and Omega() hide constants that the papers do not give.
#'
#' Lower bounds are rows of their own, called "lower bound: ..." in `policy`. That of Lai and Robbins holds
#' for every policy that does well on all Bernoulli arms, privately or not; its number is the leading term,
#' sum of D ln(T) / kl(mean, best mean), a limit as T grows: at a given horizon a policy may lose less. That
#' of Shariff and Sheffet is for epsilon-DP policies and is listed for each epsilon asked for.
#'
#' @param policy A policy, or a named list of them.
#' @param arms The problem, from [arms_bernoulli()] and its family.
#' @param horizon Number of rounds.
#' @returns A tibble with columns
#'   * `policy`: the name in the list, or which lower bound;
#'   * `kind`: `"problem-dependent"` or `"problem-independent"`;
#'   * `bound`: expected pseudo-regret at most this, in units of reward (for the lower bound of Lai and
#'     Robbins: its leading term); `NA` where the source gives only an order;
#'   * `order`: the formula, as text, with its source.
#' @template auer
#' @references Lai, T. L. and Robbins, H. (1985). Asymptotically Efficient Adaptive Allocation Rules.
#'   Advances in Applied Mathematics 6, 4-22.
#' @template shariff
#' @references Those of the policies are on their own pages.
#' @template see_simulation
#' @examples
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' regret_bound(list(ucb1 = policy_ucb1(), lazy = policy_lazy_dp_ts(1)), arms, 1e5)
#' @export
regret_bound <- function(policy, arms, horizon) {
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
#' Draws how much reward policies lose at most, and the least that is possible as the horizon grows.
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
  sides <- c("at most", "least possible, as T grows")
  data$side <- factor(sides[1 + lower], sides)
  known <- data[!is.na(data$bound), ]
  if (nrow(known) == 0) return(nothing_to_draw("No number to draw: only orders are proved."))
  orders <- setdiff(data$y, known$y)
  ggplot2::ggplot(known, ggplot2::aes(.data$bound, .data$y, colour = .data$side, shape = .data$kind)) +
    ggplot2::geom_point(size = 2.5) +
    scales_by(levels(data$side))["colour"] + axes("x")[[1]] +
    ggplot2::scale_shape_manual(NULL, values = c("problem-dependent" = 16, "problem-independent" = 1),
                                guide = if (length(unique(known$kind)) > 1) "legend" else "none") +
    ggplot2::scale_y_discrete(labels = wrap_label) + legend_below() +
    plot_words(
      x = "Regret (expected reward lost)", y = NULL,
      caption = if (length(orders)) sprintf("Only an order is proved for %s.", words_list(orders)),
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
  lower <- if (all(arms$distribution == "bernoulli")) {
    best <- max(arms$mean)
    off <- arms$gap > 0
    sum(arms$gap[off] / bernoulli_kl(arms$mean[off], best)) * log(problem$horizon)
  } else {
    NA_real_
  }
  rows <- cbind(
    policy = "lower bound: Lai and Robbins",
    bound_row("problem-dependent", paste(
      "sum D ln(T) / kl(mean, best mean) as T grows, for Bernoulli arms",
      "(Lai and Robbins 1985)"
    ), lower)
  )
  epsilons <- unlist(lapply(policies, function(p) {
    form(p$guarantee, "epsilon", conditions(problem$horizon, problem$k))
  }))
  for (epsilon in unique(epsilons[epsilons > 0])) {
    rows <- rbind(rows, cbind(
      policy = sprintf("lower bound: Shariff and Sheffet, epsilon = %s", number_text(epsilon)),
      bound_row("problem-dependent", "Omega(sum ln(T) / D + K ln(T) / epsilon) (Shariff and Sheffet 2018)")
    ))
  }
  rows
}

# Relative entropy of Bernoulli distributions with means p and q
bernoulli_kl <- function(p, q) {
  part <- function(a, b) ifelse(a == 0, 0, a * log(a / b))
  part(p, q) + part(1 - p, 1 - q)
}
