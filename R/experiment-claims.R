# What the papers say their figures show, each claim as a margin that is positive if it holds.

#' What a paper claims about a figure, measured
#'
#' Checks a reproduced figure against what its paper says of it.
#' Each experiment of the catalogue carries what its paper says the figure shows. A claim
#' is turned into a margin that is positive if the claim holds, such as the regret of the
#' policy that should be worse less the regret of the other, run by run.
#'
#' Policies of one simulation share random numbers run by run, so that differences are
#' taken within runs and the standard error is theirs. Where a claim is about several pairs,
#' the least favourable one, in standard errors, is shown: a claim is
#' reproduced only if each of its pairs is. Where a claim speaks of the best of several
#' settings, the best is picked on the same runs, which flatters it by much less than the
#' margins here.
#'
#' @param x A result of [dpts_reproduce()].
#' @returns A tibble with one row per claim, which prints as text:
#'   * `claim`: the claim, in our words;
#'   * `margin`: how far it holds, in units of reward (regret) or of epsilon (privacy
#'     curves); negative if it fails;
#'   * `se`: the margin's standard error over runs (for a replay, that of a finite log too); 0 where
#'     nothing is simulated;
#'   * `verdict`: `"reproduced"` if the margin is more than two standard errors above
#'     0, `"not reproduced"` if it is more than two below 0, else `"undecided"`.
#' @family experiments
#' @examples
#' claims(dpts_reproduce("hh-2", horizon = 2e4, runs = 5))
#' @export
claims <- function(x) {
  check_class(x, "dpts_reproduction", "a result of `dpts_reproduce()`")
  check_result(x, labels = TRUE)
  experiment <- shared(x, "experiment")
  if (!identical(names(policies(x)), names(experiment$policies))) {
    abort_arg("x", "whole: its claims are about all policies, under their own names",
              call = rlang::current_env())
  }
  list <- experiment$claims
  measured <- vapply(list, function(claim) as.double(claim$measure(x)), c(0, 0))
  margin <- measured[1, ]
  se <- measured[2, ]
  tibble::new_tibble(list(
    claim = vapply(list, `[[`, "", "text"), margin = margin, se = se,
    verdict = claim_verdict(margin, se)
  ), nrow = length(list), class = "dpts_claims")
}

#' @export
format.dpts_claims <- function(x, ..., width = NULL) {
  if (!all(c("claim", "margin", "se", "verdict") %in% names(x))) return(NextMethod())
  width <- width %||% min(getOption("width"), 80)
  number <- function(v) number_text(signif(v, 3), trim = TRUE, big.mark = ",")
  unlist(lapply(seq_len(nrow(x)), function(i) {
    c(sprintf("%s: margin %s (se %s)", x$verdict[i], number(x$margin[i]), number(x$se[i])),
      strwrap(x$claim[i], width - 1, indent = 2, exdent = 2))
  }))
}

#' @export
print.dpts_claims <- function(x, ...) print_lines(x, ...)

claim_verdict <- function(margin, se) {
  known <- is.finite(margin) & is.finite(se)
  ifelse(known & margin > 2 * se, "reproduced",
         ifelse(known & margin < -2 * se, "not reproduced", "undecided"))
}

# `measure`: A function of the result that returns the margin and its standard error.
claim <- function(text, measure) list(text = text, measure = measure)

# Mean of a margin over runs, and its standard error
over_runs <- function(d) c(mean(d), stats::sd(d) / sqrt(length(d)))

# Of several margins the least favourable to a claim, in standard errors; unknown
# if one of them is
least <- function(margins) {
  if (!length(margins)) return(c(NA_real_, NA_real_))
  both <- vapply(margins, as.double, c(0, 0))
  if (anyNA(both[1, ])) return(c(NA_real_, NA_real_))
  z <- both[1, ] / both[2, ]
  z[is.nan(z)] <- 0 # a margin of 0 without error
  both[, order(z, both[1, ], na.last = FALSE)[1]]
}

# Cumulative regret at (or just before) a round, one row per run, one column per policy
regret_at <- function(x, round = max(x$t)) {
  t <- max(x$t[x$t <= round])
  policies <- levels(x$policy)
  x <- as.data.frame(x)[x$t == t, ]
  x <- x[order(match(x$policy, policies), x$run), ]
  matrix(x$regret, ncol = length(policies), dimnames = list(NULL, policies))
}

# The settings of the policies, with their place in the columns of regret_at()
claim_settings <- function(x) shared(x, "experiment")$settings

# ---- Ou et al. ----------------------------------------------------------------------------

claims_ou_1 <- function() {
  falls <- function(panel, column) function(x) {
    x <- as.data.frame(x)[as.integer(x$panel) == panel, ]
    d <- vapply(split(x, list(x$delta, x$accountant)), function(s) {
      s <- s[order(s[[column]]), ]
      if (nrow(s) < 2) NA_real_ else min(-diff(s$epsilon))
    }, 0)
    c(min(d), 0)
  }
  list(
    claim("Epsilon falls as b grows, at every delta.", falls(1, "prepulls")),
    claim("Epsilon falls as c grows, at every delta.", falls(2, "variance_scale")),
    claim("b and c play nearly the same role: equal c (b + 1), equal epsilon (margin: 1% of epsilon).",
          function(x) {
            x <- as.data.frame(x)
            x$product <- x$variance_scale * (x$prepulls + 1)
            one <- x[as.integer(x$panel) == 1, ]
            two <- x[as.integer(x$panel) == 2, ]
            both <- merge(one, two, by = c("product", "delta", "accountant"))
            c(min(0.01 * both$epsilon.x - abs(both$epsilon.x - both$epsilon.y)), 0)
          })
  )
}

# The columns of a regret matrix that belong to each mu, in increasing b
by_mu <- function(settings) {
  lapply(split(seq_len(nrow(settings)), settings$mu), function(at) {
    at[order(settings$prepulls[at])]
  })
}

best_of <- function(regret, at) at[which.min(colMeans(regret[, at, drop = FALSE]))]

claims_ou_over_time <- function() {
  end <- function(pick) function(x) {
    regret <- regret_at(x)
    least(lapply(by_mu(claim_settings(x)), function(at) {
      over_runs(regret[, pick(at)] - regret[, best_of(regret, at)])
    }))
  }
  # Rounds that the pre-pulls of a setting take
  pre <- function(x, at) claim_settings(x)$prepulls[at] * n_arms(shared(x, "experiment")$arms)
  # Regret per round in the pre-pulls and after them, one row per run
  per_round <- function(x, at) {
    end <- max(c(x$t[x$t <= pre(x, at)], 0))
    early <- if (end > 0) regret_at(x, end)[, at] else 0
    list(early = early / end, late = (regret_at(x)[, at] - early) / (max(x$t) - end))
  }
  list(
    claim("No pre-pulls and the largest variance end above intermediate (b, c), at every guarantee.",
          end(function(at) at[1])),
    claim("The most pre-pulls and the smallest variance end above intermediate (b, c), at every guarantee.",
          end(function(at) at[length(at)])),
    claim("Regret per round is lower after the pre-pulls than in them, at every b and guarantee.",
          function(x) {
            least(lapply(which(claim_settings(x)$prepulls > 0), function(at) {
              rate <- per_round(x, at)
              over_runs(rate$early - rate$late)
            }))
          }),
    claim("During the pre-pulls regret is convex: the arms with the highest means come first (largest b).",
          function(x) {
            least(lapply(by_mu(claim_settings(x)), function(at) {
              at <- at[length(at)]
              half <- max(c(x$t[x$t <= pre(x, at) / 2], min(x$t)))
              whole <- max(c(x$t[x$t <= pre(x, at)], min(x$t)))
              over_runs(regret_at(x, whole)[, at] / whole - regret_at(x, half)[, at] / half)
            }))
          }),
    claim("After the pre-pulls regret per round falls from each b to the next larger, at every guarantee.",
          function(x) {
            least(unlist(lapply(by_mu(claim_settings(x)), function(at) {
              late <- lapply(at, function(i) per_round(x, i)$late)
              Map(function(smaller, larger) over_runs(smaller - larger), late[-length(late)], late[-1])
            }), recursive = FALSE))
          }),
    claim(paste("At the strongest guarantee the smallest b hardly learns: in the last tenth its regret",
                "per round is over 80% of the uniform policy's."),
          function(x) {
            at <- by_mu(claim_settings(x))[[1]][1]
            from <- max(x$t[x$t <= 0.9 * max(x$t)])
            late <- (regret_at(x)[, at] - regret_at(x, from)[, at]) / (max(x$t) - from)
            means <- shared(x, "experiment")$arms$mean
            over_runs(late - 0.8 * mean(max(means) - means))
          }),
    claim(paste("The best (b, c) depends on the guarantee: the best b of the weakest is worse than the best at",
                "the strongest."),
          function(x) {
            settings <- claim_settings(x)
            regret <- regret_at(x)
            sets <- by_mu(settings)
            first <- sets[[1]]
            best <- settings$prepulls[best_of(regret, sets[[length(sets)]])]
            there <- first[settings$prepulls[first] == best]
            over_runs(regret[, there] - regret[, best_of(regret, first)])
          })
  )
}

claims_ou_at_horizon <- function() {
  # The columns of a regret matrix for one b, from the strongest guarantee to the weakest
  at_b <- function(settings, b) {
    at <- which(settings$prepulls == b)
    at[order(settings$mu[at])]
  }
  gain <- function(regret, at) regret[, at[1]] - regret[, at[length(at)]]
  smaller_half <- function(settings) {
    values <- sort(unique(settings$prepulls))
    values[seq_len(ceiling(length(values) / 2))]
  }
  list(
    claim("The smallest and the largest b end above the best b in between, at every guarantee.",
          function(x) {
            regret <- runs_of(x)
            least(unlist(lapply(by_mu(claim_settings(x)), function(at) {
              best <- best_of(regret, at)
              list(over_runs(regret[, at[1]] - regret[, best]),
                   over_runs(regret[, at[length(at)]] - regret[, best]))
            }), recursive = FALSE))
          }),
    claim("Stronger: both end above every b in between, at every guarantee.",
          function(x) {
            regret <- runs_of(x)
            least(unlist(lapply(by_mu(claim_settings(x)), function(at) {
              ends <- at[c(1, length(at))]
              middle <- setdiff(at, ends)
              if (!length(middle)) return(list(c(NA, NA)))
              worst <- middle[which.max(colMeans(regret[, middle, drop = FALSE]))]
              lapply(ends, function(e) over_runs(regret[, e] - regret[, worst]))
            }), recursive = FALSE))
          }),
    claim("A weaker guarantee means less regret, for the smaller half of the values of b.",
          function(x) {
            settings <- claim_settings(x)
            regret <- runs_of(x)
            least(lapply(smaller_half(settings), function(b) over_runs(gain(regret, at_b(settings, b)))))
          }),
    claim("This is more pronounced at each of these b than at the largest, over the guarantees that it has.",
          function(x) {
            settings <- claim_settings(x)
            regret <- runs_of(x)
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

# The regret of each run behind a "tuning" result
runs_of <- function(x) {
  rows <- runs_in(x)
  policies <- as.character(claim_settings(x)$policy)
  runs <- lapply(policies, function(policy) rows$regret[rows$policy == policy])
  matrix(unlist(runs), ncol = length(policies))
}

claims_ou_accountants <- function(accountant) {
  margin <- function(worse, better, measure = function(w, b) w - b) function(x) {
    x <- as.data.frame(x)
    both <- merge(x[x$accountant == worse, ], x[x$accountant == better, ],
                  by = c("policy", "panel", "delta"))
    margins <- measure(both$epsilon.x, both$epsilon.y)
    c(min(margins), 0)
  }
  list <- list(
    claim("Gaussian differential privacy is never worse than Renyi.", margin("rdp", "gdp")),
    claim("The Renyi analysis is within a factor of 2 of the Gaussian one (margin: of the ratio).",
          margin("rdp", "gdp", function(w, b) 2 - w / b)),
    claim("The standard analysis is orders of magnitude worse than Renyi (margin: powers of ten above one).",
          margin("standard", "rdp", function(w, b) log10(w / b) - 1))
  )
  have <- c(all(c("gdp", "rdp") %in% accountant), all(c("gdp", "rdp") %in% accountant),
            all(c("standard", "rdp") %in% accountant))
  list[have]
}

claims_ou_8 <- function(mu) {
  margins <- function(mu, worse, better) function(x) {
    settings <- claim_settings(x)
    regret <- regret_at(x)
    column <- function(m, series) regret[, which(settings$mu == m & settings$series == series)]
    least(unlist(lapply(mu, function(m) lapply(worse, function(w) {
      over_runs(column(m, w) - column(m, better))
    })), recursive = FALSE))
  }
  list(
    claim(sprintf("At the strongest guarantee (%s-GDP) Anytime-Lazy-UCB is the best of the three.",
                  short(min(mu))),
          margins(min(mu), c("DP-SE", "Modified TS"), "Anytime-Lazy-UCB")),
    claim("Anytime-Lazy-UCB always beats DP-SE.", margins(mu, "DP-SE", "Anytime-Lazy-UCB")),
    claim(sprintf("At the weakest (%s-GDP) Modified Thompson sampling is the best of the three.",
                  short(max(mu))),
          margins(max(mu), c("DP-SE", "Anytime-Lazy-UCB"), "Modified TS"))
  )
}

# ---- Hu and Hegde ---------------------------------------------------------------------------

claims_hh <- function(policies, figure) {
  below <- function(better, worse) {
    claim(sprintf("%s ends below %s.", better, worse), function(x) {
      regret <- regret_at(x)
      over_runs(regret[, worse] - regret[, better])
    })
  }
  dp <- grep("^DP-TS", policies, value = TRUE)
  lazy <- grep("^Lazy-DP-TS", policies, value = TRUE)
  others <- c("DP-SE", "Anytime-Lazy-UCB")
  unname(c(
    if (figure == 1) Map(below, dp, lazy),
    # At epsilon = 500 the paper says so of both; else of Lazy-DP-TS alone.
    unlist(lapply(c(if (figure == 1) dp, lazy), function(p) lapply(others, below, better = p)),
           recursive = FALSE),
    # Why the paper leaves DP-TS out of Figures 2 to 5
    if (figure > 1) unlist(lapply(dp, function(p) lapply(c(lazy, others), function(o) {
      below(o, p)
    })), recursive = FALSE)
  ))
}

# ---- Mishra and Thakurta --------------------------------------------------------------------

claims_mt_1 <- function(epsilon) {
  column <- function(x, regret, panel, eps) {
    settings <- claim_settings(x)
    regret[, which(settings$panel == panel & settings$epsilon == eps)]
  }
  panels <- c("UCB sampling", "Thompson sampling")
  saturates <- function(panel, e) {
    claim(sprintf("Regret saturates (second half under half of the first): %s, epsilon = %s.", panel,
                  short(e)), function(x) {
      first <- column(x, regret_at(x, max(x$t) / 2), panel, e)
      over_runs(first / 2 - (column(x, regret_at(x), panel, e) - first))
    })
  }
  improves <- function(panel) function(x) {
    regret <- regret_at(x)
    if (length(epsilon) < 2) return(c(NA, NA))
    least(lapply(seq_along(epsilon)[-1], function(i) {
      over_runs(column(x, regret, panel, epsilon[i - 1]) - column(x, regret, panel, epsilon[i]))
    }))
  }
  c(list(
    claim("Thompson sampling has less regret than UCB sampling, at every epsilon.", function(x) {
      regret <- regret_at(x)
      least(lapply(epsilon, function(e) {
        over_runs(column(x, regret, panels[1], e) - column(x, regret, panels[2], e))
      }))
    }),
    claim("Regret falls as epsilon grows: UCB sampling.", improves(panels[1])),
    claim("Regret falls as epsilon grows: Thompson sampling.", improves(panels[2]))
  ), lapply(epsilon, saturates, panel = panels[1]), lapply(epsilon, saturates, panel = panels[2]))
}

claims_mt_2 <- function() {
  # Relative rate and its standard error, which is mostly that of the log and not of the
  # runs. Two policies see the same log, so adding their variances is conservative.
  rate <- function(x, policy, pick) {
    s <- summary(x)
    s <- s[s$policy == policy & s$delay == pick(s$delay), ]
    c(s$relative, s$relative_se)
  }
  pairs <- list(c("LinUCB", "private LinUCB"), c("linear TS", "private linear TS"))
  combine <- function(weights, rates) {
    c(sum(weights * vapply(rates, `[`, 0, 1)),
      sqrt(sum((weights * vapply(rates, `[`, 0, 2))^2)))
  }
  over_pairs <- function(margin) function(x) least(lapply(pairs, function(p) margin(x, p)))
  list(
    claim("Without delay the private policies reach 90% of the rate of the others.",
          over_pairs(function(x, p) {
            combine(c(1, -0.9), list(rate(x, p[2], min), rate(x, p[1], min)))
          })),
    claim("Without delay the private policies are slightly worse.",
          over_pairs(function(x, p) combine(c(1, -1), list(rate(x, p[1], min), rate(x, p[2], min))))),
    claim("Delay hurts the others more than the private policies.",
          over_pairs(function(x, p) {
            combine(c(1, -1, -1, 1), list(rate(x, p[1], min), rate(x, p[1], max),
                                          rate(x, p[2], min), rate(x, p[2], max)))
          }))
  )
}
