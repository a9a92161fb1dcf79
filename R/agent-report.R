# What an agent shows. Everything here is public: see "What is published" in dpts_agent().

#' What an agent has done
#'
#' These functions say what a running agent has done and learned, and how much privacy
#' it has spent. The verbs that ask a simulation ask an agent, too: `pulls()` counts its choices,
#' `dpts_history()` lists them, `estimates()` says what the released sums tell of the arms, `dpts_privacy()`
#' what has leaked of a reward and of a person, and how much can ever leak.
#'
#' # Estimates
#' Intervals are those of [estimates()]: they hold at every time, however often one looks, and cost no
#' privacy. They assume that rewards of an arm have the same mean given the past,
#' and, with `use = "arrival"`, that when a reward comes says nothing of its value.
#'
#' Tickets that were resolved without a reward count as `missing`.
#'
#' What there is depends on the policy:
#' * Policies that release noisy sums of rewards (batches, epochs, trees): these sums. A policy that
#'   restarts ([policy_restart()]) shows those since its last restart, and counts rewards since then.
#' * Locally private policies ([policy_local()]), also in R: the sums of the random bits, with the map from
#'   rewards to bits undone; each bit is a release. NA around an epsilon-DP policy, whose arms are more
#'   private than the bits.
#' * All others (Gaussian Thompson sampling, DP-TS-UCB, other policies in R) publish arms and no
#'   sums: NA. So do policies without privacy, where [estimates()] of a simulation shows plain sums: in
#'   life these are sums of people's rewards, and are not published.
#'
#' # Privacy
#' * Policies that release each reward in one noisy sum (or in a bounded number of them) spend all they
#'   ever will on a reward once a sum with it is released; `spent` is 0 until the first release. Of linear
#'   and logistic policies, and of [policy_local()], it is all from the first choice on.
#' * Gaussian Thompson sampling spends with every draw: until its filter stops it, or for `horizon` rounds;
#'   `spent` is what the filter has charged, or the rounds so far. Arms that were not available do not shorten
#'   them. Its choices compare doubles, so the distribution of all arms may be off by eta = rounds x (arms x
#'   3e-15 + 2.3e-17 sqrt(rounds / variance_scale)). The table allows for it: eta (1 + exp(epsilon)) of each
#'   delta is for the error, and `epsilon` is `Inf` for deltas that leave nothing, which are larger than eta.
#'   Without a horizon, rounds is 1e5, or the rounds so far if those are more.
#' * A person may give `max_per_person` rewards: see [privacy_group()], with `apart = TRUE` where the agent
#'   keeps them in different releases ([dpts_agent()], People who come again).
#' * Each time the agent was restored from an old copy ([agent_restored()]) its rewards may
#'   have been released once more, with fresh noise: see [privacy_compose()]. What the agent did after that
#'   copy was made is not known any more, so `spent` counts it as all that it may ever release.
#' * A policy without a guarantee has epsilon `Inf`.
#'
#' @inheritSection dpts_agent What is published
#'
#' @param x,policies An agent.
#' @param ... Must be empty.
#' @param n How many choices at most: the last ones. By default all, which may take long.
#' @param level The confidence level of each arm's interval: a number in (0, 1).
#' @param outcome Which outcome: `"reward"`, or the name of another one of the agent ([agent_outcome()]).
#' @param delta Numbers in \[0, 1\].
#' @returns `pulls()`: a tibble, one row per arm: `arm`, `pulls` (rounds so far) and `outstanding` (those that
#'   are not resolved: without a reward, or, with `use = "deadline"`, before their deadline).
#'
#'   `dpts_history()`: a tibble, one row per choice: `ticket`, `t`, `arm`, `time`, `status` (`"open"`,
#'   `"used"` or `"missing"`, with `use = "deadline"` `"open"` or `"resolved"`; `"returned"`: by
#'   [agent_return()]; `"beyond"`: no round, see [agent_choose()]) and `probability` (of this arm in this
#'   round, where the policy can say it; NA if not).
#'
#'   `estimates()`: a tibble, one row per arm: `arm`, `rewards` and `releases` (how many are in the released
#'   sum), `mean` (of those rewards, from the sum, cut to the range), `lower`, `upper`; NA before the first
#'   release.
#'
#'   `dpts_privacy()`: a tibble, one row per unit, accountant and delta: `unit` (`"reward"`, and with
#'   `max_per_person` `"person"`), `accountant` (see [dpts_privacy()]), `delta`, `epsilon` (a bound on what
#'   can ever be learned about the unit, or within the agent's horizon) and `spent` (on what has been revealed
#'   so far).
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' for (i in 1:200) agent_reward(agent, agent_choose(agent)$ticket, runif(1) < 0.3)
#' pulls(agent)
#' estimates(agent)
#' dpts_history(agent, n = 5)
#' dpts_privacy(agent, delta = 1e-6)
#' @name agent_results
NULL

#' @rdname agent_results
#' @export
pulls.dpts_agent <- function(x, ...) {
  check_agent(x)
  check_dots_empty(...)
  agent_look(x, function(tx) {
    tibble::new_tibble(list(
      arm = arm_factor(x), pulls = session_arms(x$session)$pulls, outstanding = x$outstanding
    ), nrow = length(x$terms$arms), class = "dpts_pulls")
  })
}

#' @rdname agent_results
#' @export
dpts_history.dpts_agent <- function(x, ..., n = Inf) {
  check_agent(x)
  check_dots_empty(...)
  if (!identical(n, Inf)) n <- check_count(n)
  log <- agent_look(x, function(tx) lapply(x$store$log(n), rev))
  tibble::new_tibble(list(
    ticket = as.character(log$ticket), t = as.numeric(log$t), arm = arm_factor(x, log$arm),
    time = as.POSIXct(as.numeric(log$time), origin = "1970-01-01"),
    status = shown_status(x, log$status), probability = as.numeric(log$probability)
  ), nrow = length(log$t))
}

# Where a missing answer is protected, whether one came is not to be seen.
shown_status <- function(agent, status) {
  shown <- if (agent$silent) c("open", "open", "resolved", "resolved", "beyond", "resolved", "returned")
    else c("open", "open", "used", "missing", "beyond", "missing", "returned")
  shown[match(status, TICKET)]
}

# Look at an agent as of now, all at one moment. Deadlines that are past are written first:
# the tables know of them only then. So is the end, if the last of them is past.
agent_look <- function(agent, body) {
  seen <- NULL
  out <- agent_transact(agent, function(tx) {
    seen <<- tx
    if (!tx$find_next_due) list(body(tx))
  }, look = TRUE, still = TRUE)
  if (seen$find_next_due) out <- agent_transact(agent, function(tx) list(body(tx)), look = TRUE, still = TRUE)
  out[[1]]
}

#' @rdname agent_results
#' @export
estimates.dpts_agent <- function(x, level = 0.95, ..., outcome = "reward") {
  check_agent(x)
  check_dots_empty(...)
  if (outcome_number(x, outcome) > 0) return(estimates(dpts_releases(x), level, outcome = outcome))
  if (!is.null(predictions_of(x$terms$policy))) abort_residuals()
  agent_estimates(x, check_number(level, 0, 1, open = TRUE))
}

# The same, NA where sums are of residuals
agent_estimates <- function(x, level = 0.95) {
  policy <- x$terms$policy
  if (gathers(policy) && is.null(no_evidence(policy))) return(estimates_of_table(x, level))
  seen <- agent_look(x, function(tx) session_arms(x$session))
  none <- rep(NA_real_, length(x$terms$arms))
  report <- c(seen$report %||% stats::setNames(rep(list(none), length(REPORT)), REPORT), seen["releases"])
  record <- list(ever = length(none), report = report, low = x$terms$range[1], high = x$terms$range[2],
                 flip = seen$flip, grid = 2^-20)
  estimates_of(list(record), list(), function(i, arm) arm_factor(x, arm), level)
}

estimates_of_table <- function(x, level) {
  of <- release_records(x)
  estimates_of(of$records, of$keys, of$ever, level)
}

#' @export
release_records.dpts_agent <- function(x, outcome = "reward") {
  table <- dpts_releases(x)
  remembered(x, "records", list(table, outcome), function() {
    of <- release_records(table, outcome)
    of$records[[1]]$memory <- x$memory
    of
  })
}

#' @rdname dpts_releases
#' @export
dpts_releases.dpts_agent <- function(x, ...) {
  check_agent(x)
  check_dots_empty(...)
  policy <- x$terms$policy
  check_concludes(stats::setNames(list(policy), policy$name), arg = "x")
  if (!gathers(policy)) {
    abort_input("x", paste("`x` must have a policy that gathers bits in batches, and \"%s\" does not: an",
                           "agent keeps their sums, not when they came."), policy$name,
                class = "dpts_error_verdict",
                hint = "`estimates()` has the sums; `policy_local(policy_randomised(), )` has blocks.")
  }
  found <- agent_look(x, function(tx) {
    # Nothing is released without a change. (Of other outcomes nothing is here that is not written.)
    unwritten <- nrow(session_sums(x$session)) > 0
    table <- if (unwritten) all_tables(x) else
      remembered(x, "as of", list(tx$journal, x$life), function() all_tables(x))
    list(table = table, restored = tx$restored)
  })
  remembered(x, "releases", found, function() {
    guarantee <- whole_promise(x$terms, found$restored)
    attr(found$table, "guarantees") <- stats::setNames(list(guarantee), policy$name)
    found$table
  })
}

#' @export
paused_arms.dpts_agent <- function(x) x$terms$arms[x$life$status == ARM[["paused"]]]

# The release tables of all outcomes, one below the other
all_tables <- function(agent) {
  outcomes <- c("reward", names(agent$terms$outcomes))
  if (length(outcomes) == 1) return(agent_table(agent))
  tables <- lapply(seq_along(outcomes), function(i) {
    v <- as.list(agent_table(agent, i - 1L))
    c(list(outcome = factor(rep(outcomes[i], length(v$n)), outcomes)), v)
  })
  remembered(agent, "tables", tables, function() {
    names <- unique(unlist(lapply(tables, names)))
    new_releases(lapply(stats::setNames(nm = names), function(name) {
      vctrs::vec_c(!!!lapply(tables, function(v) {
        v[[name]] %||% rep(if (name == "event") NA else OPTIONAL[[name]], length(v$n))
      }))
    }))
  })
}

#' @rdname agent_results
#' @export
dpts_privacy.dpts_agent <- function(policies, ..., delta = 10^-(1:12)) {
  agent <- check_agent(policies)
  check_dots_empty(...)
  delta <- check_numbers(delta, 0, 1)
  # Where each reward is in one release and all else is made of releases, nothing is spent before the first. A
  # policy that was started anew shows those of its present life alone.
  policy <- agent$terms$policy
  by_release <- gathers(policy) && flip_of(policy) == 0 && life_of(policy) == Inf
  now <- agent_look(agent, function(tx) {
    arms <- session_arms(agent$session)
    list(rounds = if (draws_cost(agent_guarantee(policy))) sum(arms$pulls) else 0, restored = tx$restored,
         paid = session_paid(agent$session),
         released = if (by_release) any(arms$releases > 0) else sum(arms$pulls) > 0)
  })
  remembered(agent, "privacy", list(now, delta, length(agent$terms$arms)), function() {
    privacy_so_far(agent, delta, now)
  })
}

# `now`: see ledger_spent()
privacy_so_far <- function(agent, delta, now) {
  people <- c(reward = 1, person = agent$terms$max_per_person)
  parts <- lapply(names(people), function(unit) {
    ever <- ledger_guarantee(agent$terms, people[[unit]], 1 + now$restored)
    lapply(ledger_accountants(ever, agent$terms), function(accountant) {
      data.frame(unit = unit, accountant = accountant, delta = delta,
                 epsilon = ledger_epsilon(agent$terms, ever, accountant, delta, now$rounds),
                 spent = ledger_spent(agent$terms, people[[unit]], accountant, delta, now))
    })
  })
  as_bounds(tibble::as_tibble(do.call(rbind, unlist(parts, recursive = FALSE))))
}

#' @export
format.dpts_agent <- function(x, ...) {
  terms <- x$terms
  head <- sprintf("<agent> %s%s in %s%s", if (is.null(terms$name)) "" else paste0(terms$name, ": "),
                  terms$policy$name, x$store$label, if (x$closed) ", closed" else "")
  if (x$closed) return(head)
  pulls <- pulls(x)
  state <- agent_standing(x)
  rule <- if (x$silent) {
    sprintf("at the deadline of %s, missing counts %s", format_seconds(terms$deadline),
            missing_text(terms))
  } else {
    paste0("on arrival, ", if (terms$deadline < Inf) {
      sprintf("missing counts %s after %s", missing_text(terms), format_seconds(terms$deadline))
    } else "waited for without limit")
  }
  width <- max(nchar(as.character(pulls$arm)))
  bounds <- predictions_of(terms$policy)
  if (!is.null(bounds)) bounds <- from_units(bounds, terms$range)
  c(head,
    paste0("  guarantee: ", state$guarantee,
           # Of what else is protected a guarantee says so itself.
           if (state$private && is.null(terms$max_per_person) &&
               agent_guarantee(terms$policy)$neighbours %in% c("reward", "input")) " for a reward",
           if (state$private && is_custom(terms$policy)) ", as declared; its noise is R's own"),
    if (state$restored > 0) {
      sprintf("             after going back to an old copy %s", count_noun(state$restored, "time"))
    },
    if (!is.null(terms$max_per_person)) {
      sprintf("             %s of a person used at most%s", count_noun(terms$max_per_person, "reward"),
              if (is.null(terms$window)) "" else paste(", one in", format_seconds(terms$window)))
    },
    if (!state$learning) "             beyond its budget: nothing more is learned",
    paste("  rewards:   used", rule),
    if (!identical(terms$range, c(0, 1))) {
      sprintf("             from %s to %s", number_text(terms$range[1]), number_text(terms$range[2]))
    },
    if (!is.null(terms$block_time)) {
      sprintf("             an open block or batch ends after %s at the latest",
              format_seconds(terms$block_time))
    },
    if (!is.null(terms$strata)) paste("  strata:   ", words_list(terms$strata, most = 10)),
    if (!is.null(terms$outcomes)) {
      sprintf("  %s %s", c("outcomes: ", rep("          ", length(terms$outcomes) - 1)),
              paste0(names(terms$outcomes), ", ", vapply(terms$outcomes, format, "")))
    },
    if (!is.null(bounds)) {
      sprintf("  predicted: from %s to %s, %s", number_text(bounds[1]), number_text(bounds[2]),
              paste(words_whole(x$life$clipped), "clipped"))
    },
    if (!is.null(norm_of(terms$policy))) {
      sprintf("  contexts:  no longer than %s, %s shortened", number_text(norm_of(terms$policy)),
              words_whole(x$life$clipped))
    },
    if (x$life$then != "go") {
      winner <- terms$arms[x$life$winner]
      paste0("  end:       ", if (x$life$then == "verdict") {
        paste("goes on with", if (is.na(winner)) "what it has learned" else winner)
      } else paste0("chooses no more", if (!is.na(winner)) paste("; the winner was", winner)))
    },
    if (!is.null(x$behind)) {
      paste("  time:     ", if (x$behind > 0) "stands still until the clock has reached it" else
        "of the last change: the clock is far ahead of it, and waits for `agent_clock()`")
    },
    sprintf("  rounds:    %s%s, %s outstanding", words_whole(sum(pulls$pulls)),
            if (is.null(terms$horizon)) "" else paste(" of", words_whole(terms$horizon)),
            words_whole(sum(pulls$outstanding))),
    sprintf("  %s %s%s", formatC(utils::head(as.character(pulls$arm), 10), width = -width),
            utils::head(number_text(pulls$pulls, big.mark = ","), 10),
            utils::head(c("", ", paused", ", retired")[x$life$status + 1], 10)),
    if (nrow(pulls) > 10) paste("  and", count_noun(nrow(pulls) - 10, "more arm"))
  )
}

# How the agent is: what it promises, for a person if it tells persons apart, restored copies included, and
# whether it still learns
agent_standing <- function(agent) {
  restored <- agent_look(agent, function(tx) tx$restored)
  guarantee <- whole_promise(agent$terms, restored)
  list(guarantee = format(guarantee), private = !promises_nothing(guarantee), restored = restored,
       learning = !agent$over)
}

#' @export
print.dpts_agent <- function(x, ...) print_lines(x, ...)

#' Summarise an agent
#'
#' `summary()` says of each arm of an agent how often it was chosen, and what is known of its mean.
#'
#' @inheritSection dpts_agent What is published
#' @param object An agent.
#' @param level The confidence level of the intervals.
#' @param ... Must be empty.
#' @returns A tibble, one row per arm: `arm`, `pulls`, `share` (of all pulls), `outstanding`,
#'   `rewards`, `releases`, `mean`, `lower`, `upper`: see [agent_results].
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' summary(dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival"))
#' @export
summary.dpts_agent <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  pulls <- pulls(object)
  estimates <- agent_estimates(object, check_number(level, 0, 1, open = TRUE))
  share <- if (sum(pulls$pulls) > 0) pulls$pulls / sum(pulls$pulls) else NA_real_
  tibble::new_tibble(c(
    as.list(pulls)[c("arm", "pulls")], list(share = rep_len(share, nrow(pulls))),
    as.list(pulls)["outstanding"],
    as.list(estimates)[c("rewards", "releases", "mean", "lower", "upper")]
  ), nrow = nrow(pulls))
}

#' Plot an agent
#'
#' `autoplot()` draws how often an agent has chosen each arm, or what it knows of the arms.
#' `"shares"`: each arm's share of the choices so far, against rounds. `"estimates"`: the
#' arms' means with 95% intervals that hold at all times together.
#'
#' @inheritSection dpts_agent What is published
#' @param object An agent.
#' @param ... Must be empty.
#' @param what `"shares"` or `"estimates"`.
#' @returns A ggplot.
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' for (i in 1:50) agent_reward(agent, agent_choose(agent)$ticket, runif(1) < 0.3)
#' autoplot(agent)
#' autoplot(agent, what = "estimates")
#' @export
autoplot.dpts_agent <- function(object, ..., what = c("shares", "estimates")) {
  check_dots_empty(...)
  check_agent(object)
  what <- check_choice(what, c("shares", "estimates"))
  if (what == "estimates") return(autoplot(estimates(object)))
  shares <- arm_shares(object)
  if (nrow(shares) == 0) return(nothing_to_draw("Nothing to draw: no arm was chosen yet."))
  last <- shares[shares$t == max(shares$t), ]
  ggplot2::ggplot(shares, ggplot2::aes(.data$t, .data$share, colour = .data$arm, linetype = .data$arm)) +
    (if (nrow(shares) > nrow(last)) ggplot2::geom_line() else ggplot2::geom_point()) +
    scales_by(levels(shares$arm), title = "Arm")[c("colour", "linetype")] +
    ggplot2::scale_x_continuous(labels = label_count) +
    ggplot2::scale_y_continuous(labels = scales::label_percent(), limits = c(0, 1)) +
    names_at_end(shares$t, shares$share, shares$arm, range = c(0, 1), panel = "arm") +
    plot_words(x = "Round", y = "Share of choices so far", alt = sprintf(
      "Share of each arm among the choices so far, against rounds; after %s: %s.", label_count(last$t[1]),
      words_rows(last["arm"], scales::label_percent(accuracy = 1)(last$share))))
}

# Cumulative shares at some 200 rounds. What was chosen never changes, so it is counted once, in
# the database, in stretches of `width` rounds, and only newer rounds are counted next time.
arm_shares <- function(agent) {
  agent_look(agent, function(tx) update_course(agent, tx))
  arms <- agent$terms$arms
  counts <- agent$course$counts
  total <- apply(counts, 2, cumsum)
  dim(total) <- dim(counts)
  t <- rowSums(total)
  data.frame(t = rep(t, length(arms)), arm = factor(rep(arms, each = length(t)), arms),
             share = as.numeric(total / t))
}

update_course <- function(agent, tx) {
  if (!is_past(agent, tx, agent$course)) agent$course <- NULL
  old <- agent$course %||% list(width = 1, counts = matrix(0, 0, length(agent$terms$arms)))
  rounds <- sum(session_arms(agent$session)$pulls)
  # Arms that were added since
  more <- length(agent$terms$arms) - ncol(old$counts)
  if (more > 0) old$counts <- cbind(old$counts, matrix(0, nrow(old$counts), more))
  # The last stretch may be a part of one.
  whole <- floor(sum(old$counts) / old$width)
  counts <- old$counts[seq_len(whole), , drop = FALSE]
  width <- old$width
  while (rounds > MAX_STRETCHES * width) {
    # Two stretches become one; one that is left alone is counted again.
    whole <- nrow(counts) %/% 2
    pair <- seq_len(whole) * 2
    counts <- counts[pair - 1, , drop = FALSE] + counts[pair, , drop = FALSE]
    width <- 2 * width
  }
  more <- matrix(0, ceiling(rounds / width) - whole, ncol(counts))
  new <- agent$store$course(whole * width + 1, rounds, width)
  more[cbind(as.numeric(new$stretch) - whole + 1, new$arm)] <- as.numeric(new$n)
  agent$course <- list(width = width, counts = rbind(counts, more), entry = tx$entry, journal = tx$journal)
}

# Is what was counted (NULL: nothing) of the past of the store? That may have gone back to an older copy, and
# others may have gone on from there: then the journal, as it was after its entry `entry`, is another one.
is_past <- function(agent, tx, counted) {
  if (is.null(counted) || identical(counted$journal, tx$journal)) return(TRUE)
  counted$entry < tx$entry && identical(agent$store$digest(counted$entry), counted$journal)
}

MAX_STRETCHES <- 200
