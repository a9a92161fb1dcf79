# What an agent shows. Everything here is public: see "What is published" in dpts_agent().

#' What an agent has done
#'
#' `agent_pulls()` counts choices, `agent_log()` lists them.
#'
#' @inheritSection dpts_agent What is published
#' @param agent An agent.
#' @returns `agent_pulls()`: a tibble, one row per arm: `arm`, `pulls` (choices so far) and
#'   `outstanding` (those that are not resolved: without a reward, or, with `use = "deadline"`, before their
#'   deadline).
#'
#'   `agent_log()`: a tibble, one row per choice: `ticket`, `t`, `arm`, `time` and `status`:
#'   `"open"`, `"used"` or `"missing"`, and with `use = "deadline"` `"open"` or `"resolved"`.
#' @family agent
#' @examples
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' agent_reward(agent, agent_choose(agent, n = 3)$ticket[1:2], 1)
#' agent_pulls(agent)
#' agent_log(agent)
#' @export
agent_pulls <- function(agent) {
  check_agent(agent)
  agent_look(agent, function() {
    arms <- agent$terms$arms
    tibble::new_tibble(list(
      arm = factor(arms, arms), pulls = agent$engine$arms()$pulls, outstanding = agent$outstanding
    ), nrow = length(arms))
  })
}

#' @param n How many choices at most: the last ones. By default all, which may take long.
#' @rdname agent_pulls
#' @export
agent_log <- function(agent, n = Inf) {
  check_agent(agent)
  if (!identical(n, Inf)) n <- check_count(n)
  log <- agent_look(agent, function() lapply(agent$store$log(n), rev))
  arms <- agent$terms$arms
  open <- log$status %in% TICKET[c("open", if (agent$silent) "waiting")]
  # Where a missing answer is protected, whether one came is not to be seen.
  resolved <- if (agent$silent) "resolved" else ifelse(log$status == TICKET[["used"]], "used", "missing")
  tibble::new_tibble(list(
    ticket = as.character(log$ticket), t = as.numeric(log$t), arm = factor(arms[log$arm], arms),
    time = as.POSIXct(as.numeric(log$time), origin = "1970-01-01"),
    status = as.character(ifelse(open, "open", resolved))
  ), nrow = length(open))
}

#' Look at an agent as of now, all at one moment. Deadlines that are past are written first:
#' the tables know of them only then.
#' @noRd
agent_look <- function(agent, body) {
  out <- agent_transact(agent, function(tx) if (!tx$find_next_due) list(body()), look = TRUE)
  if (is.null(out)) out <- agent_transact(agent, function(tx) list(body()), look = TRUE)
  out[[1]]
}

#' What the released sums say about the arms
#'
#' Estimates of the arms' means from released noisy sums, with intervals that hold at all times
#' together: look whenever you like. They cost no privacy.
#'
#' @details
#' With probability `level` the interval of an arm contains its mean at every time, whatever rule
#' decided to pull it and when one looks, noise included. The intervals are
#' confidence sequences: the Bernoulli moment generating function bounds that of any reward in
#' \[0, 1\], that of the noise is known, and a mixture over their parameter is a
#' supermartingale that rarely grows large (Ville's inequality). They assume that rewards of an
#' arm have the same mean given the past, and, with `use = "arrival"`, that when a reward comes says
#' nothing of its value. For the difference of two arms, subtract lower from upper limits.
#'
#' Tickets that were resolved without a reward count as `missing`.
#'
#' What there is depends on the policy:
#' * Policies that release each batch's sum once: these sums. One that is started anew
#'   ([policy_restart()]) tells of its present life, also in how many rewards there are.
#' * Locally private policies ([policy_local()]), also in R: the sums of the random bits, with the map from
#'   rewards to bits undone; each bit is a release. NA around an epsilon-DP policy, whose arms are more
#'   private than the bits.
#' * All others (Gaussian Thompson sampling, tree counters, other policies in R) publish arms and no
#'   sums: NA. So do policies without privacy, where [estimates()] of a simulation shows plain sums: in
#'   life these are sums of people's rewards, and are not published.
#'
#' @inheritSection dpts_agent What is published
#'
#' @param agent An agent.
#' @param level The confidence level of each arm's interval: a number in (0, 1).
#' @returns A tibble, one row per arm: `arm`, `rewards` and `releases` (how many are in the released
#'   sum), `mean` (of those rewards, from the sum, cut to \[0, 1\]), `lower`, `upper`; NA before the first
#'   release.
#' @references Howard, S., Ramdas, A., McAuliffe, J. and Sekhon, J. (2021). Time-uniform,
#'   nonparametric, nonasymptotic confidence sequences. Annals of Statistics 49.
#' @family agent
#' @examples
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' for (i in 1:200) agent_reward(agent, agent_choose(agent)$ticket, runif(1) < 0.3)
#' agent_estimates(agent)
#' @export
agent_estimates <- function(agent, level = 0.95) {
  check_agent(agent)
  level <- check_number(level, 0, 1, open = TRUE)
  seen <- agent_look(agent, function() agent$engine$arms())
  arms <- agent$terms$arms
  limits <- mean_intervals(seen$rewards, seen$releases, seen$sum, seen$noise, level)
  limits <- lapply(limits, from_bits, rep_len(seen$flip, length(arms)))
  tibble::new_tibble(list(
    arm = factor(arms, arms), rewards = seen$rewards, releases = seen$releases,
    mean = limits$mean, lower = limits$lower, upper = limits$upper
  ), nrow = length(arms))
}

#' @export
format.dpts_agent <- function(x, ...) {
  terms <- x$terms
  head <- sprintf("<agent> %s in %s%s", terms$policy$name, x$store$label,
                  if (x$closed) ", closed" else "")
  if (x$closed) return(head)
  pulls <- agent_pulls(x)
  rule <- if (x$silent) {
    sprintf("at the deadline of %s, missing counts %s", format_seconds(terms$deadline),
            format(terms$missing))
  } else {
    paste0("on arrival, ", if (terms$deadline < Inf) {
      sprintf("missing counts %s after %s", format(terms$missing), format_seconds(terms$deadline))
    } else "waited for without limit")
  }
  width <- max(nchar(as.character(pulls$arm)))
  c(head,
    paste0("  guarantee: ", format(agent_guarantee(terms$policy)),
           if (!promises_nothing(agent_guarantee(terms$policy))) " for a reward"),
    if (!is.null(terms$max_per_person)) {
      sprintf("             %s rewards of a person are used at most", format(terms$max_per_person))
    },
    paste("  rewards:   used", rule),
    sprintf("  rounds:    %s%s, %s outstanding", format(sum(pulls$pulls), big.mark = ","),
            if (is.null(terms$horizon)) "" else paste(" of", format(terms$horizon, big.mark = ",")),
            format(sum(pulls$outstanding), big.mark = ",")),
    sprintf("  %s %s", formatC(utils::head(as.character(pulls$arm), 10), width = -width),
            utils::head(format(pulls$pulls, big.mark = ","), 10)),
    if (nrow(pulls) > 10) sprintf("  and %d more arms", nrow(pulls) - 10)
  )
}

format_seconds <- function(s) {
  units <- c(days = 86400, hours = 3600, minutes = 60, seconds = 1)
  unit <- which(s >= units)[1]
  if (is.na(unit)) unit <- 4
  n <- signif(s / units[[unit]], 6)
  paste(format(n), if (n == 1) sub("s$", "", names(units)[unit]) else names(units)[unit])
}

#' @export
print.dpts_agent <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

#' Summarise an agent
#'
#' @inheritSection dpts_agent What is published
#' @param object An agent.
#' @param level The confidence level of the intervals.
#' @param ... Must be empty.
#' @returns A tibble, one row per arm: `arm`, `pulls`, `share` (of all pulls), `outstanding`,
#'   `rewards`, `releases`, `mean`, `lower`, `upper`: see [agent_pulls()] and [agent_estimates()].
#' @family agent
#' @examples
#' summary(dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival"))
#' @export
summary.dpts_agent <- function(object, ..., level = 0.95) {
  check_dots_empty(...)
  pulls <- agent_pulls(object)
  estimates <- agent_estimates(object, level)
  share <- if (sum(pulls$pulls) > 0) pulls$pulls / sum(pulls$pulls) else NA_real_
  tibble::new_tibble(c(
    as.list(pulls)[c("arm", "pulls")], list(share = rep_len(share, nrow(pulls))),
    as.list(pulls)["outstanding"],
    as.list(estimates)[c("rewards", "releases", "mean", "lower", "upper")]
  ), nrow = nrow(pulls))
}

#' Plot an agent
#'
#' `"shares"`: each arm's share of the choices so far, against rounds. `"estimates"`: the
#' arms' means with 95% intervals that hold at all times together.
#'
#' @inheritSection dpts_agent What is published
#' @param object An agent.
#' @param ... Must be empty.
#' @param what `"shares"` or `"estimates"`.
#' @returns A ggplot.
#' @family agent
#' @examples
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' for (i in 1:50) agent_reward(agent, agent_choose(agent)$ticket, runif(1) < 0.3)
#' autoplot(agent)
#' autoplot(agent, what = "estimates")
#' @export
autoplot.dpts_agent <- function(object, ..., what = c("shares", "estimates")) {
  check_dots_empty(...)
  what <- check_choice(what, c("shares", "estimates"))
  if (what == "estimates") return(plot_estimates(agent_estimates(object)))
  shares <- arm_shares(object)
  ggplot2::ggplot(shares, ggplot2::aes(.data$t, .data$share, colour = .data$arm,
                                       linetype = .data$arm)) +
    ggplot2::geom_line() +
    scales_by(levels(shares$arm), title = "Arm") +
    ggplot2::scale_x_continuous(labels = label_count) +
    ggplot2::scale_y_continuous(labels = function(y) paste0(100 * y, "%"), limits = c(0, 1)) +
    ggplot2::labs(x = "Round", y = "Share of choices so far", alt = paste(
      "Share of each arm among the choices so far, against rounds."))
}

#' Cumulative shares at some 200 rounds. What was chosen never changes, so it is counted once, in
#' the database, in stretches of `width` rounds, and only newer rounds are counted next time.
#' @noRd
arm_shares <- function(agent) {
  agent_look(agent, function() update_course(agent))
  arms <- agent$terms$arms
  counts <- agent$course$counts
  total <- apply(counts, 2, cumsum)
  dim(total) <- dim(counts)
  t <- rowSums(total)
  data.frame(t = rep(t, length(arms)), arm = factor(rep(arms, each = length(t)), arms),
             share = as.numeric(total / t))
}

update_course <- function(agent) {
  old <- agent$course %||% list(width = 1, counts = matrix(0, 0, length(agent$terms$arms)))
  rounds <- sum(agent$engine$arms()$pulls)
  # The last stretch may be a part of one.
  whole <- floor(sum(old$counts) / old$width)
  counts <- old$counts[seq_len(whole), , drop = FALSE]
  width <- old$width
  while (rounds > MOST_STRETCHES * width) {
    # Two stretches become one; one that is left alone is counted again.
    whole <- nrow(counts) %/% 2
    pair <- seq_len(whole) * 2
    counts <- counts[pair - 1, , drop = FALSE] + counts[pair, , drop = FALSE]
    width <- 2 * width
  }
  more <- matrix(0, ceiling(rounds / width) - whole, ncol(counts))
  new <- agent$store$course(whole * width + 1, rounds, width)
  more[cbind(as.numeric(new$stretch) - whole + 1, new$arm)] <- as.numeric(new$n)
  agent$course <- list(width = width, counts = rbind(counts, more))
}

MOST_STRETCHES <- 200

plot_estimates <- function(estimates) {
  known <- estimates[!is.na(estimates$mean), ]
  ggplot2::ggplot(known, ggplot2::aes(.data$mean, .data$arm)) +
    ggplot2::geom_pointrange(ggplot2::aes(xmin = .data$lower, xmax = .data$upper)) +
    ggplot2::scale_y_discrete(limits = rev(levels(estimates$arm)), drop = FALSE) +
    ggplot2::scale_x_continuous(limits = c(0, 1)) +
    ggplot2::labs(x = "Mean reward, with 95% intervals for all times together", y = NULL,
                  alt = "Estimated mean reward of each arm with its interval.")
}
