# The result of dpts_privacy(): what people do with it.

# `stands_for`: What the labels in `policy` stand for: policies or guarantees.
# `conditions`: A named list of what all curves hold under, such as the number of arms.
new_privacy <- function(columns, stands_for, conditions) {
  columns$policy <- new_label(columns$policy, levels(columns$policy), stands_for[levels(columns$policy)],
                              shared = conditions)
  new_result(columns, c("dpts_privacy", "dpts_bounds"))
}

#' @export
result_key.dpts_privacy <- function(x) {
  c("policy", "accountant", "horizon", "delta", intersect("arms", names(x)))
}

#' The best accountant at each delta
#'
#' Picks, at each delta, the accountant that proves the smallest epsilon. `autoplot()` draws how much a policy
#' may give away about one person, by all of them.
#'
#' @details
#' Epsilon is drawn against delta on logarithmic axes; against the horizon, if there are several and
#' one delta only; or side by side, if there is one of each. With one policy there is one line for each
#' accountant, with several a colour for each policy and a line type for each accountant; more than eight
#' policies carry their names or get panels; several horizons get panels. With a column `lower` there is a
#' band, from there up to the least of the lines: the truth for other arms whose largest draw is known. With
#' few arms, all new and always available, it may lie below. What has no place on the axes, such as an
#' infinite epsilon, is named below the plot.
#'
#' @param object A result of [dpts_privacy()].
#' @param ... Must be empty.
#' @param log Which axes are logarithmic, as in [plot()]: `"xy"`, `"x"`, `"y"` or `""`.
#' @returns A tibble with, for each policy, horizon and delta, the smallest epsilon:
#'   columns `policy`, `horizon`, `delta`, `accountant` (the one that gives it) and
#'   `epsilon`; and `lower`, if it was asked for. The minimum at each delta is a valid statement for that
#'   delta; that all deltas hold together is too, since every accountant's whole curve holds.
#'
#'   `autoplot()`: a ggplot. Columns that you added to the result are there for `facet_wrap()`.
#' @template see_privacy
#' @examples
#' summary(dpts_privacy(policy_ts_gaussian(), 100, delta = c(1e-3, 1e-6)))
#' autoplot(dpts_privacy(policy_ts_gaussian(), 100))
#' autoplot(dpts_privacy(policy_ts_gaussian(), 10^(2:4), delta = 1e-6))
#' @export
summary.dpts_privacy <- function(object, ...) {
  check_dots_empty(...)
  check_result(object, "epsilon")
  key <- intersect(c("policy", "arms", "horizon", "delta"), names(object))
  object <- tibble::as_tibble(object)
  object <- object[order(object$policy, object$horizon, -object$delta, object$epsilon), ]
  object <- object[!duplicated(keys_of(object, key)), ]
  as_bounds(object[c(key, "accountant", "epsilon", intersect("lower", names(object)))])
}

#' @importFrom tibble tbl_sum
#' @export
tbl_sum.dpts_privacy <- function(x, ...) {
  if (!is_whole(x, "epsilon")) return(NextMethod())
  own <- unique(x[["accountant"]])
  c("Privacy" = sprintf("%s, %s: %s", count_noun(length(unique(x[["policy"]])), "policy", "policies"),
                        count_noun(length(own), "accountant", "accountants"),
                        paste(own, collapse = ", ")),
    "Conditions" = words_conditions(shared(x, "arms"), shared(x, "pools")),
    words_contexts(x),
    NextMethod())
}

# What is protected, and from whom, where there are contexts or predictions: an epsilon alone does not say it
words_contexts <- function(x) {
  special <- Filter(function(g) !(g$neighbours %||% "reward") %in% c("reward", "input"), policies(x))
  if (length(special) == 0) return(NULL)
  stats::setNames(vapply(special, format, ""), paste("Guarantee of", names(special)))
}

words_conditions <- function(arms, pools) {
  if (is.null(arms)) return(NULL)
  sprintf("%s, %s available; rewards at once or late", count_noun(arms, "arm", "arms"),
          if (isTRUE(pools)) "not always" else "always")
}

#' @export
tidied.dpts_privacy <- function(x, level) {
  check_result(x, "epsilon")
  list(c(list(term = as.character(x$policy)), as.list(bare(x))[setdiff(result_key(x), "policy")]),
       estimate = x$epsilon, bound = "upper")
}

#' @rdname tidy.dpts_simulation
#' @export
glance.dpts_privacy <- function(x, ...) {
  check_dots_empty(...)
  check_result(x, "epsilon")
  one <- function(values) if (length(unique(values)) == 1) values[1] else NA
  arms <- if ("arms" %in% names(x)) one(x$arms) else shared(x, "arms")
  as_bounds(tibble::tibble(
    policies = length(unique(x$policy)), accountants = length(unique(x$accountant)),
    arms = as.double(arms), horizon = as.double(one(x$horizon)), least_delta = min(x$delta),
    least_epsilon = min(x$epsilon[x$delta == min(x$delta)])
  ))
}

#' @rdname summary.dpts_privacy
#' @importFrom rlang .data
#' @export
autoplot.dpts_privacy <- function(object, ..., log = "xy") {
  check_dots_empty(...)
  check_choice(log, c("", "x", "y", "xy", "yx"))
  check_result(object, "epsilon")
  data <- bare(object)
  if (!is.factor(data$policy)) data$policy <- factor(data$policy, unique(data$policy))
  data$accountant <- factor(data$accountant, unique(data$accountant))
  kept <- draw_where(data, log)
  if (nrow(kept$data) == 0) {
    return(nothing_to_draw(paste0("There is no curve to draw. ", kept$words)))
  }
  x <- if (length(unique(data$delta)) > 1) "delta" else
    if (length(unique(data$horizon)) > 1) "horizon" else NA
  plot <- if (is.na(x)) privacy_points(kept$data, log) else privacy_curves(kept$data, x, log)
  at <- if (identical(x, "horizon") || is.na(x)) paste(" at delta =", label_count(data$delta[1])) else ""
  plot + plot_words(
    caption = wrap_caption(kept$words, if (any(is.finite(data[["lower"]]))) band_words()),
    alt = sprintf("Epsilon%s%s for %s under %s. %s", if (is.na(x)) "" else paste(" against", x), at,
                  count_noun(length(unique(data$policy)), "policy", "policies"),
                  words_list(levels(droplevels(kept$data$accountant))), privacy_words(kept$data))
  )
}

# What the band is about, and where the truth may be outside it
band_words <- function() {
  paste("Shaded: from what leaks to an adversary who knows the other arms' largest draw up to the least",
        "bound. With few arms, all new and always available, the truth may lie below.")
}

# The rows that the axes can show, and words for the others
draw_where <- function(data, log) {
  shown <- function(v, letter) is.finite(v) & (!grepl(letter, log) | v > 0)
  several <- length(unique(data$delta)) > 1
  drawn <- shown(data$epsilon, "y") & (!several | shown(data$delta, "x"))
  gone <- setdiff(unique(as.character(data$policy)), as.character(data$policy[drawn]))
  none <- vapply(gone, function(policy) all(is.infinite(data$epsilon[data$policy == policy])), NA)
  words <- c(
    if (any(none)) {
      sprintf("No privacy is guaranteed by %s (epsilon is infinite).", words_list(gone[none], most = 6))
    },
    if (any(!none)) sprintf("Epsilon is 0 for %s, which a logarithmic axis cannot show.",
                            words_list(gone[!none], most = 6))
  )
  list(data = data[drawn, ], words = paste(words, collapse = " "))
}

privacy_curves <- function(data, x, log) {
  data$policy <- droplevels(data$policy)
  accountants <- levels(droplevels(data$accountant))
  panels <- c(if (x == "delta" && length(unique(data$horizon)) > 1) "horizon",
              if (length(unique(data[["arms"]])) > 1) "arms")
  many <- nlevels(data$policy) > MANY_LINES
  named <- many && nlevels(data$policy) <= MAX_LABELS && length(accountants) == 1 && !length(panels)
  # More policies than colours and types have room for carry their names, or get panels.
  if (many && !named) panels <- c("policy", panels)
  by_accountant <- nlevels(data$policy) == 1 || (many && !named)
  data$line <- if (by_accountant) data$accountant else data$policy
  data$type <- if (length(accountants) > 1) data$accountant else data$line
  title <- if (by_accountant) "Accountant" else "Policy"
  title_type <- if (length(accountants) > 1) "Accountant" else title
  titles <- ggplot2::labeller(
    horizon = function(t) paste("T =", label_count(as.numeric(t))),
    arms = function(k) paste(k, "arms"), policy = wrap_label, .multi_line = FALSE
  )
  ggplot2::ggplot(data, ggplot2::aes(
    .data[[x]], .data$epsilon, colour = .data$line, linetype = .data$type,
    group = interaction(.data$policy, .data$accountant)
  )) +
    privacy_band(data, x, log, panels) +
    ggplot2::geom_line(linewidth = 0.7) +
    (if (!by_accountant && length(accountants) > 1 && !many) list(
      # In grey the shapes at the ends tell the policies apart.
      ggplot2::geom_point(ggplot2::aes(shape = .data$line), data[data[[x]] %in% range(data[[x]]), ],
                          size = 2.2),
      scales_by(levels(data$line), title = ggplot2::waiver())$shape, ggplot2::labs(shape = title)
    ) else if (x == "horizon") ggplot2::geom_point(size = 1.2, show.legend = FALSE)) +
    scales_by(levels(droplevels(data$line)), title = ggplot2::waiver())$colour +
    scales_by(levels(droplevels(factor(data$type))), title = ggplot2::waiver())$linetype +
    (if (length(panels)) list(ggplot2::facet_wrap(panels, labeller = titles), room_between())) +
    (if (named) names_at_end(data[[x]], data$epsilon, data$policy, log)) +
    axes(log, if (length(panels)) data[[x]]) +
    plot_words(x = if (x == "horizon") "Rounds" else "delta", colour = title, linetype = title_type,
                  y = if (x == "horizon") paste("epsilon at delta =", label_count(data$delta[1]))
                      else "epsilon")
}

# From what leaks at least up to the least upper bound, for each policy, in every panel
privacy_band <- function(data, x, log, panels) {
  if (is.null(data[["lower"]])) return(NULL)
  cell <- data[intersect(c("policy", "arms", "horizon", "delta"), names(data))]
  data$upper <- stats::ave(data$epsilon, interaction(cell, drop = TRUE), FUN = min)
  shown <- !duplicated(cbind(cell, data[intersect(panels, "accountant")]))
  data <- data[shown & is.finite(data$lower) & (!grepl("y", log) | data$lower > 0), ]
  if (nrow(data) == 0) return(NULL)
  ggplot2::geom_ribbon(
    ggplot2::aes(.data[[x]], ymin = .data$lower, ymax = .data$upper, group = .data$policy), data,
    inherit.aes = FALSE, fill = "grey50", alpha = 0.35
  )
}

# One delta and one horizon: no curve, a point for each policy and accountant
privacy_points <- function(data, log) {
  data$policy <- droplevels(data$policy)
  data$accountant <- droplevels(data$accountant)
  scales <- scales_by(levels(data$accountant), title = "Accountant")
  ggplot2::ggplot(data, ggplot2::aes(
    .data$epsilon, factor(.data$policy, rev(levels(.data$policy))), colour = .data$accountant,
    shape = .data$accountant
  )) +
    ggplot2::geom_point(size = 2.5) +
    scales$colour + scales$shape +
    ggplot2::scale_y_discrete(labels = wrap_label) +
    axes(if (grepl("y", log)) "x" else "")[[1]] +
    plot_words(x = sprintf("epsilon at delta = %s, T = %s", label_count(data$delta[1]),
                              label_count(data$horizon[1])), y = NULL,
               rows = levels(data$policy))
}

# What a reader would read off at the smallest delta (or the longest horizon)
privacy_words <- function(data) {
  at <- data[data$delta == min(data$delta) & data$horizon == max(data$horizon), ]
  at <- at[order(-at$epsilon), ]
  if (nrow(at) == 0) return("")
  several <- length(unique(data$accountant)) > 1
  names <- if (several) paste0(at$policy, " (", at$accountant, ")") else as.character(at$policy)
  ends <- if (nrow(at) > 10) c(1, nrow(at)) else seq_len(nrow(at))
  sprintf("At delta = %s, T = %s: %s.", label_count(at$delta[1]), label_count(at$horizon[1]),
          paste(names[ends], shorts(at$epsilon[ends]), sep = " ", collapse = ", "))
}
