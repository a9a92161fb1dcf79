# Intervals of means over runs hold the mean as often as the help says, also where Student's do not.

skip_on_cran() # takes seconds

test_that("numbers in groups are counted as base R counts them", {
  set.seed(1)
  group <- sample(rep(1:6, c(1, 2, 3, 4, 9, 30)))
  value <- round(rnorm(length(group)), 1)
  stats <- group_stats(value, group)
  of <- function(f) vapply(split(value, group), f, 0, USE.NAMES = FALSE)
  expect_equal(stats[c("n", "mean", "median", "sd", "least", "most")], list(
    n = tabulate(group), mean = of(mean), median = of(median), sd = of(sd), least = of(min), most = of(max)
  ))
  expect_identical(group_stats(c(1, 5.1, 1, 5, 9, 1, 2), c(1, 1, 1, 1, 1, 2, 2))$failed, c(0, 0))
  expect_identical(group_stats(c(1, 5.1, 1, 5, 9, 1, 2, 1), c(1, 1, 1, 1, 1, 1, 1, 1))$failed, 1)
  # alike: more than half, all but two
  alike <- function(...) group_stats(c(...), rep(1, length(c(...))))$alike
  expect_true(all(alike(1), alike(3, 3), alike(3, 1, 3), alike(0.3, 0.1 + 0.2), alike(5, 5, 1, 5, 9),
                  alike(1, 5, 5, 5, 9), alike(1, 2, 5, 5, 5), alike(5, 5, 5, 7, 8), alike(0, 0, 0)))
  expect_false(any(alike(1, 2), alike(1, 2, 3), alike(1, 1, 2, 3), alike(1, 1, 2, 2), alike(5, 5, 5, 1, 2, 3),
                   alike(1, 2, 3, rep(5, 20))))
  # The mean of equal numbers is that number, and their deviation 0.
  same <- group_stats(rep(48.85, 10), rep(1, 10))
  expect_identical(c(same$mean, same$sd), c(48.85, 0))
})

test_that("an interval is that of the help page", {
  set.seed(2)
  samples <- list(rexp(10), rexp(3), rnorm(50, 10), c(1, 2), c(5, 5, 5, 5), c(5, 5, 5, 7), c(1, 1, 1, 2, 3, 4),
                  c(rep(3, 9), 40), c(0, 0, 0), exp(3 * rnorm(20)))
  for (x in samples) for (level in c(0.8, 0.95, 0.999)) {
    own <- mean_interval(group_stats(x, rep(1, length(x))), level, 0, 400)
    expect_equal(c(own$lower, own$upper), interval_by_help(x, level, 0, 400))
    # of differences
    own <- mean_interval(group_stats(x - 4, rep(1, length(x))), level, -400, 400)
    expect_equal(c(own$lower, own$upper), interval_by_help(x - 4, level, -400, 400))
  }
  # Ten equal runs: a share of 1 - 0.025^(1/10) may be anything from 0 to 100.
  ten <- mean_interval(group_stats(rep(50, 10), rep(1, 10)), 0.95, 0, 100)
  expect_equal(c(ten$lower, ten$upper), 50 + c(-50, 50) * (1 - 0.025^0.1))
  # What cannot be known is not said; what cannot be otherwise is.
  none <- function(x, ...) unlist(mean_interval(group_stats(x, rep(1, length(x))), 0.95, ...), use.names = FALSE)
  expect_identical(none(5, 0, 10), c(NA_real_, NA_real_))
  expect_identical(none(c(5, 5, 5), 0, Inf), c(NA_real_, NA_real_))
  expect_identical(none(c(0, 0, 0), 0, 0), c(0, 0))
  # Runs beyond what was said to be possible widen it.
  expect_equal(none(c(5, 5, 5), 0, 4)[2], 5)
})

test_that("95% intervals from few runs hold the mean, also of runs that are mostly alike or skewed", {
  population <- function(means, policy, horizon = 2000, runs = 1000) {
    dpts_simulate(arms_bernoulli(means), policy, horizon, runs = runs, seed = 11, record = I(horizon))$regret
  }
  set.seed(3)
  # Student's on the logarithm hold the mean in 21, 31, 52 and 54% of samples of five of the first four,
  # and in 85 to 93% of the others.
  cases <- list(
    list(population(c(0.9, 0.85), policy_lazy_ucb(1)), 100), list(population(c(0.6, 0.5), policy_dp_se(1, 0.05)), 200),
    list(population(c(0.05, 0.03), policy_lazy_ucb(1)), 40), list(population(c(0.05, 0.03), policy_adap_klucb(1)), 40),
    list(population(c(0.6, 0.5), policy_dp_imed(1)), 200, TRUE),
    list(population(c(0.6, 0.5), policy_randomised(rule = "thompson")), 200),
    list(population(c(0.6, 0.5), policy_imed()), 200)
  )
  for (one in cases) for (n in c(5, 20, 100)) {
    # Help says 92%; three standard errors of 1000 samples
    rarely <- length(one) > 2
    here <- covered(one[[1]], n, 0, one[[2]], rarely)
    if (rarely && n < 50) expect_identical(here, NA) else expect_gt(here, 0.92 - 3 * sqrt(0.92 * 0.08 / 1000))
  }
  # differences run by run
  both <- population(c(0.9, 0.85), policy_dp_se(1, 0.05)) - cases[[1]][[1]]
  for (n in c(5, 20, 50)) expect_gt(covered(both, n, -100, 100), 0.92)
  # and no more than twice as wide as Student's where runs are nearly normal
  plain <- population(c(0.6, 0.5), policy_ucb1())
  for (n in c(5, 10, 50)) {
    x <- plain[1:n]
    expect_lt(diff(interval_by_help(x, high = 200)), 2 * diff(as.numeric(t.test(x)$conf.int)))
    expect_gt(covered(plain, n, 0, 200), 0.94)
  }
})

test_that("no interval of regret has no width, lies above what is possible, or differs between verbs", {
  arms <- arms_bernoulli(c(0.9, 0.85))
  policies <- list(lazy = policy_lazy_ucb(1), se = policy_dp_se(1, 0.05), imed = policy_dp_imed(1))
  sim <- suppressMessages(dpts_simulate(arms, policies, 2000, seed = 2, record = I(c(1000, 2000))))
  stats <- suppressMessages(summary(sim))
  # Failures of DP-IMED that ten runs do not show may be anything.
  expect_identical(is.na(stats$lower), stats$policy == "imed")
  expect_true(all((stats$upper > stats$lower & stats$upper <= 0.05 * stats$t + 1e-9 & stats$lower >= 0)[!is.na(stats$lower)]))
  expect_true(any(stats$sd == 0))
  for (i in seq_len(nrow(stats))) {
    x <- sim$regret[sim$policy == stats$policy[i] & sim$t == stats$t[i]]
    expect_equal(c(stats$lower[i], stats$upper[i]), interval_by_help(x, high = 0.05 * stats$t[i], rarely = stats$policy[i] == "imed"))
    expect_equal(stats$worst[i], max(x))
  }
  tidied <- suppressMessages(tidy(sim))
  expect_equal(tidied$conf.high, stats$upper[stats$t == 2000])
  apart <- suppressMessages(dpts_compare(sim))
  expect_identical(apart$upper > apart$lower, ifelse(apart$policy == "imed", NA, TRUE))
  expect_true(all(is.na(suppressMessages(dpts_compare(sim, "imed"))$upper)))
  # Where means change from run to run, who never learns has another regret in each.
  walk <- dpts_simulate(arms_walk(c(0.5, 0.5), 0.05), policy_fixed(1), 200, runs = 6, seed = 1, record = I(200))
  expect_equal(unlist(summary(walk)[c("lower", "upper")], use.names = FALSE), interval_by_help(walk$regret, high = 200))
  gap <- sim$regret[sim$policy == "se" & sim$t == 2000] - sim$regret[sim$policy == "lazy" & sim$t == 2000]
  expect_equal(unlist(apart[apart$policy == "se" & apart$t == 2000, c("lower", "upper")], use.names = FALSE),
               interval_by_help(gap, low = -100, high = 100))
  advice <- dpts_recommend(privacy_pure(1), arms, 2000, candidates = policies, runs = 10, seed = 2, race = FALSE)
  at <- match(as.character(advice$policy), tidied$term)
  expect_equal(advice$lower, tidied$conf.low[at])
  expect_equal(tidy(advice)$conf.high, tidied$conf.high[at])
  expect_equal(tidy(advice, conf.level = 0.8)$conf.high, suppressMessages(tidy(sim, conf.level = 0.8))$conf.high[at])
  band <- ggplot2::layer_data(suppressMessages(autoplot(sim)), 1)
  expect_equal(sort(band$ymax), sort(stats$upper))
  # The report of two runs of 14.4 [0.0007, 282048]: 200 is the most that can be lost.
  two <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_dp_imed(1), 1000, runs = 2, seed = 1)
  expect_identical(suppressMessages(tidy(two))$conf.high, NA_real_)
  # What is possible is so in each problem by itself.
  both <- list(e = arms_bernoulli(c(0.9, 0.1)), f = arms_bernoulli(c(0.6, 0.4)))
  play <- function(arms) summary(dpts_simulate(arms, policy_uniform(), 4, runs = 3, seed = 1))
  all <- play(both)
  for (name in names(both)) {
    one <- play(both[[name]])
    expect_equal(all[all$problem == name, names(one)], one, ignore_attr = TRUE)
    expect_true(any(one$upper == one$t * both[[name]]$gap[2]))
  }
})

test_that("a policy that neither draws nor learns has a regret that is known", {
  arms <- arms_bernoulli(c(0.6, 0.4))
  sim <- dpts_simulate(arms, list(worse = policy_fixed(2), best = policy_fixed(1), ucb = policy_ucb1()), 100, runs = 4, seed = 1,
                       record = I(100))
  stats <- summary(sim)
  expect_equal(c(stats$lower[1:2], stats$upper[1:2]), c(20, 0, 20, 0))
  expect_lt(stats$lower[3], stats$upper[3])
  apart <- dpts_compare(sim, "best")
  expect_equal(c(apart$lower[1], apart$upper[1]), c(20, 20))
  # The difference to a regret that is known has the interval of the other regret.
  expect_equal(c(apart$lower[2], apart$upper[2]), interval_by_help(sim$regret[sim$policy == "ucb"] - 0, low = 0, high = 20))
  # not so where the world draws the means
  walk <- summary(dpts_simulate(arms_walk(c(0.5, 0.5), 0.05), policy_fixed(1), 100, runs = 4, seed = 1, record = I(100)))
  expect_lt(walk$lower, walk$upper)
})

test_that("the largest gap of a round is known for arms that change too", {
  a <- arms_bernoulli(c(0.6, 0.4))
  b <- arms_bernoulli(c(0.1, 0.9))
  expect_equal(largest_gap(a), 0.2)
  expect_equal(largest_gap(arms_switch(list(a, b), at = 10)), 0.8)
  expect_equal(largest_gap(arms_drift(a, b, period = 10)), 0.8)
  expect_equal(largest_gap(arms_walk(c(0.5, 0.5), 0.1)), 1)
  expect_equal(largest_gap(arms_gaussian(c(3, 5), 1)), 2)
  expect_equal(largest_gap(arms_adversary(function(past, t) c(0, 4), range = c(0, 5))), 5)
  expect_equal(largest_gap(arms_linear(rbind(c(1, 0), c(0, 1)))), 1)
  # as the worst policy loses it, round by round
  for (arms in list(a, arms_switch(list(a, b), at = 10), arms_drift(a, b, period = 30))) {
    means <- arm_means(arms, 40)
    expect_lte(max(apply(means, 1, max) - apply(means, 1, min)), largest_gap(arms) + 1e-12)
  }
})

test_that("rare runs that make much of a mean are said", {
  arms <- arms_bernoulli(c(0.6, 0.4))
  sim <- dpts_simulate(arms, list(a = policy_ucb1(), b = policy_imed()), 500, runs = 20, seed = 1, record = 2)
  last <- function(x) final_rows(regret_by_round(x))
  expect_null(words_failures(sim, last(sim)))
  expect_no_message(summary(sim))
  wild <- sim
  hit <- which(wild$policy == "b" & wild$t == 500)[3]
  wild$regret[hit] <- 90
  share <- 90 / sum(wild$regret[wild$policy == "b" & wild$t == 500])
  expect_gt(share, 0.25)
  said <- words_failures(wild, last(wild))
  expect_match(said, sprintf("One run makes %d%% of the mean regret of b:", round(100 * share)))
  withr::local_options(rlib_message_verbosity = "verbose")
  expect_message(summary(wild), "One run makes", class = "dpts_message_failures")
  expect_message(tidy(wild), class = "dpts_message_failures")
  expect_message(dpts_compare(wild), class = "dpts_message_failures")
  expect_match(gsub("\n", " ", autoplot(wild)$labels$caption), "One run makes [0-9]+% of the mean regret of b:")
  long <- dpts_simulate(arms, list(a = policy_ucb1(), b = policy_imed()), 800, runs = 20, seed = 1, record = 2)
  expect_message(dpts_compare(rbind(short = wild, long = long)), "One run makes", class = "dpts_message_failures")
  # Once in a session, of whichever rows; again of another policy
  withr::local_options(rlib_message_verbosity = "default")
  rm(list = ls(messages_shown), envir = messages_shown)
  expect_message(summary(wild), "once per session", class = "dpts_message_failures")
  expect_no_message(summary(wild[wild$t > 20, ]))
  expect_no_message(dpts_compare(wild[wild$run < 20, ]))
  other <- dpts_simulate(arms, list(a = policy_ucb1(), b = policy_imed(), c = policy_klucb()), 500, runs = 20,
                         seed = 1, record = 2)
  other$regret[other$policy == "c" & other$t == 500][3] <- 90
  expect_message(summary(other), "mean regret of c:", class = "dpts_message_failures")
  # of two problems, a name is said once
  two <- dpts_simulate(list(e = arms_bernoulli(c(0.9, 0.1)), f = arms_bernoulli(c(0.8, 0.2))), policy_dp_imed(1), 2000,
                       runs = 40, seed = 1, record = 1)
  expect_match(words_failures(two, last(two)), "^Rare runs of dp_imed have")
  # An early round in which one run has all regret is not said, nor a share that is large because runs are few.
  expect_null(words_failures(sim[sim$run <= 3, ], last(sim[sim$run <= 3, ])))
})

test_that("a policy with rare failures has an interval once they were seen, or can be small", {
  expect_true(fails_rarely(policy_dp_imed(1)))
  expect_false(fails_rarely(policy_gaussian_imed(1)) || fails_rarely(policy_dp_imed(1, index = "likelihood")))
  # A narrow index loses the best arm in some runs of a hundred: of 20 runs most show none, and have no interval; what is
  # left holds the mean. A wide one has an interval always.
  arms <- arms_bernoulli(c(0.9, 0.88, 0.5))
  held <- function(policy, runs = 400, n = 20) {
    sim <- dpts_simulate(arms, policy, 1000, runs = runs, seed = 4, record = I(1000))
    each <- lapply(seq_len(runs / n), function(g) suppressMessages(summary(sim[ceiling(sim$run / n) == g, ])))
    low <- vapply(each, `[[`, 0, "lower")
    c(missing = mean(is.na(low)), lost = sum(low > mean(sim$regret), na.rm = TRUE) +
      sum(vapply(each, `[[`, 0, "upper") < mean(sim$regret), na.rm = TRUE))
  }
  for (policy in list(policy_adac_ucb(1, beta = 0.05, correlation = 0.5), policy_adap_klucb(1, alpha = 0.1), policy_adap_ucb(1, alpha = 0.1))) {
    found <- held(policy)
    expect_gt(found[["missing"]], 0.5)
    expect_lte(found[["lost"]], 1 + stats::qbinom(0.999, 20, 0.05))
  }
  expect_identical(held(policy_adap_ucb(1, alpha = 1), 200)[["missing"]], 0)
  expect_identical(held(policy_adac_ucb(1, beta = 1), 200)[["missing"]], 0)
  withr::local_options(rlib_message_verbosity = "verbose")
  arms <- arms_bernoulli(c(0.6, 0.4))
  sim <- dpts_simulate(arms, list(D = policy_dp_imed(1), U = policy_ucb1()), 500, runs = 60, seed = 1, record = I(500))
  set.seed(4)
  sim$regret <- 10 + 5 * runif(120)
  of <- function(policy, runs, x = sim) x[x$policy == policy & x$run <= runs, ]
  # Of n runs a share of 1 - 0.025^(1 / n) may go unseen, and lose 100.
  regret <- of("D", 60)$regret
  adds <- function(n) (1 - 0.025^(1 / n)) * (100 - mean(regret[1:n]))
  n <- max(which(vapply(1:60, function(n) adds(n) > median(regret[1:n]), NA)))
  expect_true(n > 10 && n < 30)
  expect_message(none <- summary(of("D", n)), class = "dpts_message_failures",
                 "Rare runs of D .* too few of them were seen .* about 2[0-9] runs suffice")
  expect_identical(c(none$lower, none$upper), c(NA_real_, NA_real_))
  expect_no_message(some <- summary(of("D", n + 1)))
  expect_equal(c(some$lower, some$upper), interval_by_help(regret[1:(n + 1)], high = 100, rarely = TRUE))
  expect_gt(some$upper, 1.5 * interval_by_help(regret[1:(n + 1)], high = 100)[2])
  # After ten failures it is as any other.
  unseen <- function(m) unseen_failures(group_stats(rep(c(1, 50), c(200 - m, m)), rep(1, 200)), 0.95, 100, TRUE)
  expect_true(unseen(9) > 0 && unseen(10) == 0)
  wild <- sim
  wild$regret[sim$run <= 10] <- 99
  seen <- summary(of("D", 20, wild))
  expect_equal(c(seen$lower, seen$upper), interval_by_help(of("D", 20, wild)$regret, high = 100))
  wild$regret[sim$run == 1] <- 12
  nine <- suppressMessages(summary(of("D", 20, wild)))
  expect_equal(c(nine$lower, nine$upper), interval_by_help(of("D", 20, wild)$regret, high = 100, rarely = TRUE))
  # A difference falls by failures of the reference, and rises by those of the other.
  both <- rbind(of("D", n + 1), of("U", n + 1))
  gap <- of("D", n + 1)$regret - of("U", n + 1)$regret
  away <- interval_by_help(gap, low = -100, high = 100) - mean(gap)
  student <- qt(0.975, n) * sd(gap) / sqrt(n + 1)
  up <- sqrt(student^2 + max(sqrt(away[2]^2 - student^2), adds(n + 1))^2)
  expect_equal(dpts_compare(both, "U")[c("lower", "upper")], tibble::tibble(lower = mean(gap) + away[1], upper = mean(gap) + up))
  expect_equal(unlist(dpts_compare(both, "D")[c("lower", "upper")]), c(lower = -mean(gap) - up, upper = -mean(gap) - away[1]))
  # Advice: where the best may have failures that were not seen, others are worse by a means that allows for these.
  made <- function(...) {
    regret <- cbind(...)
    policies <- list(policy_dp_imed(1), policy_dp_klucb(1))[match(substr(colnames(regret), 1, 1), c("D", "K"))]
    x <- new_recommendation(array(regret, c(dim(regret), 1)), stats::setNames(policies, colnames(regret)), 0.95, list(
      budget = privacy_pure(1), horizon = 1000, arms = list(arms), panel = FALSE, runs = nrow(regret), seed = 1
    ))
    stats::setNames(x$standing, x$policy)
  }
  few <- 10 + rnorm(20) # 20 runs: unseen ones may add a share of .168 of 200
  expect_identical(made(D = few, K = few + 20 + rnorm(20), K2 = few + 60 + rnorm(20)), c(D = "best", K = "unsure", K2 = "worse"))
  expect_identical(made(K = few, D = few + 20 + rnorm(20), D2 = few + 0.1 * rnorm(20)), c(K = "best", D2 = "unsure", D = "worse"))
  x <- dpts_recommend(privacy_pure(1), arms, 1000, candidates = c("dp_imed", "uniform"), runs = 10, seed = 1)
  expect_match(paste(format(x), collapse = " "), "Beware: rare runs of it fail, and 10 runs show too few")
})
