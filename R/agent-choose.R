#' Choose arms, and report rewards
#'
#' Ask an agent which arm the next person gets, and report the reward. `agent_choose()` chooses an arm for
#' the next arrival, or for n of them at once; `agent_reward()` reports the rewards of tickets.
#'
#' @details
#' A call is one transaction, durable when it returns. A call of `agent_choose()` is done as a whole or not at
#' all. `agent_reward()` takes each report by itself and returns its status. Values outside the agent's range
#' are an error, and nothing is done.
#'
#' If the answer to a call was lost, call again with the same `key`: you get the same tickets. A key that came
#' with another number of choices, or with other persons, or of whose tickets some were returned, is an error
#' of class `dpts_error_key`: nobody is given a ticket of somebody else. Nothing else of a call is compared.
#' With another `offer`, `context`, `predicted` or `stratum` you get the tickets and arms of the first call: a
#' new choice needs a new key.
#'
#' Keys are kept for a day, or for `retention`, and until their tickets are resolved. Of somebody who was
#' erased ([agent_erase()]), or after persons were forgotten, no key is known, and the choice is a new one.
#' Within a `window` a key knows those alone who got a new ticket in its call: these get that ticket again,
#' and the others the one of their window. With `sticky` the persons alone identify the call.
#'
#' `agent_reward()` needs a `key` only in an agent with a `window`, where each report for a ticket is one of
#' several: a second call with the `key` then adds none.
#'
#' With `n` above 1 tickets are drawn in advance, for people who come later, with the probabilities of now.
#' Use them in their order, so that which of them remain does not depend on their arms. A ticket that nobody
#' uses stays in its block: at its deadline it counts as `missing`, which pulls the mean of its arm there.
#' Without a deadline its block is never released. So draw no more than will be used before the deadline, with
#' a `key`, and give back what is left by [agent_return()].
#'
#' While the agent keeps the first report for a ticket, the same value again changes nothing and another value
#' is refused. With a `window` all reports for a ticket count, as their mean, until it is resolved: see A day
#' as the unit in [dpts_agent()]. Once the report is inside a released sum it is forgotten, and no further
#' report for its ticket changes anything. Rewards, or their mean, are rounded once to multiples of 2^-20 of
#' the range.
#'
#' @inheritSection dpts_agent What is published
#'
#' @param agent An agent.
#' @param n Number of choices.
#' @param ... Not used; later arguments must be named.
#' @param offer The available arms, by name or number; `NULL`: all. Must not depend on rewards.
#' @param context What is known of the person, for policies with contexts: a vector of numbers, the same for
#'   all n choices, or a matrix with one row per choice; with one model for all arms (`model = "shared"`) a
#'   matrix with one row per arm, the same for all n choices. For a policy in R, any value that `[` or rows
#'   divide so.
#' @param person Identifier of the person, one string per choice: required with `max_per_person` or
#'   `sticky`, and refused otherwise.
#' @param key A string that names this call, of at most 100 letters, digits and `-_.:`; a second call with it
#'   gives the tickets of the first, or reports the same again. `NULL`: every call is a new one.
#' @param predicted Prediction of the reward, for a policy with predictions ([policy_randomised()]): one
#'   number for each choice in the units of the rewards, NA where nothing is known of the person. It is kept
#'   until the policy has learned the reward, and no longer unless `keep_rewards`.
#' @param stratum Stratum of the person, for an agent with `strata`: a string for each choice or one for all.
#' @returns `agent_choose()`: a tibble, one row per choice: `ticket` (a string that nobody can guess), `t`
#'   (the round, or NA), `arm` (a factor) and `probability` (with which this arm was chosen; NA if the policy
#'   cannot say it, or `t` is NA). `t` is NA if the choice is no round: beyond `max_per_person`, while a
#'   reward of the person is out or in the open block, after the end, while all arms but one are paused, or if
#'   the agent is beyond its budget.
#'
#'   `agent_reward()`: invisibly a tibble, one row per report: `ticket` and `status`: `"used"` (given to the
#'   policy), `"waiting"` (for its deadline, or the end of its window), `"known"` (reported before; nothing
#'   happened), `"late"` (the ticket was resolved without it, with `use = "deadline"` its deadline is past, or
#'   its choice was no round; nothing happened), `"refused"` (another reward was reported before; nothing
#'   happened) or `"unknown"` (there is no such ticket). Once a reward has been used, a second report is
#'   compared with it only if it is kept (`keep_rewards`), because the answer reveals the first. In a `window`
#'   a report that is sent again after its end is `"late"`, though the mean may have it, unless rewards are
#'   kept and it was the only one.
#' @seealso [dpts_agent()] creates an agent, [agent_finish()] ends the experiment, [verdict()] says when
#'   to stop.
#' @concept agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b", "c"), use = "arrival")
#' two <- agent_choose(agent, n = 2, offer = c("a", "c"))
#' print(agent_reward(agent, two$ticket, c(0, 1)))
#' # The same again: nothing happens.
#' print(agent_reward(agent, two$ticket, c(0, 1)))
#' @export
agent_choose <- function(agent, n = 1, ..., offer = NULL, context = NULL, person = NULL, key = NULL,
                         predicted = NULL, stratum = NULL) {
  check_agent(agent)
  check_dots_empty(...)
  n <- check_count(n, 1, 1e6)
  offer <- check_offer(offer, agent)
  predictions <- check_predictions(predicted, n, agent$terms)
  contexts <- check_contexts(context, n, agent)
  if (!is.null(predictions)) contexts <- predictions
  person <- check_person(person, n, agent$terms)
  stratum <- check_stratum(stratum, n, agent$terms)
  key <- check_key(key)
  chosen <- agent_transact(agent, function(tx) {
    before <- asked_before(agent, n, person, key)
    if (!is.null(before) && !anyNA(before$ticket)) return(before)
    choose_arms(agent, tx, n, offer, contexts, person, key, stratum, before)
  })
  tibble::new_tibble(list(
    ticket = chosen$ticket, t = chosen$t,
    arm = structure(chosen$arm, levels = agent$terms$arms, class = "factor"), probability = chosen$probability
  ), nrow = n)
}

# The tickets of the call that came with this key before, one for each choice; NULL: none is known. A choice
# has an NA if it was given none then (in a `window` the person had one), or if its key is forgotten.
asked_before <- function(agent, n, person, key) {
  # Who is asked for again gets the same ticket anyway.
  if (is.null(key) || agent$terms$sticky) return(NULL)
  rows <- of_known_arms(agent, agent$store$asked(key))
  # Nobody is given a ticket of somebody who is forgotten.
  if (!is.null(person)) rows <- some_tickets(rows, which(!is.na(rows$asked_for)))
  if (!length(rows$ticket)) return(NULL)
  if (TICKET[["returned"]] %in% rows$status) {
    abort_input("key", "`key` came with a call of which tickets were returned.", class = "dpts_error_key")
  }
  of <- if (is.null(person)) length(rows$ticket) else rows$asked_n[1]
  if (of != n) {
    abort_input("key", "`key` came with another call, of %s.", count_noun(of, "choice"),
                class = "dpts_error_key")
  }
  if (is.null(person)) return(rows)
  # The j-th choice for a person has the j-th of the person's tickets or, if they are fewer (in a window), the
  # last one again.
  nth <- function(x) stats::ave(seq_along(x), x, FUN = seq_along)
  j <- pmin(nth(person), as.vector(table(rows$asked_for)[person]))
  at <- match(paste(person, j), paste(rows$asked_for, nth(rows$asked_for)))
  if (!all(seq_along(rows$ticket) %in% at)) {
    abort_input("key", "`key` came with another call, of other people.", class = "dpts_error_key")
  }
  some_tickets(rows, at)
}

# `before`: see asked_before()
choose_arms <- function(agent, tx, n, offer, contexts, person, key, stratum, before) {
  if (agent$life$then == "end") abort_ended()
  offer <- taking_part(agent, offer)
  # Another process may have added arms since the context was checked.
  if (!is.null(contexts$arms) && contexts$arms != length(agent$terms$arms)) {
    abort_arg("context", sprintf("a matrix of %s rows, one per arm", words_whole(length(agent$terms$arms))))
  }
  people <- if (!is.null(person) && !agent$life$forgotten) known_people(agent, tx, person)
  chosen <- play_choices(agent, tx, n, offer, contexts, person, people, stratum, before)
  due <- due_of(agent, tx)
  note_tickets(agent, tx, chosen, due, contexts, key, if (!is.null(people)) person)
  note_blocks(agent, tx, chosen$batch)
  counts <- !is.na(chosen$t)
  if (!is.null(contexts$outside)) {
    at <- which(counts & chosen$new)
    agent$life$clipped <- agent$life$clipped + sum(contexts$outside(at, chosen$arm[at]))
  }
  if (any(counts)) {
    on <- offer %||% seq_along(agent$offered)
    agent$offered[on] <- agent$offered[on] + sum(!is.na(chosen$probability[counts]))
    agent$outstanding <- agent$outstanding + tabulate(chosen$arm[counts], length(agent$terms$arms))
    if (!is.na(due)) tx$next_due <- min(tx$next_due, due, na.rm = TRUE)
    if (!is.null(people)) agent$counted <- agent$counted + sum(counts)
  }
  changed <- counts | (agent$terms$sticky & chosen$new)
  if (!is.null(people) && any(changed)) tx$persons <- person_rows(people, person[changed])
  if (all(chosen$new)) chosen else with_rounds(agent, chosen)
}

# The choices one by one: columns, with `new`: is it a ticket of its own, not one that was given out before?
# What becomes known of persons is set in `people`.
play_choices <- function(agent, tx, n, offer, contexts, person, people, stratum, before) {
  session <- agent$session
  terms <- agent$terms
  playing <- is_playing(agent)
  apart <- keeps_apart(terms$policy, terms$max_per_person)
  pulls <- session_pulls(session)
  left <- (terms$horizon %||% Inf) - sum(pulls)
  arm <- integer(n)
  t <- probability <- rep(NA_real_, n)
  batch <- numeric(n)
  ticket <- new_tickets(n)
  new <- rep(TRUE, n)
  for (i in seq_len(n)) {
    who <- if (!is.null(people)) people[[person[i]]]
    # A person's ticket is that of the call, or for ever, or for a window.
    held <- if (isTRUE(!is.na(before$ticket[i]))) some_tickets(before, i) else
      if (!is.null(who) && (terms$sticky || isTRUE(who$time + terms$window > tx$now))) who
    if (!is.null(held)) {
      ticket[i] <- held$ticket
      arm[i] <- held$arm
      new[i] <- FALSE
      next
    }
    if (playing && left <= 0) {
      end_life(agent, tx, "verdict")
      playing <- FALSE
    }
    if (!playing || (!is.null(who) && who$pulls >= terms$max_per_person)) {
      # Which arm is best depends on the context. Counts of arms depend on other people's, which may be
      # protected.
      arm[i] <- if (!is_contextual(terms$policy)) arm_beyond(agent, offer, who$arm, pulls) else
        session_look(session, offer, contexts$at(i))
      if (terms$sticky) people[[person[i]]] <- last_of(person[i], 0L, arm[i], ticket[i])
      next
    }
    # Nobody is in a release twice, nor tossed again before the last reward is in.
    if (!is.null(who) && apart) {
      arm[i] <- session_look(session, offer, contexts$at(i), stratum[i], who$arm,
                             if (who$out) -1 else who$batch)
      if (arm[i] > 0) next
    }
    round <- session_play(session, offer, contexts$at(i), stratum[i])
    left <- left - 1
    arm[i] <- as.integer(round[1])
    t[i] <- round[2]
    batch[i] <- round[3]
    probability[i] <- round[4]
    if (!is.null(people)) {
      people[[person[i]]] <- c(last_of(person[i], as.integer((who$pulls %||% 0) + 1), arm[i], ticket[i]),
                               list(batch = batch[i], out = TRUE, time = tx$now))
    }
  }
  list(ticket = ticket, t = t, arm = arm, batch = batch, probability = probability, new = new)
}

# Tickets that are given out now, and when those of rounds are due. With a key it is kept whom they are for.
note_tickets <- function(agent, tx, chosen, due, contexts, key, person) {
  kept <- which(chosen$new)
  if (!length(kept)) return(invisible())
  new <- some_tickets(chosen[c("ticket", "t", "arm", "batch", "probability")], kept)
  counts <- !is.na(new$t)
  tx$tickets <- c(new, list(
    time = rep(tx$now, length(kept)), due = ifelse(counts, due, NA_real_),
    status = unname(TICKET[ifelse(counts, "open", "beyond")]),
    asked = rep(key %||% NA_character_, length(kept))
  ))
  if (!is.null(key) && !is.null(person) && !agent$terms$sticky) {
    tx$tickets$asked_for <- person[kept]
    tx$tickets$asked_n <- rep(length(person), length(kept))
  }
  if (contexts$given) {
    numbers <- !is.null(agent$session$dim)
    tx$tickets$context <- vapply(kept, function(i) {
      if (is.na(chosen$t[i])) NA_character_ else write_context(contexts$of(i, chosen$arm[i]), numbers)
    }, "")
  }
  note_events(tx, ifelse(counts, "choose", "beyond"), c(tx$tickets, list(note = ticket_text(tx$tickets))))
  if (all(counts) && !contexts$given) remember_open(agent, tx$tickets)
}

# The rounds of tickets that were given out before, those of this very call included
with_rounds <- function(agent, chosen) {
  again <- !chosen$new
  rows <- agent$store$tickets(unique(chosen$ticket[again]))
  at <- match(chosen$ticket[again], c(rows$ticket, chosen$ticket[!again]))
  for (name in c("t", "probability")) chosen[[name]][again] <- c(rows[[name]], chosen[[name]][!again])[at]
  chosen
}

# What is known of these persons: an environment from hash to pulls that count, and the last of them, with its
# batch and time, and whether its reward is out
known_people <- function(agent, tx, person) {
  rows <- as_of_now(of_known_arms(agent, as.list(agent$store$persons(unique(person)))), tx)
  rows$out <- rows$status %in% TICKET[c("open", "waiting")] |
    rows$time + max(-Inf, vapply(agent$terms$outcomes, `[[`, 0, "deadline")) > tx$now
  people <- new.env(hash = TRUE, parent = emptyenv())
  for (i in seq_along(rows$person)) people[[rows$person[i]]] <- lapply(rows, `[[`, i)
  people
}

# What is kept of a person
last_of <- function(person, pulls, arm, ticket) {
  list(person = person, pulls = pulls, arm = arm, ticket = ticket)
}

# The same of some persons, as columns
person_rows <- function(people, person) {
  now <- unname(mget(unique(person), people))
  sapply(c("person", "pulls", "arm", "ticket"), function(name) vapply(now, `[[`, now[[1]][[name]], name),
         simplify = FALSE)
}

#' @param ticket Tickets: strings.
#' @param reward Their rewards: numbers in the agent's `range`, or `TRUE` and `FALSE` for 1 and 0, one per
#'   ticket or one for all.
#' @param outcome Which outcome is reported: `"reward"`, or the name of one of the agent's `outcomes`
#'   ([agent_outcome()]), whose range then counts. Its reports are `"waiting"`, `"known"` or `"refused"` until
#'   its deadline, and `"late"` from then on, or if the choice is in no block.
#' @rdname agent_choose
#' @export
agent_reward <- function(agent, ticket, reward, outcome = "reward", ..., key = NULL) {
  check_dots_empty(...)
  check_all_given()
  check_agent(agent)
  if (!is.character(ticket) || !length(ticket) || anyNA(ticket)) {
    abort_arg("ticket", "one or more tickets: strings", ticket,
              hint = if (is.character(reward)) "Were `ticket` and `reward` given in the other order?")
  }
  if (is.logical(reward) && !is.object(reward)) reward <- as.integer(reward) # did it succeed?
  h <- outcome_number(agent, outcome)
  range <- if (h > 0) agent$terms$outcomes[[h]]$range else agent$terms$range
  reward <- in_shares(check_numbers(reward, range[1], range[2]), range)
  if (!length(reward) %in% c(1, length(ticket))) {
    abort_arg("reward", sprintf("as long as `ticket` (%d) or one number", length(ticket)), reward)
  }
  reward <- rep_len(reward, length(ticket))
  key <- check_key(key)
  part <- name_parts(ticket, key, agent$terms)
  if (is.null(agent$terms$window)) reward <- on_grid(reward) # or once a mean is taken
  status <- agent_transact(agent, function(tx) {
    if (h > 0) take_answers(agent, tx, ticket, reward, h, part) else
      take_rewards(agent, tx, ticket, reward, part)
  }, look = h > 0, hidden = h > 0 || agent$silent) # in which block a choice is another process may know alone
  # A ticket that is not here may be in the store to which the agent moved, or of one that was here before.
  if ("unknown" %in% status) {
    agent_transact(agent, function(tx) if (agent$life$moved) abort_moved(), look = TRUE, hidden = TRUE)
  }
  invisible(tibble::new_tibble(list(ticket = ticket, status = status), nrow = length(ticket)))
}

# The names of reports: a ticket has one, but in a window each call's n-th report for it is one of several.
name_parts <- function(ticket, key, terms) {
  if (is.null(terms$window)) return(rep("", length(ticket)))
  if (is.null(key)) return(new_tickets(length(ticket)))
  sprintf("%s#%d", key, stats::ave(seq_along(ticket), ticket, FUN = seq_along))
}

take_rewards <- function(agent, tx, ticket, reward, part) {
  # Also what became of tickets whose deadline this very transaction found past
  rows <- as_of_now(open_tickets(agent, unique(ticket[may_be_tickets(ticket)])), tx)
  # What a protected report finds past is resolved by the next other call.
  if (agent$silent) rows$status[rows$time + agent$terms$deadline <= tx$now] <- TICKET[["missing"]]
  at <- match(ticket, rows$ticket)
  state <- names(TICKET)[match(rows$status, TICKET)][at]
  status <- if (is.null(agent$terms$window)) take_first(agent, tx, ticket, reward, rows, at, state) else
    take_parts(agent, tx, ticket, reward, part, rows, at, state)
  # Where it is protected whether an answer came, nobody is told after the deadline.
  late <- state %in% c("missing", "beyond", "done", "returned", if (agent$silent) "used") |
    !is.na(at) & is.na(status)
  status[late] <- "late"
  if (!agent$silent) note_events(tx, rep("late", sum(late)), some_tickets(rows, at[late]))
  status[is.na(at)] <- "unknown"
  status
}

# The first report for an open ticket is taken; what was reported before must be the same.
# -> statuses, NA: late
take_first <- function(agent, tx, ticket, reward, rows, at, state) {
  first <- which(state == "open" & !duplicated(ticket))
  rows$reward[at[first]] <- reward[first]
  known <- rows$reward[at]
  status <- ifelse(is.na(known) | known == reward, "known", "refused")
  taken <- some_tickets(rows, at[first])
  if (agent$silent) {
    note_resolved(tx, taken$ticket, rep(TICKET[["waiting"]], length(first)), taken$reward)
  } else {
    use_rewards(agent, tx, taken, taken$reward)
  }
  status[first] <- if (agent$silent) "waiting" else if (agent$over) "late" else "used"
  status
}

# In a window each report is a part of the ticket's reward, which is their mean once it is due: at the
# deadline or, with `use = "arrival"`, at the end of the window. Then parts are forgotten, and no report is
# compared with them. If none came by the end of the window, the first that arrives later is the reward.
take_parts <- function(agent, tx, ticket, reward, part, rows, at, state) {
  window <- agent$terms$window
  open <- state %in% c("open", "waiting")
  after <- open & !agent$silent & (rows$time + window <= tx$now)[at]
  status <- rep(NA_character_, length(ticket))
  within <- which(open & !after)
  status[within] <- compare_reports(ticket[within], part[within], reward[within],
                                    agent$store$answered(0L, unique(ticket[within])))
  new <- which(status == "waiting")
  taken <- some_tickets(rows, at[new])
  note_answers(tx, taken, 0L, reward[new], part[new], batch = taken$t)
  first <- some_tickets(taken, which(state[new] == "open" & !duplicated(taken$ticket)))
  n <- length(first$ticket)
  note_resolved(tx, first$ticket, rep(TICKET[["waiting"]], n), rep(NA_real_, n))
  if (!agent$silent && n > 0) {
    due <- first$time + window
    tx$moved <- with_rows(tx$moved, list(ticket = first$ticket, time = first$time, due = due))
    tx$next_due <- min(tx$next_due, due, na.rm = TRUE)
  }
  now <- which(after & !duplicated(ticket))
  use_rewards(agent, tx, some_tickets(rows, at[now]), on_grid(reward[now]))
  status[now] <- if (agent$over) "late" else "used"
  # Of one report in all the mean is what was reported: its call may have been sent again.
  status[which(state == "used" & on_grid(reward) == rows$reward[at])] <- "known"
  status
}

# Another process may have added arms: how many there are now
arms_now <- function(agent) agent_transact(agent, function(tx) length(agent$terms$arms), look = TRUE)

# Arms on offer, as sorted numbers; NULL: all
check_offer <- function(offer, agent) {
  if (is.null(offer)) return(NULL)
  if (is.factor(offer)) offer <- as.character(offer)
  arms <- agent$terms$arms
  new <- if (is.character(offer)) !all(offer %in% arms) else
    is.numeric(offer) && any(offer > length(arms), na.rm = TRUE)
  if (new) arms_now(agent)
  arms <- agent$terms$arms
  known <- paste0("\"", utils::head(arms, 10), "\"", collapse = ", ")
  sort(unique(arm_numbers(offer, arms, "offer", paste("some of the arms,", known))))
}

# Contexts of n choices: functions that give what the i-th sees, what is kept of it with its arm, and whether
# that is longer than the policy's bound (`outside`; NULL: there is none)
check_contexts <- function(context, n, agent) {
  terms <- agent$terms
  dim <- terms$dim
  if (is.null(context)) {
    if (!is.null(dim)) abort_arg("context", sprintf("given: %d numbers", dim))
    return(list(given = FALSE, at = function(i) NULL))
  }
  if (is.null(dim) && !is_custom(terms$policy)) {
    abort_arg("context", "left out: the policy has no contexts")
  }
  rows <- is.matrix(context) || is.data.frame(context)
  own <- is_shared(terms$policy)
  if (!is.null(dim)) {
    values <- unlist(context, use.names = FALSE) # NA alone is a logical value
    if ((is.numeric(values) || is.logical(values) && any(is.na(values))) && !all(is.finite(values))) {
      bad <- which(!is.finite(values))[1]
      at <- (bad - 1) %% max(1, nrow(context)) + 1
      place <- if (!rows) paste("element", bad) else
        sprintf("number %d of row %d", (bad - at) / nrow(context) + 1, at)
      abort_input("context", "`context` must have finite numbers; %s is %s.", place, format(values[bad]))
    }
    if (!is.numeric(context)) {
      abort_arg("context", sprintf("a vector of %d numbers, or a matrix of such rows", dim), context)
    }
    if ((if (rows) ncol(context) else length(context)) != dim) {
      abort_arg("context", sprintf("of %d numbers", dim), context)
    }
    if (needs_unit_contexts(terms$policy) && (min(context) < 0 || max(context) > 1)) {
      abort_input("context", "`context` must have numbers in [0, 1], as the policy is private; one is %s.",
                  close_text(context[context < 0 | context > 1][1]))
    }
    storage.mode(context) <- "double"
  }
  columns <- if (rows) t(context) else cbind(context)
  long <- if (!is.null(norm_of(terms$policy))) shortens(terms$policy, columns)
  if (own) {
    k <- length(terms$arms)
    if (rows && nrow(context) != k) k <- arms_now(agent)
    if (!rows || nrow(context) != k) {
      abort_arg("context", sprintf("a matrix of %s rows, one per arm: the policy has one model for all",
                                   words_whole(k)), context)
    }
    return(list(given = TRUE, arms = k, at = function(i) as.vector(t(context)),
                of = function(i, arm) context[arm, ],
                outside = if (!is.null(long)) function(i, arm) long[arm]))
  }
  if (rows && nrow(context) != n) {
    abort_arg("context", sprintf("a matrix of %s rows, one per choice", number_text(n)), context)
  }
  at <- if (rows) function(i) context[i, ] else function(i) context
  list(given = TRUE, at = at, of = function(i, arm) at(i),
       outside = if (!is.null(long)) function(i, arm) rep_len(long, n)[i])
}

# Predictions of n choices as contexts of one number, clipped, the middle where there is none; `outside`:
# which were clipped. NULL: the policy has none
check_predictions <- function(predicted, n, terms) {
  bounds <- predictions_of(terms$policy)
  if (is.null(bounds)) {
    if (!is.null(predicted)) abort_arg("predicted", "left out: the policy has no predictions")
    return(NULL)
  }
  must <- sprintf("%s, NA where nothing is known", if (n == 1) "a number" else
    sprintf("%s numbers, one per choice", number_text(n)))
  numbers <- is.numeric(predicted) || is.atomic(predicted) && all(is.na(predicted)) # NA of any type
  if (length(predicted) != n || is.object(predicted) || !numbers || any(is.infinite(predicted))) {
    abort_arg("predicted", must, predicted)
  }
  predicted <- as.numeric(predicted)
  known <- !is.na(predicted)
  m <- rep(mean(bounds), n)
  m[known] <- (predicted[known] - terms$range[1]) / diff(terms$range)
  outside <- m < bounds[1] | m > bounds[2]
  m <- pmin(pmax(m, bounds[1]), bounds[2])
  list(given = TRUE, at = function(i) m[i], of = function(i, arm) m[i], outside = function(i, arm) outside[i])
}

# Who is chosen for, as hashes
check_person <- function(person, n, terms) {
  if (is.null(terms$max_per_person)) {
    if (is.null(person)) return(NULL)
    abort_arg("person", "left out: the agent was made without `max_per_person`")
  }
  person <- as_utf8(person)
  if (!is.character(person) || length(person) != n || anyNA(person) || !all(validUTF8(person))) {
    abort_arg("person", paste0(if (n == 1) "a string" else paste(number_text(n), "strings, one per choice"),
                               ", as the agent tells persons apart"), person)
  }
  person <- trimws(person, whitespace = "[\\h\\v]")
  if (!all(nzchar(person))) abort_arg("person", "not empty", "")
  hash_person(person, terms$key)
}

# The numbers of the strata of n choices
check_stratum <- function(stratum, n, terms) {
  if (is.null(terms$strata)) {
    if (!is.null(stratum)) abort_arg("stratum", "left out: the agent was made without `strata`")
    return(rep(1, n))
  }
  must <- sprintf("one of the strata%s: %s", if (n == 1) "" else " for each choice, or one for all",
                  words_list(paste0("\"", terms$strata, "\""), "or", most = 10))
  if (is.null(stratum)) abort_arg("stratum", paste("given for an agent with strata,", must))
  if (is.factor(stratum)) stratum <- as.character(stratum)
  if (!is.character(stratum) || !length(stratum) %in% c(1, n)) abort_arg("stratum", must, stratum)
  at <- match(as_utf8(stratum), terms$strata)
  if (anyNA(at)) abort_arg("stratum", must, stratum[is.na(at)][1])
  rep_len(at, n)
}

check_key <- function(key) {
  if (is.null(key)) return(NULL)
  # (Without perl such a bound costs a millisecond.)
  if (!is.character(key) || length(key) != 1 ||
      !grepl("^[-A-Za-z0-9_.:]{1,100}\\z", key, perl = TRUE, useBytes = TRUE)) {
    abort_arg("key", "a string of at most 100 letters, digits and -_.:", key)
  }
  key
}
