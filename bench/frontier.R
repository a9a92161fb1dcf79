# The second search for less regret inside a budget: correlated releases, evidence in place of
# geometric batches, and maximum likelihood. bench/SEARCH.md says what the tables mean.
# Rscript bench/frontier.R [runs] [part ...] > bench/FRONTIER.md, the parts being readme, panel,
# outside, long, bad, tried_gaussian, tried_pure and factorisations; all of them unless named.
# Seeds 2631 to 2637: none was used for choosing, with the exception that SEARCH.md names. Random numbers are shared run by run.
library(dpts)
asked <- commandArgs(TRUE)
runs <- as.numeric(c(asked, 2000)[1])
wanted <- function(part) length(asked) < 2 || part %in% asked[-1]

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
safe <- function(now, x) now(x, safety = dpts:::safer(now(x))) # of dpts_recommend(prefer = "safe")
of_first <- function(x) max(4, ceiling(x))

panel <- dpts:::standard_panel(5)
outside <- list(
  four = arms_bernoulli(c(0.8, 0.7, 0.55, 0.3)),
  eight = arms_bernoulli(c(0.5, 0.62, 0.45, 0.6, 0.3, 0.35, 0.58, 0.2)),
  two = arms_bernoulli(c(0.88, 0.9)),
  ten = arms_bernoulli(c(0.5, 0.5, 0.5, 0.58, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5))
)
readme <- list(readme = arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25)))

# Regret at the horizon and at twelve from 0.4 to 2.5 of it, by which the phase of the leader's
# last batch averages out: an array of runs, problems and horizons, the first being `horizon`
play <- function(policy, problems, seed, n = runs, horizon = 1e5, around = TRUE) {
  at <- c(horizon, if (around) round(horizon * 0.4 * 6.25^(seq(0, 1, length.out = 12))))
  one <- function(arms) {
    sim <- dpts_simulate(arms, policy, max(at), runs = n, seed = seed, record = I(sort(at)),
                         progress = FALSE)
    matrix(sim$regret[order(match(sim$t, at), sim$run)], n)
  }
  aperm(simplify2array(lapply(problems, one)), c(1, 3, 2))
}
at_end <- function(x) matrix(x[, , 1], nrow(x))
# Geometric mean over problems, and over horizons if there are more, of the ratios of mean regret,
# with its standard error from the paired runs
means <- function(x) apply(x, 2:3, mean)
ratio <- function(new, old) {
  logs <- log(means(new) / means(old))
  influence <- sweep(new, 2:3, means(new), "/") - sweep(old, 2:3, means(old), "/")
  each <- apply(influence, 1, mean)
  c(exp(mean(logs)), exp(mean(logs)) * sd(each) / sqrt(nrow(new)))
}
with_se <- function(x) sprintf("%.3f (%.3f)", x[1], x[2])
# At the horizon; over the twelve, with the least and the largest of any one; the problem with the
# largest ratio
against <- function(new, old) {
  end <- function(x) x[, , 1, drop = FALSE]
  twelve <- function(x) x[, , -1, drop = FALSE]
  by_problem <- lapply(seq_len(ncol(new)), function(j) {
    ratio(new[, j, 1, drop = FALSE], old[, j, 1, drop = FALSE])
  })
  by_horizon <- exp(colMeans(log(means(twelve(new)) / means(twelve(old)))))
  c(with_se(ratio(end(new), end(old))),
    sprintf("%s %.2f %.2f", with_se(ratio(twelve(new), twelve(old))), min(by_horizon),
            max(by_horizon)),
    with_se(by_problem[[which.max(vapply(by_problem, `[`, 0, 1))]]))
}
line <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")
header <- function(title, ...) {
  cat("\n### ", title, "\n\n", sep = "")
  line(...)
  line(rep("---", ...length()))
}
numbers <- function(x, digits = 0) paste(formatC(x, format = "f", digits = digits), collapse = " ")
above <- function(x, medians) 100 * colMeans(sweep(x, 2, 5 * medians, ">"))

medians <- function(x) apply(x, 2, median)
INTRO <- "on seeds 2631 to 2637. None
of them was used to choose a setting, with the exception that SEARCH.md names. It says what follows from the tables, how the settings were found, and what was not reached.

* **Policies.** `default` is `policy_gaussian_imed(mu)`, `likelihood` is `policy_dp_imed(epsilon, index =
  \"likelihood\")`, and `first search` is what the first search advised: geometric batches of ratio 1.5 (1.3 from mu = 0.5
  and 1.15 from mu = 1) that begin with 16 / mu or 24 / epsilon rewards, independent releases weighted by inverse variance, and
  the index `\"tail\"`.
* **Ratios** are geometric means over the problems of mean regret over the first search's, with the standard error by
  paired runs, which share their random numbers. T = 1e5 unless said.
* **Over horizons** is the mean of the ratio at twelve horizons from 0.4 T to 2.5 T, evenly on the logarithmic scale, and then the least
  and the largest of the twelve. While the leader's batch lasts no other arm is pulled, so the regret at a single horizon
  depends on where its last batch happens to end.
* **Bad runs** lose more than five medians, of the first search (old) or of the policy itself (own).
"

columns <- c("budget", "policy", "regret / first search's (se)",
             "over horizons (se), least, largest", "largest ratio of a problem (se)", "mean", "95th percentile",
             "% above 5 old medians", "% above 5 own medians", "worst run")
# Prints a row per policy; returns the mean of the second policy, which is today's, with its
# standard error, and the ratio of its regret to the first's
compared <- function(budget, policies, problems, seed, ...) {
  regret <- lapply(policies, play, problems, seed, ...)
  old <- regret[[1]]
  for (name in names(policies)) {
    x <- at_end(regret[[name]])
    line(budget, name, against(regret[[name]], old),
         numbers(colMeans(x), if (mean(x) < 150) 1 else 0), numbers(apply(x, 2, quantile, 0.95)),
         numbers(above(x, medians(at_end(old))), 2), numbers(above(x, medians(x)), 2),
         numbers(apply(x, 2, max)))
  }
  each <- rowMeans(at_end(regret[[2]]))
  at_once <- ratio(regret[[2]][, , 1, drop = FALSE], old[, , 1, drop = FALSE])
  data.frame(budget, mean = mean(each), mean_se = sd(each) / sqrt(length(each)),
             ratio = at_once[1], ratio_se = at_once[2])
}
goals <- function(title, goal, reached, se, digits) {
  do.call(header, as.list(c(title, "budget", "goal", "reached (se)", "met")))
  for (budget in names(goal)) {
    line(budget, format(goal[[budget]]),
         sprintf("%.*f (%.*f)", digits, reached[[budget]], digits, se[[budget]]),
         if (reached[[budget]] <= goal[[budget]]) "yes" else "no")
  }
}
gaussian <- function(mu) {
  list("first search" = first_gaussian(mu), "default" = now_gaussian(mu),
       "safe" = safe(now_gaussian, mu))
}
pure <- function(epsilon) {
  list("first search" = first_pure(epsilon), "likelihood" = now_pure(epsilon),
       "safe" = safe(now_pure, epsilon))
}
mus <- c(0.1, 0.25, 0.5, 1, 5)
epsilons <- c(0.1, 0.25, 0.5, 1)
each_budget <- function(..., mu = mus, epsilon = epsilons, show = compared) {
  done <- c(lapply(mu, function(m) show(sprintf("mu = %g", m), gaussian(m), ...)),
            lapply(epsilon, function(e) show(sprintf("epsilon = %g", e), pure(e), ...)))
  invisible(do.call(rbind, done))
}
# Shares of bad runs with exact 95 per cent intervals
bad_runs <- function(budget, policies, problems, seed, n, ...) {
  policies <- policies[1:2] # before and now
  regret <- lapply(policies, function(p) at_end(play(p, problems, seed, n, around = FALSE, ...)))
  limit <- 5 * medians(regret[[1]])
  for (name in names(policies)) {
    x <- regret[[name]]
    bad <- colSums(sweep(x, 2, limit, ">"))
    shares <- vapply(bad, function(many) {
      interval <- 100 * binom.test(many, n)$conf.int
      sprintf("%.2f (%.2f to %.2f)", 100 * many / n, interval[1], interval[2])
    }, "")
    line(budget, name, shares, sprintf("%d of %d", sum(bad), length(x)),
         numbers(above(x, medians(x)), 2))
  }
}

if (wanted("readme")) {
  cat("# Tables of the second search\n\nWritten by `Rscript bench/frontier.R ", runs, "`, ", INTRO,
      "\n## Confirmed\n", sep = "")
  do.call(header, as.list(c("Five arms of the README, means 0.75 to 0.25", columns)))
  now <- each_budget(readme, 2631, n = 2 * runs)
  goals("Goals for mean regret on these arms", c("mu = 0.1" = 232, "mu = 0.25" = 113, "mu = 1" = 60),
        setNames(now$mean, now$budget), setNames(now$mean_se, now$budget), 1)
}
if (wanted("panel")) {
  do.call(header, as.list(c("The panel: close, linear, convex, concave, small_gap, rare", columns)))
  now <- each_budget(panel, 2632, n = 2 * runs)
  goal <- ifelse(grepl("mu", now$budget), 0.9, 0.92)
  goals("Goals for the ratio on the panel", setNames(goal, now$budget)[now$budget != "mu = 5"],
        setNames(now$ratio, now$budget), setNames(now$ratio_se, now$budget), 3)
}
if (wanted("outside")) {
  do.call(header, as.list(c("Outside the panel: four, eight, two and ten arms", columns)))
  each_budget(outside, 2633)
}
if (wanted("long")) {
  do.call(header, as.list(c("T = 1e7, the panel", columns)))
  each_budget(panel, 2634, n = runs / 2, horizon = 1e7, mu = c(0.1, 1), epsilon = c(0.1, 1))
}
if (wanted("bad")) {
  hard <- panel[c("close", "concave", "small_gap", "rare")]
  do.call(header, as.list(c("Bad runs: % above 5 of the first search's medians (95 per cent interval)",
                            "budget", "policy", names(hard), "all", "above 5 own medians")))
  each_budget(hard, 2635, n = 5 * runs, show = bad_runs)
  do.call(header, as.list(c("The same at T = 1e7", "budget", "policy", names(hard), "all",
                            "above 5 own medians")))
  each_budget(hard, 2637, n = runs, horizon = 1e7, mu = c(0.1, 1), epsilon = c(0.1, 1),
              show = bad_runs)
}

tried <- function(title, name, budgets, default, variants) {
  do.call(header, as.list(c(title, "policy", sprintf("%s = %g", name, budgets))))
  base <- lapply(budgets, function(x) play(default(x), panel, 2636, n = runs / 4))
  for (name in names(variants)) {
    line(name, vapply(seq_along(budgets), function(i) {
      x <- play(variants[[name]](budgets[i]), panel, 2636, n = runs / 4)
      others <- ratio(x[, , -1, drop = FALSE], base[[i]][, , -1, drop = FALSE])
      sprintf("%s, %.1f", with_se(others), max(above(at_end(x), medians(at_end(base[[i]])))))
    }, ""))
  }
}
by_information <- function(epsilon, h) {
  policy <- now_pure(epsilon)
  policy$params$information <- h
  policy
}
grown <- function(mu) if (mu < 0.5) 1.3 else 1.15
if (wanted("tried_gaussian")) {
  cat("\n## Tried\n\nEach row changes one thing. Regret over the default's, geometric mean of the panel and of the",
      "twelve horizons (se); then the largest share of runs above 5 of the default's medians at T = 1e5, in per cent.\n")
  tried("Gaussian IMED", "mu", mus, now_gaussian, list(
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
    "ratio 1.4" = function(mu) now_gaussian(mu, 1.4),
    "ratio 1.8" = function(mu) now_gaussian(mu, 1.8),
    "ratio 2.4" = function(mu) now_gaussian(mu, 2.4),
    "first 11 / mu" = function(mu) now_gaussian(mu, first = of_first(11 / mu)),
    "first 16 / mu" = function(mu) now_gaussian(mu, first = of_first(16 / mu)),
    "first 10 / mu + 6" = function(mu) now_gaussian(mu, first = ceiling(10 / mu + 6))
  ))
}
if (wanted("tried_pure")) {
  tried("DP-IMED with `index = \"likelihood\"`", "epsilon", epsilons, now_pure, list(
    "safety 0" = function(epsilon) now_pure(epsilon, safety = 0),
    "safety 0.1" = function(epsilon) now_pure(epsilon, safety = 0.1),
    "safety 0.2" = function(epsilon) now_pure(epsilon, safety = 0.2),
    "ln(n) in place of ln(n) + h ln(w)" = function(epsilon) by_information(epsilon, 0),
    "h = 1" = function(epsilon) by_information(epsilon, 1),
    "safety 0.6" = function(epsilon) now_pure(epsilon, safety = 0.6),
    "first 16 / epsilon" = function(epsilon) now_pure(epsilon, first = of_first(16 / epsilon)),
    "first 20 / epsilon" = function(epsilon) now_pure(epsilon, first = of_first(20 / epsilon)),
    "first 28 / epsilon" = function(epsilon) now_pure(epsilon, first = of_first(28 / epsilon)),
    "ratio 1.7" = function(epsilon) now_pure(epsilon, 1.7),
    "ratio 3.2" = function(epsilon) now_pure(epsilon, 3.2),
    "geometric, ratio 1.4" = function(epsilon) now_pure(epsilon, schedule = "geometric"),
    "the same, leader 2" = function(epsilon) now_pure(epsilon, leader = 2, schedule = "geometric"),
    "index rate, ratio 1.5, first 24 / epsilon, variance" = function(epsilon) {
      policy_dp_imed(epsilon, 1.5, ceiling(24 / epsilon), "variance", "rate")
    }
  ))
}

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
if (wanted("factorisations")) {
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
}
