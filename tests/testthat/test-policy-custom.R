skip_on_cran() # takes seconds

arms2 <- function() arms_bernoulli(c(0.7, 0.5))
plain <- function(env = parent.frame()) withr::local_options(dpts.engine = "plain", .local_envir = env)

# ---- the same policy in R and in C ------------------------------------------------------------

test_that("UCB1 in R pulls what UCB1 in C pulls, on the same rewards", {
  plain()
  arms <- arms_bernoulli(c(0.6, 0.35, 0.1))
  sim <- dpts_simulate(arms, list(C = policy_ucb1(), R = custom_ucb1()), 2000, runs = 3, seed = 4,
                       record = 2000)
  # Gaps of 0, 0.25 and 0.5 tell the arm of a round from the regret.
  expect_identical(sim$regret[sim$policy == "R"], sim$regret[sim$policy == "C"])
  expect_identical(sim$reward[sim$policy == "R"], sim$reward[sim$policy == "C"])
  counts <- pulls(sim)
  expect_identical(counts$pulls[counts$policy == "R"], counts$pulls[counts$policy == "C"])
})

test_that("Gaussian TS in R pulls what Gaussian TS in C pulls, on the same normals and rewards", {
  k <- 3
  rounds <- 1500
  set.seed(8)
  rewards <- matrix(stats::rbinom(k * rounds, 1, rep(c(0.6, 0.5, 0.4), each = rounds)), rounds)
  z <- .Call(C_sample, "normal", k * rounds, numeric(), 11) # the policy's stream of run 0
  in_r <- policy_custom(
    "gaussian", count_start,
    choose = function(state, round) {
      normals <- z[k * (round$t - 1) + seq_len(k)]
      which.max(state$sum / (state$n + 1) + sqrt(2 / (state$n + 1)) * normals)
    },
    count_update
  )
  free <- rep(NA, rounds)
  for (delays in list(NULL, 0)) {
    in_c <- run_script(policy_ts_gaussian(variance_scale = 2), k, free, rewards, seed = 11, run = 0)
    twin <- run_script(in_r, k, free, rewards, seed = 11, run = 0)
    expect_identical(twin$arm, in_c$arm)
    expect_setequal(twin$arm, 1:3)
  }
})

test_that("late rewards, pools and commits reach the functions as they reach a kernel in C", {
  k <- 3
  rounds <- 400
  set.seed(2)
  rewards <- round(stats::runif(rounds), 3)
  offers <- lapply(seq_len(rounds), function(i) sort(sample(k, sample(2:3, 1))))
  delays <- sample(0:9, rounds, TRUE)
  begin_notes()
  tell <- function(...) note(list(...))
  spy <- policy_custom(
    "spy", function(k, horizon) tell("start", k, horizon),
    choose = function(state, round) round$offer[1 + round$t %% length(round$offer)],
    update = function(state, feedback) tell("update", feedback$t, feedback$arm, feedback$reward),
    commit = function(state, round, arm) tell("commit", round$t, arm, round$offer)
  )
  out <- run_script(spy, k, rep(NA, rounds), rewards, offers = offers, delays = delays)
  seen <- notes()
  what <- vapply(seen, `[[`, "", 1)
  expect_identical(seen[[1]], list("start", 3L, 400))
  commits <- seen[what == "commit"]
  expect_identical(vapply(commits, `[[`, 0, 2), seq_len(rounds) + 0)
  expect_identical(vapply(commits, `[[`, 0L, 3), out$arm)
  expect_identical(lapply(commits, `[[`, 4), offers)
  expect_true(all(mapply(`%in%`, out$arm, offers)))
  # The reward of round t comes at the end of round t + its delay; first in, first out.
  due <- seq_len(rounds) + delays
  order <- order(due, seq_len(rounds))
  order <- order[due[order] <= rounds]
  updates <- seen[what == "update"]
  expect_identical(vapply(updates, `[[`, 0, 2), order + 0)
  expect_identical(vapply(updates, `[[`, 0L, 3), out$arm[order])
  expect_identical(vapply(updates, `[[`, 0, 4), rewards[order])
})

test_that("a discarded choice leaves no trace, and replays can discard", {
  log <- data.frame(arm = rep(1:2, 500), reward = rep(c(1, 0, 1, 1), 250))
  twins <- dpts_replay(log, list(C = policy_ucb1(), R = custom_ucb1()), runs = 2, seed = 1)
  same <- c("run", "events", "reward")
  expect_equal(as.data.frame(twins)[twins$policy == "R", same],
               as.data.frame(twins)[twins$policy == "C", same], ignore_attr = TRUE)
})

test_that("contexts are a vector for all arms, or a matrix with a row for each", {
  begin_notes()
  look <- policy_custom("look", function(k, horizon) NULL,
                        function(state, round) {
                          note(round = round$context)
                          2
                        },
                        function(state, feedback) {
                          note(feedback = feedback$context)
                          NULL
                        })
  contexts <- matrix(seq(0.1, 0.6, 0.1), 2)
  run_script(look, 2, c(NA, NA, NA), c(1, 0, 1), contexts = contexts)
  expect_equal(utils::tail(notes(), 2), list(round = contexts[, 3], feedback = contexts[, 3]))
  own <- matrix(seq(0.1, 0.8, 0.1), 4) # of two arms, two numbers each, in two rounds
  run_script(look, 2, c(NA, NA), c(1, 0), contexts = matrix(own, 2), own = TRUE)
  expect_equal(utils::tail(notes(), 2), list(round = rbind(own[1:2, 2], own[3:4, 2]), feedback = own[3:4, 2]))
})

# ---- streams ----------------------------------------------------------------------------------

test_that("one seed gives one answer, whatever the run ranges, company, slices and R's generator", {
  play <- function(..., policies = custom_greedy()) {
    dpts_simulate(arms2(), policies, 100, seed = 3, ..., record = 50)
  }
  base <- play(runs = 8)
  expect_identical(play(runs = 8, threads = 2), base)
  expect_identical(rbind(play(runs = 1:3), play(runs = 4:8)), base)
  expect_identical(play(runs = c(7, 2))$regret[1:50], base$regret[base$run == 7])
  both <- play(runs = 8, policies = list(a = policy_ts_beta(), greedy = custom_greedy()))
  expect_identical(both$regret[both$policy == "greedy"], base$regret)
  expect_identical(play(runs = 8, checkpoint = withr::local_tempfile()), base)
  withr::local_seed(99, .rng_kind = "Wichmann-Hill", .rng_normal_kind = "Box-Muller")
  expect_identical(play(runs = 8), base)
  expect_false(identical(dpts_simulate(arms2(), custom_greedy(), 200, seed = 4, runs = 8,
                                       record = 50)$regret, base$regret))
  # A slice that ends after every few rounds
  slow <- custom_greedy()
  slow$choose <- local({
    choose <- slow$choose
    function(state, round) {
      if (round$t %% 100 == 0) Sys.sleep(0.06)
      choose(state, round)
    }
  })
  expect_identical(play(runs = 2, policies = list(greedy = slow))$regret,
                   base$regret[base$run <= 2])
})

test_that("runs have different streams", {
  first <- function(run) {
    dpts_simulate(arms_bernoulli(c(1, 0)), custom_greedy(1), 64, seed = 1, runs = I(run),
                  record = 64)$regret
  }
  draws <- lapply(1:20, first)
  expect_length(unique(draws), 20)
})

test_that("R's generator is left alone", {
  play <- function(policy = custom_greedy()) dpts_simulate(arms2(), policy, 300, seed = 1, runs = 2)
  withr::local_seed(5)
  before <- .Random.seed
  play()
  expect_identical(.Random.seed, before)
  expect_error(play(custom_fault(function(state, round) stop("now")))) 
  expect_identical(.Random.seed, before)
  withr::local_seed(5, .rng_kind = "Knuth-TAOCP-2002", .rng_normal_kind = "Ahrens-Dieter")
  before <- .Random.seed
  play()
  expect_identical(.Random.seed, before)
  expect_identical(RNGkind()[1:2], c("Knuth-TAOCP-2002", "Ahrens-Dieter"))
  rm(.Random.seed, envir = globalenv())
  kind <- RNGkind()
  play()
  expect_false(exists(".Random.seed", globalenv()))
  expect_identical(RNGkind(), kind)
  set.seed(1) # of the old kind, for the next tests
})

test_that("workers give the sequential answer bit for bit, and get global variables", {
  skip_if_not_installed("future.apply")
  skip_if_not_installed("codetools")
  base <- dpts_simulate(arms2(), custom_greedy(), 300, runs = 6, seed = 7, record = 20)
  old <- future::plan("multicore", workers = 2)
  withr::local_options(dpts.seconds_before_workers = 0)
  withr::defer(future::plan(old))
  skip_if(inherits(future::plan(), "sequential"), "no plan to test with")
  expect_identical(dpts_simulate(arms2(), custom_greedy(), 300, runs = 6, seed = 7, record = 20), base)
  # As they are sent, not as a worker may have them
  global <- globalenv()
  withr::defer(rm("dpts_test_arm", envir = global))
  assign("dpts_test_arm", 1, global)
  choose <- eval(quote(function(state, round) dpts_test_arm), global)
  pulled <- function() {
    found <- pulls(dpts_simulate(arms2(), policy_custom("of a global", function(k, horizon) 0, choose, function(state, feedback) state),
                                 20, runs = 2, seed = 1))
    tapply(found$pulls, found$arm, sum)[[2]]
  }
  expect_identical(pulled(), 0)
  local_function("globals_of", function(old) function(...) replace(old(...), "dpts_test_arm", 2))
  expect_identical(pulled(), 40)
})

test_that("a policy is the same when it is made again or read from a file, and no other", {
  make <- function(explore) custom_greedy(explore)
  again <- unserialize(serialize(make(0.1), NULL))
  expect_true(same_thing(make(0.1), again))
  expect_false(same_thing(make(0.1), make(0.2)))
  expect_true(same_thing(policy_local(make(0.1), 1), policy_local(again, 1)))
  expect_false(same_thing(policy_local(make(0.1), 1), policy_local(make(0.2), 1)))
  expect_false(same_thing(policy_local(make(0.1), 1), policy_local(again, 2)))
  expect_identical(update(make(0.1), name = "other")$name, "other")
  expect_identical(update(policy_restart(policy_imed(), 10), every = 20), policy_restart(policy_imed(), 20))
})

test_that("whatever a function decides by tells two policies apart, and nothing else does", {
  skip_if_not_installed("codetools")
  global <- globalenv()
  withr::defer(rm("dpts_test_rate", envir = global))
  holds <- function(...) list2env(list(...), new.env(parent = emptyenv()))
  # Each makes a function from a number; two of them are the same if their numbers are.
  makers <- list(
    code = function(x) eval(bquote(function(state, round) .(x))),
    default = function(x) eval(bquote(function(state, round, rate = .(x)) rate)),
    variable = function(x) function(state, round) x,
    attribute = function(x) { of <- structure(1, rate = x); function(state, round) attr(of, "rate") },
    name = function(x) { of <- stats::setNames(1:2, c("a", x)); function(state, round) of[["a"]] },
    hidden = function(x) { of <- holds(.rate = x); function(state, round) of$.rate },
    deep = function(x) { of <- list(a = holds(b = list(c = function() x))); function(state, round) of$a$b$c() },
    helper = function(x) { own <- function() x; function(state, round) own() },
    by_call = function(x) { own <- function() x; function(state, round) do.call("own", list()) },
    by_get = function(x) { own <- x; function(state, round) get("own") },
    by_map = function(x) { own <- function(i) x; function(state, round) vapply(1, "own", 0) },
    class = function(x) { of <- structure(list(), class = c("a", x)); function(state, round) inherits(of, "b") },
    class_of_environment = function(x) { of <- structure(holds(), class = c("a", x)); function(state, round) inherits(of, "b") },
    attribute_of_function = function(x) { of <- structure(function() 1, rate = x); function(state, round) attr(of, "rate") },
    factor = function(x) { of <- factor("a", c("a", x)); function(state, round) nlevels(of) },
    dim = function(x) { of <- array(0, c(1, x, 6 / x)); function(state, round) dim(of)[2] }
  )
  of <- function(make, x) {
    make(x) # (each call makes environments of its own)
    policy_custom("mine", function(k, horizon) 0, make(x), function(state, feedback) state)
  }
  for (name in names(makers)) {
    expect_true(same_thing(of(makers[[name]], 2), of(makers[[name]], 2)), info = name)
    expect_false(same_thing(of(makers[[name]], 2), of(makers[[name]], 3)), info = name)
  }
  in_global <- function(x) { assign("dpts_test_rate", x, global); eval(quote(function(state, round) dpts_test_rate), global) }
  seen <- vapply(c(2, 2, 3), function(x) definition_of(of(in_global, x)), "")
  expect_identical(match(seen, seen), c(1L, 1L, 3L))
  # A helper that lives there is looked into as well.
  through <- function(x) { assign("dpts_test_rate", eval(bquote(function() .(x)), global), global); eval(quote(function(state, round) dpts_test_rate()), global) }
  seen <- vapply(c(2, 2, 3), function(x) definition_of(of(through, x)), "")
  expect_identical(match(seen, seen), c(1L, 1L, 3L))
})

test_that("what a function uses is found, whatever it is made of", {
  skip_if_not_installed("codetools")
  rm_after <- c("dpts_test_global", "dpts_test_helper")
  withr::defer(rm(list = rm_after, envir = globalenv()))
  global <- globalenv()
  global$dpts_test_global <- 0.25
  global$dpts_test_helper <- eval(quote(function(x) x < dpts_test_global), globalenv())
  make <- function(unused, used) {
    helper <- function(x) dpts_test_helper(x) && used
    function(state, round) helper(stats::runif(1))
  }
  f <- make(1, TRUE)
  uses <- uses_of(list(f))
  expect_setequal(names(uses$global), c("dpts_test_helper", "dpts_test_global"))
  expect_setequal(names(uses$local), c("helper", "used"))
  loop <- function(n) if (n > 0) loop(n - 1)
  environment(loop)$loop <- loop
  expect_named(uses_of(list(loop))$local, "loop")
})

# ---- what goes wrong ----------------------------------------------------------------------------

test_that("an error names the policy, the round and the run, and keeps R's own", {
  late <- custom_fault(function(state, round) {
    if (round$t == 10000) stop("out of ideas") else 1
  })
  error <- expect_error(dpts_simulate(arms2(), late, 20000, runs = 3:4, seed = 1), class = "dpts_error_callback", call = TRUE)
  expect_match(conditionMessage(error), "`choose()` of policy \"fault\" failed in round 10,000 of run 3",
               fixed = TRUE)
  expect_identical(conditionMessage(error$parent), "out of ideas")
  expect_s3_class(error, "dpts_error")
  expect_identical(error$round, 10000)
  # C writes where a host is; as byte code, too, which users run, each policy has a place of its own.
  made <- compiler::cmpfun(new_host)
  local_function("new_host", function(old) function(policy) {
    hosts[[length(hosts) + 1]] <<- made(policy)
    hosts[[length(hosts)]]
  })
  hosts <- list()
  expect_error(dpts_simulate(arms2(), late, 20000, runs = 3:4, seed = 1), class = "dpts_error_callback")
  expect_true(10000 %in% vapply(hosts, function(host) host$where[2], 0))
  expect_identical(made(late)$where, c(0, 0, 0))
  update <- custom_fault(update = function(state, feedback) stop(feedback$t))
  expect_error(dpts_simulate(arms2(), update, 5, seed = 1), "`update\\(\\)`.*round 1 of run 1")
  start <- custom_fault(start = function(k, horizon) log(-1:"a"))
  expect_error(suppressWarnings(dpts_simulate(arms2(), start, 5, seed = 1)), "`start\\(\\)`")
  commit <- custom_fault(commit = function(state, round, arm) stop(arm))
  expect_error(dpts_simulate(arms2(), commit, 5, seed = 1), "`commit\\(\\)`")
  log <- data.frame(arm = rep(1:2, 50), reward = 1)
  expect_error(dpts_replay(log, late, horizon = 10), NA)
  expect_error(dpts_replay(log, update, seed = 1), class = "dpts_error_callback")
  # The class of the parent, too
  classed <- custom_fault(function(state, round) rlang::abort("no", class = "my_error"))
  error <- expect_error(dpts_simulate(arms2(), classed, 5, seed = 1), class = "dpts_error_callback", call = TRUE)
  expect_s3_class(error$parent, "my_error")
})

test_that("only one arm that is on offer is taken", {
  refused <- function(value, says) {
    error <- expect_error(
      dpts_simulate(arms2(), custom_fault(function(state, round) value), 5, seed = 1),
      class = "dpts_error_callback"
    )
    expect_match(conditionMessage(error), says, fixed = TRUE)
  }
  refused(NA, "one of the available arms, 1 or 2, not NA")
  refused(NA_integer_, "not NA")
  refused(NULL, "not NULL")
  refused(1:2, "not an integer vector of length 2")
  refused(3, "not 3")
  refused(0L, "not 0")
  refused(1.5, "not 1.5")
  refused(Inf, "not Inf")
  refused(NaN, "not NaN")
  refused(TRUE, "not TRUE")
  refused("1", "not the string \"1\"")
  refused(factor(1), "not a factor")
  refused(list(1), "not a list of length 1")
  refused(numeric(), "not an empty double vector")
  expect_error(dpts_simulate(arms2(), custom_fault(function(state, round) 2), 5, seed = 1), NA)
  pools <- rep(list(2:3), 4)
  expect_error(run_script(custom_fault(), 3, rep(NA, 4), rep(0, 4), offers = pools),
               "one of the available arms, 2 or 3, not 1")
})

test_that("a state that was forgotten is told", {
  forgot <- custom_fault(update = function(state, feedback) NULL)
  expect_error(dpts_simulate(arms2(), forgot, 5, seed = 1), "new state, not NULL")
  stateless <- custom_fault(start = function(k, horizon) NULL,
                            update = function(state, feedback) NULL)
  expect_error(dpts_simulate(arms2(), stateless, 5, seed = 1), NA)
})

test_that("functions are checked when the policy is made", {
  make <- function(start = function(k, horizon) 0, choose = function(state, round) 1,
                   update = function(state, feedback) 0, ...) {
    policy_custom("mine", start, choose, update, ...)
  }
  input <- function(code) expect_error(code, class = "dpts_error_input")
  input(make(start = function(k) 0))
  input(make(choose = function(state, round, more) 0))
  input(make(update = "update"))
  input(make(commit = function(state, round) 0))
  input(make(function(k, horizon) 0, unknown = 1))
  input(make(guarantee = 1))
  input(policy_custom(1, mean, mean, mean))
  expect_s3_class(make(start = function(...) 0), "dpts_policy")
  expect_s3_class(make(start = function(k, horizon, more = 1) 0), "dpts_policy")
  expect_error(make(choose = function(state) 1),
               "`choose` must be a function of 2 arguments, `choose(state, round)`, not a function of 1",
               fixed = TRUE)
})

test_that("interrupts, warnings and messages pass through", {
  interrupt <- custom_fault(function(state, round) {
    if (round$t == 3) rlang::interrupt()
    1
  })
  out <- tryCatch(dpts_simulate(arms2(), interrupt, 5, seed = 1), interrupt = function(i) "stopped")
  expect_identical(out, "stopped")
  warns <- custom_fault(function(state, round) {
    if (round$t == 3) warning("careful")
    1
  })
  expect_warning(sim <- dpts_simulate(arms2(), warns, 5, runs = 1, seed = 1), "careful")
  expect_equal(max(sim$t), 5)
  # A restart of the caller's, past the kernels
  leave <- custom_fault(function(state, round) invokeRestart("leave", round$t))
  expect_identical(withRestarts(dpts_simulate(arms2(), leave, 5, seed = 1), leave = identity), 1)
  # And the next simulation is none the worse.
  expect_error(dpts_simulate(arms2(), custom_ucb1(), 50, seed = 1), NA)
})

test_that("a policy can play a simulation of its own", {
  nested <- custom_fault(function(state, round) {
    inner <- dpts_simulate(arms2(), custom_greedy(), 20, runs = 1, seed = round$t, record = 1)
    1 + (inner$regret > 1)
  })
  outer <- function() dpts_simulate(arms2(), nested, 3, runs = 2, seed = 1)
  expect_identical(outer(), outer())
})

# ---- what it is elsewhere -----------------------------------------------------------------------

test_that("a declared guarantee goes to the accountants", {
  promised <- function(guarantee) {
    policy_custom("mine", count_start, function(state, round) 1, count_update, guarantee = guarantee)
  }
  curves <- dpts_privacy(promised(privacy_gdp(0.5)), 100, delta = 1e-5)
  expect_equal(curves$epsilon[curves$accountant == "gdp"], gdp_epsilon(0.5, 1e-5))
  expect_identical(promised(policy_dp_imed(1))$guarantee, policy_dp_imed(1)$guarantee)
  expect_identical(promised(privacy_pure(1))$guarantee, policy_dp_imed(1)$guarantee)
  expect_identical(promised(NULL)$guarantee, policy_ucb1()$guarantee)
})

test_that("names label results, and printing tells what it is", {
  sim <- dpts_simulate(arms2(), list(custom_ucb1(), policy_ucb1()), 10, seed = 1)
  expect_identical(levels(sim$policy), c("ucb1 in R", "ucb1"))
  expect_output(print(custom_ucb1()), "ucb1 in R, written in R")
  expect_identical(format(custom_ucb1()), "policy_custom(\"ucb1 in R\", start, choose, update)")
})

test_that("a guarantee about rewards in [0, 1] is refused where they may lie outside", {
  private <- policy_custom("mine", count_start, choose = function(state, round) 1L, count_update,
                           guarantee = privacy_pure(1))
  free <- arms_gaussian(c(0.5, 0.3), sd = 1)
  expect_error(dpts_simulate(free, private, 20, runs = 1), "private and needs rewards",
               class = "dpts_error_rewards")
  open <- policy_custom("mine", count_start, choose = function(state, round) 1L, count_update)
  expect_s3_class(dpts_simulate(free, open, 20, runs = 1, seed = 1), "tbl_df")
})

test_that("checkpoints and joins see a changed variable or function that a policy uses", {
  path <- withr::local_tempfile(fileext = ".rds")
  global <- globalenv()
  withr::defer(rm("dpts_test_first", "dpts_test_helper", envir = global))
  assign("dpts_test_helper", function(state, round) if (round$t <= dpts_test_first) 1L else 2L, global)
  play <- function(runs, checkpoint = path) {
    policy <- policy_custom("mine", function(k, horizon) 0,
                            eval(quote(function(state, round) dpts_test_helper(state, round)), global),
                            function(state, feedback) state)
    sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_restart(policy, every = 1000), 100, runs = runs,
                         seed = 1, checkpoint = checkpoint)
    sim
  }
  last <- function(sim) mean(sim$regret[sim$t == 100])
  assign("dpts_test_first", 10, global)
  one <- play(1:2)
  expect_equal(last(one), 0.2 * 90)
  expect_identical(play(1:2), one)
  assign("dpts_test_first", 60, global)
  expect_equal(last(play(1:2)), 0.2 * 40)
  expect_error(rbind(one, play(3:4, NULL)), class = "dpts_error_join")
  assign("dpts_test_first", 10, global)
  expect_equal(nrow(rbind(one, play(3:4, NULL))), 2 * nrow(one))
  assign("dpts_test_helper", function(state, round) 2L, global)
  expect_equal(last(play(1:2)), 0.2 * 100)
})

test_that("a checkpoint says if it cannot compare what a policy uses", {
  file <- textConnection("")
  withr::defer(close(file))
  for (pointer in list(methods::new("externalptr"), file, structure(list(1), of = methods::new("externalptr")))) {
    policy <- policy_custom("mine", function(k, horizon) 0, function(state, round) if (is.null(pointer)) 1L else 2L,
                            function(state, feedback) state)
    expect_warning(dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy, 10, runs = 1, seed = 1,
                                 checkpoint = withr::local_tempfile()), class = "dpts_warning_checkpoint")
  }
  expect_false(definition_of(structure(list(1), rate = 1)) == definition_of(structure(list(1), rate = 2)))
})

test_that("a state that runs share, and a generator that the policy sets, are errors", {
  play <- function(start, choose = function(state, round) sample(2, 1)) {
    policy <- policy_custom("mine", start, choose, function(state, feedback) state)
    dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy, 20, runs = 4, seed = 1)
  }
  shared <- new.env()
  expect_error(play(function(k, horizon) shared), class = "dpts_error_callback")
  expect_error(play(function(k, horizon) list(1, shared)), class = "dpts_error_callback")
  expect_no_error(play(function(k, horizon) list(1, new.env())))
  expect_error(play(function(k, horizon) set.seed(1)), class = "dpts_error_callback")
  expect_error(play(function(k, horizon) 0, function(state, round) {
    set.seed(1)
    sample(2, 1)
  }), class = "dpts_error_callback")
})

test_that("a policy that keeps something outside its state is refused at its first run, and by an audit", {
  policy <- function(update, start = function(k, horizon) 0, choose = function(state, round) 1) {
    policy_custom("outside", start, choose, update, guarantee = privacy_pure(1))
  }
  closure <- function() {
    n <- c(0, 0)
    policy(function(state, feedback) {
      n[feedback$arm] <<- n[feedback$arm] + 1
      state
    }, choose = function(state, round) which.min(n))
  }
  captured <- function() {
    e <- new.env()
    policy(function(state, feedback) {
      e$n <- feedback$reward
      state
    })
  }
  object <- function() { # as R6 makes them
    self <- new.env()
    self$n <- 0
    self$add <- eval(quote(function() self$n <- self$n + 1), list2env(list(self = self), parent = globalenv()))
    policy(function(state, feedback) {
      self$add()
      state
    })
  }
  deep <- function() {
    kept <- list(1, new.env())
    policy(function(state, feedback) {
      assign("n", feedback$t, envir = kept[[2]])
      state
    })
  }
  global <- function() {
    rm(list = intersect("dpts_test_kept", ls(globalenv())), envir = globalenv())
    policy(eval(quote(function(state, feedback) dpts_test_kept <<- 1), globalenv()))
  }
  withr::defer(rm(list = "dpts_test_kept", envir = globalenv()))
  for (make in list(closure, captured, object, deep, global)) {
    expect_error(dpts_simulate(arms2(), make(), 1, runs = 1, seed = 1), "outside its state: `", class = "dpts_error_state")
    expect_error(dpts_audit(make(), 4, runs = 100, seed = 1), "outside its state: `", class = "dpts_error_state")
    agent <- dpts_agent(make(), c("a", "b"), use = "arrival")
    ticket <- agent_choose(agent)$ticket
    expect_error(agent_reward(agent, ticket, 1), class = "dpts_error_state")
  }
  # Changed by each run, and at the end what it was
  back <- policy(eval(quote(function(state, feedback) {
    assign("dpts_test_kept", 2 - feedback$t, envir = globalenv())
    state
  }), globalenv()), choose = eval(quote(function(state, round) 1 + (get("dpts_test_kept", globalenv()) < 1)), globalenv()))
  assign("dpts_test_kept", -1, globalenv())
  expect_error(dpts_simulate(arms2(), back, 3, runs = 2, seed = 1), "outside its state: `dpts_test_kept`",
               class = "dpts_error_state")
  # What is made in start() is the run's own; what is only read may be anywhere.
  table <- list2env(list(pay = 1))
  own <- policy(function(state, feedback) {
    state$n <- state$n + table$pay
    state
  }, function(k, horizon) list2env(list(n = 0)))
  expect_no_error(dpts_simulate(arms2(), own, 20, runs = 3, seed = 1))
  # Where no code names it, an audit finds that a run is not what it was.
  begin_notes()
  hidden <- policy(function(state, feedback) {
    options(dpts.test_notes = feedback$reward)
    state
  }, choose = function(state, round) 1 + (getOption("dpts.test_notes", 0) > 0))
  expect_error(dpts_audit(hidden, 4, streams = "success", runs = 100, seed = 1), "repeated after others",
               class = "dpts_error_state")
})

# ---- what a policy says of itself ---------------------------------------------------------------

# UCB on sums of tree counters, one for each arm; the history of released sums is the counter's
tree_ucb <- function(epsilon = 1, n = 200, ...) policy_custom(
  "tree UCB",
  start = function(k, horizon) rep(list(counter_tree(epsilon, n)), k),
  choose = function(state, round) {
    items <- vapply(state, `[[`, 0, "items")
    if (any(items == 0)) return(which(items == 0)[1])
    sums <- vapply(state, function(counter) counter$released[length(counter$released)], 0)
    which.max(sums / items + sqrt(2 * log(round$t) / items))
  },
  update = function(state, feedback) {
    state[[feedback$arm]] <- counter_add(state[[feedback$arm]], feedback$reward)
    state
  },
  report = function(state, arm) {
    counter <- state[[arm]]
    if (counter$items == 0) return(NULL)
    list(rewards = counter$items, sum = counter$released[length(counter$released)], kind = "Laplace", terms = 0,
         scale = 8 / epsilon, last_terms = sum(bitwAnd(counter$items, 2^(0:10)) > 0), looks = counter$items)
  },
  guarantee = privacy_pure(epsilon), ...
)

test_that("a private policy in R with a report has estimates that hold, in simulations and replays", {
  arms <- arms_bernoulli(c(0.7, 0.4))
  sim <- dpts_simulate(arms, tree_ucb(20), 200, runs = 10, seed = 1)
  e <- estimates(sim)
  expect_equal(as.numeric(tapply(e$rewards, e$run, sum)), rep(200, 10))
  truth <- c(0.7, 0.4)[e$arm]
  expect_true(all(e$lower <= truth & truth <= e$upper))
  expect_lt(mean(abs(e$mean - truth)), 0.1)
  expect_true(all(is.na(estimates(dpts_simulate(arms, update(tree_ucb(20), report = NULL), 50, seed = 1))$mean)))
  bad <- update(tree_ucb(), report = function(state, arm) list(rewards = 1, sum = NaN))
  error <- expect_error(dpts_simulate(arms, bad, 20, runs = 1, seed = 1), "`report\\(\\)` of policy \"tree UCB\" failed",
                        class = "dpts_error_callback")
  expect_match(conditionMessage(error$parent), "`sum` is NaN")
})

test_that("probability, finish and verdict of a policy in R reach those who ask", {
  arms <- arms_bernoulli(c(0.7, 0.4, 0.1))
  toss <- policy_custom(
    "toss", start = function(k, horizon) list(n = numeric(k), done = FALSE),
    choose = function(state, round) sample(3, 1, prob = (1 + state$n) / sum(1 + state$n)),
    update = function(state, feedback) {
      state$n[feedback$arm] <- state$n[feedback$arm] + 1
      state
    },
    report = function(state, arm) list(rewards = if (state$done) state$n[arm] else 0, sum = state$n[arm] / 2),
    probability = function(state, round) (1 + state$n) / sum(1 + state$n),
    finish = function(state) replace(state, "done", TRUE),
    verdict = function(state) if (max(state$n) > 20) which.max(state$n) else NA
  )
  sim <- dpts_simulate(arms, toss, 50, runs = 2, seed = 1, history = TRUE, finish = TRUE)
  h <- dpts_history(sim)
  for (run in 1:2) {
    arm <- h$arm[h$run == run]
    n <- vapply(seq_along(arm), function(t) sum(arm[seq_len(t - 1)] == arm[t]), 0)
    expect_equal(h$probability[h$run == run], (1 + n) / (3 + seq_along(arm) - 1))
  }
  expect_equal(sum(estimates(sim)$rewards), 100)
  expect_equal(unique(estimates(sim)$mean), 0.5)
  expect_true(all(is.na(estimates(dpts_simulate(arms, toss, 50, runs = 2, seed = 1))$rewards)))
  expect_true(is_true_of(toss, "gives_verdict"))
  live <- live_session(toss, 3, 100, NULL)
  session_start(live)
  expect_identical(session_verdict(live), NA_integer_)
  for (i in 1:63) {
    played <- session_play(live, NULL, NULL)
    session_feed(live, played[2], played[1], played[3], 1, NULL)
  }
  expect_true(session_verdict(live) %in% 1:3)
  expect_identical(lapply(1:3, told_verdict, k = 3), lapply(1:3, function(arm) c(1, arm, NaN)))
  for (x in list("a", 0, 4, 1.5, 1:2, c(NA, NA), NULL)) expect_error(told_verdict(x, 3), "an arm, or NA", class = "dpts_error_verdict")
  for (p in list(c(0.5, 0.6, 0), c(-0.5, 0.5, 1), c(0.5, 0.5))) {
    bad <- update(toss, probability = function(state, round) p)
    error <- expect_error(dpts_simulate(arms, bad, 5, runs = 1, seed = 1, history = TRUE), "`probability\\(\\)`", class = "dpts_error_callback")
    expect_match(conditionMessage(error$parent), "3 probabilities that sum to 1, not (numbers that sum to 1.1|-0.5 for arm 1|a double vector)")
  }
  expect_error(update(toss, verdict = function() 1), "`verdict` must be a function", class = "dpts_error_input")
})

test_that("rounds and feedback that a policy keeps stay what they were", {
  begin_notes()
  policy <- policy_custom(
    "keeps", start = function(k, horizon) list(),
    choose = function(state, round) {
      note(round)
      round$t %% 2 + 1
    },
    update = function(state, feedback) c(state, list(feedback), list(feedback$t, feedback$reward)),
    finish = function(state) {
      note(state)
      state
    }
  )
  sim <- dpts_simulate(arms_beta(c(2, 3), c(2, 2)), policy, 6, runs = 1, seed = 1, finish = TRUE, history = TRUE)
  last <- notes()[[7]]
  expect_identical(vapply(notes()[1:6], `[[`, 0, "t"), as.numeric(1:6))
  of <- function(i) last[seq(i, 18, 3)]
  expect_identical(vapply(of(1), `[[`, 0, "t"), as.numeric(1:6))
  expect_identical(vapply(of(1), `[[`, 0L, "arm"), rep(2:1, 3))
  expect_identical(unlist(of(2)), as.numeric(1:6))
  expect_identical(unlist(of(3)), dpts_history(sim)$reward)
})

test_that("a chance of an arm that is not available is an error, though all sum to 1", {
  skip_if_not_installed("RSQLite")
  policy <- policy_custom("toss", function(k, horizon) 0, function(state, round) round$offer[1],
                          function(state, feedback) state, probability = function(state, round) c(0.5, 0.5, 0))
  agent <- dpts_agent(policy, 3, use = "arrival")
  expect_equal(agent_choose(agent, offer = 1:2)$probability, 0.5)
  expect_error(agent_choose(agent, offer = 2:3), "the probabilities of its arms are no distribution over those available")
})
