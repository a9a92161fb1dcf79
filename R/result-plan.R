# The result of dpts_plan(): what people do with it.

PLAN_NUMBERS <- c("people", "time", "counted", "failures", "best", "power", "false_claims", "coverage",
                  "equivalent", "width", "longest_run")
PLAN_BY_ARM <- c("share", "sd", "claimed", "proved", "proved_at") # what summary() shows
PLAN_LOOKS <- list(guards = c("paused", "false_alarms"),
                   futility = c("stopped", "mean_people", "power_stopped"),
                   looks = c("stopped", "mean_people"))

# `cells`: Of plan_cell(), design by design.
# `shared`: What all rows have in common. What was not asked for is in it as NULL, so that plans with it and
# without it are not put together.
new_plan <- function(cells, designs, problems, shared, seed) {
  now <- plays_r(designs) || holds_functions(problems)
  column <- function(name) vapply(cells, `[[`, cells[[1]][[name]][1], name)
  guards <- any(has_guard(shared$outcomes))
  unused <- c(if (is.null(shared$visits) && is.null(shared$by)) "counted",
              if (is.null(shared$margin)) "equivalent", if (is.null(shared$timing$rate)) "time")
  numbers <- c(setdiff(PLAN_NUMBERS, unused),
               if (guards) PLAN_LOOKS$guards, if (!is.null(shared$futility)) PLAN_LOOKS$futility,
               if (!is.null(shared$looks)) PLAN_LOOKS$looks)
  by_arm <- c(PLAN_BY_ARM, if (guards) c("paused_share", "paused_at"))
  design <- column("design")
  strata <- if (!is.null(shared$by)) column("stratum")
  kept <- vctrs::new_data_frame(c(
    list(scenario = column("scenario")), if (!is.null(strata)) list(stratum = strata),
    list(people = column("people") + 0, seed = rep(seed, length(cells)),
         test = column("test")),
    lapply(stats::setNames(nm = by_arm), function(name) lapply(cells, `[[`, name))
  ))
  by_design <- lapply(names(designs), function(name) vctrs::vec_slice(kept, design == name))
  shared$arms <- labels_within(problems[[1]])
  new_result(c(
    list(design = new_label(match(design, names(designs)), names(designs), designs, by_design, shared, now),
         scenario = new_label(match(column("scenario"), names(problems)), names(problems), problems,
                              now = now)),
    if (!is.null(strata)) list(stratum = factor(strata, problems[[1]]$world$names)),
    lapply(stats::setNames(nm = numbers), function(name) column(name) + 0)
  ), "dpts_plan")
}

#' @export
result_key.dpts_plan <- function(x) plan_key(x)

# The columns that say which design, of what scenario and stratum a row is; and its number of people
plan_places <- function(x) c("design", "scenario", if (!is.null(shared(x, "by"))) "stratum")
plan_key <- function(x) c(plan_places(x), "people")

#' @export
tbl_sum.dpts_plan <- function(x, ...) {
  if (!is_whole(x)) return(NextMethod())
  control <- shared(x, "control")
  c("Plan" = sprintf("%s, %s, %s each", count_noun(length(unique(x$design)), "design", "designs"),
                     count_noun(length(unique(x$scenario)), "scenario", "scenarios"),
                     count_noun(shared(x, "runs"), "run", "runs")),
    words_scenarios(x),
    "Claims" = sprintf("%s%s; family-wise error rate at most %s",
                       words_claims(if (!is.null(control)) shared(x, "arms")[control], shared(x, "margin")),
                       if (is.null(shared(x, "by"))) "" else " in each stratum",
                       number_text(shared(x, "error"))),
    words_looks(shared(x, "looks")), words_visits(shared(x, "visits")), words_person(x),
    words_timing(shared(x, "timing")), words_dropout(shared(x, "dropout")),
    words_late(if (is.null(shared(x, "timing"))) shared(x, "delay") else 0, shared(x, "batch")),
    "Seed" = words_seed(x), NextMethod())
}

# The means of each scenario's arms, stratum by stratum, and of other outcomes
words_scenarios <- function(x, most = 6) {
  scenarios <- things_of(x$scenario)
  scenarios <- scenarios[names(scenarios) %in% x$scenario]
  few <- function(v) paste0(paste(utils::head(v, most), collapse = ", "), if (length(v) > most) ", ...")
  outcomes <- shared(x, "outcomes")
  each <- vapply(utils::head(names(scenarios), most), function(name) {
    arms <- scenarios[[name]]
    labels <- if (!is.null(names(arms$mean))) paste0(shared(x, "arms"), " ") else ""
    means <- matrix(arms$mean, ncol = strata_in(arms))
    said <- apply(means, 2, function(mean) few(paste0(labels, shorts(mean))))
    if (ncol(means) > 1) {
      said <- sprintf("%s, %s%% of the people: %s", arms$world$names, signif(100 * arms$world$share, 3), said)
      said <- c(utils::head(said, most), if (length(said) > most) "...")
    }
    others <- vapply(names(outcomes), function(outcome) {
      rate <- average_over_strata(shared(x, "rates")[[name]][, outcome], arms)
      paste(outcome, few(shorts(from_units(rate, outcomes[[outcome]]$range))))
    }, "")
    sprintf("%s (%s%s)", name, if (is_changing(arms)) "means change, in round 1 " else "",
            paste(c(said, others), collapse = "; "))
  }, "")
  c("Scenarios" = paste(c(each, if (length(scenarios) > most) "..."), collapse = "; "))
}

# What is claimed
words_claims <- function(control, margin) {
  if (is.null(margin)) return(if (is.null(control)) "the best arm" else paste("arms better than", control))
  sprintf("arms not worse than %s by %s of the range", control %||% "any other", number_text(margin))
}

# When a board looks
words_looks <- function(looks) {
  if (is.null(looks)) return(NULL)
  c("Looks" = sprintf("at %s of the people, spending as %s",
                      words_list(paste0(signif(100 * c(looks$share, 1), 3), "%")),
                      c(obrien_fleming = "O'Brien and Fleming", pocock = "Pocock")[[looks$spending]]))
}

# Who never answers
words_dropout <- function(dropout) {
  if (is.null(dropout)) return(NULL)
  share <- if (length(unique(dropout)) == 1) dropout[1] else dropout
  c("Answers" = sprintf("%s never come%s", words_list(paste0(signif(100 * share, 3), "%"), most = 8),
                        if (length(share) > 1) ", by arm" else ""))
}

# How often people come
words_visits <- function(visits) {
  if (is.null(visits)) return(NULL)
  capped <- visits$most < Inf
  c("Visits" = paste0(label_count(visits$number), " of each person",
                      if (visits$apart < Inf) sprintf(", %s visits apart", label_count(visits$apart)),
                      if (capped) sprintf(", at most %s count", label_count(visits$most)) else ", all count"))
}

# What is guaranteed for a person, where that is another thing than for a reward
words_person <- function(x) {
  visits <- shared(x, "visits")
  outcomes <- shared(x, "outcomes")
  if (is.null(visits) && is.null(outcomes)) return(NULL)
  designs <- policies(x)
  designs <- designs[names(designs) %in% x$design]
  each <- vapply(names(designs), function(name) {
    own <- designs[[name]]$guarantee
    person <- guarantee_in_plan(designs[[name]], visits, outcomes)
    said <- if (promises_nothing(person)) "none" else format(person)
    if (!promises_nothing(own)) said <- sprintf("%s (a reward: %s)", said, format(own))
    if (length(designs) > 1) paste0(name, ": ", said) else said
  }, "")
  c("A person" = paste(each, collapse = "; "))
}

# Of a design, the guarantee for a person of the plan
guarantee_in_plan <- function(policy, visits, outcomes) {
  most <- if (isTRUE(visits$most < Inf)) visits$most
  m <- most %||% visits$number %||% 1
  person <- for_person(policy$guarantee %||% guarantee_none(), policy, m, most)
  with_outcomes(person, outcomes, m, keeps_apart(policy, most))
}

#' @export
format.dpts_plan <- function(x, ..., width = min(getOption("width"), 80)) {
  if (!is_whole(x)) return(NextMethod())
  width <- check_width(width)
  shown <- lapply(as.list(bare(x)), function(v) {
    if (is.factor(v)) return(as.character(v))
    digits <- if (all(abs(v) <= 2, na.rm = TRUE)) 3 else if (any(abs(v) < 10, na.rm = TRUE)) 1 else 0
    if (all(v %% 1 == 0, na.rm = TRUE) && any(v > 2, na.rm = TRUE)) digits <- 0
    ifelse(is.na(v), "-", formatC(v, digits, format = "f", big.mark = if (digits) "" else ","))
  })
  head <- tbl_sum(x)
  # A number of people that is the same in all rows stands above the table, which leaves room for names.
  if (length(unique(x$people)) == 1) {
    head <- append(head, c(People = shown$people[1]), 1)
    shown$people <- NULL
  }
  cells <- Map(function(name, v) formatC(c(name, v), width = max(nchar(c(name, v)))), names(shown), shown)
  names <- seq_along(plan_places(x))
  rest <- cells[-names]
  room <- function(cells) width - sum(vapply(cells, function(v) nchar(v[1]) + 1, 0)) - 1
  least <- sum(nchar(names(shown)[names])) + length(names) - 2
  while (length(rest) && room(rest) < least) rest <- rest[-length(rest)]
  left <- setdiff(names(shown)[-names], names(rest))
  first <- lapply(names, function(i) c(names(shown)[i], shown[[i]]))
  wide <- vapply(first, function(v) max(nchar(v)), 0L)
  # Names give way, the longer one first.
  while (sum(wide) + length(names) - 2 > max(room(rest), least)) {
    longest <- which.max(wide - nchar(names(shown)[names]))
    wide[longest] <- wide[longest] - 1L
  }
  first <- Map(function(v, w) {
    formatC(ifelse(nchar(v) > w, paste0(substr(v, 1, w - 1), "~"), v), width = -w)
  }, first, wide)
  label <- formatC(paste0(names(head), ":"), width = -max(nchar(names(head))) - 2)
  above <- lapply(seq_along(head), function(i) {
    text <- strwrap(head[[i]], max(width - nchar(label[1]) - 1, 2))
    paste0("# ", c(label[i], rep("  ", length(text) - 1)), text)
  })
  below <- if (length(left)) strwrap(paste("Not shown:", paste(left, collapse = ", ")), width, exdent = 2,
                                     prefix = "# ")
  c(unlist(above), do.call(paste, unname(c(first, rest))), below)
}

#' @export
print.dpts_plan <- function(x, ...) print_lines(x, ...)

#' Shares, and what is claimed of each arm
#'
#' `summary()` says how many people get each arm of a plan, and how often the arm is claimed to be better.
#' `autoplot()` draws what each design finds, and what it costs.
#'
#' @param object A result of [dpts_plan()].
#' @param ... Must be empty.
#' @returns A tibble, one row for each design, scenario, stratum (of a plan with `by`), number of people and
#'   arm:
#'   * `test`: by which claims are made in the plan, `"z-test"` or `"evidence"`; `NA`: there are none;
#'   * `share`, `sd`: of people (of the stratum) who get the arm, and its standard deviation over runs;
#'   * `claimed`: how often it is claimed, to be better than the control or the best;
#'   * `proved`: share of runs in which the evidence ([evidence()]) shows this at any look, at the level of
#'     the claims; `proved_at`: the median number of people then; `NA` where the policy releases no sums for
#'     evidence;
#'   * `paused`, `paused_at` (with guards): how often the arm is paused, and the median number of people then.
#'
#'   `autoplot()`: a ggplot of power (for a scenario without a difference, false claims) and failures against
#'   people, with a panel for each scenario (and stratum); for one number of people, points in a row for each
#'   scenario and design.
#' @template see_simulation
#' @examples
#' designs <- list(fixed = policy_uniform(), private = policy_randomised(mu = 0.5, block = 1e9))
#' arms <- arms_bernoulli(c(a = 0.5, b = 0.65))
#' plan <- dpts_plan(designs, arms, c(100, 300, 600), runs = 50, seed = 1)
#' summary(plan)
#' autoplot(plan)
#' @export
summary.dpts_plan <- function(object, ...) {
  check_dots_empty(...)
  kept <- checked_runs(object)
  at <- vctrs::vec_match(keys_of(object, result_key(object)), keys_of(kept, result_key(object)))
  arms <- shared(object, "arms")
  each <- function(x) rep(x, each = length(arms))
  long <- function(name) as.numeric(unlist(kept[[name]][at]))
  places <- lapply(as.list(bare(object))[plan_key(object)], each)
  out <- tibble::as_tibble(c(places, list(
    arm = factor(rep(arms, nrow(object)), arms), test = each(kept$test[at]),
    share = long("share"), sd = long("sd"),
    claimed = long("claimed"), proved = long("proved"), proved_at = long("proved_at")
  )))
  if (!is.null(kept$paused_at)) {
    out$paused <- long("paused_share")
    out$paused_at <- long("paused_at")
  }
  out
}

#' @export
tidied.dpts_plan <- function(x, level) {
  check_result(x, "power", labels = TRUE)
  n <- shared(x, "runs")
  places <- lapply(as.list(x)[setdiff(plan_key(x), "design")], function(v) {
    if (is.numeric(v)) v else as.character(v)
  })
  c(list(c(list(term = as.character(x$design)), places),
         estimate = x$power, se = sqrt(x$power * (1 - x$power) / n)), wilson(x$power, n, level))
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_plan <- function(x, ...) {
  check_dots_empty(...)
  check_result(x)
  tibble::tibble(designs = length(unique(x$design)), scenarios = length(unique(x$scenario)),
                 nobs = shared(x, "runs"), seed = one_seed(x), error = shared(x, "error"))
}

#' @export
privacy_statement.dpts_plan <- function(x, ..., delta = 1e-6, format = c("text", "json")) {
  check_dots_empty(...)
  check_result(x, labels = TRUE)
  people <- max(x$people, na.rm = TRUE)
  designs <- policies(x)
  visits <- shared(x, "visits")
  outcomes <- shared(x, "outcomes")
  stated <- if (is.null(visits) && is.null(outcomes)) designs else
    lapply(designs, guarantee_in_plan, visits = visits, outcomes = outcomes)
  if (any(vapply(lapply(stated, as_guarantee), needs_end, NA))) people <- people * (visits$number %||% 1)
  said <- privacy_statement(stated, if (is.finite(people)) people, arms = length(shared(x, "arms")),
                            delta = delta, format = format)
  plain <- names(Filter(function(p) {
    is_true_of(p, "knows_chances") && !is_true_of(p, "releases") && !promises_nothing(p$guarantee)
  }, designs))
  if (length(plain) && inherits(said, "dpts_statement")) {
    said[["Beware"]] <- sprintf("Of %s only the assignments are private: its test in this plan uses %s.",
                                words_list(paste0("\"", plain, "\"")), "outcomes as they are")
  }
  said
}

#' @rdname summary.dpts_plan
#' @export
autoplot.dpts_plan <- function(object, ...) {
  check_dots_empty(...)
  check_result(object, c("power", "false_claims", "failures"), labels = TRUE)
  data <- bare(object)
  data <- data[!is.na(data$people), ]
  if (nrow(data) == 0) return(nothing_to_draw("No number of people was found."))
  data$visits <- visits_in(data, object)
  if (!is.null(data[["stratum"]])) { # a panel for each scenario and stratum
    panel <- paste(data$scenario, data$stratum, sep = ": ")
    data$scenario <- factor(panel, unique(panel[order(data$scenario, data$stratum)]))
  }
  runs <- shared(object, "runs")
  long <- plan_panels(data, runs)
  one <- !any(duplicated(data[c("design", "scenario")]))
  scales <- scales_by(levels(data$design), title = ggplot2::waiver())
  long <- long[order(long$scenario, long$design), ]
  several <- length(unique(data$scenario)) > 1
  long$row <- downwards(paste0(if (several) paste0(long$scenario, ": "), long$design))
  base <- if (one) {
    ggplot2::ggplot(long, ggplot2::aes(.data$value, .data$row, colour = .data$design, shape = .data$design)) +
      ggplot2::geom_linerange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper), show.legend = FALSE) +
      ggplot2::geom_point(size = point_size(nlevels(long$row)), show.legend = FALSE) +
      scales[c("colour", "shape")] +
      ggplot2::labs(x = NULL, y = NULL) + ggplot2::scale_y_discrete(labels = wrap_label) +
      ggplot2::scale_x_continuous(labels = label_count, n.breaks = 3) +
      ggplot2::facet_wrap("what", scales = "free_x", nrow = 1, labeller = ggplot2::label_wrap_gen(10))
  } else {
    ggplot2::ggplot(long, ggplot2::aes(.data$people, .data$value, colour = .data$design,
                                       linetype = .data$design)) +
      ggplot2::geom_linerange(ggplot2::aes(ymin = .data$lower, ymax = .data$upper), linetype = 1, alpha = 0.5,
                              show.legend = FALSE) +
      ggplot2::geom_line() + ggplot2::geom_point(size = 1.2, show.legend = FALSE) +
      scales[c("colour", "linetype")] + ggplot2::labs(x = "People", y = NULL) +
      ggplot2::scale_x_continuous(labels = label_thousands, n.breaks = 3) +
      ggplot2::scale_y_continuous(labels = label_count, n.breaks = 3) + ggplot2::expand_limits(y = 0) +
      panels_by(long, c("what", "scenario"), scales = "free_y")
  }
  base + room_between() + plot_words(
    rows = if (one) rev(levels(long$row)),
    colour = "Design", linetype = "Design",
    caption = paste(words_mean(runs, 0.95, "line"),
                    sprintf("The probability of any false claim is to be at most %s.",
                            number_text(shared(object, "error")))),
    alt = sprintf("Power, false claims and failures in %s; power, design by design: %s.",
                  count_noun(nlevels(droplevels(data$scenario)), "scenario", "scenarios"),
                  paste(data$design, data$scenario,
                        if (!one) paste("with", label_count(data$people), "people"),
                        ifelse(is.na(data$power), "none", number_text(round(data$power, 2))),
                        collapse = ", "))
  )
}

# How many visits the failures of each row are of: all, those included that do not count. In a stratum with a
# cap their mean over runs is not kept, and the expected number stands for it.
visits_in <- function(data, plan) {
  visits <- shared(plan, "visits")
  all <- data$people * (visits$number %||% 1)
  if (is.null(data[["stratum"]])) return(all)
  if (!isTRUE(visits$most < Inf)) return(data$counted)
  worlds <- lapply(things_of(plan$scenario)[as.character(data$scenario)], `[[`, "world")
  all * vapply(seq_along(all), function(i) worlds[[i]]$share[worlds[[i]]$names == data$stratum[i]], 0)
}

# Rows for power, false claims and failures, with intervals of shares
plan_panels <- function(data, runs) {
  what <- c(power = "Power", false_claims = "False claims", failures = "Share of failures")
  parts <- lapply(names(what), function(name) {
    value <- if (name == "failures") data$failures / data$visits else data[[name]]
    part <- data.frame(data[c("design", "scenario", "people")], what = factor(what[[name]], what),
                       value = value)
    part[c("lower", "upper")] <- if (name == "failures") list(value, value) else wilson(value, runs, 0.95)
    part[!is.na(value), ]
  })
  do.call(rbind, parts)
}
