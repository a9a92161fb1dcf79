# Continuous outcomes, from the theory of squares alone: how often what is concluded from sums and squares is false. The
# noisy sums are made here, person by person: outcomes drift, are rare or skewed, or vary differently with the same mean, and
# chances follow what was released.

random_values <- function() sort(c(stats::runif(whole(1, 3)), if (flip()) 0, if (flip()) 1))

# A law on [0, 1] with few values: list(x, p)
random_outcome <- function() {
  x <- one_of(random_values(), c(0, 1), c(0.02, 0.05, 1), c(0.4, 0.5, 0.6), c(0, 0.95, 1))
  list(x = x, p = prop.table(stats::rexp(length(x))))
}
mean_of <- function(law) sum(law$x * law$p)

# A law of the same mean with other values: narrow (one value) or wide (0 and 1)
same_mean <- function(law, how) {
  m <- mean_of(law)
  switch(how, narrow = list(x = m, p = 1), wide = list(x = 0:1, p = c(1 - m, m)), same = law)
}

draw_outcome <- function(law, n) law$x[sample.int(length(law$x), n, TRUE, law$p)]

# Two arms that are equal at each person, however they drift: `blocks` of them, chances that follow the released sums
null_table <- function(s) {
  n_block <- sample(s$size, s$blocks, TRUE)
  p <- 0.5
  total <- c(0, 0)
  count <- c(0, 0)
  rows <- list()
  weight <- if (s$noise == "laplace") 1 else 2
  laws <- s$laws
  noise <- function(scale) {
    switch(s$noise, none = 0, gaussian = stats::rnorm(1, 0, scale), laplace = scale * stats::rexp(1) * one_of(-1, 1))
  }
  for (b in seq_len(s$blocks)) {
    law <- laws[[1 + (b %/% s$period) %% length(laws)]]
    arm <- 1 + (stats::runif(n_block[b]) >= p)
    for (a in 1:2) {
      own <- same_mean(law, s$spread[a])
      x <- draw_outcome(own, sum(arm == a))
      row <- c(block = b, arm = a, n = length(x), sum = sum(x) + noise(s$scale),
               squares = sum((x - 0.5)^2) + noise(s$scale / weight), chance = c(p, 1 - p)[a])
      rows[[length(rows) + 1]] <- row
      total[a] <- total[a] + row[["sum"]]
      count[a] <- count[a] + length(x)
    }
    m <- total / pmax(1, count)
    if (s$follow) p <- if (m[1] > m[2]) 1 - s$floor else s$floor
  }
  x <- as.data.frame(do.call(rbind, rows))
  x$floor <- s$floor
  as_releases(x, noise = s$noise, scale = if (s$noise == "none") 0 else s$scale)
}

outcomes_setting <- function() {
  list(blocks = whole(2, 12), size = sort(whole(20, 300) * c(1, 3)), noise = one_of("none", "gaussian", "laplace"),
       scale = between(0.1, 10), laws = lapply(seq_len(whole(1, 4)), function(i) random_outcome()), period = whole(1, 4),
       spread = c(one_of("same", "narrow", "wide"), one_of("same", "narrow", "wide")), follow = flip(),
       floor = one_of(0.5, 0.3, 0.1), runs = 20, seed = whole(1, 1e6))
}

# No difference at any person, or one that changes its sign: -> what is proved, and how wide it is
referee_model("squares_tosses", outcomes_setting, function(s) {
  set.seed(s$seed)
  alpha <- 0.1
  false <- missed <- against <- 0
  for (i in seq_len(s$runs)) {
    table <- null_table(s)
    w <- evidence(table, "tosses")
    false <- false + any(tapply(w$evidence, w$arm, max) >= log(1 / alpha))
    e <- effects(table, level = 1 - alpha)
    missed <- missed + !(e$lower <= 1e-12 && e$upper >= -1e-12)
  }
  c(count_errors("false proofs by tosses with squares", false, s$runs, 2 * alpha), # of either direction
    count_errors("intervals by tosses with squares that miss", missed, s$runs, alpha))
})

# Means that do not change, while the law of the rewards may: releases of a policy's own batches
means_setting <- function() {
  k <- whole(2, 3)
  list(laws = lapply(seq_len(k), function(i) random_outcome()), equal = flip(0.4), outcome = "continuous",
       budget = one_of(list(), list(mu = between(0.2, 5)), list(epsilon = between(0.2, 5))), kind = one_of("top_two", "imed"),
       correlation = one_of(0, 0.65), horizon = whole(200, 3000), runs = 10, seed = whole(1, 1e6))
}

referee_model("squares_means", means_setting, function(s) {
  laws <- s$laws
  if (s$equal) laws <- lapply(seq_along(laws), function(i) same_mean(laws[[1]], c("same", "wide", "narrow")[i]))
  values <- sort(unique(unlist(lapply(laws, `[[`, "x"))))
  p <- vapply(laws, function(law) vapply(values, function(v) sum(law$p[law$x == v]), 0), numeric(length(values)))
  mean <- vapply(laws, mean_of, 0)
  policy <- if (s$kind == "top_two") do.call(policy_top_two, c(s$budget, error = 0.2, outcome = "continuous")) else
    policy_gaussian_imed(mu = c(s$budget$mu, 1)[1], correlation = s$correlation, outcome = "continuous")
  if (length(values) == 1) return(character())
  sim <- dpts_simulate(arms_discrete(values, t(p)), policy, s$horizon, runs = s$runs, seed = s$seed, history = TRUE)
  said <- verdict(sim, error = 0.2)
  named <- !is.na(said$arm)
  wrong <- sum(mean[as.integer(said$arm[named])] < max(mean) - 1e-12)
  e <- effects(sim, level = 0.8)
  truth <- mean[as.integer(e$arm)] - mean[as.integer(e$control)]
  out <- is.na(e$lower) | e$lower > truth + 1e-9 | e$upper < truth - 1e-9
  missed <- sum(tapply(out, e$run, any))
  c(count_errors("wrong verdicts by means with squares", wrong, s$runs, 0.2),
    count_errors("intervals by means with squares that miss", missed, s$runs, 0.2))
})
