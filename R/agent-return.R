# Tickets drawn in advance that nobody used.

#' Give back tickets that nobody used
#'
#' Take back the last tickets of a call of [agent_choose()], when fewer people came than were expected. Nobody
#' is in a released sum for them, and none of them counts as `missing`.
#'
#' @details
#' A ticket that is drawn in advance and never returned stays in its block. At the deadline it counts as a
#' `missing` answer, usually as 0, and pulls the mean of its arm to 0. Without a deadline the block is never
#' released.
#'
#' Give out the tickets of a call of [agent_choose()] in their order, and return all that remain of it at
#' once. Then the number of people alone decides how many remain, and the arms of those who stay are as random
#' as ever. To look at the next arm and then return its ticket is to choose by hand, and biases estimates. So
#' only the last tickets of such a call are taken, and with `use = "arrival"` none whose reward came. Why they
#' are returned must not depend on rewards.
#'
#' A full block of n people of whom r are returned is a block of n - r people. It is released once their
#' rewards are in; a block of which nobody stays is dropped. In a block that is still open, the next people
#' take the places of those who were returned. All others keep the probabilities with which they were
#' assigned, so that evidence and effects stay valid. The rounds of returned tickets stay counted, and use up
#' the horizon.
#'
#' @section For which agents:
#' For [policy_randomised()], with or without strata: people of a block are assigned independently of each
#' other, or as a permuted block was planned, so that the state without the last of them is exact. Other
#' `outcomes` are then released for the remaining people, too.
#'
#' Other agents refuse, with an error that says why. Under other policies an arm's batch decides what is
#' chosen next, so that arms that were chosen later may rest on a choice that is to be returned. With
#' `max_per_person` or `sticky` a ticket is a person's, and they may not be given another one.
#'
#' @section Privacy:
#' A returned ticket has no reward. The sums and their noise are those of the people who stay: each has one
#' reward in one sum, with noise of the same scale. The guarantee is unchanged. That tickets were returned,
#' and when, is public, as who is offered what is; so it must not depend on rewards.
#'
#' With `use = "deadline"`, and of other outcomes, nobody is told whether a report waits. So a ticket that has
#' one is returned as any other, and the report is forgotten: check which tickets were given out.
#'
#' @param agent An agent.
#' @param ticket Tickets: strings, the last ones of a call of [agent_choose()] that had a `key`. Those that
#'   were returned before may be among them.
#' @template dots
#' @returns `agent`, invisibly.
#' @seealso [agent_choose()] draws tickets in advance.
#' @concept agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_randomised(mu = 1, block = 50), c("a", "b"), use = "arrival")
#' morning <- agent_choose(agent, n = 30, key = "monday")
#' # 22 people came.
#' agent_reward(agent, morning$ticket[1:22], rep(c(0, 1), 11))
#' agent_return(agent, morning$ticket[23:30])
#' pulls(agent)
#' @export
agent_return <- function(agent, ticket, ...) {
  check_dots_empty(...)
  check_all_given()
  check_agent(agent)
  if (!is.character(ticket) || !length(ticket) || anyNA(ticket)) {
    abort_arg("ticket", "one or more tickets: strings", ticket)
  }
  why <- if (!is.null(agent$terms$max_per_person)) "each is of a person (`max_per_person`)" else
    if (!returns_tickets(agent$terms$policy)) sprintf(
      "policy \"%s\" may rest later choices on them, and only `policy_randomised()` forgets an assignment",
      agent$terms$policy$name)
  if (length(why)) {
    abort_input("agent", "`agent` cannot take tickets back: %s.", why)
  }
  agent_transact(agent, function(tx) return_tickets(agent, tx, unique(ticket)))
  invisible(agent)
}

returns_tickets <- function(policy) is_true_of(policy, "unpulls") && life_of(policy) == Inf

return_tickets <- function(agent, tx, ids) {
  if (agent$life$moved) abort_moved()
  if (agent$life$then == "end") abort_ended()
  agent$open <- new.env()
  rows <- as_of_now(of_known_arms(agent, agent$store$tickets(ids[may_be_tickets(ids)])), tx)
  if (length(rows$ticket) < length(ids)) abort_input("ticket", "`ticket` must be tickets of this agent.")
  open <- rows$status %in% TICKET[c("open", "waiting")] # nobody is told that a report waits
  bad <- which(!open & rows$status != TICKET[["returned"]])
  if (length(bad)) {
    one <- some_tickets(rows, bad[1])
    abort_input("ticket", "`ticket` must %s.", sprintf(
      if (is.na(one$t)) "be of rounds: \"%s\" is in no block, and need not be returned" else
        if (agent$silent) "have no deadline that is past: \"%s\" has one" else
          "have no report, and no deadline that is past: \"%s\" has", one$ticket
    ))
  }
  if (!any(open)) return(invisible())
  rows <- some_tickets(rows, which(open))
  key <- unique(rows$asked)
  if (length(key) != 1 || is.na(key)) {
    abort_input("ticket", "`ticket` must be of one call of `agent_choose()` that had a `key`.")
  }
  call <- agent$store$asked(key)
  back <- call$ticket %in% rows$ticket
  stay <- which(!back & call$status != TICKET[["returned"]])
  if (any(stay > which(back)[1])) {
    abort_input("ticket", "`ticket` must be the last tickets of their call: one after them is not there.")
  }
  erase_answers(agent, tx, rows)
  tx$forgotten <- TRUE
  of_block <- some_tickets(rows, which(rows$batch > 0))
  there <- session_unpull(agent$session, of_block$arm, of_block$batch)
  if (any(there == 0)) abort_store("the block of a ticket cannot be read")
  drop_blocks(agent, tx, of_block$batch[there == 2])
  agent$outstanding <- agent$outstanding - tabulate(rows$arm, length(agent$outstanding))
  note_events(tx, rep("return", length(rows$ticket)), rows)
  note_resolved(tx, rows$ticket, rep(TICKET[["returned"]], length(rows$ticket)),
                rep(NA_real_, length(rows$ticket)))
}
