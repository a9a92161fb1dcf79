# A short simulation of every law and policy, for valgrind.
library(dpts)
laws <- list(arms_bernoulli(c(0.6, 0.4)), arms_truncexp(c(1, -2, 0)), arms_beta(c(2, 0.5), 1),
             arms_discrete(c(0, 0.3, 1), rbind(c(0.2, 0.5, 0.3), c(0.6, 0.2, 0.2))))
policies <- list(uniform = policy_uniform(), ucb1 = policy_ucb1(), beta = policy_ts_beta(),
                 gaussian = policy_ts_gaussian(), modified = policy_ts_gaussian(10, 3))
for (arms in laws) {
  sim <- dpts_simulate(arms, policies, 2000, runs = 2, seed = 1)
  stopifnot(all(is.finite(sim$regret)))
}
cat("valgrind: no errors\n")
