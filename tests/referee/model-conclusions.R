# What a table of releases proves, from the table alone: evidence by randomisation, bet by bet, by the theory, and the verdicts
# and the evidence against a rate that follow from it. Tables are of simulations and of agents whose arms come, pause and go.

# ln of the expectation of e^(l noise); Inf where there is none
noise_price <- function(row, l, weight = 1) {
  scale <- row$scale / weight
  switch(row$noise, none = 0,
         gaussian = l^2 * scale^2 / 2 + abs(l) * (if (is.null(row$grid)) 0 else row$grid) / 2, # rounded to a grid
         laplace = if (abs(l) * scale < 1) -log1p(-(l * scale)^2) else Inf,
         geometric = {
           step <- row$grid
           if (abs(l) * scale >= 1) Inf else
             2 * log1p(-exp(-step / scale)) - log1p(-exp(l * step - step / scale)) - log1p(-exp(-l * step - step / scale))
         })
}

# .02 times powers of 2.2, all smaller by one factor where Laplace noise would have no expectation at the floor
bet_sizes <- function(row) {
  kappa <- 0.02 * 2.2^(0:4)
  if (!row$noise %in% c("laplace", "geometric")) return(kappa)
  kappa * min(1, 0.95 * row$floor * -expm1(-1 / row$scale) / max(kappa))
}

within <- function(x, low, high) min(max(x, low), high)

# ln of the factors of one block: of a bet without squares, and of one with
linear_factor <- function(a, b, p, c, kappa) {
  q <- 1 - p
  c <- within(within(c, 1 - 0.95 * q / kappa, 0.95 * p / kappa), 0, 1)
  a0 <- log1p(-kappa * c / p)
  l <- log1p(kappa * (1 - c) / p) - a0
  b0 <- log1p(kappa * c / q)
  m <- b0 - log1p(-kappa * (1 - c) / q)
  a$n * a0 + b$n * b0 + l * a$sum - m * b$sum - noise_price(a, l) - noise_price(b, m)
}

permuted_factor <- function(a, b, kappa) {
  n <- a$n + b$n
  t <- kappa * n^2 / (a$n * b$n)
  l <- t * b$n / n
  m <- t * a$n / n
  l * a$sum - m * b$sum - t^2 * (a$n * b$n + min(a$n, b$n)) / (8 * n) - noise_price(a, l) - noise_price(b, m)
}

# Evidence of each pair after each block, of the bets without squares. `rows`: the releases of one run; `margin`: against "worse
# by as much" -> list(block, value): `value[a, b, block]`
own_evidence <- function(rows, k, margin = 0) {
  kappa <- bet_sizes(as.list(rows[1, ]))
  permuted <- isTRUE(rows$permuted[1])
  blocks <- unique(rows$block)
  log_f <- array(0, c(k, k, length(kappa)))
  n <- matrix(0, k, k)
  people <- total <- numeric(k)
  value <- array(0, c(k, k, length(blocks)))
  for (i in seq_along(blocks)) {
    now <- rows[rows$block == blocks[i] & rows$whole, ]
    arms <- as.integer(now$arm)
    each <- lapply(seq_along(arms), function(x) as.list(now[x, ]))
    guess <- pmin(1, pmax(0, (total + 5) / (people + 10)))
    for (x in seq_along(arms)) for (y in seq_along(arms)) {
      if (x == y) next
      a <- each[[x]]
      b <- each[[y]]
      if (permuted && (a$n == 0 || b$n == 0)) next
      p <- a$chance / (a$chance + b$chance)
      c <- (1 - p) * guess[arms[x]] + p * guess[arms[y]]
      gain <- vapply(kappa, function(s) if (permuted) permuted_factor(a, b, s) else linear_factor(a, b, p, c, s), 0)
      log_f[arms[x], arms[y], ] <- log_f[arms[x], arms[y], ] + gain
      n[arms[x], arms[y]] <- n[arms[x], arms[y]] + a$n + b$n
    }
    people[arms] <- people[arms] + now$n
    total[arms] <- total[arms] + now$sum
    for (a in seq_len(k)) for (b in seq_len(k)) {
      x <- log_f[a, b, ] - n[a, b] * if (permuted) -kappa * margin else log1p(-kappa * margin)
      value[a, b, i] <- max(x) + log(mean(exp(x - max(x))))
    }
  }
  list(block = blocks, value = value)
}

# Of each arm the least evidence against those of `rivals`, at each look
least_of <- function(value, rivals) {
  k <- dim(value)[1]
  out <- matrix(-Inf, k, dim(value)[3])
  for (a in rivals) out[a, ] <- apply(value[a, setdiff(rivals, a), , drop = FALSE], 3, min)
  out
}

# ---- simulations: every number of evidence() and verdict()
conclusions_setting <- function() {
  k <- one_of(2, 2, 3, whole(2, 6))
  list(k = k, means = one_of(stats::runif(k), sample(c(0.8, rep(0.4, k - 1))), rep(0.5, k)),
       budget = one_of(list(), list(mu = between(0.2, 10)), list(epsilon = between(0.2, 10))), permuted = flip(0.25),
       rule = one_of("equal", "thompson", "top_two", "neyman"), block = whole(10, 80), floor = one_of(0.2, 0.5, 1) / k,
       squares = flip(0.3), values = one_of(2, 3), people = one_of(300, 900), delay = one_of(0, 0, whole(1, 60)),
       margin = one_of(0, 0, stats::runif(1, 0, 0.3)), error = one_of(0.05, 0.3), seed = whole(1, 1e6))
}

referee_model("conclusions", conclusions_setting, function(s) {
  arms <- if (s$values == 2) arms_bernoulli(s$means) else
    arms_discrete(c(0, 0.5, 1), cbind((1 - s$means)^2, 2 * s$means * (1 - s$means), s$means^2))
  policy <- do.call(policy_randomised, c(s$budget, list(
    rule = s$rule, permuted = s$permuted, block = s$block, floor = s$floor,
    outcome = if (s$squares) "continuous" else "binary")))
  sim <- dpts_simulate(arms, policy, s$people, runs = 1, seed = s$seed, history = TRUE, delay = s$delay, record = I(s$people))
  rows <- dpts_releases(sim)
  if (!nrow(rows)) return(character())
  own <- own_evidence(rows, s$k)
  e <- evidence(sim, "tosses", error = s$error)
  pairs <- s$k * (s$k - 1)
  look <- rep(seq_along(own$block), each = pairs)
  if (nrow(e) != length(look)) return(sprintf("%d rows of evidence, and not %d", nrow(e), length(look)))
  want <- own$value[cbind(as.integer(e$arm), as.integer(e$rival), look)]
  highest <- t(apply(matrix(e$evidence, pairs), 1, cummax))
  out <- c(if (s$squares && !s$permuted) { # a fifth of the capital is on these bets
             if (any(e$evidence < want + log(0.2) - 1e-9)) "evidence with squares is less than a fifth of that without"
           } else differs("evidence", e$evidence, want),
           differs("line", e$line, rep(log((s$k - 1) / s$error), nrow(e))),
           differs("p", e$p, pmin(1, exp(-as.vector(highest)))),
           differs("looks", e$t, rows$t[match(own$block[look], rows$block)]))
  if (s$squares && !s$permuted) return(out)
  v <- verdict(sim, error = s$error, margin = s$margin)
  with_margin <- if (s$margin == 0) own else own_evidence(rows, s$k, s$margin)
  least <- least_of(with_margin$value, seq_len(s$k))
  line <- log((s$k - 1) / s$error)
  first <- which(apply(least, 2, max) >= line)[1]
  out <- c(out, if (is.na(first) != is.na(v$arm)) sprintf("the verdict is %s, and the evidence is %.4f of %.4f", v$arm, max(least), line))
  if (is.na(first) || is.na(v$arm)) return(out)
  proved <- which(least[, first] >= line)
  total <- vapply(seq_len(s$k), function(a) {
    of <- rows[as.integer(rows$arm) == a & rows$block %in% own$block[seq_len(first)], ]
    sum(of$sum) / max(1, sum(of$n))
  }, 0)
  best <- proved[which.max(pmin(1, pmax(0, total[proved])))]
  c(out, unlike("arm of the verdict", as.integer(v$arm), best), differs("t of the verdict", v$t, rows$t[match(own$block[first], rows$block)]),
    differs("wrong", v$wrong, min(1, (s$k - 1) * exp(-max(least[best, ])))))
})

# ---- agents whose arms come, pause and go: the last look, and whether a verdict stands
referee_model("arms_that_come", function() {
  list(k = whole(2, 3), block = whole(6, 25), budget = one_of(list(mu = between(0.5, 20)), list(epsilon = between(0.5, 20)), list()),
       rule = one_of("equal", "thompson"), means = one_of(stats::runif(8), c(0.95, rep(0.1, 7))), error = one_of(0.05, 0.3),
       steps = whole(6, 14), seed = whole(1, 1e6))
}, function(s) {
  names <- letters[seq_len(s$k)]
  policy <- do.call(policy_randomised, c(s$budget, list(rule = s$rule, block = s$block, floor = 0.1)))
  agent <- dpts_agent(policy, names, use = "arrival")
  on.exit(agent_close(agent))
  status <- rep("active", s$k)
  for (step in seq_len(s$steps)) {
    if (flip(0.4)) {
      verb <- sample(c("add", "pause", "resume", "retire"), 1, prob = c(2, 2, 2, 1))
      able <- which(switch(verb, resume = status == "paused", status == "active"))
      if (verb == "add" && length(names) < 6) {
        names <- c(names, letters[length(names) + 1])
        status <- c(status, "active")
        agent_arms(agent, add = utils::tail(names, 1))
      } else if (verb != "add" && length(able) && (verb == "resume" || sum(status == "active") > 2)) {
        arm <- able[sample.int(length(able), 1)]
        status[arm] <- c(pause = "paused", resume = "active", retire = "retired")[[verb]]
        do.call(agent_arms, stats::setNames(list(agent, names[arm]), c("", verb)))
      }
    }
    x <- agent_choose(agent, whole(5, 40))
    agent_reward(agent, x$ticket, as.numeric(stats::runif(nrow(x)) < s$means[as.integer(x$arm)]))
  }
  table <- dpts_releases(agent)
  rows <- if (is.null(table$event)) table else table[is.na(table$event), ]
  stay <- which(status != "retired")
  if (!nrow(rows) || length(stay) < 2) return(character())
  own <- own_evidence(rows, length(names))
  e <- evidence(agent, "tosses", error = s$error)
  last <- e[e$t == max(e$t), ]
  last <- utils::tail(last, length(stay) * (length(stay) - 1))
  at <- cbind(match(as.character(last$arm), names), match(as.character(last$rival), names), length(own$block))
  added <- length(names) - s$k
  share <- if (added) c(rep(1 / (s$k + 1), s$k), 1 / ((s$k + seq_len(added)) * (s$k + seq_len(added) + 1))) else
    rep(1 / (s$k - 1), s$k)
  if (any(status == "retired")) share <- share / (length(names) - 1)
  line <- -log(s$error * share)
  out <- c(differs("evidence", last$evidence, own$value[at], 1e-6), differs("line", last$line, line[at[, 1]]),
           unlike("pairs", sort(unique(at[, 1])), as.integer(stay)))
  v <- verdict(agent, error = s$error)
  now <- least_of(own$value, stay)[, length(own$block)]
  sure <- which(now >= line + 1e-6)
  if (length(sure) && is.na(v$arm)) out <- c(out, sprintf("\"%s\" is proved against all that stay, and there is no verdict", names[sure[1]]))
  if (!is.na(v$arm)) { # at some look its evidence against all that were there reached its line
    arm <- match(as.character(v$arm), names)
    seen <- vapply(seq_along(own$block), function(i) {
      there <- unique(as.integer(rows$arm[rows$block <= own$block[i]]))
      rivals <- setdiff(intersect(there, stay), arm)
      length(rivals) > 0 && min(own$value[arm, rivals, i]) >= line[arm] - 1e-6
    }, NA)
    if (!any(seen)) out <- c(out, sprintf("\"%s\" is the verdict, and nothing proves it", names[arm]))
  }
  out
})
