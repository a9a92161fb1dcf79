theta <- rbind(c(0.2, 0.7, 0.1), c(0.2, 0.1, 0.7), c(0.3, 0.3, 0.3))
population <- rbind(c(1, 0, 0), c(0, 1, 0), c(0, 0, 1), c(0.5, 0.25, 0.25))

test_that("means over contexts are exact", {
  expect_equal(arms_linear(theta, population)$mean, colMeans(population %*% t(theta)))
  expect_equal(arms_linear(theta, "simplex")$mean, rowMeans(theta))
  expect_equal(arms_linear(theta / 2, "uniform")$mean, rowSums(theta) / 4)
})

test_that("rewards and regret have the means that the contexts give", {
  means <- population %*% t(theta)
  n <- 40000
  for (noise in c(1, 0.3, 0)) {
    arms <- arms_linear(theta, population, noise)
    for (a in 1:3) {
      sim <- dpts_simulate(arms, policy_fixed(a), n, runs = 1, seed = a, record = 1)
      gap <- apply(means, 1, max) - means[, a]
      regret_se <- sqrt(mean((gap - mean(gap))^2) * n)
      expect_lt(abs(sim$regret - n * mean(gap)), 4 * regret_se + 1e-6)
      # variance: of the mean over contexts, and noise mean (1 - mean) within
      within <- noise * mean(means[, a] * (1 - means[, a]))
      se <- sqrt(n * (within + mean((means[, a] - mean(means[, a]))^2)))
      expect_lt(abs(sim$reward - n * mean(means[, a])), 4 * se + 1e-6)
    }
  }
})

test_that("noise is a share of the largest variance, and none of it is in the regret", {
  always <- matrix(1, 1, 1) # one context, so that an arm has one mean
  n <- 20000
  for (noise in c(0.05, 0.3, 1)) {
    arms <- arms_linear(rbind(0.3, 0.7), always, noise)
    sim <- dpts_simulate(arms, policy_fixed(1), n, runs = 1, seed = 3, record = n)
    x <- diff(c(0, sim$reward))
    square <- (x - 0.3)^2
    expect_lt(abs(mean(square) - noise * 0.3 * 0.7), 4 * sd(square) / sqrt(n))
    expect_equal(sim$regret, 0.4 * seq_len(n))
  }
})

test_that("uniform and simplex contexts follow their distributions", {
  # Without noise the reward of a fixed arm is theta . z, so its variance is that of z.
  n <- 20000
  one <- dpts_simulate(arms_linear(rbind(c(1, 0)), "uniform", 0), policy_fixed(1), n, runs = 1, seed = 1,
                       record = n)
  x <- diff(c(0, one$reward))
  expect_lt(abs(mean(x) - 1 / 2), 4 * sqrt(1 / 12 / n))
  expect_gt(ks.test(x, "punif")$p.value, 1e-4)
  two <- dpts_simulate(arms_linear(rbind(c(1, 0, 0)), "simplex", 0), policy_fixed(1), n, runs = 1,
                       seed = 1, record = n)
  # A coordinate of the uniform distribution on the simplex of three numbers is Beta(1, 2).
  expect_gt(ks.test(diff(c(0, two$reward)), "pbeta", 1, 2)$p.value, 1e-4)
  sum <- dpts_simulate(arms_linear(rbind(rep(0.8, 3)), "simplex", 0), policy_fixed(1), 50, runs = 1,
                       seed = 1, record = 50)
  expect_equal(sum$reward, 0.8 * 1:50) # the numbers add up to 1
})

test_that("LinUCB learns what UCB1 cannot", {
  sim <- dpts_simulate(arms_linear(theta, "simplex"),
                       list(linucb = policy_linucb(), ts = policy_lin_ts(v = 0.3), ucb1 = policy_ucb1()), 5000,
                       runs = 5, seed = 1, record = 1)
  mean <- tapply(sim$regret, sim$policy, mean)
  expect_lt(mean[["linucb"]], mean[["ucb1"]] / 2)
  expect_lt(mean[["ts"]], mean[["ucb1"]] / 2)
})

test_that("shared coefficients come with contexts of each arm's own", {
  arms <- arms_linear(c(0.6, 0.3), "uniform", arms = 4)
  expect_equal(arms$mean, rep(0.45, 4))
  sim <- dpts_simulate(arms, list(shared = policy_linucb(model = "shared"),
                                  ts = policy_lin_ts(v = 0.3, model = "shared"),
                                  uniform = policy_uniform()), 3000, runs = 4, seed = 2, record = 1)
  mean <- tapply(sim$regret, sim$policy, mean)
  expect_lt(mean[["shared"]], mean[["uniform"]] / 5)
  expect_lt(mean[["ts"]], mean[["uniform"]] / 5)
})

test_that("contextual runs do not depend on records, threads or company", {
  arms <- arms_linear(theta, "simplex", 0.5)
  policies <- list(a = policy_linucb(), b = policy_lin_ts(epsilon = 5))
  all <- dpts_simulate(arms, policies, 400, runs = 4, seed = 3)
  last <- all[all$t == 400, ]
  alone <- dpts_simulate(arms, policies["b"], 400, runs = c(4, 2), seed = 3, record = I(400), threads = 2)
  wanted <- last[last$policy == "b", ][c(4, 2), ]
  expect_equal(alone$regret, wanted$regret)
  expect_equal(alone$reward, wanted$reward)
})

test_that("policies and arms that do not fit are refused", {
  plain <- arms_bernoulli(c(0.4, 0.6))
  expect_error(dpts_simulate(plain, policy_linucb(), 10), class = "dpts_error_contexts")
  expect_error(dpts_simulate(plain, policy_fixed(3), 10), class = "dpts_error_contexts")
  shared <- policy_lin_ts(model = "shared")
  expect_error(dpts_simulate(arms_linear(theta, "simplex"), shared, 10), class = "dpts_error_contexts")
  wide <- arms_linear(theta / 4, rbind(c(2, 0, 0), c(0, 1, 0)))
  expect_error(dpts_simulate(wide, policy_linucb(epsilon = 1), 10), class = "dpts_error_contexts")
  expect_s3_class(dpts_simulate(wide, policy_linucb(), 10, runs = 1, seed = 1), "dpts_simulation")
})

test_that("arguments are checked", {
  expect_error(arms_linear(2 * theta, "uniform"), "means in \\[0, 1\\]", class = "dpts_error_input")
  expect_error(arms_linear(c(0.1, 0.2), "uniform"), class = "dpts_error_input")
  expect_error(arms_linear(theta, "simplex", arms = 3), class = "dpts_error_input")
  expect_error(arms_linear(theta, "gauss"), class = "dpts_error_input")
  expect_error(arms_linear(theta, matrix(0.1, 2, 2)), class = "dpts_error_input")
  expect_error(arms_linear(theta, matrix(NA_real_, 2, 3)), class = "dpts_error_input")
  expect_error(arms_linear(theta, "simplex", 2), class = "dpts_error_input")
  expect_error(arms_linear(matrix(0, 2, 200), "simplex"), class = "dpts_error_input")
})

test_that("what is about gaps of means is not said of contextual arms", {
  arms <- arms_linear(theta, "simplex")
  expect_match(format(arms)[3], "depends on the context")
  expect_error(regret_bound(policy_ucb1(), arms, 1000), "without contexts", class = "dpts_error_input")
})

# ---- the logistic link --------------------------------------------------------------------

test_that("means of logistic arms over contexts are exact", {
  logit <- function(...) arms_linear(..., link = "logit")
  wide <- rbind(c(-4, 2, 1), c(3, 0, -9), c(0, 0, 0))
  expect_equal(logit(wide, population)$mean, colMeans(stats::plogis(population %*% t(wide))))
  # One number: the integral of sigma is log(1 + e^x)
  expect_equal(logit(matrix(c(5, -3)), "uniform")$mean,
               c(log((1 + exp(5)) / 2) / 5, log((1 + exp(-3)) / 2) / -3))
  expect_equal(logit(matrix(c(5, -3)), "simplex")$mean, stats::plogis(c(5, -3)))
  expect_equal(logit(rbind(c(1, -2)), "simplex")$mean, log((1 + exp(1)) / (1 + exp(-2))) / 3)
  # More of them: by two-dimensional quadrature
  grid <- (seq_len(400) - 0.5) / 400
  at <- as.matrix(expand.grid(grid, grid))
  expect_equal(logit(rbind(c(6, -2)), "uniform")$mean, mean(stats::plogis(at %*% c(6, -2))), tolerance = 1e-5)
  # Uniform on the simplex of three: sort two uniform numbers.
  simplex <- cbind(pmin(at[, 1], at[, 2]), abs(at[, 1] - at[, 2]), 1 - pmax(at[, 1], at[, 2]))
  expect_equal(logit(wide, "simplex")$mean, colMeans(stats::plogis(simplex %*% t(wide))), tolerance = 1e-4)
  # Many numbers, ties and wide ranges: by simulation
  theta <- rbind(c(10, 10, 10, -20, -20, 0, 0, 1), rep(c(0.5, -0.5), 4), rep(2, 8))
  z <- withr::with_seed(1, matrix(stats::rexp(8 * 1e5), ncol = 8))
  draws <- list(simplex = z / rowSums(z), uniform = exp(-z))
  for (kind in names(draws)) {
    means <- stats::plogis(draws[[kind]] %*% t(theta))
    se <- apply(means, 2, stats::sd) / sqrt(1e5)
    expect_lt(max(abs(logit(theta, kind)$mean - colMeans(means)) - 4 * se), 1e-9)
  }
})

test_that("logistic rewards and regret have the means that the contexts give", {
  wide <- rbind(c(-4, 2, 1), c(3, 0, -9), c(0, 0, 0))
  means <- stats::plogis(population %*% t(wide))
  n <- 40000
  for (noise in c(1, 0)) {
    arms <- arms_linear(wide, population, noise, link = "logit")
    for (a in 1:3) {
      sim <- dpts_simulate(arms, policy_fixed(a), n, runs = 1, seed = a, record = 1)
      gap <- apply(means, 1, max) - means[, a]
      expect_lt(abs(sim$regret - n * mean(gap)), 4 * sqrt(mean((gap - mean(gap))^2) * n) + 1e-6)
      se <- sqrt(n * (noise * mean(means[, a] * (1 - means[, a])) + mean((means[, a] - mean(means[, a]))^2)))
      expect_lt(abs(sim$reward - n * mean(means[, a])), 4 * se + 1e-6)
    }
  }
  expect_match(format(arms)[1], "logistic in contexts of 3 numbers")
  expect_error(arms_linear(wide, population, link = "probit"), class = "dpts_error_input")
  own <- arms_linear(c(5, -5), "uniform", arms = 3, link = "logit")
  sim <- dpts_simulate(own, list(a = policy_logistic_ucb(model = "shared"), b = policy_uniform()), 2000, runs = 4,
                       seed = 1, record = 1)
  mean <- tapply(sim$regret, sim$policy, mean)
  expect_lt(mean[["a"]], mean[["b"]] / 3)
})
