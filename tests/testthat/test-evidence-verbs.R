# evidence(), effects() and verdict() of a simulation.

skip_on_cran() # takes seconds

history_of <- function(policies, rounds = 3000, runs = 2, means = c(control = 0.5, new = 0.65, third = 0.4), ...) {
  dpts_simulate(arms_bernoulli(means), policies, rounds, runs = runs, seed = 1, history = TRUE, ...)
}

test_that("the releases that are kept are those of the history: sums of what was tossed, and only noise beside", {
  sim <- history_of(list(open = policy_randomised(block = c(100, 150)), late = policy_randomised(block = 100)), delay = 7)
  for (policy in c("open", "late")) {
    kept <- runs_in(sim)
    i <- which(kept$policy == policy)[1]
    rows <- matrix(kept$releases[[i]][-1], length(RELEASE))
    sizes <- if (policy == "open") c(100, rep(150, 19)) else rep(100, 30)
    ends <- cumsum(sizes)[cumsum(sizes) + 7 <= 3000]
    expect_identical(rows[2, ], rep(ends + 7, each = 3))
    block <- rep(seq_along(sizes), sizes)[seq_len(3000)]
    people <- table(factor(kept$arms[[i]], 1:3), block)[, seq_along(ends)]
    sums <- tapply(kept$rewards[[i]], list(factor(kept$arms[[i]], 1:3), block), sum)[, seq_along(ends)]
    expect_equal(rows[3, ], as.vector(people))
    expect_equal(rows[4, ], as.vector(sums))
    expect_equal(rows[5, ], rep(1 / 3, 3 * length(ends)))
    expect_true(all(rows[6:7, ] == 1))
  }
  # Batches, with their skip
  sim <- history_of(policy_top_two())
  kept <- runs_in(sim)
  rows <- matrix(kept$releases[[1]][-1], length(RELEASE))
  expect_equal(sum(rows[3, ]), max(rows[2, ]))
  expect_equal(sum(rows[4, ]), sum(kept$rewards[[1]][seq_len(max(rows[2, ]))]))
})

test_that("a history changes no number of a policy that skips", {
  arms <- arms_bernoulli(c(0.5, 0.6))
  policies <- list(policy_top_two(mu = 1), policy_gaussian_imed(1), policy_randomised(mu = 1))
  expect_identical(dpts_simulate(arms, policies, 2000, runs = 3, seed = 1, history = TRUE)$reward,
                   dpts_simulate(arms, policies, 2000, runs = 3, seed = 1)$reward)
})

test_that("evidence, effects and verdict agree with the kernels and with each other", {
  sim <- history_of(list(tossed = policy_randomised(mu = 1), found = policy_top_two(mu = 1)))
  for (kind in c("means", "tosses")) {
    x <- sim[sim$policy == "tossed", ]
    e <- evidence(x, kind)
    expect_named(e, c("policy", "run", "t", "arm", "rival", "evidence", "line", "p"))
    expect_true(all(e$line == log(2 / 0.05) & e$p <= 1 & e$p > 0))
    expect_identical(levels(e$arm), c("control", "new", "third"))
    # p falls, to e^-(the highest so far)
    one <- e[e$run == 1 & e$arm == "new" & e$rival == "control", ]
    expect_false(is.unsorted(rev(one$p)))
    expect_equal(one$p, exp(-pmax(cummax(one$evidence), 0)))
    # Who is proved against all, and when
    v <- verdict(x)
    if (kind == "tosses") {
      new <- e[e$run == 1 & e$arm == "new", ]
      least <- tapply(new$evidence, new$t, min)
      first <- as.numeric(names(least)[least >= log(2 / 0.05)][1])
      expect_identical(as.character(v$arm[1]), "new")
      expect_identical(v$t[1], first)
      expect_equal(v$wrong[1], 2 * exp(-max(least)))
      expect_identical(v$missing[1], "")
    }
  }
  effect <- effects(sim, control = "control")
  expect_named(effect, c("policy", "run", "arm", "control", "difference", "lower", "upper", "p"))
  expect_identical(as.character(effect$arm), rep(c("new", "third"), 4))
  truth <- rep(c(0.15, -0.1), 4)
  expect_true(all(effect$lower < truth & truth < effect$upper))
  expect_true(all(effect$lower <= effect$difference & effect$difference <= effect$upper))
  # All three pairs hold together: each at a third of the risk, where two have a half.
  three <- effects(sim)
  expect_identical(nrow(three), 12L)
  two <- effects(sim, control = "control", level = 1 - 0.05 * 2 / 3)
  expect_equal(three[three$control == "control", ], two, ignore_attr = TRUE)
  wide <- effects(sim, control = 1, level = 0.999)
  expect_true(all(wide$lower < effect$lower & wide$upper > effect$upper))
  none <- verdict(history_of(policy_randomised(mu = 0.1), 500), 1e-6)
  expect_true(all(is.na(none$arm)))
  expect_match(none$missing, "leads .* by ")
  # The arm with most evidence may have the lower estimate: it does not lead by less than nothing.
  equal <- verdict(dpts_simulate(arms_bernoulli(c(0.5, 0.5, 0.5)), policy_top_two(mu = 0.3), 1000, runs = 20, seed = 1,
                                 history = TRUE))$missing
  expect_match(equal, "leads [123] by [0-9]|are about equal; ")
  expect_true(any(grepl("equal", equal)))
})

test_that("in other units all that is concluded, also in words, is the same", {
  withr::local_seed(4)
  n <- rep(c(180, 210), 3)
  table <- as_releases(data.frame(arm = c("a", "b"), t = rep(400 * 1:3, each = 2), n, chance = 0.5, whole = TRUE,
                                  sum = rbinom(6, n, c(0.5, 0.55)) + rnorm(6, 0, 3)), "gaussian", 3)
  other <- table
  other$low[] <- -20
  other$high[] <- 20
  quiet <- function(x) suppressMessages(x)
  expect_identical(quiet(evidence(other)), quiet(evidence(table)))
  expect_equal(quiet(evidence(other, against = 2))$p, quiet(evidence(table, against = 0.55))$p)
  for (margin in c(0, 0.02)) {
    plain <- verdict(table, margin = margin)
    found <- verdict(other, margin = 40 * margin)
    expect_equal(found[c("arm", "t", "wrong")], plain[c("arm", "t", "wrong")], ignore_attr = TRUE)
    lead <- function(verdict) as.numeric(sub("^b leads a by (\\S+);.*", "\\1", verdict$missing))
    expect_equal(lead(found), 40 * lead(plain), tolerance = 0.05) # two digits each
    for (at in c("any", "end")) {
      plain <- quiet(effects(table, "a", at = at, margin = margin))
      found <- quiet(effects(other, "a", at = at, margin = 40 * margin))
      for (name in c("difference", "lower", "upper")) expect_equal(found[[name]], 40 * plain[[name]])
      expect_equal(found$p, plain$p)
    }
  }
  plain <- estimates(table)
  found <- estimates(other)
  for (name in c("mean", "lower", "upper")) expect_equal(found[[name]], 40 * plain[[name]] - 20)
})

test_that("evidence against a known rate is for each arm and side, in the unit of rewards", {
  sim <- history_of(list(found = policy_top_two(mu = 1), tossed = policy_randomised(mu = 1)))
  e <- evidence(sim, against = 0.5)
  expect_named(e, c("policy", "run", "t", "arm", "against", "side", "evidence", "line", "p"))
  expect_true(all(e$line == log(6 / 0.05) & e$against == 0.5))
  one <- e[e$policy == "found" & e$run == 1 & e$arm == "new", ]
  expect_identical(one$side, rep(c("above", "below"), nrow(one) / 2))
  above <- one[one$side == "above", ]
  record <- release_records(sim)$records[[1]]
  rows <- record$releases
  hand <- weigh("means", 3, rows[, "arm"], rows[, "t"], rows[, "size"], rows[, "sum"], t(rows[, LAW]), rate = 0.5,
                threshold = log(6 / 0.05))$pair
  expect_equal(above$evidence, hand[, match("new", record$labels)])
  expect_equal(above$p, exp(-pmax(cummax(above$evidence), 0)))
  # It is known sooner that 0.65 is above 0.5 than that it is above an arm of 0.5.
  expect_lt(above$t[above$evidence >= log(2 / 0.05)][1], verdict(sim)$t[1])
  expect_s3_class(ggplot2::autoplot(e), "ggplot")
  # Other ranges and bits: the same sums mean the same
  table <- data.frame(arm = 1, n = c(100, 150), sum = c(60, 100))
  given <- function(...) as_releases(table, noise = "laplace", ...)
  as_rates <- evidence(given(scale = 2), against = 0.5)
  expect_identical(as_rates$line, rep(log(2 / 0.05), 4))
  table$sum <- 10 * table$sum - table$n
  expect_equal(evidence(given(scale = 20, range = c(-1, 9)), against = 4)$evidence, as_rates$evidence)
  bits <- dpts_simulate(arms_bernoulli(c(0.3, 0.6)), policy_local(policy_ucb1(), 2), 2000, runs = 1, seed = 1, history = TRUE)
  e <- evidence(bits, against = 0.45)
  proved <- unique(paste(e$arm, e$side)[e$evidence >= e$line])
  expect_true("2 above" %in% proved && all(proved %in% c("1 below", "2 above")))
  # Correlated noise has a part of the error probability.
  correlated <- history_of(policy_gaussian_imed(1))
  e <- evidence(correlated, against = 0.5)
  expect_equal(unique(e$line), log(6 / (0.8 * 0.05)))
  highest <- function(of) stats::ave(e$evidence, e$run, e$arm, of, FUN = cummax)
  expect_equal(e$p, pmin(1, 0.1 * 0.05 / 3 + exp(-highest(e$side))))
  # A pair has the noise of two of the three arms.
  e <- evidence(correlated)
  expect_equal(e$p, pmin(1, 2 * 0.1 * 0.05 / 3 + exp(-highest(e$rival))))
  expect_lt(min(e$p), 0.9)
  # So has a difference: of both sides for two signs, which is all that is left of p where arms are far apart.
  apart <- history_of(policy_gaussian_imed(5), 2e4, 1, c(0.05, 0.95))
  expect_equal(c(effects(apart)$p, effects(apart, margin = 0.01)$p) / (0.1 * 0.05 / 2), c(4, 2), tolerance = 0.01)
  # The noise of arms that have gone counts, too: what is left of an error where all is clear.
  all <- dpts_releases(history_of(policy_gaussian_imed(5), 1e4, 1, c(0.05, 0.1, 0.15, 0.95)))
  went <- transform(all[match(2:3, all$arm), ], t = max(all$t), block = NA, n = 0, sum = 0, terms = 0, event = "retired")
  left <- as_releases(rbind(all, went))
  expect_setequal(as.character(evidence(left)$rival), c("1", "4"))
  expect_equal(min(evidence(left)$p) / (2 * 0.1 * 0.05 / 4), 1, tolerance = 0.05)
  expect_equal(min(evidence(left, against = 0.5)$p) / (0.1 * 0.05 / 4), 1, tolerance = 0.05)
  expect_equal(verdict(left)$wrong / (0.1 * 0.05), 1, tolerance = 0.05)
  # By tosses, for whoever tosses
  e <- evidence(sim[sim$policy == "tossed", ], "tosses", against = 0.5)
  record <- release_records(sim[sim$policy == "tossed", ])$records[[2]]
  rows <- record$releases
  new <- record$labels[rows[, "arm"]] == "new"
  hand <- vapply(c(1, -1), function(sign) {
    rate_by_tosses(rows[new, "size"], matrix(rows[new, "sum"]), c(2, 1, 0, 0), sign, 0.5)
  }, 0)
  end <- e[e$run == 2 & e$arm == "new", ]
  expect_equal(tail(end$evidence, 2), hand)
  expect_equal(unique(e$line), log(6 / 0.05))
  expect_error(evidence(sim, "tosses", against = 0.5), "does not randomise people", class = "dpts_error_input")
  expect_error(evidence(sim, against = 1.5), "range of the rewards", class = "dpts_error_input")
  expect_error(evidence(sim, against = c(0.1, 0.2)), "`against`", class = "dpts_error_input")
})

test_that("evidence against a rate is that of an arm's own rows, whichever arms have gone, and of bits in any range", {
  quiet <- function(x) withr::with_options(list(rlib_message_verbosity = "quiet"), x)
  block <- function(b, arm) {
    data.frame(arm, block = b, n = 60, sum = c(10, 20, 40)[arm] + b, chance = 1 / length(arm), t = 180 * b, event = NA)
  }
  went <- data.frame(arm = 1, block = NA, n = 0, sum = 0, chance = NA, t = 360, event = "retired")
  rows <- transform(rbind(block(1, 1:3), block(2, 1:3), went, block(3, 2:3)), floor = 0.5)
  for (kind in c("means", "tosses")) {
    left <- quiet(evidence(as_releases(rows, "gaussian", 1), kind, against = 0.5))
    all <- quiet(evidence(as_releases(rows[is.na(rows$event), ], "gaussian", 1), kind, against = 0.5))
    all <- all[all$arm != 1, ]
    expect_equal(lapply(left, as.vector)[names(left) != "arm"], lapply(all, as.vector)[names(all) != "arm"])
    expect_equal(as.character(left$arm), as.character(all$arm))
  }
  bits <- function(low, high, ...) {
    as_releases(data.frame(arm = 1:2, n = 100, sum = low * 100 + (high - low) * c(30, 60), ...), "none", range = c(low, high))
  }
  # A bit is 1 with the chance 0.2 + 0.6 rate.
  one <- quiet(evidence(bits(0, 1), "means", against = 0.2 + 0.6 * 0.4))$evidence
  for (low in c(0, 2, -5)) {
    expect_equal(quiet(evidence(bits(low, low + 7, flip = 0.2), "means", against = low + 7 * 0.4))$evidence, one)
  }
})

test_that("a margin is right in permuted blocks, and beyond the range of rewards", {
  # Arm 1 is worse by 0.92: with the wrong normaliser it was proved to be within 0.9 of the best in 98% of runs.
  sim <- history_of(policy_randomised(block = 4000, permuted = TRUE), 4000, 40, c(0.04, 0.96))
  expect_false(any(as.integer(verdict(sim, margin = 0.9)$arm) %in% 1))
  # Rewards of [0, 0.1]: every arm is within 0.5.
  arms <- arms_custom(function(arm, n) stats::runif(n, 0, 0.1), means = c(0.05, 0.05), range = c(0, 0.1))
  for (policy in list(policy_randomised(block = 100), policy_randomised(block = 100, permuted = TRUE), policy_top_two(mu = 1))) {
    v <- verdict(dpts_simulate(arms, policy, 1000, runs = 1, seed = 1, history = TRUE), margin = 0.5)
    expect_identical(list(is.na(v$arm), v$wrong, v$missing), list(FALSE, 0, ""))
  }
})

test_that("the verdict of a simulation is that of top two, at the same release", {
  sim <- history_of(policy_top_two(mu = 1, error = 0.05), runs = 5)
  v <- verdict(sim, 0.05)
  found <- dpts_identify(arms_bernoulli(c(0.5, 0.65, 0.4)), policy_top_two(mu = 1), runs = 5, seed = 1, limit = 3000)
  expect_identical(v$t, found$people)
  expect_identical(as.integer(v$arm), found$arm)
})

test_that("a replay concludes as a simulation does, and as the live session's rows say", {
  withr::local_seed(1)
  n <- 6000
  arm <- sample(c("control", "new"), n, TRUE)
  log <- data.frame(arm = arm, reward = stats::rbinom(n, 1, ifelse(arm == "new", 0.75, 0.4)))
  policies <- list(tossed = policy_randomised(mu = 1, block = 100), found = policy_top_two(mu = 1))
  replay <- dpts_replay(log, policies, runs = 2, seed = 1, delay = c(0, 10))
  v <- verdict(replay)
  expect_named(v, c("policy", "delay", "run", "arm", "t", "wrong", "missing"))
  expect_identical(as.character(v$arm), rep("new", 8))
  e <- effects(replay)
  expect_true(all(e$lower < 0.35 & e$upper > 0.35 & e$lower > 0))
  expect_identical(levels(evidence(replay)$rival), c("control", "new"))
  # Equal arms, of which the logger showed one to people who do well: only rejection compares them.
  good <- stats::rbinom(n, 1, 0.5)
  arm[] <- ifelse(stats::runif(n) < 0.2 + 0.6 * good, "new", "control")
  biased <- data.frame(arm, reward = stats::rbinom(n, 1, 0.3 + 0.4 * good),
                       propensity = ifelse(good == (arm == "new"), 0.8, 0.2))
  for (conclude in list(verdict, effects, evidence)) {
    expect_error(conclude(dpts_replay(biased, policies, runs = 1, seed = 1)), "favour what the logger favoured",
                 class = "dpts_error_verdict")
  }
  expect_identical(is.na(verdict(dpts_replay(biased, policies, runs = 1, seed = 1, method = "rejection"))$arm), c(TRUE, TRUE))
  # The rows of a live session, by what it releases, add up to its report
  session <- live_session(policy_randomised(mu = 1, block = 50), 2, NULL, NULL)
  session_start(session)
  rows <- NULL
  for (i in 1:120) {
    at <- session_play(session, NULL, NULL)
    session_feed(session, at[2], at[1], at[3], 1, NULL)
    rows <- rbind(rows, take_sums(session))
  }
  colnames(rows) <- RELEASE
  expect_identical(rows[, "t"], c(50, 50, 100, 100))
  report <- session_arms(session)$report
  expect_equal(c(rowsum(rows[, c("size", "sum")], rows[, "arm"])), unname(c(report$rewards, report$sum)), ignore_attr = TRUE)
  expect_equal(rows[, "chance"], rep(0.5, 4))
  session_restore(session, session_save(session))
  expect_identical(nrow(take_sums(session)), 0L)
  expect_equal(live_noise(report), list(noise = 2, scale = 1, weight = 0, grid = 2^-20), tolerance = 1e-3)
})

test_that("of an arm without releases no difference is told, and its interval is what the others allow", {
  early <- history_of(policy_top_two(mu = 0.1), 900, runs = 1) # first batches of 334 people
  effect <- effects(early)
  expect_identical(is.na(effect$difference), c(FALSE, TRUE, TRUE))
  expect_true(all(effect$lower[-1] < 0 & effect$upper[-1] > 0 & effect$p[-1] == 1))
  expect_identical(nrow(autoplot(effect)$data), 1L) # what has no estimate has no mark
  expect_identical(verdict(early)$missing, "Nothing was released yet of third; too early to say how many more people.")
  one <- as_releases(data.frame(t = 5, block = 1, arm = c("a", "b"), n = c(1, 4), sum = 1, noise = "gaussian", scale = 0.01))
  expect_match(verdict(one)$missing, "^a leads b by 0.75;") # an arm with one person has a mean
  # With all released: as many people more as the leader's evidence, growing as so far, is from the line
  arms <- arms_bernoulli(c(a = 0.6, b = 0.5, c = 0.4))
  sim <- dpts_simulate(arms, policy_randomised(mu = 1), 1500, runs = 1, seed = 1, history = TRUE)
  now <- verdict(sim)
  last <- subset(evidence(sim, "tosses"), t == now$t)
  least <- max(tapply(last$evidence, last$arm, min))
  expect_gt(least, 0.5)
  expect_match(now$missing, sprintf("^a leads b by [0-9.]+; at this pace about %s more people[.]$",
                                    format(signif(now$t * (last$line[1] - least) / least, 2), big.mark = ",")))
  agent <- dpts_agent(policy_randomised(), c("a", "b", "c"), use = "arrival")
  nothing <- effects(agent)
  expect_identical(nothing[c("difference", "lower", "upper", "p")],
                   tibble::tibble(difference = rep(NA_real_, 3), lower = -1, upper = 1, p = 1), ignore_attr = TRUE)
  expect_false(any(is.nan(nothing$difference)))
})

test_that("arms that are released together know nothing of each other: their order changes no evidence", {
  withr::local_seed(9)
  size <- ceiling(60 * 1.3^(0:11))
  t <- cumsum(2 * size)
  sums <- function(p) stats::rbinom(12, size, p) + stats::rnorm(12, sd = 2)
  own <- list(sums(0.6), sums(0.45))
  # The shares of capital that are announced depend on the sums, and the evidence on the shares.
  look <- function(first, threshold) {
    weigh("means", 2, rep(1:2, 12), rep(t, each = 2), rep(size, each = 2), c(rbind(own[[first]], own[[3 - first]])),
          c(2, 2, 0, 0.65), risk = 0.0005, threshold = threshold)$pair
  }
  expect_equal(look(1, log(1 / 0.009))[, 3], look(2, log(1 / 0.009))[, 2], tolerance = 1e-12)
  expect_gt(max(abs(look(1, log(1 / 0.009))[, 3] - look(1, Inf)[, 3])), 0.01)
})

test_that("what is released at the end is evidence if all its rewards are in, and else only a sum", {
  policies <- list(tossed = policy_randomised(mu = 1, block = 400), found = policy_top_two(mu = 1, error = 1e-6))
  for (delay in c(0, 30)) {
    sim <- history_of(policies, 1000, finish = TRUE, delay = delay)
    plain <- history_of(policies, 1000, delay = delay)
    # Every reward that came is in a sum
    expect_equal(unique(tapply(estimates(sim)$rewards, paste(estimates(sim)$policy, estimates(sim)$run), sum)),
                 1000 - delay, ignore_attr = TRUE)
    looks <- function(x) tapply(evidence(x)$t, evidence(x)$policy, max)
    if (delay == 0) expect_true(all(looks(sim) == 1000)) else
      expect_identical(looks(sim)[["tossed"]], looks(plain)[["tossed"]])
    expect_identical(looks(plain)[["tossed"]], 800 + delay)
  }
})

test_that("intervals of effects hold the running average under drift, and means of fixed arms", {
  withr::local_seed(1)
  # Means drift together and apart: the average over all people is known from the world
  arms <- arms_drift(arms_bernoulli(c(0.3, 0.5)), arms_bernoulli(c(0.6, 0.4)), period = 3000)
  sim <- dpts_simulate(arms, policy_randomised(mu = 1, rule = "top_two", block = 200), 3000, runs = 40, seed = 2,
                       history = TRUE)
  means <- arm_means(arms, 3000)
  truth <- mean(means[, 2] - means[, 1])
  effect <- effects(sim, level = 0.8)
  expect_gte(mean(effect$lower <= truth & truth <= effect$upper), 0.8)
  # A drifting null is seldom rejected
  null <- arms_drift(arms_bernoulli(c(0.2, 0.2)), arms_bernoulli(c(0.6, 0.6)), period = 3000)
  sim <- dpts_simulate(null, policy_randomised(mu = 1, rule = "thompson", block = 100), 3000, runs = 60, seed = 3,
                       history = TRUE)
  expect_lte(mean(!is.na(verdict(sim, 0.1)$arm)), 0.2)
})

test_that("by tosses: intervals hold the average so far at all looks, under drift and with late rewards", {
  arms <- arms_drift(arms_bernoulli(c(0.6, 0.3)), arms_bernoulli(c(0.2, 0.5)), period = 2000)
  gap <- cumsum(apply(arm_means(arms, 3000), 1, diff)) / seq_len(3000)
  for (delay in c(0, 150)) {
    sim <- dpts_simulate(arms, policy_randomised(mu = 1, rule = "thompson", block = 100), 2000, runs = 40, seed = 4 + delay,
                         history = TRUE, delay = delay)
    covered <- vapply(release_records(sim)$records, function(record) {
      rows <- record$releases
      all(vapply(seq_len(nrow(rows) / 2), function(i) {
        record$releases <- rows[seq_len(2 * i), , drop = FALSE]
        low <- record_evidence(record, "tosses", interval = log(2 / 0.2))$difference
        low[2, 1] <= gap[100 * i] && gap[100 * i] <= -low[1, 2]
      }, NA))
    }, NA)
    expect_gte(mean(covered), 0.8)
  }
})

test_that("by means: intervals hold the difference at all looks, with late rewards and correlated noise", {
  for (policy in list(policy_top_two(epsilon = 0.5), policy_gaussian_imed(1), policy_dp_se(2, 0.5))) {
    sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.45)), policy, 2000, runs = 16, seed = 6, history = TRUE, delay = 20)
    covered <- vapply(release_records(sim)$records, function(record) {
      record$again <- TRUE # says nothing
      to <- noise_share(record$correlation, 2, 0.2, signs = 2)
      rows <- record$releases
      all(vapply(seq(nrow(rows), 1, by = -2), function(i) {
        record$releases <- rows[seq_len(i), , drop = FALSE]
        low <- record_evidence(record, "means", interval = log(2 / to$left), risk = to$risk)$difference
        low[2, 1] <= -0.15 && -0.15 <= -low[1, 2]
      }, NA))
    }, NA)
    expect_gte(mean(covered), 0.8)
  }
})

test_that("of a local policy the bits are evidence, in the unit of rewards", {
  arms <- arms_bernoulli(c(a = 0.3, b = 0.6))
  policies <- list(ucb = policy_local(policy_ucb1(), 2), tossed = policy_local(policy_randomised(block = 100), 2),
                   found = policy_local(policy_top_two(margin = 0.1), 2))
  sim <- dpts_simulate(arms, policies, 2000, runs = 20, seed = 1, history = TRUE, delay = 5)
  # The rows of bits: a tenth more each time, sums of bits as the estimates have them
  kept <- runs_in(sim)
  rows <- matrix(kept$releases[[which(kept$policy == "ucb")[1]]][-1], length(RELEASE))
  each <- split(rows[3, ], rows[1, ])
  for (size in each) expect_true(all((size[-1] - ceiling(0.1 * cumsum(size)[-length(size)] + 10)) %in% 0:1)) # 1.1 is rounded
  expect_true(all(rows[4, ] == round(rows[4, ]) & rows[4, ] <= rows[3, ]))
  # Each bit is in the table, of an arm that has few of them too
  for (n in c(6, 40)) {
    few <- dpts_simulate(arms, policies["ucb"], n, runs = 1, seed = 1, history = TRUE)
    expect_equal(as.vector(rowsum(dpts_releases(few)$n, as.integer(dpts_releases(few)$arm))), pulls(few)$pulls)
  }
  effect <- effects(sim, level = 0.8)
  expect_gte(min(tapply(effect$lower <= 0.3 & 0.3 <= effect$upper, effect$policy, mean)), 0.8)
  # By hand: the interval of the bits' means over 1 - 2 q
  record <- release_records(sim)$records[[1]]
  out <- weigh("means", 2, rows[1, ], rows[2, ], rows[3, ], rows[4, ], c(2, 0, 0, 0), terms = rows[6, ],
               interval = log(2 / 0.2))$lower
  expect_equal(c(effect$lower[1], effect$upper[1]), c(out[2, 1], -out[1, 2]) / tanh(1), tolerance = 1e-12)
  v <- verdict(sim, margin = 0.1)
  expect_true(all(v$arm == "b", na.rm = TRUE) && mean(!is.na(v$arm)) > 0.9)
  expect_equal(nrow(evidence(sim[sim$policy == "tossed", ], "tosses")), 2 * 20 * 19)
  # A margin of the bits' policy is less than that of rewards
  found <- dpts_identify(arms_bernoulli(c(0.5, 0.5)), policies[c(1, 2)], margin = 0.3, limit = 4000, runs = 10, seed = 1)
  expect_true(all(found$correct))
  plan <- dpts_plan(policies["tossed"], arms, 2000, runs = 50, seed = 1)
  expect_lt(abs(plan$width - 2 * 1.96 * 2 * sqrt(0.25 / 2000) / tanh(1)), 0.01)
  bad <- function(policy, what, ...) {
    sim <- dpts_simulate(arms, policy, 1500, runs = 1, seed = 1, history = TRUE, ...)
    expect_error(verdict(sim), what, class = "dpts_error_input")
  }
  bad(policy_local(policy_dp_imed(1), 1), "has a guarantee of its own, which does not publish its bits")
  bad(policy_restart(policy_top_two(), 100), "restarts, and evidence needs a policy that does not")
  bad(policy_local(policy_ts_gaussian(), 1), "must hold when bits came: runs of policy")
})

test_that("of a local policy around a private one noisy sums of the bits are evidence, with the law of their noise", {
  for (policy in list(policy_local(policy_randomised(mu = 0.1, block = 20), 2), policy_local(policy_gaussian_imed(0.1), 2))) {
    sim <- dpts_simulate(arms_bernoulli(c(0.5, 0.5)), policy, 1500, runs = 60, seed = 1, history = TRUE)
    agent <- dpts_agent(policy, 2, use = "arrival")
    agent_reward(agent, agent_choose(agent, 250)$ticket, 1)
    for (table in list(dpts_releases(sim), dpts_releases(agent))) {
      expect_identical(unique(table$noise), "gaussian")
      expect_equal(unique(table$scale), 10, tolerance = 1e-3)
      released <- is.na(table[["event"]] %||% NA)
      expect_true(all(table$whole[released]))
      expect_gt(mean(table$sum[released] != round(table$sum[released])), 0.9) # as sums of bits alone are not
    }
    suppressMessages(expect_lte(mean(!is.na(verdict(sim)$arm)), 0.05))
    range <- estimates(sim, 0.8)
    expect_gte(mean(range$lower <= 0.5 & range$upper >= 0.5), 0.8)
  }
})

test_that("two equal arms stop in at most 2 error of 2,000 runs", {
  skip_unless_extended()
  policies <- list(a = policy_top_two(mu = 0.2, error = 0.2), b = policy_top_two(epsilon = 0.2, error = 0.2),
                   c = policy_top_two(error = 0.2), d = policy_randomised(mu = 0.5), e = policy_gaussian_imed(1),
                   f = policy_dp_imed(1))
  for (m in c(0.5, 0.9)) {
    same <- dpts_identify(arms_bernoulli(c(m, m)), policies, error = 0.2, runs = 2000, seed = 1, limit = 2e4)
    expect_lte(max(1 - summary(same)$undecided), 0.4)
  }
})

test_that("a p-value of effects is that of evidence in both directions", {
  sim <- history_of(policy_randomised(mu = 5), 5000, means = c(control = 0.5, new = 0.65, third = 0.5))
  e <- evidence(sim, "tosses")
  f <- effects(sim)
  highest <- mapply(function(run, a, b) max(0, e$evidence[e$run == run & e$arm %in% c(a, b) & e$rival %in% c(a, b)]),
                    f$run, f$arm, f$control)
  expect_equal(f$p, pmin(1, 2 * exp(-highest)))
  expect_true(any(f$p < 0.5) && any(f$p == 1))
  expect_true(all(f$p[f$lower > 0 | f$upper < 0] <= 0.05))
  # Of correlated noise each arm's may be beyond its bound, to either side, with a fifth of the error among all arms
  # and signs: what is as sure as can be still has the part of both arms, on both sides or, with a margin, on one.
  sure <- as_releases(data.frame(arm = rep(1:3, 4), n = 1e5, sum = c(9e4, 1e4, 5e4), scale = 1, noise = "gaussian", correlation = 0.5))
  gone <- sure[c(1:12, 3), ]
  gone[13, c("n", "sum")] <- 0
  gone$event <- rep(c(NA, "retired"), c(12, 1))
  gone$t[13] <- gone$t[12]
  for (x in list(sure, gone)) expect_equal(suppressMessages(verdict(x))$wrong, 0.1 * 0.05)
  expect_equal(suppressMessages(effects(sure))$p, rep(4 * 0.2 * 0.05 / 6, 3))
  expect_equal(suppressMessages(effects(sure, control = 2, margin = 0.1))$p, rep(2 * 0.2 * 0.05 / 6, 2))
})

test_that("of means that do not change the intervals of all looks hold, so p-values, intervals and looks agree", {
  sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.5)), policy_top_two(1), 1500, runs = 40, seed = 1, history = TRUE)
  e <- effects(sim)
  expect_identical(e$p < 0.05, e$lower > 0 | e$upper < 0)
  expect_gt(sum(e$p < 0.05), 5)
  expect_true(all(e$lower <= -0.1 & -0.1 <= e$upper))
  # Intervals never grow: as of later rounds they are inside those of earlier ones.
  table <- dpts_releases(sim[sim$run == 4, ])
  early <- do.call(rbind, lapply(unique(table$t), function(t) as.data.frame(effects(table[table$t <= t, ]))))
  expect_gt(length(unique(early$lower)), 5)
  expect_false(is.unsorted(early$lower) || is.unsorted(-early$upper))
  # The best of all looks is found: the bounds of each look alone, by the rule's own bisection
  record <- release_records(table)$records[[1]]
  ask <- list(kind = "means", margin = 0, threshold = Inf, interval = log(2 / 0.05), risk = 0, rate = NA_real_, running = FALSE,
              floor = 0, permuted = FALSE, strata = 1)
  alone <- vapply(unique(table$t), function(t) {
    rows <- record$releases[record$releases[, "t"] <= t, , drop = FALSE]
    input <- cbind(rows, look = cumsum(!duplicated(rows[, "block"])))[, WEIGHED, drop = FALSE]
    .Call(C_evidence, 2L, input, ask, NULL, Inf)$lower[c(2, 3)]
  }, numeric(2))
  expect_equal(rbind(early$lower, -early$upper), t(apply(alone, 1, cummax)), tolerance = 1e-6, ignore_attr = TRUE)
  expect_false(isTRUE(all.equal(alone, t(apply(alone, 1, cummax)), tolerance = 1e-3)))
  # Means that change: no difference agrees with all looks.
  changed <- as_releases(data.frame(arm = c("a", "b"), n = 400, sum = c(360, 40, 40, 360, 0, 400, 0, 400)), "none")
  expect_identical(unlist(effects(changed)[c("lower", "upper")]), c(lower = NA_real_, upper = NA_real_))
  expect_false(is.na(effects(changed)$difference))
  # So it is where both bounds come to pass the estimate at one look: the interval is not the point between them.
  shared <- as_releases(data.frame(arm = c("a", "b"), n = 100, sum = rep(c(20, 90), each = 14),
                                   block = rep(1:14, each = 2), t = 200 * rep(1:14, each = 2)), "none")
  expect_equal(effects(shared[seq_len(26), ])$upper, 0.0035658, tolerance = 1e-3)
  expect_identical(unlist(effects(shared)[c("lower", "upper")]), c(lower = NA_real_, upper = NA_real_))
})

test_that("a difference weighs blocks by what is known of them: one person and much noise are little", {
  blocks <- data.frame(arm = c("a", "b"), n = c(1, 149, 70, 80, 90, 60), sum = c(3.67, 50, 25, 30, 31.5, 17),
                       block = rep(1:3, each = 2), chance = 0.5)
  found <- effects(as_releases(blocks, "gaussian", 2), control = "a")
  a <- blocks[blocks$arm == "a", ]
  b <- blocks[blocks$arm == "b", ]
  gap <- b$sum / b$n - a$sum / a$n
  variance <- (0.25 + 4 / a$n) / a$n + (0.25 + 4 / b$n) / b$n
  expect_equal(found$difference, sum(gap / variance) / sum(1 / variance))
  expect_lt(abs(found$difference), 0.1)
})

test_that("with a margin the verdict names the arm that leads among those that are proved", {
  for (means in list(c(0.5, 0.56), c(0.56, 0.5))) {
    arms <- arms_bernoulli(means)
    for (policy in list(policy_randomised(block = 500), policy_top_two())) {
      sim <- dpts_simulate(arms, policy, 4000, runs = 12, seed = 1, history = TRUE)
      v <- suppressMessages(verdict(sim, margin = 0.15))
      expect_gt(sum(!is.na(v$arm)), 9)
      # At that look no other arm was ahead of it, or else it was not proved.
      for (i in which(!is.na(v$arm))) {
        then <- dpts_releases(sim[sim$run == v$run[i], ])
        then <- then[then$t <= v$t[i], ]
        ahead <- suppressMessages(effects(then, control = v$arm[i]))$difference > 0
        if (ahead) {
          w <- record_evidence(release_records(then)$records[[1]], evidence_kind(release_design(policy, 2)), 0.15)$pair
          expect_lt(w[nrow(w), if (v$arm[i] == 1) 2 else 3], log(1 / 0.05))
        }
      }
      if (is_true_of(policy, "gives_verdict")) next
      expect_identical(v$arm, dpts_identify(arms, policy, margin = 0.15, runs = 12, seed = 1, limit = 4000)$arm)
    }
  }
  narrow <- arms_custom(function(arm, n) stats::runif(n, 0, 0.1), means = c(0.05, 0.05), range = c(0, 0.1))
  sim <- dpts_simulate(narrow, policy_randomised(block = 100), 300, runs = 2, seed = 1, history = TRUE)
  expect_false(anyNA(verdict(sim, margin = 0.5)$arm))
})

test_that("while an arm had nobody a verdict says that nothing was released of it", {
  sim <- history_of(policy_randomised(mu = 2, block = 5, floor = 0, burn_in = 0), 5, runs = 20, c(a = 0.5, b = 0.6, c = 0.7))
  history <- dpts_history(sim)
  silent <- vapply(split(as.character(history$arm), history$run), function(arm) {
    paste(setdiff(c("a", "b", "c"), arm), collapse = " and ")
  }, "")
  expect_true(all(c("a", "b", "c") %in% silent))
  said <- verdict(sim)$missing
  expect_identical(grepl("^Nothing was released yet of ", said), unname(silent != ""))
  expect_identical(sub("^Nothing was released yet of (.*);.*$", "\\1", said)[silent != ""], unname(silent[silent != ""]))
})

test_that("evidence of many runs shows a bar where calls are watched, and is the same", {
  sim <- history_of(policy_randomised(), 500, runs = 5)
  withr::local_options(cli.progress_show_after = 0)
  watched <- function() {
    work$show <- TRUE
    on.exit(work$show <- NULL)
    evidence(sim, "tosses")
  }
  shown <- capture.output(loud <- watched(), type = "message")
  expect_identical(loud, evidence(sim, "tosses"))
  skip_if(!nzchar(Sys.getenv("CLI_NO_THREAD")), "cli draws when its clock says so")
  expect_match(paste(shown, collapse = " "), "Weighing .*% .*ETA")
})

test_that("what is no result and no agent is refused in the same words by all", {
  for (ask in list(dpts_releases, evidence, effects, verdict)) {
    expect_error(ask(1), "must be a result of `dpts_simulate(history = TRUE)` or `dpts_replay()`, an agent, or a",
                 fixed = TRUE, class = "dpts_error_input")
  }
})

test_that("what is proved by means says once what it assumes", {
  sim <- history_of(list(found = policy_top_two(), tossed = policy_randomised(), fixed = policy_randomised(permuted = TRUE)), 500)
  said <- function(ask, policy, what) {
    rm(list = "means", envir = messages_shown)
    expect_message(ask(sim[sim$policy == policy, ]), what, class = "dpts_message_means")
    expect_message(ask(sim[sim$policy == policy, ]), NA)
  }
  said(effects, "found", "does not randomise people to arms.*blocks of one arm.*Nothing here protects against a time trend")
  said(verdict, "found", "does not randomise people to arms")
  said(evidence, "tossed", "is judged by means.*evidence\\(kind = \"tosses\"\\)")
  said(effects, "fixed", "randomises in fixed numbers")
  rm(list = "means", envir = messages_shown)
  expect_message(verdict(sim[sim$policy != "found", ]), NA)
})

test_that("a printed verdict has its sentences whole, below the table", {
  sim <- history_of(list(found = policy_top_two(mu = 1), "Gaussian IMED" = policy_gaussian_imed(0.5)), 1000, runs = 12)
  v <- verdict(sim)
  for (width in c(40, 80)) {
    lines <- withr::with_options(list(width = width), format(v))
    expect_lte(max(nchar(lines)), width)
    text <- gsub("\\s+", " ", paste(lines, collapse = " "))
    open <- which(is.na(v$arm))
    expect_gt(length(open), 10)
    for (i in open[1:10]) expect_match(text, sprintf("missing, row %d: %s", i, v$missing[i]), fixed = TRUE)
    expect_match(text, sprintf("and of %d more row", length(open) - 10))
  }
  expect_match(paste(format(v[open[1], ]), collapse = " "), paste("missing:", v$missing[open[1]]), fixed = TRUE)
  expect_false(any(grepl("missing", format(v[!is.na(v$arm), ]))))
  expect_s3_class(v["arm"], "tbl_df")
  expect_output(print(v["arm"]), "arm")
})

test_that("what cannot be had is refused by name", {
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  arms <- arms_bernoulli(c(0.5, 0.6))
  plain <- dpts_simulate(arms, policy_randomised(), 500, runs = 2, seed = 1)
  bad(evidence(plain), "`x` must hold its history")
  bad(dpts_simulate(arms, policy_ucb1(), 500, finish = TRUE), "`finish` must be FALSE where no policy releases sums of batches")
  bad(dpts_replay(open_bandit, policy_ucb1(), finish = TRUE), "`finish` must be FALSE")
  open <- dpts_simulate(arms, policy_ucb1(), 500, runs = 2, seed = 1, history = TRUE)
  bad(verdict(open), "`x` must allow a verdict: policy \"ucb1\" releases no sums of batches")
  sim <- dpts_simulate(arms, policy_top_two(), 500, runs = 2, seed = 1, history = TRUE)
  bad(evidence(sim, "tosses"), "`kind` must be \"means\" for policy \"top_two\"")
  bad(effects(sim, at = "end"), "`object` has no evidence on policy \"top_two\", which does not randomise") # no `kind` there
  bad(verdict(sim, 0), "`error`")
  bad(verdict(sim, 0.05, -1), "`margin`")
  bad(effects(sim, control = "drug"), "`control` must be one of the arms")
  bad(effects(sim, level = 1), "`level`")
  bad(evidence(sim, kind = "p"), "`kind`")
})

test_that("against a rate each arm has two claims, and all of them share the error", {
  for (k in 2:3) {
    sim <- history_of(policy_randomised(block = 100), means = c(0.5, 0.65, 0.4)[seq_len(k)])
    for (kind in c("tosses", "means")) {
      e <- suppressMessages(evidence(sim, kind, against = 0.5, error = 0.04))
      expect_equal(unique(e$line), log(2 * k / 0.04))
    }
  }
})

test_that("a policy of which there is no evidence says why", {
  why <- list(
    "restarts" = policy_restart(policy_dp_imed(1), 100), "reads contexts: its arms" = policy_local(policy_lin_ts(), 1),
    "does not publish its bits" = policy_local(policy_dp_imed(1), 1), "reads contexts and gives" = policy_linucb(1),
    "releases no sums" = policy_ucb1()
  )
  for (reason in names(why)) expect_match(no_evidence(why[[reason]]), reason, fixed = TRUE)
  for (policy in list(policy_dp_imed(1), policy_randomised(mu = 1), policy_local(policy_ucb1(), 1))) expect_null(no_evidence(policy))
})

test_that("answers to different questions are not put together by rbind()", {
  sim <- dpts_simulate(arms_bernoulli(c(0.3, 0.6)), policy_randomised(mu = 1, block = 50), 300, runs = 2, seed = 4, history = TRUE)
  both <- rbind(effects(sim[sim$run == 1, ]), effects(sim[sim$run == 2, ]))
  expect_identical(nrow(both), 2L)
  expect_s3_class(both, "dpts_effects")
  refused <- function(name, one, other) {
    expect_error(rbind(one, other), sprintf("differ in `%s`", name), class = "dpts_error_join")
  }
  refused("level", effects(sim), effects(sim, level = 0.5))
  refused("at", effects(sim), effects(sim, at = "end"))
  refused("margin", effects(sim), effects(sim, margin = 0.1))
  refused("error", verdict(sim), verdict(sim, error = 0.1))
  refused("margin", verdict(sim), verdict(sim, margin = 0.1))
  refused("against", evidence(sim), evidence(sim, against = 0.5))
  refused("error", evidence(sim), evidence(sim, error = 0.5))
  refused("level", estimates(sim), estimates(sim, level = 0.5))
  refused("margin", forecast(sim, 400, runs = 2, seed = 1), forecast(sim, 400, margin = 0.1, runs = 2, seed = 1))
  refused("kind", evidence(sim, "tosses"), evidence(sim, "means"))
  expect_error(rbind(verdict(sim), effects(sim)), "different kinds", class = "dpts_error_join")
  table <- function(arm) as_releases(data.frame(arm, block = 1, n = 50, sum = c(10, 40), chance = 0.5), "none")
  expect_identical(nrow(rbind(verdict(table(1:2)), verdict(table(1:2)))), 2L) # of two experiments
  expect_error(rbind(verdict(table(1:2)), verdict(table(c("a", "b")))), "numbers in others", class = "dpts_error_join")
})

test_that("no arm is said to lead by more than rewards can differ", {
  table <- as_releases(data.frame(arm = 1:2, n = 50, sum = c(-4e5, 6e5), block = 1, chance = 0.5), "gaussian", 1e6, range = c(0, 10))
  expect_match(verdict(table)$missing, "^2 leads 1 by 10; ")
})
