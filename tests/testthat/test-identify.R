# People to a verdict.

test_that("dpts_identify() finds the best arm, and its summary counts", {
  arms <- arms_bernoulli(c(0.7, 0.5, 0.4))
  found <- dpts_identify(arms, list(found = policy_top_two(mu = 1), tossed = policy_randomised(epsilon = 2)),
                         runs = 30, seed = 1, limit = 5000)
  expect_named(found, c("policy", "run", "people", "arm", "correct"))
  expect_true(all(found$arm == 1 & found$correct))
  s <- summary(found)
  expect_identical(s$runs, c(30, 30))
  expect_equal(s$mean, unname(c(tapply(found$people, found$policy, mean))))
  expect_equal(s$wrong_upper, rep(stats::qbeta(0.975, 1, 30), 2))
  expect_equal(s$median[1], sort(found$people[1:30])[15])
  # A limit that is too small
  short <- summary(dpts_identify(arms, policy_top_two(mu = 1), runs = 10, seed = 1, limit = 150))
  expect_identical(short$undecided, 1)
  expect_identical(short$mean, 150)
  expect_false(is.nan(short$median))
  expect_true(is.na(short$median))
})

test_that("glance() counts wrong verdicts in all runs, as summary() does", {
  found <- dpts_identify(arms_bernoulli(c(0.5, 0.52)), policy_randomised(mu = 2, block = 50), runs = 40, seed = 1,
                         error = 0.4, limit = 400)
  wrong <- sum(found$arm %in% 1)
  expect_gt(wrong, 0)
  expect_gt(sum(is.na(found$people)), 0)
  expect_equal(glance(found)$wrong, wrong / 40)
  expect_equal(summary(found)$wrong, wrong / 40)
})

test_that("tidy() gives the mean number of people an interval that is possible", {
  policies <- list(a = policy_top_two(), b = policy_randomised(mu = 1))
  found <- dpts_identify(list(x = arms_bernoulli(c(0.7, 0.5)), y = arms_bernoulli(c(0.5, 0.8))), policies, limit = 700,
                         runs = 2, seed = 1)
  terms <- tidy(found, conf.level = 0.9)
  for (i in seq_len(nrow(terms))) {
    people <- found$people[found$problem == terms$problem[i] & found$policy == terms$term[i]]
    people[is.na(people)] <- 700
    expect_equal(unlist(terms[i, c("conf.low", "conf.high")], use.names = FALSE), interval_by_help(people, 0.9, 0, 700))
  }
  expect_true(all(terms$conf.low > 0 & terms$conf.high <= 700))
  one <- tidy(dpts_identify(arms_bernoulli(c(0.7, 0.5)), policies, limit = 700, runs = I(1), seed = 1))
  expect_true(all(is.na(unlist(one[c("std.error", "conf.low", "conf.high")]))))
})

test_that("runs depend on their key alone", {
  arms <- arms_bernoulli(c(0.7, 0.5))
  all <- dpts_identify(arms, policy_randomised(mu = 1), runs = 6, seed = 1, limit = 1e4)
  some <- dpts_identify(arms, list(randomised = policy_randomised(mu = 1)), runs = 3:4, seed = 1, limit = 1e4, threads = 2)
  expect_identical(some$people, all$people[3:4])
  # The engine that skips ends a run at the same release as the plain loop, on the same streams
  plain <- withr::with_options(list(dpts.engine = "plain"),
                               dpts_identify(arms, policy_randomised(mu = 1), runs = 6, seed = 1, limit = 1e4))
  expect_identical(plain$people, all$people)
})

test_that("several problems are those one by one", {
  problems <- list(first = arms_bernoulli(c(0.9, 0.4)), second = arms_bernoulli(c(0.5, 0.2, 0.9)), none = arms_bernoulli(c(0.5, 0.5)))
  policies <- list(a = policy_top_two(), b = policy_randomised(mu = 1), c = policy_gaussian_imed(mu = 1))
  all <- dpts_identify(problems, policies, runs = 5, seed = 1, limit = 400)
  expect_gt(sum(!is.na(all$correct)), 20)
  for (name in names(problems)) {
    one <- dpts_identify(problems[[name]], policies, runs = 5, seed = 1, limit = 400)
    expect_equal(as.data.frame(all)[all$problem == name, names(one)], as.data.frame(one), ignore_attr = TRUE)
  }
})

test_that("equal arms seldom get a verdict, and with a margin they do", {
  arms <- arms_bernoulli(c(0.5, 0.5))
  same <- dpts_identify(arms, list(a = policy_top_two(mu = 0.5, error = 0.2), b = policy_randomised(mu = 0.5)), error = 0.2,
                        runs = 200, seed = 1, limit = 5000)
  expect_lte(max(1 - summary(same)$undecided), 0.3)
  close <- dpts_identify(arms, policy_top_two(mu = 0.5, error = 0.2, margin = 0.1), error = 0.2, margin = 0.1, runs = 20,
                         seed = 1, limit = 1e5)
  expect_true(all(close$correct))
  # Who is the whole margin below the best is wrong, also where a difference of doubles is less than it.
  edge <- dpts_identify(arms_bernoulli(c(0.5, 0.6)), policy_randomised(rule = "thompson", floor = 0.01, block = 20),
                        error = 0.2, margin = 0.1, runs = 60, seed = 1, limit = 4000)
  expect_gt(sum(edge$arm == 1, na.rm = TRUE), 0)
  expect_identical(edge$correct, edge$arm == 2)
})

test_that("where people are tossed the verdict is that of the releases, with and without a margin", {
  arms <- arms_bernoulli(c(0.6, 0.3))
  policy <- policy_randomised(mu = 1, block = 40)
  sim <- dpts_simulate(arms, policy, 2000, runs = 4, seed = 1, history = TRUE)
  people <- lapply(c(0, 0.1), function(margin) {
    found <- dpts_identify(arms, policy, margin = margin, runs = 4, seed = 1, limit = 2000)$people
    expect_equal(found, verdict(sim, margin = margin)$t)
    found
  })
  expect_true(all(people[[2]] <= people[[1]]) && any(people[[2]] < people[[1]]))
  # Where one release proves several arms to be within the margin, the verdict names the one that leads.
  close <- arms_bernoulli(c(0.5, 0.5, 0.5))
  found <- dpts_identify(close, policy_randomised(block = 600), margin = 0.5, runs = 10, seed = 1, limit = 1200)
  sim <- dpts_simulate(close, policy_randomised(block = 600), 600, runs = 10, seed = 1, history = TRUE)
  first <- dpts_releases(sim)
  leads <- vapply(split(first, first$run), function(own) which.max(own$sum / own$n), 0L)
  expect_equal(found$people, rep(600, 10))
  expect_identical(found$arm, unname(leads))
  expect_gt(length(unique(leads)), 1)
})

test_that("bad input is refused by name", {
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  arms <- arms_bernoulli(c(0.7, 0.5))
  bad(dpts_identify(arms, policy_ucb1()), "policy \"ucb1\" releases no sums of batches")
  bad(dpts_identify(arms, policy_top_two(), error = 0.01), "has the error 0.05 and the margin 0")
  # A margin of bits is a wider one of rewards.
  bits <- policy_local(policy_top_two(margin = 0.1), 1)
  bad(dpts_identify(arms, bits, margin = 0.1), "has the error 0.05 and the margin 0.2163953")
  expect_s3_class(dpts_identify(arms, bits, margin = 0.1 / tanh(0.5), limit = 2000, runs = 1, seed = 1), "dpts_identification")
  bad(dpts_identify(arms, policy_randomised(), error = 1), "`error`")
  bad(dpts_identify(arms, policy_randomised(), margin = -1), "`margin`")
  bad(dpts_identify(arms, policy_randomised(floor = 0.6)), "above 1/2")
  bad(dpts_identify(arms, policy_randomised(), limit = 0), "`limit`")
})

test_that("a run that ended at its verdict has no numbers for the rounds after", {
  record <- c(10, 200, 5000)
  job <- simulate_job(list(one = arms_bernoulli(c(0.9, 0.1))), list(a = policy_top_two(error = 0.05)), 5000, 1:2, 1, record = record,
                      threads = 1L, delay = 0L, batch = 1, observers = c("regret", "reward", "verdict"))
  job$ask <- list(error = 0.05, margin = 0)
  seen <- join_chunks(job, play_job(job, simulate_chunk, NULL, FALSE))[[1]]
  for (run in 1:2) {
    after <- record > seen$verdict[1, run]
    expect_true(any(after) && !all(after))
    expect_identical(is.na(seen$regret[, run]), after)
    expect_identical(is.na(seen$reward[, run]), after)
  }
})

test_that("a live verdict is that of the table: also where batches of several arms end in one round", {
  arms <- arms_bernoulli(c(0.2, 0.6, 0.3))
  policies <- list(policy_top_two(mu = 5, error = 0.05), policy_gaussian_imed(5, correlation = 0))
  found <- dpts_identify(arms, policies, error = 0.05, limit = 3000, runs = 60, seed = 1, batch = 20)
  sim <- dpts_simulate(arms, policies, 3000, runs = 60, seed = 1, batch = 20, history = TRUE)
  table <- dpts_releases(sim)
  expect_true(any(duplicated(unique(table[c("policy", "run", "t", "block")])[1:3])))
  v <- suppressMessages(verdict(sim))
  expect_gt(sum(!is.na(v$arm)), 60)
  expect_equal(found$people, ifelse(is.na(v$arm), NA, v$t))
  expect_identical(as.integer(found$arm), as.integer(v$arm))
})

test_that("evidence of exactly the threshold is a verdict, in a table and in a run that it ends", {
  arms <- arms_bernoulli(c(0.9, 0.2))
  policy <- policy_randomised(block = 20)
  sim <- dpts_simulate(arms, policy, 400, runs = 1, seed = 1, history = TRUE)
  e <- evidence(sim, "tosses")
  e <- e[e$arm == 1, ]
  i <- which(e$evidence > 2 & e$evidence > cummax(c(-Inf, e$evidence))[seq_along(e$evidence)])[1]
  error <- exp(-e$evidence[i]) * (1 + (-200:200) * 2^-54)
  error <- error[log(1 / error) == e$evidence[i] & -log(error) == e$evidence[i]][1] # of which this is the line
  expect_identical(verdict(sim, error = error)$t, e$t[i])
  expect_equal(dpts_identify(arms, policy, error = error, runs = 1, seed = 1, limit = 400)$people, e$t[i])
  more <- error * (1 - 1e-12)
  expect_gt(verdict(sim, error = more)$t, e$t[i])
})

test_that("the curve of verdicts goes on to the limit if some run has none", {
  id <- dpts_identify(arms_bernoulli(c(0.9, 0.1)), policy_top_two(mu = 1), runs = 4, seed = 1, limit = 300)
  at <- function(id) max(autoplot(id)$data$at)
  expect_identical(at(id), max(id$people))
  id$people[2] <- NA
  expect_identical(at(id), 300)
  # Of each policy on each problem the share of its runs that have a verdict by then
  id <- dpts_identify(list(p = arms_bernoulli(c(0.9, 0.1)), q = arms_bernoulli(c(0.7, 0.5))),
                      list(x = policy_top_two(mu = 1), y = policy_top_two(mu = 0.4)), runs = 5, seed = 1, limit = 300)
  expect_true(anyNA(id$people) && mean(is.na(id$people)) < 0.5)
  drawn <- autoplot(id)$data
  expect_identical(nrow(drawn), sum(!is.na(id$people)) + 4L)
  for (i in seq_len(nrow(drawn))) {
    same <- drawn$policy == drawn$policy[i] & drawn$problem == drawn$problem[i]
    own <- id$people[as.character(id$policy) == drawn$policy[i] & as.character(id$problem) == drawn$problem[i]]
    by_then <- mean(!is.na(own) & own <= drawn$at[i])
    expect_equal(max(drawn$share[same & drawn$at == drawn$at[i]]), by_then)
  }
})

test_that("a summary says what the rows say, and who is correct is so by the means that people get, in shares of the range", {
  few <- c(0.95, 0.5, 0.1)
  many <- c(0.3, 0.5, 0.47)
  problems <- list(scaled = arms_gaussian(c(20, 41, 40), 10, range = c(0, 50)), near = arms_bernoulli(c(0.34, 0.5, 0.34)),
                   strata = arms_strata(x = arms_bernoulli(few), y = arms_bernoulli(many), z = arms_bernoulli(many),
                                        share = c(0.2, 0.5, 0.3)))
  policies <- list(noisy = policy_randomised(mu = 1, block = 60), open = policy_randomised(block = 30))
  found <- suppressWarnings(suppressMessages(dpts_identify(problems, policies, error = 0.8, margin = 0.13, runs = 7, seed = 1,
                                                           limit = 200)))
  means <- list(scaled = problems$scaled$mean / 50, near = c(0.34, 0.5, 0.34), strata = 0.2 * few + 0.8 * many)
  gap <- mapply(function(problem, arm) max(means[[problem]]) - means[[problem]][arm], as.character(found$problem), found$arm)
  expect_identical(found$correct, unname(gap) < 0.13)
  expect_setequal(found$arm[found$problem == "scaled"], c(2, 3, NA))
  found$correct[which(found$correct)[3 * 1:5]] <- FALSE
  rows <- summary(found)
  expect_equal(nrow(rows), 6)
  for (i in seq_len(nrow(rows))) {
    mine <- found[as.character(found$problem) == rows$problem[i] & as.character(found$policy) == rows$policy[i], ]
    people <- ifelse(is.na(mine$people), Inf, mine$people)
    at <- stats::quantile(people, c(0.5, 0.9), type = 1, names = FALSE)
    spent <- pmin(people, 200)
    expect_equal(unlist(rows[i, c("runs", "mean", "se", "median", "q90", "wrong", "undecided")], use.names = FALSE),
                 c(7, mean(spent), stats::sd(spent) / sqrt(7), ifelse(at < Inf, at, NA), sum(!mine$correct, na.rm = TRUE) / 7,
                   mean(people == Inf)))
  }
})
