# The referee: slow models in plain R, written from the help pages and the theory alone, that play random games against the
# package. A model is a list of `setting()`, which draws a random setting, and `play(setting)`, which plays it and returns
# complaints: strings, one for each thing that was not as the model says. tools/referee.R plays them in turn.
#
# A model reads no file of R/, src/ or tests/testthat. Where a help page leaves something open, the model leaves it open too.

models <- list()

# Register a model. `counts` says that its complaints are about counts over many games (see `count_errors()`).
referee_model <- function(name, setting, play) {
  models[[name]] <<- list(setting = setting, play = play)
}

# One game of a model: everything in it follows from the seed, but for what is counted over all games.
referee_game <- function(name, seed) {
  set.seed(seed)
  setting <- models[[name]]$setting()
  play <- function(setting) tryCatch(withCallingHandlers(
    models[[name]]$play(setting),
    warning = function(w) tryInvokeRestart("muffleWarning"), message = function(m) tryInvokeRestart("muffleMessage")
  ), error = function(e) paste0("error in ", paste(deparse(conditionCall(e))[1], collapse = ""), ": ", conditionMessage(e)))
  tally$.suspicious <- FALSE
  complaints <- play(setting)
  if (isTRUE(tally$.suspicious) && !length(complaints)) {
    tally$.confirm <- TRUE
    setting$runs <- AGAIN * setting$runs
    setting$seed <- setting$seed + 1
    complaints <- play(setting)
    tally$.confirm <- FALSE
  }
  list(model = name, seed = seed, setting = setting, complaints = as.character(complaints))
}

# What was found and is not mended yet: such complaints are counted, and do not fail a game.
KNOWN <- c("^(ope|summary): an interval of width zero", "^plan drift", "^plan .*Laplace")

# ---- for settings
one_of <- function(...) list(...)[[sample.int(...length(), 1)]]
flip <- function(chance = 0.5) stats::runif(1) < chance
whole <- function(from, to) from + sample.int(to - from + 1, 1) - 1
between <- function(low, high) exp(stats::runif(1, log(low), log(high)))

# ---- for complaints
# "" or what differs, at the first place where it does; NA in `want` says that the model does not know.
differs <- function(what, got, want, tolerance = 1e-9) {
  if (length(got) != length(want)) return(sprintf("%s: %d values, and not %d", what, length(got), length(want)))
  known <- !is.na(want)
  bad <- known & (is.na(got) | abs(as.numeric(got) - as.numeric(want)) > tolerance * (1 + abs(as.numeric(want))))
  if (!any(bad)) return(character())
  i <- which(bad)[1]
  sprintf("%s: %s, and not %s (place %d; %d of %d)", what, format(got[i], digits = 10), format(want[i], digits = 10), i,
          sum(bad), length(want))
}

unlike <- function(what, got, want) {
  if (identical(as.vector(got), as.vector(want))) return(character())
  short <- function(x) substr(paste(format(x), collapse = " "), 1, 120)
  sprintf("%s: %s, and not %s", what, short(got), short(want))
}

# ---- errors that may happen, but seldom
# A statement such as "the interval holds with probability .95" is tested by a bet that its errors are more frequent: a mixture
# of likelihood ratios against the promised chance, from which no skill can win on average if the promise is kept. There
# are two: a modest bet on all games of a statement together, and one on a single setting. A game whose own bet does well
# is played again, on `AGAIN` times as many fresh runs, and those alone decide. A statement is accused when a bet has won
# 1 / share; the shares of all that is ever looked at add up to FALSE_ALARM.
FALSE_ALARM <- 5e-4
STATEMENTS <- 64
SUSPICIOUS <- 4
AGAIN <- 8
tally <- new.env()
forget_counts <- function() rm(list = ls(tally), envir = tally)

# ln of the mixture's gain from `errors` of `n`, each with a chance of at most `chance` given the past
log_bet <- function(errors, n, chance) {
  rate <- pmin(chance * c(1.2, 1.5, 2, 4, 8, 16, 64, 1e3), (1 + chance) / 2)
  rate <- c(rate, (1 + chance) / 2, (1 + 9 * chance) / 10, 0.99 + 0.01 * chance)
  gain <- errors * log(rate / chance) + (n - errors) * (log1p(-rate) - log1p(-chance))
  max(gain) + log(mean(exp(gain - max(gain))))
}

# Count `errors` of `n` for the statement `name`, of which each has a chance of at most `chance`.
count_errors <- function(name, errors, n, chance) {
  if (n == 0) return(character())
  if (is.na(errors)) return(paste0(name, ": NA"))
  text <- sprintf("%s: %g errors of %g, promised %g", name, errors, n, chance)
  here <- log_bet(errors, n, chance)
  if (isTRUE(tally$.confirm)) {
    looks <- tally$.looks <- 1 + if (is.null(tally$.looks)) 0 else tally$.looks
    return(if (here > log(2 * looks * (looks + 1) / FALSE_ALARM)) sprintf("%s (played again; ln bet %.1f)", text, here))
  }
  if (here > SUSPICIOUS) tally$.suspicious <- TRUE
  modest <- min(1.3 * chance, (1 + chance) / 2)
  old <- if (is.null(tally[[name]])) list(gain = 0, errors = 0, n = 0) else tally[[name]]
  new <- list(gain = old$gain + errors * log(modest / chance) + (n - errors) * (log1p(-modest) - log1p(-chance)),
              errors = old$errors + errors, n = old$n + n)
  alarm <- is.null(old$accused) && new$gain > log(2 * STATEMENTS / FALSE_ALARM)
  if (alarm || isTRUE(old$accused)) new$accused <- TRUE # once is enough
  tally[[name]] <- new
  if (alarm) sprintf("%s (in all games %g of %g; ln bet %.1f)", text, new$errors, new$n, new$gain)
}

# Play the models in turn until `seconds` of processor time are spent. -> how many games failed, of how many
referee_play <- function(names, seed, seconds, games = Inf, say = function(...) cat(..., "\n", sep = "")) {
  forget_counts()
  begin <- sum(proc.time()[c(1, 2)])
  known <- 0
  spent <- played <- failed <- structure(numeric(length(names)), names = names)
  while (sum(proc.time()[c(1, 2)]) - begin < seconds) {
    # The model on which least time was spent has the next game.
    name <- names[which.min(replace(spent, played >= games, Inf))]
    if (played[[name]] >= games) break
    before <- sum(proc.time()[c(1, 2)])
    out <- referee_game(name, seed + played[[name]])
    spent[[name]] <- spent[[name]] + sum(proc.time()[c(1, 2)]) - before
    played[[name]] <- played[[name]] + 1
    old <- if (length(KNOWN)) grepl(paste(KNOWN, collapse = "|"), out$complaints) else rep(FALSE, length(out$complaints))
    known <- known + any(old)
    out$complaints <- out$complaints[!old]
    if (length(out$complaints)) {
      failed[[name]] <- failed[[name]] + 1
      say("FAILED MODEL=", name, " SEED=", out$seed, " GAMES=1")
      say(paste0("  ", utils::head(out$complaints, 5), collapse = "\n"))
      say("  setting: ", substr(paste(trimws(deparse(out$setting, 500)), collapse = " "), 1, 1500))
    }
  }
  for (name in names) say(sprintf("%-14s %5d games, %d failed, %4.0f s", name, played[[name]], failed[[name]], spent[[name]]))
  if (known) say(known, " games with what is known: see KNOWN in tests/referee/referee.R")
  list(played = sum(played), failed = sum(failed))
}
