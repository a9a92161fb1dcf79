# Errors name what the user typed.

skip_on_cran() # takes seconds

caught <- function(expr) {
  withr::local_options(`rlang:::disable_trace_capture` = TRUE) # a backtrace takes ten times as long as the check
  rlang::catch_cnd(expr, "error")
}
verb <- function(cnd) as.character(conditionCall(cnd)[[1]])[1]

test_that("a missing argument is named, by the function that the user called", {
  # Every function, without its first argument, then without its second, ...
  good <- list(
    arms = two_arms(), policies = policy_ucb1(), policy = policy_ucb1(), horizon = 100,
    budget = privacy_gdp(1), log = random_log(), data = data.frame(arm = 1, n = 10, sum = 5),
    target = "uniform", prepulls = 1, epsilon = 1,
    delta = 1e-5, mu = 1, means = 0.5, rates = 1, shape1 = 1, shape2 = 1, values = 1, probs = 1,
    alpha = 1.5, rounds = 10, slack = 1e-6, from = 1, to = 2, x = 1, scale = 1,
    agent = dpts_agent(policy_ucb1(), 2, use = "arrival"), ticket = "a", port = 8000
  )
  # generics of other packages; without an id it lists; without arms it asks for `k`
  skip <- c("autoplot", "tidy", "glance", "augment", "effects", "forecast", "dpts_experiment", "dpts_recommend")
  found <- list()
  for (name in setdiff(getNamespaceExports("dpts"), skip)) {
    f <- getExportedValue("dpts", name)
    needed <- names(Filter(function(x) identical(x, quote(expr = )), as.list(formals(f))))
    needed <- setdiff(needed, "...")
    given <- list()
    for (arg in needed) {
      cnd <- caught(eval(as.call(c(as.name(name), given))))
      missing <- setdiff(needed, names(given))
      message <- conditionMessage(cnd) # takes milliseconds
      found[[paste(c(name, names(given)), collapse = ", ")]] <-
        c(input = inherits(cnd, "dpts_error_input"), verb = identical(verb(cnd), name),
          named = grepl(paste0("`(", paste(missing, collapse = "|"), ")`"), message),
          inner = !grepl("FUN|%[|]{2}%|check_", message))
      if (is.null(good[[arg]])) break
      given[[arg]] <- good[[arg]]
    }
  }
  found <- do.call(cbind, found)
  expect_gt(ncol(found), 90) # all functions with such arguments
  for (what in rownames(found)) expect_identical(colnames(found)[!found[what, ]], character(), label = what)
  cnd <- caught(dpts_simulate(two_arms(), policy_ucb1()))
  expect_match(conditionMessage(cnd), "`horizon` is absent but must be supplied", fixed = TRUE)
  expect_equal(verb(cnd), "dpts_simulate")
})

test_that("no exported function leaves an unknown argument to R, which would not say what was meant", {
  exported <- mget(getNamespaceExports("dpts"), envir = asNamespace("dpts"), inherits = TRUE)
  exported <- Filter(function(f) is.function(f) && environmentName(environment(f)) == "dpts", exported)
  without <- Filter(function(f) !"..." %in% names(formals(f)), exported)
  expect_identical(names(without), character())
  withr::local_options(dpts.service = TRUE) # errors without a backtrace
  for (ask in alist(gdp_mu(1, dleta = 2), dpts_calibrate(privacy_gdp(1), dleta = 2), privacy_group(1, aprt = 2),
                    agent_reward(1, tiket = 2), as_releases(1, noize = 2), sequence_gdp(10, un = 2), run_range(1, until = 2))) {
    cnd <- caught(eval(ask))
    expect_s3_class(cnd, "dpts_error_dots")
    expect_match(conditionMessage(cnd), sprintf("`%s()` has no", as.character(ask[[1]])), fixed = TRUE)
  }
  # Any of them refuses it before it asks for what else is missing, but for these, which are asked with the rest.
  sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_randomised(mu = 1), 200, runs = 1, seed = 1, history = TRUE)
  log <- data.frame(arm = rep(1:2, 20), reward = 0:1, propensity = 0.5)
  replay <- dpts_replay(log, policy_randomised(mu = 1, block = 10), runs = 1, seed = 1)
  agent <- dpts_agent(policy_randomised(mu = 1), 2, use = "arrival")
  tuning <- dpts_tune(privacy_gdp(1), arms_bernoulli(c(0.6, 0.4)), 50, prepulls = 5, runs = 2, seed = 1)
  with_rest <- alist(
    privacy_compose = privacy_compose(policy_dp_imed(1), no_such = 1), dpts_reproduce = dpts_reproduce("ou-1", no_such = 1),
    arms_strata = arms_strata(a = two_arms(), no_such = 1), agent_choose = agent_choose(agent, no_such = 1),
    privacy_statement = list(privacy_statement(policy_dp_imed(1), no_such = 1), privacy_statement(agent, no_such = 1)),
    recommended_policy = recommended_policy(tuning, no_such = 1),
    dpts_releases = list(dpts_releases(sim, no_such = 1), dpts_releases(replay, no_such = 1), dpts_releases(agent, no_such = 1)),
    estimates = list(estimates(sim, no_such = 1), estimates(replay, no_such = 1), estimates(agent, no_such = 1),
                     estimates(dpts_releases(sim), no_such = 1)),
    dpts_history = list(dpts_history(sim, no_such = 1), dpts_history(replay, no_such = 1), dpts_history(agent, no_such = 1)),
    pulls = list(pulls(sim, no_such = 1), pulls(replay, no_such = 1), pulls(agent, no_such = 1))
  )
  silent <- Filter(function(name) {
    !inherits(caught(do.call(exported[[name]], list(no_such = 1))), "dpts_error_dots")
  }, setdiff(names(exported), names(with_rest)))
  expect_identical(silent, character())
  more <- alist(dpts_privacy(sim, no_such = 1), forecast(agent, 100, no_such = 1), effects(sim, no_such = 1),
                forecast(dpts_releases(sim), 400, no_such = 1), evidence(sim, no_such = 1), verdict(sim, no_such = 1),
                autoplot(two_arms(), no_such = 1), autoplot(agent, no_such = 1), autoplot(evidence(sim), no_such = 1),
                autoplot(effects(sim), no_such = 1), autoplot(dpts_history(sim), no_such = 1), summary(sim, no_such = 1),
                autoplot(estimates(sim), no_such = 1), autoplot(pulls(sim), no_such = 1),
                autoplot(regret_bound(policy_ucb1(), arms_bernoulli(c(0.6, 0.4)), 10), no_such = 1))
  parts <- function(ask) if (identical(ask[[1]], quote(list))) as.list(ask)[-1] else list(ask)
  for (ask in c(unlist(lapply(with_rest, parts)), more)) {
    expect_match(conditionMessage(caught(eval(ask))), "no_such|\\.\\.2|arms, not 1", info = deparse1(ask))
  }
})

test_that("no method that sums up or draws leaves an unknown argument to others, whatever it is a method for", {
  methods <- getNamespaceInfo("dpts", "S3methods")
  methods <- methods[methods[, 1] %in% c("summary", "glance", "tidy", "augment", "autoplot") & grepl("^dpts_", methods[, 2]), ]
  expect_gt(nrow(methods), 35)
  withr::local_options(dpts.service = TRUE) # errors without a backtrace
  for (i in seq_len(nrow(methods))) {
    cnd <- caught(do.call(methods[i, 3], list(structure(list(), class = methods[i, 2]), no_such = 1), envir = asNamespace("dpts")))
    expect_true(inherits(cnd, "dpts_error_dots"), label = methods[i, 3])
  }
})

test_that("no default has changed", {
  # Results that people have depend on them: a change is said in NEWS.md.
  methods <- getNamespaceInfo("dpts", "S3methods")[, 3]
  lines <- unlist(lapply(sort(c(getNamespaceExports("dpts"), methods), method = "radix"), function(name) {
    f <- get0(name, asNamespace("dpts"))
    if (!is.function(f) || environmentName(environment(f)) != "dpts") return(NULL)
    default <- Filter(function(x) !identical(x, quote(expr = )), as.list(formals(f)))
    default <- default[setdiff(names(default), c("threads", "progress"))]
    if (length(default)) {
      sprintf("%s(%s)", name, paste(names(default), vapply(default, deparse1, ""), sep = " = ", collapse = ", "))
    }
  }))
  expect_snapshot(cat(lines, sep = "\n"))
})

test_that("each argument of each policy is checked, at both ends of its range", {
  above <- function(low, high = NULL) list(bad = c(low, high), good = c(low + 1e-9, high - 1e-9)) # open
  within <- function(low, high = NULL) list(bad = c(low - 1e-9, high + 1e-9), good = c(low, high))
  from <- function(low, high) list(bad = c(low - 1e-9, high), good = c(low, high - 1e-9)) # half open
  count <- function(least = 1, most = 2^53) list(bad = c(least - 1, least + 0.5, 1.001 * most + 1), good = c(least, most))
  finite <- list(bad = c(9e-7, 1.1e12, Inf), good = c(1e-6, 1e12))
  budget <- list(bad = c(9e-7, 1.1e12), good = c(1e-6, 1e12, Inf))
  linear <- list(batch = count(), norm = above(0), ridge = above(0), margin = within(0), centre = within(0, 1))
  ranges <- list(
    list(quote(policy_adap_ucb(1)), epsilon = budget, alpha = above(0)), list(quote(policy_adap_klucb(1)), epsilon = budget, alpha = above(0)),
    list(quote(policy_adac_ucb(1)), mu = budget, beta = above(0), correlation = within(0, 0.99)),
    list(quote(policy_exp3()), rate = above(0)), list(quote(policy_private(policy_ucb1(), 1)), epsilon = finite, batch = count(1, 2^40)),
    list(quote(policy_private(policy_ucb1(), mu = 1)), mu = finite), list(quote(policy_fixed()), arm = count(1, 2^31 - 1)),
    list(quote(policy_clipped(policy_dp_imed(1), epsilon = 1)), epsilon = finite, tail = list(bad = c(0, 0.501), good = c(1e-6, 0.5)), pilot = count()),
    list(quote(policy_dp_ts_ucb(1)), alpha = within(0, 1), c0 = above(0)), list(quote(policy_dp_ts(1)), epsilon = budget, log_base = above(1)),
    list(quote(policy_lazy_dp_ts(1)), epsilon = budget, log_base = above(1)), list(quote(policy_lazy_ucb(1)), epsilon = budget, log_base = above(1)),
    list(quote(policy_dp_ucb_bound(1)), epsilon = budget),
    list(quote(policy_dp_ucb_int(1)), epsilon = list(bad = c(9e-13, Inf), good = 1e-12), v = list(bad = c(1, 1.501), good = c(1.001, 1.5))),
    list(quote(policy_forget(window = 1e3, batch = 1)), window = list(bad = c(0, 1.5, 1e6 + 1), good = c(1, 1e6)), mu = finite, epsilon = finite, width = above(0)),
    list(quote(policy_forget(window = 1e8, epsilon = 1, batch = 100)), window = list(bad = c(99, 1e8 + 1), good = c(100, 1e8))),
    list(quote(policy_forget(discount = 0.9)), discount = above(0, 1), batch = count(1, 2^40)),
    list(quote(policy_detect(policy_imed())), delta = above(0, 1), explore = within(0, 0.5)),
    list(quote(policy_dp_se(1)), epsilon = budget, beta = above(0, 1)), list(quote(policy_halving()), mu = finite, epsilon = finite, people = count()),
    list(quote(policy_gaussian_imed(1)), mu = budget, ratio = above(1), first = count(), correlation = within(0, 0.99), safety = within(0, 1)),
    list(quote(policy_lazy_gaussian_ts(1)), mu = budget, correlation = within(0, 0.99)),
    list(quote(policy_dp_imed(1, index = "likelihood")), epsilon = budget, ratio = above(1), first = count(), safety = within(0, 1),
         schedule = list(bad = "none", good = c("geometric", "evidence"))),
    list(quote(policy_dp_klucb(1)), epsilon = budget, ratio = above(1), first = count()),
    c(list(quote(policy_linucb(1)), epsilon = budget, alpha = within(0), mechanism = list(bad = "none", good = c("tree", "gamma"))), linear),
    c(list(quote(policy_lin_ts(1)), epsilon = budget, v = within(0), mechanism = list(bad = "none", good = c("tree", "gamma"))), linear),
    c(list(quote(policy_linucb(mu = 1)), mu = budget), linear), c(list(quote(policy_lin_ts(mu = 1)), mu = budget), linear),
    c(list(quote(policy_logistic_ucb(1)), mu = budget, alpha = within(0)), linear[c("batch", "norm", "ridge", "margin")]),
    list(quote(policy_mt_ucb(1)), epsilon = budget, gamma = above(0, 1)), list(quote(policy_mt_ts(1)), epsilon = budget, warmup = count(0)),
    list(quote(policy_adap_tt(1)), epsilon = finite, error = above(0, 1)), list(quote(policy_dp_tt(1)), epsilon = finite, error = above(0, 1)),
    list(quote(policy_randomised()), mu = finite, epsilon = finite, block = list(bad = c(1, 4.001, 4.5), good = c(1.001, 4, 5, 2^53)), floor = from(0, 1),
         control = count(), burn_in = count(0), predicted = list(bad = 1, good = NULL)),
    list(quote(policy_top_two()), mu = finite, epsilon = finite, error = above(0, 1), margin = from(0, 1)),
    list(quote(policy_ts_gaussian()), prepulls = count(0), variance_scale = list(bad = c(9e-7, 1.1e12), good = c(1e-6, 1e12)), filter = list(bad = 1)),
    list(quote(policy_ts_beta()), prior = list(bad = list(1, 0:1, 1:3))), list(quote(policy_restart(policy_imed(), 1)), every = count()),
    list(quote(policy_local(policy_imed(), 1)), epsilon = budget)
  )
  known <- list()
  for (own in ranges) {
    name <- as.character(own[[1]][[1]])
    make <- getExportedValue("dpts", name)
    call <- match.call(make, own[[1]])
    defaults <- as.list(formals(make))
    choices <- lapply(Filter(function(x) is.call(x) && identical(x[[1]], quote(c)) && is.character(x[[2]]), defaults),
                      function(x) list(bad = "none", good = eval(x)))
    flags <- lapply(Filter(is.logical, defaults), function(x) list(bad = NA, good = c(TRUE, FALSE)))
    tried <- c(own[-1], if (is.null(known[[name]])) c(choices, flags))
    known[[name]] <- c(known[[name]], names(tried))
    for (arg in names(tried)) {
      with <- function(value) {
        call[[arg]] <- value
        eval(call)
      }
      told <- function(value) sprintf("%s, %s = %s", deparse1(call), arg, deparse1(value))
      for (bad in tried[[arg]]$bad) expect_error(with(bad), sprintf("`%s", arg), class = "dpts_error_input", info = told(bad))
      for (good in tried[[arg]]$good) {
        made <- with(good)
        kept <- made$args[[arg]] %||% made$params[[arg]] %||% good
        expect_equal(if (is.logical(good)) as.logical(kept) else as.vector(kept), good, info = told(good))
        expect_identical(update(made), made, info = told(good))
      }
    }
  }
  exported <- setdiff(grep("^policy_", getNamespaceExports("dpts"), value = TRUE), c("policy_custom", "policy_compiled"))
  left <- lapply(stats::setNames(nm = exported), function(name) {
    setdiff(names(formals(getExportedValue("dpts", name))), c("...", "policy", known[[name]]))
  })
  expect_identical(Filter(length, left), list(policy_clipped = "range")) # in test-policy-clipped.R
})

test_that("a constructor names the argument that it does not know, and what it takes", {
  bad <- function(expr, ...) {
    cnd <- caught(expr)
    expect_s3_class(cnd, "dpts_error_dots")
    for (said in c(...)) expect_match(conditionMessage(cnd), said, fixed = TRUE)
  }
  bad(policy_gaussian_imed(epsilon = 1), "`policy_gaussian_imed()` has no argument `epsilon`; it takes `mu`, ",
      "`policy_dp_imed()` takes `epsilon`")
  bad(policy_dp_imed(mu = 1), "has no argument `mu`", "`policy_gaussian_imed()` takes `mu`")
  bad(policy_ts_gaussian(b = 10), "Did you mean `prepulls`?") # as the paper calls them
  bad(policy_ts_gaussian(c = 2), "Did you mean `variance_scale`?")
  bad(policy_top_two(1, delta = 0.1), "Did you mean `error`?")
  bad(arms_bernoulli(0.7, 0.5), "has no further argument without a name; it takes `means`", "one vector")
  bad(policy_uniform(3), "it takes none")
  bad(dpts_privacy(policy_ucb1(), horizn = 10), "no argument `horizn`", "Did you mean `horizon`?")
  bad(dpts_privacy(policy_ucb1(), horzn = 10), "Did you mean `horizon`?") # two letters away, and no more
  expect_no_match(conditionMessage(caught(dpts_privacy(policy_ucb1(), hrzn = 10))), "Did you mean")
  bad(dpts_privacy(policy_ucb1(), 10, 1e-5), "`dpts_privacy()` has no further argument without a name")
  # Every constructor can say it.
  for (name in setdiff(grep("^(policy|arms|privacy|counter)_", getNamespaceExports("dpts"), value = TRUE), "privacy_group")) {
    expect_true("..." %in% names(formals(getExportedValue("dpts", name))), label = name)
  }
})

test_that("a vector of whole numbers that holds another says which, and the range", {
  people <- c(10, 2.5)
  expect_match(conditionMessage(caught(check_counts(people, 5))), "`people` must be whole numbers from 5 to 2^53; element 2 is 2.5", fixed = TRUE)
  for (bad in list("100", c(10, 4), 2^54)) expect_match(conditionMessage(caught(check_counts(bad, 5))), "whole numbers from 5 to 2^53", fixed = TRUE)
  expect_identical(check_counts(c(5L, 2L^30L), 5), c(5, 2^30))
})

test_that("a number or a table in the place of a policy is noticed by all alike, and so is a policy in that of a log", {
  bad <- function(expr, said) {
    cnd <- caught(expr)
    expect_s3_class(cnd, "dpts_error_input")
    expect_match(conditionMessage(cnd), paste("Were", said, "given in the other order?"), fixed = TRUE)
  }
  log <- data.frame(arm = 1:2, reward = 0:1)
  bad(dpts_simulate(two_arms(), 100, policy_ucb1()), "`policies` and a number")
  bad(dpts_privacy(100, policy_ts_gaussian()), "`policies` and a number")
  bad(dpts_agent(2, policy_ucb1()), "`policy` and a number")
  bad(dpts_agent(c("a", "b"), policy_ucb1()), "`policy` and names")
  bad(dpts_audit(10, policy_dp_imed(1)), "`policy` and a number")
  bad(policy_local(1, policy_ucb1()), "`policy` and a number")
  bad(dpts_replay(policy_ucb1(), log), "the policies and `log`")
  bad(dpts_simulate(two_arms(), log, 10), "`policies` and a table")
})

test_that("a call that takes over a minute and shows no bar says so once, with the policies that cannot skip", {
  withr::local_options(dpts.seconds_before_message = 0)
  job <- list(policies = list(one = policy_exp3(), other = policy_imed()))
  bar <- job_bar(job, FALSE, 1e9)
  Sys.sleep(0.02)
  cnd <- testthat::expect_message(bar(1), class = "dpts_message_long") # how long depends on the machine
  expect_match(conditionMessage(cnd), "Policy \"one\" cannot skip rounds", fixed = TRUE)
  expect_match(conditionMessage(cnd), "takes about .* days more")
  expect_silent(bar(2))
  short <- job_bar(job, FALSE, 100)
  Sys.sleep(0.02)
  expect_silent(short(99))
  expect_identical(format_seconds(754, 2), "13 minutes")
})

test_that("hints say what was meant", {
  arms <- two_arms()
  advice <- dpts_recommend(privacy_pure(1), arms, 100, runs = 2, seed = 1, candidates = c("dp_imed_tuned", "dp_imed", "dp_se"))
  policy <- policy_ts_beta()
  expect_snapshot(error = TRUE, {
    dpts_simulate(policy, arms, 100)
    dpts_simulate(list(a = policy), arms, 100)
    regret_bound(arms, policy, 100)
    regret_bound(policy, 100, arms)
    dpts_simulate(arms, policy_ts_beta, 100)
    dpts_simulate(arms, list(a = policy_ts_beta), 100)
    dpts_simulate(arms_bernoulli, policy, 100)
    dpts_simulate(arms, "ts_bta", 100)
    dpts_simulate(c(0.7, 0.5), policy, 100)
    dpts_simulate(arms, c(list(a = policy), policy), 100)
    dpts_simulate(arms, policy, 100, thread = 2)
    dpts_reproduce("ou2")
    dpts_experiment("ou-2", prepull = 1)
    dpts_recommend(privacy_pure(1), arms, 500, candidates = "dp_imd")
    dpts_recommend(privacy_pure(1), horizon = 500)
    dpts_tune(privacy_gdp(1), arms, 500, accountant = "sequense")
    policy_dp_imed(1, index = "like")
    dpts_privacy(policy_dp_imed(1), 100, accountant = "gdp")
    arms_bernoulli(matrix(0.5, 2, 3))
    update(policy_dp_imed(1), epsilom = 2)
    update(policy_dp_imed(1), epsilon = -1)
    c(arms, 1)
    recommended_policy(advice, "dp_imd")
  })
})

test_that("any policy can be made anew with other arguments", {
  for (policy in c(known_policies(), list(policy_clipped(policy_dp_imed(1), c(0, NA), 1, pilot = 77)))) {
    remade <- update(policy)
    expect_identical(remade, policy)
    # Whole numbers of R's other type make no other policy.
    whole <- Filter(function(x) is.numeric(x) && all(is.na(x) | is.finite(x) & x == round(x)), policy$args)
    whole <- lapply(whole, function(x) suppressWarnings(`storage.mode<-`(x, "integer")))
    expect_identical(do.call(update, c(list(policy), whole)), policy)
  }
  expect_identical(update(policy_dp_imed(1), epsilon = 2), policy_dp_imed(2))
  expect_identical(update(policy_gaussian_imed(1, ratio = 1.2), mu = 2), policy_gaussian_imed(2, ratio = 1.2))
  expect_identical(update(policy_gaussian_imed(1, ratio = 1.2), ratio = NULL), policy_gaussian_imed(1))
})

test_that("a panel needs no typed NULL", {
  x <- dpts_recommend(privacy_pure(1), horizon = 200, k = 3, candidates = "dp_imed", runs = 2, seed = 1)
  expect_length(shared(x, "arms"), 6)
})

test_that("errors inside lapply() and helpers are the verb's", {
  for (cnd in list(
    caught(dpts_privacy(list(a = policy_dp_imed(1)), 100, accountant = "gdp")),
    caught(dpts_privacy(policy_ts_gaussian(), 10, delta = 2))
  )) expect_equal(verb(cnd), "dpts_privacy")
  expect_equal(verb(caught(dpts_recommend(privacy_pure(1), two_arms(), 500, runs = 0))), "dpts_recommend")
  expect_equal(verb(caught(dpts_experiment("ou-2", mu = -1))), "dpts_experiment")
  # a function of the user's own is no name for a verb
  mine <- function(...) dpts_simulate(two_arms(), policy_ucb1(), ...)
  expect_equal(verb(caught(mine(0))), "dpts_simulate")
  expect_equal(verb(caught(lapply(0, mine))), "dpts_simulate")
})

test_that("an argument may be called as the function that asks whether it is given", {
  expect_error(dpts_agent(policy_ucb1(), 2, use = "arrival", range = mean), "`range`", class = "dpts_error_input")
  expect_error(agent_api(1, token = quote(x)), class = "dpts_error_input")
})

test_that("messages say what is wrong, in one sentence", {
  arms <- arms_bernoulli(c(0.6, 0.4))
  says <- function(expr) conditionMessage(expect_error(expr, class = "dpts_error_input"))
  expect_identical(says(arms_bernoulli(c(a = 0.1, a = 0.2))),
                   "`means` must have different names for all arms; \"a\" comes twice.")
  expect_match(says(arms_bernoulli(c(1.0000001, 0.5))), "element 1 is 1.0000001.", fixed = TRUE)
  expect_match(says(arms_bernoulli(c(0.5, 1.0000001))), "element 2 is 1.0000001.", fixed = TRUE)
  expect_match(says(policy_dp_imed(-1e-9 - 1)), "-1.000000001", fixed = TRUE)
  expect_match(says(dpts_simulate(arms, policy_ucb1(), 10, delay = Inf)), "non-negative finite numbers; element 1 is Inf")
  expect_identical(says(dpts_simulate(arms, policy_ucb1(), 10, record = c(5, 5))),
                   "`record` must be distinct; round 5 comes twice.")
  for (arg in c("runs", "record")) {
    call <- stats::setNames(list(arms, policy_ucb1(), 10, matrix(1:4, 2)), c("arms", "policies", "horizon", arg))
    expect_match(says(do.call(dpts_simulate, call)), paste0("`", arg, "` must be a count.*, not a 2 x 2 matrix"))
  }
  expect_match(says(dpts_simulate(list(arms, arms), policy_ucb1(), 10)), "names are missing")
  expect_match(says(dpts_simulate(list(a = arms, a = arms), policy_ucb1(), 10)), "\"a\" comes twice")
})

test_that("policies print within the width, and what is printed makes them", {
  for (policy in list(policy_logistic_ucb(1), policy_mt_ucb(1), policy_local(policy_restart(policy_mt_ts(1), 1000), 1))) {
    for (width in c(60, 80)) {
      withr::local_options(width = width)
      out <- capture.output(print(policy))
      expect_lte(max(nchar(out)), width)
      text <- sub("^  call:", "", out[seq(grep("call:", out), grep("guarantee:", out) - 1)])
      expect_identical(eval(parse(text = text)), policy)
    }
  }
})

test_that("numbers may come as tapply() gives them, and an agent's arm has none of the marks that turn the direction of text", {
  given <- tapply(c(1, 0, 1, 1), c("a", "b", "a", "b"), mean)
  expect_identical(arms_bernoulli(given), arms_bernoulli(c(a = 1, b = 0.5)))
  for (mark in c(0x200e, 0x200f, 0x202a:0x202e, 0x2066:0x2069)) {
    arms <- c("a", paste0("b", intToUtf8(mark)))
    expect_error(dpts_agent(policy_ucb1(), arms, horizon = 9, use = "arrival"), "marks of direction", class = "dpts_error_input",
                 info = mark)
  }
})

test_that("an error shows the beginning of a very long string", {
  long <- strrep("a", 9000)
  errors <- list(caught(policy_dp_imed(long)), caught(dpts_compare(long)), caught(dpts_agent(policy_ucb1(), 2, use = long)),
                 caught(do.call(agent_close, stats::setNames(list(dpts_agent(policy_ucb1(), 2, use = "arrival"), 1), c("agent", long)))))
  for (error in errors) expect_match(conditionMessage(error), "[^a]a{60}[.]{3}[^.]")
})
