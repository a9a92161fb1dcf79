# Other outcomes of an agent than the reward: harm, cost, retention. A block of people, as the policy tosses
# them, is released once for the reward and once for each other outcome, with noise of its own.
#
# The store keeps an answer (a row of dpts_outcome) from its report to the release of its block. A block is
# released for an outcome once it was released for the reward and the deadline of its last person is past, and
# so by deadlines alone. What of a block is to be known until then is in the agent's `blocks`: a matrix with a
# row for each block that an outcome waits for, and the columns
#   batch, last, whole   its number; when its last person came; was it released for the reward, with all
#                        rewards (1), or not yet (0)?
#   done                 for each outcome: was it released?
#   size, chance         for each arm, from the release of the reward

#' Another outcome of the same people
#'
#' `agent_outcome()` describes an outcome that an agent counts beside the reward, such as harm, cost or
#' retention. It has its own range, deadline, privacy budget and noise, and can guard an experiment: an arm
#' that is proved to be worse than the control is paused.
#'
#' @details
#' The policy learns from rewards alone. Other outcomes are counted in the same blocks of people. Each is
#' released for a block after the block's rewards were released, and after the `deadline` of the block's last
#' person. It is not released when all have answered, because that would show who answered. Each sum has
#' noise of its own. Then answers are forgotten, unless the agent has `keep_rewards`. An agent that is ended
#' early ([agent_finish()]) drops what waits for a deadline. To lose nothing, wait for the longest deadline
#' after the last choice before you end it.
#'
#' Report an outcome by [agent_reward()] with `outcome`. Read it by [evidence()], [effects()], [verdict()] and
#' [estimates()] with `outcome`; [dpts_releases()] has all of them.
#'
#' The policy must be [policy_randomised()]: with others the people of an arm are no random part of all.
#'
#' @section Guards:
#' With `guard = 0.02` an arm is paused once it is proved that its mean of this outcome is more than 0.02
#' worse than that of the policy's `control`. The proof is [evidence()] by randomisation (`"tosses"`), so it
#' holds under drift: with k arms the threshold is ln((k - 1) / `error`), and the probability that a guard
#' ever pauses an arm that is not worse by more than `guard`, on average over the people so far, is at most
#' `error`. An arm that guards are to watch loses people slowly if it is chosen rarely, so keep its `floor`
#' high.
#'
#' The call in which it happens warns (class `dpts_warning_guard`), and so do the page, the log and `/metrics`
#' of a service ([agent_api()]).
#'
#' A guard acts with the release, so after the deadline and with a block's delay. It pauses as [agent_arms()]
#' does: the open block ends, and its people stay in it; while an arm is paused nobody gets it, and its pair
#' with the control gains no people and no evidence. You may resume the arm. The next release pauses it again
#' if it is still proved to be worse.
#'
#' What was released then decides how many people a pair of arms has. Intervals of [effects()] with
#' `at = "any"` hold all the same. With `at = "end"` they are too narrow if the outcome goes with the reward
#' ([dpts_plan()], Other outcomes).
#'
#' A person who does not answer counts as `missing`. With a guard you must say what that is: as 0, an arm
#' whose people get lost looks safe.
#'
#' @section Privacy:
#' An outcome of a person is in one sum, with N(0, 1 / `mu`^2) or Lap(1 / `epsilon`) noise in units of its
#' range. The guarantee for a person is for all outcomes together: neighbours differ in the reward and in
#' each outcome, each replaced by any value. With Gaussian noise, m rewards of a person at most and budgets
#' mu_h of all outcomes, the reward's included, that is mu^2 = m (mu_1^2 + mu_2^2 + ...); with Laplace noise
#' epsilons add up. Whether and when somebody answered is as protected as the answer.
#'
#' With `max_per_person` above 1 a person is in no block again before the deadlines of all outcomes are past.
#'
#' @param mu,epsilon The budget of this outcome, as in [policy_randomised()]: at most one of them. Without one
#'   there is no noise, and no guarantee for a person.
#' @param ... Not used; later arguments must be named.
#' @param outcome `"binary"`, or `"continuous"` for any numbers in `range`: sums of squares are then released,
#'   too, at no cost of privacy, and evidence knows the spread.
#' @param range The smallest and the largest value that there can be.
#' @param deadline How long an answer is waited for, a difftime; `NULL`: as long as for the reward.
#' @param missing What no answer counts as: a number in `range`. `NULL` is the lowest, and refused with a
#'   `guard`.
#' @param guard By how much an arm may be worse than the control, in units of the outcome; `NULL`: no guard.
#' @param worse Of a `guard`, which must be given with it: whether `"more"` of this outcome is worse, as of
#'   harm, or `"less"`, as of retention.
#' @param error Of a `guard`, too: the probability that it ever pauses an arm wrongly, a number in (0, 1).
#' @returns An object of class `dpts_outcome`, for `outcomes` of [dpts_agent()].
#' @family agent
#' @seealso [dpts_agent()] takes the outcomes, [agent_reward()] tells one, and
#'   [effects()][effects.dpts_simulation] compares arms by it.
#' @concept guardrail metric
#' @concept safety monitoring
#' @concept secondary endpoint
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' week <- as.difftime(7, units = "days")
#' harm <- agent_outcome(mu = 0.2, missing = 1, guard = 0.02)
#' harm
#' agent <- dpts_agent(policy_randomised(mu = 0.5, control = 1), c("old", "new"), deadline = week,
#'                     outcomes = list(harm = harm))
#' choice <- agent_choose(agent)
#' agent_reward(agent, choice$ticket, 1)
#' agent_reward(agent, choice$ticket, 0, outcome = "harm")
#' agent
#' @export
agent_outcome <- function(mu = NULL, epsilon = NULL, ..., outcome = c("binary", "continuous"),
                          range = c(0, 1), deadline = NULL, missing = NULL, guard = NULL,
                          worse = c("more", "less"), error = 0.05) {
  check_dots_empty(...)
  budget <- check_one_budget(mu, epsilon)
  outcome <- check_choice(outcome, c("binary", "continuous"))
  range <- check_range(range)
  if (!is.null(deadline)) deadline <- check_seconds(deadline)
  # Who says the error of a guard believes that there is one.
  of_guard <- c("worse", "error")[!c(base::missing(worse), base::missing(error))]
  worse <- check_choice(worse, c("more", "less"))
  error <- check_number(error, 0, 1, open = TRUE)
  if (!is.null(guard)) guard <- check_number(guard, 0, diff(range), open = c(FALSE, TRUE))
  if (is.null(guard) && length(of_guard)) {
    abort_input(of_guard[1], sprintf("`%s` is that of a `guard`, which must be given with it.", of_guard[1]))
  }
  if (is.null(missing)) {
    if (!is.null(guard)) {
      abort_input("missing", paste("`missing` must be given with a `guard`: as what does no answer count?",
                                   "The worst value is the safe side."))
    }
    missing <- range[1]
  }
  missing <- in_units(check_number(missing, range[1], range[2]), range)
  structure(list(mu = budget$mu, epsilon = budget$epsilon, outcome = outcome, range = range,
                 deadline = deadline, missing = missing, guard = guard,
                 worse = worse, error = error), class = "dpts_outcome")
}

#' @export
format.dpts_outcome <- function(x, ...) {
  guarantee <- guarantee_of_one(x)
  paste0(if (promises_nothing(guarantee)) "without noise" else format(guarantee), ", from ",
         number_text(x$range[1]), " to ", number_text(x$range[2]), ", missing counts ",
         missing_text(x),
         if (!is.null(x$deadline)) paste(" after", format_seconds(x$deadline)),
         if (!is.null(x$guard)) sprintf(", guard: at most %s %s than the control (error %s)",
                                        number_text(x$guard), x$worse, number_text(x$error)))
}

#' @export
print.dpts_outcome <- function(x, ...) {
  cat("<outcome> ", format(x), "\n", sep = "")
  invisible(x)
}

# `deadline`: of the reward
check_outcomes <- function(outcomes, policy, deadline) {
  if (is.null(outcomes)) return(NULL)
  if (!is.list(outcomes) || !all(vapply(outcomes, inherits, NA, "dpts_outcome"))) {
    abort_arg("outcomes", "a named list of `agent_outcome()`", outcomes)
  }
  names(outcomes) <- check_names(names(outcomes), "outcomes", "a list with a name for each outcome")
  if ("reward" %in% names(outcomes)) {
    abort_arg("outcomes", "named otherwise: \"reward\" is the one from which the policy learns")
  }
  if (!inherits(policy, "dpts_policy_randomised")) {
    abort_input("outcomes", paste("`outcomes` must be NULL: policy \"%s\" has no blocks of people who were",
                                  "randomised to arms with known probabilities, as `policy_randomised()`",
                                  "has."),
                policy$name)
  }
  for (name in names(outcomes)) {
    own <- outcomes[[name]]
    outcomes[[name]]$deadline <- own$deadline %||% deadline
    if (outcomes[[name]]$deadline == Inf) {
      abort_input("outcomes", "Outcome \"%s\" of `outcomes` needs a `deadline`: the agent has none.", name)
    }
    if (is.null(own$guard)) next
    if (is.null(policy$params$control)) {
      abort_input("outcomes", paste("Outcome \"%s\" of `outcomes` has a `guard`, and the policy no `control`",
                                    "with which arms are compared: see `policy_randomised()`."), name)
    }
    if (policy$params$permuted > 0) {
      abort_input("outcomes", paste("Outcome \"%s\" of `outcomes` has a `guard`, which needs people",
                                    "randomised one by one: `permuted` blocks prove nothing under drift."),
                  name)
    }
  }
  outcomes
}

# The number of an outcome, 0: the reward
outcome_number <- function(agent, outcome) {
  known <- c("reward", names(agent$terms$outcomes))
  match(check_choice(outcome, known), known) - 1L
}

outcome_how <- function(outcome) {
  c(outcome$mu %||% NA_real_, outcome$epsilon %||% NA_real_, outcome$outcome == "continuous")
}

# How its sums are noisy, in the terms of REPORT
outcome_noise <- function(outcome) {
  stats::setNames(as.list(.Call(C_outcome_report, outcome_how(outcome))), REPORT)
}

# ---- blocks ------------------------------------------------------------------------------------------

no_blocks <- function(agent) matrix(0, 0, 3 + length(agent$terms$outcomes) + 2 * length(agent$terms$arms))

# The columns of sizes and of chances
block_columns <- function(agent) {
  k <- length(agent$terms$arms)
  from <- 3 + length(agent$terms$outcomes)
  list(size = from + seq_len(k), chance = from + k + seq_len(k))
}

# People came into these blocks.
note_blocks <- function(agent, tx, batch) {
  if (is.null(agent$terms$outcomes)) return(invisible())
  batch <- unique(batch[batch > 0])
  for (b in setdiff(batch, agent$blocks[, 1])) {
    agent$blocks <- rbind(agent$blocks, replace(numeric(ncol(agent$blocks)), 1, b))
  }
  agent$blocks[agent$blocks[, 1] %in% batch, 2] <- tx$now
}

# Nobody is left in these blocks.
drop_blocks <- function(agent, tx, batch) {
  if (is.null(agent$terms$outcomes)) return(invisible())
  for (h in seq_along(agent$terms$outcomes)) forget_answers(agent, tx, h, batch, always = TRUE)
  agent$blocks <- agent$blocks[!agent$blocks[, 1] %in% batch, , drop = FALSE]
}

# Arms were added: columns for them
widen_blocks <- function(agent, old) {
  if (is.null(agent$terms$outcomes)) return(invisible())
  blocks <- no_blocks(agent)[rep(NA_integer_, nrow(agent$blocks)), , drop = FALSE]
  blocks[] <- 0
  from <- 3 + length(agent$terms$outcomes)
  to <- block_columns(agent)
  blocks[, c(seq_len(from), to$size[seq_len(old)], to$chance[seq_len(old)])] <- agent$blocks
  agent$blocks <- blocks
}

# Which blocks were released for the reward since the last call. They are released in their order, each by
# itself; but for what is left at the end, of which a block counts if it is the only one and all rewards came.
blocks_released <- function(agent, tx) {
  sums <- agent$session$sums
  at <- block_columns(agent)
  k <- length(agent$terms$arms)
  for (i in setdiff(seq_along(sums), seq_len(tx$heard %||% 0))) {
    rows <- sums[[i]]
    rest <- agent$life$finished && i == length(sums)
    stratum <- (rows[, 1] - 1) %/% k + 1
    for (s in unique(stratum)) {
      waits <- which(agent$blocks[, 3] == 0 & stratum_of(agent$session, agent$blocks[, 1]) == s)
      own <- rows[stratum == s, , drop = FALSE]
      if (rest && (length(waits) != 1 || any(own[, match("whole", RELEASE)] == 0))) next
      row <- waits[which.min(agent$blocks[waits, 1])]
      arm <- own[, 1] - (s - 1) * k
      agent$blocks[row, 3] <- 1
      agent$blocks[row, at$size[arm]] <- own[, match("size", RELEASE)]
      agent$blocks[row, at$chance[arm]] <- own[, match("chance", RELEASE)]
    }
  }
  tx$heard <- length(sums)
}

# Does any outcome wait for a deadline?
outcomes_wait <- function(agent, tx) {
  longest <- max(0, vapply(agent$terms$outcomes, `[[`, 0, "deadline"))
  any(agent$blocks[, 2] + longest > tx$now)
}

# Release what is due of other outcomes. At the end, and beyond the budget, the rest is dropped.
release_outcomes <- function(agent, tx) {
  outcomes <- agent$terms$outcomes
  if (is.null(outcomes) || agent$life$moved) return(invisible())
  blocks_released(agent, tx)
  for (h in seq_along(outcomes)) {
    due <- agent$blocks[, 3] == 1 & agent$blocks[, 3 + h] == 0 &
      agent$blocks[, 2] + outcomes[[h]]$deadline <= tx$now
    if (!agent$over) for (row in which(due)) release_outcome(agent, tx, row, h)
    if (agent$over || agent$life$finished) due[] <- TRUE
    forget_answers(agent, tx, h, agent$blocks[due & agent$blocks[, 3 + h] == 0, 1])
    agent$blocks[due, 3 + h] <- 1
  }
  done <- rowSums(agent$blocks[, 3 + seq_along(outcomes), drop = FALSE]) == length(outcomes)
  agent$blocks <- agent$blocks[!done, , drop = FALSE]
}

release_outcome <- function(agent, tx, row, h) {
  outcome <- agent$terms$outcomes[[h]]
  at <- block_columns(agent)
  batch <- agent$blocks[row, 1]
  size <- agent$blocks[row, at$size]
  chance <- agent$blocks[row, at$chance]
  on <- which(chance > 0)
  kept <- answers_now(agent$store$answers(h, batch), tx, h, batch)
  # In a window the mean of what a person reported; who was erased has an NA.
  first <- which(!duplicated(kept$ticket))
  of <- factor(kept$ticket, kept$ticket[first])
  kept <- list(arm = kept$arm[first], reward = as.vector(tapply(kept$reward, of, mean_in_window)))
  kept <- some_tickets(kept, which(!is.na(kept$reward)))
  missing <- size - tabulate(kept$arm, length(size))
  if (any(missing < 0)) abort_store("the answers of a block cannot be read")
  arm <- match(c(kept$arm, rep(seq_along(size), missing)), on)
  value <- c(kept$reward, rep(outcome$missing, sum(missing)))
  sums <- .Call(C_outcome_release, outcome_how(outcome), length(on), arm, as.double(value),
                getOption("dpts.forced_releases"))
  first <- (stratum_of(agent$session, batch) - 1) * length(size)
  t <- sum(session_pulls(agent$session))
  agent$fresh <- rbind(agent$fresh,
                       cbind(h, first + on, t, size[on], sums[, 1], chance[on], 1, 1, sums[, 2]))
  note_events(tx, "outcome", list(t = batch, arm = NA_integer_))
  tx$find_next_due <- TRUE # who looks, looks once that is written
}

# Rows of answers as they are in the middle of a change
answers_now <- function(rows, tx, h, batch) {
  new <- some_tickets(tx$answers, which(tx$answers$outcome == h & tx$answers$batch == batch))
  rows <- some_tickets(rows, which(!paste(rows$ticket, rows$part) %in% paste(new$ticket, new$part)))
  list(ticket = c(rows$ticket, new$ticket), arm = as.integer(c(rows$arm, new$arm)),
       reward = as.numeric(c(rows$reward, new$reward)))
}

# Rows of the release table that are not stored yet, with the number of the outcome in front
take_all_sums <- function(agent) {
  rows <- take_sums(agent$session)
  rows <- rbind(cbind(numeric(nrow(rows)), rows), agent$fresh)
  agent$fresh <- NULL
  rows
}

# ---- answers -----------------------------------------------------------------------------------------

# Reports of an outcome, of which `part` is the name -> their statuses
take_answers <- function(agent, tx, ticket, reward, h, part) {
  ids <- unique(ticket[may_be_tickets(ticket)])
  rows <- agent$store$tickets(ids)
  at <- match(ticket, rows$ticket)
  waits <- agent$blocks[agent$blocks[, 3 + h] == 0, 1]
  late <- !(rows$batch %in% waits & rows$time + agent$terms$outcomes[[h]]$deadline > tx$now) |
    rows$status == TICKET[["returned"]]
  old <- agent$store$answered(h, ids)
  late <- late | rows$ticket %in% old$ticket[is.na(as.numeric(old$reward))] # who was erased
  status <- compare_reports(ticket, part, reward, old)
  status[late[at]] <- "late"
  status[is.na(at)] <- "unknown"
  first <- which(status == "waiting")
  note_answers(tx, some_tickets(rows, at[first]), h, reward[first], part[first])
  status
}

# The first report of a name is taken ("waiting"); what is reported by that name again must be the same. (To
# 2^-40, since a database may read the last digit of a number otherwise.)
compare_reports <- function(ticket, part, reward, old) {
  name <- paste(ticket, part)
  said <- as.numeric(old$reward)[match(name, paste(old$ticket, old$part))]
  first <- is.na(said) & !duplicated(name)
  said <- ifelse(is.na(said), reward[match(name, name)], said)
  ifelse(first, "waiting", ifelse(abs(said - reward) < 2^-40, "known", "refused"))
}

# Who is erased, or whose ticket comes back, has not answered.
erase_answers <- function(agent, tx, rows) {
  for (h in seq_along(agent$terms$outcomes)) {
    waits <- agent$blocks[agent$blocks[, 3 + h] == 0, 1]
    own <- some_tickets(rows, which(rows$batch %in% waits))
    old <- agent$store$answered(h, own$ticket)
    n <- length(own$ticket)
    gone <- unique(data.frame(ticket = c(own$ticket, old$ticket), part = c(rep("", n), old$part)))
    own <- some_tickets(own, match(gone$ticket, own$ticket))
    note_answers(tx, own, h, rep(NA_real_, nrow(gone)), gone$part)
  }
}

# What all outcomes of m rewards of a person add to a guarantee. `apart`: is no sum of two of them?
with_outcomes <- function(guarantee, outcomes, m, apart) {
  if (is.null(outcomes)) return(guarantee)
  own <- lapply(unname(outcomes), function(outcome) {
    one <- guarantee_of_one(outcome)
    if (m > 1 && identical(one$kind, "pure")) one$kind <- "laplace"
    if (apart || m == 1) apart_of(one, m) else group_of(one, m)
  })
  if (any(vapply(c(list(guarantee), own), promises_nothing, NA))) return(guarantee_none())
  names(own) <- names(outcomes)
  new_guarantee("composed", parts = c(list(reward = guarantee), own), size = if (m > 1) m,
                neighbours = guarantee$neighbours, published = guarantee$published)
}
