# The second search for less regret inside a budget: correlated releases, evidence in place of
# geometric batches, and maximum likelihood. T = 1e5 unless said. bench/SEARCH.md says what the
# tables mean. Rscript bench/frontier.R [runs] > bench/FRONTIER.md
# Seeds 2611 to 2615: none was used for tuning. Random numbers are shared run by run.
library(dpts)
runs <- as.numeric(c(commandArgs(TRUE), 2000)[1])

# What the first search ended with (bench/search.R), and what there is now
first_gaussian <- function(mu) {
  policy_gaussian_imed(mu, ratio = if (mu < 0.5) 1.5 else if (mu < 1) 1.3 else 1.15,
                       first = max(4, ceiling(16 / mu)), weights = "variance", index = "tail",
                       schedule = "geometric", correlation = 0)
}
first_pure <- function(epsilon) {
  policy_dp_imed(epsilon, 1.5, ceiling(24 / epsilon), "variance", "tail")
}
now_gaussian <- function(mu, ...) policy_gaussian_imed(mu, ...)
now_pure <- function(epsilon, ...) policy_dp_imed(epsilon, index = "likelihood", ...)

panel <- dpts:::standard_panel(5)
outside <- list(
  four = arms_bernoulli(c(0.8, 0.7, 0.55, 0.3)),
  eight = arms_bernoulli(c(0.5, 0.62, 0.45, 0.6, 0.3, 0.35, 0.58, 0.2)),
  two = arms_bernoulli(c(0.88, 0.9)),
  ten = arms_bernoulli(c(0.5, 0.5, 0.5, 0.58, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5))
)
readme <- list(readme = arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25)))

# A matrix of regret: a row per run, a column per problem
play <- function(policy, problems, seed, n = runs, horizon = 1e5) {
  vapply(problems, function(arms) {
    dpts_simulate(arms, policy, horizon, runs = n, seed = seed, record = I(horizon),
                  progress = FALSE)$regret
  }, numeric(n))
}
# Geometric mean of the ratios of mean regret, with its standard error from the paired runs; and
# the problem with the largest ratio
against <- function(new, old) {
  log_ratio <- log(colMeans(new) / colMeans(old))
  influence <- sweep(new, 2, colMeans(new), "/") - sweep(old, 2, colMeans(old), "/")
  worst <- which.max(log_ratio)
  each <- apply(influence, 2, sd) / sqrt(nrow(new))
  c(ratio = exp(mean(log_ratio)),
    se = exp(mean(log_ratio)) * sd(rowMeans(influence)) / sqrt(nrow(new)),
    most = exp(log_ratio[[worst]]), most_se = exp(log_ratio[[worst]]) * each[[worst]])
}
line <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
header <- function(title, ...) {
  cat("\n### ", title, "\n\n", sep = "")
  line(...)
  line(rep("---", ...length()))
}
numbers <- function(x, digits = 0) paste(formatC(x, format = "f", digits = digits), collapse = " ")
above <- function(x, medians) 100 * colMeans(sweep(x, 2, 5 * medians, ">"))

columns <- c("budget", "policy", "regret / first search's (se)", "largest ratio (se)", "mean",
             "95th percentile", "% above 5 old medians", "% above 5 own medians", "worst run")
compared <- function(budget, policies, problems, seed, ...) {
  regret <- lapply(policies, play, problems, seed, ...)
  old <- regret[[1]]
  for (name in names(policies)) {
    x <- regret[[name]]
    a <- against(x, old)
    line(budget, name, sprintf("%.3f (%.3f)", a[1], a[2]), sprintf("%.3f (%.3f)", a[3], a[4]),
         numbers(colMeans(x), if (mean(x) < 150) 1 else 0), numbers(apply(x, 2, quantile, 0.95)),
         numbers(above(x, apply(old, 2, median)), 2), numbers(above(x, apply(x, 2, median)), 2),
         numbers(apply(x, 2, max)))
  }
}
gaussian <- function(mu) {
  list("first search" = first_gaussian(mu), "default" = now_gaussian(mu),
       "`safety = 0.6`" = now_gaussian(mu, safety = 0.6))
}
pure <- function(epsilon) {
  list("first search" = first_pure(epsilon), "likelihood" = now_pure(epsilon),
       "`safety = 0.6`" = now_pure(epsilon, safety = 0.6))
}
mus <- c(0.1, 0.25, 0.5, 1, 5)
epsilons <- c(0.1, 0.25, 0.5, 1)
each_budget <- function(...) {
  for (mu in mus) compared(sprintf("mu = %g", mu), gaussian(mu), ...)
  for (epsilon in epsilons) compared(sprintf("epsilon = %g", epsilon), pure(epsilon), ...)
}

cat("# Tables of the second search\n\nWritten by `Rscript bench/frontier.R ", runs,
    "`; SEARCH.md says what they mean.\n\n## Confirmed\n", sep = "")
do.call(header, as.list(c("Five arms of the README, means 0.75 to 0.25", columns)))
each_budget(readme, 2611, n = 2 * runs)
do.call(header, as.list(c("The panel: close, linear, convex, concave, small_gap, rare", columns)))
each_budget(panel, 2612)
yardstick <- play(policy_imed(), panel, 2612, n = runs / 2)
line("none", "IMED", "", "", numbers(colMeans(yardstick)),
     numbers(apply(yardstick, 2, quantile, 0.95)), "",
     numbers(above(yardstick, apply(yardstick, 2, median)), 2),
     numbers(apply(yardstick, 2, max)))
do.call(header, as.list(c("Outside the panel: four, eight, two and ten arms", columns)))
each_budget(outside, 2613)
do.call(header, as.list(c("T = 1e7, the panel", columns)))
for (mu in c(0.1, 1)) {
  compared(sprintf("mu = %g", mu), gaussian(mu), panel, 2614, n = runs / 2, horizon = 1e7)
}
for (epsilon in c(0.1, 1)) {
  compared(sprintf("epsilon = %g", epsilon), pure(epsilon), panel, 2614, n = runs / 2, horizon = 1e7)
}

cat("\n## Tried\n\nEach row changes one thing. Regret over the default's, geometric mean of the panel",
    "(se); then the largest share of runs above 5 of the default's medians, in per cent.\n")
tried <- function(title, name, budgets, default, variants) {
  do.call(header, as.list(c(title, "policy", sprintf("%s = %g", name, budgets))))
  base <- lapply(budgets, function(x) play(default(x), panel, 2615, n = runs / 2))
  medians <- lapply(base, apply, 2, median)
  cells <- function(make) {
    vapply(seq_along(budgets), function(i) {
      x <- play(make(budgets[i]), panel, 2615, n = runs / 2)
      a <- against(x, base[[i]])
      sprintf("%.3f (%.3f), %.1f", a[1], a[2], max(above(x, medians[[i]])))
    }, "")
  }
  for (name in names(variants)) line(name, cells(variants[[name]]))
}
grown <- function(mu) if (mu < 0.5) 1.3 else 1.15
tried("Gaussian IMED", "mu", mus, now_gaussian, list(
  "default" = now_gaussian,
  "correlation 0" = function(mu) now_gaussian(mu, correlation = 0),
  "correlation 0.5" = function(mu) now_gaussian(mu, correlation = 0.5),
  "correlation 0.8" = function(mu) now_gaussian(mu, correlation = 0.8),
  "index tail" = function(mu) now_gaussian(mu, index = "tail"),
  "index rate" = function(mu) now_gaussian(mu, index = "rate"),
  "safety 0" = function(mu) now_gaussian(mu, safety = 0),
  "safety 0.3" = function(mu) now_gaussian(mu, safety = 0.3),
  "safety 0.6" = function(mu) now_gaussian(mu, safety = 0.6),
  "safety 1" = function(mu) now_gaussian(mu, safety = 1),
  "geometric, ratio 1.3, 1.15 from mu = 0.5" = function(mu) {
    now_gaussian(mu, grown(mu), schedule = "geometric")
  },
  "the same, leader 1.5" = function(mu) {
    now_gaussian(mu, grown(mu), leader = 1.5, schedule = "geometric")
  },
  "the same, leader 2" = function(mu) {
    now_gaussian(mu, grown(mu), leader = 2, schedule = "geometric")
  },
  "ratio 1.4" = function(mu) now_gaussian(mu, 1.4),
  "ratio 2.4" = function(mu) now_gaussian(mu, 2.4),
  "first 8 / mu" = function(mu) now_gaussian(mu, first = max(4, ceiling(8 / mu))),
  "first 16 / mu" = function(mu) now_gaussian(mu, first = max(4, ceiling(16 / mu)))
))
tried("DP-IMED with `index = \"likelihood\"`", "epsilon", epsilons, now_pure, list(
  "default" = now_pure,
  "safety 0" = function(epsilon) now_pure(epsilon, safety = 0),
  "safety 0.6" = function(epsilon) now_pure(epsilon, safety = 0.6),
  "geometric, ratio 1.4" = function(epsilon) now_pure(epsilon, schedule = "geometric"),
  "the same, leader 2" = function(epsilon) now_pure(epsilon, leader = 2, schedule = "geometric"),
  "ratio 1.7" = function(epsilon) now_pure(epsilon, 1.7),
  "ratio 3.2" = function(epsilon) now_pure(epsilon, 3.2),
  "first 12 / epsilon" = function(epsilon) now_pure(epsilon, first = max(4, ceiling(12 / epsilon))),
  "first 30 / epsilon" = function(epsilon) now_pure(epsilon, first = max(4, ceiling(30 / epsilon))),
  "first 25 / epsilon, safety 0.1" = function(epsilon) {
    now_pure(epsilon, first = max(4, ceiling(25 / epsilon)), safety = 0.1)
  },
  "index rate, ratio 1.5, first 24 / epsilon, variance" = function(epsilon) {
    policy_dp_imed(epsilon, 1.5, ceiling(24 / epsilon), "variance", "rate")
  }
))

# What a better factorisation could still gain, by computation. A release of row b shows sum_j
# C_bj s_j with noise 1 / mu^2, columns of C of norm 1. The sd of the best mean after each batch,
# rewards (variance 1/4) included, over that with one noise variable for all; geometric mean.
loss <- function(C, sizes, mu) {
  ratios <- vapply(seq_along(sizes), function(b) {
    i <- seq_len(b)
    L <- sizes[i]
    Ci <- C[i, i, drop = FALSE]
    cov <- Ci %*% diag(L / 4, b) %*% t(Ci) + diag(1 / mu^2, b)
    shown <- Ci %*% L
    information <- sum(shown * solve(cov, shown))
    # one noise variable: the sum of all so far, released once
    n <- sum(L)
    log(sqrt(1 / information) / sqrt(1 / (4 * n) + 1 / (mu * n)^2))
  }, 0)
  exp(mean(ratios))
}
# Coefficients c_b of a moving average: C_bj = sqrt(1 - c_b^2) c_j ... c_(b-1)
average <- function(carry) {
  B <- length(carry)
  C <- matrix(0, B, B)
  for (j in seq_len(B)) for (b in j:B) {
    C[b, j] <- sqrt(1 - carry[b]^2) * prod(carry[seq_len(b - j) + j - 1])
  }
  C
}
any_factor <- function(x, B) {
  C <- matrix(0, B, B)
  C[lower.tri(C, TRUE)] <- x
  sweep(C, 2, sqrt(colSums(C^2)), "/")
}
header("Factorisations: sd of the mean over that with one noise variable", "mu, ratio, batches",
       "independent", "0.5", "0.65", "0.8", "best constant", "best c_b", "any factorisation")
for (case in list(c(0.1, 1.2, 8), c(0.1, 1.5, 7), c(0.5, 1.2, 8), c(0.5, 1.5, 7))) {
  mu <- case[1]
  B <- case[3]
  sizes <- ceiling(11 / mu)
  while (length(sizes) < B) sizes <- c(sizes, ceiling((case[2] - 1) * sum(sizes)))
  at <- function(carry) loss(average(rep_len(carry, B)), sizes, mu)
  constant <- optimize(at, c(0, 0.99))
  free <- optim(rep(qlogis(constant$minimum), B), function(x) at(plogis(x)), method = "BFGS",
                control = list(maxit = 300))
  start <- average(plogis(free$par))
  start <- sweep(start, 2, sqrt(colSums(start^2)), "/")
  any <- optim(start[lower.tri(start, TRUE)], function(x) loss(any_factor(x, B), sizes, mu),
               method = "BFGS", control = list(maxit = 300))
  line(sprintf("%g, %g, %d", mu, case[2], B), sprintf("%.4f", vapply(c(0, 0.5, 0.65, 0.8), at, 0)),
       sprintf("%.4f (%.2f)", constant$objective, constant$minimum), sprintf("%.4f", free$value),
       sprintf("%.4f", any$value))
}
