# What an agent promises, and what it has spent: functions of its terms, of how often it was restored and of
# what it has done. Nothing here looks into a store.

agent_guarantee <- function(policy) policy$guarantee %||% guarantee_none()

# The guarantee for m rewards, by so many copies of the agent
ledger_guarantee <- function(terms, m, copies) {
  compose_copies(rep(list(one_copy(terms, m)), copies))
}

# ... by one; `paid`: the mu^2 that a filter has charged so far
one_copy <- function(terms, m, paid = NA) {
  guarantee <- agent_guarantee(terms$policy)
  if (promises_nothing(guarantee)) return(guarantee)
  if (!is.na(paid)) guarantee <- as_paid(guarantee, paid)
  most <- terms$max_per_person
  guarantee <- for_person(guarantee, terms$policy, m, most)
  with_outcomes(guarantee, terms$outcomes, m, keeps_apart(terms$policy, most))
}

# Are the rewards of a person with at most `most` of them (NULL: any number) kept in different releases?
# (Random bits are a release each. A shift of correlated noise adds up over releases, so that m rewards are
# charged as if they were in one.)
keeps_apart <- function(policy, most) {
  isTRUE(most > 1) && is_true_of(policy, "keeps_apart") && correlation_of(policy) == 0 &&
    flip_of(policy) == 0 && life_of(policy) == Inf
}

# A policy's guarantee for a reward -> for a person with m of them
for_person <- function(guarantee, policy, m, most) {
  if (m == 1 || promises_nothing(guarantee)) return(guarantee)
  if (!keeps_apart(policy, most) && !bits_are_public(policy)) return(group_of(guarantee, m))
  apart_of(guarantee_of_release(policy, "policy"), m)
}

compose_copies <- function(copies) {
  first <- copies[[1]]
  if (length(copies) == 1 || promises_nothing(first)) return(first)
  new_guarantee("composed", parts = copies, neighbours = first$neighbours, published = first$published)
}

# Epsilon that m rewards have lost so far. What was released after the copy to which the operator went back is
# not known, so each lost copy counts with all that it may ever release. `now`: how often that was (restored),
# whether this copy has released anything, what its filter has charged (paid), and its rounds
ledger_spent <- function(terms, m, accountant, delta, now) {
  copies <- c(rep(list(one_copy(terms, m)), now$restored),
              if (now$released) list(one_copy(terms, m, now$paid)))
  if (!length(copies)) return(0 * delta)
  ledger_epsilon(terms, compose_copies(copies), accountant, delta, now$rounds, so_far = now$restored == 0)
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
  own <- accountants_of_ledger(able, guarantee, !is.null(terms$horizon))
  if (length(own)) own else able
}

# Epsilon at each delta: for ever or the whole horizon, or for the rounds so far where a guarantee
# grows with them
ledger_epsilon <- function(terms, guarantee, accountant, delta, rounds, so_far = FALSE) {
  grows <- draws_cost(agent_guarantee(terms$policy))
  at <- if (so_far && grows) ledger_conditions(terms, rounds) else ledger_conditions(terms)
  curve <- function(d) account(guarantee, accountant, at, d)
  if (!grows) return(curve(delta))
  with_rounding(curve, delta, total_error(terms, if (so_far) rounds else terms$horizon %||% max(rounds, 1e5)))
}

# choice_error() of all that the agent will choose, or of so many rounds; 0 where it compares no doubles
total_error <- function(terms, rounds = terms$horizon %||% 1e5) {
  if (draws_cost(agent_guarantee(terms$policy))) choice_error(terms$policy, length(terms$arms), rounds) else 0
}

# How far the choices of Gaussian Thompson sampling, which compares doubles, are at most in total variation
# from those of a sampler for which its guarantee is proved. That one draws theta = m + sd z of each arm with
# z normal, m exact for the arm of the changed reward and rounded for the others, whose m is the same in both
# streams; then it rounds the thetas and compares them. All that the proof needs is that, given the other
# draws, the arm is pulled where z is above some number; rounding is monotone, so this holds. Put what is
# computed in its place, one arm of one round after the other: given the rest, whether this arm wins is
# whether it exceeds a number, so a choice moves by no more than the largest difference of two distribution
# functions:
#   1.7e-15  areas of the ziggurat's layers (half of their mean relative error bounds the total variation)
#   0.9e-15  the test in a layer's wedge: chance 0.015, rounding below 2.3e-16 over a height of at least
#            0.0042 where the density is near 1, and less further out
#   0.2e-15  a grid of 2^-53 for the place in a layer; products and sd, each off by 2^-53 of itself, times
#            max z phi(z)
#   phi(0) 2^-54 / sd  in the arm of the changed reward: m in [0, 1] is rounded once (sums of rewards on the
#            grid are exact), and 1 / sd = sqrt((m + 1) / c) for its m pulls, no more than there are rounds
# The random words count as independent: they come from 256 bits of the system.
choice_error <- function(policy, k, rounds) {
  scale <- unwrapped(policy)$params$variance_scale %||% Inf
  rounds * (k * 3e-15 + 2.3e-17 * sqrt((rounds + 1) / scale))
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
  if (is.null(terms$budget)) return(FALSE)
  budget <- terms$budget
  if (!is.null(budget$delta)) {
    # The rounding of doubles, which the ledger charges, has to fit in as well: see with_rounding().
    budget$delta <- budget$delta - total_error(terms) * (1 + exp(budget$epsilon))
    if (budget$delta < 0) return(TRUE)
  }
  promise <- whole_promise(terms, restored)
  at <- ledger_conditions(terms)
  # Without a horizon rounds are not counted.
  able <- if (is.null(terms$horizon)) ledger_accountants(promise, terms) else accountants_of(promise, at)
  !inside_budget(promise, budget, at, able)
}

# An agent compares its state at each choice with what it wrote last: so much takes about a second.
STATE_BYTES <- 1.28e8

check_state_fits <- function(terms, arg = "arms") {
  k <- length(terms$arms)
  bytes <- session_bytes(terms$policy, k, terms$horizon, terms$dim, max(1, length(terms$strata)))
  if (bytes <= STATE_BYTES) return(invisible())
  of <- if (is.null(terms$strata)) "" else paste(" in", count_noun(length(terms$strata), "stratum", "strata"))
  abort_input(arg, paste(
    "`%s` must be fewer: for %s arms%s the state of policy \"%s\" has %s MB, and that of an agent may have",
    "%s, enough for about %s."), arg, words_whole(k), of, terms$policy$name, words_whole(round(bytes / 1e6)),
    words_whole(STATE_BYTES / 1e6), words_whole(signif(k * STATE_BYTES / bytes, 2)))
}

# Can the policy run live, and does it do what the agent promises?
check_terms <- function(terms) {
  policy <- terms$policy
  guarantee <- agent_guarantee(policy)
  refuse <- function(...) abort_dpts(sprintf(...), "dpts_error_input")
  why <- not_live(policy)
  if (!is.null(why)) refuse("Policy \"%s\" cannot run live: %s.", policy$name, why)
  why <- misfit(unwrapped(policy), length(terms$arms))
  if (!is.null(why)) refuse("Policy \"%s\" %s.", policy$name, why)
  if (inherits(unwrapped(policy), "dpts_policy_clipped")) {
    refuse(paste("Policy \"%s\" cannot run live, as an agent scales rewards itself: use `range` of",
                 "`dpts_agent()`, with the policy inside, and clip rewards to it."), policy$name)
  }
  if (is.null(terms$horizon) && needs_horizon(policy)) {
    refuse("Policy \"%s\" needs a `horizon`%s.", policy$name,
           if (is.null(unwrapped(policy)$params$filter)) "" else ", or a `filter`")
  }
  if (is_contextual(policy) && is.null(terms$dim)) {
    refuse("Policy \"%s\" reads contexts: `dim` must say of how many numbers.", policy$name)
  }
  if (!is.null(terms$dim) && !is.null(predictions_of(policy))) {
    refuse("Policy \"%s\" reads predictions, and no contexts: leave out `dim`.", policy$name)
  }
  if (!is.null(terms$block_time) && !(is_true_of(policy, "closes") && life_of(policy) == Inf)) {
    refuse("`block_time` must be NULL: policy \"%s\" has no blocks or batches that can end early.",
           policy$name)
  }
  if (is.null(terms$budget)) return(invisible())
  if (promises_nothing(guarantee)) {
    refuse("`budget` names %s, but policy \"%s\" has no privacy guarantee.", format(terms$budget),
           policy$name)
  }
  if (is_over(terms, 0)) {
    refuse("`policy` has the guarantee %s%s, which is not inside the `budget` of %s.",
           format(whole_promise(terms, 0)),
           if (total_error(terms) > 0) ", before the rounding of doubles is charged" else "",
           format(terms$budget))
  }
}

# Why a kernel's noise has no exact form, or NULL. It would stop at its first release.
not_live <- function(policy) {
  own <- unwrapped(policy)
  if (identical(own$params$mechanism, "gamma") && !promises_nothing(own$guarantee)) {
    "the Gamma mechanism has no exact form, as its noise is a direction in space; mechanism \"tree\" has one"
  }
}

# Does the algorithm, or its guarantee, use the horizon?
needs_horizon <- function(policy) {
  if (life_of(policy) < Inf) return(FALSE)
  guarantee <- agent_guarantee(policy)
  policy <- unwrapped(policy)
  missing <- vapply(property(policy, "from_horizon"), function(name) is.na(policy$params[[name]] %||% NA), NA)
  is_true_of(policy, "needs_horizon") || any(missing) || needs_end(guarantee)
}
