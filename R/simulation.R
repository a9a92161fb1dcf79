# The result of dpts_simulate(): what people do with it.

#' @param cells A data frame with one row for each run of a policy: `problem`, `policy`, `run`,
#'   `seed`, and list columns of what is kept of it.
#' @param worlds,policies What the labels in `cells` stand for.
#' @noRd
new_simulation <- function(columns, worlds, policies, cells) {
  new_result(columns, "dpts_simulation", c(intersect("problem", names(columns)), "policy", "run", "t"),
             named = list(problem = worlds, policy = policies), cells = cells)
}

#' A problem as it is played: whatever decides what happens besides the policy
#' @noRd
new_problem <- function(arms, horizon, ...) {
  structure(list(arms = arms, horizon = horizon, ...), class = "dpts_problem")
}

#' "bernoulli(0.7, 0.5)": what a problem is called if nobody named it
#' @noRd
world_label <- function(world, horizon = FALSE) {
  label <- arms_label(world$arms)
  if (!horizon) return(label)
  paste0(label, ", T = ", label_count(world$horizon), label_late("delay", world$delay, 0),
         label_late("batch", world$batch, 1))
}

#' "100 rounds late, learned every 7 rounds": when rewards are learned, if not at once
#' @noRd
words_late <- function(delay, batch) {
  if (is.null(delay)) return(NULL)
  by <- if (is.function(delay)) "at random, by a function" else if (length(delay) > 1) {
    sprintf("%s rounds late, at random", paste(label_count(range(delay)), collapse = " to "))
  } else if (delay > 0) {
    paste(count_noun(delay, "round", "rounds"), "late")
  }
  parts <- c(by, if (batch > 1) sprintf("learned every %s rounds", label_count(batch)))
  if (length(parts)) c("Rewards" = paste(parts, collapse = ", "))
}

#' ", delay 10": what is not as usual
#' @noRd
label_late <- function(name, value, usual) {
  if (is.null(value) || identical(as.double(if (is.function(value)) NA else value), usual)) return("")
  shown <- if (is.function(value)) "random" else
    if (length(value) > 1) paste(range(value), collapse = " to ") else label_count(value)
  paste0(", ", name, " ", shown)
}

worlds_of <- function(x) about(x)$named$problem

#' A simulation of one problem with its name in a first column: a part of a simulation of a named
#' list of problems, for [rbind()]
#' @noRd
name_problem <- function(x, label) {
  about <- rename_problems(about(x), label)
  about$key <- union("problem", about$key)
  columns <- as.list(bare(x))
  columns$problem <- factor(rep(label, nrow(x)), label)
  out <- tibble::new_tibble(columns[union("problem", names(columns))], nrow = nrow(x))
  dress(out, about, own_classes(x))
}

#' Average the curves of a simulation over its runs
#'
#' @param object A result of [dpts_simulate()].
#' @param ... Must be empty.
#' @param level Confidence level of the band: a number in (0, 1).
#' @returns A tibble of class `dpts_simulation_summary`, one row for each problem (if there are
#'   several), policy and recorded round:
#'   * `problem`, `policy`, `t`: as in the simulation;
#'   * `runs`: how many runs were averaged;
#'   * `mean`, `sd`: of the cumulative pseudo-regret over runs;
#'   * `se`: standard error of the mean, `sd / sqrt(runs)`;
#'   * `lower`, `upper`: confidence band for the mean, by Student's t; `NA` for one run.
#'
#'   Columns that you added follow, if they are constant in each of these rows.
#' @family simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_gaussian(), 1000, seed = 1)
#' summary(sim)
#' @export
summary.dpts_simulation <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  level <- check_number(level, 0, 1, open = TRUE)
  check_result(object, "regret")
  stats <- mean_by_round(object, "regret", level)
  about <- about(object)
  new_result(stats, "dpts_simulation_summary", setdiff(about$key, "run"), named = about$named,
             shared = list(level = level))
}

#' Mean, sd, se and band of a column over runs, by problem, policy and round, with the columns that
#' are constant there
#' @noRd
mean_by_round <- function(x, column, level) {
  by <- setdiff(about(x)$key, "run")
  labels <- intersect(c("problem", "policy"), by)
  factors <- lapply(stats::setNames(nm = labels), function(label) label_factor(x, label))
  x <- as.data.frame(x)
  x[labels] <- factors
  x <- x[do.call(order, unname(x[by])), ]
  group <- vctrs::vec_group_id(x[by])
  first <- !duplicated(group)
  n <- tabulate(group)
  total <- function(v) as.vector(rowsum(v, group, reorder = FALSE))
  value <- x[[column]]
  mean <- total(value) / n
  sd <- sqrt(total((value - mean[group])^2) / (n - 1))
  sd[n < 2] <- NA_real_
  se <- sd / sqrt(n)
  half <- half_width(se, n, level)
  rows <- lapply(as.list(x)[by], `[`, first)
  more <- x[setdiff(names(x), c(by, "run", "regret", "reward"))]
  same <- vapply(more, function(v) {
    !is.list(v) && all(vctrs::vec_equal(v, v[first][group], na_equal = TRUE))
  }, NA)
  # The new columns win where a name is taken.
  own <- list(runs = n, mean = mean, sd = sd, se = se, lower = mean - half, upper = mean + half)
  more <- lapply(as.list(more)[same & !names(more) %in% names(own)], `[`, first)
  c(rows, own, more)
}

#' Half the width of Student's interval of a mean over n runs
#' @noRd
half_width <- function(se, n, level) {
  se * suppressWarnings(stats::qt((1 + level) / 2, n - 1))
}

#' How often each arm was pulled
#'
#' @param x A result of [dpts_simulate()].
#' @param ... Must be empty.
#' @returns A tibble, one row for each problem (if there are several), policy, run and arm of `x`:
#'   `problem`, `policy` (factors), `run`, `arm` (a factor if arms have names, else a number) and
#'   `pulls`, the rounds in which the arm was pulled, over the whole horizon.
#' @family simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_beta(), 1000, seed = 1)
#' pulls(sim)
#' @export
pulls <- function(x, ...) UseMethod("pulls")

#' @export
pulls.default <- function(x, ...) abort_arg("x", "a result of `dpts_simulate()`, or an agent", x, rlang::current_env())

#' @rdname pulls
#' @export
pulls.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  check_result(x)
  kept <- cells_in(x)
  arms <- lengths(kept$pulls)
  at <- rep(seq_len(nrow(kept)), arms)
  columns <- c(
    if (has_problems(x)) list(problem = kept$problem[at]),
    list(policy = kept$policy[at], run = whole(kept$run[at]),
         arm = arm_column(worlds_of(x), kept$problem[at], sequence(arms)),
         pulls = as.double(unlist(kept$pulls)))
  )
  tibble::new_tibble(columns, nrow = length(at))
}

#' Arms by their names, if any problem has them, else by their numbers
#' @param problem Of each arm, as in the names of `worlds`.
#' @noRd
arm_column <- function(worlds, problem, arm) {
  labels <- lapply(worlds, function(world) arm_labels(world$arms))
  named <- vapply(worlds, function(world) !is.null(names(world$arms)), NA)
  if (!any(named)) return(as.integer(arm))
  levels <- unique(unlist(labels))
  at <- lapply(labels, match, levels)
  first <- c(0, cumsum(lengths(at)))[match(as.character(problem), names(worlds))]
  structure(unlist(at, use.names = FALSE)[first + arm], levels = levels, class = "factor")
}

#' The cells of the rows that are there, labels as factors, in the order of the labels
#' @noRd
cells_in <- function(x) {
  key <- cell_key(about(x))
  by <- intersect(key, about(x)$key)
  cells <- about(x)$cells
  cells <- cells[vctrs::vec_in(keys_of(cells, by), vctrs::vec_unique(keys_of(x, by))), ]
  labels <- intersect(c("problem", "policy"), by)
  for (label in labels) cells[[label]] <- factor(cells[[label]], levels(label_factor(x, label)))
  if (length(labels)) cells[do.call(order, unname(as.list(cells)[labels])), ] else cells
}

#' @importFrom tibble tbl_sum
#' @export
tbl_sum.dpts_simulation <- function(x, ...) {
  worlds <- worlds_of(x)
  span <- function(values) paste(label_count(unique(range(values))), collapse = " to ")
  arms <- span(vapply(worlds, function(w) n_arms(w$arms), 0L))
  head <- sprintf(
    "%s%s, %s rounds, %s, %s",
    if (has_problems(x)) paste0(count_noun(length(worlds), "problem", "problems"), ", ") else "",
    paste(arms, if (arms == "1") "arm" else "arms"), span(vapply(worlds, `[[`, 0, "horizon")),
    count_noun(length(unique(x[["policy"]])), "policy", "policies"),
    count_noun(length(unique(x[["run"]])), "run", "runs")
  )
  late <- unique(lapply(worlds, function(w) words_late(w$delay, w$batch)))
  c("Simulation" = head, if (length(late) == 1) late[[1]], "Seed" = words_seed(x), NextMethod())
}

#' @export
tbl_sum.dpts_simulation_summary <- function(x, ...) {
  c("Simulation" = sprintf("mean regret with %s intervals", words_level(shared(x, "level"))),
    NextMethod())
}

#' @export
summary.dpts_simulation_summary <- function(object, ...) object

#' Results in broom's form
#'
#' `tidy()` gives one row for each estimate of a result, `glance()` the result in one row, and
#' `augment()` the rows of a simulation with the mean over runs beside each.
#'
#' @param x A result of [dpts_simulate()], [dpts_recommend()], [dpts_tune()], [dpts_replay()],
#'   [dpts_ope()], [dpts_privacy()], [dpts_audit()] or [dpts_reproduce()], or the summary of a
#'   simulation or a replay.
#' @param conf.int Give an interval for each estimate?
#' @param conf.level Confidence level of the interval.
#' @param ... Must be empty.
#' @returns `tidy()`: a tibble with columns `term` (the policy, or the estimator), what else
#'   identifies the estimate (`problem`, `delay`, `accountant`, ...), `estimate`, `std.error`, and
#'   `conf.low`, `conf.high` unless `conf.int = FALSE`. The estimate is the mean cumulative regret
#'   at the last round `t` that is recorded for the policy (simulations), the mean regret at the
#'   horizon (recommendations and tunings), the mean reward of a kept event (replays), the target's
#'   mean reward (off-policy estimates), or epsilon, without an error or an interval (privacy, and
#'   audits: the lower bound of each adversary, which is the `term`).
#'
#'   `glance()`: a tibble of one row (one for each problem of a simulation), with `nobs`, the
#'   number of runs (of events for [dpts_ope()]), `seed` (`NA` if there are several) and what
#'   describes the result. For a simulation: `arms`, `horizon`, `t` (the last recorded round that
#'   all policies share), `policies`, `nobs`, `seed`, `best` (the policy of least mean regret at
#'   `t`) and `regret` (its mean regret there).
#'
#'   `augment()`: the simulation with `.fitted`, the mean regret of the policy at that round, and
#'   `.resid`, the regret of the run less that.
#' @family simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_beta(), 1000, seed = 1)
#' tidy(sim)
#' glance(sim)
#' augment(sim)
#' @name tidy.dpts_simulation
NULL

#' The columns of broom for an estimate with its interval
#' @noRd
tidy_columns <- function(rows, estimate, se, lower, upper, conf.int) {
  interval <- if (conf.int) list(conf.low = lower, conf.high = upper)
  tibble::as_tibble(c(rows, list(estimate = estimate, std.error = se), interval))
}

#' @rdname tidy.dpts_simulation
#' @export
tidy.dpts_simulation <- function(x, conf.int = TRUE, conf.level = 0.95, ...) {
  check_dots_empty(...)
  check_conf(conf.int, conf.level)
  tidy(summary(x, level = conf.level), conf.int, conf.level)
}

#' @rdname tidy.dpts_simulation
#' @export
tidy.dpts_simulation_summary <- function(x, conf.int = TRUE, conf.level = 0.95, ...) {
  check_dots_empty(...)
  check_conf(conf.int, conf.level)
  check_result(x, c("runs", "mean", "se"))
  last <- final_rows(x)
  half <- half_width(last$se, last$runs, conf.level)
  rows <- c(if (has_problems(x)) list(problem = as.character(last$problem)),
            list(term = as.character(last$policy), t = last$t))
  tidy_columns(rows, last$mean, last$se, last$mean - half, last$mean + half, conf.int)
}

check_conf <- function(conf.int, conf.level, call = caller_env()) {
  check_flag(conf.int, call = call)
  check_number(conf.level, 0, 1, open = TRUE, call = call)
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  row <- glance(summary(x))
  if (has_problems(x)) {
    worlds <- worlds_of(x)[row$problem]
    runs <- tapply(x$run, as.character(x$problem), function(run) length(unique(run)))[row$problem]
  } else {
    worlds <- worlds_of(x)
    runs <- length(unique(x$run))
  }
  tibble::as_tibble(c(
    if (has_problems(x)) list(problem = row$problem),
    list(arms = unname(vapply(worlds, function(w) n_arms(w$arms), 0L)),
         horizon = unname(vapply(worlds, `[[`, 0, "horizon")), t = row$t, policies = row$policies,
         nobs = as.vector(runs), seed = one_seed(x), best = row$best, regret = row$regret)
  ))
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_simulation_summary <- function(x, ...) {
  check_dots_empty(...)
  check_result(x, c("runs", "mean"))
  policy <- as.character(x$policy)
  parts <- split(seq_len(nrow(x)), if (has_problems(x)) droplevels(label_factor(x, "problem")) else
    rep(1, nrow(x)))
  rows <- lapply(names(parts), function(name) {
    at <- parts[[name]]
    # The last round at which every policy can be compared.
    seen <- table(x$t[at])
    t <- max(c(as.double(names(seen)[seen == length(unique(policy[at]))]), -Inf))
    here <- at[x$t[at] == t]
    best <- here[which.min(x$mean[here])]
    none <- length(best) == 0
    tibble::as_tibble(c(
      if (has_problems(x)) list(problem = name),
      list(t = if (none) NA_real_ else t, policies = length(unique(policy[at])),
           nobs = max(x$runs[at]), best = if (none) NA_character_ else policy[best],
           regret = if (none) NA_real_ else x$mean[best])
    ))
  })
  vctrs::vec_rbind(!!!rows)
}

#' @rdname tidy.dpts_simulation
#' @export
augment.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  means <- summary(x)
  by <- about(means)$key
  x$.fitted <- means$mean[vctrs::vec_match(keys_of(x, by), keys_of(means, by))]
  x$.resid <- x$regret - x$.fitted
  x
}

#' The last recorded round of each policy (and problem) in a summary
#' @noRd
final_rows <- function(stats) {
  by <- intersect(c("problem", "policy"), about(stats)$key)
  stats <- bare(stats)[do.call(order, unname(as.list(stats)[c(by, "t")])), ]
  stats[!duplicated(stats[by], fromLast = TRUE), , drop = FALSE]
}

#' The rows of a summary that have an interval: a single run has none, and ggplot2 stops at a
#' band of missing values
#' @noRd
with_band <- function(stats) stats[is.finite(stats$lower) & is.finite(stats$upper), , drop = FALSE]

#' Draw regret curves
#'
#' Mean cumulative regret against rounds, one line for each policy, with a confidence band, and a
#' panel for each problem if there are several.
#'
#' @param object A result of [dpts_simulate()], or its summary.
#' @param ... Must be empty.
#' @param log Which axes are logarithmic: `""`, `"x"`, `"y"` or `"xy"`.
#' @param level Confidence level of the band.
#' @param runs Draw every run too, as a thin line?
#' @returns A ggplot, which can be restyled like any other. The legend is in the order of
#'   the curves at the end. More than eight curves carry their names instead. Columns that you
#'   added to the result are there for `facet_wrap()`, if they are constant for a policy at a
#'   round.
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
    policy <- label_factor(object, "policy")
    object <- bare(object)
    object$policy <- policy
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
  check_result(object, c("mean", "lower", "upper", "runs"))
  last <- final_rows(object)
  level <- shared(object, "level")
  problems <- has_problems(object)
  policy <- label_factor(object, "policy")
  stats <- bare(object)
  stats$policy <- policy
  # From the highest curve to the lowest, as the eye meets them.
  breaks <- unique(as.character(last$policy[order(-last$mean)]))
  if (grepl("y", log)) {
    # A logarithmic axis has no room for 0: curves start where regret does.
    stats <- stats[stats$mean > 0, , drop = FALSE]
    stats$lower <- pmax(stats$lower, min(stats$mean, Inf))
  }
  if (nrow(stats) == 0) {
    return(nothing_to_draw("No curve to draw: no policy has any regret, which a logarithmic axis cannot show."))
  }
  names <- if (length(breaks) > MANY_LINES && !problems) {
    ends <- last[last$policy %in% stats$policy, ]
    label_ends(data.frame(x = ends$t, y = ends$mean, label = ends$policy), log,
               range(stats$mean, stats$upper, na.rm = TRUE))
  }
  place <- if (problems) paste0(last$problem, ": ", last$policy) else last$policy
  down <- order(-last$mean)
  ggplot2::ggplot(stats, ggplot2::aes(
    x = .data$t, y = .data$mean, colour = .data$policy, fill = .data$policy,
    linetype = .data$policy
  )) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                         data = with_band(stats), colour = NA, alpha = 0.2,
                         show.legend = FALSE) +
    ggplot2::geom_line(linewidth = 0.7) +
    (if (problems) ggplot2::facet_wrap(ggplot2::vars(.data$problem), scales = "free")) +
    scales_by(levels(stats$policy), breaks, "Policy")[1:3] +
    scales + names +
    ggplot2::labs(
      x = "Round", y = "Mean cumulative regret", caption = words_mean(last$runs, level),
      alt = sprintf(
        "Mean cumulative regret against rounds for %s%s, with %s confidence bands; at the end %s.",
        count_noun(length(breaks), "policy", "policies"),
        if (problems) paste(" on", count_noun(length(worlds_of(object)), "problem", "problems")) else "",
        words_level(level), paste(place[down], shorts(last$mean[down]), collapse = ", ")
      )
    )
}
