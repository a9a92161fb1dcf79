# The randomised experiment: who is in which block, what is released, and the chances that follow.

# The shares of arms in the rounds `at`, over many runs in which the same was released
shares <- function(policy, k, rounds, forced, at, runs = 300, ...) {
  play <- scripted(policy, k, rep(NA, rounds), rep(1, rounds), forced = forced, ...)
  pulled <- unlist(lapply(seq_len(runs), function(seed) play(seed)$arm[at]))
  tabulate(pulled, k) / length(pulled)
}

# Chances by hand: of arms with means, numbers of rewards and releases so far
chances <- function(rule, n, sum, releases, noise, floors) {
  x <- sum / n
  shrunk <- pmin(pmax((sum + 1) / (n + 2), 0), 1)
  v <- (pmax(shrunk * (1 - shrunk), 0.01) + noise * releases / n) / n
  k <- length(n)
  raw <- switch(rule, thompson = vapply(seq_len(k), function(a) {
    stats::integrate(function(y) {
      stats::dnorm(y, x[a], sqrt(v[a])) * vapply(y, function(y) prod(stats::pnorm(y, x[-a], sqrt(v[-a]))), 0)
    }, x[a] - 6 * sqrt(v[a]), x[a] + 6 * sqrt(v[a]), rel.tol = 1e-8)$value
  }, 0), top_two = {
    a <- which.max(x)
    q <- (x[a] - x)^2 / (2 * (v[a] + v)) + 2 * log(n)
    q[a] <- Inf
    c <- which.min(q)
    raw <- numeric(k)
    raw[c(a, c)] <- c(v[a], v[c]) / (v[a] + v[c])
    raw
  }, neyman = {
    x <- pmin(pmax(x, 0), 1)
    sqrt(pmax(x * (1 - x), 0.01))
  })
  floors + (1 - sum(floors)) * raw / sum(raw)
}

test_that("a block is released when all of its rewards are in: a sum for each arm, with whole noise, once", {
  for (delay in c(0, 3, 12)) {
    policy <- policy_randomised(mu = 0.5, block = c(6, 10))
    out <- run_script(policy, 3, rep(NA, 40), rep(1, 40), delays = rep(delay, 40))
    ends <- c(6, 16, 26, 36)
    expect_identical(diff(c(0L, out$released))[pmin(ends + delay, 40)][ends + delay <= 40],
                     rep(3L, sum(ends + delay <= 40)))
    rows <- seq_len(out$total)
    expect_true(all(out$scale[rows] == 2 & out$kind[rows] == 2))
    # Rewards of 1: a sum is the number of people who were tossed to the arm in the block.
    blocks <- split(out$arm[1:36], rep(1:4, c(6, 10, 10, 10)))
    people <- unlist(lapply(blocks, tabulate, nbins = 3))
    expect_identical(out$exact[rows], as.double(people)[rows])
  }
  # At the end a block of which nothing has come releases nothing.
  late <- run_script(policy, 3, rep(NA, 40), rep(1, 40), delays = rep(c(0, 1e4), c(36, 4)), finish = TRUE)
  expect_equal(late$total, 12)
  growing <- policy_randomised(epsilon = 2, block = 1.5)
  out <- run_script(growing, 2, rep(NA, 2000), rep(1, 2000))
  # 200, 200, 200, then half of all before
  expect_identical(which(diff(c(0L, out$released)) > 0), c(200L, 400L, 600L, 900L, 1350L))
  expect_true(all(out$scale[seq_len(out$total)] == 0.5))
})

test_that("chances are those of the rule, with floors, and equal while nothing is known", {
  withr::local_seed(1)
  sums <- c(18, 30, 24)
  for (rule in c("thompson", "top_two", "neyman")) {
    policy <- policy_randomised(mu = 1, rule = rule, block = c(60, 120), floor = 0.05, permuted = TRUE)
    # Permuted blocks of equal chances: 20 people each
    expect <- chances(rule, rep(20, 3), sums / 2, rep(1, 3), 1, rep(0.05, 3))
    expect_equal(shares(policy, 3, 180, sums / 2, 61:180, 2), expect, tolerance = 0.03)
    policy <- update(policy, permuted = FALSE)
    got <- shares(policy, 3, 180, c(10, 10, 10), 1:60)
    expect_equal(got, rep(1 / 3, 3), tolerance = 0.03)
  }
  thompson <- policy_randomised(epsilon = 1, rule = "thompson", block = c(60, 120), control = 3, permuted = TRUE)
  expect <- chances("thompson", rep(20, 3), c(14, 8, 5), rep(1, 3), 2, c(0.1, 0.1, 1 / 3))
  expect_gt(expect[3], 1 / 3)
  got <- shares(thompson, 3, 180, c(14, 8, 5), 61:180, 1)
  expect_lt(max(abs(got - expect)), 1 / 120)
  # Burnt in for two blocks, and a control with a large share
  burnt <- policy_randomised(mu = 1, rule = "neyman", block = c(60, 120), control = 1, floor = c(0.1, 0.6),
                             burn_in = 2, permuted = TRUE)
  expect_equal(shares(burnt, 3, 180, rep(5, 3), 61:180, 1), c(0.6, 0.2, 0.2))
})

test_that("an arm with few people is looked at again: 2 ln(n) is a part of the index", {
  policy <- policy_randomised(mu = 1, rule = "top_two", block = c(60, 120), floor = 0.05, permuted = TRUE)
  # 20 people each, then 6, 57 and 57, so that the third arm is closer to the leader and the first has few people
  sums <- rbind(c(10, 15, 14), c(3, 40.5, 39.9))
  expect <- chances("top_two", c(26, 77, 77), colSums(sums), c(2, 2, 2), 1, rep(0.05, 3))
  expect_gt(expect[1], expect[3])
  got <- shares(policy, 3, 300, c(t(sums)), 181:300, 20)
  expect_equal(got, expect, tolerance = 0.03)
})

test_that("all orders of a permuted block are equally likely, the first toss included", {
  policy <- policy_randomised(rule = "thompson", block = c(5, 7, 11), permuted = TRUE)
  sim <- dpts_simulate(arms_bernoulli(c(0.2, 0.5, 0.7)), policy, 5 + 7 + 11 * 20, runs = 3, seed = 1, history = TRUE)
  block <- rep(1:22, c(5, 7, rep(11, 20)))
  for (run in split(dpts_history(sim), dpts_history(sim)$run)) {
    order <- tapply(run$probability, block, prod)
    people <- tapply(as.integer(run$arm), block, tabulate, 3)
    expect_equal(as.vector(order), vapply(people, function(n) prod(factorial(n)) / factorial(sum(n)), 0),
                 ignore_attr = TRUE)
  }
})

test_that("people with other arms on offer are in no block, until they are more than one", {
  withr::local_seed(2)
  policy <- policy_randomised(mu = 1, block = 5)
  offers <- c(list(NULL)[rep(1, 3)], list(c(1L, 2L))[rep(1, 20)])
  out <- run_script(policy, 3, rep(NA, 23), rep(1, 23), offers = offers)
  # Three in the first block; six who do not belong to it; then blocks of two arms
  expect_identical(diff(c(0L, out$released)), as.integer(c(rep(0, 8), 3, rep(c(0, 0, 0, 0, 2), 2), rep(0, 4))))
  expect_identical(out$exact[1:3], as.double(tabulate(out$arm[1:3], 3)))
  expect_true(all(out$arm[4:23] <= 2))
})

test_that("bad arguments are refused by name", {
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  bad(policy_randomised(mu = 1, epsilon = 1), "`epsilon` must be NULL where `mu` is given")
  bad(policy_randomised(mu = -1), "`mu`")
  bad(policy_randomised(epsilon = Inf), "`epsilon`")
  bad(policy_randomised(rule = "greedy"), "`rule`")
  bad(policy_randomised(block = 4.5), "`block`")
  bad(policy_randomised(block = c(1.5, 200)), "`block`")
  bad(policy_randomised(block = 5:11), "`block`")
  bad(policy_randomised(floor = -0.1), "`floor`")
  bad(policy_randomised(floor = c(0.1, 0.2)), "`floor`")
  bad(policy_randomised(control = 0), "`control`")
  bad(policy_randomised(burn_in = -1), "`burn_in`")
  arms <- arms_bernoulli(c(0.5, 0.6, 0.7))
  bad(dpts_simulate(arms, policy_randomised(floor = 0.4), 1000), "`floor` of 0.4, which is above 1/3 for 3 arms")
  bad(dpts_simulate(arms, policy_randomised(control = 4), 1000), "arm 4 for `control`, of 3")
  bad(dpts_simulate(arms, policy_randomised(floor = c(0.3, 0.5), control = 1), 1000), "add up to more than 1")
  # So do an agent, an audit, a plan and a verb of verdicts.
  floor <- policy_randomised(mu = 1, floor = 0.4)
  bad(dpts_agent(floor, 3, use = "arrival"), "`floor` of 0.4, which is above 1/3 for 3 arms")
  bad(dpts_agent(policy_local(policy_fixed(4), 1), 3, use = "arrival"), "pulls arm 4 of 3")
  bad(dpts_audit(floor, 10, arms = 3), "`policy` must fit 3 arms: it has a `floor` of 0.4")
  bad(dpts_plan(floor, arms, 100), "`floor` of 0.4")
  bad(dpts_identify(arms, floor), "`floor` of 0.4")
  expect_identical(policy_randomised(mu = 1)$guarantee, guarantee_gdp(1))
  expect_identical(policy_randomised(epsilon = 1)$guarantee, guarantee_pure(1))
  expect_identical(format(policy_randomised(mu = 1, block = c(200, 400), permuted = TRUE)),
                   "policy_randomised(mu = 1, block = c(200, 400), permuted = TRUE)")
})
