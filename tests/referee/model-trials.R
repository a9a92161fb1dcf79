# Planned trials, person by person, by the pages of dpts_plan(), policy_randomised() and arms_strata(): strata with shares and blocks
# of their own, and the one test at the end. A plan of other random numbers may differ by chance alone.

# One trial: a list of blocks, each with its stratum, chances, numbers of people and noisy sums; and the failures.
trial_play <- function(s) {
  count <- tabulate(sample.int(s$S, s$people, TRUE, s$share), s$S)
  blocks <- list()
  failures <- 0
  for (g in seq_len(s$S)) {
    n <- total <- noise <- numeric(s$k)
    b <- done <- 0
    while (done < count[g]) {
      b <- b + 1
      size <- min(s$block[min(b, length(s$block))], count[g] - done)
      chance <- trial_chances(s, b, n, total, noise)
      now <- tabulate(sample.int(s$k, size, TRUE, chance), s$k)
      sums <- stats::rbinom(s$k, now, s$rates[g, ])
      failures <- failures + sum(now * (1 - s$rates[g, ]))
      sums <- sums + stats::rnorm(s$k) / s$mu
      n <- n + now
      total <- total + sums
      noise <- noise + 1 / s$mu^2
      done <- done + size
      blocks[[length(blocks) + 1]] <- list(g = g, chance = chance, n = now, sum = sums)
    }
  }
  list(blocks = blocks, count = count, failures = failures)
}

trial_chances <- function(s, b, n, total, noise) {
  if (s$rule == "equal" || b == 1 || any(n == 0)) return(rep(1 / s$k, s$k))
  x <- total / n
  if (s$rule == "neyman") raw <- sqrt(pmax(x * (1 - x), 0.01)) else {
    y <- (total + 1) / (n + 2)
    sd <- sqrt(pmax(y * (1 - y), 0.01) / n + noise / n^2)
    at <- seq(min(x - 8 * sd), max(x + 8 * sd), length.out = 401)
    below <- vapply(seq_len(s$k), function(a) stats::pnorm(at, x[a], sd[a]), at)
    raw <- vapply(seq_len(s$k), function(a) sum(stats::dnorm(at, x[a], sd[a]) * apply(below[, -a, drop = FALSE], 1, prod)), 0)
  }
  floor <- rep(s$floor, s$k)
  if (!is.null(s$control)) floor[s$control] <- max(floor[s$control], 1 / s$k)
  floor + (1 - sum(floor)) * raw / sum(raw)
}

# What the test at the end says of one trial
trial_end <- function(trial, s) {
  k <- s$k
  part <- vapply(trial$blocks, function(b) paste(c(b$g, signif(b$chance, 12)), collapse = " "), "")
  part <- cumsum(c(TRUE, part[-1] != part[-length(part)])) # blocks of a stratum follow each other
  all_of <- function(what) rowsum(t(vapply(trial$blocks, `[[`, numeric(k), what)), part)
  n <- all_of("n")
  x <- all_of("sum") / n
  people <- rowSums(n)
  y <- (all_of("sum") + 1) / (n + 2)
  v <- pmax(y * (1 - y), 0.01) / n + as.vector(table(part)) / s$mu^2 / n^2
  pairs <- expand.grid(a = seq_len(k), b = if (is.null(s$control)) seq_len(k) else s$control)
  pairs <- pairs[pairs$a != pairs$b, ]
  seen <- n[, pairs$a, drop = FALSE] > 0 & n[, pairs$b, drop = FALSE] > 0
  if (!all(seen)) return(rep(NA, 4)) # an arm got nobody in a part
  gap <- x[, pairs$a, drop = FALSE] - x[, pairs$b, drop = FALSE]
  spread <- v[, pairs$a, drop = FALSE] + v[, pairs$b, drop = FALSE]
  d <- colSums(people * gap) / sum(people)
  se <- sqrt(colSums(people^2 * spread)) / sum(people)
  z <- pmin(d / se, colSums(sqrt(people / sum(people)) * gap / sqrt(spread)))
  claims <- z > stats::qnorm(1 - s$error / if (is.null(s$control)) k else k - 1)
  means <- drop(trial$count %*% s$rates) / s$people
  once <- if (is.null(s$control)) pairs$a < pairs$b else TRUE
  half <- stats::qnorm(1 - s$error / 2 / sum(rep_len(once, nrow(pairs)))) * se
  arms <- setdiff(seq_len(k), s$control)
  claimed <- arms[vapply(arms, function(a) all(claims[pairs$a == a]), NA)]
  rivals <- function(a) if (is.null(s$control)) means[-a] else means[s$control]
  c(power = arms[which.max(drop(s$share %*% s$rates)[arms])] %in% claimed,
    false_claims = any(vapply(claimed, function(a) any(means[a] <= rivals(a)), NA)),
    coverage = all((abs(d - means[pairs$a] + means[pairs$b]) <= half)[once]), width = mean(2 * half[once]))
}

referee_model("trials", function() {
  k <- whole(2, 5)
  S <- whole(1, 3)
  share <- stats::rexp(S) + 0.2
  effects <- c(0, sample(c(-0.08, 0.08, 0.12, 0.15), k - 1, TRUE))
  list(k = k, S = S, share = share / sum(share), rates = outer(stats::runif(S, 0.2, 0.6), effects, "+"), people = one_of(300, 600, 1000),
       mu = one_of(0.5, 1, 3), block = one_of(1e9, 50, c(40, 100)), rule = one_of("equal", "thompson", "neyman"), floor = 0.5 / k,
       control = if (flip()) 1, error = one_of(0.05, 0.2), runs = 150, seed = whole(1, 1e6))
}, function(s) {
  own <- replicate(s$runs, { trial <- trial_play(s); c(trial_end(trial, s), failures = trial$failures) })
  arms <- lapply(seq_len(s$S), function(g) arms_bernoulli(s$rates[g, ]))
  world <- if (s$S == 1) arms[[1]] else do.call(arms_strata, c(stats::setNames(arms, letters[seq_len(s$S)]), list(share = s$share)))
  policy <- policy_randomised(mu = s$mu, block = s$block, rule = s$rule, floor = s$floor, control = s$control)
  plan <- dpts_plan(list(d = policy), list(w = world), s$people, control = s$control, error = s$error, runs = 600, seed = s$seed)
  far <- 5 # standard errors: four columns of a game are far by chance in one game of 400,000
  out <- character()
  if (anyNA(own)) own <- own["failures", , drop = FALSE]
  for (column in rownames(own)) {
    got <- plan[[column]]
    if (is.na(got)) next
    m <- mean(own[column, ])
    share <- column %in% c("power", "false_claims", "coverage")
    pooled <- (m * s$runs + got * 600 + 1) / (s$runs + 602)
    sd <- if (share) sqrt(pooled * (1 - pooled)) else stats::sd(own[column, ])
    off <- far * sd * sqrt(1 / s$runs + 1 / 600) + if (column == "width") 0.05 * m else 1e-9 # variances of few people are not in the page
    if (abs(got - m) > off) out <- c(out, sprintf("%s: %.4g in the plan, %.4g here", column, got, m))
  }
  out
})
