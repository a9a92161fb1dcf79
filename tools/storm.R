# Storms that a seed repeats: `Rscript tools/storm.R`, with SEED, LIVES and STEPS in the environment. Two handles
# on one store live through choices, persons who come again, also within a window, late and repeated reports, a clock
# that jumps, arms that come and go, changes of the other handle between a call's look and its commit, and processes
# that die before or after a change is written; a model that was written from the help pages says what must be true
# after each step. The seams: the option dpts.clock for time, commit() of a store for disk and process. PLANT=name
# breaks the agent on purpose, and the storm must find it. Real kills are in tools/torture.R. The store is a SQLite
# file, or with POSTGRES="host=... user=... dbname=..." a schema there.

suppressMessages(library(dpts))
seed <- as.integer(Sys.getenv("SEED", "1"))
lives <- as.integer(Sys.getenv("LIVES", "20"))
steps <- as.integer(Sys.getenv("STEPS", "80"))
postgres <- Sys.getenv("POSTGRES")
if (!nzchar(Sys.getenv("TZ"))) Sys.setenv(TZ = "UTC") # R would ask systemd

namespace <- asNamespace("dpts")
replace_function <- function(name, value) {
  unlockBinding(name, namespace)
  assign(name, value, namespace)
}
plants <- list(
  # what another process has written is not read
  stale = function() {
    set <- get("set_agent_state", namespace)
    replace_function("set_agent_state", function(agent, head) if (agent$seq < 0) set(agent, head))
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
  # a choice without a deadline forgets those of others
  forgotten_due = function() {
    note <- get("note_tickets", namespace)
    replace_function("note_tickets", function(agent, tx, ...) {
      if (agent$terms$deadline == Inf) tx$next_due <- NA_real_
      note(agent, tx, ...)
    })
  },
  # deadlines that have passed are not handled
  deadline = function() replace_function("resolve_due", function(agent, tx) invisible()),
  # agents go back in time with the clock
  clock = function() replace_function("agent_time", function(agent, head, still) dpts:::time_now(head$now)),
  # a repeated call is a new one
  key = function() replace_function("asked_before", function(agent, n, key) NULL),
  # a paused arm is chosen
  pause = function() replace_function("taking_part", function(agent, offer) offer),
  # each process counts a person's visits from the beginning
  cap = function() replace_function("known_people", function(agent, tx, person) new.env(parent = emptyenv())),
  # who comes again within a window gets another ticket
  window = function() {
    known <- get("known_people", namespace)
    replace_function("known_people", function(agent, tx, person) {
      people <- known(agent, tx, person)
      for (who in ls(people)) people[[who]]$since <- NULL
      people
    })
  },
  # what is reported in a window is used at once
  mean = function() {
    take <- get("take_parts", namespace)
    replace_function("take_parts", function(agent, tx, ticket, reward, part, rows, at, state) {
      if (agent$silent) return(take(agent, tx, ticket, reward, part, rows, at, state))
      dpts:::take_first(agent, tx, ticket, reward, rows, at, state)
    })
  },
  # a change is written although another process has written since
  lock = function() NULL, # by unlocked() below
  # a release is used and not kept
  release = function() leave_out("releases"),
  # rewards stay in the store when they have been released
  forget = function() leave_out("forget"),
  # what was concluded from fewer releases is said again
  known = function() {
    remembered <- get("remembered", namespace)
    replace_function("remembered", function(agent, name, from, compute) remembered(agent, name, NULL, compute))
  }
)
leave_out <- function(rows) {
  change_row <- get("change_row", namespace)
  replace_function("change_row", function(changes) {
    changes[rows] <- list(NULL)
    change_row(changes)
  })
}
# commit() without the check that nobody else has written
unlocked <- function(agent, changes) {
  changes$agent$seq <- as.numeric(agent$store$begin(-1, "read")$seq) + 1
  changes
}
plant <- Sys.getenv("PLANT")
if (nzchar(plant)) plants[[match.arg(plant, names(plants))]]()

now <- 1e9
options(dpts.clock = function() now)
check <- function(ok, what) if (!isTRUE(ok)) stop("FAILED: ", what, call. = FALSE)
chance <- function(p) stats::runif(1) < p

# Where a life's agent is: `store` opens it, `kept` counts the rewards in it, `drop` removes it
place_sqlite <- function() {
  file <- tempfile(fileext = ".sqlite")
  list(store = file, kept = function() {
    con <- DBI::dbConnect(RSQLite::SQLite(), file)
    on.exit(DBI::dbDisconnect(con))
    DBI::dbGetQuery(con, "SELECT count(*) AS n FROM dpts_ticket WHERE reward IS NOT NULL")$n
  }, drop = function() unlink(paste0(file, c("", "-wal", "-shm"))))
}
place_postgres <- function(settings) {
  schema <- basename(tempfile("storm"))
  connect <- function() {
    parts <- strsplit(strsplit(settings, " ")[[1]], "=")
    settings <- stats::setNames(lapply(parts, `[`, 2), vapply(parts, `[`, "", 1))
    con <- do.call(DBI::dbConnect, c(list(RPostgres::Postgres(), timezone = "UTC", timezone_out = "UTC"), settings))
    DBI::dbExecute(con, sprintf("SET search_path = %s; SET client_min_messages = warning", schema), immediate = TRUE)
    con
  }
  con <- connect()
  DBI::dbExecute(con, paste("CREATE SCHEMA", schema))
  list(store = connect, kept = function() {
    DBI::dbGetQuery(con, "SELECT count(*)::int AS n FROM dpts_ticket WHERE reward IS NOT NULL")$n
  }, drop = function() {
    DBI::dbExecute(con, sprintf("DROP SCHEMA %s CASCADE", schema))
    DBI::dbDisconnect(con)
  })
}

# One life -> how many changes, deaths and tickets it had
storm <- function(life) {
  set.seed(seed * 1e4 + life)
  place <- if (nzchar(postgres)) place_postgres(postgres) else place_sqlite()
  on.exit(place$drop())
  silent <- chance(0.5)
  capped <- chance(0.5) # two rewards of a person count
  wait <- if (silent || chance(0.5)) 7200 else Inf
  window <- if (capped && chance(0.5)) 3600 else 0 # all that a person does in it is one visit
  first <- dpts_agent(policy_gaussian_imed(1, first = sample(3, 1)), 2, place$store, use = if (silent) "deadline" else "arrival",
                      deadline = if (wait < Inf) as.difftime(wait, units = "secs") else Inf,
                      max_per_person = if (capped) 2,
                      window = if (window > 0) as.difftime(window, units = "secs"))
  handles <- list(first, agent_open(place$store))
  model <- data.frame(ticket = character(), arm = integer(), since = numeric(), due = numeric(), state = character(),
                      reward = numeric())
  clock <- now # of the last change
  paused <- integer()
  k <- 2
  deaths <- 0
  visits <- last <- integer() # of each person, named: how many, and the arm of the last
  held <- character()         # and its ticket
  released <- NULL

  # What choices have added; those of a person beyond the second are no rounds, and have the person's last arm if
  # it is there
  add_choices <- function(x, persons, at) {
    for (j in seq_along(x$ticket)) {
      who <- persons[j]
      since <- model$since[match(held[who], model$ticket)]
      if (isTRUE(since + window > at)) {
        check(identical(x$ticket[j], held[[who]]), "all that a person does in a window has one ticket")
        check(as.integer(x$arm[j]) == last[who], "all that a person does in a window has one arm")
        next
      }
      if (capped && isTRUE(visits[who] == 2)) {
        check(is.na(x$t[j]), "a third visit of a person is no round")
        check(last[who] %in% paused || as.integer(x$arm[j]) == last[who], "a third visit has the arm of the last")
        next
      }
      if (capped) {
        visits[who] <<- sum(visits[who], 1, na.rm = TRUE)
        last[who] <<- as.integer(x$arm[j])
        held[who] <<- x$ticket[j]
      }
      check(identical(x$t[j], nrow(model) + 1), "rounds are numbered without a gap")
      check(!as.integer(x$arm[j]) %in% paused, "a paused arm is chosen by nobody")
      check(!x$ticket[j] %in% model$ticket, "each choice is a ticket of its own")
      model <<- rbind(model, data.frame(ticket = x$ticket[j], arm = as.integer(x$arm[j]), since = at, due = at + wait,
                                        state = "open", reward = NA))
    }
  }
  # New people and, if there is a limit, some of few who come again
  people <- function(n, name) {
    who <- sprintf("%s-%d", name, seq_len(n))
    again <- stats::runif(n) < 0.4
    who[again] <- sprintf("p%d", sample(8, sum(again), replace = TRUE))
    if (capped) who
  }

  # What a call makes of time: deadlines that have passed, and -> the agent's time
  pass <- function() {
    at <- max(now, clock)
    due <- model$state %in% c("open", "waiting") & model$due <= at
    if (any(due)) clock <<- at
    model$state[due] <<- ifelse(model$state[due] == "waiting", "used", "missing")
    at
  }
  # A call by one of the processes. It may die before or after the change is on disk, and then it is asked again;
  # or the other process chooses between this one's look and its commit, which must then look again.
  call <- function(f) {
    i <- sample(2, 1)
    fate <- sample(c("none", "before", "after", "between"), 1, prob = c(0.7, 0.1, 0.1, 0.1))
    agent <- handles[[i]]
    begin <- agent$store$begin
    commit <- agent$store$commit
    holds <- FALSE
    other <- people(1, sprintf("other%d-%d", life, nrow(model)))
    agent$store$begin <- function(seq, how) {
      head <- begin(seq, how)
      holds <<- isTRUE(environment(begin)$locked) # on PostgreSQL also where others have written since
      head
    }
    agent$store$commit <- function(changes) {
      if (fate == "between" && !holds) {
        fate <<- "none"
        at <- pass()
        add_choices(suppressWarnings(agent_choose(handles[[3 - i]], 1, person = other)), other, at)
        clock <<- at
        if (plant == "lock") changes <- unlocked(agent, changes)
      }
      if (fate %in% c("none", "between")) return(commit(changes))
      if (fate == "after") commit(changes)
      dpts:::abort_store("the process died")
    }
    out <- tryCatch(list(suppressWarnings(f(agent))), error = function(e) {
      if (inherits(e, "dpts_error_input") || !fate %in% c("before", "after")) stop(e)
      NULL
    })
    agent$store$begin <- begin
    agent$store$commit <- commit
    if (is.null(out)) {
      deaths <<- deaths + 1
      agent_close(agent)
      handles[[i]] <<- suppressWarnings(agent_open(place$store))
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
      who <- people(n, key)
      at <- pass()
      x <- call(function(agent) agent_choose(agent, n, key = key, person = who))
      clock <- at
      add_choices(x, who, at)
    } else if (what == "reward" && nrow(model)) {
      at <- pass()
      i <- sample(nrow(model), 1)
      value <- sample(0:1, 1)
      # In a window each call's report is one of several, and what came later than the window is the only one.
      part <- if (window > 0) sprintf("report%d-%d", life, step)
      status <- call(function(agent) agent_reward(agent, model$ticket[i], value, key = part)$status)
      state <- model$state[i]
      within <- window > 0 && (silent || state == "waiting" || at < model$since[i] + window)
      taken <- if (silent || within) "waiting" else "used"
      may <- if (window > 0) {
        if (!state %in% c("open", "waiting")) "late" else if (within) c("waiting", "known") else c("used", "late")
      } else if (state == "open") c(taken, if (silent) "known" else c("known", "late")) else if (silent) {
        if (state == "waiting") if (value == model$reward[i]) "known" else "refused" else "late"
      } else if (state == "missing") "late" else c("known", "refused", "late")
      check(status %in% may, sprintf("a report for a ticket that is %s is %s, not %s", state,
                                     paste(may, collapse = " or "), status))
      if (state == "open") {
        model$state[i] <- taken
        model$reward[i] <- value
        if (within && !silent) model$due[i] <- model$since[i] + window
      }
      if (state == "open" || status == "late" || within && state == "waiting") clock <- at
    } else if (what == "arms" && k < 6) {
      at <- pass()
      if (length(paused)) {
        call(function(agent) agent_arms(agent, resume = paused))
        paused <- integer()
      } else if (k > 2 && chance(0.5)) {
        arm <- sample(k, 1)
        call(function(agent) agent_arms(agent, pause = arm))
        paused <- arm # until then the other process may choose it
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
    if (step %% 8 == 0) {
      tables <- lapply(handles, function(agent) suppressWarnings(dpts_releases(agent))[c("t", "arm", "n", "sum")])
      check(identical(tables[[1]], tables[[2]]), "both see the same releases")
      kept <- tables[[1]][tables[[1]]$n > 0, ]
      kept$arm <- as.character(kept$arm)
      before <- seq_len(NROW(released))
      check(!length(before) || identical(kept[before, ], released), "what was released stays as it was")
      released <- kept
      inside <- sum(model$state %in% c("waiting", "used", "missing")) - sum(kept$n)
      check(place$kept() <= inside, "no reward stays in the store after its release")
    }
  }
  log <- suppressWarnings(dpts_history(handles[[1]]))
  check(identical(log$ticket[!is.na(log$t)], model$ticket), "the history has each ticket once, in order")
  learned <- sum(model$state %in% c("used", "missing"))
  check(sum(estimates(handles[[2]])$rewards) <= learned, "no sum has more rewards than were resolved")
  agent_finish(handles[[1]])
  check(sum(estimates(handles[[2]])$rewards) == learned, "at the end each resolved reward is in one sum")
  rows <- suppressWarnings(dpts_releases(handles[[2]]))
  check(sum(rows$n) == learned, "at the end each resolved reward is in one release")
  check(place$kept() == 0, "at the end no reward is in the store")
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
