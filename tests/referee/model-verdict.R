# policy_top_two() to its verdict, and dpts_identify(), by their help pages: first batches, sizes of batches, who is in which
# release, when evidence() reaches the threshold, and what is played from then on. And plans against simulations of the same seed.

verdict_setting <- function() {
  k <- one_of(2, 2, 3, whole(2, 6))
  margin <- one_of(0, 0, 0.02, stats::runif(1, 0, 0.3))
  budget <- one_of(list(), list(mu = between(0.3, 30)), list(epsilon = between(0.3, 30)))
  means <- one_of(stats::runif(k), c(0.9, rep(0.3, k - 1)), sample(c(0.6, rep(0.4, k - 1))), rep(1, k), c(1, numeric(k - 1)))
  list(k = k, margin = margin, budget = budget, means = means, error = one_of(0.05, 0.2, 1e-4), runs = 3,
       outcome = one_of("binary", "binary", "continuous"), horizon = one_of(1500, 4000), seed = whole(1, 1e6),
       law = one_of("bernoulli", "two"))
}

referee_model("verdict", verdict_setting, function(s) {
  arms <- if (s$law == "bernoulli") arms_bernoulli(s$means) else
    arms_discrete(c(0, 0.5, 1), cbind((1 - s$means)^2, 2 * s$means * (1 - s$means), s$means^2))
  policy <- do.call(policy_top_two, c(s$budget, list(error = s$error, margin = s$margin, outcome = s$outcome)))
  threshold <- log((s$k - 1) / s$error)
  first <- if (!is.null(s$budget$mu)) 12 * sqrt(2 * threshold) / s$budget$mu else if (!is.null(s$budget$epsilon)) 6 * threshold / s$budget$epsilon else 0
  first <- (first + 2 * threshold) / if (s$outcome == "continuous") 2 else 1
  sim <- dpts_simulate(arms, policy, s$horizon, runs = s$runs, seed = s$seed, history = TRUE, record = I(s$horizon))
  table <- dpts_releases(sim)
  if (!is.null(table$event)) table <- table[is.na(table$event), ]
  h <- dpts_history(sim)
  proof <- evidence(sim, "means")
  found <- dpts_identify(arms, policy, runs = s$runs, seed = s$seed, limit = s$horizon, error = s$error,
                         margin = s$margin)
  out <- character()
  for (run in seq_len(s$runs)) {
    arm <- as.integer(h$arm[h$run == run])
    reward <- h$reward[h$run == run]
    rows <- table[table$run == run, ]
    stretches <- rle(arm)
    # Evidence of each arm against the strongest of the others, at each release
    e <- proof[proof$run == run, ]
    times <- unique(e$t)
    least <- vapply(times, function(t) tapply(e$evidence[e$t == t], as.integer(e$arm[e$t == t]), min)[seq_len(s$k)], numeric(s$k))
    if (s$margin == 0 && length(times)) {
      line <- apply(matrix(least, s$k), 2, max)
      until <- which(line >= threshold)[1]
    } else until <- NA
    # Batches: whose rewards, and how many
    n <- numeric(s$k)
    at <- 1
    end <- if (is.na(until)) Inf else times[until]
    for (i in seq_len(nrow(rows))) {
      a <- as.integer(rows$arm[i])
      size <- rows$n[i]
      who <- rows$t[i] - size + seq_len(size)
      what <- sprintf("run %d, release %d of arm %d", run, i, a)
      if (any(arm[who] != a)) out <- c(out, paste(what, "has rewards of another arm"))
      if (abs(rows$sum[i] - sum(reward[who])) > 12 * rows$scale[i] + 1e-9) out <- c(out, paste(what, "is not the sum of its rewards"))
      if (n[a] == 0 && size != max(1, ceiling(first))) out <- c(out, sprintf("%s: a first batch of %g, and not %g", what, size, ceiling(first)))
      if (n[a] > 0 && rows$t[i] <= end && (size < floor(0.1 * n[a]) || size > n[a] + 1)) {
        out <- c(out, sprintf("%s: %g rewards after %g", what, size, n[a]))
      }
      n[a] <- n[a] + size
    }
    if (is.na(until)) next
    # Once proved, it is played, and the experiment is over.
    winner <- which(matrix(least, s$k)[, until] >= threshold)[1]
    rest <- arm[seq_along(arm) > end]
    late <- if (length(rest)) which(rest != winner)
    if (length(late)) out <- c(out, sprintf("run %d: arm %d is proved after %d people, and arm %d is played in round %d", run, winner, end, rest[late[1]], end + late[1]))
    row <- found[found$run == run, ]
    if (!identical(as.numeric(row$people), as.numeric(end)) || as.integer(row$arm) != winner) {
      out <- c(out, sprintf("run %d: identified arm %s after %s people, and not %d after %d", run, row$arm, row$people, winner, end))
    }
  }
  out
})

# The verdict of any policy whose batches are released is that of evidence(): the first arm whose evidence against all others
# reaches the threshold, at the release at which it does.
referee_model("batches", function() {
  k <- one_of(2, 3, whole(2, 6))
  list(k = k, policy = batch_policies(), means = one_of(stats::runif(k), c(0.95, rep(0.2, k - 1)), c(rep(0.1, k - 1), 0.9)),
       error = one_of(0.05, 0.3, 1e-3), horizon = one_of(500, 2500), runs = 4, seed = whole(1, 1e6), delay = one_of(0, 0, whole(1, 30)))
}, function(s) {
  sim <- dpts_simulate(arms_bernoulli(s$means), eval(s$policy, globalenv()), s$horizon, runs = s$runs, seed = s$seed, history = TRUE,
                       delay = s$delay, record = I(s$horizon))
  e <- evidence(sim, "means", error = s$error) # with its own line, which is higher where noise is correlated
  e$over <- e$evidence - e$line
  found <- verdict(sim, error = s$error)
  table <- verdict(dpts_releases(sim), error = s$error)
  out <- unlike("verdict of the table", as.integer(table$arm), as.integer(found$arm))
  for (run in seq_len(s$runs)) {
    own <- e[e$run == run, ]
    look <- (seq_len(nrow(own)) - 1) %/% (s$k * (s$k - 1)) # several may be after one round
    least <- vapply(unique(look), function(l) {
      vapply(seq_len(s$k), function(a) min(own$over[look == l & as.integer(own$arm) == a]), 0)
    }, numeric(s$k))
    proved <- which(matrix(least, s$k) >= 0, TRUE)
    row <- found[found$run == run, ]
    if (!nrow(proved)) {
      if (!is.na(row$arm)) out <- c(out, sprintf("run %d: a verdict that nothing proves", run))
    } else if (is.na(row$arm) || !as.integer(row$arm) %in% proved[, 1]) {
      out <- c(out, sprintf("run %d: arm %d is proved, and the verdict is %s", run, proved[1, 1], row$arm))
    }
  }
  out
})

# A plan is what simulations of the same seed come to that play every round one by one.
referee_model("plan", function() {
  k <- one_of(2, 3, 4)
  list(k = k, people = whole(60, 600), runs = 12, seed = whole(1, 1e6), means = stats::runif(k), other = stats::runif(k),
       world = one_of("stays", "drift", "switch", "walk"), control = if (flip()) whole(1, k), late = one_of(0, 0, whole(1, 50)),
       design = one_of(quote(policy_ucb1()), quote(policy_uniform()), quote(policy_fixed(1)),
                       bquote(policy_randomised(mu = .(between(0.3, 5)), rule = "thompson", block = .(whole(20, 80))))))
}, function(s) {
  world <- switch(s$world, stays = arms_bernoulli(s$means), walk = arms_walk(s$means, 0.02),
                  drift = arms_drift(arms_bernoulli(s$means), arms_bernoulli(s$other), "linear", s$people),
                  switch = arms_switch(list(arms_bernoulli(s$means), arms_bernoulli(s$other)), at = s$people %/% 2))
  policy <- eval(s$design, globalenv())
  plan <- dpts_plan(list(d = policy), list(w = world), s$people, control = s$control, runs = s$runs, seed = s$seed, delay = s$late)
  old <- options(dpts.engine = "plain")
  on.exit(options(old))
  sim <- dpts_simulate(world, policy, s$people, runs = s$runs, seed = s$seed, history = TRUE, delay = s$late, record = I(s$people))
  h <- dpts_history(sim)
  arm <- as.integer(h$arm)
  got <- if (s$world == "stays") s$means[arm] else h$reward
  longest <- vapply(split(arm, h$run), function(x) max(rle(x)$lengths), 0L)
  whole <- summary(plan)
  c(differs("failures", plan$failures, s$people - sum(got) / s$runs),
    differs("longest run", plan$longest_run, mean(longest)),
    differs("shares", whole$share, tabulate(arm, s$k) / length(arm)),
    if (any(c(plan$best, plan$power, plan$false_claims, plan$coverage) > 1 + 1e-12, na.rm = TRUE)) "a share above 1",
    if (isTRUE(plan$width <= 0)) "a width of zero")
})
