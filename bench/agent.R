# The speed of a live agent, against its targets: Rscript bench/agent.R [seconds of HTTP load, 0: no HTTP]
# Beside each time stands the processor time of the R process that was asked, because other work on the
# machine adds to the first and little to the second.

suppressPackageStartupMessages(library(dpts))
# RPostgres has R ask for its time zone; without systemd the question is answered with a complaint.
if (!nzchar(Sys.getenv("TZ"))) Sys.setenv(TZ = "UTC")
seconds <- as.numeric(c(commandArgs(trailingOnly = TRUE), "300")[1])
folder <- tempfile("bench-agent-")
dir.create(folder)
load <- function() strsplit(readLines("/proc/loadavg"), " ")[[1]][1]
line <- function(what, value, cpu, target) {
  cat(sprintf("| %s | %s | %s | %s | %s |\n", what, value, cpu, target,
              if (file.exists("/proc/loadavg")) load() else ""))
}
# Median elapsed and mean processor time of a call, in seconds
timed <- function(n, work) {
  elapsed <- numeric(n)
  start <- proc.time()
  for (i in seq_len(n)) {
    before <- Sys.time()
    work(i)
    elapsed[i] <- as.numeric(Sys.time() - before, units = "secs")
  }
  used <- proc.time() - start
  c(median = stats::median(elapsed), cpu = sum(used[1:2]) / n)
}
report <- function(what, time, each, unit, target) {
  scale <- c(ms = 1e3, us = 1e6)[[unit]] / each
  line(what, sprintf("%.2f %s", time[["median"]] * scale, unit),
       sprintf("%.2f %s", time[["cpu"]] * scale, unit), target)
}

cat("| what | measured | processor | target | load |\n| --- | --- | --- | --- | --- |\n")
agent <- dpts_agent(policy_gaussian_imed(1), 5, file.path(folder, "a.sqlite"), use = "arrival")
for (i in 1:50) agent_reward(agent, agent_choose(agent)$ticket, 1)
tickets <- character(500)
report("one durable choice, SQLite", timed(500, function(i) {
  tickets[i] <<- agent_choose(agent)$ticket
}), 1, "ms", "3 ms")
report("one durable reward, SQLite", timed(500, function(i) agent_reward(agent, tickets[i], 1)), 1,
       "ms", "3 ms")
many <- list()
report("1,000 choices at a time, each", timed(10, function(i) {
  many[[i]] <<- agent_choose(agent, 1000)$ticket
}), 1000, "us", "50 us")
report("1,000 rewards at a time, each", timed(10, function(i) agent_reward(agent, many[[i]], 1)), 1000,
       "us", "50 us")
agent_close(agent)
# Without batches a reward is inside the policy's state at once, and its traces are cut from the log each time.
agent <- dpts_agent(policy_ts_gaussian(), 5, file.path(folder, "ts.sqlite"), horizon = 1e4, use = "arrival")
for (i in 1:50) agent_reward(agent, agent_choose(agent)$ticket, 1)
tickets <- agent_choose(agent, 500)$ticket
report("one durable reward, forgotten at once", timed(500, function(i) agent_reward(agent, tickets[i], 1)), 1,
       "ms", "3 ms")
agent_close(agent)

# Choices in so many seconds, the processor time of them, and the longest wait, in a process of its own; `gate`: a
# folder where each process says that it is ready, and waits until all may go
count_choices <- function(agent, seconds, gate) {
  for (i in 1:50) dpts::agent_choose(agent) # R compiles
  file.create(tempfile("ready", gate))
  while (!file.exists(file.path(gate, "go"))) Sys.sleep(0.01)
  begin <- proc.time()
  n <- longest <- last <- 0
  while (last < seconds) {
    dpts::agent_choose(agent)
    n <- n + 1
    now <- (proc.time() - begin)[[3]]
    longest <- max(longest, now - last)
    last <- now
  }
  c(n, sum((proc.time() - begin)[1:2]), longest)
}

# On PostgreSQL: DPTS_BENCH_POSTGRES="host=... user=... dbname=..."
where <- Sys.getenv("DPTS_BENCH_POSTGRES")
connect <- function(where, schema) {
  parts <- strsplit(strsplit(where, " ")[[1]], "=")
  settings <- stats::setNames(lapply(parts, `[`, 2), vapply(parts, `[`, "", 1))
  con <- do.call(DBI::dbConnect, c(list(RPostgres::Postgres(), timezone = "UTC", timezone_out = "UTC"), settings))
  DBI::dbExecute(con, paste("SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS", schema), immediate = TRUE)
  DBI::dbExecute(con, paste("SET search_path =", schema))
  con
}
# k processes, on one agent or with an agent each (a shard) -> choices a second
choose_in_processes <- function(k, shards, seconds = 20) {
  schemas <- basename(tempfile(rep("bench", if (shards) k else 1)))
  gate <- tempfile("gate", folder)
  dir.create(gate)
  for (schema in schemas) {
    agent_close(dpts_agent(policy_gaussian_imed(1), 5, function() connect(where, schema), use = "arrival"))
  }
  jobs <- lapply(rep_len(schemas, k), function(schema) callr::r_bg(function(where, schema, connect, count, seconds, gate) {
    count(dpts::agent_open(function() connect(where, schema)), seconds, gate)
  }, list(where, schema, connect, count_choices, seconds, gate)))
  while (length(list.files(gate, "ready")) < k && all(vapply(jobs, function(job) job$is_alive(), NA))) Sys.sleep(0.05)
  file.create(file.path(gate, "go"))
  for (job in jobs) job$wait()
  done <- vapply(jobs, function(job) job$get_result(), numeric(3))
  con <- connect(where, schemas[1])
  for (schema in schemas) DBI::dbExecute(con, paste("DROP SCHEMA", schema, "CASCADE"))
  DBI::dbDisconnect(con)
  rate <- sum(done[1, ]) / seconds
  line(sprintf("choices, PostgreSQL, %d processes, %s", k, if (shards) "a shard each" else "one agent"),
       sprintf("%.0f a second, longest %.0f ms", rate, max(done[3, ]) * 1e3),
       sprintf("%.2f ms each", sum(done[2, ]) / sum(done[1, ]) * 1e3), if (k == 4) "400 a second" else "")
  rate
}
if (nzchar(where)) {
  one <- vapply(c(1, 4, 10), choose_in_processes, 0, shards = FALSE)
  shards <- vapply(c(2, 10), choose_in_processes, 0, shards = TRUE)
  line("10 shards, to 10 processes on one agent", sprintf("%.2f times", shards[2] / one[3]), "", "4 times")
  line("10 shards, to one process alone", sprintf("%.2f times", shards[2] / one[1]), "", "")
}
if (seconds == 0) quit("no")

# Eight clients of the service
store <- file.path(folder, "http.sqlite")
agent_close(dpts_agent(policy_gaussian_imed(1), 5, store, use = "arrival"))
port <- 20000 + sample(9999, 1)
token <- "0123456789-bench"
server <- callr::r_bg(function(store, port, token) {
  dpts::agent_serve(dpts::agent_open(store), port, token)
}, list(store, port, token), supervise = TRUE)
ps <- function(field) {
  system2("ps", c("-o", paste0(field, "="), "-p", server$get_pid()), stdout = TRUE)
}
memory <- function() as.numeric(ps("rss")) / 1024
processor <- function() as.numeric(ps("times"))
url <- sprintf("http://127.0.0.1:%d/", port)
while (inherits(try(curl::curl_fetch_memory(url), silent = TRUE), "try-error")) Sys.sleep(0.2)
pool <- curl::new_pool(total_con = 8, host_con = 8)
done <- 0
errors <- character()
waits <- numeric()
stop_at <- Sys.time() + seconds
ask <- function() {
  handle <- curl::new_handle(post = TRUE, postfields = "")
  curl::handle_setheaders(handle, Authorization = paste("Bearer", token))
  asked <- Sys.time()
  curl::curl_fetch_multi(paste0(url, "choose"), pool = pool, handle = handle,
    done = function(answer) {
      if (answer$status_code == 200) done <<- done + 1 else {
        errors <<- c(errors, paste(answer$status_code, rawToChar(answer$content)))
      }
      waits[length(waits) + 1] <<- as.numeric(Sys.time() - asked, units = "secs")
      if (Sys.time() < stop_at) ask()
    },
    fail = function(message) {
      errors <<- c(errors, message)
      if (Sys.time() < stop_at) ask()
    })
}
before <- processor()
for (i in 1:8) ask()
invisible(curl::multi_run(timeout = min(20, seconds / 4), pool = pool))
early <- memory()
invisible(curl::multi_run(pool = pool))
late <- memory()
line(sprintf("HTTP choices, 8 clients, %g s", seconds),
     sprintf("%.0f a second, %d errors, median wait %.0f ms", done / seconds, length(errors),
             stats::median(waits) * 1e3),
     sprintf("%.2f ms each", (processor() - before) / done * 1e3), "150 a second, none")
invisible(server$kill())
if (length(errors)) print(utils::head(sort(table(errors), decreasing = TRUE)))
line("memory of the service", sprintf("%.0f MB, then %.0f MB", early, late), "", "flat")
unlink(folder, recursive = TRUE)
