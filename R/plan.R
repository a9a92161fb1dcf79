#' Plan a trial or a test
#'
#' `dpts_plan()` compares designs of an experiment by simulation before it begins. For each design (a policy),
#' scenario (arms) and number of people it estimates power, failures, false claims, and the width and coverage
#' of intervals. Use it to choose a design and a sample size; without `people` it finds the number that is
#' needed. It is for experiments of fixed size. For one that stops at a verdict use [dpts_identify()]; for the
#' regret of a policy, [dpts_simulate()].
#'
#' @details
#' Quick start, for 80% power to detect 0.5 against 0.6:
#'
#' ```
#' arms <- arms_bernoulli(c(a = 0.5, b = 0.6))
#' dpts_plan(policy_randomised(mu = 0.5, block = 1e9), arms, power = 0.8, seed = 1)
#' ```
#'
#' When the last person has been assigned, the plan waits for all rewards that are still out, and then the
#' open blocks are released once. So a fixed size with one final release is a design whose block is never
#' full: `policy_randomised(mu = 0.5, block = 1e9)` for equal allocation with privacy, and
#' `policy_randomised(block = 1e9)` or [policy_uniform()] without. Equal allocation with interim looks has
#' smaller blocks.
#'
#' Random numbers are keyed as in [dpts_simulate()], and designs share those of rewards.
#'
#' @section Claims:
#' With a `control` each other arm may be claimed to be better than the control. Without one an arm may be
#' claimed to be better than all others. A claim has the one-sided level `error` / (k - 1) with a control and
#' `error` / k without, so that the family-wise error rate is at most `error`.
#'
#' **Designs that randomise** are tested once, at the end, by a z-test of the average difference over all
#' people. A stratum is a sequence of blocks with the same probabilities. Stratum g has n_g of the n people,
#' a difference D_g of two arms' means, and its variance V_g, which includes the noise. (Variances of rewards
#' are those of rewards of 0 or 1, unless squares are released.) The estimate is D = sum of n_g D_g / n, and
#' Z is D over its standard error, the root of the sum of n_g^2 V_g, divided by n. A stratum in which one of
#' two arms got nobody by chance counts as no difference, with the largest variance of one reward for this
#' arm. Blocks in which one of two arms was paused do not count for these two, nor do their people. With
#' Laplace noise, thresholds and intervals use the quantiles of a normal variable plus Laplace noise.
#'
#' * If the probabilities never change there is one stratum. The level then holds under any drift, up to the
#'   normal approximation of sums of rewards.
#' * **If the probabilities depend on what was released** there are several strata, and variances of later
#'   ones depend on earlier ones. A claim then also needs that the sum of sqrt(n_g / n) D_g / sqrt(V_g) is
#'   above the threshold. If there is never a difference, this sum is nearly standard normal under any drift.
#'   If there are differences that average to 0, the level is that of Z, which is an approximation, as are the
#'   intervals: at 5%, between 5 and 6% of claims were false among rates that change in opposite directions.
#'   The columns of `summary()`, by evidence, hold exactly. With few people for an arm in each of many strata
#'   intervals may cover less than they should: see the column `coverage`.
#'
#' **Other designs** that release sums are tested by [evidence()], at any look, for means that do not change.
#' No z-test is valid for them: they assign in blocks of one arm, so the arm is confounded with time.
#'
#' [summary()][summary.dpts_plan] has the numbers by evidence for all designs: those of an experiment that you
#' may look at, and stop, at every release.
#'
#' @section Non-inferiority and equivalence:
#' With `margin = 0.05` a claim says that an arm is not worse by 5% of the range of the rewards or more: than
#' the control (**non-inferiority**), or, without a control, than any other arm. `power` is then how often
#' this is claimed of the best arm other than the control, which may be no better than the control, and
#' `false_claims` how often it is claimed of an arm that is worse by the margin or more. `equivalent` is how
#' often all intervals lie between -`margin` and `margin`: two arms are then shown to be **equivalent**.
#' [effects()] with this `margin`, times the range of the rewards, and `at = "end"` makes the analysis.
#'
#' @section Strata:
#' Scenarios of [arms_strata()] are planned as an agent with `strata` is analysed, by [effects()] with
#' `at = "end"`: arms are compared within each stratum, and the differences are weighed by the people of the
#' strata. (A sequence of blocks with the same probabilities, above, is then one of blocks of the same
#' stratum.) Designs must randomise, because evidence by means is not valid where means differ between
#' strata. A claim is false if it is wrong about the people who came. Looks, guards and evidence wait until
#' each stratum has released something new (see Strata and sites in [evidence()]).
#'
#' With `by = "stratum"` each stratum is analysed by itself, as by [effects()] with the same `by`: there is a
#' row for each, in a column `stratum`. Each has the family-wise error rate `error` over the number of strata,
#' so that all claims together have `error`. Without `people` the number is found at which each stratum in
#' which there is a difference has its `power`. `people` and `longest_run` are of the whole experiment,
#' `counted` is the mean number of people in the stratum, and all other columns are of this stratum.
#'
#' People who come again stay in their stratum. A guard reads the blocks of all strata, and pauses an arm in
#' all of them. An arm is worse by more than the guard if it is so on average over the strata, by their
#' shares. A forecast is of all strata, too, so that `futility` is refused with `by = "stratum"`.
#'
#' @section People who come again:
#' With `visits = c(5, 60)` people come in groups of 60, each person five times: all 60 in turn, and so again,
#' so that two visits of a person are 60 visits apart. Then the next group comes. With `visits = 5` all people
#' are one group. `delay`, `batch` and the blocks of a policy are in visits, and failures and shares are of
#' all visits. Rewards of a person are drawn independently; a person whose rewards are alike adds less power
#' with each visit.
#'
#' Without `max_per_person` each visit counts, and several rewards of a person may be in one release: the
#' guarantee is that of a group. With `max_per_person` = m visits count as in [dpts_agent()]: at most m of a
#' person; and for policies that keep a person's rewards in different releases ([privacy_group()] with
#' `apart = TRUE`), not while a batch with a reward of the person is open, or such a reward is not in. Then mu
#' becomes mu sqrt(m). A visit that does not count gets an arm, and nothing is learned from it.
#'
#' The plan prints the guarantee for a person and for a reward. What a cap costs is seen in `counted` and in
#' the power: compare plans with other caps, and for each cap the mu that gives a person the same guarantee.
#'
#' @section Other outcomes:
#' With `outcomes = list(harm = agent_outcome(mu = 0.2, guard = 0.02, missing = 1))` and
#' `rates = list(harm = c(0.05, 0.1))` each person has a harm, too, of 0 or 1 (or the ends of its range), and
#' each block releases its sums with noise of their own. After each release the guard looks, with the code of
#' an agent: an arm that is proved to be worse than the policy's `control` by more than the guard is paused,
#' nobody gets it from then on, and the other columns are of the experiment with such pauses. Such an arm is
#' compared by the people before its pause, and claims and intervals are held to the truth of all people.
#' Where means change these differ: an arm that is .5 better until it is paused and .5 worse in the second
#' half of the people was claimed in 96% of runs. A guard on an outcome that goes with the reward also stops
#' the comparison by what the rewards show. With a harm of 1 - reward, 0.4 against 0.55 and a guard of 0.02,
#' intervals of 95% held in 92% of 1,000 runs; with a correlation of -0.5, in 94%. With equal arms and
#' `error = 0.3` of the guard, 8.7% of claims at 5% were false, and 5.5% with 0.05. The designs must be
#' [policy_randomised()]. A `deadline` is not simulated: an outcome is released with the reward.
#'
#' @section People who never answer:
#' With `dropout = c(0, 0.1)` a tenth of the second arm's people never answer. Their reward counts as
#' `missing`, and each other outcome as its own `missing`. The truth that claims and intervals are held to is
#' that of all people, with the answers that they would have given: so the plan shows what it costs to count
#' them so.
#'
#' @section Delays and time:
#' With a `deadline` rewards are used as an agent with `use = "deadline"` uses them: at the deadline, whether
#' and whenever they came. A person whose answer comes just then or later, by the `delay` of the arm, counts
#' as one who never answers. `delay = list(0, c(10, 30, 80))` with `deadline = 60` are two arms, the second
#' with a third of late answers. Without a deadline all arms have the same delays. A block is then released
#' when its last reward is in, so plan with the delays of the slowest arm.
#'
#' With `accrual = c(20, 40, 60)` 20 people come in the first month (or any other unit of time), 40 in the
#' second and 60 in each later one, evenly within it. `delay` and `deadline` are then in months: while more
#' people come, more are randomised before an answer is known. The column `time` says when the last answer is
#' in. Blocks that end by the clock (`block_time` of [dpts_agent()]) are planned as blocks of the people who
#' come in that time: with this accrual `block = c(20, 40, 60)` of [policy_randomised()] are monthly blocks.
#'
#' @section Futility:
#' With `futility = 0.05` a design that randomises looks after each release at the forecast of a [verdict()]
#' at this `error` and `margin` by the planned number of people, from 100 futures. The first time that it is
#' below 5% the experiment would stop, and nothing is claimed then. In strata the first look is when each
#' stratum has released sums of all arms. So with blocks that are too large for a stratum the experiment never
#' stops. Runs are played to their end all the same: `power`, `failures` and all columns but the last three
#' are those of the experiment that does not stop, so that power lost and people saved are seen in the same
#' runs. **The forecast is of a verdict, and not of the z-test at the end**, which has more power, so an
#' experiment may stop although the z-test would have had a fair chance. With `control`, too, the verdict is
#' among all arms: that the control is the best, or with a `margin` not worse than any other, is one, and the
#' experiment goes on to it. With 0.45 against 0.6, mu = 1, blocks of 100 and 600 people, `futility = 0.05`
#' stopped 15% of 200 runs and took the power from 96% to 84%; 0.2 stopped 30% and took it to 70%. So keep it
#' low, and compare `power_stopped` with `power`. A forecast takes about a hundredth of a second.
#'
#' @section Looks of a board:
#' With `looks = c(1/3, 2/3)` the planned analysis is made three times: as soon as sums of a third, of two
#' thirds, and of all people are released. The first time that an arm is claimed the experiment stops. This is
#' a group sequential design. The error is spent as people come (Lan and DeMets 1983). Of a one-sided level a,
#' the part that is spent until a share t of the people is 2 (1 - Phi(z / sqrt(t))), with z the 1 - a / 2
#' quantile of the normal distribution, for `spending = "obrien_fleming"`. For `"pocock"` it is
#' a ln(1 + (e - 1) t). So a look need not be at exactly the number of people that was planned. Critical
#' values are found by numerical integration (Armitage, McPherson and Rowe 1969) for sums with independent
#' increments. Where later blocks are smaller than earlier ones, noise grows faster than people, and looks are
#' less correlated: critical values are then larger, by a bound on the correlation. Such sums need
#' **probabilities that never change**: the designs must be [policy_randomised()] with `rule = "equal"`, and
#' no guard may pause an arm. Other designs are refused; [verdict()] and [effects()] allow them any number of
#' looks.
#'
#' `power`, `false_claims`, `coverage` and `width` are those of the analysis at which the experiment ends,
#' with repeated confidence intervals (Jennison and Turnbull 1989). The other columns are of all people. All
#' are held to the truth of all people: where the difference drifts, a claim that is right about the people so
#' far counts as false if it is wrong about all.
#' [effects()] with `at = "end"` makes the same analysis of an agent, a simulation or a release table.
#'
#' @section The number of people:
#' Without `people`, each design gets for each scenario with a difference to detect a number at which its
#' `power` is reached in these runs, found by bisection to about 2%. Power does not rise with each person: a
#' last block of few people adds noise, so that a smaller number may do, too. A scenario without a difference
#' gets the largest of these. It is `NA`, and so is the rest of the row, where `limit` people are not enough.
#'
#' @param designs The designs to compare: a policy, or a named list of them.
#' @param scenarios What may be true: a problem, or a named list of problems with the same arms, such as the
#'   expected effect, a null (equal means) and a null that drifts ([arms_drift()]). Rewards have a finite
#'   range.
#' @param people Number of people in the experiment: whole numbers, or `NULL` to find them. A run has at most
#'   1e9 people, or visits of all of them.
#' @param control An arm, by name or number, with which the others are compared; `NULL`: all with all.
#' @param error Family-wise error rate: the probability that anything false is claimed, a number in (0, 1).
#' @param margin The difference that does not matter, as a share of the range of the rewards: a number in
#'   \[0, 1). See Non-inferiority and equivalence.
#' @param delay,batch How late rewards come, as in [dpts_simulate()]. With a `deadline` also a list with the
#'   delays of each arm, from which each person's is drawn. In units of time with `accrual`.
#' @param deadline How long a reward is waited for, in people who come in the meantime, or in units of time
#'   with `accrual`: a number above 0. One that comes just then is late, as with an agent. `NULL`: until it
#'   comes. See Delays and time.
#' @param accrual How many people come in each unit of time: numbers, the last one for all units that follow.
#'   `NULL`: time is counted in people.
#' @param by `"stratum"`: claims and intervals for each stratum by itself; see Strata. `NULL`: over all
#'   people.
#' @param visits How often each person comes: a whole number, or two of them, how often and how many visits
#'   apart; see People who come again.
#' @param max_per_person Maximum number of visits of a person that count: a whole number, or `NULL` for all.
#' @param outcomes Other outcomes of the same people: a named list of [agent_outcome()]; see Other outcomes.
#' @param rates The true means of these outcomes: a list with their names. Each is a number for each arm (or
#'   for each arm of the first stratum, then of the next, and so on), or a matrix of these with a row for each
#'   scenario, by its name.
#' @param correlation The correlation of the reward and an outcome within an arm, for rewards of 0 and 1: a
#'   number in \[-1, 1].
#' @param dropout The share of people who never answer: a number in \[0, 1] for each arm, or one for all.
#' @param missing The reward that a person without an answer counts as: a number in the range of the rewards.
#'   `NULL`: the lowest.
#' @param futility The experiment would stop when the [forecast()] of a verdict by the planned number of
#'   people is below this: a number in (0, 1). `NULL`: it does not stop.
#' @param looks The shares of the people at which a board analyses the experiment before its end: increasing
#'   numbers in (0, 1). `NULL`: only at the end, as where `by` is given. See Looks of a board.
#' @param spending How the error is spent over these looks: `"obrien_fleming"` spends little early,
#'   `"pocock"` about the same at each look.
#' @inheritParams dpts_simulate
#' @param power Power to reach where `people` is `NULL`: a number in (0, 1).
#' @param limit Maximum number of people that is tried where `people` is `NULL`.
#' @returns A tibble of class `dpts_plan`, one row for each design, scenario and number of people, with means
#'   over runs:
#'   * `design`, `scenario`: factors, and with `by` `stratum`; `people`; `counted`: visits that count (where
#'     people come again), or people in the stratum (with `by`);
#'   * `time` (with `accrual`): when the last person's answer is in;
#'   * `failures`: people less the means of the arms that they got (of arms that change: less their rewards),
#'     scaled to \[0, 1\];
#'   * `best`: share of runs in which the selected arm is truly best, by its mean over all people. The
#'     selected arm is that of the policy's own verdict, otherwise the one with the largest sum of strata
#'     against each other arm, otherwise (without a z-test) the one with the highest estimate;
#'   * `power`: share of runs in which the best arm is claimed; `NA` where no arm is better than the control
#'     (or than all others), or the design has no test;
#'   * `false_claims`: share of runs in which an arm is claimed that is not better;
#'   * `coverage`, `width`: of intervals for the differences to the control (or between all arms) that hold
#'     jointly with probability 1 - `error`: how often they all do, and their mean width, in units of reward;
#'   * `equivalent` (with a `margin`): share of runs in which all these intervals lie within the margin;
#'   * `longest_run`: the longest run of people in a row who get the same arm;
#'   * `paused`, `false_alarms` (with a guard): share of runs in which an arm is paused that is worse than the
#'     control by more than the guard (`NA`: there is none), and in which another one is;
#'   * `stopped`, `mean_people`, `power_stopped` (with `futility`): share of runs that would stop for
#'     futility, the mean number of people if they do, and the power that remains;
#'   * `stopped`, `mean_people` (with `looks`): share of runs that stop with a claim before the end, and the
#'     mean number of people of whom sums were released when the experiment stops. (With late rewards more
#'     people have been randomised by then.)
#'
#'   [summary()][summary.dpts_plan] has shares of arms and the claims by evidence;
#'   [autoplot()][autoplot.dpts_plan] draws power and failures; [privacy_statement()] puts the guarantees of
#'   the designs into words.
#' @references Bauer, P. and Koehne, K. (1994). Evaluation of Experiments with Adaptive Interim Analyses.
#' Biometrics 50, 1029-1041. On combining blocks.
#'
#' @template ref_looks
#' @seealso [policy_randomised()] is the design, [dpts_identify()] counts people until a verdict,
#'   [effects()] analyses the data.
#' @concept simulation
#' @concept sample size
#' @concept statistical power
#' @concept group sequential design
#' @concept response-adaptive randomisation
#' @concept A/B/n test
#' @examples
#' plan <- dpts_plan(
#'   list(fixed = policy_uniform(), private = policy_randomised(mu = 0.5, block = 1e9),
#'        looks = policy_randomised(mu = 0.5)),
#'   list(hope = arms_bernoulli(c(a = 0.5, b = 0.6)), null = arms_bernoulli(c(a = 0.5, b = 0.5))),
#'   people = 600, runs = 50, seed = 1
#' )
#' plan
#' summary(plan)
#'
#' # A board looks after a third and two thirds of the people
#' dpts_plan(policy_randomised(mu = 0.5, block = 100), arms_bernoulli(c(0.5, 0.65)), 600,
#'           looks = c(1/3, 2/3), runs = 200, seed = 1)
#'
#' # Is b no worse than a by 10 percentage points?
#' dpts_plan(policy_randomised(mu = 0.5, block = 1e9), arms_bernoulli(c(a = 0.5, b = 0.5)), 800,
#'           control = "a", margin = 0.1, runs = 200, seed = 1)
#'
#' # 20 people in the first month, 60 in later ones; answers within two months count
#' dpts_plan(policy_randomised(mu = 0.5), arms_bernoulli(c(0.4, 0.6)), 400, accrual = c(20, 60),
#'           delay = list(c(0.5, 1), c(1, 3)), deadline = 2, runs = 50, seed = 1)
#'
#' # 100 people who come three times: what does a person's guarantee cost?
#' dpts_plan(policy_randomised(mu = 0.5), arms_bernoulli(c(0.4, 0.6)), 100, visits = 3,
#'           max_per_person = 2, runs = 50, seed = 1)
#'
#' # A guard against harm, and people who never answer
#' watched <- dpts_plan(
#'   policy_randomised(mu = 1, control = 1), arms_bernoulli(c(a = 0.4, b = 0.6)),
#'   people = 1500, control = "a",
#'   outcomes = list(harm = agent_outcome(mu = 1, guard = 0.05, missing = 1)),
#'   rates = list(harm = c(0.1, 0.4)), correlation = -0.2, dropout = 0.05, runs = 50, seed = 1
#' )
#' watched
#' summary(watched)
#' @export
dpts_plan <- function(designs, scenarios, people = NULL, ..., control = NULL, error = 0.05, margin = 0,
                      runs = 500, seed = NULL, threads = getOption("dpts.threads", 1L),
                      progress = interactive(), checkpoint = NULL, delay = 0, batch = 1, by = NULL,
                      power = 0.9, limit = 1e5, visits = 1, max_per_person = NULL, outcomes = NULL,
                      rates = NULL, correlation = 0, dropout = 0, missing = NULL, futility = NULL,
                      deadline = NULL, accrual = NULL, looks = NULL,
                      spending = c("obrien_fleming", "pocock")) {
  check_dots_empty(...)
  check_all_given()
  designs <- check_policies(designs)
  problems <- check_scenarios(scenarios)
  control <- control_arm(control, labels_within(problems[[1]]))
  error <- check_number(error, 0, 1, open = TRUE)
  margin <- check_number(margin, 0, 1, open = c(FALSE, TRUE))
  power <- check_number(power, 0, 1, open = TRUE)
  limit <- check_count(limit, n_arms(problems[[1]]), 1e8)
  if (!is.null(people)) people <- sort(unique(check_counts(people, upper = MOST_VISITS)))
  visits <- check_visits(visits, max_per_person)
  if (max(people, 1) * visits$number > MOST_VISITS) {
    abort_input("visits", "`visits` must be at most %s of all people together.", number_text(MOST_VISITS))
  }
  most <- max(people, if (is.null(people)) limit) * visits$number
  check_playable(designs, problems, min(people, limit), most, visits)
  strata <- strata_in(problems[[1]])
  check_by(by, problems[[1]])
  inform_coins(designs, problems)
  k <- n_arms(problems[[1]]) / strata
  cells <- if (is.null(people)) 1 else length(designs) * length(problems) * length(people)
  check_plan_size(runs, cells, k, strata, if (is.null(by)) 1 else strata, length(looks))
  runs <- check_runs(runs)
  threads <- check_count(threads, 1, 1024)
  check_flag(progress)
  check_checkpoint(checkpoint, seed)
  seed <- check_seed(seed)
  batch <- check_count(batch)
  timing <- check_timing(delay, deadline, accrual, k, strata, comes_again(visits))
  if (is.null(timing)) delay <- check_delay(delay, most)
  begin_stages(progress)
  for (design in designs) outcomes <- check_outcomes(outcomes, design, 0)
  answers <- list(outcomes = outcomes, rates = check_rates(rates, outcomes, names(problems), k, strata),
                  correlation = check_number(correlation, -1, 1),
                  dropout = 1 - (1 - rep(check_dropout(dropout, k), strata)) * (1 - timing$silent %||% 0),
                  missing = missing, futility = check_futility(futility, visits, by))
  if (is.null(outcomes) && correlation != 0) abort_arg("correlation", "0 without `outcomes`", correlation)
  if (all(answers$dropout == 0) && !is.null(missing)) {
    abort_arg("missing", "NULL where all answer in time (no `dropout`, no `deadline`)", missing)
  }
  problems_answer(answers, problems) # an error before any work
  spending <- check_choice(spending, SPENDING)
  looks <- check_looks(looks, spending)
  if (!is.null(looks)) check_looked_at(designs, outcomes, futility, comes_again(visits), by)
  ask <- list(error = error / if (is.null(by)) 1 else strata, margin = margin, control = control %||% 0,
              signs = 2, claims = k - !is.null(control), intervals = length(pairs_of(k, control)$arm),
              by_stratum = !is.null(by))
  begun <- FALSE
  play <- function(designs, at) {
    job <- plan_job(problems, designs, at, ask, runs, seed, threads, delay, batch, visits, answers, looks,
                    timing)
    job$grows <- begun
    begun <<- TRUE
    plan_cells(job, checkpoint, progress)
  }
  cells <- if (is.null(people)) find_people(play, designs, problems, power, limit) else
    play(designs, expand.grid(scenario = names(problems), people = people, stringsAsFactors = FALSE))
  new_plan(cells, designs, problems, c(list(
    control = control, error = error, delay = delay, batch = batch, runs = length(runs),
    visits = if (comes_again(visits)) visits, outcomes = outcomes,
    rates = if (!is.null(outcomes)) answers$rates, correlation = answers$correlation, futility = futility,
    by = by, looks = looks, dropout = if (any(dropout > 0)) check_dropout(dropout, k),
    missing = if (any(answers$dropout > 0)) missing, margin = if (margin > 0) margin, timing = timing
  ), if (is.null(people)) list(power = power)), seed)
}

# All people and visits of a run are played one by one.
MOST_VISITS <- 1e9

# What is kept of each run, as src/play_observer_trial.c has it, and once more when runs are joined
check_plan_size <- function(runs, cells, k, strata, parts, looks) {
  rows <- 3 + 3 * k * strata + parts * (k + 6 * k^2) + looks * (3 + 5 * k^2)
  n <- how_many(runs)
  if (!is.na(n)) check_memory(16 * rows * n * cells, "runs", sprintf(
    "leave results that fit into memory: %s for %s", count_noun(n, "run", "runs"),
    count_noun(cells, "row of the plan", "rows of the plan")))
}

# How often people come, how far apart (Inf: when all have come), and how many visits count at most (Inf: all)
check_visits <- function(visits, max_per_person) {
  visits <- check_counts(visits, upper = MOST_VISITS)
  if (length(visits) > 2) abort_arg("visits", "one number or two: how many visits, how far apart", visits)
  if (!is.null(max_per_person)) max_per_person <- check_count(max_per_person, 1, 1e6)
  list(number = visits[1], apart = c(visits, Inf)[2], most = max_per_person %||% Inf)
}

comes_again <- function(visits) visits$number > 1

# Does each visit count? `visits`: as visits_of() gives them
all_count <- function(visits) is.null(visits) || visits[4] >= visits[2]

check_again <- function(visits, problem) {
  if (!comes_again(visits)) return(invisible())
  if (!is.null(problem$contexts)) abort_arg("visits", "1 for arms with contexts")
}

check_by <- function(by, problem) {
  if (is.null(by)) return(invisible())
  check_choice(by, "stratum")
  if (strata_in(problem) == 1) abort_arg("by", "NULL for arms without strata", by)
}

check_futility <- function(futility, visits, by) {
  if (is.null(futility)) return(NULL)
  futility <- check_number(futility, 0, 1, open = TRUE)
  if (comes_again(visits)) abort_arg("futility", "NULL where people come again")
  if (!is.null(by)) abort_arg("futility", "NULL with `by`: a forecast is of a verdict on all strata")
  futility
}

# What src/play_answers.c reads of each scenario
problems_answer <- function(answers, problems) {
  lapply(stats::setNames(nm = names(problems)), function(scenario) {
    arms <- problems[[scenario]]
    if (is.null(answers)) return(NULL)
    missing <- in_units(check_number(answers$missing %||% arms$range[1], arms$range[1], arms$range[2],
                                     arg = "missing"), arms$range)
    answers_of(arms, answers$rates[[scenario]], answers$outcomes, answers$correlation, answers$dropout,
               missing, answers$futility)
  })
}

# The visits of so many people, as src/play_visits.h has them
visits_of <- function(visits, people) {
  if (comes_again(visits)) c(people, visits$number, min(visits$apart, people), visits$most)
}

# Can all designs be played in all problems, by so many people with their visits?
check_playable <- function(designs, problems, people, most, visits) {
  for (problem in problems) {
    check_horizon(designs, n_arms(problem), people, "people")
    check_fit(designs, n_arms(problem), problem$contexts, "`scenarios`", strata_in(problem), "designs")
    check_tossed(designs, problem, "designs")
    check_recorded(problem, most)
    check_again(visits, problem)
  }
}

# Named problems with the same arms, in a range
check_scenarios <- function(scenarios) {
  problems <- check_problem_list(scenarios, "scenarios")
  if (inherits(scenarios, "dpts_arms")) names(problems) <- "scenario"
  if (length(unique(lapply(problems, arm_labels))) > 1) {
    abort_arg("scenarios", "problems with the same arms")
  }
  for (problem in problems) {
    if (n_arms(problem) < 2) abort_arg("scenarios", "problems with at least two arms")
    if (inherits(problem$world, c("dpts_world_adversary", "dpts_world_compiled"))) {
      abort_arg("scenarios", "arms that have means, which those of an adversary have not")
    }
    if (!all(is.finite(problem$range))) {
      abort_arg("scenarios", "arms whose rewards have a finite range")
    }
  }
  problems
}

# ---- work -------------------------------------------------------------------------------------

# One job for all scenarios and numbers of people, each a problem of its own
# `at`: A data frame: scenario, people.
plan_job <- function(problems, designs, at, ask, runs, seed, threads, delay, batch,
                     visits = check_visits(1, NULL), answers = NULL, looks = NULL, timing = NULL) {
  answering <- problems_answer(answers, problems)
  made <- Map(function(scenario, people) {
    n <- people * visits$number
    if (!is.null(timing)) delay <- timing_delays(timing, n)
    problem <- new_problem(problems[[scenario]], horizon = n, delay = delay, batch = min(batch, n),
                           record = looks_people(looks, n), finish = 2)
    problem$visits <- visits_of(visits, people) # none where it is NULL
    problem$answers <- answering[[scenario]]
    if (!is.null(problem$answers)) problem[c("outcomes", "futility")] <- answers[c("outcomes", "futility")]
    problem
  }, at$scenario, at$people)
  names(made) <- paste(at$scenario, at$people)
  observers <- c("trial", observers_of_draws(problems))
  guarded <- any(vapply(answering, function(x) isTRUE(x$looks), NA))
  # The observer looks at every round: to take stretches apart for it costs more than to play them one by one.
  list(problems = made, at = at, policies = designs, runs = as.double(runs), seed = seed, threads = threads,
       engine = "plain", observers = observers, keeps = c(observed(observers), if (guarded) "looks"),
       ask = ask, timing = timing, look = if (guarded) looks_of, spending = looks$spending, name = "Planning")
}

# What each design comes to in each scenario: a list of cells, design by design
plan_cells <- function(job, checkpoint, progress) {
  joined <- join_chunks(job, play_job(job, simulate_chunk, checkpoint, progress))
  warn_means(job, joined)
  n <- length(job$policies)
  unlist(lapply(seq_len(n), function(i) {
    unlist(lapply(seq_along(job$problems), function(j) {
      at <- job$at[j, ]
      problem <- job$problems[[j]]
      strata <- if (job$ask$by_stratum) problem$arms$world$names
      lapply(seq_len(max(1, length(strata))), function(part) {
        c(list(design = names(job$policies)[i], scenario = at$scenario, people = at$people,
               time = if (is.null(job$timing$rate)) NA_real_ else timing_end(job$timing, at$people)),
          stratum = strata[part], plan_cell(joined[[(j - 1) * n + i]], job$policies[[i]], problem, job, part))
      })
    }), recursive = FALSE)
  }), recursive = FALSE)
}

# One cell: means over runs of what the observer "trial" has seen
# `joined`: matrices with a column for each run: `trial`, see src/play_observer_trial.c, and `looks` of
# looks_of()
# `part`: which stratum, where each is planned for by itself
plan_cell <- function(joined, policy, problem, job, part = 1) {
  seen <- joined$trial
  all <- n_arms(problem$arms) # in all strata
  strata <- strata_in(problem$arms)
  k <- all / strata
  control <- if (job$ask$control > 0) job$ask$control
  before <- 3 + 3 * all + (part - 1) * (k + 6 * k^2)
  own <- if (job$ask$by_stratum) (part - 1) * k + seq_len(k) else seq_len(all)
  by_law <- function(i) seen[before + k + (i - 1) * k^2 + seq_len(k^2), , drop = FALSE]
  pulls <- seen[3 + own, , drop = FALSE]
  counted <- seen[3 + all + own, , drop = FALSE]
  each <- true_means(problem$arms, problem$horizon, job$seed, job$runs)[own, , drop = FALSE]
  n <- colSums(pulls)
  truth <- over_strata(each, counted, k)
  got <- over_strata(pulls, NULL, k)
  gaps <- truth[rep(seq_len(k), k), , drop = FALSE] - truth[rep(seq_len(k), each = k), , drop = FALSE]
  margin <- job$ask$margin
  better <- beats(gaps + margin, 1e-12, control)
  best <- max.col(t(truth), "first")
  aimed <- best
  # With a margin the control may be the best arm, and another one is to be shown to be no worse.
  if (margin > 0 && !is.null(control)) aimed <- max.col(t(replace(truth, row(truth) == control, -1)), "first")
  tossed <- any(is.finite(by_law(2)))
  concludes <- is.null(no_evidence(policy))
  proved_at <- seen[before + seq_len(k), , drop = FALSE]
  proved <- is.finite(proved_at)
  gap <- gap_of_sums(policy)
  found <- if (!tossed) evidence_end(proved, by_law(1) / gap) else
    if (is.null(job$spending)) test_end(by_law, job$ask, gap, control) else
      looks_end(seen, before + k + k^2, problem, job, gap, control)
  claimed <- found$claimed
  hits <- plan_intervals(found$lower, found$upper, gaps, control, margin)
  # What is private and says nothing of means shows which arm it prefers.
  open <- promises_nothing(policy$guarantee) || concludes || is_true_of(policy, "reports")
  score <- if (tossed) over_rivals(by_law(4), NULL) else
    if (open) seen[3 + 2 * all + own, , drop = FALSE] else pulls
  score[is.na(score)] <- -Inf
  named <- ifelse(seen[3, ] > 0, seen[3, ], max.col(t(score), "first"))
  runs <- seq_along(best)
  provable <- better[cbind(aimed, runs)]
  can <- function(x) if (tossed || concludes) x else NA_real_ * x
  earned <- if (is_changing(problem$arms)) seen[1, ] else colSums(pulls * each)
  looked <- if (!is.null(job$spending)) found[PLAN_LOOKS$looks] else
    cell_looks(joined$looks, problem, policy, claimed[cbind(aimed, runs)])
  c(looked, list(
    failures = (if (job$ask$by_stratum) mean(n) else problem$horizon) - mean(earned),
    best = mean(truth[cbind(named, runs)] >= truth[cbind(best, runs)] - 1e-12),
    power = if (any(provable)) can(mean(claimed[cbind(aimed, runs)][provable])) else NA_real_,
    false_claims = can(mean(colSums(claimed & !better) > 0)), coverage = can(hits$coverage),
    equivalent = can(hits$equivalent), width = can(hits$width * diff(problem$arms$range)),
    longest_run = mean(seen[2, ]),
    provable = any(provable), counted = mean(colSums(counted)),
    test = if (tossed) "z-test" else if (concludes) "evidence" else NA_character_,
    share = rowMeans(got) / mean(n), sd = apply(got / rep(pmax(n, 1), each = k), 1, stats::sd),
    claimed = can(rowMeans(claimed)), proved = if (concludes) rowMeans(proved) else rep(NA_real_, k),
    proved_at = apply(proved_at, 1, stats::median, na.rm = TRUE) + if (concludes) 0 else NA
  ))
}

# What the live looks of a cell say. `looks`: NULL without other outcomes; `claimed`: was the aim, in a run?
cell_looks <- function(looks, problem, policy, claimed) {
  if (is.null(looks)) return(NULL)
  outcomes <- problem$outcomes
  arms <- problem$arms
  each_stratum <- matrix(problem$answers$rate, n_arms(arms), dimnames = list(NULL, names(outcomes)))
  rates <- vapply(names(outcomes), function(name) average_over_strata(each_stratum[, name], arms),
                  numeric(n_arms(arms) / strata_in(arms)))
  looks_cell(looks, problem$horizon, harmful_arms(rates, outcomes, policy$params$control), claimed)
}

# Of rows for each arm in each stratum, the sums over strata; with the numbers of people in these rows, the
# means over the people of all strata
over_strata <- function(x, pulls, k) {
  if (nrow(x) == k) return(x)
  add <- function(x, at) unname(rowsum(x, at))
  row <- seq_len(nrow(x)) - 1
  if (is.null(pulls)) return(add(x, row %% k))
  people <- add(pulls, row %/% k)
  add(x * people[row %/% k + 1, ], row %% k) / rep(colSums(people), each = k)
}

# The mean of each arm over all people, scaled to [0, 1]: a column for each run
true_means <- function(arms, people, seed, runs) {
  range <- arms$range
  if (!is_changing(arms)) return(matrix((arms$mean - range[1]) / diff(range), n_arms(arms), length(runs)))
  of <- function(run) colMeans((arm_means(arms, people, seed, run) - range[1]) / diff(range))
  first <- of(runs[1])
  if (length(runs) == 1 || identical(first, of(runs[2]))) return(matrix(first, length(first), length(runs)))
  vapply(runs, of, first)
}

# The least number of people with which each design has its power in each scenario
find_people <- function(play, designs, problems, power, limit) {
  cells <- function(design, scenario, n) {
    play(designs[design], data.frame(scenario = scenario, people = n, stringsAsFactors = FALSE))
  }
  unlist(lapply(names(designs), function(design) {
    least <- max(20, designs[[design]]$rounds_per_arm * n_arms(problems[[1]]))
    found <- lapply(stats::setNames(nm = names(problems)), function(scenario) {
      least_people(function(n) cells(design, scenario, n), least, power, limit)
    })
    nothing <- vapply(found, function(one) is.null(least_power(one)), NA)
    most <- max(0, unlist(lapply(found[!nothing], people_at)), na.rm = TRUE)
    found[nothing] <- lapply(names(found)[nothing], function(scenario) {
      if (most > 0) cells(design, scenario, most) else without_people(found[[scenario]])
    })
    unlist(unname(found), recursive = FALSE)
  }), recursive = FALSE)
}

# The least power of those cells of one number of people, one of each stratum or of all people, in which there
# is something to detect; NULL: in none
least_power <- function(cells) {
  power <- unlist(lapply(cells, function(cell) if (cell$provable) cell$power))
  if (length(power)) min(power)
}

people_at <- function(cells) cells[[1]]$people

# `at`: The cells of so many people, a function.
least_people <- function(at, least, power, limit) {
  low <- least
  reached <- at(low)
  if (is.null(least_power(reached))) return(reached)
  if (is.na(least_power(reached))) return(without_people(reached))
  while (least_power(reached) < power) {
    if (people_at(reached) >= limit) return(without_people(reached))
    low <- people_at(reached)
    reached <- at(min(2 * low, limit))
  }
  # Power grows about as the root of people does.
  while (people_at(reached) > low * 1.02 + 1) {
    now <- at(ceiling(sqrt(low * people_at(reached))))
    if (least_power(now) >= power) reached <- now else low <- people_at(now)
  }
  reached
}

without_people <- function(cells) {
  lapply(cells, function(cell) {
    cell[intersect(c(PLAN_NUMBERS, unlist(PLAN_LOOKS)), names(cell))] <- NA_real_
    by_arm <- intersect(c(PLAN_BY_ARM, "paused_share", "paused_at"), names(cell))
    for (name in by_arm) cell[[name]][] <- NA_real_
    cell
  })
}
