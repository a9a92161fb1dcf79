# What an agent knows of who somebody is, and how it is forgotten.

#' What is held of a person
#'
#' `agent_person()` shows what a running agent keeps of somebody, and removes it on request.
#'
#' @details
#' The store has one row for each person: the keyed hash of the identifier, how many of the person's choices
#' count, and the last of them, a ticket with its arm, its time and the key of the call. `agent_person()`
#' shows the row. Each ticket of a call with a `key` also has the hash, as long as it has the key (see
#' [agent_choose()]), unless the agent is `sticky`. Nothing else links earlier tickets to the person.
#'
#' `agent_erase()` deletes the row. From the last ticket, and from each other one that has the hash, it takes:
#' * the key and the hash;
#' * a reward that was reported and waits, or all that was reported in a `window`, and the context or
#'   prediction. The ticket is resolved without a reward, as if none had come, and later reports are `"late"`;
#' * reports of other outcomes that wait for their release: they count as `missing`;
#' * a reward that was used and is kept until its batch is released, to compare a second report
#'   ([policy_randomised()] keeps none). With `keep_rewards` a reward that was used stays, and so does its
#'   context.
#'
#' An earlier ticket that was chosen without a `key` cannot be found, and keeps what it has: a reward that
#' waits, reports of other outcomes, and a context or prediction, until they are used. So give each choice a
#' key where people may ask for their erasure. Besides, some things stay, since they tell nothing of the
#' person that the guarantee does not bound, or cannot be linked to the person:
#' * sums that were released with the person's rewards in them: they are what the guarantee protects, and to
#'   take a reward out of one would tell what it was;
#' * the sum under way, which will be released with its noise;
#' * tickets, arms and times without a name. A list elsewhere of who had which ticket still links them: delete
#'   it there, too. The journal shows tickets that were resolved by the erasure beside each other.
#'
#' A person who was erased and comes again is new: up to `max_per_person` rewards are used again, and the
#' guarantee for a person is that of the rewards before and of those after, each by itself; one of each may be
#' in the same release.
#'
#' Without being asked an agent forgets who people were, with the first call in an hour: keys of calls a day
#' after the choice, once its ticket is resolved, and persons `retention` after the end ([dpts_agent()]).
#' Backups, replicas and logs elsewhere keep what they have.
#'
#' @param agent An agent with `max_per_person` or `sticky`.
#' @param person Identifiers, as they were given to [agent_choose()].
#' @template dots
#' @returns `agent_person()`: a tibble, one row for each of `person` who has a row in the store (two for one
#'   who is given twice): `person`, `pulls` (how many choices count), and of the last one `arm`, `ticket`,
#'   `time`, `status` (as in `dpts_history()`) and `key` (NA: none). It is for the person, and not for
#'   publication.
#'
#'   `agent_erase()`: invisibly, of how many of these people something was held: a row, or a hash with a key.
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival", max_per_person = 2)
#' choice <- agent_choose(agent, person = "Ada", key = "order-17")
#' agent_person(agent, c("Ada", "Bob"))
#' agent_erase(agent, "Ada")
#' agent_person(agent, "Ada")
#' @export
agent_person <- function(agent, person, ...) {
  check_dots_empty(...)
  check_all_given()
  check_agent(agent)
  hash <- check_person(person, length(person), agent$terms)
  held <- agent_look(agent, function(tx) agent$store$persons(unique(hash)))
  at <- match(hash, held$person)
  known <- !is.na(at)
  at <- at[known]
  tibble::new_tibble(list(
    person = person[known], pulls = as.numeric(held$pulls[at]), arm = arm_factor(agent, held$arm[at]),
    ticket = as.character(held$ticket[at]), time = .POSIXct(as.numeric(held$time[at])),
    status = shown_status(agent, held$status[at]), key = as.character(held$asked[at])
  ), nrow = length(at))
}

#' @rdname agent_person
#' @export
agent_erase <- function(agent, person, ...) {
  check_dots_empty(...)
  check_all_given()
  check_agent(agent)
  hash <- check_person(person, length(person), agent$terms)
  n <- agent_transact(agent, function(tx) {
    if (agent$life$moved) abort_moved()
    rows <- as.list(agent$store$persons(hash))
    own <- as_of_now(agent$store$of_persons(hash), tx)
    held <- unique(c(as.character(rows$person), own$asked_for[!is.na(own$asked_for)]))
    if (!length(held)) return(0)
    erase_answers(agent, tx, own)
    is_open <- own$status %in% TICKET[c("open", "waiting")]
    open <- some_tickets(own, which(is_open))
    use_rewards(agent, tx, open, rep(NA_real_, length(open$ticket)))
    if (!is.null(agent$terms$window)) forget_answers(agent, tx, 0L, open$t, always = TRUE)
    # Each of them has a ticket here.
    tx$erased <- list(person = rep_len(held, length(own$ticket)), ticket = own$ticket,
                      keep = as.integer(agent$terms$keep_rewards & !is_open))
    agent$counted <- agent$counted - sum(rows$pulls)
    tx$find_next_due <- tx$forgotten <- TRUE
    agent$open <- new.env()
    note_events(tx, rep("erase", length(held)))
    length(held)
  }, look = TRUE, reason = NA)
  invisible(n)
}
