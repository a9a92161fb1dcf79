# The 15 experiments of `dpts_experiment()`, each played by a short script that was written from the text of its paper,
# compared with `dpts_reproduce()`.
#   Rscript bench/experiments.R > bench/experiments.md
#   Rscript bench/experiments.R hh-1 mt-1                # some of them; all take four and a half minutes
# The scripts use base R alone and share no code with dpts. A state has a row for each run (of each setting) and a column
# for each arm. DP-SE and Anytime-Lazy-UCB are in neither of the papers that compare with them: they are written from
# Sajed and Sheffet (2019) and Hu, Huang and Mehta (2021), as `?policy_dp_se` and `?policy_lazy_ucb` number their steps.

library(dpts)
five <- c(0.75, 0.625, 0.5, 0.375, 0.25)
laplace <- function(n, scale) scale * (rexp(n) - rexp(n))
bernoulli <- function(p) function(arm) as.double(runif(length(arm)) < p[arm])

# ---- Ou, Avella Medina and Cummings ----------------------------------------------------------------------------

# Lemma 1, solved for epsilon: mu-GDP is (epsilon, delta)-DP for this delta. In logarithms, since e^epsilon is large.
epsilon_of <- function(mu, delta) {
  excess <- function(e) {
    a <- pnorm(-e / mu + mu / 2, log.p = TRUE)
    b <- e + pnorm(-e / mu - mu / 2, log.p = TRUE)
    a + log1p(-exp(b - a)) - log(delta)
  }
  uniroot(excess, c(0, mu^2 / 2 + 40 * mu), tol = 1e-12)$root
}

# Algorithm 2: b pulls of each arm, then the largest of N(sum / (k + 1), c / (k + 1)), k the pulls of an arm.
modified_ts <- function(b, c, horizon, mean, draw) {
  rows <- length(b); arms <- length(mean)
  k <- matrix(b, rows, arms)
  s <- t(vapply(b, function(n) vapply(seq_len(arms), function(a) sum(draw(rep(a, n))), 0), mean))
  gap <- max(mean) - mean
  regret <- b * sum(gap)
  left <- horizon - b * arms
  for (t in seq_len(max(left))) {
    theta <- s / (k + 1) + sqrt(c / (k + 1)) * rnorm(rows * arms)
    arm <- max.col(theta, "first")
    at <- cbind(seq_len(rows), arm)
    k[at] <- k[at] + 1
    s[at] <- s[at] + draw(arm)
    regret <- regret + gap[arm] * (t <= left)
  }
  regret
}

# Truncated exponential rewards on [0, 1], by inversion
rates <- c(0.1, 1, 2, 5, 10)
truncated <- function(arm) -log1p(-runif(length(arm)) * -expm1(-rates[arm])) / rates[arm]
truncated_mean <- 1 / rates - 1 / expm1(rates)

ou_regret <- function(id, mu, mean, draw, horizon = 2e4, runs = 20) {
  pairs <- expand.grid(b = c(0, 9, 49, 99, 199, 499, 999, 1999, 3999), mu = mu)
  pairs$c <- horizon / (pairs$mu^2 * (pairs$b + 1))   # Lemma 5: mu = sqrt(T / (c (b + 1)))
  pairs <- pairs[pairs$b * 5 < horizon & pairs$c >= 1, ]
  each <- rep(seq_len(nrow(pairs)), each = runs)
  regret <- modified_ts(pairs$b[each], pairs$c[each], horizon, mean, draw)
  theirs <- as.data.frame(dpts_reproduce(id, horizon = horizon, runs = 100, seed = 1, record = 1, progress = FALSE))
  name <- sprintf("%s-GDP, b = %s", pairs$mu, pairs$b)
  compare(id, split(regret, factor(each, labels = name)), {
    if ("best" %in% names(theirs)) tuned(theirs, name, match(paste(pairs$mu, pairs$b), paste(theirs$mu, theirs$prepulls)))
    else split(theirs$regret, factor(paste(theirs$mu, theirs$prepulls), paste(pairs$mu, pairs$b), name))
  }, sprintf("T = %s", format(horizon, scientific = FALSE)))
}
# A tuning has means and standard errors in place of runs.
tuned <- function(x, name, at) setNames(lapply(at, function(i) list(mean = x$regret[i], se = x$se[i])), name)

ou_1 <- function() {
  theirs <- as.data.frame(dpts_reproduce("ou-1"))
  # A round is sqrt(1 / (c (b + 1)))-GDP (caption of Figure 1), T rounds sqrt(T) times that.
  mine <- mapply(function(b, c, delta) epsilon_of(sqrt(1000 / (c * (b + 1))), delta),
                 theirs$prepulls, theirs$variance_scale, theirs$delta)
  exact("ou-1", mine, theirs$epsilon, "points of epsilon against delta")
}

# Figures 6 and 7. A round is 1 / sqrt(2)-GDP since each arm has a reward (Lemma 3); hence alpha / 4-RDP (Appendix C.2),
# and the best alpha of Theorem 8 is 1 + sqrt(4 log(1 / delta) / T). The standard analysis is advanced composition of
# rounds that are (5 sqrt(log(2 / d)), (N - 1) d)-DP (Theorem 7), half of delta for the rounds: our reading.
ou_accountants <- function(id) {
  theirs <- as.data.frame(dpts_reproduce(id))
  mine <- mapply(function(accountant, horizon, arms, delta) switch(accountant,
    gdp = epsilon_of(sqrt(horizon / 2), delta),
    rdp = { alpha <- 1 + sqrt(4 * log(1 / delta) / horizon); horizon * alpha / 4 + log(1 / delta) / (alpha - 1) },
    standard = {
      e <- 5 * sqrt(log(2 * 2 * horizon * (arms - 1) / delta))
      sqrt(2 * horizon * log(2 / delta)) * e + horizon * e * (exp(e) - 1)
    }), theirs$accountant, theirs$horizon, theirs$arms, theirs$delta)
  exact(id, mine, theirs$epsilon, "points of epsilon against delta")
}

ou_8 <- function(horizon = 1e5, runs = 20) {
  mu <- c(1, 5, 10); b <- c(1999, 499, 499)
  mine <- list()
  for (i in seq_along(mu)) {
    epsilon <- epsilon_of(mu[i], 1e-5)
    mine <- c(mine, setNames(list(
      dp_se(epsilon, horizon, five, 10 * runs), lazy(epsilon, horizon, five, 4 * runs, "ucb"),
      modified_ts(rep(b[i], runs), horizon / (mu[i]^2 * (b[i] + 1)), horizon, five, bernoulli(five))
    ), sprintf("%s, %s-GDP", c("DP-SE", "Anytime-Lazy-UCB", "Modified TS"), mu[i])))
  }
  theirs <- as.data.frame(dpts_reproduce("ou-8", runs = 200, seed = 1, record = 1, progress = FALSE))
  compare("ou-8", mine, split(theirs$regret, theirs$policy), "T = 100000")
}

# ---- Hu and Hegde ----------------------------------------------------------------------------------------------

# Sajed and Sheffet (2019), run by run; an epoch at a time, since only its counts and sums matter. Its last cycle of pulls
# may be cut by the horizon.
dp_se <- function(epsilon, horizon, mean, runs) replicate(runs, {
  gap <- max(mean) - mean
  alive <- seq_along(mean); regret <- 0; left <- horizon; e <- 0; beta <- 1 / horizon
  while (length(alive) > 1 && left > 0) {
    e <- e + 1
    d <- 2^-e; m <- length(alive)
    n <- 1 + max(32 * log(8 * m * e^2 / beta) / d^2, 8 * log(4 * m * e^2 / beta) / (epsilon * d))
    r <- ceiling(n)
    if (r * m > left) {
      regret <- regret + (left %/% m) * sum(gap[alive]) + sum(gap[alive[seq_len(left %% m)]])
      left <- 0
    } else {
      regret <- regret + r * sum(gap[alive])
      left <- left - r * m
      private <- rbinom(m, r, mean[alive]) / r + laplace(m, 1 / (epsilon * r))
      width <- sqrt(log(8 * m * e^2 / beta) / (2 * n)) + log(4 * m * e^2 / beta) / (n * epsilon)
      alive <- alive[private >= max(private) - 2 * width]
    }
  }
  regret + left * gap[alive[1]] # one arm is left, or no round
})

# What Anytime-Lazy-UCB (natural logarithms) and Lazy-DP-TS (Algorithm 2, base 2) share: an arm's private mean is that of
# its last full block, blocks doubling in size.
lazy <- function(epsilon, horizon, mean, runs, index) {
  arms <- length(mean); gap <- max(mean) - mean; draw <- bernoulli(mean)
  all <- runs * arms
  o <- matrix(1, runs, arms)
  private <- matrix(draw(rep(seq_len(arms), each = runs)) + laplace(all, 1 / epsilon), runs)
  sum <- count <- matrix(0, runs, arms)
  regret <- rep(sum(gap), runs)
  for (t in (arms + 1):horizon) {
    theta <- if (index == "ucb") private + sqrt(3 * log(t) / o) + 3 * log(t) / (epsilon * o) else {
      m <- pmin(pmax(private + 3 * log2(t) / (epsilon * o), 0), 1)
      rbeta(all, m * o + 1, (1 - m) * o + 1)
    }
    arm <- max.col(matrix(theta, runs), "first")
    at <- cbind(seq_len(runs), arm)
    regret <- regret + gap[arm]
    sum[at] <- sum[at] + draw(arm)
    count[at] <- count[at] + 1
    full <- at[count[at] == 2 * o[at], , drop = FALSE]
    if (nrow(full)) {
      o[full] <- 2 * o[full]
      private[full] <- (sum[full] + laplace(nrow(full), 1 / epsilon)) / o[full]
      sum[full] <- count[full] <- 0
    }
  }
  regret
}

# Noise of the binary mechanism after `n` items: a node for each bit of n that is set, whose noise stays until the node is
# absorbed by a larger one. `noise`: a matrix, a row for each counter and a column for each level.
binary_noise <- function(noise, n, scale) {
  level <- 1 + rowSums(n %% matrix(2^seq_len(ncol(noise)), nrow(noise), ncol(noise), byrow = TRUE) == 0)
  noise[col(noise) < level] <- 0
  noise[cbind(seq_along(level), level)] <- laplace(length(level), scale)
  noise
}

# DP-TS, Algorithm 1. C has one noise for each full epoch (O = 1, 3, 7, ...), B the binary mechanism in between.
dp_ts <- function(epsilon, horizon, mean, runs) {
  arms <- length(mean); gap <- max(mean) - mean; draw <- bernoulli(mean)
  all <- runs * arms; levels <- ceiling(log2(horizon)) + 1
  o <- matrix(1, runs, arms)
  sum <- matrix(draw(rep(seq_len(arms), each = runs)), runs)
  c_noise <- matrix(laplace(all, 2 / epsilon), runs)
  b_noise <- array(0, c(runs, arms, levels))
  noise <- c_noise
  regret <- rep(sum(gap), runs)
  for (t in (arms + 1):horizon) {
    m <- pmin(pmax((sum + noise) / o + 6 * sqrt(8) * log2(o + 1) * log2(t) / (epsilon * o), 0), 1)
    arm <- max.col(matrix(rbeta(all, m * o + 1, (1 - m) * o + 1), runs), "first")
    at <- cbind(seq_len(runs), arm)
    regret <- regret + gap[arm]
    sum[at] <- sum[at] + draw(arm)
    o[at] <- o[at] + 1
    r <- floor(log2(o[at] + 1)) - 1
    done <- o[at] + 1 == 2^(r + 1)
    cells <- at[done, , drop = FALSE]
    c_noise[cells] <- c_noise[cells] + laplace(nrow(cells), 2 / epsilon)
    slots <- function(rows) cbind(rep(rows, levels), rep(arm[rows], levels), rep(seq_len(levels), each = length(rows)))
    if (any(done)) b_noise[slots(which(done))] <- 0
    if (any(!done)) {
      rows <- which(!done)
      n <- o[at][rows] - (2^(r[rows] + 1) - 1)     # rewards in Psi
      old <- matrix(b_noise[slots(rows)], length(rows))
      b_noise[slots(rows)] <- binary_noise(old, n, (r[rows] + 1) / (0.5 * epsilon))
    }
    noise[at] <- c_noise[at] + rowSums(matrix(b_noise[slots(seq_len(runs))], runs))
  }
  regret
}

hh <- function(id, epsilon, horizon = 1e5, runs = 20) {
  mine <- list("DP-SE" = dp_se(epsilon, horizon, five, 10 * runs),
               "Anytime-Lazy-UCB" = lazy(epsilon, horizon, five, 4 * runs, "ucb"),
               "Lazy-DP-TS" = lazy(epsilon, horizon, five, runs, "ts"))
  if (id == "hh-1") mine[["DP-TS"]] <- dp_ts(epsilon, horizon, five, runs)
  theirs <- as.data.frame(dpts_reproduce(id, runs = 200, seed = 1, record = 1, progress = FALSE))
  compare(id, mine, split(theirs$regret, theirs$policy), "T = 100000")
}

# ---- Mishra and Thakurta ---------------------------------------------------------------------------------------

# Section 5: Algorithms 1 and 2 as tuned there. A tree of T leaves for each arm: floor(log2(T)) + 1 levels, a node's noise
# has the scale levels / (epsilon / k). Not in the text: ten random pulls of each arm, and a sum outside [0, n], for which
# there is no Beta distribution (and no root), is moved to its nearer end. Their total is one leaf (line 12).
mt_1 <- function(horizon = 1e4, runs = 250) {
  mean <- c(0.9, rep(0.4, 4)); arms <- 5; gap <- max(mean) - mean; draw <- bernoulli(mean)
  levels <- floor(log2(horizon)) + 1
  play <- function(epsilon, ts, warmup) {
    n <- matrix(warmup, runs, arms); leaves <- matrix(1, runs, arms)
    sum <- matrix(rbinom(runs * arms, warmup, rep(mean, each = runs)), runs)
    scale <- if (epsilon < Inf) levels * arms / epsilon else 0
    tree <- matrix(0, runs * arms, levels); tree[, 1] <- laplace(runs * arms, scale)
    noise <- matrix(tree[, 1], runs)
    regret <- rep(warmup * sum(gap), runs)
    for (t in (arms * warmup + 1):horizon) {
      r <- sum + noise
      theta <- if (ts) { r <- pmin(pmax(r, 0), n); rbeta(runs * arms, r + 1, n - r + 1) }
        else if (epsilon == Inf) r / n + sqrt(2 * log(t) / n) + runif(runs * arms) * 1e-10 # UCB sampling; ties at random
        else r / n + sqrt(pmax(r, 0) * log(t)) / n + log(t) / n
      arm <- max.col(matrix(theta, runs), "first")
      at <- cbind(seq_len(runs), arm)
      regret <- regret + gap[arm]
      n[at] <- n[at] + 1; sum[at] <- sum[at] + draw(arm); leaves[at] <- leaves[at] + 1
      if (scale > 0) {
        rows <- (arm - 1) * runs + seq_len(runs)
        tree[rows, ] <- binary_noise(tree[rows, ], leaves[at], scale)
        noise[at] <- rowSums(tree[rows, ])
      }
    }
    regret
  }
  theirs <- as.data.frame(dpts_reproduce("mt-1", horizon = horizon, runs = 1000, seed = 1, record = 1, progress = FALSE))
  mine <- lapply(levels(theirs$policy), function(name) {
    epsilon <- if (grepl("not private", name)) Inf else as.double(sub(".*= ", "", name))
    ts <- grepl("Thompson", name)
    play(epsilon, ts, if (ts && epsilon < Inf) 10 else if (ts) 0 else 1)
  })
  compare("mt-1", setNames(mine, levels(theirs$policy)), split(theirs$regret, theirs$policy), "T = 10000")
}

# Section 5.1 with Algorithms 3 and 4 (LinUCB, linear Thompson sampling), one model an arm, replayed on a log of uniform
# choices. The log is made here, with more to learn than the sample in the package; epsilon 2.7 as in the paper, and 1e5.
# Not in the text: the identity is added to A, and eigenvalues of the noisy A below 1 are raised to 1.
mt_2 <- function(events = 2000, runs = 20) {
  d <- 6; arms <- 4
  set.seed(11)
  z <- matrix(runif(events * d), events)
  weights <- matrix(rexp(arms * d)^2, arms); weights <- weights / rowSums(weights)
  log <- data.frame(arm = sample.int(arms, events, TRUE), context = z)
  log$reward <- as.double(runif(events) < rowSums(z * weights[log$arm, ])^2)
  levels <- floor(log2(events)) + 1
  upper <- upper.tri(diag(d), TRUE)
  replay <- function(ts, epsilon, delay) {
    scale <- if (epsilon < Inf) levels * 27 / epsilon else 0
    sums <- matrix(0, arms, 27); tree <- array(0, c(27, levels, arms)); items <- rep(0, arms)
    inverse <- rep(list(diag(d)), arms); root <- inverse; theta <- matrix(0, arms, d)
    queue <- integer(); clicks <- kept <- 0
    for (i in seq_len(events)) {
      x <- z[i, ]
      index <- vapply(seq_len(arms), function(a) {
        if (ts) sum((theta[a, ] + drop(root[[a]] %*% rnorm(d))) * x)
        else sum(theta[a, ] * x) + sqrt(sum(x * (inverse[[a]] %*% x)))
      }, 0)
      if (which.max(index + runif(arms) * 1e-12) != log$arm[i]) next
      clicks <- clicks + log$reward[i]; kept <- kept + 1
      queue <- c(queue, i)
      if (length(queue) <= delay) next
      j <- queue[1]; queue <- queue[-1]; a <- log$arm[j]
      sums[a, ] <- sums[a, ] + c((z[j, ] %o% z[j, ])[upper], log$reward[j] * z[j, ])
      items[a] <- items[a] + 1
      noise <- 0
      if (scale > 0) {
        tree[, , a] <- binary_noise(tree[, , a], rep(items[a], 27), scale)
        noise <- rowSums(tree[, , a])
      }
      seen <- sums[a, ] + noise
      A <- matrix(0, d, d); A[upper] <- seen[1:21]; A <- A + t(A) - diag(diag(A)) + diag(d)
      e <- eigen(A, TRUE); values <- pmax(e$values, 1)
      inverse[[a]] <- e$vectors %*% (t(e$vectors) / values)
      root[[a]] <- e$vectors %*% diag(1 / sqrt(values))
      theta[a, ] <- inverse[[a]] %*% seen[22:27]
    }
    clicks / kept
  }
  mine <- theirs <- list()
  for (epsilon in c(2.7, 1e5)) {
    rows <- as.data.frame(dpts_reproduce("mt-2", log = log, delay = c(0, 100), epsilon = epsilon, runs = 200, seed = 1,
                                         progress = FALSE))
    for (delay in c(0, 100)) for (name in levels(rows$policy)) {
      private <- grepl("private", name)
      if (!private && epsilon != 2.7) next
      label <- sprintf("%s%s, delay %s", name, if (private) sprintf(" (epsilon %s)", epsilon) else "", delay)
      mine[[label]] <- replicate(runs, replay(grepl("TS", name), if (private) epsilon else Inf, delay))
      theirs[[label]] <- rows$rate[rows$policy == name & rows$delay == delay]
    }
  }
  compare("mt-2", mine, theirs, "rate of rewards, 2,000 events", "%.4f")
}

# ---- The table -------------------------------------------------------------------------------------------------

# Agreement: of all figures of an experiment the one that is furthest off, in standard errors of the difference, is no
# further than 1 in 100 experiments of so many figures would have it (Bonferroni, normal).
compare <- function(id, mine, theirs, what, format = "%.1f") {
  theirs <- theirs[names(mine)]
  stat <- function(x) if (is.list(x)) c(x$mean, x$se) else c(mean(x), sd(x) / sqrt(length(x)))
  a <- vapply(mine, stat, c(0, 0)); b <- vapply(theirs, stat, c(0, 0))
  off <- a[1, ] - b[1, ]; se <- sqrt(a[2, ]^2 + b[2, ]^2)
  z <- ifelse(off == 0, 0, off / se)
  limit <- qnorm(1 - 0.005 / length(z))
  number <- function(x) sprintf(format, x)
  i <- which.max(abs(z))
  list(id = id, row = sprintf("| %s | %s | %d | %s | %s: %s (%s), dpts %s (%s): %.1f se | %.2f%% |", id, what, length(z),
                              if (all(abs(z) < limit)) "agrees" else "**differs**", names(mine)[i], number(a[1, i]),
                              number(a[2, i]), number(b[1, i]), number(b[2, i]), abs(z[i]), 100 * median(abs(off) / b[1, ])),
       detail = sprintf("| %s | %s | %s (%s) | %s (%s) | %+.1f |", id, names(mine), number(a[1, ]), number(a[2, ]),
                        number(b[1, ]), number(b[2, ]), z))
}

exact <- function(id, mine, theirs, what) {
  off <- abs(mine / theirs - 1)
  list(id = id, row = sprintf("| %s | %s | %d | %s | relative difference %.0e | %.2f%% |", id, what, length(mine),
                              if (all(off < 1e-8)) "agrees" else "**differs**", max(off), 100 * median(off)), detail = NULL)
}

scripts <- list(
  "ou-1" = ou_1,
  "ou-2" = function() ou_regret("ou-2", c(1, 5, 10), five, bernoulli(five)),
  "ou-3" = function() ou_regret("ou-3", c(1, 2, 5, 10), five, bernoulli(five)),
  "ou-4" = function() ou_regret("ou-4", c(1, 5, 10), truncated_mean, truncated),
  "ou-5" = function() ou_regret("ou-5", c(1, 2, 5, 10), truncated_mean, truncated),
  "ou-6" = function() ou_accountants("ou-6"), "ou-7" = function() ou_accountants("ou-7"), "ou-8" = ou_8,
  "hh-1" = function() hh("hh-1", 500), "hh-2" = function() hh("hh-2", 1), "hh-3" = function() hh("hh-3", 0.5),
  "hh-4" = function() hh("hh-4", 0.25), "hh-5" = function() hh("hh-5", 0.1), "mt-1" = mt_1, "mt-2" = mt_2
)

wanted <- commandArgs(TRUE)
if (!length(wanted)) wanted <- names(scripts)
found <- lapply(wanted, function(id) {
  set.seed(match(id, names(scripts)))
  time <- system.time(result <- scripts[[id]]())
  message(id, ": ", round(time[["user.self"]] + time[["sys.self"]]), " s of processor time")
  result
})
cat("# The experiments, by scripts from the papers' text\n\n",
    "`Rscript bench/experiments.R`: each experiment of `dpts_experiment()` in base R, without code of dpts, and by\n",
    "`dpts_reproduce()`. Figures are mean regrets at the last round, T, unless something else is said; in brackets are standard\n",
    "errors over runs. *Furthest off* is the figure with the largest difference in standard errors of the difference; an\n",
    "experiment agrees if that is less than 1 in 100 experiments with so many figures would show.\n\n",
    "| experiment | what | figures | | furthest off | median difference |\n| --- | --- | ---: | --- | --- | ---: |\n",
    paste0(vapply(found, `[[`, "", "row"), "\n"), sep = "")
cat("\n| experiment | policy | script | dpts | difference, se |\n| --- | --- | ---: | ---: | ---: |\n",
    paste0(unlist(lapply(found, `[[`, "detail")), "\n"), sep = "")
