# Policies that gather an arm's pulls in batches, played with late rewards: what a translation of its own says

#' A run of such a policy, round by round: its choices by a translation, and the rewards of its batches as they come.
#' @param out Of run_script(), with `rewards` (a column an arm), `delays` and `offers`.
#' @param first,times The pulls in an arm's first batch; `times(s, arm)`: in later ones, for each of its pulls so far.
#' @param choose The arm of the round, of `s`, which has `t`, `offer`, `pulls`, `made` (batches begun), `open` and what
#'   learn() keeps.
#' @param learn Called with `s`, an arm, and the size, sum and number of a batch that is complete.
#' @returns The arms that the translation chooses, up to the first that `out` does not have, or that is NA.
played_late <- function(out, rewards, delays, offers, first, times, choose, learn) {
  k <- ncol(rewards)
  n <- length(out$arm)
  s <- list2env(list(pulls = numeric(k), made = numeric(k), open = logical(k), size = numeric(k), filled = numeric(k)))
  come <- sum <- of <- number <- numeric()
  batch <- integer(n)
  arms <- integer()
  due <- split(seq_len(n), factor(seq_len(n) + rep_len(delays, n), seq_len(n)))
  for (t in seq_len(n)) {
    s$t <- t
    s$offer <- if (is.null(offers)) seq_len(k) else offers[[t]]
    arms[t] <- a <- choose(s)
    if (is.na(a)) return(arms[-t])
    if (a != out$arm[t]) return(arms)
    if (!s$open[a]) {
      s$made[a] <- s$made[a] + 1
      s$size[a] <- if (s$made[a] == 1) first else max(1, ceiling(times(s, a) * s$pulls[a] * (1 - 1e-12)))
      s$filled[a] <- 0
      s$open[a] <- TRUE
      of <- c(of, s$size[a])
      number <- c(number, s$made[a])
      come <- c(come, 0)
      sum <- c(sum, 0)
      s$at[a] <- length(of)
    }
    batch[t] <- s$at[a]
    s$pulls[a] <- s$pulls[a] + 1
    s$filled[a] <- s$filled[a] + 1
    if (s$filled[a] == s$size[a]) s$open[a] <- FALSE
    for (u in due[[t]]) {
      b <- batch[u]
      come[b] <- come[b] + 1
      sum[b] <- sum[b] + rewards[u, out$arm[u]]
      if (come[b] == of[b]) learn(s, out$arm[u], of[b], sum[b], number[b])
    }
  }
  arms
}

# The uniforms that a policy draws in a run: those of its choices among very many arms
uniforms <- function(n, seed, k = 1e5) (run_script(policy_uniform(), k, rep(NA, n), numeric(n), seed = seed)$arm - 0.5) / k
