# What an operator does with an agent that runs.

#' Arms that come, pause and go
#'
#' `agent_arms()` adds options to a running agent, pauses them, and takes them out.
#' Arms may come, pause, resume and retire while it runs and waits for rewards. Each change is one
#' transaction and is journalled; every process that shares the agent knows it from then on.
#'
#' @details
#' A new arm begins with nothing: its rewards go into releases of their own, so the guarantee is the same for
#' every reward. With [policy_top_two()] the probability of a wrong verdict is `error` for each number of
#' arms separately. These policies refuse new arms:
#' * [policy_mt_ts()]: its stages end for all arms together, and a new one would have to go through those that
#'   are over;
#' * [policy_dp_se()], [policy_adap_tt()] and [policy_dp_tt()]: their verdicts are about the arms that they
#'   began with;
#' * [policy_exp3()]: its losses are of all rounds, and a new arm has none;
#' * [policy_detect()]: its probability of a false alarm is divided among the arms that it began with;
#' * [policy_custom()], which is told the number of arms once, and [policy_compiled()], whose interface has no
#'   verb for it.
#'
#' A policy around another one ([policy_local()], [policy_restart()], [policy_private()]) can if the one
#' inside can. What a paused or retired arm has learned stays, rewards of it that are out are used when they
#' come, and those of its last batch at the end ([agent_finish()]).
#'
#' An arm that is paused or retired is chosen by nobody, whatever a call's `offer` says. While all arms but
#' one are paused or retired, some of them paused, everyone gets that one, and these choices are no rounds: a
#' pause spends nothing of the horizon. With no arm left choices are errors of class `dpts_error_paused`, also
#' for those who have a ticket already.
#'
#' With [policy_randomised()] any change of a status ends the open block, which is released once its rewards
#' are in: also when an arm that is paused is retired.
#'
#' @inheritSection dpts_agent What is published
#' @param agent An agent.
#' @param add Names of new arms. An error with a [policy_randomised()] whose `control` has a floor of its own,
#'   if all floors, also those of retired arms, would add up to more than 1.
#' @param retire,pause,resume Arms, by name or number. A retired arm does not come back: to pause or resume it
#'   is an error.
#' @param reason Why, in a sentence for the journal (see [agent_journal()]): a string, or `NULL` for none.
#' @template dots
#' @returns A tibble, one row per arm: `arm` and `status`: `"active"`, `"paused"` or `"retired"`.
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' agent_arms(agent, add = "c", retire = "a")
#' agent_choose(agent, 3)
#' @export
agent_arms <- function(agent, add = NULL, retire = NULL, pause = NULL, resume = NULL, reason = NULL, ...) {
  check_dots_empty(...)
  check_agent(agent)
  reason <- check_reason(reason)
  if (!is.null(add)) {
    if (!is.character(add)) abort_arg("add", "names of new arms", add)
    add <- check_arm_labels(add)
  }
  changes <- list(retire = retire, pause = pause, resume = resume)
  agent_transact(agent, function(tx) {
    at <- sapply(names(changes), function(name) check_some_arms(changes[[name]], agent$terms$arms, name),
                 simplify = FALSE)
    if (anyDuplicated(unlist(at))) {
      abort_arg("resume", "other arms than `pause` and `retire`, which differ, too")
    }
    add_arms(agent, tx, add)
    set_status(agent, tx, at)
  }, look = TRUE, reason = reason)
  tibble::new_tibble(list(arm = factor(agent$life$arms, agent$life$arms),
                          status = names(ARM)[match(agent$life$status, ARM)]),
                     nrow = length(agent$life$arms))
}

#' End an agent
#'
#' `agent_finish()` ends an experiment, and forgets each person's reward. What is open is released, once, with
#' the noise of every release: each reward is still in one sum only, so that the guarantee is the same. Then
#' all rewards that are kept are forgotten, except with `keep_rewards = TRUE` ([dpts_agent()]). Tickets that
#' are not resolved yet are resolved without a reward, and a reward that waits for its deadline is not used,
#' because whether a person answers is protected. To use all of them, end one deadline after the last choice.
#'
#' The winner is the arm that is declared the best, by the policy itself or, where people are randomised to
#' arms, by [verdict()]; or else that of the highest lower limit in `estimates()`, or, without estimates, the
#' arm chosen most. A contextual policy names no winner, since the counts of arms tell of contexts; after
#' `then = "verdict"` it chooses by the context, and learns nothing.
#'
#' At its `horizon` an agent ends by itself, with `then = "verdict"`; what is open is released when all
#' tickets are resolved. A later call changes what choices are, and releases nothing again.
#'
#' @param agent An agent.
#' @param then What [agent_choose()] does from now on: `"end"`: it is an error of class `dpts_error_ended`;
#'   `"verdict"`: it gives everyone the winner's arm, and its choices are no rounds.
#' @param reason Why, in a sentence for the journal (see [agent_journal()]): a string, or `NULL` for none.
#' @template dots
#' @returns The agent, invisibly.
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' agent_reward(agent, agent_choose(agent, 100)$ticket, 1)
#' agent_finish(agent, then = "verdict")
#' agent_choose(agent)
#' @export
agent_finish <- function(agent, then = c("end", "verdict"), reason = NULL, ...) {
  check_dots_empty(...)
  check_agent(agent)
  reason <- check_reason(reason)
  then <- check_choice(then, c("end", "verdict"))
  agent_transact(agent, function(tx) {
    if (agent$life$then != then) end_life(agent, tx, then, finish = TRUE)
    else if (!agent$life$finished) finish_life(agent, tx)
  }, look = TRUE, reason = reason)
  invisible(agent)
}

#' Copy an agent while it serves
#'
#' `agent_backup()` makes a safe copy of all that an agent knows, while it serves people. The SQLite file
#' is consistent whatever other calls and processes do meanwhile, readable by its owner alone. It holds
#' what the store holds, rewards that wait included, and is as confidential.
#'
#' Going back to a copy releases rewards again that were released since it was made: open it by
#' `agent_open(copy, restored = TRUE)` to go on with it, and the ledger counts twice. To look at a copy needs
#' no such call. To move an agent to another database without that, use [agent_copy()].
#'
#' @param agent An agent.
#' @param path Of the copy: a file that does not exist yet.
#' @template dots
#' @returns The path, invisibly.
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), tempfile(fileext = ".sqlite"),
#'                     use = "arrival")
#' agent_choose(agent, 10)
#' copy <- agent_backup(agent, tempfile(fileext = ".sqlite"))
#' agent_close(agent)
#'
#' agent <- agent_open(copy, restored = TRUE)
#' agent_close(agent)
#' @export
agent_backup <- function(agent, path, ...) {
  check_dots_empty(...)
  check_all_given()
  check_agent(agent)
  path <- check_new_file(path)
  done <- FALSE
  on.exit(if (!done) unlink(path))
  copy_to(agent, store_sqlite_file(path, create = TRUE, "path"))
  done <- TRUE
  invisible(path)
}

#' Move an agent to another store
#'
#' `agent_copy()` takes an agent from SQLite to PostgreSQL, or back, while it serves. All that the store holds
#' is copied at one moment, read back and compared: journal, tickets, releases and state. From then on the
#' agent lives in the new store: the old one can be looked at, and whatever would change it is an error of
#' class `dpts_error_store_moved`, in every process. So no reward is released twice, and nothing is restored.
#'
#' Services on the old store answer 503 until they are started on the new one. Tickets, keys and persons are
#' known there. Should the machine stop between the two, the old store goes on as if nothing had happened:
#' delete the new one and begin again.
#'
#' @param agent An agent.
#' @param store The path of a SQLite file that does not exist yet, or a connection of RSQLite or RPostgres
#'   whose database holds no agent.
#' @template dots
#' @returns The agent in its new store. `agent` stays open.
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' old <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' agent_choose(old, 10)
#' agent <- agent_copy(old, tempfile(fileext = ".sqlite"))
#' pulls(agent)
#' agent_close(agent)
#' @export
agent_copy <- function(agent, store, ...) {
  check_dots_empty(...)
  check_all_given()
  check_agent(agent)
  if (is.null(store)) abort_arg("store", "the path of a SQLite file or a DBI connection", store)
  target <- open_store(store, create = TRUE)
  if (target$exists()) {
    on.exit(target$close())
    refuse_store(target, agent$terms)
  }
  copy_to(agent, target, move = TRUE)
  agent_open(store)
}

# All that a store holds at one moment, in another one; move: and no change of the old one from then on
copy_to <- function(agent, target, move = FALSE) {
  on.exit(target$close())
  copied <- FALSE
  while (!copied) {
    done <- try_change(agent, function(tx) {
      if (has_rows(tx) || tx$forgotten) return() # what is due is written first
      rows <- agent$store$tables()
      # A lock is given up if its holder is silent for long.
      if (agent$store$begin(agent$seq, "read")$state_sum != agent$state_sum) return()
      target$create(Filter(function(columns) length(columns[[1]]), rows))
      if (!identical(target$tables(), rows)) abort_store("what was written to the new store cannot be read")
      copied <<- TRUE
      if (!move) return()
      agent$life$moved <- TRUE
      note_events(tx, "move")
    }, "lock", still = TRUE, reason = NA)
  }
  if (is.null(done)) abort_store("others wrote while the new store was made, which must be deleted")
}

#' Say that the store was restored from an old copy
#'
#' `agent_restored()` makes an agent safe after an old copy of its database was put back. An old copy releases
#' rewards a second time. After this call the ledger counts every release twice: in what it prints, in
#' `dpts_privacy()`, in its service and against its `budget`. An agent that is beyond its budget learns no
#' more: it chooses the arm that was chosen most, and its choices are no rounds.
#'
#' Opening a store handles deadlines that have passed, and may release sums. Prefer
#' `agent_open(store, restored = TRUE)`, which counts the return first: an agent without budget left then
#' releases nothing more.
#'
#' Rewards that were reported since the copy was made are lost without a word: to say which ones would tell
#' who had answered. Report them again if they are known elsewhere.
#'
#' Close the agent in every process before a SQLite file is copied back: to write over a file that is open
#' damages it.
#'
#' A copy does not know what came after it, and so not that the agent was restored meanwhile. Call
#' `agent_restored()` once more for each return that the copy does not know.
#'
#' @param agent An agent that was opened on the restored copy.
#' @param reason Why, in a sentence for the journal (see [agent_journal()]): a string, or `NULL` for none.
#' @template dots
#' @returns The agent, invisibly.
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' agent_restored(agent)
#' dpts_privacy(agent, delta = 1e-6)
#' @export
agent_restored <- function(agent, reason = NULL, ...) {
  check_dots_empty(...)
  check_agent(agent)
  agent_transact(agent, function(tx) NULL, look = TRUE, restored = TRUE, reason = check_reason(reason))
  invisible(agent)
}

#' Say what time it is
#'
#' `agent_clock()` confirms a clock that an agent does not believe, or mends an agent whose clock was ahead.
#'
#' A clock that is more than the `deadline`, and more than a day, ahead of the agent's last change is not
#' believed: by that time all that is open would be resolved without a reward. [agent_choose()] and
#' [agent_reward()] are then errors of class `dpts_error_clock`, reports show what was at the last change,
#' with a warning, and nothing is changed until the clock is right or `agent_clock(agent)` confirms it. A
#' process that has waited so long itself, with the agent open, knows it without being told. (A reward that is
#' reported with `use = "deadline"`, or another outcome, is no such change: others would learn when it came.)
#'
#' After a clock that was ahead, and was believed, the agent's time would stand still until the clock has
#' reached it. `agent_clock(agent)` sets it back: tickets that were given out meanwhile and are open wait
#' their whole deadline from now on, and no reward that waits is lost. What was resolved meanwhile stays so.
#'
#' The journal has an entry of it. A service on the same store goes by the new time at once.
#'
#' @param agent An agent.
#' @param time The time: a date-time (`POSIXct`).
#' @param reason Why, in a sentence for the journal (see [agent_journal()]): a string, or `NULL` for none.
#' @template dots
#' @returns The agent, invisibly.
#' @template see_agent
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("a", "b"), use = "arrival")
#' agent_clock(agent)
#' @export
agent_clock <- function(agent, time = Sys.time(), reason = NULL, ...) {
  check_dots_empty(...)
  check_agent(agent)
  if (missing(time)) time <- .POSIXct(time_now(NA))
  if (!inherits(time, "POSIXct") || length(time) != 1 || !is.finite(time)) {
    abort_arg("time", "a date-time, such as `Sys.time()`", time)
  }
  agent_transact(agent, function(tx) NULL, look = TRUE, clock = as.numeric(time),
                 reason = check_reason(reason))
  invisible(agent)
}
