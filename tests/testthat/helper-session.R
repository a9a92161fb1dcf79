# Every policy in C, with random options: those that are coupled, and those that release nothing.
# -> named list of list(make, steps, dim)
session_policies <- function() {
  public <- list(
    uniform = policy_uniform, ucb1 = policy_ucb1, imed = policy_imed, klucb = policy_klucb,
    fixed = function() policy_fixed(1),
    ts_beta = function() policy_ts_beta(stats::runif(2, 0.5, 3)),
    ts_gaussian = function() policy_ts_gaussian(sample(0:5, 1), stats::runif(1, 0.1, 5)),
    ts_filter = function() policy_ts_gaussian(sample(0:5, 1), 1, filter = privacy_gdp(stats::runif(1, 0.5, 3))),
    linucb_open = function() policy_linucb(alpha = 0.5), lin_ts_open = function() policy_lin_ts(v = 0.5),
    logistic_open = function() policy_logistic_ucb(alpha = 0.5, model = sample(c("disjoint", "shared"), 1))
  )
  dim <- ifelse(grepl("^lin|^logistic", names(public)), 2, 0)
  public <- Map(function(make, dim) list(make = make, steps = function() sample(8:200, 1), dim = dim),
                public, dim)
  c(public, coupled_policies())
}

# A live session in C
live_handle <- function(policy, k = 3, horizon = 200, dim = 0) {
  .Call(C_session_new, kernel(policy, horizon), k, horizon, as.integer(dim))
}
