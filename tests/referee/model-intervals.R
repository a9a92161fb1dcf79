# Intervals and claims that are not about one policy's releases: plans, off-policy estimates, replays, averages of a simulation,
# audits. Where a page says "nearly" or names the central limit theorem, `NEARLY` times the promised errors are allowed.
NEARLY <- 1.3

# An interval of width zero is for what is known for sure.
flat <- function(what, lower, upper) {
  i <- which(!is.na(lower) & upper - lower < 1e-12)
  if (length(i)) sprintf("%s: an interval of width zero at %g (%d of %d)", what, lower[i[1]], length(i), length(lower))
}

referee_model("plan_claims", function() {
  k <- one_of(2, 2, 3, 5)
  rates <- one_of(rep(0.5, k), rep(stats::runif(1, 0.1, 0.9), k), c(0.6, rep(0.4, k - 1)))
  list(k = k, rates = rates, drift = one_of("none", "none", "shift", "crossing"), first = one_of(0.1, 0.05), levels = stats::runif(2, 0.2, 1),
       people = one_of(200, 600, 1500), delta = one_of(0.05, 0.2, 0.01), control = if (flip()) 1, seed = whole(1, 1e6), runs = 300,
       design = one_of(quote(policy_uniform()), bquote(do.call(policy_randomised, .(c(random_budget(), list(
         block = one_of(NULL, 100, 1e9), rule = one_of("equal", "thompson", "neyman"))))))))
}, function(s) {
  law <- switch(s$drift,
    none = arms_bernoulli(s$rates),
    shift = arms_switch(lapply(s$levels, function(x) arms_bernoulli(s$rates * x)), at = s$people %/% 2 + 1),
    # the same mean over all people, level and difference change together
    crossing = arms_switch(list(arms_bernoulli(c(s$first, rep(s$first - 0.05, s$k - 1))), arms_bernoulli(c(0.5, rep(0.55, s$k - 1)))),
                           at = s$people %/% 2 + 1))
  plan <- dpts_plan(list(d = eval(s$design, globalenv())), list(a = law), people = s$people, control = s$control, error = s$delta,
                    runs = s$runs, seed = s$seed)
  what <- paste("plan", if (s$drift == "none") "no drift" else "drift", if (any(grepl("epsilon", deparse(s$design)))) "Laplace")
  c(count_errors(paste(what, "false claims"), round(plan$false_claims * s$runs), s$runs, min(0.5, NEARLY * s$delta)),
    if (!is.na(plan$coverage)) {
      count_errors(paste(what, "coverage"), round((1 - plan$coverage) * s$runs), s$runs, min(0.5, NEARLY * s$delta))
    })
})

referee_model("ope_intervals", function() {
  k <- one_of(2, 3, 6)
  list(k = k, n = one_of(60, 300, 1500), rates = one_of(stats::runif(k), stats::runif(k, 0, 0.05)), logger = random_chances(k),
       target = one_of("uniform", whole(1, k), random_chances(k)), level = one_of(0.8, 0.95), runs = 40, seed = 1)
}, function(s) {
  chances <- if (identical(s$target, "uniform")) rep(1 / s$k, s$k) else if (length(s$target) == 1) as.numeric(1:s$k == s$target) else s$target
  truth <- sum(chances * s$rates)
  rows <- lapply(seq_len(s$runs), function(i) {
    arm <- sample.int(s$k, s$n, TRUE, s$logger)
    log <- data.frame(arm = factor(arm, 1:s$k), reward = stats::rbinom(s$n, 1, s$rates[arm]), propensity = s$logger[arm])
    target <- if (length(s$target) == s$k && !identical(s$target, "uniform")) matrix(s$target, 1) else s$target
    as.data.frame(dpts_ope(log, target, level = s$level))
  })
  rows <- do.call(rbind, rows)
  w <- chances / s$logger # many events of weight, with rewards of both kinds: what the theorem asks for
  effective <- s$n * sum(s$logger * w)^2 / sum(s$logger * w^2)
  normal <- effective * min(truth, 1 - truth) >= 20 && all(s$n * s$logger[chances > 0] * pmin(s$rates, 1 - s$rates)[chances > 0] >= 5)
  c(if (normal) unlist(lapply(split(rows, rows$estimator), function(x) {
    count_errors(paste("ope", x$estimator[1]), sum(truth < x$lower | truth > x$upper), nrow(x), min(0.5, NEARLY * (1 - s$level)))
  })), flat("ope", rows$lower, rows$upper))
})

random_chances <- function(k) { x <- stats::rexp(k) + 0.1; x / sum(x) }

referee_model("replay_intervals", function() {
  k <- one_of(2, 3, 5)
  list(k = k, n = one_of(200, 1000), rates = one_of(stats::runif(k, 0.05, 0.95), stats::runif(k, 0, 0.05)), arm = whole(1, k),
       logger = one_of(NULL, random_chances(k)), method = one_of("auto", "rejection"), policy = one_of("fixed", "uniform"),
       level = one_of(0.8, 0.95), runs = 25, seed = 1)
}, function(s) {
  truth <- if (s$policy == "fixed") s$rates[s$arm] else mean(s$rates)
  chances <- if (is.null(s$logger)) rep(1 / s$k, s$k) else s$logger
  rows <- lapply(seq_len(s$runs), function(i) {
    arm <- sample.int(s$k, s$n, TRUE, chances)
    log <- data.frame(arm = factor(arm, 1:s$k), reward = stats::rbinom(s$n, 1, s$rates[arm]))
    if (!is.null(s$logger)) log$propensity <- chances[arm]
    policy <- if (s$policy == "fixed") policy_fixed(s$arm) else policy_uniform()
    as.data.frame(summary(dpts_replay(log, policy, runs = 2, seed = s$seed + i, method = s$method), level = s$level))
  })
  rows <- do.call(rbind, rows)
  rows <- rows[!is.na(rows$lower) & rows$events > 20, ]
  c(count_errors(paste("replay", s$policy), sum(truth < rows$lower | truth > rows$upper), nrow(rows), NEARLY * (1 - s$level)),
    flat("replay", rows$lower, rows$upper))
})

referee_model("summary_bands", function() {
  e <- between(0.3, 5)
  list(policy = one_of(quote(policy_ucb1()), quote(policy_imed()), bquote(policy_dp_imed(.(e))), bquote(policy_lazy_ucb(.(e))),
                       bquote(policy_dp_se(.(e), 0.05)), quote(policy_uniform()), quote(policy_ts_beta())),
       rates = one_of(c(0.9, 0.85), c(0.6, 0.5), c(0.05, 0.03), stats::runif(3)), horizon = one_of(200, 1000),
       each = one_of(10, 50), runs = 20, seed = whole(1, 1e6))
}, function(s) {
  arms <- arms_bernoulli(s$rates)
  policy <- eval(s$policy, globalenv())
  play <- function(runs) dpts_simulate(arms, policy, s$horizon, runs = runs, seed = s$seed, record = I(s$horizon))
  all <- summary(play(run_range(1e5, 1e5 + 3999)))
  rows <- do.call(rbind, lapply(seq_len(s$runs), function(i) as.data.frame(summary(play(run_range((i - 1) * s$each + 1, i * s$each))))))
  sure <- all$sd == 0 # every run is the same: that is known
  miss <- all$mean - 4 * all$se > rows$upper | all$mean + 4 * all$se < rows$lower
  # A band by Student's t is not promised for every law: twice the errors are allowed, of 50 runs and more.
  c(if (s$each >= 50) count_errors("summary", sum(miss, na.rm = TRUE), s$runs, 2 * 0.05), if (!sure) flat("summary", rows$lower, rows$upper))
})

referee_model("audits", function() {
  e <- between(0.3, 3)
  list(policy = one_of(bquote(policy_dp_imed(.(e))), bquote(policy_adap_ucb(.(e))), quote(policy_uniform()), bquote(policy_lazy_ucb(.(e))),
                       bquote(policy_ts_gaussian(1, .(e))), bquote(policy_gaussian_imed(.(e))), bquote(policy_exp3())),
       horizon = whole(2, 12), seed = whole(1, 1e6), level = one_of(0.5, 0.8), runs = 3)
}, function(s) {
  accused <- vapply(seq_len(s$runs), function(i) {
    any(!dpts_audit(eval(s$policy, globalenv()), s$horizon, delta = c(0, 1e-3), level = s$level, runs = 400, seed = 100 * s$seed + i)$holds)
  }, NA)
  count_errors("audit", sum(accused), s$runs, 1 - s$level)
})
