# When does a private contextual policy beat the uniform one by 5%, and does the message before the first
# round say so? A problem is d numbers from a Dirichlet(0.3) distribution, k arms and theta uniform on [0, 1];
# the form of the rule was found on others, its limits were set on these. Budgets are multiples of the one at which the message begins.
# Rscript bench/contextual-warning.R

library(dpts)

# Of the rule in is_outweighed(), R/policy-linear.R
LIMIT <- c(mu = 1.8, epsilon = 0.5)
edge <- function(kind, d, k, horizon) sqrt(k) * d^1.5 / (LIMIT[[kind]] * horizon)
# The rule before
warned_before <- function(kind, d, k, horizon, budget) k * d^1.5 > c(mu = 4.5, epsilon = 2)[[kind]] * budget * horizon
policy_of <- list(mu = function(b) policy_linucb(mu = b, norm = 1), epsilon = function(b) policy_linucb(b, norm = 1))
multiples <- c(0.25, 0.5, 2, 4)
lengths <- data.frame(horizon = c(1e3, 1e4, 1e5), problems = c(8, 6, 3), runs = c(8, 2, 1))
problem <- function(d, k, seed) withr::with_seed(1000 * seed + 100 * d + k, {
  theta <- matrix(runif(d * k), k)
  points <- matrix(rgamma(5000 * d, 0.3), ncol = d)
  arms_linear(theta, points / rowSums(points))
})

# Regret as a share of that of the same policy with a budget of 1e-6, which learns nothing. On average that is the
# uniform policy's; on one problem a policy that learns nothing may be lucky.
shares <- function(d, k, horizon, problems, runs) {
  budgets <- lapply(setNames(nm = names(LIMIT)), function(kind) c(1e-6, pmax(edge(kind, d, k, horizon) * multiples, 1e-6)))
  policies <- unlist(lapply(names(LIMIT), function(kind) lapply(budgets[[kind]], policy_of[[kind]])), recursive = FALSE)
  names(policies) <- seq_along(policies)
  regret <- rowMeans(vapply(20 + seq_len(problems), function(seed) {
    sim <- suppressMessages(dpts_simulate(problem(d, k, seed), policies, horizon, runs = runs, seed = 1, record = 1,
                                          threads = 1, progress = FALSE))
    summary(sim)$mean
  }, numeric(length(policies))))
  per_kind <- matrix(regret, ncol = length(LIMIT))
  do.call(rbind, lapply(seq_along(LIMIT), function(i) {
    kind <- names(LIMIT)[i]
    data.frame(kind, d, k, horizon, multiple = multiples, share = per_kind[-1, i] / per_kind[1, i],
               warned = multiples < 1, before = warned_before(kind, d, k, horizon, budgets[[kind]][-1]))
  }))
}
cells <- expand.grid(k = c(2, 5, 20), d = c(2, 5, 10, 20), i = seq_len(nrow(lengths)))
measured <- do.call(rbind, Map(function(d, k, i) {
  shares(d, k, lengths$horizon[i], lengths$problems[i], lengths$runs[i])
}, cells$d, cells$k, cells$i))

counts <- function(rows, warned) {
  useless <- rows$share >= 0.95
  sprintf("%d / %d / %d / %d", sum(warned & useless), sum(warned & !useless), sum(!warned & !useless), sum(!warned & useless))
}
cat("\n| budget | rounds | at 1/4 | at 1/2 | at 2 | at 4 | the message | the one before |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
for (kind in names(LIMIT)) for (horizon in lengths$horizon) {
  rows <- measured[measured$kind == kind & measured$horizon == horizon, ]
  mean <- tapply(rows$share, rows$multiple, mean)
  cat(sprintf("| %s | %.0e | %s | %s | %s |\n", kind, horizon, paste(sprintf("%.2f", mean), collapse = " | "),
              counts(rows, rows$warned), counts(rows, rows$before)))
}
cat("\nShare of the regret by d and k, at 1/4, 1/2, 2 and 4 times the budget of the message:\n")
for (kind in names(LIMIT)) for (horizon in lengths$horizon) {
  cat(sprintf("\n%s, %.0e rounds\n", kind, horizon))
  rows <- measured[measured$kind == kind & measured$horizon == horizon, ]
  print(reshape(rows[c("d", "k", "multiple", "share")], idvar = c("d", "k"), timevar = "multiple", direction = "wide"),
        row.names = FALSE, digits = 2)
}
