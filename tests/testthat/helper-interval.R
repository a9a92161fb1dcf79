# The interval of a mean regret, from the section Intervals of ?summary.dpts_simulation and not from its code
interval_by_help <- function(x, level = 0.95, low = 0, high = Inf, rarely = FALSE) {
  n <- length(x)
  unseen <- 1 - ((1 - level) / 2)^(1 / n)
  far <- 1.75 + 5 / n
  equal <- max(table(x))
  alike <- equal > n / 2 && n - equal <= 2
  half <- qt((1 + level) / 2, n - 1) * sd(x) / sqrt(n)
  # Failures that were not seen lose all that can be lost.
  blind <- rarely && sum(x > 5 * median(x)) < 10
  if (blind && unseen * (high - mean(x)) > median(x)) return(c(NA_real_, NA_real_))
  side <- function(seen, possible, all = alike) sqrt(half^2 + (unseen * if (all) possible else min(far * seen, possible))^2)
  sides <- c(-side(mean(x) - min(x), mean(x) - low), side(max(x) - mean(x), high - mean(x), alike || blind))
  limits <- if (low == 0 && mean(x) > 0 && !alike) mean(x) * exp(sides / mean(x)) else mean(x) + sides
  c(max(low, limits[1]), min(high, limits[2]))
}

# The share of intervals from n of the runs of a population that hold its mean, of `times` samples; NA where there
# is hardly ever an interval
covered <- function(population, n, low = 0, high = Inf, rarely = FALSE, times = 1000, level = 0.95) {
  runs <- matrix(sample(population, n * times, TRUE), n)
  stats <- group_stats(c(runs), c(col(runs)))
  own <- mean_interval(stats, level, low, high, rise = small_failures(stats, level, high, rarely))
  known <- !is.na(own$lower)
  if (mean(known) < 0.05) NA else mean((own$lower <= mean(population) & mean(population) <= own$upper)[known])
}
