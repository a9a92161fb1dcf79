# Method "exact": the chances of transcripts against the C code, and epsilon against closed forms.

skip_on_cran() # takes seconds

# All transcripts of a policy by the plainest recursion: chance(n, sum) of each arm, one history
# at a time. -> a chance for each transcript, named by its arms
plain_transcripts <- function(chance, stream, past = integer(), p = 1) {
  if (length(past) == nrow(stream)) return(stats::setNames(p, paste(past, collapse = "")))
  k <- ncol(stream)
  n <- vapply(1:k, function(a) sum(past == a), 0)
  sum <- vapply(1:k, function(a) sum(stream[which(past == a), a]), 0)
  at <- chance(n, sum)
  unlist(lapply(1:k, function(a) plain_transcripts(chance, stream, c(past, a), p * at[a])))
}

plain_gaussian <- function(b, c) function(n, sum) {
  if (any(n < b)) return(as.numeric(seq_along(n) == which(n < b)[1]))
  vapply(seq_along(n), function(i) {
    integrate(function(x) {
      dnorm(x, sum[i] / (n[i] + 1), sqrt(c / (n[i] + 1))) *
        Reduce(`*`, lapply(seq_along(n)[-i], function(j) {
          pnorm(x, sum[j] / (n[j] + 1), sqrt(c / (n[j] + 1)))
        }))
    }, -Inf, Inf, rel.tol = 1e-10)$value
  }, 0)
}

plain_beta <- function(a, b) function(n, sum) {
  vapply(seq_along(n), function(i) {
    integrate(function(x) {
      dbeta(x, sum[i] + a, n[i] - sum[i] + b) *
        Reduce(`*`, lapply(seq_along(n)[-i], function(j) pbeta(x, sum[j] + a, n[j] - sum[j] + b)))
    }, 0, 1, rel.tol = 1e-10)$value
  }, 0)
}

# A function of pulls and sums that computes nothing twice
kept <- function(chance) {
  known <- list()
  function(n, sum) {
    key <- paste(c(n, sum), collapse = " ")
    if (is.null(known[[key]])) known[[key]] <<- chance(n, sum)
    known[[key]]
  }
}

# The hockey-stick divergence by its definition, and the least epsilon by bisection
plain_epsilon <- function(p, q, delta) {
  stick <- function(e) max(sum(pmax(p - exp(e) * q, 0)), sum(pmax(q - exp(e) * p, 0)))
  if (stick(0) <= delta) return(0)
  uniroot(function(e) stick(e) - delta, c(0, 50), tol = 1e-12)$root
}

test_that("lists of transcripts agree with the plain recursion", {
  cases <- list(
    list(policy_ts_gaussian(), plain_gaussian(0, 1), 2, 5),
    list(policy_ts_gaussian(1, 0.3), plain_gaussian(1, 0.3), 2, 5),
    list(policy_ts_gaussian(1, 2), plain_gaussian(1, 2), 3, 4),
    list(policy_ts_gaussian(0, 5), plain_gaussian(0, 5), 4, 3),
    list(policy_ts_beta(), plain_beta(1, 1), 2, 4),
    list(policy_ts_beta(c(2, 3)), plain_beta(2, 3), 3, 3),
    list(policy_uniform(), function(n, sum) rep(1 / length(n), length(n)), 3, 4)
  )
  for (case in cases) {
    chance <- kept(case[[2]])
    streams <- if (case[[1]]$name == "ts_beta") "random" else "stages"
    audit <- dpts_audit(case[[1]], case[[4]], arms = case[[3]], streams = streams,
                        delta = c(0.2, 0.01, 1e-4), method = "exact", seed = 4)
    pairs <- things_of(attr(audit, "label"))
    plain <- unlist(lapply(pairs, function(pair) {
      p <- plain_transcripts(chance, pair$x)
      q <- plain_transcripts(chance, pair$y)
      all <- list_transcripts(arm_chances(case[[1]]), pair)
      expect_equal(sort(exp(all$log_x)), sort(unname(p[p > 0 | q > 0])), tolerance = 1e-7)
      expect_equal(sum(exp(all$log_y)), 1, tolerance = 1e-9)
      vapply(c(0.2, 0.01, 1e-4), function(delta) plain_epsilon(p, q, delta), 0)
    }))
    expect_equal(audit$lower, unname(plain), tolerance = 1e-6)
  }
})

test_that("transcripts have the chances that the C code gives them", {
  runs <- 4e4
  policies <- list(policy_ts_gaussian(), policy_ts_gaussian(1, 0.3), policy_ts_beta())
  for (policy in policies) {
    for (k in 2:3) {
      pair <- changed_first(audit_catalogue(5, k, 4)$random)
      p <- plain_names(arm_chances(policy), pair)
      arms <- play_stream(policy, pair$x, seq_len(runs), 8)
      seen <- tabulate(match(colSums(arms * 10^(nrow(arms):1 - 1)), as.numeric(names(p))), length(p))
      # Chi-square over transcripts with at least five runs expected, the rest together
      large <- p * runs >= 5
      count <- c(seen[large], sum(seen[!large]))
      chance <- c(p[large], 1 - sum(p[large]))
      keep <- chance > 1e-9
      expect_gt(suppressWarnings(chisq.test(count[keep], p = chance[keep],
                                            rescale.p = TRUE)$p.value), 1e-4)
    }
  }
})

test_that("one draw has its closed form", {
  # One pull of each arm, then one draw: N(S / 2, c / 2) each.
  for (c in c(0.2, 1, 7)) {
    audit <- dpts_audit(policy_ts_gaussian(1, c), 3, streams = "contest", delta = c(0, 0.05, 0.3),
                        method = "exact")
    p <- pnorm((0 - 0.25) / sqrt(c))
    q <- pnorm((0.5 - 0.25) / sqrt(c))
    # By symmetry 1 - p = q: both directions alike
    expect_equal(audit$lower, pmax(0, log((q - c(0, 0.05, 0.3)) / p)))
  }
  # Beta: arm 1 or 2 by a fair coin, then it wins with 1/3 after a failure, 2/3 after a success.
  audit <- dpts_audit(policy_ts_beta(), 2, streams = "success", delta = c(0, 0.1, 0.4),
                      method = "exact")
  expect_equal(audit$lower, c(log(2), log((2 / 3 - 0.1) * 3), 0))
})

test_that("Beta Thompson sampling loses what the theory page says", {
  # Two arms, T = 8, delta 1e-5: an enumeration over 150 to 400 other streams found 10.58.
  audit <- dpts_audit(policy_ts_beta(), 8, delta = 1e-5, method = "exact", streams = "failure")
  expect_equal(audit$lower, 10.58, tolerance = 2e-3)
})

test_that("chances in the tails are exact", {
  # Three arms of which the third is far behind: P = E Phi(...)^2 by an integral in logs
  mean <- rbind(c(1, 1, 0), c(0, 0, 0))
  sd <- rbind(c(1, 1, 1) * 0.1, c(1, 0.05, 0.2))
  log_chance <- largest_normal(mean, sd)
  f <- function(i) function(x) {
    j <- setdiff(1:3, i)
    exp(dnorm(x, mean[1, i], 0.1, log = TRUE) + pnorm(x, mean[1, j[1]], 0.1, log.p = TRUE) +
          pnorm(x, mean[1, j[2]], 0.1, log.p = TRUE))
  }
  expect_equal(log_chance[1, 3], log(integrate(f(3), 0.3, 1.2, rel.tol = 1e-10)$value),
               tolerance = 1e-8)
  expect_equal(rowSums(exp(log_chance)), c(1, 1), tolerance = 1e-12)
  # Three equal arms, and two for which the integral has a closed form
  expect_equal(largest_normal(matrix(0.3, 1, 3), matrix(0.7, 1, 3)), matrix(-log(3), 1, 3))
  expect_equal(largest_beta(matrix(c(1, 2), 1), matrix(c(1, 1), 1)), log(matrix(c(1, 2) / 3, 1)))
  # P(Beta(1, n) > Beta(n, 1)) = n Beta(n, n + 1): 1e-59 at n = 100
  expect_equal(largest_beta(matrix(c(1, 100), 1), matrix(c(100, 1), 1))[1, 1],
               log(100) + lbeta(100, 101), tolerance = 1e-10)
})

test_that("no accountant is below what is exact", {
  withr::local_seed(11)
  for (i in 1:6) {
    k <- sample(2:3, 1)
    b <- sample(0:2, 1)
    horizon <- k * b + sample(2:(if (k == 2) 8 else 4), 1)
    policy <- policy_ts_gaussian(b, exp(runif(1, log(0.05), log(50))))
    x <- matrix(runif(horizon * k), horizon, k)
    y <- x
    at <- sample(horizon - 1, 1)
    x[at, ] <- 0
    y[at, ] <- 1
    audit <- dpts_audit(policy, horizon, arms = k, streams = list(x, y), delta = 10^-c(0, 1, 3, 5, 8) / 2,
                        method = "exact")
    expect_true(all(audit$holds))
    if (i %% 2) next
    # and at the extreme settings of the catalogue
    expect_true(all(dpts_audit(policy, horizon, arms = k, delta = 10^-c(1, 3, 6), method = "exact",
                               streams = c("silent", "failure", "stages"))$holds))
  }
})

test_that("policies that toss no coin tell the streams apart, or not at all", {
  audit <- dpts_audit(policy_ucb1(), 10, method = "exact", streams = c("success", "alternating"))
  arms <- function(side, streams) play_stream(policy_ucb1(), streams[[side]], 1, 1)
  for (i in 1:2) {
    streams <- things_of(attr(audit, "label"))[[i]]
    expect_equal(audit$lower[i], if (identical(arms("x", streams), arms("y", streams))) 0 else Inf)
  }
  expect_true(any(audit$lower == Inf))
  expect_equal(dpts_audit(policy_fixed(1), 10, method = "exact")$lower, rep(0, 9))
  expect_true(all(dpts_audit(policy_imed(), 10, method = "exact", arms = 3)$lower %in% c(0, Inf)))
})

test_that("the loss of each transcript is that of the plain recursion, whichever round was changed", {
  arms <- t(as.matrix(expand.grid(1:2, 1:2, 1:2, 1:2)))
  chance <- kept(plain_beta(1, 1))
  x <- cbind(c(1, 0, 1, 0), c(0, 1, 1, 0))
  for (changed in 1:4) {
    y <- x
    y[changed, ] <- 1 - y[changed, ]
    p <- plain_transcripts(chance, x)
    q <- plain_transcripts(chance, y)[names(p)]
    loss <- transcript_loss(arm_chances(policy_ts_beta()), list(x = x, y = y), arms)
    expect_equal(loss, unname(log(p / q)[apply(arms, 2, paste, collapse = "")]), tolerance = 1e-8)
    expect_identical(all(loss == 0), changed == 4)
  }
})

test_that("the losses of played transcripts integrate to one", {
  pair <- changed_first(audit_catalogue(12, 2, 3)$stages)
  chances <- arm_chances(policy_ts_gaussian())
  loss <- function(side) {
    transcript_loss(chances, pair, play_stream(policy_ts_gaussian(), pair[[side]], 1:5e3, 5))
  }
  for (value in list(exp(-loss("x")), exp(loss("y")))) {
    expect_lt(abs(mean(value) - 1), 5 * sd(value) / sqrt(5e3))
  }
})

test_that("policies whose next arm has no computed probability are refused with the reason", {
  for (policy in list(policy_exp3(), policy_dp_imed(1), policy_dp_ts(1), policy_randomised(mu = 1), policy_top_two(1))) {
    expect_error(dpts_audit(policy, 4, method = "exact"), "probability of its next arm is not computed",
                 class = "dpts_error_method")
  }
})
