# Composition and groups against numeric convolution: every reference here adds up probabilities of
# outcomes, or integrates densities, and shares no code with R/privacy-pair.R.

skip_on_cran() # takes seconds

quietly <- function(expr) suppressWarnings(expr, classes = "dpts_warning_shared_randomness")

# All outcomes of mechanisms whose outputs are few: rows of (P, Q), and delta at epsilon
outcomes <- function(tables) {
  Reduce(function(x, y) {
    cbind(as.numeric(outer(x[, 1], y[, 1])), as.numeric(outer(x[, 2], y[, 2])))
  }, tables)
}
hockey_stick <- function(pq, epsilon) sum(pmax(pq[, 1] - exp(epsilon) * pq[, 2], 0))
# The worst (epsilon, delta)-DP mechanism: Kairouz, Oh and Viswanath (2015), section 3
randomised_response <- function(epsilon, delta = 0) {
  p <- plogis(c(epsilon, -epsilon))
  rbind(c(delta, 0), (1 - delta) * p, (1 - delta) * rev(p), c(0, delta))
}

curve_of <- function(x, delta, accountant, horizon = 1000, ...) {
  dpts_privacy(x, horizon, delta = delta, accountant = accountant, ...)$epsilon
}

test_that("what no accountant can add up is refused, not left out", {
  free <- privacy_compose(policy_ts_gaussian(0, 10), privacy_gdp(1, nu = 1e-8))
  for (x in list(privacy_group(free, 2), privacy_compose(privacy_zcdp(1), privacy_approx(0.1, 1e-7)))) {
    expect_error(dpts_privacy(x, 10, delta = 1e-5), "some accountant can add up", class = "dpts_error_accountant")
  }
})

test_that("pure and (epsilon, delta) parts compose by the optimal theorem, exactly", {
  sets <- list(list(c(0.3, 0), c(0.7, 0), c(1.1, 0)), rep(list(c(0.4, 0)), 6),
               list(c(0.5, 1e-3), c(0.2, 0), c(1, 1e-4)), rep(list(c(0.1, 1e-5)), 5))
  for (set in sets) {
    parts <- lapply(set, function(s) if (s[2] == 0) privacy_pure(s[1]) else privacy_approx(s[1], s[2]))
    x <- do.call(privacy_compose, parts)
    pq <- outcomes(lapply(set, function(s) randomised_response(s[1], s[2])))
    for (epsilon in c(0.05, 0.4, 0.9, 1.3)) {
      delta <- hockey_stick(pq, epsilon)
      if (delta <= sum(pq[pq[, 2] == 0, 1]) + 1e-12) next
      expect_equal(curve_of(x, delta, "pld"), epsilon, tolerance = 1e-9)
    }
  }
  # Kairouz, Oh and Viswanath (2015), Theorem 3.3: k equal parts are (i eps, delta_i)-DP for
  # i = k - 2 j, with delta_i as printed there
  k <- 9
  eps <- 0.2
  x <- do.call(privacy_compose, rep(list(privacy_pure(eps)), k))
  for (i in 1:4) {
    l <- 0:(i - 1)
    delta <- sum(choose(k, l) * (exp((k - l) * eps) - exp((k - 2 * i + l) * eps))) / (1 + exp(eps))^k
    expect_equal(curve_of(x, delta, "pld"), (k - 2 * i) * eps, tolerance = 1e-9)
  }
  expect_equal(curve_of(x, 0, "pure"), k * eps)
  expect_equal(curve_of(x, 0, "pld"), k * eps)
})

test_that("Gaussian parts add by squares, and with pure ones by integration", {
  x <- quietly(privacy_compose(policy_gaussian_imed(0.6), privacy_gdp(0.8)))
  expect_equal(curve_of(x, 1e-5, "gdp"), gdp_epsilon(1, 1e-5), tolerance = 1e-12)
  expect_equal(curve_of(x, 1e-5, "rdp"), rdp_epsilon(rdp = 0.5, delta = 1e-5))
  # Gaussian Thompson sampling counts with the mu of its horizon
  x <- quietly(privacy_compose(policy_ts_gaussian(20, 3), privacy_gdp(0.8)))
  mu <- sqrt(0.8^2 + (1000 - 40) / (3 * 21))
  expect_equal(curve_of(x, 1e-5, "gdp"), gdp_epsilon(mu, 1e-5))
  # A Gaussian and a pure part: densities of both, integrated where P has more
  mu <- 0.7
  rr <- randomised_response(0.5)[2:3, ]
  x <- privacy_compose(privacy_gdp(mu), privacy_pure(0.5))
  for (epsilon in c(0.1, 1, 2.5)) {
    delta <- sum(apply(rr, 1, function(r) {
      # P(z) / Q(z) exp(epsilon) from z = where they cross
      cross <- mu / 2 + (epsilon - log(r[1] / r[2])) / mu
      integrate(function(z) r[1] * dnorm(z, mu) - exp(epsilon) * r[2] * dnorm(z), cross, cross + 40,
                rel.tol = 1e-11, abs.tol = 0)$value
    }))
    expect_equal(curve_of(x, delta, "pld"), epsilon, tolerance = 1e-7)
    # The others are upper bounds, by orders within some per cent.
    expect_gte(curve_of(x, delta, "gdp"), epsilon)
    expect_gte(curve_of(x, delta, "rdp"), epsilon)
  }
  alpha <- seq(2, 60, by = 0.01)
  both <- alpha * mu^2 / 2 + vapply(alpha, function(a) log(sum(rr[, 1]^a * rr[, 2]^(1 - a))) / (a - 1), 0)
  expect_equal(curve_of(x, 1e-6, "rdp"), min(rdp_epsilon(alpha, both, 1e-6)), tolerance = 1e-3)
})

test_that("each part has its own horizon and arms", {
  part <- policy_ts_gaussian(2)$guarantee
  mu <- function(horizon, arms) {
    gdp_mu(dpts_privacy(policy_ts_gaussian(2), horizon, delta = 0.1, arms = arms, accountant = "gdp")$epsilon, 0.1)
  }
  both <- privacy_compose(part, part, horizon = c(30, 50), arms = c(2, 8))
  found <- dpts_privacy(both, 1, delta = 0.1, accountant = "gdp")$epsilon
  expect_equal(found, gdp_epsilon(sqrt(mu(30, 2)^2 + mu(50, 8)^2), 0.1), tolerance = 1e-6)
})

test_that("the Renyi curve of pure DP is that of randomised response", {
  for (eps in c(1e-4, 0.3, 2, 20)) {
    a <- c(1.001, 1.5, 4, 30)
    pq <- randomised_response(eps)[2:3, ]
    by_sum <- vapply(a, function(a) {
      terms <- a * log(pq[, 1]) + (1 - a) * log(pq[, 2])
      (max(terms) + log(sum(exp(terms - max(terms))))) / (a - 1)
    }, 0)
    # The sum itself loses digits where it is next to 1.
    expect_equal(dpts:::pure_rdp(eps, a) / by_sum, rep(1, 4), tolerance = if (eps < 0.01) 1e-3 else 1e-10)
    expect_true(all(dpts:::pure_rdp(eps, a) <= pmin(eps, a * eps^2 / 2) * (1 + 1e-12)))
  }
  expect_equal(dpts:::pure_rdp(800, c(1.5, 3)), c(800, 800), tolerance = 1e-3)
  # and as that of a pair, of all sizes
  for (eps in c(1e-3, 1, 20, 100, 600)) {
    a <- c(1.01, 2, 7, 40)
    expect_equal(pair_rdp(pair_point(eps, 0))(a) / pure_rdp(eps, a), rep(1, 4))
  }
})

test_that("the sequence accountant composes order by order, and stays above the truth", {
  a <- policy_ts_gaussian(5, 2)
  b <- policy_ts_gaussian(0, 1)
  x <- quietly(privacy_compose(a, b, privacy_pure(0.1)))
  curve <- function(alpha) {
    alpha <- pmin(pmax(alpha, 1 + 1e-6), 1e6) # the best orders lie far inside
    sequence_rdp(alpha, 20 - 10, 5, 2) + sequence_rdp(alpha, 20, 0, 1) + dpts:::pure_rdp(0.1, alpha)
  }
  expect_equal(curve_of(x, c(1e-2, 1e-6), "sequence", 20), rdp_epsilon(rdp = curve, delta = c(1e-2, 1e-6)),
               tolerance = 1e-3)
  # Each part with a horizon of its own
  y <- quietly(privacy_compose(a, b, privacy_pure(0.1), horizon = c(20, 20, 7)))
  expect_equal(curve_of(y, 1e-6, "sequence", 9), curve_of(x, 1e-6, "sequence", 20))
  # One part: no less than its own accountant, up to its chords, and no more than a little
  one <- curve_of(a, 1e-6, "sequence", 50)
  alone <- curve_of(privacy_compose(a), 1e-6, "sequence", 50)
  expect_equal(alone, one, tolerance = 1e-3)
  # One round of two arms publishes one bit, Phi(x) or Phi(x + d), d = 1 / sqrt(c (n + 1)); two
  # policies two bits, at the worst x of each
  d <- 1 / sqrt(2)
  twice <- quietly(privacy_compose(b, b))
  for (delta in c(0.1, 1e-3)) {
    epsilon <- curve_of(twice, delta, "sequence", 1)
    position <- seq(-4, 4, by = 0.5)
    worst <- max(outer(position, position, Vectorize(function(x, y) {
      bit <- function(x, s) cbind(pnorm(c(x + s, -x - s)), pnorm(c(x, -x)))
      max(hockey_stick(outcomes(list(bit(x, d), bit(y, d))), epsilon),
          hockey_stick(outcomes(list(bit(x, -d), bit(y, -d))), epsilon))
    })))
    expect_lte(worst, delta)
  }
  # Not in a replay on a log whose arms are known
  replayed <- dpts:::replay_statement(b, 50, 2)
  expect_error(curve_of(privacy_compose(replayed), 1e-6, "sequence"), "sequence",
               class = "dpts_error_accountant")
})

test_that("DP-UCB-Int composes by shares of delta", {
  own <- policy_dp_ucb_int(0.05)
  x <- quietly(privacy_compose(own, privacy_pure(0.3)))
  for (delta in c(1e-2, 1e-6)) {
    epsilon <- curve_of(x, delta, "advanced")
    alone <- curve_of(own, delta, "advanced")
    expect_gt(epsilon, alone)
    expect_lte(epsilon, curve_of(own, delta / 2, "advanced") + 0.3)
    # Some share: what it says there, as a mechanism with few outcomes
    share <- c(0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1) * delta
    by_share <- vapply(share, function(d) {
      pq <- outcomes(list(randomised_response(curve_of(own, d, "advanced"), d), randomised_response(0.3)))
      uniroot(function(e) hockey_stick(pq, e) - delta * (1 + 1e-12), c(0, 20), tol = 1e-10)$root
    }, 0)
    expect_equal(epsilon, min(by_share), tolerance = 1e-5)
  }
  # Of several such parts each has its share of all of delta.
  three <- quietly(privacy_compose(own, own, own))
  expect_lte(curve_of(three, 1e-6, "advanced"), 3 * curve_of(own, 1e-6 / 3, "advanced") * (1 + 1e-9))
})

test_that("nothing promised stays nothing, however it is composed", {
  x <- quietly(privacy_compose(policy_ucb1(), privacy_pure(1)))
  expect_identical(dpts_privacy(x, 10, delta = 0.1)$epsilon, Inf)
  expect_identical(dpts_privacy(privacy_group(policy_ucb1(), 3), 10, delta = 0.1)$epsilon, Inf)
})

test_that("many different epsilons are added on knots: at most 2% above their 2^17 sums, and never below", {
  eps <- sqrt(1:17) / 10
  x <- do.call(privacy_compose, lapply(eps, privacy_pure))
  loss <- Reduce(function(sum, e) c(sum - e, sum + e), eps, 0)
  p <- Reduce(function(p, e) c(p * plogis(-e), p * plogis(e)), eps, 1)
  for (delta in c(0.1, 1e-6)) {
    exact <- uniroot(function(e) log(sum(p * pmax(-expm1(e - loss), 0))) - log(delta), c(0, sum(eps)), tol = 1e-12)$root
    found <- curve_of(x, delta, "pld")
    expect_gte(found, exact - 1e-9)
    expect_lt(found, exact * 1.005)
  }
  expect_equal(curve_of(x, 0, "pld"), sum(eps))
  found <- dpts_privacy(x, 10, delta = 1e-3)
  expect_identical(found$accountant, c("pure", "pld"))
  expect_lt(found$epsilon[2], 0.8 * found$epsilon[1])
})

# The epsilon of a list of atoms at delta, by root search
epsilon_of <- function(loss, p, delta, infinite = 0) {
  missing <- function(e) log(infinite + sum(p * pmax(-expm1(e - loss), 0))) - log(delta)
  if (infinite + sum(p * pmax(-expm1(-loss), 0)) <= delta) return(0)
  uniroot(missing, c(0, max(loss)), tol = 1e-13, extendInt = "no")$root
}

test_that("losses rounded to knots are never below the truth, and at most 2% above it", {
  withr::local_seed(8)
  for (i in 1:25) {
    pairs <- lapply(seq_len(sample(2:5, 1)), function(j) {
      m <- sample(2:5, 1)
      p <- switch(sample.int(3, 1), rexp(m), exp(5 * rnorm(m)), runif(m))
      q <- p * exp(switch(sample.int(2, 1), rnorm(m), rexp(m)) * exp(runif(1, log(1e-3), log(5))))
      told <- sample(c(0, 0, 1e-7), 1) # what is seen under P alone
      privacy_loss(list(c(p / sum(p) * (1 - told), told, 0), c(q / sum(q) * (1 - told), 0, told)))$pair
    })
    rounded <- Reduce(function(x, y) dpts:::pair_on_knots(x, y, 2000), pairs)
    loss <- Reduce(function(x, pair) as.numeric(outer(x, pair$loss, `+`)), pairs, 0)
    p <- Reduce(function(x, pair) as.numeric(outer(x, pair$p)), pairs, 1)
    infinite <- 1 - prod(1 - vapply(pairs, `[[`, 0, "infinite"))
    for (delta in c(0.1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12, 1e-30)) if (delta > 1.01 * infinite) {
      exact <- epsilon_of(loss, p, delta, infinite)
      found <- dpts:::pair_epsilon(rounded, delta)
      expect_gte(found, exact * (1 - 1e-9) - 1e-12)
      expect_lte(found, exact * 1.02 + 1e-9)
    }
  }
})

test_that("very many parts: as the binomial, the trinomial and Gauss have it", {
  at <- c(0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-100)
  # k-fold randomised response; up to 2^20 pairs of sums are added exactly
  for (k in c(300, 2100)) {
    j <- 0:k
    exact <- vapply(at, epsilon_of, 0, loss = (2 * j - k) * 0.05, p = dbinom(j, k, plogis(0.05)))
    found <- curve_of(do.call(privacy_compose, rep(list(privacy_pure(0.05)), k)), at, "pld")
    if (k == 300) expect_equal(found, exact, tolerance = 1e-8)
    expect_true(all(found >= exact * (1 - 1e-9) & found < exact * 1.01))
  }
  # 40 counts with two-sided geometric noise, moved by 2: losses of 2 eps, 0 and -2 eps
  a <- exp(-0.1)
  shape <- c(1 / (1 + a), (1 - a) * a / (1 + a), a^2 / (1 + a))
  one <- privacy_loss(list(shape, rev(shape)))
  few <- 40
  n <- expand.grid(up = 0:few, down = 0:few)
  n <- n[n$up + n$down <= few, ]
  mass <- mapply(function(up, down) dmultinom(c(up, few - up - down, down), prob = shape), n$up, n$down)
  exact <- vapply(at, epsilon_of, 0, loss = 0.2 * (n$up - n$down), p = mass)
  expect_equal(curve_of(do.call(privacy_compose, rep(list(one), few)), at, "pld"), exact, tolerance = 1e-8)
  # Tables of Gaussian mechanisms, each cut into 80 cells, which lose next to nothing
  mu <- seq(0.05, 0.2, length.out = 40)
  cut <- c(-Inf, seq(-4, 4, length.out = 79), Inf)
  tables <- lapply(mu, function(mu) privacy_loss(list(diff(pnorm(cut, mu / 2)), diff(pnorm(cut, -mu / 2)))))
  time <- system.time(found <- curve_of(do.call(privacy_compose, tables), at[1:5], "pld"), gcFirst = FALSE)[["user.self"]]
  expect_lt(time, 1)
  gauss <- gdp_epsilon(gdp_compose(mu), at[1:5])
  expect_true(all(found > 0.99 * gauss & found < 1.005 * gauss))
  # Compositions of compositions, beside a Gaussian part, as groups: none is refused
  half <- lapply(list(1:20, 21:40), function(i) do.call(privacy_compose, tables[i]))
  expect_equal(curve_of(do.call(privacy_compose, half), 1e-6, "pld"), found[3], tolerance = 1e-3)
  beside <- curve_of(do.call(privacy_compose, c(half, list(privacy_gdp(1)))), 1e-6, "pld")
  expect_equal(beside, gdp_epsilon(gdp_compose(c(mu, 1)), 1e-6), tolerance = 5e-3)
  expect_equal(curve_of(privacy_group(do.call(privacy_compose, tables[1:6]), 3), 1e-3, "pld"),
               gdp_epsilon(3 * gdp_compose(mu[1:6]), 1e-3), tolerance = 0.05)
})

test_that("a composition that was stopped leaves nothing behind for the next one", {
  at <- c(0.1, 1e-3, 1e-6)
  two <- function(a, b) pair_compose(list(pair_point(a, 0), pair_point(b, 0)))
  three <- function(a) pair_power(pair_point(a, 0), 3)
  stopped <- function(compose) {
    local_function("pair_add", function(old) function(...) stop("stopped"))
    expect_error(compose(), "stopped")
  }
  two(0.1, 0.2)
  stopped(function() two(0.3, 0.7))
  p <- plogis(c(0.3, 0.7))
  exact <- vapply(at, epsilon_of, 0, loss = c(1, 0.4, -0.4, -1), p = c(prod(p), p[2] * (1 - p[1]), p[1] * (1 - p[2]), prod(1 - p)))
  expect_equal(pair_epsilon(two(0.3, 0.7), at), exact)
  three(0.1)
  stopped(function() three(0.5))
  exact <- vapply(at, epsilon_of, 0, loss = (2 * (0:3) - 3) * 0.5, p = dbinom(0:3, 3, plogis(0.5)))
  expect_equal(pair_epsilon(three(0.5), at), exact)
})

# ---- groups -------------------------------------------------------------------------------

test_that("groups of pure and (epsilon, delta)-DP are the iterated trade-off function", {
  for (set in list(c(0.5, 0, 3), c(1, 0.01, 2), c(0.3, 0.05, 5), c(2, 1e-4, 4), c(0.1, 0.4, 3))) {
    eps <- set[1]
    delta <- set[2]
    k <- set[3]
    x <- privacy_group(if (delta == 0) privacy_pure(eps) else privacy_approx(eps, delta), k)
    # 1 - f of Dong, Roth and Su (2022), iterated on a grid (Theorem 2.14)
    type_1 <- c(0, exp(seq(log(1e-10), 0, length.out = 2e5)))
    power <- type_1
    for (i in seq_len(k)) {
      power <- pmin(1, delta + exp(eps) * power, 1 - exp(-eps) * (1 - delta - power))
    }
    for (epsilon in c(0, 0.3, 1, 0.9 * k * eps)) {
      truth <- max(power - exp(epsilon) * type_1)
      # on a grid: a little too small
      expect_lte(curve_of(x, min(truth + 1e-4, 1), "pld"), epsilon + 1e-9)
      expect_gte(curve_of(x, max(truth - 1e-9, 0), "pld"), epsilon)
    }
  }
  expect_equal(curve_of(privacy_group(policy_dp_imed(0.4), 5), 0, "pure"), 2)
})

test_that("a chain of randomised responses stays inside the group's curve", {
  # k + 1 streams in a row, each next pair differing by exp(eps) at most: shifts of a discrete
  # Laplace, clipped to a range, the mechanism that attains the group's curve at the ends
  eps <- 0.6
  k <- 3
  support <- -30:30
  chances <- function(at) {
    p <- exp(-eps * abs(support - at))
    p / sum(p)
  }
  x <- privacy_group(privacy_pure(eps), k)
  pq <- cbind(chances(-1), chances(k - 1)) # k steps apart
  step <- chances(0) / chances(1)
  expect_lte(max(abs(log(step))), eps + 1e-3)
  for (delta in c(1e-3, 0.05, 0.3)) {
    expect_lte(hockey_stick(pq, curve_of(x, delta, "pld")), delta * 1.01)
  }
})

test_that("Gaussian groups are k mu, reached when all rewards are in one sum", {
  x <- privacy_group(policy_gaussian_imed(0.5), 4)
  expect_equal(curve_of(x, 1e-5, "gdp"), gdp_epsilon(2, 1e-5))
  expect_equal(curve_of(x, 1e-5, "rdp"), rdp_epsilon(rdp = 2, delta = 1e-5))
  # k rewards split as s_1, s_2, ... over the releases: mu sqrt(sum s^2), never more than k mu
  for (split in list(4, c(3, 1), c(2, 2), rep(1, 4))) {
    truth <- gdp_delta(0.5 * sqrt(sum(split^2)), 1)
    expect_lte(curve_of(policy_gaussian_imed(0.5 * sqrt(sum(split^2))), truth, "gdp"),
               curve_of(x, truth, "gdp") + 1e-9)
  }
  # The Renyi rule for functions is k^2 rho alpha on a line
  line <- dpts:::group_curve_rdp(function(alpha) 0.3 * alpha, 5)
  expect_equal(line(c(1.1, 2, 9)), 25 * 0.3 * c(1.1, 2, 9))
})

test_that("groups of Gaussian Thompson sampling: above two changed rewards in two rounds", {
  # c = 1, b = 0: after a pull of each arm the policy draws. Two rewards of arm 1 changed by
  # 1 each shift its mean by 2 / (n + 1): one bit, with n = 2 a shift of 2 / 3 of sd 1 / sqrt(3).
  x <- privacy_group(policy_ts_gaussian(2, 1), 2)
  shift <- 2 / 3 * sqrt(3)
  for (delta in c(0.1, 1e-2, 1e-4)) {
    epsilon <- curve_of(x, delta, "sequence", 5)
    worst <- max(vapply(seq(-5, 5, by = 0.05), function(at) {
      hockey_stick(cbind(pnorm(c(at + shift, -at - shift)), pnorm(c(at, -at))), epsilon)
    }, 0))
    expect_lte(worst, delta)
    expect_lte(epsilon, curve_of(x, delta, "gdp", 5) * 1.2)
  }
  # k = 1 changes nothing; groups of groups multiply; a group goes into every part
  expect_identical(privacy_group(policy_ts_gaussian(), 1), policy_ts_gaussian()$guarantee)
  expect_identical(privacy_group(privacy_group(policy_gaussian_imed(1), 2), 3),
                   privacy_group(policy_gaussian_imed(1), 6))
  both <- privacy_group(privacy_compose(privacy_gdp(0.3), privacy_gdp(0.4)), 2)
  expect_equal(curve_of(both, 1e-5, "gdp"), gdp_epsilon(1, 1e-5))
})

test_that("groups of DP-UCB-Int follow the rule for (epsilon, delta)", {
  own <- policy_dp_ucb_int(0.02)
  x <- privacy_group(own, 3)
  for (delta in c(1e-3, 1e-6)) {
    epsilon <- curve_of(x, delta, "advanced")
    # by a search of its own
    goal <- function(log_d) {
      e <- curve_of(own, exp(log_d), "advanced")
      log_d + log(1 + exp(e) + exp(2 * e)) - log(delta)
    }
    root <- uniroot(goal, c(log(delta) - 20, log(delta)), tol = 1e-7)$root
    expect_gte(epsilon, 3 * curve_of(own, exp(root), "advanced") - 1e-9)
    expect_equal(epsilon, 3 * curve_of(own, exp(root), "advanced"), tolerance = 0.02)
  }
})

# ---- around them ----------------------------------------------------------------------------

test_that("shared random numbers are warned of once per session, where policies are composed", {
  rlang::reset_warning_verbosity("dpts_shared_randomness")
  expect_silent(privacy_compose(privacy_pure(1), privacy_gdp(1)))
  expect_silent(privacy_compose(policy_dp_imed(1), privacy_gdp(1)))
  expect_warning(privacy_compose(policy_dp_imed(1), policy_dp_imed(1)), "share random",
                 class = "dpts_warning_shared_randomness")
  expect_silent(privacy_compose(policy_dp_imed(1), policy_dp_imed(1)))
})

test_that("guarantees stand beside policies in dpts_privacy(), and print", {
  release <- mechanism_laplace(3, epsilon = 0.5, seed = 1)
  x <- privacy_compose(trial = policy_gaussian_imed(0.5), report = release)
  p <- dpts_privacy(list(policy_gaussian_imed(0.5), both = x, privacy_pure(1)), 100, delta = 1e-3)
  expect_identical(levels(p$policy), c("gaussian_imed", "both", "pure"))
  expect_setequal(p$accountant[p$policy == "both"], c("pld", "gdp", "rdp"))
  expect_s3_class(autoplot(p), "ggplot")
  expect_snapshot({
    print(x)
    print(privacy_group(policy_dp_imed(1 / 3), 4))
    print(policy_ts_gaussian(100, 5)$guarantee)
    print(policy_linucb(epsilon = 1, model = "shared")$guarantee)
    print(p)
  })
})

test_that("bad input is named", {
  expect_error(privacy_compose(), "`...`", class = "dpts_error_input")
  expect_error(privacy_compose(policy_dp_imed(1), 3), "`..2`", class = "dpts_error_input")
  expect_error(privacy_compose(privacy_pure(1), horizon = c(1, 2)), "`horizon`",
               class = "dpts_error_input")
  expect_error(privacy_compose(privacy_pure(1), horizon = 10, arms = 1), "`arms`",
               class = "dpts_error_input")
  expect_error(privacy_group(policy_dp_imed(1), 0), "`k`", class = "dpts_error_input")
  expect_error(privacy_group(2, 2), "`x`", class = "dpts_error_input")
  expect_error(dpts_privacy(list(a = privacy_pure(1), a = policy_ucb1()), 10), "twice",
               class = "dpts_error_input")
})

test_that("a composition in closed form prints as one guarantee", {
  said <- function(...) format(quietly(privacy_compose(...)))
  expect_identical(said(privacy_gdp(3), privacy_gdp(4)), "5-GDP")
  expect_identical(said(policy_dp_imed(1), policy_dp_imed(0.5)), "1.5-DP")
  expect_identical(said(privacy_gdp(3), privacy_pure(1), privacy_gdp(4)), "5-GDP + 1-DP")
  expect_identical(said(privacy_gdp(3, 1e-7), privacy_gdp(4, 2e-7)), "5-GDP up to 3e-07")
  both <- privacy_compose(privacy_gdp(3), privacy_gdp(4))
  expect_identical(said(both, privacy_gdp(12)), "13-GDP")
  expect_identical(format(privacy_group(both, 2)), "10-GDP for people with up to 2 rewards")
  expect_identical(said(privacy_group(privacy_gdp(3), 2), privacy_group(privacy_gdp(4), 3)),
                   "6-GDP for people with up to 2 rewards + 12-GDP for people with up to 3 rewards")
  expect_identical(said(policy_ts_gaussian(0, 1), policy_ts_gaussian(0, 1)),
                   "0.70711-GDP per draw + 0.70711-GDP per draw")
  expect_output(print(privacy_compose(privacy_gdp(3), privacy_gdp(4))), "Together: 5-GDP")
  # what other people would be neighbours of is not added up
  expect_match(said(policy_dp_imed(1), policy_linucb(epsilon = 1, contexts = "public")), "1-DP \\+ 1-DP for rewards")
})

test_that("budgets up to the largest work in every accountant, composition and group", {
  delta <- c(0, 1e-12, 1e-5, 0.1, 0.9, 1)
  for (x in c(745, 746, 1e12)) {
    for (budget in list(privacy_pure(x), privacy_approx(x, 1e-6), privacy_gdp(x), privacy_gdp(x, 1e-7))) {
      for (all in list(budget, privacy_compose(budget, privacy_pure(1)), privacy_compose(budget, budget),
                       privacy_group(budget, 3), privacy_compose(budget, privacy_gdp(1)))) {
        for (accountant in dpts:::accountants_of(all, dpts:::conditions(10))) {
          epsilon <- curve_of(all, delta, accountant, 10)
          expect_false(anyNA(epsilon))
          if (accountant != "pure") expect_identical(epsilon[6], 0)
        }
      }
    }
    expect_equal(curve_of(privacy_pure(x), 0.1, "pld"), x + log(0.9), tolerance = 1e-12)
    expect_equal(curve_of(privacy_group(privacy_pure(x), 3), 0, "pld"), 3 * x)
    # what tells all with chance delta, for a group of three tells all
    expect_equal(curve_of(privacy_group(privacy_approx(x, 1e-6), 3), 0.5, "pld"), Inf)
  }
})

test_that("groups of very many are settled at once", {
  time <- system.time(one <- curve_of(privacy_group(privacy_approx(1, 1e-6), 1e6), c(0.5, 1), "pld"), gcFirst = FALSE)
  expect_lt(time[["user.self"]], 5)
  expect_identical(one, c(Inf, 0))
  # 1,000 steps of the trade-off function g one by one
  k <- 1000
  e <- 1e-3
  d <- 1e-6
  g <- function(x) pmin(1, d + exp(e) * x, 1 - (1 - d - x) / exp(e))
  of_group <- function(x) { for (i in seq_len(k)) x <- g(x); x }
  # delta at epsilon is the largest of g^k(x) - exp(epsilon) x
  epsilon <- 0.7
  x <- seq(0, 0.6, by = 1e-3)
  delta <- max(of_group(x) - exp(epsilon) * x)
  found <- curve_of(privacy_group(privacy_approx(e, d), k), delta, "pld")
  expect_equal(found, epsilon, tolerance = 1e-3)
  expect_gte(found, epsilon - 1e-9)
})

test_that("a budget is a guarantee, and a guarantee a budget", {
  expect_s3_class(privacy_gdp(1), c("dpts_budget", "dpts_guarantee"), exact = TRUE)
  expect_identical(dpts_calibrate(policy_gaussian_imed(1)$guarantee, 1000, 5, "gdp"),
                   dpts_calibrate(privacy_gdp(1), 1000, 5, "gdp"))
  expect_error(dpts_calibrate(policy_ts_gaussian()$guarantee, 1000, 5), "`budget`", class = "dpts_error_input")
  budgets <- list(privacy_pure(1), privacy_approx(1, 1e-6), privacy_gdp(0.1), privacy_gdp(1, 1e-7))
  for (budget in budgets) expect_identical(eval(str2lang(as.character(budget))), budget)
})

test_that("parts that hold up to nus share what there is of them", {
  at <- dpts:::conditions(22)
  near <- function(...) dpts:::form(suppressWarnings(privacy_compose(...)), "near", at)
  policy <- policy_ts_gaussian(5, 3)
  mu <- function(nu) dpts:::form(policy$guarantee, "near", at)$mu(nu)
  # 1e-4 is of the fixed part, and each of the others has a half of what is left.
  three <- near(policy, privacy_gdp(1, nu = 1e-4), policy)
  expect_identical(three[c("least", "free")], list(least = 1e-4, free = TRUE))
  expect_equal(three$mu(3e-4), sqrt(2 * mu(1e-4)^2 + 1))
  expect_identical(three$mu(0.99e-4), Inf)
  # Nus of fixed parts add up, and a part without one needs none.
  fixed <- near(privacy_gdp(1, nu = 1e-4), privacy_gdp(2, nu = 3e-4), privacy_gdp(3))
  expect_equal(fixed[c("least", "free")], list(least = 4e-4, free = FALSE))
  expect_equal(c(fixed$mu(4e-4), fixed$mu(0.5), fixed$mu(3.9e-4)), c(sqrt(14), sqrt(14), Inf))
})

test_that("a group of a guarantee up to a nu has a curve above the exact one", {
  # The worst mechanism: everything is told with chance nu, else N(0, 1) against N(mu, 1).
  mu <- 0.7
  nu <- 1e-3
  power <- function(x) nu + (1 - nu) * pnorm(qnorm(pmin(1, x / (1 - nu))) + mu)
  at <- dpts:::conditions(100)
  for (k in c(2, 5)) {
    group <- privacy_group(privacy_gdp(mu, nu), k)
    near <- dpts:::form(group, "near", at)
    x <- 10^seq(-12, 0, length.out = 2000)
    exact <- Reduce(function(y, i) power(y), seq_len(k), x)
    bound <- pnorm(qnorm(x) + near$mu(near$least)) + near$least
    expect_true(all(exact <= bound + 1e-15))
    expect_lt(min(bound / exact), 1.01)
    epsilon <- dpts_privacy(group, 100, delta = c(0, near$least, near$least + 0.1))$epsilon
    expect_equal(epsilon, c(Inf, Inf, gdp_epsilon(k * mu, 0.1)))
  }
  expect_equal(dpts:::form(privacy_group(privacy_gdp(mu, 1e-9), 1e6), "near", at)$mu(0.5), Inf)
  # The nu of Thompson sampling is free: what a group of it means beside another nu is not known.
  none <- privacy_group(privacy_compose(policy_ts_gaussian(100, 10), privacy_gdp(1, nu = 1e-7)), 2)
  expect_error(dpts_privacy(none, 1000, delta = 1e-5), class = "dpts_error_accountant")
  expect_match(paste(as.character(privacy_statement(none, horizon = 1000)), collapse = " "), "every time")
})
