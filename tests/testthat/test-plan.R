skip_on_cran() # takes seconds

two <- function(a, b) arms_bernoulli(c(a = a, b = b))

test_that("power of equal allocation is that of the closed form, and nothing false is claimed too often", {
  plan <- dpts_plan(list(fixed = policy_uniform(), private = policy_randomised(mu = 0.5, block = 1e9)),
                    list(hope = two(0.5, 0.6), null = two(0.5, 0.5)), c(200, 400), runs = 1000, seed = 1)
  hope <- plan[plan$scenario == "hope", ]
  exact <- vapply(c(100, 200), function(n) stats::power.prop.test(n, 0.5, 0.6)$power, 0)
  expect_lt(max(abs(hope$power[hope$design == "fixed"] - exact)), 0.04)
  # Noise of sd 2 in each sum adds 4 / n^2 to the variance of each mean.
  se <- sqrt(0.5 * 0.5 / c(100, 200) + 0.6 * 0.4 / c(100, 200) + 8 / c(100, 200)^2)
  expect_lt(max(abs(hope$power[hope$design == "private"] - stats::pnorm(0.1 / se - stats::qnorm(0.975)))), 0.04)
  expect_lt(max(abs(hope$failures - 0.45 * hope$people)), 1)
  null <- plan[plan$scenario == "null", ]
  expect_true(all(is.na(null$power)))
  expect_true(all(null$false_claims <= 0.05 + 3 * sqrt(0.05 * 0.95 / 1000)))
  expect_true(all(plan$coverage >= 0.95 - 3 * sqrt(0.05 * 0.95 / 1000)))
  # With a control one side is asked for.
  one <- dpts_plan(policy_uniform(), two(0.5, 0.6), 400, control = "a", runs = 2000, seed = 1)
  expect_lt(abs(one$power - stats::power.prop.test(200, 0.5, 0.6, alternative = "one.sided")$power), 0.04)
})

test_that("scores whose squares are released have the power of their own spread, less what was predicted", {
  arms <- function(gap) arms_predicted(c(a = 0.5, b = 0.5 + gap), sd = 0.2, r2 = 0.5)
  design <- function(...) policy_randomised(mu = 0.7, block = 1e9, outcome = "continuous", ...)
  designs <- list(scores = design(), predicted = design(predicted = c(0.3, 0.7)), open = policy_uniform())
  plan <- dpts_plan(designs, list(hope = arms(0.057), null = arms(0)), 400, runs = 1000, seed = 1)
  # Two means of 200, and noise of sd 1 / 0.7 or 2 in each sum
  se <- sqrt(c(2 * 0.04 / 200 + 4.08 / 200^2, 2 * 0.02 / 200 + 8 / 200^2, 2 * 0.04 / 200))
  exact <- stats::pnorm(0.057 / se - stats::qnorm(0.975))
  power <- plan$power[match(paste(names(designs), "hope"), paste(plan$design, plan$scenario))]
  # The squares are on the safe side by a standard deviation of their noise, 1 / 140 of 0.04, and 2 of 0.0102 * 1.96.
  expect_lt(max(power - exact), 0.04)
  expect_gt(min(power - exact), -0.08)
  expect_lt(max(plan$false_claims), 0.05 + 3 * sqrt(0.05 * 0.95 / 1000))
  expect_gt(min(plan$coverage), 0.95 - 3 * sqrt(0.05 * 0.95 / 1000))
})

test_that("adaptive chances, late rewards and a drift leave the level as it is", {
  drift <- arms_drift(c(a = 0.2, b = 0.2, c = 0.2), c(0.6, 0.6, 0.6), "linear", 600)
  plan <- dpts_plan(policy_randomised(mu = 0.5, rule = "thompson", block = 100, control = 1), list(drift = drift), 600,
                    control = "a", delay = 50, batch = 25, runs = 600, seed = 2)
  expect_lt(plan$false_claims, 0.05 + 3 * sqrt(0.05 * 0.95 / 600))
  expect_gt(plan$coverage, 0.95 - 3 * sqrt(0.05 * 0.95 / 600))
  # Success becomes more frequent, and most people get one arm: variances are those of a block, and not of all before
  unequal <- policy_randomised(mu = 2, rule = "thompson", block = 50, control = 1, floor = c(0.05, 0.6), permuted = TRUE)
  plan <- dpts_plan(unequal, arms_drift(c(a = 0.15, b = 0.15), c(0.65, 0.65), "sine", 1500), 1500, error = 0.1, runs = 600,
                    delay = 0:150, batch = 25, seed = 1)
  expect_lt(plan$false_claims, 0.1 + 3 * sqrt(0.1 * 0.9 / 600))
  expect_lt(sum(summary(plan)$proved), 0.1)
  # An arm that looked bad gets nobody in most blocks, which then say nothing new of it: they count all the same
  few <- dpts_plan(policy_randomised(rule = "thompson", block = 10, floor = 0.01), two(0.5, 0.5), 200, runs = 400, seed = 1)
  expect_lt(few$false_claims, 0.05)
  expect_gt(few$coverage, 0.95)
})

test_that("a claim is about the average over all people, whatever drifts", {
  # Both arms have the same mean over all people; levels and differences change together.
  switches <- function(before, after) arms_switch(list(arms_bernoulli(before), arms_bernoulli(after)), at = 301)
  worlds <- list(level = switches(c(0.05, 0), c(0.5, 0.55)), turn = switches(c(0.7, 0.5), c(0.5, 0.7)))
  designs <- list(equal = policy_randomised(), mu = policy_randomised(mu = 0.5), small = policy_randomised(block = 20),
                  thompson = policy_randomised(rule = "thompson", block = 50, floor = 0.1))
  plan <- dpts_plan(designs, worlds, 600, runs = 400, seed = 4)
  expect_lt(max(plan$false_claims), 0.05 + 3 * sqrt(0.05 * 0.95 / 400)) # of blocks by precision 0.4
  expect_gt(min(plan$coverage), 0.95 - 3 * sqrt(0.05 * 0.95 / 400))
})

test_that("Laplace noise has its own quantiles", {
  plan <- dpts_plan(policy_randomised(epsilon = 0.1, block = 1e9), two(0.5, 0.5), 60, error = 0.01, runs = 4000, seed = 1)
  expect_lt(plan$false_claims, 0.01 + 3 * sqrt(0.01 * 0.99 / 4000)) # by normal quantiles 0.019
  # Two Laplace variables of scale 1: a tail of (2 + t) e^-t / 4, a variance of 4
  p <- c(0.95, 0.975, 0.995, 0.9995)
  exact <- vapply(p, function(p) stats::uniroot(function(t) (2 + t) * exp(-t) / 4 - (1 - p), c(0, 100), tol = 1e-9)$root / 2, 0)
  expect_equal(vapply(p, noisy_quantile, 0, matrix(1), matrix(2)), exact, tolerance = 1e-5)
  # One Laplace variable; none; one and a normal one, by integration
  expect_equal(noisy_quantile(0.999, matrix(1), matrix(1))[1], -log(0.002) / sqrt(2), tolerance = 1e-5)
  expect_equal(noisy_quantile(0.975, matrix(0), matrix(0))[1], stats::qnorm(0.975))
  # Of shares and numbers between those that are computed it is that of more noise in fewer variables.
  share <- c(0.104, 0.503, 0.996)
  exact <- vapply(share, function(s) stats::uniroot(function(x) noisy_tail(s, 2.77)(x) - 0.01, c(0, 100), tol = 1e-9)$root, 0)
  expect_true(all(noisy_quantile(0.99, matrix(share), matrix(2.77, 3)) >= exact))
  expect_equal(noisy_quantile(0.99, matrix(share), matrix(2.77, 3))[, 1], exact, tolerance = 0.01)
  # Of heavy tails, as of noise on a grid that is wider than it: a normal variable of gamma variance
  heavy <- function(x) stats::integrate(function(v) stats::dgamma(v, 0.02, 0.02) * stats::pnorm(-x / sqrt(v)), 0, Inf, rel.tol = 1e-8)$value
  expect_equal(heavy(noisy_quantile(0.999, matrix(1), matrix(0.02))[1]), 0.001, tolerance = 0.01)
  expect_true(is.finite(noisy_quantile(0.975, matrix(1), matrix(0.0011))[1]))
  x <- noisy_quantile(0.99, matrix(0.6), matrix(1))[1]
  tail <- stats::integrate(function(e) exp(-e) * stats::pnorm(x / sqrt(0.4 + 0.6 * e), lower.tail = FALSE), 0, Inf)
  expect_equal(tail$value, 0.01, tolerance = 1e-4)
})

test_that("small blocks and many arms cover what they should", {
  few <- dpts_plan(policy_randomised(block = 10), list(two = two(0.3, 0.1)), 300, runs = 300, seed = 4)
  many <- dpts_plan(policy_randomised(block = 48, floor = 0.05), list(many = arms_bernoulli(c(0.5, 0.5, rep(0, 10)))), 1200,
                    control = 1, runs = 300, seed = 4)
  expect_gt(min(few$coverage, many$coverage), 0.95 - 3 * sqrt(0.05 * 0.95 / 300)) # 0.74 and 0.84 by blocks
  expect_lt(max(few$false_claims, many$false_claims), 0.05 + 3 * sqrt(0.05 * 0.95 / 300))
})

test_that("what a run comes to is what R makes of its releases", {
  arms <- arms_bernoulli(c(a = 0.5, b = 0.75, c = 0.3))
  policy <- policy_randomised(mu = 1, rule = "thompson", block = 100)
  sim <- dpts_simulate(arms, policy, 400, runs = 20, seed = 3, record = I(400), history = TRUE)
  job <- dpts:::plan_job(list(s = arms), list(p = policy), data.frame(scenario = "s", people = 400),
                         list(error = 0.05, margin = 0, control = 1, signs = 2, claims = 2, intervals = 2), 1:20, 3, 1, 0L, 1)
  seen <- dpts:::simulate_chunk(job, list(problem = "s 400", policy = "p", run = 1:20 + 0))$trial
  history <- dpts_history(sim)
  longest <- vapply(split(history$arm, history$run), function(arm) max(rle(as.integer(arm))$lengths), 0)
  expect_equal(seen[2, ], unname(longest) + 0)
  expect_equal(seen[1, ], sim$reward)
  # The test of b against a: the mean of the differences in strata of equal chances, weighted by people
  found <- vapply(dpts:::release_records(sim)$records, function(record) {
    table <- as.data.frame(record$releases)
    blocks <- split(table, table$t)
    stratum <- cumsum(c(TRUE, vapply(seq_along(blocks)[-1], function(j) {
      any(abs(blocks[[j]]$chance - blocks[[j - 1]]$chance) > 1e-9)
    }, NA)))
    total <- c(0, 0, 0, 0)
    for (own in split(blocks, stratum)) {
      n <- Reduce(`+`, lapply(own, `[[`, "size"))
      sum <- Reduce(`+`, lapply(own, `[[`, "sum"))
      level <- min(max((sum(sum) + 1) / (sum(n) + 2), 0), 1)
      x <- sum / n
      noise <- length(own) # variance 1 in each sum
      rest <- pmin(pmax((n * x * (1 - x) + noise / n) / (n - 1), 0), 0.25)
      v <- pmax((n * rest + 5 * level * (1 - level)) / (n + 5), 0.01) / n + noise / n^2
      total <- total + c(sum(n) * (x[2] - x[1]), sum(n)^2 * (v[1] + v[2]), sum(n),
                         sqrt(sum(n)) * (x[2] - x[1]) / sqrt(v[1] + v[2]))
    }
    c(total[1] / total[3], sqrt(total[2]) / total[3], total[4] / sqrt(total[3]))
  }, numeric(3))
  # After 3 numbers and 4 by arm there are lower bounds, estimates, errors and Z of 9 pairs; b against a is the second.
  expect_equal(seen[3 + 12 + 9 + 2, ], found[1, ])
  expect_equal(seen[3 + 12 + 18 + 2, ], found[2, ])
  expect_equal(seen[3 + 12 + 27 + 2, ], found[3, ])
  # Lower bounds and proofs are those of effects() and evidence().
  known <- effects(sim, control = "a", level = 0.95)
  expect_equal(seen[3 + 12 + 2, ], known$lower[known$arm == "b"])
  proofs <- evidence(sim, "tosses")
  proofs <- proofs[proofs$arm == "b" & proofs$rival == "a" & proofs$evidence >= log(2 / 0.05), ]
  first <- as.vector(tapply(proofs$t, factor(proofs$run, 1:20), min))
  expect_gt(sum(!is.na(first)), 3)
  expect_equal(ifelse(is.nan(seen[3 + 9 + 2, ]), NA, seen[3 + 9 + 2, ]), first)
  expect_true(all(is.nan(seen[3 + 9 + 1, ]))) # the control is not better than itself
})

test_that("what people got is what the runs of the same seed give, also where means change or differ from run to run", {
  worlds <- list(stays = arms_bernoulli(c(a = 0.2, b = 0.5, c = 0.4)),
                 drift = arms_drift(c(a = 0.2, b = 0.8, c = 0.1), c(0.8, 0.2, 0.1), "linear", 400),
                 walk = arms_walk(c(a = 0.5, b = 0.5, c = 0.5), 0.03))
  designs <- list(ucb = policy_ucb1(), toss = policy_randomised(mu = 1, rule = "thompson", block = 50), fixed = policy_fixed(2))
  plan <- dpts_plan(designs, worlds, 400, runs = 40, seed = 3)
  all <- summary(plan)
  for (name in names(worlds)) for (design in names(designs)) {
    sim <- dpts_simulate(worlds[[name]], designs[[design]], 400, runs = 40, seed = 3, history = TRUE)
    h <- dpts_history(sim)
    row <- plan[plan$scenario == name & plan$design == design, ]
    got <- if (name == "stays") worlds[[name]]$mean[as.integer(h$arm)] else h$reward
    expect_equal(row$failures, 400 - sum(got) / 40, info = paste(name, design))
    shares <- all$share[all$scenario == name & all$design == design]
    expect_equal(shares, tabulate(as.integer(h$arm), 3) / 16000, info = paste(name, design))
    longest <- vapply(split(as.integer(h$arm), h$run), function(arm) max(rle(arm)$lengths), 0L)
    expect_equal(row$longest_run, mean(longest), info = paste(name, design))
    # The arm with the highest estimate is a best one by the means of its own run.
    if (design == "ucb") {
      named <- vapply(split(estimates(sim), estimates(sim)$run), function(x) which.max(x$mean), 0L)
      good <- vapply(1:40, function(run) {
        truth <- if (name == "stays") worlds[[name]]$mean else colMeans(dpts:::arm_means(worlds[[name]], 400, 3, run))
        truth[named[run]] >= max(truth) - 1e-12
      }, NA)
      expect_equal(row$best, mean(good), info = name)
    }
  }
})

test_that("what a plan says of the end is what effects() say of the same runs", {
  for (seed in 1:8) {
    withr::local_seed(seed)
    k <- sample(2:3, 1)
    means <- c(0.5, 0.65, 0.3)[1:k] # the same differences in each stratum
    own <- function(add) stats::setNames(arms_bernoulli(means + add), letters[1:k])
    arms <- if (seed %% 2) own(0.1) else arms_strata(x = own(0.2), y = own(-0.1), z = own(0.1), share = c(0.2, 0.5, 0.3))
    control <- if (stats::runif(1) < 0.6) sample.int(k, 1)
    margin <- if (is.null(control)) 0 else sample(c(0, 0.12), 1)
    budget <- list(list(), list(mu = 1), list(epsilon = 0.5))[[sample(3, 1)]]
    policy <- do.call(policy_randomised, c(budget, list(
      rule = sample(c("equal", "neyman"), 1), block = c(40, sample(25:60, 1)), control = control, permuted = stats::runif(1) < 0.3
    )))
    plan <- dpts_plan(policy, arms, 400, control = control, error = 0.2, margin = margin, runs = 12, seed = seed)
    sim <- dpts_simulate(arms, policy, 400, runs = 12, seed = seed, history = TRUE, finish = TRUE)
    found <- suppressMessages(effects(sim, control, level = 0.8, at = "end", margin = margin))
    found[c("arm", "control")] <- lapply(found[c("arm", "control")], as.integer)
    gap <- means[found$arm] - means[found$control]
    inside <- found$lower - 1e-9 <= gap & gap <= found$upper + 1e-9
    info <- paste(seed, format(policy))
    expect_equal(plan$coverage, mean(tapply(inside, found$run, all)), info = info)
    expect_equal(plan$width, mean(found$upper - found$lower), tolerance = 1e-4, info = info) # quantiles are rounded
    # Arms that are shown to be better than the control, or than all others
    share <- 0.2 / if (is.null(control)) k else k - 1
    one_sided <- if (margin > 0) found$p else ifelse(found$p == 1, 1, found$p / 2)
    claims <- vapply(seq_len(k), function(arm) {
      up <- found$arm == arm & one_sided < share & (margin > 0 | found$difference > 0)
      down <- margin == 0 & found$control == arm & is.null(control) & one_sided < share & found$difference < 0
      tapply(up | down, found$run, sum) == if (is.null(control)) k - 1 else 1
    }, logical(12))
    if (!is.null(control)) claims[, control] <- FALSE
    rival <- if (is.null(control)) vapply(seq_len(k), function(arm) max(means[-arm]), 0) else means[control]
    better <- means + margin > rival + 1e-12
    if (!is.null(control)) better[control] <- FALSE
    expect_equal(plan$false_claims, mean(rowSums(claims[, !better, drop = FALSE]) > 0), info = info)
    aim <- if (margin > 0) which.max(replace(means, control, -1)) else which.max(means)
    expect_equal(plan$power, if (better[aim]) mean(claims[, aim]) else NA_real_, info = info)
  }
})

test_that("in strata an arm is one arm for everybody: who got it, and how long in a row", {
  arms <- arms_strata(north = two(0.2, 0.5), south = two(0.7, 0.3), share = c(0.7, 0.3))
  policy <- policy_randomised(rule = "thompson", block = 30)
  plan <- dpts_plan(policy, arms, 300, runs = 20, seed = 3)
  history <- dpts_history(dpts_simulate(arms, policy, 300, runs = 20, seed = 3, history = TRUE))
  arm <- (as.integer(history$arm) - 1) %% 2 + 1
  expect_equal(plan$longest_run, mean(vapply(split(arm, history$run), function(own) max(rle(own)$lengths), 0L)))
  expect_equal(summary(plan)$share, tabulate(arm, 2) / 6000)
  expect_equal(plan$failures, 300 - sum(arms$mean[as.integer(history$arm)]) / 20)
  # Of two designs, by stratum and not: shares of the people who were in it, which differ from run to run
  designs <- list(noisy = policy_randomised(mu = 1, block = 20), tossed = policy)
  all <- dpts_plan(designs, arms, 300, runs = 20, seed = 3)
  parts <- dpts_plan(designs, arms, 300, runs = 20, seed = 3, by = "stratum")
  for (design in names(designs)) {
    history <- dpts_history(dpts_simulate(arms, designs[[design]], 300, runs = 20, seed = 3, history = TRUE))
    got <- matrix(unclass(table(factor(as.integer(history$arm), 1:4), history$run)), 4)
    check <- function(plan, got, lost) {
      rows <- summary(plan)
      n <- colSums(got)
      expect_equal(rows$share, rowSums(got) / sum(n))
      expect_equal(rows$sd, apply(got / rep(n, each = 2), 1, stats::sd))
      expect_equal(plan$failures, mean(lost))
      expect_equal(plan[["counted"]] %||% 300, mean(n))
    }
    lost <- got * (1 - arms$mean)
    check(all[all$design == design, ], got[1:2, ] + got[3:4, ], colSums(lost))
    for (s in 1:2) {
      check(parts[parts$design == design & parts$stratum == c("north", "south")[s], ], got[2 * s - 1:0, ], colSums(lost[2 * s - 1:0, ]))
    }
  }
})

test_that("power is that of the runs in which there is something to show", {
  walk <- arms_walk(c(a = 0.5, b = 0.5), 0.02)
  plan <- function(runs) dpts_plan(policy_randomised(block = 50), walk, 300, control = "a", runs = runs, seed = 3)
  better <- vapply(1:60, function(run) diff(colMeans(dpts:::arm_means(walk, 300, 3, run))) > 0, NA)
  some <- plan(I(which(better)))$power
  expect_true(some > 0.2 && some < 0.9)
  expect_identical(plan(60)$power, some)
  expect_identical(plan(I(which(!better)))$power, NA_real_)
})

test_that("power is of the best arm, whichever is named", {
  # At a level of .4 for each side a wrong arm is claimed often.
  plan <- dpts_plan(policy_uniform(), two(0.5, 0.51), 100, error = 0.8, runs = 2000, seed = 1)
  shift <- 0.01 / sqrt(2 * 0.25 / 50)
  expect_equal(plan$power, stats::pnorm(shift - stats::qnorm(0.6)), tolerance = 0.08)
  expect_equal(plan$false_claims, stats::pnorm(-shift - stats::qnorm(0.6)), tolerance = 0.08)
  # Of equal arms each is the best.
  expect_identical(dpts_plan(policy_uniform(), two(0.5, 0.5), 50, runs = 20, seed = 1)$best, 1)
})

test_that("intervals are joint: as wide as so many need, and not surer than they say", {
  # Of two arms, by evidence too, there is one interval, whichever is the control.
  two <- lapply(list(NULL, 1, 2), function(control) {
    suppressMessages(dpts_plan(policy_top_two(mu = 2), arms_bernoulli(c(0.6, 0.5)), 400, control = control, runs = 4, seed = 1))
  })
  for (plan in two) expect_equal(plan[c("width", "coverage")], two[[1]][c("width", "coverage")], ignore_attr = TRUE)
  expect_lt(two[[1]]$width, 1)
  for (k in c(2, 4)) for (control in list(NULL, 1)) {
    pairs <- if (is.null(control)) k * (k - 1) / 2 else k - 1
    plan <- dpts_plan(policy_uniform(), arms_bernoulli(rep(0.5, k)), 200 * k, control = control, runs = 1000, seed = 1)
    half <- stats::qnorm(1 - 0.05 / (2 * pairs)) * sqrt(2 * 0.25 / 200)
    expect_equal(plan$width, 2 * half, tolerance = 0.01, info = paste(k, control))
    expect_gt(plan$coverage, 0.95 - 4 * sqrt(0.05 * 0.95 / 1000))
    if (k == 2) expect_lt(plan$coverage, 0.95 + 4 * sqrt(0.05 * 0.95 / 1000))
  }
})

test_that("a z-test is made only where it holds", {
  test_of <- function(policy) unique(summary(dpts_plan(policy, two(0.4, 0.6), 200, runs = 5, seed = 1))$test)
  expect_equal(test_of(policy_uniform()), "z-test")
  expect_equal(test_of(policy_randomised(epsilon = 1, permuted = TRUE)), "z-test")
  expect_equal(test_of(policy_gaussian_imed(mu = 1)), "evidence")
  # Chances that follow the rewards of every round, and a policy that sees bits
  expect_equal(test_of(policy_exp3()), NA_character_)
  expect_equal(test_of(policy_local(policy_uniform(), 1)), NA_character_)
})

test_that("differences of bits are in units of rewards", {
  plan <- dpts_plan(policy_local(policy_randomised(block = 200), 2), arms_bernoulli(c(0.3, 0.8)), 800, runs = 60, seed = 1)
  expect_gt(plan$coverage, 0.85)
})

test_that("a plan waits for all rewards", {
  designs <- list(fixed = policy_randomised(mu = 1, block = 1e9), best = policy_top_two(mu = 1))
  late <- dpts_plan(designs[1], two(0.4, 0.6), 300, delay = 100, batch = 30, runs = 20, seed = 4)
  now <- dpts_plan(designs[1], two(0.4, 0.6), 300, runs = 20, seed = 4)
  expect_equal(as.data.frame(late), as.data.frame(now), ignore_attr = TRUE)
  some <- dpts_plan(designs, two(0.4, 0.6), 300, delay = c(0, 200), runs = 20, seed = 4, threads = 2)
  expect_equal(summary(some)$test[c(1, 3)], c("z-test", "evidence"))
  # Of people who come again a delay may be longer than there are people.
  again <- function(delay) {
    dpts_plan(policy_randomised(rule = "thompson", block = 20), two(0.2, 0.8), 60, visits = 4, delay = delay, runs = 5, seed = 1)
  }
  expect_equal(plain_columns(again(150)), plain_columns(again(function(n) rep(150, n))))
  # Random delays: a full block that had to wait for an older one is released on its own, and every person is in the test
  job <- plan_job(list(s = two(0.4, 0.6)), list(p = policy_randomised(block = 50)), data.frame(scenario = "s", people = 300),
                  list(error = 0.05, margin = 0, control = 0, signs = 2, claims = 2, intervals = 1), 1:50, 4, 1, c(rep(0L, 99), 300L), 1)
  job$observers <- job$keeps <- "releases"
  seen <- simulate_chunk(job, list(problem = "s 300", policy = "p", run = 1:50 + 0))$releases
  sizes <- apply(seen, 2, function(x) {
    rows <- matrix(x[1 + seq_len(length(RELEASE) * x[1])], length(RELEASE))
    c(sum(rows[3, ]), all(rows[6:7, ] == 1))
  })
  expect_true(all(sizes == c(300, 1)))
})

test_that("where there is nothing to detect a plan has as many people as the hardest other scenario needs", {
  plan <- dpts_plan(list(x = policy_uniform(), y = policy_randomised(mu = 0.2, block = 10)),
                    list(easy = two(0.2, 0.8), none = two(0.5, 0.5), hard = two(0.3, 0.6), mid = two(0.3, 0.8)), runs = 20, seed = 1)
  for (own in split(plan, plan$design)) {
    expect_identical(own$people[own$scenario == "none"], max(own$people[own$scenario != "none"]))
    expect_equal(length(unique(own$people)), 3)
  }
})

test_that("the number of people is found", {
  plan <- dpts_plan(list(fixed = policy_uniform(), never = policy_ts_gaussian()),
                    list(hope = two(0.5, 0.65), null = two(0.5, 0.5)), runs = 600, seed = 5)
  exact <- 2 * stats::power.prop.test(p1 = 0.5, p2 = 0.65, power = 0.9)$n
  expect_lt(abs(log(plan$people[1] / exact)), 0.08)
  expect_gte(plan$power[1], 0.9)
  # Where there is nothing to detect, what so many people come to
  null <- dpts_plan(list(fixed = policy_uniform()), list(null = two(0.5, 0.5)), plan$people[1], runs = 600, seed = 5)
  expect_equal(lapply(plan[2, ], as.character), lapply(null, as.character))
  expect_true(all(is.na(plan[3:4, 3:10])))
  # It resumes: the same from a file, which another error cannot use
  file <- tempfile()
  on.exit(unlink(file))
  ask <- function(error, ...) dpts_plan(policy_uniform(), list(hope = two(0.3, 0.8), more = two(0, 1)), runs = 20, seed = 6,
                                        error = error, ...)
  first <- ask(0.05)
  ask(0.05, checkpoint = file)
  half <- readRDS(file)
  half$chunks <- half$chunks[1:3]
  saveRDS(half, file)
  expect_equal(ask(0.05, checkpoint = file), first)
  expect_error(ask(0.1, checkpoint = file), "another error, margin or control", class = "dpts_error_checkpoint")
  few <- dpts_plan(policy_uniform(), two(0.5, 0.52), limit = 200, runs = 50, seed = 5)
  ask <- function(limit) dpts_plan(policy_uniform(), two(0.3, 0.6), limit = limit, runs = 50, seed = 5)$people
  expect_identical(ask(floor(0.95 * ask(1e4))), NA_real_) # nobody beyond the limit is tried
  expect_true(is.na(few$people))
})

test_that("so many people are found that each stratum has its power, also from a file that holds some of the work", {
  ask <- function(...) {
    dpts_plan(policy_randomised(block = 1e9), arms_strata(x = two(0.2, 0.8), y = two(0.35, 0.65), share = c(0.5, 0.5)),
              by = "stratum", runs = 100, seed = 1, ...)
  }
  file <- withr::local_tempfile()
  plan <- ask(checkpoint = file)
  expect_gte(min(plan$power), 0.9)
  expect_lt(min(plan$power), plan$power[1])
  exact <- 2 * 2 * stats::power.prop.test(p1 = 0.35, p2 = 0.65, power = 0.9, sig.level = 0.05 / 2)$n # half of the people and of the error
  expect_lt(abs(log(plan$people[1] / exact)), 0.15)
  half <- readRDS(file)
  half$chunks <- half$chunks[c(1, 20, 33)]
  saveRDS(half, file)
  expect_equal(ask(checkpoint = file), plan)
})

test_that("a plan is a result: checkpoint, statement, print, summary", {
  file <- tempfile()
  on.exit(unlink(file))
  designs <- list(a = policy_randomised(mu = 0.5),
                  `a very long name of a design` = policy_gaussian_imed(mu = 0.5))
  problems <- list(hope = two(0.4, 0.6), `no difference at all` = two(0.4, 0.4))
  ask <- function(...) dpts_plan(designs, problems, c(50, 400), runs = 5, seed = 6, ...)
  plan <- ask()
  expect_equal(names(plan), c("design", "scenario", "people", "failures", "best", "power", "false_claims", "coverage",
                              "width", "longest_run"))
  expect_equal(ask(checkpoint = file), plan)
  # A file that holds one scenario, of some people, says nothing of another.
  half <- readRDS(file)
  half$chunks <- Filter(function(chunk) chunk$problem == half$chunks[[1]]$problem, half$chunks)
  saveRDS(half, file)
  expect_equal(ask(checkpoint = file), plan)
  shown <- capture.output(print(plan))
  expect_true(all(nchar(shown) <= 80))
  # Columns are printed by their own names, and those without room are named.
  head <- strsplit(shown[grep("^design", shown)], " +")[[1]]
  expect_equal(c(head, strsplit(sub("# Not shown: ", "", shown[length(shown)]), ", ")[[1]]), names(plan))
  one <- capture.output(print(plan[plan$people == 50, ]))
  expect_setequal(strsplit(one[grep("^design", one)], " +")[[1]], setdiff(names(plan), "people"))
  expect_match(paste(privacy_statement(plan), collapse = " "), "400 people")
  expect_false("Beware" %in% names(privacy_statement(plan)))
  bare <- dpts_plan(policy_uniform(), two(0.4, 0.6), 50, runs = 2, seed = 1)
  expect_match(privacy_statement(bare)[["Beware"]], "only the assignments are private", fixed = TRUE)
  long <- summary(plan)
  expect_equal(nrow(long), 2 * nrow(plan))
  expect_equal(as.vector(tapply(long$share, rep(1:8, each = 2), sum)), rep(1, 8))
  expect_equal(names(policies(plan)), names(designs))
  expect_s3_class(plan[plan$people == 50, ], "dpts_plan")
})

test_that("a plan says what its scenarios are, by arm, stratum and outcome", {
  said <- function(...) tbl_sum(dpts_plan(policy_randomised(mu = 1, control = 1), ..., people = 100, runs = 2, seed = 1))
  expect_equal(said(list(hope = arms_bernoulli(c(a = 0.4, b = 0.55)), null = two(0.4, 0.4)))[["Scenarios"]],
               "hope (a 0.4, b 0.55); null (a 0.4, b 0.4)")
  drifting <- said(list(trend = arms_drift(c(0.15, 0.15), c(0.65, 0.65), "sine", period = 100)))[["Scenarios"]]
  expect_match(drifting, "^trend \\(means change, in round 1 0\\.1")
  strata <- arms_strata(north = arms_bernoulli(c(a = 0.4, b = 0.55)), south = arms_bernoulli(c(a = 0.6, b = 0.7)),
                        share = c(0.25, 0.75))
  expect_equal(said(list(hope = strata), outcomes = list(cost = agent_outcome(mu = 1, range = c(0, 100), missing = 0)),
                    rates = list(cost = c(10, 20, 30, 40)))[["Scenarios"]],
               paste("hope (north, 25% of the people: a 0.4, b 0.55; south, 75% of the people: a 0.6, b 0.7;",
                     "cost 25, 35)"))
  many <- said(list(many = arms_bernoulli(seq(0.1, 0.8, 0.1))))[["Scenarios"]]
  expect_equal(many, "many (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, ...)")
})

test_that("bad input is named", {
  arms <- two(0.5, 0.6)
  bad <- function(arg, ...) expect_error(dpts_plan(...), sprintf("`%s`", arg), class = "dpts_error_input")
  bad("designs", arms, policy_uniform(), 100)
  bad("scenarios", policy_uniform(), list(a = arms, b = arms_bernoulli(c(0.1, 0.2, 0.3))), 100)
  bad("scenarios", policy_uniform(), arms_adversary("punish"), 100)
  bad("scenarios", policy_uniform(), arms_gaussian(c(0, 1), sd = 1), 100)
  bad("control", policy_uniform(), arms, 100, control = "c")
  bad("error", policy_uniform(), arms, 100, error = 1)
  bad("power", policy_uniform(), arms, power = 1)
  bad("people", policy_uniform(), arms, 0)
  bad("people", policy_randomised(), arms, 1)
  expect_error(dpts_plan(policy_randomised(floor = 0.6), arms, 100), "floor", class = "dpts_error_input")
  # What would never end, or not fit into memory
  bad("people", policy_uniform(), arms, 1e15)
  bad("visits", policy_uniform(), arms, 60, visits = 1e15)
  bad("visits", policy_uniform(), arms, 60, visits = 1e8)
  expect_error(dpts_plan(policy_uniform(), arms, 60, runs = 1e8), "`runs`.*need about", class = "dpts_error_memory")
})

# Which visits count, in a block policy: an independent account of who is in the open block
counted_visits <- function(people, number, apart, most, block, delay = 0) {
  before <- held <- due <- rep(0, people)
  open <- 1
  filled <- missed <- counted <- 0
  t <- 0
  for (first in seq(1, people, apart)) for (visit in seq_len(number)) for (i in first:min(first + apart - 1, people)) {
    t <- t + 1
    if (before[i] >= most) next
    if (before[i] > 0 && (due[i] >= t || held[i] == open && filled > 0)) {
      if (filled > 0) missed <- missed + 1
      if (missed > block) {
        open <- open + 1
        filled <- missed <- 0
      }
      next
    }
    counted <- counted + 1
    before[i] <- before[i] + 1
    held[i] <- open
    due[i] <- t + delay
    filled <- filled + 1
    if (filled == block) {
      open <- open + 1
      filled <- missed <- 0
    }
  }
  counted
}

test_that("of people who come again as many visits count as an account of the blocks says", {
  ask <- function(people, number, apart, most, block, ...) {
    dpts_plan(policy_randomised(mu = 1, block = block), two(0.4, 0.6), people, visits = c(number, apart), max_per_person = most,
              runs = 3, seed = 1, ...)
  }
  cases <- data.frame(people = c(100, 100, 30, 90, 40), number = c(4, 4, 10, 5, 6), apart = c(50, 7, 3, 40, 40),
                      most = c(2, 3, 8, 5, 4), block = c(20, 30, 25, 60, 90))
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    # Also where the last reward is learned just before the next visit, or in it
    for (delay in c(0, 9, case$apart - 1:0)) {
      late <- c(case, delay = delay)
      expect_equal(do.call(ask, late)$counted, do.call(counted_visits, late), info = paste(i, delay))
    }
  }
  expect_equal(ask(100, 4, 50, 1, 20)$counted, 100)
  # Means change with the visits, those included that do not count.
  coins <- lapply(0:1, function(p) arms_bernoulli(c(a = p, b = p)))
  failures <- function(arms) {
    dpts_plan(policy_randomised(block = 10), arms, 100, visits = c(2, 50), max_per_person = 1, runs = 4, seed = 1)$failures
  }
  expect_equal(failures(arms_switch(coins, at = 101)), 100)
  expect_lt(abs(failures(arms_drift(coins[[1]], coins[[2]], period = 100)) - sum(1 - (0:99) / 100)), 10)
})

test_that("a visit counts in a plan if it does with an agent", {
  skip_if_not_installed("RSQLite")
  policy <- policy_randomised(mu = 1, block = 7)
  agent <- dpts_agent(policy, c("a", "b"), max_per_person = 3, use = "arrival")
  who <- unlist(lapply(list(1:8, 9:10), rep, 4)) # groups of eight
  counts <- vapply(who, function(i) {
    choice <- agent_choose(agent, person = paste(i))
    if (is.na(choice$t)) return(FALSE)
    agent_reward(agent, choice$ticket, i %% 2)
    TRUE
  }, NA)
  plan <- dpts_plan(policy, two(0.4, 0.6), 10, visits = c(4, 8), max_per_person = 3, runs = 2, seed = 1)
  expect_equal(plan$counted, sum(counts))
  expect_lt(plan$counted, 10 * 3)
})

test_that("the head of a plan says how often people come, how far apart, and how many visits count", {
  said <- function(...) unname(words_visits(list(...)))
  expect_identical(said(number = 5, apart = Inf, most = 3), "5 of each person, at most 3 count")
  expect_identical(said(number = 5, apart = 7, most = Inf), "5 of each person, 7 visits apart, all count")
  # ... what is claimed, when a board looks, and who never answers
  expect_identical(c(words_claims(NULL, NULL), words_claims("a", NULL), words_claims(NULL, 0.05), words_claims("a", 0.05)),
                   c("the best arm", "arms better than a", "arms not worse than any other by 0.05 of the range",
                     "arms not worse than a by 0.05 of the range"))
  looks <- function(spending) unname(words_looks(list(share = c(0.5, 0.75), spending = spending)))
  expect_identical(looks("obrien_fleming"), "at 50%, 75% and 100% of the people, spending as O'Brien and Fleming")
  expect_identical(looks("pocock"), "at 50%, 75% and 100% of the people, spending as Pocock")
  expect_identical(unname(c(words_dropout(c(0.1, 0.1)), words_dropout(c(0.1, 0.2)))), c("10% never come", "10% and 20% never come, by arm"))
  expect_null(c(words_visits(NULL), words_looks(NULL), words_dropout(NULL)))
})

test_that("visits that do not count tell nothing, and a person's guarantee is printed", {
  fixed <- list(fixed = policy_uniform(), private = policy_randomised(mu = 1, block = 1e9))
  ask <- function(...) dpts_plan(fixed, two(0.4, 0.6), 150, runs = 1000, seed = 1, ...)
  once <- ask(visits = 4, max_per_person = 1)
  exact <- stats::power.prop.test(75, 0.4, 0.6)$power
  expect_lt(abs(once$power[1] - exact), 0.04)
  expect_equal(once$counted, c(150, 150))
  expect_equal(once$failures, rep(150 * 4 * 0.5, 2), tolerance = 0.01) # of all visits
  all <- ask(visits = 2)
  expect_lt(abs(all$power[1] - stats::power.prop.test(150, 0.4, 0.6)$power), 0.04)
  expect_equal(all$counted, c(300, 300))
  # Of a policy without estimates an arm has the mean of what counts.
  job <- plan_job(list(s = two(1, 0)), list(p = policy_ts_gaussian()), data.frame(scenario = "s", people = 30),
                  list(error = 0.05, margin = 0, control = 0, signs = 2, claims = 1, intervals = 1), 1:5, 3, 1, 0L, 1,
                  visits = check_visits(4, 2))
  seen <- simulate_chunk(job, list(problem = "s 30", policy = "p", run = 1:5 + 0))$trial[3 + 1:6, ]
  expect_identical(colSums(seen[1:2, ]), rep(120, 5))
  expect_identical(colSums(seen[3:4, ]), rep(60, 5))
  expect_equal(seen[5:6, ], matrix(1:0, 2, 5))
  expect_match(capture.output(print(all)), "private: 2-GDP for people with up to 2 rewards \\(a reward: 1-GDP\\)", all = FALSE)
  # Kept apart, four visits cost sqrt(4)
  apart <- dpts_plan(policy_randomised(mu = 1, block = 50), two(0.4, 0.6), 150, visits = 4, max_per_person = 4, runs = 2, seed = 1)
  expect_match(capture.output(print(apart)), "A person: +2-GDP", all = FALSE)
  # What depends on the number of rounds is of all visits.
  often <- dpts_plan(policy_ts_gaussian(2, 5), two(0.4, 0.6), c(5, 10), visits = 2, runs = 1, seed = 1)
  expect_identical(privacy_statement(often)[["What is guaranteed"]],
                   privacy_statement(privacy_group(policy_ts_gaussian(2, 5), 2), 20)[["What is guaranteed"]])
  expect_match(privacy_statement(apart)[["What is assumed"]], "no two of them are in one release", fixed = TRUE)
  expect_lt(dpts_plan(policy_top_two(mu = 1), two(0.2, 0.8), 100, visits = 5, max_per_person = 3, runs = 5, seed = 1)$counted, 301)
})

test_that("other outcomes of all visits of a person are in a person's guarantee, apart only where visits are", {
  mu <- function(policy, number, most, ...) {
    person <- guarantee_in_plan(policy, list(number = number, apart = Inf, most = most),
                                lapply(list(...), function(mu) agent_outcome(mu = mu, missing = 0)))
    dpts:::form(person, "mu", dpts:::conditions(1000))
  }
  policy <- policy_randomised(mu = 1, block = 50)
  expect_equal(mu(policy, 1, Inf, a = 0.5, b = 2), sqrt(1 + 0.25 + 4))
  # Where all count, three visits may be in one block.
  expect_equal(mu(policy, 3, Inf, a = 0.5, b = 2), 3 * sqrt(1 + 0.25 + 4))
  expect_equal(mu(policy, 3, 2, a = 0.5, b = 2), sqrt(2) * sqrt(1 + 0.25 + 4))
  expect_equal(mu(policy, 3, 1, a = 0.5, b = 2), sqrt(1 + 0.25 + 4))
  # Laplace noise: each sum's epsilon, m times or of m releases
  person <- function(most) {
    guarantee_in_plan(policy_randomised(epsilon = 1, block = 50), list(number = 3, apart = Inf, most = most),
                      list(a = agent_outcome(epsilon = 0.5, missing = 0)))
  }
  epsilon <- function(g, delta) dpts:::least_epsilon(g, dpts:::conditions(1000), delta)
  expect_equal(epsilon(person(Inf), 0), 3 * 1.5)
  expect_equal(epsilon(person(3), 0), 3 * 1.5)
  expect_gt(epsilon(person(Inf), 1e-3), epsilon(person(3), 1e-3))
})

test_that("the plot of a plan draws its numbers, shares of failures and the intervals of shares", {
  drawn <- function(plan, place, visits) {
    data <- as.data.frame(autoplot(plan)$data)
    expect_setequal(data$what, c("Power", "False claims", "Share of failures"))
    for (what in unique(as.character(data$what))) {
      of <- c(Power = "power", `False claims` = "false_claims", `Share of failures` = "failures")[[what]]
      own <- data[data$what == what, ]
      rows <- as.data.frame(plan)[!is.na(plan[[of]]), ]
      rows$value <- rows[[of]] / if (of != "failures") 1 else visits(rows)
      both <- merge(own, rows, by.x = c("design", "scenario", "people"), by.y = c("design", place, "people"))
      expect_identical(c(nrow(own), nrow(both)), rep(nrow(rows), 2))
      expect_equal(both$value.x, both$value.y, label = what)
      for (i in seq_len(nrow(both))) {
        hand <- if (of == "failures") rep(both$value.y[i], 2) else
          suppressWarnings(stats::prop.test(20 * both$value.y[i], 20, correct = FALSE))$conf.int[1:2]
        expect_equal(c(both$lower[i], both$upper[i]), hand, label = what)
      }
    }
  }
  ask <- function(...) dpts_plan(list(x = policy_uniform(), y = policy_randomised(mu = 1, block = 50)), ..., runs = 20, seed = 1)
  drawn(ask(list(s = two(0.3, 0.6), t = two(0.5, 0.5)), c(100, 60)), "scenario", function(rows) rows$people)
  drawn(ask(list(s = two(0.3, 0.6), t = two(0.5, 0.5)), 50, visits = 3, max_per_person = 1), "scenario", function(rows) 150)
  by <- function(all, ...) {
    plan <- dpts_plan(list(y = policy_randomised(mu = 1, block = 50)), arms_strata(b = two(0.2, 0.8), a = two(0.4, 0.5), share = c(0.8, 0.2)),
                      200, by = "stratum", runs = 20, seed = 1, ...)
    plan$where <- paste("scenario", plan$stratum, sep = ": ")
    expect_identical(levels(autoplot(plan[2:1, ])$data$scenario), c("scenario: b", "scenario: a"))
    drawn(plan, "where", all)
  }
  by(function(rows) rows$counted)
  # Failures are of all visits, those included that do not count.
  by(function(rows) 400 * c(0.8, 0.2), visits = 2, max_per_person = 1)
})

test_that("bad visits are named", {
  bad <- function(arg, ...) expect_error(dpts_plan(policy_randomised(), ..., people = 50), sprintf("`%s`", arg), class = "dpts_error_input")
  bad("visits", two(0.4, 0.6), visits = 0)
  bad("visits", two(0.4, 0.6), visits = 1.5)
  bad("visits", two(0.4, 0.6), visits = c(1, 2, 3))
  bad("max_per_person", two(0.4, 0.6), visits = 3, max_per_person = 0)
})

# What is shown to R in the runs of a plan: the rows of src/play_answers.h, run by run, and what came of them
looked_at <- function(policy, arms, people, runs, ...) {
  told <- list(outcomes = NULL, rates = NULL, correlation = 0, dropout = rep(0, n_arms(arms)), missing = NULL, futility = NULL)
  told <- utils::modifyList(told, list(...))
  if (!is.null(told$rates)) told$rates <- list(s = told$rates)
  ask <- list(error = 0.05, margin = 0, control = 1, signs = 2, claims = 1, intervals = 1)
  job <- plan_job(list(s = arms), list(p = policy), data.frame(scenario = "s", people = people), ask, seq_len(runs), 3, 1, 0L, 1,
                  answers = told)
  shown <- list()
  job$look <- function(job, policy) {
    look <- looks_of(job, policy)
    list(asks = TRUE, seen = look$seen, see = function(run, t, rows) {
      new <- look$see(run, t, rows)
      shown[[length(shown) + 1]] <<- rbind(rows, run, t)
      new
    })
  }
  seen <- simulate_chunk(job, list(problem = paste("s", people), policy = "p", run = seq_len(runs) + 0))
  rows <- do.call(cbind, shown)
  list(looks = seen$looks, rows = data.frame(
    run = rows["run", ], outcome = rows[1, ], block = rows[2, ], arm = c("a", "b", "c")[rows[3, ]], n = rows[5, ], sum = rows[6, ],
    chance = rows[7, ], squares = rows[10, ], stratum = rows[11, ], scale = 1 / told$outcomes$harm$mu %||% Inf, t = rows["t", ]
  ))
}

test_that("a guard pauses an arm in a plan when its formula says so", {
  harm <- agent_outcome(mu = 3, missing = 1, guard = 0.1)
  arms <- arms_bernoulli(c(a = 0.5, b = 0.5, c = 0.6))
  seen <- looked_at(policy_randomised(mu = 1, block = 60, control = 1), arms, 600, 10, outcomes = list(harm = harm),
                    rates = cbind(harm = c(0.1, 0.15, 0.6)))
  expect_true(all(is.nan(seen$looks[1:2, ])))
  expect_gt(sum(!is.nan(seen$looks[3, ])), 6)
  for (run in 1:10) {
    rows <- seen$rows[seen$rows$run == run & seen$rows$outcome == 1, ]
    first <- NaN
    for (b in unique(rows$block)) {
      if (guard_evidence("c", "a", rows[rows$block <= b, ], 0.1) < log(2 / 0.05)) next
      first <- max(rows$t[rows$block == b])
      break
    }
    expect_identical(seen$looks[3, run], first)
    # Nobody gets the arm from then on.
    expect_false("c" %in% rows$arm[rows$t > first])
  }
  # The columns of the plan are of these runs, with the truth of its rates.
  policy <- policy_randomised(mu = 1, block = 60, control = 1)
  plan <- dpts_plan(policy, list(bad = arms, safe = arms), 600, control = 1, runs = 10, seed = 3, outcomes = list(harm = harm),
                    rates = list(harm = rbind(safe = c(0.1, 0.1, 0.05), bad = c(0.1, 0.15, 0.6))))
  expect_equal(plan$paused, c(mean(!is.nan(seen$looks[3, ])), NA))
  expect_equal(plan$false_alarms, c(0, 0))
  by_arm <- summary(plan)
  expect_equal(by_arm$paused_at[3], stats::median(seen$looks[3, ], na.rm = TRUE))
  expect_lt(by_arm$share[3], 0.5 * by_arm$share[6])
  expect_match(capture.output(print(plan)), "A person: +3.1623-GDP", all = FALSE) # the root of 1 + 9
})

# Of some looks the first, those around a stop, or the last
about <- function(at, stop) {
  stop <- match(stop, at, nomatch = length(at))
  at[unique(pmax(c(1, stop - 1, stop), 1))]
}

test_that("in strata a guard and a forecast read the blocks of all, and a pause is for all", {
  harm <- agent_outcome(mu = 3, missing = 1, guard = 0.1)
  arms <- arms_strata(x = arms_bernoulli(c(a = 0.2, b = 0.2, c = 0.3)), y = arms_bernoulli(c(a = 0.6, b = 0.6, c = 0.7)),
                      share = c(0.6, 0.4))
  policy <- policy_randomised(mu = 1, block = 40, control = 1)
  rates <- c(0.1, 0.15, 0.5, 0.3, 0.3, 0.8) # of x, then of y
  seen <- looked_at(policy, arms, 700, 6, outcomes = list(harm = harm), rates = cbind(harm = rates))
  expect_gt(sum(!is.nan(seen$looks[3, ])), 3)
  for (run in 1:6) {
    rows <- seen$rows[seen$rows$run == run & seen$rows$outcome == 1, ]
    first <- NaN
    each <- rows[!duplicated(rows$block), ]
    people <- as.vector(rowsum(rows$n, rows$block, reorder = FALSE))
    for (b in each$block[has_look(as.integer(each$stratum), people, each$t, 2)]) {
      if (guard_evidence("c", "a", rows[seq_len(max(which(rows$block == b))), ], 0.1) < log(2 / 0.05)) next
      first <- max(rows$t[rows$block == b])
      break
    }
    expect_identical(seen$looks[3, run], first)
    expect_setequal(rows$stratum[rows$arm == "c"], 1:2)
    before <- rows[rows$t < min(first, Inf, na.rm = TRUE), ]
    expect_true(all(tapply(before$n, before$block, sum) == 40)) # of one stratum each
    # The open blocks of both strata end with it, and nobody gets the arm from then on.
    expect_lte(max(table(rows$stratum[rows$t == first & rows$outcome == 1 & rows$arm == "c"]), 0), 2)
    expect_false("c" %in% rows$arm[rows$t > first])
  }
  # What is counted: each stratum has the means of its own rates.
  all <- seen$rows[seen$rows$outcome == 1, ]
  for (s in 1:2) for (a in 1:3) {
    own <- all[all$stratum == s & all$arm == c("a", "b", "c")[a], ]
    p <- rates[3 * (s - 1) + a]
    expect_lt(abs(sum(own$sum) / sum(own$n) - p), 4.5 * sqrt(p * (1 - p) / sum(own$n) + nrow(own) / 9 / sum(own$n)^2))
  }
  plan <- dpts_plan(policy, list(bad = arms), 700, control = "a", runs = 6, seed = 3, outcomes = list(harm = harm),
                    rates = list(harm = rates))
  expect_equal(plan$paused, mean(!is.nan(seen$looks[3, ])))
  expect_equal(plan$false_alarms, 0)
  # Rates by arm are those of each stratum.
  short <- function(rates) {
    dpts_plan(policy, arms, 300, control = "a", runs = 2, seed = 3, outcomes = list(harm = harm), rates = list(harm = rates))
  }
  expect_identical(as.data.frame(short(c(0.1, 0.2, 0.3))), as.data.frame(short(rep(c(0.1, 0.2, 0.3), 2))))
  # Futility: as forecast() says of the table at each look
  stops <- looked_at(policy, arms, 500, 2, futility = 0.3)$looks[4, ]
  expect_true(any(!is.nan(stops)))
  table <- dpts_releases(dpts_simulate(arms, policy, 500, runs = 2, seed = 3, history = TRUE))
  se <- 3 * sqrt(0.3 * 0.7 * (1 / 100 + 1 / 60))
  for (run in 1:2) {
    own <- table[table$run == run & table$n > 0, ]
    at <- setdiff(unique(own$t), 500)
    at <- at[vapply(at, function(t) length(unique(own$stratum[own$t <= t])) == 2, NA)]
    at <- about(at, stops[run])
    said <- vapply(at, function(t) forecast(own[own$t <= t, ], 500, block = 40, runs = 60, seed = 1)$verdict, 0)
    expect_true(all(said[at < min(stops[run], Inf, na.rm = TRUE)] > 0.3 - se), info = run)
    if (!is.nan(stops[run])) expect_lt(said[at == stops[run]], 0.3 + se)
  }
})

test_that("another outcome that is the reward itself is released as the reward is, in strata, too", {
  means <- rbind(a = 0.1 * 1:6, b = 0.15 * 1:6)
  arms <- lapply(1:6, function(i) arms_bernoulli(means[, i]))
  policy <- policy_randomised(mu = 1e3, block = 10, control = 1)
  # All that says how an outcome goes with the reward, what counts for those who never answer, and how much noise there is
  follow <- function(arms, means, people = 1200, ...) {
    rows <- looked_at(policy, arms, people, 2, outcomes = list(harm = agent_outcome(mu = 1e3, missing = 0)),
                      rates = cbind(harm = means), correlation = 1, ...)$rows
    of <- function(outcome) rows[rows$outcome == outcome, ]
    same <- c("run", "stratum", "block", "arm", "n", "t")
    expect_equal(of(0)[same], of(1)[same], ignore_attr = TRUE)
    expect_lt(max(abs(of(0)$sum - of(1)$sum)), 0.01)
  }
  follow(arms[[4]], means[, 4], 400)
  follow(arms[[4]], means[, 4], 400, dropout = c(0.1, 0.4), missing = 0)
  strata <- do.call(arms_strata, c(stats::setNames(arms, letters[1:6]), list(share = c(0.02, 0.2, 0.2, 0.2, 0.2, 0.18))))
  follow(strata, c(means))
})

test_that("who comes again is of the same stratum, and as many visits count as an account of each stratum says", {
  arms <- arms_strata(x = arms_bernoulli(c(a = 0.2, b = 0.3)), y = arms_bernoulli(c(a = 0.6, b = 0.7)), share = c(0.7, 0.3))
  policy <- policy_randomised(mu = 1, block = 20)
  at_once <- dpts_plan(policy, arms, 90, visits = c(5, 30), max_per_person = 3, runs = 1, seed = 4)
  expect_lte(at_once$counted, 90 * 3)
  # With a cap of 1 the first visit of each person counts, and no other.
  expect_equal(dpts_plan(policy, arms, 90, visits = c(5, 30), max_per_person = 1, runs = 3, seed = 4)$counted, 90)
  # All of one stratum but for a few: as without strata
  one <- arms_strata(x = arms_bernoulli(c(a = 0.4, b = 0.6)), y = arms_bernoulli(c(a = 0.4, b = 0.6)), share = c(1 - 1e-9, 1e-9))
  case <- list(people = 90, number = 5, apart = 40, most = 5, block = 60)
  found <- suppressWarnings(dpts_plan(policy_randomised(mu = 1, block = 60), one, 90, visits = c(5, 40), max_per_person = 5,
                                      runs = 2, seed = 1))
  expect_equal(found$counted, do.call(counted_visits, case))
  # By stratum people stay: with three visits each that all count, the number in a stratum is a multiple of three.
  by <- dpts_plan(policy, arms, 40, visits = c(3, 40), runs = 1, seed = 2, by = "stratum")
  expect_equal(by$counted %% 3, c(0, 0))
  expect_equal(sum(by$counted), 120)
  # The power is that of the closed form for as many rewards.
  within <- dpts_plan(policy_randomised(block = 1e9), arms, 300, visits = 2, runs = 1000, seed = 1)
  se <- sqrt((0.7 * (0.16 + 0.21) + 0.3 * (0.24 + 0.21)) / 300)
  expect_lt(abs(within$power - stats::pnorm(0.1 / se - stats::qnorm(0.975))), 0.04)
})

test_that("false alarms of a guard stay below its error in a plan", {
  harm <- agent_outcome(mu = 1, missing = 1, guard = 0.05, error = 0.2)
  plan <- dpts_plan(policy_randomised(block = 50, control = 1), two(0.5, 0.6), 500, control = 1, runs = 80, seed = 2,
                    outcomes = list(harm = harm), rates = list(harm = c(0.3, 0.35)))
  expect_lt(plan$false_alarms, 0.2 + 3 * sqrt(0.2 * 0.8 / 80))
  expect_true(is.na(plan$paused))
})

test_that("reward and outcome have the means and the correlation that were asked for", {
  harm <- agent_outcome(missing = 1, guard = 0.9)
  seen <- looked_at(policy_randomised(block = 50, control = 1), two(0.4, 0.7), 6000, 2, outcomes = list(harm = harm),
                    rates = cbind(harm = c(0.2, 0.5)), correlation = 0.4)$rows
  rows <- merge(seen[seen$outcome == 0, ], seen[seen$outcome == 1, c("run", "block", "arm", "sum")], by = c("run", "block", "arm"))
  for (i in 1:2) {
    own <- rows[rows$arm == c("a", "b")[i], ]
    m <- c(0.4, 0.7)[i]
    q <- c(0.2, 0.5)[i]
    n <- sum(own$n)
    expect_lt(abs(sum(own$sum.x) / n - m), 4 * sqrt(m * (1 - m) / n))
    expect_lt(abs(sum(own$sum.y) / n - q), 4 * sqrt(q * (1 - q) / n))
    # Sums of a block have the covariance of a person, times their number.
    z <- (own$sum.x - own$n * m) * (own$sum.y - own$n * q) / own$n / sqrt(m * (1 - m) * q * (1 - q))
    expect_lt(abs(mean(z) - 0.4), 4 * stats::sd(z) / sqrt(length(z)))
  }
})

test_that("in strata each block has the outcomes of its own people, however long others' blocks stay open", {
  # In the rare stratum everybody has both outcomes, in the others one of them or none. There is no noise.
  arms <- arms_strata(often = two(0.4, 0.7), other = two(0.5, 0.5), rare = two(0.2, 0.3), share = c(0.57, 0.4, 0.03))
  rates <- cbind(one = c(0, 0, 1, 1, 1, 1), two = c(0, 1, 0, 1, 1, 1))
  outcomes <- list(one = agent_outcome(missing = 1), two = agent_outcome(missing = 1, outcome = "continuous"))
  rows <- looked_at(policy_randomised(block = 10), arms, 1500, 1, outcomes = outcomes, rates = rates)$rows
  expect_gt(nrow(rows), 600)
  expect_true(all(tapply(rows$n, rows$stratum, length) >= 12))
  for (h in 1:2) {
    own <- rows[rows$outcome == h, ]
    expect_equal(own$sum, own$n * rates[2 * (own$stratum - 1) + match(own$arm, c("a", "b")), h])
    expect_equal(own$squares, if (h == 2) own$n / 4 else rep(NaN, nrow(own))) # of 0 and 1 about 1/2
  }
  expect_identical(table(rows$outcome), table(rep(0:2, each = nrow(rows) / 3)), ignore_attr = TRUE)
})

test_that("people who never answer count as `missing` says", {
  ask <- function(arms, ...) dpts_plan(policy_uniform(), arms, 800, runs = 1000, seed = 1, ...)
  half <- ask(two(0.5, 0.6), dropout = 0.25)
  expect_lt(abs(half$power - stats::power.prop.test(400, 0.375, 0.45)$power), 0.04)
  expect_equal(half$failures, 800 * 0.45, tolerance = 0.01) # what people had, answered or not
  best <- ask(two(0.5, 0.6), dropout = 0.25, missing = 1)
  expect_lt(abs(best$power - stats::power.prop.test(400, 0.625, 0.7)$power), 0.04)
  # More dropouts in one arm look like a difference.
  false <- ask(two(0.5, 0.5), dropout = c(0, 0.2))$false_claims
  expect_lt(abs(false - stats::power.prop.test(400, 0.5, 0.4)$power), 0.04)
  # Of other outcomes, too
  harm <- agent_outcome(missing = 1, guard = 0.9)
  seen <- looked_at(policy_randomised(block = 50, control = 1), two(0.4, 0.7), 3000, 1, outcomes = list(harm = harm),
                    rates = cbind(harm = c(0.2, 0.2)), dropout = c(0, 0.5))$rows
  rows <- seen[seen$outcome == 1 & seen$arm == "b", ]
  expect_lt(abs(sum(rows$sum) / sum(rows$n) - 0.6), 4 * sqrt(0.24 / sum(rows$n)))
})

test_that("an experiment stops for futility when its forecast says so", {
  policy <- policy_randomised(mu = 1, block = 100)
  arms <- two(0.5, 0.53)
  people <- 800
  seen <- looked_at(policy, arms, people, 3, futility = 0.2)
  stops <- seen$looks[3, ]
  expect_true(any(!is.nan(stops)))
  sim <- dpts_simulate(arms, policy, people, runs = 3, seed = 3, history = TRUE)
  table <- dpts_releases(sim)
  for (run in 1:3) {
    own <- table[table$run == run & table$n > 0, ]
    at <- about(setdiff(unique(own$t), people), stops[run])
    said <- vapply(at, function(t) forecast(own[own$t <= t, ], people, runs = 60, seed = 1)$verdict, 0)
    se <- 3 * sqrt(0.2 * 0.8 * (1 / 100 + 1 / 60))
    expect_true(all(said[at < min(stops[run], Inf, na.rm = TRUE)] > 0.2 - se), info = run)
    if (!is.nan(stops[run])) expect_lt(said[at == stops[run]], 0.2 + se)
  }
  plan <- dpts_plan(policy, list(s = arms), people, control = 1, runs = 3, seed = 3, futility = 0.2)
  expect_equal(plan$stopped, mean(!is.nan(stops)))
  expect_equal(plan$mean_people, mean(ifelse(is.nan(stops), people, stops)))
  free <- dpts_plan(policy, list(s = arms), people, control = 1, runs = 3, seed = 3)
  expect_equal(as.data.frame(plan)[names(free)], as.data.frame(free), ignore_attr = TRUE)
  expect_lte(plan$power_stopped, plan$power)
  # What is forecast is what is asked for: of equal arms that one is not worse by 3 of 20.
  equal <- function(...) dpts_plan(policy_randomised(mu = 1, block = 300, outcome = "continuous"), arms_gaussian(c(12, 12), 5, range = c(0, 20)),
                                   1200, control = 1, runs = 3, seed = 1, futility = 0.1, ...)
  expect_equal(unlist(equal(margin = 0.15)[c("power", "stopped", "power_stopped")]), c(power = 1, stopped = 0, power_stopped = 1))
  expect_gt(equal()$stopped, 0.5)
  expect_equal(equal(margin = 0.15, error = 1e-30)$stopped, 1) # and at the error that is asked for
  # Designs that do not toss people do not look.
  other <- dpts_plan(policy_uniform(), arms, 100, runs = 3, seed = 1, futility = 0.2)
  expect_true(is.na(other$stopped) && is.na(other$mean_people))
})

test_that("what people answer is checked", {
  harm <- list(harm = agent_outcome(mu = 1, guard = 0.1, missing = 1))
  bad <- function(arg, ..., design = policy_randomised(control = 1), arms = two(0.4, 0.6)) {
    expect_error(dpts_plan(design, arms, people = 50, ...), sprintf("`%s`", arg), class = "dpts_error_input")
  }
  bad("outcomes", outcomes = 1)
  bad("outcomes", outcomes = harm, rates = list(harm = 0.1), design = policy_uniform())
  expect_error(dpts_plan(policy_randomised(), two(0.4, 0.6), 50, outcomes = harm, rates = list(harm = c(0.1, 0.2))),
               "no `control`", class = "dpts_error_input")
  bad("rates", outcomes = harm)
  bad("rates", rates = list(harm = c(0.1, 0.2)))
  bad("rates", outcomes = harm, rates = list(harm = 0.1))
  bad("rates", outcomes = harm, rates = list(harm = c(0.1, 1.2)))
  bad("rates", outcomes = harm, rates = list(harm = rbind(no = c(0.1, 0.2))))
  bad("correlation", outcomes = harm, rates = list(harm = c(0.1, 0.2)), correlation = 0.99)
  bad("correlation", outcomes = harm, rates = list(harm = c(0.1, 0.2)), correlation = 0.1, arms = arms_truncexp(c(0.4, 0.6)))
  bad("dropout", dropout = c(0.1, 0.1, 0.1))
  bad("dropout", dropout = 1.5)
  bad("correlation", correlation = 0.1)
  bad("missing", missing = 2, dropout = 0.1)
  bad("missing", missing = 0.5)
  bad("futility", futility = 1)
  bad("futility", futility = 0.1, visits = 2)
  strata <- arms_strata(x = two(0.4, 0.6), y = two(0.4, 0.6))
  bad("futility", futility = 0.1, by = "stratum", arms = strata)
  bad("rates", outcomes = harm, rates = list(harm = c(0.1, 0.2, 0.3)), arms = strata)
})

test_that("power for non-inferiority and equivalence is that of the closed form", {
  designs <- list(open = policy_randomised(block = 1e9), private = policy_randomised(mu = 0.5, block = 1e9))
  plan <- dpts_plan(designs, list(same = two(0.5, 0.5), worse = two(0.5, 0.4), better = two(0.5, 0.55)), 600, control = "a",
                    margin = 0.1, runs = 1000, seed = 5)
  se <- function(b, noise) sqrt(0.25 / 300 + b * (1 - b) / 300 + 2 * noise / 300^2)
  limit <- 3 * sqrt(0.25 / 1000) + 0.01
  for (design in names(designs)) {
    row <- function(scenario) plan[plan$design == design & plan$scenario == scenario, ]
    noise <- if (design == "open") 0 else 4
    expect_lt(abs(row("same")$power - pnorm(0.1 / se(0.5, noise) - qnorm(0.95))), limit)
    expect_lt(abs(row("better")$power - pnorm(0.15 / se(0.55, noise) - qnorm(0.95))), limit)
    # Just on the margin a claim is false, and such are as many as the error says.
    expect_true(is.na(row("worse")$power))
    expect_lt(abs(row("worse")$false_claims - 0.05), 3 * sqrt(0.05 * 0.95 / 1000))
    half <- 0.1 / se(0.5, noise) - qnorm(0.975)
    expect_lt(abs(row("same")$equivalent - (2 * pnorm(half) - 1)), limit)
  }
  expect_match(format(plan)[4], "Claims: +arms not worse than a by 0.1 of the range")
  # The analysis agrees, run by run; also without a control, by means, and with looks
  arms <- arms_bernoulli(c(0.5, 0.48, 0.3))
  for (looks in list(NULL, 0.5)) {
    design <- policy_randomised(mu = 1, block = 200)
    plan <- dpts_plan(design, arms, 800, margin = 0.1, control = 1, looks = looks, runs = 25, seed = 2)
    sim <- dpts_simulate(arms, design, 800, runs = 25, seed = 2, history = TRUE, finish = TRUE)
    found <- withr::with_options(list(rlib_message_verbosity = "quiet"),
                                 effects(sim, control = 1, at = "end", margin = 0.1, looks = looks, people = 800))
    expect_equal(plan$power, mean(found$p[found$arm == 2] < 0.025))
  }
  all <- dpts_plan(policy_top_two(mu = 1, error = 0.1, margin = 0.2), arms, 3000, margin = 0.2, error = 0.1, runs = 30, seed = 3)
  expect_gt(all$power, 0.5)
  expect_error(dpts_plan(design, arms, 800, margin = 1), "`margin`", class = "dpts_error_input")
})

test_that("futility, guards, dropout and looks are the same by threads and workers, with delays, and from a checkpoint", {
  arms <- two(0.5, 0.6)
  guarded <- function(..., runs = 2) {
    dpts_plan(policy_randomised(mu = 1, block = 60, control = 1), arms, 300, control = 1, seed = 4, delay = 0:80, batch = 10,
              outcomes = list(harm = agent_outcome(mu = 1, guard = 0.05, missing = 1)), rates = list(harm = c(0.1, 0.5)),
              correlation = -0.2, dropout = c(0, 0.2), futility = 0.3, runs = runs, ...)
  }
  looked <- function(..., runs = 2) {
    dpts_plan(policy_randomised(mu = 1, block = 60), arms, 420, control = 1, seed = 4, delay = 0:80, looks = c(0.3, 0.6),
              runs = runs, ...)
  }
  file <- withr::local_tempfile(pattern = c("guarded", "looked"))
  ones <- list(guarded(), looked())
  expect_gt(ones[[1]]$paused, 0)
  expect_gt(ones[[1]]$stopped, 0)
  for (i in 1:2) {
    plan <- list(guarded, looked)[[i]]
    expect_equal(plan(threads = 2), ones[[i]])
    # Resumed with more runs: what was kept and what is new are as in one go.
    plan(checkpoint = file[i], runs = 1)
    expect_equal(plan(checkpoint = file[i]), ones[[i]])
  }
  skip_if_not_installed("future.apply")
  old <- future::plan("multicore", workers = 2)
  withr::local_options(dpts.seconds_before_workers = 0)
  withr::defer(future::plan(old))
  if (!inherits(future::plan(), "sequential")) expect_equal(list(guarded(), looked()), ones)
})

test_that("several designs and scenarios are those one by one", {
  arms <- function(...) stats::setNames(c(...), c("a", "b", "c"))
  designs <- list(top = policy_top_two(mu = 1), flat = policy_uniform(), tossed = policy_randomised(1, rule = "thompson"))
  scenarios <- list(gap = arms_bernoulli(arms(0.7, 0.4, 0.5)), none = arms_bernoulli(arms(0.5, 0.5, 0.5)),
                    drift = arms_drift(arms(0.2, 0.8, 0.5), c(0.8, 0.2, 0.5), period = 200))
  play <- function(designs, scenarios) dpts_plan(designs, scenarios, c(80, 160), runs = 8, seed = 3, delay = 3)
  all <- play(designs, scenarios)
  for (d in names(designs)) for (s in names(scenarios)) {
    one <- play(designs[d], scenarios[s])
    for (verb in list(identity, summary)) {
      rows <- verb(all)
      expect_equal(plain_columns(rows[rows$design == d & rows$scenario == s, ]), plain_columns(verb(one)))
      rows <- verb(all[rev(seq_len(nrow(all))), ])
      rows <- rows[rows$design == d & rows$scenario == s, ]
      expect_equal(plain_columns(rows[order(rows$people), ]), plain_columns(verb(one)))
    }
  }
})

test_that("several designs, scenarios and numbers of people with outcomes, or by stratum and with visits, are those one by one", {
  designs <- list(noisy = policy_randomised(mu = 1, block = 40, control = 1), tilted = policy_randomised(block = 30, control = 1, rule = "thompson"))
  harm <- list(h = agent_outcome(missing = 1, guard = 0.1), g = agent_outcome(missing = 0, guard = 0.2, outcome = "continuous"))
  outcomes <- function(designs, scenarios, people) {
    own <- function(...) rbind(s = c(...), t = c(0.3, 0.35))[names(scenarios), , drop = FALSE]
    dpts_plan(designs, scenarios, people, control = 1, runs = 2, seed = 2, outcomes = harm, dropout = c(0, 0.2),
              rates = list(h = own(0.1, 0.5), g = own(0.1, 0.4)), correlation = 0.1)
  }
  by <- function(...) {
    suppressWarnings(dpts_plan(..., by = "stratum", visits = c(3, 20), max_per_person = 2, runs = 2, seed = 2, delay = c(0, 30), dropout = 0.1))
  }
  strata <- function(...) arms_strata(x = two(...), y = two(0.5, 0.4), share = c(0.7, 0.3))
  cases <- list(list(outcomes, list(s = two(0.4, 0.6), t = two(0.5, 0.5))), list(by, list(s = strata(0.3, 0.6), t = strata(0.5, 0.5))))
  for (case in cases) {
    all <- case[[1]](designs, case[[2]], c(60, 90))
    for (d in 1:2) for (s in 1:2) for (n in c(60, 90)) {
      one <- case[[1]](designs[d], case[[2]][s], n)
      for (verb in list(identity, summary)) {
        rows <- verb(all)
        rows <- rows[rows$design == names(designs)[d] & rows$scenario == c("s", "t")[s] & rows$people == n, ]
        expect_equal(plain_columns(rows), plain_columns(verb(one)))
      }
    }
  }
})

test_that("parts of a plan are the whole, and plans of other questions are not put together", {
  ask <- function(people, ...) {
    dpts_plan(policy_randomised(mu = 1, block = 20, control = 1), list(s = two(0.4, 0.6)), people, runs = 2, seed = 1, ...)
  }
  harm <- list(outcomes = list(harm = agent_outcome(missing = 1, guard = 0.1)), rates = list(harm = c(0.1, 0.2)))
  # What both parts have, and what one of them has besides
  apart <- list(
    list(list(), list(control = 1), list(error = 0.1), list(margin = 0.1), list(delay = 3), list(batch = 5), list(visits = 2),
         list(dropout = 0.2), list(futility = 0.2), list(deadline = 5), list(accrual = 5), list(looks = 0.5), harm),
    list(list(visits = 2), list(max_per_person = 1)), list(list(dropout = 0.2), list(missing = 1)),
    list(harm, list(correlation = 0.1)), list(list(looks = 0.5), list(spending = "pocock"))
  )
  for (case in apart) {
    part <- function(...) do.call(ask, c(..., case[[1]]))
    small <- part(60)
    expect_equal(rbind(small, part(90)), part(list(c(60, 90))))
    for (more in case[-1]) expect_error(rbind(small, part(90, more)), "They differ in", class = "dpts_error_join")
  }
})
