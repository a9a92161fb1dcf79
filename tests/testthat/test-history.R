# Several problems in one call, and every round of them.

skip_on_cran() # takes seconds

test_that("several problems are those one by one", {
  arms <- list(easy = arms_bernoulli(c(0.9, 0.1)), three = arms_beta(c(x = 1, y = 2, z = 3), 2))
  policies <- list(ts = policy_ts_gaussian(), ucb1 = policy_ucb1())
  both <- dpts_simulate(arms, policies, 400, runs = 3, seed = 1, record = 5, history = TRUE)
  expect_named(both, c("problem", "policy", "run", "t", "regret", "reward"))
  rounds <- dpts_history(both)
  expect_equal(levels(both$problem), c("easy", "three"))
  for (name in names(arms)) {
    one <- dpts_simulate(arms[[name]], policies, 400, runs = 3, seed = 1, record = 5, history = TRUE)
    own <- both[both$problem == name, ]
    texts <- function(h) lapply(h[c("policy", "run", "t", "arm", "reward")], as.character)
    expect_identical(texts(rounds[rounds$problem == name, ]), texts(dpts_history(one)))
    expect_identical(own$regret, one$regret)
    expect_identical(own$reward, one$reward)
    expect_equal(pulls(own)$pulls, pulls(one)$pulls)
  }
  expect_equal(levels(pulls(both)$arm), c("1", "2", "x", "y", "z"))
  expect_equal(nrow(summary(both)), 2 * 2 * 5)
  expect_equal(glance(both)$arms, 2:3)
  # A plot has a panel for each.
  expect_length(unique(ggplot2::layer_data(ggplot2::autoplot(both))$PANEL), 2)
  # A list of one is a problem with a name.
  expect_equal(levels(dpts_simulate(arms["easy"], policies, 50, seed = 1)$problem), "easy")
  # Parts that were played apart are put together.
  parts <- rbind(dpts_simulate(arms, policies, 400, runs = 1:2, seed = 1, record = 5),
                 dpts_simulate(arms, policies, 400, runs = I(3), seed = 1, record = 5))
  expect_equal(as.data.frame(parts[do.call(order, parts[1:4]), ]),
               as.data.frame(both[do.call(order, both[1:4]), ]), ignore_attr = TRUE)
})

test_that("problems without names, or that do not fit, are refused", {
  a <- arms_bernoulli(c(0.5, 0.6))
  expect_snapshot(error = TRUE, {
    dpts_simulate(list(a, a), policy_ucb1(), 10)
    dpts_simulate(list(x = a, x = a), policy_ucb1(), 10)
    dpts_simulate(list(), policy_ucb1(), 10)
    dpts_simulate(3, policy_ucb1(), 10)
    dpts_simulate(list(x = a, y = 3), policy_ucb1(), 10)
    dpts_simulate(list(x = a, y = arms_bernoulli(0.5)), policy_fixed(2), 10)
  })
})

test_that("a checkpoint has what is done before the end, and is not for another engine", {
  path <- withr::local_tempfile(fileext = ".rds")
  arms <- arms_bernoulli(c(0.6, 0.5))
  # A file is worth writing once the work has taken ten times as long: here no writing takes any time.
  local_function("WORK_PER_WRITING", function(old) 0)
  seen <- numeric()
  local_function("simulate_chunk", function(old) function(job, chunk, ...) {
    seen[length(seen) + 1] <<- if (file.exists(path)) length(readRDS(path)$chunks) else 0
    if (length(seen) == 3) stop("killed")
    old(job, chunk, ...)
  })
  play <- function(engine, policies = list(a = policy_ucb1(), b = policy_imed(), c = policy_klucb())) {
    withr::with_options(list(dpts.engine = engine), dpts_simulate(arms, policies, 200, runs = 2, seed = 1, checkpoint = path))
  }
  local_function("checkpoint_flush", function(old) function(file) NULL) # a killed process does not flush
  expect_error(play("plain"), "killed")
  expect_identical(seen, c(0, 1, 2) + 0)
  expect_error(play("scan"), "another engine", class = "dpts_error_checkpoint")
})

test_that("a checkpoint holds several problems, and adds what is missing", {
  path <- withr::local_tempfile(fileext = ".rds")
  a <- arms_bernoulli(c(0.5, 0.6))
  b <- arms_bernoulli(c(0.5, 0.7))
  play <- function(arms, ...) dpts_simulate(arms, policy_ucb1(), 200, runs = 2, seed = 1, ...)
  play(list(one = a), checkpoint = path)
  both <- play(list(one = a, two = b), checkpoint = path)
  expect_identical(numbers_of(both), numbers_of(play(list(one = a, two = b))))
  expect_length(readRDS(path)$chunks, 4)
  expect_error(play(list(three = arms_bernoulli(0.3)), checkpoint = path), class = "dpts_error_checkpoint")
  # Late rewards make another world.
  expect_error(play(list(one = a), delay = 3, checkpoint = path), class = "dpts_error_checkpoint")
  # A history that was not kept is played again.
  expect_identical(nrow(dpts_history(play(list(one = a), checkpoint = path, history = TRUE))), 400L)
})

test_that("keeping the rounds changes nothing, whichever engine plays", {
  problems <- list(coins = arms_bernoulli(c(0.75, 0.5, 0.25)), beta = arms_beta(c(2, 1, 3), c(1, 1, 5)))
  for (engine in c("auto", "plain", "lanes")) {
    withr::local_options(dpts.engine = engine)
    play <- function(...) {
      dpts_simulate(problems, known_policies(), 400, runs = 2, seed = 11, record = 20, ...)
    }
    kept <- play(history = TRUE)
    expect_identical(numbers_of(kept), numbers_of(play()))
    h <- dpts_history(kept)
    n <- pulls(kept)
    id <- function(x) paste(x$problem, x$policy, x$run)
    own <- id(h)
    expect_equal(as.vector(table(factor(paste(own, h$arm), paste(id(n), n$arm)))), n$pulls)
    # Rewards add up to those recorded, at every recorded round.
    total <- stats::ave(h$reward, own, FUN = cumsum)
    at <- match(paste(id(kept), kept$t), paste(own, h$t))
    expect_equal(total[at], kept$reward)
    expect_true(all(h$reward[h$problem == "coins"] %in% 0:1))
    # Regret too: gaps of the arms that were pulled.
    gap <- c(problems$coins$gap, problems$beta$gap)[3 * (h$problem == "beta") + h$arm]
    expect_equal(stats::ave(gap, own, FUN = cumsum)[at], kept$regret)
  }
  # Also of runs that are played in the place of earlier ones
  withr::local_options(dpts.engine = "lanes")
  many <- dpts_simulate(problems$coins, policy_ts_gaussian(), 50, runs = 40, seed = 1, history = TRUE)
  expect_equal(as.vector(with(dpts_history(many), table(arm, run))), pulls(many)$pulls)
  # Where all rewards are 1 their sum is the round, also after pre-pulls of which the policy sees bits.
  sure <- dpts_simulate(arms_bernoulli(c(1, 1)), policy_local(policy_ts_gaussian(20), 1), 200, runs = 20, seed = 1, record = I(200))
  expect_equal(sure$reward, rep(200, 20))
})

test_that("a skipped stretch is filled in with the distribution of its rounds", {
  # Every round of UCB1 pulls the first arm in the end, in stretches: its rewards are coins.
  arms <- arms_bernoulli(c(0.7, 0.01))
  h <- dpts_history(dpts_simulate(arms, policy_ucb1(), 3000, runs = 30, seed = 1, history = TRUE))
  x <- h$reward[h$arm == 1 & h$t > 1000]
  expect_lt(abs(mean(x) - 0.7), 5 * sqrt(0.21 / length(x)))
  # Neighbours do not hang together, given the run.
  same <- mean(x[-1] == x[-length(x)])
  expect_lt(abs(same - (0.49 + 0.09)), 5 * sqrt(0.25 / length(x)))
})

test_that("a stretch shows the same rewards whichever rounds are looked at", {
  # Stretches of thousands of rounds, of one arm and of arms in turn; rounds looked at alone and in a row
  rounds <- c(1, 7, 8, 500:580, 3000, 9001:9070, 15000)
  for (policy in list(policy_dp_imed(1), policy_dp_se(1), policy_ts_gaussian(2000, 20))) {
    play <- function(...) dpts_simulate(arms_bernoulli(c(0.8, 0.5, 0.3)), policy, 15000, runs = 3, seed = 5, ...)
    kept <- play(record = I(rounds), history = TRUE)
    expect_identical(numbers_of(kept), numbers_of(play(record = I(rounds))))
    h <- dpts_history(kept)
    total <- stats::ave(h$reward, h$run, FUN = cumsum)
    expect_identical(kept$reward, total[match(paste(kept$run, kept$t), paste(h$run, h$t))])
  }
})

test_that("rewards inside one long stretch are coins, at every place in it", {
  runs <- 200
  h <- dpts_history(dpts_simulate(arms_bernoulli(0.3), policy_ucb1(), 1000, runs = runs, seed = 2, history = TRUE))
  x <- matrix(h$reward, 1000)
  n <- 1000
  each <- (rowMeans(x) - 0.3)^2 / (0.21 / runs)
  expect_lt(abs(sum(each) - n), 5 * sqrt(2 * n))
  for (width in c(2, 20, 50)) { # the sums of rounds in a row vary as those of coins do
    sums <- apply(array(x, c(width, n / width, runs)), 2:3, sum)
    z <- (sums - 0.3 * width)^2 / (0.21 * width)
    expect_lt(abs(mean(z) - 1), 5 * sqrt((2 + 1 / (0.21 * width)) / length(z)))
  }
})

test_that("shares of pulls add up to one and are those of the history", {
  arms <- arms_bernoulli(c(a = 0.2, b = 0.8))
  sim <- dpts_simulate(list(p = arms, q = arms), list(u = policy_ucb1(), f = policy_fixed(2)), 100, runs = 5,
                       seed = 1, history = TRUE)
  h <- dpts_history(sim)
  shares <- pull_shares(h, 4)
  whole <- tapply(shares$share, list(shares$t, shares$policy, shares$problem), sum)
  expect_equal(as.vector(whole), rep(1, length(whole)))
  first <- shares[shares$problem == "q" & shares$policy == "u" & shares$arm == "b" & shares$t < 1, ]
  expect_equal(first$share, mean(h$arm[h$problem == "q" & h$policy == "u" & h$t <= 25] == "b"))
  plot <- ggplot2::autoplot(h, bins = 10)
  expect_length(unique(ggplot2::layer_data(plot)$PANEL), 4)
})

test_that("a history that is not there, or too large, is refused", {
  a <- arms_bernoulli(c(0.5, 0.6))
  expect_snapshot(error = TRUE, {
    dpts_history(3)
    dpts_history(dpts_simulate(a, policy_ucb1(), 10, seed = 1))
    dpts_simulate(a, policy_ucb1(), 1e7, runs = 100, history = TRUE)
    dpts_simulate(a, policy_ucb1(), 10, history = NA)
  })
})

test_that("a history has the chances of policies that choose at random, and changes nothing", {
  arms <- arms_bernoulli(c(0.3, 0.5, 0.7))
  both <- list(a = policy_uniform(), b = policy_ucb1())
  for (delay in c(0, 3)) {
    play <- function(...) dpts_simulate(arms, both, 200, runs = 3, seed = 1, delay = delay, ...)
    kept <- play(history = TRUE)
    expect_identical(kept$regret, play()$regret)
    h <- dpts_history(kept)
    expect_identical(h$probability[h$policy == "a"], rep(1 / 3, 600))
    expect_true(all(is.na(h$probability[h$policy == "b"])))
  }
  restarted <- dpts_simulate(arms, policy_restart(policy_uniform(), every = 50), 100, runs = 1, seed = 1,
                             history = TRUE)
  expect_identical(dpts_history(restarted)$probability, rep(1 / 3, 100))
})

test_that("a log of the rounds carries the chances, and is taken as it is", {
  arms <- arms_bernoulli(c(old = 0.3, new = 0.6))
  sim <- dpts_simulate(arms, policy_randomised(mu = 1, rule = "thompson", block = 100), 4000, runs = 2, seed = 1, history = TRUE)
  log <- as_log(sim)
  expect_identical(log$propensity, dpts_history(sim)$probability)
  expect_identical(as_log(dpts_history(sim)), log)
  ope <- dpts_ope(log, "new", estimator = "ipw")
  expect_lt(abs(ope$estimate - 0.6) / ope$se, 4)
  # By hand: the mean of reward / propensity where the arm is shown
  expect_equal(ope$estimate, mean(ifelse(log$arm == "new", log$reward / log$propensity, 0)))
  expect_s3_class(dpts_replay(log, policy_uniform(), runs = 1, seed = 1), "dpts_replay")
  both <- dpts_simulate(arms, list(a = policy_uniform(), b = policy_ucb1()), 50, runs = 1, seed = 1, history = TRUE)
  expect_error(as_log(both), 'policy "b" does not know its probabilities', class = "dpts_error_input")
  silent <- dpts_simulate(arms, list(a = policy_ucb1(), b = policy_ucb1()), 50, runs = 1, seed = 1, history = TRUE)
  expect_error(as_log(silent), 'policy "a" and policy "b" do not know their probabilities', class = "dpts_error_input")
  expect_identical(nrow(as_log(dpts_history(both)[dpts_history(both)$policy == "a", ])), 50L)
  expect_error(as_log(data.frame(arm = 1)), "`x` must be", class = "dpts_error_input")
})

test_that("a replay keeps its history: the events of the log that the policy chose", {
  set.seed(1)
  log <- data.frame(arm = c("x", "y", "z")[sample(3, 900, TRUE)], reward = round(runif(900), 3))
  replay <- dpts_replay(log, list(y = policy_fixed(2), any = policy_uniform(), ucb1 = policy_ucb1()), runs = 2, seed = 1,
                        delay = c(0, 5), history = TRUE)
  h <- dpts_history(replay)
  expect_named(h, c("policy", "delay", "run", "t", "arm", "reward", "probability"))
  own <- h[h$policy == "y" & h$delay == 5 & h$run == 2, ]
  expect_identical(own$reward, log$reward[log$arm == "y"])
  expect_identical(own$t, seq_len(nrow(own)))
  expect_identical(unique(as.character(own$arm)), "y")
  expect_identical(unique(h$probability[h$policy == "any"]), 1 / 3)
  expect_true(all(is.na(h$probability[h$policy == "ucb1"])))
  # All else as without it
  expect_equal(c(tapply(h$reward, list(h$run, h$delay, h$policy), sum)), replay$reward)
  expect_identical(as.data.frame(dpts_replay(log, policy_ucb1(), runs = 1, seed = 1))$reward,
                   as.data.frame(dpts_replay(log, policy_ucb1(), runs = 1, seed = 1, history = TRUE))$reward)
  counts <- pulls(replay)
  expect_equal(c(table(h$arm, h$run, h$delay, h$policy)), counts$pulls)
  # UCB1 by hand, over the events
  ucb1 <- h[h$policy == "ucb1" & h$delay == 0 & h$run == 1, ]
  n <- s <- stats::setNames(numeric(3), c("x", "y", "z"))
  kept <- character()
  for (i in seq_len(nrow(log))) {
    index <- if (any(n == 0)) ifelse(n == 0, Inf, 0) else s / n + sqrt(2 * log(sum(n)) / n)
    if (log$arm[i] != names(n)[which.max(index)]) next
    kept <- c(kept, log$arm[i])
    n[log$arm[i]] <- n[log$arm[i]] + 1
    s[log$arm[i]] <- s[log$arm[i]] + log$reward[i]
  }
  expect_identical(as.character(ucb1$arm), kept)
  expect_error(dpts_history(dpts_replay(log, policy_ucb1(), runs = 1, seed = 1)), "history", class = "dpts_error_history")
  expect_error(dpts_replay(log, policy_ucb1(), runs = 1e7, history = TRUE), "`history`", class = "dpts_error_memory")
})

test_that("of problems of several horizons pulls, estimates and releases are as of the last round that is there", {
  play <- function(horizon, record) {
    dpts_simulate(arms_bernoulli(c(0.5, 0.6)), list(a = policy_randomised(mu = 1, block = 20), b = policy_top_two(mu = 1)), horizon,
                  runs = 3, seed = 1, record = I(record), history = TRUE)
  }
  both <- rbind(short = play(100, c(40, 100)), long = play(300, c(100, 300)))
  rounds <- dpts_history(both)
  table <- dpts_releases(both)
  key <- function(x) paste(x$problem, x$policy, x$run)
  runs <- unique(key(both))
  withr::local_seed(1)
  for (until in c(list(rep(100, 12)), lapply(1:3, function(i) sample(c(40, 100, 300), 12, TRUE)))) {
    up_to <- function(x) x[x$t <= until[match(key(x), runs)], ]
    some <- up_to(both)
    here <- runs %in% key(some) # of a long run nothing was recorded by round 40
    seen <- up_to(rounds)
    expect_equal(pulls(some)$pulls, as.vector(table(seen$arm, factor(key(seen), runs[here]))))
    of <- up_to(table)
    of <- of[key(of) %in% runs[here], ]
    expect_equal(plain_columns(dpts_releases(some)), plain_columns(of))
    expect_equal(plain_columns(estimates(some)), plain_columns(estimates(of)))
  }
})
