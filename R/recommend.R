#' The best policy within a privacy budget
#'
#' `dpts_recommend()` ranks the policies that fit a privacy budget by simulated regret, or by the number of
#' people needed for a conclusion. Each candidate uses as much of the budget as it can, and the result says
#' which differences are significant. Use it first, before you choose a policy. It does not use real data, and
#' must not: see below. To tune one policy use [dpts_tune()]; to plan the size of an experiment,
#' [dpts_plan()].
#'
#' @details
#' Quick start:
#'
#' ```
#' advice <- dpts_recommend(privacy_gdp(1), arms_bernoulli(c(0.6, 0.5)), horizon = 5000, goal = "verdict")
#' advice
#' agent <- dpts_agent(recommended_policy(advice), c("new", "old"), use = "arrival", horizon = 5000)
#' ```
#'
#' **The choice must not look at the data to be protected.** It may depend on the budget, the horizon, the
#' number of arms and on public or invented problems. A choice made on private rewards leaks in a way that the
#' budget does not cover. Give `arms` as a guess, an earlier public trial or a worst case, or let the panel
#' stand for what is not known.
#'
#' @section To lose little reward:
#' `goal = "regret"`, the default. Candidates are the policies of this package
#' that can have the least regret. `"gaussian_imed"` is [policy_gaussian_imed()] with its defaults, which
#' depend on mu. `"dp_imed"` is [policy_dp_imed()] as published, and `"dp_imed_tuned"` has the same releases
#' with `index = "likelihood"`. With `prefer = "safe"` both have a `safety` that is larger by 0.3. Every
#' setting has some runs that lock on a wrong arm; this one makes them rarer. Where rewards of `arms` are not
#' all 0 or 1, candidates that can have `outcome = "continuous"` have it.
#'
#' `candidates = NULL` leaves out policies that are slow to simulate and have never ranked first: `"dp_ts"`,
#' `"mt_ucb"`, `"mt_ts"`, `"dp_ucb_bound"` and `"lazy_gaussian_ts"`. It also leaves out `"uniform"`, which
#' meets every budget.
#'
#' @section To reach a conclusion:
#' `goal = "verdict"` ranks by the number of people until a verdict which arm
#' is the best ([dpts_identify()]). A run without a verdict counts with the horizon. `goal = "effect"` ranks
#' by the number of people that a test of fixed size needs for a power of 0.9 ([dpts_plan()]). It is the
#' `horizon`, without an interval, where that is not enough. The probability of a false conclusion is at most
#' 1 - `level`.
#'
#' Each candidate comes with Gaussian noise and, as `"..._pure"`, with Laplace noise. For a verdict:
#' `"top_two"` ([policy_top_two()]), `"tossed"` and `"equal"` ([policy_randomised()] with the rules
#' `"top_two"` and `"equal"`). For an effect: `"final"` (equal allocation, one final release), `"blocks"`
#' (equal allocation in blocks) and `"adaptive"` (the rule `"thompson"`), all of [policy_randomised()]. The
#' number for an effect is computed from all runs together, and its standard error follows from that of the
#' power.
#'
#' @section With contexts:
#' Where `arms` are of [arms_linear()], candidates are `"linucb"` ([policy_linucb()] with `mu`),
#' `"linucb_pure"` (with `epsilon`) and `"logistic_ucb"` ([policy_logistic_ucb()]), which protect rewards and
#' contexts, and `"uniform"`. A policy that is not clearly better than `"uniform"` has no use at this budget,
#' horizon and dimension. Two candidates that you can name protect rewards alone: `"linucb_rewards"`
#' (`contexts = "public"`) and `"local"` ([policy_local()], which needs no trusted server). Their bounds on
#' contexts are those of `arms`.
#'
#' @section The panel:
#' With `arms = NULL` candidates are simulated on six problems with Bernoulli rewards.
#' Four have the shapes of Sajed and Sheffet (2019), with best mean 0.75: `close` (all others 0.70), and
#' `linear`, `convex` and `concave` (falling to 0.25 in these shapes). For `k = 5` they are theirs to the
#' digit. The two hard problems are `small_gap` (0.52 against 0.50) and `rare` (0.05 against 0.03). Regret is
#' the mean over the panel. The position of the best arm differs between problems, so that a policy gains
#' nothing by starting with the first arm. A list of arms is a panel of your own: vary the position of the
#' best arm in it, too.
#'
#' @section How the budget is used:
#' * An epsilon-DP policy inside [privacy_gdp()] has epsilon = ln(Phi(mu / 2) / Phi(-mu / 2)), the largest for
#'   which epsilon-DP implies mu-GDP. Inside [privacy_approx()] it has the largest epsilon whose exact
#'   trade-off passes below (epsilon, delta), ln((exp(epsilon) + delta) / (1 - delta)).
#' * A mu-GDP policy inside [privacy_approx()] has the mu of [gdp_mu()]. It cannot meet [privacy_pure()].
#' * [policy_ts_gaussian()] has the least variance scale by [dpts_calibrate()]. The accountant is `"direct"`
#'   for [privacy_approx()] and for [privacy_gdp()] up to a `nu`, and `"gdp"` for [privacy_gdp()] without. It
#'   has 0.7 or 2 times sqrt(T ln(T)) / mu pre-pulls of each arm, at most a third of the horizon T in all.
#'   With `privacy_gdp(mu, nu)` and nu = 1e-7, say, it needs far less variance.
#' * [policy_dp_ts_ucb()] has the least `alpha`, or at `alpha = 1` the most draws.
#' * [policy_dp_ucb_int()] has the shortest time between releases.
#'
#' Amounts that had to be converted are rounded down to six digits.
#'
#' @param budget What the run may leak: [privacy_pure()], [privacy_approx()] or [privacy_gdp()].
#' @param arms The problem, from [arms_bernoulli()] and its family, a named list of problems with
#'   the same number of arms, or `NULL` for the panel.
#' @param horizon Number of rounds; for a goal other than regret, the maximum number of people. A whole
#'   number.
#' @param goal What to minimise: regret, the people until a verdict, or the people for a test of an effect;
#'   see Details.
#' @param candidates The policies to compare: names of known candidates, a named list of policies (each must
#'   fit the budget unchanged), or `NULL` for all known candidates that can rank first.
#' @param prefer What known candidates are tuned for, where they have a choice: least regret on average
#'   (`"mean"`), or fewer bad runs for somewhat more regret (`"safe"`).
#' @param k Number of arms of the panel: a whole number, at least 2.
#' @param level Confidence level of intervals and of `standing`: a number in (0, 1).
#' @param race Whether to stop candidates early that are clearly worse than the best. From a horizon of 1e5
#'   on, a race begins with three runs of a tenth of the rounds. A candidate stops there if its regret so far
#'   is significantly above 1.5 times the whole regret of the one with the least, which has all its runs.
#'   (This is left out with arms that change, or where `delay` is a function.) After 3, 5, 7, 11, 16, 23, ...
#'   runs (3 times powers of 1.5, rounded up) a candidate stops if its regret is significantly above 1.5
#'   times that of the best so far. The test: the interval of this difference, run by run (see
#'   [summary.dpts_simulation()]), lies above 0 at a level of 1 - `level`, divided by the number of tests. So
#'   the best candidate stops early with probability about 1 - `level` at most. The factor 1.5 protects
#'   against policies that fail in one run of fifty and look better until they do. Failures that are rarer
#'   and cost more can remain unseen. `FALSE`: every candidate has all runs.
#' @inheritParams dpts_simulate
#' @returns A tibble of class `dpts_recommendation`, one row per candidate, the best first, then by regret:
#'   * `policy`: the candidate's name;
#'   * `guarantee`: its privacy guarantee, as text;
#'   * `regret`: mean pseudo-regret at the horizon, over runs (and the panel), in units of reward; for another
#'     goal `people` in its place. For a candidate that left a race in its first rounds it is the regret of
#'     these `rounds`: at the horizon it has at least as much;
#'   * `se`: standard error over runs (`NA` for one run);
#'   * `lower`, `upper`: confidence interval (see [summary.dpts_simulation()]), `NA` where rare failures may
#'     have gone unseen, without a correction for the choice of the best. Of ten equal candidates the interval
#'     of the best, at level 0.95, held its mean in 94 to 98% of simulated calls;
#'   * `standing`: one of
#'     - `"best"`: the smallest mean of the candidates that completed all runs. If this mean has no interval,
#'       it is the smallest mean that has one, provided that this is at most 1.5 times as large;
#'     - `"worse"`: significantly more regret than the best, or stopped by the race. Differences are taken
#'       run by run. One of two tests must reject, their interval (as in [dpts_compare()]) or Wilcoxon's
#'       signed ranks (not used where half of the differences are one number), each at a level of
#'       (1 - `level`) / 2, divided by the number of other candidates. So the probability that the truly best
#'       candidate is called worse is about 1 - `level` at most;
#'     - `"tied"`: not significantly more;
#'     - `"unsure"`: not significantly more, but the mean may be far off. There is only one run, or more than
#'       1% of the runs fail (`failures`), or its mean or that of the best has no interval, or more than half
#'       of the differences from the best, and all but at most two, are one number;
#'   * `q95`, `worst`: 95% quantile and maximum of the regret of a run; in a panel, of its mean over the
#'     problems;
#'   * `failures`: share of runs, on any one problem, whose regret is more than 5 times the policy's median;
#'   * `runs`: number of runs, smaller than `runs` of the call if the race stopped the candidate;
#'   * `rounds`: number of rounds that `regret` is of: the horizon, or fewer if the candidate left the race in
#'     its first rounds. Such candidates come last, and have no interval.
#'
#'   [recommended_policy()] gives the policies themselves. Known candidates that cannot meet the budget or
#'   need a longer horizon are left out; [summary()][summary.dpts_recommendation] lists them with the
#'   reason, and so does the print.
#' @section Errors:
#' A budget that no candidate meets raises an error of class `dpts_error_budget`, a horizon too
#' short for first batches one of class `dpts_error_horizon`.
#' @template sajed
#' @template dong
#' @seealso [recommended_policy()] gives the policy itself, [dpts_tune()] its settings, [dpts_plan()] the
#'   power of a design.
#' @concept privacy
#' @concept choice of a policy
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
  if (goal == "verdict") for (problem in problems) check_steady(problem, "arms")
  if (goal != "regret" && !is.null(checkpoint)) abort_arg("checkpoint", "NULL for this `goal`")
  check_flag(progress)
  begin_stages(progress)
  error <- signif(1 - level, 12)
  coins <- vapply(problems, are_coins, NA)
  strata <- strata_in(problems[[1]])
  chosen <- candidate_policies(candidates, budget, horizon, n_arms(problems[[1]]) / strata, prefer, goal,
                               error, progress, if (all(coins %in% TRUE)) "binary" else "continuous",
                               problems[[1]]$contexts)
  if (strata > 1 && is.null(candidates)) chosen <- with_strata(chosen, goal)
  policies <- chosen$policies
  if (goal != "regret") check_tossed(policies, problems[[1]], "candidates")
  setup <- list(budget = budget, horizon = horizon, arms = problems, panel = is.null(arms), goal = goal,
                runs = length(runs), seed = seed, delay = delay, batch = batch)

  named <- stats::setNames(problems, paste("problem", seq_along(problems)))
  if (goal == "effect") {
    plan <- dpts_plan(policies, named, error = error, delay = delay, batch = batch, runs = I(runs),
                      seed = seed, power = EFFECT_POWER, limit = horizon, threads = threads,
                      progress = progress)
    return(recommend_effect(plan, policies, level, setup, chosen$dropped))
  }
  play <- function(policies, runs, rounds = horizon) {
    if (goal == "verdict") return(race_people(policies, named, setup, error, runs, threads, progress))
    race_regret(rounds, policies, named, setup, runs, threads, progress, checkpoint)
  }
  regret <- run_race(policies, runs, play, if (race) level, most_to_lose(setup),
                     if (goal == "regret") first_stretch(policies, problems, horizon, delay))
  new_recommendation(regret, policies, level, setup, chosen$dropped)
}

# What candidates are ranked by, for each run, policy and problem. One call plays all problems, so that
# parallel workers share all of the work.
#
# The people until a verdict
race_people <- function(policies, problems, setup, error, runs, threads, progress) {
  found <- dpts_identify(problems, policies, error, limit = setup$horizon, runs = I(runs), seed = setup$seed,
                         threads = threads, progress = progress, delay = setup$delay, batch = setup$batch)
  array(ifelse(is.na(found$people), setup$horizon, found$people),
        c(length(runs), length(policies), length(problems)))
}

# The regret after so many rounds
race_regret <- function(rounds, policies, problems, setup, runs, threads, progress, checkpoint) {
  horizon <- setup$horizon
  sim <- if (rounds < horizon) {
    simulate_begun(problems, policies, rounds, horizon, progress, runs = runs, seed = setup$seed,
                   record = rounds, threads = threads, delay = as.integer(pmin(setup$delay, rounds)),
                   batch = min(setup$batch, rounds))
  } else {
    dpts_simulate(problems, policies, horizon, runs = I(runs), seed = setup$seed, record = I(horizon),
                  threads = threads, progress = progress, delay = setup$delay, batch = setup$batch,
                  checkpoint = checkpoint)
  }
  array(sim$regret, c(length(runs), length(policies), length(problems)))
}

# Known candidates that can be played in strata, and from which something is concluded there: some for each
# goal and each kind of budget
with_strata <- function(chosen, goal) {
  why <- unlist(lapply(chosen$policies, function(policy) {
    no_strata(policy) %||% if (goal != "regret") untossed(policy)
  }))
  out <- names(chosen$policies) %in% names(why)
  list(policies = chosen$policies[!out],
       dropped = c(chosen$dropped, vapply(why, function(because) paste("in strata: it", because), "")))
}

# Play candidates in stages of more and more runs. After each, a candidate leaves that is surely worse than
# the best so far by half: the interval of its regret less 1.5 times the best's, run by run and over all
# problems, lies above 0, at 1 - level shared between candidates and stages.
#
# The factor is 1.5 because regret is not normal: a policy that fails in one run of fifty has less regret in
# the first runs than in truth. DP-IMED at epsilon = 0.25 (T = 1e5, five arms) has a tenth more regret than
# DP-KLUCB; by Student's t, against 1 times its regret DP-KLUCB left in 22% of races at a level of 0.95,
# against 1.25 times in 5%, and against 1.5 times in 0.3%.
# `play`: A function of policies and runs that gives their regret: an array, runs x policies x problems; with
# `rounds`, after so many.
# `level`: NULL for no race. `high`: the largest mean that a candidate can have.
# `stretch`: of first_stretch().
# Returns this array for all candidates and runs; NA where a candidate had stopped. Its attribute `rounds` is
# the round that the regret of each candidate is of, NA for the horizon.
run_race <- function(policies, runs, play, level, high = Inf, stretch = NULL) {
  ends <- if (is.null(level)) length(runs) else
    unique(pmin(ceiling(STAGE_RUNS * STAGE_GROWTH^(0:50)), length(runs)))
  if (is.null(level) || length(policies) == 1) stretch <- NULL
  each <- (1 - level) / (length(ends) - 1 + !is.null(stretch))
  early <- if (!is.null(stretch)) leave_early(policies, runs, play, each, high, stretch)
  regret <- early$regret
  playing <- setdiff(seq_along(policies), which(!is.na(early$rounds)))
  for (stage in seq_along(ends)) {
    new <- seq(if (stage == 1) 1 else ends[stage - 1] + 1, ends[stage])
    todo <- setdiff(playing, early$first)
    if (length(todo)) {
      part <- play(policies[todo], runs[new])
      if (is.null(regret)) regret <- empty_regret(policies, runs, part)
      regret[new, todo, ] <- part
    }
    if (stage == length(ends) || length(playing) == 1) next
    by_run <- over_problems(regret[seq_len(ends[stage]), playing, , drop = FALSE])
    gap <- by_run - WORSE_BY * by_run[, which.min(colMeans(by_run))]
    alpha <- each / (length(policies) - 1)
    behind <- mean_interval(stats_by_column(gap), 1 - 2 * alpha, -WORSE_BY * high, high)$lower > 0
    playing <- playing[!(behind %in% TRUE)]
  }
  structure(regret, rounds = early$rounds)
}

# The first rounds of a long race. Regret only grows: a candidate leaves whose regret there is surely above
# 1.5 times all the regret of the one that has the least there, which plays all its runs. The best candidate
# leaves only if its own lower bound fails, or the upper bound of one of the others: half of `level` is for
# the former, and the latter share half.
# Returns list(regret, the array; first, the number of the candidate with the least; rounds, for each
# candidate NA or the round of its regret, where it left).
leave_early <- function(policies, runs, play, level, high, stretch) {
  few <- seq_len(min(STRETCH_RUNS, length(runs)))
  begun <- which(stretch$pulls <= stretch$rounds)
  part <- play(policies[begun], runs[few], stretch$rounds)
  by_run <- over_problems(part)
  first <- begun[which.min(colMeans(by_run))]
  all <- play(policies[first], runs)
  regret <- empty_regret(policies, runs, all)
  shared <- level / (length(policies) - 1)
  most <- WORSE_BY * mean_interval(stats_by_column(over_problems(all)), 1 - shared, 0, high)$upper
  least <- rowMeans(stretch$certain)
  sampled <- mean_interval(stats_by_column(by_run), 1 - level, 0, high)$lower
  least[begun] <- pmax(least[begun], sampled, na.rm = TRUE)
  left <- (least > most) %in% TRUE & seq_along(policies) != first
  for (i in which(left)) {
    regret[few, i, ] <- if (i %in% begun) part[, match(i, begun), ] else
      rep(stretch$certain[i, ], each = length(few))
  }
  regret[, first, ] <- all
  list(regret = regret, first = first, rounds = ifelse(left, pmax(stretch$rounds, stretch$pulls), NA))
}

# The first rounds of a race, where they are few against the horizon and regret cannot fall: `rounds`, how
# many; for each policy `pulls`, with how many rounds it begins whatever comes, the same number for each arm,
# and `certain`, what these lose on each problem. NULL: none.
first_stretch <- function(policies, problems, horizon, delay) {
  if (horizon < LONG_RACE || is.function(delay) || any(vapply(problems, is_changing, NA))) return(NULL)
  each <- vapply(policies, `[[`, 0, "rounds_per_arm")
  pulls <- each * n_arms(problems[[1]])
  rounds <- ceiling(horizon / STRETCH)
  if (!any(pulls <= rounds)) return(NULL)
  gaps <- vapply(problems, function(arms) if (is.null(arms$world)) sum(arms$gap) else 0, 0)
  list(rounds = rounds, pulls = pulls, certain = outer(each, gaps))
}

empty_regret <- function(policies, runs, part) {
  array(NA_real_, c(length(runs), length(policies), dim(part)[3]), list(NULL, names(policies), NULL))
}

EFFECT_POWER <- 0.9
STAGE_RUNS <- 3 # with 5, races whose losers are slow take nearly twice as long, for the same standings
STAGE_GROWTH <- 1.5
# bench/recommend.R measures what the first rounds save; in a twentieth of the horizon fewer candidates leave.
LONG_RACE <- 1e5
STRETCH <- 10
STRETCH_RUNS <- 3

# ---- problems -------------------------------------------------------------------------

check_problems <- function(arms, k) {
  if (is.null(arms)) {
    if (is.null(k)) abort_arg("k", "given, the number of arms, when `arms` is NULL")
    return(standard_panel(check_count(k, 2, 1e6)))
  }
  problems <- if (inherits(arms, "dpts_arms")) list(arms) else arms
  ok <- is.list(problems) && length(problems) > 0 && all(vapply(problems, inherits, NA, "dpts_arms"))
  if (!ok) {
    abort_arg("arms", "made by one of the `arms_*()` functions, a list of such, or NULL with `k`", arms,
              hint = if (is.numeric(arms)) "Was the horizon meant? It is named: `horizon = 1e4`.")
  }
  sizes <- vapply(problems, n_arms, 0L)
  if (length(unique(sizes)) > 1 || (!is.null(k) && check_count(k) != sizes[1])) {
    wanted <- k %||% sizes[1]
    abort_input("arms", "`arms` must have %s arms in every problem, not %s.", number_text(wanted),
                number_text(sizes[sizes != wanted][1]))
  }
  if (sizes[1] < 2) abort_arg("arms", "a problem with at least two arms")
  if (length(unique(lapply(problems, function(problem) problem$world$names))) > 1) {
    abort_arg("arms", "problems with the same strata, or all without")
  }
  problems
}

# The standard instances for k arms
#
# The position of the best arm differs between problems: otherwise policies that start with the first arm,
# or prefer it in ties, would gain from that.
standard_panel <- function(k) {
  fall <- seq(0, 1, length.out = k)
  rest <- function(best, other) c(best, rep(other, k - 1))
  panel <- list(
    # Sajed and Sheffet (2019), for k = 5 exactly theirs
    close = rest(0.75, 0.70),
    linear = 0.75 - 0.5 * fall,
    convex = 0.25 + 0.5 * (1 - fall)^2,
    concave = 0.75 - 0.5 * fall^2,
    # two hard problems of this package
    small_gap = rest(0.52, 0.50),
    rare = rest(0.05, 0.03)
  )
  places <- ((seq_along(panel) - 1) * k) %/% length(panel)
  Map(function(means, place) {
    arms_bernoulli(means[(seq_len(k) - 1 - place) %% k + 1])
  }, panel, places)
}
