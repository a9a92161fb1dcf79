# Reward distributions. An `arms` value names one of src/arms.c and carries what it
# needs: exact means, gaps, and the parameters as a matrix with one column an arm.

#' @noRd
new_arms <- function(distribution, mean, par, args, title) {
  structure(
    list(distribution = distribution, mean = mean, gap = max(mean) - mean, par = par, args = args,
         title = title),
    class = c(paste0("arms_", distribution), "arms")
  )
}

n_arms <- function(arms) length(arms$mean)

#' Arms with Bernoulli rewards
#'
#' @param means Chance of a reward of 1, an arm each: numbers in \[0, 1\].
#' @returns An `arms` object: the reward laws of a bandit problem, with their exact
#'   means in `$mean`. Give it to [dpts_simulate()].
#' @family arms
#' @examples
#' arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' @export
arms_bernoulli <- function(means) {
  means <- check_numbers(means, 0, 1)
  new_arms("bernoulli", means, means, list(means = means), "Bernoulli rewards")
}

#' Arms with truncated exponential rewards
#'
#' An exponential variable conditioned on \[0, 1\]: density proportional to
#' exp(-rate x). A rate of 0 is the uniform law, and a negative rate leans towards 1.
#' The mean is 1 / rate - 1 / (exp(rate) - 1).
#'
#' @param rates Rates, an arm each: finite numbers.
#' @inherit arms_bernoulli return
#' @family arms
#' @references Used by Ou, T., Avella Medina, M. and Cummings, R. (2024), section 5.2,
#'   with rates 0.1, 1, 2, 5 and 10.
#' @examples
#' arms_truncexp(c(0.1, 1, 2, 5, 10))
#' @export
arms_truncexp <- function(rates) {
  rates <- check_numbers(rates)
  new_arms("truncexp", truncexp_mean(rates), rates, list(rates = rates),
           "truncated exponential rewards")
}

#' Mean of the truncated exponential. Near 0 the two terms cancel, and the series
#' 1/2 - r/12 + r^3/720 - r^5/30240 takes over.
#' @noRd
truncexp_mean <- function(rate) {
  series <- 1 / 2 - rate / 12 + rate^3 / 720 - rate^5 / 30240
  ifelse(abs(rate) < 0.05, series, 1 / rate - 1 / expm1(rate))
}

#' Arms with Beta rewards
#'
#' @param shape1,shape2 Parameters of the Beta laws, an arm each: positive numbers, of
#'   the same length or of length 1.
#' @inherit arms_bernoulli return
#' @family arms
#' @examples
#' arms_beta(c(3, 2, 1), 2)
#' @export
arms_beta <- function(shape1, shape2) {
  shape1 <- check_numbers(shape1, 0, open = TRUE)
  shape2 <- check_numbers(shape2, 0, open = TRUE)
  both <- recycle_common(shape1 = shape1, shape2 = shape2)
  new_arms("beta", both$shape1 / (both$shape1 + both$shape2),
           rbind(both$shape1, both$shape2), both, "Beta rewards")
}

#' Arms with discrete rewards
#'
#' @param values The possible rewards: distinct numbers in \[0, 1\].
#' @param probs Their probabilities: a matrix with one row an arm and one column a
#'   value, or a vector for a single arm. Rows must add up to 1.
#' @inherit arms_bernoulli return
#' @family arms
#' @examples
#' arms_discrete(c(0, 0.5, 1), rbind(c(0.2, 0.2, 0.6), c(0.5, 0.3, 0.2)))
#' @export
arms_discrete <- function(values, probs) {
  values <- check_numbers(values, 0, 1)
  if (anyDuplicated(values)) {
    abort_arg("values", "distinct numbers in [0, 1]", values, rlang::current_env())
  }
  check_given(probs, "probs", rlang::current_env())
  if (!is.matrix(probs)) probs <- matrix(check_numbers(probs, 0, 1), nrow = 1)
  if (!is.numeric(probs) || nrow(probs) == 0 || ncol(probs) != length(values)) {
    abort_arg("probs", sprintf(
      "a matrix with one row an arm and %d columns, one a value", length(values)
    ), probs, rlang::current_env())
  }
  if (!all_inside(c(probs), 0, 1, FALSE, FALSE) ||
      any(abs(rowSums(probs) - 1) > 1e-8)) {
    abort_dpts("`probs` must hold probabilities, every row adding up to 1.", "dpts_error_input",
               rlang::current_env(), arg = "probs")
  }
  probs <- probs / rowSums(probs)
  mean <- drop(probs %*% values)
  par <- apply(probs, 1, function(p) c(values, alias_table(p)))
  new_arms("discrete", mean, par, list(values = values, probs = probs),
           "discrete rewards")
}

#' Walker's alias table (Vose's construction): keep column i with chance keep[i],
#' else take alias[i] (from 0).
#' @noRd
alias_table <- function(p) {
  m <- length(p)
  keep <- p * m
  alias <- seq_len(m)
  small <- which(keep < 1)
  large <- which(keep >= 1)
  while (length(small) && length(large)) {
    s <- small[1]
    l <- large[1]
    small <- small[-1]
    alias[s] <- l
    keep[l] <- keep[l] - (1 - keep[s])
    if (keep[l] < 1) {
      large <- large[-1]
      small <- c(small, l)
    }
  }
  keep[c(small, large)] <- 1 # what rounding left over
  c(keep, alias - 1)
}

#' @export
format.arms <- function(x, digits = 4, ...) {
  shown <- utils::head(x$mean, 8)
  dots <- if (length(x$mean) > 8) ", ..." else ""
  c(sprintf("<arms> %d with %s", n_arms(x), x$title),
    sprintf("  means: %s%s", paste(signif(shown, digits), collapse = ", "), dots),
    sprintf("  best:  arm %d", which.max(x$mean)))
}

#' @export
print.arms <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}

check_arms <- function(arms, arg = caller_arg(arms), call = caller_env()) {
  check_given(arms, arg, call)
  if (inherits(arms, "arms")) return(arms)
  policies <- is_policy(arms) || (is.list(arms) && length(arms) && all(vapply(arms, is_policy, NA)))
  hint <- if (policies) {
    sprintf("Were the policies and `%s` given in the other order?", arg)
  } else if (is.function(arms)) {
    hint_call(arms)
  } else if (is.numeric(arms) && length(arms) > 1 && all_inside(arms, 0, 1, FALSE, FALSE)) {
    "Means of Bernoulli rewards are given by `arms_bernoulli()`."
  }
  abort_arg(arg, "made by one of the `arms_*()` functions", arms, call, hint = hint)
}
