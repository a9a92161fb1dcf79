# What must not break an agent, tried: `make torture`, or `Rscript tools/torture.R kill disk http`.
# Each part prints what it counted and stops at the first thing that is wrong. KILLS and REQUESTS
# in the environment change the numbers.

library(dpts)
parts <- commandArgs(trailingOnly = TRUE)
known <- c("harm", "disk", "share", "kill", "life", "migrate", "http")
if (!length(parts)) parts <- known
if (!all(parts %in% known)) stop("the parts are ", paste(known, collapse = ", "), call. = FALSE)
kills <- as.numeric(Sys.getenv("KILLS", "200"))
requests <- as.numeric(Sys.getenv("REQUESTS", "1e5"))
check <- function(ok, what) if (!isTRUE(ok)) stop("FAILED: ", what, call. = FALSE) else message("  ok: ", what)
folder <- tempfile("torture-")
dir.create(folder)

# A worker chooses and rewards for ever, and writes down what was acknowledged.
worker <- function(store, acks) {
  agent <- dpts::agent_open(store)
  log <- file(acks, "a")
  repeat {
    n <- sample(3, 1)
    choice <- dpts::agent_choose(agent, n)
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

verify <- function(store) {
  agent <- agent_open(store)
  con <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
  on.exit(DBI::dbDisconnect(con))
  acks <- read_acks()
  kind <- vapply(acks, `[[`, "", 1)
  ticket <- vapply(acks, `[[`, "", 2)
  log <- dpts_history(agent)
  check(DBI::dbGetQuery(con, "PRAGMA integrity_check")[[1]] == "ok", "the file is sound")
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
  check(nrow(released) == sum(estimates(agent)$releases), "the ledger counts the same releases")
  check(sum(pulls(agent)$pulls) == rounds, "the policy's count is the journal's")
  agent_close(agent)
}

torture_kill <- function() {
  message("kill -9, ", kills, " times, three clients running")
  forget_acks()
  store <- file.path(folder, "kill.sqlite")
  agent_close(dpts_agent(policy_gaussian_imed(1, first = 2), 3, store, use = "arrival",
                        deadline = as.difftime(2, units = "secs")))
  workers <- lapply(1:3, start_worker, store = store)
  for (kill in seq_len(kills)) {
    i <- sample(3, 1)
    kill_one(workers[[i]])
    workers[[i]] <- start_worker(store, i)
  }
  Sys.sleep(2)
  for (w in workers) tools::pskill(w$get_pid(), tools::SIGKILL)
  verify(store)
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

# A store of an older version whose first opening is killed
torture_migrate <- function() {
  fixture <- file.path("tests", "testthat", "fixtures", "agent-v2-batches.sqlite")
  if (!file.exists(fixture)) return(message("  left out: not called from the folder of the sources"))
  message("kill -9 while a store is migrated, ", ceiling(kills / 5), " times")
  before <- 0
  for (kill in seq_len(ceiling(kills / 5))) {
    store <- file.path(folder, "old.sqlite")
    unlink(paste0(store, c("", "-wal", "-shm", "-journal")))
    file.copy(fixture, store)
    flag <- tempfile("loaded-", folder)
    job <- callr::r_bg(function(store, flag) {
      loadNamespace("dpts")
      file.create(flag)
      dpts::agent_open(store)
      Sys.sleep(10)
    }, list(store, flag), supervise = TRUE)
    while (!file.exists(flag)) Sys.sleep(0.005)
    Sys.sleep(stats::runif(1, 0, 3)) # the opening loads its packages first
    tools::pskill(job$get_pid(), tools::SIGKILL)
    job$wait()
    con <- DBI::dbConnect(RSQLite::SQLite(), store, synchronous = NULL)
    before <- before + (DBI::dbGetQuery(con, "SELECT version FROM dpts_agent")$version == 2)
    DBI::dbDisconnect(con)
    agent <- agent_open(store)
    same <- identical(pulls(agent)$pulls, c(5, 27, 4)) && agent$store$count("migrated") == 1 &&
      nrow(dpts_history(agent)) == 36 && agent_choose(agent)$t == 37
    agent_close(agent)
    if (!same) check(FALSE, "it is as it was, or migrated")
  }
  check(TRUE, sprintf("each is as it was (%d) or migrated (%d), and goes on", before, ceiling(kills / 5) - before))
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

torture_http <- function() {
  message(format(requests, scientific = FALSE), " malformed HTTP requests")
  store <- file.path(folder, "http.sqlite")
  agent_close(dpts_agent(policy_gaussian_imed(1), 3, store, use = "arrival"))
  agent <- torment(requests, function(store, port, token) {
    dpts::agent_serve(dpts::agent_open(store), port, token)
  }, store)
  print(table(agent$status))
  check(!any(agent$status >= 500), "no 500")
  # What plumber and httpuv keep, or the C library does not give back, is not ours: the same requests to a
  # route that answers every one in the same way
  bare <- torment(requests / 5, function(store, port, token) {
    router <- plumber::pr()
    router$setDocs(FALSE)
    refuse <- function(req, res) {
      res$status <- 400L
      "no"
    }
    unread <- structure(list(), class = c("plumber_parsed_parsers", "list"))
    for (path in c("/choose", "/reward", "/privacy", "/estimates")) {
      router$handle(c("GET", "POST", "PUT", "OPTIONS"), path, refuse, parsers = unread)
    }
    router$run(port = port, quiet = TRUE, docs = FALSE, swaggerCallback = NULL)
  }, store)
  per_thousand <- function(run) {
    # Not the first fifth, in which R compiles and its heap finds its size
    late <- run$at >= max(run$at) / 5
    1e3 * stats::coef(stats::lm(run$memory[late] ~ run$at[late]))[[2]]
  }
  rates <- c(agent = per_thousand(agent), bare = per_thousand(bare))
  for (what in c("agent", "bare")) {
    run <- get(what)
    message(sprintf("  %s: %s MB; %.3f MB more per 1,000 requests; files open: %s", what,
                    paste(round(run$memory), collapse = ", "), rates[[what]],
                    paste(range(run$files), collapse = " to ")))
  }
  check(rates[["agent"]] < max(2 * rates[["bare"]], 0) + 0.1, "memory is flat, or as flat as that of a bare route")
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
