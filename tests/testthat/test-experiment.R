skip_on_cran() # takes seconds

ids <- c(paste0("ou-", 1:8), paste0("hh-", 1:5), "mt-1", "mt-2")

# Each experiment at a size that takes no time, played once
played <- new.env()
tiny <- function(id, runs = 2) {
  key <- paste(id, runs)
  if (!is.null(played[[key]])) return(played[[key]])
  small <- switch(sub("-.*", "", id), ou = {
    if (id %in% c("ou-1", "ou-6", "ou-7")) list(delta = 10^-(2:4))
    else if (id == "ou-8") list(horizon = 5000, prepulls = c(100, 50, 10))
    else list(horizon = 2000, mu = c(1, 10), prepulls = c(0, 9, 49))
  }, hh = list(horizon = 2000), mt = {
    if (id == "mt-1") list(horizon = 2000, epsilon = c(1, 10))
    else list(delay = c(0, 5), log = open_bandit[seq_len(400), ])
  })
  played[[key]] <- do.call(dpts_reproduce, c(list(id, runs = runs), small))
}

test_that("the catalogue lists every figure", {
  list <- dpts_experiment()
  expect_equal(list$id, ids)
  expect_named(list, c("id", "title", "source", "kind", "cost"))
  expect_true(all(list$cost[list$kind == "privacy"] == 0))
  # Figure 3: 10 runs of 1e5 rounds for each of 34 pairs of mu and b
  expect_equal(list$cost[list$id == "ou-3"], 10 * 1e5 * 34)
})

test_that("an experiment is data: what the papers state", {
  x <- dpts_experiment("ou-2")
  # Ou et al., section 5.1
  expect_equal(x$arms$mean, c(0.75, 0.625, 0.5, 0.375, 0.25))
  expect_equal(x$horizon, 1e5)
  expect_equal(x$runs, 10)
  # Lemma 5 over T rounds, and Theorem 5's assumption
  expect_equal(x$settings$variance_scale * (x$settings$prepulls + 1), 1e5 / x$settings$mu^2)
  expect_true(all(x$settings$variance_scale >= 1))
  # Section 5.2: rates, and the means printed there to three digits
  expect_equal(round(dpts_experiment("ou-4")$arms$mean, 3), c(0.492, 0.418, 0.343, 0.193, 0.1))
  # Appendix D: 1-, 5- and 10-GDP at delta = 1e-5; 4.377, 33.10 and 91.82 by a public library
  # of Gaussian DP to four digits, and the pure epsilon of the same strength, from
  # epsilon = log(Phi(mu / 2) / Phi(-mu / 2))
  pure <- function(...) {
    x <- dpts_experiment("ou-8", ...)
    unique(stats::na.omit(x$settings$epsilon))
  }
  expect_equal(pure(), c(4.377, 33.10, 91.82), tolerance = 2e-4)
  eight <- dpts_experiment("ou-8")$settings
  expect_identical(is.na(eight$epsilon), eight$series == "Modified TS")
  for (of_ts in c("prepulls", "variance_scale")) expect_identical(is.na(eight[[of_ts]]), eight$series != "Modified TS")
  expect_equal(pure(matching = "gdp"), log(pnorm(c(0.5, 2.5, 5)) / pnorm(-c(0.5, 2.5, 5))))
  # Hu and Hegde, section 4
  expect_equal(vapply(paste0("hh-", 1:5), function(id) dpts_experiment(id)$settings$epsilon[1], 0,
                      USE.NAMES = FALSE), c(500, 1, 0.5, 0.25, 0.1))
  expect_true("DP-TS" %in% names(dpts_experiment("hh-1")$policies))
  expect_false("DP-TS" %in% names(dpts_experiment("hh-2")$policies))
  # Mishra and Thakurta, section 5: best 0.9, gap 0.5; 27 sums at 0.1
  expect_equal(dpts_experiment("mt-1")$arms$mean, c(0.9, 0.4, 0.4, 0.4, 0.4))
  expect_equal(dpts_experiment("mt-2")$parameters$epsilon, 2.7)
})

test_that("what a paper leaves open is an argument, checked", {
  expect_equal(nrow(dpts_experiment("ou-2", mu = 2, prepulls = c(0, 9))$settings), 2)
  # c by an accountant of ours in place of the paper's T / (mu^2 (b + 1)): pre-pulls leave T, and
  # the sequence accountant asks for what 2-GDP says at delta = 1 / T
  by <- function(accountant) {
    dpts_experiment("ou-2", mu = 2, prepulls = 99, horizon = 1e4,
                    accountant = accountant)$settings$variance_scale
  }
  expect_equal(by("paper"), 1e4 / (4 * 100))
  expect_equal(by("gdp"), (1e4 - 5 * 99) / (4 * 100))
  scale <- by("sequence")
  policy <- policy_ts_gaussian(99, scale)
  spent <- dpts_privacy(policy, 1e4, delta = 1e-4, accountant = "sequence", arms = 5)$epsilon
  expect_lte(spent, gdp_epsilon(2, 1e-4))
  expect_gt(spent, 0.999 * gdp_epsilon(2, 1e-4)) # dpts_calibrate() stops this close
  expect_lt(scale, by("gdp"))
  two <- dpts_experiment("hh-2", log_base = c(2, exp(1)), nonprivate = TRUE)
  expect_true(all(c("Lazy-DP-TS, log2", "Lazy-DP-TS, ln", "TS, not private") %in%
                    names(two$policies)))
  expect_error(dpts_experiment("ou-9"), class = "dpts_error_input")
  expect_error(dpts_experiment("ou-2", beta = 1), "`beta`", class = "dpts_error_dots")
  expect_error(dpts_experiment("ou-2", 1), class = "dpts_error_dots")
  expect_error(dpts_experiment("ou-8", prepulls = 1:2), "`prepulls`", class = "dpts_error_input")
  expect_setequal(dpts_experiment("ou-8", prepulls = 0)$settings$prepulls, c(NA, 0))
  expect_error(dpts_reproduce("hh-2", runs = 0), "`runs`", class = "dpts_error_input")
  expect_error(dpts_reproduce(dpts_experiment("hh-2"), horizon = 10), class = "dpts_error_dots")
  expect_error(claims(mtcars), "`x`", class = "dpts_error_input")
  for (chosen in list(list(mu = 1e-320), list(horizon = 1e15))) {
    expect_error(do.call(dpts_experiment, c("ou-2", chosen)), "`mu` must be larger for this `horizon`", class = "dpts_error_input")
  }
  expect_error(dpts_experiment("ou-2", mu = 30, prepulls = 3, horizon = 100), "variance scale of at least 1", class = "dpts_error_input")
  renamed <- some <- dpts_reproduce("hh-2", horizon = 100, runs = 2)
  levels(renamed$policy)[1] <- "Theirs"
  for (x in list(renamed, droplevels(some[some$policy != "DP-SE", ]))) {
    expect_error(claims(x), "`x` must be whole", class = "dpts_error_input")
  }
})

test_that("every argument of every experiment is checked, at both ends of its range", {
  positive <- list(bad = c(0, NA), good = 1e-6)
  share <- list(bad = c(0, 1), good = c(1e-9, 0.3))
  from_0 <- list(bad = -1e-9, good = 0)
  count <- function(from) list(bad = c(from - 1, from + 0.5), good = from)
  base <- list(bad = 1, good = 1 + 1e-9)
  flag <- list(bad = NA, good = c(TRUE, FALSE))
  several <- c("paper", "gdp", "rdp", "advanced", "sequence")
  one <- c("paper", "gdp", "sequence")
  ranges <- list(
    mu = list(bad = c(0, NA), good = 1e-3), variance_scale = positive, epsilon = positive, delta = share, gamma = share, alpha = from_0, v = from_0,
    prepulls = count(0), warmup = count(0), delay = count(0), horizon = count(1), arms = count(2), log_base = base,
    lazy_ucb_log_base = base, also = flag, dp_ts = flag, nonprivate = flag, tuned = flag, split_budget = flag, log = list(bad = 1),
    matching = list(bad = "sequence", good = c("paper", "gdp")), conversion = list(bad = "paper", good = c("mironov", "improved")),
    accountant = list(bad = "none")
  )
  accountants <- list("ou-1" = several, "ou-2" = one, "ou-6" = c("gdp", "rdp", "standard", "advanced", "sequence"))
  for (id in c("ou-1", "ou-2", "ou-6", "ou-8", "hh-2", "mt-1", "mt-2")) { # the others have the functions of these
    of_pairs <- id == "ou-2"
    small <- if (of_pairs) list(mu = 1, prepulls = 0, horizon = 100) else if (id == "mt-2") list(log = open_bandit[1:9, ])
    for (name in names(formals(catalogue()[[id]]))) {
      range <- ranges[[name]]
      with <- function(value) do.call(dpts_experiment, utils::modifyList(c(list(id), small), stats::setNames(list(value), name)))
      for (bad in range$bad) expect_error(with(bad), sprintf("`%s`", name), class = "dpts_error_input", info = paste(id, name, bad))
      good <- if (name == "accountant") accountants[[id]] else if (!(of_pairs && name == "horizon")) range$good
      for (value in good) {
        x <- with(value)
        expect_equal(if (name == "horizon") unique(x$horizon) else unique(x$parameters[[name]]), value, tolerance = 1e-12, info = paste(id, name))
      }
    }
  }
})

test_that("every experiment runs, with the promised columns, and is drawn", {
  columns <- list(
    simulation = c("policy", "run", "t", "regret", "reward", "panel", "series"),
    tuning = c("accountant", "prepulls", "variance_scale", "regret", "se", "best", "mu", "lower",
               "upper", "runs", "panel", "series"),
    privacy = c("policy", "accountant", "horizon", "delta", "epsilon", "panel", "series"),
    replay = c("policy", "delay", "run", "events", "reward", "rate", "relative", "panel", "series")
  )
  list <- dpts_experiment()
  for (id in ids) {
    kind <- list$kind[list$id == id]
    x <- tiny(id)
    expect_s3_class(x, c("dpts_reproduction"))
    expect_s3_class(x, "tbl_df")
    expect_true(all(columns[[kind]] %in% names(x)), info = id)
    expect_false(anyNA(x$panel), info = id)
    settings <- names(shared(x, "experiment")$settings)
    if (!is.null(settings)) expect_identical(c(settings[1:3], anyDuplicated(settings)), c("policy", "panel", "series", "0"), info = id)
    if (!id %in% c("ou-4", "ou-5", paste0("hh-", 2:5))) { # which differ from others in numbers alone
      plot <- autoplot(x)
      # What the others draw is looked at below, or in test-plot.R.
      if (id %in% c("ou-6", "ou-8")) expect_gt(nrow(ggplot2::layer_data(plot, length(plot$layers))), 0)
      expect_match(ggplot2::get_alt_text(plot), shared(x, "experiment")$source, fixed = TRUE)
    }
    held <- claims(x)
    expect_named(held, c("claim", "margin", "se", "verdict"))
    expect_gt(nrow(held), 0)
    expect_true(all(held$verdict %in% c("reproduced", "not reproduced", "undecided")), info = id)
  }
})

test_that("a reproduction is the simulation it describes", {
  experiment <- dpts_experiment("hh-2", horizon = 2000)
  x <- dpts_reproduce(experiment, runs = 3, seed = 5, record = 7)
  sim <- dpts_simulate(experiment$arms, experiment$policies, 2000, runs = 3, seed = 5, record = 7)
  expect_equal(as.data.frame(x)[names(sim)], as.data.frame(sim), ignore_attr = TRUE)
  expect_equal(summary(x)$mean, summary(sim)$mean)
  expect_equal(pulls(x), pulls(sim))
  # One run alone is that run
  one <- dpts_reproduce(experiment, runs = I(2), seed = 5, record = 7)
  expect_equal(one$regret, x$regret[x$run == 2])
})

test_that("`record` keeps what it says, and a claim about rounds that were not recorded has no margin", {
  whole <- dpts_reproduce("ou-2", mu = 5, prepulls = c(0, 9, 49), horizon = 4000, runs = 4)
  last <- dpts_reproduce("ou-2", mu = 5, prepulls = c(0, 9, 49), horizon = 4000, runs = 4, record = 1)
  few <- dpts_reproduce("ou-2", mu = 5, prepulls = c(0, 9, 49), horizon = 4000, runs = 4, record = 2)
  expect_equal(unique(last$t), 4000)
  expect_equal(unique(few$t), c(1, 45, 245, 4000)) # 9 and 49 pulls of five arms each
  expect_equal(last$regret, whole$regret[whole$t == 4000])
  expect_silent(held <- claims(last))
  # Only the regret at the end and the parameters are known: of seven claims the first two and the last
  expect_equal(is.na(held$margin), c(FALSE, FALSE, TRUE, TRUE, TRUE, TRUE, FALSE))
  expect_equal(held[c(1, 2, 7), ], claims(whole)[c(1, 2, 7), ])
  # The end of the pre-pulls is there, the middle of them and nine tenths of the horizon are not.
  few <- claims(few)
  expect_equal(is.na(few$margin), c(FALSE, FALSE, FALSE, TRUE, FALSE, TRUE, FALSE))
  expect_equal(few[c(3, 5), ], claims(whole)[c(3, 5), ])
  expect_silent(held <- claims(dpts_reproduce("mt-1", horizon = 500, runs = 3, record = 1)))
  expect_true(all(is.na(held$margin[grepl("saturates", held$claim)])))
})

test_that("curves of Figure 1, 6 and 7 are the theorems", {
  x <- dpts_reproduce("ou-1", prepulls = c(0, 9), variance_scale = c(1, 10), delta = c(1e-3, 1e-6))
  # Theorem 4 at the epsilon returned: delta(epsilon) = Phi(-e / m + m / 2) -
  # exp(e) Phi(-e / m - m / 2) with m = sqrt(T / (c (b + 1))), in logarithms
  m <- sqrt(1000 / (x$variance_scale * (x$prepulls + 1)))
  a <- pnorm(-x$epsilon / m + m / 2, log.p = TRUE)
  b <- x$epsilon + pnorm(-x$epsilon / m - m / 2, log.p = TRUE)
  expect_equal(exp(a) * -expm1(b - a), x$delta, tolerance = 1e-8)
  y <- dpts_reproduce("ou-6", horizon = 1000, delta = 1e-5)
  of <- function(accountant) y$epsilon[y$accountant == accountant]
  # Theorem 8 by a search over alpha
  alpha <- 1 + exp(seq(-6, 2, length.out = 1e5))
  expect_equal(of("rdp"), min(alpha * 1000 / 4 + log(1e5) / (alpha - 1)), tolerance = 1e-6)
  # Theorem 3 at T = 1000: 344.45, a public library of Gaussian DP
  expect_equal(of("gdp"), 344.45, tolerance = 1e-4)
  # Corollary 1: half of delta for the slack; T (N - 1) d = delta / 2
  d <- 1e-5 / 2 / 1000 / 4
  e <- 5 * sqrt(log(2 / d))
  expect_equal(of("standard"), e * sqrt(2000 * log(2e5)) + 1000 * e * (exp(e) - 1), tolerance = 1e-13) # the first is 6e-12 of all
  # Several numbers of arms are each of them
  ask <- function(arms) summary(dpts_reproduce("ou-6", arms = arms, horizon = 1000, delta = c(1e-5, 1e-3)))
  parts <- lapply(c(3, 5, 8), ask)
  whole <- ask(c(3, 5, 8))
  expect_equal(plain_columns(whole[order(whole$arms), ]), plain_columns(do.call(rbind, lapply(parts, tibble::as_tibble))))
})

test_that("the plots show the data", {
  x <- tiny("ou-2")
  stats <- summary(x)
  expect_true(all(c("panel", "series", "mu") %in% names(stats)))
  plot <- autoplot(x)
  lines <- ggplot2::layer_data(plot, 2)
  expect_equal(sort(lines$y), sort(stats$mean))
  expect_equal(length(unique(lines$PANEL)), 2)
  # Figure 3: guarantee on the x axis (logarithmic), one line a b
  tuning <- tiny("ou-3")
  points <- ggplot2::layer_data(autoplot(tuning), 3)
  expect_equal(sort(10^points$y), sort(tuning$regret))
  expect_setequal(round(10^points$x), c(1, 10))
  expect_equal(sum(tuning$best), 2)
  expect_identical(shared(tuning, "budget"), "1-, 10-GDP")
  # A logarithmic axis leaves nothing out of range
  expect_true(all(is.finite(ggplot2::layer_data(autoplot(x, log = "xy"), 2)$y)))
  expect_error(autoplot(x, log = "z"), class = "dpts_error_input")
  expect_error(autoplot(x, levels = 0.9), class = "dpts_error_dots")
  mt <- autoplot(tiny("mt-1"))
  expect_equal(length(unique(ggplot2::layer_data(mt, 2)$linetype)), 3)
})

test_that("claims are those of the installed package, whatever functions an older result keeps", {
  chosen <- list(mu = c(2, 5), prepulls = c(0, 9), horizon = 2000)
  x <- do.call(dpts_reproduce, c("ou-5", chosen, runs = 3))
  kept <- function(x) attr(x$policy, "shared")$experiment$thing
  expect_null(kept(x)$claims)
  expect_identical(claims(x)$claim,
                   vapply(do.call(dpts_experiment, c("ou-5", chosen))$claims, `[[`, "", "text"))
  old <- x
  attr(old$policy, "shared")$experiment$thing$claims <-
    list(list(text = "Old.", measure = function(...) stop("a function that was renamed")))
  expect_length(kept(old)$claims, 1)
  expect_identical(claims(old), claims(x))
})

test_that("what a margin decides", {
  expect_equal(claim_verdict(c(3, 1, -3, NA), 1), c("reproduced", "undecided", "not reproduced",
                                              "undecided"))
  # Runs that are alike show no error: they said that whatever is above 0 is certain
  expect_equal(over_runs(rep(0.5, 4)), c(0.5, NA))
  expect_equal(over_runs(c(0.5, 0.5, 0.5, 0.5, 9)), c(2.2, NA))
  expect_equal(claim_verdict(0.5, NA_real_), "undecided")
})

test_that("a claim about several pairs is held to the one that speaks most against it", {
  # 5 +- 1 has the smaller margin, but 20 +- 30 is the pair that is undecided
  expect_equal(least(list(c(5, 1), c(20, 30))), c(20, 30))
  expect_equal(least(list(c(5, 1), c(-9, 3), c(-20, 30))), c(-9, 3))
  # without error a positive margin is certain, and the smallest is shown
  expect_equal(least(list(c(3, 0), c(2, 0))), c(2, 0))
  expect_equal(least(list(c(3, 0), c(0, 0), c(1, 0.1))), c(0, 0))
  expect_equal(least(list(c(3, 1), c(NA, NA))), c(NA_real_, NA_real_))
  expect_equal(least(list()), c(NA_real_, NA_real_))
  # one run: margins, but no errors and no verdict
  expect_equal(least(list(c(3, NA), c(2, NA))), c(2, NA))
})

# The margins of an experiment's claims, in their order, against lists of differences within runs: of each list the
# least favourable in standard errors. Where nothing is random, the margin with its error of 0
expect_margins <- function(x, expected) {
  held <- claims(x)
  expect_equal(nrow(held), length(expected))
  for (i in seq_along(expected)) {
    d <- expected[[i]]
    if (!is.list(d)) {
      expect_equal(c(held$margin[i], held$se[i]), d, info = held$claim[i])
      next
    }
    margin <- vapply(d, mean, 0)
    se <- vapply(d, function(d) stats::sd(d) / sqrt(length(d)), 0)
    se[se < 1e-12] <- NA # runs that are alike show no error
    at <- order(margin / se, margin, na.last = FALSE)[1]
    expect_equal(c(held$margin[i], held$se[i]), c(margin[at], se[at]), info = held$claim[i], tolerance = 1e-9)
  }
}

# Regret by a round, or at the end, as a function of a policy's row in the settings: a number for each run
regret_of <- function(x, t = max(x$t)) {
  end <- as.data.frame(x)[x$t == t, ]
  function(row) {
    own <- end[end$policy == row$policy, ]
    own$regret[order(own$run)]
  }
}

test_that("the margins of Ou et al.'s claims about pre-pulls are those of the curves", {
  x <- dpts_reproduce("ou-2", mu = c(3, 1, 2), prepulls = c(120, 3, 200, 0, 60), horizon = 1500, runs = 4, seed = 4, record = 1500)
  rows <- shared(x, "experiment")$settings
  at_end <- regret_of(x)
  # by mu, from the strongest guarantee, and there by b; the weakest leaves the largest no c of 1 or more
  sets <- lapply(1:3, function(mu) lapply(c(0, 3, 60, 120, 200), function(b) rows[rows$mu == mu & rows$prepulls == b, ]))
  sets <- lapply(sets, Filter, f = nrow)
  expect_equal(lengths(sets), c(5, 5, 4))
  best <- function(set) set[[which.min(vapply(set, function(row) mean(at_end(row)), 0))]]
  above_best <- function(set, row) at_end(row) - at_end(best(set))
  pulls <- function(row) 5 * row$prepulls
  early <- function(row) if (pulls(row) > 0) regret_of(x, pulls(row))(row) else 0
  late <- function(row) (at_end(row) - early(row)) / (1500 - pulls(row))
  each <- function(f) unlist(lapply(sets, f), recursive = FALSE)
  last <- function(set) set[[length(set)]]
  b_of_weakest <- best(sets[[3]])$prepulls
  expect_margins(x, list(
    each(function(set) list(above_best(set, set[[1]]))),
    each(function(set) list(above_best(set, last(set)))),
    # The mean gap is (0 + 0.125 + 0.25 + 0.375 + 0.5) / 5 over all pre-pulls, in which nothing is random,
    each(function(set) lapply(set[-1], function(row) 0.25 - late(row))),
    c(0.25 - 0.1, 0), # and (2 x 0 + 2 x 0.125 + 0.25) / 5 over the first half of them.
    each(function(set) lapply(seq_along(set)[-1], function(i) late(set[[i - 1]]) - late(set[[i]]))),
    list((at_end(sets[[1]][[1]]) - regret_of(x, 1350)(sets[[1]][[1]])) / 150 - 0.8 * 0.25),
    lapply(Filter(function(row) row$prepulls == b_of_weakest, sets[[1]]), function(row) above_best(sets[[1]], row))
  ))
})

test_that("the margins of Ou et al.'s claims about the best number of pre-pulls are those of regret at the end", {
  x <- dpts_reproduce("ou-3", mu = c(3, 1, 2), prepulls = c(120, 3, 200, 0, 60), horizon = 1500, runs = 4, seed = 2)
  rows <- shared(x, "experiment")$settings
  runs <- runs_in(x)
  at <- function(mu, b) runs$regret[runs$policy == rows$policy[rows$mu == mu & rows$prepulls == b]]
  b_of <- function(mu) sort(rows$prepulls[rows$mu == mu])
  each <- function(f) unlist(lapply(1:3, f), recursive = FALSE)
  ends <- function(against, among) each(function(mu) {
    b <- b_of(mu)
    other <- among(b)
    other <- other[against(vapply(other, function(b) mean(at(mu, b)), 0))]
    lapply(range(b), function(b) at(mu, b) - at(mu, other))
  })
  expect_margins(x, list(
    ends(which.min, identity),
    ends(which.max, function(b) b[-c(1, length(b))]),
    # The smaller half are 0, 3 and 60; 200 pre-pulls are inside 1- and 2-GDP alone.
    lapply(c(0, 3, 60), function(b) at(1, b) - at(3, b)),
    lapply(c(0, 3, 60), function(b) at(1, b) - at(2, b) - (at(1, 200) - at(2, 200)))
  ))
  # Nothing lies between two values of b, and none of them is another than the largest.
  few <- claims(dpts_reproduce("ou-3", mu = c(1, 2), prepulls = c(0, 3), horizon = 500, runs = 2, seed = 2))
  expect_identical(is.na(few$margin), c(FALSE, TRUE, FALSE, FALSE))
  expect_identical(is.na(claims(dpts_reproduce("ou-3", mu = 1, prepulls = c(0, 3), horizon = 500, runs = 2))$margin[4]), TRUE)
})

test_that("the margins of the other claims about regret are those of the policies that they name", {
  x <- dpts_reproduce("ou-8", mu = c(3, 1), prepulls = c(9, 30), horizon = 1000, runs = 4, seed = 2)
  rows <- shared(x, "experiment")$settings
  end <- regret_of(x)
  below <- function(mu, better, worse) {
    of <- function(series) end(rows[rows$mu == mu & rows$series == series, ])
    lapply(worse, function(worse) of(worse) - of(better))
  }
  names <- c("DP-SE", "Anytime-Lazy-UCB", "Modified TS")
  expect_margins(x, list(below(1, names[2], names[-2]), c(below(3, names[2], names[1]), below(1, names[2], names[1])),
                         below(3, names[3], names[-3])))

  # Hu and Hegde's are all of one form.
  of_two <- function(id, ...) {
    x <- dpts_reproduce(id, ..., horizon = 1000, runs = 4, seed = 2)
    said <- regmatches(claims(x)$claim, regexec("^(.*) ends below (.*)\\.$", claims(x)$claim))
    expect_margins(x, lapply(said, function(said) {
      list(regret_of(x)(list(policy = said[3])) - regret_of(x)(list(policy = said[2])))
    }))
    vapply(said, function(said) paste(said[2:3], collapse = " < "), "")
  }
  expect_setequal(of_two("hh-1"), c("DP-TS < Lazy-DP-TS", paste("DP-TS <", names[1:2]), paste("Lazy-DP-TS <", names[1:2])))
  expect_setequal(of_two("hh-2"), paste("Lazy-DP-TS <", names[1:2]))
  expect_setequal(of_two("hh-5", dp_ts = TRUE, log_base = c(2, exp(1))), c(
    outer(paste0("Lazy-DP-TS, ", c("log2", "ln")), names[1:2], paste, sep = " < "),
    outer(c(names[1:2], paste0("Lazy-DP-TS, ", c("log2", "ln"))), paste0("DP-TS, ", c("log2", "ln")), paste, sep = " < ")))

  x <- dpts_reproduce("mt-1", epsilon = c(500, 5, 50), horizon = 1000, runs = 4, seed = 2, record = 1000)
  rows <- shared(x, "experiment")$settings
  of <- function(panel, epsilon, t = 1000) regret_of(x, t)(rows[rows$panel == panel & rows$epsilon == epsilon, ])
  panels <- c("UCB sampling", "Thompson sampling")
  epsilon <- c(5, 50, 500)
  expect_margins(x, c(
    list(lapply(epsilon, function(e) of(panels[1], e) - of(panels[2], e))),
    lapply(panels, function(p) list(of(p, 5) - of(p, 50), of(p, 50) - of(p, 500))),
    unlist(lapply(panels, function(p) lapply(epsilon, function(e) list(of(p, e, 500) / 2 - (of(p, e) - of(p, e, 500))))), FALSE)
  ))
  expect_identical(is.na(claims(dpts_reproduce("mt-1", epsilon = 1, horizon = 100, runs = 2))$margin[2:3]), c(TRUE, TRUE))
})

test_that("the margins of claims about curves of epsilon, and about rates, are those of the table", {
  log <- data.frame(arm = rep(1:3, 200), reward = as.double((1:600 * 377) %% 100 < rep(c(30, 50, 70), 200)),
                    context_1 = (1:600 * 191) %% 100 / 100, propensity = 1 / 3)
  for (id in c("ou-1", "ou-6", "mt-2")) {
    x <- switch(id, "ou-6" = tiny(id), "mt-2" = dpts_reproduce(id, log = log, delay = c(40, 0), runs = 3, seed = 1),
                dpts_reproduce(id, prepulls = c(9, 0, 1), variance_scale = c(2, 10, 1), delta = 10^-(2:3)))
    held <- claims(x)
    if (id == "mt-2") {
      stats <- as.data.frame(summary(x))
      of <- function(policy, delay) unlist(stats[stats$policy == policy & stats$delay == delay, c("relative", "relative_se")])
      pairs <- lapply(c("LinUCB", "linear TS"), function(own) list(own, paste("private", own)))
      worst <- function(weights) {
        both <- vapply(pairs, function(pair) {
          cells <- cbind(of(pair[[1]], 0), of(pair[[1]], 40), of(pair[[2]], 0), of(pair[[2]], 40))
          c(sum(weights * cells[1, ]), sqrt(sum((weights * cells[2, ])^2)))
        }, c(0, 0))
        both[, which.min(both[1, ] / both[2, ])]
      }
      expected <- cbind(worst(c(-0.9, 0, 1, 0)), worst(c(1, 0, -1, 0)), worst(c(1, -1, -1, 1)))
    } else if (id == "ou-6") {
      wide <- tapply(x$epsilon, list(paste(x$panel, x$delta), x$accountant), c)
      expected <- rbind(c(min(wide[, "rdp"] - wide[, "gdp"]), min(2 - wide[, "rdp"] / wide[, "gdp"]),
                          min(log10(wide[, "standard"] / wide[, "rdp"]) - 1)), 0)
    } else {
      wide <- tapply(x$epsilon, list(paste(x$delta, x$accountant), as.character(x$series)), c)
      falls <- function(series) min(wide[, series[-3]] - wide[, series[-1]])
      # c (b + 1) = 1, 2 and 10 in both panels
      expected <- rbind(c(falls(c("b = 0", "b = 1", "b = 9")), falls(c("c = 1", "c = 2", "c = 10")), min(
        0.01 * wide[, c("b = 0", "b = 1", "b = 9")] - abs(wide[, c("b = 0", "b = 1", "b = 9")] - wide[, c("c = 1", "c = 2", "c = 10")])
      )), 0)
    }
    expect_equal(held$margin, expected[1, ], info = id)
    expect_equal(held$se, expected[2, ], info = id)
  }
})

test_that("many curves can be told apart without colour, and few labels crowd an axis", {
  many <- dpts_reproduce("ou-2", mu = c(1, 5), prepulls = c(0, 1, 2, 5, 10, 20, 50), horizon = 2000,
                         runs = 2)
  layers <- ggplot2::ggplot_build(autoplot(many))$data
  lines <- layers[[2]]
  # neighbours in b differ in line type
  expect_equal(length(unique(paste(lines$colour, lines$linetype))), 7)
  expect_equal(length(unique(lines$linetype)), 7)
  # regret is never negative, and neither is its band
  expect_true(all(layers[[1]]$ymin >= 0))
  expect_equal(powers_of_ten(10^-(1:12)), c(1e-10, 1e-5))
  expect_equal(powers_of_ten(c(1e-4, 1e-2)), 10^-(4:2))
  expect_true(all(powers_of_ten(3e-5) == 3e-5))
  # the curves of two accountants may lie on one another
  curves <- ggplot2::layer_data(autoplot(tiny("ou-7")), 1)
  expect_setequal(unique(curves$linetype), c("solid", "42"))
})

test_that("alternative text says what a reader would read off every panel", {
  x <- tiny("ou-8")
  end <- summary(x)
  end <- end[end$t == max(end$t), ]
  text <- ggplot2::get_alt_text(autoplot(x))
  for (i in seq_len(nrow(end))) {
    expect_match(text, paste(end$series[i], "at", short(end$mean[i])), fixed = TRUE)
  }
  # many curves: the highest and the lowest of each panel; epsilon at delta = 1e-4 by Theorem 4
  privacy <- dpts_reproduce("ou-1", prepulls = 0:9, delta = 10^-(2:4))
  text <- ggplot2::get_alt_text(autoplot(privacy))
  ends <- short(gdp_epsilon(sqrt(1000), 1e-4))
  expect_match(text, sprintf("from %s (b = 0) down to %s (b = 9)", ends,
                             short(gdp_epsilon(10, 1e-4))), fixed = TRUE)
  expect_match(text, "varying c, b = 0: c = 1 at", fixed = TRUE)
  told <- function(n) figure_alt(list(source = "S"), "what", "there", rep(c("p", "q"), c(n, 1)), c(letters[1:n], "z"), c(3, 9, 1, 5, 2, 4, 6)[c(1:n, 1)])
  expect_identical(told(6), "S: what. there: p: b at 9, d at 5, f at 4, a at 3, e at 2, c at 1; q: z at 3.")
  expect_identical(told(7), "S: what. there: p: from 9 (b) down to 1 (c); q: z at 3.")
})

test_that("one run is drawn, without bands, and decides nothing", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (id in c("ou-2", "ou-3")) { # curves, and a tuning
    x <- tiny(id, runs = 1)
    plot <- expect_silent(autoplot(x))
    # ggplot2 stops at a band of missing values when the figure is made, not before
    expect_silent(ggplot2::ggplotGrob(plot))
    expect_true(all(claims(x)$verdict == "undecided"), info = id)
  }
})

test_that("a value given twice is one curve, and bad input is the caller's own", {
  expect_equal(nrow(dpts_experiment("ou-2", mu = c(1, 1), prepulls = c(9, 9, 0))$settings), 2)
  expect_equal(nrow(dpts_experiment("ou-1", prepulls = c(0, 0), variance_scale = 2)$settings), 2)
  expect_equal(length(dpts_experiment("mt-1", epsilon = c(1, 1))$policies), 4)
  expect_equal(length(dpts_experiment("hh-2", log_base = c(2, 2))$policies), 3)
  expect_error(dpts_experiment("ou-8", mu = c(1, 1)), "`mu`", class = "dpts_error_input")
  # Figure 8 at other guarantees: the pre-pulls of the nearest of 1, 5 and 10
  expect_equal(dpts_experiment("ou-8", mu = c(6, 0.5))$parameters$prepulls, c(499, 1999))
  of_8 <- dpts_experiment("ou-8", mu = c(6, 0.5))
  of_ts <- subset(of_8$settings, series == "Modified TS")
  expect_equal(of_ts$variance_scale * of_ts$mu^2 * (of_ts$prepulls + 1), rep(of_8$horizon, 2))
  # checked before any work, also where nothing is simulated
  calls <- list(runs = 0, seed = "a", threads = 0, progress = NA)
  for (arg in names(calls)) {
    bad <- rlang::catch_cnd(do.call(dpts_reproduce, c(list("ou-1"), calls[arg])))
    expect_s3_class(bad, "dpts_error_input")
    expect_match(conditionMessage(bad), sprintf("`%s`", arg), fixed = TRUE)
  }
  bad <- rlang::catch_cnd(dpts_reproduce("hh-2", record = 0))
  expect_equal(as.character(conditionCall(bad)[[1]]), "dpts_reproduce")
})

test_that("printing says what was left open", {
  text <- format(dpts_experiment("hh-2"))
  expect_match(text[1], "hh-2")
  expect_true(any(grepl("log_base = 2", text)))
  expect_output(print(dpts_experiment("mt-2")), "10,000 events")
  expect_output(print(tiny("ou-3")), "ou-3")
  expect_output(print(tiny("ou-1")), "Ou, Avella Medina, Cummings 2024, Figure 1")
})

# ---- at full size -----------------------------------------------------------------------------

verdicts <- function(x) claims(x)$verdict

test_that("Ou et al.: shapes and orderings of Figures 2 to 5", {
  skip_unless_extended()
  expect_equal(verdicts(dpts_reproduce("ou-2", runs = 20)), rep("reproduced", 7))
  expect_equal(verdicts(dpts_reproduce("ou-4", runs = 20)), rep("reproduced", 7))
  # The literal reading of the second claim fails on this grid of b
  expected <- c("reproduced", "not reproduced", "reproduced", "reproduced")
  three <- dpts_reproduce("ou-3", runs = 100)
  expect_equal(verdicts(three), expected)
  expect_equal(verdicts(dpts_reproduce("ou-5", runs = 20)), expected)
  # The pre-pulls that Figure 8 uses are the best of the grid, or within two standard errors
  used <- dpts_experiment("ou-8")$parameters$prepulls
  for (i in 1:3) {
    rows <- three[three$mu == c(1, 5, 10)[i], ]
    best <- rows[rows$best, ]
    own <- rows[rows$prepulls == used[i], ]
    expect_lt(own$regret - best$regret, 2 * sqrt(own$se^2 + best$se^2) + 1e-9)
  }
  # An independent simulation of 20 runs has 4,386, 1,129 and 696 for the best at 1, 5 and
  # 10-GDP; its own error is about 15, and pairs of (b, c) differ a little
  best <- three$regret[three$best & three$mu %in% c(1, 5, 10)]
  expect_equal(best, c(4386, 1129, 696), tolerance = 0.03)
})

test_that("Ou et al.: orderings of Figure 8, under both matchings", {
  skip_unless_extended()
  expect_equal(verdicts(dpts_reproduce("ou-8", runs = 40)), rep("reproduced", 3))
  expect_equal(verdicts(dpts_reproduce("ou-8", runs = 40, matching = "gdp")), rep("reproduced", 3))
})

test_that("Hu and Hegde: orderings of Figures 1 to 5", {
  skip_unless_extended()
  for (id in paste0("hh-", 1:4)) {
    expect_true(all(verdicts(dpts_reproduce(id, log_base = c(2, exp(1)))) == "reproduced"))
  }
  five <- claims(dpts_reproduce("hh-5", log_base = c(2, exp(1)), runs = 200))
  # "Always" does not hold against DP-SE at epsilon = 0.1 with base 2
  base_2 <- five$claim == "Lazy-DP-TS, log2 ends below DP-SE."
  expect_true(all(five$verdict[!base_2] == "reproduced"))
  expect_equal(five$verdict[base_2], "not reproduced")
})

test_that("Mishra and Thakurta: Thompson sampling beats UCB, and UCB starves its best arm", {
  skip_unless_extended()
  x <- dpts_reproduce("mt-1", runs = 40)
  held <- claims(x)
  expect_equal(held$verdict[grepl("UCB sampling, epsilon = (0.1|1|10)\\.", held$claim)],
               rep("not reproduced", 3))
  expect_equal(held$verdict[grepl("sampling, epsilon = 100\\.", held$claim)],
               rep("reproduced", 2))
  # As written, at epsilon = 0.1: the first batch is 192 k log(T) / epsilon = 110,524 pulls of
  # arm 1, more than T, and arm 1 is the best
  written <- dpts_reproduce("mt-1", tuned = FALSE, epsilon = 0.1, runs = 2)
  expect_true(all(written$regret[written$series == "epsilon = 0.1" &
                                   written$panel == "Thompson sampling"] == 0))
})

test_that("the sequence accountant cuts the regret of the best Modified TS at 1-GDP", {
  skip_unless_extended()
  pair <- lapply(c("paper", "sequence"), function(accountant) {
    x <- dpts_reproduce("ou-3", mu = 1, prepulls = c(499, 699, 1999), accountant = accountant,
                        runs = 20)
    x[x$best, ]
  })
  # A prototype of the accountant had about 4,370 and 1,560 to 1,600
  expect_equal(c(pair[[1]]$regret, pair[[2]]$regret), c(4370, 1580), tolerance = 0.05)
})

test_that("settings are in one order, however they are given", {
  said <- function(mu, prepulls) as.list(dpts_experiment("ou-3", mu = mu, prepulls = prepulls))[c("policies", "arms", "horizon")]
  expect_identical(names(said(c(10, 1), c(9, 0))$policies), names(said(c(1, 10), c(0, 9))$policies))
  expect_gt(length(said(c(10, 1), c(9, 0))$policies), 2)
})
