# policy_randomised() in plain R, by its help page: who is in which block, what is released when, and with
# which chances every person is tossed. It has no random numbers: the arms and the released sums are given to it.

# Returns functions: probability(offer), of each arm; commit(offer, arm), the block that the person is in, 0: none;
#   erase(block, arm), somebody whose reward is out: 2, who was alone in the block; 1; 0, in none;
#   update(block, arm, reward), erase(), finish(), which take what they release from next_sum(n, exact), a function of
#   the people of an arm in a block and the sum of their rewards, for the released one; grow(k); report(), of
#   each arm n, sum and the number of releases
randomised_model <- function(k, next_sum, mu = NULL, epsilon = NULL, rule = "equal", block = NULL, floor = 0.1,
                             control = NULL, burn_in = 1, permuted = FALSE) {
  noise <- if (!is.null(mu)) 1 / mu^2 else if (!is.null(epsilon)) 2 / epsilon^2 else 0
  floor <- pmax(floor, 1e-6)
  floors_of <- function() {
    f <- rep(min(floor[1], 1 / k), k)
    if (!is.null(control)) f[control] <- if (length(floor) == 2) floor[2] else 1 / k
    f
  }
  equal_of <- function() {
    f <- rep(1 / k, k)
    own <- if (is.null(control)) 0 else floors_of()[control]
    if (own > 1 / k) f <- replace(rep((1 - own) / (k - 1), k), control, own)
    f
  }
  n <- sum <- releases <- numeric(k)
  coming <- equal_of()  # the chances of the next block
  begun <- people <- 0
  waiting <- list()     # blocks that are not released, the oldest first
  is_open <- FALSE      # does the last of them take people?

  size <- function() {
    if (is.null(block) || (length(block) == 1 && block <= 4)) {
      of_all <- ((if (is.null(block)) 1.3 else block) - 1) * people
      if (is.null(block)) of_all <- min(of_all, 200 * noise * k)
      return(max(200, ceiling(of_all)))
    }
    block[min(begun + 1, length(block))]
  }
  # Largest remainders, the first arm first
  places <- function(chance) {
    each <- chance * size()
    out <- base::floor(each)
    rest <- order(-(each - out), seq_along(each))
    out[rest[seq_len(size() - base::sum(out))]] <- out[rest[seq_len(size() - base::sum(out))]] + 1
    out
  }
  renew <- function() {
    if (rule == "equal" || begun < burn_in || any(n == 0)) return()
    x <- sum / n
    y <- pmin(pmax((sum + 1) / (n + 2), 0), 1)
    v <- pmax(y * (1 - y), 0.01) / n + noise * releases / n^2
    raw <- numeric(k)
    if (rule == "thompson") {
      raw <- vapply(seq_len(k), function(a) {
        z <- seq(-8, 8, length.out = 801)
        value <- x[a] + sqrt(v[a]) * z
        below <- lapply(seq_len(k)[-a], function(b) stats::pnorm((value - x[b]) / sqrt(v[b])))
        base::sum(stats::dnorm(z) * Reduce(`*`, below)) * (z[2] - z[1])
      }, 0)
    } else if (rule == "top_two") {
      a <- which.max(x)
      index <- (x[a] - x)^2 / (2 * (v[a] + v)) + 2 * log(pmax(n, 1))
      c <- setdiff(order(index), a)[1]
      raw[c(a, c)] <- c(v[a], v[c]) / (v[a] + v[c])
    } else {
      x <- pmin(pmax(x, 0), 1)
      raw <- sqrt(pmax(x * (1 - x), 0.01))
    }
    f <- floors_of()
    coming <<- f + (1 - base::sum(f)) * raw / base::sum(raw)
  }
  release <- function(of) {
    for (a in of$offer[of$chance[of$offer] > 0]) {
      n[a] <<- n[a] + of$come[a]
      sum[a] <<- sum[a] + next_sum(of$come[a], of$rewards[a])
      releases[a] <<- releases[a] + 1
    }
    renew()
  }
  mine <- function(offer) is_open && setequal(offer, waiting[[length(waiting)]]$offer)

  list(
    probability = function(offer = seq_len(k)) {
      offer <- sort(offer)
      share <- coming
      if (is_open) {
        now <- waiting[[length(waiting)]]
        share[now$offer] <- now$chance[now$offer]
        if (permuted && mine(offer) && base::sum(now$left) > 0) share[now$offer] <- now$left[now$offer]
      } else if (permuted && length(waiting) < 16 && base::sum(coming[offer]) > 0) {
        share[offer] <- places(coming[offer] / base::sum(coming[offer]))
      }
      share <- share[offer]
      if (base::sum(share) == 0) share <- rep(1, length(offer))
      replace(numeric(k), offer, share / base::sum(share))
    },
    commit = function(offer, arm) {
      offer <- sort(offer)
      if (!is_open) {
        if (length(waiting) == 16 || base::sum(coming[offer]) == 0) return(0)
        chance <- replace(numeric(k), offer, coming[offer] / base::sum(coming[offer]))
        waiting[[length(waiting) + 1]] <<- list(
          number = begun + 1, offer = offer, chance = chance, size = size(), people = 0, others = 0,
          left = if (permuted) replace(numeric(k), offer, places(chance[offer])), rewards = numeric(k), come = numeric(k)
        )
        begun <<- begun + 1
        is_open <<- TRUE
      }
      at <- length(waiting)
      if (!mine(offer)) {
        waiting[[at]]$others <<- waiting[[at]]$others + 1
        if (waiting[[at]]$others > waiting[[at]]$size) is_open <<- FALSE
        return(0)
      }
      people <<- people + 1
      waiting[[at]]$people <<- waiting[[at]]$people + 1
      if (permuted) waiting[[at]]$left[arm] <<- max(0, waiting[[at]]$left[arm] - 1)
      if (waiting[[at]]$people == waiting[[at]]$size) is_open <<- FALSE
      waiting[[at]]$number
    },
    update = function(number, arm, reward) {
      for (i in seq_along(waiting)) if (waiting[[i]]$number == number) {
        waiting[[i]]$come[arm] <<- waiting[[i]]$come[arm] + 1
        waiting[[i]]$rewards[arm] <<- waiting[[i]]$rewards[arm] + reward
      }
      if (length(waiting) == 0 || (is_open && length(waiting) == 1)) return()
      first <- waiting[[1]]
      if (base::sum(first$come) < first$people) return()
      waiting <<- waiting[-1]
      release(first)
    },
    erase = function(number, arm) {
      there <- 0L
      for (at in which(vapply(waiting, `[[`, 0, "number") == number)) {
        people <<- people - 1
        waiting[[at]]$people <<- waiting[[at]]$people - 1
        if (permuted) waiting[[at]]$left[arm] <<- waiting[[at]]$left[arm] + 1
        there <- if (waiting[[at]]$people == 0) 2L else 1L
        if (there == 1) next
        if (is_open && at == length(waiting)) {
          begun <<- begun - 1
          is_open <<- FALSE
        }
        waiting <<- waiting[-at]
      }
      while (length(waiting) > is_open && base::sum(waiting[[1]]$come) == waiting[[1]]$people) {
        first <- waiting[[1]]
        waiting <<- waiting[-1]
        release(first)
      }
      there
    },
    finish = function() {
      for (of in waiting) if (base::sum(of$come) > 0) release(of)
      waiting <<- list()
      is_open <<- FALSE
    },
    grow = function(more) {
      share <- c(coming * k / more, rep(1 / more, more - k))
      longer <- function(x) c(x, numeric(more - k))
      n <<- longer(n)
      sum <<- longer(sum)
      releases <<- longer(releases)
      if (is_open && waiting[[length(waiting)]]$people == 0) waiting <<- waiting[-length(waiting)]
      for (i in seq_along(waiting)) {
        for (name in c("chance", "left", "rewards", "come")) waiting[[i]][[name]] <<- longer(waiting[[i]][[name]])
      }
      is_open <<- FALSE
      k <<- more
      f <- floors_of()
      coming <<- if (rule == "equal") equal_of() else f + (1 - base::sum(f)) * share
    },
    report = function() list(n = n, sum = sum, releases = releases)
  )
}

# A script of random kind for a policy of random arguments
randomised_script <- function() {
  one_of <- function(...) list(...)[[sample.int(...length(), 1)]]
  k <- sample(2:4, 1)
  args <- list(
    rule = one_of("equal", "thompson", "top_two", "neyman"), permuted = one_of(TRUE, FALSE), burn_in = sample(0:3, 1),
    block = one_of(NULL, sample(5:30, 1), sample(5:20, sample(2:6, 1), TRUE), 1.4), control = one_of(NULL, sample(k, 1)),
    floor = one_of(0.001, 0.1, 0.2)
  )
  if (args$rule == "top_two" && stats::runif(1) < 0.3) args$floor <- 0 # 1e-6, exactly
  if (!is.null(args$control) && stats::runif(1) < 0.5) args$floor <- c(0.1, one_of(0.05, 0.5))
  budget <- one_of(list(), list(mu = 1), list(mu = 5), list(epsilon = 0.2), list(epsilon = 10))
  steps <- if (is.null(args$block)) 1200 else if (args$block[1] < 5) 800 else 300
  some <- function() if (stats::runif(1) < 0.8) seq_len(k) else sample(k, sample(2:k, 1))
  offers <- one_of(NULL, rep(replicate(20, some(), FALSE), each = steps / 20), rep(replicate(steps, some(), FALSE)))
  arms <- rep(NA_integer_, steps)
  forced <- which(stats::runif(steps) < one_of(0, 0.05, 0.5))
  arms[forced] <- vapply(forced, function(t) {
    offer <- if (is.null(offers)) seq_len(k) else offers[[t]]
    offer[sample.int(length(offer), 1)]
  }, 0L)
  list(k = k, args = c(args[!vapply(args, is.null, NA)], budget), steps = steps, offers = offers, arms = arms,
       rewards = as.numeric(stats::runif(steps) < stats::runif(1)), delays = one_of(0, 3, 40, c(0, 0, 0, 90), c(0, 1, 0, 7)),
       released = stats::runif(1e4, 0, one_of(3, 40)), seed = sample.int(1e6, 1))
}
