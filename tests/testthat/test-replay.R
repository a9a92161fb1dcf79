skip_on_cran() # takes seconds

random <- open_bandit[open_bandit$logger == "random", ]
bts <- open_bandit[open_bandit$logger == "bts", ]
rows <- function(x, ...) as.data.frame(x)[c("events", "reward")]

test_that("replay of 'always item 0' on the uniform log matches the data's own toolkit", {
  replay <- dpts_replay(random, list(always = policy_fixed(1)), runs = 2, seed = 1)
  # obp 0.5.5 gives 272 matched rounds of mean reward 0.014705882352941176.
  expect_equal(replay$events, c(272, 272))
  expect_equal(replay$rate, rep(0.014705882352941176, 2), tolerance = 1e-15)
  # the log's mean reward: 0.0046
  expect_equal(replay$relative, replay$rate / 0.0046, tolerance = 1e-12)
  expect_named(replay, c("policy", "delay", "run", "events", "reward", "rate", "relative"))
  expect_s3_class(replay, "dpts_replay")
})

test_that("a policy that repeats the logger's choices keeps every event", {
  set.seed(1)
  log <- data.frame(arm = sample(5, 400, TRUE), reward = runif(400))
  log$pool <- as.list(log$arm) # nothing else to choose
  for (policy in list(policy_uniform(), policy_ts_beta(), policy_ucb1())) {
    replay <- dpts_replay(log, policy, runs = 1, seed = 1)
    expect_equal(replay$events, 400)
    expect_equal(replay$reward, sum(log$reward))
    expect_equal(replay$relative, 1)
  }
  fixed <- dpts_replay(data.frame(arm = 3, reward = runif(50)), policy_fixed(1), runs = 1, seed = 1)
  expect_equal(fixed$events, 50)
})

test_that("the uniform policy keeps about 1 / |pool| of the events", {
  set.seed(2)
  pools <- list(c(2, 4), c(1, 3, 5), 1:6)
  n <- 3000
  which <- sample(3, n, TRUE)
  arm <- vapply(which, function(w) pools[[w]][sample.int(length(pools[[w]]), 1)] + 0, 0)
  log <- data.frame(arm = arm, reward = 0.5)
  log$pool <- pools[which]
  log$propensity <- 1 / lengths(log$pool)
  replay <- dpts_replay(log, policy_uniform(), runs = 20, seed = 1)
  p <- 1 / lengths(log$pool)
  se <- sqrt(sum(p * (1 - p)) / 20)
  expect_lt(abs(mean(replay$events) - sum(p)), 4 * se)
})

test_that("the uniform policy is its own base, also where pools differ in size", {
  set.seed(11)
  n <- 6000
  pools <- list(1:2, 1:8)
  which <- sample(2, n, TRUE)
  arm <- vapply(which, function(w) sample(pools[[w]], 1), 0L)
  # Small pools pay well.
  log <- data.frame(arm, reward = rbinom(n, 1, c(0.8, 0.2)[which]))
  log$pool <- pools[which]
  for (method in c("auto", "weighted", "rejection")) {
    replay <- dpts_replay(log, policy_uniform(), runs = 30, seed = 1, method = method)
    se <- sd(replay$relative) / sqrt(30)
    expect_lt(abs(mean(replay$relative) - 1), 4 * se)
    # The mean over events is 0.5; plain replay leans to small pools, 0.8 x 4/5 + 0.2 x 1/5.
    expect_equal(replay$rate[1] / replay$relative[1], if (method == "auto") 0.68 else 0.5,
                 tolerance = 0.04)
  }
})

test_that("replay is unbiased where the truth is known", {
  means <- c(0.3, 0.5, 0.7)
  horizon <- 60
  policies <- list(ts = policy_ts_beta(), ucb1 = policy_ucb1())
  truth <- dpts_simulate(arms_bernoulli(means), policies, horizon, runs = 4000, seed = 1,
                         record = I(horizon))
  truth <- tapply(truth$reward, truth$policy, function(x) c(mean(x), var(x) / 4000))
  set.seed(3)
  runs <- 40
  for (logger in c("uniform", "rejection")) {
    # 60 kept events need 180 of a uniform log; with chances (0.2, 0.3, 0.5) and rejection, 300.
    found <- replicate(runs, {
      log <- if (logger == "uniform") simulated_log(400, means) else
        simulated_log(700, means, c(0.2, 0.3, 0.5))
      replay <- dpts_replay(log, policies, runs = 1, method = "rejection", horizon = horizon)
      c(replay$reward, replay$events)
    })
    expect_equal(range(found[3:4, ]), c(horizon, horizon))
    rewards <- found[1:2, ]
    for (i in 1:2) {
      z <- (mean(rewards[i, ]) - truth[[i]][1]) /
        sqrt(var(rewards[i, ]) / runs + truth[[i]][2])
      expect_lt(abs(z), 4)
    }
  }
})

test_that("weighted replay of a fixed arm is the self-normalised estimate", {
  replay <- dpts_replay(bts, policy_fixed(1), runs = 1, seed = 1)
  ope <- dpts_ope(bts, 0, estimator = "snipw")
  expect_equal(replay$rate, ope$estimate, tolerance = 1e-12)
  expect_equal(summary(replay)$se, ope$se, tolerance = 1e-12)
  # Without a reward only the effective number of events tells how wide the interval is.
  w <- 1 / bts$propensity[bts$arm == 0]
  blank <- summary(suppressWarnings(dpts_replay(transform(bts, reward = 0), policy_fixed(1), runs = 1, seed = 1)))
  expect_equal(blank$upper, stats::qnorm(0.975)^2 / (sum(w)^2 / sum(w^2) + stats::qnorm(0.975)^2))
  # The base is the toolkit's self-normalised value of the uniform policy.
  expect_equal(replay$rate / replay$relative, 0.003189423162277392, tolerance = 1e-12)
})

test_that("rewards come late, first in, first out, as in a translation into R", {
  set.seed(4)
  means <- c(0.2, 0.5, 0.6, 0.4)
  log <- simulated_log(900, means)
  # Each arm is pulled once; while the reward of one of them is out, the arms are played in turn.
  choose <- function(s, t, i) {
    if (any(s$pulls == 0) || any(s$n == 0)) return(which.min(s$pulls))
    which.max(s$sum / s$n + sqrt(2 * log(t - 1) / s$n))
  }
  commit <- function(s, i) {
    s$pulls[log$arm[i]] <- s$pulls[log$arm[i]] + 1
    s
  }
  observe <- function(s, i) {
    a <- log$arm[i]
    s$n[a] <- s$n[a] + 1
    s$sum[a] <- s$sum[a] + log$reward[i]
    s
  }
  delays <- c(0, 3, 40)
  replay <- dpts_replay(log, policy_ucb1(), delay = delays, runs = 1, seed = 1)
  for (i in seq_along(delays)) {
    start <- list(n = numeric(4), sum = numeric(4), pulls = numeric(4))
    ref <- replay_reference(log, start, choose, observe, delays[i], commit)
    expect_equal(unlist(rows(replay)[i, ]), ref, ignore_attr = TRUE)
  }
  expect_gt(length(unique(replay$events)), 1)
})

test_that("contexts and arm features reach the policy, on time and late", {
  set.seed(5)
  n <- 300; k <- 4
  log <- simulated_log(n, c(0.2, 0.5, 0.6, 0.4))
  x <- matrix(runif(2 * n), n)
  log$u1 <- x[, 1]; log$u2 <- x[, 2]
  features <- matrix(runif(3 * k), k)
  z <- function(i, a) c(outer(x[i, ], features[a, ]))
  choose <- function(s, t, i) {
    which.max(vapply(1:k, function(a) {
      sum(solve(s$a, s$b) * z(i, a)) + 0.5 * sqrt(sum(z(i, a) * solve(s$a, z(i, a))))
    }, 0))
  }
  observe <- function(s, i) {
    x <- z(i, log$arm[i])
    list(a = s$a + outer(x, x), b = s$b + log$reward[i] * x)
  }
  replay <- dpts_replay(log, policy_linucb(alpha = 0.5, model = "shared"), delay = c(0, 25), runs = 1, seed = 1,
                        context = "u", arm_features = features)
  for (i in 1:2) {
    ref <- replay_reference(log, list(a = diag(6), b = numeric(6)), choose, observe, c(0, 25)[i])
    expect_equal(unlist(rows(replay)[i, ]), ref, ignore_attr = TRUE)
  }
  # A formula says the same as names of columns, and a prefix.
  same <- dpts_replay(log, policy_linucb(alpha = 0.5, model = "shared"), runs = 1, seed = 1,
                      context = ~ 0 + u1 + u2, arm_features = features)
  expect_equal(rows(same), rows(replay)[1, ])
})

test_that("arm features may stand alone, by row or by name, and bad ones are named", {
  set.seed(6)
  log <- simulated_log(400, c(0.2, 0.5, 0.6))
  log$one <- 1
  features <- matrix(c(0.1, 0.9, 0.4, 0.3, 0.2, 0.8), 3)
  play <- function(features, context = NULL) {
    rows(dpts_replay(log, policy_linucb(alpha = 0.5, model = "shared"), runs = 2, seed = 1,
                     context = context, arm_features = features))
  }
  # The products with a context of 1 are the features.
  alone <- play(features)
  expect_equal(alone, play(features, "one"))
  named <- structure(features[3:1, ], dimnames = list(sort(unique(log$arm), TRUE), NULL))
  expect_equal(play(named), alone)
  expect_equal(play(as.data.frame(features)), alone)
  log$one <- TRUE
  whole <- matrix(c(0L, 1L, 1L, 0L, 1L, 0L), 3)
  expect_equal(play(whole, "one"), play(whole + 0))
  bad <- list(1:3, features[1:2, ], features * NA, named[1:2, ], features[, 0], array("1", c(3, 2)), replace(features, 2, Inf))
  for (x in bad) expect_error(play(x), "`arm_features`", class = "dpts_error_input")
})

test_that("a policy chooses from the pool of the event, as in a translation into R", {
  set.seed(14)
  n <- 500; k <- 6
  pools <- replicate(12, sort(sample(k, sample(2:4, 1))), simplify = FALSE)
  log <- data.frame(arm = 0, reward = 0, x = runif(n))
  log$pool <- pools[sample(12, n, TRUE)]
  log$arm <- vapply(log$pool, function(p) p[sample.int(length(p), 1)], 0L)
  features <- matrix(runif(2 * k), k)
  log$reward <- rbinom(n, 1, features[log$arm, 1] * log$x)
  z <- function(i, a) features[a, ] * log$x[i]
  choose <- function(s, t, i) {
    scores <- vapply(log$pool[[i]], function(a) {
      sum(solve(s$a, s$b) * z(i, a)) + 0.3 * sqrt(sum(z(i, a) * solve(s$a, z(i, a))))
    }, 0)
    log$pool[[i]][which.max(scores)]
  }
  observe <- function(s, i) {
    x <- z(i, log$arm[i])
    list(a = s$a + outer(x, x), b = s$b + log$reward[i] * x)
  }
  replay <- dpts_replay(log, policy_linucb(alpha = 0.3, model = "shared"), delay = c(0, 30), runs = 1,
                        seed = 1, context = "x", arm_features = features)
  for (i in 1:2) {
    ref <- replay_reference(log, list(a = diag(2), b = numeric(2)), choose, observe, c(0, 30)[i])
    expect_equal(unlist(rows(replay)[i, ]), ref, ignore_attr = TRUE)
  }
})

test_that("a delay of 0 is no delay, and a delay beyond the log is never learning", {
  policies <- list(lin = policy_lin_ts(v = 0.2), private = policy_linucb(alpha = 0.2, epsilon = 2.7))
  both <- dpts_replay(random, policies, delay = c(0, 50), runs = 3, seed = 5)
  alone <- dpts_replay(random, policies, runs = 3, seed = 5)
  expect_equal(rows(both[both$delay == 0, ]), rows(alone))
  # The statement is of the delays that are shown.
  for (part in list(both, both[both$delay == 0, ])) {
    expect_identical(dpts:::replay_statements(part)$private$at$delay, max(part$delay))
    expect_identical(any(grepl("rewards late", utils::capture.output(print(dpts:::replay_statements(part)$private)))),
                     max(part$delay) > 0)
  }
  few <- random[1:2000, ]
  expect_warning(never <- dpts_replay(few, policy_ucb1(), delay = 2000, runs = 1, seed = 5),
                 class = "dpts_warning_delay")
  expect_no_warning(dpts:::warn_never(c(0, 9), 10)) # the first reward comes with the tenth event
  expect_warning(dpts:::warn_never(9:11, 10), "delay of 10, 11 no reward comes", class = "dpts_warning_delay")
  # Without rewards UCB1 plays the arms in turn.
  log <- data.frame(arm = match(few$arm, sort(unique(few$arm))), reward = few$reward)
  turns <- replay_reference(log, numeric(length(unique(log$arm))), function(s, t, i) which.min(s),
                            function(s, i) s, 1e6, function(s, i) {
                              s[log$arm[i]] <- s[log$arm[i]] + 1
                              s
                            })
  expect_equal(unlist(rows(never)), turns, ignore_attr = TRUE)
})

test_that("runs depend on their key alone, and a seed leaves R's generator", {
  few <- random[1:3000, ]
  policies <- list(a = policy_ts_beta(), b = policy_lin_ts(v = 0.1))
  all <- dpts_replay(few, policies, runs = 3, seed = 7, delay = c(0, 10))
  set.seed(1)
  before <- .Random.seed
  one <- dpts_replay(few, policies["b"], runs = I(3), seed = 7, delay = 10)
  expect_identical(.Random.seed, before)
  expect_equal(rows(one), rows(all[all$policy == "b" & all$delay == 10 & all$run == 3, ]),
               ignore_attr = TRUE)
})

test_that("arms may be numbers, strings or a factor; pools follow", {
  set.seed(8)
  log <- data.frame(arm = sample(3, 300, TRUE), reward = rbinom(300, 1, 0.4))
  log$pool <- rep(list(1:3), 300)
  named <- log
  named$arm <- c("a", "b", "c")[log$arm]
  named$pool <- rep(list(c("a", "b", "c")), 300)
  levels <- named
  levels$arm <- factor(named$arm)
  levels$reward <- log$reward == 1
  replays <- lapply(list(log, named, levels), function(l) {
    rows(dpts_replay(l, policy_ts_beta(), runs = 2, seed = 1))
  })
  expect_equal(replays[[1]], replays[[2]])
  expect_equal(replays[[1]], replays[[3]])
})

test_that("intervals hold rare rates: on each side the wider of the normal one and of Wilson's", {
  n <- 20
  limits <- vapply(0:n, function(x) {
    log <- data.frame(arm = rep(1:2, each = n), reward = c(rep(1:0, c(x, n - x)), rep(1:0, n / 2)))
    one <- summary(dpts_replay(log, policy_fixed(1), runs = I(1), seed = 1))
    c(one$lower, one$upper)
  }, c(0, 0))
  # The probability that the interval holds the rate, of each number of rewards. Wilson's has 0.84 at 0.17 / n.
  held <- vapply(exp(seq(log(0.02 / n), log(0.5), length.out = 500)), function(rate) {
    sum(dbinom(0:n, n, rate)[limits[1, ] <= rate & rate <= limits[2, ]])
  }, 0)
  expect_gt(min(held), 0.92)
})

test_that("summary counts both errors of several runs", {
  one <- summary(dpts_replay(random, policy_fixed(1), runs = 1, seed = 1))
  wilson <- prop.test(4, 272, correct = FALSE)$conf.int
  expect_equal(one$se, sqrt(4 / 272 * (1 - 4 / 272) / 272))
  expect_equal(c(one$lower, one$upper), c(max(0, 4 / 272 - qnorm(0.975) * one$se), wilson[2]), tolerance = 1e-6)
  many <- dpts_replay(random, policy_uniform(), runs = 6, seed = 1)
  s <- summary(many)
  p <- many$rate
  expect_equal(s$se^2, mean(p * (1 - p) / many$events) + var(p) / 6)
  expect_equal(s$relative, mean(many$relative))
  # Ten events without a reward: the standard error is 0, the interval is not a point.
  none <- summary(dpts_replay(data.frame(arm = c(1, 1:10), reward = c(1, rep(0, 10))), policy_fixed(10),
                              runs = 1, seed = 1))
  expect_equal(none$se, 0)
  expect_gt(none$upper, 0.5)
})

test_that("unbiased intervals cover: the relative reward of a fixed arm, which the logger favours", {
  set.seed(12)
  means <- c(0.6, 0.2, 0.4)
  z <- replicate(60, {
    log <- simulated_log(600, means, c(0.6, 0.2, 0.2))
    s <- summary(dpts_replay(log, policy_fixed(1), runs = 1, seed = 1))
    (s$relative - 0.6 / 0.4) / s$relative_se
  })
  expect_lt(sum(z^2), qchisq(2e-4, 60, lower.tail = FALSE))
  expect_gt(sum(z^2), qchisq(2e-4, 60))
})

test_that("the error of a relative reward is that of a ratio, whose parts share the kept events, row by row", {
  n <- 500
  log <- withr::with_seed(5, {
    pools <- list(c(1, 2), 1:3)[sample(2, n, TRUE)]
    arm <- vapply(pools, function(p) sample(p, 1, prob = c(0.6, 0.3, 0.1)[p]), 0)
    data.frame(arm, reward = runif(n)^arm, pool = I(pools))
  })
  for (method in c("auto", "weighted", "rejection")) {
    size <- lengths(log$pool)
    p <- c(0.6, 0.3, 0.1)[log$arm] / ifelse(size == 2, 0.9, 1)
    log$propensity <- if (method == "auto") 1 / size else p
    replay <- dpts_replay(log, policy_uniform(), runs = 2, seed = 1, method = method, history = TRUE)
    # What each event weighs in the base
    u <- if (method == "auto") 1 / size else 1 / (p * size)
    base <- weighted.mean(log$reward, u)
    rest <- u * (log$reward - base) / sum(u)
    history <- dpts_history(replay)
    common <- vapply(1:2, function(run) {
      # No two rewards are the same.
      at <- match(history$reward[history$run == run], log$reward)
      w <- if (method == "weighted") 1 / p[at] else rep(1, length(at))
      r <- log$reward[at]
      sum(rest[at] * w * (r - weighted.mean(r, w))) / sum(w)
    }, 0)
    s <- summary(replay)
    # The interval's own width, where it is wider
    error <- max(s$se, (s$upper - s$lower) / (2 * qnorm(0.975)))
    truth <- sqrt(error^2 + s$relative^2 * sum(rest^2) - 2 * s$relative * mean(common)) / base
    expect_equal(s$relative, s$rate / base)
    expect_equal(s$relative_se, truth)
    expect_gt(mean(common), 0.05 * error^2) # it matters
  }
})

test_that("bad logs are refused, with the reason", {
  good <- data.frame(arm = rep(1:2, 50), reward = rep(0:1, 50), propensity = 0.5)
  bad <- function(..., message = NULL, policies = policy_uniform(), class = "dpts_error_log") {
    log <- good
    changes <- list(...)
    for (name in names(changes)) log[[name]] <- changes[[name]]
    expect_error(dpts_replay(log, policies, runs = 1, seed = 1), message, class = class)
  }
  expect_error(dpts_replay(1:3, policy_uniform()), "data frame", class = "dpts_error_input")
  expect_error(dpts_replay(good[0, ], policy_uniform()), "no rows", class = "dpts_error_log")
  bad(arm = NULL, message = "column `arm`")
  bad(reward = NULL, message = "column `reward`")
  bad(propensity = c(0, rep(0.5, 99)), message = "row 1 has 0")
  bad(propensity = c(rep(0.5, 99), 1.2), message = "row 100 has 1.2")
  bad(propensity = NA_real_, message = "propensity")
  bad(reward = 2, message = "reward")
  bad(arm = c(NA, rep(1:2, 50)[-1]), message = "NA in row 1")
  bad(propensity = c(0.5, 0.5, 2, 0, rep(0.5, 96)), message = "row 3 has 2 .2 rows so")
  bad(reward = c(0, 0, -1, rep(0, 97)), message = "row 3 has -1")
  bad(pool = c(rep(list(1:2), 2), list(c(1, 1)), rep(list(1:2), 97)), message = "row 3 has")
  bad(pool = c(rep(list(1:2), 3), list(1), rep(list(1:2), 96)), message = "row 4 shows arm 2")
  bad(context_1 = c(0.5, 0.5, NA, rep(0.5, 97)), policies = policy_linucb(), message = "row 3 is NA")
  bad(pool = rep(list(2), 100), message = "row 1 shows arm 1.*50 rows")
  bad(pool = rep(list(c(1, 1, 2)), 100), message = "distinct")
  bad(pool = rep("1,2", 100), message = "list column")
  for (one in list(integer(), c(1, NA), list(1, 2))) bad(pool = c(rep(list(1:2), 6), list(one), rep(list(1:2), 93)), message = "row 7 has")
  bad(arm = NULL, reward = NULL, a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, message = "`arm` and a column `reward`; it has `propensity`.*, `e`[.]")
  bad(arm = I(as.list(rep(1:2, 50))), message = "without NA, not a list")
  bad(context_1 = c(NA, rep(0.5, 99)), policies = policy_linucb(), message = "row 1 is NA")
  bad(context_1 = 0.5, context_2 = c(rep(0.5, 6), -Inf, NaN, rep(0.5, 92)), context_3 = 0.5, policies = policy_linucb(),
      message = "`context_2` of row 7 is -Inf \\(2 so")
  bad(context_1 = 1.5, policies = policy_linucb(epsilon = 1), class = "dpts_error_contexts",
      message = "contexts in \\[0, 1\\]")
  bad(policies = policy_linucb(), class = "dpts_error_contexts", message = "needs contexts")
  bad(context_1 = 0.5, policies = policy_linucb(model = "shared"), class = "dpts_error_contexts")
  bad(context_1 = "x", policies = policy_linucb(), message = "formula")
  bad(arm = matrix(1:2, 100, 2), message = "one value an event in `arm`")
  bad(reward = matrix(0, 100, 2), message = "one value an event in `reward`")
  bad(context_1 = matrix(0.5, 100, 2), policies = policy_linucb(), message = "one number per event")
  bad(context_1 = factor(1), policies = policy_linucb(), message = "a factor")
  bad(context_1 = structure(rep(0, 100), class = "integer64"), policies = policy_linucb(), message = "`context_1`, not 64-bit integers")
  bad(policies = policy_fixed(3), class = "dpts_error_contexts", message = "arm 3 of 2")
  expect_error(dpts_replay(good, policy_linucb(), context = ~ nosuch), class = "dpts_error_log")
  good$x <- c(1, 1, NA, rep(1, 97))
  expect_error(dpts_replay(good, policy_linucb(), context = ~ x), "`x` of row 3 is NA", class = "dpts_error_log")
  for (none in list(character(), NA_character_, c("x", ""), 1)) {
    expect_error(dpts_replay(good, policy_linucb(), context = none), "a formula, names of columns", class = "dpts_error_input")
  }
  expect_error(dpts_replay(policy_uniform(), good), "Were the policies and `log` given in the other order", class = "dpts_error_input")
  expect_error(dpts_replay(log_chunks(function(i) NULL), policy_uniform(), arm = "item"), "a data frame, where its columns are named",
               class = "dpts_error_input")
  expect_error(dpts_replay(good, policy_linucb(), context = "nosuch"), class = "dpts_error_log")
  expect_error(dpts_replay(good, policy_linucb(), context = c("x", "nosuch")), "none called \"nosuch\"[.]", class = "dpts_error_log")
  most <- .Call(C_max_context)
  good$wide <- matrix(0, nrow(good), most + 1)
  expect_error(dpts_replay(good, policy_linucb(), context = ~ 0 + wide), sprintf("at most %d numbers per context, not %d", most, most + 1),
               class = "dpts_error_input")
  expect_error(dpts_replay(good, policy_uniform(), delay = -1), class = "dpts_error_input")
  expect_error(dpts_replay(good, policy_uniform(), delay = 0.5), "`delay`", class = "dpts_error_input")
  expect_error(dpts_replay(good, policy_uniform(), delay = c(1, 1)), "`delay`",
               class = "dpts_error_input")
  expect_error(dpts_replay(good, policy_uniform(), context = "nosuch"), class = "dpts_error_log")
  expect_error(dpts_replay(good, policy_uniform(), 5), class = "dpts_error_dots")
  expect_error(dpts_replay(good, list()), class = "dpts_error_input")
})

test_that("what is not known before the choice is no context", {
  set.seed(15)
  log <- simulated_log(300, c(0.3, 0.6))
  log$p_age <- runif(300)
  run <- function(context) {
    rows(dpts_replay(log, policy_lin_ts(), runs = 1, seed = 1, context = context))
  }
  expect_equal(run("p"), run("p_age")) # not `propensity`
  expect_equal(run(~ .), run(~ p_age))
  expect_equal(run(reward ~ p_age), run(~ p_age))
  for (context in list("reward", c("p_age", "arm"), ~ p_age + reward, ~ log(propensity), "")) {
    expect_error(run(context), "`context` must be", class = "dpts_error_input")
  }
  log$one <- factor("a")
  expect_error(run(~ one), "contrasts", class = "dpts_error_log")
})

test_that("pools may be numbers as text", {
  log <- data.frame(arm = rep(c(9, 10, 100), 40), reward = rep(c(0, 1, 1), 40))
  log$pool <- rep(list(c(9, 10, 100)), 120)
  text <- log
  text$pool <- strsplit(rep("9,10,100", 120), ",")
  run <- function(log) rows(dpts_replay(log, policy_ucb1(), runs = 1, seed = 1))
  expect_equal(run(text), run(log))
  text$pool <- rep(list(factor(c("9", "10", "100"))), 120)
  expect_equal(run(text), run(log))
  text$pool <- rep(list(c("nine", "10", "100")), 120)
  expect_identical(capture_warnings(expect_error(run(text), "alike", class = "dpts_error_log")), character())
})

test_that("small uniform logs with rare arms are not refused", {
  set.seed(16)
  refused <- replicate(8, {
    log <- data.frame(reward = rep(0, 20))
    log$pool <- replicate(20, sample(300, 30), simplify = FALSE)
    log$arm <- vapply(log$pool, `[`, 0L, 1)
    inherits(tryCatch(suppressWarnings(dpts_replay(log, policy_uniform(), runs = 1, seed = 1)),
                      error = identity), "error")
  })
  expect_false(any(refused))
  log <- data.frame(arm = factor(rep(1, 12), levels = 1:30), reward = 0)
  expect_error(dpts_replay(log, policy_uniform()), "propensity", class = "dpts_error_log")
})

test_that("without propensities a log must look uniform", {
  set.seed(10)
  log <- simulated_log(2000, c(0.3, 0.6), c(0.7, 0.3))
  log$propensity <- NULL
  expect_error(dpts_replay(log, policy_uniform(), runs = 1), "propensity", class = "dpts_error_log")
  fair <- simulated_log(2000, c(0.3, 0.6))
  fair$propensity <- NULL
  expect_s3_class(dpts_replay(fair, policy_uniform(), runs = 1, seed = 1), "dpts_replay")
  # up to the last count of which both tails of both arms have 1e-9
  for (n in c(100, 347)) {
    last <- max(which(4 * stats::pbinom(0:n - 1, n, 0.5, lower.tail = FALSE) >= 1e-9)) - 1
    with <- function(count) data.frame(arm = rep(1:2, c(count, n - count)), reward = rep_len(0:1, n))
    for (count in c(last, n - last)) {
      expect_s3_class(dpts_replay(with(count), policy_uniform(), runs = 1, seed = 1), "dpts_replay")
    }
    for (count in c(last + 1, n - last - 1)) {
      expect_error(dpts_replay(with(count), policy_uniform(), runs = 1), "propensity", class = "dpts_error_log")
    }
  }
})

test_that("a log is uniform if its propensities are, and not if they are nearly so", {
  log <- data.frame(arm = rep(1:2, 100), reward = rep(0:1, each = 100), propensity = rep(c(0.504, 0.496), 100))
  expect_identical(shared(dpts_replay(log, policy_uniform(), runs = 1, seed = 1), "method"), "weighted")
  log$propensity <- 0.5
  expect_identical(shared(dpts_replay(log, policy_uniform(), runs = 1, seed = 1), "method"), "replay")
})

test_that("arms are in one order in every locale", {
  log <- data.frame(arm = rep(c("a", "B"), 50), reward = 0:1)
  arms <- function() shared(dpts_replay(log, policy_uniform(), runs = 1, seed = 1), "arms")
  expect_identical(arms(), c("B", "a"))
  old <- Sys.getlocale("LC_COLLATE")
  withr::defer(Sys.setlocale("LC_COLLATE", old))
  suppressWarnings(Sys.setlocale("LC_COLLATE", "en_US.UTF-8"))
  skip_if_not(identical(sort(c("B", "a")), c("a", "B")), "no locale with an order of its own")
  expect_identical(arms(), c("B", "a"))
})

test_that("a delay beyond the log takes no room", {
  skip_if_not(file.exists("/proc/self/status"), "the peak of memory is not known here")
  peak <- function() as.numeric(gsub("[^0-9]", "", grep("^VmPeak", readLines("/proc/self/status"), value = TRUE)))
  before <- peak()
  expect_warning(dpts_replay(random[1:500, ], policy_ucb1(), delay = 2^31, runs = 1, seed = 1),
                 class = "dpts_warning_delay")
  expect_lt(peak() - before, 1e6) # kB; room for all of it would be 8e6
})

test_that("without a horizon noise is for the rounds that are kept at most", {
  horizon <- function(...) shared(suppressWarnings(dpts_replay(..., policies = policy_uniform(), runs = 1, seed = 1)), "horizon")
  withr::local_seed(4)
  n <- 3000
  log <- data.frame(arm = sample(4, n, TRUE), reward = 0)
  expect_equal(horizon(log), n) # who knows what it was chosen by
  log$propensity <- 1 / 4
  tail <- log(1e9)
  bound <- function(mean) ceiling(mean + tail / 3 + sqrt(tail^2 / 9 + 2 * mean * tail))
  expect_equal(horizon(log), bound(750))
  # The exact chance that more events are kept
  expect_lt(stats::pbinom(bound(750), n, 1 / 4, lower.tail = FALSE), 1e-9)
  expect_equal(horizon(log, horizon = 2900), 2900)
  expect_equal(horizon(log[1:30, ]), 30)
  # Policies that first pull each arm, here ten times, have room for it.
  pulls <- dpts_replay(log[1:41, ], list(a = policy_ts_gaussian(5, 1), b = policy_ts_gaussian(10, 1), c = policy_ucb1()), runs = 1, seed = 1)
  expect_equal(shared(pulls, "horizon"), 40)
  # Pools of two and of four arms
  log$pool <- lapply(seq_len(n), function(i) if (i <= 1000) sort(c(log$arm[i], log$arm[i] %% 4L + 1L)) else 1:4)
  log$propensity <- ifelse(seq_len(n) <= 1000, 1 / 2, 1 / 4)
  expect_equal(horizon(log), bound(500 + 500))
  # Not uniform: with weights the number depends on the policy.
  chance <- c(0.1, 0.2, 0.3, 0.4)
  odd <- data.frame(arm = sample(4, n, TRUE, chance), reward = 0)
  odd$propensity <- chance[odd$arm]
  expect_equal(horizon(odd), n)
  expect_equal(horizon(odd, method = "rejection"), bound(300))
})

test_that("clipping is on request, and counted", {
  log <- data.frame(arm = rep(1:2, 50), reward = 0, context_a = c(1.5, -2, rep(0.5, 98)))
  private <- policy_linucb(epsilon = 1, mechanism = "tree")
  expect_error(dpts_replay(log, private, runs = 1), class = "dpts_error_contexts")
  replay <- dpts_replay(log, private, runs = 1, seed = 1, clip = TRUE)
  expect_equal(shared(replay, "clipped"), 2)
  expect_match(paste(capture.output(print(replay)), collapse = "\n"), "2 entries of contexts")
  # What is played is the clipped log, and the clipped features.
  set.seed(17)
  log <- simulated_log(400, c(0.2, 0.5, 0.8))
  log$x <- runif(400, -1, 2)
  features <- matrix(runif(6, -1, 2), 3)
  into <- function(x) pmin(pmax(x, 0), 1)
  play <- function(model, log, features, ...) {
    rows(dpts_replay(log, policy_linucb(alpha = 0.5, model = model), runs = 1, seed = 1, context = "x",
                     arm_features = if (model == "shared") features, ...))
  }
  for (model in c("disjoint", "shared")) {
    clipped <- play(model, transform(log, x = into(x)), into(features))
    expect_equal(play(model, log, features, clip = TRUE), clipped)
    expect_false(identical(play(model, log, features), clipped))
  }
  # Entries of contexts and of features are counted.
  counted <- shared(dpts_replay(log, policy_linucb(model = "shared"), runs = 1, seed = 1, context = "x",
                                arm_features = features, clip = TRUE), "clipped")
  expect_equal(counted, sum(log$x < 0 | log$x > 1) + sum(features < 0 | features > 1))
  # Features count, too, where contexts are in range.
  private <- policy_linucb(epsilon = 1, model = "shared")
  expect_error(dpts_replay(transform(log, x = into(x)), private, context = "x", arm_features = features),
               class = "dpts_error_contexts")
})

test_that("rejection tosses the same coin for an event whatever is chosen, and another in each run", {
  log <- withr::with_seed(18, simulated_log(300, c(0.5, 0.5), c(0.7, 0.3)))
  log$reward <- seq_len(300) / 300 # says which event it is
  kept <- dpts_history(dpts_replay(log, list(uniform = policy_uniform(), fixed = policy_fixed(1)), runs = 2,
                                   seed = 1, method = "rejection", history = TRUE))
  events <- function(policy, run) {
    round(300 * kept$reward[kept$policy == policy & kept$run == run & kept$arm == 1])
  }
  for (run in 1:2) expect_true(all(events("uniform", run) %in% events("fixed", run)))
  expect_false(identical(events("fixed", 1), events("fixed", 2)))
})

test_that("arms that are on offer and never shown get a warning", {
  log <- data.frame(arm = rep(1:2, 50), reward = 0.5, propensity = 1 / 3)
  log$pool <- rep(list(1:3), 100)
  expect_warning(dpts_replay(log, policy_uniform(), runs = 1, seed = 1), "never shown",
                 class = "dpts_warning_overlap")
  # An arm that is in no pool is not available.
  expect_warning(dpts_replay(transform(log, arm = factor(arm, 1:4), pool = I(unclass(pool))), policy_uniform(), runs = 1, seed = 1),
                 "1 of 3 available arms were never shown \\(3\\)", class = "dpts_warning_overlap")
  log$pool <- rep(list(7:1), 100)
  expect_match(capture_warnings(dpts_replay(log, policy_uniform(), runs = 1, seed = 1)), "5 of 7 available arms were never shown \\(3, 4, 5, 6, 7\\)",
               all = FALSE)
  log$pool <- rep(list(1:9), 100)
  expect_match(capture_warnings(dpts_replay(log, policy_uniform(), runs = 1, seed = 1)), "7 of 9 .*\\(3, 4, 5, 6, 7\\): the log knows nothing", all = FALSE)
  log$pool <- rep(list(1:3), 100)
  pools <- rep(list(c("1", "2")), 100)
  expect_no_warning(dpts_replay(data.frame(arm = factor(rep(1:2, 50), 1:3), reward = 0.5, pool = I(pools)), policy_uniform(), runs = 1, seed = 1))
  # That weights are too small on the average is then said once, and so it is where the log had no choice.
  log$propensity <- 1 / 2
  expect_match(capture_warnings(dpts_replay(log, policy_uniform(), runs = 1, seed = 1)), "never shown")
  log <- data.frame(arm = rep(c(1, 1, 1, 2), 30), reward = 0.5, propensity = rep(c(1, 1, 1 / 2, 1 / 2), 30))
  expect_match(capture_warnings(dpts_replay(log, policy_uniform(), runs = 1, seed = 1)), "with probability 1")
})

test_that("where propensities are those of a uniform choice from equal pools, rejection keeps every match; one arm is no choice", {
  log <- data.frame(arm = rep(1:4, 30), reward = c(0, 1, 1))
  log$pool <- lapply(log$arm, function(arm) if (arm < 3) 1:2 else 3:4)
  play <- function(log, ...) dpts_replay(log, policy_ucb1(), runs = 2, seed = 1, horizon = nrow(log), ...)
  plain <- play(log)
  expect_gt(min(plain$events), 30)
  expect_equal(rows(play(log, method = "rejection")), rows(plain))
  one <- data.frame(arm = "a", reward = rep(0:1, 20), propensity = 1)
  for (method in c("weighted", "rejection")) expect_no_warning(found <- play(one, method = method))
  expect_equal(found$events, c(40, 40))
})

test_that("a policy that matches nothing has no rate, and rewards of 0 no ratio", {
  log <- data.frame(arm = rep(1, 30), reward = 1, propensity = 1 / 2)
  log$pool <- rep(list(1:2), 30)
  none <- suppressWarnings(dpts_replay(log, policy_fixed(2), runs = 2, seed = 1))
  expect_equal(none$events, c(0, 0))
  expect_equal(c(none$rate, none$relative), rep(NA_real_, 4))
  s <- summary(none)
  expect_equal(unlist(s[c("rate", "sd", "se", "lower", "upper", "relative")], use.names = FALSE),
               rep(NA_real_, 6))
  zero <- dpts_replay(data.frame(arm = rep(1:2, 20), reward = 0), policy_uniform(), runs = 1, seed = 1)
  expect_equal(c(zero$rate, zero$relative), c(0, NA))
})

test_that("a policy that never learnt is named", {
  expect_warning(replay <- dpts_replay(random, policy_ts_beta(), delay = c(0, 5000), runs = 2, seed = 1), class = "dpts_warning_delay")
  out <- paste(capture.output(print(replay)), collapse = " ")
  expect_match(gsub("[# ]+", " ", out), "Beware: No reward arrived in any run at a delay of 5,000")
  expect_match(gsub("\\s+", " ", autoplot(replay)$labels$caption), "No reward arrived in any run at a delay of 5,000")
  expect_false(any(grepl("Beware", capture.output(print(replay[replay$delay == 0, ])))))
  # The last of as many rewards as the delay comes after the end; one event more, and one is learned.
  rows <- data.frame(delay = c(10, 10, 10), events = c(10, 11, 12))
  expect_match(words_unlearnt(rows), "No reward arrived in some runs at a delay of 10")
  expect_match(words_unlearnt(rows[1, ]), "in any run")
  expect_null(words_unlearnt(rows[2:3, ]))
})

test_that("the header of a replay says how it weighed the log", {
  log <- simulated_log(500, c(0.2, 0.5), c(0.3, 0.7))
  header <- function(...) gsub("[# ]+", " ", paste(capture.output(print(dpts_replay(..., runs = 1, seed = 1))), collapse = " "))
  w <- 0.5 / log$propensity
  said <- header(log, policy_ts_beta())
  expect_match(said, "Logger: not uniform, matches weighted by 1 / propensity; mean weight", fixed = TRUE)
  rate <- weighted.mean(log$reward, w)
  expect_match(said, sprintf("rate %s (se %s)", number_text(signif(rate, 4)),
                             number_text(signif(sqrt(sum((w * (log$reward - rate))^2)) / sum(w), 2))), fixed = TRUE)
  expect_match(header(log, policy_ts_beta(), method = "rejection"), "matches kept in proportion to 1 / propensity", fixed = TRUE)
  log <- simulated_log(500, c(0.2, 0.5))
  expect_match(header(log, policy_ts_beta()), "Logger: uniform Uniform", fixed = TRUE)
  expect_match(header(log[1:2], policy_ts_beta()), "uniform (assumed: no propensities) Uniform", fixed = TRUE)
})

test_that("the plot shows each policy's relative reward at each delay", {
  replay <- dpts_replay(random, list(a = policy_uniform(), b = policy_fixed(1)), delay = c(0, 100),
                        runs = 2, seed = 1)
  drawn <- ggplot2::layer_data(autoplot(replay), 2)
  s <- summary(replay)
  expect_equal(drawn$y, s$relative)
  expect_equal(drawn$ymax - drawn$y, qnorm(0.975) * s$relative_se)
  wide <- autoplot(replay, level = 0.99)
  expect_equal(ggplot2::layer_data(wide, 2)$ymax - drawn$y, qnorm(0.995) * summary(replay, level = 0.99)$relative_se)
  expect_match(gsub("\n", " ", wide$labels$caption), "Mean of 2 runs; bar: 99% confidence interval")
  # A rate of 1 is the most there can be.
  good <- data.frame(arm = rep(1:2, 10), reward = rep(c(1, 0), 10))
  best <- dpts_replay(good, policy_fixed(1), runs = 1, seed = 1)
  expect_equal(ggplot2::layer_data(autoplot(best), 2)$ymax, 1 / 0.5)
})

test_that("a replay states its own guarantee", {
  log <- withr::with_seed(1, simulated_log(500, c(0.5, 0.2)))
  policies <- list(ts = policy_ts_gaussian(20, 3), imed = policy_gaussian_imed(1),
                   open = policy_ucb1())
  replay <- dpts_replay(log, policies, runs = 1, seed = 1, progress = FALSE)
  stated <- dpts_privacy(replay, delta = 1e-5)
  # Every event read is a draw of Thompson sampling, but for the 40 of its pre-pulls at least.
  mu <- sqrt((500 - 40) / (3 * 21))
  gdp <- stated$epsilon[stated$policy == "ts" & stated$accountant == "gdp"]
  expect_equal(gdp, gdp_epsilon(mu, 1e-5))
  expect_false(any(stated$accountant == "sequence"))
  expect_error(dpts_privacy(replay, delta = 1e-5, accountant = "sequence"),
               class = "dpts_error_accountant")
  expect_equal(stated$epsilon[stated$policy == "imed" & stated$accountant == "gdp"],
               gdp_epsilon(1, 1e-5))
  expect_equal(stated$epsilon[stated$policy == "open"], Inf)
  header <- utils::capture.output(print(replay))
  expect_length(grep("Guarantee of", header), 2)
})

test_that("replays go through a plan and a checkpoint, bit for bit", {
  log <- open_bandit[open_bandit$logger == "random", ][1:2000, ]
  play <- function(...) {
    dpts_replay(log, list(ucb = policy_ucb1(), ts = policy_ts_gaussian()), delay = c(0, 20),
                runs = 5, seed = 1, ...)
  }
  plain <- play()
  file <- withr::local_tempfile(fileext = ".rds")
  expect_identical(play(checkpoint = file), plain)
  expect_identical(play(checkpoint = file), plain)
  # It grows, and refuses another log.
  expect_identical(dpts_replay(log, policy_ucb1(), runs = 9, seed = 1, checkpoint = file),
                   dpts_replay(log, policy_ucb1(), runs = 9, seed = 1))
  expect_error(dpts_replay(log[-1, ], policy_ucb1(), seed = 1, checkpoint = file),
               "another horizon, log", class = "dpts_error_checkpoint")

  # Whatever else of the call is another: the results are its own, or the file is refused. They do differ.
  small <- withr::with_seed(3, {
    small <- simulated_log(300, c(0.2, 0.6), c(0.7, 0.3))
    transform(small, half = 0.2 + propensity / 2, x1 = stats::runif(300, -1, 1), x2 = stats::runif(300))
  })
  features <- matrix(c(0.9, -0.6), 2)
  replay <- function(change = list(), ...) {
    given <- list(log = small, policies = policy_linucb(alpha = 0.5, model = "shared"), runs = 2, seed = 1, context = c("x1", "x2"),
                  arm_features = features, horizon = 100, ...)
    suppressWarnings(do.call(dpts_replay, utils::modifyList(given, change)), "dpts_warning_propensities")
  }
  file <- withr::local_tempfile(fileext = ".rds")
  first <- replay(checkpoint = file)
  changes <- list(list(arm_features = features * 0.5), list(arm_features = features[2:1, , drop = FALSE]), list(clip = TRUE),
                  list(context = c("x2", "x1"), arm_features = features + 1), list(context = "x1"), list(method = "rejection"),
                  list(propensity = "half"), list(horizon = 150), list(delay = 7))
  for (change in changes) {
    own <- replay(change)
    expect_false(identical(own$rate, first$rate), info = names(change))
    found <- tryCatch(replay(change, checkpoint = file), dpts_error_checkpoint = function(e) own)
    expect_identical(found, own, info = names(change))
  }

  skip_if_not_installed("future.apply")
  old <- future::plan("multicore", workers = 2)
  withr::defer(future::plan(old))
  skip_if(inherits(future::plan(), "sequential"), "no plan to test with")
  withr::local_options(dpts.seconds_before_workers = 0)
  expect_identical(play(), plain)
})

test_that("a replay keeps pulls and what was released, and if it is finished, of all rewards; also in chunks", {
  log <- open_bandit[open_bandit$logger == "random", ]
  parts <- log_chunks(function(i) if (i <= 10) log[(seq_len(nrow(log)) - 1) %/% 1000 == i - 1, ])
  play <- function(log, horizon = 300, ...) {
    dpts_replay(log, policy_dp_imed(1), runs = 2, seed = 1, horizon = horizon, ...)
  }
  kept <- function(x, name) runs_in(x)[[name]]
  known <- function(x) vapply(kept(x, "report"), function(r) sum(matrix(r, length(REPORT))[1, ]), 0)
  open <- play(log)
  done <- play(log, finish = TRUE)
  expect_identical(done$rate, open$rate)
  expect_equal(vapply(kept(open, "pulls"), sum, 0), open$events)
  expect_true(all(known(open) > 0 & known(open) < open$events))
  expect_equal(known(done), done$events)
  # Some 290 events are kept: a horizon of 100 is over in the fourth part.
  for (horizon in c(300, 100)) for (finish in c(FALSE, TRUE)) {
    one <- play(log, horizon, finish = finish)
    two <- play(parts, horizon, finish = finish)
    expect_equal(kept(two, "pulls"), kept(one, "pulls"))
    expect_equal(kept(two, "report"), kept(one, "report"))
  }
})

test_that("pulls and estimates of a replay are those of its kept events", {
  log <- withr::with_seed(3, simulated_log(600, c(0.5, 0.3, 0.6)))
  policies <- list(first = policy_fixed(1), open = policy_ucb1(), private = policy_dp_imed(1))
  replay <- dpts_replay(log, policies, runs = 2, seed = 7, delay = c(0, 10))
  key <- function(x) paste(x$policy, x$delay, x$run)
  n <- pulls(replay)
  expect_identical(names(n), c("policy", "delay", "run", "arm", "pulls"))
  expect_equal(as.vector(tapply(n$pulls, key(n), sum)[key(replay)]), replay$events)
  expect_true(all(n$pulls[n$policy == "first" & n$arm != levels(n$arm)[1]] == 0))
  found <- estimates(replay)
  expect_identical(as.list(found)[1:4], as.list(n)[1:4])
  # Without delay plain sums are those of all kept rewards.
  open <- found[found$policy == "open" & found$delay == 0, ]
  expect_equal(open$rewards, n$pulls[n$policy == "open" & n$delay == 0])
  expect_equal(as.vector(tapply(open$rewards * open$mean, open$run, sum)),
               replay$reward[replay$policy == "open" & replay$delay == 0])
  expect_true(all(found$rewards <= n$pulls, na.rm = TRUE))
  for (table in list(n, found)) expect_silent(ggplot2::ggplot_build(autoplot(table[table$policy == "open", ])))
  log$propensity <- seq(0.2, 0.8, length.out = nrow(log))
  expect_error(estimates(suppressWarnings(dpts_replay(log, policies, runs = 1, seed = 1))), "weighted",
               class = "dpts_error_input")
})

test_that("the columns of a log may have other names", {
  log <- withr::with_seed(1, data.frame(item = sample(3, 200, TRUE), clicked = stats::rbinom(200, 1, 0.5)))
  named <- dpts_replay(log, policy_ucb1(), runs = 1, seed = 1, arm = "item", reward = "clicked")
  plain <- dpts_replay(stats::setNames(log, c("arm", "reward")), policy_ucb1(), runs = 1, seed = 1)
  expect_equal(named, plain, ignore_attr = TRUE)
  # Names that are those of other columns
  log$propensity <- c(0.5, 0.3, 0.2)[log$item]
  columns <- c(arm = "reward", reward = "propensity", propensity = "arm")
  mixed <- stats::setNames(log, columns)
  for (estimate in list(function(...) dpts_replay(..., policies = policy_ucb1(), runs = 1, seed = 1)$rate,
                        function(...) dpts_ope(..., target = "uniform")$estimate)) {
    plain <- suppressWarnings(estimate(stats::setNames(log, names(columns))))
    for (order in list(1:3, 3:1)) {
      expect_identical(suppressWarnings(do.call(estimate, c(list(mixed), as.list(columns)[order]))), plain)
    }
  }
  expect_error(dpts_replay(log, policy_ucb1(), arm = "thing"), "`arm` must be the name of a column of `log`",
               class = "dpts_error_input")
})

test_that("several policies and delays are those one by one", {
  log <- open_bandit[1:600, ]
  log$x <- rep_len(c(0.2, 0.6, 0.9), 600)
  policies <- list(u = policy_uniform(), lazy = policy_lazy_ucb(1), tossed = policy_randomised(1, floor = 0.01),
                   short = policy_linucb(mu = 1, norm = 0.5), long = policy_linucb(mu = 1, norm = 0.8))
  play <- function(policies, delay) {
    withCallingHandlers(dpts_replay(log, policies, runs = 3, seed = 2, delay = delay, context = "x"),
                        dpts_warning = function(w) invokeRestart("muffleWarning"), message = function(m) invokeRestart("muffleMessage"))
  }
  own <- function(x) runs_in(x)[setdiff(names(runs_in(x)), "policy")] # what a result keeps of each run, for its header
  all <- play(policies, c(0, 40))
  expect_equal(plain_columns(summary(all[rev(seq_len(nrow(all))), ])), plain_columns(summary(all)))
  warned <- function(x) tbl_sum(x)[names(tbl_sum(x)) %in% c("Beware", "Shortened")]
  told <- character()
  for (p in names(policies)) for (d in c(0, 40)) {
    one <- play(policies[p], d)
    for (verb in list(identity, summary)) {
      rows <- verb(all)
      expect_equal(plain_columns(rows[rows$policy == p & rows$delay == d, ]), plain_columns(verb(one)))
    }
    runs <- runs_in(all)
    expect_equal(own(all)[runs$policy == p & runs$delay == d, ], own(one), ignore_attr = TRUE)
    expect_identical(warned(all[all$policy == p & all$delay == d, ]), warned(one))
    told <- c(told, warned(one))
  }
  expect_setequal(substr(told, 1, 9), c("contexts ", "\"short\" r", "\"long\" re", "No reward"))
})
