# A short simulation of every law, policy and engine, for valgrind.
library(dpts)
laws <- list(
  arms_bernoulli(c(0.6, 0.4)), arms_truncexp(c(1, -2, 0)), arms_beta(c(2, 0.5), 1),
  arms_discrete(c(0, 0.3, 1), rbind(c(0.2, 0.5, 0.3), c(0.6, 0.2, 0.2))),
  arms_linear(rbind(c(0.5, 0.1), c(0.1, 0.5)))
)
# Every constructor: epsilon, mu or alpha where it asks for one, else its defaults.
constructors <- grep("^policy_", getNamespaceExports("dpts"), value = TRUE)
policies <- lapply(stats::setNames(nm = sort(constructors)), function(name) {
  constructor <- getExportedValue("dpts", name)
  asked <- Filter(function(x) identical(x, quote(expr = )), formals(constructor))
  asked$... <- NULL
  do.call(constructor, stats::setNames(as.list(rep(0.5, length(asked))), names(asked)))
})
policies$modified <- policy_ts_gaussian(10, 3)
policies$linucb_private <- policy_linucb(epsilon = 1)
policies$linucb_gaussian <- policy_linucb(mu = 1, batch = 3)
policies$logistic_private <- policy_logistic_ucb(mu = 1, batch = 3)
contextual <- grepl("^policy_(lin|logistic)", names(policies)) |
  names(policies) %in% c("linucb_private", "linucb_gaussian", "logistic_private")
for (arms in laws) {
  own <- if (inherits(arms, "arms_linear")) policies else policies[!contextual]
  for (engine in c("auto", "plain")) {
    options(dpts.engine = engine)
    sim <- dpts_simulate(arms, own, 1000, runs = 2, seed = 1)
    stopifnot(all(is.finite(sim$regret)))
  }
}
invisible(sequence_rdp(c(1.5, 4), 2000, 0, 1))
replayed <- dpts_replay(open_bandit[1:2000, ], policies["policy_ucb1"], delay = 10, runs = 1)
cat("valgrind: no errors in", length(policies), "policies\n")
