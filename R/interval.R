# Confidence intervals for means of simulated runs and for shares. Whatever prints an interval of a mean
# over runs computes it here: summary(), tidy(), autoplot(), dpts_compare(), dpts_recommend(), dpts_tune().

# What is known of numbers in groups, in the order of the groups' numbers from 1.
# Returns vectors, an element a group: `n`, `mean`, `median`, `sd` (NA for one number), `least`, `most`,
# `failed`: how many numbers are above FAILED times the median, and `alike`: are more than half of the numbers
# equal, all but at most two?
group_stats <- function(value, group) {
  n <- tabulate(group)
  total <- function(v) {
    sums <- numeric(length(n))
    sums[unique(group)] <- rowsum(v, group, reorder = FALSE)
    sums
  }
  mean <- total(value) / n
  mean <- mean + total(value - mean[group]) / n # of equal numbers, that number
  sd <- sqrt(total((value - mean[group])^2) / (n - 1))
  sd[n < 2] <- NA_real_
  sorted <- value[order(group, value)]
  first <- cumsum(n) - n + 1
  at <- function(i) sorted[first + i]
  # Equal numbers stand together among the sorted ones, from the first, second or third on.
  need <- pmax(n - 2, n %/% 2 + 1)
  alike <- rep(FALSE, length(n))
  for (skip in 0:2) {
    fits <- skip + need <= n
    ends <- at(ifelse(fits, skip + need - 1, 0)) - at(ifelse(fits, skip, 0))
    alike <- alike | fits & ends <= 1e-9 * abs(at(ifelse(fits, skip, 0)))
  }
  median <- (at((n - 1) %/% 2) + at(n %/% 2)) / 2
  list(n = n, mean = mean, median = median, sd = sd, least = at(0), most = at(n - 1),
       failed = total(as.numeric(value > FAILED * median[group])), alike = alike)
}

# A run has failed if its regret is above FAILED times the median.
FAILED <- 5

# The interval of a mean of runs
#
# Student's interval is too short where runs are skewed, and has no width where all runs are alike. A share
# p of all possible runs is in none of n runs with chance (1 - p)^n. With p such that this is half of 1 -
# level, 3.7 / n at 0.95, each side of the interval has two parts, added as squares: Student's half width,
# and p times the distance at which unseen runs may lie. This distance is FAR + 5 / n times that of the
# farthest run seen on this side of the mean. Where runs are alike (see group_stats()) they do not show a
# distance: then unseen runs may lie anywhere between `low` and `high`. Where numbers are at least 0, as
# regrets are, the sides are those of the logarithm of the mean.
#
# Of 22 policies and problems (horizons of 1,000 to 100,000, 20,000 runs as the truth) 95% intervals from 5,
# 10, 20, 50 and 100 runs hold the mean in 92 to 100% of samples; Student's on the logarithm from 22%. For
# nearly normal runs the interval is 20 to 70% wider than Student's.
#
# `stats`: of group_stats(). `low`, `high`: the least and the largest possible mean; infinite where that is
# not known, and the interval of runs that are alike is then NA. `fall`, `rise`: what unseen failures may take
# from the mean or add to it; NA leaves no interval.
mean_interval <- function(stats, level, low = 0, high = Inf, fall = 0, rise = 0) {
  alpha <- (1 - level) / 2
  n <- stats$n
  mean <- stats$mean
  high <- pmax(high, stats$most)
  low <- pmin(low, stats$least)
  unseen <- unseen_share(n, level)
  student <- suppressWarnings(stats::qt(alpha, n - 1, lower.tail = FALSE)) * stats$sd / sqrt(n)
  far <- FAR + 5 / n
  away <- function(seen, possible) unseen * ifelse(stats$alike, possible, pmin(far * seen, possible))
  below <- sqrt(student^2 + pmax(away(mean - stats$least, mean - low), fall)^2)
  above <- sqrt(student^2 + pmax(away(stats$most - mean, high - mean), rise)^2)
  by_ratio <- low >= 0 & mean > 0 & !stats$alike
  ratio <- function(half) exp(ifelse(by_ratio, half / mean, 0))
  known <- is.finite(below) & is.finite(above)
  list(lower = ifelse(known, pmax(low, ifelse(by_ratio, mean / ratio(below), mean - below)), NA_real_),
       upper = ifelse(known, pmin(high, ifelse(by_ratio, mean * ratio(above), mean + above)), NA_real_))
}

FAR <- 1.75

# The share of all possible runs that may be in none of n
unseen_share <- function(n, level) 1 - ((1 - level) / 2)^(1 / n)

# What runs that fail and were not seen may add to the mean regret of a policy that `fails_rarely`: 0 where
# ENOUGH_FAILURES were seen, else what the unseen share adds if its runs lose all that can be lost.
unseen_failures <- function(stats, level, high, rarely) {
  add <- unseen_share(stats$n, level) * (high - stats$mean)
  ifelse(rarely & stats$failed < ENOUGH_FAILURES, add, 0)
}

# The same, NA where it is more than the median, which leaves no interval
small_failures <- function(stats, level, high, rarely) {
  add <- unseen_failures(stats, level, high, rarely)
  ifelse(add > stats$median, NA_real_, add)
}

ENOUGH_FAILURES <- 10

# The share of runs in which an event happens that happened in `hits` of them, at least and at most: one-sided
# limits of Clopper and Pearson (1934), each wrong with a chance of at most `risk`
clopper_lower <- function(hits, runs, risk) stats::qbeta(risk, hits, runs - hits + 1)

clopper_upper <- function(hits, runs, risk) stats::qbeta(risk, hits + 1, runs - hits, lower.tail = FALSE)

# Wilson's interval for a mean in [0, 1] of n numbers; [0, 1] where n is 0
wilson <- function(p, n, level) {
  z <- stats::qnorm((1 + level) / 2)
  centre <- (n * p + z^2 / 2) / (n + z^2)
  half <- z / (n + z^2) * sqrt(n * p * (1 - p) + z^2 / 4)
  list(lower = pmax(0, centre - half), upper = pmin(1, centre + half))
}

# The interval of an estimated mean `p` in [0, 1] with the standard error `se`: on each side the wider of the
# normal interval and Wilson's, `share`. Wilson's alone lies above the mean too often where a few rewards of 1
# come by chance: 95% intervals held 84% of means with 0.17 expected.
wider_interval <- function(p, se, share, level) {
  half <- stats::qnorm((1 + level) / 2) * se
  list(lower = pmax(0, pmin(p - half, share$lower)), upper = pmin(1, pmax(p + half, share$upper)))
}

# The tail above x > 0 of a sum of mean 0 and variance 1: a normal part, and noise with Laplace tails, which
# has the share `share` of the variance and the excess kurtosis 3 / `terms`: so many equal variables, if
# they are equal. The sum is normal given a variance of 1 - share + share G / terms, G of a gamma
# distribution of shape `terms`, since a Laplace variable is normal with an exponential variance.
# Returns the tail as a function of x.
noisy_tail <- function(share, terms) {
  if (!(share > 0)) return(function(x) stats::pnorm(x, lower.tail = FALSE))
  y <- seq(-30, 30, length.out = 1201) / sqrt(min(terms, 1)) / max(1, sqrt(terms) / 4)
  weight <- exp(terms * y - terms * expm1(y))
  counts <- weight > 1e-20 # of 1 at most: one in ten, with ten terms
  spread <- pmax(sqrt(1 - share + share * exp(y[counts])), 1e-150) # 0 / 0 is none
  weight <- weight[counts] / sum(weight)
  function(x) sum(weight * stats::pnorm(x / spread, lower.tail = FALSE))
}

# The quantile of such sums. `share` and `terms` are rounded to the safe side, so that there are few to
# compute.
# `p`: above 1/2; `share`, `terms`: matrices of one size
noisy_quantile <- function(p, share, terms) {
  heavy <- which(share > 0)
  out <- share
  out[] <- stats::qnorm(p)
  if (!length(heavy)) return(out)
  share <- pmin(ceiling(100 * share[heavy]) / 100, 1)
  digit <- 10^floor(log10(terms[heavy]) - 1)
  terms <- floor(terms[heavy] / digit) * digit
  own <- unique(cbind(share, terms))
  found <- vapply(seq_len(nrow(own)), function(i) {
    tail <- noisy_tail(own[i, 1], own[i, 2])
    stats::uniroot(function(x) tail(x) - (1 - p), c(0, 1e3), tol = 1e-6)$root
  }, 0)
  out[heavy] <- found[match(paste(share, terms), paste(own[, 1], own[, 2]))]
  out
}
