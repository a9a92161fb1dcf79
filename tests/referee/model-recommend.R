# Intervals and standings of dpts_recommend(), by its page: over many seeds the stated interval of a candidate holds its mean of
# 20,000 runs, and the best in truth is called worse no more often than stated. Rounds of uniform choices have a closed form.

recommend_setting <- function() {
  e <- between(0.3, 5)
  list(goal = one_of("regret", "regret", "verdict"), means = one_of(c(0.6, 0.5), c(0.9, 0.85), c(0.05, 0.03), stats::runif(3, 0.2, 0.8)),
       horizon = one_of(300, 1000), e = e, level = one_of(0.95, 0.8), race = flip(), each = one_of(20, 50), runs = 12, seed = whole(1, 1e6))
}

referee_model("recommend", recommend_setting, function(s) {
  arms <- arms_bernoulli(s$means)
  error <- signif(1 - s$level, 12)
  policies <- if (s$goal == "regret") list(imed = policy_dp_imed(s$e, index = "likelihood"), klucb = policy_dp_klucb(s$e),
                                           lazy = policy_lazy_ucb(s$e), plain = policy_uniform()) else
    list(tossed = policy_randomised(epsilon = s$e, rule = "top_two"), equal = policy_randomised(epsilon = s$e),
         two = policy_top_two(epsilon = s$e, error = error))
  truth <- if (s$goal == "regret") vapply(policies, function(p) {
    mean(dpts_simulate(arms, p, s$horizon, runs = run_range(1e6, 1e6 + 4999), seed = s$seed, record = I(s$horizon))$regret)
  }, 0) else vapply(policies, function(p) {
    people <- dpts_identify(arms, p, error, limit = s$horizon, runs = run_range(1e6, 1e6 + 1999), seed = s$seed)$people
    mean(ifelse(is.na(people), s$horizon, people))
  }, 0)
  if (s$goal == "regret") truth[["plain"]] <- s$horizon * (max(s$means) - mean(s$means))
  rows <- do.call(rbind, lapply(seq_len(s$runs), function(i) {
    out <- dpts_recommend(privacy_pure(s$e), arms, s$horizon, goal = s$goal, candidates = policies, level = s$level, race = s$race,
                          runs = s$each, seed = s$seed + i)
    data.frame(call = i, policy = as.character(out$policy), lower = out$lower, upper = out$upper, standing = out$standing)
  }))
  known <- rows[!is.na(rows$lower), ]
  of <- truth[known$policy]
  off <- 0.01 * of # of 5,000 or 2,000 runs
  missed <- of + off < known$lower | of - off > known$upper
  best <- rows[rows$policy == names(which.min(truth)), ]
  c(unlist(lapply(split(missed, known$policy), function(x) {
    count_errors(paste("recommend,", s$goal), sum(x), length(x), min(0.5, 1.6 * (1 - s$level))) # .92 where .95 is stated
  })), count_errors("the best is called worse", sum(best$standing == "worse"), nrow(best), 1 - s$level))
})
