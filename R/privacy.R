#' Account for the privacy of policies
#'
#' `dpts_privacy()` computes how much a policy reveals about one reward, as a curve of epsilon against delta.
#' Use it to state the privacy of a policy, a simulation or a replay in (epsilon, delta). Every accountant
#' that applies gives a valid upper bound, so take the smallest: [summary()][summary.dpts_privacy] picks it.
#' It does not find settings for a budget ([dpts_calibrate()]), and it trusts what a policy declares; to test
#' that, use [dpts_audit()].
#'
#' @details
#' Quick start:
#'
#' ```
#' summary(dpts_privacy(policy_gaussian_imed(mu = 1), horizon = 1e4, delta = 1e-6))
#' privacy_statement(policy_gaussian_imed(mu = 1))   # the same in words
#' ```
#'
#' Epsilon = 1 means that no outcome's probability changes by more than a factor of e if one reward is
#' changed; delta is the probability with which this may fail. Choose delta well below one over the number of
#' people.
#'
#' @section Accountants:
#' * `"pure"`: for epsilon-DP policies. Epsilon is the same at every horizon and delta.
#' * `"pld"`: the exact curve of a known guarantee. For epsilon-DP it is epsilon' = ln(exp(epsilon) - delta
#'   (1 + exp(epsilon))), the curve of randomised response. For several guarantees together it is optimal
#'   composition, within about 2% where their losses have very many sums ([privacy_compose()]).
#' * `"gdp"`: Gaussian DP, converted exactly ([gdp_epsilon()]). Gaussian Thompson sampling composes to
#'   sqrt(rounds) times the mu of a round (Ou et al., Theorems 3 and 4).
#' * `"rdp"`: Rényi DP of the same mechanism with the improved conversion, minimised over all orders (their
#'   Theorem 8, sharpened; [rdp_epsilon()]). Never better than `"gdp"`.
#' * `"advanced"`: the exact (epsilon, delta) curve of one round under basic or advanced composition,
#'   whichever is smaller, with the best split of delta (their Theorem 7 and Corollary 1 without the losses).
#'   T rounds of (epsilon, d)-DP are (T epsilon, T d)-DP, and at delta = T d + slack their epsilon is at most
#'   epsilon sqrt(2 T log(1 / slack)) + T epsilon (exp(epsilon) - 1) (Dwork, Rothblum and Vadhan 2010).
#' * `"sequence"`: for the sequence of arms, when posterior draws are not published ([sequence_rdp()]); by
#'   Rényi orders.
#' * `"direct"`: also for the sequence of arms, without Rényi orders: the least of near-GDP, the recursion
#'   in (epsilon, delta) itself and `"sequence"`, where each applies ([sequence_gdp()], [sequence_epsilon()]).
#'   The smallest for Gaussian Thompson sampling.
#'
#' For a policy without a guarantee, epsilon is `Inf` under every accountant.
#'
#' @section Gaussian Thompson sampling:
#' The rounds composed are `horizon` - `arms` x `prepulls`, since the
#' pre-pulls depend on no data. A round is mu-GDP with mu = 1 / sqrt(`variance_scale` (max(`prepulls`, 1) +
#' 1)), since a changed reward can only be in an arm that holds one. Ou et al. state two readings. Without
#' pre-pulls a round has sqrt(1/2) (Lemma 3); with them it has 1 / sqrt(c (b + 1)) over all T rounds (Lemma
#' 5), which at b = 0, c = 1 is 1. The reading here is valid, agrees with the first and is never above the
#' second. The paper's own numbers are one call each:
#'
#' * Theorem 3: `gdp_epsilon(sqrt(T / 2), delta)`
#' * Theorem 4: `gdp_epsilon(sqrt(T / (c * (b + 1))), delta)`
#' * Theorem 8: `rdp_epsilon(rdp = T / 4, delta = delta, conversion = "mironov")`, and
#'   `rdp = T / (2 * c * (b + 1))` for the modified algorithm
#' * Theorem 7: epsilon `5 * sqrt(log(2 / d))` at delta `(N - 1) * d`
#' * Corollary 1: the same T times by the formula above, an astronomical number, since 5 sqrt(log(2 / d))
#'   exceeds 4 for every d. The lemma that it rests on is stated for epsilon below 1, and the factor
#'   N - 1 is not needed: one round is exactly (epsilon, `gdp_delta(sqrt(1/2), epsilon)`)-DP.
#'
#' @section Conditions:
#' * Delay. Every guarantee holds for rewards that come at once, late, in any order or never. Policies
#'   that release noisy sums release a batch when all its rewards are in, and each reward is in as
#'   many releases as without a delay. Gaussian Thompson sampling divides by the pulls that were
#'   assigned, not by the rewards that came, so a reward weighs as little as without a delay. The
#'   epsilons are therefore the same for every `delay`.
#' * Available arms. If arms can be unavailable, an arm's pre-pulls may come at any time and do not shorten
#'   the rounds of the others, but sampling starts only when at least two arms have completed their pre-pulls.
#'   With `pools = TRUE` Gaussian Thompson sampling is charged for `horizon` - 2 `prepulls` rounds. For other
#'   policies nothing changes.
#' * Replay. In a replay of a log whose arms are known, every event *read* is a draw of Gaussian Thompson
#'   sampling, kept or not. The accountants `"sequence"` and `"direct"` do not apply, and the others charge
#'   the events read. The result of a replay states its guarantee.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. What is
#' published is the sequence of arms: not the posterior means or draws, the seed,
#' `.Random.seed` or the time that a round took. Assumed: rewards in \[0, 1\], a horizon known in
#' advance (except for `"pure"` policies, and those whose GDP holds for any horizon), and
#' parameters such as `prepulls` and `variance_scale` chosen without looking at the data.
#'
#' The guarantees are those of the algorithms over the reals. In floating point each choice
#' is off by a rounding error: if the distribution of a whole transcript is within eta of the ideal
#' one in total variation, its trade-off curve loses at most eta in both arguments. With uniforms of 53
#' bits eta is at most rounds x (arms x 3e-15 + 2.3e-17 sqrt(rounds / variance_scale)).
#'
#' @param policies A policy, such as [policy_ts_gaussian()], a result of [dpts_simulate()] or [dpts_replay()]
#'   (for its policies, under its own conditions: of several problems the most rounds, the longest delay and
#'   the fewest arms), a guarantee from [privacy_compose()] or [privacy_group()], a budget, or a named list of
#'   them.
#' @param horizon Number of rounds, pre-pulls included: whole numbers.
#' @param ... Not used; later arguments must be named.
#' @param delta The probability with which epsilon may be exceeded, in (epsilon, delta)-DP: numbers in
#'   \[0, 1\].
#' @param accountant Method by which epsilon is computed: one or more of `"pure"`, `"pld"`, `"gdp"`,
#'   `"rdp"`, `"advanced"`, `"sequence"` and `"direct"`, or `NULL` for all that apply (`"pld"` for a single
#'   pure policy only if you name it). An accountant that does not apply to one of the policies is left out
#'   for it; if none applies, an error says why.
#' @param lower Whether to add a lower bound: what Gaussian Thompson sampling leaks at least to an adversary
#'   who knows the other arms' largest draw, by [sequence_lower_bound()] with `bounded = TRUE`. This takes
#'   some seconds for each horizon.
#' @param arms Number of arms: a whole number, at least 2.
#' @param delay Rounds until a reward comes: a number of at least 0, or `Inf`. It is part of the
#'   statement; see Conditions.
#' @param pools Whether arms can be unavailable in some rounds: `TRUE` or `FALSE`.
#' @returns A tibble of class `dpts_privacy`, one row for each policy, accountant, horizon and delta:
#'   * `policy`: factor, labelled by the names of `policies`;
#'   * `accountant`: as above;
#'   * `horizon`: number of rounds, pre-pulls included;
#'   * `delta`: as given;
#'   * `epsilon`: the arms published over the horizon are (epsilon, delta)-DP;
#'   * `lower` (if asked for): no smaller epsilon can be proved without knowing more about the other arms
#'     (with few arms, all new and always available, the truth may lie below). [sequence_lower_bound()] says
#'     where the two are far apart and why. `NA` for other policies.
#'
#'   Printing it names the conditions.
#' @template ou
#' @references Dwork, C., Rothblum, G. N. and Vadhan, S. (2010). Boosting and Differential Privacy. FOCS.
#' @seealso [privacy_statement()] says the same in words, [dpts_calibrate()] finds the noise for a budget,
#'   [privacy_compose()] adds several experiments.
#' @concept privacy
#' @concept moments accountant
#' @concept privacy accountant
#' @examples
#' curves <- dpts_privacy(policy_ts_gaussian(), horizon = 300, delta = 10^-(3:8))
#' curves
#' summary(curves)
#' autoplot(curves)
#' # from below, too
#' band <- dpts_privacy(policy_ts_gaussian(50, 3), horizon = 200, delta = c(1e-2, 1e-4),
#'                      accountant = "direct", lower = TRUE)
#' autoplot(band)
#'
#' # Ou et al., Figure 1 (left): more pre-pulls, less epsilon
#' b <- c(0, 4, 9, 19)
#' policies <- lapply(b, policy_ts_gaussian)
#' names(policies) <- paste("b =", b)
#' autoplot(dpts_privacy(policies, horizon = 1000, accountant = "gdp"))
#' @export
dpts_privacy <- function(policies, ...) UseMethod("dpts_privacy")

#' @rdname dpts_privacy
#' @export
dpts_privacy.default <- function(policies, horizon, ..., delta = 10^-(1:12), accountant = NULL,
                                 lower = FALSE, arms = 2, delay = 0, pools = FALSE) {
  check_dots_empty(...)
  check_all_given()
  guarantees <- check_guaranteed(policies)
  horizon <- check_counts(horizon)
  delta <- check_numbers(delta, 0, 1)
  if (!is.null(accountant)) {
    accountant <- unique(check_choice(accountant, ACCOUNTANTS, several = TRUE))
  }
  arms <- check_count(arms, 2)
  delay <- check_number(delay, 0, inf = TRUE)
  check_flag(pools)
  check_flag(lower)
  begin_stages()
  cells <- do.call(rbind, lapply(names(guarantees), function(name) {
    guarantee <- guarantees[[name]]
    # A statement whose conditions are fixed brings its own horizon.
    horizon <- guarantee$at$horizon %||% horizon
    able <- plan_accountants(guarantee, accountant, conditions(horizon[1], arms, delay, pools), name)
    expand.grid(horizon = horizon, accountant = able, policy = name, stringsAsFactors = FALSE)
  }))
  epsilon <- unlist(Map(function(name, accountant, horizon) {
    account(guarantees[[name]], accountant, conditions(horizon, arms, delay, pools), delta)
  }, cells$policy, cells$accountant, cells$horizon), use.names = FALSE)
  each <- function(column) rep(column, each = length(delta))
  below <- if (lower) {
    list(lower = lower_of_cells(cells, delta, function(name, horizon) {
      form(guarantees[[name]], "lower", conditions(horizon, arms, delay, pools))
    }))
  }
  new_privacy(
    c(list(policy = factor(each(cells$policy), names(guarantees)),
           accountant = each(cells$accountant), horizon = each(cells$horizon),
           delta = rep(delta, nrow(cells)), epsilon = epsilon), below),
    guarantees, list(arms = arms, pools = pools)
  )
}

#' A replay's conditions are those under which it was made
#' @rdname dpts_privacy
#' @export
dpts_privacy.dpts_replay <- function(policies, horizon = NULL, ..., arms, pools) {
  check_result(policies)
  dpts_privacy.default(policies, horizon %||% shared(policies, "events"), ...,
                       arms = length(shared(policies, "arms")), pools = shared(policies, "pools"))
}

#' @rdname dpts_privacy
#' @export
dpts_privacy.dpts_simulation <- function(policies, horizon = NULL, ..., arms, delay) {
  check_result(policies, labels = TRUE)
  problems <- if (is_label(policies[["problem"]])) things_of(droplevels(policies$problem)) else
    list(shared(policies, "problem"))
  delays <- lapply(problems, function(problem) if (is.function(problem$delay)) Inf else problem$delay)
  # Of several problems the conditions of all at once: more rounds, and fewer arms, leak no less.
  dpts_privacy.default(policies(policies), horizon %||% max(vapply(problems, `[[`, 0, "horizon")), ...,
                       arms = min(vapply(problems, function(problem) n_arms(problem$arms), 0)),
                       delay = max(unlist(delays)))
}

# The lower bound of each cell, at every delta: the same for all accountants
lower_of_cells <- function(cells, delta, form_at) {
  runs <- unique(cells[c("policy", "horizon")])
  found <- Map(function(name, horizon) {
    lower <- form_at(name, horizon)
    if (is.null(lower)) rep(NA_real_, length(delta)) else lower(delta)
  }, runs$policy, runs$horizon)
  key <- function(x) paste(x$horizon, x$policy)
  unlist(found[match(key(cells), key(runs))], use.names = FALSE)
}

# Policies, guarantees and budgets, one or a list of them, as a named list of guarantees
check_guaranteed <- function(x, arg = caller_arg(x)) {
  force(arg)
  if (inherits(x, "dpts_replay")) return(replay_statements(x))
  if (inherits(x, "dpts_simulation")) x <- policies(x)
  one <- function(x) is_policy(x) || inherits(x, "dpts_guarantee")
  name <- function(x) if (is_policy(x)) x$name else x$kind
  if (one(x)) return(stats::setNames(list(as_guarantee(x, arg)), name(x)))
  # Lists of policies alone get the labels and the errors that every verb gives them.
  mixed <- is.list(x) && length(x) > 0 && all(vapply(x, one, NA)) && !all(vapply(x, is_policy, NA))
  if (!mixed) return(lapply(check_policies(x, arg), `[[`, "guarantee"))
  lapply(name_all(x, function(own) vapply(own, name, ""), arg), as_guarantee, arg = arg)
}

# The statements of the policies of a replay, for the delays that it shows
replay_statements <- function(x) {
  lapply(policies(x), replay_statement, events = shared(x, "events"),
         arms = length(shared(x, "arms")), delay = max(x[["delay"]], 0), pools = shared(x, "pools"),
         horizon = shared(x, "horizon"))
}
