# A problem as it is played in a call: the arms, the horizon, and what else decides what happens
# besides the policy.

new_problem <- function(arms, horizon, ...) {
  structure(list(arms = arms, horizon = horizon, ...), class = "dpts_problem")
}

#' @export
describe_thing.dpts_problem <- function(x) {
  paste0(describe_thing(x$arms), ", T = ", label_count(x$horizon), label_late("delay", x$delay, 0),
         label_late("batch", x$batch, 1))
}

#' @export
hint_differs.dpts_problem <- function(x) "Name the problems: `rbind(easy = x, hard = y)`."

# ", delay 10": what is not as usual
label_late <- function(name, value, usual) {
  if (is.null(value) || identical(as.double(if (is.function(value)) NA else value), usual)) return("")
  shown <- if (is.function(value)) "random" else
    if (length(value) > 1) paste(range(value), collapse = " to ") else label_count(value)
  paste0(", ", name, " ", shown)
}

# "100 rounds late, learned every 7 rounds": when rewards are learned, if not at once
words_late <- function(delay, batch) {
  if (is.null(delay)) return(NULL)
  by <- if (is.function(delay)) "at random, by a function" else if (length(delay) > 1) {
    sprintf("%s rounds late, at random", paste(label_count(range(delay)), collapse = " to "))
  } else if (delay > 0) {
    paste(count_noun(delay, "round", "rounds"), "late")
  }
  parts <- c(by, if (batch > 1) sprintf("learned every %s rounds", label_count(batch)))
  if (length(parts)) c("Rewards" = paste(parts, collapse = ", "))
}

# Does it hold functions, whose definition is that of the moment?
holds_functions <- function(x) {
  if (is.list(x)) for (part in unclass(x)) if (holds_functions(part)) return(TRUE)
  is.function(x)
}
