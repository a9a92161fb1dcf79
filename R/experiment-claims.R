# What the papers say their figures show, each claim as a margin that is positive if it holds.

# `measure`: A function of the result, of the regret at the end (a row for each run, a column for each policy)
#   and of the policies' settings, which gives the margin and its standard error.
claim <- function(text, measure) list(text = text, measure = measure)

# Mean of a margin over runs, and its standard error, which runs that are alike do not show
over_runs <- function(d) {
  if (anyNA(d)) return(c(NA_real_, NA_real_))
  alike <- group_stats(d, rep(1, length(d)))$alike
  c(mean(d), if (alike) NA_real_ else stats::sd(d) / sqrt(length(d)))
}

# Of several margins, or lists of them, the least favourable to a claim, in standard errors; unknown if one is
least <- function(margins) {
  if (any(vapply(margins, is.list, NA))) margins <- unlist(margins, recursive = FALSE)
  if (!length(margins)) return(c(NA_real_, NA_real_))
  both <- vapply(margins, as.double, c(0, 0))
  if (anyNA(both[1, ])) return(c(NA_real_, NA_real_))
  z <- both[1, ] / both[2, ]
  z[is.nan(z)] <- 0 # a margin of 0 without error
  both[, order(z, both[1, ], na.last = FALSE)[1]]
}

# The last recorded round up to `round`; NA if that is over a fifth earlier, as where few were recorded
recorded_by <- function(x, round) {
  t <- max(x$t[x$t <= round], 0)
  if (t < 0.8 * round) NA_real_ else t
}

# Cumulative regret by a round, one row per run, one column per policy; NA if it was not recorded
regret_at <- function(x, round = max(x$t)) {
  t <- recorded_by(x, round)
  policies <- levels(x$policy)
  if (is.na(t)) return(matrix(NA_real_, 1, length(policies), dimnames = list(NULL, policies)))
  x <- as.data.frame(x)[x$t == t, ]
  x <- x[order(match(x$policy, policies), x$run), ]
  matrix(x$regret, ncol = length(policies), dimnames = list(NULL, policies))
}

# The regret of each run behind a "tuning" result
runs_of <- function(x) {
  rows <- runs_in(x)
  policies <- as.character(shared(x, "experiment")$settings$policy)
  runs <- lapply(policies, function(policy) rows$regret[rows$policy == policy])
  matrix(unlist(runs), ncol = length(policies))
}

# ---- Ou et al. ----------------------------------------------------------------------------

claims_ou_1 <- function() {
  falls <- function(panel, column) function(x, ...) {
    x <- as.data.frame(x)[as.integer(x$panel) == panel, ]
    d <- vapply(split(x, list(x$delta, x$accountant)), function(s) {
      if (nrow(s) < 2) NA_real_ else min(-diff(s$epsilon[order(s[[column]])]))
    }, 0)
    c(min(d), 0)
  }
  list(
    claim("Epsilon falls as b grows, at every delta.", falls(1, "prepulls")),
    claim("Epsilon falls as c grows, at every delta.", falls(2, "variance_scale")),
    claim("b and c play nearly the same role: equal c (b + 1), equal epsilon (margin: 1% of epsilon).",
          function(x, ...) {
            x <- as.data.frame(x)
            x$product <- x$variance_scale * (x$prepulls + 1)
            panels <- split(x, as.integer(x$panel))
            both <- merge(panels[[1]], panels[[2]], by = c("product", "delta", "accountant"))
            c(min(0.01 * both$epsilon.x - abs(both$epsilon.x - both$epsilon.y)), 0)
          })
  )
}

# The columns of a regret matrix that belong to each mu, in increasing b
by_mu <- function(settings) {
  lapply(split(seq_len(nrow(settings)), settings$mu), function(at) at[order(settings$prepulls[at])])
}

# The least favourable margin over all mu: `margin` is a function of the columns of one
at_each_mu <- function(settings, margin) least(lapply(by_mu(settings), margin))

best_of <- function(regret, at, which = which.min) at[which(colMeans(regret[, at, drop = FALSE]))]

# By how much the columns `i` end above the best of `at`
above_best <- function(regret, i, at) {
  lapply(i, function(one) over_runs(regret[, one] - regret[, best_of(regret, at)]))
}

claims_ou_over_time <- function() {
  # Rounds that the pre-pulls of a setting take
  pre <- function(x, settings, at) settings$prepulls[at] * n_arms(shared(x, "experiment")$arms)
  # Regret per round in the pre-pulls and after them, one row per run
  per_round <- function(x, settings, at) {
    end <- recorded_by(x, pre(x, settings, at))
    early <- if (is.na(end)) NA_real_ else if (end > 0) regret_at(x, end)[, at] else 0
    list(early = early / end, late = (regret_at(x)[, at] - early) / (max(x$t) - end))
  }
  list(
    claim("No pre-pulls and the largest variance end above intermediate (b, c), at every guarantee.",
          function(x, regret, settings) {
            at_each_mu(settings, function(at) above_best(regret, at[1], at))
          }),
    claim("The most pre-pulls and the smallest variance end above intermediate (b, c), at every guarantee.",
          function(x, regret, settings) {
            at_each_mu(settings, function(at) above_best(regret, rev(at)[1], at))
          }),
    claim("Regret per round is lower after the pre-pulls than in them, at every b and guarantee.",
          function(x, regret, settings) {
            least(lapply(which(settings$prepulls > 0), function(at) {
              rate <- per_round(x, settings, at)
              over_runs(rate$early - rate$late)
            }))
          }),
    claim("During the pre-pulls regret is convex: the arms with the highest means come first (largest b).",
          function(x, regret, settings) {
            at_each_mu(settings, function(at) {
              at <- rev(at)[1]
              mean_until <- function(round) {
                t <- recorded_by(x, round)
                if (is.na(t)) NA_real_ else regret_at(x, t)[, at] / t
              }
              whole <- pre(x, settings, at)
              d <- mean_until(whole) - mean_until(whole / 2)
              c(mean(d), stats::sd(d)) # nothing is random there: 0, or NA of one run
            })
          }),
    claim("After the pre-pulls regret per round falls from each b to the next larger, at every guarantee.",
          function(x, regret, settings) {
            at_each_mu(settings, function(at) {
              late <- lapply(at, function(i) per_round(x, settings, i)$late)
              Map(function(smaller, larger) over_runs(smaller - larger), late[-length(late)], late[-1])
            })
          }),
    claim(paste("At the strongest guarantee the smallest b hardly learns: in the last tenth its regret",
                "per round is over 80% of the uniform policy's."),
          function(x, regret, settings) {
            at <- by_mu(settings)[[1]][1]
            from <- recorded_by(x, 0.9 * max(x$t))
            if (is.na(from)) return(c(NA, NA))
            late <- (regret[, at] - regret_at(x, from)[, at]) / (max(x$t) - from)
            means <- shared(x, "experiment")$arms$mean
            over_runs(late - 0.8 * mean(max(means) - means))
          }),
    claim(paste("The best (b, c) depends on the guarantee: the best b of the weakest is worse than the",
                "best at the strongest."),
          function(x, regret, settings) {
            sets <- by_mu(settings)
            strongest <- sets[[1]]
            best <- settings$prepulls[best_of(regret, sets[[length(sets)]])]
            above_best(regret, strongest[settings$prepulls[strongest] == best], strongest)[[1]]
          })
  )
}

claims_ou_at_horizon <- function() {
  # The columns of a regret matrix for one b, from the strongest guarantee to the weakest
  at_b <- function(settings, b) {
    at <- which(settings$prepulls == b)
    at[order(settings$mu[at])]
  }
  gain <- function(regret, at) regret[, at[1]] - regret[, rev(at)[1]]
  smaller_half <- function(settings) {
    values <- sort(unique(settings$prepulls))
    values[seq_len(ceiling(length(values) / 2))]
  }
  list(
    claim("The smallest and the largest b end above the best b in between, at every guarantee.",
          function(x, regret, settings) {
            at_each_mu(settings, function(at) above_best(regret, at[c(1, length(at))], at))
          }),
    claim("Stronger: both end above every b in between, at every guarantee.",
          function(x, regret, settings) {
            at_each_mu(settings, function(at) {
              ends <- at[c(1, length(at))]
              middle <- setdiff(at, ends)
              if (!length(middle)) return(list(c(NA, NA)))
              worst <- best_of(regret, middle, which.max)
              lapply(ends, function(e) over_runs(regret[, e] - regret[, worst]))
            })
          }),
    claim("A weaker guarantee means less regret, for the smaller half of the values of b.",
          function(x, regret, settings) {
            least(lapply(smaller_half(settings), function(b) over_runs(gain(regret, at_b(settings, b)))))
          }),
    claim("This is more pronounced at each of these b than at the largest, over the guarantees that it has.",
          function(x, regret, settings) {
            several <- as.double(names(which(table(settings$prepulls) > 1)))
            if (!length(several)) return(c(NA, NA))
            largest <- at_b(settings, max(several))
            least(lapply(setdiff(smaller_half(settings), max(several)), function(b) {
              at <- at_b(settings, b)
              at <- at[settings$mu[at] %in% settings$mu[largest]]
              over_runs(gain(regret, at) - gain(regret, largest))
            }))
          })
  )
}

claims_ou_accountants <- function(accountant) {
  about <- function(text, worse, better, measure) {
    if (!all(c(worse, better) %in% accountant)) return(NULL)
    claim(text, function(x, ...) {
      x <- as.data.frame(x)
      of <- function(accountant) x[x$accountant == accountant, ]
      both <- merge(of(worse), of(better), by = c("policy", "panel", "delta"))
      c(min(measure(both$epsilon.x, both$epsilon.y)), 0)
    })
  }
  Filter(Negate(is.null), list(
    about("Gaussian differential privacy is never worse than Renyi.", "rdp", "gdp", function(w, b) w - b),
    about("The Renyi analysis is within a factor of 2 of the Gaussian one (margin: of the ratio).",
          "rdp", "gdp", function(w, b) 2 - w / b),
    about("The standard analysis is orders of magnitude worse than Renyi (margin: powers of ten above one).",
          "standard", "rdp", function(w, b) log10(w / b) - 1)
  ))
}

claims_ou_8 <- function(mu) {
  beats <- function(better, worse, at) function(x, regret, settings) {
    column <- function(m, series) regret[, which(settings$mu == m & settings$series == series)]
    least(lapply(at, function(m) lapply(worse, function(w) over_runs(column(m, w) - column(m, better)))))
  }
  list(
    claim(sprintf("At the strongest guarantee (%s-GDP) Anytime-Lazy-UCB is the best of the three.",
                  short(min(mu))),
          beats("Anytime-Lazy-UCB", c("DP-SE", "Modified TS"), min(mu))),
    claim("Anytime-Lazy-UCB always beats DP-SE.", beats("Anytime-Lazy-UCB", "DP-SE", mu)),
    claim(sprintf("At the weakest (%s-GDP) Modified Thompson sampling is the best of the three.",
                  short(max(mu))),
          beats("Modified TS", c("DP-SE", "Anytime-Lazy-UCB"), max(mu)))
  )
}

# ---- Hu and Hegde ---------------------------------------------------------------------------

claims_hh <- function(policies, figure) {
  below <- function(better, worse) {
    claim(sprintf("%s ends below %s.", better, worse), function(x, regret, ...) {
      over_runs(regret[, worse] - regret[, better])
    })
  }
  # Each of some policies below each of others
  each_below <- function(better, worse) {
    unlist(lapply(better, function(b) lapply(worse, below, better = b)), recursive = FALSE)
  }
  dp <- grep("^DP-TS", policies, value = TRUE)
  lazy <- grep("^Lazy-DP-TS", policies, value = TRUE)
  others <- c("DP-SE", "Anytime-Lazy-UCB")
  # At epsilon = 500 the paper says so of both; else of Lazy-DP-TS alone.
  if (figure == 1) return(c(unname(Map(below, dp, lazy)), each_below(c(dp, lazy), others)))
  # The second is why the paper leaves DP-TS out of Figures 2 to 5.
  c(each_below(lazy, others),
    unlist(lapply(dp, function(p) each_below(c(lazy, others), p)), recursive = FALSE))
}

# ---- Mishra and Thakurta --------------------------------------------------------------------

claims_mt_1 <- function(epsilon) {
  panels <- c("UCB sampling", "Thompson sampling")
  column <- function(regret, settings, panel, eps) {
    regret[, which(settings$panel == panel & settings$epsilon == eps)]
  }
  improves <- function(panel) function(x, regret, settings) {
    if (length(epsilon) < 2) return(c(NA, NA))
    least(lapply(seq_along(epsilon)[-1], function(i) {
      over_runs(column(regret, settings, panel, epsilon[i - 1]) - column(regret, settings, panel, epsilon[i]))
    }))
  }
  saturates <- function(panel) lapply(epsilon, function(e) {
    claim(sprintf("Regret saturates (second half under half of the first): %s, epsilon = %s.", panel,
                  short(e)),
          function(x, regret, settings) {
            first <- column(regret_at(x, max(x$t) / 2), settings, panel, e)
            over_runs(first / 2 - (column(regret, settings, panel, e) - first))
          })
  })
  c(list(
    claim("Thompson sampling has less regret than UCB sampling, at every epsilon.",
          function(x, regret, settings) {
            least(lapply(epsilon, function(e) {
              over_runs(column(regret, settings, panels[1], e) - column(regret, settings, panels[2], e))
            }))
          }),
    claim("Regret falls as epsilon grows: UCB sampling.", improves(panels[1])),
    claim("Regret falls as epsilon grows: Thompson sampling.", improves(panels[2]))
  ), saturates(panels[1]), saturates(panels[2]))
}

claims_mt_2 <- function() {
  # Sums of relative rates with their standard errors, which are mostly those of the log and not of the runs.
  # Two policies see the same log, so adding their variances is conservative.
  # `weights`: Of the policy without privacy at the least and the largest delay, and of the private one there.
  about <- function(text, weights) claim(text, function(x, ...) {
    stats <- summary(x)
    used <- which(weights != 0)
    least(lapply(list(c("LinUCB", "private LinUCB"), c("linear TS", "private linear TS")), function(pair) {
      at <- vapply(used, function(i) {
        which(stats$policy == pair[(i + 1) %/% 2] & stats$delay == range(stats$delay)[2 - i %% 2])
      }, 0L)
      c(sum(weights[used] * stats$relative[at]), sqrt(sum((weights[used] * stats$relative_se[at])^2)))
    }))
  })
  list(
    about("Without delay the private policies reach 90% of the rate of the others.", c(-0.9, 0, 1, 0)),
    about("Without delay the private policies are slightly worse.", c(1, 0, -1, 0)),
    about("Delay hurts the others more than the private policies.", c(1, -1, -1, 1))
  )
}
