#' Estimate a policy's value from a log
#'
#' Off-policy estimates of the mean reward that a fixed policy, the target, would have had,
#' from a log that another policy made.
#'
#' @details
#' With w = (target's chance of the shown arm) / propensity, cut at `clip`, r the
#' rewards and q(x, a) a model of the mean reward of arm a in context x:
#'
#' * `"ipw"`, inverse propensity weighting: mean(w r). Unbiased without clipping;
#' * `"snipw"`, self-normalised: sum(w r) / sum(w). Does not change when rewards are
#'   shifted, and has less variance;
#' * `"dm"`, direct method: the mean over events of sum_a target(a) q(x, a). As good as
#'   the model;
#' * `"dr"`, doubly robust (Dudik, Langford and Li 2011): the direct method plus
#'   mean(w (r - q(x, shown arm))).
#'
#' The model is a ridge regression of the reward on the context for each arm (with an
#' intercept that is not penalised when there are no contexts): without contexts, each
#' arm's mean reward. It is fitted on the same log.
#'
#' Standard errors: of the mean of w r for `"ipw"`; of the ratio, linearised, for
#' `"snipw"`; for `"dm"` from the regressions' residuals (sandwich) and the spread of
#' contexts, leaving out what the model gets wrong; for `"dr"` of the mean of its terms,
#' the model taken as given. They rest on the central limit theorem, which is a poor guide when few
#' events carry most of the weight: the effective sample size, (sum w)^2 / sum w^2, is
#' shown when the result is printed, and a warning is given where it is below 10, or where
#' the target plays arms that the log never shows.
#'
#' @inheritParams dpts_replay
#' @param target `"uniform"` (over each event's pool); an arm, by its own name in the log;
#'   or a matrix of probabilities with one row per event and one column per arm, in the
#'   order of arms (see [dpts_replay()]) or named by arm. A matrix of one row stands for
#'   all events.
#' @param ... Must be empty: what follows is named.
#' @param estimator Which estimators.
#' @param clip Larger weights are set to this number, above 0; `Inf` leaves them as they are. Clipping
#'   trades bias for variance.
#' @param context Contexts for the model of `"dm"` and `"dr"`, as in [dpts_replay()], but
#'   `NULL` means none.
#' @param ridge Penalty of the regressions when there are contexts: a number, at least 0.
#' @param level Confidence level: a number in (0, 1).
#' @returns A tibble of class `dpts_ope`, one row per estimator:
#'   * `estimator`: character;
#'   * `estimate`: of the target's mean reward;
#'   * `se`: its standard error;
#'   * `lower`, `upper`: the confidence interval estimate -/+ z `se`.
#' @references Dudik, M., Langford, J. and Li, L. (2011). Doubly Robust Policy Evaluation
#' and Learning. ICML. arXiv:1103.4601.
#'
#' Swaminathan, A. and Joachims, T. (2015). The Self-Normalized Estimator for
#' Counterfactual Learning. NeurIPS.
#' @family logged data
#' @examples
#' # The value of the uniform policy, from the log of another one
#' bts <- open_bandit[open_bandit$logger == "bts", ]
#' dpts_ope(bts, "uniform")
#' # Always item 0, from the log of the uniform policy
#' dpts_ope(open_bandit[open_bandit$logger == "random", ], 0)
#' @export
dpts_ope <- function(log, target, ..., estimator = c("ipw", "snipw", "dm", "dr"), clip = Inf,
                     context = NULL, ridge = 1, level = 0.95) {
  check_dots_empty(...)
  call <- rlang::current_env()
  data <- read_log(log)
  check_given(target, "target", call)
  target <- ope_target(target, data, call)
  estimator <- unique(check_choice(estimator, c("ipw", "snipw", "dm", "dr"), several = TRUE))
  clip <- check_number(clip, 0, open = c(TRUE, FALSE), inf = TRUE)
  ridge <- check_number(ridge, 0)
  check_number(level, 0, 1, open = TRUE)
  x <- if (!is.null(context)) t(log_contexts(log, context, call))

  w <- pmin(target$shown / data$propensity, clip)
  warn_ope(data, target, w)
  model <- if (any(c("dm", "dr") %in% estimator)) ope_model(data, target, x, ridge)
  rows <- lapply(estimator, function(name) {
    switch(name, ipw = ope_mean(w * data$reward), snipw = ope_ratio(w, data$reward),
           dm = model$dm, dr = ope_mean(model$value + w * (data$reward - model$shown)))
  })
  estimate <- vapply(rows, `[[`, 0, 1)
  se <- vapply(rows, `[[`, 0, 2)
  z <- stats::qnorm((1 + level) / 2)
  new_result(
    list(estimator = estimator, estimate = estimate, se = se, lower = estimate - z * se,
         upper = estimate + z * se),
    "dpts_ope", "estimator",
    shared = list(target = target$title, log = hash_log(list(data, target, x)), clip = clip,
                  ridge = ridge, level = level, events = data$n, matched = sum(w > 0),
                  effective = effective_size(w),
                  clipped = sum(target$shown / data$propensity > clip),
                  logged = mean(data$reward))
  )
}

#' The target's chance of the shown arm, and its chances of all arms: a function of events
#' and arm
#' @noRd
ope_target <- function(target, data, call) {
  if (identical(target, "uniform") && !"uniform" %in% data$arms) {
    return(list(title = "uniform", shown = 1 / data$size, uniform = TRUE))
  }
  if (is.matrix(target)) return(ope_target_matrix(target, data, call))
  if (is.factor(target)) target <- as.character(target)
  arm <- if (is.atomic(target) && length(target) == 1 && !is.na(target)) {
    match(as.character(target), as.character(data$arms))
  } else NA
  if (is.na(arm)) {
    abort_arg("target", sprintf(
      "\"uniform\", one of the log's arms (%s), or a matrix of probabilities",
      paste(c(utils::head(data$arms, 5), if (data$k > 5) "..."), collapse = ", ")
    ), target, call)
  }
  if (!is.null(data$pool)) {
    offers <- vapply(seq_along(data$pool_start[-1]), function(p) {
      (arm - 1L) %in% data$pool_arms[(data$pool_start[p] + 1):data$pool_start[p + 1]]
    }, NA)
    if (!all(offers[data$pool + 1])) {
      abort_arg("target", sprintf("an arm of every pool; arm %s is missing from some",
                                  data$arms[arm]), call = call)
    }
  }
  list(title = sprintf("arm %s", data$arms[arm]), shown = as.numeric(data$arm == arm - 1L),
       arm = arm)
}

ope_target_matrix <- function(target, data, call) {
  what <- sprintf("a matrix of probabilities with %d columns and 1 or %d rows", data$k, data$n)
  if (!is.numeric(target) || ncol(target) != data$k || !nrow(target) %in% c(1, data$n)) {
    abort_arg("target", what, target, call)
  }
  if (!all_inside(c(target), 0, 1, FALSE, FALSE) || any(abs(rowSums(target) - 1) > 1e-8)) {
    abort_arg("target", paste0(what, ", every row adding up to 1"), call = call)
  }
  if (!is.null(colnames(target))) {
    columns <- match(as.character(data$arms), colnames(target))
    if (anyNA(columns)) {
      abort_arg("target", sprintf("a matrix with a column for every arm; \"%s\" has none",
                                  data$arms[is.na(columns)][1]), call = call)
    }
    target <- target[, columns, drop = FALSE]
  }
  row <- if (nrow(target) == 1) rep(1L, data$n) else seq_len(data$n)
  if (!is.null(data$pool)) {
    inside <- vapply(seq_len(data$n), function(i) {
      p <- data$pool[i] + 1
      at <- data$pool_arms[(data$pool_start[p] + 1):data$pool_start[p + 1]] + 1
      sum(target[row[i], at])
    }, 0)
    if (any(inside < 1 - 1e-8)) {
      abort_arg("target", sprintf("a matrix that plays only arms of the pool; row %d does not",
                                  which(inside < 1 - 1e-8)[1]), call = call)
    }
  }
  list(title = "matrix of probabilities", shown = target[cbind(row, data$arm + 1L)],
       matrix = target, row = row)
}

#' The target's chances of arm a in all events
#' @noRd
target_chances <- function(target, data, a) {
  if (!is.null(target$arm)) return(rep(as.numeric(a == target$arm), data$n))
  if (!is.null(target$matrix)) return(target$matrix[target$row, a])
  if (is.null(data$pool)) return(rep(1 / data$k, data$n))
  offered <- logical(length(data$pool_start) - 1)
  offered[findInterval(which(data$pool_arms == a - 1L) - 1, data$pool_start)] <- TRUE
  ifelse(offered[data$pool + 1L], 1 / data$size, 0)
}

warn_ope <- function(data, target, w, call = caller_env()) {
  shown <- tabulate(data$arm + 1L, data$k)
  for (a in which(shown == 0)) {
    if (any(target_chances(target, data, a) > 0)) {
      rlang::warn(sprintf(
        "The target plays arm %s, which the log never shows: no estimate can know its reward.",
        data$arms[a]
      ), class = c("dpts_warning_overlap", "dpts_warning"), call = call)
      break
    }
  }
  effective <- effective_size(w)
  if (effective < 10) {
    rlang::warn(sprintf(
      "The log barely overlaps with the target: the effective sample size is %s of %d events.",
      format(signif(effective, 2)), data$n
    ), class = c("dpts_warning_overlap", "dpts_warning"), call = call)
  }
}

effective_size <- function(w) {
  if (all(w == 0)) return(0)
  w <- w / max(w)
  sum(w)^2 / sum(w^2)
}

ope_mean <- function(x) c(mean(x), stats::sd(x) / sqrt(length(x)))

ope_ratio <- function(w, r) {
  if (sum(w) == 0) return(c(NA_real_, NA_real_))
  estimate <- sum(w * r) / sum(w)
  c(estimate, sqrt(sum(w^2 * (r - estimate)^2)) / sum(w))
}

#' A regression for each arm; what it says about the target and about the shown arms
#' @noRd
ope_model <- function(data, target, x, ridge) {
  n <- data$n
  bare <- is.null(x)
  if (bare) x <- matrix(1, n, 1)
  d <- ncol(x)
  value <- shown <- numeric(n)
  noise <- 0
  for (a in seq_len(data$k)) {
    rows <- which(data$arm == a - 1L)
    chance <- target_chances(target, data, a)
    if (length(rows) == 0) next
    xa <- x[rows, , drop = FALSE]
    inverse <- solve(crossprod(xa) + diag(if (bare) 0 else ridge + 1e-10, d))
    beta <- inverse %*% crossprod(xa, data$reward[rows])
    q <- drop(x %*% beta)
    value <- value + chance * q
    shown[rows] <- q[rows]
    # The target's mean value moves by g per residual of this arm.
    g <- drop(xa %*% (inverse %*% colMeans(chance * x)))
    noise <- noise + sum((g * (data$reward[rows] - q[rows]))^2)
  }
  list(dm = c(mean(value), sqrt(noise + stats::var(value) / n)), value = value, shown = shown)
}
