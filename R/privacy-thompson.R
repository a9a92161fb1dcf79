# The guarantee of Gaussian Thompson sampling: every draw is GDP (`prepulls`, `variance_scale`), and
# what the arms alone leak is less (R/privacy-sequence.R).

# `filter`: the mu at which the policy stops to draw, Inf without a filter
guarantee_draws <- function(prepulls, variance_scale, filter = Inf) {
  # Ou et al., Lemma 5 with max(b, 1) for b: an arm that holds the changed reward holds at least one reward.
  new_guarantee("draws", mu = 1 / sqrt(variance_scale * (max(prepulls, 1) + 1)),
                prepulls = prepulls, variance_scale = variance_scale, filter = filter)
}

# In how many rounds Gaussian Thompson sampling draws between two arms or more. The pre-pulls depend on
# no data; they come first and last arms x prepulls rounds if every arm is always on offer. If not, an arm
# that is seldom on offer does not shorten the rounds of the others: but two arms must have had theirs
# before there is a choice to be drawn.
drawing_rounds <- function(prepulls, at) {
  max(0, at$horizon - (if (at$pools) 2 else at$arms) * prepulls)
}

# A form that reads what the arms alone leak: NULL where that says nothing. A discarded draw leaves
# the private arm as it was, which the recursion does not allow.
of_arms <- function(make) {
  function(g, at) {
    own <- sampler(drawing_rounds(g$prepulls, at), g$prepulls, g$variance_scale)
    if (at$source != "replay" && is_certified(own)) make(g, at, own)
  }
}

kind_draws <- list(
  forms = list(
    mu = function(g, at) {
      all <- g$mu * sqrt(drawing_rounds(g$prepulls, at))
      # The filter pays for the draws whose choice is played, so not for those that a replay discards.
      if (at$source == "replay") all else min(all, g$filter)
    },
    rdp = function(g, at) form(g, "mu", at)^2 / 2,
    pair = function(g, at) pair_gaussian(form(g, "mu", at)),
    rounds = function(g, at) list(mu = g$mu, rounds = drawing_rounds(g$prepulls, at)),
    sequence = of_arms(function(g, at, sampler) list(
      rdp = function(alpha) if (sampler$rounds == 0) 0 * alpha else sampler_rdp(alpha, sampler),
      epsilon = function(delta) as.numeric(orders_of_sequence(delta, sampler))
    )),
    near = of_arms(function(g, at, sampler) {
      list(least = 0, free = TRUE, mu = function(nu, ...) {
        if (sampler$rounds == 0) return(0)
        if (nu < 1e-300 || sampler$rounds == Inf) return(form(g, "mu", at))
        min(published_gdp(sampler, nu, ...), g$filter)
      })
    }),
    direct = of_arms(function(g, at, sampler) {
      function(delta, ...) {
        if (sampler$rounds == 0) return(0 * delta)
        if (sampler$rounds == Inf) return(ifelse(delta == 1, 0, Inf))
        direct_epsilon(delta, sampler, ...)
      }
    }),
    lower = of_arms(function(g, at, sampler) {
      # A filter ends the adversary's game, nobody knows when.
      if (g$filter < Inf) return(NULL)
      # Without pre-pulls the changed reward itself takes a round.
      rounds <- sampler$rounds - (g$prepulls == 0)
      function(delta) {
        if (rounds <= 0) return(0 * delta)
        sequence_lower_bound(delta, rounds, g$prepulls, g$variance_scale, bounded = TRUE)
      }
    })
  ),
  fixed = function(g) FALSE,
  paid = function(g, paid) replace(g, "filter", sqrt(paid)),
  words = function(g, digits) {
    if (g$filter < Inf) paste0(format_up(g$filter, digits), "-GDP") else
      paste0(format_up(g$mu, digits), "-GDP per draw")
  },
  sentences = function(g, digits) {
    filtered <- g$filter < Inf
    c(
      if (filtered) paste0(publishes(g, paste0(format_up(g$filter, digits), "-GDP")), ", for any number of ",
                           "rounds, ", anywhere, ": the policy stops to draw when that is spent. Also:"),
      paste0(publishes(g, "GDP"), ": each round in which the policy draws costs at most mu = ",
             format_up(g$mu, digits), ", and dpts_privacy() adds the rounds up for a horizon known in ",
             "advance, whatever the delay of rewards."),
      "If arms can be off offer, only the pre-pulls of two arms do not count as draws (`pools = TRUE`).",
      paste0("In a replay of a log whose arms are known, every event read counts as a draw, and ",
             "the accountants of the published arms do not apply",
             if (filtered) ", nor does the filter", ".")
    )
  }
)
