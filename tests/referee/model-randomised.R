# policy_randomised() by its help page, person by person. A run's history and its released sums decide everything: the blocks,
# when each is released, and the chances of every toss.

random_blocks <- function() {
  one_of(NULL, whole(5, 60), sample(5:40, whole(2, 6), TRUE), stats::runif(1, 1.05, 3.9))
}

randomised_setting <- function() {
  k <- one_of(2, 2, 3, whole(2, 12))
  control <- if (flip(0.3)) whole(1, k)
  floor <- one_of(0, 0.1, stats::runif(1), 1) / k
  if (!is.null(control) && flip()) floor <- c(floor, floor + stats::runif(1) * max(0, 1 - k * floor))
  horizon <- whole(30, 1200)
  list(
    k = k, rule = one_of("equal", "thompson", "top_two", "neyman"), block = random_blocks(), floor = floor,
    control = control, burn_in = whole(0, 3), permuted = flip(0.3), horizon = horizon,
    late = one_of(0, 0, whole(1, 40), c(0, 3, 50), c(0, 50, 2 * horizon)),
    batch = one_of(1, 1, whole(2, 80)), means = stats::runif(k, 0.1, 0.9),
    rewards = one_of("bernoulli", "beta", "coarse"), seed = whole(1, 1e6),
    budget = one_of(list(), list(mu = between(0.05, 50)), list(epsilon = between(0.05, 50))),
    outcome = one_of("binary", "binary", "continuous")
  )
}

# The size of the next block, after `people` in the `blocks` blocks before it
block_size <- function(s, blocks, people, known) {
  block <- s$block
  if (is.null(block)) {
    n <- sum(known$n)
    least <- if (s$outcome == "continuous") {
      x <- ifelse(known$n > 0, known$sum / pmax(1, known$n), 0.5)
      s2 <- noise_variance(s$budget)
      v <- if (n > 0) max(sum(known$squares - known$n * (x - 0.5)^2), sqrt(s2 * known$sums)) / n else 0.04
      ceiling(min(s$k * sqrt(500 * s2 / v), 2 * max(people, 500 * s$k)))
    }
    each <- if (!is.null(s$budget$mu)) 200 / s$budget$mu^2 else if (!is.null(s$budget$epsilon)) 400 / s$budget$epsilon^2 else 0
    return(max(200, min(ceiling((1.3 - 1) * people), ceiling(s$k * each)), if (!identical(least, NaN)) least))
  }
  if (length(block) == 1 && block < 5) return(if (people < 200) 200 else max(200, ceiling((block - 1) * people)))
  block[min(blocks + 1, length(block))]
}

# The chance that each of several normal variables is the largest
chance_best <- function(mean, sd) {
  vapply(seq_along(mean), function(a) {
    f <- function(u) {
      z <- mean[a] + sd[a] * u
      log_p <- stats::dnorm(u, log = TRUE)
      for (b in seq_along(mean)[-a]) log_p <- log_p + stats::pnorm((z - mean[b]) / sd[b], log.p = TRUE)
      exp(log_p)
    }
    stats::integrate(f, -9, 9, rel.tol = 1e-9, subdivisions = 1000L, stop.on.error = FALSE)$value
  }, 0)
}

# Chances of a block, from the released sums and numbers of people. NA: the page does not say.
block_chances <- function(s, equal, n, sum, noise) {
  k <- s$k
  floor <- pmax(s$floor, 1e-6)
  floors <- rep(floor[1], k)
  if (!is.null(s$control)) floors[s$control] <- if (length(floor) == 2) floor[2] else 1 / k
  if (equal || s$rule == "equal") {
    # With a control that has a larger floor than 1 / k the others share the rest.
    own <- if (is.null(s$control)) 0 else floors[s$control]
    return(if (own <= 1 / k) rep(1 / k, k) else replace(rep((1 - own) / (k - 1), k), s$control, own))
  }
  if (any(n == 0) || s$outcome == "continuous") return(rep(NA, k))
  x <- sum / n
  y <- (sum + 1) / (n + 2)
  v <- pmax(0.01, y * (1 - y)) / n + noise / n^2
  raw <- switch(s$rule,
    thompson = chance_best(x, sqrt(v)),
    neyman = pmax(0.1, sqrt(pmax(0, x * (1 - x)))) / base::sum(pmax(0.1, sqrt(pmax(0, x * (1 - x))))),
    top_two = {
      a <- which.max(x)
      q <- (x[a] - x)^2 / (2 * (v[a] + v)) + 2 * log(n)
      q[a] <- Inf
      c <- which.min(q)
      tied <- base::sum(x > x[a] - 1e-12) > 1 || base::sum(q < q[c] + 1e-9) > 1
      if (tied) rep(NA, k) else replace(replace(numeric(k), a, v[a] / (v[a] + v[c])), c, v[c] / (v[a] + v[c]))
    }
  )
  floors + (1 - base::sum(floors)) * raw
}

randomised_policy <- function(s) {
  policy_randomised(mu = s$budget$mu, epsilon = s$budget$epsilon, outcome = s$outcome, rule = s$rule, block = s$block, floor = s$floor, control = s$control, burn_in = s$burn_in,
                    permuted = s$permuted)
}

# What the page says of a history, person by person. `learned`: the round after which each reward is known; `released`: the
# noisy sums, and `squared` those of squares, a row for each block.
# -> the block of each person (0: none), the chances of blocks and of those in none, the rounds after which blocks are
# released, and what is released by the end
referee_blocks <- function(s, arm, learned, released, squared) {
  k <- s$k
  horizon <- length(arm)
  n <- sum <- noise <- squares <- numeric(k)
  sums <- 0
  variance <- noise_variance(s$budget)
  of <- numeric(horizon)
  planned <- people <- missing <- numeric()    # of each block: its size, how many are in it, how many rewards are out
  chances <- list()
  alone <- list()
  times <- numeric()
  equal <- TRUE
  arrivals <- split(seq_along(learned), factor(learned, seq_len(horizon)))
  now <- 0
  for (t in seq_len(horizon)) {
    if (now == 0 || people[now] == planned[now]) { # chances are made when a block's first person comes, of what was released until then
      now_chances <- block_chances(s, equal, n, sum, noise)
      if (now - length(times) < MOST_WAITING) {
        now <- now + 1
        planned[now] <- block_size(s, now - 1, base::sum(planned), list(n = n, sum = sum, squares = squares, sums = sums))
        people[now] <- missing[now] <- 0
        chances[[now]] <- now_chances
        of[t] <- now
      } else {
        alone[[as.character(t)]] <- now_chances # tossed, and in no block
      }
    } else {
      of[t] <- now
    }
    people[of[t]] <- people[of[t]] + 1
    missing[of[t]] <- missing[of[t]] + 1
    for (r in arrivals[[t]]) {
      missing[of[r]] <- missing[of[r]] - 1
      first <- length(times) + 1
      # at most one with each reward that comes
      if (first <= now && people[first] == planned[first] && missing[first] == 0) {
        times[first] <- t
        n <- n + tabulate(arm[which(of == first)], k)
        here <- if (first <= nrow(released)) released[first, ] else rep(NA, k)
        sum <- sum + ifelse(is.na(here), 0, here)
        noise <- noise + ifelse(is.na(here), 0, variance)
        sums <- sums + base::sum(!is.na(here))
        if (first <= nrow(squared)) squares <- squares + ifelse(is.na(squared[first, ]), 0, squared[first, ])
        equal <- now < s$burn_in
      }
    }
  }
  list(of = of, chances = chances, alone = alone, planned = planned, times = times, n = n, sum = sum)
}

noise_variance <- function(budget) {
  if (!is.null(budget$mu)) 1 / budget$mu^2 else if (!is.null(budget$epsilon)) 2 / budget$epsilon^2 else 0
}

MOST_WAITING <- 16

# -> complaints about the chances of a history
check_blocks <- function(s, want, arm, probability) {
  out <- character()
  tolerance <- if (s$rule == "thompson") 3e-3 else 2e-5 # of the package's quadrature
  for (b in seq_along(want$chances)) {
    who <- which(want$of == b)
    chances <- want$chances[[b]]
    what <- sprintf("chance in block %d (rounds %d to %d%s)", b, who[1], max(who),"")
    out <- c(out, if (s$permuted) permuted_block(arm[who], probability[who], chances, want$planned[b]) else
      differs(what, probability[who], chances[arm[who]], tolerance))
  }
  who <- as.integer(names(want$alone))
  c(out, differs("chance of those in no block", probability[who], vapply(who, function(t) want$alone[[as.character(t)]][arm[t]], 0), tolerance))
}

# Permuted: the numbers of a full block are its chances times its size, rounded; the next toss is uniform over who is left.
permuted_block <- function(arm, probability, chances, size) {
  if (length(arm) < size) return(character())
  k <- length(chances)
  count <- tabulate(arm, k)
  left <- t(vapply(seq_along(arm), function(i) count - tabulate(arm[seq_len(i - 1)], k), numeric(k)))
  want <- left[cbind(seq_along(arm), arm)] / (size - seq_along(arm) + 1)
  off <- which(abs(count - chances * size) >= 1 + 1e-6)
  c(if (length(off)) sprintf("a permuted block of %d has %d of arm %d, whose chance is %.4f", size, count[off[1]], off[1], chances[off[1]]),
    differs("chance in a permuted block", probability, want, 1e-9))
}

referee_arms <- function(s) {
  switch(s$rewards, bernoulli = arms_bernoulli(s$means), beta = arms_beta(4 * s$means, 4 * (1 - s$means)),
         coarse = arms_discrete(c(0, 0.5, 1), cbind((1 - s$means)^2, 2 * s$means * (1 - s$means), s$means^2)))
}

referee_model("randomised", randomised_setting, function(s) {
  # Rewards come late by a fixed number of rounds, or by one of several, of which the longest is rare.
  delays <- s$late[sample.int(length(s$late), s$horizon, TRUE, c(100, 50, 1)[seq_along(s$late)])]
  sim <- dpts_simulate(referee_arms(s), randomised_policy(s), s$horizon, runs = I(1), seed = s$seed, history = TRUE,
                       delay = function(n) delays, batch = s$batch)
  h <- dpts_history(sim)
  arm <- as.integer(h$arm)
  table <- dpts_releases(sim)
  if (!is.null(table$event)) table <- table[is.na(table$event), ]
  released <- matrix(NA, max(0, table$block), s$k) # an arm of chance 0 has no row
  squared <- released
  released[cbind(table$block, as.integer(table$arm))] <- table$sum
  squared[cbind(table$block, as.integer(table$arm))] <- table$squares
  group <- min(s$batch, s$horizon)
  learned <- ceiling((seq_len(s$horizon) + delays) / group) * group
  want <- referee_blocks(s, arm, learned, released, squared)
  out <- check_blocks(s, want, arm, h$probability)
  if (length(out)) return(out)

  # The table of releases: which blocks, when, and the noise in each sum
  n <- vapply(1:s$k, function(a) vapply(seq_along(want$times), function(b) sum(want$of == b & arm == a), 0), numeric(length(want$times)))
  n <- matrix(n, ncol = s$k)
  chances <- matrix(as.numeric(unlist(want$chances[seq_along(want$times)])), ncol = s$k, byrow = TRUE)
  # Arm and block of each row, in the order of the table: a row for an arm that had a chance
  there <- rbind(!is.na(released), matrix(FALSE, nrow(n), s$k))[seq_len(nrow(n)), , drop = FALSE]
  on <- which(t(n > 0 | chances %in% chances[chances > 1e-9 & !is.na(chances)] | there & (is.na(chances) | chances > 0)), TRUE)
  out <- c(unlike("rounds of releases", table$t, want$times[on[, 2]]), unlike("arms of releases", as.integer(table$arm), on[, 1]))
  if (length(out)) return(out)
  cell <- function(f) vapply(seq_len(nrow(on)), function(i) f(which(want$of == on[i, 2] & arm == on[i, 1])), 0)
  kind <- c("none", names(s$budget))[1 + length(s$budget)]
  scale <- if (kind == "none") 0 else 1 / s$budget[[1]]
  out <- c(differs("n of releases", table$n, cell(length)),
           differs("chance of releases", table$chance, chances[on[, 2:1]], 3e-3),
           unlike("law of noise", unique(table$noise), if (nrow(table)) c(none = "none", mu = "gaussian", epsilon = "laplace")[[kind]] else character()),
           differs("scale of noise", table$scale, rep(scale, nrow(table))),
           check_noise("sums", kind, (table$sum - cell(function(who) sum(h$reward[who]))) / scale, table$sum, cell(function(who) sum(h$reward[who]))))
  if (s$outcome == "continuous") {
    squares <- cell(function(who) sum((h$reward[who] - 0.5)^2))
    own <- if (kind == "mu") scale / 2 else scale
    out <- c(out, if (anyNA(table$squares)) "squares: NA" else check_noise("squares", kind, (table$squares - squares) / own, table$squares, squares))
  }

  # What reads the table
  est <- estimates(sim)
  mean <- if (kind == "none") want$sum / want$n else pmin(1, pmax(0, want$sum / want$n))
  e <- evidence(sim, "tosses")
  out <- c(out, differs("rewards in released sums", est$rewards, ifelse(want$n > 0, want$n, NA)),
           differs("released means", est$mean, ifelse(want$n > 0, mean, NA)),
           unlike("looks of evidence, one for each block", e$t[e$arm == 1 & e$rival == 2], want$times))
  if (all(learned <= s$horizon)) {
    end <- dpts_simulate(referee_arms(s), randomised_policy(s), s$horizon, runs = I(1), seed = s$seed, history = TRUE,
                         delay = function(n) delays, batch = s$batch, finish = TRUE)
    inside <- tabulate(arm[want$of > 0], s$k)
    out <- c(out, differs("rewards in sums after finish", estimates(end)$rewards, ifelse(inside > 0, inside, NA)))
  }
  out
})

# Is the noise of the law that is promised? By the shares of large and of small values.
check_noise <- function(what, kind, z, got, want) {
  if (kind == "none") return(differs(what, got, want))
  if (kind == "mu") {
    c(count_errors("large Gaussian noise", sum(abs(z) > 2), length(z), 2 * stats::pnorm(-2)),
      count_errors("small Gaussian noise", sum(abs(z) < 0.2), length(z), 2 * stats::pnorm(0.2) - 1),
      count_errors("positive Gaussian noise", sum(z > 0), length(z), 0.5))
  } else {
    c(count_errors("large Laplace noise", sum(abs(z) > 3), length(z), exp(-3)),
      count_errors("small Laplace noise", sum(abs(z) < 0.2), length(z), 1 - exp(-0.2)),
      count_errors("positive Laplace noise", sum(z > 0), length(z), 0.5))
  }
}
