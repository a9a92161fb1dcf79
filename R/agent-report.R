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
    out <- agent$store$open(TICKET[c("open", if (agent$silent) "waiting")])
    tibble::new_tibble(list(
      arm = factor(arms, arms), pulls = agent$engine$arms()$pulls,
      outstanding = replace(numeric(length(arms)), out$arm, out$n)
    ), nrow = length(arms))
  })
}

#' @rdname agent_pulls
#' @export
agent_log <- function(agent) {
  log <- read_tickets(check_agent(agent))
  tibble::new_tibble(list(
    ticket = as.character(log$ticket), t = as.numeric(log$t),
    arm = factor(agent$terms$arms[log$arm], agent$terms$arms),
    time = as.POSIXct(log$time, origin = "1970-01-01"), status = log$status
  ), nrow = nrow(log))
}

#' The tickets with their public status: where a missing answer is protected, whether one came
#' is not to be seen
#' @noRd
read_tickets <- function(agent) {
  log <- agent_look(agent, function() agent$store$log())
  open <- log$status %in% TICKET[c("open", if (agent$silent) "waiting")]
  log$status <- if (agent$silent) ifelse(open, "open", "resolved")
    else ifelse(open, "open", ifelse(log$status == TICKET[["used"]], "used", "missing"))
  log
}

#' Look at an agent as of now: deadlines first
#' @noRd
agent_look <- function(agent, body) agent_transact(agent, function(tx) body())
