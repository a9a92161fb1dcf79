# policy_forget() and policy_detect()

# The arms of policy_forget(), from the sums that it released. Rewards come at once.
forgetful <- function(k, n, batch, value, window = NULL, discount = NULL, width, v) {
  arm <- at <- sum <- numeric()
  for (j in seq_len(ceiling(n / batch))) {
    now <- (j - 1) * batch
    weight <- if (is.null(window)) discount^(now - at) else as.numeric(now - at < window)
    N <- vapply(seq_len(k), function(i) batch * base::sum(weight[arm == i]), 0)
    S <- vapply(seq_len(k), function(i) base::sum((weight * sum)[arm == i]), 0)
    size <- if (is.null(window)) base::sum(N) else min(now + 1, window)
    index <- ifelse(N > 0, (S + sqrt(width * log(max(1, size)) * (N + 4 * v * N / batch))) / N, Inf)
    arm <- c(arm, which.max(index))
    at <- c(at, j * batch)
    sum <- c(sum, value[j])
  }
  rep(as.integer(arm), each = batch)[seq_len(n)]
}

test_that("policy_forget() follows its index, and releases each batch once", {
  n <- 300
  rewards <- withr::with_seed(1, matrix(runif(3 * n), n))
  cases <- list(
    list(policy_forget(window = 60, epsilon = 0.5, batch = 6), 6, 2, "Laplace", 8),
    list(policy_forget(discount = 0.97, mu = 0.5, batch = 4, width = 1), 4, 2, "Gaussian", 4),
    list(policy_forget(window = 25), 1, 0, "Laplace", 0),
    list(policy_forget(discount = 0.9), 1, 0, "Laplace", 0)
  )
  for (case in cases) {
    policy <- case[[1]]
    out <- run_script(policy, 3, rep(NA, n), rewards)
    m <- n / case[[2]]
    expect_equal(out$total, m)
    expect_true(all(out$scale[1:m] == case[[3]]))
    expect_identical(unique(dpts:::noise_names(out$kind[1:m])), case[[4]])
    own <- matrix(rewards[cbind(seq_len(n), out$arm)], case[[2]])
    expect_equal(out$exact[1:m], colSums(own))
    p <- policy$params
    expect_identical(out$arm, forgetful(3, n, case[[2]], out$value, p$window, p$discount, p$width, case[[5]]))
  }
  # late, off offer, finished: each reward that came is in one sum
  late <- run_script(cases[[1]][[1]], 3, rep(NA, n), rewards, delays = rep(c(0, 9, 40), 100), finish = TRUE)
  expect_lt(abs(sum(late$exact[seq_len(late$total)]) - sum(rewards[cbind(seq_len(n), late$arm)])), 20)
})

test_that("a window of policy_forget() has room for the last batch of each of many arms", {
  # 40 arms on offer in turn: their batches are complete after one another, each with pulls of a whole turn.
  n <- 4000
  for (k in c(2, 40)) {
    policy <- policy_forget(window = 100, mu = 1, batch = 10)
    offers <- as.list((seq_len(n) - 1) %% k + 1)
    expect_no_error(out <- run_script(policy, k, rep(NA, n), rep(0.5, n), offers = offers))
    expect_equal(out$total, n / 10)
  }
})

test_that("of each of many arms policy_forget() knows the last batch, whichever came last", {
  k <- 40
  turns <- (0:399) %% k + 1
  for (best in c(1, 12, 20, 40)) {
    rewards <- matrix(0, 401, k)
    rewards[, best] <- 1
    out <- run_script(policy_forget(window = 100, epsilon = 1e9, batch = 10), k, c(turns, NA), rewards,
                      offers = c(as.list(turns), list(1:k)))
    expect_equal(out$arm[401], best)
  }
})

test_that("a late reward of policy_forget() weighs by the age of its pull", {
  n <- 150
  delays <- rep(c(0, 4, 14), n / 3) # the latest come alone
  rewards <- withr::with_seed(3, matrix(runif(2 * n), n))
  for (policy in list(policy_forget(discount = 0.9), policy_forget(window = 10), policy_forget(window = 14), policy_forget(window = 15))) {
    window <- policy$params$window %||% NA
    arm <- run_script(policy, 2, rep(NA, n), rewards, delays = delays)$arm
    for (t in 20:n) {
      come <- which(seq_len(n) + delays < t)
      age <- max((seq_len(n) + delays)[come]) - come
      weight <- if (is.na(window)) 0.9^age else as.numeric(age < window)
      counts <- vapply(1:2, function(a) sum(weight[arm[come] == a]), 0)
      sums <- vapply(1:2, function(a) sum((weight * rewards[cbind(come, arm[come])])[arm[come] == a]), 0)
      among <- if (is.na(window)) max(1, sum(counts)) else min(t, window)
      wide <- sqrt(policy$params$width * log(among) * counts)
      # An arm of which nothing counts is next, unless rewards of it are out.
      out <- setdiff(seq_len(t - 1), come)
      blank <- which(counts == 0 & !1:2 %in% arm[out])
      expect_identical(arm[t], if (length(blank)) blank[1] else which.max((sums + wide) / counts), info = paste(window, t))
    }
  }
})

test_that("an arm whose open batch was interrupted goes on with it once another one is full", {
  out <- run_script(policy_forget(window = 100, batch = 3), 2, rep(NA, 6), matrix(1, 6, 2),
                    offers = list(1, 2, 1:2, 1:2, 1:2, 1:2))
  expect_identical(out$arm, c(1L, 2L, 1L, 1L, 2L, 2L))
})

test_that("a batch that is skipped is the same as its rounds", {
  arms <- arms_switch(list(arms_bernoulli(c(0.9, 0.1)), arms_bernoulli(c(0.1, 0.9))), at = 1000)
  policies <- list(w = policy_forget(window = 300, epsilon = 2), d = policy_forget(discount = 0.99, mu = 1))
  mean <- vapply(c("plain", "skip"), function(engine) {
    withr::local_options(dpts.engine = engine)
    summary(dpts_simulate(arms, policies, 2000, runs = 40, seed = 1, record = I(2000)))$mean
  }, numeric(2))
  expect_lt(max(abs(mean[, 1] / mean[, 2] - 1)), 0.1)
  # and forgets: who does not loses most of the second half
  expect_lt(max(mean), 250)
  # The very same where nothing is drawn at random
  sure <- arms_switch(list(arms_bernoulli(c(1, 0, 1)), arms_bernoulli(c(0, 1, 0))), at = 300)
  policies <- list(w = policy_forget(window = 47, batch = 6), d = policy_forget(discount = 0.97, batch = 4))
  paths <- lapply(c("plain", "skip"), function(engine) {
    withr::local_options(dpts.engine = engine)
    dpts_simulate(sure, policies, 600, runs = 1, seed = 1, record = c(seq(5, 599, 7), 600))$regret
  })
  expect_identical(paths[[1]], paths[[2]])
})

test_that("policy_detect() is the policy while nothing changes, and a new one after", {
  n <- 1500
  same <- withr::with_seed(2, matrix(rbinom(2 * n, 1, rep(c(0.8, 0.3), each = n)), n))
  for (inner in list(policy_dp_imed(2, ratio = 1.2), policy_ucb1(),
                     policy_forget(window = 400, mu = 2, batch = 10))) {
    out <- run_script(policy_detect(inner, explore = 0), 2, rep(NA, n), same)
    expect_identical(out$arm, run_script(inner, 2, rep(NA, n), same)$arm)
  }
  changes <- rbind(same[1:700, ], 1 - same[701:n, ])
  inner <- policy_ucb1()
  out <- run_script(policy_detect(inner, explore = 0), 2, rep(NA, n), changes)$arm
  blind <- run_script(inner, 2, rep(NA, n), changes)$arm
  first <- which(out != blind)[1]
  expect_true(first > 701 && first < 1100)
  # The new life begins at `first`, or at the round before it where the first choice is the same.
  lives <- lapply(first - 0:2, function(at) run_script(inner, 2, rep(NA, n - at + 1), changes[at:n, ])$arm)
  expect_true(any(vapply(lives, function(life) identical(utils::tail(out, length(life)), life), NA)))
  # Its rounds of exploration are those of the clock on the wall, whenever a life began.
  sure <- cbind(rep(1:0, c(300, 500)), rep(0:1, c(300, 500)))
  # Every third round is nearest to a share of 0.35: every sixth is of the worse arm.
  third <- dpts_simulate(arms_bernoulli(c(1, 0)), policy_detect(policy_imed(), explore = 0.35), 3000, seed = 1)
  expect_lt(abs(pulls(third)$pulls[2] - 500), 30)
  wall <- run_script(policy_detect(inner, explore = 0.1), 2, rep(NA, 800), sure, ask = TRUE)
  expect_true(any((which(wall$said == wall$said[1])[-1] - 1) %% 10 > 0))
  expect_identical(wall$arm[10 * 1:80], rep(2:1, 40))
  # With exploration it sees an arm that gets better.
  arms <- arms_switch(list(arms_bernoulli(c(0.5, 0.2)), arms_bernoulli(c(0.5, 0.9))), at = 3000)
  sim <- dpts_simulate(arms, list(blind = policy_klucb(), sees = policy_detect(policy_klucb())),
                       6000, runs = 4, seed = 1, record = I(6000))
  mean <- tapply(sim$regret, sim$policy, mean)
  expect_lt(mean[["sees"]], mean[["blind"]] / 2)
})

test_that("policy_detect() begins anew when the intervals of all looks leave an arm no mean", {
  n <- 800
  rewards <- withr::with_seed(4, matrix(rbinom(2 * n, 1, rep(c(0.9, 0.1, 0.2, 0.8), each = n / 2)), n))
  inner <- policy_forget(window = 1e5, mu = 1, batch = 10)
  out <- run_script(policy_detect(inner, delta = 0.1, explore = 0), 2, rep(NA, n), rewards)
  arm <- out$arm[10 * seq_len(out$total)] # of each release
  begin <- 1 # the first release of a life
  lives <- integer()
  for (now in seq_len(out$total)) {
    of <- begin - 1 + which(arm[begin:now] == arm[now])
    looks <- vapply(seq_along(of), function(j) {
      .Call(C_test_interval, rep(10, j), out$value[of[seq_len(j)]], c(2, 1, 0, 0), 0.1 / 2)
    }, numeric(2))
    if (max(looks[1, ]) <= min(looks[2, ]) && now < out$total) next
    at <- begin:now
    rounds <- (10 * (begin - 1) + 1):(10 * now)
    life <- run_script(inner, 2, rep(NA, length(rounds)), rewards[rounds, ], forced = out$value[at])
    expect_identical(out$arm[rounds], life$arm)
    lives <- c(lives, now)
    begin <- now + 1
  }
  expect_gt(length(lives), 1)
  expect_true(lives[1] > 40 && lives[1] < 79)
})

test_that("a new life of policy_detect() does not use rewards of pulls before it", {
  n <- 1200
  rewards <- withr::with_seed(5, matrix(rbinom(2 * n, 1, rep(c(0.9, 0.1, 0.2, 0.8), each = n / 2)), n))
  delays <- rep(8, n)
  out <- run_script(policy_detect(policy_ucb1(), explore = 0), 2, rep(NA, n), rewards, delays = delays)$arm
  first <- which(out != run_script(policy_ucb1(), 2, rep(NA, n), rewards, delays = delays)$arm)[1]
  expect_true(first > n / 2 && first < 1000)
  # The first choice of the new life may be that of the old one.
  lives <- vapply(first - 0:2, function(at) {
    life <- run_script(policy_ucb1(), 2, rep(NA, n - at + 1), rewards[at:n, ], delays = delays[at:n])$arm
    identical(out[at + 0:150], life[1 + 0:150])
  }, NA)
  expect_true(any(lives))
})

test_that("a new life of policy_detect() begins with the next round, at each delay", {
  n <- 200
  for (delay in 0:3) for (inner in list(policy_ucb1(), policy_forget(window = 1e5, mu = 1e4, batch = 1))) {
    out <- run_script(policy_detect(inner, explore = 0), 2, rep(1, n), rep(1:0, each = n / 2),
                      delays = rep(delay, n), ask = TRUE)
    # Nothing is known until the first reward of a life has come: its delay and one round.
    blank <- which(out$said == out$said[1])
    expect_identical(blank, c(seq_len(delay + 1), max(blank) - delay:0))
    expect_gt(max(blank), n / 2 + delay)
  }
})

test_that("policy_detect() reads an arm's rewards when they have grown by a fiftieth", {
  n <- 250
  found <- vapply(c(50, 100), function(change) {
    rewards <- rep(1:0, c(change, n - change))
    read <- 0
    cut <- c(-Inf, Inf)
    for (t in seq_len(n)) {
      if (t - read[length(read)] < max(1, read[length(read)] / 50)) next
      read <- c(read, t)
      sums <- diff(cumsum(c(0, rewards))[read + 1])
      interval <- .Call(C_test_interval, diff(read) + 0, sums, c(0, 0, 0, 0), 0.01 / 2)
      cut <- c(max(cut[1], interval[1]), min(cut[2], interval[2]))
      if (cut[1] > cut[2]) break
    }
    said <- run_script(policy_detect(policy_ucb1(), explore = 0), 2, rep(1, n), rewards, ask = TRUE)$said
    c(t, which(said == said[1])[2] - 1)
  }, numeric(2))
  expect_identical(found[2, ], found[1, ])
})

test_that("false alarms are as rare as promised", {
  arms <- arms_bernoulli(c(0.5, 0.5))
  sim <- dpts_simulate(arms, policy_detect(policy_forget(window = 1e5, epsilon = 1, batch = 20), delta = 0.1),
                       2000, runs = 100,
                       seed = 3, record = I(2000))
  n <- estimates(sim)
  total <- tapply(n$rewards, n$run, sum)
  expect_length(total, 100)
  expect_lte(sum(total < 1900), stats::qbinom(0.999, 100, 0.1))
})

test_that("promises, calls and errors of both", {
  policy <- policy_detect(policy_forget(window = 100, epsilon = 0.5))
  expect_equal(dpts_privacy(policy, 100, delta = 0)$epsilon, 0.5)
  expect_equal(eval(str2lang(as.character(policy))), policy)
  expect_equal(update(policy_forget(discount = 0.9, mu = 1), batch = 3)$params$batch, 3)
  bad <- function(code, words) expect_error(code, words, class = "dpts_error_input")
  bad(policy_forget(), "`window` must be given, or `discount`")
  bad(policy_forget(10, 0.5), "not both")
  bad(policy_forget(10, epsilon = 1, mu = 1), "`epsilon`")
  bad(policy_forget(10, batch = 20), "at least a batch")
  bad(policy_forget(1e8), "at most 1e6 batches")
  bad(policy_forget(discount = 1), "`discount`")
  bad(policy_detect(policy_lazy_gaussian_ts(1, 0.5)), "noise of its own")
  bad(policy_detect(policy_mt_ucb(1)), "each reward in one sum")
  bad(policy_detect(policy_ts_gaussian()), "each reward in one sum")
  bad(policy_detect(policy_restart(policy_ucb1(), 10)), "not around another one")
  bad(policy_detect(policy_linucb(1, 0.1)), "`policy`")
  bad(policy_detect(policy_ucb1(), explore = 0.9), "`explore`")
  # A window of one batch is one.
  expect_identical(policy_forget(window = 10, batch = 10)$params$window, 10)
})
