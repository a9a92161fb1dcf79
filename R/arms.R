# Reward distributions. An `arms` value names those of src/play_arms.c and carries what they
# need: exact means, gaps, and parameters. How C reads it is in R/world.R.

# `distribution`: One name, or one for each arm.
# `mean`: Exact means. Their names are the arms' names.
# `par`: Parameters: a list with a vector for each arm, or a matrix with a column for each.
# `args`: The constructor's. Names are not kept there, so that arms named later are those named at once.
# `range`: Where rewards lie: policies see them scaled to [0, 1], or as they are if
#   the range is infinite.
# `world`: What is not the same in every round, or not drawn in C; see R/world.R.
new_arms <- function(distribution, mean, par, args, title, range = c(0, 1), world = NULL,
                     class = distribution[1]) {
  if (!is.list(par)) {
    if (!is.matrix(par)) par <- matrix(par, 1)
    par <- lapply(seq_len(ncol(par)), function(i) par[, i])
  }
  structure(
    list(distribution = distribution, mean = mean, gap = max(mean) - mean, par = unname(par),
         args = lapply(args, function(x) if (is.numeric(x)) unname(x) else x), title = title,
         range = range, world = world),
    class = c(paste0("dpts_arms_", class), "dpts_arms")
  )
}

# Names of arms, all different, or NULL. Where some have names, the others take their numbers.
check_arm_names <- function(names, arg) {
  none <- is.na(names) | names == ""
  if (all(none)) return(NULL)
  names[none] <- which(none)
  if (anyDuplicated(names)) {
    abort_input(arg, "`%s` must have different names for all arms; \"%s\" comes twice.", arg,
                names[duplicated(names)][1])
  }
  names
}

# A vector with one number for each arm, whose names are the arms' names
check_by_arm <- function(x, ..., arg = caller_arg(x)) {
  force(arg)
  x <- check_numbers(x, ..., arg = arg)
  stats::setNames(as.vector(x), check_arm_names(names(x), arg))
}

#' Arms with Bernoulli rewards
#'
#' Arms whose reward is 1 or 0: a click or none, a recovery or none.
#'
#' @param means The probability of a reward of 1 for each arm: numbers in \[0, 1\]. Names are the
#'   arms' names, and appear in results, prints and plots.
#' @template dots
#' @returns An `arms` object: the reward distributions of a bandit problem, with their exact means in `$mean`.
#'   Give it to [dpts_simulate()]. [c()][length.dpts_arms] joins arms, of different distributions too.
#' @template see_arms
#' @examples
#' arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' arms_bernoulli(c(control = 0.4, drug = 0.5))
#' @export
arms_bernoulli <- function(means, ...) {
  check_dots_empty(...)
  means <- check_by_arm(means, 0, 1)
  new_arms("bernoulli", means, means, list(means = means), "Bernoulli rewards")
}

#' Arms with truncated exponential rewards
#'
#' Arms whose rewards, from 0 to 1, are mostly small, or mostly large. An exponential variable conditioned
#' on \[0, 1\]: density proportional to exp(-rate x). A rate of 0 is the uniform distribution, and a negative
#' rate leans towards 1. The mean is 1 / rate - 1 / (exp(rate) - 1).
#'
#' @param rates The rate of each arm: finite numbers, which may have names.
#' @template dots
#' @inherit arms_bernoulli return
#' @template see_arms
#' @references Used by Ou, T., Avella Medina, M. and Cummings, R. (2024), section 5.2,
#'   with rates 0.1, 1, 2, 5 and 10.
#' @examples
#' arms_truncexp(c(0.1, 1, 2, 5, 10))
#' @export
arms_truncexp <- function(rates, ...) {
  check_dots_empty(...)
  rates <- check_by_arm(rates)
  new_arms("truncexp", truncexp_mean(rates), rates, list(rates = rates), "truncated exponential rewards")
}

# Mean of the truncated exponential. Near 0 the two terms cancel, and the series
# 1/2 - r/12 + r^3/720 - r^5/30240 takes over.
truncexp_mean <- function(rate) {
  series <- 1 / 2 - rate / 12 + rate^3 / 720 - rate^5 / 30240
  ifelse(abs(rate) < 0.05, series, 1 / rate - 1 / expm1(rate))
}

#' Arms with Beta rewards
#'
#' Arms whose rewards are any numbers from 0 to 1, such as shares or scores.
#'
#' @param shape1,shape2 Parameters of each arm's Beta distribution: positive numbers, of
#'   the same length or of length 1. Names of `shape1`, or else of `shape2`, are the arms' names.
#' @template dots
#' @inherit arms_bernoulli return
#' @template see_arms
#' @examples
#' arms_beta(c(3, 2, 1), 2)
#' @export
arms_beta <- function(shape1, shape2, ...) {
  check_dots_empty(...)
  shape1 <- check_by_arm(shape1, 0, open = TRUE)
  shape2 <- check_by_arm(shape2, 0, open = TRUE)
  both <- recycle_common(shape1 = shape1, shape2 = shape2)
  mean <- both$shape1 / (both$shape1 + both$shape2)
  if (length(shape1) == length(mean)) names(mean) <- names(shape1)
  if (is.null(names(mean)) && length(shape2) == length(mean)) names(mean) <- names(shape2)
  new_arms("beta", mean, rbind(both$shape1, both$shape2), both, "Beta rewards")
}

#' Arms with discrete rewards
#'
#' Arms whose reward is one of a few values, each with its probability, such as one to five stars.
#'
#' @param values The possible rewards: distinct numbers in \[0, 1\].
#' @param probs Their probabilities: a matrix with a row for each arm and a column for each
#'   value, or a vector for a single arm. Rows must add up to 1; their names are the arms' names.
#' @template dots
#' @inherit arms_bernoulli return
#' @template see_arms
#' @examples
#' arms_discrete(c(0, 0.5, 1), rbind(c(0.2, 0.2, 0.6), c(0.5, 0.3, 0.2)))
#' @export
arms_discrete <- function(values, probs, ...) {
  check_dots_empty(...)
  values <- as.vector(check_numbers(values, 0, 1))
  if (anyDuplicated(values)) abort_arg("values", "distinct numbers in [0, 1]", values)
  check_given(probs)
  if (!is.matrix(probs)) probs <- matrix(check_numbers(probs, 0, 1), nrow = 1)
  if (!is.numeric(probs) || nrow(probs) == 0 || ncol(probs) != length(values)) {
    abort_arg("probs", sprintf(
      "a matrix with a row for each arm and %d columns, one for each value", length(values)
    ), probs)
  }
  if (!all_inside(c(probs), 0, 1, FALSE, FALSE) ||
      any(abs(rowSums(probs) - 1) > 1e-8)) {
    abort_input("probs", "`probs` must hold probabilities, every row adding up to 1.")
  }
  probs <- probs / rowSums(probs)
  names <- check_arm_names(rownames(probs), "probs")
  mean <- stats::setNames(c(probs %*% values), names)
  par <- lapply(seq_len(nrow(probs)), function(i) c(values, alias_table(probs[i, ])))
  new_arms("discrete", mean, par, list(values = values, probs = probs), "discrete rewards")
}

# Walker's alias table (Vose's construction): keep column i with chance keep[i], else take alias[i] (from 0).
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
format.dpts_arms <- function(x, digits = 4, ...) {
  digits <- check_digits(digits)
  shown <- utils::head(x$mean, 8)
  values <- paste(names(shown), vapply(signif(shown, digits), number_text, "", digits = 15))
  dots <- if (n_arms(x) > 8) ", ..." else ""
  names <- names(x$mean)
  best <- which.max(x$mean)
  c(sprintf("<arms> %d with %s", n_arms(x), x$title),
    strwrap(paste0("means: ", paste(values, collapse = ", "), dots, if (is_changing(x)) " (in round 1)"),
            getOption("width"), indent = 2, exdent = 9),
    sprintf("  best:  %s", if (is_changing(x)) "changes from round to round" else
      if (is.null(names)) paste("arm", best) else names[best]))
}

#' @export
print.dpts_arms <- function(x, ...) print_lines(x, ...)

check_arms <- function(arms, arg = caller_arg(arms)) {
  check_given(arms, arg)
  if (inherits(arms, "dpts_arms")) {
    if (are_sound(arms)) return(arms)
    abort_input(arg, "`%s` was edited by hand and is damaged: make it again with its constructor.", arg)
  }
  policies <- is_policy(arms) || (is.list(arms) && length(arms) && all(vapply(arms, is_policy, NA)))
  hint <- if (policies) {
    sprintf("Were the policies and `%s` given in the other order?", arg)
  } else if (is.function(arms)) {
    hint_call(arms)
  } else if (is.numeric(arms) && length(arms) > 1 && all_inside(arms, 0, 1, FALSE, FALSE)) {
    "Means of Bernoulli rewards are given by `arms_bernoulli()`."
  }
  abort_arg(arg, "made by one of the `arms_*()` functions", arms, hint = hint)
}
