#' Choose arms, and report rewards
#'
#' `agent_choose()` chooses an arm for the next arrival, or for n of them at once;
#' `agent_reward()` reports the rewards of tickets.
#'
#' @details
#' A call is one transaction, durable when it returns: all of its choices or rewards, or none.
#'
#' A reward may be reported again. As long as the agent keeps the first report, the same value
#' changes nothing and another is refused; once it is forgotten (inside a released sum), no
#' report for its ticket changes anything. Rewards are rounded to multiples of 2^-20.
#'
#' @inheritSection dpts_agent What is published
#'
#' @param agent An agent.
#' @param n How many choices.
#' @param ... Must be empty: what follows is named.
#' @param offer The arms on offer, by name or number; `NULL`: all. Must not depend on rewards.
#' @param context For policies with contexts: a vector of numbers, the same for all n choices, or
#'   a matrix with one row per choice. For a policy in R, any value that `[` or rows divide so.
#' @param person With `max_per_person`: who is chosen for, one string per choice. Required then,
#'   and not to be given otherwise.
#' @returns `agent_choose()`: a tibble, one row per choice: `ticket` (a string that nobody can guess),
#'   `t` (the round), `arm` (a factor).
#'
#'   `agent_reward()`: invisibly a tibble, one row per report: `ticket` and `status`: `"used"` (given to
#'   the policy), `"waiting"` (for its deadline), `"known"` (reported before; nothing happened) or
#'   `"late"` (the ticket was resolved without it; nothing happened).
#' @family agent
#' @examples
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b", "c"), use = "arrival")
#' two <- agent_choose(agent, n = 2, offer = c("a", "c"))
#' print(agent_reward(agent, two$ticket, c(0, 1)))
#' # The same again: nothing happens.
#' print(agent_reward(agent, two$ticket, c(0, 1)))
#' @export
agent_choose <- function(agent, n = 1, ..., offer = NULL, context = NULL, person = NULL) {
  check_agent(agent)
  check_dots_empty(...)
  n <- check_count(n, 1, 1e6)
  offer <- check_offer(offer, agent$terms$arms)
  contexts <- check_contexts(context, n, agent$terms)
  person <- check_person(person, n, agent$terms)
  call <- rlang::current_env()
  chosen <- agent_transact(agent, function(tx) {
    choose_arms(agent, tx, n, offer, contexts, person, call)
  })
  tibble::new_tibble(list(
    ticket = chosen$ticket, t = chosen$t,
    arm = factor(agent$terms$arms[chosen$arm], agent$terms$arms)
  ), nrow = n)
}

choose_arms <- function(agent, tx, n, offer, contexts, person, call) {
  engine <- agent$engine
  terms <- agent$terms
  arm <- integer(n)
  t <- batch <- numeric(n)
  capped <- if (is.null(person)) rep(FALSE, n) else count_persons(agent, tx, person)
  if (!is.null(terms$horizon)) {
    played <- sum(engine$arms()$pulls)
    if (played + n > terms$horizon) {
      abort_dpts(sprintf("The agent was made for %s rounds, of which %s were played.",
                         format(terms$horizon), format(played)),
                 c("dpts_error_horizon", "dpts_error_input"), call)
    }
  }
  ticket <- new_tickets(n)
  for (i in seq_len(n)) {
    played <- engine$play(offer, contexts$at(i))
    arm[i] <- as.integer(played[1])
    t[i] <- played[2]
    batch[i] <- played[3]
    # A person's further pulls are resolved at once, whatever will come.
    if (capped[i]) engine$feed(t[i], arm[i], batch[i], terms$missing, contexts$at(i))
  }
  due <- if (terms$deadline < Inf) tx$now + terms$deadline else NA_real_
  tx$tickets <- list(
    ticket = ticket, t = t, arm = arm, batch = batch, time = rep(tx$now, n), due = rep(due, n),
    status = unname(TICKET[ifelse(capped, "capped", "open")])
  )
  if (contexts$given) {
    tx$tickets$context <- lapply(seq_len(n), function(i) serialize(contexts$at(i), NULL))
  }
  agent$outstanding <- agent$outstanding + tabulate(arm[!capped], length(terms$arms))
  note_events(tx, rep("choose", n), tx$tickets)
  if (!all(capped)) tx$next_due <- min(tx$next_due, due, na.rm = !is.na(due))
  list(ticket = ticket, t = t, arm = arm)
}

#' Which choices are beyond their person's limit; counts the others
#' @noRd
count_persons <- function(agent, tx, person) {
  hash <- hash_person(person, agent$terms$key)
  known <- agent$store$persons(unique(hash))
  pulls <- stats::setNames(known$pulls, known$person)
  before <- ifelse(hash %in% names(pulls), pulls[hash], 0)
  # The how-manieth choice of that person each is, those of this call included
  turn <- before + stats::ave(seq_along(hash), hash, FUN = seq_along)
  limit <- agent$terms$max_per_person
  now <- tapply(pmin(turn, limit), hash, max)
  tx$persons <- list(person = names(now), pulls = as.integer(now))
  unname(turn > limit)
}

#' @param ticket Tickets: strings.
#' @param reward Their rewards: numbers in \[0, 1\], or `TRUE` and `FALSE`, one per ticket or one for all.
#' @rdname agent_choose
#' @export
agent_reward <- function(agent, ticket, reward) {
  check_all_given()
  check_agent(agent)
  if (!is.character(ticket) || !length(ticket) || anyNA(ticket)) {
    abort_arg("ticket", "one or more tickets: strings", ticket, rlang::current_env())
  }
  if (is.logical(reward) && !is.object(reward)) reward <- as.integer(reward) # did it succeed?
  reward <- on_grid(check_numbers(reward, 0, 1))
  if (!length(reward) %in% c(1, length(ticket))) {
    abort_arg("reward", sprintf("as long as `ticket` (%d) or one number", length(ticket)), reward,
              rlang::current_env())
  }
  reward <- rep_len(reward, length(ticket))
  call <- rlang::current_env()
  status <- agent_transact(agent, function(tx) take_rewards(agent, tx, ticket, reward, call))
  invisible(tibble::new_tibble(list(ticket = ticket, status = status), nrow = length(ticket)))
}

take_rewards <- function(agent, tx, ticket, reward, call) {
  possible <- grepl("^[0-9a-f]{32}$", ticket, useBytes = TRUE) # nothing else is looked up
  if (!all(possible)) abort_no_ticket(ticket[!possible][1], call)
  rows <- agent$store$tickets(unique(ticket))
  at <- match(ticket, rows$ticket)
  if (anyNA(at)) abort_no_ticket(ticket[is.na(at)][1], call)
  # What became of tickets whose deadline this very transaction found past
  fresh <- match(rows$ticket, tx$resolved$ticket)
  rows$status <- ifelse(is.na(fresh), rows$status, tx$resolved$status[fresh])
  rows$reward <- ifelse(is.na(fresh), rows$reward, tx$resolved$reward[fresh])
  state <- names(TICKET)[match(rows$status, TICKET)][at]
  # The first report for an open ticket is taken; what was reported before must be the same.
  first <- which(state == "open" & !duplicated(ticket))
  rows$reward[at[first]] <- reward[first]
  known <- rows$reward[at]
  other <- state %in% c("open", "waiting", "used") & !is.na(known) & known != reward
  if (any(other)) {
    abort_dpts(sprintf("Ticket \"%s\" has another reward already.", ticket[other][1]),
               c("dpts_error_reward", "dpts_error_input"), call)
  }
  taken <- some_tickets(rows, at[first])
  if (agent$silent) {
    note_resolved(tx, taken$ticket, rep(TICKET[["waiting"]], length(first)), taken$reward)
  } else {
    use_rewards(agent, tx, taken, taken$reward)
  }
  late <- state %in% c("missing", "capped", "done")
  tx$late <- tx$late + sum(late)
  if (!agent$silent) note_events(tx, rep("late", sum(late)), some_tickets(rows, at[late]))
  status <- ifelse(late, "late", "known")
  status[first] <- if (agent$silent) "waiting" else "used"
  status
}

abort_no_ticket <- function(ticket, call) {
  words <- if (nchar(ticket, "bytes") <= 64 && validUTF8(ticket)) {
    sprintf("There is no ticket \"%s\".", ticket)
  } else {
    "There is no such ticket: tickets have 32 characters, 0 to 9 and a to f."
  }
  abort_dpts(words, c("dpts_error_ticket", "dpts_error_input"), call)
}

#' Arms on offer, as sorted numbers; NULL: all
#' @noRd
check_offer <- function(offer, arms, call = caller_env()) {
  if (is.null(offer)) return(NULL)
  if (is.factor(offer)) offer <- as.character(offer)
  at <- if (is.character(offer)) match(offer, arms) else if (is.numeric(offer)) match(offer, seq_along(arms))
  if (!length(at) || anyNA(at)) {
    unknown <- if (length(at)) offer[is.na(at)][1] else offer
    abort_arg("offer", paste("some of the arms,", paste0("\"", utils::head(arms, 10), "\"",
                                                         collapse = ", ")), unknown, call)
  }
  sort(unique(as.integer(at)))
}

#' Contexts of n choices: a function that gives the i-th
#' @noRd
check_contexts <- function(context, n, terms, call = caller_env()) {
  dim <- terms$dim
  if (is.null(context)) {
    if (!is.null(dim)) abort_arg("context", sprintf("given: %d numbers", dim), call = call)
    return(list(given = FALSE, at = function(i) NULL))
  }
  if (is.null(dim) && !is_kernel(core(terms$policy), "custom")) {
    abort_arg("context", "left out: the policy has no contexts", call = call)
  }
  rows <- is.matrix(context) || is.data.frame(context)
  if (!is.null(dim)) {
    if (!is.numeric(context) || !all(is.finite(context))) {
      abort_arg("context", sprintf("a vector of %d numbers, or a matrix of such rows", dim), context,
                call)
    }
    if ((if (rows) ncol(context) else length(context)) != dim) {
      abort_arg("context", sprintf("of %d numbers", dim), context, call)
    }
  }
  if (rows && nrow(context) != n) {
    abort_arg("context", sprintf("a matrix of %s rows, one per choice", format(n)), context, call)
  }
  if (!is.null(dim)) storage.mode(context) <- "double"
  at <- if (rows) function(i) context[i, ] else function(i) context
  list(given = TRUE, at = at)
}

check_person <- function(person, n, terms, call = caller_env()) {
  if (is.null(terms$max_per_person)) {
    if (is.null(person)) return(NULL)
    abort_arg("person", "left out: the agent was made without `max_per_person`", call = call)
  }
  if (!is.character(person) || length(person) != n || anyNA(person)) {
    abort_arg("person", sprintf("%s string%s, one per choice: the agent has `max_per_person`",
                                format(n), if (n == 1) "" else "s"), person, call)
  }
  person
}
