# Guards: an arm is paused once an outcome proves that it is worse than the control.

# Other outcomes that are due are released, and guards that have something new to read act.
settle_outcomes <- function(agent, tx) {
  release_outcomes(agent, tx)
  seen <- tx$guarded %||% 0
  tx$guarded <- NROW(agent$fresh)
  for (h in unique(agent$fresh[seq_len(tx$guarded) > seen, 1])) {
    if (is.null(agent$terms$outcomes[[h]]$guard) || agent$life$then != "go") next
    worse <- to_pause(agent_record(agent, h), agent$terms$outcomes[[h]], agent$terms$policy$params$control,
                      which(agent$life$status == ARM[["active"]]))
    if (!length(worse)) next
    one <- length(worse) == 1
    said <- sprintf("Outcome \"%s\" proves that %s %s worse than the guard of %s allows: %s paused.",
                    names(agent$terms$outcomes)[h], words_list(agent$terms$arms[worse]),
                    if (one) "is" else "are", number_text(agent$terms$outcomes[[h]]$guard),
                    if (one) "it is" else "they are")
    tx$alarm <- paste(c(tx$alarm, said), collapse = " ") # of other outcomes in the same call, too
    note_events(tx, rep("guard", length(worse)), list(t = rep(h, length(worse)), arm = worse))
    # Who operates now did not do this, nor for the reason that is given.
    set_status(agent, tx, list(pause = worse), reason = NULL)
  }
}

# The arms that a guard pauses now: those of the active ones that are proved to be worse than the control,
# unless these are all
to_pause <- function(record, outcome, control, active) {
  worse <- intersect(proved_worse(record, outcome, control), active)
  if (length(worse) < length(active)) worse else integer()
}

# The arms that are proved to be worse than the control by the releases of an outcome so far: after any of the
# blocks that were released last, since several may be at once. `record`: of the outcome; `control`: its
# number
proved_worse <- function(record, outcome, control) {
  control <- match(control, record$arms)
  if (is.na(control)) return(integer()) # it was retired: there is nothing to weigh
  found <- record_evidence(record, "tosses", margin = -outcome$guard / record$width)
  n <- nrow(found$pair)
  if (n == 0) return(integer())
  pairs <- ordered_pairs(record$k)
  sides <- if (outcome$worse == "more") pairs[c("arm", "rival")] else pairs[c("rival", "arm")]
  at <- which(sides[[2]] == control)
  arm <- sides[[1]][at]
  now <- found$pair[found$t == found$t[n], pairs$column[at], drop = FALSE]
  record$arms[arm[apply(now, 2, max) >= -log(outcome$error * record$share[arm])]]
}
