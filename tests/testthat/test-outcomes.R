# Continuous outcomes: the sum of squares about 1/2 is released beside the sum.

test_that("the squares cost no privacy for these weights, and would for larger ones", {
  shift <- function(x, y, w) c(abs(x - y), w * abs((x - 0.5)^2 - (y - 0.5)^2))
  at <- seq(0, 1, by = 0.01)
  pairs <- expand.grid(x = at, y = at)
  worst <- function(w, norm) max(mapply(function(x, y) norm(shift(x, y, w)), pairs$x, pairs$y))
  expect_lte(worst(2, function(s) sqrt(sum(s^2))), 1)
  expect_lte(worst(1, sum), 1 + 1e-12)
  # The lemma's own limits: sqrt(11.09) = 3.33, and 1
  limit <- sqrt(optimise(function(d) (1 + d) / (d^2 * (1 - d)), c(0.1, 0.9))$objective)
  expect_equal(limit, 3.33, tolerance = 1e-3)
  expect_gt(worst(limit * 1.01, function(s) sqrt(sum(s^2))), 1)
  expect_gt(worst(1.1, sum), 1)
})

test_that("a live agent rounds a reward up to the grid, and then its square", {
  skip_if_not_installed("RSQLite")
  up <- function(x) ceiling(x * 2^20) / 2^20
  for (reward in c(0.1, 0.3, 0.77)) {
    agent <- dpts_agent(policy_randomised(mu = 1e8, outcome = "continuous", block = 5), 2, use = "arrival")
    agent_reward(agent, agent_choose(agent, 5)$ticket, reward)
    table <- dpts_releases(agent)
    table <- table[table$n > 0, ] # all five may have got one arm
    # The noise has standard deviations of 1e-8 and 0.5e-8, and is rounded to the grid squared.
    expect_equal(table$sum / table$n, rep(up(reward), nrow(table)), tolerance = 3e-7)
    expect_lt(max(abs(table$squares - table$n * up((up(reward) - 0.5)^2))), 2e-7)
  }
})

test_that("live, squares that are rounded up to the grid move by no more than the noise allows", {
  step <- 2^-20
  square <- function(x) ceiling((x - 0.5)^2 / step) * step
  withr::local_seed(1)
  near <- c(0, step * (1:50), 1 - step * (1:50), 1, 0.5 + step * (-5:5))
  x <- c(round(runif(2e5) / step) * step, sample(near, 2e5, TRUE))
  y <- c(sample(near, 1e5, TRUE), round(runif(1e5) / step) * step, sample(near, 2e5, TRUE))
  sum <- abs(x - y)
  squares <- abs(square(x) - square(y))
  expect_lte(max(sum^2 + 4 * squares^2), 1)
  expect_lte(max(sum + squares), 1 + step)
})

test_that("a randomised block releases two numbers of each arm, once, each with its noise", {
  withr::local_seed(3)
  rewards <- runif(40)
  for (budget in list(list(mu = 0.5), list(epsilon = 0.5))) {
    policy <- do.call(policy_randomised, c(budget, list(block = 10, outcome = "continuous")))
    out <- run_script(policy, 2, rep(NA, 40), rewards)
    rows <- seq_len(out$total)
    block <- rep(1:4, each = 10)
    sums <- function(values) as.vector(vapply(1:4, function(b) {
      vapply(1:2, function(a) sum(values[block == b & out$arm == a]), 0)
    }, numeric(2)))
    expect_identical(out$release[rows], rep(1:8, each = 2) + 0)
    expect_equal(out$exact[rows][c(TRUE, FALSE)], sums(rewards))
    expect_equal(out$exact[rows][c(FALSE, TRUE)], sums((rewards - 0.5)^2))
    weight <- if (is.null(budget$mu)) 1 else 2
    expect_equal(out$scale[rows], rep(c(2, 2 / weight), 8))
    expect_identical(anyDuplicated(out$noise[rows]), 0L)
    # The report holds them, after the eight numbers of a binary policy.
    value <- matrix(out$value[rows], 4)
    expect_equal(out$report[9, ], rowSums(matrix(out$value[rows][c(FALSE, TRUE)], 2)))
    expect_equal(out$report[10, ], rep(weight, 2))
  }
})

test_that("beside a moving average the squares are released once, with noise of their own", {
  withr::local_seed(4)
  rewards <- runif(60)
  out <- run_script(policy_gaussian_imed(0.5, first = 5, outcome = "continuous"), 2, rep(NA, 60), rewards)
  rows <- seq_len(out$total)
  first <- !duplicated(out$release[rows])
  expect_equal(out$scale[rows], rep(c(2, 1), out$total / 2))
  expect_identical(first, rep(c(TRUE, FALSE), out$total / 2))
  expect_equal(out$gain[rows][!first], rep(1, sum(!first)))
  expect_equal(out$correlation[rows][!first], rep(0, sum(!first)))
  # Each square is in one release: those that are out, and no other, add up.
  held <- vapply(1:2, function(a) out$report[1, a], 0)
  expected <- sum(vapply(1:2, function(a) sum((utils::head(rewards[out$arm == a], held[a]) - 0.5)^2), 0))
  expect_equal(sum(out$exact[rows][!first]), expected)
})

test_that("coupled runs of neighbours: both channels of a moved reward cost at most the budget, and a coin costs all of it", {
  withr::local_seed(6)
  n <- 200
  policies <- list(
    list(budget = 0.5, make = function() policy_gaussian_imed(0.5, first = 5, outcome = "continuous")),
    list(budget = 0.5, make = function() policy_gaussian_imed(0.5, first = 5, correlation = 0, outcome = "continuous")),
    list(budget = 2, make = function() policy_top_two(2, error = 0.5, outcome = "continuous")),
    list(budget = 2, pure = TRUE, make = function() policy_top_two(epsilon = 2, error = 0.5, outcome = "continuous")),
    list(budget = 1, make = function() policy_randomised(1, block = 20, rule = "thompson", outcome = "continuous")),
    list(budget = 1, pure = TRUE, make = function() policy_randomised(epsilon = 1, block = 20, outcome = "continuous"))
  )
  moves <- list(c(0, 1), c(1, 0), c(0, 0.5), c(0.5, 1), c(0.3, 0.9), c(0.1, 0.2), stats::runif(2))
  for (case in policies) {
    pure <- isTRUE(case$pure)
    weight <- if (pure) 1 else 2
    cost <- vapply(moves, function(move) {
      x <- stats::runif(n)
      x[3] <- move[1]
      one <- run_script(case$make(), 2, rep(NA, n), x)
      rows <- seq_len(one$total)
      two <- run_script(case$make(), 2, rep(NA, n), replace(x, 3, move[2]), forced = one$value[rows])
      expect_identical(two$arm, one$arm)
      expect_identical(two$value[rows], one$value[rows])
      shift <- abs(two$exact[rows] - one$exact[rows]) / one$scale[rows]
      cost <- if (pure) sum(shift) else sqrt(sum(shift^2))
      d <- abs(diff(move))
      square <- d * abs(sum(move) - 1)
      exact <- case$budget * if (pure) d + square else sqrt(d^2 + (weight * square)^2)
      # A moving average has spent a little less than all after so many releases.
      correlated <- any(one$correlation[rows] > 0)
      if (correlated) expect_lte(cost, exact + 1e-9) else expect_equal(cost, exact)
      if (correlated) expect_gt(cost, 0.97 * exact)
      cost
    }, 0)
    expect_lte(max(cost), case$budget + 1e-9)
    expect_gt(cost[1], 0.97 * case$budget)
  }
})

test_that("a service is continued from its file, with the squares of rewards on the grid", {
  skip_if_not_installed("RSQLite")
  for (policy in list(policy_top_two(mu = 1e6, error = 1e-6, outcome = "continuous"),
                      policy_randomised(epsilon = 1e6, block = 40, outcome = "continuous"))) {
    file <- withr::local_tempfile(fileext = ".sqlite")
    agent <- dpts_agent(policy, c("x", "y"), file, range = c(0, 10), use = "arrival")
    arm <- reward <- numeric()
    withr::local_seed(2)
    # Live chances are not seeded: six calls give each arm two releases in 59 of 60 lives, and others go on.
    for (i in 1:60) {
      if (i > 6 && all(table(subset(dpts_releases(agent), n > 0)$arm) > 1)) break
      choice <- agent_choose(agent, n = 15)
      arm <- c(arm, as.integer(choice$arm))
      now <- stats::runif(15, 3, 5) + (as.integer(choice$arm) == 2)
      reward <- c(reward, now)
      agent_reward(agent, choice$ticket, now)
      if (i == 4) {
        agent_close(agent)
        agent <- agent_open(file)
      }
    }
    table <- dpts_releases(agent)
    for (a in 1:2) {
      rows <- table[as.integer(table$arm) == a & table$n > 0, ]
      held <- cumsum(rows$n)
      expect_gt(length(held), 1)
      own <- reward[arm == a] / 10
      # Noise of a millionth, and rounding by at most a step of the grid for each reward
      expect_equal(cumsum(rows$sum), vapply(held, function(n) sum(own[seq_len(n)]), 0), tolerance = 1e-4)
      expect_equal(cumsum(rows$squares), vapply(held, function(n) sum((own[seq_len(n)] - 0.5)^2), 0), tolerance = 1e-3)
    }
    expect_identical(suppressMessages(evidence(table)), suppressMessages(evidence(agent)))
    expect_identical(suppressMessages(effects(table)), suppressMessages(effects(agent)))
    agent_close(agent)
  }
})

test_that("the chances of a randomised experiment follow the spread of the rewards", {
  arms <- arms_custom(function(arm, n) if (arm == 1) rbeta(n, 2, 2) else rbeta(n, 30, 30), c(0.5, 0.5), range = c(0, 1))
  policy <- policy_randomised(rule = "neyman", block = 100, floor = 0.05, outcome = "continuous")
  rounds <- dpts_history(dpts_simulate(arms, policy, 300, runs = 1, seed = 1, history = TRUE))
  for (b in 1:2) {
    past <- rounds[rounds$t <= 100 * b, ]
    v <- vapply(1:2, function(a) {
      x <- past$reward[past$arm == a]
      safe_variance(length(x), sum(x), sum((x - 0.5)^2), b, 0, 2)
    }, 0)
    now <- rounds[rounds$t == 100 * b + 1, ]
    expect_equal(now$probability, (0.05 + 0.9 * sqrt(v) / sum(sqrt(v)))[now$arm], tolerance = 1e-9)
  }
})

test_that("Gaussian IMED knows the spread of continuous outcomes, step by step", {
  kl <- function(x, y) x * log(x / y) + (1 - x) * log((1 - x) / (1 - y))
  rate <- function(x, y, m, sd) { # the infimum on a fine grid, then refined
    if (y <= x) return(0)
    f <- function(z) (z - x)^2 / (2 * sd^2) + m * kl(z, y)
    optimise(f, c(max(x, 1e-12), y), tol = 1e-12)$objective
  }
  index <- function(a, top) {
    x <- min(max(a$mean, 0), 1)
    sd <- a$spread / mu
    c <- 0
    if (top > x) {
      coin <- top * (1 - top)
      drawn <- (a$n * x + 1) / (a$n + 2)
      v <- min(a$v * max(1, coin / (drawn * (1 - drawn))), coin)
      h <- top / (v + top^2)
      r <- rate(h * x, h * top, a$m, h * sd)
      c <- -log(2 * pnorm(-sqrt(2 * r)))
    }
    list(c = c, index = max(0, c - safety * log1p(c)) - log(1 / a$m + sd^2 / a$v))
  }
  for (seed in 1:7) {
    withr::local_seed(seed)
    carry <- if (seed > 5) 0.65 else 0
    wide <- seed %in% 4:5 # so much noise that means near 1 alone say that a reward varies less than a coin of 1/2
    mu <- if (wide) 0.1 else 2
    safety <- 0.8 * mu / (1 + mu)
    first <- if (wide) 80 else 8
    steps <- if (wide) 3000 else 400
    rewards <- vapply(if (wide) c(19.6, 19.5, 19) else c(12, 10, 8), function(a) rbeta(steps, a, 20 - a), numeric(steps))
    out <- run_script(policy_gaussian_imed(mu, correlation = carry, first = first, outcome = "continuous"), 3,
                      rep(NA, steps), rewards)
    value <- matrix(out$value[seq_len(out$total)], 2)
    arms <- lapply(1:3, function(i) list(n = 0, y = 0, q = 0, j = 0, size = NULL, u = NULL, z = 0))
    assigned <- rep(0, 3)
    released <- 0
    t <- 0
    while (t < steps) {
      ready <- vapply(arms, function(a) a$n > 0, NA)
      top <- if (any(ready)) max(vapply(arms[ready], function(a) min(max(a$mean, 0), 1), 0))
      arm <- if (!all(ready)) which(!ready)[1] else which.min(vapply(arms, function(a) index(a, top)$index, 0))
      size <- if (assigned[arm] == 0) first else max(1, ceiling(0.7 * assigned[arm] / (1 + index(arms[[arm]], top)$c) * (1 - 1e-12)))
      rounds <- t + seq_len(min(size, steps - t))
      expect_true(all(out$arm[rounds] == arm))
      t <- t + size
      if (t > steps) break
      assigned[arm] <- assigned[arm] + size
      released <- released + 1
      expect_identical(out$released[t], as.integer(2 * released))
      a <- arms[[arm]]
      # What each release tells of its own batch: its noise is, with another sign, in the next one, too.
      z <- value[1, released] / sqrt(1 - carry^2)
      a$size <- c(a$size, size)
      a$u <- c(a$u, z - carry * a$z)
      a[c("n", "y", "q", "j", "z")] <- list(a$n + size, sum(a$u), a$q + value[2, released], a$j + 1, z)
      a$v <- safe_variance(a$n, a$y, a$q, a$j, 1 / mu, 2)
      noise <- 1 / mu^2 / (1 - carry^2)
      j <- seq_len(a$j)
      if (carry > 0) { # least squares, with the covariances that each release adds in units of what a reward varied by then
        a$units <- c(a$units, a$v)
        cov <- diag(a$size + noise * (1 + carry^2 * (j > 1)) / a$units, a$j)
        cov[cbind(j[-1], j[-1] - 1)] <- cov[cbind(j[-1] - 1, j[-1])] <- -carry * noise / a$units[-1]
        w <- solve(cov, a$size)
        a$m <- sum(w * a$size)^2 / sum(w^2 * a$size)
        a$spread <- mu * sqrt(a$v * (1 / sum(w * a$size) - 1 / a$m))
      } else {
        a$kept <- w <- c(a$kept, size / (size + noise / a$v))
        a$m <- sum(w * a$size)^2 / sum(w^2 * a$size)
        a$spread <- sqrt(sum(w^2)) / sum(w * a$size)
      }
      a$mean <- sum(w * a$u) / sum(w * a$size)
      arms[[arm]] <- a
    }
    expect_gt(released, if (wide) 8 else 15)
  }
})

test_that("many arms by a tournament are played as by a look at every arm", {
  arms <- arms_custom(function(arm, n) rbeta(n, 4 + arm / 20, 6), (4 + 1:60 / 20) / (10 + 1:60 / 20), range = c(0, 1))
  play <- function(engine) {
    withr::local_options(dpts.engine = engine)
    dpts_simulate(arms, policy_gaussian_imed(1, outcome = "continuous"), 8000, runs = 2, seed = 1)$regret
  }
  expect_identical(play("auto"), play("scan"))
  expect_identical(play("plain"), play("scan"))
})

test_that("coins are as good as with the outcome they have", {
  arms <- arms_bernoulli(c(0.55, 0.5, 0.45, 0.4, 0.35))
  sim <- dpts_simulate(arms, list(binary = policy_gaussian_imed(1), continuous = policy_gaussian_imed(1, outcome = "continuous")),
                       20000, runs = 100, seed = 1, record = I(20000))
  regret <- split(sim$regret, sim$policy)
  se <- sqrt(sum(vapply(regret, var, 0) / 100))
  expect_lt(mean(regret$continuous), 1.05 * mean(regret$binary) + 3 * se)
  best <- dpts_identify(arms_bernoulli(c(0.6, 0.5, 0.45)), list(binary = policy_top_two(1), continuous = policy_top_two(1, outcome = "continuous")),
                        runs = 100, seed = 1)
  people <- split(best$people, best$policy)
  se <- sqrt(sum(vapply(people, var, 0) / 100))
  expect_lt(mean(people$continuous), 1.15 * mean(people$binary) + 3 * se)
  # And scores of sd 0.1 lose less than half.
  scores <- arms_custom(function(arm, n) pmin(pmax(rnorm(n, 0.6 - 0.05 * arm, 0.1), 0), 1), 0.6 - 0.05 * 1:5, range = c(0, 1))
  sim <- dpts_simulate(scores, list(binary = policy_gaussian_imed(1), continuous = policy_gaussian_imed(1, outcome = "continuous")),
                       20000, runs = 10, seed = 1, record = I(20000))
  expect_lt(mean(sim$regret[sim$policy == "continuous"]), mean(sim$regret[sim$policy == "binary"]) / 2)
})

test_that("top two stops at the release by which evidence with squares proves the leader, soon where rewards vary little", {
  means <- c(0.5, 0.56, 0.44)
  scores <- arms_custom(function(arm, n) means[arm] + stats::runif(n, -0.15, 0.15), means, range = c(0, 1))
  policies <- list(mu = policy_top_two(mu = 0.5, outcome = "continuous"), epsilon = policy_top_two(epsilon = 1, outcome = "continuous"),
                   none = policy_top_two(outcome = "continuous"))
  for (name in names(policies)) {
    people <- dpts_identify(scores, policies[name], runs = 5, seed = 1, limit = 5000)$people
    sim <- dpts_simulate(scores, policies[name], 5000, runs = 5, seed = 1, history = TRUE)
    e <- evidence(sim, "means")
    least <- tapply(e$evidence, list(e$t, e$run, e$arm), min) # against all rivals
    proved <- apply(least >= log(2 / 0.05), 1:2, any)
    expect_identical(people, as.numeric(rownames(proved)[apply(proved, 2, function(x) which(x)[1])]))
    expect_lt(max(people), 2500) # 4,000 as coins, in the mean
    table <- dpts_releases(sim)
    line <- log(2 / 0.05)
    first <- 2 * line + switch(name, mu = 12 * sqrt(2 * line) / 0.5, epsilon = 6 * line, none = 0)
    expect_identical(unique(table$n[table$t > 0][1:3]), ceiling(first / 2))
    # Effects and verdicts follow from the table.
    expect_identical(unique(as.integer(verdict(sim)$arm)), 2L)
    effect <- suppressMessages(effects(sim, control = 1))
    truth <- means[effect$arm] - 0.5
    expect_true(all(effect$lower <= truth & truth <= effect$upper))
    expect_lt(mean((effect$upper - effect$lower)[effect$arm == 2]), 0.11)
    estimate <- estimates(sim)
    expect_true(all(estimate$lower <= means[estimate$arm] & means[estimate$arm] <= estimate$upper))
    expect_true(all((estimate$upper - estimate$lower)[estimate$arm == 2] < 0.05))
  }
})

test_that("blocks are as large as the noise asks for, where rewards vary little", {
  scores <- arms_custom(function(arm, n) stats::runif(n, 0.3, 0.5), c(0.4, 0.4), range = c(0, 1))
  policy <- policy_randomised(mu = 0.5, outcome = "continuous")
  table <- dpts_releases(dpts_simulate(scores, policy, 20000, runs = 2, seed = 1, history = TRUE))
  for (run in 1:2) {
    rows <- table[table$run == run, ]
    n <- as.vector(rowsum(rows$n, rows$block))
    expect_gt(length(n), 4)
    expect_equal(n[1], ceiling(2 * sqrt(500 * 4 / 0.04)))
    for (b in seq_along(n)[-1]) {
      past <- rows[rows$block < b, ]
      arm <- rowsum(cbind(past$n, past$sum, past$squares), past$arm)
      seen <- sum(arm[, 3] - arm[, 1] * (arm[, 2] / arm[, 1] - 0.5)^2)
      v <- max(seen, sqrt(2 * (b - 1) * 4)) / sum(past$n)
      people <- sum(past$n)
      expect_equal(n[b], ceiling(max(200, min(0.3 * people, 1600), min(2 * sqrt(500 * 4 / v), 2 * max(people, 1000)))))
    }
  }
  # Named sizes, and outcomes that are coins, stay what they are.
  first <- function(...) sum(dpts_releases(dpts_simulate(scores, policy_randomised(mu = 0.5, ...), 500, runs = 1, seed = 1, history = TRUE))$n[1:2])
  expect_identical(c(first(block = 90, outcome = "continuous"), first(), first(block = 1.5, outcome = "continuous")), c(90, 200, 200))
})

test_that("top two with squares skips exactly", {
  scores <- arms_gaussian(c(0.5, 0.45, 0.3), 0.1, c(0, 1))
  for (policy in list(policy_top_two(mu = 1, outcome = "continuous"), policy_top_two(epsilon = 1, outcome = "continuous"))) {
    regret <- lapply(c("plain", "skip"), function(engine) {
      withr::local_options(dpts.engine = engine)
      dpts_simulate(scores, policy, 3000, runs = 10, seed = 1)$regret
    })
    expect_equal(regret[[1]], regret[[2]])
  }
})

test_that("rewards that come late are squared with their own batch, by top two and by blocks", {
  scores <- arms_custom(function(arm, n) stats::runif(n, 0.3, 0.5 + arm / 10), c(0.45, 0.5), range = c(0, 1))
  for (policy in list(policy_top_two(error = 0.001, outcome = "continuous"), policy_randomised(block = 100, outcome = "continuous"))) {
    sim <- dpts_simulate(scores, policy, 600, runs = 2, seed = 1, history = TRUE, delay = c(0, 40))
    rounds <- dpts_history(sim)
    table <- dpts_releases(sim)
    for (run in 1:2) for (arm in 1:2) {
      rows <- table[table$run == run & table$arm == arm & table$n > 0, ]
      own <- rounds$reward[rounds$run == run & rounds$arm == arm]
      held <- cumsum(rows$n)
      expect_gt(length(held), 1)
      # Assigned rewards of an arm fill its batches in order.
      expect_equal(cumsum(rows$squares), vapply(held, function(n) sum((own[seq_len(n)] - 0.5)^2), 0))
      expect_equal(cumsum(rows$sum), vapply(held, function(n) sum(own[seq_len(n)]), 0))
    }
  }
})

test_that("one bit has no square", {
  expect_error(policy_local(policy_gaussian_imed(1, outcome = "continuous"), 1), "`policy`", class = "dpts_error_input")
  expect_error(policy_local(policy_top_two(1, outcome = "continuous"), 1), "`policy`", class = "dpts_error_input")
  expect_error(policy_local(policy_restart(policy_randomised(1, outcome = "continuous"), 100), 1), "`policy`",
               class = "dpts_error_input")
  expect_error(policy_gaussian_imed(1, outcome = "score"), "`outcome`", class = "dpts_error_input")
})

test_that("who takes scores for coins is told so once, and advice takes them for what they are", {
  scores <- arms_gaussian(c(0.55, 0.5), 0.1, c(0, 1))
  said <- function(arms, policies, play = function(...) dpts_simulate(..., horizon = 50)) {
    rlang::reset_message_verbosity("dpts_outcome")
    on.exit(rlang::reset_message_verbosity("dpts_outcome"))
    told <- FALSE
    withCallingHandlers(play(arms, policies, runs = 1, seed = 1), dpts_message_outcome = function(m) {
      told <<- TRUE
      invokeRestart("muffleMessage")
    })
    told
  }
  binary <- policy_gaussian_imed(1)
  expect_true(said(scores, binary))
  expect_true(said(scores, policy_top_two(1), function(...) dpts_identify(..., limit = 50)))
  expect_true(said(scores, policy_randomised(1), function(arms, policies, ...) dpts_plan(policies, arms, 50, ...)))
  expect_true(said(arms_drift(arms_beta(2, 1), arms_beta(1, 1), period = 10), policy_randomised(1)))
  expect_true(said(arms_discrete(c(0, 0.5, 1), rbind(c(0.2, 0.2, 0.6), c(0.5, 0.3, 0.2))), list(policy_ucb1(), binary)))
  expect_false(said(arms_bernoulli(c(0.5, 0.6)), binary))
  expect_false(said(arms_discrete(c(0, 1), rbind(c(0.2, 0.8), c(0.5, 0.5))), binary))
  expect_false(said(scores, list(a = binary, b = policy_gaussian_imed(1, outcome = "continuous"))))
  expect_false(said(scores, policy_ucb1()))
  outcomes <- function(arms, goal) {
    advice <- dpts_recommend(privacy_gdp(1), arms, 300, goal = goal, runs = 2, seed = 1, progress = FALSE,
                             candidates = if (goal == "regret") "gaussian_imed" else "equal")
    recommended_policy(advice)$params$outcome
  }
  for (goal in c("regret", "verdict")) {
    expect_identical(outcomes(scores, goal), "continuous")
    expect_identical(outcomes(arms_bernoulli(c(0.5, 0.6)), goal), "binary")
  }
})

test_that("a range of rewards changes nothing but the units", {
  unit <- arms_gaussian(c(a = 0.5, b = 0.58), 0.1, c(0, 1))
  wide <- arms_gaussian(c(a = 250, b = 290), 50, c(0, 500))
  policies <- list(tossed = policy_randomised(1, block = 50, outcome = "continuous"),
                   top = policy_top_two(1, outcome = "continuous"),
                   predicted = policy_randomised(1, block = 50, outcome = "continuous", predicted = c(0.2, 0.8)))
  found <- lapply(list(unit, wide), function(arms) {
    as.data.frame(dpts_identify(arms, policies, limit = 3000, runs = 3, seed = 1))[c("people", "arm", "correct")]
  })
  expect_identical(found[[1]], found[[2]])
  # So it is with a margin, within which either arm may be named.
  close <- list(arms_gaussian(c(0.5, 0.51), 0.1, c(0, 1)), arms_gaussian(c(250, 255), 50, c(0, 500)))
  margin <- lapply(close, function(arms) {
    found <- dpts_identify(arms, policies["tossed"], margin = 0.1, limit = 3000, runs = 8, seed = 1)
    as.data.frame(found)[c("people", "arm", "correct")]
  })
  expect_identical(margin[[1]], margin[[2]])
  expect_setequal(margin[[1]]$arm, 1:2)
  expect_true(all(margin[[1]]$correct))
  sims <- lapply(list(unit, wide), dpts_simulate, policies, 1000, runs = 1, seed = 1, history = TRUE)
  effects <- lapply(sims, function(sim) suppressMessages(effects(sim)))
  for (column in c("difference", "lower", "upper")) {
    expect_equal(500 * effects[[1]][[column]], effects[[2]][[column]], tolerance = 1e-9)
  }
  # Heavy tails: clipped to a range that is given
  heavy <- arms_custom(function(arm, n) rexp(n, 1 / c(100, 140)[arm]), c(100, 140), range = NULL)
  sim <- dpts_simulate(heavy, policy_clipped(policy_gaussian_imed(1, outcome = "continuous"), c(0, 500)), 2000, runs = 2, seed = 1)
  expect_true(all(is.finite(sim$regret)))
})
