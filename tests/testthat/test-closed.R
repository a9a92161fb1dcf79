# Nothing fails open: what is not a number, not there or not whole is an error that says so, and
# never a policy without noise or a look outside memory.

skip_on_cran() # takes seconds

# What playing says; "n releases" if it is done
play_through <- function(policy, rewards, ..., contexts = NULL) {
  tryCatch({
    out <- run_script(policy, 2, rep(1:2, length(rewards) / 2), rewards, contexts = contexts,
                      own = length(dim(contexts)) == 3, ...)
    sprintf("%d releases", out$total)
  }, error = conditionMessage)
}

# Private policies whose guarantee rests on noise in sums, each with its budget's parameter
noisy_policies <- function() {
  cases <- Filter(function(case) !inherits(case$make(), c("dpts_policy_local", "dpts_policy_restart")), coupled_policies())
  Filter(function(x) length(x$parameter) == 1, lapply(cases, function(case) {
    policy <- case$make()
    dim <- c(case$dim, if (is_shared(policy)) 2, 3000)
    list(policy = policy, parameter = intersect(c("epsilon", "mu"), names(policy$params)),
         contexts = if (case$dim) array(0.5, dim))
  }))
}

test_that("an index that is not a number is an error with the policy's name and the round", {
  # Infinite rewards make means that are no numbers.
  rewards <- rep(c(Inf, Inf, -Inf, -Inf), 10)
  for (policy in list(policy_ucb1(), policy_imed(), policy_ts_gaussian(), policy_linucb(), policy_lin_ts(),
                      policy_logistic_ucb())) {
    contexts <- if (is_contextual(policy)) matrix(0.5, 1, length(rewards))
    error <- tryCatch(run_script(policy, 2, rep(NA, length(rewards)), rewards, contexts = contexts),
                      error = conditionMessage)
    expect_match(error, sprintf(
      "^policy \"%s\" failed in round [3-9]: it had no arm to choose: an index was not a number", policy$name
    ))
  }
  # At once, in the round after the second reward.
  expect_match(tryCatch(run_script(policy_ts_gaussian(), 1, c(1, 1, NA), c(Inf, -Inf, 0)), error = conditionMessage),
               "in round 3:")
})

test_that("a reward that is not a number reaches no policy", {
  for (policy in list(policy_ucb1(), policy_klucb(), policy_ts_beta(), policy_dp_imed(1), policy_dp_se(1))) {
    expect_identical(play_through(policy, c(0, 1, 0, NaN)),
                     sprintf("policy \"%s\" failed in round 4: a reward is not a number", policy$name))
  }
})

test_that("noise fails closed: a scale that is negative, infinite or NaN is an error", {
  withr::local_seed(1)
  failed <- "^policy \".*\" failed in round [0-9]+: the scale of its noise is no positive number"
  for (x in noisy_policies()) {
    play <- function(value) {
      policy <- x$policy
      policy$params[[x$parameter]] <- value
      play_through(policy, rep(1, 3000), contexts = x$contexts)
    }
    what <- format(x$policy)
    expect_match(play(-1), failed, label = what) # a scale of 1 / -1
    # 1 / 0: infinite. What is released at the end of a time that grows with it may never be.
    endless <- x$policy$name %in% c("dp_se", "dp_tt", "mt_ts")
    expect_match(play(0), if (endless) paste0("0 releases|", failed) else failed, label = what)
    missing <- sprintf("^policy \"%s\" has no parameter \"%s\"$", x$policy$name, x$parameter)
    expect_match(play(NaN), missing, label = what)
    expect_match(play(NULL), missing, label = what)
    expect_match(play(NA), missing, label = what)
    # A released number that is none goes no further.
    released <- play_through(x$policy, rep(1, 3000), contexts = x$contexts, forced = rep(NaN, 1e4))
    expect_match(released, if (endless) "0 releases|the sum to release no number" else "the sum to release no number",
                 label = what)
  }
})

test_that("mechanisms and counters refuse a budget that is none; an infinite one asks for no noise", {
  for (budget in list(-1, 0, NaN, NA_real_, NULL)) {
    expect_error(mechanism_laplace(1, budget), class = "dpts_error_input")
    expect_error(mechanism_gaussian(1, budget), class = "dpts_error_input")
    expect_error(counter_tree(budget, 10), class = "dpts_error_input")
  }
  for (mechanism in list(mechanism_laplace, mechanism_gaussian)) {
    expect_error(mechanism(1, 1, sensitivity = NaN), class = "dpts_error_input")
    expect_error(mechanism(1, 1, sensitivity = Inf), class = "dpts_error_input")
    expect_equal(as.double(mechanism(0.25, Inf)), 0.25)
  }
})

test_that("every parameter that a kernel requires is missed by name", {
  withr::local_seed(2)
  for (case in session_policies()) {
    policy <- case$make()
    if (inherits(policy, c("dpts_policy_local", "dpts_policy_restart"))) next
    contexts <- if (case$dim) array(0.5, c(case$dim, if (is_shared(policy)) 2, 40))
    numbers <- names(policy$params)
    whole <- play_through(policy, rep(c(0, 1), 20), contexts = contexts)
    for (name in numbers) {
      less <- policy
      less$params[[name]] <- NULL
      # What is optional is left to the policy: then it plays. One of a pair gives no noise, and no release.
      expect_match(play_through(less, rep(c(0, 1), 20), contexts = contexts),
                   sprintf("^policy \"%s\" has no parameter \"%s\"$|^[0-9]+ releases$|the scale of its noise is no", policy$name,
                           if (name == "c0") "phi" else name)) # phi is made of it
    }
    expect_match(whole, "^[0-9]+ releases$")
  }
})

# ---- arms ------------------------------------------------------------------------------

# A list after an edit of its elements
within_list <- function(x, change) {
  inside <- list2env(unclass(x))
  eval(change, inside)
  mget(names(unclass(x)), inside)
}

test_that("arms that were edited by hand are refused before C sees them", {
  # list(arms, edits): each edit alone must be refused
  edit <- function(...) rlang::exprs(...)
  anywhere <- edit(par <- list(), par <- numeric(0), par <- NULL, par <- par[-1], par[[1]] <- NaN,
                   par[[1]] <- "a", par[[1]] <- NULL, par[[1]] <- c(par[[1]], 1), par[[1]] <- 1L,
                   mean <- mean[-1], mean[1] <- NaN, mean <- NULL, mean <- "0.5", mean <- c(mean, 0.5),
                   gap <- NULL, gap[2] <- NaN, gap[2] <- -1, gap <- gap[1],
                   distribution <- "normal", distribution <- character(), distribution <- NULL,
                   range <- c(1, 0), range <- 1, world <- list(kind = "nowhere"))
  cases <- list(
    list(arms_bernoulli(c(0.5, 0.4)), c(anywhere, edit(mean[1] <- 1.5, par[[1]] <- -0.5, distribution <- "beta"))),
    list(arms_beta(c(2, 3), 1), c(anywhere, edit(par[[1]][2] <- 0, par[[1]][1] <- Inf))),
    list(arms_discrete(c(0, 0.5, 1), rbind(c(0.2, 0.3, 0.5), c(0.1, 0.1, 0.8))),
         c(anywhere, edit(par[[1]][9] <- 99, par[[1]][9] <- -1, par[[1]][8] <- 0.5))),
    list(arms_truncexp(c(1, 2)), anywhere),
    list(arms_gaussian(c(1, 2), 1), c(anywhere, edit(par[[1]][2] <- -1))),
    list(arms_linear(rbind(c(0.5, 0.4), c(0.1, 0.2)), "simplex"),
         c(setdiff(anywhere, edit(par[[1]] <- c(par[[1]], 1))),
           edit(contexts <- NULL, contexts$kind <- "given", contexts$values <- NULL, par[[2]] <- par[[2]][1],
                contexts$noise <- "1", contexts$kind <- "moon"))),
    list(arms_walk(c(0.5, 0.5), 0.1), edit(world$sd <- 0.1, world$sd <- c(NaN, 0.1), world$sd <- NULL)),
    list(arms_drift(c(0.5, 0.5), c(0.4, 0.3), period = 10),
         edit(world$period <- 0, world$period <- NaN, world$to <- NULL, world$to <- arms_bernoulli(0.5),
              world$to$par[[1]] <- NaN, world$from <- "a")),
    list(arms_switch(list(arms_bernoulli(c(0.5, 0.4)), arms_bernoulli(c(0.4, 0.5))), 10),
         edit(world$at <- numeric(0), world$at <- NULL, world$worlds <- list(), world$worlds[[1]] <- 3,
              world$worlds[[2]]$mean <- 0.5)),
    list(arms_custom(function(arm, n) rep(0.5, n), c(0.5, 0.5)),
         edit(world$draw <- NULL, world$draw <- world$draw[1], mean <- mean[1], par <- NULL)),
    list(arms_data(data.frame(arm = c("a", "a", "b"), y = c(0.1, 0.7, 0.5)), "arm", "y"),
         edit(par[[1]] <- numeric(), par <- par[1], par[[2]] <- NA_real_))
  )
  for (case in cases) {
    arms <- case[[1]]
    expect_true(are_sound(arms), label = class(arms)[1])
    for (i in seq_along(case[[2]])) {
      change <- case[[2]][[i]]
      damaged <- structure(within_list(arms, change), class = class(arms))
      what <- paste(class(arms)[1], deparse(change))
      expect_false(are_sound(damaged), label = what)
      if (i %% 5 != 1) next # an error takes ten milliseconds
      error <- tryCatch(dpts_simulate(damaged, policy_uniform(), 20, runs = 1, seed = 1), error = identity)
      expect_true(inherits(error, "dpts_error_input") && identical(error$arg, "arms"), label = what)
    }
  }
})

# ---- the filter ------------------------------------------------------------------------

test_that("the filter of Gaussian Thompson sampling spends mu at most, and then plays one arm for ever", {
  withr::local_seed(3)
  spent_all <- left <- 0
  for (i in 1:30) {
    k <- sample(2:4, 1)
    steps <- 300
    b <- sample(0:5, 1)
    c <- stats::runif(1, 0.2, 4)
    mu <- stats::runif(1, 0.3, 3)
    script <- random_script(k, steps)
    script[c("fresh", "horizon")] <- list(NULL, steps)
    policy <- policy_ts_gaussian(b, c, filter = privacy_gdp(mu))
    arms <- run_script(policy, k, script$arms, script$rewards, steps, script$seed, offers = script$offers,
                       discard = script$discard, delays = script$delays)$arm
    discard <- script$discard %||% rep(FALSE, steps)
    offers <- script$offers %||% rep(list(seq_len(k)), steps)
    # Counts, draws and prices from what is public: arms, pools, discarded choices and delays.
    delay <- rep_len(script$delays %||% 0L, steps)
    m <- n <- paid <- numeric(k)
    due <- vector("list", 2 * steps + 50)
    spent <- FALSE
    t <- 0
    for (at in seq_len(steps)) {
      offer <- offers[[at]]
      draws <- !any(m[offer] < b) && length(offer) > 1
      price <- ifelse(n > 0, 1 / (c * (m + 1)), 0)
      over <- spent || any(paid[offer] + price[offer] > mu^2)
      if (draws && over && arms[at] != offer[which.max(m[offer])]) left <- left + 1
      if (discard[at]) next
      if (draws && over) spent <- TRUE
      if (draws && !over) paid[offer] <- paid[offer] + price[offer]
      t <- t + 1
      m[arms[at]] <- m[arms[at]] + 1
      when <- t + delay[(t - 1) %% length(delay) + 1]
      due[[when]] <- c(due[[when]], arms[at])
      for (arm in due[[t]]) n[arm] <- n[arm] + 1
    }
    expect_lte(max(paid), mu^2)
    spent_all <- spent_all + spent
  }
  expect_identical(left, 0)
  expect_gt(spent_all, 10) # the budget does run out
})

# ---- replay is simulation --------------------------------------------------------------

test_that("a replay without delay and with all arms on offer is a simulation with the same rewards", {
  n <- 400
  withr::local_seed(4)
  rewards <- matrix(stats::rbinom(3 * n, 1, rep(c(0.6, 0.4, 0.5), each = n)), n) + 0
  horizon <- n
  policies <- Filter(function(p) !p$name %in% "fixed", known_policies())
  for (policy in policies) {
    # The policy's own choices as the log: all of them are kept.
    chosen <- run_script(policy, 3, rep(NA, n), rewards, horizon, seed = 5)$arm
    log <- data.frame(arm = factor(chosen, levels = 1:3), reward = rewards[cbind(seq_len(n), chosen)],
                      propensity = 1 / 3)
    replay <- suppressWarnings(dpts_replay(log, policy, runs = 1, seed = 5, horizon = n, method = "rejection", progress = FALSE))
    expect_equal(c(replay$events, replay$reward), c(n, sum(log$reward)), label = format(policy))
  }
})

test_that("a delay that is longer than the log is warned of", {
  log <- withr::with_seed(1, simulated_log(200, c(0.5, 0.2)))
  expect_warning(dpts_replay(log, policy_ucb1(), delay = c(0, 200), runs = 1, seed = 1), "policies learn nothing",
                 class = "dpts_warning_delay")
  expect_warning(dpts_replay(log, policy_ucb1(), delay = 50, horizon = 50, runs = 1, seed = 1),
                 class = "dpts_warning_delay")
  expect_no_warning(dpts_replay(log, policy_ucb1(), delay = c(0, 20), runs = 1, seed = 1))
})

test_that("a horizon that has no room for the first pulls of each arm is refused, and one that has it is taken", {
  first <- list(
    policy_ts_gaussian(4, 9), 4, policy_dp_imed(1), 1, policy_dp_imed(1, first = 4), 4, policy_gaussian_imed(1), 1,
    policy_gaussian_imed(1, first = 3), 3, policy_dp_klucb(1), 1, policy_dp_ucb_int(0.2), 5, policy_adap_ucb(1), 1, policy_adap_klucb(1), 1,
    policy_adac_ucb(1), 1, policy_dp_ucb_bound(1), 1, policy_dp_ts(1), 1, policy_lazy_dp_ts(1), 1, policy_lazy_gaussian_ts(1), 1,
    policy_lazy_ucb(1), 1, policy_dp_ts_ucb(1), 1, policy_dp_se(1), 1, policy_halving(1), 1, policy_adap_tt(1), 1,
    policy_mt_ucb(1), 1, policy_forget(window = 100, epsilon = 1, batch = 7), 7, policy_restart(policy_imed(), 9), 0,
    policy_restart(policy_dp_imed(1, first = 2), 9), 2, policy_local(policy_dp_imed(1), 1), 1
  )
  arms <- arms_bernoulli(c(0.2, 0.5, 0.4))
  for (i in seq(1, length(first), 2)) {
    play <- function(horizon) dpts_simulate(arms, first[[i]], horizon, runs = 1, seed = 1)
    n <- first[[i + 1]]
    label <- format(first[[i]])[1]
    expect_equal(pulls(play(3 * max(n, 1)))$pulls, rep(max(n, 1), 3), info = label)
    if (n > 0) expect_error(play(3 * n - 1), class = "dpts_error_horizon", info = label)
  }
  # So do other verbs that play.
  short <- policy_dp_imed(1, first = 4)
  for (ask in alist(dpts_plan(short, arms, 11), dpts_identify(arms, policy_top_two(1), limit = 2), dpts_audit(short, 11, arms = 3),
                    dpts_recommend(privacy_pure(1), arms, 11, candidates = list(a = short)))) {
    expect_error(eval(ask), class = "dpts_error_horizon", info = deparse1(ask))
  }
  # These do not begin with a pull of each.
  for (policy in list(policy_randomised(1), policy_mt_ts(1), policy_top_two(1), policy_dp_tt(1))) {
    expect_error(dpts_simulate(arms, policy, 2, runs = 1), class = "dpts_error_horizon", info = format(policy)[1])
  }
})
