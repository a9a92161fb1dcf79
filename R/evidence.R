# What was released proves: evidence between arms, effects and verdicts.

#' What the releases of a policy prove
#'
#' `evidence()` says how much the sums that a policy has released speak for one arm against another, at every release:
#' it may be looked at as often as one likes. `effects()` gives differences between arms with intervals, and `verdict()` says which arm is
#' proved to be the best. All of them are made of what was released: they cost no privacy.
#'
#' @section By means:
#' `"means"` is for every policy that releases sums of batches with noise of their own. A batch of L rewards with the
#' noisy sum y multiplies the evidence for a mean above theta by
#' e^(l y) / (1 - theta + theta e^l)^L / E e^(l noise), for tilts l that are fixed before the batch. W_ab is the least
#' over theta of the evidence that a's mean is above theta and that b's is below it. **It is proved for means that do not
#' change**: if a's mean is not above b's, the chance that W_ab ever reaches ln(1 / alpha) is at most alpha, whatever the policy does. A trend
#' that all arms share makes it void. Where rewards are late or batches overlap, the outcomes of different people must be independent,
#' given what was released.
#'
#' @section By tosses:
#' `"tosses"` is for [policy_randomised()], and holds **under any drift**: for each block the known chances of the
#' tosses turn numbers of people and noisy sums into a bet on "a is better than b on the average over the people so far". The chance that
#' a bet against the truth ever reaches ln(1 / alpha) is at most alpha, whatever means do. Intervals of `effects()` are
#' for that average, at all looks at once. With `permuted` blocks the bet is against "nobody does better under a", and there are no intervals.
#'
#' @section Lines:
#' Of k arms, a is proved to be the best once its evidence against all others is at least ln((k - 1) / `delta`):
#' wrong with chance `delta` at most. By tosses that needs one arm to be best at all times; under arbitrary drift
#' ln(k (k - 1) / `delta`) is the line for "no arm was better on average".
#'
#' @section Policies that minimise regret:
#' They starve the rivals of the best arm, in batches of one arm, so that evidence grows like the logarithm of
#' time: a verdict beside them is valid and comes late.
#'
#' @param x A result of [dpts_simulate()] with `history = TRUE`.
#' @param object The same.
#' @param kind By `"means"` or by `"tosses"`.
#' @param ... Must be empty: what follows is named.
#' @param delta The chance of a wrong verdict: a number in (0, 1).
#' @returns `evidence()`: a tibble, one row for each problem (if there are several), policy, run, release and ordered pair of arms:
#'   * `problem`, `policy`, `run`: as in the simulation;
#'   * `t`: the round after which something was released;
#'   * `arm`, `rival`: the pair, factors if arms have names, else numbers;
#'   * `evidence`: a natural logarithm: `arm` is proved to be better than `rival` when it is at least
#'   * `line`: ln((k - 1) / `delta`);
#'   * `p`: a p-value that holds at any look, e^-(the highest evidence so far), 1 at most.
#' @family evidence
#' @examples
#' arms <- arms_bernoulli(c(control = 0.5, new = 0.6))
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, runs = 2, seed = 1, history = TRUE)
#' evidence(sim, "tosses")
#' effects(sim)
#' verdict(sim)
#' @export
evidence <- function(x, kind = c("means", "tosses"), ...) UseMethod("evidence")

#' @export
evidence.default <- function(x, ...) abort_arg("x", "a result of `dpts_simulate(history = TRUE)`", x, rlang::current_env())

#' @export
#' @rdname evidence
evidence.dpts_simulation <- function(x, kind = c("means", "tosses"), ..., delta = 0.05) {
  check_dots_empty(...)
  kind <- check_choice(kind, c("means", "tosses"))
  delta <- check_number(delta, 0, 1, open = TRUE)
  records <- records_of(x, kind)
  rows <- lapply(records, function(record) {
    k <- record$k
    pairs <- ordered_pairs(k)
    found <- record_evidence(record, kind)
    w <- found$pair[, pairs$column, drop = FALSE]
    n <- nrow(w)
    list(t = rep(found$t, each = nrow(pairs)), arm = rep(pairs$arm, n), rival = rep(pairs$rival, n),
         evidence = as.vector(t(w)), line = rep(log(max(k - 1, 1) / delta), n * nrow(pairs)),
         p = as.vector(t(exp(-pmax(matrix(apply(w, 2, cummax), n), 0)))))
  })
  bind_records(x, records, rows)
}

#' @rdname evidence
#' @param control An arm, by name or number, against which the others are compared; `NULL`: all pairs.
#' @param level The intervals of all differences hold together, at all looks, with this probability.
#' @returns `effects()`: a tibble, one row for each problem, policy, run and pair of arms, from all that was released:
#'   * `arm`, `control`: the pair;
#'   * `difference`: an estimate of how much better `arm` is;
#'   * `lower`, `upper`: its interval: by tosses for the average over the people so far, whatever drifts, and by
#'     means, for policies that do not toss, for a difference that does not change;
#'   * `p`: for this pair alone, against "no difference", at any look.
#' @importFrom stats effects
#' @export
effects.dpts_simulation <- function(object, control = NULL, level = 0.95, ...) {
  check_dots_empty(...)
  level <- check_number(level, 0, 1, open = TRUE)
  records <- records_of(object, NULL)
  rows <- lapply(records, function(record) {
    pairs <- ordered_pairs(record$k)
    against <- control_arm(control, record$labels)
    pairs <- pairs[if (is.null(against)) pairs$arm > pairs$rival else pairs$rival == against, ]
    back <- pairs$rival + record$k * (pairs$arm - 1)
    line <- log(2 * nrow(pairs) / (1 - level))
    kind <- if (record$tosses && !record$permuted) "tosses" else "means"
    found <- record_evidence(record, kind, line = line)
    highest <- apply(found$pair, 2, max, 0, na.rm = TRUE)
    lower <- found$difference[pairs$column]
    upper <- -found$difference[back]
    estimate <- found$estimate(pairs$arm, pairs$rival)
    list(arm = pairs$arm, control = pairs$rival, difference = pmin(pmax(estimate, lower), upper), lower = lower,
         upper = upper, p = pmin(1, 2 * exp(-pmax(highest[pairs$column], highest[back]))))
  })
  bind_records(object, records, rows)
}

#' @export
stats::effects

#' @rdname evidence
#' @param margin The arm of a verdict may be less than this below the best: a number in \[0, 1).
#' @returns `verdict()`: a tibble, one row for each problem, policy and run:
#'   * `arm`: proved to be the best, `NA`: none yet;
#'   * `t`: the round after which that was so, or the last release;
#'   * `wrong`: a bound of the chance that it is not, at any look: (k - 1) e^-(the least evidence against
#'     another arm), 1 at most; without a verdict that of the arm that leads;
#'   * `missing`: what is missing, in words; `""` with a verdict.
#' @export
verdict <- function(x, delta = 0.05, margin = 0, ...) UseMethod("verdict")

#' @export
verdict.default <- function(x, ...) abort_arg("x", "a result of `dpts_simulate(history = TRUE)`", x, rlang::current_env())

#' @export
#' @rdname evidence
verdict.dpts_simulation <- function(x, delta = 0.05, margin = 0, ...) {
  check_dots_empty(...)
  delta <- check_number(delta, 0, 1, open = TRUE)
  margin <- check_number(margin, 0, 1, open = c(FALSE, TRUE))
  records <- records_of(x, NULL)
  rows <- lapply(records, function(record) {
    record_verdict(record, record_evidence(record, if (record$tosses) "tosses" else "means", margin), delta)
  })
  bind_records(x, records, rows)
}

record_verdict <- function(record, found, delta) {
  k <- record$k
  none <- list(arm = NA_integer_, t = NA_real_, wrong = 1, missing = "Nothing was released yet.")
  if (k == 1) return(utils::modifyList(none, list(arm = 1L, t = 0, wrong = 0, missing = "")))
  if (length(found$t) == 0) return(none)
  pairs <- ordered_pairs(k)
  line <- log((k - 1) / delta)
  w <- found$pair
  t <- found$t
  # Of each arm the least evidence against another
  least <- vapply(seq_len(k), function(a) {
    do.call(pmin, lapply(pairs$column[pairs$arm == a], function(column) w[, column]))
  }, numeric(nrow(w)))
  least <- matrix(least, ncol = k)
  proved <- which(least >= line, arr.ind = TRUE)
  if (nrow(proved)) {
    first <- proved[which.min(proved[, 1]), ]
    return(list(arm = as.integer(first[[2]]), t = t[first[[1]]],
                wrong = min(1, (k - 1) * exp(-max(least[, first[[2]]]))), missing = ""))
  }
  last <- nrow(w)
  leader <- which.max(least[last, ])
  columns <- pairs$column[pairs$arm == leader]
  rival <- pairs$rival[pairs$arm == leader][which.min(w[last, columns])]
  now <- least[last, leader]
  list(arm = NA_integer_, t = t[last], wrong = min(1, (k - 1) * exp(-max(least[, leader], 0))),
       missing = sprintf(
         "%s leads %s by %s; %s.", record$labels[leader], record$labels[rival],
         number_text(signif(found$estimate(leader, rival), 2)),
         if (now < 0.5) "it is too early to say how long it will take" else
           sprintf("at this pace about %s more people", label_count(signif(t[last] * (line - now) / now, 2)))
       ))
}

# ---- records of releases ------------------------------------------------------------------------

#' Without the room that was not used
#' @noRd
trim_releases <- function(kept) kept[seq_len(min(length(kept), 1 + 5 * kept[1]))]

#' What was released in each run, and with which noise
#' @param kind `"means"`, `"tosses"`, or NULL for what the policy allows.
#' @noRd
records_of <- function(x, kind, call = caller_env()) {
  check_result(x, labels = TRUE, call = call)
  kept <- runs_in(x)
  if (!"releases" %in% names(kept) || any(lengths(kept$releases) == 0)) {
    abort_dpts(c("`x` must hold its history.", i = "`dpts_simulate(history = TRUE)` keeps it."),
               c("dpts_error_history", "dpts_error_input"), call, arg = "x")
  }
  policies <- things_of(x$policy)
  check_concludes(policies[unique(as.character(kept$policy))], call = call)
  problems <- problems_of(x)
  at <- problem_at(kept)
  lapply(seq_along(kept$run), function(i) {
    policy <- policies[[as.character(kept$policy[i])]]
    arms <- problems[[at[i]]]$arms
    tosses <- is_true_of(policy, "knows_chances")
    if (identical(kind, "tosses") && !tosses) {
      abort_dpts(sprintf("`kind` must be \"means\" for policy \"%s\", which does not toss people to arms.",
                         as.character(kept$policy[i])),
                 c("dpts_error_verdict", "dpts_error_input"), call, arg = "kind")
    }
    numbers <- kept$releases[[i]]
    if (length(numbers) < 1 + 5 * numbers[1]) {
      abort_dpts("`x` must have few enough releases to keep them: at most 10,000 in a run.",
                 c("dpts_error_history", "dpts_error_input"), call, arg = "x")
    }
    rows <- matrix(numbers[-1], 5)
    report <- matrix(kept$report[[i]], ncol = n_arms(arms))
    list(k = n_arms(arms), labels = arm_labels(arms), arm = as.integer(rows[1, ]), t = rows[2, ], size = rows[3, ],
         sum = rows[4, ], chance = rows[5, ], noise = c(report[3, 1], report[5, 1], 0), tosses = tosses,
         permuted = tosses && policy$params$permuted > 0, least = toss_least(policy, n_arms(arms)))
  })
}

#' All ordered pairs of arms, and the column of each in what the kernels return
#' @noRd
ordered_pairs <- function(k) {
  pairs <- expand.grid(rival = seq_len(k), arm = seq_len(k))
  pairs <- pairs[pairs$arm != pairs$rival, c("arm", "rival")]
  pairs$column <- pairs$arm + k * (pairs$rival - 1)
  pairs
}

#' @returns list(t, pair, difference, estimate): the rounds after which something was released; the evidence
#'   then, with a column for each pair; lower bounds of differences at the end; and a function of two arms that
#'   estimates their difference
#' @noRd
record_evidence <- function(record, kind, margin = 0, line = 1) {
  k <- record$k
  if (kind == "means") {
    out <- .Call(C_evidence_means, k, record$arm, record$size, record$sum, record$noise, margin, 0.05, line)
    looks <- which(!duplicated(record$t, fromLast = TRUE))
    return(list(t = record$t[looks], pair = out$pair[looks, , drop = FALSE], difference = out$difference,
                estimate = function(a, b) out$mean[a] - out$mean[b]))
  }
  # In a block arms come in their order.
  block <- cumsum(c(TRUE, diff(record$arm) <= 0 | diff(record$t) > 0))[seq_along(record$arm)]
  blocks <- max(block, 0)
  table <- function(x) {
    m <- matrix(0, k, blocks)
    m[cbind(record$arm, block)] <- ifelse(is.nan(record$chance), 0, x)
    m
  }
  n <- table(record$size)
  y <- table(record$sum)
  out <- .Call(C_evidence_tosses, table(record$chance), n, y, record$noise, record$permuted, record$least, line,
               margin)
  last <- which(!duplicated(block, fromLast = TRUE))
  looks <- which(!duplicated(record$t[last], fromLast = TRUE))
  list(t = record$t[last[looks]], pair = out$pair[looks, , drop = FALSE],
       difference = if (blocks) matrix(out$lower[blocks, ], k) else matrix(-1, k, k),
       estimate = function(a, b) {
         mapply(function(a, b) {
           both <- n[a, ] > 0 & n[b, ] > 0
           weight <- (n[a, ] + n[b, ])[both]
           sum(weight * (y[a, both] / n[a, both] - y[b, both] / n[b, both])) / sum(weight)
         }, a, b)
       })
}

control_arm <- function(control, labels, call = caller_env(2)) {
  if (is.null(control)) return(NULL)
  at <- if (is.character(control)) match(control, labels) else control
  if (length(at) != 1 || !at %in% seq_along(labels)) {
    abort_arg("control", sprintf("one of the arms: %s", words_list(labels)), control, call)
  }
  as.integer(at)
}

#' The rows of all runs, with what they belong to in front
#' @noRd
bind_records <- function(x, records, rows) {
  kept <- runs_in(x)
  n <- vapply(rows, function(r) length(r[[1]]), 0L)
  each <- function(column) rep(column, n)
  columns <- lapply(stats::setNames(nm = names(rows[[1]])), function(name) {
    unlist(lapply(rows, `[[`, name), use.names = FALSE)
  })
  for (name in intersect(c("arm", "rival", "control"), names(columns))) {
    columns[[name]] <- arm_column(problems_of(x), each(problem_at(kept)), columns[[name]])
  }
  tibble::new_tibble(c(if (has_problems(x)) list(problem = each(kept$problem)),
                       list(policy = each(kept$policy), run = each(whole(kept$run))), columns), nrow = sum(n))
}

#' Policies of which a verdict can be had: they release sums of batches, each reward in one of them
#' @noRd
check_concludes <- function(policies, delta = NULL, margin = NULL, call = caller_env()) {
  for (name in names(policies)) {
    policy <- policies[[name]]
    why <- if (!releases_batches(policy)) {
      "releases no sums of batches with noise of their own, from which evidence is made"
    } else if (!is.null(policy$params$margin) && !is.null(delta) &&
               (policy$params$delta != delta || policy$params$margin != margin)) {
      sprintf("has the delta %s and the margin %s, and here they are %s and %s",
              number_text(policy$params$delta), number_text(policy$params$margin),
              number_text(delta), number_text(margin))
    }
    if (!is.null(why)) {
      abort_dpts(sprintf("`policies` must allow a verdict: policy \"%s\" %s.", name, why),
                 c("dpts_error_verdict", "dpts_error_input"), call, arg = "policies")
    }
  }
}

#' Does a policy release sums of batches, each with noise that no other sum has?
#' @noRd
releases_batches <- function(policy) {
  !inherits(policy, "dpts_policy_wrapped") && is_true_of(policy, "each_once") && !(policy$params$correlation %||% 0) > 0
}
