# What an agent's releases prove

skip_on_cran() # takes seconds

test_that("an agent concludes as its policy does, from the table that its store keeps, in every store", {
  each_database(function(store) {
    agent <- dpts_agent(policy_top_two(mu = 5, error = 0.05), c("a", "b", "c"), store, use = "arrival", range = c(0, 2))
    expect_identical(verdict(agent)$arm, factor(NA, c("a", "b", "c")))
    expect_identical(nrow(evidence(agent)), 0L)
    withr::local_seed(4)
    # Twenty at a time: batches of several arms end in one call, and each is a look of its own.
    for (i in 1:200) {
      x <- agent_choose(agent, 20)
      agent_reward(agent, x$ticket, 2 * stats::rbinom(20, 1, c(0.2, 0.8, 0.3)[as.integer(x$arm)]))
      expect_identical(as.integer(verdict(agent)$arm), session_verdict(agent$session))
      if (!is.na(session_verdict(agent$session))) break
    }
    v <- verdict(agent)
    expect_identical(as.integer(v$arm), session_verdict(agent$session))
    expect_named(v, c("arm", "t", "wrong", "missing"))
    expect_lte(v$wrong, 0.05)
    e <- estimates(agent)
    table <- agent$store$releases(0)
    expect_equal(as.numeric(tapply(table$size, table$arm, sum)), e$rewards)
    sums <- as.numeric(tapply(table$sum, table$arm, sum))
    expect_equal(pmin(pmax(sums / e$rewards, 0), 1) * 2, e$mean, tolerance = 1e-5)
    shown <- evidence(agent)
    expect_named(shown, c("t", "arm", "rival", "evidence", "line", "p"))
    expect_equal(unique(shown$line), log(2 / 0.05))
    effect <- effects(agent, control = "a", level = 1 - 1e-10)
    expect_identical(as.character(effect$arm), c("b", "c"))
    expect_true(effect$lower[1] <= 1.2 && effect$upper[1] >= 1.2 && effect$upper[1] <= 2) # in the rewards' own unit
    if (is.character(store)) {
      agent_close(agent)
      agent <- agent_open(store)
      expect_identical(verdict(agent), v)
    }
    agent_close(agent)
  })
})

test_that("several releases of one change are rows of their own, and the final one is cut short", {
  turn <- test_clock()
  agent <- dpts_agent(policy_gaussian_imed(1, first = 2, ratio = 1.8, correlation = 0), 2, use = "deadline", deadline = hours(1))
  agent_choose(agent, 60)
  turn(3601)
  e <- estimates(agent)
  table <- agent$store$releases(0)
  expect_equal(as.numeric(table(table$arm)), e$releases)
  expect_true(all(table$terms == 1 & table$whole == 1))
  agent_choose(agent, 20)
  turn(100)
  looks <- nrow(evidence(agent))
  agent_finish(agent)
  expect_true(all(agent$store$releases(0)$whole[-seq_along(table$arm)] == 0))
  expect_equal(nrow(evidence(agent)), looks)
  expect_error(evidence(dpts_agent(policy_ucb1(), 2, use = "arrival")), "releases no sums", class = "dpts_error_input")
})

test_that("which arms are retired may follow what was released: what is left is no surer for it", {
  withr::local_seed(1)
  for (policy in list(policy_randomised(epsilon = 4, rule = "thompson", block = 40), policy_gaussian_imed(5, first = 5))) {
    agent <- dpts_agent(policy, c("a", "b", "c", "d"), use = "arrival")
    for (i in 1:10) {
      x <- agent_choose(agent, 40)
      agent_reward(agent, x$ticket, c(0, 0.5, 1, 0.9)[as.integer(x$arm)])
    }
    all <- effects(agent)
    shown <- evidence(agent)
    expect_lt(min(all$p), 0.05)
    one <- effects(agent, control = "a")
    agent_arms(agent, retire = c("b", "c"))
    kept <- c("arm", "control", "lower", "upper", "p")
    expect_equal(lapply(effects(agent)[kept], as.vector), lapply(all[all$arm == "d" & all$control == "a", kept], as.vector))
    expect_equal(effects(agent, control = "a")$lower, one$lower[one$arm == "d"])
    left <- shown$evidence[!shown$arm %in% c("b", "c") & !shown$rival %in% c("b", "c")]
    # What is announced of correlated releases goes by the line, which is higher then.
    if (correlation_of(policy) > 0) next
    expect_equal(evidence(agent)$evidence, left)
    # Of the 12 ordered pairs of four arms at most 6 would be wrong, whichever stay: each has a ninth of the error.
    expect_equal(unique(evidence(agent)$line), log(9 / 0.05))
  }
})

test_that("against a rate, arms that come have a part of the error probability that nothing changes", {
  agent <- dpts_agent(policy_gaussian_imed(5, correlation = 0), c("a", "b"), use = "arrival")
  expect_identical(nrow(evidence(agent, against = 0.5)), 0L)
  agent_arms(agent, add = c("c", "d"))
  withr::local_seed(1)
  for (i in 1:5) {
    x <- agent_choose(agent, 40)
    agent_reward(agent, x$ticket, stats::rbinom(40, 1, 0.5))
  }
  agent_arms(agent, retire = "c")
  e <- evidence(agent, against = 0.5)
  expect_equal(sort(unique(e$line)), log(2 * c(3, 20) / 0.05)) # 1 / (2 + 1) each of a and b, 1 / (4 * 5) of d
  expect_equal(unique(e$line[e$arm == "d"]), log(40 / 0.05))
  # Of several runs in one table each is as alone, whichever had arms added.
  one <- transform(as.data.frame(dpts_releases(agent)), arm = as.character(arm))
  tables <- list(w = one[one$arm %in% c("a", "b") & is.na(one$event), ], x = one)
  found <- evidence(as_releases(rbind(cbind(problem = "w", tables$w), cbind(problem = "x", tables$x))), against = 0.5)
  for (p in names(tables)) {
    own <- evidence(as_releases(tables[[p]]), against = 0.5)
    expect_equal(found$line[found$problem == p], own$line)
    expect_equal(found$p[found$problem == p], own$p)
  }
})

test_that("blocks of different arms that are released at one time stay apart", {
  # As doubles the chances of a block need not add up to 1.
  for (floor in list(0.1, c(0.1, 0.3))) {
    policy <- policy_randomised(block = 20, floor = floor, control = if (length(floor) == 2) 1)
    agent <- dpts_agent(policy, c("a", "b", "c", "d", "e"), use = "arrival")
    first <- agent_choose(agent, 40, offer = 1:2)
    second <- agent_choose(agent, 20, offer = 3:5)
    agent_reward(agent, second$ticket, 0)
    agent_reward(agent, rev(first$ticket), 1)
    # Each reward releases the next block that waits.
    agent_reward(agent, agent_choose(agent, 20, offer = 1:2)$ticket, 1)
    # People who do well had the first two arms on offer, and who does not, the others: nothing compares these.
    apart <- function() {
      shown <- evidence(agent, "tosses")
      shown$evidence[(shown$arm %in% c("a", "b")) != (shown$rival %in% c("a", "b"))]
    }
    expect_identical(unique(apart()), 0)
    agent_arms(agent, retire = "b")
    expect_identical(unique(apart()), 0)
  }
})

test_that("an arm that went before the first release is where it was in every look", {
  agent <- dpts_agent(policy_randomised(mu = 1e6, block = 60), c("a", "b", "c"), use = "arrival")
  first <- agent_choose(agent, 55) # nobody gets b with probability 2e-10
  agent_arms(agent, retire = "b")
  more <- agent_choose(agent, 245)
  agent_reward(agent, first$ticket, 0.5)
  agent_reward(agent, more$ticket, ifelse(more$arm == "a", 0, 1))
  found <- estimates(agent)
  expect_identical(as.character(found$arm), c("a", "b", "c"))
  expect_identical(levels(dpts_releases(agent)$arm), c("a", "b", "c"))
  expect_equal(found$rewards[2], sum(first$arm == "b"))
  expect_equal(found$mean[2], 0.5, tolerance = 1e-4)
  expect_lt(found$mean[1], 0.4)
  expect_gt(found$mean[3], 0.6)
})

test_that("the release table says when each arm came and went", {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 5), c("a", "b"), use = "arrival")
  play <- function(n) for (i in seq_len(n)) agent_reward(agent, agent_choose(agent)$ticket, 1)
  play(7)
  agent_arms(agent, add = "c")
  play(4)
  agent_arms(agent, add = c("d", "e"), retire = "a")
  play(20)
  agent_arms(agent, retire = "d")
  x <- dpts_releases(agent)
  x <- x[!is.na(x$event) & x$event != "begin", ]
  expect_identical(paste(x$t, x$arm, x$event)[order(x$t, x$arm)],
                   c("7 c added", "11 a retired", "11 d added", "11 e added", "31 d retired"))
  # In their order, with what holds for all rows
  agent_finish(agent)
  all <- dpts_releases(agent)
  expect_false(is.unsorted(all$t))
  expect_identical(unlist(utils::tail(all[c("t", "event")], 1)), c(t = "31", event = "end"))
  expect_false(anyNA(all[c("low", "high", "grid", "floor")]))
  expect_null(x[["missing"]]) # what no answer counts as is said where there are other outcomes
})

test_that("arms that come share the chance of a wrong verdict, and those that go are left out", {
  agent <- dpts_agent(policy_randomised(mu = 5, block = 40), c("a", "b"), use = "arrival")
  play <- function(n) {
    for (i in seq_len(n)) {
      x <- agent_choose(agent, 40)
      agent_reward(agent, x$ticket, ifelse(x$arm == "b", 0.9, 0.1))
    }
  }
  play(10)
  line <- function(...) tapply(evidence(agent, ..., error = 0.1)$line, evidence(agent, ...)$arm, unique)
  expect_equal(line("tosses"), c(a = log(10), b = log(10)), ignore_attr = TRUE)
  expect_identical(as.character(verdict(agent, 0.1)$arm), "b")
  agent_arms(agent, add = c("c", "d"))
  expect_true(is.na(verdict(agent, 0.1)$arm)) # nothing is known of the new ones
  play(10)
  shares <- c(1 / 3, 1 / 3, 1 / 12, 1 / 20)
  expect_lt(sum(shares) + sum(1 / (5:1e4 * 6:10001)), 1)
  expect_equal(as.numeric(line("tosses")), -log(0.1 * shares))
  expect_identical(as.character(verdict(agent, 0.1)$arm), "b")
  agent_arms(agent, retire = "a")
  expect_equal(as.numeric(line("means"))[-1], -log(0.1 * shares[-1] / 3))
  expect_setequal(as.character(evidence(agent)$rival), c("b", "c", "d"))
  expect_setequal(as.character(effects(agent)$arm), c("c", "d"))
  # With one arm left there is no pair, so that nothing says it is the best.
  agent_choose(agent, 7) # of whom nothing is released when the arms go
  agent_arms(agent, retire = c("c", "d"))
  expect_identical(effects(agent)$difference, numeric())
  expect_identical(effects(agent, at = "end")$p, numeric())
  left <- verdict(agent)
  expect_true(is.na(left$arm))
  expect_equal(left[c("t", "wrong")], tibble::tibble(t = max(dpts_releases(agent)$t), wrong = 1), ignore_attr = TRUE)
  expect_match(left$missing, "b alone is left")
})

test_that("of a local agent the blocks of bits are evidence, and bits that nothing gathers are none", {
  withr::local_seed(1)
  local <- function(policy) dpts_agent(policy_local(policy, 2), c("a", "b"), use = "arrival", range = c(0, 10))
  agent <- local(policy_randomised(block = 100))
  chosen <- agent_choose(agent, 600)
  agent_reward(agent, chosen$ticket, 10 * stats::rbinom(600, 1, ifelse(chosen$arm == "b", 0.9, 0.1)))
  expect_identical(as.character(verdict(agent)$arm), "b")
  effect <- effects(agent)
  certain <- effects(agent, level = 1 - 1e-10) # bits and tosses are live
  expect_true(effect$lower > 0 && certain$lower <= 8 && certain$upper >= 8 && effect$upper <= 10)
  expect_error(verdict(local(policy_imed())), "an agent keeps their sums, not when they came", class = "dpts_error_verdict")
  expect_error(verdict(local(policy_dp_imed(1))), "`x` must allow a verdict: .* has a guarantee of its own", class = "dpts_error_verdict")
})

test_that("who wins is the arm of the verdict, though one that was there in a better season has the higher mean", {
  withr::local_seed(3)
  agent <- dpts_agent(policy_randomised(mu = 5, block = 50), c("a", "b"), use = "arrival")
  season <- function(weeks, ...) {
    for (i in seq_len(weeks)) {
      x <- agent_choose(agent, 250)
      agent_reward(agent, x$ticket, c(...)[as.character(x$arm)])
    }
  }
  # Tosses and noise are live: what is asked below is 7 deviations and more from another answer.
  season(6, a = 0.9, b = 0.7)
  agent_arms(agent, add = "c")
  season(4, a = 0.1, b = 0.1, c = 0.5)
  expect_identical(which.max(estimates(agent)$lower), 1L)
  expect_identical(as.character(verdict(agent)$arm), "c")
  agent_finish(agent, then = "verdict")
  expect_identical(as.character(agent_choose(agent)$arm), "c")
  agent_arms(agent, retire = "c")
  expect_identical(as.character(agent_choose(agent)$arm), "a")
})

test_that("people who are in no block do not make the last block look cut, and a reward that is out does", {
  skip_if_not_installed("RSQLite")
  play <- function(leave_out = function(agent, ask) NULL, out = 0, ...) {
    file <- withr::local_tempfile(fileext = ".sqlite")
    agent <- dpts_agent(policy_randomised(mu = 1, block = 20), c("a", "b", "c"), file, use = "arrival", ...)
    ask <- function(n, ...) {
      stratum <- if (!is.null(agent$terms$strata)) rep_len(agent$terms$strata, n)
      agent_reward(agent, agent_choose(agent, n, ..., stratum = stratum)$ticket, 0.5)
    }
    leave_out(agent, ask)
    if (is.null(agent$terms$max_per_person)) ask(13) else ask(13, person = paste(101:113))
    if (out > 0) agent_choose(agent, out)
    agent_close(agent)
    agent <- agent_open(file)
    agent_finish(agent)
    found <- dpts_releases(agent)
    agent_close(agent)
    found[is.na(found$event), ]
  }
  others <- function(agent, ask) {
    ask(25)
    ask(4, offer = c("a", "b"))
  }
  # 25 fill the first block, and its last five are in the second, with the 13 who come at the end.
  x <- play(others)
  expect_identical(x$whole, rep(TRUE, 6))
  expect_equal(sum(x$n), 38)
  expect_identical(play(others, out = 1)$whole, rep(c(TRUE, FALSE), each = 3))
  x <- play(others, strata = c("x", "y"))
  expect_identical(x$whole, rep(TRUE, 6)) # 13 and 12, 7 and 6: of x 20, which are full, and of y 18
  expect_equal(sum(x$n), 38)
  # Nobody is in a block twice.
  x <- play(function(agent, ask) for (i in 1:2) ask(15, person = paste(1:15)), max_per_person = 2)
  expect_true(all(x$whole))
  # Returned tickets: all of a block, and the first of the next
  x <- play(function(agent, ask) agent_return(agent, agent_choose(agent, 23, key = "k")$ticket))
  expect_identical(x$whole, rep(TRUE, 3))
  expect_equal(sum(x$n), 13)
  # More than 16 blocks wait: who comes then is in none.
  x <- play(function(agent, ask) {
    first <- agent_choose(agent, 16 * 20)
    ask(5)
    agent_reward(agent, first$ticket, 0.5)
  })
  expect_identical(x$whole, rep(TRUE, 17 * 3))
  expect_equal(sum(x$n), 16 * 20 + 13)
})

test_that("with strata, too, a block of which all tickets were returned is gone, also for other outcomes", {
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(block = 5), c("a", "b"), use = "arrival", strata = c("x", "y"),
                      outcomes = list(harm = agent_outcome(missing = 0, deadline = hours(1))))
  agent_return(agent, agent_choose(agent, 5, stratum = rep("y", 5), key = "k")$ticket)
  x <- agent_choose(agent, 5, stratum = rep("y", 5))
  agent_reward(agent, x$ticket, 1, outcome = "harm")
  agent_reward(agent, x$ticket, 0)
  turn(3601)
  harm <- dpts_releases(agent)
  expect_equal(sum(harm$sum[harm$outcome %in% "harm"]), 5)
})

test_that("what an agent concludes goes on from what it knew, and is that of its release table", {
  weighed <- 0
  local_function("weigh_releases", function(weigh) function(...) {
    weighed <<- weighed + 1
    weigh(...)
  })
  all_of <- function(x, kinds) {
    suppressMessages(c(lapply(kinds, function(kind) evidence(x, kind)), list(evidence(x, against = 0.4), verdict(x),
                       verdict(x, margin = 0.1), effects(x), effects(x, at = "end", level = 0.9), estimates(x))))
  }
  policies <- list(
    policy_randomised(mu = 2, block = 20, outcome = "continuous"), policy_randomised(epsilon = 1, block = 30, permuted = TRUE),
    policy_top_two(mu = 3), policy_gaussian_imed(mu = 2, correlation = 0.5))
  for (policy in policies) {
    tosses <- dpts:::tosses_people(policy)
    permuted <- isTRUE(policy$params$permuted > 0)
    kinds <- c("means", if (tosses) "tosses")
    store <- withr::local_tempfile(fileext = ".sqlite")
    agent <- dpts_agent(policy, c("a", "b", "c"), store, use = "arrival")
    other <- agent_open(store) # which knows of some of it alone
    withr::local_seed(3)
    for (i in 1:3) {
      x <- agent_choose(agent, 45)
      agent_reward(agent, x$ticket, stats::rbinom(45, 1, c(0.2, 0.8, 0.3, 0.5)[as.integer(x$arm)]))
      if (i == 2 && dpts:::is_true_of(policy, "grows")) agent_arms(agent, add = "d", retire = "a")
      if (i == 3) agent_finish(agent)
      fresh <- agent_open(store)
      table <- dpts_releases(fresh)
      agent_close(fresh)
      for (handle in list(agent, if (i > 1) other)) {
        if (is.null(handle)) next
        expect_identical(dpts_releases(handle), table, info = policy$name)
        if (permuted || policy$params$correlation %||% 0 > 0 || !tosses) {
          by <- function(x) suppressMessages(c(lapply(kinds, function(kind) evidence(x, kind)), list(verdict(x), effects(x))))
          if (permuted) by <- function(x) suppressMessages(list(evidence(x, "tosses"), verdict(x)))
        } else by <- function(x) all_of(x, kinds)
        if (identical(handle, agent)) said <- by(table)
        expect_identical(by(handle), said, info = policy$name)
        if (i == 3) expect_identical(by(handle), said, info = policy$name) # nothing new
      }
    }
    agent_close(agent)
    agent_close(other)
  }
  expect_gt(weighed, 60)
})

test_that("only what is new is weighed, in slices, and what a store that went back no longer has is forgotten", {
  agent <- dpts_agent(policy_randomised(mu = 2, block = 30), c("a", "b"), use = "arrival")
  play <- function(blocks) for (i in seq_len(blocks)) agent_reward(agent, agent_choose(agent, 30)$ticket, 1)
  slices <- function(x) {
    agent$memory$seconds <- 0 # one look each
    on.exit(agent$memory$seconds <- Inf)
    for (n in 1:100) {
      out <- tryCatch(suppressMessages(evidence(x, "tosses")), dpts_more_to_weigh = function(e) NULL)
      if (!is.null(out)) return(list(n, out))
    }
  }
  play(6)
  first <- slices(agent)
  expect_equal(first[[1]], 6)
  expect_identical(first[[2]], evidence(dpts_releases(agent), "tosses"))
  play(1)
  expect_equal(slices(agent)[[1]], 1)
  play(3)
  again <- slices(agent)
  expect_equal(again[[1]], 3)
  expect_identical(again[[2]], evidence(dpts_releases(agent), "tosses"))
  # Others ask other questions meanwhile. The oldest is forgotten, and costs a beginning.
  for (error in c(0.1, 0.2, 0.3, 0.4)) evidence(agent, "tosses", error = error)
  expect_equal(slices(agent)[[1]], 10)
  # Who wins is known within the change that ends it.
  play(4)
  agent$memory$seconds <- 0
  expect_no_error(agent_finish(agent, "verdict"))
  # What is known is not what the store has: it was put back, and then others went on from there.
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_randomised(mu = 2, block = 30), c("a", "b"), file, use = "arrival")
  play(2)
  copy <- agent_backup(agent, withr::local_tempfile(fileext = ".sqlite"))
  table <- dpts_releases(agent)
  for (time in 1:3) {
    others <- c(0, 1, 6)[time]
    play(4)
    overview(agent)
    expect_gte(nrow(dpts_releases(agent)), 12)
    put_back(file, copy)
    other <- agent_open(file)
    for (i in seq_len(others)) agent_reward(other, agent_choose(other, 30)$ticket, 0)
    for (i in seq_len(time)) agent_restored(other) # the copy does not know of the times before
    expect_identical(dpts_releases(agent), dpts_releases(other))
    expect_identical(dpts_releases(agent)$sum[seq_len(nrow(table))], table$sum)
    expect_identical(evidence(agent, "tosses"), evidence(dpts_releases(other), "tosses"))
    shown <- lapply(list(agent, other), function(agent) {
      agent$cache <- NULL
      overview(agent)
    })
    shown[[1]]$now <- shown[[2]]$now
    expect_equal(shown[[1]], shown[[2]])
    agent_close(other)
  }
  agent_close(agent)
})

test_that("numbers are told with the least of 15 and 17 digits from which they read back", {
  withr::local_seed(1)
  x <- c(stats::rnorm(300) * 10^(-150:149), round(stats::rnorm(300), 0:11), signif(stats::rnorm(200) * 10^(-10:9), 15),
         signif(stats::rexp(200), 16), 2^-1074, 3e-310, .Machine$double.xmax, 1e15, 1e15 - 1, 999999999999999.9, 1e300, -5, 0,
         -0.1, 1 / 3, 123456789012345, 1234567890123456, 10^(-20:20), 10^(-20:20) * (1 + 2^-52), 10^(0:20) - 2^-30)
  short <- sprintf("%.15g", x)
  expect_identical(dpts:::api_json(x), sprintf("[%s]", paste(ifelse(as.numeric(short) == x, short, sprintf("%.17g", x)), collapse = ",")))
  frame <- data.frame(a = c(1, NA), b = factor(c('q"', NA)), "c d" = c("x", NA), check.names = FALSE)
  expect_identical(dpts:::api_json(frame), '[{"a":1,"b":"q\\"","c d":"x"},{"a":null,"b":null,"c d":null}]')
})

test_that("a verdict of an agent says that the arm which it names is paused", {
  agent <- dpts_agent(policy_randomised(mu = 5, block = 100), c("a", "b"), use = "arrival")
  x <- agent_choose(agent, 400)
  agent_reward(agent, x$ticket, as.numeric(x$arm == "b"))
  said <- verdict(agent)
  expect_identical(as.character(said$arm), "b")
  expect_false(any(grepl("paused", format(said))))
  agent_arms(agent, pause = "a")
  expect_identical(verdict(agent), said) # another one is
  agent_arms(agent, pause = "b", resume = "a")
  expect_identical(format(verdict(agent)), c(format(said), "paused: nobody gets \"b\" until `agent_arms(resume = )`."))
  expect_equal(verdict(agent), verdict(dpts_releases(agent)), ignore_attr = "paused")
  agent_arms(agent, resume = "b")
  expect_identical(verdict(agent), said)
})

test_that("while the leader or its rival is paused, no number of people is said to be missing", {
  # A share of each arm's people have a reward of 1, evenly: too few more of b for a verdict, whoever gets which.
  open_agent <- function(mean = c(a = 0.5, b = 0.58)) {
    agent <- dpts_agent(policy_randomised(mu = 5, block = 50), names(mean), use = "arrival")
    x <- agent_choose(agent, 200)
    share <- mean[as.character(x$arm)]
    agent_reward(agent, x$ticket, unname(stats::ave(share, x$arm, FUN = function(m) diff(floor(c(0, cumsum(m) + 1e-9))))))
    agent
  }
  agent <- open_agent()
  shown <- function() vapply(list(verdict(agent)$missing, concluded(agent, "verdict")$missing,
                                  jsonlite::fromJSON(conclude_route("verdict")(agent, list())$body)$missing), identity, "")
  before <- verdict(agent)
  expect_match(before$missing, "^b leads a by [0-9.]+; (at this pace about [0-9,]+|too early to say how many) more people[.]$")
  for (one in c("a", "b")) {
    agent_arms(agent, pause = one)
    now <- verdict(agent)
    expect_identical(now$missing, sub(";.*", sprintf("; no more people are compared while %s is paused.", one), before$missing))
    expect_identical(utils::tail(format(now), 1), sprintf("paused: nobody gets \"%s\" until `agent_arms(resume = )`.", one))
    expect_identical(now[c("arm", "t", "wrong")], before[c("arm", "t", "wrong")], ignore_attr = TRUE)
    expect_identical(verdict(dpts_releases(agent)), before) # which does not know it
    # The page and the service keep what they said last, and say it anew.
    if (rlang::is_installed("jsonlite")) expect_identical(shown(), rep(now$missing, 3))
    agent_arms(agent, resume = one)
    expect_identical(verdict(agent), before)
    if (rlang::is_installed("jsonlite")) expect_identical(shown(), rep(before$missing, 3))
  }
  agent_arms(agent, pause = c("a", "b"))
  expect_match(verdict(agent)$missing, "no more people are compared while a and b are paused", fixed = TRUE)
  # Of sites those are paused that nobody gets at any; and a third arm does not matter.
  both <- list(north = agent, south = open_agent())
  expect_no_match(verdict(both)$missing, "paused")
  agent_arms(both$south, pause = "a")
  expect_match(verdict(both)$missing, "while a is paused", fixed = TRUE)
  agent_arms(agent, resume = "a")
  expect_match(verdict(both)$missing, "while a and b are paused", fixed = TRUE) # each at one site
  agent_arms(agent, pause = "a", resume = "b")
  agent_arms(both$south, resume = "a")
  # A site that has ended has no say.
  ended <- list(north = agent, south = open_agent(), east = open_agent())
  expect_no_match(verdict(ended)$missing, "paused")
  for (site in c("south", "east")) agent_finish(ended[[site]])
  expect_match(verdict(ended)$missing, "while a is paused", fixed = TRUE)
  expect_match(format(verdict(ended)), "nobody gets \"a\"", all = FALSE)
  expect_identical(verdict(list(north = agent, south = dpts_agent(agent$terms$policy, c("a", "b"), use = "arrival")))$missing,
                   "Not all sites were released yet.")
  three <- open_agent(c(a = 0.1, b = 0.55, c = 0.65))
  agent_arms(three, pause = "a")
  expect_no_match(verdict(three)$missing, "paused")
  expect_match(format(verdict(three)), "nobody gets \"a\"", all = FALSE)
  # After the end nobody comes at all, whatever was released.
  early <- dpts_agent(policy_randomised(mu = 5, block = 50), c("a", "b"), use = "arrival")
  expect_identical(verdict(early)$missing, "Nothing was released yet.")
  agent_reward(early, agent_choose(early, 20)$ticket[1:12], 1)
  agent_finish(early)
  expect_identical(verdict(early)$missing, "Nothing was released yet of which all rewards are in; nobody comes any more.")
  agent_finish(agent)
  expect_match(verdict(agent)$missing, "^b leads a by [0-9.]+; nobody comes any more[.]$")
})
