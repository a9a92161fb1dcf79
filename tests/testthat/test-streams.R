# What is drawn for one purpose says nothing about what is drawn for another.

test_that("the streams of one seed and run differ pairwise, and are not correlated", {
  first <- vapply(1:5000, function(i) .Call(C_streams, i, i %% 7 + 1, 2), matrix(0, 2, 8))
  expect_identical(anyDuplicated(c(first)), 0L)
  flat <- matrix(first, 16) # two numbers of each of eight streams
  correlation <- stats::cor(t(flat))
  expect_lt(max(abs(correlation[upper.tri(correlation)])), 5 / sqrt(5000))
  squares <- stats::cor(t((flat - 0.5)^2))
  expect_lt(max(abs(squares[upper.tri(squares)])), 5 / sqrt(5000))
})

# The arms and the ledger's first row of 3,000 seeds
first_releases <- function(policy, k, steps, rewards = rep(0.5, steps), arms = rep(NA, steps)) {
  script <- scripted(policy, k, arms, rewards, max_ledger = 50)
  rows <- vapply(1:3000, function(seed) {
    out <- script(seed)
    c(arm = out$arm[1], exact = out$exact[1], noise = out$noise[1], value = out$value[1])
  }, numeric(4))
  as.data.frame(t(rows))
}

# Is x, of a few values, independent of the number y? -> p-values
independence <- function(x, y) {
  cell <- if (length(unique(y)) < 10) y else findInterval(y, stats::quantile(y, 1:9 / 10))
  stats::chisq.test(table(x, cell))$p.value
}

test_that("the coin that makes a reward 0 or 1 and the noise of its release are independent", {
  # One arm and one reward of 1/2: the exact sum is the coin.
  for (policy in list(policy_dp_ts(1), policy_lazy_dp_ts(1), policy_mt_ts(1, tuned = TRUE, warmup = 0))) {
    x <- first_releases(policy, 1, 1)
    expect_setequal(unique(x$exact), 0:1)
    expect_gt(independence(x$exact, x$noise), 1e-4)
  }
})

test_that("a posterior draw and the noise of the release that follows it are independent", {
  # The first round's choice is by draws alone. A normal draw and a Laplace variable that are made of
  # one word have sizes that go together: of six arms, the first wins more often if its draw is large.
  x <- first_releases(policy_mt_ts(1, tuned = TRUE, warmup = 0), 6, 1, 1) # a reward of 1 tosses no coin
  expect_setequal(unique(x$arm), 1:6)
  expect_gt(independence(x$arm == 1, abs(x$noise)), 1e-4)
  x <- first_releases(policy_local(policy_ts_gaussian(), 1), 6, 1)
  expect_gt(independence(x$arm == 1, x$value), 1e-4)
})
