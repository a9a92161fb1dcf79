# Coupling: a proof of privacy, path by path and without sampling. Run A plays a stream and keeps
# every noisy number that the policy releases. Run B plays a neighbouring stream with the same
# random numbers, and is given A's released numbers in place of its own. If the arms come from
# releases and public things alone, they are the same in both runs, and all that they tell about
# the stream is what the releases tell: one whose exact value moved by s costs |s| / scale of
# epsilon under Laplace noise, (s / sd)^2 of mu^2 under Gaussian noise, and a bit by randomised
# response the logarithm of the ratio of its chances. That sum, on every path, is what the guarantee
# bounds (adaptive composition).
#
# A player is a function of a script and of values to force, NULL for none, that gives
#   arm        the arm of each step
#   released   how many numbers had been released after each step
#   ledger     a data frame, one row per number: exact, kind, scale, noise, value, release
# so that what is audited may be a policy of the package, or anything that keeps such a ledger.

#' A policy as a player of scripts: src/r_trace.c
#' @noRd
coupling_player <- function(policy) {
  function(script, forced = NULL) {
    script$silent <- FALSE
    script$forced <- if (!is.null(forced)) as.double(forced)
    script$max_ledger <- 64 * length(script$arms)
    read <- function() .Call(C_trace, kernel(policy, script$horizon), script)
    out <- read()
    if (out$total > script$max_ledger) {
      script$max_ledger <- out$total
      out <- read()
    }
    rows <- seq_len(out$total)
    columns <- c("exact", "kind", "scale", "noise", "value", "release")
    list(arm = out$arm, released = out$released,
         ledger = lapply(out[columns], `[`, rows))
  }
}

#' Couple two scripts
#'
#' @param values What to release in run A, too, in place of its own: whole numbers, say, with
#'   which indices tie, so that the least weight on anything else shows.
#' @param apart A step in which the arms may differ: that of a changed context, whose own arm
#'   joint privacy does not protect.
#' @returns `arms`, `releases`: are they the same in both runs?; `cost`: see [coupling_cost()];
#'   `ledger`: A's.
#' @noRd
couple <- function(play, script, other, values = NULL, apart = integer()) {
  a <- play(script, values)
  b <- play(other, a$ledger$value)
  compared <- setdiff(seq_along(a$arm), apart)
  public <- c("kind", "scale", "release")
  releases <- identical(a$released, b$released) &&
    identical(a$ledger[public], b$ledger[public])
  list(arms = identical(a$arm[compared], b$arm[compared]), releases = releases,
       cost = if (releases) coupling_cost(a$ledger, b$ledger), ledger = a$ledger)
}

#' What the releases that moved cost
#'
#' @returns `epsilon`: one number for each release of pure privacy; `mu`: of all releases under
#'   Gaussian noise together.
#' @noRd
coupling_cost <- function(a, b) {
  shift <- ifelse(a$exact == b$exact, 0, abs(a$exact - b$exact) / a$scale)
  kinds <- noise_names(a$kind)
  of <- function(kind) kinds == kind & shift > 0
  gamma <- of("Gamma")
  together <- if (any(gamma)) unname(sqrt(tapply(shift[gamma]^2, a$release[gamma], sum)))
  bit <- of("response")
  chance <- function(reward) {
    one <- reward * (1 - a$scale[bit]) + (1 - reward) * a$scale[bit]
    ifelse(a$value[bit] == 1, one, 1 - one)
  }
  bits <- if (any(bit)) abs(log(chance(a$exact[bit]) / chance(b$exact[bit])))
  list(epsilon = c(shift[of("Laplace")], together, bits), mu = sqrt(sum(shift[of("Gaussian")]^2)))
}

#' The least epsilon, at each delta, that follows from these costs for all adaptive policies
#' @noRd
coupling_epsilon <- function(cost, delta) {
  e <- cost$epsilon
  if (length(e) == 0 && cost$mu == 0) return(rep(0, length(delta)))
  if (cost$mu > 0) return(gdp_epsilon(sqrt(cost$mu^2 + sum(pure_mu(e)^2)), delta))
  # Kairouz, Oh and Viswanath (2015), Theorem 3.5, as in releases_epsilon()
  pmin(sum(e), sum(e * tanh(e / 2)) + sqrt(2 * log(1 / delta) * sum(e^2)))
}

#' The cost as a share of what the guarantee promises under the conditions `at`: above 1, it is broken
#' @noRd
coupling_share <- function(cost, guarantee, at) {
  if (promises_nothing(guarantee)) return(0)
  epsilon <- form(guarantee, "epsilon", at)
  if (!is.null(epsilon)) return(if (cost$mu > 0) Inf else ratio(sum(cost$epsilon), epsilon))
  mu <- form(guarantee, "mu", at)
  if (!is.null(mu)) return(ratio(sqrt(cost$mu^2 + sum(pure_mu(cost$epsilon)^2)), mu))
  delta <- c(0, 1e-9, 1e-6, 1e-3, 0.1)
  max(ratio(coupling_epsilon(cost, delta), form(guarantee, "curve", at)(delta)))
}

ratio <- function(x, y) ifelse(x == 0, 0, x / y)

#' Is the noise what the ledger says? One number in (0, 1) for each release, uniform and independent
#' if so: of the noise under Laplace's and the normal distribution, of its length under the Gamma
#' mechanism's. Bits are left out.
#' @noRd
coupling_noise <- function(ledger) {
  ledger <- lapply(ledger, `[`, noise_names(ledger$kind) != "response")
  z <- ledger$noise / ledger$scale
  kind <- noise_names(ledger$kind)
  first <- !duplicated(ledger$release)
  laplace <- ifelse(z < 0, exp(pmin(z, 0)) / 2, 1 - exp(-pmax(z, 0)) / 2)
  single <- ifelse(kind == "Laplace", laplace, stats::pnorm(z))[first]
  if (!any(kind == "Gamma")) return(single)
  norm <- sqrt(tapply(z^2, ledger$release, sum))
  numbers <- tapply(z, ledger$release, length)
  ifelse(kind[first] == "Gamma", stats::pgamma(norm, numbers), single)
}

# ---- scripts ---------------------------------------------------------------------------------

#' A random script
#'
#' What is public is drawn at random, with all that can go wrong: arms that come and go, choices
#' that are discarded, rewards that come at once, late, out of order or never.
#'
#' @param dim Numbers in a context, 0 for none; `own`: has each arm its own?
#' @noRd
random_script <- function(k, steps, dim = 0, own = FALSE) {
  one_of <- function(...) switch(sample.int(...length(), 1), ...)
  number <- function(n) one_of(stats::runif(n), stats::rbinom(n, 1, stats::runif(1)) + 0,
                               rep(stats::runif(1), n), rep(one_of(0, 1), n), stats::rbeta(n, 0.2, 0.2))
  rewards <- vapply(seq_len(k), function(i) number(steps), numeric(steps))
  discard <- one_of(NULL, stats::runif(steps) < stats::runif(1, 0, 0.7))
  script <- list(
    k = k, horizon = one_of(steps, steps + sample.int(steps, 1)), arms = rep(NA_integer_, steps),
    rewards = matrix(rewards, steps, k), seed = sample.int(1e9, 1),
    offers = one_of(NULL, random_offers(k, steps)), discard = discard,
    delays = one_of(NULL, random_delays(steps)), own = own, fresh = TRUE
  )
  if (dim > 0) {
    shape <- c(dim, if (own) k, steps)
    script$contexts <- array(stats::runif(prod(shape)), shape)
  }
  script
}

random_offers <- function(k, steps) {
  new <- stats::runif(steps) > stats::runif(1)
  pools <- sum(new)
  on <- matrix(stats::runif(k * pools) < rep(stats::runif(pools), each = k), k)
  on[cbind(sample.int(k, pools, TRUE), seq_len(pools))] <- TRUE # never none
  offers <- c(list(seq_len(k)), lapply(seq_len(pools), function(i) which(on[, i])))
  offers[1 + cumsum(new)]
}

#' Up to 40 rounds; a reward that is more rounds late than there are never comes.
#' @noRd
random_delays <- function(steps) {
  delays <- switch(sample.int(3, 1), sample.int(41, 1) - 1L, sample.int(41, steps, TRUE) - 1L,
                   sample.int(sample.int(4, 1), steps, TRUE) - 1L)
  never <- stats::runif(length(delays)) < sample(c(0, 0, 0.2), 1)
  as.integer(ifelse(never, steps, delays))
}

#' A script of a table of rewards, with immediate feedback and all arms on offer
#' @noRd
table_script <- function(table, seed) {
  list(k = ncol(table), horizon = nrow(table), arms = rep(NA_integer_, nrow(table)),
       rewards = table + 0, seed = seed, own = FALSE, fresh = TRUE)
}

#' The neighbour of a script: other rewards in step `at`, and another context if it is protected
#'
#' The toss of a coin, which some policies make for a reward inside (0, 1), takes a random
#' number, and rewards of 0 and 1 take none. Where rewards are late another toss may follow in the
#' same step; so that it finds the same number in both runs, a reward of 0 or 1 then becomes 1 or 0,
#' and one inside (0, 1) another one, as near to 0 or 1 as may be, too. Nothing is lost: a coin of
#' 1e-300 shows 0 as a reward of 0 does.
#' @noRd
random_neighbour <- function(script, at, context = FALSE) {
  old <- script$rewards[at, ]
  inside <- sample(c(1e-300, 1 - 2^-53, stats::runif(1)), script$k, TRUE)
  any <- sample(c(0, 1, stats::runif(1)), script$k, TRUE)
  script$rewards[at, ] <- if (is.null(script$delays)) ifelse(any == old, 1 - old, any) else
    ifelse(old %in% 0:1, 1 - old, inside)
  if (context) {
    size <- length(script$contexts) / length(script$arms)
    script$contexts[(at - 1) * size + seq_len(size)] <- sample(c(0, 1, stats::runif(1)), size, TRUE)
  }
  script
}
