# The randomised experiment: who is in which block, what is released, and the chances that follow.

# Plays a random script in C and in plain R; what differs, in words. (Of "thompson" C has a quadrature of 96 points.)
against_model <- function(script) {
  policy <- do.call(policy_randomised, script$args)
  steps <- script$steps
  out <- run_script(policy, script$k, script$arms, script$rewards, steps, script$seed, offers = script$offers,
                    delays = script$delays, forced = script$released, finish = TRUE, ask = TRUE)
  at <- 0
  exact <- numeric()
  model <- do.call(randomised_model, c(list(script$k, function(n, sum) {
    at <<- at + 1
    exact[at] <<- sum
    script$released[at]
  }), script$args))
  waits <- rep_len(script$delays, steps)
  chances <- matrix(0, script$k, steps)
  block <- released <- numeric(steps)
  for (t in seq_len(steps)) {
    offer <- if (is.null(script$offers)) seq_len(script$k) else script$offers[[t]]
    chances[, t] <- model$probability(offer)
    block[t] <- model$commit(offer, out$arm[t])
    for (i in which(seq_len(t) + waits[seq_len(t)] == t)) model$update(block[i], out$arm[i], script$rewards[i])
    released[t] <- at
  }
  model$finish()
  released[steps] <- at
  report <- model$report()
  off <- max(abs(chances - out$chances))
  c(if (!(off < (if (script$args$rule == "thompson") 1e-6 else 1e-9))) sprintf("chances differ by %g, first in step %d", off, which(colSums(abs(chances - out$chances) > 1e-9) > 0)[1]),
    if (!identical(as.double(out$released), released)) "releases come in other steps",
    if (!identical(out$exact[seq_len(out$total)], exact)) "other rewards are released",
    if (!isTRUE(all.equal(out$report[1:2, ], rbind(report$n, report$sum)))) "the report has other numbers or sums",
    if (!isTRUE(all.equal(out$report[4, ], report$releases))) "the report has other numbers of releases")
}

test_that("blocks, releases and chances are those of plain R, in random scripts", {
  withr::local_seed(1)
  for (i in 1:10) {
    script <- randomised_script()
    expect_identical(against_model(script), NULL, info = paste(i, deparse1(script$args)))
  }
})

test_that("the least probability of an arm, between two, is the floors' or that of equal shares", {
  floors <- function(...) vapply(1:3, function(control) {
    toss_floor(policy_randomised(mu = 1, control = control, ...), 3, FALSE)
  }, 0)
  expect_equal(floors(rule = "equal", floor = c(0.05, 0.6)), rep(0.2 / 0.8, 3)) # (1 - .6) / 2 beside .6
  # an arm at its floor, and all the others' but that of one other arm
  expect_equal(floors(rule = "thompson", floor = c(0.05, 0.6)), rep(0.05 / (0.05 + 0.9), 3))
  expect_equal(floors(rule = "thompson", floor = c(0.1, 0.05)), rep(0.05 / (0.05 + 0.85), 3))
  # Of an agent also after arms were added, as long as there is room for their floors: what a control leaves is
  # then divided among more arms. With three, one of .225 beside a control of .55.
  policy <- policy_randomised(block = 20, floor = c(0.2, 0.55), control = 1)
  agent <- dpts_agent(policy, c("a", "b"), use = "arrival")
  agent_arms(agent, add = "c")
  x <- agent_choose(agent, 60)
  agent_reward(agent, x$ticket, 1)
  table <- dpts_releases(agent)
  expect_equal(range(table$chance, na.rm = TRUE), c(0.225, 0.55))
  expect_equal(unique(table$floor), 0.2 / 0.75)
  expect_true(is.na(verdict(agent)$arm))
  expect_error(agent_arms(agent, add = "d"), "floors that add up to more than 1 for 4 arms", class = "dpts_error_input")
})

test_that("arms that are added begin with their share above the floors, and blocks that wait are released", {
  withr::local_seed(2)
  controls <- list(list(NULL, 0.1), list(1, c(0.1, 0.4)), list(2, c(0.1, 0.4)), list(2, 0.1))
  for (rule in c("equal", "thompson", "top_two", "neyman")) for (of in controls) {
    control <- of[[1]]
    args <- list(mu = 1, rule = rule, block = c(20, 12), control = control, floor = of[[2]])
    live <- live_session(do.call(policy_randomised, args), 2, 1e4, NULL)
    session_start(live)
    sums <- numeric()
    model <- do.call(randomised_model, c(list(2, function(n, sum) {
      value <- sums[1]
      sums <<- sums[-1]
      value
    }), args))
    out <- list()
    off <- low <- other <- numeric(200)
    for (t in 1:200) {
      for (k in c(if (t == 70) 3, if (t == 75) 5, if (t == 150) 6)) {
        session_grow(live, k)
        model$grow(k)
      }
      one <- session_play(live, NULL, NULL)
      chance <- model$probability()
      off[t] <- abs(chance[one[1]] - one[4])
      own <- if (length(of[[2]]) == 2) 0.4 else 1 / length(chance)
      low[t] <- one[4] - if (identical(control, one[1])) own else 0.1
      other[t] <- model$commit(seq_along(chance), one[1]) - one[3]
      out[[t]] <- one
      if (t <= 25) next
      # The reward of 25 rounds ago
      old <- out[[t - 25]]
      session_feed(live, old[2], old[1], old[3], t %% 2, NULL)
      sums <- take_sums(live)[, match("sum", RELEASE)]
      model$update(old[3], old[1], t %% 2)
      other[t] <- other[t] + length(sums)
    }
    # Live noise is announced two millionths larger, which moves probabilities by up to some 1e-5.
    expect_lt(max(off), 5e-4)
    expect_gte(min(low), -1e-12)
    expect_true(all(other == 0))
  }
})

test_that("a block is released when all of its rewards are in: a sum for each arm, with whole noise, once", {
  for (delay in c(0, 3, 12)) {
    policy <- policy_randomised(mu = 0.5, block = c(6, 10))
    out <- run_script(policy, 3, rep(NA, 40), rep(1, 40), delays = rep(delay, 40))
    ends <- c(6, 16, 26, 36)
    expect_identical(diff(c(0L, out$released))[pmin(ends + delay, 40)][ends + delay <= 40],
                     rep(3L, sum(ends + delay <= 40)))
    rows <- seq_len(out$total)
    expect_true(all(out$scale[rows] == 2 & out$kind[rows] == 2))
    # Rewards of 1: a sum is the number of people who were tossed to the arm in the block.
    blocks <- split(out$arm[1:36], rep(1:4, c(6, 10, 10, 10)))
    people <- unlist(lapply(blocks, tabulate, nbins = 3))
    expect_identical(out$exact[rows], as.double(people)[rows])
  }
  # At the end a block of which nothing has come releases nothing.
  late <- run_script(policy, 3, rep(NA, 40), rep(1, 40), delays = rep(c(0, 1e4), c(36, 4)), finish = TRUE)
  expect_equal(late$total, 12)
  growing <- policy_randomised(epsilon = 2, block = 1.5)
  out <- run_script(growing, 2, rep(NA, 2000), rep(1, 2000))
  # 200, 200, 200, then half of all before
  expect_identical(which(diff(c(0L, out$released)) > 0), c(200L, 400L, 600L, 900L, 1350L))
  expect_true(all(out$scale[seq_len(out$total)] == 0.5))
})

test_that("people are tossed with the chances that are said", {
  withr::local_seed(3)
  z <- unlist(lapply(1:40, function(i) {
    policy <- policy_randomised(mu = 1, rule = "thompson", block = 20, floor = 0.05, permuted = i %% 2 == 0)
    out <- run_script(policy, 3, rep(NA, 300), stats::runif(300), seed = i, ask = TRUE)
    got <- outer(1:3, out$arm, "==")
    rowSums(got - out$chances) / sqrt(pmax(rowSums(out$chances * (1 - out$chances)), 1))
  }))
  expect_lt(abs(mean(z^2) - 1), 4 * sqrt(2 / 80)) # of three arms two are free
})

test_that("all orders of a permuted block are equally likely, the first toss included", {
  policy <- policy_randomised(rule = "thompson", block = c(5, 7, 11), permuted = TRUE)
  sim <- dpts_simulate(arms_bernoulli(c(0.2, 0.5, 0.7)), policy, 5 + 7 + 11 * 20, runs = 3, seed = 1, history = TRUE)
  block <- rep(1:22, c(5, 7, rep(11, 20)))
  for (run in split(dpts_history(sim), dpts_history(sim)$run)) {
    order <- tapply(run$probability, block, prod)
    people <- tapply(as.integer(run$arm), block, tabulate, 3)
    expect_equal(as.vector(order), vapply(people, function(n) prod(factorial(n)) / factorial(sum(n)), 0),
                 ignore_attr = TRUE)
  }
})

test_that("who is erased, whenever that is, leaves blocks, releases and chances as plain R has them", {
  for (seed in 1:8) {
    withr::local_seed(seed)
    # With a growth the next size is that of people who were not erased.
    grows <- seed %% 4 == 1
    steps <- if (grows) 700 else 200
    args <- list(mu = 1, rule = c("equal", "thompson", "top_two", "neyman")[seed %% 4 + 1],
                 block = if (grows) 2.2 else c(9, 6), permuted = seed > 4, control = if (seed %% 2) 2)
    live <- live_session(do.call(policy_randomised, args), 3, 1e4, NULL)
    session_start(live)
    sums <- numeric()
    released <- function() take_sums(live)[, match("sum", RELEASE)]
    model <- do.call(randomised_model, c(list(3, function(n, sum) {
      value <- sums[1]
      sums <<- sums[-1]
      value
    }), args[lengths(args) > 0]))
    out <- list()
    off <- other <- numeric(steps)
    for (t in seq_len(steps)) {
      offer <- if (stats::runif(1) < 0.1) sort(sample(3L, 2)) else 1:3
      one <- session_play(live, offer, NULL)
      off[t] <- abs(model$probability(offer)[one[1]] - one[4])
      other[t] <- model$commit(offer, one[1]) - one[3]
      out <- c(out, list(one))
      while (length(out) > 20 || stats::runif(1) < 0.5 && length(out)) {
        at <- sample.int(length(out), 1)
        one <- out[[at]]
        out <- out[-at]
        if (stats::runif(1) < 0.3) {
          there <- session_unpull(live, as.integer(one[1]), one[3])
          sums <- released()
          other[t] <- other[t] + abs(model$erase(one[3], one[1]) - there)
        } else {
          session_feed(live, one[2], one[1], one[3], t %% 2, NULL)
          sums <- released()
          model$update(one[3], one[1], t %% 2)
        }
        other[t] <- other[t] + length(sums)
      }
    }
    expect_equal(as.vector(session_arms(live)$report$rewards), model$report()$n)
    expect_gte(min(model$report()$releases), if (grows) 1 else 11)
    expect_true(all(other == 0), info = seed)
    expect_lt(max(off), 5e-4) # live noise is announced larger
  }
})

test_that("people with other arms on offer are in no block, until they are more than one", {
  withr::local_seed(2)
  policy <- policy_randomised(mu = 1, block = 5)
  offers <- c(list(NULL)[rep(1, 3)], list(c(1L, 2L))[rep(1, 20)])
  out <- run_script(policy, 3, rep(NA, 23), rep(1, 23), offers = offers)
  # Three in the first block; six who do not belong to it; then blocks of two arms
  expect_identical(diff(c(0L, out$released)), as.integer(c(rep(0, 8), 3, rep(c(0, 0, 0, 0, 2), 2), rep(0, 4))))
  expect_identical(out$exact[1:3], as.double(tabulate(out$arm[1:3], 3)))
  expect_true(all(out$arm[4:23] <= 2))
})

test_that("the least chance, of 1e-6, stays in its block, whatever is released meanwhile", {
  means <- c(0.53, 0.11, 0.78, 0.18, 0.41, 0.48)
  policy <- policy_randomised(rule = "top_two", block = c(8, 5, 37), floor = 0, burn_in = 0)
  sim <- dpts_simulate(arms_bernoulli(means), policy, 300, runs = I(1), seed = 547852, history = TRUE, delay = 9)
  rounds <- dpts_history(sim)
  # Blocks are 1-8, 9-13, 14-50, 51-87, 88-124, ..., and that of 51-87 is released at 96.
  block <- findInterval(rounds$t, c(1, 9, 14, seq(51, 300, by = 37)))
  by <- list(block, rounds$arm)
  expect_lt(max(tapply(rounds$probability, by, function(p) diff(range(p))), na.rm = TRUE), 1e-12)
  expect_equal(rowSums(tapply(rounds$probability, by, max), na.rm = TRUE)[5:10], rep(1 - 4e-6, 6), ignore_attr = TRUE)
  # No probability is below it, so that the table of releases is one, with the least of two as its floor.
  table <- dpts_releases(sim)
  expect_equal(min(table$chance), 1e-6)
  expect_equal(unique(table$floor), 1e-6 / (1 - 4e-6)) # beside an arm of 1 - 5e-6
  expect_equal(nrow(estimates(sim)), 6)
  # Where all arms on offer have the least chance, people are tossed evenly.
  withr::local_seed(3)
  policy <- policy_randomised(rule = "top_two", block = 5, floor = 0, burn_in = 0)
  offers <- c(list(NULL)[rep(1, 10)], list(c(1L, 2L))[rep(1, 40)])
  out <- run_script(policy, 4, rep(NA, 50), rep(c(0, 1), c(10, 40)), offers = offers)
  expect_true(all(out$arm[11:50] <= 2))
})

test_that("bad arguments are refused by name", {
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  bad(policy_randomised(mu = 1, epsilon = 1), "`mu` and `epsilon` cannot both be given")
  bad(policy_randomised(block = c(1.5, 200)), "`block`")
  bad(policy_randomised(block = 5:11), "`block`")
  bad(policy_randomised(floor = c(0.1, 0.2)), "`floor`")
  arms <- arms_bernoulli(c(0.5, 0.6, 0.7))
  bad(dpts_simulate(arms, policy_randomised(floor = 0.4), 1000), "`floor` of 0.4, which is above 1/3 for 3 arms")
  bad(dpts_simulate(arms, policy_randomised(control = 4), 1000), "arm 4 for `control`, of 3")
  bad(dpts_simulate(arms, policy_randomised(floor = c(0.3, 0.5), control = 1), 1000), "add up to more than 1")
  # So do an agent, an audit, a plan and a verb of verdicts.
  floor <- policy_randomised(mu = 1, floor = 0.4)
  bad(dpts_agent(floor, 3, use = "arrival"), "`floor` of 0.4, which is above 1/3 for 3 arms")
  bad(dpts_agent(policy_local(policy_fixed(4), 1), 3, use = "arrival"), "pulls arm 4 of 3")
  bad(dpts_audit(floor, 10, arms = 3), "`policy` must fit 3 arms: it has a `floor` of 0.4")
  bad(dpts_plan(floor, arms, 100), "`floor` of 0.4")
  bad(dpts_identify(arms, floor), "`floor` of 0.4")
  expect_identical(policy_randomised(mu = 1)$guarantee, guarantee_gdp(1))
  expect_identical(policy_randomised(epsilon = 1)$guarantee, guarantee_pure(1))
  expect_identical(format(policy_randomised(mu = 1, block = c(200, 400), permuted = TRUE)),
                   "policy_randomised(mu = 1, block = c(200, 400), permuted = TRUE)")
})
