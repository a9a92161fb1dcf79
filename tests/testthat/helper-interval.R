# The interval of a mean regret, from the section Intervals of ?summary.dpts_simulation and not from its code
interval_by_help <- function(x, level = 0.95, low = 0, high = Inf, far = 1.75) {
  n <- length(x)
  unseen <- 1 - ((1 - level) / 2)^(1 / n)
  equal <- max(table(x))
  alike <- equal > n / 2 && n - equal <= 2
  half <- qt((1 + level) / 2, n - 1) * sd(x) / sqrt(n)
  side <- function(seen, possible) sqrt(half^2 + (unseen * if (alike) possible else min(far * seen, possible))^2)
  sides <- c(-side(mean(x) - min(x), mean(x) - low), side(max(x) - mean(x), high - mean(x)))
  limits <- if (low == 0 && mean(x) > 0 && !alike) mean(x) * exp(sides / mean(x)) else mean(x) + sides
  c(max(low, limits[1]), min(high, limits[2]))
}

# The share of intervals from n of the runs of a population that hold its mean, of `times` samples
covered <- function(population, n, low = 0, high = Inf, times = 1000, level = 0.95) {
  runs <- matrix(sample(population, n * times, TRUE), n)
  own <- mean_interval(group_stats(c(runs), c(col(runs))), level, low, high)
  mean(own$lower <= mean(population) & mean(population) <= own$upper)
}
