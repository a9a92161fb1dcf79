# When answers of a plan come: delays by arm, a deadline, and people who come at a rate that changes.

# What a plan knows of time; NULL: delays are those of dpts_simulate(), in rounds
# `k`, `strata`: how many arms, in how many strata
# Returns list(rate, deadline, delay, silent): `silent`, of each arm the share whose answers come too late
check_timing <- function(delay, deadline, accrual, k, strata, again) {
  if (is.null(deadline) && is.null(accrual)) {
    if (is.list(delay)) {
      abort_arg("delay", paste("numbers or a function without a `deadline`, the same for all arms. A block",
                               "is released when its last reward is in, so give those of the slowest arm"))
    }
    return(NULL)
  }
  if (again) abort_arg(if (is.null(accrual)) "deadline" else "accrual", "NULL where people come again")
  if (!is.null(accrual)) {
    accrual <- as.vector(check_numbers(accrual, 0))
    if (accrual[length(accrual)] <= 0) abort_arg("accrual", "above 0 in its last unit of time", accrual)
  }
  if (!is.null(deadline)) deadline <- check_number(deadline, 0, open = TRUE)
  if (is.function(delay)) abort_arg("delay", "numbers with `deadline` or `accrual`", delay)
  each <- if (is.list(delay)) delay else list(delay)
  if (is.list(delay) && is.null(deadline)) {
    abort_arg("deadline", paste("given where `delay` is a list by arm. Without one a block is released when",
                                "its last reward is in, so give the delays of the slowest arm to all"))
  }
  if (!length(each) %in% c(1, k)) abort_arg("delay", "a list with the delays of each arm", delay)
  each <- lapply(each, function(d) as.vector(check_numbers(d, 0, arg = "delay")))
  if (is.null(accrual) && any(c(unlist(each), deadline) %% 1 != 0)) {
    abort_arg(if (any(unlist(each) %% 1 != 0)) "delay" else "deadline",
              "whole numbers of people without `accrual`")
  }
  late <- vapply(each, function(d) if (is.null(deadline)) 0 else mean(d >= deadline), 0)
  list(rate = accrual, deadline = deadline, delay = each[[1]], silent = rep(rep_len(late, k), strata))
}

# The delays of so many people, as src/play_late.h counts them: in people who come in the meantime. With a
# deadline each reward is used then, as that of an agent with use = "deadline".
timing_delays <- function(timing, people) {
  wait <- timing$deadline %||% timing$delay
  if (is.null(timing$rate)) return(as.integer(pmin(wait, people)))
  came <- arrivals(timing$rate, seq_len(people))
  after <- function(wait) pmin(floor(people_by(timing$rate, came + wait) + 1e-6) - seq_len(people), people)
  if (length(wait) == 1) {
    fixed <- after(wait)
    return(function(n) fixed)
  }
  function(n) after(wait[sample.int(length(wait), n, TRUE)])
}

# The time at which the last of so many people's answers is in
timing_end <- function(timing, people) {
  arrivals(timing$rate, people) + max(timing$deadline %||% timing$delay)
}

# When the people of these numbers come, and how many have come by some times: `rate` in each unit of time,
# the last one for ever
arrivals <- function(rate, person) {
  units <- seq_along(rate) - 1
  before <- c(0, cumsum(rate)[-length(rate)])
  at <- findInterval(person, before, left.open = TRUE)
  units[at] + (person - before[at]) / rate[at]
}

people_by <- function(rate, time) {
  unit <- pmin(floor(time), length(rate) - 1)
  c(0, cumsum(rate))[unit + 1] + (time - unit) * rate[unit + 1]
}

words_timing <- function(timing) {
  if (is.null(timing)) return(NULL)
  rate <- timing$rate
  unit <- if (is.null(rate)) "people" else "units of time"
  c("Time" = paste(c(
    if (!is.null(rate)) sprintf("%s people a unit of time",
                                if (length(rate) == 1) number_text(rate) else
                                  words_list(shorts(rate), "and then", most = 5)),
    if (is.null(timing$deadline)) {
      sprintf("rewards %s %s late", paste(unique(range(timing$delay)), collapse = " to "), unit)
    } else sprintf("rewards are used at a deadline of %s %s", number_text(timing$deadline), unit)
  ), collapse = "; "))
}
