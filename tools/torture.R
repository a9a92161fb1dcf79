# What must not break an agent, tried: `make torture`, or `Rscript tools/torture.R kill disk http`.
# Each part prints what it counted and stops at the first thing that is wrong. KILLS, REQUESTS and SECONDS
# in the environment change the numbers. `schema` and `services` need PostgreSQL's programs and RPostgres.

library(dpts)
parts <- commandArgs(trailingOnly = TRUE)
known <- c("harm", "disk", "fork", "share", "schema", "rotate", "services", "kill", "contexts", "life", "end", "describe", "http")
if (!length(parts)) parts <- known
if (!all(parts %in% known)) stop("the parts are ", paste(known, collapse = ", "), call. = FALSE)
kills <- as.numeric(Sys.getenv("KILLS", "200"))
requests <- as.numeric(Sys.getenv("REQUESTS", "1e5"))
lasts <- as.numeric(Sys.getenv("SECONDS", "60"))
if (!nzchar(Sys.getenv("TZ"))) Sys.setenv(TZ = "UTC") # R would ask systemd
check <- function(ok, what) if (!isTRUE(ok)) stop("FAILED: ", what, call. = FALSE) else message("  ok: ", what)
folder <- tempfile("torture-")
dir.create(folder)

# A worker chooses and rewards for ever, and writes down what was acknowledged.
worker <- function(store, acks) {
  agent <- dpts::agent_open(store)
  dim <- agent$terms$dim
  log <- file(acks, "a")
  repeat {
    n <- sample(3, 1)
    choice <- dpts::agent_choose(agent, n, context = if (!is.null(dim)) matrix(stats::runif(n * dim), n))
    cat(paste("choose", choice$ticket, "\n"), file = log, sep = "")
    flush(log)
    answered <- choice$ticket[stats::runif(n) < 0.8]
    if (!length(answered)) next
    reward <- sample(0:1, length(answered), TRUE)
    status <- dpts::agent_reward(agent, answered, reward)$status
    cat(paste(status, answered, reward, "\n"), file = log, sep = "")
    flush(log)
  }
}

start_worker <- function(store, i) {
  acks <- file.path(folder, sprintf("acks-%d-%d", i, as.integer(stats::runif(1, 0, 1e9))))
  with_acks(callr::r_bg(worker, list(store, acks), supervise = TRUE), acks)
}

with_acks <- function(process, acks) {
  attr(process, "acks") <- acks
  process
}

# A kill is one of a process that has done something.
kill_one <- function(process) {
  for (i in 1:1000) {
    if (isTRUE(file.size(attr(process, "acks")) > 0)) break
    if (!process$is_alive()) {
      stop("one died by itself: ", tryCatch(process$get_result(), error = conditionMessage))
    }
    Sys.sleep(0.1)
  }
  Sys.sleep(stats::runif(1, 0, 1))
  tools::pskill(process$get_pid(), tools::SIGKILL)
}

# What workers of an earlier part wrote down is about another store.
forget_acks <- function() unlink(list.files(folder, "^acks", full.names = TRUE))

# Only whole lines were acknowledged: the last may have been cut by a kill.
read_acks <- function() {
  lines <- unlist(lapply(list.files(folder, "^acks", full.names = TRUE), function(f) {
    text <- readChar(f, file.size(f))
    strsplit(sub("[^\n]*$", "", text), "\n")[[1]]
  }))
  strsplit(trimws(lines), " ")
}

# store: a path, or a connection to PostgreSQL
verify <- function(store) {
  agent <- agent_open(store)
  con <- store
  if (is.character(store)) {
    con <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
    on.exit(DBI::dbDisconnect(con))
    check(DBI::dbGetQuery(con, "PRAGMA integrity_check")[[1]] == "ok", "the file is sound")
  }
  acks <- read_acks()
  kind <- vapply(acks, `[[`, "", 1)
  ticket <- vapply(acks, `[[`, "", 2)
  log <- dpts_history(agent)
  check(all(ticket[kind == "choose"] %in% log$ticket),
        sprintf("all %d acknowledged choices are there", sum(kind == "choose")))
  check(!anyDuplicated(ticket[kind == "choose"]), "no ticket was given out twice")
  rounds <- sum(!is.na(log$t))
  check(identical(sort(log$t), as.numeric(seq_len(rounds))), "rounds have no gap and no double")
  rewarded <- ticket[kind == "used"]
  check(all(log$status[match(rewarded, log$ticket)] == "used"),
        sprintf("all %d acknowledged rewards are there", length(rewarded)))
  events <- DBI::dbGetQuery(con, "SELECT kind, ticket, t, arm FROM dpts_event ORDER BY seq, part")
  used <- events$ticket[events$kind == "used"]
  check(!anyDuplicated(used), "no reward was used twice")
  released <- events[events$kind == "release", ]
  check(!anyDuplicated(released[!is.na(released$t), c("arm", "t")]), # those of the end name no batch
        sprintf("each of %d batches was released once", nrow(released)))
  releases <- sum(estimates(agent)$releases)
  if (!is.na(releases)) check(nrow(released) == releases, "the ledger counts the same releases")
  check(sum(pulls(agent)$pulls) == rounds, "the policy's count is the journal's")
  agent_close(agent)
}

torture_kill <- function(policy = policy_gaussian_imed(1, first = 2), times = kills, ...) {
  message("kill -9, ", times, " times, three clients running: ", policy$name)
  forget_acks()
  store <- tempfile("kill-", folder, ".sqlite")
  agent_close(dpts_agent(policy, 3, store, use = "arrival", deadline = as.difftime(2, units = "secs"), ...))
  workers <- lapply(1:3, start_worker, store = store)
  for (kill in seq_len(times)) {
    i <- sample(3, 1)
    kill_one(workers[[i]])
    workers[[i]] <- start_worker(store, i)
  }
  Sys.sleep(2)
  for (w in workers) tools::pskill(w$get_pid(), tools::SIGKILL)
  verify(store)
  store
}

# A context is there while its ticket is open, and then it is not; and, without noise, the journal played again makes
# the same state.
torture_contexts <- function() {
  query <- function(store, text) {
    con <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
    on.exit(DBI::dbDisconnect(con))
    DBI::dbGetQuery(con, text)
  }
  for (policy in list(policy_linucb(mu = 1, norm = 1), policy_lin_ts(mu = 1, norm = 1))) {
    store <- torture_kill(policy, ceiling(kills / 5), dim = 2)
    agent <- agent_open(store)
    agent_choose(agent, 5, context = matrix(stats::runif(10), 5))
    agent_close(agent)
    rows <- query(store, "SELECT status, context IS NOT NULL AS context, reward IS NOT NULL AS reward FROM dpts_ticket")
    open <- rows$status == 0
    check(all(rows$context[open] == 1) && sum(rows$context[!open]) == 0 && sum(rows$reward) == 0,
          sprintf("%d open tickets have their contexts, %d others and all rewards are forgotten", sum(open), sum(!open)))
  }
  policy <- policy_linucb()
  store <- torture_kill(policy, ceiling(kills / 5), dim = 2, keep_rewards = TRUE)
  agent <- agent_open(store)
  pulls(agent) # deadlines that are past
  tickets <- query(store, "SELECT ticket, t, arm, batch, reward, context FROM dpts_ticket")
  events <- query(store, "SELECT kind, ticket FROM dpts_event WHERE kind IN ('choose', 'used', 'missing') ORDER BY seq, part")
  again <- dpts:::live_session(policy, 3, NULL, 2)
  dpts:::session_start(again)
  for (i in seq_len(nrow(events))) {
    x <- as.list(tickets[match(events$ticket[i], tickets$ticket), ])
    context <- dpts:::read_context(x$context)
    if (events$kind[i] == "choose") dpts:::session_play(again, x$arm, context)
    else dpts:::session_feed(again, x$t, x$arm, x$batch, if (events$kind[i] == "used") x$reward else 0, context)
  }
  check(identical(dpts:::session_save(again)$bytes, dpts:::session_save(agent$session)$bytes),
        sprintf("the journal, %d choices and rewards played again, makes the same state to the byte", nrow(events)))
  agent_close(agent)
}

# An operator adds, retires, pauses and resumes arms and makes copies, and writes down what was acknowledged.
operator <- function(store, acks, folder) {
  agent <- dpts::agent_open(store)
  log <- file(acks, "a")
  ack <- function(what, name) {
    cat(paste(what, name, "\n"), file = log, sep = "")
    flush(log)
  }
  repeat {
    arms <- dpts::agent_arms(agent)
    name <- as.character(arms$arm)
    active <- name[arms$status == "active"]
    paused <- name[arms$status == "paused"]
    what <- sample(c("add", "retire", "pause", "resume", "backup"), 1)
    if (what == "add" && length(name) < 60) {
      new <- paste0("arm", length(name) + 1)
      dpts::agent_arms(agent, add = new)
      ack("add", new)
    } else if (what %in% c("retire", "pause") && length(active) > 3) {
      one <- sample(active, 1)
      do.call(dpts::agent_arms, stats::setNames(list(agent, one), c("agent", what)))
      ack(what, one)
    } else if (what == "resume" && length(paused)) {
      dpts::agent_arms(agent, resume = paused)
    } else if (what == "backup") {
      path <- tempfile("copy-", folder, ".sqlite")
      dpts::agent_backup(agent, path)
      ack("backup", path)
    }
    Sys.sleep(stats::runif(1, 0, 0.1))
  }
}

torture_life <- function() {
  message("kill -9, ", kills, " times, two clients and an operator running; then copies, and the end")
  forget_acks()
  store <- file.path(folder, "life.sqlite")
  agent_close(dpts_agent(policy_gaussian_imed(1, first = 2), 3, store, use = "arrival",
                        deadline = as.difftime(2, units = "secs")))
  start <- function(i) {
    if (i < 3) return(start_worker(store, i))
    acks <- tempfile("operator-", folder)
    with_acks(callr::r_bg(operator, list(store, acks, folder), supervise = TRUE), acks)
  }
  running <- lapply(1:3, start)
  for (kill in seq_len(kills)) {
    i <- sample(3, 1)
    kill_one(running[[i]])
    running[[i]] <- start(i)
  }
  Sys.sleep(2)
  for (w in running) tools::pskill(w$get_pid(), tools::SIGKILL)
  verify(store)
  lines <- unlist(lapply(list.files(folder, "^operator", full.names = TRUE), readLines, warn = FALSE))
  did <- strsplit(trimws(lines), " ")
  said <- function(what) vapply(Filter(function(x) x[1] == what, did), `[`, "", 2)
  agent <- agent_open(store)
  arms <- agent_arms(agent)
  check(all(said("add") %in% arms$arm), sprintf("all %d acknowledged arms are there", length(said("add"))))
  check(all(arms$status[match(said("retire"), arms$arm)] == "retired"),
        sprintf("all %d acknowledged retirements hold", length(said("retire"))))
  copies <- utils::tail(said("backup"), 5)
  for (copy in copies) {
    old <- agent_open(copy)
    agent_restored(old)
    log <- dpts_history(old)
    x <- agent_choose(old)
    check(sum(!is.na(log$t)) + 1 == sum(pulls(old)$pulls) && all(log$ticket %in% dpts_history(agent)$ticket),
          "a copy is whole, and goes on")
    agent_close(old)
  }
  check(length(copies) > 0, sprintf("%d copies were made", length(said("backup"))))
  agent_finish(agent, "verdict")
  agent_choose(agent)
  agent_close(agent)
  con <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
  left <- DBI::dbGetQuery(con, "SELECT count(*) AS n FROM dpts_ticket WHERE reward IS NOT NULL")$n
  DBI::dbDisconnect(con)
  check(left == 0, "at the end no reward is kept")
  verify(store)
}

# A call that is killed at any moment of its work, each time on a new store: it is done as a whole or not at all, and the
# agent goes on. make(): puts the store there. prepare(store), work(what that gave): the call. is_done(con): was it? right(agent, done): is all
# as it should be?
torture_once <- function(what, times, make, prepare, work, is_done, right) {
  message("kill -9 in the middle of ", what, ", ", times, " times")
  store <- tempfile("once-", folder, ".sqlite")
  start <- function() {
    unlink(paste0(store, c("", "-wal", "-shm", "-journal")))
    make(store)
    flags <- tempfile(c("loaded-", "done-"), folder)
    job <- callr::r_bg(function(store, flags, prepare, work) {
      for (package in c("dpts", "DBI", "RSQLite")) loadNamespace(package)
      given <- prepare(store)
      file.create(flags[1])
      work(given)
      file.create(flags[2])
      Sys.sleep(10)
    }, list(store, flags, prepare, work), supervise = TRUE)
    while (!file.exists(flags[1])) Sys.sleep(0.005)
    list(job = job, done = flags[2])
  }
  # How long it takes here, of three
  took <- max(replicate(3, {
    one <- start()
    began <- Sys.time()
    while (!file.exists(one$done)) Sys.sleep(0.001)
    one$job$kill()
    as.numeric(Sys.time() - began, units = "secs")
  }))
  done <- 0
  for (kill in seq_len(times)) {
    job <- start()$job
    Sys.sleep(stats::runif(1, 0, 1.1 * took))
    tools::pskill(job$get_pid(), tools::SIGKILL)
    job$wait()
    con <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
    now <- is_done(function(text) DBI::dbGetQuery(con, text)[[1]])
    DBI::dbDisconnect(con)
    done <- done + now
    agent <- agent_open(store)
    if (!right(agent, now)) check(FALSE, "it is as it was, or done")
    agent_close(agent)
  }
  check(TRUE, sprintf("each is as it was (%d) or done (%d), and goes on", times - done, done))
}

# The end, and an old copy that is reported
torture_end <- function() {
  store <- tempfile("end-", folder, ".sqlite")
  agent <- dpts_agent(policy_gaussian_imed(1, first = 2), 3, store, use = "arrival")
  agent_reward(agent, agent_choose(agent, 2000)$ticket[1:1500], rep(0:1, 750))
  agent_close(agent)
  copy <- function(to) file.copy(store, to)
  left <- function(agent) length(agent$store$kept("rewards")$ticket)
  torture_once("agent_finish()", ceiling(kills / 5), copy, dpts::agent_open,
               function(agent) dpts::agent_finish(agent, "verdict"),
               function(look) look("SELECT count(*) FROM dpts_event WHERE kind = 'finish'") == 1,
               function(agent, done) {
    same <- agent$store$count("release") == sum(estimates(agent)$releases) && (left(agent) == 0) == done
    agent_finish(agent, "verdict")
    same && left(agent) == 0 && agent$store$count("finish") == 1 && is.na(agent_choose(agent)$t) &&
      agent$store$count("release") == sum(estimates(agent)$releases)
  })
  torture_once("agent_restored()", ceiling(kills / 5), copy, dpts::agent_open, dpts::agent_restored,
               function(look) look("SELECT restored FROM dpts_agent") == 1,
               function(agent, done) agent$store$count("restored") == done && agent_choose(agent)$t == 2001)
}

torture_share <- function() {
  message("two processes on one SQLite file")
  forget_acks()
  store <- file.path(folder, "share.sqlite")
  agent_close(dpts_agent(policy_gaussian_imed(1, first = 2), 3, store, use = "arrival",
                        deadline = as.difftime(2, units = "secs")))
  workers <- lapply(1:2, start_worker, store = store)
  Sys.sleep(15)
  check(all(vapply(workers, function(w) w$is_alive(), NA)), "both still run")
  for (w in workers) tools::pskill(w$get_pid(), tools::SIGKILL)
  verify(store)
}

torture_disk <- function() {
  message("a full disk")
  mount <- file.path(folder, "disk")
  dir.create(mount)
  mounted <- suppressWarnings(system2("mount", c("-t", "tmpfs", "-o", "size=600k", "tmpfs", mount),
                                      stderr = FALSE)) == 0
  if (!mounted) return(message("  left out: no right to mount a small file system"))
  on.exit(system2("umount", mount))
  store <- file.path(mount, "full.sqlite")
  agent <- dpts_agent(policy_gaussian_imed(1), 3, store, use = "arrival")
  done <- 0
  error <- tryCatch(repeat {
    agent_choose(agent, 20)
    done <- done + 20
  }, error = identity)
  check(inherits(error, "dpts_error_store_full"), paste("the error says so:", conditionMessage(error)))
  check(nrow(dpts_history(agent)) == done, sprintf("all %g choices before it are there", done))
  agent_close(agent)
  system2("mount", c("-o", "remount,ro", mount))
  agent <- agent_open(store)
  error <- tryCatch(agent_choose(agent), error = identity)
  check(inherits(error, "dpts_error_store_readonly"), paste("read-only:", conditionMessage(error)))
  agent_close(agent)
  system2("mount", c("-o", "remount,rw,size=4m", mount))
  agent <- agent_open(store)
  check(agent_choose(agent)$t == done + 1, "with room again it goes on")
  agent_choose(agent, 2000)
  done <- done + 2001
  fill <- function(i) file.path(mount, paste0("fill-", i))
  n <- 0
  repeat {
    n <- n + 1
    try(suppressWarnings(writeBin(raw(65536), fill(n))), silent = TRUE)
    if (!isTRUE(file.size(fill(n)) == 65536)) break
  }
  unlink(fill(n - 0:2)) # room for a change, but not for a copy
  error <- tryCatch(agent_backup(agent, file.path(mount, "copy.sqlite")), error = identity)
  check(inherits(error, "dpts_error_store_full"), paste("no room for a copy:", conditionMessage(error)))
  check(!file.exists(file.path(mount, "copy.sqlite")) && agent_choose(agent)$t == done + 1,
        "nothing is left of it, and the agent goes on")
  agent_close(agent)
}

# What an operator may do to a store: a clear error each time, and the file as it was
torture_harm <- function() {
  message("harm")
  store <- file.path(folder, "harm.sqlite")
  agent <- dpts_agent(policy_gaussian_imed(1, first = 2), 3, store, use = "arrival")
  agent_reward(agent, agent_choose(agent, 20)$ticket, 1)
  agent_close(agent)
  sum_of <- function() unname(tools::md5sum(store))
  edit <- function(...) {
    con <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
    on.exit(DBI::dbDisconnect(con))
    for (text in c(...)) DBI::dbExecute(con, text)
  }
  refused <- function(what, class, work) {
    before <- sum_of()
    error <- tryCatch(work(), error = identity)
    check(inherits(error, class), sprintf("%s: %s", what, conditionMessage(error)))
    check(identical(sum_of(), before), paste0(what, ": the file is as it was"))
  }
  copy <- file.path(folder, "kept.sqlite")
  file.copy(store, copy)
  put_back <- function() file.copy(copy, store, overwrite = TRUE)
  choose <- function() {
    agent <- agent_open(store)
    on.exit(agent_close(agent))
    agent_choose(agent)
  }
  edit("UPDATE dpts_page SET bytes = zeroblob(length(bytes)) WHERE page = 1")
  refused("a corrupted state", "dpts_error_store_damaged", choose)
  put_back()
  edit("UPDATE dpts_definition SET definition = zeroblob(length(definition))")
  refused("a corrupted definition", "dpts_error_store_damaged", choose)
  put_back()
  edit("UPDATE dpts_agent SET version = 99")
  refused("a newer version", "dpts_error_store_newer", choose)
  put_back()
  options(dpts.clock = function() as.numeric(Sys.time()) - 86400)
  t <- suppressWarnings(choose())$t
  check(t == 21, "with a clock that went back a day it goes on")
  options(dpts.clock = NULL)
  put_back()
  bytes <- readBin(store, "raw", file.size(store))
  writeBin(replace(bytes, 4097:8192, as.raw(0xff)), store)
  refused("a page of rubbish", "dpts_error_store", choose)
  writeBin(bytes[1:5000], store)
  refused("a file that was cut", "dpts_error_store", choose)
  put_back()
  con <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
  DBI::dbExecute(con, "BEGIN IMMEDIATE")
  refused("a lock that nobody lets go, after 10 seconds", "dpts_error_store_locked", choose)
  DBI::dbExecute(con, "ROLLBACK")
  DBI::dbDisconnect(con)
  check(choose()$t == 21, "after all this it goes on")
}

# A handle in a process that was forked is refused, whatever its store is; one that is opened there works beside
# the first.
torture_fork <- function() {
  message("forks")
  forget_acks()
  store <- file.path(folder, "fork.sqlite")
  agent <- dpts_agent(policy_gaussian_imed(1, first = 2), 3, store, use = "arrival")
  in_memory <- dpts_agent(policy_gaussian_imed(1, first = 2), 3, use = "arrival")
  jobs <- lapply(1:8, function(i) parallel::mcparallel({
    refused <- vapply(list(agent, in_memory), function(a) {
      inherits(tryCatch(agent_choose(a), error = identity), "dpts_error_forked")
    }, NA)
    agent_close(agent)
    own <- agent_open(store)
    tickets <- unlist(lapply(1:25, function(j) agent_choose(own)$ticket))
    agent_reward(own, tickets, 1)
    list(all(refused), tickets)
  }))
  mine <- unlist(lapply(1:25, function(j) agent_choose(agent)$ticket))
  done <- parallel::mccollect(jobs)
  check(all(vapply(done, function(x) isTRUE(x[[1]]), NA)), "a handle from before a fork is refused there")
  all <- c(mine, unlist(lapply(done, `[[`, 2)))
  log <- dpts_history(agent)
  check(!anyDuplicated(all) && setequal(all, log$ticket) && identical(log$t, as.numeric(1:225)),
        "eight forks and their parent: 225 choices, each once")
  agent_close(agent)
  verify(store)
}

# A PostgreSQL of our own: connect(schema), and stop()
postgres <- function() {
  bin <- c(Sys.glob("/usr/lib/postgresql/*/bin"), dirname(Sys.which("postgres")))
  bin <- bin[file.exists(file.path(bin, "initdb"))]
  if (!length(bin) || !requireNamespace("RPostgres", quietly = TRUE)) {
    return(message("  left out: there is no PostgreSQL"))
  }
  home <- file.path("/tmp", basename(tempfile("torture-pg-"))) # a socket's path must be short
  dir.create(home)
  root <- Sys.info()[["effective_user"]] == "root" # which may not run initdb
  if (root) system2("chown", c("postgres", home))
  run <- function(...) {
    command <- paste0(bin[1], "/", sprintf(...))
    system(if (root) sprintf("su postgres -s /bin/sh -c %s", shQuote(command)) else command)
  }
  run("initdb -D %s/data -A trust -U dpts > %1$s/log", home)
  run("pg_ctl -D %s/data -o '-k %1$s -c listen_addresses=' -w -l %1$s/log start > /dev/null", home)
  list(home = home, stop = function() {
    run("pg_ctl -D %s/data -m immediate stop > /dev/null", home)
    unlink(home, recursive = TRUE)
  })
}

connect <- function(home, schema) {
  con <- DBI::dbConnect(RPostgres::Postgres(), host = home, user = "dpts", dbname = "postgres",
                        timezone = "UTC", timezone_out = "UTC", bigint = "numeric")
  DBI::dbExecute(con, sprintf(paste("SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS %s;",
                                    "SET search_path = %1$s"), schema), immediate = TRUE)
  con
}

# Two experiments in one database, and connections that break: nothing of one goes into the other's tables.
torture_schema <- function() {
  message("connections that break, two experiments in one database")
  where <- postgres()
  if (is.null(where)) return(invisible())
  on.exit(where$stop())
  killer <- connect(where$home, "public")
  agents <- lapply(c("public", "exp3"), function(schema) {
    con <- connect(where$home, schema)
    agent <- dpts_agent(policy_gaussian_imed(1, first = 2), paste0(schema, c("A", "B")), con, use = "arrival")
    list(con = con, agent = agent)
  })
  failed <- 0
  tickets <- list(character(), character())
  for (i in 1:400) {
    j <- i %% 2 + 1
    if (i %% 10 == 0) {
      DBI::dbGetQuery(killer, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                               WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
    }
    x <- tryCatch({
      x <- agent_choose(agents[[j]]$agent)
      agent_reward(agents[[j]]$agent, x$ticket, 1)
      x
    }, dpts_error_store = function(e) NULL)
    if (is.null(x)) failed <- failed + 1 else tickets[[j]] <- c(tickets[[j]], x$ticket)
    if (!all(startsWith(as.character(x$arm), c("public", "exp3")[j]))) check(FALSE, "an arm of its own")
  }
  check(failed > 0 && failed < 200, sprintf("%d of 400 calls failed, and the next ones worked", failed))
  for (j in 1:2) {
    try(agent_choose(agents[[j]]$agent), silent = TRUE) # the last kill
    log <- dpts_history(agents[[j]]$agent)
    check(all(tickets[[j]] %in% log$ticket) && !any(tickets[[3 - j]] %in% log$ticket),
          "each has its own tickets, and no other's")
  }
  # Nobody writes into what has taken the place of an agent, and all goes on when it is there again.
  rename <- function(from, to) DBI::dbExecute(killer, sprintf("ALTER SCHEMA %s RENAME TO %s", from, to))
  before <- vapply(agents, function(a) nrow(dpts_history(a$agent)), 0L)
  Map(rename, c("public", "exp3"), c("away", "public"))
  error <- tryCatch(agent_choose(agents[[1]]$agent), error = identity)
  check(inherits(error, "dpts_error_store"), paste("a swapped schema:", conditionMessage(error)))
  Map(rename, c("public", "away"), c("exp3", "public"))
  for (j in 1:2) {
    agent_choose(agents[[j]]$agent)
    check(nrow(dpts_history(agents[[j]]$agent)) == before[j] + 1, "nothing was written meanwhile")
  }
  for (a in agents) DBI::dbDisconnect(a$con)
  DBI::dbDisconnect(killer)
}

# A client of several services: what one does not answer is asked of any, with the same key.
client <- function(ports, acks, token_file) {
  log <- file(acks, "a")
  ask <- function(path, body) {
    for (try in 1:200) {
      port <- sample(rep(ports, 2), 1)
      handle <- curl::new_handle(post = TRUE, postfields = body, timeout = 10, connecttimeout = 1)
      curl::handle_setheaders(handle, Authorization = paste("Bearer", readLines(token_file)),
                              "Content-Type" = "application/json")
      url <- sprintf("http://127.0.0.1:%d/%s", port, path)
      answer <- tryCatch(curl::curl_fetch_memory(url, handle), error = function(e) NULL)
      if (!is.null(answer) && answer$status_code == 200) return(jsonlite::fromJSON(rawToChar(answer$content)))
      cat(paste("failed", if (is.null(answer)) "none" else answer$status_code, "\n"), file = log)
      flush(log)
      if (!is.null(answer) && !answer$status_code %in% c(429, 503)) next
      Sys.sleep(0.05)
    }
    stop("no service answers")
  }
  repeat {
    x <- ask("choose", sprintf('{"key": "%s"}', paste(sample(c(letters, 0:9), 20, TRUE), collapse = "")))
    cat(paste("choose", x$ticket, "\n"), file = log)
    flush(log)
    if (stats::runif(1) < 0.8) {
      reward <- sample(0:1, 1)
      # (After a retry the first report may have counted: then it is "known".)
      status <- ask("reward", sprintf('{"ticket": "%s", "reward": %d}', x$ticket, reward))$status
      cat(paste(if (status == "known") "used" else status, x$ticket, reward, "\n"), file = log)
      flush(log)
    }
  }
}

start_client <- function(i, ports, token_file) {
  acks <- file.path(folder, sprintf("acks-%d", i))
  with_acks(callr::r_bg(client, list(ports, acks, token_file), supervise = TRUE), acks)
}

# Until it answers
await <- function(port) {
  url <- sprintf("http://127.0.0.1:%d/health", port)
  while (inherits(try(curl::curl_fetch_memory(url), silent = TRUE), "try-error")) Sys.sleep(0.1)
}

answers <- function(kind) {
  acks <- read_acks()
  vapply(Filter(function(x) x[1] == kind, acks), `[`, "", 2)
}

torture_services <- function() {
  message("two services on one PostgreSQL, one of them killed by -9 again and again, for ", lasts, " seconds")
  where <- postgres()
  if (is.null(where)) return(invisible())
  on.exit(where$stop())
  forget_acks()
  con <- connect(where$home, "live")
  agent <- dpts_agent(policy_gaussian_imed(1, first = 2), 3, con, use = "arrival")
  token <- file.path(folder, "token")
  writeLines("0123456789-services", token)
  ports <- 20000 + sample(9999, 2)
  serve <- function(i) {
    out <- callr::r_bg(function(connect, home, port) {
      dpts::agent_serve(dpts::agent_open(connect(home, "live")), port, "0123456789-services", log = NULL)
    }, list(connect, where$home, ports[i]), supervise = TRUE)
    await(ports[i])
    out
  }
  services <- lapply(1:2, serve)
  clients <- lapply(1:3, start_client, ports = ports, token_file = token)
  began <- Sys.time()
  kills <- 0
  while (Sys.time() < began + lasts) {
    Sys.sleep(stats::runif(1, 0, 3))
    i <- sample(2, 1)
    tools::pskill(services[[i]]$get_pid(), tools::SIGKILL)
    services[[i]] <- serve(i)
    kills <- kills + 1
  }
  check(all(vapply(clients, function(w) w$is_alive(), NA)),
        sprintf("%d kills, and each client was always served in the end", kills))
  for (w in c(clients, services)) tools::pskill(w$get_pid(), tools::SIGKILL)
  Sys.sleep(0.5)
  seen <- table(answers("failed"))
  message("  failures that clients saw: ", paste(names(seen), seen, collapse = ", "))
  check(all(names(seen) %in% c("none", "503")), "there were no others than no answer and 503")
  verify(con)
  DBI::dbDisconnect(con)
}

torture_rotate <- function() {
  message("tokens that are changed under load, for ", lasts, " seconds")
  forget_acks()
  store <- file.path(folder, "rotate.sqlite")
  agent_close(dpts_agent(policy_gaussian_imed(1, first = 2), 3, store, use = "arrival"))
  tokens <- file.path(folder, "tokens")
  shown <- file.path(folder, "token")
  place <- function(lines, file) {
    writeLines(lines, paste0(file, "-new"))
    file.rename(paste0(file, "-new"), file)
  }
  new_token <- function() paste(sample(c(letters, 0:9), 30, TRUE), collapse = "")
  old <- new_token()
  place(paste("admin", old), tokens)
  place(old, shown)
  port <- 20000 + sample(9999, 1)
  server <- callr::r_bg(function(store, port, tokens) {
    dpts::agent_serve(store, port, function() {
      lines <- utils::read.table(tokens, colClasses = "character", col.names = c("role", "token"))
      stats::setNames(lines$token, lines$role)
    }, log = NULL)
  }, list(store, port, tokens), supervise = TRUE)
  on.exit(server$kill())
  await(port)
  clients <- lapply(1:3, start_client, ports = port, token_file = shown)
  status <- function(token) {
    handle <- curl::new_handle()
    curl::handle_setheaders(handle, Authorization = paste("Bearer", token))
    curl::curl_fetch_memory(sprintf("http://127.0.0.1:%d/status", port), handle)$status_code
  }
  began <- Sys.time()
  rotations <- 0
  right <- TRUE
  while (Sys.time() < began + lasts) {
    new <- new_token()
    place(paste("admin", c(old, new)), tokens)
    right <- right && status(old) == 200 && status(new) == 200
    place(new, shown)
    Sys.sleep(0.5)
    if (rotations %% 3 == 0) { # a file that cannot be read: those before it hold
      place("rubbish", tokens)
      right <- right && status(old) == 200 && status(new) == 200
    }
    place(paste("admin", new), tokens)
    right <- right && status(old) == 401 && status(new) == 200
    old <- new
    rotations <- rotations + 1
  }
  check(right, sprintf(paste("%d changes: the new token is let in at once, the old one is not, and a file that",
                             "cannot be read changes nothing"), rotations))
  check(all(vapply(clients, function(w) w$is_alive(), NA)) && !length(answers("failed")),
        "no client was turned away")
  for (w in clients) tools::pskill(w$get_pid(), tools::SIGKILL)
  server$interrupt()
  server$wait(5000)
  verify(store)
}

# A validator that others wrote reads the description, of one agent and of several.
torture_describe <- function() {
  message("the description, read by a validator from npm")
  if (!all(nzchar(Sys.which(c("node", "npm"))))) return(message("  left out: there is no npm"))
  made <- system2("npm", c("install", "--prefix", shQuote(folder), "--no-audit", "--no-fund", "--silent",
                           "@apidevtools/swagger-parser"), stderr = FALSE)
  if (made != 0) return(message("  left out: npm cannot install the validator"))
  script <- file.path(folder, "validate.mjs")
  writeLines(c("import fs from 'fs'; import parser from '@apidevtools/swagger-parser';",
               "await parser.validate(JSON.parse(fs.readFileSync(process.argv[2])));"), script)
  one <- dpts_agent(policy_gaussian_imed(1), 3, use = "arrival")
  for (served in list(one, list(a = one, b = one))) {
    service <- dpts:::new_service(served, strrep("x", 20), Inf, NULL)
    file <- file.path(folder, "openapi.json")
    writeLines(dpts:::api_json(dpts:::api_description(service)), file)
    check(system2("node", c(script, file)) == 0, sprintf("it accepts that of %d", length(service$agents$names())))
  }
}

torture_http <- function() {
  message(format(requests, scientific = FALSE), " malformed HTTP requests")
  store <- file.path(folder, "http.sqlite")
  agent_close(dpts_agent(policy_gaussian_imed(1), 3, store, use = "arrival"))
  agent <- torment(requests, function(store, port, token) {
    dpts::agent_serve(dpts::agent_open(store), port, token)
  }, store)
  print(table(agent$status))
  check(!any(agent$status >= 500), "no 500")
  per_thousand <- function(run) {
    # Not the first fifth, in which R compiles and its heap finds its size
    late <- run$at >= max(run$at) / 5
    1e3 * stats::coef(stats::lm(run$memory[late] ~ run$at[late]))[[2]]
  }
  rate <- per_thousand(agent)
  message(sprintf("  %s MB; %.3f MB more per 1,000 requests; files open: %s",
                  paste(round(agent$memory), collapse = ", "), rate, paste(range(agent$files), collapse = " to ")))
  check(rate < 0.1, "memory is flat")
  check(utils::tail(agent$files, 1) <= agent$files[1] + 8, "no socket is left open")
}

# n malformed requests to a service -> their status, and its memory in MB and open files on the way
torment <- function(n, serve, store) {
  port <- 20000 + sample(9999, 1)
  token <- "0123456789-torture"
  server <- callr::r_bg(serve, list(store, port, token), supervise = TRUE)
  on.exit(server$kill())
  while (inherits(try(curl::curl_fetch_memory(sprintf("http://127.0.0.1:%d/", port)), silent = TRUE),
                  "try-error")) Sys.sleep(0.2)
  memory <- function() {
    as.numeric(system2("ps", c("-o", "rss=", "-p", server$get_pid()), stdout = TRUE)) / 1024
  }
  files <- function() length(list.files(sprintf("/proc/%d/fd", server$get_pid())))
  status_of <- function(answer) as.numeric(sub("^HTTP/1.1 ([0-9]+).*", "\\1", answer[1]))
  send <- function(bytes) {
    tryCatch({
      con <- suppressWarnings(socketConnection("127.0.0.1", port, open = "r+b", blocking = TRUE,
                                               timeout = 2))
      on.exit(close(con))
      writeBin(bytes, con)
      answer <- suppressWarnings(readLines(con, 1))
      if (length(answer)) status_of(answer) else 0 # hung up on
    }, error = function(e) 0)
  }
  words <- c("{", "}", "[", "]", ":", ",", "\"n\"", "\"ticket\"", "\"reward\"", "1e999", "-1", "null",
             "\"\\u0000\"", "\\", "NaN", "\xff", "{\"n\":{}}")
  request <- function(i) {
    body <- switch(i %% 4 + 1, as.raw(sample(0:255, sample(60, 1), TRUE)),
                   charToRaw(paste(sample(words, sample(9, 1), TRUE), collapse = "")),
                   charToRaw(strrep("[", sample(2000, 1))), raw())
    head <- sprintf("%s %s HTTP/1.1\r\nHost: x\r\n%s%sContent-Length: %s\r\nConnection: close\r\n\r\n",
                    sample(c("POST", "GET", "PUT", "POST", "OPTIONS"), 1),
                    sample(c("/choose", "/reward", "/privacy?delta=%", "/%00", "/estimates?level=", "//"), 1),
                    sample(c("", sprintf("Authorization: Bearer %s\r\n", token), "Authorization: x\r\n"), 1,
                           prob = c(1, 6, 1)),
                    sample(c("", "Content-Type: application/json\r\n", "Content-Type: multipart/form-data\r\n",
                             "Content-Type: \xff\r\n"), 1),
                    sample(c(as.character(length(body)), as.character(length(body)), "0"), 1))
    if (i %% 50 == 0) return(as.raw(sample(0:255, 200, TRUE))) # no HTTP at all
    c(charToRaw(head), body)
  }
  for (i in 1:500) send(request(i))
  out <- list(at = 0, memory = memory(), files = files(), status = numeric(n))
  for (i in seq_len(n)) {
    out$status[i] <- send(request(i))
    if (i %% ceiling(n / 20) == 0 || i == n) {
      out$at <- c(out$at, i)
      out$memory <- c(out$memory, memory())
      out$files <- c(out$files, files())
    }
  }
  check(server$is_alive(), "the server runs")
  out
}

for (part in parts) get(paste0("torture_", part))()
unlink(folder, recursive = TRUE)
message("Nothing broke.")
