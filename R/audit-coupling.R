# Coupling: a check of privacy on single paths, without sampling. Run A plays a stream and keeps every noisy
# number that the policy releases. Run B plays a neighbouring stream with the same random numbers, but
# receives A's released numbers in place of its own. If the arms depend only on releases and public
# information, they are the same in both runs, and reveal no more about the stream than the releases do. A
# release whose exact value moved by s costs |s| / scale of epsilon under Laplace noise and (s / sd)^2 of mu^2
# under Gaussian noise; a bit by randomised response costs the logarithm of the ratio of its probabilities.
# The guarantee bounds the sum of these on every path (adaptive composition).
#
# A player is a function of a script and of values to force, NULL for none, that gives
#   arm        the arm of each step
#   released   how many numbers had been released after each step
#   ledger     a data frame, one row per number: exact, kind, scale, noise, value, release
#   said       a hash, for each step and the end, of what the policy reports: sums, verdict, probabilities; or
#              NULL
# so that what is audited may be a policy of the package, or anything that keeps such a ledger.

# A policy as a player of scripts: src/r_trace.c
coupling_player <- function(policy) {
  function(script, forced = NULL) {
    script[c("silent", "ask")] <- list(FALSE, TRUE)
    script$forced <- if (!is.null(forced)) as.double(forced)
    script$visits <- visits_with(script$visits, policy)
    script$max_ledger <- 64 * length(script$arms)
    read <- function() .Call(C_trace, kernel(policy, script$horizon), script)
    out <- read()
    if (out$total > script$max_ledger) {
      script$max_ledger <- out$total
      out <- read()
    }
    rows <- seq_len(out$total)
    columns <- c("exact", "kind", "scale", "noise", "value", "release")
    list(arm = out$arm, released = out$released, report = out$report, said = out$said,
         ledger = lapply(out[columns], `[`, rows))
  }
}

# Couple two scripts
#
# `values`: What to release in run A, too, in place of its own: whole numbers, say, with
#   which indices tie, so that the least weight on anything else shows.
# `apart`: A step in which the arms may differ: that of a changed context, whose own arm
#   joint privacy does not protect.
# Returns `arms`, `releases`, `said`: are they the same in both runs? (`said` is not compared if there is a
#   step `apart`.) `cost`: see [coupling_cost()]; `ledger`: that of run A.
couple <- function(play, script, other, values = NULL, apart = integer()) {
  a <- play(script, values)
  b <- play(other, a$ledger$value)
  compared <- setdiff(seq_along(a$arm), apart)
  public <- c("kind", "scale", "release")
  releases <- identical(a$released, b$released) && identical(a$ledger[public], b$ledger[public])
  list(arms = identical(a$arm[compared], b$arm[compared]), releases = releases,
       said = length(apart) > 0 || identical(a$said, b$said),
       cost = if (releases) coupling_cost(a$ledger, b$ledger), ledger = a$ledger)
}

# What the releases that moved cost
#
# Returns `epsilon`: of each number of pure privacy; `mu`: of all releases under Gaussian noise together;
#   `each`: `epsilon` summed over the numbers of a release; `laplace`: is all of it Laplace noise?
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
  laplace <- of("Laplace")
  each <- if (any(laplace)) as.vector(tapply(shift[laplace], a$release[laplace], sum))
  list(epsilon = c(shift[laplace], together, bits), mu = sqrt(sum(shift[of("Gaussian")]^2)),
       each = c(each, together, bits), laplace = !any(gamma, bit))
}

# The least epsilon, at each delta, that follows from these costs for all adaptive policies
coupling_epsilon <- function(cost, delta) {
  e <- cost$epsilon
  if (length(e) == 0 && cost$mu == 0) return(rep(0, length(delta)))
  if (cost$mu > 0) return(gdp_epsilon(sqrt(cost$mu^2 + sum(pure_mu(e)^2)), delta))
  # Kairouz, Oh and Viswanath (2015), Theorem 3.5, as in releases_epsilon()
  pmin(sum(e), sum(e * tanh(e / 2)) + sqrt(2 * log(1 / delta) * sum(e^2)))
}

# ---- scripts ---------------------------------------------------------------------------------

# A script of a table of rewards, with a final release. Rewards come at once and all arms are on offer, unless
# `delays` and `offers` say otherwise.
table_script <- function(table, seed, delays = NULL, offers = NULL) {
  list(k = ncol(table), horizon = nrow(table), arms = rep(NA_integer_, nrow(table)), delays = delays,
       offers = offers, rewards = table + 0, seed = seed, own = FALSE, fresh = TRUE, finish = TRUE)
}
