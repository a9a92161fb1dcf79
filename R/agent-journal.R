# The record of an experiment: its journal, and the plan in it.

#' The record of an experiment
#'
#' `agent_journal()` reads the journal of a live agent, checks that it is whole, and can write it to a
#' file that another program can check. `agent_plan()` puts the plan of the experiment into the journal
#' before the first person. Use both where an experiment must be reported or inspected later, as a trial
#' is.
#'
#' # The journal
#' What an agent does adds rows: a choice, what became of its reward, each release with its sums,
#' and what operators did: arms that came, paused, resumed and went, the end, a restored copy, a clock
#' that was set, a move, a person who was erased, the plan. Rows of operators say who did it (a service
#' and the role and name of the token that asked it, or the user of the R process) and the `reason` that was
#' given.
#'
#' Each row has a digest: the SHA-256 of the digest before it and of its own fields. A row that was
#' edited, taken out or put in, or a journal of another agent, does not fit the digests that follow; rows
#' that were cut off at the end are missed by the state of the agent. `agent_open()` checks the end of the
#' journal, and that releases, tickets and counts of persons agree with the state; `agent_journal()`
#' checks all rows, and that each ticket has the time, arm, batch and chance with which it was given out. An
#' edit of a reward that waits, or of a person's hash, is not noticed if it leaves the counts as they were.
#' Somebody who can write to the store can compute all digests again, so note the last digest elsewhere from
#' time to time, for example with the minutes of a board.
#'
#' # The file
#' A file of comma-separated values in UTF-8 with the columns `seq`, `part`, `time` (seconds since 1970,
#' UTC), `kind`, `ticket`, `t`, `arm`, `who`, `note`, `digest`. `seq` counts the changes that have rows, and
#' `part` the rows of one. The first row has the agent's identity as its note and the SHA-256 of that as its
#' digest. The digest of any other row is the SHA-256 of the previous digest and the fields of the row before
#' `digest`, as they stand in the file, joined by the character U+001F.
#' `system.file("examples", "check_journal.py", package = "dpts")` checks such a file
#' without R. Give it the last digest, too, which was noted elsewhere: a file that was cut off at the end, or
#' of which all digests were computed again, has another one.
#'
#' # The plan
#' A plan is part of the record as it was written: `agent_plan(agent, plan)` accepts one before the first
#' person. A later call, or a second one, adds a dated *amendment*, for which a `reason` is required;
#' nothing that was written is changed. The plan must be of as many arms, and arms of the same name must
#' be in the same place; codes may have other names.
#'
#' The number of people, and the looks, that [effects()] with `at = "end"` goes by are those of the last plan
#' or amendment that says a number of people. A plan in words gives the number in its first line, such as
#' `"people: 300"`, and leaves the looks, at the same shares of the new number; otherwise it changes neither.
#'
#' # What is published
#' Rows tell tickets, times and arms of choices, as [dpts_history()] does, and with `use = "arrival"`
#' whether and when a reward came; never a reward. A report with `use = "deadline"`, or of another outcome,
#' leaves no trace: rows, their numbers and times are the same without it. Show the journal only to people
#' who may see every person's arm.
#'
#' @param agent An agent.
#' @param path Where to write the journal: the path of a file that does not exist yet, or `NULL` for no
#'   file.
#' @param plan A result of [dpts_plan()] for the policy of this agent, or a string: the plan in words.
#'   `NULL` adds nothing.
#' @param reason Why, for an amendment: a string.
#' @template dots
#' @returns `agent_journal()`: a tibble, one row for each row of the journal, with the columns of the file
#'   but `seq` and `part` as whole numbers, `time` as a date-time and `arm` as a factor. If `path` is
#'   given, invisibly. An error of class `dpts_error_store_damaged` names the first row that does not fit.
#'
#'   `agent_plan()`: a tibble, one row for the plan and for each amendment: `time`, `kind` (`"plan"`,
#'   `"amend"`), `who`, `reason`, `people` (the number of people that was planned, `NA` for a plan in
#'   words) and `plan` (its text).
#' @template see_agent
#' @concept audit trail
#' @concept pre-registration
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' design <- policy_randomised(mu = 1, block = 20)
#' arms <- arms_bernoulli(c(old = 0.3, new = 0.5))
#' plan <- dpts_plan(design, arms, people = 200, runs = 50, seed = 1)
#' agent <- dpts_agent(design, c("old", "new"), use = "arrival")
#' agent_plan(agent, plan)
#' agent_reward(agent, agent_choose(agent)$ticket, 1)
#' agent_arms(agent, pause = "new", reason = "The board asked for a pause.")
#' journal <- agent_journal(agent)
#' journal[c("kind", "arm", "who", "note")]
#' @export
agent_journal <- function(agent, path = NULL, ...) {
  check_dots_empty(...)
  check_agent(agent)
  if (!is.null(path)) path <- check_new_file(path)
  text <- agent_look(agent, function(tx) {
    rows <- agent$store$journal()
    text <- journal_text(agent, rows)
    begin <- journal_begin(agent$identity)
    digests <- chain(begin, text)
    wrong <- which(digests != rows$digest)
    if (length(wrong)) {
      abort_store(sprintf("row %d of the journal cannot be read: its digest is wrong", wrong[1]))
    }
    if (!identical(c(begin, digests)[1 + length(digests)], tx$journal)) {
      abort_store("the end of the journal cannot be read: rows are missing")
    }
    check_tickets(agent, rows)
    first <- c("0", "0", "", "begin", "", "", "", "", agent$identity)
    c(Map(c, first, text[FIELDS], USE.NAMES = FALSE), list(c(begin, digests)))
  })
  names(text) <- c(FIELDS, "digest")
  if (!is.null(path)) {
    part <- tempfile("journal-", dirname(path)) # the file is there whole or not at all
    on.exit(unlink(part))
    write_utf8(comma_separated(lapply(stats::setNames(text, in_quotes(names(text))), in_quotes)), part)
    if (!file.rename(part, path)) abort_arg("path", "a file that can be written", path)
  }
  given <- function(x) ifelse(nzchar(x), x, NA_character_)
  out <- tibble::new_tibble(list(
    seq = as.numeric(text$seq), part = as.integer(text$part), time = .POSIXct(as.numeric(given(text$time))),
    kind = text$kind, ticket = given(text$ticket), t = as.numeric(given(text$t)),
    arm = factor(given(text$arm), agent$life$arms), who = given(text$who), note = given(text$note),
    digest = text$digest
  ), nrow = length(text$kind))
  if (is.null(path)) out else invisible(out)
}

#' @rdname agent_journal
#' @export
agent_plan <- function(agent, plan = NULL, reason = NULL, ...) {
  check_dots_empty(...)
  check_agent(agent)
  reason <- check_reason(reason)
  if (!is.null(plan)) {
    text <- plan_text(plan, agent)
    agent_transact(agent, function(tx) {
      later <- sum(session_pulls(agent$session)) > 0 || agent$store$count("plan") > 0
      if (later && is.na(reason)) {
        abort_arg("reason", paste("a string that says why: there is a plan already, or a first person, so",
                                  "that this is an amendment"))
      }
      note <- if (is.na(reason)) text else paste0("reason: ", reason, "\n", text)
      new <- planned_analysis(text)
      # Looks that a board has made are not forgotten when words change the number of people.
      if (!nzchar(new$looks) && !inherits(plan, "dpts_plan")) new$looks <- agent$life$looks
      if (!is.na(new$planned)) agent$life[c("planned", "looks")] <- new
      note_events(tx, if (later) "amend" else "plan", list(note = note))
    }, look = TRUE, reason = reason)
  }
  rows <- agent_look(agent, function(tx) agent$store$journal("plans"))
  note <- as.character(rows$note)
  why <- grepl("^reason: ", note)
  tibble::new_tibble(list(
    time = .POSIXct(as.numeric(rows$time)), kind = as.character(rows$kind), who = as.character(rows$who),
    reason = part_of(note, "^reason: ([^\n]*)\n.*$"), people = people_of(note),
    plan = ifelse(why, sub("^reason: [^\n]*\n", "", note), note)
  ), nrow = length(note))
}

# Columns as the lines of a file of comma-separated values, with the names first
comma_separated <- function(columns) do.call(paste, c(unname(Map(c, names(columns), columns)), sep = ","))

in_quotes <- function(x) paste0("\"", gsub("\"", "\"\"", x, fixed = TRUE), "\"")

# write.csv() writes what the session's encoding has not as <U+00E9>.
write_utf8 <- function(lines, path) {
  con <- file(path, "wb")
  on.exit(close(con))
  writeLines(lines, con, useBytes = TRUE)
}

# A plan as text: what was asked, then the rows as comma-separated values
plan_text <- function(plan, agent) {
  if (!inherits(plan, "dpts_plan")) return(check_text(plan))
  check_result(plan)
  arms <- shared(plan, "arms")
  own <- agent$terms$arms
  both <- intersect(arms, own) # codes of arms may have other names
  if (length(arms) != length(own) || any(match(both, arms) != match(both, own))) {
    abort_input("plan", "`plan` must be of this agent's arms, in their order: %s, not %s.",
                words_list(own, most = 8), words_list(arms, most = 8))
  }
  said <- tibble::tbl_sum(plan)
  same <- vapply(policies(plan), function(policy) identical(format(policy), format(agent$terms$policy)), NA)
  plan <- plan[plan$design %in% names(which(same)), ]
  if (!nrow(plan) || length(unique(plan$people)) != 1) {
    abort_arg("plan", "a result of `dpts_plan()` for this agent's policy, at one number of people")
  }
  rows <- comma_separated(lapply(plan, function(x) {
    if (is.numeric(x)) as.character(signif(as.numeric(x), 6)) else as.character(x)
  }))
  looks <- shared(plan, "looks")
  paste(c(sprintf("people: %.0f", plan$people[1]), if (!is.null(looks)) paste("looks:", looks_text(looks)),
          sprintf("policy: %s", format(agent$terms$policy)), paste0(names(said), ": ", said)[-length(said)],
          rows), collapse = "\n")
}
