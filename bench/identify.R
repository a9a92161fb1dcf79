# People to a verdict, against the numbers that the evidence was designed by: means over runs with standard
# errors. `Rscript bench/identify.R > bench/identify.md`; a smaller number of runs as its argument.

library(dpts)
runs <- as.integer(c(commandArgs(TRUE), 300)[1])
many <- max(200, round(runs * 2000 / 300)) # where a run is quick, or what is counted is rare
cat("# People to a verdict\n\n`Rscript bench/identify.R`: means over", runs, "runs (standard errors);", many, "runs of top two,",
    "for\nwhich the designed numbers are means over 300, with errors of 1 to 3%.\n\n")

table_of <- function(found, expected) {
  s <- summary(found)
  cat("| policy | people (se) | designed | wrong | undecided |\n| --- | ---: | ---: | ---: | ---: |\n")
  for (i in seq_len(nrow(s))) {
    cat(sprintf("| %s | %s (%s) | %s | %s | %s |\n", s$policy[i], format(round(s$mean[i]), big.mark = ","),
                format(round(s$se[i]), big.mark = ","), expected[[as.character(s$policy[i])]], format(s$wrong[i], digits = 1),
                format(s$undecided[i])))
  }
  cat("\n")
}

cat("## The best arm: `policy_top_two()`, error 0.01\n\n")
budgets <- list("epsilon 0.1" = list(epsilon = 0.1), "epsilon 0.5" = list(epsilon = 0.5),
                "epsilon 1" = list(epsilon = 1), "mu 0.125" = list(mu = 0.125), "mu 0.624" = list(mu = 0.624),
                "mu 1.232" = list(mu = 1.232), "none" = list())
problems <- list(A = c(.75, .7, .7, .7, .7), B = c(.95, .9, .9, .9, .5), C = c(.6, .5))
designed <- list(A = c(31589, 16557, 16479, 21929, 15772, 15134, 14997),
                 B = c(22660, 6387, 4851, 11389, 5214, 4647, 4185), C = c(4581, 1879, 1723, 2668, 1725, 1567, 1658))
policies <- lapply(budgets, function(budget) do.call(policy_top_two, c(budget, error = 0.01)))
for (name in names(problems)) {
  cat(sprintf("### %s: (%s)\n\n", name, paste(problems[[name]], collapse = ", ")))
  seconds <- sum(system.time(found <- dpts_identify(arms_bernoulli(problems[[name]]), policies, error = 0.01, runs = many,
                                                seed = 1))[c("user.self", "sys.self")])
  table_of(found, stats::setNames(format(designed[[name]], big.mark = ","), names(budgets)))
  cat(sprintf("%.1f ms of processor a run.\n\n", 1000 * seconds / nrow(found)))
}

cat("## Published rules, error 0.01\n\nDesigned: measured by the prototypes that `policy_top_two()` was designed beside. DP-TT is our reading.\n\n")
published <- list(
  "epsilon 0.1" = list(A = c(62669, 254490, 642412, 145809), B = c(47045, 204996, 1228486, 109577), C = c(10029, 23092, 62937, 28373)),
  "epsilon 0.5" = list(A = c(38779, 253008, 640431, 136089), B = c(14534, 198652, 553498, 108802), C = c(4793, 21333, 60196, 10776)),
  "epsilon 1" = list(A = c(38200, 248025, 606317, 134144), B = c(11421, 204360, 546381, 108756), C = c(4357, 21328, 58891, 10507))
)
for (budget in names(published)) {
  epsilon <- budgets[[budget]]$epsilon
  rules <- list("DP-TT" = policy_dp_tt(epsilon, 0.01), "AdaP-TT as run" = policy_adap_tt(epsilon, 0.01, "run"),
                "AdaP-TT proved" = policy_adap_tt(epsilon, 0.01), "DP-SE" = policy_dp_se(epsilon, 0.01))
  for (name in names(problems)) {
    cat(sprintf("### %s, %s\n\n", name, budget))
    found <- dpts_identify(arms_bernoulli(problems[[name]]), rules, error = 0.01, runs = ceiling(runs / 5), seed = 4, limit = 1e7)
    table_of(found, stats::setNames(format(published[[budget]][[name]], big.mark = ","), names(rules)))
  }
}

# One arm against known rates, as a user would: a table of noisy sums, and evidence() of it. The first batch is
# 30 / epsilon, and each look comes when there are 1.3 times as many people: one setting for all cases.
cat("## One arm: is its mean low or high? `evidence(x, against = )`\n\nRewards are 0 or 1, their mean is the low or the high rate, and each error has\n",
    "probability 5% at most: high is said once the mean is proved to be above the low rate, low once it is below the high one.\n",
    "Lap(1 / epsilon) in each sum. \"Designed\" and \"DP-SPRT\" (arXiv 2508.06377, with the constants of its software) are numbers of\n",
    "the design's prototypes, if the mean is high. The lower bound is kl(0.95, 0.05) over the private divergence of the rates.\n\n| low, high | epsilon | people if high (se) | if low (se) | wrong | designed | DP-SPRT | lower bound |\n",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n", sep = "")
kl <- function(x, y) ifelse(x == 0, 0, x * log(x / y)) + ifelse(x == 1, 0, (1 - x) * log((1 - x) / (1 - y)))
private_divergence <- function(x, y, epsilon) { # min over z between them of kl(z, y) + epsilon |z - x|
  optimize(function(z) kl(z, y) + epsilon * abs(z - x), sort(c(x, y)), tol = 1e-9)$objective
}
to_decision <- function(rates, epsilon, mean) {
  until <- ceiling(30 / epsilon * 1.3^(0:24))
  x <- expand.grid(t = until, run = seq_len(many))
  x$n <- diff(c(0, until))
  x$sum <- rbinom(nrow(x), x$n, mean) + (rexp(nrow(x)) - rexp(nrow(x))) / epsilon
  x <- as_releases(cbind(x, arm = 1), noise = "laplace", scale = 1 / epsilon)
  proved <- function(rate, side) {
    e <- suppressMessages(evidence(x, against = rate, error = 0.1)) # half of it for each side
    e <- e[e$side == side & e$evidence >= e$line, ]
    e$t[match(seq_len(many), e$run)]
  }
  high <- proved(rates[1], "above")
  low <- proved(rates[2], "below")
  people <- pmin(high, low, na.rm = TRUE)
  stopifnot(!anyNA(people))
  other <- if (mean == rates[2]) low else high
  list(people = people, wrong = mean(!is.na(other) & other == people))
}
cases <- expand.grid(epsilon = c(0.1, 0.5, 1, 2), low = c(0.3, 0.4, 0.45, 0.5))
cases$high <- c(0.7, 0.6, 0.55, 0.6)[match(cases$low, unique(cases$low))]
known <- list("0.3 0.1" = c(207, 3461), "0.3 1" = c(27, 322), "0.4 0.1" = c(424, 7150), "0.4 1" = c(74, 683), "0.45 0.1" = c(1067, 15022),
              "0.45 1" = c(239, 1563), "0.5 0.1" = c(1055, 14869), "0.5 1" = c(241, 1594))
set.seed(8)
for (i in seq_len(nrow(cases))) {
  case <- cases[i, ]
  rates <- c(case$low, case$high)
  found <- lapply(rev(rates), function(mean) to_decision(rates, case$epsilon, mean))
  cell <- vapply(found, function(f) sprintf("%s (%s)", format(round(mean(f$people)), big.mark = ","), format(signif(sd(f$people) / sqrt(many), 2))), "")
  wrong <- max(vapply(found, `[[`, 0, "wrong"))
  beside <- known[[paste(case$low, case$epsilon)]]
  cat(sprintf("| %s, %s | %s | %s | %.3f | %s | %s | %.0f |\n", rates[1], rates[2], case$epsilon, paste(cell, collapse = " | "), wrong,
              if (is.null(beside)) "" else format(beside[1], big.mark = ","), if (is.null(beside)) "" else format(beside[2], big.mark = ","),
              kl(0.95, 0.05) / private_divergence(rates[2], rates[1], case$epsilon)))
}

cat("\n## A fixed number of people: `policy_halving()`\n\nWith as many people as top two takes in the mean, and a quarter of them. `wrong` is the",
    "share of", many, "runs in which the named arm is not the best: halving names the right one with fewer people than it takes to prove it, and",
    "promises nothing.\n\n| problem | budget | people | wrong (95%) | a quarter | wrong (95%) |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
for (name in names(problems)) for (budget in names(budgets)) {
  most <- designed[[name]][match(budget, names(budgets))]
  cells <- vapply(c(most, round(most / 4)), function(people) {
    s <- summary(dpts_identify(arms_bernoulli(problems[[name]]), do.call(policy_halving, budgets[[budget]]), error = 0.01,
                               limit = people, runs = many, seed = 6))
    sprintf("%s | %.4f (%.4f to %.4f)", format(people, big.mark = ","), s$wrong, s$wrong_lower, s$wrong_upper)
  }, "")
  cat(sprintf("| %s | %s | %s | %s |\n", name, budget, cells[1], cells[2]))
}

cat("\n## Tossed: `policy_randomised()`\n\n")
tossed <- function(title, means, error, policies, expected) {
  cat(sprintf("### %s\n\n", title))
  table_of(dpts_identify(arms_bernoulli(means), policies, error = error, runs = runs, seed = 2, limit = 3e5), expected)
}
tossed(".6 against .5, error 0.01", c(.6, .5), 0.01,
       list("mu 5, 200" = policy_randomised(mu = 5, block = 200), "mu 0.5, 200" = policy_randomised(mu = 0.5, block = 200),
            "mu 5" = policy_randomised(mu = 5), "mu 0.5" = policy_randomised(mu = 0.5)),
       list("mu 5, 200" = "1,420", "mu 0.5, 200" = "1,620", "mu 5" = "", "mu 0.5" = ""))
tossed(".9 against .85, error 0.01", c(.9, .85), 0.01,
       list("mu 5, 200" = policy_randomised(mu = 5, block = 200), "mu 5" = policy_randomised(mu = 5)),
       list("mu 5, 200" = "2,650", "mu 5" = ""))
tossed("clicks, .06 against .05, error 0.05", c(.06, .05), 0.05,
       list("mu 0.5, 200 then 4,000" = policy_randomised(mu = 0.5, block = c(200, 4000)),
            "mu 5, 200 then 4,000" = policy_randomised(mu = 5, block = c(200, 4000)),
            "mu 0.5, 200" = policy_randomised(mu = 0.5, block = 200), "mu 5, 200" = policy_randomised(mu = 5, block = 200),
            "mu 0.5" = policy_randomised(mu = 0.5), "mu 5" = policy_randomised(mu = 5)),
       list("mu 0.5, 200 then 4,000" = "23,300", "mu 5, 200 then 4,000" = "22,400", "mu 0.5, 200" = "",
            "mu 5, 200" = "", "mu 0.5" = "the better", "mu 5" = "the better"))

cat("## Width of intervals: .6 against .5, tossed in blocks of 200\n\nOver that of a z-interval at one look without privacy, level 0.95;",
    "a goal of 1.7 at mu 5.\n\n| people | mu 5 (se) | mu 0.5 (se) |\n| ---: | ---: | ---: |\n")
for (people in c(1000, 2000, 5000, 20000)) {
  sim <- dpts_simulate(arms_bernoulli(c(.6, .5)), list(policy_randomised(mu = 5, block = 200), policy_randomised(mu = 0.5, block = 200)),
                       people, runs = runs, seed = 7, record = I(people), history = TRUE)
  wide <- effects(sim)
  one_look <- 2 * qnorm(0.975) * sqrt((0.6 * 0.4 + 0.5 * 0.5) / (people / 2))
  cells <- tapply((wide$upper - wide$lower) / one_look, wide$policy, function(w) sprintf("%.2f (%.3f)", mean(w), sd(w) / sqrt(runs)))
  cat(sprintf("| %s | %s |\n", format(people, big.mark = ","), paste(cells, collapse = " | ")))
}
cat("\n")

cat("## Beside policies of little regret: .6 against .5, error 0.05, within a million people\n\n")
regret <- dpts_identify(arms_bernoulli(c(.6, .5)),
                        list("Gaussian IMED, mu 0.5" = policy_gaussian_imed(mu = 0.5),
                             "the same without correlation" = policy_gaussian_imed(mu = 0.5, correlation = 0),
                             "DP-IMED, epsilon 1" = policy_dp_imed(1), "top two, mu 0.5" = policy_top_two(mu = 0.5)),
                        error = 0.05, runs = ceiling(runs / 3), seed = 5, limit = 1e6)
s <- summary(regret)
cat("A run without a verdict counts with the limit.\n\n")
table_of(regret, stats::setNames(rep("", nrow(s)), s$policy))

cat("## Two equal arms: runs that stop within 20,000 people,", many, "runs, error 0.1\n\n")
same <- dpts_identify(arms_bernoulli(c(.5, .5)),
                      list("top two, mu 0.2" = policy_top_two(mu = 0.2, error = 0.1),
                           "top two, epsilon 0.2" = policy_top_two(epsilon = 0.2, error = 0.1),
                           "tossed, mu 0.5" = policy_randomised(mu = 0.5)),
                      error = 0.1, runs = many, seed = 3, limit = 2e4)
s <- summary(same)
cat(sprintf("* %s: %.1f%%, at most 20%%\n", s$policy, 100 * (1 - s$undecided)), sep = "")
