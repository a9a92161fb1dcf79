# Storms that a seed repeats: `Rscript tools/storm.R`, with SEED, LIVES and STEPS in the environment. Two handles
# on one store live through choices, late and repeated reports, a clock that jumps, arms that come and go, and
# processes that die before or after a change is written; a model that was written from the help pages says what
# must be true after each step. The seams: the option dpts.clock for time, commit() of a store for disk and
# process. PLANT=name breaks the agent on purpose, and the storm must find it. Real kills are in tools/torture.R.

suppressMessages(library(dpts))
seed <- as.integer(Sys.getenv("SEED", "1"))
lives <- as.integer(Sys.getenv("LIVES", "20"))
steps <- as.integer(Sys.getenv("STEPS", "80"))

namespace <- asNamespace("dpts")
replace_function <- function(name, value) {
  unlockBinding(name, namespace)
  assign(name, value, namespace)
}
plants <- list(
  # what another process has written is not read
  stale = function() {
    set <- get("set_agent_state", namespace)
    replace_function("set_agent_state", function(agent, bytes, sum) if (agent$seq < 0) set(agent, bytes, sum))
  },
  # a ticket's reward is taken twice
  twice = function() {
    open <- get("open_tickets", namespace)
    replace_function("open_tickets", function(agent, ids) {
      rows <- open(agent, ids)
      rows$status[rows$status == 2L] <- 0L
      rows
    })
  },
  # deadlines that have passed are not handled
  deadline = function() replace_function("resolve_due", function(agent, tx) invisible()),
  # agents go back in time with the clock
  clock = function() replace_function("agent_time", function(agent, head, still) dpts:::time_now(head$now)),
  # a repeated call is a new one
  key = function() replace_function("asked_before", function(agent, n, key) NULL),
  # a paused arm is chosen
  pause = function() replace_function("taking_part", function(agent, offer) offer)
)
plant <- Sys.getenv("PLANT")
if (nzchar(plant)) plants[[match.arg(plant, names(plants))]]()

now <- 1e9
options(dpts.clock = function() now)
check <- function(ok, what) if (!isTRUE(ok)) stop("FAILED: ", what, call. = FALSE)
chance <- function(p) stats::runif(1) < p

# One life -> how many changes, deaths and tickets it had
storm <- function(life) {
  set.seed(seed * 1e4 + life)
  file <- tempfile(fileext = ".sqlite")
  on.exit(unlink(paste0(file, c("", "-wal", "-shm"))))
  silent <- chance(0.5)
  wait <- if (silent || chance(0.5)) 7200 else Inf
  first <- dpts_agent(policy_gaussian_imed(1, first = sample(3, 1)), 2, file, use = if (silent) "deadline" else "arrival",
                      deadline = if (wait < Inf) as.difftime(wait, units = "secs") else Inf)
  handles <- list(first, agent_open(file))
  model <- data.frame(ticket = character(), arm = integer(), due = numeric(), state = character(), reward = numeric())
  clock <- now # of the last change
  paused <- integer()
  k <- 2
  deaths <- 0

  # What a call makes of time: deadlines that have passed, and -> the agent's time
  pass <- function() {
    at <- max(now, clock)
    due <- model$state %in% c("open", "waiting") & model$due <= at
    if (any(due)) clock <<- at
    model$state[due] <<- ifelse(model$state[due] == "waiting", "used", "missing")
    at
  }
  # A call by one of the processes, which may die before or after the change is on disk; then it is asked again
  call <- function(f) {
    i <- sample(2, 1)
    fate <- sample(c("none", "before", "after"), 1, prob = c(0.8, 0.1, 0.1))
    agent <- handles[[i]]
    commit <- agent$store$commit
    if (fate != "none") {
      agent$store$commit <- function(changes) {
        if (fate == "after") commit(changes)
        dpts:::abort_store("the process died")
      }
    }
    out <- tryCatch(list(suppressWarnings(f(agent))), error = function(e) {
      if (inherits(e, "dpts_error_input")) stop(e)
      NULL
    })
    agent$store$commit <- commit
    if (is.null(out)) {
      deaths <<- deaths + 1
      agent_close(agent)
      handles[[i]] <<- suppressWarnings(agent_open(file))
      out <- list(suppressWarnings(f(handles[[3 - i]])))
    }
    out[[1]]
  }

  for (step in seq_len(steps)) {
    what <- sample(c("choose", "reward", "clock", "arms"), 1, prob = c(0.35, 0.4, 0.2, 0.05))
    if (what == "clock") {
      now <<- now + if (chance(0.2)) -stats::runif(1, 0, 3600) else stats::rexp(1, 1 / 1800)
    } else if (what == "choose") {
      n <- sample(4, 1)
      key <- sprintf("%d-%d", life, step)
      at <- pass()
      x <- call(function(agent) agent_choose(agent, n, key = key))
      clock <- at
      arm <- as.integer(x$arm)
      check(identical(x$t, nrow(model) + as.numeric(seq_len(n))), "rounds are numbered without a gap")
      check(!any(arm %in% paused), "a paused arm is chosen by nobody")
      check(!any(x$ticket %in% model$ticket) && !anyDuplicated(x$ticket), "each choice is a ticket of its own")
      model <- rbind(model, data.frame(ticket = x$ticket, arm = arm, due = at + wait, state = "open", reward = NA))
    } else if (what == "reward" && nrow(model)) {
      at <- pass()
      i <- sample(nrow(model), 1)
      value <- sample(0:1, 1)
      status <- call(function(agent) agent_reward(agent, model$ticket[i], value)$status)
      state <- model$state[i]
      taken <- if (silent) "waiting" else "used"
      may <- if (state == "open") c(taken, if (silent) "known" else c("known", "late")) else if (silent) {
        if (state == "waiting") if (value == model$reward[i]) "known" else "refused" else "late"
      } else if (state == "missing") "late" else c("known", "refused", "late")
      check(status %in% may, sprintf("a report for a ticket that is %s is %s, not %s", state,
                                     paste(may, collapse = " or "), status))
      if (state == "open") {
        model$state[i] <- taken
        model$reward[i] <- value
      }
      if (state == "open" || status == "late") clock <- at
    } else if (what == "arms" && k < 6) {
      at <- pass()
      if (length(paused)) {
        call(function(agent) agent_arms(agent, resume = paused))
        paused <- integer()
      } else if (k > 2 && chance(0.5)) {
        paused <- sample(k, 1)
        call(function(agent) agent_arms(agent, pause = paused))
      } else {
        name <- paste0("new", k)
        call(function(agent) if (!name %in% levels(agent_arms(agent)$arm)) agent_arms(agent, add = name))
        k <- k + 1
      }
      clock <- at
    }
    pass()
    for (agent in handles) {
      seen <- suppressWarnings(pulls(agent))
      out <- model$arm[model$state %in% c("open", "waiting")]
      check(identical(as.numeric(seen$pulls), as.numeric(tabulate(model$arm, k))), "each choice counts once")
      check(identical(as.numeric(seen$outstanding), as.numeric(tabulate(out, k))), "what is open is what waits")
    }
  }
  log <- suppressWarnings(dpts_history(handles[[1]]))
  check(identical(log$ticket, model$ticket), "the history has each ticket once, in order")
  learned <- sum(model$state %in% c("used", "missing"))
  check(sum(estimates(handles[[2]])$rewards) <= learned, "no sum has more rewards than were resolved")
  agent_finish(handles[[1]])
  check(sum(estimates(handles[[2]])$rewards) == learned, "at the end each resolved reward is in one sum")
  for (agent in handles) agent_close(agent)
  c(steps = steps, deaths = deaths, tickets = nrow(model))
}

total <- 0
for (life in seq_len(lives)) {
  total <- total + tryCatch(storm(life), error = function(e) {
    stop(sprintf("SEED=%d, life %d: %s", seed, life, conditionMessage(e)), call. = FALSE)
  })
}
cat(sprintf("%d lives, %d steps, %d deaths, %d tickets: all as the model says\n", lives, total[["steps"]],
            total[["deaths"]], total[["tickets"]]))
