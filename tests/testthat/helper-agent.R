# A policy in R with no privacy: the arm of the best mean, exploring one round in ten
greedy_policy <- function() {
  policy_custom(
    "greedy",
    start = function(k, horizon) list(n = numeric(k), sum = numeric(k)),
    choose = function(state, round) {
      mean <- state$sum / pmax(state$n, 1)
      if (stats::runif(1) < 0.1) return(round$offer[sample.int(length(round$offer), 1)])
      round$offer[which.max(mean[round$offer])]
    },
    update = function(state, feedback) {
      state$n[feedback$arm] <- state$n[feedback$arm] + 1
      state$sum[feedback$arm] <- state$sum[feedback$arm] + feedback$reward
      state
    }
  )
}

batch_policy <- function(mu = 1) policy_gaussian_imed(mu, first = 2, ratio = 1.8)

# A clock that tests turn
test_clock <- function(env = parent.frame()) {
  now <- 1e9
  withr::local_options(dpts.clock = function() now, .local_envir = env)
  function(seconds) now <<- now + seconds
}

hours <- function(n) as.difftime(n, units = "hours")

# n rounds with rewards that come at once
play_rounds <- function(agent, n, means) {
  for (i in seq_len(n)) {
    choice <- agent_choose(agent)
    agent_reward(agent, choice$ticket, stats::rbinom(1, 1, means[as.integer(choice$arm)]))
  }
}

# One store after the other: in memory, a file, and PostgreSQL where there is one
each_store <- function(test) {
  test(NULL)
  testthat::skip_if_not_installed("RSQLite")
  test(withr::local_tempfile(fileext = ".sqlite"))
  if (postgres_available()) test(postgres_connection())
}

postgres_bin <- function() {
  paths <- c(Sys.glob("/usr/lib/postgresql/*/bin"), dirname(Sys.which("postgres")))
  paths[file.exists(file.path(paths, "initdb")) & file.exists(file.path(paths, "pg_ctl"))]
}

# initdb refuses to run as root; su needs an account to change to.
as_user <- function(command) {
  if (Sys.info()[["effective_user"]] != "root") return(command)
  sprintf("su postgres -s /bin/sh -c %s", shQuote(command))
}

# A private cluster in a temporary folder, started once, stopped when the tests are over; NULL if it does not start
postgres_cluster <- local({
  folder <- NULL
  tried <- FALSE
  function() {
    if (tried) return(folder)
    tried <<- TRUE
    new <- file.path("/tmp", basename(tempfile("dpts-pg-"))) # a socket's path must be short
    dir.create(new)
    if (Sys.info()[["effective_user"]] == "root") system2("chown", c("postgres", new))
    bin <- postgres_bin()[1]
    command <- sprintf(paste(
      "%s/initdb -N -D %s/data -A trust -U dpts > %s/log 2>&1 &&",
      "%s/pg_ctl -D %s/data -o '-k %s -c listen_addresses= -c fsync=off' -w -l %s/log start > /dev/null"),
      bin, new, new, bin, new, new, new)
    if (system(as_user(command)) != 0) return(NULL)
    withr::defer({
      system(as_user(sprintf("%s/pg_ctl -D %s/data -m immediate stop > /dev/null", bin, new)))
      unlink(new, recursive = TRUE)
    }, testthat::teardown_env())
    folder <<- new
  }
})

postgres_available <- function() {
  identical(Sys.getenv("NOT_CRAN"), "true") && requireNamespace("RPostgres", quietly = TRUE) && length(postgres_bin()) &&
    .Platform$OS.type == "unix" && !is.null(postgres_cluster())
}

# A connection to a schema of its own
postgres_connection <- function(schema = basename(tempfile("s")), env = parent.frame()) {
  if (!nzchar(Sys.getenv("TZ"))) withr::local_envvar(TZ = "UTC") # R would ask systemd
  con <- DBI::dbConnect(RPostgres::Postgres(), host = postgres_cluster(), user = "dpts",
                        dbname = "postgres", timezone = "UTC", timezone_out = "UTC")
  withr::defer(DBI::dbDisconnect(con), env)
  DBI::dbExecute(con, sprintf("SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS %s; SET search_path = %s",
                              schema, schema), immediate = TRUE)
  attr(con, "schema") <- schema
  con
}

with_rounding_of <- function(...) dpts:::with_rounding(...)

# Plays a script through a store, a file or memory: arms on offer, rewards after so many rounds, or never.
# forced: the released values of another run. -> what was released, and all that was published
play_script <- function(policy, k, use, script, forced = NULL, file = TRUE) {
  turn <- test_clock()
  con <- NULL
  if (file) {
    con <- DBI::dbConnect(RSQLite::SQLite(), withr::local_tempfile(fileext = ".sqlite"), synchronous = NULL)
    withr::defer(DBI::dbDisconnect(con))
  }
  agent <- dpts_agent(policy, k, con, use = use, deadline = as.difftime(8, units = "secs"))
  if (file) DBI::dbExecute(con, "PRAGMA synchronous = OFF") # what a test writes need not survive
  released <- list()
  feed <- agent$session$feed
  agent$session$feed <- function(...) {
    # Releases are told apart by the pull whose reward completed the batch. Which reward that is
    # may differ between neighbours only where it is the same by public time: here it is.
    key <- as.character(..1)
    values <- withr::with_options(list(dpts.forced_releases = forced[[key]]), feed(...))
    if (nrow(values)) released[[key]] <<- values[, 3]
    invisible(values)
  }
  tickets <- character()
  public <- list()
  for (i in seq_along(script)) {
    turn(1)
    tickets[i] <- agent_choose(agent, offer = script[[i]]$offer)$ticket
    for (j in seq_len(i)) {
      if (script[[j]]$after == i - j && script[[j]]$answers) {
        agent_reward(agent, tickets[j], script[[j]]$reward)
      }
    }
    if (i %% 60 == 0 || i == length(script)) {
      public[[length(public) + 1]] <- list(pulls(agent), estimates(agent),
                                           dpts_history(agent)[-1], summary(agent), format(agent)[-1],
                                           dpts_privacy(agent, delta = 1e-6), dpts:::api_status(agent),
                                           autoplot(agent)$data)
    }
  }
  agent_close(agent)
  list(released = released, published = public)
}
