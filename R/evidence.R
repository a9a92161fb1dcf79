# What was released proves: evidence between arms, effects and verdicts.
#
# All of it is made of *records* of what was released, one for each run, or one for an agent. Whatever has
# such records has a method of release_records(), and then evidence(), effects() and verdict(). It returns
#   keys      a named list of columns with an element for each record, which come before what is said of it
#   arms      a function of numbers of records and of arms (vectors of one length): the arms as a column
#   records   a list of new_record(policy, name, labels, noise, releases, width):
#     policy    the policy, as it was made, and `name`, how errors call it
#     labels    the arms in words
#     noise     c(kind, scale, rounding) of every release: kind 1 Laplace, 2 Gaussian, with that scale or sd,
#               0: none; rounding: half a step of the grid of a rounded Gaussian. Of a live session
#               live_noise() gives it. (new_record() adds the correlation, from the policy.)
#     releases  the release table: a matrix with the columns RELEASE and a row for each arm and release, in
#               the order of the releases, arms of a block in theirs:
#       arm       its number, from 1
#       t         the round (number of people so far) after which it was released
#       size      rewards in it; where people are tossed, those tossed to the arm in the block, also 0 of them
#       sum       the noisy sum of these rewards, scaled to [0, 1]
#       chance    with which each person of the block was tossed to the arm; 0: not tossed
#       terms     variables of noise in the sum: 1 for each batch
#       whole     1; 0 if it was released at the end while rewards were out: it counts for sums, and proves
#                 nothing
#     arms      which of all `ever` arms it is about: what others released counts for these as it did before
#     width     of the range of rewards, of bits in units of their mean: effects are in it; `most`: of the
#               range
# A simulation and a replay keep these rows by the observer "releases"; a live session gives those since
# the last call by session$sums(), after each reward and after the end.

# The columns of the release table, as src/play_observer_releases.c and src/r_session.c write them
RELEASE <- c("arm", "t", "size", "sum", "chance", "terms", "whole")

#' What the releases of a policy prove
#'
#' Says whether an arm is already proved to be better than another, from what was published. `evidence()` says
#' how much the sums that a policy has released speak for one arm against another, at every release: it may be
#' looked at as often as one likes. `effects()` gives differences between arms with intervals, and `verdict()`
#' says which arm is proved to be the best. All of them are made of what was released: they cost no privacy.
#'
#' @section By means:
#' `"means"` is for every policy that releases sums of batches. A batch of L rewards with the noisy sum y
#' multiplies the evidence for a mean above theta by e^(l y) / (1 - theta + theta e^l)^L / E e^(l noise), for
#' tilts l that are fixed before the batch. W_ab is the least over theta of the evidence that a's mean is
#' above theta and that b's is below it. **It is proved for means that do not change**: if a's mean is not
#' above b's, the chance that W_ab ever reaches ln(1 / alpha) is at most alpha, whatever the policy does. A
#' trend that all arms share makes it void. Where rewards are late or batches overlap, the outcomes of
#' different people must be independent, given what was released, and how late a reward is must not depend on
#' it (with `use = "deadline"` an agent's never does).
#'
#' Beside correlated noise (`correlation` of [policy_gaussian_imed()]) a tenth of `delta` is given to a bound
#' of the last release's noise, which later releases take back (a fifth for intervals); shares of the capital,
#' announced one release ahead, are valued without that bound. It costs up to 10% more people than independent
#' noise.
#'
#' Of [policy_local()] the bits are evidence, as rewards without noise, if the policy inside promises nothing
#' itself: by its own batches or blocks, or, where it gathers none, in groups that grow by a tenth, in the
#' order in which they come: how late a bit is must then not depend on the reward. Differences and margins are
#' those of rewards: the bits', over 1 - 2 / (1 + e^`epsilon`).
#'
#' @section By tosses:
#' `"tosses"` is for [policy_randomised()], and holds **under any drift**: for each block the known chances of
#' the tosses turn numbers of people and noisy sums into a bet on "a is better than b on the average over the
#' people so far who were tossed to one of the two". The chance that a bet against the truth ever reaches
#' ln(1 / alpha) is at most alpha, whatever means do. Intervals of `effects()` are for that average, at all
#' looks at once. (With a third arm and chances that change it is not the average over everybody.) With
#' `permuted` blocks the bet is against "nobody does better under a", and there are no intervals.
#'
#' @section Lines:
#' Of k arms, a is proved to be the best once its evidence against all others is at least ln((k - 1) /
#' `delta`): wrong with chance `delta` at most. By tosses that needs one arm to be best at all times; under
#' arbitrary drift ln(k (k - 1) / `delta`) is the line for "no arm was better on that average".
#'
#' @section Policies that minimise regret:
#' They starve the rivals of the best arm, in batches of one arm, so that evidence grows like the logarithm of
#' time: a verdict beside them is valid and comes late. At 0.6 against 0.5, `delta` 0.05, [policy_top_two()]
#' with mu = 0.5 takes 1,290 people in the mean; [policy_gaussian_imed()] has no verdict within a million
#' people in 80 of 100 runs, and [policy_dp_imed()] with epsilon = 1 in 22 of 100 (median 66,000).
#'
#' @section Agents whose arms come and go:
#' Once arms were added ([agent_arms()]), each of the m arms of the beginning has the share `delta` / (m + 1)
#' of the chance of a wrong verdict, and the j-th arm in all `delta` / (j (j + 1)), whatever comes later: a
#' verdict is wrong with chance `delta` at most, and one that was reached before is a statement of its own.
#' Retired arms are left out; the share is then divided by the number of all other arms ever, for which arms
#' are retired may follow what was released. For the same reason the intervals of `effects()` allow for all
#' arms ever; those of an arm that was added hold each for itself.
#'
#' @section The end:
#' What is released at the end as it is ([dpts_simulate()] and [dpts_replay()] with `finish = TRUE`) is
#' evidence only if all its rewards are in. While some are out it counts for sums alone: people who still wait
#' would count as 0, and an arm whose rewards come quickly would beat one of the same mean.
#'
#' @param x A result of [dpts_simulate()] with `history = TRUE`, of [dpts_replay()] (of a log that is not
#'   uniform by `method = "rejection"`, which alone gives arms comparable people), or an agent.
#' @param object The same.
#' @param kind By `"means"` or by `"tosses"`.
#' @param ... Must be empty: what follows is named.
#' @param delta The chance of a wrong verdict: a number in (0, 1).
#' @returns `evidence()`: a tibble, one row for each problem (if there are several), policy, run, release and
#'   ordered pair of arms:
#'   * `problem`, `policy`, `run`, of a replay also `delay`: as in the result; an agent has none of them;
#'   * `t`: the round after which something was released;
#'   * `arm`, `rival`: the pair, factors if arms have names, else numbers;
#'   * `evidence`: a natural logarithm: `arm` is proved to be better than `rival` when it is at least
#'   * `line`: ln((k - 1) / `delta`), or as said for agents whose arms come and go;
#'   * `p`: a p-value that holds at any look, e^-(the highest evidence so far), 1 at most.
#' @family evidence
#' @examples
#' arms <- arms_bernoulli(c(control = 0.5, new = 0.6))
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, runs = 2, seed = 1, history = TRUE)
#' evidence(sim, "tosses")
#' effects(sim)
#' verdict(sim)
#' @export
evidence <- function(x, kind = c("means", "tosses"), ..., delta = 0.05) {
  check_all_given()
  check_dots_empty(...)
  kind <- check_choice(kind, c("means", "tosses"))
  delta <- check_number(delta, 0, 1, open = TRUE)
  each_record(x, function(record) {
    pairs <- ordered_pairs(record$k)
    to <- noise_share(record$noise[[4]], record$ever, delta)
    line <- -log(record$share * to$left)
    found <- record_evidence(record, kind, risk = to$risk, cash = max(line))
    w <- found$pair[, pairs$column, drop = FALSE]
    n <- nrow(w)
    list(t = rep(found$t, each = nrow(pairs)), arm = rep(pairs$arm, n), rival = rep(pairs$rival, n),
         evidence = as.vector(t(w)), line = rep(line[pairs$arm], n),
         p = pmin(as.vector(t(2 * to$risk + exp(-matrix(apply(w, 2, cummax), n)))), 1))
  }, kind, "dpts_evidence")
}

#' @rdname evidence
#' @param control An arm, by name or number, against which the others are compared; `NULL`: all pairs.
#' @param level The intervals of all differences hold together, at all looks, with this probability.
#' @returns `effects()`: a tibble, one row for each problem, policy, run and pair of arms, from all that was
#'   released:
#'   * `arm`, `control`: the pair;
#'   * `difference`: an estimate of how much better `arm` is, `NA` while nothing was released of one of them;
#'   * `lower`, `upper`: its interval: by tosses for the average over the people so far who were tossed
#'     to one of the two, whatever drifts, and by means, for policies that do not toss, for a difference that
#'     does not change: a message says so once in a session;
#'   * `p`: for this pair alone, against "no difference", at any look.
#' @export
effects.dpts_simulation <- function(object, control = NULL, level = 0.95, ...) {
  check_dots_empty(...)
  level <- check_number(level, 0, 1, open = TRUE)
  each_record(object, function(record) {
    pairs <- ordered_pairs(record$k)
    against <- control_arm(control, record$labels)
    pairs <- pairs[if (is.null(against)) pairs$arm > pairs$rival else pairs$rival == against, ]
    back <- pairs$rival + record$k * (pairs$arm - 1)
    to <- noise_share(record$noise[[4]], record$ever, 1 - level, signs = 2)
    kind <- if (record$tosses && !record$permuted) "tosses" else "means"
    among <- if (is.null(against)) choose(record$ever, 2) else record$ever - 1
    found <- record_evidence(record, kind, line = log(2 * among / to$left), risk = to$risk)
    highest <- apply(found$pair, 2, max, 0, na.rm = TRUE)
    lower <- found$difference[pairs$column]
    upper <- -found$difference[back]
    estimate <- pmin(pmax(found$estimate(pairs$arm, pairs$rival), lower), upper)
    scaled <- lapply(list(difference = estimate, lower = lower, upper = upper), function(d) {
      pmin(pmax(d * record$width, -record$most), record$most)
    })
    list(arm = pairs$arm, control = pairs$rival, difference = scaled$difference, lower = scaled$lower,
         upper = scaled$upper,
         p = pmin(1, 4 * to$risk + 2 * exp(-pmax(highest[pairs$column], highest[back]))))
  }, class = "dpts_effects")
}

#' @rdname evidence
#' @export
effects.dpts_replay <- effects.dpts_simulation

#' @rdname evidence
#' @export
effects.dpts_agent <- effects.dpts_simulation

#' @rdname evidence
#' @param margin The arm of a verdict may be less than this below the best: a number in \[0, 1).
#' @returns `verdict()`: a tibble, one row for each problem, policy and run:
#'   * `arm`: proved to be the best, `NA`: none yet;
#'   * `t`: the round after which that was so, or the last release;
#'   * `wrong`: a bound of the chance that it is not, at any look: e^-(the least evidence against another arm)
#'     over the arm's share of `delta`, 1 at most; without a verdict that of the arm that leads;
#'   * `missing`: what is missing, in words; `""` with a verdict. It is printed below the table.
#' @export
verdict <- function(x, delta = 0.05, margin = 0, ...) {
  check_all_given()
  check_dots_empty(...)
  delta <- check_number(delta, 0, 1, open = TRUE)
  margin <- check_number(margin, 0, 1, open = c(FALSE, TRUE))
  each_record(x, function(record) record_verdict(record, delta, margin), class = "dpts_verdict")
}

# What is missing is in sentences, below the table.
#' @export
format.dpts_verdict <- function(x, ..., width = min(getOption("width"), 80)) {
  if (!"missing" %in% names(x)) return(NextMethod())
  width <- check_width(width)
  open <- which(nzchar(x$missing))
  shown <- utils::head(open, 10)
  row <- if (nrow(x) > 1) sprintf(", row %d", shown) else ""
  c(format(bare(x)[names(x) != "missing"], ..., width = width),
    strwrap(paste0("missing", row, ": ", x$missing[shown], recycle0 = TRUE), width - 1, exdent = 2),
    if (length(open) > 10) sprintf("... and of %s.", count_noun(length(open) - 10, "more row", "more rows")))
}

#' @export
print.dpts_verdict <- function(x, ...) print_lines(x, ...)

record_verdict <- function(record, delta = 0.05, margin = 0) {
  k <- record$k
  none <- list(arm = NA_integer_, t = NA_real_, wrong = 1, missing = "Nothing was released yet.")
  if (k == 1) return(utils::modifyList(none, list(arm = 1L, t = 0, wrong = 0, missing = "")))
  to <- noise_share(record$noise[[4]], record$ever, delta)
  line <- -log(record$share * to$left)
  found <- record_evidence(record, if (record$tosses) "tosses" else "means", margin / record$width,
                           risk = to$risk, cash = max(line))
  if (length(found$t) == 0) return(none)
  noise <- to$risk * record$ever
  pairs <- ordered_pairs(k)
  w <- found$pair
  t <- found$t
  # Of each arm the least evidence against another
  least <- vapply(seq_len(k), function(a) {
    do.call(pmin, lapply(pairs$column[pairs$arm == a], function(column) w[, column]))
  }, numeric(nrow(w)))
  least <- matrix(least, ncol = k)
  proved <- which(least >= rep(line, each = nrow(least)), arr.ind = TRUE)
  if (nrow(proved)) {
    first <- proved[which.min(proved[, 1]), ]
    return(list(arm = as.integer(first[[2]]), t = t[first[[1]]],
                wrong = min(1, noise + exp(-max(least[, first[[2]]])) / record$share[first[[2]]]),
                missing = ""))
  }
  last <- nrow(w)
  leader <- which.max(least[last, ])
  columns <- pairs$column[pairs$arm == leader]
  rival <- pairs$rival[pairs$arm == leader][which.min(w[last, columns])]
  now <- least[last, leader]
  line <- line[leader]
  lead <- found$estimate(leader, rival) * record$width
  silent <- record$labels[!record$arms %in% record$releases[record$releases[, "size"] > 0, "arm"]]
  standing <- if (length(silent)) paste("Nothing was released yet of", words_list(silent, most = 4)) else {
    two <- record$labels[c(leader, rival)]
    if (isTRUE(lead > 0)) sprintf("%s leads %s by %s", two[1], two[2], number_text(signif(lead, 2))) else
      sprintf("%s and %s are about equal", two[1], two[2])
  }
  wrong <- min(1, noise + exp(-max(least[, leader], 0)) / record$share[leader])
  list(arm = NA_integer_, t = t[last], wrong = wrong,
       missing = sprintf(
         "%s; %s.", standing,
         if (now < 0.5) "too early to say how many more people" else
           sprintf("at this pace about %s more people", label_count(signif(t[last] * (line - now) / now, 2)))
       ))
}

# ---- records of releases ------------------------------------------------------------------------

# What was released in each run, and with which noise
# Returns list(keys, arms, records), as at the head of this file
release_records <- function(x) UseMethod("release_records")

#' @export
release_records.default <- function(x) {
  abort_arg("x", "a result of `dpts_simulate(history = TRUE)` or `dpts_replay()`, or an agent", x)
}

#' @export
release_records.dpts_simulation <- function(x) {
  check_result(x, labels = TRUE)
  kept <- runs_in(x)
  policies <- things_of(x$policy)[as.character(kept$policy)]
  check_concludes(policies[unique(names(policies))], arg = "x")
  if (!"releases" %in% names(kept) || any(lengths(kept$releases) == 0)) {
    abort_input("x", "`x` must hold its history.", class = "dpts_error_history",
                hint = "`dpts_simulate(history = TRUE)` keeps it.")
  }
  own <- run_keys(x, kept)
  c(own[c("keys", "arms")], list(records = lapply(seq_along(policies), function(i) {
    numbers <- kept$releases[[i]]
    check_rows(numbers, policies[i], sum(kept$pulls[[i]]))
    new_record(policies[[i]], names(policies)[i], as.character(own$arms(i, seq_along(kept$pulls[[i]]))),
               c(kept$report[[i]][match(c("kind", "scale"), REPORT)], 0),
               t(matrix(numbers[-1], length(RELEASE))), diff(own$range[, i]))
  })))
}

#' @export
release_records.dpts_replay <- function(x) {
  check_result(x, labels = TRUE)
  # Weights correct averages; what the policy has seen, and released, still favours what the logger did.
  if (!shared(x, "uniform") && shared(x, "method") != "rejection") {
    abort_input("x", paste("`x` must be a replay of a uniform log, or by `method = \"rejection\"`: the",
                           "events that another keeps favour what the logger favoured, and prove nothing."),
                class = "dpts_error_verdict")
  }
  release_records.dpts_simulation(x)
}

# `numbers`: Of the observer "releases": how many rows there are, and the rows. `policy`: a list of one
check_rows <- function(numbers, policy, pulls) {
  if (numbers[1] == 0 && flip_of(policy[[1]]) > 0 && pulls > 1000) {
    abort_input("x", paste("`x` must hold when bits came: runs of policy \"%s\" were played side by side,",
                           "which shows it at the end alone."), names(policy), class = "dpts_error_history",
                hint = "`options(dpts.engine = \"skip\")` plays them one by one.")
  }
  if (length(numbers) < 1 + length(RELEASE) * numbers[1]) {
    abort_input("x", "`x` must have few enough releases to keep them: at most 10,000 in a run.",
                class = "dpts_error_history")
  }
}

# Without the room that was not used
trim_releases <- function(kept) kept[seq_len(min(length(kept), 1 + length(RELEASE) * kept[1], na.rm = TRUE))]

# The block of each row: its arms come in their order, and their chances add up to 1. At the end several
# blocks may be in one `run` of arms in order, where they cannot be told apart; but then some rewards are out.
in_blocks <- function(releases) {
  colnames(releases) <- RELEASE
  run <- cumsum(c(TRUE, diff(releases[, "arm"]) <= 0 | diff(releases[, "t"]) > 0))[seq_len(nrow(releases))]
  before <- cumsum(releases[, "chance"]) - releases[, "chance"]
  full <- floor(before - before[match(run, run)] + 1e-12)
  cbind(releases, run = run, block = cumsum(c(TRUE, diff(run) > 0 | diff(full) > 0))[seq_along(run)])
}

new_record <- function(policy, name, labels, noise, releases, width = 1) {
  tosses <- tosses_people(policy)
  list(policy = policy, name = name, labels = labels, k = length(labels),
       arms = seq_along(labels), ever = length(labels),
       noise = c(noise, carry_of(policy)), releases = in_blocks(releases),
       # Of the chance of a wrong verdict, for each arm
       share = rep(1 / max(length(labels) - 1, 1), length(labels)),
       width = width / (1 - 2 * flip_of(policy)), most = width, tosses = tosses,
       permuted = tosses && core(policy)$params$permuted > 0,
       least = toss_least(policy, length(labels)))
}

# The correlation of an arm's releases, 0 where each has noise of its own
carry_of <- function(policy) {
  policy <- core(policy)
  if (inherits(policy, "dpts_policy_compiled")) 0 else policy$params$correlation %||% 0
}

# Of correlated noise: the part of the chance delta of an error that is given to the noise, for each of k arms
# and one sign or both; and what is left
noise_share <- function(carry, k, delta, signs = 1) {
  kappa <- if (carry > 0) 0.1 * signs else 0
  list(risk = kappa * delta / (signs * k), left = (1 - kappa) * delta)
}

# The noise of a live session's releases: on a grid of 2^-20, with rates rounded to 32 bits
# `report`: As its arms() gives it.
live_noise <- function(report) {
  scale <- report$scale[[1]] * (1 + 2^-20)
  c(report$kind[[1]], scale, if (report$kind[[1]] == 2 && scale > 0) 2^-21 else 0)
}

# What a function of a record says of each, in one table
each_record <- function(x, f, kind = NULL, class = NULL) {
  of <- release_records(x)
  records <- of$records
  again <- duplicated(vapply(records, `[[`, "", "name"))
  bar <- progress_bar(total = length(records), name = "Weighing")
  rows <- lapply(seq_along(records), function(i) {
    record <- c(records[[i]], list(again = again[i]))
    bar(i - 1)
    if (identical(kind, "tosses") && !record$tosses) {
      abort_input("kind", "`kind` must be \"means\" for policy \"%s\", which does not toss people to arms.",
                  record$name, class = "dpts_error_verdict")
    }
    f(record)
  })
  bar(NULL)
  n <- vapply(rows, function(r) length(r[[1]]), 0L)
  columns <- lapply(stats::setNames(nm = names(rows[[1]])), function(name) {
    unlist(lapply(rows, `[[`, name), use.names = FALSE)
  })
  for (name in intersect(c("arm", "rival", "control"), names(columns))) {
    columns[[name]] <- of$arms(rep(seq_along(rows), n), columns[[name]])
  }
  tibble::new_tibble(c(lapply(of$keys, rep, n), columns), nrow = sum(n), class = class)
}

# All ordered pairs of arms, and the column of each in what the kernels return
ordered_pairs <- function(k) {
  pairs <- expand.grid(rival = seq_len(k), arm = seq_len(k))
  pairs <- pairs[pairs$arm != pairs$rival, c("arm", "rival")]
  pairs$column <- pairs$arm + k * (pairs$rival - 1)
  pairs
}

# Returns list(t, pair, difference, estimate): the rounds after which something was released; the evidence
#   then, with a column for each pair; lower bounds of differences at the end; and a function of two arms that
#   estimates their difference
record_evidence <- function(record, kind, margin = 0, line = Inf, risk = 0, cash = Inf) {
  k <- record$ever
  own <- record$arms
  columns <- as.vector(outer(own, k * (own - 1), "+"))
  table <- record$releases
  cut <- table[, "whole"] == 0
  if (kind == "tosses") cut <- table[, "run"] %in% table[cut, "run"]
  table <- table[!cut, , drop = FALSE]
  block <- match(table[, "block"], unique(table[, "block"]))
  t <- table[, "t"]
  if (kind == "means") {
    if (!isTRUE(record$again)) inform_means(record) # what is said once takes a millisecond each time
    out <- .Call(C_evidence_means, k, table[, "arm"], t, table[, "size"], table[, "sum"], table[, "terms"],
                 record$noise, c(risk, cash), margin, line)
    looks <- which(!duplicated(t, fromLast = TRUE))
    return(list(t = unname(t[looks]), pair = out$pair[looks, columns, drop = FALSE],
                difference = out$difference[own, own, drop = FALSE],
                estimate = function(a, b) out$mean[own[a]] - out$mean[own[b]]))
  }
  blocks <- max(block, 0)
  each <- function(column) {
    m <- matrix(0, k, blocks)
    m[cbind(table[, "arm"], block)] <- table[, column]
    m
  }
  n <- each("size")
  y <- each("sum")
  out <- .Call(C_evidence_tosses, each("chance"), n, y, record$noise, record$permuted, record$least, line,
               margin)
  last <- which(!duplicated(block, fromLast = TRUE))
  looks <- which(!duplicated(t[last], fromLast = TRUE))
  list(t = unname(t[last[looks]]), pair = out$pair[looks, columns, drop = FALSE],
       difference = matrix(if (blocks) out$lower[blocks, columns] else -1, length(own), length(own)),
       estimate = function(a, b) {
         as.double(mapply(function(a, b) {
           both <- n[a, ] > 0 & n[b, ] > 0
           weight <- (n[a, ] + n[b, ])[both]
           if (!any(both)) return(NA_real_)
           sum(weight * (y[a, both] / n[a, both] - y[b, both] / n[b, both])) / sum(weight)
         }, own[a], own[b])) # of no pair mapply() gives a list
       })
}

inform_means <- function(record) {
  rlang::inform(c(
    sprintf("Policy \"%s\" %s: what is proved is for means that do not change.", record$name,
            if (record$permuted) "tosses in fixed numbers" else if (record$tosses) "is judged by means" else
              "does not toss people to arms"),
    i = paste0(if (!record$tosses) "Assignments come in blocks of one arm. ",
               "Nothing here protects against a time trend; evidence by tosses does (`policy_randomised()`).")
  ), class = "dpts_message_means", .frequency = "once", .frequency_id = "dpts_evidence_by_means")
}

control_arm <- function(control, labels) {
  if (is.null(control)) return(NULL)
  must <- sprintf("one of the arms: %s", words_list(labels))
  if (length(control) != 1) abort_arg("control", must, control)
  arm_numbers(control, labels, "control", must)
}

# Policies of which a verdict can be had: they release sums of batches, each reward in one of them, or, where
# `delta` says that their own is enough, they give one
check_concludes <- function(policies, delta = NULL, margin = NULL, arg = "policies") {
  for (name in names(policies)) {
    policy <- policies[[name]]
    own <- !is.null(delta) && is_true_of(policy, "gives_verdict") && life_of(policy) == Inf
    why <- if (own) other_promise(policy, delta, margin) else no_evidence(policy)
    if (!is.null(why)) {
      abort_input(arg, "`%s` must allow a verdict: policy \"%s\" %s.", arg, name, why,
                  class = "dpts_error_verdict")
    }
  }
}

# What a policy that gives verdicts promises of them, if it is not what is asked; NULL: it is
other_promise <- function(policy, delta, margin) {
  p <- core(policy)$params
  own <- (p$margin %||% 0) / (1 - 2 * flip_of(policy)) # of bits the gaps are smaller
  if (is.null(p$delta)) {
    if ((p$beta %||% 0) > delta)
      sprintf("is wrong with chance %s, which is above %s", number_text(p$beta), number_text(delta))
  } else if (p$delta != delta || !is.null(p$margin) && abs(own - margin) > 1e-9) {
    sprintf("has the delta %s and the margin %s, and here they are %s and %s", number_text(p$delta),
            number_text(own), number_text(delta), number_text(margin))
  }
}

# Is there a bound of the chance that its verdict is wrong? One of its own, or that of evidence
promises_verdict <- function(policy) {
  p <- core(policy)$params
  !is_true_of(policy, "gives_verdict") ||
    any(c("delta", "beta") %in% names(p)) && !identical(p$threshold, "run")
}

# Why there is no evidence of what a policy does; NULL: there is, from sums of batches, each reward in one of
# them, or from bits that are random already
no_evidence <- function(policy) {
  if (life_of(policy) < Inf) return("is started anew, and evidence is made of one life")
  if (flip_of(policy) > 0) {
    if (is_contextual(policy)) return("reads contexts: its arms have no means that do not change")
    if (!bits_are_public(policy)) return("has a promise of its own, which does not publish its bits")
  } else if (!gathers(policy)) "releases no sums of batches, from which evidence is made"
}

gathers <- function(policy) is_true_of(policy, "each_once") && is_true_of(policy, "reports")

tosses_people <- function(policy) is_true_of(policy, "by_tosses")
