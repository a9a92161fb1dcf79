# What rows belong to is known, and survives, or the class goes. The first tests are silent
# wrong answers that users met.

skip_on_cran() # takes seconds

imed <- function(mu, runs, seed = 1, arms = two_arms()) {
  dpts_simulate(arms, list(imed = policy_gaussian_imed(mu)), 1000, runs = runs, seed = seed,
                record = I(1000))
}

test_that("two policies under one name are not pooled", {
  expect_error(rbind(imed(0.05, 1:3), imed(5, 4:6)), "policy_gaussian_imed\\(mu = 5",
               class = "dpts_error_join")
  expect_error(rbind(imed(0.05, 1:3), imed(5, 4:6)), class = "dpts_error_input")
  both <- rbind(imed(5, 1:3), imed(5, 4:6))
  expect_identical(both, imed(5, 6))
  skip_without_dplyr()
  expect_error(dplyr::bind_rows(imed(0.05, 1:3), imed(5, 4:6)), class = "dpts_error_join")
  expect_identical(dplyr::bind_rows(imed(5, 1:3), imed(5, 4:6)), both)
})

test_that("one simulation twice is an error and no smaller standard error", {
  sim <- imed(5, 4)
  twice <- expect_error(rbind(sim, sim), "twice", class = "dpts_error_join", call = TRUE)
  other_kind <- expect_error(rbind(sim, dpts_privacy(policy_dp_imed(1), 10)), "different kinds", class = "dpts_error_join", call = TRUE)
  for (error in list(twice, other_kind)) expect_identical(as.character(conditionCall(error)[[1]]), "rbind")
  # the same runs, from another call
  expect_error(rbind(sim, imed(5, 3:6)), "twice", class = "dpts_error_join")
  # one run number, two seeds
  expect_error(rbind(sim, imed(5, 4, seed = 2)), "seed", class = "dpts_error_join")
  other <- rbind(sim, imed(5, 5:8, seed = 2))
  expect_equal(tidy(other)$estimate, mean(other$regret))
  expect_match(capture.output(print(other))[2], "Seed: +1 and 2")
  skip_without_dplyr()
  expect_error(tidy(dplyr::bind_rows(sim, sim)), "twice", class = "dpts_error_rows")
  expect_error(pulls(dplyr::bind_rows(sim, sim, .id = "part")), "twice", class = "dpts_error_rows")
  expect_error(dplyr::bind_rows(sim, imed(5, 4, seed = 2)), "seed 1 and with seed 2", class = "dpts_error_join")
})

test_that("seeds are compared run by run, whatever the order of the runs", {
  both <- rbind(imed(5, 1:2), imed(5, 3:4, seed = 2))
  expect_identical(rbind(both[1:3, ], both[4, ]), both)
  expect_identical(rbind(both[4, ], both[1:3, ])[c(2:4, 1), ]$regret, both$regret)
  # runs 3 and 4 with another seed, which is that of runs 1 and 2
  other <- imed(5, 3:4)
  expect_error(rbind(both, other[2, ]), "Run 3 .*seed 2 and with seed 1", class = "dpts_error_join")
  expect_identical(rbind(imed(5, 1:2), other), imed(5, 4))
})

test_that("functions that took other values along make another problem", {
  shaped <- function(shape) function(arm, n) rbeta(n, shape, shape)
  play <- function(shape, runs) {
    dpts_simulate(arms_custom(shaped(shape), c(0.5, 0.5)), list(a = policy_ucb1()), 20, runs = runs, seed = 1)
  }
  expect_length(dpts_problems(rbind(play(1, 1:2), play(1, 3:4))), 1)
  expect_length(dpts_problems(rbind(play(1, 1:2), play(4, 3:4))), 2)
})

test_that("two problems stand side by side", {
  one <- imed(5, 4)
  two <- imed(5, 4, arms = arms_bernoulli(c(0.9, 0.1, 0.2)))
  both <- rbind(one, two)
  expect_named(both, c("problem", "policy", "run", "t", "regret", "reward"))
  expect_identical(levels(both$problem), c("bernoulli(0.7, 0.5)", "bernoulli(0.9, 0.1, 0.2)"))
  of_many <- function(k) describe_thing(arms_bernoulli(seq_len(k) / 10))
  expect_identical(c(of_many(5), of_many(6)), c("bernoulli(0.1, 0.2, 0.3, 0.4, 0.5)", "bernoulli(0.1, 0.2, 0.3, ..., 0.6)"))
  expect_equal(tidy(both)$estimate, c(mean(one$regret), mean(two$regret)))
  expect_equal(summary(both)$problem, both$problem[c(1, 5)])
  expect_equal(glance(both)$arms, 2:3)
  expect_equal(nrow(pulls(both)), 4 * 2 + 4 * 3)
  expect_named(pulls(both), c("problem", "policy", "run", "arm", "pulls"))
  expect_equal(pulls(both)$pulls, c(pulls(one)$pulls, pulls(two)$pulls))
  # other horizons are other problems too
  long <- dpts_simulate(two_arms(), list(imed = policy_gaussian_imed(5)), 2000, runs = 4, seed = 1)
  expect_identical(levels(rbind(one, long)$problem),
                   c("bernoulli(0.7, 0.5), T = 1,000", "bernoulli(0.7, 0.5), T = 2,000"))
  # and so are other delays and batches
  play <- function(...) dpts_simulate(two_arms(), list(b = policy_ucb1(), a = policy_imed()), 20, seed = 1, ...)
  late <- rbind(play(), play(batch = 7), play(delay = 10, batch = 7), play(delay = c(5, 1, 9)), play(delay = function(n, ...) rep(3, n)))
  expect_identical(sub("bernoulli(0.7, 0.5), T = 20", "", levels(late$problem), fixed = TRUE),
                   c("", ", batch 7", ", delay 10, batch 7", ", delay 1 to 9", ", delay random"))
  expect_false(is.unsorted(interaction(late$policy, late$problem), na.rm = FALSE)) # by problem, and then by policy
  expect_named(policies(late[late$policy == "a", ]), "a") # of the rows that are there
  far <- run_range(2^31 - 1, 2^31)
  expect_equal(dpts_simulate(two_arms(), policy_ucb1(), 20, runs = far, seed = 1, record = 1)$run, 2^31 - 1:0)
  expect_match(format(play(delay = c(5, 1, 9), batch = 3)), "1 to 9 rounds late, at random, learned every 3 rounds", all = FALSE)
  # Arms are named as in their own problem, whichever others there are.
  means <- list(x = c(u = 0.5, v = 0.6), y = c(v = 0.5, w = 0.6, u = 0.1), z = c(w = 0.5, q = 0.6), none = c(0.5, 0.6))
  each <- lapply(means, function(m) dpts_simulate(arms_bernoulli(m), policy_uniform(), 40, seed = 1))
  all <- pulls(do.call(rbind, each))
  for (name in names(each)) {
    own <- all[all$problem == name, ]
    expect_identical(as.character(own$arm), rep(names(means[[name]]) %||% c("1", "2"), 10))
    expect_equal(own$pulls, pulls(each[[name]])$pulls)
  }
  # names are labels
  expect_identical(levels(rbind(easy = one, hard = two)$problem), c("easy", "hard"))
  again <- rbind(both, imed(5, 5:6), imed(5, run_range(5, 5), arms = arms_bernoulli(c(0.6, 0.1))))
  expect_identical(nlevels(again$problem), 3L)
  expect_equal(as.vector(table(again$problem)), c(6, 4, 1))
  expect_error(rbind(both, two), "twice", class = "dpts_error_join")
  skip_without_dplyr()
  # columns cannot make another column: they say what differs
  expect_error(dplyr::bind_rows(one, two), "bernoulli\\(0.9, 0.1, 0.2\\), T = 1,000", class = "dpts_error_join")
  expect_error(dplyr::bind_rows(list(easy = one, hard = two), .id = "problem"), "rbind\\(easy",
               class = "dpts_error_join")
  named <- rbind(easy = one, hard = two)
  expect_identical(dplyr::bind_rows(named[named$problem == "easy", ], named[named$problem == "hard", ]), named)
  expect_error(dplyr::bind_rows(named, two), class = "dpts_error_join")
  only <- dplyr::filter(named, problem == "hard")
  expect_equal(tidy(only)$estimate, mean(two$regret))
  levels(only$problem)[2] <- "H"
  expect_equal(pulls(only)$pulls, pulls(two)$pulls)
  expect_identical(as.character(unique(pulls(only)$problem)), "H")
  expect_named(dpts_problems(only), "H")
})

test_that("a problem may be named when it stands alone", {
  one <- imed(5, 2)
  named <- name_problem(one, "easy")
  expect_named(named, c("problem", "policy", "run", "t", "regret", "reward"))
  expect_equal(tidy(named)$problem, "easy")
  expect_identical(rbind(named, imed(5, run_range(3, 4))), name_problem(imed(5, 4), "easy"))
  two <- imed(5, 2, arms = arms_bernoulli(c(0.9, 0.1)))
  expect_identical(rbind(named, name_problem(two, "hard")), rbind(easy = one, hard = two))
  expect_error(rbind(named, name_problem(two, "easy")), "\"easy\" is not the same", class = "dpts_error_join")
})

test_that("replays of two logs do not share a base", {
  log <- random_log()
  play <- function(log, runs = 2, ...) dpts_replay(log, list(a = policy_ts_beta()), runs = runs, seed = 1, ...)
  one <- play(log[1:1000, ])
  two <- play(log[1001:2000, ], 3:4)
  expect_error(rbind(one, two), "log", class = "dpts_error_join")
  expect_error(rbind(play(log, 1:2), play(log, 3:4, horizon = 5)), "horizon", class = "dpts_error_join")
  expect_identical(rbind(play(log, 1:2), play(log, 3:4)), play(log, 4))
  # other policies and delays of the same log belong together
  s <- summary(rbind(play(log), dpts_replay(log, list(b = policy_uniform()), runs = 2, seed = 1)))
  expect_equal(nrow(s), 2)
  skip_without_dplyr()
  expect_error(dplyr::bind_rows(one, two), "log", class = "dpts_error_join")
})

test_that("pulls are counted once", {
  sim <- results()$simulation
  expect_identical(pulls(rbind(sim[sim$run < 3, ], sim[sim$run == 3, ])), pulls(sim[sim$run <= 3, ]))
  expect_identical(pulls(rbind(sim[sim$t < 100, ], sim[sim$t >= 100, ])), pulls(sim))
  # and after other labels, in whatever way they came
  relabelled <- sim
  levels(relabelled$policy) <- c("Gaussian", "UCB")
  expect_equal(pulls(relabelled)$pulls, pulls(sim)$pulls)
  expect_identical(levels(pulls(relabelled)$policy), c("Gaussian", "UCB"))
  # names exchanged: the levels know their policies
  swapped <- sim
  levels(swapped$policy) <- c("b", "a")
  expect_equal(pulls(swapped)$pulls, pulls(sim)$pulls)
  expect_identical(policies(swapped)$b, policies(sim)$a)
  # a new column has no meaning: it can be averaged, and no more
  turned <- sim
  turned$policy <- factor(turned$policy, c("b", "a"))
  expect_equal(summary(turned)$mean, summary(sim)$mean[c(11:20, 1:10)])
  expect_error(pulls(turned), "does not say", class = "dpts_error_columns")
  # one name for two policies is no policy
  for (merged in list(factor("all"), rep("all", nrow(sim)))) {
    sim$policy <- merged
    expect_error(summary(sim), "twice", class = "dpts_error_rows")
  }
  sim <- results()$simulation
  levels(sim$policy) <- c("all", "all")
  expect_false(is_label(sim$policy))
  expect_error(tidy(sim), "twice", class = "dpts_error_rows")
  sim <- results()$simulation
  sim$run <- sim$run + 1L
  expect_error(pulls(sim), "no run", class = "dpts_error_rows")
})

test_that("glance() says at which round its regret is", {
  sim <- results()$simulation
  cut <- sim[sim$t < 100, ]
  row <- glance(cut)
  expect_equal(row$horizon, 300)
  expect_equal(row$t, max(cut$t))
  expect_equal(row$regret, min(tidy(cut)$estimate))
  expect_equal(tidy(cut)$t, rep(max(cut$t), 2))
  # the best at a round that both have
  uneven <- sim[sim$policy == "a" | sim$t < 100, ]
  expect_equal(glance(uneven)$t, max(cut$t))
  expect_equal(glance(uneven)[c("best", "regret")], row[c("best", "regret")])
})

test_that("curves are drawn by policy, whatever the type of the column", {
  privacy <- results()$privacy
  as_text <- privacy
  as_text$policy <- as.character(as_text$policy)
  drawn <- function(x) ggplot2::layer_data(autoplot(x))[c("x", "y", "colour", "group", "PANEL")]
  expect_equal(drawn(as_text), drawn(privacy))
  skip_without_dplyr()
  sim <- results()$simulation
  joined <- dplyr::left_join(sim, tibble::tibble(policy = c("a", "b"), kind = c("x", "y")),
                             by = "policy")
  lines <- ggplot2::layer_data(autoplot(joined) + ggplot2::facet_wrap(~ kind), 2)
  expect_equal(sort(lines$y), sort(summary(sim)$mean))
  expect_equal(nlevels(lines$PANEL), 2)
})

test_that("recommendations are ranked in one call", {
  one <- results()$recommendation
  two <- dpts_recommend(privacy_pure(2), two_arms(), 500, runs = 6, seed = 1,
                        candidates = c("dp_imed", "dp_klucb"))
  expect_error(rbind(one, two), "budget", class = "dpts_error_join")
  expect_identical(rbind(one[1, ], one[2:3, ]), one)
  expect_error(recommended_policy(one, "foo"), "`policy` must be one of", class = "dpts_error_input")
  skip_without_dplyr()
  expect_error(dplyr::bind_rows(one, two), "budget", class = "dpts_error_join")
})

test_that("parts of a reproduction are the whole", {
  part <- function(runs, ...) dpts_reproduce("hh-2", horizon = 2000, runs = runs, record = 5, ...)
  all <- part(4)
  two <- part(1:2)
  both <- rbind(two, part(3:4))
  expect_identical(both, all)
  expect_identical(claims(both), claims(all))
  expect_error(rbind(two, dpts_reproduce("hh-2", horizon = 3000, runs = 3:4, record = 5)),
               "horizon", class = "dpts_error_join")
  expect_error(rbind(two, part(3:4, log_base = 3)), class = "dpts_error_join")
  file <- withr::local_tempfile()
  expect_identical(part(1:2, checkpoint = file), two)
  expect_identical(part(4, checkpoint = file), all)
  tuned <- function(runs, prepulls = c(0, 9)) {
    dpts_reproduce("ou-3", horizon = 2000, mu = c(1, 10), runs = runs, prepulls = prepulls)
  }
  six <- tuned(6)
  three <- tuned(1:3)
  both <- rbind(three, tuned(4:6))
  expect_equal(both, six)
  expect_equal(claims(both), claims(six))
  expect_error(rbind(three, three), "twice", class = "dpts_error_join")
})

test_that("tunings of one problem are one tuning", {
  tune <- function(prepulls, runs = 4, ...) {
    dpts_tune(privacy_approx(4, 1e-3), two_arms(), 200, prepulls = prepulls, runs = runs, seed = 1,
              accountant = c("gdp", "rdp"), ...)
  }
  expect_equal(rbind(tune(c(0, 5)), tune(10)), tune(c(0, 5, 10)))
  expect_equal(rbind(tune(c(0, 5), 1:4), tune(c(0, 5), 5:8)), tune(c(0, 5), 8))
  expect_equal(sum(rbind(tune(0), tune(10))$best), 1)
  expect_error(rbind(tune(0), dpts_tune(privacy_approx(2, 1e-3), two_arms(), 200, prepulls = 10, runs = 4,
                                        seed = 1, accountant = "gdp")),
               "budget", class = "dpts_error_join")
})

test_that("labels tell what they stand for", {
  sim <- results()$simulation
  levels(sim$policy) <- c("x", "y")
  expect_identical(policies(sim), list(x = policy_ts_gaussian(), y = policy_ucb1()))
  expect_identical(unname(dpts_problems(sim)), list(two_arms()))
  advice <- results()$recommendation
  expect_identical(policies(advice)[["dp_imed"]], policy_dp_imed(1))
  expect_identical(dpts_problems(advice), list(two_arms()))
  expect_error(policies(results()$ope), "`x`", class = "dpts_error_input")
  expect_error(dpts_problems(results()$replay), "`x`", class = "dpts_error_input")
})

# ---- every class alike ------------------------------------------------------------------------

# Rows that were changed in one way or another are what they were, or say what is wrong
kept <- function(x, like, read = check_result) {
  expect_identical(c(class(x), inherits(read(x), "tbl_df")), c(class(like), TRUE))
}
refused <- function(x, shown = tbl_sum) {
  expect_error(tidy(x), class = "dpts_error")
  expect_gt(length(shown(x)), 0)
}

test_that("base R: rows are kept, keys are guarded, parts are joined", {
  for (name in names(results())) {
    x <- results()[[name]]
    key <- result_key(x)
    # Printing is pillar's, but for the words above the rows and a recommendation's columns.
    shown <- if (name == "recommendation") function(x) capture.output(print(x)) else tbl_sum
    kept(x[1:2, ], x, tidy)
    kept(head(x, 3), x)
    kept(x[nrow(x):1, ], x)
    expect_identical(x[TRUE, ], x)
    refused(x[c(1, 1), ], shown)
    refused(x[setdiff(names(x), key[1])], shown)
    refused(x[key], shown)
    y <- x
    y$extra <- seq_len(nrow(x))
    kept(y, x, tidy)
    y[[key[1]]] <- NULL
    refused(y)
    refused(stats::setNames(x, toupper(names(x))), shown)
    for (part in split(x, x[[key[1]]], drop = TRUE)) kept(part, x)
    expect_equal(rbind(x[1:2, ], x[3:nrow(x), ]), x)
    expect_identical(rbind(x), x)
    expect_error(rbind(x, x[2, ]), "twice", class = "dpts_error_join")
    expect_identical(unserialize(serialize(x, NULL)), x)
    expect_identical(class(as.data.frame(x)), "data.frame")
    expect_identical(class(tibble::as_tibble(x)), c("tbl_df", "tbl", "data.frame"))
  }
})

test_that("dplyr: rows are kept, keys are guarded, parts are joined", {
  skip_without_dplyr()
  # The methods are of all classes: these have keys of each kind, and base R has tried each.
  for (name in c("simulation", "recommendation", "replay", "ope", "audit", "plan")) {
    x <- results()[[name]]
    key <- result_key(x)
    first <- key[1]
    kept(dplyr::filter(x, dplyr::row_number() > 1), x)
    kept(dplyr::arrange(x, dplyr::desc(.data[[first]])), x)
    kept(dplyr::slice(x, 2:1), x)
    refused(dplyr::slice(x, c(1, 1)))
    kept(dplyr::mutate(x, extra = 1), x)
    refused(dplyr::select(x, -dplyr::all_of(first)))
    refused(dplyr::rename(x, other = dplyr::all_of(first)))
    kept(dplyr::relocate(x, dplyr::last_col()), x)
    counts <- dplyr::count(x, .data[[first]])
    plain <- c("tbl_df", "tbl", "data.frame")
    expect_identical(class(counts), plain)
    expect_identical(class(dplyr::distinct(x, .data[[first]])), plain)
    kept(dplyr::distinct(x), x)
    expect_equal(sum(counts$n), nrow(x))
    expect_identical(as.character(counts[[1]]), as.character(sort(unique(x[[first]]))))
    info <- tibble::tibble("{first}" := unique(x[[first]]), extra = 1)
    joined <- dplyr::left_join(x, info, by = first)
    kept(joined, x, tidy)
    expect_identical(joined[names(x)], x)
    # names as text, more of them than there are, keep the meaning
    info[[first]] <- as.character(info[[first]])
    joined <- dplyr::left_join(x, rbind(info, tibble::tibble("{first}" := "more", extra = 2)), by = first)
    kept(joined, x, tidy)
    expect_equal(dplyr::bind_rows(x[1:2, ], x[3:nrow(x), ]), x)
    refused(dplyr::bind_rows(x, x))
    grouped <- dplyr::group_by(x, .data[[first]])
    expect_s3_class(grouped, class(x)[1])
    expect_s3_class(grouped, "grouped_df")
    expect_identical(dplyr::ungroup(grouped), x)
    some <- dplyr::filter(grouped, dplyr::row_number() == 1)
    expect_identical(class(some), class(grouped))
    ranked <- dplyr::ungroup(dplyr::mutate(grouped, extra = dplyr::row_number()))
    kept(ranked, x)
    expect_identical(ranked[names(x)], x)
    sums <- dplyr::summarise(grouped, n = dplyr::n())
    expect_equal(sum(sums$n), nrow(x))
    expect_identical(class(sums), plain)
    if (utils::packageVersion("dplyr") >= "1.1.0") expect_identical(class(dplyr::reframe(grouped, n = 1:2)), plain)
    expect_false(inherits(dplyr::count(grouped, dplyr::row_number() > 1), "dpts_result"))
  }
})

test_that("a changed helper function makes another policy", {
  helper <- function(n) which.min(n)
  pick <- policy_custom("pick", function(k, horizon) numeric(k), function(state, round) helper(state),
                        function(state, feedback) { state[feedback$arm] <- state[feedback$arm] + 1; state })
  play <- function(runs) dpts_simulate(two_arms(), list(pick = pick), 50, runs = runs, seed = 1)
  one <- play(1:2)
  same <- play(3:4)
  expect_identical(rbind(one, same), play(4))
  helper <- function(n) 2
  two <- play(3:4)
  expect_error(rbind(one, two), "\"pick\" is not the same", class = "dpts_error_join")
  # the definition is that of the moment, also of a result that was read
  file <- withr::local_tempfile()
  saveRDS(one, file)
  expect_error(rbind(readRDS(file), two), "\"pick\" is not the same", class = "dpts_error_join")
  # also where it is found by a text
  asks <- list(function(state, round) do.call("helper", list(state)), function(state, round) get("helper")(state),
               function(state, round) sapply(list(state[, drop = TRUE]), "helper"))
  said <- function(value) {
    helper <<- value
    vapply(asks, definition_of, "")
  }
  expect_false(any(said(function(n) 1) == said(function(n) 2)))
  expect_identical(said(function(n) 1), said(function(n) 1))
  expect_condition(definition_of(function(state, round) get(paste0("hel", "per"))(state)), class = "dpts_unclear")
  skip_without_dplyr()
  expect_error(dplyr::bind_rows(one, two), "\"pick\" is not the same", class = "dpts_error_join")
  expect_error(dplyr::bind_rows(summary(one), summary(two)), class = "dpts_error_join")
})

test_that("what verbs say does not depend on the order of rows, and of some policies' rows it is what is said of them", {
  same <- function(x, y) { # but for the order of rows
    plain <- function(rows) {
      rows <- plain_columns(rows)
      rows <- as.data.frame(rows[!vapply(rows, is.list, NA)])
      key <- lapply(unname(rows), function(v) if (is.numeric(v)) signif(v, 8) else v)
      rows[do.call(order, key), , drop = FALSE]
    }
    isTRUE(all.equal(plain(x), plain(y), check.attributes = FALSE))
  }
  for (name in names(results())) {
    x <- results()[[name]]
    backwards <- x[rev(seq_len(nrow(x))), ]
    for (verb in list(summary, tidy, glance)) {
      if (identical(verb, summary) && name %in% c("privacy", "audit")) next # of equal bounds it names the first
      expect_true(same(verb(x), verb(backwards)), info = name)
    }
    all <- summary(x)
    if (!"policy" %in% intersect(names(x), names(all))) next
    own <- function(rows) rows[as.character(rows$policy) == as.character(x$policy[1]), ]
    expect_true(same(own(all), summary(own(x))), info = name)
  }
})

test_that("augment() adds the mean of a policy's runs, in each problem and at each round", {
  sim <- dpts_simulate(list(one = arms_bernoulli(c(0.6, 0.5)), two = arms_bernoulli(c(0.9, 0.2))),
                       list(a = policy_ucb1(), b = policy_ts_beta()), 60, runs = 4, seed = 1, record = c(20, 60))
  sim <- sim[sample(nrow(sim)), ]
  more <- augment(sim)
  means <- stats::ave(sim$regret, sim$problem, sim$policy, sim$t)
  expect_equal(more$.fitted, means)
  expect_equal(more$.resid, sim$regret - means)
  expect_identical(as.data.frame(more)[names(sim)], as.data.frame(sim))
})

test_that("without one of its columns a result sums up and is drawn as before, or says that the column is needed", {
  withr::local_options(dpts.service = TRUE) # errors without a backtrace, which takes long
  for (name in names(results())) for (column in names(results()[[name]])) {
    x <- results()[[name]]
    x[[column]] <- NULL
    for (verb in list(summary, ggplot2::autoplot)) {
      said <- tryCatch(suppressMessages(suppressWarnings(verb(x))), error = identity)
      if (inherits(said, "error")) expect_true(inherits(said, "dpts_error"), label = paste(name, column, conditionMessage(said)))
    }
  }
})

test_that("what reads the meaning of labels refuses text in their place, the rest reads text as well", {
  refused <- character()
  for (name in setdiff(names(results()), "reproduction_tuning")) for (column in names(results()[[name]])) {
    x <- results()[[name]]
    if (!inherits(x[[column]], "dpts_label")) next
    x[[column]] <- as.character(x[[column]])
    for (verb in c("summary", "tidy", "glance", "autoplot")) {
      said <- tryCatch(suppressMessages(suppressWarnings(get(verb)(x))), error = identity)
      if (!inherits(said, "error")) next
      expect_true(inherits(said, "dpts_error_columns"), label = paste(name, column, verb, conditionMessage(said)))
      refused <- c(refused, paste(name, column, verb))
    }
  }
  three <- c("summary", "tidy", "autoplot")
  expect_identical(refused, c(
    paste("recommendation policy", three[1:2]), paste("replay policy", three), paste("identification policy", three),
    paste0("reproduction_", c("simulation", "privacy"), " policy autoplot"), paste("reproduction_replay policy", three),
    paste("plan design", three), paste("plan scenario", three)
  ))
})

test_that("a filter that leaves no row, or a label made text, ends in no error of R", {
  for (name in names(results())) {
    x <- results()[[name]]
    none <- x[0, ]
    for (verb in list(summary, tidy)) {
      said <- tryCatch(verb(none), dpts_error_input = identity) # of advice the best row is needed
      if (name == "recommendation" && inherits(said, "error")) next
      expect_identical(dim(said), c(0L, ncol(verb(x))), info = name)
    }
    expect_type(format(none), "character")
    expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(none)), "ggplot_built")
    for (column in names(x)[vapply(x, inherits, NA, "dpts_label")]) {
      lost <- x
      lost[[column]] <- factor(as.character(x[[column]]))
      expect_type(format(lost), "character")
      expect_error(rbind(x, lost), column, class = "dpts_error_columns")
    }
  }
})

test_that("every class sums up, is drawn and speaks broom", {
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  for (name in names(results())) {
    x <- results()[[name]]
    # test-print.R prints, and test-plot.R lays out, them all.
    if (name == "ope") expect_s3_class(plot(x), "ggplot")
    expect_s3_class(summary(x), "tbl_df")
    terms <- tidy(x)
    expect_true(all(c("term", "estimate") %in% names(terms)), info = name)
    expect_false("policy" %in% names(terms), info = name) # but as the term
    row <- glance(x)
    expect_s3_class(row, "tbl_df")
    expect_equal(nrow(row), 1, info = name)
    # What is said of the best is its own.
    if ("best" %in% names(row)) expect_identical(row[["regret"]] %||% row$people, min(terms$estimate), info = name)
    # by columns that broom's users know, or none
    expect_false("conf.low" %in% names(tidy(x, conf.int = FALSE)))
    if (!grepl("privacy|audit", name)) {
      expect_true(all(c("std.error", "conf.low", "conf.high") %in% names(terms)), info = name)
      wide <- tidy(x, conf.level = 0.99)
      ok <- is.finite(terms$conf.low) & terms$std.error > 0 & terms$conf.low > 0
      expect_true(all((wide$conf.low < terms$conf.low)[ok]), info = name)
    }
    for (verb in list(summary, tidy, glance, ggplot2::autoplot, plot)) {
      expect_error(verb(x, no_such = 1), "no_such", class = "dpts_error_dots")
    }
    # The ends of (0, 1) are no levels.
    method <- Find(Negate(is.null), lapply(class(x), utils::getS3method, f = "autoplot", optional = TRUE))
    for (level in if ("level" %in% names(formals(method))) 0:1) {
      expect_error(ggplot2::autoplot(x, level = level), "`level`", class = "dpts_error_input")
    }
    if ("log" %in% names(formals(method))) {
      expect_error(ggplot2::autoplot(x, log = "z"), "`log` must be one of", class = "dpts_error_input")
    }
    for (level in if (!grepl("privacy|audit", name)) 0:1) {
      expect_error(tidy(x, conf.level = level), "`conf.level`", class = "dpts_error_input")
    }
    if (!grepl("privacy|audit", name)) expect_error(tidy(x, conf.int = NA), "`conf.int`", class = "dpts_error_input")
  }
  expect_error(augment(results()$simulation, no_such = 1), "no_such", class = "dpts_error_dots")
})

test_that("glance() says in one row what all rows say", {
  one <- function(name) as.list(glance(results()[[name]]))
  at <- function(name) as.list(results()[[name]])
  privacy <- at("privacy")
  expect_identical(one("privacy")[c("policies", "accountants", "arms", "horizon", "least_delta")],
                   list(policies = 2L, accountants = length(unique(privacy$accountant)), arms = 2, horizon = NA_real_,
                        least_delta = 1e-4))
  expect_equal(as.numeric(one("privacy")$least_epsilon), min(privacy$epsilon[privacy$delta == 1e-4]))
  expect_gt(diff(range(privacy$epsilon[privacy$delta == 1e-4])), 0)
  expect_identical(one("plan"), list(designs = 2L, scenarios = 2L, nobs = 6L, seed = 1, error = 0.05))
  tuning <- tidy(results()$tuning)
  expect_equal(one("tuning")[c("horizon", "candidates", "nobs", "best")],
               list(horizon = 50, candidates = 4, nobs = 4, best = tuning$term[which.min(tuning$estimate)]))
  found <- at("identification")
  expect_equal(one("identification")[c("policies", "nobs", "error", "margin", "limit", "undecided", "wrong")],
               list(policies = 2, nobs = 6, error = 0.05, margin = 0, limit = 3000, undecided = mean(is.na(found$arm)),
                    wrong = mean(found$arm %in% 2)))
  audit <- at("audit")
  expect_equal(one("audit")[c("arms", "horizon", "adversaries", "level", "holds")],
               list(arms = 2, horizon = 4, adversaries = length(unique(audit$adversary)), level = 0.999, holds = TRUE))
  replay <- at("replay")
  expect_equal(one("replay")[c("events", "arms", "policies", "delays", "nobs")],
               list(events = 2000, arms = 34, policies = 2, delays = 2, nobs = 3))
  advice <- at("recommendation")
  expect_equal(one("recommendation")[c("arms", "horizon", "problems", "candidates", "nobs", "best", "tied", "regret")],
               list(arms = 2, horizon = 500, problems = 1, candidates = length(advice$policy), nobs = 6,
                    best = as.character(advice$policy[which.min(advice$regret)]),
                    tied = sum(advice$standing %in% c("best", "tied")), regret = min(advice$regret)))
})

test_that("what decides the numbers of a simulation is part of its problem: parts that differ in it are side by side", {
  play <- function(runs, ..., arms = two_arms()) {
    dpts_simulate(arms, list(a = policy_randomised(mu = 1, block = 30)), 100, runs = runs, seed = 1, record = 2, ...)
  }
  for (other in list(list(finish = TRUE), list(delay = 5), list(batch = 7))) {
    both <- rbind(play(1:2), do.call(play, c(list(3:4), other)))
    expect_identical(as.vector(table(both$problem)), c(4L, 4L))
    named <- list(x = two_arms(), y = arms_bernoulli(c(0.2, 0.3)))
    expect_error(rbind(play(1:2, arms = named), do.call(play, c(list(3:4, arms = named), other))), "\"x\" is not the same in both",
                 class = "dpts_error_join")
  }
})
