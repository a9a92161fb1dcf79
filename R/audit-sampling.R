# An audit by sampling: many runs on each of two neighbouring streams. Half of the runs choose an
# event, the other half measures how often it happens, with Clopper-Pearson limits. The event
# is of the form "the score of the transcript is at least c". Whatever the score, the bound holds:
# a poor score finds less.

# Lower bounds on epsilon at each delta, each with an error of `risk`
audit_pair <- function(policy, pair, runs, seed, first, risk, delta, tick = function(n) NULL) {
  scores <- score_runs(policy, pair, runs, seed, first, tick)
  half <- split_runs(runs)
  vapply(delta, function(delta) {
    at <- function(side, part) lapply(scores, function(s) s[[side]][half[[part]]])
    event <- choose_event(at("x", "choose"), at("y", "choose"), delta, risk)
    measure_event(event, at("x", "measure"), at("y", "measure"), delta, risk)
  }, 0)
}

# The first quarter fits scores, the second chooses the event, the others measure it.
split_runs <- function(runs) {
  fit <- seq_len(floor(runs / 4))
  choose <- length(fit) + seq_len(floor(runs / 4))
  list(fit = fit, choose = choose, measure = seq_len(runs)[-c(fit, choose)])
}

# How many runs did the event happen in, at most and at least? One-sided limits of Clopper and
# Pearson (1934), each wrong with a chance of at most `risk`.
share_lower <- function(hits, runs, risk) {
  ifelse(hits == 0, 0, stats::qbeta(risk, hits, runs - hits + 1))
}

share_upper <- function(hits, runs, risk) {
  ifelse(hits == runs, 1, stats::qbeta(risk, hits + 1, runs - hits, lower.tail = FALSE))
}

# P(event) <= exp(epsilon) Q(event) + delta
event_epsilon <- function(p, q, delta) pmax(0, log(pmax(p - delta, 0) / q))

# The score, direction and threshold that would tell most
choose_event <- function(x, y, delta, risk) {
  best <- list(epsilon = -Inf)
  for (score in names(x)) {
    for (sign in c(1, -1)) {
      p <- sign * (if (sign == 1) x else y)[[score]]
      q <- sign * (if (sign == 1) y else x)[[score]]
      cuts <- some_cuts(c(p, q))
      hits <- function(s) length(s) - findInterval(cuts, sort(s), left.open = TRUE)
      epsilon <- event_epsilon(share_lower(hits(p), length(p), risk),
                               share_upper(hits(q), length(q), risk), delta)
      at <- which.max(epsilon)
      if (epsilon[at] > best$epsilon) {
        best <- list(epsilon = epsilon[at], score = score, sign = sign, cut = cuts[at])
      }
    }
  }
  best
}

# At most 400 thresholds, denser in the tails, where small deltas look
some_cuts <- function(score) {
  values <- sort(unique(score))
  if (length(values) <= 400) return(values)
  share <- stats::plogis(seq(-9, 9, length.out = 400))
  unique(values[1 + floor(share * (length(values) - 1))])
}

measure_event <- function(event, x, y, delta, risk) {
  p <- (if (event$sign == 1) x else y)[[event$score]]
  q <- (if (event$sign == 1) y else x)[[event$score]]
  happens <- function(s) sum(event$sign * s >= event$cut)
  event_epsilon(share_lower(happens(p), length(p), risk),
                share_upper(happens(q), length(q), risk), delta)
}

# ---- scores -------------------------------------------------------------------------------

# Scores of all runs on both streams: a list of list(x, y), large where x is likely
score_runs <- function(policy, pair, runs, seed, first, tick = function(n) NULL) {
  starts <- c(x = first, y = first + runs)
  chances <- arm_chances(policy)
  # Two arms have a closed form; more are worth an integral a history for short streams only.
  if (!is.null(chances) && !is_true_of(policy, "tosses_coins") &&
      (ncol(pair$x) == 2 || nrow(pair$x) <= 50)) {
    loss <- lapply(stats::setNames(nm = names(starts)), function(side) {
      unlist(read_runs(policy, pair[[side]], starts[[side]], runs, seed,
                       function(arms) transcript_loss(chances, pair, arms), tick))
    })
    return(list(loss = loss))
  }
  fit <- split_runs(runs)$fit
  changed <- changed_round(pair)
  windows <- window_rounds(nrow(pair$x), ncol(pair$x), changed, length(fit))
  seen <- lapply(stats::setNames(nm = names(starts)), function(side) {
    parts <- read_runs(policy, pair[[side]], starts[[side]], runs, seed, function(arms) {
      list(features = run_features(arms, changed, ncol(pair$x)),
           codes = lapply(windows, function(rounds) window_codes(arms, rounds, ncol(pair$x))))
    }, tick)
    list(features = do.call(rbind, lapply(parts, `[[`, "features")),
         codes = lapply(seq_along(windows), function(i) {
           unlist(lapply(parts, function(part) part$codes[[i]]))
         }))
  })
  c(list(logistic = score_logistic(seen$x$features, seen$y$features, fit)),
    stats::setNames(lapply(seq_along(windows), function(i) {
      score_codes(seen$x$codes[[i]], seen$y$codes[[i]], fit)
    }), sprintf("window_%d", seq_along(windows))))
}

# Windows of rounds whose arms are read as one word: the first rounds after the change, the
# last, and a geometric progression, with no more words than runs can tell apart
window_rounds <- function(horizon, k, changed, runs) {
  size <- max(1, floor(log(runs / 20) / log(k)) - 1)
  after <- changed + seq_len(horizon - changed)
  if (length(after) <= size) return(list(c(changed, after)))
  spread <- unique(round(exp(seq(0, log(length(after)), length.out = size))))
  few <- max(1, floor(size / 2))
  lapply(list(utils::head(after, size), utils::tail(after, size), after[spread],
              utils::head(after, few), utils::tail(after, few)),
         function(rounds) c(changed, rounds))
}

window_codes <- function(arms, rounds, k) {
  drop(crossprod(arms[rounds, , drop = FALSE] - 1, k^(seq_along(rounds) - 1)))
}

# Naive counts: the log ratio of how often a word was seen on either stream
score_codes <- function(x, y, fit) {
  words <- unique(c(x[fit], y[fit]))
  count <- function(s) tabulate(match(s[fit], words), length(words)) + 0.5
  ratio <- log(count(x) / count(y))
  score <- function(s) {
    value <- ratio[match(s, words)]
    ifelse(is.na(value), 0, value)
  }
  list(x = score(x), y = score(y))
}

# What a classifier sees of each run: the private arm is the one pulled in the round where the
# streams differ; its pulls in blocks of rounds that grow, when it was pulled next, how often
# the arm changed, and the pulls of the others
run_features <- function(arms, changed, k) {
  private <- arms[changed, ]
  after <- arms[changed + seq_len(nrow(arms) - changed), , drop = FALSE]
  rounds <- nrow(after)
  if (rounds == 0) return(matrix(0, ncol(arms), 1))
  own <- after == rep(private, each = rounds)
  storage.mode(own) <- "double"
  ends <- unique(pmin(rounds, c(1:8, round(8 * 1.5^(1:60)))))
  blocks <- t(rowsum(own, findInterval(seq_len(rounds), c(1, ends[-length(ends)] + 1))))
  pulls <- rowSums(blocks)
  waits <- next_pulls(own, 3)
  others <- vapply(seq_len(k), function(arm) colSums(after == arm), numeric(ncol(arms)))
  others <- matrix(others, ncol(arms))[, -k, drop = FALSE]
  switches <- if (rounds > 1) colSums(after[-1, , drop = FALSE] != after[-rounds, , drop = FALSE])
  out <- cbind(blocks, log1p(pulls), pulls == 0, log(waits), others, switches)
  # A private arm that is not always the same: what the pulls say depends on it.
  usual <- which.max(tabulate(private, k))
  if (all(private == usual)) out else cbind(out, out * (private == 1), private == 1)
}

# After how many rounds the private arm had its first, second, ... pull; one more than there
# are rounds if it never had
next_pulls <- function(own, count) {
  rounds <- nrow(own)
  out <- matrix(rounds + 1, ncol(own), count)
  pulls <- numeric(ncol(own))
  for (t in seq_len(rounds)) {
    hit <- which(own[t, ] > 0)
    pulls[hit] <- pulls[hit] + 1
    hit <- hit[pulls[hit] <= count]
    out[cbind(hit, pulls[hit])] <- t
  }
  out
}

# Logistic regression of the stream on the features
score_logistic <- function(x, y, fit) {
  # Some 20,000 runs fit these few coefficients well enough.
  fit <- utils::head(fit, 1e4)
  rows <- rbind(x[fit, , drop = FALSE], y[fit, , drop = FALSE])
  centre <- colMeans(rows)
  spread <- apply(rows, 2, stats::sd)
  keep <- spread > 0
  if (!any(keep)) return(list(x = numeric(nrow(x)), y = numeric(nrow(y))))
  design <- function(m) {
    cbind(1, scale(m[, keep, drop = FALSE], centre[keep], spread[keep]))
  }
  # Streams that are told apart without fail have no finite coefficients; any will do.
  model <- suppressWarnings(stats::glm.fit(
    design(rows), rep(1:0, each = length(fit)), family = stats::binomial(),
    control = list(maxit = 12)
  ))
  coefficients <- ifelse(is.finite(model$coefficients), model$coefficients, 0)
  score <- function(m) drop(design(m) %*% coefficients)
  list(x = score(x), y = score(y))
}

# ---- the searching adversary ----------------------------------------------------------------

# The candidate of which a pilot finds most, by runs of its own
search_pair <- function(policy, candidates, runs, seed, first, delta, tick) {
  pilot <- pilot_runs(runs)
  found <- vapply(seq_along(candidates), function(i) {
    max(audit_pair(policy, candidates[[i]], pilot, seed, first + 2 * pilot * (i - 1), 0.05, delta, tick))
  }, 0)
  candidates[[which.max(found)]]
}

pilot_runs <- function(runs) max(100, floor(runs / 20))

# How many runs an audit plays, those of pilots included
audit_work <- function(pairs, runs) {
  2 * sum(vapply(pairs, function(pair) runs + length(pair$candidates) * pilot_runs(runs), 0))
}

# `bar` is moved by the runs that are played.
audit_sampling <- function(policy, pairs, runs, seed, risk, delta, bar = function(done) NULL) {
  done <- 0
  tick <- function(n) bar(done <<- done + n)
  # Every adversary has run numbers of its own, the pilot those after all others.
  after <- 1 + 2 * runs * length(pairs)
  Map(function(pair, i) {
    if (!is.null(pair$candidates)) {
      pair <- search_pair(policy, pair$candidates, runs, seed, after, delta, tick)
    }
    list(lower = audit_pair(policy, pair, runs, seed, 1 + 2 * runs * (i - 1), risk, delta, tick),
         runs = runs, pair = pair)
  }, pairs, seq_along(pairs))
}
