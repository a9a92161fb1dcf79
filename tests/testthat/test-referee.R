# The models of tests/referee play the package for about a minute; `make referee MINUTES=30 SEED=1` plays longer. Here
# each has a fixed number of games, so that every machine plays the same.
GAMES <- c(randomised = 60, accountants = 100, groups = 40, gaussian = 200, transcripts = 60, tosses = 4, means = 4,
           life = 8, verdict = 25, batches = 25, plan = 60,
           plan_claims = 6, ope_intervals = 6, replay_intervals = 10, summary_bands = 5, audits = 3, squares_tosses = 8,
           squares_means = 15, conclusions = 15, arms_that_come = 8, persons = 5, apart = 4, guards = 3,
           false_alarms = 6, recommend = 3, means_by_hand = 6, contexts = 40, trials = 2)

referee <- new.env(parent = globalenv())
folder <- testthat::test_path("../referee")
for (file in c(file.path(folder, "referee.R"), list.files(folder, "^model-.*\\.R$", full.names = TRUE))) {
  if (file.exists(file)) sys.source(file, referee)
}
# Loops in R in which the models spend most of their time
LOOPS <- c("means_log", "means_pair", "log_sum", "own_evidence", "linear_factor", "permuted_factor", "noise_price", "within", "power_of",
           "stick", "score_logistic")
for (name in intersect(LOOPS, ls(referee))) {
  referee[[name]] <- compiler::cmpfun(referee[[name]])
}
if (postgres_available()) referee$life_postgres <- postgres_connection
if (length(referee$models)) lapply(names(referee$models), function(name) {
  test_that(sprintf("the referee's model %s finds nothing", name), {
    skip_on_cran()
    said <- capture.output(out <- referee$referee_play(name, seed = 1, seconds = Inf, games = GAMES[[name]]))
    expect_identical(out$failed, 0, info = paste(said, collapse = "\n"))
  })
})

test_that("releases with several variables of noise of different scales are as the model has them", {
  skip_on_cran()
  skip_if_not(length(referee$models) > 0, "tests/referee is not there")
  rows <- data.frame(block = rep(1:5, each = 3), arm = c(2, 1, 3),
                     n = c(300, 250, 90, 300, 200, 210, 300, 120, 310, 500, 450, 400, 90, 250, 400),
                     share = c(0.7, 0.45, 0.3, 0.72, 0.5, 0.36, 0.66, 0.41, 0.2, 0.69, 0.44, 0.32, 0.73, 0.4, 0.35),
                     spread = c(0.2, 0.1, 0.15, 0.24, 0.12), scale = c(4, 1.5, 6, 4, 4, 2, 4, 3, 3, 1, 5, 2, 1.5, 1, 6),
                     terms = c(3, 1, 2, 1, 2, 3, 2, 2, 3, 2, 1, 3, 3, 3, 1))
  rows$t <- stats::ave(cumsum(rows$n), rows$block, FUN = max)
  rows$sum <- rows$n * rows$share
  for (noise in c("gaussian", "laplace", "geometric")) {
    for (squares in c(FALSE, noise != "geometric")) {
      rows$squares <- if (squares) rows$n * rows$spread else NA
      rows$grid <- if (noise == "geometric") 0.5 else 0
      table <- as_releases(cbind(rows[!names(rows) %in% c("spread", "share")], noise = noise))
      e <- suppressMessages(evidence(table, "means", error = 0.05))
      states <- referee$means_states(referee$means_rows(table), 3, max(e$line))
      pair <- function(look, a, b) referee$means_pair(states[[look]][[a]], states[[look]][[b]])
      want <- mapply(pair, rep(1:5, each = 6), as.integer(e$arm), as.integer(e$rival))
      expect_null(referee$means_differ(noise, e$evidence, want))
    }
  }
})

test_that("the referee notices a wrong model, an error and too many false alarms", {
  skip_on_cran()
  skip_if_not(length(referee$models) > 0, "tests/referee is not there")
  own <- new.env(parent = referee)
  sys.source(file.path(folder, "referee.R"), own)
  sys.source(file.path(folder, "model-randomised.R"), own)
  chances <- own$block_chances
  own$block_chances <- function(s, equal, ...) {
    p <- chances(s, equal, ...)
    if (equal) p else rev(p)
  }
  said <- capture.output(out <- own$referee_play("randomised", 1, Inf, games = 40))
  expect_gt(out$failed, 1)
  expect_match(said, "^FAILED MODEL=randomised SEED=[0-9]+ GAMES=1$", all = FALSE)

  own$referee_model("broken", function() list(), function(s) stop("no"))
  one <- function() list(runs = 50, seed = 1)
  many <- function(chance) function(s) own$count_errors("p", stats::rbinom(1, s$runs, chance), s$runs, 0.05)
  own$referee_model("false", one, many(0.1))
  own$referee_model("seldom false", one, function(s) many(if (stats::runif(1) < 0.1) 0.3 else 0.01)(s))
  own$referee_model("true", one, many(0.05))
  play <- function(name, games) {
    capture.output(out <- own$referee_play(name, 1, Inf, games))
    out$failed
  }
  expect_identical(play("broken", 3), 3)
  expect_gt(play("false", 100), 0)
  expect_gt(play("seldom false", 100), 0)
  expect_identical(play("true", 500), 0)
})
