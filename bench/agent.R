# The speed of a live agent, against its targets: Rscript bench/agent.R [seconds of HTTP load]
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

# Choices in so many seconds from `start` on, and the processor time of them, in a process of its own
count_choices <- function(agent, seconds, start = 0) {
  for (i in 1:50) dpts::agent_choose(agent) # R compiles
  Sys.sleep(max(0, start - as.numeric(Sys.time())))
  begin <- proc.time()
  n <- 0
  while ((proc.time() - begin)[[3]] < seconds) {
    dpts::agent_choose(agent)
    n <- n + 1
  }
  c(n, sum((proc.time() - begin)[1:2]))
}

# Four processes on one agent: DPTS_BENCH_POSTGRES="host=... user=... dbname=..."
where <- Sys.getenv("DPTS_BENCH_POSTGRES")
connect <- function(where) {
  parts <- strsplit(strsplit(where, " ")[[1]], "=")
  settings <- stats::setNames(lapply(parts, `[`, 2), vapply(parts, `[`, "", 1))
  do.call(DBI::dbConnect, c(list(RPostgres::Postgres(), timezone = "UTC", timezone_out = "UTC"), settings))
}
if (nzchar(where)) {
  schema <- basename(tempfile("bench"))
  con <- connect(where)
  DBI::dbExecute(con, paste("CREATE SCHEMA", schema))
  DBI::dbExecute(con, paste("SET search_path =", schema))
  agent <- dpts_agent(policy_gaussian_imed(1), 5, con, use = "arrival")
  jobs <- lapply(1:4, function(i) callr::r_bg(function(where, schema, connect, count) {
    agent <- dpts::agent_open(function() {
      con <- connect(where)
      DBI::dbExecute(con, paste("SET search_path =", schema))
      con
    })
    count(agent, 20)
  }, list(where, schema, connect, count_choices)))
  for (job in jobs) job$wait()
  done <- vapply(jobs, function(job) job$get_result(), numeric(2))
  DBI::dbExecute(con, paste("SET client_min_messages = warning; DROP SCHEMA", schema, "CASCADE"),
                 immediate = TRUE)
  line("choices, PostgreSQL, 4 processes", sprintf("%.0f a second", sum(done[1, ]) / 20),
       sprintf("%.2f ms each", sum(done[2, ]) / sum(done[1, ]) * 1e3), "400 a second")
}

# Shards: an agent each for so many processes on one PostgreSQL
if (nzchar(where)) for (k in c(1, 2, 10)) {
  jobs <- lapply(seq_len(k), function(i) callr::r_bg(function(where, schema, connect, count, start) {
    agent <- dpts::dpts_agent(dpts::policy_randomised(mu = 1, block = 50), 2, function() {
      con <- connect(where)
      DBI::dbExecute(con, sprintf("CREATE SCHEMA %s; SET search_path = %1$s", schema), immediate = TRUE)
      con
    }, use = "arrival")
    count(agent, 10, start)
  }, list(where, basename(tempfile("shard")), connect, count_choices, as.numeric(Sys.time()) + 3 + 2 * k)))
  for (job in jobs) job$wait()
  done <- vapply(jobs, function(job) job$get_result(), numeric(2))
  line(sprintf("choices, PostgreSQL, shards in %d processes", k), sprintf("%.0f a second", sum(done[1, ]) / 10),
       sprintf("%.2f ms each", sum(done[2, ]) / sum(done[1, ]) * 1e3), "")
}

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
