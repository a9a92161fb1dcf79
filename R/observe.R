# What is measured of a run. An observer of src/play_observer.h sees a run as it is played and gives
# one or more matrices with a column for each run, so that chunks of runs are joined by columns. Here is
# what becomes of them in the result of a simulation:
#   column   names of matrices with a row for each recorded round: columns of the result
#   cell     names of matrices that are kept of each run, as it is
#   scale    for a matrix in units of reward, a function that turns it from the engine's units, in
#            which rewards lie in [0, 1], to those of the arms: of x, the arms' range and the
#            recorded rounds
OBSERVERS <- list(
  regret = list(column = "regret",
                scale = list(regret = function(x, range, rounds) x * diff(range))),
  reward = list(column = "reward",
                scale = list(reward = function(x, range, rounds) x * diff(range) + range[1] * rounds)),
  pulls = list(cell = "pulls"),
  estimates = list(cell = "report"),
  history = list(cell = c("arms", "rewards"),
                 scale = list(rewards = function(x, range, rounds) x * diff(range) + range[1])),
  # Of a replay, which makes its own result of them
  sums = list(cell = "sums")
)

#' The observers of a simulation
#' @noRd
simulate_observers <- function(history = FALSE) {
  c("regret", "reward", "pulls", "estimates", if (history) "history")
}

#' The matrices that observers give, all of them or those that become columns or cells
#' @noRd
observed <- function(observers, what = c("column", "cell")) {
  unlist(lapply(OBSERVERS[observers], `[`, what), use.names = FALSE)
}

#' What was seen, in the units of the rewards
#' @noRd
unscale <- function(seen, observers, arms, rounds) {
  range <- arms_scale(arms)
  if (identical(range, c(0, 1))) return(seen)
  for (observer in OBSERVERS[observers]) for (name in names(observer$scale)) {
    seen[[name]] <- observer$scale[[name]](seen[[name]], range, rounds)
  }
  seen
}
