# An audit by sampling: many runs on each of two neighbouring streams. Half of the runs choose an event, the
# other half measures how often it happens, with Clopper-Pearson limits. The event is of the form "the score
# of the transcript is at least c". The bound is valid for every score; a poor score gives a smaller bound.

# Lower bounds on epsilon at each delta, each with an error of `risk`
# `pairs`: The pairs of streams, candidates of the searching adversary chosen by a pilot.
audit_sampling <- function(policy, pairs, runs, seed, risk, delta, threads = 1, checkpoint = NULL,
                           progress = FALSE, visits = NULL) {
  one <- if (is.null(pairs[[1]]$candidates)) pairs[[1]] else pairs[[1]]$candidates[[1]]
  read <- stream_reader(policy, one, runs, visits)
  check_memory(16 * runs * nrow(read(matrix(1, nrow(one$x), 1))), "runs",
               "leave transcripts that fit into memory: these")
  # Every adversary has run numbers of its own, the pilot those after all others.
  pairs <- lapply(pairs, search_pair, policy = policy, runs = runs, seed = seed,
                  first = 1 + 2 * runs * length(pairs), delta = delta, threads = threads, progress = progress,
                  visits = visits)
  lower <- sample_pairs(policy, pairs, runs, seed, 1, risk, delta, threads, checkpoint, progress, visits)
  Map(function(pair, lower) list(lower = lower, runs = runs, pair = pair), pairs, lower)
}

# The candidate of which a pilot finds most, by runs of its own
search_pair <- function(pair, policy, runs, seed, first, delta, threads, progress, visits = NULL) {
  if (is.null(pair$candidates)) return(pair)
  pilot <- max(100, floor(runs / 20))
  found <- sample_pairs(policy, pair$candidates, pilot, seed, first, 0.05, delta, threads, NULL, progress,
                        visits, "Searching")
  pair$candidates[[which.max(vapply(found, max, 0))]]
}

# What is found on each of some pairs, one after the other: only one pair's runs are in memory
sample_pairs <- function(policy, pairs, runs, seed, first, risk, delta, threads, checkpoint, progress,
                         visits, name = "Auditing") {
  all <- audit_job(policy, pairs, runs, seed, c("x", "y"), visits,
                   first = first + 2 * runs * (seq_along(pairs) - 1), name = name)
  all$threads <- threads
  checkpoint <- checkpoint_open(checkpoint, all)
  half <- split_runs(runs)
  lapply(seq_along(pairs), function(i) {
    job <- utils::modifyList(all, list(name = sprintf("%s %d of %d", name, i, length(pairs))))
    job$problems <- all$problems[i]
    seen <- join_chunks(job, play_job(job, sampling_chunk, checkpoint, progress))[[1]]
    scores <- if (nrow(seen$x) == 1) list(loss = lapply(seen, drop)) else fit_scores(seen, half$fit)
    vapply(delta, function(delta) {
      at <- function(side, part) lapply(scores, function(s) s[[side]][half[[part]]])
      event <- choose_event(at("x", "choose"), at("y", "choose"), delta, risk)
      measure_event(event, at("x", "measure"), at("y", "measure"), delta, risk)
    }, 0)
  })
}

# Some runs on both streams of a pair: what is kept of each, a column
sampling_chunk <- function(job, chunk, tick) {
  pair <- job$problems[[chunk$problem]]
  policy <- job$policies$policy
  read <- stream_reader(policy, pair, job$total, pair$visits)
  check_repeats <- repeats(policy, pair$x, pair$first + chunk$run[1] - 1, job$seed, pair$visits)
  # In pieces that fit into memory, small enough for a bar to move
  n <- length(chunk$run)
  piece <- max(1, min(n, 2000, floor(4e6 / nrow(pair$x))))
  for (at in split(seq_len(n), ceiling(seq_len(n) / piece))) {
    side <- function(stream, first) {
      read(play_stream(policy, stream, first + chunk$run[at] - 1, job$seed, job$threads, pair$visits))
    }
    own <- list(x = side(pair$x, pair$first), y = side(pair$y, pair$first + job$total))
    if (at[1] == 1) x <- y <- matrix(own$x[0], nrow(own$x), n, dimnames = list(rownames(own$x), NULL))
    x[, at] <- own$x
    y[, at] <- own$y
    if (!tick(max(at) / n) && max(at) < n) return(NULL)
  }
  check_repeats()
  list(x = x, y = y)
}

# A policy in R may keep something where nobody sees it (in a file, an option, a package's variable): then its
# runs are not independent, and nothing that is counted over them is true. Plays a run, and returns a function
# that plays it again and compares.
repeats <- function(policy, stream, run, seed, visits) {
  if (!is_custom(policy)) return(function() TRUE)
  play <- function() play_stream(policy, stream, run, seed, visits = visits)
  first <- play()
  function() {
    if (identical(play(), first)) return(TRUE)
    abort_dpts(sprintf(paste("Policy \"%s\" keeps something outside its state: run %s, repeated after",
                             "others, chose other arms."), unwrapped(policy)$name, number_text(run)),
               c("dpts_error_state", "dpts_error_callback"), call = NULL)
  }
}

# The largest bound that a number of runs can give: the event in all runs on one stream, in none on the other
sampling_reach <- function(runs, risk, delta) {
  n <- length(split_runs(runs)$measure)
  event_epsilon(clopper_lower(n, n, risk), clopper_upper(0, n, risk), delta)
}

# The first quarter fits scores, the second chooses the event, the others measure it.
split_runs <- function(runs) {
  fit <- seq_len(floor(runs / 4))
  choose <- length(fit) + seq_len(floor(runs / 4))
  list(fit = fit, choose = choose, measure = seq_len(runs)[-c(fit, choose)])
}

# P(event) <= exp(epsilon) Q(event) + delta
event_epsilon <- function(p, q, delta) pmax(0, log(pmax(p - delta, 0) / q))

# The score, direction and threshold with the largest bound
choose_event <- function(x, y, delta, risk) {
  best <- list(epsilon = -Inf)
  for (score in names(x)) {
    for (sign in c(1, -1)) {
      p <- sign * (if (sign == 1) x else y)[[score]]
      q <- sign * (if (sign == 1) y else x)[[score]]
      cuts <- some_cuts(c(p, q))
      hits <- function(s) length(s) - findInterval(cuts, sort(s), left.open = TRUE)
      epsilon <- event_epsilon(clopper_lower(hits(p), length(p), risk),
                               clopper_upper(hits(q), length(q), risk), delta)
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
  event_epsilon(clopper_lower(happens(p), length(p), risk), clopper_upper(happens(q), length(q), risk), delta)
}

# ---- scores -------------------------------------------------------------------------------

# What scores need to know of runs, a function of their arms: where the chances of arms are known, the
# loss of a transcript; else counts, and words of arms in a few rounds
stream_reader <- function(policy, pair, runs, visits = NULL) {
  chances <- if (all_count(visits)) arm_chances(policy)
  k <- ncol(pair$x)
  # Two arms have a closed form; more are worth an integral a history for short streams only.
  if (!is.null(chances) && !is_true_of(policy, "tosses_coins") && (k == 2 || nrow(pair$x) <= 50)) {
    return(function(arms) rbind(transcript_loss(chances, pair, arms)))
  }
  changed <- changed_round(pair)
  windows <- window_rounds(nrow(pair$x), k, changed, floor(runs / 4))
  function(arms) {
    words <- do.call(rbind, lapply(windows, function(rounds) window_codes(arms, rounds, k)))
    storage.mode(words) <- "integer"
    rbind(run_counts(arms, changed, k), structure(words, dimnames = list(rep("word", nrow(words)), NULL)))
  }
}

# `seen`: list(x, y), what was read of all runs. Returns Scores, large where x is likely.
fit_scores <- function(seen, fit) {
  alike <- length(unique(c(seen$x["private", ], seen$y["private", ]))) == 1
  features <- function(side, at) run_features(seen[[side]][, at, drop = FALSE], alike)
  words <- which(rownames(seen$x) == "word")
  names(words) <- sprintf("window_%d", seq_along(words))
  c(list(logistic = score_logistic(features, ncol(seen$x), fit)),
    lapply(words, function(i) score_codes(seen$x[i, ], seen$y[i, ], fit)))
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
# the arm changed, and the pulls of (some of) the others. A row each, a column for each run
run_counts <- function(arms, changed, k) {
  private <- arms[changed, ]
  after <- arms[changed + seq_len(nrow(arms) - changed), , drop = FALSE]
  rounds <- nrow(after)
  if (rounds == 0) return(rbind(private = private))
  own <- after == rep(private, each = rounds)
  storage.mode(own) <- "integer"
  ends <- unique(pmin(rounds, c(1:8, round(8 * 1.5^(1:60)))))
  blocks <- rowsum(own, findInterval(seq_len(rounds), c(1, ends[-length(ends)] + 1)))
  waits <- t(next_pulls(own, 3))
  others <- do.call(rbind, lapply(seq_len(min(k - 1, 20)), function(arm) colSums(after == arm)))
  switches <- if (rounds > 1) colSums(after[-1, , drop = FALSE] != after[-rounds, , drop = FALSE])
  out <- rbind(blocks, waits, others, switches, private)
  rownames(out) <- rep(c("block", "wait", "other", "switches", "private"),
                       c(nrow(blocks), nrow(waits), nrow(others), rounds > 1, 1))
  storage.mode(out) <- "integer"
  out
}

# The same as numbers for a regression, a row for each run
# `alike`: Is the private arm the same in all runs? What the pulls say depends on it.
run_features <- function(counts, alike) {
  of <- function(name) t(counts[rownames(counts) == name, , drop = FALSE])
  pulls <- rowSums(of("block"))
  out <- cbind(of("block"), log1p(pulls), pulls == 0, log(of("wait")), of("other"), of("switches"))
  private <- drop(of("private"))
  if (alike) out else cbind(out, out * (private == 1), private == 1)
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
# `features`: A function of a side and run numbers, asked in pieces: those of all runs would not fit into
# memory.
score_logistic <- function(features, n, fit) {
  # Some 20,000 runs fit these few coefficients well enough.
  fit <- utils::head(fit, 1e4)
  rows <- rbind(features("x", fit), features("y", fit))
  centre <- colMeans(rows)
  spread <- apply(rows, 2, stats::sd)
  keep <- spread > 0
  if (!any(keep)) return(list(x = numeric(n), y = numeric(n)))
  design <- function(m) {
    cbind(1, scale(m[, keep, drop = FALSE], centre[keep], spread[keep]))
  }
  # Streams that are told apart without fail have no finite coefficients; any will do.
  model <- suppressWarnings(stats::glm.fit(
    design(rows), rep(1:0, each = length(fit)), family = stats::binomial(),
    control = list(maxit = 12)
  ))
  coefficients <- ifelse(is.finite(model$coefficients), model$coefficients, 0)
  pieces <- split(seq_len(n), ceiling(seq_len(n) / 1e4))
  lapply(c(x = "x", y = "y"), function(side) {
    unlist(lapply(pieces, function(at) design(features(side, at)) %*% coefficients), use.names = FALSE)
  })
}
