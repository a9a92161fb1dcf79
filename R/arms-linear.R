#' Arms whose rewards are linear or logistic in a context
#'
#' Arms whose rewards depend on who is asked. A simulated contextual problem: each round shows a context z,
#' and the mean reward of arm a is theta_a.z, or with `link = "logit"` 1 / (1 + exp(-theta_a.z)). Contextual
#' policies see z before they choose; other policies can be run on the same arms.
#'
#' @details
#' With a matrix `theta` every arm has coefficients of its own and all arms share the round's context. With a
#' vector `theta` the coefficients are shared, and in each round every arm draws a context of its own: the
#' problem for `model = "shared"` policies.
#'
#' Regret is measured against the best arm *for each context*: in a round with context z it grows by the
#' largest mean less the mean of arm b when arm b is pulled. A policy that ignores contexts therefore pays at
#' least the gap between the best arm in hindsight and the best arm for each context.
#'
#' Contexts have a random stream of their own, so policies in one call of
#' [dpts_simulate()] see the same contexts run by run.
#'
#' @param theta Coefficients: a matrix with a row for each arm and a column for each number of
#'   the context, or a vector for coefficients that all arms share. With `link = "identity"`
#'   all means must lie in \[0, 1\]. Names of rows are the arms' names.
#' @param contexts How contexts are distributed: `"uniform"` on \[0, 1\]^d, `"simplex"`
#'   (uniform on the numbers that are at least 0 and add up to 1), or a matrix with one
#'   row per context, of which each round draws one with equal probabilities.
#' @param noise The variance of a reward as a share of the largest there can be in \[0,
#'   1\], which is mean (1 - mean): 1 makes rewards Bernoulli, 0 makes them equal to their
#'   means, and numbers between make them Beta. The mean is the same in every case.
#' @param ... Not used; later arguments must be named.
#' @param arms Number of arms where `theta` is a vector; else `NULL`.
#' @param link What is linear in the context: the mean itself (`"identity"`), or its log-odds (`"logit"`).
#' @returns An `arms` object. `$mean` holds each arm's exact mean over contexts.
#' @template see_arms
#' @examples
#' theta <- rbind(c(0.2, 0.7, 0.1), c(0.2, 0.1, 0.7))
#' arms <- arms_linear(theta, "simplex")
#' sim <- dpts_simulate(arms, list(linucb = policy_linucb(), ucb1 = policy_ucb1()), 2000, seed = 1)
#' summary(sim)
#' # Clicks: log-odds of -3 and more
#' arms_linear(10 * theta - 4, "simplex", link = "logit")
#' @export
arms_linear <- function(theta, contexts = "uniform", noise = 1, ..., arms = NULL,
                        link = c("identity", "logit")) {
  check_dots_empty(...)
  link <- check_choice(link, c("identity", "logit"))
  check_given(theta)
  if (is.data.frame(theta)) theta <- as.matrix(theta)
  own <- !is.matrix(theta)
  names <- NULL
  if (own) {
    theta <- check_numbers(theta)
    if (is.null(arms)) abort_arg("arms", "the number of arms, because `theta` is a vector", NULL)
    k <- check_count(arms, 1, 1e6)
    theta <- matrix(theta, k, length(theta), byrow = TRUE)
  } else {
    if (!is.null(arms)) abort_arg("arms", "NULL, because `theta` has a row for each arm", arms)
    if (length(theta) == 0) abort_arg("theta", "a matrix with rows", theta)
    dims <- dim(theta)
    names <- check_arm_names(rownames(theta), "theta")
    theta <- matrix(check_numbers(c(theta), arg = "theta"), dims[1], dims[2])
  }
  d <- ncol(theta)
  check_dim(d, "theta")
  noise <- check_number(noise, 0, 1)
  drawn <- linear_contexts(contexts, theta)
  logit <- link == "logit"
  if (logit) {
    drawn$mean <- logistic_means(theta, drawn)
  } else if (drawn$lowest < -1e-9 || drawn$highest > 1 + 1e-9) {
    abort_input("theta", "`theta` must give means in [0, 1] for all contexts; they range from %s to %s.",
                number_text(drawn$lowest, digits = 4), number_text(drawn$highest, digits = 4))
  }
  value <- new_arms(
    "linear", stats::setNames(drawn$mean, names), t(theta),
    c(list(theta = theta, contexts = contexts, noise = noise), if (logit) list(link = link)),
    sprintf("rewards %s in contexts of %s", if (logit) "logistic" else "linear",
            count_noun(d, "number", "numbers"))
  )
  value$world <- new_world("linear")
  value$contexts <- list(kind = drawn$kind, own = own, noise = noise, logit = as.numeric(logit),
                         values = t(drawn$values), lower = drawn$range[1], upper = drawn$range[2])
  value
}

linear_contexts <- function(contexts, theta) {
  d <- ncol(theta)
  if (is.data.frame(contexts)) contexts <- as.matrix(contexts)
  if (is.matrix(contexts)) {
    dims <- dim(contexts)
    if (dims[1] == 0 || dims[2] != d) {
      abort_arg("contexts", paste("a matrix with one row per context and",
                                  count_noun(d, "column", "columns")), contexts)
    }
    values <- matrix(check_numbers(c(contexts), arg = "contexts"), dims[1], d)
    means <- values %*% t(theta)
    return(list(kind = "given", values = values, mean = colMeans(means), lowest = min(means),
                highest = max(means), range = range(values)))
  }
  none <- matrix(0, 0, d)
  if (!is.character(contexts)) {
    abort_arg("contexts", "\"uniform\", \"simplex\" or a matrix with one row per context", contexts)
  }
  kind <- check_choice(contexts, c("uniform", "simplex"))
  if (kind == "uniform") {
    return(list(kind = "uniform", values = none, mean = rowSums(theta) / 2, range = c(0, 1),
                lowest = min(rowSums(pmin(theta, 0))), highest = max(rowSums(pmax(theta, 0)))))
  }
  list(kind = "simplex", values = none, mean = rowMeans(theta), range = c(0, 1), lowest = min(theta),
       highest = max(theta))
}

# Means of 1 / (1 + exp(-theta_a.z)) over contexts, for the rows of theta
logistic_means <- function(theta, drawn) {
  if (drawn$kind == "given") return(colMeans(stats::plogis(drawn$values %*% t(theta))))
  apply(theta, 1, if (drawn$kind == "uniform") logistic_mean_uniform else logistic_mean_simplex)
}

# E sigma(theta.z) for z uniform on [0, 1]^d, where sigma(x) - 1/2 is the integral of sin(t x) / sinh(pi t)
# over t > 0, and E sin(t theta.z) = sin(t sum theta / 2) prod sinc(t theta_j / 2). The trapezoidal rule
# converges geometrically: the integrand is even, and its poles are whole multiples of i.
logistic_mean_uniform <- function(theta) {
  step <- 2 * pi / (45 + sum(abs(theta)))
  t <- step * seq_len(ceiling(13 / step))
  sines <- vapply(theta, function(x) if (x == 0) rep(1, length(t)) else sin(t * x / 2) / (t * x / 2), t)
  mean <- sin(t * sum(theta) / 2) * apply(matrix(sines, length(t)), 1, prod)
  1 / 2 + step * (sum(theta) / (4 * pi) + sum(mean / sinh(pi * t)))
}

# The same for z uniform on the simplex. theta.z has the density of a B-spline whose knots are the
# numbers of theta (Curry and Schoenberg 1966).
logistic_mean_simplex <- function(theta) {
  knots <- sort(theta)
  d <- length(knots)
  if (knots[1] == knots[d]) return(stats::plogis(knots[1]))
  density <- function(x) {
    m <- vapply(seq_len(d - 1), function(i) {
      inside <- knots[i] <= x & x < knots[i + 1]
      ifelse(inside, 1 / (knots[i + 1] - knots[i]), 0)
    }, x)
    m <- matrix(m, length(x))
    for (k in seq_len(d - 2) + 1) for (i in seq_len(d - k)) {
      span <- knots[i + k] - knots[i]
      if (span > 0) {
        m[, i] <- k / (k - 1) * ((x - knots[i]) * m[, i] + (knots[i + k] - x) * m[, i + 1]) / span
      }
    }
    m[, 1]
  }
  ends <- unique(knots)
  sum(vapply(seq_along(ends)[-1], function(i) {
    stats::integrate(function(x) stats::plogis(x) * density(x), ends[i - 1], ends[i], rel.tol = 1e-10)$value
  }, 0))
}

# Kernels keep contexts on the stack
check_dim <- function(d, arg) {
  most <- .Call(C_max_context)
  if (d > most) {
    abort_input(arg, "`%s` must have at most %d numbers per context, not %d.", arg, most, d)
  }
}

#' @export
format.dpts_arms_linear <- function(x, ...) {
  c(utils::head(NextMethod(), -1), "  best:  depends on the context")
}

# Bounds in gaps of means say nothing about regret against the best arm for each context
check_no_contexts <- function(arms, arg = caller_arg(arms)) {
  if (!is.null(arms$contexts)) abort_arg(arg, "arms without contexts", arms)
}

#' @export
world_sound.dpts_world_linear <- function(world, arms) {
  contexts <- arms$contexts
  dim <- lengths(arms$par)
  all(dim == dim[1]) && dim[1] <= .Call(C_max_context) &&
    isTRUE(contexts$kind %in% c("given", "uniform", "simplex")) && is.logical(contexts$own) &&
    is.double(contexts$noise) && is.double(contexts$values) &&
    nrow(contexts$values) == dim[1] && (contexts$kind != "given" || ncol(contexts$values) > 0)
}
