#' Estimates of the arms' means from what a policy released
#'
#' `estimates()` says what a policy's published numbers tell about the mean of each arm.
#' Estimates with intervals, at the end of each run, from what the policy has released about the
#' rewards. They cost no privacy: anyone who sees the releases can compute them.
#'
#' @details
#' What is released depends on the policy:
#'
#' * Policies that release noisy sums of rewards (batches, epochs, trees): these sums. Sums that the
#'   policy itself forgets count too, for they are public all the same.
#' * Policies without privacy, also in R: plain sums of rewards.
#' * Locally private policies ([policy_local()]): the sums of the random bits, with the map from
#'   rewards to bits undone.
#' * Gaussian Thompson sampling and DP-TS-UCB publish arms and no sums, the uniform and the fixed policy
#'   look at no reward, linear policies have no mean per arm, and the sums inside a private policy
#'   in R are not known: NA.
#'
#' With probability `level` the interval of an arm contains its mean at every time at once, whatever rule
#' decided to pull it, and when to stop: also for arms that were dropped early because they looked bad. It is
#' a confidence sequence: with n rewards in the sum Y, and noise that is independent of them, exp(x Y - n
#' log(1 - m + m e^x) - (log-mgf of the noise at x)) is a supermartingale for an arm of mean m. So is a
#' mixture over x, which rarely grows large (Ville's inequality). Noise that later sums do not share, as that
#' of trees, is bounded apart, for all sums together. `mean` is the sum divided by the rewards, cut to the
#' range of rewards; where a rule chose what to pull, such means are biased, usually downwards, and the
#' intervals hold all the same. For the difference of two arms, subtract lower from upper limits.
#'
#' Where squares were released, too (`outcome = "continuous"`), half of the mixture is on bets that know how
#' much rewards vary, as in [evidence()], with centres from 0.1 to 0.9: for scores with a standard deviation
#' of 0.1 and 2,000 people intervals are a third as wide.
#'
#' The sequence of [evidence()], whose x follow the releases, is about as wide where means do not change: 6%
#' narrower to 7% wider on average (means of .05, .5 and .9, 300 to 30,000 people, Gaussian, Laplace and no
#' noise), narrowest with many rewards of means near 1/2. It is not used here, for it does not hold where
#' means do change.
#'
#' Sums of rewards less predictions ([policy_randomised()]) tell no means: NA if there are other policies,
#' otherwise an error.
#'
#' Where means change, the interval is for the average of the means in the rounds whose rewards are in the
#' sum. For a policy that restarts ([policy_restart()]) the estimates are those of its last life.
#'
#' @param x A result of [dpts_simulate()], or of [dpts_replay()] without weights, or a release table
#'   ([dpts_releases()]). For rows up to a round, such as `x[x$t <= 100, ]`, the estimates are as of that
#'   round; a simulation must then have its history.
#' @param ... Must be empty.
#' @param level The confidence level of each arm's interval: a number in (0, 1).
#' @param outcome Which outcome of a release table: `"reward"`, or the name of another one
#'   ([agent_outcome()]).
#' @returns A tibble, one row for each problem (if there are several), policy, delay (of a replay), run and
#'   arm: `problem`, `policy` (factors), `delay`, `run`, `arm` (a factor if arms have names, else a number),
#'   `rewards` (in the sum), `mean`, `lower` and `upper`, in the units of the rewards; NA where there is no
#'   sum, and for `lower` and `upper` where rewards have no bounds. For a table without runs also `releases`,
#'   the number of releases in the sum.
#' @references Howard, S., Ramdas, A., McAuliffe, J. and Sekhon, J. (2021). Time-uniform,
#'   nonparametric, nonasymptotic confidence sequences. Annals of Statistics 49.
#' @template see_simulation
#' @examples
#' sim <- dpts_simulate(
#'   arms_bernoulli(c(new = 0.6, old = 0.5)),
#'   list(trusted = policy_dp_imed(1), local = policy_local(policy_imed(), 1), open = policy_imed()),
#'   horizon = 20000, runs = 1, seed = 1
#' )
#' estimates(sim)
#' @export
estimates <- function(x, level = 0.95, ...) UseMethod("estimates")

#' @export
estimates.default <- function(x, level = 0.95, ...) {
  abort_arg("x", "a result of `dpts_simulate()` or `dpts_replay()`, an agent, or a release table", x)
}

#' @rdname estimates
#' @export
estimates.dpts_releases <- function(x, level = 0.95, ..., outcome = "reward") {
  check_dots_empty(...)
  of <- release_records(x, outcome)
  if (all(vapply(of$records, `[[`, NA, "residuals"))) abort_residuals()
  estimates_of(of$records, of$keys, of$ever, level)
}

#' @rdname estimates
#' @export
estimates.dpts_simulation <- function(x, level = 0.95, ...) {
  check_dots_empty(...)
  kept <- checked_runs(x)
  own <- run_keys(x, kept)
  tabled <- has_table(kept, things_of(x$policy), own$bounded)
  if (all(tabled)) return(estimates(dpts_releases(x), level))
  until <- as_of(x, kept, own)
  if (any(until[!tabled] < Inf)) {
    at <- which(until < Inf & !tabled)[1]
    abort_as_of(kept$policy[at], until[at], "Its sums are known at the end of a run alone")
  }
  flips <- vapply(things_of(x$policy), flip_of, 0)[as.character(kept$policy)]
  records <- lapply(seq_len(nrow(kept)), function(i) {
    report <- matrix(kept$report[[i]], length(REPORT), dimnames = list(REPORT, NULL))
    list(ever = ncol(report), report = asplit(report, 1), low = own$range[1, i], high = own$range[2, i],
         bounded = own$bounded[i], flip = flips[[i]], grid = 0)
  })
  if (any(tabled)) {
    some <- kept[tabled, ]
    records[tabled] <- release_records(releases_of_runs(x, some, run_keys(x, some), until[tabled]))$records
  }
  estimates_of(records, lapply(own$keys, by_appearance), own$arms, level)
}

# Estimates from records of release_records(), or of what the policy reports: its noisy or plain sums where it
# releases none in batches
estimates_of <- function(records, keys, arms, level) {
  level <- check_number(level, 0, 1, open = TRUE)
  n <- vapply(records, `[[`, 0L, "ever")
  at <- rep(seq_along(n), n)
  reports <- lapply(records, function(record) record$report %||% release_totals(record))
  report <- lapply(stats::setNames(nm = REPORT), function(name) {
    unlist(lapply(reports, `[[`, name), use.names = FALSE)
  })
  of_run <- function(name) vapply(records, `[[`, 0, name)[at]
  bounded <- vapply(records, function(record) record$bounded %||% TRUE, NA)[at]
  found <- report_intervals(report, level, bounded, of_run("grid") > 0)
  unknown <- vapply(records, function(record) isTRUE(record$residuals), NA)[at]
  found <- lapply(found, function(value) {
    value[unknown] <- NA
    of_run("low") + from_bits(value, of_run("flip")) * (of_run("high") - of_run("low"))
  })
  counts <- if (length(keys)) list(rewards = ifelse(report$rewards > 0, report$rewards, NA_real_)) else
    list(rewards = report$rewards, releases = unlist(lapply(reports, `[[`, "releases")))
  columns <- c(lapply(keys, `[`, at), list(arm = arms(at, sequence(n))), counts, found)
  new_answer(columns, "dpts_estimates", list(level = level))
}

#' @rdname estimates
#' @export
estimates.dpts_replay <- function(x, level = 0.95, ...) {
  if (identical(shared(x, "method"), "weighted")) {
    abort_input("x", c(paste("`x` must be a replay whose events are not weighted: the policy's sums have",
                             "no weights."),
                       i = "`dpts_replay(method = \"rejection\")` keeps events such that none is needed."))
  }
  estimates.dpts_simulation(x, level, ...)
}

#' @rdname autoplot.dpts_pulls
#' @export
autoplot.dpts_estimates <- function(object, ...) {
  check_dots_empty(...)
  need_columns(object, c("arm", "mean", "lower", "upper"))
  data <- bare(object)
  data$y <- downwards(data$arm)
  data[c("at", "from", "to")] <- data[c("mean", "lower", "upper")]
  data <- data[!is.na(data$at), ]
  if (nrow(data) == 0) return(nothing_to_draw("No estimate to draw: nothing was released about the rewards."))
  first <- data[data[["run"]] %||% 1 == (data[["run"]] %||% 1)[1], ]
  draw_ranges(data, "Mean reward", caption = "Line: an interval that holds at all times together.",
              alt = sprintf("Estimated mean reward of each arm with its interval%s: %s.",
                            if (nrow(first) < nrow(data)) " in the first run" else "",
                            words_rows(first[intersect(c("problem", "policy", "delay", "arm"), names(first))],
                                       shorts(signif(first$at, 3)))))
}

# Intervals from reports
#
# `report`: A list of the numbers of [REPORT], one element of each for an arm of a run.
# `bounded`: Do rewards lie in [0, 1]?
# `live`: Was each release rounded to the grid of exact noise?
report_intervals <- function(report, level, bounded = TRUE, live = FALSE) {
  n <- length(report$rewards)
  out <- list(mean = report$sum / report$rewards, lower = rep(NA_real_, n), upper = rep(NA_real_, n))
  out$mean[report$rewards == 0] <- NA_real_
  live <- rep_len(live, n)
  out$mean[bounded] <- pmin(pmax(out$mean[bounded], 0), 1)
  known <- which(report$rewards > 0 & bounded)
  weight <- report$weight %||% rep(0, n)
  # The mixture is for one kind and scale of noise.
  for (these in split(known, list(report$kind[known], report$scale[known], weight[known]), drop = TRUE)) {
    one <- lapply(report, `[`, these)
    noise <- list(kind = noise_names(one$kind[1]), scale = one$scale[1])
    risk <- own_risk(one$looks, level)
    apart <- if (noise$kind == "Laplace") laplace_tail(one$last_terms, one$last_scale, risk) else
      gaussian_tail(one$last_scale * sqrt(one$last_terms), risk)
    count <- ifelse(one$looks > 0, one$looks, one$terms)
    squares <- if (weight[these[1]] > 0) {
      list(sum = one$squares, scale = one$scale[1] / one$weight[1], terms = count)
    }
    limits <- intervals(one$rewards, one$sum, noise, one$terms, ifelse(one$last_terms > 0, apart, 0),
                        level, steps = live[these] * pmax(one$terms, one$looks), squares = squares)
    out$lower[these] <- limits$lower
    out$upper[these] <- limits$upper
  }
  out
}

# The mean of rewards from that of their bits
from_bits <- function(x, flip) {
  ifelse(flip > 0, pmin(pmax((x - flip) / (1 - 2 * flip), 0), 1), x)
}
