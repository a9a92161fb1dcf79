# Accountants. An accountant reads the forms of a guarantee (R/privacy-guarantee.R) under conditions, never a
# policy. Each is a constant list `accountant_NAME`, in any file, and its name is in ACCOUNTANTS. Its entries,
# all but the first two optional:
#   supports   function(guarantee, at): TRUE, or a sentence that says why it does not apply
#   epsilon    function(guarantee, at, delta, ...): an upper bound for each delta. `...` may hold `enough`,
#              an epsilon that will do: a smaller one need not be searched for
#   shown      function(guarantee): does dpts_privacy(accountant = NULL) show it? By default, yes
#   ledger     does the ledger of an agent show it: "always" (the default), "horizon" (if a horizon is known),
#              or "never" (it says nothing new, or takes seconds each time)? May be a function(guarantee)
#   certifies  the targets of calibration that it can certify: "gdp", "near_gdp" (GDP up to a nu), "approx"
#   start      function(goal, sampler, sharp): a variance scale of Gaussian Thompson sampling from which to
#              search for the least one
#   step       by which share that scale is raised while it is not inside the budget; 1e-4 by default
#   prepulls   the multiple of sqrt(T ln(T)) / mu that pre-pulls are worth (bench/prepulls.R)
# The lists hold functions, so that nothing of another file is needed while the package is loaded.

# In the order of the results: from the simplest to the sharpest
ACCOUNTANTS <- c("pure", "pld", "gdp", "rdp", "advanced", "sequence", "direct")

accountant_called <- function(name) get(paste0("accountant_", name), topenv(), mode = "list")

accountant_pure <- list(
  supports = function(guarantee, at) {
    if (is.null(form(guarantee, "epsilon", at))) "it reads pure epsilon-DP alone" else TRUE
  },
  epsilon = function(guarantee, at, delta, ...) rep(form(guarantee, "epsilon", at), length(delta))
)

accountant_pld <- list(
  supports = function(guarantee, at) {
    pair <- form(guarantee, "pair", at)
    if (is.null(pair)) {
      "it reads guarantees of known trade-off"
    } else if (is_gaussian(pair)) "\"gdp\" is its trade-off" else TRUE
  },
  epsilon = function(guarantee, at, delta, ...) pair_epsilon(form(guarantee, "pair", at), delta),
  # Not shown for pure DP unless it is named: its curve says the same as "pure".
  shown = function(guarantee) !isTRUE(kind_of(unstated(guarantee))$flat),
  ledger = function(guarantee) if (composes(guarantee)) "always" else "never"
)

accountant_gdp <- list(
  supports = function(guarantee, at) supports_gaussian(guarantee, at, "mu", "it reads Gaussian DP"),
  epsilon = function(guarantee, at, delta, ...) gdp_epsilon(form(guarantee, "mu", at), delta),
  certifies = c("gdp", "near_gdp", "approx"),
  start = function(goal, sampler, ...) {
    scale_of_mu(goal$mu %||% gdp_mu(goal$epsilon, goal$delta), sampler)
  },
  step = 1e-15,
  prepulls = 2
)

accountant_rdp <- list(
  supports = function(guarantee, at) supports_gaussian(guarantee, at, "rdp", "it reads Renyi DP"),
  epsilon = function(guarantee, at, delta, ...) {
    rdp <- form(guarantee, "rdp", at)
    if (is.numeric(rdp)) rdp_epsilon(rdp = rdp, delta = delta) else orders_epsilon(delta, rdp)
  },
  ledger = "never",
  certifies = "approx",
  start = function(goal, sampler, ...) scale_of_mu(rdp_mu(goal$epsilon, goal$delta), sampler),
  step = 1e-15
)

accountant_advanced <- list(
  supports = function(guarantee, at) {
    none <- is.null(form(guarantee, "rounds", at)) && is.null(form(guarantee, "curve", at))
    if (none) "it composes rounds, or guarantees whose epsilon depends on delta" else TRUE
  },
  epsilon = function(guarantee, at, delta, ...) {
    curve <- form(guarantee, "curve", at)
    if (!is.null(curve)) return(curve(delta))
    each <- form(guarantee, "rounds", at)
    compose_rounds(each$mu, each$rounds, delta)
  },
  ledger = "horizon"
)

accountant_sequence <- list(
  supports = function(guarantee, at) {
    if (is.null(form(guarantee, "sequence", at))) why_not_sequence(guarantee, at) else TRUE
  },
  epsilon = function(guarantee, at, delta, ...) form(guarantee, "sequence", at)$epsilon(delta),
  ledger = "horizon",
  certifies = "approx",
  start = function(...) start_sequence(...)
)

accountant_direct <- list(
  supports = function(guarantee, at) {
    if (is.null(form(guarantee, "direct", at))) why_not_sequence(guarantee, at) else TRUE
  },
  epsilon = function(guarantee, at, delta, ...) form(guarantee, "direct", at)(delta, ...),
  ledger = "never",
  certifies = c("near_gdp", "approx"),
  start = function(...) start_direct(...),
  prepulls = 0.7
)

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
supports_gaussian <- function(guarantee, at, what, reads) {
  if (is.null(form(guarantee, what, at))) return(reads)
  sharper <- !is.null(form(guarantee, "epsilon", at)) && !is.null(form(guarantee, "pair", at))
  if (sharper) "\"pure\" and \"pld\" are sharper for pure epsilon-DP" else TRUE
}

# The names of the accountants that apply to a guarantee under conditions
accountants_of <- function(guarantee, at) {
  Filter(function(name) isTRUE(accountant_called(name)$supports(guarantee, at)), ACCOUNTANTS)
}

# Those of them that the ledger of an agent shows, with or without a known horizon
accountants_of_ledger <- function(able, guarantee, has_horizon) {
  shows <- c("always", if (has_horizon) "horizon")
  Filter(function(name) {
    ledger <- accountant_called(name)$ledger %||% "always"
    (if (is.function(ledger)) ledger(guarantee) else ledger) %in% shows
  }, able)
}

# Epsilon at each delta. Nothing promised is Inf under whichever accountant.
account <- function(guarantee, accountant, at, delta, ...) {
  if (promises_nothing(guarantee)) return(rep(Inf, length(delta)))
  accountant_called(accountant)$epsilon(guarantee, at, delta, ...)
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
    shown <- function(name) {
      asks <- accountant_called(name)$shown
      is.null(asks) || asks(guarantee)
    }
    return(Filter(shown, able))
  }
  own <- intersect(wanted, able)
  if (length(own) == 0) {
    why <- accountant_called(wanted[1])$supports(guarantee, at)
    abort_input("accountant", "`accountant` \"%s\" does not apply to policy \"%s\" (%s): %s. These do: %s.",
                wanted[1], name, format(guarantee), why, paste0("\"", able, "\"", collapse = ", "),
                class = "dpts_error_accountant")
  }
  own
}

# ---- budgets --------------------------------------------------------------------------------

# The largest epsilon of pure DP, and the largest mu of GDP, that imply a budget; 0 if none does
most_epsilon <- function(budget) kind_of(budget)$largest(budget)$epsilon

most_mu <- function(budget) kind_of(budget)$largest(budget)$mu

# Does a guarantee imply a budget, under the conditions, by one of the accountants? Up to rounding.
inside_budget <- function(guarantee, budget, at, able = accountants_of(guarantee, at)) {
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
  for (name in able) {
    spent <- account(guarantee, name, at, budget$delta, enough = budget$epsilon)
    if (below(spent, budget$epsilon)) return(TRUE)
  }
  FALSE
}
