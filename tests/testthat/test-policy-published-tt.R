# Published top-two rules: R translations, with the coins and the noise of the run itself.

# AdaP-TT from the ledger: what the arm of each round may be, after the releases before it
ref_adap_tt <- function(out, k, epsilon, error, threshold) {
  x <- n <- counts <- assigned <- batches <- numeric(k)
  allowed <- vector("list", length(out$arm))
  verdict <- NA
  at <- 0
  for (t in seq_along(out$arm)) {
    l <- if (any(n == 0)) NA else {
      total <- sum(counts)
      which.max(x + log(total) / (epsilon * n) + sqrt(log(total) / (2 * n)))
    }
    allowed[[t]] <- if (!is.na(verdict)) verdict else if (is.na(l)) which(assigned == 0)[1] else {
      cost <- (x[l] - x + 1 / (1 + sqrt(total))) / sqrt(1 / assigned[l] + 1 / assigned)
      cost[l] <- Inf
      c(l, which.min(cost))
    }
    arm <- out$arm[t]
    assigned[arm] <- assigned[arm] + 1
    while (at < nrow(out$ledger) && out$ledger$round[at + 1] == t) {
      at <- at + 1
      n[arm] <- assigned[arm] - counts[arm]
      counts[arm] <- assigned[arm]
      batches[arm] <- batches[arm] + 1
      x[arm] <- (out$ledger$exact[at] + out$ledger$noise[at]) / n[arm]
      if (any(n == 0) || !is.na(verdict)) next
      total <- sum(counts)
      l <- which.max(x + log(total) / (epsilon * n) + sqrt(log(total) / (2 * n)))
      inverse <- 1 / n[l] + 1 / n
      bar <- if (threshold == "run") {
        log(1 / error) + log(1 + log(n[l])) + log(1 + log(n)) + inverse * (log(1 / error) / epsilon)^2
      } else {
        z <- batches[arm]^2 * pi^2 / 6
        u <- log((k - 1) * z / error) / 2
        2 * (u + log(u)) + 2 * log(4 + log(n[l])) + 2 * log(4 + log(n)) + inverse * (log(2 * k * z / error) / epsilon)^2
      }
      gap <- if (threshold == "run") x[l] - x else pmax(x[l] - x, 0)
      if (all((gap^2 / (2 * inverse) >= bar)[-l])) verdict <- which.max(x)
    }
  }
  list(allowed = allowed, verdict = verdict)
}

# DP-TT's evidence for the first of two arms, from noisy sums `y` of `j` batches with `n` rewards
ref_dp_tt <- function(y, n, j, epsilon) {
  rate <- function(i, s, theta) {
    f <- function(l) s * l * y[i] - n[i] * log(1 - theta + theta * exp(s * l)) + j[i] * log(1 - (l / epsilon)^2)
    max(0, stats::optimize(f, c(0, epsilon * (1 - 1e-12)), maximum = TRUE, tol = 1e-10)$objective)
  }
  stats::optimize(function(theta) rate(1, 1, theta) + rate(2, -1, theta), c(0, 1), tol = 1e-8)$objective
}

test_that("policy_adap_tt() is the authors' algorithm, and releases each reward once", {
  withr::local_seed(1)
  means <- c(0.2, 0.9, 0.5)
  rewards <- matrix(stats::rbinom(2e4 * 3, 1, rep(means, each = 2e4)), 2e4)
  for (threshold in c("run", "proved")) {
    out <- trace_policy(policy_adap_tt(2, 0.1, threshold), 3, rewards)
    ref <- ref_adap_tt(out, 3, 2, 0.1, threshold)
    expect_true(all(mapply(`%in%`, out$arm, ref$allowed)))
    expect_identical(ref$verdict, 2L)
    both <- lengths(ref$allowed) == 2
    expect_lt(abs(mean(mapply(function(arm, of) arm == of[1], out$arm[both], ref$allowed[both])) - 0.5), 0.1)
    expect_true(all(out$ledger$kind == 1 & out$ledger$scale == 0.5))
    for (arm in 1:3) {
      sizes <- diff(c(0, vapply(which(out$ledger$arm == arm), function(i) sum(out$arm[seq_len(out$ledger$round[i])] == arm), 0)))
      expect_equal(sizes, c(1, 2^(seq_along(sizes[-1]) - 1)))
      pulled <- rewards[out$arm == arm, arm]
      expect_equal(out$ledger$exact[out$ledger$arm == arm],
                   unname(c(rowsum(pulled[seq_len(sum(sizes))], rep(seq_along(sizes), sizes)))))
    }
  }
})

test_that("policy_adap_tt() stops at the release by which its proved threshold is passed", {
  for (seed in 12:20) {
    epsilon <- 0.25 * 1.05^seed
    rewards <- withr::with_seed(seed, matrix(stats::rbinom(3000, 1, rep(c(0.15, 0.9), each = 1500)), 1500))
    out <- trace_policy(policy_adap_tt(epsilon, 0.1), 2, rewards, seed = seed)
    allowed <- ref_adap_tt(out, 2, epsilon, 0.1, "proved")$allowed
    # Until then each arm is tossed for, from then on only one is played.
    last <- max(which(lengths(allowed) == 2))
    expect_lt(last - max(which(out$arm == 1)), 20)
    expect_identical(unique(out$arm[-seq_len(last)]), 2L)
  }
})

test_that("a negative difference is no evidence for the leader of policy_adap_tt()", {
  # Arm 1, pulled once, has a mean of -5, and leads by its bonus of ln(1025); the square of the difference
  # passes the threshold.
  out <- run_script(policy_adap_tt(1, 0.9), 2, c(rep(2, 1024), 1, rep(NA, 75)), matrix(0.5, 1100, 2),
                    forced = c(0.5 * 2^c(0, 0:9), -5))
  expect_setequal(out$arm[1026:1100], 1:2) # no verdict: the coin is still tossed
})

test_that("a batch that a later one of its arm overtakes is not used by policy_adap_tt()", {
  n <- 400
  rewards <- withr::with_seed(2, matrix(stats::rbinom(2 * n, 1, rep(c(0.7, 0.5), each = n)), n))
  arm <- rep(1:2, n / 2)
  late <- which(arm == 1)[5:8] # the batch of arm 1's pulls 5 to 8
  arm[151:n] <- NA # the policy's own choices
  rewards[late, 1] <- 0
  path <- function(delay) {
    run_script(policy_adap_tt(1e6, 1e-300), 2, arm, rewards, delays = replace(numeric(n), late, delay))$arm
  }
  for (delay in c(160, 200, 240)) expect_identical(path(delay), path(1e4))
})

test_that("policy_dp_tt() stops, leads and challenges by Chernoff's rates", {
  withr::local_seed(2)
  epsilon <- 1
  error <- 0.1
  rewards <- matrix(stats::rbinom(4000 * 3, 1, rep(c(0.4, 0.8, 0.5), each = 4000)), 4000)
  out <- trace_policy(policy_dp_tt(epsilon, error), 3, rewards)
  ledger <- out$ledger
  first <- ceiling((2 + 6 / epsilon) * log(2 / error))
  expect_identical(ledger$round[1:3], as.integer(first * 1:3))
  verdict <- NA
  for (i in 3:nrow(ledger)) {
    seen <- ledger[seq_len(i), ]
    y <- c(rowsum(seen$exact + seen$noise, seen$arm))
    j <- c(table(seen$arm))
    n <- first * 2^(j - 1)
    a <- which.max(y / n)
    w <- vapply(1:3, function(b) {
      if (b == a) return(Inf)
      ref_dp_tt(y[c(a, b)], n[c(a, b)], j[c(a, b)], epsilon)
    }, 0)
    chance <- error / (2 * j[a] * (j[a] + 1) * j * (j + 1))
    next_round <- ledger$round[i] + seq_len(min(20, 4000 - ledger$round[i]))
    next_round <- next_round[next_round <= c(ledger$round, Inf)[i + 1]]
    if (all(((1 + w) * exp(-w) <= chance)[-a])) {
      verdict <- unname(a)
      break
    }
    expect_true(all(out$arm[next_round] %in% c(a, which.min(w + log(n)))))
  }
  expect_identical(verdict, 2L)
  expect_identical(unique(out$arm[-seq_len(ledger$round[i])]), 2L)
})

test_that("with late rewards and other offers both are their R translations: pulls count as assigned, sums as released", {
  for (seed in 1:6) for (name in c("adap", if (seed %% 2) "dp")) {
    k <- 3
    n <- 500
    epsilon <- 3
    case <- withr::with_seed(seed, list(
      rewards = matrix(stats::rbinom(n * k, 1, rep(c(0.5, 0.55, 0.6), each = n)), n),
      delays = sample(c(0, 0, 3, 15, 60), n, TRUE),
      offers = if (seed > 3) lapply(seq_len(n), function(t) if (t %% 7 > 1) seq_len(k) else sort(sample(k, 2)))
    ))
    error <- if (name == "adap") 1e-300 else 0.9
    policy <- if (name == "adap") policy_adap_tt(epsilon, error) else policy_dp_tt(epsilon, error)
    out <- run_script(policy, k, rep(NA, n), case$rewards, delays = case$delays, offers = case$offers, seed = seed)
    u <- uniforms(n, seed)
    at <- tossed <- total <- 0
    m <- y <- terms <- last <- numeric(k)
    leader <- challenger <- NA
    choose <- function(s) {
      begins <- s$offer[(s$made == 0 | s$made == 1 & s$open)[s$offer]]
      if (any(m == 0)) return(if (length(begins)) begins[1] else s$offer[which.min(s$pulls[s$offer])])
      if (name == "adap") {
        cost <- (y[leader] / m[leader] - y / m + 1 / (1 + sqrt(total))) / sqrt(1 / s$pulls[leader] + 1 / s$pulls)
        challenger <- which.min(replace(cost, leader, Inf))
      }
      arm <- if (u[tossed <<- tossed + 1] < 0.5) leader else challenger
      if (arm %in% s$offer) arm else s$offer[which.max((y / m)[s$offer])]
    }
    learn <- function(s, arm, size, sum, number) {
      value <- out$value[at <<- at + 1]
      expect_equal(out$exact[at], sum)
      total <<- total + size
      if (name == "adap" && number < last[arm]) return()
      last[arm] <<- number
      old <- name == "dp"
      m[arm] <<- size + old * m[arm]
      y[arm] <<- value + old * y[arm]
      terms[arm] <<- terms[arm] + 1
      if (any(m == 0)) return()
      if (name == "adap") {
        leader <<- which.max(y / m + log(total) / (epsilon * m) + sqrt(log(total) / (2 * m)))
      } else {
        leader <<- which.max(y / m)
        w <- vapply(seq_len(k), function(b) {
          if (b == leader) Inf else ref_dp_tt(y[c(leader, b)], m[c(leader, b)], terms[c(leader, b)], epsilon)
        }, 0)
        challenger <<- which.min(w + log(m))
      }
    }
    first <- if (name == "adap") 1 else ceiling((2 + 6 / epsilon) * log((k - 1) / error))
    arms <- played_late(out, case$rewards, case$delays, case$offers, first, function(s, arm) 1, choose, learn)
    expect_identical(arms, out$arm)
  }
})

test_that("policy_dp_tt() stops as soon as the evidence passes its threshold, at first and at later releases", {
  # A third arm is far behind, and leaves its part of the error to each of the others.
  for (k in 2:3) for (batches in list(c(1, 1), c(1, 2), c(2, 1))) {
    first <- ceiling(8 * log(10 * (k - 1))) # epsilon 1, error 0.1
    n <- first * batches
    y <- n * c(0.5, 0.2)
    w <- stats::uniroot(function(w) (1 + w) * exp(-w) - 0.1 / (k - 1) / prod(batches, batches + 1), c(1, 50), tol = 1e-10)$root
    y[1] <- stats::uniroot(function(y1) ref_dp_tt(c(y1, y[2]), n, batches, 1) - w, c(y[2] * n[1] / n[2], 3 * n[1]),
                           tol = 1e-9)$root
    twice <- which(batches == 2)
    arm <- c(rep(seq_len(k), each = first), rep(twice, first), rep(NA, 40))
    for (side in c(-1, 1)) {
      sums <- y + c(side * 1e-3, 0)
      # Before a second release both sums are those of the other arm.
      forced <- c(if (length(twice)) rep(sums[-twice], 2) else sums, if (k == 3) -n[1])
      if (length(twice)) forced <- c(forced, sums[twice] - sums[-twice])
      out <- run_script(policy_dp_tt(1, 0.1), k, arm, matrix(0, length(arm), k), forced = forced)
      expect_setequal(utils::tail(out$arm, 40), if (side > 0) 1 else 1:2)
    }
  }
})

test_that("they run until their own verdict, and so does DP-SE", {
  arms <- arms_bernoulli(c(0.9, 0.3))
  found <- dpts_identify(arms, list(run = policy_adap_tt(1, threshold = "run"), proved = policy_adap_tt(1), dp_tt = policy_dp_tt(1),
                                    se = policy_dp_se(1, 0.05), local = policy_local(policy_top_two(), 2)),
                         runs = 5, seed = 1, limit = 1e5)
  expect_true(all(found$arm == 1 & found$correct))
  # An epoch of DP-SE: both arms were pulled ceil(R) times
  expect_identical(found$people[found$policy == "se"], rep(2 * ceiling(rounds_of_epoch(2, 1, 1, 0.05)), 5))
  bad <- function(expr, what) expect_error(expr, what, class = "dpts_error_input")
  bad(dpts_identify(arms, policy_adap_tt(1), error = 0.01), "has the error 0.05")
  bad(dpts_identify(arms, policy_dp_se(1, 0.3)), "is wrong with probability 0.3, which is above 0.05")
  bad(dpts_identify(arms, policy_restart(policy_top_two(), 100)), "restarts")
  bad(policy_adap_tt(0), "`epsilon`")
  bad(policy_dp_tt(Inf), "`epsilon`")
  bad(policy_dp_tt(1, 1), "`error`")
  bad(policy_adap_tt(1, threshold = "as run"), "`threshold`")
})
