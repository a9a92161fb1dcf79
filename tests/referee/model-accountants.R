# The accountants by enumeration. A mechanism on neighbours P and Q is a table: the mass Q of each likelihood ratio t = P/Q,
# and the mass `inf` of P where Q is 0. h(t) = sum (P - t Q)+ is its hockey stick, and delta(epsilon) = h(e^epsilon).

table_of <- function(p, q) {
  t <- p[q > 0] / q[q > 0]
  list(t = t, q = q[q > 0], inf = sum(p[q == 0]))
}

stick <- function(x, t) vapply(t, function(t) x$inf + sum(pmax(x$t - t, 0) * x$q), 0)

# A convex, piecewise linear hockey stick given on its kinks t >= 1 -> the symmetric table that has it
symmetric_table <- function(t, h) {
  t <- sort(c(1, t[t > 1 + 1e-9]))
  t <- t[c(TRUE, diff(log(t)) > 1e-9)]
  value <- h(t)
  far <- h(max(t) * 2) # beyond the last kink: constant
  if (far < 1e-13) far <- 0
  slope <- c(diff(value) / diff(t), 0)
  up <- diff(slope)                               # mass of Q at the kinks above 1
  q_above <- up
  t_above <- t[-1]
  # The other order: a ratio t of mass q (P: t q) becomes a ratio 1/t of mass t q.
  q <- c(q_above, t_above * q_above)
  t <- c(t_above, 1 / t_above)
  t <- c(t, 1, 0)
  q <- c(q, 1 - sum(q) - far, far)
  real <- q * pmax(t, 1) > 1e-13 # under the one or the other
  list(t = t[real], q = q[real], inf = far)
}

symmetrised <- function(tables) {
  kinks <- unlist(lapply(tables, function(x) c(x$t, 1 / x$t)))
  lines <- unlist(lapply(tables, function(x) list(x, flipped(x))), FALSE)
  h <- function(t) Reduce(pmax, lapply(lines, stick, t))
  # Where two sticks cross there is a kink, too: between neighbouring kinks all sticks are straight.
  kinks <- sort(unique(c(1, kinks[is.finite(kinks) & kinks > 1])))
  kinks <- c(kinks, max(kinks) * c(2, 4))
  crossing <- unlist(lapply(seq_len(length(kinks) - 1), function(i) {
    a <- vapply(lines, stick, 0, kinks[i])
    b <- vapply(lines, stick, 0, kinks[i + 1])
    pairs <- expand.grid(i = seq_along(a), j = seq_along(a))
    at <- (a[pairs$i] - a[pairs$j]) / ((a[pairs$i] - a[pairs$j]) - (b[pairs$i] - b[pairs$j]))
    kinks[i] + at[is.finite(at) & at > 0 & at < 1] * (kinks[i + 1] - kinks[i])
  }))
  symmetric_table(c(kinks, crossing), h)
}

flipped <- function(x) {
  ok <- x$t > 0
  list(t = c(1 / x$t[ok], if (x$inf > 0) 0), q = c(x$t[ok] * x$q[ok], if (x$inf > 0) x$inf), inf = sum(x$q[!ok]))
}

# Two tables side by side
product_table <- function(x, y) {
  joint <- list(t = as.vector(outer(x$t, y$t)), q = as.vector(outer(x$q, y$q)))
  list(t = joint$t, q = joint$q, inf = 1 - (1 - x$inf) * (1 - y$inf))
}

# The hockey stick of a table beside a Gaussian mechanism
gaussian_stick <- function(mu, t) { # for any t > 0
  e <- log(t)
  stats::pnorm(mu / 2 - e / mu) - t * stats::pnorm(-mu / 2 - e / mu)
}
mixed_stick <- function(x, mu, t) {
  if (mu == 0) return(stick(x, t))
  vapply(t, function(t) {
    some <- x$t > 0
    x$inf + sum(x$q[some] * x$t[some] * gaussian_stick(mu, t / x$t[some]))
  }, 0)
}

least_epsilon <- function(h, delta) { # delta > 0
  if (h(1) <= delta) return(0)
  top <- 1
  while (h(exp(top)) > delta) {
    top <- 2 * top
    if (top > 600) return(Inf)
  }
  stats::uniroot(function(e) h(exp(e)) - delta, c(0, top), tol = 1e-12)$root
}

response <- function(epsilon, delta = 0) {
  table_of(c(delta, (1 - delta) * c(1, exp(-epsilon)) / (1 + exp(-epsilon)), 0),
           c(0, (1 - delta) * c(exp(-epsilon), 1) / (1 + exp(-epsilon)), delta))
}

# One part: the guarantee, as the package takes it, and its table (or its mu)
random_part <- function() {
  switch(one_of("pure", "policy", "approx", "pair", "pairs", "losses", "gdp"),
    pure = { e <- between(0.01, 4); list(code = bquote(privacy_pure(.(e))), table = response(e)) },
    policy = { e <- between(0.01, 4); list(code = bquote(policy_dp_imed(.(e))), table = response(e)) },
    approx = {
      e <- between(0.01, 3); d <- one_of(0, between(1e-8, 0.1))
      list(code = bquote(privacy_approx(.(e), .(d))), table = response(e, d))
    },
    pair = { x <- random_pair(); list(code = bquote(privacy_loss(.(x))), table = symmetrised(list(table_of(x[[1]], x[[2]])))) },
    pairs = {
      x <- lapply(1:2, function(i) random_pair())
      list(code = bquote(privacy_loss(.(x))), table = symmetrised(lapply(x, function(x) table_of(x[[1]], x[[2]]))))
    },
    losses = { # a discrete Laplace mechanism on -m .. m, cut: what is missing counts as an infinite loss
      s <- between(0.1, 1.5)
      m <- ceiling(26 / s)
      p <- exp(-s * abs((-m):m)) * (1 - exp(-s)) / (1 + exp(-s))
      loss <- s * (abs((-m):m - 1) - abs((-m):m))
      x <- data.frame(loss = c(-s, s), probability = c(sum(p[loss < 0]), sum(p[loss > 0])))
      x$probability <- x$probability / sum(x$probability)
      list(code = bquote(privacy_loss(.(x))), table = symmetrised(list(table_of(x$probability, x$probability * exp(-x$loss)))))
    },
    gdp = { mu <- between(0.01, 3); list(code = bquote(privacy_gdp(.(mu))), mu = mu) })
}

random_pair <- function() {
  m <- whole(2, 5)
  pair <- lapply(1:2, function(i) { x <- stats::rexp(m)^whole(1, 3); x / sum(x) })
  if (flip(0.2)) pair[[2]] <- c(0, pair[[2]][-1] / sum(pair[[2]][-1]))
  if (flip(0.3)) pair[[2]] <- pair[[1]][sample(m)] # as for a shuffled answer
  pair
}

no_table <- list(t = 1, q = 1, inf = 0)

referee_model("accountants", function() {
  parts <- lapply(seq_len(one_of(1, 1, 2, whole(1, 4))), function(i) random_part())
  list(parts = parts, delta = sort(c(between(1e-9, 1e-2), between(1e-3, 0.3), if (flip(0.3)) 0)))
}, function(s) {
  code <- lapply(s$parts, `[[`, "code")
  guarantees <- lapply(code, eval, list(), globalenv())
  whole <- if (length(guarantees) == 1) guarantees[[1]] else do.call(privacy_compose, guarantees)
  table <- Reduce(product_table, lapply(s$parts, function(x) if (is.null(x$table)) no_table else x$table), no_table)
  mu <- sqrt(sum(unlist(lapply(s$parts, `[[`, "mu"))^2))
  h <- function(t) mixed_stick(table, mu, t)
  truth <- vapply(s$delta, function(d) {
    if (d > 0) return(least_epsilon(h, d))
    if (mu > 0 || table$inf > 0) Inf else log(max(table$t))
  }, 0)
  got <- dpts_privacy(whole, horizon = 100, delta = s$delta)
  named <- tryCatch(dpts_privacy(whole, horizon = 100, delta = s$delta, accountant = "pld"), error = function(e) NULL)
  out <- character()
  rows <- rbind(as.data.frame(got), if (!is.null(named)) as.data.frame(named))
  for (i in seq_len(nrow(rows))) {
    want <- truth[match(rows$delta[i], s$delta)]
    what <- sprintf("%s at delta %.3g", rows$accountant[i], rows$delta[i])
    if (is.na(rows$epsilon[i]) || rows$epsilon[i] < want * (1 - 1e-7) - 1e-9) {
      out <- c(out, sprintf("%s: epsilon %.9g is below the truth %.9g", what, rows$epsilon[i], want))
    }
    # The exact accountants are exact.
    exact <- rows$accountant[i] == "pld" || rows$accountant[i] == "gdp" && is.null(unlist(lapply(s$parts, `[[`, "table")))
    if (exact && is.finite(want) && rows$epsilon[i] > want * (1 + 1e-5) + 1e-6) {
      out <- c(out, sprintf("%s: epsilon %.9g is above the truth %.9g", what, rows$epsilon[i], want))
    }
  }
  out
})

# Groups: k steps along the trade-off function, 1 - f_k = (1 - f) o ... o (1 - f). With g(x) = 1 - f(x), the largest power of
# a test of level x, delta is the largest of g(...g(x)) - e^epsilon x.
power_of <- function(table, x) vapply(x, function(x) {
  t <- sort(unique(c(0, table$t)))
  min(1, min(stick(table, t) + t * x))
}, 0)

referee_model("groups", function() {
  list(epsilon = between(0.02, 2), delta = one_of(0, between(1e-6, 0.05)), mu = between(0.02, 2), k = whole(1, 5),
       at = between(1e-6, 0.3))
}, function(s) {
  table <- response(s$epsilon, s$delta)
  # Kinks of g o ... o g: levels that lead to a kink of g after some steps.
  kinks <- c(0, 1)
  for (i in seq_len(s$k)) {
    inverse <- function(y) vapply(y, function(y) if (y <= power_of(table, 0)) 0 else if (y > 1 - 1e-14) 1 else
      stats::uniroot(function(x) power_of(table, x) - y, c(0, 1), tol = 1e-15)$root, 0)
    own <- unique(c(0, 1, corner_levels(table)))
    kinks <- unique(c(own, inverse(pmin(kinks, 1))))
  }
  iterate <- function(x) { for (i in seq_len(s$k)) x <- power_of(table, x); x }
  h <- function(t) vapply(t, function(t) max(0, iterate(kinks) - t * kinks), 0)
  approx <- summary(dpts_privacy(privacy_group(privacy_approx(s$epsilon, s$delta), s$k), horizon = 10, delta = s$at))$epsilon
  pure <- dpts_privacy(privacy_group(policy_adap_ucb(s$epsilon), s$k), horizon = 10, delta = 0, accountant = "pure")$epsilon
  gauss <- dpts_privacy(privacy_group(privacy_gdp(s$mu), s$k), horizon = 10, delta = s$at, accountant = "gdp")$epsilon
  want <- least_epsilon(h, s$at)
  # Pure epsilon at delta > 0: the curve of k epsilon
  c(differs("k epsilon", pure, s$k * s$epsilon),
    differs("k mu", gauss, least_epsilon(function(t) gaussian_stick(s$k * s$mu, t), s$at), 1e-7),
    if (approx < want - 1e-6) sprintf("group of %d: epsilon %.9g is below the truth %.9g", s$k, approx, want),
    if (s$delta > 0 && approx > want * (1 + 1e-4) + 1e-5) sprintf("group of %d: epsilon %.9g is above the truth %.9g", s$k, approx, want))
})

corner_levels <- function(table) { # levels at which the best test changes
  o <- order(-table$t)
  cumsum(table$q[o])
}

# Gaussian differential privacy: delta(epsilon) is the integral of e^s Phi(-s/mu - mu/2) from epsilon on, without cancellation.
referee_model("gaussian", function() {
  mu <- between(1e-4, 30)
  list(mu = mu, epsilon = one_of(0, mu * between(1e-3, 6), mu^2 / 2 + mu * stats::runif(1, 0, 8)))
}, function(s) {
  f <- function(u) exp(s$epsilon + u * s$mu + stats::pnorm(-(s$epsilon + u * s$mu) / s$mu - s$mu / 2, log.p = TRUE)) * s$mu
  parts <- c(0, 0.5, 1, 2, 4, 8, 16, 40)
  delta <- sum(vapply(seq_len(7), function(i) {
    stats::integrate(f, parts[i], parts[i + 1], rel.tol = 1e-11, abs.tol = 0, stop.on.error = FALSE)$value
  }, 0))
  if (!is.finite(delta) || delta < 1e-280) return(character())
  got <- gdp_delta(s$mu, s$epsilon)
  split <- stats::runif(3)
  if (delta > 0.5) return(differs("gdp_delta / integral", got / delta, 1, 1e-8))
  c(differs("gdp_delta / integral", got / delta, 1, 1e-8),
    if (s$epsilon > 0) differs("gdp_epsilon(gdp_delta)", gdp_epsilon(s$mu, got), s$epsilon, 1e-9),
    differs("gdp_mu(gdp_delta)", gdp_mu(s$epsilon, got), s$mu, 1e-9),
    differs("log", gdp_delta(s$mu, s$epsilon, log = TRUE), log(delta), 1e-8),
    differs("gdp_compose", gdp_compose(s$mu * sqrt(split / sum(split))), s$mu, 1e-12))
})

# Every transcript of Gaussian Thompson sampling on two arms, for two streams that differ in one round: what the arms leak
# is the exact audit's number, and no accountant promises less.
transcripts <- function(stream, prepulls, scale) {
  horizon <- nrow(stream)
  n <- c(0, 0)
  sum <- c(0, 0)
  for (t in seq_len(min(horizon, 2 * prepulls))) {
    arm <- if (t <= prepulls) 1 else 2
    n[arm] <- n[arm] + 1
    sum[arm] <- sum[arm] + stream[t, arm]
  }
  state <- list(n1 = n[1], s1 = sum[1], n2 = n[2], s2 = sum[2], log = 0)
  for (t in setdiff(seq_len(horizon), seq_len(2 * prepulls))) {
    z <- (state$s1 / (state$n1 + 1) - state$s2 / (state$n2 + 1)) / sqrt(scale / (state$n1 + 1) + scale / (state$n2 + 1))
    a <- stats::pnorm(z, log.p = TRUE)
    b <- stats::pnorm(-z, log.p = TRUE)
    state <- list(n1 = c(state$n1 + 1, state$n1), s1 = c(state$s1 + stream[t, 1], state$s1),
                  n2 = c(state$n2, state$n2 + 1), s2 = c(state$s2, state$s2 + stream[t, 2]),
                  log = c(state$log + a, state$log + b))
  }
  state$log
}

referee_model("transcripts", function() {
  prepulls <- one_of(0, 0, 1, whole(0, 5))
  horizon <- 2 * prepulls + whole(1, 10)
  rewards <- function() matrix(one_of(stats::runif(2 * horizon), stats::rbinom(2 * horizon, 1, stats::runif(1)),
                                      rep(stats::runif(2), each = horizon)), horizon)
  list(prepulls = prepulls, scale = one_of(1, between(0.05, 50)), horizon = horizon, x = rewards(),
       at = one_of(1, whole(1, horizon)), delta = one_of(1e-2, 1e-5, between(1e-8, 0.1)))
}, function(s) {
  x <- y <- s$x
  x[s$at, ] <- 0
  y[s$at, ] <- 1
  policy <- policy_ts_gaussian(s$prepulls, s$scale)
  p <- transcripts(x, s$prepulls, s$scale)
  q <- transcripts(y, s$prepulls, s$scale)
  h <- function(t) vapply(t, function(t) max(sum(pmax(exp(p) - t * exp(q), 0)), sum(pmax(exp(q) - t * exp(p), 0))), 0)
  truth <- least_epsilon(h, s$delta)
  audit <- dpts_audit(policy, s$horizon, streams = list(x, y), delta = s$delta, method = "exact")
  got <- dpts_privacy(policy, s$horizon, delta = s$delta)
  low <- got$epsilon < truth - 1e-9
  c(differs("exact audit", audit$lower, truth, 1e-6), differs("sum of chances", sum(exp(p)), 1),
    if (any(low)) sprintf("%s promises %.6g, and %.6g leaks", got$accountant[low], got$epsilon[low], truth))
})
