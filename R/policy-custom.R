#' Your own policy, written in R
#'
#' `policy_custom()` makes a policy of your own from three R functions. You can use it wherever a policy can
#' be used, together with those of the package: in [dpts_simulate()], [dpts_replay()] and their relatives.
#'
#' @details
#' The functions, with any names for their arguments:
#'
#' * `start(k, horizon)` gives the state at the beginning of a run: any R value. `k` is the number
#'   of arms, `horizon` the number of rounds.
#' * `choose(state, round)` gives an arm, a whole number from 1. `round$t` is the number of the
#'   round, `round$offer` the available arms, and `round$context` the context or `NULL`: a vector,
#'   or a matrix with one row per arm if each arm has its own (`NA` for those not available).
#' * `update(state, feedback)` gives the new state. `feedback$t` is the round of the pull,
#'   `feedback$arm` its arm, `feedback$reward` the reward and `feedback$context` the context in which
#'   the arm was pulled, or `NULL`.
#' * `commit(state, round, arm)`, if there is one, gives the new state when the arm has been pulled, before
#'   its reward is known.
#'
#' What a policy can say of itself, where there is such a function:
#'
#' * `report(state, arm)`: what may be published of an arm, for [estimates()]. It is a list of the number of
#'   `rewards` in the released sum, and the `sum`; with noise its `kind` (`"Laplace"` or `"Gaussian"`), its
#'   `scale` and how many (`terms`) independent variables of it stay in all later sums. Noise that a later sum
#'   does not share is given by `last_terms` and `last_scale`, with `terms` 0 and the number of sums so far as
#'   `looks`. `NULL`: nothing yet. Without it the plain sums of a policy without a guarantee are taken, and
#'   `NA` for others.
#' * `probability(state, round)`: the probability of each arm, 0 where it is not available: for
#'   [dpts_history()].
#' * `finish(state)`: the new state when the end is known, and what is open is released (`finish = TRUE`).
#' * `verdict(state)`: the arm that is declared the best, `NA` while none is.
#'
#' `choose()` must not keep anything from round to round: in a replay its choice may be discarded. What a run
#' knows is in its state alone: a function that changes a variable outside it that its code names, by `<<-` or
#' `assign()`, or in an environment or an R6 object that was not made by `start()`, stops the call with an
#' error of class `dpts_error_state`. What it keeps in a file, in an option, or under a name that it computes
#' is not seen, except in [dpts_audit()], which repeats a run.
#' Rewards may come late and out of order; a policy that counts its pulls for itself does so in `commit()`.
#'
#' While the functions run, R's generator is theirs: a stream of its own for each seed and run
#' (L'Ecuyer's combined generator). `.Random.seed` is put back after. As for any policy, a run depends on its
#' seed and its number and on nothing else, and `runif()` and its kin can be used freely.
#'
#' Functions travel to the workers of a future plan with all that they use, global variables
#' too. R runs on one thread, whatever `threads` says.
#'
#' The article "Write your own policy", `vignette("write-a-policy", "dpts")`, takes a policy through all of
#' this, and then to C, where it is dozens of times as fast.
#'
#' @section Errors:
#' An error in one of the functions stops the call with an error of class `dpts_error_callback`
#' that names the policy, the round and the run, and has R's own error as its parent. A value of
#' `choose()` that is not one of the available arms is such an error, too.
#'
#' @section Privacy:
#' There is no guarantee unless you state one: `guarantee` is your statement, and the accountants trust it.
#' The sequence of arms that the functions choose must keep it for streams that differ in one reward, replaced
#' by any value of \[0, 1\], however late rewards come and whichever arms are available. To make any policy
#' private, see [policy_local()].
#'
#' @param name A string: what the policy is called in results.
#' @param start,choose,update Functions; see Details.
#' @param ... Not used; later arguments must be named.
#' @param commit,report,probability,finish,verdict Functions, or `NULL`; see Details.
#' @param guarantee The guarantee of the policy: a budget such as [privacy_pure()], the guarantee of
#'   another policy, or `NULL` for nothing.
#' @inherit policy_ts_gaussian return
#' @template see_policies
#' @examples
#' greedy <- policy_custom(
#'   "epsilon-greedy",
#'   start = function(k, horizon) list(n = numeric(k), sum = numeric(k)),
#'   choose = function(state, round) {
#'     if (runif(1) < 0.1 || any(state$n == 0)) return(round$offer[which.min(state$n)])
#'     which.max(state$sum / state$n)
#'   },
#'   update = function(state, feedback) {
#'     arm <- feedback$arm
#'     state$n[arm] <- state$n[arm] + 1
#'     state$sum[arm] <- state$sum[arm] + feedback$reward
#'     state
#'   }
#' )
#' greedy
#' sim <- dpts_simulate(arms_bernoulli(c(0.7, 0.5)), list(greedy, policy_ucb1()), 1000, seed = 1)
#' summary(sim)
#' @export
policy_custom <- function(name, start, choose, update, ..., commit = NULL, report = NULL, probability = NULL,
                          finish = NULL, verdict = NULL, guarantee = NULL) {
  check_dots_empty(...)
  check_all_given()
  name <- check_text(name)
  check_callback(start, "start(k, horizon)")
  check_callback(choose, "choose(state, round)")
  check_callback(update, "update(state, feedback)")
  if (!is.null(commit)) check_callback(commit, "commit(state, round, arm)")
  if (!is.null(report)) check_callback(report, "report(state, arm)")
  if (!is.null(probability)) check_callback(probability, "probability(state, round)")
  if (!is.null(finish)) check_callback(finish, "finish(state)")
  if (!is.null(verdict)) check_callback(verdict, "verdict(state)")
  guarantee <- if (is.null(guarantee)) guarantee_none() else declared_guarantee(guarantee)
  has <- function(f) as.double(!is.null(f))
  structure(
    list(name = name, start = start, choose = choose, update = update, commit = commit, report = report,
         probability = probability, finish = finish, verdict = verdict,
         properties = utils::modifyList(properties_by_name("custom"), list(
           releases = has(report), knows_chances = has(probability), finishes = has(finish),
           gives_verdict = has(verdict)
         )),
         args = list(name = name), guarantee = guarantee,
         title = sprintf("%s, written in R", name), rounds_per_arm = 0,
         # A guarantee is about rewards in [0, 1].
         any_reward = promises_nothing(guarantee)),
    class = c("dpts_policy_custom", "dpts_policy")
  )
}

# A function that can be called as `usage` says
check_callback <- function(x, usage, arg = caller_arg(x)) {
  force(arg)
  needed <- length(str2lang(usage)) - 1
  takes <- if (needed) paste("of", count_noun(needed, "argument", "arguments")) else "without arguments"
  what <- sprintf("a function %s, `%s`", takes, usage)
  if (!is.function(x)) abort_arg(arg, what, x)
  args <- formals(args(x))
  dots <- "..." %in% names(args)
  args <- args[names(args) != "..."]
  required <- sum(vapply(args, identical, NA, quote(expr = )))
  if ((length(args) < needed && !dots) || required > needed) {
    abort_input(arg, "`%s` must be %s, not a function of %d.", arg, what,
                if (required > needed) required else length(args))
  }
  x
}

# What the author of a policy promises about the arms that it publishes
declared_guarantee <- function(guarantee) {
  if (!inherits(guarantee, "dpts_guarantee") && !is_policy(guarantee)) {
    abort_arg("guarantee", "a budget such as `privacy_pure(1)`, a guarantee, or NULL", guarantee)
  }
  guarantee <- unlimited(as_guarantee(guarantee, "guarantee"))
  guarantee$published <- "arms"
  guarantee
}

#' @export
format.dpts_policy_custom <- function(x, ...) {
  sprintf("policy_custom(\"%s\", %s)", x$name,
          paste(c("start", "choose", "update", names(Filter(Negate(is.null), unclass(x)[host_optional]))),
                collapse = ", "))
}

# ---- the host of a session ------------------------------------------------------------------

#' @export
kernel.dpts_policy_custom <- function(policy, horizon) {
  list(name = policy$name, host = new_host(policy))
}

# Where a session of a policy in R lives: its functions and its state, and what src/r_custom.c calls
new_host <- function(policy) {
  env <- new.env(parent = topenv())
  for (what in host_calls) env[[what]] <- policy[[what]]
  env$self <- env
  list(
    env = env, name = policy$name, plain = promises_nothing(policy$guarantee),
    calls = calls_of_host(names(Filter(Negate(is.null), unclass(policy)))),
    round = list(t = NULL, offer = NULL, context = NULL),
    feedback = list(t = NULL, arm = NULL, reward = NULL, context = NULL),
    outside = variables_of(unclass(policy)[host_calls]),
    # What is being called (its place in host_calls, or 0), in which round of which run. C writes there, so it
    # must be made anew: a constant, or what the byte compiler takes for one, would be that of all policies.
    where = numeric(3)
  )
}

# What src/r_custom.c evaluates there, for the functions that a policy `has`
# `shown`: Do contexts lie in the host?
calls_of_host <- function(has, live = FALSE, shown = FALSE) {
  round <- if (shown) quote(with_context(round, context)) else quote(round)
  feedback <- if (shown) quote(with_context(feedback, context)) else quote(feedback)
  calls <- list(
    start = if (live) quote(state <- start(k, horizon)) else
      quote(state <- begin_state(self, k, horizon, words)),
    choose = bquote(choose(state, .(round))), commit = bquote(commit(state, .(round), arm)),
    update = bquote(update(state, .(feedback))), report = quote(told_report(report(state, arm))),
    probability = bquote(told_chances(probability(state, .(round)), k)), finish = quote(finish(state)),
    verdict = quote(told_verdict(verdict(state), k)), refuse_arm = quote(refuse_arm(arm, round)),
    refuse_state = quote(refuse_state())
  )
  calls[!names(calls) %in% setdiff(host_optional, has)]
}

# The kernel of a live session. Its contexts may be any R values: they lie in the host, and C sees none.
live_kernel <- function(policy, horizon, dim) {
  kernel <- kernel(policy, horizon)
  if (is.null(kernel$host)) return(kernel)
  kernel$host$live <- TRUE
  kernel$host$calls <- calls_of_host(names(kernel$host$calls), live = TRUE, shown = is.null(dim))
  kernel
}

with_context <- function(x, context) {
  x["context"] <- list(context)
  x
}

host_optional <- c("commit", "report", "probability", "finish", "verdict")
host_calls <- c("start", "choose", "commit", "update", host_optional[-1])

# What report(), probability() and verdict() gave, as the numbers that src/r_custom.c reads
told_report <- function(x) {
  x <- as.list(x)
  if (length(x) == 0) return(numeric(length(TOLD))) # nothing is known yet
  x <- utils::modifyList(list(kind = "Laplace", terms = 1, scale = 0, last_terms = 0,
                              last_scale = x$scale %||% 0, looks = 0), x)
  good <- function(field) {
    if (field == "kind") return(isTRUE(x$kind %in% c("Laplace", "Gaussian")))
    is_amount(x[[field]]) && (x[[field]] >= 0 || !field %in% c("rewards", "scale"))
  }
  wrong <- c(setdiff(names(x), TOLD), Filter(Negate(good), TOLD))
  if (length(wrong)) {
    abort_dpts(sprintf(paste("It must give a list of the numbers `rewards` and `sum`, and of `%s` where",
                             "there is noise; `%s` is %s."),
                       paste(setdiff(TOLD, c("rewards", "sum")), collapse = "`, `"), wrong[1],
                       describe(x[[wrong[1]]])), "dpts_error_report", call = NULL)
  }
  x$kind <- match(x$kind, c("Laplace", "Gaussian"))
  as.double(unlist(x[TOLD]))
}

is_amount <- function(x) is.numeric(x) && length(x) == 1 && is.finite(x)

told_chances <- function(x, k) {
  numbers <- is.numeric(x) && length(x) == k
  bad <- if (numbers) which(is.na(x) | x < 0)
  if (!numbers || length(bad) || abs(sum(x) - 1) > 1e-9) {
    given <- if (!numbers) describe(x)
    else if (length(bad)) sprintf("%s for arm %d", number_text(x[bad[1]]), bad[1])
    else sprintf("numbers that sum to %s", number_text(sum(x)))
    abort_dpts(sprintf("It must give %d probabilities that sum to 1, not %s.", k, given),
               "dpts_error_probability", call = NULL)
  }
  as.double(x)
}

told_verdict <- function(x, k) {
  if (length(x) == 1 && is.na(x)) return(c(0, 0, NaN))
  if (!is_amount(x) || !x %in% seq_len(k)) {
    abort_dpts(sprintf("It must give an arm, or NA while there is none, not %s.", describe(x)),
               "dpts_error_verdict", call = NULL)
  }
  c(1, x, NaN)
}

# Give R's generator to the policy
begin_stream <- function(words) {
  global <- globalenv()
  global$.Random.seed <- c(10407L, words) # L'Ecuyer-CMRG, inversion, rejection
}

# The state at the beginning of a run, which must be the run's own. An environment that start() gives twice
# would carry one run's state into the next; and a generator that two runs leave in the same state
# was set by the policy.
begin_state <- function(host, k, horizon, words) {
  same <- identical(words, host$last_words) # a run again
  if (!same) check_stream(host, "ended")
  begin_stream(words)
  state <- host$start(k, horizon)
  if (length(environments_in(state))) {
    first <- environments_in(state)
    begin_stream(words)
    state <- host$start(k, horizon)
    if (any(vapply(environments_in(state), function(env) any(vapply(first, identical, NA, env)), NA))) {
      abort_dpts(paste("It gives the same environment every time, so that runs share a state;",
                       "make one in it, by `new.env()`."), "dpts_error_state", call = NULL)
    }
  }
  if (!same) check_stream(host, "started")
  host$last_words <- words + 0L # the engine writes new ones to the same place
  state
}

environments_in <- function(state) {
  if (is.environment(state)) list(state) else if (is.list(state)) Filter(is.environment, state)
}

# `what`: Where in a run this is: names the generator's state there in the run before.
check_stream <- function(host, what) {
  now <- globalenv()$.Random.seed
  if (!is.null(now) && identical(host[[what]], now)) {
    abort_dpts("A function of the policy sets R's generator, so that runs are alike; leave out `set.seed()`.",
               "dpts_error_state", call = NULL)
  }
  host[[what]] <- now
}

# The generator in a state of which nobody knows anything: all bits of the Mersenne twister's are drawn by the
# operating system.
begin_system_stream <- function() {
  global <- globalenv()
  global$.Random.seed <- c(10403L, 624L, readBin(system_bytes(4 * 624), "integer", 624))
}

# Bytes that nobody can guess
system_bytes <- function(n) .Call(C_system_bytes, n)

refuse_arm <- function(arm, round) {
  raise(sprintf("It must give one of the available arms, %s, not %s.",
                words_list(round$offer, "or", most = 8),
                describe(arm)), NULL,
        call = NULL)
}

refuse_state <- function() {
  raise("It must give the policy's new state, not NULL.", NULL, call = NULL)
}

# Evaluate code that plays a kernel. For a policy in R: with its stream in R's generator, which is put back
# after, and with errors that say where they happened. A live session's stream is new for each call.
with_host <- function(kernel, code) {
  host <- kernel$host
  if (is.null(host)) return(code)
  put_back <- hold_generator()
  global <- globalenv()
  if (isTRUE(host$live)) {
    on.exit(put_back())
    begin_system_stream()
  } else {
    if (!is.null(host$env$stream)) global$.Random.seed <- host$env$stream
    on.exit({
      host$env$stream <- global$.Random.seed
      put_back()
    })
  }
  value <- rlang::try_fetch(code, error = function(error) abort_callback(host, error))
  check_outside(host)
  value
}

# A policy that keeps something in an outer variable, by `<<-` or in an environment, carries it on:
# runs are then not independent, and what an audit counts over them says nothing.
check_outside <- function(host) {
  # Between an agent's calls anybody may set a variable to what it was.
  name <- changed_variable(host$outside, equal = isTRUE(host$live))
  if (is.null(name)) return(invisible())
  raise(sprintf(paste("Policy \"%s\" keeps something outside its state: `%s` changed during a run. What a",
                      "run knows must be in the state, the value of `start()` and `update()`; environments",
                      "and R6 objects are made in `start()`."), host$name, name),
        class = c("dpts_error_state", "dpts_error_callback", "dpts_error"), call = NULL, policy = host$name)
}

abort_callback <- function(host, error) {
  if (host$where[1] == 0) return(rlang::zap())
  run <- if (!isTRUE(host$live)) host$where[3]
  round <- host$where[2] # 0: none was played, but a state was read from its store
  when <- c(if (round > 0) paste(" in round", words_whole(round)),
            if (length(run)) paste(" of run", number_text(run, scientific = FALSE)))
  raise(
    sprintf("`%s()` of policy \"%s\" failed%s.", host_calls[host$where[1]], host$name,
            paste(when, collapse = "")),
    class = c("dpts_error_callback", "dpts_error"), parent = error, call = NULL,
    policy = host$name, round = round, run = run
  )
}
