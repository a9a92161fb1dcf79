#' Account for the privacy of policies
#'
#' Turns the guarantee that a policy declares and a horizon into curves of epsilon against
#' delta, one for each accountant that applies. Every accountant gives a valid upper
#' bound; the smallest epsilon counts ([summary()][summary.dpts_privacy] picks it).
#'
#' @details
#' The accountants:
#'
#' * `"pure"`: epsilon-DP policies, at every horizon and delta the same epsilon.
#' * `"tradeoff"`: all that epsilon-DP says about (epsilon', delta), which is more: the exact curve
#'   epsilon' = ln(exp(epsilon) - delta (1 + exp(epsilon))), that of randomised response.
#' * `"gdp"`: Gaussian DP, converted exactly ([gdp_epsilon()]). Gaussian Thompson sampling
#'   composes to sqrt(rounds) times the mu of a round (Ou et al., Theorems 3 and 4).
#' * `"rdp"`: Rényi DP of the same mechanism with the improved conversion, minimised over all
#'   orders (their Theorem 8, sharpened; [rdp_epsilon()]). Never better than `"gdp"`.
#' * `"advanced"`: the exact (epsilon, delta) curve of one round under basic or advanced
#'   composition, whichever is smaller, with the best split of delta (their Theorem 7
#'   and Corollary 1 without the losses; [advanced_composition()]).
#' * `"sequence"`: what the sequence of arms leaks, not the posterior draws
#'   ([sequence_rdp()]). Usually by far the smallest for Gaussian Thompson sampling.
#'
#' A policy that promises nothing has epsilon `Inf`, under whichever accountant is asked for.
#'
#' For Gaussian Thompson sampling the rounds composed are `horizon` - `arms` x `prepulls`,
#' since the pre-pulls depend on no data, and a round is mu-GDP with
#' mu = 1 / sqrt(`variance_scale` (max(`prepulls`, 1) + 1)), since a changed reward can only be in
#' an arm that holds one. The paper states two readings: without pre-pulls, sqrt(1/2) for a round
#' (Lemma 3); with them, 1 / sqrt(c (b + 1)) over all T rounds (Lemma 5), which at b = 0, c = 1
#' is 1. What is used here is valid, agrees with the first and is never above the second. The
#' paper's own numbers are one call each:
#'
#' * Theorem 3: `gdp_epsilon(sqrt(T / 2), delta)`
#' * Theorem 4: `gdp_epsilon(sqrt(T / (c * (b + 1))), delta)`
#' * Theorem 8: `rdp_epsilon(rdp = T / 4, delta = delta, conversion = "mironov")`, and
#'   `rdp = T / (2 * c * (b + 1))` for the modified algorithm
#' * Theorem 7: epsilon `5 * sqrt(log(2 / d))` at delta `(N - 1) * d`
#' * Corollary 1: `advanced_composition(5 * sqrt(log(2 / d)), (N - 1) * d, T, slack)`
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. What is
#' published is the sequence of arms: not the posterior means or draws, the seed,
#' `.Random.seed` or the time that a round took. Assumed: rewards in \[0, 1\], a horizon known in
#' advance (except for `"pure"` policies, and those whose GDP holds for any horizon), and
#' parameters such as `prepulls` and `variance_scale` chosen without looking at the data.
#'
#' The guarantees are those of the algorithms over the reals. In floating point each choice
#' is off by a rounding error: if the law of a whole transcript is within eta of the ideal one in
#' total variation, its trade-off curve loses at most eta in both arguments. With uniforms of 53
#' bits eta is about rounds x arms^2 x 1e-15.
#'
#' @param policies A policy, such as [policy_ts_gaussian()], or a named list of them.
#' @param horizon Number of rounds, pre-pulls included: whole numbers.
#' @param ... Must be empty: what follows is named.
#' @param delta Numbers in \[0, 1\].
#' @param accountant Some of `"pure"`, `"tradeoff"`, `"gdp"`, `"rdp"`, `"advanced"` and
#'   `"sequence"`, or `NULL` for all that apply to a policy (`"tradeoff"` only where it is
#'   named). Accountants that do not apply to one of the policies are
#'   left out for it; if none applies it is an error.
#' @param arms Number of arms: a whole number, at least 2.
#' @returns A tibble of class `dpts_privacy`, one row for each policy, accountant,
#'   horizon and delta:
#'   * `policy`: factor, labelled by the names of `policies`;
#'   * `accountant`: as above;
#'   * `horizon`: number of rounds, pre-pulls included;
#'   * `delta`: as given;
#'   * `epsilon`: the arms published over the horizon are (epsilon, delta)-DP.
#' @references Ou, T., Avella Medina, M. and Cummings, R. (2024). Thompson Sampling Itself is
#'   Differentially Private. arXiv:2407.14879.
#' @family privacy
#' @examples
#' curves <- dpts_privacy(policy_ts_gaussian(), horizon = 1000, delta = 10^-(3:8))
#' curves
#' summary(curves)
#' autoplot(curves)
#'
#' # Ou et al., Figure 1 (left): more pre-pulls, less epsilon
#' b <- c(0, 4, 9, 19)
#' policies <- lapply(b, policy_ts_gaussian)
#' names(policies) <- paste("b =", b)
#' autoplot(dpts_privacy(policies, horizon = 1000, accountant = "gdp"))
#' @export
dpts_privacy <- function(policies, horizon, ..., delta = 10^-(1:12), accountant = NULL,
                         arms = 2) {
  check_dots_empty(...)
  policies <- check_policies(policies)
  horizon <- check_counts(horizon)
  delta <- check_numbers(delta, 0, 1)
  if (!is.null(accountant)) {
    accountant <- unique(check_choice(accountant, names(accountants()), several = TRUE))
  }
  arms <- check_count(arms, 2)
  plan <- lapply(names(policies), function(name) {
    plan_accountants(policies[[name]]$guarantee, accountant, name)
  })
  parts <- Map(function(name, own) {
    guarantee <- policies[[name]]$guarantee
    cells <- expand.grid(horizon = horizon, accountant = own, stringsAsFactors = FALSE)
    epsilon <- Map(function(horizon, accountant) {
      account(guarantee, accountant, horizon, arms, delta)
    }, cells$horizon, cells$accountant)
    list(policy = rep(name, nrow(cells) * length(delta)),
         accountant = rep(cells$accountant, each = length(delta)),
         horizon = rep(cells$horizon, each = length(delta)),
         delta = rep(delta, nrow(cells)), epsilon = unlist(epsilon))
  }, names(policies), plan)
  column <- function(name) unlist(lapply(parts, `[[`, name), use.names = FALSE)
  new_privacy(
    list(policy = factor(column("policy"), names(policies)),
         accountant = column("accountant"), horizon = column("horizon"),
         delta = column("delta"), epsilon = column("epsilon")),
    policies, list(arms = arms)
  )
}

# ---- accountants ----------------------------------------------------------------------
# An accountant is a function of a guarantee, a horizon, a number of arms and deltas;
# it gives an epsilon for each delta. It reads the guarantee, never the policy.

accountants <- function() {
  list(
    pure = function(guarantee, horizon, arms, delta) rep(guarantee$epsilon, length(delta)),
    tradeoff = function(guarantee, horizon, arms, delta) pure_curve(guarantee$epsilon, delta),
    gdp = function(guarantee, horizon, arms, delta) {
      gdp_epsilon(guarantee_mu(guarantee, horizon, arms), delta)
    },
    rdp = function(guarantee, horizon, arms, delta) {
      rdp_epsilon(rdp = guarantee_mu(guarantee, horizon, arms)^2 / 2, delta = delta)
    },
    advanced = function(guarantee, horizon, arms, delta) {
      if (guarantee$kind == "approx") {
        return(vapply(delta, function(d) guarantee$epsilon(horizon, arms, d), 0))
      }
      compose_rounds(guarantee$mu, guarantee_rounds(guarantee, horizon, arms), delta)
    },
    sequence = function(guarantee, horizon, arms, delta) {
      rounds <- guarantee_rounds(guarantee, horizon, arms)
      as.numeric(sequence_epsilon(delta, rounds, guarantee$prepulls,
                                  guarantee$variance_scale))
    }
  )
}

#' Which accountants read a kind of guarantee
#' @noRd
accountants_of <- function(kind) {
  switch(kind,
    none = names(accountants()),
    pure = c("pure", "tradeoff"),
    gdp = c("gdp", "rdp"),
    gdp_rounds = c("gdp", "rdp", "advanced", "sequence"),
    approx = "advanced",
    character()
  )
}

plan_accountants <- function(guarantee, accountant, name, call = caller_env()) {
  able <- accountants_of(guarantee$kind)
  # One line says all there is to say of a policy without a guarantee, and the flat line is
  # what a pure policy promises; its trade-off is for those who ask.
  if (is.null(accountant)) {
    return(if (guarantee$kind %in% c("none", "pure")) "pure" else able)
  }
  own <- intersect(accountant, able)
  if (length(own) == 0) {
    rlang::abort(
      sprintf(paste("`accountant` must be able to read the guarantee of policy \"%s\" (%s):",
                    "%s."), name, format(guarantee),
              paste0("\"", able, "\"", collapse = ", ")),
      class = c("dpts_error_accountant", "dpts_error_input", "dpts_error"),
      arg = "accountant", call = user_frame(call)
    )
  }
  own
}

account <- function(guarantee, accountant, horizon, arms, delta) {
  if (guarantee$kind == "none") return(rep(Inf, length(delta)))
  accountants()[[accountant]](guarantee, horizon, arms, delta)
}

#' Rounds that depend on data; none if the pre-pulls fill the horizon
#' @noRd
guarantee_rounds <- function(guarantee, horizon, arms) {
  max(0, horizon - arms * guarantee$prepulls)
}

#' The mu of a whole run. A policy may give it as a function of (horizon, arms).
#' @noRd
guarantee_mu <- function(guarantee, horizon, arms) {
  if (guarantee$kind == "gdp_rounds") {
    return(guarantee$mu * sqrt(guarantee_rounds(guarantee, horizon, arms)))
  }
  if (is.function(guarantee$mu)) guarantee$mu(horizon, arms) else guarantee$mu
}
