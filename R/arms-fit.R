# Does a policy fit the arms that it is to play?

takes_any_reward <- function(policy) isTRUE(policy$any_reward)

# Rewards outside [0, 1] are for policies that make sense of them. A private policy's noise is
# fitted to [0, 1], and others toss coins or take logarithms.
check_rewards <- function(policies, arms) {
  if (all(is.finite(arms$range))) return(invisible())
  for (name in names(policies)) {
    policy <- policies[[name]]
    if (takes_any_reward(policy)) next
    why <- if (promises_nothing(policy$guarantee)) "needs rewards in [0, 1]" else
      "is private and needs rewards in [0, 1], to which its noise is fitted"
    hint <- if (inherits(arms, "dpts_arms_data"))
      "Scale outcomes to [0, 1], by a range that does not depend on the data." else
      "A finite `range` clips rewards, and scales them for the policies; `policy_clipped()` finds one."
    abort_input("policies", paste("`policies` must fit `arms`, whose rewards may lie outside [0, 1]:",
                                  "policy \"%s\" %s."), name, why, class = "dpts_error_rewards", hint = hint)
  }
}

# Are all rewards at an end of their range? NA: R, or a program, gives them.
are_coins <- function(arms) {
  if (world_kind(arms) %in% c("supplied", "table", "adversary", "compiled", "stream")) return(NA)
  all(vapply(world_parts(arms$world, arms), function(part) {
    all(mapply(function(distribution, par) {
      switch(distribution, bernoulli = TRUE, discrete = all(par[seq_len(length(par) / 3)] %in% c(0, 1)),
             data = all(par %in% c(0, 1)), linear = part$contexts$noise >= 1, FALSE)
    }, part$distribution, part$par))
  }, NA))
}

# Policies may take for coins what varies less.
inform_coins <- function(policies, problems) {
  outcome <- vapply(policies, function(policy) unwrapped(policy)$params$outcome %||% "", "")
  if ("continuous" %in% outcome || !"binary" %in% outcome) return(invisible())
  if (!any(vapply(problems, function(arms) isFALSE(are_coins(arms)), NA))) return(invisible())
  rlang::inform(c(
    sprintf("Rewards are not only 0 and 1, and policy \"%s\" takes them as coins, which vary the most.",
            names(policies)[match("binary", outcome)]),
    i = "With `outcome = \"continuous\"` it knows how much they vary, and needs fewer people."
  ), class = "dpts_message_outcome", .frequency = "once", .frequency_id = "dpts_outcome")
}

# Verdicts are about means that do not change, of rewards in a range
check_steady <- function(arms, arg = caller_arg(arms)) {
  if (is_changing(arms)) abort_arg(arg, "arms whose means do not change")
  if (!all(is.finite(arms$range))) abort_arg(arg, "arms whose rewards have a range")
}

# Bounds in gaps of means are about rewards in [0, 1] whose means do not change
check_stationary <- function(arms, arg = caller_arg(arms)) {
  if (is_changing(arms)) abort_arg(arg, "arms whose means do not change")
  if (!identical(arms$range, c(0, 1))) abort_arg(arg, "arms with rewards in [0, 1]")
}

# A log in its recorded order has an end
check_recorded <- function(arms, horizon) {
  if (world_kind(arms) != "recorded") return(invisible())
  rows <- sum(lengths(arms$par))
  if (horizon > rows) {
    abort_arg("horizon", sprintf(
      "at most %s, the number of recorded rewards, which are used once each (`replace = FALSE`)",
      words_whole(rows)
    ), horizon, class = "dpts_error_horizon")
  }
}
