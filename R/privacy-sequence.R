#' The sequence accountant: what the published arms leak
#'
#' @description `sequence_rdp()` bounds how much the sequence of arms that Gaussian Thompson sampling chooses
#' reveals. Ou, Avella Medina and Cummings (2024) bound Gaussian Thompson sampling as if every round published
#' the whole vector of posterior draws. Only the arm is published. The sequence accountant bounds the Rényi
#' divergence of the *sequence of arms*. At every order it is at most theirs, and at long horizons smaller by
#' orders of magnitude.
#'
#' * `sequence_rdp()` gives the bound, a number for each order alpha.
#' * `sequence_account()` also gives the bound for full publication, the method of computation,
#'   and how much the computation may have added.
#'
#' @details
#' Before a round the private arm (the one that holds the changed reward) has n rewards, and its posterior
#' mean differs between the streams by at most d(n) = 1 / sqrt(c (n + 1)) of its own standard deviations.
#' Given the draws of the other arms, the round publishes one bit: was the private arm pulled? It is
#' Bernoulli(Phi(x)) under one stream and Bernoulli(Phi(x + s)), |s| <= d(n), under the other, with x out of
#' the analyst's control. With W_tau(n) the largest possible value of log E_Q\[(P/Q)^alpha\] over tau
#' remaining rounds,
#'
#' W_(tau+1)(n) = W_tau(n) + H(d(n), W_tau(n) - W_tau(n+1)),
#'
#' where H(d, g) is the supremum over x and both signs of log(p^alpha q^(1-alpha) e^(-g) + (1-p)^alpha
#' (1-q)^(1-alpha)), q = Phi(x), p = Phi(x + s). The whole transcript has Rényi divergence at most W_T(n0) /
#' (alpha - 1), with n0 = max(`prepulls`, 1), since an arm without data has nothing to hide. The vignette
#' "What the arms leak" (`vignette("sequence-accountant", "dpts")`) has the proof and the tests that back it.
#'
#' * `"exact"` runs the recursion as it stands; its cost grows with `rounds` squared.
#' * `"grid"` solves it on nodes in n and steps in tau, spaced geometrically, so that its cost grows with
#'   log(`rounds`) squared. Its solution obeys the recursion's inequality in every cell and step, by proof,
#'   and is therefore an upper bound too: never below the exact one, and within half a percent of it.
#' * `"auto"` is `"exact"` up to 200 rounds and `"grid"` beyond.
#'
#' What is left to floating point is a relative error below 1e-6 in each H, which the grid adds.
#' That holds for orders with 1e-7 <= alpha - 1 <= 1e7 and for settings with
#' 1e-12 <= `variance_scale` (n0 + 1) <= 1e12; others are refused.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. What is published is the
#' sequence of arms: not the draws, the posterior means, or the rewards. The number of rounds is known in
#' advance, and `prepulls` and `variance_scale` are chosen without looking at the data.
#'
#' @param alpha Orders of the Rényi divergence: numbers from 1 + 1e-7 to 1 + 1e7.
#' @param rounds Rounds after the pre-pulls: whole numbers, at least 1. For K arms and a
#'   horizon T they are T - K x `prepulls`.
#' @param prepulls,variance_scale Parameters of [policy_ts_gaussian()].
#' @param method How the recursion is solved: `"auto"`, `"exact"` or `"grid"`; see Details.
#' @template dots
#' @returns `sequence_rdp()`: a vector of Rényi divergences, in nats, all arguments recycled
#'   to one length. `sequence_account()`: a tibble, one row for each of them, with
#'   * `alpha`, `rounds`, `prepulls`, `variance_scale`: as given;
#'   * `rdp`: the bound by the sequence accountant, in nats;
#'   * `published`: what the bound would be if every round published all its draws,
#'     alpha rounds d(n0)^2 / 2, in nats;
#'   * `method`: `"exact"` or `"grid"`;
#'   * `slack`: the largest factor by which the grid raised the gain of a step above what the
#'     step needs, where that mattered (gains of at least 1 percent of the largest); 1 for
#'     the exact recursion. The bound itself is inflated by less.
#' @template ou
#' @references Mironov, I. (2017). Rényi Differential Privacy. CSF.
#' @template see_privacy
#' @examples
#' sequence_rdp(alpha = 2, rounds = 100, prepulls = 1, variance_scale = 1)
#' sequence_account(alpha = c(1.5, 2, 4), rounds = 1e5, prepulls = 500, variance_scale = 14)
#' @export
sequence_rdp <- function(alpha, rounds, prepulls = 0, variance_scale = 1,
                         method = c("auto", "exact", "grid"), ...) {
  check_dots_empty(...)
  sequence_solve(alpha, rounds, prepulls, variance_scale, method)$rdp
}

#' @rdname sequence_rdp
#' @export
sequence_account <- function(alpha, rounds, prepulls = 0, variance_scale = 1,
                             method = c("auto", "exact", "grid"), ...) {
  check_dots_empty(...)
  args <- sequence_solve(alpha, rounds, prepulls, variance_scale, method)
  as_bounds(tibble::new_tibble(args, nrow = length(args$alpha)))
}

# What the accountants of the published arms know of a Thompson sampler: the rounds in which it draws,
# the private arm's rewards at the start, and the variance of its draws. One setting; `start` and
# `weight`, the precision of a draw at the start, follow from the others.
sampler <- function(rounds, prepulls, variance_scale) {
  start <- max(prepulls, 1)
  list(rounds = rounds, start = start, scale = variance_scale, weight = variance_scale * (start + 1))
}

# The range for which the rounding errors of H have been bounded (src/account_sequence_grid.h)
is_certified <- function(sampler) {
  # divided, so that nothing overflows
  sampler$scale >= 1e-12 / (sampler$start + 1) && sampler$scale <= 1e12 / (sampler$start + 1)
}

# The arguments that describe samplers, checked and recycled with what else there is
check_samplers <- function(rounds, prepulls, variance_scale, ...) {
  rounds <- check_counts(rounds, 1)
  prepulls <- check_counts(prepulls, 0)
  variance_scale <- check_numbers(variance_scale, 0, open = TRUE)
  args <- recycle_common(..., rounds = rounds, prepulls = prepulls, variance_scale = variance_scale)
  args$samplers <- Map(sampler, args$rounds, args$prepulls, args$variance_scale)
  bad <- which(!vapply(args$samplers, is_certified, NA))
  if (length(bad) == 0) return(args)
  range <- paste("`variance_scale` must be such that variance_scale x (max(prepulls, 1) + 1) is between",
                 "1e-12 and 1e12, where the sequence accountant has been proved accurate; %s x %s is not.")
  abort_input("variance_scale", range,
              number_text(args$variance_scale[bad[1]]), number_text(args$samplers[[bad[1]]]$start + 1),
              class = "dpts_error_range")
}

# The places of each sampler among the arguments
split_samplers <- function(args) {
  scale <- number_text(args$variance_scale, digits = 17)
  split(seq_along(args$rounds), paste(args$rounds, args$prepulls, scale))
}

# A curve costs as much as one of its points: settle all goals of a sampler at once
# `solve`: A function of (goals, sampler).
by_sampler <- function(args, goal, solve) {
  out <- numeric(length(goal))
  for (own in split_samplers(args)) {
    goals <- unique(goal[own])
    out[own] <- solve(goals, args$samplers[[own[1]]])[match(goal[own], goals)]
  }
  out
}

# Check, recycle and solve
sequence_solve <- function(alpha, rounds, prepulls, variance_scale, method) {
  alpha <- check_numbers(alpha, 1, open = TRUE)
  method <- check_choice(method, c("auto", "exact", "grid"))
  args <- check_samplers(rounds, prepulls, variance_scale, alpha = alpha)
  if (method == "exact" && any(args$rounds > 1e5)) {
    abort_input("rounds", paste("`rounds` must be at most 1e5 with method \"exact\", whose cost grows with",
                                "their square; use \"grid\"."))
  }
  bad <- which(args$alpha - 1 < 1e-7 * (1 - 1e-9) | args$alpha - 1 > 1e7 * (1 + 1e-9))
  if (length(bad) > 0) {
    abort_input("alpha", "`alpha` must be between 1 + 1e-7 and 1 + 1e7, not %s.",
                number_text(args$alpha[bad[1]], digits = 15), class = "dpts_error_range")
  }
  n <- length(args$alpha)
  found <- list(rdp = numeric(n), published = numeric(n), method = character(n), slack = numeric(n))
  for (own in split_samplers(args)) {
    sampler <- args$samplers[[own[1]]]
    one <- solve_orders(args$alpha[own], sampler, method, bar = progress_bar())
    found$rdp[own] <- one$value / (args$alpha[own] - 1)
    found$published[own] <- args$alpha[own] * sampler$rounds / (2 * sampler$weight)
    found$method[own] <- one$method
    found$slack[own] <- one$slack
  }
  c(args[c("alpha", "rounds", "prepulls", "variance_scale")], found)
}

# W at orders alpha, by the recursion or by the grid
solve_orders <- function(alpha, sampler, method = "auto", coarse = 1, bar = progress_bar(FALSE)) {
  if (method == "auto") method <- if (sampler$rounds <= MAX_ROUNDS_EXACT) "exact" else "grid"
  args <- recycle_common(alpha, sampler$rounds, sampler$start, sampler$scale)
  found <- if (method == "exact") {
    list(value = do.call(.Call, c(list(C_sequence_exact), args, bar)), slack = 1)
  } else {
    do.call(.Call, c(list(C_sequence_grid), args, coarse))
  }
  c(found, method = method)
}

# The Rényi divergence at orders that are inside the range
sampler_rdp <- function(alpha, sampler) solve_orders(alpha, sampler)$value / (alpha - 1)

MAX_ROUNDS_EXACT <- 200

# ---- the best order -----------------------------------------------------------------

# Epsilon of the sequence accountant at each delta, minimised over continuous orders
orders_of_sequence <- function(delta, sampler, u = NULL, fine = TRUE) {
  epsilon <- ifelse(delta == 1 | sampler$rounds == 0, 0, Inf)
  open <- is.infinite(epsilon) & delta > 0
  if (!any(open)) return(structure(epsilon, raw = epsilon, order = NA_real_))
  best <- search_orders(delta[open], order_cost, sampler, u, fine)
  epsilon[open] <- pmax(0, best$cost)
  structure(epsilon, raw = best$cost, order = best$order)
}

# The other way round: log(delta) at each epsilon
log_delta_of_sequence <- function(epsilon, sampler, fine = TRUE) {
  pmin(0, search_orders(epsilon, order_cost_delta, sampler, fine = fine)$cost)
}

# The least cost of each goal over all orders alpha = 1 + exp(u)
#
# log E_Q[(P/Q)^alpha] is convex in alpha for every strategy of the streams, and so is its
# supremum W: the recursion multiplies, adds and maximises log-convex functions.
# Between orders that were computed a chord is therefore an upper bound on W, and the
# minimum over alpha of the cost along it is valid. The best order of each goal is looked for on a
# coarse grid, where solves are cheap, around that of the draws themselves, all published; then among its
# neighbours on the fine one. As W is convex, a cost has no other bottom than the one that is found.
# `u`: Multiples of 1/16 among which to begin at once.
# `fine`: `FALSE`: the coarse grid will do.
search_orders <- function(goal, cost, sampler, u = NULL, fine = TRUE) {
  w <- function(coarse) function(u) sequence_value(u, sampler, coarse)
  best_of <- function(u, value) unique(u[least_of(cost(u, value, rep(goal, each = length(u))), length(goal))])
  if (is.null(u)) {
    coarse <- if (sampler$rounds <= MAX_ROUNDS_EXACT) 1 else COARSE
    at <- seq(-15, 15, by = 1 / 4)
    near <- neighbours(sort(best_of(at, published_value(at, sampler))), 1 / 4, best_of, w(coarse))
    near <- neighbours(near$u, 1 / 16, best_of, w(coarse))
    u <- outer(c(-1, 0, 1) / 16, best_of(near$u, near$value), `+`)
    u <- sort(unique(u[abs(u) <= 16]))
  }
  if (fine) near <- neighbours(u, 1 / 16, best_of, w(1))
  best_on_chords(goal, cost, near$u, near$value)
}

# Orders and their values, with those added that lie `step` from the best, until none better is found
neighbours <- function(u, step, best_of, w) {
  value <- w(u)
  repeat {
    new <- unique(c(outer(c(-step, step), best_of(u, value), `+`)))
    new <- setdiff(new[abs(new) <= 16], u)
    if (length(new) == 0) return(list(u = u, value = value))
    o <- order(c(u, new))
    value <- c(value, w(new))[o]
    u <- c(u, new)[o]
  }
}

# W at alpha = 1 + exp(u). A search may pass through settings that are not certified; there
# the draws themselves, all published, bound it.
sequence_value <- function(u, sampler, coarse = 1) {
  x <- exp(u)
  if (!is_certified(sampler)) return(published_value(u, sampler))
  unlist(solve_once("order", c(list(u), sampler[c("rounds", "start", "scale")], coarse), function(i) {
    solve_orders(1 + x[i], sampler, coarse = coarse)$value
  }))
}

published_value <- function(u, sampler) exp(u) * (1 + exp(u)) * sampler$rounds / (2 * sampler$weight)

# How much coarser the grids may be on which settings and orders are only compared
COARSE <- 4

# Values that are kept, as a search and the check of its end ask for the same ones: so far for the
# last few hundred
# `what`: Of what, as one word; with `args`, numbers that are recycled, it is all that decides a value.
# `solve`: A function that gives the values of some of them, by number.
# Returns A list.
solve_once <- function(what, args, solve) {
  key <- do.call(paste, c(what, lapply(args, sprintf, fmt = "%a")))
  if (length(solved) > 500) rm(list = ls(solved), envir = solved)
  new <- which(!vapply(key, exists, NA, envir = solved, inherits = FALSE))
  found <- if (length(new) > 0) solve(new)
  for (i in seq_along(new)) assign(key[new[i]], found[[i]], envir = solved)
  unname(mget(key, envir = solved))
}

solved <- new.env(parent = emptyenv())

# The improved conversion of W at alpha = 1 + exp(u): epsilon at delta, before it is set to 0
# from below, and log(delta) at epsilon
order_cost <- function(u, value, delta) {
  x <- exp(u)
  value / x + u - log1p(x) - (log(delta) + log1p(x)) / x
}

order_cost_delta <- function(u, value, epsilon) {
  x <- exp(u)
  value + x * (u - log1p(x) - epsilon) - log1p(x)
}

# The smallest cost of each goal along the chords of W, and the u where it is taken
best_on_chords <- function(goal, cost, u, value) {
  n <- length(goal)
  at_nodes <- matrix(cost(u, value, rep(goal, each = length(u))), ncol = n)
  best <- least_of(at_nodes, n)
  ends <- lapply(c(-1, 1), function(side) u[pmin(length(u), pmax(1, best + side))])
  # In 200 steps along both chords; first every tenth, as a cost falls and then rises
  look <- function(step) {
    m <- nrow(step)
    at <- rep(ends[[1]], each = m) + c(step) * rep((ends[[2]] - ends[[1]]) / 200, each = m)
    along <- cost(at, stats::approx(exp(u), value, exp(at), rule = 2)$y, rep(goal, each = m))
    k <- cbind(least_of(along, n), seq_len(n))
    list(step = step[k], u = matrix(at, m)[k], cost = matrix(along, m)[k])
  }
  tenth <- look(matrix(0:20 * 10, 21, n))$step
  found <- look(pmax(pmin(outer(-10:10, tenth, `+`), 200), 0))
  best <- cbind(best, seq_len(n))
  below <- found$cost < at_nodes[best]
  list(cost = ifelse(below, found$cost, at_nodes[best]), order = ifelse(below, found$u, u[best[, 1]]))
}

# Which is the least of each of n columns?
least_of <- function(cost, n) max.col(-t(matrix(cost, ncol = n)), "first")
