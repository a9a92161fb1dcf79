# Speed, as ratios measured side by side in this one run: `make bench`, or
#   Rscript bench/run.R [quick]
# Prints the tables, writes them to bench/RESULTS.md and the plot to bench/horizon.png.
# A single thread unless a table says otherwise. Every time is the least of three, in
# processor time for one thread and in elapsed time for several.

library(dpts)

quick <- "quick" %in% commandArgs(TRUE)
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)[1]))
five <- c(0.75, 0.625, 0.5, 0.375, 0.25)
out <- character()
say <- function(...) {
  line <- paste0(...)
  cat(line, "\n", sep = "")
  out <<- c(out, line)
}
table_of <- function(data) {
  cell <- function(x) if (is.numeric(x)) formatC(x, digits = 3, format = "g") else x
  text <- vapply(data, cell, character(nrow(data)))
  text <- matrix(text, nrow = nrow(data))
  say("| ", paste(names(data), collapse = " | "), " |")
  say("|", strrep(" --- |", ncol(data)))
  for (i in seq_len(nrow(data))) say("| ", paste(text[i, ], collapse = " | "), " |")
  say("")
}
least <- function(code, elapsed = FALSE, times = 3) {
  min(replicate(times, {
    time <- system.time(code())
    if (elapsed) time[["elapsed"]] else time[["user.self"]] + time[["sys.self"]]
  }))
}

#' Seconds a run. engine: "plain" (every round in the C loop), "skip", "lanes", or "auto" (dpts
#' decides)
seconds <- function(engine, arms, policy, horizon, runs, threads = 1, times = 3) {
  old <- options(dpts.engine = engine)
  on.exit(options(old))
  play <- function() {
    dpts_simulate(arms, policy, horizon, runs = runs, seed = 1, record = 10,
                  threads = threads, progress = FALSE)
  }
  least(play, threads > 1, times) / runs
}

# ---- what a user could do without dpts -------------------------------------------------

#' Gaussian Thompson sampling, one run, as one would write it first
r_loop <- function(means, c, horizon) {
  k <- length(means)
  s <- n <- numeric(k)
  for (t in seq_len(horizon)) {
    i <- which.max(rnorm(k, s / (n + 1), sqrt(c / (n + 1))))
    s[i] <- s[i] + (runif(1) < means[i])
    n[i] <- n[i] + 1
  }
}

#' The same, all runs at once: a row a run
r_vectorised <- function(means, b, c, horizon, runs) {
  k <- length(means)
  n <- matrix(b, runs, k)
  s <- matrix(rbinom(runs * k, b, rep(means, each = runs)), runs, k)
  row <- seq_len(runs)
  for (t in seq_len(horizon)) {
    theta <- s / (n + 1) + sqrt(c / (n + 1)) * rnorm(runs * k)
    at <- cbind(row, max.col(theta, "first"))
    s[at] <- s[at] + (runif(runs) < means[at[, 2]])
    n[at] <- n[at] + 1
  }
}

# ---- machine ---------------------------------------------------------------------------

cpu <- tryCatch({
  info <- readLines("/proc/cpuinfo")
  sub(".*: *", "", grep("model name", info, value = TRUE)[1])
}, error = function(e) "unknown processor", warning = function(w) "unknown processor")
flags <- tryCatch(grep("^flags", readLines("/proc/cpuinfo"), value = TRUE)[1],
                  error = function(e) "", warning = function(w) "")
units <- c("AVX2", "AVX-512")[c(grepl(" avx2 ", flags), grepl(" avx512dq ", flags))]
say("# Benchmarks")
say("")
say("Written by `bench/run.R`. Machine: ", cpu, ", ", parallel::detectCores(), " cores",
    if (length(units)) paste0(" with ", paste(units, collapse = ", ")), "; ",
    R.version.string, "; dpts ", format(utils::packageVersion("dpts")), ".")
say("Ratios are of times measured in this run; the times themselves are this machine's, ",
    "as busy as it was.")
say("")

# ---- one problem, every way to run it --------------------------------------------------

arms <- arms_bernoulli(five)
say("## Five Bernoulli arms (0.75 to 0.25), Gaussian Thompson sampling, horizon 1e5")
say("")
rounds <- 1e5
one <- function(b, c) {
  policy <- policy_ts_gaussian(b, c)
  loop <- if (quick) 5e3 else 2e4
  vector <- if (quick) 100 else 400
  time <- c(
    "dpts, its choice" = seconds("auto", arms, policy, rounds, 64) / rounds,
    "dpts, skipping" = seconds("skip", arms, policy, rounds, 64) / rounds,
    "dpts, lanes" = seconds("lanes", arms, policy, rounds, 64) / rounds,
    "dpts, plain C loop" = seconds("plain", arms, policy, rounds, 10) / rounds,
    "R vectorised over 1,000 runs" =
      least(function() r_vectorised(five, b, c, vector, 1000)) / vector / 1000,
    "R loop" = least(function() r_loop(five, c, loop)) / loop
  )
  data.frame(way = names(time), `ns a round` = 1e9 * time,
             `rounds a second` = 1 / time,
             `times R vectorised` = time[["R vectorised over 1,000 runs"]] / time,
             check.names = FALSE)
}
for (bc in list(c(0, 1), c(500, 14))) {
  say("prepulls = ", bc[1], ", variance_scale = ", bc[2], ":")
  say("")
  table_of(one(bc[1], bc[2]))
}
if (requireNamespace("contextual", quietly = TRUE)) {
  rounds_c <- 2000
  time <- least(function() {
    bandit <- contextual::BasicBernoulliBandit$new(five)
    agent <- contextual::Agent$new(contextual::ThompsonSamplingPolicy$new(1, 1), bandit)
    contextual::Simulator$new(agent, rounds_c, 1, do_parallel = FALSE)$run()
  }) / rounds_c
  say("CRAN's contextual (Beta Thompson sampling, the same arms): ",
      formatC(1e9 * time, digits = 3, format = "g"), " ns a round.")
} else {
  say("No CRAN package that runs these arms is installed here (contextual would be timed).")
}
say("")

say("## Other policies, the same arms, horizon 1e5")
say("")
policies <- list("Gaussian TS" = policy_ts_gaussian(), "Beta TS" = policy_ts_beta(),
                 UCB1 = policy_ucb1(), IMED = policy_imed(), "KL-UCB" = policy_klucb())
table_of(do.call(rbind, lapply(names(policies), function(name) {
  plain <- seconds("plain", arms, policies[[name]], 1e5, 10)
  auto <- seconds("auto", arms, policies[[name]], 1e5, 50)
  data.frame(policy = name, `plain: rounds a second` = 1e5 / plain,
             `dpts: ms a run` = 1e3 * auto, `plain / dpts` = plain / auto,
             check.names = FALSE)
})))

# ---- a policy in R ----------------------------------------------------------------------

say("## A policy in R: the example of policy_custom(), epsilon-greedy, horizon 1e5, one thread")
say("")
greedy <- policy_custom(
  "epsilon-greedy",
  start = function(k, horizon) list(n = numeric(k), sum = numeric(k)),
  choose = function(state, round) {
    if (runif(1) < 0.1 || any(state$n == 0)) return(round$offer[which.min(state$n)])
    which.max(state$sum / state$n)
  },
  update = function(state, feedback) {
    arm <- feedback$arm
    state$n[arm] <- state$n[arm] + 1
    state$sum[arm] <- state$sum[arm] + feedback$reward
    state
  }
)
time <- seconds("plain", arms, greedy, 1e5, 5)
table_of(data.frame(`rounds a second` = 1e5 / time, `times UCB1 in C, plain loop` =
                      seconds("plain", arms, policy_ucb1(), 1e5, 10) / time, check.names = FALSE))

# ---- the floor -------------------------------------------------------------------------

say("## The floor: what drawing the normals alone costs")
say("")
n <- 2e6
normal <- function(kind) least(function() .Call(dpts:::C_sample, kind, n, numeric(), 1)) / n * 1e9
floor_plain <- 5 * normal("normal")
floor_lanes <- 5 * normal("normal_lanes")
plain <- 1e9 * seconds("plain", arms, policy_ts_gaussian(500, 14), 1e5, 10) / 1e5
lanes <- 1e9 * seconds("lanes", arms, policy_ts_gaussian(500, 14), 1e5, 64) / 1e5
table_of(data.frame(
  engine = c("plain C loop (ziggurat)", "lanes (Box and Muller, 24 bits)"),
  `ns a round` = c(plain, lanes), `floor: 5 normals, written to memory, ns` = c(floor_plain, floor_lanes),
  `times the floor` = c(plain / floor_plain, lanes / floor_lanes), check.names = FALSE
))
say("Skipping is far below the floor: it draws a number of variates that grows with the ",
    "logarithm of the horizon.")
say("")

# ---- by horizon ------------------------------------------------------------------------

say("## By horizon: five arms, Gaussian TS with prepulls = 0, variance_scale = 1")
say("")
horizons <- 10^(4:12)
by_horizon <- do.call(rbind, lapply(horizons, function(horizon) {
  plain <- if (horizon <= (if (quick) 1e6 else 1e7)) {
    seconds("plain", arms, policy_ts_gaussian(), horizon, max(1, 1e6 / horizon), times = 2)
  } else NA
  skip <- seconds("skip", arms, policy_ts_gaussian(), horizon, 40)
  beta <- seconds("skip", arms, policy_ts_beta(), horizon, 20)
  ucb1 <- seconds("skip", arms, policy_ucb1(), horizon, 4, times = 2)
  imed <- seconds("skip", arms, policy_imed(), horizon, 4, times = 2)
  data.frame(horizon = horizon, plain = 1e3 * plain, skip = 1e3 * skip,
             `plain / skip` = plain / skip, beta = 1e3 * beta, ucb1 = 1e3 * ucb1,
             imed = 1e3 * imed, check.names = FALSE)
}))
shown <- by_horizon
names(shown) <- c("horizon", "plain loop, ms a run", "skipping, ms a run", "ratio",
                  "Beta TS skipping, ms", "UCB1 skipping, ms", "IMED skipping, ms")
table_of(shown)

curves <- rbind(
  data.frame(horizon = by_horizon$horizon, ms = by_horizon$plain, engine = "plain loop"),
  data.frame(horizon = by_horizon$horizon, ms = by_horizon$skip, engine = "skipping")
)
picture <- ggplot2::ggplot(curves[!is.na(curves$ms), ],
                           ggplot2::aes(horizon, ms, colour = engine, shape = engine)) +
  ggplot2::geom_line() +
  ggplot2::geom_point() +
  ggplot2::scale_x_log10(breaks = horizons[c(1, 3, 5, 7, 9)]) +
  ggplot2::scale_y_log10() +
  ggplot2::scale_colour_manual(values = c("#D55E00", "#0072B2")) +
  ggplot2::labs(x = "Horizon", y = "Milliseconds a run", colour = NULL, shape = NULL,
                title = "Gaussian Thompson sampling, five arms, one thread") +
  ggplot2::theme_bw()
ggplot2::ggsave(file.path(here, "horizon.png"), picture, width = 6, height = 4, dpi = 120)
say("![Time against horizon](horizon.png)")
say("")

# ---- by arms ---------------------------------------------------------------------------

say("## By number of arms: one arm of mean 0.9, the others from 0.8 to 0.1, Gaussian TS")
say("")
table_of(do.call(rbind, lapply(c(2, 5, 20, 100, 1000, if (!quick) 10000), function(k) {
  many <- arms_bernoulli(c(0.9, seq(0.8, 0.1, length.out = k - 1)))
  horizon <- min(1e5, 1e8 / k)
  rounds_plain <- min(horizon, 2e7 / k)
  plain <- seconds("plain", many, policy_ts_gaussian(0, 0.1), rounds_plain, 1) / rounds_plain
  auto <- seconds("auto", many, policy_ts_gaussian(0, 0.1), horizon, 64,
                  times = if (k > 1000) 1 else 3)
  data.frame(arms = k, horizon = horizon, `plain, ns a round` = 1e9 * plain,
             `dpts, 64 runs, ns a round` = 1e9 * auto / horizon,
             ratio = plain * horizon / auto, check.names = FALSE)
})))

# ---- threads ---------------------------------------------------------------------------

say("## Threads (elapsed time of a job of some seconds; the machine's cores may be shared)")
say("")
busy <- tryCatch(sub(" .*", "", readLines("/proc/loadavg")), error = function(e) "unknown",
                 warning = function(w) "unknown")
say("Load average before this table, from the machine's other work too: ", busy, ".")
say("")
if (parallel::detectCores() > 1) {
  jobs <- list(
    "plain loop" = list("plain", policy_ts_gaussian(), 1e6, 40),
    skipping = list("skip", policy_ts_gaussian(0, 3), 1e9, 1000),
    lanes = list("lanes", policy_ts_gaussian(500, 14), 1e6, 128)
  )
  table_of(do.call(rbind, lapply(names(jobs), function(name) {
    job <- jobs[[name]]
    time <- function(threads) {
      old <- options(dpts.engine = job[[1]])
      on.exit(options(old))
      least(function() {
        dpts_simulate(arms, job[[2]], job[[3]], runs = job[[4]], seed = 1, record = 10,
                      threads = threads, progress = FALSE)
      }, elapsed = TRUE, times = if (quick) 2 else 3)
    }
    one <- time(1)
    two <- time(2)
    data.frame(job = name, `1 thread, s` = one, `2 threads, s` = two, ratio = one / two,
               check.names = FALSE)
  })))
}

# ---- the papers, and the accountants ----------------------------------------------------

say("## Every figure of the papers, with dpts_reproduce() at its defaults (seconds, elapsed, 2 threads)")
say("")
old <- options(dpts.threads = 2L)
ids <- dpts_experiment()$id
took <- vapply(ids, function(id) {
  least(function() dpts_reproduce(id, seed = 1, progress = FALSE), elapsed = TRUE,
        times = if (quick) 1 else 2)
}, 0)
options(old)
table_of(data.frame(figure = c(ids, "all"), seconds = c(took, sum(took))))

say("## Accounting and choosing (seconds of processor time)")
say("")
arms5 <- arms_bernoulli(five)
table_of(do.call(rbind, lapply(list(
  list("dpts_privacy(): vanilla Gaussian TS, 1e5 rounds, 12 deltas, all accountants",
       function() dpts_privacy(policy_ts_gaussian(), 1e5)),
  list("dpts_calibrate(): 1e5 rounds, sequence accountant",
       function() dpts_calibrate(privacy_approx(4, 1e-5), 1e5, 500, "sequence", arms = 5)),
  list("dpts_tune(): 1e5 rounds, both accountants, 12 pre-pulls, 20 runs",
       function() dpts_tune(privacy_approx(4, 1e-5), arms5, 1e5, seed = 1, accountant = c("gdp", "sequence")))
), function(job) data.frame(call = job[[1]], seconds = least(job[[2]], times = 1)))))

writeLines(out, file.path(here, "RESULTS.md"))
