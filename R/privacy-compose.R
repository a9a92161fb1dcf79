#' Several guarantees on the same people, and people with several rewards
#'
#' @description
#' `privacy_compose()` adds up what several policies or releases leak about the same
#' people. `privacy_group()` says what a guarantee for one reward means for a person with up to
#' `k` of them, which may all be in one release, or with `apart = TRUE` are in `k` different ones. Both give
#' guarantees that [dpts_privacy()] turns into curves, like a policy's.
#'
#' @details
#' Composition: every part must have randomness of its own. Parts may be chosen in the light
#' of what earlier ones published.
#'
#' * `"pure"`: epsilons add up.
#' * `"pld"`: the optimal composition theorem, exact where each part is pure, (epsilon, delta)-DP at
#'   one delta, or Gaussian DP: Kairouz, Oh and Viswanath (2015) for equal parts, Murtagh and Vadhan
#'   (2018) for unequal ones, and with Gaussian parts the same convolution of privacy losses. Where there
#'   are very many different sums of losses, they are rounded so that the result is an upper bound, mostly
#'   within 0.1% of the exact value and at most about 2% above it.
#' * `"gdp"`: by squares, mu = sqrt(mu_1^2 + mu_2^2 + ...); a pure part counts as the least mu that it
#'   implies.
#' * `"rdp"`: order by order.
#' * `"sequence"`: order by order, with [sequence_rdp()] for Gaussian Thompson sampling and the Rényi
#'   curves of the others.
#' * `"direct"`: by squares too, where parts are mu-GDP up to nu: the nus add up. Gaussian Thompson sampling
#'   is so for any nu ([sequence_gdp()]); a sixtieth of delta is shared among such parts.
#' * `"advanced"`: for guarantees such as that of [policy_dp_ucb_int()], whose epsilon depends on delta: part
#'   of delta is given to each of them, and what they are then worth is composed by the optimal theorem.
#'
#' Groups: the streams of a person differ in up to `k` rewards, wherever they stand. epsilon becomes `k`
#' epsilon and mu becomes `k` mu, which is reached if all `k` rewards fall into one batch; a nu becomes nu_k =
#' nu + Phi(mu + the normal quantile of nu_(k - 1)), since the curve of mu-GDP is concave. For (epsilon,
#' delta) the trade-off function is iterated `k` times, exactly (Dong, Roth and Su 2022, Theorem 2.14). A
#' Rényi curve D has, by `k` - 1 steps of a triangle inequality (Bun and Steinke 2016, Lemma 5.2),
#'
#' D_k(alpha) <= sum over a = k alpha, k alpha - 1, ..., k alpha - k + 1 of (k alpha / a) D(a),
#'
#' which for D = rho alpha is the known `k`^2 rho alpha.
#'
#' Apart: if no release holds two rewards of a person, the privacy loss of the person is the composition of
#' `k` releases. mu becomes mu sqrt(`k`): 210 rewards at mu = 0.1 are 1.45-GDP, and 21-GDP if they may be in
#' one release. Which releases hold the person's rewards may depend on earlier releases, on the times of
#' visits and on chance, and on nothing else. For policies with Laplace noise `"pld"` is the composition of
#' that noise. A policy must release each reward in one sum with independent noise; others, such as Gaussian
#' Thompson sampling, trees and correlated noise, are refused. For a guarantee or a budget, `apart` states
#' that it is the guarantee of one release.
#'
#' @section Simulated results:
#' Policies of one call of [dpts_simulate()] or [dpts_replay()], and runs of equal number under one seed,
#' share random numbers: this makes comparisons sharper, and it means that their arms are not
#' independent releases. What is composed here are policies that each run with randomness of
#' their own. A warning says so once per session.
#'
#' @param ... Policies, budgets ([privacy_pure()], [privacy_gdp()], [privacy_approx()]: what another
#'   release is known to satisfy), results of mechanisms, or guarantees made by these functions.
#'   Names label the parts.
#' @param horizon `NULL`: each part runs for the horizon that [dpts_privacy()] is given. Or
#'   whole numbers, one for all parts or one per part, which then hold whatever that horizon is.
#' @param arms Number of arms of each part, where `horizon` is given: whole numbers, one for all or
#'   one per part.
#' @param x A policy, a budget, the result of a mechanism, or a guarantee.
#' @param k The largest number of rewards of one person: a whole number.
#' @param apart Are they in different releases, so that no release holds two of them? [dpts_agent()] sees to
#'   this with `max_per_person`.
#' @returns A guarantee, an object of class `dpts_guarantee`.
#' @template kairouz
#' @references Murtagh, J. and Vadhan, S. (2018). The Complexity of Computing the Optimal Composition of
#'   Differential Privacy. Theory of Computing 14.
#'
#'   Doroshenko, V., Ghazi, B., Kamath, P., Kumar, R. and Manurangsi, P. (2022). Connect the Dots: Tighter
#'   Discrete Approximations of Privacy Loss Distributions. PoPETs 2022(4).
#' @template dong
#' @template zhu
#' @template smith
#' @references Koskela, A., Tobaben, M. and Honkela, A. (2023). Individual Privacy Accounting with Gaussian
#'   Differential Privacy. ICLR.
#' @references Mironov, I. (2017). Rényi Differential Privacy. CSF.
#' @template bun
#' @template see_privacy
#' @concept user-level privacy
#' @concept group privacy
#' @concept composition
#' @examples
#' both <- privacy_compose(trial = policy_gaussian_imed(0.5), report = privacy_pure(0.2))
#' both
#' summary(dpts_privacy(both, horizon = 1000, delta = 1e-6))
#'
#' # a person who comes up to three times
#' dpts_privacy(privacy_group(policy_dp_imed(0.5), 3), horizon = 1000, delta = c(0, 1e-6))
#' # 210 visits, in one release or in 210
#' privacy_group(policy_randomised(mu = 0.1), 210)
#' privacy_group(policy_randomised(mu = 0.1), 210, apart = TRUE)
#' @export
privacy_compose <- function(..., horizon = NULL, arms = 2) {
  parts <- list(...)
  if (length(parts) == 0) {
    abort_input("...", "`...` must hold at least one policy, budget or guarantee.")
  }
  if (!is.null(horizon)) {
    horizon <- check_each(check_counts(horizon), length(parts), "parts", "horizon")
    arms <- check_each(check_counts(arms, 2), length(parts), "parts", "arms")
  }
  policies <- sum(vapply(parts, is_policy, NA))
  parts <- Map(function(part, i) as_guarantee(part, sprintf("..%d", i)), parts, seq_along(parts))
  if (policies > 1) {
    rlang::warn(
      paste("Composition is for policies with randomness of their own. Policies of one call of",
            "`dpts_simulate()` or `dpts_replay()`, and equal runs under one seed, share random",
            "numbers: their arms do not compose as independent releases."),
      class = "dpts_warning_shared_randomness", .frequency = "once",
      .frequency_id = "dpts_shared_randomness"
    )
  }
  nothing <- vapply(parts, promises_nothing, NA)
  if (any(nothing)) return(guarantee_none())
  if (!is.null(horizon)) {
    parts <- Map(function(part, horizon, arms) {
      guarantee_stated(part, conditions(horizon, arms))
    }, parts, horizon, arms)
  }
  new_guarantee("composed", parts = parts)
}

#' @rdname privacy_compose
#' @export
privacy_group <- function(x, k, apart = FALSE, ...) {
  check_dots_empty(...)
  check_all_given()
  guarantee <- as_guarantee(x, "x")
  k <- check_count(k, 1, 1e6)
  check_flag(apart)
  if (apart && k > 1) {
    if (is_policy(x)) return(apart_of(guarantee_of_release(x, "x"), k))
    why <- why_not_apart(guarantee)
    if (is.null(why)) return(apart_of(guarantee, k))
    abort_input("x", "`x` is not the guarantee of one release: %s.", why, class = "dpts_error_apart")
  }
  if (k == 1 || promises_nothing(guarantee)) return(guarantee)
  group_of(guarantee, k)
}

group_of <- function(guarantee, k) {
  own <- kind_of(guarantee)$group
  if (is.null(own)) guarantee_around("group", guarantee, size = k) else own(guarantee, k)
}

# ---- composed -------------------------------------------------------------------------------

# A form of every part, or NULL if one has it not. That of equal parts is computed once.
form_of_all <- function(g, what, at) {
  same <- vctrs::vec_group_id(unname(g$parts))
  all <- lapply(g$parts[!duplicated(same)], form, what = what, at = at)
  if (any(vapply(all, is.null, NA))) NULL else stats::setNames(all[same], names(g$parts))
}

# The form of a composition as a function of that of all parts
of_all <- function(what, add) {
  function(g, at) {
    all <- form_of_all(g, what, at)
    if (!is.null(all)) add(all)
  }
}

# Rényi curves, lines by their rho and functions, added order by order
add_curves <- function(curves) {
  if (is.null(curves)) return(NULL)
  lines <- vapply(curves, is.numeric, NA)
  rho <- sum(unlist(curves[lines]))
  if (all(lines)) return(rho)
  structure(function(alpha) Reduce(function(sum, curve) sum + curve(alpha), curves[!lines], rho * alpha),
            orders = unlist(lapply(curves, attr, "orders")))
}

composed_sequence <- function(g, at) {
  own <- lapply(g$parts, form, what = "sequence", at = at)
  if (all(vapply(own, is.null, NA))) return(NULL)
  curves <- Map(function(own, part) if (is.null(own)) form(part, "rdp", at) else own$rdp, own, g$parts)
  if (any(vapply(curves, is.null, NA))) return(NULL)
  rdp <- add_curves(unname(curves))
  list(rdp = rdp, epsilon = function(delta) orders_epsilon(delta, rdp))
}

# GDP up to nu composes by squares, the nus added: averaged over the loss of the one part, the
# hockey-stick divergence of the other is at most that of its normal loss plus its nu, whatever the
# one part published. Parts of free nu share what the others leave of it.
composed_near <- function(g, at) {
  all <- unname(form_of_all(g, "near", at))
  if (is.null(all)) return(NULL)
  least <- vapply(all, `[[`, 0, "least")
  free <- vapply(all, `[[`, NA, "free")
  list(least = sum(least), free = any(free), mu = function(nu, ...) {
    rest <- nu - sum(least)
    if (rest < 0) return(Inf)
    own <- least + ifelse(free, rest / max(sum(free), 1), 0)
    sqrt(sum(unlist(Map(function(part, nu) part$mu(nu), all, own))^2))
  })
}

composed_direct <- function(g, at) {
  near <- composed_near(g, at)
  # If all parts are exact, other accountants are sharper.
  if (is.null(near) || (near$least == 0 && !near$free)) return(NULL)
  orders <- composed_sequence(g, at)
  function(delta, ...) {
    epsilon <- if (is.null(orders)) rep(Inf, length(delta)) else orders$epsilon(delta)
    nus <- near$least + if (near$free) nu_for(delta - near$least) else 0
    for (nu in nus) epsilon <- pmin(epsilon, near_epsilon(near$mu(nu), nu, delta))
    ifelse(delta == 1, 0, epsilon)
  }
}

# Parts whose epsilon depends on delta get a part of delta each and become (epsilon, delta) statements. Every
# split of delta is valid; the best of some is taken.
composed_curve <- function(g, at) {
  curves <- lapply(g$parts, form, what = "curve", at = at)
  open <- !vapply(curves, is.null, NA)
  if (!any(open)) return(NULL)
  pairs <- lapply(g$parts[!open], form, what = "pair", at = at)
  if (any(vapply(pairs, is.null, NA))) return(NULL)
  function(delta) {
    vapply(delta, function(delta) {
      if (delta == 1) return(0)
      shares <- c(0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1)
      min(vapply(shares, function(share) {
        each <- delta * share / sum(open)
        points <- lapply(curves[open], function(curve) pair_point(curve(each), each))
        pair_epsilon(pair_compose(c(points, pairs)), delta)
      }, 0))
    }, 0)
  }
}

kind_composed <- list(
  forms = list(
    epsilon = of_all("epsilon", function(all) sum(unlist(all))),
    mu = of_all("mu", function(all) gdp_compose(unlist(all))),
    rdp = of_all("rdp", function(all) add_curves(all)),
    pair = of_all("pair", function(all) pair_compose(all)),
    sequence = function(g, at) composed_sequence(g, at),
    near = function(g, at) composed_near(g, at),
    direct = function(g, at) composed_direct(g, at),
    curve = function(g, at) composed_curve(g, at)
  ),
  fixed = function(g) all(vapply(g$parts, is_fixed, NA)),
  composes = TRUE,
  # A person may be in every part: a group of a composition is the composition of groups.
  group = function(g, k) replace(g, "parts", list(lapply(g$parts, group_of, k = k))),
  words = function(g, digits) words_sum(simplified(g$parts), digits),
  sentences = function(g, digits) {
    whole <- simplified(g$parts)
    c(
      paste("All of these together, on the same people, with independent randomness in each;",
            "dpts_privacy() adds them up:"),
      paste0("- ", named_parts(g$parts), vapply(g$parts, function(part) {
        paste(guarantee_sentences(part, digits), collapse = " ")
      }, "")),
      if (length(whole) < length(innermost(g$parts))) {
        sprintf("Together: %s.", words_sum(whole, digits))
      }
    )
  }
)

# "1-GDP + 0.5-DP for people with up to 3 rewards": what parts say at their end is said once, if all say it.
words_sum <- function(parts, digits) {
  said <- vapply(parts, format, "", digits = digits)
  first <- sub(" for people .*$", "", said)
  people <- unique(substring(said, nchar(first) + 1))
  if (length(people) == 1) paste0(paste(first, collapse = " + "), people) else paste(said, collapse = " + ")
}

# Parts whose composition is one guarantee of their kind are printed as one: 3-GDP and 4-GDP are 5-GDP, also
# for groups of one size and in nested compositions.
simplified <- function(parts) {
  parts <- innermost(parts)
  sort_of <- vapply(parts, function(part) {
    one <- part$part %||% part
    if (is.null(kind_of(part)$together) || is.null(kind_of(one)$together) || !is_fixed(part)) "" else
      paste(part$kind, part$size, one$kind, one$neighbours)
  }, "")
  first <- sort_of == "" | !duplicated(sort_of)
  unname(Map(function(part, sort) {
    alike <- parts[sort_of == sort]
    if (sort == "" || length(alike) == 1) part else kind_of(part)$together(alike)
  }, parts[first], sort_of[first]))
}

innermost <- function(parts) {
  unlist(lapply(parts, function(part) if (is.null(part$parts)) list(part) else innermost(part$parts)), FALSE)
}

# A policy's guarantee at the time when its filter has charged a given mu^2
as_paid <- function(guarantee, paid) {
  own <- kind_of(guarantee)$paid
  if (!is.null(own)) return(own(guarantee, paid))
  if (!is.null(guarantee$part)) guarantee$part <- as_paid(guarantee$part, paid)
  guarantee
}

# ---- groups ---------------------------------------------------------------------------------

# A form of a group of k rewards as a function of that form for one reward
of_one <- function(what, make) {
  function(g, at) {
    one <- form(g$part, what, at)
    if (!is.null(one)) make(one, g$size)
  }
}

kind_group <- list(
  forms = list(
    epsilon = of_one("epsilon", function(epsilon, k) k * epsilon),
    mu = of_one("mu", function(mu, k) k * mu),
    rdp = of_one("rdp", function(rdp, k) group_curve_rdp(rdp, k)),
    pair = of_one("pair", function(pair, k) group_pair(pair, k)),
    sequence = of_one("sequence", function(own, k) group_sequence(own, k)),
    near = of_one("near", function(own, k) group_near(own, k)),
    direct = function(g, at) {
      near <- form(g, "near", at)
      # For an exact guarantee other accountants are sharper.
      if (!is.null(near) && near$least > 0) {
        function(delta, ...) near_epsilon(near$mu(near$least), near$least, delta)
      }
    },
    curve = of_one("curve", function(own, k) group_curve(own, k))
  ),
  flat = FALSE,
  fixed = function(g) is_fixed(g$part),
  group = function(g, k) replace(g, "size", g$size * k),
  together = function(parts) together_inside(parts),
  words = function(g, digits) {
    people <- sprintf("for people with up to %s rewards", label_count(g$size))
    times <- kind_of(g$part)$times
    whole <- if (!is.null(times)) times(g$part, g$size)
    if (!is.null(whole)) return(paste(format(whole, digits = digits), people))
    sprintf("what %s for one reward means %s", format(g$part, digits = digits), people)
  },
  sentences = function(g, digits) c(
    paste0("In any rounds, ", kind_group$words(g, digits), "."),
    paste("For one reward:", paste(guarantee_sentences(g$part, digits), collapse = " "))
  )
)

# With 1/p + 1/p' = 1 Hoelder's inequality gives E_R[(P/R)^alpha (R/Q)^(alpha-1)] at most
# E_R[(P/R)^(alpha p)]^(1/p) E_R[(R/Q)^((alpha-1) p')]^(1/p'). At p = (k alpha - 1) / (alpha (k - 1)),
# p' = (k alpha - 1) / (alpha - 1) this is
#
#   D_alpha(P|Q) <= k alpha / (k alpha - 1) D_((k alpha - 1) / (k - 1))(P|R) + D_(k alpha)(R|Q).
#
# Let R be one reward away from Q and k - 1 from P, and put alpha' = (k alpha - 1) / (k - 1): then
# (k - 1) alpha' = k alpha - 1, so that the same step for k - 1 rewards at alpha' asks for the orders
# k alpha - 1, then k alpha - 2, and so on, and the factors (k alpha - i) / (k alpha - i - 1) multiply to
# k alpha / (k alpha - j) before D(k alpha - j). Mironov's weak triangle inequality would do too, but
# for D = rho alpha it gives more than k^2 rho alpha.
group_curve_rdp <- function(rdp, k) {
  if (is.numeric(rdp)) return(k^2 * rdp)
  function(alpha) {
    # Orders k alpha - j, j = 0 ... k - 1, all in one call
    a <- outer(k * alpha, seq_len(k) - 1, `-`)
    rowSums(matrix(rdp(as.numeric(a)), length(alpha)) * (k * alpha) / a)
  }
}

group_sequence <- function(own, k) {
  if (k > 100) return(NULL) # the cost is k orders for each order
  rdp <- group_curve_rdp(own$rdp, k)
  list(rdp = rdp, epsilon = function(delta) orders_epsilon(delta, rdp))
}

# Up to nu: the power of a test of size x is at most g(x) + nu, g = 1 - G_mu. g is concave with g(0) = 0, so
# that g(a + b) <= g(a) + g(b): one step after another has at most g(g(x) + nu) + nu <= g(g(x)) + g(nu) + nu.
group_near <- function(own, k) {
  if (own$free) return(NULL)
  mu <- own$mu(own$least)
  nu <- own$least
  for (i in seq_len(k - 1)) {
    if (nu == 0 || nu >= 1) break
    nu <- own$least + stats::pnorm(stats::qnorm(nu) + mu)
  }
  list(least = nu, free = FALSE, mu = function(at, ...) if (at >= nu) k * mu else Inf)
}

group_pair <- function(pair, k) {
  if (is_gaussian(pair)) return(pair_gaussian(k * pair$mu))
  if (pair$mu > 0) return(NULL)
  largest <- max(pair$loss, 0)
  # That of (epsilon, delta)-DP has no loss but epsilon. What is exp(-600) times as likely is not counted.
  if (length(pair$loss) <= 2 || k * largest > 600) return(pair_point(largest, pair$infinite, k))
  pair_group(pair, k)
}

# (epsilon, delta) becomes (k epsilon, delta (1 + exp(epsilon) + ... + exp((k - 1) epsilon))): the
# least k epsilon among deltas of one reward that leave no more than delta.
group_curve <- function(own, k) {
  function(delta) {
    vapply(delta, function(delta) {
      if (delta == 0 || delta == 1) return(if (delta == 1) 0 else k * own(0))
      each <- exp(seq(log(delta / k), -700, length.out = 4000))
      epsilon <- own(each)
      # log of each times the geometric sum
      total <- log(each) + vapply(epsilon, function(e) {
        if (e == 0) log(k) else (k - 1) * e + log(-expm1(-k * e)) - log(-expm1(-e))
      }, 0)
      min(k * own(0), k * epsilon[total <= log(delta)])
    }, 0)
  }
}
