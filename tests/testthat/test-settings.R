# One script gives the same results and texts under all settings of R and of the system: here, and in an R of its own.

skip_on_cran() # takes seconds

script <- quote({
  file <- function(name) normalizePath(file.path(folder, name), mustWork = FALSE)
  arms <- arms_bernoulli(stats::setNames(c(0.25, 0.7, 0.3), names))
  policies <- list(policy_dp_imed(epsilon = 0.5), policy_gaussian_imed(mu = 1.25), policy_ts_beta())
  sim <- dpts_simulate(arms, policies, 2500, runs = 3, seed = 100000, checkpoint = file("points.rds"))
  again <- dpts_simulate(arms, policies, 2500, runs = 3, seed = 100000, checkpoint = file("points.rds"))
  log <- data.frame(arm = rep(enc2native(names(arms$mean)), 100), reward = rep(c(0, 1, 1, 0), 75))
  replay <- dpts_replay(log, policies[1], seed = 1)
  privacy <- dpts_privacy(policies[1:2], horizon = c(1000, 200000), arms = 3, delta = 1e-5)
  live <- if (requireNamespace("RSQLite", quietly = TRUE)) {
    agent <- dpts_agent(policy_ucb1(), names(arms$mean), file("agent.sqlite"), horizon = 100000,
                        use = "arrival")
    for (i in 1:5) agent_reward(agent, agent_choose(agent)$ticket, i %% 2)
    agent_close(agent)
    agent <- agent_open(file("agent.sqlite"))
    on.exit(agent_close(agent))
    list(as.data.frame(pulls(agent)), sub(" in .*", "", format(agent)))
  }
  fault <- function(expr) tryCatch(expr, error = conditionMessage)
  texts <- list(
    lapply(policies, format), lapply(policies, function(x) format(x, digits = 3)),
    lapply(policies, function(x) format(x$guarantee)), format(arms), format(privacy_approx(1234.5, 1e-6)),
    as.character(privacy_gdp(0.25)), fault(arms_bernoulli(1.5)), fault(policy_dp_imed(-0.5)),
    fault(dpts_simulate(arms_data(list(a = rep(0:1, 500), b = rep(1, 400)), replace = FALSE),
                        policies[3], 12345, runs = 1)),
    utils::capture.output(print(counter_tree(0.25, bound = 1000))),
    if (plots) lapply(list(autoplot(sim), autoplot(arms)), function(p) {
      grDevices::pdf(NULL)
      on.exit(grDevices::dev.off())
      print(p)
      as.character(unlist(p$labels[c("title", "subtitle", "x", "y")]))
    })
  )
  list(again = identical(as.data.frame(sim), as.data.frame(again)),
       numbers = lapply(list(sim, estimates(sim), replay, privacy), function(x) lapply(as.data.frame(x), as.vector)),
       live = live, texts = texts)
})

# What the script gives here
run_here <- function(plots = TRUE, names = c("one", "Two", "i")) {
  folder <- withr::local_tempdir()
  eval(call("function", NULL, script))()
}

# What it gives in another R after the expression `before`, with variables of the environment `env`, its files in `folder`
run_script <- function(before = NULL, env = character(), folder = NULL, plots = TRUE,
                       names = c("one", "Two", "i"), what = script) {
  if (is.null(folder)) folder <- withr::local_tempdir()
  code <- withr::local_tempfile(fileext = ".rds") # which keeps the encoding
  out <- withr::local_tempfile(fileext = ".rds")
  saveRDS(bquote({
    .libPaths(.(.libPaths()))
    library(dpts)
    folder <- .(folder)
    plots <- .(plots)
    names <- .(names)
    .(before)
    saveRDS((function() .(what))(), .(out))
  }), code)
  log <- withr::with_envvar(env, suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), c("-e", shQuote(sprintf("eval(readRDS('%s'))", code))), stdout = TRUE, stderr = TRUE
  )))
  if (!file.exists(out)) stop(paste(log, collapse = "\n"))
  readRDS(out)
}

has_locale <- function(locale) {
  old <- Sys.getlocale("LC_TIME")
  on.exit(Sys.setlocale("LC_TIME", old))
  nzchar(suppressWarnings(Sys.setlocale("LC_TIME", locale)))
}

test_that("results and texts are the same under all settings", {
  skip_on_cran()
  base <- run_here()
  expect_true(base$again)
  expect_equal(base$texts[[6]], "privacy_gdp(mu = 0.25)")

  # With this ggplot2 draws no legend of numbers.
  plain <- base
  plain$texts[11] <- list(NULL)
  local({
    withr::local_options(scipen = -10)
    withr::local_locale(LC_COLLATE = "C", LC_CTYPE = "C", LC_MONETARY = "C", LC_TIME = "C")
    state <- function() list(options()[c("scipen", "digits", "OutDec", "warn", "width")], Sys.getlocale(), RNGkind(), getwd())
    before <- state()
    expect_equal(run_here(plots = FALSE), plain)
    expect_identical(state(), before)
  })

  folder <- file.path(withr::local_tempdir(), "d\u00fcrfen wir \u0131")
  if (!(l10n_info()[["UTF-8"]] && dir.create(folder))) folder <- withr::local_tempdir()
  before <- quote({
    options(OutDec = ",", warn = 2, digits = 3)
    suppressWarnings(RNGkind("Wichmann-Hill", "Box-Muller", "Rounding"))
  })
  temporary <- withr::local_tempdir(if (l10n_info()[["UTF-8"]]) "\u0131" else "i") # R 4.6 takes none with a space
  expect_equal(run_script(before, folder = folder,
                          env = c(HOME = "/nonexistent", TMPDIR = temporary, TZ = "Antarctica/Troll")), base)
})

test_that("results and texts are the same in other locales", {
  skip_on_cran()
  skip_if_not(l10n_info()[["UTF-8"]], "texts are UTF-8")
  skip_if_not(has_locale("tr_TR.UTF-8") || has_locale("de_DE.UTF-8"), "there is a Turkish or a German locale")
  words <- c("I\u015f\u0131k", "b\u00f6rek", "i")
  base <- run_here(plots = FALSE, names = words)
  if (has_locale("tr_TR.UTF-8")) {
    expect_equal(run_script(env = c(LC_ALL = "tr_TR.UTF-8"), plots = FALSE, names = words), base)
  }
  skip_if_not(has_locale("de_DE.UTF-8"), "there is a German locale")
  # R says that a decimal comma of the system makes it "function strangely"; calls and data are right all the same.
  comma <- quote(suppressWarnings(Sys.setlocale("LC_NUMERIC", "de_DE.UTF-8")))
  german <- run_script(comma, c(LC_ALL = "de_DE.UTF-8"), plots = FALSE, names = words)
  expect_equal(german[c("again", "numbers")], base[c("again", "numbers")])
  expect_equal(german$live, base$live)
  expect_equal(german$texts[c(1, 2, 6)], base$texts[c(1, 2, 6)])
})

test_that("where the session knows ASCII alone, texts are taken as they are meant, and what is written is UTF-8", {
  skip_if_not_installed(c("RSQLite", "jsonlite"))
  skip_if_not(l10n_info()[["UTF-8"]] && .Platform$OS.type == "unix", "names of files are UTF-8")
  folder <- withr::local_tempdir()
  words <- list(arms = c("n\u00e9", "\u4e2d"), stratum = "S\u00fcd", harm = "\u00dcbel", person = "Zo\u00eb\u00e0", name = "Gr\u00f6\u00dfe",
                reason = "The board\u2019s", plan = "\u201c200\u201d", file = "z\u00e9 %.sqlite")
  there <- run_script(env = c(LC_ALL = "C"), folder = folder, names = words, what = quote({
    # As the command line and the names of files are read there: bytes of which R does not know the encoding
    native <- lapply(names, function(x) `Encoding<-`(x, "unknown"))
    agent <- dpts_agent(
      policy_randomised(mu = 3, block = 10), native$arms, file.path(folder, native$file), use = "arrival", name = native$name,
      strata = native$stratum, max_per_person = 1,
      outcomes = stats::setNames(list(agent_outcome(mu = 1, deadline = as.difftime(1, units = "hours"))), native$harm))
    agent_choose(agent, 1, person = native$person, stratum = native$stratum, offer = native$arms[2])
    pulls <- c(agent_person(agent, native$person)$pulls, agent_person(agent, names$person)$pulls)
    x <- agent_choose(agent, 20, person = format(1:20), stratum = native$stratum)
    agent_reward(agent, x$ticket, 1)
    agent_reward(agent, x$ticket, 0, outcome = native$harm)
    agent_arms(agent, pause = native$arms[2], reason = native$reason)
    agent_plan(agent, native$plan, reason = names$reason)
    arms <- arms_bernoulli(stats::setNames(c(0.3, 0.5), names$arms))
    agent_plan(agent, dpts_plan(policy_randomised(mu = 3, block = 10), arms, people = 20, runs = 2, seed = 1), reason = "x")
    effects <- effects(agent, native$arms[2])
    table <- as.data.frame(dpts_releases(agent))
    table$arm <- `Encoding<-`(as.character(table$arm), "unknown")
    custom <- policy_custom(native$name, function(k, horizon) 0, function(state, round) 1, function(state, feedback) state)
    agent_close(agent)
    log <- file(file.path(folder, "log"), "w")
    token <- stats::setNames("0123456789-secret", paste0("admin:", native$person))
    router <- agent_api(folder, token, log = log)
    ask <- function(path, query = "") {
      path <- paste0("/experiments/z%C3%A9%20%25", path)
      router$call(list2env(list(REQUEST_METHOD = "GET", PATH_INFO = path, QUERY_STRING = query, bodyRaw = raw(),
                                HTTP_AUTHORIZATION = "Bearer 0123456789-secret")))$body
    }
    answers <- c(ask("/status"), ask("/statement"), ask("/effects", "?control=%E4%B8%AD"), ask("/effects", "?control=%C3%A9"))
    router$call(list2env(list(REQUEST_METHOD = "POST", PATH_INFO = "/experiments/z%C3%A9%20%25/arms", QUERY_STRING = "",
                              bodyRaw = charToRaw(sprintf('{"resume": "%s"}', names$arms[2])),
                              HTTP_AUTHORIZATION = "Bearer 0123456789-secret")))
    again <- agent_open(file.path(folder, native$file))
    agent_journal(again, file.path(folder, "journal.csv"))
    agent_close(again)
    files <- file.info(list.files(folder, "sqlite$", full.names = TRUE))
    unlink(file.path(folder, native$file)) # of which the log tells
    ask("/status")
    close(log)
    list(files = nrow(files), mode = format(files$mode), pulls = pulls, control = as.character(effects$control[1]),
         table = levels(as_releases(table)$arm), custom = custom$name, answers = lapply(answers, charToRaw))
  }))
  # There is one file of this name, for its owner alone.
  expect_identical(there[c("files", "mode")], list(files = 1L, mode = "600"))
  expect_identical(there[c("pulls", "control", "custom")], list(pulls = c(1, 1), control = words$arms[2], custom = words$name))
  expect_setequal(there$table, words$arms)
  # The journal: each row fits the one before it.
  rows <- utils::read.csv(file.path(folder, "journal.csv"), colClasses = "character", encoding = "UTF-8", na.strings = character())
  text <- do.call(paste, c(unname(rows[names(rows) != "digest"]), sep = "\x1f"))
  last <- cli::hash_sha256(rows$note[1])
  expect_identical(rows$digest, c(last, vapply(text[-1], function(row) last <<- cli::hash_sha256(paste(last, row, sep = "\x1f")), "",
                                               USE.NAMES = FALSE)))
  expect_identical(unique(rows$arm[rows$kind %in% c("choose", "pause")]), rev(words$arms))
  expect_identical(rows$note[rows$kind == "pause"], words$reason)
  expect_identical(rows$who[rows$kind == "resume"], paste0("service: admin:", words$person))
  expect_identical(rows$note[rows$kind == "amend"][1], sprintf("reason: %s\n%s", words$reason, words$plan))
  expect_match(rows$note[rows$kind == "amend"][2], sprintf("(%s 0.3, %s 0.5)", words$arms[1], words$arms[2]), fixed = TRUE)
  for (x in there$answers) expect_no_match(rawToChar(x), "<U\\+|<[0-9a-f]{2}>")
  said <- lapply(there$answers, function(x) jsonlite::parse_json(rawToChar(x), simplifyVector = TRUE))
  expect_identical(said[[1]]$name, words$name)
  expect_identical(said[[1]]$arms$arm, words$arms)
  expect_identical(said[[1]]$outcomes$outcome, words$harm)
  expect_identical(said[[3]]$control, words$arms[2])
  expect_identical(said[[4]]$message, sprintf("`control` must be one of the arms: %s and %s, not the string \"\u00e9\".",
                                              words$arms[1], words$arms[2]))
  log <- lapply(readLines(file.path(folder, "log"), encoding = "UTF-8"), jsonlite::parse_json)
  expect_identical(log[[length(log) - 1]]$experiment, "z\u00e9 %")
})
