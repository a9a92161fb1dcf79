# What test-recipes.R installs is played here.
library(dpts, lib.loc = Sys.getenv("DPTS_TOYS"))
dpts <- asNamespace("dpts")

policy <- dpts$policy_toy(epsilon = 2)
arms <- dpts$arms_toy(c(1, 3))
sim <- dpts_simulate(arms, policy, 1000, runs = 50, record = c(10, 1000), seed = 1)
end <- sim[sim$t == 1000, ]
pulled <- pulls(sim)
# The distribution, the observer
stopifnot(
  abs(mean(end$reward - 0.75 * 1000 + end$regret)) < 6 * sqrt(1000 / 50) * 0.3,
  identical(end$first, pulled$pulls[pulled$arm == 1]), all(sim$first[sim$t == 10] <= 9)
)

# The world: the arm that is always pulled is the best in every other round.
flips <- dpts_simulate(dpts$arms_toy_world(c(1, 0)), policy_fixed(1), 100, seed = 1)
stopifnot(flips$reward[flips$t == 100] == 50, flips$regret[flips$t == 100] == 50)

# The kind of guarantee, the accountant; as a budget, and with what the package itself asks of accountants
private <- dpts_privacy(policy, horizon = 100, accountant = c("pure", "toy"))
stopifnot(private$epsilon[private$accountant == "pure"] == 2, private$epsilon[private$accountant == "toy"] == 4)
at <- dpts$conditions(100)
stopifnot(
  dpts$inside_budget(policy$guarantee, dpts$privacy_toy(2), at),
  dpts$inside_budget(policy$guarantee, privacy_approx(2.5, 1e-6), at),
  !dpts$inside_budget(policy$guarantee, privacy_pure(1.9), at),
  nrow(dpts_privacy(privacy_compose(policy, privacy_gdp(1)), horizon = 100, delta = 1e-6, accountant = "gdp")) == 1
)

# The stopping rule: looked at, against the same by hand; it stops, gives verdicts and effects, and is planned with.
arms <- arms_bernoulli(c(0.3, 0.6))
tossed <- policy_randomised(mu = 1, block = 100)
sim <- dpts_simulate(arms, tossed, 2000, runs = 3, seed = 1, history = TRUE)
seen <- evidence(sim, "toy")
kept <- estimates(sim)[1:2, ] # of the first run
v <- kept$rewards / 4 + 20
by_hand <- diff(kept$mean)^2 / (2 * sum((v + 100) / kept$rewards^2)) - sum(log1p(v / 100)) / 2
own <- seen[seen$run == 1 & seen$arm == 2, ]
concluded <- verdict(sim)
found <- dpts_identify(arms, tossed, limit = 2000, runs = 3, seed = 1)
plan <- dpts_plan(tossed, arms, 2000, runs = 20, seed = 1)
stopifnot(
  abs(own$evidence[nrow(own)] - by_hand) < 1e-6, all(found$arm == 2), identical(found$people, concluded$t),
  concluded$t[1] == own$t[own$evidence >= own$line][1], all(effects(sim)$lower > 0), all(effects(sim)$upper < 0.5),
  summary(plan)$proved[2] == 1,
  tryCatch(evidence(sim, "toy", against = 0.5), dpts_error_input = conditionMessage) ==
    "`against` must be NULL if `kind` is \"toy\", not 0.5."
)

# The store, in which a policy of one's own lives
agent <- dpts_agent(policy, c("a", "b"), store = "toy:", use = "arrival")
ticket <- agent_choose(agent)$ticket
agent_reward(agent, ticket, 1)
stopifnot(identical(agent$store$label, "toy"), sum(pulls(agent)$pulls) == 1)
cat("all toys run\n")
