#' Estimate a policy's value from a log
#'
#' `dpts_ope()` estimates from logged data the mean reward that another policy, the target, would have had
#' (off-policy evaluation), with confidence intervals.
#'
#' @details
#' With the importance weights w = (target's probability of the logged arm) / propensity, at most
#' `clip`, rewards r and a model q(x, a) of the mean reward of arm a in context x:
#'
#' * `"ipw"`, inverse propensity weighting: mean(w r). Unbiased without clipping;
#' * `"snipw"`, self-normalised: sum(w r) / sum(w). Does not change when rewards are
#'   shifted, and has less variance;
#' * `"dm"`, direct method: the mean over events of sum_a target(a) q(x, a). Biased if the model is wrong;
#' * `"dr"`, doubly robust (Dudik, Langford and Li 2011): the direct method plus
#'   mean(w (r - q(x, shown arm))).
#'
#' The model is a ridge regression of the reward on the context for each arm, fitted on the same log. It has
#' an intercept, which is not penalised, unless `context` is a formula without one (`~ 0 + x`). Without
#' contexts it is each arm's mean reward.
#'
#' A policy object as target learns: it is replayed (see [dpts_replay()] with `method = "auto"`). In each
#' event its probabilities are those of its current state, and it learns from the events that it keeps. The
#' estimate is of its mean reward over the events.
#'
#' Standard errors: of the mean of w r for `"ipw"`; of the ratio, linearised, for
#' `"snipw"`; for `"dm"` from the regressions' residuals (sandwich) and the spread of
#' contexts, leaving out what the model gets wrong; for `"dr"` of the mean of its terms,
#' the model taken as given. A standard error is 0 where all matching rewards are equal.
#'
#' Intervals: on each side the wider of estimate -/+ z `se` and of Wilson's interval for the estimate with
#' the effective sample size (sum w)^2 / sum w^2, cut to \[0, 1\]. For `"dm"` and `"dr"` it is at most that of
#' the weights that rewards have in the model's estimate: without contexts 1 / sum of t^2 / n over arms, with
#' the target's mean probability t of the arm and n events that show it. Wilson's interval has a width also
#' where all matching rewards are equal, and where rewards are rare. For rewards between 0 and 1 the effective
#' sample size is divided by the variance of rewards over that of rewards of 0 and 1 with the same mean,
#' plus 3 / effective sample size. In simulations of logs with 10 to 3,000 events and rates from 0.005 to
#' 0.99, 95% intervals held the value in 90 to 100% of cases. Where the target has half of its probability
#' on an arm that ten of 1,000 events show, those of `"ipw"` held in 88% and those of others in 92% or more.
#' They count neither the bias of clipping nor that of the model.
#'
#' **What is checked.** The mean of w without clipping is 1 up to chance if the propensities are those of the
#' logging policy. It is printed with its standard error. A warning is given where it is more than 4 standard
#' errors and more than 1% away from 1: then the propensities are not those of this log, or the log lacks the
#' arms that the target mostly pulls. Other warnings are given where the effective sample size is below 10,
#' where the target pulls arms that the log never shows, and where an event was shown with propensity 1
#' although the target may pull another arm. No weight can correct for an arm that could not be shown.
#'
#' @inheritParams dpts_replay
#' @param target The policy to evaluate: `"uniform"` (over each event's pool); an arm, by its own name in the
#'   log; or a matrix of probabilities with one row per event and one column per arm, in the order of arms
#'   (see [dpts_replay()]) or named by arm. A matrix of one row stands for all events. Or a policy that states
#'   its probabilities: [policy_exp3()], [policy_randomised()], or one of your own with `probability`.
#' @param ... Not used; later arguments must be named.
#' @param estimator The estimators to compute.
#' @param clip Maximum weight: a number above 0; larger weights are set to it. `Inf`: no clipping. Clipping
#'   trades bias for variance.
#' @param context Contexts for the model of `"dm"` and `"dr"`, as in [dpts_replay()], but `NULL` means none.
#' @param ridge Penalty of the regressions when there are contexts: a number, at least 0.
#' @param level Confidence level: a number in (0, 1).
#' @param seed For a policy: a whole number, or `NULL` to take one from R's generator.
#' @returns A tibble of class `dpts_ope`, one row per estimator:
#'   * `estimator`: character;
#'   * `estimate`: estimated mean reward of the target;
#'   * `se`: its standard error;
#'   * `lower`, `upper`: the confidence interval, see Details; `NA` where there is no estimate.
#' @references Dudik, M., Langford, J. and Li, L. (2011). Doubly Robust Policy Evaluation
#' and Learning. ICML. arXiv:1103.4601.
#'
#' Swaminathan, A. and Joachims, T. (2015). The Self-Normalized Estimator for
#' Counterfactual Learning. NeurIPS.
#' @seealso [as_log()] describes a log, [dpts_replay()] replays a policy that learns.
#' @concept logged data
#' @concept off-policy evaluation
#' @concept inverse propensity weighting
#' @concept counterfactual evaluation
#' @examples
#' # The value of the uniform policy, from the log of another one
#' bts <- open_bandit[open_bandit$logger == "bts", ]
#' dpts_ope(bts, "uniform")
#' # Always item 0, from the log of the uniform policy
#' dpts_ope(open_bandit[open_bandit$logger == "random", ], 0)
#' @export
dpts_ope <- function(log, target, ..., estimator = c("ipw", "snipw", "dm", "dr"), clip = Inf,
                     context = NULL, ridge = 1, level = 0.95, arm = NULL, reward = NULL, propensity = NULL,
                     seed = NULL) {
  check_dots_empty(...)
  check_log(log)
  log <- name_columns(log, list(arm = arm, reward = reward, propensity = propensity))
  check_given(target)
  estimator <- unique(check_choice(estimator, c("ipw", "snipw", "dm", "dr"), several = TRUE))
  clip <- check_number(clip, 0, open = c(TRUE, FALSE), inf = TRUE)
  ridge <- check_number(ridge, 0)
  check_number(level, 0, 1, open = TRUE)
  if (!is.null(seed)) check_seed(seed)
  data <- read_log(log, context, progress = interactive())
  on.exit(close_spool(data$spool))
  target <- if (is_policy(target)) ope_target_policy(target, data, check_seed(seed)) else
    ope_target(target, data)
  warn_unseen_target(data, target)

  ratio <- function(block, before) { # finite, and so is a sum of many
    pmin(target$shown(block, before) / block_propensity(data, block), 1e300)
  }
  model <- if (any(c("dm", "dr") %in% estimator)) {
    ope_model(data, target, ridge, intercept = !inherits(context, "formula")) # a formula says if it has one
  }
  sums <- ope_sums(data, target, ratio, model, clip)
  effective <- sums$effective
  warn_overlap(data, effective)
  warn_certain(data, sums$certain, "the target")
  warn_weights(sums$weight, "of the target", lacking = sums$certain > 0 || effective < 10 ||
                 any(data$shown == 0 & target$plays))
  rows <- lapply(estimator, function(name) sums[[name]])
  estimate <- vapply(rows, `[[`, 0, 1)
  se <- vapply(rows, `[[`, 0, 2)
  sizes <- ifelse(estimator %in% c("dm", "dr"), pmin(effective, sums$modelled, na.rm = TRUE), effective)
  shared <- list(target = target$title, log = hash_log(data, target$matrix), clip = clip,
                 ridge = ridge, level = level, events = data$n, matched = sums$matched,
                 effective = effective, clipped = sums$clipped, logged = sums$logged, weight = sums$weight,
                 spread = sums$spread)
  new_result(
    c(list(estimator = estimator, estimate = estimate, se = se),
      ope_interval(estimate, se, sizes, sums$spread, level)),
    "dpts_ope", new_label(integer(), estimator, as.list(sizes), shared = shared) # a level stands for its size
  )
}

# ---- targets ------------------------------------------------------------------------------

# A target is a list: `title`; `shown(block, before)`, its probabilities of the logged arms of a block;
# `chances(block, before, a)`, those of arm a; and `plays`, whether it may play each arm.
ope_target <- function(target, data) {
  if (identical(target, "uniform") && !"uniform" %in% data$arms) {
    return(list(
      title = "uniform", plays = if (is.null(data$times)) rep(TRUE, data$k) else
        seq_len(data$k) %in% (data$pool_arms + 1L),
      shown = function(block, before) 1 / block_size(data, block),
      chances = function(block, before, a) offered(data, block, a) / block_size(data, block)
    ))
  }
  if (is.matrix(target)) return(ope_target_matrix(target, data))
  if (is.factor(target)) target <- as.character(target)
  arm <- if (is.atomic(target) && length(target) == 1) {
    match(as.character(target), as.character(data$arms))
  } else NA
  if (is.na(arm)) {
    abort_arg("target", sprintf(
      "\"uniform\", one of the log's arms (%s), a matrix of probabilities, or a policy",
      paste(c(utils::head(data$arms, 5), if (data$k > 5) "..."), collapse = ", ")
    ), target)
  }
  if (!all(pools_with(data, arm))) {
    abort_arg("target", sprintf("an arm of every pool; arm %s is missing from some", data$arms[arm]))
  }
  list(
    title = sprintf("arm %s", data$arms[arm]), plays = seq_len(data$k) == arm,
    shown = function(block, before) as.numeric(block$arm == arm - 1L),
    chances = function(block, before, a) rep(as.numeric(a == arm), length(block$arm))
  )
}

# A policy, as the matrix of its probabilities in a replay
ope_target_policy <- function(policy, data, seed) {
  if (!is_true_of(policy, "knows_chances")) {
    abort_arg("target", sprintf(
      "a policy that says its probabilities, such as policy_exp3(); policy \"%s\" does not", policy$name
    ))
  }
  policies <- stats::setNames(list(policy), policy$name)
  check_replay_fit(policies, data, "target")
  data$method <- auto_method(data)
  data$clipped <- 0
  job <- list(problems = list(list(delay = 0)), policies = policies, data = data, seed = seed,
              horizon = data$n, finish = FALSE, observers = "sums", chances = TRUE)
  chances <- replay_chunk(job, list(policy = 1, problem = 1, run = 1))
  target <- ope_target_matrix(t(chances), data)
  target$title <- sprintf("policy %s, as it learns", policy$name)
  target
}

ope_target_matrix <- function(target, data) {
  what <- sprintf("a matrix of probabilities with %d columns and 1 or %.0f rows", data$k, data$n)
  if (!is.numeric(target) || ncol(target) != data$k || !nrow(target) %in% c(1, data$n)) {
    abort_arg("target", what, target)
  }
  if (!all_inside(c(target), 0, 1, FALSE, FALSE) || any(abs(rowSums(target) - 1) > 1e-8)) {
    abort_arg("target", paste0(what, ", every row adding up to 1"))
  }
  if (!is.null(colnames(target))) {
    columns <- match(as.character(data$arms), colnames(target))
    if (anyNA(columns)) {
      abort_arg("target", sprintf("a matrix with a column for every arm; \"%s\" has none",
                                  data$arms[is.na(columns)][1]))
    }
    target <- target[, columns, drop = FALSE]
  }
  row <- function(block, before) {
    if (nrow(target) == 1) rep(1L, length(block$arm)) else before + seq_along(block$arm)
  }
  out <- list(
    title = "matrix of probabilities", matrix = target, plays = colSums(target) > 0,
    shown = function(block, before) target[cbind(row(block, before), block$arm + 1L)],
    chances = function(block, before, a) target[row(block, before), a]
  )
  if (!is.null(data$times)) {
    each_block(data, function(block, before) {
      inside <- Reduce(`+`, lapply(seq_len(data$k), function(a) {
        offered(data, block, a) * out$chances(block, before, a)
      }))
      if (any(inside < 1 - 1e-8)) {
        abort_arg("target", sprintf("a matrix that chooses only arms of the pool; row %.0f does not",
                                    before + which(inside < 1 - 1e-8)[1]))
      }
    })
  }
  out
}

# Which of the distinct pools have arm a?
pools_with <- function(data, a) {
  if (is.null(data$times)) return(TRUE)
  at <- findInterval(which(data$pool_arms == a - 1L) - 1, data$pool_start)
  seq_along(data$times) %in% at
}

# Was arm a on offer in each event?
offered <- function(data, block, a) {
  if (is.null(block$pool)) rep(TRUE, length(block$arm)) else pools_with(data, a)[block$pool + 1L]
}

warn_unseen_target <- function(data, target, call = caller_env()) {
  unseen <- which(data$shown == 0 & target$plays)
  if (length(unseen)) {
    rlang::warn(sprintf(
      "The target chooses arm %s, which the log never shows: no estimate can know its reward.",
      data$arms[unseen[1]]
    ), class = c("dpts_warning_overlap", "dpts_warning"), call = call)
  }
}

warn_overlap <- function(data, effective, call = caller_env()) {
  if (effective < 10) {
    rlang::warn(sprintf(
      "The log barely overlaps with the target: the effective sample size is %s of %.0f events.",
      number_text(signif(effective, 2)), data$n
    ), class = c("dpts_warning_overlap", "dpts_warning"), call = call)
  }
}

# ---- estimators ---------------------------------------------------------------------------

# All estimates with their standard errors, and the statistics of the weights. The events are read twice:
# for sums, and for squares about the means. `ratio`: The weights without clipping, a function of a block
# and of how many events come before it.
ope_sums <- function(data, target, ratio, model, clip) {
  n <- data$n
  most <- 0
  first <- sum_log(data, function(block, before) {
    whole <- ratio(block, before)
    w <- pmin(whole, clip)
    most <<- max(most, whole)
    certain <- is_certain(block_propensity(data, block)) & !is_certain(target$shown(block, before))
    list(w = w, wr = w * block$reward, r = block$reward, matched = w > 0, certain = certain,
         clipped = whole > clip)
  })
  ipw <- first[["wr"]] / n
  snipw <- if (first[["w"]] > 0) first[["wr"]] / first[["w"]] else NA_real_
  logged <- first[["r"]] / n
  # In units of the largest weight the squares of small ones vanish, but none overflows. Of clipped weights
  # the unit is a power of 2, so that it costs no digit.
  scale <- if (most > 0) most else 1
  unit <- 2^floor(log2(min(scale, clip)))
  wide <- max(unit, 1)
  second <- sum_log(data, function(block, before) {
    whole <- ratio(block, before)
    w <- pmin(whole, clip)
    r <- block$reward
    out <- list(ipw = ((w * r - ipw) / unit)^2, snipw = (w / unit)^2 * (r - snipw)^2, w = w / unit,
                ww = (w / unit)^2, whole = whole / scale, whole2 = (whole / scale)^2, r2 = (r - logged)^2)
    if (is.null(model)) return(out)
    q <- model$predict(block, before)
    # Centred near both means, so that squares lose no digits
    value <- q$value - model$centre
    dr <- (value + w * (r - q$shown)) / wide
    gain <- model$gain(block)
    c(out, list(value = value, value2 = value^2, dr = dr, dr2 = dr^2, noise = (gain * (r - q$shown))^2,
                gain = gain, gain2 = gain^2))
  })
  about <- function(name) mean_about(second[[name]], second[[paste0(name, "2")]], n)
  dm <- if (!is.null(model)) about("value")
  dr <- if (!is.null(model)) about("dr")
  weight <- about("whole")
  list(
    ipw = c(ipw, unit * sqrt(second[["ipw"]] / max(n - 1, 1)) / sqrt(n)),
    snipw = c(snipw, if (is.na(snipw)) NA else sqrt(second[["snipw"]]) / (first[["w"]] / unit)),
    dm = if (!is.null(model)) c(model$centre + dm[1], sqrt(second[["noise"]] + dm[2] / n)),
    dr = if (!is.null(model)) c(model$centre + wide * dr[1], wide * sqrt(dr[2] / n)),
    matched = first[["matched"]], clipped = first[["clipped"]],
    certain = first[["certain"]], logged = logged,
    effective = if (most > 0) second[["w"]]^2 / second[["ww"]] else 0,
    # Of the weights that the rewards have in the model's estimate
    modelled = if (!is.null(model)) second[["gain"]]^2 / second[["gain2"]],
    weight = scale * c(weight[1], if (n > 1) sqrt(weight[2] / n) else NA), # one event does not tell
    spread = if (logged %in% 0:1) 1 else second[["r2"]] / (n * logged * (1 - logged))
  )
}

# Mean and variance from sums of numbers and of their squares; a single number has the variance 0
mean_about <- function(sum, squares, n) c(sum / n, max(squares - sum^2 / n, 0) / max(n - 1, 1))

# A ridge regression for each arm, from sums over its events. `predict()` gives the predicted value of the
# target and of the logged arm, `gain()` the derivative of the target's mean value by the residual of an
# event; `centre` is the target's mean value. `intercept`: Is one added to the contexts?
ope_model <- function(data, target, ridge, intercept) {
  contexts <- function(block) {
    if (intercept) rbind(rep(1, length(block$arm)), block$context) else block$context
  }
  names <- c(if (intercept) "(Intercept)", data$context$names)
  d <- length(names)
  state <- NULL
  each_block(data, function(block, before) {
    state <<- .Call(C_log_products, state, block$arm, data$k, contexts(block), block$reward)
  }, "Estimating")
  products <- matrix(.Call(C_log_totals, state), ncol = data$k)
  seen <- which(data$shown > 0)
  # The target's mean context, for each arm that was seen
  means <- sum_log(data, function(block, before) {
    x <- contexts(block)
    unlist(lapply(seen, function(a) {
      chance <- target$chances(block, before, a)
      lapply(seq_len(d), function(i) chance * x[i, ])
    }), recursive = FALSE)
  }) / data$n
  means <- matrix(means, d)
  beta <- gain <- matrix(0, d, data$k)
  half <- d * (d + 1) / 2
  for (a in seen) {
    gram <- matrix(0, d, d)
    gram[upper.tri(gram, TRUE)] <- products[seq_len(half), a]
    gram <- gram + t(gram) - diag(diag(gram), d)
    if (!all(is.finite(gram))) {
      abort_input("context", "`context` must have smaller numbers: the sum of their squares is infinite.")
    }
    # Columns that add up to another one have an inverse, too, whatever their scale and `ridge`.
    penalty <- ifelse(names == "(Intercept)", 0, ridge + 1e-10 * ifelse(diag(gram) > 0, diag(gram), 1))
    gram <- gram + diag(penalty, d)
    size <- sqrt(diag(gram)) # of contexts in seconds since 1970, say
    inverse <- solve(gram / outer(size, size)) / outer(size, size)
    beta[, a] <- inverse %*% products[half + seq_len(d), a]
    gain[, a] <- inverse %*% means[, match(a, seen)]
  }
  # Summed term by term, so that an event's value does not depend on the size of its block
  times <- function(x, coefficients) {
    out <- 0
    for (i in seq_len(d)) out <- out + x[i, ] * coefficients(i)
    out
  }
  list(
    centre = sum(beta[, seen] * means),
    predict = function(block, before) {
      x <- contexts(block)
      value <- numeric(length(block$arm))
      for (a in seen) {
        value <- value + target$chances(block, before, a) * times(x, function(i) beta[i, a])
      }
      list(value = value, shown = times(x, function(i) beta[i, block$arm + 1L]))
    },
    gain = function(block) times(contexts(block), function(i) gain[i, block$arm + 1L])
  )
}
