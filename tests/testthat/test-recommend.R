skip_on_cran() # takes seconds

five <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
quick <- c("gaussian_imed", "adac_ucb", "lazy_gaussian_ts", "dp_imed_tuned", "dp_imed",
           "dp_klucb", "dp_se", "adap_ucb")

test_that("every candidate is inside every budget, and spends nearly all of it", {
  # Each draw costs 1 / log(horizon) of mu^2, and as many are taken as fit.
  for (horizon in round(10^seq(2, 9, by = 0.25))) {
    draws <- candidates_known()$dp_ts_ucb(spend_of(privacy_gdp(1.3), horizon, 2))$params
    expect_equal(dp_ts_ucb_draws(draws$alpha, draws$c0, horizon), floor(1.3^2 * log(horizon)), info = horizon)
  }
  horizon <- 2000
  k <- 3
  budgets <- list(privacy_pure(0.5), privacy_gdp(0.7), privacy_approx(4.38, 1e-5))
  for (budget in budgets) {
    names <- setdiff(names(dpts:::candidates_known()), "uniform")
    spend <- dpts:::spend_of(budget, horizon, k)
    for (name in names) {
      policy <- dpts:::candidates_known()[[name]](spend)
      if (inherits(policy, "dpts_no_room")) next
      g <- policy$guarantee
      # By dpts_privacy() and by trade-off curves, not by the code that spent
      if (budget$kind == "approx") {
        own <- if (g$kind == "pure") "pld" # else all that apply
        epsilon <- min(dpts_privacy(policy, horizon, delta = budget$delta, arms = k,
                                    accountant = own)$epsilon)
        # Pre-pulls for the sequence accountant: 0.7 where the other tests have 2
        if (name == "ts_gaussian") {
          expect_identical(policy$params$prepulls, floor(0.7 * sqrt(2000 * log(2000)) / gdp_mu(4.38, 1e-5)))
        }
        expect_lte(epsilon, budget$epsilon * (1 + 1e-9), label = name)
        # All but the policies of whole steps come close.
        if (!name %in% c("dp_ucb_int", "dp_ts_ucb")) expect_gt(epsilon, 0.99 * budget$epsilon)
      } else if (budget$kind == "gdp") {
        e <- seq(0, 5, by = 0.01)
        delta <- if (g$kind == "pure") {
          pmax(exp(g$epsilon) - exp(e), 0) / (1 + exp(g$epsilon))
        } else {
          gdp_delta(dpts:::form(g, "mu", dpts:::conditions(horizon, k)), e)
        }
        expect_true(all(delta <= gdp_delta(budget$mu, e) + 1e-9), label = name)
      } else {
        expect_equal(g$kind, "pure")
        expect_identical(g$epsilon, 0.5)
      }
    }
  }
})

test_that("DP-TS-UCB is inside any budget, also where its setting is rounded", {
  at <- dpts:::conditions(5000, 3)
  spent <- function(mu) {
    policy <- dpts:::spend_draws(mu, list(horizon = 5000))
    if (inherits(policy, "dpts_no_room")) 0 else dpts:::form(policy$guarantee, "mu", at)
  }
  mu <- withr::with_seed(1, exp(runif(100, log(0.3), log(5))))
  expect_true(all(vapply(mu, spent, 0) <= mu))
})

test_that("candidates have their settings: pre-pulls as the help says, MT-TS as in its experiments", {
  make <- function(name, budget, horizon, k = 5) {
    spend <- list(budget = budget, horizon = horizon, arms = k,
                  epsilon = dpts:::most_epsilon(budget), mu = dpts:::most_mu(budget))
    dpts:::candidates_known()[[name]](spend)$params
  }
  # b = 2 sqrt(T ln(T)) / mu, at most T / mu^2 and T / (3 k); c = (T - k b) / (mu^2 (b + 1))
  ts <- make("ts_gaussian", privacy_gdp(1), 2e4)
  expect_identical(ts$prepulls, floor(2 * sqrt(2e4 * log(2e4))))
  expect_equal(ts$variance_scale, (2e4 - 5 * 890) / 891, tolerance = 1e-3)
  expect_identical(make("ts_gaussian", privacy_gdp(100), 2e4)$prepulls, 2)
  expect_identical(make("ts_gaussian", privacy_gdp(0.05), 2e4)$prepulls, 1333)
  expect_identical(make("mt_ts", privacy_pure(1), 1e4)[c("tuned", "split_budget")],
                   list(tuned = TRUE, split_budget = FALSE))
})

test_that("dpts_recommend() keeps its promise of columns, and ranks by regret", {
  x <- dpts_recommend(privacy_gdp(1), five, 3000, candidates = quick, runs = 20, seed = 1,
                      race = FALSE)
  expect_s3_class(x, "dpts_recommendation")
  expect_identical(names(x)[1:8], c("policy", "guarantee", "regret", "se", "lower", "upper",
                                    "standing", "q95"))
  expect_setequal(x$policy, quick)
  expect_false(is.unsorted(x$regret))
  expect_identical(which(x$standing == "best"), 1L)
  expect_true(all(x$standing %in% c("best", "tied", "worse", "unsure")))
  # What is shown is what is subtracted.
  expect_equal(summary(x)$gap, x$regret - x$regret[1])
  expect_identical(is.na(x$lower), as.character(x$policy) == "dp_imed") # see test-interval.R
  expect_true(all(x$lower <= x$regret & x$regret <= x$upper, na.rm = TRUE))
  expect_true(all(x$q95 <= x$worst))
  # The numbers are those of dpts_simulate() for the policies that are named
  policy <- recommended_policy(x, "adac_ucb")
  sim <- dpts_simulate(five, policy, 3000, runs = 20, seed = 1, record = I(3000))
  row <- x[x$policy == "adac_ucb", ]
  expect_equal(row$regret, mean(sim$regret))
  expect_equal(row$se, sd(sim$regret) / sqrt(20))
  expect_equal(c(row$lower, row$upper), interval_by_help(sim$regret, high = 1500))
  expect_equal(row$worst, max(sim$regret))
  # Ties: paired differences to the best, by their intervals, at a level that the others share
  each <- 0.025 / (nrow(x) - 1)
  best <- dpts_simulate(five, recommended_policy(x), 3000, runs = 20, seed = 1,
                        record = I(3000))
  apart <- function(name) {
    other <- dpts_simulate(five, recommended_policy(x, name), 3000, runs = 20, seed = 1,
                           record = I(3000))
    gap <- other$regret - best$regret
    interval_by_help(gap, 1 - 2 * each, -1500, 1500)[1] > 0 ||
      suppressWarnings(wilcox.test(gap, alternative = "greater", exact = FALSE))$p.value < each
  }
  for (name in x$policy[2:4]) expect_equal(x$standing[x$policy == name] == "worse", apart(name))
  # A policy is tied with itself.
  twins <- dpts_recommend(privacy_gdp(1), five, 500, runs = 5, seed = 1, candidates = list(
    a = policy_gaussian_imed(1), b = policy_gaussian_imed(1)
  ))
  expect_equal(twins$standing, c("best", "tied"))
  expect_true(any(grepl("^Tied with b\\.$", capture.output(print(twins)))))
})

test_that("a GDP budget up to nu lets Gaussian Thompson sampling in, and says what it promises", {
  x <- dpts_recommend(privacy_gdp(1, nu = 1e-6), five, 1500, runs = 3, seed = 1,
                      candidates = c("gaussian_imed", "ts_gaussian"))
  own <- x[x$policy == "ts_gaussian", ]
  expect_match(own$guarantee, "^(1|0[.]99[0-9]*)-GDP up to 1e-06 at this horizon$")
  expect_identical(x$guarantee[x$policy == "gaussian_imed"], "1-GDP")
  exact <- dpts_recommend(privacy_gdp(1), five, 1500, runs = 3, seed = 1, candidates = "ts_gaussian")
  expect_lt(own$regret, exact$regret)
  # as a policy of one's own it is inside that budget, and not inside the exact one
  mine <- list(mine = recommended_policy(x, "ts_gaussian"))
  set <- mine$mine$params
  expect_identical(set$prepulls, floor(0.7 * sqrt(1500 * log(1500))))
  expect_lte(sequence_gdp(1500 - 5 * set$prepulls, set$prepulls, set$variance_scale, nu = 1e-6)$mu, 1)
  expect_equal(dpts_recommend(privacy_gdp(1, nu = 1e-6), five, 1500, runs = 3, seed = 1,
                              candidates = mine)$regret, own$regret)
  expect_error(dpts_recommend(privacy_gdp(1), five, 1500, runs = 5, candidates = mine),
               "inside the budget", class = "dpts_error_budget")
})

test_that("candidates are set for the mean or for safety, as the help page says", {
  settings <- function(budget, name, prefer = "mean") {
    dpts:::candidate_policies(name, budget, 5000, 3, prefer)$policies[[1]]
  }
  expect_identical(settings(privacy_pure(0.5), "dp_imed_tuned"),
                   policy_dp_imed(0.5, index = "likelihood"))
  expect_identical(settings(privacy_pure(0.5), "dp_imed_tuned", "safe"),
                   policy_dp_imed(0.5, index = "likelihood", safety = 0.425))
  expect_identical(settings(privacy_pure(0.5), "dp_imed", "safe"), policy_dp_imed(0.5))
  expect_identical(settings(privacy_gdp(0.7), "gaussian_imed"), policy_gaussian_imed(0.7))
  expect_identical(settings(privacy_gdp(0.7), "gaussian_imed", "safe"),
                   policy_gaussian_imed(0.7, safety = 0.8 / (1 + 1 / 0.7) + 0.3))
  x <- dpts_recommend(privacy_gdp(1), five, 500, runs = 2, seed = 1, prefer = "safe",
                      candidates = "gaussian_imed")
  expect_identical(recommended_policy(x), policy_gaussian_imed(1, safety = 0.7))
  expect_error(recommended_policy(x, police = "ts_gaussian"), class = "dpts_error_dots")
  # Their first batches fit every horizon.
  expect_true("gaussian_imed" %in% names(dpts:::candidate_policies(NULL, privacy_gdp(1), 5, 5)$policies))
})

test_that("ties are paired run by run, failures counted problem by problem", {
  n <- 40
  # Runs differ far more than policies; `wild` fails on 2 of 40 runs of the second problem, whose
  # scale is a tenth of the first's, so its mean over problems hardly moves.
  parts <- withr::with_seed(1, {
    luck <- rexp(n, 1 / 100)
    noise <- function() rnorm(n)
    list(calm = cbind(luck + 50, 0.1 * luck + 5), behind = cbind(luck + 55 + noise(), 0.1 * luck + 5),
         wild = cbind(luck + 80 + noise(), 0.1 * luck + 5),
         near = cbind(luck + 50 + 3 * noise(), 0.1 * luck + 5 + 3))
  })
  parts$near[, 1] <- parts$near[, 1] - mean(parts$near[, 1]) + mean(parts$calm[, 1]) - 2.9
  parts$wild[1:2, 2] <- 6 * stats::median(parts$wild[, 2])
  regret <- array(0, c(n, 4, 2))
  for (i in 1:4) regret[, i, ] <- parts[[i]]
  policies <- stats::setNames(lapply(1:4, function(i) policy_dp_klucb(1)), names(parts))
  x <- dpts:::new_recommendation(regret, policies, 0.9, list(
    budget = privacy_pure(1), horizon = 1000, arms = list(five, five), panel = FALSE, runs = n, seed = 1
  ))
  row <- function(name) x[x$policy == name, ]
  mean_of <- lapply(parts, rowMeans)
  expect_equal(as.character(x$policy), names(sort(vapply(mean_of, mean, 0))))
  for (name in names(parts)) {
    run <- mean_of[[name]]
    expect_equal(c(row(name)$lower, row(name)$upper), interval_by_help(run, 0.9, high = 500))
    expect_equal(row(name)$q95, unname(quantile(run, 0.95)))
    expect_equal(row(name)$worst, max(run))
    lost <- vapply(1:2, function(j) mean(parts[[name]][, j] > 5 * median(parts[[name]][, j])), 0)
    expect_equal(row(name)$failures, mean(lost))
  }
  # Unpaired, 2.5 more among runs with an sd of 55 would be nothing; paired, it is plain.
  expect_equal(x$standing == "worse", !x$policy %in% c("calm", "near"))
  # The errors of differences are those of paired runs.
  gaps <- mean_of[as.character(x$policy)]
  expect_equal(summary(x)$gap_se, unname(vapply(gaps, function(g) sd(g - gaps[[1]]) / sqrt(n), 0)))
})

test_that("who left the race is neither best nor tied, and who fails now and then is not sure", {
  made <- function(...) {
    regret <- cbind(...)
    policies <- stats::setNames(rep(list(policy_dp_klucb(1)), ncol(regret)), colnames(regret))
    dpts:::new_recommendation(array(regret, c(dim(regret), 1)), policies, 0.95, list(
      budget = privacy_pure(1), horizon = 1000, arms = list(five), panel = FALSE, runs = nrow(regret), seed = 1
    ))
  }
  set.seed(3)
  n <- 12
  a <- rnorm(n, 100, 5)
  # b left after two lucky runs, c after two that were like those of a
  x <- made(a = a, b = c(50, 51, rep(NA, n - 2)), c = c(a[1:2] + c(-1, 1), rep(NA, n - 2)), d = a + rep(c(2, -1), n / 2))
  expect_identical(x$standing[match(c("a", "b", "c", "d"), x$policy)], c("best", "worse", "worse", "tied"))
  expect_identical(as.character(x$policy[1]), "a")
  # its gap is the difference of what is shown, and so is the error
  expect_equal(summary(x)$gap, x$regret - x$regret[1])
  best <- matrix(rnorm(20 * 4000), 20)
  draws <- colMeans(0.8 * best[1:5, ] + rnorm(5 * 4000)) - colMeans(best)
  one <- replicate(200, {
    best <- rnorm(20)
    gap_errors(cbind(best, c((0.8 * best + rnorm(20))[1:5], rep(NA, 15))), 1)[2]^2
  })
  expect_equal(sqrt(mean(one)), sd(draws), tolerance = 0.1)
  # one run of twelve is ten times the others
  wild <- a - 1
  wild[7] <- 1000
  x <- made(a = a, wild = wild)
  expect_identical(x$standing, c("best", "unsure"))
  expect_identical(made(a = a[1], b = a[2])$standing, c("best", "unsure"))
  # Differences that are nearly all one number say little about the others: not by their deviation, nor by ranks.
  # So they do not show that two are tied either: one that lost 988 was, with one that lost 33.
  expect_identical(made(a = rep(48, 12), b = rep(50, 12))$standing, c("best", "unsure"))
  expect_identical(made(a = c(rep(19.54, 48), 20.46, 20.46), b = rep(19.6, 50))$standing, c("best", "unsure"))
  expect_identical(made(a = rep(48, 12), b = rep(48, 12))$standing, c("best", "tied"))
  expect_true(all(made(a = rep(48, 12), b = rep(50, 12))$upper > 50))
  # Of eight that are equal each is the best in truth, and one of them came out best by chance.
  named <- function(m) `colnames<-`(m, letters[seq_len(ncol(m))])
  worse <- replicate(30, mean(made(named(matrix(rnorm(240, 100, 10), 30)))$standing == "worse"))
  expect_lt(mean(worse), 0.05 + 3 * sd(worse) / sqrt(30))
  # of two, the level is not shared
  two <- replicate(40, mean(made(named(matrix(rnorm(60, 100, 10), 30)))$standing == "worse"))
  expect_lt(mean(two), 0.05)
  # ranks say little about differences that are skewed to the right
  d <- scale(rexp(50))[, 1]
  limit <- function(level) -interval_by_help(d, level, -500, 500)[1]
  sure <- made(a = rep(100, 50), b = 100 + d + 1.01 * limit(0.95))
  expect_identical(sure$standing, c("best", "worse"))
  three <- function(by) made(a = rep(100, 50), b = 100 + d + by * limit(0.975), c = 200 + d)
  expect_identical(c(three(0.97)$standing[2], three(1.01)$standing[2]), c("tied", "worse"))
})

test_that("a candidate whose rare failures may have gone unseen is not preferred to one that is about as good", {
  n <- 15
  made <- function(rare, known) {
    regret <- cbind(rare = rare, known = known, far = known + rnorm(n, 100))
    policies <- list(rare = policy_dp_imed(1), known = policy_dp_klucb(1), far = policy_dp_klucb(1))
    new_recommendation(array(regret, c(n, 3, 1)), policies, 0.95, list(
      budget = privacy_pure(1), horizon = 5000, arms = list(five), panel = FALSE, runs = n, seed = 1
    ))
  }
  set.seed(4)
  rare <- rnorm(n, 12)
  x <- made(rare, known = rare + 3)
  expect_identical(as.character(x$policy), c("known", "rare", "far"))
  expect_identical(x$standing, c("best", "unsure", "worse"))
  expect_identical(is.na(x$lower), c(FALSE, TRUE, FALSE))
  expect_lt(summary(x)$gap[2], 0)
  expect_identical(recommended_policy(x), policy_dp_klucb(1))
  expect_match(gsub("[# ]+", " ", paste(capture.output(print(x)), collapse = " ")),
               "Use known: mean regret 15.* Too few runs to distinguish it from rare\\.")
  # A mean above 1.5 times as large is no substitute, and a known one that is smaller needs none.
  expect_identical(as.character(made(rare, rare + 7)$policy), c("rare", "known", "far"))
  expect_identical(as.character(made(rare, rare - 1)$policy), c("known", "rare", "far"))
})

test_that("the panel is that of Sajed and Sheffet, and regret its mean", {
  panel <- dpts:::standard_panel(5)
  # theory notes, section 3, from Azize's and Sajed and Sheffet's instances
  falling <- lapply(panel, function(arms) sort(arms$mean, decreasing = TRUE))
  expect_equal(falling$close, c(0.75, 0.70, 0.70, 0.70, 0.70))
  expect_equal(falling$linear, c(0.75, 0.625, 0.5, 0.375, 0.25))
  expect_equal(falling$convex, c(0.75, 0.53125, 0.375, 0.28125, 0.25))
  expect_equal(falling$concave, c(0.75, 0.71875, 0.625, 0.46875, 0.25))
  x <- dpts_recommend(privacy_pure(1), NULL, 2000, k = 3, candidates = c("dp_imed", "dp_klucb"),
                      runs = 5, seed = 2)
  direct <- vapply(dpts:::standard_panel(3), function(arms) {
    mean(dpts_simulate(arms, policy_dp_imed(1), 2000, runs = 5, seed = 2,
                       record = I(2000))$regret)
  }, 0)
  expect_equal(x$regret[x$policy == "dp_imed"], mean(direct))
  mine <- dpts_recommend(privacy_pure(1), list(a = five, b = five), 500, candidates = "dp_imed",
                         runs = 3, seed = 2)
  expect_equal(nrow(mine), 1)
})

test_that("a policy that knows the order of arms and nothing else is not recommended", {
  # The best arm stands in every part of the panel's problems.
  places <- function(k) vapply(dpts:::standard_panel(k), function(a) which.max(a$mean), 0L)
  expect_equal(range(places(2)), c(1, 2))
  expect_setequal(places(5), 1:5)
  expect_equal(unname(places(20)), c(1, 4, 7, 11, 14, 17))
  # The literal MT-TS pulls the first arm for far longer than this horizon. The order gains
  # AdaP-KLUCB, whose indices are all 1 here, nothing either.
  x <- dpts_recommend(privacy_pure(0.5), NULL, 2000, k = 20, runs = 10, seed = 1, candidates = list(
    imed = policy_dp_imed(0.5), klucb = policy_adap_klucb(0.5), mt_ts = policy_mt_ts(0.5)
  ))
  expect_equal(as.character(x$policy[x$standing == "best"]), "imed")
  expect_true(all(x$standing[x$policy != "imed"] == "worse"))
})

test_that("the recommendation is stable over seeds", {
  best <- vapply(1:3, function(seed) {
    x <- dpts_recommend(privacy_gdp(0.25), five, 2e4, candidates = quick, runs = 50, seed = seed)
    as.character(x$policy[x$standing == "best"])
  }, "")
  expect_equal(best, rep("gaussian_imed", 3))
  a <- dpts_recommend(privacy_pure(1), five, 500, candidates = quick, runs = 5, seed = 3)
  b <- dpts_recommend(privacy_pure(1), five, 500, candidates = quick, runs = 5, seed = 3)
  expect_identical(as.data.frame(a), as.data.frame(b))
})

test_that("policies that fail badly on some runs are flagged", {
  # DP-IMED with first batches of one reward at a small epsilon; theory notes, 6.2
  x <- dpts_recommend(privacy_pure(0.1), five, 1e5, candidates = list(
    small = policy_dp_imed(0.1), large = policy_dp_imed(0.1, 1.5, 320)
  ), runs = 300, seed = 1)
  expect_gt(x$failures[x$policy == "small"], 0.01)
  expect_lt(x$failures[x$policy == "large"], 0.01)
})

# The call in the lines that are set in, as a user would copy it
copied <- function(text) {
  first <- grep("^  policy_", text)
  last <- first + which(grepl(")$", text[first:length(text)]))[1] - 1
  eval(parse(text = text[first:last]))
}

test_that("print gives the advice, the call and the table; the call runs", {
  x <- dpts_recommend(privacy_approx(1, 1e-5), five, 3000, runs = 10, seed = 1,
                      candidates = c("gaussian_imed", "adac_ucb", "dp_ucb_int"))
  text <- capture.output(print(x))
  expect_match(text[1], "^Use gaussian_imed: mean regret")
  expect_match(paste(text, collapse = " "), "over 3,000 rounds, inside (1, 1e-05)-DP.", fixed = TRUE)
  expect_match(paste(text, collapse = " "), "(Tied with|Next: )")
  expect_equal(copied(text), recommended_policy(x))
  # To the last bit, where the amount was converted
  for (mu in c(0.3, 0.7)) {
    y <- dpts_recommend(privacy_gdp(mu), five, 100, candidates = "dp_imed", runs = 2, seed = 1)
    expect_identical(copied(format(y)), recommended_policy(y))
  }
  # and where fifteen digits are not the number: a variance scale, exp(1), sqrt(2 pi e)
  z <- dpts_recommend(privacy_gdp(2.5), five, 3000, runs = 2, seed = 1,
                      candidates = c("ts_gaussian", "lazy_ucb", "dp_ts_ucb"))
  for (policy in policies(z)) {
    expect_identical(eval(parse(text = format(policy))), policy)
  }
  expect_match(paste(text, collapse = " "), "never on the data to be protected")
  expect_true(any(grepl("A tibble", text) | grepl("Recommendation", text)))
  # A part of it is a table.
  expect_false(any(grepl("^Use ", capture.output(print(x[1, ])))))
  one <- dpts_recommend(privacy_pure(1), five, 100, candidates = "dp_imed", runs = I(3), seed = 1)
  expect_true(is.na(one$se))
  expect_output(print(one), "no other candidate")
})

test_that("the sentences of a recommendation are what its rows say", {
  regret <- withr::with_seed(1, cbind(a = rnorm(30, 100, 3), b = rnorm(30, 101, 3), c = rnorm(30, 160, 3), d = 101))
  regret[1:2, "a"] <- 600
  regret[3, "d"] <- 1000
  policies <- stats::setNames(rep(list(policy_dp_klucb(1)), 4), colnames(regret))
  said <- function(columns) {
    x <- new_recommendation(array(regret[, columns], c(30, length(columns), 1)), policies[columns], 0.95, list(
      budget = privacy_pure(1), horizon = 2000, arms = list(five, five), panel = FALSE, runs = 30, seed = 1
    ), c(late = "too slow", slow = "too slow"))
    list(x = x, text = gsub("[# ]+", " ", paste(capture.output(print(x)), collapse = " ")))
  }
  one <- said(c("b", "c", "d"))
  gap <- regret[, "c"] - regret[, "b"]
  expect_match(one$text, sprintf("Next: c, %s more (se %s).", number_text(signif(mean(gap), 3)),
                                 number_text(signif(sd(gap) / sqrt(30), 3))), fixed = TRUE)
  expect_match(one$text, "Too few runs to distinguish it from d.", fixed = TRUE)
  expect_match(one$text, "Left out: late, slow (too slow).", fixed = TRUE)
  expect_match(one$text, "Recommendation: 1-DP, 2 problems, 30 runs", fixed = TRUE)
  expect_no_match(one$text, "Beware")
  expect_match(said("a")$text, "Beware: 6.7% of its runs fail badly. ", fixed = TRUE)
  expect_match(gsub("\n", " ", autoplot(one$x)$labels$caption), "Each run is an average over 2 problems", fixed = TRUE)
})

test_that("autoplot draws regret with its intervals", {
  x <- dpts_recommend(privacy_pure(1), five, 1000, candidates = c("lazy_ucb", "dp_klucb"),
                      runs = 10, seed = 1)
  layers <- ggplot2::ggplot_build(autoplot(x, log = ""))$data
  expect_setequal(layers[[1]]$xmin, x$lower)
  expect_setequal(layers[[2]]$x, x$regret)
  expect_setequal(layers[[3]]$x, x$q95)
  expect_match(ggplot2::get_alt_text(autoplot(x)), "^Mean regret at the horizon of 2 policies, with 95% .*, inside 1-DP. From the least: ")
})

test_that("bad input is refused before any work", {
  recommend <- function(..., budget = privacy_gdp(1), arms = five, horizon = 1000) {
    dpts_recommend(budget, arms, horizon, ...)
  }
  expect_error(recommend(budget = 1), "`budget`", class = "dpts_error_input")
  expect_error(recommend(arms = c(0.5, 0.4)), "`arms`", class = "dpts_error_input")
  expect_error(recommend(arms = arms_bernoulli(c(1.5, 0.4))), "`means`", class = "dpts_error_input")
  expect_error(recommend(arms = NULL), "`k`", class = "dpts_error_input")
  expect_error(recommend(arms = NULL, k = 1), "`k`", class = "dpts_error_input")
  expect_error(recommend(k = 4), "`arms` must have 4", class = "dpts_error_input")
  expect_error(recommend(list(five)), "without a name", class = "dpts_error_input")
  expect_error(recommend(candidates = "best"), "`candidates`", class = "dpts_error_input")
  expect_error(recommend(candidates = 3), "`candidates`", class = "dpts_error_input")
  expect_error(recommend(candidates = policy_imed), "`candidates`", class = "dpts_error_input")
  expect_error(recommend(runs = 0), "`runs`", class = "dpts_error_input")
  expect_error(recommend(level = 1), "`level`", class = "dpts_error_input")
  # Policies that are not inside the budget
  for (policy in list(policy_imed(), policy_gaussian_imed(1.01), policy_dp_imed(0.81),
                      policy_ts_gaussian(), policy_dp_ucb_int(1))) {
    expect_error(recommend(candidates = list(mine = policy)), "inside the budget",
                 class = "dpts_error_budget")
  }
  # A budget that nobody meets
  expect_error(recommend(budget = privacy_gdp(0)), "met by none", class = "dpts_error_budget")
  expect_error(recommend(budget = privacy_pure(0)), "met by none", class = "dpts_error_budget")
  expect_error(recommend(budget = privacy_pure(1), candidates = "gaussian_imed"), "met by none",
               class = "dpts_error_budget")
  # A horizon too short for the first batches
  expect_error(recommend(horizon = 10, candidates = list(a = policy_gaussian_imed(1, first = 16))),
               "`horizon`", class = "dpts_error_horizon")
  expect_error(recommend(prefer = "best"), "`prefer`", class = "dpts_error_input")
  expect_error(recommend(horizon = 2), "`horizon`", class = "dpts_error_horizon")
  expect_error(recommended_policy(1), "`x`", class = "dpts_error_input")
})

# Geometric mean over the panel of regret against another policy's, T = 1e5; both see the
# same random numbers
search_score <- function(a, b, seed, runs = 300) {
  regret <- function(policy) {
    vapply(dpts:::standard_panel(5), function(arms) {
      dpts_simulate(arms, policy, 1e5, runs = runs, seed = seed, record = I(1e5))$regret
    }, numeric(runs))
  }
  a <- regret(a)
  b <- regret(b)
  exp(mean(log(colMeans(a) / colMeans(b))))
}

test_that("the defaults have the regret of bench/FRONTIER.md with another seed", {
  skip_unless_extended()
  # bench/FRONTIER.md, whose ratios each bound leaves at least 4 standard errors of room
  score <- function(a, b) search_score(a, b, seed = 5, runs = 1000)
  for (mu in c(0.1, 0.25, 0.5, 1)) {
    now <- policy_gaussian_imed(mu)
    # Correlated releases, and a safety that costs regret
    expect_gt(score(policy_gaussian_imed(mu, correlation = 0), now), 1.08)
    expect_gt(score(policy_gaussian_imed(mu, safety = dpts:::safer(now)), now), 1.02)
    # Safety makes bad runs rarer: means 0.88 and 0.9
    bad <- vapply(c(0, 1), function(safety) {
      regret <- dpts_simulate(arms_bernoulli(c(0.88, 0.9)), policy_gaussian_imed(mu, safety = safety),
                              1e5, runs = 2000, seed = 5, record = I(1e5))$regret
      mean(regret > 500)
    }, 0)
    expect_lt(bad[2], bad[1])
  }
  for (eps in c(0.1, 0.25, 0.5, 1)) {
    now <- policy_dp_imed(eps, index = "likelihood")
    expect_lt(score(now, policy_dp_imed(eps)), 0.81)
    expect_gt(score(policy_dp_imed(eps, index = "likelihood", safety = dpts:::safer(now)), now), 1.01)
  }
  # First batches that are much too large
  expect_gt(score(policy_dp_imed(0.1, first = 400, index = "likelihood"),
                  policy_dp_imed(0.1, index = "likelihood")), 1.1)
  # The README's arms
  readme <- function(mu) {
    mean(dpts_simulate(five_arms(), policy_gaussian_imed(mu), 1e5, runs = 4000, seed = 5,
                       record = I(1e5))$regret)
  }
  expect_lt(readme(0.1), 232)
  expect_lt(readme(0.25), 113)
  expect_lt(readme(1), 62)
})

test_that("defaults keep bad runs rare where less safety would not", {
  skip_unless_extended()
  # Above 5 medians of today's, on the problems where that happens
  hard <- dpts:::standard_panel(5)[c("close", "concave", "small_gap", "rare")]
  regret <- function(policy) {
    vapply(hard, function(arms) {
      dpts_simulate(arms, policy, 1e5, runs = 4000, seed = 5, record = I(1e5))$regret
    }, numeric(4000))
  }
  now <- list(policy_gaussian_imed(5), policy_dp_imed(0.5, index = "likelihood"))
  less <- list(policy_gaussian_imed(5, ratio = 1.8, safety = 0.3),
               policy_dp_imed(0.5, index = "likelihood", safety = 0))
  less[[2]]$params$information <- 0
  for (i in 1:2) {
    today <- regret(now[[i]])
    limit <- 5 * apply(today, 2, stats::median)
    bad <- vapply(list(today, regret(less[[i]])), function(x) sum(sweep(x, 2, limit, ">")), 0)
    expect_lt(bad[1] / length(today), 0.005)
    expect_gt(bad[2], bad[1])
  }
})

test_that("candidates without room are left out, with the reason", {
  x <- dpts_recommend(privacy_approx(0, 1e-8), five, 500, runs = 2, seed = 1,
                      candidates = c("uniform", "ts_gaussian", "dp_ucb_int", "dp_imed"))
  expect_identical(as.character(x$policy), "uniform")
  dropped <- dpts:::shared(x, "dropped")
  expect_setequal(names(dropped), c("ts_gaussian", "dp_ucb_int", "dp_imed"))
  expect_match(dropped[["ts_gaussian"]], "below 1e-06")
  expect_match(paste(capture.output(print(x)), collapse = " "), "Left out: .*ts_gaussian")
  # What an accountant cannot reach is no error either: no order brings epsilon to 0 here
  x <- dpts_recommend(privacy_approx(0, 5e-7), five, 500, runs = 2, seed = 1,
                      candidates = c("gaussian_imed", "ts_gaussian"))
  expect_identical(as.character(x$policy), "gaussian_imed")
  expect_match(dpts:::shared(x, "dropped"), "sequence|variance scale")
  expect_error(dpts_recommend(privacy_pure(0), five, 500, runs = 2, candidates = "dp_imed"),
               class = "dpts_error_budget")
  # First batches fit every horizon that has a round for each arm.
  x <- dpts_recommend(privacy_gdp(1), five, 5, runs = 2, seed = 1)
  expect_true(all(c("gaussian_imed", "dp_imed_tuned") %in% x$policy))
})

# ---- the race -----------------------------------------------------------------------------

test_that("a race stops who is surely worse, keeps the best, and leaves its runs as they are", {
  full <- dpts_recommend(privacy_gdp(1), five, 3000, candidates = quick, runs = 40, seed = 2,
                         race = FALSE)
  raced <- dpts_recommend(privacy_gdp(1), five, 3000, candidates = quick, runs = 40, seed = 2)
  expect_true(all(full$runs == 40))
  expect_true(any(raced$runs < 40) && all(raced$runs %in% c(3, 5, 7, 11, 16, 23, 35, 40)))
  expect_identical(as.character(raced$policy[1]), as.character(full$policy[1]))
  expect_identical(raced$regret[1], full$regret[1])
  expect_true(all(raced$runs[raced$standing %in% c("best", "tied")] == 40))
  # A policy that left has the mean of the runs that it played.
  left <- raced[which.min(raced$runs), ]
  sim <- dpts_simulate(five, recommended_policy(raced, left$policy), 3000, runs = left$runs,
                       seed = 2, record = I(3000))
  expect_equal(left$regret, mean(sim$regret))
})

test_that("a candidate leaves the race at exactly its share of the level", {
  ends <- unique(pmin(ceiling(3 * 1.5^(0:50)), 100))
  share <- (1 - 0.95) / (2 * (length(ends) - 1)) # two that may leave, and no test after the last stage
  z <- -1:1
  limit <- function(p) -interval_by_help(z, 1 - 2 * p, -1.5e6, 1e6)[1]
  # Against 1.5 times a's regret, b and c have a gap in the first three runs that is just above 0 at this level,
  # then noise.
  leaves <- function(p) {
    play <- function(policies, runs) {
      gap <- c(limit(p) + z, rep(c(-1e4, 1e4), 49))[runs]
      regret <- cbind(a = 1, b = 1.5 + gap, c = 1.5 + gap)[, names(policies), drop = FALSE]
      array(regret, c(length(runs), ncol(regret), 1))
    }
    anyNA(run_race(list(a = 1, b = 2, c = 3), 1:100, play, 0.95, 1e6))
  }
  expect_true(leaves(0.99 * share))
  expect_false(leaves(1.01 * share))
  # After the first rounds: half of the level is for what b has lost, and a quarter, as for c, for all that a loses.
  whole <- c(3, 5, 4, 3, 5, 4)
  most <- 1.5 * interval_by_help(whole, 1 - 0.02 / 2, 0, 1e6)[2]
  lost <- stats::uniroot(function(m) interval_by_help(m + z, 1 - 0.02, 0, 1e6)[1] - most, c(1, 1e4), tol = 1e-12)$root
  early <- function(lost) {
    play <- function(policies, runs, rounds = NULL) {
      regret <- cbind(a = if (is.null(rounds)) whole[runs] else 0.1, b = lost + z[runs], c = 1)[, names(policies), drop = FALSE]
      array(regret, c(length(runs), ncol(regret), 1))
    }
    stretch <- list(rounds = 10, pulls = c(1, 1, 1), certain = matrix(0, 3, 1))
    !is.na(leave_early(list(a = 1, b = 2, c = 3), 1:6, play, 0.02, 1e6, stretch)$rounds)
  }
  expect_equal(early(lost * (1 + 1e-9)), c(FALSE, TRUE, FALSE))
  expect_equal(early(lost * (1 - 1e-9)), c(FALSE, FALSE, FALSE))
})

test_that("nobody leaves a race because runs are alike", {
  # Twice the best's regret in each run, where a run may lose 1000
  play <- function(policies, runs) array(rep(unlist(policies), each = length(runs)), c(length(runs), length(policies), 1))
  few <- run_race(list(a = 10, b = 20), 1:30, play, 0.95, 1000)
  expect_false(anyNA(few))
  # 700 runs show that a share of more than 1 in 100 is not there.
  expect_true(anyNA(run_race(list(a = 10, b = 20), 1:700, play, 0.95, 300)))
})

test_that("a race stops the best no more often than it says", {
  first_left <- function(races, runs, draw) {
    mean(vapply(seq_len(races), function(i) {
      set.seed(i)
      play <- function(policies, runs) {
        array(vapply(unlist(policies), draw, numeric(length(runs)), n = length(runs)),
              c(length(runs), length(policies), 1))
      }
      anyNA(run_race(list(a = 1, b = 2, c = 3), seq_len(runs), play, 0.95)[, 1, 1])
    }, NA))
  }
  # Normal regrets: the first stands at the limit, 1.5 times the second's. With three standard errors.
  limit <- function(j, n) rnorm(n, c(1.5, 1, 9)[j], 0.2)
  expect_lt(first_left(40, 40, limit), 0.05 + 3 * sqrt(0.05 * 0.95 / 40))
  left <- first_left(200, 5, limit) # one test, after three runs
  expect_lt(left, 0.05 + 3 * sqrt(0.05 * 0.95 / 200))
  expect_gt(left, 0.005)
  # The others fail in one run of fifty, which makes them worse than the first, and look better until then.
  failing <- function(j, n) rnorm(n, if (j == 1) 130 else 100, 10) + (j > 1) * 2000 * (runif(n) < 0.02)
  expect_lt(first_left(40, 40, failing), 0.05)
})

test_that("the first rounds of a long race are those of the whole horizon", {
  policies <- list(imed = policy_gaussian_imed(1), draws = policy_dp_ts_ucb(0.5), lazy = policy_lazy_dp_ts(1),
                   mt = policy_mt_ucb(1, tuned = TRUE, split_budget = FALSE), ts = policy_ts_gaussian(100))
  begun <- dpts:::simulate_begun(list(five = five), policies, 3000, 2e4, FALSE, runs = 1:4 + 0, seed = 3, record = 3000)
  full <- dpts_simulate(five, policies, 2e4, runs = 4, seed = 3, record = I(c(3000, 2e4)))
  expect_equal(begun$regret, full$regret[full$t == 3000])
  # ... with late rewards, too
  late <- list(horizon = 2e4, delay = c(0L, 5L, 4000L), batch = 7, seed = 3)
  begun_late <- dpts:::race_regret(3000, policies[1:3], list(five = five), late, 1:4 + 0, 1, FALSE, NULL)
  all <- dpts_simulate(five, policies[1:3], 2e4, runs = 4, seed = 3, record = I(3000), delay = c(0, 5, 4000), batch = 7)
  expect_equal(c(begun_late), all$regret)
  # A policy that knows the horizon does not do the same as in 3000 rounds
  short <- dpts_simulate(five, policies, 3000, runs = 4, seed = 3, record = I(3000))
  expect_false(isTRUE(all.equal(begun$regret[begun$policy == "draws"], short$regret[short$policy == "draws"])))
})

test_that("who has lost too much in the first rounds of a long race leaves, with a lower bound", {
  ask <- function(...) {
    dpts_recommend(privacy_gdp(1), list(a = five, b = arms_bernoulli(c(0.3, 0.9, 0.5, 0.2, 0.1))), 1e5, runs = 8, seed = 4,
                   candidates = c("gaussian_imed", "dp_imed_tuned", "lazy_ucb", "ts_gaussian", "uniform"), ...)
  }
  full <- ask(race = FALSE)
  raced <- ask()
  left <- raced$rounds < 1e5
  expect_setequal(as.character(raced$policy[left]), c("lazy_ucb", "ts_gaussian", "uniform"))
  expect_true(all(full$rounds == 1e5))
  # Those that finish are as without a race, and before those that left.
  expect_identical(bare(raced)[!left, c("regret", "se", "lower", "upper", "standing", "runs")],
                   bare(full)[as.character(full$policy) %in% c("gaussian_imed", "dp_imed_tuned"),
                              c("regret", "se", "lower", "upper", "standing", "runs")])
  expect_identical(which(left), 3:5)
  expect_true(all(raced$standing[left] == "worse" & is.na(raced$upper[left]) & is.na(raced$worst[left])))
  expect_true(all(raced$regret[left] < full$regret[match(raced$policy[left], full$policy)]))
  # Uniform choices lose the mean gap in each of 10,000 rounds.
  gap <- mean(c(0.25, 0.5))
  uniform <- raced[raced$policy == "uniform", ]
  expect_equal(uniform$rounds, 1e4)
  expect_lt(abs(uniform$regret - 1e4 * gap), 5 * sqrt(1e4 * 0.1 / (2 * 3)))
  # Gaussian Thompson sampling is still in its first pulls: exactly so much, whatever is drawn.
  b <- recommended_policy(raced, "ts_gaussian")$params$prepulls
  expect_gt(5 * b, 0)
  said <- paste(capture.output(print(raced)), collapse = " ")
  expect_match(said, "in its first 10,000 rounds, so that the regret +shown is >= only: ")
  expect_match(gsub("\n", " ", autoplot(raced)$labels$caption), "with at least so much regret: ")
  tidied <- tidy(raced)
  expect_identical(is.na(tidied$conf.high), left)
  # Arms that change may give regret back.
  expect_null(dpts:::first_stretch(dpts:::policies(raced), list(arms_switch(list(five, arms_bernoulli(1:5 / 10)), 500)), 1e5, 0L))
})

test_that("certain losses of first pulls are enough to leave, and are not simulated", {
  played <- list()
  play <- function(policies, runs, rounds = 1000) {
    played[[length(played) + 1]] <<- names(policies)
    array(rep(c(a = 10, b = 12, c = 99)[names(policies)], each = length(runs)) * rounds / 1000 + runs / 100,
          c(length(runs), length(policies), 2))
  }
  stretch <- list(rounds = 100, pulls = c(2, 2, 200), certain = cbind(c(1, 1, 40), c(1, 1, 70)))
  out <- run_race(list(a = 1, b = 2, c = 3), 1:200, play, 0.95, 1000, stretch)
  expect_false("c" %in% unlist(played))
  expect_identical(attr(out, "rounds"), c(NA, NA, 200))
  expect_equal(out[1:4, "c", ], cbind(c(40, 40, 40, NA), c(70, 70, 70, NA))) # on each problem its own
  # Each first pull of each arm loses its gap.
  problems <- list(arms_bernoulli(c(0.9, 0.5, 0.2)), arms_bernoulli(c(0.3, 0.3, 0.2)))
  began <- first_stretch(list(policy_ts_gaussian(10), policy_ts_gaussian(20)), problems, 1e5, 0)
  expect_equal(began$certain, outer(c(10, 20), c(0.4 + 0.7, 0.1)))
  expect_equal(began$pulls, c(30, 60))
})

test_that("the first rounds of a race stop the best no more often than they say", {
  # The first has so much regret at once that it never gets more, at 1.5 times all that the second has: half of a
  # level of 0.95, in one of two tests, is for its own bound.
  left <- mean(vapply(1:150, function(i) {
    set.seed(i)
    play <- function(policies, runs, rounds = 1000) {
      draw <- function(j) if (j == 1) rnorm(length(runs), 150, 10) else rnorm(length(runs), c(1, 10)[1 + (rounds == 1000)] * 10, 5)
      array(vapply(unlist(policies), draw, numeric(length(runs))), c(length(runs), length(policies), 1))
    }
    stretch <- list(rounds = 100, pulls = c(2, 2), certain = matrix(0, 2, 1))
    !is.na(attr(run_race(list(a = 1, b = 2), 1:5, play, 0.8, 1e3, stretch), "rounds"))[1]
  }, NA))
  expect_lt(left, 0.1 + 3 * sqrt(0.1 * 0.9 / 150))
  expect_gt(left, 0.001)
})

test_that("advice and tunings come from a checkpoint", {
  file <- withr::local_tempfile(fileext = ".rds")
  ask <- function(...) {
    dpts_recommend(privacy_gdp(1), list(a = five, b = five), 500, candidates = quick[1:3], runs = 12, seed = 3, ...)
  }
  first <- ask(checkpoint = file)
  expect_equal(ask(checkpoint = file), first)
  expect_equal(ask(), first)
  expect_error(dpts_recommend(privacy_gdp(1), five, 500, checkpoint = file), "must come with a `seed`")
  tune <- function(...) {
    dpts_tune(privacy_gdp(1), five, 500, prepulls = c(5, 50), accountant = "gdp", runs = 4, seed = 3,
              ...)
  }
  tuned <- withr::local_tempfile(fileext = ".rds")
  expect_equal(tune(checkpoint = tuned), tune())
  expect_equal(tune(checkpoint = tuned), tune())
})

test_that("those who conclude are advised in people", {
  arms <- arms_bernoulli(c(0.7, 0.5))
  verdict <- dpts_recommend(privacy_gdp(0.5), arms, 5000, goal = "verdict", runs = 20, seed = 1)
  expect_equal(names(verdict)[1:7], c("policy", "guarantee", "people", "se", "lower", "upper", "standing"))
  expect_setequal(as.character(verdict$policy)[1:3], c("top_two", "tossed", "equal"))
  expect_match(capture.output(print(verdict))[1], "people on average")
  # The same people as dpts_identify() counts
  found <- dpts_identify(arms, recommended_policy(verdict), limit = 5000, runs = 20, seed = 1)
  expect_equal(verdict$people[1], mean(found$people))
  expect_equal(summary(verdict)$people[1], verdict$people[1])
  expect_identical(glance(verdict)$people, verdict$people[1])
  effect <- dpts_recommend(privacy_gdp(0.5), arms, 5000, goal = "effect", candidates = c("final", "blocks"), runs = 150,
                           seed = 1)
  plan <- dpts_plan(recommended_policy(effect, "final"), arms, runs = 150, seed = 1, limit = 5000)
  expect_equal(effect$people[effect$policy == "final"], plan$people)
  expect_lt(abs(log(plan$people / (2 * stats::power.prop.test(p1 = 0.7, p2 = 0.5, power = 0.9)$n))), 0.2)
  # Its error is that of a share of 150 runs, by how fast the power of a z-test grows.
  power <- function(people) pnorm((qnorm(0.9) + qnorm(0.975)) * sqrt(people / plan$people) - qnorm(0.975))
  growth <- (power(1.001 * plan$people) - power(0.999 * plan$people)) / (0.002 * plan$people)
  expect_equal(effect$se[effect$policy == "final"], sqrt(0.9 * 0.1 / 150) / growth, tolerance = 1e-4)
  # A number of people is above 0, however few runs there are, and one run shows no power.
  two <- dpts_recommend(privacy_gdp(0.5), arms, 5000, goal = "effect", candidates = c("final", "blocks"), runs = 2, seed = 1)
  expect_identical(two$standing, c("best", "tied")) # both of as many people
  expect_true(all(two$lower > 0 & two$lower < two$people & two$people < two$upper))
  expect_equal(log(two$upper / two$people), qnorm(0.975) * two$se / two$people)
  expect_equal(tidy(two)[c("conf.low", "conf.high")], two[c("lower", "upper")], ignore_attr = TRUE)
  one <- dpts_recommend(privacy_gdp(0.5), arms, 5000, goal = "effect", candidates = c("final", "blocks"), runs = I(1), seed = 1)
  expect_identical(one$standing, c("best", "unsure"))
  expect_true(all(is.na(unlist(one[c("se", "lower", "upper")]))))
  # Worse is who is so at the level that three others share, each to one side.
  noise <- lapply(c(a = 1, b = 0.3, c = 0.2, d = 0.1), function(mu) policy_randomised(mu = mu, block = 1e9))
  four <- summary(dpts_recommend(privacy_gdp(1), arms_bernoulli(c(0.4, 0.7)), 5000, goal = "effect", candidates = noise, runs = 30,
                                 seed = 1))
  errors <- four$gap / four$gap_se
  expect_true(any(errors > 1.5 & errors < qnorm(1 - 0.025 / 3)))
  expect_identical(four$standing == "worse", errors > qnorm(1 - 0.025 / 3))
  # Where the horizon is not enough it is not known how many people are: an interval of [300, 300] said that it is
  few <- dpts_recommend(privacy_pure(0.02), arms_bernoulli(c(0.5, 0.52)), 300, goal = "effect", runs = 20, seed = 1,
                        candidates = c("final_pure", "blocks_pure"))
  expect_equal(few$people, c(300, 300))
  expect_true(all(is.na(c(few$se, few$lower, few$upper))))
  expect_equal(few$standing, c("best", "unsure"))
  expect_s3_class(autoplot(few), "ggplot")
  expect_match(paste(advice(few, 200), collapse = " "), paste(
    "^Use [a-z_]+: no effect within 300 people, inside 0.02-DP\\. Too few .*Beware: no candidate leads to a conclusion within 300 people\\."))
  # So it is where no run has a verdict, and where some have.
  race <- function(p, horizon) paste(advice(dpts_recommend(privacy_gdp(1), arms_bernoulli(p), horizon, goal = "verdict", runs = 8, seed = 1,
                                                           candidates = "top_two"), 200), collapse = " ")
  expect_match(race(c(0.5, 0.52), 300), "^Use top_two: no verdict within 300 people, .*Beware: no candidate")
  expect_match(race(c(0.5, 0.62), 500), "^Use top_two: a verdict after 4[0-9.]+ people on average .*Beware: 62% of its runs have no verdict within 500")
  expect_no_match(race(c(0.1, 0.9), 500), "Beware")
  # Of two problems one may have none: what is said is not of the mean of both.
  two <- list(easy = arms_bernoulli(c(0.9, 0.3)), hard = arms_bernoulli(c(0.5, 0.501)))
  said <- function(goal, candidate) {
    paste(advice(dpts_recommend(privacy_gdp(1), two, 600, goal = goal, runs = 4, seed = 1, candidates = candidate), 200), collapse = " ")
  }
  expect_match(said("verdict", "top_two"), "a verdict after .*Beware: 50% of its runs have no verdict within 600 people")
  expect_match(said("effect", "final"), "an effect with .*Beware: on some problem it has no effect within 600 people")
  # What is said is of people, in the order of the plot.
  count <- number_text(signif(effect$people, 3), big.mark = ",", trim = TRUE)
  expect_match(paste(advice(effect, 200), collapse = " "), sprintf("^Use %s: an effect with %s people \\(95%% interval [^)]*\\), inside 0.5-GDP\\.",
                                                                  effect$policy[1], count[1]))
  marked <- ifelse(effect$standing %in% c("best", "tied"), " (best or tied)", "")
  expect_identical(ggplot2::get_alt_text(autoplot(effect)), sprintf(
    "People that a conclusion takes of 2 policies, with 95%% confidence intervals, inside 0.5-GDP. From the least: %s.",
    paste0(effect$policy, " ", shorts(effect$people), marked, collapse = ", ")))
  expect_error(dpts_recommend(privacy_gdp(0.5), arms, 500, goal = "verdict", checkpoint = "file.rds", seed = 1),
               "`checkpoint` must be NULL", class = "dpts_error_input")
  expect_error(dpts_recommend(privacy_gdp(0.5), arms, 500, goal = "verdict", candidates = list(policy_ts_gaussian(1e4))), "`candidates` must allow",
               class = "dpts_error_input")
  expect_error(dpts_recommend(privacy_gdp(0.5), arms, 500, goal = "ship"), "`goal`", class = "dpts_error_input")
})

test_that("where arms have contexts, contextual policies are ranked inside the budget, beside the uniform one", {
  arms <- arms_linear(rbind(c(0.8, 0.1), c(0.1, 0.8)), "simplex")
  found <- dpts_recommend(privacy_gdp(2), arms, 2000, runs = 3, seed = 1, race = FALSE, progress = FALSE)
  expect_setequal(as.character(found$policy), c("linucb", "linucb_pure", "logistic_ucb", "uniform"))
  expect_equal(as.character(found$policy)[4], "uniform")
  expect_match(found$guarantee[found$policy == "linucb"], "2-joint-GDP")
  rewards <- dpts_recommend(privacy_pure(2), arms, 500, runs = 2, seed = 1, progress = FALSE,
                            candidates = c("linucb_rewards", "local"))
  expect_match(rewards$guarantee, "2-DP for rewards", all = TRUE)
})

test_that("contextual candidates have the norms of the problem's contexts, and centred rewards where bits are theirs", {
  contexts <- list(own = FALSE, kind = "given", values = cbind(c(0.3, 0.4), c(-0.6, 0)))
  made <- dpts:::candidates_contextual(contexts, identity, identity)
  spend <- NULL
  expect_equal(made$linucb(1, spend)$params$norm, 0.6) # Euclid's, of the longest
  expect_equal(made$linucb_pure(1, spend)$params$norm, 0.7) # of sums of absolute values
  expect_equal(made$linucb_rewards(1, spend)$params$norm, 0.7)
  expect_equal(made$local(1, spend)$policy$params$centre, 0.5)
  expect_equal(made$linucb(1, spend)$args$model, "disjoint")
  contexts$own <- TRUE
  expect_equal(made$linucb(1, spend)$args$model, "disjoint")
  expect_equal(dpts:::candidates_contextual(contexts, identity, identity)$linucb(1, spend)$args$model, "shared")
})

test_that("what a candidate may spend is rounded down to the six digits that are printed", {
  expect_identical(round_down(c(123456.789), FALSE), 123456)
  expect_identical(round_down(12.3456789, FALSE), 12.3456)
  expect_identical(round_down(0.00123456999, FALSE), 0.00123456)
  for (kept in c(0, 0.1, 1, 12.3456)) expect_identical(round_down(kept, FALSE), kept)
  expect_identical(round_down(12.3456789, TRUE), 12.3456789)
})

test_that("advice on several problems is the mean of that on each, for every goal and with late rewards", {
  problems <- list(arms_bernoulli(c(0.9, 0.4)), arms_bernoulli(c(0.75, 0.5)), arms_bernoulli(c(0.2, 0.8)))
  candidates <- list(regret = c("gaussian_imed", "lazy_ucb", "uniform"), verdict = c("equal", "tossed"), effect = c("final", "adaptive"))
  for (goal in names(candidates)) {
    ask <- function(arms) {
      dpts_recommend(privacy_gdp(1), arms, 2500, goal = goal, candidates = candidates[[goal]], runs = 9, seed = 1, race = FALSE,
                     delay = c(0, 20), batch = 5)
    }
    whole <- ask(problems)
    parts <- lapply(problems, ask)
    of <- function(column) vapply(parts, function(part) part[[column]][match(whole$policy, part$policy)], numeric(nrow(whole)))
    by <- if (goal == "regret") "regret" else "people"
    expect_equal(whole[[by]], rowMeans(of(by)), info = goal)
    expect_gt(min(apply(of(by), 1, stats::sd)), 0)
    # What is averaged is what the other verbs say of the same runs.
    named <- stats::setNames(problems, c("x", "y", "z"))
    late <- list(delay = c(0, 20), batch = 5, runs = 9, seed = 1)
    verb <- switch(goal, regret = dpts_simulate, verdict = dpts_identify, effect = dpts_plan)
    own <- c(late, if (goal == "regret") list(horizon = 2500, record = I(2500)) else list(limit = 2500))
    rows <- do.call(verb, c(list(if (goal == "effect") policies(whole) else named, if (goal == "effect") named else policies(whole)), own))
    count <- rows[[by]]
    if (goal != "regret") count[is.na(count)] <- 2500
    label <- rows[[if (goal == "effect") "design" else "policy"]]
    expect_equal(whole[[by]], as.vector(tapply(count, factor(label, whole$policy), mean)), info = goal)
    if (goal == "effect") expect_equal(whole$se, sqrt(rowSums(of("se")^2)) / 3) # other runs have other people
  }
  # Where batches are larger than the blocks, an effect takes other people.
  late <- dpts_recommend(privacy_gdp(1), arms_bernoulli(c(0.3, 0.5)), 2500, goal = "effect", candidates = "adaptive", runs = 20, seed = 1,
                         batch = 300)
  plan <- dpts_plan(recommended_policy(late), arms_bernoulli(c(0.3, 0.5)), limit = 2500, runs = 20, seed = 1, batch = 300)
  expect_identical(late$people, plan$people)
  # Where runs are alike, others may lose what can be lost in the mean over problems.
  few <- dpts_recommend(privacy_pure(1), problems, 40, candidates = list(se = policy_dp_se(1), lazy = policy_lazy_ucb(1)), runs = 4,
                        seed = 1, race = FALSE)
  sim <- dpts_simulate(named, policies(few), 40, runs = 4, seed = 1, record = I(40))
  for (i in 1:2) {
    own <- sim[sim$policy == few$policy[i], ]
    x <- as.vector(tapply(own$regret, own$run, mean))
    expect_equal(c(few$lower[i], few$upper[i]), interval_by_help(x, high = 40 * mean(c(0.5, 0.25, 0.6))))
  }
})
