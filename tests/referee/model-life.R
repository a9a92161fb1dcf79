# The life of an agent by its help pages: choices, rewards, keys, persons, the clock, arms that come and go, copies and the
# end, in each kind of store. Everything that the pages say of a call is predicted before the call, from a list of tickets in
# plain vectors.

life_clock <- new.env()
life_clock$now <- 1e9
# What makes a connection to an empty PostgreSQL schema: whoever plays the games may set it.
life_postgres <- NULL

# A policy whose every reward can be seen: it gives each person the arm on offer that was given least often.
life_ledger <- function() {
  policy_custom(
    "ledger",
    start = function(k, horizon) list(given = numeric(k), n = numeric(k), sum = numeric(k)),
    choose = function(state, round) round$offer[which.min(state$given[round$offer])],
    commit = function(state, round, arm) {
      state$given[arm] <- state$given[arm] + 1
      state
    },
    update = function(state, feedback) {
      state$n[feedback$arm] <- state$n[feedback$arm] + 1
      state$sum[feedback$arm] <- state$sum[feedback$arm] + feedback$reward
      state
    },
    report = function(state, arm) {
      if (state$n[arm] > 0) list(rewards = state$n[arm], sum = state$sum[arm], kind = "Laplace", scale = 1e-6, terms = 1)
    },
    guarantee = privacy_pure(1)
  )
}

life_setting <- function() {
  use <- one_of("deadline", "arrival")
  policy <- one_of("ledger", "ledger", "randomised", "randomised", "imed", "uniform", "thompson")
  persons <- one_of("none", "none", "some", "sticky")
  list(
    policy = policy, use = use, deadline = if (use == "deadline" || flip()) between(1, 500) else Inf, k = whole(2, 4),
    range = one_of(c(0, 1), c(0, 1), c(-2, 6)), persons = persons, most = if (persons == "some") whole(1, 3),
    people = whole(2, 12), horizon = if (policy == "thompson" || flip(0.3)) whole(5, 60), keep = flip(0.2), mu = one_of(1, 1e3),
    blocks = whole(5, 9), store = sample.int(3, 1), steps = whole(10, 45), handles = whole(1, 3), seed = whole(1, 1e6),
    missing = stats::runif(1), offers = flip(), arms = flip(), calm = flip() # calm: neither ends nor the clock goes back
  )
}

life_policy <- function(s) {
  switch(s$policy, ledger = life_ledger(), uniform = policy_uniform(), thompson = policy_ts_gaussian(),
         randomised = policy_randomised(mu = s$mu, block = s$blocks),
         imed = policy_gaussian_imed(mu = s$mu, first = 2, ratio = 1.5))
}

# ---- the model: tickets in vectors, in the order of choices
life_model <- function(s) {
  m <- new.env()
  m$s <- s
  m$ticket <- m$person <- m$state <- character() # state: open, used, missing, beyond
  m$t <- m$arm <- m$due <- m$time <- m$reward <- m$probability <- numeric()
  m$forgotten <- logical()
  m$names <- letters[seq_len(s$k)]
  m$status <- rep("active", s$k)
  m$now <- life_clock$now
  m$ended <- ""
  m$keys <- list()
  m$restored <- 0
  m$order <- integer()         # tickets in the order in which they were resolved
  m$finished <- FALSE
  m$winner <- integer()        # the arm of those who come after the end
  m$changed <- FALSE           # were other arms on offer at some time?
  m
}

life_rounds <- function(m) sum(!is.na(m$t))
life_pulls <- function(m) tabulate(m$arm[!is.na(m$t)], length(m$names))

life_resolve <- function(m, i, state) {
  m$state[i] <- state
  m$order <- c(m$order, i)
  if (!m$finished) m$winner <- integer() # what is open at the horizon is released with the last reward
}

# What any call does first: the agent's time, and deadlines that have passed
life_wake <- function(m) {
  m$now <- max(m$now, life_clock$now)
  due <- which(m$state == "open" & m$due <= m$now)
  for (i in due[order(m$due[due], due)]) life_resolve(m, i, if (is.na(m$reward[i])) "missing" else "used")
  life_horizon(m)
}

life_horizon <- function(m) {
  if (!is.null(m$s$horizon) && m$ended == "" && life_rounds(m) >= m$s$horizon) {
    m$ended <- "verdict"
    m$end <- m$now
  }
}

# Rewards that count, and their sums on [0, 1], of each arm
life_sums <- function(m, of = which(m$state %in% c("used", "missing"))) {
  value <- ifelse(is.na(m$reward[of]), m$s$missing, m$reward[of])
  list(n = tabulate(m$arm[of], length(m$names)),
       sum = vapply(seq_along(m$names), function(a) sum(value[m$arm[of] == a]), 0))
}

# -> for the next choice: the arms that it may get, whether it is a round, and a ticket that it must repeat
life_next <- function(m, offer, person) {
  on <- which(m$status == "active")
  allowed <- if (is.null(offer)) on else intersect(offer, on)
  own <- which(m$person == person & person != "")
  if (m$s$persons == "sticky" && length(own)) return(list(arms = m$arm[own[1]], round = !is.na(m$t[own[1]]), same = own[1]))
  if (m$ended == "verdict") {
    arms <- if (length(m$winner) && m$winner %in% allowed) m$winner else allowed
    if (m$s$policy == "thompson") { # it has no estimates: the arm chosen most, before this call or with it
      most <- function(pulls) allowed[pulls[allowed] == max(pulls[allowed])]
      arms <- intersect(arms, union(most(life_pulls(m)), most(m$before)))
    }
    return(list(arms = arms, round = FALSE, winner = is.null(offer)))
  }
  rounds <- own[!is.na(m$t[own])]
  if (m$s$persons == "some" && length(rounds) >= m$s$most) {
    last <- unique(m$arm[c(max(rounds), max(own))])
    if (all(last %in% allowed)) return(list(arms = last, round = FALSE))
    pulls <- life_pulls(m)[allowed]
    before <- m$before[allowed] # the page leaves open whether a call's own choices count
    return(list(arms = c(intersect(last, allowed), allowed[pulls == max(pulls) | before == max(before)]), round = FALSE))
  }
  if (length(on) == 1 && any(m$status == "paused")) return(list(arms = allowed, round = FALSE))
  if (m$s$policy == "randomised" && length(rounds)) { # no release holds two rewards of a person
    if (m$state[max(rounds)] == "open") return(list(arms = allowed, round = FALSE))
    return(list(arms = allowed, round = NA)) # no round in the open block; which that is, is not followed here
  }
  arms <- allowed
  if (m$s$policy == "ledger") arms <- sort(allowed)[which.min(life_pulls(m)[sort(allowed)])]
  list(arms = arms, round = TRUE)
}

# ---- calls: each does the same to the model and the agent -> complaints
# The value of a call or the first of the error's classes, and the classes of its warnings
life_try <- function(expr) {
  warned <- character()
  value <- tryCatch(withCallingHandlers(expr, warning = function(w) {
    warned <<- c(warned, class(w)[1])
    tryInvokeRestart("muffleWarning")
  }), dpts_error = function(e) structure(list(class = class(e), text = conditionMessage(e)), class = "life_error"))
  list(value = value, error = if (inherits(value, "life_error")) value$class, warned = warned)
}

life_choose <- function(m, agent) {
  s <- m$s
  k <- length(m$names)
  n <- one_of(1, 1, 2, whole(1, 12))
  offer <- if (s$offers && m$ended == "" && flip(0.4)) sort(sample.int(k, whole(1, k)))
  person <- if (s$persons == "none") NULL else paste0("p", sample.int(s$people, n, TRUE))
  key <- if (flip(0.3)) paste0("key-", whole(1, 30))
  life_wake(m)
  # A deadline after the end, or a day, who people were is forgotten with the first call of some hour.
  wait <- if (is.finite(s$deadline)) s$deadline else 86400
  if (s$persons != "none" && length(m$end) && m$now >= m$end + wait) return(character())
  on <- which(m$status == "active")
  if (!is.null(key) && m$ended == "end") key <- NULL
  old <- if (!is.null(key)) m$keys[[key]]
  if (!is.null(old) && (!length(on) || s$persons == "sticky")) key <- old <- NULL
  if (length(old) && s$persons != "none" && flip(0.8)) { # mostly those of the first call come again
    person <- m$person[old]
    n <- length(old)
  }
  call <- life_try(agent_choose(agent, n, offer = if (!is.null(offer)) one_of(offer, m$names[offer]), key = key,
                                person = if (!is.null(person)) paste0(person, if (flip(0.2)) " ")))
  out <- life_warned(m, call)
  known <- s$persons == "sticky" && all(person %in% m$person) # who has a ticket may keep it: the page leaves open what comes first
  if (m$ended == "end") return(c(out, if (!"dpts_error_ended" %in% call$error && !known) "a choice after the end is no error"))
  if (!is.null(old)) {
    if (length(old) != n) return(c(out, if (!"dpts_error_input" %in% call$error) "a key with two numbers of choices is no error"))
    if (!is.null(person) && !identical(person, m$person[old])) {
      return(c(out, if (!"dpts_error_key" %in% call$error) "a key with other people is no error"))
    }
    if (!is.null(call$error)) return(c(out, paste("a repeated key:", call$value$text)))
    return(c(out, unlike("tickets of a repeated key", call$value$ticket, m$ticket[old]),
             unlike("arms of a repeated key", as.integer(call$value$arm), as.integer(m$arm[old])),
             differs("rounds of a repeated key", call$value$t, m$t[old])))
  }
  if (!length(on)) return(c(out, if (!"dpts_error_paused" %in% call$error && !known) "a choice without arms is no error"))
  if (!is.null(offer) && !length(intersect(offer, on))) {
    return(c(out, if (is.null(call$error) && !known) "a choice of paused arms is no error"))
  }
  if (!is.null(call$error)) return(c(out, paste("choose:", call$value$text)))
  got <- call$value
  if (nrow(got) != n) return(c(out, sprintf("%d choices, and not %d", nrow(got), n)))
  if (!is.null(offer)) m$changed <- TRUE
  rows <- integer(n)
  m$before <- life_pulls(m)
  for (i in seq_len(n)) {
    life_horizon(m)
    want <- life_next(m, offer, if (is.null(person)) "" else person[i])
    arm <- as.integer(got$arm[i])
    if (is.na(want$round)) want$round <- !is.na(got$t[i])
    if (m$s$policy == "randomised" && !want$round) m$changed <- TRUE
    if (!arm %in% want$arms) {
      out <- c(out, sprintf("choice %d of %d: arm %d, and not %s", i, n, arm, paste(want$arms, collapse = " or ")))
    }
    if (!is.null(want$same)) {
      out <- c(out, unlike("ticket of a sticky person", got$ticket[i], m$ticket[want$same]))
      rows[i] <- want$same
      next
    }
    if (got$ticket[i] %in% m$ticket) out <- c(out, "a ticket was given twice")
    t <- if (want$round) life_rounds(m) + 1 else NA
    if (!identical(as.numeric(got$t[i]), as.numeric(t))) out <- c(out, sprintf("round %s, and not %s", got$t[i], t))
    p <- got$probability[i]
    if (!want$round && !is.na(p) || s$policy %in% c("randomised", "uniform") && want$round && !(p > 0 && p <= 1)) {
      out <- c(out, sprintf("probability %s in round %s", p, t))
    }
    if (isTRUE(want$winner)) m$winner <- arm
    rows[i] <- at <- length(m$ticket) + 1
    m$ticket[at] <- got$ticket[i]
    m$person[at] <- if (is.null(person)) "" else person[i]
    m$t[at] <- t
    m$arm[at] <- arm
    m$probability[at] <- p
    m$time[at] <- m$now
    m$due[at] <- m$now + s$deadline
    m$reward[at] <- NA
    m$state[at] <- if (want$round) "open" else "beyond"
  }
  life_horizon(m)
  if (!is.null(key)) m$keys[[key]] <- rows
  out
}

# `who`: of which choices; the same may be reported again by another process, which has not seen the first report.
life_reward <- function(m, agent, who = NULL) {
  s <- m$s
  if (!length(m$ticket)) return(character())
  life_wake(m)
  recent <- utils::tail(seq_along(m$ticket), 20)
  if (is.null(who)) who <- m$reported <- recent[sample.int(length(recent), one_of(1, whole(1, 8)), TRUE)]
  n <- length(who)
  value <- s$range[1] + diff(s$range) * sample(c(0, 1, 1, 0.25, 0.5), n, TRUE)
  if (flip(0.3)) value[is.finite(m$reward[who])] <- m$reward[who][is.finite(m$reward[who])] # a second report of the same
  ticket <- m$ticket[who]
  stranger <- flip(0.1)
  if (stranger) ticket[1] <- paste0(substr(ticket[1], 1, 5), "nobody")
  if (flip(0.1)) {
    bad <- life_try(agent_reward(agent, ticket, replace(value, n, s$range[2] + 0.01)))
    if (!"dpts_error_input" %in% bad$error) return("a reward outside the range is no error")
  }
  call <- life_try(agent_reward(agent, ticket, value))
  out <- life_warned(m, call, s$use == "deadline")
  if (!is.null(call$error)) return(c(out, paste("reward:", call$value$text)))
  for (j in seq_len(n)) {
    i <- who[j]
    same <- identical(m$reward[i], value[j])
    after <- m$ended != "" && m$finished
    want <- if (stranger && j == 1) "unknown" else switch(m$state[i],
      beyond = "late",
      missing = "late",
      lost = c("late", if (!is.na(m$reward[i])) c("known", "refused")),
      open = if (!is.na(m$reward[i])) { if (same) "known" else "refused" } else if (s$use == "arrival") "used" else "waiting",
      # Once forgotten, it is compared with nothing; when that is, the page leaves open here.
      used = if (s$use == "deadline") c("late", "known", if (!same) "refused") else
        c(if (same || !s$keep || after) "known", if (!same) "refused")
    )
    if (!call$value$status[j] %in% want) {
      out <- c(out, sprintf("report %d of %d (%s): %s, and not %s", j, n, m$state[i], call$value$status[j],
                            paste(want, collapse = " or ")))
    }
    if (identical(want, "waiting") || identical(want, "used")) {
      m$reward[i] <- value[j]
      if (s$use == "arrival") life_resolve(m, i, "used")
    }
  }
  c(out, unlike("tickets of reports", call$value$ticket, ticket))
}

# A clock that went back is said in the first call after it. A report that is protected by a deadline leaves the
# clock as it was.
life_warned <- function(m, call, hidden = FALSE) {
  if (!isTRUE(m$back) || hidden) return(character())
  m$back <- FALSE
  if (!"dpts_warning_clock" %in% call$warned) "the clock went back, and there is no warning"
}

life_arms <- function(m, agent) {
  k <- length(m$names)
  verb <- one_of("add", "retire", "pause", "resume", "pause", "resume")
  life_wake(m)
  m$back <- FALSE # whether a change of arms says that the clock went back, the page leaves open
  if (verb == "add") {
    if (m$s$policy == "ledger" || k >= 6) return(character())
    call <- life_try(agent_arms(agent, add = letters[k + 1]))
    if (m$ended != "" && !is.null(call$error)) return(character())
    m$names <- letters[seq_len(k + 1)]
    m$status <- c(m$status, "active")
  } else {
    arm <- whole(1, k)
    call <- life_try(do.call(agent_arms, c(list(agent), stats::setNames(list(one_of(arm, m$names[arm])), verb))))
    retired <- m$status[arm] == "retired"
    if (retired && verb == "resume" && is.null(call$error)) return("a retired arm came back")
    last <- verb == "retire" && m$status[arm] != "retired" && sum(m$status != "retired") == 1 # somebody must be left
    if (last && is.null(call$error)) return("the last arm was retired")
    if (retired || last || m$ended != "" && !is.null(call$error)) return(life_statuses(m, agent))
    m$status[arm] <- c(retire = "retired", pause = "paused", resume = "active")[[verb]]
    # The winner is gone: somebody else's arm from now on, also if it is only paused and comes back
    if (length(m$winner) && m$status[m$winner] != "active") m$winner <- integer()
  }
  m$changed <- TRUE
  if (!is.null(call$error)) return(paste(verb, ":", call$value$text))
  c(unlike("status that a change of arms gives", call$value$status, m$status), life_statuses(m, agent))
}

life_statuses <- function(m, agent) {
  now <- agent_arms(agent)
  c(unlike("status of arms", now$status, m$status), unlike("names of arms", as.character(now$arm), m$names))
}

life_finish <- function(m, agent) {
  then <- one_of("end", "verdict")
  life_wake(m)
  first <- !m$finished
  m$back <- FALSE
  value <- life_try(agent_finish(agent, then = then))
  if (!is.null(value$error)) return(paste("finish:", value$value$text))
  if (first) m$state[m$state == "open"] <- "lost" # resolved without a reward
  m$finished <- TRUE
  m$ended <- then
  if (is.null(m$end)) m$end <- m$now
  character()
}

# ---- looks: each of them twice, and against the model
life_look <- function(m, agent) {
  s <- m$s
  life_wake(m)
  first <- life_try(pulls(agent))
  out <- life_warned(m, first)
  p <- first$value
  h <- dpts_history(agent)
  few <- whole(1, 5)
  looks <- function() list(pulls(agent), dpts_history(agent), dpts_history(agent, n = few), estimates(agent), summary(agent),
                           dpts_privacy(agent, delta = 1e-3), agent_arms(agent), utils::capture.output(print(agent)))
  first <- looks()
  again <- looks()
  out <- c(out, unlist(Map(function(a, b, what) if (!identical(a, b)) paste("a second look differs:", what), first, again,
                    c("pulls", "history", "last of history", "estimates", "summary", "privacy", "arms", "print"))))
  # A round that was lost in the end is in no sum; its status is that of a ticket without a reward.
  status <- replace(m$state, m$state == "lost", "missing")
  if (s$use == "deadline") status[status %in% c("used", "missing")] <- "resolved"
  open <- m$state == "open"
  out <- c(out,
    unlike("pulls", as.numeric(p$pulls), as.numeric(life_pulls(m))),
    unlike("outstanding", as.numeric(p$outstanding), as.numeric(tabulate(m$arm[open], length(m$names)))),
    unlike("tickets of the history", h$ticket, m$ticket), differs("rounds of the history", h$t, m$t),
    unlike("arms of the history", as.integer(h$arm), as.integer(m$arm)), unlike("status in the history", h$status, status),
    differs("times of the history", as.numeric(h$time) - 1e9, m$time - 1e9, 1e-5),
    differs("probabilities of the history", h$probability, m$probability, 1e-9),
    unlike("the last of the history", first[[3]]$ticket, utils::tail(m$ticket, few)),
    differs("shares", summary(agent)$share, life_pulls(m) / life_rounds(m), 1e-9)
  )
  c(out, life_sums_seen(m, agent), life_spent(m, agent))
}

# What was released, and what is known of it, from the rewards
life_sums_seen <- function(m, agent) {
  s <- m$s
  e <- estimates(agent)
  want <- life_sums(m)
  out <- unlike("arms of estimates", as.character(e$arm), m$names)
  if (length(out)) return(out)
  if (s$policy %in% c("uniform", "thompson")) return(if (!all(is.na(e$mean))) "estimates of a policy without sums")
  if (s$policy == "ledger") {
    lost <- any(m$state == "lost") # the page says that these count as missing, and that they are resolved without a reward
    return(if (!lost) c(
      differs("rewards in sums", ifelse(is.na(e$rewards), 0, e$rewards), want$n),
      differs("means", e$mean, ifelse(want$n > 0, want$sum / want$n, NA), 1e-5)))
  }
  all <- table <- dpts_releases(agent)
  said <- function(x) lapply(verdict(x)[c("arm", "t", "wrong")], as.character) # a table does not know which arms are paused
  out <- if (s$policy == "randomised" && !identical(said(agent), said(all))) "the verdict of the table is another"
  if (!is.null(table$event)) table <- table[is.na(table$event), ]
  arm <- factor(as.character(table$arm), m$names)
  total <- as.numeric(tapply(table$n, arm, sum, default = 0))
  sums <- as.numeric(tapply(table$sum, arm, sum, default = 0))
  scaled <- function(x) (x$sum - x$n * s$range[1]) / diff(s$range)
  rewards <- ifelse(is.na(e$rewards), 0, e$rewards)
  out <- c(out, unlike("rewards in sums and in the table", as.numeric(rewards), total),
           if (any(total > want$n)) "more rewards in sums than there were")
  mean <- s$range[1] + diff(s$range) * pmin(1, pmax(0, sums / total))
  out <- c(out, differs("means and the table", e$mean, ifelse(total > 0, mean, NA), 1e-6))
  # Of an arm all of whose rewards are in sums, these are the sum of them: no reward is in two.
  noise <- 7 * sqrt(pmax(1, tabulate(arm, length(m$names)))) / s$mu + 1e-4
  if (!any(m$state == "lost") && any((abs(sums - scaled(want)) > noise)[total == want$n])) {
    out <- c(out, "sums, and not those of the rewards")
  }
  if (s$policy == "randomised") {
    if (!m$changed && m$ended == "") out <- c(out, life_blocks(m, table))
    if (!m$changed && m$finished && !any(m$state == "lost")) {
      noise <- 6 * sqrt(pmax(1, tabulate(arm, length(m$names)))) / s$mu
      out <- c(out, unlike("rewards in sums after the end", total, as.numeric(want$n)),
               if (any(abs(sums - scaled(want)) > noise + 1e-4)) "sums after the end")
    }
  }
  out
}

# Blocks of people, each released when all its rewards are in, one with each reward at most
life_blocks <- function(m, table) {
  s <- m$s
  rounds <- which(!is.na(m$t))
  of <- (seq_along(rounds) - 1) %/% s$blocks + 1
  full <- length(rounds) %/% s$blocks
  if (full < 1 || full > 15) return(if (full < 1 && nrow(table)) "a release before a block was full")
  released <- 0
  for (i in seq_along(m$order)) {
    done <- m$order[seq_len(i)]
    if (released < full && all(rounds[of == released + 1] %in% done)) {
      # the block was full by then
      if (max(rounds[of == released + 1]) <= length(m$ticket)) released <- released + 1
    }
  }
  if (max(c(0, table$block)) != released) {
    return(sprintf("%d blocks are released, and not %d", as.integer(max(c(0, table$block))), released))
  }
  unlist(lapply(seq_len(released), function(b) {
    want <- life_sums(m, rounds[of == b])
    sum <- (want$sum - want$n * s$range[1]) / diff(s$range)
    row <- table[table$block == b, ]
    got <- match(seq_along(m$names), as.integer(row$arm))
    c(unlike(sprintf("people of block %d", b), as.numeric(row$n[got]), as.numeric(want$n)),
      if (any(abs(row$sum[got] - sum) > 6.5 / s$mu + 1e-4)) sprintf("sums of block %d", b),
      if (!all(row$whole)) sprintf("block %d is not whole", b))
  }))
}

# Epsilon of mu-GDP at a delta
life_epsilon <- function(mu, delta) {
  f <- function(e) stats::pnorm(-e / mu + mu / 2) - exp(e + stats::pnorm(-e / mu - mu / 2, log.p = TRUE)) - delta
  if (f(0) <= 0) 0 else stats::uniroot(f, c(0, 60 * mu + mu^2), tol = 1e-12)$root
}

life_spent <- function(m, agent) {
  s <- m$s
  if (s$policy != "randomised" || s$mu > 2) return(character())
  p <- dpts_privacy(agent, delta = 1e-3)
  p <- p[p$accountant == "gdp", ]
  units <- c(reward = 1, person = if (s$persons == "some") s$most else if (s$persons == "sticky") 1)
  # A person's m rewards: m times as much at most, and sqrt(m) at least
  mu <- s$mu * sqrt(1 + m$restored)
  out <- unlike("units of privacy", as.character(p$unit), names(units))
  if (length(out)) return(out)
  out <- differs("epsilon of a reward", p$epsilon[1], life_epsilon(mu, 1e-3), 1e-4)
  if (length(units) > 1 && p$epsilon[2] < life_epsilon(mu * sqrt(units[[2]]), 1e-3) - 1e-6) out <- c(out, "epsilon of a person is too small")
  released <- any(estimates(agent)$rewards > 0)
  spent <- if (released || m$restored > 0) NA else 0
  c(out, differs("spent before a release", p$spent[1], spent), if (any(p$spent > p$epsilon + 1e-9)) "more is spent than there is",
    if (released && abs(p$spent[1] - p$epsilon[1]) > 1e-6) "a release spends all")
}

# ---- a game
referee_model("life", life_setting, function(s) {
  old <- options(dpts.clock = function() life_clock$now)
  on.exit(options(old))
  life_clock$now <- 1e9
  s$missing <- s$range[1] + diff(s$range) * round(s$missing * 4) / 4
  m <- life_model(s)
  file <- tempfile(fileext = ".sqlite")
  on.exit(unlink(file), add = TRUE)
  store <- list(NULL, file, file)[[s$store]]
  if (s$store == 3 && !is.null(life_postgres)) store <- life_postgres()
  set.seed(s$seed)
  agents <- list(dpts_agent(
    life_policy(s), m$names, store, horizon = s$horizon, use = s$use, deadline = as.difftime(s$deadline, units = "secs"),
    range = s$range, missing = s$missing, max_per_person = s$most, sticky = s$persons == "sticky", keep_rewards = s$keep))
  on.exit(for (a in agents) try(agent_close(a), silent = TRUE), add = TRUE)
  if (!is.null(store)) for (i in seq_len(s$handles)[-1]) agents[[i]] <- agent_open(store)
  out <- character()
  said <- character()
  for (step in seq_len(s$steps)) {
    agent <- agents[[sample.int(length(agents), 1)]]
    what <- sample(c("choose", "reward", "wait", "look", "arms", "finish", "back", "open", "restored"), 1,
                   prob = c(8, 8, 4, 3, if (s$arms) 3 else 0, if (s$calm) 0 else 0.3, if (s$calm) 0 else 0.4, 0.7, 0.3))
    found <- switch(what,
      choose = life_choose(m, agent), arms = life_arms(m, agent),
      finish = life_finish(m, agent), look = life_look(m, agent),
      reward = {
        found <- life_reward(m, agent)
        other <- agents[[sample.int(length(agents), 1)]]
        if (!length(found) && length(m$ticket) && flip()) found <- life_reward(m, other, m$reported)
        found
      },
      wait = {
        life_clock$now <- life_clock$now + between(0.01, 2) * (if (is.finite(s$deadline)) s$deadline else 10)
        NULL
      },
      back = if (m$ended != "end" && !m$finished) {
        before <- length(m$ticket)
        found <- life_choose(m, agent)
        if (m$now == life_clock$now && length(m$ticket) > before) { # the store has this time
          life_clock$now <- life_clock$now - one_of(3600, 5e4)
          m$back <- m$s$persons == "none" && any(m$status == "active")
        }
        found
      },
      open = if (is.character(store)) {
        for (a in agents) agent_close(a)
        opened <- life_try(agent_open(store))
        agents <- c(list(opened$value), lapply(seq_len(s$handles)[-1], function(i) agent_open(store)))
        c(life_warned(m, opened), life_look(m, agents[[1]]))
      } else if (is.null(store)) {
        copy <- agent_backup(agent, tempfile(fileext = ".sqlite"))
        opened <- life_try(agent_open(copy))
        other <- opened$value
        found <- c(life_warned(m, opened), life_look(m, other))
        agent_close(other)
        unlink(copy)
        found
      },
      restored = {
        agent_restored(agent)
        m$back <- FALSE
        m$restored <- m$restored + 1
        NULL
      })
    said <- c(said, what)
    if (length(found)) return(c(paste0(found, " (step ", step, ")"), paste(utils::tail(said, 12), collapse = " ")))
  }
  life_look(m, agents[[1]])
})
