skip_on_cran() # takes seconds

test_that("LinUCB follows its translation into R, step by step, disjoint and shared", {
  set.seed(1)
  k <- 4; d <- 3; n <- 150
  for (shared in c(FALSE, TRUE)) {
    contexts <- if (shared) array(runif(d * k * n), c(d, k, n)) else matrix(runif(d * n), d)
    z <- function(t, i) if (shared) contexts[, i, t] else contexts[, t]
    rewards <- runif(n)
    policy <- policy_linucb(alpha = 0.7, ridge = 2, model = if (shared) "shared" else "disjoint")
    out <- trace_context(policy, rep(NA, n), rewards, contexts, k)
    ref <- linucb_reference(out$arm, rewards, z, k, 0.7, 2, shared)
    chosen <- ref$scores[cbind(seq_len(n), out$arm)]
    expect_equal(chosen, apply(ref$scores, 1, max), tolerance = 1e-12)
    for (i in seq_len(k)) {
      m <- if (shared) 1 else i
      expect_equal(out$inverse[, , i], solve(ref$a[[m]]), tolerance = 1e-10)
      expect_equal(out$b[, i], ref$b[[m]], tolerance = 1e-12)
      expect_equal(out$theta[, i], solve(ref$a[[m]], ref$b[[m]]), tolerance = 1e-10)
    }
    expect_gt(length(unique(out$arm)), 1)
  }
})

test_that("LinUCB breaks ties at random", {
  first <- vapply(1:300, function(seed) {
    trace_context(policy_linucb(), NA, 1, matrix(1, 1, 1), 3, seed = seed)$arm
  }, 0L)
  # Three equal cells of 300: chisq beyond 20 has a chance of 5e-5.
  expect_lt(sum((tabulate(first, 3) - 100)^2 / 100), 20)
})

test_that("Sherman and Morrison's updates stay accurate over many rounds", {
  set.seed(2)
  d <- 8; n <- 20000
  contexts <- matrix(runif(d * n), d)
  rewards <- rbinom(n, 1, 0.3)
  out <- trace_context(policy_linucb(), rep(1, n), rewards, contexts, 1)
  a <- diag(d) + tcrossprod(contexts)
  b <- drop(contexts %*% rewards)
  expect_equal(out$inverse[, , 1], solve(a), tolerance = 1e-9)
  expect_equal(out$theta[, 1], solve(a, b), tolerance = 1e-9)
})

test_that("linear Thompson sampling draws from the posterior that it names", {
  set.seed(3)
  d <- 3; n <- 12; v <- 0.6; runs <- 4000
  for (shared in c(FALSE, TRUE)) {
    contexts <- array(runif(d * 2 * n), c(d, 2, n))
    if (!shared) contexts[, 2, ] <- contexts[, 1, ]
    rewards <- rbinom(n, 1, 0.5)
    arms <- c(rep(1:2, length.out = n - 1), NA)
    policy <- policy_lin_ts(v = v, model = if (shared) "shared" else "disjoint")
    ref <- linucb_reference(c(arms[-n], 1), rewards, function(t, i) contexts[, i, t], 2, 0, 1, shared)
    # The state before the last round.
    past <- linucb_reference(arms[-n], rewards[-n], function(t, i) contexts[, i, t], 2, 0, 1, shared)
    if (shared) {
      x <- contexts[, 1, n] - contexts[, 2, n]
      mean <- sum(solve(past$a[[1]], past$b[[1]]) * x)
      sd <- v * sqrt(sum(x * solve(past$a[[1]], x)))
    } else {
      x <- contexts[, 1, n]
      mean <- sum((solve(past$a[[1]], past$b[[1]]) - solve(past$a[[2]], past$b[[2]])) * x)
      sd <- v * sqrt(sum(x * solve(past$a[[1]], x)) + sum(x * solve(past$a[[2]], x)))
    }
    p <- pnorm(mean / sd)
    trace <- traced_context(policy, arms, rewards, contexts, 2)
    chosen <- vapply(seq_len(runs), function(seed) trace(seed)$arm[n], 0L)
    z <- (mean(chosen == 1) - p) / sqrt(p * (1 - p) / runs)
    expect_lt(abs(z), 4)
    expect_true(p > 0.02 && p < 0.98)
  }
})

test_that("draws follow the inverse that was released, found by Cholesky's factor or, with eigenvalues at the ridge, by those", {
  withr::local_seed(8)
  d <- 4; runs <- 3000; v <- 0.7
  for (n in c(3, 10)) { # fewer contexts than numbers leave eigenvalues at the ridge
    contexts <- array(runif(d * 2 * (n + 1)), c(d, 2, n + 1))
    rewards <- rbinom(n + 1, 1, 0.5)
    arms <- c(rep(1:2, length.out = n), NA)
    policy <- policy_lin_ts(mu = 1, v = v, model = "shared", batch = n, margin = 0, ridge = 0.5)
    trace <- traced_context(policy, arms, rewards, contexts, 2, silent = TRUE)
    at <- trace(1)
    z <- vapply(seq_len(n), function(t) contexts[, arms[t], t], numeric(d))
    z <- sweep(z, 2, sqrt(sqrt(d) / sqrt(colSums(z^2))), `*`)
    expect_equal(at$inverse[, , 1], solve(diag(0.5, d) + z %*% t(z)), tolerance = 1e-10)
    x <- contexts[, 1, n + 1] - contexts[, 2, n + 1]
    p <- pnorm(sum(at$theta[, 1] * x) / (v * sqrt(sum(x * (at$inverse[, , 1] %*% x)))))
    chosen <- vapply(seq_len(runs), function(seed) trace(seed)$arm[n + 1], 0L)
    expect_lt(abs(mean(chosen == 1) - p), 4 * sqrt(p * (1 - p) / runs))
    expect_true(p > 0.02 && p < 0.98)
  }
})

test_that("without noise the released sums give the exact model, whatever the mechanism", {
  set.seed(4)
  d <- 4; n <- 37
  contexts <- matrix(runif(d * n), d)
  rewards <- runif(n)
  arms <- sample(2, n, TRUE)
  for (mechanism in c("tree", "gamma")) for (public in c("private", "public")) {
    for (policy in list(policy_linucb(epsilon = 1, contexts = public, mechanism = mechanism),
                        policy_lin_ts(epsilon = 1, contexts = public, mechanism = mechanism))) {
      out <- trace_context(policy, arms, rewards, contexts, 2, silent = TRUE)
      for (i in 1:2) {
        x <- contexts[, arms == i]
        a <- diag(d) + tcrossprod(x)
        expect_equal(out$inverse[, , i], solve(a), tolerance = 1e-10)
        expect_equal(out$b[, i], drop(x %*% rewards[arms == i]), tolerance = 1e-12)
        expect_equal(out$theta[, i], drop(solve(a, x %*% rewards[arms == i])), tolerance = 1e-10)
      }
    }
  }
})

test_that("six numbers make 27 sums, each with a tree of 0.1: a total of 2.7", {
  d <- 6; n <- 100
  contexts <- matrix(0.5, d, n)
  out <- trace_context(policy_linucb(epsilon = 2.7, mechanism = "tree"), rep(1, n), rep(1, n), contexts, 1,
                       max_ledger = 5000)
  expect_equal(diff(c(0, out$released)), rep(27, n)) # d (d + 1) / 2 + d: Mishra and Thakurta, 5.1
  # floor(log2(100)) + 1 = 7 levels; scale levels / epsilon_0
  expect_equal(unique(out$scale[seq_len(out$total)]), 7 / 0.1)
  expect_equal(unique(out$kind[seq_len(out$total)]), 1)
  public <- trace_context(policy_linucb(epsilon = 0.6, contexts = "public", mechanism = "tree"), rep(1, n), rep(1, n),
                          contexts, 1, max_ledger = 5000)
  expect_equal(diff(c(0, public$released)), rep(6, n))
  expect_equal(unique(public$scale[seq_len(public$total)]), 7 / 0.1)
  expect_equal(policy_linucb(epsilon = 2.7)$guarantee$epsilon, 2.7)
  expect_equal(policy_linucb()$guarantee$kind, "none")
})

test_that("one changed round moves every released sum by at most 1, in one node a level", {
  set.seed(5)
  d <- 3; n <- 15; p <- 9
  contexts <- matrix(runif(d * n), d)
  rewards <- runif(n)
  other <- contexts; other[, 6] <- 1 - round(contexts[, 6])
  changed <- replace(rewards, 6, 1 - round(rewards[6]))
  one <- trace_context(policy_linucb(epsilon = 1, mechanism = "tree"), rep(1, n), rewards, contexts, 1, max_ledger = 500)
  two <- trace_context(policy_linucb(epsilon = 1, mechanism = "tree"), rep(1, n), changed, other, 1, max_ledger = 500)
  moved <- matrix(abs(one$exact - two$exact)[seq_len(n * p)], p)
  expect_lte(max(moved), 1 + 1e-12)
  # 15 rounds: 4 levels, and a round is in at most 4 partial sums of each tree
  expect_lte(max(rowSums(moved > 0)), 4)
  expect_gt(sum(moved > 0), 0)
})

test_that("contexts and rewards beyond [0, 1] do not break the kernel's sensitivity", {
  out <- trace_context(policy_linucb(epsilon = 1, mechanism = "tree"), 1, 5, matrix(c(3, -2), 2), 1, max_ledger = 10)
  expect_equal(out$exact[1:5], c(1, 0, 0, 1, 0))
})

test_that("the noise in b has the variance that the tree says", {
  # 7 = 111 in binary: three nodes, each with Laplace noise of scale 3 levels / (1 / 5)
  runs <- 1500; n <- 7; d <- 2
  contexts <- matrix(0.5, d, n)
  trace <- traced_context(policy_lin_ts(epsilon = 1, mechanism = "tree"), rep(1, n), rep(1, n), contexts, 1)
  b <- vapply(seq_len(runs), function(seed) trace(seed)$b[, 1], numeric(d))
  scale <- 3 / (1 / 5)
  variance <- 3 * 2 * scale^2
  expect_lt(abs(mean(b) - n * 0.5) / sqrt(variance / (2 * runs)), 4)
  # A sum of three Laplace variables has excess kurtosis 3 / 3 = 1.
  expect_lt(abs(var(c(b)) / variance - 1) / sqrt((1 + 2) / (2 * runs)), 4)
})

test_that("noisy A is symmetric, and its eigenvalues below the ridge are raised to it", {
  set.seed(6)
  d <- 4; n <- 16; ridge <- 1.5
  contexts <- matrix(runif(d * n), d)
  raised <- 0
  for (policy in list(policy_linucb(epsilon = 200, ridge = ridge, mechanism = "tree"),
                      policy_linucb(epsilon = 20, ridge = ridge, mechanism = "gamma"))) {
    # After 16 rounds one node holds all: the last 14 releases.
    out <- trace_context(policy, rep(1, n), runif(n), contexts, 1, max_ledger = 14 * n)
    last <- 14 * (n - 1) + 1:14
    a <- matrix(0, d, d)
    a[upper.tri(a, TRUE)] <- (out$exact + out$noise)[last[1:10]]
    a <- a + t(a) - diag(diag(a)) + diag(ridge, d)
    e <- eigen(a, symmetric = TRUE)
    raised <- raised + sum(e$values < ridge)
    floored <- e$vectors %*% diag(1 / pmax(e$values, ridge)) %*% t(e$vectors)
    expect_equal(out$inverse[, , 1], floored, tolerance = 1e-9)
    expect_equal(out$theta[, 1], drop(floored %*% (out$exact + out$noise)[last[11:14]]),
                 tolerance = 1e-9)
  }
  expect_gt(raised, 0)
})

test_that("the Gamma mechanism's noise has the radius and the scale that it should", {
  d <- 3; p <- 9; n <- 2
  trace <- traced_context(policy_linucb(epsilon = 2, mechanism = "gamma"), c(1, 1), c(1, 1), matrix(1, d, n), 1,
                          max_ledger = 2 * p)
  norms <- vapply(1:1500, function(seed) {
    out <- trace(seed)
    # 2 levels, sensitivity sqrt(9)
    if (seed == 1) expect_equal(unique(out$scale), 2 * 3 / 2)
    if (seed == 1) expect_equal(unique(out$kind), 3)
    sqrt(sum(out$noise[1:p]^2))
  }, 0)
  # Gamma(p, scale): mean p scale, variance p scale^2
  expect_lt(abs(mean(norms) - p * 3) / (sqrt(p) * 3 / sqrt(1500)), 4)
  expect_lt(abs(var(norms) / (p * 9) - 1) / sqrt((2 + 6 / p) / 1500), 4)
})

test_that("constructors check their arguments", {
  expect_error(policy_linucb(alpha = -1), class = "dpts_error_input")
  expect_error(policy_linucb(epsilon = 0), class = "dpts_error_input")
  expect_error(policy_lin_ts(v = NA), class = "dpts_error_input")
  expect_error(policy_lin_ts(model = "hybrid"), class = "dpts_error_input")
  expect_error(policy_linucb(ridge = 0), class = "dpts_error_input")
  expect_error(policy_linucb(2, 1, "shared"), class = "dpts_error_dots")
  expect_error(policy_fixed(0), class = "dpts_error_input")
  text <- function(...) format(policy_lin_ts(epsilon = 2.7, mechanism = "tree", ...)$guarantee)
  expect_match(text(), "2.7-DP for rewards, and for contexts given the round's own arm")
  expect_match(text(model = "shared"), "2.7-joint-DP for rewards and contexts")
  expect_match(text(contexts = "public"), "2.7-DP for rewards \\(contexts public\\)")
})

# The privacy loss between two runs whose releases line up: |change| / scale, added up (for the
# Gamma mechanism by the norm of each node).
privacy_loss <- function(one, two, p, gamma) {
  change <- matrix((one$exact - two$exact)[seq_len(one$total)], p)
  norms <- if (gamma) sqrt(colSums(change^2)) else colSums(abs(change))
  sum(norms / one$scale[1])
}

test_that("the privacy loss of any replaced round stays below epsilon", {
  set.seed(7)
  d <- 3; n <- 40; k <- 3; epsilon <- 1.3
  loss <- function(policy, other_arm, p) {
    losses <- replicate(40, {
      contexts <- matrix(sample(0:1, d * n, TRUE) + 0, d)
      rewards <- sample(0:1, n, TRUE)
      arms <- sample(k, n, TRUE)
      one <- trace_context(policy, arms, rewards, contexts, k, max_ledger = 4000)
      at <- sample(n, 1)
      contexts[, at] <- sample(0:1, d, TRUE)
      rewards[at] <- 1 - rewards[at]
      if (other_arm) arms[at] <- arms[at] %% k + 1
      two <- trace_context(policy, arms, rewards, contexts, k, max_ledger = 4000)
      expect_equal(one$total, two$total)
      privacy_loss(one, two, p, policy$params$mechanism == "gamma")
    })
    max(losses)
  }
  for (mechanism in c("tree", "gamma")) {
    # As in the paper, given the round's own arm
    expect_lte(loss(policy_linucb(epsilon = epsilon, mechanism = mechanism), FALSE, 9), epsilon)
    # In batches, whatever the round's own arm: joint DP
    batches <- policy_linucb(epsilon = epsilon, mechanism = mechanism, batch = 4)
    expect_lte(loss(batches, TRUE, 9), epsilon)
    expect_gt(loss(batches, TRUE, 9), epsilon / 20)
  }
  # Without batches another arm breaks the bound, as the help page says.
  expect_gt(loss(policy_linucb(epsilon = epsilon, mechanism = "tree"), TRUE, 9), epsilon)
})

test_that("batches release exact sums when their time has come, and not before", {
  set.seed(8)
  d <- 3; n <- 23; batch <- 5; k <- 2
  contexts <- matrix(runif(d * n), d)
  rewards <- runif(n)
  arms <- sample(k, n, TRUE)
  for (public in c("private", "public")) for (mechanism in c("tree", "gamma")) {
    policy <- policy_lin_ts(epsilon = 1, contexts = public, mechanism = mechanism, batch = batch)
    out <- trace_context(policy, arms, rewards, contexts, k, silent = TRUE, max_ledger = 1000)
    of_arm <- vapply(seq_len(n), function(t) sum(arms[seq_len(t)] == arms[t]), 0)
    for (i in seq_len(k)) {
      # With public contexts each arm has batches of its own.
      done <- if (public == "private") seq_len(n) <= n %/% batch * batch else of_arm <= sum(arms == i) %/% batch * batch
      mine <- done & arms == i
      a <- diag(d) + tcrossprod(contexts[, mine])
      expect_equal(out$inverse[, , i], solve(a), tolerance = 1e-10)
      expect_equal(out$theta[, i], drop(solve(a, contexts[, mine] %*% rewards[mine])), tolerance = 1e-10)
    }
    terms <- if (public == "public") d else 9
    expect_equal(out$released, if (public == "private") terms * k * (seq_len(n) %/% batch) else terms * cumsum(of_arm %% batch == 0))
    # 23 / 5: 5 leaves, the last of which may be open: 3 levels; twice the noise where contexts are private
    twice <- if (public == "public") 1 else 2
    expect_equal(unique(out$scale[seq_len(out$total)]),
                 twice * 3 * if (mechanism == "tree") terms else sqrt(terms))
  }
  expect_match(format(policy_linucb(epsilon = 1, batch = 5)$guarantee), "1-joint-DP")
  expect_error(policy_linucb(epsilon = 1, batch = 0), class = "dpts_error_input")
})

# ---- Gaussian noise -----------------------------------------------------------------------

# The scales for a bound N on contexts and a centre, as on the help page: of A's diagonal, off it, and of b
linear_scales <- function(p, d) {
  laplace <- p$mechanism == "batches"
  norm <- min(p$norm, if (laplace) d - p$intercept else sqrt(d - p$intercept), na.rm = TRUE)
  if (p$intercept == 1) norm <- if (laplace) norm + 1 else sqrt(norm^2 + 1)
  h <- max(p$centre, 1 - p$centre)
  budget <- min(p$mu, p$epsilon)
  pairs <- which(upper.tri(diag(d), TRUE), arr.ind = TRUE) # (1,1), (1,2), (2,2), ...: column by column
  w <- 5 / (4 * h^2)
  move <- sqrt(max(2 + 2 * w * h^2, 1 + w, 2 + w * (1 - 2 * p$centre * (1 - p$centre)) + (w * p$centre * (1 - p$centre))^2 / 2))
  two <- if (laplace) c(5 * norm^2, 10 / 3 * h * norm) else move * c(norm^2, norm / sqrt(w))
  of_a <- ifelse(pairs[, 1] == pairs[, 2], 1, if (laplace) 1 / 2 else sqrt(1 / 2))
  scale <- if (p$public == 1) rep(norm, d) else c(two[1] * of_a, rep(two[2], d))
  list(norm = norm, laplace = laplace, pairs = pairs, scale = scale / budget)
}

# The models of a private policy in R, from the noise of its ledger and what was played: the released sums, and
# what they are made of. Without bits.
linear_reference <- function(out, policy, z, rewards, k, horizon, first = NULL, growth = 0) {
  p <- policy$params
  if (p$intercept == 1) z <- rbind(1, z)
  d <- nrow(z)
  n <- length(rewards)
  models <- if (p$shared == 1) 1 else k
  is <- linear_scales(p, d)
  ratio <- is$norm / pmax(if (is$laplace) colSums(z) else sqrt(colSums(z^2)), 1e-300)
  root <- ifelse(ratio < 1, ratio, sqrt(ratio)) # of a row's weight
  z <- sweep(z, 2, root, `*`)
  private <- p$public == 0
  even <- 8 * (is$scale[length(is$scale)]^2 + private * is$scale[1]^2 * (d + 1) / 8) / min(1 / 3, is$norm / d) *
    (if (private) models else 1)
  items <- rbind(if (private) z[is$pairs[, 1], , drop = FALSE] * z[is$pairs[, 2], , drop = FALSE],
                 sweep(z, 2, root * (rewards - p$centre), `*`))
  ends <- function(rounds) {
    if (growth == 0) return(seq(p$batch, length.out = rounds %/% p$batch, by = p$batch))
    at <- end <- 0
    while ((end <- max(end + first, floor(growth * end))) <= rounds) at <- c(at, end)
    at[-1]
  }
  leaves <- length(ends(horizon - 1)) + 1 # the last may be open
  mine <- lapply(seq_len(models), function(m) which(models == 1 | out$arm == m))
  # When each model's batches ended, in rounds
  ended <- lapply(mine, function(rounds) if (private) ends(n) else rounds[ends(length(rounds))])
  order <- do.call(rbind, lapply(seq_len(models), function(m) cbind(ended[[m]], rep(m, length(ended[[m]])))))
  order <- order[order(order[, 1], order[, 2]), 2]
  terms <- length(is$scale)
  ref <- if (is$laplace) list(right = diag(leaves), left = lower.tri(diag(leaves), TRUE) + 0, factor = 1) else
    toeplitz_of(p$mechanism, leaves)
  lapply(seq_len(models), function(m) {
    done <- length(ended[[m]])
    leaf <- vapply(seq_len(done), function(j) {
      in_batch <- mine[[m]][mine[[m]] > c(0, ended[[m]])[j] & mine[[m]] <= ended[[m]][j]]
      rowSums(items[, in_batch, drop = FALSE])
    }, numeric(terms))
    dim(leaf) <- c(terms, done)
    rows <- outer(seq_len(terms), (which(order == m) - 1) * terms, `+`)
    of <- function(column) matrix(out[[column]][rows], terms)
    used <- mine[[m]][mine[[m]] <= max(0, ended[[m]])]
    size <- vapply(seq_len(done), function(j) {
      sum((if (private) seq_len(n) else mine[[m]]) > c(0, ended[[m]])[j] & (if (private) seq_len(n) else mine[[m]]) <= ended[[m]][j])
    }, 0)
    weight <- if (is$laplace) size / (size + even) else rep(1, done)
    left <- ref$left[max(done, 1), seq_len(done), drop = FALSE] * weight
    each <- weight[findInterval(used, ended[[m]], left.open = TRUE) + 1]
    list(noisy = drop(leaf %*% weight) + drop(of("noise") %*% t(left)), scaled = sum(weight * size) / sum(weight^2 * size), scale = is$scale * ref$factor, seen = of("scale"),
         exact = of("exact"), expected = leaf %*% t(ref$right[seq_len(done), seq_len(done), drop = FALSE]),
         variance = (is$scale[1] * ref$factor)^2 * (1 + is$laplace) * sum(left^2), leaves = leaves, pairs = is$pairs,
         done = done, a = tcrossprod(sweep(z[, used, drop = FALSE], 2, sqrt(each), `*`)))
  })
}

test_that("the models are those of an R translation: sums, noise, scales, margin, shortened and centred rows", {
  withr::local_seed(10)
  n <- 47; k <- 2
  cases <- expand.grid(model = c("disjoint", "shared"), contexts = c("private", "public"),
                       mechanism = c("toeplitz", "tree", "batches"), batch = c("growing", "5"),
                       norm = c(NA, 1), stringsAsFactors = FALSE)
  for (i in seq_len(nrow(cases))) {
    case <- cases[i, ]
    private <- case$contexts == "private"
    laplace <- case$mechanism == "batches"
    if (laplace && !private && case$batch == "growing") next # bits: a test of their own
    intercept <- i %% 3 == 0
    d <- 3 + intercept
    policy <- (if (i %% 2) policy_linucb else policy_lin_ts)(
      if (laplace) 200 else Inf, 0.5, mu = if (laplace) Inf else 200, model = case$model, contexts = case$contexts,
      mechanism = case$mechanism, batch = if (case$batch == "5") 5 else if (i %% 2) "growing",
      norm = if (!is.na(case$norm)) case$norm, ridge = 0.7, margin = 0.4, centre = if (i %% 4 == 1) 0.25,
      intercept = intercept
    )
    z <- matrix(runif(3 * n), 3)
    rewards <- runif(n)
    arms <- sample(k, n, TRUE)
    out <- trace_context(policy, arms, rewards, z, k, horizon = 60, max_ledger = 5000, dim = d)
    ref <- linear_reference(out, policy, z, rewards, k, 60, first = if (private) ceiling(1.5 * sqrt(60)) else 4 * d,
                            growth = if (case$batch == "5") 0 else if (laplace) 1.2 else 1.1)
    expect_equal(out$total, sum(vapply(ref, function(r) length(r$scale) * r$done, 0)))
    expect_equal(unique(out$kind[seq_len(out$total)]), if (laplace) 1 else 2)
    for (m in seq_along(ref)) {
      r <- ref[[m]]
      expect_equal(r$seen, matrix(r$scale, length(r$scale), r$done), tolerance = 1e-10)
      expect_equal(r$exact, r$expected, tolerance = 1e-9)
      p <- if (private) nrow(r$pairs) else 0
      expect_equal(out$b[, m], r$scaled * r$noisy[p + seq_len(d)], tolerance = 1e-9)
      if (private) {
        a <- matrix(0, d, d)
        a[r$pairs] <- r$noisy[1:p]
        a <- r$scaled * (a + t(a) - diag(diag(a)))
        bound <- sqrt(r$variance) *
          (sqrt(2 * d) + sqrt(2 * log(length(ref) * r$leaves / 0.01)))
        e <- eigen(a, symmetric = TRUE)
        raised <- 0.7 + sqrt(pmax(e$values, 0)^2 + (0.4 * r$scaled * bound)^2)
        inverse <- e$vectors %*% diag(1 / raised) %*% t(e$vectors)
      } else {
        inverse <- solve(r$scaled * (r$a + diag(0.4 * sqrt(r$variance), d)) + diag(0.7, d))
      }
      expect_equal(out$inverse[, , m], inverse, tolerance = 1e-8)
      expect_equal(out$theta[, m], drop(inverse %*% out$b[, m]), tolerance = 1e-8)
    }
  }
})

test_that("with public contexts and epsilon an arm's first rewards are bits, taken without bias, then batches", {
  withr::local_seed(11)
  d <- 2; n <- 120; epsilon <- 1; norm <- 0.9
  f <- stats::plogis(-epsilon)
  even <- ceiling(2 * norm^2 / epsilon^2 / (min(1 / 3, norm / d) * f * (1 - f) / (1 - 2 * f)^2))
  z <- matrix(runif(d * n), d)
  rewards <- runif(n)
  policy <- policy_linucb(epsilon, contexts = "public", norm = norm)
  out <- trace_context(policy, rep(1, n), rewards, z, 1, max_ledger = 500)
  bits <- 4 * even
  ends <- bits
  while ((end <- max(ends[1] + even, floor(1.6 * ends[1]))) <= n) ends <- c(end, ends)
  batches <- length(ends) - 1
  expect_gt(batches, 0)
  expect_equal(out$released, pmin(seq_len(n), bits) + d * vapply(seq_len(n), function(t) sum(ends[ends > bits] <= t), 0))
  expect_equal(out$kind[seq_len(out$total)], c(rep(4, bits), rep(1, d * batches)))
  expect_equal(out$scale[seq_len(out$total)], c(rep(f, bits), rep(norm / epsilon, d * batches)), tolerance = 1e-12)
  q <- norm / colSums(z)
  of_bit <- seq_len(n) <= bits
  q <- ifelse(q < 1, q, ifelse(of_bit, 1, sqrt(q)))
  size <- -diff(ends)
  weight <- rev(size / (size + 8 * (norm / epsilon)^2 / min(1 / 3, norm / d)))
  size <- rev(size)
  # Bits have the inverse of their variance
  w <- c(rep((1 - 2 * f)^2, bits), rep(weight, size))
  x <- sweep(z, 2, q, `*`)
  bit <- (out$exact + out$noise)[seq_len(bits)]
  expect_true(all(bit %in% 0:1))
  used <- seq_len(max(ends))
  seen <- c((bit - f) / (1 - 2 * f), rewards[-seq_len(bits)])[used] - 0.5
  scale <- sum(w) / (bits * (1 - 2 * f)^2 + sum(weight^2 * size))
  b <- x[, used] %*% (w * q[used] * seen) + matrix(out$noise[bits + seq_len(d * batches)], d) %*% weight
  ridge <- 2 - (1 - 2 * f)^2 + scale * 2 * sqrt(2 * sum(weight^2)) * norm / epsilon
  b <- scale * b
  expect_equal(out$b[, 1], drop(b), tolerance = 1e-9)
  expect_equal(out$inverse[, , 1], solve(scale * tcrossprod(sweep(x[, used], 2, sqrt(w), `*`)) + diag(ridge, d)),
               tolerance = 1e-8)
})

test_that("the noise's eigenvalues are below the margin's unit in 99% of runs, in all releases", {
  # Without contexts A is noise alone: its eigenvalues a become 1 + sqrt(max(a, 0)^2 + m^2), m the margin, and
  # the least of them is below 0 in nearly all runs, which shows m.
  d <- 4; n <- 30; runs <- 150
  values <- function(margin, last, runs) {
    vapply(seq_len(runs), function(seed) {
      policy <- policy_linucb(mu = 0.5, margin = margin, norm = 1, batch = 1)
      out <- trace_context(policy, rep(1, last), rep(0, last), matrix(0, d, last), 1, horizon = n, seed = seed)
      range(1 / eigen(out$inverse[, , 1], symmetric = TRUE, only.values = TRUE)$values) - 1
    }, c(0, 0))
  }
  for (last in c(n, 7)) {
    at <- values(1, last, runs)
    m <- stats::median(at[1, ])
    expect_gt(mean(abs(at[1, ] - m) < 1e-9 * m), 0.9)
    above <- function(share) mean(at[2, ] > m * sqrt(1 + share^2))
    expect_lte(above(1), stats::qbinom(1 - 1e-4, runs, 0.01) / runs)
    # The unit is not far more than that takes: many runs have an eigenvalue above a third of it.
    expect_gt(above(1 / 3), 0.1)
    # A margin is so many units, and without one negative eigenvalues become 0.
    expect_equal(stats::median(values(0.25, last, 40)[1, ]), m / 4)
    expect_equal(stats::median(values(0, last, 40)[1, ]), 0, tolerance = 1e-9)
  }
})

test_that("where sums are far above their noise, the margin hardly shrinks theta", {
  # 1,000 rounds of each of two contexts, and the same noise with and without a margin m of some 0.06 of that:
  # added to A it would take 5% off theta, as a part of its eigenvalues it takes less than (m / a)^2 off.
  n <- 2000
  z <- matrix(c(1, 0, 0, 1), 2)[, rep(1:2, n / 2)]
  at <- lapply(c(0, 0.5), function(margin) {
    trace_context(policy_linucb(mu = 0.1, margin = margin, norm = 1, batch = n), rep(1, n), drop(c(0.95, 0.9) %*% z), z,
                  1, horizon = n)
  })
  expect_identical(at[[1]]$b, at[[2]]$b)
  m <- 0.5 * sqrt(6) / 0.1 * (2 + sqrt(2 * log(1 / 0.01)))
  a <- 1 / max(eigen(at[[1]]$inverse[, , 1], symmetric = TRUE)$values)
  expect_gt(m / a, 0.04)
  change <- max(abs(at[[2]]$theta / at[[1]]$theta - 1))
  expect_lt(change, (m / a)^2)
  expect_gt(change, (m / a)^2 / 10)
})

test_that("growing batches need no horizon", {
  d <- 2
  z <- matrix(0.5, d, 400)
  run <- function(horizon, ...) {
    trace_context(policy_linucb(mu = 10, ...), rep(1, 400), rep(1, 400), z, 1, horizon = horizon,
                  max_ledger = 1000)
  }
  known <- run(400)
  any <- run(Inf)
  expect_equal(cumsum(seq_len(400) %in% growing_ends(400, 10, 400)) * 5, known$released)
  expect_gt(sum(diff(growing_ends(400, 10, 400)) > 30), 1)
  expect_equal(cumsum(seq_len(400) == 300) * 5, any$released)
  leaves <- length(growing_ends(2^53, 10, Inf))
  expect_equal(any$scale[1], sqrt(6) * 2 / 10 * toeplitz_of("toeplitz", leaves + 1)$factor)
  # As the help page says
  expect_equal(length(growing_ends(1e5, 1, 1e5)), 46)
  expect_equal(length(growing_ends(2^53, 1, 2^53)), 311)
  # The other batches have the counter without a bound then.
  ever <- run(Inf, batch = 10)
  expect_equal(ever$scale[1], sqrt(6) * 2 / 10 * factorisation(Inf)$norm)
})

test_that("mu or epsilon, and guarantees that say which", {
  text <- function(...) format(policy_lin_ts(mu = 0.5, ...)$guarantee)
  expect_equal(text(), "0.5-joint-GDP for rewards and contexts")
  expect_equal(text(model = "shared"), text())
  expect_equal(text(contexts = "public"), "0.5-GDP for rewards (contexts public)")
  expect_output(print(policy_linucb(mu = 1, norm = 1)), "norm = 1")
  expect_equal(policy_linucb(mu = Inf), policy_linucb())
  shown <- capture.output(print(dpts_privacy(
    list(joint = policy_linucb(mu = 1), public = policy_linucb(epsilon = 2, contexts = "public"),
         none = policy_linucb(), plain = policy_gaussian_imed(1)), 1000, delta = 1e-6
  )))
  expect_match(shown, "Guarantee of joint: +1-joint-GDP for rewards and contexts", all = FALSE)
  expect_match(shown, "Guarantee of public: +2-DP for rewards \\(contexts public\\)", all = FALSE)
  expect_false(any(grepl("Guarantee of (none|plain)", shown)))
  # Another kind of budget has its own mechanism and batches.
  expect_identical(update(policy_linucb(mu = 1), mu = Inf, epsilon = 2), policy_linucb(epsilon = 2))
  expect_identical(update(policy_lin_ts(epsilon = 2), epsilon = Inf, mu = 1), policy_lin_ts(mu = 1))
  expect_identical(update(policy_linucb(mu = 1, mechanism = "tree", batch = 7), mu = 2),
                   policy_linucb(mu = 2, mechanism = "tree", batch = 7))
  bad <- function(...) expect_error(policy_linucb(...), class = "dpts_error_input")
  # Privacy comes first, as in all private policies.
  expect_identical(policy_linucb(2), policy_linucb(epsilon = 2))
  expect_identical(policy_lin_ts(2, 0.5), policy_lin_ts(epsilon = 2, v = 0.5))
  bad(epsilon = 1, mu = 1)
  bad(mu = 0)
  bad(mu = 1, mechanism = "gamma")
  bad(epsilon = 1, mechanism = "toeplitz")
  bad(mu = 1, batch = "all")
  bad(mu = 1, batch = 0)
  bad(mu = 1, norm = 0)
  bad(mu = 1, margin = -1)
  wide <- arms_linear(rbind(c(0.5, 0.1), c(0.1, 0.5)), matrix(c(-0.1, 0.5, 1, 0.5), 2))
  expect_error(dpts_simulate(wide, policy_linucb(mu = 1), 10), class = "dpts_error_contexts")
})

test_that("growing batches serve the trees, too", {
  d <- 2
  z <- matrix(0.5, d, 60)
  out <- trace_context(policy_linucb(epsilon = 100, batch = "growing", mechanism = "gamma"), rep(1, 60),
                       rep(1, 60), z, 1, max_ledger = 1000, silent = TRUE)
  expect_equal(out$released, 5 * cumsum(seq_len(60) %in% growing_ends(60, 20, 60)))
  # 5 leaves: 3 levels, twice the noise of one model
  expect_equal(growing_ends(60, 20, 60), 12 * 1:5)
  expect_equal(unique(out$scale[seq_len(out$total)]), 2 * 3 * sqrt(5) / 100)
  expect_match(format(policy_linucb(epsilon = 1, batch = "growing")$guarantee), "1-joint-DP")
})

test_that("a private policy beats the trees, at the same privacy and at less", {
  theta <- rbind(c(0.6, 0.1, 0.2), c(0.1, 0.6, 0.2), c(0.2, 0.1, 0.6))
  sim <- dpts_simulate(arms_linear(theta, "simplex"), list(
    gaussian = policy_linucb(mu = 1, norm = 1), tree = policy_linucb(mu = 1, norm = 1, mechanism = "tree"),
    laplace = policy_linucb(epsilon = 9, mechanism = "tree", batch = 100), uniform = policy_uniform()
  ), 20000, runs = 15, seed = 4, record = 1, progress = FALSE)
  last <- summary(sim)
  mean <- stats::setNames(last$mean, last$policy)
  se <- stats::setNames(last$se, last$policy)
  clear <- function(a, b) expect_gt((mean[[b]] - mean[[a]]) / sqrt(se[[a]]^2 + se[[b]]^2), 3)
  clear("gaussian", "tree")
  clear("gaussian", "laplace")
  clear("gaussian", "uniform")
})

test_that("no round moves a release further than its noise allows: corners, the worst pair, one model and two", {
  # One release, batch 1, so R is 1: the moves in units of the noise are the budget, together, at the worst pair.
  d <- 3
  contexts <- rbind(as.matrix(expand.grid(rep(list(0:1), d))), c(0.625, sqrt(1 - 0.625^2), 0), c(1e-4, 0, 0), c(0.5, 0.25, 0.25),
                    c(1.7, -5, 0.2))
  rewards <- c(-100, 0, 0.3, 1)
  rounds <- cbind(contexts[rep(seq_len(nrow(contexts)), length(rewards)), ], rep(rewards, each = nrow(contexts)))
  released <- function(policy, arm) {
    t(vapply(seq_len(nrow(rounds)), function(i) {
      out <- trace_context(policy, arm, rounds[i, d + 1], matrix(rounds[i, 1:d]), 2, horizon = 1, silent = TRUE,
                           max_ledger = 20 * 2)
      (out$exact / out$scale)[seq_len(out$total)]
    }, numeric(if (policy$params$shared == 1) 9 else 18)))
  }
  most <- function(..., mu = Inf) {
    policy <- policy_linucb(..., mu = mu, batch = 1)
    both <- rbind(released(policy, 1), released(policy, 2))
    max(stats::dist(both, if (mu < Inf) "euclidean" else "manhattan")) / min(mu, policy$params$epsilon)
  }
  for (centre in list(NULL, 0.2, 0)) {
    # For c = 1/2 the bound is that of one model, for a context of almost no length against one of 1, else of two.
    near <- if (is.null(centre)) 1e-3 else 1e-9
    expect_equal(most(mu = 0.6, norm = 1, centre = centre), 1, tolerance = near)
    expect_lte(most(mu = 0.6, norm = 1, centre = centre), 1 + 1e-9)
    expect_lte(most(mu = 0.6, norm = 1.2, centre = centre), 1 + 1e-9)
    expect_lte(most(mu = 0.6, centre = centre), 1 + 1e-9)
    expect_equal(most(0.6, norm = 1, centre = centre), 1, tolerance = 1e-9)
    expect_equal(most(0.6, centre = centre), 1, tolerance = 1e-9)
    expect_lte(most(mu = 0.6, norm = 1.2, centre = centre, model = "shared"), 1 + 1e-9)
    expect_lte(most(0.6, norm = 0.8, centre = centre, model = "shared"), 1 + 1e-9)
  }
  expect_equal(most(mu = 0.6, norm = 1, model = "shared"), 1, tolerance = 1e-3)
})

test_that("nothing is silent: contexts that are shortened, runs that release nothing, arguments without use", {
  arms <- arms_linear(rbind(c(0.5, 0.1), c(0.1, 0.5)), rbind(c(1, 0), c(0.3, 0.4), c(1, 1), c(0, 1)))
  play <- function(policy, horizon = 400, ...) dpts_simulate(arms, list(a = policy), horizon, runs = 1, seed = 1, ...)
  expect_warning(play(policy_linucb(mu = 1, norm = 1)), "\"a\" shortens 25.0% of the contexts to `norm` = 1", class = "dpts_warning_shortened")
  expect_warning(play(policy_linucb(1, norm = 0.7)), "shortens 75.0%|shortens 100.0%", class = "dpts_warning_shortened")
  # The first batch is of 1.5 sqrt(horizon) / min(1, budget) rounds, at most 300: that is of 300 here.
  expect_warning(play(policy_linucb(mu = 0.08), 299), "released nothing", class = "dpts_warning_unreleased")
  expect_warning(play(policy_restart(policy_linucb(mu = 0.08), 400), 299), "its first batch is of 300 rounds",
                 class = "dpts_warning_unreleased")
  expect_no_warning(play(policy_linucb(mu = 0.08), 300))
  expect_no_warning(play(policy_linucb(mu = 0.08), 299, finish = TRUE))
  log <- data.frame(arm = rep(1:2, 100), reward = rep(0:1, 100), context_1 = 0.5)
  expect_warning(never <- dpts_replay(log, list(late = policy_linucb(mu = 0.01)), runs = 1, seed = 1, context = "context_1"),
                 "\"late\" released nothing, and so learned nothing: its first batch is of 300 rounds", class = "dpts_warning_unreleased")
  said <- function(x) gsub("[# \n]+", " ", paste(capture.output(print(x)), collapse = " "))
  expect_match(said(never), "Beware: \"late\" released nothing, and so learned nothing", fixed = TRUE)
  expect_match(said(suppressWarnings(play(policy_linucb(mu = 0.08), 299))), "\"a\" released nothing", fixed = TRUE)
  expect_no_match(said(play(policy_linucb(mu = 0.08), 299, finish = TRUE)), "released nothing")
  # Public contexts: the batches are of an arm's rewards, with `mu` of 4 d. So many are seen, or are not.
  public <- list(p = policy_linucb(mu = 1, contexts = "public", batch = 60))
  expect_warning(dpts_replay(log[1:80, ], public, runs = 1, seed = 1), "60 rewards of an arm", class = "dpts_warning_unreleased")
  expect_warning(dpts_replay(log, policy_linucb(mu = 1, contexts = "public"), delay = 110, runs = 1, seed = 1), "4 rewards of an arm",
                 class = "dpts_warning_unreleased")
  expect_no_warning(dpts_replay(log, policy_linucb(mu = 1, contexts = "public"), runs = 1, seed = 1))
  expect_no_warning(dpts_replay(log, policy_linucb(1, contexts = "public"), runs = 1, seed = 1))
  expect_warning(play(policy_linucb(mu = 1, contexts = "public"), 7), "8 rewards of an arm", class = "dpts_warning_unreleased")
  expect_no_warning(play(policy_linucb(mu = 1, contexts = "public"), 8))
  # Four rewards of an arm for each number that a policy sees: of contexts alone, or times those of an arm
  both <- list(own = policy_linucb(mu = 1, contexts = "public"),
               shared = policy_linucb(mu = 1, contexts = "public", model = "shared"))
  expect_warning(dpts_replay(log[1:40, ], both, runs = 1, seed = 1, arm_features = matrix(0.4, 2, 6)),
                 "\"shared\".* 24 rewards of an arm", class = "dpts_warning_unreleased")
  # Contexts from a distribution: some are longer, or none
  drawn <- function(policy, contexts) {
    dpts_simulate(arms_linear(rbind(c(0.5, 0.1), c(0.1, 0.5)), contexts), policy, 400, runs = 1, seed = 1)
  }
  expect_warning(drawn(policy_linucb(mu = 1, norm = 1.41), "uniform"), "shortens contexts that are longer", class = "dpts_warning_shortened")
  expect_no_warning(drawn(policy_linucb(mu = 1, norm = 1.4143), "uniform"))
  expect_warning(drawn(policy_linucb(1, norm = 1.99), "uniform"), class = "dpts_warning_shortened")
  expect_warning(drawn(policy_linucb(1, norm = 0.99), "simplex"), class = "dpts_warning_shortened")
  expect_no_warning(drawn(policy_linucb(1, norm = 1), "simplex"))
  bad <- function(...) expect_error(policy_linucb(...), class = "dpts_error_input")
  bad(norm = 1)
  bad(margin = 1)
  bad(1, mechanism = "tree", norm = 1)
  bad(1, mechanism = "gamma", margin = 1)
  bad(1, centre = 1.1)
  bad(1, intercept = NA)
})

test_that("a replay counts the events whose context a policy shortens, and says so", {
  withr::local_seed(7)
  n <- 300
  log <- data.frame(arm = sample(3, n, TRUE), reward = rbinom(n, 1, 0.5), context_1 = runif(n), context_2 = runif(n))
  z <- as.matrix(log[3:4])
  features <- rbind(c(1, 0), c(0.5, 0.5), c(0.2, 0.9))
  f <- features[log$arm, ]
  policies <- list(none = policy_linucb(), mu = policy_linucb(mu = 1, norm = 0.8, batch = 10), pure = policy_linucb(1, norm = 0.8, batch = 10),
                   shared = policy_linucb(mu = 1, norm = 0.5, model = "shared", batch = 10), wide = policy_linucb(mu = 1, norm = 2, batch = 10))
  # The products of a context and an arm's features, by outer()
  products <- vapply(seq_len(n), function(i) sqrt(sum(outer(z[i, ], f[i, ])^2)), 0)
  long <- c(none = 0, mu = sum(sqrt(rowSums(z^2)) > 0.8), pure = sum(rowSums(z) > 0.8), shared = sum(products > 0.5), wide = 0)
  warned <- character()
  replay <- withCallingHandlers(dpts_replay(log, policies, runs = 2, seed = 1, delay = c(0, 5), arm_features = features),
                                dpts_warning_shortened = function(w) {
                                  warned <<- c(warned, conditionMessage(w))
                                  invokeRestart("muffleWarning")
                                })
  expect_identical(sub(" of the contexts.*", "", warned), sprintf("Policy \"%s\" shortens %.1f%%", names(long)[2:4], 100 * long[2:4] / n))
  runs <- runs_in(replay)
  expect_equal(runs$shortened, unname(long[as.character(runs$policy)]))
  expect_match(gsub("[# \n]+", " ", paste(capture.output(print(replay)), collapse = " ")),
               sprintf("of 300 events: %d (mu), %d (pure) and %d (shared)", long[2], long[3], long[4]), fixed = TRUE)
  # From a log in chunks, and with contexts that are clipped
  parts <- log_chunks(function(i) if (i <= 3) log[100 * (i - 1) + 1:100, ])
  again <- suppressWarnings(dpts_replay(parts, policies, runs = 2, seed = 1, delay = c(0, 5), arm_features = features))
  expect_equal(runs_in(again)$shortened, runs$shortened)
  log$context_1 <- 2 * log$context_1
  two <- list(mu = policies$mu, wide = policy_linucb(mu = 1, norm = 1.2))
  clipped <- suppressWarnings(dpts_replay(log, two, runs = 1, seed = 1, clip = TRUE))
  length_of <- sqrt(pmin(log$context_1, 1)^2 + z[, 2]^2)
  expect_equal(runs_in(clipped)$shortened, c(sum(length_of > 0.8), sum(length_of > 1.2)))
})

test_that("a shortened context takes its reward along: no noise, no bias", {
  withr::local_seed(12)
  n <- 400
  z <- rbind(1, matrix(stats::runif(2 * n), 2))
  theta <- c(0.1, 0.5, 0.2)
  rewards <- drop(theta %*% z)
  out <- trace_context(policy_linucb(mu = 1, norm = 0.5, batch = n, ridge = 1e-6, margin = 0, centre = 0), rep(1, n), rewards, z, 1,
                       silent = TRUE, max_ledger = 9)
  expect_equal(out$theta[, 1], theta, tolerance = 1e-4)
})

test_that("finish releases what is open, also when the horizon's batches are full, once", {
  z <- matrix(0.5, 2, 50)
  for (policy in list(policy_linucb(mu = 1, norm = 1, batch = 7), policy_linucb(1, norm = 1, batch = 7))) {
    play <- function(finish) {
      run_script(policy, 2, rep(1:2, 25), matrix(0.5, 50, 2), horizon = 50, contexts = z, finish = finish)$total
    }
    expect_equal(play(FALSE), 7 * 2 * 5)
    expect_equal(play(TRUE), 8 * 2 * 5)
  }
})

test_that("a policy whose noise outweighs what it learns says so before the first round, once a session", {
  withr::local_options(rlib_message_verbosity = "verbose")
  # The rule of the help page, of the budget at which the two sides are equal
  edge <- function(limit, d, k, horizon) sqrt(k) * d^1.5 / (limit * horizon)
  cases <- list(list(1.8, function(b, ...) policy_linucb(mu = b, ...)), list(0.5, function(b, ...) policy_linucb(b, ...)),
                list(1.8, function(b, ...) policy_linucb(mu = b, contexts = "public", ...)),
                list(0.5, function(b, ...) policy_lin_ts(b, contexts = "public", ...)),
                list(1.8, function(b, ...) policy_logistic_ucb(b, ...)))
  for (case in cases) for (model in c("disjoint", "shared")) {
    at <- edge(case[[1]], 6, if (model == "shared") 1 else 3, 5000)
    outweighed <- function(by) is_outweighed(case[[2]](at * by, model = model), 6, 3, 5000)
    expect_true(outweighed(0.99))
    expect_false(outweighed(1.01))
  }
  expect_true(is_outweighed(policy_linucb(mu = edge(1.8, 7, 3, 5000) * 0.99, intercept = TRUE), 6, 3, 5000))
  for (policy in list(policy_linucb(), policy_local(policy_linucb(centre = 0.5), 0.01), policy_uniform(), policy_ts_beta())) {
    expect_false(is_outweighed(policy, 50, 50, 10))
  }
  arms <- arms_linear(rbind(c(0.5, 0.1, 0.2), c(0.1, 0.5, 0.2)), "simplex")
  play <- function(mu) dpts_simulate(arms, list(a = policy_linucb(mu = mu, norm = 1)), 400, runs = 2, seed = 1, record = 1)
  expect_message(play(0.005), "Policy \"a\" will hardly have less regret .* 2 arms, 3 numbers in a context, 400 rounds and mu = 0.005",
                 class = "dpts_message_outweighed")
  expect_no_message(play(0.02), class = "dpts_message_outweighed")
  log <- data.frame(arm = rep(1:2, 300), reward = rep(0:1, 300), context_1 = 0.5, context_2 = 0.1)
  expect_message(dpts_replay(log, policy_linucb(0.002), runs = 1, seed = 1), "epsilon = 0.002", class = "dpts_message_outweighed")
  expect_message(dpts_replay(log[1:2], policy_linucb(0.002, model = "shared"), runs = 1, seed = 1, arm_features = matrix(0.3, 2, 3)),
                 "2 arms, 3 numbers in a context", class = "dpts_message_outweighed")
  expect_message(dpts_agent(policy_linucb(mu = 0.005, norm = 1), 2, horizon = 400, use = "arrival", dim = 3),
                 class = "dpts_message_outweighed")
  expect_no_message(dpts_agent(policy_linucb(mu = 0.005, norm = 1), 2, use = "arrival", dim = 3), class = "dpts_message_outweighed")
  # Once
  withr::local_options(rlib_message_verbosity = "default")
  expect_message(play(0.004), class = "dpts_message_outweighed")
  expect_no_message(play(0.004), class = "dpts_message_outweighed")
})

test_that("where noise outweighs what is learned, regret is that of the uniform policy; and with ten times the budget it is not", {
  skip_on_cran()
  d <- 4; k <- 4; horizon <- 3000
  points <- withr::with_seed(91, abs(matrix(rnorm(2000), ncol = d)))
  theta <- withr::with_seed(92, matrix(rexp(k * d), k))
  points <- points / sqrt(rowSums(points^2))
  arms <- arms_linear(theta / (1.001 * max(points %*% t(theta))), points)
  edge <- sqrt(k) * d^1.5 / (1.8 * horizon)
  policies <- list(at = policy_linucb(mu = edge, norm = 1), above = policy_linucb(mu = 10 * edge, norm = 1), uniform = policy_uniform())
  regret <- suppressMessages(summary(dpts_simulate(arms, policies, horizon, runs = 40, seed = 1, record = 1)))
  ratio <- regret$mean / regret$mean[3]
  error <- regret$se / regret$mean[3]
  expect_gt(ratio[1], 0.9 - 3 * error[1])
  expect_lt(ratio[2], 0.85 - 3 * error[2])
})
