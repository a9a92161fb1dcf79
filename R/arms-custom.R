#' Arms with rewards that you draw
#'
#' Any distribution that R can draw from: you give a function that draws an arm's rewards, and the
#' arms' means, with which regret is measured.
#'
#' @details
#' **Means that do not change.** `draw(arm, n)` gives n rewards of an arm (a number from 1). The
#' engine asks for them in blocks, 64 at first and up to some thousands, before they are needed, so
#' that policies keep their speed. It follows that `draw` must not depend on what was pulled: the
#' m-th reward of an arm in a run is the same for all policies.
#'
#' **Means that change.** With a function `means`, `draw` gets the rounds too: `draw(arm, n, t)`
#' gives the arm's rewards in the n rounds `t`, and `means(t)` the means in these rounds, a matrix
#' with a row for each round and a column for each arm (which `cbind()` makes). A function that gives
#' the means of one round, as a vector, works too, but slowly. Regret is measured against the best arm of
#' each round. All arms are drawn for all rounds, whichever is pulled.
#'
#' Both functions draw from R's generator as they like. It is set, by `seed`, the run, the arm and the block,
#' before they are called, and put back afterwards. Results are therefore reproducible, also in parallel, and
#' `.Random.seed` stays as it was. They must depend on their arguments and on random numbers alone.
#'
#' Rounds are simulated one by one, never skipped. After a simulation what was earned is compared with the
#' means: a warning says if they do not agree (z above 6).
#'
#' @param draw A function: see Details.
#' @param means The arms' exact means: numbers, or a function of the rounds; see Details. Names (of
#'   columns) are the arms' names.
#' @param ... Not used; later arguments must be named.
#' @param range Where rewards lie: two numbers. A reward outside is an error; policies see rewards
#'   scaled from `range` to \[0, 1\]. `NULL`: rewards have no bounds, and are for policies without
#'   privacy, as in [arms_gaussian()].
#' @param check Draw 10,000 rewards of each arm (of changing arms in the rounds 1, 10, 100 and 1000)
#'   and compare their mean with `means` by a z test? An error if they do not agree: a probability of less
#'   than 1e-6 if they do.
#' @inherit arms_bernoulli return
#' @template see_arms
#' @examples
#' # Rewards that are often 0 and else uniform
#' draw <- function(arm, n) stats::rbinom(n, 1, c(0.5, 0.6)[arm]) * stats::runif(n)
#' arms <- arms_custom(draw, means = c(a = 0.25, b = 0.3), check = TRUE)
#' summary(dpts_simulate(arms, policy_ucb1(), 1000, record = 2, seed = 1))
#'
#' # A weekend every seven rounds
#' wave <- function(t) cbind(steady = 0.5, moody = ifelse(t %% 7 < 2, 0.8, 0.4))
#' arms_custom(function(arm, n, t) stats::rbinom(n, 1, wave(t)[, arm]), wave)
#' @export
arms_custom <- function(draw, means, ..., range = c(0, 1), check = FALSE) {
  check_dots_empty(...)
  check_all_given()
  check_flag(check)
  bounds <- if (is.null(range)) c(-Inf, Inf) else check_range(range)
  changing <- is.function(means)
  check_callback(draw, if (changing) "draw(arm, n, t)" else "draw(arm, n)")
  if (changing) {
    means <- by_rounds(means)
    first <- means(1)
    first <- stats::setNames(c(first), check_arm_names(colnames(first), "means"))
    world <- new_world("table", draw = draw, means = means, changing = TRUE, waits = TRUE)
  } else {
    first <- check_by_arm(means)
    world <- world_supplied(lapply(seq_along(first), function(arm) list(draw = draw, arm = arm)))
  }
  if (any(first < bounds[1] | first > bounds[2])) {
    abort_arg("means", sprintf("inside `range`, which is [%s, %s]", number_text(bounds[1]),
                               number_text(bounds[2])))
  }
  arms <- new_arms("supplied", first, rep(list(numeric()), length(first)),
                   list(draw = draw, means = if (changing) means else first, range = range),
                   "custom rewards", range = bounds, world = world, class = "custom")
  try_draws(arms)
  if (check) check_means(arms)
  arms
}

# ---- the world --------------------------------------------------------------------------

#' @export
world_sound.dpts_world_supplied <- function(world, arms) {
  is.list(world$draw) && length(world$draw) == n_arms(arms)
}
#' @export
world_sound.dpts_world_table <- function(world, arms) {
  is.function(world$draw) && is.function(world$means)
}

#' @export
world_means.dpts_world_table <- function(world, arms, n, seed, run) world$means(seq_len(n))

# The next rewards of some arms, one block for each: what the functions gave, how many it should be,
# and what for. The engine checks and scales.
#' @export
world_supply.dpts_world_supplied <- function(world, arms, seed, run, blocks) {
  where <- lapply(blocks$arm, function(arm) {
    function() sprintf("for arm %s in run %s", quote_arm(arms, arm), number_text(run))
  })
  rewards <- lapply(seq_along(blocks$arm), function(i) {
    source <- world$draw[[blocks$arm[i]]]
    draw <- source$draw
    n <- blocks$n[i]
    with_stream(seed, run, blocks$arm[i], blocks$block[i], call_back(draw(source$arm, n), "draw", where[[i]]))
  })
  list(rewards = rewards, n = blocks$n, where = where)
}

# Rewards and means of all arms in the rounds to come
#' @export
world_supply.dpts_world_table <- function(world, arms, seed, run, blocks) {
  t <- blocks$first + seq_len(blocks$n) - 1
  range <- arms_scale(arms)
  means <- world$means
  draw <- world$draw
  means <- call_back(means(t), "means", function() sprintf("in round %s", number_text(t[1])))
  where <- lapply(seq_len(n_arms(arms)), function(arm) {
    function() sprintf("for arm %s in run %s, rounds %s to %s", quote_arm(arms, arm), number_text(run),
                       number_text(t[1]), number_text(t[length(t)]))
  })
  rewards <- lapply(seq_len(n_arms(arms)), function(arm) {
    with_stream(seed, run, arm, blocks$block, call_back(draw(arm, length(t), t), "draw", where[[arm]]))
  })
  list(rewards = rewards, n = rep(length(t), n_arms(arms)), where = where,
       means = (c(means) - range[1]) / diff(range))
}

# ---- the functions ----------------------------------------------------------------------

# Means as a function of many rounds, which gives a matrix; one for a single round will do
by_rounds <- function(means) {
  check_callback(means, "means(t)", "means")
  one <- call_back(means(1), "means", function() "in round 1")
  k <- if (is.matrix(one)) ncol(one) else length(one)
  if (!fits_rounds(one, 1, k)) {
    abort_user_function("means", sprintf(paste(
      "must give a matrix of finite numbers with a row for each round and a column for each arm;",
      "in round 1 it gave %s."), describe(one)))
  }
  labels <- if (is.matrix(one)) colnames(one) else names(one)
  together <- fits_rounds(tryCatch(means(c(1, 2, 3)), error = function(e) NULL), 3, k)
  rounds_function(means, together, k, labels)
}

# n rounds with the means of k arms each?
fits_rounds <- function(x, n, k) {
  is.numeric(x) && length(x) == n * k && k > 0 && all(is.finite(x)) &&
    (n == 1 || (is.matrix(x) && nrow(x) == n))
}

# `together`: Does `means` take several rounds at once?
rounds_function <- function(means, together, k, labels) {
  force(means)
  function(t) {
    x <- if (together) means(t) else do.call(rbind, lapply(t, means))
    if (!fits_rounds(x, length(t), k)) {
      stop(sprintf("it must give %d finite numbers for each round, and for %d rounds it gave %s", k,
                   length(t), describe(x)))
    }
    matrix(x, length(t), k, dimnames = list(NULL, labels))
  }
}

# Two rewards of each arm, before any work: most mistakes show at once
try_draws <- function(arms) {
  for (arm in seq_len(min(n_arms(arms), 100))) sample_draws(arms, arm, 2, 1)
}

# n rewards of an arm, all in round t if it changes, in the arms' units
sample_draws <- function(arms, arm, n, t) {
  changing <- is_changing(arms)
  draw <- if (changing) arms$world$draw else arms$world$draw[[arm]]$draw
  where <- function() paste0("for arm ", quote_arm(arms, arm), if (changing) paste(" in round", t))
  x <- with_stream(0, 0, arm, t, call_back(
    if (changing) draw(arm, n, rep(t, n)) else draw(arm, n), "draw", where
  ))
  scale <- arms_scale(arms)
  scale_draws(x, n, arms, where) * diff(scale) + scale[1]
}

check_means <- function(arms, n = 1e4) {
  rounds <- if (is_changing(arms)) c(1, 10, 100, 1000) else 1
  least <- stats::qnorm(1 - 1e-6 / (2 * n_arms(arms) * length(rounds)))
  for (t in rounds) for (arm in seq_len(n_arms(arms))) {
    x <- sample_draws(arms, arm, n, t)
    mean <- if (is_changing(arms)) arms$world$means(t)[arm] else arms$mean[[arm]]
    z <- abs(mean(x) - mean) / (stats::sd(x) / sqrt(n))
    if (abs(mean(x) - mean) < 1e-9 || (is.finite(z) && z <= least)) next
    abort_input("means",
                "`means` must agree with `draw`: arm %s has mean %s%s, and %s draws have mean %s (z = %s).",
                quote_arm(arms, arm), number_text(mean),
                if (is_changing(arms)) paste(" in round", t) else "", words_whole(n),
                number_text(mean(x), digits = 4), number_text(z, digits = 3), class = "dpts_error_means")
  }
}
