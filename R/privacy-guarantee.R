# A guarantee is a statement under conditions. The statement is data, attached to the policy
# value: a kind, its numbers, which inputs are neighbours and what is published. The conditions
# (horizon, arms, delay, pools, replay) come with the question; see conditions(). Accountants
# (R/privacy-accountant.R) read the forms of a guarantee, below, and never a policy.
#
# Kinds:
#   none        nothing is promised
#   pure        epsilon-DP over the whole run
#   point       (epsilon, delta)-DP at one delta
#   gdp         mu-GDP over the whole run; mu may be a function of (horizon, arms)
#   near_gdp    mu-GDP up to nu over the whole run
#   gdp_rounds  Gaussian Thompson sampling: every draw is GDP (prepulls, variance_scale)
#   approx      (epsilon, delta)-DP, epsilon a function of (horizon, arms, delta)
#   composed    several guarantees on the same people (privacy_compose())
#   group       a guarantee for people with several rewards (privacy_group())
#   stated      a guarantee whose conditions are fixed already (a replay's, a composed part's)
#   lives       a guarantee for each stretch of so many rounds, of rewards of its own

#' @noRd
new_guarantee <- function(kind, ..., neighbours = "reward", published = "arms") {
  structure(list(kind = kind, ..., neighbours = neighbours, published = published),
            class = "dpts_guarantee")
}

guarantee_none <- function() new_guarantee("none")

guarantee_pure <- function(epsilon, ...) {
  if (epsilon == Inf) return(guarantee_none())
  new_guarantee("pure", epsilon = epsilon, ...)
}

guarantee_point <- function(epsilon, delta, ...) {
  if (delta == 0) return(guarantee_pure(epsilon, ...))
  new_guarantee("point", epsilon = epsilon, delta = delta, ...)
}

guarantee_gdp <- function(mu, ...) {
  if (is.numeric(mu) && mu == Inf) return(guarantee_none())
  new_guarantee("gdp", mu = mu, ...)
}

#' mu-GDP up to nu: delta(epsilon) <= gdp_delta(mu, epsilon) + nu for every epsilon
#' @noRd
guarantee_near_gdp <- function(mu, nu, ...) {
  if (nu == 0 || mu == Inf) return(guarantee_gdp(mu, ...))
  new_guarantee("near_gdp", mu = mu, nu = nu, ...)
}

#' `filter`: the mu at which the policy stops to draw, Inf without a filter
#' @noRd
guarantee_gdp_rounds <- function(prepulls, variance_scale, filter = Inf) {
  # Ou et al., Lemma 5 with max(b, 1) for b: an arm that holds the changed
  # reward holds at least one reward.
  new_guarantee("gdp_rounds", mu = 1 / sqrt(variance_scale * (max(prepulls, 1) + 1)),
                prepulls = prepulls, variance_scale = variance_scale, filter = filter)
}

#' A guarantee that depends on the run: its function holds constants only and looks in the
#' package for the rest, so that policies made by equal calls are equal
#' @noRd
guarantee_function <- function(args, body) {
  rlang::new_function(stats::setNames(rep(list(quote(expr = )), length(args)), args), body,
                      env = topenv())
}

guarantee_gdp_draws <- function(alpha, c0) {
  guarantee_gdp(guarantee_function(c("horizon", "arms"),
                                   bquote(draws_mu(horizon, .(alpha), .(c0)))))
}

#' DP-TS-UCB: floor(phi) draws of the posterior of one reward, and no more than there are
#' rounds; one draw is 1 / sqrt(ln(T)^alpha)-GDP
#' @noRd
draws_mu <- function(horizon, alpha, c0) {
  log_t <- log(horizon)
  draws <- pmin(dp_ts_ucb_draws(alpha, c0, horizon), horizon)
  ifelse(log_t > 0, sqrt(draws / log_t^alpha), 0)
}

guarantee_releases <- function(every, power) {
  new_guarantee("approx", epsilon = guarantee_function(
    c("horizon", "arms", "delta"), bquote(releases_epsilon(horizon, delta, .(every), .(power)))
  ))
}

#' Releases of pure DP that add up: release j costs a reward e_j = (j every)^-power and comes
#' with the arm's pull j every. Kairouz, Oh and Viswanath (2015), Theorem 3.5, or the plain
#' sum, whichever is less.
#' @noRd
releases_epsilon <- function(horizon, delta, every, power) {
  releases <- floor(horizon / every)
  if (releases < 1) return(rep(0, length(delta)))
  # The first terms one by one; the sum of the others lies below its integral.
  n <- min(releases, 1e5)
  e <- (seq_len(n) * every)^-power
  rest <- function(power) {
    area <- if (power == 1) log(releases / n) else
      (releases^(1 - power) - n^(1 - power)) / (1 - power)
    if (releases > n) every^-power * area else 0
  }
  squares <- sum(e^2) + rest(2 * power)
  drift <- sum(e * tanh(e / 2)) + rest(2 * power) / 2 # tanh(x) <= x
  epsilon <- pmin(sum(e) + rest(power), drift + sqrt(2 * log(1 / delta) * squares))
  ifelse(delta == 1, 0, epsilon)
}

# ---- conditions ---------------------------------------------------------------------------

#' The conditions of a statement
#'
#' @param horizon Rounds, or the events that a replay reads.
#' @param delay Rounds until a reward comes. Guarantees are for every delay; it is stated.
#' @param pools May an arm be off offer?
#' @param source `"live"` (simulations are alike), `"replay"`: a rejection replay on a log
#'   whose arms are known, or `"secret"`: one whose arms are uniform, secret and independent of
#'   all else.
#' @noRd
conditions <- function(horizon, arms = 2, delay = 0, pools = FALSE, source = "live") {
  list(horizon = horizon, arms = arms, delay = delay, pools = pools, source = source)
}

#' In how many rounds Gaussian Thompson sampling draws. The pre-pulls depend on no data; they
#' come first and last arms x prepulls rounds if every arm is always on offer. An arm that is
#' seldom on offer does not shorten the rounds of the others.
#' @noRd
drawing_rounds <- function(prepulls, at) {
  if (at$pools) at$horizon else max(0, at$horizon - at$arms * prepulls)
}

# ---- forms --------------------------------------------------------------------------------
# What a guarantee says in the terms that accountants read. A form that a kind does not have
# is NULL. `at` are the conditions.
#   epsilon   pure DP: a number
#   mu        Gaussian DP of the whole run: a number
#   rdp       Rényi DP: a number rho for the line rho alpha, or a function of alpha
#   pair      the dominating pair, exactly: see R/privacy-pair.R
#   rounds    GDP rounds one by one: list(mu, rounds)
#   sequence  what the arms alone leak: list(rdp = function(alpha), epsilon = function(delta))
#   near      GDP up to nu: list(least, free, mu = function(nu)): mu for a nu of at least `least`; if
#             `free`, mu falls with nu, and nu must be more than that
#   direct    what the arms alone leak, straight in epsilon and delta: function(delta)
#   lower     what an adversary makes the arms leak: function(delta), epsilons
#   curve     epsilon as a function of delta

guarantee_forms <- list(
  none = list(),
  pure = list(
    epsilon = function(g, at) g$epsilon,
    mu = function(g, at) pure_mu(g$epsilon),
    near = function(g, at) exactly_near(pure_mu(g$epsilon)),
    rdp = function(g, at) function(alpha) pure_rdp(g$epsilon, alpha),
    pair = function(g, at) pair_point(g$epsilon, 0)
  ),
  point = list(
    pair = function(g, at) pair_point(g$epsilon, g$delta)
  ),
  gdp = list(
    mu = function(g, at) if (is.function(g$mu)) g$mu(at$horizon, at$arms) else g$mu,
    rdp = function(g, at) form(g, "mu", at)^2 / 2,
    pair = function(g, at) pair_gaussian(form(g, "mu", at)),
    near = function(g, at) exactly_near(form(g, "mu", at))
  ),
  near_gdp = list(
    near = function(g, at) {
      list(least = g$nu, free = FALSE, mu = function(nu) if (nu >= g$nu) g$mu else Inf)
    },
    direct = function(g, at) function(delta) near_epsilon(g$mu, g$nu, delta)
  ),
  gdp_rounds = list(
    mu = function(g, at) {
      all <- g$mu * sqrt(drawing_rounds(g$prepulls, at))
      # The filter pays for the draws whose choice is played, so not for those that a replay discards.
      if (at$source == "replay") all else min(all, g$filter)
    },
    rdp = function(g, at) form(g, "mu", at)^2 / 2,
    pair = function(g, at) pair_gaussian(form(g, "mu", at)),
    rounds = function(g, at) list(mu = g$mu, rounds = drawing_rounds(g$prepulls, at)),
    sequence = function(g, at) {
      if (!only_arms_count(g, at)) return(NULL)
      rounds <- drawing_rounds(g$prepulls, at)
      list(
        rdp = function(alpha) {
          if (rounds == 0) return(0 * alpha)
          sequence_rdp(alpha, rounds, g$prepulls, g$variance_scale)
        },
        epsilon = function(delta) {
          as.numeric(orders_of_sequence(delta, rounds, g$prepulls, g$variance_scale))
        }
      )
    },
    near = function(g, at) {
      if (!only_arms_count(g, at)) return(NULL)
      rounds <- drawing_rounds(g$prepulls, at)
      list(least = 0, free = TRUE, mu = function(nu) {
        if (rounds == 0) return(0)
        if (nu < 1e-300 || rounds == Inf) return(form(g, "mu", at))
        min(near_gdp(rounds, g$prepulls, g$variance_scale, nu), g$filter)
      })
    },
    direct = function(g, at) {
      if (!only_arms_count(g, at)) return(NULL)
      rounds <- drawing_rounds(g$prepulls, at)
      function(delta) {
        if (rounds == 0) return(0 * delta)
        if (rounds == Inf) return(ifelse(delta == 1, 0, Inf))
        direct_epsilon(delta, rounds, g$prepulls, g$variance_scale)
      }
    },
    lower = function(g, at) {
      # A filter ends the adversary's game, nobody knows when.
      if (!only_arms_count(g, at) || g$filter < Inf) return(NULL)
      rounds <- drawing_rounds(g$prepulls, at)
      function(delta) {
        if (rounds == 0) return(0 * delta)
        sequence_lower_bound(delta, rounds, g$prepulls, g$variance_scale, bounded = TRUE)
      }
    }
  ),
  approx = list(
    curve = function(g, at) {
      function(delta) vapply(delta, function(d) g$epsilon(at$horizon, at$arms, d), 0)
    }
  ),
  stated = list(
    epsilon = function(g, at) form(g$part, "epsilon", g$at),
    mu = function(g, at) form(g$part, "mu", g$at),
    rdp = function(g, at) form(g$part, "rdp", g$at),
    pair = function(g, at) form(g$part, "pair", g$at),
    rounds = function(g, at) form(g$part, "rounds", g$at),
    sequence = function(g, at) form(g$part, "sequence", g$at),
    near = function(g, at) form(g$part, "near", g$at),
    direct = function(g, at) form(g$part, "direct", g$at),
    lower = function(g, at) form(g$part, "lower", g$at),
    curve = function(g, at) form(g$part, "curve", g$at)
  ),
  lives = list(
    epsilon = function(g, at) form(g$part, "epsilon", in_life(g, at)),
    mu = function(g, at) form(g$part, "mu", in_life(g, at)),
    rdp = function(g, at) form(g$part, "rdp", in_life(g, at)),
    pair = function(g, at) form(g$part, "pair", in_life(g, at)),
    rounds = function(g, at) form(g$part, "rounds", in_life(g, at)),
    sequence = function(g, at) form(g$part, "sequence", in_life(g, at)),
    near = function(g, at) form(g$part, "near", in_life(g, at)),
    direct = function(g, at) form(g$part, "direct", in_life(g, at)),
    lower = function(g, at) form(g$part, "lower", in_life(g, at)),
    curve = function(g, at) form(g$part, "curve", in_life(g, at))
  ),
  # By name: they stand in R/privacy-compose.R, which is read later.
  composed = list(
    epsilon = function(g, at) composed_epsilon(g, at),
    mu = function(g, at) composed_mu(g, at),
    rdp = function(g, at) composed_rdp(g, at),
    pair = function(g, at) composed_pair(g, at),
    sequence = function(g, at) composed_sequence(g, at),
    near = function(g, at) composed_near(g, at),
    direct = function(g, at) composed_direct(g, at),
    curve = function(g, at) composed_curve(g, at)
  ),
  group = list(
    epsilon = function(g, at) group_epsilon(g, at),
    mu = function(g, at) group_mu(g, at),
    rdp = function(g, at) group_rdp(g, at),
    pair = function(g, at) group_pair(g, at),
    sequence = function(g, at) group_sequence(g, at),
    curve = function(g, at) group_curve(g, at)
  )
)

#' @noRd
form <- function(guarantee, what, at) {
  read <- guarantee_forms[[guarantee$kind]][[what]]
  if (is.null(read)) NULL else read(guarantee, at)
}

#' Does what the arms alone leak say something? A discarded draw leaves the private arm as it was,
#' which the recursion does not allow.
#' @noRd
only_arms_count <- function(g, at) {
  at$source != "replay" && is_certified(g$prepulls, g$variance_scale)
}

exactly_near <- function(mu) list(least = 0, free = FALSE, mu = function(nu) mu)

#' Epsilon of mu-GDP up to nu at each delta: that of mu-GDP at what nu leaves
#' @noRd
near_epsilon <- function(mu, nu, delta) {
  epsilon <- ifelse(delta == 1, 0, Inf)
  inside <- delta > nu & delta < 1
  if (is.finite(mu) && any(inside)) epsilon[inside] <- gdp_epsilon(mu, delta[inside] - nu)
  epsilon
}

#' The guarantee of a policy that is started anew every so many rounds: each reward is used in one
#' life, and lives share no randomness (parallel composition)
#' @noRd
guarantee_of_lives <- function(guarantee, every) {
  fixed <- guarantee$kind %in% c("none", "pure", "point", "near_gdp") ||
    (guarantee$kind == "gdp" && is.numeric(guarantee$mu))
  if (fixed) return(guarantee)
  if (guarantee$kind == "lives") {
    guarantee$every <- min(guarantee$every, every)
    return(guarantee)
  }
  new_guarantee("lives", part = guarantee, every = every, neighbours = guarantee$neighbours,
                published = guarantee$published)
}

#' The conditions in one life. A life ends after so many events that are kept; where events that are
#' read are charged, all may be read in one.
#' @noRd
in_life <- function(g, at) {
  read <- at$source == "replay" && !is.null(form(g$part, "rounds", at))
  if (!read) at$horizon <- min(at$horizon, g$every)
  at
}

promises_nothing <- function(guarantee) guarantee$kind == "none"

# ---- one currency: what each kind of guarantee is worth in another ------------------------

#' The least mu for which epsilon-DP is mu-GDP, and the largest epsilon for which epsilon-DP
#' is mu-GDP (Dong, Roth and Su 2022): the GDP curve touches the corner of epsilon-DP's
#' at type I error Phi(-mu / 2) = 1 / (1 + exp(epsilon)).
#' @noRd
pure_mu <- function(epsilon) {
  # log(1 + exp(epsilon)) without overflow
  -2 * stats::qnorm(-(epsilon + log1p(exp(-epsilon))), log.p = TRUE)
}

#' @noRd
mu_pure <- function(mu) {
  stats::pnorm(mu / 2, log.p = TRUE) - stats::pnorm(-mu / 2, log.p = TRUE)
}

#' The exact epsilon' at delta of an epsilon-DP release, that of randomised response, and
#' the largest epsilon such that epsilon-DP is (epsilon', delta)-DP
#' @noRd
pure_curve <- function(epsilon, delta) {
  # ln(exp(epsilon) - delta (1 + exp(epsilon))) = epsilon + ln(1 - delta (1 + exp(-epsilon)))
  inside <- pmax(1 - delta * (1 + exp(-epsilon)), 0)
  pmax(epsilon + log(inside), 0)
}

#' @noRd
curve_pure <- function(epsilon, delta) {
  epsilon + log1p(delta * exp(-epsilon)) - log1p(-delta)
}

#' The Rényi curve of epsilon-DP, that of randomised response: with a = alpha - 1 and
#' p = 1 / (1 + exp(-epsilon)), log(1 + p expm1(a epsilon) (1 - exp(-alpha epsilon))) / a
#' @noRd
pure_rdp <- function(epsilon, alpha) {
  a <- alpha - 1
  share <- -expm1(-alpha * epsilon) * stats::plogis(epsilon)
  large <- a * epsilon > 30
  value <- log1p(share * expm1(pmin(a * epsilon, 30)))
  value[large] <- (a * epsilon + log(share) +
                     log1p((1 - share) / share * exp(-a * epsilon)))[large]
  value / a
}

#' The most epsilon of pure DP, and the most mu of GDP, that a budget has room for; 0 if none
#' @noRd
most_epsilon <- function(budget) {
  switch(budget$kind, pure = budget$epsilon, gdp = mu_pure(budget$mu),
         approx = curve_pure(budget$epsilon, budget$delta))
}

#' @noRd
most_mu <- function(budget) {
  switch(budget$kind, pure = 0, gdp = budget$mu,
         approx = if (budget$delta > 0) gdp_mu(budget$epsilon, budget$delta) else 0)
}

#' Is a guarantee inside a budget, under the conditions? Up to rounding.
#' @noRd
inside_budget <- function(guarantee, budget, at) {
  slack <- 1 + 1e-9
  below <- function(value, limit) !is.null(value) && value <= limit * slack
  if (promises_nothing(guarantee)) return(FALSE)
  if (below(form(guarantee, "epsilon", at), most_epsilon(budget))) return(TRUE)
  if (budget$kind == "pure") return(FALSE)
  if (below(form(guarantee, "mu", at), most_mu(budget))) return(TRUE)
  if (budget$kind == "gdp") {
    near <- form(guarantee, "near", at)
    return(!is.null(budget$nu) && !is.null(near) && below(near$mu(budget$nu), budget$mu))
  }
  # At the budget's own delta. The cheap accountants come first.
  for (name in accountants_of(guarantee, at)) {
    if (below(account(guarantee, name, at, budget$delta), budget$epsilon)) return(TRUE)
  }
  FALSE
}

# ---- words ----------------------------------------------------------------------------------
# Text is made when it is printed and never stored: a guarantee is the same value whatever the
# options say.

#' `digits`: significant digits, rounded up
#' @export
#' @noRd
format.dpts_guarantee <- function(x, digits = 5, ...) {
  up <- function(value) format_up(value, digits)
  switch(
    x$kind,
    none = "none",
    pure = paste0(up(x$epsilon), neighbour_words[[x$neighbours]]$suffix),
    point = sprintf("(%s, %s)-DP", up(x$epsilon), up(x$delta)),
    gdp = if (is.function(x$mu)) "GDP that depends on the horizon" else
      paste0(up(x$mu), sub("DP", "GDP", neighbour_words[[x$neighbours]]$suffix, fixed = TRUE)),
    near_gdp = sprintf("%s-GDP up to %s", up(x$mu), up(x$nu)),
    gdp_rounds = if (x$filter < Inf) paste0(up(x$filter), "-GDP") else
      paste0(up(x$mu), "-GDP per draw"),
    approx = "(epsilon, delta)-DP that depends on the horizon",
    composed = paste(vapply(x$parts, format, "", digits = digits), collapse = " + "),
    group = group_words(x, digits),
    lives = format(x$part, digits = digits),
    stated = sprintf("%s, %s", format(settle(x), digits = digits), words_stated(x))
  )
}

#' Which inputs are neighbours: what follows epsilon in short, and in a sentence
#' @noRd
neighbour_words <- list(
  reward = list(suffix = "-DP",
                sentence = "streams that differ in one reward, replaced by any value of [0, 1]"),
  public_context = list(
    suffix = "-DP for rewards (contexts public)",
    sentence = paste("streams that differ in one reward, replaced by any value of [0, 1],",
                     "with public contexts")
  ),
  joint = list(
    suffix = "-joint-DP for rewards and contexts",
    sentence = paste("streams that differ in the context and reward of one round, both in [0, 1],",
                     "as seen by all other rounds")
  ),
  own_arm = list(
    suffix = "-DP for rewards, and for contexts given the round's own arm",
    sentence = paste("streams that differ in one reward, or in one context if that round's own",
                     "arm is the same, all in [0, 1]")
  ),
  input = list(suffix = "-DP",
               sentence = "inputs that differ by at most the sensitivity stated")
)

published_words <- c(arms = "The sequence of arms", release = "What is released",
                     bits = "All that the policy sees of rewards, and so the sequence of arms,")

#' The sentences of a guarantee: what is published, the numbers, the neighbours, the conditions
#' @noRd
guarantee_sentences <- function(x, digits = 5) {
  if (promises_nothing(x)) return("Nothing is promised: what is published may tell every reward.")
  who <- neighbour_words[[x$neighbours]]$sentence
  what <- published_words[[x$published]]
  up <- function(value) format_up(value, digits)
  anywhere <- "whatever the delay of rewards and whichever arms are on offer"
  always <- if (x$published %in% c("arms", "bits")) paste("over the whole run,", anywhere) else ""
  ends <- function(...) sub(":? *\\.$", ".", paste0(...))
  switch(
    x$kind,
    pure = ends(what, " is ", up(x$epsilon), "-DP for ", who, ": ", always, "."),
    point = ends(what, " is (", up(x$epsilon), ", ", up(x$delta), ")-DP for ", who, ": ", always,
                 "."),
    gdp = if (is.function(x$mu)) {
      paste0(what, " is mu-GDP for ", who, ", with a mu that grows with the horizon, which must ",
             "be known in advance: ", anywhere, ". dpts_privacy() gives it.")
    } else {
      ends(what, " is ", up(x$mu), "-GDP for ", who, ": ", always, ".")
    },
    near_gdp = c(
      ends(what, " is ", up(x$mu), "-GDP up to nu = ", up(x$nu), " for ", who, ": ", always, "."),
      sprintf("That is, delta is at most gdp_delta(%s, epsilon) + %s, at every epsilon at once.",
              up(x$mu), up(x$nu))
    ),
    gdp_rounds = c(
      if (x$filter < Inf) paste0(what, " is ", up(x$filter), "-GDP for ", who, ", for any number of ",
                                 "rounds, ", anywhere, ": the policy stops to draw when that is ",
                                 "spent. Also:"),
      paste0(what, " is GDP for ", who, ": each round in which the policy draws costs at most ",
             "mu = ", up(x$mu), ", and dpts_privacy() adds the rounds up for a horizon known in ",
             "advance, whatever the delay of rewards."),
      "If arms can be off offer, every round of the horizon counts as a draw (`pools = TRUE`).",
      paste0("In a replay of a log whose arms are known, every event read counts as a draw, and ",
             "the accountants of the published arms do not apply",
             if (x$filter < Inf) ", nor does the filter", ".")
    ),
    approx = paste0(what, " is (epsilon, delta)-DP for ", who, ", with an epsilon that grows with ",
                    "the horizon, which must be known in advance: ", anywhere,
                    ". dpts_privacy() gives it."),
    composed = c(
      paste("All of these together, on the same people, with independent randomness in each;",
            "dpts_privacy() adds them up:"),
      paste0("- ", named_parts(x$parts), vapply(x$parts, function(part) {
        paste(guarantee_sentences(part, digits), collapse = " ")
      }, ""))
    ),
    group = c(
      paste0("In any rounds, ", group_words(x, digits), "."),
      paste("For one reward:", paste(guarantee_sentences(x$part, digits), collapse = " "))
    ),
    lives = c(
      guarantee_sentences(x$part, digits),
      sprintf(paste("The policy starts anew every %s rounds, and each reward is used in one of its",
                    "lives: no more rounds than these add up."), label_count(x$every))
    ),
    stated = stated_sentences(x, digits)
  )
}

#' The number for the whole group where it follows at once
#' @noRd
group_words <- function(x, digits) {
  part <- x$part
  people <- sprintf("for people with up to %s rewards", label_count(x$size))
  whole <- switch(
    part$kind,
    pure = format(guarantee_pure(part$epsilon * x$size, neighbours = part$neighbours),
                  digits = digits),
    gdp = if (is.numeric(part$mu)) {
      format(guarantee_gdp(part$mu * x$size, neighbours = part$neighbours), digits = digits)
    }
  )
  if (!is.null(whole)) return(paste(whole, people))
  sprintf("what %s for one reward means %s", format(part, digits = digits), people)
}

named_parts <- function(parts) {
  label <- names(parts) %||% rep("", length(parts))
  ifelse(nzchar(label), paste0(label, ": "), "")
}

#' @export
print.dpts_guarantee <- function(x, digits = 5, ...) {
  cat("<guarantee> ", format(x, digits = digits), "\n", sep = "")
  cat(strwrap(guarantee_sentences(x, digits), width = getOption("width"), exdent = 2),
      sep = "\n")
  invisible(x)
}
