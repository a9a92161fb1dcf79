skip_on_cran() # takes seconds

test_that("the loss of one bit agrees with a dense search", {
  set.seed(3)
  n <- 60
  alpha <- 1 + 10^runif(n, -2, 1.2)
  d <- 10^runif(n, -2, 0.3)
  g <- alpha * (alpha - 1) / 2 * d^2 * 10^runif(n, -2, 1.2)
  g[1:10] <- 0
  exact <- .Call(C_bit_loss, alpha, d, g)
  dense <- mapply(bit_loss_r, alpha, d, g)
  # R's sums of logarithms lose digits of what is small: an absolute 1e-13
  expect_lt(max(abs(exact - dense) / (1e-13 + 1e-8 * dense)), 1)
  # at most what the whole draw would leak, and falling in g
  expect_true(all(exact <= alpha * (alpha - 1) / 2 * d^2))
  more <- .Call(C_bit_loss, alpha, d, 1.1 * g + 1e-3)
  expect_true(all(more <= exact))
})

test_that("the loss of one bit agrees with 33 digits, at all orders and shifts in range", {
  # fixtures/README.md says how the file was computed
  truth <- read.csv(test_path("fixtures", "bit-loss.csv"))
  loss <- .Call(C_bit_loss, truth$alpha, truth$shift, truth$charge)
  expect_lt(max(abs(loss / truth$loss - 1)), 1e-8)
})

test_that("the excess of a bit with its margin for rounding is never below 60 digits, and hardly above", {
  truth <- read.csv(test_path("fixtures", "bit-excess.csv"))
  excess <- expm1(.Call(C_bit_loss, truth$alpha, truth$shift, truth$charge))
  margin <- 1e-9 + 2e-13 / truth$shift # rounding_at() of src/account_near_gdp.c
  expect_true(all(excess * (1 + margin) >= truth$excess))
  # a hundredth of the margin would do
  expect_true(all(excess * (1 + margin / 100) >= truth$excess))
  expect_lt(max(excess / truth$excess - 1), 2e-8) # bit_climb() is an upper bound, and close
})

# Orders, shifts and charges over the whole range that the accountant meets
random_bits <- function(n) {
  alpha <- 1 + 10^runif(n, -3, 3)
  shift <- 10^runif(n, -5, 1.5)
  list(alpha = alpha, shift = shift,
       charge = alpha * (alpha - 1) / 2 * shift^2 * 10^runif(n, -3, 1.5) * rbinom(n, 1, 0.9))
}

test_that("the loss of one bit is an upper bound wherever the search begins, a 1e-8 above at most", {
  set.seed(5)
  b <- random_bits(2000)
  loss <- .Call(C_bit_loss, b$alpha, b$shift, b$charge)
  # the values on a grid of positions are never above it, the search starting at 0 or far out
  for (x in c(-3, -1, 0, 1, 3, 0.97, 1.03)) {
    at <- if (x %in% c(0.97, 1.03)) x * b$alpha * b$shift else rep(x, 2000)
    value <- .Call(C_bit_at, b$alpha, -b$shift, b$charge, at)$value
    expect_true(all(value <= loss * (1 + 1e-9 + 2e-13 / b$shift)))
  }
  # A search among many positions around the best: not more than 1e-8 below, with what rounding takes
  few <- 1:80
  found <- vapply(few, function(i) {
    f <- function(x) .Call(C_bit_at, b$alpha[i], -b$shift[i], b$charge[i], x)$value
    peak <- max(1, b$alpha[i] * b$shift[i])
    x <- c(seq(-12, 6, by = 0.05), peak * seq(0, 1.2, by = 0.01))
    y <- vapply(x, f, 0)
    near <- x[which.max(y)] + c(-1, 1) * max(0.05, 0.01 * peak)
    stats::optimize(f, near, maximum = TRUE, tol = 1e-9 * peak)$objective
  }, 0)
  seen <- found > 1e-280
  excess <- (loss[few] - found)[seen] / found[seen]
  margin <- (2e-13 / b$shift[few])[seen]
  expect_true(all(excess >= -1e-12 - margin & excess <= 1.1e-8 + margin))
})

test_that("theorem 1: in the position, the loss rises and then falls", {
  set.seed(21)
  for (i in 1:150) {
    b <- random_bits(1)
    sign <- sample(c(-1, 1), 1)
    peak <- sign * -b$alpha * b$shift
    x <- c(seq(-9, 9, by = 0.1), if (abs(peak) > 9) seq(0.2, 1.8, by = 0.02) * peak)
    x <- sort(x)
    k <- rep(1, length(x))
    at <- .Call(C_bit_at, b$alpha * k, sign * b$shift * k, b$charge * k, x)
    # far out the slope underflows, and its sign is then unknown
    slope <- at$slope[abs(at$slope) > 1e-14 * b$shift]
    expect_true(all(diff(sign(slope)) <= 0))
  }
})

test_that("theorem 2: chords in (shift, charge) are never below the loss", {
  set.seed(22)
  n <- 8000
  one <- random_bits(n)
  far <- runif(n) < 0.5
  two <- list(shift = one$shift * ifelse(far, 10^runif(n, -1.5, 1.5), exp(runif(n, -0.1, 0.1))),
              charge = one$charge * ifelse(far, 10^runif(n, -2, 2), exp(runif(n, -0.2, 0.2))))
  t <- runif(n)
  loss <- function(d, g) .Call(C_bit_loss, one$alpha, d, g)
  inside <- loss(t * one$shift + (1 - t) * two$shift, t * one$charge + (1 - t) * two$charge)
  chord <- t * loss(one$shift, one$charge) + (1 - t) * loss(two$shift, two$charge)
  expect_lt(max((inside - chord) / chord), 1e-8) # rounding
  # and its corollary: the loss grows with the shift and falls with the charge
  more <- loss(one$shift * (1 + t), one$charge)
  less <- loss(one$shift, one$charge * (1 + t))
  expect_true(all(more >= loss(one$shift, one$charge) * (1 - 1e-8)))
  expect_true(all(less <= loss(one$shift, one$charge) * (1 + 1e-8)))
})

test_that("theorem 3: pulling more is never worse than pulling less", {
  set.seed(23)
  n <- 2000
  b <- random_bits(n)
  loss <- .Call(C_bit_loss, b$alpha, b$shift, b$charge) # searches one sign
  for (x in c(seq(-6, 3, by = 0.25), -1, -0.99, -0.95, -0.9)) {
    at <- if (x < 0 && x >= -1) x * b$alpha * b$shift else rep(x, n)
    more <- .Call(C_bit_at, b$alpha, b$shift, b$charge, at)$value
    expect_lt(max((more - loss) / loss), 1e-8)
  }
})

test_that("a small loss keeps its digits", {
  # As d -> 0 with g = 0: alpha (alpha - 1) / 2 times the Fisher information
  # of a sign, 2 / pi, times d^2.
  for (alpha in c(1.01, 2, 10)) {
    d <- c(1e-5, 1e-6)
    loss <- .Call(C_bit_loss, rep(alpha, 2), d, c(0, 0))
    expect_equal(loss / (alpha * (alpha - 1) / 2 * 2 / pi * d^2), c(1, 1), tolerance = 1e-8)
  }
})

test_that("the exact recursion agrees with its R translation and with the table", {
  # each round's loss is an upper bound, at most 1e-8 above
  expect_equal(sequence_rdp(2, 12, 1, 1, "exact"), sequence_r(2, 12, 1, 1), tolerance = 1e-8)
  expect_equal(sequence_rdp(1.3, 12, 3, 2, "exact"), sequence_r(1.3, 12, 3, 2),
               tolerance = 1e-8)
  # Values of the recursion from a prototype in another language, to the digits shown
  exact <- function(...) round(sequence_rdp(..., method = "exact"), 6)
  expect_identical(exact(2, 30, 1, 1), 5.921684)
  expect_identical(exact(c(1.2, 2, 4), 100, 1, 1), c(5.614089, 16.300738, 68.797933))
  expect_identical(exact(4, 100, 1, 10), 2.464592)
})

test_that("the grid meets the prototype's figures at 1e5 rounds", {
  # Limits of a prototype of the grid for a finer and finer mesh, 1 percent slack
  expect_gt(sequence_rdp(2, 1e5, 500, 14), 0.886 * 0.995)
  expect_lt(sequence_rdp(2, 1e5, 500, 14), 0.896)
  expect_gt(sequence_rdp(6, 1e5, 500, 14), 2.70 * 0.995)
  expect_lt(sequence_rdp(6, 1e5, 500, 14), 2.75)
  expect_gt(sequence_rdp(1.1, 1e5, 1, 1), 72.4)
  expect_lt(sequence_rdp(1.1, 1e5, 1, 1), 72.8)
  expect_equal(sequence_rdp(1.5, 1e5, 1, 1), 3818, tolerance = 1e-3)
})

test_that("the grid is never below the exact recursion, and within half a percent", {
  set.seed(4)
  n <- 40
  rounds <- round(10^runif(n, 0.3, 2.6))
  prepulls <- round(10^runif(n, 0, 3.3)) - 1
  scale <- 10^runif(n, -3, 2)
  alpha <- 1 + 10^runif(n, -3, 2)
  exact <- sequence_rdp(alpha, rounds, prepulls, scale, "exact")
  grid <- sequence_rdp(alpha, rounds, prepulls, scale, "grid")
  expect_gt(min(grid / exact), 1)
  expect_lt(max(grid / exact), 1.005)
  # the long-run regime, where steps are implicit and cells are wide
  exact <- sequence_rdp(c(1.2, 3), 600, c(0, 40), c(1, 5), "exact")
  grid <- sequence_rdp(c(1.2, 3), 600, c(0, 40), c(1, 5), "grid")
  expect_gt(min(grid / exact), 1)
  expect_lt(max(grid / exact), 1.005)
  # to the digit, as Hoeffding's factor and the margin for rounding change it by little
  expect_lt(max(abs(grid / c(13.8502902085493, 1.11634424723332) - 1)), 5e-8)
})

test_that("the grid stays within half a percent at larger horizons too", {
  skip_unless_extended()
  alpha <- c(1.05, 1.3, 2, 6)
  for (set in list(c(0, 1), c(20, 3), c(500, 14))) {
    exact <- sequence_rdp(alpha, 5000, set[1], set[2], "exact")
    grid <- sequence_rdp(alpha, 5000, set[1], set[2], "grid")
    expect_gt(min(grid / exact), 1)
    expect_lt(max(grid / exact), 1.005)
  }
})

test_that("the bound is never above that of publishing all draws", {
  set.seed(5)
  n <- 15
  args <- list(alpha = 1 + 10^runif(n, -3, 2), rounds = round(10^runif(n, 0, 7)),
               prepulls = round(10^runif(n, 0, 3)) - 1, variance_scale = 10^runif(n, -2, 2))
  table <- do.call(sequence_account, args)
  expect_true(all(table$rdp <= table$published * (1 + 1e-12)))
  expect_true(all(table$rdp > 0))
  expect_true(all(table$slack >= 1))
  expect_identical(table$rdp[1:5], do.call(sequence_rdp, lapply(args, `[`, 1:5)))
  expect_identical(table$method, ifelse(args$rounds <= 200, "exact", "grid"))
  # no pre-pull is as one: an arm without data has nothing to hide
  expect_identical(sequence_rdp(2, 50, 0, 1), sequence_rdp(2, 50, 1, 1))
})

test_that("the bound grows with rounds and order, and falls with variance and pre-pulls", {
  grid <- function(...) sequence_rdp(..., method = "grid")
  expect_true(all(diff(grid(1.5, 10^c(1:3, 6, 9), 0, 1)) > 0))
  expect_true(all(diff(grid(1 + 10^(-2:1), 1e4, 10, 2)) > 0))
  expect_true(all(diff(grid(2, 1e4, 10, 10^c(-1, 1, 3))) < 0))
  expect_true(all(diff(grid(2, 1e4, c(1, 30, 1000), 2)) < 0))
  # (alpha - 1) D is convex in alpha: what the search over orders relies on
  alpha <- seq(1.05, 4, by = 0.1)
  w <- (alpha - 1) * sequence_rdp(alpha, 150, 0, 1, "exact")
  expect_true(all(diff(w, differences = 2) > 0))
})

# The truth itself: all transcripts of two arms, exact divergences of neighbouring
# streams, against the bound.
test_that("no pair of neighbouring streams leaks more than the bound", {
  set.seed(6)
  worst <- 0
  pairs <- 0
  sums <- c()
  for (i in 1:100) {
    rounds <- sample(c(4, 6, 8, 10), 1)
    bits <- transcripts(rounds)
    b <- sample(1:3, 1)
    c <- sample(c(0.3, 1, 3), 1)
    other <- sample(c(b, 10, 1e6), 1)   # the bound holds whatever the other arm holds
    mean <- runif(1)
    rewards <- matrix(switch(sample(3, 1), runif(2 * rounds), rbinom(2 * rounds, 1, 0.5),
                             c(sort(runif(rounds)), rep(mean, rounds))), rounds)
    s <- c(sum(runif(b - 1)), mean * (other + 1))
    # one reward of arm 1 differs: by all there is, or by less
    change <- sample(c(1, 1, runif(1)), 1)
    p <- transcript_distribution(bits, c(b, other), s, rewards, c)
    q <- transcript_distribution(bits, c(b, other), s + c(change, 0), rewards, c)
    sums <- c(sums, sum(exp(p)))
    alpha <- 1 + 10^runif(3, -1.5, 1)
    bound <- sequence_rdp(alpha, rounds, b, c)
    for (k in 1:3) {
      worst <- max(worst, renyi(p, q, alpha[k]) / bound[k], renyi(q, p, alpha[k]) / bound[k])
    }
    pairs <- pairs + 2
  }
  expect_equal(sums, rep(1, 100))
  expect_gte(pairs, 200)
  expect_lte(worst, 1)
  expect_gt(worst, 0.5)
})

test_that("a reward that changes in the middle, or an arm without data, leaks no more", {
  set.seed(7)
  bits <- transcripts(9)
  bound <- sequence_rdp(c(1.3, 3), 9, 0, 1)
  found <- NULL
  for (i in 1:60) {
    # Algorithm 1: both arms empty; the reward of arm 1 in round `at` differs
    rewards <- matrix(if (i %% 2) runif(18) else rbinom(18, 1, 0.5), 9)
    at <- sample(9, 1)
    changed <- rewards
    rewards[at, 1] <- 0
    changed[at, 1] <- 1
    p <- transcript_distribution(bits, c(0, 0), c(0, 0), rewards, 1)
    q <- transcript_distribution(bits, c(0, 0), c(0, 0), changed, 1)
    found <- rbind(found, c(renyi(p, q, 1.3), renyi(q, p, 1.3), renyi(p, q, 3), renyi(q, p, 3)))
  }
  expect_true(all(t(found) <= rep(bound, each = 2)))
})

test_that("the worst streams come within 5 percent of the bound, and not above it", {
  # Found by a search over arm 1's rewards; arm 2 has so many rewards that its draw
  # is all but known, which is the case that the bound fears.
  rewards <- cbind(c(0.373, 0.425, 0.468, 0.522, 0.578, 0.551, 0.888, 0.998, 0.956, 0.938),
                   0.365)
  n <- c(1, 1e6)
  s <- c(0, 0.365 * (1e6 + 1))
  p <- transcript_distribution(transcripts(10), n, s, rewards, 1)
  q <- transcript_distribution(transcripts(10), n, s + c(1, 0), rewards, 1)
  found <- max(renyi(p, q, 1.5), renyi(q, p, 1.5))
  bound <- sequence_rdp(1.5, 10, 1, 1)
  expect_lte(found, bound)
  expect_gte(found, 0.95 * bound)
  # while full publication would allow 3.75
  expect_equal(sequence_account(1.5, 10, 1, 1)$published, 3.75)
})

test_that("exact hockey-stick divergences stay below the (epsilon, delta) curve", {
  set.seed(8)
  delta <- 10^-(1:6)
  for (set in list(c(10, 1, 0.5), c(8, 3, 2))) {
    rounds <- set[1]
    bits <- transcripts(rounds)
    policy <- policy_ts_gaussian(set[2], set[3])
    curve <- dpts_privacy(policy, rounds + 2 * set[2], delta = delta,
                          accountant = "sequence")$epsilon
    for (i in 1:12) {
      mean <- runif(1, 0.2, 0.6)
      rewards <- cbind(sort(runif(rounds)), mean)
      n <- c(set[2], if (i %% 2) 1e6 else set[2])
      s <- c(0, mean * (n[2] + 1))
      p <- transcript_distribution(bits, n, s, rewards, set[3])
      q <- transcript_distribution(bits, n, s + c(1, 0), rewards, set[3])
      for (k in seq_along(delta)) expect_lte(max(hockey_stick(p, q, curve[k]), hockey_stick(q, p, curve[k])), delta[k])
    }
  }
})

test_that("settings outside the certified range are refused by name", {
  refused <- function(...) expect_error(..., class = "dpts_error_range")
  refused(sequence_rdp(2, 10, 0, 1e-30), "`variance_scale`")
  refused(sequence_rdp(2, 10, 0, 1e308), "`variance_scale`")
  refused(sequence_rdp(2, 10, 1e9, 1e4), "`variance_scale`")
  refused(sequence_rdp(1 + 1e-9, 10, 0, 1), "`alpha`")
  refused(sequence_rdp(1e9, 10, 0, 1), "`alpha`")
  # policies have a range of their own, which is narrower but for many pre-pulls
  many <- policy_ts_gaussian(1e6, 1e12)
  expect_error(dpts_privacy(many, 1e7, accountant = "sequence"), "variance_scale",
               class = "dpts_error_accountant")
  expect_false("sequence" %in% dpts_privacy(many, 1e7)$accountant)
  # inside the range, a draw with almost no noise hides almost nothing: the closed form
  # of full publication is close
  wide <- sequence_account(c(2, 40, 1e4), 3, 0, 1e-12, "exact")
  expect_true(all(wide$rdp <= wide$published & wide$rdp > 0.3 * wide$published))
})

test_that("bad input is named", {
  expect_error(sequence_rdp(1, 10, 0, 1), "`alpha`", class = "dpts_error_input")
  expect_error(sequence_rdp(0.5, 10, 0, 1), "`alpha`", class = "dpts_error_input")
  expect_error(sequence_rdp(2, 0, 0, 1), "`rounds`", class = "dpts_error_input")
  expect_error(sequence_rdp(2, 1.5, 0, 1), "`rounds`", class = "dpts_error_input")
  expect_error(sequence_rdp(2, 10, -1, 1), "`prepulls`", class = "dpts_error_input")
  expect_error(sequence_rdp(2, 10, 0, 0), "`variance_scale`", class = "dpts_error_input")
  expect_error(sequence_rdp(2, 10, 0, NaN), "`variance_scale`", class = "dpts_error_input")
  expect_error(sequence_rdp(2, 10, 0, 1, "quick"), "`method`", class = "dpts_error_input")
  expect_error(sequence_rdp(2, 1e6, 0, 1, "exact"), "`rounds`", class = "dpts_error_input")
})

test_that("the best order on a coarse grid is the best order", {
  for (set in list(c(5000, 500, 14), c(300, 0, 1), c(30, 1, 2))) {
    value <- function(u, coarse) sequence_value(u, sampler(set[1], set[2], set[3]), coarse)
    for (delta in c(1e-2, 1e-9)) {
      found <- orders_of_sequence(delta, sampler(set[1], set[2], set[3]))
      u <- round(16 * attr(found, "order")) / 16 + (-3:3) / 16
      if (set[1] == 30) u <- seq(-5, 8, by = 1 / 16)
      # All of the fine grid, or what is around it, by chords
      expect_equal(as.numeric(found), best_on_chords(delta, order_cost, u, value(u, 1))$cost, tolerance = 1e-9)
      # Both grids are bounds, and the fine one is the sharper.
      expect_true(all(value(u, COARSE) >= value(u, 1)))
      expect_lt(max(value(u, COARSE) / value(u, 1)), 1.05)
    }
  }
  expect_gt(near_gdp(sampler(2000, 500, 14), 1e-7, COARSE), near_gdp(sampler(2000, 500, 14), 1e-7))
})

test_that("what has been solved is not solved again, and is the same", {
  solves <- 0
  twice <- function(x) {
    unlist(solve_once("test", list(x, 2), function(i) {
      solves <<- solves + length(i)
      2 * x[i]
    }))
  }
  rm(list = ls(solved), envir = solved) # what other tests have left may be near the bound, at which all is forgotten
  expect_identical(twice(c(1, 0.1, 3)), c(2, 0.2, 6))
  expect_identical(twice(c(3, 5, 0.1)), c(6, 10, 0.2))
  expect_identical(solves, 4)
  first <- sequence_epsilon(1e-5, 30, 20, 3) # orders, near-GDP and the lattice
  rm(list = ls(solved), envir = solved)
  expect_identical(sequence_epsilon(1e-5, 30, 20, 3), first)
  # what is kept has a bound, beyond which all is forgotten and solved again
  twice(1000 + 1:600)
  expect_identical(twice(5), 10)
  expect_identical(ls(solved), sprintf("test %a %a", 5, 2))
})
