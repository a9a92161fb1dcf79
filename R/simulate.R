#' Simulate bandit policies
#'
#' `dpts_simulate()` estimates the regret of one or more policies on arms that you describe. It runs every
#' policy many times and returns the regret curves as a tidy data frame. Use it to compare policies before you
#' use one. To run a policy on people use [dpts_agent()]; to evaluate one on a log, [dpts_ope()].
#'
#' @details
#' Regret is pseudo-regret: the sum over rounds of the gap between the best mean and the mean of the arm that
#' was pulled. Pseudo-regret has the same mean as realised regret and a smaller variance.
#'
#' Random numbers are keyed by (`seed`, run, purpose), where the purposes are rewards, the policy's own draws
#' and privacy noise. A run depends on its key, the arms, the policy and the horizon, and on nothing else: not
#' on the threads, the chunks, the workers, the recorded rounds, which other runs are asked for or which other
#' policies are in the call. Policies in one call share random numbers run by run: compare them by differences
#' within runs.
#'
#' Rounds are simulated by the fastest method that keeps their distribution:
#'
#' * one by one;
#' * many at once, where an arm leads and rounds are certain to pull it (Gaussian and Beta Thompson sampling,
#'   UCB1 and others);
#' * with draws of a few posteriors in place of all (Gaussian, Beta and lazy Thompson sampling, with 64 arms
#'   or more of which none leads);
#' * for many runs side by side in vector code (Gaussian Thompson sampling where no arm leads).
#'
#' The method depends on the policy, the arms and the horizon alone. `options(dpts.engine = "plain")`
#' simulates every round one by one, for comparison: the random numbers differ, the distribution is the same.
#'
#' If the package future.apply is installed and a [future::plan()] other than sequential is set, long
#' simulations are shared among its workers. On a cluster without it, let each job simulate its own `runs`,
#' such as `runs = run_range(101, 200)`, and `rbind()` the parts.
#'
#' **Rewards that come late.** With `delay`, the reward of round t comes at the end of round
#' t + delay; with `batch` = B, observed rewards reach the policy only at the end of rounds B, 2 B, 3 B, and
#' so on. Until then the policy chooses without them. The policy never
#' learns rewards that would come after the horizon, but they count in `reward` and in the regret.
#' Several delays are drawn with equal probabilities, on a random stream of their own. A function is
#' called once in every run, as `delay(horizon)`. It draws from R's generator, which is set by `seed` and run
#' before the call and restored after it. Guarantees of privacy hold for every delay that does not depend on
#' rewards: see [dpts_privacy()]. All rounds are then simulated one by one.
#'
#' The simulation's random numbers are reproducible and not cryptographic: arms computed
#' from real people's data by a seeded simulation must not be published as private. The runs of several
#' policies of a call, or of calls with one seed, share random numbers, so their outputs are not independent
#' releases and must not be composed as such ([privacy_compose()]).
#'
#' @param arms The problem, from [arms_bernoulli()] and its family, or a named list of problems.
#' @param policies A policy, such as [policy_ts_gaussian()], or a named list of them. One
#'   without a name is labelled by its kind, and several of a kind by what they differ in.
#' @param horizon Number of rounds: a whole number, up to 2^53.
#' @param ... Not used; later arguments must be named.
#' @param runs Number of runs, or the run numbers themselves: [run_range()], two or more distinct
#'   whole numbers, or one as `I(7)`.
#' @param seed Seed of the simulation: a whole number, or `NULL` to take one from R's generator. A given seed
#'   leaves `.Random.seed` as it was.
#' @param record Number of rounds to keep, spaced so that both the start and the end are
#'   seen, or (two or more numbers, or one as `I(1000)`) which rounds. A result of more than
#'   4 GB is refused before any work; `options(dpts.memory = 16e9)` allows 16 GB.
#' @param threads Number of threads, over which runs are shared.
#' @param progress Show a progress bar?
#' @param delay How many rounds late a reward comes: a whole number, several from which each round
#'   draws its own, or a function of n that gives the delays of n rounds; see Details.
#' @param batch Size of the groups of rounds, such as a week of participants, at the end of which the policy
#'   learns the rewards that have come: a whole number. 1: at once.
#' @param checkpoint A file, or `NULL`; it needs a `seed`. Finished chunks of runs are kept in it. The same
#'   call resumes from it, a call with more runs or more policies simulates what is missing, and a call with
#'   another seed, problem, horizon or `record` is refused. The file is written whole or not at all.
#' @param history Keep every round, for [dpts_history()]?
#' @param finish Whether a policy that releases rewards in batches releases the open batches after the last
#'   round. Each reward is still in one release only, and the guarantee holds; [estimates()] then know of
#'   all rewards. It changes nothing for policies that release no batches, and is refused if none does.
#' @returns A tibble of class `dpts_simulation`, one row for each problem (if a list of them is given),
#'   policy, run and recorded round:
#'   * `problem`: factor, the names of the problems; only where a list is given;
#'   * `policy`: factor, labelled by the names of `policies`;
#'   * `run`: the run's number;
#'   * `t`: the round, from 1;
#'   * `regret`: cumulative pseudo-regret after round `t`, in units of reward;
#'   * `reward`: cumulative realised reward after round `t`.
#'
#'   [summary()][summary.dpts_simulation] averages over runs, [pulls()] counts pulls, and
#'   [autoplot()][autoplot.dpts_simulation] draws the curves.
#' @section Errors:
#' A bad argument raises an error of class `dpts_error_input` before any work is done;
#' trouble with the checkpoint one of class `dpts_error_checkpoint`.
#' @seealso [dpts_recommend()] finds the best policy within a budget, [dpts_identify()] counts people until
#'   a verdict, [dpts_agent()] runs a policy on people.
#' @concept simulation
#' @concept pseudo-regret
#' @concept cumulative regret
#' @examples
#' arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
#' sim <- dpts_simulate(
#'   arms,
#'   list(gaussian = policy_ts_gaussian(), beta = policy_ts_beta()),
#'   horizon = 2000, runs = 20, seed = 1
#' )
#' sim
#' summary(sim)
#' @export
dpts_simulate <- function(arms, policies, horizon, ..., runs = 10, seed = NULL,
                          record = 200, threads = getOption("dpts.threads", 1L),
                          progress = interactive(), checkpoint = NULL, delay = 0, batch = 1,
                          history = FALSE, finish = FALSE) {
  check_dots_empty(...)
  problems <- check_problem_list(arms)
  policies <- check_policies(policies)
  horizon <- check_count(horizon)
  for (problem in problems) {
    check_horizon(policies, n_arms(problem), horizon)
    check_fit(policies, n_arms(problem), problem$contexts, "`arms`", strata_in(problem))
    check_rewards(policies, problem)
    check_recorded(problem, horizon)
  }
  inform_coins(policies, problems)
  check_flag(history)
  check_finish(finish, policies)
  check_size(record, runs, policies, horizon, length(problems), history)
  for (problem in problems) {
    warn_shortened(policies, vapply(policies, share_shortened, 0, problem$contexts))
    inform_outweighed(policies, nrow(problem$contexts$values) %||% 0, n_arms(problem), horizon)
    if (finish) next
    warn_unreleased(unreleased(policies, problem, horizon), nrow(problem$contexts$values), horizon)
    warn_small_strata(policies, problem$world[["share"]] %||% 1, horizon)
  }
  runs <- check_runs(runs)
  record <- check_record(record, horizon)
  threads <- check_count(threads, 1, 1024)
  check_flag(progress)
  check_checkpoint(checkpoint, seed)
  seed <- check_seed(seed)
  delay <- check_delay(delay, horizon)
  batch <- min(check_count(batch), horizon)
  job <- simulate_job(problems, policies, horizon, runs = runs, seed = seed, record = record,
                      threads = threads, delay = delay, batch = batch,
                      observers = simulate_observers(problems, history))
  if (finish) {
    job$finish <- TRUE
    # What a policy has published in the end is another thing then.
    job$problems <- lapply(job$problems, `[[<-`, "finish", TRUE)
  }
  chunks <- play_job(job, simulate_chunk, checkpoint, progress)
  gather_simulation(job, chunks, several = !inherits(arms, "dpts_arms"))
}

# All that decides what is played, and what is observed of it
# `problems`: Arms, by name.
simulate_job <- function(problems, policies, horizon, runs, seed, record, threads = 1, delay = 0L,
                         batch = 1, observers = simulate_observers(problems)) {
  problems <- lapply(problems, new_problem, horizon = horizon, delay = delay, batch = batch)
  list(problems = problems, policies = policies, runs = as.double(runs), seed = seed,
       record = as.double(record),
       threads = threads, engine = simulate_engine(), observers = observers,
       keeps = observed(observers))
}

# The first `rounds` of a simulation, of policies that know the whole `horizon`
simulate_begun <- function(problems, policies, rounds, horizon, progress, ...) {
  job <- simulate_job(problems, policies, rounds, ...)
  job$known <- horizon
  gather_simulation(job, play_job(job, simulate_chunk, NULL, progress), several = TRUE)
}

# ---- arguments ----------------------------------------------------------------------

check_finish <- function(finish, policies) {
  check_flag(finish)
  if (finish && !any(vapply(policies, is_true_of, NA, "finishes"))) {
    abort_arg("finish", "FALSE where no policy releases sums of batches", finish)
  }
}

# The policies of which no batch is full within the horizon
unreleased <- function(policies, arms, horizon) {
  d <- nrow(arms$contexts$values) %||% 0
  Filter(function(policy) !has_released(policy, d, horizon), policies)
}

# One problem, or several by name
check_problem_list <- function(arms, arg = caller_arg(arms)) {
  check_given(arms, arg)
  made <- if (is.list(arms) && !inherits(arms, "dpts_arms")) vapply(arms, inherits, NA, "dpts_arms")
  if (!any(made)) {
    check_arms(arms, arg)
    return(list(problem = arms))
  }
  for (i in which(!made)) check_arms(arms[[i]], sprintf("%s[[%d]]", arg, i))
  labels <- names(arms)
  missing <- is.null(labels) || anyNA(labels) || !all(nzchar(labels))
  if (missing || anyDuplicated(labels)) {
    abort_input(arg, "`%s` must be a problem, or a list of problems with different names; %s.", arg,
                if (missing) "names are missing" else
                  sprintf("\"%s\" comes twice", labels[duplicated(labels)][1]))
  }
  arms
}

check_horizon <- function(policies, k, horizon, arg = "horizon") {
  for (name in names(policies)) {
    least <- policies[[name]]$rounds_per_arm * k
    life <- life_of(policies[[name]])
    if (min(horizon, life) < least) {
      if (life < least) arg <- "every"
      abort_input(arg, "`%s` must be at least %s: policy \"%s\" first pulls each of %s %s.", arg,
                  words_whole(least), name, count_noun(k, "arm", "arms"),
                  if (least == k) "once" else paste(words_whole(least / k), "times"),
                  class = "dpts_error_horizon")
    }
  }
}

#' Run numbers from one to another
#'
#' `run_range()` numbers the runs of a part of a simulation. It gives `from`, `from + 1`, ..., `to`, for the
#' argument `runs` of [dpts_simulate()] and its relatives. Unlike `from:to` they stay run numbers when there
#' is only one of them: `runs = 7:7` asks for seven runs, `runs = run_range(7, 7)` for run 7.
#'
#' @param from,to Whole numbers from 1, `from` not above `to`.
#' @template dots
#' @returns The run numbers: whole numbers of class `AsIs`, as [I()] makes it.
#' @template see_simulation
#' @examples
#' # The third job of an array, ten runs each
#' job <- 3
#' runs <- run_range(10 * (job - 1) + 1, 10 * job)
#' dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ucb1(), 100, runs = runs, seed = 1)
#' @export
run_range <- function(from, to, ...) {
  check_dots_empty(...)
  from <- check_count(from)
  to <- check_count(to, from)
  I(from:to) # which R keeps as its two ends
}

# What a result would take, before anything of that size is made
check_size <- function(record, runs, policies, horizon, problems = 1, history = FALSE) {
  each <- how_many(runs) * length(policies) * problems
  # `bytes`: of a row; `fits`: what the argument must be
  refuse_above <- function(arg, rounds, bytes, fits) {
    rows <- rounds * each
    if (is.na(rows)) return(invisible())
    check_memory(rows * bytes, arg, sprintf(
      "%s that fits into memory: %s of %s and %s make %s rows, which", fits,
      count_noun(rounds, "round", "rounds"), count_noun(how_many(runs), "run", "runs"),
      count_noun(length(policies), "policy", "policies"), label_count(rows)
    ))
  }
  # What dpts_history() makes of it: three integers and two doubles, beside what is kept
  if (history) refuse_above("history", horizon, 40, "be of a size")
  refuse_above("record", min(how_many(record), horizon), 36, "leave a result") # an integer and four doubles
}

# A count becomes 1..n; run numbers stay as they are
check_runs <- function(runs) {
  if (is_count_argument(runs)) return(seq_len(check_count(runs, 1, 1e9)) + 0)
  check_picks(runs, 2^53, "a count of runs, or distinct whole numbers from 1", "run", "runs")
}

# Run numbers or rounds themselves: whole numbers from 1 that differ
check_picks <- function(x, upper, what, each, arg) {
  class(x) <- setdiff(oldClass(x), "AsIs") # a factor stays one, and is refused
  if (!is.numeric(x) || length(x) == 0 || is.object(x) || is.matrix(x)) abort_arg(arg, what, x)
  bad <- x[!(is.finite(x) & x >= 1 & x <= upper & x == trunc(x))]
  if (length(bad)) abort_arg(arg, what, bad[1])
  if (anyDuplicated(x)) {
    abort_input(arg, "`%s` must be distinct; %s %s comes twice.", arg, each, number_text(x[duplicated(x)][1]))
  }
  as.double(x)
}

# One plain number is a count; several, or one inside I(), are the things themselves
is_count_argument <- function(x) length(x) == 1 && !inherits(x, "AsIs")

# How many runs or rounds these are
how_many <- function(x) if (is.numeric(x) && is_count_argument(x)) x else length(x)

check_record <- function(record, horizon, arg = caller_arg(record)) {
  force(arg)
  if (is_count_argument(record)) return(record_rounds(check_count(record, 1, arg = arg), horizon))
  what <- sprintf("a count, or distinct rounds from 1 to the horizon, %s", number_text(horizon))
  sort(check_picks(record, horizon, what, "round", arg))
}

# n rounds of a horizon, about half of them evenly spaced and half in geometric
# progression, so that both the start and the end of a curve are seen
record_rounds <- function(n, horizon) {
  if (n >= horizon) return(seq_len(horizon) + 0)
  if (n == 1) return(horizon)
  linear <- round(seq(1, horizon, length.out = max(2, n %/% 2)))
  mixed <- function(m) {
    unique(sort(c(linear, round(exp(seq(0, log(horizon), length.out = m))))))
  }
  # The first terms of a progression of whole numbers coincide: take as many terms as leave n rounds.
  low <- 1
  high <- 2 * n
  while (length(mixed(high)) <= n) high <- 2 * high
  while (high - low > 1) {
    middle <- (low + high) %/% 2
    if (length(mixed(middle)) <= n) low <- middle else high <- middle
  }
  rounds <- mixed(low)
  # Rounding may leave a few too few: halve the widest gaps, on the cube-root scale, which
  # lies between the even and the geometric one.
  while (length(rounds) < n) {
    gap <- diff(rounds^(1 / 3))
    gap[diff(rounds) < 2] <- 0
    at <- utils::head(order(-gap), min(n - length(rounds), sum(gap > 0)))
    rounds <- sort(c(rounds, (rounds[at] + rounds[at + 1]) %/% 2))
  }
  rounds
}

# Delays as integers, or a function. What would come after the horizon never comes.
check_delay <- function(delay, horizon) {
  if (is.function(delay)) {
    check_callback(delay, "delay(n)")
    if (horizon > 1e8) abort_arg("horizon", "at most 1e8 where `delay` is a function", horizon)
    return(delay)
  }
  if (identical(delay, 0)) return(0L) # in most calls
  delay <- as.vector(check_numbers(delay, 0))
  if (any(delay != trunc(delay))) {
    abort_arg("delay", "whole numbers of at least 0, or a function", delay[delay != trunc(delay)][1])
  }
  as.integer(pmin(delay, horizon, .Machine$integer.max - 1))
}

# ---- work ---------------------------------------------------------------------------

# The job on one of its problems: with its arms, its horizon and its delays
job_on <- function(job, problem) {
  problem <- unclass(job$problems[[problem]])
  job$problems <- NULL
  c(problem, job)
}

# Play one chunk in slices of a twentieth of a second. Between slices R answers Ctrl-C.
# `tick`: A function of the share of the chunk that is done, which says whether to continue.
# Returns What the engine says, or NULL if it was not to continue.
simulate_chunk <- function(job, chunk, tick = function(share) TRUE) {
  job <- job_on(job, chunk$problem)
  policy <- job$policies[[chunk$policy]]
  strata <- strata_in(job$arms)
  kernel <- stratified(kernel(policy, job$known %||% job$horizon), strata)
  if (!is.null(job$ask)) {
    k <- n_arms(job$arms) / strata
    to <- noise_share(correlation_of(policy), k, job$ask$error, job$ask$signs %||% 1)
    flip <- flip_of(policy)
    job$ask$margin <- job$ask$margin * gap_of_sums(policy)
    # Bits are looked at as they come.
    if (flip > 0 && job$engine == "auto" && !is_true_of(policy, "gives_verdict")) job$engine <- "plain"
    parts <- if (isTRUE(job$ask$by_stratum)) strata else 1
    design <- release_design(policy, k, strata / parts)
    job$ask <- c(job$ask, design, parts = parts, kind = evidence_kind(design), risk = to$risk,
                 threshold = log((job$ask$claims %||% max(k - 1, 1)) / to$left),
                 interval = log(2 * (job$ask$intervals %||% 1) / to$left))
  }
  job$visits <- visits_with(job$visits, policy)
  look <- if (!is.null(job$look)) job$look(job, policy)
  if (!is.null(look)) job$answers$looks <- look$asks
  out <- simulate_begin(job, kernel, chunk$run, job$threads)
  needs <- needs_supply(job) || isTRUE(look$asks)
  if (needs) {
    job$arms$world$past <- new.env() # of an adversary
    put_back <- occupy_generator()
    on.exit(put_back())
  }
  shown <- if (needs) seconds_now()
  repeat {
    share <- with_host(kernel, .Call(C_simulate_advance, out$handle, 0.05))
    if (needs) supply(out$handle, job, look, quote(dpts_simulate()))
    # While R supplies rewards, slices are short.
    if (!needs || share >= 1 || seconds_now() > shown + 0.05) {
      go_on <- tick(share)
      if (needs) shown <- seconds_now()
      if (share < 1 && !go_on) return(NULL)
    }
    if (share >= 1) break
  }
  c(unscale(out$seen, job$observers, job$arms, job$record), if (!is.null(look)) look$seen(chunk$run))
}

# Visits as read_visits() of src/r_read.h takes them; NULL: everybody comes once
visits_with <- function(visits, policy) {
  cap <- visits[4] # Inf: none
  if (!is.null(cap)) c(pmin(visits, 2^53), keeps_apart(policy, if (cap < Inf) cap))
}

# A policy's runs before their first round
simulate_begin <- function(job, kernel, runs, threads = 1) {
  asked <- is.function(job$delay)
  .Call(C_simulate_begin, world_kernel(job$arms), kernel, list(
    horizon = job$horizon, known = job$known %||% job$horizon, record = job$record, runs = runs,
    seed = job$seed, threads = threads, engine = job$engine,
    delay = if (asked) 0L else job$delay, ask_delays = asked,
    group = job$batch, visits = job$visits, answers = job$answers, observers = job$observers, ask = job$ask,
    finish = as.double(job$finish %||% 0)
  ))
}

# The engine of src/play_simulate.h. `options(dpts.engine = "plain")` plays every round one by one, the
# reference that skipping and lanes are held to; "scan" does so with a look at every arm in each choice, the
# reference for tournaments; "skip" and "lanes" are for tests and benchmarks.
simulate_engine <- function() {
  engine <- getOption("dpts.engine", "auto")
  engines <- c("auto", "plain", "skip", "lanes", "scan")
  if (!is.character(engine) || length(engine) != 1 || !engine %in% engines) {
    abort_input("dpts.engine", "Option `dpts.engine` must be one of %s.",
                paste0('"', engines, '"', collapse = ", "))
  }
  engine
}

# ---- result -------------------------------------------------------------------------

# The result of chunks that were played, in whatever order: problem by problem, policy by policy, run by run
# `several`: Are problems named, and so a column?
gather_simulation <- function(job, chunks, several) {
  joined <- join_chunks(job, chunks)
  warn_means(job, joined)
  labels <- job_labels(job, several, length(job$record) * length(job$runs), cells = cells_of(job, joined))
  seen <- lapply(stats::setNames(nm = observed(job$observers, "column")), function(name) {
    unlist(lapply(joined, `[[`, name), use.names = FALSE)
  })
  n <- length(joined)
  rounds <- list(run = rep(rep(whole(job$runs), each = length(job$record)), n),
                 t = rep(job$record, n * length(job$runs)))
  new_result(c(labels, rounds, seen), "dpts_simulation")
}

# The labels of a result's rows: `problem`, where there are several, and `policy`, which carries the runs
# `rows`: How many rows a policy has on a problem.
# `shared`: What all rows have in common.
# `cells`: What is kept of each run, lists in the order of rows.
job_labels <- function(job, several, rows, shared = NULL, cells = NULL) {
  n_runs <- length(job$runs)
  problem <- rep(seq_along(job$problems), each = length(job$policies))
  policy <- rep(seq_along(job$policies), length(job$problems))
  now <- plays_r(job$policies) || holds_functions(job$problems)
  problems <- if (several) new_label(rep(problem, each = rows), names(job$problems), job$problems, now = now)
  ids <- vapply(attr(problems, "meaning"), meaning_id, "") # none for one problem without a name
  runs <- lapply(seq_along(job$policies), function(i) {
    at <- which(rep(policy, each = n_runs) == i)
    own <- list(run = rep_len(job$runs, length(at)), seed = rep(job$seed, length(at)))
    if (several) own <- c(list(problem_id = rep(ids, each = n_runs)), own)
    vctrs::new_data_frame(c(own, lapply(cells, `[`, at)), n = length(at))
  })
  if (!several) shared <- c(shared, list(problem = job$problems[[1]]))
  policies <- new_label(rep(policy, each = rows), names(job$policies), job$policies, runs, shared, now)
  c(if (several) list(problem = problems), list(policy = policies))
}
