# The guarantee in plain language, for a protocol or a data protection officer.

#' State a guarantee in words
#'
#' `privacy_statement()` describes who is protected, from whom, and how much can be learned about them at
#' most. It says what is published and what is assumed. Use it for a study protocol, a register of processing
#' or a page for participants.
#'
#' @details
#' The bound in words is about a guess between two values of one reward that are equally likely beforehand;
#' for people with several rewards ([privacy_group()], `max_per_person` of [dpts_agent()]) it is about a guess
#' between two sequences of all of them.
#' The guess is correct with probability at most (e^epsilon + delta) / (1 + e^epsilon) under
#' (epsilon, delta)-DP, and at most Phi(mu / 2) under mu-GDP. Without privacy it may always be correct; if
#' nothing is published it is correct with probability 1/2.
#'
#' A guarantee in epsilon is read in mu, too. Pure epsilon-DP implies mu-GDP with the same bound on the guess.
#' (epsilon, delta)-DP implies no mu; what is named is the largest mu of Gaussian noise that keeps it. The two
#' differ: (1, 1e-6)-DP allows 74 correct guesses in 100, and noise of 0.236-GDP, which keeps it, 55.
#'
#' @param x A policy, a guarantee or a budget, or a named list of them; an agent; or a result of [dpts_plan()]
#'   or [dpts_replay()].
#' @param horizon Number of rounds (people): a whole number. Needed if the guarantee depends on it.
#' @param ... Not used; later arguments must be named.
#' @param arms Number of arms: a whole number.
#' @param delta The probability, in (0, 1), with which epsilon may be exceeded; used if epsilon depends on it.
#' @param format `"text"`, or `"json"` for a registry of deployments.
#' @returns A character vector of class `dpts_statement`: one element for each paragraph, named by its
#'   heading. It prints in 80 columns; `as.character()` gives the text alone.
#'
#'   With `format = "json"` a string of class `json`, an array with an object for each policy or guarantee. In
#'   brackets are the sections of the Differential Privacy Deployments Registry in which the fields belong:
#'   * `subject`, `software` \[product\], and `mechanism`, the call that makes the policy \[implementation\];
#'   * `flavor`: the kind of differential privacy, such as Gaussian (`null`: none) \[dp_flavor\];
#'   * `trust_model`: `"central"`, or `"local"` if outcomes are randomised before they are collected; then
#'     `release_type` (of a budget `null`), and `published`, what is released \[model\];
#'   * `unit`: `"reward"` or `"person"`; `rewards_per_person` (`null`: not limited); `outcomes` of an agent
#'     with several; `neighbours` \[privacy_loss\];
#'   * `guarantee`: `text`, `mu`, `epsilon` at `delta`, `pure_epsilon`, and `guess`, the highest probability
#'     of a correct guess (`null`: there is no limit) \[privacy_loss\];
#'   * `accountant`: the one that proves this epsilon, over all releases \[accounting\];
#'   * `statement`: the paragraphs of the text.
#'
#'   The registry asks for more that dpts does not know: who curates the data, for what, where and when, and
#'   why these parameters were chosen.
#'
#'   Package jsonlite writes it.
#' @references Nanayakkara, P., Ghazi, E. and Vadhan, S. (2025). Practitioners' Perspectives on a Differential
#'   Privacy Deployment Registry. arXiv:2509.13509.
#' @seealso [dpts_privacy()] has the numbers, [privacy_pure()] the budgets, the glossary
#'   (`vignette("glossary", "dpts")`) the words.
#' @concept privacy
#' @examples
#' privacy_statement(policy_randomised(mu = 0.5))
#' privacy_statement(policy_ucb1())
#' @export
privacy_statement <- function(x, ...) UseMethod("privacy_statement")

#' @rdname privacy_statement
#' @export
privacy_statement.default <- function(x, horizon = NULL, ..., arms = 2, delta = 1e-6,
                                      format = c("text", "json")) {
  check_given(x)
  check_dots_empty(...)
  json <- check_statement_format(format)
  guarantees <- check_guaranteed(x)
  if (!is.null(horizon)) horizon <- check_count(horizon)
  arms <- check_count(arms, 2)
  delta <- check_number(delta, 0, 1, open = TRUE)
  needy <- names(Filter(needs_end, guarantees))
  if (is.null(horizon) && length(needy)) {
    abort_arg("horizon", sprintf("given: what \"%s\" guarantees depends on it", needy[1]))
  }
  at <- conditions(horizon %||% Inf, arms)
  policies <- if (is_policy(x)) list(x) else if (inherits(x, "dpts_guarantee")) list(NULL) else
    if (inherits(x, "dpts_result")) policies(x) else unclass(x)
  parts <- Map(function(name, guarantee, policy) {
    what <- if (is_policy(policy)) format(policy) else sprintf("a guarantee, %s", format(guarantee))
    if (length(guarantees) > 1 && !startsWith(what, name)) what <- sprintf("\"%s\": %s", name, what)
    when <- if (!is.null(horizon)) sprintf(", %s", count_noun(horizon, "person", "people"))
    statement(paste0(what, when), guarantee, if (is_policy(policy)) policy, privacy_curve(guarantee, at),
              delta, at)
  }, names(guarantees), guarantees, policies)
  new_statement(parts, json)
}

#' @rdname privacy_statement
#' @export
privacy_statement.dpts_agent <- function(x, ..., delta = 1e-6, format = c("text", "json")) {
  check_agent(x)
  check_dots_empty(...)
  json <- check_statement_format(format)
  delta <- check_number(delta, 0, 1, open = TRUE)
  terms <- x$terms
  most <- terms$max_per_person
  restored <- agent_standing(x)$restored
  guarantee <- ledger_guarantee(terms, most %||% 1, 1 + restored)
  curve <- agent_curve(x, if (is.null(most)) "reward" else "person")
  name <- if (is.null(terms$name)) "the experiment" else sprintf("experiment \"%s\"", terms$name)
  what <- sprintf("%s, by %s", name, format(terms$policy))
  said <- statement(what, guarantee, terms$policy, curve, delta, ledger_conditions(terms), terms)
  if (restored > 0 && !promises_nothing(guarantee)) {
    said["What is published"] <- sprintf(
      "%s After %s to an old copy of the store an outcome may be in more sums; this is counted below.",
      said["What is published"], count_noun(restored, "return"))
  }
  others <- names(terms$outcomes)
  if (length(others) && !promises_nothing(guarantee)) {
    said["Who is protected"] <- sprintf(
      "%s So are the other outcomes, %s, and when and whether they came: the guarantee is for all together.",
      said["Who is protected"], words_list(others))
  }
  said["What is kept"] <- words_kept(terms)
  new_statement(list(said), json)
}

# What is stored of people beside what is published, and for how long
words_kept <- function(terms) {
  persons <- if (is.null(terms$max_per_person)) "" else sprintf(
    paste("Persons are told apart by a keyed hash, until %s after the end or until they are erased; who",
          "was erased and comes again counts as somebody new. "), format_seconds(keeps_persons(terms)))
  sprintf(paste(
    "The store has the arm, time and ticket of each choice, and its %s%s. Keys of calls are kept for",
    "%s, and until the outcome is resolved. %sWhoever can read the store, or has a ticket and may report,",
    "can learn of outcomes before their release. Backups, replicas and a database's own log files keep what",
    "they got; requests to a service come from addresses and at times that servers before it may log."),
    if (is.null(predictions_of(terms$policy))) "outcome" else "prediction and outcome",
    if (terms$keep_rewards) ", also after its release" else " until it is in a released sum",
    format_seconds(terms$retention %||% 86400), persons)
}

# Is JSON asked for?
check_statement_format <- function(format) {
  json <- check_choice(format, c("text", "json")) == "json"
  if (json) rlang::check_installed("jsonlite", "to write a statement as JSON")
  json
}

# `parts`: Of statement()
new_statement <- function(parts, json = FALSE) {
  texts <- lapply(unname(parts), `attr<-`, "facts", NULL)
  if (!json) return(structure(do.call(c, texts), class = "dpts_statement"))
  facts <- Map(function(part, text) c(attr(part, "facts")(), list(statement = as.list(text))), unname(parts),
               texts)
  jsonlite::toJSON(facts, auto_unbox = TRUE, pretty = TRUE, null = "null", digits = NA)
}

#' @export
format.dpts_statement <- function(x, width = min(getOption("width"), 80), ...) {
  width <- check_width(width)
  text <- paste0(names(x), ": ", x)
  of <- names(x) == "Of"
  # What is the same of several is said once, at the end.
  same <- sum(of) > 1 & table(text)[text] == sum(of)
  lines <- Map(function(heading, text) {
    c(if (heading) "", strwrap(text, width, exdent = 2))
  }, c(of[!same], if (any(same)) TRUE, of[same & !duplicated(text)]),
  c(text[!same], if (any(same)) "Of: all of these", text[same & !duplicated(text)]))
  unlist(lines, use.names = FALSE)[-1]
}

#' @export
print.dpts_statement <- function(x, ...) {
  cat("<privacy statement>", format(x), sep = "\n")
  invisible(x)
}

#' @export
as.character.dpts_statement <- function(x, ...) as.vector(unclass(x))

# ---- paragraphs -----------------------------------------------------------------------------

# `curve`: Epsilon as a function of delta, see privacy_curve().
# `terms`: The terms of an agent, or NULL
statement <- function(what, guarantee, policy, curve, delta, at, terms = NULL) {
  protected <- if (promises_nothing(guarantee)) {
    "Nobody. There is no guarantee: what is published may reveal every person's reward."
  } else words_protected(guarantee, terms)
  said <- c("Of" = what, "Who is protected" = protected)
  published <- c("What is published" = words_published(guarantee, policy))
  said <- if (promises_nothing(guarantee)) c(said, published) else {
    c(said, "From whom" = words_from(guarantee), published,
      "What is assumed" = words_assumed(guarantee, policy, terms),
      "What is guaranteed" = words_promised(guarantee, curve, delta, at, terms$window),
      if (is.null(most_rewards(guarantee, terms))) c("Who comes often" = words_often(guarantee, at, curve)))
  }
  structure(said, facts = function() statement_facts(what, guarantee, policy, curve, delta, at, terms))
}

# What a register asks for, as values; `at`: conditions() of the statement
statement_facts <- function(what, guarantee, policy, curve, delta, at, terms) {
  finite <- function(x) if (!is.null(x) && is.finite(x)) x # JSON knows no infinite number
  most <- most_rewards(guarantee, terms)
  flavor <- if (is.finite(curve(0))) "pure" else if (!is.null(form(guarantee, "mu", at))) "Gaussian" else
    switch(guarantee$kind, zcdp = "zero-concentrated", rdp = "R\u00e9nyi", "approximate")
  list(subject = what, software = paste("dpts", utils::packageVersion("dpts")),
       mechanism = if (!is.null(policy)) format(policy),
       flavor = if (!promises_nothing(guarantee)) paste(flavor, "differential privacy"),
       trust_model = if (guarantee$published == "bits") "local" else "central",
       release_type = if (guarantee$published != "release") "many releases", # of a budget it is not known
       published = words_published(guarantee, policy),
       unit = if (isTRUE(most > 1)) "person" else "reward", rewards_per_person = most,
       outcomes = if (!is.null(terms$outcomes)) I(c("reward", names(terms$outcomes))),
       neighbours = words_neighbours(guarantee, most, names(terms$outcomes)),
       guarantee = list(text = format(guarantee), mu = finite(form(guarantee, "mu", at)),
                        epsilon = finite(curve(delta)), delta = delta, pure_epsilon = finite(curve(0)),
                        guess = finite(guess_chance(curve))),
       accountant = if (!promises_nothing(guarantee)) attr(curve, "best")(delta))
}

# `most`: rewards of a person, NULL or 1: of one reward; `others`: other outcomes
words_neighbours <- function(guarantee, most, others) {
  words <- neighbour_words[[guarantee$neighbours]]
  paste0(if (isTRUE(most > 1)) sprintf(words$several, label_count(most)) else words$sentence,
         if (length(others)) {
           sprintf(", and in the other outcomes of the same %s (%s), replaced by any values",
                   if (isTRUE(most > 1)) "visits" else "visit", words_list(others))
         })
}

# How often a person may come where nothing limits it
OFTEN <- c(1, 10, 100)

words_often <- function(guarantee, at, curve) {
  chance <- guess_often(guarantee, at, curve)
  times <- vapply(chance, function(x) times_words(x) %||% "possibly every time", "")
  sprintf(paste("Nothing limits how often a person comes. All outcomes of a person together are guessed",
                "correctly %s if there is one, %s if there are 10, and %s if there are 100. `max_per_person`",
                "of dpts_agent() sets a limit."),
          times[1], times[2], times[3])
}

# The largest probability of a correct guess between two sequences of all outcomes of a person who comes as
# often as OFTEN says, NA: nothing is guaranteed. `curve`: of one outcome
guess_often <- function(guarantee, at, curve) {
  at <- guarantee$at %||% at
  vapply(OFTEN, function(k) {
    if (k == 1) return(guess_chance(curve))
    # Bits of local privacy are a release each.
    group <- if (guarantee$published == "bits") apart_of(guarantee, k) else group_of(guarantee, k)
    # (The sharper accountants of draws take seconds for each.)
    mu <- form(group, "mu", at)
    if (!is.null(mu) && is.null(form(group, "epsilon", at))) stats::pnorm(mu / 2) else
      guess_chance(privacy_curve(group, at))
  }, 0)
}

words_protected <- function(guarantee, terms) {
  several <- isTRUE(most_rewards(guarantee, terms) > 1)
  residual <- guarantee$neighbours == "predicted"
  values <- sprintf("[%s]", paste(vapply(terms$range %||% c(0, 1), number_text, ""), collapse = ", "))
  when <- if (is.null(terms)) "when" else if (terms$use == "deadline") {
    "when. When an outcome came, and whether it came at all, is as protected as its value"
  } else "when, and when and whether an outcome came"
  switch(
    guarantee$neighbours,
    reward = , public_context = , public_prediction = , predicted = paste0(
      if (several) "All outcomes of a person (the rewards)" else "Each person's outcome (the reward)",
      if (residual) " and the prediction that came with each choice", if (several) " together",
      if (several || residual) ": whichever values of " else ": whichever value of ", values,
      if (several || residual) " they were" else " it was",
      ". Not protected are which arm a person got, that the person took part, and ", when,
      switch(guarantee$neighbours, public_context = ". Contexts are taken as public",
             public_prediction = ". Predictions are taken as public"), "."
    ),
    joint = paste("Each person's context and outcome, as seen by all others: what other people get reveals",
                  "little about them. A person's own arm depends on the person's own context, and anyone who",
                  "sees that arm may learn from it."),
    paste0("The guarantee is about ", neighbour_words[[guarantee$neighbours]]$sentence, ".")
  )
}

words_from <- function(guarantee) {
  everybody <- paste("From everybody who sees what is published, even if they know the method, its settings",
                     "and the outcomes of all other people")
  if (guarantee$published == "bits") {
    return(paste0(everybody,
                  "; also from those who run the policy: outcomes are randomised before they get them."))
  }
  paste0(everybody, ". Not from those who have outcomes before their release: those who report them, or who ",
         "can read the store.")
}

words_published <- function(guarantee, policy) {
  if (guarantee$published == "release") return("What was released, and all that is computed from it.")
  is <- function(name) !is.null(policy) && is_true_of(policy, name)
  local <- guarantee$published == "bits"
  once <- is("each_once")
  what <- c(
    if (guarantee$neighbours == "joint") "The arms of all other people" else "The arm of each person",
    if (is("knows_chances")) "the probabilities with which people were randomised to arms",
    if (local) "the random bits that stand for outcomes" else if (once) {
      paste0("noisy sums of outcomes", if (predicts(guarantee)) " less their predictions",
             ", each outcome in one of them, with the number of outcomes in each")
    } else if (is("releases")) "what the policy releases with its noise"
  )
  after <- if (local || once) {
    paste(": estimates, intervals, p-values, verdicts, the stopping time, and a final release of the open",
          "sums")
  }
  none <- if (!promises_nothing(guarantee)) ". No outcome is published, and no sum without its noise"
  paste0(words_list(what), "; and all that is computed from this", after, none, ".")
}

# How many rewards a person may have at most, NULL: one, and nothing was said of more
most_rewards <- function(guarantee, terms) terms$max_per_person %||% guarantee$size

predicts <- function(guarantee) guarantee$neighbours %in% c("predicted", "public_prediction")

words_assumed <- function(guarantee, policy, terms) {
  most <- most_rewards(guarantee, terms)
  others <- names(terms$outcomes)
  person <- if (is.null(most)) {
    sprintf("A person has one %s; who comes k times is protected as a group of k (privacy_group())",
            if (length(others)) paste("reward and one value of", words_list(others)) else "outcome")
  } else {
    sprintf("At most %s of a person are used, %s", count_noun(most, "outcome", "outcomes"),
            if ("apart" %in% c(guarantee$kind, guarantee$parts[[1]]$kind))
              "and no two of them are in one release" else "together")
  }
  window <- if (!is.null(terms$window)) sprintf(
    ". One outcome is all that a person says within %s, as its mean", format_seconds(terms$window))
  paste0(
    person, window, ". Outcomes lie in their range. The order of people, the available arms and ",
    if (is.null(terms) || terms$use != "deadline") "the times of outcomes " else "contexts ",
    "do not depend on outcomes. Settings were chosen without looking at the outcomes to be protected",
    if (needs_end(guarantee)) ", and the number of people is known in advance",
    if (predicts(guarantee)) paste0(
      ". A prediction is made of the person's own data from outside of the experiment and of what was ",
      "released",
      if (guarantee$neighbours == "predicted") "; nothing that is published follows it"),
    ". Noise and random numbers are secret: no seed is published",
    if (is.null(terms) && !is.null(policy))
      "; with people the policy is run by dpts_agent(), whose noise is exact", "."
  )
}

words_promised <- function(guarantee, curve, delta, at, window = NULL) {
  epsilon <- curve(delta)
  pure <- curve(0)
  plain <- is.finite(pure) && pure <= epsilon * 1.01
  said <- format(if (is_fixed(guarantee)) guarantee else settle(guarantee_stated(guarantee, at)), digits = 4)
  number <- if (!plain) sprintf("epsilon %s at delta %s", format_up(epsilon, 3), number_text(delta)) else
    if (!startsWith(said, paste0(format_up(pure, 4), "-"))) paste("epsilon", format_up(pure, 3))
  # Another accountant may prove less than the mu that is named.
  mu <- form(guarantee, "mu", at)
  sharper <- !is.null(mu) && !is.null(number) && epsilon < 0.999 * gdp_epsilon(mu, delta)
  both <- if (sharper) "; by a sharper accountant " else ": "
  several <- isTRUE(guarantee$size > 1)
  paste0("Differential privacy, ", paste(c(said, number), collapse = both), words_as_mu(guarantee, mu, plain),
         ". Suppose someone sees all of this and knows everything except one person's outcome",
         if (several) "s", if (guarantee$neighbours == "predicted") " and what was predicted",
         if (several) ", for which two possibilities are equally likely. " else
           ", of which two values are equally likely. ", guess_words(guess_chance(curve)), ".",
         if (several) words_of_one(guarantee[["part"]], at, window))
}

# The other reading of a person's guarantee: that of one of the outcomes, or of all within one window
words_of_one <- function(one, at, window) {
  if (is.null(one) || !is_fixed(one)) return(NULL)
  times <- times_words(guess_chance(privacy_curve(one, at)))
  sprintf(" Of one outcome alone%s the guarantee is %s%s.",
          if (is.null(window)) "" else sprintf(" (all of %s)", format_seconds(window)),
          format(one, digits = 4), if (is.null(times)) "" else paste(", and a guess is correct", times))
}

# The other reading of a guarantee in epsilon: the mu that it implies, or, where it has a delta and implies
# none, the mu of Gaussian noise that keeps it
words_as_mu <- function(guarantee, mu, plain) {
  if (plain && isTRUE(is.finite(mu) && mu > 0)) return(sprintf("; this implies %s-GDP", format_up(mu, 3)))
  if (guarantee$kind != "approx") return("")
  sprintf("; noise of %s-GDP keeps it", number_text(signif_to(most_mu(guarantee), 3, "down")))
}

# ---- a guess --------------------------------------------------------------------------------

# The largest probability that a guess between two equally likely values of one reward is correct:
# (e^epsilon + delta) / (1 + e^epsilon) under (epsilon, delta)-DP, at the delta where that is least; NA if
# nothing is guaranteed
guess_chance <- function(curve) {
  bound <- function(delta, epsilon = curve(delta)) (1 + delta * exp(-epsilon)) / (1 + exp(-epsilon))
  rough <- c(0, 1e-6, seq(0.05, 0.95, 0.1))
  epsilon <- curve(rough)
  if (all(epsilon == Inf)) return(NA_real_)
  found <- bound(rough, epsilon)
  min(found, bound(pmin(pmax(rough[which.min(found)] + seq(-0.1, 0.1, 0.01), 1e-6), 1)))
}

# A probability of a correct guess as "at most 60 times in 100": rounded up, and in 1,000 or more where it
# would be 100. NULL: it may be 1
times_words <- function(chance, of = 100) {
  if (is.na(chance) || chance > 1 - 1e-6) return(NULL)
  while (ceiling(of * chance) == of) of <- 10 * of
  most <- ceiling(of * chance - 1e-9)
  structure(sprintf("at most %s times in %s", words_whole(most), words_whole(of)), of = of)
}

guess_words <- function(chance) {
  times <- times_words(chance)
  if (is.null(times)) return("They may guess it correctly every time: the guarantee does not rule that out")
  of <- attr(times, "of")
  sprintf("They guess it correctly %s; a random guess is correct %s times in %s", times,
          words_whole(of / 2), words_whole(of))
}

# (A statement asks for the same epsilons several times.)
agent_curve <- function(agent, unit = "reward") {
  known <- remembering(function(delta) {
    known <- dpts_privacy(agent, delta = delta)
    known[known$unit == unit, ]
  })
  structure(function(delta) {
    known <- known(delta)
    vapply(delta, function(d) min(known$epsilon[known$delta == d]), 0)
  }, best = function(delta) {
    known <- known(delta)
    as.character(known$accountant)[which.min(known$epsilon)]
  })
}

# The least epsilon of all accountants that apply, as a function of deltas
privacy_curve <- function(guarantee, at) {
  at <- guarantee$at %||% at
  able <- accountants_of(guarantee, at)
  # With no end, the costs of rounds have no finite sum; the limit of a filter, or of a life, holds for ever.
  if (at$horizon == Inf && draws_cost(guarantee)) {
    able <- accountants_of_ledger(able, guarantee, has_horizon = FALSE)
  }
  each <- function(name, delta) account(guarantee, name, at, delta)
  structure(remembering(function(delta) least_epsilon(guarantee, at, delta, able)),
            best = function(delta) able[which.min(vapply(able, each, 0, delta))])
}
