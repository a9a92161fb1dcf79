# What is printed as proved, or as an interval, over many runs of random laws: errors may not be more frequent than promised.

# ---- laws: arms, `means(t)` (a row for each round), and whether means stay
random_law <- function(k, margin = 0, may_change = TRUE) {
  base <- one_of(rep(stats::runif(1), k), stats::runif(k), sort(stats::runif(k, 0, 0.1)), 1 - stats::runif(k, 0, 0.1),
                 rep(0.5, k) + c(0.1, numeric(k - 1)), sample(c(0.02, 0.5, 0.98), k, TRUE))
  if (margin > 0 && flip(0.7)) { # an arm that is just not within the margin
    base[] <- (1 - margin) / 2 * stats::runif(1, 0.9, 1)
    base[whole(1, k)] <- min(1, base[1] + margin * 1.001)
  }
  kind <- if (may_change && margin == 0) one_of("bernoulli", "beta", "two", "shift", "sine", "common", "adversary") else
    one_of("bernoulli", "bernoulli", "beta", "two")
  list(kind = kind, k = k, base = base, other = stats::runif(1), at = sort(sample(2:2000, 3)), period = between(20, 3000),
       shift = stats::runif(4, 0, 1))
}

law_means <- function(law, t) {
  b <- matrix(law$base, length(t), law$k, byrow = TRUE)
  switch(law$kind,
    sine = { w <- (1 - cos(2 * pi * (t - 1) / law$period)) / 2; (1 - w) * b + w * law$other },
    shift = b * law$shift[1 + findInterval(t, law$at)], # levels change, the order stays
    common = matrix(0.5 + 0.45 * sin(t / law$period), length(t), law$k),
    adversary = matrix(0, length(t), law$k),            # the same reward for all arms: no difference
    b)
}

law_arms <- function(law) {
  b <- law$base
  switch(law$kind,
    bernoulli = arms_bernoulli(b),
    beta = arms_beta(3 * pmax(b, 1e-3), 3 * pmax(1 - b, 1e-3)),
    two = arms_discrete(c(0, 0.5, 1), cbind((1 - b)^2, 2 * b * (1 - b), b^2)),
    sine = arms_drift(arms_bernoulli(b), arms_bernoulli(rep(law$other, law$k)), shape = "sine", period = law$period),
    shift = arms_switch(lapply(law$shift, function(s) arms_bernoulli(b * s)), at = law$at),
    common = arms_custom(function(arm, n, t) stats::rbinom(n, 1, law_means(law, t)[, arm]), means = function(t) law_means(law, t)),
    adversary = { # all arms pay the same: more when the arm of the past was the first
      k <- law$k
      arms_adversary(function(past, t) {
        n <- length(past$arm)
        lead <- if (n == 0) 0.5 else mean(utils::tail(past$arm, 20) == 1)
        matrix(as.numeric(stats::runif(length(t)) < lead), length(t), k)
      }, block = 10)
    })
}

law_stays <- function(law) law$kind %in% c("bernoulli", "beta", "two")
beta_means <- function(law) if (law$kind == "beta") pmax(law$base, 1e-3) / (pmax(law$base, 1e-3) + pmax(1 - law$base, 1e-3)) else law$base

# ---- policies
random_budget <- function() one_of(list(), list(mu = between(0.2, 20)), list(epsilon = between(0.2, 20)))

tossing_policy <- function(k) {
  bquote(do.call(policy_randomised, .(c(random_budget(), list(
    rule = one_of("equal", "thompson", "top_two", "neyman"), permuted = flip(0.3), burn_in = whole(0, 2),
    block = one_of(NULL, whole(5, 60), c(whole(5, 40), whole(50, 300)), stats::runif(1, 1.1, 3)),
    floor = one_of(0, 0.1, 0.5) / k, control = if (flip(0.2)) whole(1, k))))))
}

batch_policies <- function() {
  e <- between(0.3, 20)
  one_of(
    bquote(policy_dp_imed(.(e))), bquote(policy_dp_imed(.(e), index = "likelihood")), bquote(policy_dp_klucb(.(e))),
    bquote(policy_gaussian_imed(.(e))), bquote(policy_gaussian_imed(.(e), correlation = 0)),
    bquote(policy_gaussian_imed(.(e), correlation = .(stats::runif(1, 0, 0.95)))), bquote(policy_lazy_ucb(.(e))),
    bquote(policy_adap_ucb(.(e))), bquote(policy_adap_klucb(.(e))), bquote(policy_adac_ucb(.(e))),
    bquote(policy_adac_ucb(.(e), correlation = .(stats::runif(1, 0, 0.9)))), bquote(policy_lazy_dp_ts(.(e))),
    bquote(policy_lazy_gaussian_ts(.(e))), bquote(policy_top_two(mu = .(e))), bquote(policy_top_two(epsilon = .(e))),
    quote(policy_top_two()), bquote(policy_local(policy_imed(), .(e))), bquote(policy_local(policy_ucb1(), .(e))))
}

# ---- errors of one game
evidence_play <- function(s, tosses) {
  arms <- law_arms(s$law)
  sim <- dpts_simulate(arms, eval(s$policy, globalenv()), s$horizon, runs = s$runs, seed = s$seed, history = TRUE,
                       record = I(s$horizon), delay = s$delay)
  what <- paste(if (tosses) "tosses" else "means", if (tosses && isTRUE(s$policy[[3]]$permuted)) "permuted")
  kind <- if (tosses) "tosses" else "means"
  t <- seq_len(s$horizon)
  m <- if (law_stays(s$law)) matrix(beta_means(s$law), s$horizon, s$law$k, byrow = TRUE) else law_means(s$law, t)
  count <- function(claim, wrong, chance) count_errors(paste(what, claim), sum(wrong), s$runs, chance)
  by_run <- function(x, f) vapply(split(x, factor(x$run, seq_len(s$runs))), f, NA)
  out <- character()

  known <- evidence(sim, kind)
  # p of a pair whose first arm is never better
  null <- outer(1:s$law$k, 1:s$law$k, Vectorize(function(a, b) a != b && all(m[, a] <= m[, b])))
  if (any(null)) {
    pair <- which(null, TRUE)[1 + s$pick %% sum(null), ]
    e <- known[known$arm == pair[1] & known$rival == pair[2], ]
    out <- c(out, count("p", by_run(e, function(x) any(x$p <= s$alpha)), s$alpha))
    if (any(diff(e$p)[diff(as.numeric(e$run)) == 0] > 1e-12)) out <- c(out, "p of a pair grew")
  }

  # Intervals of all differences at once; those of permuted blocks are for differences that do not change
  h <- dpts_history(sim)
  last <- tapply(known$t, factor(known$run, seq_len(s$runs)), max)
  if (law_stays(s$law) || (tosses && !isTRUE(s$policy[[3]]$permuted) && s$delay == 0 && s$law$kind != "adversary")) {
    x <- effects(sim, level = s$level)
    if (!all(is.na(x$lower))) {
      h_arm <- split(as.integer(h$arm), h$run)
      truth <- vapply(seq_len(nrow(x)), function(i) {
        a <- x$arm[i]
        b <- x$control[i]
        if (law_stays(s$law)) return(m[1, a] - m[1, b])
        so_far <- t[seq_len(if (is.na(last[x$run[i]])) 0 else last[x$run[i]])]
        so_far <- so_far[h_arm[[x$run[i]]][so_far] %in% c(a, b)]
        mean(m[so_far, a] - m[so_far, b])
      }, 0)
      miss <- !is.na(x$lower) & !is.nan(truth) & (truth < x$lower - 1e-12 | truth > x$upper + 1e-12)
      out <- c(out, count("effects", by_run(cbind(x, miss = miss), function(x) any(x$miss)), 1 - s$level))
      flat <- which(!is.na(x$lower) & x$upper <= x$lower)
      if (length(flat)) out <- c(out, sprintf("effects: an interval of width zero, [%g, %g]", x$lower[flat[1]], x$upper[flat[1]]))
    }
  }

  # The interval of one arm's mean
  if (law_stays(s$law)) {
    est <- estimates(sim, level = s$level)
    est <- est[est$arm == 1 + s$pick %% s$law$k & !is.na(est$lower), ]
    truth <- m[1, 1 + s$pick %% s$law$k]
    out <- c(out, count("estimates", truth < est$lower - 1e-12 | truth > est$upper + 1e-12, 1 - s$level))
  }

  # Verdicts: an arm that another one beats, by the margin, at all times, while one arm is best at all times
  best <- apply(m, 1, max)
  if (any(apply(m >= best - 1e-15, 2, all)) && s$law$kind != "adversary") {
    v <- verdict(sim, error = s$error, margin = s$margin)
    gap <- apply(best - m, 2, min)
    bad <- if (s$margin > 0) gap >= s$margin else gap > 0
    out <- c(out, count("verdict", bad[v$arm] %in% TRUE, s$error),
             count("wrong", bad[v$arm] %in% TRUE & v$wrong <= s$error / 3, s$error / 3))
  }
  out
}

evidence_setting <- function(tosses) {
  k <- one_of(2, 2, 3, whole(2, 6))
  margin <- one_of(0, 0, 0.05, stats::runif(1, 0, 0.95), 0.9)
  list(law = random_law(k, margin, may_change = tosses), margin = margin, horizon = one_of(300, 1000, 2000), runs = 60, seed = whole(1, 1e6),
       policy = if (tosses) tossing_policy(k) else batch_policies(), delay = one_of(0, 0, 0, whole(1, 60)),
       alpha = one_of(0.5, 0.2, 0.05), level = one_of(0.5, 0.8, 0.95), error = one_of(0.5, 0.2, 0.05), pick = whole(0, 100))
}

referee_model("tosses", function() evidence_setting(TRUE), function(s) evidence_play(s, TRUE))
referee_model("means", function() evidence_setting(FALSE), function(s) evidence_play(s, FALSE))
