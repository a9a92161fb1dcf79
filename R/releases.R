# The release table: the noisy sums that a policy has published. Everything that is concluded from an
# experiment, by evidence(), effects(), verdict() and estimates(), is computed from this table and from
# nothing else. A result of any other class is turned into a table first.

# The columns that C writes (src/play_observer_releases.c, src/r_session.c) and that agents store
RELEASE <- c("arm", "t", "size", "sum", "chance", "terms", "whole", "squares")

# What the observer "releases" wrote, without the memory that it did not use
trim_releases <- function(kept) kept[seq_len(min(length(kept), 1 + length(RELEASE) * kept[1], na.rm = TRUE))]

# The columns that tell apart the runs of one table
KEYS <- c("problem", "policy", "delay", "outcome", "run")

# The columns that say where a release comes from, within one experiment
SUBGROUPS <- c("site", "stratum")

# The columns that every table has, and those that only some need
TABLE <- c("t", "block", "arm", "n", "sum", "squares", "noise", "scale", "terms", "correlation", "chance",
           "floor", "whole", "low", "high")
OPTIONAL <- c(weight = NA, flip = 0, permuted = FALSE, grid = 0, per_person = 1, event = NA,
              predicted_low = NA, predicted_high = NA, missing = NA, planned = NA, looks = NA)

# The scale of the noise in `sum` over that of the noise in `squares`, where there is no column `weight`: what
# costs no privacy (src/noise.h)
usual_weight <- function(noise) ifelse(noise == "gaussian", 2, 1)

# Columns that hold one value in all rows of a run
OF_A_RUN <- c("correlation", "floor", "low", "high", "flip", "permuted", "per_person", "predicted_low",
              "predicted_high", "missing", "planned", "looks")

# The law of a row's noise, in the order of src/noise_law.h
LAW <- c("noise", "scale", "grid", "correlation")

# What evidence reads of a release, in the order of src/r_evidence.c, and of which look and round it is
WEIGHED <- c("arm", "block", "stratum", "size", "sum", "terms", "chance", LAW, "squares", "weight", "look",
             "t")

# Laws of noise, with their numbers in enum noise_kind of src/noise.h
LAWS <- c(none = 0, laplace = 1, gaussian = 2, geometric = 5)

# The variance of one variable of noise in each row's sum
noise_variance <- function(rows) {
  rows[, "scale"]^2 * c(0, 2, 1, 2)[match(rows[, "noise"], LAWS)]
}

EVENTS <- c("begin", "added", "retired", "end")

#' The noisy sums that a policy has released
#'
#' `dpts_releases()` lists every noisy sum that a policy has published: of which arm, of how many rewards, and
#' with which noise. `dpts_releases()` makes this table of a simulation, a replay or an agent. `as_releases()`
#' makes one of sums that other software has released. [evidence()], [effects()][effects.dpts_simulation],
#' [verdict()] and [estimates()] read this table and nothing else, so they cost no privacy beyond the
#' releases.
#'
#' @section Columns:
#' A row is one release of one arm. A row in which no reward was released has an `event`.
#'
#' * `problem`, `policy`, `delay`, `run`: which run the row belongs to, as in the result that the table was
#'   made of. A table of one experiment has none of them.
#' * `site`: where several sites take part in one experiment, which of them released the sum.
#' * `outcome`: of an agent with other outcomes ([agent_outcome()]), of which outcome the sums are, `"reward"`
#'   first. `t` and `n` are of the same blocks of people.
#' * `stratum`: of an agent with `strata`, the stratum of the people in the sum; a factor whose levels are all
#'   strata, also those of which nothing was released. A file does not keep such levels: give them back with
#'   `factor(stratum, levels)`, since a stratum without a release delays looks ([evidence()]).
#' * `t`: the number of people so far when the sum was released, also those whose rewards are in no sum yet.
#' * `block`: the number of the release; arms whose sums were released together share it. Rows of each
#'   `outcome` count their own, so that one number need not be of the same people in two outcomes.
#' * `arm`: the arm, a factor if arms have names, else a number.
#' * `n`: how many rewards are in the sum.
#' * `sum`: the sum of these rewards, scaled to \[0, 1\], plus noise. A sum that is below 0 or above `n` by
#'   more than its noise is an error, as where `range` was forgotten: by so much that an upper bound of the
#'   chance of such noise is below 1e-17. So are `squares` that no rewards with this sum can have.
#' * `squares`: the sum of (reward - 1/2)^2 of the same rewards, scaled to \[0, 1\], plus noise; `NA` if it
#'   was not released. With it evidence knows how much rewards vary, see Squares in [evidence()].
#' * `noise`: the distribution of the noise: `"gaussian"`, `"laplace"`, `"geometric"` or `"none"`. Two-sided
#'   geometric noise is Laplace noise on a grid: it is z steps with a probability in proportion to
#'   exp(-|z| step / scale).
#' * `scale`: of one variable of noise, in units of `sum`: the standard deviation of Gaussian noise, or the
#'   scale of the others, which is sensitivity / epsilon; from 1e-50 to 1e50, and 0 without noise.
#' * `terms`: how many independent variables of noise are in the sum.
#' * `correlation`: of Gaussian noise whose later releases take back a part of the noise of earlier ones, as
#'   in [policy_gaussian_imed()]; 0 if all noise is independent.
#' * `chance`: the probability with which each person of the block was randomised to the arm, `NA` without
#'   randomisation. Those of a block add up to 1: an arm that nobody got has a row, too. Blocks that are open
#'   at the end are released together, with the arm's last probability: a row may then hold several rewards of
#'   one person, and its sum the noises of all these blocks (`terms`).
#' * `floor`: a lower bound, fixed before the experiment, of the probability of an arm among any two; `NA`
#'   without randomisation.
#' * `whole`: `FALSE` if the sum was released while rewards that belong in it were out, and for randomised
#'   bits that no block has gathered yet. It then counts for [estimates()] and proves nothing.
#' * `low`, `high`: the range of rewards in their own units.
#'
#' These columns are there only if some row needs them:
#'
#' * `weight`: the scale of the noise in `sum` over that of the noise in `squares`. Without this column it is
#'   2 for Gaussian noise and 1 for Laplace noise, which is what the policies of this package release.
#' * `flip`: the probability with which each bit was flipped, of [policy_local()]. `sum` is then the sum of
#'   the randomised bits.
#' * `permuted`: `TRUE` if each block had fixed numbers of people for its arms, in random order.
#' * `grid`: the step of geometric noise, and of the grid to which an agent rounds Gaussian noise.
#' * `per_person`: the largest number of rewards of one person, of agents with `max_per_person` above 1.
#' * `event`: `"begin"` in a first row for each arm if not all arms were released together at first, `"added"`
#'   and `"retired"` for the arms of an agent that came or went at `t`. The last row of an agent that has
#'   ended has `"end"`, and one for each site that has. Such rows have `n` = 0.
#' * `predicted_low`, `predicted_high`: between which predictions were clipped, as parts of the range, where
#'   each reward x was released less a prediction m (`predicted` of [policy_randomised()]). `sum` is then of
#'   the residuals (x - m + high) / (1 + high - low). They tell the differences between arms, by
#'   randomisation, and not the arms' means: there are no [estimates()] and no evidence by means.
#' * `missing`: as which reward no answer counted, as a part of the range, of agents with other outcomes.
#' * `planned`: the number of people at which the one analysis at the end was planned, of agents with a plan
#'   ([agent_plan()]). Of sites it is the sum.
#' * `looks`: the planned looks of a board before the end, in a text such as `"0.5 0.75 pocock"`: shares of
#'   the people, and how the error is spent; see [dpts_plan()].
#'
#' Numbers have at most 15 digits, as many as [write.csv()] writes: a table that was written to a file and
#' read back gives the same results to the last bit. Rows up to a round, such as `x[x$t <= 100, ]`, give the
#' results as of that round.
#'
#' @section Several sites:
#' A named list of agents or of release tables is several sites of one experiment: `evidence(list(site_a = x,
#' site_b = y))`. Only tables cross the border: each site keeps its rewards, and may send its table as a file.
#' Two sites with the same noisy sums are refused: they are one table, read twice.
#' All sites must have the same arms, range of rewards, noise and floor of probabilities, randomise people
#' alike, and have independent noise. Shards of one service split persons, not visits, by a hash of who they
#' are: then each person is protected as by one agent. A guarantee that is printed is that of a person of one
#' site; [privacy_compose()] adds up those of a person of several.
#'
#' * **No site and no release may be left out because of its sums.** If only sites that look good are taken
#'   in, 26% of claims at 5% are false; if each site's table is cut at its best moment, 98% are. Which sites
#'   take part is decided before, and all that they have released is sent. A site may stop by its own earlier
#'   releases.
#' * A release keeps its place at all later looks. The order is by rounds: the first release of each site,
#'   then the second of each, and so on. A round counts once all sites have it, as one look; later releases of
#'   faster sites wait, and a message says so. Sites that have ended are not waited for: an agent's table says
#'   that it has ended, and for other tables `ended` says it.
#' * Outcomes of different sites must be independent, given what happened before at each site.
#' * By means, an arm must be better than another at all sites by one bound: theta must lie between the two
#'   means at every site. By randomisation each site may have means of its own.
#'
#' The script `system.file("examples", "two_sites.R", package = "dpts")` plays two sites, in R processes of
#' their own with a store each, which exchange nothing but CSV files.
#'
#' @section Sums of other software:
#' `as_releases()` takes sums from an aggregation service, from another package for differential privacy, or
#' from your own script. [evidence()], [effects()][effects.dpts_simulation] and [verdict()] are valid if all
#' of these conditions hold:
#'
#' * The size of each release, the time of each look and the next probabilities depended on earlier releases
#'   alone. The noise of each row is independent of all else, but for the declared `correlation`.
#' * `n` is the exact number of rewards. A noisy count is not: with a standard deviation of 10 around n = 20,
#'   13% of claims at 5% were false.
#' * Each reward was clipped to a range that was fixed before the data were seen.
#' * Every row is there, whatever its sum. Where small counts or sums were suppressed, 29% to 95% of claims
#'   at 5% were false.
#' * No sum was clamped or adjusted after the noise was added (63% of claims false).
#' * The noise has the stated distribution, and `scale` is its scale in the units of `sum`.
#' * By means: the mean of an arm does not change, given all that happened before. A person with several
#'   rewards violates this, because people differ.
#' * `squares`, if there are any, are of the same rewards and in all rows of a run, and their noise is
#'   independent of that in `sum`. Gaussian noise of scale s in `sum` and s / `weight` in `squares` costs no
#'   more privacy than that in `sum` alone if `weight` is at most 3.33, and Laplace noise if it is at most 1.
#' * By randomisation: each person was randomised with the stated probabilities, independently of everything
#'   else, and rewards are final before the block is released.
#'
#' @param x A result of [dpts_simulate()] with `history = TRUE`, of [dpts_replay()], an agent, or a release
#'   table; or a named list of these, each of one run: the sites of one experiment.
#' @param ... Not used; later arguments must be named.
#' @returns A tibble of class `dpts_releases` with the columns below. It prints the distribution of the noise,
#'   the number of people and releases, and the guarantees of the policies; with `max_per_person` of an agent
#'   that of a person.
#' @seealso [verdict()] says whether an arm is the best, [effects()] estimates differences, [estimates()]
#'   means.
#' @concept evidence
#' @examples
#' arms <- arms_bernoulli(c(control = 0.5, new = 0.6))
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, runs = 1, seed = 1, history = TRUE)
#' released <- dpts_releases(sim)
#' released
#' identical(verdict(released), verdict(sim))
#' effects(released[released$t <= 1000, ])
#'
#' # Through a file
#' file <- tempfile(fileext = ".csv")
#' write.csv(released, file)
#' identical(verdict(as_releases(read.csv(file))), verdict(sim))
#'
#' # Two sites of one experiment: only their tables meet
#' north <- dpts_releases(sim)
#' sim <- dpts_simulate(arms, policy_randomised(mu = 0.5), 4000, runs = 1, seed = 2, history = TRUE)
#' both <- dpts_releases(list(north = north, south = sim))
#' both
#' verdict(list(north = north, south = sim))
#'
#' # Weekly sums of two arms that another program has released with Laplace noise
#' weekly <- data.frame(arm = c("old", "new"), n = 500,
#'                      sum = c(248.2, 293.1, 252.7, 307.4, 251.9, 298.8))
#' effects(as_releases(weekly, noise = "laplace", scale = 2))
#' @name dpts_releases
#' @export
dpts_releases <- function(x, ...) UseMethod("dpts_releases")

# What the release table, and whatever is computed from it, is made from
RECORDS_WANTED <- paste("a result of `dpts_simulate(history = TRUE)` or `dpts_replay()`, an agent, or a",
                        "release table")

#' @export
dpts_releases.default <- function(x, ...) abort_arg("x", RECORDS_WANTED, x)

#' @export
dpts_releases.dpts_releases <- function(x, ...) {
  check_dots_empty(...)
  # Any code may have changed the columns since they were made.
  for (name in intersect(c(KEYS, SUBGROUPS, TABLE, names(OPTIONAL)), names(x))) {
    typed <- typed_column(x[[name]], name, "x")
    if (!identical(typed, x[[name]])) x[[name]] <- typed
  }
  check_releases(x, "x")
}

#' @rdname dpts_releases
#' @param data A data frame with the columns `arm`, `n` and `sum`, a row for each release in the order of
#'   the releases, and others of the columns above. Columns of other names are left out. By default each row
#'   is a release of its own, `t` counts the people so far, there is one variable of noise in each sum, nobody
#'   was randomised, all sums are `whole`, and the step of geometric noise is 1, as in counts.
#' @param noise The distribution of the noise, if `data` has no column `noise`.
#' @param scale The scale of the noise, if `data` has no column `scale`.
#' @param range The lowest and the highest possible reward, if `data` has no columns `low` and `high`: `sum`
#'   and `scale` are then in the units of the rewards, and `squares` are about the middle of the range, in
#'   squared units; all of them are rescaled. `weight` is that of the rescaled sums.
#' @export
as_releases <- function(data, noise, scale, range = c(0, 1), ...) {
  check_dots_empty(...)
  check_given(data)
  if (!is.data.frame(data)) abort_arg("data", "a data frame", data)
  if (!nrow(data)) abort_arg("data", "a data frame with at least one row")
  given <- list(noise = if (!missing(noise)) check_choice(noise, names(LAWS)),
                scale = if (!missing(scale)) check_number(scale, 0))
  ends <- check_range(range)
  own <- c("low", "high") %in% names(data)
  if (sum(own) == 1) column_error("data", c("high", "low")[own], "be there")
  if (!missing(range) && any(own)) abort_input("range", "`range` must not be given: `data` has its columns.")
  for (name in names(given)) {
    if (is.null(given[[name]]) == name %in% names(data)) next
    if (name == "scale" && identical(given$noise, "none") && is.null(given$scale)) given$scale <- 0
    else abort_input(name, "`%s` must %s: `data` has %s column of this name.", name,
                     if (is.null(given[[name]])) "be given" else "not be given",
                     if (is.null(given[[name]])) "no" else "a")
  }
  x <- filled_in(data, c(given, list(low = ends[1], high = ends[2])))
  if (!all(own)) {
    width <- x$high - x$low
    x$sum <- (x$sum - x$n * x$low) / width
    x$squares <- x$squares / width^2
    if (!is.null(x$missing)) x$missing <- (x$missing - x$low) / width
    for (name in intersect(c("scale", "grid"), names(x))) x[[name]] <- x[[name]] / width
  }
  check_releases(new_releases(x, attr(data, "guarantees")), "data")
}

# The columns of a release table, each of its type, with what `data` does not say filled in. `given`: columns
# that are numbers
filled_in <- function(data, given) {
  x <- as.list(data)[intersect(c(KEYS, SUBGROUPS, TABLE, names(OPTIONAL)), names(data))]
  for (name in setdiff(c("arm", "n", "sum"), names(x))) column_error("data", name, "be there")
  for (name in names(x)) x[[name]] <- typed_column(x[[name]], name, "data")
  idle <- if (is.factor(x$arm) && !inherits(data, "dpts_releases")) setdiff(levels(x$arm), x$arm)
  if (length(idle)) {
    column_error("data", "arm", sprintf(paste0(
      "have a row for each of its levels, and %s has none (an arm without releases has a row with n = 0 and ",
      "the `event` \"begin\")"), words_list(idle, most = 4)))
  }
  none <- list(squares = NA_real_, terms = 1, correlation = 0, chance = NA_real_, floor = NA_real_,
               whole = TRUE)
  x <- c(x, given[setdiff(names(given), names(x))])
  x <- lapply(c(x, none[setdiff(names(none), names(x))]), rep_len, nrow(data))
  if (is.null(x$grid)) x$grid <- ifelse(x$noise == "geometric", 1, 0)
  run <- record_id(x)
  if (is.null(x$block)) {
    x$block <- if (is.null(x[["t"]])) stats::ave(seq_along(run), run, FUN = seq_along) else
      number_in_run(joint_releases(run, match(x$arm, sort(unique(x$arm))), x$t, x$chance), run)
  }
  if (is.null(x[["t"]])) {
    people <- stats::ave(x$n, run, FUN = cumsum)
    x$t <- stats::ave(people, run, x$block, FUN = max)
  }
  # Where chances never change, the least of an arm among two is known before the experiment.
  open <- is.na(x$floor) & !is.na(x$chance)
  for (own in split(which(open), run[open])) {
    p <- unique(data.frame(x$arm[own], x$chance[own]))
    if (anyDuplicated(p[[1]])) {
      column_error("data", "floor", "be there, as probabilities change: a lower bound that was fixed before")
    }
    x$floor[run == run[own[1]]] <- min(p[[2]]) / (min(p[[2]]) + if (nrow(p) > 1) max(p[[2]]) else 0)
  }
  x
}

typed_column <- function(value, name, arg) {
  if (is.list(value) || length(dim(value)) > 1) column_error(arg, name, "hold one value in each row")
  if (name %in% c(KEYS, "outcome", SUBGROUPS, "arm", "whole", "permuted") && anyNA(value)) {
    column_error(arg, name, "be known in all rows", which(is.na(value)))
  }
  if (name %in% c("noise", "event", "looks")) return(as.character(value))
  if (name %in% c("whole", "permuted")) {
    if (!is.logical(value)) column_error(arg, name, "be TRUE or FALSE")
    return(value)
  }
  if (name %in% c("problem", "policy", "outcome", SUBGROUPS) || name == "arm" && !is.numeric(value)) {
    if (is_label(value)) return(plain_factor(value))
    value <- as_utf8(value)
    return(if (is.factor(value)) value else factor(value, unique(value)))
  }
  if (is.logical(value) && all(is.na(value))) value <- as.double(value)
  if (!is.numeric(value) || is.object(value)) column_error(arg, name, "hold numbers")
  if (name %in% c("arm", "run")) whole(value) else as.double(value)
}

# A table of columns, in their order, the optional ones only where some row needs them
new_releases <- function(columns, guarantees = NULL) {
  numbers <- intersect(AS_WRITTEN, names(columns))
  kept <- matrix(as_written(unlist(columns[numbers], use.names = FALSE)), ncol = length(numbers))
  for (i in seq_along(numbers)) columns[[numbers[i]]] <- kept[, i]
  odd <- columns$weight != usual_weight(columns$noise) & !is.na(columns$squares)
  if (!any(odd %in% TRUE)) columns$weight <- NULL
  optional <- intersect(names(OPTIONAL), names(columns))
  used <- vapply(optional, function(name) any(!columns[[name]] %in% c(OPTIONAL[[name]], NA)), NA)
  order <- c(intersect(c(KEYS, SUBGROUPS), names(columns)), TABLE, optional[used])
  out <- vctrs::new_data_frame(columns[order], n = length(columns$sum),
                               class = c("dpts_releases", "tbl_df", "tbl"))
  attr(out, "guarantees") <- guarantees
  out
}

# Numbers with 15 digits, as read.csv() reads what write.csv() has written. Many are alike.
as_written <- function(x) {
  odd <- which(is.finite(x) & x != trunc(x))
  if (!length(odd)) return(x)
  own <- unique(x[odd])
  text <- sprintf("%.15g", own)
  if (sprintf("%.1f", 0.5) != "0.5") text <- chartr(",", ".", text) # some locales have a comma
  x[odd] <- as.double(text)[match(x[odd], own)]
  x
}

AS_WRITTEN <- c("sum", "squares", "scale", "terms", "correlation", "chance", "floor", "low", "high", "weight",
                "flip", "grid", "predicted_low", "predicted_high", "missing")

# Which run each row belongs to, from 1 in the order in which they come
record_id <- function(x) {
  keys <- as.list(x)[intersect(KEYS, names(x))]
  if (!length(keys)) return(rep(1L, length(x[[1]])))
  as.integer(vctrs::vec_group_id(vctrs::new_data_frame(keys)))
}

# ---- from what runs have released -----------------------------------------------------------------

# The release table of runs. `keys`, `arms`: as run_keys() gives them; `rows`: of each run a matrix with the
# columns of RELEASE; `k`: how many arms each began with; `law`: the columns of OF_A_RUN and LAW, one element
# for each run or for all, with numbers for `noise`; `more`: data frames of rows that C does not write: run,
# t, arm, n, sum, event.
# `strata`: their names; C then has an arm for each of a stratum's k arms
release_table <- function(keys, arms, rows, k, law, more = NULL, guarantees = NULL, strata = NULL) {
  runs <- length(rows)
  all <- do.call(rbind, rows)
  # (A matrix of one row with named columns would name the numbers that it gives.)
  all <- stats::setNames(lapply(seq_along(RELEASE), function(i) unname(all[, i])), RELEASE)
  run <- rep(seq_len(runs), vapply(rows, nrow, 0L))
  law <- lapply(law, rep_len, runs)
  law$noise <- names(LAWS)[match(law$noise * (law$scale > 0), LAWS)]
  each <- if (is.null(strata)) Inf else k[run]
  stratum <- (all$arm - 1) %/% each + 1
  all$arm <- all$arm - (stratum - 1) * if (is.null(strata)) 0 else each
  joint <- joint_releases(run * max(1, length(strata)) + stratum, all$arm, all$t, all$chance)
  # Blocks of tosses that were released together at the end may look like one; but then some rewards are out.
  early <- all$whole == 0
  whole <- !joint %in% joint[early]
  v <- list(run = run, t = all$t, block = split_blocks(joint, run, all$chance), arm = all$arm,
            n = all$size, sum = all$sum, terms = all$terms,
            chance = replace(all$chance, all$chance == 0, NA_real_), whole = whole,
            squares = replace(all$squares, is.na(all$squares), NA_real_), # C's NaN
            event = rep(NA_character_, length(run)))
  v$stratum <- if (!is.null(strata)) stratum
  more <- vctrs::vec_rbind(!!!more)
  begin <- first_rows(v, k, more)
  more <- if (nrow(more)) vctrs::vec_rbind(more, begin) else begin
  if (NROW(more)) {
    more$stratum <- if (is.null(strata)) 1 else (more$arm - 1) %/% k[more$run] + 1
    more$arm <- more$arm - if (is.null(strata)) 0 else (more$stratum - 1) * k[more$run]
    v <- add_rows(v, more)
  }
  columns <- c(lapply(keys, function(key) by_appearance(key[v$run])),
               v[setdiff(names(v), c("run", "arm", "stratum"))],
               if (!is.null(strata)) list(stratum = by_appearance(factor(strata[v$stratum], strata), TRUE)),
               list(arm = by_appearance(arms(v$run, v$arm))),
               lapply(law, `[`, v$run))
  new_releases(columns, guarantees)
}

# Which rows were released together: those of one t that were randomised, as long as their arms come in order.
# A number for each row
joint_releases <- function(run, arm, t, chance) {
  n <- length(run)
  alone <- is.na(chance) | chance == 0
  cumsum(c(TRUE, run[-1] != run[-n] | arm[-1] <= arm[-n] | t[-1] > t[-n] | alone[-1])[seq_len(n)])
}

# The number of each row's block in its run. The chances of a block add up to 1.
split_blocks <- function(joint, run, chance) {
  new <- !duplicated(joint)
  for (several in which(rowsum(chance, joint, reorder = FALSE) > 1 + 1e-9)) {
    at <- which(joint == several)
    before <- floor(cumsum(chance[at]) - chance[at] + 1e-12)
    new[at] <- new[at] | c(FALSE, diff(before) > 0)
  }
  number_in_run(cumsum(new), run)
}

# Numbers that grow over all runs as numbers that begin with 1 in each
number_in_run <- function(number, run) number - number[match(run, run)] + 1

# Unless the first releases of a run are of all its arms together, in their order, it begins with a row for
# each arm: a part of the table, or a file of it, would not tell how many arms there are and which comes
# first.
first_rows <- function(v, k, more) {
  first <- match(seq_along(k), v$run)
  # An arm that was added or retired before the first release would come first.
  early <- more$run[!is.na(more$event) & more$t < v$t[first[more$run]]]
  named <- vapply(seq_along(k), function(i) {
    at <- first[i] + seq_len(k[i]) - 1
    !is.na(first[i]) && !i %in% early &&
      all(v$run[at] %in% i & v$arm[at] %in% seq_len(k[i]) & v$t[at] == v$t[first[i]]) &&
      !is.unsorted(v$arm[at], strictly = TRUE)
  }, NA)
  begin <- which(!named)
  if (length(begin)) {
    n <- sum(k[begin])
    vctrs::new_data_frame(list(run = rep(begin, k[begin]), t = numeric(n), arm = sequence(k[begin]),
                               n = numeric(n), sum = numeric(n), event = rep("begin", n)))
  }
}

# Some rows of a table, after a row for each of its arms
begin_rows <- function(rows, table) {
  first <- table[!duplicated(table$arm), ]
  v <- as.list(first)
  v[c("t", "n", "sum")] <- lapply(v[c("t", "n", "sum")], function(x) 0 * x)
  v[c("block", "chance", "squares")] <- rep(list(rep(NA_real_, nrow(first))), 3)
  v$event <- rep("begin", nrow(first))
  v$whole <- rep(TRUE, nrow(first))
  rows <- as.list(rows)
  rows$event <- rows$event %||% rep(NA_character_, length(rows$n))
  new_releases(lapply(stats::setNames(nm = names(v)), function(name) vctrs::vec_c(v[[name]], rows[[name]])),
               attr(table, "guarantees"))
}

# Arms that begin come before a release of the same round, all other rows after it.
add_rows <- function(v, more) {
  none <- rep(NA_real_, nrow(more))
  open <- is.na(more$event) # each is a block of its own
  block <- none
  if (any(open)) {
    last <- tapply(v$block, factor(v$run, seq_len(max(v$run, more$run))), max, default = 0)[more$run]
    block[open] <- (last + stats::ave(none, more$run, FUN = seq_along))[open]
  }
  new <- c(more, list(block = block, terms = 0 * none %in% NA, chance = none, squares = none, whole = !open))
  v <- lapply(stats::setNames(nm = names(v)), function(name) c(v[[name]], new[[name]]))
  lapply(v, `[`, order(v$run, v$t, !v$event %in% "begin"))
}

# Bits that were published by time t and that no block has gathered yet. `n`, `sum`: of all bits of each arm
open_bits <- function(run, rows, n, sum, t) {
  of <- function(column) vapply(seq_along(n), function(arm) sum(rows[rows[, 1] == arm, column]), 0)
  open <- which(n > of(3))
  if (length(open)) {
    data.frame(run, t, arm = open, n = (n - of(3))[open], sum = (sum - of(4))[open], event = NA_character_)
  }
}

# A factor with its levels in the order in which they come, as as_releases() makes them
# `all`: with levels at the end that have not come
by_appearance <- function(x, all = FALSE) {
  if (!is.factor(x)) return(x)
  used <- unique(as.integer(x))
  if (all) used <- union(used, seq_along(levels(x)))
  structure(match(as.integer(x), used), levels = levels(x)[used], class = "factor")
}

# ---- is it a release table? ----------------------------------------------------------------------

column_error <- function(arg, column, must, rows = NULL, hint = NULL) {
  abort_input(arg, "Column `%s` of `%s` must %s%s.", column, arg, must,
              if (length(rows)) sprintf(": see row %d", rows[1]) else "", class = "dpts_error_releases",
              hint = hint)
}

# Of columns that have their types
check_releases <- function(x, arg) {
  ends <- c("predicted_low", "predicted_high")
  needed <- c(TABLE, if (any(ends %in% names(x))) ends)
  for (name in setdiff(needed, names(x))) column_error(arg, name, "be there")
  v <- as.list(x)
  run <- record_id(v)
  need <- function(column, must, ok, hint = NULL) {
    if (!all(ok %in% TRUE)) column_error(arg, column, must, which(!ok %in% TRUE), hint)
  }
  released <- is.na(v$event %||% rep(NA_character_, nrow(x)))
  check_each_row(v, run, released, need)
  check_sums(v, released, need)
  check_of_run(v, run, need)
  # The order of rows
  start <- c(TRUE, run[-1] != run[-length(run)])[seq_along(run)]
  if (anyDuplicated(run[start])) column_error(arg, "run", "have the rows of each run together")
  need("t", "hold numbers of people so far that do not fall",
       is.finite(v$t) & v$t >= 0 & (start | c(TRUE, diff(v$t) >= 0)[seq_along(run)]))
  people <- stats::ave(v$n, run, FUN = cumsum)
  need("t", "be at least the number of people in the sums so far", v$t >= people)
  check_together(v, run, which(released), arg)
  need("chance", "be known where `floor` is, and only there",
       !released | !v$whole | is.na(v$floor) == is.na(v$chance))
  x
}

# Each row by itself. `released`: is it a release? `need(column, must, ok)`: an error where a row is not ok
check_each_row <- function(v, run, released, need) {
  n <- length(run)
  event <- v$event %||% rep(NA_character_, n)
  need("event", sprintf("be one of %s, or NA", words_list(EVENTS, "or")), event %in% c(EVENTS, NA))
  tossed <- released & !is.na(v$chance)
  need("n", "hold whole numbers of rewards", is.finite(v$n) & v$n == trunc(v$n) & v$n >= 0)
  need("n", "be positive in a release, unless nobody was randomised to the arm", v$n > 0 | !released | tossed)
  need("n", "be 0 where an arm begins, is added or is retired", v$n == 0 | released)
  need("sum", "hold finite numbers", is.finite(v$sum))
  squares <- !is.na(v$squares)
  need("squares", "be known in all releases of a run or in none",
       !released | squares == squares[released][match(run, run[released])])
  need("squares", "be finite", is.finite(v$squares) | !squares)
  need("squares", "be NA for geometric noise", !squares | v$noise != "geometric")
  need("weight", "be positive", is.null(v$weight) | is.na(v$weight) | v$weight > 0 & v$weight < Inf)
  need("noise", sprintf("be one of %s", words_list(names(LAWS), "or")), v$noise %in% names(LAWS))
  # Its fourth power is counted with.
  need("scale", "be positive, from 1e-50 to 1e50, and 0 without noise",
       v$scale %in% 0 & v$noise == "none" | v$scale >= 1e-50 & v$scale <= 1e50 & v$noise != "none")
  need("terms", "hold whole numbers, positive where there is noise",
       is.finite(v$terms) & v$terms == trunc(v$terms) &
         (v$terms > 0 | v$terms == 0 & (!released | !v$whole | v$noise == "none")))
  need("terms", "be 1 where people are randomised", v$terms == 1 | !tossed | !v$whole)
  need("correlation", "be in [0, 1), and 0 but for gaussian noise without randomisation",
       v$correlation == 0 | v$correlation > 0 & v$correlation < 1 & v$noise == "gaussian" & is.na(v$floor))
  need("whole", "be TRUE or FALSE", v$whole %in% c(TRUE, FALSE))
  need("low", "be finite and below a finite `high`", is.finite(v$low) & is.finite(v$high) & v$low < v$high)
  need("flip", "be in [0, 0.5)", is.null(v$flip) | v$flip >= 0 & v$flip < 0.5)
  grid <- v$grid %||% rep(0, n)
  most <- v$per_person %||% rep(1, n)
  need("per_person", "hold whole numbers from 1 on", most >= 1 & most == trunc(most))
  need("grid", "be positive for geometric noise, and not negative",
       is.finite(grid) & (grid > 0 | grid == 0 & v$noise != "geometric"))
  low <- v$predicted_low
  high <- v$predicted_high
  need("predicted_high", "be in (predicted_low, 1], and `predicted_low` not negative",
       is.na(low) & is.na(high) | low >= 0 & low < high & high <= 1)
  need("predicted_high", "be known only where people are randomised, and not in fixed numbers",
       is.na(high) | !is.na(v$floor) & !(v$permuted %||% FALSE))
  need("floor", "be in (0, 1]", is.na(v$floor) | v$floor > 0 & v$floor <= 1)
  need("missing", "be from `low` to `high`", is.na(v$missing) | v$missing >= 0 & v$missing <= 1)
  need("planned", "be a whole number of at least 1",
       is.na(v$planned) | v$planned >= 1 & v$planned %% 1 == 0)
  if (!is.null(v$looks)) {
    each <- unique(as.character(v$looks))
    known <- is.na(each) | !vapply(lapply(each, looks_of_text), is.null, NA)
    need("looks", "be increasing shares of people and the name of how the error is spent",
         as.character(v$looks) %in% each[known])
  }
}

# Can n rewards of [0, 1] add up to this? Noise goes so far only with a chance of 1e-17, to either side.
check_sums <- function(v, released, need) {
  n <- v$n
  # Rewards of an agent are on a grid, and sums are rescaled to [0, 1].
  near <- n * (2^-19 + 1e-9 * pmax(abs(v$low), abs(v$high)) / (v$high - v$low))
  noise <- noise_reach(v, 1e-17)
  far <- noise + near
  hint <- paste("Sums and scales of rewards of another range than [0, 1] are rescaled by `range` of",
                "`as_releases()`; `scale` and `terms` are those of the noise that was added.")
  need("sum", "be that of `n` rewards from 0 to 1, but for its noise",
       !released | v$sum >= -far & v$sum <= n + far, hint)
  least <- pmax(abs(v$sum - n / 2) - far, 0)^2 / pmax(n, 1) # of all rewards alike; of those that are in
  far <- noise / squares_weight(v) + near
  need("squares", "be those of `n` rewards from 0 to 1 with this `sum`, but for their noise",
       !released | is.na(v$squares) | v$squares >= least * v$whole - far & v$squares <= n / 4 + far, hint)
}

# What the noise in each row's sum exceeds with a chance of at most `risk`, and its rounding to a grid.
# Geometric noise lies below Laplace noise; correlated noise takes back a part of that of the release before.
noise_reach <- function(v, risk) {
  r <- v$correlation
  bounded <- v$noise %in% c("laplace", "geometric")
  reach <- gaussian_tail(v$scale * sqrt(v$terms * (1 + r^2) / (1 - r^2)), risk)
  reach[bounded] <- laplace_tail(v$terms[bounded], v$scale[bounded], risk)
  reach + 2 * v$terms * (v$grid %||% 0)
}

# The scale of the noise in `sum` over that of the noise in `squares`; 1 where there are none
squares_weight <- function(v) {
  weight <- v$weight %||% rep(NA_real_, length(v$sum))
  ifelse(is.na(v$squares), 1, ifelse(is.na(weight), usual_weight(v$noise), weight))
}

# What must be the same in all rows of a run
check_of_run <- function(v, run, need) {
  first <- match(run, run)
  for (name in intersect(OF_A_RUN, names(v))) {
    own <- v[[name]]
    need(name, "be the same in all rows of a run", own == own[first] | is.na(own) & is.na(own[first]))
  }
  need("scale", "be the same in all rows of a run with correlated noise",
       v$correlation == 0 | v$scale == v$scale[first])
  if (!is.null(v[["site"]])) {
    for (name in intersect(c("noise", "scale", "grid"), names(v))) {
      own <- v[[name]]
      need(name, "be the same in all rows of a run with sites", own == own[first])
    }
    need("correlation", "be 0 where there are sites", v$correlation == 0)
  }
}

# `at`: the rows that are releases
check_together <- function(v, run, at, arg) {
  block <- v$block[at]
  if (anyNA(block) || is.unsorted(order(run[at], block))) {
    column_error(arg, "block", "hold numbers of releases that do not fall within a run", at[is.na(block)])
  }
  own <- vctrs::vec_group_id(vctrs::new_data_frame(list(run = run[at], block = block)))
  twice <- vctrs::vec_duplicate_id(vctrs::new_data_frame(list(own = own, arm = v$arm[at]))) < seq_along(at)
  if (any(twice)) column_error(arg, "block", "hold an arm once", at[twice])
  for (name in intersect(c("t", SUBGROUPS), names(v))) {
    value <- v[[name]][at]
    apart <- value != value[match(own, own)]
    if (any(apart)) column_error(arg, "block", sprintf("have one `%s`", name), at[apart])
  }
  p <- v$chance[at]
  bad <- !is.na(p) & !(p > 0 & p <= 1)
  if (any(bad)) column_error(arg, "chance", "be in (0, 1]", at[bad])
  # What was open at the end may be several blocks, of different arms, in one release that proves nothing.
  p[own %in% own[!v$whole[at]]] <- NA
  # A row that is not there may have been left out because of its sum.
  apart <- abs(rowsum(p, own, reorder = FALSE) - 1) > 1e-6
  if (any(apart, na.rm = TRUE)) {
    column_error(arg, "chance", "add up to 1 in each block of people", at[match(which(apart), own)],
                 "Rows of one block share its number; an arm that nobody got has a row, too, with `n` = 0.")
  }
  # The probability of an arm, given that a person gets it or another one
  known <- which(!is.na(p) & !is.na(v$floor[at]))
  of <- split(known, own[known])
  of <- of[lengths(of) > 1]
  least <- vapply(of, function(i) min(p[i]) / (min(p[i]) + max(p[i])), 0)
  above <- vapply(of, function(i) v$floor[at[i[1]]], 0) > least * (1 + 1e-9)
  if (any(above)) {
    column_error(arg, "floor", "be at most the probability of each arm among any two of its block",
                 at[vapply(of[above], `[`, 0L, 1)])
  }
}

# ---- records: what evidence is computed from ------------------------------------------------------

# The release table of one outcome
table_of <- function(x, outcome) {
  if (inherits(x, "list")) dpts_releases(x, outcome = outcome) else one_outcome(dpts_releases(x), outcome)
}

# The rows of one outcome; without a column of this name all are of the reward
one_outcome <- function(table, outcome) {
  outcome <- check_choice(outcome, unique(as.character(table[["outcome"]] %||% "reward")))
  if (is.null(table[["outcome"]])) return(table)
  table[table$outcome == outcome, setdiff(names(table), "outcome")]
}

# Turns `x` into a release table, and that into list(keys, arms, records):
#   keys      a named list of columns with an element for each run
#   arms      a function of runs and of numbers (vectors of one length) of arms that are not retired: the arms
#             as a column; `ever`: the same for numbers of all arms that there have been
#   records   for each run a list:
#     name      the policy's, for messages; NULL if it is not known
#     ever      how many arms there have been; `arms`: which of them are not retired; `k`, `labels`: of these
#     seen      people so far; `planned`: for how many the analysis at the end is planned, or NA; `looks`:
#               those of a board before it, as text, or NA
#     site      of sites, the number of each release's; `sites`: how many there are
#     running   the numbers of the sites that have not ended; of an experiment without sites 1, until it ends
#     share     the part of the chance of an error that each of them has
#     releases  a matrix with the columns of RELEASE, `block`, `weight` and LAW: chance 0 without tosses,
#               weight 0 without squares, `noise` as a number
#     tosses, permuted, floor, correlation, residuals: the design, as release_design() has it; flip, low, high
#     grid      the largest step of a grid
#     memory    of an agent: what was weighed last, as weighing_memory() makes it
#     width     of a difference of 1 between sums of two people, in units of rewards: effects are in it;
#               `most`: of the range
release_records <- function(x, outcome = "reward") UseMethod("release_records")

#' @export
release_records.default <- function(x, outcome = "reward") {
  x <- table_of(x, outcome)
  if (nrow(x) == 0) abort_input("x", "`x` must have at least one row: without any its arms are not known.")
  v <- as.list(x)
  v$event <- v$event %||% rep(NA_character_, nrow(x))
  for (name in c("flip", "grid")) v[[name]] <- v[[name]] %||% rep(0, nrow(x))
  weight <- ifelse(is.na(v$squares), 0, squares_weight(v))
  run <- record_id(v)
  first <- which(!duplicated(run))
  last <- c(first[-1] - 1L, length(run))[seq_along(first)]
  arms <- arms_of(v, first)
  of_run <- function(name) if (is.null(v[[name]])) FALSE else v[[name]][first]
  range <- of_run("high") - of_run("low")
  floor <- of_run("floor")
  end <- function(name) if (is.null(v[[name]])) rep(NA_real_, length(first)) else of_run(name)
  from <- end("predicted_low")
  to <- end("predicted_high")
  wider <- ifelse(is.na(to), 1, residual_width(from, to))
  law <- list(low = of_run("low"), high = of_run("high"), flip = of_run("flip"),
              width = range * wider / (1 - 2 * of_run("flip")), most = range, residuals = !is.na(to),
              centre = right_residual(from, to), tosses = !is.na(floor),
              permuted = of_run("permuted") & !is.na(floor), floor = replace(floor, is.na(floor), 0),
              correlation = of_run("correlation"), per_person = of_run("per_person"),
              planned = end("planned"), looks = as.character(end("looks")))
  rows <- cbind(arm = arms$code, t = v$t, size = v$n, sum = v$sum, terms = v$terms, whole = +v$whole,
                chance = replace(v$chance, is.na(v$chance), 0), block = v$block, noise = LAWS[v$noise],
                scale = v$scale, grid = v$grid, correlation = v$correlation,
                squares = replace(v$squares, is.na(v$squares), 0), weight = weight,
                stratum = as.integer(v$stratum %||% rep(1L, nrow(x))))
  name <- if (is.null(v$policy)) rep_len(names(attr(x, "guarantees")) %||% NA, length(first)) else
    as.character(v$policy[first])
  released <- is.na(v$event)
  comes <- run[v$event %in% "added"]
  goes <- v$event %in% "retired"
  strata <- max(1, nlevels(v$stratum))
  site <- if (!is.null(v[["site"]])) as.factor(v$site)
  place <- if (is.null(site)) rep(1L, nrow(x)) else as.integer(site)
  law <- do.call(Map, c(f = list, law))
  records <- lapply(seq_along(first), function(i) {
    at <- first[i]:last[i]
    labels <- arms$labels(i)
    there <- every <- seq_along(labels)
    if (any(goes[at])) there <- setdiff(every, arms$code[at[goes[at]]])
    added <- sum(comes == i)
    own <- at[released[at]]
    # In the order in which strata come, whatever that of levels is: sums are then the same to the last bit.
    rows[own, "stratum"] <- match(rows[own, "stratum"], unique(rows[own, "stratum"]))
    c(list(name = name[i], strata = strata, labels = labels[there], k = length(there), arms = there,
           ever = length(every), share = error_shares(there, length(every), added),
           share_of_one = if (added) error_parts(there, length(every) - added) else
             0 * there + 1 / length(every),
           grid = max(v$grid[own], 0), seen = max(v$t[at]), releases = rows[own, , drop = FALSE],
           site = if (!is.null(site)) place[own], sites = nlevels(site),
           running = setdiff(seq_len(max(1, nlevels(site))), place[at[v$event[at] %in% "end"]])),
      law[[i]])
  })
  there <- lapply(records, `[[`, "arms")
  before <- c(0, cumsum(lengths(there)))
  there <- unlist(there, use.names = FALSE)
  list(keys = lapply(v[intersect(KEYS, names(v))], `[`, first), records = records,
       arms = function(i, arm) arms$column(i, there[before[i] + arm]), ever = arms$column)
}

# The arms of each run, in their order: those of which the rows of its problem speak. `code`, the number of
# each row's arm; `labels`, a function of one run; and `column`, a function of runs and numbers
arms_of <- function(v, first) {
  code <- as.integer(v$arm)
  problem <- if (is.null(v$problem)) rep(1L, length(code)) else match(v$problem, unique(v$problem))
  own <- list()
  number <- integer(length(code))
  for (i in seq_len(max(problem))) {
    at <- which(problem == i)
    own[[i]] <- sort(unique(code[at]))
    number[at] <- match(code[at], own[[i]])
  }
  before <- c(0L, cumsum(lengths(own)))
  problem <- problem[first]
  labels <- lapply(own, function(arm) if (is.factor(v$arm)) levels(v$arm)[arm] else as.character(arm))
  own <- unlist(own, use.names = FALSE)
  list(code = number, labels = function(i) labels[[problem[i]]], column = function(i, arm) {
    arm <- own[before[problem[i]] + arm]
    if (is.factor(v$arm)) structure(arm, levels = levels(v$arm), class = "factor") else arm
  })
}

# The part of an error probability that each arm has once arms were added. That of the j-th arm in all does
# not depend on what comes later. The parts add up to 1 at most.
error_parts <- function(there, born) ifelse(there <= born, 1 / (born + 1), 1 / (there * (there + 1)))

# The part of the chance of a wrong verdict of each arm that is not retired: 1 / (k - 1), or as above. Which
# arms are retired may follow what was released, so that all other arms ever then share it.
error_shares <- function(there, ever, added) {
  share <- if (added) error_parts(there, ever - added) else rep(1 / max(ever - 1, 1), length(there))
  if (length(there) < ever) share / (ever - 1) else share
}

# Of each arm of a record, retired ones too, the totals of all that was released, in the terms of REPORT: what
# estimates() needs. A moving average keeps the part 1 - correlation of each release's noise in the sum, and
# the rest of the last one; its noise is larger by 2^-20 (src/noise_moving_average.c).
release_totals <- function(record) {
  rows <- record$releases
  bounded <- rows[, "noise"] %in% LAWS[c("laplace", "geometric")]
  gaussian <- !any(bounded)
  if (!gaussian && LAWS[["gaussian"]] %in% rows[, "noise"]) {
    column_error("x", "noise", "for estimates be gaussian in all rows, or laplace or geometric in all rows")
  }
  # In units of the widest noise: Gaussian variables have their parts of its variance, others count whole.
  scale <- max(rows[, "scale"], 0)
  terms <- rows[, "terms"] * if (gaussian && scale > 0) (rows[, "scale"] / scale)^2 else gaussian | bounded
  total <- matrix(0, record$ever, 5)
  found <- rowsum(cbind(rows[, c("size", "sum", "terms", "squares"), drop = FALSE], terms), rows[, "arm"])
  total[as.integer(rownames(found)), ] <- found
  r <- record$correlation
  larger <- if (gaussian) 1 / (1 - 2^-20) else 1
  each <- function(x) rep(x, record$ever)
  list(rewards = total[, 1], sum = total[, 2], kind = each(if (gaussian) 2 else 1),
       terms = total[, 5] * (1 - r) / (1 + r) * larger^2, scale = each(scale),
       last_terms = each(+(r > 0)), last_scale = each(r * scale * larger / sqrt((1 - r) * (1 + r))),
       looks = total[, 3], squares = total[, 4],
       weight = each(if (nrow(rows)) min(rows[, "weight"]) else 0),
       releases = if (record$flip > 0) total[, 1] else total[, 3])
}

# Arms have no mean residual.
abort_residuals <- function() {
  abort_input("x", paste("`x` must have sums of rewards: what was released is of rewards less predictions,",
                         "which tells differences between arms and not their means."),
              class = "dpts_error_verdict", hint = "`effects()` estimates the differences.")
}

# ---- print ------------------------------------------------------------------------------------------

#' @export
tbl_sum.dpts_releases <- function(x, ...) {
  table <- tryCatch(dpts_releases(x), dpts_error_input = function(cnd) NULL)
  if (is.null(table) || !nrow(x)) return(NextMethod()) # columns may have been changed, and print as they are
  x <- table
  span <- function(n, one, many) {
    if (length(unique(n)) == 1) count_noun(n[1], one, many) else
      sprintf("%s to %s %s", label_count(min(n)), label_count(max(n)), many)
  }
  run <- record_id(x)
  released <- if (is.null(x[["event"]])) rep(TRUE, nrow(x)) else is.na(x$event)
  first <- !duplicated(run)
  noise <- unique(ifelse(x$noise == "none", "none",
                         sprintf("%s of scale %s", x$noise, shorts(signif(x$scale, 4))))[first])
  said <- Filter(Negate(promises_nothing), attr(x, "guarantees") %||% list())
  if (!is.null(x[["policy"]])) said <- said[names(said) %in% x$policy]
  sites <- levels(x[["site"]])
  outcomes <- length(unique(x[["outcome"]]))
  runs <- sum(first) / max(outcomes, 1)
  c(if (outcomes > 0) c("Outcomes" = words_list(unique(as.character(x$outcome)), most = 8)),
    if (length(sites)) c("Sites" = words_list(sites, most = 8)),
    "Releases" = sprintf("%s%s, %s", if (runs > 1) paste0(label_count(runs), " runs, ") else "",
                         span(rowsum(x$n, run)[, 1], "person", "people"),
                         span(rowsum(+released, run)[, 1], "sum", "sums")),
    "Noise" = words_list(noise, most = 4),
    if (length(said) > 3) c("Guarantees" = "see dpts_privacy() of the policies") else if (length(said))
      stats::setNames(vapply(said, format, ""), paste("Guarantee of", names(said))),
    NextMethod())
}
