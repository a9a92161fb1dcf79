#' How much the published arms leak at least
#'
#' `sequence_lower_bound()` bounds from below how much Gaussian Thompson sampling reveals: at each delta, an
#' epsilon that an explicit adversary achieves. [sequence_epsilon()] is the bound from above.
#'
#' @details
#' The adversary is the one that the upper bounds assume. It knows the largest draw of the other arms and
#' decides, round by round, where that stands: x standard deviations from the private arm's mean. Two
#' strategies are tried, and the larger epsilon is reported.
#'
#' * The silent arm, in closed form: hold x and see whether the private arm is never pulled. With T rounds,
#'   the private arm's shift d = 1 / sqrt(c (n0 + 1)) and the position y under the stream that pulls less,
#'   epsilon is the largest over y of log(Phi(-y)^T - delta) - T log(Phi(-y - d)).
#' * Stage strategies: x by the rounds left and the private arm's rewards, from the maximisers of the
#'   recursion of [sequence_rdp()] at the order that suits delta. Transcripts are sampled under a distribution
#'   that makes large losses common, with exact likelihood ratios. A first sample
#'   proposes four epsilons; on a second, independent one, an empirical Bernstein bound (Maurer and Pontil
#'   2009) on truncated weights is a lower confidence bound on delta(epsilon), at a quarter of the
#'   risk each. Each epsilon reported therefore holds with confidence `level`.
#'
#' @section How wide is the band?:
#' With `bounded = FALSE` the adversary may hold x anywhere, as the upper bounds let it: the gap to
#' [sequence_epsilon()] is then all that a better proof of the same kind could gain. It is 2 to 4 percent at
#' `prepulls = 500`, `variance_scale = 14`, and up to 5 percent without pre-pulls for up to a thousand rounds
#' or so. Beyond those, without pre-pulls, it is about 15 percent: neither the lattice nor near-GDP serves
#' there.
#'
#' With `bounded = TRUE` rewards in \[0, 1\] limit the difference of two posterior means, so that x is
#' at most sqrt((n + 1) / c) in size. The changed reward moves the private arm's mean up, or down, in all
#' rounds: the adversary is solved once for each. That changes nothing at `prepulls = 500`, `variance_scale =
#' 14`, where the limit is 6, but much without pre-pulls, where it is 1.4 at first: at delta = 1e-5 about 40
#' in place of 50 over 1,000 rounds. No upper bound here makes use of that limit, so there the band is wide,
#' and the truth may lie anywhere in it.
#'
#' An adversary can achieve this bound if the other arms have enough rewards that their draws are almost
#' known, and if it chooses which of them are available (`pools = TRUE` in [dpts_privacy()]). That counts the
#' rounds after two arms' pre-pulls, or without pre-pulls those after the first. The rounds that gave the
#' other arms their rewards come on top. With few arms that are all new and always available, their own
#' randomness also hides the private arm, and what leaks may be less than the lower bound.
#'
#' @inheritParams sequence_gdp
#' @param ... Not used; later arguments must be named.
#' @param bounded `TRUE` to hold the adversary to rewards in \[0, 1\].
#' @param runs Transcripts to sample, a whole number of at least 100.
#' @param level Confidence of each epsilon: a number in (0, 1).
#' @param seed A whole number: the result depends on it alone, and R's generator is not touched;
#'   or `NULL` to take it from there.
#' @returns A vector of epsilons, `delta` and the setting recycled to one length; 0 where nothing was found.
#' @references Maurer, A. and Pontil, M. (2009). Empirical Bernstein Bounds and Sample Variance
#'   Penalization. COLT.
#' @template see_privacy
#' @examples
#' sequence_lower_bound(delta = c(1e-2, 1e-5), rounds = 100, runs = 2000)
#' sequence_epsilon(delta = c(1e-2, 1e-5), rounds = 100)
#' @export
sequence_lower_bound <- function(delta, rounds, prepulls = 0, variance_scale = 1, ...,
                                 bounded = FALSE, runs = 5000, level = 0.999, seed = 1) {
  check_dots_empty(...)
  delta <- check_numbers(delta, 0, 1)
  args <- check_samplers(rounds, prepulls, variance_scale, delta = delta)
  check_flag(bounded)
  runs <- check_count(runs, 100, 1e8)
  level <- check_number(level, 0, 1, open = TRUE)
  seed <- check_seed(seed)
  by_sampler(args, args$delta, function(delta, sampler) {
    lower_epsilon(delta, sampler, bounded, runs, level, seed)
  })
}

lower_epsilon <- function(delta, sampler, bounded, runs, level, seed) {
  epsilon <- vapply(delta, silent_epsilon, 0, sampler = sampler, bounded = bounded)
  # Below 1e-290 weights leave the range of doubles.
  open <- which(delta < 1 & delta > 1e-290)
  if (length(open) == 0) return(epsilon)
  order <- attr(orders_of_sequence(delta[open], sampler, fine = FALSE), "order")
  # The limit binds near the start or not at all.
  bounded <- bounded && (sampler$start + 1) / sampler$scale < 100
  play <- function(one, first, runs) {
    .Call(C_adversary, sampler$rounds, sampler$start, sampler$scale, 1 + exp(one$u), one$sign, seed,
          first, runs, progress_bar())
  }
  for (own in neighbours_of(delta[open])) {
    # A bounded adversary leaks less, and its best order is higher. Its changed reward moves the mean one
    # way, the same in all rounds; without limits the way down is never worse.
    u <- stats::median(order[own]) + if (bounded) c(0, 0.4, 0.8) else 0
    tried <- expand.grid(u = u, sign = if (bounded) c(-1L, 1L) else 0L)
    stage <- stage_epsilon(delta[open[own]], split(tried, seq_len(nrow(tried))), play, runs, level)
    epsilon[open[own]] <- pmax(epsilon[open[own]], stage)
  }
  epsilon
}

# Deltas that one order serves: up to a factor 1,000 apart
neighbours_of <- function(delta) {
  group <- floor((log10(delta) - min(log10(delta)) + 1e-9) / 3)
  split(seq_along(delta), group)
}

# The silent arm: the largest over y of log(Phi(-y)^T - delta) - T log(Phi(-y - d))
silent_epsilon <- function(delta, sampler, bounded = FALSE) {
  if (delta == 1) return(0)
  n0 <- sampler$start
  rounds <- sampler$rounds
  d <- 1 / sqrt(sampler$weight)
  limit <- if (bounded) sqrt((n0 + 1) / sampler$scale) else Inf # and n0 / (n0 + 1) as much above 0
  if (delta == 0 && !bounded) return(Inf)
  log_p <- function(y) rounds * stats::pnorm(-y, log.p = TRUE)
  at <- function(y) {
    seen <- log_p(y) + suppressWarnings(log1p(-delta * exp(-log_p(y))))
    less <- rounds * stats::pnorm(-y - d, log.p = TRUE)
    ifelse(is.nan(seen), -Inf, seen) - less * (1 - 1e-14) # rounded down
  }
  # At the largest y the arm is silent with probability delta, or the rewards end.
  most <- if (delta == 0) Inf else -stats::qnorm(log(delta) / rounds, log.p = TRUE)
  most <- min(most, limit * n0 / (n0 + 1) - d)
  least <- max(most - 12, -limit)
  if (!(least < most)) return(0)
  y <- seq(least, most, length.out = 400)
  best <- which.max(at(y))
  ends <- y[pmin(400, pmax(1, best + c(-1, 1)))]
  max(0, at(y), stats::optimize(at, ends, maximum = TRUE, tol = 1e-10)$objective)
}

# Stage strategies at a few deltas: first samples choose among orders and signs and propose epsilons, a
# second one tests them.
stage_epsilon <- function(delta, tried, play, runs, level) {
  few <- ceiling(runs / 3)
  alone <- length(tried) == 1 # then its table is solved once for both
  pilots <- lapply(tried, play, first = 0, runs = few + if (alone) runs else 0)
  test <- lapply(pilots[[1]], utils::tail, -few)
  if (alone) pilots[[1]] <- lapply(pilots[[1]], utils::head, few)
  proposed <- lapply(pilots, function(pilot) lapply(delta, propose, pilot = pilot, runs, level))
  total <- vapply(proposed, function(own) {
    sum(vapply(own, function(p) max(0, p$epsilon[1]), 0))
  }, 0)
  best <- which.max(total)
  if (!alone) test <- play(tried[[best]], few, runs)
  mapply(function(delta, own) accept(test, own, delta, level), delta, proposed[[best]])
}

# The largest of the proposed epsilons whose delta(epsilon) is surely above delta. Each is tested at
# its share of the risk.
accept <- function(sample, own, delta, level) {
  risk <- (1 - level) / length(TEST_MARGINS)
  sure <- mapply(function(epsilon, cap) {
    mean_above(pmin(excess_weight(sample, epsilon), cap), cap, risk) >= delta
  }, own$epsilon, own$cap)
  max(0, own$epsilon[as.logical(sure)])
}

# (P/R) (1 - exp(epsilon - L))+, whose mean under R is delta(epsilon)
excess_weight <- function(sample, epsilon) {
  exp(sample$weight) * pmax(-expm1(epsilon - sample$loss), 0)
}

# By how much a proposal should pass its test, going by the first sample
TEST_MARGINS <- c(0, 0.03, 0.1, 0.3)

# Epsilons to test, and where to truncate the weights. Any choice is valid that does not look at the
# second sample.
propose <- function(delta, pilot, runs, level) {
  mean_at <- function(epsilon) mean(excess_weight(pilot, epsilon))
  most <- max(pilot$loss)
  if (mean_at(0) <= delta || most <= 0) return(list(epsilon = 0, cap = 1))
  # where the pilot's estimate is delta times these: by interpolation between the ends
  goals <- log(delta) + c(seq(6, 1, by = -0.25), seq(0.8, 0.01, by = -0.02))
  goals <- goals[goals < log(mean_at(0))]
  if (length(goals) == 0) return(list(epsilon = 0, cap = 1))
  # Where the largest loss is common, deltas of all goals belong to it, or almost.
  top <- most * (1 - 1e-6)
  if (log(mean_at(top)) >= max(goals)) {
    return(list(epsilon = top, cap = 1.2 * max(excess_weight(pilot, top))))
  }
  ends <- vapply(range(goals) - c(0.01, 0), function(goal) { # never the same
    stats::uniroot(function(e) mean_at(e) - exp(goal), c(0, most), tol = 1e-6 * most)$root
  }, 0)
  between <- seq(ends[2], ends[1], length.out = 25)
  epsilon <- stats::approx(log(vapply(between, mean_at, 0)), between, goals, rule = 2, ties = mean)$y
  tested <- vapply(epsilon, function(e) {
    y <- excess_weight(pilot, e)
    cap <- 1.2 * max(y)
    c(cap, mean_above(y, cap, (1 - level) / length(TEST_MARGINS), runs))
  }, numeric(2))
  cap <- tested[1, ]
  hoped <- tested[2, ]
  at <- vapply(TEST_MARGINS, function(margin) {
    passes <- which(hoped >= delta * (1 + margin))
    if (length(passes) == 0) NA else max(passes)
  }, 0L)
  at <- unique(at[!is.na(at)])
  if (length(at) == 0) return(list(epsilon = 0, cap = 1))
  list(epsilon = epsilon[at], cap = cap[at])
}

# A lower confidence bound on the mean of y in [0, cap] (Maurer and Pontil 2009, Theorem 4); or what
# it would be if the sample were of size n
mean_above <- function(y, cap, risk, n = length(y)) {
  log_risk <- log(2 / risk)
  mean(y) - sqrt(2 * stats::var(y) * log_risk / n) - 7 * cap * log_risk / (3 * (n - 1))
}
