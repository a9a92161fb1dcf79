# Critical values of a test that a board makes at several planned looks: an error that is spent as people come
# (Lan and DeMets 1983), for sums of independent increments.

# The part of a one-sided error that may be spent until a share of the people: the two of Lan and DeMets that
# come near the boundaries of O'Brien and Fleming, and of Pocock
error_spent <- function(share, error, spending) {
  switch(spending, obrien_fleming = 2 * stats::pnorm(stats::qnorm(error / 2) / sqrt(share)),
         pocock = error * log1p((exp(1) - 1) * share))
}

# How often standardised sums of a standard normal walk first cross a boundary at each look. The density of
# the sums that have not crossed before is kept on a grid (Armitage, McPherson and Rowe 1969), and each look
# integrates over the grid of the one before, by Simpson's rule.
#
# `share`: of the whole walk at each look
# `critical_at`: a function of the number of the look, and of a function that gives the probability of a first
#   crossing at a critical value. It returns the critical value.
# Returns critical values, and the probabilities.
walk_looks <- function(share, critical_at) {
  grid <- NULL
  crossed <- found <- numeric(length(share))
  for (j in seq_along(share)) {
    step <- share[j] - if (j > 1) share[j - 1] else 0
    cross <- function(b) {
      x <- b * sqrt(share[j])
      if (j == 1) return(stats::pnorm(b, lower.tail = FALSE))
      sum(grid$weight * stats::pnorm((x - grid$at) / sqrt(step), lower.tail = FALSE))
    }
    found[j] <- critical_at(j, cross)
    crossed[j] <- cross(found[j])
    if (j == length(share)) break
    high <- min(found[j], FAR_OUT) * sqrt(share[j])
    low <- min(-FAR_OUT * sqrt(share[j]), high - 1)
    n <- 2 * ceiling(max(100, 3 * (high - low) / sqrt(min(step, share[j + 1] - share[j])))) + 1
    at <- seq(low, high, length.out = n)
    density <- if (j == 1) stats::dnorm(at, 0, sqrt(step)) else
      drop(stats::dnorm(outer(at, grid$at, "-"), 0, sqrt(step)) %*% grid$weight)
    simpson <- c(1, rep_len(c(4, 2), n - 2), 1) * (at[2] - at[1]) / 3
    grid <- list(at = at, weight = density * simpson)
  }
  list(critical = found, crossed = crossed)
}

FAR_OUT <- 8.5 # standard deviations, beyond which a probability is below 1e-16

# Critical values of a one-sided test at these shares of the people, the last of which is 1 at most. Many runs
# and pairs of arms ask for the same ones, so those of a session are kept. `clock`: see look_clock()
look_boundary <- function(share, error, spending, clock = share) {
  key <- paste(c(sprintf("%.17g", c(share, error, clock)), spending), collapse = " ")
  if (!is.null(BOUNDARIES[[key]])) return(BOUNDARIES[[key]])
  if (length(BOUNDARIES) > 2000) rm(list = ls(BOUNDARIES), envir = BOUNDARIES)
  spent <- diff(c(0, error_spent(share, error, spending)))
  found <- walk_looks(clock, function(j, cross) {
    if (spent[j] < 1e-12) return(Inf) # which noisy_quantile() could not tell from 0
    stats::uniroot(function(b) log(cross(b)) - log(spent[j]), c(-5, FAR_OUT), extendInt = "downX",
                   tol = 1e-8)$root
  })$critical
  assign(key, found, BOUNDARIES)
  found
}

BOUNDARIES <- new.env(parent = emptyenv())

# The clock of the walk at looks. A sum's variance is that of rewards, which grows with people, and that of
# noise, which grows with releases: where later blocks are smaller, noise grows faster than people. The
# correlation of two looks is the root of the ratio of their variances, which is at least the lesser one of
# the two ratios. A walk on that clock has no larger correlations, so that by Slepian's inequality (1962) it
# crosses at least as often, whatever the variance of rewards is.
#
# `share`: of the people at each look
# `noise`: the variance of noise in the sums so far, in any unit
look_clock <- function(share, noise) {
  ratio <- function(x) x[-length(x)] / x[-1]
  people <- ratio(share)
  least <- pmin(people, ratio(noise), na.rm = TRUE)
  if (all(least > (1 - 1e-9) * people)) return(share)
  share[length(share)] * rev(cumprod(rev(c(pmax(least, 1e-6), 1))))
}

# The least one-sided error with which a statistic is above the critical value at one of the looks, for each
# row of `z`, with a column for each look (NA: not yet). Critical values are interpolated between ERRORS. A
# statistic beyond them has the least of these, or 1.
look_errors <- function(z, share, spending, clock = share) {
  critical <- vapply(ERRORS, look_boundary, share, share = share, spending = spending, clock = clock)
  critical <- matrix(critical, length(share))
  least <- rep(1, nrow(z))
  for (j in seq_len(ncol(z))) {
    use <- is.finite(critical[j, ])
    known <- !is.na(z[, j]) & z[, j] >= min(critical[j, use])
    of <- stats::splinefun(critical[j, use], stats::qnorm(ERRORS[use]), "monoH.FC")
    x <- pmin(z[known, j], max(critical[j, use]))
    least[known] <- pmin(least[known], stats::pnorm(of(x)))
  }
  replace(least, rowSums(!is.na(z)) == 0, NA)
}

ERRORS <- stats::pnorm(-seq(6, 0, by = -0.25))

# ---- looks of a board ----------------------------------------------------------------------------------

SPENDING <- c("obrien_fleming", "pocock")

# -> list(share, spending), NULL: only at the end
check_looks <- function(looks, spending) {
  if (is.null(looks)) return(NULL)
  looks <- check_numbers(looks, 0, 1, open = TRUE)
  if (is.unsorted(looks, strictly = TRUE)) abort_arg("looks", "increasing shares of the people", looks)
  list(share = as.vector(looks), spending = spending)
}

# The numbers of people at looks, the end included
looks_people <- function(looks, people) unique(pmin(c(ceiling(looks$share * people - 1e-9), people), people))

# As text, and back
looks_text <- function(looks) paste(c(sprintf("%.15g", looks$share), looks$spending), collapse = " ")

looks_of_text <- function(text) {
  if (is.na(text)) return(NULL)
  parts <- strsplit(text, " ", fixed = TRUE)[[1]]
  share <- suppressWarnings(as.numeric(utils::head(parts, -1)))
  spending <- utils::tail(parts, 1)
  inside <- length(share) && all(is.finite(share) & share > 0 & share < 1)
  if (inside && !is.unsorted(share, strictly = TRUE) && spending %in% SPENDING) {
    list(share = share, spending = spending)
  }
}

# A critical value of the normal distribution, for sums with Laplace noise: noisy_quantile() at its level
look_quantile <- function(critical, share, terms) {
  if (critical == Inf) replace(share, TRUE, Inf) else noisy_quantile(stats::pnorm(critical), share, terms)
}
