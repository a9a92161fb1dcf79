at <- dpts:::conditions(1000, 2)
form <- dpts:::form
epsilon_of <- function(g, accountant, delta) dpts_privacy(g, 1000, delta = delta, accountant = accountant)$epsilon

test_that("zCDP converts by the Renyi line, is met by Gaussian noise, and adds up", {
  delta <- 10^-(2:9)
  rho <- 0.08
  # Gaussian noise of mu is mu^2 / 2-zCDP and no less: its own exact curve is below
  expect_equal(epsilon_of(privacy_zcdp(rho), "rdp", delta), rdp_epsilon(rdp = rho, delta = delta))
  expect_true(all(epsilon_of(privacy_zcdp(rho), "rdp", delta) >= gdp_epsilon(sqrt(2 * rho), delta)))
  # 40 digits (mpmath): the least over all orders, met and never below, in the last digit either
  exact <- c(0.12749473114362776, 0.26279047514045851, 1.6572101992147771, 2.8818280091742425, 9.6502129035773008)
  ours <- mapply(epsilon_of, lapply(c(0.001, 0.001, 0.1, 0.1, 2), privacy_zcdp), "rdp", c(1e-4, 1e-10, 1e-4, 1e-10, 1e-4))
  expect_true(all(ours >= exact & ours <= exact * (1 + 1e-14)))
  # never above Bun and Steinke's own conversion
  expect_true(all(epsilon_of(privacy_zcdp(rho), "rdp", delta) <= rho + 2 * sqrt(rho * log(1 / delta))))
  expect_equal(form(privacy_compose(privacy_zcdp(0.1), privacy_gdp(0.3)), "rdp", at), 0.1 + 0.3^2 / 2)
  expect_identical(format(privacy_compose(privacy_zcdp(0.25), privacy_zcdp(0.5))), "0.75-zCDP")
  expect_match(format(privacy_group(privacy_zcdp(0.1), 3)), "^0.9-zCDP for people")
  expect_equal(form(privacy_group(privacy_zcdp(0.1), 3), "rdp", at), 0.9)
})

test_that("what was cut off a table may be lost for certain", {
  at <- seq(-6.15, 6.15, by = 0.05) # N(1, 1) against N(0, 1), losses rounded up: 8e-10 is cut off
  table <- data.frame(loss = at[-1] + 0.5, probability = diff(stats::pnorm(at)))
  delta <- c(1e-12, 1e-10, 1e-6)
  expect_true(all(epsilon_of(privacy_loss(table), "pld", delta) >= gdp_epsilon(1, delta)))
  both <- privacy_loss(list(c(0.5, 0.5 - 2e-10), c(0.4, 0.6)))$pair
  expect_equal(pair_delta(both, Inf) / 2e-10, 1, tolerance = 1e-6)
  both <- privacy_loss(list(c(0.5, 0.5), c(0.4, 0.6 - 5e-10)))$pair
  expect_equal(pair_delta(both, Inf) / 5e-10, 1, tolerance = 1e-6)
})

test_that("a Renyi curve holds between its orders, never below a curve through them", {
  alpha <- c(1.5, 2, 4, 8, 32)
  g <- privacy_rdp(rev(alpha), function(a) 0.1 * a)
  curve <- form(g, "rdp", at)
  expect_equal(curve(alpha), 0.1 * alpha)
  between <- c(1.01, 1.7, 3, 6, 20)
  expect_true(all(curve(between) >= 0.1 * between & curve(between) <= 0.1 * c(1.5, 2, 4, 8, 32)))
  # convex, not only monotone: at 3 a third of the way in (alpha - 1) D
  expect_equal(curve(3), (0.1 * 2 * 1 + 0.1 * 4 * 3) / 2 / 2)
  expect_identical(curve(33), Inf)
  # kinks are orders that the search tries: the best of the orders given, or better
  for (delta in c(1e-3, 1e-6)) {
    best <- min(rdp_epsilon(alpha, 0.1 * alpha, delta))
    expect_lte(epsilon_of(g, "rdp", delta), best * (1 + 1e-12))
    expect_gte(epsilon_of(g, "rdp", delta), rdp_epsilon(rdp = 0.1, delta = delta))
  }
  # the optimal conversion at one order (Asoodeh and others 2021, by enumeration of two-point pairs) is not above ours
  one <- privacy_rdp(4, 0.3)
  epsilon <- epsilon_of(one, "rdp", 1e-3)
  expect_equal(epsilon_of(privacy_compose(one, one), "rdp", 1e-3), epsilon_of(privacy_rdp(4, 0.6), "rdp", 1e-3),
               tolerance = 1e-12) # at the same order
  p <- exp(seq(log(1e-3), log(0.9), length.out = 3000))
  q <- pmax(p - 1e-3, 0) * exp(-epsilon)
  divergence <- log(p^4 * q^-3 + (1 - p)^4 * (1 - q)^-3) / 3
  expect_gte(min(divergence), 0.3) # no pair of divergence 0.3 has more delta there
})

test_that("a divergence of a higher order bounds those below it", {
  curve <- form(privacy_rdp(c(8, 2), c(0.2, 0.5)), "rdp", at)
  expect_equal(curve(c(2, 8)), c(0.2, 0.2))
})

test_that("a pair is exact: randomised response, and the worst order of an asymmetric one", {
  e <- 0.7
  p <- plogis(e)
  g <- privacy_loss(list(c(p, 1 - p), c(1 - p, p)))
  delta <- c(0, 1e-9, 1e-3, 0.2)
  pure <- privacy_pure(e)
  expect_equal(epsilon_of(g, "pld", delta), epsilon_of(pure, "pld", delta))
  for (what in c("epsilon", "mu")) expect_equal(form(g, what, at), form(pure, what, at))
  alpha <- c(1.001, 2, 30, 1e4)
  expect_equal(form(g, "rdp", at)(alpha), form(pure, "rdp", at)(alpha), tolerance = 1e-9)
  expect_equal(epsilon_of(privacy_group(g, 3), "pld", delta), epsilon_of(privacy_group(pure, 3), "pld", delta))
  table <- privacy_loss(data.frame(probability = c(p, 1 - p), loss = c(e, -e)))
  expect_equal(table$pair, g$pair)

  withr::local_seed(8)
  for (i in 1:20) {
    P <- rgamma(5, 0.4)
    Q <- rgamma(5, 0.4)
    if (i %% 4 == 0) Q[1] <- 0
    P <- P / sum(P)
    Q <- Q / sum(Q)
    g <- privacy_loss(list(P, Q))
    direct <- function(e) max(sum(pmax(P - exp(e) * Q, 0)), sum(pmax(Q - exp(e) * P, 0)))
    e <- c(0, 0.01, 0.3, 1, 3, 8)
    expect_equal(vapply(e, dpts:::pair_delta, 0, pair = g$pair), vapply(e, direct, 0), tolerance = 1e-10)
    expect_equal(sum(g$pair$p) + g$pair$infinite, 1)
    # its own mirror: Q's masses are P's at the opposite losses
    expect_equal(rev(g$pair$p * exp(-g$pair$loss)), g$pair$p)
    # mu is the least: above the pair everywhere, and 0.1% less is not
    near <- form(g, "near", at)
    fine <- c(seq(0, 3, length.out = 500), abs(g$pair$loss))
    gap <- function(mu) gdp_delta(mu, fine) + near$least - vapply(fine, dpts:::pair_delta, 0, pair = g$pair)
    expect_true(all(gap(near$mu(near$least)) >= -1e-12))
    # where P has what Q never has, there is no epsilon, mu or curve without a delta
    if (near$least > 0) for (what in c("epsilon", "mu", "rdp")) expect_null(form(g, what, at))
  }
})

test_that("tables of losses compose, group and bound a Gaussian from above", {
  mu <- 0.8
  # P = N(mu, 1), Q = N(0, 1) in cells, losses rounded up: a worse mechanism
  edges <- seq(-6, 8, by = 0.02)
  cells <- data.frame(loss = c(edges[-1], Inf) * mu - mu^2 / 2, probability = diff(pnorm(c(-Inf, edges, Inf), mu))[-1])
  cells$probability[1] <- cells$probability[1] + pnorm(edges[1], mu)
  g <- privacy_loss(cells)
  delta <- c(1e-2, 1e-5, 1e-8)
  exact <- gdp_epsilon(mu, delta)
  expect_true(all(epsilon_of(g, "pld", delta) >= exact & epsilon_of(g, "pld", delta) <= exact + 0.03))
  two <- privacy_compose(g, privacy_pure(0.3))
  truth <- dpts_privacy(privacy_compose(privacy_gdp(mu), privacy_pure(0.3)), 10, delta = delta, accountant = "pld")$epsilon
  expect_true(all(epsilon_of(two, "pld", delta) >= truth & epsilon_of(two, "pld", delta) <= truth + 0.03))
  near <- form(g, "near", at)
  expect_gte(near$mu(near$least), mu)
  expect_lte(near$mu(near$least), mu + 0.05)
  # people with 3 rewards, against 3 mu; the iteration is exact for cells that are a Gaussian's
  three <- epsilon_of(privacy_group(g, 3), "pld", 1e-2)
  expect_gte(three, gdp_epsilon(3 * mu, 1e-2))
  expect_lte(three, gdp_epsilon(3 * mu, 1e-2) + 0.1)
  # the worse of two tables
  worse <- privacy_loss(list(list(c(0.6, 0.4), c(0.4, 0.6)), data.frame(loss = c(1, -1), probability = plogis(c(1, -1)))))
  expect_equal(form(worse, "epsilon", at), 1)
})

test_that("the largest pure guarantee and the largest mu inside orders of Renyi are at the edge of one of them", {
  orders <- privacy_rdp(c(2, 4), c(0.2, 0.3))
  expect_equal(dpts:::most_mu(orders), sqrt(2 * 0.3 / 4)) # mu^2 alpha / 2
  # Of randomised response, the worst of all that are epsilon-DP
  divergence <- function(epsilon, alpha) {
    p <- stats::plogis(epsilon)
    log(p^alpha * (1 - p)^(1 - alpha) + (1 - p)^alpha * p^(1 - alpha)) / (alpha - 1)
  }
  most <- dpts:::most_epsilon(orders)
  room <- c(0.2, 0.3) - divergence(most, c(2, 4))
  expect_true(all(room > -1e-8))
  expect_lt(min(room), 1e-6)
})

test_that("they are budgets, guarantees of one's own policy, and calls", {
  others <- list(privacy_zcdp(0.1), privacy_rdp(c(2, 8), c(0.2, 0.8)), privacy_loss(list(c(0.6, 0.3, 0.1), c(0.2, 0.3, 0.5))))
  own <- function(g) policy_custom("own", function(k, h) 0, function(s, r) 1, function(s, f) s, guarantee = g)
  for (budget in others) {
    expect_identical(eval(str2lang(as.character(budget))), budget)
    for (epsilon in dpts:::most_epsilon(budget) * c(1, 1.2)) {
      # at room's edge inside, beyond it outside or proved by another form
      inside <- dpts:::inside_budget(privacy_pure(epsilon), budget, at)
      if (epsilon == dpts:::most_epsilon(budget)) expect_true(inside)
    }
    expect_true(dpts:::inside_budget(own(budget)$guarantee, budget, at))
    expect_false(dpts:::inside_budget(own(privacy_pure(5))$guarantee, budget, at))
    expect_true(all(is.finite(dpts_privacy(own(budget), 10, delta = 1e-3)$epsilon)))
    expect_s3_class(autoplot(dpts_privacy(budget, 10)), "ggplot")
    expect_output(print(privacy_compose(budget, privacy_pure(1))), "\\+ 1-DP")
  }
  # With an infinite loss it is mu-GDP up to that alone, which a budget may allow.
  leaky <- privacy_loss(list(c(0.6, 0.4 - 1e-7, 1e-7), c(0.4, 0.6, 0)))
  mu <- form(leaky, "near", at)$mu(1e-7)
  expect_true(dpts:::inside_budget(leaky, privacy_gdp(mu + 1e-9, nu = 1e-6), at))
  expect_false(dpts:::inside_budget(leaky, privacy_gdp(0.99 * mu, nu = 1e-6), at))
  expect_false(dpts:::inside_budget(leaky, privacy_gdp(mu + 1e-9, nu = 1e-8), at))
  # room for mu: exactly the Gaussians below
  # Up to rounding, and no further
  expect_true(dpts:::inside_budget(privacy_gdp(1 + 1e-12), privacy_gdp(1), at))
  expect_false(dpts:::inside_budget(privacy_gdp(1 + 1e-8), privacy_gdp(1), at))
  expect_true(dpts:::inside_budget(privacy_gdp(sqrt(0.2)), others[[1]], at))
  expect_false(dpts:::inside_budget(privacy_gdp(sqrt(0.21)), others[[1]], at))
  loss <- others[[3]]$pair
  e <- seq(0, 2, by = 0.01)
  pure <- dpts:::pair_point(dpts:::most_epsilon(others[[3]]), 0)
  expect_true(all(vapply(e, dpts:::pair_delta, 0, pair = pure) <= vapply(e, dpts:::pair_delta, 0, pair = loss) + 1e-12))
  ts <- dpts_calibrate(privacy_zcdp(0.5), 1000, prepulls = 10)
  expect_equal(form(ts$guarantee, "mu", at), 1, tolerance = 1e-9)
})

test_that("what is no guarantee is refused by name", {
  bad <- function(code, words) expect_error(code, words, class = "dpts_error_input")
  bad(privacy_zcdp(-1), "`rho`")
  bad(privacy_zcdp(1e-20), "`rho` must be 0, or a number from 1e-12")
  bad(privacy_rdp(1, 1), "`alpha`")
  bad(privacy_rdp(c(2, 2), c(1, 1)), "different orders")
  bad(privacy_rdp(c(2, 3), 1), "one number for each of the 2 orders")
  bad(privacy_rdp(2, function(a) -1), "`rdp`")
  bad(privacy_loss(1), "`pairs` must hold two vectors")
  bad(privacy_loss(list(c(0.5, 0.5), c(0.6, 0.5))), "sum to 1, not to 1.1")
  bad(privacy_loss(list(c(0.5, 0.5), 1)), "of the same outcomes")
  bad(privacy_loss(data.frame(loss = c(-1, -2), probability = c(0.5, 0.5))), "at most 1, not 5")
  bad(privacy_loss(data.frame(loss = c(NA, 1), probability = c(0.5, 0.5))), "losses that are numbers")
})

test_that("a guarantee is inside a budget of losses only if its curve is nowhere above the budget's", {
  spent <- c(0.5, 0.07, 0.03, 0.4) # under P; in the other order under Q
  kept <- c(0.4, 0.03, 0.07, 0.5)
  budget <- privacy_loss(list(spent, kept))
  delta <- function(p, q, e) vapply(exp(e), function(x) max(sum(pmax(p - x * q, 0)), sum(pmax(q - x * p, 0))), 0)
  e <- c(0, log(c(spent / kept, kept / spent)), seq(0.004, 2, 0.004))
  e <- e[e >= 0]
  found <- expected <- logical()
  for (loss in c(0.2, 0.5, 0.84, 1.2)) for (shift in c(0.01, 0.05, 0.13)) { # the budget's shift is 0.14
    most <- shift / (1 - exp(-loss))
    p <- c(most, 1 - most * (1 + exp(-loss)), most * exp(-loss))
    if (p[2] < 0) next
    found <- c(found, dpts:::inside_budget(privacy_loss(list(p, rev(p))), budget, at))
    expected <- c(expected, all(delta(p, rev(p), e) <= delta(spent, kept, e) + 1e-12))
  }
  expect_identical(found, expected)
  expect_setequal(found, c(TRUE, FALSE))
})

test_that("a budget with an infinite loss has room for Gaussian policies below its whole curve", {
  budgets <- list(list(c(0.01, 0.6, 0.39, 0), c(0, 0.39, 0.6, 0.01)), list(c(0.1, 0.5, 0.4, 0), c(0, 0.2, 0.7, 0.1)))
  for (pairs in budgets) {
    budget <- privacy_loss(pairs)
    mu <- dpts:::most_mu(budget)
    e <- seq(0, 3, 0.01)
    above <- vapply(e, dpts:::pair_delta, 0, pair = budget$pair) - gdp_delta(mu, e)
    expect_true(all(above >= -1e-12))
    expect_lt(min(above), 1e-3) # and there is no more room
    at <- dpts:::conditions(100)
    expect_true(dpts:::inside_budget(policy_gaussian_imed(mu * (1 - 1e-9))$guarantee, budget, at))
    expect_false(dpts:::inside_budget(policy_gaussian_imed(mu * 1.01)$guarantee, budget, at))
  }
})
