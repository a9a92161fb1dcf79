# One run's arms and rewards, and the chances of each round: a row for each
played <- function(policy, arms, n, seed = 1, ...) {
  sim <- dpts_simulate(arms, policy, n, runs = 1, seed = seed, history = TRUE, ...)
  dpts_history(sim)
}

test_that("EXP3 and Tsallis-INF toss with the chances of their papers", {
  k <- 3
  n <- 60
  arms <- arms_beta(c(2, 1, 3), c(2, 2, 1))
  for (rule in c("entropy", "tsallis")) {
    h <- played(policy_exp3(rule), arms, n)
    loss <- numeric(k)
    for (t in seq_len(n)) {
      eta <- if (rule == "entropy") sqrt(log(k) / (k * t)) else 2 / sqrt(t)
      p <- if (rule == "entropy") exp(-eta * loss) / sum(exp(-eta * loss)) else {
        w <- function(x) 4 / (eta * (loss - x))^2
        least <- min(loss)
        w(stats::uniroot(function(x) sum(w(x)) - 1, c(least - 4 * sqrt(k) / eta, least - 1e-3 / eta), tol = 1e-13)$root)
      }
      expect_equal(h$probability[t], p[h$arm[t]], tolerance = 1e-7)
      loss[h$arm[t]] <- loss[h$arm[t]] + (1 - h$reward[t]) / h$probability[t]
    }
  }
})

test_that("their regret against adversaries is below the bounds of the papers", {
  k <- 4
  n <- 500
  # The best arm changes, so that policies for stochastic rewards are led astray; chosen before anything is played
  best <- rep(c(1, 2, 3, 3, 4), each = 100)
  arms <- arms_adversary(function(past, t) outer(t, 1:4, function(t, i) as.numeric(best[t] == i | (i == 3 & t %% 2 == 0))),
                         block = 50)
  sim <- dpts_simulate(arms, list(exp3 = policy_exp3(), tsallis = policy_exp3("tsallis")), n, runs = 20, seed = 2, record = I(n))
  mean <- tapply(sim$regret, sim$policy, mean)
  expect_lt(mean[["exp3"]], 2 * sqrt(n * k * log(k)))
  expect_lt(mean[["tsallis"]], 4 * sqrt(n * k) + 1)
})

test_that("an adversary sees what was pulled and earned, and regret is against the best fixed arm", {
  seen <- list()
  f <- function(past, t) {
    seen[[length(seen) + 1]] <<- list(past = past, t = t)
    matrix(runif(3 * length(t)), length(t), dimnames = list(NULL, c("a", "b", "c")))
  }
  for (block in c(1, 7)) {
    arms <- arms_adversary(f, block = block)
    expect_identical(names(arms$mean), c("a", "b", "c"))
    seen <- list()
    sim <- dpts_simulate(arms, policy_ucb1(), 40, runs = 2, seed = 1, history = TRUE, threads = if (block == 7) 2 else 1)
    again <- dpts_simulate(arms, policy_ucb1(), 40, runs = 2, seed = 1, history = TRUE)
    expect_identical(sim$regret, again$regret)
    h <- dpts_history(sim)
    last <- seen[[which(vapply(seen, function(x) max(x$t) == 40, NA))[1]]]$past # of one of the runs
    found <- vapply(1:2, function(run) {
      mine <- h[h$run == run, ][seq_along(last$arm), ]
      identical(last$arm, as.integer(mine$arm)) && isTRUE(all.equal(last$reward, mine$reward))
    }, NA)
    expect_equal(sum(found), 1)
  }
  # regret, from rewards that do not depend on the past
  table <- matrix(withr::with_seed(1, runif(120, 2, 5)), 40)
  arms <- arms_adversary(function(past, t) table[t, ], block = 3, range = c(2, 5))
  sim <- dpts_simulate(arms, policy_exp3(), 40, runs = 1, seed = 4, history = TRUE, record = I(c(10, 40)))
  h <- dpts_history(sim)
  for (n in c(10, 40)) {
    expect_equal(sim$regret[sim$t == n], max(colSums(table[1:n, ])) - sum(h$reward[1:n]))
  }
  expect_equal(h$reward, table[cbind(1:40, h$arm)])
})

test_that("the past that an adversary keeps stays as it was, and what it writes to it is its own", {
  kept <- list()
  f <- function(past, t) {
    if (length(t) == 1 && t == 1) kept <<- list()
    kept[[length(kept) + 1]] <<- past
    own <- past$reward
    if (length(own)) own[1] <- 9
    past$arm[] <- 0L
    c(0.2, 0.8, 0.5)[(seq_len(3) + t[1]) %% 3 + 1]
  }
  sim <- dpts_simulate(arms_adversary(f), policy_exp3(), 300, runs = 1, seed = 1, history = TRUE)
  h <- dpts_history(sim)
  kept <- kept[lengths(lapply(kept, `[[`, "arm")) == seq_along(kept) - 1]
  expect_length(kept, 300)
  for (n in c(1, 2, 65, 66, 300)) {
    past <- kept[[n]]
    expect_identical(past$arm, h$arm[seq_len(n - 1)])
    expect_identical(past$reward, h$reward[seq_len(n - 1)])
    expect_identical(unserialize(serialize(past, NULL)), list(arm = h$arm[seq_len(n - 1)], reward = h$reward[seq_len(n - 1)]))
    expect_equal(c(sum(past$arm), length(past$arm)), c(sum(h$arm[seq_len(n - 1)]), n - 1))
    expect_identical(utils::tail(past$arm, 3), utils::tail(h$arm[seq_len(n - 1)], 3))
  }
})

test_that("the adversary in C is the one in R", {
  for (memory in c(1, 10)) {
    punish <- function(past, t) {
      recent <- tabulate(utils::tail(past$arm, memory), 3)
      ifelse(recent == max(1, recent), 0.2, 0.8)
    }
    policies <- list(exp3 = policy_exp3(), ucb1 = policy_ucb1())
    play <- function(arms) dpts_simulate(arms, policies, 60, runs = 2, seed = 1, history = TRUE)
    in_r <- play(arms_adversary(punish))
    in_c <- play(arms_adversary("punish", arms = 3, memory = memory))
    expect_identical(dpts_history(in_c)[c("arm", "reward")], dpts_history(in_r)[c("arm", "reward")])
    expect_equal(in_c$regret, in_r$regret)
  }
  arms <- arms_adversary("punish", arms = c("a", "b"))
  expect_identical(names(arms$mean), c("a", "b"))
  expect_error(arms_adversary("evil"), "`f` must be", class = "dpts_error_input")
  expect_error(arms_adversary("punish", memory = 0), "`memory`", class = "dpts_error_input")
})

test_that("an adversary from a file in C plays as the one in R, and what breaks its contract is an error by name", {
  withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir())
  punish <- system.file("examples", "punish.c", package = "dpts")
  theirs <- readLines(punish)
  file <- file.path(withr::local_tempdir(), "mine.c")
  one <- function(name, offer) sprintf(paste(
    "static void %1$s_offer(void *state, const dpts_problem *p, int64_t t, double *reward, dpts_draws *draws) {",
    "(void)state, (void)t, (void)draws; for (int i = 0; i < p->k; i++) reward[i] = %2$s; }\n",
    "static const dpts_adversary %1$s = {.name = \"%1$s\", .size = size_of_a_number, .offer = %1$s_offer, .see = none};"),
    name, offer)
  writeLines(c("static int calls;", theirs[-length(theirs)], "static size_t size_of_a_number(const dpts_problem *p) { (void)p; return 8; }",
               "static void none(void *s, const dpts_problem *p, int64_t t, int arm, double r) { (void)s, (void)p, (void)t, (void)arm, (void)r; }",
               one("coin", "dpts_uniform(draws)"), one("lost", "t == 7 && i == 1 ? NAN : 0.5"), one("two", "t > 900 ? 2 : 1"),
               one("wide", "((double *)state)[i] = 0.5"), one("counts", "++calls % 7 / 7.0"),
               "DPTS_ADVERSARIES(&punish, &coin, &lost, &two, &wide, &counts)"), file)
  mine <- arms_adversary(file, name = "punish", params = list(memory = 4), arms = c("a", "b", "c"), range = c(0, 10))
  play <- function(arms, ...) dpts_simulate(arms, list(policy_exp3(), policy_ucb1()), 60, runs = 2, seed = 1, history = TRUE, ...)
  ours <- play(arms_adversary("punish", arms = 3, memory = 4))
  expect_identical(names(mine), c("a", "b", "c"))
  expect_equal(play(mine)$regret, 10 * ours$regret)
  expect_identical(as.integer(dpts_history(play(mine))$arm), as.integer(dpts_history(ours)$arm))
  coin <- arms_adversary(file, name = "coin")
  expect_identical(dpts_history(play(coin, threads = 2)), dpts_history(play(coin)))
  expect_equal(mean(dpts_history(play(coin))$reward), 0.5, tolerance = 6 * sqrt(1 / 12 / 120) / 0.5)
  bad <- function(name, words, class = "dpts_error_contract", ...) expect_error(arms_adversary(file, name = name, ...), words, class = class)
  bad("lost", "in round 7 it gives NaN for arm 2")
  bad("wide", "writes past the bytes that size\\(\\) asks for")
  bad("counts", "other rewards when it is asked again", arms = 3)
  bad("punish", "must have \"memory\"", "dpts_error_input")
  bad("punish", "`params` must be a named list", "dpts_error_input", params = 4)
  bad("punish", "`params` must be a named list", "dpts_error_input", params = list(4))
  bad("no", "one of the adversaries of \"mine.c\"", "dpts_error_input")
  expect_error(arms_adversary(file), "`name`", class = "dpts_error_input")
  expect_error(arms_adversary("package:stats", name = "x"), "no adversary for dpts: it has registered none", class = "dpts_error_compiled")
  expect_error(policy_compiled("package:dpts", "x"), "it has no policies", class = "dpts_error_compiled")
  expect_error(dpts_simulate(arms_adversary(file, name = "two"), policy_ucb1(), 1000, runs = 1, seed = 1),
               "in round 901 of run 1: the adversary gave no number in \\[0, 1\\]")
})

test_that("what an adversary may not give is an error by name", {
  expect_error(arms_adversary(function(past, t) "a"), "must give a number for each arm", class = "dpts_error_callback")
  expect_error(arms_adversary(function(past, t) stop("tired")), "`f` failed in round 1", class = "dpts_error_callback")
  expect_error(arms_adversary(1), "`f`", class = "dpts_error_input")
  short <- arms_adversary(function(past, t) if (t[1] > 5) 1 else c(0.5, 0.5))
  expect_error(dpts_simulate(short, policy_ucb1(), 10, runs = 1, seed = 1), "must give 2 numbers", class = "dpts_error_callback")
  not_now <- arms_adversary(function(past, t) c(0.5, if (t > 3) NaN else 0.2))
  expect_error(dpts_simulate(not_now, policy_ucb1(), 10, runs = 1, seed = 1),
               "`f` must give 2 numbers in \\[0, 1\\] in round 4 of run 1; number 2 was NaN", class = "dpts_error_callback")
  outside <- arms_adversary(function(past, t) if (t[1] > 5) c(0, 2) else c(0.5, 0.5))
  expect_error(dpts_simulate(outside, policy_ucb1(), 10, runs = 1, seed = 1), "in \\[0, 1\\]", class = "dpts_error_callback")
})

test_that("policy_private() plays the inner policy on noisy means of batches, each reward in one", {
  n <- 200
  rewards <- withr::with_seed(1, matrix(runif(3 * n), n))
  batch <- 7
  out <- run_script(policy_private(policy_ucb1(), epsilon = 0.5, batch = batch), 3, rep(NA, n), rewards)
  m <- n %/% batch
  expect_equal(out$total, m)
  expect_identical(unique(out$scale[1:m]), 2)
  expect_identical(unique(dpts:::noise_names(out$kind[1:m])), "Laplace")
  arms <- matrix(out$arm[seq_len(m * batch)], batch)
  expect_true(all(apply(arms, 2, function(x) length(unique(x)) == 1)))
  own <- matrix(rewards[cbind(seq_len(m * batch), out$arm[seq_len(m * batch)])], batch)
  expect_equal(out$exact[1:m], colSums(own))
  # UCB1 on these means
  count <- sum <- numeric(3)
  for (j in seq_len(m)) {
    arm <- if (any(count == 0)) which(count == 0)[1] else which.max(sum / count + sqrt(2 * log(j - 1) / count))
    expect_identical(arms[1, j], arm)
    count[arm] <- count[arm] + 1
    sum[arm] <- sum[arm] + out$value[j] / batch
  }
  gaussian <- run_script(policy_private(policy_exp3(), mu = 0.25), 3, rep(NA, n), rewards)
  expect_identical(unique(gaussian$scale[seq_len(gaussian$total)]), 4)
  expect_equal(gaussian$total, n / 4)
})

test_that("an inner policy of [0, 1] sees a noisy mean that is clipped to it", {
  n <- 200
  rewards <- withr::with_seed(4, matrix(rbinom(3 * n, 1, 0.5), n))
  play <- function(first) {
    run_script(policy_private(policy_klucb(), epsilon = 0.5, batch = 10), 3, rep(NA, n), rewards,
               forced = c(first, rep(c(5, 4, 6), 7)))$arm
  }
  expect_identical(play(15), play(10))
  expect_identical(play(-5), play(0))
  expect_false(identical(play(10), play(0)))
})

test_that("batches of one reward and no noise are the inner policy; all verbs go on", {
  arms <- arms_beta(c(3, 2), c(2, 2)) # no ties
  withr::local_options(dpts.engine = "plain")
  for (inner in list(policy_ucb1(), policy_exp3("tsallis"))) {
    sim <- dpts_simulate(arms, list(a = inner, b = policy_private(inner, epsilon = 1e12, batch = 1)), 300, runs = 2, seed = 1,
                         history = TRUE)
    h <- dpts_history(sim)
    expect_identical(h$arm[h$policy == "a"], h$arm[h$policy == "b"])
  }
  private <- policy_private(policy_exp3(), epsilon = 0.3)
  expect_identical(private$params$batch, 4)
  expect_equal(dpts_privacy(private, 100, delta = 0)$epsilon, 0.3)
  expect_equal(eval(str2lang(as.character(private))), private)
  expect_identical(update(private, batch = 9)$params$batch, 9)
  sim <- dpts_simulate(arms, private, 400, runs = 2, seed = 1, delay = 30, finish = TRUE)
  expect_true(all(is.finite(estimates(sim)$mean)))
})

test_that("what cannot be made private is refused by name", {
  bad <- function(policy, words, ...) expect_error(policy_private(policy, ...), words, class = "dpts_error_input")
  bad(policy_dp_imed(1), "`policy` must be a policy without a guarantee", epsilon = 1)
  bad(policy_custom("x", function(k, h) 0, function(s, r) 1, function(s, f) s), "in C", epsilon = 1)
  bad(policy_restart(policy_ucb1(), 10), "not around another", epsilon = 1)
  bad(policy_linucb(), "without contexts", epsilon = 1)
  bad(policy_ucb1(), "`epsilon` must be given, or `mu`")
  bad(policy_ucb1(), "not both", epsilon = 1, mu = 1)
  bad(policy_ucb1(), "`batch`", epsilon = 1, batch = 0)
  expect_error(policy_exp3(rate = 0), "`rate`", class = "dpts_error_input")
})

test_that("what is for adversaries in C is refused beside a function", {
  for (given in list(list(arms = 3), list(memory = 5), list(name = "own"), list(params = list(a = 1)))) {
    expect_error(do.call(arms_adversary, c(list(function(past, t) 0:1), given)), sprintf("`%s` must be left out", names(given)),
                 class = "dpts_error_input")
  }
})
