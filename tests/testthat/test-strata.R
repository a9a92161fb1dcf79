# Strata: each has blocks and chances of its own, and evidence multiplies over all of them.

skip_on_cran()
skip_if_not_installed("RSQLite")

new_strata <- function(policy = policy_randomised(mu = 1, block = 10), strata = c("north", "south"), ...,
                       arms = c("x", "y")) {
  dpts_agent(policy, arms, use = "arrival", strata = strata, ...)
}

visit <- function(agent, stratum, rewards = stats::runif(length(stratum)), ...) {
  choice <- agent_choose(agent, n = length(stratum), stratum = stratum, ...)
  agent_reward(agent, choice$ticket, rewards)
  invisible(choice)
}

test_that("the order of the levels of `stratum` changes no bit", {
  pair <- function(a, b) arms_bernoulli(c(a = a, b = b))
  sim <- dpts_simulate(arms_strata(x = pair(0.4, 0.5), y = pair(0.6, 0.7), z = pair(0.5, 0.6)), policy_randomised(mu = 1, block = 30),
                       600, runs = 1, seed = 1, history = TRUE)
  table <- other <- dpts_releases(sim)
  other$stratum <- factor(table$stratum, rev(levels(table$stratum)))
  for (ask in list(verdict, evidence, effects, function(x) effects(x, at = "end"), function(x) forecast(x, 1500, runs = 20, seed = 1))) {
    expect_identical(as.list(suppressMessages(ask(other))), as.list(suppressMessages(ask(table))))
  }
})

test_that("each stratum's sums are of its own people, in blocks of its own", {
  withr::local_seed(1)
  agent <- new_strata(policy_randomised(mu = 1e6, rule = "neyman", block = c(10, 15)),
                      strata = c("n", "s", "w"), arms = 3, keep_rewards = TRUE)
  people <- sample(c("n", "s", "w"), 300, replace = TRUE, prob = c(3, 2, 1))
  rewards <- round(stats::runif(300), 3)
  choice <- visit(agent, people, rewards)
  table <- dpts_releases(agent)
  expect_identical(levels(table$stratum), unique(as.character(table$stratum)))
  kept <- agent$store$tickets(choice$ticket)
  batch <- kept$batch[match(choice$ticket, kept$ticket)]
  for (s in c("n", "s", "w")) {
    own <- table[table$stratum == s, ]
    mine <- people == s
    # its blocks, in the order of its people: the first of 10, then of 15
    block <- match(batch[mine], unique(batch[mine]))
    expect_true(all(diff(block) >= 0))
    expect_identical(as.vector(table(block))[seq_len(max(block) - 1)], c(10L, rep(15L, max(block) - 2)))
    for (i in seq_along(unique(own$block))) {
      rows <- own[own$block == unique(own$block)[i], ]
      at <- which(mine)[block == i]
      sums <- tapply(rewards[at], factor(choice$arm[at], levels(choice$arm)), sum, default = 0)
      expect_equal(rows$sum, as.vector(sums), tolerance = 1e-4)
      expect_equal(rows$n, as.vector(table(choice$arm[at])))
      expect_equal(sum(rows$chance), 1)
    }
    expect_equal(unique(own$chance[own$block == own$block[1]]), 1 / 3)
  }
  expect_equal(sum(pulls(agent)$pulls), 300)
  expect_equal(sum(estimates(agent)$rewards), sum(table$n))
})

test_that("the centre of a stratum's block counts the noise of all blocks before it", {
  law <- c(2, 6, 0, 0)
  kappa <- kappas_of(law, 0.3, strata = 2)
  tossed <- matrix(c(20, 30, 5, 9, 40, 12, 25, 25), 8, 2)
  sum <- cbind(c(12, 3, 4, 0, 33, 2, 20, 9), c(-2, 30, 9, 5, 1, 12, 18, 16)) + 0
  p <- matrix(c(0.4, 0.3, 0.7, 0.5), 4, 2)
  expect_equal(bets_of(p, tossed, sum, law, kappa, FALSE, strata = 2), tosses_by_hand(p, tossed, sum, law, kappa, strata = 2))
})

test_that("evidence multiplies over strata, each with its own centre", {
  law <- c(2, 1, 0, 0)
  kappa <- kappas_of(law, 0.3, strata = 2)
  # Those of one stratum, and one between any two
  expect_equal(kappa[c(1, 3, 5, 7, 9)], kappas_of(law, 0.3))
  expect_equal(diff(log(kappa)), rep(log(2.2) / 2, 8))
  p <- c(0.5, 0.4)
  tossed <- list(c(60, 40, 55, 45), c(30, 70, 52, 48))
  sums <- list(c(12.5, 3, 11, 6), c(27, 52, 47.5, 36))
  f <- lapply(1:2, function(s) tosses_by_hand(p, matrix(tossed[[s]]), matrix(sums[[s]]), law, kappa,
                                              strata = 2)[1, ])
  # In turn: block 1 of both, then block 2 of both
  order <- c(1, 2, 5, 6, 3, 4, 7, 8)
  stratum <- rep(1:2, each = 4)[order]
  out <- weigh("tosses", 2, rep(1:2, 4), rep(1:4, each = 2), unlist(tossed)[order], unlist(sums)[order], law,
               chance = c(rep(c(0.5, 0.5), 2), rep(c(0.4, 0.6), 2)), floor = 0.3, stratum = stratum)
  expect_equal(out$pair[4, 3], log(mean(exp(f[[1]] + f[[2]]))))
  # One stratum is the special case; pooled centres are others.
  one <- weigh("tosses", 2, rep(1:2, 4), rep(1:4, each = 2), unlist(tossed)[order], unlist(sums)[order], law,
               chance = c(rep(c(0.5, 0.5), 2), rep(c(0.4, 0.6), 2)), floor = 0.3)
  expect_gt(abs(one$pair[4, 3] - out$pair[4, 3]), 1e-3)
})

test_that("effects by stratum are those of its rows, with the error shared", {
  withr::local_seed(2)
  agent <- new_strata()
  visit(agent, rep(c("north", "south"), 200), rep(c(0.2, 0.8), 200))
  by <- effects(agent, by = "stratum", level = 0.9)
  expect_identical(by$stratum, factor(c("north", "south")))
  table <- dpts_releases(agent)
  for (s in 1:2) {
    own <- effects(table[table$stratum == by$stratum[s], names(table) != "stratum"], level = 0.95)
    expect_equal(by[s, -1], own, ignore_attr = TRUE)
  }
  expect_error(effects(agent, by = "region"), "`by`", class = "dpts_error_input")
  expect_error(effects(agent, by = "stratum", at = "end", answered = "x"), "`by`.*`answered`", class = "dpts_error_input")
  withr::local_options(rlib_message_verbosity = "verbose")
  expect_message(effects(agent, by = "stratum"), "exploratory", class = "dpts_message_exploratory")
  without <- dpts_releases(agent)
  without$stratum <- NULL
  expect_error(effects(without, by = "stratum"), "no column", class = "dpts_error_input")
  expect_error(evidence(agent, "means"), "has strata", class = "dpts_error_verdict")
  # A plan's looks and people are of all strata together: each is analysed once, at the end.
  planned <- table
  planned$planned <- 400
  planned$looks <- "0.5 obrien_fleming"
  withr::local_options(rlib_message_verbosity = "quiet")
  expect_equal(effects(as_releases(planned), at = "end", by = "stratum"), effects(table, at = "end", by = "stratum"))
  withr::local_options(rlib_message_verbosity = "verbose")
  said <- capture_messages(effects(as_releases(planned), at = "end", by = "stratum", people = 500))
  expect_match(paste(said, collapse = ""), "planned for 500 people. This one, of 400, is too early")
  withr::local_options(rlib_message_verbosity = "default")
  # Through a file, and as sites
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(table, file)
  read <- as_releases(utils::read.csv(file))
  expect_identical(evidence(read), evidence(agent))
  expect_identical(effects(read, by = "stratum")$lower, effects(agent, by = "stratum")$lower)
  # A table that was read twice is no second site, even if one was read later.
  for (rows in c(nrow(read), 30)) {
    expect_error(dpts_releases(list(a = agent, b = read[seq_len(rows), ])), "have the same noisy sums", class = "dpts_error_sites")
  }
  other <- as_releases(transform(utils::read.csv(file), sum = sum + 2^-20))
  both <- dpts_releases(list(a = agent, b = other))
  expect_identical(as.vector(table(both$site, both$stratum)[, "north"] > 10), c(TRUE, TRUE))
  expect_identical(nrow(effects(list(a = agent, b = other), by = "site")), 2L)
})

test_that("effects by stratum leave out an arm that was retired, as those of all people do", {
  rows <- function(strata, gone) {
    each <- lapply(1:8, function(b) {
      arm <- if (b < 5 || is.null(gone)) 1:3 else setdiff(1:3, gone)
      data.frame(arm, block = b, n = 60, sum = c(10, 20, 40)[arm] + b %% 3, chance = 1 / length(arm), t = 180 * b, event = NA,
                 stratum = c("north", "south")[2 - b %% 2])
    })
    went <- if (length(gone)) data.frame(arm = gone, block = NA, n = 0, sum = 0, chance = NA, t = 720, event = "retired", stratum = "north")
    all <- transform(rbind(do.call(rbind, each[1:4]), went, do.call(rbind, each[5:8])), floor = 0.5)
    all <- all[all$stratum %in% strata | all$event %in% "retired", ]
    as_releases(all[setdiff(names(all), if (length(strata) == 1) "stratum")], "gaussian", 1)
  }
  quiet <- function(x) withr::with_options(list(rlib_message_verbosity = "quiet"), x)
  for (gone in list(NULL, 1, 3)) for (at in c("any", "end")) {
    control <- if (at == "any") 1
    by <- quiet(effects(rows(c("north", "south"), gone), control, 0.9, at = at, by = "stratum"))
    expect_false(any(c(by$arm, by$control) %in% gone))
    for (s in c("north", "south")) {
      expect_equal(as.list(by[by$stratum == s, -1]), as.list(quiet(effects(rows(s, gone), control, 0.95, at = at))), ignore_attr = TRUE)
    }
  }
})

test_that("a person is in one stratum, and a store opened anew goes on", {
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- new_strata(store = file, max_per_person = 4, policy = policy_randomised(mu = 1, block = 5))
  visit(agent, factor("north", c("south", "north")), person = "p")
  expect_true(is.na(visit(agent, "south", person = "p")$t)) # another stratum
  expect_true(is.na(visit(agent, "north", person = "p")$t)) # the open block
  visit(agent, rep("north", 4), person = letters[1:4])
  agent_close(agent)
  agent <- agent_open(file)
  expect_identical(nrow(dpts_releases(agent)), 2L)
  expect_true(is.na(visit(agent, "south", person = "p")$t))
  expect_false(is.na(visit(agent, "north", person = "p")$t))
  expect_true(is.na(visit(agent, "north", person = "p")$t)) # the open block, the second of its stratum
  expect_false(is.na(visit(agent, "south", person = "q")$t))
  expect_true(is.na(visit(agent, "south", person = "q")$t)) # the first block of the second stratum
  expect_match(format(agent)[2], "2-GDP for people with up to 4 rewards in different releases")
  expect_equal(min(dpts_privacy(agent, delta = 1e-6)$epsilon[1]), gdp_epsilon(1, 1e-6))
  # A visit in no block, since other arms were available, binds nobody.
  expect_false(is.na(visit(agent, "south", person = "r", offer = "x")$t))
  expect_false(is.na(visit(agent, "north", person = "r")$t))
  expect_true(is.na(visit(agent, "south", person = "r")$t))
  agent_close(agent)
})

test_that("visits that are no rounds end the block of the stratum to which they came", {
  agent <- new_strata(max_per_person = 4, policy = policy_randomised(mu = 1, block = 5))
  come <- function(stratum, person) agent_choose(agent, length(person), stratum = stratum, person = person)
  people <- function() tapply(dpts_releases(agent)$n, as.character(dpts_releases(agent)$stratum), sum)
  first <- come(c("north", "south", "south"), c("p", "q", "r"))
  come("south", rep("q", 6)) # while the reward of q is out: one visit more than a block is for
  agent_reward(agent, first$ticket, 1)
  expect_identical(c(people()), c(south = 2))
  second <- come("south", "q")
  expect_false(is.na(second$t))
  expect_true(is.na(come("north", "p")$t)) # the block of the north still takes people
  # So do visits of a person of another stratum.
  agent_reward(agent, second$ticket, 1)
  come("south", rep("p", 6))
  expect_identical(c(people()), c(south = 3))
  expect_true(is.na(come("north", "p")$t))
  agent_close(agent)
})

test_that("bad strata are refused by name, and many small ones are warned of", {
  bad <- function(...) expect_error(..., class = "dpts_error_input")
  agent <- new_strata()
  bad(agent_choose(agent), "`stratum` must be given.*\"north\" or \"south\"")
  bad(agent_choose(agent, stratum = "east"), "\"north\" or \"south\"")
  bad(agent_choose(agent, n = 3, stratum = c("north", "south")), "`stratum`")
  # Another stratum under the key of a call is not noticed, as the help says.
  expect_identical(agent_choose(agent, stratum = "south", key = "k"), agent_choose(agent, stratum = "north", key = "k"))
  bad(agent_choose(dpts_agent(policy_randomised(mu = 1), 2, use = "arrival"), stratum = "a"),
      "without `strata`")
  bad(agent_arms(agent, add = "z"), "`strata`")
  bad(new_strata(strata = c("a", "a")), "comes twice")
  bad(new_strata(strata = 3), "`strata`")
  bad(new_strata(policy_ts_gaussian(), horizon = 100), "`strata` must be NULL")
  bad(new_strata(policy_restart(policy_randomised(mu = 1), 100)), "started anew")
  expect_warning(new_strata(strata = paste("s", 1:200)), "200 strata.* 10 people, so that about 2,000 people",
                 class = "dpts_warning_strata")
  expect_warning(new_strata(policy_randomised(mu = 1), horizon = 200), "so that about 142 people",
                 class = "dpts_warning_strata")
  # A stratum of nobody: it has no releases, and the others say what they prove.
  visit(agent, rep("north", 100))
  expect_identical(unique(as.character(dpts_releases(agent)$stratum)), "north")
  expect_s3_class(verdict(agent), "dpts_verdict")
  # The error of its interval is set aside: a share of what was released would be one of the releases' choice.
  by <- effects(agent, by = "stratum", level = 0.9)
  expect_identical(by$stratum, factor(c("north", "south")))
  expect_identical(is.na(by$difference), c(FALSE, TRUE))
  expect_equal(unlist(by[2, c("lower", "upper", "p")]), c(-1, 1, 1), ignore_attr = TRUE)
  alone <- dpts_releases(agent)
  expect_equal(by$lower[1], effects(alone[names(alone) != "stratum"], level = 0.95)$lower)
  expect_s3_class(forecast(agent, 400, runs = 5), "dpts_forecast")
  # Nobody is expected there: the futures are those of the other stratum, whose bets are only finer than without strata.
  fixed <- data.frame(stratum = factor("north", c("north", "south")), arm = c("x", "y"), block = rep(1:10, each = 2),
                      t = rep(10 * (1:10), each = 2), n = 5, sum = c(2, 3), chance = 0.5)
  futures <- function(table) forecast(as_releases(table, "gaussian", 1), c(200, 400), block = 10, runs = 100, seed = 1)$verdict
  expect_true(all(abs(futures(fixed) - futures(fixed[-1])) < 0.05))
  expect_error(forecast(new_strata(), 1000), "release of all arms, in each", class = "dpts_error_input")
  # as at a site, which has the same strata all the same
  other <- new_strata()
  visit(other, rep(c("north", "south"), c(15, 85)))
  both <- dpts_releases(list(a = agent, b = other))
  expect_setequal(levels(both$stratum), c("north", "south"))
  expect_match(format(new_strata(strata = c("old", "young"))), "strata: +old and young", all = FALSE)
})

test_that("other policies have strata too, and the service takes them", {
  for (policy in list(policy_top_two(mu = 1), policy_local(policy_randomised(mu = 1, block = 10), 1),
                      policy_randomised(epsilon = 1, block = 10, permuted = TRUE))) {
    agent <- new_strata(policy)
    visit(agent, rep(c("north", "south"), 60), 1)
    expect_equal(sum(pulls(agent)$pulls), 120)
    agent_finish(agent)
    expect_setequal(as.character(dpts_releases(agent)$stratum), c("north", "south"))
  }
  # Bits that no block has gathered yet are public, and of the stratum of their people.
  agent <- new_strata(policy_local(policy_randomised(block = 10), 1), arms = 3)
  visit(agent, rep(c("north", "south"), c(14, 27)))
  table <- dpts_releases(agent)
  expect_equal(as.vector(tapply(table$n, table$stratum, sum)[c("north", "south")]), c(14, 27))
  expect_equal(as.vector(tapply(table$n[!table$whole], table$stratum[!table$whole], sum)), c(4, 7))
  expect_equal(estimates(agent)$rewards, pulls(agent)$pulls)
  skip_if_not_installed("jsonlite")
  # A route takes what it reads from a request, and gives that to the verb.
  route <- Filter(function(r) r$path == "/choose", api_routes())[[1]]
  body <- read_body(list(bodyRaw = charToRaw('{"n": 2, "stratum": ["north", "south"]}')), route$body)
  agent <- new_strata()
  expect_false(anyNA(route$work(agent, body)$t))
  expect_error(route$work(agent, list(stratum = "east")), "`stratum`", class = "dpts_error_input")
  route <- Filter(function(r) r$path == "/effects", api_routes())[[1]]
  agent <- new_strata()
  visit(agent, rep(c("north", "south"), 20))
  expect_identical(nrow(jsonlite::fromJSON(route$work(agent, list(by = "stratum"))$body)), 2L)
})

test_that("blocks and releases are a model's, with other outcomes, by the clock, with arms that pause", {
  strata <- c("n", "s")
  arms <- c("a", "b", "c")
  hour <- 3600
  # A store knows nothing of strata, and test-agent-outcome.R holds outcomes in each.
  store <- withr::local_tempfile(fileext = ".sqlite")
  withr::local_seed(8)
  turn <- test_clock()
  now <- last <- 1e9
  agent <- dpts_agent(policy_randomised(block = 8, control = 1), arms, store, use = "arrival",
                      strata = strata,
                      block_time = hours(2),
                      outcomes = list(harm = agent_outcome(missing = 1, deadline = hours(3))))
  # The model: a row for each person and each block, in plain R
  people <- data.frame(ticket = character(), stratum = character(), block = numeric(), arm = character(),
                       time = numeric(), reward = numeric(), harm = numeric())
  blocks <- data.frame(stratum = character(), number = numeric(), n = numeric(), open = logical(),
                       offered = I(list()), reward = numeric(),
                         harm = numeric()) # released when so many had come
  active <- arms
  of_block <- function(i) people$stratum == blocks$stratum[i] & people$block == blocks$number[i]
  # With each reward, and where a block ends early, the oldest block of the stratum is released if it can
  # be.
  release <- function(stratum) {
    i <- which(blocks$stratum == stratum & is.na(blocks$reward))[1]
    if (is.na(i) || blocks$open[i] || anyNA(people$reward[of_block(i)])) return()
    blocks$reward[i] <<- nrow(people)
  }
  end_blocks <- function() {
    ended <- unique(blocks$stratum[blocks$open])
    blocks$open[] <<- FALSE
    for (stratum in ended) release(stratum)
  }
  release_harm <- function() {
    for (i in which(!is.na(blocks$reward) & is.na(blocks$harm))) {
      if (max(people$time[of_block(i)]) + 3 * hour <= now) blocks$harm[i] <<- nrow(people)
    }
  }
  begin <- function() {
    seconds <- sample(c(60, 600, 2500), 1)
    turn(seconds)
    now <<- now + seconds
    if (floor(now / (2 * hour)) > floor(last / (2 * hour))) end_blocks()
    last <<- now
    release_harm()
  }
  come <- function(stratum) {
    at <- which(blocks$stratum == stratum & blocks$open)
    if (!length(at)) {
      at <- nrow(blocks) + 1
      new <- data.frame(stratum, number = sum(blocks$stratum == stratum) + 1, n = 0, open = TRUE,
                        offered = I(list(active)), reward = NA_real_, harm = NA_real_)
      blocks <<- rbind(blocks, new)
    }
    blocks$n[at] <<- blocks$n[at] + 1
    if (blocks$n[at] == 8) blocks$open[at] <<- FALSE
    blocks$number[at]
  }
  same <- function(outcome) {
    table <- dpts_releases(agent)
    table <- table[table$outcome == outcome & if (is.null(table[["event"]])) TRUE else is.na(table$event), ]
    for (s in strata) {
      shown <- table[table$stratum == s, ]
      number <- match(shown$block, unique(shown$block))
      made <- which(blocks$stratum == s & !is.na(blocks[[outcome]]))
      expect_identical(length(unique(number)), length(made))
      for (j in seq_along(made)) {
        i <- made[j]
        rows <- shown[number == j, ]
        own <- people[of_block(i), ]
        value <- own[[outcome]]
        if (outcome == "harm") value[is.na(value)] <- 1
        arm <- factor(own$arm, blocks$offered[[i]])
        expect_identical(as.character(rows$arm), levels(arm))
        expect_equal(rows$n, as.vector(table(arm)))
        expect_equal(rows$sum, as.vector(tapply(value, arm, sum, default = 0)), tolerance = 2^-19)
        expect_equal(rows$chance, rep(1 / nlevels(arm), nlevels(arm)))
        expect_equal(unique(rows$t), blocks[[outcome]][i])
      }
    }
  }
  for (step in 1:60) {
    doing <- sample(c("choose", "choose", "reward", "reward", "harm", "arms"), 1,
                    prob = c(3, 3, 3, 3, 3, 1))
    if (doing == "harm" && !nrow(people) || doing == "reward" && !anyNA(people$reward)) next
    begin()
    if (doing == "choose") {
      stratum <- sample(strata, sample(1:6, 1), TRUE, c(2, 1))
      choice <- agent_choose(agent, length(stratum), stratum = stratum)
      number <- vapply(stratum, come, 0)
      expect_equal(stored(agent, choice$ticket)$batch, unname((number - 1) * 2 + match(stratum, strata)))
      expect_true(all(choice$arm %in% active))
      people <- rbind(people, data.frame(ticket = choice$ticket, stratum, block = number,
                                         arm = as.character(choice$arm), time = now, reward = NA,
                                           harm = NA))
    } else if (doing == "arms") {
      active <- if ("c" %in% active) c("a", "b") else arms
      if ("c" %in% active) agent_arms(agent, resume = "c") else agent_arms(agent, pause = "c")
      end_blocks()
    } else {
      at <- which(if (doing == "reward") is.na(people$reward) else rep(TRUE, nrow(people)))
      at <- at[sample.int(length(at), min(length(at), 6))]
      value <- if (doing == "reward") sample(0:4, length(at), TRUE) / 4 else sample(0:1, length(at), TRUE)
      said <- agent_reward(agent, people$ticket[at], value, outcome = doing)$status
      if (doing == "harm") {
        old <- people$harm[at]
        late <- people$time[at] + 3 * hour <= now
        expect_identical(said, ifelse(late, "late", ifelse(is.na(old), "waiting",
                                                           ifelse(old == value, "known", "refused"))))
        value <- ifelse(late | !is.na(old), old, value)
      }
      for (j in seq_along(at)) {
        people[[doing]][at[j]] <- value[j]
        if (doing == "reward") release(people$stratum[at[j]])
      }
    }
    release_harm()
    if (step %% 15 == 0) for (outcome in c("reward", "harm")) same(outcome)
    if (step == 35) {
      agent_close(agent)
      agent <- agent_open(store)
    }
  }
  for (outcome in c("reward", "harm")) same(outcome)
  expect_gt(min(table(blocks$stratum[!is.na(blocks$harm)])), 2)
  expect_true(any(lengths(blocks$offered) == 2) && any(blocks$n < 8 & !blocks$open)) # it was worth it
  # Evidence of another outcome is by its own rows of the strata, and each stratum has its effects.
  by <- effects(agent, by = "stratum", outcome = "harm", control = "a")
  expect_setequal(as.character(by$stratum), strata)
  expect_identical(nrow(by), 4L)
  rows <- dpts_releases(agent)
  rows <- rows[rows$outcome == "harm", names(rows) != "outcome"]
  expect_equal(evidence(rows)$evidence, evidence(agent, outcome = "harm")$evidence)
  expect_error(agent_arms(agent, add = "d"), "`strata` cannot take on arms", class = "dpts_error_input")
  agent_close(agent)
})

test_that("what an agent knows of an arm is the sum over strata, of all numbers that its releases have", {
  agent <- new_strata(policy_randomised(mu = 1, outcome = "continuous", block = 10), strata = c("n", "s", "w"), arms = 2)
  visit(agent, rep(c("n", "s", "w"), c(40, 20, 30)), rep(1:9 / 10, 10))
  rows <- dpts_releases(agent)
  expect_identical(as.vector(table(rows$stratum)), 2L * c(4L, 2L, 3L))
  seen <- session_arms(agent$session)
  total <- function(x) as.vector(tapply(x, rows$arm, sum))
  expect_equal(as.data.frame(lapply(seen$report[c("rewards", "sum", "squares", "terms")], as.vector)),
               data.frame(rewards = total(rows$n), sum = total(rows$sum), squares = total(rows$squares), terms = total(rows$terms)))
  expect_equal(as.vector(seen$releases), c(9, 9))
})

test_that("default blocks of strata are smaller, unless noise asks for people; given blocks stay", {
  first <- function(n, ..., people = 220) {
    agent <- suppressWarnings(new_strata(policy_randomised(...), strata = paste0("s", seq_len(n))))
    choice <- agent_choose(agent, people, stratum = "s1")
    as.vector(table(match(stored(agent, choice$ticket)$batch, c(1, n + 1))))[1]
  }
  # max(20, 100 / S, 100 s / sqrt(S)), and 500 at most
  expect_identical(c(first(2), first(2, mu = 1), first(2, mu = 0.5), first(2, mu = 0.2, people = 360), first(2, mu = 0.1, people = 510)),
                   c(50L, 71L, 142L, 354L, 500L))
  expect_identical(c(first(20), first(5, mu = 1), first(20, mu = 0.5)), c(20L, 45L, 45L))
  expect_identical(c(first(2, block = 120), first(2, block = 1.5), first(1, mu = 1)), c(120L, 200L, 200L))
})

test_that("in three strata choices, rewards, erasures, visits, early ends and the end are those of a model", {
  # policy_randomised() without noise in each stratum, by its help page: blocks of 5 people, then of 6. A block is
  # released when it has ended and all its rewards are in: one with each reward and each early end, in their order.
  strata <- 3
  size <- function(number) if (number == 1) 5 else 6
  handle <- .Call(C_session_new, stratified(kernel(policy_randomised(block = c(5, 6)), 1e4), strata), 2 * strata, 1e4, 0L)
  shown <- function() .Call(C_session_report, handle)[match(c("rewards", "sum", "terms"), REPORT), ]
  model <- matrix(0, 3, 2 * strata)
  # People and blocks, by their number in order of time
  stratum <- arm <- t <- block <- reward <- numeric()
  waits <- erased <- open <- gone <- logical()
  missed <- of <- number <- numeric() # of blocks, of which stratum, and which of its blocks
  batch_of <- function(p) (number[block[p]] - 1) * strata + stratum[p]
  members <- function(i) which(block == i & !erased)
  release <- function(i) {
    for (p in members(i)) if (!waits[p]) model[1:2, arm[p]] <<- model[1:2, arm[p]] + c(1, reward[p])
    arms <- 2 * of[i] - 1:0
    model[3, arms] <<- model[3, arms] + 1
    gone[i] <<- TRUE
  }
  release_oldest <- function(s) {
    i <- which(of == s & !gone)[1]
    can <- !is.na(i) && !open[i] && !any(waits[members(i)])
    if (can) release(i)
    can
  }
  release_all <- function() {
    while (.Call(C_session_release_next, handle)) NULL
    for (s in seq_len(strata)) while (release_oldest(s)) NULL
  }
  withr::local_seed(9)
  same <- TRUE
  for (step in 1:400) {
    s <- sample(strata, 1, prob = c(3, 1, 2))
    arms <- as.integer(2 * s - 1:0)
    i <- which(of == s & open)
    p <- which(waits & !erased)
    p <- p[sample.int(length(p), min(length(p), 1))]
    what <- sample(c("choose", "reward", "erase", "visit", "close"), 1, prob = c(10, 9, 1, 3, 0.5))
    if (what == "choose") {
      x <- .Call(C_session_choose, handle, arms, NULL)
      if (!length(i)) {
        i <- length(of) + 1
        number[i] <- sum(of == s) + 1
        of[i] <- s
        missed[i] <- 0
        open[i] <- TRUE
        gone[i] <- FALSE
      }
      p <- length(t) + 1
      stratum[p] <- s
      arm[p] <- x[1]
      t[p] <- x[2]
      block[p] <- i
      waits[p] <- TRUE
      erased[p] <- FALSE
      same <- same && x[3] == batch_of(p)
      open[i] <- length(members(i)) < size(number[i])
    } else if (what == "reward" && length(p)) {
      reward[p] <- sample(0:1, 1)
      waits[p] <- FALSE
      .Call(C_session_update, handle, t[p], as.integer(arm[p]), batch_of(p), reward[p], NULL, NULL)
      release_oldest(stratum[p])
    } else if (what == "erase" && length(p)) {
      there <- .Call(C_session_unpull, handle, as.integer(arm[p]), batch_of(p))
      erased[p] <- TRUE
      empty <- !length(members(block[p]))
      if (empty) gone[block[p]] <- TRUE
      if (empty && open[block[p]]) { # it has never been: the next one has its number
        open[block[p]] <- FALSE
        of[block[p]] <- 0
      }
      same <- same && there == 1 + empty
      release_all()
    } else if (what == "visit" && length(t)) {
      # of somebody who may have come in another stratum
      p <- sample.int(length(t), 1)
      held <- if (waits[p]) -1 else batch_of(p)
      passed <- held < 0 || stratum[p] != s || length(i) > 0 && held == (number[i] - 1) * strata + s
      if (passed && length(i)) missed[i] <- missed[i] + 1
      if (passed && length(i) && missed[i] > size(number[i])) what <- "close"
      said <- .Call(C_session_look, handle, arms, NULL, arms[1], held)
      same <- same && sign(said) == if (what == "close") -1 else passed
    }
    if (what == "close") {
      .Call(C_session_close, handle, arms[2], NULL)
      if (length(i) && length(members(i))) {
        open[i] <- FALSE
        release_oldest(s)
      }
    }
    same <- same && all(shown() == model)
    if (!same) break
  }
  expect_true(same, label = sprintf("step %d (%s) is as in the model", step, what))
  expect_true(all(model[3, ] >= 4))
  # The end: first what is complete, and then what there is
  release_all()
  expect_equal(shown(), model)
  .Call(C_session_finish, handle)
  for (i in which(!gone)) if (any(!waits[members(i)])) release(i)
  expect_equal(shown(), model)
})

test_that("a policy that cannot be asked in strata is refused with the reason", {
  why <- list(
    "reads contexts" = policy_linucb(1), "is started anew" = policy_restart(policy_randomised(mu = 1), 100),
    "does not release each reward in one noisy sum" = policy_ucb1(), "is not written in C, or wraps another policy" = policy_private(policy_ucb1(), 1),
    "is not written in C, or wraps another policy" = policy_custom("own", function(k, horizon) 0, function(state, round) 1, function(state, feedback) state)
  )
  for (i in seq_along(why)) {
    expect_error(dpts_agent(why[[i]], 2, strata = c("x", "y"), horizon = 1000, use = "arrival"), sprintf("`strata` must be NULL: .* %s[.]$", names(why)[i]),
                 class = "dpts_error_input")
  }
})

test_that("in strata and at sites there are looks only where all of them are in what was released", {
  # Blocks of 100 of two arms in three strata; b is better in x alone.
  blocks <- function(stratum, t, n = 100) {
    rows <- data.frame(stratum = factor(rep(stratum, each = 2), c("x", "y", "z")), block = rep(seq_along(t), each = 2), t = rep(t, each = 2),
                       arm = c("a", "b"), n = rep(n, each = 2) / 2, chance = 0.5, floor = 0.5)
    rows$sum <- rows$n * ifelse(rows$arm == "b" & rows$stratum == "x", 0.8, 0.4)
    as_releases(rows, "none")
  }
  looks <- function(table) unique(evidence(table, "tosses")$t)
  stratum <- c("x", "x", "y", "x", "z", "z", "x", "y", "x", "x", "z", "y")
  t <- c(120, 240, 310, 420, 560, 640, 780, 900, 1100, 1250, 1260, 1300)
  table <- blocks(stratum, t)
  expect_equal(looks(table), t[has_look(match(stratum, c("x", "y", "z")), rep(100, 12), t, 3)])
  expect_equal(looks(table), c(560, 900, 1300)) # z is the last at first, then y, twice
  # Nearly all people are in, though nobody came to z
  expect_equal(looks(blocks(c("x", "y", "x"), c(102, 206, 306))), c(102, 306))
  expect_equal(looks(blocks(c("x", "y", "x"), c(103, 206, 307))), numeric())
  # What is known at a look is of all blocks so far, and later ones are not in it.
  one <- blocks(stratum[1:5], t[1:5])
  expect_identical(utils::tail(evidence(one, "tosses")$evidence, 2), evidence(table, "tosses")$evidence[1:2])
  more <- blocks(stratum[1:7], t[1:7])
  expect_identical(as.data.frame(effects(more)), as.data.frame(effects(one)))
  # The analysis at the end is of all, and an agent that has ended has its last look then.
  at_end <- function(x) suppressMessages(effects(x, at = "end"))$difference
  hand <- function(k) sum(ifelse(stratum[1:k] == "x", 0.4, 0)) / k
  expect_equal(at_end(more), hand(7))
  ended <- as.data.frame(more)
  ended$event <- NA
  ended <- rbind(ended, replace(utils::tail(ended, 1), c("n", "sum", "chance", "block", "event"), list(0, 0, NA, NA, "end")))
  expect_equal(looks(as_releases(ended)), c(560, 780))
  expect_identical(verdict(more)[c("arm", "wrong")], verdict(one)[c("arm", "wrong")])
  # Before the first look there is no verdict, and no interval but the widest.
  early <- blocks(rep("x", 20), 120 * 1:20)
  expect_true(is.na(verdict(early)$arm))
  expect_match(verdict(early)$missing, "strata")
  expect_match(verdict(as_releases(transform(as.data.frame(early), whole = FALSE)))$missing, "Nothing was released")
  expect_equal(nrow(evidence(early)), 0)
  expect_equal(unlist(effects(early)[c("difference", "lower", "upper", "p")], use.names = FALSE), c(NA, -1, 1, 1))
  # A stratum by itself has all of its looks.
  expect_lt(effects(early, by = "stratum")$p[1], 1e-6)
  # Two sites: whichever is named first, the better one of one is not that of both.
  site <- function(own) blocks(rep(own, 4), 100 * 1:4)[c("block", "t", "arm", "n", "sum", "chance", "floor")]
  for (sites in list(list(north = site("x"), south = site("y")), list(south = site("y"), north = site("x")))) {
    tables <- lapply(sites, as_releases, noise = "none")
    expect_equal(looks(tables), 200 * 1:4)
    # A filter in the middle of a round gives what was known after the round before.
    both <- dpts_releases(tables)
    for (t in c(100, 300, 500)) expect_equal(looks(both[both$t <= t, ]), 200 * seq_len(t %/% 200))
  }
})

test_that("opposite effects in strata: no arm is named for the stratum that was released first", {
  skip_on_cran()
  arms <- arms_strata(x = arms_bernoulli(c(a = 0.3, b = 0.5)), y = arms_bernoulli(c(a = 0.65, b = 0.35)), share = c(0.6, 0.4))
  for (block in list(1e9, 50)) {
    policy <- policy_randomised(mu = 1, block = block)
    sim <- dpts_simulate(arms, policy, 1500, runs = 60, seed = 1, history = TRUE, finish = TRUE)
    named <- verdict(sim)
    expect_lte(sum(!is.na(named$arm)), 3)
    # The compiled observers have the same looks; a plan claims of two arms together.
    expect_equal(sum(summary(dpts_plan(policy, arms, 1500, runs = 60, seed = 1))$proved), mean(effects(sim)$p < 0.05))
    found <- suppressWarnings(dpts_identify(arms, policy, runs = 60, seed = 1, limit = 1500))
    expect_identical(found$people[!is.na(named$arm)], named$t[!is.na(named$arm)])
    expect_identical(sum(!is.na(found$arm)), sum(!is.na(named$arm)))
  }
})
