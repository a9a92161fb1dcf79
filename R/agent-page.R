# What a service shows of an agent, and its page.

api_page <- function() {
  path <- system.file("agent", "page.html", package = "dpts", mustWork = TRUE)
  api_answer(200L, readChar(path, file.size(path), useBytes = TRUE),
             "Content-Type" = "text/html; charset=utf-8",
             "Content-Security-Policy" = paste("default-src 'none'; style-src 'unsafe-inline';",
                                               "script-src 'unsafe-inline'; connect-src 'self'"))
}

api_status <- function(agent) {
  pulls <- pulls(agent)
  shares <- arm_shares(agent)
  terms <- agent$terms
  standing <- agent_standing(agent)
  # (It may take a second to compute.)
  often <- remembered(agent, "guess", risk_depends(agent, standing$restored, sum(pulls$pulls)), function() {
    agent_guesses(agent, standing$restored)
  })
  list(
    name = terms$name %||% NA, policy = terms$policy$name, guarantee = standing$guarantee,
    restored = standing$restored, learning = standing$learning, use = terms$use,
    clipped = if (shows_clipped(terms$policy)) agent$life$clipped else NA,
    rounds = sum(pulls$pulls), horizon = terms$horizon %||% NA,
    outstanding = sum(pulls$outstanding), arms = pulls,
    then = agent$life$then, winner = agent$life$arms[agent$life$winner],
    deadline = if (terms$deadline < Inf) terms$deadline else NA, window = terms$window %||% NA,
    range = terms$range,
    sums = !anyNA(session_arms(agent$session)$releases),
    spends = if (draws_cost(agent_guarantee(terms$policy))) "by choice" else "once",
    guess = often$guess[1], often = often,
    # One row per recorded round and arm, as in autoplot()
    shares = shares, outcomes = outcomes_shown(agent)
  )
}

# Does an agent clip predictions, or shorten contexts that are public? (How many private ones are shortened is
# itself protected.)
shows_clipped <- function(policy) {
  !is.null(predictions_of(policy)) ||
    !is.null(norm_of(policy)) && agent_guarantee(policy)$neighbours == "public_context"
}

# Of each other outcome: what it is, how many blocks wait for it, and which arms its guard says are worse
outcomes_shown <- function(agent) {
  outcomes <- agent$terms$outcomes
  agent_look(agent, function(tx) lapply(seq_along(outcomes), function(h) {
    guard <- outcomes[[h]]$guard
    worse <- if (!is.null(guard)) {
      proved_worse(agent_record(agent, h), outcomes[[h]], agent$terms$policy$params$control)
    }
    list(outcome = names(outcomes)[h], about = format(outcomes[[h]]),
         waiting = sum(agent$blocks[, 3 + h] == 0), guard = guard %||% NA,
         worse = I(agent$terms$arms[worse]))
  }))
}

# How often the best guess of all rewards of a person is right at most, of a person who comes as often as one
# may, or 1, 10 and 100 times if nothing limits it
agent_guesses <- function(agent, restored) {
  terms <- agent$terms
  most <- terms$max_per_person
  if (!is.null(most)) return(data.frame(rewards = most, guess = guess_chance(agent_curve(agent, "person"))))
  promise <- whole_promise(terms, restored)
  chance <- if (promises_nothing(promise)) NA_real_ else
    guess_often(promise, ledger_conditions(terms), agent_curve(agent))
  data.frame(rewards = OFTEN, guess = chance)
}

# What the risk of an agent depends on
risk_depends <- function(agent, restored, rounds) {
  terms <- agent$terms
  grows <- is.null(terms$horizon) && draws_cost(agent_guarantee(terms$policy))
  list(restored, length(terms$arms), if (grows) max(1e5, rounds))
}

# What privacy_statement() says of the risk, NULL if nothing is guaranteed
agent_promise <- function(agent, restored, rounds) {
  remembered(agent, "promise", risk_depends(agent, restored, rounds), function() {
    said <- unclass(privacy_statement(agent))
    said <- unname(said[names(said) %in% c("What is guaranteed", "Who comes often")])
    if (length(said)) said
  })
}

# Everything for the page, and at most a twentieth of the time for it
api_overview <- function(agent) cached(agent, "overview", function() overview(agent))

# The first time, in parts that leave what they found with the agent: others are answered between them.
overview_parts <- function(agent, given = NULL) {
  if (is_cached(agent, "overview")) return(NULL)
  pulls <- session_pulls(agent$session)
  new <- max(0, sum(pulls) - (agent$totals$rounds %||% 0))
  # What is known is not looked for twice.
  if (new < COUNTED_AT_ONCE && identical(agent$remembered$shown, released_so_far(agent))) return(NULL)
  count <- function() agent_look(agent, function(tx) update_totals(agent, tx, COUNTED_AT_ONCE))
  promise <- function() agent_promise(agent, agent_standing(agent)$restored, sum(pulls))
  c(list(function() arm_shares(agent), function() api_status(agent), promise,
         function() dpts_privacy(agent, delta = PAGE_DELTA)),
    rep(list(count), ceiling(new / COUNTED_AT_ONCE)), table_parts(agent, "reward"),
    lapply(names(CONCLUSIONS), function(name) slices(agent, function() concluded(agent, name))))
}

# The parts of what is concluded from the release table
table_parts <- function(agent, outcome) {
  list(function() dpts_releases(agent), function() release_records(agent, outcome))
}

# A part in slices: TRUE as long as there is more to do
slices <- function(agent, work) {
  function() {
    agent$memory$seconds <- SLICE
    on.exit(agent$memory$seconds <- Inf)
    tryCatch({
      work()
      FALSE
    }, dpts_more_to_weigh = function(e) TRUE)
  }
}

SLICE <- 0.05 # seconds

PAGE_DELTA <- 1e-6

# An answer that is a function of the release table, of which arms are paused and of what was asked: its text
# is kept
conclude_route <- function(name) {
  function(agent, given) {
    from <- list(dpts_releases(agent), paused_arms(agent), given)
    api_answer(200L, remembered(agent, paste("answer", name), from, function() {
      api_json(do.call(name, c(list(agent), given)))
    }))
  }
}

conclude_parts <- function(name) {
  function(agent, given) {
    c(table_parts(agent, given$outcome %||% "reward"),
      list(slices(agent, function() conclude_route(name)(agent, given))))
  }
}

# What the page concludes from the release table
CONCLUSIONS <- list(
  estimates = function(agent) agent_estimates(agent),
  verdict = function(agent) shown_of(as.list(verdict(agent))),
  proof = function(agent) shown_of(proof_in_time(agent)),
  strata = function(agent) if (!is.null(agent$terms$strata)) effects_shown(agent)
)

# NULL if the policy has no release table
concluded <- function(agent, name) {
  table <- shown_of(dpts_releases(agent))
  remembered(agent, name, list(table, paused_arms(agent)), function() {
    if (!is.null(table)) CONCLUSIONS[[name]](agent)
  })
}

released_so_far <- function(agent) sum(session_arms(agent$session)$releases)

# What was counted of tickets, which do not change: only newer ones are read next time. `sums`: of each arm;
# `hours`: rounds of each arm in the last 24 hours of the clock, a column for each.
# At most `most` rounds are read.
update_totals <- function(agent, tx, most = Inf) {
  k <- length(agent$terms$arms)
  # (A clock that was mended may have gone back: hours are counted anew.)
  if (isTRUE(agent$totals$last > floor(tx$now / 3600)) || !is_past(agent, tx, agent$totals)) {
    agent$totals <- NULL
  }
  old <- agent$totals %||% list(rounds = 0, entry = 0, began = Inf, sums = NULL, hours = NULL)
  grown <- function(x, columns) rbind(x, matrix(0, k - NROW(x), columns))
  rounds <- min(sum(session_pulls(agent$session)), old$rounds + most)
  new <- agent$store$totals(old$rounds + 1, rounds)
  missing <- if (!agent$silent) agent$store$missing(old$entry + 1, tx$entry)
  sums <- grown(old$sums, 4)
  hours <- grown(old$hours, 24)
  last <- floor(tx$now / 3600)
  past <- min(24, last - (old$last %||% last))
  hours <- cbind(hours[, seq_len(24) > past, drop = FALSE], matrix(0, k, past))
  for (i in seq_along(new$arm)) { # a row for each arm and hour
    arm <- as.integer(new$arm[i])
    sums[arm, 1:3] <- sums[arm, 1:3] + c(new$tossed[i], new$inverse[i], new$spread[i])
    at <- 24 - max(0, last - new$hour[i])
    if (at > 0) hours[arm, at] <- hours[arm, at] + new$n[i]
  }
  at <- as.integer(missing$arm)
  sums[at, 4] <- sums[at, 4] + as.numeric(missing$n)
  agent$totals <- list(rounds = rounds, entry = tx$entry, journal = tx$journal, sums = sums, hours = hours,
                       last = last, began = min(old$began, as.numeric(new$began)))
}

overview <- function(agent) {
  status <- api_status(agent)
  arms <- status$arms
  k <- nrow(arms)
  now <- agent_look(agent, function(tx) {
    update_totals(agent, tx)
    tx$now
  })
  seen <- agent$totals
  estimates <- concluded(agent, "estimates") %||% agent_estimates(agent)
  resolved <- arms$pulls - arms$outstanding
  counted <- ifelse(is.na(estimates$rewards), resolved, pmin(estimates$rewards, resolved))
  verdict <- concluded(agent, "verdict")
  agent$remembered$shown <- released_so_far(agent)
  promise <- agent_promise(agent, status$restored, status$rounds)
  epsilon <- dpts_privacy(agent, delta = PAGE_DELTA)
  smallest <- function(unit, column) {
    x <- epsilon[[column]][epsilon$unit == unit]
    if (any(is.finite(x))) min(x[is.finite(x)]) else NA_real_
  }
  units <- unique(epsilon$unit)
  time <- function(x) if (is.finite(x)) format(.POSIXct(x, "UTC"), "%Y-%m-%dT%H:%M:%SZ") else NA
  c(status[setdiff(names(status), "arms")], list(
    now = time(now), since = time(seen$began),
    promise = if (is.null(promise)) NA else I(promise),
    leads = leads(estimates), own = identical(agent_guarantee(agent$terms$policy)$neighbours, "joint"),
    verdict = if (!is.null(verdict)) list(arm = as.character(verdict$arm), missing = verdict$missing),
    proof = concluded(agent, "proof"),
    balance = sample_ratio(seen$sums, arms$pulls, agent$offered),
    epsilon = data.frame(unit = units, spent = vapply(units, smallest, 0, "spent"),
                         epsilon = vapply(units, smallest, 0, "epsilon"), row.names = NULL),
    arms = data.frame(
      arm = arms$arm, status = names(ARM)[match(agent$life$status, ARM)], choices = arms$pulls,
      recent = rowSums(seen$hours), counted = counted, open = resolved - counted, awaited = arms$outstanding,
      # Whether an answer came is protected where deadlines decide.
      missing = if (agent$silent) NA else seen$sums[, 4],
      mean = estimates$mean, lower = estimates$lower, upper = estimates$upper),
    strata = concluded(agent, "strata") %||% list(),
    measured = lapply(names(agent$terms$outcomes), function(name) {
      found <- estimates(agent, outcome = name)
      list(outcome = name, rewards = I(found$rewards), mean = I(found$mean), lower = I(found$lower),
           upper = I(found$upper), range = agent$terms$outcomes[[name]]$range)
    })))
}

# NULL if nothing can be concluded
shown_of <- function(expr) tryCatch(expr, dpts_error_input = function(e) NULL)

# Effects of all people and of each stratum
effects_shown <- function(agent) {
  rows <- lapply(list(NULL, "stratum"), function(by) {
    found <- shown_of(as.list(suppressMessages(effects(agent, by = by))))
    as.data.frame(c(list(stratum = found$stratum %||% rep(NA, length(found$arm))),
                    found[c("arm", "control", "difference", "lower", "upper")]))
  })
  rbind(rows[[1]], rows[[2]])
}

# The evidence that verdicts rest on, for the arm that is nearest to one, against its strongest rival, at up
# to 200 of its releases
proof_in_time <- function(agent) {
  e <- evidence(agent, evidence_kind(release_records(agent)$records[[1]]))
  k <- length(unique(e$arm))
  if (k < 2) return(NULL)
  least <- apply(array(e$evidence, c(k - 1, k, nrow(e) / (k * (k - 1)))), 2:3, min)
  threshold <- e$line[(seq_len(k) - 1) * (k - 1) + 1] # of each arm
  most <- apply(least, 1, max)
  best <- which.max(if (any(most >= threshold)) most - threshold else least[, ncol(least)]) # a verdict stands
  rows <- unique(round(seq(1, ncol(least), length.out = min(200, ncol(least)))))
  first <- 1 + (rows - 1) * k * (k - 1)
  data.frame(t = e$t[first], evidence = least[best, rows], line = threshold[best])
}

# Which arm has the highest estimate, and by how much
leads <- function(estimates) {
  order <- order(-estimates$mean)
  if (sum(!is.na(estimates$mean)) < 2) return(NULL)
  list(arm = as.character(estimates$arm[order[1]]), rival = as.character(estimates$arm[order[2]]),
       by = estimates$mean[order[1]] - estimates$mean[order[2]])
}

# Were arms chosen as often as the tosses say? Over the tosses that an arm was on offer for, active and not
# left out by the call, the sum of 1 / chance at those that chose it has the number of all as its mean, and
# its variance is about the sum of (1 - chance) / chance^2: normal for many. A p-value of all arms together,
# by Bonferroni; NA where chances are not known for all rounds, or fewer than two arms were chosen often.
# `sums`: of each arm how many choices were tossed, and the two sums.
sample_ratio <- function(sums, pulls, offered) {
  often <- which(pulls >= 20)
  if (sum(sums[, 1]) < sum(pulls) || length(often) < 2) return(NA)
  z <- (sums[often, 2] - offered[often]) / sqrt(sums[often, 3])
  min(1, length(often) * 2 * stats::pnorm(-max(abs(z))))
}
