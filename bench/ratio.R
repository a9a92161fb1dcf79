# The warning of a service's page that arms were not chosen as often as their chances say (sample ratio mismatch):
# how often it comes in lives of agents in which nothing is wrong, but arms come, go, pause and are left out, and how
# often it is seen that an arm came a tenth more or less often than the chances that were told.
# `Rscript bench/ratio.R > bench/ratio.md`; how many lives as its argument, SEED in the environment. An agent's tosses
# are live: no seed repeats them. 1,000 lives take five minutes of a processor.

suppressMessages(library(dpts))
lives <- as.integer(c(commandArgs(TRUE), 1000)[1])
ALARM <- 1e-5 # the page's
chance <- function(p) stats::runif(1) < p

# The life of an agent, with changes -> the p-value of its page
life <- function(people, k) {
  strata <- if (chance(0.3)) c("north", "south")
  policy <- policy_randomised(mu = 1, block = sample(c(25, 100, 400), 1), floor = 0.1,
                              rule = sample(c("equal", "thompson", "neyman"), 1))
  agent <- dpts_agent(policy, letters[seq_len(k)], use = "arrival", strata = strata)
  on.exit(agent_close(agent))
  mean <- stats::runif(k + 3, 0.2, 0.6)
  status <- rep("active", k)
  for (i in 1:10) {
    n <- people / 10
    on <- which(status == "active")
    offer <- if (length(on) > 2 && chance(0.3)) sample(on, length(on) - 1)
    x <- agent_choose(agent, n, offer = offer, stratum = if (!is.null(strata)) sample(strata, n, TRUE))
    some <- sample(n, ceiling(0.9 * n))
    agent_reward(agent, x$ticket[some], stats::rbinom(length(some), 1, mean[as.integer(x$arm[some])]))
    if (chance(0.4)) next
    paused <- which(status == "paused")
    if (length(paused) && chance(0.5)) {
      agent_arms(agent, resume = paused)
      status[paused] <- "active"
    } else if (is.null(strata) && length(status) < k + 3 && chance(0.4)) {
      agent_arms(agent, add = paste0("new", length(status)))
      status <- c(status, "active")
    } else if (length(on) > 2) {
      how <- if (chance(0.8)) "pause" else "retire"
      arm <- on[sample.int(length(on), 1)]
      do.call(agent_arms, c(list(agent), stats::setNames(list(arm), how)))
      status[arm] <- paste0(how, "d")
    }
  }
  # As overview() of R/agent-page.R has it
  dpts:::agent_look(agent, function(tx) dpts:::update_totals(agent, tx))
  dpts:::sample_ratio(agent$totals$sums, pulls(agent)$pulls, agent$offered)
}

# Tosses in blocks of 100, of which the first arm gets `more` times as many as its chance says. The chance is equal
# for all arms or, if it moves, another one in each block -> p-value
mismatch <- function(people, k, more, moves) {
  blocks <- people / 100
  first <- if (moves) stats::runif(blocks, 0.3, 0.7) else rep(1 / k, blocks)
  told <- cbind(first, matrix((1 - first) / (k - 1), blocks, k - 1))
  true <- cbind(more * first, matrix((1 - more * first) / (k - 1), blocks, k - 1))
  n <- t(vapply(seq_len(blocks), function(b) as.numeric(stats::rmultinom(1, 100, true[b, ])), numeric(k)))
  sums <- cbind(colSums(n), colSums(n / told), colSums(n * (1 - told) / told^2))
  dpts:::sample_ratio(sums, sums[, 1], rep(people, k))
}

seed <- as.integer(Sys.getenv("SEED", "1"))
set.seed(seed)
cat(sprintf("# Are arms chosen as often as their chances say?\n\n`SEED=%d Rscript bench/ratio.R %d`:", seed, lives),
    sprintf("*warned* is the share of lives whose page says that something is wrong (p < %g).\n\n", ALARM))
row <- function(what, k, people, n, p) {
  cat(sprintf("| %s | %d | %s | %s | %.3f | %.3f |\n", what, k, format(people, big.mark = ","), format(n, big.mark = ","),
              mean(p < ALARM), mean(p < 0.01)))
}
cat("| what | arms | people | lives | warned | p < .01 |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
for (k in 2:3) for (moves in c(FALSE, TRUE)) for (people in c(3000, 6000, 12000)) {
  p <- vapply(seq_len(lives), function(i) mismatch(people, k, if (i %% 2) 1.1 else 0.9, moves), 0)
  row(paste("one arm a tenth more or less often;", if (moves) "its chance is .3 to .7" else "equal chances"), k, people, lives, p)
}
p <- vapply(seq_len(lives), function(i) as.numeric(life(500, 3)), 0)
row("agents whose arms come, go, pause, are left out", 3, 500, lives, p)
if (anyNA(p)) cat("\n", sum(is.na(p)), "pages without a test\n")
