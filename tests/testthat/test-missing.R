# effects(answered = ): the analysis with missing answers as they were counted, and as the worst and the best.

quiet <- function(expr) withr::with_options(list(rlib_message_verbosity = "quiet"), expr)

# The releases of people in blocks: rewards of 0 and 1, NA where nothing was answered, which counts `as`
blocks_of <- function(arm, reward, block, as = 0, sd = c(reward = 0, answered = 0)) {
  rows <- expand.grid(arm = levels(arm), block = unique(block), outcome = c("reward", "answered"), stringsAsFactors = FALSE)
  value <- list(reward = replace(reward, is.na(reward), as), answered = 1 - is.na(reward))
  own <- lapply(seq_len(nrow(rows)), function(i) which(arm == rows$arm[i] & block == rows$block[i]))
  rows$n <- lengths(own)
  rows$sum <- vapply(seq_along(own), function(i) sum(value[[rows$outcome[i]]][own[[i]]]), 0)
  rows$scale <- sd[rows$outcome]
  rows$sum <- rows$sum + rnorm(nrow(rows), 0, rows$scale)
  rows$noise <- ifelse(rows$scale > 0, "gaussian", "none")
  rows$t <- as.vector(cumsum(table(block))[as.character(rows$block)])
  rows$chance <- rows$floor <- 1 / nlevels(arm)
  if (nlevels(arm) > 2) rows$floor <- 0.5
  rows$block <- match(rows$block, unique(block)) + 0
  as_releases(rows)
}

test_that("the worst and the best are what imputed rewards give, without noise", {
  set.seed(1)
  n <- 600
  arm <- factor(sample(c("a", "b", "c"), n, TRUE))
  reward <- ifelse(runif(n) < 0.15, NA, rbinom(n, 1, c(a = 0.3, b = 0.4, c = 0.5)[arm]))
  block <- rep(1:3, each = 200)
  table <- blocks_of(arm, reward, block, as = 0.25)
  for (control in list("a", NULL)) {
    found <- quiet(effects(table, control, at = "end", answered = "answered", missing = 0.25))
    expect_equal(as.character(unique(found$missing)), c("released", "worst", "best"))
    pairs <- if (is.null(control)) 3 else 2
    expect_equal(nrow(found), 3 * pairs)
    for (i in seq_len(nrow(found))) {
      one <- found[i, ]
      low <- c(worst = 0, best = 1, released = 0.25)[[as.character(one$missing)]]
      high <- c(worst = 1, best = 0, released = 0.25)[[as.character(one$missing)]]
      filled <- ifelse(is.na(reward), ifelse(arm == one$control, high, low), reward)
      direct <- quiet(effects(blocks_of(arm, filled, block), as.character(one$control), at = "end", level = 1 - 0.05 * 2 / pairs))
      direct <- direct[direct$arm == one$arm, ]
      means <- tapply(filled, arm, mean)
      expect_equal(one$difference, means[[as.character(one$arm)]] - means[[as.character(one$control)]])
      expect_equal(c(one$lower, one$upper, one$p), c(direct$lower, direct$upper, direct$p), info = paste(i))
    }
  }
  expect_match(paste(ggplot2::ggplot_build(autoplot(found))$plot$labels$alt, collapse = ""), "missing: worst")
})

test_that("in other units the worst and the best are the same ones, and so is a given `missing`", {
  set.seed(5)
  arm <- factor(sample(c("a", "b"), 400, TRUE))
  reward <- ifelse(runif(400) < 0.2, NA, rbinom(400, 1, c(a = 0.4, b = 0.6)[arm]))
  table <- blocks_of(arm, reward, rep(1:2, each = 200), as = 0.25, sd = c(reward = 2, answered = 1))
  other <- table # from 10 to 50, where 0.25 is 20
  other[other$outcome == "reward", c("low", "high")] <- list(10, 50)
  of <- function(table, ...) quiet(effects(table, "a", at = "end", answered = "answered", ...))
  plain <- of(table, missing = 0.25, margin = 0.05)
  found <- of(other, missing = 20, margin = 2)
  for (name in c("difference", "lower", "upper")) expect_equal(found[[name]], 40 * plain[[name]])
  expect_equal(found$p, plain$p)
  expect_error(of(other, missing = 0.25), "`missing`", class = "dpts_error_input")
})

test_that("with a margin and at a look of a board the worst and the best are the tests that were asked for, too", {
  set.seed(3)
  arm <- factor(sample(c("a", "b"), 400, TRUE))
  reward <- ifelse(runif(400) < 0.1, NA, rbinom(400, 1, 0.5))
  block <- rep(1:2, each = 200)
  as <- list(released = c(a = 0, b = 0), worst = c(a = 1, b = 0), best = c(a = 0, b = 1))
  for (ask in list(list(margin = 0.15), list(looks = 0.5, people = 800, spending = "pocock"))) {
    say <- function(table, ...) quiet(do.call(effects, c(list(table, "a", at = "end"), ask, list(...))))
    found <- say(blocks_of(arm, reward, block), answered = "answered", missing = 0)
    for (i in 1:3) {
      filled <- ifelse(is.na(reward), as[[as.character(found$missing[i])]][arm], reward)
      direct <- say(blocks_of(arm, filled, block))
      expect_equal(unlist(found[i, names(direct)]), unlist(direct))
    }
  }
})

test_that("of arms that were retired nothing is said, and the others are themselves", {
  set.seed(4)
  n <- 600
  arm <- factor(sample(c("a", "b", "c"), n, TRUE))
  reward <- ifelse(runif(n) < 0.15, NA, rbinom(n, 1, c(a = 0.3, b = 0.4, c = 0.7)[arm]))
  retired <- function(table, gone) {
    rows <- transform(as.data.frame(table), event = NA)
    went <- transform(rows[!duplicated(rows$outcome), ], arm = gone, n = 0, sum = 0, t = 600, chance = NA, block = NA, event = "retired")
    rows <- rbind(rows, went)
    as_releases(rows[order(rows$outcome == "answered"), ])
  }
  for (gone in c("a", "c")) {
    table <- retired(blocks_of(arm, reward, rep(1:3, each = 200)), gone)
    left <- setdiff(c("a", "b", "c"), gone)
    for (control in c(left, list(NULL))) {
      found <- quiet(effects(table, control, at = "end", answered = "answered", missing = 0))
      level <- if (is.null(control)) 1 - 0.05 * 2 / 3 else 0.95 # of three pairs two are with the rival
      expect_equal(as.character(found$control), rep(control %||% left[1], 3))
      expect_equal(as.character(found$arm), rep(setdiff(left, control %||% left[1]), 3))
      for (i in 1:3) {
        as <- list(released = c(0, 0), worst = c(0, 1), best = c(1, 0))[[as.character(found$missing[i])]]
        filled <- ifelse(is.na(reward), as[1 + (arm == found$control[1])], reward)
        direct <- quiet(effects(retired(blocks_of(arm, filled, rep(1:3, each = 200)), gone), as.character(found$control[1]), level, at = "end"))
        expect_equal(unlist(found[i, names(direct)]), unlist(direct))
      }
    }
    expect_error(quiet(effects(table, gone, at = "end", answered = "answered", missing = 0)), "`control`", class = "dpts_error_input")
  }
  # Of two arms one is left.
  pair <- retired(blocks_of(factor(ifelse(arm == "c", "a", as.character(arm))), reward, rep(1:3, each = 200)), "a")
  expect_identical(nrow(quiet(effects(pair, at = "end", answered = "answered", missing = 0))), 0L)
})

test_that("with noise the intervals hold the difference that all answers would have given", {
  skip_on_cran()
  set.seed(2)
  held <- replicate(60, {
    n <- 800
    arm <- factor(sample(c("a", "b"), n, TRUE))
    reward <- ifelse(runif(n) < c(a = 0.05, b = 0.2)[arm], NA, rbinom(n, 1, 0.4))
    table <- blocks_of(arm, reward, rep(1:2, each = 400), sd = c(reward = 4, answered = 3))
    found <- quiet(effects(table, "a", at = "end", answered = "answered", missing = 0))
    truth <- c(0.8 - 0.95, 0.8 - 0.95, 0.8 - 0.95) * 0.4 + c(0, -0.05, 0.2)
    found$lower <= truth & truth <= found$upper
  })
  # The released row, too: with missing answers as 0
  expect_gt(min(rowMeans(held)), 0.95 - 3 * sqrt(0.05 * 0.95 / 60))
  expect_lt(max(rowMeans(held)), 1) # and they are not much wider than that needs
})

test_that("an agent knows what a missing answer counted as, and errors say how to plan", {
  turn <- test_clock()
  agent <- dpts_agent(policy_randomised(block = 20), c("a", "b"), deadline = hours(1), use = "deadline", missing = 1,
                      outcomes = list(answered = agent_outcome(missing = 0)))
  choice <- agent_choose(agent, 60)
  some <- seq(1, 60, 3)
  agent_reward(agent, choice$ticket[some], rep(0:1, 10))
  agent_reward(agent, choice$ticket[some], rep(1, 20), outcome = "answered")
  turn(4000)
  agent_finish(agent)
  found <- quiet(effects(agent, "a", at = "end", answered = "answered"))
  reward <- replace(rep(NA, 60), some, rep(0:1, 10))
  of <- function(b, a) {
    filled <- ifelse(is.na(reward), ifelse(choice$arm == "b", b, a), reward)
    mean(filled[choice$arm == "b"]) - mean(filled[choice$arm == "a"])
  }
  expect_equal(found$difference, c(of(1, 1), of(0, 1), of(1, 0)))
  bad <- function(what, ..., x = agent, at = "end") expect_error(effects(x, at = at, ...), what, class = "dpts_error_input")
  bad("`answered` must be the name.*one of answered.*Plan it", answered = "harm")
  bad("`at`", answered = "answered", at = "any")
  for (outcome in list("answered", NULL)) bad("`outcome`", answered = "answered", outcome = outcome)
  bad("`missing`", missing = 0)
  bad("`missing` must be 1, as the releases say", answered = "answered", missing = 0)
  expect_identical(quiet(effects(agent, "a", at = "end", answered = "answered", missing = 1)), found)
  guessed <- dpts_agent(policy_randomised(block = 20, outcome = "continuous", predicted = c(0, 1)), c("a", "b"), deadline = hours(1),
                        outcomes = list(answered = agent_outcome(missing = 0)))
  bad("with predictions", answered = "answered", x = guessed)
  plain <- dpts_agent(policy_randomised(block = 20), c("a", "b"), use = "arrival")
  bad("Plan it before the first person", answered = "answered", x = plain)
  table <- blocks_of(factor(rep(c("a", "b"), 100)), rep(0:1, 100), rep(1:2, each = 100))
  laplace <- table
  laplace$noise[] <- "laplace"
  laplace$scale[] <- 1
  bad("Gaussian noise", answered = "answered", missing = 0, x = laplace)
  bad("same blocks", answered = "answered", missing = 0, x = table[seq_len(nrow(table) - 2), ])
  bad("`missing` must be given", answered = "answered", x = table)
  # The table says it, too, in memory and in a file.
  releases <- dpts_releases(agent)
  expect_identical(unique(releases$missing), c(1, NA))
  expect_identical(quiet(effects(releases, "a", at = "end", answered = "answered")), found)
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(releases, file, row.names = FALSE)
  read <- as_releases(utils::read.csv(file))
  expect_identical(as.data.frame(quiet(effects(read, "a", at = "end", answered = "answered")))[-(2:3)], as.data.frame(found)[-(2:3)])
  shifted <- as_releases(data.frame(arm = c("a", "b"), n = 10, sum = 20, outcome = "reward", missing = 3), "none", range = c(1, 5))
  expect_identical(unique(shifted$missing), 0.5)
  expect_error(as_releases(data.frame(arm = "a", n = 10, sum = 2, missing = 3), "none"), "missing", class = "dpts_error_input")
  # Of sites it is what all of them say.
  other <- releases
  other$missing[] <- 0
  both <- dpts_releases(list(one = releases, two = releases))
  expect_identical(unique(both$missing), 1)
  expect_null(dpts_releases(list(one = releases, two = other))[["missing"]])
})

test_that("a missing answer that is to count by a half more has a half of the noise of the number of answers", {
  table <- function(sum, scale) {
    as_releases(data.frame(arm = 1:2, block = 1, n = 50, sum = sum, chance = 0.5), noise = "gaussian", scale = scale)
  }
  found <- dpts:::imputed_table(table(c(20, 30), 2), table(c(40, 45), 3), c(0.5, -0.5))
  expect_equal(found$sum, c(20 + 0.5 * (50 - 40), 30 - 0.5 * (50 - 45)))
  expect_equal(found$scale, rep(sqrt(2^2 + 0.5^2 * 3^2), 2))
})

test_that("blocks of strata whose answers are released in another order are matched by stratum", {
  table <- function(stratum, n, sum) {
    as_releases(data.frame(t = c(120, 120, 240, 240), block = c(1, 1, 2, 2), arm = 1:2, n, sum, stratum = rep(stratum, each = 2),
                           chance = 0.5, floor = 0.5), "gaussian", 1)
  }
  found <- imputed_table(table(c("x", "y"), c(50, 60, 20, 30), c(10, 20, 5, 6)),
                         table(c("y", "x"), c(20, 30, 50, 60), c(15, 25, 40, 48)), c(1, 0.5, 1, 1))
  expect_equal(found$sum, c(20, 26, 10, 11))
  expect_equal(found$scale, sqrt(c(2, 1.25, 2, 2)))
})
