# What an agent promises, and what it has spent: functions of its terms, of how often it was restored and of
# what it has done. Nothing here looks into a store.

agent_guarantee <- function(policy) policy$guarantee %||% guarantee_none()

# The guarantee for m rewards, by so many copies of the agent; `paid`: the mu^2 that a filter has
# charged so far
ledger_guarantee <- function(terms, m, copies, paid = NA) {
  guarantee <- agent_guarantee(terms$policy)
  if (promises_nothing(guarantee)) return(guarantee)
  if (!is.na(paid)) guarantee <- as_paid(guarantee, paid)
  if (m > 1) guarantee <- group_of(guarantee, m)
  if (copies > 1) guarantee <- new_guarantee("composed", parts = rep(list(guarantee), copies))
  guarantee
}

# The conditions of the agent: any delay, any arms on offer
ledger_conditions <- function(terms, rounds = terms$horizon %||% Inf) {
  conditions(rounds, length(terms$arms), delay = Inf, pools = TRUE)
}

# The accountants that say something of their own; those of rounds need a horizon
ledger_accountants <- function(guarantee, terms) {
  if (promises_nothing(guarantee)) return("pure")
  at <- ledger_conditions(terms, terms$horizon %||% 1) # which apply, whatever the number
  able <- accountants_of(guarantee, at)
  own <- Filter(function(name) {
    accountants()[[name]]$ledger %in% c("always", if (!is.null(terms$horizon)) "horizon")
  }, able)
  if (length(own)) own else able
}

# Epsilon at each delta: for ever or the whole horizon, or for the rounds so far where a guarantee
# grows with them
ledger_epsilon <- function(terms, guarantee, accountant, delta, rounds, so_far = FALSE) {
  grows <- draws_cost(agent_guarantee(terms$policy))
  at <- if (so_far && grows) ledger_conditions(terms, rounds) else ledger_conditions(terms)
  curve <- function(d) account(guarantee, accountant, at, d)
  if (!grows) return(curve(delta))
  counted <- if (so_far) rounds else terms$horizon %||% max(rounds, 1e5)
  with_rounding(curve, delta, counted * length(terms$arms)^2 * 1e-15)
}

# A curve of an ideal mechanism, for one whose distribution is within eta of it in total variation:
# (epsilon, delta) becomes (epsilon, delta + eta (1 + e^epsilon)).
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

# What is promised for a person, or for a reward where persons are not told apart
whole_promise <- function(terms, restored) ledger_guarantee(terms, terms$max_per_person %||% 1, 1 + restored)

# Is an agent that was restored so often beyond its budget?
is_over <- function(terms, restored) {
  !is.null(terms$budget) &&
    !inside_budget(whole_promise(terms, restored), terms$budget, ledger_conditions(terms))
}

# Can the policy run live, and does it do what the agent promises?
check_terms <- function(terms, call = caller_env()) {
  policy <- terms$policy
  guarantee <- agent_guarantee(policy)
  refuse <- function(...) abort_dpts(sprintf(...), "dpts_error_input", call)
  why <- not_live(policy)
  if (!is.null(why)) refuse("Policy \"%s\" cannot run live: %s.", policy$name, why)
  if (is.null(terms$horizon) && needs_horizon(policy)) {
    refuse("Policy \"%s\" needs a `horizon`%s.", policy$name,
           if (is.null(core(policy)$params$filter)) "" else ", or a `filter`")
  }
  if (is_contextual(policy) && is.null(terms$dim)) {
    refuse("Policy \"%s\" reads contexts: `dim` must say of how many numbers.", policy$name)
  }
  if (is.null(terms$budget)) return(invisible())
  if (promises_nothing(guarantee)) {
    refuse("`budget` names %s, but policy \"%s\" promises no privacy.", format(terms$budget),
           policy$name)
  }
  if (is_over(terms, 0)) {
    refuse("`policy` promises %s, which is not inside the `budget` of %s.", format(whole_promise(terms, 0)),
           format(terms$budget))
  }
}

# Why a kernel's noise has no exact form, or NULL. It would stop at its first release.
not_live <- function(policy) {
  if (identical(core(policy)$params$mechanism, "gamma") && !promises_nothing(core(policy)$guarantee)) {
    "the Gamma mechanism has no exact form, as its noise is a direction in space; mechanism \"tree\" has one"
  }
}

# Does the algorithm, or its guarantee, use the horizon?
needs_horizon <- function(policy) {
  if (life_of(policy) < Inf) return(FALSE)
  guarantee <- agent_guarantee(policy)
  policy <- core(policy)
  missing <- vapply(property(policy, "from_horizon"), function(name) is.na(policy$params[[name]] %||% NA), NA)
  is_true_of(policy, "needs_horizon") || any(missing) ||
    needs_end(guarantee)
}
