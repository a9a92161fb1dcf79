# The life of an agent: which arms take part, who wins, and the end.

# arms: their names; status: of each of them, as in ARM; since, until: after how many rounds each was added
# and retired, NA if it was not; then: "go", or once it has ended, what choices are: "verdict" (the winner's
# arm) or "end" (refused); winner: an arm's number, NA before the end; ended: when that was; finished: was
# what was open released, and the rewards forgotten?; forgotten: were persons?; moved: does the agent live
# elsewhere now?; clipped: how many predictions were, or how many contexts were shortened; planned, looks: as
# planned_analysis() has them of the plan in force
new_life <- function(arms) {
  none <- rep(NA_real_, length(arms))
  list(arms = arms, status = rep(ARM[["active"]], length(arms)), since = none, until = none, then = "go",
       winner = NA_integer_, ended = NA_real_, finished = FALSE, forgotten = FALSE, moved = FALSE,
       clipped = 0, planned = NA_real_, looks = "")
}

# The life as bytes, and back: numbers, then text. unserialize() of nonsense may end R.
write_life <- function(life) {
  text <- vapply(life, is.character, NA)
  c(writeBin(as.double(c(length(life$arms), unlist(life[!text], use.names = FALSE))), raw()),
    unlist(lapply(unlist(life[text], use.names = FALSE), function(x) c(charToRaw(enc2utf8(x)), raw(1)))))
}

read_life <- function(bytes) {
  wrong <- function() abort_store("the life of the agent cannot be read")
  k <- readBin(bytes, "double", 1)
  if (!isTRUE(k >= 1 && k <= length(bytes) && k == trunc(k))) wrong()
  life <- new_life(character(k))
  text <- vapply(life, is.character, NA)
  size <- lengths(life)
  numbers <- readBin(bytes, "double", 1 + sum(size[!text]))[-1]
  rest <- bytes[-seq_len(8 * (1 + sum(size[!text])))]
  ends <- which(rest == 0)
  whole <- length(numbers) == sum(size[!text]) && length(ends) == sum(size[text])
  if (!whole || ends[length(ends)] != length(rest)) wrong()
  word <- function(from, to) rawToChar(rest[seq_len(to - from - 1) + from])
  words <- Map(word, c(0, ends[-length(ends)]), ends)
  words <- enc2utf8(`Encoding<-`(unlist(words, use.names = FALSE), "UTF-8"))
  fill <- function(fields, values) {
    values <- split(values, rep(seq_along(fields), size[fields]))
    Map(function(x, value) suppressWarnings(as.vector(value, typeof(x))), life[fields], values)
  }
  life[!text] <- fill(which(!text), numbers)
  life[text] <- fill(which(text), words)
  sound <- all(validUTF8(words)) && !anyDuplicated(life$arms) && all(life$status %in% ARM) &&
    life$then %in% c("go", "end", "verdict") && life$winner %in% c(NA, seq_len(k)) &&
    !anyNA(c(life$finished, life$forgotten, life$clipped))
  if (sound) life else wrong()
}

ARM <- c(active = 0L, paused = 1L, retired = 2L)

# Are choices rounds of the policy, or all of one arm that is given? With all other arms paused nothing is
# learned, so that no round is spent.
is_playing <- function(agent) {
  status <- agent$life$status
  !agent$over && agent$life$then == "go" &&
    (!ARM[["paused"]] %in% status || sum(status == ARM[["active"]]) > 1)
}

# The arms of an offer (NULL: all) that take part; NULL: all of all
taking_part <- function(agent, offer) {
  out <- agent$life$status != ARM[["active"]]
  if (!any(out)) return(offer)
  offer <- setdiff(offer %||% seq_along(out), which(out))
  if (length(offer)) return(offer)
  abort_input("offer", class = "dpts_error_paused",
              "Each available arm (`offer`) is paused or retired: `agent_arms()` resumes a paused one.")
}

check_some_arms <- function(which, arms, arg) {
  if (is.null(which)) integer() else unique(arm_numbers(which, arms, arg, "some of the agent's arms"))
}

# New arms: a session of more arms takes over what the old one knows. No guarantee of a policy that can take
# on arms depends on their number, so that the budget is as it was.
add_arms <- function(agent, tx, add) {
  if (!length(add)) return(invisible())
  terms <- agent$terms
  old <- length(terms$arms)
  if (any(add %in% terms$arms)) {
    abort_arg("add", sprintf("new names; \"%s\" is an arm already", intersect(add, terms$arms)[1]))
  }
  if (!is.null(terms$strata)) abort_input("add", "An agent with `strata` cannot take on arms (`add`).")
  if (agent$life$then != "go") abort_input("add", "The agent has ended: no arms can be added (`add`).")
  if (!is_true_of(terms$policy, "grows")) {
    abort_input("add", "Policy \"%s\" cannot take on arms (`add`): %s. Nothing was changed.",
                terms$policy$name, "`?agent_arms` says why")
  }
  terms$arms <- c(terms$arms, add)
  why <- floors_beyond(unwrapped(terms$policy), length(terms$arms))
  if (!is.null(why)) {
    abort_input("add", "No arms can be added (`add`): policy \"%s\" %s. Nothing was changed.",
                terms$policy$name, why)
  }
  check_state_fits(terms, "add")
  session_grow(agent$session, length(terms$arms))
  agent$terms <- terms
  agent$life$arms <- terms$arms
  agent$life$status <- c(agent$life$status, rep(ARM[["active"]], length(add)))
  agent$life$since <- c(agent$life$since, rep(sum(session_pulls(agent$session)), length(add)))
  agent$life$until <- c(agent$life$until, rep(NA_real_, length(add)))
  widen_blocks(agent, old)
  agent$outstanding <- c(agent$outstanding, numeric(length(add)))
  agent$offered <- c(agent$offered, numeric(length(add)))
  note_events(tx, rep("add", length(add)), list(t = rep(NA_real_, length(add)), arm = old + seq_along(add)))
}

# at: arms to retire, pause and resume. A retired arm stays so. `reason`: an operator's, NULL: nobody did this
set_status <- function(agent, tx, at, reason = tx$reason) {
  status <- agent$life$status
  for (what in c("pause", "resume")) {
    gone <- intersect(at[[what]], which(status == ARM[["retired"]]))
    if (length(gone)) {
      abort_arg(what, sprintf("arms that are not retired; \"%s\" is", agent$terms$arms[gone[1]]))
    }
  }
  to <- c(retire = "retired", pause = "paused", resume = "active")
  for (what in names(to)) {
    new <- at[[what]][status[at[[what]]] != ARM[[to[[what]]]]]
    status[new] <- ARM[[to[[what]]]]
    note_events(tx, rep(what, length(new)), list(t = rep(NA_real_, length(new)), arm = new), reason)
  }
  if (all(status == ARM[["retired"]])) abort_arg("retire", "not all arms: `agent_finish()` ends an agent")
  # The open block is of other offers than those to come.
  changed <- !identical(status, agent$life$status) && !agent$over
  if (changed && inherits(agent$terms$policy, "dpts_policy_randomised")) session_close(agent$session)
  agent$life$status <- status
  agent$life$until[is.na(agent$life$until) & status == ARM[["retired"]]] <- sum(session_pulls(agent$session))
  # The winner may just have been retired.
  if (agent$life$then != "go" && !isTRUE(status[agent$life$winner] == ARM[["active"]])) {
    agent$life$winner <- winner(agent)
  }
}

arm_factor <- function(agent, at = seq_along(agent$terms$arms)) {
  structure(as.integer(at), levels = agent$terms$arms, class = "factor")
}

# The release table of an outcome so far (0: of the reward); within a change
agent_table <- function(agent, outcome = 0L) {
  fresh <- if (outcome == 0) session_sums(agent$session) else
    agent$fresh[agent$fresh[, 1] == outcome, -1, drop = FALSE]
  rows <- stored_releases(agent, outcome)
  if (NROW(fresh)) rows <- rbind(rows, fresh)
  policy <- agent$terms$policy
  seen <- session_arms(agent$session)
  life <- agent$life
  born <- sum(is.na(life$since))
  changed <- list(added = life$since, retired = life$until)
  more <- lapply(names(changed), function(event) {
    at <- which(!is.na(changed[[event]]))
    if (length(at)) data.frame(run = 1, t = changed[[event]][at], arm = at, n = 0, sum = 0, event)
  })
  if (life$finished) {
    more <- c(more, list(data.frame(run = 1, t = max(0, sum(seen$pulls)), arm = 1, n = 0, sum = 0,
                                    event = "end")))
  }
  if (flip_of(policy) > 0 && seen$report$scale[[1]] == 0) {
    bits <- session_report(agent$session)
    more <- c(more, list(open_bits(1, rows, bits[1, ], bits[2, ], sum(seen$pulls))))
  }
  # `floor` remains that of the beginning, whatever comes: a later one would change the bets on past blocks.
  design <- release_design(policy, max(born, 2), grows = TRUE)
  own <- if (outcome > 0) agent$terms$outcomes[[outcome]]
  range <- own$range %||% agent$terms$range
  if (!is.null(own)) design[c("predicted_low", "predicted_high")] <- NA
  law <- list(correlation = design$correlation, floor = if (design$tosses) design$floor else NA,
              low = range[1], high = range[2], flip = flip_of(policy), permuted = design$permuted,
              predicted_low = design$predicted_low, predicted_high = design$predicted_high,
              per_person = agent$terms$max_per_person %||% 1,
              missing = if (is.null(own) && !is.null(agent$terms$outcomes)) agent$terms$missing else NA_real_,
              planned = life$planned,
              looks = if (nzchar(life$looks)) life$looks else NA_character_)
  noise <- live_noise(if (is.null(own)) seen$report else outcome_noise(own))
  remembered(agent, paste("table", outcome), list(rows, born, noise, law, more, life$arms), function() {
    release_table(list(), function(run, arm) arm_factor(agent, arm), list(rows), born, c(noise, law), more,
                  strata = agent$terms$strata)
  })
}

# What this table says, as evidence reads it. Within a change nothing is left for later.
agent_record <- function(agent, outcome = 0L) {
  agent$memory$seconds <- Inf
  table <- agent_table(agent, outcome)
  remembered(agent, paste("record", outcome), table, function() {
    c(release_records(table)$records[[1]], list(memory = agent$memory))
  })
}

# The rows of the release table that the store has: those that are known, and newer ones. The last of the
# known ones is read again, in case the store went back to an older copy.
stored_releases <- function(agent, outcome) {
  name <- paste("stored", outcome)
  matrix_of <- function(rows) do.call(cbind, lapply(RELEASE, function(name) as.numeric(rows[[name]])))
  old <- agent$remembered[[name]]
  n <- NROW(old$rows)
  new <- agent$store$releases(outcome, from = old$last %||% 0)
  rows <- matrix_of(new)
  if (n > 0) {
    if (nrow(rows) && new$id[1] == old$last && identical(rows[1, ], old$rows[n, ])) {
      if (nrow(rows) == 1) return(old$rows)
      rows <- rbind(old$rows, rows[-1, , drop = FALSE])
    } else {
      new <- agent$store$releases(outcome)
      rows <- matrix_of(new)
    }
  }
  if (nrow(rows)) agent$remembered[[name]] <- list(rows = rows, last = new$id[length(new$id)])
  rows
}

# What was computed last from the same things
remembered <- function(agent, name, from, compute) {
  old <- agent$remembered[[name]]
  if (is.null(old) || !identical(old$from, from)) {
    old <- agent$remembered[[name]] <- list(from = from, value = compute())
  }
  old$value
}

part_of <- function(text, pattern) ifelse(grepl(pattern, text), sub(pattern, "\\1", text), NA_character_)

# The number of people in the text of a plan, NA if it says none
people_of <- function(note) as.numeric(part_of(note, "^(?:reason: [^\n]*\n)?people: ([0-9]+)(?:\n.*)?$"))

# For how many people the analysis at the end is planned by the text of a plan, NA: none, and its looks
# before, "": none
planned_analysis <- function(text) {
  looks <- part_of(text, "^people: [0-9]+\nlooks: ([^\n]*)\n.*$")
  list(planned = people_of(text), looks = if (is.na(looks)) "" else looks)
}

# The winner: proved by the policy itself or, where people are tossed, by the verdict of evidence, since the
# means of an arm that more and more people get are no fair comparison where all means drift; or else the
# leader
# (NA for a contextual policy: counts of arms depend on other people's contexts, which may be protected.)
winner <- function(agent) {
  if (is_contextual(agent$terms$policy)) return(NA_integer_)
  among <- contenders(agent)
  policy <- agent$terms$policy
  if (is.na(session_verdict(agent$session)) && tosses_people(policy) && is.null(no_evidence(policy))) {
    record <- agent_record(agent)
    proved <- if (nrow(record$releases) * record$k < 1e7) record$arms[record_verdict(record)$arm]
    if (isTRUE(proved %in% among)) return(proved)
  }
  leader(agent, among)
}

# The arm to go on with, among some, as far as one knows: proved by the policy itself, or else of the highest
# lower limit, or else chosen most. A function of what was published.
leader <- function(agent, among) {
  proved <- session_verdict(agent$session)
  if (proved %in% among) return(proved)
  seen <- session_arms(agent$session)
  lower <- 0 * seen$pulls
  if (!is.null(seen$report)) lower <- report_intervals(seen$report, 0.95, live = TRUE)$lower
  lower[is.na(lower)] <- -Inf
  as.integer(among[order(-lower[among], -seen$pulls[among])[1]])
}

# Who can win: the arms that take part, or if all are paused, these
contenders <- function(agent) which(agent$life$status == min(agent$life$status))

# The arm of a choice that is no round: a function of what was published. last: the person's last arm, or NULL
arm_beyond <- function(agent, offer, last, pulls) {
  offer <- offer %||% seq_along(pulls)
  winner <- agent$life$winner
  if (winner %in% offer) return(winner)
  if (agent$life$then != "go") return(leader(agent, offer))
  if (!is.null(last) && last %in% offer) as.integer(last) else offer[which.max(pulls[offer])]
}

abort_ended <- function() {
  abort_dpts(paste("The agent has ended: it chooses no more. `agent_finish(agent, \"verdict\")` makes it",
                   "give the winner's arm to everyone."), c("dpts_error_ended", "dpts_error_input"))
}

# The last round was played, or the operator says so: from now on choices are no rounds. finish: is what is
# open released now? Who wins is known after that.
end_life <- function(agent, tx, then, finish = FALSE) {
  finish <- finish && !agent$life$finished
  agent$life$then <- then
  if (is.na(agent$life$ended)) agent$life$ended <- tx$now
  if (!finish) agent$life$winner <- winner(agent)
  note_events(tx, "end", list(t = NA_real_, arm = agent$life$winner))
  if (finish) finish_life(agent, tx)
}

# What a change ends with: at the horizon the agent ends by itself, and once no reward is awaited any more,
# what is open is released.
settle_life <- function(agent, tx) {
  horizon <- agent$terms$horizon
  if (agent$life$then == "go" && !is.null(horizon) && sum(session_pulls(agent$session)) >= horizon) {
    end_life(agent, tx, "verdict") # the reward of the last round, which was chosen just now, is out
  } else if (agent$life$then != "go" && !agent$life$finished && sum(agent$outstanding) == 0 &&
             !outcomes_wait(agent, tx)) {
    finish_life(agent, tx)
  }
}

# The final release, once, and no reward is kept: a ticket that is still open is resolved without one, and a
# reward that waits for its deadline is not used.
finish_life <- function(agent, tx) {
  before <- session_arms(agent$session)$releases
  if (!agent$over) session_finish(agent$session)
  new <- session_arms(agent$session)$releases - before
  new[is.na(new)] <- 0
  note_events(tx, rep("release", sum(new)), list(t = rep(NA_real_, sum(new)), arm = rep(seq_along(new), new)))
  kept <- if (agent$terms$keep_rewards) "open" else if (agent$silent) "all" else "rewards"
  rows <- as_of_now(agent$store$kept(kept), tx)
  settled <- rows$status %in% TICKET[c("used", "missing")]
  if (!is.null(agent$terms$window)) {
    forget_answers(agent, tx, 0L, rows$t[rows$status == TICKET[["waiting"]]], always = TRUE)
  }
  tx$resolved <- NULL # what was resolved in this change is among these rows
  note_resolved(tx, rows$ticket,
                ifelse(settled & (!agent$silent | agent$terms$keep_rewards), rows$status, TICKET[["done"]]),
                ifelse(settled & agent$terms$keep_rewards, rows$reward, NA_real_))
  agent$outstanding[] <- 0
  agent$open <- new.env()
  tx$find_next_due <- tx$forgotten <- TRUE
  agent$life$finished <- TRUE
  agent$life$winner <- winner(agent)
  note_events(tx, "finish", list(t = NA_real_, arm = agent$life$winner))
}
