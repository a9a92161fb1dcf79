# A guarantee is a statement that holds under conditions. It is data, kept in the policy: a kind, its
# numbers, which inputs are neighbours, and what is published. The conditions (horizon, arms, delay, pools,
# replay) come with the question for an epsilon; see conditions(). Accountants (R/privacy-accountant.R) read
# the forms of a guarantee, below, and never a policy.
#
# A kind is one constant list `kind_NAME` of functions, in any file; nothing in this file knows which there
# are. Its entries, all but `words` and `sentences` optional:
#   like        the name of another kind, whose entries and forms it has where it has none of its own
#   forms       what it says in the terms of accountants: functions of (guarantee, at), by name
#   conditions  for a guarantee that holds another one as `part`, in place of forms: the conditions
#               under which the part is read, a function of (guarantee, at)
#   words       in short, a function of (guarantee, digits); `sentences`: at length
#   fixed       does it hold for every horizon and number of arms? A function of the guarantee
#   largest     as a budget: the largest epsilon of pure DP and the largest mu that imply it
#   inside      does a guarantee imply this one, by a form of both? A function of (guarantee, budget, at)
#   targets     as a target of calibration: itself, then weaker statements; a function of (guarantee, delta)
#   group       the guarantee for people with k rewards, if it is not of kind "group"
#   together    several fixed ones of this kind as one; `times`: k rewards of a person as one; for printing
#   paid        the guarantee at the time when its filter has charged a given mu^2
#   flat        TRUE: epsilon is the same at every delta
#   composes    TRUE: it is the composition of several releases
#
# Forms. One that a kind does not have is NULL. `at` are the conditions.
#   epsilon   pure DP: a number
#   mu        Gaussian DP of the whole run: a number
#   rdp       Rényi DP: a number rho for the line rho alpha, or a function of alpha
#   pair      the dominating pair, exactly: see R/privacy-pair.R
#   rounds    GDP rounds one by one: list(mu, rounds)
#   sequence  what the arms alone leak: list(rdp = function(alpha), epsilon = function(delta))
#   near      GDP up to nu: list(least, free, mu = function(nu, ...)): mu for a nu of at least `least`; if
#             `free`, mu falls with nu, and nu must be more than that
#   direct    what the arms alone leak, straight in epsilon and delta: function(delta)
#   lower     an epsilon that an explicit adversary achieves: function(delta)
#   curve     epsilon as a function of delta

new_guarantee <- function(kind, ..., neighbours = "reward", published = "arms") {
  structure(list(kind = kind, ..., neighbours = neighbours, published = published), class = "dpts_guarantee")
}

# A guarantee around another one
guarantee_around <- function(kind, part, ...) {
  new_guarantee(kind, part = part, ..., neighbours = part$neighbours, published = part$published)
}

kind_of <- function(guarantee) kind_called(guarantee$kind)

kind_called <- function(name) {
  kind <- get(paste0("kind_", name), topenv(), mode = "list")
  if (is.null(kind$like)) kind else utils::modifyList(kind_called(kind$like), kind)
}

form <- function(guarantee, what, at) {
  kind <- kind_of(guarantee)
  if (!is.null(kind$conditions)) return(form(guarantee$part, what, kind$conditions(guarantee, at)))
  read <- kind$forms[[what]]
  if (is.null(read)) NULL else read(guarantee, at)
}

is_fixed <- function(guarantee) {
  fixed <- kind_of(guarantee)$fixed
  !is.null(fixed) && fixed(guarantee)
}

# Does every draw of the policy cost something, so that what is spent grows with the rounds?
draws_cost <- function(guarantee) {
  if (!is.null(form(guarantee, "rounds", conditions(Inf)))) return(TRUE)
  parts <- c(guarantee$parts, if (!is.null(guarantee[["part"]])) list(guarantee[["part"]]))
  any(vapply(parts, draws_cost, NA))
}

# Does it hold what is the composition of several releases about a person?
composes <- function(guarantee) {
  isTRUE(kind_of(guarantee)$composes) || any(vapply(guarantee$parts, composes, NA))
}

# Does what is lost grow with the rounds, without a limit, so that a horizon must be known?
needs_end <- function(guarantee) {
  !is_fixed(guarantee) && !is.finite(form(guarantee, "mu", conditions(Inf)) %||% Inf)
}

# ---- nothing --------------------------------------------------------------------------------

guarantee_none <- function() new_guarantee("none")

promises_nothing <- function(guarantee) identical(guarantee$kind, "none")

kind_none <- list(
  fixed = function(g) TRUE,
  words = function(g, digits) "none",
  sentences = function(g, digits) "There is no guarantee: what is published may reveal every reward."
)

# What carries a guarantee: policies, releases, agents (`$guarantee` or an attribute)
as_guarantee <- function(x, arg) {
  own <- if (inherits(x, "dpts_guarantee")) x else attr(x, "guarantee") %||% if (is.list(x)) x[["guarantee"]]
  if (!inherits(own, "dpts_guarantee")) {
    abort_arg(arg, "a policy, a budget, the result of a mechanism, or a guarantee", x,
              hint = if (inherits(x, "dpts_result")) "`policies()` of a result is the list of its policies.")
  }
  own
}

# The function of a guarantee that depends on the run. It holds only constants and finds all else in the
# package, so that policies made by equal calls are equal.
guarantee_function <- function(args, body) {
  rlang::new_function(stats::setNames(rep(list(quote(expr = )), length(args)), args), body, env = topenv())
}

# The conditions of a statement
#
# `horizon`: Rounds, or the events that a replay reads.
# `delay`: Rounds until a reward comes. Guarantees are for every delay; it is stated.
# `pools`: May an arm be off offer?
# `source`: `"live"` (simulations are alike), `"replay"`: a rejection replay on a log
#   whose arms are known, or `"secret"`: one whose arms are uniform, secret and independent of
#   all else.
conditions <- function(horizon, arms = 2, delay = 0, pools = FALSE, source = "live") {
  list(horizon = horizon, arms = arms, delay = delay, pools = pools, source = source)
}

# ---- words ----------------------------------------------------------------------------------
# Text is computed when it is printed and not stored, so that a guarantee does not depend on options.

# `digits`: significant digits, rounded up
#' @export
format.dpts_guarantee <- function(x, digits = 5, ...) kind_of(x)$words(x, check_digits(digits))

# The sentences of a guarantee: what is published, the numbers, the neighbours, the conditions
guarantee_sentences <- function(x, digits = 5) kind_of(x)$sentences(x, digits)

#' @export
print.dpts_guarantee <- function(x, digits = 5, ...) {
  cat("<guarantee> ", format(x, digits = digits), "\n", sep = "")
  cat(strwrap(guarantee_sentences(x, digits), width = getOption("width"), exdent = 2), sep = "\n")
  invisible(x)
}

# Which inputs are neighbours: what follows epsilon in short, and in a sentence; `several`: of a person with
# up to %s rewards
neighbour_words <- list(
  reward = list(suffix = "-DP",
                sentence = "streams that differ in one reward, replaced by any value of [0, 1]",
                several = paste("streams that differ in up to %s rewards of one person, each replaced by any",
                                "value of [0, 1]")),
  public_context = list(
    suffix = "-DP for rewards (contexts public)",
    sentence = paste("streams that differ in one reward, replaced by any value of [0, 1],",
                     "with public contexts"),
    several = paste("streams that differ in up to %s rewards of one person, each replaced by any value of",
                    "[0, 1], with public contexts")
  ),
  public_prediction = list(
    suffix = "-DP for rewards (predictions public)",
    sentence = paste("streams that differ in one reward, replaced by any value of [0, 1],",
                     "with public predictions"),
    several = paste("streams that differ in up to %s rewards of one person, each replaced by any value of",
                    "[0, 1], with public predictions")
  ),
  predicted = list(
    suffix = "-DP for rewards and predictions",
    sentence = "streams that differ in the reward and the prediction of one person, replaced by any values",
    several = paste("streams that differ in up to %s rewards and predictions of one person, replaced by any",
                    "values")
  ),
  joint = list(
    suffix = "-joint-DP for rewards and contexts",
    sentence = paste("streams that differ in the context and reward of one round, both in [0, 1],",
                     "as seen by all other rounds"),
    several = paste("streams that differ in the contexts and rewards of up to %s rounds of one person, all",
                    "in [0, 1], as seen by all other rounds")
  ),
  own_arm = list(
    suffix = "-DP for rewards, and for contexts given the round's own arm",
    sentence = paste("streams that differ in one reward, or in one context if that round's own",
                     "arm is the same, all in [0, 1]"),
    several = paste("streams that differ in up to %s rewards of one person, or in the contexts of as many",
                    "rounds whose own arms are the same, all in [0, 1]")
  ),
  input = list(suffix = "-DP", sentence = "inputs that differ by at most the sensitivity stated",
               several = "inputs that differ up to %s times by at most the sensitivity stated")
)

published_words <- c(arms = "The sequence of arms", release = "What is released",
                     bits = "All that the policy sees of rewards, and so the sequence of arms,")

# "0.5-DP", "0.5-GDP for rewards (contexts public)"
short_words <- function(x, number, what, digits) {
  suffix <- sub("DP", what, neighbour_words[[x$neighbours]]$suffix, fixed = TRUE)
  paste0(format_up(number, digits), suffix)
}

anywhere <- "whatever the delay of rewards and whichever arms are available"

# "The sequence of arms is `says` for streams that differ in one reward"
publishes <- function(x, says) {
  paste0(published_words[[x$published]], " is ", says, " for ", neighbour_words[[x$neighbours]]$sentence)
}

# The sentence of a statement about the whole run
sentence_whole <- function(x, says) {
  if (!x$published %in% c("arms", "bits")) return(paste0(publishes(x, says), "."))
  paste0(publishes(x, says), ": over the whole run, ", anywhere, ".")
}

# The sentence of a statement whose `number` depends on the horizon
sentence_growing <- function(x, says, number) {
  paste0(publishes(x, says), ", with ", number, " that grows with the horizon, which must be known in ",
         "advance: ", anywhere, ". dpts_privacy() gives it.")
}

named_parts <- function(parts) {
  label <- names(parts) %||% rep("", length(parts))
  ifelse(nzchar(label), paste0(label, ": "), "")
}
