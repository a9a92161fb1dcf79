#' How many people until a verdict
#'
#' `dpts_identify()` simulates policies until a verdict which arm is the best. It counts how many people that
#' takes and how often the verdict is wrong. Use it to plan an experiment that stops as soon as it can. For an
#' experiment of fixed size use [dpts_plan()]; for regret, [dpts_simulate()].
#'
#' @details
#' A run ends with the first release after which an arm is declared the best, by what was released alone
#' ([evidence()]): by randomisation for [policy_randomised()], by means for all others. Policies that give a
#' verdict themselves ([policy_top_two()], [policy_adap_tt()], [policy_dp_tt()], [policy_dp_se()], whose
#' probability of an error is `beta`), also inside [policy_local()], end by their own rule. So does
#' [policy_halving()], which uses all `limit` people (or the `people` that it was made for) and **guarantees
#' nothing about `error`**: look at its share of wrong verdicts. By evidence, the arm a is declared best when
#' its evidence against each of the k - 1 others is at least ln((k - 1) / `error`). The probability of a wrong
#' verdict is then at most `error`, for means that do not change or, by randomisation, as long as one arm is
#' best at all times.
#'
#' Policies that minimise regret starve the rivals of the best arm, so that their verdicts come late or never.
#' [policy_top_two()] is made for early verdicts.
#'
#' Arms of [arms_strata()] need policies that randomise: the evidence of all strata multiplies, as
#' [verdict()] has it. `correct` is then about the mean over strata, by their shares. Where different arms
#' are best in different strata, a verdict is about the people so far, among whom strata may have other
#' shares.
#'
#' Random numbers are keyed as in [dpts_simulate()].
#'
#' @inheritParams dpts_simulate
#' @param error The probability that a verdict is wrong: a number in (0, 1). A policy that gives verdicts
#'   must have the same.
#' @param margin Tolerance: the mean of the verdict's arm may be below the best one by less than this, as a
#'   part of the range of rewards: a number in \[0, 1).
#' @param limit Maximum number of people in a run: a whole number. A run without a verdict stops there.
#' @returns A tibble of class `dpts_identification`, one row for each problem (if there are several), policy
#'   and run:
#'   * `problem`, `policy`: factors;
#'   * `run`: the run's number;
#'   * `people`: how many people there were at the verdict, `NA` if there was none within the limit;
#'   * `arm`: the number of the arm in it, `NA` without a verdict;
#'   * `correct`: is no arm better by `margin` or more (better at all, without a margin)?
#'
#'   [summary()][summary.dpts_identification] counts, and [autoplot()][autoplot.dpts_identification] draws how
#'   many people it took.
#' @seealso [policy_randomised()] and [policy_top_two()] are made for it, [dpts_plan()] plans an experiment
#'   of fixed size, [verdict()] reads the data.
#' @concept simulation
#' @concept best-arm identification
#' @concept fixed confidence
#' @concept sample complexity
#' @examples
#' arms <- arms_bernoulli(c(0.7, 0.5))
#' policies <- list(private = policy_top_two(mu = 0.5), open = policy_top_two(),
#'                  tossed = policy_randomised(mu = 0.5))
#' found <- dpts_identify(arms, policies, limit = 1e4, runs = 20, seed = 1)
#' summary(found)
#' @export
dpts_identify <- function(arms, policies, error = 0.05, margin = 0, ..., limit = 1e6, runs = 100,
                          seed = NULL, threads = getOption("dpts.threads", 1L),
                          progress = interactive(), delay = 0, batch = 1) {
  check_dots_empty(...)
  problems <- check_problem_list(arms)
  policies <- check_policies(policies)
  error <- check_number(error, 0, 1, open = TRUE)
  margin <- check_number(margin, 0, 1, open = c(FALSE, TRUE))
  limit <- check_count(limit)
  for (problem in problems) {
    check_horizon(policies, n_arms(problem), limit, "limit")
    check_fit(policies, n_arms(problem), problem$contexts, "`arms`", strata_in(problem))
    check_steady(problem, "arms")
    check_tossed(policies, problem, "policies")
  }
  check_concludes(policies, error, margin)
  inform_coins(policies, problems)
  for (problem in problems) warn_small_strata(policies, problem$world[["share"]] %||% 1, limit)
  runs <- check_runs(runs)
  threads <- check_count(threads, 1, 1024)
  check_flag(progress)
  seed <- check_seed(seed)
  delay <- check_delay(delay, limit)
  batch <- min(check_count(batch), limit)
  job <- simulate_job(problems, policies, limit, runs, seed, record = limit, threads = threads, delay = delay,
                      batch = batch, observers = c("verdict", observers_of_draws(problems)))
  job$ask <- list(error = error, margin = margin)
  job$name <- "Identifying"
  chunks <- play_job(job, simulate_chunk, NULL, progress)
  gather_identification(job, chunks, limit, several = !inherits(arms, "dpts_arms"))
}

gather_identification <- function(job, chunks, limit, several) {
  joined <- join_chunks(job, chunks)
  warn_means(job, joined)
  found <- lapply(joined, `[[`, "verdict")
  arms <- rep(lapply(job$problems, `[[`, "arms"), each = length(job$policies))
  gap <- unlist(Map(function(arms, found) {
    mean <- if (strata_in(arms) > 1) average_over_strata(arms$mean, arms) else arm_means(arms, 1)[1, ]
    (max(mean) - mean[found[2, ]]) / diff(arms$range)
  }, arms, found), use.names = FALSE)
  columns <- do.call(cbind, found)
  columns[is.na(columns)] <- NA # and not NaN
  new_result(c(
    job_labels(job, several, length(job$runs), c(job$ask, limit = limit)),
    list(run = rep(whole(job$runs), length(found)), people = columns[1, ], arm = as.integer(columns[2, ]),
         # The tolerance is for floating point: 0.6 - 0.5 < 0.1.
         correct = if (job$ask$margin > 0) gap < job$ask$margin - 1e-12 else gap <= 0)
  ), "dpts_identification")
}

# ---- result -----------------------------------------------------------------------------------

#' @export
result_key.dpts_identification <- function(x) c(if (has_problems(x)) "problem", "policy", "run")

# How often verdicts are wrong: of some policies nothing is promised.
words_wrong <- function(x) {
  open <- if (!is.null(x[["policy"]])) !vapply(policies(x), promises_verdict, NA)
  paste0("with probability ", number_text(shared(x, "error")), " at most",
         if (any(open)) paste0(", but for ", words_list(names(which(open))), ": no guarantee"))
}

#' @export
tbl_sum.dpts_identification <- function(x, ...) {
  if (!is_whole(x)) return(NextMethod())
  problems <- if (has_problems(x)) unique(x$problem) else 1
  c("Identification" = sprintf("%s, %s", count_noun(length(problems), "problem", "problems"),
                               count_noun(length(unique(x[["policy"]])), "policy", "policies")),
    "Wrong" = words_wrong(x),
    if (shared(x, "margin") > 0) c("Margin" = number_text(shared(x, "margin"))),
    "Limit" = count_noun(shared(x, "limit"), "person", "people"),
    "Seed" = words_seed(x), NextMethod())
}

#' Count people and wrong verdicts
#'
#' `summary()` says how many people a verdict takes, and how often it is wrong. `autoplot()` draws the share
#' of runs that had a verdict, against the number of people, for each policy.
#'
#' @param object A result of [dpts_identify()].
#' @param ... Must be empty.
#' @returns A tibble, one row for each problem (if there are several) and policy:
#'   * `runs`: how many there are;
#'   * `mean`, `se`, `median`, `q90`: of the people to the verdict, its standard error and the number that 90%
#'     of runs do not exceed. Runs without a verdict count with the limit: the mean is then too small, and the
#'     median and `q90` are `NA` where they would be such a run's;
#'   * `wrong`: the share of wrong verdicts in all runs; `wrong_lower`, `wrong_upper`: its exact 95% interval
#'     (Clopper and Pearson);
#'   * `undecided`: the share of runs without a verdict;
#'   * `bound`: the least mean of people that any policy of this epsilon needs (Jourdan and Azize 2025), for
#'     arms of 0 and 1. For policies without epsilon it is the bound for all policies, private or not. `NA`
#'     for other arms, in strata, with a margin, or where several arms are best.
#'
#'   `autoplot()`: a ggplot with a panel for each problem if there are several.
#' @references Jourdan, M. and Azize, A. (2025). Optimal Best Arm Identification under Differential Privacy.
#'   arXiv:2510.17348. On `bound`.
#' @template see_simulation
#' @examples
#' arms <- arms_bernoulli(c(0.8, 0.5))
#' policies <- list(private = policy_top_two(mu = 0.3), open = policy_top_two())
#' found <- dpts_identify(arms, policies, limit = 1e4, runs = 20, seed = 1)
#' summary(found)
#' autoplot(found)
#' @export
summary.dpts_identification <- function(object, ...) {
  check_dots_empty(...)
  check_result(object, c("people", "correct"), labels = TRUE)
  by <- c(if (has_problems(object)) "problem", "policy")
  labels <- lapply(stats::setNames(nm = by), function(column) plain_factor(object[[column]]))
  groups <- unname(split(seq_len(nrow(object)), rev(labels), drop = TRUE))
  first <- vapply(groups, `[`, 0L, 1)
  n <- lengths(groups)
  each <- function(of) vapply(groups, of, 0)
  people <- object$people
  all <- replace(people, is.na(people), shared(object, "limit"))
  wrong <- each(function(i) sum(!object$correct[i], na.rm = TRUE))
  at <- function(p) each(function(i) sort(people[i], na.last = TRUE)[ceiling(p * length(i))])
  tibble::as_tibble(c(lapply(labels, `[`, first), list(
    runs = as.double(n), mean = each(function(i) mean(all[i])),
    se = each(function(i) stats::sd(all[i])) / sqrt(n),
    median = at(0.5), q90 = at(0.9), wrong = wrong / n, wrong_lower = clopper_lower(wrong, n, 0.025),
    wrong_upper = clopper_upper(wrong, n, 0.025), undecided = each(function(i) mean(is.na(people[i]))),
    bound = vapply(first, function(row) lower_bound_of(object, row), 0)
  )))
}

# The lower bound for the policy and the problem of a row
lower_bound_of <- function(x, row) {
  arms <- problems_of(x)[[if (has_problems(x)) as.character(x$problem[row]) else 1]]$arms
  if (shared(x, "margin") > 0 || !all(arms$distribution == "bernoulli") || strata_in(arms) > 1) {
    return(NA_real_)
  }
  guarantee <- policies(x)[[as.character(x$policy[row])]]$guarantee
  epsilon <- form(guarantee, "epsilon", conditions(shared(x, "limit"), n_arms(arms)))
  people_bound(arms$mean, if (isTRUE(epsilon > 0)) epsilon else Inf, shared(x, "error"))
}

#' @export
tidied.dpts_identification <- function(x, level) {
  rows <- summary(x)
  limit <- shared(x, "limit")
  key <- c(if (has_problems(x)) "problem", "policy")
  group <- vctrs::vec_match(keys_of(x, key), keys_of(rows, key))
  interval <- mean_interval(group_stats(replace(x$people, is.na(x$people), limit), group), level, 0, limit)
  list(c(list(term = as.character(rows$policy)),
         if (has_problems(x)) list(problem = as.character(rows$problem))),
       estimate = rows$mean, se = rows$se, lower = interval$lower, upper = interval$upper)
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_identification <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(policies = length(unique(x$policy)), nobs = length(unique(x$run)), seed = one_seed(x),
                 error = shared(x, "error"), margin = shared(x, "margin"), limit = shared(x, "limit"),
                 undecided = mean(is.na(x$people)), wrong = mean(!x$correct & !is.na(x$correct)))
}

#' @rdname summary.dpts_identification
#' @export
autoplot.dpts_identification <- function(object, ...) {
  check_dots_empty(...)
  check_result(object, "people", labels = TRUE)
  data <- bare(object)
  by <- c(if (has_problems(object)) "problem", "policy")
  if (all(is.na(data$people))) return(nothing_to_draw("No verdict to draw."))
  groups <- split(data, rev(as.list(data[by])), drop = TRUE)
  limit <- shared(object, "limit")
  curves <- vctrs::vec_rbind(!!!unname(lapply(groups, function(g) {
    at <- sort(g$people)
    end <- max(c(at, if (anyNA(g$people)) limit))
    cbind(g[1, by], data.frame(at = c(at, end), share = c(seq_along(at), length(at)) / nrow(g)),
          row.names = NULL)
  })))
  ggplot2::ggplot(curves, ggplot2::aes(.data$at, .data$share, colour = .data$policy,
                                       linetype = .data$policy)) +
    ggplot2::geom_step() +
    scales_by(levels(data$policy), title = ggplot2::waiver())[c("colour", "linetype")] +
    panels_by(curves, c(if (nlevels(data$policy) > MANY_LINES) "policy", if ("problem" %in% by) "problem")) +
    (if (nlevels(data$policy) > MANY_LINES) no_legend()) +
    ggplot2::scale_x_log10(labels = label_count) +
    ggplot2::scale_y_continuous(labels = scales::label_percent(), limits = c(0, 1)) +
    plot_words(
      colour = "Policy", linetype = "Policy", x = "People", y = "Runs with a verdict",
      caption = wrap_caption(sprintf("%s; a verdict is wrong %s.", words_runs_each(vapply(groups, nrow, 0L)),
                                     words_wrong(object))),
      alt = sprintf("Share of runs with a verdict against people; median %s.",
                    paste(vapply(groups, function(g) {
                      m <- sort(g$people, na.last = TRUE)[ceiling(nrow(g) / 2)]
                      paste(paste(vapply(g[1, by], as.character, ""), collapse = ", "),
                            if (is.na(m)) "beyond the limit" else label_count(m))
                    }, ""), collapse = "; "))
    )
}

words_runs_each <- function(n) {
  n <- unique(range(n))
  paste(paste(label_count(n), collapse = " to "), if (max(n) == 1) "run" else "runs", "of each policy")
}
