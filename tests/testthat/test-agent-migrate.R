# Stores of earlier versions, and copies. The fixtures were made with dpts 0.1.0 of 2026-11-22, before its tables had
# version 3: three arms, 30 choices one by one with rewards of 0, 1 and 0.25, and 6 choices of which 2 have a reward of 1. Those of
# PostgreSQL (pg_dump --inserts) are like them, with at most 3 rewards of a person; that of version 3 has 2 choices more,
# whose key is "again".

skip_on_cran() # takes seconds

fixture_copy <- function(name, env = parent.frame()) {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite", .local_envir = env)
  file.copy(test_path("fixtures", name), file)
  file
}

tables_of <- function(file) {
  con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
  on.exit(DBI::dbDisconnect(con))
  DBI::dbGetQuery(con, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
}

test_that("a store of version 2 goes on where it was", {
  turn <- test_clock()
  turn(0.8e9)
  file <- fixture_copy("agent-v2-batches.sqlite")
  agent <- agent_open(file)
  # As the older version said
  expect_equal(pulls(agent)$pulls, c(5, 27, 4))
  expect_equal(pulls(agent)$outstanding, c(0, 4, 0))
  e <- estimates(agent)
  expect_equal(e$rewards, c(5, 18, 4))
  expect_equal(e$releases, c(4, 6, 3))
  expect_equal(e$mean, c(0.266, 1, 0.0587), tolerance = 1e-2)
  log <- dpts_history(agent)
  expect_equal(log$t, 1:36)
  expect_equal(log$status, rep(c("used", "open"), c(32, 4)))
  # Rewards that are out come into their batches, and each once.
  open <- log$ticket[33:36]
  expect_equal(agent_reward(agent, c(log$ticket[1], open), 1)$status, c("known", rep("used", 4)))
  play_rounds(agent, 60, c(0.2, 0.5, 0.8))
  expect_equal(sum(pulls(agent)$pulls), 96)
  expect_equal(agent$store$count("release"), sum(estimates(agent)$releases))
  expect_equal(agent$store$count("migrated"), 1)
  expect_equal(agent$store$count("choose"), 96)
  expect_equal(agent_arms(agent, add = "grey")$status, rep("active", 4))
  agent_finish(agent, "verdict")
  agent_close(agent)
  # The same tables as those of a new agent, and nothing of the old ones
  new <- withr::local_tempfile(fileext = ".sqlite")
  agent_close(dpts_agent(batch_policy(), 3, new, use = "arrival"))
  expect_equal(tables_of(file), tables_of(new))
  agent <- agent_open(file)
  expect_equal(agent$store$count("migrated"), 1)
  agent_close(agent)
})

test_that("rewards that wait in a store of version 2 are used at their deadline", {
  turn <- test_clock()
  turn(0.7e9 + 60)
  agent <- agent_open(fixture_copy("agent-v2-plain.sqlite"))
  expect_equal(pulls(agent)[[3]], rep(12, 3))
  turn(31 * 86400)
  expect_equal(pulls(agent)[[3]], rep(0, 3))
  report <- agent$session$arms()
  expect_equal(report$pulls, rep(12, 3))
  # 10 of each arm have been answered with 0, 1 and 0.25, then red and green with 1; others count 0.5.
  seen <- .Call(C_session_report, environment(agent$session$arms)$handle)
  expect_equal(seen[1, ], rep(12, 3))
  expect_equal(sum(seen[2, ]), 0 * 10 + 1 * 10 + 0.25 * 10 + 2 * 1 + 4 * 0.5)
  expect_equal(agent_choose(agent)$t, 37)
  agent_close(agent)
})

test_that("a schema of PostgreSQL of version 2 or 3 goes on where it was, with the tables of a new one", {
  skip_if_not(postgres_available())
  turn <- test_clock()
  for (v in 2:3) {
    con <- postgres_connection()
    schema <- attr(con, "schema")
    dump <- readLines(test_path("fixtures", sprintf("agent-v%d-postgres.sql", v)))
    dump <- gsub("elsewhere", schema, dump[!grepl("^CREATE SCHEMA", dump)])
    DBI::dbExecute(con, paste(dump, collapse = "\n"), immediate = TRUE)
    DBI::dbExecute(con, paste("SET search_path =", schema))
    # Another process migrates at the same time: one of them does.
    other <- postgres_connection(schema)
    place <- dpts:::store_postgres(other)
    agent <- agent_open(con)
    dpts:::migrate_store(place)
    expect_equal(pulls(agent)$pulls, list(c(4, 28, 4), c(4, 30, 4))[[v - 1]])
    expect_equal(pulls(agent)$outstanding, list(c(0, 4, 0), c(0, 6, 0))[[v - 1]])
    expect_equal(estimates(agent)$mean, list(c(0, 0.934, 0), c(0, 0.951, 0))[[v - 1]], tolerance = 1e-3)
    log <- dpts_history(agent)
    expect_equal(log$t, seq_len(c(36, 38)[v - 1]))
    if (v == 3) expect_equal(agent_choose(agent, 2, person = c("p17", "p18"), key = "again")$ticket, log$ticket[37:38])
    open <- log$ticket[log$status == "open"]
    expect_equal(agent_reward(agent, c(log$ticket[1], open), 1)$status, c("known", rep("used", length(open))))
    expect_equal(agent_choose(agent, person = "p1")$t, nrow(log) + 1) # the third of this person
    expect_true(is.na(agent_choose(agent, person = "p1")$t))
    agent_finish(agent)
    agent_close(agent)
    agent <- agent_open(other)
    expect_equal(agent$store$count("migrated"), 1)
    agent_close(agent)
    new <- postgres_connection()
    agent_close(dpts_agent(policy_gaussian_imed(1, first = 2), 3, new, use = "arrival", max_per_person = 3))
    tables <- function(schema) DBI::dbGetQuery(con, sprintf(
      "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = '%s'
       UNION SELECT tablename, replace(indexdef, schemaname, ''), '', '' FROM pg_indexes
         WHERE schemaname = '%1$s' AND indexname NOT LIKE '%%key%%'
       UNION SELECT event_object_table, trigger_name, event_manipulation, '' FROM information_schema.triggers
         WHERE event_object_schema = '%1$s'
       UNION SELECT routine_name, '', '', '' FROM information_schema.routines WHERE routine_schema = '%1$s' ORDER BY 1, 2, 3", schema))
    expect_equal(tables(schema), tables(attr(new, "schema")))
  }
})

test_that("a store whose state cannot be read today is refused and left alone", {
  file <- fixture_copy("agent-v2-batches.sqlite")
  con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
  row <- DBI::dbGetQuery(con, "SELECT state FROM dpts_agent")$state[[1]]
  whole <- unserialize(memDecompress(row, "gzip"))
  whole$engine[[1]][37] <- as.raw(77) # of another layout
  state <- memCompress(serialize(whole, NULL), "gzip")
  DBI::dbExecute(con, "UPDATE dpts_agent SET state = ?, state_sum = ?", params = list(list(state), dpts:::checksum(state)))
  DBI::dbDisconnect(con)
  before <- tables_of(file)
  expect_error(agent_open(file), "kept the state of policy \"gaussian_imed\" in another way", class = "dpts_error_store_older")
  expect_equal(tables_of(file), before)
  damaged <- fixture_copy("agent-v2-batches.sqlite")
  con <- DBI::dbConnect(RSQLite::SQLite(), damaged, synchronous = NULL)
  DBI::dbExecute(con, "UPDATE dpts_agent SET state = zeroblob(100)")
  DBI::dbDisconnect(con)
  expect_error(agent_open(damaged), class = "dpts_error_store_damaged")
})

test_that("a copy of an agent that serves is whole, its owner's alone, and goes on when it is said to be restored", {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(batch_policy(), c("a", "b"), file, use = "arrival")
  play_rounds(agent, 20, c(0.5, 0.5))
  out <- agent_choose(agent, 4)$ticket
  copy <- withr::local_tempfile(fileext = ".sqlite", pattern = "it's a copy")
  expect_identical(agent_backup(agent, copy), copy)
  if (.Platform$OS.type == "unix") expect_identical(as.character(file.mode(copy)), "600")
  before <- list(pulls(agent), estimates(agent), dpts_history(agent))
  agent_reward(agent, out, 1)
  play_rounds(agent, 20, c(0.5, 0.5))
  old <- agent_open(copy)
  expect_equal(list(pulls(old), estimates(old), dpts_history(old)), before)
  agent_restored(old)
  expect_equal(agent_reward(old, out, 1)$status, rep("used", 4))
  expect_equal(agent_choose(old)$t, 25)
  expect_output(print(old), "going back to an old copy")
  expect_match(privacy_statement(old)[["What is published"]], "After 1 return to an old copy")
  expect_no_match(privacy_statement(agent)[["What is published"]], "old copy")
  agent_close(old)
  expect_error(agent_backup(agent, copy), "does not exist yet", class = "dpts_error_input")
  expect_error(agent_backup(agent, file.path(tempdir(), "no-such", "x")), "folder that exists", class = "dpts_error_input")
  agent_close(agent)
  expect_error(agent_backup(dpts_agent(batch_policy(), 2, use = "arrival"), tempfile()), "lives in memory",
               class = "dpts_error_input")
})
