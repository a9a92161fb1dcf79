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

# The kind of guarantee, the accountant
private <- dpts_privacy(policy, horizon = 100, accountant = c("pure", "toy"))
stopifnot(private$epsilon[private$accountant == "pure"] == 2, private$epsilon[private$accountant == "toy"] == 4)

# The store, in which a policy of one's own lives
agent <- dpts_agent(policy, c("a", "b"), store = "toy:", use = "arrival")
ticket <- agent_choose(agent)$ticket
agent_reward(agent, ticket, 1)
stopifnot(identical(agent$store$label, "toy"), sum(pulls(agent)$pulls) == 1)
cat("all toys run\n")
