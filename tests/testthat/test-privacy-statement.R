text_of <- function(...) paste(as.character(privacy_statement(...)), collapse = " ")

test_that("the bound in words is that of the guarantee", {
  expect_match(text_of(policy_randomised(mu = 0.5)), "at most 60 times in 100", fixed = TRUE) # Phi(0.25) = 0.5987
  expect_match(text_of(policy_randomised(epsilon = 1)), "at most 74 times in 100", fixed = TRUE) # e / (1 + e) = 0.7311
  expect_match(text_of(policy_top_two(epsilon = 6)), "at most 998 times in 1,000", fixed = TRUE) # 0.99753
  # Never below Phi(mu / 2), and near it
  for (mu in c(0.05, 0.5, 2)) {
    curve <- dpts:::privacy_curve(privacy_gdp(mu), dpts:::conditions(Inf))
    expect_gte(dpts:::guess_chance(curve), pnorm(mu / 2) - 1e-12)
    expect_lt(dpts:::guess_chance(curve), pnorm(mu / 2) + 0.0005)
  }
  expect_match(guess_words(1 - 1e-9), "every time")
  expect_match(guess_words(0.9975), "998 times in 1,000; a random guess is correct 500 times in 1,000", fixed = TRUE)
  # Two accountants: the one number does not follow from the other.
  expect_match(text_of(policy_ts_gaussian(), horizon = 20, arms = 3), "-GDP; by a sharper accountant epsilon")
  expect_match(text_of(policy_randomised(mu = 0.5)), "0.5-GDP: epsilon", fixed = TRUE)
  expect_match(text_of(policy_randomised(mu = 0.5), delta = 1e-4),
               paste("epsilon", dpts:::format_up(gdp_epsilon(0.5, 1e-4), 3), "at delta 1e-04"), fixed = TRUE)
})

test_that("a statement says what is published, and that nothing is promised where that is so", {
  expect_match(text_of(policy_randomised(mu = 0.5)), "probabilities with which people were randomised")
  expect_no_match(text_of(policy_gaussian_imed(mu = 0.5)), "randomised")
  predicted <- policy_randomised(mu = 0.5, outcome = "continuous", predicted = 0:1)
  expect_match(text_of(predicted), "sums of outcomes less their predictions, each")
  expect_no_match(text_of(policy_randomised(mu = 0.5)), "less their")
  expect_match(text_of(policy_gaussian_imed(mu = 0.5)), "verdicts")
  expect_match(text_of(policy_ucb1()), "Nobody. There is no guarantee", fixed = TRUE)
  expect_match(text_of(policy_local(policy_ucb1(), 1)), "also from those who run the policy")
  expect_match(text_of(policy_linucb(epsilon = 1, contexts = "public")), "Contexts are taken as public")
  expect_match(text_of(privacy_group(privacy_gdp(0.5), 3)), "At most 3 outcomes of a person")
  two <- privacy_statement(list(a = policy_ucb1(), b = privacy_compose(privacy_pure(1), privacy_pure(1))))
  expect_equal(sum(names(two) == "Of"), 2)
  expect_match(two[["Of"]], "\"a\": policy_ucb1()", fixed = TRUE)
  # Of a replay: a statement for each of its policies
  policies <- list(policy_dp_imed(1), policy_ts_gaussian(10, 5))
  replay <- dpts_replay(open_bandit[open_bandit$logger == "random", ][1:500, ], policies, seed = 1)
  own <- privacy_statement(replay)
  expect_equal(sum(names(own) == "Of"), 2)
  expect_match(own[["Of"]], "\"dp_imed\": policy_dp_imed(epsilon = 1)", fixed = TRUE)
  expect_match(own[["What is guaranteed"]], "in a replay, the log's arms known", fixed = TRUE)
})

test_that("a horizon is asked for where the promise depends on it", {
  expect_error(privacy_statement(policy_ts_gaussian()), "`horizon` must be given", class = "dpts_error_input")
  said <- text_of(policy_restart(policy_ts_gaussian(30), 100))
  expect_match(said, sprintf("%s-GDP", dpts:::format_up(sqrt((100 - 2 * 30) / 31), 4)), fixed = TRUE)
  expect_error(privacy_statement(3), "`x` must be", class = "dpts_error_input")
  expect_error(privacy_statement(policy_ucb1(), delta = 2), "`delta`", class = "dpts_error_input")
})

test_that("an agent's statement counts its people and its copies", {
  skip_if_not_installed("RSQLite")
  agent <- dpts_agent(policy_gaussian_imed(mu = 0.1), c("a", "b"), use = "deadline",
                      deadline = as.difftime(1, units = "days"), max_per_person = 3,
                      range = c(0, 5), name = "Letters")
  said <- text_of(agent)
  expect_match(said, "experiment \"Letters\"", fixed = TRUE)
  expect_match(said, "whichever values of [0, 5]", fixed = TRUE)
  expect_match(said, "whether it came at all, is as protected as its value", fixed = TRUE)
  expect_match(said, "56 times in 100", fixed = TRUE) # Phi(3 * 0.1 / 2) = 0.5596
  agent_restored(agent)
  expect_match(text_of(agent), "59 times in 100", fixed = TRUE) # Phi(3 * sqrt(2) * 0.1 / 2) = 0.584
})

test_that("a statement prints within 80 columns", {
  said <- privacy_statement(list(policy_randomised(mu = 0.5), policy_lin_ts(mu = 1), policy_top_two(mu = 1)))
  shown <- capture.output(print(said))
  expect_true(all(nchar(shown) <= 80))
  expect_equal(shown[1], "<privacy statement>")
  expect_no_match(format(privacy_statement(policy_top_two(mu = 1))), "all of these")
  # What all of several say is printed once, and everything else as often as it is said.
  expect_equal(sum(grepl("^From whom:", shown)), 1)
  expect_equal(sum(grepl("^What is guaranteed: Differential privacy, ", shown)), 3)
  expect_setequal(strsplit(gsub("\\s+", " ", paste(shown[-1], collapse = " ")), " ")[[1]],
                  c(unlist(strsplit(c(paste0(names(said), ":"), as.character(said)), " ")), "all", "of", "these"))
})

test_that("a register gets the fields of a statement as values", {
  skip_if_not_installed("jsonlite")
  read <- function(...) jsonlite::parse_json(privacy_statement(..., format = "json"))
  one <- read(policy_randomised(mu = 0.5))[[1]]
  expect_equal(one$guarantee$mu, 0.5)
  expect_equal(one$guarantee$guess, pnorm(0.25), tolerance = 2e-4) # a bound, never below
  expect_gte(one$guarantee$guess, pnorm(0.25))
  expect_equal(one$guarantee$epsilon, gdp_epsilon(0.5, 1e-6))
  expect_identical(one[c("unit", "trust_model", "accountant", "mechanism")],
                   list(unit = "reward", trust_model = "central", accountant = "gdp", mechanism = "policy_randomised(mu = 0.5)"))
  expect_null(one$guarantee$pure_epsilon) # there is none
  expect_identical(one$published, one$statement[["What is published"]])
  expect_identical(one[c("flavor", "release_type")],
                   list(flavor = "Gaussian differential privacy", release_type = "many releases"))
  # The numbers are those of as many people and arms, and the mu that is named is the one by which is guessed.
  expect_equal(read(policy_ts_gaussian(10, 1e4), 60, arms = 3)[[1]]$guarantee$mu, sqrt((60 - 10 * 3) / (1e4 * 11)))
  for (most in list(NULL, 3)) {
    agent <- dpts_agent(policy_gaussian_imed(mu = 0.1), 2, use = "arrival", max_per_person = most)
    for (restored in 0:1) {
      said <- read(agent)[[1]]$guarantee
      expect_equal(said$mu, 0.1 * (most %||% 1) * sqrt(1 + restored))
      expect_equal(said$guess, pnorm(said$mu / 2), tolerance = 5e-4)
      agent_restored(agent)
    }
  }
  budgets <- list(privacy_pure(1), privacy_approx(1, 1e-6), privacy_zcdp(0.1), privacy_rdp(2, 0.1))
  expect_identical(vapply(budgets, function(x) read(x)[[1]]$flavor, ""),
                   paste(c("pure", "approximate", "zero-concentrated", "R\u00e9nyi"), "differential privacy"))
  expect_null(read(privacy_pure(1))[[1]]$release_type)
  expect_identical(unlist(one$statement), unlist(as.list(unclass(privacy_statement(policy_randomised(mu = 0.5))))))
  several <- read(list(none = policy_ucb1(), bits = policy_local(policy_ucb1(), 1)))
  expect_null(several[[1]]$guarantee$guess)
  expect_null(several[[1]]$flavor)
  expect_null(several[[1]]$accountant)
  expect_identical(several[[2]]$trust_model, "local")
  expect_equal(several[[2]]$guarantee$pure_epsilon, 1)
  agent <- dpts_agent(policy_randomised(mu = 0.5), 2, use = "arrival", max_per_person = 4)
  person <- read(agent)[[1]]
  expect_identical(person[c("unit", "rewards_per_person")], list(unit = "person", rewards_per_person = 4L))
  # The neighbours are those of the unit: all that a person gave, other outcomes too
  expect_match(one$neighbours, "streams that differ in one reward, replaced", fixed = TRUE)
  expect_match(person$neighbours, "up to 4 rewards of one person", fixed = TRUE)
  for (policy in list(policy_linucb(mu = 0.5), policy_linucb(0.5, contexts = "public"), policy_linucb(0.5, mechanism = "tree"),
                      policy_randomised(mu = 0.5, outcome = "continuous", predicted = c(0.3, 0.7)),
                      policy_randomised(mu = 0.5, outcome = "continuous", predicted = c(0.3, 0.7), protect = "reward"))) {
    expect_match(read(privacy_group(policy, 3), horizon = 100)[[1]]$neighbours, "up to 3 (rewards|rounds).* of one person")
  }
  agent <- dpts_agent(policy_randomised(mu = 0.5), 2, use = "arrival",
                      outcomes = list(harm = agent_outcome(mu = 0.2, deadline = as.difftime(1, units = "days"))))
  expect_match(read(agent)[[1]]$neighbours, "one reward, .*, and in the other outcomes of the same visit \\(harm\\)")
  expect_error(privacy_statement(privacy_gdp(1), format = "xml"), "`format`", class = "dpts_error_input")
})

test_that("a return to an old copy and other outcomes change neither what is published, from whom it is protected, nor of whom", {
  for (package in c("RSQLite", "jsonlite")) skip_if_not_installed(package)
  facts <- function(agent) jsonlite::parse_json(privacy_statement(agent, format = "json"))[[1]]
  said <- function(agent, what) unclass(privacy_statement(agent))[[what]]
  fixed <- c("trust_model", "release_type", "published")
  predicted <- function(...) policy_randomised(mu = 0.5, outcome = "continuous", predicted = c(0, 1), ...)
  for (policy in list(policy_local(policy_ucb1(), 1), policy_randomised(mu = 0.5), predicted(), predicted(protect = "reward"))) {
    make <- function(outcomes) dpts_agent(policy, 2, deadline = hours(1), max_per_person = 3, outcomes = outcomes)
    agent <- make(NULL)
    alone <- facts(agent)
    agent_restored(agent)
    now <- facts(agent)
    expect_identical(now[c(fixed, "neighbours")], alone[c(fixed, "neighbours")])
    expect_identical(now$statement[["From whom"]], alone$statement[["From whom"]])
    expect_true(nzchar(alone$statement[["From whom"]]))
    if (policy$name != "randomised") next
    several <- make(list(harm = agent_outcome(mu = 0.5)))
    for (restored in 0:1) {
      now <- facts(several)
      expect_identical(now[fixed], alone[fixed])
      expect_true(startsWith(now$neighbours, paste0(alone$neighbours, ", and in the other outcomes")))
      agent_restored(several)
    }
  }
  # Of 10 rewards that were each randomised twice, 20 bits are known: the better guess is that of most of them.
  agent <- dpts_agent(policy_local(policy_ucb1(), 1), 2, deadline = hours(1))
  agent_restored(agent)
  right <- stats::pbinom(9, 20, stats::plogis(-1)) + stats::dbinom(10, 20, stats::plogis(-1)) / 2
  expect_match(said(agent, "Who comes often"), sprintf("at most %.0f times in 100 if there are 10", ceiling(100 * right)))
})

test_that("a guarantee in epsilon is read in mu, too", {
  said <- function(x) privacy_statement(x)[["What is guaranteed"]]
  # Phi(mu / 2) = e / (1 + e); of ten releases of epsilon 0.1, sqrt(10) times the mu of one; each rounded up
  expect_equal(ceiling(100 * 2 * qnorm(plogis(1))) / 100, 1.24)
  expect_match(said(privacy_pure(1)), "1-DP; this implies 1.24-GDP. ", fixed = TRUE)
  expect_equal(ceiling(1000 * sqrt(10) * 2 * qnorm(plogis(0.1))) / 1000, 0.397)
  expect_match(said(privacy_group(policy_dp_imed(0.1), 10, apart = TRUE)), "this implies 0.397-GDP", fixed = TRUE)
  # The largest mu that keeps (1, 1e-6)-DP, rounded down
  expect_true(gdp_delta(0.236, 1) <= 1e-6 && gdp_delta(0.237, 1) > 1e-6)
  expect_match(said(privacy_approx(1, 1e-6)), "noise of 0.236-GDP keeps it", fixed = TRUE)
  expect_equal(ceiling(100 * pnorm(0.236 / 2)), 55)
  expect_no_match(said(privacy_gdp(0.2)), "implies|keeps")
})

test_that("an agent's statement has the least epsilon of all accountants, and says of parts once whom they are for", {
  agent <- dpts_agent(policy_ts_gaussian(10, 5), 2, horizon = 60, use = "arrival")
  known <- dpts_privacy(agent, delta = 1e-3)$epsilon # rounded up in words
  expect_gt(max(known), 1.1 * min(known))
  text <- paste(trimws(format(privacy_statement(agent, delta = 1e-3))), collapse = " ")
  expect_match(text, sprintf("epsilon %.3g at delta 0.001", ceiling(100 * min(known)) / 100), fixed = TRUE)
  visits <- dpts_agent(policy_randomised(mu = 1), 2, use = "deadline", deadline = as.difftime(1, units = "hours"), max_per_person = 3,
                       outcomes = list(harm = agent_outcome(epsilon = 0.5)))
  expect_match(format(visits)[2], "1.7321-GDP + 1.5-DP for people with up to 3 rewards in different releases", fixed = TRUE)
})
