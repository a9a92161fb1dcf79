# The candidates of dpts_recommend(), and how each is set for a budget.
#
# A candidate is a function of what may be spent. It returns a policy, or no_room() with the reason why it
# cannot meet the budget. candidates_known() lists all of them.

no_room <- function(why) structure(why, class = "dpts_no_room")

# `error`: The error probability of a verdict. `outcome`: What rewards are taken for.
candidates_known <- function(goal = "regret", error = NULL, outcome = "binary", contexts = NULL) {
  enough <- function(what, make) {
    force(what)
    function(spend) {
      amount <- spend[[what]]
      if (amount >= MIN_BUDGET) return(make(amount, spend))
      no_room(if (amount == 0) sprintf("the budget leaves it no %s", what) else
        sprintf("the budget leaves it %s = %s, below %s", what, number_text(signif(amount, 3)),
                number_text(MIN_BUDGET)))
    }
  }
  pure <- function(make) enough("epsilon", make)
  gdp <- function(make) enough("mu", make)
  alone <- function(...) lapply(list(...), function(make) pure(function(epsilon, spend) make(epsilon)))
  # Each with Gaussian and with Laplace noise
  either <- function(name, make) {
    both <- list(gdp(function(mu, spend) make(mu = mu)),
                 pure(function(epsilon, spend) make(epsilon = epsilon)))
    stats::setNames(both, paste0(name, c("", "_pure")))
  }
  tossing <- function(...) policy_randomised(..., outcome = outcome)
  if (goal == "verdict") {
    return(c(either("top_two", function(...) policy_top_two(..., error = error, outcome = outcome)),
             either("tossed", function(...) tossing(..., rule = "top_two")), either("equal", tossing)))
  }
  if (goal == "effect") {
    return(c(either("final", function(...) tossing(..., block = 1e9)), either("blocks", tossing),
             either("adaptive", function(...) tossing(..., rule = "thompson"))))
  }
  if (!is.null(contexts)) return(candidates_contextual(contexts, pure, gdp))
  c(
    gaussian_imed = gdp(function(mu, spend) {
      preferred(spend$prefer, function(safety) policy_gaussian_imed(mu, safety = safety, outcome = outcome))
    }),
    adac_ucb = gdp(function(mu, spend) policy_adac_ucb(mu, correlation = 0.5)),
    lazy_gaussian_ts = gdp(function(mu, spend) policy_lazy_gaussian_ts(mu)),
    dp_ts_ucb = gdp(spend_draws),
    ts_gaussian = gdp(spend_variance),
    dp_imed_tuned = pure(function(epsilon, spend) {
      preferred(spend$prefer, function(safety) {
        policy_dp_imed(epsilon, index = "likelihood", safety = safety)
      })
    }),
    alone(dp_imed = policy_dp_imed, dp_klucb = policy_dp_klucb, lazy_dp_ts = policy_lazy_dp_ts,
          lazy_ucb = policy_lazy_ucb, dp_se = policy_dp_se, adap_ucb = policy_adap_ucb,
          adap_klucb = policy_adap_klucb),
    dp_ucb_int = spend_releases,
    alone(dp_ucb_bound = policy_dp_ucb_bound, dp_ts = policy_dp_ts,
          mt_ucb = function(epsilon) policy_mt_ucb(epsilon, tuned = TRUE, split_budget = FALSE),
          mt_ts = function(epsilon) policy_mt_ts(epsilon, tuned = TRUE, split_budget = FALSE)),
    uniform = function(spend) policy_uniform()
  )
}

# Where a person is seen before the choice. Bounds on contexts are those of the problem that is given.
candidates_contextual <- function(contexts, pure, gdp) {
  model <- if (contexts$own) "shared" else "disjoint"
  values <- contexts$values
  longest <- function(length) {
    switch(contexts$kind, given = max(length(abs(values))), simplex = 1)
  }
  euclid <- longest(function(x) sqrt(colSums(x^2)))
  sums <- longest(colSums)
  list(
    linucb = gdp(function(mu, spend) policy_linucb(mu = mu, norm = euclid, model = model)),
    linucb_pure = pure(function(epsilon, spend) policy_linucb(epsilon, norm = sums, model = model)),
    logistic_ucb = gdp(function(mu, spend) policy_logistic_ucb(mu, norm = euclid, model = model)),
    uniform = function(spend) policy_uniform(),
    linucb_rewards = pure(function(epsilon, spend) {
      policy_linucb(epsilon, contexts = "public", norm = sums, model = model)
    }),
    local = pure(function(epsilon, spend) policy_local(policy_linucb(centre = 0.5, model = model), epsilon))
  )
}

# bench/recommend.R has the regret of lazy Gaussian Thompson sampling by that of the best.
candidates_by_name_only <- c("linucb_rewards", "local", "dp_ucb_bound", "dp_ts", "mt_ucb", "mt_ts",
                             "lazy_gaussian_ts")

# The `safety` of a policy where bad runs matter more than the mean
safer <- function(policy) min(1, policy$params$safety + 0.3)

# A policy with its default `safety`, or the safer one
preferred <- function(prefer, make) {
  policy <- make(NULL)
  if (identical(prefer, "safe")) make(safer(policy)) else policy
}

# Gaussian Thompson sampling. Pre-pulls cost about b times the gaps, and the variance that
# they save, rounds / (mu^2 (b + 1)), costs as many times ln(T) / gap: the sum is least at some
# multiple of sqrt(T ln(T)) / mu. bench/prepulls.R measures this multiple on the panel: 2, and 0.7 under the
# accountants of the published arms, which gain less from pre-pulls. Above T / mu^2 the variance would be
# below that of plain Thompson sampling.
spend_variance <- function(mu, spend) {
  horizon <- spend$horizon
  # The sharpest that certifies this kind of budget
  accountant <- sharpest_accountant(spend$budget, 1 / horizon)
  worth <- accountant_called(accountant)$prepulls
  b <- min(worth * sqrt(horizon * log(horizon)) / mu, horizon / mu^2, horizon / (3 * spend$arms))
  calibrate(spend$budget, conditions(horizon, spend$arms), floor(b), accountant, 1 / horizon, quiet = TRUE)
}

# DP-TS-UCB: the least alpha whose mu fits; if none up to 1 does, fewer draws
spend_draws <- function(mu, spend) {
  at <- function(alpha) draws_mu(spend$horizon, alpha, sqrt(2 * pi * exp(1)))
  # mu falls with alpha, in steps, because the number of draws is whole
  alpha <- least_inside(function(alpha) at(alpha) <= mu, c(0, 1), tolerance = 1e-6)
  if (alpha < Inf) return(policy_dp_ts_ucb(ceiling(alpha * 1e6) / 1e6))
  log_t <- log(spend$horizon)
  draws <- floor(mu^2 * log_t)
  if (draws < 1) return(no_room("one posterior draw costs more than the budget"))
  policy_dp_ts_ucb(1, c0 = signif((draws + 0.5) / log_t, 6))
}

# DP-UCB-Int: the least f whose releases fit
spend_releases <- function(spend) {
  delta <- spend$budget$delta %||% 0
  if (delta == 0) return(no_room("it needs an (epsilon, delta) budget with a positive delta"))
  most <- floor(spend$horizon / spend$arms)
  f <- if (most < 1) Inf else least_inside(function(f) {
    releases_epsilon(spend$horizon, delta, f, 1.1 / 2) <= spend$budget$epsilon
  }, c(1, most), whole = TRUE)
  if (f == Inf) return(no_room("a single release of each arm costs more"))
  # ceil(1 / epsilon) must be f: aim at the middle of the interval.
  policy_dp_ucb_int(if (f == 1) 1 else signif(1 / (f - 0.5), 6))
}

# The policies to compare, each inside the budget, and the reasons why others are left out:
# list(policies, dropped), dropped a character vector named by candidate
candidate_policies <- function(candidates, budget, horizon, k, prefer = "mean", goal = "regret", error = NULL,
                               progress = FALSE, outcome = "binary", contexts = NULL) {
  at <- conditions(horizon, k)
  if (is_policy(candidates) || is.list(candidates)) {
    policies <- check_policies(candidates, "candidates")
    outside <- !vapply(policies, function(p) inside_budget(p$guarantee, budget, at), NA)
    if (any(outside)) {
      abort_dpts(
        sprintf("`candidates` must be inside the budget, %s; \"%s\" is not (%s).",
                format(budget), names(policies)[outside][1],
                format(policies[[which(outside)[1]]]$guarantee)),
        c("dpts_error_budget", "dpts_error_input"), arg = "candidates"
      )
    }
    if (goal == "verdict") check_concludes(policies, error, 0, "candidates")
    return(list(policies = policies, dropped = character()))
  }
  known <- candidates_known(goal, error, outcome, contexts)
  by_name <- c(candidates_by_name_only, if (is.null(contexts)) "uniform")
  chosen <- candidates %||% setdiff(names(known), by_name)
  chosen <- unique(check_choice(chosen, names(known), several = TRUE, arg = "candidates"))
  spend <- c(spend_of(budget, horizon, k), prefer = prefer)
  # A candidate whose accountant cannot meet the budget is dropped; the others stay.
  bar <- progress_bar(progress, length(chosen), "Fitting")
  made <- lapply(stats::setNames(nm = chosen), function(name) {
    bar(match(name, chosen) - 1)
    tryCatch(known[[name]](spend), dpts_error_budget = function(e) {
      no_room(sub("^.*cannot be met: (.*)[.]$", "\\1", conditionMessage(e)))
    })
  })
  bar(NULL)
  out <- vapply(made, inherits, NA, "dpts_no_room")
  policies <- made[!out]
  dropped <- vapply(made[out], as.character, "")
  if (length(policies) == 0) {
    abort_dpts(
      sprintf("The budget, %s, is met by none of the candidates%s%s.", format(budget),
              if (is.null(candidates)) "" else paste0(" (", paste(chosen, collapse = ", "), ")"),
              if (goal == "regret") "; \"uniform\" meets every budget" else ""),
      c("dpts_error_budget", "dpts_error_input"), arg = "budget"
    )
  }
  list(policies = policies, dropped = dropped)
}

# What a candidate may spend; converted amounts are rounded down
spend_of <- function(budget, horizon, k) {
  list(budget = budget, horizon = horizon, arms = k,
       epsilon = round_down(most_epsilon(budget), identical(most_epsilon(budget), budget$epsilon)),
       mu = round_down(most_mu(budget), !is.null(budget$mu)))
}

# Rounded down to six digits; an amount that the user gave is not rounded
round_down <- function(x, given, digits = 6) {
  if (given || x == 0) return(x)
  unit <- 10^(floor(log10(x)) + 1 - digits)
  # signif(): the number that its six digits print, so that the printed call is the policy.
  signif(floor(x / unit * (1 + 1e-12)) * unit, digits)
}

