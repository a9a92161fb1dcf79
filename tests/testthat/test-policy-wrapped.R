# policy_restart() and policy_local(): a policy that is shown less than what happens

skip_on_cran() # takes seconds

response_bit <- function(r, epsilon) plogis(-epsilon) + (1 - 2 * plogis(-epsilon)) * r

play_runs <- function(engine, arms, policy, horizon, runs, ..., seed = 1, record = I(horizon)) {
  withr::local_options(dpts.engine = engine)
  dpts_simulate(arms, policy, horizon, runs = runs, seed = seed, record = record, ...)
}

test_that("a policy around another one tosses coins, and needs a horizon, as that does", {
  around <- list(restart = function(p) policy_restart(p, 50), clipped = function(p) policy_clipped(p, c(0, 2)),
                 local = function(p) policy_local(p, 1), forget = function(p) policy_forget(p, 50), private = function(p) policy_private(p, 1))
  says <- function(policy) c(is_true_of(policy, "tosses"), is_true_of(policy, "needs_horizon"))
  inside <- list(policy_ts_beta(), policy_ucb1(), policy_dp_ts(1), policy_mt_ucb(1))
  expect_identical(lapply(inside, says), list(c(TRUE, FALSE), c(FALSE, FALSE), c(TRUE, TRUE), c(FALSE, TRUE)))
  tried <- 0
  for (make in around) for (policy in inside) {
    one <- tryCatch(make(policy), dpts_error_input = function(e) NULL) # some take only policies without a guarantee
    if (is.null(one)) next
    expect_identical(says(one), says(policy))
    tried <- tried + 1
  }
  expect_gt(tried, 10)
})

# ---- restart ------------------------------------------------------------------------------------

test_that("a restarted policy is the policy, run after run", {
  # On given rewards, life by life; UCB1 draws nothing.
  set.seed(3)
  table <- matrix(stats::rbinom(3 * 250, 1, rep(c(0.6, 0.5, 0.3), each = 250)), 250)
  whole <- run_script(policy_restart(policy_ucb1(), 100), 3, rep(NA, 250), table)$arm
  lives <- lapply(list(1:100, 101:200, 201:250), function(t) {
    run_script(policy_ucb1(), 3, rep(NA, length(t)), table[t, ])$arm
  })
  expect_identical(whole, unlist(lives))
  # A policy of one life is the policy itself, in every engine.
  arms <- arms_bernoulli(c(0.7, 0.5))
  for (engine in c("plain", "skip", "lanes")) {
    for (policy in list(policy_ts_gaussian(5, 0.5), policy_imed(), policy_dp_imed(1))) {
      sims <- lapply(c(500, 800), function(every) {
        play_runs(engine, arms, list(p = policy_restart(policy, every)), 500, 4, record = 20)
      })
      base <- play_runs(engine, arms, list(p = policy), 500, 4, record = 20)
      for (sim in sims) expect_equal(sim[1:5], base[1:5], ignore_attr = TRUE)
    }
  }
})

test_that("R and C policies restart alike, and a life knows its own clock, counts and horizon", {
  arms <- arms_bernoulli(c(0.6, 0.35, 0.1))
  sim <- play_runs("plain", arms, list(C = policy_restart(policy_ucb1(), 70),
                                       R = policy_restart(custom_ucb1(), 70)), 500, 3, record = 500)
  expect_identical(sim$regret[sim$policy == "R"], sim$regret[sim$policy == "C"])
  begin_notes()
  spy <- policy_custom("spy", function(k, horizon) {
    note(c(start = horizon))
    0
  }, function(state, round) {
    note(c(choose = round$t))
    1
  }, function(state, feedback) {
    note(c(update = feedback$t))
    state + 1
  })
  dpts_simulate(arms, policy_restart(spy, 2), 5, runs = 1, seed = 1)
  life <- c(start = 2, choose = 1, update = 1, choose = 2, update = 2)
  expect_identical(unlist(notes()), c(life, life, life[1:3]))
  # The horizon of the trees: with 2^3 - 1 rounds in a life there are three levels.
  scales <- function(policy, rounds) {
    unique(trace_policy(policy, 2, rep(1, rounds), rep(1, rounds))$ledger$scale)
  }
  expect_identical(scales(policy_restart(policy_mt_ucb(1), 7), 40), scales(policy_mt_ucb(1), 7))
  expect_gt(scales(policy_mt_ucb(1), 40), scales(policy_mt_ucb(1), 7))
})

test_that("rewards of an earlier life are not used, and each reward enters one life's releases", {
  rounds <- 60
  begin_notes()
  spy <- policy_custom("spy", function(k, horizon) NULL, function(state, round) 1,
                       function(state, feedback) {
                         note(feedback$t)
                         NULL
                       })
  run_script(policy_restart(spy, 20), 1, rep(NA, rounds), rep(0.5, rounds), delays = 3)
  # The last three of each life come too late.
  expect_identical(unlist(notes()), rep(1:17 + 0, 3))
  set.seed(1)
  rewards <- round(stats::runif(rounds), 2)
  arms <- sample(2, rounds, TRUE)
  for (policy in list(policy_dp_imed(0.5), policy_lazy_ucb(0.5), policy_mt_ucb(0.5))) {
    cost <- spent(taint(policy_restart(policy, 23), 2, rewards, arms))
    expect_lte(max(cost), 0.5 + 1e-12)
    expect_gt(max(cost), 0.1)
  }
})

test_that("restarted policies skip, and play in lanes, with the distribution of the plain loop", {
  arms <- arms_bernoulli(c(0.8, 0.6))
  expect_skip_exact(arms, policy_restart(policy_imed(), 130), 300, c(130, 131, 300), 1200)
  expect_skip_exact(arms, policy_restart(policy_dp_se(4, 0.9), 400), 900, c(500, 900), 800)
  expect_skip_exact(arms_truncexp(c(0.1, 5)), policy_restart(policy_ts_beta(), 150), 300,
                    c(100, 300), 800)
  # Gaussian TS in lanes: two lives, each of the exact distribution
  b <- 20
  exact <- exact_distribution_of_pulls(c(0.8, 0.3), b, 20, 0.3)
  for (engine in c("plain", "skip", "lanes")) {
    sim <- play_runs(engine, arms_bernoulli(c(0.8, 0.3)),
                     policy_restart(policy_ts_gaussian(b, 0.3), 60), 120, if (engine == "plain") 2000 else 8000)
    two <- stats::convolve(exact, rev(exact), type = "open")
    n2 <- pulls(sim)$pulls[pulls(sim)$arm == 2] - 2 * b
    expect_chisq(n2, function(i) two[i + 1], seq_along(two) - 1)
  }
})

test_that("lanes of many lives do not depend on the company, the slices or what is recorded", {
  arms <- arms_bernoulli(c(0.6, 0.55, 0.5))
  policy <- list(p = policy_restart(policy_local(policy_ts_gaussian(7, 2), 1), 250))
  play <- function(...) play_runs("lanes", arms, policy, 900, seed = 9, ...)
  base <- play(runs = 40, record = 30)
  expect_identical(play(runs = 40, record = 30, threads = 2), base)
  expect_identical(play(runs = c(33, 2), record = 30)$reward[1:30], base$reward[base$run == 33])
  few <- play(runs = 40, record = c(300, 900))
  expect_identical(few$reward[few$t == 900], base$reward[base$t == 900])
  expect_identical(few$regret[few$t == 900], base$regret[base$t == 900])
  counts <- pulls(base)
  expect_true(all(tapply(counts$pulls, counts$run, sum) == 900))
  expect_equal(base$regret[base$t == 900],
               as.vector(tapply(counts$pulls * c(0, 0.05, 0.1), counts$run, sum)))
})

test_that("a restarted policy promises what one life does", {
  at <- function(policy, horizon, accountant, ...) {
    dpts_privacy(policy, horizon, delta = 1e-6, accountant = accountant, ...)$epsilon
  }
  ts <- policy_ts_gaussian(prepulls = 3)
  odd <- policy_dp_imed(1.23456)$guarantee
  for (digits in 2:4) {
    expect_identical(format(policy_restart(policy_dp_imed(1.23456), 500)$guarantee, digits = digits), format(odd, digits = digits))
  }
  expect_match(format(odd, digits = 2), "1.3-", fixed = TRUE)
  for (accountant in c("gdp", "rdp", "advanced", "sequence")) {
    expect_identical(at(policy_restart(ts, 500), 1e5, accountant), at(ts, 500, accountant))
    expect_identical(at(policy_restart(ts, 500), 200, accountant), at(ts, 200, accountant))
  }
  expect_identical(policy_restart(policy_dp_imed(1), 10)$guarantee, policy_dp_imed(1)$guarantee)
  expect_identical(policy_restart(policy_gaussian_imed(1), 10)$guarantee,
                   policy_gaussian_imed(1)$guarantee)
  expect_identical(policy_restart(policy_ucb1(), 10)$guarantee, policy_ucb1()$guarantee)
  for (inner in list(policy_ucb1(), policy_dp_imed(1))) {
    expect_identical(policy_detect(inner)$guarantee, inner$guarantee)
  }
  draws <- policy_dp_ts_ucb(0.5)
  expect_identical(at(policy_restart(draws, 500), 1e5, "gdp"), at(draws, 500, "gdp"))
  twice <- policy_restart(policy_restart(ts, 500), 1000)
  expect_identical(at(twice, 1e5, "gdp"), at(ts, 500, "gdp"))
  # In a rejection replay a life can read every event.
  all <- conditions(1e4, 2, source = "replay")
  expect_identical(form(policy_restart(ts, 500)$guarantee, "mu", all), form(ts$guarantee, "mu", all))
})

test_that("lives within lives are those of the shorter, or refused", {
  ucb <- policy_restart(policy_ucb1(), 50)
  expect_error(policy_restart(ucb, 120), class = "dpts_error_input")
  expect_identical(kernel(policy_restart(ucb, 100), 1e4)$every, 50)
  expect_identical(kernel(policy_restart(ucb, 20), 1e4)$every, 20)
  expect_error(policy_restart(policy_ucb1(), 0), class = "dpts_error_input")
  expect_error(policy_restart("ucb1", 10), class = "dpts_error_input")
  error <- expect_error(
    dpts_simulate(arms_bernoulli(c(0.7, 0.5)), policy_restart(policy_ts_gaussian(100), 150), 1000),
    class = "dpts_error_horizon"
  )
  expect_match(conditionMessage(error), "`every` must be at least 200")
})

# ---- randomised response ------------------------------------------------------------------------

test_that("a reward becomes a bit with the chances that the help page says", {
  n <- 20000
  for (epsilon in c(0.1, 1, 3)) {
    for (r in c(0, 1, 0.3)) {
      out <- trace_policy(policy_local(policy_ucb1(), epsilon), 1, rep(r, n), rep(1, n))
      ledger <- out$ledger
      expect_identical(ledger$exact, rep(r, n)) # each reward, once
      expect_true(all(ledger$kind == 4))
      bits <- ledger$exact + ledger$noise
      expect_true(all(bits %in% c(0, 1) | abs(bits - round(bits)) < 1e-15))
      p <- response_bit(r, epsilon)
      expect_gt(stats::binom.test(sum(round(bits)), n, p)$p.value, 1e-4)
    }
  }
  # By 80 digits, 2^53 / (1 + e^epsilon) rounded up; plogis() rounds these down.
  least <- c(2115069564101273, 4503595905372369, 4498764696302638, 4503597289910320, 4503469681267913, 4470422383103552)
  epsilon <- c(1.1812924332656112, 1.6528992075010453e-06, 0.002147141542503629, 1.0380408427034492e-06,
               5.770766203550882e-05, 0.014733922732796854)
  units <- vapply(epsilon, flip_chance, 0) * 2^53
  expect_true(all(units >= least & units <= least + 4))
  # The worst ratio of chances is e^epsilon, and never above it.
  for (epsilon in c(1e-6, 0.1, 1, 5, 30, 40)) {
    expect_gt(flip_chance(1e3 * epsilon), 0)
    q <- flip_chance(epsilon)
    expect_lte(log((1 - q) / q), epsilon + 1e-12)
    expect_gte(log((1 - q) / q), min(epsilon, 36) - 1e-6 * exp(epsilon / 4))
    expect_identical(q * 2^53, round(q * 2^53))
  }
})

test_that("the debiased mean of the bits is the mean of the rewards", {
  n <- 40000
  rewards <- stats::qbeta((seq_len(n) - 0.5) / n, 2, 3)
  q <- plogis(-1.5)
  out <- trace_policy(policy_local(policy_ucb1(), 1.5), 1, rewards, rep(1, n))
  bits <- out$ledger$exact + out$ledger$noise
  estimate <- (mean(bits) - q) / (1 - 2 * q)
  se <- sqrt(0.25 / n) / (1 - 2 * q)
  expect_lt(abs(estimate - mean(rewards)), 4 * se)
})

test_that("the policy sees the bits, and the simulation the world", {
  begin_notes()
  spy <- policy_custom("spy", function(k, horizon) NULL, function(state, round) 1,
                       function(state, feedback) {
                         note(feedback$reward)
                         NULL
                       })
  sim <- dpts_simulate(arms_beta(5, 2), policy_local(spy, 1), 500, runs = 1, seed = 1, record = 500)
  expect_true(all(unlist(notes()) %in% c(0, 1)))
  expect_gt(min(diff(sim$reward)), 0) # Beta rewards, not bits
  # The rewards of a run are those of the policy with all its eyes: the streams are shared.
  open <- dpts_simulate(arms_beta(5, 2), spy, 500, runs = 1, seed = 1, record = 500)
  expect_identical(sim$reward, open$reward)
})

test_that("with an infinite epsilon it is the policy", {
  expect_identical(policy_local(policy_imed(), Inf), policy_imed())
  arms <- arms_bernoulli(c(0.7, 0.5))
  expect_identical(dpts_simulate(arms, policy_local(policy_imed(), Inf), 1000, seed = 1),
                   dpts_simulate(arms, policy_imed(), 1000, seed = 1))
})

test_that("R and C policies see the same bits", {
  arms <- arms_bernoulli(c(0.6, 0.35, 0.1))
  sim <- play_runs("plain", arms, list(C = policy_local(policy_ucb1(), 2),
                                       R = policy_local(custom_ucb1(), 2)), 500, 3, record = 500)
  expect_identical(sim$regret[sim$policy == "R"], sim$regret[sim$policy == "C"])
})

test_that("every engine has the exact distribution of Thompson sampling on bits", {
  epsilon <- 1.2
  means <- c(0.9, 0.2)
  exact <- exact_distribution_of_pulls(response_bit(means, epsilon), 2, 40, 0.3)
  for (arms in list(arms_bernoulli(means), arms_discrete(c(0, 0.5, 1), rbind(c(0.05, 0.1, 0.85),
                                                                             c(0.7, 0.2, 0.1))))) {
    for (engine in c("plain", "skip", "lanes")) {
      sim <- play_runs(engine, arms, policy_local(policy_ts_gaussian(2, 0.3), epsilon), 44,
                       if (engine == "plain") 2500 else 5000)
      n2 <- pulls(sim)$pulls[pulls(sim)$arm == 2] - 2
      expect_chisq(n2, function(i) exact[i + 1], seq_along(exact) - 1)
      # The rewards are the world's: given the pulls they have the arms' means.
      counts <- matrix(pulls(sim)$pulls, 2)
      excess <- sim$reward - colSums(counts * means)
      expect_lt(abs(mean(excess)), 4 * stats::sd(excess) / sqrt(length(excess)))
    }
  }
})

test_that("locally private policies skip with the distribution of the plain loop", {
  expect_skip_exact(arms_bernoulli(c(0.9, 0.3)), policy_local(policy_imed(), 3), 400,
                    c(50, 333, 400), 1200)
  expect_skip_exact(arms_truncexp(c(0.1, 8)), policy_local(policy_ts_beta(), 3), 300, c(100, 300), 1200)
  expect_skip_exact(arms_bernoulli(c(0.9, 0.2)), policy_local(policy_dp_se(4, 0.9), 2), 800,
                    c(300, 800), 800)
  expect_skip_exact(arms_bernoulli(c(0.9, 0.2)),
                    policy_restart(policy_local(policy_lazy_ucb(2), 3), 170), 400, c(170, 400), 1200)
})

test_that("wrapping commutes, and bits that are turned twice are turned once", {
  inner <- policy_imed()
  expect_mapequal(kernel(policy_local(policy_restart(inner, 50), 1), 500),
                  kernel(policy_restart(policy_local(inner, 1), 50), 500))
  twice <- kernel(policy_local(policy_local(inner, 1), 2), 500)$flip
  stay <- (1 - plogis(-1)) * (1 - plogis(-2)) + plogis(-1) * plogis(-2)
  expect_equal(twice, 1 - stay)
  guarantee <- policy_local(policy_local(inner, 1), 2)$guarantee
  expect_equal(guarantee$epsilon, log(stay / (1 - stay)))
})

test_that("the guarantee is the local one, or sharper for a policy with a promise of its own", {
  local <- policy_local(policy_imed(), 0.7)
  expect_identical(local$guarantee$epsilon, 0.7)
  expect_identical(dpts_privacy(local, 1e6, delta = 0.1, accountant = "pure")$epsilon, 0.7)
  both <- policy_local(policy_dp_imed(2), 1)$guarantee$epsilon
  expect_equal(both, log((exp(3) + 1) / (exp(2) + exp(1))))
  expect_lt(both, 1)
  # Exact for one release of one bit: Laplace noise of scale 1 / 2 on a randomised bit
  density <- function(y, at) exp(-2 * abs(y - at))
  y <- seq(-3, 4, 0.01)
  q <- plogis(-1)
  ratio <- ((1 - q) * density(y, 1) + q * density(y, 0)) / (q * density(y, 1) + (1 - q) * density(y, 0))
  expect_equal(max(abs(log(ratio))), both)
  expect_identical(policy_local(policy_uniform(), 1)$guarantee$epsilon, 0)
  expect_identical(policy_local(policy_gaussian_imed(1), 1)$guarantee$epsilon, 1)
  expect_identical(policy_local(policy_ts_gaussian(), 1)$guarantee$kind, "pure")
  linear <- policy_local(policy_linucb(), 1)$guarantee
  expect_identical(linear$neighbours, "public_context")
  joint <- policy_linucb(epsilon = 1, batch = 10)
  expect_identical(policy_local(joint, 0.1)$guarantee, joint$guarantee)
  expect_error(policy_local(policy_imed(), 0), class = "dpts_error_input")
  expect_error(policy_local(policy_imed(), -1), class = "dpts_error_input")
  expect_error(policy_local(1, 1), class = "dpts_error_input")
})

# ---- elsewhere ----------------------------------------------------------------------------------

test_that("replays, contexts and labels see through the wrapping", {
  log <- data.frame(arm = rep(1:2, 500), reward = rep(c(1, 0, 1, 1), 250), context = rep(c(0.2, 0.9), 500))
  replay <- dpts_replay(log, list(
    policy_local(policy_restart(policy_ts_beta(), 100), 1), policy_local(policy_linucb(), 2),
    policy_restart(policy_linucb(model = "disjoint"), 50)
  ), delay = 5, runs = 2, seed = 1)
  expect_setequal(levels(replay$policy), c("local(restart(ts_beta))", "local(linucb)", "restart(linucb)"))
  expect_true(all(replay$events > 300))
  arms <- arms_bernoulli(c(0.7, 0.5))
  expect_error(dpts_simulate(arms, policy_local(policy_linucb(), 1), 100), class = "dpts_error_contexts")
  expect_error(dpts_simulate(arms, policy_restart(policy_fixed(3), 10), 100), class = "dpts_error_input")
  sim <- dpts_simulate(arms, list(policy_local(policy_imed(), 1), policy_local(policy_imed(), 2)), 50,
                       seed = 1)
  expect_identical(levels(sim$policy), c("local(imed)(epsilon = 1)", "local(imed)(epsilon = 2)"))
})

test_that("the printed call makes the policy", {
  policies <- list(policy_restart(policy_dp_imed(1 / 3), 1e5), policy_local(policy_imed(), 0.1),
                   policy_local(policy_restart(policy_ts_gaussian(5, 2), 100), 1 / 7))
  for (policy in policies) expect_identical(eval(str2lang(format(policy))), policy)
})

# ---- in the middle ------------------------------------------------------------------------------

test_that("a live session that is saved and restored, with rewards out, goes on as it would have", {
  rounds <- 60
  table <- withr::with_seed(2, matrix(stats::rbinom(2 * rounds, 1, rep(c(0.6, 0.4), each = rounds)), rounds))
  # Rewards come three rounds late. -> the arms, and the pulls whose rewards are out
  play <- function(engine, t, out = list()) {
    arms <- vapply(t, function(i) {
      pull <- session_play(engine, 1:2, NULL)
      out <<- c(out, list(pull))
      if (length(out) > 3) {
        first <- out[[1]]
        session_feed(engine, first[2], first[1], first[3], table[first[2], first[1]], NULL)
        out <<- out[-1]
      }
      pull[1]
    }, 0)
    list(arms = arms, out = out)
  }
  # Policies that draw nothing. With epsilon = 80 a bit of 0 or 1 is turned once in 1e34.
  for (policy in list(
    policy_restart(policy_ucb1(), 17), policy_local(policy_imed(), 80),
    policy_restart(policy_local(policy_klucb(), 80), 23), policy_local(policy_restart(policy_ucb1(), 29), 80)
  )) {
    new <- function() live_session(policy, 2, rounds, 0)
    whole <- new()
    session_start(whole)
    arms <- play(whole, 1:rounds)$arms
    expect_setequal(arms, 1:2)
    for (stop in c(1, 16, 17, 18, 25)) {
      first <- new()
      session_start(first)
      begun <- play(first, 1:stop)
      bytes <- session_save(first)
      then <- new()
      session_restore(then, bytes)
      expect_identical(session_save(then), bytes)
      expect_identical(c(begun$arms, play(then, (stop + 1):rounds, begun$out)$arms), arms)
      expect_identical(session_pulls(then), session_pulls(whole))
    }
  }
})

test_that("a history of restarted policies is kept in every engine, lanes too, and changes nothing", {
  arms <- arms_bernoulli(c(0.7, 0.5, 0.3))
  policies <- list(lanes = policy_restart(policy_ts_gaussian(5, 2), 130), skips = policy_restart(policy_imed(), 90),
                   local = policy_restart(policy_local(policy_ts_gaussian(5, 2), 1), 130),
                   batches = policy_restart(policy_dp_imed(1), 200))
  for (engine in c("plain", "skip", "lanes")) {
    play <- function(...) play_runs(engine, arms, policies, 500, 5, record = c(129, 130, 131, 400, 500), ...)
    kept <- play(history = TRUE)
    expect_identical(numbers_of(kept), numbers_of(play()))
    h <- dpts_history(kept)
    id <- paste(h$policy, h$run)
    at <- match(paste(kept$policy, kept$run, kept$t), paste(id, h$t))
    expect_equal(stats::ave(h$reward, id, FUN = cumsum)[at], kept$reward)
    expect_equal(stats::ave(arms$gap[h$arm], id, FUN = cumsum)[at], kept$regret)
    expect_true(all(h$reward %in% 0:1))
    # Gaussian TS begins each of its lives with five pulls of each arm.
    for (start in c(1, 131, 261, 391)) {
      opening <- h$arm[h$policy == "lanes" & h$t >= start & h$t < start + 15]
      expect_identical(as.vector(table(opening)), rep(25L, 3))
    }
  }
})
