# Any junk in any argument of an exported function: an error with a class of its own, or a value, and soon.

skip_on_cran() # takes seconds

# A backtrace and the user's call take twenty times as long as a check.
withr::local_options(dpts.service = TRUE, `rlang:::disable_trace_capture` = TRUE)

usual <- usual_arguments()
own <- own_arguments(usual)

test_that("calls with junk in one argument end in a classed error or a value", {
  withr::local_dir(withr::local_tempdir())
  calls <- junk_calls()
  expect_gt(length(unique(calls$f)), 100)
  withr::local_seed(25)
  if (!extended()) calls <- calls[sample(nrow(calls), 90), ]
  junk <- junk_values()
  faults <- lapply(seq_len(nrow(calls)), function(i) junk_fault(calls[i, ], usual, junk, own = own))
  expect_identical(unlist(faults), NULL)
})

test_that("what no argument takes is refused by its name, and a flag is TRUE or FALSE", {
  withr::local_dir(withr::local_tempdir())
  calls <- unique(junk_calls()[c("f", "argument")])
  # These need a file, a database or a browser before they read the rest.
  calls <- calls[!calls$f %in% c("log_file", "log_query", "policy_compiled", "read_yahoo_r6", "read_open_bandit",
                                 "agent_serve", "dpts_explore"), ]
  said <- lapply(seq_len(nrow(calls)), function(i) {
    name <- calls$f[i]
    at <- calls$argument[i]
    args <- junk_arguments(name, at, usual, own = own)
    is_flag <- as.character(formals(get(name, asNamespace("dpts")))[at]) %in% c("TRUE", "FALSE")
    if (is.null(args) || paste(name, at) %in% c("arms_strata share", "privacy_compose horizon", "privacy_compose arms")) return(NULL)
    lapply(c(list(emptyenv()), if (is_flag) list(NA)), function(junk) {
      args[at] <- list(junk)
      e <- tryCatch({
        utils::capture.output(suppressMessages(force(do.call(name, args, quote = TRUE, envir = asNamespace("dpts")))))
        NULL
      }, error = identity)
      named <- inherits(e, "dpts_error_input") && grepl(paste0("`", at), conditionMessage(e), fixed = TRUE)
      c(named = named, said = sprintf("%s(%s): %s", name, at, if (is.null(e)) "a value" else conditionMessage(e)))
    })
  })
  said <- do.call(rbind, unlist(said, recursive = FALSE))
  expect_gt(nrow(said), 500)
  expect_identical(unname(said[said[, "named"] == "FALSE", "said"]), character())
  # What each must be: its kind and its range. A change of one is a change for users. (rlang has its own words.)
  must <- sub(",? not .*", "", grep("one of|character vector", said[, "said"], value = TRUE, invert = TRUE))
  expect_snapshot(cat(unique(must), sep = "\n"))
})

test_that("text that is none, or missing, is refused by name", {
  expect_input <- function(x, arg) expect_error(x, paste0("`", arg, "`"), class = "dpts_error_input")
  for (text in c(NA, "\xff")) {
    expect_input(dpts_simulate(arms_bernoulli(c(0.6, 0.4)), text, 10), "policies")
    expect_input(dpts_agent(policy_ucb1(), text, use = "arrival"), "arms")
    expect_input(policy_custom(text, function(k, horizon) 0, function(s, r) 1, function(s, f) s), "name")
  }
  expect_input(agent_api(dpts_agent(policy_ucb1(), 2, use = "arrival"), token = "\xff"), "token")
})

test_that("so do the digits and the width of a print", {
  junk <- junk_values()
  sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_randomised(), 400, runs = 1, seed = 1, history = TRUE)
  plan <- dpts_plan(policy_uniform(), arms_bernoulli(c(0.6, 0.4)), 50, runs = 2, seed = 1)
  things <- list(digits = arms_bernoulli(0.5), digits = policy_dp_imed(1)$guarantee,
                 digits = policy_ucb1(), width = verdict(sim), width = plan, width = privacy_statement(plan))
  faults <- Map(function(what, thing) {
    lapply(junk, function(value) {
      tryCatch({
        do.call(format, c(list(thing), stats::setNames(list(value), what)), quote = TRUE)
        NULL
      }, dpts_error_input = function(e) NULL, error = function(e) paste(class(thing)[1], conditionMessage(e)))
    })
  }, names(things), things)
  expect_identical(unlist(faults), NULL)
})

test_that("the sweep sees what it is to see", {
  bad <- function(x) stop("bare")
  namespace <- new.env()
  namespace$bad <- bad
  row <- list(f = "bad", argument = "x", junk = "na")
  expect_match(junk_fault(row, list(), junk_values(), namespace), "bad(x = <na>): bare [simpleError]", fixed = TRUE)
  namespace$bad <- function(x) check_count(x)
  expect_null(junk_fault(row, list(), junk_values(), namespace))
})
