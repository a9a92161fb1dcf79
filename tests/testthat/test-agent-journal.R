skip_if_not_installed("RSQLite")

# An agent in a file with releases, open tickets and a person who came three times
recorded_agent <- function(file = withr::local_tempfile(fileext = ".sqlite", .local_envir = parent.frame())) {
  agent <- dpts_agent(policy_randomised(mu = 1, block = 10), c("a", "b"), file, use = "arrival", max_per_person = 3)
  for (i in 1:25) agent_reward(agent, agent_choose(agent, person = paste0("p", i %/% 3))$ticket, i %% 2)
  agent_choose(agent, 4, person = letters[1:4])
  list(agent = agent, file = file)
}

edit_store <- function(file, sql) {
  con <- DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
  on.exit(DBI::dbDisconnect(con))
  DBI::dbExecute(con, sql)
}

# What a program that shares nothing with the package says of these files, each with its last digest or NA: one
# process for all of them
check_files <- function(paths, last = NA) {
  skip_if(Sys.which("python3") == "")
  code <- paste("import sys; sys.path.insert(0, sys.argv[1]); import check_journal as c;",
                "[print(c.check(p, l if l != 'NA' else None)) for p, l in zip(sys.argv[2::2], sys.argv[3::2])]")
  arguments <- rbind(paths, rep_len(last, length(paths)))
  system2("python3", shQuote(c("-B", "-c", code, system.file("examples", package = "dpts"), arguments)), stdout = TRUE)
}

test_that("the journal is whole in every store, says who and why, and another program checks its file", {
  each_database(function(store) {
    agent <- dpts_agent(policy_randomised(mu = 1, block = 10), c("a", "b, \"\u00fc\""), store, use = "arrival")
    expect_identical(agent_journal(agent)$kind, "begin")
    agent_reward(agent, agent_choose(agent, 30)$ticket, rep(c(0, 1), 15))
    agent_arms(agent, add = "c", reason = "A new page,\nas \"asked\".")
    withr::with_options(list(dpts.who = "admin2"), agent_arms(agent, pause = "c"))
    agent_clock(agent, reason = "Looked at it.")
    agent_finish(agent, "verdict", reason = "The board.")
    file <- withr::local_tempfile(fileext = ".csv")
    expect_invisible(agent_journal(agent, file))
    expect_visible(agent_journal(agent))
    journal <- agent_journal(agent)
    by <- journal[!is.na(journal$who), ]
    expect_identical(by$kind, c("add", "pause", "clock", "end", "finish"))
    expect_identical(by$note, c("A new page, as \"asked\".", NA, "Looked at it.", "The board.", "The board."))
    expect_identical(unique(by$who), c(Sys.info()[["effective_user"]], "admin2"))
    expect_identical(sum(journal$kind == "sum"), nrow(agent$store$releases(0)))
    expect_identical(vapply(journal, typeof, ""), c(
      seq = "double", part = "integer", time = "double", kind = "character", ticket = "character", t = "double", arm = "integer",
      who = "character", note = "character", digest = "character"))
    same <- c("ticket", "t", "arm", "time")
    chosen <- journal[journal$kind == "choose", same]
    expect_equal(lapply(chosen, as.vector), lapply(dpts_history(agent)[same], as.vector))
    expect_error(suppressWarnings(agent_journal(agent, file.path(dirname(file), strrep("x", 300)))), "a file that can be written",
                 class = "dpts_error_input")
    expect_identical(list.files(dirname(file), "^journal-"), character())
    last <- journal$digest[nrow(journal)]
    expect_identical(last, agent$store$begin(-1, "read")$journal)
    if (is.character(store)) {
      lines <- readLines(file, encoding = "UTF-8")
      damaged <- list(lines[-7], lines[c(1:6, 8, 7, 9:length(lines))], sub("choose", "beyond", lines),
                      sub("admin2", "admin3", lines), sub("The board", "Nobody", lines), lines[-length(lines)],
                      sub("who", "whose", lines))
      files <- paste0(file, seq_along(damaged))
      withr::defer(unlink(files))
      for (i in seq_along(damaged)) writeLines(damaged[[i]], files[i], useBytes = TRUE)
      said <- check_files(c(file, files, files[6], file), c(rep(last, 6), NA, last, last, journal$digest[nrow(journal) - 1]))
      expect_identical(said[c(1, 7)], c("None", "None"))
      expect_match(said[2:6], "does not fit")
      expect_match(said[8], "no file of a journal")
      expect_match(said[9:10], "rows are missing, or were added")
      run <- function(...) {
        suppressWarnings(system2("python3", shQuote(c("-B", system.file("examples", "check_journal.py", package = "dpts"), ...)),
                                 stdout = TRUE))
      }
      expect_identical(run(file, last), "The journal is whole.")
      expect_match(run(files[6]), "Only the last digest") # it does not call a file whole whose end it does not know
    }
    expect_error(agent_journal(agent, file), class = "dpts_error_input")
    agent_close(agent)
  })
})

test_that("a ticket that was edited by hand is not as the journal says, and one whose time a clock set is", {
  turn <- test_clock()
  each_database(function(store) {
    agent <- dpts_agent(policy_gaussian_imed(1, first = 5), c("a", "b"), store, deadline = hours(5), max_per_person = 2)
    turn(20)
    agent_choose(agent, 6, person = c("Ada", "Bob", "Cy", "Ada", "Ada", "Dee")) # one is no round
    turn(-10)
    suppressWarnings(agent_clock(agent, .POSIXct(1e9)))
    expect_true("beyond" %in% agent_journal(agent)$kind)
    turn(30)
    agent_choose(agent, person = "Eve")
    turn(100) # and once more
    agent_choose(agent, person = "Flo")
    turn(-50)
    suppressWarnings(agent_clock(agent, .POSIXct(getOption("dpts.clock")())))
    log <- agent$store$log
    for (name in c("time", "later", "chance", "none", "batch", "round", "nothing")) {
      agent$store$log <- function(n) { # as after this edit of the fourth ticket from the end
        rows <- as.list(log(n))
        i <- 4
        rows$time <- as.numeric(rows$time)
        if (name == "time") rows$time[i] <- rows$time[i] - 60
        if (name == "later") rows$time[i] <- rows$time[2] # that of another ticket
        if (name == "chance") rows$probability[i] <- 0.25
        if (name == "none") rows$batch[i] <- NA
        if (name == "batch") rows$batch[i] <- rows$batch[i] + 1
        if (name == "round") rows$t[i] <- 1000
        rows
      }
      if (name == "nothing") expect_no_error(agent_journal(agent)) else
        expect_error(agent_journal(agent), "says: the ticket of row 5 of the journal cannot be read: it is not as it was given out$",
                     class = "dpts_error_store_damaged", info = name)
    }
    agent$store$log <- log
    expect_no_error(agent_journal(agent))
    agent_close(agent)
  })
})

test_that("a store that was edited by hand is not opened", {
  edits <- c(
    restored = "UPDATE dpts_agent SET restored = 1", clock = "UPDATE dpts_agent SET clock = clock + 3e8",
    entry = "UPDATE dpts_agent SET entry = 5", seq = "UPDATE dpts_agent SET seq = seq - 1",
    sum = "UPDATE dpts_release SET sum = sum + 5 WHERE id = 2", size = "UPDATE dpts_release SET size = size + 1",
    row = "DELETE FROM dpts_release WHERE id = 1", more = "INSERT INTO dpts_release SELECT 99, outcome, arm, t, size, sum, chance, terms, whole, squares FROM dpts_release LIMIT 1",
    again = "UPDATE dpts_ticket SET status = 0 WHERE id = 25", arm = "UPDATE dpts_ticket SET arm = 3 - arm WHERE id = 28",
    used = "UPDATE dpts_ticket SET arm = 3 - arm WHERE id = 3", # an open ticket and a used one change places:
    open = "UPDATE dpts_ticket SET arm = 3 - arm WHERE id = 29 OR id = (SELECT min(id) FROM dpts_ticket WHERE status = 2 AND
              t IS NOT NULL AND arm <> (SELECT arm FROM dpts_ticket WHERE id = 29))",
    gone = "DELETE FROM dpts_ticket WHERE id = 3", persons = "UPDATE dpts_person SET pulls = 0",
    person = "DELETE FROM dpts_person WHERE person = (SELECT min(person) FROM dpts_person)",
    journal = "DROP TRIGGER dpts_event_no_delete; DELETE FROM dpts_event",
    short = "DROP TRIGGER dpts_event_no_delete; DELETE FROM dpts_event WHERE seq = (SELECT max(seq) FROM dpts_event)"
  )
  x <- recorded_agent()
  agent_close(x$agent)
  file <- withr::local_tempfile(fileext = ".sqlite")
  of <- rep(c("releases", "open tickets", "tickets", "open tickets", "tickets", "choices of persons", "end of the journal"),
            c(4, 1, 2, 1, 1, 2, 2))
  said <- c(rep("the checksum of the state is wrong", 4),
            sprintf("the %s cannot be read: the state, which has a checksum, says otherwise", of))
  for (i in seq_along(edits)) {
    file.copy(x$file, file, overwrite = TRUE)
    for (edit in strsplit(edits[[i]], "; ")[[1]]) edit_store(file, edit)
    expect_error(agent_open(file), paste0("says: ", said[i], "$"), class = "dpts_error_store_damaged", label = names(edits)[i])
  }
  # Rows that go while it is open
  file.copy(x$file, file, overwrite = TRUE)
  agent <- agent_open(file)
  for (edit in strsplit(edits[["short"]], "; ")[[1]]) edit_store(file, edit)
  expect_error(agent_journal(agent), "says: the end of the journal cannot be read: rows are missing$", class = "dpts_error_store_damaged")
  agent_close(agent)
  # What is in the middle of the journal is found by whoever reads it whole.
  edit_store(x$file, "DROP TRIGGER dpts_event_no_update")
  edit_store(x$file, "UPDATE dpts_event SET arm = 3 - arm WHERE seq = 5 AND part = 1")
  agent <- agent_open(x$file)
  row <- which(agent$store$journal()$seq == 5)[1]
  expect_error(agent_journal(agent), sprintf("says: row %d of the journal cannot be read: its digest is wrong$", row),
               class = "dpts_error_store_damaged")
  agent_close(agent)
})

test_that("releases of other outcomes that were edited by hand are found, too", {
  turn <- test_clock()
  kept <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_randomised(block = 5), 2, kept, deadline = hours(1), outcomes = list(
    harm = agent_outcome(), cost = agent_outcome(range = c(0, 10))))
  for (outcome in c("harm", "cost")) agent_reward(agent, agent_choose(agent, 10)$ticket, 1, outcome)
  turn(3601)
  expect_setequal(with(dpts_releases(agent), outcome[n > 0]), c("reward", "harm", "cost"))
  agent_close(agent)
  file <- withr::local_tempfile(fileext = ".sqlite")
  for (edit in c(sprintf("UPDATE dpts_release SET sum = sum + 1 WHERE outcome = %d", 0:2),
                 "UPDATE dpts_release SET outcome = 3 - outcome WHERE outcome > 0", "DELETE FROM dpts_release WHERE outcome = 2")) {
    file.copy(kept, file, overwrite = TRUE)
    expect_gt(edit_store(file, edit), 0)
    expect_error(agent_open(file), class = "dpts_error_store_damaged", label = edit)
  }
})

test_that("pages of the state that changed places are found, though each is whole", {
  x <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_randomised(mu = 1, block = 20), c("a", "b"), x, use = "arrival", strata = c("n", "s"))
  agent_choose(agent, 25, stratum = rep(c("n", "s", "s", "n", "s"), 5))
  agent_close(agent)
  con <- DBI::dbConnect(RSQLite::SQLite(), x, synchronous = NULL)
  pages <- DBI::dbGetQuery(con, "SELECT bytes FROM dpts_page ORDER BY page")$bytes
  DBI::dbDisconnect(con)
  file <- withr::local_tempfile(fileext = ".sqlite")
  for (i in which(!mapply(identical, pages[-1], pages[-length(pages)]))) {
    file.copy(x, file, overwrite = TRUE)
    edit_store(file, sprintf("UPDATE dpts_page SET page = -1 - page WHERE page IN (%d, %d)", i - 1L, i))
    edit_store(file, sprintf("UPDATE dpts_page SET page = page + %d WHERE page < 0", 2L * i))
    expect_error(agent_open(file), class = "dpts_error_store_damaged", label = paste("pages", i - 1, "and", i))
  }
})

test_that("a store opens after everything that changes counts: persons who are erased or forgotten, arms that come and go", {
  now <- 1e9
  withr::local_options(dpts.clock = function() now)
  local_function("COUNTED_AT_ONCE", function(most) 2) # tickets are counted in pieces
  x <- recorded_agent()
  agent <- x$agent
  reopen <- function() {
    agent_close(agent)
    agent <<- agent_open(x$file)
  }
  reopen()
  agent_erase(agent, c("p1", "p2"))
  reopen()
  agent_arms(agent, add = "c", retire = "a")
  agent_choose(agent, 5, person = paste0("q", 1:5))
  reopen()
  agent_finish(agent, "verdict")
  reopen()
  agent_choose(agent, 3, person = c("x", "y", "z"))
  now <- now + 1e6
  agent_clock(agent)
  reopen()
  agent_restored(agent, reason = "A test.")
  reopen()
  expect_identical(agent$counted, 0)
  expect_setequal(tail(agent_journal(agent)$kind, 1), "restored")
  agent_close(agent)
  # People who have a ticket for ever, or for a window, before the horizon and after it, also twice in one call
  for (how in list(list(sticky = TRUE), list(max_per_person = 2, window = as.difftime(1, units = "hours")))) {
    file <- withr::local_tempfile(fileext = ".sqlite")
    agent <- do.call(dpts_agent, c(list(batch_policy(), 2, file, use = "arrival", horizon = 4), how))
    for (person in list(c("a", "a", "b"), c("b", "c", "c", "d", "e", "e"), c("f", "e", "f", "a"))) {
      given <- agent_choose(agent, length(person), person = person)$ticket
      if (!is.null(how$sticky)) expect_identical(match(given, given), match(person, person))
      agent_close(agent)
      agent <- agent_open(file)
    }
    expect_identical(agent_person(agent, letters[1:6])$pulls, c(rep(1, 4), if (!is.null(how$sticky)) c(0, 0)))
    agent_erase(agent, c("b", "e"))
    agent_close(agent)
    agent <- agent_open(file)
    expect_identical(agent$counted, 3)
    agent_close(agent)
  }
})

test_that("a plan comes before the first person; later ones are amendments with a reason", {
  design <- policy_randomised(mu = 1, block = 20)
  plan <- dpts_plan(list(own = design, other = policy_randomised()), arms_bernoulli(c(a = 0.3, b = 0.5)), people = 200,
                    runs = 20, seed = 1)
  agent <- dpts_agent(design, c("a", "b"), use = "arrival")
  expect_identical(nrow(agent_plan(agent)), 0L)
  expect_error(agent_plan(agent, plan[plan$design == "other", ]), "plan", class = "dpts_error_input")
  expect_error(agent_plan(agent, 1), class = "dpts_error_input")
  two <- dpts_plan(design, arms_bernoulli(c(a = 0.3, b = 0.5)), people = c(100, 200), runs = 2, seed = 1)
  expect_error(agent_plan(agent, two), "at one number of people", class = "dpts_error_input")
  # Arms in another order: the plan's control, and its effects, would be another arm's.
  of <- function(rates) dpts_plan(design, arms_bernoulli(rates), people = 200, runs = 5, seed = 1, dropout = seq(0, 0.1, length.out = length(rates)), margin = 0.05)
  expect_error(agent_plan(agent, of(c(b = 0.5, a = 0.3))), "a and b, not b and a", class = "dpts_error_input")
  expect_error(agent_plan(agent, of(c(a = 0.5, c = 0.3, b = 0.3))), "a and b, not a, c and b", class = "dpts_error_input")
  coded <- dpts_agent(design, c("P", "Q"), use = "arrival")
  expect_identical(nrow(agent_plan(coded, of(c(a = 0.5, b = 0.3)))), 1L)
  fresh <- dpts_agent(design, c("a", "b"), use = "arrival")
  recorded <- agent_plan(fresh, of(c(0.3, 0.5)))
  expect_match(recorded$plan, paste0(
    "Claims: arms not worse than any other by 0.05 of the range; family-wise error rate at most 0.05\n.*",
    "Answers: 0% and 10% never come, by arm\n.*Seed: 1\ndesign,"))
  one <- agent_plan(agent, plan)
  expect_identical(one[c("kind", "people")], tibble::tibble(kind = "plan", people = 200))
  expect_match(one$plan, sprintf("\nown,.*,200,.*,%s", signif(plan$power[1], 6)))
  expect_false(grepl("other", one$plan))
  expect_error(agent_plan(agent, "More people."), "reason", class = "dpts_error_input")
  agent_reward(agent, agent_choose(agent, 20)$ticket, 1)
  two <- agent_plan(agent, "300 people.", reason = "Few came:\nfewer than hoped.")
  expect_identical(two$kind, c("plan", "amend"))
  expect_identical(two$reason, c(NA, "Few came: fewer than hoped."))
  expect_identical(two$plan, c(one$plan, "300 people."))
  journal <- agent_journal(agent)
  same <- c("time", "kind", "who")
  expect_identical(lapply(two[same], as.vector), lapply(journal[journal$kind %in% two$kind, same], as.vector))
  late <- dpts_agent(design, c("a", "b"), use = "arrival")
  agent_choose(late)
  expect_error(agent_plan(late, plan), "reason", class = "dpts_error_input")
  agent_close(agent)
  agent_close(late)
})

test_that("the analysis at the end knows for how many people it was planned, also from a file", {
  design <- policy_randomised(mu = 2, block = 20)
  agent <- dpts_agent(design, c("old", "new"), use = "arrival")
  plan <- dpts_plan(design, arms_bernoulli(c(old = 0.4, new = 0.6)), people = 100, runs = 10, seed = 1)
  expect_error(agent_plan(agent, plan[c(1, seq_len(nrow(plan))), ]), class = "dpts_error_rows")
  agent_plan(agent, plan)
  come <- function(n) agent_reward(agent, agent_choose(agent, n)$ticket, seq_len(n) %% 2)
  come(60)
  expect_message(effects(agent, at = "end"), "planned for 100 people. This one, of 60, is too early", class = "dpts_message_end")
  path <- withr::local_tempfile()
  utils::write.csv(dpts_releases(agent), path, row.names = FALSE)
  table <- as_releases(utils::read.csv(path))
  expect_equal(unique(table$planned), 100)
  expect_message(effects(table, at = "end"), "too early")
  come(40)
  agent_finish(agent)
  shown <- capture_messages(effects(agent, at = "end"))
  expect_false(any(grepl("early|late", shown)))
  other <- as_releases(transform(utils::read.csv(path), sum = sum + 2^-20))
  two <- suppressMessages(dpts_releases(list(a = table, b = other)))
  expect_equal(unique(two$planned), 200)
  # Words that say no number of people leave it.
  agent_plan(agent, "Two centres joined.", reason = "Protocol 2")
  expect_equal(unique(dpts_releases(agent)$planned), 100)
  agent_plan(agent, "people: 90", reason = "Protocol 3")
  expect_equal(unique(dpts_releases(agent)$planned), 90)
  agent_plan(agent, "people: 80\nA smaller trial.", reason = "Fewer people came.")
  expect_message(effects(agent, at = "end"), "planned for 80 people. This one, of 100, is too late")
  expect_message(effects(agent), NA, class = "dpts_message_end")
  # The list of plans says the same, whether the first line of what was written is a reason or the number.
  expect_identical(agent_plan(agent)[c("kind", "reason", "people")], tibble::tibble(
    kind = c("plan", "amend", "amend", "amend"), reason = c(NA, "Protocol 2", "Protocol 3", "Fewer people came."),
    people = c(100, NA, 90, 80)))
  expect_identical(agent_plan(agent)$plan[-1], c("Two centres joined.", "people: 90", "people: 80\nA smaller trial."))
})

test_that("each thing that an operator does has a name in the journal, and nothing else has", {
  withr::local_options(dpts.who = "Ada")
  file <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(policy_randomised(mu = 1, block = 10), c("a", "b"), file, use = "arrival", max_per_person = 9)
  agent_plan(agent, "people: 100")
  agent_reward(agent, agent_choose(agent, 20, person = paste(1:20))$ticket, 1)
  agent_plan(agent, "people: 90", reason = "Few came.")
  agent_arms(agent, add = c("c", "d"), pause = "a")
  agent_arms(agent, resume = "a", retire = "d")
  agent_erase(agent, "3")
  agent_clock(agent)
  copy <- agent_backup(agent, withr::local_tempfile(fileext = ".sqlite"))
  agent_close(agent)
  agent <- agent_open(copy, restored = TRUE)
  agent_finish(agent)
  old <- agent
  agent <- agent_copy(old, withr::local_tempfile(fileext = ".sqlite"))
  agent_close(agent)
  journal <- agent_journal(old)
  agent_close(old)
  expect_setequal(unique(journal$kind[!is.na(journal$who)]), dpts:::OPERATED)
  expect_identical(unique(journal$who), c(NA, "Ada"))
  expect_false(any(journal$kind[is.na(journal$who)] %in% dpts:::OPERATED))
})
