# Guarantees in other terms: concentrated and Renyi DP, dominating pairs and tables of privacy losses.
# Conversions between them are rounded up.

#' Guarantees of other kinds
#'
#' Guarantees of your own mechanism, in the terms in which they were proved. Like [privacy_pure()], you can
#' use each as a budget, as the guarantee of your own policy ([policy_custom()]), in [privacy_compose()] and
#' [privacy_group()], and for [dpts_privacy()]:
#'
#' * `privacy_zcdp()`: rho-zCDP, a Rényi divergence of at most rho alpha at every order alpha;
#' * `privacy_rdp()`: (alpha, rdp)-RDP at each of some orders. Between them (alpha - 1) D(alpha) is convex and
#'   D(alpha) increases, which bounds it; above the last order nothing is known;
#' * `privacy_loss()`: the mechanism is at least as hard to see through as a pair of distributions, given by
#'   the probabilities of the same outcomes, or by the table of its privacy loss ln(P / Q) under P.
#'
#' @details
#' Neighbours are symmetric, so a pair stands for both of its orders: the least trade-off function that is
#' symmetric and below those of all pairs given is what composes. A table of losses is read at epsilon >= 0
#' and holds for either order; where the two orders differ, give both tables.
#'
#' For a pair the exact curve is `"pld"`'s; its least mu, its largest loss and its Rényi curve serve the
#' other accountants. For zCDP and RDP the `"rdp"` accountant answers. As a budget, each admits the largest
#' pure epsilon and the largest mu that imply it (for zCDP both are sqrt(2 rho)).
#'
#' @inheritSection privacy_pure Privacy
#' @param rho A number from 1e-12 to 1e12, or 0.
#' @param alpha Orders: different numbers above 1.
#' @param rdp The divergence at each order: numbers of at least 0, or a function of alpha that gives them.
#' @param pairs A list of two vectors of probabilities, P and Q, of the same outcomes; or a data frame with
#'   columns `loss` (`Inf` where Q is 0) and `probability` (under P); or a list of several of these: the worst
#'   of them holds. What is missing to a sum of 1, from 1e-12 to 1e-9, counts as a loss of `Inf`; less is
#'   rounding.
#' @template dots
#' @returns A budget: a guarantee, of classes `dpts_budget` and `dpts_guarantee`.
#' @template bun
#' @template zhu
#' @template see_privacy
#' @concept moments accountant
#' @concept Renyi differential privacy
#' @examples
#' dpts_privacy(privacy_zcdp(0.1), horizon = 1000, delta = 1e-6)
#' privacy_rdp(c(2, 8, 32), c(0.02, 0.09, 0.5))
#' # randomised response that tells the truth 3 times in 4: ln(3)-DP
#' response <- privacy_loss(list(c(0.75, 0.25), c(0.25, 0.75)))
#' response
#' both <- privacy_compose(response, privacy_zcdp(0.1))
#' summary(dpts_privacy(both, horizon = 1000, delta = 1e-6))
#' @export
privacy_zcdp <- function(rho, ...) {
  check_dots_empty(...)
  rho <- check_number(rho, 0, MAX_BUDGET)
  if (rho > 0 && rho < MIN_BUDGET^2) abort_arg("rho", "0, or a number from 1e-12 to 1e12", rho)
  as_budget(new_guarantee("zcdp", rho = rho, published = "release"))
}

#' @rdname privacy_zcdp
#' @export
privacy_rdp <- function(alpha, rdp, ...) {
  check_dots_empty(...)
  check_all_given()
  alpha <- check_numbers(alpha, 1, open = TRUE)
  if (anyDuplicated(alpha)) abort_arg("alpha", "different orders", alpha[duplicated(alpha)][1])
  rdp <- if (is.function(rdp)) rdp_call(rdp, alpha) else check_numbers(rdp, 0, inf = TRUE)
  if (length(rdp) != length(alpha)) {
    abort_arg("rdp", sprintf("one number for each of the %d orders", length(alpha)), rdp)
  }
  o <- order(alpha)
  # The divergence increases with its order, whatever was proved.
  as_budget(new_guarantee("rdp", alpha = alpha[o], rdp = rev(cummin(rev(rdp[o]))), published = "release"))
}

#' @rdname privacy_zcdp
#' @export
privacy_loss <- function(pairs, ...) {
  check_dots_empty(...)
  check_all_given()
  one <- is.data.frame(pairs) || !is.list(pairs) || !length(pairs) || !is.list(pairs[[1]])
  pairs <- unname(lapply(if (one) list(pairs) else pairs, check_pair))
  tables <- unlist(lapply(pairs, pair_tables), recursive = FALSE)
  as_budget(new_guarantee("loss", pairs = pairs, pair = pair_of_tables(tables), published = "release"))
}

# A pair as it was given, checked: list(loss, probability), or list of two vectors of probabilities
check_pair <- function(x) {
  bad <- function(...) abort_input("pairs", "`pairs` must hold %s.", sprintf(...))
  x <- if (is.list(x)) lapply(as.list(x), function(x) if (is.numeric(x)) as.double(x) else x)
  if (length(x) != 2 || !all(vapply(x, is.numeric, NA)) || length(x[[1]]) != length(x[[2]]) ||
      length(x[[1]]) == 0) {
    bad("two vectors of probabilities of the same outcomes, or columns `loss` and `probability`")
  }
  is_table <- setequal(names(x), c("loss", "probability"))
  x <- if (is_table) x[c("loss", "probability")] else unname(x)
  given <- if (is_table) x["probability"] else x
  for (p in given) {
    if (anyNA(p) || any(p < 0 | p > 1)) bad("probabilities, numbers in [0, 1]")
    if (abs(sum(p) - 1) > 1e-9) bad("probabilities that sum to 1, not to %s", number_text(signif(sum(p), 12)))
  }
  # What is cut off, and is more than rounding, may be seen under one stream alone.
  cut <- pmax(1 - vapply(given, sum, 0), 0)
  cut[cut < 1e-12] <- 0
  if (!is_table) return(if (any(cut > 0)) list(c(x[[1]], cut[1], 0), c(x[[2]], 0, cut[2])) else x)
  if (anyNA(x$loss)) bad("losses that are numbers or Inf")
  other <- sum((x$probability * exp(-x$loss))[x$probability > 0])
  if (other > 1 + 1e-9) {
    bad("losses ln(P / Q) under P: the sum of probability x exp(-loss) is at most 1, not %s",
        number_text(signif(other, 6)))
  }
  if (cut > 0) list(loss = c(x$loss, Inf), probability = c(x$probability, unname(cut))) else x
}

# The outcomes that P has oftener than Q, with both probabilities; for a pair in both orders
pair_tables <- function(x) {
  table <- function(p, q) lapply(list(p = p, q = q), `[`, p > q)
  if (!is.null(names(x))) list(table(x$probability, x$probability * exp(-x$loss))) else
    list(table(x[[1]], x[[2]]), table(x[[2]], x[[1]]))
}

# The least symmetric pair that dominates each of some tables. The powers y of the best tests of size x have a
# concave hull, whose segments are the outcomes of the pair.
pair_of_tables <- function(tables) {
  points <- lapply(tables, function(t) {
    o <- order(-log(t$p) + log(t$q))
    list(x = cumsum(t$q[o]), y = cumsum(t$p[o]))
  })
  x <- unlist(lapply(points, `[[`, "x"))
  y <- pmin(unlist(lapply(points, `[[`, "y")), 1)
  pair <- pair_of_tests(x, y)
  if (sum(pair$p) + pair$infinite <= 1 + 1e-9) pair else pair_of_tests(c(x, 1 - y), c(y, 1 - x))
}

pair_of_tests <- function(x, y) {
  o <- order(c(x, 0, 1), c(y, 0, 1))
  x <- c(x, 0, 1)[o]
  y <- c(y, 0, 1)[o]
  kept <- integer()
  for (i in seq_along(x)) {
    n <- length(kept)
    # the same test by another table, up to rounding
    if (n > 0 && x[i] <= x[kept[n]] * (1 + 1e-12) && y[i] <= y[kept[n]] * (1 + 1e-12)) next
    while (n > 1 && (y[kept[n]] - y[kept[n - 1]]) * (x[i] - x[kept[n - 1]]) <=
           (y[i] - y[kept[n - 1]]) * (x[kept[n]] - x[kept[n - 1]])) n <- n - 1
    kept <- c(kept[seq_len(n)], i)
  }
  q <- diff(x[kept])
  p <- diff(y[kept])
  steep <- p - q > 1e-14 * y[kept[-1]] # not by rounding
  infinite <- sum(p[q == 0])
  p <- p[steep & q > 0]
  q <- q[steep & q > 0]
  rest <- max(0, 1 - infinite - sum(p) - sum(q))
  keep_or_join(new_pair(c(log(p / q), 0, log(q / p)), c(p, rest, q), infinite))
}

# ---- what a pair without a Gaussian part is worth ---------------------------------------------------

# The least mu for which it is mu-GDP up to its infinite loss. A line between two tests stays below a concave
# curve that is above both.
pair_mu <- function(pair) {
  o <- order(-pair$loss)
  size <- cumsum(pair$p[o] * exp(-pair$loss[o]))
  missed <- rev(cumsum(rev(pair$p[o]))) - pair$p[o] + pair$infinite
  above <- pair$loss[o] > 0
  max(0, -stats::qnorm(size[above]) - stats::qnorm(missed[above]))
}

# Its Renyi curve
pair_rdp <- function(pair) {
  function(alpha) vapply(alpha - 1, function(a) {
    most <- max(a * pair$loss)
    if (most < 30) log1p(sum(pair$p * expm1(a * pair$loss))) / a else
      (most + log(sum(pair$p * exp(a * pair$loss - most)))) / a
  }, 0)
}

# The k-fold iterate of its trade-off function: powers of powers, by squares
pair_group <- function(pair, k) {
  whole <- NULL
  repeat {
    if (k %% 2 == 1) whole <- if (is.null(whole)) pair else pair_after(whole, pair)
    k <- k %/% 2
    if (k == 0) return(whole)
    pair <- pair_after(pair, pair)
  }
}

# The pair of tests whose size is the power of a test of the first pair, and which are made of the second
pair_after <- function(first, second, most = 2^12) {
  tests <- function(pair) {
    if (length(pair$loss) > most) pair <- pair_on_knots(pair, knots = 1000)
    o <- order(-pair$loss)
    list(x = c(0, cumsum(pair$p[o] * exp(-pair$loss[o]))), y = pair$infinite + c(0, cumsum(pair$p[o])))
  }
  outer <- tests(second)
  inner <- tests(first)
  size <- inner$x
  value <- inner$y
  new <- outer$x[outer$x > value[1] & outer$x < max(value)]
  if (length(new)) {
    size <- c(size, stats::approx(value, size, new, ties = min)$y)
    value <- c(value, new)
  }
  power <- stats::approx(c(outer$x, 1), c(outer$y, 1), pmin(value, 1), ties = max)$y
  pair_of_tests(pmin(size, 1), pmin(power, 1))
}

# ---- the kinds --------------------------------------------------------------------------------------

# As a target of calibration: the largest mu that implies it
target_mu <- function(g, delta) list(guarantee_gdp(most_mu(g)))

kind_zcdp <- list(
  forms = list(rdp = function(g, at) g$rho),
  fixed = function(g) TRUE,
  # Bun and Steinke, Proposition 1.4
  largest = function(g) list(epsilon = sqrt(2 * g$rho), mu = sqrt(2 * g$rho)),
  inside = function(g, budget, at) {
    rdp <- form(g, "rdp", at)
    is.numeric(rdp) && rdp <= budget$rho
  },
  targets = target_mu,
  together = function(parts) new_guarantee("zcdp", rho = sum(numbers_of(parts, "rho")),
                                           neighbours = parts[[1]]$neighbours),
  times = function(g, k) replace(g, "rho", k^2 * g$rho),
  words = function(g, digits) short_words(g, g$rho, "zCDP", digits),
  sentences = function(g, digits) sentence_whole(g, paste0(format_up(g$rho, digits), "-zCDP"))
)

kind_rdp <- list(
  forms = list(rdp = function(g, at) {
    moments <- (g$alpha - 1) * g$rdp
    structure(function(alpha) {
      known <- stats::approx(c(1, g$alpha), c(0, moments), alpha, ties = "ordered")$y / (alpha - 1)
      known[is.na(known)] <- Inf
      pmin(known, c(g$rdp, Inf)[findInterval(alpha, g$alpha, left.open = TRUE) + 1])
    }, orders = g$alpha)
  }),
  fixed = function(g) TRUE,
  largest = function(g) {
    finite <- is.finite(g$rdp)
    alpha <- g$alpha[finite]
    rdp <- g$rdp[finite]
    if (length(rdp) == 0) return(list(epsilon = 0, mu = 0))
    # least_inside() gives the first epsilon outside, within 1e-9.
    above <- least_inside(function(e) any(pure_rdp(e, alpha) > rdp),
                          c(sqrt(2 * min(rdp / alpha)), max(rdp) + 1), 1e-9)
    list(epsilon = max(sqrt(2 * min(rdp / alpha)), above * (1 - 2e-9)), mu = sqrt(2 * min(rdp / alpha)))
  },
  inside = function(g, budget, at) {
    rdp <- form(g, "rdp", at)
    !is.null(rdp) && all((if (is.numeric(rdp)) rdp * budget$alpha else rdp(budget$alpha)) <= budget$rdp)
  },
  targets = target_mu,
  words = function(g, digits) {
    n <- length(g$alpha)
    shown <- unique(round(seq(1, n, length.out = min(n, 3))))
    each <- sprintf("(%s, %s)", number_text(signif(g$alpha[shown], 6)), format_up(g$rdp[shown], digits))
    paste0(paste(each, collapse = ", "), if (n > 3) sprintf(" and %d more", n - 3), "-RDP")
  },
  sentences = function(g, digits) sentence_whole(g, kind_rdp$words(g, digits))
)

kind_loss <- list(
  forms = list(
    epsilon = function(g, at) if (g$pair$infinite == 0) max(g$pair$loss, 0),
    mu = function(g, at) if (g$pair$infinite == 0) pair_mu(g$pair),
    rdp = function(g, at) if (g$pair$infinite == 0) pair_rdp(g$pair),
    pair = function(g, at) g$pair,
    near = function(g, at) {
      mu <- pair_mu(g$pair)
      least <- g$pair$infinite
      list(least = least, free = FALSE, mu = function(nu, ...) if (nu >= least) mu else Inf)
    }
  ),
  fixed = function(g) TRUE,
  largest = function(g) {
    deltas <- function(e) vapply(e, pair_delta, 0, pair = g$pair)
    e <- c(0, g$pair$loss[g$pair$loss > 0])
    list(epsilon = 2 * atanh(deltas(0)), mu = if (g$pair$infinite == 0) 0 else min(gdp_mu(e, deltas(e))))
  },
  inside = function(g, budget, at) {
    pair <- form(g, "pair", at)
    if (is.null(pair) || pair$mu > 0) return(FALSE)
    e <- c(0, pair$loss[pair$loss > 0], budget$pair$loss[budget$pair$loss > 0], Inf)
    all(vapply(e, pair_delta, 0, pair = pair) <= vapply(e, pair_delta, 0, pair = budget$pair) * (1 + 1e-12))
  },
  targets = function(g, delta) list(guarantee_approx(pair_epsilon(g$pair, delta), delta)),
  words = function(g, digits) {
    sprintf("(%s, %s)-DP and a curve of %s", format_up(max(g$pair$loss, 0), digits),
            format_up(g$pair$infinite, digits),
            count_noun(length(g$pair$loss) + (g$pair$infinite > 0), "privacy loss", "privacy losses"))
  },
  sentences = function(g, digits) sentence_whole(g, kind_loss$words(g, digits))
)
