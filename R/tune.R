#' Tune Gaussian Thompson sampling within a privacy budget
#'
#' `dpts_tune()` finds the settings of Gaussian Thompson sampling with the least simulated regret inside a
#' privacy budget. Pre-pulls and extra variance both improve privacy and both cost regret. For each number
#' of pre-pulls of a grid it finds the least variance scale inside the budget ([dpts_calibrate()]) and
#' simulates the regret.
#'
#' @details
#' All candidates are simulated in one call of [dpts_simulate()] and share random numbers run by run. A
#' sharper accountant needs less variance for the same budget: the rows of `"gdp"` (the paper's), `"sequence"`
#' ([sequence_rdp()]) and `"direct"` ([sequence_gdp()], [sequence_epsilon()]) show what that is worth.
#'
#' The sharpest form of `"direct"` takes seconds at short horizons. It is used for the candidates within 10%
#' of the least regret in the runs 1 to 10, whichever runs are asked for; the others keep a scale that is also
#' inside the budget, up to a third larger.
#'
#' `arms` must be a guess, an earlier trial or a worst case that is public. Tuning on the data to
#' be protected would itself leak.
#'
#' @inheritParams dpts_calibrate
#' @param arms The problem, from [arms_bernoulli()] and its family.
#' @param prepulls Numbers of pre-pulls to try: whole numbers, or `NULL` for a grid from 0 to half
#'   the horizon.
#' @param accountant One or more of `"gdp"`, `"rdp"`, `"sequence"` and `"direct"`; or `NULL`, as in
#'   [dpts_calibrate()].
#' @inheritParams dpts_simulate
#' @returns A tibble of class `dpts_tuning`, one row for each accountant and number of pre-pulls:
#'   * `accountant`;
#'   * `prepulls`, `variance_scale`: the candidate, for [policy_ts_gaussian()];
#'   * `regret`: mean cumulative pseudo-regret at the horizon, in units of reward;
#'   * `se`: its standard error over runs (`NA` for one run);
#'   * `best`: `TRUE` in the one row of least regret.
#'
#'   [recommended_policy()] gives the best policy itself.
#' @inheritSection dpts_privacy Privacy
#' @template see_privacy
#' @examples
#' arms <- arms_bernoulli(c(0.7, 0.5, 0.3))
#' tuning <- dpts_tune(privacy_approx(4, 1e-4), arms, horizon = 2000,
#'                     prepulls = c(10, 50, 200), accountant = "gdp", runs = 10, seed = 1)
#' tuning
#' autoplot(tuning)
#' @export
dpts_tune <- function(budget, arms, horizon, ..., prepulls = NULL,
                      accountant = NULL, delta = 0.1 / horizon, runs = 20, seed = NULL,
                      threads = getOption("dpts.threads", 1L), progress = interactive(),
                      checkpoint = NULL, delay = 0, batch = 1) {
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
  runs <- check_runs(runs)
  check_checkpoint(checkpoint, seed)
  seed <- check_seed(seed)
  delta <- check_number(delta, 0, 1, open = c(FALSE, TRUE))
  accountant <- if (is.null(accountant)) sharpest_accountant(budget, delta) else
    unique(check_choice(accountant, calibrating_accountants(), several = TRUE))
  delay <- check_delay(delay, horizon)
  batch <- check_count(batch)
  check_flag(progress)
  begin_stages(progress)

  grid <- expand.grid(prepulls = prepulls, accountant = accountant, stringsAsFactors = FALSE)
  play <- function(policies, runs, ...) {
    dpts_simulate(arms, policies, horizon, runs = I(runs), seed = seed, record = I(horizon), delay = delay,
                  batch = batch, threads = threads, ...)
  }
  policies <- tuned_policies(grid, budget, conditions(horizon, k), delta, progress, function(policies) {
    # Always the same runs, so that all parts of a tuning have the same policies
    regret_by_round(play(policies, seq_len(10), progress = FALSE))$mean
  })
  sim <- play(policies, runs, progress = progress, checkpoint = checkpoint)
  by_run <- as.list(bare(sim))
  row <- match(as.character(by_run$policy), names(policies))
  new_tuning(
    list(accountant = grid$accountant, prepulls = grid$prepulls,
         variance_scale = vapply(policies, function(p) p$params$variance_scale, 0, USE.NAMES = FALSE)),
    by = "accountant",
    runs = list(accountant = grid$accountant[row], prepulls = grid$prepulls[row],
                run = as.double(by_run$run), seed = rep(seed, length(row)), regret = by_run$regret),
    shared = list(budget = budget, horizon = horizon, arms = arms, delay = delay, batch = batch)
  )
}

# The policy of each row of the grid, named. `regret_of`: a function of policies, a first look at their regret
tuned_policies <- function(grid, budget, at, delta, progress, regret_of) {
  # The message on how a budget is read comes once.
  first <- !duplicated(grid$accountant)
  bar <- progress_bar(progress, nrow(grid), "Calibrating")
  candidate <- function(i, sharp = FALSE) {
    calibrate(budget, at, grid$prepulls[i], grid$accountant[i], delta, quiet = sharp || !first[i], sharp)
  }
  policies <- lapply(seq_len(nrow(grid)), function(i) {
    policy <- candidate(i)
    bar(i)
    policy
  })
  bar(NULL)
  names(policies) <- paste(grid$accountant, grid$prepulls)
  # The sharp calibration takes seconds, so it is done for candidates that may rank first. It saves up to a
  # quarter of the variance, and regret grows much more slowly than the variance.
  costly <- which(grid$accountant == "direct" & vapply(policies, has_lattice, NA, at = at))
  if (length(costly) > 0 && length(policies) > 1) {
    regret <- regret_of(policies)
    costly <- costly[regret[costly] <= 1.1 * min(regret)]
  }
  bar <- progress_bar(progress, length(costly), "Sharpening")
  for (i in costly) {
    policies[[i]] <- candidate(i, sharp = TRUE)
    bar(match(i, costly))
  }
  bar(NULL)
  policies
}

# May the lattice accountant need less variance than the quicker ones?
has_lattice <- function(policy, at) {
  p <- policy$params
  !is.null(lattice_size(sampler(drawing_rounds(p$prepulls, at), p$prepulls, p$variance_scale)))
}

# 0, then 1, 2 and 5 in each decade, as long as pre-pulls of all arms take at most half of the horizon
prepull_grid <- function(horizon, k) {
  most <- floor(horizon / (2 * k))
  decades <- 10^seq(0, max(0, log10(max(most, 1))), by = 1)
  grid <- sort(unique(c(0, outer(c(1, 2, 5), decades))))
  grid <- grid[grid <= most]
  # Few pre-pulls need so much variance that they never win; a dozen will do.
  if (length(grid) > 12) grid <- c(0, utils::tail(grid, 11))
  grid
}
