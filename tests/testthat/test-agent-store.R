# What can go wrong with a store: a clear error, and nothing lost

skip_on_cran() # takes seconds

new_file_agent <- function(env = parent.frame()) {
  skip_if_not_installed("RSQLite")
  file <- withr::local_tempfile(fileext = ".sqlite", .local_envir = env)
  agent <- dpts_agent(batch_policy(), c("a", "b"), file, use = "arrival")
  play_rounds(agent, 10, c(0.5, 0.5))
  list(file = file, agent = agent)
}

edit_store <- function(file, ...) {
  con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
  on.exit(DBI::dbDisconnect(con))
  DBI::dbExecute(con, ...)
}

test_that("the file is its owner's alone", {
  skip_on_os("windows")
  mask <- Sys.umask("022")
  withr::defer(Sys.umask(mask))
  x <- new_file_agent()
  expect_identical(Sys.umask(), as.octmode("022")) # as it was
  files <- paste0(x$file, c("", "-wal", "-shm"))
  expect_true(all(as.character(file.mode(files[file.exists(files)])) == "600"))
  agent_close(x$agent)
})

test_that("a store of another agent, or none, is refused by name and left alone", {
  x <- new_file_agent()
  agent_close(x$agent)
  before <- unname(tools::md5sum(x$file))
  expect_error(dpts_agent(policy_ucb1(), 2, x$file, use = "arrival"), "already, policy_gaussian_imed.*, of other `policy`",
               class = "dpts_error_store")
  expect_error(dpts_agent(batch_policy(), c("a", "b"), x$file, use = "arrival"), "agent_open",
               class = "dpts_error_store")
  expect_error(dpts_agent(batch_policy(), c("a", "c"), x$file, use = "arrival", horizon = 10),
               "of other `arms` and `horizon`", class = "dpts_error_store")
  expect_identical(unname(tools::md5sum(x$file)), before)
  empty <- withr::local_tempfile()
  file.create(empty)
  expect_error(agent_open(empty), "holds an agent", class = "dpts_error_input")
  # (It may be readable by others.)
  expect_error(dpts_agent(batch_policy(), 2, empty, use = "arrival"), "^`store` must be a file that does not exist yet",
               class = "dpts_error_input")
  text <- withr::local_tempfile()
  writeLines(rep("this is no database", 1000), text)
  expect_error(agent_open(text), class = "dpts_error_store_damaged")
  expect_equal(length(readLines(text)), 1000)
})

test_that("where tables cannot be made nothing is left, and the connection is free", {
  skip_if_not_installed("RSQLite")
  cons <- list(withr::local_db_connection(DBI::dbConnect(RSQLite::SQLite(), ":memory:", synchronous = NULL)))
  if (postgres_available()) cons <- c(cons, postgres_connection("\"it's\""))
  for (con in cons) {
    DBI::dbExecute(con, "CREATE TABLE dpts_page (x int)")
    expect_error(dpts_agent(batch_policy(), 2, con, use = "arrival"), "already exists", class = "dpts_error_store")
    expect_identical(grep("^dpts_", DBI::dbListTables(con), value = TRUE), "dpts_page")
    DBI::dbExecute(con, "DROP TABLE dpts_page")
    agent <- dpts_agent(batch_policy(), 2, con, use = "arrival")
    expect_equal(agent_choose(agent)$t, 1)
    expect_match(format(agent)[1], "in (a SQLite connection|PostgreSQL, schema \"it's\")$")
    agent_close(agent)
    expect_true(DBI::dbIsValid(con)) # it is the user's
  }
  skip_if_not(postgres_available())
  DBI::dbExecute(con, "SET search_path = nowhere")
  expect_error(dpts_agent(batch_policy(), 2, con, use = "arrival"), "there is no schema for the tables: set `search_path`$",
               class = "dpts_error_store")
})

test_that("damage is found by checksums before anything is done", {
  x <- new_file_agent()
  agent_close(x$agent)
  edit_store(x$file, "UPDATE dpts_page SET bytes = zeroblob(length(bytes)) WHERE page = 1")
  expect_error(agent_open(x$file), "says: the checksum of the state is wrong$", class = "dpts_error_store_damaged")
  y <- new_file_agent()
  agent_close(y$agent)
  for (edit in c("zeroblob(200)", "'text'")) {
    edit_store(y$file, paste("UPDATE dpts_definition SET definition =", edit))
    expect_error(agent_open(y$file), "says: the checksum of the definition is wrong$", class = "dpts_error_store_damaged")
  }
  each_database(function(store) {
    agent <- dpts_agent(batch_policy(), 2, store, use = "arrival")
    if (is.character(store)) edit_store(store, "DELETE FROM dpts_agent") else DBI::dbExecute(store, "DELETE FROM dpts_agent")
    for (act in list(agent_choose, pulls)) {
      expect_error(suppressWarnings(act(agent)), "says: the agent's row cannot be read$", class = "dpts_error_store_damaged")
    }
    expect_error(agent_open(store), "says: the definition cannot be read$", class = "dpts_error_store_damaged")
    agent_close(agent)
  })
})

test_that("the life of an agent is read as it was written, and nonsense in it is damage", {
  life <- new_life(c("a b", "\u00e4", "c"))
  expect_identical(read_life(write_life(life)), life)
  life$status[2] <- ARM[["retired"]]
  life[c("then", "winner", "finished", "ended", "clipped", "planned", "looks")] <-
    list("verdict", 3L, TRUE, 1.5e9, 7, 400, "100, 200 pocock")
  life$until[2] <- 40
  expect_identical(read_life(write_life(life)), life)
  withr::local_seed(1)
  bytes <- write_life(life)
  withr::local_options(dpts.service = TRUE) # errors without a backtrace, which takes long
  for (i in 1:150) { # unserialize() of such bytes ended R
    wrong <- bytes
    wrong[sample.int(length(wrong), 3)] <- as.raw(sample(0:255, 3))
    if (i %% 5 == 0) wrong <- utils::head(wrong, sample.int(length(wrong), 1))
    read <- tryCatch(read_life(wrong), dpts_error_store_damaged = function(e) NULL)
    if (!is.null(read)) expect_identical(lapply(read, typeof), lapply(life, typeof))
  }
})

test_that("a store of another version is refused", {
  for (age in c("newer", "older")) {
    class <- paste0("dpts_error_store_", age)
    x <- new_file_agent()
    version <- c(newer = 99, older = 6)[[age]]
    edit_store(x$file, sprintf("UPDATE dpts_agent SET version = %d", version))
    expect_error(agent_choose(x$agent), paste(age, "version of dpts"), class = class)
    agent_close(x$agent)
    before <- unname(tools::md5sum(x$file))
    expect_error(agent_open(x$file), sprintf("%s version of dpts: it has format %d, .* reads format 17 only", age, version),
                 class = class)
    expect_error(dpts_agent(batch_policy(), 2, x$file, use = "arrival"), class = class)
    expect_identical(unname(tools::md5sum(x$file)), before)
  }
  # Tables that are not laid out like ours, except for the version
  other <- withr::local_tempfile(fileext = ".sqlite")
  edit_store(other, "CREATE TABLE dpts_agent (id INTEGER PRIMARY KEY, version INTEGER, all_else BLOB)")
  edit_store(other, "INSERT INTO dpts_agent VALUES (1, 1, x'00')")
  expect_error(agent_open(other), "older version of dpts", class = "dpts_error_store_older")
})

test_that("the tables have not changed since their version was raised", {
  # Whoever changes the tables, or what is kept in them, raises STORE_VERSION and writes the new sums here.
  sums <- vapply(list(sqlite = dpts:::sql_sqlite(), postgres = dpts:::sql_postgres("public")), function(sql) {
    text <- gsub("[[:space:]]+", " ", dpts:::schema_tables(sql))
    dpts:::checksum(charToRaw(paste(text, collapse = ";")))
  }, "")
  expect_identical(dpts:::STORE_VERSION, 17)
  # A copy takes all columns with it, but for the numbers of rows.
  skip_if_not_installed("RSQLite")
  x <- new_file_agent()
  agent_close(x$agent)
  con <- DBI::dbConnect(RSQLite::SQLite(), x$file, synchronous = NULL)
  withr::defer(DBI::dbDisconnect(con))
  tables <- setdiff(grep("^dpts_", DBI::dbListTables(con), value = TRUE), "dpts_change")
  copied <- lapply(dpts:::stored(), names)
  expect_setequal(tables, names(copied))
  for (table in tables) {
    expect_setequal(setdiff(DBI::dbListFields(con, table), if (table %in% c("dpts_ticket", "dpts_release")) "id"), copied[[table]])
  }
  expect_identical(sums, c(sqlite = "2dabd732d1c1adf5", postgres = "793a10f537045a18"))
})

test_that("what a handle remembers of its tickets is not held against what others wrote", {
  skip_if_not_installed("RSQLite")
  turn <- test_clock()
  file <- withr::local_tempfile(fileext = ".sqlite")
  first <- dpts_agent(batch_policy(), c("a", "b"), file, use = "arrival", deadline = hours(1))
  second <- agent_open(file)
  ticket <- agent_choose(first, 4)$ticket
  expect_identical(agent_reward(first, ticket[1], 1)$status, "used")
  expect_identical(agent_reward(first, ticket[1], 1)$status, "known")
  # Rewarded there, then here: the same is known, another is refused.
  expect_identical(agent_reward(second, ticket[2:3], 0:1)$status, c("used", "used"))
  expect_identical(agent_reward(first, ticket[2], 0)$status, "known")
  later <- agent_choose(first, 2)$ticket
  agent_reward(second, later[1], 0)
  expect_identical(agent_reward(first, later[1], 1)$status, "refused")
  one <- agent_choose(first)$ticket
  agent_reward(second, one, 0)
  expect_identical(agent_reward(first, one, 1)$status, "refused")
  due <- agent_choose(first)$ticket
  # Resolved there by its deadline: late here
  turn(3601)
  agent_choose(second)
  expect_identical(agent_reward(first, due, 1)$status, "late")
  expect_identical(agent_reward(first, ticket[4], 1)$status, "late")
  expect_identical(sum(dpts_history(first)$status == "used"), 5L)
  agent_close(second)
  agent_close(first)
})

test_that("what a handle writes is for its own agent, whatever has taken its place", {
  skip_if_not_installed("RSQLite")
  x <- new_file_agent()
  edit_store(x$file, "UPDATE dpts_agent SET identity = 'another'")
  expect_error(agent_choose(x$agent), "another agent now", class = "dpts_error_store_other")
  expect_error(pulls(x$agent), "another agent now", class = "dpts_error_store_other")
  expect_error(agent_reward(x$agent, strrep("0", 32), 1), "another agent now", class = "dpts_error_store_other")
  agent_close(x$agent)
  # Two agents that are made alike are two.
  made <- replicate(2, dpts_agent(policy_uniform(), 2, use = "arrival")$identity)
  expect_false(made[1] == made[2])
  expect_match(made, "^[0-9a-f]{32}-[0-9a-f]{16}$")
})

test_that("a connection to PostgreSQL that is lost and comes back writes into the same schema", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  admin <- postgres_connection()
  con <- postgres_connection()
  other <- dpts_agent(batch_policy(), c("pubA", "pubB"), admin, use = "arrival")
  agent <- dpts_agent(batch_policy(), c("x", "y"), con, use = "arrival")
  agent_choose(agent, 3)
  pid <- DBI::dbGetQuery(con, "SELECT pg_backend_pid() AS pid")$pid
  schema <- attr(admin, "schema")
  # What a new connection finds first is the other agent.
  DBI::dbExecute(admin, sprintf("ALTER ROLE dpts SET search_path = %s", schema))
  withr::defer(DBI::dbExecute(admin, "ALTER ROLE dpts RESET search_path"))
  DBI::dbGetQuery(admin, sprintf("SELECT pg_terminate_backend(%d)", pid))
  for (i in 1:3) try(suppressWarnings(agent_choose(agent)), silent = TRUE)
  expect_false(DBI::dbGetQuery(con, "SELECT pg_backend_pid() AS pid")$pid == pid)
  expect_identical(DBI::dbGetQuery(con, "SHOW search_path")[[1]], schema)
  x <- agent_choose(agent)
  expect_true(x$arm %in% c("x", "y"))
  expect_equal(x$t, sum(pulls(agent)$pulls))
  agent_reward(agent, x$ticket, 1)
  expect_equal(nrow(dpts_history(other)), 0)
  expect_equal(agent_choose(other)$t, 1)
  # An unknown agent in the same place is told apart, too.
  DBI::dbExecute(con, sprintf("UPDATE %s.dpts_agent SET identity = 'another'", attr(con, "schema")))
  expect_error(agent_choose(agent), "another agent now", class = "dpts_error_store_other")
})

test_that("an agent on PostgreSQL lives in its schema, whatever that is called now and whatever has its old name", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  con <- postgres_connection()
  schema <- attr(con, "schema")
  agent <- dpts_agent(batch_policy(), c("a", "b"), con, use = "arrival")
  out <- agent_choose(agent, 4)$ticket
  rows <- Filter(function(rows) length(rows[[1]]), agent$store$tables())
  other <- sprintf("\"%s's other name\"", schema)
  DBI::dbExecute(con, sprintf("ALTER SCHEMA %s RENAME TO %s", schema, other))
  # The same agent beside it, under the old name
  store_postgres(postgres_connection(schema))$create(rows)
  here <- environment()
  agents <- lapply(c(other, schema), function(name) {
    con <- postgres_connection(name, here)
    DBI::dbExecute(con, "CREATE TEMP TABLE dpts_ticket (x int)") # which hides no table of a store
    agent_open(con)
  })
  for (i in 1:2) {
    expect_identical(agent_reward(agents[[i]], out, i - 1)$status, rep("used", 4))
    expect_equal(agent_choose(agents[[i]], i)$t, 4 + seq_len(i))
    expect_identical(nrow(dpts_history(agents[[i]])), 4L + i)
    expect_equal(sum(agent_journal(agents[[i]])$kind == "used"), 4)
  }
  expect_identical(nrow(dpts_history(agents[[1]])), 5L)
})

test_that("a change is durable when it is said to be", {
  x <- new_file_agent()
  kept <- environment(x$agent$store$close)
  for (con in list(kept$con, kept$reader)) {
    if (identical(con, kept$con)) kept$server$drop()
    expect_identical(DBI::dbGetQuery(con, "PRAGMA synchronous")[[1]], 2L)
    expect_identical(DBI::dbGetQuery(con, "PRAGMA secure_delete")[[1]], 1L)
    expect_identical(DBI::dbGetQuery(con, "PRAGMA busy_timeout")[[1]], 10000L) # ms in which others may finish
  }
  agent_close(x$agent)
  skip_if_not(postgres_available(), "no PostgreSQL")
  con <- postgres_connection()
  agent <- dpts_agent(batch_policy(), 2, con, use = "arrival")
  # What was written since the call began is on disk when it ends, and not some milliseconds later.
  flushed <- vapply(1:10, function(i) {
    began <- DBI::dbGetQuery(con, "SELECT pg_current_wal_insert_lsn()::text AS at")$at
    agent_choose(agent)
    DBI::dbGetQuery(con, sprintf("SELECT pg_current_wal_flush_lsn() > '%s'::pg_lsn AS done", began))$done
  }, NA)
  expect_true(all(flushed))
})

test_that("PostgreSQL's log and list of sessions have no reward, ticket, person, key or state, whatever happens", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  watch <- postgres_connection()
  schema <- attr(watch, "schema")
  loud <- function() {
    con <- postgres_connection(schema, parent.frame(2))
    DBI::dbExecute(con, "SET log_min_duration_statement = 0; SET log_parameter_max_length = 0; SET log_lock_waits = on",
                   immediate = TRUE)
    con
  }
  one <- dpts_agent(policy_gaussian_imed(1, first = 20), 2, loud(), use = "arrival", max_per_person = 100)
  cons <- list(loud(), loud())
  two <- agent_open(cons[[1]])
  tickets <- character()
  choose <- function(agent, key = NULL) {
    ticket <- agent_choose(agent, person = "somebody", key = key)$ticket
    tickets <<- c(tickets, ticket)
    ticket
  }
  # An agent's own change, another's, its own: with what it remembers and without
  for (i in 1:3) {
    mine <- choose(one, paste0("order-", i))
    choose(two)
    expect_identical(agent_reward(one, mine, 0.7431640625)$status, "used")
    choose(one, paste0("order-", i))
    expect_identical(agent_reward(two, mine, 0.7431640625)$status, "known")
  }
  # Outpaced between the reading and the writing: a count of rows
  begin <- one$store$begin
  one$store$begin <- function(seq, how, ...) {
    head <- begin(seq, "read")
    one$store$begin <- begin
    choose(two)
    head
  }
  expect_identical(agent_reward(one, tickets[2], 0.7431640625)$status, "used")
  # A lock that is not given, and a session that is ended in the middle of a change
  DBI::dbExecute(watch, sprintf("BEGIN; SELECT 1 FROM %s.dpts_agent FOR UPDATE", schema), immediate = TRUE)
  three <- agent_open(cons[[2]])
  withr::with_options(list(dpts.patience = 50), {
    expect_error(agent_reward(three, tickets[8], 0.7431640625), class = "dpts_error_store_locked")
  })
  DBI::dbExecute(watch, "ROLLBACK")
  pid <- DBI::dbGetQuery(cons[[1]], "SELECT pg_backend_pid() AS pid")$pid
  commit <- two$store$commit
  two$store$commit <- function(changes) {
    DBI::dbGetQuery(watch, sprintf("SELECT pg_terminate_backend(%d)", pid))
    commit(changes)
  }
  expect_error(agent_reward(two, tickets[5], 0.7431640625), class = "dpts_error_store")
  said <- postgres_says(watch)
  state <- .Call(dpts:::C_hex, one$store$begin(-1, "read")[["state"]]$bytes)
  secrets <- c(tickets, "0.743164", "order-", hash_person("somebody", one$terms$key), substr(state, 65, 96),
               .Call(dpts:::C_hex, one$terms$key))
  expect_identical(Filter(function(x) any(grepl(x, said, fixed = TRUE)), secrets), character())
  said <- said[grepl(schema, said, fixed = TRUE)]
  expect_gt(sum(grepl("CALL .*dpts_transact", said)), 10)
  expect_equal(sum(grepl("ERROR", said)), 0)
  expect_true(any(grepl("canceling statement due to lock timeout", postgres_says(watch))))
})

test_that("a change on PostgreSQL is a transaction of its own, whatever the connection is set to", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  con <- postgres_connection()
  made <- list()
  own <- function() {
    made <<- c(made, postgres_connect(postgres_cluster()))
    DBI::dbExecute(made[[length(made)]], sprintf(
      "SET search_path = %s; SET default_transaction_isolation = serializable; SET extra_float_digits = 0", attr(con, "schema")),
      immediate = TRUE)
    made[[length(made)]]
  }
  agent <- dpts_agent(batch_policy(), 2, own, use = "arrival")
  rounds <- function() DBI::dbGetQuery(con, "SELECT count(*)::int AS n FROM dpts_ticket")$n
  for (i in 1:3) agent_choose(agent)
  expect_identical(rounds(), 3L)
  # A user's transaction could take back what was answered, be it begun before the first change or between two.
  for (connection in list(con, postgres_connection(attr(con, "schema")))) {
    DBI::dbExecute(connection, "SET extra_float_digits = -15")
    other <- agent_open(connection)
    DBI::dbExecute(connection, "SET extra_float_digits = 0")
    for (n in 0:2) {
      for (i in seq_len(n)) agent_choose(other)
      before <- rounds()
      DBI::dbExecute(connection, "BEGIN")
      expect_error(agent_choose(other), "inside a transaction", class = "dpts_error_store_inside")
      DBI::dbExecute(connection, "ROLLBACK")
      expect_identical(rounds(), before)
    }
    expect_equal(agent_choose(other)$t, before + 1)
  }
  # The lock is let go of, also by a call that fails or writes nothing.
  expect_error(agent_choose(other, offer = "none"), class = "dpts_error_input")
  expect_identical(agent_reward(other, strrep("0", 32), 1)$status, "unknown")
  locks <- "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory'
              AND objid = 'dpts_change'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
  expect_identical(DBI::dbGetQuery(con, locks)$n, 0L)
  # A commit that fails in its last moment, of which RPostgres would say nothing if the answer had come before
  DBI::dbExecute(con, "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'in the last moment'; END$$;
    CREATE CONSTRAINT TRIGGER fail AFTER UPDATE ON dpts_agent DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION fail()", immediate = TRUE)
  before <- rounds()
  for (each in list(agent, other)) expect_error(agent_choose(each), "in the last moment", class = "dpts_error_store")
  expect_identical(rounds(), before)
  expect_identical(DBI::dbGetQuery(con, locks)$n, 0L)
  DBI::dbExecute(con, "DROP TRIGGER fail ON dpts_agent")
  for (each in list(agent, other)) agent_choose(each)
  expect_identical(rounds(), before + 2L)
  agent_close(other)
  # A connection of the agent's own is closed with it.
  agent_close(agent)
  expect_false(DBI::dbIsValid(made[[1]]))
  expect_error(agent_open(function(host) 1), "^`store` must be a function without arguments", class = "dpts_error_input")
  expect_error(agent_open(function() 1), "makes a connection of RPostgres", class = "dpts_error_input")
})

test_that("a time of any digits is read from PostgreSQL as it was written, so that the store is not taken for damaged", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  # Of these as.numeric() gives another number than was written.
  withr::local_seed(1)
  times <- 1796e6 + sample(1e9, 4e4) / 1e6
  times <- sort(utils::head(c(times[as.numeric(sprintf("%.16g", times)) != times], times), 4))
  con <- postgres_connection()
  now <- times[1]
  withr::local_options(dpts.clock = function() now)
  agent <- dpts_agent(batch_policy(), 2, con, use = "arrival")
  for (now in times) {
    agent_choose(agent)
    other <- agent_open(postgres_connection(attr(con, "schema")))
    expect_identical(utils::tail(as.numeric(dpts_history(other)$time), 1), now)
    agent_close(other)
  }
})

test_that("on PostgreSQL the lock of a silent process is given up after a while, and nothing is lost or done twice", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  con <- postgres_connection()
  schema <- attr(con, "schema")
  withr::local_options(dpts.patience = 30)
  local_function("lock_limits", function(old) function() list(patience = old()$patience, silence = 0.1))
  frozen <- dpts_agent(batch_policy(), 2, con, use = "arrival")
  agents <- lapply(1:2, function(i) agent_open(postgres_connection(schema, parent.frame(2))))
  choose <- function(agent) tryCatch(agent_choose(agent)$t, dpts_error_store_locked = function(e) NA)
  for (late in c(FALSE, TRUE)) {
    # It takes the lock, makes a change, and is silent before it writes it.
    commit <- frozen$store$commit
    frozen$store$commit <- function(changes) {
      frozen$store$commit <- commit
      n <- nrow(dpts_history(agents[[1]]))
      expect_identical(choose(agents[[1]]), NA)
      Sys.sleep(0.1)
      if (late) expect_identical(vapply(agents, choose, 0), n + 1:2)
      else agents[[1]]$store$begin(agents[[1]]$seq, "lock")
      commit(changes)
    }
    n <- nrow(dpts_history(frozen))
    expect_identical(agent_choose(frozen)$t, n + 1 + 2 * late)
    agents[[1]]$store$rollback()
    for (agent in c(list(frozen), agents)) expect_identical(agent_choose(agent)$t, nrow(dpts_history(frozen)) + 0)
  }
  expect_identical(sort(dpts_history(frozen)$t), as.numeric(1:10))
  # A copy that is not of one moment is made again; a move is not made if others have written.
  tables <- frozen$store$tables
  frozen$store$tables <- function() {
    frozen$store$tables <- tables
    rows <- tables()
    choose(agents[[1]])
    Sys.sleep(0.1)
    choose(agents[[1]])
    rows
  }
  copy <- agent_open(agent_backup(frozen, withr::local_tempfile(fileext = ".sqlite")))
  expect_identical(nrow(dpts_history(copy)), nrow(dpts_history(frozen)))
  agent_close(copy)
  commit <- frozen$store$commit
  frozen$store$commit <- function(changes) FALSE
  expect_error(agent_copy(frozen, withr::local_tempfile()), "others wrote while the new store was made, which must be deleted$",
               class = "dpts_error_store")
  frozen$store$commit <- commit
  # Who may not write gets no lock.
  role <- paste0("r", Sys.getpid())
  DBI::dbExecute(con, sprintf("CREATE ROLE %s; GRANT USAGE ON SCHEMA %s TO %1$s", role, schema), immediate = TRUE)
  withr::defer(DBI::dbExecute(con, sprintf("DROP OWNED BY %s; DROP ROLE %1$s", role), immediate = TRUE))
  take <- sprintf("CALL %s.dpts_transact(json_populate_record(NULL::%1$s.dpts_change, '{\"turn\":\"take\",\"patience\":\"9\"}'), NULL)",
                  schema)
  for (right in c("SELECT", "SELECT, INSERT, DELETE, UPDATE")) {
    DBI::dbExecute(con, sprintf("SET ROLE %s", role))
    expect_error(DBI::dbGetQuery(con, take), "permission denied for table dpts_agent")
    DBI::dbExecute(con, "RESET ROLE")
    expect_identical(DBI::dbGetQuery(con, "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory'
                                             AND pid = pg_backend_pid()")$n, 0L)
    DBI::dbExecute(con, sprintf("GRANT %s ON ALL TABLES IN SCHEMA %s TO %s", right, schema, role))
  }
  DBI::dbExecute(con, sprintf("GRANT USAGE ON ALL SEQUENCES IN SCHEMA %s TO %s", schema, role))
  DBI::dbExecute(con, sprintf("SET ROLE %s", role))
  expect_identical(agent_choose(frozen)$t, nrow(dpts_history(frozen)) + 0)
  DBI::dbExecute(con, "RESET ROLE")
})

test_that("on PostgreSQL nobody waits for long for a table that another session has locked, and settings of the user's stay", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  withr::local_options(dpts.patience = 5)
  watch <- postgres_connection()
  schema <- attr(watch, "schema")
  sessions <- list()
  connect <- function() {
    con <- postgres_connect(postgres_cluster())
    DBI::dbExecute(con, sprintf("SET search_path = %s; SET lock_timeout = 7000; SET statement_timeout = 5000", schema),
                   immediate = TRUE)
    sessions <<- c(sessions, con)
    con
  }
  agent <- dpts_agent(policy_randomised(mu = 1e9, block = 2), 2, connect(), deadline = hours(1), outcomes = list(harm = agent_outcome()))
  ticket <- agent_choose(agent, 4)$ticket
  agents <- list(agent, agent_open(connect))
  acts <- alist(agent_choose(agent), agent_reward(agent, ticket[1], 1), agent_reward(agent, ticket[1], 1, "harm"), pulls(agent),
                dpts_releases(agent), dpts_history(agent), agent_journal(agent), agent_open(connect))
  waits <- function(act) tryCatch(is.null(eval(act)), dpts_error_store_locked = function(e) TRUE)
  had <- function(con) DBI::dbGetQuery(con, "SHOW lock_timeout")[[1]]
  for (agent in agents) {
    for (table in c("change", "agent", "page", "ticket", "event", "release", "outcome", "definition")) {
      DBI::dbExecute(watch, sprintf("BEGIN; LOCK TABLE %s.dpts_%s IN ACCESS EXCLUSIVE MODE", schema, table), immediate = TRUE)
      expect_gt(sum(vapply(acts, waits, NA)), 0, label = table)
      DBI::dbExecute(watch, "ROLLBACK")
    }
    expect_identical(agent_choose(agent)$t, nrow(dpts_history(agent)) + 0)
  }
  expect_identical(had(sessions[[1]]), "7s")
  DBI::dbExecute(sessions[[1]], "BEGIN; SET LOCAL lock_timeout = 3000", immediate = TRUE)
  pulls(agents[[1]])
  expect_identical(had(sessions[[1]]), "3s")
  DBI::dbExecute(sessions[[1]], "COMMIT")
  expect_identical(had(sessions[[1]]), "7s")
  # A connection of the agent's own keeps it, also when it was lost and comes back.
  expect_identical(had(sessions[[2]]), "5ms")
  pid <- DBI::dbGetQuery(sessions[[2]], "SELECT pg_backend_pid() AS pid")$pid
  DBI::dbGetQuery(watch, sprintf("SELECT pg_terminate_backend(%d)", pid))
  for (i in 1:3) try(suppressWarnings(pulls(agents[[2]])), silent = TRUE)
  expect_identical(had(sessions[[2]]), "5ms")
  for (con in sessions) if (DBI::dbIsValid(con)) DBI::dbDisconnect(con)
})

test_that("a statement that PostgreSQL prepares anew in the middle of a change loses none, and says nothing false", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  con <- postgres_connection()
  schema <- attr(con, "schema")
  for (store in list(con, function() {
    own <- postgres_connect(postgres_cluster())
    DBI::dbExecute(own, paste("SET search_path =", schema))
    own
  })) {
    agent <- if (identical(store, con)) dpts_agent(policy_ucb1(), 2, con, use = "arrival") else {
      agent_close(agent)
      agent_open(store)
    }
    # Each change makes a schema, after which all prepared statements are prepared anew: before the question whether it is there.
    DBI::dbExecute(con, "DROP TRIGGER IF EXISTS anew ON dpts_agent", immediate = TRUE)
    DBI::dbExecute(con, sprintf(
      "CREATE OR REPLACE FUNCTION %1$s.anew() RETURNS trigger LANGUAGE plpgsql AS
       $$BEGIN EXECUTE 'CREATE SCHEMA %1$s_' || NEW.seq; EXECUTE 'DROP SCHEMA %1$s_' || NEW.seq; RETURN NEW; END$$;
       CREATE TRIGGER anew AFTER UPDATE ON %1$s.dpts_agent FOR EACH ROW EXECUTE FUNCTION %1$s.anew()", schema), immediate = TRUE)
    before <- sum(pulls(agent)$pulls)
    for (i in 1:8) agent_choose(agent)
    expect_identical(sum(pulls(agent)$pulls) - before, 8)
  }
  agent_close(agent)
})

test_that("on PostgreSQL nobody sees a release before it is durable", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  skip_on_os("windows")
  con <- postgres_connection()
  schema <- attr(con, "schema")
  agent <- dpts_agent(policy_gaussian_imed(1, first = 1), 2, con, use = "arrival")
  ticket <- agent_choose(agent)$ticket
  rows <- function() DBI::dbGetQuery(con, sprintf("SELECT count(*)::int AS n FROM %s.dpts_release", schema))$n
  # Commits wait for a standby that never comes, as they would for a slow disk.
  standby <- function(name) {
    DBI::dbExecute(con, sprintf("ALTER SYSTEM SET synchronous_standby_names = '%s'", name))
    DBI::dbGetQuery(con, "SELECT pg_reload_conf()")
  }
  withr::defer(standby(""))
  standby("nobody")
  job <- parallel::mcparallel({
    agent <- agent_open(postgres_connection(schema))
    agent_reward(agent, ticket, 1)$status
  })
  waits <- function() {
    DBI::dbGetQuery(con, sprintf("SELECT count(*)::int AS n FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE wait_event = 'SyncRep' AND relation = '%s.dpts_agent'::regclass", schema))$n > 0
  }
  for (i in 1:200) if (!waits()) Sys.sleep(0.02)
  expect_true(waits())
  expect_equal(rows(), 0)
  standby("")
  expect_identical(parallel::mccollect(job)[[1]], "used")
  expect_equal(rows(), 1)
})

test_that("the journal is append-only", {
  x <- new_file_agent()
  expect_error(edit_store(x$file, "DELETE FROM dpts_event"), "append-only")
  expect_error(edit_store(x$file, "UPDATE dpts_event SET t = 1"), "append-only")
  # Every choice, reward and release is in it, in order.
  con <- DBI::dbConnect(RSQLite::SQLite(), x$file, synchronous = NULL)
  events <- DBI::dbGetQuery(con, "SELECT * FROM dpts_event ORDER BY seq, part")
  DBI::dbDisconnect(con)
  expect_equal(events$t[events$kind == "choose"], 1:10)
  expect_equal(sum(events$kind == "used"), 10)
  expect_equal(sum(events$kind == "release"), sum(estimates(x$agent)$releases))
  agent_close(x$agent)
})

test_that("a locked, read-only or full store is told, and works again afterwards", {
  x <- new_file_agent()
  con <- DBI::dbConnect(RSQLite::SQLite(), x$file, synchronous = NULL)
  withr::defer(DBI::dbDisconnect(con))
  own <- DBI::dbConnect(RSQLite::SQLite(), x$file, synchronous = NULL)
  withr::defer(DBI::dbDisconnect(own))
  agent <- agent_open(own)
  DBI::dbExecute(own, "PRAGMA busy_timeout = 50")
  DBI::dbExecute(con, "BEGIN IMMEDIATE")
  expect_error(agent_choose(agent), "holds the store's lock", class = "dpts_error_store_locked")
  DBI::dbExecute(con, "ROLLBACK")
  expect_equal(agent_choose(agent)$t, 11)
  # What was answered could be taken back there, and its noise made anew.
  DBI::dbBegin(own)
  expect_error(agent_choose(agent), "inside a transaction", class = "dpts_error_store_inside")
  DBI::dbRollback(own)
  DBI::dbExecute(own, "PRAGMA query_only = ON")
  expect_error(agent_choose(agent), "cannot be written", class = "dpts_error_store_readonly")
  expect_error(dpts_agent(batch_policy(), 2, file.path(dirname(x$file), strrep("x", 300)), use = "arrival"), "cannot be made",
               class = "dpts_error_store_readonly")
  DBI::dbExecute(own, "PRAGMA query_only = OFF")
  expect_equal(agent_choose(agent)$t, 12)
  # A full disk: no more pages than now
  pages <- DBI::dbGetQuery(own, "PRAGMA page_count")[[1]]
  DBI::dbGetQuery(own, sprintf("PRAGMA max_page_count = %d", pages))
  expect_error(for (i in 1:50) agent_choose(agent, 100), "disk is full",
               class = "dpts_error_store_full")
  t <- sum(pulls(agent)$pulls)
  expect_equal(nrow(dpts_history(agent)), t)
  DBI::dbGetQuery(own, "PRAGMA max_page_count = 1000000")
  expect_equal(agent_choose(agent)$t, t + 1)
  # The other handle sees all of it.
  expect_equal(sum(pulls(x$agent)$pulls), t + 1)
  expect_match(format(x$agent)[1], paste0("in ", x$file, "$"))
  agent_close(x$agent)
  expect_match(format(agent)[1], "in a SQLite connection$")
  agent_close(agent)
  expect_match(format(agent)[1], "in a SQLite connection, closed$")
  expect_true(DBI::dbIsValid(own)) # it is the user's
})

test_that("each word of a database that is known has its kind of error, and others are passed on", {
  words <- list(
    full = c("database or disk is full", "write: No space left on device", "could not extend file"),
    readonly = c("attempt to write a readonly database", "cannot execute UPDATE in a read-only transaction",
                 "unable to open database file", "permission denied for table"),
    locked = c("database is locked", "canceling statement due to lock timeout", "database table is locked"),
    damaged = c("database disk image is malformed", "file is not a database", "disk I/O error", "the checksum is wrong",
                "a row cannot be read"),
    inside = c("cannot start a transaction within a transaction", "invalid transaction termination"),
    append = "dpts_event is append-only", closed = "External pointer is not valid"
  )
  for (kind in names(words)) for (said in words[[kind]]) {
    expect_error(with_store_errors(stop(said)), paste0("The database says: ", said, "$"), class = paste0("dpts_error_store_", kind))
  }
  other <- expect_error(with_store_errors(stop("anything else")), "The database says: anything else$", class = "dpts_error_store")
  expect_identical(class(other)[1:2], c("dpts_error_store", "dpts_error"))
  expect_error(with_store_errors(check_count(0, arg = "n")), class = "dpts_error_input")
})

test_that("a store that is refused is left without a connection", {
  skip_if_not_installed("RSQLite")
  x <- new_file_agent()
  agent_close(x$agent)
  cons <- list()
  local_function("sqlite_connect", function(old) function(path) cons[[length(cons) + 1]] <<- old(path))
  file <- withr::local_tempfile(fileext = ".sqlite")
  edits <- c("UPDATE dpts_agent SET version = 99", "UPDATE dpts_page SET bytes = zeroblob(256)", "DELETE FROM dpts_ticket",
             "DROP TABLE dpts_agent", "")
  for (edit in edits) {
    if (nzchar(edit)) file.copy(x$file, file, overwrite = TRUE) else writeLines(rep("no database", 1000), file)
    if (nzchar(edit)) edit_store(file, edit)
    expect_error(agent_open(file), class = "dpts_error")
  }
  expect_error(dpts_agent(policy_uniform(), 2, x$file, use = "arrival"), class = "dpts_error_store")
  expect_length(cons, 2 * (length(edits) + 1))
  expect_false(any(vapply(cons, DBI::dbIsValid, NA)))
})

test_that("an error in the middle of a call leaves nothing behind", {
  x <- new_file_agent()
  before <- list(pulls(x$agent), dpts_history(x$agent))
  commit <- x$agent$store$commit
  x$agent$store$commit <- function(changes) stop("the power went")
  expect_error(agent_choose(x$agent, 3))
  x$agent$store$commit <- function(changes) FALSE
  expect_error(agent_choose(x$agent, 3), "says: others write all the time$", class = "dpts_error_store")
  x$agent$store$commit <- commit
  expect_equal(list(pulls(x$agent), dpts_history(x$agent)), before)
  expect_equal(agent_choose(x$agent)$t, 11)
  agent_close(x$agent)
})

test_that("where the answer to a change is lost nobody says that nothing was changed, and the same call with its key is right", {
  each_database(function(store) {
    lost <- FALSE
    for (name in c("sqlite_messages", "postgres_messages")) local_function(name, function(old) function(...) {
      server <- old(...)
      transact <- server$transact
      server$transact <- function(row) {
        answer <- transact(row)
        if (lost && !identical(row$turn, "take")) {
          lost <<- FALSE
          stop("server closed the connection unexpectedly")
        }
        answer
      }
      server
    })
    agent <- dpts_agent(batch_policy(), 2, store, use = "arrival")
    for (key in c("k1", "k2")) {
      lost <- TRUE
      expect_error(agent_choose(agent, 2, key = key), "failed, and it is not known whether this was changed.*closed the connection",
                   class = "dpts_error_store_unknown")
      ticket <- dpts_history(agent, n = 2)$ticket
      expect_identical(agent_choose(agent, 2, key = key)$ticket, ticket)
      lost <- TRUE
      expect_error(agent_reward(agent, ticket[1], 1), class = "dpts_error_store_unknown")
      expect_identical(agent_reward(agent, ticket[1], 1)$status, "known")
    }
    expect_identical(nrow(dpts_history(agent)), 4L)
    agent_close(agent)
  })
})

test_that("an agent that nobody closed goes without a warning, and its connection with it", {
  skip_if_not_installed("RSQLite")
  expect_no_warning({
    agent <- dpts_agent(batch_policy(), 2, use = "arrival")
    agent_reward(agent, agent_choose(agent)$ticket, 1)
    con <- environment(agent$store$close)$con
    closed <- dpts_agent(batch_policy(), 2, use = "arrival")
    agent_close(agent_close(closed))
    rm(agent, closed)
    gc()
    expect_false(DBI::dbIsValid(con))
  })
})

test_that("a connection to another database is refused by name", {
  skip_if_not_installed("RSQLite") # and so DBI
  methods::setClass("OtherConnection", contains = "DBIConnection", where = environment())
  expect_error(dpts_agent(batch_policy(), 2, methods::new("OtherConnection"), use = "arrival"), "`store` must be a connection of RSQLite",
               class = "dpts_error_input")
})

test_that("packages are asked for by name", {
  expect_error(dpts:::need_package("dptsnosuch", "for a test"), "install.packages\\(\"dptsnosuch",
               class = "dpts_error_package")
  expect_error(dpts:::need_package(c("dptsnosuch", "stats", "dptsnorsuch"), "for a test"),
               "Packages dptsnosuch and dptsnorsuch .*c\\(\"dptsnosuch\", \"dptsnorsuch\"\\)")
})

test_that("every store gives numbers of the same type, counts of PostgreSQL too", {
  skip_if_not_installed("RSQLite")
  seen <- list()
  each_database(function(store) {
    turn <- test_clock()
    agent <- dpts_agent(policy_gaussian_imed(1, first = 1), c("a", "b"), store, use = "arrival",
                        deadline = hours(1))
    x <- agent_choose(agent, 30)
    answers <- agent_reward(agent, x$ticket[1:20], rep(0:1, 10))
    turn(3601)
    late <- agent_reward(agent, x$ticket[30], 1)
    y <- agent_choose(agent, 5)
    log <- dpts_history(agent)
    expect_identical(dpts_history(agent, n = 3), log[33:35, ])
    shares <- autoplot(agent)$data
    n <- as.numeric(table(y$arm))
    expect_identical(pulls(agent)$outstanding, n)
    verbs <- list(x, answers, late, log, pulls(agent), estimates(agent), dpts_privacy(agent),
                  summary(agent), shares, agent$store$count("release"))
    seen[[length(seen) + 1]] <<- list(
      types = lapply(verbs, function(v) if (is.list(v)) lapply(v, function(c) c(typeof(c), class(c))) else class(v)),
      counts = list(table(log$status), nrow(shares), sum(pulls(agent)$pulls))
    )
    agent_close(agent)
  })
  for (other in seen[-1]) expect_identical(other, seen[[1]])
})

test_that("processes on one PostgreSQL agent: no lost update, no ticket twice", {
  skip_if_not(postgres_available(), "no PostgreSQL")
  processes <- if (extended()) 4 else 2
  each <- 60 / processes
  con <- postgres_connection()
  agent <- dpts_agent(batch_policy(), 3, con, use = "arrival")
  here <- withr::local_tempdir()
  work <- function(i) {
    agent <- agent_open(postgres_connection(attr(con, "schema")))
    # All have opened it before one begins, and nobody is done before another has begun.
    file.create(file.path(here, i))
    for (moment in 1:1000) if (length(list.files(here)) < processes) Sys.sleep(0.01)
    vapply(seq_len(each), function(i) {
      ticket <- agent_choose(agent)$ticket
      agent_reward(agent, ticket, 1)
      ticket
    }, "")
  }
  jobs <- lapply(seq_len(processes), function(i) parallel::mcparallel(work(i)))
  tickets <- unlist(parallel::mccollect(jobs))
  expect_equal(anyDuplicated(tickets), 0)
  log <- dpts_history(agent)
  expect_setequal(log$ticket, tickets)
  expect_equal(sort(log$t), as.numeric(1:60))
  expect_equal(sum(pulls(agent)$pulls), 60)
  expect_equal(agent$store$count("release"), sum(estimates(agent)$releases))
  # They took turns.
  process <- rep(seq_len(processes), each = each)[match(log$ticket[order(log$t)], tickets)]
  expect_gt(sum(diff(process) != 0), processes - 1)
})

test_that("shares over time are counted in the store, each round once", {
  skip_if_not_installed("RSQLite")
  each_database(function(store) {
    agent <- dpts_agent(policy_uniform(), c("a", "b", "c"), store, use = "arrival")
    asked <- NULL
    course <- agent$store$course
    agent$store$course <- function(from, ...) {
      asked <<- c(asked, from)
      course(from, ...)
    }
    for (n in c(7, 190, 301, 1)) {
      agent_choose(agent, n)
      shares <- autoplot(agent)$data
      log <- dpts_history(agent)
      at <- unique(shares$t)
      expect_lte(length(at), 200)
      expect_gte(length(at), min(nrow(log), 100))
      expect_identical(max(at), as.numeric(nrow(log)))
      for (arm in levels(log$arm)) {
        expect_equal(shares$share[shares$arm == arm], cumsum(log$arm == arm)[at] / at)
      }
    }
    # A handle that has counted nothing yet says the same at the same rounds.
    kept <- agent$course
    agent$course <- NULL
    expect_equal(autoplot(agent)$data, shares)
    expect_identical(agent$course, kept)
    expect_identical(asked > 1, c(FALSE, TRUE, TRUE, TRUE, FALSE)) # what was counted is not counted again
    agent_close(agent)
  })
})

test_that("a change writes the pages that it changed, and what is stored is the whole, in every store", {
  longer <- greedy_policy() # its state grows and shrinks
  longer$update <- function(state, feedback) {
    state$diary <- numeric(if (feedback$t %% 3 == 0) 0 else 300 * feedback$t)
    state
  }
  each_database(function(store) {
    for (policy in c(list(longer), if (is.character(store)) list(batch_policy()))) {
      agent <- dpts_agent(policy, 3, if (identical(policy, longer)) store, use = "arrival")
      before <- agent$store$begin(-1, "read")[["state"]]$bytes
      fewest <- Inf
      for (i in 1:5) {
        seq <- agent$store$begin(-1, "read")$seq
        agent_reward(agent, agent_choose(agent, 2)$ticket, c(0, 1))
        head <- agent$store$begin(-1, "read")
        bytes <- head[["state"]]$bytes
        parts <- .Call(C_image_parts, bytes)
        expect_equal(head[["state"]]$numbers, seq_len(head$pages) - 1)
        expect_equal(length(bytes), head$pages * 256)
        expect_identical(dpts:::sealed(parts[[1]], head), head$state_sum)
        expect_identical(parts[[2]], session_save(agent$session)$bytes)
        expect_identical(readBin(parts[[3]], "double", 3), agent$outstanding)
        # Nothing is left of a longer state that was before.
        end <- 32 + sum(lengths(parts[-1]))
        expect_true(all(bytes[-seq_len(end)] == as.raw(0)))
        # Who knows an older change needs the pages that were written since, the first always.
        new <- agent$store$begin(seq, "read")[["state"]]
        expect_identical(c(seq + 2, new$numbers[1]), c(head$seq, 0))
        fewest <- min(fewest, length(new$numbers) / head$pages)
        if (length(before) != length(bytes)) expect_identical(new, head[["state"]])
        if (length(before) < length(bytes)) length(before) <- length(bytes)
        before[256 * rep(new$numbers, each = 256) + 1:256] <- new$bytes
        expect_identical(before[seq_along(bytes)], bytes)
        before <- bytes
        expect_null(agent$store$begin(head$seq, "read")[["state"]])
      }
      if (!identical(policy, longer)) expect_lt(fewest, 1)
      agent_close(agent)
    }
  })
  # Only what may be new is looked at: late rewards, of few arms and of many, choices of some, and an arm more.
  for (policy in list(policy_dp_imed(1, index = "likelihood"), policy_adap_klucb(1))) {
    agent <- dpts_agent(policy, 60, use = "arrival")
    out <- agent_choose(agent, 60)$ticket
    for (i in 1:9) {
      if (i == 4) agent_arms(agent, add = "new")
      out <- c(out, agent_choose(agent, c(1, 1, 12)[1 + i %% 3], offer = if (i %% 4 == 0) 5:9)$ticket)
      now <- sample(length(out), min(length(out), c(2, 30)[1 + (i %% 5 == 0)]))
      agent_reward(agent, out[now], stats::runif(length(now)))
      out <- out[-now]
      head <- agent$store$begin(-1, "read")
      expect_identical(.Call(C_image_parts, head[["state"]]$bytes)[[2]], session_save(agent$session)$bytes)
    }
  }
  agent <- dpts_agent(policy_gaussian_imed(1, first = 1), 200, use = "arrival")
  x <- agent_choose(agent, 600)
  agent_reward(agent, x$ticket, rep(0:1, 300))
  commit <- agent$store$commit
  bytes <- numeric()
  agent$store$commit <- function(changes) {
    bytes <<- c(bytes, length(changes$image$bytes))
    commit(changes)
  }
  for (i in 1:11) agent_reward(agent, agent_choose(agent)$ticket, 1)
  expect_lt(stats::median(bytes), 4096)
  # Thousands of deadlines at once are fed in C, and end where one by one does.
  runs <- lapply(c(TRUE, FALSE), function(at_once) {
    turn <- test_clock()
    agent <- dpts_agent(policy_ts_gaussian(2), 2, use = "deadline", deadline = hours(1), horizon = 1e4)
    if (!at_once) local_function("session_feed_all", function(all) function(session, t, arm, batch, reward) {
      for (i in seq_along(t)) session_feed(session, t[i], arm[i], batch[i], reward[i], NULL)
    })
    x <- lapply(1:6, function(i) agent_choose(agent, 20, offer = 1 + i %% 2)$ticket)
    agent_reward(agent, unlist(x)[1:45], rep(c(0, 1, 0.25), 15))
    turn(3601)
    pulls(agent)
    list(session_save(agent$session), pulls(agent), agent$store$count("resolved"))
  })
  expect_identical(runs[[1]], runs[[2]])
})

test_that("a handle from before a fork is refused there, and its store is left alone", {
  skip_on_os("windows")
  each_database(function(store) {
    agent <- dpts_agent(batch_policy(), 2, store, use = "arrival")
    said <- parallel::mccollect(parallel::mcparallel({
      error <- tryCatch(agent_choose(agent), error = identity)
      agent_close(agent)
      list(class(error), conditionMessage(error))
    }))[[1]]
    expect_true("dpts_error_forked" %in% said[[1]])
    expect_identical(said[[2]], "`agent` is of the process that this one was forked from: `agent_open()` opens its store here.")
    expect_equal(agent_choose(agent)$t, 1)
    agent_close(agent)
  })
})

test_that("rows are written as JSON that says the same", {
  rows <- function(...) .Call(dpts:::C_json_rows, list(...))
  expect_identical(rows(), "[]")
  expect_identical(rows(character()), "[]")
  expect_identical(rows(NULL, 1), "[]")
  expect_identical(rows(c("a", NA), c(0.1, NA), c(3L, NA), NULL),
                   "[[\"a\",0.10000000000000001,3,null],[null,null,null,null]]")
  x <- c(stats::rnorm(50) * 10^(-24:25), 2^-1074, .Machine$double.xmax)
  expect_identical(jsonlite::fromJSON(rows(x, seq_along(x)))[, 1], x)
  long <- strrep("f", 1e5)
  expect_identical(jsonlite::fromJSON(rows(c(long, "b"), 1:2)), rbind(c(long, "1"), c("b", "2")))
})

test_that("numbers and bytes come back from a store as they went in, exactly", {
  each_database(function(store) {
    agent <- dpts_agent(batch_policy(), 2, store, use = "arrival")
    x <- agent_choose(agent)
    row <- list(2^-1074, 0.1 + 0.2, .Machine$double.xmax, 12345678901234.5)
    for (value in row) {
      head <- agent$store$begin(agent$seq, "lock")
      tx <- list2env(c(head, list(now = value, find_next_due = FALSE, forgotten = FALSE)))
      changes <- all_changes(agent, tx, head$seq + 1)
      agent$store$commit(changes)
      agent$seq <- head$seq + 1
      agent$state_sum <- changes$agent$state_sum
      expect_identical(agent$store$begin(agent$seq, "read")$clock, value)
    }
    agent_close(agent)
  })
  bytes <- as.raw(0:255)
  expect_identical(.Call(dpts:::C_unhex, .Call(dpts:::C_hex, bytes)), bytes)
  expect_identical(.Call(dpts:::C_unhex, ""), raw())
})

test_that("a handle whose store was put back says so, and goes on with what is there once it is said to be restored", {
  skip_if_not_installed("RSQLite")
  # It has made three changes that are lost; others have made fewer, as many, or more.
  for (case in list(c(0, 0), c(2, 1), c(3, 0), c(3, 1), c(4, 0))) local({
    others <- case[1]
    looks <- case[2] == 1
    file <- withr::local_tempfile(fileext = ".sqlite")
    agent <- dpts_agent(batch_policy(), c("a", "b"), file, use = "arrival")
    play_rounds(agent, 4, c(0, 0), 1)
    copy <- agent_backup(agent, withr::local_tempfile(fileext = ".sqlite"))
    lost <- agent_choose(agent)$ticket
    agent_reward(agent, lost, 1)
    agent_choose(agent)
    put_back(file, copy)
    other <- agent_open(file)
    for (i in seq_len(others)) agent_choose(other)
    for (act in list(agent_choose, function(agent) agent_reward(agent, lost, 1), if (looks) dpts_releases else pulls)) {
      expect_error(act(agent), "went back to an older copy; nothing was changed", class = "dpts_error_store_back")
    }
    agent_restored(other)
    if (looks) expect_identical(dpts_releases(agent), dpts_releases(other))
    if (looks) expect_identical(format(agent), format(other))
    mine <- agent_choose(agent)$ticket
    expect_identical(agent_reward(agent, lost, 1)$status, "unknown")
    expect_identical(agent_reward(other, mine, 1)$status, "used")
    expect_identical(agent_choose(agent)$t, 4 + others + 2)
    agent_close(agent)
    agent_close(other)
    again <- agent_open(file)
    expect_equal(agent_choose(again)$t, 4 + others + 3)
    agent_close(again)
  })
  # That a report is lost of which others may not know tells nobody that it came.
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(batch_policy(), 2, file, deadline = hours(1))
  ticket <- agent_choose(agent)$ticket
  copy <- agent_backup(agent, withr::local_tempfile(fileext = ".sqlite"))
  agent_reward(agent, ticket, 1)
  put_back(file, copy)
  expect_identical(agent_choose(agent)$t, 2)
  expect_identical(agent_reward(agent, ticket, 0)$status, "waiting")
  agent_close(agent)
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
  expect_error(agent_backup(agent, copy), "^`path` must be a file that does not exist yet", class = "dpts_error_input")
  expect_error(agent_backup(agent, file.path(tempdir(), "no-such", "x")), "folder that exists", class = "dpts_error_input")
  agent_close(agent)
  # An agent in memory lives on in its copy.
  agent <- dpts_agent(batch_policy(), 2, use = "arrival")
  agent_choose(agent, 3)
  copy <- agent_open(agent_backup(agent, withr::local_tempfile(fileext = ".sqlite")))
  expect_equal(pulls(copy), pulls(agent))
  agent_close(copy)
  # A copy that cannot be read back leaves no file.
  tables <- agent$store$tables
  agent$store$tables <- function() structure(tables(), other = TRUE)
  half <- withr::local_tempfile(fileext = ".sqlite")
  expect_error(agent_backup(agent, half), "cannot be read", class = "dpts_error_store")
  expect_identical(Sys.glob(paste0(half, "*")), character())
  # What the clock ends is in the copy as it is here: it is released once.
  turn <- test_clock()
  timed <- dpts_agent(policy_randomised(mu = 1, block = 100), 2, use = "arrival", block_time = hours(1))
  agent_reward(timed, agent_choose(timed, 4)$ticket, 1)
  turn(3600)
  copy <- agent_open(agent_backup(timed, withr::local_tempfile(fileext = ".sqlite")))
  expect_equal(sum(dpts_releases(copy)$n), 4)
  expect_identical(dpts_releases(copy), dpts_releases(timed))
  agent_close(copy)
  # Past a deadline of which nothing is open there is nothing to write first.
  quiet <- dpts_agent(batch_policy(), 2, use = "arrival", deadline = hours(1))
  agent_reward(quiet, agent_choose(quiet, 4)$ticket, 1)
  turn(3600)
  tries <- 0
  local_function("try_change", function(old) function(...) {
    tries <<- tries + 1
    if (tries > 9) stop("again and again")
    old(...)
  })
  agent_backup(quiet, withr::local_tempfile(fileext = ".sqlite"))
  agent_close(agent_copy(quiet, withr::local_tempfile(fileext = ".sqlite")))
})

test_that("an agent moves from SQLite to PostgreSQL and back in service, and the old store refuses changes", {
  turn <- test_clock()
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_gaussian_imed(1, first = 3), c("a", "b"), file, use = "deadline", deadline = hours(1),
                      max_per_person = 3)
  second <- agent_open(file)
  choose <- function(agent, i) agent_choose(agent, person = paste0("p", i), key = paste0("k", i))$ticket
  out <- vapply(1:20, function(i) choose(agent, i), "")
  agent_reward(agent, out[1:12], 0.25)
  turn(3601)
  out <- c(out, vapply(21:25, function(i) choose(agent, i), ""))
  agent_reward(agent, out[21:22], 1)
  seen <- function(agent) list(pulls(agent), estimates(agent), dpts_history(agent), dpts_releases(agent),
                               agent_person(agent, paste0("p", 1:30)), agent$store$count("release"))
  before <- seen(agent)
  stores <- c(if (postgres_available()) list(postgres_connection()), withr::local_tempfile(fileext = ".sqlite"))
  for (store in stores) {
    moved <- agent_copy(agent, store)
    expect_equal(seen(moved), before)
    expect_equal(seen(agent), before)
    for (old in list(agent, if (identical(agent$store$label, second$store$label)) second)) {
      if (is.null(old)) next
      expect_error(choose(old, 30), "moved to another store", class = "dpts_error_store_moved")
      expect_error(agent_reward(old, out[23], 1), class = "dpts_error_store_moved")
      # Nor does it say of what is in the new store alone that it does not exist.
      expect_error(agent_reward(old, strrep("0", 32), 1), class = "dpts_error_store_moved")
      expect_error(agent_erase(old, "p99"), class = "dpts_error_store_moved")
    }
    expect_error(agent_copy(agent, withr::local_tempfile()), class = "dpts_error_store_moved")
    agent_close(agent)
    agent <- moved
    expect_identical(choose(agent, 25), out[25])
  }
  expect_identical(agent_reward(agent, out[23], 1)$status, "waiting")
  turn(3601)
  expect_equal(sum(pulls(agent)$outstanding), 0)
  expect_equal(agent$store$count("resolved"), 25)
  expect_error(agent_copy(agent, file), "holds this agent already", class = "dpts_error_store")
  agent_close(agent)
  agent_close(second)
})

test_that("a file that was moved, replaced or deleted under an agent is noticed at the next change", {
  skip_on_os("windows")
  for (what in c("delete", "replace", "move")) {
    x <- new_file_agent()
    agent_choose(x$agent)
    switch(what, delete = unlink(x$file), move = file.rename(x$file, paste0(x$file, "-moved")), replace = {
      y <- new_file_agent()
      agent_close(y$agent)
      file.rename(y$file, x$file)
    })
    expect_error(agent_choose(x$agent), "moved, replaced or deleted", class = "dpts_error_store_other")
    expect_error(pulls(x$agent), class = "dpts_error_store_other")
    expect_error(dpts:::check_there(x$agent), class = "dpts_error_store_other")
    if (what == "move") file.rename(paste0(x$file, "-moved"), x$file)
    if (what == "move") expect_equal(agent_choose(x$agent)$t, 12)
    agent_close(x$agent)
  }
  # So is one that a copy was written over, without its write-ahead log. What another process then did is not undone
  # by the log of before, whose last change was a choice, so that it was not cut.
  x <- new_file_agent()
  agent_backup(x$agent, copy <- withr::local_tempfile(fileext = ".sqlite"))
  for (i in 1:5) agent_choose(x$agent)
  file.copy(copy, x$file, overwrite = TRUE)
  unlink(paste0(x$file, c("-wal", "-shm")))
  more <- callr::r(function(file) {
    agent <- dpts::agent_open(file)
    on.exit(dpts::agent_close(agent))
    dpts::agent_choose(agent, 7)$ticket
  }, list(x$file))
  expect_error(agent_choose(x$agent), "moved, replaced or deleted", class = "dpts_error_store_other")
  agent_close(x$agent)
  agent <- agent_open(x$file)
  expect_identical(utils::tail(dpts_history(agent)$ticket, 7), more)
  agent_close(agent)
  # A path that is none from the root means the folder in which the agent was made.
  agent <- withr::with_dir(withr::local_tempdir(), dpts_agent(batch_policy(), 2, "here.sqlite", use = "arrival"))
  expect_equal(agent_choose(agent)$t, 1)
  agent_close(agent)
})

test_that("old values that another process left in the write-ahead log go with the first change of the next one", {
  file <- withr::local_tempfile(fileext = ".sqlite")
  log <- paste0(file, "-wal")
  agent <- dpts_agent(batch_policy(), 2, file, use = "arrival")
  con <- DBI::dbConnect(RSQLite::SQLite(), file) # the log stays while somebody has the file open
  withr::defer(DBI::dbDisconnect(con))
  DBI::dbGetQuery(con, "SELECT count(*) FROM dpts_ticket")
  for (i in 1:2) agent_choose(agent) # nothing was forgotten: the second change does not cut the log
  agent_close(agent)
  expect_gt(file.size(log), 0)
  # A change stands, whether the log can be cut or not; then the next one cuts it.
  full <- TRUE
  local_function("sqlite_messages", function(old) function(...) {
    server <- old(...)
    query <- server$query
    server$query <- function(text, ...) if (full && grepl("wal_checkpoint", text)) stop("the disk is full") else query(text, ...)
    server
  })
  agent <- agent_open(file)
  expect_equal(agent_choose(agent)$t, 3)
  expect_gt(file.size(log), 0)
  full <- FALSE
  expect_equal(agent_choose(agent)$t, 4)
  expect_equal(file.size(log), 0)
  agent_close(agent)
})
