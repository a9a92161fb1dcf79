# An adversary: rewards of all arms, given by a function that sees what was pulled before. The engine for it
# is in src/play_supply.c.

#' Arms of an adversary
#'
#' Arms whose rewards somebody chooses who wants to mislead the policy. A function gives the rewards of all
#' arms, in the light of everything that was played before: the setting of [policy_exp3()]. Regret is against
#' the best fixed arm: the largest sum of rewards that an arm has had so far, less what was earned.
#'
#' @details
#' `f(past, t)` is called for `block` rounds at a time. `past` is a list of the `arm` that was pulled in each
#' round so far and its `reward`; `t` are the rounds to come. It gives a reward for each arm: a vector, or for
#' several rounds a matrix with a row for each round. The adversary does not see the choices of the block
#' itself, nor the policy's random numbers. It is called once, with an empty past, when the arms are made;
#' that call's rewards say how many arms there are, and their names.
#'
#' `f` draws from R's generator as it likes; it is set by `seed`, the run and the block before each call. It
#' must depend on its arguments and on random numbers alone.
#'
#' `f = "punish"` is an adversary in C, dozens of times as fast: of the last `memory` rounds the arm that was
#' pulled most, or each of several, gives 0.2 in the next round, every other arm 0.8.
#'
#' Rounds are played one by one. Means are not defined; those in `$mean` are the middle of the range. Regret
#' can be negative: a policy may be better than every fixed arm.
#'
#' @param f A function of `past` and `t`, or `"punish"`; see Details.
#' @param ... Must be empty: what follows is named.
#' @param block In how many rounds it is called once: a whole number, at most 64.
#' @param range Where rewards lie: two numbers. Policies see rewards scaled from `range` to \[0, 1\].
#' @param arms,memory For `"punish"`: how many arms there are, or their names; and rounds.
#' @inherit arms_bernoulli return
#' @family arms
#' @examples
#' # Punishes the arm that was pulled most in the last ten rounds
#' punish <- function(past, t) {
#'   recent <- utils::tail(past$arm, 10)
#'   ifelse(tabulate(recent, 3) == max(1, tabulate(recent, 3)), 0.2, 0.8)
#' }
#' arms <- arms_adversary(punish)
#' sim <- dpts_simulate(arms, list(policy_exp3(), policy_ucb1()), 1000, runs = 5, seed = 1)
#' subset(summary(sim), t == 1000)
#' @export
arms_adversary <- function(f, ..., block = 1, range = c(0, 1), arms = 2, memory = 10) {
  check_all_given()
  check_dots_empty(...)
  if (is.character(f)) return(arms_punish(check_choice(f, "punish"), arms, memory))
  check_callback(f, "f(past, t)")
  block <- check_count(block, 1, 64)
  bounds <- check_range(range)
  none <- list(arm = integer(), reward = numeric())
  first <- with_stream(0, 0, 0, 0, call_back(f(none, 1), "f", function() "in round 1"))
  if (!is.numeric(first) || length(first) == 0) {
    abort_user_function("f", sprintf("must give a number for each arm; in round 1 it gave %s.",
                                     describe(first)))
  }
  labels <- check_arm_names(if (is.matrix(first)) colnames(first) else names(first), "f")
  k <- length(first)
  new_arms("supplied", stats::setNames(rep(mean(bounds), k), labels), rep(list(numeric()), k),
           list(f = f, block = block, range = range), "rewards by an adversary", range = bounds,
           class = "adversary",
           world = new_world("adversary", f = f, block = block, changing = TRUE, waits = TRUE))
}

arms_punish <- function(f, arms, memory) {
  k <- if (is.character(arms)) length(arms) else check_count(arms)
  memory <- check_count(memory, 1, 1e6)
  labels <- if (is.character(arms)) check_arm_names(arms, "arms")
  new_arms("supplied", stats::setNames(rep(0.5, k), labels), rep(list(numeric()), k),
           list(f = f, arms = arms, memory = memory),
           "rewards by an adversary", class = "adversary",
           world = new_world("punish", memory = memory, changing = TRUE))
}

#' @export
world_sound.dpts_world_punish <- function(world, arms) is.numeric(world$memory)

#' @export
world_sound.dpts_world_adversary <- function(world, arms) is.function(world$f) && is.numeric(world$block)

# The means of every round are not defined.
#' @export
world_means.dpts_world_adversary <- function(world, arms, n, seed, run) {
  matrix(arms$mean, n, n_arms(arms), byrow = TRUE)
}

#' @export
world_means.dpts_world_punish <- world_means.dpts_world_adversary

#' @export
world_supply.dpts_world_adversary <- function(world, arms, seed, run, blocks) {
  key <- format(run, scientific = FALSE)
  past <- world$past[[key]]
  if (blocks$block == 0) past <- list(arm = integer(), reward = numeric())
  else {
    last <- past$offered[cbind(seq_along(blocks$played), blocks$played)]
    past <- list(arm = c(past$arm, blocks$played), reward = c(past$reward, last))
  }
  t <- blocks$first + seq_len(blocks$n) - 1
  k <- n_arms(arms)
  where <- function() sprintf("in round %s of run %s", number_text(t[1]), number_text(run))
  given <- with_stream(seed, run, 0, blocks$block, call_back(world$f(past, t), "f", where))
  n <- k * length(t)
  if (!good_draws(given, n, arms$range)) abort_draws(given, n, arms$range, where, arg = "f")
  offered <- matrix(as.double(given), length(t), k)
  world$past[[key]] <- c(past, list(offered = offered))
  list(rewards = lapply(seq_len(k), function(i) offered[, i]), n = rep(length(t), k),
       where = rep(list(where), k))
}
