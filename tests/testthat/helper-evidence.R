# Evidence by hand, many short records at once; and expectations by
# enumeration of rewards and quadrature over the noise. A law of noise is c(kind, scale, step, correlation) as
# in
# src/noise_law.h.

evidence_laws <- list(none = c(2, 0, 0, 0), gaussian = c(2, 1, 0, 0), laplace = c(1, 1, 0, 0))
geometric_law <- function(scale, step = 1) c(5, scale, step, 0)

#' E of batches of one arm: see src/test_evidence.c
means_of <- function(size, sum, law, sign, theta, rival, risk, share, squares = NULL, weight = 0) {
  .Call(C_test_means, size, sum, law, sign, theta, rival, risk, share, squares, weight)
}

#' The bets by tosses on many short records: see src/test_evidence.c
bets_of <- function(p, tossed, sum, law, kappa, permuted, squares = NULL, weight = 0, strata = 1) {
  .Call(C_test_tosses, p, tossed, sum, squares, law, weight, kappa, permuted, strata)
}
kappas_of <- function(law, floor, weight = 0, strata = 1) .Call(C_test_kappas, law, weight, floor, strata)

#' The kernel on releases, with `t` in order
#' @param law Of all, or a matrix with a column for each.
#' @param weight Of the squares; 0: there are none.
weigh <- function(kind, k, arm, t, size, sum, law, terms = 1, chance = 0, floor = 0, permuted = FALSE,
                  squares = 0,
                  weight = 0, stratum = 1, ...) {
  look <- match(t, unique(t))
  laws <- matrix(law, length(arm), length(LAW), byrow = TRUE, dimnames = list(NULL, LAW))
  table <- cbind(arm, t, block = look, look, size, sum, terms, chance, squares, weight, stratum, laws)
  storage.mode(table) <- "double"
  weigh_releases(k, table[, WEIGHED, drop = FALSE], kind, list(floor = floor, permuted = permuted, strata = max(stratum)), ...)
}

# Nodes and weights of E f(noise) (Golub and Welsch 1969): Gauss-Hermite, and Gauss-Laguerre to both sides
noise_nodes <- function(law, n) {
  if (law[2] == 0) return(list(x = 0, w = 1))
  if (law[1] == 5) { # from -n to n steps
    w <- exp(-abs(-n:n) * law[3] / law[2])
    return(list(x = law[3] * -n:n, w = w / sum(w)))
  }
  i <- seq_len(n - 1)
  laplace <- law[1] == 1
  e <- eigen(if (laplace) diag(2 * seq_len(n) - 1) + offdiagonal(i) else offdiagonal(sqrt(i)),
             symmetric = TRUE)
  w <- e$vectors[1, ]^2
  if (!laplace) return(list(x = law[2] * e$values, w = w))
  list(x = law[2] * c(e$values, -e$values), w = c(w, w) / 2)
}
offdiagonal <- function(x) {
  m <- diag(0, length(x) + 1)
  m[cbind(seq_along(x), seq_along(x) + 1)] <- m[cbind(seq_along(x) + 1, seq_along(x))] <- x
  m
}

charge_by_hand <- function(law, l) {
  if (law[2] == 0) return(0 * l)
  a <- exp(-law[3] / law[2])
  if (law[1] == 5) return(log((1 - a)^2 / ((1 - a * exp(l * law[3])) * (1 - a * exp(-l * law[3])))))
  if (law[1] == 1) -log(1 - (l * law[2])^2) else (l * law[2])^2 / 2 + l * law[3] / 2
}

tilt_by_hand <- function(law, gap, v, size) {
  if (!law[1] %in% c(1, 5) || law[2] == 0) return(pmin(gap / (v + law[2]^2 / size), 20))
  low <- 0 * gap * v
  high <- pmin(1 / law[2], gap / v) + low
  for (i in 1:40) {
    l <- (low + high) / 2
    a <- exp(-law[3] / law[2] + law[3] * l)
    b <- exp(-law[3] / law[2] - law[3] * l)
    slope <- if (law[1] == 1) 2 * l / (1 / law[2]^2 - l^2) else law[3] * (a / (1 - a) - b / (1 - b))
    up <- gap * size - l * v * size > slope
    low[up] <- l[up]
    high[!up] <- l[!up]
  }
  low
}

#' The tilts of a first batch, and those of the next, as the first and a rival have it
#' @param after The mean that the gap is taken from, if it is not that of the first batch.
#' @param first The gap of the first batch.
tilts_by_hand <- function(size, y, law, rival, gap = NULL, floor = 0.03, first = 0.05) {
  fixed <- matrix(c(0, 0.005 * 1.6^(0:9)), length(y), 11, byrow = TRUE)
  a <- exp(-law[3] / law[2])
  noise <- if (law[1] == 5) law[3]^2 * 2 * a / (1 - a)^2 else law[2]^2 * if (law[1] == 1) 2 else 1
  mean <- y / size[1]
  v <- 0.25 + 0 * y
  tilts <- function(v, gap, size) {
    tilt_by_hand(law, cbind(fixed, outer(gap, c(0.6, 1, 1.6))), matrix(v, length(y), 14), size)
  }
  one <- tilts(v, first + 0 * y, size[1])
  variance <- (v + noise / size[1]) / size[1]
  z <- pmin(pmax(0.5, mean - sqrt(variance)), mean + sqrt(variance))
  v <- pmax(z * (1 - z), floor)
  two <- tilts(v, gap %||% (abs(mean - rival[1]) * variance / (variance + rival[2])), size[2])
  far <- pmax(one / two, two / one)
  far[is.nan(far)] <- 1
  near <- apply(far, 1, max) <= 1.06
  two[near, ] <- one[near, ]
  list(one = one, two = two)
}
mix_by_hand <- function(value) drop(exp(value) %*% c(0.02, rep(0.073, 10), 0.0625, 0.125, 0.0625))

#' ln E^sign(theta) of two batches, for each column of `sum`
means_by_hand <- function(size, sum, law, sign, theta, rival) {
  l <- tilts_by_hand(size, sum[1, ], law, rival)
  psi <- function(l) log(1 - theta + theta * exp(sign * l))
  charge <- function(l) charge_by_hand(law, l)
  log(mix_by_hand(sign * (l$one * sum[1, ] + l$two * sum[2, ]) - size[1] * psi(l$one) - size[2] * psi(l$two) -
                    charge(l$one) - charge(l$two)))
}

#' ln E^sign(rate) of two batches for which a threshold is known: what the first is aimed at follows from it,
#' and the
#' second at the distance of the mean from the rate
rate_by_means <- function(size, y, law, sign, rate, threshold) {
  noise <- law[2]^2 * if (law[1] == 1) 2 else 1
  mean <- y[1, ] / size[1]
  l <- tilts_by_hand(size, y[1, ], law, NULL, abs(mean - rate),
                     first = sqrt(2 * threshold * (0.25 / size[1] + noise / size[1]^2)))
  cost <- lapply(l, function(l) charge_by_hand(law, l))
  psi <- lapply(l, function(l) log(1 - rate + rate * exp(sign * l)))
  log(mix_by_hand(sign * (l$one * y[1, ] + l$two * y[2, ]) - size[1] * psi$one - size[2] * psi$two -
                    cost$one - cost$two))
}

#' ln E that the average mean of an arm's people is above (sign 1) or below a rate, by tosses: the mean of
#' products
#' of (1 + sign kappa (x - rate)) over its people, if rewards are 0 or 1 and there is no noise
rate_by_tosses <- function(size, y, law, sign, rate) {
  kappa <- 0.02 * 2.2^(0:4)
  if (law[1] == 1 && law[2] > 0) kappa <- kappa * min(1, 0.95 * (1 - exp(-1 / law[2])) / max(kappa))
  log_f <- vapply(kappa, function(k) {
    lost <- log(1 - sign * k * rate)
    l <- log(1 + sign * k * (1 - rate)) - lost
    colSums(size * lost + l * y) - nrow(y) * charge_by_hand(law, abs(l))
  }, numeric(ncol(y)))
  log(rowMeans(exp(matrix(log_f, ncol(y)))))
}

#' Two batches of correlated noise (a moving average with carry law[4]), for each column of `sum`, which has
#' the sums
#' without noise, and of `z`, the noise in units of its sd
#' @param share Of the capital, valued at the first release and at the second.
#' @returns list(given: the batches as they are published; capital: E of the shares and the rest under the
#' bound; truth: the
#'   same with the noise itself in place of the bound; inside: is the bound kept?)
correlated_by_hand <- function(size, sum, z, law, sign, theta, rival, risk, share) {
  r <- law[4]
  sd <- law[2] / (sqrt(1 - r^2) * (1 - 2^-20))
  mild <- c(law[1], law[2] * sqrt((1 - r) / (1 + r)), 0, 0)
  given <- rbind(sum[1, ] + sd * z[1, ], sum[2, ] + sd * (z[2, ] - r * z[1, ]))
  # The second batch's tilts are those of the first; the third's were fixed before the second was released.
  l <- tilts_by_hand(size, given[1, ], mild, rival)
  d <- list((1 - r) * l$one, l$one - r * l$two)
  bound <- stats::qnorm(risk / c(2, 6), lower.tail = FALSE)
  psi <- log(1 - theta + theta * exp(sign * l$one))
  gain <- list(sign * l$one * given[1, ] - size[1] * psi)
  gain[[2]] <- gain[[1]] + sign * l$one * given[2, ] - size[2] * psi
  paid <- list(d[[1]]^2 * sd^2 / 2)
  paid[[2]] <- paid[[1]] + d[[2]]^2 * sd^2 / 2
  last <- l$one^2 * sd^2 / 2
  e <- list(gain[[1]] - last, gain[[2]] - paid[[1]] - last)
  rest <- 1 - share[[1]] - share[[2]]
  whole <- function(noise) {
    log(share[[1]] * mix_by_hand(e[[1]]) + share[[2]] * mix_by_hand(e[[2]]) +
          rest * mix_by_hand(gain[[2]] - paid[[2]] - r * l$two * sd * noise))
  }
  list(given = given, capital = whole(bound[2]), truth = whole(sign * z[2, ]),
       inside = sign * z[2, ] <= bound[2])
}

#' ln F of blocks of two arms, a row for each kappa and a column for each record
#' @param p,tossed,sum As bets_of() takes them.
tosses_by_hand <- function(p, tossed, sum, law, kappa, strata = 1) {
  p <- matrix(p, nrow(tossed) / 2)
  t(vapply(kappa, function(k) {
    total <- 0
    for (j in seq_len(nrow(p))) {
      pa <- p[j, ]
      q <- 1 - pa
      seen <- j - 1
      x <- lapply(1:2, function(arm) {
        rows <- 2 * (seq_len(seen) - 1) + arm
        s <- colSums(sum[rows, , drop = FALSE])
        n <- colSums(tossed[rows, , drop = FALSE])
        # of one of several strata: 12 (0.2 n + noise) / n people
        noise <- if (law[1] == 1) 2 * law[2]^2 else law[2]^2
        own <- if (strata > 1) 2.4 + 12 * seen * noise / pmax(n, 1) else 10
        pmin(pmax((s + own / 2) / (n + own), 0), 1)
      })
      c <- q * x[[1]] + pa * x[[2]]
      c <- pmin(pmax(pmin(pmax(c, 1 - 0.95 * q / k), 0.95 * pa / k), 0), 1)
      a0 <- 1 - k * c / pa
      b0 <- 1 + k * c / q
      l <- log((1 + k * (1 - c) / pa) / a0)
      m <- log(b0 / (1 - k * (1 - c) / q))
      noise <- charge_by_hand(law, l) + charge_by_hand(law, m)
      a <- 2 * j - 1
      total <- total + tossed[a, ] * log(a0) + tossed[a + 1, ] * log(b0) + l * sum[a, ] - m * sum[a + 1, ] - noise
    }
    total
  }, numeric(ncol(sum))))
}

# After which blocks of people in strata is there a look? Once each stratum was heard since the last one, or
# 98% of the people so far are in what was released
has_look <- function(stratum, n, t, strata) {
  last <- 0
  out <- logical(length(n))
  for (i in seq_along(n)) {
    out[i] <- all(seq_len(strata) %in% stratum[(last + 1):i]) || sum(n[1:i]) >= 0.98 * t[i]
    if (out[i]) last <- i
  }
  out
}

# The variance of a reward, from n of them with the noisy sums y and q, j releases with noise of this sd in
# each, and that of the squares smaller by w: two standard deviations of the noise, and what sampling may hide
safe_variance <- function(n, y, q, j, sd, w) {
  x <- y / n - 0.5
  noise <- sqrt(j) * sd / n
  seen <- pmax(q / n - x^2, 0)
  far <- pmax(pmin(abs(x), 0.5) - 2 * (noise + 0.5 / sqrt(n)), 0)
  pmin(seen + 2 * noise * sqrt(1 / w^2 + 4 * x^2) + 0.35 * sqrt(seen / n) + 0.7 / n + 1e-4, 0.25 - far^2)
}

fan_by_hand <- function(l, b) (-log(1 - l * b) - l * b) / b^2

#' The tilts with squares of a batch: gaps in columns, records in rows
square_tilts_by_hand <- function(law, weight, gap, v, centre, size, sign) {
  b <- if (sign > 0) centre else 1 - centre
  a <- law[2]^2 * (if (law[1] == 1) 2 else 1) / size
  sum <- v + a + gap * b
  l <- pmin(2 * gap / (sum + sqrt(pmax(sum^2 - 4 * a * b * gap, 0))), 20, 0.95 / b)
  repeat {
    psi <- ifelse(l * b < 1e-4, l^2 / 2 + l^3 * b / 3, fan_by_hand(l, b))
    t <- l - sign * psi * (1 - 2 * centre)
    bad <- t < 0 | (law[1] == 1 & (abs(t) * law[2] >= 0.95 | psi * law[2] >= 0.95 * weight))
    if (!any(bad)) return(l)
    l[bad] <- 0.9 * l[bad]
  }
}

#' ln E^sign(theta) of the bets with squares on two batches, for each column of `sum` and `squares`
#' @param law law[4], a correlation, is for a moving average whose shares are never valued, with the bound
#' `bound` of the
#'   last noise, or `z` itself.
squares_of_means_by_hand <- function(size, sum, squares, law, weight, sign, theta, rival, bound = 0) {
  noise <- law[2]^2 * if (law[1] == 1) 2 else 1
  r <- law[4]
  sd <- law[2] / (sqrt(1 - r^2) * if (r > 0) 1 - 2^-20 else 1)
  mild <- if (r > 0) replace(law, c(2, 4), c(law[2] * sqrt((1 - r) / (1 + r)), 0)) else law
  n <- ncol(sum)
  fixed <- matrix(c(0, 0.005 * 1.6^(0:9)), n, 11, byrow = TRUE)
  gaps <- function(gap) cbind(fixed, outer(gap, c(0.6, 1, 1.6)))
  tilts <- function(v, gap, centre, size) {
    lapply(c(1, -1), function(s) matrix(square_tilts_by_hand(mild, weight, gaps(gap), matrix(v, n, 14),
                                                             matrix(centre, n, 14), size, s), n))
  }
  mean <- sum[1, ] / size[1]
  v <- safe_variance(size[1], sum[1, ], squares[1, ], 1, sqrt(noise), weight)
  variance <- (0.25 + (if (r > 0) mild[2]^2 else noise) / size[1]) / size[1]
  one <- tilts(0.25, rep(0.05, n), 0.5, size[1])
  gap <- abs(mean - rival[1]) * variance / (variance + rival[2])
  centre <- pmin(pmax(mean, 0.01), 0.99)
  two <- tilts(v, gap, centre, size[2])
  far <- mapply(function(x, y) apply(ifelse(x == y, 1, pmax(x / y, y / x)), 1, max), one, two)
  near <- apply(matrix(far, n), 1, max) <= 1.06 & abs(centre - 0.5) <= 0.15 * sqrt(v)
  for (s in 1:2) two[[s]][near, ] <- one[[s]][near, ]
  centre[near] <- 0.5
  bet <- function(l, c) {
    b <- if (sign > 0) c else 1 - c
    psi <- ifelse(l * b < 1e-4, l^2 / 2 + l^3 * b / 3, fan_by_hand(l, b))
    list(l = l, c = c, psi = psi, t = sign * l - psi * (1 - 2 * c))
  }
  gain <- function(x, size, sum, squares) {
    more <- charge_by_hand(replace(mild, 2, law[2] / weight), x$psi)
    sign * x$l * (sum - x$c * size) - x$psi * (squares + (1 - 2 * x$c) * sum + size * (x$c^2 - 1 / 4)) -
      size * log(1 + sign * x$l * (theta - x$c)) - more
  }
  x <- list(bet(one[[1 + (sign < 0)]], 0.5), bet(two[[1 + (sign < 0)]], centre))
  if (r == 0) {
    charge <- function(x) charge_by_hand(law, abs(x$t))
    return(log(mix_by_hand(gain(x[[1]], size[1], sum[1, ], squares[1, ]) +
                           gain(x[[2]], size[2], sum[2, ], squares[2, ]) -
                             charge(x[[1]]) - charge(x[[2]]))))
  }
  # The second batch's tilts are those of the first; the third's are x[[2]].
  d <- list((1 - r) * x[[1]]$t, x[[1]]$t - r * x[[2]]$t)
  log(mix_by_hand(gain(x[[1]], size[1], sum[1, ], squares[1, ]) +
                  gain(x[[1]], size[2], sum[2, ], squares[2, ]) -
                    (d[[1]]^2 + d[[2]]^2) * sd^2 / 2 - r * sign * x[[2]]$t * sd * bound))
}

#' All pairs of batches of so many rewards with these values and chances, and the noise of all four numbers;
#' of a moving
#' average with carry law[4] the noise of sums is as it is published, and `z` the last one in units of its sd
enumerate_pairs <- function(law, weight, nodes, values, chance, people = 3) {
  who <- as.matrix(expand.grid(rep(list(seq_along(values)), people)))
  x <- data.frame(y = round(rowSums(matrix(values[who], nrow(who))), 9),
                  q = round(rowSums(matrix((values[who] - 0.5)^2, nrow(who))), 9),
                  w = apply(who, 1, function(i) prod(chance[i])))
  x <- stats::aggregate(w ~ y + q, x, sum)
  noise <- noise_nodes(law, nodes)
  finer <- noise_nodes(replace(law, 2, law[2] / weight), nodes)
  i <- seq_along(noise$x)
  at <- expand.grid(one = seq_len(nrow(x)), two = seq_len(nrow(x)), y1 = i, y2 = i, q1 = i, q2 = i)
  z <- rbind(noise$x[at$y1], noise$x[at$y2])
  given <- if (law[4] == 0) z else rbind(z[1, ], z[2, ] - law[4] * z[1,
                                                                     ]) / (sqrt(1 - law[4]^2) * (1 - 2^-20))
  list(sum = rbind(x$y[at$one], x$y[at$two]) + given,
       squares = rbind(x$q[at$one] + finer$x[at$q1], x$q[at$two] + finer$x[at$q2]),
       z = if (law[2] > 0) z / law[2] else z,
       weight = x$w[at$one] * x$w[at$two] * noise$w[at$y1] * noise$w[at$y2] * finer$w[at$q1] * finer$w[at$q2])
}

#' ln F of blocks of two arms with squares, a row for each kappa and a column for each record, as bets_of()
#' takes them
squares_by_hand <- function(p, tossed, sum, squares, law, weight, kappa) {
  law_of_squares <- replace(law, 2, law[2] / weight)
  t(vapply(kappa, function(k) {
    total <- 0
    for (j in seq_len(nrow(p))) {
      share <- list(p[j, ], 1 - p[j, ])
      x <- lapply(1:2, function(arm) {
        rows <- 2 * (seq_len(j - 1) - 1) + arm
        pmin(pmax((colSums(sum[rows, , drop = FALSE]) + 5) / (colSums(tossed[rows, , drop = FALSE]) + 10), 0),
             1)
      })
      c <- share[[2]] * x[[1]] + share[[1]] * x[[2]]
      c <- pmin(pmax(pmin(pmax(c, 1 - 0.95 * share[[2]] / k), 0.95 * share[[1]] / k), 0), 1)
      b <- pmax(c / share[[1]], (1 - c) / share[[2]])
      psi <- fan_by_hand(k, b)
      for (arm in 1:2) {
        n <- tossed[2 * (j - 1) + arm, ]
        y <- sum[2 * (j - 1) + arm, ]
        q <- squares[2 * (j - 1) + arm, ]
        sign <- 3 - 2 * arm
        at <- share[[arm]]
        noise <- charge_by_hand(law, abs(sign * k / at - psi * (1 - 2 * c) / at^2))
        more <- charge_by_hand(law_of_squares, psi / at^2)
        total <- total + sign * k / at * (y - n * c) - psi / at^2 * (q + (1 - 2 * c) * y +
                                                                     n * (c^2 - 1 / 4)) - noise - more
      }
    }
    total
  }, numeric(ncol(sum))))
}

#' Blocks of so many people whose rewards are of these values, with the noise of all four numbers: columns na,
#' nb, ya, yb,
#' qa, qb and w
#' @param chance Of the values under arm a (first row) and arm b.
enumerate_squares <- function(law, weight, nodes, p, values, chance, people) {
  noise <- noise_nodes(law, nodes)
  finer <- noise_nodes(replace(law, 2, law[2] / weight), nodes)
  one <- data.frame(arm = rep(1:2, each = length(values)), x = values,
                    w = c(p * chance[1, ], (1 - p) * chance[2, ]))
  who <- as.matrix(expand.grid(rep(list(seq_len(nrow(one))), people)))
  of <- function(f, arm) rowSums(matrix(ifelse(one$arm[who] == arm, f(one$x[who]), 0), nrow(who)))
  x <- data.frame(na = of(function(x) 1, 1), nb = of(function(x) 1, 2), ya = of(identity, 1),
                  yb = of(identity, 2),
                  qa = of(function(x) (x - 0.5)^2, 1), qb = of(function(x) (x - 0.5)^2, 2),
                  w = apply(matrix(one$w[who], nrow(who)), 1, prod))
  x[-7] <- round(x[-7], 9)
  x <- stats::aggregate(w ~ na + nb + ya + yb + qa + qb, x, sum)
  i <- seq_along(noise$x)
  grid <- expand.grid(at = seq_len(nrow(x)), ya = i, yb = i, qa = i, qb = i)
  data.frame(na = x$na[grid$at], nb = x$nb[grid$at], ya = x$ya[grid$at] + noise$x[grid$ya],
             yb = x$yb[grid$at] + noise$x[grid$yb], qa = x$qa[grid$at] + finer$x[grid$qa],
             qb = x$qb[grid$at] + finer$x[grid$qb],
             w = x$w[grid$at] * noise$w[grid$ya] * noise$w[grid$yb] * finer$w[grid$qa] * finer$w[grid$qb])
}

#' All pairs of batches of three rewards whose means depend on what came before, with the noise of both:
#' list(sum, noise (2 x records), weight)
enumerate_batches <- function(law, nodes, mean) {
  rewards <- as.matrix(expand.grid(rep(list(0:1), 3)))
  noise <- noise_nodes(law, nodes)
  batch <- function(before) { # of 2^3 strings, by their sum
    chance <- apply(rewards, 1, function(x) {
      m <- vapply(1:3, function(i) mean(c(before, x[seq_len(i - 1)])), 0)
      prod(ifelse(x == 1, m, 1 - m))
    })
    chance
  }
  first <- batch(numeric())
  parts <- lapply(seq_along(first), function(i) {
    second <- batch(rewards[i, ])
    data.frame(s1 = sum(rewards[i, ]), s2 = rowSums(rewards), w = first[i] * second)
  })
  sums <- stats::aggregate(w ~ s1 + s2, do.call(rbind, parts), sum)
  grid <- expand.grid(at = seq_len(nrow(sums)), i = seq_along(noise$x), j = seq_along(noise$x))
  list(sum = rbind(sums$s1[grid$at] + noise$x[grid$i], sums$s2[grid$at] + noise$x[grid$j]),
       noise = rbind(noise$x[grid$i], noise$x[grid$j]),
         weight = sums$w[grid$at] * noise$w[grid$i] * noise$w[grid$j])
}

#' All pairs of blocks of three (or so many) people, each of them tossed and with a reward of 0 or 1, with the
#' noise of
#' all four sums. The chance of the second block depends on what the first released.
#' @param mean Of both arms in both blocks: a 2 x 2 matrix, a row for each arm.
enumerate_blocks <- function(law, nodes, p, mean, people = 3) {
  noise <- noise_nodes(law, nodes)
  people <- expand.grid(rep(list(1:4), people))
  block <- function(p, m) {
    chance <- c(p * (1 - m[1]), p * m[1], (1 - p) * (1 - m[2]), (1 - p) * m[2])
    x <- data.frame(na = rowSums(people <= 2), nb = rowSums(people > 2), ya = rowSums(people == 2),
                    yb = rowSums(people == 4), w = apply(people, 1, function(i) prod(chance[i])))
    x <- stats::aggregate(w ~ na + nb + ya + yb, x, sum)
    grid <- expand.grid(at = seq_len(nrow(x)), i = seq_along(noise$x), j = seq_along(noise$x))
    data.frame(na = x$na[grid$at], nb = x$nb[grid$at], ya = x$ya[grid$at] + noise$x[grid$i],
               yb = x$yb[grid$at] + noise$x[grid$j], w = x$w[grid$at] * noise$w[grid$i] * noise$w[grid$j])
  }
  first <- block(p[1], mean[, 1])
  p2 <- ifelse(first$ya > first$yb, p[2], p[3])
  parts <- lapply(2:3, function(i) {
    one <- first[p2 == p[i], ]
    two <- block(p[i], mean[, 2])
    at <- expand.grid(one = seq_len(nrow(one)), two = seq_len(nrow(two)))
    x <- lapply(one, `[`, at$one)
    y <- lapply(two, `[`, at$two)
    list(tossed = rbind(x$na, x$nb, y$na, y$nb), sum = rbind(x$ya, x$yb, y$ya, y$yb),
         weight = x$w * y$w, p = rbind(rep(p[1], nrow(at)), rep(p[i], nrow(at))))
  })
  join <- function(name, by) do.call(by, lapply(parts, `[[`, name))
  list(tossed = join("tossed", cbind), sum = join("sum", cbind), p = join("p", cbind),
       weight = join("weight", c))
}
