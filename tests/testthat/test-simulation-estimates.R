# estimates(): what policies report of their sums, and the intervals made of it

skip_on_cran() # takes seconds

#' The report of each arm, as a list of its numbers, and the ledger of what was released
report_of <- function(policy, arms, rewards = rep(1, length(arms)), k = 2, ...) {
  out <- run_script(policy, k, arms, rewards, ...)
  stopifnot(out$total <= 1e5)
  ledger <- as.data.frame(out[c("exact", "scale", "noise", "gain", "correlation")])[seq_len(out$total), ]
  ledger$arm <- out$arm[rep(seq_along(out$arm), diff(c(0L, out$released)))]
  rownames(out$report) <- REPORT
  list(arm = lapply(seq_len(k), function(i) as.list(out$report[, i])), ledger = ledger)
}

random_arms <- function(n, k = 2) withr::with_seed(4, sample(k, n, TRUE))

ones_of <- function(n) {
  count <- 0
  while (n > 0) {
    count <- count + n %% 2
    n <- n %/% 2
  }
  count
}

test_that("batches are reported as they were released", {
  arms <- random_arms(300)
  policies <- list(
    policy_dp_imed(0.5), policy_dp_klucb(0.5), policy_adap_ucb(0.5), policy_adap_klucb(0.5),
    policy_adac_ucb(0.5), policy_lazy_ucb(0.5), policy_lazy_dp_ts(0.5),
    policy_lazy_gaussian_ts(0.5, correlation = 0),
    policy_gaussian_imed(0.5, correlation = 0), policy_dp_imed(0.5, first = 7)
  )
  for (policy in policies) {
    seen <- report_of(policy, arms)
    for (i in 1:2) {
      own <- seen$ledger[seen$ledger$arm == i, ]
      report <- seen$arm[[i]]
      # All rewards are 1: what is exact in a release is how many there are.
      expect_equal(report$rewards, sum(own$exact))
      expect_equal(report$sum, sum(own$exact + own$noise))
      expect_equal(report$terms, nrow(own))
      expect_equal(report$scale, unique(own$scale))
      expect_equal(report$last_terms * report$last_scale, 0)
    }
  }
})

test_that("epochs, trees and whole sums are reported with the noise that they have", {
  arms <- rep_len(1:2, 800)
  se <- report_of(policy_dp_se(4, 0.9), arms)
  total <- se$arm[[1]]$sum + se$arm[[2]]$sum
  expect_equal(total, sum(se$ledger$exact + se$ledger$noise))
  expect_equal(se$arm[[1]]$terms + se$arm[[2]]$terms, nrow(se$ledger))
  expect_equal(se$arm[[2]]$rewards, sum(se$ledger$exact) / 2)
  for (n in c(1, 2, 3, 31, 100, 255)) {
    tree <- report_of(policy_mt_ucb(1), rep(1, n), horizon = 300)
    report <- tree$arm[[1]]
    expect_equal(report$rewards, n)
    expect_equal(report$sum - n, tree_noise(tree$ledger$noise, n))
    expect_equal(report$last_terms, ones_of(n))
    expect_equal(report$last_scale, unique(tree$ledger$scale))
    expect_equal(tree$arm[[2]]$rewards, 0)
    # Every 1 / epsilon = 4 rewards the whole sum, with noise of its own
    whole <- report_of(policy_dp_ucb_int(0.25), rep(1, n))
    last <- utils::tail(whole$ledger, 1)
    expect_equal(whole$arm[[1]]$rewards, 4 * (n %/% 4))
    if (n < 4) next
    expect_equal(whole$arm[[1]]$sum, last$exact + last$noise)
    expect_equal(whole$arm[[1]]$last_scale, last$scale)
    expect_equal(whole$arm[[1]]$looks, n %/% 4)
  }
  # Sums that are renewed with each reward are as many looks.
  for (policy in list(policy_mt_ucb(1), policy_dp_ucb_bound(1), policy_dp_ts(1), policy_mt_ts(1, tuned = TRUE, warmup = 0))) {
    for (n in c(2, 5, 20)) expect_equal(report_of(policy, rep(1, n), horizon = 300)$arm[[1]]$looks, n, label = format(policy))
  }
})

test_that("a moving average's sum has the noise that its releases share, and that which they do not", {
  arms <- random_arms(2000)
  c <- 0.6
  policies <- list(policy_gaussian_imed(0.5, correlation = c, first = 5),
                   policy_lazy_gaussian_ts(0.5, correlation = c), policy_adac_ucb(0.5, correlation = c))
  for (policy in policies) {
    seen <- report_of(policy, arms)
    for (i in 1:2) {
      own <- seen$ledger[seen$ledger$arm == i, ]
      report <- seen$arm[[i]]
      b <- nrow(own)
      expect_gt(b, 4)
      noise <- own$noise / own$gain
      expect_gt(report$rewards, sum(arms == i) / 4)
      expect_equal(report$sum - report$rewards, (1 - c) * sum(noise) + c * noise[b], tolerance = 1e-5)
      expect_equal(report$terms, b * (1 - c)^2 / (1 - c^2), tolerance = 1e-5)
      expect_equal(report$last_scale, c * 2 / sqrt(1 - c^2), tolerance = 1e-5)
      expect_equal(c(report$last_terms, report$looks), c(1, b))
    }
  }
})

test_that("intervals cover at least as often as they say, also arms that were dropped early", {
  policies <- list(
    imed = policy_dp_imed(1), gaussian = policy_gaussian_imed(0.5), ucb1 = policy_ucb1(),
    local = policy_local(policy_imed(), 1), tree = policy_mt_ucb(4)
  )
  means <- c(0.8, 0.3)
  runs <- 250 # intervals of half the width are found, as by more
  sim <- dpts_simulate(arms_bernoulli(means), policies, 1000, runs = runs, seed = 2, record = 1)
  found <- estimates(sim, 0.9)
  expect_identical(nrow(found), as.integer(2 * runs * length(policies)))
  inside <- found$lower <= means[found$arm] & means[found$arm] <= found$upper
  inside[is.na(inside)] <- TRUE # nothing was said
  misses <- tapply(!inside, list(found$policy, found$arm), sum)
  expect_true(all(misses <= stats::qbinom(0.999, runs, 0.1)))
  # They say something of the best arm.
  width <- tapply(found$upper - found$lower, list(found$policy, found$arm), mean, na.rm = TRUE)
  expect_true(all(width[c("imed", "gaussian", "ucb1", "local"), 1] < 0.22))
  # Arms were dropped: the worse one has few rewards.
  rewards <- tapply(found$rewards, list(found$policy, found$arm), mean, na.rm = TRUE)
  expect_lt(rewards["ucb1", 2], 50)
})

test_that("plain sums are those of all pulls, bits those that were seen, and lives the last", {
  arms <- arms_bernoulli(c(0.7, 0.4))
  open <- list(ucb1 = policy_ucb1(), imed = policy_imed(), klucb = policy_klucb(), ts = policy_ts_beta(),
               r = custom_ucb1(), local = policy_local(policy_ts_gaussian(), 2))
  for (engine in c("plain", "skip", "lanes")) {
    withr::local_options(dpts.engine = engine)
    sim <- dpts_simulate(arms, open, 600, runs = 3, seed = 1, record = 1)
    found <- estimates(sim)
    expect_equal(found$rewards, pulls(sim)$pulls)
    total <- tapply(found$rewards * found$mean, list(found$run, found$policy), sum)
    plain <- levels(found$policy) != "local"
    expect_equal(as.vector(total[, plain]), sim$reward[sim$policy != "local"])
  }
  # Of bits that say more than all rewards could, nothing is said beyond the range.
  ends <- dpts_simulate(arms_discrete(c(0, 1), rbind(c(0, 1), c(1, 0))), policy_local(policy_uniform(), 1), 400, runs = 3, seed = 1)
  of <- estimates(ends)
  expect_true(all(of$lower >= 0 & of$upper <= 1 & of$mean >= 0 & of$mean <= 1))
  expect_true(any(of$upper == 1) && any(of$lower == 0))
  wide <- policy_local(policy_imed(), 0.5)
  sim <- dpts_simulate(arms, list(wide = wide), 4000, runs = 200, seed = 5, record = 1)
  found <- estimates(sim)
  best <- found[found$arm == 1, ]
  q <- plogis(-0.5)
  se <- sqrt(0.25 / best$rewards) / (1 - 2 * q)
  z <- ((best$mean - 0.7) / se)[best$rewards > 2000]
  expect_lt(abs(mean(z)), 0.3) # means of adaptively chosen rewards lean a little
  expect_gt(stats::sd(z), 0.7)
  expect_lt(stats::sd(z), 1.2)
  life <- dpts_simulate(arms, policy_restart(policy_ucb1(), 100), 250, runs = 2, seed = 1, record = 1)
  expect_equal(as.vector(tapply(estimates(life)$rewards, estimates(life)$run, sum)), c(50, 50))
})

test_that("late rewards count when they have come", {
  late <- dpts_simulate(arms_bernoulli(c(0.7, 0.4)), policy_ucb1(), 200, runs = 2, seed = 1, delay = 30)
  expect_equal(as.vector(tapply(estimates(late)$rewards, estimates(late)$run, sum)), c(170, 170))
})

test_that("where nothing is told, nothing is estimated", {
  promised <- custom_ucb1()
  promised$guarantee <- policy_dp_imed(1)$guarantee
  none <- list(policy_ts_gaussian(), policy_uniform(), policy_fixed(1), policy_dp_ts_ucb(0.5), promised)
  sim <- dpts_simulate(arms_bernoulli(c(0.7, 0.4)), none, 200, runs = 2, seed = 1)
  expect_true(all(is.na(as.data.frame(estimates(sim))[c("rewards", "mean", "lower", "upper")])))
  linear <- dpts_simulate(arms_linear(rbind(c(0.9, 0.1), c(0.1, 0.9)), contexts = "simplex"),
                          policy_linucb(), 50, runs = 1, seed = 1)
  expect_true(all(is.na(estimates(linear)$mean)))
})

test_that("estimates come in the units of the rewards, by problem and name", {
  small <- arms_gaussian(c(3, 2), sd = 1, range = c(-2, 8))
  names(small) <- c("new", "old")
  sim <- dpts_simulate(list(easy = small, hard = arms_bernoulli(c(a = 0.6, b = 0.5))),
                       list(open = policy_ucb1(), private = policy_dp_imed(2)), 3000, runs = 2, seed = 1)
  found <- estimates(sim)
  expect_named(found, c("problem", "policy", "run", "arm", "rewards", "mean", "lower", "upper"))
  easy <- found[found$problem == "easy", ]
  expect_setequal(as.character(easy$arm), c("new", "old"))
  truth <- c(new = 3, old = 2)[as.character(easy$arm)]
  expect_true(all(easy$lower <= truth & truth <= easy$upper))
  expect_true(all(easy$lower >= -2 & easy$upper <= 8))
  best <- easy[easy$policy == "open" & easy$arm == "new", ]
  expect_true(all(abs(best$mean - 3) < 0.2))
  free <- dpts_simulate(arms_gaussian(c(3, 2), sd = 1), policy_ucb1(), 300, runs = 1, seed = 1)
  found <- estimates(free)
  expect_true(all(is.na(found$lower) & is.na(found$upper)))
  expect_lt(abs(found$mean[found$rewards > 100] - 3), 0.5)
  narrow <- estimates(sim, 0.5)
  wide <- estimates(sim, 0.99)
  expect_true(all(wide$lower <= narrow$lower & wide$upper >= narrow$upper, na.rm = TRUE))
  expect_error(estimates(sim, 1), class = "dpts_error_input")
  expect_error(estimates(1), class = "dpts_error_input")
})

test_that("results of parts, files and checkpoints keep what they tell", {
  play <- function(runs, ...) {
    dpts_simulate(arms_bernoulli(c(0.7, 0.4)), policy_dp_imed(1), 300, runs = runs, seed = 1, ...)
  }
  whole <- estimates(play(6))
  expect_identical(estimates(rbind(play(1:3), play(4:6))), whole)
  file <- withr::local_tempfile()
  play(1:3, checkpoint = file)
  expect_identical(estimates(play(6, checkpoint = file)), whole)
  sim <- play(6)
  expect_identical(estimates(sim[sim$run > 4, ])$mean, whole$mean[whole$run > 4])
})

test_that("estimates of several problems and policies are those of each, in the units of its rewards", {
  problems <- list(coins = arms_bernoulli(c(0.3, 0.6)), wide = arms_gaussian(c(60, 120), 20, range = c(50, 150)),
                   three = arms_beta(c(1, 2, 3), 2))
  policies <- list(index = policy_ucb1(), bits = policy_local(policy_ts_beta(), 2), tree = policy_mt_ucb(2),
                   batches = policy_randomised(mu = 1, block = 40), last = policy_dp_imed(2))
  play <- function(arms, policy) dpts_simulate(arms, policy, 300, runs = 2, seed = 1, history = TRUE, record = 1)
  check <- function(problems, policies) {
    all <- estimates(play(problems, policies))
    for (p in names(problems)) for (name in names(policies)) {
      one <- estimates(play(problems[[p]], policies[name]))
      rows <- all[all$problem == p & all$policy == name, names(one)]
      expect_equal(plain_columns(rows), plain_columns(one), info = paste(p, name))
    }
  }
  for (own in list(policies, policies[c(5, 2, 4)], policies[c(4, 5)])) check(problems, own)
  check(c(problems, list(free = arms_gaussian(c(3, 5), 1))), list(index = policy_ucb1(), even = policy_uniform()))
})
