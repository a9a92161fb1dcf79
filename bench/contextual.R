# Speed of the contextual policies and of the reader of Yahoo!'s log, one thread.
# Rscript bench/contextual.R

library(dpts)

# The best of many short measurements: the least disturbed by whatever else runs.
best <- function(expr, times = 15) {
  expr <- substitute(expr)
  frame <- parent.frame()
  min(vapply(seq_len(times), function(i) system.time(eval(expr, frame))[["elapsed"]], 0))
}

set.seed(1)
d10 <- arms_linear(matrix(runif(50, 0, 0.1), 5, 10), "uniform")
d6 <- arms_linear(matrix(runif(30, 0, 0.4), 5, 6), "simplex")
cases <- list(
  "LinUCB, d = 10" = list(d10, policy_linucb(), 2e5),
  "linear TS, d = 10" = list(d10, policy_lin_ts(), 2e5),
  "LinUCB, d = 6, epsilon = 1" = list(d6, policy_linucb(epsilon = 1, norm = 1), 2e5),
  "LinUCB, d = 6, epsilon = 2.7, trees" = list(d6, policy_linucb(epsilon = 2.7, mechanism = "tree"), 2e4),
  "LinUCB, d = 6, epsilon = 2.7, gamma" =
    list(d6, policy_linucb(epsilon = 2.7, mechanism = "gamma"), 2e4),
  "LinUCB, d = 6, mu = 1" = list(d6, policy_linucb(mu = 1), 2e5),
  "LinUCB, d = 6, mu = 1, every round" = list(d6, policy_linucb(mu = 1, batch = 1), 2e4),
  "LinUCB, d = 6, epsilon = 0.6, contexts public" =
    list(d6, policy_linucb(epsilon = 0.6, contexts = "public", norm = 1), 1e5)
)
for (name in names(cases)) {
  case <- cases[[name]]
  seconds <- best(dpts_simulate(case[[1]], case[[2]], case[[3]], runs = 1, seed = 1, record = 2,
                                threads = 1, progress = FALSE))
  cat(sprintf("%-46s K = 5: %8.3g rounds/s\n", name, case[[3]] / seconds))
}

# A log in the form of R6A: 20 articles on offer, another pool every 1500 lines
block <- function(lead) {
  x <- runif(5)
  paste(lead, paste(sprintf("%d:%.6f", 2:6, x / sum(x)), collapse = " "), "1:1.000000")
}
n <- 60000
articles <- vapply(1:60, function(i) block(paste0("|", 109400 + i)), "")
pools <- replicate(40, sample(60, 20), simplify = FALSE)
text <- vapply(pools, function(p) paste(articles[p], collapse = " "), "")
users <- replicate(5000, block("|user"))
pool <- rep(1:40, each = n / 40)
shown <- vapply(pool, function(p) 109400L + sample(pools[[p]], 1), 0L)
file <- tempfile(fileext = ".gz")
con <- gzfile(file, "wb")
writeLines(sprintf("%d %d %d %s %s", 1241160900L, shown, rbinom(n, 1, 0.04),
                   sample(users, n, TRUE), text[pool]), con)
close(con)
cat(sprintf("%-46s        %8.3g lines/s\n", "read_yahoo_r6(), gzip",
            n / best(read_yahoo_r6(file, progress = FALSE), 5)))
log <- read_yahoo_r6(file, progress = FALSE)
mixed <- tempfile(fileext = ".gz")
con <- gzfile(mixed, "wb")
writeLines(sprintf("%d %d 0 %s %s", 1241160900L, shown, sample(users, n, TRUE), vapply(pool, function(p) {
  paste(articles[sample(pools[[p]])], collapse = " ")
}, "")), con)
close(con)
cat(sprintf("%-46s        %8.3g lines/s\n", "... another order of articles on every line",
            n / best(read_yahoo_r6(mixed, progress = FALSE), 5)))
cat(sprintf("%-46s        %8.3g events/s\n", "replay of LinUCB on it",
            n / best(dpts_replay(log, policy_linucb(), runs = 1, seed = 1, progress = FALSE), 5)))

# ---- Regret of private policies ------------------------------------------------------------

# Laplace trees are given the largest epsilon for which epsilon-DP is mu-GDP.
epsilon_of <- function(mu) pnorm(mu / 2, log.p = TRUE) - pnorm(-mu / 2, log.p = TRUE)
play <- function(arms, policies, horizon, runs, ...) {
  dpts_simulate(arms, policies, horizon, runs = runs, seed = 1, progress = FALSE, ...)
}
show <- function(title, table) {
  cat("\n", title, "\n", sep = "")
  print(table, row.names = FALSE)
}
at_end <- function(sim) {
  last <- summary(sim)
  last <- last[last$t == max(last$t), ]
  setNames(sprintf("%.0f (%.0f)", last$mean, last$se), last$policy)
}

mean_of <- function(sim) {
  last <- summary(sim)
  setNames(last$mean, last$policy)
}

# Side by side: d numbers from Dirichlet(0.3), theta uniform on [0, 1]; what is best under each budget beside the published
# forms. Budgets: (epsilon, 1e-5) for Gaussian noise, pure epsilon for Laplace's and bits.
problem <- function(d, k, seed = 1) withr::with_seed(1000 * seed + 100 * d + k, {
  theta <- matrix(runif(d * k), k)
  points <- matrix(rgamma(5000 * d, 0.3), ncol = d)
  arms_linear(theta, points / rowSums(points))
})
budgets <- c(0.5, 1, 5)
side <- list(
  "joint, mu" = function(e) policy_linucb(mu = gdp_mu(e, 1e-5), norm = 1),
  "joint, not centred" = function(e) policy_linucb(mu = gdp_mu(e, 1e-5), norm = 1, centre = 0, margin = 0.5),
  "joint, logistic" = function(e) policy_logistic_ucb(mu = gdp_mu(e, 1e-5), norm = 1),
  "joint, linear TS" = function(e) policy_lin_ts(mu = gdp_mu(e, 1e-5), norm = 1),
  "joint, pure" = function(e) policy_linucb(e, norm = 1),
  "joint, pure, trees, batch 1000" = function(e) policy_linucb(e, mechanism = "tree", batch = 1000),
  "rewards, pure" = function(e) policy_linucb(e, norm = 1, contexts = "public"),
  "rewards, mu" = function(e) policy_linucb(mu = gdp_mu(e, 1e-5), norm = 1, contexts = "public"),
  "local" = function(e) policy_local(policy_linucb(), e),
  "local, centred" = function(e) policy_local(policy_linucb(centre = 0.5), e)
)
both <- list(LinUCB = policy_linucb(), uniform = policy_uniform())
policies <- c(unlist(lapply(side, function(make) lapply(setNames(budgets, budgets), make)), recursive = FALSE), both)
cells <- expand.grid(k = c(2, 5, 20), d = c(5, 10, 20), horizon = c(1e4, 1e5))
for (i in seq_len(nrow(cells))) {
  cell <- cells[i, ]
  sims <- lapply(1:2, function(seed) summary(play(problem(cell$d, cell$k, seed), policies, cell$horizon, 8, record = 1)))
  mean <- setNames((sims[[1]]$mean + sims[[2]]$mean) / 2, sims[[1]]$policy)
  se <- setNames(sqrt(sims[[1]]$se^2 + sims[[2]]$se^2) / 2, sims[[1]]$policy)
  best <- mean(vapply(1:2, function(seed) {
    arms <- problem(cell$d, cell$k, seed)
    mean(apply(t(arms$contexts$values) %*% t(arms$args$theta), 1, max))
  }, 0)) * cell$horizon
  text <- matrix(sprintf("%.0f (%.0f)", mean, se)[seq_len(length(side) * 3)], 3)
  share <- matrix((100 * (best - mean) / (best - mean[["LinUCB"]]))[seq_len(3)], 1)
  show(sprintf("d %d, k %d, T %.0e: uniform %.0f, LinUCB %.0f; reward of \"joint, mu\" in %% of LinUCB's: %s", cell$d, cell$k,
               cell$horizon, mean[["uniform"]], mean[["LinUCB"]], paste(sprintf("%.1f", share), collapse = " / ")),
       data.frame(policy = names(side), t(text)) |> setNames(c("epsilon", budgets)))
}

mus <- c(0.1, 0.5, 2, 10)
kinds <- list(
  "factorisation" = function(mu) policy_linucb(mu = mu, norm = 1),
  "batches, pure" = function(mu) policy_linucb(epsilon_of(mu), norm = 1),
  "... batch 1000" = function(mu) policy_linucb(mu = mu, norm = 1, batch = 1000),
  "... linear TS" = function(mu) policy_lin_ts(mu = mu, norm = 1),
  "... norm unknown" = function(mu) policy_linucb(mu = mu),
  "Gaussian trees" = function(mu) policy_linucb(mu = mu, norm = 1, mechanism = "tree"),
  "Gaussian trees, batch 1000" = function(mu) {
    policy_linucb(mu = mu, norm = 1, mechanism = "tree", batch = 1000)
  },
  "Laplace trees, growing" = function(mu) policy_linucb(epsilon = epsilon_of(mu), batch = "growing", mechanism = "tree"),
  "Laplace trees, batch 1000" = function(mu) policy_linucb(epsilon = epsilon_of(mu), batch = 1000, mechanism = "tree"),
  "Gamma trees, batch 1000" = function(mu) {
    policy_linucb(epsilon = epsilon_of(mu), batch = 1000, mechanism = "gamma")
  },
  "factorisation, rewards only" = function(mu) policy_linucb(mu = mu, norm = 1, contexts = "public")
)
policies <- unlist(lapply(kinds, function(make) lapply(setNames(mus, mus), make)), recursive = FALSE)
sim <- play(d6, c(policies, list(LinUCB = policy_linucb(), uniform = policy_uniform())), 1e5, 8, record = 1)
regret <- at_end(sim)
table <- matrix(regret[seq_along(policies)], length(mus), dimnames = list(NULL, names(kinds)))
show("Regret at 1e5 (se) by mu, five arms, six numbers in the simplex, 8 runs:",
     data.frame(policy = names(kinds), unname(t(table))) |> setNames(c("mu", mus)))
cat("LinUCB", regret[["LinUCB"]], " uniform", regret[["uniform"]], "\n")
shown <- mus[mus <= 2] # where the excess is more than noise
excess <- mean_of(sim)[paste0("factorisation.", shown)] - mean_of(sim)[["LinUCB"]]
cat("excess over LinUCB in units of d / mu:", format(excess * shown / 6, digits = 2), "\n")

# How does it grow with the horizon?
times <- 10^(3:5)
grow <- lapply(times, function(t) {
  mean_of(play(d6, list(mu1 = policy_linucb(mu = 1, norm = 1), mu.2 = policy_linucb(mu = 0.2, norm = 1),
                        LinUCB = policy_linucb()), t, 10, record = 1))
})
grow <- do.call(rbind, grow)
show("Regret by horizon, 10 runs:", data.frame(horizon = times, round(grow), check.names = FALSE))

# ... and with the dimension: one model for ten arms, whose contexts are normalised to length 1
sizes <- c(2, 4, 8, 16)
by_d <- lapply(sizes, function(d) {
  points <- withr::with_seed(d, matrix(abs(rnorm(2000 * d)), ncol = d))
  points <- points / sqrt(rowSums(points^2))
  theta <- withr::with_seed(d, abs(rnorm(d)))
  arms <- arms_linear(theta / sqrt(sum(theta^2)), points, arms = 10)
  # These contexts have no constant, so that centred rewards need an intercept.
  shared <- function(mu, ...) policy_linucb(mu = mu, norm = 1, model = "shared", ...)
  mean_of(play(arms, list(mu1 = shared(1, intercept = TRUE), mu.2 = shared(0.2, intercept = TRUE),
                          "mu1, none" = shared(1), "mu1, none, centre 0" = shared(1, centre = 0),
                          LinUCB = policy_linucb(model = "shared"), uniform = policy_uniform()), 1e5, 6, record = 1))
})
show("Regret at 1e5 by dimension, one model, 6 runs:",
     data.frame(d = sizes, round(do.call(rbind, by_d)), check.names = FALSE))

# ---- Linear or logistic --------------------------------------------------------------------

# Four problems of five arms; the defaults were chosen on others. log-odds of theta.z: wide on both sides
# of 0, near 0, and low (clicks); and the linear means of d6.
withr::with_seed(21, {
  sphere <- abs(matrix(rnorm(12000), ncol = 6))
  sphere <- sphere / sqrt(rowSums(sphere^2))
  users <- cbind(1, matrix(runif(10000), ncol = 5)) / sqrt(6)
  worlds <- list(
    wide = arms_linear(matrix(rnorm(30, 0, 3), 5), sphere, link = "logit"),
    narrow = arms_linear(matrix(rnorm(30, 0, 0.5), 5), sphere, link = "logit"),
    rare = arms_linear(sqrt(6) * cbind(-4, matrix(rnorm(25, 0.3, 1), 5)), users, link = "logit"),
    linear = d6
  )
})
range_of <- function(arms) {
  z <- if (length(arms$contexts$values)) t(arms$contexts$values) else diag(6)
  odds <- z %*% t(arms$args$theta)
  format(range(if (arms$contexts$logit == 1) plogis(odds) else odds), digits = 1)
}
budgets <- c(mus, Inf)
kinds <- list(
  linear = function(mu) policy_linucb(mu = mu, norm = if (mu < Inf) 1),
  logistic = function(mu) policy_logistic_ucb(mu = mu, norm = if (mu < Inf) 1),
  "linear, rewards only" = function(mu) policy_linucb(mu = mu, norm = if (mu < Inf) 1, contexts = "public"),
  "logistic, rewards only" = function(mu) {
    policy_logistic_ucb(mu = mu, norm = if (mu < Inf) 1, contexts = "public")
  }
)
policies <- unlist(lapply(kinds, function(make) lapply(setNames(budgets, budgets), make)), recursive = FALSE)
for (name in names(worlds)) {
  regret <- at_end(play(worlds[[name]], c(policies, list(uniform = policy_uniform())), 1e5, 8, record = 1))
  table <- matrix(regret[seq_along(policies)], length(budgets))
  show(sprintf("%s: means from %s, uniform %s. Regret at 1e5 (se) by mu, 8 runs:", name,
               paste(range_of(worlds[[name]]), collapse = " to "), regret[["uniform"]]),
       data.frame(policy = names(kinds), t(table)) |> setNames(c("mu", budgets)))
}

# ---- A published table ------------------------------------------------------------------

# The problem of the tables in the repository of Sarmasarkar (2026): one theta of length 3 for 20 arms whose contexts
# are uniform in the unit ball of five dimensions, logistic rewards, 1e4 rounds, delta = 0.02. Contexts are mapped
# into [0, 1] here. Means over five theta.
ball <- lapply(1:5, function(seed) withr::with_seed(seed, {
  theta <- runif(5, -1, 1)
  theta <- 3 * theta / sqrt(sum(theta^2))
  x <- matrix(rnorm(1e5), ncol = 5)
  x <- x * runif(nrow(x))^(1 / 5) / sqrt(rowSums(x^2))
  arms_linear(c(-sum(theta), 2 * theta), cbind(1, (x + 1) / 2), arms = 20, link = "logit")
}))
found <- vapply(ball, function(arms) {
  norm <- max(sqrt(colSums(arms$contexts$values^2)))
  private <- lapply(c("4" = 4, "6" = 6, "8" = 8), function(e) {
    policy_logistic_ucb(mu = gdp_mu(e, 0.02), model = "shared", norm = norm)
  })
  mean_of(play(arms, c(private, list(none = policy_logistic_ucb(model = "shared"))), 1e4, 10, record = 1))
}, numeric(4))
cat("Regret at epsilon = 4, 6, 8 and without privacy:", sprintf("%.0f (%.0f)", rowMeans(found), apply(found, 1, sd) / sqrt(5)), "\n")

# ---- Open Bandit -----------------------------------------------------------------------------

random <- open_bandit[open_bandit$logger == "random", ]
contexts <- as.matrix(random[grep("^context", names(random))])
# A context is a constant and at most three ones: its length is known without a look at the data.
length_of <- 2
candidates <- list(
  uniform = policy_uniform(), LinUCB = policy_linucb(alpha = 0.3), "trees, 2.7" = policy_linucb(alpha = 0.3, epsilon = 2.7, mechanism = "tree"),
  "trees, 27" = policy_linucb(alpha = 0.3, epsilon = 27, mechanism = "tree"), "mu = 1" = policy_linucb(alpha = 0.3, mu = 1, norm = length_of),
  "mu = 10" = policy_linucb(alpha = 0.3, mu = 10, norm = length_of)
)
replay <- dpts_replay(random, candidates, runs = 10, seed = 1, horizon = 500, progress = FALSE)
print(as.data.frame(summary(replay))[c("policy", "events", "relative", "relative_se")], digits = 3)

# A world of the log's contexts, and of the click rates that a regression of the log says, five times
# as large: what a replay of so few clicks cannot tell.
items <- as.integer(names(sort(-table(random$arm)))[1:10])
fit <- t(vapply(items, function(a) {
  x <- contexts[random$arm == a, ]
  drop(solve(crossprod(x) + diag(1, ncol(x)), crossprod(x, random$reward[random$arm == a])))
}, numeric(ncol(contexts))))
world <- 5 * fit
world <- arms_linear(pmax(world, 0), contexts)
sim <- play(world, c(candidates, list("trees, 2.7, batch 1000" = policy_linucb(alpha = 0.3, epsilon = 2.7, batch = 1000, mechanism = "tree"),
                                      "mu = 1, rewards only" = policy_linucb(alpha = 0.3, mu = 1, norm = length_of,
                                                                             contexts = "public"))),
            2e5, 4, record = 1)
show("Regret at 2e5 in the world of the log, 4 runs:",
     data.frame(policy = names(at_end(sim)), regret = unname(at_end(sim))))
