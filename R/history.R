#' Every round of a simulation or a replay
#'
#' `dpts_history()` lists every round: which arm was pulled, and its reward. The rounds are kept by
#' [dpts_simulate()] or [dpts_replay()] with `history = TRUE`.
#'
#' @details
#' Keeping the rounds changes no other number of the simulation. Where many rounds are simulated at once,
#' they are filled in afterwards from their conditional distribution, given what is known: a history has
#' the distribution of a run simulated round by round.
#'
#' A row takes about 40 bytes. A history of more than 4 GB is refused before any work;
#' `options(dpts.memory = 16e9)` allows 16 GB.
#'
#' @param x A result of [dpts_simulate()] or [dpts_replay()] with `history = TRUE`.
#' @param ... Must be empty.
#' @returns A tibble of class `dpts_history`, one row for each problem (if there are several), policy,
#'   delay (of a replay), run and round of `x`:
#'   * `problem`, `policy`, `delay`: as in `x`;
#'   * `run`, `t`: the run's number, and the round, which in a replay counts kept events;
#'   * `arm`: the arm that was pulled, a factor if arms have names, else a number;
#'   * `reward`: its reward, whenever the policy learned it;
#'   * `probability`: the probability with which the policy chose this arm in this round, for policies that
#'     choose at random and know it, else `NA`.
#'
#'   [autoplot()][autoplot.dpts_history] draws the share of pulls over time, and [as_log()] makes a log of it.
#' @template see_simulation
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(control = 0.4, drug = 0.6)), policy_ts_gaussian(), 500,
#'                      runs = 20, seed = 1, history = TRUE)
#' dpts_history(sim)
#' autoplot(dpts_history(sim))
#' @export
dpts_history <- function(x, ...) UseMethod("dpts_history")

#' @export
dpts_history.default <- function(x, ...) {
  abort_arg("x", "a result of `dpts_simulate()` or `dpts_replay()`, or an agent", x)
}

#' @rdname dpts_history
#' @export
dpts_history.dpts_simulation <- function(x, ...) {
  check_dots_empty(...)
  kept <- checked_runs(x)
  if (!"arms" %in% names(kept) || any(lengths(kept$arms) == 0)) {
    abort_input("x", c("`x` must hold its history.", i = "The argument `history = TRUE` keeps it."),
                class = "dpts_error_history")
  }
  # A replay may keep fewer events than its horizon.
  rounds <- vapply(kept$arms, function(arm) sum(arm > 0), 0L)
  own <- run_keys(x, kept)
  played <- function(cells) unlist(Map(`[`, cells, lapply(rounds, seq_len)), use.names = FALSE)
  columns <- c(
    lapply(own$keys, rep, rounds),
    list(t = sequence(rounds), arm = own$arms(rep(seq_along(rounds), rounds), played(kept$arms)),
         reward = played(kept$rewards),
         probability = played(lapply(kept$probability, function(p) if (length(p)) p else NA_real_)))
  )
  tibble::new_tibble(columns, nrow = sum(rounds), class = "dpts_history")
}

#' @export
dpts_history.dpts_replay <- dpts_history.dpts_simulation

#' A log of a simulation
#'
#' `as_log()` turns a simulation into a log, such as a web page would have written.
#' The log has the probability of each choice, so that [dpts_ope()] and [dpts_replay()] accept it.
#'
#' The last person in a block of [policy_randomised()] with `permuted = TRUE` gets the arm that is left: such
#' probabilities are 0 and 1, no weights make up for them, and both functions warn.
#'
#' @param x A result of [dpts_simulate()] with `history = TRUE`, or of [dpts_history()], whole or some of its
#'   rows.
#' @template dots
#' @returns A tibble with the columns of [dpts_history()], and `propensity`: the probability with which the
#'   arm was chosen. All policies must know their probabilities, as [policy_randomised()] and
#'   [policy_uniform()] do.
#' @template see_logs
#' @examples
#' arms <- arms_bernoulli(c(old = 0.5, new = 0.6))
#' policy <- policy_randomised(mu = 0.5, rule = "thompson")
#' sim <- dpts_simulate(arms, policy, 3000, runs = 1, seed = 1, history = TRUE)
#' log <- as_log(sim)
#' dpts_ope(log, "new")
#' @export
as_log <- function(x, ...) {
  check_dots_empty(...)
  check_all_given()
  if (inherits(x, "dpts_simulation")) x <- dpts_history(x)
  if (!is.data.frame(x) || !all(c("arm", "reward", "probability") %in% names(x))) {
    abort_arg("x", "a result of `dpts_simulate(history = TRUE)` or of `dpts_history()`", x)
  }
  silent <- is.na(x$probability)
  if (any(silent)) {
    names <- if (is.null(x[["policy"]])) "the policy" else
      paste0("policy \"", unique(as.character(x[["policy"]][silent])), "\"")
    abort_dpts(sprintf("`x` must have a probability in each row: %s %s probabilities.", words_list(names),
                       if (length(names) > 1) "do not know their" else "does not know its"),
               "dpts_error_input", arg = "x")
  }
  columns <- as.list(x)
  tibble::new_tibble(c(columns[setdiff(names(columns), "propensity")],
                       list(propensity = columns$probability)), nrow = nrow(x))
}

#' Draw the share of pulls over time
#'
#' `autoplot()` draws which share of the pulls each arm had, over all runs, in stretches of rounds.
#'
#' @param object A result of [dpts_history()].
#' @param ... Must be empty.
#' @param bins In how many stretches of rounds to count: a whole number.
#' @returns A ggplot with a panel for each policy, and problem, if there are several.
#' @template see_simulation
#' @examples
#' sim <- dpts_simulate(
#'   arms_bernoulli(c(control = 0.4, drug = 0.6)),
#'   list(UCB1 = policy_ucb1(), uniform = policy_uniform()), 1000, seed = 1, history = TRUE
#' )
#' autoplot(dpts_history(sim), bins = 40)
#' @export
autoplot.dpts_history <- function(object, ..., bins = 100) {
  check_dots_empty(...)
  bins <- check_count(bins, 1, 1e5)
  need_columns(object, c("policy", "t", "arm"))
  if (nrow(object) == 0) return(nothing_to_draw())
  data <- pull_shares(object, bins)
  by <- intersect(HISTORY_OF, names(data))
  arms <- levels(data$arm)
  # Areas fill the panel, so that shades may go from dark to light: they differ in grey, too.
  shades <- stats::setNames(grDevices::hcl.colors(length(arms), "viridis"), arms)
  ggplot2::ggplot(data, ggplot2::aes(.data$t, .data$share, fill = .data$arm)) +
    ggplot2::geom_area(position = "stack", linewidth = 0) +
    panels_by(data, by) +
    ggplot2::scale_fill_manual("Arm", values = shades, breaks = arms,
                               guide = if (length(arms) > MAX_LABELS) "none" else "legend") +
    ggplot2::scale_x_continuous(labels = label_thousands,
                                n.breaks = if (nrow(unique(data[by])) > 2) 2 else 3) +
    ggplot2::scale_y_continuous(labels = scales::label_percent(), expand = c(0, 0)) +
    plot_words(
      x = "Round", y = "Share of pulls", caption = if (length(arms) > MAX_LABELS) {
        sprintf("%d arms, from %s (dark, above) to %s (light, below).", length(arms), arms[1],
                arms[length(arms)])
      },
      alt = sprintf("Share of the pulls of %s over rounds for %s; at the end %s.",
                    count_noun(length(arms), "arm", "arms"),
                    count_noun(nlevels(droplevels(data$policy)), "policy", "policies"),
                    words_shares(data, by))
    )
}

HISTORY_OF <- c("problem", "policy", "delay") # what has a panel of its own

# Shares of the pulls in stretches of rounds, each of them at its middle and, so that areas fill the
# panel, at both its ends
pull_shares <- function(x, bins) {
  by <- intersect(HISTORY_OF, names(x))
  horizon <- max(x$t)
  edges <- unique(round(seq(0, horizon, length.out = min(bins, horizon) + 1)))
  x <- as.data.frame(x)
  for (column in c(by, "arm")) x[[column]] <- as.factor(x[[column]])
  bin <- findInterval(x$t, edges, left.open = TRUE)
  counts <- as.data.frame(table(c(list(bin = factor(bin, seq_len(length(edges) - 1))),
                                  x[by], x["arm"])), responseName = "n")
  bin <- as.integer(as.character(counts$bin))
  group <- do.call(paste, c(list(bin), lapply(counts[by], as.integer)))
  counts$share <- counts$n / stats::ave(counts$n, group, FUN = sum)
  counts <- counts[is.finite(counts$share), ]
  bin <- as.integer(as.character(counts$bin))
  ends <- lapply(list(edges[bin], edges[bin + 1]), function(t) cbind(counts, t = t))
  out <- do.call(rbind, ends)
  # The end of one stretch and the beginning of the next are one place: a hair between them.
  out$t <- out$t + rep(c(1, -1), each = nrow(counts)) * 1e-6 * horizon
  out[c(by, "arm", "t", "share")]
}

words_shares <- function(data, by) {
  last <- data[data$t == max(data$t), ]
  words_rows(last[c(by, "arm")], scales::label_percent(accuracy = 1)(last$share))
}
