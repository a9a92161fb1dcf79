# What is measured of a run. An observer of src/play_observer.h sees a run as it is played and gives
# one or more matrices with a column for each run, so that chunks of runs are joined by columns. Here is
# what becomes of them in the result of a simulation:
#   column   names of matrices with a row for each recorded round: columns of the result
#   cell     names of matrices that are kept of each run, as it is
#   check    names of matrices that are looked at and not kept
#   scale    for a matrix in units of reward, a function that turns it from the engine's units, in
#            which rewards lie in [0, 1], to those of the arms: of x, the arms' range and the
#            recorded rounds
#   when     which simulations have it: "always", with "history", where R "draws" rewards; NULL: none
OBSERVERS <- list(
  regret = list(when = "always", column = "regret",
                scale = list(regret = function(x, range, rounds) x * diff(range))),
  reward = list(when = "always", column = "reward",
                scale = list(reward = function(x, range, rounds) x * diff(range) + range[1] * rounds)),
  pulls = list(when = "always", cell = "pulls"),
  estimates = list(when = "always", cell = "report"),
  # The number of the arm in each round, 0 in rounds that were not played
  history = list(when = "history", cell = c("arms", "rewards"),
                 scale = list(rewards = function(x, range, rounds) x * diff(range) + range[1])),
  probability = list(when = "history", cell = "probability"), # no rows where the policy does not say it
  # Whether rewards that R draws agree with the means that it was given: see warn_means()
  earned = list(when = "draws", check = "earned"),
  # Of a replay and of dpts_identify(), which make their own results of them
  sums = list(cell = "sums"),
  verdict = list(cell = "verdict"),
  trial = list(cell = "trial"),
  releases = list(when = "history", cell = "releases")
)

WHEN <- unlist(lapply(OBSERVERS, `[[`, "when"))

# The observers of a simulation
simulate_observers <- function(problems, history = FALSE) {
  c(names(WHEN)[WHEN %in% c("always", if (history) "history")], observers_of_draws(problems))
}

# Those of any job whose rewards are drawn in R
observers_of_draws <- function(problems) {
  draws <- any(vapply(problems, function(arms) length(world_functions(arms$world)) > 0, NA))
  if (draws) names(WHEN)[WHEN == "draws"]
}

# The matrices that observers give, all of them or those that become columns or cells
observed <- function(observers, what = c("column", "cell", "check")) {
  SEEN$name[SEEN$observer %in% observers & SEEN$what %in% what]
}

# Every matrix: its name, which observer gives it, and what becomes of it
SEEN <- as.list(do.call(rbind, lapply(names(OBSERVERS), function(observer) {
  names <- unlist(OBSERVERS[[observer]][c("column", "cell", "check")])
  data.frame(name = unname(names), observer = observer, what = sub("[0-9]+$", "", names(names)))
})))

# What was seen, in the units of the rewards
unscale <- function(seen, observers, arms, rounds) {
  range <- arms_scale(arms)
  if (identical(range, c(0, 1))) return(seen)
  for (observer in OBSERVERS[observers]) for (name in names(observer$scale)) {
    seen[[name]] <- observer$scale[[name]](seen[[name]], range, rounds)
  }
  seen
}

# Rewards that R draws must have the means that regret is measured with
#
# The sum over rounds of reward less mean is a martingale with differences of at most 1 whose variances
# add up to at most the sum of mean (1 - mean), in the engine's units: by Bernstein's inequality what is
# warned of here has a chance below 2 exp(-18) if the means are right. Rewards without bounds are held against
# the sum of their squares, by which the chance is as small if they are symmetric around the mean.
warn_means <- function(job, joined) {
  if (!"earned" %in% job$observers) return(invisible())
  for (i in seq_along(job$problems)) for (j in seq_along(job$policies)) {
    arms <- job$problems[[i]]$arms
    if (length(world_functions(arms$world)) == 0) next
    bounded <- all(is.finite(arms$range))
    earned <- rowSums(joined[[(i - 1) * length(job$policies) + j]]$earned)
    z <- earned[1] / sqrt(earned[2] + if (bounded) abs(earned[1]) / 3 else 0)
    runs <- length(job$runs)
    rounding <- 1e-9 * runs * job$problems[[i]]$horizon * max(abs(arms$mean))
    if (is.nan(z) || abs(z) <= 6 || abs(earned[1]) <= rounding) next
    rlang::warn(c(
      sprintf(paste("`arms` must have the means that `arms_custom()` was given: policy \"%s\" earned %s %s",
                    "than they let expect, in %s of %s (z = %s)."),
              names(job$policies)[j], number_text(abs(earned[1]) * diff(arms_scale(arms)), digits = 4),
              if (z > 0) "more" else "less", count_noun(runs, "run", "runs"),
              count_noun(job$problems[[i]]$horizon, "round", "rounds"), number_text(z, digits = 3)),
      i = "`arms_custom(check = TRUE)` compares arm by arm.",
      i = if (!bounded) "Rewards of which a few in a million make the mean may look so, too."
    ), class = c("dpts_warning_means", "dpts_warning"), call = NULL)
    return(invisible())
  }
}
