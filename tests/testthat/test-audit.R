# Sampling: the bound is valid at its level, finds mistakes, and comes close to the truth.

skip_on_cran() # takes seconds

test_that("the limits are those of Clopper and Pearson", {
  for (hits in c(0, 1, 17, 40)) {
    test <- function(side) binom.test(hits, 40, conf.level = 0.99, alternative = side)$conf.int
    expect_equal(clopper_lower(hits, 40, 0.01), test("greater")[1])
    expect_equal(clopper_upper(hits, 40, 0.01), test("less")[2])
  }
})

test_that("the event is the best of those that scores offer, in either direction", {
  # 900 of 1,000 runs score 1 on x, 100 of them on y; the score itself is named "b".
  bits <- function(ones) rep(1:0, c(ones, 1000 - ones))
  x <- list(a = rep(0, 1000), b = bits(900))
  y <- list(a = rep(0, 1000), b = bits(100))
  event <- choose_event(x, y, 0, 0.01)
  expect_equal(event[c("score", "cut")], list(score = "b", cut = 1))
  truth <- log(clopper_lower(900, 1000, 0.01) / clopper_upper(100, 1000, 0.01))
  expect_equal(event$epsilon, truth)
  expect_equal(measure_event(event, x, y, 0, 0.01), truth)
  # Low scores can tell more, of the second stream: 10 of 1,000 against 500.
  x <- list(b = bits(990))
  y <- list(b = bits(500))
  event <- choose_event(x, y, 0.1, 0.01)
  expect_equal(event$sign, -1)
  expect_equal(measure_event(event, x, y, 0.1, 0.01),
               log((clopper_lower(500, 1000, 0.01) - 0.1) / clopper_upper(10, 1000, 0.01)))
  # Nothing to see
  flat <- list(a = rep(0, 1000))
  expect_equal(measure_event(choose_event(flat, flat, 0, 0.01), flat, flat, 0, 0.01), 0)
})

# After one reward, which privacy turns round with chance 1 - p, Beta posteriors pull the arm again with chance 2 / 3 if
# it is 1, and 1 / 3 if it is 0. So two rounds are randomised response, of which the loss is known.
RESPONSE <- policy_local(policy_ts_beta(), 4)
RESPONSE_TRUTH <- log((1 + plogis(4)) / (2 - plogis(4)))

test_that("an honest policy is accused no more often than the level says", {
  # Of dpts_audit(level = 0.5) what depends on the seed
  audits <- if (extended()) 2000 else 40
  pairs <- audit_adversaries("success", 2, 2, 1)
  found <- vapply(seq_len(audits), function(seed) audit_sampling(RESPONSE, pairs, 100, seed, 0.25, 0)[[1]]$lower, 0)
  false_alarms <- sum(found > RESPONSE_TRUTH)
  # The level says one half. But both limits must fail together: with halves of equal size the rate of
  # alarms is about P(N > sqrt(2) z) = 0.17 at z = qnorm(0.75), and more than that would be a mistake, too.
  # A bound that were never wrong would be useless.
  rate <- pnorm(sqrt(2) * qnorm(0.75), lower.tail = FALSE)
  expect_lte(false_alarms, qbinom(0.999, audits, rate))
  expect_gt(false_alarms, 0.05 * audits)
  expect_gt(mean(found), RESPONSE_TRUTH / 2)
})

test_that("the rows of a call share the risk", {
  audit <- function(level, ...) dpts_audit(RESPONSE, 2, runs = 1000, level = level, seed = 1, ...)
  four <- audit(0.5, streams = c("success", "silent"), delta = c(0, 0.01))
  expect_identical(four$lower[1], audit(1 - 0.5 / 4, streams = "success")$lower)
  expect_lt(four$lower[1], audit(0.5, streams = "success")$lower)
})

test_that("a policy that loses a little more than it claims is caught", {
  lax <- RESPONSE
  lax$guarantee <- privacy_pure(0.85 * RESPONSE_TRUTH)
  audit <- dpts_audit(lax, 2, streams = "success", runs = 10000, level = 0.95, seed = 1)
  expect_gt(audit$lower, 0.85 * RESPONSE_TRUTH)
  expect_lt(audit$lower, RESPONSE_TRUTH)
  expect_false(audit$holds)
  expect_match(tbl_sum(audit)[["Finding"]], "does NOT hold")
})

test_that("policies with the usual mistakes are caught, the honest one is not", {
  audit <- function(mistake, batch = 1, runs = 100, horizon = 8) {
    dpts_audit(noisy_leader(1, mistake, batch), horizon, streams = "contest", runs = runs, level = 0.95, seed = 3)
  }
  honest <- audit("none", runs = 500, horizon = 4)
  expect_true(honest$holds)
  # A single choice between the two: log(0.5 / (0.75 exp(-1))), see test-privacy-audit.R
  expect_gt(honest$lower, 0.4)
  expect_false(audit("noise redrawn", runs = 1200)$holds)
  # These show in fewer runs.
  expect_false(audit("half the noise", runs = 600, horizon = 5)$holds)
  for (mistake in c("raw index", "shared noise")) expect_false(audit(mistake)$holds, label = mistake)
  expect_true(audit("none", 3)$holds)
  expect_false(audit("peeking batch", 3)$holds)
})

test_that("private policies in C hold, and a good part of what they claim is found", {
  pure <- list(policy_adap_ucb(1), policy_lazy_ucb(1), policy_dp_imed(1),
               policy_mt_ucb(1, tuned = TRUE, split_budget = FALSE))
  audit <- function(policy, ...) {
    dpts_audit(policy, 10, streams = "silent", runs = 4000, seed = 1, ...)
  }
  found <- lapply(pure, audit)
  expect_true(all(unlist(lapply(found, `[[`, "holds"))))
  expect_gt(max(vapply(found, `[[`, 0, "lower")), 0.5)
  gaussian <- list(policy_gaussian_imed(1, 1.5, 1), policy_ts_gaussian(1, 2))
  found <- lapply(gaussian, audit, delta = c(0.1, 0.01))
  expect_true(all(unlist(lapply(found, `[[`, "holds"))))
  expect_gt(min(vapply(found, function(a) max(a$lower), 0)), 0.2)
})

test_that("what is sampled lies below what is exact, and not far below", {
  cases <- list(failure = policy_ts_gaussian(2, 0.5), success = policy_ts_beta())
  for (stream in names(cases)) {
    args <- list(cases[[stream]], 9, streams = stream, delta = c(0.1, 0.01))
    exact <- do.call(dpts_audit, c(args, method = "exact"))
    sampled <- do.call(dpts_audit, c(args, runs = 6000, level = 0.95, seed = 1))
    expect_true(all(sampled$lower <= exact$lower))
    expect_gt(min((sampled$lower / exact$lower)[exact$lower > 0.2]), 0.5)
  }
  # Policies that do not look at rewards tell nothing.
  for (policy in list(policy_uniform(), policy_fixed(2))) {
    nothing <- dpts_audit(policy, 9, streams = c("silent", "contest"), runs = 400, seed = 1, arms = 3)
    expect_equal(nothing$lower, c(0, 0))
  }
})

test_that("the classifier comes close to the known likelihood ratio", {
  pair <- changed_first(audit_catalogue(40, 2, 1)$stages)
  attack <- function(policy) audit_sampling(policy, list(pair), 4000, 1, 1e-3, 0.1)[[1]]$lower
  known <- attack(policy_ts_gaussian())
  # A budget that is never spent makes the ratio unknown, and changes nothing else.
  filtered <- policy_ts_gaussian(filter = privacy_gdp(1e6))
  expect_null(arm_chances(filtered))
  fitted <- attack(filtered)
  expect_gt(fitted, 0.7 * known)
  expect_lt(fitted, 1.15 * known)
})

test_that("features say what happened after the streams differ", {
  # Rounds 1 to 6, two runs; the streams differ in round 2, where arms 1 and 2 are pulled.
  arms <- cbind(c(2, 1, 2, 2, 1, 1), c(1, 2, 2, 1, 1, 1))
  expect_equal(next_pulls(cbind(c(0, 0, 1, 1), c(1, 0, 0, 0)), 2), rbind(c(3, 4), c(1, 5)))
  f <- unname(run_features(run_counts(arms, 2, 2), alike = FALSE))
  # Four blocks of one round, log(1 + pulls), never, waits, pulls of arm 1, changes of arm;
  # then the same for runs whose private arm is arm 1.
  own <- rbind(c(0, 0, 1, 1, log(3), 0, log(c(3, 4, 5)), 2, 1),
               c(1, 0, 0, 0, log(2), 0, log(c(1, 5, 5)), 3, 1))
  expect_equal(f, cbind(own, own * c(1, 0), c(1, 0)))
  expect_equal(window_codes(arms, 2:3, 2), c(0 + 2, 1 + 2))
  windows <- window_rounds(100, 2, 5, 1e4)
  expect_true(all(vapply(windows, function(w) w[1] == 5 && all(diff(w) > 0) && max(w) <= 100, NA)))
  expect_equal(window_rounds(6, 2, 2, 1e4), list(2:6))
})

test_that("runs are keyed by seed and number, and R's generator is left alone", {
  withr::local_seed(3)
  before <- .Random.seed
  for (policy in list(policy_lazy_ucb(1), noisy_leader(1))) {
    audit <- function() dpts_audit(policy, 6, runs = 100, streams = c("silent", "random"), seed = 5)
    base <- audit()
    expect_identical(.Random.seed, before)
    expect_identical(audit(), base)
  }
  dpts_audit(policy_uniform(), 6, runs = 100, streams = "silent")
  expect_false(identical(.Random.seed, before))
  # Pieces of runs are the runs.
  stream <- matrix(0.5, 5, 2)
  whole <- play_stream(policy_ts_gaussian(), stream, 1:10, 7)
  expect_identical(play_stream(policy_ts_gaussian(), stream, 1:10, 7, threads = 2), whole)
  expect_identical(cbind(play_stream(policy_ts_gaussian(), stream, 1:4, 7),
                         play_stream(policy_ts_gaussian(), stream, 5:10, 7)), whole)
})

test_that("the catalogue and the candidates are neighbours in [0, 1]", {
  for (k in 2:3) {
    pairs <- audit_adversaries(NULL, 20, k, 1)
    expect_named(pairs, c("silent", "success", "failure", "contest", "alternating", "stages",
                          "random", "searched", "fractions"))
    for (pair in c(pairs[names(pairs) != "searched"], pairs$searched$candidates)) {
      expect_equal(dim(pair$x), c(20, k))
      expect_identical(check_streams(pair, 20, k), pair)
      expect_equal(changed_round(pair), 1)
      pay <- if (identical(pair, pairs$fractions)) c(0, 0.99) else c(0, 1)
      expect_true(all(pair$x[1, ] == pay[1] & pair$y[1, ] == pay[2])) # whichever arm comes first
    }
    expect_setequal(pairs$fractions$x[-1, ], c(0.25, 0.75))
  }
  expect_equal(audit_catalogue(8, 2, 1)$stages[, 2], c(0, 1, 1, 0, 0, 0, 0, 1))
})

test_that("streams of one's own are played, whichever comes first", {
  x <- matrix(0.5, 6, 3)
  y <- x
  y[4, 2] <- 1
  a <- dpts_audit(policy_ts_gaussian(1), 6, streams = list(x, y), method = "exact", delta = 0.01)
  b <- dpts_audit(policy_ts_gaussian(1), 6, streams = list(y, x), method = "exact", delta = 0.01)
  expect_equal(a$adversary, "given")
  expect_equal(a$lower, b$lower)
  expect_gt(a$lower, 0)
  # The last reward can tell no one anything.
  y <- x
  y[6, ] <- 1
  a <- dpts_audit(policy_ts_gaussian(1), 6, streams = list(x, y), method = "exact", delta = 0.01)
  expect_equal(a$lower, 0, tolerance = 1e-12)
  a <- dpts_audit(policy_lazy_ucb(1), 6, streams = list(x, y), runs = 500, seed = 1)
  expect_equal(a$lower, 0)
})

test_that("results have their columns, prints and tables", {
  a <- dpts_audit(policy_ts_gaussian(), 5, delta = c(0.1, 0.01), method = "exact")
  expect_named(a, c("adversary", "method", "delta", "claimed", "lower", "runs", "holds"))
  expect_s3_class(a, "dpts_audit")
  expect_equal(nrow(a), 18)
  expect_equal(a$runs[1], 2^5)
  expect_equal(a$claimed[1:2], least_epsilon(policy_ts_gaussian()$guarantee, conditions(5), c(0.1, 0.01)))
  # Pre-pulls are free for each arm: of more arms less is claimed.
  paid <- policy_ts_gaussian(2)
  claimed <- dpts_audit(paid, 9, arms = 3, streams = "success", delta = 0.1, runs = 100, seed = 1)$claimed
  expect_equal(claimed, min(dpts_privacy(paid, 9, delta = 0.1, arms = 3)$epsilon))
  expect_lt(claimed, min(dpts_privacy(paid, 9, delta = 0.1)$epsilon))
  s <- summary(a)
  expect_equal(s$delta, c(0.1, 0.01))
  expect_equal(s$lower, c(max(a$lower[a$delta == 0.1]), max(a$lower[a$delta == 0.01])))
  expect_named(tidy(a), c("term", "method", "delta", "estimate", "claimed", "holds"))
  expect_true(glance(a)$holds)
  expect_equal(glance(a)$nobs, sum(a$runs[a$delta == 0.1]))
  expect_match(tbl_sum(a)[["Finding"]], "nothing that contradicts")
  nothing <- dpts_audit(policy_ucb1(), 5, method = "exact")
  expect_true(all(nothing$claimed == Inf & nothing$holds))
  expect_match(tbl_sum(nothing)[["Finding"]], "nothing is claimed")
  zero <- dpts_audit(policy_ts_gaussian(), 5, method = "exact")
  expect_match(tbl_sum(zero)[["Finding"]], "at this delta")
})

test_that("plots show the claim and what was found", {
  one <- dpts_audit(response_policy(1, claim = 0.1), 2, streams = c("silent", "success"), runs = 400,
                    seed = 1)
  plot <- autoplot(one)
  layers <- ggplot2::ggplot_build(plot)$data
  expect_setequal(layers[[1]]$xmax, one$lower)
  expect_equal(unique(layers[[1]]$fill), audit_colours()[["finding above the claim"]])
  expect_equal(unique(layers[[3]]$xintercept), 0.1)
  expect_match(ggplot2::get_alt_text(plot), "does NOT hold")
  kinds <- c("silent", "success", "contest")
  many <- dpts_audit(policy_ts_gaussian(), 5, streams = kinds, delta = c(0.1, 0.01), method = "exact")
  drawn <- autoplot(many)
  points <- ggplot2::layer_data(drawn, 3)
  expect_equal(sort(points$y), sort(many$lower))
  expect_equal(length(unique(points$PANEL)), length(kinds))
  # Nothing claimed: no line, and no error
  none <- dpts_audit(policy_ts_beta(), 4, streams = "success", method = "exact")
  expect_silent(empty <- autoplot(none))
  expect_silent(ggplot2::ggplot_build(empty))
  # Each sentence of the caption is there where it is true of all that is drawn.
  caption <- function(plot) gsub("\\s+", " ", plot$labels$caption %||% "")
  some <- many
  some$claimed[some$delta == 0.01] <- Inf
  expect_identical(vapply(list(empty, drawn, autoplot(some)), caption, ""), c("Nothing is claimed.", "", ""))
  expect_identical(caption(plot), "Findings hold together with 99.9% confidence.")
  # What is most above its own claim is named, not what is largest.
  above <- many
  above[1:3, c("claimed", "lower", "holds")] <- data.frame(c(3, 0.2, 2), c(3.5, 1, 1.9), c(FALSE, FALSE, TRUE))
  expect_identical(audit_verdict(above), sprintf("the claim does NOT hold: \"%s\" finds at least 1, claimed is 0.2",
                                                 as.character(above$adversary[2])))
  # A larger delta is named only where all are smaller than it.
  open <- many
  open$claimed <- Inf
  expect_identical(audit_verdict(some), "nothing that contradicts the claim")
  expect_identical(audit_verdict(none), "nothing is claimed")
  open$delta[open$delta == 0.01] <- 1e-9
  expect_identical(audit_verdict(open), "nothing is claimed at this delta; give a larger one")
  open$delta <- 1e-9
  expect_identical(audit_verdict(open), "nothing is claimed at this delta; give a larger one, such as `delta = 1e-5`")
})

test_that("bad input is refused by name", {
  bad <- function(expr, arg) {
    error <- expect_error(expr, class = "dpts_error_input")
    expect_match(conditionMessage(error), arg, fixed = TRUE)
  }
  p <- policy_ts_gaussian()
  bad(dpts_audit(1, 5), "`policy`")
  bad(dpts_audit(policy_linucb(), 5), "`policy`")
  bad(dpts_audit(policy_fixed(3), 5), "`policy`")
  bad(dpts_audit(p, 0), "`horizon`")
  bad(dpts_audit(policy_ts_gaussian(10), 15), "`horizon`")
  bad(dpts_audit(p, 25, method = "exact"), "`horizon`")
  bad(dpts_audit(p, 5, run = 5), "`runs`")
  bad(dpts_audit(p, 5, arms = 1), "`arms`")
  bad(dpts_audit(p, 5, delta = 1), "`delta`")
  bad(dpts_audit(p, 5, runs = 10), "`runs`")
  bad(dpts_audit(p, 5, level = 1), "`level`")
  bad(dpts_audit(p, 5, method = "magic"), "`method`")
  bad(dpts_audit(policy_lazy_ucb(1), 5, method = "exact"), "`method`")
  bad(dpts_audit(policy_ts_beta(), 5, method = "exact", streams = "contest"), "`method`")
  bad(dpts_audit(p, 5, seed = -1), "`seed`")
  bad(dpts_audit(p, 5, streams = "loud"), "`streams`")
  x <- matrix(0.5, 5, 2)
  y <- x
  bad(dpts_audit(p, 5, streams = list(x)), "`streams`")
  bad(dpts_audit(p, 5, streams = list(x, y)), "`streams`")
  y[1:2, 1] <- 1
  bad(dpts_audit(p, 5, streams = list(x, y)), "rounds 1, 2")
  y <- x
  y[1, 1] <- 2
  bad(dpts_audit(p, 5, streams = list(x, y)), "`streams`")
  y[1, 1] <- NA
  bad(dpts_audit(policy_ucb1(), 5, streams = list(x, y)), "finite numbers")
  bad(dpts_audit(p, 6, streams = list(x, x)), "`streams`")
  bad(dpts_audit(p, 5, arms = 3, streams = list(x, x)), "`streams`")
})

# ---- method "coupling" ----------------------------------------------------------------------

test_that("coupled paths cost what was promised, and no more", {
  pure <- list(policy_adap_ucb(0.7), policy_dp_imed(0.7), policy_lazy_ucb(0.7),
               policy_mt_ucb(0.7), policy_dp_ts(0.7))
  for (policy in pure) {
    audit <- dpts_audit(policy, 31, delta = c(0, 0.05), runs = 100, method = "coupling", seed = 1,
                        streams = "random")
    expect_true(all(audit$holds))
    expect_lte(max(audit$lower), 0.7 * (1 + 1e-12))
    expect_equal(audit$runs, rep(100, 2))
  }
  # A batch policy spends all of it on its first reward, at every delta.
  audit <- dpts_audit(policy_adap_ucb(0.7), 20, delta = c(0, 0.05), method = "coupling", seed = 1,
                      streams = "silent")
  expect_equal(audit$lower, c(0.7, pure_curve(0.7, 0.05)))
  expect_equal(audit$claimed, audit$lower)
  # Gaussian noise costs mu.
  audit <- dpts_audit(policy_adac_ucb(0.7), 20, delta = c(0, 0.05), method = "coupling", seed = 1,
                      streams = "silent")
  expect_equal(audit$lower, c(Inf, gdp_epsilon(0.7, 0.05)))
  expect_true(all(audit$holds))
})

test_that("a path on which something else decides costs everything", {
  # A policy that says it adds noise and does not: its releases have no scale.
  bare <- policy_adap_ucb(Inf)
  bare$guarantee <- guarantee_pure(1)
  audit <- dpts_audit(bare, 20, method = "coupling", streams = "silent", runs = 100, seed = 1)
  expect_equal(audit$lower, Inf)
  expect_false(audit$holds)
  # and one that promises half of what it pays
  lax <- policy_dp_imed(1)
  lax$guarantee <- guarantee_pure(0.5)
  audit <- dpts_audit(lax, 20, method = "coupling", streams = "silent", runs = 100, seed = 1)
  expect_equal(audit$lower, 1)
  expect_false(audit$holds)
})

test_that("an arm that comes from a raw reward costs everything, even if no release shows it", {
  n <- 4
  nothing <- list(exact = numeric(), kind = numeric(), scale = numeric(), noise = numeric(), value = numeric(),
                  release = numeric())
  player <- function(script, forced = NULL) {
    list(arm = 1 + c(0, script$rewards[-n, 1]), released = integer(n), ledger = nothing)
  }
  x <- matrix(0, n, 2)
  pairs <- list(list(x = x, y = replace(x, 1, 1)), list(x = x, y = replace(x, n, 1)))
  found <- audit_coupling(NULL, pairs, runs = 2, seed = 1, delta = c(0, 0.1), player)
  expect_identical(lapply(found, `[[`, "lower"), list(c(Inf, Inf), c(0, 0)))
})

test_that("the dearest path counts, releases tie on some, and a scale may say nothing of rewards", {
  # One release of the first reward, before the second round
  found <- function(exact = 0, scale = 1, arm = 1) {
    player <- function(script, forced = NULL) {
      known <- list(first = script$rewards[1, 1], odd = script$seed %% 2, value = forced[1] %||% 0.3)
      one <- function(what) eval(what, known)
      list(arm = c(1, one(arm)), released = c(0, 1), ledger = list(
        exact = one(exact), kind = 1, scale = one(scale), noise = 0.3, value = known$value, release = 1
      ))
    }
    x <- matrix(0, 2, 2)
    audit_coupling(NULL, list(list(x = x, y = replace(x, 1, 1))), 2, seed = 1, delta = 0, player)[[1]]$lower
  }
  expect_equal(found(quote(first)), 1)
  expect_equal(found(quote(first * odd)), 1)
  expect_equal(found(quote(first * (1 - odd))), 1)
  expect_equal(found(scale = quote(1 + first)), Inf)
  # An arm that the reward decides where releases are whole numbers
  expect_equal(found(arm = quote(1 + first * (value %% 1 == 0))), Inf)
})

test_that("costs add up as Kairouz, Oh and Viswanath's theorem has it, beside Gaussian noise as Gaussian", {
  e <- c(rep(0.1, 100), 0.2)
  expect_equal(coupling_epsilon(list(epsilon = e, mu = 0), c(0, 1e-5)),
               c(10.2, sum((exp(e) - 1) * e / (exp(e) + 1)) + sqrt(2 * log(1e5) * sum(e^2))))
  # The worst of pure privacy is randomised response, wrong with chance 1 / (1 + exp(epsilon)): Phi(-mu / 2)
  mu <- -2 * qnorm(1 / (1 + exp(c(1, 0.5))))
  expect_equal(coupling_epsilon(list(epsilon = c(1, 0.5), mu = 2), 0.01),
               gdp_epsilon(sqrt(4 + sum(mu^2)), 0.01))
  moved <- coupling_cost(list(exact = c(0, 3), scale = c(1, 2), kind = c(2, 2)), list(exact = c(3, 11)))
  expect_equal(moved$mu, 5)
})

test_that("rewards of a policy that clips are in the units of its range", {
  lower <- function(policy, streams = c("contest", "fractions"), ...) {
    dpts_audit(policy, 12, streams = streams, method = "coupling", runs = 100, seed = 1, ...)$lower
  }
  for (range in list(c(-1, 3), c(0, 100))) {
    honest <- policy_clipped(policy_dp_imed(1), range)
    for (policy in list(honest, policy_restart(honest, 8))) expect_equal(lower(policy), c(1, 0.99))
    lax <- policy_clipped(policy_dp_imed(2), range) # half of the noise that this claim needs:
    lax$guarantee <- privacy_pure(1)
    expect_identical(dpts_audit(lax, 12, streams = "success", method = "coupling", runs = 100, seed = 1)$holds, FALSE)
    x <- y <- matrix(range[1], 12, 2)
    y[1, ] <- mean(range)
    expect_equal(lower(honest, list(x, y)), 0.5)
  }
  expect_identical(lower(policy_clipped(policy_gaussian_imed(1), c(0, 4)), delta = 1e-3),
                   lower(policy_gaussian_imed(1), delta = 1e-3))
  expect_equal(lower(policy_clipped(policy_dp_imed(1), c(0, 4)), "searched"), 1)
  # Bits know nothing of the range.
  expect_equal(lower(policy_local(policy_clipped(policy_ucb1(), c(0, 4)), 2), "success"), 2)
})

test_that("where a policy finds its range, both the pilot and what comes after it are audited", {
  audit <- function(range, horizon) {
    policy <- policy_clipped(policy_dp_imed(1), range, epsilon = 0.5, pilot = 10)
    dpts_audit(policy, horizon, streams = c("random", "contest", "silent"), method = "coupling", runs = 100, seed = 1)$lower
  }
  for (range in list(c(0, NA), c(1e9, NA), c(NA, NA))) {
    expect_equal(audit(range, 20), c(0.5, 1, 1))
    expect_equal(audit(range, 10), rep(0.5, 3)) # all is pilot
  }
})

# ---- persons ------------------------------------------------------------------------------

person_audit <- function(policy, horizon = 60, visits = c(4, 15), most = 4, ..., streams = "contest", delta = c(0, 1e-3)) {
  dpts_audit(policy, horizon, delta = delta, method = "coupling", runs = 100, seed = 1, unit = "person", visits = visits,
             max_per_person = most, streams = streams, ...)
}

test_that("who comes in which round is what the help page says", {
  # 5 people in groups of 2, three visits each: all of a group in turn, and so again
  expect_identical(who_comes(c(5, 3, 2, Inf), 14), c(0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 4, 4))
  expect_identical(who_comes(c(3, 2, 3, Inf), 6), c(0, 1, 2, 0, 1, 2))
  streams <- audit_adversaries("success", 14, 2, 1, who_comes(c(5, 3, 2, Inf), 14))$success
  expect_identical(which(streams$x[, 1] != streams$y[, 1]), c(1L, 3L, 5L))
})

test_that("all rewards of a person, in releases of their own, cost mu sqrt(m), or what the composition says", {
  for (policy in list(policy_randomised(mu = 0.7, block = 5), policy_gaussian_imed(0.7, first = 3, correlation = 0))) {
    audit <- person_audit(policy, streams = c("contest", "random"))
    expect_equal(audit$lower, rep(c(Inf, gdp_epsilon(1.4, 1e-3)), 2), tolerance = 1e-9)
    expect_equal(audit$claimed, audit$lower)
    expect_true(all(audit$holds))
    # Two of the four visits count.
    expect_equal(person_audit(policy, most = 2)$lower, c(Inf, gdp_epsilon(0.7 * sqrt(2), 1e-3)), tolerance = 1e-9)
  }
  pure <- person_audit(policy_dp_imed(0.7, first = 3))
  truth <- dpts_privacy(privacy_group(policy_dp_imed(0.7), 4, apart = TRUE), 60, delta = 1e-3, accountant = "pld")$epsilon
  expect_equal(pure$lower, c(2.8, truth))
  expect_true(all(pure$holds))
  # Each bit is a release: four times randomised response, by all their values.
  p <- plogis(0.7)
  wrong <- 0:4
  delta <- function(epsilon) sum(pmax(dbinom(wrong, 4, 1 - p) - exp(epsilon) * dbinom(4 - wrong, 4, 1 - p), 0))
  bits <- person_audit(policy_local(policy_imed(), 0.7), visits = 4)
  expect_equal(delta(bits$lower[2]), 1e-3, tolerance = 1e-6)
  expect_true(all(bits$holds))
  # What may be in one sum is charged as a group: all four are in the first batch of eight.
  group <- person_audit(policy_gaussian_imed(0.7, first = 8, correlation = 0), visits = c(4, 1), most = NULL)
  expect_equal(group$lower, c(Inf, gdp_epsilon(2.8, 1e-3)), tolerance = 1e-9)
  expect_true(all(group$holds))
  # So are Laplace sums: three rewards of a person in one of them are a Laplace shift of 1.8, with the delta
  # 1 - e^((epsilon - 1.8) / 2), less than the group of three, f(f(f)) for the curve f of 0.6-DP.
  group <- person_audit(policy_dp_se(0.6), 80, c(3, 10), 3)
  truth <- 1.8 + 2 * log1p(-1e-3)
  expect_equal(group$lower[1], 1.8)
  expect_true(group$lower[2] >= truth && group$lower[2] < truth + 1e-4) # losses are rounded up to a grid
  expect_equal(group$claimed, c(1.8, log(exp(1.8) - 1e-3 * exp(1.2) * (1 + exp(0.6)))), tolerance = 1e-9)
  expect_true(all(group$holds))
  # Together they never cost more than is claimed, late rewards and ties included.
  for (policy in list(policy_lazy_ucb(1), policy_randomised(epsilon = 1, block = 5, outcome = "continuous"))) {
    expect_true(all(person_audit(policy, visits = 4)$holds))
  }
  expect_true(all(person_audit(policy_dp_ts(1), visits = 2)$holds))
})

test_that("an audit of persons finds a policy that charges a person too little", {
  policy <- policy_randomised(mu = 0.7, block = 6)
  # It promises half of what its noise keeps.
  lax <- policy
  lax$guarantee <- privacy_gdp(0.35)
  expect_false(all(person_audit(lax)$holds))
  # Two rewards of a person are in one sum, and charged as if they were not.
  expect_true(all(person_audit(policy, visits = c(4, 1))$holds))
  local_function("visits_with", function(old) function(visits, policy) replace(old(visits, policy), 5, 0))
  audit <- person_audit(policy, visits = c(4, 1))
  expect_equal(audit$claimed[2], gdp_epsilon(1.4, 1e-3))
  expect_gt(audit$lower[2], gdp_epsilon(1.7, 1e-3))
  expect_false(audit$holds[2])
  expect_match(tbl_sum(audit)[["Claim"]], "1.4-GDP for people with up to 4 rewards in different releases")
  expect_identical(tbl_sum(audit)[["A person"]], "comes 4 times, and all that they say is changed")
})

test_that("an audit of persons by sampling and by lists sees all rewards of a person", {
  # Three visits of a person tell nearly twice as much as one.
  policy <- policy_ts_gaussian(1, 0.5)
  exact <- function(unit) dpts_audit(policy, 9, delta = 0.1, streams = "silent", method = "exact", unit = unit, visits = c(3, 2))
  expect_gt(exact("person")$lower, 1.8 * exact("reward")$lower)
  expect_gt(exact("person")$claimed, exact("reward")$claimed)
  sampled <- dpts_audit(policy, 9, delta = 0.1, streams = "silent", runs = 4000, level = 0.95, seed = 1, unit = "person", visits = c(3, 2))
  expect_lte(sampled$lower, exact("person")$lower)
  expect_gt(sampled$lower, exact("reward")$lower)
  # Beyond the cap nothing is learned: one visit that counts tells what a reward does.
  one <- function(unit) dpts_audit(policy_ucb1(), 8, streams = "contest", method = "exact", unit = unit, visits = c(4, 2), max_per_person = 1)
  expect_identical(one("person")$lower, one("reward")$lower)
  capped <- dpts_audit(policy, 9, delta = 0.1, streams = "silent", runs = 400, seed = 1, unit = "person", visits = c(3, 2), max_per_person = 1)
  expect_equal(capped$claimed, exact("reward")$claimed)
  expect_error(dpts_audit(policy, 7, method = "exact", visits = 3, max_per_person = 2), "not all visits count",
               class = "dpts_error_method")
  x <- matrix(0.5, 6, 2)
  y <- replace(x, 1:2, 1)
  expect_error(dpts_audit(policy, 6, streams = list(x, y), unit = "person", visits = c(3, 2)), "rewards of one person, not of rounds 1, 2",
               class = "dpts_error_input")
  for (bad in list(x[-1, ], x[, c(1, 1, 2)], x == 1, 0.5)) {
    for (streams in list(list(x, bad), list(bad, x))) {
      expect_error(dpts_audit(policy, 6, arms = 2, streams = streams), "matrices of numbers with 6 rows .rounds. and 2 columns .arms.; element [12] is",
                   class = "dpts_error_input")
    }
  }
  expect_error(dpts_audit(policy, 6, unit = "people"), "`unit`", class = "dpts_error_input")
  expect_error(dpts_audit(policy, 6, visits = 1:3), "`visits`", class = "dpts_error_input")
  # A row is a visit: nobody learns of one that does not count, and of others it is known.
  rows <- function(at) lapply(0:1, function(reward) {
    table <- matrix(c(0.2, 0.7), 8, 2, byrow = TRUE)
    table[at, ] <- reward
    table
  })
  lower <- vapply(1:8, function(at) {
    dpts_audit(policy_ucb1(), 8, streams = rows(at), method = "exact", unit = "person", visits = c(2, 1), max_per_person = 1)$lower
  }, 0)
  expect_equal(lower, c(Inf, 0, Inf, 0, Inf, 0, 0, 0)) # the last person's visits are the last ones
})

test_that("of a searching adversary's candidates the one that tells most is said, at each delta", {
  found <- Map(list, lower = list(c(9, 9), c(1, 4), c(3, 2)), runs = c(1, 2, 4))
  pairs <- list(own = list(x = 1, y = 2), searched = list(candidates = list("a", "b")))
  worst <- worst_candidates(pairs, found)
  expect_equal(worst$own[c("lower", "runs")], found[[1]])
  expect_equal(worst$searched, list(lower = c(3, 4), runs = 6, pair = "b"))
})

test_that("what is open at the end is released, and counted", {
  # First batches are longer than 12 rounds: nothing else is released of them.
  for (policy in list(policy_top_two(epsilon = 1), policy_randomised(epsilon = 1, block = 50))) {
    audit <- dpts_audit(policy, 12, method = "coupling", streams = "contest", runs = 100, seed = 1)
    expect_equal(audit$lower, 1)
  }
})

test_that("coupling is refused where nothing is released", {
  refused <- function(policy) {
    expect_error(dpts_audit(policy, 20, method = "coupling"), "`method`", class = "dpts_error_input")
  }
  refused(policy_ts_gaussian())
  refused(policy_ucb1())
  refused(noisy_leader(1))
  refused(policy_restart(policy_ucb1(), 5))
  refused(policy_local(policy_dp_imed(1), 1)) # bits and noise, counted together
  refused(policy_local(noisy_leader(1), 1))
})

test_that("policies that start anew or see bits alone are audited, or refused by name", {
  # The bits cost what was promised, whatever sees them, and nothing else decides.
  for (policy in list(policy_local(policy_imed(), 0.7), policy_local(policy_ts_gaussian(2, 1), 0.7),
                      policy_local(policy_gaussian_imed(1), 0.7),
                      policy_restart(policy_local(policy_ucb1(), 0.7), 6),
                      policy_restart(policy_adap_ucb(0.7), 9))) {
    audit <- dpts_audit(policy, 20, delta = c(0, 0.05), runs = 100, method = "coupling", seed = 1,
                        streams = "random")
    expect_equal(audit$lower[1], 0.7, tolerance = 1e-6)
    expect_true(all(audit$holds))
  }
  # a claim of less is caught
  policy$guarantee$epsilon <- 0.6
  expect_false(dpts_audit(policy, 20, streams = "silent", runs = 100, method = "coupling", seed = 1)$holds)
  # by sampling all can be audited
  for (policy in list(policy_local(policy_imed(), 1), policy_restart(policy_ts_gaussian(), 4))) {
    audit <- dpts_audit(policy, 8, delta = 1e-3, runs = 2000, seed = 1, streams = "silent")
    expect_true(audit$holds && audit$lower > 0)
    expect_error(dpts_audit(policy, 8, method = "exact"), format(policy), fixed = TRUE,
                 class = "dpts_error_method")
  }
})

test_that("each stream of each pair has runs of its own, and a pilot others: what chose a pair does not measure it", {
  played <- list()
  suppressMessages(trace("play_stream", tracer = bquote(.(function(runs) played[[length(played) + 1]] <<- runs)(runs)),
                         where = asNamespace("dpts"), print = FALSE))
  withr::defer(suppressMessages(untrace("play_stream", where = asNamespace("dpts"))))
  dpts_audit(policy_adap_ucb(1), 6, runs = 200, seed = 1, progress = FALSE)
  first <- vapply(played, min, 0)
  last <- vapply(played, max, 0)
  expect_true(all(vapply(played, function(runs) all(diff(runs) == 1), NA)))
  by_first <- order(first)
  expect_true(all(first[by_first][-1] > utils::head(last[by_first], -1)))
  expect_setequal(lengths(played), c(100, 200)) # a pilot's runs and those that measure
  played <- list()
  dpts_audit(policy_adap_ucb(1), 6, streams = "searched", runs = 2400, seed = 1, progress = FALSE)
  expect_identical(lengths(played)[1:36], rep(120L, 36)) # 18 candidates on both streams, runs / 20 on each
  expect_identical(sum(lengths(played)[-(1:36)]), 4800L)
})

test_that("a pilot finds the candidate of which most is found", {
  pay <- function(...) changed_first(pay_table(6, 2, ...))
  late <- list(x = pay(0.5, 0.5)$x, y = pay(0.5, 0.5)$x)
  late$y[6, ] <- 1 # the last reward tells no one anything
  for (at in 1:3) {
    candidates <- append(list(late, late), list(pay(0, 0)), at - 1)
    pair <- list(candidates = candidates)
    expect_identical(search_pair(pair, policy_ts_gaussian(1, 0.1), 4000, 1, 1, 0.01, 1, FALSE), pay(0, 0))
  }
})

test_that("what fits a score and what chooses an event are other runs than those that measure it", {
  file <- file.path(withr::local_tempdir(), "audit")
  # What is found when, of all that a checkpoint keeps of 400 runs, only these rows tell the streams apart,
  # each in these quarters of the runs: 2 on the first stream, 1 on the other, or of a list in quarters of
  # their own. Elsewhere both streams have the same words, 1 and 2 in turn, and the same counts.
  found <- function(policy, ...) {
    tells <- list(...)
    audit <- function() {
      dpts_audit(policy, 4, streams = "contest", runs = 400, seed = 1, checkpoint = file)$lower
    }
    kept <- paste0(file, policy$name)
    if (!file.exists(kept)) {
      unlink(file)
      audit()
      file.rename(file, kept)
    }
    file.copy(kept, file, overwrite = TRUE)
    edit_checkpoint(file, function(results, run) {
      quarter <- ceiling(run / 100)
      side <- function(seen, i) {
        rows <- make.unique(rownames(seen) %||% "loss")
        seen[] <- 1L
        alike <- grep("word|loss", rows)
        seen[alike, ] <- rep(1L + as.integer(run %% 2), each = length(alike))
        for (row in names(tells)) {
          at <- if (is.list(tells[[row]])) tells[[row]][[i]] else tells[[row]]
          seen[rows == row, quarter %in% at] <- 3L - i
        }
        seen
      }
      list(x = side(results$x, 1L), y = side(results$y, 2L))
    })
    audit()
  }
  reach <- log(0.0005^(1 / 200) / (1 - 0.0005^(1 / 200)))
  # The loss of a transcript is known: the first quarter fits nothing.
  known <- policy_ts_gaussian()
  expect_equal(found(known, loss = 2:4), reach)
  for (at in list(1, 2, 3:4)) expect_equal(found(known, loss = at), 0, label = paste(at, collapse = " "))
  # High scores told more of the first stream, low ones would tell more of the other now.
  expect_equal(found(known, loss = list(3:4, 2)),
               log(0.0005^(1 / 200) / qbeta(0.0005, 101, 100, lower.tail = FALSE)))
  # Words are counted, and a regression knows the pulls of the arm that is not private.
  fitted <- policy_adap_ucb(1)
  expect_equal(found(fitted, word = 1:4), reach)
  expect_equal(found(fitted, other = 1:4), reach)
  for (at in list(1:2, 2:4)) {
    expect_equal(found(fitted, word = at), 0, label = paste(at, collapse = " "))
    expect_equal(found(fitted, other = at), 0, label = paste(at, collapse = " "))
  }
  # Of two scores, the one that told more when the event was chosen
  expect_equal(found(fitted, word = 1:2, word.1 = list(c(1, 3, 4), 1:4)), 0)
})

test_that("an audit is cut into chunks as any other work: a bar, threads and a checkpoint change nothing", {
  file <- withr::local_tempfile()
  audit <- function(policy, ...) dpts_audit(policy, 3, runs = 120, seed = 1, ...)
  policy <- policy_adap_ucb(1)
  both <- c("contest", "searched")
  base <- audit(policy, streams = both)
  expect_identical(audit(policy, streams = "contest", threads = 2, checkpoint = file)$adversary, "contest")
  expect_identical(audit(policy, streams = both, progress = TRUE, checkpoint = file), base)
  expect_error(dpts_audit(policy, 3, runs = 400, seed = 1, streams = "contest", checkpoint = file), "another number of runs",
               class = "dpts_error_checkpoint")
  unlink(file)
  in_r <- function(...) audit(response_policy(1, claim = 1), streams = "contest", ...)
  expect_identical(in_r(progress = TRUE, checkpoint = file), in_r())
  for (method in c("coupling", "exact")) {
    unlink(file)
    policy <- if (method == "exact") policy_ts_gaussian() else policy_adap_ucb(1)
    some <- function(...) audit(policy, streams = c("contest", "random"), method = method, ...)
    base <- some(delta = c(0.1, 0.01))
    for (i in 1:2) expect_identical(some(delta = c(0.1, 0.01), checkpoint = file), base)
    expect_error(some(checkpoint = file), class = "dpts_error_checkpoint")
  }
})

test_that("an arm that is rare is no error, and the largest epsilon that runs can show is said", {
  # Once in 1,000 rounds another arm: many pieces of the runs do not have it.
  coin <- policy_custom("m", function(k, h) 0, function(s, r) if (runif(1) < 0.999) 1 else 2, function(s, f) s,
                        guarantee = privacy_pure(1))
  audit <- dpts_audit(coin, 6, runs = 400, streams = c("silent", "random"), seed = 1)
  expect_true(all(audit$holds))
  # A policy that publishes the first reward reaches the limit, and no more.
  tell <- response_policy(1e3, claim = 1)
  audit <- dpts_audit(tell, 2, streams = "success", runs = 800, delta = c(0, 0.1), level = 0.95, seed = 1)
  risk <- 0.05 / 4
  expect_equal(audit$lower, log((risk^(1 / 400) - c(0, 0.1)) / (1 - risk^(1 / 400))))
  expect_identical(tbl_sum(audit)[["Reach"]], paste("this number of runs shows no epsilon above", paste(
    format_up(rev(audit$lower), 3), collapse = " to ")))
  expect_false("Reach" %in% names(tbl_sum(dpts_audit(policy_ts_gaussian(), 4, method = "exact"))))
  # Of several audits it is the largest that one of them could have shown; paths that were enumerated are no runs.
  part <- function(...) dpts_audit(response_policy(1, claim = 1), 4, delta = c(0, 0.1), seed = 1, ...)
  parts <- list(part(streams = "success", runs = 400), part(streams = c("silent", "contest"), runs = 800))
  reach_of <- function(x) tbl_sum(x)[["Reach"]]
  by_hand <- paste("this number of runs shows no epsilon above", paste(format_up(range(vapply(c(0, 0.1), function(delta) {
    risk <- 0.001 / c(4, 8)
    least <- risk^(1 / c(200, 400))
    max(log((least - delta) / (1 - least)))
  }, 0)), 3), collapse = " to "))
  expect_identical(reach_of(do.call(rbind, parts)), by_hand)
  listed <- dpts_audit(policy_ts_gaussian(), 10, streams = "success", method = "exact")
  one <- dpts_audit(policy_ts_gaussian(), 10, streams = c("success", "silent"), runs = 200, seed = 1)
  expect_gt(max(listed$runs), 200)
  expect_identical(reach_of(rbind(one, listed)), reach_of(one))
  expect_equal(glance(rbind(one, listed))$nobs, sum(unique(one$runs)) * 2 + max(listed$runs))
  # Streams that cannot be made are refused before they are.
  expect_error(dpts_audit(policy_ucb1(), 1e9, runs = 100), "`horizon`.*these need about 8(.|\n)*dpts.memory",
               class = "dpts_error_memory")
  # So are more runs than can be kept.
  for (streams in c("silent", "searched")) {
    expect_error(dpts_audit(policy_ucb1(), 8, streams = streams, runs = 1e9), "`runs`", class = "dpts_error_memory")
  }
})

test_that("a transcript that was never seen while its scores were learned speaks for neither stream", {
  scores <- score_codes(c(1, 1, 2, 7), c(1, 2, 2, 9), fit = 1:3)
  expect_equal(scores, list(x = c(log(2.5 / 1.5) * c(1, 1, -1), 0), y = c(log(2.5 / 1.5) * c(1, -1, -1), 0)))
})
