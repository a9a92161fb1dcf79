# Methods for the result of dpts_simulate().

#' @export
result_key.dpts_simulation <- function(x) c(if (has_problems(x)) "problem", "policy", "run", "t")

# The problems of a simulation, by name if it has several
problems_of <- function(x) {
  if (is_label(x[["problem"]])) things_of(x$problem) else list(shared(x, "problem"))
}

# The index of each run's problem in problems_of()
problem_at <- function(runs) if (is.null(runs$problem)) rep(1L, nrow(runs)) else as.integer(runs$problem)

# ---- several problems ------------------------------------------------------------------------------

# Parts with different problems get a column `problem`
#' @export
before_join.dpts_simulation <- function(like, parts) {
  alone <- !vapply(parts, has_problems, NA)
  id <- vapply(parts[alone], function(part) meaning_id(attr(part$policy, "shared")$problem), "")
  if (!any(alone) || (all(alone) && length(unique(id)) == 1)) return(parts)
  given <- names(parts) %||% rep("", length(parts))
  known <- unlist(lapply(parts[!alone], function(part) {
    stats::setNames(levels(part$problem), vapply(attr(part$problem, "meaning"), meaning_id, ""))
  }))
  problems <- lapply(parts[alone], shared, "problem")
  labels <- problem_names(problems, id, given[alone], known)
  parts[alone] <- Map(name_problem, parts[alone], labels)
  parts
}

# Names for problems: the given name, or that of the same problem in another part, or a short description;
# equal descriptions are distinguished by the horizon, or by a number `id`: The definitions of the problems;
# `known`: labels, named by definitions.
problem_names <- function(problems, id, given, known) {
  for (i in which(nzchar(given) & !id %in% names(known))) known[id[i]] <- given[i]
  new <- which(!id %in% names(known) & !duplicated(id))
  short <- vapply(problems[new], function(problem) describe_thing(problem$arms), "")
  long <- vapply(problems[new], describe_thing, "")
  alike <- short %in% c(known, short[duplicated(short)])
  label <- ifelse(alike, long, short)
  twice <- duplicated(label) | label %in% known
  label[twice] <- sprintf("%s (%d)", label[twice], length(known) + which(twice))
  known[id[new]] <- label
  unname(known[id])
}

# A simulation of one problem with its name in a first column
name_problem <- function(x, label) {
  own <- attr(x$policy, "shared")$problem
  problem <- new_label(rep(1L, nrow(x)), label)
  attr(problem, "meaning") <- list(own)
  shared <- attr(x$policy, "shared")
  attr(x$policy, "shared") <- if (length(shared) > 1) shared[names(shared) != "problem"]
  attr(x$policy, "runs") <- lapply(attr(x$policy, "runs"), function(run) {
    vctrs::new_data_frame(c(list(problem_id = rep(meaning_id(own), nrow(run))), as.list(run)))
  })
  stay(tibble::new_tibble(c(list(problem = problem), as.list(x)), nrow = nrow(x)), x)
}

#' Average the curves of a simulation over its runs
#'
#' `summary()` averages the regret of each policy over the runs, with confidence intervals.
#'
#' @section Intervals:
#' The interval of a mean regret is Student's on the logarithm, widened on each side by what unseen runs may
#' add. In n runs a share of 1 - ((1 - `level`) / 2)^(1 / n) of all possible runs, about 3.7
#' / n at 0.95, may go unseen. Such runs are taken to lie up to 1.75 + 5 / n times as far from the mean as
#' the farthest run seen on that side. Where runs are alike (more than half equal, all but at most two) they
#' may lie anywhere between 0 and the number of rounds times the largest gap between two arms. No limit lies
#' outside these bounds. The interval is `NA` for one run, and for runs that are alike where rewards have no
#' bounds. It has width zero only for a policy that neither draws at random nor learns, such as
#' [policy_fixed()], on arms that do not change: its regret is the same in all runs.
#'
#' Rare runs of [policy_dp_imed()] with the paper's index fail: their regret is above 5 times the median, and
#' they make up to half of the mean. Until ten of its runs have failed, its interval allows that unseen runs
#' lose all that can be lost. **Where these could add more than the median to the mean, it is `NA`**, and a
#' message says how many runs suffice. A message also says where one run makes more than a quarter of the mean
#' and is above 5 times the median. Compare quantiles then, or simulate more runs.
#'
#' In simulations of 22 pairs of policy and problem, 95% intervals from 5 to 100 runs held the mean in 92 to
#' 100% of cases, where there was one.
#'
#' @param object A result of [dpts_simulate()].
#' @param ... Must be empty.
#' @param level Confidence level of the band: a number in (0, 1).
#' @param quantiles `NULL`, or probabilities: quantiles of the regret over runs, such as `c(0.05, 0.5, 0.95)`.
#' @returns A tibble, one row for each problem (if there are several), policy and recorded round:
#'   * `problem`, `policy`, `t`: as in the simulation;
#'   * `runs`: how many runs were averaged;
#'   * `mean`, `sd`: of the cumulative pseudo-regret over runs;
#'   * `se`: standard error of the mean, `sd / sqrt(runs)`;
#'   * `lower`, `upper`: confidence interval for the mean, see Intervals;
#'   * `worst`: the largest regret of a run;
#'   * `q5`, `q50`, ...: the quantiles asked for.
#'
#'   Columns that you added follow, if they are constant in each of these rows.
#' @template see_simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_gaussian(), 1000, seed = 1)
#' summary(sim)
#' @export
summary.dpts_simulation <- function(object, ..., level = 0.95, quantiles = NULL) {
  check_dots_empty(...)
  level <- check_number(level, 0, 1, open = TRUE)
  if (!is.null(quantiles)) quantiles <- unique(check_numbers(quantiles, 0, 1))
  stats <- regret_by_round(object, level, quantiles)
  say_failures(object, words_failures(object, final_rows(stats)))
  stats
}

# What summary() gives: regret over runs by problem, policy and round, with columns that are constant there
regret_by_round <- function(x, level = 0.95, quantiles = NULL) {
  check_result(x, "regret")
  possible <- possible_regret(x, level)
  by <- setdiff(result_key(x), "run")
  x <- as.data.frame(x)
  for (label in intersect(c("problem", "policy"), by)) {
    if (!is.factor(x[[label]])) x[[label]] <- factor(x[[label]], unique(x[[label]]))
  }
  order <- do.call(order, unname(lapply(x[by], as.numeric)))
  x <- x[order, ]
  group <- vctrs::vec_group_id(x[by])
  first <- !duplicated(group)
  stats <- group_stats(x$regret, group)
  at <- lapply(as.list(quantiles), function(p) {
    vapply(split(x$regret, group), stats::quantile, 0, p, names = FALSE, USE.NAMES = FALSE)
  })
  names(at) <- vapply(quantiles, function(p) paste0("q", number_text(100 * p)), "")
  own <- c(list(runs = stats$n, mean = stats$mean, sd = stats$sd, se = stats$sd / sqrt(stats$n)),
           mean_interval(stats, level, possible$low[order][first], possible$high[order][first],
                         rise = possible$failures[order][first]),
           list(worst = stats$most), at)
  # A new column replaces one of the same name.
  rest <- x[setdiff(names(x), c(by, "run", "regret", "reward", names(own)))]
  tibble::as_tibble(c(lapply(as.list(x)[by], `[`, first), own, constant_columns(rest, group)))
}

# The least and the largest possible regret up to the round of each row, and what unseen failures may add to
# the mean, NA if that leaves no interval; Inf and 0 where the labels no longer have the problem. A policy
# that neither draws at random nor learns has the same regret in all runs.
possible_regret <- function(x, level) {
  low <- rep(0, nrow(x))
  if (has_problems(x) && !is_label(x$problem) || !is_label(label_of(x))) {
    return(list(low = low, high = low + Inf, failures = low))
  }
  arms <- lapply(problems_of(x), `[[`, "arms")
  at <- if (has_problems(x)) as.integer(x$problem) else rep(1L, nrow(x))
  high <- x$t * vapply(arms, largest_gap, 0)[at]
  certain <- vapply(things_of(x$policy), function(p) !is_true_of(p, "tosses") && !is_true_of(p, "learns"), NA)
  steady <- vapply(arms, function(own) !is_changing(own) && is.null(own$contexts), NA)
  certain <- certain[as.integer(x$policy)] & steady[at]
  rarely <- vapply(things_of(x$policy), fails_rarely, NA)[as.integer(x$policy)]
  failures <- low
  if (any(rarely)) {
    group <- vctrs::vec_group_id(as.data.frame(x)[setdiff(result_key(x), "run")])
    first <- !duplicated(group)
    failures <- small_failures(group_stats(x$regret, group), level, high[first], rarely[first])[group]
  }
  list(low = ifelse(certain, x$regret, low), high = ifelse(certain, x$regret, high), failures = failures)
}

# Has a policy rare runs that make much of its mean regret? With the index "likelihood" those of DP-IMED made
# at most 7% on 8 problems, which an interval of its mean holds. An index of Azize and Basu that is narrower
# than that of KL-UCB (a width below 1) leaves the best arm for good in some runs of a hundred.
fails_rarely <- function(policy) {
  narrow <- policy$name %in% c("adap_ucb", "adap_klucb", "adac_ucb") &&
    (policy$params[["alpha"]] %||% policy$params[["beta"]]) < 1
  narrow || is_true_of(policy, "fails_rarely") && !identical(policy$params[["index"]], "likelihood")
}

# Sentences on means that rest on rare runs with large regret, by what they say; NULL if there are none
# `last`: The last round of each policy, of regret_by_round().
words_failures <- function(x, last) {
  by <- intersect(names(last), setdiff(result_key(x), "run"))
  at <- vctrs::vec_match(keys_of(x, by), keys_of(last, by))
  x <- x[!is.na(at), ]
  at <- at[!is.na(at)]
  median <- group_stats(x$regret, at)$median
  possible <- lapply(possible_regret(x, 0.95), `[`, match(seq_len(nrow(last)), at))
  share <- last$worst / (last$runs * last$mean)
  of_one <- last$runs > 1 & last$mean > 0 & share > MUCH_OF_MEAN & last$worst > FAILED * median
  no_interval <- last$runs > 1 & is.na(possible$failures)
  # by unseen_failures() at 0.95
  enough <- max(0, log(0.025) / log1p(-(median / (possible$high - last$mean))[no_interval]))
  named <- function(which) words_list(unique(as.character(last$policy[which])), most = 4)
  c(one_run = if (any(of_one)) sprintf(
      paste("One run makes %s%d%% of the mean regret of %s: more runs may change the mean by more than its",
            "standard error says."),
      if (sum(of_one) > 1) "up to " else "", round(100 * max(share[of_one])), named(of_one)),
    unseen = if (any(no_interval)) sprintf(
      paste("Rare runs of %s have a very large regret, and too few of them were seen for an interval of the",
            "mean%s."), named(no_interval),
      if (is.finite(enough)) sprintf(": about %s runs suffice", words_whole(signif(enough, 2))) else ""))
}

MUCH_OF_MEAN <- 1 / 4

# Said once of a result, whichever of its rows, functions and rounds are asked for
say_failures <- function(x, words) {
  of <- intersect(c("problem", "policy"), names(x))
  for (kind in names(words)) {
    id <- c(kind, unlist(lapply(of, function(name) meanings_in(x[[name]]))))
    inform_once(paste(id, collapse = " "), words[[kind]], "dpts_message_failures")
  }
}

# The definitions of the levels that a label has, or the names in another column
meanings_in <- function(label) {
  if (!is_label(label)) return(sort(unique(as.character(label))))
  vapply(attr(label, "meaning")[sort(unique(as.integer(label)))], meaning_id, "")
}

# Columns that are constant within each group, with one element per group
# `group`: Numbers from 1, in the order of first appearance.
constant_columns <- function(columns, group) {
  first <- !duplicated(group)
  same <- vapply(columns, function(v) {
    !is.list(v) && all(vctrs::vec_equal(v, v[first][group], na_equal = TRUE))
  }, NA)
  lapply(as.list(columns)[same], `[`, first)
}

#' How often each arm was pulled
#'
#' `pulls()` counts how often each arm was pulled in each run.
#'
#' @param x A result of [dpts_simulate()] or [dpts_replay()].
#' @param ... Must be empty.
#' @returns A tibble, one row for each problem (if there are several), policy, delay (of a replay), run and
#'   arm of `x`: `problem`, `policy` (factors), `delay`, `run`, `arm` (a factor if arms have names, else a
#'   number) and `pulls`, the rounds in which the arm was pulled, over the whole horizon, or a replay's kept
#'   events. For rows up to a round, such as `x[x$t <= 100, ]`, the pulls are those of these rounds; the
#'   simulation must then have its history.
#' @template see_simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_beta(), 1000, seed = 1)
#' pulls(sim)
#' @export
pulls <- function(x, ...) UseMethod("pulls")

#' @export
pulls.default <- function(x, ...) {
  abort_arg("x", "a result of `dpts_simulate()` or `dpts_replay()`, or an agent", x)
}

#' @rdname pulls
#' @export
pulls.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  runs <- checked_runs(x)
  own <- run_keys(x, runs)
  until <- as_of(x, runs, own)
  for (i in which(until < Inf)) {
    if (!length(runs$arms[[i]])) {
      abort_as_of(runs$policy[i], until[i], "How often arms were pulled by then is not kept")
    }
    runs$pulls[[i]] <- tabulate(runs$arms[[i]][seq_len(until[i])], length(runs$pulls[[i]]))
  }
  columns <- c(arm_rows(own, runs), list(pulls = as.double(unlist(runs$pulls))))
  tibble::new_tibble(columns, nrow = length(columns$pulls), class = "dpts_pulls")
}

# For each run the last round that the rows of `x` have: what is concluded is as of then. Inf: the end of the
# run
as_of <- function(x, kept, own) {
  # No row comes twice, so with as many last rounds as runs each run has its last one.
  if (!"t" %in% result_key(x) || sum(x$t >= max(own$horizon, 0)) == nrow(kept)) return(rep(Inf, nrow(kept)))
  by <- setdiff(result_key(x), "t")
  at <- vctrs::vec_match(keys_of(x, by), keys_of(kept, by))
  order <- order(at, x$t)
  last <- x$t[order][!duplicated(at[order], fromLast = TRUE)]
  ifelse(last < own$horizon, last, Inf)
}

abort_as_of <- function(policy, t, why) {
  abort_input("x", c(sprintf("`x` has the rows of policy \"%s\" up to round %s alone. %s.", policy,
                             words_whole(t), why),
                     i = "Ask for the whole run, or simulate with `history = TRUE`."),
              class = "dpts_error_history")
}

#' Draw pulls and estimates of arms
#'
#' `autoplot()` draws the number of pulls of each arm, or the estimates of its mean from the released sums.
#'
#' @param object A result of [pulls()] or [estimates()], of a simulation or an agent.
#' @param ... Must be empty.
#' @param log `"x"` for a logarithmic axis, or `""`.
#' @returns A ggplot with a panel for each policy, and problem, if there are several. For pulls: the mean
#'   over runs as a point and a line from the least to the most. For estimates: a point and an interval for
#'   each run, of the first twenty.
#' @template see_simulation
#' @examples
#' arms <- arms_bernoulli(c(new = 0.6, old = 0.5))
#' sim <- dpts_simulate(arms, policy_imed(), 2000, runs = 5, seed = 1)
#' autoplot(pulls(sim), log = "x")
#' autoplot(estimates(sim))
#' @export
autoplot.dpts_pulls <- function(object, ..., log = "") {
  check_dots_empty(...)
  check_choice(log, c("x", ""))
  need_columns(object, c("arm", "pulls"))
  data <- bare(object)
  by <- intersect(c("problem", "policy", "delay", "arm"), names(data))
  groups <- split(data, rev(as.list(data[by])), drop = TRUE)
  if (log == "x") groups <- Filter(function(own) min(own$pulls) > 0, groups)
  if (length(groups) == 0) {
    return(nothing_to_draw(if (log == "x") "No pulls to draw: a logarithmic axis cannot show 0." else
      "No pulls to draw."))
  }
  rows <- vctrs::vec_rbind(!!!unname(lapply(groups, function(own) {
    data.frame(own[1, by, drop = FALSE], at = mean(own$pulls), from = min(own$pulls), to = max(own$pulls),
               row.names = NULL)
  })))
  rows$y <- downwards(rows$arm)
  draw_ranges(rows, "Pulls", log = log,
              caption = if (any(rows$from < rows$to)) {
                "Point: mean of the runs; line: from the least to the most."
              },
              alt = sprintf("Mean pulls: %s.", words_rows(rows[by], shorts(rows$at))))
}

#' @rdname pulls
#' @export
pulls.dpts_replay <- pulls.dpts_simulation

# The runs of runs_in() for tables of arms: `keys`, columns that identify runs; `arms`, a function
# of runs and numbers of arms; and of each run the `range` of rewards, two rows, whether it is `bounded`, and
# the `horizon` (not of a replay)
run_keys <- function(x, runs) UseMethod("run_keys")

#' @export
run_keys.dpts_simulation <- function(x, runs) {
  problems <- problems_of(x)
  at <- problem_at(runs)
  range <- vapply(problems, function(problem) arms_scale(problem$arms), numeric(2))
  bounded <- vapply(problems, function(problem) all(is.finite(problem$arms$range)), NA)
  list(keys = c(if (has_problems(x)) list(problem = runs$problem),
                list(policy = runs$policy, run = whole(runs$run))),
       arms = function(i, arm) arm_column(problems, at[i], arm), range = range[, at, drop = FALSE],
       bounded = bounded[at], horizon = vapply(problems, `[[`, 0, "horizon")[at])
}

# The columns of a table with a row for each arm of each run
arm_rows <- function(own, runs) {
  n <- lengths(runs$pulls)
  at <- rep(seq_along(n), n)
  c(lapply(own$keys, `[`, at), list(arm = own$arms(at, sequence(n))))
}

# Arms by their names, if any problem has them, else by their numbers
# `at`: The place of each arm's problem in `problems`.
arm_column <- function(problems, at, arm) {
  labels <- lapply(problems, function(problem) arm_labels(problem$arms))
  named <- vapply(problems, function(problem) !is.null(names(problem$arms)), NA)
  if (!any(named)) return(as.integer(arm))
  levels <- unique(unlist(labels))
  place <- lapply(labels, match, levels)
  first <- c(0, cumsum(lengths(place)))[at]
  structure(unlist(place, use.names = FALSE)[first + arm], levels = levels, class = "factor")
}

#' @importFrom tibble tbl_sum
#' @export
tbl_sum.dpts_simulation <- function(x, ...) {
  if (!is_whole(x)) return(NextMethod())
  problems <- problems_of(x)
  if (has_problems(x)) problems <- problems[levels(x$problem) %in% x$problem]
  span <- function(values, noun) {
    ends <- unique(range(values))
    paste0(paste(label_count(ends), collapse = " to "), " ", noun, if (any(ends != 1)) "s")
  }
  head <- sprintf(
    "%s%s, %s, %s, %s",
    if (has_problems(x)) paste0(count_noun(length(problems), "problem", "problems"), ", ") else "",
    span(vapply(problems, function(w) n_arms(w$arms), 0L), "arm"),
    span(vapply(problems, `[[`, 0, "horizon"), "round"),
    count_noun(length(unique(x[["policy"]])), "policy", "policies"),
    count_noun(length(unique(x[["run"]])), "run", "runs")
  )
  late <- unique(lapply(problems, function(w) words_late(w$delay, w$batch)))
  c("Simulation" = head, if (length(late) == 1) late[[1]], c("Beware" = words_idle_policies(x, problems)),
    "Seed" = words_seed(x), NextMethod())
}

# Policies that released nothing in any problem
words_idle_policies <- function(x, problems) {
  words_unreleased(names(Reduce(function(left, problem) {
    if (isTRUE(problem$finish)) list() else unreleased(left, problem$arms, problem$horizon)
  }, problems, policies(x))))
}

#' Results in broom's form
#'
#' Turn results into plain tables, with the column names of the broom package.
#' `tidy()` gives one row for each estimate of a result, `glance()` the result in one row, and
#' `augment()` the rows of a simulation with the mean over runs added to each.
#'
#' @param x A result of [dpts_simulate()], [dpts_recommend()], [dpts_tune()], [dpts_identify()],
#'   [dpts_plan()], [dpts_replay()], [dpts_ope()], [dpts_privacy()], [dpts_audit()] or [dpts_reproduce()].
#' @param conf.int Give an interval for each estimate?
#' @param conf.level Confidence level of the interval.
#' @param ... Must be empty.
#' @returns `tidy()`: a tibble with columns `term` (the policy, or the estimator), what else identifies the
#'   estimate (`problem`, `delay`, `accountant`, ...), `estimate`, `std.error`, and `conf.low`, `conf.high`
#'   unless `conf.int = FALSE`. The estimate is the mean cumulative regret at the last round `t` that is
#'   recorded for the policy (simulations); the mean regret at the horizon, or the people for another goal
#'   (recommendations and tunings); the mean number of people to a verdict, where runs without one count with
#'   the limit (identifications); the power (plans); the mean reward of a kept event (replays); the target's
#'   mean reward (off-policy estimates); or epsilon,
#'   without an error or an interval (privacy, and audits: there the `term` is the adversary and the estimate
#'   its lower bound).
#'
#'   `glance()`: a tibble of one row (one for each problem of a simulation), with `nobs`, the
#'   number of runs (of events for [dpts_ope()]), `seed` (`NA` if there are several) and what
#'   describes the result. For a simulation: `arms`, `horizon`, `t` (the last recorded round that
#'   all policies share), `policies`, `nobs`, `seed`, `best` (the policy of least mean regret at
#'   `t`) and `regret` (its mean regret there).
#'
#'   `augment()`: the simulation with `.fitted`, the mean regret of the policy at that round, and
#'   `.resid`, the regret of the run less that.
#' @template see_simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_beta(), 1000, seed = 1)
#' tidy(sim)
#' glance(sim)
#' augment(sim)
#' @name tidy.dpts_simulation
NULL

#' @export
tidied.dpts_simulation <- function(x, level) {
  last <- final_rows(summary(x, level = level))
  list(c(if (has_problems(x)) list(problem = as.character(last$problem)),
         list(term = as.character(last$policy), t = last$t)),
       estimate = last$mean, se = last$se, lower = last$lower, upper = last$upper)
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  stats <- regret_by_round(x)
  problems <- problems_of(x)
  if (!has_problems(x)) names(problems) <- describe_thing(problems[[1]]$arms)
  problem <- if (has_problems(x)) as.character(stats$problem) else rep(names(problems), nrow(stats))
  rows <- lapply(unique(problem), function(name) {
    own <- stats[problem == name, ]
    runs <- if (has_problems(x)) x$run[x$problem == name] else x$run
    policy <- as.character(own$policy)
    # The last round that all policies have
    seen <- table(own$t)
    t <- as.double(names(seen)[seen == length(unique(policy))])
    here <- which(own$t == max(t, -Inf))
    best <- here[which.min(own$mean[here])]
    tibble::as_tibble(c(
      if (has_problems(x)) list(problem = name),
      list(arms = n_arms(problems[[name]]$arms), horizon = problems[[name]]$horizon,
           t = if (length(t)) max(t) else NA_real_, policies = length(unique(policy)),
           nobs = length(unique(runs)), seed = one_seed(x),
           best = if (length(best)) policy[best] else NA_character_,
           regret = if (length(best)) own$mean[best] else NA_real_)
    ))
  })
  vctrs::vec_rbind(!!!rows)
}

#' @rdname tidy.dpts_simulation
#' @export
augment.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  means <- regret_by_round(x)
  by <- setdiff(result_key(x), "run")
  x$.fitted <- means$mean[vctrs::vec_match(keys_of(x, by), keys_of(means, by))]
  x$.resid <- x$regret - x$.fitted
  x
}

# The last recorded round of each policy (and problem) in a summary
final_rows <- function(stats) {
  by <- intersect(c("problem", "policy"), names(stats))
  stats <- stats[do.call(order, unname(lapply(as.list(stats)[c(by, "t")], as.numeric))), ]
  stats[!duplicated(stats[by], fromLast = TRUE), , drop = FALSE]
}

# The rows of a summary that have an interval: ggplot2 fails on a band of missing values
with_band <- function(stats) stats[is.finite(stats$lower) & is.finite(stats$upper), , drop = FALSE]

#' Draw regret curves
#'
#' `autoplot()` draws the mean cumulative regret of each policy against rounds, with a confidence band, and a
#' panel for each problem if there are several. If only one round is recorded, it draws points with intervals.
#' More than twelve problems are drawn as a performance profile: the share of problems on which a policy's
#' regret is within a factor of the least. The caption says where one run makes much of a mean (see
#' [summary.dpts_simulation()]).
#'
#' @param object A result of [dpts_simulate()].
#' @param ... Must be empty.
#' @param log Which axes are logarithmic: `""`, `"x"`, `"y"` or `"xy"`.
#' @param level Confidence level of the band.
#' @param runs Also draw every run as a thin line?
#' @param show What to draw: `"mean"` with its confidence band, or `"median"` with a band from the 5% to the
#'   95% quantile of runs.
#' @returns A ggplot, which can be restyled like any other: a colour scale that you add changes lines, bands
#'   and names together. The legend is in the order of the curves at the end, and stands below in a narrow
#'   picture. More than eight curves carry their names instead, and more than eighteen have a panel each. A
#'   picture that is too small for its legend or for all panels leaves some out, and its caption says so.
#'   Columns that you added to the result are there for `facet_wrap()`, if they are constant for a policy at a
#'   round.
#' @references Dolan, E. D. and More, J. J. (2002). Benchmarking optimization software with performance
#'   profiles. Mathematical Programming 91, 201-213.
#' @template see_simulation
#' @examples
#' sim <- dpts_simulate(
#'   arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25)),
#'   list("Gaussian TS" = policy_ts_gaussian(), UCB1 = policy_ucb1()),
#'   horizon = 5000, seed = 1
#' )
#' autoplot(sim)
#' autoplot(sim, log = "x")
#' @importFrom rlang .data
#' @export
autoplot.dpts_simulation <- function(object, ..., log = "", level = 0.95, runs = FALSE,
                                     show = c("mean", "median")) {
  check_dots_empty(...)
  show <- check_choice(show, c("mean", "median"))
  check_flag(runs)
  scales <- axes(log)
  level <- check_number(level, 0, 1, open = TRUE)
  stats <- bare(regret_by_round(object, level, if (show == "median") c(0.05, 0.5, 0.95)))
  failures <- if (show == "mean") words_failures(object, final_rows(stats))
  if (show == "median") stats[c("mean", "lower", "upper")] <- stats[c("q50", "q5", "q95")]
  last <- final_rows(stats)
  problems <- if (has_problems(object)) length(unique(last$problem)) else 1
  policies <- length(unique(last$policy))
  if (problems > MAX_PANELS || (problems > 3 && policies > MANY_LINES)) return(draw_profile(last))
  if (nrow(last) == nrow(stats)) return(draw_last(last, log, level, failures))
  if (grepl("y", log)) stats <- stats[stats$mean > 0, , drop = FALSE] # a logarithmic axis has no room for 0
  if (nrow(stats) == 0) {
    return(nothing_to_draw(NO_REGRET))
  }
  # Levels from the highest curve to the lowest, as in the legend
  levels <- levels(stats$policy)
  down <- order(-last$mean)
  stats$policy <- factor(stats$policy, unique(as.character(last$policy[down])))
  place <- if (problems > 1) paste0(last$problem, ": ", last$policy) else last$policy
  regret_curves(stats, "policy", if (runs) thin_lines(object, log, levels(stats$policy))) +
    scales_by(levels, levels(stats$policy), ggplot2::waiver())[c("colour", "linetype")] +
    scales + regret_panels(stats, log, problems, policies) +
    plot_words(
      x = "Round", y = REGRET_Y, colour = "Policy", linetype = "Policy",
      caption = if (show == "mean") c(words_mean(last$runs, level), failures) else
        sprintf("Median of %s; band: from the 5%% to the 95%% quantile of runs.",
                count_noun(max(last$runs), "run", "runs")),
      alt = sprintf(
        "%s cumulative regret against rounds for %s%s, with %s bands; at the end %s.",
        if (show == "mean") "Mean" else "Median", count_noun(policies, "policy", "policies"),
        if (problems > 1) paste(" on", count_noun(problems, "problem", "problems")) else "",
        if (show == "mean") paste(words_level(level), "confidence") else "quantile",
        paste(place[down], shorts(last$mean[down]), collapse = ", ")
      )
    )
}

NO_REGRET <- "Nothing to draw: no policy has any regret, which a logarithmic axis cannot show."

# More problems than this are drawn as a profile.
MAX_PANELS <- 12

# Panels for problems; many curves have names at their ends, or a panel each
regret_panels <- function(stats, log, problems, policies) {
  if (problems == 1) {
    highest <- range(stats$mean, stats$upper, na.rm = TRUE)
    return(names_at_end(stats$t, stats$mean, stats$policy, log, highest, "policy"))
  }
  if (policies <= MANY_LINES) return(panels_by(stats, "problem", scales = "free"))
  list(panels_by(stats, c("policy", "problem")), no_legend())
}

# Curves by a column, each with a band in the colour of its line, also if the user adds another colour scale
# `below`: A layer that is drawn first.
regret_curves <- function(stats, by, below = NULL) {
  colour <- NULL # the colour of the line, which the scales have found by then
  fill <- ggplot2::aes(ymin = .data$lower, ymax = .data$upper,
                       fill = ggplot2::after_scale(ggplot2::alpha(colour, 0.2)))
  ggplot2::ggplot(stats, ggplot2::aes(.data$t, .data$mean, colour = .data[[by]], linetype = .data[[by]],
                                      group = .data$policy)) +
    below + ggplot2::geom_ribbon(fill, data = with_band, linetype = "blank", show.legend = FALSE) +
    ggplot2::geom_line(linewidth = 0.7)
}

# One round: a point with its interval for each policy
draw_last <- function(last, log, level, failures = NULL) {
  last <- last[order(last$mean), ]
  if (grepl("[xy]", log)) last <- last[last$mean > 0, ]
  if (nrow(last) == 0) {
    return(nothing_to_draw(NO_REGRET))
  }
  last$y <- downwards(as.character(last$policy))
  last[c("at", "from", "to")] <- last[c("mean", "lower", "upper")]
  at <- label_count(unique(last$t))
  place <- if (is.null(last[["problem"]])) last$policy else paste0(last$problem, ": ", last$policy)
  draw_ranges(last[setdiff(names(last), c("policy", "run"))], REGRET_Y,
              log = if (nzchar(log)) "x" else "",
              alt = sprintf("Mean regret at round %s with %s confidence intervals: %s.", words_list(at),
                            words_level(level), paste(place, shorts(last$mean), collapse = ", ")),
              caption = c(sprintf("At round %s.", words_list(at)), words_mean(last$runs, level, "line"),
                          failures))
}

# For each policy the share of problems on which its regret is within a factor of the least
draw_profile <- function(last) {
  least <- stats::ave(last$mean, last$problem, FUN = min)
  last$factor <- ifelse(last$mean <= least, 1, ifelse(least > 0, last$mean / least, Inf))
  problems <- length(unique(last$problem))
  farthest <- max(last$factor[is.finite(last$factor)])
  curves <- vctrs::vec_rbind(!!!unname(lapply(split(last, last$policy, drop = TRUE), function(own) {
    at <- sort(own$factor[is.finite(own$factor)])
    at <- c(1, at, farthest)
    within <- vapply(at, function(v) sum(own$factor <= v), 0)
    data.frame(policy = own$policy[1], at = at, share = within / problems)
  })))
  levels <- levels(droplevels(last$policy))
  within <- vapply(levels, function(name) sum(last$factor[last$policy == name] <= 2) / problems, 0)
  order <- levels[order(-within)]
  curves$policy <- factor(curves$policy, order)
  many <- if (length(levels) > MAX_LABELS) {
    list(panels_by(curves, "policy"), no_legend())
  } else if (length(levels) > MANY_LINES) {
    ends <- curves[!duplicated(curves$policy, fromLast = TRUE), ]
    label_ends(spread_ends(data.frame(x = ends$at, y = ends$share, label = ends$policy), "", c(0, 1)))
  }
  ggplot2::ggplot(curves, ggplot2::aes(.data$at, .data$share, colour = .data$policy,
                                       linetype = .data$policy)) +
    ggplot2::geom_step(linewidth = 0.7) +
    scales_by(levels, order, ggplot2::waiver())[c("colour", "linetype")] + many +
    ggplot2::scale_x_log10(labels = label_count) +
    ggplot2::scale_y_continuous(labels = scales::label_percent(), limits = c(0, 1)) +
    plot_words(
      x = "Regret relative to the least", y = "Share of problems", colour = "Policy",
      linetype = "Policy", caption = wrap_caption(sprintf(
        "%s at round %s. At 1: where the policy is the best; at 2: where it loses at most twice as much.",
        count_noun(problems, "problem", "problems"), words_list(label_count(unique(last$t))))),
      alt = sprintf(
        "Share of %d problems against regret as a multiple of the least. Within twice the least: %s.",
        problems, paste(order, scales::label_percent(accuracy = 1)(within[order]), collapse = ", ")
      )
    )
}

# Every run as a line
thin_lines <- function(x, log, levels) {
  x <- bare(x)
  x$policy <- factor(x$policy, levels)
  if (grepl("y", log)) x <- x[x$regret > 0, ]
  ggplot2::geom_line(
    ggplot2::aes(x = .data$t, y = .data$regret, colour = .data$policy,
                 group = interaction(.data$policy, .data$run)),
    data = x, linewidth = 0.2, alpha = 0.4, inherit.aes = FALSE, show.legend = FALSE
  )
}
