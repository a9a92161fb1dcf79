# People who come again, by the page of dpts_agent(): which visits are rounds, in which block each is, when blocks end and are
# released, what is in their sums, and what a person is charged; also with a window, in which all that a person does is one visit
# and the mean of all that is reported its reward.

persons_setting <- function() {
  list(m = whole(1, 5), block = whole(5, 12), people = whole(3, 40), mu = one_of(1e3, between(0.1, 2)), k = whole(2, 4),
       rule = one_of("equal", "thompson"), steps = whole(10, 35), answers = one_of(1, 0.9, 0.6), seed = whole(1, 1e6),
       window = one_of(0, 0, between(10, 100)), wait = one_of(Inf, 1000))
}

referee_model("persons", persons_setting, function(s) {
  now <- 1e9
  old <- options(dpts.clock = function() now)
  on.exit(options(old))
  seconds <- function(x) as.difftime(x, units = "secs")
  agent <- dpts_agent(policy_randomised(mu = s$mu, block = s$block, rule = s$rule), letters[seq_len(s$k)], use = "arrival",
                      max_per_person = s$m, window = if (s$window > 0) seconds(s$window),
                      deadline = if (s$wait < Inf) seconds(s$wait) else Inf)
  on.exit(agent_close(agent), add = TRUE)
  rounds <- numeric(s$people) # of each person
  last <- rep(NA, s$people)   # the ticket of a person's last round
  ticket <- character()
  who <- t <- arm <- block <- reward <- since <- numeric()
  said <- list()              # of each ticket, in its window: what was reported
  open <- FALSE
  number <- inside <- missed <- 0
  out <- character()
  for (step in seq_len(s$steps)) {
    now <- now + one_of(0, 1, between(1, 50), between(20, 400)) + if (length(unique(block[is.na(reward)])) > 8) s$window else 0
    # Windows that are over have their reward, then deadlines that are past, of which none is a report's.
    over <- which(is.na(reward) & lengths(said) > 0 & since + s$window <= now)
    reward[over] <- vapply(said[over], mean, 0)
    reward[is.na(reward) & !is.na(t) & lengths(said) == 0 & since + s$wait <= now] <- 0
    n <- one_of(1, 1, 2, whole(1, 8))
    person <- sample.int(s$people, n, TRUE)
    x <- agent_choose(agent, n, person = paste0("p", person))
    for (i in seq_len(n)) {
      p <- person[i]
      waits <- !is.na(last[p]) && is.na(reward[last[p]])
      within <- open && !is.na(last[p]) && block[last[p]] == number
      if (s$window > 0 && !is.na(last[p]) && since[last[p]] + s$window > now) {
        same <- c(x$ticket[i], x$t[i], as.integer(x$arm[i]))
        out <- c(out, unlike("what a person gets in a window", same, c(ticket[last[p]], t[last[p]], arm[last[p]])))
        next
      }
      round <- rounds[p] < s$m && !waits && !within
      if (!round && rounds[p] < s$m && open) { # it ends when more such visits have come than it is for
        missed <- missed + 1
        if (missed > s$block) open <- FALSE
      }
      if (round && !open) {
        open <- TRUE
        number <- number + 1
        inside <- missed <- 0
      }
      ticket <- c(ticket, x$ticket[i])
      who <- c(who, p)
      arm <- c(arm, as.integer(x$arm[i]))
      t <- c(t, if (round) sum(rounds) + 1 else NA)
      block <- c(block, if (round) number else NA)
      reward <- c(reward, NA)
      since <- c(since, now)
      said <- c(said, list(numeric()))
      if (!identical(as.numeric(x$t[i]), as.numeric(utils::tail(t, 1)))) {
        return(sprintf("step %d, choice %d of person %d: round %s, and not %s", step, i, p, x$t[i], utils::tail(t, 1)))
      }
      if (round) {
        rounds[p] <- rounds[p] + 1
        last[p] <- length(ticket)
        inside <- inside + 1
        if (inside == s$block) open <- FALSE
      }
    }
    able <- which(is.na(reward))
    able <- able[stats::runif(length(able)) < if (step == s$steps) 1 else s$answers]
    if (length(unique(block[is.na(reward)])) > 8) able <- which(is.na(reward))
    if (length(able)) {
      able <- able[sample.int(length(able))]
      value <- sample(c(0, 1, 0.5), length(able), TRUE)
      status <- agent_reward(agent, ticket[able], value)$status
      early <- !is.na(t[able]) & since[able] + s$window > now
      out <- c(out, unlike("status of reports", status,
                           ifelse(is.na(t[able]), "late", ifelse(early, "waiting", "used"))))
      reward[able[!early]] <- value[!early]
      said[able[early]] <- Map(c, said[able[early]], value[early])
    }
  }
  if (s$window > 0) {
    now <- now + s$window
    over <- lengths(said) > 0 & is.na(reward)
    reward[over] <- vapply(said[over], mean, 0)
    pulls(agent)
  }
  # All rewards are in: blocks that have ended are released in their order, at most one with each reward, so that some
  # may wait for the next one.
  ended <- seq_len(if (open) number - 1 else number)
  table <- dpts_releases(agent)
  if (!is.null(table$event)) table <- table[is.na(table$event), ]
  released <- as.numeric(unique(table$block))
  out <- c(out, unlike("blocks", released, as.numeric(utils::head(ended, max(length(released), length(ended) > 0)))))
  ended <- utils::head(ended, length(released))
  if (s$m > 1 && nrow(table)) out <- c(out, unlike("the largest number of rewards of a person", unique(table$per_person), as.numeric(s$m)))
  for (b in ended) {
    own <- table[table$block == b, ]
    of <- which(block %in% b)
    if (anyDuplicated(who[of])) out <- c(out, sprintf("block %d has a person twice", b))
    n <- tabulate(arm[of], s$k)[as.integer(own$arm)]
    sum <- vapply(as.integer(own$arm), function(a) sum(reward[of][arm[of] == a]), 0)
    out <- c(out, unlike(sprintf("people of block %d", b), as.numeric(own$n), as.numeric(n)),
             if (any(abs(own$sum - sum) > 6.5 / s$mu + 1e-5)) sprintf("a sum of block %d", b))
  }
  if (s$mu > 2) return(out)
  # mu sqrt(m) for a person with m rewards, mu for a reward
  p <- dpts_privacy(agent, delta = 1e-3)
  p <- p[p$accountant == "gdp", ]
  c(out, differs("epsilon of a reward", p$epsilon[p$unit == "reward"], life_epsilon(s$mu, 1e-3), 1e-4),
    differs("epsilon of a person", p$epsilon[p$unit == "person"], life_epsilon(s$mu * sqrt(s$m), 1e-3), 1e-4),
    differs("what a person has lost", p$spent[p$unit == "person"],
            if (length(ended)) life_epsilon(s$mu * sqrt(s$m), 1e-3) else 0, 1e-4))
})
