# The result of dpts_simulate(): what people do with it.

#' Average the curves of a simulation over its runs
#'
#' @param object A result of [dpts_simulate()].
#' @param ... Must be empty.
#' @param level Confidence level of the band: a number in (0, 1).
#' @returns A tibble of class `dpts_simulation_summary`, one row for each policy and
#'   recorded round:
#'   * `policy`, `t`: as in the simulation;
#'   * `runs`: how many runs were averaged;
#'   * `mean`, `sd`: of the cumulative pseudo-regret over runs;
#'   * `se`: standard error of the mean, `sd / sqrt(runs)`;
#'   * `lower`, `upper`: confidence band for the mean, by Student's t; `NA` for one run.
#' @family simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_gaussian(), 1000, seed = 1)
#' summary(sim)
#' @export
summary.dpts_simulation <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  check_number(level, 0, 1, open = TRUE)
  stats <- mean_by_round(object, "regret", level)
  tibble::new_tibble(stats, nrow = length(stats$t), class = "dpts_simulation_summary",
                     level = level)
}

#' Mean, sd, se and band of a column over runs, by policy and round
#' @noRd
mean_by_round <- function(x, column, level) {
  need_columns(x, c("policy", "run", "t", column))
  key <- order(x$policy, x$t)
  policy <- x$policy[key]
  t <- x$t[key]
  value <- x[[column]][key]
  n <- length(t)
  first <- c(TRUE, policy[-1] != policy[-n] | t[-1] != t[-n])[seq_len(n)]
  group <- cumsum(first)
  runs <- tabulate(group)
  total <- function(v) as.vector(rowsum(v, group, reorder = FALSE))
  mean <- total(value) / runs
  sd <- sqrt(total((value - mean[group])^2) / (runs - 1))
  sd[runs < 2] <- NA_real_
  se <- sd / sqrt(runs)
  half <- se * suppressWarnings(stats::qt((1 + level) / 2, runs - 1))
  list(policy = policy[first], t = t[first], runs = runs, mean = mean, sd = sd, se = se,
       lower = mean - half, upper = mean + half)
}

need_columns <- function(x, columns, call = caller_env()) {
  gone <- setdiff(columns, names(x))
  if (length(gone)) {
    abort_dpts(sprintf("The column%s %s %s needed, and no longer there.",
                       if (length(gone) > 1) "s" else "",
                       paste0("`", gone, "`", collapse = ", "),
                       if (length(gone) > 1) "are" else "is"),
               "dpts_error_columns", call)
  }
}

#' How often each arm was pulled
#'
#' @param x A result of [dpts_simulate()].
#' @returns A tibble, one row for each policy, run and arm of `x`: `policy` (factor),
#'   `run`, `arm` (from 1) and `pulls`, the rounds in which the arm was pulled, over the
#'   whole horizon.
#' @family simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_beta(), 1000, seed = 1)
#' pulls(sim)
#' @export
pulls <- function(x) {
  check_class(x, "dpts_simulation", "a result of `dpts_simulate()`")
  need_columns(x, c("policy", "run"))
  kept <- attr(x, "pulls")
  levels <- levels(x$policy)
  parts <- lapply(kept, function(part) {
    k <- nrow(part$pulls)
    list(policy = rep(match(part$policy, levels), length(part$pulls)),
         run = rep(part$run, each = k), arm = rep(seq_len(k), length(part$run)),
         pulls = c(part$pulls))
  })
  column <- function(name) unlist(lapply(parts, `[[`, name), use.names = FALSE)
  id <- function(policy, run) sprintf("%d %.0f", as.integer(policy), as.double(run))
  wanted <- unique(id(x$policy, x$run))
  have <- id(column("policy"), column("run"))
  if (!all(wanted %in% have)) {
    abort_dpts(paste("`x` holds runs whose pulls were lost; put parts together by `rbind()`,",
                     "which keeps them."), "dpts_error_pulls")
  }
  keep <- have %in% wanted
  tibble::new_tibble(
    list(policy = structure(column("policy")[keep], levels = levels, class = "factor"),
         run = whole(column("run")[keep]), arm = column("arm")[keep],
         pulls = column("pulls")[keep]),
    nrow = sum(keep)
  )
}

#' Put parts of a simulation together
#'
#' `rbind()` joins results of [dpts_simulate()] that played the same arms to the same
#' horizon, such as the parts that the jobs of a cluster played, and keeps their pulls.
#'
#' @param ... Results of [dpts_simulate()].
#' @param deparse.level Not used.
#' @returns A `dpts_simulation` with the rows of all.
#' @family simulation
#' @examples
#' arms <- arms_bernoulli(c(0.6, 0.4))
#' one <- dpts_simulate(arms, policy_ucb1(), 100, runs = 1:5, seed = 1)
#' two <- dpts_simulate(arms, policy_ucb1(), 100, runs = 6:10, seed = 1)
#' all <- dpts_simulate(arms, policy_ucb1(), 100, runs = 10, seed = 1)
#' identical(rbind(one, two), all)
#' @export
rbind.dpts_simulation <- function(..., deparse.level = 1) {
  parts <- list(...)
  for (part in parts) {
    check_class(part, "dpts_simulation", "results of `dpts_simulate()`", "...")
  }
  setups <- lapply(parts, attr, "setup")
  same <- function(name) all(vapply(setups, function(s) {
    identical(s[[name]], setups[[1]][[name]])
  }, NA))
  if (!same("arms") || !same("horizon")) {
    abort_dpts("The parts must have played the same arms to the same horizon.",
               "dpts_error_input", arg = "...")
  }
  rows <- do.call(rbind, lapply(parts, function(p) as.data.frame(p)))
  if (anyDuplicated(rows[c("policy", "run", "t")])) {
    abort_dpts("The parts must hold different runs or policies; some run comes twice.",
               "dpts_error_input", arg = "...")
  }
  setup <- setups[[1]]
  for (s in setups[-1]) {
    setup$policies[names(s$policies)] <- s$policies
    if (!identical(s$seed, setup$seed)) setup$seed <- NA_real_
  }
  rows <- rows[order(rows$policy), , drop = FALSE]
  tibble::new_tibble(as.list(rows), nrow = nrow(rows), class = "dpts_simulation",
                     pulls = join_pulls(unlist(lapply(parts, attr, "pulls"), recursive = FALSE),
                                        levels(rows$policy)),
                     setup = setup)
}

#' The pulls of all pieces, one piece a policy
#' @noRd
join_pulls <- function(pieces, policies) {
  unname(lapply(policies, function(policy) {
    own <- Filter(function(piece) piece$policy == policy, pieces)
    list(policy = policy, run = unlist(lapply(own, `[[`, "run")),
         pulls = do.call(cbind, lapply(own, `[[`, "pulls")))
  }))
}

#' @importFrom tibble tbl_sum
#' @export
tbl_sum.dpts_simulation <- function(x, ...) {
  setup <- attr(x, "setup")
  head <- if (is.null(setup)) NULL else c(
    "Simulation" = sprintf(
      "%s, %s rounds, %s, %s",
      count_noun(n_arms(setup$arms), "arm", "arms"), label_count(setup$horizon),
      # By [[ ]], which is silent where the user renamed a column.
      count_noun(length(unique(x[["policy"]])), "policy", "policies"),
      count_noun(length(unique(x[["run"]])), "run", "runs")
    ),
    "Seed" = format(setup$seed, scientific = FALSE)
  )
  c(head, NextMethod())
}

count_noun <- function(n, one, many) paste(n, if (n == 1) one else many)

#' Simulation results in broom's form
#'
#' `tidy()` gives the final regret of each policy, `glance()` the simulation in one row.
#'
#' @param x A result of [dpts_simulate()].
#' @param conf.level Confidence level of the interval.
#' @param ... Must be empty.
#' @returns `tidy()`: a tibble with one row a policy and columns `term` (the policy),
#'   `estimate` (mean cumulative regret at the last recorded round), `std.error`,
#'   `conf.low`, `conf.high`. `glance()`: a tibble of one row with columns `arms`,
#'   `horizon`, `policies`, `nobs` (runs), `seed`, `best` (the policy of least mean
#'   regret) and `regret` (its mean regret).
#' @family simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_beta(), 1000, seed = 1)
#' tidy(sim)
#' glance(sim)
#' @export
tidy.dpts_simulation <- function(x, conf.level = 0.95, ...) {
  check_dots_empty(...)
  check_number(conf.level, 0, 1, open = TRUE)
  last <- final_rows(summary(x, level = conf.level))
  tibble::tibble(term = as.character(last$policy), estimate = last$mean,
                 std.error = last$se, conf.low = last$lower, conf.high = last$upper)
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  setup <- attr(x, "setup")
  last <- final_rows(summary(x))
  last <- last[which.min(last$mean), ]
  tibble::tibble(
    arms = n_arms(setup$arms), horizon = setup$horizon,
    policies = length(unique(x$policy)), nobs = length(unique(x$run)),
    seed = setup$seed, best = as.character(last$policy), regret = last$mean
  )
}

#' The last recorded round of each policy in a summary
#' @noRd
final_rows <- function(stats) {
  stats[!duplicated(stats$policy, fromLast = TRUE), , drop = FALSE]
}

#' The rows of a summary that have an interval: a single run has none, and ggplot2 stops at a
#' band of missing values
#' @noRd
with_band <- function(stats) stats[is.finite(stats$lower) & is.finite(stats$upper), , drop = FALSE]

#' Draw regret curves
#'
#' Mean cumulative regret against rounds, one line a policy, with a confidence band.
#'
#' @param object A result of [dpts_simulate()], or its summary.
#' @param ... Must be empty.
#' @param log Which axes are logarithmic: `""`, `"x"`, `"y"` or `"xy"`.
#' @param level Confidence level of the band.
#' @param runs Draw every run too, as a thin line?
#' @returns A ggplot, which can be restyled like any other. The legend is in the order of
#'   the curves at the end.
#' @family simulation
#' @examples
#' sim <- dpts_simulate(
#'   arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25)),
#'   list("Gaussian TS" = policy_ts_gaussian(), UCB1 = policy_ucb1()),
#'   horizon = 5000, seed = 1
#' )
#' autoplot(sim)
#' autoplot(sim, log = "x")
#' @export
autoplot.dpts_simulation <- function(object, ..., log = "", level = 0.95, runs = FALSE) {
  check_dots_empty(...)
  check_flag(runs)
  plot <- autoplot(summary(object, level = level), log = log)
  if (runs) {
    object <- tibble::as_tibble(as.data.frame(object))
    if (grepl("y", log)) object <- object[object$regret > 0, ]
    lines <- ggplot2::geom_line(
      ggplot2::aes(x = .data$t, y = .data$regret, colour = .data$policy,
                   group = interaction(.data$policy, .data$run)),
      data = object, linewidth = 0.2, alpha = 0.4,
      inherit.aes = FALSE
    )
    plot$layers <- c(lines, plot$layers)
  }
  plot
}

#' @rdname autoplot.dpts_simulation
#' @importFrom rlang .data
#' @export
autoplot.dpts_simulation_summary <- function(object, ..., log = "") {
  check_dots_empty(...)
  scales <- axes(log)
  last <- final_rows(object)
  # From the highest curve to the lowest, as the eye meets them.
  breaks <- as.character(last$policy[order(-last$mean)])
  if (grepl("y", log)) {
    # A logarithmic axis has no room for 0: curves start where regret does.
    object <- object[object$mean > 0, , drop = FALSE]
    object$lower <- pmax(object$lower, min(object$mean, Inf))
  }
  ggplot2::ggplot(object, ggplot2::aes(
    x = .data$t, y = .data$mean, colour = .data$policy, fill = .data$policy,
    linetype = .data$policy
  )) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                         data = with_band(object), colour = NA, alpha = 0.2,
                         show.legend = FALSE) +
    ggplot2::geom_line(linewidth = 0.7) +
    scales_by(levels(object$policy), breaks, "Policy") +
    scales +
    ggplot2::labs(
      x = "Round", y = "Cumulative regret",
      alt = sprintf(
        "Mean cumulative regret against rounds for %s; at the end %s.",
        count_noun(nrow(last), "policy", "policies"),
        paste(breaks, signif(sort(last$mean, decreasing = TRUE), 3), collapse = ", ")
      )
    )
}
