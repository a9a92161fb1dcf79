test_that("regret_bound() gives numbers where papers have constants, words elsewhere", {
  policies <- list(
    uniform = policy_uniform(), ucb1 = policy_ucb1(), beta = policy_ts_beta(),
    ts = policy_ts_gaussian(), mts = policy_ts_gaussian(10, 4), mt_ucb = policy_mt_ucb(1),
    mt_ts = policy_mt_ts(1), dp_ts = policy_dp_ts(1), lazy = policy_lazy_dp_ts(0.5),
    se = policy_dp_se(1), lu = policy_lazy_ucb(1)
  )
  out <- regret_bound(policies, five_arms(), 1e5)
  expect_s3_class(out, "tbl_df")
  expect_named(out, c("policy", "kind", "bound", "order"))
  expect_true(all(names(policies) %in% out$policy))
  expect_true(all(out$kind %in% c("problem-dependent", "problem-independent")))
  expect_true(all(nzchar(out$order)))
  gaps <- c(0.125, 0.25, 0.375, 0.5)
  at <- function(name) out$bound[out$policy == name]
  expect_equal(at("uniform"), 1e5 * sum(gaps) / 5)
  # Auer, Cesa-Bianchi and Fischer (2002), Theorem 1
  expect_equal(at("ucb1"), 8 * log(1e5) * sum(1 / gaps) + (1 + pi^2 / 3) * sum(gaps))
  # Lai and Robbins, with kl written out
  kl <- function(p, q) p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))
  expect_equal(at("lower bound: Lai and Robbins"),
               log(1e5) * sum(gaps / kl(0.75 - gaps, 0.75)))
  expect_true(all(is.na(at("lazy"))))
  expect_setequal(out$kind[out$policy == "dp_ts"],
                  c("problem-dependent", "problem-independent"))
  expect_equal(sum(grepl("Shariff", out$policy)), 2) # epsilon 1 and 0.5
})

test_that("lower bounds: certain arms, other distributions, a single policy", {
  # Against an arm that always pays, one pull of a failing arm tells: kl = Inf.
  one <- regret_bound(policy_ucb1(), arms_bernoulli(c(1, 0.5)), 100)
  expect_equal(one$policy[1], "ucb1")
  expect_equal(one$bound[grepl("Lai", one$policy)], 0)
  other <- regret_bound(policy_ucb1(), arms_truncexp(c(1, 2)), 100)
  expect_true(is.na(other$bound[grepl("Lai", other$policy)]))
  equal <- regret_bound(policy_ucb1(), arms_bernoulli(c(0.5, 0.5)), 100)
  expect_equal(equal$bound[1], 0)
  expect_match(regret_bound(policy_mt_ts(1, tuned = TRUE), five_arms(), 10)$order[1], "no bound")
  expect_match(regret_bound(policy_ts_gaussian(0, 0.5), five_arms(), 10)$order[1], "none")
})

test_that("UCB1 and uniform choice keep their bounds, and no policy beats Lai and Robbins' order", {
  arms <- five_arms()
  bound <- regret_bound(list(ucb1 = policy_ucb1(), uniform = policy_uniform()), arms, 5000)
  sim <- dpts_simulate(arms, list(ucb1 = policy_ucb1(), uniform = policy_uniform()), 5000,
                       runs = 40, record = I(5000), seed = 1)
  mean <- tapply(sim$regret, sim$policy, mean)
  expect_lt(mean[["ucb1"]], bound$bound[1])
  # exact mean; sd of one round's gap at most 0.25
  expect_lt(abs(mean[["uniform"]] - bound$bound[2]), 4 * 0.25 * sqrt(5000 / 40))
})

test_that("regret_bound() refuses bad input", {
  expect_error(regret_bound(1, five_arms(), 10), class = "dpts_error_input")
  expect_error(regret_bound(policy_ucb1(), 1, 10), class = "dpts_error_input")
  expect_error(regret_bound(policy_ucb1(), five_arms(), 0), class = "dpts_error_input")
})
