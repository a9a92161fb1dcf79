# Top two with evidence: its batches, and an R translation of what decides them.

test_that("first batches have the size of the paper, and each batch is released once", {
  for (case in list(list(mu = 0.5), list(epsilon = 0.5), list())) {
    policy <- do.call(policy_top_two, c(case, error = 0.05))
    line <- log(2 / 0.05)
    first <- ceiling(2 * line + if (length(case) == 0) 0 else if (is.null(case$mu)) 12 * line else
      24 * sqrt(2 * line))
    withr::local_seed(1)
    rewards <- matrix(stats::rbinom(3000 * 3, 1, rep(c(0.3, 0.5, 0.7), each = 3000)), 3000)
    out <- trace_policy(policy, 3, rewards)
    ledger <- out$ledger
    expect_identical(ledger$round[1:3], as.integer(1:3 * first))
    expect_identical(out$arm[1:(3 * first)], rep(1:3, each = first))
    expect_true(all(ledger$scale == if (length(case)) 2 else 0))
    expect_true(all(ledger$kind == if (is.null(case$epsilon)) 2 else 1))
    # All rewards since the release before are in the next one of the same arm
    ends <- c(0, ledger$round)
    for (i in seq_len(nrow(ledger))) {
      rounds <- (ends[i] + 1):ends[i + 1]
      expect_identical(unique(out$arm[rounds]), ledger$arm[i])
      expect_equal(ledger$exact[i], sum(rewards[cbind(rounds, ledger$arm[i])]))
    }
    # No batch more than doubles an arm, and none adds less than a tenth
    for (arm in 1:3) {
      size <- diff(ends)[ledger$arm == arm]
      expect_true(all(size[-1] <= cumsum(size)[-length(size)]))
      expect_true(all(size[-1] >= 0.1 * cumsum(size)[-length(size)]))
    }
    # The verdict is the best arm, which alone is played at the end
    expect_identical(unique(out$arm[2500:3000]), 3L)
  }
})

test_that("the challenger, the size and the winner follow from what was released", {
  # Two arms: W by hand from the kernel of evidence after each release
  withr::local_seed(2)
  rewards <- matrix(stats::rbinom(6000 * 2, 1, rep(c(0.5, 0.6), each = 6000)), 6000)
  out <- trace_policy(policy_top_two(mu = 0.3, error = 0.05), 2, rewards)
  value <- out$ledger$exact + out$ledger$noise
  size <- diff(c(0, out$ledger$round))
  kept <- seq_along(value)
  e <- weigh("means", 2L, out$ledger$arm[kept], out$ledger$round, size, value, c(2, 1 / 0.3, 0, 0))$pair
  proved <- which(pmax(e[, 2], e[, 3]) >= log(1 / 0.05))[1]
  # Gaps are committed a little otherwise, at the opening of a batch; so are the tilts.
  switched <- out$ledger$round[proved]
  expect_identical(unique(out$arm[-seq_len(max(switched, 1) + 600)]), 2L)
  n <- c(sum(size[out$ledger$arm == 1]), sum(size[out$ledger$arm == 2]))
  expect_gt(n[2], n[1])
})

test_that("the challenger and the size of the next batch are those of an R translation", {
  # Without noise an arm's mean is that of its rewards; v is the variance of a reward that its variance is made of.
  decided <- weighed <- 0
  for (seed in 1:8) {
    means <- c(0.5, 0.55, 0.6, if (seed > 4) 0.7 else 0.62)
    rewards <- withr::with_seed(seed, matrix(stats::rbinom(8000, 1, rep(means, each = 2000)), 2000))
    ledger <- trace_policy(policy_top_two(), 4, rewards)$ledger
    size <- diff(c(0, ledger$round))
    line <- log(3 / 0.05)
    w <- weigh("means", 4, ledger$arm, ledger$round, size, ledger$exact, evidence_laws$none, threshold = line)$pair
    n <- sum <- numeric(4)
    v <- rep(0.25, 4)
    spread <- numeric(4)
    for (j in seq_len(length(size) - 1)) {
      a <- ledger$arm[j]
      n[a] <- n[a] + size[j]
      sum[a] <- sum[a] + ledger$exact[j]
      mean <- sum / n
      spread[a] <- v[a] / n[a]
      z <- min(max(0.5, mean[a] - sqrt(spread[a])), mean[a] + sqrt(spread[a]))
      v[a] <- z * (1 - z)
      if (any(n == 0)) next
      leader <- which.max(mean)
      q <- replace((mean[leader] - mean)^2 / (2 * (spread[leader] + spread)), leader, Inf)
      if (min(q) >= line / 2) {
        against <- replace(w[j, leader + 4 * (1:4 - 1)], leader, Inf)
        if (all(against >= line)) break
        weighed <- weighed + any(against < q)
        q <- pmin(q, against)
      }
      challenger <- which.min(q + 2 * log(n))
      growth <- min(max((line / max(q[challenger], line / 100) - 1) / 2, 0.1), 1)
      expect_true(ledger$arm[j + 1] %in% c(leader, challenger))
      expect_equal(size[j + 1], ceiling(growth * n[ledger$arm[j + 1]] * (1 - 1e-12)))
      decided <- decided + (challenger != which.min(q + log(n)))
    }
  }
  expect_gt(decided, 3)
  expect_gt(weighed, 3)
})

test_that("with late rewards and other offers it is the R translation: pulls count as assigned, rewards as released", {
  shared <- 0
  for (seed in 1:6) {
    k <- 3 + seed %% 2
    n <- 1500
    # (Rewards that are never equal, so that no two means are.)
    case <- withr::with_seed(seed, list(
      rewards = matrix(0.9 * stats::rbinom(n * k, 1, rep(c(0.5, 0.55, 0.62, 0.6)[seq_len(k)], each = n)) + stats::runif(n * k, 0, 0.1), n),
      delays = sample(c(0, 0, 5, 40, 150), n, TRUE),
      offers = if (seed > 3) lapply(seq_len(n), function(t) if (t %% 7 > 1) seq_len(k) else sort(sample(k, 2)))
    ))
    out <- run_script(policy_top_two(), k, rep(NA, n), case$rewards, delays = case$delays, offers = case$offers, seed = seed)
    u <- uniforms(200, seed)
    line <- log((k - 1) / 0.05)
    at <- 0
    m <- sum <- spread <- numeric(k)
    v <- rep(0.25, k)
    nearest <- open <- -1
    growth <- 1
    verdict <- FALSE
    choose <- function(s) {
      if (verdict) return(NA)
      has <- function(arm) arm %in% s$offer
      if (open > 0 && !s$open[open]) open <<- -1
      begins <- s$offer[(s$made == 0 | s$made == 1 & s$open)[s$offer]]
      arm <- if (has(open)) open else if (any(m == 0) && length(begins)) begins[1] else if (any(m[s$offer] == 0)) {
        s$offer[which.min(s$pulls[s$offer])]
      } else if (has(nearest)) nearest else s$offer[which.max((sum / m)[s$offer])]
      if (open < 0) open <<- arm
      arm
    }
    learn <- function(s, arm, size, y, number) {
      m[arm] <<- m[arm] + size
      sum[arm] <<- sum[arm] + y
      mean <- sum / m
      spread[arm] <<- v[arm] / m[arm]
      z <- min(max(0.5, mean[arm] - sqrt(spread[arm])), mean[arm] + sqrt(spread[arm]))
      v[arm] <<- z * (1 - z)
      if (any(m == 0) || verdict) return()
      leader <- which.max(mean)
      q <- replace((mean[leader] - mean)^2 / (2 * (spread[leader] + spread)), leader, Inf)
      verdict <<- min(q) >= line / 2 # evidence comes in: see above
      challenger <- which.min(q + 2 * log(s$pulls))
      growth <<- min(max((line / max(q[challenger], line / 100) - 1) / 2, 0.1), 1)
      share <- spread[leader] / (spread[leader] + spread[challenger])
      chance <- share / s$pulls[leader] / (share / s$pulls[leader] + (1 - share) / s$pulls[challenger])
      nearest <<- if (u[at <<- at + 1] < chance) leader else challenger
      released <- share / m[leader] / (share / m[leader] + (1 - share) / m[challenger])
      shared <<- shared + ((u[at] < chance) != (u[at] < released))
    }
    first <- ceiling(2 * line)
    arms <- played_late(out, case$rewards, case$delays, case$offers, first,
                        function(s, arm) if (arm == nearest) growth else 1, choose, learn)
    expect_true(verdict || length(arms) == n)
    expect_identical(arms, out$arm[seq_along(arms)])
  }
  expect_gt(shared, 3)
})

test_that("it stops at the release by which the evidence of all its releases proves the leader", {
  # evidence() aims at the leading rival before each release, as the policy does: another aim stops elsewhere.
  arms <- arms_bernoulli(c(0.5, 0.65, 0.4))
  policy <- policy_top_two(mu = 0.5)
  people <- dpts_identify(arms, policy, runs = 15, seed = 1, limit = 4000)$people
  e <- evidence(dpts_simulate(arms, policy, 4000, runs = 15, seed = 1, history = TRUE), "means")
  least <- tapply(e$evidence, list(e$t, e$run, e$arm), min) # against all rivals
  proved <- apply(least >= log(2 / 0.05), 1:2, any)
  expect_identical(people, as.numeric(rownames(proved)[apply(proved, 2, function(x) which(x)[1])]))
})

test_that("a release of the challenger alone proves it, as soon as it is there", {
  # Sums are forced: after the first batches the second arm is close; its next batch is a disaster.
  policy <- policy_top_two(mu = 1, error = 0.05)
  n <- ceiling(2 * log(20) + 12 * sqrt(2 * log(20)))
  seen <- 0
  for (seed in 1:12) {
    out <- run_script(policy, 2, rep(NA, 12 * n), rep(0.5, 12 * n), seed = seed,
                      forced = c(0.95 * n, 0.68 * n, rep(-4 * n, 10)))
    third <- which(diff(c(0L, out$released)) > 0)[3]
    if (out$arm[third] != 2) next
    seen <- seen + 1
    expect_identical(unique(out$arm[-seq_len(third)]), 1L)
    expect_equal(out$exact[4:5], c(n, 2 * n) / 2) # who won has batches as large as all before
  }
  expect_gt(seen, 1)
})

test_that("bad arguments are refused by name", {
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  bad(policy_top_two(mu = 1, epsilon = 1), "`mu` and `epsilon` cannot both be given")
  expect_identical(policy_top_two(epsilon = 1)$guarantee, guarantee_pure(1))
  expect_identical(policy_top_two()$guarantee, guarantee_none())
})

test_that("the verdict comes when the evidence reaches its line, also where the rates of normal means are still low", {
  policy <- policy_top_two(mu = 4.73, error = 0.2)
  sim <- dpts_simulate(arms_bernoulli(c(1, 1)), policy, 1500, runs = 3, seed = 718034, history = TRUE, record = I(1500))
  e <- evidence(sim, "means", error = 0.2)
  first <- vapply(1:3, function(run) e$t[e$run == run & e$evidence >= e$line][1], 0)
  expect_equal(sum(!is.na(first)), 1)
  expect_equal(dpts_identify(arms_bernoulli(c(1, 1)), policy, runs = 3, seed = 718034, limit = 1500, error = 0.2)$people, first)
})
