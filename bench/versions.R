# Is one version of dpts slower than another? Both are installed, each in a library of its own:
#   Rscript bench/versions.R LIBRARY_BEFORE LIBRARY_AFTER [rounds of measuring, default 5]
# prints bench/versions.md: for each policy and way of running, the processor time of the version
# after over that of the version before. The two versions take turns, each in a process of its own,
# and the least time of each counts, so that a busy machine disturbs both alike.

arguments <- commandArgs(TRUE)

# One measuring round: what a child process does with the version in the library it was given
measure <- function(library, file) {
  library("dpts", lib.loc = library, character.only = TRUE, warn.conflicts = FALSE)
  # The engine option's name before the contract of choose, commit and update
  engine <- function(name) options(dpts.engine = name, dpts.skip = name != "plain")
  now <- function(code) {
    time <- system.time(code())
    time[["user.self"]] + time[["sys.self"]]
  }
  # Settings that both versions take and that mean the same
  imed <- function(policy) policy(1, ratio = 1.5, first = 16)
  five <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
  policies <- list(
    ts_gaussian = policy_ts_gaussian(), ts_gaussian_prepulls = policy_ts_gaussian(500, 14),
    ts_beta = policy_ts_beta(), ucb1 = policy_ucb1(), imed = policy_imed(), klucb = policy_klucb(),
    gaussian_imed = imed(policy_gaussian_imed), dp_imed = imed(policy_dp_imed),
    lazy_gaussian_ts = policy_lazy_gaussian_ts(1, correlation = 0), adac_ucb = policy_adac_ucb(1),
    adap_ucb = policy_adap_ucb(1), lazy_ucb = policy_lazy_ucb(1), lazy_dp_ts = policy_lazy_dp_ts(1),
    dp_se = policy_dp_se(1), dp_ts_ucb = policy_dp_ts_ucb(0.5), mt_ucb = policy_mt_ucb(1),
    mt_ts = policy_mt_ts(1, tuned = TRUE), dp_ts = policy_dp_ts(1),
    dp_ucb_bound = policy_dp_ucb_bound(1), dp_ucb_int = policy_dp_ucb_int(1),
    uniform = policy_uniform()
  )
  times <- list()
  play <- function(policy, horizon, runs, arms = five) {
    now(function() dpts_simulate(arms, policy, horizon, runs = runs, seed = 1, record = 10,
                                 progress = FALSE))
  }
  engine("plain")
  # Long runs where a round takes nanoseconds: what a call costs before and after them is a row of its own
  heavy <- c("imed", "klucb", "lazy_gaussian_ts", "lazy_dp_ts", "mt_ts", "dp_ts", "ts_beta", "ts_gaussian",
             "ts_gaussian_prepulls", "mt_ucb", "dp_ucb_bound", "dp_ucb_int")
  for (name in names(policies)) {
    rounds <- if (name %in% heavy) 1e6 else 1e7
    times[[paste("plain", name)]] <- min(replicate(2, play(policies[[name]], rounds, 1)))
  }
  times[["200 calls of 10 rounds"]] <- now(function() {
    for (i in 1:200) dpts_simulate(five, policies$uniform, 10, runs = 1, seed = 1, progress = FALSE)
  })
  engine("auto")
  # Policies that skip: long runs, many or few as their cost asks
  for (name in c("ts_gaussian", "ts_beta", "ucb1", "gaussian_imed", "dp_imed", "adac_ucb",
                 "adap_ucb", "lazy_ucb", "lazy_dp_ts", "dp_se", "dp_ts_ucb")) {
    times[[paste("skip", name)]] <- play(policies[[name]], 1e7, 300)
  }
  for (name in c("imed", "klucb", "lazy_gaussian_ts")) {
    times[[paste("skip", name)]] <- play(policies[[name]], 1e7, 2)
  }
  times[["lanes ts_gaussian_prepulls"]] <- play(policies$ts_gaussian_prepulls, 4e5, 64)
  log <- open_bandit[open_bandit$logger == "random", ]
  log <- log[rep(seq_len(nrow(log)), 10), ]
  for (name in c("ucb1", "ts_gaussian", "gaussian_imed", "lazy_ucb")) for (delay in c(0, 100)) {
    times[[paste0("replay ", name, ", delay ", delay)]] <- now(function() {
      dpts_replay(log, policies[[name]], delay = delay, runs = 3, seed = 1, progress = FALSE)
    })
  }
  many <- arms_bernoulli(c(0.9, (1:999 / 1e3) * 0.8))
  for (name in c("ucb1", "gaussian_imed", "lazy_ucb", "ts_gaussian")) {
    times[[paste("1,000 arms", name)]] <- play(policies[[name]], 1e5, 1, many)
  }
  saveRDS(unlist(times), file)
}

if (identical(arguments[1], "--measure")) {
  measure(arguments[2], arguments[3])
  quit("no")
}
if (length(arguments) < 2) stop("two libraries are needed: before and after")
rounds <- if (length(arguments) > 2) as.integer(arguments[3]) else 5L
script <- sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)[1])
once <- function(library) {
  file <- tempfile(fileext = ".rds")
  status <- system2(file.path(R.home("bin"), "Rscript"),
                    c(shQuote(script), "--measure", shQuote(library), shQuote(file)))
  if (status != 0) stop("the version in ", library, " could not be measured")
  readRDS(file)
}
times <- lapply(seq_len(rounds), function(round) lapply(arguments[1:2], once))
least <- lapply(1:2, function(i) do.call(pmin, lapply(times, `[[`, i)))
ratio <- least[[2]] / least[[1]]
lines <- c("# One version against another", "",
           sprintf("Written by `bench/versions.R`: least processor time of %d, versions in turn.",
                   rounds), "",
           "| what | before, s | after, s | after / before |", "| --- | --- | --- | --- |",
           sprintf("| %s | %.3f | %.3f | %.2f |", names(ratio), least[[1]], least[[2]], ratio))
writeLines(lines)
writeLines(lines, file.path(dirname(script), "versions.md"))
