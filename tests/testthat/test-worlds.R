skip_on_cran() # takes seconds

draw <- function(arms, arm, n, seed = 1) .Call(C_draw_rewards, arms_kernel(arms), arm, n, seed)

# ---- Gaussian ---------------------------------------------------------------------------

test_that("the mean of clipped Gaussian rewards is exact", {
  cases <- expand.grid(mean = c(-3, 0.2, 0.5, 1.4), sd = c(0.05, 0.4, 3))
  truth <- mapply(function(m, s) {
    inside <- function(x) x * stats::dnorm(x, m, s)
    # By parts around the mean, where a narrow density would be missed.
    knots <- sort(c(0, 1, pmin(1, pmax(0, m + c(-6, 0, 6) * s))))
    parts <- mapply(function(a, b) {
      if (a < b) stats::integrate(inside, a, b, rel.tol = 1e-11)$value else 0
    }, knots[-length(knots)], knots[-1])
    sum(parts) + stats::pnorm(1, m, s, lower.tail = FALSE)
  }, cases$mean, cases$sd)
  expect_equal(arms_gaussian(cases$mean, cases$sd, c(0, 1))$mean, truth, tolerance = 1e-9)
  # In other units it is the same, moved and scaled.
  moved <- arms_gaussian(50 + 20 * cases$mean, 20 * cases$sd, c(50, 70))
  expect_equal(moved$mean, 50 + 20 * truth, tolerance = 1e-9)
})

test_that("Gaussian rewards follow their distribution", {
  n <- 2e5
  arms <- arms_gaussian(c(1, -2), c(0.5, 3))
  expect_gt(stats::ks.test(draw(arms, 2, n), "pnorm", -2, 3)$p.value, 1e-4)
  x <- draw(arms_gaussian(c(0, 0.4), 0.3, c(0, 1)), 2, n)
  expect_true(all(x >= 0 & x <= 1))
  for (end in 0:1) {
    p <- stats::pnorm(0.4 / 0.3 * (1 - end) * -1 + end * -(1 - 0.4) / 0.3)
    expect_lt(abs(mean(x == end) - p), 5 * sqrt(p * (1 - p) / n))
  }
  inside <- x[x > 0 & x < 1]
  cut <- stats::pnorm(c(0, 1), 0.4, 0.3)
  expect_gt(stats::ks.test(inside, function(q) (stats::pnorm(q, 0.4, 0.3) - cut[1]) / diff(cut))$p.value,
            1e-4)
})

test_that("a range scales rewards for the policy, and regret and reward stay in their units", {
  policies <- list(imed = policy_dp_imed(1), ucb1 = policy_ucb1())
  unit <- dpts_simulate(arms_gaussian(c(0.4, 0.6), 0.2, c(0, 1)), policies, 500, runs = 3, seed = 1,
                        record = c(1, 250, 500))
  far <- dpts_simulate(arms_gaussian(100 + 50 * c(0.4, 0.6), 10, c(100, 150)), policies, 500, runs = 3,
                       seed = 1, record = c(1, 250, 500))
  expect_equal(pulls(far)$pulls, pulls(unit)$pulls)
  expect_equal(far$regret, 50 * unit$regret)
  expect_equal(far$reward, 50 * unit$reward + 100 * unit$t)
})

test_that("rewards without bounds are for policies that make sense of them", {
  arms <- arms_gaussian(c(0, 1, 5), 1)
  sim <- dpts_simulate(arms, list(policy_ucb1(), policy_uniform(), policy_fixed(2)), 2000, seed = 1,
                       record = I(2000))
  n <- pulls(sim)
  expect_equal(sim$regret, as.vector(rowsum(n$pulls * c(5, 4, 0)[n$arm], rep(1:30, each = 3))))
  # A policy's short cuts rest on rewards in [0, 1]: here every round is played.
  withr::with_options(list(dpts.engine = "plain"), {
    plain <- dpts_simulate(arms, policy_ucb1(), 2000, seed = 1, record = I(2000))
  })
  expect_equal(plain$reward, sim$reward[sim$policy == "ucb1"])
  for (policy in list(policy_dp_imed(1), policy_ts_gaussian(), policy_ts_beta(), policy_klucb(),
                      policy_imed(), policy_dp_imed(Inf))) {
    error <- expect_error(dpts_simulate(arms, list(mine = policy), 100), class = "dpts_error_rewards")
    expect_match(conditionMessage(error), "mine")
  }
  expect_s3_class(dpts_simulate(arms_gaussian(c(0, 1), 1, c(-3, 3)), policy_klucb(), 100, seed = 1),
                  "dpts_simulation")
})

# ---- recorded outcomes --------------------------------------------------------------------

test_that("outcomes are drawn with replacement, or read in order", {
  trial <- data.frame(group = rep(c("b", "a"), c(4, 6)),
                      outcome = c(0.1, 0.9, 0.3, 0.3, 0.5, 0.2, 0.2, 0.8, 1, 0))
  arms <- arms_data(trial, "group", "outcome")
  expect_named(arms, c("a", "b"))
  expect_equal(unname(arms$mean), c(2.7 / 6, 0.4))
  x <- draw(arms, 2, 1e5)
  expect_gt(stats::chisq.test(table(x), p = c(1, 2, 1) / 4)$p.value, 1e-4)

  recorded <- arms_data(trial, "group", "outcome", replace = FALSE)
  sim <- dpts_simulate(recorded, policy_fixed(2), 4, runs = 2, seed = 1)
  expect_equal(sim$reward, rep(cumsum(c(0.1, 0.9, 0.3, 0.3)), 2))
  expect_equal(sim$regret, rep(0.05 * (1:4), 2))
  error <- expect_error(dpts_simulate(recorded, policy_fixed(2), 5, seed = 1), class = "dpts_error_dry")
  expect_match(conditionMessage(error), "4 recorded rewards for arm \"b\".*round 5")
  # 10 rounds could be played, by another policy; 11 by none
  expect_error(dpts_simulate(recorded, policy_fixed(2), 10, seed = 1), class = "dpts_error_dry")
  expect_error(dpts_simulate(recorded, policy_fixed(2), 11), class = "dpts_error_horizon")
})

test_that("zeros and ones are drawn by their chance, with all short cuts", {
  trial <- data.frame(arm = rep(1:2, c(5, 4)), cured = c(1, 0, 0, 1, 0, 1, 1, 1, 0) == 1)
  policies <- list(policy_ucb1(), policy_dp_imed(1))
  data <- dpts_simulate(arms_data(trial, "arm", "cured"), policies, 3000, seed = 1)
  bernoulli <- dpts_simulate(arms_bernoulli(c(0.4, 0.75)), policies, 3000, seed = 1)
  expect_identical(numbers_of(data), numbers_of(bernoulli))
})

test_that("data that cannot be rewards are refused by name", {
  for (bad in c(Inf, -Inf)) {
    d <- data.frame(arm = 1:3, y = c(0.5, bad, 1))
    expect_error(arms_data(d, "arm", "y"), "a column of finite numbers", class = "dpts_error_input")
  }
  d <- data.frame(arm = c("a", "b"), y = c(0.5, NA), z = c(1, 2), f = factor(c("u", "v"), c("u", "v", "w")))
  expect_snapshot(error = TRUE, {
    arms_data(as.list(d), "arm", "z")
    arms_data(d[0, ], "arm", "z")
    arms_data(d, "group", "z")
    arms_data(d, "arm", "y")
    arms_data(d, "f", "z")
    arms_data(d, "arm", "arm")
    arms_data(d, 1, "z")
    dpts_simulate(arms_data(d, "arm", "z"), policy_dp_imed(1), 100)
  })
})

# ---- mixtures and names ---------------------------------------------------------------------

test_that("distributions mix, and keep what they are", {
  arms <- c(arms_bernoulli(0.4), arms_beta(2, 3), arms_truncexp(2), arms_discrete(c(0, 0.5), c(0.3, 0.7)),
            arms_gaussian(0.5, 0.2, c(0, 1)))
  expect_length(arms, 5)
  expect_equal(arms$mean, c(0.4, 0.4, arms_truncexp(2)$mean, 0.35, 0.5))
  n <- 1e5
  expect_gt(suppressWarnings(stats::ks.test(draw(arms, 2, n), "pbeta", 2, 3))$p.value, 1e-4)
  for (arm in 1:5) {
    x <- draw(arms, arm, n)
    expect_lt(abs(mean(x) - arms$mean[arm]), 5 * stats::sd(x) / sqrt(n))
  }
  # A policy is told what its arm yields: one arm of the mixture alone is that arm.
  one <- dpts_simulate(arms_beta(c(2, 2), c(3, 3)), policy_fixed(2), 200, seed = 3)
  two <- dpts_simulate(c(arms_bernoulli(0.4), arms_beta(2, 3)), policy_fixed(2), 200, seed = 3)
  expect_identical(two$reward, one$reward)
  # Parts of one distribution are what one call makes.
  expect_identical(c(arms_bernoulli(0.4), arms_bernoulli(c(0.5, 0.6))), arms_bernoulli(c(0.4, 0.5, 0.6)))
  expect_identical(c(arms_beta(1, 2), arms_beta(3, 1)), arms_beta(c(1, 3), c(2, 1)))
  expect_identical(c(arms_bernoulli(c(a = 0.4, b = 0.5))), arms_bernoulli(c(a = 0.4, b = 0.5)))
  # Arms that are named later are those named at once.
  one <- c(a = arms_bernoulli(0.4))
  expect_identical(one, arms_bernoulli(c(a = 0.4)))
  names(one) <- "b"
  expect_identical(c(one, c = arms_bernoulli(0.5)), arms_bernoulli(c(b = 0.4, c = 0.5)))
  expect_error(c(arms_gaussian(1, 1, c(0, 5)), arms_bernoulli(0.4)), "range", class = "dpts_error_input")
  expect_error(c(arms_bernoulli(0.4), arms_linear(matrix(0.5), "uniform")), class = "dpts_error_input")
  expect_error(dpts_simulate(c(arms_bernoulli(0.4), arms_gaussian(2, 1)), policy_dp_imed(1), 100),
               class = "dpts_error_rewards")
})

test_that("arms that are taken apart, turned and put together are the same arms, of every kind", {
  kinds <- list(
    arms_bernoulli(c(0.2, 0.9, 0.5)), arms_beta(c(1, 2, 3), 2), arms_truncexp(c(-1, 2, 0)), arms_gaussian(c(3, 5, 4), c(1, 2, 3)),
    arms_gaussian(c(30, 50, 40), 10, range = c(20, 60)), arms_discrete(c(0, 0.3, 1), rbind(c(1, 1, 2), c(2, 1, 1), c(0, 1, 3)) / 4),
    arms_custom(function(arm, n) stats::rbinom(n, 1, c(0.3, 0.6, 0.1)[arm]) * 8 - 3, c(-0.6, 1.8, -2.2), range = c(-3, 5)),
    c(arms_gaussian(2, 1), arms_bernoulli(0.4), arms_beta(2, 3))
  )
  play <- function(arms) as.list(dpts_simulate(arms, policy_uniform(), 50, runs = 2, seed = 1, record = 3))[c("regret", "reward")]
  for (x in kinds) {
    names(x) <- c("a", "b", "c")
    turned <- x[c("c", "a", "b")] # which is not its own inverse
    expect_identical(turned$mean, x$mean[c(3, 1, 2)])
    expect_equal(turned$gap, x$gap[c(3, 1, 2)])
    joined <- c(x["a"], x[2:3])
    for (same in list(turned[c("a", "b", "c")], joined)) {
      for (part in c("mean", "gap", "range", "par")) expect_identical(same[[part]], x[[part]])
      expect_identical(rep_len(same$distribution, 3), rep_len(x$distribution, 3))
      expect_equal(play(same), play(x))
    }
  }
  # Names are those of whichever argument has one for each arm.
  named <- c(new = 2, old = 3)
  for (arms in list(arms_beta(1, named), arms_beta(named, 1), arms_beta(c(1, 4), named), arms_beta(named, c(1, 4)))) {
    expect_named(arms, c("new", "old"))
    expect_named(arms$gap, c("new", "old"))
  }
})

test_that("a changing world in other units is the same world", {
  make <- function(low, width) {
    part <- function(...) arms_gaussian(low + width * c(...), 0.2 * width, range = low + width * 0:1)
    draw <- function(arm, n, t) low + width * stats::rbinom(n, 1, c(0.3, 0.6)[arm])
    list(switch = arms_switch(list(part(0.2, 0.8), part(0.7, 0.4), part(0.3, 0.5)), at = c(20, 45)),
         drift = arms_drift(part(0.2, 0.8), part(0.9, 0.3), "sine", period = 40),
         table = arms_custom(draw, function(t) low + width * cbind(a = 0.3 + 0 * t, b = 0.6), range = low + width * 0:1))
  }
  unit <- make(0, 1)
  other <- make(50, 200)
  for (name in names(unit)) {
    expect_equal(arm_means(other[[name]], 60), 50 + 200 * arm_means(unit[[name]], 60))
    play <- function(arms) dpts_simulate(arms, policy_ucb1(), 60, runs = 3, seed = 1, record = I(c(20, 60)))
    one <- play(unit[[name]])
    two <- play(other[[name]])
    expect_equal(two$regret, 200 * one$regret)
    expect_equal(two$reward, 50 * one$t + 200 * one$reward)
    plan <- function(arms) plain_columns(dpts_plan(policy_randomised(mu = 1, block = 20), arms, 60, runs = 3, seed = 1))
    expect_equal(replace(plan(other[[name]]), "width", NULL), replace(plan(unit[[name]]), "width", NULL))
  }
})

test_that("names travel to results and prints", {
  expect_named(arms_gaussian(c(new = 3, old = 2), 1, range = c(0, 5)), c("new", "old"))
  expect_named(arms_gaussian(c(new = -1e3, old = 1e3), 1, range = c(0, 5)), c("new", "old"))
  arms <- c(arms_bernoulli(c(control = 0.4)), drug = arms_beta(2, 3), arms_beta(1, 1))
  expect_named(arms, c("control", "drug", "3"))
  sim <- dpts_simulate(arms, policy_uniform(), 300, runs = 2, seed = 1, history = TRUE)
  n <- pulls(sim)
  expect_s3_class(n$arm, "factor")
  expect_equal(levels(n$arm), names(arms))
  h <- dpts_history(sim)
  expect_equal(as.vector(table(h$arm, h$run)), n$pulls)
  expect_snapshot(arms)
  expect_type(pulls(dpts_simulate(arms_bernoulli(c(0.1, 0.2)), policy_uniform(), 10, seed = 1))$arm,
              "integer")
  expect_named(arms_discrete(c(0, 1), rbind(a = c(0.5, 0.5), b = c(0.1, 0.9))), c("a", "b"))
  expect_named(arms_linear(rbind(a = c(0.5, 0.5), b = c(0.1, 0.9)), "simplex"), c("a", "b"))
  expect_named(arms_beta(c(x = 1, y = 2), 3), c("x", "y"))
  expect_error(arms_bernoulli(c(a = 0.1, a = 0.2)), "\"a\" comes twice", class = "dpts_error_input")
  expect_error(arms_bernoulli(matrix(0.5, 3, 10)), "matrix", class = "dpts_error_input")
  expect_error(arms_beta(matrix(1, 2, 2), 1), class = "dpts_error_input")
  table <- matrix(0.5, 2, 2)
  for (make in list(arms_truncexp, function(x) arms_gaussian(x, 1), function(x) arms_gaussian(c(0, 0, 0, 0), x),
                    function(x) arms_walk(x, 0.1), function(x) arms_walk(rep(0.5, 4), x),
                    function(x) arms_drift(x, rep(0.5, 4), period = 9),
                    function(x) arms_drift(rep(0.5, 4), x, period = 9),
                    function(x) arms_custom(function(arm, n) rep(0.5, n), x))) {
    expect_error(make(table), "not a 2 x 2 matrix", class = "dpts_error_input")
  }
})

# ---- changing worlds ---------------------------------------------------------------------

test_that("arms switch when they should, and regret is against the best arm of each round", {
  worlds <- list(arms_bernoulli(c(a = 0.6, b = 0.4)), arms_beta(c(1, 3), 1), arms_bernoulli(c(0.1, 0.1)))
  arms <- arms_switch(worlds, c(101, 250))
  at <- function(n) format(arms_switch(rep_len(worlds, n + 1), 100 * seq_len(n)))[1]
  expect_match(at(3), "round 100, 200, 300$") # three are named
  expect_match(at(4), "round 100, 200, 300, [.]{3}$")
  means <- rbind(matrix(worlds[[1]]$mean, 100, 2, byrow = TRUE),
                 matrix(worlds[[2]]$mean, 149, 2, byrow = TRUE),
                 matrix(worlds[[3]]$mean, 151, 2, byrow = TRUE))
  expect_equal(arm_means(arms, 400), means, ignore_attr = TRUE)
  for (arm in 1:2) {
    sim <- dpts_simulate(arms, policy_fixed(arm), 400, runs = 50, seed = 1, record = 400)
    expect_equal(sim$regret, rep(regret_of_means(means, arm), 50))
    # The rewards have these means too.
    last <- sim$reward[sim$t == 400]
    expect_lt(abs(mean(last) - sum(means[, arm])), 5 * stats::sd(last) / sqrt(50))
  }
  # Before the switch it is the first world, to the bit.
  first <- dpts_simulate(worlds[[1]], policy_fixed(1), 100, runs = 2, seed = 5)
  expect_identical(dpts_simulate(arms, policy_fixed(1), 100, runs = 2, seed = 5)$reward, first$reward)
  expect_named(arms, c("a", "b"))
})

test_that("a policy learns in every world, and where rewards are certain it plays as UCB1 does in R", {
  sure <- arms_bernoulli(c(0, 1))
  worlds <- list(
    sure, arms_switch(list(sure, sure), 20), arms_drift(0:1, 0:1, period = 9), arms_walk(0:1, 0),
    arms_predicted(0:1, 1e-12, 0.5), arms_linear(rbind(0, 1), matrix(1), 0), arms_discrete(0:1, rbind(1:0, 0:1)),
    arms_custom(function(arm, n) rep(arm - 1, n), 0:1),
    arms_custom(function(arm, n, t) rep(arm - 1, n), function(t) cbind(0 * t, 1)), arms_adversary(function(past, t) 0:1)
  )
  ref <- ucb1_late(list(rep(0, 100), rep(1, 100)), 100, identity)
  for (arms in worlds) {
    sim <- dpts_simulate(arms, policy_ucb1(), 100, runs = 1, seed = 1)
    expect_equal(pulls(sim)$pulls, tabulate(ref$arm), ignore_attr = TRUE, info = arms$title)
    expect_equal(sim$reward, cumsum(ref$reward)[sim$t], info = arms$title)
  }
})

test_that("drift's regret is the closed form", {
  from <- c(0.8, 0.3)
  to <- c(0.2, 0.5)
  horizon <- 300
  t <- seq_len(horizon)
  # (1 - w) 0.5 - w 0.3 = 0.5 - 0.8 w is the lead of arm 1 over arm 2.
  line <- pmin(1, (t - 1) / 200)
  wave <- (1 - cos(2 * pi * (t - 1) / 90)) / 2
  for (case in list(list("linear", 200, line), list("sine", 90, wave))) {
    arms <- arms_drift(from, to, case[[1]], period = case[[2]])
    lead <- 0.5 - 0.8 * case[[3]]
    one <- dpts_simulate(arms, list(one = policy_fixed(1), two = policy_fixed(2)), horizon, runs = 40,
                         seed = 2, record = horizon)
    expect_equal(one$regret[one$policy == "one"], rep(cumsum(pmax(0, -lead)), 40))
    expect_equal(one$regret[one$policy == "two"], rep(cumsum(pmax(0, lead)), 40))
    last <- one$reward[one$policy == "one" & one$t == horizon]
    truth <- sum(0.8 - 0.6 * case[[3]])
    expect_lt(abs(mean(last) - truth), 5 * stats::sd(last) / sqrt(40))
  }
  # A whole number of periods adds up without cosines: the sum of 1 - cos is the number of rounds.
  arms <- arms_drift(c(0.9, 0), c(0.5, 0.1), "sine", period = 50)
  expect_equal(world_regret(arms, policy_fixed(2), 500, runs = 1, seed = 1), 0.9 * 500 - 0.5 * 250)
  # Any distribution drifts: halfway, half of the rewards are of one and half of the other.
  half <- dpts_simulate(arms_drift(arms_beta(8, 2), arms_discrete(0.25, matrix(1)), period = 1e9),
                        policy_fixed(1), 1000, seed = 1)
  expect_lt(mean(diff(half$reward) == 0.25), 1e-2)
})

test_that("means walk on a path of each run, reflected or held", {
  walk <- function(sd, reflect = TRUE, run = 1, n = 400, start = c(0.5, 0.5)) {
    arm_means(arms_walk(start, sd, reflect), n, seed = 7, run = run)
  }
  # Steps so small that no end is met show the normals.
  z <- apply(walk(1e-6), 2, diff) / 1e-6
  expect_gt(stats::ks.test(c(z), "pnorm")$p.value, 1e-4)
  expect_lt(abs(stats::cor(z[, 1], z[, 2])), 5 / sqrt(nrow(z)))
  in_r <- function(sd, inside) {
    x <- matrix(0.5, 400, 2)
    for (t in 1:399) x[t + 1, ] <- inside(x[t, ] + sd * z[t, ])
    x
  }
  mirror <- function(x) {
    x <- abs(x) %% 2
    ifelse(x > 1, 2 - x, x)
  }
  expect_equal(walk(0.3), in_r(0.3, mirror), tolerance = 1e-6, ignore_attr = TRUE)
  expect_equal(walk(0.3, FALSE), in_r(0.3, function(x) pmin(1, pmax(0, x))), tolerance = 1e-6,
               ignore_attr = TRUE)
  expect_equal(walk(c(0.3, 0.02)), in_r(c(0.3, 0.02), mirror), tolerance = 1e-6, ignore_attr = TRUE) # one for each
  expect_true(any(walk(0.3, FALSE) == 1))
  expect_false(isTRUE(all.equal(walk(0.3), walk(0.3, run = 2))))

  # Every policy of a run meets that path.
  arms <- arms_walk(c(0.5, 0.5), 0.05)
  sim <- dpts_simulate(arms, list(one = policy_fixed(1), two = policy_fixed(2)), 400, runs = c(3, 8),
                       seed = 7, record = 400)
  for (run in c(3, 8)) for (arm in 1:2) {
    means <- arm_means(arms, 400, 7, run)
    expect_equal(sim$regret[sim$run == run & sim$policy == c("one", "two")[arm]],
                 regret_of_means(means, arm))
  }
  x <- dpts_simulate(arms_walk(c(1, 0), 0), policy_fixed(1), 50, seed = 1, runs = 1)
  expect_equal(x$reward, 1:50)
})

test_that("a changing world does not depend on threads, runs or recorded rounds", {
  for (arms in list(arms_switch(list(arms_bernoulli(c(0.6, 0.4)), arms_beta(1, c(3, 1))), 200),
                    arms_drift(c(0.2, 0.8), c(0.9, 0.1), period = 300), arms_walk(c(0.5, 0.4), 0.01))) {
    policies <- list(policy_ts_gaussian(), policy_ucb1(), policy_dp_imed(1))
    all <- dpts_simulate(arms, policies, 500, runs = 6, seed = 4, record = c(100, 500))
    threads <- dpts_simulate(arms, policies, 500, runs = 6, seed = 4, record = c(100, 500), threads = 2)
    expect_identical(numbers_of(threads), numbers_of(all))
    part <- dpts_simulate(arms, policies, 500, runs = c(5, 2), seed = 4, record = I(500))
    expect_identical(part$regret, all$regret[all$t == 500 & all$run %in% c(5, 2)][c(2, 1, 4, 3, 6, 5)])
    # No engine is for worlds that change.
    withr::with_options(list(dpts.engine = "lanes"), {
      expect_identical(numbers_of(dpts_simulate(arms, policies, 500, runs = 6, seed = 4,
                                                record = c(100, 500))), numbers_of(all))
    })
  }
})

test_that("worlds that cannot be are refused by name", {
  a <- arms_bernoulli(c(0.5, 0.6))
  expect_snapshot(error = TRUE, {
    arms_switch(a, 10)
    arms_switch(list(a), 10)
    arms_switch(list(a, 3), 10)
    arms_switch(list(a, a), c(10, 20))
    arms_switch(list(a, a, a), c(20, 10))
    arms_switch(list(a, a), 1)
    arms_switch(list(a, arms_bernoulli(0.5)), 10)
    arms_switch(list(arms_bernoulli(c(x = 0.1)), arms_bernoulli(c(y = 0.2))), 10)
    arms_switch(list(a, arms_walk(c(0.5, 0.5), 0.1)), 10)
    arms_drift(a, c(0.5, 0.6, 0.7), period = 10)
    arms_drift(a, a, "square", 10)
    arms_drift(a, a, period = 0)
    arms_walk(c(0.5, 0.6), -1)
    arms_walk(c(0.5, 0.6), c(0.1, 0.2, 0.3))
    arms_walk(c(0.5, 1.6), 0.1)
    arms_gaussian(c(1, 2), 0)
    arms_gaussian(c(1, 2), 1, c(1, 1))
    regret_bound(policy_ucb1(), arms_walk(c(0.5, 0.6), 0.1), 100)
    regret_bound(policy_ucb1(), arms_gaussian(c(0.5, 0.6), 0.1), 100)
  })
})

test_that("changing worlds print and are drawn", {
  a <- arms_bernoulli(c(x = 0.5, y = 0.6))
  expect_snapshot({
    arms_switch(list(a, a), 10)
    arms_drift(a, a, "sine", 20)
    arms_walk(c(0.5, 0.6), 0.1)
    arms_gaussian(c(1, 2), 1, c(0, 3))
  })
  plot <- ggplot2::autoplot(arms_switch(list(a, arms_bernoulli(c(0.1, 0.2))), 10), horizon = 20)
  data <- ggplot2::layer_data(plot)
  expect_equal(data$y[data$x %in% c(9, 10) & data$group == 1], c(0.5, 0.1))
  expect_equal(max(data$x), 20)
  # By default it shows the switch, and where a reward is anyone's the middle of the range.
  shown <- function(...) ggplot2::layer_data(ggplot2::autoplot(...))
  expect_equal(max(shown(arms_switch(list(a, a, a), c(4, 8)))$x), 10)
  expect_equal(max(shown(arms_drift(a, a, period = 8))$x), 10)
  expect_equal(max(shown(arms_drift(a, a, period = 8, shape = "sine"))$x), 16) # there and back
  expect_equal(shown(arms_adversary(function(past, t) cbind(t, t + 1) / 99, range = c(0, 5)), horizon = 3)$y, rep(2.5, 6))
  wave <- function(t) {
    stopifnot(length(t) == 1) # which is allowed
    c(0.5, t / 4)
  }
  expect_equal(shown(arms_custom(function(arm, n, t) rep(0.5, n), wave), horizon = 3)$y, c(0.5, 0.5, 0.5, 0.25, 0.5, 0.75))
  points <- ggplot2::layer_data(ggplot2::autoplot(a))
  expect_setequal(points$x, c(0.5, 0.6))
  path <- ggplot2::layer_data(ggplot2::autoplot(arms_walk(c(0.5, 0.6), 0.1), horizon = 50, seed = 3, run = 2))
  expect_equal(path$y[path$group == 1], unname(arm_means(arms_walk(c(0.5, 0.6), 0.1), 50, 3, 2)[, 1]))
})
