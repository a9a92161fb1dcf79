# People with several rewards of which no two are in one release: the composition of as many releases.
#
# A person has at most one reward in a release and k in all; which releases that are is a function of earlier
# releases, of the visits and of chance. Given what was released before, a release with a reward of the person
# is dominated by the pair of one release, and any other tells nothing. So all together are dominated by the
# k-fold composition of that pair (for Gaussian noise, Smith and Thakurta 2022; Koskela, Tobaben and Honkela
# 2023): mu becomes mu sqrt(k).

# The guarantee for people with k rewards in different releases. A guarantee of anything but a release, such
# as the draws of Gaussian Thompson sampling, has none: why_not_apart() says why.
apart_of <- function(guarantee, k) {
  if (k == 1 || promises_nothing(guarantee)) return(guarantee)
  switch(guarantee$kind,
    composed = replace(guarantee, "parts", list(lapply(guarantee$parts, apart_of, k = k))),
    stated = replace(guarantee, "part", list(apart_of(guarantee$part, k))),
    apart = replace(guarantee, "size", guarantee$size * k),
    guarantee_around("apart", guarantee, size = k)
  )
}

# Why rewards of a person cannot be in different releases; NULL: they can
why_not_apart <- function(guarantee) {
  if (guarantee$kind %in% c("none", "pure", "laplace")) return(NULL)
  if (length(guarantee$parts)) return(unlist(lapply(guarantee$parts, why_not_apart))[1])
  if (draws_cost(guarantee)) {
    return(paste("each of its draws depends on all rewards of an arm so far, so that no two rewards are ever",
                 "in different releases"))
  }
  if (!guarantee$neighbours %in% c("reward", "input")) {
    return("it protects contexts too, and each is in many of its sums")
  }
  if (!is_fixed(unstated(guarantee))) {
    return("its guarantee grows with the horizon, since a reward is in many of its releases")
  }
}

# The guarantee of one release of a policy; an error if a reward may be in several, or if their noise is
# not independent. Bits of local privacy are a release each.
guarantee_of_release <- function(policy, arg) {
  guarantee <- policy$guarantee
  why <- if (bits_are_public(policy)) NULL else if (!is_true_of(policy, "each_once")) {
    "it does not release each reward in one noisy sum"
  } else if (correlation_of(policy) > 0) {
    "the noise of its releases is correlated; with `correlation = 0` it is independent"
  }
  if (!is.null(why) && !promises_nothing(guarantee)) {
    why <- why_not_apart(guarantee) %||% why
    abort_input(arg, "`%s` must keep two rewards of a person apart, which policy \"%s\" cannot: %s.", arg,
                policy$name, why, class = "dpts_error_apart")
  }
  # (A user's code has the noise that it says.)
  other <- flip_of(policy) > 0 || inherits(unwrapped(policy), "dpts_policy_compiled")
  if (identical(guarantee$kind, "pure") && !other) guarantee$kind <- "laplace"
  guarantee
}

kind_apart <- list(
  forms = list(
    epsilon = function(g, at) of_release(g, "epsilon", at, function(epsilon, k) k * epsilon),
    mu = function(g, at) of_release(g, "mu", at, function(mu, k) sqrt(k) * mu),
    rdp = function(g, at) of_release(g, "rdp", at, function(rdp, k) {
      if (is.numeric(rdp)) return(k * rdp)
      structure(function(alpha) k * rdp(alpha), orders = attr(rdp, "orders"))
    }),
    pair = function(g, at) of_release(g, "pair", at, pair_power),
    near = function(g, at) of_release(g, "near", at, function(own, k) {
      mu <- own$mu(own$least)
      list(least = k * own$least, free = FALSE,
           mu = function(nu, ...) if (nu >= k * own$least) sqrt(k) * mu else Inf)
    }),
    direct = function(g, at) {
      near <- form(g, "near", at)
      # For an exact guarantee other accountants are sharper.
      if (!is.null(near) && near$least > 0) {
        function(delta, ...) near_epsilon(near$mu(near$least), near$least, delta)
      }
    }
  ),
  fixed = function(g) TRUE,
  composes = TRUE,
  together = function(parts) together_inside(parts),
  words = function(g, digits) {
    people <- sprintf("for people with up to %s rewards in different releases", label_count(g$size))
    together <- kind_of(g$part)$together
    if (!is.null(together)) {
      whole <- together(rep(list(g$part), g$size))
      return(paste(format(whole, digits = digits), people))
    }
    sprintf("what %s for one reward means %s", format(g$part, digits = digits), people)
  },
  sentences = function(g, digits) c(
    paste0("In any rounds, ", kind_apart$words(g, digits), "."),
    "No release holds two rewards of a person.",
    paste("For one reward:", paste(guarantee_sentences(g$part, digits), collapse = " "))
  )
)

# Guarantees for people with as many rewards each, as one
together_inside <- function(parts) {
  whole <- parts[[1]]
  whole$part <- kind_of(whole$part)$together(lapply(parts, `[[`, "part"))
  whole
}

of_release <- function(g, what, at, make) {
  one <- form(g$part, what, at)
  if (!is.null(one)) make(one, g$size)
}

# ---- Laplace noise ----------------------------------------------------------------------------------

# Pure DP by Laplace noise: more is known of it than of other epsilon-DP.
kind_laplace <- list(like = "pure", forms = list(pair = function(g, at) pair_laplace(g$epsilon)))

# A pair that dominates Laplace noise of scale 1 / epsilon on a sum that moves by at most 1. With a step of
# 1 / n, two-sided geometric noise has delta = 1 - e^((x - epsilon) / 2) at x = epsilon (1 - 2 j / n), as
# Laplace noise has, and between these points it is linear in e^x, which lies above. So the pair for a power
# of two n dominates Laplace noise and geometric noise of every finer step that is a power of two, such as
# the agents' 2^-20.
pair_laplace <- function(epsilon) {
  n <- 2^min(max(ceiling(log2(32 * epsilon)), 6), 10)
  j <- 0:n
  a <- exp(-epsilon / n)
  p <- exp(-epsilon * j / n) * c(1, rep(-expm1(-epsilon / n), n - 1), 1) / (1 + a)
  new_pair(epsilon * (1 - 2 * j / n)[p > 0], p[p > 0])
}
