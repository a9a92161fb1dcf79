skip_on_cran() # takes seconds

random <- open_bandit[open_bandit$logger == "random", ]
bts <- open_bandit[open_bandit$logger == "bts", ]

test_that("estimates agree with the data's own toolkit", {
  # obp 0.5.5 on the men's logs
  expect_equal(mean(random$reward), 0.0046)
  expect_equal(mean(bts$reward), 0.0069)
  ope <- dpts_ope(bts, "uniform")
  expect_equal(ope$estimate[ope$estimator == "ipw"], 0.0030086263272564836, tolerance = 1e-13)
  expect_equal(ope$estimate[ope$estimator == "snipw"], 0.003189423162277392, tolerance = 1e-13)
  always <- dpts_ope(random, 0, estimator = "snipw")
  expect_equal(always$estimate, 0.014705882352941176, tolerance = 1e-13)
  expect_match(paste(capture.output(print(always)), collapse = " "), "272 match")
  expect_named(ope, c("estimator", "estimate", "se", "lower", "upper"))
})

# The interval of ?dpts_ope for rewards of 0 and 1: the wider of the normal one and Wilson's, in [0, 1]
ope_by_help <- function(estimate, se, n, level = 0.95) {
  z <- qnorm((1 + level) / 2)
  p <- pmin(pmax(estimate, 0), 1)
  half <- z * sqrt(p * (1 - p) / n + z^2 / (4 * n^2))
  wilson <- function(sign) (p + z^2 / (2 * n) + sign * half) / (1 + z^2 / n)
  list(lower = pmax(0, pmin(estimate - z * se, wilson(-1))),
       upper = pmin(1, pmax(estimate + z * se, wilson(1))))
}

test_that("intervals are those of the help page, and never of width 0", {
  for (level in c(0.8, 0.95, 0.99)) for (target in list("uniform", 1, 7)) {
    log <- if (identical(target, "uniform")) bts else random
    ope <- dpts_ope(log, target, level = level)
    expect_equal(as.list(ope)[c("lower", "upper")],
                 ope_by_help(ope$estimate, ope$se, glance(ope)$effective, level))
    expect_true(all(ope$lower < ope$upper))
  }
  tidied <- tidy(ope, conf.level = 0.9)
  expect_equal(as.list(tidied)[c("conf.low", "conf.high")],
               stats::setNames(ope_by_help(ope$estimate, ope$se, glance(ope)$effective, 0.9),
                               c("conf.low", "conf.high")))
  # Arm 1 was shown 302 times and had no reward: Clopper and Pearson's upper limit is 0.0121.
  none <- dpts_ope(random, 1)
  expect_equal(none$estimate, rep(0, 4))
  expect_equal(none$upper, rep(qnorm(0.975)^2 / (302 + qnorm(0.975)^2), 4))
  # All logged rewards 1, and no match at all
  sure <- data.frame(arm = rep(1:2, 10), reward = 1, propensity = 0.5)
  expect_lt(max(dpts_ope(sure, 1)$lower), 0.8)
  unseen <- suppressWarnings(dpts_ope(data.frame(arm = factor(rep(1, 20), 1:2), reward = 0, propensity = 0.9),
                                      2))
  expect_equal(c(unseen$lower[1], unseen$upper[1]), c(0, 1))
  expect_identical(c(unseen$lower[2], unseen$upper[2]), c(NA_real_, NA_real_))
  expect_identical(shared(unseen, "weight"), c(0, 0))
  # Rewards inside [0, 1]: Wilson's interval would be 5 times too wide. That of rewards that are all alike has
  # a width of about 3 / n.
  set.seed(8)
  steady <- data.frame(arm = rep(1:2, 100), reward = runif(200, 0.45, 0.55), propensity = 0.5)
  wide <- dpts_ope(steady, 1, estimator = "snipw")
  expect_lt(wide$upper - wide$lower, 0.1)
  steady$reward <- 0.5
  alike <- dpts_ope(steady, 1, estimator = "snipw")
  expect_gt(alike$upper - alike$lower, 2 / 100)
  expect_lt(alike$upper - alike$lower, 4 / 100)
})

test_that("of one event the error is 0 and the interval Wilson's, and the error of the weights is not known", {
  one <- suppressWarnings(dpts_ope(data.frame(arm = "a", reward = 1), "a"))
  expect_identical(one$se, c(0, 0, 0, 0))
  expect_equal(as.list(one)[c("lower", "upper")], lapply(ope_by_help(1, 0, 1), rep, 4))
  expect_identical(tbl_sum(one)[["Mean weight"]], "1; 1 with the logger's propensities")
  expect_equal(tidy(one)$conf.low, one$lower)
  # A weight of 2 is what a chance of 1/2 gives: it is no evidence against it.
  expect_warning(two <- dpts_ope(data.frame(arm = "a", reward = 0, propensity = 0.5), "a"), class = "dpts_warning_overlap")
  expect_identical(c(two$estimate, two$se), numeric(8))
})

test_that("the model's intervals count what its estimate rests on: an arm that few events show", {
  # Two of 100 events show arm 1, which is half of the target's choices: 1 / (0.25 / 2 + 0.25 / 98) = 7.84 rewards.
  arm <- rep(1:2, c(2, 98))
  log <- data.frame(arm, reward = c(0, 0, rep(0:1, 49)), propensity = c(0.05, 0.95)[arm])
  ope <- dpts_ope(log, matrix(c(0.5, 0.5), 1), estimator = c("snipw", "dm", "dr"))
  expect_equal(ope$estimate[2:3], c(0.25, 0.25))
  n <- 1 / (0.25 / 2 + 0.25 / 98)
  n <- n / min(1, mean((log$reward - 0.49)^2) / (0.49 * 0.51) + 3 / n)
  z <- qnorm(0.975)
  expect_equal(ope$upper[2:3], rep((0.25 + z^2 / (2 * n) + z * sqrt(0.1875 / n + z^2 / (4 * n^2))) / (1 + z^2 / n), 2))
  expect_equal(as.data.frame(tidy(ope))$conf.high, ope$upper, ignore_attr = TRUE)
  expect_equal(as.data.frame(tidy(ope[2, ]))$conf.high, ope$upper[2], ignore_attr = TRUE)
  # With the sample size of the importance weights 87% held.
  skip_on_cran()
  set.seed(31)
  held <- replicate(200, {
    arm <- 2 - rbinom(100, 1, 0.05)
    log <- data.frame(arm = factor(arm, 1:2), reward = rbinom(100, 1, 0.5), propensity = c(0.05, 0.95)[arm])
    ope <- suppressWarnings(dpts_ope(log, matrix(c(0.45, 0.55), 1), estimator = "dm"))
    ope$lower <= 0.5 & 0.5 <= ope$upper
  })
  expect_gt(mean(held), 0.95 - 3 * sqrt(0.95 * 0.05 / 200))
})

test_that("95% intervals hold the value where rewards are rare, by enumeration", {
  # A uniform log of k arms, the target always one of them: N events match, of which K have a reward.
  covers <- function(n, k, rate, estimator) {
    some <- function(n, p) stats::qbinom(c(1e-13, 1 - 1e-13), n, p) # all but chances of 1e-13
    N <- some(n, 1 / k)
    K <- some(N[2], rate)
    each <- expand.grid(N = max(1, N[1]):N[2], K = 0:K[2])
    each$chance <- dbinom(each$N, n, 1 / k) * dbinom(each$K, each$N, rate)
    each <- each[each$chance > 1e-12, ]
    p <- if (estimator == "ipw") k * each$K / n else each$K / each$N
    se <- if (estimator == "ipw") sqrt((k^2 * each$K - n * p^2) / (n - 1) / n) else sqrt(p * (1 - p) / each$N)
    own <- ope_interval(p, se, each$N, 1, 0.95)
    sum(each$chance[own$lower <= rate & rate <= own$upper])
  }
  # the tables of arms that are rarely rewarded, or nearly always; the normal intervals hold 64, 77, 77, 64
  # and 90%
  for (estimator in c("ipw", "snipw")) {
    expect_gt(covers(1000, 10, 0.01, estimator), 0.92)
    expect_gt(covers(3000, 10, 0.005, estimator), 0.92)
    expect_gt(covers(300, 2, 0.01, estimator), 0.92)
    expect_gt(covers(200, 10, 0.95, estimator), 0.92)
    expect_gt(covers(30, 2, 0.5, estimator), 0.92)
  }
  # and dpts_ope() counts like this
  log <- simulated_log(200, rep(0.1, 10))
  ope <- dpts_ope(log, 3, estimator = c("ipw", "snipw"))
  own <- log$arm == 3
  p <- c(10 * sum(own & log$reward == 1) / 200, mean(log$reward[own]))
  se <- c(sqrt((100 * sum(own & log$reward == 1) - 200 * p[1]^2) / 199 / 200),
          sqrt(p[2] * (1 - p[2]) / sum(own)))
  expect_equal(ope$se, se)
  expect_equal(as.list(ope)[c("lower", "upper")], ope_by_help(p, se, sum(own)))
})

test_that("propensities that cannot be the logger's are said, with the number", {
  # 0.9 for two arms of three, 0.05 for the third: weights of mean 2.58, where it must be 1
  log <- withr::with_seed(1, data.frame(arm = sample(c("a", "b", "c"), 1000, TRUE),
                                        reward = rbinom(1000, 1, 0.5)))
  log$propensity <- ifelse(log$arm == "a", 0.05, 0.9)
  w <- 1 / 3 / log$propensity
  number <- sprintf("mean %.2f \\(se %.3f\\)", mean(w), sd(w) / sqrt(1000))
  expect_warning(ope <- dpts_ope(log, "uniform"), number, class = "dpts_warning_propensities")
  expect_equal(glance(ope)$mean_weight, mean(w))
  expect_match(capture.output(print(ope)), sprintf("Mean weight: %.2f .se %.3f.; 1 with", mean(w),
                                                   sd(w) / sqrt(1000)),
               all = FALSE)
  expect_lt(ope$lower[1], 1)
  expect_warning(replay <- dpts_replay(log, policy_uniform(), runs = 1, seed = 1), number,
                 class = "dpts_warning_propensities")
  expect_match(paste(capture.output(print(replay)), collapse = " "), "mean #? +weight 2.58")
  # too small: others than the log's, or an arm that is missing
  log$propensity <- 0.6
  expect_warning(dpts_ope(log, "uniform"), "mean 0.556 .*or the log lacks",
                 class = "dpts_warning_propensities")
  expect_warning(dpts_replay(log, policy_uniform(), runs = 1, seed = 1), "mean 0.556",
                 class = "dpts_warning_propensities")
  # Clipping makes the mean smaller, and is no mistake of the log's.
  set.seed(2)
  right <- simulated_log(2000, c(0.5, 0.5), c(0.9, 0.1))
  expect_no_warning(dpts_ope(right, "uniform", clip = 1))
  expect_no_warning(dpts_replay(right, policy_uniform(), runs = 1, seed = 1))
  # Right propensities are called wrong in less than one log of a thousand.
  said <- replicate(1000, {
    arm <- sample(3, 200, TRUE, c(0.6, 0.3, 0.1))
    w <- c(1 / 1.8, 1 / 0.9, 1 / 0.3)[arm]
    tryCatch({ warn_weights(c(mean(w), sd(w) / sqrt(200)), ""); FALSE }, warning = function(w) TRUE)
  })
  expect_lt(mean(said), 0.004)
})

test_that("estimators are unbiased, and their standard errors true, where the truth is known", {
  set.seed(1)
  means <- c(0.2, 0.5, 0.7)
  chances <- c(0.5, 0.3, 0.2)
  target <- matrix(c(0.1, 0.3, 0.6), 1)
  truth <- sum(target * means)
  runs <- 130
  all <- replicate(runs, {
    ope <- dpts_ope(simulated_log(400, means, chances), target)
    rbind(ope$estimate, ope$se)
  })
  for (i in 1:4) {
    estimate <- all[1, i, ]
    expect_lt(abs(mean(estimate) - truth) / (sd(estimate) / sqrt(runs)), 4)
    # The standard error of a standard deviation is about 1 / sqrt(2 runs) = 6.2% of it.
    expect_lt(abs(mean(all[2, i, ]) / sd(estimate) - 1), 4 * 0.062)
  }
})

test_that("contexts make the direct method and the doubly robust one better", {
  set.seed(2)
  n <- 4000
  x <- rbinom(n, 1, 0.5)
  # The logger prefers arm 1 in context 1, where it is good.
  p1 <- ifelse(x == 1, 0.8, 0.2)
  arm <- ifelse(runif(n) < p1, 1, 2)
  means <- cbind(ifelse(x == 1, 0.9, 0.1), ifelse(x == 1, 0.1, 0.5))
  log <- data.frame(arm, reward = rbinom(n, 1, means[cbind(1:n, arm)]),
                    propensity = ifelse(arm == 1, p1, 1 - p1), x)
  truth <- mean(c(0.9, 0.1)) # always arm 1
  with <- dpts_ope(log, 1, context = ~ x)
  without <- dpts_ope(log, 1)
  expect_lt(max(abs(with$estimate - truth) / with$se), 4)
  expect_gt(abs(without$estimate[3] - truth) / without$se[3], 10) # arm 1's mean in the log misleads
  expect_lt(abs(without$estimate[4] - truth) / without$se[4], 4) # doubly robust
  expect_lt(with$se[4], with$se[1])
  # The regression, by lm() with a penalty of nearly nothing
  exact <- dpts_ope(log, 1, context = ~ x, ridge = 0)
  fit <- lm(reward ~ x, log, subset = arm == 1)
  value <- predict(fit, log)
  w <- (arm == 1) / log$propensity
  terms <- list(w * log$reward, value + w * (log$reward - value))
  ratio <- weighted.mean(log$reward, w)
  expect_equal(exact$estimate, c(mean(terms[[1]]), ratio, mean(value), mean(terms[[2]])), tolerance = 1e-6)
  x1 <- cbind(1, x)[arm == 1, ]
  shrunk <- cbind(1, x) %*% solve(crossprod(x1) + diag(c(0, 50)), crossprod(x1, log$reward[arm == 1]))
  expect_equal(dpts_ope(log, 1, context = ~ x, ridge = 50, estimator = "dm")$estimate, mean(shrunk))
  # Standard errors: of means, of a ratio, and of a regression at the mean context, which is a mean, too
  gain <- model.matrix(fit) %*% solve(crossprod(model.matrix(fit)), c(1, mean(x)))
  expect_equal(exact$se, c(sd(terms[[1]]) / sqrt(n), sqrt(sum((w * (log$reward - ratio))^2)) / sum(w),
                           sqrt(sum((gain * resid(fit))^2) + var(value) / n), sd(terms[[2]]) / sqrt(n)),
               tolerance = 1e-6)
})

test_that("contexts by name have an intercept, as in lm(), and a formula has what it says", {
  set.seed(21)
  n <- 500
  log <- data.frame(arm = sample(3, n, TRUE), x = runif(n), z = rnorm(n), high = rbinom(n, 1, 0.4))
  log$reward <- 0.5 + 0.2 * log$x - 0.1 * log$high + 0.05 * log$arm + runif(n, -0.1, 0.1)
  target <- c(0.2, 0.3, 0.5)
  by_lm <- function(formula) {
    mean(drop(sapply(1:3, function(a) predict(lm(formula, log[log$arm == a, ]), log)) %*% target))
  }
  value <- function(context, ridge = 0, rows = log) {
    dpts_ope(rows, t(target), context = context, ridge = ridge, estimator = c("dm", "dr"))
  }
  named <- value(c("x", "z", "high"))
  expect_equal(named$estimate[1], by_lm(reward ~ x + z + high), tolerance = 1e-8)
  expect_equal(summary(named), summary(value(~ x + z + high)))
  expect_equal(value(~ 0 + x + z)$estimate[1], by_lm(reward ~ 0 + x + z), tolerance = 1e-8)
  # in whatever unit a context is, such as seconds since 1970
  for (size in c(1e-9, 1e9, 1e150)) {
    expect_equal(value(c("x", "z", "high"), rows = transform(log, x = size * x))$estimate, named$estimate, tolerance = 1e-6)
  }
  expect_error(value("x", rows = transform(log, x = 1e200 * x)), "`context` must have smaller numbers", class = "dpts_error_input")
  # Ones and a pair of columns that add up to one change nothing. A huge penalty leaves each arm's mean.
  log$low <- 1 - log$high
  log$one <- 1
  expect_equal(value(c("x", "z", "high", "low", "one"))$estimate, named$estimate, tolerance = 1e-6)
  expect_equal(value(c("x", "z"), 1e12)$estimate, value(NULL)$estimate, tolerance = 1e-6)
  expect_equal(value(c("x", "z", "high"), 3, log[c(1:n, 1:n), ])$estimate[1],
               value(c("x", "z", "high"), 1.5)$estimate[1],
               tolerance = 1e-8)
})

test_that("intervals with contexts by name hold the value of a linear model's target", {
  set.seed(22)
  n <- 400
  held <- replicate(150, {
    x <- runif(n)
    arm <- sample(2, n, TRUE)
    reward <- rbinom(n, 1, ifelse(arm == 1, 0.9 - 0.3 * x, 0.5))
    ope <- dpts_ope(data.frame(arm, reward, x), 1, context = "x", estimator = c("dm", "dr"))
    ope$lower < 0.75 & 0.75 < ope$upper
  })
  # A share of 150 at 0.95 has a standard error of 1.8%.
  expect_gt(min(rowMeans(held)), 0.95 - 4 * 0.018)
})

test_that("the direct method's error counts the spread of contexts", {
  set.seed(13)
  runs <- 130
  n <- 300
  all <- replicate(runs, {
    x <- runif(n)
    arm <- sample(2, n, TRUE)
    # Rewards are near their means, so that most of the error comes from the events' contexts.
    reward <- ifelse(arm == 1, x, 1 - x) * 0.9 + runif(n, 0, 0.1)
    unlist(dpts_ope(data.frame(arm, reward, x), 1, context = ~ x, estimator = "dm", ridge = 0)[2:3])
  })
  # The standard error of a standard deviation is about 1 / sqrt(2 runs) = 6.2% of it.
  expect_lt(abs(mean(all[2, ]) / sd(all[1, ]) - 1), 4 * 0.062)
  expect_lt(abs(mean(all[1, ]) - 0.5), 4 * sd(all[1, ]) / sqrt(runs))
})

test_that("rewards that hardly differ have the errors of the same rewards, stretched", {
  log <- random_log()
  log$reward <- rep(seq(0, 1, length.out = 9), length.out = nrow(log))
  wide <- dpts_ope(log, "uniform", estimator = c("dm", "dr"))
  log$reward <- 1 - 1e-8 * log$reward
  narrow <- dpts_ope(log, "uniform", estimator = c("dm", "dr"))
  expect_equal(1e8 * (1 - narrow$estimate), wide$estimate, tolerance = 1e-6)
  expect_equal(1e8 * narrow$se, wide$se, tolerance = 1e-5)
})

test_that("propensities next to 0 do not break the arithmetic", {
  log <- data.frame(arm = rep(1:2, 50), reward = rep(0:1, 50), propensity = 1e-300)
  expect_warning(ope <- dpts_ope(log, 2, estimator = "snipw"), "mean 5e.299",
                 class = "dpts_warning_propensities")
  expect_equal(ope$estimate, 1)
  for (p in c(1e-200, 1e-320)) {
    one <- suppressWarnings(dpts_ope(data.frame(arm = 1, reward = 0.3, propensity = p), "uniform"))
    expect_equal(one$estimate[-1], rep(0.3, 3))
    expect_true(all(is.finite(unlist(one[c("estimate", "se", "lower", "upper")]))))
  }
  expect_warning(replay <- dpts_replay(log, policy_fixed(2), runs = 1, seed = 1),
                 class = "dpts_warning_propensities")
  expect_equal(c(replay$rate, replay$relative), c(1, 2))
  expect_false(anyNA(summary(replay)[c("se", "lower", "upper")]))
})

test_that("targets can be named, numbered or spelled out", {
  set.seed(3)
  log <- data.frame(arm = sample(c("x", "y", "z"), 300, TRUE), reward = runif(300), propensity = 1 / 3)
  same <- function(x, y) expect_equal(as.list(x), as.list(y), ignore_attr = TRUE)
  arm <- dpts_ope(log, "y")
  same(dpts_ope(log, matrix(c(0, 1, 0), 1)), arm)
  same(dpts_ope(transform(log, arm = sub("y", "uniform", arm)), "uniform"), arm) # an arm of that name
  named <- matrix(c(1, 0, 0), 1, dimnames = list(NULL, c("y", "x", "z")))
  same(dpts_ope(log, named), arm)
  # Three columns in an order that is not its own inverse
  turned <- matrix(c(0.2, 0.7, 0.1), 1, dimnames = list(NULL, c("y", "z", "x")))
  same(dpts_ope(log, turned), dpts_ope(log, matrix(c(0.1, 0.2, 0.7), 1)))
  full <- matrix(1 / 3, 300, 3)
  same(dpts_ope(log, full), dpts_ope(log, "uniform"))
  titles <- vapply(list("uniform", "y", full, policy_exp3()), function(target) shared(dpts_ope(log, target, seed = 1), "target"), "")
  same(dpts_ope(log, "y", estimator = c("dr", "ipw", "dr")), arm[c(4, 1), ])
  expect_identical(titles, c("uniform", "arm y", "matrix of probabilities", "policy exp3, as it learns"))
  # On a uniform log the uniform target's estimate is the mean reward.
  expect_equal(dpts_ope(log, "uniform", estimator = "ipw")$estimate, mean(log$reward))
})

test_that("uniform over dynamic pools, and arms outside them", {
  set.seed(4)
  pools <- list(1:2, 2:4)
  which <- sample(2, 600, TRUE)
  log <- data.frame(arm = vapply(which, function(w) sample(pools[[w]], 1), 0L), reward = runif(600))
  log$pool <- pools[which]
  log$propensity <- 1 / lengths(log$pool)
  uniform <- dpts_ope(log, "uniform")
  expect_equal(uniform$estimate[1], mean(log$reward))
  means <- tapply(log$reward, log$arm, mean)
  expect_equal(uniform$estimate[3], mean(ifelse(which == 1, mean(means[1:2]), mean(means[2:4]))))
  expect_error(dpts_ope(log, 1), "every pool", class = "dpts_error_input")
  expect_equal(dpts_ope(log, 2, estimator = "snipw")$estimate,
               weighted.mean(log$reward, (log$arm == 2) / log$propensity))
  expect_error(dpts_ope(log, matrix(c(1, 0, 0, 0), 1)), sprintf("only arms of the pool; row %d does not", which(which == 2)[1]),
               class = "dpts_error_input")
})

test_that("clipping cuts weights", {
  ratio <- (1 / 34) / bts$propensity
  w <- pmin(ratio, 2)
  ope <- dpts_ope(bts, "uniform", clip = 2, estimator = c("ipw", "snipw"))
  expect_equal(ope$estimate, c(mean(w * bts$reward), sum(w * bts$reward) / sum(w)))
  expect_match(paste(capture.output(print(ope)), collapse = " "), "weights clipped")
  expect_equal(unlist(glance(ope)[c("effective", "clipped", "logged")]),
               c(effective = sum(w)^2 / sum(w^2), clipped = sum(ratio > 2), logged = mean(bts$reward)))
  expect_equal(glance(dpts_ope(bts, "uniform", clip = max(ratio), estimator = "ipw"))$clipped, 0)
  # Weights whose squares vanish are weights, too.
  log <- data.frame(arm = rep(1:2, 20), reward = c(0, 1, 1, 0, 1), propensity = 0.5)
  small <- dpts_ope(log, "uniform", clip = 1e-200, estimator = c("ipw", "snipw"))
  one <- dpts_ope(log, "uniform", clip = 0.25, estimator = c("ipw", "snipw"))
  expect_equal(small$se * c(0.25e200, 1), one$se)
  expect_equal(small[2, ], one[2, ], ignore_attr = TRUE)
})

test_that("thin overlap is said aloud", {
  # 5 equal weights of 100, and 12
  thin <- function(n) data.frame(arm = c(rep(1, 100 - n), rep(2, n)), reward = 0:1,
                                 propensity = rep(c(1 - n / 100, n / 100), c(100 - n, n)))
  expect_warning(five <- dpts_ope(thin(5), 2), "effective sample size is 5 of 100",
                 class = "dpts_warning_overlap")
  expect_no_warning(twelve <- dpts_ope(thin(12), 2))
  # Matches are events, whatever they weigh.
  expect_equal(c(glance(five)$matched, glance(twelve)$matched), c(5, 12))
  expect_match(capture.output(print(twelve)), "100, of which 12 match; effective sample size 12", all = FALSE)
  expect_equal(glance(dpts_ope(thin(12), "uniform"))$matched, 100)
  log <- data.frame(arm = c(rep(1, 99), 2), reward = 0.5, propensity = c(rep(0.99, 99), 0.01))
  expect_warning(once <- dpts_ope(log, 2), "effective sample size", class = "dpts_warning_overlap")
  expect_equal(once$estimate, rep(0.5, 4))
  unseen <- data.frame(arm = factor(rep(1, 50), 1:2), reward = 0.5, propensity = 1 / 2)
  expect_warning(expect_warning(dpts_ope(unseen, matrix(c(0, 1), 1)), "never shows",
                                class = "dpts_warning_overlap"), "effective")
  # Nothing is said of arms that the target does not play, or that are never on offer.
  unseen$propensity <- 0.999
  expect_no_warning(dpts_ope(unseen, 1))
  log <- data.frame(arm = factor(rep(1:2, 25), 1:3), reward = 0.5, propensity = 1 / 2)
  log$pool <- rep(list(1:2), 50)
  expect_no_warning(dpts_ope(log, "uniform"))
  # What makes weights too small on the average is said once; an arm that nobody plays or shows does not.
  few <- function(n) data.frame(arm = factor(rep(1:2, c(n, 100 - n)), 1:3), reward = 0:1, propensity = 1 / 2)
  expect_match(capture_warnings(dpts_ope(few(5), 1)), "effective sample size is 5 of 100")
  expect_warning(dpts_ope(few(20), 1), "have mean 0.4 ", class = "dpts_warning_propensities")
})

test_that("where the log had no choice and the target has, a warning says so", {
  # The last of a permuted block gets the arm that is left: over 200 runs IPW of 0.45 came to 0.40.
  sim <- dpts_simulate(arms_bernoulli(c(a = 0.3, b = 0.6)), policy_randomised(block = 10, permuted = TRUE),
                       200, runs = I(1),
                       seed = 1, history = TRUE)
  log <- as_log(sim)
  certain <- sum(log$propensity == 1)
  expect_gte(certain, 20)
  expect_warning(dpts_ope(log, "uniform"), sprintf("In %d of 200 events .* target", certain),
                 class = "dpts_warning_overlap")
  expect_warning(dpts_replay(log, policy_ts_beta(), runs = 1, seed = 1),
                 sprintf("In %d of 200 events", certain),
                 class = "dpts_warning_overlap")
  # Not where the target has none either, and not where one arm alone was on offer
  log$propensity[log$propensity == 1] <- 0.999
  expect_no_warning(dpts_ope(log, "uniform"))
  alone <- data.frame(arm = rep(1:2, 50), reward = 0:1, propensity = rep(c(1, 0.5), 50))
  always <- cbind(rep(c(1, 0.5), 50), rep(c(0, 0.5), 50))
  expect_no_warning(dpts_ope(alone, always))
  expect_warning(dpts_ope(alone, "uniform"), "In 50 of 100 events")
  alone$pool <- rep(list(1, 1:2), 50)
  expect_no_warning(dpts_ope(alone, "uniform"))
  expect_no_warning(dpts_replay(alone, policy_ts_beta(), runs = 1, seed = 1, method = "rejection"))
})

test_that("arguments are checked", {
  expect_error(dpts_ope(bts, "nobody"), class = "dpts_error_input")
  expect_error(dpts_ope(bts, 34), class = "dpts_error_input")
  expect_error(dpts_ope(bts, matrix(1 / 2, 1, 2)), class = "dpts_error_input")
  for (off in list(0.4, 0.999, 1.001, c(-1, 3), NA)) {
    expect_error(dpts_ope(bts, matrix(off / 34, 1, 34)), "adding up to 1", class = "dpts_error_input")
  }
  for (bad in list(matrix(1 / 34, 2, 34), matrix("a", 1, 34))) {
    expect_error(dpts_ope(bts, bad), "34 columns and 1 or 10000 rows", class = "dpts_error_input")
  }
  named <- matrix(1 / 34, 1, 34, dimnames = list(NULL, c(0:32, "x")))
  expect_error(dpts_ope(bts, named), "`target`.*\"33\" has none", class = "dpts_error_input")
  expect_error(dpts_ope(bts, "uniform", estimator = "magic"), class = "dpts_error_input")
  expect_error(dpts_ope(bts, "uniform", clip = 0), class = "dpts_error_input")
  expect_error(dpts_ope(bts, "uniform", ridge = -1), "`ridge`", class = "dpts_error_input")
  expect_error(dpts_ope(bts, "uniform", level = 1), "`level`", class = "dpts_error_input")
  expect_error(dpts_ope(bts, "uniform", seed = -1), "`seed`", class = "dpts_error_input")
  log <- data.frame(arm = c("z", "x", "y"), reward = 0, propensity = 1 / 3)
  for (none in list(factor("w"), NA, c("x", "y"), list("x"))) {
    expect_error(dpts_ope(log, none), "the log's arms (x, y, z), a matrix", fixed = TRUE, class = "dpts_error_input")
  }
  expect_error(dpts_ope(log, policy_randomised(floor = 0.4)), "`target` must fit `log`: policy \"randomised\" has a `floor` of 0.4",
               class = "dpts_error_contexts")
  expect_error(dpts_ope(bts, "uniform", "ipw"), class = "dpts_error_dots")
  expect_error(dpts_ope(data.frame(arm = 1), "uniform"), "reward", class = "dpts_error_log")
})

test_that("the plot shows estimates and intervals", {
  ope <- dpts_ope(bts, "uniform")
  drawn <- ggplot2::layer_data(autoplot(ope), 2)
  expect_setequal(drawn$x, ope$estimate)
  expect_setequal(drawn$xmax, ope$upper)
})

test_that("columns may have other names", {
  log <- random_log()
  renamed <- stats::setNames(as.data.frame(log), sub("reward", "clicked", sub("^arm$", "item", names(log))))
  expect_equal(dpts_ope(renamed, "uniform", arm = "item", reward = "clicked")$estimate,
               dpts_ope(log, "uniform")$estimate)
  expect_error(dpts_ope(renamed, "uniform", arm = "thing"), "`arm` must be the name of a column",
               class = "dpts_error_input")
  expect_error(dpts_ope(renamed, "uniform", arm = 1), "`arm`", class = "dpts_error_input")
})

test_that("a policy that learns is a target: its chances in each event, as a replay gives them", {
  n <- 400
  log <- withr::with_seed(3, data.frame(arm = sample(3, n, TRUE, c(0.5, 0.3, 0.2)),
                                        reward = stats::rbinom(n, 1, 0.4)))
  log$propensity <- c(0.5, 0.3, 0.2)[log$arm]
  found <- dpts_ope(log, policy_exp3(), seed = 4)
  # EXP3 in R. It learns from every event whose arm it chose: none is left out to make the log uniform.
  begin_notes()
  spy <- policy_custom(
    "spy", start = function(k, horizon) list(loss = numeric(k), t = 1),
    choose = function(state, round) {
      arm <- sample.int(3, 1, prob = chances(state))
      note(chosen = arm)
      arm
    },
    update = function(state, feedback) {
      note(learned = 1)
      a <- feedback$arm
      state$loss[a] <- state$loss[a] + (1 - feedback$reward) / chances(state)[a]
      list(loss = state$loss, t = state$t + 1)
    },
    probability = function(state, round) {
      note(seen = chances(state))
      chances(state)
    }
  )
  chances <- function(state) {
    w <- exp(-sqrt(log(3) / (3 * state$t)) * (state$loss - min(state$loss)))
    w / sum(w)
  }
  own <- dpts_ope(log, spy, estimator = "ipw", seed = 1)
  noted <- split(notes(), names(notes()))
  seen <- do.call(rbind, noted$seen)
  expect_equal(nrow(seen), n)
  expect_equal(length(noted$learned), sum(unlist(noted$chosen) == log$arm))
  expect_equal(own$estimate, mean(seen[cbind(1:n, log$arm)] / log$propensity * log$reward))
  expect_equal(dpts_ope(log, seen, estimator = "dr")$estimate,
               dpts_ope(log, spy, estimator = "dr", seed = 1)$estimate)
  # Chances that nothing changes are those of the uniform target.
  expect_equal(dpts_ope(log, policy_randomised(rule = "equal"), seed = 1)$estimate,
               dpts_ope(log, "uniform")$estimate)
  expect_identical(found, dpts_ope(log, policy_exp3(), seed = 4))
  expect_false(identical(found$estimate, dpts_ope(log, policy_exp3(), seed = 5)$estimate))
  expect_error(dpts_ope(log, policy_ucb1()),
               "`target` must be a policy that says its probabilities.*\"ucb1\" does not",
               class = "dpts_error_input")
  expect_error(dpts_ope(log, policy_ts_gaussian()), "\"ts_gaussian\" does not", class = "dpts_error_input")
  # A log of fewer events than arms
  two <- data.frame(arm = factor(c("x", "y"), c("x", "y", "z")), reward = 0:1, propensity = 1 / 3)
  ask <- function(target) suppressWarnings(dpts_ope(two, target, seed = 1))$estimate
  expect_equal(ask(policy_randomised()), ask("uniform"))
  # The model's contexts change nothing for a policy that reads none.
  seen <- data.frame(arm = rep(1:2, 50), reward = rep(0:1, each = 50), propensity = c(0.4, 0.6),
                     context1 = 1:100 / 100)
  ask <- function(...) dpts_ope(seen, policy_exp3(), seed = 1, estimator = c("ipw", "dr"), ...)$estimate
  expect_equal(ask(context = "context1")[1], ask()[1])
  # Contexts are those of the log, also outside of [0, 1].
  seen$context1 <- seq(-2, 3, length.out = 100)
  of_context <- function(x) stats::plogis(x * c(1, -1))
  aware <- policy_custom("aware", start = function(k, horizon) NULL, choose = function(state, round) 1L,
                         update = function(state, feedback) NULL, probability = function(state, round) of_context(round$context))
  given <- t(vapply(seen$context1, of_context, numeric(2)))
  by_policy <- dpts_ope(seen, aware, context = "context1", seed = 1)
  by_matrix <- dpts_ope(seen, given, context = "context1")
  expect_equal(by_policy$estimate, by_matrix$estimate)
  # Estimates of one target belong together, asked at once or one by one, and those of two do not.
  parts <- lapply(by_matrix$estimator, function(name) dpts_ope(seen, given, context = "context1", estimator = name))
  expect_identical(do.call(rbind, parts), by_matrix)
  expect_identical(tidy(rbind(parts[[4]], parts[[1]]), conf.level = 0.8), tidy(by_matrix, conf.level = 0.8)[c(4, 1), ])
  expect_identical(rbind(by_matrix[1:2, ], dpts_ope(seen, given, context = "context1")[3:4, ]), by_matrix)
  expect_error(rbind(by_matrix[1:2, ], dpts_ope(seen, given[, 2:1], context = "context1")[3:4, ]), "do not belong together.*differ in `log`",
               class = "dpts_error_join")
  # Pools, and a last chunk of one event
  seen$pool <- rep(list(1:2), 100)
  chunks <- log_chunks(function(i) if (i < 3) seen[list(1:99, 100)[[i]], ])
  expect_equal(dpts_ope(chunks, policy_exp3(), seed = 1)$estimate,
               dpts_ope(seen, policy_exp3(), seed = 1)$estimate)
})

test_that("each number of three unequal arms and events is its formula", {
  withr::local_seed(6)
  n <- 80
  arm <- sample(c("b", "c", "a"), n, TRUE, c(0.5, 0.3, 0.2))
  log <- data.frame(arm, reward = stats::rbinom(n, 1, c(b = 0.2, c = 0.7, a = 0.5)[arm]), x = round(stats::runif(n), 2),
                    propensity = c(b = 0.5, c = 0.3, a = 0.2)[arm] * stats::runif(n, 0.9, 1.1))
  target <- prop.table(matrix(stats::runif(3 * n), n, dimnames = list(NULL, c("c", "a", "b"))), 1)
  w <- target[cbind(seq_len(n), match(arm, colnames(target)))] / log$propensity
  clip <- sort(w)[60] # one weight is just at it
  v <- pmin(w, clip)
  r <- log$reward
  # Ridge regression of each arm, whose intercept is free
  q <- sapply(colnames(target), function(a) {
    x <- cbind(1, log$x)[arm == a, ]
    drop(cbind(1, log$x) %*% solve(crossprod(x) + diag(c(0, 4)), crossprod(x, r[arm == a])))
  })
  value <- rowSums(target * q)
  dr <- value + v * (r - q[cbind(seq_len(n), match(arm, colnames(q)))])
  found <- suppressWarnings(dpts_ope(log, target, clip = clip, context = "x", ridge = 4))
  snipw <- sum(v * r) / sum(v)
  expect_equal(found$estimate, c(mean(v * r), snipw, mean(value), mean(dr)), tolerance = 1e-8)
  expect_equal(found$se[-3], c(stats::sd(v * r) / sqrt(n), sqrt(sum(v^2 * (r - snipw)^2)) / sum(v), stats::sd(dr) / sqrt(n)),
               tolerance = 1e-8)
  whole <- glance(found)
  expect_equal(c(whole$effective, whole$clipped, whole$matched), c(sum(v)^2 / sum(v^2), 20, n))
  expect_equal(shared(found, "weight"), c(mean(w), stats::sd(w) / sqrt(n)))
})

test_that("the arm that the log never shows is named, wherever it stands", {
  log <- data.frame(arm = factor(rep(c("b", "c"), 40), c("b", "c", "a")), reward = 0:1, propensity = 0.5)
  said <- character()
  withCallingHandlers(dpts_ope(log, "a"), dpts_warning = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect_match(said, "arm a, which the log never shows", all = FALSE)
})
