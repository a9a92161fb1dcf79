# Several sites of one experiment. The reference is one experiment whose blocks are dealt out to sites.

skip_on_cran() # takes seconds

arms <- arms_bernoulli(c(control = 0.5, new = 0.6, third = 0.45))
play <- function(policy, horizon = 6000, seed = 1) {
  dpts_simulate(arms, policy, horizon, runs = 1, seed = seed, history = TRUE)
}

# The blocks of a table dealt out in turn, each site with people and blocks of its own
deal <- function(table, sites) {
  table <- table[setdiff(names(table), c("policy", "run"))]
  block <- ifelse(is.na(table$block), 0, table$block)
  parts <- lapply(seq_along(sites), function(i) {
    # (A row of each arm at the beginning belongs to all sites.)
    part <- table[block == 0 | block %% length(sites) == i %% length(sites), ]
    part$block <- match(part$block, sort(unique(part$block)))
    part$t <- ave(cumsum(part$n), ifelse(is.na(part$block), 0, part$block), FUN = max)
    as_releases(as.data.frame(part))
  })
  stats::setNames(parts, sites)
}

test_that("sites conclude as one experiment with the same blocks in turn, to the last bit", {
  for (policy in list(policy_randomised(mu = 0.5), policy_randomised(epsilon = 1, rule = "thompson"),
                      policy_randomised(mu = 1, permuted = TRUE))) {
    one <- dpts_releases(play(policy))
    one <- one[one$block <= max(one$block) - (max(one$block) %% 2), ] # as many rounds at both
    sites <- deal(one, c("a", "b"))
    both <- suppressMessages(dpts_releases(sites))
    expect_identical(levels(both$site), c("a", "b"))
    expect_identical(both$sum[is.na(both$event)], one$sum)
    for (kind in c("tosses", "means")) {
      of_one <- suppressMessages(evidence(one, kind))
      of_both <- suppressMessages(evidence(sites, kind))
      # There is a look after each round of both, whichever of them is named first.
      shared <- of_one$t %in% one$t[one$block %% 2 == 0]
      for (name in c("t", "evidence", "line")) expect_identical(of_both[[name]], of_one[[name]][shared])
      p <- ave(of_both$evidence, paste(of_both$arm, of_both$rival), FUN = function(w) pmin(1, exp(-cummax(w))))
      expect_equal(of_both$p, p)
    }
    expect_identical(verdict(sites)$arm, verdict(one)$arm)
    expect_true(verdict(sites)$t %in% one$t[one$block %% 2 == 0])
    # (By means they are the intersection of the intervals of all looks, of which there are fewer.)
    if (!policy$params$permuted) expect_equal(effects(sites)$lower, effects(one)$lower)
    expect_equal(estimates(sites)$mean, estimates(one)$mean)
    # Through a file, as one table
    file <- withr::local_tempfile(fileext = ".csv")
    utils::write.csv(both, file)
    expect_identical(evidence(as_releases(utils::read.csv(file)), "tosses"), evidence(both, "tosses"))
  }
})

test_that("a row keeps its place at all later looks, and faster sites wait", {
  sites <- list(fast = dpts_releases(play(policy_randomised(mu = 0.5), 8000)),
                slow = dpts_releases(play(policy_randomised(mu = 0.5), 3000, 2)))
  at <- function(fast, slow, ...) {
    tables <- list(fast = sites$fast[sites$fast$block <= fast, ], slow = sites$slow[sites$slow$block <= slow, ])
    suppressMessages(as.data.frame(dpts_releases(tables, ...)))
  }
  grown <- list(at(2, 1), at(2, 2), at(5, 3), at(5, 5))
  for (i in 2:4) expect_identical(grown[[i]][seq_len(nrow(grown[[i - 1]])), ], grown[[i - 1]])
  expect_identical(max(at(5, 3)$block, na.rm = TRUE), 6)
  expect_identical(max(at(5, 3, ended = "slow")$block, na.rm = TRUE), 8)
  expect_identical(max(at(5, 3, ended = c("slow", "fast"))$block, na.rm = TRUE), 8)
  expect_true(all(diff(at(5, 5)$t) >= 0))
  if (exists("sites_waiting", messages_shown)) rm("sites_waiting", envir = messages_shown)
  expect_message(dpts_releases(list(fast = sites$fast, slow = sites$slow)), "of \"fast\" wait",
                 class = "dpts_message_sites")
})

test_that("releases have the same order wherever arms were added between them, and what was cut off is no round", {
  # Blocks of 100 people, each sum another; `added`: the block after which the third arm came
  site <- function(sums, added, cut = Inf, arms = 1:3) {
    blocks <- lapply(seq_along(sums), function(b) {
      k <- if (b > added) 3 else 2
      data.frame(arm = seq_len(k), block = b, n = 20, sum = sums[b], chance = 1 / k, floor = 0.2, t = 100 * b,
                 whole = b < cut | !seq_len(k) %in% arms, event = NA_character_)
    })
    came <- if (added < Inf) data.frame(arm = 3, block = NA, n = 0, sum = 0, chance = NA, floor = 0.2,
                                        t = 100 * added, whole = TRUE, event = "added")
    rows <- do.call(rbind, append(blocks, list(came), min(added, length(blocks))))
    as_releases(rows, noise = "none")
  }
  order_of <- function(...) {
    both <- suppressMessages(dpts_releases(list(...)))
    both$sum[is.na(both$event) & both$arm == 1]
  }
  expect_identical(order_of(a = site(1:5, added = 3), b = site(11:15, added = 1)),
                   c(1, 11, 2, 12, 3, 13, 4, 14, 5, 15))
  # The third release of `a` was made while rewards were out: `b` waits after its second.
  expect_identical(order_of(a = site(1:3, Inf, cut = 3), b = site(11:14, Inf)), c(1, 11, 2, 12, 3))
  # So it is if they were of another arm of the block.
  expect_identical(order_of(a = site(1:3, Inf, cut = 3, arms = 2), b = site(11:14, Inf)), c(1, 11, 2, 12, 3))
})

test_that("agents are sites, and say when they have ended", {
  skip_if_not_installed("RSQLite")
  agent <- function(seed, n) {
    withr::local_seed(seed)
    a <- dpts_agent(policy_randomised(mu = 1, block = 50), c("x", "y"), use = "arrival")
    choice <- agent_choose(a, n = n)
    agent_reward(a, choice$ticket, runif(n) < 0.5)
    a
  }
  sites <- list(north = agent(1, 120), south = agent(2, 230))
  both <- suppressMessages(dpts_releases(sites))
  expect_identical(table(both$site[is.na(both$event)]), table(factor(rep(c("north", "south"), each = 4))),
                   ignore_attr = TRUE)
  agent_finish(sites$north)
  table <- dpts_releases(sites$north)
  expect_identical(utils::tail(table$event, 1), "end")
  both <- suppressMessages(dpts_releases(list(north = table, south = sites$south)))
  expect_identical(sum(both$site == "south" & is.na(both$event)), 8L)
  expect_s3_class(verdict(sites), "dpts_verdict")
})

test_that("a forecast is of all sites", {
  two <- arms_bernoulli(c(0.5, 0.53))
  sites <- lapply(c(a = 1, b = 2), function(seed) {
    dpts_simulate(two, policy_randomised(mu = 0.5), 1500, runs = 1, seed = seed, history = TRUE)
  })
  expect_identical(forecast(sites, 6000, runs = 20, seed = 1), forecast(dpts_releases(sites), 6000, runs = 20, seed = 1))
  # A verdict may come at each round, not only at the last one; and one that there is stays.
  said <- forecast(sites, c(4000, 8000, 20000), runs = 40, seed = 1)$verdict
  alone <- vapply(c(4000, 8000), function(n) forecast(sites, n, runs = 40, seed = 1)$verdict, 0)
  expect_lt(max(abs(said[1:2] - alone)), 4 * sqrt(0.5 / 40))
  expect_gt(said[2], 0.2)
  sure <- lapply(c(a = 1, b = 2), function(seed) {
    dpts_simulate(arms_bernoulli(c(0.3, 0.7)), policy_randomised(mu = 0.5), 1500, runs = 1, seed = seed, history = TRUE)
  })
  expect_false(is.na(verdict(sure)$arm))
  expect_equal(forecast(sure, c(3000, 5000), runs = 5, seed = 1)$verdict, c(1, 1))
})

test_that("what does not fit together is refused by name", {
  table <- dpts_releases(play(policy_randomised(mu = 0.5), 1000))
  refused <- function(x, why) expect_error(dpts_releases(x), why, class = "dpts_error_input")
  refused(list(table, table), "named by their sites")
  # effects() has another name for it.
  expect_error(effects(list()), "`object` must be a list of agents", class = "dpts_error_input")
  expect_error(effects(list(a = table, b = 3)), "Site \"b\": `object` must be", class = "dpts_error_input")
  refused(list(a = table, a = table), "comes twice")
  refused(list(a = table, b = 3), "Site \"b\".*release table")
  for (outcome in list(NULL, identity, c("reward", "other"))) for (ask in list(dpts_releases, verdict)) {
    expect_error(ask(list(a = table, b = table), outcome = outcome), "Site \"a\": `outcome` must be one of \"reward\"", class = "dpts_error_input")
  }
  refused(list(a = dpts_releases(list(a = table)), b = table), "has several")
  refused(list(a = dpts_simulate(arms, policy_randomised(mu = 0.5), 500, runs = 2, seed = 1, history = TRUE)), "one run")
  other <- function(column, value) {
    new <- as.data.frame(table)
    new[[column]] <- value
    list(a = table, b = as_releases(new))
  }
  refused(other("scale", 3), "same distribution, scale and `grid`: \"a\" has gaussian and 2, \"b\" has gaussian and 3")
  refused(other("grid", 0.5), "`grid`: \"a\" has gaussian and 2, \"b\" has gaussian, 2 and 0.5")
  refused(other("high", 2), "same range of rewards: \"a\" has 0 and 1, \"b\" has 0 and 2")
  refused(other("floor", 0.2), "same floor")
  refused(other("squares", 1), "sums of squares, or none: \"a\" has none, \"b\" has of all rewards")
  refused(other("per_person", 42), "as many rewards of a person: \"a\" has 1, \"b\" has 42")
  predicted <- as.data.frame(table)
  predicted[c("predicted_low", "predicted_high")] <- list(0.2, 0.8)
  refused(list(a = table, b = as_releases(predicted)), "predictions in the same range: \"a\" has none, \"b\" has 0.2 and 0.8")
  refused(other("permuted", TRUE), "permuted blocks, or none")
  refused(other("arm", ifelse(table$arm == "new", "old", as.character(table$arm))),
          "same arms: \"a\" has control, new and third, \"b\" has control, old and third")
  refused(list(a = dpts_releases(play(policy_gaussian_imed(0.5), 1000))), "independent noise")
  expect_error(dpts_releases(list(a = table), ended = "b"), "`ended`", class = "dpts_error_input")
})

test_that("a joined table keeps that a site has ended, and then that all have", {
  table <- function(seed, ...) dpts_releases(play(policy_randomised(mu = 1, block = 100), ..., seed = seed))
  sites <- list(a = table(1, 900), b = table(2, 200))
  joined <- dpts_releases(sites, ended = "b")
  expect_match(verdict(joined, error = 1e-30)$missing, "at this pace about [0-9,]+ more people in rounds of all sites[.]$")
  last <- joined[nrow(joined), ]
  expect_identical(list(last$event, as.character(last$site), last$t, last$n), list("end", "b", 1100, 0))
  expect_identical(nrow(evidence(joined[joined$t <= 900, ])), 6L * nrow(unique(evidence(joined[joined$t <= 900, ])["t"])))
  looks <- function(x) unique(evidence(x)$t)
  # Two rounds of both, and then each release of the one that goes on: at once, as the other's end is known
  expect_identical(looks(joined), c(200, 400, seq(500, 1100, by = 100)))
  ahead <- function(x) forecast(x, c(1100, 2000), runs = 20, seed = 1, block = 100)
  expect_identical(ahead(as_releases(joined)), ahead(joined))
  through <- future_laws(release_records(joined)$records[[1]], 2000, list(size = 100))
  expect_identical(lapply(through, `[`, c("site", "share")), list(list(site = 1L, share = 1)))
  both <- dpts_releases(sites, ended = c("a", "b"))
  expect_identical(both$event[both$event %in% "end"], c("end", "end"))
  expect_identical(ahead(both)$verdict, rep(as.double(!is.na(verdict(both)$arm)), 2)) # nobody comes any more
})

test_that("two sites with a store each reach the verdict by files alone", {
  skip_if_not_installed("RSQLite")
  script <- system.file("examples", "two_sites.R", package = "dpts", mustWork = TRUE)
  # Each process of the example is an environment here: a new one has to load all packages.
  run <- function(args) {
    process <- new.env(parent = globalenv())
    process$commandArgs <- function(trailingOnly = FALSE) c(if (!trailingOnly) c("R", paste0("--file=", script)), args)
    process$system2 <- function(command, args) {
      expect_identical(args[1], shQuote(script))
      run(gsub("'", "", args[-1]))
    }
    sys.source(script, process)
  }
  out <- withr::with_preserve_seed(utils::capture.output(run(character())))
  expect_match(paste(out, collapse = "\n"), "Sites:.*north and south.*1 new ")
})

test_that("sites together have planned the sum of their people, and looks only if all have the same", {
  site <- function(planned, looks) {
    as_releases(data.frame(arm = 1:2, block = 1, n = 50, sum = c(20, 30), chance = 0.5, planned = planned, looks = looks),
                noise = "none")
  }
  same <- dpts_releases(list(a = site(300, "0.5 pocock"), b = site(200, "0.5 pocock")))
  expect_equal(unique(same$planned), 500)
  expect_equal(unique(same$looks), "0.5 pocock")
  other <- dpts_releases(list(a = site(300, "0.5 pocock"), b = site(200, "0.75 pocock")))
  expect_equal(unique(other$planned), 500)
  expect_true(all(is.na(other[["looks"]]))) # there may be no such column
  # So it is with what a missing answer counts as.
  for (counts in list(c(0.25, 0.25), c(0.25, 0.75), c(0.25, NA), c(NA, 0.75))) {
    tables <- lapply(counts, function(missing) as_releases(transform(as.data.frame(site(300, "0.5 pocock")), missing = missing)))
    joined <- dpts_releases(list(a = tables[[1]], b = tables[[2]]))
    expect_equal(unique(joined[["missing"]]), if (length(unique(counts)) == 1) 0.25)
  }
  # Each site's people have the promise of their own policy.
  of <- function(name, seed) {
    dpts_releases(dpts_simulate(two_arms(), stats::setNames(list(policy_randomised(mu = 1, block = 50)), name), 100, runs = 1,
                                seed = seed, history = TRUE))
  }
  said <- function(one, two) names(attr(dpts_releases(list(north = of(one, 1), south = of(two, 2))), "guarantees"))
  expect_identical(said("a", "a"), "a")
  expect_identical(said("a", "b"), c("a at north", "b at south"))
})

test_that("sites of strata conclude as one experiment, in whatever order each of them names its strata", {
  world <- arms_strata(x = arms_bernoulli(c(0.3, 0.6)), y = arms_bernoulli(c(0.5, 0.4)), z = arms_bernoulli(c(0.2, 0.2)))
  one <- dpts_releases(dpts_simulate(world, policy_randomised(mu = 1, block = 60), 1500, runs = 1, seed = 1, history = TRUE))
  each <- one[!is.na(one$block) & !duplicated(one$block), ]
  look <- has_look(as.integer(each$stratum), as.vector(tapply(one$n, one$block, sum)), each$t, 3)
  one <- one[one$block <= max(which(look & each$block %% 2 == 0)), ] # all blocks are in the last look of both
  own <- c("arm", "rival", "control", "stratum", "evidence", "line", "difference", "lower", "upper") # looks differ
  said <- function(x) {
    found <- list(utils::tail(evidence(x, "tosses"), 2), effects(x), effects(x, by = "stratum"))
    lapply(found, function(rows) {
      rows <- as.data.frame(rows)[intersect(own, names(rows))]
      if (!is.null(rows$stratum)) rows <- rows[order(as.character(rows$stratum)), ]
      lapply(rows, as.vector)
    })
  }
  for (order in list(c("x", "y", "z"), c("z", "x", "y"))) {
    sites <- deal(one, c("a", "b"))
    sites$b$stratum <- factor(sites$b$stratum, order)
    expect_equal(suppressMessages(said(sites)), suppressMessages(said(one)))
  }
})

test_that("sites whose arms come and go conclude as one experiment, and say which arms began", {
  # Eight blocks of 60 people; the fourth arm came after the second one, and the second arm went after the sixth.
  table <- function(blocks) {
    each <- lapply(seq_along(blocks), function(i) {
      b <- blocks[i]
      arm <- if (b < 3) 1:3 else if (b < 7) 1:4 else c(1, 3, 4)
      data.frame(arm, block = i, n = 60, sum = c(10, 20, 40, 30)[arm] + b, chance = 1 / length(arm), t = 240 * i, event = NA)
    })
    moved <- function(after, arm, event) {
      data.frame(arm, block = NA, n = 0, sum = 0, chance = NA, t = 240 * sum(blocks <= after), event)
    }
    rows <- rbind(do.call(rbind, each[blocks < 3]), moved(2, 4, "added"), do.call(rbind, each[blocks > 2 & blocks < 7]),
                  moved(6, 2, "retired"), do.call(rbind, each[blocks > 6]))
    as_releases(transform(rows, floor = 0.5), "gaussian", 1)
  }
  one <- table(1:8)
  sites <- list(a = table(c(1, 3, 5, 7)), b = table(c(2, 4, 6, 8)))
  said <- function(x) {
    of <- evidence(x, "tosses")
    of <- of[of$t %% 480 == 0, ] # the looks of sites
    list(of$arm, of$rival, of$evidence, of$line, as.data.frame(effects(x, control = 1))[1:5], verdict(x)$arm)
  }
  expect_equal(said(sites), said(one))
  both <- dpts_releases(sites)
  expect_equal(both$arm[both$event %in% "begin"], 1:3)
  three <- dpts_releases(c(sites, list(c = sites$b)))
  expect_equal(as.data.frame(three)[three$event %in% c("added", "retired"), c("arm", "event")],
               data.frame(arm = c(4L, 2L), event = c("added", "retired")), ignore_attr = TRUE)
})
