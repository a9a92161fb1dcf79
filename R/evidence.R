# What was released shows: evidence between arms, effects and verdicts, from the records of a release table
# (R/releases.R) and nothing else.

#' Compare arms by what was released
#'
#' `evidence()` measures how strongly the released sums of a policy show that one arm is better than another.
#' For each ordered pair of arms it gives the logarithm of an e-process: a test statistic that stays valid
#' however often you look. Use it to follow an experiment over time, or to test arms against a known rate. To
#' decide whether to stop use [verdict()]; to estimate differences use [effects()]. All three read the
#' release table ([dpts_releases()]) alone, so they cost no privacy. None of them works for a policy that
#' releases no noisy sums, such as [policy_ucb1()].
#'
#' @section By means:
#' `kind = "means"` works for every policy that releases sums of batches. **It assumes that means do not
#' change.** If the mean of arm a is not above that of arm b, the evidence W_ab ever reaches ln(1 / alpha)
#' with probability at most alpha, whatever the policy does. A trend that all arms share invalidates it. Where
#' rewards are late or batches overlap, the outcomes of different people must be independent given what was
#' released, and the delay of a reward must not depend on its value (with `use = "deadline"` an agent's never
#' does).
#'
#' The statistic: a batch of L rewards with the noisy sum y multiplies the evidence that an arm's mean is
#' above theta by e^(l y) / (1 - theta + theta e^l)^L / E e^(l noise), for tilts l that are fixed before the
#' batch. W_ab is the minimum over theta of the evidence that the mean of a is above theta and the mean of b
#' is below it. [evidence_means] has the tilts and all other numbers, so that you can recompute it.
#'
#' If the noise is correlated (`correlation` of [policy_gaussian_imed()]), a tenth of `error` is spent on a
#' bound on the noise of the last release (a fifth for intervals), because later releases take back a part of
#' it. Shares of the capital that were announced one release ahead are valued without this bound. This needs
#' up to 10% more people than independent noise.
#'
#' With [policy_local()] the randomised bits are used like rewards without noise, if the policy inside is not
#' private itself. If it has Gaussian noise, its noisy sums of bits are used. Around a policy with an epsilon
#' of its own (Laplace noise) there is no evidence: the guarantee of the two together publishes no bits. Bits
#' and sums are taken in the policy's own batches or blocks. If it has none, they are taken in groups that
#' grow by a tenth, in the order in which they come; the delay of a bit must then not depend on the reward.
#' Differences and margins are in units of the rewards: those of the bits, divided by 1 - 2 / (1 +
#' e^`epsilon`).
#'
#' @section By randomisation:
#' `kind = "tosses"` is for [policy_randomised()] and **holds under any drift**. In
#' each block the known probabilities of the arms turn the numbers of people and the noisy sums into a bet.
#' The bet is on "a is better than b on average over the people so far who were randomised to one of the two".
#' If that is false, the evidence ever reaches ln(1 / alpha) with probability at most alpha, whatever the
#' means do. With a third arm and probabilities that change, this is not the average over everybody. With
#' `permuted` blocks the bet is against "nobody does better under a", and there are no intervals by
#' randomisation.
#'
#' @section Squares:
#' Policies with `outcome = "continuous"` release with each sum y of n rewards the noisy sum
#' Q of squares (reward - 1/2)^2. Evidence by randomisation then puts four fifths of its capital on bets that
#' use the spread of the rewards. For a centre c that is fixed before the block, let r = y - n c and R = Q +
#' (1 - 2 c) y + n (c^2 - 1/4). A block multiplies the evidence for a over b by e^(kappa (r_a / p - r_b / q) -
#' psi (R_a / p^2 + R_b / q^2)), divided by the expectation of the same expression of its noise. Here psi =
#' (-ln(1 - kappa B) - kappa B) / B^2 and B = max(c / p, (1 - c) / q) (Fan, Grama and Liu 2015). The guarantee
#' is that of evidence by randomisation. The rest of the capital is on the bets above, which are exact for
#' rewards of 0 or 1. Permuted blocks use these alone. Residuals (`predicted` of [policy_randomised()]) are
#' never 0 or 1, so they have no such rest, and the first centre is that of correct predictions.
#'
#' By means, a batch of L rewards multiplies the evidence that the mean is above theta by a factor, divided by
#' the same expectation. It is e^(l (y - c L) - psi (Q + (1 - 2 c) y + L (c^2 - 1/4))) / (1 + l (theta -
#' c))^L, with psi = (-ln(1 - l c) - l c) / c^2. Below theta, -l and 1 - c take the places of l and c. In W_ab
#' half of the capital of the pair is on these bets. Correlated noise is charged as without squares.
#'
#' @section Against a known rate:
#' With `against = 0.3` each arm is compared with a mean reward of 0.3 in place
#' of the other arms: `"above"` is evidence that the arm's mean is above 0.3, and `"below"` that it is below.
#' By means it assumes that the mean does not change. By randomisation it is about the average over the people
#' so far who were randomised to the arm, under any drift. For k arms the threshold is ln(2 k / `error`): the
#' probability that any of these 2 k statements is ever declared wrongly is at most `error`. Because the rate
#' is known, this takes fewer people than the comparison of two arms.
#'
#' @section Agents whose arms come and go:
#' Once arms were added ([agent_arms()]), each of the m arms of the beginning has the share `error` / (m + 1)
#' of the error probability, and the j-th arm in all has `error` / (j (j + 1)), whatever comes later. While
#' the best arm is the same, a verdict that is reached after arms were added is wrong with probability at most
#' `error`. So is one that was reached before: it remains valid, and its error is its own. When an added arm
#' is better than all others, what is said from then on has an error of its own, too. Added arms do not change
#' the evidence between the others. Retired arms are left out. The share (where no arm was added,
#' `error` / (k - 1)) is then divided by the number of all other arms that there have ever been, because the
#' choice of the retired arms may depend on what was released. For the same reason the intervals of
#' [effects()] allow for all arms that there have ever been. The interval of an added arm holds by itself, not
#' together with the others.
#'
#' @section Strata and sites:
#' Blocks of different strata end at different times, and evidence is about all people. So in strata there is
#' a look once each stratum has released a block since the look before, or once 98% of the people so far are
#' in what was released. Of several sites there is a look after each round, when all sites that still run have
#' released it. What comes between two looks counts at the next one. A stratum to which hardly anybody comes
#' delays the looks until the others have 98% of the people: leave it out, or end its blocks by the clock
#' (`block_time` of [dpts_agent()]). The last look is at the end of an agent, of all that was released. The
#' analysis of [effects()] with `at = "end"` is of all that was released, whenever it is made; of sites that
#' is all rounds, without what waits for other sites. Name the sites in an order that was fixed before: the
#' bets on a site follow the releases of those before it.
#'
#' At a look the averages are over the people in the sums. Those in open blocks are missing, so that a stratum
#' may have a little more or less than its share. If strata differ in which arm is better, keep blocks small
#' against the people of a stratum. An example are strata of 60% and 40% of the people, with differences of
#' 0.2 and -0.3, which cancel, in a [dpts_plan()] with looks at 400 and 800 of 1,200 people (mu = 0.3). With
#' blocks of 50 94% of 1,000 intervals at 95% held for all people, with blocks of 236 89%.
#'
#' @section The end:
#' A final release ([dpts_simulate()] and [dpts_replay()] with `finish = TRUE`) is evidence only if all of its
#' rewards have been observed. Until then it counts for [estimates()] alone: people who still wait would count
#' as 0, and an arm whose rewards come quickly would beat another arm of the same mean.
#'
#' @param x A result of [dpts_simulate()] with `history = TRUE`, of [dpts_replay()] (of a log that is not
#'   uniform by `method = "rejection"`, which alone gives arms comparable people), an agent, or a release
#'   table ([dpts_releases()]). A named list of agents or release tables is read as the sites of one
#'   experiment; [dpts_releases()] has the conditions, above all that no site is left out because of its sums.
#'   Rows up to a round, such as `x[x$t <= 100, ]`, give the results as of that round.
#' @param kind What the evidence rests on: `"means"` that do not change, or `"tosses"`, the randomisation of
#'   people to arms.
#' @param ... Not used; later arguments must be named.
#' @param against A mean reward that each arm is compared with, in place of the other arms: a number in the
#'   range of the rewards; `NULL`: none.
#' @param error The probability of a wrong verdict: a number in (0, 1).
#' @param outcome Which outcome: `"reward"`, or the name of another one of an agent ([agent_outcome()]).
#' @returns A tibble of class `dpts_evidence`, one row for each problem (if there are several), policy, run,
#'   release and ordered pair of arms:
#'   * `problem`, `policy`, `run`, of a replay also `delay`: as in the result; an agent has none of them;
#'   * `t`: the round after which something was released. There is a look after each block (in strata and
#'     at sites: see there), so that of several blocks that were released after one round each has its rows,
#'     in their order;
#'   * `arm`, `rival`: the pair, factors if arms have names, else numbers; with `against` there are `against`
#'     and `side`, `"above"` or `"below"`, in place of `rival`;
#'   * `evidence`: the natural logarithm of the e-process. `arm` is declared better than `rival`, or to be on
#'     this side of the rate, when it is at least `line`;
#'   * `line`: the threshold ln((k - 1) / `error`), with `against` ln(2 k / `error`), or as said for agents
#'     whose arms come and go;
#'   * `p`: an anytime-valid p-value, e^-(the highest evidence so far), 1 at most. Beside correlated noise it
#'     is at least about `error` / 10, which is what the bound of that noise may fail with.
#' @references Fan, X., Grama, I. and Liu, Q. (2015). Exponential Inequalities for Martingales with
#'   Applications. Electronic Journal of Probability 20(1), 1-22.
#' @seealso [verdict()] says whether an arm is the best, [effects()] estimates differences,
#'   [autoplot()][autoplot.dpts_evidence] draws the evidence.
#' @concept evidence
#' @concept e-value
#' @concept e-process
#' @concept confidence sequence
#' @concept anytime-valid inference
#' @concept always-valid p-value
#' @concept sequential test
#' @concept stopping rule
#' @examples
#' arms <- arms_bernoulli(c(control = 0.5, new = 0.6))
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, runs = 2, seed = 1, history = TRUE)
#' evidence(sim, "tosses")
#' evidence(sim, against = 0.55)
#' @export
evidence <- function(x, kind = c("means", "tosses"), ..., against = NULL, error = 0.05, outcome = "reward") {
  check_dots_empty(...)
  check_all_given()
  kinds <- if (missing(kind)) kind else check_choice(kind, names(EVIDENCE))
  error <- check_number(error, 0, 1, open = TRUE)
  known <- !is.null(against)
  if (known) {
    check_number(against)
    kinds <- Filter(function(kind) isTRUE(EVIDENCE[[kind]]$rates), kinds)
    if (!length(kinds)) abort_arg("against", sprintf("NULL if `kind` is \"%s\"", kind), against)
  }
  sides <- list() # by numbers of arms
  used <- character() # kinds
  out <- each_record(x, function(record) {
    used <<- union(used, record$kind)
    k <- as.character(record$k)
    if (is.null(sides[[k]])) sides[[k]] <<- if (known) arm_sides(record$k) else ordered_pairs(record$k)
    of <- sides[[k]]
    to <- noise_share(record$correlation, record$ever, error, signs = if (known) 2 else 1)
    threshold <- -log(to$left * if (known) record$share_of_one / 2 else record$share)
    found <- record_evidence(record, record$kind, threshold = max(threshold), risk = to$risk,
                             rate = if (known) rate_inside(record, against) else NA_real_)
    w <- found$pair[, of$column, drop = FALSE]
    n <- nrow(w)
    highest <- w
    for (i in seq_len(ncol(w))) highest[, i] <- cummax(w[, i])
    late <- to$risk * if (known) 1 else 2 # of each arm's noise
    p <- late + exp(-as.vector(t(highest)))
    p[p > 1] <- 1
    c(list(t = rep(found$t, each = length(of$arm)), arm = rep(of$arm, n)),
      if (known) list(against = rep(against, length(p)), side = rep(of$side, n)) else
        list(rival = rep(of$rival, n)),
      list(evidence = as.vector(t(w)), line = rep(threshold[of$arm], n), p = p))
  }, "dpts_evidence", list(error = error, against = against), kinds, outcome = outcome)
  attr(out, "asked")$kind <- sort(used)
  out
}

# Each of k arms above a rate and below it, in the order of the kernel's columns
arm_sides <- function(k) {
  list(arm = rep(seq_len(k), each = 2), side = rep(c("above", "below"), k), column = seq_len(2 * k))
}

# A rate as the kernel sees it: of rewards scaled to [0, 1], or of the bits that were released
rate_inside <- function(record, rate) {
  if (record$residuals) abort_residuals()
  if (rate < record$low || rate > record$high) {
    abort_arg("against", sprintf("in the range of the rewards, [%s, %s]", number_text(record$low),
                                 number_text(record$high)), rate)
  }
  record$flip + (1 - 2 * record$flip) * (rate - record$low) / (record$high - record$low)
}

#' Differences between arms, with intervals
#'
#' `effects()` estimates how much better one arm is than another, with intervals that hold at every look. Use
#' it to report an experiment, to compare with a control, or to show non-inferiority with a `margin`. It reads
#' only what was released, so it costs no privacy. To decide when to stop use [verdict()]. If the number of
#' people is fixed and you look once, `at = "end"` has more power.
#'
#' @details
#' Quick start, for a simulation `sim` with `history = TRUE`, or an agent:
#'
#' ```
#' effects(sim)                                # every pair of arms
#' effects(sim, control = "old", at = "end")   # the one analysis at the planned end
#' ```
#'
#' @inheritParams evidence
#' @param object A result of [dpts_simulate()] with `history = TRUE`, of [dpts_replay()], an agent, a release
#'   table ([dpts_releases()]), or a named list of agents or release tables, as in [evidence()].
#' @param control An arm, by name or number, against which the others are compared; `NULL`: all pairs.
#' @param level The probability with which the intervals of all differences hold together, at all looks (with
#'   `at = "end"`, at this look).
#' @param at `"any"`: the intervals hold at all looks together. `"end"`: the one analysis of a randomised
#'   experiment at the planned number of people, by the test of [dpts_plan()], which has more power. With
#'   strata arms are compared within them, and the differences weighed by people. Two arms are compared over
#'   the people of the blocks in which both could be assigned, as where one was paused or added later. It is
#'   valid once, and only if what was released did not decide when to analyse; a message says so, and also
#'   whether it is too early or too late for the number of people of [agent_plan()]. As in the plan, an arm
#'   is declared better than its control if its `difference` is above 0 and `p` / 2 is below `error` over the
#'   number of claims, those on arms that were retired included. With a `margin` it is declared not worse if
#'   `p` itself is below that. Intervals and `p` are approximations by the normal distribution, or its sum
#'   with Laplace noise, for rewards that do not depend on earlier assignments; see [dpts_plan()], Claims.
#' @param looks,spending,people With `at = "end"`, the looks of a board before the end: shares of the planned
#'   number of `people`, and how the error is spent, as in [dpts_plan()]. `NULL`: those of [agent_plan()], if
#'   there is a plan. See Looks of a board.
#' @param answered With `at = "end"`, the name of an outcome that counts answers ([agent_outcome()]), for a
#'   sensitivity analysis; see Missing answers.
#' @param missing The reward that a missing answer counted as, for `answered`. `NULL`: what the releases say;
#'   those of an agent with other outcomes do.
#' @param by `"stratum"`, or `"site"`: the effects of each stratum or site by itself, in a first column of
#'   this name. The error probability 1 - `level` is shared equally among them, those without a release
#'   included, so that all intervals hold together. Unless the plan was made so (`by` of [dpts_plan()]),
#'   these effects are exploratory; a message says so. It cannot be used with `looks`, which count all
#'   people: each stratum would reach its share of them at another time. A plan's looks are left out: each
#'   stratum is analysed once, at the end. It cannot be used with `answered`, either.
#' @param outcome Which outcome: `"reward"`, or the name of another one of an agent ([agent_outcome()]).
#' @param margin The difference from the control that does not matter, in units of the rewards: a number from
#'   0. (That of [dpts_plan()] is a share of their range.) Above 0, `p` is that of a test of non-inferiority.
#' @section Non-inferiority and equivalence:
#' With `margin = 0.05` and a `control`, `p` is that of a one-sided test of **non-inferiority**: a small `p`
#' shows that `arm` is not worse than `control` by 0.05 or more. Without a `control` the same is said of
#' all pairs, each in one direction: `arm` against `control` of its row. An arm and its control are shown to
#' be **equivalent** within the margin if `lower` is above -0.05 and `upper` below 0.05. Both hold at any
#' look, or with `at = "end"` at the planned one, for which [dpts_plan()] gives the power, with this `margin`
#' divided by the range.
#'
#' ```
#' effects(sim, control = "old", margin = 0.05)
#' ```
#'
#' @section Rewards that depend on earlier assignments:
#' The intervals of `at = "end"` are for rewards that do not depend on who got which arm before. Where they
#' do, as where people influence each other, blocks whose probabilities differ are compared one by one, and
#' the error of each comparison goes into the same direction. With rewards that follow the imbalance of a
#' block, intervals of 80% held in 0, 9, 50 and 77 of 100 runs with blocks of 10, 50, 200 and 1,000 of 2,000
#' people. With probabilities that never change all blocks are compared together, and 78 held. There is no
#' warning, because a table does not show it: such a shift looks like a true difference. `at = "any"` holds
#' for such rewards, too, unless blocks are `permuted`.
#'
#' @section Looks of a board:
#' With `looks = c(1/3, 2/3)` and `people = 900` the analysis of the plan is made at 300, 600 and 900 people.
#' It is a group sequential test, by the method in [dpts_plan()]. Call it at each look. The first release with
#' which the number of people is reached is the last one that a look uses. `lower` and `upper` are
#' the repeated confidence interval of the last look that was reached. `p` is the least error with which one
#' of the looks so far claims a difference, so that the rule for a claim is that of `at = "end"`. Before the
#' first look all of them are `NA`. The probabilities of the arms must never have changed.
#' @section Missing answers:
#' How many people answer is as private as what they say, so a sensitivity analysis needs a noisy count of
#' answers. Plan it before the first person:
#' `dpts_agent(outcomes = list(answered = agent_outcome(mu = 0.3, missing = 0)))`. Report 1 for this outcome
#' for each person who answers. After the end `effects(agent, at = "end", answered = "answered")` has each
#' pair three times, with a first column `missing`. `"released"` is the analysis with missing answers as they
#' were counted. `"worst"` counts them as the lowest reward for `arm` and the highest for `control`, and
#' `"best"` the reverse. A conclusion that is the same in all three rows does not depend on missing answers.
#' The sums are those that would have been released, with the noise of both outcomes. The variance is that of
#' rewards of 0 and 1, which is the largest.
#' Both outcomes need Gaussian noise or none.
#' @returns A tibble of class `dpts_effects`, one row for each problem, policy, run and pair of arms, from all
#'   that was released:
#'   * `arm`, `control`: the pair;
#'   * `difference`: an estimate of how much better `arm` is, `NA` until both arms have a release (with
#'     `at = "any"` in strata and at sites: until the first look). By randomisation each block counts by its
#'     precision;
#'   * `lower`, `upper`: its interval. By randomisation it is for the average difference over the people in
#'     the sums who were randomised to one of the two arms, under any drift; in strata and at several sites as
#'     of the last look ([evidence()]). By means, for policies that do not randomise, it is for a difference
#'     that does not change (a message says so once in a session). It is then the intersection of the
#'     intervals of all looks so far; `NA` if that is empty, as it hardly ever is (at most with the chance
#'     1 - `level`) if the means have not changed;
#'   * `p`: a p-value for this pair alone, against "no difference", at any look. By means `p` of two arms is
#'     below 1 - `level` exactly if the interval excludes 0 or is empty. By randomisation it is the least of
#'     all looks, and the interval is the current one. With more arms intervals are wider than `p` says,
#'     because they hold together. With a `margin` it is one-sided, against "worse than the control
#'     by `margin` or more": a small `p` shows **non-inferiority**. Two arms are **equivalent** within
#'     `margin` if the interval lies between -`margin` and `margin`.
#' @template ref_looks
#' @seealso [verdict()] says whether an arm is the best, [estimates()] has the mean of each arm,
#'   [dpts_plan()] plans the analysis at the end.
#' @concept evidence
#' @concept confidence sequence
#' @concept non-inferiority
#' @concept equivalence
#' @concept treatment effect
#' @examples
#' arms <- arms_bernoulli(c(control = 0.5, new = 0.6))
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, runs = 2, seed = 1, history = TRUE)
#' effects(sim)
#' effects(sim, at = "end")
#' effects(sim, control = "control", margin = 0.1) # is the new one non-inferior?
#' autoplot(effects(sim))
#' @name effects
#' @export
effects.dpts_simulation <- function(object, control = NULL, level = 0.95, ..., at = c("any", "end"),
                                    by = NULL, margin = 0, outcome = "reward", looks = NULL,
                                    spending = c("obrien_fleming", "pocock"), people = NULL,
                                    answered = NULL, missing = NULL) {
  check_dots_empty(...)
  level <- check_number(level, 0, 1, open = TRUE)
  at <- check_choice(at, c("any", "end"))
  margin <- check_number(margin, 0)
  looks <- check_looks(looks, check_choice(spending, SPENDING))
  if (!is.null(people)) people <- check_count(people)
  if (at == "any" && !is.null(c(looks, people))) abort_arg("at", "\"end\" with `looks` or `people`", at)
  if (!is.null(by)) {
    if (!is.null(looks)) abort_arg("by", "NULL with `looks`, which are planned for all people together")
    if (!is.null(c(answered, missing))) abort_arg("by", "NULL with `answered` and `missing`")
    by <- check_choice(by, SUBGROUPS)
    return(about_object(effects_by(object, control, level, at, by, margin, outcome, people)))
  }
  if (!is.null(answered)) {
    if (at == "any") abort_arg("at", "\"end\" with `answered`", at)
    if (!identical(outcome, "reward")) abort_arg("outcome", "\"reward\" with `answered`", outcome)
    return(about_object(effects_missing(object, control, level, margin, looks, people, answered, missing)))
  }
  if (!is.null(missing)) abort_arg("missing", "NULL without `answered`", missing)
  about_object(each_record(object, function(record) {
    pairs <- ordered_pairs(record$k)
    against <- control_arm(control, record$labels)
    pairs <- pairs_at(pairs, if (is.null(against)) pairs$arm > pairs$rival else pairs$rival == against)
    if (!length(pairs$arm)) { # one arm is left
      none <- numeric()
      return(list(arm = pairs$arm, control = pairs$rival, difference = none, lower = none, upper = none,
                  p = none))
    }
    # Those that have gone count, too: which ones may follow what was released.
    among <- if (is.null(against)) choose(record$ever, 2) else record$ever - 1
    if (at == "end") return(final_effects(record, pairs, among, level, margin, looks, people))
    back <- pairs$rival + record$k * (pairs$arm - 1)
    to <- noise_share(record$correlation, record$ever, 1 - level, signs = 2)
    found <- record_evidence(record, record$kind,
                             interval = log(2 * among / to$left), risk = to$risk)
    highest <- apply(found$pair, 2, max, 0, na.rm = TRUE)
    lower <- found$difference[pairs$column]
    upper <- -found$difference[back]
    estimate <- found$estimate(pairs$arm, pairs$rival)
    void <- lower > upper # no constant difference agrees with all looks
    lower[void] <- upper[void] <- NA
    estimate[!void] <- pmin(pmax(estimate, lower), upper)[!void]
    scaled <- lapply(list(difference = estimate, lower = lower, upper = upper), unscaled_differences, record)
    p <- if (margin == 0) 4 * to$risk + 2 * exp(-pmax(highest[pairs$column], highest[back])) else {
      short <- record_evidence(record, record$kind, margin / record$width, risk = to$risk)$pair
      2 * to$risk + exp(-apply(short, 2, max, 0, na.rm = TRUE)[pairs$column])
    }
    list(arm = pairs$arm, control = pairs$rival, difference = scaled$difference, lower = scaled$lower,
         upper = scaled$upper, p = pmin(1, p))
  }, "dpts_effects", list(level = level, at = at, margin = margin),
    kinds = if (at == "end") "tosses" else names(EVIDENCE), bounds = at == "any", outcome = outcome))
}

# Effects by the one test at the planned end, as dpts_plan() has it (src/policy_final_test.h): a p-value is
# the larger one of the average difference over its standard error, and of the sum of strata. With looks
# before the end a p-value is the least error whose critical values are crossed at one of them.
# `among`: so many differences hold together.
final_effects <- function(record, pairs, among, level, margin, looks, people) {
  looks <- looks %||% looks_of_text(record$looks)
  record$planned <- people %||% record$planned
  input <- released_whole(record, by_block = TRUE, all = is.null(looks))
  half_error <- (1 - level) / (2 * among)
  found <- if (is.null(looks)) {
    inform_end(record, record$seen, sum(input[, "size"]))
    last <- final_test(record, input, pairs, margin)
    c(last, list(half = noisy_quantile(1 - half_error, last$share, last$terms)))
  } else effects_at_looks(record, input, pairs, margin, looks, half_error)
  difference <- found$difference
  half <- found$half * found$se
  scaled <- lapply(list(difference, difference - half, difference + half), unscaled_differences, record)
  list(arm = pairs$arm, control = pairs$rival, difference = scaled[[1]], lower = scaled[[2]],
       upper = scaled[[3]], p = if (margin > 0) found$above else pmin(1, 2 * pmin(found$above, found$below)))
}

# The test of some releases: of each pair the tails above and below
final_test <- function(record, input, pairs, margin) {
  found <- .Call(C_final_test, record$ever, record$strata, input)
  own <- record$arms
  at <- function(i) found[cbind(own[pairs$arm] + record$ever * (own[pairs$rival] - 1), i)] # a matrix by pairs
  difference <- at(1)
  se <- at(2)
  tails <- Map(noisy_tail, at(4), at(5))
  tail <- function(x) vapply(seq_along(x), function(i) {
    if (is.na(x[i])) NA_real_ else if (x[i] < 0) 1 - tails[[i]](-x[i]) else tails[[i]](x[i])
  }, 0)
  # A margin moves the sum by at least as much as Z, by Hölder's inequality.
  shift <- margin / record$width / se
  list(difference = difference, se = se, share = at(4), terms = at(5),
       above = pmax(tail(difference / se + shift), tail(at(3) + shift)),
       below = pmax(tail(-difference / se), tail(-at(3))))
}

# The same at the planned looks that were reached. A look is as soon as so many people are in what was
# released; with fewer at the next one, both are one.
effects_at_looks <- function(record, input, pairs, margin, looks, half_error) {
  planned <- record$planned
  if (is.na(planned)) {
    abort_arg("people", "the planned number of people, where there are `looks` and no `agent_plan()` has it")
  }
  chance <- input[, "chance"]
  moved <- tapply(chance, input[, "arm"], function(p) diff(range(p)) > 1e-9 * max(p))
  if (any(moved)) {
    abort_input("looks", paste("`looks` must be NULL for %s: its probabilities changed, and the z-test at",
                               "several looks needs such that never do."), words_source(record),
                class = "dpts_error_verdict", hint = "`at = \"any\"` holds at any number of looks.")
  }
  targets <- looks_people(looks, planned)
  sum_so_far <- function(x) cumsum(as.vector(tapply(x, input[, "look"], sum)))
  so_far <- sum_so_far(input[, "size"])
  at <- vapply(targets, function(n) which(so_far >= n)[1], 0L)
  reached <- sum(!is.na(at))
  inform_once("looks", class = "dpts_message_end", message = c(
    sprintf("%s is analysed at look %d of %d, of %s people.", sub("^p", "P", words_source(record)), reached,
            length(at), label_count(if (reached) so_far[at[reached]] else record$seen)),
    i = "Each planned look counts once. An arm that is not claimed at one may be claimed at a later one."
  ))
  nothing <- rep(NA_real_, length(pairs$arm))
  if (!reached) {
    return(list(difference = nothing, se = nothing, half = nothing, above = nothing, below = nothing))
  }
  at <- unique(at[seq_len(reached)])
  share <- pmin(so_far[at] / planned, 1) # 1 at the end alone: the first to have so many is one look
  clock <- look_clock(share, sum_so_far(input[, "terms"] * noise_variance(input))[at])
  tests <- lapply(at, function(look) {
    final_test(record, input[input[, "look"] <= look, , drop = FALSE], pairs, margin)
  })
  errors <- function(side) {
    tails <- vapply(tests, `[[`, nothing, side)
    look_errors(matrix(stats::qnorm(tails, lower.tail = FALSE), ncol = length(at)), share, looks$spending,
                clock)
  }
  last <- tests[[length(tests)]]
  critical <- look_boundary(share, half_error, looks$spending, clock)[length(share)]
  c(last[c("difference", "se")], list(half = look_quantile(critical, last$share, last$terms),
                                      above = errors("above"), below = errors("below")))
}

# Differences in units of reward, none larger than the range
unscaled_differences <- function(d, record) pmin(pmax(d * record$width, -record$most), record$most)

# `people`: so far; `counted`: whose rewards are in the sums
inform_end <- function(record, people, counted) {
  planned <- record$planned
  early <- isTRUE(people < planned)
  if (early || isTRUE(counted > planned)) {
    return(rlang::inform(c(
      sprintf("The analysis is planned for %s people. This one, of %s, is too %s: its error may be larger.",
              label_count(planned), label_count(if (early) people else counted),
              if (early) "early" else "late"),
      i = "`at = \"any\"` holds at all looks. After the last person `agent_finish()` releases what is open."
    ), class = "dpts_message_end"))
  }
  inform_once("end", class = "dpts_message_end", message = c(
    sprintf("%s is analysed as of %s people: this is valid once, at the number of people that was planned.",
            sub("^p", "P", words_source(record)), label_count(people)),
    i = "Chosen by what was released, or asked again, it claims too much; `at = \"any\"` holds at all looks."
  ))
}

# Effects that are parts of an analysis, of which inform_end() has spoken
without_end <- function(effects) {
  withCallingHandlers(effects, dpts_message_end = function(m) invokeRestart("muffleMessage"))
}

# The effects of each stratum or site. Numbers of people that were planned, and looks, are of all together.
effects_by <- function(object, control, level, at, by, margin, outcome, people) {
  table <- table_of(object, outcome)
  if (is.null(table[[by]])) {
    abort_input("by", "`by` must be NULL: there is no column `%s` in the releases.", by)
  }
  parts <- levels(table[[by]])
  inform_once("exploratory", class = "dpts_message_exploratory", message = sprintf(
    "Effects by %s are exploratory, unless the experiment was planned so (`dpts_plan(by = )`).", by))
  if (at == "end") {
    for (record in release_records(table)$records) {
      record$planned <- people %||% record$planned
      inform_end(record, record$seen, sum(released_whole(record, by_block = TRUE, all = TRUE)[, "size"]))
    }
  }
  each <- lapply(parts, function(part) {
    event <- table[["event"]] %||% rep(NA, nrow(table))
    own <- table[[by]] %in% part & is.na(event) | event %in% c("added", "retired") # which are of all parts
    rows <- begin_rows(table[own, ], table)
    rows[c(by, "planned", "looks")] <- NULL
    if (by == "stratum") rows[["site"]] <- NULL # whose rounds have blocks of all strata
    without_end(effects(rows, control, 1 - (1 - level) / length(parts), at = at, margin = margin))
  })
  of <- factor(rep(parts, vapply(each, nrow, 0L)), parts)
  stacked_effects(stats::setNames(list(of), by), each, level)
}

# Several tables of effects as one, after a column that tells them apart
stacked_effects <- function(key, each, level) {
  columns <- lapply(stats::setNames(nm = names(each[[1]])), function(name) {
    vctrs::vec_c(!!!lapply(each, `[[`, name))
  })
  new_answer(c(key, columns), "dpts_effects", utils::modifyList(asked_of(each[[1]]), list(level = level)))
}

# The analysis at the end with missing answers as they were counted, and as the worst and the best for an arm
# that there can be: 0 for the arm and 1 for its control, and the reverse
effects_missing <- function(object, control, level, margin, looks, people, answered, missing) {
  tables <- dpts_releases(object)
  known <- setdiff(unique(as.character(tables[["outcome"]])), "reward")
  if (!is.character(answered) || length(answered) != 1 || !answered %in% known) {
    abort_input("answered", paste("`answered` must be the name of an outcome that counts answers%s. Plan it",
                                  "before the first person, as",
                                  "`outcomes = list(answered = agent_outcome(mu = 0.3, missing = 0))`, and",
                                  "report a 1 for each person who answers."),
                if (length(known)) paste0(", one of ", words_list(known, most = 8)) else "")
  }
  reward <- one_outcome(tables, "reward")
  answers <- one_outcome(tables, answered)
  if (!is.null(reward[["predicted_high"]])) {
    abort_input("answered", "`answered` must be NULL with predictions: sums are then of residuals.")
  }
  range <- c(reward$low[1], reward$high[1])
  said <- reward[["missing"]][1] %||% NA
  counted <- if (is.null(missing)) said else in_units(check_number(missing, range[1], range[2]), range)
  if (is.na(counted)) {
    abort_arg("missing", "given, as the releases do not say it: which reward did no answer count as?")
  }
  if (!is.na(said) && abs(counted - said) > 1e-6) {
    abort_arg("missing", sprintf("%s, as the releases say", number_text(from_units(said, range), 5)), missing)
  }
  gone <- reward$arm[reward[["event"]] %in% "retired"]
  every <- as.character(levels(reward$arm) %||% sort(unique(reward$arm)))
  arms <- setdiff(every, as.character(gone))
  rivals <- arms[control_arm(control, arms) %||% seq_len(max(1, length(arms) - 1))] # one, if it alone is left
  # Of all pairs each rival's have their part of the error: those with the other arms that there have been.
  part <- (1 - level) * if (is.null(control)) (length(every) - 1) / choose(length(every), 2) else 1
  of <- function(table, rival) {
    all <- effects(table, control = rival, level = 1 - part, at = "end", margin = margin, looks = looks$share,
                   spending = looks$spending %||% SPENDING, people = people)
    if (is.null(control)) all[match(all$arm, arms) > match(rival, arms), ] else all
  }
  cases <- c("released", "worst", "best")
  parts <- lapply(cases, function(case) {
    lapply(rivals, function(rival) {
      if (case == "released") return(of(reward, rival))
      worst <- reward$arm != rival # for the arm, and so best for its rival
      as <- if (case == "worst") ifelse(worst, 0, 1) else ifelse(worst, 1, 0)
      without_end(of(imputed_table(reward, answers, as - counted), rival))
    })
  })
  each <- vapply(parts, function(part) sum(vapply(part, nrow, 0L)), 0)
  stacked_effects(list(missing = factor(rep(cases, each), cases)), unlist(parts, recursive = FALSE), level)
}

#' @export
effects.default <- function(object, ...) abort_arg("object", RECORDS_WANTED, object)

#' @rdname effects
#' @export
effects.dpts_replay <- effects.dpts_simulation

#' @rdname effects
#' @export
effects.dpts_agent <- effects.dpts_simulation

#' @rdname effects
#' @export
effects.dpts_releases <- effects.dpts_simulation

#' Is one arm the best?
#'
#' `verdict()` names the arm that the released sums show to be the best, or says how many people are missing.
#' Use it to decide when to stop: you can call it after every release, and the probability that it ever names
#' a wrong arm is at most `error` (before arms are added, and again after that: see [evidence()]). It reads
#' only what was released, so it costs no privacy. It is not for estimates ([effects()] has intervals), and an
#' experiment of fixed size with a single analysis needs fewer people ([dpts_plan()]).
#'
#' @details
#' Quick start:
#'
#' ```
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, seed = 1, history = TRUE)
#' verdict(sim)      # of an agent: verdict(agent)
#' ```
#'
#' @section Thresholds:
#' Of k arms, an arm is declared the best when its [evidence()] against each other arm is at least
#' ln((k - 1) / `error`). For a policy that randomises, the evidence is by randomisation and assumes that one
#' arm is the best at all looks, on average over the people in the sums, although means may drift. Under
#' arbitrary drift, ln(k (k - 1) / `error`) is the threshold for "no other arm was better on average". In
#' strata, of which each may have another best arm, looks wait for all strata ([evidence()]). For other
#' policies the evidence is by means and assumes that means do not change.
#'
#' @section Non-inferiority and equivalence:
#' With `margin = 0.02` a verdict names an arm that is worse than no other arm by 0.02 or more: it is
#' **non-inferior** to all others, the control included. For non-inferiority to one control whatever other
#' arms do, and for **equivalence**, use [effects()] with a `margin`.
#'
#' @section Policies that minimise regret:
#' They give few people to the arms that look worse, in batches of one arm, so evidence grows like the
#' logarithm of time: a verdict is valid and comes late. At 0.6 against 0.5 with `error` 0.05,
#' [policy_top_two()] with mu = 0.5 takes 1,290 people on average; [policy_gaussian_imed()] has no verdict
#' within a million people in 80 of 100 runs, and [policy_dp_imed()] with epsilon = 1 in 22 of 100 (median
#' 66,000).
#'
#' @inheritParams evidence
#' @param outcome Which outcome: `"reward"`, or the name of another one of an agent ([agent_outcome()]). More
#'   counts as better: of harm, the arm with the most is the best.
#' @param margin Tolerance of the verdict: the arm that it names may be worse than the best one by less than
#'   this, in units of the rewards. A number from 0.
#' @returns A tibble of class `dpts_verdict`, one row for each problem, policy and run:
#'   * `arm`: the arm declared best, `NA`: none yet, or no other arm is left. With a `margin` several arms may
#'     qualify at one look; then it is the one with the highest estimated mean. A verdict is one-sided and
#'     intervals are two-sided, so the interval of [effects()] may still contain 0;
#'   * `t`: the round after which the verdict was reached, or the last look;
#'   * `wrong`: how improbable so strong a verdict is if it is wrong, a p-value that is valid at every look: a
#'     wrong verdict with so small a value at any look has at most this probability. It is e^-(the least
#'     evidence against another arm, at the look where that is the most) over the arm's share of `error`, 1 at
#'     most; without a verdict that of the arm with the most evidence;
#'   * `missing`: what is missing, in words; `""` with a verdict. The number of people is of those in looks:
#'     of sites people in rounds that all have, so that more come where one site is faster. After the end,
#'     and while the leading arm of an agent or its rival is paused, it says so in place of a number. It is
#'     printed below the table, and so is, of an agent, that the arm is paused, or without a verdict which
#'     arms are.
#' @seealso [effects()] estimates differences, [evidence()] has the statistic over time, [forecast()] how soon
#'   a verdict may come.
#' @concept evidence
#' @concept best-arm identification
#' @concept anytime-valid inference
#' @concept stopping rule
#' @concept sequential test
#' @examples
#' arms <- arms_bernoulli(c(control = 0.5, new = 0.6))
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, runs = 2, seed = 1, history = TRUE)
#' verdict(sim)
#' verdict(sim[sim$t <= 300, ])
#' @export
verdict <- function(x, error = 0.05, margin = 0, ..., outcome = "reward") {
  check_dots_empty(...)
  check_all_given()
  error <- check_number(error, 0, 1, open = TRUE)
  margin <- check_number(margin, 0)
  paused <- list()
  out <- each_record(x, function(record) {
    paused <<- paused_at(x, record)[record$running]
    record_verdict(record, error, margin, paused = paused)
  }, "dpts_verdict", list(error = error, margin = margin), outcome = outcome)
  paused <- Reduce(intersect, paused)
  if (!anyNA(out$arm)) paused <- intersect(as.character(out$arm), paused)
  if (length(paused)) attr(out, "paused") <- paused # is no column: a table of releases does not know it
  out
}

# Of each site of a record the names of arms that nobody gets there now, though they may have a verdict
paused_at <- function(x, record) {
  if (inherits(x, "list")) lapply(x, paused_arms) else rep(list(paused_arms(x)), max(1, record$sites))
}

paused_arms <- function(x) UseMethod("paused_arms")

#' @export
paused_arms.default <- function(x) NULL

# What is missing is in sentences, below the table.
#' @export
format.dpts_verdict <- function(x, ..., width = min(getOption("width"), 80)) {
  if (!"missing" %in% names(x)) return(NextMethod())
  width <- check_width(width)
  open <- which(nzchar(x$missing))
  shown <- utils::head(open, 10)
  row <- if (nrow(x) > 1) sprintf(", row %d", shown) else ""
  c(format(bare(x)[names(x) != "missing"], ..., width = width),
    strwrap(paste0("missing", row, ": ", x$missing[shown], recycle0 = TRUE), width - 1, exdent = 2),
    strwrap(sprintf("paused: nobody gets \"%s\" until `agent_arms(resume = )`.", attr(x, "paused")),
            width - 1, exdent = 2),
    if (length(open) > 10) sprintf("... and of %s.", count_noun(length(open) - 10, "more row", "more rows")))
}

#' @export
print.dpts_verdict <- function(x, ...) print_lines(x, ...)

# `words`: `FALSE`: what is missing is not put into words, which takes a sixth of the time of a forecast
# `paused`: of each site where people come, names of arms that nobody gets there now
record_verdict <- function(record, error = 0.05, margin = 0, words = TRUE, paused = NULL) {
  k <- record$k
  none <- list(arm = NA_integer_, t = NA_real_, wrong = 1, missing = "")
  if (k == 1) {
    return(utils::modifyList(none, list(t = record$seen, missing = paste(
      record$labels, "alone is left, with no other arm to be compared with."))))
  }
  to <- noise_share(record$correlation, record$ever, error)
  threshold <- -log(record$share * to$left)
  found <- record_evidence(record, evidence_kind(record), margin / record$width, max(threshold),
                           risk = to$risk)
  if (length(found$t) == 0) {
    what <- if (record$sites) "Not all sites were released yet" else
      if (nrow(released_whole(record, by_block = TRUE, all = TRUE)))
        "Not all strata were released yet, nor nearly all people" else
      if (nrow(record$releases)) "Nothing was released yet of which all rewards are in" else
        "Nothing was released yet"
    none$missing <- paste0(what, if (!length(record$running)) "; nobody comes any more", ".")
    return(none)
  }
  noise <- to$risk * record$ever
  pairs <- ordered_pairs(k)
  w <- found$pair
  t <- found$t
  # Of each arm the least evidence against another
  least <- vapply(seq_len(k), function(a) {
    do.call(pmin, lapply(pairs$column[pairs$arm == a], function(column) w[, column]))
  }, numeric(nrow(w)))
  least <- matrix(least, ncol = k)
  proved <- which(least >= rep(threshold, each = nrow(least)), arr.ind = TRUE)
  if (nrow(proved)) {
    first <- min(proved[, 1])
    proved <- proved[proved[, 1] == first, 2]
    arm <- leading(record, proved, first, margin / record$width, max(threshold), risk = to$risk)
    return(list(arm = arm, t = t[first],
                wrong = min(1, noise + exp(-max(least[, arm])) / record$share[arm]), missing = ""))
  }
  last <- nrow(w)
  leader <- which.max(least[last, ])
  wrong <- min(1, noise + exp(-max(least[, leader], 0)) / record$share[leader])
  if (!words) return(list(arm = NA_integer_, t = t[last], wrong = wrong, missing = NA_character_))
  columns <- pairs$column[pairs$arm == leader]
  rival <- pairs$rival[pairs$arm == leader][which.min(w[last, columns])]
  now <- least[last, leader]
  threshold <- threshold[leader]
  lead <- min(found$estimate(leader, rival) * record$width, record$most)
  two <- record$labels[c(leader, rival)]
  each <- lapply(paused, intersect, two)
  stuck <- Reduce(intersect, each)
  # One of them here, the other there
  if (!length(stuck) && length(each) && all(lengths(each) > 0)) stuck <- intersect(record$labels, two)
  silent <- record$labels[!record$arms %in% record$releases[record$releases[, "size"] > 0, "arm"]]
  standing <- if (length(silent)) paste("Nothing was released yet of", words_list(silent, most = 4)) else {
    if (isTRUE(lead > 0)) sprintf("%s leads %s by %s", two[1], two[2], number_text(signif(lead, 2))) else
      sprintf("%s and %s are about equal", two[1], two[2])
  }
  list(arm = NA_integer_, t = t[last], wrong = wrong,
       missing = sprintf(
         "%s; %s.", standing,
         if (!length(record$running)) "nobody comes any more" else
         if (length(stuck)) paste("no more people are compared while", words_list(stuck),
                                  if (length(stuck) == 1) "is paused" else "are paused") else
         if (now < 0.5) "too early to say how many more people" else
           sprintf("at this pace about %s more people%s",
                   label_count(signif(ceiling(t[last] * (threshold - now) / now), 2)),
                   if (record$sites) " in rounds of all sites" else "")
       ))
}

# Of arms that are proved within a margin at a look, the one that leads then, as the observer "verdict" has it
leading <- function(record, arms, look, ...) {
  arm <- arms[[1]]
  if (length(arms) > 1) {
    found <- record_evidence(record, evidence_kind(record), ..., looks = look)
    for (other in arms[-1]) if (isTRUE(found$estimate(other, arm) > 0)) arm <- other
  }
  as.integer(arm)
}

# ---- what is said of each record ------------------------------------------------------------------

# Of correlated noise: the part of the chance error of an error that is given to the noise, for each of k arms
# and one sign or both; and what is left
noise_share <- function(correlation, k, error, signs = 1) {
  kappa <- if (correlation > 0) 0.1 * signs else 0
  list(risk = kappa * error / (signs * k), left = (1 - kappa) * error)
}

# A table of answers, which knows what was asked: a list of arguments
new_answer <- function(columns, class, asked) {
  tibble::new_tibble(columns, nrow = length(columns[[1]]), class = c(class, "dpts_answer"), asked = asked)
}

asked_of <- function(x) attr(x, "asked")

#' @export
rbind.dpts_answer <- function(..., deparse.level = 1) {
  parts <- Filter(Negate(is.null), list(...))
  bind_parts(parts, "dpts_answer", rlang::current_env(), function(parts) {
    asked <- asked_of(parts[[1]])
    for (other in lapply(parts[-1], asked_of)) for (name in names(asked)) {
      if (!identical(asked[[name]], other[[name]])) abort_differs(name, asked[[name]], other[[name]])
    }
    plain <- unname(lapply(parts, bare))
    rows <- rlang::try_fetch(vctrs::vec_rbind(!!!plain), vctrs_error_ptype2 = function(cnd) {
      abort_join("Arms have names in some of them and numbers in others.", hint_tibble)
    })
    new_answer(rows, class(parts[[1]])[1], asked)
  })
}

# What a function of a record says of each, in one table. `asked`: what it was asked, for new_answer()
each_record <- function(x, f, class, asked, kinds = names(EVIDENCE), bounds = FALSE, outcome = "reward") {
  of <- release_records(x, outcome)
  records <- of$records
  bar <- progress_bar(total = length(records), name = "Weighing")
  rows <- lapply(seq_along(records), function(i) {
    record <- records[[i]]
    bar(i - 1)
    if (record$k == 0) {
      abort_input("x", "`x` must have an arm that was not retired: no other is compared.",
                  class = "dpts_error_verdict")
    }
    record$kind <- evidence_kind(record, bounds, kinds)
    if (is.null(record$kind)) {
      why <- paste(lapply(EVIDENCE[sort(kinds, decreasing = TRUE)], function(rule) {
        rule$fits(record) %||% "has no intervals by randomisation, as numbers of people are fixed,"
      }), collapse = " and ")
      other <- if (class == "dpts_evidence") evidence_kind(record) # no other verb has a `kind`
      if (!is.null(other)) {
        abort_input("kind", "`kind` must be \"%s\" for %s, which %s.", other, words_source(record), why,
                    class = "dpts_error_verdict")
      }
      abort_input("x", "`x` has no evidence on %s, which %s.", words_source(record), why,
                  class = "dpts_error_verdict")
    }
    f(record)
  })
  bar(NULL)
  n <- vapply(rows, function(r) length(r[[1]]), 0L)
  columns <- lapply(stats::setNames(nm = names(rows[[1]])), function(name) {
    unlist(lapply(rows, `[[`, name), use.names = FALSE)
  })
  for (name in intersect(c("arm", "rival", "control"), names(columns))) {
    columns[[name]] <- of$arms(rep(seq_along(rows), n), columns[[name]])
  }
  new_answer(c(lapply(of$keys, rep, n), columns), class, c(asked, list(outcome = outcome)))
}

# All ordered pairs of arms, and the column of each in what the kernels return
ordered_pairs <- function(k) {
  arm <- rep(seq_len(k), each = k)
  rival <- rep(seq_len(k), k)
  pairs_at(list(arm = arm, rival = rival, column = arm + k * (rival - 1L)), arm != rival)
}

pairs_at <- function(pairs, at) lapply(pairs, `[`, at)

# Evidence of one record by a rule. `margin`, `threshold`, `interval`, `risk`, `rate`: of weigh_releases()
# `looks`: how many; there is one after each block
# Returns list(t, pair, difference, estimate): the round of each look; the evidence then, with a column for
#   each pair, or with a rate two columns for each arm, above and below; lower bounds of differences at the
#   end; and a function of two arms that estimates their difference
record_evidence <- function(record, kind, margin = 0, threshold = Inf, interval = Inf, risk = 0,
                            rate = NA_real_, looks = Inf) {
  k <- record$ever
  own <- record$arms
  m <- length(own)
  columns <- if (!is.na(rate)) c(rbind(own, k + own)) else rep(own, m) + k * rep(own - 1, each = m)
  rule <- EVIDENCE[[kind]]
  if (!rule$drifts) inform_means(record)
  input <- released_whole(record, rule$by_block, looks)
  out <- weigh_releases(k, input, kind, record, margin, threshold, interval, risk, rate,
                        if (looks == Inf) record$memory)
  last <- cumsum(tabulate(input[, "look"])) # row of each look
  list(t = unname(input[last, "t"]), pair = out$pair[, columns, drop = FALSE],
       difference = out$lower[own, own, drop = FALSE],
       estimate = function(a, b) out$estimate[cbind(own[a], own[b])])
}

# The releases of a record that prove something, up to a look, with the columns of WEIGHED. `by_block`: is a
# block that is cut in one arm left out in all? `all`: also those after the last look
released_whole <- function(record, by_block, looks = Inf, all = FALSE) {
  table <- record$releases
  cut <- table[, "whole"] == 0
  if (any(cut) && by_block) cut <- table[, "block"] %in% table[cut, "block"]
  table <- table[!cut, , drop = FALSE]
  n <- nrow(table)
  moved <- function(x) x[-1] != x[-n]
  block <- cumsum(c(TRUE, moved(table[, "t"]) | moved(table[, "block"]))[seq_len(n)])
  if (n > 0 && !all && (record$strata > 1 || !is.null(record$site))) {
    block <- looks_after(record, table, block, record$site[!cut])[block]
  }
  cbind(table, look = block)[block <= looks & block < Inf, WEIGHED, drop = FALSE]
}

# The look at which each block is used first, Inf: at none yet. Of several strata there are looks as looks_t
# says (src/policy_evidence.h), of several sites after each round, and after the end one of all. `site`: of
# each row; sites come in their order in each round
looks_after <- function(record, table, block, site) {
  first <- !duplicated(block)
  n <- sum(first)
  open <- logical(n)
  if (!is.null(site)) {
    round <- cumsum(c(TRUE, diff(site[first]) <= 0))
    open <- c(round[-1] == round[-n], FALSE)
    # Is the last round whole? A filter may have cut off a site, or the row that says that a site ended.
    sizes <- tabulate(round)
    away <- setdiff(record$running, site[first][round == round[n]])
    open[n] <- length(away) > 0 && sizes[round[n]] < c(record$sites, sizes)[round[n]]
  }
  people <- as.vector(rowsum(table[, "size"], block))
  so_far <- .Call(C_looks, record$strata, table[first, "stratum"], people, table[first, "t"], open)
  look <- c(0, so_far[-n]) + 1
  if (length(record$running)) look[look > so_far[n]] <- Inf
  look
}

inform_means <- function(record) {
  inform_once("means", class = "dpts_message_means", message = c(
    sprintf("%s %s: the evidence is for means that do not change.", sub("^p", "P", words_source(record)),
            if (record$permuted) "randomises in fixed numbers" else
              if (record$tosses) "is judged by means" else
              "does not randomise people to arms"),
    i = paste0(if (!record$tosses) "Assignments come in blocks of one arm. ",
               "Nothing here protects against a time trend; evidence by randomisation does ",
               if (record$tosses) "(`evidence(kind = \"tosses\")`)." else "(`policy_randomised()`).")
  ))
}

# Whose releases they are, for a message
words_source <- function(record) {
  if (is.na(record$name)) "the policy of the table" else sprintf("policy \"%s\"", record$name)
}

control_arm <- function(control, labels) {
  if (is.null(control)) return(NULL)
  must <- sprintf("one of the arms: %s", words_list(labels))
  if (length(control) != 1) abort_arg("control", must, control)
  arm_numbers(control, labels, "control", must)
}

# Policies of which a verdict can be had: they release sums of batches, each reward in one of them, or, where
# `error` says that their own is enough, they give one
check_concludes <- function(policies, error = NULL, margin = NULL, arg = "policies") {
  for (name in names(policies)) {
    policy <- policies[[name]]
    own <- !is.null(error) && is_true_of(policy, "gives_verdict") && life_of(policy) == Inf
    why <- if (own) other_promise(policy, error, margin) else no_evidence(policy)
    if (!is.null(why)) {
      abort_input(arg, "`%s` must allow a verdict: policy \"%s\" %s.", arg, name, why,
                  class = "dpts_error_verdict")
    }
  }
}

# What a policy that gives verdicts promises of them, if it is not what is asked; NULL: it is
other_promise <- function(policy, error, margin) {
  p <- unwrapped(policy)$params
  own <- (p$margin %||% 0) / (1 - 2 * flip_of(policy)) # of bits the gaps are smaller
  if (is.null(p$error)) {
    if ((p$beta %||% 0) > error)
      sprintf("is wrong with probability %s, which is above %s", number_text(p$beta), number_text(error))
  } else if (p$error != error || !is.null(p$margin) && abs(own - margin) > 1e-9) {
    sprintf("has the error %s and the margin %s, and here they are %s and %s", number_text(p$error),
            number_text(own), number_text(error), number_text(margin))
  }
}

# Is there a bound of the chance that its verdict is wrong? One of its own, or that of evidence
promises_verdict <- function(policy) {
  p <- unwrapped(policy)$params
  !is_true_of(policy, "gives_verdict") ||
    any(c("error", "beta") %in% names(p)) && !identical(p$threshold, "run")
}

# Why there is no evidence of what a policy does; NULL: there is, from sums of batches, each reward in one of
# them, or from bits that are random already
no_evidence <- function(policy) {
  if (life_of(policy) < Inf) return("restarts, and evidence needs a policy that does not")
  if (flip_of(policy) > 0) {
    if (is_contextual(policy)) return("reads contexts: its arms have no means that do not change")
    if (!bits_are_public(policy)) return("has a guarantee of its own, which does not publish its bits")
  } else if (is_contextual(policy)) {
    paste("reads contexts and gives an arm to those whom it seems to suit, and its sums do not tell for whom",
          "it works: use `policy_randomised()`, with strata if need be")
  } else if (!gathers(policy)) "releases no sums of batches, from which evidence is made"
}

gathers <- function(policy) is_true_of(policy, "each_once") && is_true_of(policy, "reports")
