# Evidence: its kernels against the same by hand, and its expectation by enumeration.

skip_on_cran() # takes seconds

settings <- if (extended()) 200 else 6

# A random law of noise of a kind
random_law <- function(kind, low, high) {
  law <- evidence_laws[[kind]]
  law[2] <- law[2] * exp(stats::runif(1, log(low), log(high)))
  law
}

test_that("by means: the expectation is at most 1 whatever rewards do below theta, and 1 at it", {
  withr::local_seed(1)
  for (kind in names(evidence_laws)) {
    for (i in seq_len(settings)) {
      law <- random_law(kind, 0.3, 3)
      sign <- sample(c(-1, 1), 1)
      theta <- stats::runif(1, 0.02, 0.98)
      # The mean of the next reward, after those before: theta exactly, or on the right side of it
      share <- stats::runif(7)
      exact <- i %% 3 == 0
      mean <- function(before) {
        m <- if (exact) 1 else share[1 + (length(before) + 3 * sum(before)) %% 7]
        if (sign > 0) theta * m else 1 - (1 - theta) * m
      }
      x <- enumerate_batches(law, if (kind == "laplace") 8 else 12,
                             mean) # Laplace noise has nodes to both sides
      rival <- c(stats::runif(1), exp(stats::runif(1, -6, 0)))
      log_e <- means_of(c(3, 3), x$sum, law, as.integer(sign), theta, rival, 0, c(0, 0))
      some <- sample(length(log_e), min(50, length(log_e)))
      expect_equal(log_e[some], means_by_hand(c(3, 3), x$sum[, some, drop = FALSE], law, sign, theta, rival),
                   tolerance = 1e-5)
      expected <- sum(x$weight * exp(log_e))
      # A large tilt needs more nodes, and has too little of its expectation here.
      expect_lte(expected, 1 + 1e-6)
      if (exact) expect_gt(expected, if (kind == "none") 1 - 1e-9 else 0.98)
    }
  }
})

test_that("by means: geometric noise is charged by its own law", {
  withr::local_seed(6)
  for (i in seq_len(ceiling(settings / 3))) {
    law <- geometric_law(stats::runif(1, 0.2, 0.4), sample(c(1, 0.5), 1))
    l <- stats::runif(1, 0.2, 0.9) / law[2]
    z <- -200:200 * law[3]
    w <- exp(-abs(z) / law[2])
    expect_equal(charge_by_hand(law, l), log(sum(w * exp(l * z)) / sum(w)))
    theta <- stats::runif(1, 0.1, 0.9)
    sign <- sample(c(-1L, 1L), 1)
    x <- enumerate_batches(law, 9, function(before) theta)
    rival <- c(stats::runif(1), exp(stats::runif(1, -6, 0)))
    log_e <- means_of(c(3, 3), x$sum, law, sign, theta, rival, 0, c(0, 0))
    some <- sample(length(log_e), 50)
    expect_equal(log_e[some], means_by_hand(c(3, 3), x$sum[, some], law, sign, theta, rival),
                 tolerance = 1e-5)
    expect_equal(sum(x$weight * exp(log_e)), 1, tolerance = 1e-3)
  }
  # On a fine lattice it is Laplace noise.
  look <- function(law) means_of(c(30, 50), matrix(c(21, 32)), law, 1L, 0.4, c(0.2, 0.01), 0, c(0, 0))
  expect_equal(look(geometric_law(2, 1e-4)), look(c(1, 2, 0, 0)), tolerance = 1e-7)
  expect_gt(look(geometric_law(1)), look(c(1, 1, 0, 0))) # and else less
})

test_that("against a known rate: one arm on both sides, each release with the noise of its own law", {
  withr::local_seed(8)
  law <- cbind(evidence_laws$gaussian * c(1, 0.6, 1, 1), geometric_law(0.4))
  nodes <- lapply(1:2, function(i) noise_nodes(law[, i], c(6, 10)[i]))
  x <- expand.grid(s1 = 0:3, s2 = 0:4, i = seq_along(nodes[[1]]$x), j = seq_along(nodes[[2]]$x))
  look <- function(rate, law) {
    apply(cbind(x$s1 + nodes[[1]]$x[x$i], x$s2 + nodes[[2]]$x[x$j]), 1, function(y) {
      weigh("means", 1, c(1, 1), 1:2, 3:4, y, law, rate = rate)$pair[2, ]
    })
  }
  expected <- function(mean, found) {
    w <- stats::dbinom(x$s1, 3, mean) * stats::dbinom(x$s2, 4, mean) * nodes[[1]]$w[x$i] * nodes[[2]]$w[x$j]
    drop(exp(found) %*% w)
  }
  found <- look(0.4, law)
  expect_equal(expected(0.4, found), c(1, 1), tolerance = 1e-3)
  below <- expected(0.3, found)
  expect_true(below[1] < 0.98 && below[2] > 1.02)
  # With the law of the first release for the second one
  expect_gt(max(expected(0.4, look(0.4, law[, c(1, 1)] * c(1, 0.3, 1, 1)))), 1.01)
  # It is E(rate) with the gap to the rate, whatever the other arms do.
  y <- c(12, 30, 3)
  one <- weigh("means", 1, c(1, 1, 1), 1:3, c(20, 50, 9), y, c(1, 2, 0, 0), rate = 0.3)$pair
  for (side in 1:2) {
    hand <- means_of(c(20, 50, 9), matrix(y), c(1, 2, 0, 0), c(1L, -1L)[side], 0.3, c(0.3, 0), 0, c(0, 0, 0))
    expect_equal(one[3, side], hand)
  }
  two <- weigh("means", 2, c(1, 2, 1, 2, 1), 1:5, c(20, 90, 50, 90, 9), c(12, 80, 30, 85, 3), c(1, 2, 0, 0),
               rate = 0.3)$pair
  expect_identical(two[c(1, 3, 5), c(1, 3)], one)
  expect_error(weigh("means", 1, c(1, 1), 1:2, 3, c(1, 2), cbind(c(2, 1, 0, 0.5), c(2, 2, 0, 0.5))),
               "one law")
})

test_that("against a known rate, a first release with several variables of noise is as evidence_means has it", {
  for (law in evidence_laws[c("gaussian", "laplace")]) for (terms in c(1, 3)) {
    law[2] <- 2
    noise <- terms * law[2]^2 * if (law[1] == 1) 2 else 1
    gap <- sqrt(2 * 3 * (1 / 4 + noise / 80) / 80)
    l <- tilt_by_hand(law, cbind(0, t(0.005 * 1.6^(0:9)), t(c(0.6, 1, 1.6) * gap)), matrix(1 / 4, 1, 14), 80)
    found <- weigh("means", 1, 1, 1, 80, 50, law, terms = terms, rate = 0.4, threshold = 3)$pair
    for (sign in c(1, -1)) {
      hand <- mix_by_hand(sign * l * 50 - 80 * log(0.6 + 0.4 * exp(sign * l)) - terms * charge_by_hand(law, l))
      expect_equal(found[if (sign == 1) 1 else 2], log(hand), tolerance = 1e-5)
    }
  }
})

test_that("against a known rate, both kinds and sides are as by hand, and at most 1 in the mean", {
  for (law in evidence_laws) {
    nodes <- noise_nodes(law, 4)
    x <- expand.grid(s1 = 0:3, s2 = 0:4, i = seq_along(nodes$x), j = seq_along(nodes$x))
    y <- rbind(x$s1 + nodes$x[x$i], x$s2 + nodes$x[x$j])
    weight <- function(one, two) {
      stats::dbinom(x$s1, 3, one) * stats::dbinom(x$s2, 4, two) * nodes$w[x$i] * nodes$w[x$j]
    }
    look <- function(kind, y) {
      apply(y, 2, function(y) weigh(kind, 1, c(1, 1), 1:2, 3:4, y, law, chance = 0.5, floor = 0.1,
                                    rate = 0.35, threshold = 3)$pair[2, ])
    }
    for (kind in c("means", "tosses")) {
      log_e <- look(kind, y)
      for (side in 1:2) {
        sign <- c(1, -1)[side]
        hand <- if (kind == "means") rate_by_means(3:4, y, law, sign, 0.35, 3) else
          rate_by_tosses(3:4, y, law, sign, 0.35)
        expect_equal(log_e[side, ], hand, tolerance = 1e-5)
        # At the rate; on the wrong side of it; and where the truth is on this side
        expected <- function(one, two) sum(exp(hand) * weight(one, two))
        if (kind == "tosses" || law[2] == 0) expect_equal(expected(0.35, 0.35), 1, tolerance = 1e-3)
        expect_lt(expected(0.35 - sign * 0.1, 0.35 - sign * 0.1), 1)
        expect_gt(expected(0.35 + sign * 0.1, 0.35 + sign * 0.1), 1)
        # By tosses the average counts, over the 3 and 4 people of the two blocks; by means each must be on
        # its side.
        drift <- expected(0.35 + sign * 0.28, 0.35 - sign * 0.21)
        if (kind == "tosses") expect_lt(drift, 1)
      }
    }
  }
})

test_that("beside correlated releases: the capital is below a process of expectation 1, or at most that", {
  withr::local_seed(5)
  for (i in seq_len(settings)) {
    exact <- i %% 3 == 0 # for tilts that so few nodes are enough for
    law <- c(2, exp(stats::runif(1, -2, if (exact) -0.7 else 1)), 0,
             if (exact) 0.3 else sample(c(0.3, 0.5, 0.65, 0.9), 1))
    sign <- sample(c(-1, 1), 1)
    theta <- stats::runif(1, 0.05, 0.95)
    part <- if (exact) 1 else stats::runif(1)
    x <- enumerate_batches(law, 12, function(before) if (sign > 0) theta * part else 1 - (1 - theta) * part)
    rival <- c(stats::runif(1), exp(stats::runif(1, -6, 0)))
    share <- if (i %% 2) c(0, 0) else c(0.5, 0.25)
    hand <- correlated_by_hand(c(3, 3), x$sum - x$noise, x$noise / law[2], law, sign, theta, rival, 0.01,
                               share)
    log_g <- means_of(c(3, 3), hand$given, law, as.integer(sign), theta, rival, 0.01, share)
    expect_equal(log_g, hand$capital, tolerance = 1e-5)
    expect_true(all(log_g[hand$inside] <= hand$truth[hand$inside] + 1e-6))
    expected <- sum(x$weight * exp(hand$truth))
    expect_lte(expected, 1 + 1e-5)
    if (exact) expect_gt(expected, 0.98)
  }
})

test_that("by means: a sum with several variables of noise pays for each", {
  withr::local_seed(1)
  arm <- rep(c(1, 2), 6)
  last <- replicate(300, {
    sum <- stats::rbinom(12, 5, 0.5) + 2 * stats::rnorm(12, sd = sqrt(8))
    weigh("means", 2L, arm, seq_along(arm), 5, sum, c(2, 2, 0, 0), terms = 8)$pair[12, 2]
  })
  expect_lt(mean(exp(last)), 1)
})

# ln E of the bets with squares alone: half of the capital is on them.
squares_alone <- function(size, sum, law, sign, theta, rival, risk, squares, weight) {
  both <- means_of(size, sum, law, sign, theta, rival, risk, c(0, 0), squares, weight)
  linear <- means_of(size, sum, law, sign, theta, rival, risk, c(0, 0))
  log(2 * exp(both) - exp(linear))
}

test_that("by means with squares: the expectation is at most 1 whatever the rewards on one side of theta", {
  withr::local_seed(13)
  for (kind in names(evidence_laws)) {
    for (i in seq_len(ceiling(settings / 3))) {
      law <- random_law(kind, 0.3, 1)
      weight <- if (kind == "laplace") sample(c(0.5, 1), 1) else 2
      sign <- sample(c(-1L, 1L), 1)
      values <- if (stats::runif(1) < 0.4) c(0, 1, 1) else stats::runif(3)
      chance <- prop.table(stats::rexp(3))
      mean <- sum(values * chance)
      exact <- i %% 2 == 1
      theta <- if (exact) mean else if (sign > 0) stats::runif(1, mean, 1) else stats::runif(1, 0, mean)
      rival <- c(stats::runif(1), exp(stats::runif(1, -6, 0)))
      x <- enumerate_pairs(law, weight, if (kind == "none") 1 else if (kind == "laplace") 2 else 4, values,
                           chance, if (kind == "none") 3 else 2)
      size <- rep(if (kind == "none") 3 else 2, 2)
      log_e <- squares_alone(size, x$sum, law, sign, theta, rival, 0, x$squares, weight)
      some <- sample(length(log_e), min(50, length(log_e)))
      at <- function(m) m[, some, drop = FALSE]
      expect_equal(log_e[some], squares_of_means_by_hand(size, at(x$sum), at(x$squares), law, weight, sign,
                                                         theta, rival),
                   tolerance = 1e-5)
      expected <- sum(x$weight * exp(log_e))
      expect_lte(expected, 1 + 1e-4)
      if (exact) expect_gt(expected, 0.8)
    }
  }
})

test_that("by means with squares: the third batch's tilts rest on the noise of both before it", {
  law <- c(2, 1.5, 0, 0)
  size <- c(20, 100, 600)
  sum <- c(9, 61, 330)
  squares <- c(3, 14, 70)
  rival <- c(0.4, 1e-3)
  for (sign in c(1L, -1L)) {
    theta <- if (sign > 0) 0.45 else 0.65
    mean <- 0.5
    spread <- 0.25
    gap <- 0.05
    score <- 0
    for (j in 1:3) {
      centre <- if (j == 1) 0.5 else mean
      gaps <- matrix(c(0, 0.005 * 1.6^(0:9), gap * c(0.6, 1, 1.6)), 1)
      l <- square_tilts_by_hand(law, 2, gaps, matrix(spread, 1, 14), matrix(centre, 1, 14), size[j], sign)
      psi <- ifelse(l == 0, 0, fan_by_hand(l, if (sign > 0) centre else 1 - centre))
      t <- sign * l - psi * (1 - 2 * centre)
      score <- score + t * sum[j] - sign * l * centre * size[j] - psi * (squares[j] + size[j] * (centre^2 - 1 / 4)) -
        size[j] * log(1 + sign * l * (theta - centre)) - 1.5^2 / 2 * (t^2 + (psi / 2)^2)
      seen <- seq_len(j)
      weight <- size[seen] / (spread + 1.5^2 / size[seen])
      mean <- sum(weight * (sum / size)[seen]) / sum(weight)
      spread <- safe_variance(sum(size[seen]), sum(sum[seen]), sum(squares[seen]), j, 1.5, 2)
      gap <- abs(mean - rival[1]) / sum(weight) / (1 / sum(weight) + rival[2])
    }
    expect_equal(squares_alone(size, cbind(sum), law, sign, theta, rival, 0, cbind(squares), 2), log(mix_by_hand(score)),
                 tolerance = 1e-5)
  }
})

test_that("beside correlated releases, bets with squares are at most a process of expectation 1", {
  withr::local_seed(14)
  for (i in seq_len(ceiling(settings / 3))) {
    law <- c(2, exp(stats::runif(1, -1.5, -0.5)), 0, c(0.3, 0.5, 0.65)[1 + i %% 3])
    sign <- sample(c(-1L, 1L), 1)
    values <- stats::runif(3)
    chance <- prop.table(stats::rexp(3))
    theta <- sum(values * chance)
    rival <- c(stats::runif(1), exp(stats::runif(1, -6, 0)))
    x <- enumerate_pairs(law, 2, 3, values, chance, 2)
    log_e <- squares_alone(c(2, 2), x$sum, law, sign, theta, rival, 0.01, x$squares, 2)
    hand <- function(at, bound) {
      squares_of_means_by_hand(c(2, 2), x$sum[, at], x$squares[, at], law, 2, sign, theta, rival,
                               bound = bound)
    }
    some <- sample(length(log_e), 50)
    bound <- stats::qnorm(0.01 / 6, lower.tail = FALSE)
    expect_equal(log_e[some], hand(some, bound), tolerance = 1e-5)
    all <- seq_along(log_e)
    truth <- hand(all, sign * x$z[2, ])
    inside <- sign * x$z[2, ] <= bound
    expect_true(all(log_e[inside] <= truth[inside] + 1e-6))
    expected <- sum(x$weight * exp(truth))
    expect_lte(expected, 1 + 1e-3)
    expect_gt(expected, 0.8)
  }
})

test_that("by means with squares: in a pair the products are halved, and W is the least over theta", {
  withr::local_seed(15)
  law <- c(2, 1, 0, 0)
  for (i in 1:6) {
    n <- sample(20:80, 4)
    y <- n * c(0.62, 0.4, 0.6, 0.43) + stats::rnorm(4)
    q <- n * 0.02 + (y / n - 0.5)^2 * n + stats::rnorm(4) / 2
    margin <- c(0, 0.1)[1 + i %% 2]
    w <- weigh("means", 2, c(1, 2, 1, 2), 1:4, n, y, law, squares = q, weight = 2, margin = margin)$pair[4, 3]
    arm <- function(at, sign, theta, weight) {
      means_of(n[at] + 0, matrix(y[at]), law, sign, theta, c(0.5, Inf), 0, c(0, 0), matrix(q[at]), weight)
    }
    value <- vapply(seq(0, 1 - margin, length.out = 200), function(theta) {
      a <- c(arm(c(1, 3), 1L, theta, 0), arm(c(1, 3), 1L, theta, 2))
      b <- c(arm(c(2, 4), -1L, theta + margin, 0), arm(c(2, 4), -1L, theta + margin, 2))
      squares <- function(x) log(2 * exp(x[2]) - exp(x[1]))
      log(exp(a[1] + b[1]) / 2 + exp(squares(a) + squares(b)) / 2)
    }, 0)
    # Gaps are committed to the rival here, and to a rival that is unknown there.
    expect_lt(abs(w - min(value)), 0.35)
  }
})

test_that("by means: W is the least over theta, never more and not less by a millionth", {
  withr::local_seed(2)
  for (i in 1:24) {
    law <- random_law(sample(names(evidence_laws), 1), 0.3, 10)
    batches <- sample(1:12, 1)
    size <- matrix(sample(1:300, 2 * batches, TRUE), batches)
    sum <- stats::rbinom(length(size), size, rep(stats::runif(2), each = batches)) +
      law[2] * stats::rnorm(length(size))
    margin <- sample(c(0, 0, 0.05, 0.5), 1)
    look <- function(theta) .Call(C_test_pair, size + 0, matrix(sum, batches), law, margin, theta)
    # The truth: a grid, made finer around its least value as often as numbers allow
    grid <- seq(0, 1 - margin, length.out = 2000)
    for (finer in 1:4) {
      value <- look(grid)
      expect_lte(value[1], min(value[-1]) + 1e-12) # rounding
      step <- grid[2] - grid[1]
      grid <- grid[which.min(value[-1])] + seq(-step, step, length.out = 300)
      grid <- grid[grid >= 0 & grid <= 1 - margin]
    }
    expect_gt(value[1], min(value[-1]) - 1e-6)
  }
})

test_that("by means: the interval of a mean is where both signs are below their line", {
  withr::local_seed(3)
  size <- c(100, 50, 200)
  sum <- stats::rbinom(3, size, 0.3) + stats::rnorm(3)
  law <- evidence_laws$gaussian
  interval <- function(alpha, n = 3) .Call(C_test_interval, size[seq_len(n)], sum[seq_len(n)], law, alpha)
  at <- function(theta, sign) {
    means_of(size, matrix(sum), law, sign, theta, c(0.5, Inf), 0, c(0, 0, 0))
  }
  out <- interval(0.05)
  expect_true(out[1] < 0.33 && out[2] > 0.27)
  expect_equal(c(at(out[1], 1), at(out[2], -1)), rep(log(2 / 0.05), 2), tolerance = 1e-6)
  expect_true(interval(0.01)[1] < out[1] && interval(0.01)[2] > out[2])
  expect_identical(interval(0.05, 0), c(0, 1)) # nothing is known of it
})

test_that("by tosses: the expectation is at most 1 at each look, under drift, and 1 without a difference", {
  withr::local_seed(4)
  for (kind in names(evidence_laws)) {
    for (i in seq_len(ceiling(settings / c(none = 1, gaussian = 3, laplace = 3)[[kind]]))) {
      p <- stats::runif(3, 0.1, 0.9)
      law <- random_law(kind, 0.3, 1)
      strata <- 1 + i %% 3 %/% 2 # the only one two times of three
      # Tilts for which so few nodes are enough
      kappa <- kappas_of(law, min(p, 1 - p), strata = strata) * if (kind == "none") 1 else 0.3
      mean <- matrix(stats::runif(2), 2, 2, byrow = TRUE)
      exact <- i %% 2 == 0
      if (!exact) mean[1, ] <- mean[1, ] * stats::runif(2)
      size <- if (kind == "none") 3 else 2
      x <- enumerate_blocks(law, if (kind == "laplace") 2 else 3, p, mean, size)
      log_f <- bets_of(x$p, x$tossed, x$sum, law, kappa, FALSE, strata = strata)
      some <- sample(ncol(log_f), min(50, ncol(log_f)))
      at <- function(m) m[, some, drop = FALSE]
      by_hand <- tosses_by_hand(at(x$p), at(x$tossed), at(x$sum), law, kappa, strata = strata)
      expect_equal(at(log_f), by_hand)
      expected <- drop(exp(log_f) %*% x$weight)
      expect_length(expected, if (strata > 1) 9 else 5)
      if (exact) expect_equal(expected, 0 * kappa + 1, tolerance = 1e-3)
      else expect_lte(max(expected), 1 + 1e-3)
      # The average difference: P(W >= line while it is <= 0) is bounded by this being at most 1
      if (!exact && kind == "none") {
        n <- colSums(x$tossed)
        average <- sum(size * (mean[1, ] - mean[2, ])) / (2 * size)
        expect_lte(max(drop(exp(log_f - outer(log1p(kappa * average), n)) %*% x$weight)), 1 + 1e-9)
      }
    }
  }
})

# Blocks side by side in rows, as bets_of() takes them, and the weight of each record
side_by_side <- function(blocks, p) {
  rows <- function(...) do.call(rbind, lapply(blocks, function(x) unname(t(as.matrix(x[c(...)])))))
  list(p = matrix(p, length(blocks), nrow(blocks[[1]])), tossed = rows("na", "nb"), sum = rows("ya", "yb"),
       squares = rows("qa", "qb"), weight = Reduce(`*`, lapply(blocks, `[[`, "w")))
}
look_at_squares <- function(x, law, weight, kappa) {
  bets_of(x$p, x$tossed, x$sum, law, kappa, FALSE, x$squares, weight)[-(1:5), , drop = FALSE]
}
look_by_hand <- function(x, law, weight, kappa) {
  squares_by_hand(x$p, x$tossed, x$sum, x$squares, law, weight, kappa[-(1:5)])
}

test_that("by tosses with squares: over its normaliser the expectation is at most 1 for all rewards", {
  withr::local_seed(11)
  for (kind in names(evidence_laws)) {
    for (i in seq_len(ceiling(settings / 3))) {
      p <- stats::runif(1, 0.1, 0.9)
      law <- random_law(kind, 0.2, 0.6)
      weight <- if (kind == "laplace") sample(c(0.5, 1), 1) else 2
      # Tilts for which so few nodes are enough
      kappa <- kappas_of(law, min(p, 1 - p), weight) * if (kind == "none") 1 else 0.3
      expect_length(kappa, 10)
      values <- if (stats::runif(1) < 0.4) c(0, 1, 1) else stats::runif(3)
      chance <- prop.table(matrix(stats::rexp(6), 2), 1)
      if (i %% 2) chance[2, ] <- chance[1, ]
      delta <- drop((chance[1, ] - chance[2, ]) %*% values)
      people <- if (kind == "none") 4 else 2
      x <- enumerate_squares(law, weight, if (kind == "laplace") 3 else 5, p, values, chance, people)
      x <- side_by_side(list(x), p)
      log_f <- look_at_squares(x, law, weight, kappa)
      some <- sample(ncol(log_f), min(50, ncol(log_f)))
      at <- lapply(x[1:4], function(m) m[, some, drop = FALSE])
      expect_equal(log_f[, some], look_by_hand(at, law, weight, kappa), tolerance = 1e-8)
      expected <- drop(exp(log_f) %*% x$weight) / (1 + kappa[-(1:5)] * delta)^people
      expect_lte(max(expected), 1 + 1e-4)
      expect_gt(max(expected), 0.9)
    }
  }
})

test_that("by tosses with squares: the centre and the chances of a block follow the one before", {
  withr::local_seed(12)
  law <- c(2, 0.3, 0, 0)
  kappa <- kappas_of(law, 0.2, 2) * 0.3
  values <- c(0.1, 0.3, 0.8)
  chance <- rbind(c(0.5, 0.3, 0.2), c(0.5, 0.3, 0.2))
  one <- enumerate_squares(law, 2, 2, 0.5, values, chance, 2)
  total <- 0
  for (p in c(0.3, 0.7)) {
    first <- one[(one$ya > one$yb) == (p > 0.5), ]
    second <- enumerate_squares(law, 2, 2, p, values, chance, 2)
    at <- expand.grid(seq_len(nrow(first)), seq_len(nrow(second)))
    x <- side_by_side(list(first[at[[1]], ], second[at[[2]], ]), c(0.5, p))
    log_f <- look_at_squares(x, law, 2, kappa)
    some <- sample(ncol(log_f), 50)
    pick <- lapply(x[1:4], function(m) m[, some, drop = FALSE])
    expect_equal(log_f[, some], look_by_hand(pick, law, 2, kappa), tolerance = 1e-8)
    total <- total + drop(exp(log_f) %*% x$weight)
  }
  expect_lte(max(total), 1 + 1e-4)
  expect_gt(min(total), 0.9)
})

test_that("by tosses with squares: a fifth is on linear bets, a release without squares loses the rest", {
  look <- function(...) weigh("tosses", 2, rep(1:2, 2), c(1, 1, 2, 2), 100, c(52, 48, 56, 49), c(2, 1, 0, 0),
                              chance = 0.5,
                              floor = 0.5, ...)$pair[, 3]
  linear <- look()
  both <- look(squares = c(1, 1, 1.1, 0.9), weight = 2)
  kappa <- kappas_of(c(2, 1, 0, 0), 0.5, 2)
  own <- bets_of(matrix(0.5, 2, 1), matrix(100, 4, 1), matrix(c(52, 48, 56, 49)), c(2, 1, 0, 0), kappa, FALSE,
                 matrix(c(1, 1, 1.1, 0.9)), 2)
  expect_equal(both[2], log(0.2 * mean(exp(own[1:5])) + 0.8 * mean(exp(own[6:10]))))
  expect_equal(linear[2], log(mean(exp(own[1:5]))))
  expect_equal(look(squares = c(1, 1, 1.1, 0.9), weight = c(2, 2, 0, 0))[2], linear[2] + log(0.2))
  # Permuted blocks have no bets with squares.
  expect_identical(look(squares = 1, weight = 2, permuted = TRUE), look(permuted = TRUE))
})

test_that("against a known rate with squares: by hand, and at most 1 in the mean on both sides", {
  values <- c(0.1, 0.2, 0.7)
  chance <- c(0.2, 0.5, 0.3)
  mean <- sum(values * chance)
  who <- as.matrix(expand.grid(1:3, 1:3, 1:3))
  w <- apply(who, 1, function(i) prod(chance[i]))
  y <- rowSums(matrix(values[who], 27))
  q <- rowSums(matrix((values[who] - 0.5)^2, 27))
  look <- function(y, q, law, rate) {
    weigh("tosses", 2, 1:2, c(1, 1), 3, c(y, 1), law, chance = 0.5, floor = 0.5, squares = c(q, 0.2),
          weight = 2, rate = rate)$pair[1, c(1, 3)]
  }
  free <- evidence_laws$none
  for (rate in c(mean, 0.2, 0.6)) {
    expected <- drop(exp(mapply(look, y, q, MoreArgs = list(law = free, rate = rate))) %*% w)
    if (rate == mean) expect_lte(max(expected), 1 + 1e-12)
    if (rate < mean) expect_lte(expected[2], 1) else if (rate > mean) expect_lte(expected[1], 1)
  }
  law <- c(2, 0.7, 0.1, 0)
  kappa <- kappas_of(law, 1, 2)[6:10]
  squares <- sapply(c(1, -1), function(sign) {
    psi <- fan_by_hand(kappa, if (sign > 0) 0.4 else 0.6)
    sign * kappa * (1.3 - 3 * 0.4) - psi * (0.6 + 0.2 * 1.3 + 3 * (0.4^2 - 0.25)) -
      charge_by_hand(law, abs(sign * kappa - 0.2 * psi)) -
      charge_by_hand(replace(law, 2, 0.35), psi)
  })
  one <- weigh("tosses", 2, 1:2, c(1, 1), 3, c(1.3, 1), law, chance = 0.5, floor = 0.5, rate = 0.4)
  one <- one$pair[1, c(1, 3)]
  expect_equal(look(1.3, 0.6, law, 0.4), log(0.2 * exp(one) + 0.8 * colMeans(exp(squares))))
})

test_that("a person who counts twice, and people who wait and count as 0, prove what is not so", {
  x <- enumerate_blocks(evidence_laws$none, 1, c(0.5, 0.6, 0.4), matrix(0.5, 2, 2))
  kappa <- kappas_of(evidence_laws$none, 0.2)
  expected <- function(x, times = 1) {
    drop(exp(bets_of(x$p, x$tossed * times, x$sum * times, evidence_laws$none, kappa, FALSE)) %*% x$weight)
  }
  expect_equal(expected(x), rep(1, 5), tolerance = 1e-9)
  # Each visit of a sticky person in place of the first
  expect_gt(max(expected(x, 2)), 1.1)
  # Rewards of b come late: in a final block they would be 0, at the same mean
  waiting <- enumerate_blocks(evidence_laws$none, 1, c(0.5, 0.6, 0.4), cbind(c(0.5, 0.5), c(0.5, 0)))
  expect_gt(max(expected(waiting)), 1.1)
})

test_that("the rounding of live noise is charged", {
  law <- c(2, 1, 0.1, 0)
  sum <- matrix(c(1.2, 2.1, -0.3, 4), 2)
  expect_equal(means_of(c(3, 3), sum, law, 1L, 0.4, c(0.2, 0.01), 0, c(0, 0)),
               means_by_hand(c(3, 3), sum, law, 1, 0.4, c(0.2, 0.01)), tolerance = 1e-5)
  p <- matrix(0.4, 2, 2)
  kappa <- kappas_of(law, 0.2)
  tossed <- matrix(c(2, 1, 1, 2), 4, 2)
  sums <- matrix(c(1, 0.5, 1, -1, 2, 0, 0, 1), 4)
  expect_equal(bets_of(p, tossed, sums, law, kappa, FALSE), tosses_by_hand(p, tossed, sums, law, kappa))
})

test_that("by tosses: permuted blocks keep to their own rule, whatever the people are", {
  kappa <- kappas_of(evidence_laws$none, 0.3)
  for (n in 2:6) {
    for (n_a in seq_len(n - 1)) {
      to_a <- utils::combn(n, n_a)
      for (ones in 0:n) { # people who have a reward of 1 under either arm
        reward <- rep(1:0, c(ones, n - ones))
        sum_a <- apply(to_a, 2, function(i) sum(reward[i]))
        records <- ncol(to_a)
        log_f <- bets_of(matrix(n_a / n, 1, records), matrix(c(n_a, n - n_a) + 0, 2, records),
                       rbind(sum_a, ones - sum_a) + 0, evidence_laws$none, kappa, TRUE)
        expect_lte(max(rowMeans(exp(log_f))), 1 + 1e-12)
      }
    }
  }
  # With a centre the rule of independent tosses is false there: two people, one of whom has a 1
  log_f <- bets_of(matrix(0.5, 1, 2), matrix(1, 2, 2), rbind(c(1, 0), c(0, 1)), evidence_laws$none,
                 kappa, FALSE)
  expect_gt(mean(exp(log_f[5, ])), 1.01)
})

test_that("by tosses: permuted blocks pay for the noise of both sums", {
  n <- c(5, 3)
  y <- matrix(c(3.1, -0.4, 5.9, 2.2), 2)
  for (law in evidence_laws) {
    kappa <- kappas_of(law, 0.3)
    t <- kappa * sum(n)^2 / prod(n)
    l <- t * n[2] / sum(n)
    m <- t * n[1] / sum(n)
    charge <- function(l) switch(law[1] + 1, 0 * l, -log1p(-(l * law[2])^2), (l * law[2])^2 / 2)
    if (law[1] == 1) expect_lt(max(l, m) * law[2], 1)
    by_hand <- outer(l, y[1, ]) - outer(m, y[2, ]) -
      t^2 * (prod(n) + min(n)) / (8 * sum(n)) - charge(l) - charge(m)
    log_f <- bets_of(matrix(n[1] / sum(n), 1, 2), matrix(n, 2, 2), y, law, kappa, TRUE)
    expect_equal(log_f, by_hand, tolerance = 1e-9)
  }
})

# Of one permuted block, all at once: n people of each arm, independent rewards of 0 or 1
permuted_mean <- function(n, mean, margin, normaliser = function(kappa) exp(2 * kappa * margin * n)) {
  sums <- expand.grid(0:n, 0:n)
  kappa <- kappas_of(evidence_laws$none, 0.5)
  log_f <- bets_of(matrix(0.5, 1, nrow(sums)), matrix(n + 0, 2, nrow(sums)), t(as.matrix(sums)) + 0,
                 evidence_laws$none, kappa, TRUE)
  sum(stats::dbinom(sums[[1]], n, mean[1]) * stats::dbinom(sums[[2]], n, mean[2]) *
        colMeans(exp(log_f) * normaliser(kappa)))
}

test_that("by tosses: with a margin, permuted blocks have an expectation of at most 1", {
  look <- function(n, sum, margin) {
    weigh("tosses", 2, 1:2, c(1, 1), n, sum, evidence_laws$none, chance = n / sum(n), floor = 0.3,
          permuted = TRUE,
          margin = margin)$pair[1, 3]
  }
  withr::local_seed(7)
  for (margin in 1:9 / 10) {
    # Independent rewards of arms that are exactly the margin apart
    mean <- (1 + c(-1, 1) * margin) / 2
    for (n in list(c(3, 3), c(5, 2), c(8, 8))) {
      s <- expand.grid(0:n[1], 0:n[2])
      w <- apply(s, 1, look, n = n, margin = margin)
      expect_lte(sum(stats::dbinom(s[[1]], n[1], mean[1]) * stats::dbinom(s[[2]], n[2], mean[2]) * exp(w)), 1)
    }
    for (n in c(10, 50)) expect_lte(permuted_mean(n, mean, margin), 1)
    # Any people, each of whom does worse under a by the margin, in all orders
    to_a <- utils::combn(6, 3)
    for (i in 1:3) {
      z <- margin + (1 - margin) * list(stats::runif(6), rep(0:1, 3), c(0, 0, 0, 0, 0, 1))[[i]]
      w <- apply(to_a, 2, function(a) look(c(3, 3), c(sum(z[a] - margin), sum(z[-a])), margin))
      expect_lte(mean(exp(w)), 1)
    }
  }
  # The normaliser of independent tosses is false here: 1.136 at 0.3 with 50 and 50 people
  wrong <- permuted_mean(50, c(0.35, 0.65), 0.3, function(kappa) (1 - kappa * 0.3)^-100)
  expect_equal(wrong, 1.136, tolerance = 1e-3)
  # No arm is worse by more than 1.
  for (kind in c("means", "tosses")) {
    expect_identical(weigh(kind, 2, 1:2, c(1, 1), 5, c(0, 5), evidence_laws$none, chance = 0.5,
                           margin = 1.1)$pair[1, 2:3],
                     c(Inf, Inf))
  }
})

test_that("by tosses: each block is charged for the noise of its own rows, and a lost bet stays lost", {
  laws <- cbind(c(1, 2, 0, 0), geometric_law(1.5), c(2, 3, 0.1, 0), c(1, 1, 0, 0), c(1, 20, 0, 0),
                c(1, 20, 0, 0))
  n <- c(40, 60, 30, 50, 55, 45)
  sum <- c(30, 25, 20, 18, 40, 10)
  p <- c(0.4, 0.6, 0.4, 0.6, 0.5, 0.5)
  kappa <- kappas_of(laws[, 1], 0.3) # the wider law of the first block
  look <- function(rows) {
    weigh("tosses", 2, rep(1:2, 3)[rows], rep(1:3, each = 2)[rows], n[rows], sum[rows],
          laws[, rows, drop = FALSE],
          chance = p[rows], floor = 0.3)$pair
  }
  f <- 0 * kappa
  for (block in 1:3) {
    i <- 2 * block - 1:0
    before <- seq_len(i[1] - 1)
    x <- vapply(1:2, function(arm) {
      own <- before[rep_len(1:2, length(before)) == arm]
      (sum(sum[own]) + 5) / (sum(n[own]) + 10)
    }, 0)
    c <- p[i[2]] * x[1] + p[i[1]] * x[2]
    c <- pmin(pmax(c, 1 - 0.95 * p[i[2]] / kappa), 0.95 * p[i[1]] / kappa)
    a0 <- log(1 - kappa * c / p[i[1]])
    b0 <- log(1 + kappa * c / p[i[2]])
    l <- log(1 + kappa * (1 - c) / p[i[1]]) - a0
    m <- b0 - log(1 - kappa * (1 - c) / p[i[2]])
    charge <- function(law, l) ifelse(law[1] == 1 & l * law[2] >= 1, Inf,
                                      suppressWarnings(charge_by_hand(law, l)))
    f <- f + n[i[1]] * a0 + n[i[2]] * b0 + l * sum[i[1]] - m * sum[i[2]] -
      charge(laws[, i[1]], l) - charge(laws[, i[2]], m)
    expect_equal(look(1:(2 * block))[block, 3], log(mean(exp(f))))
  }
  expect_identical(is.finite(f), rep(c(TRUE, FALSE), c(3, 2))) # noise of scale 20 admits the small ones alone
  # All lost: nothing is proved, now or later.
  lost <- weigh("tosses", 2, rep(1:2, 3), rep(1:3, each = 2), 1000, rep(c(900, 100), 3),
                cbind(c(1, 0, 0, 0), c(1, 0, 0, 0), c(1, 1e6, 0, 0), c(1, 1e6, 0, 0), c(1, 0, 0, 0),
                      c(1, 0, 0, 0)),
                chance = 0.5, floor = 0.5, interval = log(20))
  expect_identical(c(is.finite(lost$pair[1, 3]), lost$pair[2:3, 3] == -Inf), c(TRUE, TRUE, TRUE))
  expect_identical(lost$lower[1, 2], -1)
})

test_that("live noise is charged as it is drawn: a little larger, and rounded to the grid", {
  # kind, scale, correlation, step. The rate of exact noise is rounded down to 32 bits: 2^-19 of the scale
  # covers this, and 2^-20 more beside squares.
  for (kind in c(1, 2)) {
    live <- .Call(C_test_drawn, c(kind, 3, 0, 0), TRUE)
    expect_identical(live[2], 3 * (1 + 2^-19))
    expect_identical(live[4], if (kind == 2) 2^-20 else 0)
    expect_identical(.Call(C_test_drawn, c(kind, 3, 0, 0), FALSE), c(kind, 3, 0, 0))
    expect_identical(unlist(live_noise(list(kind = kind, scale = 3)), use.names = FALSE), live[c(1, 2, 4)])
  }
  expect_identical(.Call(C_test_drawn, c(2, 0, 0, 0), TRUE), c(2, 0, 0, 0))
  # half a step of the grid costs l / 2^21: by hand, of one batch of 100 rewards and a gap of 0.2
  means <- function(law) means_of(100, matrix(60), law, 1L, 0.3, c(0.5, 0.01), 0, 0)
  expect_lt(means(c(2, 3, 0, 0.5)), means(c(2, 3, 0, 0)))
})

test_that("by means: tilts for which the noise of a later release has no expectation are not taken from an earlier one", {
  # Laplace noise of the scales 100 and 101: the tilts are near 1 / 100 and near 1 / 101, alike but for that.
  size <- 1e5
  y <- 0.5 * size
  laws <- cbind(c(1, 100, 0, 0), c(1, 101, 0, 0))
  gaps <- c(0, 0.005 * 1.6^(0:9), c(0.6, 1, 1.6) * 0.05) # of the first release, and |0.5 - 0.45| for the second
  l <- lapply(1:2, function(i) tilt_by_hand(laws[, i], gaps, 0.25, size))
  expect_gt(max(l[[1]]), 1 / 101)
  expect_lt(max(pmax(l[[1]][-1] / l[[2]][-1], l[[2]][-1] / l[[1]][-1])), 1.06)
  growth <- function(l, law) l * y - size * log(1 - 0.45 + 0.45 * exp(l)) - charge_by_hand(law, l)
  hand <- growth(l[[1]], laws[, 1]) + growth(l[[2]], laws[, 2])
  want <- max(hand) + log(mix_by_hand(matrix(hand - max(hand), 1)))
  expect_equal(weigh("means", 1, c(1, 1), 1:2, size, c(y, y), laws, rate = 0.45)$pair[2, 1], want, tolerance = 1e-5)
})

test_that("by tosses: a block in which an arm got nobody says nothing of a difference", {
  for (law in list(c(2, 0, 0, 0), c(2, 1, 0, 0))) {
    out <- weigh("tosses", 2, c(1, 2, 1, 2), c(1, 1, 2, 2), c(10, 0, 20, 30), c(7, 0, 10, 24), law, chance = 0.5, floor = 0.5)
    expect_equal(out$estimate[2, 1], 24 / 30 - 10 / 20)
  }
})
