# Other outcomes of the same people and their guards, by the page of agent_outcome(): an outcome is released for the same blocks
# of people as the reward, an arm is paused when its evidence against the control reaches the threshold and not before, and in
# plans a guard pauses an arm that is not worse with the promised probability at most.

guards_setting <- function() {
  k <- whole(2, 4)
  list(k = k, block = whole(8, 30), mu = between(0.3, 20), of_harm = one_of(list(mu = between(0.3, 20)), list(epsilon = between(0.3, 20))),
       guard = one_of(0.02, 0.1, 0.3), error = one_of(0.05, 0.3), control = whole(1, k), worse = one_of("more", "less"),
       harm = one_of(stats::runif(k), sample(c(0.05, 0.9), k, TRUE)), answers = one_of(1, 0.8), steps = whole(5, 15), seed = whole(1, 1e6))
}

referee_model("guards", guards_setting, function(s) {
  old <- options(dpts.clock = function() life_clock$now)
  on.exit(options(old))
  life_clock$now <- 1e9
  minute <- as.difftime(1, units = "mins")
  harm <- do.call(agent_outcome, c(s$of_harm, list(guard = s$guard, worse = s$worse, error = s$error, missing = 1)))
  agent <- dpts_agent(policy_randomised(mu = s$mu, block = s$block, control = s$control), letters[seq_len(s$k)], use = "arrival",
                      deadline = minute, outcomes = list(harm = harm))
  on.exit(agent_close(agent), add = TRUE)
  line <- log((s$k - 1) / s$error)
  paused <- rep(FALSE, s$k)
  sums <- matrix(0, 0, 3) # of each round: arm, reward, harm
  out <- character()
  for (step in seq_len(s$steps)) {
    x <- agent_choose(agent, whole(1, 60))
    arm <- as.integer(x$arm)
    reward <- as.numeric(stats::runif(nrow(x)) < 0.5)
    bad <- as.numeric(stats::runif(nrow(x)) < s$harm[arm])
    says <- stats::runif(nrow(x)) < s$answers
    agent_reward(agent, x$ticket, reward)
    if (any(says)) agent_reward(agent, x$ticket[says], bad[says], outcome = "harm")
    bad[!says] <- 1
    if (any(paused[arm])) out <- c(out, "a paused arm was chosen")
    sums <- rbind(sums, cbind(arm, reward, bad)[!is.na(x$t), , drop = FALSE])
    life_clock$now <- life_clock$now + 61
    status <- agent_arms(agent)$status # deadlines that are past are seen to
    table <- dpts_releases(agent)
    if (!is.null(table$event)) table <- table[is.na(table$event), ]
    if (is.null(table$outcome) || !nrow(table)) next
    of <- lapply(c("reward", "harm"), function(name) table[table$outcome == name, ])
    out <- c(out, unlike("blocks of the outcome", of[[2]]$block, of[[1]]$block), unlike("people of the outcome", of[[2]]$n, of[[1]]$n))
    if (length(out)) return(out)
    own <- own_evidence(of[[2]], s$k, -s$guard)$value
    proof <- if (s$worse == "more") own[, s$control, , drop = FALSE] else own[s$control, , , drop = FALSE]
    proof <- matrix(proof, s$k)
    now <- proof[, ncol(proof)] # blocks that are released together are looked at together
    proof <- apply(proof, 1, max)
    rival <- seq_len(s$k) != s$control
    wrong <- status == "paused" & !(proof >= line - 1e-5 & rival) | status != "paused" & now >= line + 1e-5 & rival
    if (any(wrong)) {
      a <- which(wrong)[1]
      return(sprintf("step %d: \"%s\" is %s, and its evidence was %.4f of %.4f at most", step, letters[a], status[a], proof[a], line))
    }
    paused <- status == "paused"
  }
  if (!exists("of", inherits = FALSE)) return(out)
  # People of blocks without pauses are those of the rounds, in order; sums are true but for the noise.
  full <- unique(of[[1]]$block)
  if (any(paused) || !length(full)) return(out)
  for (i in 1:2) for (b in full) {
    row <- of[[i]][of[[i]]$block == b, ]
    in_b <- sums[(b - 1) * s$block + seq_len(s$block), , drop = FALSE]
    a <- as.integer(row$arm)
    out <- c(out, unlike("people of a block", as.numeric(row$n), as.numeric(tabulate(in_b[, 1], s$k)[a])),
             if (any(abs(row$sum - vapply(a, function(j) sum(in_b[in_b[, 1] == j, 1 + i]), 0)) > 30 * row$scale + 1e-5)) "a sum of a block")
  }
  out
})

# Arms whose harm is above that of the control by the guard and no more
referee_model("false_alarms", function() {
  k <- whole(2, 4)
  list(k = k, block = whole(20, 80), mu = between(0.3, 10), guard = one_of(0.05, 0.2), error = one_of(0.1, 0.4), people = whole(200, 700),
       base = stats::runif(1, 0.1, 0.6), rule = one_of("equal", "thompson", "neyman"), dropout = one_of(0, 0.2), seed = whole(1, 1e6), runs = 40)
}, function(s) {
  rates <- c(s$base, s$base + s$guard * stats::runif(s$k - 1, 0.8, 1))
  policy <- policy_randomised(mu = s$mu, block = s$block, rule = s$rule, control = 1, floor = 0.5 / s$k)
  plan <- dpts_plan(list(d = policy), list(a = arms_bernoulli(sample(c(0.6, rep(0.4, s$k - 1))))), people = s$people, runs = s$runs,
                    outcomes = list(harm = agent_outcome(mu = s$mu, guard = s$guard, error = s$error, missing = 1)),
                    rates = list(harm = rates), dropout = s$dropout, seed = s$seed)
  # People who get lost count as 1 in all arms alike, which brings arms nearer to each other.
  count_errors("false alarms of a guard", round(plan$false_alarms * s$runs), s$runs, s$error)
})
