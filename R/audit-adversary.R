# The adversaries of an audit: pairs of neighbouring streams. A stream is a table of rewards,
# one row per round and one column per arm; the reward of a round is that of the arm pulled in
# it. Neighbours differ in one round, of whose rewards only one is ever seen.

# The catalogue: what the rounds after the first pay
audit_catalogue <- function(horizon, k, seed) {
  t <- seq_len(horizon)
  pay <- function(...) pay_table(horizon, k, ...)
  list(
    silent = pay(0, 1),
    success = pay(1, 1),
    failure = pay(0, 0),
    contest = pay(0.5, 0.5),
    alternating = pay(t %% 2, t %% 2),
    # The lead changes in rounds 2, 4, 8, ...
    stages = pay(0.5, floor(log2(t)) %% 2),
    random = coin_tosses(horizon, k, seed),
    fractions = pay(0.25 + 0.5 * (t %% 2), 0.25 + 0.5 * (t %/% 2 %% 2))
  )
}

# What the first arm pays, which most policies pull in round 1, and what the others pay
pay_table <- function(horizon, k, private, others) {
  table <- matrix(others, horizon, k)
  table[, 1] <- private
  table
}

# For the adversary that looks for a good table among these in a pilot
audit_candidates <- function(horizon, k, seed) {
  gaps <- c(0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
  c(lapply(c(gaps, -gaps), function(gap) pay_table(horizon, k, (1 - gap) / 2, (1 + gap) / 2)),
    lapply(1:4, function(i) coin_tosses(horizon, k, seed + i)))
}

coin_tosses <- function(horizon, k, seed) {
  draws <- .Call(C_draw_rewards, arms_bernoulli(c(0.5, 0.5)), 1L, horizon * k, seed)
  matrix(draws, horizon, k)
}

# The pair of streams of a table: in round 1, or in all rounds of a person, all arms pay 0, or 1. An arm that
# a policy draws at random there then has its reward changed, too.
changed_first <- function(table, rounds = 1, pay = c(0, 1)) {
  x <- y <- table
  x[rounds, ] <- pay[1]
  y[rounds, ] <- pay[2]
  list(x = x, y = y)
}

# A pair of streams of [0, 1] in the units of a policy that clips: 0 and 1 are the ends of its range. Where it
# finds the range, the rewards that change, those of `rounds`, are beyond all that it may find.
to_range <- function(pair, clips, rounds) {
  if (is.null(clips)) return(pair)
  both_ends <- is.na(clips$lower)
  low <- if (both_ends) -1 else clips$lower
  high <- if (both_ends) 1 else if (is.na(clips$upper)) low + 1 else clips$upper
  pair <- lapply(pair, function(table) low + (high - low) * table)
  if (!is.na(clips$upper)) return(pair)
  far <- 2^40 + 2 * abs(low)
  pair$y[rounds, ] <- far
  # The pilot looks at sizes, which are least at 0.
  if (both_ends) pair$x[rounds, ] <- ifelse(rounds <= clips$pilot, 0, -far)
  pair
}

# Who comes in each round, a number of each person (src/play_visits.h)
who_comes <- function(visits, horizon) {
  t <- seq_len(horizon) - 1
  first <- t %/% (visits[3] * visits[2]) * visits[3]
  first + (t - first * visits[2]) %% pmin(visits[3], visits[1] - first)
}

# The adversaries asked for: a named list of pairs. "searched" is a list of candidates.
# `who`: Of each round the person all of whose rewards change together; NULL: one reward does.
# `policy`: For whose rewards they are; NULL: for rewards in [0, 1]
audit_adversaries <- function(streams, horizon, k, seed, who = NULL, policy = NULL) {
  names <- c("silent", "success", "failure", "contest", "alternating", "stages", "random", "searched",
             "fractions")
  if (is.list(streams)) {
    return(list(given = check_streams(streams, horizon, k, who, any = takes_any_reward(policy))))
  }
  if (is.null(streams)) streams <- names
  streams <- unique(check_choice(streams, names, several = TRUE))
  tables <- length(streams) + 17 * ("searched" %in% streams)
  check_memory(16 * horizon * k * tables, "horizon", "leave streams that fit into memory: these",
               hint = "Fewer `streams` need less.")
  catalogue <- audit_catalogue(horizon, k, seed)
  clips <- if (takes_any_reward(policy)) clipping_of(policy)
  pilot <- if (is.null(clips) || clips$pilot >= horizon) 0 else clips$pilot
  lapply(stats::setNames(nm = streams), function(name) {
    # What comes after a pilot is seen by the policy inside; one adversary changes a reward of the pilot.
    first <- if (name == "random") 1 else pilot + 1
    rounds <- if (is.null(who)) first else which(who == who[first])
    # A whole reward moves a sum the most, and code may treat fractions in another way than whole ones.
    pay <- if (name == "fractions") c(0, 0.99) else c(0, 1)
    pair <- function(table) to_range(changed_first(table, rounds, pay), clips, rounds)
    if (name != "searched") return(pair(catalogue[[name]]))
    list(candidates = lapply(audit_candidates(horizon, k, seed), pair))
  })
}

# Two tables that differ in one round, or in rounds of one person
# `any`: of any rewards?
check_streams <- function(streams, horizon, k, who = NULL, any = FALSE) {
  stop_streams <- function(...) abort_input("streams", "`streams` must %s.", sprintf(...))
  if (length(streams) != 2) {
    abort_arg("streams", "two matrices, `list(x, y)`, or names of the catalogue", streams)
  }
  size <- sprintf("%s rows (rounds) and %s columns (arms)", words_whole(horizon), k)
  for (i in 1:2) {
    x <- streams[[i]]
    if (!is.matrix(x) || !is.numeric(x) || nrow(x) != horizon || ncol(x) != k) {
      what <- if (is.matrix(x)) sprintf("a matrix of %d x %d", nrow(x), ncol(x)) else describe(x)
      stop_streams("hold matrices of numbers with %s; element %d is %s", size, i, what)
    }
    good <- is.finite(x) & (any | (x >= 0 & x <= 1))
    if (!all(good)) {
      stop_streams("hold %s; element %d has %s", if (any) "finite numbers" else "rewards in [0, 1]", i,
                   describe(x[!good][1]))
    }
  }
  differ <- which(rowSums(streams[[1]] != streams[[2]]) > 0)
  changed <- if (is.null(who)) differ else unique(who[differ])
  if (length(changed) != 1) {
    stop_streams("differ in the reward%s, not of %s",
                 if (is.null(who)) " of one round" else "s of one person",
                 if (length(differ)) paste("rounds", paste(utils::head(differ, 3), collapse = ", "))
                 else "none")
  }
  pair <- lapply(unname(streams), function(x) {
    storage.mode(x) <- "double"
    unname(x)
  })
  stats::setNames(pair, c("x", "y"))
}

# The first round in which the streams of a pair differ
changed_round <- function(pair) which(rowSums(pair$x != pair$y) > 0)[1]

# ---- work ---------------------------------------------------------------------------------

# What an audit plays, as a job of R/work.R: its problems are pairs of streams. Each candidate of a
# searching adversary is a pair of its own.
# `visits`: How often people come, as simulations have it; NULL: once.
# `...`: What else decides the numbers, an element for each pair, or one for all.
audit_job <- function(policy, pairs, runs, seed, keeps, visits, ..., name = "Auditing") {
  pairs <- unlist(lapply(unname(pairs), function(pair) pair$candidates %||% list(pair)), recursive = FALSE)
  problems <- Map(function(pair, ...) c(pair, list(visits = visits, ...)), pairs, ...)
  list(problems = stats::setNames(problems, seq_along(pairs)), policies = list(policy = policy),
       runs = seq_len(runs) + 0, seed = seed, total = runs, keeps = keeps, name = name)
}

# What a policy publishes on a stream: a matrix of arms, one row per round and one column per
# run. Every kind of policy is played here.
play_stream <- function(policy, stream, runs, seed, threads = 1, visits = NULL) {
  arms <- arms_bernoulli(rep(0.5, ncol(stream)))
  arms$world <- new_world("stream", rewards = stream, changing = TRUE)
  job <- simulate_job(list(stream = arms), list(policy = policy), nrow(stream), runs, seed,
                      record = nrow(stream), threads = threads, observers = "history")
  job$visits <- visits
  simulate_chunk(job, list(problem = "stream", policy = "policy", run = as.double(runs)))$arms
}
