# Accountants: the one table. An accountant reads the forms of a guarantee (R/privacy-guarantee.R) under
# conditions, never a policy. Each entry has
#   supports(guarantee, at)        TRUE, or in words why it does not apply
#   epsilon(guarantee, at, delta, ...)  upper bounds, one for each delta; `enough` is one that will do
#   shown(guarantee)               does dpts_privacy(accountant = NULL) show it where it applies?
#   ledger                         does an agent's ledger show it: "always", with a known "horizon", or
#                                  "never" (it says nothing new, or takes seconds, again and again)?
#   certifies                      what it can certify as a target of calibration: "gdp", "near_gdp"
#                                  (up to a nu), "approx"
#   start(goal, sampler, sharp)    the least variance scale of Gaussian Thompson sampling, by a faster way
#                                  than bisection; `step`: by how much to raise it if it is not inside
#   prepulls                       the multiple of sqrt(T ln(T)) / mu that pre-pulls are worth
#                                  (bench/prepulls.R)
# The order is that of the results, from the plain to the sharp.

accountant <- function(supports, epsilon, shown = function(guarantee) TRUE, ledger = "always",
                       certifies = character(), start = NULL, step = 1e-4, prepulls = NULL) {
  list(supports = supports, epsilon = epsilon, shown = shown, ledger = ledger, certifies = certifies,
       start = start, step = step, prepulls = prepulls)
}

accountants <- function() {
  list(
    pure = accountant(
      function(guarantee, at) {
        if (is.null(form(guarantee, "epsilon", at))) "it reads pure epsilon-DP alone" else TRUE
      },
      function(guarantee, at, delta, ...) rep(form(guarantee, "epsilon", at), length(delta))
    ),
    pld = accountant(
      function(guarantee, at) {
        pair <- form(guarantee, "pair", at)
        if (is.null(pair)) {
          "it reads guarantees of known trade-off, with at most 65,536 different sums of losses"
        } else if (is_gaussian(pair)) "\"gdp\" is its trade-off" else TRUE
      },
      function(guarantee, at, delta, ...) pair_epsilon(form(guarantee, "pair", at), delta),
      # The flat line is what a pure policy promises; its trade-off is for those who ask.
      shown = function(guarantee) !isTRUE(kind_of(unstated(guarantee))$plain), ledger = "never"
    ),
    gdp = accountant(
      supports_gaussian("mu", "it reads Gaussian DP"),
      function(guarantee, at, delta, ...) gdp_epsilon(form(guarantee, "mu", at), delta),
      certifies = c("gdp", "near_gdp", "approx"), start = start_gdp, step = 1e-15, prepulls = 2
    ),
    rdp = accountant(
      supports_gaussian("rdp", "it reads Renyi DP"),
      function(guarantee, at, delta, ...) {
        rdp <- form(guarantee, "rdp", at)
        if (is.numeric(rdp)) rdp_epsilon(rdp = rdp, delta = delta) else
          orders_epsilon(delta, rdp)
      },
      ledger = "never", certifies = "approx", start = start_rdp, step = 1e-15
    ),
    advanced = accountant(
      function(guarantee, at) {
        none <- is.null(form(guarantee, "rounds", at)) && is.null(form(guarantee, "curve", at))
        if (none) "it composes rounds, or guarantees whose epsilon depends on delta" else TRUE
      },
      function(guarantee, at, delta, ...) {
        curve <- form(guarantee, "curve", at)
        if (!is.null(curve)) return(curve(delta))
        each <- form(guarantee, "rounds", at)
        compose_rounds(each$mu, each$rounds, delta)
      },
      ledger = "horizon"
    ),
    sequence = accountant(
      function(guarantee, at) {
        if (is.null(form(guarantee, "sequence", at))) why_not_sequence(guarantee, at) else TRUE
      },
      function(guarantee, at, delta, ...) form(guarantee, "sequence", at)$epsilon(delta),
      ledger = "horizon", certifies = "approx", start = start_sequence
    ),
    direct = accountant(
      function(guarantee, at) {
        if (is.null(form(guarantee, "direct", at))) why_not_sequence(guarantee, at) else TRUE
      },
      function(guarantee, at, delta, ...) form(guarantee, "direct", at)(delta, ...),
      ledger = "never", certifies = c("near_gdp", "approx"), start = start_direct, prepulls = 0.7
    )
  )
}

why_not_sequence <- function(guarantee, at) {
  if (is.null(form(guarantee, "rounds", at))) {
    return("it reads Gaussian Thompson sampling alone, and what is composed with it")
  }
  # A statement whose conditions are fixed is read under its own.
  if ((guarantee$at %||% at)$source == "replay") {
    return(paste("in a replay of a log whose arms are known a discarded event is a draw",
                 "that leaves the arm's rewards as they were"))
  }
  paste("variance_scale x (max(prepulls, 1) + 1) is not between 1e-12 and 1e12,",
        "where it has been proved accurate")
}

# Pure guarantees have these forms too, but nothing is gained by them.
supports_gaussian <- function(what, reads) {
  force(what)
  function(guarantee, at) {
    if (is.null(form(guarantee, what, at))) return(reads)
    sharper <- !is.null(form(guarantee, "epsilon", at)) && !is.null(form(guarantee, "pair", at))
    if (sharper) "\"pure\" and \"pld\" are sharper for pure epsilon-DP" else TRUE
  }
}

# The accountants that apply to a guarantee under conditions, by name
accountants_of <- function(guarantee, at) {
  Filter(function(name) isTRUE(accountants()[[name]]$supports(guarantee, at)), names(accountants()))
}

# Epsilon at each delta. Nothing promised is Inf under whichever accountant.
account <- function(guarantee, accountant, at, delta, ...) {
  if (promises_nothing(guarantee)) return(rep(Inf, length(delta)))
  accountants()[[accountant]]$epsilon(guarantee, at, delta, ...)
}

# The least epsilon at delta over all accountants that apply
least_epsilon <- function(guarantee, at, delta, able = accountants_of(guarantee, at)) {
  if (length(able) == 0) return(rep(Inf, length(delta)))
  all <- vapply(able, function(name) account(guarantee, name, at, delta), numeric(length(delta)))
  apply(matrix(all, length(delta)), 1, min)
}

# Which accountants answer for one guarantee: those asked for that apply, or all that are shown
plan_accountants <- function(guarantee, wanted, at, name) {
  # One line says all there is to say of a policy without a guarantee.
  if (promises_nothing(guarantee)) return(wanted %||% "pure")
  able <- accountants_of(guarantee, at)
  if (length(able) == 0) {
    abort_input("policies", paste("`policies` must be statements that some accountant can add up; there is",
                                  "none for \"%s\" (%s)."),
                name, format(guarantee), class = "dpts_error_accountant")
  }
  if (is.null(wanted)) {
    return(Filter(function(name) accountants()[[name]]$shown(guarantee), able))
  }
  own <- intersect(wanted, able)
  if (length(own) == 0) {
    why <- accountants()[[wanted[1]]]$supports(guarantee, at)
    abort_input("accountant", "`accountant` \"%s\" does not apply to policy \"%s\" (%s): %s. These do: %s.",
                wanted[1], name, format(guarantee), why, paste0("\"", able, "\"", collapse = ", "),
                class = "dpts_error_accountant")
  }
  own
}

# ---- budgets --------------------------------------------------------------------------------

# The most epsilon of pure DP, and the most mu of GDP, that a budget has room for; 0 if none
most_epsilon <- function(budget) kind_of(budget)$room(budget)$epsilon

most_mu <- function(budget) kind_of(budget)$room(budget)$mu

# Is a guarantee inside a budget, under the conditions? Up to rounding.
inside_budget <- function(guarantee, budget, at) {
  slack <- 1 + 1e-9
  below <- function(value, limit) !is.null(value) && value <= limit * slack
  if (promises_nothing(guarantee)) return(FALSE)
  if (below(form(guarantee, "epsilon", at), most_epsilon(budget))) return(TRUE)
  if (below(form(guarantee, "mu", at), most_mu(budget))) return(TRUE)
  own <- kind_of(budget)$inside
  if (!is.null(own) && own(guarantee, budget, at)) return(TRUE)
  near <- if (!is.null(budget$nu)) form(guarantee, "near", at)
  if (!is.null(near)) return(below(near$mu(budget$nu, enough = budget$mu), budget$mu))
  if (is.null(budget$delta)) return(FALSE)
  # At the budget's own delta. The cheap accountants come first.
  for (name in accountants_of(guarantee, at)) {
    spent <- account(guarantee, name, at, budget$delta, enough = budget$epsilon)
    if (below(spent, budget$epsilon)) return(TRUE)
  }
  FALSE
}
