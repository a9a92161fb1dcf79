#' The policy of least regret inside a privacy budget
#'
#' Sets every candidate to the most that it may spend inside the budget, simulates them all on the
#' problem, or on a panel of problems, and ranks them, saying which differences are real.
#'
#' @details
#' What a candidate may spend:
#'
#' * an epsilon-DP policy inside [privacy_gdp()]: epsilon = ln(Phi(mu / 2) / Phi(-mu / 2)), the
#'   largest for which epsilon-DP implies mu-GDP; inside [privacy_approx()]: the largest whose exact
#'   trade-off passes below (epsilon, delta), ln((exp(epsilon) + delta) / (1 - delta));
#' * a mu-GDP policy inside [privacy_approx()]: [gdp_mu()]; inside [privacy_pure()] it has no place;
#' * [policy_ts_gaussian()]: the least variance scale by [dpts_calibrate()], with the accountant
#'   `"sequence"` for [privacy_approx()] and `"gdp"` for [privacy_gdp()], and 0.7 or
#'   2 times sqrt(T ln(T)) / mu pre-pulls of each arm, at most a third of the horizon T in all;
#' * [policy_dp_ts_ucb()]: the least `alpha`, or at `alpha = 1` the most draws;
#' * [policy_dp_ucb_int()]: the shortest time between releases.
#'
#' Amounts that had to be converted are rounded down to six digits.
#'
#' The names ending in `_tuned` are [policy_gaussian_imed()] and [policy_dp_imed()] with the
#' options that did best in a search: first batches of 16 / mu or 24 / epsilon rewards (no fewer
#' than 4, and no more than an eighth of the horizon in all), weights by inverse variance, and the
#' tail index.
#'
#' Candidates that `candidates = NULL` leaves out, because they take long and have not won:
#' `"dp_ts"`, `"mt_ucb"`, `"mt_ts"` and `"dp_ucb_bound"`; and `"uniform"`, which meets every
#' budget.
#'
#' With `arms = NULL` candidates play a panel of six problems with Bernoulli rewards: the four of
#' Sajed and Sheffet (2019) in shape, with best mean 0.75 (`close`: all others 0.70; `linear`,
#' `convex`, `concave`: falling to 0.25 in these shapes; for `k = 5` they are theirs to the
#' digit), and the hard ones `small_gap` (0.52 against 0.50) and `rare` (0.05 against 0.03).
#' The best arm's place moves from problem to problem, so that nothing is gained by beginning with
#' the first arm. Regret is then the mean over the panel. A list of arms is a panel of your own;
#' a policy that spends the horizon on the first arms looks good where the first is the best.
#'
#' **The choice must not look at the data to be protected.** It may depend on the budget, the
#' horizon, the number of arms and on public or invented problems. A choice made on private
#' rewards leaks in a way that the budget does not cover. So give `arms` as a guess, an earlier
#' public trial or a worst case, or let the panel stand for what is not known.
#'
#' @param budget What the run may leak: [privacy_pure()], [privacy_approx()] or [privacy_gdp()].
#' @param arms The problem, from [arms_bernoulli()] and its family, a named list of problems with
#'   the same number of arms, or `NULL` for the panel.
#' @param horizon Number of rounds: a whole number.
#' @param ... Must be empty: what follows is named.
#' @param candidates Names of candidates, a named list of policies, which must be inside the
#'   budget as they are, or `NULL` for all that can win.
#' @param runs How many runs, or the run numbers, as in [dpts_simulate()].
#' @param seed A whole number, or `NULL`, as in [dpts_simulate()].
#' @param k Number of arms of the panel: a whole number, at least 2.
#' @param level Confidence level of intervals and ties: a number in (0, 1).
#' @param threads Threads to use, as in [dpts_simulate()].
#' @returns A tibble of class `dpts_recommendation`, one row a candidate, least regret first:
#'   * `policy`: the candidate's name;
#'   * `guarantee`: what it promises, as text, with what it spends;
#'   * `regret`: mean pseudo-regret at the horizon, over runs (and the panel), in units of reward;
#'   * `se`: its standard error over runs (`NA` for one run);
#'   * `lower`, `upper`: its confidence interval by Student's t;
#'   * `rank`: 1 for the least regret and for every candidate tied with it, else the place;
#'   * `best`: `TRUE` in the row of least regret;
#'   * `tied`: is the difference to the best, run by run, indistinguishable from 0, by Student's t
#'     and by Wilcoxon's signed ranks? (`TRUE` for the best.)
#'   * `q95`, `worst`: 95th percentile and largest regret over runs; in a panel, of the
#'     mean over its problems;
#'   * `failures`: share of runs, on any one problem, that lose more than 5 times the policy's
#'     median;
#'   * `flag`: `TRUE` if that is above 1 per cent: the policy fails badly now and then.
#'
#'   [recommended_policy()] gives the policies themselves.
#' @section Errors:
#' A budget that no candidate meets raises an error of class `dpts_error_budget`, a horizon too
#' short for first batches one of class `dpts_error_horizon`.
#' @references Sajed, T. and Sheffet, O. (2019). An Optimal Private Stochastic-MAB Algorithm Based
#'   on Optimal Private Stopping Rule. ICML.
#'
#'   Dong, J., Roth, A. and Su, W. J. (2022). Gaussian Differential Privacy. Journal of the Royal
#'   Statistical Society B 84, 3-37.
#' @family privacy
#' @examples
#' arms <- arms_bernoulli(c(0.7, 0.5, 0.3))
#' advice <- dpts_recommend(privacy_gdp(1), arms, horizon = 5000, runs = 20, seed = 1,
#'                          candidates = c("gaussian_imed_tuned", "gaussian_imed", "dp_imed"))
#' advice
#' recommended_policy(advice)
#' autoplot(advice)
#' @export
dpts_recommend <- function(budget, arms = NULL, horizon, ..., candidates = NULL, runs = 50,
                           seed = NULL, k = NULL, level = 0.95,
                           threads = getOption("dpts.threads", 1L)) {
  check_dots_empty(...)
  check_budget(budget)
  problems <- check_problems(arms, k)
  horizon <- check_count(horizon)
  if (horizon < n_arms(problems[[1]])) {
    rlang::abort(sprintf("`horizon` must be at least %d, a round for each arm, not %s.",
                         n_arms(problems[[1]]), format(horizon)),
                 class = c("dpts_error_horizon", "dpts_error_input", "dpts_error"),
                 arg = "horizon")
  }
  runs <- check_runs(runs)
  seed <- check_seed(seed)
  level <- check_number(level, 0, 1, open = TRUE)
  threads <- check_count(threads, 1, 1024)
  policies <- candidate_policies(candidates, budget, horizon, n_arms(problems[[1]]))

  runs <- if (length(runs) == 1) I(runs) else runs
  # One array: runs x policies x problems.
  regret <- vapply(problems, function(problem) {
    sim <- dpts_simulate(problem, policies, horizon, runs = runs, seed = seed,
                         record = I(horizon), threads = threads, progress = FALSE)
    matrix(sim$regret, length(runs), dimnames = list(NULL, names(policies)))
  }, matrix(0, length(runs), length(policies)))
  dim(regret) <- c(length(runs), length(policies), length(problems))
  new_recommendation(regret, policies, level,
                     setup = list(budget = budget, horizon = horizon, arms = problems,
                                  panel = is.null(arms), runs = length(runs), seed = seed))
}

#' A guarantee in words, with the numbers of this run where it depends on the run
#' @noRd
guarantee_at <- function(guarantee, budget, horizon, k) {
  fixed <- guarantee$kind == "pure" || (guarantee$kind == "gdp" && is.numeric(guarantee$mu))
  if (fixed) return(format(guarantee))
  # Not a statement at one delta: it holds at every one.
  if (guarantee$kind == "gdp" || (guarantee$kind == "gdp_rounds" && budget$kind == "gdp")) {
    mu <- guarantee_mu(guarantee, horizon, k)
    return(sprintf("%s-GDP at this horizon", format(signif(mu, 5))))
  }
  accountant <- if (guarantee$kind == "approx") "advanced" else "sequence"
  epsilon <- account(guarantee, accountant, horizon, k, budget$delta)
  sprintf("(%s, %s)-DP at this horizon", format(signif(epsilon, 5)), format(budget$delta))
}

# ---- problems -------------------------------------------------------------------------

check_problems <- function(arms, k, call = caller_env()) {
  if (is.null(arms)) {
    if (is.null(k)) abort_arg("k", "given, the number of arms, when `arms` is NULL", call = call)
    return(standard_panel(check_count(k, 2, 1e6, call = call)))
  }
  problems <- if (inherits(arms, "arms")) list(arms) else arms
  ok <- is.list(problems) && length(problems) > 0 && all(vapply(problems, inherits, NA, "arms"))
  if (!ok) {
    abort_arg("arms", "made by one of the `arms_*()` functions, a list of such, or NULL with `k`",
              arms, call)
  }
  sizes <- vapply(problems, n_arms, 0L)
  if (length(unique(sizes)) > 1 || (!is.null(k) && !identical(as.double(k), sizes[1] + 0))) {
    wanted <- k %||% sizes[1]
    rlang::abort(
      sprintf("`arms` must have %s arms in every problem, not %s.", format(wanted),
              format(sizes[sizes != wanted][1])),
      class = c("dpts_error_input", "dpts_error"), arg = "arms", call = call
    )
  }
  if (sizes[1] < 2) abort_arg("arms", "a problem with at least two arms", call = call)
  problems
}

#' The standard instances for k arms
#'
#' The best arm's place moves from problem to problem: policies that settle ties, or begin, with
#' the first arm would else be paid for it.
#' @noRd
standard_panel <- function(k) {
  fall <- seq(0, 1, length.out = k)
  rest <- function(best, other) c(best, rep(other, k - 1))
  panel <- list(
    # Sajed and Sheffet (2019), for k = 5 exactly theirs
    close = rest(0.75, 0.70),
    linear = 0.75 - 0.5 * fall,
    convex = 0.25 + 0.5 * (1 - fall)^2,
    concave = 0.75 - 0.5 * fall^2,
    # hard ones of ours
    small_gap = rest(0.52, 0.50),
    rare = rest(0.05, 0.03)
  )
  places <- ((seq_along(panel) - 1) * k) %/% length(panel)
  Map(function(means, place) {
    arms_bernoulli(means[(seq_len(k) - 1 - place) %% k + 1])
  }, panel, places)
}

# ---- candidates -------------------------------------------------------------------------
# A candidate is a function of what may be spent. It gives a policy, or NULL where the
# budget has no room for it. Here is the whole list.

candidates_known <- function() {
  pure <- function(make) function(spend) if (spend$epsilon > 0) make(spend$epsilon, spend)
  gdp <- function(make) function(spend) if (spend$mu > 0) make(spend$mu, spend)
  list(
    gaussian_imed_tuned = gdp(function(mu, spend) {
      policy_gaussian_imed(mu, ratio = if (mu < 0.5) 1.5 else if (mu < 1) 1.3 else 1.15,
                           first = first_batch(16 / mu, spend), weights = "variance",
                           index = "tail")
    }),
    gaussian_imed = gdp(function(mu, spend) policy_gaussian_imed(mu)),
    adac_ucb = gdp(function(mu, spend) policy_adac_ucb(mu)),
    lazy_gaussian_ts = gdp(function(mu, spend) policy_lazy_gaussian_ts(mu)),
    dp_ts_ucb = gdp(spend_draws),
    ts_gaussian = gdp(spend_variance),
    dp_imed_tuned = pure(function(epsilon, spend) {
      policy_dp_imed(epsilon, ratio = 1.5, first = first_batch(24 / epsilon, spend),
                     weights = "variance", index = "tail")
    }),
    dp_imed = pure(function(epsilon, spend) policy_dp_imed(epsilon)),
    dp_klucb = pure(function(epsilon, spend) policy_dp_klucb(epsilon)),
    lazy_dp_ts = pure(function(epsilon, spend) policy_lazy_dp_ts(epsilon)),
    lazy_ucb = pure(function(epsilon, spend) policy_lazy_ucb(epsilon)),
    dp_se = pure(function(epsilon, spend) policy_dp_se(epsilon)),
    adap_ucb = pure(function(epsilon, spend) policy_adap_ucb(epsilon)),
    adap_klucb = pure(function(epsilon, spend) policy_adap_klucb(epsilon)),
    dp_ucb_int = spend_releases,
    dp_ucb_bound = pure(function(epsilon, spend) policy_dp_ucb_bound(epsilon)),
    dp_ts = pure(function(epsilon, spend) policy_dp_ts(epsilon)),
    mt_ucb = pure(function(epsilon, spend) {
      policy_mt_ucb(epsilon, tuned = TRUE, split_budget = FALSE)
    }),
    mt_ts = pure(function(epsilon, spend) {
      policy_mt_ts(epsilon, tuned = TRUE, split_budget = FALSE)
    }),
    uniform = function(spend) policy_uniform()
  )
}

candidates_by_name_only <- c("dp_ucb_bound", "dp_ts", "mt_ucb", "mt_ts", "uniform")

#' A first batch that leaves the horizon something to play for
#' @noRd
first_batch <- function(wanted, spend) {
  max(1, min(max(4, ceiling(wanted)), floor(spend$horizon / (8 * spend$arms))))
}

#' Gaussian Thompson sampling. Pre-pulls cost about b times the gaps, and the variance that
#' they save, rounds / (mu^2 (b + 1)), costs as many times ln(T) / gap: the sum is least at some
#' multiple of sqrt(T ln(T)) / mu. Of which, bench/prepulls.R measures on the panel: 2, and 0.7
#' under the sequence accountant, to which pre-pulls are worth less. Past T / mu^2 the variance
#' would be below that of plain Thompson sampling.
#' @noRd
spend_variance <- function(mu, spend) {
  horizon <- spend$horizon
  accountant <- if (spend$budget$kind == "approx") "sequence" else "gdp"
  multiple <- if (accountant == "sequence") 0.7 else 2
  b <- min(multiple * sqrt(horizon * log(horizon)) / mu, horizon / mu^2,
           horizon / (3 * spend$arms))
  calibrate(spend$budget, horizon, floor(b), accountant, spend$arms, 1 / horizon, quiet = TRUE)
}

#' DP-TS-UCB: the least alpha whose mu fits; past alpha = 1 fewer draws
#' @noRd
spend_draws <- function(mu, spend) {
  at <- function(alpha) draws_mu(spend$horizon, alpha, sqrt(2 * pi * exp(1)))
  if (at(0) <= mu) return(policy_dp_ts_ucb(0))
  if (at(1) <= mu) {
    low <- 0 # mu falls with alpha, in steps where the number of draws does
    high <- 1
    while (high - low > 1e-6) {
      middle <- (low + high) / 2
      if (at(middle) <= mu) high <- middle else low <- middle
    }
    return(policy_dp_ts_ucb(ceiling(high * 1e6) / 1e6))
  }
  log_t <- log(spend$horizon)
  draws <- floor(mu^2 * log_t)
  if (draws >= 1) policy_dp_ts_ucb(1, c0 = signif((draws + 0.5) / log_t, 6))
}

#' DP-UCB-Int: the least f whose releases fit
#' @noRd
spend_releases <- function(spend) {
  if (spend$budget$kind != "approx" || spend$budget$delta == 0) return(NULL)
  fits <- function(f) {
    releases_epsilon(spend$horizon, spend$budget$delta, f, 1.1 / 2) <= spend$budget$epsilon
  }
  low <- 0
  high <- floor(spend$horizon / spend$arms)
  if (high < 1 || !fits(high)) return(NULL)
  while (high - low > 1) {
    middle <- floor((low + high) / 2)
    if (fits(middle)) high <- middle else low <- middle
  }
  # ceil(1 / epsilon) must be f: aim at the middle of the interval.
  policy_dp_ucb_int(if (high == 1) 1 else signif(1 / (high - 0.5), 6))
}

#' The policies to compare, each inside the budget
#' @noRd
candidate_policies <- function(candidates, budget, horizon, k, call = caller_env()) {
  if (is_policy(candidates) || is.list(candidates)) {
    policies <- check_policies(candidates, "candidates", call)
    outside <- !vapply(policies, function(p) inside_budget(p$guarantee, budget, horizon, k), NA)
    if (any(outside)) {
      abort_dpts(
        sprintf("`candidates` must be inside the budget, %s; \"%s\" is not (%s).",
                format(budget), names(policies)[outside][1],
                format(policies[[which(outside)[1]]]$guarantee)),
        c("dpts_error_budget", "dpts_error_input"), call, arg = "candidates"
      )
    }
    check_horizon(policies, k, horizon, call)
    return(policies)
  }
  known <- candidates_known()
  chosen <- candidates %||% setdiff(names(known), candidates_by_name_only)
  chosen <- unique(check_choice(chosen, names(known), several = TRUE, arg = "candidates",
                                call = call))
  spend <- list(budget = budget, horizon = horizon, arms = k,
                epsilon = round_down(most_epsilon(budget), budget$kind == "pure"),
                mu = round_down(most_mu(budget), budget$kind == "gdp"))
  policies <- lapply(known[chosen], function(make) make(spend))
  policies <- Filter(Negate(is.null), policies)
  if (length(policies) == 0) {
    abort_dpts(
      sprintf(paste("The budget, %s, is met by none of the candidates%s; \"uniform\" meets every",
                    "budget."), format(budget),
              if (is.null(candidates)) "" else paste0(" (", paste(chosen, collapse = ", "), ")")),
      c("dpts_error_budget", "dpts_error_input"), call, arg = "budget"
    )
  }
  if (!is.null(candidates)) {
    check_horizon(policies, k, horizon, call)
    return(policies)
  }
  # Of all that are known, those whose first batches fit.
  fits <- vapply(policies, function(p) p$rounds_per_arm * k <= horizon, NA)
  if (!any(fits)) check_horizon(policies, k, horizon, call)
  policies[fits]
}

#' Six digits, and never more than there is; an amount that was given stays as it is
#' @noRd
round_down <- function(x, given, digits = 6) {
  if (given || x == 0) return(x)
  unit <- 10^(floor(log10(x)) + 1 - digits)
  # signif(): the number that its six digits print, so that the printed call is the policy.
  signif(floor(x / unit * (1 + 1e-12)) * unit, digits)
}
