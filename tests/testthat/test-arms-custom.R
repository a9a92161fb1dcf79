skip_on_cran() # takes seconds

coin <- function(means) function(arm, n) stats::rbinom(n, 1, means[arm])
means <- c(0.4, 0.6, 0.5)
policies <- function() list(ucb1 = policy_ucb1(), ts = policy_ts_gaussian(), imed = policy_dp_imed(1))

test_that("custom rewards have the distribution that R gives them, and regret is by their means", {
  arms <- arms_custom(coin(means), means)
  sim <- dpts_simulate(arms, policies(), 2000, runs = 100, seed = 1, record = I(2000))
  n <- pulls(sim)
  expected <- tapply(n$pulls * (0.6 - means)[n$arm], list(n$run, n$policy), sum)
  expect_equal(sim$regret, c(expected))
  # The reward of a run less what its pulls are worth has mean 0 and at most the variance of 2000 coins.
  worth <- tapply(n$pulls * means[n$arm], list(n$run, n$policy), sum)
  off <- matrix(sim$reward - c(worth), 100)
  expect_true(all(abs(colMeans(off)) < 5 * sqrt(2000 / 4 / 100)))
  # The distribution of what policies do is that with the same rewards drawn in C.
  c_side <- withr::with_options(list(dpts.engine = "plain"), {
    dpts_simulate(arms_bernoulli(means), policies(), 2000, runs = 100, seed = 2, record = I(2000))
  })
  for (policy in names(policies())) {
    p <- stats::wilcox.test(sim$regret[sim$policy == policy], c_side$regret[c_side$policy == policy],
                            exact = FALSE)$p.value
    expect_gt(p, 1e-4)
  }
})

test_that("the m-th reward of an arm is the same for all policies, whatever the blocks", {
  arms <- arms_custom(function(arm, n) stats::runif(n), c(0.5, 0.5))
  sim <- dpts_simulate(arms, list(one = policy_fixed(1), two = policy_fixed(2), any = policy_uniform()),
                       3000, runs = 2, seed = 1, history = TRUE)
  h <- dpts_history(sim)
  for (run in 1:2) for (arm in 1:2) {
    alone <- h$reward[h$policy == c("one", "two")[arm] & h$run == run]
    mixed <- h$reward[h$policy == "any" & h$run == run & h$arm == arm]
    expect_identical(mixed, alone[seq_along(mixed)])
    expect_gt(stats::ks.test(alone, "punif")$p.value, 1e-4)
  }
  expect_false(anyDuplicated(h$reward[h$policy == "any"]) > 0)
})

test_that("results do not depend on threads, run ranges, workers or R's generator, which is put back", {
  kinds <- RNGkind()
  withr::defer(do.call(RNGkind, as.list(kinds)))
  arms <- arms_custom(coin(means), means)
  play <- function(...) dpts_simulate(arms, policies(), 100, seed = 9, record = c(1, 50, 100), ...)
  all <- play(runs = 6)
  expect_identical(numbers_of(play(runs = 6, threads = 2)), numbers_of(all))
  part <- play(runs = run_range(3, 5))
  expect_identical(part$reward, all$reward[all$run %in% 3:5])
  withr::with_seed(1, kind <- play(runs = 6), .rng_kind = "Wichmann-Hill", .rng_normal_kind = "Box-Muller")
  expect_identical(numbers_of(kind), numbers_of(all))

  withr::local_preserve_seed()
  set.seed(4)
  old <- .Random.seed
  play(runs = 2)
  expect_identical(.Random.seed, old)
  RNGkind("Wichmann-Hill")
  rm(".Random.seed", envir = globalenv())
  play(runs = 2)
  expect_false(exists(".Random.seed", globalenv()))
  expect_equal(RNGkind()[1], "Wichmann-Hill")
})

test_that("futures play custom arms alike", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  arms <- arms_custom(coin(means), means)
  table <- arms_custom(function(arm, n, t) stats::runif(n, 0, arm / 2), function(t) cbind(t * 0 + 0.25, 0.5))
  old <- future::plan("multicore", workers = 2)
  withr::local_options(dpts.seconds_before_workers = 0)
  withr::defer(future::plan(old))
  skip_if(inherits(future::plan(), "sequential"), "no plan to test with")
  play <- function() dpts_simulate(list(a = arms, b = table), policy_ucb1(), 60, runs = 3, seed = 3)
  parallel <- play()
  future::plan("sequential")
  expect_identical(numbers_of(play()), numbers_of(parallel))
})

test_that("a checkpoint knows custom arms again by what they do", {
  path <- withr::local_tempfile(fileext = ".rds")
  make <- function(p) arms_custom(function(arm, n) stats::rbinom(n, 1, p[arm]), p)
  play <- function(arms, runs = 2) {
    dpts_simulate(arms, policy_ucb1(), 300, runs = runs, seed = 1, checkpoint = path)
  }
  first <- play(make(c(0.4, 0.6)))
  again <- play(make(c(0.4, 0.6)), runs = 3)
  expect_equal(nrow(again), 3 / 2 * nrow(first))
  expect_identical(again$regret[again$run < 3], first$regret)
  # Runs 1 and 2 were not played again.
  expect_length(readRDS(path)$chunks, 3)
  expect_error(play(make(c(0.4, 0.7))), class = "dpts_error_checkpoint")
  other <- arms_custom(function(arm, n) stats::runif(n) < c(0.4, 0.6)[arm], c(0.4, 0.6))
  expect_error(play(other), class = "dpts_error_checkpoint")
})

test_that("custom arms mix with those that C draws", {
  arms <- c(arms_bernoulli(c(a = 0.5)), arms_custom(coin(c(b = 0.3)), c(b = 0.3)), arms_beta(c(c = 2), 2))
  sim <- dpts_simulate(arms, list(one = policy_fixed(1), two = policy_fixed(2), three = policy_fixed(3)),
                       4000, runs = 1, seed = 1, history = TRUE)
  h <- dpts_history(sim)
  expect_setequal(h$reward[h$policy == "two"], 0:1)
  expect_gt(stats::ks.test(h$reward[h$policy == "three"], "pbeta", 2, 2)$p.value, 1e-4)
  rate <- tapply(h$reward, h$policy, mean)
  expect_true(all(abs(rate - c(0.5, 0.3, 0.5)) < 5 * 0.5 / sqrt(4000)))
})

test_that("rewards and means of every round may change", {
  wave <- function(t) cbind(steady = 0.5, moody = ifelse(t %% 7 < 2, 0.9, 0.3))
  arms <- arms_custom(function(arm, n, t) stats::rbinom(n, 1, wave(t)[, arm]), wave, check = TRUE)
  t <- 1:1500
  truth <- wave(t)
  for (arm in 1:2) {
    sim <- dpts_simulate(arms, policy_fixed(arm), 1500, runs = 3, seed = 1, history = TRUE, record = 1500)
    expect_equal(sim$regret, rep(regret_of_means(truth, arm), 3))
    rate <- tapply(dpts_history(sim)$reward, rep(t %% 7 < 2, 3), mean)
    expect_true(all(abs(rate - if (arm == 1) 0.5 else c(0.3, 0.9)) < 5 * 0.5 / sqrt(table(rep(t %% 7 < 2, 3)))))
  }
  # A function of one round is called for each.
  one <- arms_custom(function(arm, n, t) stats::rbinom(n, 1, wave(t)[, arm]), function(t) wave(t)[1, ])
  expect_identical(dpts_simulate(one, policy_ucb1(), 500, seed = 1)$regret,
                   dpts_simulate(arms, policy_ucb1(), 500, seed = 1)$regret)
  # All policies of a run meet the same table.
  both <- dpts_history(dpts_simulate(arms, list(one = policy_fixed(1), any = policy_uniform()), 300, runs = 2,
                                seed = 1, history = TRUE))
  steady <- both$policy == "any" & both$arm == "steady"
  expect_identical(both$reward[steady], both$reward[both$policy == "one"][
    match(paste(both$run, both$t)[steady], paste(both$run, both$t)[both$policy == "one"])])
})

test_that("a range is checked, and scales", {
  arms <- arms_custom(function(arm, n) stats::runif(n, 10, 20), c(15, 15), range = c(10, 20))
  sim <- dpts_simulate(arms, policy_dp_imed(1), 400, runs = 2, seed = 1, history = TRUE)
  r <- dpts_history(sim)$reward
  expect_true(all(r >= 10 & r <= 20))
  expect_equal(sim$reward[sim$t == 400], as.vector(tapply(r, rep(1:2, each = 400), sum)))
  free <- arms_custom(function(arm, n) stats::rnorm(n), c(0, 0), range = NULL)
  expect_error(dpts_simulate(free, policy_dp_imed(1), 100), class = "dpts_error_rewards")
  expect_s3_class(dpts_simulate(free, policy_ucb1(), 100, seed = 1), "dpts_simulation")
})

test_that("functions that cannot be used are refused at once, by name and with R's own message", {
  good <- coin(means)
  expect_snapshot(error = TRUE, {
    arms_custom("draw", means)
    arms_custom(function(n) 1, means)
    arms_custom(function(arm, n, t) 1, means)
    arms_custom(function(arm, n) NULL, means)
    arms_custom(function(arm, n) rep(NA, n), means)
    arms_custom(function(arm, n) rep("a", n), means)
    arms_custom(function(arm, n) 0.5, means)
    arms_custom(function(arm, n) rep(2, n), means)
    arms_custom(function(arm, n) stop("no such arm"), c(a = 0.5))
    arms_custom(good, c(0.5, 2))
    arms_custom(good, means, TRUE)
    arms_custom(good, function(t) "a")
    arms_custom(function(arm, n, t) rep(0.5, n), function(t) "a")
    arms_custom(function(arm, n, t) rep(0.5, n), function() 0.5)
    arms_custom(function(arm, n, t) rep(0.5, n), function(t) stop("no means"))
  })
})

test_that("functions that fail later name the arm and the run", {
  calls <- 0
  late <- function(arm, n) {
    calls <<- calls + 1
    if (calls > 5 && arm == 2) stop("the well is dry")
    rep(0.5, n)
  }
  arms <- arms_custom(late, c(a = 0.5, b = 0.5))
  error <- expect_error(dpts_simulate(arms, policy_fixed(2), 1e4, seed = 1, runs = 2), class = "dpts_error_callback", call = TRUE)
  expect_match(conditionMessage(error), "`draw` failed for arm \"b\" in run 1")
  expect_match(conditionMessage(error$parent), "the well is dry")
  size <- arms_custom(function(arm, n) rep(0.5, if (n > 500) n + 1 else n), c(0.5, 0.5))
  error <- expect_error(dpts_simulate(size, policy_fixed(1), 1e4, seed = 1), class = "dpts_error_callback")
  expect_match(conditionMessage(error), "must give 1024 numbers")
  # The table fails in its means after round 1e4.
  fails <- arms_custom(function(arm, n, t) rep(0.5, n), function(t) {
    if (any(t > 1e4)) stop("unknown future")
    cbind(t * 0 + 0.5, 0.5)
  })
  error <- expect_error(dpts_simulate(fails, policy_fixed(1), 2e4, seed = 1), class = "dpts_error_callback")
  expect_match(conditionMessage(error$parent), "unknown future")
  expect_error(dpts_simulate(arms_custom(function(arm, n, t) if (any(t > 70)) "a" else rep(0.5, n), function(t) cbind(t * 0, 0.5)),
                             policy_fixed(1), 100, seed = 1), "for arm 1 in run 1, rounds 65 to 100", class = "dpts_error_callback")
  gaps <- arms_custom(function(arm, n, t) rep(0.5, n), function(t) cbind(ifelse(t > 70, NA, 0.5), 0.5))
  error <- expect_error(dpts_simulate(gaps, policy_fixed(1), 100, seed = 1), "`means` failed", class = "dpts_error_callback")
  expect_match(conditionMessage(error$parent), "2 finite numbers for each round")
})

test_that("what a later block holds is checked as the first is, whatever its type", {
  # Wrong from the second block on: the third reward of it
  spoiled <- function(wrong, range = c(0, 1), type = identity) {
    arms_custom(function(arm, n) {
      x <- type(rep_len(0:1, n))
      if (n > 64 && arm == 2) x[3] <- wrong
      x
    }, c(a = 0.5, b = 0.5), range = range)
  }
  refused <- function(arms, says) {
    expect_error(dpts_simulate(arms, policy_fixed(2), 1000, seed = 1), says, class = "dpts_error_callback")
  }
  refused(spoiled(NA, type = as.logical), "256 numbers in \\[0, 1\\] for arm \"b\" in run 1; number 3 was NA")
  refused(spoiled(NA_integer_, type = as.integer), "number 3 was NA")
  refused(spoiled(2L, type = as.integer), "number 3 was 2")
  refused(spoiled(NaN, type = as.double), "number 3 was NaN")
  refused(spoiled(-1e-9), "number 3 was -1e-09")
  refused(spoiled(Inf, range = NULL), "finite numbers .* number 3 was Inf")
  refused(spoiled(-5, range = c(-4, 4)), "number 3 was -5")
  later <- function(x) arms_custom(function(arm, n) if (n > 64) x(n) else rep(0.5, n), c(0.5, 0.5))
  refused(later(function(n) "a"), "it gave")
  refused(later(function(n) factor(rep(1, n))), "it gave a factor")
  refused(later(function(n) as.list(rep(0.5, n))), "it gave a list")
  refused(later(function(n) rep(0.5, n + 1)), "of length 257")
  # The same numbers as logicals, integers and doubles, in any range that holds them
  play <- function(type, ..., mean = 0.5) {
    arms <- arms_custom(function(arm, n) type(stats::runif(n) < 0.5), c(mean, mean), ...)
    sim <- dpts_simulate(arms, policy_ucb1(), 700, runs = 2, seed = 3, record = 9, history = TRUE)
    dpts_history(sim)[c("arm", "reward")]
  }
  expect_identical(play(as.integer), play(as.logical))
  expect_identical(play(as.double), play(as.logical))
  wide <- play(as.integer, range = c(-1, 3))
  expect_setequal(wide$reward, c(0, 1))
  scaled <- play(function(x) (x + 1) / 4, mean = 0.375)
  expect_identical(wide$arm, scaled$arm)
  expect_equal(wide$reward, 4 * scaled$reward - 1)
})

test_that("means that do not agree with the draws are found when asked", {
  expect_error(arms_custom(coin(c(0.4, 0.6)), c(a = 0.4, b = 0.66), check = TRUE), "arm \"b\"",
               class = "dpts_error_means")
  expect_s3_class(arms_custom(coin(c(0.4, 0.6)), c(0.4, 0.6), check = TRUE), "dpts_arms")
  expect_error(arms_custom(function(arm, n) rep(0.5, n), 0.4, check = TRUE), class = "dpts_error_means")
  expect_s3_class(arms_custom(function(arm, n) rep(0.5, n), 0.5, check = TRUE), "dpts_arms")
  drift <- function(t) cbind(0.5, pmin(1, t / 1000))
  expect_error(arms_custom(function(arm, n, t) stats::rbinom(n, 1, 0.5), drift, check = TRUE),
               "in round", class = "dpts_error_means")
  # A wrong alarm is rare: none in 200 true arms.
  p <- seq(0.001, 0.999, length.out = 200)
  expect_s3_class(arms_custom(coin(p), p, check = TRUE), "dpts_arms")
})

test_that("means that the rewards do not have are noticed after a simulation", {
  draw <- function(arm, n) stats::rbinom(n, 1, c(0.2, 0.8)[arm])
  play <- function(means, runs = 2, ...) {
    dpts_simulate(arms_custom(draw, means, ...), list(a = policy_ucb1(), b = policy_uniform()), 300,
                  runs = runs, seed = 1)
  }
  expect_warning(play(c(0.8, 0.2)), "\"a\" earned", class = "dpts_warning_means")
  expect_no_warning(play(c(0.2, 0.8), runs = 200))
  # Of several problems and policies the one is named that earned too little, wherever it stands.
  of <- function(means) arms_custom(draw, means)
  for (bad in 1:2) for (at in 1:3) {
    problems <- list(x = of(c(0.2, 0.8)), y = of(c(0.2, 0.8)))
    problems[[bad]] <- of(c(0.2, 0.9))
    policies <- list(a = policy_fixed(1), b = policy_fixed(1), c = policy_fixed(1))
    policies[[at]] <- policy_fixed(2)
    expect_warning(dpts_simulate(problems, policies, 300, runs = 5, seed = 1), sprintf("policy \"%s\" earned", c("a", "b", "c")[at]),
                   class = "dpts_warning_means")
  }
  # whatever the runs are for
  wrong <- arms_custom(draw, c(0.8, 0.9))
  warned <- function(x) expect_warning(x, "less than they let expect", class = "dpts_warning_means")
  warned(dpts_identify(wrong, policy_top_two(), limit = 300, runs = 2, seed = 1))
  warned(dpts_plan(policy_randomised(), wrong, 300, runs = 2, seed = 1))
  # rewards that cannot vary, so that the means allow for nothing
  warned(dpts_simulate(arms_custom(function(arm, n) numeric(n), c(1, 1)), policy_uniform(), 300, runs = 1, seed = 1))
  # An event that is rare and comes is none.
  rare <- arms_custom(function(arm, n) as.numeric(seq_len(n) == 1), c(1e-4, 1e-4))
  expect_no_warning(dpts_simulate(rare, policy_uniform(), 100, runs = 1, seed = 1))
  # Without a range the rewards' own squares are the measure.
  free <- function(means, sd = 1) arms_custom(function(arm, n) stats::rnorm(n, c(0.1, 2)[arm], sd), means, range = NULL)
  play <- function(arms) dpts_simulate(arms, policy_ucb1(), 300, runs = 2, seed = 1)
  expect_warning(play(free(c(2, 0.1))), "few in a million", class = "dpts_warning_means")
  expect_no_warning(play(free(c(0.1, 2))))
  expect_no_warning(play(free(c(0.1, 2 + 1e-10), 0))) # nothing but rounding
  wave <- function(t) cbind(a = 0.5, b = ifelse(t %% 2 == 0, 0.9, 0.1))
  expect_warning(dpts_simulate(arms_custom(function(arm, n, t) stats::rbinom(n, 1, 0.1), wave), policy_fixed(2),
                               300, runs = 1, seed = 1), class = "dpts_warning_means")
  expect_no_warning(dpts_simulate(arms_custom(function(arm, n, t) stats::rbinom(n, 1, wave(t)[, arm]), wave),
                                  policy_fixed(2), 300, runs = 10, seed = 1))
})

test_that("of functions of packages it is the package's version that counts, but for R's own", {
  expect_identical(package_of(environment(rlang::abort)), paste("rlang", utils::packageVersion("rlang")))
  for (f in list(sum, stats::rnorm, mean, two_arms)) expect_null(package_of(environment(f)))
  expect_identical(package_of(structure(new.env(), name = "package:dptsnosuch")), "package:dptsnosuch ") # attached, not installed
})

test_that("an environment is what is in it, wherever it was made and in whatever order it was filled", {
  made <- function(what) {
    nobody_asks <- stats::runif(1) # in the environment around it
    e <- new.env()
    for (name in names(what)) assign(name, what[[name]], e)
    definition_of(list(e))
  }
  expect_identical(made(list(a = 1, b = "x")), made(list(b = "x", a = 1)))
  expect_false(made(list(a = 1, b = "x")) == made(list(a = 1, b = "y")))
  expect_false(definition_of(globalenv()) == definition_of(asNamespace("dpts")))
  # A formula is what it says.
  formula <- function() eval(quote(y ~ x), list2env(list(own = stats::runif(1)))) # in an environment of its own
  expect_identical(made(list(a = formula())), made(list(a = formula())))
  expect_false(made(list(a = formula())) == made(list(a = y ~ z)))
})

test_that("a checkpoint sees a changed variable or function that the arms' functions use", {
  path <- withr::local_tempfile(fileext = ".rds")
  global <- globalenv()
  withr::defer(rm("dpts_test_chance", "dpts_test_helper", envir = global))
  assign("dpts_test_helper", function(n) stats::runif(n) < dpts_test_chance, global)
  make <- function() {
    arms_custom(eval(quote(function(arm, n) dpts_test_helper(n) + 0), global), c(a = 0.5, b = 0.5), range = c(0, 2))
  }
  play <- function() suppressWarnings(dpts_simulate(make(), policy_ucb1(), 100, runs = 2, seed = 1, checkpoint = path))
  assign("dpts_test_chance", 0.3, global)
  first <- play()
  expect_identical(play(), first)
  assign("dpts_test_chance", 0.9, global)
  expect_error(play(), class = "dpts_error_checkpoint")
})
