# Policies whose next arm, given what was published, has a chance that can be computed: their
# counts of pulls and sums of rewards are all that it depends on. For these the privacy loss of a
# transcript is known, and at small horizons every transcript can be listed.

# The chance of each arm in the next round
#
# Returns `NULL` if it is not known, or a function of `n` and `sum`, matrices with one row per
#   history and one column per arm (pulls and sums of rewards), that gives a matrix of
#   log chances.
arm_chances <- function(policy) UseMethod("arm_chances")

#' @export
arm_chances.default <- function(policy) NULL

#' @export
arm_chances.dpts_policy_uniform <- function(policy) {
  function(n, sum) matrix(-log(ncol(n)), nrow(n), ncol(n))
}

# Independent draws N(S_i / (n_i + 1), c / (n_i + 1)); the largest wins.
#' @export
arm_chances.dpts_policy_ts_gaussian <- function(policy) {
  # What the filter has been paid depends on the order of the pulls.
  if (policy$params$filter < Inf) return(NULL)
  prepulls <- policy$params$prepulls
  scale <- policy$params$variance_scale
  function(n, sum) {
    out <- matrix(-Inf, nrow(n), ncol(n))
    first <- max.col(n < prepulls, ties.method = "first")
    open <- rowSums(n < prepulls) == 0
    out[cbind(seq_along(first), first)[!open, , drop = FALSE]] <- 0
    if (any(open)) {
      mean <- (sum / (n + 1))[open, , drop = FALSE]
      sd <- sqrt(scale / (n + 1))[open, , drop = FALSE]
      out[open, ] <- largest_normal(mean, sd)
    }
    out
  }
}

# Independent draws from Beta(prior[1] + S_i, prior[2] + n_i - S_i): rewards of 0 and 1 alone,
# since the toss of a coin for another one is not published
#' @export
arm_chances.dpts_policy_ts_beta <- function(policy) {
  prior <- c(policy$params$prior_1, policy$params$prior_2)
  function(n, sum) largest_beta(prior[1] + sum, prior[2] + n - sum)
}

# Log chances that each of independent normal draws is the largest; one row per set of draws
largest_normal <- function(mean, sd) {
  if (ncol(mean) == 2) {
    x <- (mean[, 1] - mean[, 2]) / sqrt(sd[, 1]^2 + sd[, 2]^2)
    return(cbind(stats::pnorm(x, log.p = TRUE), stats::pnorm(-x, log.p = TRUE)))
  }
  by_distinct_rows(mean, sd, function(mean, sd) {
    vapply(seq_len(ncol(mean)), function(i) {
      # Over the draw z of arm i, in its own standard deviations. The trapezoid rule converges
      # as exp(-2 pi^2 / (h^2 (1 + sum sd_i^2 / sd_j^2))).
      h <- 0.5 / sqrt(max(rowSums((sd[, i] / sd)^2)))
      ahead <- pmax(0, apply(mean - mean[, i], 1, max) / sd[, i])
      z <- seq(-9, 9 + max(ahead), by = h)
      log_density <- matrix(stats::dnorm(z, log = TRUE), nrow(mean), length(z), byrow = TRUE)
      draw <- mean[, i] + outer(sd[, i], z)
      for (j in seq_len(ncol(mean))[-i]) {
        log_density <- log_density + stats::pnorm((draw - mean[, j]) / sd[, j], log.p = TRUE)
      }
      log_row_sums(log_density) + log(h)
    }, numeric(nrow(mean)))
  })
}

# The same for independent Beta draws, by the trapezoid rule on the logistic scale
largest_beta <- function(a, b) {
  z <- seq(-45, 45, by = 0.05)
  lower <- stats::plogis(z)
  upper <- stats::plogis(-z)
  by_distinct_rows(a, b, function(a, b) {
    one <- function(row) {
      # log F_j, from whichever tail is exact
      below <- vapply(seq_along(row$a), function(j) {
        stats::pbeta(upper, row$b[j], row$a[j], lower.tail = FALSE, log.p = TRUE)
      }, z)
      vapply(seq_along(row$a), function(i) {
        density <- row$a[i] * log(lower) + row$b[i] * log(upper) - lbeta(row$a[i], row$b[i])
        log_row_sums(t(density + rowSums(below[, -i, drop = FALSE]))) + log(0.05)
      }, 0)
    }
    t(vapply(seq_len(nrow(a)), function(r) one(list(a = a[r, ], b = b[r, ])), numeric(ncol(a))))
  })
}

log_row_sums <- function(x) {
  top <- x[cbind(seq_len(nrow(x)), max.col(x, ties.method = "first"))]
  top + log(rowSums(exp(x - top)))
}

# f(x, y), which works row by row, for the distinct rows alone
by_distinct_rows <- function(x, y, f) {
  key <- drop(x %*% sqrt(seq_len(ncol(x)) + 1)) + drop(y %*% sqrt(seq_len(ncol(y)) + 0.7))
  first <- which(!duplicated(key))
  out <- f(x[first, , drop = FALSE], y[first, , drop = FALSE])
  matrix(out, length(first))[match(key, key[first]), , drop = FALSE]
}

# ---- the loss of transcripts --------------------------------------------------------------

# log P_x / P_y of the transcripts in `arms`, one column per run
transcript_loss <- function(chances, pair, arms) {
  runs <- ncol(arms)
  n <- matrix(0, runs, ncol(pair$x))
  x <- y <- n
  loss <- numeric(runs)
  changed <- changed_round(pair)
  for (t in seq_len(nrow(arms))) {
    at <- cbind(seq_len(runs), arms[t, ])
    # Before that round the streams are one.
    if (t > changed) loss <- loss + chances(n, x)[at] - chances(n, y)[at]
    n[at] <- n[at] + 1
    x[at] <- x[at] + pair$x[t, arms[t, ]]
    y[at] <- y[at] + pair$y[t, arms[t, ]]
  }
  loss
}

# Every transcript that has a chance under either stream: its log chances
list_transcripts <- function(chances, pair) {
  k <- ncol(pair$x)
  n <- matrix(0, 1, k)
  now <- list(n = n, x = n, y = n, log_x = 0, log_y = 0)
  for (t in seq_len(nrow(pair$x))) {
    by_x <- chances(now$n, now$x)
    by_y <- chances(now$n, now$y)
    parts <- lapply(seq_len(k), function(arm) {
      keep <- by_x[, arm] > -Inf | by_y[, arm] > -Inf
      part <- list(n = now$n[keep, , drop = FALSE], x = now$x[keep, , drop = FALSE],
                   y = now$y[keep, , drop = FALSE], log_x = now$log_x[keep] + by_x[keep, arm],
                   log_y = now$log_y[keep] + by_y[keep, arm])
      part$n[, arm] <- part$n[, arm] + 1
      part$x[, arm] <- part$x[, arm] + pair$x[t, arm]
      part$y[, arm] <- part$y[, arm] + pair$y[t, arm]
      part
    })
    now <- lapply(stats::setNames(nm = names(now)), function(what) {
      pieces <- lapply(parts, `[[`, what)
      if (is.matrix(pieces[[1]])) do.call(rbind, pieces) else unlist(pieces)
    })
  }
  now[c("log_x", "log_y")]
}

# On the same rewards it always plays the same arms.
is_deterministic <- function(policy) {
  flip_of(policy) == 0 && !is_true_of(policy, "tosses") && !is_true_of(policy, "releases")
}

# Of a policy that tosses no coin: one transcript on each stream
certain_transcripts <- function(policy, pair) {
  arms <- lapply(pair[c("x", "y")], play_stream, policy = policy, runs = 1, seed = 1, visits = pair$visits)
  if (identical(arms$x, arms$y)) return(list(log_x = 0, log_y = 0))
  list(log_x = c(0, -Inf), log_y = c(-Inf, 0))
}

# The least epsilon for which both directions hold at each delta
transcripts_epsilon <- function(log_x, log_y, delta) {
  one_way <- function(log_p, log_q) {
    never <- log_q == -Inf
    here <- !never & log_p > -Inf
    pair <- keep_or_join(new_pair(loss = (log_p - log_q)[here], p = exp(log_p[here]),
                                  infinite = sum(exp(log_p[never]))))
    if (length(pair$loss) == 0) return(ifelse(delta < pair$infinite, Inf, 0))
    vapply(delta, atoms_epsilon, 0, pair = pair)
  }
  pmax(one_way(log_x, log_y), one_way(log_y, log_x))
}

audit_exact <- function(policy, pairs, delta, checkpoint = NULL, progress = FALSE, visits = NULL) {
  job <- audit_job(policy, pairs, 1, 1, c("lower", "transcripts"), visits, delta = list(delta))
  found <- join_chunks(job, play_job(job, exact_chunk, checkpoint, progress))
  worst_candidates(pairs, lapply(found, function(one) {
    list(lower = one$lower[, 1], runs = one$transcripts[1])
  }))
}

exact_chunk <- function(job, chunk, tick) {
  policy <- job$policies$policy
  pair <- job$problems[[chunk$problem]]
  all <- if (is_deterministic(policy)) certain_transcripts(policy, pair) else
    list_transcripts(arm_chances(policy), pair)
  tick(1)
  list(lower = cbind(transcripts_epsilon(all$log_x, all$log_y, pair$delta)),
       transcripts = cbind(length(all$log_x) + 0))
}

# Can method "exact" list the transcripts of a policy on these streams?
check_exact <- function(policy, pairs, horizon, k, visits = NULL) {
  stop_exact <- function(why) {
    abort_input("method", "`method` \"exact\" does not apply to %s: %s. Use \"sampling\".",
                format(policy, digits = 5), why, class = "dpts_error_method")
  }
  if (is_deterministic(policy)) return(invisible())
  if (!all_count(visits)) stop_exact("transcripts are not listed where not all visits count")
  if (inherits(policy, "dpts_policy_wrapped")) {
    stop_exact(if (flip_of(policy) == 0)
      "the probabilities of its next arm depend on its last restart, and are not computed" else
      "it does not publish its bits: all their values would have to be listed")
  }
  if (is.null(arm_chances(policy))) {
    stop_exact(paste("the probability of its next arm is not computed; it is for Gaussian and Beta",
                     "Thompson sampling, uniform choice and policies that do not randomise"))
  }
  if (is_true_of(policy, "tosses_coins") && !only_bits(pairs)) {
    stop_exact("it randomises rewards other than 0 and 1, and does not publish the results")
  }
  # The rounds in which every arm has a chance
  open <- horizon - k * policy$rounds_per_arm
  most <- floor(log(MAX_TRANSCRIPTS) / log(k))
  if (open > most) {
    abort_input("horizon", paste("`horizon` must be at most %s for method \"exact\", so that there are no",
                                 "more than %s transcripts. Use \"sampling\"."),
                number_text(horizon - open + most),
                label_count(MAX_TRANSCRIPTS), class = "dpts_error_horizon")
  }
}

MAX_TRANSCRIPTS <- 2^18

only_bits <- function(pair) all(unlist(pair) %in% c(0, 1))
