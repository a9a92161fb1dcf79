# Worlds that change from round to round. The engine for them is src/play_world_changing.c.

#' Arms that change
#'
#' Arms whose means change over time.
#' `arms_switch()` replaces the arms at given rounds, `arms_drift()` moves gradually from one
#' problem to another and perhaps back, and `arms_walk()` lets the means follow a random walk.
#'
#' @details
#' Regret is measured against the best arm of each round: in round t it grows by max_a mu_a(t) - mu_b(t) when
#' arm b is pulled. A policy made for arms that do not change may incur regret in every round.
#' [autoplot()][autoplot.dpts_arms] shows the means over time.
#'
#' * `arms_switch(worlds, at)`: the first arms in the rounds before `at[1]`, the second from round
#'   `at[1]` on, and so forth.
#' * `arms_drift(from, to, shape, period)`: in round t a reward comes from `to` with probability w(t), else
#'   from `from`, so that means lie on the line between theirs. `"linear"`: w(t) = (t - 1) / `period` up to 1,
#'   where it stays. `"sine"`: w(t) = (1 - cos(2 pi (t - 1) / `period`)) / 2, there and back in every period.
#' * `arms_walk(means, sd, reflect)`: Bernoulli rewards whose means take a Gaussian step of standard
#'   deviation `sd` after every round. At 0 and 1 they are reflected or, with `reflect = FALSE`, held.
#'   Each run has a path of its own, which is the same for all policies of a call.
#'
#' Rounds are simulated one by one. A privacy guarantee does not depend on how rewards arise, and
#' holds here too. [arms_custom()] with a function `means` makes other changes.
#'
#' @param worlds A list of two or more problems with the same arms, made by [arms_bernoulli()] and its
#'   family: without contexts, and not changing themselves.
#' @param at The round in which each of them starts, without the first: increasing whole numbers, at least 2.
#' @param from,to Two such problems, or means of Bernoulli rewards.
#' @param shape How to get from one to the other; see Details.
#' @param period In how many rounds: a positive number.
#' @param means The means in round 1: numbers in \[0, 1\]. Names are the arms' names.
#' @param sd Standard deviation of a step: a number for all arms, or one for each.
#' @param reflect Reflect means at 0 and 1? If not, they stay there until a step leads back.
#' @template dots
#' @returns An `arms` object, whose `$mean` holds the means in round 1.
#' @template see_arms
#' @concept non-stationary bandit
#' @concept change point
#' @examples
#' before <- arms_bernoulli(c(0.6, 0.4))
#' after <- arms_bernoulli(c(0.6, 0.8))
#' arms <- arms_switch(list(before, after), at = 501)
#' summary(dpts_simulate(arms, policy_ucb1(), 1000, record = c(500, 1000), seed = 1))
#'
#' arms_drift(c(summer = 0.8, winter = 0.2), c(summer = 0.3, winter = 0.7), "sine", period = 365)
#' arms_walk(c(0.5, 0.5), sd = 0.01)
#' @export
arms_switch <- function(worlds, at, ...) {
  check_dots_empty(...)
  check_all_given()
  if (!is.list(worlds) || inherits(worlds, "dpts_arms") || length(worlds) < 2) {
    abort_arg("worlds", "a list of two or more problems made by the `arms_*()` functions", worlds)
  }
  for (i in seq_along(worlds)) check_piece(worlds[[i]], sprintf("worlds[[%d]]", i))
  labels <- alike(worlds, "worlds")
  at <- check_counts(at, 2)
  if (length(at) != length(worlds) - 1 || is.unsorted(at, strictly = TRUE)) {
    abort_input("at", "`at` must hold %s in increasing order: the first of each world but the first.",
                count_noun(length(worlds) - 1, "round", "rounds"))
  }
  change_arms(worlds[[1]], labels, new_world("switch", worlds = worlds, at = at, changing = TRUE),
              sprintf("rewards that switch at round %s", shorten(at)),
              list(worlds = worlds, at = at))
}

#' @rdname arms_switch
#' @export
arms_drift <- function(from, to, shape = c("linear", "sine"), period, ...) {
  check_dots_empty(...)
  check_all_given()
  args <- list(from = from, to = to, shape = shape, period = period)
  if (is.numeric(from)) from <- arms_bernoulli(check_by_arm(from, 0, 1))
  if (is.numeric(to)) to <- arms_bernoulli(check_by_arm(to, 0, 1))
  check_piece(from, "from")
  check_piece(to, "to")
  labels <- alike(list(from, to), "to")
  shape <- args$shape <- check_choice(shape, c("linear", "sine"))
  period <- check_number(period, 0, open = TRUE)
  change_arms(from, labels, new_world("drift", from = from, to = to, period = period,
                                      sine = shape == "sine", changing = TRUE),
              sprintf("rewards that drift in %s rounds%s", number_text(period),
                      if (shape == "sine") ", there and back" else ""), args)
}

#' @rdname arms_switch
#' @export
arms_walk <- function(means, sd, reflect = TRUE, ...) {
  check_dots_empty(...)
  means <- check_by_arm(means, 0, 1)
  sd <- check_each(check_numbers(sd, 0), length(means), "arms", "sd")
  check_flag(reflect)
  change_arms(arms_bernoulli(means), names(means),
              new_world("walk", sd = sd, reflect = reflect, changing = TRUE),
              "Bernoulli rewards whose means walk at random",
              list(means = means, sd = sd, reflect = reflect))
}

# The arms of round 1, and how they change
change_arms <- function(first, labels, world, title, args) {
  new_arms(first$distribution, stats::setNames(first$mean, labels), first$par, args, title,
           range = first$range, world = world, class = world$kind)
}

#' @export
world_parts.dpts_world_switch <- function(world, arms) world$worlds
#' @export
world_parts.dpts_world_drift <- function(world, arms) list(world$from, world$to)

#' @export
world_sound.dpts_world_switch <- function(world, arms) {
  are_parts(world$worlds, n_arms(arms)) && are_finite(world$at, length(world$worlds) - 1)
}
#' @export
world_sound.dpts_world_drift <- function(world, arms) {
  are_finite(world$period, 1) && world$period > 0 && are_parts(list(world$from, world$to), n_arms(arms))
}
#' @export
world_sound.dpts_world_walk <- function(world, arms) {
  are_finite(world$sd, n_arms(arms)) && all(world$sd >= 0)
}

#' @export
world_shown.dpts_world_switch <- function(world) ceiling(1.25 * max(world$at))
#' @export
world_shown.dpts_world_drift <- function(world) {
  max(2, ceiling((if (world$sine) 2 else 1.25) * world$period))
}

# A part of a changing world: drawn in C, and the same in every round
check_piece <- function(arms, arg) {
  check_arms(arms, arg)
  if (world_kind(arms) != "stationary") {
    abort_arg(arg, paste("arms that do not change, have no contexts and do not come from `arms_custom()`",
                         "or from recorded rewards in their order"))
  }
}

# Problems with as many arms, in the same range, and not with different names; the names
alike <- function(worlds, arg) {
  stop_unlike <- function(what) {
    abort_input(arg, "`%s` must have the same %s everywhere.", arg, what)
  }
  differ <- function(f) length(unique(lapply(worlds, f))) > 1
  if (differ(n_arms)) stop_unlike("number of arms")
  if (differ(function(w) w$range)) stop_unlike("range of rewards")
  named <- Filter(Negate(is.null), lapply(worlds, function(w) names(w$mean)))
  if (length(unique(named)) > 1) stop_unlike("names of arms")
  if (length(named)) named[[1]]
}

shorten <- function(x) {
  paste0(paste(label_count(utils::head(x, 3)), collapse = ", "), if (length(x) > 3) ", ...")
}
