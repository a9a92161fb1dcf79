#' Run a policy on people
#'
#' A live agent: it chooses arms one at a time, takes rewards when they come, and keeps everything
#' in a database, so that nothing is lost, nothing is released twice, and no reward is kept longer
#' than it is needed. `dpts_agent()` makes one; `agent_open()` opens an existing one.
#'
#' @details
#' Each choice is a *ticket*. Its reward comes once: soon, late, out of order or never.
#' * `use = "deadline"`: a reward is used when its ticket's `deadline` has passed and not before,
#'   and a ticket without a reward counts as `missing` from then on. When a reward comes, and
#'   whether it comes at all, is then as protected as its value.
#' * `use = "arrival"`: a reward is used when it comes. Times of arrival are then taken to
#'   be public. A ticket past its `deadline`, if there is one, is resolved with `missing`. Without
#'   a deadline, a ticket whose reward never comes holds up its batch for ever: the arm goes on being
#'   chosen, but nothing more is learned from that batch.
#'
#' Neither suits everyone: `"deadline"` needs a finite `deadline`, and
#' `"arrival"` must be asked for. Deadlines that have passed are handled by the next call, whichever it is.
#'
#' Every change is one transaction that holds the ticket, the journal and the policy's state. A call
#' returns when its change is durable. A kill, a full disk or a lost connection before that
#' leaves the store as it was. Several processes may share an agent, on PostgreSQL or on
#' one SQLite file: they wait for each other.
#'
#' Noise is exact: rewards are rounded to multiples of 2^-20, sums are integers, the noise is
#' integer noise made of bits of the operating system (see [mechanism_laplace()]). Policies in R
#' ([policy_custom()]) draw from R's generator, which the agent seeds from the operating
#' system for each call; a guarantee that they declare is theirs to keep.
#'
#' @section What is published:
#' The arms chosen, and what the functions print, plot and return:
#' * [agent_choose()]: tickets, round numbers, arms;
#' * [agent_pulls()], [agent_log()]: numbers and times of choices, and how many are unresolved, where
#'   with `use = "deadline"` a ticket is resolved by its deadline alone;
#' * [agent_estimates()]: released noisy sums, or sums of locally private bits, and how many rewards and
#'   releases are in them;
#' * [agent_privacy()]: the guarantee and what has been spent, a function of all this;
#' * `print()`, `summary()`, `autoplot()` and the service ([agent_api()]): the same numbers again.
#'
#' Nothing else: no reward, no sum before its noise, no posterior draw, and with
#' `use = "deadline"` not whether an answer came. [agent_reward()] answers the one who reports
#' a reward; its answer is not for publication.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. The times of
#' arrivals, the arms on offer and contexts must not depend on rewards. With `max_per_person` = m
#' no more than m rewards of a person are used, further ones count as `missing`, and the
#' guarantee for a person is that of m rewards. See [agent_privacy()].
#'
#' Gaussian Thompson sampling compares draws in doubles; no delta below 2.5e-9 is
#' claimed for it (1e5 rounds, 5 arms).
#'
#' @section For operators:
#' * Going back to an old copy of the store releases the same rewards again, with fresh noise:
#'   the loss doubles. If you must, call [agent_restored()].
#' * The store holds the sum under way and rewards that wait, and is as confidential as the
#'   rewards. A SQLite file is readable by its owner alone and overwrites what it deletes; the journal
#'   of the file system, backups and snapshots do not. On PostgreSQL deleted rows live on in
#'   its write-ahead log, its replicas and until `VACUUM`.
#' * With `max_per_person` identifiers are kept as keyed hashes (HMAC-SHA256). The key lies in the
#'   same store: whoever has the store can test a guess.
#' * Nothing is promised about how long a call takes.
#'
#' @param policy A policy. Without a horizon it must be one that works at any time.
#' @param arms The arms' names, how many they are, or arms whose names are taken.
#' @param store Where the agent lives: the path of a SQLite file, which must not exist yet; a DBI
#'   connection of RSQLite or RPostgres, whose database must hold no agent yet; or `NULL`, in
#'   memory.
#' @param ... Must be empty: what follows is named.
#' @param horizon How many rounds there will be at most, for policies that need it; a round
#'   beyond it is refused.
#' @param use When a reward is used: see Details.
#' @param deadline How long a ticket waits for its reward: a difftime, or `Inf`.
#' @param missing What a ticket without reward counts: a number in \[0, 1\].
#' @param max_per_person How many rewards of one person are used at most, or `NULL`: persons are
#'   not told apart.
#' @param keep_rewards Whether to keep rewards after they are inside a released sum.
#' @param dim For policies with contexts in C: how many numbers a context has.
#' @param budget A privacy budget that the agent must keep, for a person if `max_per_person` is
#'   given and for a reward if not; a policy that does not is refused. `NULL`: none.
#' @returns An agent: an object of class `dpts_agent`. It is a handle: two names for it
#'   are one agent.
#' @family agent
#' @examples
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("short", "long"), use = "arrival")
#' choice <- agent_choose(agent)
#' choice
#' agent_reward(agent, choice$ticket, 1)
#' agent_close(agent)
#'
#' # From a recommendation to a running agent
#' advice <- dpts_recommend(privacy_gdp(1), NULL, horizon = 1000, k = 2, runs = 2, seed = 1)
#' agent <- dpts_agent(recommended_policy(advice), c("short", "long"), horizon = 1000,
#'                     use = "arrival")
#' agent_choose(agent, n = 3)
#' @export
dpts_agent <- function(policy, arms, store = NULL, ..., horizon = NULL,
                       use = c("deadline", "arrival"), deadline = Inf, missing = 0,
                       max_per_person = NULL, keep_rewards = FALSE, dim = NULL, budget = NULL) {
  check_all_given()
  check_dots_empty(...)
  check_class(policy, "dpts_policy", "a policy")
  arms <- check_arm_labels(arms)
  if (!is.null(horizon)) horizon <- check_count(horizon)
  use <- check_choice(use, c("deadline", "arrival"))
  deadline <- check_deadline(deadline, use)
  missing <- on_grid(check_number(missing, 0, 1))
  if (!is.null(max_per_person)) {
    max_per_person <- check_count(max_per_person)
    need_package("openssl", "for `max_per_person`", rlang::current_env())
  }
  check_flag(keep_rewards)
  if (!is.null(dim)) dim <- check_count(dim, 1, 1e4)
  if (!is.null(budget)) check_budget(budget)
  terms <- list(policy = policy, arms = arms, horizon = horizon, use = use, deadline = deadline,
                missing = missing, max_per_person = max_per_person, keep_rewards = keep_rewards,
                dim = dim, budget = budget, key = system_bytes(32))
  check_terms(terms)
  place <- open_store(store, create = TRUE, arg = "store")
  made <- FALSE
  on.exit(if (!made) place$close())
  if (place$exists()) refuse_store(place, policy)
  agent <- new_agent(place, terms)
  agent$engine$start()
  create_agent(agent)
  made <- TRUE
  agent
}

#' @param store For `agent_open()`: the path of a SQLite file, or a DBI connection.
#' @rdname dpts_agent
#' @export
agent_open <- function(store) {
  check_all_given()
  place <- open_store(store, create = FALSE, arg = "store")
  made <- FALSE
  on.exit(if (!made) place$close())
  if (!place$exists()) {
    abort_arg("store", "a store that holds an agent; `dpts_agent()` makes one",
              call = rlang::current_env())
  }
  agent <- new_agent(place, read_terms(place))
  # Read the state now: a damaged one is refused here and not at the first customer.
  agent_transact(agent, function(tx) NULL, look = TRUE)
  made <- TRUE
  agent
}

new_agent <- function(store, terms, call = caller_env()) {
  agent <- new.env(parent = emptyenv())
  agent$store <- store
  agent$terms <- terms
  agent$engine <- agent_engine(terms$policy, length(terms$arms), terms$horizon, terms$dim)
  agent$releases <- agent$engine$by_batch
  agent$silent <- terms$use == "deadline"
  agent$outstanding <- numeric(length(terms$arms)) # tickets that are not resolved, per arm
  agent$seq <- -1 # of the change whose state the engine holds; -1: of none
  agent$closed <- FALSE
  structure(agent, class = "dpts_agent")
}

create_agent <- function(agent) {
  definition <- serialize(agent$terms, NULL)
  agent$store$create(
    c(list(id = 1L, version = STORE_VERSION, seq = 0, clock = agent_clock(NA), next_due = NA_real_,
           late = 0, restored = 0), agent_state(agent)),
    list(id = 1L, definition = list(definition), definition_sum = checksum(definition))
  )
}

#' All that changes, as compressed bytes
#' @noRd
agent_state <- function(agent) {
  whole <- list(engine = agent$engine$save(), outstanding = agent$outstanding)
  bytes <- memCompress(serialize(whole, NULL, xdr = FALSE), "gzip")
  list(state = list(bytes), state_sum = checksum(bytes))
}

set_agent_state <- function(agent, bytes, sum, call) {
  if (!identical(checksum(bytes), sum)) abort_store("the checksum of the state is wrong", call)
  whole <- unserialize(memDecompress(bytes, "gzip"))
  agent$engine$restore(whole$engine)
  agent$outstanding <- whole$outstanding
}

refuse_store <- function(store, policy, call = caller_env()) {
  old <- read_terms(store, call)
  if (identical(format(old$policy), format(policy))) {
    abort_dpts("`store` holds this agent already: `agent_open()` opens it.",
               c("dpts_error_store", "dpts_error_input"), call)
  }
  abort_dpts(sprintf("`store` holds an agent of another policy, %s; nothing was changed.",
                     format(old$policy, digits = 5)),
             c("dpts_error_store", "dpts_error_input"), call)
}

read_terms <- function(store, call = caller_env()) {
  kept <- store$definition()
  if (is.null(kept)) abort_store("the definition cannot be read", call)
  if (kept$version != STORE_VERSION) {
    newer <- kept$version > STORE_VERSION
    abort_dpts(sprintf(paste("The store was made by %s version of dpts (its tables are of version %s, this one",
                             "knows %s alone); nothing was changed. %s"),
                       if (newer) "a newer" else "an older", kept$version, STORE_VERSION,
                       if (newer) "Update dpts." else "Use that version, or begin a new store."),
               c(if (newer) "dpts_error_store_newer" else "dpts_error_store_older", "dpts_error_store"), call)
  }
  if (!identical(checksum(kept$definition), kept$sum)) {
    abort_store("the checksum of the definition is wrong", call)
  }
  unserialize(kept$definition)
}

#' @param agent An agent.
#' @rdname dpts_agent
#' @export
agent_close <- function(agent) {
  check_agent(agent, open = FALSE)
  if (!agent$closed) agent$store$close()
  agent$closed <- TRUE
  invisible(agent)
}

#' One change: read, resolve what is due, do, write. `body` gets the transaction in progress; what
#' it throws leaves the store as it was. First without the store's lock, then with it if another
#' process has written meanwhile. look: the change needs what is stored now even if it writes nothing.
#' @noRd
agent_transact <- function(agent, body, look = FALSE, call = caller_env()) {
  done <- tryCatch(
    try_change(agent, body, if (look) "read" else "remember", call),
    error = function(e) {
      # What we saw may be old, and fit no longer what the tables say; bad input stays bad.
      if (inherits(e, c("dpts_error_input", "dpts_error_store"))) rlang::cnd_signal(e)
    }
  )
  if (is.null(done)) done <- try_change(agent, body, "lock", call)
  done[[1]]
}

#' One try: a list of what `body` returned, or NULL if another process has written
#' @noRd
try_change <- function(agent, body, how, call) {
  store <- agent$store
  done <- FALSE
  on.exit(if (!done) {
    store$rollback()
    agent$seq <- -1 # the engine is ahead of the store
  })
  head <- store$begin(agent$seq, how)
  if (head$version != STORE_VERSION) read_terms(store, call)
  if (!is.null(head[["state"]])) { # `$` would take state_sum for it
    set_agent_state(agent, head[["state"]], head$state_sum, call)
  }
  tx <- new.env(parent = emptyenv())
  tx$now <- agent_clock(head$now, head$clock, call)
  tx$next_due <- head$next_due
  tx$late <- head$late
  tx$restored <- head$restored
  tx$find_next_due <- tx$forgotten <- FALSE
  resolve_due(agent, tx)
  out <- body(tx)
  note_releases(agent, tx)
  seq <- head$seq
  if (length(tx$events$kind) || length(tx$resolved$ticket) || tx$late != head$late) {
    seq <- seq + 1
    if (!write_changes(agent, tx, seq)) return(NULL)
  } else {
    store$rollback() # nothing to write: let go of the lock
  }
  agent$seq <- seq
  done <- TRUE
  list(out)
}

write_changes <- function(agent, tx, seq) {
  events <- tx$events
  n <- length(events$kind)
  agent$store$commit(list(
    tickets = tx$tickets, resolved = tx$resolved, forget = tx$forget, persons = tx$persons,
    forgotten = tx$forgotten, find_next_due = tx$find_next_due,
    events = if (n) c(list(seq = rep(seq, n), part = seq_len(n), time = rep(tx$now, n)), events),
    agent = c(list(seq = seq, clock = tx$now, next_due = tx$next_due, late = tx$late,
                   restored = tx$restored), agent_state(agent))
  ))
}

#' The time, in seconds: the database's where it has a clock that all processes share. Steps back
#' of a few seconds are what time servers do, and the old time is used.
#' @noRd
agent_clock <- function(now, last = -Inf, call = caller_env()) {
  own <- getOption("dpts.clock") # of tests
  if (!is.null(own)) now <- own()
  if (is.na(now)) now <- as.numeric(Sys.time())
  if (now < last - 5) {
    abort_dpts(sprintf(paste("The clock went back by %s seconds since the agent's last change, so",
                             "deadlines cannot be kept; nothing was changed. Set the clock."),
                       format(round(last - now))),
               c("dpts_error_clock", "dpts_error_store"), call)
  }
  max(now, last)
}

#' A checksum of bytes, as text
#' @noRd
checksum <- function(bytes) .Call(C_checksum, bytes)

#' Rewards live on the grid of exact noise
#' @noRd
on_grid <- function(reward) round(reward * 2^20) / 2^20

#' @noRd
check_agent <- function(agent, open = TRUE, arg = caller_arg(agent), call = caller_env()) {
  check_class(agent, "dpts_agent", "an agent from `dpts_agent()` or `agent_open()`", arg, call)
  if (open && agent$closed) {
    abort_dpts(sprintf("`%s` is closed: `agent_open()` opens its store again.", arg),
               c("dpts_error_closed", "dpts_error_input"), call)
  }
  agent
}

check_arm_labels <- function(arms, arg = caller_arg(arms), call = caller_env()) {
  force(arg)
  if (inherits(arms, "dpts_arms")) arms <- names(arms) %||% n_arms(arms)
  if (is.numeric(arms)) return(as.character(seq_len(check_count(arms, 1, 1e6, arg, call))))
  if (!is.character(arms) || !length(arms) || anyNA(arms) || !all(nzchar(arms))) {
    abort_arg(arg, "the arms' names, or how many they are", arms, call)
  }
  if (anyDuplicated(arms)) {
    abort_arg(arg, sprintf("distinct names; \"%s\" comes twice", arms[duplicated(arms)][1]),
              call = call)
  }
  arms
}

check_deadline <- function(deadline, use, call = caller_env()) {
  if (inherits(deadline, "difftime") && length(deadline) == 1 && !is.na(deadline) && deadline > 0) {
    deadline <- as.numeric(deadline, units = "secs")
  } else if (!identical(deadline, Inf)) {
    abort_arg("deadline", "a positive difftime, such as `as.difftime(7, units = \"days\")`, or Inf",
              deadline, call)
  }
  if (use == "deadline" && deadline == Inf) {
    abort_dpts(paste("With `use = \"deadline\"`, which hides when rewards come, `deadline` must be",
                     "finite. If arrival times may be known, say `use = \"arrival\"`."),
               "dpts_error_input", call)
  }
  deadline
}

#' Can the policy run live, and does it do what the agent promises?
#' @noRd
check_terms <- function(terms, call = caller_env()) {
  policy <- terms$policy
  guarantee <- agent_guarantee(policy)
  refuse <- function(...) abort_dpts(sprintf(...), "dpts_error_input", call)
  why <- not_live(policy)
  if (!is.null(why)) refuse("Policy \"%s\" cannot run live: %s.", policy$name, why)
  if (is.null(terms$horizon) && needs_horizon(policy)) {
    refuse("Policy \"%s\" needs a `horizon`%s.", policy$name,
           if (is_kernel(policy, "ts_gaussian")) ", or a `filter`" else "")
  }
  if (!is.null(policy$params$dim) && is.null(terms$dim)) refuse("`dim` must be given.")
  if (is.null(terms$budget)) return(invisible())
  if (promises_nothing(guarantee)) {
    refuse("`budget` names %s, but policy \"%s\" promises no privacy.", format(terms$budget),
           policy$name)
  }
  whole <- ledger_guarantee(terms, terms$max_per_person %||% 1, 1)
  if (!inside_budget(whole, terms$budget, ledger_conditions(terms))) {
    refuse("`policy` promises %s, which is not inside the `budget` of %s.", format(whole),
           format(terms$budget))
  }
}

#' Why a kernel's noise has no exact form, or NULL. It would stop at its first release.
#' @noRd
not_live <- function(policy) {
  inner <- core(policy)
  private_contexts <- is_contextual(inner) && !promises_nothing(inner$guarantee)
  if (private_contexts) "its noise on contexts has no exact form yet"
}

#' Does the policy's algorithm, or its guarantee, use the horizon?
#' @noRd
needs_horizon <- function(policy) {
  if (life_of(policy) < Inf) return(FALSE)
  guarantee <- agent_guarantee(policy)
  policy <- core(policy)
  is_kernel(policy, c("dp_ts", "dp_ts_ucb", "dp_ucb_bound", "mt_ts", "mt_ucb")) ||
    (is_kernel(policy, "dp_se") && is.na(policy$params$beta %||% NA)) ||
    needs_end(guarantee)
}
