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
  # Azize and Basu (2022), epsilon being between the gaps
  adap <- regret_bound(policy_adap_ucb(0.3, alpha = 4), five_arms(), 1e5)$bound[1]
  expect_equal(adap, 16 * 4 * log(1e5) * (1 / 0.125 + 1 / 0.25 + 2 / 0.3) + 4 * 4 / (4 - 3))
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
  orders <- function(policy) regret_bound(policy, five_arms(), 10)$order[1]
  expect_identical(orders(policy_dp_imed(1)), orders(policy_dp_klucb(1))) # Azize et al. 2025, Theorems 5 and 6
  expect_match(orders(policy_dp_imed(1)), "Azize et al. 2025")
  expect_match(orders(policy_dp_imed(1, index = "likelihood")), "none is proved")
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

test_that("lower bounds of epsilon-DP policies: regret and people, against brute force", {
  # d(x, y) by a grid over l
  d <- function(x, y, epsilon) {
    l <- seq(-epsilon, epsilon, length.out = 2e4 + 1)
    max(l * x - log(1 - y + y * exp(l)))
  }
  for (x in c(0, 0.2, 0.75, 1)) for (y in c(0.3, 0.75)) {
    expect_equal(private_kl(x, y, 0.5), d(x, y, 0.5), tolerance = 1e-6)
  }
  expect_equal(private_kl(0.2, 0.7, Inf), 0.2 * log(2 / 7) + 0.8 * log(8 / 3))
  expect_equal(private_kl(c(0, 1, 0.5, 0.5, 1), c(0.5, 0.5, 1, 0.5, 1), Inf), c(log(2), log(2), Inf, 0, 0))
  h <- 1e-6
  expect_equal(private_kl(0.2, 0.6, 0.4, TRUE), (private_kl(0.2, 0.6 + h, 0.4) - private_kl(0.2, 0.6 - h, 0.4)) / (2 * h),
               tolerance = 1e-6)
  out <- regret_bound(policy_dp_imed(0.1), arms_bernoulli(c(0.75, 0.5)), 1e5)
  expect_equal(out$bound[grepl("Azize", out$policy)], 0.25 * log(1e5) / d(0.5, 0.75, 0.1), tolerance = 1e-6)
  # People: two arms, by a grid over weights and theta; epsilon and error as in a published table's case
  brute <- function(m, epsilon, error) {
    w <- seq(0.001, 0.999, length.out = 400)
    theta <- seq(min(m), max(m), length.out = 400)
    at <- outer(w, private_kl(m[1], theta, epsilon)) + outer(1 - w, private_kl(m[2], theta, epsilon))
    (1 - 2 * error) * log((1 - error) / error) / max(apply(at, 1, min))
  }
  for (epsilon in c(0.1, 1, Inf)) {
    expect_equal(people_bound(c(0.6, 0.5), epsilon, 0.01), brute(c(0.6, 0.5), epsilon, 0.01), tolerance = 1e-3)
  }
  # Equal rivals share what is left: three arms by a grid over the weight of the best
  m <- c(0.7, 0.5, 0.5)
  theta <- seq(0.5, 0.7, length.out = 2000)
  of <- lapply(c(0.7, 0.5), private_kl, theta, 0.2)
  rate <- vapply(seq(0.1, 0.8, length.out = 700), function(w) min(w * of[[1]] + (1 - w) / 2 * of[[2]]), 0)
  expect_equal(people_bound(m, 0.2, 0.05), 0.9 * log(19) / max(rate), tolerance = 1e-4)
  # ... and others each have their own weight, in whichever order they are
  at <- expand.grid(near = seq(0.2, 0.7, 0.005), far = seq(0.02, 0.4, 0.005))
  at <- at[at$near + at$far < 1, ]
  of <- function(m, w) {
    theta <- seq(m, 0.7, length.out = 50)
    apply(outer(1 - at$near - at$far, private_kl(0.7, theta, 0.5)) + outer(w, private_kl(m, theta, 0.5)), 1, min)
  }
  rate <- max(pmin(of(0.6, at$near), of(0.3, at$far)))
  for (m in list(c(0.3, 0.7, 0.6), c(0.6, 0.3, 0.7))) {
    expect_equal(people_bound(m, 0.5, 0.05), 0.9 * log(19) / rate, tolerance = 0.01)
  }
  expect_true(is.na(people_bound(c(0.5, 0.5), 1, 0.05)))
  found <- dpts_identify(arms_bernoulli(c(0.9, 0.3)), list(pure = policy_top_two(epsilon = 0.3), gdp = policy_top_two(mu = 1)),
                         runs = 3, seed = 1, limit = 2000)
  expect_equal(summary(found)$bound, c(people_bound(c(0.9, 0.3), 0.3, 0.05), people_bound(c(0.9, 0.3), Inf, 0.05)))
  expect_true(all(summary(found)$mean > summary(found)$bound))
})
