# The speed of a live agent, against its targets: Rscript bench/agent.R [seconds of HTTP load]

library(dpts)
seconds <- as.numeric(c(commandArgs(trailingOnly = TRUE), "300")[1])
folder <- tempfile("bench-agent-")
dir.create(folder)
median_ms <- function(n, work) {
  stats::median(vapply(seq_len(n), function(i) system.time(work(i))[["elapsed"]], 0)) * 1e3
}
line <- function(what, value, target) cat(sprintf("| %s | %s | %s |\n", what, value, target))

cat("| what | measured | target |\n| --- | --- | --- |\n")
agent <- dpts_agent(policy_gaussian_imed(1), 5, file.path(folder, "a.sqlite"), use = "arrival")
for (i in 1:50) agent_reward(agent, agent_choose(agent)$ticket, 1)
tickets <- character(500)
line("one durable choice, SQLite", sprintf("%.2f ms", median_ms(500, function(i) {
  tickets[i] <<- agent_choose(agent)$ticket
})), "3 ms")
line("one durable reward, SQLite", sprintf("%.2f ms", median_ms(500, function(i) {
  agent_reward(agent, tickets[i], 1)
})), "3 ms")
many <- NULL
line("1,000 choices at a time, each", sprintf("%.0f us", median_ms(5, function(i) {
  many <<- agent_choose(agent, 1000)$ticket
})), "50 us")
line("1,000 rewards at a time, each", sprintf("%.0f us", median_ms(5, function(i) {
  agent_reward(agent, agent_choose(agent, 1000)$ticket, 1)
}) - median_ms(5, function(i) agent_choose(agent, 1000))), "50 us")
agent_close(agent)

# Eight clients of the service
store <- file.path(folder, "http.sqlite")
agent_close(dpts_agent(policy_gaussian_imed(1), 5, store, use = "arrival"))
port <- 20000 + sample(9999, 1)
token <- "0123456789-bench"
server <- callr::r_bg(function(store, port, token) {
  dpts::agent_serve(dpts::agent_open(store), port, token)
}, list(store, port, token), supervise = TRUE)
Sys.sleep(4)
memory <- function() as.numeric(system2("ps", c("-o", "rss=", "-p", server$get_pid()), stdout = TRUE)) / 1024
pool <- curl::new_pool(total_con = 8, host_con = 8)
done <- failed <- 0
stop_at <- Sys.time() + seconds
ask <- function() {
  handle <- curl::new_handle(post = TRUE, postfields = "")
  curl::handle_setheaders(handle, Authorization = paste("Bearer", token))
  curl::curl_fetch_multi(sprintf("http://127.0.0.1:%d/choose", port), pool = pool, handle = handle,
    done = function(answer) {
      if (answer$status_code == 200) done <<- done + 1 else failed <<- failed + 1
      if (Sys.time() < stop_at) ask()
    },
    fail = function(message) {
      failed <<- failed + 1
      if (Sys.time() < stop_at) ask()
    })
}
for (i in 1:8) ask()
curl::multi_run(timeout = min(20, seconds / 4), pool = pool)
early <- memory()
curl::multi_run(pool = pool)
late <- memory()
server$kill()
line(sprintf("HTTP choices, 8 clients, %g s", seconds), sprintf("%.0f a second, %d errors", done / seconds, failed),
     "150 a second, none")
line("memory of the service", sprintf("%.0f MB, then %.0f MB", early, late), "flat")
unlink(folder, recursive = TRUE)
