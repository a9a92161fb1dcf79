# dpts beside packages of others: Rscript bench/peers.R
# Writes bench/peers.md, and inst/paper/peers.csv, which the article shows. Beta Thompson sampling on five Bernoulli
# arms, one thread, nanoseconds of processor time for each round of a run, the least of three tries. Packages that are not
# installed are left out. PYTHON names the Python that has those of bench/peers.py (python3 unless set).

library(dpts)
means <- c(0.75, 0.625, 0.5, 0.375, 0.25)
arms <- arms_bernoulli(means)
per_round <- function(play, rounds) 1e9 * min(replicate(3, sum(system.time(play())[1:2]))) / rounds

ours <- function(horizon, runs, engine) {
  options(dpts.engine = engine)
  per_round(function() dpts_simulate(arms, policy_ts_beta(), horizon, runs = runs, seed = 1, record = I(horizon)), horizon * runs)
}
by_hand <- function(horizon) {
  a <- b <- rep(1, 5)
  for (t in seq_len(horizon)) {
    i <- which.max(rbeta(5, a, b))
    if (runif(1) < means[i]) a[i] <- a[i] + 1 else b[i] <- b[i] + 1
  }
}
contextual <- function(horizon) {
  agent <- contextual::Agent$new(contextual::ThompsonSamplingPolicy$new(1, 1), contextual::BasicBernoulliBandit$new(means))
  invisible(utils::capture.output(contextual::Simulator$new(agent, horizon, 1, do_parallel = FALSE, progress_file = FALSE)$run(),
                                  type = "output"))
}

version <- as.character(utils::packageVersion("dpts"))
found <- rbind(
  data.frame(software = "dpts, the package's choice, T = 1e6", version, nanoseconds = ours(1e6, 20, "auto")),
  data.frame(software = "dpts, the package's choice, T = 1e4", version, nanoseconds = ours(1e4, 100, "auto")),
  data.frame(software = "dpts, plain loop in C", version, nanoseconds = ours(1e5, 5, "plain")),
  data.frame(software = "a loop in R", version = as.character(getRversion()), nanoseconds = per_round(function() by_hand(2e4), 2e4)))
if (requireNamespace("contextual", quietly = TRUE)) {
  found <- rbind(found, data.frame(software = "contextual (R)", version = as.character(utils::packageVersion("contextual")),
                                   nanoseconds = per_round(function() contextual(1000), 1000)))
}
python <- Sys.getenv("PYTHON", "python3")
lines <- if (nzchar(Sys.which(python))) system2(python, "bench/peers.py", stdout = TRUE, stderr = FALSE)
if (length(lines)) {
  theirs <- utils::read.csv(text = lines, header = FALSE, col.names = names(found), colClasses = c("character", "character", "numeric"))
  theirs$software <- c(mabwiser = "MABWiser (Python)", SMPyBandits = "SMPyBandits (Python)")[theirs$software]
  found <- rbind(found, theirs)
}
found$nanoseconds <- signif(found$nanoseconds, 2)
utils::write.csv(found, "inst/paper/peers.csv", row.names = FALSE)
lines <- c(
  "# dpts beside packages of others", "",
  paste("Written by `Rscript bench/peers.R`: Beta Thompson sampling on five Bernoulli arms, one thread, nanoseconds of",
        "processor time for each round of a run, the least of three tries. Those of others are called as their pages show it,",
        "a choice and an update for each round; they do more for each round than is asked for here."), "",
  "| software | version | ns a round |", "| --- | --- | --: |",
  sprintf("| %s | %s | %s |", found$software, found$version, format(found$nanoseconds, big.mark = ",", scientific = FALSE, trim = TRUE, drop0trailing = TRUE)))
writeLines(lines, "bench/peers.md")
