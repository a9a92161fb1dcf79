# Prints at the widths of a small terminal, a usual one and a large one. The numbers are of fixed
# seeds; what is looked at is the words and what fits.

skip_on_cran() # takes seconds

# The first rows of each of the results as they are printed, by width
printed <- once(function() {
  lapply(c(`60` = 60, `120` = 120), function(width) {
    withr::local_options(width = width, cli.width = width)
    lapply(results(), function(x) cli::ansi_strip(capture.output(print(x[1:3, ]))))
  })
})

test_that("every result prints within its width, with its seed", {
  unseeded <- c("privacy", "ope", "reproduction_privacy", "audit")
  for (width in names(printed())) {
    out <- printed()[[width]]
    expect_identical(names(out)[vapply(out, function(x) max(nchar(x)) > as.numeric(width), NA)], character(), label = width)
    expect_match(vapply(out, `[`, "", 1), "[A-Za-z]")
    expect_setequal(names(out)[!vapply(out, function(x) any(grepl("^# Seed: +1", x)), NA)], unseeded)
  }
})

test_that("prints read well", {
  skip_if(utils::packageVersion("pillar") >= "1.9", "the columns that fit are those of an older pillar")
  show <- function(width) {
    out <- printed()[[format(width)]]
    for (name in names(out)) writeLines(c(paste0("\n[", name, ", ", width, "]"), out[[name]]))
  }
  for (width in c(60, 120)) expect_snapshot(show(width), cran = FALSE) # each snapshot takes 30 ms
})

test_that("arms with long names print within the width", {
  withr::local_options(width = 80)
  arms <- arms_bernoulli(stats::setNames(1:9 / 10, paste("the second version of page", 1:9)))
  out <- capture.output(print(arms))
  expect_lte(max(nchar(out)), 80)
  expect_match(gsub(" +", " ", paste(out, collapse = " ")), "means: the second version of page 1 0.1, .* page 8 0.8, ...")
})

test_that("claims print in full, within the width", {
  withr::local_options(width = 80)
  found <- claims(results()$reproduction_simulation)
  out <- capture.output(print(found))
  expect_lte(max(nchar(out)), 80)
  expect_identical(sum(grepl("^(reproduced|not reproduced|undecided): margin", out)), nrow(found))
  expect_match(gsub(" +", " ", paste(out, collapse = " ")), found$claim[1], fixed = TRUE)
  long <- claims(results()$reproduction_tuning)
  expect_lte(max(nchar(capture.output(print(long)))), 80)
  expect_s3_class(long[c("claim", "se")], "tbl_df")
  expect_match(capture.output(print(long[c("claim", "se")]))[1], "tibble")
})

test_that("the arguments that verbs share stand in one order, after the dots", {
  shared <- c("runs", "seed", "record", "threads", "progress", "checkpoint", "delay", "batch")
  for (verb in list(dpts_simulate, dpts_recommend, dpts_tune, dpts_audit, dpts_reproduce)) {
    has <- names(formals(verb))
    expect_false(is.unsorted(match(intersect(has, shared), shared)))
    expect_gt(match("runs", has), match("...", has))
  }
})

test_that("a recommendation keeps what matters, and its call can be copied", {
  budget <- privacy_gdp(0.8)
  x <- dpts_recommend(budget, two_arms(), 3000, runs = 4, seed = 1, candidates = c("gaussian_imed", "dp_imed"))
  for (width in c(60, 76, 80, 120)) {
    withr::local_options(width = width, cli.width = width)
    out <- capture.output(print(x))
    for (column in c("policy", "regret", "lower", "upper", "standing")) {
      expect_true(any(grepl(paste0("^ .*", column), out)), label = paste(column, "at", width))
    }
    first <- grep("^  policy_", out)
    last <- first - 1 + grep("\\)$", out[first:length(out)])[1]
    expect_identical(eval(parse(text = out[first:last])), recommended_policy(x))
    expect_lte(max(nchar(out)), width)
  }
  # In less, the interval comes before its standard error.
  withr::local_options(width = 40, cli.width = 40)
  expect_match(capture.output(print(x)), "^ .*regret +lower +upper", all = FALSE)
})

test_that("dropped candidates are in the open", {
  x <- new_recommendation(array(c(1, 2, 3, 4), c(4, 1, 1)), list(a = policy_dp_imed(1)), 0.95,
                          list(budget = privacy_pure(1), horizon = 100, arms = list(two_arms()), panel = FALSE,
                               runs = 4, seed = 1),
                          c(b = "the budget has no room for it", c = "the budget has no room for it",
                            d = "its first batches do not fit"))
  out <- paste(capture.output(print(x)), collapse = " ")
  expect_match(out, "Left out: b, c (the budget has no room for it).", fixed = TRUE)
  s <- summary(x)
  expect_equal(s$standing, c("best", "dropped", "dropped", "dropped"))
  expect_equal(s$reason, c(NA, rep("the budget has no room for it", 2), "its first batches do not fit"))
  expect_equal(glance(x)$dropped, 3)
})

test_that("a printed table shows no epsilon below the promise, and no lower bound above it", {
  printed <- function(x, column) {
    lines <- cli::ansi_strip(format(x))
    lines <- lines[!startsWith(lines, "#")]
    at <- match(column, strsplit(trimws(lines[1]), " +")[[1]])
    rows <- strsplit(trimws(lines[-(1:2)]), " +")
    as.numeric(vapply(rows, function(row) row[at + 1], ""))
  }
  mu <- c(0.0123, 0.5, 7, 444)
  delta <- c(1e-1, 3e-6, 1e-5)
  for (policy in lapply(mu, policy_gaussian_imed)) {
    x <- dpts_privacy(policy, 10, delta = delta, accountant = c("gdp"))
    for (table in list(x, summary(x), x[c("policy", "delta", "epsilon")])) {
      epsilon <- table$epsilon
      shown <- printed(table, "epsilon")
      expect_true(all(shown >= epsilon * (1 - 1e-9)), label = format(policy))
      expect_true(all(shown <= epsilon * 1.011))
    }
  }
  expect_identical(printed(dpts_privacy(privacy_pure(0.3), 10, delta = 0, accountant = "pure"), "epsilon"), 0.3)
  agent <- dpts_agent(policy_dp_imed(1.0001, first = 2), c("a", "b"), use = "arrival")
  withr::defer(agent_close(agent))
  for (i in 1:6) agent_reward(agent, agent_choose(agent)$ticket, 1)
  delta <- 1.0001e-3
  private <- dpts_privacy(policy_ts_gaussian(), 100, delta = delta)
  audit <- dpts_audit(policy_ts_gaussian(), 5, delta = c(0.2, 0.01, 1e-3, delta), method = "exact", streams = c("silent", "success"))
  tables <- list(
    private, summary(private), glance(private), tidy(private), audit, summary(audit), tidy(audit), dpts_privacy(agent, delta = delta),
    dpts_privacy(dpts_agent(policy_gaussian_imed(1), c("a", "b"), use = "arrival"), delta = c(1e-1, 3e-6, 1e-5)),
    sequence_gdp(c(10, 30), 10, 5, nu = 1.0001e-7), sequence_account(1.5, 101, 0, 1.7),
    noisy_max_privacy(c(3, 7), 1.0001, delta, "gaussian")
  )
  rounded <- character()
  for (i in seq_along(tables)) for (name in names(tables[[i]])) {
    value <- tables[[i]][[name]]
    if (!is.numeric(value) || anyNA(value)) next
    shown <- printed(tables[[i]][name], name)
    is_lower <- name == "lower" || name == "estimate" && "holds" %in% names(tables[[i]])
    expect_true(all(if (is_lower) shown <= value else shown >= value), info = paste(i, name))
    if (any(shown != value)) rounded <- c(rounded, name)
  }
  expect_setequal(rounded, c("delta", "epsilon", "least_delta", "least_epsilon", "claimed", "lower", "estimate", "spent", "mu", "nu", "rdp",
                             "published"))
  withr::local_options(pillar.sigfig = 5)
  expect_true(all(printed(x, "epsilon") >= x$epsilon))
})

test_that("numbers and lists in words are right on both sides of each limit", {
  expect_identical(words_list(letters[1:6], most = 4), "a, b, c, ... and f")
  expect_identical(words_list(letters[1:5], "or", most = 5), "a, b, c, d or e")
  expect_identical(vapply(c(0.5, 1, 59, 60, 61, 3599, 3600, 86399, 86400), format_seconds, "", digits = 2),
                   c("0.5 seconds", "1 second", "59 seconds", "1 minute", "1 minute", "60 minutes", "1 hour", "24 hours",
                     "1 day"))
  expect_identical(label_count(c(999999, 1e6, 1234567, 0.001, 0.00099, 0, NA, 20000)),
                   c("999,999", "1e6", "1.23e6", "0.001", "9.9e-4", "0", NA, "20,000"))
  expect_identical(shorts(c(3999, 4.3849, 0.001, 999.96, 2e9)), c("3,999", "4.38", "0.001", "1,000", "2e9"))
  expect_identical(signif_to(c(1.234, 1.236, 0.99951, 2), 3, "up"), c(1.24, 1.24, 1, 2))
  expect_identical(signif_to(c(1.234, 1.236, 0.99951, 2), 3, "down"), c(1.23, 1.23, 0.999, 2))
  expect_identical(short_label(c("abcdefgh", "abcdefghi"), 8), c("abcdefgh", "abc\u2026ghi"))
  bounds <- as_bounds(tibble::tibble(epsilon = 1.2341, lower = 1.2349, other = 1.2349))
  expect_match(format(bounds), "1.24.* 1.23.* 1.23", all = FALSE)
})

test_that("what counts for a missing answer is printed in units, not on the grid of 2^-20", {
  agent <- dpts_agent(policy_randomised(mu = 1), c("a", "b"), use = "deadline", range = c(0, 50), missing = 5,
                      deadline = as.difftime(1, units = "days"),
                      outcomes = list(harm = agent_outcome(range = c(0, 50), missing = 5)))
  expect_match(capture.output(print(agent))[3], "missing counts 5$")
  expect_match(format(agent$terms$outcomes$harm), "missing counts 5$|missing counts 5[ ,]")
  agent_close(agent)
})

# ---- words on both sides of each limit -------------------------------------------------------------

# Expressions with what they say: their lines, or the message of a condition
tell <- function(...) {
  withr::local_options(`rlang:::disable_trace_capture` = TRUE, width = 80, cli.width = 80)
  frame <- parent.frame()
  for (ask in eval(substitute(alist(...)))) {
    heard <- character()
    hear <- function(c) heard <<- c(heard, paste0("(", setdiff(class(c), c("rlang_message", "rlang_warning"))[1], ") ", conditionMessage(c)))
    value <- tryCatch(withCallingHandlers(
      { shown <- withVisible(eval(ask, frame)); if (shown$visible) shown$value },
      warning = function(c) { hear(c); tryInvokeRestart("muffleWarning") },
      message = function(c) { hear(c); tryInvokeRestart("muffleMessage") }
    ), error = function(c) { hear(c); NULL })
    lines <- if (is.character(value)) paste0(if (!is.null(names(value))) paste0(names(value), ": "), value) else
      if (is.null(value)) { if (!length(heard)) "NULL" } else if (is.numeric(value) || is.logical(value)) deparse(value) else format(value)
    code <- gsub("\\s+", " ", paste(deparse(ask, 500), collapse = " "))
    writeLines(c(code, paste0("  ", cli::ansi_strip(unlist(strsplit(c(heard, lines), "\n"))))))
  }
}

tell_checks <- function() {
  withr::local_options(dpts.service = TRUE) # errors without the user's call, which take a third of the time
  number <- 2.5
  text <- "x"
  ends <- function(least = 0, most = 1) check_number(number, least, most)
  # An argument that the user's function was not given
  for (check in c("number", "budget_number", "numbers", "count", "flag", "string", "counts", "policies")) {
    cat(check, ": ", tryCatch((function(x) get(paste0("check_", check))(x))(), error = conditionMessage), "\n", sep = "")
  }
  tell(
    check_number(number, 3), check_number(number, 3, open = TRUE), check_number(-number, 0), check_number(-number, 0, open = TRUE),
    check_number(number, 0, 1), check_number(number, 0, 2.5, open = TRUE), check_number(number, 0, 2.5, open = c(TRUE, FALSE)),
    check_number(number / 0), check_number(number / 0, inf = TRUE), check_number(0 * number + 1, 0, 1), check_number(c(1, 2)),
    check_number(structure(1, class = "x")), ends(), check_number(number + 1, 5), check_number(list(number)),
    check_budget_number(1e-7), check_budget_number(1e-6), check_budget_number(0, zero = TRUE), check_budget_number(0, inf = FALSE),
    check_budget_number(Inf, inf = FALSE), check_budget_number(2e12), check_budget_number(1e12), check_budget_number(-1, zero = TRUE),
    check_numbers(text), check_numbers(numeric(), 0), check_numbers(c(1, 2), min_length = 3), check_numbers(c(0, Inf), 0), check_numbers(c(0, Inf), 0, inf = TRUE),
    check_numbers(c(1, NA)), check_numbers(1:3, 2, 3), check_numbers(matrix(1, 1, 1)), check_numbers(2L),
    check_count(number), check_count(0), check_count(1), check_count(11, 2, 10), check_count(2^53), check_count(2^54), check_count("3"), check_count(NA),
    check_flag(NA), check_flag(1), check_flag(TRUE), check_flag(c(TRUE, FALSE)), check_string(""), check_string(NA_character_), check_string(c("a", "b")),
    check_new_file("no/such/folder"), check_choice("c", c("a", "b")), check_choice(c("a", "b"), c("a", "b")), check_choice(1, c("a", "b")),
    check_choice(character(), c("a", "b"), several = TRUE), check_choice(c("a", "b"), c("a", "b", "c")), check_choice(c("a", "c"), c("a", "b", "c"), several = TRUE),
    check_choice(NA_character_, c("a", "b")), check_class(1, "x", "an x"), check_counts(c(1, 1.5)), check_counts(c(2, 1), 2), check_counts(2^54), check_counts(text),
    check_width(0), check_width(1e5), check_digits(0), check_digits(22), check_digits(23), check_each(1:2, 3, "arms"), check_each(1, 3, "arms"), check_each(c(a = 1, b = 2), 2, "arms"),
    check_seed(-1), check_seed(0), check_range(c(1, 1)), check_range(1), check_range(c(x = 0, y = 2)), check_seconds(7), check_seconds(as.difftime(0, units = "secs")),
    check_seconds(as.difftime(2, units = "mins")), check_seconds(1, also = " or NULL"), check_names(c("a", "a"), "names", "text"), check_names("", "names", "text"),
    check_names(strrep("x", 200), "names", "text"), check_names(strrep("x", 201), "names", "text"), check_names("a\nb", "names", "text"),
    recycle_common(a = 1:2, b = 1:3), recycle_common(a = 1, b = numeric()), check_picks(c(1, 1), 5, "a round", "round", "record"), check_picks(6, 5, "a round", "round", "record"),
    did_you_mean("horzn", c("horizon", "run", "runs")), did_you_mean("ab", c("abcd", "abc")), did_you_mean("abcde", "ab"), did_you_mean(character(), "a"), did_you_mean("a", character()),
    check_memory(4e9, "x", "be of a size, which"), check_memory(4.1e9, "x", "be of a size, which", hint = "Hint."),
    withr::with_options(list(dpts.memory = "a"), check_memory(1, "x", "")),
    check_size(1e6, 1e4, list(1, 2), 1e7), check_size(I(1:3), 1, list(1), 1e9, history = TRUE), check_size(1, I(1:2), list(1), 10, history = TRUE),
    describe(NULL), describe(diag(2)), describe(policy_ucb1()), describe(privacy_pure(1)), describe(two_arms()), describe(mean), describe(data.frame()), describe(factor(1)),
    describe(y ~ x), describe(list(1, 2)), describe(character()), describe(NA), describe(NaN), describe("\xff"), describe("a"), describe(2), describe(1 + 1e-12), describe(1:2),
    describe(c(1, 2)), describe(TRUE), close_text(3 - 1e-12), close_text(5L), hint_budget("mu", "`policy_x()`"), hint_budget("mu", "`x()`"), hint_budget("b", "`policy_x()`"),
    hint_policy(two_arms(), "policies"), hint_policy(1, "policies"), hint_policy("a", "policies"), hint_policy(c("a", "b"), "policies"), hint_policy(data.frame(), "policies"), hint_policy(policy_ucb1, "policies"),
    hint_policy("ucb", "policies"), hint_policy("policy_ucb2", "policies"), hint_policy("uc", "policies"), hint_policy(mean, "policies"), hint_policy(NA_character_, "policies"), hint_policy(list(), "policies"),
    check_policies(list()), check_policies(list(a = 1)), check_policies(list(a = policy_ucb1(), a = policy_uniform())), check_policies(c(list(a = policy_ucb1()), policy_ucb1())),
    dpts_privacy(policy_ucb1(), horizom = 10), policy_dp_imed(1, 2), arms_bernoulli(0.5, 0.5), policy_uniform(x = 1)
  )
}

tell_objects <- function() {
  means <- function(n) 1:n / 20
  counter <- counter_add(counter_gaussian(1, 100), c(0.5, 1), seed = 1)
  agent <- dpts_agent(policy_randomised(mu = 1, floor = 0.05), letters[1:11], use = "deadline", deadline = as.difftime(2, units = "days"), missing = 0.25, name = "trial",
                      strata = c("low", "high"), horizon = 2000, outcomes = list(harm = agent_outcome(mu = 1, missing = 0), cost = agent_outcome(range = c(0, 5), missing = 1)))
  ten <- dpts_agent(policy_ucb1(), letters[1:10], use = "arrival")
  on.exit(lapply(list(agent, ten), agent_close))
  statement <- function(...) unclass(privacy_statement(...))
  tell(
    arms_bernoulli(means(1)), arms_bernoulli(means(8)), arms_bernoulli(means(9)), arms_bernoulli(c(a = 0.123456, b = 0.5)), format(arms_bernoulli(c(a = 0.123456, b = 0.5)), digits = 2),
    arms_walk(c(0.5, 0.5), 0.1), arms_switch(list(two_arms(), two_arms(), two_arms(), two_arms()), c(10, 2000, 3e6)),
    arms_switch(rep(list(two_arms()), 5), 2:5), arms_custom(function(arm, n, t) rep(2, n), function(t) c(0.5, 0.4)),
    arms_custom(list(a = function(n) rep(2, n), b = function(n) n), c(0.5, 0.4)), arms_strata(low = two_arms(), high = two_arms()), arms_strata(low = two_arms(), high = arms_bernoulli(c(0.1, 0.2))),
    policy_ts_gaussian(variance_scale = 1 / 3), format(policy_ts_gaussian(variance_scale = 1 / 3), digits = 3), policy_dp_imed(0.1 + 0.2), policy_local(policy_ucb1(), 0.5),
    format(policy_local(policy_ts_gaussian(variance_scale = 1 / 3), 0.5), digits = 2), policy_custom("mine", start = function(k, horizon) 1, choose = function(state, round) 1, update = function(state, ...) state),
    wrap_call("f(a = 1, b = 2)", 15), wrap_call("f(a = 1, b = 2)", 14), privacy_pure(1.23456789), privacy_gdp(0.5), privacy_approx(1, 1e-5), policy_mt_ucb(1)$guarantee, policy_local(policy_ucb1(), 1)$guarantee,
    format(privacy_gdp(1 / 3)), format(policy_gaussian_imed(1 / 3)$guarantee, digits = 2), counter_gaussian(1), counter, counter_tree(1, 8), format(counter$released),
    agent_outcome(mu = 1, missing = 0), agent_outcome(range = c(0, 5), missing = 1, deadline = as.difftime(1, units = "days")), agent_outcome(mu = 0.5, missing = 0, guard = 0.1),
    agent, ten, dpts_experiment("ou-1"), dpts_experiment("ou-3"), dpts_experiment("hh-2"), dpts_experiment("mt-2"), dpts_experiment("ou-2", horizon = 1234.5678),
    format(structure(list(kind = "simulation", policies = list(1), runs = 1, horizon = 10, id = "x", title = "t", source = "s", open = "o",
                          parameters = list(a = NULL, b = 1:12, c = 1:13, d = c("u", "v"), e = data.frame(1:3), f = 1e6 / 3)), class = "dpts_experiment")),
    structure(list(title = strrep("x", 70)), class = "dpts_log_source"), structure(list(title = strrep("y", 71), chunk = 20000), class = "dpts_log_source"),
    statement(policy_gaussian_imed(1)), statement(policy_dp_imed(1), horizon = 1), statement(list(a = policy_mt_ucb(1), b = policy_dp_imed(0.5)), horizon = 5000, arms = 3)
  )
}

tell_words <- function() {
  x <- results()
  seeded <- do.call(rbind, lapply(1:5, function(i) {
    dpts_simulate(two_arms(), policy_ucb1(), 5, runs = run_range(i, i), seed = c(1, 1e5, 3, 4, 5)[i])
  }))
  delays <- function(delay, events) data.frame(delay = delay, events = events)
  looks <- list(share = c(0.25, 0.5), spending = "pocock")
  terms <- list(policy = policy_ucb1(), arms = rep("a", 3e6), horizon = 10)
  advice_of <- function(regret, rounds = NA, dropped = character(), panel = FALSE, seed = 1) {
    k <- ncol(regret)
    dim(regret) <- c(dim(regret), 1)
    if (!identical(rounds, NA)) attr(regret, "rounds") <- rounds
    new_recommendation(regret, stats::setNames(lapply(seq_len(k), function(i) policy_dp_imed(1)), letters[seq_len(k)]), 0.95,
                       list(budget = privacy_pure(1), horizon = 1000, arms = list(two_arms()), panel = panel, runs = nrow(regret), seed = seed), dropped)
  }
  # One run that makes most of a mean, and more of them
  wild <- x$simulation
  wild$regret[wild$run > 1 & wild$policy == "a"] <- 0.1
  wild$regret[wild$run == 1 & wild$policy == "a"] <- 60
  wilder <- wild
  wilder$regret[wild$policy == "b"] <- ifelse(wild$run[wild$policy == "b"] == 1, 20, 1)
  failures <- function(x) unname(words_failures(x, final_rows(bare(regret_by_round(x, 0.95)))))
  kept <- list(releases = list(numeric(), 0, 0, c(1, rep(0, length(RELEASE))), c(2, rep(0, length(RELEASE)))), policy = rep("a", 5),
               pulls = list(1, 1000, 1001, 1, 1))
  gone <- function(n, epsilon) draw_where(data.frame(policy = letters[seq_len(n)], epsilon = epsilon, delta = 0.1), "y")$words
  seven <- function(k, names = NULL) stats::setNames(rep(list(arms_bernoulli(stats::setNames(seq_len(k) / 10, names))), 7), paste0("s", 1:7))
  strata <- arms_strata(low = two_arms(), high = arms_bernoulli(c(0.1, 0.2)))
  planned <- function(scenarios, ...) dpts_plan(policy_randomised(mu = 1), scenarios, 40, runs = 2, seed = 1, ...)
  large <- x$plan
  large$failures <- 2
  large$width <- 12.5
  part <- x$plan
  part$failures <- 1.5
  part$width <- 2.5
  bare_label <- x$reproduction_privacy
  bare_label$policy <- as.character(bare_label$policy)
  tell(
    tbl_sum(bare_label), whole(c(1, 3e9)), whole(c(1, 2^31 - 1)), gone(6, Inf), gone(7, Inf), gone(6, 0), gone(7, 0), tbl_sum(planned(seven(6, letters[1:6]))), words_scenarios(planned(seven(7)[1:6])), tbl_sum(planned(strata, by = "stratum")),
    tbl_sum(planned(two_arms(), control = 1, margin = 0.1, visits = 2, max_per_person = 1, outcomes = list(harm = agent_outcome(missing = 0)), rates = list(harm = c(0.1, 0.2)))),
    format(large), format(part), plan_text(x$plan[c(1, 1), ], NULL),
    failures(x$simulation), failures(wild), failures(wilder), failures(wild[wild$run == 1, ]),
    table_missing(kept, list(a = policy_local(policy_ucb1(), 1)), rep(TRUE, 5)), table_missing(kept, list(a = policy_dp_imed(1)), rep(FALSE, 5)),
    table_missing(data.frame(policy = c("a", "a")), list(), TRUE), refuse_table("history", "a"), refuse_table("bits", "a"), refuse_table("many", "a"), refuse_table("range", "a"),
    words_runs_each(c(5, 5)), words_runs_each(c(1, 5)), words_runs_each(1), words_replay(c(3, 3), 0.9), words_replay(c(1, 3), 0.9), delays_as_words(c(5000, 0, 7)),
    words_unlearnt(delays(c(0, 50), c(0, 51))), words_unlearnt(delays(c(50, 50, 9), c(50, 51, 9))), words_unlearnt(delays(c(50, 50), c(50, 49))), words_unlearnt(data.frame(delay = 1)),
    words_late(NULL, 1), words_late(0, 1), words_late(1, 2), words_late(c(0, 5), 1), words_late(mean, 1000), words_weight(c(1.23456, 0.0567)),
    words_looks(NULL), words_looks(looks), words_looks(utils::modifyList(looks, list(spending = "obrien_fleming"))), words_dropout(NULL), words_dropout(c(0.1, 0.1)), words_dropout(c(0.1, 0.2345)),
    words_dropout(1:8 / 10), words_dropout(1:9 / 10), words_visits(NULL), words_visits(list(number = 3, apart = Inf, most = Inf)), words_visits(list(number = 3000, apart = 2, most = 2)),
    words_claims(NULL, NULL), words_claims("a", NULL), words_claims(NULL, 0.1), words_claims("a", 0.1), words_row(c(t = 1e6, n = 2)), words_row(list(policy = "a", t = 20000)),
    words_unreleased(character()), words_unreleased("a"), words_unreleased(c("a", "b")), words_conditions(NULL), words_conditions(1, FALSE), words_conditions(2, TRUE),
    words_number("a number", 1, Inf, TRUE), words_whole(1e15), format_up(c(1.23456, 1e-9), 3), format_up(1 / 3, 15), format_up(1 / 3, 14), short(1e9), short(999999999), shorts(c(a = 0.5, b = 999.96)), shorts(c(0, 0.5)), shorts(c(1, NA)), shorts(1000),
    count_noun(1, "arm"), count_noun(0, "arm"), count_noun(2, "policy", "policies"), format_seconds(0), format_seconds(1.5), format_seconds(1234567), code_text(c(a = 1L, b = 2L)), code_text(1 / 3),
    warn_never(c(1, 10, 2000), 10), warn_never(9, 10), warn_never(1, 1), warn_certain(list(n = 2e5), 0, "b"), warn_certain(list(n = 2e5), 1, "b"), warn_weights(c(1.3, 0.05), "x"), warn_weights(c(1.2, 0.05), "x"),
    warn_weights(c(0.7, 0.05), "x"), warn_weights(c(0.7, 0.05), "x", lacking = TRUE), warn_weights(c(1.011, 0.001), "x"), warn_weights(c(1.01, 0.001), "x"), warn_overlap(list(n = 500), 9.99), warn_overlap(list(n = 500), 10),
    warn_unseen_target(list(shown = c(0, 1), arms = c("u", "v")), list(plays = c(TRUE, TRUE))), warn_unseen_target(list(shown = c(0, 1), arms = c("u", "v")), list(plays = c(FALSE, TRUE))),
    warn_shortened(list(a = policy_linucb(1, norm = 2), b = policy_linucb(1)), c(0.123, 0)), warn_shortened(list(a = policy_linucb(1, norm = 2)), NA), check_state_fits(terms), check_state_fits(c(terms, list(strata = "a"))),
    describe_thing(two_arms()), describe_thing(policy_ucb1()), describe_thing(privacy_pure(1)), describe_thing("a"), describe_thing(2e6), describe_thing(1:2), describe_thing(dpts_experiment("ou-1")),
    label_late("delay", 0, 0), label_late("delay", c(1, 5), 0), label_late("delay", mean, 0), label_late("batch", 2000, 1), label_late("batch", NULL, 1),
    abort_other("a", policy_ucb1(), policy_uniform()), abort_other("a", policy_ucb1(), policy_ucb1()), abort_differs("horizon", 10, 2000), abort_differs("terms", list(a = 1, b = 2), list(a = 1, b = 3)),
    abort_differs("log", list(1), list(2)), figure_alt(list(source = "S"), "what", "At", rep("p", 7), letters[1:7], 7:1), figure_alt(list(source = "S"), "what", "At", rep(c("p", "q\nr"), 3), letters[1:6], 6:1),
    tbl_sum(x$simulation), tbl_sum(rbind(easy = x$simulation, hard = dpts_simulate(arms_bernoulli(c(0.5, 0.4, 0.1)), policy_dp_klucb(1e-3), 3, runs = 1, seed = 2))),
    tbl_sum(seeded), tbl_sum(seeded[seeded$run < 5, ]), tbl_sum(seeded[seeded$run < 3, ]), tbl_sum(dpts_simulate(two_arms(), policy_ucb1(), 5, runs = 1, seed = 1, delay = 5, batch = 10)),
    tbl_sum(dpts_audit(policy_ts_gaussian(), 1, streams = "silent", runs = 100, seed = 1)), tbl_sum(dpts_ope(random_log(), "uniform", clip = 0.5)),
    tbl_sum(x$replay), tbl_sum(x$tuning), tbl_sum(x$privacy), tbl_sum(x$identification), tbl_sum(x$identification[0, ]),
    tbl_sum(structure(tibble::tibble(a = 1), needed = list(c(100, 2000, Inf)), class = c("dpts_forecast", "tbl_df", "tbl", "data.frame"))),
    format(x$plan), format(x$plan, width = 40), format(x$plan, width = 25), format(x$plan[x$plan$people == 100, ], width = 60), advice(x$recommendation, 80),
    advice(advice_of(cbind(c(1, 2, 3, 2), c(2, 3, 4, 3), c(100, 101, 102, 99))), 80), advice(advice_of(cbind(c(1, 2, 3, 500))), 80),
    advice(advice_of(cbind(c(1, 2, 3, 2), c(8, 9, 9, 8)), c(NA, 50), c(u = "no room", v = "no room", w = "other"), panel = TRUE), 80)
  )
}

# What verbs make of each of the results, but for attacks without a seed
tell_verbs <- function() {
  for (name in setdiff(names(results()), "audit")) for (verb in c("summary", "tidy", "glance")) {
    cat(name, verb, digests(get(verb)(results()[[name]])), "\n")
  }
}

test_that("numbers, checks, objects and tables are in the right words on both sides of each limit", {
  expect_snapshot(tell_checks(), cran = FALSE)
  expect_snapshot(tell_objects(), cran = FALSE)
  expect_snapshot(tell_words(), cran = FALSE)
  expect_snapshot(tell_verbs(), cran = FALSE)
})
