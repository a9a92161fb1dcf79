# What a service shows of an agent, and its page.

api_page <- function() {
  path <- system.file("agent", "page.html", package = "dpts", mustWork = TRUE)
  api_answer(200L, readChar(path, file.size(path), useBytes = TRUE), "Content-Type" = "text/html; charset=utf-8",
             "Content-Security-Policy" = paste("default-src 'none'; style-src 'unsafe-inline';",
                                               "script-src 'unsafe-inline'; connect-src 'self'"))
}

api_status <- function(agent) {
  pulls <- pulls(agent)
  shares <- arm_shares(agent)
  terms <- agent$terms
  standing <- agent_standing(agent)
  list(
    name = terms$name %||% NA, policy = terms$policy$name, guarantee = standing$guarantee,
    restored = standing$restored, learning = standing$learning, use = terms$use,
    rounds = sum(pulls$pulls), horizon = terms$horizon %||% NA,
    outstanding = sum(pulls$outstanding), arms = pulls,
    deadline = if (terms$deadline < Inf) terms$deadline else NA, range = terms$range,
    sums = !anyNA(agent$session$arms()$releases),
    spends = if (draws_cost(agent_guarantee(terms$policy))) "by choice" else "once",
    guess = guess_chance(agent_curve(agent)),
    # One row per recorded round and arm, as in autoplot()
    shares = shares
  )
}

# Everything for the page. It reads all tickets: what was read is shown again for twenty times as long as that took.
api_overview <- function(agent) {
  began <- seconds()
  old <- agent$overview
  if (!is.null(old) && began < old$until) return(old$value)
  value <- overview(agent)
  agent$overview <- list(value = value, until = seconds() + 20 * (seconds() - began))
  value
}

overview <- function(agent) {
  status <- api_status(agent)
  arms <- status$arms
  k <- nrow(arms)
  day <- agent_look(agent, function(tx) list(now = tx$now, totals = agent$store$totals(tx$now - 86400)))
  own <- day$totals[match(seq_len(k), day$totals$arm), ]
  number <- function(x) if (is.null(x)) rep(0, k) else ifelse(is.na(x), 0, as.numeric(x))
  estimates <- estimates(agent)
  resolved <- arms$pulls - arms$outstanding
  counted <- ifelse(is.na(estimates$rewards), resolved, pmin(estimates$rewards, resolved))
  verdict <- tryCatch(as.list(verdict(agent)), dpts_error_input = function(e) NULL)
  epsilon <- dpts_privacy(agent, delta = 1e-6)
  smallest <- function(unit, column) {
    x <- epsilon[[column]][epsilon$unit == unit]
    if (any(is.finite(x))) min(x[is.finite(x)]) else NA_real_
  }
  units <- unique(epsilon$unit)
  time <- function(x) if (is.finite(x)) format(.POSIXct(x, "UTC"), "%Y-%m-%dT%H:%M:%SZ") else NA
  c(status[setdiff(names(status), "arms")], list(
    then = agent$life$then, winner = agent$life$arms[agent$life$winner],
    now = time(day$now), since = time(min(Inf, as.numeric(day$totals$began))),
    leads = leads(estimates),
    verdict = if (!is.null(verdict)) list(arm = as.character(verdict$arm), missing = verdict$missing),
    proof = proof_in_time(agent),
    balance = if (is.null(own$tossed)) NA else sample_ratio(own, arms$pulls),
    epsilon = data.frame(unit = units, spent = vapply(units, smallest, 0, "spent"),
                         epsilon = vapply(units, smallest, 0, "epsilon"), row.names = NULL),
    arms = data.frame(
      arm = arms$arm, status = names(ARM)[match(agent$life$status, ARM)], choices = arms$pulls, recent = number(own$recent),
      counted = counted, open = resolved - counted, awaited = arms$outstanding,
      # Whether an answer came is protected where deadlines decide.
      missing = if (agent$silent) NA else number(own$missing),
      mean = estimates$mean, lower = estimates$lower, upper = estimates$upper)))
}

# Evidence for the arm that is nearest to a verdict, against its strongest rival, at up to 200 of its releases
proof_in_time <- function(agent) {
  e <- tryCatch(evidence(agent), dpts_error_input = function(e) NULL)
  k <- length(unique(e$arm))
  if (k < 2) return(NULL)
  least <- apply(array(e$evidence, c(k - 1, k, nrow(e) / (k * (k - 1)))), 2:3, min)
  best <- which.max(least[, ncol(least)])
  rows <- unique(round(seq(1, ncol(least), length.out = min(200, ncol(least)))))
  first <- 1 + (rows - 1) * k * (k - 1)
  data.frame(t = e$t[first], evidence = least[best, rows], line = e$line[(best - 1) * (k - 1) + 1])
}

# Which arm has the highest estimate, and by how much
leads <- function(estimates) {
  order <- order(-estimates$mean)
  if (sum(!is.na(estimates$mean)) < 2) return(NULL)
  list(arm = as.character(estimates$arm[order[1]]), rival = as.character(estimates$arm[order[2]]),
       by = estimates$mean[order[1]] - estimates$mean[order[2]])
}

# Were arms chosen as often as the tosses say? With n tosses, sum 1 / chance over the choices of an arm has mean n and
# its variance is about sum (1 - chance) / chance^2: normal for many. A p-value of all arms together, by Bonferroni;
# NA where chances are not known for all. (An arm that was not on offer all the time looks as if chosen too rarely.)
sample_ratio <- function(own, pulls) {
  if (anyNA(own$arm) || sum(own$tossed) < sum(pulls) || any(pulls < 20)) return(NA)
  z <- (own$inverse - sum(pulls)) / sqrt(own$spread)
  min(1, length(pulls) * 2 * stats::pnorm(-max(abs(z))))
}
