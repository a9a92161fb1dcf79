# Kinds of evidence: the stopping rules of src/policy_evidence.c, by name. Each entry is a list of
#   fits(design)    NULL if the rule is proved for releases of this design, or why not, said of the policy
#   bounds(design)  does it give intervals there?
#   drifts          does it hold if means change?
#   by_block        is a block evidence only if it is whole in all its arms?
#   rates           is there evidence against a known rate?
# A design is what release_design() returns. The first rule that fits gives a policy's verdicts: live, in
# plans and from what was released.
EVIDENCE <- list(
  tosses = list(
    fits = function(design) if (!design$tosses) "does not randomise people to arms",
    bounds = function(design) !design$permuted, drifts = TRUE, by_block = TRUE, rates = TRUE
  ),
  means = list(
    fits = function(design) {
      if (design$residuals) return("releases residuals, and arms have no mean residual")
      if (design$strata > 1) return("has strata, whose means differ")
      if (isTRUE(design$per_person > 1)) "has several rewards of a person, whose means differ from others'"
    },
    bounds = function(design) TRUE, drifts = FALSE, by_block = FALSE, rates = TRUE
  )
)

# The rule for releases of a design, or for intervals from them: the first of some kinds that fits, or NULL
evidence_kind <- function(design, bounds = FALSE, among = names(EVIDENCE)) {
  for (kind in among) {
    rule <- EVIDENCE[[kind]]
    if (is.null(rule$fits(design)) && (!bounds || rule$bounds(design))) return(kind)
  }
}

# How a policy with k arms releases. `floor`: the least probability of either arm, given that it is one of a
# pair; 0: people are not tossed. `correlation`: of an arm's next release with the last. `residuals`: are sums
# of rewards less predictions, clipped to predicted_low and predicted_high?
release_design <- function(policy, k, strata = 1, grows = FALSE) {
  tosses <- tosses_people(policy)
  predicted <- predictions_of(policy)
  list(strata = strata, tosses = tosses, permuted = tosses && unwrapped(policy)$params$permuted > 0,
       floor = toss_floor(policy, k, grows), correlation = correlation_of(policy),
       residuals = !is.null(predicted), centre = right_residual(predicted[1] %||% NA, predicted[2] %||% NA),
       predicted_low = predicted[1] %||% NA, predicted_high = predicted[2] %||% NA)
}

# Evidence of one run by a rule, from releases with the columns of WEIGHED (R/releases.R)
# `threshold`: of a verdict, Inf: there is to be none; `interval`: of the lower bounds; `risk`: error
#   probability that is given to correlated noise; `rate`: that each arm is compared with, NA: with each other
# `memory`: as weighing_memory() makes it, or NULL. If what was weighed last by the same question is the
#   beginning of these releases, only the others are weighed
# Returns list(pair, lower, estimate): see src/r_evidence.c
weigh_releases <- function(k, table, kind, design, margin = 0, threshold = Inf, interval = Inf, risk = 0,
                           rate = NA_real_, memory = NULL) {
  ask <- c(list(kind = kind, margin = margin, threshold = threshold, interval = interval, risk = risk,
                rate = rate, running = !EVIDENCE[[kind]]$drifts),
           design[c("floor", "permuted", "centre", "strata")])
  if (is.null(memory)) return(.Call(C_evidence, k, table, ask, NULL, Inf))
  question <- list(k, ask)
  same <- vapply(memory$weighed, function(old) identical(old$question, question), NA)
  old <- c(memory$weighed[same], list(NULL))[[1]]
  if (!is.null(old) && !begins_with(table, old$table)) old <- NULL
  found <- old$found
  if (is.null(found) || found$rows < nrow(table)) {
    found <- .Call(C_evidence, k, table, ask, found, memory$seconds)
    now <- list(question = question, table = table, found = found)
    memory$weighed <- utils::tail(c(memory$weighed[!same], list(now)), MOST_WEIGHED)
    if (found$rows < nrow(table)) rlang::signal("", "dpts_more_to_weigh")
  }
  found
}

# What was weighed last, of so many questions. `seconds`: after so many the rest is left for the next call: a
# condition of class dpts_more_to_weigh says so
weighing_memory <- function() list2env(list(weighed = list(), seconds = Inf), parent = emptyenv())

MOST_WEIGHED <- 4

# Are these the first releases of the table, up to the end of a look?
begins_with <- function(table, first) {
  n <- nrow(first)
  n > 0 && n <= nrow(table) && identical(table[seq_len(n), , drop = FALSE], first) &&
    (n == nrow(table) || table[n + 1, "look"] > table[n, "look"])
}

# A difference between arms in the sums that a policy releases, over that between their rewards: it is smaller
# in bits, and in residuals on their scale
gap_of_sums <- function(policy) (1 - 2 * flip_of(policy)) / (1 + sum(diff(predictions_of(policy))))

tosses_people <- function(policy) is_true_of(policy, "by_tosses")

# The correlation of an arm's releases, 0 where each has noise of its own
correlation_of <- function(policy) {
  policy <- unwrapped(policy)
  if (inherits(policy, "dpts_policy_compiled")) 0 else policy$params$correlation %||% 0
}
