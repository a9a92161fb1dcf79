#' What an agent has spent
#'
#' The ledger of an agent: what one reward, and one person, has lost so far and can ever lose.
#'
#' @details
#' * Policies that release each reward in one noisy sum (or in a bounded number of them) spend all they
#'   ever will on a reward once a sum with it is released; `spent` is 0 until the first release.
#' * Gaussian Thompson sampling spends with every draw, `horizon` rounds of them at most;
#'   `spent` counts the rounds so far. Arms that were not on offer do not shorten them.
#'   Its choices compare doubles: `epsilon` allows for an error of rounds x arms^2 x 1e-15 in the
#'   distribution of all arms, and is `Inf` for deltas below what that leaves.
#' * A person who gave m = `max_per_person` rewards loses at most m epsilon, or m mu. Gaussian releases lose
#'   that much only if all of them fall into one batch.
#' * Each time the agent was restored from an old copy ([agent_restored()]) its rewards may
#'   have been released once more: epsilons add up, as do squares of mu.
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
    list(rounds = sum(arms$pulls), copies = 1 + tx$restored,
         released = if (agent$releases) any(arms$releases > 0) else sum(arms$pulls) > 0)
  })
  terms <- agent$terms
  k <- length(terms$arms)
  people <- c(reward = 1, person = terms$max_per_person)
  guarantee <- agent_guarantee(terms$policy)
  horizon <- terms$horizon %||% Inf
  parts <- lapply(names(people), function(unit) {
    lapply(ledger_accountants(guarantee, people[[unit]]), function(accountant) {
      epsilon <- function(rounds) {
        ledger_epsilon(guarantee, accountant, rounds, k, delta, people[[unit]], now$copies)
      }
      spent <- if (!now$released) 0 * delta
        else if (guarantee$kind == "gdp_rounds") epsilon(now$rounds)
        else epsilon(horizon)
      list(unit = rep(unit, length(delta)), accountant = rep(accountant, length(delta)),
           delta = delta, epsilon = epsilon(horizon), spent = spent)
    })
  })
  parts <- unlist(parts, recursive = FALSE)
  column <- function(name) unlist(lapply(parts, `[[`, name))
  columns <- c("unit", "accountant", "delta", "epsilon", "spent")
  tibble::new_tibble(stats::setNames(lapply(columns, column), columns),
                     nrow = length(column("unit")))
}

agent_guarantee <- function(policy) policy$guarantee %||% guarantee_none()

#' The accountants whose statement holds for a person's m rewards too
#' @noRd
ledger_accountants <- function(guarantee, m) {
  switch(guarantee$kind,
    none = "pure", pure = "pure", gdp = "gdp",
    gdp_rounds = if (m == 1) c("gdp", "sequence") else "gdp",
    approx = "advanced"
  )
}

#' Epsilon at each delta for m rewards and so many copies of the agent
#' @noRd
ledger_epsilon <- function(guarantee, accountant, rounds, k, delta, m, copies) {
  if (guarantee$kind == "none") return(rep(Inf, length(delta)))
  if (accountant == "pure") return(rep(guarantee$epsilon * m * copies, length(delta)))
  if (guarantee$kind == "approx") {
    # m copies times over: m neighbours apart and released so often, by basic composition
    times <- m * copies
    if (rounds == Inf) return(rep(Inf, length(delta)))
    group <- function(d) times * account(guarantee, "advanced", rounds, k, d)
    return(vapply(delta, function(d) group_epsilon(group, d, m, copies), 0))
  }
  if (rounds == Inf && guarantee$kind == "gdp_rounds") return(rep(Inf, length(delta)))
  # Pre-pulls of an arm that is seldom on offer do not shorten the rounds that draw.
  arms <- if (guarantee$kind == "gdp_rounds") 0 else k
  curve <- if (accountant == "sequence" && copies == 1) {
    function(d) account(guarantee, "sequence", rounds, arms, d)
  } else {
    mu <- guarantee_mu(guarantee, rounds, arms) * m * sqrt(copies)
    function(d) gdp_epsilon(mu, d)
  }
  if (guarantee$kind != "gdp_rounds") return(curve(delta))
  with_rounding(curve, delta, rounds * k^2 * 1e-15)
}

#' An (epsilon, delta) curve for m neighbours: delta grows by sum of exp(i epsilon) (Vadhan 2017,
#' Lemma 2.2). The copies add their deltas.
#' @noRd
group_epsilon <- function(group, delta, m, copies) {
  if (m == 1) return(group(delta / copies))
  # Any d whose grown delta fits will do; bisect for the largest.
  grown <- function(d) {
    e <- group(d) / (m * copies)
    log(copies * d) + log_sum_powers(e, m)
  }
  low <- log(delta) - 800
  high <- log(delta)
  for (i in 1:60) {
    middle <- (low + high) / 2
    if (grown(exp(middle)) <= log(delta)) low <- middle else high <- middle
  }
  if (grown(exp(low)) <= log(delta)) group(exp(low)) else Inf
}

#' log(1 + e^x + ... + e^((m - 1) x))
#' @noRd
log_sum_powers <- function(x, m) {
  i <- seq_len(min(m, 1e4)) - 1
  top <- max(i * x)
  top + log(sum(exp(i * x - top))) + if (m > 1e4) (m - 1e4) * x else 0
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
    note_event(tx, "restored")
  })
  invisible(agent)
}
