# The release table: made of every class, from other people's sums, and through files; and that conclusions are
# computed from it alone.

skip_on_cran() # takes seconds

through_csv <- function(table) {
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(table, file)
  as_releases(utils::read.csv(file))
}

through_rds <- function(table) {
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(table, file)
  readRDS(file)
}

verbs <- list(
  means = function(x) evidence(x), tosses = function(x) evidence(x, "tosses"), effects = function(x) effects(x),
  control = function(x) effects(x, control = 1, level = 0.8), verdict = function(x) verdict(x, 0.1),
  margin = function(x) verdict(x, margin = 0.1), estimates = function(x) estimates(x)
)

# What is concluded is the same, to the bit, of a result, of its table, and of that after a trip through files
expect_table_says_all <- function(x, verbs) {
  table <- dpts_releases(x)
  expect_identical(through_rds(table), table)
  trips <- list(table = table, csv = through_csv(table))
  for (verb in names(verbs)) {
    said <- suppressMessages(verbs[[verb]](x))
    for (trip in names(trips)) {
      expect_identical(suppressMessages(verbs[[verb]](trips[[trip]])), said, info = paste(verb, trip))
    }
  }
  invisible(table)
}

arms3 <- arms_bernoulli(c(control = 0.5, new = 0.65, third = 0.4))
batches <- list(top = policy_top_two(mu = 1), correlated = policy_gaussian_imed(1), laplace = policy_dp_imed(1),
                local = policy_local(policy_ucb1(), 2), gathered = policy_local(policy_top_two(margin = 0.1), 1))
tosses <- list(open = policy_randomised(), private = policy_randomised(epsilon = 0.7, rule = "thompson", block = 90),
               bits = policy_local(policy_randomised(block = 100), 1))

test_that("numbers of blocks may be any, as dates or numbers of another system", {
  table <- dpts_releases(dpts_simulate(two_arms(), policy_randomised(mu = 1, block = 100), 600, runs = 1, seed = 1, history = TRUE))
  for (by in c(1, 86400)) {
    other <- table
    other$block <- 1e12 + by * table$block
    expect_identical(evidence(other)$evidence, evidence(table)$evidence)
    expect_identical(effects(other)$lower, effects(table)$lower)
  }
})

test_that("the guarantee of an agent's table is that of a person, once for each copy of the agent", {
  said <- function(agent) format(attr(dpts_releases(agent), "guarantees")[[1]])
  one <- dpts_agent(policy_randomised(mu = 1), 2, use = "arrival")
  expect_identical(said(one), format(policy_randomised(mu = 1)$guarantee))
  agent_restored(one)
  expect_match(said(one), "1.4143-GDP", fixed = TRUE) # sqrt(2), rounded up
  both <- dpts_agent(policy_randomised(mu = 1), 2, use = "arrival", outcomes = list(y = agent_outcome(mu = 0.5, deadline = hours(1))))
  expect_match(said(both), "1.118", fixed = TRUE) # sqrt(1 + .25), rounded up
  # Three rewards in different releases: sqrt(3) mu; in one release, as correlated noise counts: 3 mu
  apart <- dpts_agent(policy_randomised(mu = 1), 2, use = "arrival", max_per_person = 3)
  expect_match(said(apart), "^1\\.7321-GDP for people with up to 3 rewards")
  group <- dpts_agent(policy_gaussian_imed(mu = 1, correlation = 0.5), 2, use = "arrival", max_per_person = 3)
  expect_match(said(group), "^3-GDP for people with up to 3 rewards")
  agent_restored(apart)
  expect_match(said(apart), "2.4495-GDP", fixed = TRUE) # sqrt(6)
})

test_that("a table says all that is concluded from simulations of many kinds", {
  no_tosses <- verbs[names(verbs) != "tosses"]
  sim <- dpts_simulate(arms3, c(batches, tosses), 700, runs = 2, seed = 1, history = TRUE, delay = 7)
  expect_table_says_all(sim[sim$run == 2, ], no_tosses)
  expect_table_says_all(sim[sim$t <= 300 & sim$policy %in% c("top", "local", "private"), ], no_tosses)
  # Several problems, with other arms, ranges and horizons; fixed numbers; an end while rewards are out
  other <- arms_custom(function(arm, n) stats::runif(n, -2, 2 + arm), means = c(0.5, 1), range = c(-2, 4))
  fixed <- list(fixed = policy_randomised(permuted = TRUE, block = 40), private = tosses$private)
  both <- rbind(
    easy = dpts_simulate(arms3, fixed, 600, runs = 2, seed = 2, history = TRUE, finish = TRUE, delay = 30),
    plain = dpts_simulate(other, rev(fixed), 400, runs = 1, seed = 3, history = TRUE))
  table <- expect_table_says_all(both, verbs)
  expect_identical(unique(table[c("problem", "low", "high")])$low, c(0, -2))
  expect_true(any(!table$whole))
  # Silent arms: first batches of 334 people, of which one arm's is still open
  early <- dpts_simulate(arms3, policy_top_two(mu = 0.1), 900, runs = 2, seed = 1, history = TRUE)
  table <- expect_table_says_all(early, no_tosses)
  expect_identical(as.character(table$arm[table$event %in% "begin" & table$run == 1]), c("control", "new", "third"))
})

test_that("a table says all that is concluded from replays", {
  withr::local_seed(1)
  arm <- sample(c("b", "a"), 3000, TRUE)
  log <- data.frame(arm = arm, reward = stats::rbinom(3000, 1, ifelse(arm == "a", 0.75, 0.4)))
  replay <- dpts_replay(log, c(batches["top"], tosses["private"]), runs = 2, seed = 1, delay = c(0, 10))
  table <- expect_table_says_all(replay, verbs[names(verbs) != "tosses"])
  expect_named(table[1:5], c("policy", "delay", "run", "t", "block"))
})

test_that("a table says all that is concluded from agents whose arms come and go", {
  withr::local_seed(1)
  policies <- list(policy_randomised(epsilon = 1, rule = "thompson", floor = 0.1, block = 40), policy_gaussian_imed(2),
                   policy_local(policy_randomised(block = 30), 2))
  for (policy in policies) {
    agent <- dpts_agent(policy, c("z", "a"), use = "arrival", range = c(-1, 3))
    people <- function(n) {
      x <- agent_choose(agent, n)
      agent_reward(agent, x$ticket, stats::runif(n, -1, 1 + as.integer(x$arm) / 2))
    }
    expect_table_says_all(agent, verbs[names(verbs) != "tosses"])
    people(150)
    agent_arms(agent, add = c("m", "b"))
    before <- dpts_releases(agent)
    people(200)
    if (is_true_of(policy, "by_tosses") && flip_of(policy) == 0) {
      # What the first arms have proved of each other is what it was.
      shown <- lapply(list(before, agent), evidence, "tosses")
      shown <- lapply(shown, function(e) e$evidence[e$t <= 150 & e$arm == "z" & e$rival == "a"])
      expect_gt(length(shown[[1]]), 0)
      expect_identical(shown[[2]], shown[[1]])
    }
    agent_arms(agent, retire = "a")
    people(70)
    table <- expect_table_says_all(agent, if (tosses_people(policy)) verbs else verbs[names(verbs) != "tosses"])
    expect_identical(as.character(table$arm[table$event %in% "added"]), c("m", "b"))
    expect_identical(table$t[table$event %in% c("added", "retired")], c(150, 150, 350))
    # As of an earlier round
    earlier <- suppressMessages(verdict(table[table$t <= 150, ]))
    expect_identical(earlier, suppressMessages(verdict(before[before$t <= 150, ])))
  }
})

test_that("a table has all arms, whichever were released at the same time first", {
  # Each reward of arm a is a release, and of arm c; nobody has got arm b.
  for (arms in list(c("a", "b"), c("a", "b", "c"))) {
    agent <- dpts_agent(policy_gaussian_imed(mu = 1, first = 1, ratio = 1.5), arms, use = "arrival")
    one <- agent_choose(agent, 4, offer = "a")
    two <- agent_choose(agent, 4, offer = setdiff(arms, c("a", if (length(arms) > 2) "b")))
    if (length(arms) == 2) agent_reward(agent, one$ticket, 1)
    # Of three arms those of the first three rows are a, c and c.
    if (length(arms) == 3) for (ticket in c(one$ticket[1], two$ticket)) agent_reward(agent, ticket, 1)
    for (x in list(agent, dpts_releases(agent))) {
      expect_identical(as.character(estimates(x)$arm), arms)
      expect_match(suppressMessages(verdict(x))$missing, "^Nothing was released yet of b;")
    }
  }
})

test_that("rows of a table and of a simulation up to a round answer as of that round", {
  skip_without_dplyr()
  sim <- dpts_simulate(arms3, c(batches, tosses), 600, runs = 1, seed = 1, history = TRUE)
  part <- sim[sim$t <= 400, ]
  for (verb in list(dpts_releases, evidence, effects, verdict, estimates)) {
    expect_error(verb(sim[sim$t < 0, ]), "with rows", class = "dpts_error_input")
  }
  expect_no_warning(expect_equal(nrow(pulls(sim[sim$t < 0, ])), 0))
  table <- dpts_releases(sim)
  last <- max(sim$t[sim$t <= 400])
  for (rows in list(table[table$t <= last, ], subset(table, t <= last), dplyr::filter(table, t <= last))) {
    expect_s3_class(rows, "dpts_releases")
    for (verb in c("means", "effects", "verdict")) {
      expect_identical(suppressMessages(verbs[[verb]](rows)), suppressMessages(verbs[[verb]](part)), info = verb)
    }
  }
  looks <- evidence(sim[sim$policy == "open", ], "tosses")
  expect_identical(evidence(part[part$policy == "open", ], "tosses"), looks[looks$t <= last, ])
  expect_true(all(estimates(part)$rewards <= last, na.rm = TRUE))
  expect_identical(estimates(sim[sim$t == 600, ]), estimates(sim))
  history <- dpts_history(sim)
  counted <- table(history$arm[history$t <= last], history$policy[history$t <= last])
  expect_equal(pulls(part)$pulls, as.vector(counted))
  expect_error(pulls(dpts_simulate(arms3, policy_ucb1(), 100, runs = 2, seed = 1)[1:3, ]),
               "rows of policy \"ucb1\" up to round 3 alone", class = "dpts_error_history")
})

test_that("numbers are those that a file keeps, and as near as that", {
  withr::local_seed(1)
  x <- c(stats::rnorm(2000) * 10^stats::runif(2000, -12, 12), 1 / 3, 0.1, 1e15 / 7, 2^-20, NA, 0, -5)
  kept <- as_written(x)
  expect_lte(max(abs(kept / x - 1), na.rm = TRUE), 5e-15)
  file <- withr::local_tempfile()
  utils::write.csv(data.frame(kept), file, row.names = FALSE)
  expect_identical(utils::read.csv(file)$kept, kept)
})

test_that("rows, sums and laws of a table are those of the policy", {
  # Of a moving average all that a policy reports follows from the rows of a table, to the digit.
  carried <- dpts_simulate(arms3, policy_gaussian_imed(0.3, correlation = 0.5), 600, runs = 1, seed = 1, history = TRUE)
  plain <- estimates(dpts_simulate(arms3, policy_gaussian_imed(0.3, correlation = 0.5), 600, runs = 1, seed = 1))
  for (name in c("lower", "upper")) expect_equal(estimates(dpts_releases(carried))[[name]], plain[[name]], tolerance = 1e-10)
  sim <- dpts_simulate(arms3, list(a = policy_randomised(mu = 0.5, block = 100)), 1000, runs = 1, seed = 1, history = TRUE)
  table <- dpts_releases(sim)
  expect_named(table, c("policy", "run", TABLE))
  expect_identical(table$t, rep(100 * 1:10, each = 3))
  expect_identical(table$block, rep(1:10 + 0, each = 3))
  expect_identical(unique(table[c("noise", "scale", "terms", "correlation", "whole", "low", "high")])[[2]], 2)
  expect_identical(table$chance[1], 0.333333333333333)
  expect_identical(table$floor[1], 0.5)
  history <- dpts_history(sim)
  block <- ceiling(history$t / 100)
  expect_equal(table$n, as.vector(table(history$arm, block)))
  # Six standard deviations
  expect_lt(max(abs(table$sum - as.vector(tapply(history$reward, list(history$arm, block), sum)))), 12)
  expect_identical(names(attr(table, "guarantees")), "a")
  expect_lt(.row_names_info(table), 0) # or print marks them
  expect_match(paste(format(table), collapse = "\n"), "1,000 people, 30 sums.*gaussian of scale 2.*Guarantee of a: 0.5-GDP")
  # Of rows of one policy only its guarantee is said.
  attr(table, "guarantees") <- c(attr(table, "guarantees"), list(b = privacy_gdp(1)))
  expect_no_match(format(table), "Guarantee of b")
})

test_that("sums of other software prove what they would by hand, in their own units", {
  # Two arms in turn, of which the noise is that of another package; and with range [0, 10]
  withr::local_seed(4)
  n <- c(40, 60, 50, 70, 80, 80)
  noise <- c(0, 1.5, -2.25)
  sum <- stats::rbinom(6, n, c(0.3, 0.6)) + rep(noise, 2)
  data <- data.frame(arm = c("a", "b"), n = n, sum = sum)
  for (law in c("gaussian", "laplace", "geometric")) {
    one <- as_releases(data, noise = law, scale = 1.5)
    ten <- as_releases(transform(data, sum = 10 * sum, grid = 10 * (law == "geometric")), noise = law, scale = 15, range = c(0, 10))
    shifted <- as_releases(transform(data, sum = sum - n), noise = law, scale = 1.5, range = c(-1, 0))
    expect_identical(one$t, cumsum(n))
    e <- suppressMessages(evidence(one))
    expect_equal(evidence(ten), e, tolerance = 1e-12)
    expect_equal(evidence(shifted), e, tolerance = 1e-12)
    expect_equal(effects(ten)$upper, 10 * effects(one)$upper, tolerance = 1e-12)
    expect_equal(estimates(ten)$lower, 10 * estimates(one)$lower, tolerance = 1e-12)
    expect_equal(estimates(shifted)$lower, estimates(one)$lower - 1, tolerance = 1e-9)
  }
  # A release at a time
  two <- as_releases(data[c(1, 2, 3, 4), ], noise = "laplace", scale = 1.5)
  expect_identical(nrow(evidence(two)), 8L)
  # On a fine grid geometric noise is Laplace noise.
  fine <- evidence(as_releases(transform(data, grid = 1e-5), noise = "geometric", scale = 1.5))
  expect_equal(fine, evidence(as_releases(data, noise = "laplace", scale = 1.5)), tolerance = 1e-6)
  expect_gt(max(abs(evidence(as_releases(data, "geometric", 1.5))$evidence - fine$evidence)), 1e-3)
  # Tossed
  tossed <- data.frame(arm = rep(c("a", "b"), 3), block = rep(1:3, each = 2), n, sum, chance = c(0.4, 0.6))
  table <- as_releases(tossed, noise = "none")
  expect_identical(table$floor, rep(0.4, 6))
  # Three arms: the least among any two, and blocks by their time
  three <- as_releases(data.frame(arm = 1:3, t = rep(c(9, 40), each = 3), n = 3, sum = 1, chance = c(0.2, 0.5, 0.3)), noise = "none")
  expect_equal(three$floor, rep(0.2 / 0.7, 6))
  expect_identical(three$block, c(1, 1, 1, 2, 2, 2))
  expect_identical(table$t, rep(cumsum(rowsum(n, rep(1:3, each = 2))), each = 2))
  # Of several runs each has what it has alone.
  other <- transform(tossed, n = 2 * n, chance = c(0.3, 0.7))
  both <- as_releases(rbind(cbind(run = 1, tossed), cbind(run = 2, other)), noise = "none")
  expect_equal(as.list(both[-1]), as.list(rbind(table, as_releases(other, noise = "none"))))
  w <- evidence(table, "tosses")
  least <- 0.4
  kappa <- 0.02 * 2.2^(0:4)
  log_f <- tosses_by_hand(c(0.4, 0.4), matrix(n[1:4]), matrix(sum[1:4]), c(2, 0, 0, 0), kappa)
  expect_equal(w$evidence[w$t == sum(n[1:4]) & w$arm == "a"], log(mean(exp(log_f))), tolerance = 1e-12)
})

test_that("squares are in the table, with their weight where it is not the usual one", {
  scores <- arms_custom(function(arm, n) stats::rbeta(n, 4 + arm, 5), (4 + 1:2) / (9 + 1:2), range = c(0, 1))
  policies <- list(tossed = policy_randomised(mu = 1, block = 100, outcome = "continuous"),
                   laplace = policy_randomised(epsilon = 1, block = 100, outcome = "continuous"),
                   imed = policy_gaussian_imed(1, outcome = "continuous"), coins = policy_randomised(mu = 1))
  sim <- dpts_simulate(scores, policies, 500, runs = 2, seed = 1, history = TRUE, delay = 5, finish = TRUE)
  table <- expect_table_says_all(sim, verbs[names(verbs) != "tosses"])
  released <- table[table$n > 0, ]
  expect_identical(is.na(released$squares), released$policy == "coins")
  expect_false("weight" %in% names(table))
  # What is left of the noise is the squares, also in the rewards' own units.
  free <- policy_randomised(block = 100, outcome = "continuous")
  sim <- dpts_simulate(scores, free, 300, runs = 1, seed = 1, history = TRUE)
  rounds <- dpts_history(sim)
  own <- dpts_releases(sim)
  expect_equal(own$squares, as.vector(tapply((rounds$reward - 0.5)^2, list(rounds$arm, ceiling(rounds$t / 100)), sum)))
  wide <- as_releases(transform(as.data.frame(own[c("t", "block", "arm", "n", "chance")]), sum = 10 * own$sum - 5 * own$n,
                                squares = 100 * own$squares), noise = "none", range = c(-5, 5))
  expect_equal(evidence(wide, "tosses")$evidence, evidence(own, "tosses")$evidence, tolerance = 1e-9)
  # Another weight is another law of the squares' noise.
  own <- data.frame(arm = 1:2, block = rep(1:3, each = 2), n = 100, sum = c(52, 48, 56, 49, 53, 48), squares = 1, chance = 0.5)
  usual <- as_releases(own, noise = "gaussian", scale = 2)
  expect_identical(as_releases(transform(own, weight = 2), noise = "gaussian", scale = 2), usual)
  odd <- as_releases(transform(own, weight = 0.5), noise = "gaussian", scale = 2)
  expect_identical(through_csv(odd), odd)
  expect_identical(odd$weight, rep(0.5, 6))
  expect_lt(max(evidence(odd, "tosses")$evidence), max(evidence(usual, "tosses")$evidence))
  # Of several weights estimates have the least, with which the noise of squares is widest.
  mixed <- as_releases(transform(own, weight = c(0.5, 2, 3, 0.5, 2, 3)), noise = "gaussian", scale = 2)
  expect_identical(estimates(mixed), estimates(odd))
})

test_that("an arm that is added before the first release comes after the others, in a file as well", {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 12), c("b", "a"), use = "arrival")
  agent_arms(agent, add = "0")
  agent_reward(agent, agent_choose(agent, n = 12)$ticket, 1)
  table <- dpts_releases(agent)
  expect_identical(as.character(table$arm), rep(c("b", "a", "0"), 2))
  expect_identical(table$event, c("begin", "begin", "added", NA, NA, NA))
  expect_equal(through_csv(table), table, ignore_attr = TRUE)
  # One that comes with the first release comes after it, and the table has nothing to say before.
  agent <- dpts_agent(policy_randomised(mu = 1, block = 12), c("b", "a"), use = "arrival")
  agent_reward(agent, agent_choose(agent, n = 12)$ticket, 1)
  agent_arms(agent, add = "0")
  expect_identical(dpts_releases(agent)$event, c(NA, NA, "added"))
})

test_that("what is no release table is refused, with the column that is wrong", {
  good <- data.frame(arm = c("a", "b", "a", "b"), n = 10, sum = c(1, 2, 3, 4), noise = "laplace", scale = 1,
                     t = c(20, 20, 40, 40), block = c(1, 1, 2, 2))
  expect_s3_class(as_releases(good), "dpts_releases")
  bad <- function(what, ..., data = good) {
    expect_error(as_releases(utils::modifyList(data, list(...))), what, class = "dpts_error_input")
  }
  bad("`n`.*whole", n = c(10, 10.5, 10, 10))
  bad("`squares`.*all releases of a run or in none", squares = c(NA, 1, 1, 1))
  bad("`squares`.*all releases of a run or in none", squares = c(1, 1, 1, NA))
  bad("`squares`.*finite", squares = Inf)
  bad("`squares`.*geometric", squares = 1, noise = "geometric")
  bad("`weight`.*positive", squares = 1, weight = 0)
  bad("`n`.*whole", n = -1)
  bad("`n`.*positive in a release", n = 0)
  bad("`n`.*be there", n = NULL)
  bad("`sum`.*finite", sum = c(1, NaN, 2, 3))
  bad("`sum`.*numbers", sum = letters[1:4])
  bad("`scale`.*positive", scale = 0)
  bad("`scale`.*positive", scale = Inf)
  bad("`scale`.*1e50", scale = 1e200)
  bad("`scale`.*1e-50", scale = 1e-200)
  for (scale in c(1e-50, 1e50)) {
    edge <- as_releases(transform(good, scale = scale))
    tossed <- as_releases(transform(good, scale = scale, chance = 0.5))
    results <- suppressMessages(list(estimates(edge), evidence(edge, "means"), effects(edge), verdict(edge),
                                     evidence(tossed, "tosses"), effects(tossed), effects(tossed, at = "end")))
    expect_false(any(vapply(unlist(lapply(results, as.list)), is.nan, NA)))
  }
  bad("`scale` must be given", scale = NULL)
  bad("`noise` must be given", noise = NULL)
  bad("`noise`.*one of", noise = "uniform")
  bad("`terms`.*positive", terms = 0)
  bad("`terms`.*whole", terms = 1.5)
  bad("`correlation`", correlation = 0.5)
  bad("`terms`.*1 where people are randomised", terms = 2, chance = 0.5)
  bad("`t`.*do not fall: see row 3", t = c(20, 20, 19, 40))
  bad("`block`.*arm once: see row 2", arm = "a")
  bad("`block`.*do not fall", block = c(2, 2, 1, 1))
  bad("`block`.*one `t`: see row 2", t = c(20, 30, 40, 40))
  bad("`low`.*be there", high = 1)
  bad("`low`.*below", low = 1, high = 0)
  bad("`whole`", whole = NA)
  bad("`whole`", whole = "yes")
  bad("`event`", event = "gone")
  bad("`low`.*finite `high`", low = -Inf, high = 1)
  bad("`flip`", flip = 0.5)
  bad("`flip`", flip = -0.1)
  for (people in c(0, 1.5, -1)) {
    bad("`per_person`.*whole numbers from 1", per_person = people)
    bad("`planned`.*whole number of at least 1", planned = people)
  }
  for (missing in c(-0.1, 1.1)) bad("`missing`.*from `low` to `high`", missing = missing)
  bad("`looks`.*increasing shares", looks = "nothing")
  for (end in list(c(-0.1, 0.5), c(0.5, 0.5), c(0.5, 1.1))) {
    bad("`predicted_high`.*not negative", predicted_low = end[1], predicted_high = end[2])
  }
  bad("`predicted_high`.*where people are randomised", predicted_low = 0, predicted_high = 1)
  bad("`grid`", grid = -1)
  bad("`grid`.*positive for geometric", noise = "geometric", grid = 0)
  bad("`scale`.*same in all rows", noise = "gaussian", correlation = 0.5, scale = c(1, 1, 2, 2))
  bad("`arm`.*known", arm = c("a", NA, "a", "b"))
  bad("`arm`.*each of its levels, and c has none", arm = factor(good$arm, c("a", "b", "c")))
  bad("`run`.*known", run = c(1, 1, 1, NA))
  bad("`run`.*together", run = c(1, 2, 1, 2), block = 1)
  bad("`chance`.*\\(0, 1\\]", chance = c(0.5, 0, 0.5, 0.5), floor = 0.1)
  bad("`chance`.*add up to 1", chance = 0.6)
  # A row that was left out, perhaps because of its sum
  bad("`chance`.*add up to 1 in each block of people: see row 3", data = transform(good, chance = 0.5)[-4, ])
  bad("`t`.*at least the number of people in the sums so far: see row 4", t = c(20, 20, 39, 39))
  cut <- list(chance = c(0.5, 0.5, 0.6, 0.6), floor = 0.45, whole = c(TRUE, TRUE, FALSE, TRUE))
  expect_s3_class(as_releases(utils::modifyList(good, cut)), "dpts_releases") # two blocks, of which one is cut
  bad("`chance`.*known where", chance = c(0.5, 0.5, NA, NA), floor = 0.5)
  bad("`floor`.*fixed before", chance = c(0.5, 0.5, 0.4, 0.6))
  bad("`floor`.*\\(0, 1\\]", chance = 0.5, floor = 0)
  bad("`floor`.*among any two", chance = c(0.3, 0.7, 0.5, 0.5), floor = 0.31)
  bad("`correlation`.*without randomisation", noise = "gaussian", correlation = 0.5, chance = 0.5, floor = 0.5)
  arg <- function(what, ...) expect_error(as_releases(good, ...), what, class = "dpts_error_input")
  arg("`noise` must not be given", noise = "laplace")
  arg("`scale` must not be given", scale = 2)
  expect_error(as_releases(transform(good, low = 0, high = 1), range = c(0, 2)), "`range` must not", class = "dpts_error_input")
  expect_error(as_releases(good[0, ]), "at least one row", class = "dpts_error_input")
  expect_error(as_releases(1), "`data`", class = "dpts_error_input")
  expect_error(dpts_releases(1), "`x` must be a result", class = "dpts_error_input")
  # A table whose rows were changed
  table <- as_releases(good)
  for (verb in list(evidence, effects, verdict, estimates)) {
    expect_error(verb(table[table$t < 20, ]), "at least one row", class = "dpts_error_input")
  }
  table$sum[2] <- Inf
  expect_error(evidence(table), "`sum` of `x`.*row 2", class = "dpts_error_input")
  expect_error(estimates(as_releases(good)[-2]), "`block` of `x` must be there", class = "dpts_error_input")
  sim <- dpts_simulate(arms3, policy_ucb1(), 500, runs = 1, seed = 1, history = TRUE)
  expect_error(dpts_releases(sim), "releases no sums of batches", class = "dpts_error_input")
  expect_error(estimates(sim[sim$t < 100, ]), "up to round [0-9]+ alone", class = "dpts_error_history")
})

test_that("columns of a table that were changed have their types again, or are refused", {
  arms <- arms_strata(north = arms_bernoulli(c(a = 0.3, b = 0.6)), south = arms_bernoulli(c(a = 0.4, b = 0.6)), share = c(0.4, 0.6))
  table <- dpts_releases(dpts_simulate(arms, policy_randomised(mu = 1, block = 40), 400, runs = 1, seed = 1, history = TRUE))
  changed <- function(name, value) {
    table[[name]] <- value
    table
  }
  own <- as.data.frame(evidence(table))
  same <- function(name, value) expect_equal(lapply(evidence(changed(name, value)), as.vector), lapply(own, as.vector))
  same("stratum", as.character(table$stratum))
  same("stratum", as.integer(table$stratum) + 5L)
  same("arm", as.character(table$arm))
  same("n", as.integer(table$n))
  bad <- function(name, value, must) {
    for (ask in list(evidence, verdict, effects, function(x) forecast(x, 1000, runs = 2))) {
      expect_error(ask(changed(name, value)), sprintf("Column `%s` of `(x|object)` must %s", name, must), class = "dpts_error_input")
    }
  }
  bad("arm", replace(table$arm, 2, NA), "be known in all rows: see row 2")
  bad("stratum", replace(table$stratum, 3, NA), "be known in all rows: see row 3")
  bad("sum", factor(table$sum), "hold numbers")
  for (name in c("t", "block", "n", "terms", "chance", "floor", "squares")) bad(name, as.character(table[[name]]), "hold numbers")
  bad("n", as.list(table$n), "hold one value in each row")
  bad("n", cbind(table$n, 1), "hold one value in each row")
  bad("run", NA, "be known in all rows: see row 1")
  bad("run", as.list(table$run), "hold one value in each row")
  bad("run", "first", "hold numbers")
  # Whatever its columns are, it prints: with its header, or as a plain table.
  expect_output(print(table), "# Releases: +360 people")
  expect_output(print(changed("n", as.character(table$n))), "^# A tibble")
  for (name in c("n", "run", "scale", "noise")) {
    for (value in list(NA, "many", list(1), factor("a"), as.difftime(1, units = "days"), cbind(table$n, 1), -1, NULL)) {
      expect_match(tbl_sum(changed(name, if (is.list(value)) rep(value, nrow(table)) else value)), "18 x", all = FALSE)
    }
  }
  apart <- table
  apart$stratum[1] <- setdiff(levels(apart$stratum), as.character(apart$stratum[1]))
  expect_error(verdict(apart), "`block` of `x` must have one `stratum`: see row 2", class = "dpts_error_releases")
  one <- as_releases(data.frame(arm = 1, n = 100, sum = 40), "none")
  expect_identical(as.list(verdict(one))[c("arm", "wrong", "missing")],
                   list(arm = NA_integer_, wrong = 1, missing = "1 alone is left, with no other arm to be compared with."))
})

test_that("rows of retired arms alone leave nothing to compare, and their estimate", {
  agent <- dpts_agent(policy_top_two(mu = 1), c("a", "b", "c"), use = "arrival")
  agent_reward(agent, agent_choose(agent, 60)$ticket, 1)
  agent_arms(agent, retire = "b")
  table <- dpts_releases(agent)
  gone <- table[table$arm == "b", ]
  for (ask in list(evidence, verdict, effects, function(x) effects(x, 1), function(x) effects(x, at = "end"),
                   function(x) forecast(x, 1000, runs = 2))) {
    expect_error(ask(gone), "`(x|object)` must have an arm that was not retired", class = "dpts_error_input")
  }
  expect_equal(as.list(estimates(gone)), lapply(estimates(table)[2, ], identity), ignore_attr = TRUE)
})

test_that("a sum that no rewards can have, whatever its noise, is refused, and one that they can is not", {
  given <- function(sum, noise = "gaussian", scale = 1, ..., n = 100, range = c(0, 1)) {
    as_releases(data.frame(arm = c("a", "b"), n, sum = c(sum, n * range[1]), ...), noise, scale, range = range)
  }
  refused <- function(column, ...) {
    expect_error(given(...), sprintf("`%s` of `data` must be th.*: see row 1", column), class = "dpts_error_releases")
  }
  # Without noise all but rounding; of stars the range was forgotten, or the sums are means of other units.
  refused("sum", 300, "none", 0)
  refused("sum", -0.1, "none", 0)
  refused("sum", 100.1, "none", 0)
  refused("sum", 40, "none", 0, range = c(1, 5))
  expect_silent(given(100 * (1 + 1e-12), "none", 0))
  expect_silent(given(sum(1e6 + seq(0, 1, length.out = 100)), "none", 0, range = c(1e6, 1e6 + 1)))
  refused("sum", 0.9e8, "none", 0, range = c(1e6, 1e6 + 1))
  # How far noise goes with a chance of 1e-16 is within what is let through, with one of 1e-21 it is not.
  reach <- function(tail) c(tail(1e-16), tail(1e-21))
  check <- function(x, law, ...) {
    expect_silent(given(100 + x[1], law, ...))
    expect_silent(given(-x[1], law, ...))
    refused("sum", 100 + x[2], law, ...)
    refused("sum", -x[2], law, ...)
  }
  gauss <- function(sd) reach(function(p) sd * stats::qnorm(p, lower.tail = FALSE))
  check(gauss(2), "gaussian", 2)
  check(gauss(6), "gaussian", 2, terms = 9)
  check(gauss(2 * sqrt(1.25 / 0.75)), "gaussian", 2, correlation = 0.5) # (Z_2 - Z_1 / 2) / sqrt(1 - 1 / 4)
  check(reach(function(p) -3 * log(2 * p)), "laplace", 3)
  check(reach(function(p) -3 * log(2 * p)), "geometric", 3)
  # Two Laplace variables: P(Y > x) = e^-x (2 + x) / 4
  check(reach(function(p) stats::uniroot(function(x) log((2 + x) / 4) - x - log(p), c(1, 99))$root), "laplace", 1, terms = 2)
  check(20 * gauss(1), "gaussian", 20, range = c(0, 10), n = 10)
  # Bits that were flipped are counted: without noise they are from 0 to n, too.
  expect_silent(given(99, "none", 0, flip = 0.2))
  refused("sum", 101, "none", 0, flip = 0.2)
  # Squares about 1/2: at least those of rewards that are alike, at most those of 0 and 1
  expect_silent(given(80, "none", 0, squares = c(9, 25)))
  expect_silent(given(80, "none", 0, squares = c(25, 25)))
  refused("squares", 80, "none", 0, squares = c(8.9, 25))
  refused("squares", 50, "none", 0, squares = c(25.1, 25))
  expect_silent(given(50, squares = c(-4, 25)))
  refused("squares", 50, squares = c(-5, 25)) # noise of 1/2 beside noise of 1
  expect_silent(given(50, squares = c(-8, 25), weight = 1))
  refused("squares", 100, squares = c(10, 25)) # the sum's noise cannot explain it, either
  # A table that was changed, and one of what proves nothing
  table <- given(50)
  table$sum[2] <- 200
  for (verb in list(evidence, effects, verdict, estimates)) {
    expect_error(verb(table), "`sum` of `(x|object)` must be that of `n` rewards.*row 2", class = "dpts_error_releases")
  }
  refused("sum", 300, "none", 0, whole = FALSE)
  expect_silent(given(0, "none", 0, squares = c(0, 25), whole = FALSE)) # rewards are out
})

test_that("sums far outside the range of rewards give intervals at its ends", {
  for (noise in c("gaussian", "laplace", "geometric")) {
    out <- estimates(as_releases(data.frame(arm = c("a", "b"), n = 1e4, sum = c(-80, 10080)), noise, scale = 10))
    expect_lt(out$upper[1], 0.01)
    expect_gt(out$lower[2], 0.99)
    expect_identical(c(out$lower[1], out$upper[2]), c(0, 1))
  }
})

test_that("each row has the law of its own noise", {
  given <- data.frame(arm = 1, n = c(100, 150, 80), sum = c(60, 100, 30), noise = "gaussian", scale = c(1, 2, 0))
  given$noise[3] <- "none"
  x <- as_releases(given)
  # Variances add up. (The points of the mixture follow the widest noise.)
  one <- as_releases(data.frame(arm = 1, n = 330, sum = 190), "gaussian", sqrt(5))
  columns <- c("rewards", "mean", "lower", "upper")
  expect_equal(estimates(x)[columns], estimates(one)[columns], tolerance = 1e-3)
  # Laplace noise counts as the widest.
  laplace <- as_releases(data.frame(given[1:2, 1:3], noise = c("laplace", "geometric"), scale = c(2, 1)))
  wide <- as_releases(given[1:2, 1:3], "laplace", 2)
  expect_equal(estimates(laplace)[columns], estimates(wide)[columns])
  expect_gt(max(evidence(laplace, against = 0.5)$evidence), max(evidence(wide, against = 0.5)$evidence))
  mixed <- as_releases(data.frame(given[1:2, 1:3], noise = c("laplace", "gaussian"), scale = 2))
  hand <- weigh("means", 1, c(1, 1), 1:2, c(100, 150), c(60, 100), cbind(c(1, 2, 0, 0), c(2, 2, 0, 0)), rate = 0.5,
                threshold = log(2 / 0.05))$pair
  expect_equal(evidence(mixed, against = 0.5)$evidence, as.vector(t(hand)))
  expect_error(estimates(mixed), "`noise`.*gaussian in all rows", class = "dpts_error_releases")
  expect_match(tbl_sum(mixed)[["Noise"]], "laplace of scale 2")
  # Bets are those that the widest noise of a block admits, whichever arm has it.
  tossed <- data.frame(arm = rep(1:2, 4), block = rep(1:4, each = 2), n = 1000, sum = c(700, 300), noise = "laplace", scale = c(0.5, 30), chance = 0.5)
  turned <- tossed[c(2, 1, 4, 3, 6, 5, 8, 7), ]
  turned$arm <- rep(1:2, 4)
  w <- evidence(as_releases(tossed), "tosses")$evidence
  expect_equal(evidence(as_releases(turned), "tosses")$evidence, w[c(2, 1, 4, 3, 6, 5, 8, 7)])
  expect_gt(max(w), 1)
})

test_that("the columns of a table with one release have no names", {
  agent <- dpts_agent(policy_gaussian_imed(1, first = 1), 2, use = "arrival")
  agent_reward(agent, agent_choose(agent)$ticket, 1)
  x <- dpts_releases(agent)
  expect_identical(sum(x$n), 1)
  expect_true(all(vapply(x, function(column) is.null(names(column)), NA)))
})

test_that("what is said of problems whose arms differ is, of each, what is said of it alone", {
  problems <- list(x = arms_bernoulli(c(u = 0.5, v = 0.6)), y = arms_bernoulli(c(u = 0.5, w = 0.3, z = 0.7)))
  play <- function(arms) dpts_simulate(arms, policy_randomised(mu = 2, block = 30), 300, runs = 2, seed = 1, history = TRUE)
  both <- play(problems)
  plain <- function(rows) {
    rows <- as.data.frame(rows)[setdiff(names(rows), "problem")]
    rows[] <- lapply(rows, function(v) if (is.factor(v)) as.character(v) else v)
    rows
  }
  for (verb in list(evidence, effects, verdict, estimates)) {
    suppressMessages(for (name in names(problems)) for (of in list(identity, dpts_releases)) {
      rows <- verb(of(both))
      expect_equal(plain(rows[rows$problem == name, ]), plain(verb(of(play(problems[[name]])))), ignore_attr = TRUE)
    })
  }
})

test_that("of several problems with other numbers of arms, and of several policies, all verbs say what they say of each", {
  withr::local_options(rlib_message_verbosity = "quiet")
  problems <- list(two = arms_bernoulli(c(0.3, 0.6)), three = arms_gaussian(c(60, 120, 100), 20, range = c(50, 150)))
  policies <- list(imed = policy_gaussian_imed(1), equal = policy_randomised(mu = 1, block = 60),
                   tilted = policy_randomised(rule = "thompson", block = 40), top = policy_top_two(mu = 2),
                   mixed = policy_randomised(epsilon = 1, block = 48, permuted = TRUE))
  play <- function(arms, policies) dpts_simulate(arms, policies, 300, runs = 2, seed = 1, history = TRUE, record = 1)
  tossed <- function(verb) function(x) verb(x[x$policy %in% c("equal", "tilted", "mixed"), ])
  verbs <- list(releases = dpts_releases, evidence = evidence, verdict = function(x) verdict(x, margin = 0.05), estimates = estimates,
                tosses = tossed(function(x) evidence(x, "tosses")), effects = tossed(effects),
                end = tossed(function(x) effects(x, at = "end")),
                forecast = tossed(function(x) forecast(x, c(300, 700), runs = 3, seed = 1)))
  played <- play(problems, policies)
  single <- lapply(problems, function(arms) lapply(split(policies, names(policies)), function(policy) play(arms, policy)))
  for (verb in names(verbs)) {
    all <- verbs[[verb]](played)
    for (p in names(problems)) for (name in unique(as.character(all$policy))) {
      one <- verbs[[verb]](single[[p]][[name]])
      rows <- all[all$problem == p & all$policy == name, ]
      one$policy <- name
      expect_equal(plain_columns(rows[names(one)]), plain_columns(one), info = paste(verb, p, name))
    }
  }
})
