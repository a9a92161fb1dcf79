# dpts beside two other packages on one problem: ten Bernoulli arms, 10,000 rounds, 20 runs, Beta Thompson sampling and
# UCB1, one thread each. Processor seconds, and mean regrets, which show that the same was played.
#   SMPYBANDITS=folder PYTHON=python3 Rscript bench/peers.R > bench/peers.md
# SMPYBANDITS: where SMPyBandits' sources are (for Python with numpy); contextual is an R package. One that is not there
# is named as such.
library(dpts)
means <- seq(0.1, 0.55, length.out = 10)
horizon <- 1e4
runs <- 20
rows <- list()
row <- function(package, version, policy, seconds, regret) {
  rows[[length(rows) + 1]] <<- sprintf("| %s %s | %s | %.2f | %.0f (%.0f) |", package, version, policy, seconds,
                                       mean(regret), sd(regret) / sqrt(length(regret)))
}
missing <- character()

used <- function(code) sum(system.time(code)[c(1, 2, 4, 5)], na.rm = TRUE) # with child processes

policies <- list("Thompson sampling" = policy_ts_beta(), UCB1 = policy_ucb1())
for (name in names(policies)) {
  for (rounds in list(1, I(seq_len(horizon)))) {
    seconds <- used(sim <- dpts_simulate(arms_bernoulli(means), policies[name], horizon, runs = runs, seed = 1,
                                         record = rounds, threads = 1))
    what <- if (inherits(rounds, "AsIs")) "every round recorded" else "the last round recorded"
    row("dpts", packageVersion("dpts"), paste(name, what, sep = ", "), seconds, sim$regret[sim$t == horizon])
  }
}

if (requireNamespace("contextual", quietly = TRUE)) {
  few <- 2 # which take a minute; the seconds are those of 20 runs
  theirs <- list("Thompson sampling" = contextual::ThompsonSamplingPolicy, UCB1 = contextual::UCB1Policy)
  for (name in names(theirs)) {
    seconds <- used({
      agent <- contextual::Agent$new(theirs[[name]]$new(), contextual::BasicBernoulliBandit$new(weights = means))
      history <- contextual::Simulator$new(agent, horizon = horizon, simulations = few, do_parallel = FALSE,
                                           progress_file = FALSE, set_seed = 1)$run()
    })
    data <- as.data.frame(history$get_data_table())
    regret <- tapply(max(means) - means[data$choice], data$sim, sum)
    row("contextual", packageVersion("contextual"), sprintf("%s, %s runs times %s", name, few, runs / few),
        seconds * runs / few, regret)
  }
} else missing <- c(missing, "contextual")

python <- Sys.getenv("PYTHON", "python3")
folder <- Sys.getenv("SMPYBANDITS")
script <- tempfile(fileext = ".py")
writeLines(c(
  "import sys, numpy as np",
  "folder, name, runs, horizon = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])",
  "sys.path[:0] = [folder + '/SMPyBandits/Policies', folder + '/SMPyBandits/Arms']",
  "from Bernoulli import Bernoulli",
  "if name == 'UCB1': from UCB import UCB as Policy",
  "else: from Thompson import Thompson as Policy",
  "means = [float(x) for x in sys.argv[5:]]",
  "gap = max(means) - np.array(means)",
  "for run in range(runs):",
  "    np.random.seed(run)",
  "    arms, policy, regret = [Bernoulli(m) for m in means], Policy(len(means)), 0.0",
  "    policy.startGame()",
  "    for t in range(horizon):",
  "        a = policy.choice()",
  "        policy.getReward(a, arms[a].draw())",
  "        regret += gap[a]",
  "    print(regret)"
), script)
if (nzchar(folder) && dir.exists(file.path(folder, "SMPyBandits"))) {
  setup <- readLines(file.path(folder, "setup.py"))
  version <- sub('.*"(.*)".*', "\\1", grep("^version *=", setup, value = TRUE)[1])
  for (name in names(policies)) {
    seconds <- used(out <- system2(python, c("-W", "ignore", script, folder, shQuote(name), runs, sprintf("%d", horizon),
                                             means), stdout = TRUE, stderr = FALSE))
    row("SMPyBandits", version, name, seconds, as.numeric(out[!is.na(suppressWarnings(as.numeric(out)))]))
  }
} else missing <- c(missing, "SMPyBandits")

cat("# dpts beside other packages\n\n`Rscript bench/peers.R`: ten Bernoulli arms of means ", means[1], " to ", means[10],
    ", ", format(horizon, big.mark = ","), " rounds, ", runs, " runs, one thread. Processor seconds of all runs;\n",
    "mean regret with its standard error. The seconds of SMPyBandits have the start of Python. ", R.version.string, ".\n\n",
    "| package | policy | seconds | regret |\n| --- | --- | ---: | ---: |\n", paste(unlist(rows), collapse = "\n"), "\n",
    if (length(missing)) paste0("\nNot there, so not measured: ", paste(missing, collapse = ", "), ".\n"), sep = "")
