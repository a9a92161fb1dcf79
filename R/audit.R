dpts_audit <- function(policy, horizon, ..., arms = 2, streams = NULL, delta = 0, runs = 1e5,
                       level = 0.999, method = c("sampling", "coupling", "exact"), seed = NULL) {
  check_dots_empty(...)
  call <- rlang::current_env()
  check_class(policy, "policy", "a policy, such as `policy_ts_gaussian()`")
  horizon <- check_count(horizon, 1, 1e9)
  if (missing(arms) && is.list(streams) && length(streams) && is.matrix(streams[[1]])) {
    arms <- ncol(streams[[1]])
  }
  arms <- check_count(arms, 2, 1e4)
  delta <- unique(check_numbers(delta, 0, 1, open = c(FALSE, TRUE)))
  runs <- check_count(runs, 100, 1e9)
  level <- check_number(level, 0, 1, open = TRUE)
  method <- check_choice(method, c("sampling", "coupling", "exact"))
  check_horizon(stats::setNames(list(policy), policy$name), arms, horizon)
  check_audited(policy, arms)
  seed <- check_seed(seed)
  pairs <- audit_adversaries(streams, horizon, arms, seed, call)
  # Beta Thompson sampling publishes no coin tosses: of the catalogue, the rewards of 0 and 1.
  if (method == "exact" && is.null(streams) && policy$name == "ts_beta") {
    pairs <- Filter(only_bits, pairs)
  }
  claimed <- claimed_epsilon(policy, conditions(horizon, arms), delta)
  found <- switch(
    method,
    sampling = audit_sampling(policy, pairs, runs, seed, (1 - level) / (2 * length(pairs) * length(delta)),
                              delta),
    exact = audit_exact(policy, pairs, delta, call)
  )
  lower <- unlist(lapply(found, `[[`, "lower"), use.names = FALSE)
  each <- function(column) rep(column, each = length(delta))
  columns <- list(
    adversary = each(names(pairs)), method = rep(method, length(lower)),
    delta = rep(delta, length(pairs)), claimed = rep(claimed, length(pairs)), lower = lower,
    runs = each(vapply(found, `[[`, 0, "runs", USE.NAMES = FALSE)),
    holds = lower <= rep(claimed, length(pairs)) * (1 + 1e-9) + 1e-12
  )
  tibble::new_tibble(columns, nrow = length(lower), class = "dpts_audit",
                     setup = list(policy = policy, horizon = horizon, arms = arms, level = level,
                                  seed = seed, streams = lapply(found, `[[`, "pair")))
}

#' Policies that play without contexts, on so many arms
#' @noRd
check_audited <- function(policy, k, call = caller_env()) {
  if (is_contextual(policy)) {
    rlang::abort("`policy` must choose without contexts: an audit plays tables of rewards.",
                 class = c("dpts_error_contexts", "dpts_error_input", "dpts_error"),
                 arg = "policy", call = call)
  }
  if (policy$name == "fixed" && policy$params$arm > k) {
    rlang::abort(sprintf("`policy` pulls arm %s of %s.", format(policy$params$arm), format(k)),
                 class = c("dpts_error_input", "dpts_error"), arg = "policy", call = call)
  }
}

#' The least epsilon that follows from what the policy declares, at each delta
#' @noRd
claimed_epsilon <- function(policy, at, delta) {
  if (promises_nothing(policy$guarantee)) return(rep(Inf, length(delta)))
  least_epsilon(policy$guarantee, at, delta)
}
