#' The best policy within a privacy budget
#'
#' Tells which policy loses least reward within a promise. Lets every candidate use as much of the
#' budget as it can, simulates them all on the problem, or on a panel of problems, and ranks them, by
#' regret or by the people that a conclusion takes. It says which differences are real.
#'
#' @details
#' How much a candidate can use:
#'
#' * an epsilon-DP policy inside [privacy_gdp()]: epsilon = ln(Phi(mu / 2) / Phi(-mu / 2)), the
#'   largest for which epsilon-DP implies mu-GDP; inside [privacy_approx()]: the largest whose exact
#'   trade-off passes below (epsilon, delta), ln((exp(epsilon) + delta) / (1 - delta));
#' * a mu-GDP policy inside [privacy_approx()]: [gdp_mu()]; inside [privacy_pure()] it has no place;
#' * [policy_ts_gaussian()]: the least variance scale by [dpts_calibrate()], with the accountant
#'   `"direct"` for [privacy_approx()] and for [privacy_gdp()] up to a `nu`, `"gdp"` for [privacy_gdp()]
#'   without, and 0.7 or 2 times sqrt(T ln(T)) / mu pre-pulls of each arm, at most a third of the
#'   horizon T in all. A nu of 1e-7, say, makes it far better: give `privacy_gdp(mu, nu)` if
#'   that will do;
#' * [policy_dp_ts_ucb()]: the least `alpha`, or at `alpha = 1` the most draws;
#' * [policy_dp_ucb_int()]: the shortest time between releases.
#'
#' Amounts that had to be converted are rounded down to six digits.
#'
#' `"gaussian_imed"` is [policy_gaussian_imed()] with its defaults, which depend on mu. `"dp_imed"` is
#' [policy_dp_imed()] as published, `"dp_imed_tuned"` the same releases with `index = "likelihood"`.
#' With `prefer = "safe"` both have a `safety` that is larger by 0.3: no setting is free of runs that lock
#' on a wrong arm, and this one makes them rarer.
#'
#' Candidates that `candidates = NULL` leaves out, because they take long and have not won:
#' `"dp_ts"`, `"mt_ucb"`, `"mt_ts"` and `"dp_ucb_bound"`; and `"uniform"`, which meets every
#' budget.
#'
#' With `arms = NULL` candidates play a panel of six problems with Bernoulli rewards: the four of
#' Sajed and Sheffet (2019) in shape, with best mean 0.75 (`close`: all others 0.70; `linear`,
#' `convex`, `concave`: falling to 0.25 in these shapes; for `k = 5` they are theirs to the
#' digit), and the hard ones `small_gap` (0.52 against 0.50) and `rare` (0.05 against 0.03).
#' The best arm's place moves from problem to problem, so that starting with the
#' first arm gains nothing. Regret is then the mean over the panel. A list of arms is a panel of your own;
#' a policy that spends the horizon on the first arms looks good if the best arm comes first.
#'
#' **Those who must conclude** ask for `goal = "verdict"`: the people until it is proved which arm is
#' the best ([dpts_identify()]; runs without a verdict within the horizon count with it), or `goal =
#' "effect"`: the people that a test of a fixed size needs for a power of 0.9 ([dpts_plan()]; `horizon`
#' where that is not enough). Both with a chance of 1 - `level` for something false. Candidates are then, each
#' with Gaussian noise and, as `"..._pure"`, with Laplace noise, `"top_two"` ([policy_top_two()]), `"tossed"`
#' and `"equal"` ([policy_randomised()] by the rules `"top_two"` and `"equal"`); for an effect `"final"`
#' (equal allocation, one final release), `"blocks"` (the same in blocks) and `"adaptive"` (the rule
#' `"thompson"`). The number for an effect is that of all runs together; its error follows from that of the
#' power.
#'
#' **The choice must not look at the data to be protected.** It may depend on the budget, the
#' horizon, the number of arms and on public or invented problems. A choice made on private
#' rewards leaks in a way that the budget does not cover. Give `arms` as a guess, an earlier
#' public trial or a worst case, or let the panel stand for what is not known.
#'
#' @param budget What the run may leak: [privacy_pure()], [privacy_approx()] or [privacy_gdp()].
#' @param arms The problem, from [arms_bernoulli()] and its family, a named list of problems with
#'   the same number of arms, or `NULL` for the panel.
#' @param horizon Number of rounds: a whole number. The most people, where the goal is to conclude.
#' @param goal What is to be least: regret, or the people until a verdict, or for a test of an effect; see
#'   Details.
#' @param candidates Names of candidates, a named list of policies, which must be inside the
#'   budget as they are, or `NULL` for all that can win.
#' @param prefer What known candidates are set for, where they have a choice: least regret on average
#'   (`"mean"`), or fewer bad runs for some more regret (`"safe"`).
#' @param k Number of arms of the panel: a whole number, at least 2.
#' @param level Confidence level of intervals and ties: a number in (0, 1).
#' @param race Let candidates that are surely worse than the best stop early? After 5, 10, 20, ...
#'   runs a candidate stops whose regret, run by run, is above 1.5 times that of the best so far, by Student's
#'   t at a level of 1 - `level`, divided by the number of tests: so the chance that the best is stopped is
#'   1 - `level` at most if regrets are nearly normal. The factor leaves room for those that are not: a policy
#'   that fails in one run of fifty looks better than it is until it does. Runs that are rarer and cost
#'   more than that half go unseen. `FALSE`: every candidate plays all runs.
#' @inheritParams dpts_simulate
#' @returns A tibble of class `dpts_recommendation`, one row a candidate, least regret first:
#'   * `policy`: the candidate's name;
#'   * `guarantee`: what it promises, as text, with what it spends;
#'   * `regret`: mean pseudo-regret at the horizon, over runs (and the panel), in units of reward; for another
#'     goal `people` in its place;
#'   * `se`: its standard error over runs (`NA` for one run);
#'   * `lower`, `upper`: its confidence interval, by Student's t on the logarithm (see
#'     [summary.dpts_simulation()]), as if it were the only one: who comes out best has also been lucky (of
#'     ten equal candidates, its interval of level 0.95 holds its mean in 80% of calls). A call of this one
#'     alone with another seed gives an interval that nobody chose;
#'   * `standing`: `"best"`, the least regret of those that played all runs; `"worse"`: the difference to the
#'     best, run by run, is above 0 by Student's t or by Wilcoxon's signed ranks, each at a level of
#'     (1 - `level`) / 2, divided by the number of other candidates, or it left the race: so the chance that
#'     the best in truth is called worse is 1 - `level` at most, if differences are nearly normal; `"tied"`:
#'     it is not; `"unsure"`: nor is that known, since there is one run only, or since more than 1
#'     per cent of its runs fail badly (`failures`), so that its mean may be far off;
#'   * `q95`, `worst`: 95th percentile and largest regret over runs; in a panel, of the
#'     mean over its problems;
#'   * `failures`: share of runs, on any one problem, whose regret is more than 5 times the policy's
#'     median;
#'   * `runs`: how many runs it was played, fewer than were asked for if it left the race.
#'
#'   [recommended_policy()] gives the policies themselves. Known candidates that the budget or the
#'   horizon has no room for are left out; [summary()][summary.dpts_recommendation] has them with the
#'   reason, and printing shows them.
#' @section Errors:
#' A budget that no candidate meets raises an error of class `dpts_error_budget`, a horizon too
#' short for first batches one of class `dpts_error_horizon`.
#' @template sajed
#' @template dong
#' @family privacy
#' @examples
#' arms <- arms_bernoulli(c(0.7, 0.5, 0.3))
#' advice <- dpts_recommend(privacy_gdp(1), arms, horizon = 5000, runs = 20, seed = 1,
#'                          candidates = c("gaussian_imed", "adac_ucb", "dp_imed"))
#' advice
#' recommended_policy(advice)
#' autoplot(advice)
#' @export
dpts_recommend <- function(budget, arms = NULL, horizon, ..., goal = c("regret", "verdict", "effect"),
                           candidates = NULL,
                           prefer = c("mean", "safe"), k = NULL, level = 0.95, race = TRUE, runs = 50,
                           seed = NULL, threads = getOption("dpts.threads", 1L),
                           progress = interactive(), checkpoint = NULL, delay = 0, batch = 1) {
  check_dots_empty(...)
  check_budget(budget)
  problems <- check_problems(arms, k)
  horizon <- check_count(horizon)
  if (horizon < n_arms(problems[[1]])) {
    abort_input("horizon", "`horizon` must be at least %d, a round for each arm, not %s.",
                n_arms(problems[[1]]), number_text(horizon), class = "dpts_error_horizon")
  }
  runs <- check_runs(runs)
  check_checkpoint(checkpoint, seed)
  seed <- check_seed(seed)
  level <- check_number(level, 0, 1, open = TRUE)
  check_flag(race)
  threads <- check_count(threads, 1, 1024)
  delay <- check_delay(delay, horizon)
  batch <- check_count(batch)
  prefer <- check_choice(prefer, c("mean", "safe"))
  goal <- check_choice(goal, c("regret", "verdict", "effect"))
  if (goal == "verdict") for (problem in problems) check_stationary(problem, "arms")
  if (goal != "regret" && !is.null(checkpoint)) abort_arg("checkpoint", "NULL for this `goal`")
  check_flag(progress)
  begin_stages(progress)
  delta <- signif(1 - level, 12)
  chosen <- candidate_policies(candidates, budget, horizon, n_arms(problems[[1]]), prefer, goal, delta,
                               progress)
  policies <- chosen$policies
  setup <- list(budget = budget, horizon = horizon, arms = problems, panel = is.null(arms), goal = goal,
                runs = length(runs), seed = seed, delay = delay, batch = batch)

  named <- stats::setNames(problems, paste("problem", seq_along(problems)))
  if (goal == "effect") {
    plan <- dpts_plan(policies, named, delta = delta, delay = delay, batch = batch, runs = I(runs),
                      seed = seed, power = EFFECT_POWER, limit = horizon, threads = threads,
                      progress = progress)
    return(recommend_effect(plan, policies, level, setup, chosen$dropped))
  }
  # One call for all problems, so that a plan's workers have all of the work to share.
  play <- function(policies, runs) {
    if (goal == "verdict") {
      found <- dpts_identify(named, policies, delta, limit = horizon, runs = I(runs), seed = seed,
                             threads = threads, progress = progress, delay = delay, batch = batch)
      return(array(ifelse(is.na(found$people), horizon, found$people),
                   c(length(runs), length(policies), length(problems))))
    }
    sim <- dpts_simulate(named, policies, horizon, runs = I(runs), seed = seed,
                         record = I(horizon), threads = threads, progress = progress,
                         delay = delay, batch = batch, checkpoint = checkpoint)
    array(sim$regret, c(length(runs), length(policies), length(problems)))
  }
  regret <- run_race(policies, runs, play, if (race) level)
  new_recommendation(regret, policies, level, setup, chosen$dropped)
}

# Play candidates in stages of more and more runs. After each, those leave that are surely worse
# than the best so far by half: run by run and over all problems, their regret is above 1.5 times the
# best's by Student's t, at 1 - level shared between candidates and stages.
#
# By half, because regret is not normal: a policy that fails in one run of fifty looks better in the first
# runs than it is. DP-IMED at epsilon = 0.25 (T = 1e5, five arms) has a tenth more regret than DP-KLUCB;
# against 1 times its regret DP-KLUCB left in 22% of races at a level of 0.95, against 1.25 times in 5%, and
# against 1.5 times in 0.3%.
# `play`: The regret of policies in runs: an array, runs x policies x problems.
# `level`: NULL: no race.
# Returns The same for all; NA where a candidate was not played.
run_race <- function(policies, runs, play, level) {
  ends <- unique(pmin(ceiling(STAGE_RUNS * 1.5^(0:50)), length(runs)))
  if (is.null(level)) ends <- length(runs)
  regret <- NULL
  playing <- seq_along(policies)
  for (stage in seq_along(ends)) {
    new <- seq(if (stage == 1) 1 else ends[stage - 1] + 1, ends[stage])
    part <- play(policies[playing], runs[new])
    if (is.null(regret)) {
      regret <- array(NA_real_, c(length(runs), length(policies), dim(part)[3]),
                      list(NULL, names(policies), NULL))
    }
    regret[new, playing, ] <- part
    if (stage == length(ends) || length(playing) == 1) next
    by_run <- apply(regret[seq_len(ends[stage]), playing, , drop = FALSE], c(1, 2), mean)
    gap <- by_run - WORSE_BY * by_run[, which.min(colMeans(by_run))]
    n <- nrow(gap)
    t <- colMeans(gap) / (apply(gap, 2, stats::sd) / sqrt(n)) # NaN if all are 0
    p <- stats::pt(t, n - 1, lower.tail = FALSE)
    behind <- p < (1 - level) / ((length(policies) - 1) * (length(ends) - 1))
    playing <- playing[!(behind %in% TRUE)]
  }
  regret
}

EFFECT_POWER <- 0.9
STAGE_RUNS <- 5
WORSE_BY <- 1.5

# ---- problems -------------------------------------------------------------------------

check_problems <- function(arms, k) {
  if (is.null(arms)) {
    if (is.null(k)) abort_arg("k", "given, the number of arms, when `arms` is NULL")
    return(standard_panel(check_count(k, 2, 1e6)))
  }
  problems <- if (inherits(arms, "dpts_arms")) list(arms) else arms
  ok <- is.list(problems) && length(problems) > 0 && all(vapply(problems, inherits, NA, "dpts_arms"))
  if (!ok) {
    abort_arg("arms", "made by one of the `arms_*()` functions, a list of such, or NULL with `k`", arms)
  }
  sizes <- vapply(problems, n_arms, 0L)
  if (length(unique(sizes)) > 1 || (!is.null(k) && check_count(k) != sizes[1])) {
    wanted <- k %||% sizes[1]
    abort_input("arms", "`arms` must have %s arms in every problem, not %s.", number_text(wanted),
                number_text(sizes[sizes != wanted][1]))
  }
  if (sizes[1] < 2) abort_arg("arms", "a problem with at least two arms")
  problems
}

# The standard instances for k arms
#
# The best arm's place moves from problem to problem: policies that settle ties, or begin, with
# the first arm would else be paid for it.
standard_panel <- function(k) {
  fall <- seq(0, 1, length.out = k)
  rest <- function(best, other) c(best, rep(other, k - 1))
  panel <- list(
    # Sajed and Sheffet (2019), for k = 5 exactly theirs
    close = rest(0.75, 0.70),
    linear = 0.75 - 0.5 * fall,
    convex = 0.25 + 0.5 * (1 - fall)^2,
    concave = 0.75 - 0.5 * fall^2,
    # hard ones of ours
    small_gap = rest(0.52, 0.50),
    rare = rest(0.05, 0.03)
  )
  places <- ((seq_along(panel) - 1) * k) %/% length(panel)
  Map(function(means, place) {
    arms_bernoulli(means[(seq_len(k) - 1 - place) %% k + 1])
  }, panel, places)
}
