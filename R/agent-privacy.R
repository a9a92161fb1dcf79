#' What an agent has spent
#'
#' The ledger of an agent: how much has leaked about one reward, and about one person, and how much can ever
#' leak.
#'
#' @details
#' * Policies that release each reward in one noisy sum (or in a bounded number of them) spend all they
#'   ever will on a reward once a sum with it is released; `spent` is 0 until the first release.
#' * Gaussian Thompson sampling spends with every draw: until its filter stops it, or for `horizon`
#'   rounds; `spent` is what the filter has charged, or the rounds so far. Arms that were not on
#'   offer do not shorten them. Its choices compare doubles: `epsilon` allows for an error of
#'   rounds x arms^2 x 1e-15 in the distribution of all arms (without a horizon for 1e5 rounds, or as many
#'   as were played if those are more), and is `Inf` for deltas below what that leaves.
#' * A person may give `max_per_person` rewards: see [privacy_group()].
#' * Each time the agent was restored from an old copy ([agent_restored()]) its rewards may
#'   have been released once more, with fresh noise: see [privacy_compose()].
#' * A policy without a guarantee has epsilon `Inf`.
#'
#' @inheritSection dpts_agent What is published
#'
#' @param agent An agent.
#' @param delta Numbers in \[0, 1\].
#' @returns A tibble, one row per unit, accountant and delta: `unit` (`"reward"`, and with
#'   `max_per_person` `"person"`), `accountant` (see [dpts_privacy()]), `delta`, `epsilon` (what the
#'   unit can ever lose, or lose within the agent's horizon) and `spent` (so far).
#' @family agent
#' @examples
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' agent_privacy(agent, delta = 1e-6)
#' @export
agent_privacy <- function(agent, delta = 10^-(1:12)) {
  check_agent(agent)
  delta <- check_numbers(delta, 0, 1)
  now <- agent_transact(agent, function(tx) {
    arms <- agent$engine$arms()
    list(rounds = sum(arms$pulls), copies = 1 + tx$restored, paid = agent$engine$paid(),
         released = if (agent$releases) any(arms$releases > 0) else sum(arms$pulls) > 0)
  }, look = TRUE)
  people <- c(reward = 1, person = agent$terms$max_per_person)
  parts <- lapply(names(people), function(unit) {
    ever <- ledger_guarantee(agent$terms, people[[unit]], now$copies)
    so_far <- ledger_guarantee(agent$terms, people[[unit]], now$copies, now$paid)
    lapply(ledger_accountants(ever, agent$terms), function(accountant) {
      list(unit = rep(unit, length(delta)), accountant = rep(accountant, length(delta)),
           delta = delta, epsilon = ledger_epsilon(agent$terms, ever, accountant, delta, now$rounds),
           spent = if (!now$released) 0 * delta else {
             ledger_epsilon(agent$terms, so_far, accountant, delta, now$rounds, so_far = TRUE)
           })
    })
  })
  parts <- unlist(parts, recursive = FALSE)
  column <- function(name) unlist(lapply(parts, `[[`, name))
  columns <- c("unit", "accountant", "delta", "epsilon", "spent")
  tibble::new_tibble(stats::setNames(lapply(columns, column), columns),
                     nrow = length(column("unit")))
}

agent_guarantee <- function(policy) policy$guarantee %||% guarantee_none()

#' The guarantee for m rewards, by so many copies of the agent; `paid`: the mu^2 that a filter has
#' charged so far
#' @noRd
ledger_guarantee <- function(terms, m, copies, paid = NA) {
  guarantee <- agent_guarantee(terms$policy)
  if (promises_nothing(guarantee)) return(guarantee)
  if (!is.na(paid)) guarantee <- as_paid(guarantee, paid)
  if (m > 1) guarantee <- group_of(guarantee, m)
  if (copies > 1) guarantee <- new_guarantee("composed", parts = rep(list(guarantee), copies))
  guarantee
}

#' The conditions of the agent: any delay, any arms on offer
#' @noRd
ledger_conditions <- function(terms, rounds = terms$horizon %||% Inf) {
  conditions(rounds, length(terms$arms), delay = Inf, pools = TRUE)
}

#' The accountants that say something of their own; those of rounds need a horizon
#' @noRd
ledger_accountants <- function(guarantee, terms) {
  if (promises_nothing(guarantee)) return("pure")
  at <- ledger_conditions(terms, terms$horizon %||% 1) # which apply, whatever the number
  Filter(function(name) {
    accountants()[[name]]$ledger %in% c("always", if (!is.null(terms$horizon)) "horizon")
  }, accountants_of(guarantee, at))
}

#' Epsilon at each delta: for ever or the whole horizon, or for the rounds so far where a guarantee
#' grows with them
#' @noRd
ledger_epsilon <- function(terms, guarantee, accountant, delta, rounds, so_far = FALSE) {
  grows <- draws_cost(agent_guarantee(terms$policy))
  at <- if (so_far && grows) ledger_conditions(terms, rounds) else ledger_conditions(terms)
  curve <- function(d) account(guarantee, accountant, at, d)
  if (!grows) return(curve(delta))
  counted <- if (so_far) rounds else terms$horizon %||% max(rounds, 1e5)
  with_rounding(curve, delta, counted * length(terms$arms)^2 * 1e-15)
}

#' A curve of an ideal mechanism, for one whose distribution is within eta of it in total variation:
#' (epsilon, delta) becomes (epsilon, delta + eta (1 + e^epsilon)).
#' @noRd
with_rounding <- function(curve, delta, eta) {
  vapply(delta, function(d) {
    if (d >= 1) return(0)
    inner <- d
    epsilon <- -Inf
    for (i in 1:100) {
      epsilon <- curve(inner)
      left <- d - eta * (1 + exp(epsilon))
      if (left >= inner) return(epsilon)
      # Down to what this epsilon leaves: a valid point once it holds for itself.
      if (left <= 0) return(Inf)
      inner <- left * (1 - 1e-9)
    }
    Inf
  }, 0)
}

#' Say that the store was restored from an old copy
#'
#' Whoever goes back to an old copy of the store releases rewards a second time. Tell the agent, and
#' its ledger counts twice from now on.
#'
#' @param agent An agent that was opened on the restored copy.
#' @returns The agent, invisibly.
#' @family agent
#' @examples
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' agent_restored(agent)
#' agent_privacy(agent, delta = 1e-6)
#' @export
agent_restored <- function(agent) {
  check_agent(agent)
  agent_transact(agent, function(tx) {
    tx$restored <- tx$restored + 1
    note_events(tx, "restored")
  })
  invisible(agent)
}
