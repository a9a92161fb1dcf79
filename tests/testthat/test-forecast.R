# Forecasts of a verdict from release tables.

skip_on_cran() # takes seconds

test_that("of experiments with a forecast as many reach a verdict as it says", {
  # Effects about which nothing is known beforehand: the middles of ten parts of their range, five experiments of each
  world <- function(i) {
    d <- 0.04 * i - 0.22
    sim <- dpts_simulate(arms_bernoulli(0.5 + c(d, -d) / 2), policy_randomised(mu = 1), 2000, runs = 5, seed = i, history = TRUE)
    table <- dpts_releases(sim)
    rbind(forecast(table[table$t <= 600, ], 2000, runs = 12, seed = i)$verdict, !is.na(verdict(sim)$arm))
  }
  said <- do.call(cbind, lapply(1:10, world))
  miss <- said[2, ] - said[1, ]
  expect_lt(abs(mean(miss)), 3 * sd(miss) / sqrt(50))
  # Those that are unsure are so, and those that are nearly sure come true.
  unsure <- said[1, ] > 0.2 & said[1, ] < 0.8
  expect_gt(sum(unsure), 7)
  expect_lt(abs(mean(miss[unsure])), 3 * 0.5 / sqrt(sum(unsure)))
  expect_gt(mean(said[2, said[1, ] > 0.95]), 0.95)
})

test_that("of experiments in strata as many reach a verdict as the forecast says, and one stratum is as none", {
  world <- function(i) {
    d <- 0.04 * i - 0.22
    arms <- arms_strata(low = arms_bernoulli(c(0.2, 0.2 + d / 2)), high = arms_bernoulli(c(0.7, 0.7 + d)), share = c(0.4, 0.6))
    sim <- dpts_simulate(arms, policy_randomised(mu = 1, block = 60), 1600, runs = 5, seed = i, history = TRUE)
    table <- dpts_releases(sim)
    rbind(forecast(table[table$t <= 500, ], 1600, runs = 12, seed = i)$verdict, !is.na(verdict(sim)$arm))
  }
  said <- do.call(cbind, lapply(1:10, world))
  miss <- said[2, ] - said[1, ]
  expect_lt(abs(mean(miss)), 3 * sd(miss) / sqrt(50))
  expect_gt(mean(said[2, said[1, ] > 0.95]), 0.9)
  expect_gt(diff(range(said[1, ])), 0.9)
  # The blocks to come of a stratum of a quarter of the people: as many as its own people fill
  half <- expand.grid(arm = 1:2, block = 1:4)
  table <- as_releases(data.frame(t = c(360, 480, 840, 960)[half$block], block = half$block,
                                  arm = half$arm, n = c(180, 60)[2 - half$block %% 2], sum = 60, chance = 0.5, floor = 0.5,
                                  stratum = c("many", "few")[2 - half$block %% 2]), "gaussian", 1)
  laws <- future_laws(release_records(table)$records[[1]], 2000)
  expect_equal(vapply(laws, `[[`, 0, "share"), c(0.75, 0.25))
  expect_equal(lengths(lapply(laws, `[[`, "sizes")), c(floor(0.75 * (2000 - laws[[1]]$t) / 360), floor(0.25 * (2000 - laws[[2]]$t) / 120)))
})

test_that("a future is drawn from the law of the releases", {
  # Two arms, 400 people each, and noise in each of two sums of an arm; that of live agents is geometric
  rows <- data.frame(t = c(400, 400, 800, 800), block = c(1, 1, 2, 2), arm = c(1, 2, 1, 2), n = 200, sum = c(80, 120, 90, 110),
                     chance = 0.5, floor = 0.5)
  for (noise in c("laplace", "gaussian", "geometric")) {
    law <- future_law(release_records(as_releases(rows, noise, 20))$records[[1]], 1700)
    expect_equal(law$mean, c(170, 230) / 400)
    variance <- law$mean * (1 - law$mean)
    of_noise <- 20^2 * if (noise == "gaussian") 1 else 2
    expect_equal(law$of_mean, variance / 400 + 2 * of_noise / 400^2)
    expect_equal(law$sizes, c(400, 400)) # and 100 people of a block that is not whole
    set.seed(1)
    sums <- replicate(700, {
      rows <- draw_future(law)
      c(rows[1, "sum"] - rows[1, "size"] * law$mean[1], rows[1, "size"])
    })
    # reward, noise, and what is not known of the mean
    expected <- 200 * variance[1] + of_noise + 200^2 * law$of_mean[1]
    expect_lt(abs(var(sums[1, ]) / expected - 1), 4 * sqrt(2 / 700) * 1.2)
    expect_lt(abs(mean(sums[1, ])), 4 * sqrt(expected / 700))
  }
  expect_lt(abs(var(sums[2, ]) / (400 / 4) - 1), 4 * sqrt(2 / 700))
  # A reward varies as its squares say, but by no more than a coin's, a bit above it and never not at all.
  mean <- c(170, 230) / 400
  for (squares in list(c(10, 14), c(90, 90), c(-5, 0))) {
    law <- future_law(release_records(as_releases(cbind(rows, squares), "gaussian", 20))$records[[1]], 1700)
    expect_equal(law$reward, pmin(pmax(squares / 200 - (mean - 0.5)^2, 0.001), mean * (1 - mean) + 1 / 400))
  }
})

test_that("the blocks to come are those of the policy, and without its rule as they came", {
  sizes_of <- function(table) as.vector(tapply(table$n, table$block, sum))
  for (block in list(NULL, 1.5, c(100, 300), 250)) for (mu in c(0.3, 2)) {
    k <- if (mu < 1) 5 else 2
    sim <- dpts_simulate(arms_bernoulli(seq(0.3, 0.6, length.out = k)), policy_randomised(mu = mu, block = block), 9000, runs = 1,
                         seed = 1, history = TRUE)
    table <- dpts_releases(sim)
    all <- sizes_of(table)
    for (seen in c(1, 4, 8)) {
      now <- table[table$block <= seen, ]
      law <- future_law(release_records(now)$records[[1]], 9000, if (!is.null(block)) check_blocks(block))
      expect_identical(law$sizes, all[-seq_len(seen)])
    }
  }
  rows <- function(...) cbind(size = c(...) / 2, block = seq_along(c(...)), t = cumsum(c(...)))[rep(seq_along(c(...)), 2), ]
  sizes <- function(rows, people) future_sizes(rows, people, NULL, 1, NA)
  expect_equal(sizes(rows(100, 100), 1000), rep(100, 8))
  expect_equal(sizes(rows(200, 100, 300), 2500), c(600, 1200))
  expect_equal(sizes(rows(200, 100, 300), 2300), 600) # the next would not be whole
  # As far as is seen these are the default blocks, and it is said that this is assumed.
  withr::local_options(rlib_message_verbosity = "verbose")
  expect_message(sizes(rows(200, 200, 200), 1500), "`block = 200`", class = "dpts_message_blocks")
  expect_no_message(sizes(rows(200, 200, 200), 800)) # the next one is the same
  expect_no_message(sizes(rows(300, 300, 300), 1500))
  expect_no_message(sizes(rows(200, 241), 1500)) # what grows is no block that stays so
  withr::local_options(rlib_message_verbosity = "quiet")
  expect_equal(sizes(rows(200, 200, 200), 1500), c(200, 241, 313)) # (1.3 - 1) 800 is above 240 in binary
  expect_equal(future_sizes(rows(200, 200, 200), 1500, check_blocks(200), 1, NA), rep(200, 4))
})

test_that("an agent, its table and its table through a file have the same forecast, and plans use the policy's blocks", {
  agent <- dpts_agent(policy_randomised(mu = 1), c("a", "b"), use = "arrival")
  withr::local_seed(3)
  agent_reward(agent, agent_choose(agent, 900)$ticket, stats::rbinom(900, 1, 0.5))
  said <- function(x, ...) forecast(x, c(1500, 3000), runs = 50, seed = 1, ...)$verdict
  table <- dpts_releases(agent)
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(table, file, row.names = FALSE)
  expect_identical(said(table), said(agent))
  expect_identical(said(as_releases(utils::read.csv(file))), said(agent))
  expect_identical(said(table, block = 1.3), said(agent, block = 1.3))
  for (policy in list(policy_randomised(mu = 1), policy_randomised(epsilon = 1, block = 1.5),
                      policy_randomised(block = c(30, 60)), policy_randomised(mu = 2, block = 50))) {
    expect_identical(block_rule(policy), check_blocks(policy$args$block, noise_variance_of(policy$params$mu, policy$params$epsilon)))
  }
})

test_that("a forecast knows the blocks of an agent, a simulation and a replay, and of a table what is seen", {
  withr::local_options(rlib_message_verbosity = "quiet")
  withr::local_seed(1)
  for (strata in list(NULL, c("x", "y"))) for (block in list(NULL, 200)) {
    agent <- dpts_agent(policy_randomised(mu = 0.5, block = block), c("a", "b"), use = "arrival", strata = strata)
    stratum <- if (!is.null(strata)) rep_len(strata, 800)
    agent_reward(agent, agent_choose(agent, 800, stratum = stratum)$ticket, stats::rbinom(800, 1, 0.5))
    said <- function(x, ...) forecast(x, c(2000, 6000), runs = 8, seed = 1, ...)$verdict
    expect_identical(said(agent), said(dpts_releases(agent), block = block))
    # Default blocks go on as the policy says, but equal ones of 200 look like these.
    record <- release_records(dpts_releases(agent))$records[[1]]
    own <- known_blocks(agent)(record)
    expect_identical(own$growth, if (is.null(block)) if (is.null(strata)) 1.3 else 1.15)
    sizes <- function(block) lapply(future_laws(record, 6000, block), `[[`, "sizes")
    expect_identical(identical(sizes(own), sizes(NULL)), is.null(block) || !is.null(strata))
    expect_identical(sizes(own), sizes(if (!is.null(block)) check_blocks(block)))
  }
  sim <- dpts_simulate(arms_bernoulli(c(0.5, 0.6)), list(same = policy_randomised(mu = 0.5, block = 200), grows = policy_randomised(mu = 0.5)),
                       600, runs = 1, seed = 1, history = TRUE)
  said <- forecast(sim, c(2000, 6000), runs = 8, seed = 1)
  expect_equal(said$verdict[1:2], forecast(sim, c(2000, 6000), block = 200, runs = 8, seed = 1)$verdict[1:2])
  expect_equal(said$verdict[3:4], forecast(dpts_releases(sim), c(2000, 6000), runs = 8, seed = 1)$verdict[3:4])
  expect_identical(lapply(release_records(sim)$records, known_blocks(sim)),
                   list(list(growth = NULL, size = 200), list(growth = 1.3, size = c(200, 800))))
})

test_that("blocks to come in a stratum grow with its own people, as those of the policy do", {
  arms <- arms_strata(x = arms_bernoulli(c(0.3, 0.4)), y = arms_bernoulli(c(0.5, 0.6)), share = c(0.2, 0.8))
  for (block in list(NULL, 1.5)) {
    sim <- dpts_simulate(arms, policy_randomised(mu = 1, block = block), 9000, runs = 1, seed = 1, history = TRUE)
    sizes_of <- function(table) lapply(split(table, table$stratum), function(x) as.vector(tapply(x$n, x$block, sum)))
    all <- sizes_of(dpts_releases(sim))
    now <- dpts_releases(sim)
    now <- now[now$t <= 3000, ]
    seen <- lengths(sizes_of(now))
    record <- release_records(now)$records[[1]]
    laws <- future_laws(record, 9000, known_blocks(sim)(record))
    for (s in 1:2) {
      to_come <- laws[[s]]$sizes
      both <- seq_len(min(length(to_come), length(all[[s]]) - seen[s]))
      expect_gt(length(both), 1)
      expect_identical(to_come[both], all[[s]][seen[s] + both])
    }
  }
})

test_that("the people to come are shared by the sites that still run, in the blocks of each site's own policy", {
  withr::local_options(rlib_message_verbosity = "quiet")
  withr::local_seed(1)
  site <- function(block, people) {
    agent <- dpts_agent(policy_randomised(mu = 1, block = block), c("a", "b"), use = "arrival")
    agent_reward(agent, agent_choose(agent, people)$ticket, stats::rbinom(people, 1, 0.5))
    agent
  }
  sites <- list(one = site(100, 400), two = site(c(200, 300), 500), three = site(NULL, 400))
  record <- with_waiting(release_records(sites)$records[[1]], sites)
  sizes <- function() lapply(future_laws(record, 7000, known_blocks(sites)(record)), `[[`, "sizes")
  own <- sizes()
  expect_setequal(own[[1]], 100)
  expect_setequal(own[[2]], 300)
  expect_gt(max(own[[3]]), 200) # default blocks grow
  # Two rounds of blocks count; those to come are shared by all that was released, of 400, 500 and 200 people or more.
  now <- vapply(1:3, function(i) sum(record$releases[record$site == i, "size"]), 0)
  expect_equal(now[1:2], c(400, 500))
  expect_equal(lengths(own)[1:2], floor((7000 - sum(now)) * now / sum(now) / c(100, 300, 1))[1:2])
  # What forecast() draws futures from (a verdict of live noise may be the same by chance)
  local_function("future_laws", function(old) function(...) {
    laws <- old(...)
    drawn <<- lapply(laws, `[[`, "sizes")
    laws
  })
  drawn <- NULL
  said <- function(x, ...) {
    forecast(x, c(3000, 7000), runs = 2, seed = 1, ...)
    drawn
  }
  expect_identical(said(sites), own)
  expect_setequal(unlist(said(sites, block = 400)), 400)
  agent_finish(sites$one)
  record <- release_records(sites)$records[[1]]
  expect_identical(record$running, 2:3)
  expect_silent(left <- said(sites))
  expect_identical(left, sizes())
  expect_length(left, 2)
  expect_gt(length(left[[1]]), length(own[[2]]))
})

test_that("the head names the least numbers of people by which a tenth, half and nine tenths of the futures have a verdict", {
  sim <- dpts_simulate(arms_bernoulli(c(0.4, 0.6)), policy_randomised(mu = 1, block = 40), 200, runs = 1, seed = 3, history = TRUE)
  ask <- function(people) forecast(sim, c(people, 2000), block = 40, runs = 100, seed = 1)
  shares <- ask(seq(200, 1960, by = 40))
  least <- vapply(c(0.5, 0.1, 0.9), function(share) shares$people[which(shares$verdict >= share)[1]], 0)
  said <- function(...) tbl_sum(structure(shares, needed = list(c(...))))[["Needed"]]
  expect_identical(tbl_sum(shares)[["Needed"]], said(ifelse(is.na(least), Inf, least)[c(2, 1, 3)]))
  expect_identical(said(100, 2000, 3000), "2,000 people in half of the futures, 100 to 3,000 in eight of ten")
  expect_identical(said(100, 2000, Inf), "2,000 people in half of the futures, 100 or more in nine of ten")
  expect_identical(said(100, Inf, Inf), "more people than these in half of the futures, 100 or more in nine of ten")
  expect_identical(said(Inf, Inf, Inf), "more people than these in nine of ten futures")
})

test_that("a verdict stays, and bad input is refused", {
  sim <- dpts_simulate(arms_bernoulli(c(0.2, 0.8)), policy_randomised(mu = 1), 600, runs = 1, seed = 1, history = TRUE)
  expect_identical(forecast(sim, c(600, 1000), runs = 10, seed = 1)$verdict, c(1, 1))
  same <- function() forecast(sim, 1000, runs = 10, seed = 2)
  expect_identical(same(), same())
  agent <- dpts_agent(policy_randomised(mu = 1), c("a", "b"), use = "arrival")
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  bad(forecast(agent, 1000), "must hold a release")
  bad(forecast(list(a = 1, b = agent), 1000), "Site \"a\"")
  bad(forecast(list(1), 1000), "`object` must be a list of agents or release tables, named by their sites")
  agent_reward(agent, agent_choose(agent, 400)$ticket, rep(0:1, 200))
  expect_named(forecast(agent, 1000, runs = 5), c("people", "verdict"))
  bad(forecast(agent, 399), "`people` must be at least 400")
  bad(forecast(agent), "`people`")
  agent_finish(agent) # then nobody comes
  expect_identical(forecast(agent, c(500, 1e6), runs = 5)$verdict, rep(as.double(!is.na(verdict(agent)$arm)), 2))
  bad(forecast(agent, 1000, 5), "without a name")
  bad(forecast(agent, 1000, block = 4.5), "`block`")
  top <- dpts_simulate(arms_bernoulli(c(0.2, 0.8)), policy_top_two(mu = 1), 600, runs = 1, seed = 1, history = TRUE)
  bad(forecast(top, 1000), "does not randomise")
})

test_that("an experiment is futile if fewer futures than asked end with a verdict, and not at just as many", {
  record <- list(releases = cbind(block = c(1, 1), stratum = 1), k = 2, strata = 1)
  local_function("future_laws", function(old) function(...) NULL)
  for (hits in 4:6) {
    drawn <- 0
    local_function("draw_verdict", function(old) function(...) if ((drawn <<- drawn + 1) <= 10 - hits) Inf else 100)
    expect_identical(dpts:::is_futile(record, 500, 0.5, 0.05, 10), hits < 5)
  }
})

test_that("nothing is said before each stratum, and each site that still runs, has released something of all arms", {
  rows <- expand.grid(arm = 1:2, block = 1:4)
  rows <- data.frame(rows, t = 100 * rows$block, n = 50, sum = c(20, 30), chance = 0.5, floor = 0.5)
  rows$stratum <- factor(c("x", "y")[1 + rows$block %% 2], c("x", "y", "z"))
  bad <- function(x, what) expect_error(forecast(x, 1000, runs = 2), what, class = "dpts_error_input")
  table <- as_releases(rows, "gaussian", 1)
  expect_identical(forecast(table, 1000, runs = 2, seed = 1)$people, 1000) # nobody came to z
  table$t <- table$t + 10
  bad(table, "all arms, in each stratum; nothing")
  table$stratum <- droplevels(table$stratum)
  expect_identical(forecast(table, 1000, runs = 2, seed = 1)$people, 1000)
  bad(table[table$t <= 110, ], "in each stratum; nothing")
  site <- as_releases(rows[names(rows) != "stratum"], "gaussian", 1)
  sites <- dpts_releases(list(a = site, b = site[1:2, ], c = site[1:4, ]), ended = "b")
  expect_identical(forecast(sites, 1000, runs = 2, seed = 1)$people, 1000)
  bad(sites[sites$site != "c", ], "all arms, at each site that has not ended; nothing")
  bad(dpts_releases(list(a = table, b = table))[1:2, ], "in each stratum and at each site that has not ended; nothing")
})

test_that("a future's blocks have numbers of their own in each stratum, and the noise of squares its weight", {
  half <- expand.grid(arm = 1:2, block = 1:6)
  table <- as_releases(data.frame(t = 200 * half$block, block = half$block, arm = half$arm, n = 100, sum = c(40, 60), chance = 0.5,
                                  floor = 0.5, stratum = c("x", "y", "z")[1 + half$block %% 3]), "gaussian", 1)
  record <- release_records(table)$records[[1]]
  future <- with_future(record, future_laws(record, 4000))$releases
  blocks <- unique(future[, c("block", "stratum")])
  expect_identical(c(anyDuplicated(blocks[, "block"]), is.unsorted(future[, "t"])), c(0L, 0L))
  expect_gt(min(table(blocks[, "stratum"])), 3)
  expect_gt(max(future[, "t"]), 3200) # each stratum has a third of the people to come

  # What is to be released comes after what was, also in a stratum whose blocks were due long ago.
  late <- as_releases(data.frame(t = rep(c(200, 1200), each = 2), block = rep(1:2, each = 2), arm = 1:2, n = 100, sum = c(40, 60),
                                 chance = 0.5, floor = 0.5, stratum = rep(c("x", "y"), each = 2)), "gaussian", 1)
  late <- release_records(late)$records[[1]]
  to_come <- with_future(late, future_laws(late, 4000))$releases[-(1:4), ]
  expect_gt(sum(to_come[, "stratum"] == 1), 10)
  expect_gte(min(to_come[, "t"]), 1200)

  rows <- data.frame(t = c(400, 400, 800, 800), block = c(1, 1, 2, 2), arm = 1:2, n = 200, sum = c(80, 120, 90, 110), chance = 0.5,
                     floor = 0.5, permuted = TRUE, squares = 30)
  own <- future_law(release_records(as_releases(rows, "gaussian", 6))$records[[1]], 1700)
  own$of_mean[] <- 1e-18
  withr::local_seed(3)
  squares <- replicate(1000, draw_future(own)[, "squares"])
  expect_lt(abs(var(squares[1, ]) / 9 - 1), 4 * sqrt(2 / 1000))
  expect_lt(abs(mean(squares[1, ]) - 30), 4 * 3 / sqrt(1000)) # people are as those before, whose mean is not 1/2

  law_of <- function(rows) future_law(release_records(as_releases(rows, "gaussian", 6))$records[[1]], 1700)
  # An arm that the last block lacks is in no future; of a block that was cut it has neither chances nor means.
  one <- law_of(rbind(rows, transform(rows[1, ], t = 1000, block = 3, chance = 1)))
  expect_identical(list(one$last[, c("block", "chance")], one$mean), list(c(block = 3, chance = 1), 250 / 600))
  cut <- law_of(rbind(transform(rows, whole = TRUE), transform(rows[3:4, ], t = 1200, block = 3, sum = c(0, 200), whole = FALSE)))
  expect_identical(cut$mean, law_of(rows)$mean)
})

test_that("a forecast is the same whatever numbers blocks have", {
  withr::local_options(rlib_message_verbosity = "quiet")
  rows <- expand.grid(arm = c("a", "b"), block = 1:6)
  rows <- data.frame(rows, t = 100 * rows$block, n = 50, sum = c(24, 28), chance = 0.5, floor = 0.5)
  site <- as_releases(rows, "gaussian", 1)
  both <- as.data.frame(dpts_releases(list(a = site, b = site)))
  said <- function(number) {
    both$block <- number(match(both$block, sort(unique(both$block))))
    forecast(as_releases(both), c(1600, 3000), block = 100, runs = 60, seed = 1)$verdict
  }
  first <- said(identity)
  expect_true(first[1] > 0.05 && first[2] < 0.99)
  # Times in milliseconds, negative numbers, and the largest that a double tells apart
  for (number in list(function(b) 1.7e12 + b, function(b) b - 1e9, function(b) 2^53 - 12 + b)) expect_identical(said(number), first)
})

test_that("a list of sites begins its futures with what waits for others, at the pace of each site", {
  withr::local_options(rlib_message_verbosity = "quiet")
  rows <- function(blocks, at, sum = c(24, 26)) {
    half <- expand.grid(arm = c("a", "b"), block = seq_len(blocks))
    as_releases(data.frame(t = at * half$block, block = half$block, arm = half$arm, n = 50, sum = sum, chance = 0.5, floor = 0.5),
                "gaussian", 1)
  }
  # The fast site has ten rounds of 100 people, the slow one two, of which it needs as long as the other one for ten.
  sites <- list(fast = rows(10, 100), slow = rows(2, 100))
  said <- function(people, x = sites) forecast(x, people, block = 100, runs = 60, seed = 1)
  expect_error(said(1199), "at least 1200, the people so far", class = "dpts_error_input")
  expect_error(said(1e15), "at most 100,000 blocks", class = "dpts_error_input")
  expect_identical(said(400, dpts_releases(sites))$people, 400) # which has two rounds of both alone
  whole <- function(sites) as.double(!is.na(verdict(sites)$arm))
  expect_identical(said(c(1200, 1750))$verdict, rep(whole(sites), 2)) # the slow site's third block is whole at 1,800
  expect_identical(whole(sites), 0)
  # Its third to fifth round are those that wait and those to come, as in a table that has them.
  record <- release_records(sites)$records[[1]]
  all <- with_waiting(record, sites)
  to_come <- function(people) with_future(record, future_laws(all, people, list(size = 100)), all)
  future <- to_come(3000)
  expect_identical(future$site[-(1:8)], rep(rep(1:2, each = 2), 3))
  fast <- future$releases[future$site == 1, ]
  expect_identical(unname(fast[, "sum"]), rep(c(24, 26), 5))
  expect_identical(unique(future$releases[-(1:8), "t"]), c(1200, 1800, 2400, 3000))
  expect_identical(anyDuplicated(future$releases[, c("block", "arm")]), 0L)
  # So it is at a site that has ended: its last eight rounds are heard as the other one gets to them.
  ended <- record
  ended$running <- 2L
  left <- replace(all, "running", list(2L))
  future <- with_future(ended, future_laws(left, 1500, list(size = 100)), left)
  expect_identical(future$site[-(1:8)], rep(rep(1:2, each = 2), 3))
  # As in one table of all, where the strata of a site are behind it by other numbers of people
  two <- transform(as.data.frame(rows(10, 100)), stratum = rep(c("x", "y"), c(16, 4)))
  laws <- future_laws(release_records(as_releases(two))$records[[1]], 2000, list(size = 100))
  expect_identical(lapply(laws, `[`, c("share", "from")), list(list(share = 0.8, from = 800), list(share = 0.2, from = 1000)))
  # A future of three sites has the evidence of the tables that have its blocks, in any order of the sites.
  for (order in list(1:3, 3:1, c(2, 1, 3))) {
    three <- list(new = rows(2, 100), fast = rows(6, 100, c(18, 30)), third = rows(4, 100, c(26, 20)))[order]
    record <- release_records(three)$records[[1]]
    all <- with_waiting(record, three)
    future <- with_future(record, future_laws(all, 2600, list(size = 100)), all) # two blocks more at the first
    drawn <- future$releases[future$site == which(order == 1), ][5:8, ]
    three$new <- as_releases(rbind(as.data.frame(three$new), transform(
      as.data.frame(rows(4, 100))[5:8, ], n = drawn[, "size"], sum = drawn[, "sum"]
    )))
    weighed <- function(record) utils::tail(record_evidence(record, "tosses")$pair, 1)
    expect_equal(weighed(future), weighed(release_records(three)$records[[1]]))
  }
})

test_that("the futures of an agent are of the arms that are not paused now, those of a table of its last block's", {
  withr::local_options(rlib_message_verbosity = "quiet")
  agent <- dpts_agent(policy_randomised(mu = 1, block = 60), c("a", "b", "c"), use = "arrival")
  play <- function(n) {
    choices <- agent_choose(agent, n)
    agent_reward(agent, choices$ticket, as.numeric(seq_len(n) %% 10 < c(a = 4, b = 9, c = 5)[as.character(choices$arm)]))
  }
  drawn <- NULL
  local_function("future_laws", function(old) function(...) drawn <<- old(...))
  arms <- function(x) {
    said <- forecast(x, 600, block = 60, runs = 2, seed = 1)$verdict
    law <- drawn[[1]]
    expect_equal(unname(law$last[, "chance"]), rep(1 / nrow(law$last), nrow(law$last)))
    rows <- draw_future(law)
    expect_identical(unname(rows[, "arm"]), rep(unname(law$last[, "arm"]), length(law$sizes)))
    if (length(law$sizes)) unname(law$last[, "arm"]) else said
  }
  both <- function() list(arms(agent), arms(dpts_releases(agent)), arms(list(x = agent)))
  play(120)
  expect_identical(both(), list(c(1, 2, 3), c(1, 2, 3), c(1, 2, 3)))
  agent_arms(agent, pause = "c")
  expect_identical(both(), list(c(1, 2), c(1, 2, 3), c(1, 2)))
  play(60)
  expect_identical(both(), list(c(1, 2), c(1, 2), c(1, 2)))
  agent_arms(agent, resume = "c")
  expect_identical(both(), list(c(1, 2, 3), c(1, 2), c(1, 2, 3)))
  agent_arms(agent, retire = "b")
  expect_identical(both(), list(c(1, 3), 0, c(1, 3))) # numbers of arms ever; of the table's last block one arm is left
  agent_arms(agent, pause = "a")
  expect_identical(both(), list(0, 0, 0)) # one arm for everybody: no rounds
})

test_that("futility is judged once each stratum has a block of all arms, and a future is of the arms that are left", {
  record <- list(releases = cbind(block = c(1, 1, 2, 2), stratum = 1), k = 2, strata = 2)
  local_function("future_laws", function(old) function(...) stop("judged"))
  expect_false(dpts:::is_futile(record, 500, 0.5, 0.05, 10))
  record$releases[3:4, "stratum"] <- 2
  expect_error(dpts:::is_futile(record, 500, 0.5, 0.05, 10), "judged")
  record <- list(releases = cbind(block = c(1, 2, 2), stratum = 1), k = 2, strata = 1) # the first was of one arm
  expect_error(dpts:::is_futile(record, 500, 0.5, 0.05, 10), "judged")

  block <- function(b, arm) data.frame(arm, block = b, n = 60, sum = 20 + b, chance = 1 / length(arm), t = 180 * b, event = NA)
  went <- data.frame(arm = 1, block = NA, n = 0, sum = 0, chance = NA, t = 360, event = "retired")
  rows <- transform(rbind(block(1, 1:3), block(2, 1:3), went, block(3, 2:3)), floor = 0.5)
  law <- future_law(release_records(as_releases(rows, "gaussian", 1))$records[[1]], 1000)
  expect_equal(unname(law$last[, c("arm", "chance", "block")]), cbind(2:3, 0.5, 3))
})

test_that("where nobody is to come the forecast is the verdict: of each run, by its error, and a margin in units of rewards", {
  withr::local_options(rlib_message_verbosity = "quiet")
  problems <- list(wide = arms_gaussian(c(3, 5, 4.8), 2, range = c(-10, 10)), coins = arms_bernoulli(c(0.2, 0.6, 0.5)))
  policies <- list(noisy = policy_randomised(mu = 1, block = 100), open = policy_randomised(block = 100))
  sim <- dpts_simulate(problems, policies, 500, runs = 6, seed = 1, history = TRUE)
  for (ask in list(c(0.05, 0), c(0.5, 0), c(0.05, 2), c(0.2, 0.15))) {
    said <- verdict(sim, error = ask[1], margin = ask[2])
    now <- forecast(sim, 500, error = ask[1], margin = ask[2], runs = 2, seed = 1)
    expect_equal(now[c("problem", "policy", "run")], said[c("problem", "policy", "run")], ignore_attr = TRUE)
    expect_identical(now$verdict, as.numeric(!is.na(said$arm)))
    expect_true(any(is.na(said$arm)) && !all(is.na(said$arm)))
  }
  # ... in strata, too, also where more people are asked for: what is to be released comes later.
  near <- arms_strata(many = arms_bernoulli(c(0.4, 0.52)), few = arms_bernoulli(c(0.45, 0.57)), share = c(0.7, 0.3))
  by <- suppressWarnings(dpts_simulate(near, policy_randomised(mu = 2, block = 40), 600, runs = 8, seed = 2, history = TRUE))
  table <- dpts_releases(by)
  said <- verdict(table)
  now <- vapply(split(table$t, table$run), max, 0)
  for (run in 1:8) {
    own <- forecast(table[table$run == run, ], c(now[[run]], 3000), runs = 2, seed = 1)$verdict
    expect_identical(own[1], as.numeric(!is.na(said$arm[run])))
  }
  # ... and numbers of people may come in any order
  ask <- function(people) forecast(sim[sim$run < 3, ], people, runs = 5, seed = 1)
  some <- ask(c(900, 1500, 2400))
  expect_identical(ask(c(2400, 900, 1500))$verdict, some$verdict[rep(c(3, 1, 2), 8) + rep(3 * (0:7), each = 3)])
  expect_gt(length(unique(some$verdict)), 3)
})
