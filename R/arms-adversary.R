# An adversary: rewards of all arms, given by a function that sees what was pulled before. The engine for it
# is in src/play_supply.c.

#' Arms of an adversary
#'
#' Arms whose rewards somebody chooses who wants to mislead the policy. A function gives the rewards of all
#' arms, given everything that happened before: the setting of [policy_exp3()]. Regret is against
#' the best fixed arm: the largest sum of rewards that an arm has had so far, less what was earned.
#'
#' @details
#' `f(past, t)` is called for `block` rounds at a time. `past` is a list of the `arm` that was pulled in each
#' round so far and its `reward` (not copied, so that a long past costs only what `f` does with it); `t` are
#' the rounds to come. It gives a reward for each arm: a vector, or for several rounds a matrix with a row
#' for each round. The adversary does not see the choices of the block itself, nor the policy's random
#' numbers. It is called once, with an empty past, when the arms are made; that call's rewards say how many
#' arms there are, and their names.
#'
#' `f` draws from R's generator as it likes; it is set by `seed`, the run and the block before each call. It
#' must depend on its arguments and on random numbers alone.
#'
#' In C an adversary is dozens of times as fast. `f = "punish"` is one: of the last `memory` rounds the arm
#' that was pulled most, or each of several, gives 0.2 in the next round, every other arm 0.8. One of your own
#' is a file with the header of [policy_compiled()], which says what its functions are for; the file of
#' `"punish"` is `system.file("examples", "punish.c", package = "dpts")`. It is compiled as a policy is, and
#' run twice for 300 rounds: rewards outside \[0, 1\], writing past its state, and other rewards under the
#' same seed are errors. A reward x of such a file is range\[1\] + x (range\[2\] - range\[1\]).
#'
#' Rounds are simulated one by one. Means are not defined; those in `$mean` are the middle of the range.
#' Regret can be negative: a policy may be better than every fixed arm.
#'
#' @param f A function of `past` and `t`, `"punish"`, or the name of a file in C (`"package:NAME"` for what a
#'   package registered); see Details.
#' @param ... Not used; later arguments must be named.
#' @param block In how many rounds it is called once: a whole number, at most 64.
#' @param range Where rewards lie: two numbers. Policies see rewards scaled from `range` to \[0, 1\].
#' @param arms In C: how many arms there are, or their names.
#' @param memory For `"punish"`: rounds.
#' @param name,params For a file: which of its adversaries, a string, and a named list of its parameters.
#' @inherit arms_bernoulli return
#' @template see_arms
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
arms_adversary <- function(f, ..., block = 1, range = c(0, 1), arms = 2, memory = 10, name = NULL,
                           params = list()) {
  check_dots_empty(...)
  check_all_given()
  if (is.character(f)) return(arms_compiled(check_string(f), name, params, range, arms, memory))
  check_callback(f, "f(past, t)")
  of_c <- c(arms = missing(arms), memory = missing(memory), name = missing(name), params = missing(params))
  if (!all(of_c)) {
    abort_arg(names(which(!of_c))[1], "left out where `f` is a function: it is for adversaries in C")
  }
  block <- check_count(block, 1, 64)
  bounds <- check_range(range)
  none <- list(arm = integer(), reward = numeric())
  first <- with_stream(0, 0, 0, 0, call_back(f(none, 1), "f", function() "in round 1"))
  if (!is.numeric(first) || length(first) == 0 || anyNA(first)) {
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

# One in C: of the file `f`, or "punish", which is this package's own
arms_compiled <- function(f, name, params, range, arms, memory) {
  file <- if (f == "punish") "package:dpts" else f
  if (f == "punish") {
    name <- f
    params <- list(memory = check_count(memory, 1, 1e6))
  }
  source <- read_source(file, "f")
  what <- compiled_properties(load_library(file, source, "f"), file, check_string(name), adversary = TRUE)
  params <- check_compiled_params(params, what[[2]], what[[3]], sprintf("adversary \"%s\"", name))
  numbers <- Map(function(p, choices) if (is.character(p)) match(p, choices) - 1 else p %||% NaN,
                 params[names(what[[2]])], what[[3]])
  bounds <- check_range(range)
  if (is.character(arms) && !length(arms)) abort_arg("arms", "the number of arms, or their names", arms)
  k <- if (is.character(arms)) length(arms) else check_count(arms)
  labels <- if (is.character(arms)) check_arm_names(arms, "arms")
  args <- if (f == "punish") params else list(name = name, params = params)
  out <- new_arms("supplied", stats::setNames(rep(mean(bounds), k), labels), rep(list(numeric()), k),
                  c(list(f = f, range = range, arms = arms), args), "rewards by an adversary", range = bounds,
                  class = "adversary",
                  world = new_world("compiled", file = file, name = name, source = source,
                                    params = as.double(c(unlist(numbers), NaN)), changing = TRUE))
  check_adversary(out)
  out
}

# What it gives while its first arm is pulled: is that in [0, 1], and the same when it is asked again?
check_adversary <- function(arms) {
  given <- lapply(1:2, function(i) .Call(C_world_means, world_kernel(arms), 300, 1, 1))
  x <- given[[1]]
  bad <- which(is.na(x) | x < 0 | x > 1)[1]
  wrong <- if (Inf %in% x) "it writes past the bytes that size() asks for"
  else if (!is.na(bad)) sprintf("in round %d it gives %s for arm %d, not a number in [0, 1]", row(x)[bad],
                                number_text(x[bad]), col(x)[bad])
  else if (!identical(x, given[[2]])) "it gives other rewards when it is asked again with the same seed"
  if (!is.null(wrong)) {
    abort_input("f", "Adversary \"%s\" breaks the contract of dpts.h: %s.", arms$world$name, wrong,
                class = "dpts_error_contract")
  }
}

#' @export
world_sound.dpts_world_compiled <- function(world, arms) is.character(world$name) && is.double(world$params)

#' @export
world_sound.dpts_world_adversary <- function(world, arms) is.function(world$f) && is.numeric(world$block)

# The means of every round are not defined.
#' @export
world_means.dpts_world_adversary <- function(world, arms, n, seed, run) {
  matrix(arms$mean, n, n_arms(arms), byrow = TRUE)
}

#' @export
world_means.dpts_world_compiled <- world_means.dpts_world_adversary

#' @export
world_supply.dpts_world_adversary <- function(world, arms, seed, run, blocks) {
  key <- sprintf("%.0f", run)
  kept <- world$past[[key]]
  if (blocks$block == 0) kept <- list(arm = integer(), reward = numeric(), n = 0)
  else {
    last <- kept$offered[cbind(seq_along(blocks$played), blocks$played)]
    kept <- list(arm = .Call(C_past_add, kept$arm, kept$n, blocks$played),
                 reward = .Call(C_past_add, kept$reward, kept$n, last), n = kept$n + length(last))
  }
  past <- list(arm = .Call(C_past_view, kept$arm, kept$n), reward = .Call(C_past_view, kept$reward, kept$n))
  t <- blocks$first + seq_len(blocks$n) - 1
  k <- n_arms(arms)
  where <- function() sprintf("in round %s of run %s", number_text(t[1]), number_text(run))
  given <- with_stream(seed, run, 0, blocks$block, call_back(world$f(past, t), "f", where))
  n <- k * length(t)
  if (!good_draws(given, n, arms$range)) abort_draws(given, n, arms$range, where, arg = "f")
  offered <- matrix(as.double(given), length(t), k)
  world$past[[key]] <- c(kept, list(offered = offered))
  list(rewards = lapply(seq_len(k), function(i) offered[, i]), n = rep(length(t), k),
       where = rep(list(where), k))
}
