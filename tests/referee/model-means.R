# Evidence by means from the release table alone, release by release, as ?evidence_means says: random tables with noise of each
# kind and arms that come late, simulations, and agents to which arms are added.

MEANS_SHARES <- c(0.02, rep(0.073, 10), 1 / 16, 1 / 8, 1 / 16)

means_arm <- function() {
  list(m = 0.5, V = Inf, v = 0.25, coin = 0.25, G = 0.05, n = 0, y = 0, Q = 0, terms = 0, squares = NULL, groups = list(), j = 0,
       score = array(0, c(14, 2, 2)), charged = array(0, c(14, 2, 2)), later = array(0, c(14, 2, 2)), once = array(0, c(14, 2, 2)),
       ahead = c(0, 0), valued = list(), announced = c(0, 0))
}

means_variance <- function(row) {
  switch(row$noise, none = 0, gaussian = row$scale^2, laplace = 2 * row$scale^2,
         geometric = (row$grid / sinh(row$grid / (2 * row$scale)))^2 / 2)
}

# ln E e^(l noise) of one variable
means_charge <- function(row, l, scale = row$scale) {
  switch(row$noise, none = 0 * l, gaussian = l^2 * scale^2 / 2 + l * row$grid / 2,
         laplace = ifelse(l * scale < 1, -log1p(-pmin(l * scale, 1)^2), Inf),
         geometric = ifelse(l * scale < 1, -log1p(-pmin(sinh(l * row$grid / 2) / sinh(row$grid / (2 * scale)), 1)^2), Inf))
}

means_tilts <- function(row, g, v) {
  L <- row$n
  if (L == 0) return(0 * g)
  if (!row$noise %in% c("laplace", "geometric")) return(pmin(g / (v + row$scale^2 / L), 20))
  b <- row$scale
  slope <- function(u) {
    if (row$noise == "laplace") return(2 * u / (1 - u^2))
    h <- row$grid / b
    h / expm1(h * (1 - u)) - h / expm1(h * (1 + u))
  }
  low <- 0 * g
  high <- pmin(1, g * b / v, if (row$noise == "laplace") g * L / (2 * b) else Inf)
  for (i in 1:24) {
    u <- (low + high) / 2
    up <- g * L / b - u * v * L / b^2 > slope(u)
    low[up] <- u[up]
    high[!up] <- u[!up]
  }
  pmin(low / b, 20)
}

means_psi <- function(l, B) ifelse(l * B < 1e-3, l^2 * (0.5 + l * B / 3 + (l * B)^2 / 4 + (l * B)^3 / 5), (-log1p(-l * B) - l * B) / B^2)

means_square_tilts <- function(row, g, v, c) {
  vapply(c(1, -1), function(s) {
    if (row$n == 0) return(0 * g)
    B <- if (s > 0) c else 1 - c
    a <- means_variance(row) / row$n
    d <- v + a + g * B
    l <- pmin(2 * g / (d + sqrt(pmax(d^2 - 4 * a * B * g, 0))), 20, 0.95 / B)
    repeat {
      psi <- means_psi(l, B)
      k <- l - s * psi * (1 - 2 * c)
      bad <- k < 0
      if (row$noise == "laplace") bad <- bad | abs(k) * row$scale >= 0.95 | psi * row$scale >= 0.95 * row$weight
      if (!any(bad)) return(l)
      l[bad] <- 0.9 * l[bad]
    }
  }, g)
}

# Of a group: factors of the sum, of the squares and of the size, on both sides (columns), and what theta meets
means_bets <- function(group) {
  sapply(c("sum", "squares", "each", "move"), function(what) vapply(1:2, function(i) {
    s <- c(1, -1)[i]
    l <- group$l[, i]
    c <- group$c
    if (group$kind == 1) return(switch(what, sum = s * l, move = expm1(s * l), 0 * l))
    psi <- means_psi(l, if (s > 0) c else 1 - c)
    switch(what, sum = s * l - psi * (1 - 2 * c), squares = -psi, each = -s * l * c - psi * (c^2 - 1 / 4) - log1p(-s * l * c),
           move = s * l / (1 - s * l * c))
  }, numeric(14)), simplify = FALSE)
}

means_admits <- function(group, row) {
  !row$noise %in% c("laplace", "geometric") ||
    all(abs(group$bets$sum) * row$scale < 1, if (group$kind == 2) -group$bets$squares * row$scale < row$weight)
}

# The group of a release, as a number, and the arm with it
means_aim <- function(arm, row, kind) {
  g <- c(0, 0.005 * 1.6^(0:9), c(0.6, 1, 1.6) * arm$G)
  c <- if (kind == 2) min(max(arm$m, 0.01), 0.99) else 0
  l <- if (kind == 2) means_square_tilts(row, g, arm$v, c) else means_tilts(row, g, arm$coin)
  new <- list(kind = kind, c = c, l = if (kind == 2) l else cbind(l, l, deparse.level = 0), L = 0, y = 0, N = 0)
  new$bets <- means_bets(new)
  own <- which(vapply(arm$groups, function(group) group$kind == kind, NA))
  good <- own[vapply(arm$groups[own], means_admits, NA, row)]
  far <- vapply(arm$groups[good], function(group) {
    ratio <- ifelse(group$l == new$l, 1, pmax(group$l / new$l, new$l / group$l))
    max(ratio) + (abs(group$c - c) > 0.15 * sqrt(arm$v))
  }, 0)
  nearest <- good[which.min(far)]
  full <- length(own) == 24 / length(arm$kinds)
  if (full) at <- if (length(nearest)) nearest else max(own)
  else if (length(far) && min(far) <= 1.06) at <- nearest
  else {
    arm$groups <- c(arm$groups, list(new))
    at <- length(arm$groups)
  }
  list(arm = arm, at = at)
}

means_gain <- function(bets, row) bets$sum * row$sum + if (all(bets$squares == 0)) 0 else bets$squares * row$squares + bets$each * row$n

# `h`: the error that is spent on the noise of an arm, for one side
means_release <- function(arm, row, h) {
  if (is.null(arm$kinds)) arm$kinds <- if (is.na(row$squares)) 1 else 1:2
  arm$n <- arm$n + row$n
  arm$j <- arm$j + 1
  r <- row$correlation
  moving <- r > 0 && row$noise == "gaussian"
  for (kind in arm$kinds) {
    mild <- row
    if (moving) {
      mild$scale <- row$scale * sqrt((1 - r) / (1 + r))
      mild$terms <- 1
      if (arm$ahead[kind] == 0) {
        first <- means_aim(arm, mild, kind)
        arm <- first$arm
        arm$ahead[kind] <- first$at
      }
      following <- means_aim(arm, mild, kind)
      arm <- following$arm
      at <- arm$ahead[kind]
      arm$ahead[kind] <- following$at
      S <- row$scale / (sqrt(1 - r^2) * (1 - 2^-20))
      t <- stats::qnorm(h / (arm$j * (arm$j + 1)), lower.tail = FALSE)
    } else {
      aimed <- means_aim(arm, row, kind)
      arm <- aimed$arm
      at <- aimed$at
    }
    bets <- arm$groups[[at]]$bets
    on_squares <- if (kind == 1) 0 else row$terms * means_charge(row, -bets$squares, row$scale / row$weight)
    arm$score[, , kind] <- arm$score[, , kind] + means_gain(bets, row)
    if (moving) {
      s <- rep(c(1, -1), each = 14)
      k <- s * bets$sum
      later <- r * s * arm$groups[[following$at]]$bets$sum
      steady <- S^2 * (k - later)^2 / 2
      arm$charged[, , kind] <- arm$charged[, , kind] + steady + on_squares + 2 * row$grid * k * (1 + r) * S / row$scale
      arm$later[, , kind] <- later * S * t
      arm$once[, , kind] <- S^2 * k^2 / 2 - steady
    } else {
      arm$charged[, , kind] <- arm$charged[, , kind] + row$terms * means_charge(row, abs(bets$sum)) + on_squares
    }
    group <- arm$groups[[at]]
    group$L <- group$L + row$n
    group$y <- group$y + row$sum
    group$N <- group$N + mild$terms * means_variance(mild)
    arm$groups[[at]] <- group
  }
  if (any(arm$announced > 0)) {
    sizes <- vapply(arm$groups, `[[`, 0, "L")
    arm$valued <- c(arm$valued, list(list(share = arm$announced, value = arm$score - arm$charged - arm$once, sizes = sizes)))
    arm$announced <- c(0, 0)
  }
  # What is known now
  linear <- Filter(function(group) group$kind == 1 && group$L > 0, arm$groups)
  of <- function(name) vapply(linear, `[[`, 0, name)
  arm$y <- arm$y + row$sum
  arm$Q <- arm$Q + row$squares
  arm$terms <- arm$terms + row$terms
  if (length(linear)) {
    w <- of("L") / (arm$v + of("N") / of("L"))
    arm$m <- sum(w * of("y") / of("L")) / sum(w)
    arm$V <- 1 / sum(w)
    z <- within(0.5, arm$m - sqrt(arm$V), arm$m + sqrt(arm$V))
    arm$coin <- max(z * (1 - z), 0.03)
    arm$v <- if (length(arm$kinds) == 1) arm$coin else {
      n <- arm$n
      x <- arm$y / n - 0.5
      e <- max(arm$Q / n - x^2, 0)
      D <- sqrt(arm$terms * means_variance(row)) / n
      f <- max(min(abs(x), 0.5) - 2 * D - 1 / sqrt(n), 0)
      min(e + 2 * D * sqrt(1 / row$weight^2 + 4 * x^2) + 0.35 * sqrt(e / n) + 0.7 / n + 1e-4, 0.25 - f^2)
    }
  }
  arm
}

log_sum <- function(x, weight) {
  top <- max(x)
  if (top == -Inf) return(-Inf)
  top + log(sum(weight * exp(x - top)))
}

means_left <- function(arm, side) 1 - sum(vapply(arm$valued, function(part) part$share[side], 0))

# ln of the capital of one kind of bet, on a side, at theta. `at_once`: all of it is valued at the last release
means_log <- function(arm, kind, side, theta, at_once = FALSE) {
  if (!length(arm$groups)) return(0)
  own <- vapply(arm$groups, function(group) group$kind == kind, NA)
  if (!any(own)) return(-Inf)
  meets <- vapply(arm$groups[own], function(group) log1p(theta * group$bets$move[, side]), numeric(14))
  parts <- if (at_once) list() else arm$valued
  last <- if (at_once) arm$once else arm$later
  now <- (arm$score - arm$charged - last)[, side, kind] - drop(meets %*% vapply(arm$groups[own], `[[`, 0, "L"))
  values <- now
  weights <- MEANS_SHARES * if (at_once) 1 else means_left(arm, side)
  for (part in parts) {
    sizes <- c(part$sizes, numeric(length(own) - length(part$sizes)))[own]
    values <- c(values, part$value[, side, kind] - drop(meets %*% sizes))
    weights <- c(weights, MEANS_SHARES * part$share[side])
  }
  log_sum(values[weights > 0], weights[weights > 0])
}

means_at <- function(arm, side, theta) {
  each <- vapply(if (is.null(arm$kinds)) 1 else arm$kinds, function(kind) means_log(arm, kind, side, theta), 0)
  log_sum(each, 1 / length(each))
}

means_pair <- function(a, b, margin = 0, at_once = FALSE) {
  kinds <- union(union(a$kinds, b$kinds), 1)
  w <- function(theta) {
    each <- vapply(kinds, function(kind) {
      means_log(a, kind, 1, theta, at_once) + means_log(b, kind, 2, within(theta + margin, 0, 1), at_once)
    }, 0)
    log_sum(each, 1 / length(each))
  }
  from <- max(0, -margin)
  to <- max(from, min(1, 1 - margin))
  min(w(from), w(to), if (to > from) stats::optimize(w, c(from, to), tol = 1e-10)$objective)
}

means_announce <- function(arms, a, L, line, margin) {
  arm <- arms[[a]]
  if (arm$n == 0 || length(arm$valued) == 4 || any(vapply(arms, function(x) x$n == 0, NA)) || line == Inf) return(arm)
  m <- vapply(arms, `[[`, 0, "m")
  V <- vapply(arms, `[[`, 0, "V")
  leader <- which.max(m)
  rival <- a
  if (a == leader) {
    others <- setdiff(seq_along(arms), a)
    D <- m[leader] - m[others] + margin
    rival <- others[which.min(D * abs(D) / (V[leader] + V[others]))]
  }
  w <- means_pair(arms[[leader]], arms[[rival]], margin, at_once = TRUE)
  left <- means_left(arms[[leader]], 1) * means_left(arms[[rival]], 2) / 4
  side <- if (a == leader) 1 else 2
  if (log(left) + w + (max(w, 0) + 2) * L / arm$n >= line - 1) arm$announced[side] <- means_left(arm, side) / 2
  arm
}

# All arms after each look. `line`: the highest, Inf: nothing is announced; `h`: see means_release()
means_states <- function(rows, k, line, h = 0, margin = 0, rate = NA) {
  arms <- rep(list(means_arm()), k)
  lapply(split(seq_len(nrow(rows)), factor(rows$block, unique(rows$block))), function(at) {
    of_look <- lapply(at, function(i) as.list(rows[i, ]))
    for (row in of_look) {
      a <- row$arm
      arm <- arms[[a]]
      others <- setdiff(which(vapply(arms, function(x) x$n > 0, NA)), a)
      if (!is.na(rate)) {
        N <- row$terms * means_variance(row)
        arm$G <- if (arm$n > 0) abs(arm$m - rate) else if (row$n > 0 && line < Inf) sqrt(2 * line * (0.25 + N / row$n) / row$n) else 0.05
      } else if (length(others)) {
        c <- arms[[others[which.max(vapply(arms[others], `[[`, 0, "m"))]]]
        arm$G <- if (arm$n > 0) abs(arm$m - c$m + margin) * arm$V / (arm$V + c$V) else 0.05
      }
      arms[[a]] <<- arm
      if (is.na(rate) && row$correlation > 0) arms[[a]] <<- means_announce(arms, a, row$n, line, margin)
    }
    for (row in of_look) arms[[row$arm]] <<- means_release(arms[[row$arm]], row, h)
    arms
  })
}

means_rows <- function(table) {
  rows <- as.data.frame(table)
  rows$event <- if (is.null(rows$event)) NA else rows$event
  rows$grid <- if (is.null(rows$grid)) 0 else rows$grid
  rows$weight <- if (is.null(rows$weight)) ifelse(rows$noise == "gaussian", 2, 1) else
    ifelse(is.na(rows$weight), ifelse(rows$noise == "gaussian", 2, 1), rows$weight)
  rows$arm <- as.integer(rows$arm)
  rows
}

# The minimum may be missed by a millionth, to below.
means_differ <- function(what, got, want) {
  bad <- which(!is.finite(got) | got > want + 1e-9 * (1 + abs(want)) | got < want - 1e-6 - 1e-9 * (1 + abs(want)))
  if (length(bad)) sprintf("%s: %.10g, and not %.10g (place %d; %d of %d)", what, got[bad[1]], want[bad[1]], bad[1], length(bad), length(got))
}

means_table <- function(s) {
  set.seed(s$seed)
  begin <- c(1, 1, sample.int(s$looks, s$k - 2, replace = TRUE))
  truth <- stats::runif(s$k)
  spread <- if (s$squares) between(0.5, 50) else 1
  rows <- lapply(seq_len(s$looks), function(look) {
    there <- which(begin <= look)
    some <- if (look %in% begin) union(which(begin == look), there[flip(0.5)]) else there[sample.int(length(there), whole(1, length(there)))]
    do.call(rbind, lapply(sort(some), function(a) {
      n <- whole(1, one_of(10, 100, 400))
      x <- if (s$squares) stats::rbeta(n, truth[a] * spread, (1 - truth[a]) * spread) else stats::runif(n) < truth[a]
      data.frame(block = look, arm = a, n = n, sum = sum(x), squares = sum((x - 0.5)^2))
    }))
  })
  rows <- do.call(rbind, rows)
  rows$t <- cumsum(rows$n)
  rows$t <- stats::ave(rows$t, rows$block, FUN = max)
  rows$noise <- s$noise
  rows$scale <- if (s$noise == "none") 0 else s$scale * if (s$varied) sample(c(1, 1.5, 3), nrow(rows), TRUE) else 1
  rows$terms <- if (s$noise == "none") 0 else if (s$varied) sample(1:3, nrow(rows), TRUE) else 1
  if (s$noise == "geometric") rows$grid <- s$grid
  if (s$noise == "gaussian" && s$rounded) rows$grid <- 2^-20
  rows$correlation <- s$correlation
  rows$sum <- rows$sum + stats::rnorm(nrow(rows), 0, rows$scale)
  rows$squares <- if (s$squares) rows$squares + stats::rnorm(nrow(rows), 0, rows$scale / 2)
  as_releases(rows)
}

steps_setting <- function() {
  noise <- one_of("none", "gaussian", "laplace", "geometric")
  correlation <- if (noise == "gaussian" && flip()) stats::runif(1, 0.05, 0.9) else 0
  list(from = one_of("table", "table", "simulation", "agent"), k = one_of(2, 3, whole(2, 12)), looks = whole(2, 30), noise = noise,
       scale = between(0.1, 20), grid = one_of(1, 0.1, 2^-20), rounded = flip(0.3), correlation = correlation,
       varied = correlation == 0 && flip(0.4), squares = noise != "geometric" && flip(0.4), policy = batch_policies(),
       live = one_of(quote(policy_gaussian_imed(mu = 2)), quote(policy_dp_imed(2)), quote(policy_gaussian_imed(mu = 1, correlation = 0))),
       people = one_of(200, 1000), law = random_law(3, 0, FALSE), error = one_of(0.5, 0.05, 0.005), margin = one_of(0, stats::runif(1, 0, 0.3)),
       rate = stats::runif(1), seed = whole(1, 1e6))
}

referee_model("means_by_hand", steps_setting, function(s) {
  added <- 0
  x <- switch(s$from, table = means_table(s), simulation = dpts_simulate(
    law_arms(s$law), eval(s$policy, globalenv()), s$people, runs = 1, seed = s$seed, history = TRUE, record = I(s$people)), agent = {
      agent <- dpts_agent(eval(s$live), c("a", "b"), use = "arrival")
      on.exit(agent_close(agent))
      for (i in 1:3) {
        for (j in 1:8) agent_reward(agent, agent_choose(agent, whole(1, 20))$ticket, stats::runif(1) < s$rate)
        if (i < 3 && flip(0.7)) {
          added <- added + 1
          agent_arms(agent, add = letters[2 + added])
        }
      }
      agent
    })
  table <- dpts_releases(x)
  rows <- means_rows(table)
  k <- if (is.factor(table$arm)) nlevels(table$arm) else length(unique(table$arm))
  rows <- rows[is.na(rows$event) & rows$whole, ]
  if (!nrow(rows)) return(character())
  moving <- rows$correlation[1] > 0
  spent <- if (moving) 0.1 * s$error else 0
  share <- if (added) ifelse(1:k <= k - added, 1 / (k - added + 1), 1 / (1:k * (1:k + 1))) else rep(1 / (k - 1), k)
  width <- rows$high[1] - rows$low[1]
  bit <- if (is.null(rows$flip)) 0 else rows$flip[1]

  # Pairs, at some looks
  line <- -log(share * (s$error - spent))
  states <- means_states(rows, k, max(line), spent / k)
  e <- evidence(x, "means", error = s$error)
  n <- length(states)
  if (nrow(e) != n * k * (k - 1)) return(sprintf("%d rows of evidence at %d looks", nrow(e), n))
  look <- rep(seq_len(n), each = k * (k - 1))
  at <- c(sample.int(nrow(e), min(nrow(e), 25)), utils::tail(seq_len(nrow(e)), min(k, 3)))
  want <- vapply(at, function(i) means_pair(states[[look[i]]][[as.integer(e$arm[i])]], states[[look[i]]][[as.integer(e$rival[i])]]), 0)
  highest <- t(apply(matrix(e$evidence, k * (k - 1)), 1, cummax))
  out <- c(means_differ("evidence", e$evidence[at], want), differs("line", e$line, line[as.integer(e$arm)]),
           differs("p", e$p, pmin(1, 2 * spent / k + exp(-as.vector(highest)))),
           differs("looks", e$t, rows$t[match(unique(rows$block), rows$block)][look]))

  # Against a rate, everything
  rate <- rows$low[1] + s$rate * width
  double <- 2 * spent
  line <- -log((if (added) share else rep(1 / k, k)) / 2 * (s$error - double))
  against <- means_states(rows, k, max(line), double / (2 * k), rate = bit + (1 - 2 * bit) * s$rate)
  e <- evidence(x, "means", against = rate, error = s$error)
  want <- unlist(lapply(against, function(arms) lapply(arms, function(arm) {
    vapply(1:2, function(side) means_at(arm, side, bit + (1 - 2 * bit) * s$rate), 0)
  })))
  out <- c(out, differs("against a rate", e$evidence, want), differs("line against a rate", e$line, line[as.integer(e$arm)]))
  if (k > 3 || n > 40) return(out)

  # With a margin: the verdict and non-inferiority
  margin <- s$margin * (1 - 2 * bit) / width
  pairs <- expand.grid(b = seq_len(k), a = seq_len(k))
  pairs <- pairs[pairs$a != pairs$b, ]
  at_looks <- function(states) vapply(states, function(arms) {
    mapply(function(a, b) means_pair(arms[[a]], arms[[b]], margin), pairs$a, pairs$b)
  }, numeric(nrow(pairs)))
  line <- -log(share * (s$error - spent))
  w <- at_looks(means_states(rows, k, max(line), spent / k, margin))
  least <- matrix(apply(w, 2, function(x) tapply(x, pairs$a, min)), k)
  v <- verdict(x, error = s$error, margin = s$margin)
  first <- which(apply(least >= line, 2, any))[1]
  if (min(abs(least - line)) > 1e-5) {
    out <- c(out, if (is.na(first) != is.na(v$arm)) sprintf("the verdict is %s, and the evidence is %.4f", v$arm, max(least)))
    if (is.na(first)) {
      leader <- which.max(least[, n])
      if (sum(least[, n] > max(least[, n]) - 1e-5) == 1) {
        out <- c(out, differs("wrong", v$wrong, min(1, spent + exp(-max(least[leader, ], 0)) / share[leader]), 1e-5))
      }
    } else {
      out <- c(out, differs("t of the verdict", v$t, rows$t[match(unique(rows$block), rows$block)][first]))
      arm <- as.integer(v$arm)
      out <- c(out, if (least[arm, first] < line[arm]) "the arm of the verdict is not proved",
               differs("wrong", v$wrong, min(1, spent + exp(-max(least[arm, ])) / share[arm]), 1e-5))
    }
  }
  if (s$margin == 0) return(out)
  level <- 1 - s$error
  spent <- if (moving) 0.2 * s$error else 0
  w <- at_looks(means_states(rows, k, Inf, spent / (2 * k), margin))
  f <- effects(x, control = 1, level = level, margin = s$margin)
  of <- pairs$b == 1
  c(out, differs("p with a margin", f$p, pmin(1, spent / k + exp(-apply(w, 1, max, 0)[of])), 2e-6))
})
