# The arms of every private policy, given what it releases, depend on no reward; and what is released
# costs what was promised and no more. By coupling, see R/audit-coupling.R: random configurations
# of arms, pools, delays, discarded choices, rewards, contexts and all options.

skip_on_cran() # takes seconds

configurations <- if (extended()) 5000 else 50

test_that("coupled runs of neighbours pull the same arms, and spend all of the budget but no more", {
  withr::local_seed(2)
  cases <- coupled_policies()
  found <- lapply(cases, couple_many, configurations)
  all_of <- function(what) vapply(found, function(x) all(x[[what]]), NA)
  expect_identical(names(cases)[!all_of("arms")], character())
  expect_identical(names(cases)[!all_of("releases")], character())
  expect_identical(names(cases)[!all_of("said")], character()) # reports, verdicts, chances
  most <- vapply(found, function(x) max(x$share), 0)
  expect_lte(max(most), 1 + 1e-9)
  # Few configurations spend all of it.
  spends <- function(case, most) {
    for (i in 1:300) {
      if (most >= case$least - 1e-9) return(TRUE)
      most <- max(most, couple_at_random(case, fill = TRUE)$share)
    }
    FALSE
  }
  expect_identical(names(cases)[!mapply(spends, cases, most)], character())
  # The noise is fresh and of the scale that the ledger shows.
  expect_false(any(unlist(lapply(found, `[[`, "repeated"))))
  noise <- lapply(found, `[[`, "noise")
  noise$all <- unlist(noise, recursive = FALSE)
  p <- vapply(noise, noise_tests, c(distribution = 0, pairs = 0))
  expect_gt(min(p), 1e-3 / length(p))
})

test_that("no private policy is left out", {
  constructors <- grep("^policy_", getNamespaceExports("dpts"), value = TRUE)
  # Those that release nothing have tests of their own, as Gaussian Thompson sampling, which draws from its posterior.
  public <- names(Filter(function(x) x$releases == 0, .Call(C_policy_properties)))
  withr::local_seed(1)
  coupled <- unique(vapply(coupled_policies(), function(x) sub("^dpts_", "", class(x$make())[1]), ""))
  expect_setequal(setdiff(constructors, c(paste0("policy_", public), "policy_compiled")), coupled)
})

test_that("the coupling finds every broken copy, and passes the right one", {
  withr::local_seed(2)
  try <- function(broken, n = 20) {
    out <- lapply(seq_len(n), function(i) {
      script <- random_script(sample(2:3, 1), sample(10:25, 1))
      script[c("discard", "delays")] <- NULL
      script$rewards[] <- stats::rbinom(length(script$rewards), 1, 0.5)
      values <- if (i > n / 2) sample(c(0, 0, 0, 1, 7), 500, TRUE)
      couple(broken_player(0.7, broken), script, random_neighbour(script, sample.int(6, 1)), values)
    })
    free <- out[seq_len(n / 2)]
    releases <- all(vapply(out, `[[`, NA, "releases"))
    list(arms = all(vapply(out, `[[`, NA, "arms")), releases = releases,
         spent = if (releases) max(vapply(out, function(x) sum(x$cost$epsilon), 0)),
         repeated = any(vapply(free, function(x) anyDuplicated(x$ledger$noise) > 0, NA)),
         noise = min(noise_tests(lapply(free, function(x) coupling_noise(x$ledger)))))
  }
  right <- try("nothing", 100)
  expect_true(right$arms && right$releases && !right$repeated)
  expect_equal(right$spent, 0.7)
  expect_gt(right$noise, 1e-3)

  expect_false(try("raw")$arms)
  expect_false(try("hint", 100)$arms)
  expect_equal(try("half")$spent, 1.4)
  expect_lt(try("lie", 140)$noise, 1e-6)
  expect_true(suppressWarnings(try("shared"))$repeated)
  expect_gt(try("redraw")$spent, 1.4)
  expect_false(try("peek", 40)$releases)
  expect_equal(try("twice")$spent, 1.4)
  expect_false(try("silent")$releases)
})

#' Twenty couplings of a player with contexts, every other of which is a case of its own
#' @param twist The case: a function of the script, its number and its steps -> list(script, other, values).
couple_contexts <- function(player, mu, twist) {
  out <- lapply(1:20, function(i) {
    steps <- sample(2:25, 1)
    script <- random_script(2, steps, 2, own = TRUE)
    script[c("discard", "delays", "offers")] <- NULL
    pair <- list(script = script, other = random_neighbour(script, sample.int(steps, 1), context = TRUE))
    if (i %% 2 == 0) pair <- twist(script, i, steps)
    apart <- which(apply(pair$script$contexts != pair$other$contexts, 3, any))
    couple(player, pair$script, pair$other, pair$values, apart)
  })
  list(arms = all(vapply(out, `[[`, NA, "arms")),
       most = max(vapply(out, function(x) x$cost$mu, 0)) / mu)
}

test_that("the coupling finds every broken copy of correlated noise on contexts, and passes the right one", {
  withr::local_seed(3)
  try <- function(broken) {
    # The first context moves from one axis to the other, or from nothing to all.
    couple_contexts(broken_linear_player(0.8, broken), 0.8, function(script, i, steps) {
      other <- script
      script$contexts[, , 1] <- if (i %% 4 == 0) c(1, 0) else 0
      other$contexts[, , 1] <- if (i %% 4 == 0) c(0, 1) else 1
      script$rewards[1, ] <- other$rewards[1, ] <- 1
      list(script = script, other = other)
    })
  }
  right <- try("nothing")
  expect_true(right$arms)
  expect_equal(right$most, 1, tolerance = 1e-12)
  expect_false(try("raw")$arms)
  expect_gt(try("norm")$most, 1.005)
  expect_gt(try("entries")$most, 1.02)
  expect_gt(try("share")$most, 1.4)
  expect_gt(try("redraw")$most, 1.5)
  expect_gt(try("length")$most, 1.02)
})

test_that("the coupling finds every broken copy of a logistic policy, and passes the right one", {
  withr::local_seed(4)
  # Two rounds that lie on either side of theta, with rewards against it, cost most.
  try <- function(broken) {
    couple_contexts(broken_logistic_player(0.8, broken), 0.8, function(script, i, steps) {
      other <- script
      script$contexts[, , 2] <- c(0.7142, 0.6999)
      other$contexts[, , 2] <- c(0.6999, 0.7142)
      script$rewards[2, ] <- 0
      other$rewards[2, ] <- 1
      list(script = script, other = other, values = c(0, 0, 0, 1e3, -1e3, rep(0, 5 * steps)))
    })
  }
  right <- try("nothing")
  expect_true(right$arms)
  expect_lte(right$most, 1)
  expect_gt(right$most, 0.99)
  expect_false(try("raw")$arms)
  expect_gt(try("eta")$most, 1.02)
  expect_gt(try("reach")$most, 1.02)
  expect_gt(try("separate")$most, 1.1)
  expect_gt(try("linear")$most, 1.5)
})
