skip_on_cran() # takes seconds

# The same in plain R: eta cut to 3, its weight, and the two sums' terms of a context and a reward
logistic_item <- function(theta, z, reward) {
  eta <- max(-3, min(3, sum(theta * z)))
  list(w = stats::dlogis(eta), c = reward - stats::plogis(eta) + stats::dlogis(eta) * eta)
}

test_that("logistic UCB follows its translation into R, step by step, disjoint and shared", {
  withr::local_seed(1)
  k <- 4; d <- 3; n <- 150; alpha <- 0.7; ridge <- 0.02
  for (shared in c(FALSE, TRUE)) {
    contexts <- if (shared) array(runif(d * k * n, 0, 3), c(d, k, n)) else matrix(runif(d * n, 0, 3), d)
    at <- function(t, i) if (shared) contexts[, i, t] else contexts[, t]
    rewards <- rbinom(n, 1, 0.97) + 0
    policy <- policy_logistic_ucb(alpha = alpha, ridge = ridge, model = if (shared) "shared" else "disjoint")
    out <- trace_context(policy, rep(NA, n), rewards, contexts, k)
    a <- replicate(k, diag(ridge, d), simplify = FALSE)
    b <- replicate(k, numeric(d), simplify = FALSE)
    of <- function(i) if (shared) 1 else i
    short <- numeric(n)
    etas <- NULL
    for (t in seq_len(n)) {
      score <- vapply(seq_len(k), function(i) {
        z <- at(t, i)
        sum(solve(a[[of(i)]], b[[of(i)]]) * z) + alpha * sqrt(sum(z * solve(a[[of(i)]], z)))
      }, 0)
      short[t] <- max(score) - score[out$arm[t]]
      i <- of(out$arm[t])
      z <- at(t, out$arm[t])
      theta <- solve(a[[i]], b[[i]])
      etas <- c(etas, sum(theta * z))
      item <- logistic_item(theta, z, rewards[t])
      a[[i]] <- a[[i]] + item$w * outer(z, z)
      b[[i]] <- b[[i]] + item$c * z
    }
    expect_lt(max(short), 1e-9)
    for (i in seq_len(k)) {
      expect_equal(out$inverse[, , i], solve(a[[of(i)]]), tolerance = 1e-9)
      expect_equal(out$b[, i], b[[of(i)]], tolerance = 1e-9)
      expect_equal(out$theta[, i], solve(a[[of(i)]], b[[of(i)]]), tolerance = 1e-9)
    }
    expect_gt(length(unique(out$arm)), 1)
    expect_gt(max(etas), 3) # some are cut
  }
})

test_that("one step for each reward comes within a fifth of a standard error of maximum likelihood", {
  withr::local_seed(2)
  n <- 20000; d <- 3
  theta <- c(-2, 3, -1)
  z <- rbind(1, matrix(runif(2 * n), 2))
  rewards <- rbinom(n, 1, stats::plogis(drop(theta %*% z)))
  out <- trace_context(policy_logistic_ucb(ridge = 0.01), rep(1, n), rewards, z, 1)
  fit <- stats::glm(rewards ~ 0 + t(z), family = stats::binomial())
  se <- sqrt(diag(stats::vcov(fit)))
  expect_lt(max(abs(out$theta[, 1] - stats::coef(fit)) / se), 0.2)
  expect_equal(sqrt(diag(out$inverse[, , 1])), unname(se), tolerance = 0.01)
})

# Batch by batch, with the ledger's noise: the models of policy_logistic_ucb(mu =)
logistic_gaussian_reference <- function(out, policy, z, rewards, k, horizon, first) {
  p <- policy$params
  d <- nrow(z)
  n <- length(rewards)
  public <- p$public == 1
  models <- if (p$shared == 1) 1 else k
  mine <- lapply(seq_len(models), function(m) which(models == 1 | out$arm == m))
  ends <- function(rounds) {
    if (p$growth == 0) return(seq(p$batch, length.out = rounds %/% p$batch, by = p$batch))
    at <- end <- 0
    while ((end <- max(end + first, floor(p$growth * end))) <= rounds) at <- c(at, end)
    at[-1]
  }
  ended <- lapply(mine, function(rounds) if (public) rounds[ends(length(rounds))] else ends(n))
  leaves <- length(ends(horizon - 1)) + 1
  order <- do.call(rbind, lapply(seq_len(models), function(m) cbind(ended[[m]], rep(m, length(ended[[m]])))))
  order <- order[order(order[, 1], order[, 2]), 2]
  norm <- min(p$norm, sqrt(d), na.rm = TRUE)
  short <- norm / sqrt(colSums(z^2))
  short <- ifelse(short < 1, short, sqrt(short)) # the root of a row's weight
  pairs <- which(upper.tri(diag(d), TRUE), arr.ind = TRUE)
  sd <- if (public) rep(norm / p$mu, d) else
    c(0.414 * norm^2 / ifelse(pairs[, 1] == pairs[, 2], 1, sqrt(2)), rep(1.656 * norm, d)) / p$mu
  ref <- toeplitz_of("toeplitz", leaves)
  terms <- length(sd)
  model <- lapply(seq_len(models), function(m) {
    x <- list(theta = numeric(d), a = diag(p$ridge, d), inverse = diag(1 / p$ridge, d), b = numeric(d))
    for (j in seq_along(ended[[m]])) {
      rows <- (which(order == m)[j] - 1) * terms + seq_len(terms)
      here <- mine[[m]][mine[[m]] > c(0, ended[[m]])[j] & mine[[m]] <= ended[[m]][j]]
      # A row with a weight has the working weight and the response of the whole context.
      item <- lapply(here, function(t) logistic_item(x$theta, z[, t], rewards[t]))
      y <- sweep(z[, here, drop = FALSE], 2, short[here], `*`)
      w <- vapply(item, `[[`, 0, "w")
      a <- y %*% (w * t(y))
      b <- y %*% (short[here] * vapply(item, `[[`, 0, "c"))
      x$leaf <- cbind(x$leaf, c(if (!public) a[pairs], b))
      x$noise <- cbind(x$noise, out$noise[rows])
      x$exact <- cbind(x$exact, x$leaf %*% ref$right[j, seq_len(j)])
      x$seen <- cbind(x$seen, out$exact[rows])
      x$scale <- cbind(x$scale, out$scale[rows] / (sd * ref$factor))
      sums <- rowSums(x$leaf) + drop(x$noise %*% ref$left[j, seq_len(j)])
      x$b <- sums[terms - d + seq_len(d)]
      sd_now <- sd[1] * ref$factor * sqrt(sum(ref$left[j, seq_len(j)]^2))
      if (public) {
        x$a <- x$a + a
        x$inverse <- solve(x$a + diag(p$margin * sd_now, d))
      } else {
        noisy <- matrix(0, d, d)
        noisy[pairs] <- sums[seq_len(nrow(pairs))]
        noisy <- noisy + t(noisy) - diag(diag(noisy))
        bound <- sd_now * (sqrt(2 * d) + sqrt(2 * log(models * leaves / 0.01)))
        e <- eigen(noisy, symmetric = TRUE)
        x$inverse <- e$vectors %*% (t(e$vectors) / (p$ridge + sqrt(pmax(e$values, 0)^2 + (p$margin * bound)^2)))
      }
      x$theta <- drop(x$inverse %*% x$b)
    }
    x
  })
  list(model = model, total = terms * length(order))
}

test_that("with mu, the models are those of an R translation: weights, sums, noise, scales, margin", {
  withr::local_seed(3)
  d <- 3; n <- 47; k <- 2
  cases <- expand.grid(model = c("disjoint", "shared"), contexts = c("private", "public"), norm = c(NA, 1),
                       batch = c("growing", "5"), stringsAsFactors = FALSE)
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    policy <- policy_logistic_ucb(
      0.5, mu = 200, model = case$model, contexts = case$contexts, batch = if (case$batch == "5") 5,
      norm = if (!is.na(case$norm)) case$norm, ridge = 0.05, margin = 0.4
    )
    z <- matrix(runif(d * n), d)
    rewards <- rbinom(n, 1, 0.8)
    out <- trace_context(policy, sample(k, n, TRUE), rewards, z, k, horizon = 60, max_ledger = 5000)
    ref <- logistic_gaussian_reference(out, policy, z, rewards, k, 60,
                                     if (case$contexts == "public") 4 * d else ceiling(1.5 * sqrt(60)))
    expect_equal(out$total, ref$total)
    expect_equal(unique(out$kind[seq_len(out$total)]), 2)
    for (m in seq_along(ref$model)) {
      expect_equal(ref$model[[m]]$seen, ref$model[[m]]$exact, tolerance = 1e-9)
      expect_equal(range(ref$model[[m]]$scale), c(1, 1), tolerance = 1e-10)
      expect_equal(out$b[, m], ref$model[[m]]$b, tolerance = 1e-8)
      expect_equal(out$inverse[, , m], ref$model[[m]]$inverse, tolerance = 1e-8)
      expect_equal(out$theta[, m], ref$model[[m]]$theta, tolerance = 1e-8)
    }
  }
})

test_that("a late reward is weighed by the theta of the moment when it comes", {
  withr::local_seed(4)
  d <- 2; n <- 30
  z <- matrix(runif(d * n), d)
  rewards <- rbinom(n, 1, 0.7)
  play <- function(delays) {
    out <- run_script(policy_logistic_ucb(ridge = 0.1), 1, rep(1, n), rewards, contexts = z, delays = delays)
    .Call(C_read_linear, out$state, 1L, d)$theta[, 1]
  }
  # Three rounds late, the last three rewards never come; and the order is the same.
  at_once <- trace_context(policy_logistic_ucb(ridge = 0.1), rep(1, n - 3), rewards[1:(n - 3)], z[, 1:(n - 3)], 1)
  expect_equal(play(3), at_once$theta[, 1])
  expect_false(isTRUE(all.equal(play(0), play(3))))
})

test_that("no pair of rounds moves the sums further than the noise allows: the bound on the help page", {
  # For eta and eta' in [0, 3] in the place of their absolute values, at the worst m, on a grid. Neither
  # derivative is above 0.17: |w'| <= 1 / (6 sqrt(3)) and |h'| <= 3 / (6 sqrt(3)).
  step <- 0.004
  eta <- seq(0, 3, step)
  w <- stats::dlogis(eta)
  h <- stats::plogis(eta) - w * eta
  l <- 1 / 16
  ww <- outer(w, w)
  hh <- outer(h, h)
  # f and g, the lengths of the contexts, in which it is convex: 0 or 1
  moved <- function(f, g) {
    m <- if (f * g > 0) pmin(1, l * hh / (2 * ww)) else 1
    outer(f * w^2, g * w^2, `+`) - 2 * f * g * ww * m^2 + l * (outer(h^2, h^2, `+`) + 2 * hh * m)
  }
  slope <- 1 / (6 * sqrt(3)) * (2 * 0.25 + 2 * l * 3 + 2 * 0.25 + 2 * l * 3)
  most <- max(moved(1, 1), moved(1, 0), moved(0, 0))
  expect_lt(max(moved(1, 1)) + 2 * slope * step / 2, 0.414^2)
  expect_lt(most, 0.414^2)
  expect_gt(most, 0.995 * 0.414^2)

  # And in the open: any theta, contexts and rewards, one model or two.
  withr::local_seed(5)
  worst <- vapply(1:1000, function(i) {
    d <- sample(2:3, 1)
    theta <- matrix(stats::rnorm(2 * d, 0, sample(c(1, 5, 100), 1)), d)
    if (stats::runif(1) < 0.7) theta[, 2] <- theta[, 1]
    part <- lapply(1:2, function(j) {
      z <- if (stats::runif(1) < 0.5) stats::rbinom(d, 1, 0.5) else stats::runif(d)
      z <- z / max(1, sqrt(sum(z^2)))
      item <- logistic_item(theta[, j], z, sample(c(0, 1, stats::runif(1)), 1))
      list(a = item$w * outer(z, z) / sqrt(max(sum(z^2), 1e-300)), b = item$c * z / sqrt(max(sum(z^2), 1e-300)))
    })
    if (identical(theta[, 1], theta[, 2])) {
      sum((part[[1]]$a - part[[2]]$a)^2) + l * sum((part[[1]]$b - part[[2]]$b)^2)
    } else {
      sum(vapply(part, function(x) sum(x$a^2) + l * sum(x$b^2), 0))
    }
  }, 0)
  expect_lt(max(worst), 0.414^2)
  expect_gt(max(worst), 0.85 * 0.414^2) # at the worst pair it is met: below
})

test_that("the kernel spends what the bound says, at the worst pair of rounds", {
  # Releases that make theta huge; then contexts on both sides of it, with the reward against it.
  script <- list(k = 1, horizon = 2, arms = c(1L, 1L), rewards = matrix(c(0, 0)), seed = 1, own = FALSE,
                 contexts = cbind(c(0, 0), c(0.7142, 0.6999)), fresh = TRUE)
  other <- script
  other$contexts[, 2] <- c(0.6999, 0.7142)
  other$rewards[2] <- 1
  spent <- function(mu, ...) {
    policy <- policy_logistic_ucb(mu = mu, batch = 1, ...)
    out <- couple(coupling_player(policy), script, other, c(0, 0, 0, 1e6, -1e6, numeric(5)), 2)
    expect_true(out$arms && out$releases)
    out$cost$mu / mu
  }
  f <- c(1, 1 / 2)
  # The second round is the last: it is in one release, and a column's norm is for two.
  column <- toeplitz_of("toeplitz", 2)$factor
  for (model in c("disjoint", "shared")) {
    expect_equal(spent(0.7, norm = 1, model = model) * column, sqrt(0.16687) / 0.414, tolerance = 2e-3)
  }
})

test_that("arguments, guarantees and print", {
  bad <- function(...) expect_error(policy_logistic_ucb(...), class = "dpts_error_input")
  bad(alpha = -1)
  bad(-1)
  bad(mu = 0)
  bad(mu = 1, batch = "all")
  bad(mu = 1, norm = 0)
  bad(mu = 1, margin = -1)
  bad(ridge = 0)
  bad(model = "hybrid")
  expect_error(policy_logistic_ucb(1, 1, "shared"), class = "dpts_error_dots")
  text <- function(...) format(policy_logistic_ucb(mu = 0.5, ...)$guarantee)
  expect_equal(text(), "0.5-joint-GDP for rewards and contexts")
  expect_equal(text(model = "shared"), text())
  expect_equal(text(contexts = "public"), "0.5-GDP for rewards (contexts public)")
  expect_equal(policy_logistic_ucb()$guarantee$kind, "none")
  expect_equal(format(policy_logistic_ucb()), 'policy_logistic_ucb(alpha = 2, model = "disjoint", ridge = 0.3)')
  # The call that is printed makes the policy.
  expect_equal(policy_logistic_ucb(0.3), policy_logistic_ucb(mu = 0.3)) # privacy comes first
  for (policy in list(policy_logistic_ucb(), policy_logistic_ucb(0.3, 1, norm = 1, batch = 7))) {
    expect_equal(eval(str2lang(format(policy))), policy)
  }
  expect_error(dpts_simulate(arms_bernoulli(0.5), policy_logistic_ucb(), 10), class = "dpts_error_contexts")
})

test_that("where means are steep it beats the linear policy, with privacy and without", {
  withr::local_seed(8)
  points <- abs(matrix(stats::rnorm(2000 * 4), ncol = 4))
  arms <- arms_linear(matrix(stats::rnorm(16, 0, 4), 4), points / sqrt(rowSums(points^2)), link = "logit")
  sim <- dpts_simulate(arms, list(
    logistic = policy_logistic_ucb(), linear = policy_linucb(),
    logistic_mu = policy_logistic_ucb(mu = 1, norm = 1), linear_mu = policy_linucb(mu = 1, norm = 1)
  ), 20000, runs = 10, seed = 1, record = 1, progress = FALSE)
  last <- summary(sim)
  mean <- stats::setNames(last$mean, last$policy)
  se <- stats::setNames(last$se, last$policy)
  clear <- function(a, b) expect_gt((mean[[b]] - mean[[a]]) / sqrt(se[[a]]^2 + se[[b]]^2), 3)
  clear("logistic", "linear")
  clear("logistic_mu", "linear_mu")
})
