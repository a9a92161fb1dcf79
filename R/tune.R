#' Tune Gaussian Thompson sampling inside a privacy budget
#'
#' Pre-pulls and extra variance both buy privacy and both cost regret. `dpts_tune()` tries a grid
#' of pre-pulls, takes for each the least variance scale inside the budget
#' ([dpts_calibrate()]), simulates the regret and flags the best.
#'
#' @details
#' All candidates are simulated in one call of [dpts_simulate()], so they share random numbers
#' run by run. An accountant that leaks less on paper needs less variance: the rows of
#' `"gdp"` (the paper's) and `"sequence"` ([sequence_rdp()]) show what that is worth.
#'
#' `arms` must be a guess, an earlier trial or a worst case that is public. Tuning on the data to
#' be protected would itself leak.
#'
#' @inheritParams dpts_calibrate
#' @param arms The problem, from [arms_bernoulli()] and its family.
#' @param ... Must be empty: what follows is named.
#' @param prepulls Numbers of pre-pulls to try: whole numbers, or `NULL` for a grid from 0 to half
#'   the horizon.
#' @param accountant One or more of `"gdp"`, `"rdp"` and `"sequence"`.
#' @param runs How many runs, or the run numbers, as in [dpts_simulate()].
#' @param seed A whole number, or `NULL`, as in [dpts_simulate()].
#' @returns A tibble of class `dpts_tuning`, one row for each accountant and number of
#'   pre-pulls:
#'   * `accountant`;
#'   * `prepulls`, `variance_scale`: the candidate, for [policy_ts_gaussian()];
#'   * `regret`: mean cumulative pseudo-regret at the horizon, in units of reward;
#'   * `se`: its standard error over runs (`NA` for one run);
#'   * `best`: `TRUE` in the one row of least regret.
#' @inheritSection dpts_privacy Privacy
#' @family privacy
#' @examples
#' arms <- arms_bernoulli(c(0.7, 0.5, 0.3))
#' tuning <- dpts_tune(privacy_approx(4, 1e-4), arms, horizon = 2000,
#'                     prepulls = c(10, 50, 200), runs = 10, seed = 1)
#' tuning
#' autoplot(tuning)
#' @export
dpts_tune <- function(budget, arms, horizon, ..., prepulls = NULL,
                      accountant = c("gdp", "sequence"), runs = 20, seed = NULL,
                      delta = 1 / horizon) {
  check_dots_empty(...)
  check_budget(budget)
  check_arms(arms)
  horizon <- check_count(horizon)
  k <- n_arms(arms)
  prepulls <- if (is.null(prepulls)) {
    prepull_grid(horizon, k)
  } else {
    sort(unique(check_counts(prepulls, 0)))
  }
  accountant <- unique(check_choice(accountant, calibrating_accountants(), several = TRUE))
  runs <- check_runs(runs)
  seed <- check_seed(seed)
  delta <- check_number(delta, 0, 1, open = c(FALSE, TRUE))

  grid <- expand.grid(prepulls = prepulls, accountant = accountant, stringsAsFactors = FALSE)
  call <- rlang::current_env()
  # The message on how a budget is read comes once.
  first <- !duplicated(grid$accountant)
  policies <- lapply(seq_len(nrow(grid)), function(i) {
    calibrate(budget, conditions(horizon, k), grid$prepulls[i], grid$accountant[i], delta,
              quiet = !first[i], call = call)
  })
  names(policies) <- paste(grid$accountant, grid$prepulls)
  runs <- if (length(runs) == 1) I(runs) else runs
  sim <- dpts_simulate(arms, policies, horizon, runs = runs, seed = seed,
                       record = I(horizon))
  at <- match(names(policies), as.character(summary(sim)$policy))
  stats <- summary(sim)[at, ]
  new_tuning(
    list(accountant = grid$accountant, prepulls = grid$prepulls,
         variance_scale = vapply(policies, function(p) p$params$variance_scale, 0,
                                 USE.NAMES = FALSE),
         regret = stats$mean, se = stats$se,
         best = seq_along(policies) == which.min(stats$mean)),
    setup = list(budget = budget, horizon = horizon, arms = arms, runs = length(runs))
  )
}

new_tuning <- function(columns, setup) {
  tibble::new_tibble(columns, nrow = length(columns$prepulls), class = "dpts_tuning",
                     setup = setup)
}

#' 0, then three numbers a decade, up to half the horizon over all arms
#' @noRd
prepull_grid <- function(horizon, k) {
  most <- floor(horizon / (2 * k))
  decades <- 10^seq(0, max(0, log10(max(most, 1))), by = 1)
  grid <- sort(unique(c(0, outer(c(1, 2, 5), decades))))
  grid <- grid[grid <= most]
  # Few pre-pulls need so much variance that they never win; a dozen will do.
  if (length(grid) > 12) grid <- c(0, utils::tail(grid, 11))
  grid
}

#' @importFrom tibble tbl_sum
#' @export
tbl_sum.dpts_tuning <- function(x, ...) {
  setup <- attr(x, "setup")
  head <- if (is.null(setup)) NULL else c("Tuning" = sprintf(
    "%s over %s rounds of %s, %s", format(setup$budget), label_count(setup$horizon),
    count_noun(n_arms(setup$arms), "arm", "arms"), count_noun(setup$runs, "run", "runs")
  ))
  c(head, NextMethod())
}

#' Plot a tuning
#'
#' Regret against pre-pulls, one line an accountant, with bars of two standard errors and a ring
#' around the best. The axis of pre-pulls is logarithmic in 1 + `prepulls`.
#'
#' @param object A result of [dpts_tune()].
#' @param ... Must be empty.
#' @returns A ggplot.
#' @family privacy
#' @examples
#' tuning <- dpts_tune(privacy_gdp(1), arms_bernoulli(c(0.7, 0.3)), horizon = 1000,
#'                     prepulls = c(10, 50, 200), accountant = "gdp", seed = 1)
#' autoplot(tuning)
#' @export
autoplot.dpts_tuning <- function(object, ...) {
  check_dots_empty(...)
  need_columns(object, c("accountant", "prepulls", "regret", "se", "best"))
  levels <- unique(object$accountant)
  data <- as.data.frame(object)
  data$lower <- data$regret - 2 * ifelse(is.na(data$se), 0, data$se)
  data$upper <- data$regret + 2 * ifelse(is.na(data$se), 0, data$se)
  # 1, 2 and 5 in each decade, or the decades alone where that is too many labels
  inside <- function(b) b[b >= min(data$prepulls) & b <= max(data$prepulls, 1)]
  breaks <- inside(c(0, outer(c(1, 2, 5), 10^(0:11))))
  if (length(breaks) > 6) breaks <- inside(c(0, 10^(0:11)))
  best <- data[data$best, ]
  ggplot2::ggplot(data, ggplot2::aes(
    .data$prepulls, .data$regret, colour = .data$accountant
  )) +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                            show.legend = FALSE) +
    ggplot2::geom_line() +
    ggplot2::geom_point() +
    ggplot2::geom_point(data = data[data$best, ], shape = 1, size = 4, show.legend = FALSE) +
    ggplot2::scale_x_continuous(trans = "log1p", labels = label_count, breaks = breaks,
                                minor_breaks = NULL) +
    ggplot2::scale_y_continuous(labels = label_count) +
    ggplot2::scale_colour_manual(
      "Accountant", values = stats::setNames(okabe_ito()[seq_along(levels)], levels)
    ) +
    ggplot2::labs(
      x = "Pre-pulls of each arm", y = "Regret at the horizon",
      alt = sprintf(
        "Regret at the horizon against pre-pulls, a line for each accountant (%s); the best: %s.",
        paste(levels, collapse = ", "),
        paste(sprintf("%s, %s pre-pulls, regret %s", best$accountant, label_count(best$prepulls),
                      shorts(best$regret)), collapse = "; ")
      )
    )
}
