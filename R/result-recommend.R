# Methods for the result of dpts_recommend().

# `regret`: An array: runs, policies, problems. Or people.
# `setup`: What all candidates share: `budget`, `horizon`, `arms`, `panel`, `goal`, `runs`, `seed`.
# `dropped`: Why known candidates are missing: reasons, named by candidate.
new_recommendation <- function(regret, policies, level, setup, dropped = character()) {
  by_run <- over_problems(regret)
  stats <- stats_by_column(by_run)
  # The round of the regret of a candidate that left the race in its first rounds
  rounds <- attr(regret, "rounds") %||% rep(NA_real_, length(policies))
  early <- !is.na(rounds)
  n <- stats$n
  alpha <- worse_level(level, length(policies))
  high <- most_to_lose(setup)
  rarely <- that_fail(policies, setup)
  interval <- mean_interval(stats, level, 0, high, rise = small_failures(stats, level, high, rarely))
  # A candidate that left the race is not the best.
  done <- n == max(n) & !early
  first <- which.min(ifelse(done, stats$mean, Inf))
  # Nor is one whose rare failures may have gone unseen, if another mean is known and about as small.
  known <- done & !is.na(interval$lower) & stats$mean <= WORSE_BY * stats$mean[first]
  if (is.na(interval$lower[first]) && any(known)) first <- which.min(ifelse(known, stats$mean, Inf))
  # Policies share random numbers run by run, so differences are taken there.
  gap <- by_run - by_run[, first]
  # Failures of the best that are not seen may add so much that nothing is known to be worse.
  fall <- unseen_failures(stats, level, high, rarely)[first]
  differ <- stats_by_column(gap)
  separate <- mean_interval(differ, 1 - 2 * alpha, -high, high, fall = fall)$lower > 0
  # A few bad runs can hide a difference from the mean that every other run shows. Where half of the
  # differences are one number, ranks say nothing about the other half.
  by_sign <- apply(gap, 2, function(d) {
    d <- d[!is.na(d)]
    middle <- stats::median(d)
    if (stats::median(abs(d - middle)) <= 1e-9 * abs(middle)) return(1)
    suppressWarnings(stats::wilcox.test(d, alternative = "greater", exact = FALSE))$p.value
  })
  # A candidate that left the race is worse, whatever its few runs look like.
  worse <- separate %in% TRUE | by_sign < alpha & fall == 0 | !done
  over_runs <- function(x, what, ...) unname(apply(x, 2, what, ..., na.rm = TRUE))
  medians <- apply(regret, c(2, 3), stats::median, na.rm = TRUE)
  failed <- over_runs(regret > FAILED * rep(medians, each = dim(regret)[1]) & regret > 0, base::mean)
  # Differences that are all but one number do not show how far the mean may be off.
  unsure <- n == 1 | failed > FAILS_BADLY | is.na(interval$lower) | is.na(interval$lower[first]) |
    differ$alike & differ$mean != 0
  standing <- ifelse(worse, "worse", ifelse(unsure, "unsure", "tied"))
  standing[first] <- "best"
  ranked(policies, first, level, setup, dropped, gap_errors(by_run, first), list(
    regret = stats$mean, se = stats$sd / sqrt(n), lower = interval$lower, upper = interval$upper,
    standing = unname(standing), q95 = over_runs(by_run, stats::quantile, 0.95, names = FALSE),
    worst = stats$most, failures = failed, runs = n, rounds = ifelse(early, rounds, setup$horizon)
  ), c(stats, list(open = over_runs(regret >= setup$horizon, base::mean))), early)
}

# A candidate leaves a race if its regret is surely above so many times the least. A mean that is known may be
# so much above one that is not.
WORSE_BY <- 1.5

over_problems <- function(regret) apply(regret, c(1, 2), base::mean)

# Which candidates have rare runs with large regret?
that_fail <- function(policies, setup) {
  identical(setup$goal %||% "regret", "regret") & vapply(policies, fails_rarely, NA, USE.NAMES = FALSE)
}

# group_stats() of the columns of a matrix, without what is NA
stats_by_column <- function(x) {
  seen <- !is.na(x)
  group_stats(x[seen], col(x)[seen])
}

# The largest mean that a candidate can have: of regret over the problems, or of people
most_to_lose <- function(setup) {
  if (!identical(setup$goal %||% "regret", "regret")) return(setup$horizon)
  setup$horizon * mean(vapply(setup$arms, largest_gap, 0))
}

# The level of each of two tests of a candidate against the one with the smallest mean. The latter is known
# only afterwards, so the level is shared between all other candidates: then the truly best candidate is
# called worse with probability 1 - level at most. Without sharing, one call in six did so with ten equal
# candidates.
worse_level <- function(level, candidates) (1 - level) / 2 / max(candidates - 1, 1)

# People for an effect, of a plan: one number for all runs. Its error: power grows as Phi(a sqrt(n) - b).
recommend_effect <- function(plan, policies, level, setup, dropped) {
  people <- matrix(plan$people, length(policies), byrow = TRUE)
  beyond <- is.na(people) # more than the horizon: how many is not known
  people[beyond] <- setup$horizon
  power <- shared(plan, "power")
  slope <- stats::dnorm(stats::qnorm(power)) *
    (stats::qnorm(power) + stats::qnorm(1 - shared(plan, "error") / length(shared(plan, "arms")))) / 2
  error <- people * sqrt(power * (1 - power) / setup$runs) / slope
  mean <- rowMeans(people)
  se <- sqrt(rowSums(error^2)) / ncol(people)
  if (setup$runs < 2) se[] <- NA # one run shows no power
  first <- which.min(mean)
  gap_se <- sqrt(se^2 + se[first]^2)
  far <- stats::qnorm(worse_level(level, length(policies)), lower.tail = FALSE)
  standing <- ifelse(mean - mean[first] > far * gap_se, "worse", "tied")
  known <- rowSums(beyond) == 0
  standing[!known & !known[first] | is.na(se)] <- "unsure"
  standing[first] <- "best"
  gap_se[!known] <- NA
  se[!known] <- NA
  none <- rep(NA_real_, length(mean))
  interval <- people_interval(mean, se, level)
  ranked(policies, first, level, setup, dropped, gap_se, list(
    regret = mean, se = se, lower = interval$lower, upper = interval$upper, standing = standing, q95 = none,
    worst = none, failures = 0 * mean, runs = rep(setup$runs, length(mean)),
    rounds = rep(setup$horizon, length(mean))
  ), list(open = rowMeans(beyond)))
}

# The interval of a number of people that follows from a power: normal on its logarithm, so above 0
people_interval <- function(people, se, level) {
  factor <- exp(stats::qnorm((1 + level) / 2) * se / people)
  list(lower = people / factor, upper = people * factor)
}

# The recommendation, best first
# `stats`: group_stats() of the runs, from which tidy() makes intervals of other levels; NULL: they are
# those of people_interval().
# `early`: Which candidates left the race in its first rounds. Their regret is a lower bound, and of a mean
# that is not known there is no interval.
ranked <- function(policies, first, level, setup, dropped, gap_se, columns, stats = NULL, early = FALSE) {
  early <- rep_len(early, length(policies))
  o <- order(seq_along(policies) != first, early, columns$regret)
  for (name in c("lower", "upper", "q95", "worst", "failures")) columns[[name]][early] <- NA
  gap_se[early] <- NA
  policies <- policies[o]
  names(columns)[1] <- if (identical(setup$goal %||% "regret", "regret")) "regret" else "people"
  # Ranks are among all candidates of the call, so parts of two calls have two rankings.
  shared <- c(setup, list(level = level, candidates = policies, dropped = dropped))
  runs <- lapply(o, function(i) vctrs::new_data_frame(c(list(gap_se = gap_se[[i]]), lapply(stats, `[`, i))))
  new_result(
    c(list(policy = new_label(seq_along(policies), names(policies), policies, runs, shared,
                              now = plays_r(policies)),
           guarantee = unname(guarantees_at(policies, setup))),
      lapply(columns, function(v) v[o])),
    "dpts_recommendation"
  )
}

# What candidates are ranked by
ranked_by <- function(x) if (identical(shared(x, "goal") %||% "regret", "regret")) "regret" else "people"

#' @export
result_key.dpts_recommendation <- function(x) "policy"

# The share of runs that fail (see FAILED) that makes a mean doubtful
FAILS_BADLY <- 0.01

# Standard errors of the differences of means to the best. Policies share the random numbers of a run, and the
# best may have more runs.
gap_errors <- function(by_run, best) {
  b <- by_run[, best]
  most <- sum(!is.na(b))
  apply(by_run, 2, function(x) {
    n <- which(!is.na(x))
    spread <- stats::var(x[n]) / length(n) + (stats::var(b, na.rm = TRUE) - 2 * stats::cov(x[n], b[n])) / most
    sqrt(max(spread, 0))
  })
}

# A guarantee in words, with the numbers of this run where it depends on the run
guarantee_at <- function(guarantee, budget, at) {
  fixed <- !is.null(form(guarantee, "epsilon", at)) ||
    (!is.null(guarantee$mu) && is.numeric(guarantee$mu) && is.null(form(guarantee, "rounds", at)))
  if (fixed || promises_nothing(guarantee)) return(format(guarantee))
  mu <- form(guarantee, "mu", at)
  # mu-GDP is not a statement at one delta: it holds at every one.
  by_mu <- !is.null(mu) && (!is.null(budget$mu) || is.null(form(guarantee, "sequence", at)))
  near <- if (!is.null(budget$nu)) form(guarantee, "near", at)
  stated <- if (!is.null(near)) guarantee_gdp(near$mu(budget$nu), budget$nu) else
    if (by_mu) guarantee_gdp(mu) else
    guarantee_approx(least_epsilon(guarantee, at, budget$delta), budget$delta)
  paste(format(stated), "at this horizon")
}

# The guarantee of each policy for this horizon, as text
guarantees_at <- function(policies, setup) {
  vapply(policies, function(p) {
    guarantee_at(p$guarantee, setup$budget, conditions(setup$horizon, n_arms(setup$arms[[1]])))
  }, "")
}

#' The policy that a recommendation or a tuning names
#'
#' `recommended_policy()` extracts a policy from a recommendation or a tuning, ready for [dpts_simulate()].
#'
#' @param x A result of [dpts_recommend()] or [dpts_tune()].
#' @param ... Must be empty.
#' @param policy A candidate's name, or `NULL` for the best.
#' @param accountant An accountant of the tuning, for its best policy, or `NULL` for the best of all.
#' @returns A policy, ready for [dpts_simulate()] and its relatives.
#' @template see_privacy
#' @examples
#' advice <- dpts_recommend(privacy_pure(1), arms_bernoulli(c(0.7, 0.5)), horizon = 2000,
#'                          candidates = c("dp_imed_tuned", "dp_imed"), runs = 10, seed = 1)
#' recommended_policy(advice)
#' recommended_policy(advice, "dp_imed")
#'
#' tuning <- dpts_tune(privacy_gdp(1), arms_bernoulli(c(0.7, 0.3)), horizon = 1000,
#'                     prepulls = c(10, 50, 200), accountant = "gdp", seed = 1)
#' recommended_policy(tuning)
#' @export
recommended_policy <- function(x, ...) {
  check_given(x)
  UseMethod("recommended_policy")
}

#' @export
recommended_policy.default <- function(x, ...) {
  abort_arg("x", "a result of `dpts_recommend()` or `dpts_tune()`", x)
}

#' @rdname recommended_policy
#' @export
recommended_policy.dpts_recommendation <- function(x, policy = NULL, ...) {
  check_dots_empty(...)
  check_result(x, "standing")
  policies <- policies(x)
  if (is.null(policy)) policy <- as.character(x$policy[one_best(x$standing == "best")])
  policies[[check_choice(policy, names(policies))]]
}

#' @rdname recommended_policy
#' @export
recommended_policy.dpts_tuning <- function(x, accountant = NULL, ...) {
  check_dots_empty(...)
  check_result(x, c("accountant", "prepulls", "variance_scale", "regret", "best"))
  if (!is.null(accountant)) {
    accountant <- check_choice(accountant, unique(x$accountant))
    x <- bare(x)[x$accountant == accountant, ]
    x$best <- are_best(x)
  }
  best <- one_best(x$best)
  policy_ts_gaussian(x$prepulls[best], x$variance_scale[best])
}

# The one row that is the best
one_best <- function(best) {
  best <- which(best)
  if (length(best) != 1) {
    abort_dpts(if (length(best)) "`x` must have one best row; keep the rows of one budget." else
      "`x` must hold the row of the best, which was left out.", "dpts_error_input", arg = "x")
  }
  best
}

#' Summarise a recommendation
#'
#' `summary()` lists all candidates of [dpts_recommend()] with their regret and their difference to the best,
#' those that were dropped too, with the reason. `autoplot()` draws them.
#'
#' @param object A result of [dpts_recommend()].
#' @param ... Must be empty.
#' @param log Which axes are logarithmic: `"x"`, the regret, or `""`.
#' @returns A tibble, one row for each candidate, those that were dropped too: `policy`, `standing` (as in
#'   the recommendation, or `"dropped"`), `regret` or `people`, `lower`, `upper`, `gap` (difference to the
#'   best; at least so much for a candidate that left the race in its first rounds), `gap_se` (its standard
#'   error; runs are paired) and `reason` (why a candidate was dropped).
#'
#'   `autoplot()`: a ggplot of the mean regret (or people) of each candidate with its confidence interval,
#'   least first, whose colour and shape say its `standing`; a cross marks the 95th percentile over runs.
#' @template see_privacy
#' @examples
#' advice <- dpts_recommend(privacy_pure(1), arms_bernoulli(c(0.7, 0.5)), horizon = 2000,
#'                          candidates = c("dp_imed_tuned", "dp_imed"), runs = 10, seed = 1)
#' summary(advice)
#' autoplot(advice)
#' @export
summary.dpts_recommendation <- function(object, ...) {
  check_dots_empty(...)
  by <- ranked_by(object)
  check_result(object, c(by, "lower", "upper", "standing"), labels = TRUE)
  dropped <- shared(object, "dropped")
  best <- one_best(object$standing == "best")
  out <- tibble::tibble(
    policy = as.character(object$policy), standing = object$standing, score = object[[by]],
    lower = object$lower, upper = object$upper, gap = object[[by]] - object[[by]][best],
    gap_se = kept_of(object, "gap_se"), reason = NA_character_
  )
  names(out)[3] <- by
  if (length(dropped) == 0) return(out)
  vctrs::vec_rbind(out, tibble::tibble(policy = names(dropped), standing = "dropped",
                                       reason = unname(dropped)))
}

# Which rows are of candidates that left the race in its first rounds
left_early <- function(x) x$rounds < shared(x, "horizon")

# What is kept of the candidates, for the rows that are left: the standard errors of the differences to the
# best (gap_se), or the shares of runs, or of problems, without a conclusion (open)
kept_of <- function(x, name) {
  runs <- runs_in(x)
  runs[[name]][match(as.character(x$policy), as.character(runs$policy))]
}

# What is said where this share of the best candidate's runs, or problems, has no conclusion; NULL: nothing
words_open <- function(goal, open, most) {
  if (open == 1) return(sprintf("Beware: no candidate leads to a conclusion within %s.", most))
  if (open > 0) switch(
    goal, verdict = sprintf("Beware: %s%% of its runs have no verdict within %s, and count with these.",
                            number_text(signif(100 * open, 2)), most),
    effect = sprintf("Beware: on some problem it has no effect within %s, which count instead.", most)
  )
}

# The advice in a few lines, and the call that makes the policy
advice <- function(x, width = cli::console_width()) {
  se <- kept_of(x, "gap_se")
  early <- left_early(x)
  best <- which(x$standing == "best")[1]
  number <- function(v) number_text(signif(v, 3), big.mark = ",", trim = TRUE)
  score <- x[[ranked_by(x)]]
  goal <- shared(x, "goal") %||% "regret"
  most <- paste(label_count(shared(x, "horizon")), "people")
  open <- if (goal == "regret") 0 else kept_of(x, "open")[best]
  never <- open == 1
  interval <- if (is.na(x$lower[best]) || never) "" else
    sprintf(" (%s interval %s to %s)", words_level(shared(x, "level")), number(x$lower[best]),
            number(x$upper[best]))
  use <- sprintf("Use %s: %s%s%s%s, inside %s.", x$policy[best],
                 if (never) sprintf("no %s within %s", goal, most) else
                   switch(goal, regret = paste("mean regret", number(score[best])),
                          verdict = sprintf("a verdict after %s people on average", number(score[best])),
                          effect = sprintf("an effect with %s people", number(score[best]))),
                 interval,
                 if (ranked_by(x) == "people") "" else
                   sprintf(" over %s rounds", label_count(shared(x, "horizon"))),
                 if (shared(x, "panel")) " on the panel" else "", format(shared(x, "budget")))
  those <- function(standing) paste(x$policy[x$standing == standing], collapse = ", ")
  worse <- which(x$standing == "worse")[1]
  rest <- c(
    if ("tied" %in% x$standing) sprintf("Tied with %s.", those("tied")),
    if ("unsure" %in% x$standing) sprintf("Too few runs to distinguish it from %s.", those("unsure")),
    if (!is.na(worse)) sprintf(
      "Next: %s, %s%s more%s.", x$policy[worse], if (early[worse]) "at least " else "",
      number(score[worse] - score[best]),
      if (se[worse] %in% c(NA, 0)) "" else sprintf(" (se %s)", number(se[worse]))
    ),
    if (length(x$policy) == 1) "There was no other candidate.",
    words_open(goal, open, most),
    if (x$failures[best] > FAILS_BADLY) sprintf("Beware: %s%% of its runs fail badly.",
                                                number_text(signif(100 * x$failures[best], 2))),
    if (is.na(x$lower[best]) && x$runs[best] > 1 && fails_rarely(recommended_policy(x)))
      sprintf("Beware: rare runs of it fail, and %s show too few of them for an interval of its mean.",
              count_noun(x$runs[best], "run", "runs")),
    if (any(early)) sprintf("Left the race in its first %s rounds, so that the regret shown is >= only: %s.",
                            label_count(min(x$rounds[early])), paste(x$policy[early], collapse = ", "))
  )
  dropped <- shared(x, "dropped")
  left_out <- vapply(unique(dropped), function(why) {
    sprintf("Left out: %s (%s).", paste(names(dropped)[dropped == why], collapse = ", "), why)
  }, "", USE.NAMES = FALSE)
  wrap <- function(text) cli::ansi_strwrap(text, width = width)
  call <- wrap_call(format(recommended_policy(x)), width - 2)
  c(wrap(use), wrap(paste(rest, collapse = " ")), paste0("  ", call),
    unlist(lapply(left_out, wrap)),
    wrap("Choose on public or invented problems, never on the data to be protected."))
}

#' @export
format.dpts_recommendation <- function(x, ..., width = NULL) {
  # After dplyr's verbs have removed rows or columns it is printed as a table, without advice.
  whole <- all(c("policy", ranked_by(x), "standing", "failures", "rounds") %in% names(x)) &&
    is_whole(x) && nrow(x) == length(shared(x, "candidates"))
  c(if (whole) advice(x, width %||% cli::console_width()), NextMethod())
}

# Not all versions of pillar print what format() gives.
#' @export
print.dpts_recommendation <- function(x, ...) print_lines(x, ...)

# On a narrow console these columns are shown first
#' @exportS3Method pillar::tbl_format_setup
tbl_format_setup.dpts_recommendation <- function(x, ...) {
  matter <- c("policy", "guarantee", "regret", "people", "lower", "upper", "standing")
  NextMethod(focus = intersect(matter, names(x)))
}

#' @importFrom tibble tbl_sum
#' @export
tbl_sum.dpts_recommendation <- function(x, ...) {
  if (!is_whole(x)) return(NextMethod())
  c("Recommendation" = sprintf("%s, %s, %s", format(shared(x, "budget")),
                               count_noun(length(shared(x, "arms")), "problem", "problems"),
                               count_noun(shared(x, "runs"), "run", "runs")),
    words_late(shared(x, "delay"), shared(x, "batch")), "Seed" = words_seed(x),
    NextMethod())
}

#' @export
tidied.dpts_recommendation <- function(x, level) {
  check_result(x, c(ranked_by(x), "se", "standing", "runs", "rounds"), labels = TRUE)
  score <- x[[ranked_by(x)]]
  runs <- runs_in(x)
  runs <- runs[match(as.character(x$policy), as.character(runs$policy)), ]
  setup <- lapply(stats::setNames(nm = c("goal", "horizon", "arms")), function(name) shared(x, name))
  interval <- if (is.null(runs$mean)) people_interval(score, x$se, level) else
    mean_interval(runs, level, 0, most_to_lose(setup), rise = small_failures(
      runs, level, most_to_lose(setup), that_fail(things_of(x$policy)[as.character(x$policy)], setup)))
  interval <- lapply(interval, replace, left_early(x), NA)
  c(list(list(term = as.character(x$policy), standing = x$standing), estimate = score, se = x$se), interval)
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_recommendation <- function(x, ...) {
  check_dots_empty(...)
  check_result(x, c(ranked_by(x), "standing"))
  best <- one_best(x$standing == "best")
  score <- x[[ranked_by(x)]][best]
  out <- tibble::tibble(
    budget = format(shared(x, "budget")), arms = n_arms(shared(x, "arms")[[1]]),
    horizon = shared(x, "horizon"), problems = length(shared(x, "arms")), candidates = nrow(x),
    dropped = length(shared(x, "dropped")), nobs = shared(x, "runs"), seed = one_seed(x),
    best = as.character(x$policy[best]), score = score,
    tied = sum(x$standing %in% c("best", "tied"))
  )
  names(out)[names(out) == "score"] <- ranked_by(x)
  out
}

#' @rdname summary.dpts_recommendation
#' @export
autoplot.dpts_recommendation <- function(object, ..., log = "x") {
  check_dots_empty(...)
  check_choice(log, c("x", ""))
  by <- ranked_by(object)
  check_result(object, c(by, "lower", "upper", "standing", "q95", "rounds"))
  if (nrow(object) == 0) return(nothing_to_draw())
  early <- left_early(object)
  data <- as.data.frame(object)
  names(data)[names(data) == by] <- "regret"
  data <- data[order(data$regret), ]
  data$policy <- factor(data$policy, rev(as.character(data$policy)))
  level <- shared(object, "level")
  runs <- shared(object, "runs")
  data$tied <- data$standing %in% c("best", "tied")
  data$standing <- factor(data$standing, c("best", "tied", "unsure", "worse"))
  scales <- scales_by(c("worse", "best", "tied", "unsure"), levels(droplevels(data$standing)))
  problems <- length(shared(object, "arms"))
  ggplot2::ggplot(data, ggplot2::aes(.data$regret, .data$policy, colour = .data$standing)) +
    ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper), data = with_band(data)) +
    ggplot2::geom_point(ggplot2::aes(shape = .data$standing), size = 2) +
    ggplot2::geom_point(ggplot2::aes(x = .data$q95), data = data[is.finite(data$q95), ], shape = 4) +
    scales[c("colour", "shape")] +
    ggplot2::scale_y_discrete(labels = wrap_label) +
    axes(log)[[1]] +
    plot_words(
      rows = levels(data$policy), x = if (by == "regret") REGRET_Y else "People", y = NULL,
      colour = NULL, shape = NULL,
      caption = wrap_caption(words_mean(runs, level, "line"),
                             if (any(is.finite(data$q95))) "Cross: 95th percentile of the runs.",
                             if (problems > 1) sprintf("Each run is an average over %d problems.", problems),
                             if (any(early)) paste("Left the race early, with at least so much regret:",
                                                   paste0(words_list(object$policy[early], most = 6), "."))),
      alt = sprintf(
        "%s of %s, with %s confidence intervals, inside %s. From the least: %s.",
        if (by == "regret") "Mean regret at the horizon" else "People that a conclusion takes",
        count_noun(nrow(data), "policy", "policies"), words_level(level),
        format(shared(object, "budget")),
        paste0(data$policy, " ", shorts(data$regret), ifelse(data$tied, " (best or tied)", ""),
               collapse = ", ")
      )
    )
}
