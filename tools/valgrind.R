# A short simulation of every kind of arms, policy and engine, for valgrind.
suppressPackageStartupMessages(library(dpts))
`%||%` <- function(x, y) if (is.null(x)) y else x # R before 4.4 has none
kinds <- list(
  arms_bernoulli(c(0.6, 0.4)), arms_truncexp(c(1, -2, 0)), arms_beta(c(2, 0.5), 1),
  arms_discrete(c(0, 0.3, 1), rbind(c(0.2, 0.5, 0.3), c(0.6, 0.2, 0.2))),
  arms_linear(rbind(c(0.5, 0.1), c(0.1, 0.5)))
)
# Every constructor but that of policies in R, which comes below: epsilon, mu or alpha where it asks for one,
# a policy and its life where it wraps one, else its defaults.
constructors <- setdiff(grep("^policy_", getNamespaceExports("dpts"), value = TRUE), "policy_custom")
wrapped <- list(policy = policy_ts_gaussian(), every = 300)
policies <- lapply(stats::setNames(nm = sort(constructors)), function(name) {
  constructor <- getExportedValue("dpts", name)
  asked <- Filter(function(x) identical(x, quote(expr = )), formals(constructor))
  asked$... <- NULL
  do.call(constructor, lapply(stats::setNames(nm = names(asked)), function(arg) wrapped[[arg]] %||% 0.5))
})
policies$custom <- policy_custom(
  "turns", start = function(k, horizon) 0, choose = function(state, round) round$t %% length(round$offer) + 1,
  update = function(state, feedback) state + feedback$reward
)
policies$modified <- policy_ts_gaussian(10, 3)
policies$linucb_private <- policy_linucb(epsilon = 1, batch = 3)
policies$linucb_bits <- policy_linucb(epsilon = 1, contexts = "public", norm = 1, intercept = TRUE)
policies$linucb_tree <- policy_linucb(epsilon = 1, mechanism = "tree")
policies$linucb_gaussian <- policy_linucb(mu = 1, batch = 3)
policies$logistic_private <- policy_logistic_ucb(mu = 1, batch = 3)
contextual <- grepl("^(policy_)?(lin|logistic)", names(policies))
for (arms in kinds) {
  own <- if (inherits(arms, "dpts_arms_linear")) policies else policies[!contextual]
  for (engine in c("auto", "plain")) {
    options(dpts.engine = engine)
    sim <- dpts_simulate(arms, own, 1000, runs = 2, seed = 1)
    stopifnot(all(is.finite(sim$regret)))
  }
}
invisible(sequence_rdp(c(1.5, 4), 2000, 0, 1))
replayed <- dpts_replay(open_bandit[1:2000, ], policies["policy_ucb1"], delay = 10, runs = 1)
# What only live agents use: sessions that are saved with each change, exact noise
live <- list(policy_gaussian_imed(1), policy_lazy_dp_ts(1), policy_ts_gaussian(), policies$custom)
for (policy in live) {
  agent <- dpts_agent(policy, 3, use = "arrival", horizon = 100)
  for (i in 1:20) agent_reward(agent, agent_choose(agent, 5)$ticket, i / 20)
  agent_close(agent)
}
invisible(mechanism_laplace(1:100, 1, exact = TRUE))
invisible(mechanism_gaussian(1:100, 1, exact = TRUE))
cat("valgrind: no errors in", length(policies), "policies\n")
