# When will there be a verdict? Computed from the release table alone.

#' The probability of a verdict by then
#'
#' `forecast()` says how likely a randomised experiment is to reach a [verdict()] by given numbers of
#' people, from what it has released so far. It costs no privacy. Use it to decide whether to continue; see
#' Futility.
#'
#' @details
#' Each of `runs` futures begins with means of the arms that are drawn from what is known of them: a
#' normal distribution around the estimate from all sums so far, with the variance of rewards and noise, cut
#' to the range. Blocks of people follow with the probabilities and the noise of the last block, and with the
#' sizes that `block` says. Their arms are those of an agent that are neither paused nor retired now; a table
#' does not know which are paused, and goes on with the arms of its last block. With all arms but one paused
#' nobody is expected. The verdict of each future is that of the whole table, which begins with the real
#' releases.
#'
#' The forecast is right on average if the means do not change from now on, and if before the experiment all
#' means were about equally plausible. Where most ideas fail it is too hopeful while few people are in. It is
#' also too hopeful where the blocks to come are larger than assumed, since a verdict then comes later, and
#' too low where they are smaller. An agent that ends its blocks by the clock (`block_time`) has smaller ones
#' than its policy says when few people come. At 600 of 2,000 people, 50% of 455 forecasts from 40% to 60%
#' came true (two arms, mu = 1, default blocks). Of three arms whose means were drawn from 0.3 to 0.7 37% of
#' 154 forecasts came true, and 39% was said. With means of 0.5 and two from 0.4 to 0.6, nearer to each other
#' than was plausible, 10% of 294 came true, and 22% was said. With all three within 0.03 of 0.5 (blocks of
#' 100), 1% of 300 came true, and 15% was said.
#'
#' @section Futility:
#' An experiment may stop early for futility: if the forecast by the largest number of people that you can
#' have is low, such as 5%, a verdict is unlikely to come. Stopping for that reason never makes a verdict
#' wrong, because [verdict()] is valid at every look; it costs power, because some of these experiments would
#' have reached a verdict. It is a forecast of a verdict, and not of the one analysis at a planned end
#' ([effects()][effects.dpts_simulation] with `at = "end"`), which has more power: for that one it is too
#' low.
#'
#' @param object An agent, a release table of one experiment ([dpts_releases()], [as_releases()]), or a
#'   simulation or replay with its history, whose policy randomises people to arms, such as
#'   [policy_randomised()]; or a named list of these, which are sites of one experiment. Each stratum at each
#'   site has futures of its own, with as large a share of the people as so far. Each site that has not ended
#'   must have released something of all arms, and so must each stratum to which more than 2% of the people
#'   came. An agent or a site that has ended expects nobody. A list of sites also has the releases that wait
#'   for other sites, and those who gave them are among the people so far; a joined table does not have them.
#' @param people Numbers of people in all, those so far included: whole numbers. They may fill at most 100,000
#'   blocks.
#' @param ... Not used; later arguments must be named.
#' @param error,margin As in [verdict()].
#' @param block The numbers of people in the blocks to come, as in [policy_randomised()]. `NULL`: those of the
#'   policy of an agent, a simulation or a replay, also as a site. A release table does not have the
#'   policy. `NULL` then continues the default blocks if those so far are of that kind; else the next blocks
#'   are like the last one, or grow as they have grown. A message says that default blocks are assumed where
#'   those so far are equal and the next ones would be larger.
#' @param runs How many futures are drawn: a whole number.
#' @param seed A whole number, for the same futures again, or `NULL`.
#' @returns A tibble, one row for each run of the experiment and number of people: `people`, and `verdict`,
#'   the share of futures with a verdict by then. It prints how many people half of the futures need, with
#'   the range of eight in ten.
#'
#'   Input that cannot be used raises an error of class `dpts_error_input`.
#' @template see_evidence
#' @concept futility
#' @concept conditional power
#' @examples
#' sim <- dpts_simulate(arms_bernoulli(c(0.5, 0.55)), policy_randomised(mu = 1), 1000,
#'                      runs = 1, seed = 1, history = TRUE)
#' forecast(sim, c(2000, 5000), runs = 50, seed = 1)
#' @export
forecast.dpts_releases <- function(object, people, ..., error = 0.05, margin = 0, block = NULL, runs = 400,
                                   seed = NULL) {
  check_given(people)
  check_dots_empty(...)
  people <- check_counts(people)
  error <- check_number(error, 0, 1, open = TRUE)
  margin <- check_number(margin, 0)
  known <- if (is.null(block)) known_blocks(object)
  if (!is.null(block)) block <- check_blocks(block)
  runs <- check_count(runs, 2, 1e6)
  seed <- check_seed(seed)
  needed <- list()
  put_back <- occupy_generator()
  on.exit(put_back())
  found <- about_object(each_record(object, function(record) {
    all <- count_blocks(with_waiting(record, object))
    record <- count_blocks(record)
    all$paused <- paused_at(object, record)
    now <- max(all$releases[, "t"], 0)
    if (min(people) < now) {
      abort_arg("people", sprintf("at least %s, the people so far", number_text(now)), people)
    }
    laws <- future_laws(all, max(people), block %||% known(record))
    if (any(lengths(lapply(laws, `[[`, "sizes")) > 1e5)) {
      abort_arg("people", "numbers that fill at most 100,000 blocks", people)
    }
    one <- function(i) with_stream(seed, i, 0, 0, draw_verdict(record, laws, error, margin, all))
    at <- vapply(seq_len(runs), one, 0)
    needed[[length(needed) + 1]] <<- stats::quantile(at, c(0.1, 0.5, 0.9), type = 1, names = FALSE)
    list(people = people, verdict = vapply(people, function(n) mean(at <= n), 0))
  }, "dpts_forecast", list(error = error, margin = margin), kinds = "tosses"))
  structure(found, needed = needed)
}

#' @rdname forecast.dpts_releases
#' @export
forecast.dpts_agent <- forecast.dpts_releases

#' @rdname forecast.dpts_releases
#' @export
forecast.dpts_simulation <- forecast.dpts_releases

#' @rdname forecast.dpts_releases
#' @export
forecast.dpts_replay <- forecast.dpts_releases

#' @rdname forecast.dpts_releases
#' @export
forecast.list <- forecast.dpts_releases

#' @export
tbl_sum.dpts_forecast <- function(x, ...) {
  needed <- attr(x, "needed")
  if (length(needed) != 1) return(NextMethod())
  said <- label_count(needed[[1]]) # in a tenth, half and nine tenths of the futures
  open <- is.infinite(needed[[1]])
  half <- if (open[2]) "more people than these" else paste(said[2], "people")
  most <- if (open[3]) paste(said[1], "or more in nine of ten") else
    sprintf("%s to %s in eight of ten", said[1], said[3])
  c("Needed" = if (open[1]) "more people than these in nine of ten futures" else
    sprintf("%s in half of the futures, %s", half, most),
    NextMethod())
}

# The sizes of blocks of a record's policy: a function, which gives NULL where they are not known, and for a
# list of sites a function of the site's number
known_blocks <- function(x) {
  if (inherits(x, "list")) {
    each <- lapply(x, known_blocks)
    return(function(record) function(site) each[[site]](record))
  }
  policies <- if (inherits(x, "dpts_agent")) list(x$terms$policy) else
    if (inherits(x, c("dpts_simulation", "dpts_replay"))) things_of(x$policy)
  function(record) { # of several policies its own
    policy <- if (length(policies) == 1) policies[[1]] else if (!is.na(record$name)) policies[[record$name]]
    if (inherits(unwrapped(policy), "dpts_policy_randomised")) block_rule(unwrapped(policy), record$strata)
  }
}

# After how many people a future of a record has a verdict, Inf: not in it
draw_verdict <- function(record, laws, error, margin, all = record) {
  said <- record_verdict(with_future(record, laws, all), error, margin, words = FALSE)
  if (is.na(said$arm)) Inf else said$t
}

# The record of a list of sites with the releases that wait for other sites, too: they are in no look yet, but
# in each future.
with_waiting <- function(record, x) {
  if (!inherits(x, "list")) return(record)
  all <- release_records(dpts_releases(x, ended = names(x)))$records[[1]]
  all$running <- record$running
  all
}

# A record with blocks 1, 2, ...: those of a table may have any numbers, and a future's need room.
count_blocks <- function(record) {
  block <- record$releases[, "block"]
  record$releases[, "block"] <- match(block, sort(unique(block)))
  record
}

# A record with the releases of a future, which begins with those of `all` that wait. Blocks of a stratum at a
# site have only its share of the people who come, and numbers that no other block has.
with_future <- function(record, laws, all = record) {
  if (!length(laws)) return(record)
  now <- max(all$releases[, "t"])
  each <- lapply(seq_along(laws), function(s) {
    law <- laws[[s]]
    rows <- draw_future(law)
    rows[, "t"] <- pmax(now, round(law$from + (rows[, "t"] - law$t) / law$share))
    rows[, "block"] <- rows[, "block"] + s * 1e9
    rows
  })
  future <- do.call(rbind, each)
  order <- order(future[, "t"])
  future <- future[order, , drop = FALSE]
  if (!is.null(record$site)) {
    # Sites come by rounds, which count once all of them that still run have them.
    known <- all$releases[, "whole"] > 0
    rows <- all$releases[known, , drop = FALSE]
    rows[, "t"] <- now
    rows[, "block"] <- rows[, "block"] + (length(laws) + 1) * 1e9
    rows <- rbind(rows, future)
    of <- vapply(laws, `[[`, 0L, "site")
    site <- c(all$site[known], rep(of, vapply(each, nrow, 0L))[order])
    round <- stats::ave(rows[, "block"], site, FUN = function(x) match(x, unique(x)))
    begins <- record$releases[, "whole"] > 0 & !duplicated(record$releases[, "block"])
    looked <- tabulate(record$site[begins], record$sites)
    until <- min(vapply(record$running, function(s) max(round[site == s]), 0))
    by_round <- order(round, site)
    by_round <- by_round[round[by_round] > looked[site[by_round]] & round[by_round] <= until]
    future <- rows[by_round, , drop = FALSE]
    future[, "t"] <- cummax(future[, "t"])
    record$site <- c(record$site, site[by_round])
  }
  record$releases <- rbind(record$releases, future)
  record
}

# Is the forecast of a verdict by so many people below `least`? Nothing is said before each stratum had a
# release of all arms. `block`: as check_blocks() returns it; `margin`: in units of rewards
is_futile <- function(record, people, least, error, runs, block = NULL, margin = 0) {
  rows <- record$releases
  whole <- tabulate(match(rows[, "block"], unique(rows[, "block"]))) == record$k
  first <- rows[!duplicated(rows[, "block"]), "stratum"]
  if (!all(seq_len(record$strata) %in% first[whole])) return(FALSE)
  laws <- future_laws(record, people, block)
  hits <- 0
  for (i in seq_len(runs)) {
    hits <- hits + is.finite(draw_verdict(record, laws, error, margin))
    if (hits >= least * runs) return(FALSE)
  }
  TRUE
}

# The laws of the futures of each stratum at each site, with its share of the people to come, and the number
# of people in all `from` which they come: its open block counts as begun at its last release.
#
# `block`: as check_blocks() returns it, NULL, or a function that gives this for each site
future_laws <- function(record, people, block = NULL) {
  rows <- record$releases
  site <- record$site %||% rep(1L, nrow(rows))
  stratum <- rows[, "stratum"]
  size <- rows[, "size"]
  open <- record$running
  if (!length(open)) return(list()) # nobody comes any more
  # A stratum to which hardly anybody came is not waited for: looks have come without it.
  waits <- !all(seq_len(record$strata) %in% stratum) && !nrow(released_whole(record, by_block = TRUE))
  if (!all(open %in% site) || waits) abort_forecast(record)
  paused <- record$paused
  now <- max(rows[, "t"])
  # Sites come by rounds. How many people of its own a site had so far is its part of the steps of `t`.
  if (!is.null(record$site)) rows[, "t"] <- stats::ave(diff(c(0, rows[, "t"])), site, FUN = cumsum)
  places <- unique(data.frame(site, stratum)[site %in% open, ])
  places <- places[order(places$site, places$stratum), ]
  Map(function(s, at) {
    own <- stratum == s & site == at
    record$releases <- rows[own, , drop = FALSE]
    record$paused <- paused[[at]]
    share <- function(which) sum(size[which]) / sum(size[site %in% open])
    t <- max(rows[own, "t"])
    from <- now - (max(rows[site == at, "t"]) - t) / share(site == at)
    c(future_law(record, t + share(own) * (people - from), if (is.function(block)) block(at) else block),
      share = share(own), from = from, site = at)
  }, places$stratum, places$site)
}

# What futures of a record up to a number of people are drawn from: the last block's rows, which have the
# arms, their chances and the noise; for each of these arms the estimate of its mean, and the variances of
# the estimate and of a reward; and the sizes of the blocks to come. `block`: as check_blocks() returns it,
# or NULL
future_law <- function(record, people, block = NULL) {
  rows <- record$releases
  used <- rows[rows[, "whole"] > 0 & rows[, "size"] > 0, , drop = FALSE]
  if (any(!record$arms %in% used[, "arm"])) abort_forecast(record)
  blocks <- unique(used[, "block"])
  arms_of_block <- function(block) intersect(record$arms, rows[rows[, "block"] == block, "arm"])
  offered <- if (is.null(record$paused)) arms_of_block(max(blocks)) else
    record$arms[!record$labels %in% record$paused]
  # The last block of all these arms; of arms that were in none together, those of the last block
  whole <- Filter(function(block) all(offered %in% arms_of_block(block)), blocks)
  last <- rows[rows[, "block"] == max(if (length(whole)) whole else blocks), , drop = FALSE]
  last <- last[last[, "arm"] %in% offered, , drop = FALSE]
  last[, "chance"] <- last[, "chance"] / sum(last[, "chance"])
  of <- function(what) vapply(record$arms, function(a) sum(what[used[, "arm"] == a]), 0)
  n <- of(used[, "size"])
  mean <- pmin(pmax(of(used[, "sum"]) / n, 0), 1)
  squared <- used[, "weight"] > 0
  # About 1/2, so that those of coins need no release. Noise may have made it impossible.
  about_half <- of(ifelse(squared, used[, "squares"], used[, "size"] / 4)) / n
  reward <- pmin(pmax(about_half - (mean - 0.5)^2, 0.001), mean * (1 - mean) + 1 / n)
  noise <- of(noise_variance(used)) # one variable in each sum, as people are randomised
  spread <- if (squared[1]) max(sum(n * reward), sqrt(sum(noise))) / sum(n) else NA_real_
  sizes <- if (nrow(last) > 1)
    future_sizes(rows, people, block, noise_variance(last)[1], spread, record$strata)
  offered <- match(last[, "arm"], record$arms)
  list(mean = mean[offered], of_mean = (reward / n + noise / n^2)[offered], reward = reward[offered],
       coin = !squared[1], sizes = sizes, t = max(rows[, "t"]), last = last, permuted = record$permuted)
}

abort_forecast <- function(record) {
  each <- c(if (record$strata > 1) "in each stratum", if (record$sites) "at each site that has not ended")
  abort_input("object", sprintf("`object` must hold a release of all arms%s; nothing can be said before.",
                                if (length(each)) paste0(", ", paste(each, collapse = " and ")) else ""))
}

# The sizes of the next blocks that are whole by then. `block`: as check_blocks() returns it, or NULL;
# `noise`: the variance of a sum's noise; `spread`: of a reward, NA: not released
future_sizes <- function(rows, people, block, noise, spread, strata = 1) {
  size <- as.vector(rowsum(rows[, "size"], rows[, "block"]))
  m <- length(size)
  so_far <- sum(size) # not the time: a stratum or a site counts its own people
  until <- so_far + people - max(rows[, "t"])
  k <- max(tabulate(match(rows[, "block"], unique(rows[, "block"]))))
  next_sizes <- function(block, made, now, until) {
    .Call(C_block_sizes, block$growth, as.double(block$size), made, now, until, k, noise, spread)
  }
  if (is.null(block)) {
    # The noise of a live sum is on a grid, and so a bit larger than what the policy was given.
    default <- check_blocks(NULL, noise, strata)
    default$size <- floor(default$size)
    like <- next_sizes(default, 0, 0, 1.02 * sum(size))
    last <- size[m]
    block <- if (is.na(spread) && length(like) == m && all(abs(size - like) <= 1 + 0.01 * like)) default else
      if (m > 1 && last > 1.1 * size[m - 1]) list(growth = 1 + last / sum(size[-m]), size = 1) else
      list(size = last)
    if (identical(block, default) && all(size == last) && until >= so_far + last &&
        !all(next_sizes(default, m, so_far, until) == last)) {
      inform_blocks(last)
    }
  }
  next_sizes(block, m, so_far, until)
}

inform_blocks <- function(size) {
  inform_once("blocks", class = "dpts_message_blocks", message = c(
    sprintf("The blocks so far, of %s people, may be the default ones, which grow: that is assumed.",
            number_text(size)),
    i = sprintf("For an experiment whose blocks stay so, `block = %s`.", number_text(size))
  ))
}

draw_future <- function(law) {
  k <- length(law$mean)
  blocks <- length(law$sizes)
  # Within the range: by the quantile of a number between those of its ends
  ends <- list(stats::pnorm(0, law$mean, sqrt(law$of_mean)), stats::pnorm(1, law$mean, sqrt(law$of_mean)))
  mean <- stats::qnorm(ends[[1]] + stats::runif(k) * (ends[[2]] - ends[[1]]), law$mean, sqrt(law$of_mean))
  mean <- pmin(pmax(mean, 0), 1)
  if (blocks == 0) return(law$last[0, , drop = FALSE])
  rows <- law$last[rep(seq_len(k), blocks), , drop = FALSE]
  chance <- law$last[, "chance"]
  size <- if (law$permuted) round(outer(chance, law$sizes)) else
    vapply(law$sizes, function(n) as.vector(stats::rmultinom(1, n, chance)), numeric(k))
  rows[, "size"] <- size
  rows[, "block"] <- max(law$last[, "block"]) + rep(seq_len(blocks), each = k)
  rows[, "t"] <- law$t + rep(cumsum(law$sizes), each = k)
  n <- rows[, "size"]
  mean <- rep(mean, blocks)
  sum <- if (law$coin) stats::rbinom(n, n, mean) else
    pmin(pmax(stats::rnorm(n, n * mean, sqrt(n * rep(law$reward, blocks))), 0), n)
  rows[, "sum"] <- sum + draw_noise(rows)
  squared <- rows[, "weight"] > 0
  about_half <- n * (rep(law$reward, blocks) + (mean - 0.5)^2)
  rows[squared, "squares"] <- (about_half + draw_noise(rows) / rows[, "weight"])[squared]
  rows
}

# One variable of noise for each row
draw_noise <- function(rows) {
  n <- nrow(rows)
  laplace <- rows[, "noise"] %in% LAWS[c("laplace", "geometric")]
  shape <- ifelse(laplace, stats::rexp(n) * sample(c(-1, 1), n, TRUE), stats::rnorm(n))
  ifelse(rows[, "noise"] == LAWS[["none"]], 0, rows[, "scale"] * shape)
}
