# The one list of all policies: an example or more of each, with random options. test-session.R holds it
# against C's list.

# `make()`: the policy; `steps()`: how many it needs to release something; `dim`: numbers of a context. For
# what holds for all but some: `varies`, TRUE if what it wraps, and so what it says of itself, is drawn at random;
# `drops`, TRUE if some rewards may be in no release (elimination has a quota for each arm, and tosses only where
# no arm on offer has survived), "interrupted" if that is so where arms come and go or rewards are late. For
# the coupling of R/audit-coupling.R also `busy`: the share of configurations with pools and discarded choices;
# `values`: what may be released in the place of noisy numbers; `least`: so much of the budget is spent
# by the worst of many configurations.
session_policies <- function() {
  epsilon <- function(low = 0.01, high = 10) exp(runif(1, log(low), log(high)))
  one_of <- function(...) switch(sample.int(...length(), 1), ...)
  flag <- function() runif(1) < 0.5
  short <- function() sample(8:200, 1)
  plan <- function(make, ...) list(make, epsilon(), one_of(1.1, 1.5, 2, 3), sample.int(6, 1), ...)
  call_plan <- function(x) do.call(x[[1]], x[-1])
  linear <- function(make, ...) function() {
    make(epsilon(), runif(1), model = one_of("disjoint", "shared"),
         mechanism = one_of("tree", "gamma"), batch = one_of(NULL, 1, 2, 5),
         ridge = one_of(0.1, 1), ...)
  }
  # Each round in one batch of Laplace's noise, or, with public contexts, a bit
  batches <- function(make, ...) function() {
    make(epsilon(), runif(1), model = one_of("disjoint", "shared"), batch = one_of(NULL, 1, 2, 5),
         norm = one_of(NULL, 1, 0.3), ridge = one_of(NULL, 1), margin = one_of(NULL, 0, 1), centre = one_of(NULL, 0, 0.3),
         intercept = flag(), ...)
  }
  gaussian <- function(make, ...) function() {
    make(Inf, runif(1), mu = epsilon(), model = one_of("disjoint", "shared"),
         mechanism = one_of("toeplitz", "toeplitz", "tree"), batch = one_of(NULL, 1, 2, 5),
         norm = one_of(NULL, 1, 0.3), ridge = one_of(0.1, 1), margin = one_of(0, 0.25, 1),
         centre = one_of(NULL, 0, 0.3), intercept = flag(), ...)
  }
  logistic <- function(...) function() {
    policy_logistic_ucb(epsilon(), runif(1), model = one_of("disjoint", "shared"),
                        batch = one_of(NULL, 1, 2, 5), norm = one_of(NULL, 1, 0.3),
                        ridge = one_of(0.01, 1), margin = one_of(0, 0.25, 1), ...)
  }
  predicted <- function(protect) function() {
    budget <- if (flag()) list(mu = epsilon()) else list(epsilon = epsilon())
    do.call(policy_randomised, c(budget, list(
      rule = one_of("equal", "thompson", "top_two", "neyman"), block = one_of(5, c(5, 9), c(8, 6, 7)),
      floor = one_of(0, 0.1, 0.25), outcome = "continuous", predicted = one_of(c(0.3, 0.7), c(0, 1), c(0.1, 0.3)),
      protect = protect
    )))
  }
  base <- function() one_of(2, exp(1), 1e30)
  correlation <- function() one_of(0, 0.3, 0.65, 0.99)
  public <- lapply(list(
    uniform = policy_uniform, ucb1 = policy_ucb1, imed = policy_imed, klucb = policy_klucb,
    fixed = function() policy_fixed(1),
    ts_beta = function() policy_ts_beta(stats::runif(2, 0.5, 3)),
    ts_gaussian = function() policy_ts_gaussian(sample(0:5, 1), stats::runif(1, 0.1, 5)),
    ts_filter = function() policy_ts_gaussian(sample(0:5, 1), 1, filter = privacy_gdp(stats::runif(1, 0.5, 3)))
  ), function(make) list(make = make))
  cases <- c(public, list(
    linucb_open = list(make = function() policy_linucb(alpha = 0.5), dim = 2),
    lin_ts_open = list(make = function() policy_lin_ts(v = 0.5), dim = 2),
    logistic_open = list(make = function() policy_logistic_ucb(alpha = 0.5, model = one_of("disjoint", "shared")),
                         dim = 2),
    dp_ts = list(make = function() policy_dp_ts(epsilon(), base())),
    lazy_dp_ts = list(make = function() policy_lazy_dp_ts(epsilon(), base())),
    lazy_ucb = list(make = function() policy_lazy_ucb(epsilon(), base())),
    lazy_gaussian_ts = list(make = function() policy_lazy_gaussian_ts(epsilon(), correlation())),
    adap_ucb = list(make = function() policy_adap_ucb(epsilon(), one_of(3.1, 0.5))),
    adap_klucb = list(make = function() policy_adap_klucb(epsilon(), one_of(3.1, 0.5))),
    adac_ucb = list(make = function() policy_adac_ucb(epsilon(), one_of(3.1, 0.5), correlation())),
    dp_klucb = list(make = function() call_plan(plan(policy_dp_klucb))),
    dp_imed = list(make = function() {
      if (flag()) {
        return(call_plan(plan(policy_dp_imed)))
      }
      policy_dp_imed(epsilon(), one_of(NULL, 1.5), one_of(NULL, 1, 3), index = "likelihood",
                     schedule = one_of(NULL, "geometric"), safety = one_of(NULL, 0.5))
    }),
    gaussian_imed = list(make = function() {
      policy_gaussian_imed(epsilon(), one_of(NULL, 1.5), one_of(NULL, 1, 3), one_of(NULL, 0, 0.5, 0.99),
                           safety = one_of(NULL, 0, 1), outcome = one_of("binary", "continuous"))
    }),
    dp_se = list(make = function() policy_dp_se(epsilon(1, 30), one_of(NULL, 0.9)),
                 steps = function() sample(750:1500, 1), busy = 0.3, drops = TRUE),
    halving = list(drops = TRUE, make = function() {
      people <- one_of(NULL, 20, 60)
      if (flag()) policy_halving(epsilon(), people = people) else policy_halving(epsilon = epsilon(), people = people)
    }),
    top_two = list(make = function() {
      error <- one_of(0.5, 0.9)
      outcome <- if (error == 0.5) "continuous" else "binary"
      if (flag()) policy_top_two(epsilon(1, 30), error = error, outcome = outcome) else
        policy_top_two(epsilon = epsilon(1, 30), error = error, margin = one_of(0, 0.1), outcome = outcome)
    }),
    randomised = list(drops = "interrupted", make = function() {
      budget <- if (flag()) list(mu = epsilon()) else list(epsilon = epsilon())
      do.call(policy_randomised, c(budget, list(
        rule = one_of("equal", "thompson", "top_two", "neyman"), block = one_of(5, c(5, 9), c(8, 6, 7)),
        floor = one_of(0, 0.1, 0.25), control = one_of(NULL, 1), burn_in = one_of(0, 1, 2), permuted = flag(),
        outcome = one_of("binary", "continuous")
      )))
    }),
    randomised_predicted = list(drops = "interrupted", dim = 1, make = predicted("person")),
    randomised_informed = list(drops = "interrupted", dim = 1, least = 1 - 2e-5, make = predicted("reward")),
    mt_ucb = list(make = function() policy_mt_ucb(epsilon(), 0.1, flag(), flag())),
    mt_ts = list(make = function() {
      if (flag()) return(policy_mt_ts(epsilon(), TRUE, one_of(NULL, 0, 1, 3), flag()))
      policy_mt_ts(epsilon(300, 3000), FALSE, one_of(NULL, 0, 5), flag())
    }),
    dp_ucb_bound = list(make = function() policy_dp_ucb_bound(epsilon())),
    dp_ucb_int = list(make = function() policy_dp_ucb_int(one_of(0.2, 0.3, 1, 3), one_of(1.1, 1.5))),
    dp_ts_ucb = list(make = function() policy_dp_ts_ucb(one_of(0, 0.5, 1), one_of(0.05, 0.3, 4))),
    linucb = list(make = linear(policy_linucb), dim = 2),
    linucb_public = list(make = linear(policy_linucb, contexts = "public"), dim = 2),
    lin_ts = list(make = linear(policy_lin_ts), dim = 2),
    lin_ts_public = list(make = linear(policy_lin_ts, contexts = "public"), dim = 2),
    # All of it is spent by two rounds of other arms, with the longest contexts: test-policy-linear.R.
    linucb_batches = list(make = batches(policy_linucb), dim = 2, least = 0.5),
    linucb_bits = list(make = batches(policy_linucb, contexts = "public"), dim = 2, values = 0:1),
    lin_ts_batches = list(make = batches(policy_lin_ts), dim = 2, least = 0.5),
    linucb_gaussian = list(make = gaussian(policy_linucb), dim = 2, least = 0.6),
    linucb_gaussian_public = list(make = gaussian(policy_linucb, contexts = "public"), dim = 2),
    lin_ts_gaussian = list(make = gaussian(policy_lin_ts), dim = 2, least = 0.6),
    lin_ts_gaussian_public = list(make = gaussian(policy_lin_ts, contexts = "public"), dim = 2),
    # All of it is spent by rare pairs of rounds: test-policy-logistic.R.
    logistic_ucb = list(make = logistic(), dim = 2, least = 0.6),
    logistic_ucb_public = list(make = logistic(contexts = "public"), dim = 2),
    adap_tt = list(make = function() policy_adap_tt(epsilon(1, 30), one_of(0.1, 0.9), one_of("run", "proved"))),
    dp_tt = list(make = function() policy_dp_tt(epsilon(1, 30), one_of(0.5, 0.9)))
  ))
  cases$restart <- list(varies = TRUE, make = function() {
    inner <- cases[c("lazy_dp_ts", "gaussian_imed", "dp_imed", "mt_ucb", "adap_ucb", "dp_ts")]
    policy_restart(inner[[sample.int(length(inner), 1)]]$make(), sample(1:100, 1))
  })
  # Around a policy that promises nothing, the bits are all that is promised.
  cases$local <- list(varies = TRUE, values = 0:1, make = function() {
    policy_local(one_of(policy_ucb1(), policy_ts_beta(), policy_imed(), policy_klucb(),
                        policy_ts_gaussian(1)), epsilon())
  })
  cases$exp3 <- list(make = function() policy_exp3(one_of("entropy", "tsallis")))
  cases$private <- list(varies = TRUE, make = function() {
    inner <- one_of(policy_ucb1(), policy_exp3(), policy_exp3("tsallis"), policy_ts_beta())
    if (flag()) policy_private(inner, epsilon(), batch = one_of(NULL, 1, 5)) else
      policy_private(inner, mu = epsilon(), batch = one_of(NULL, 1, 5))
  })
  cases$forget <- list(make = function() {
    size <- sample.int(6, 1)
    how <- if (flag()) list(window = sample(size:60, 1)) else list(discount = runif(1, 0.5, 1))
    do.call(policy_forget, c(how, if (flag()) list(epsilon = epsilon()) else list(mu = epsilon()), batch = size))
  })
  cases$detect <- list(varies = TRUE, make = function() {
    inner <- cases[c("forget", "lazy_ucb", "gaussian_imed", "dp_imed", "adap_ucb")]
    policy <- inner[[sample.int(length(inner), 1)]]$make()
    if (isTRUE(policy$params$correlation > 0)) policy <- policy_dp_imed(1)
    policy_detect(policy, delta = one_of(0.01, 0.9), explore = one_of(0, 0.1))
  })
  cases$clipped <- list(varies = TRUE, drops = TRUE, make = function() {
    inner <- if (flag()) policy_lazy_ucb(epsilon(0.5, 10)) else policy_forget(window = 20, mu = epsilon(0.5, 10), batch = 3)
    if (flag()) policy_clipped(inner, one_of(c(0, 1), c(-0.5, 0.7))) else
      policy_clipped(inner, one_of(c(0, NA), c(NA, NA)), epsilon(0.5, 10), tail = 0.3, pilot = sample.int(8, 1))
  })
  lapply(cases, function(x) {
    utils::modifyList(list(steps = short, dim = 0, busy = 1, values = c(0, 0, 0, 1, 7), least = 1, varies = FALSE,
                          drops = FALSE), x)
  })
}

# Those that release something under a promise
coupled_policies <- function() {
  Filter(function(case) {
    policy <- withr::with_seed(1, case$make())
    !promises_nothing(policy$guarantee) && (is_true_of(policy, "releases") || flip_of(policy) > 0)
  }, session_policies())
}

# One random configuration, coupled. With `fill` it is one in which a reward can spend all: one
# arm, whose rewards come at once and fill every tree to its last level.
couple_at_random <- function(case, fill = FALSE) {
  policy <- case$make()
  steps <- if (fill) 2^sample(0:6, 1) else case$steps()
  own <- runif(1) < 0.5 || is_shared(policy)
  script <- random_script(if (fill) 1L else sample(2:4, 1), steps, case$dim, own)
  at <- if (fill || runif(1) < 0.3) 1L else sample.int(steps, 1)
  if (runif(1) > case$busy) script[c("offers", "discard")] <- NULL
  if (fill) {
    script[c("horizon", "offers", "discard", "delays")] <- list(steps, NULL, NULL, NULL)
    script$rewards[] <- 0
    script$contexts[] <- 1
  }
  neighbours <- policy$guarantee$neighbours
  private <- neighbours %in% c("joint", "own_arm", "predicted") && (fill || runif(1) < 0.8)
  other <- random_neighbour(script, at, private)
  if (fill) {
    other$rewards[1, ] <- 1
    other$contexts <- script$contexts
    # Of a residual both ends move.
    if (neighbours == "predicted") other$contexts[1] <- 0
    else if (private) script$contexts[seq_len(case$dim)] <- 0
  }
  play <- coupling_player(policy)
  if (private && neighbours == "own_arm") {
    # Given the round's own arm
    script$arms[at] <- other$arms[at] <- play(script)$arm[at]
  }
  # In most runs what is released is a whole number, so that there are ties.
  values <- if (runif(1) < 0.7) sample(case$values, 20 * steps, TRUE)
  out <- couple(play, script, other, values, if (private && neighbours == "joint") at)
  out$free <- is.null(values)
  out$share <- if (out$releases) {
    coupling_share(out$cost, policy$guarantee, conditions(script$horizon, script$k))
  } else Inf
  out$policy <- policy
  out
}

# Does every configuration hold? The facts of many of them, one row each.
couple_many <- function(case, n, fill = 10) {
  out <- lapply(seq_len(n), function(i) couple_at_random(case, i %% fill == 0))
  free <- Filter(function(x) x$free, out)
  list(arms = vapply(out, `[[`, NA, "arms"), releases = vapply(out, `[[`, NA, "releases"),
       said = vapply(out, `[[`, NA, "said"), share = vapply(out, `[[`, 0, "share"),
       noise = lapply(free, function(x) coupling_noise(x$ledger)),
       repeated = vapply(free, function(x) {
         anyDuplicated(x$ledger$noise[noise_names(x$ledger$kind) != "response"]) > 0
       }, NA))
}

# The p-values of uniform noise, and of no correlation between neighbouring releases of a run
noise_tests <- function(noise) {
  pairs <- do.call(rbind, lapply(noise, function(u) cbind(u[-length(u)], u[-1])))
  if (length(unlist(noise)) == 0) return(c(distribution = 1, pairs = 1)) # bits
  c(distribution = stats::ks.test(unlist(noise), "punif")$p.value,
    pairs = if (NROW(pairs) > 10) stats::cor.test(pairs[, 1], pairs[, 2])$p.value else 1)
}

# A batch policy in R that keeps a ledger, right or broken: the arm of the largest private mean
# plus a width, batches of 1, 2, 4, ... rewards of an arm. What can be broken:
#   raw       the index takes the exact mean
#   hint      the index takes a millionth of the exact mean
#   half      noise of half the scale, and the ledger shows it
#   lie       the same, and the ledger says that it is whole
#   shared    one draw of noise for all releases
#   redraw    fresh noise for all arms each time the index is looked at
#   peek      a batch ends early if it has gone well
#   twice     a batch is released together with the one before
#   silent    a batch without success is not released
broken_player <- function(epsilon, broken = "nothing") {
  function(script, forced = NULL) withr::with_seed(script$seed, {
    k <- script$k
    steps <- length(script$arms)
    ledger <- list()
    one_draw <- rlaplace(1, 1 / epsilon)
    release <- function(exact) {
      scale <- if (broken == "half") 0.5 / epsilon else 1 / epsilon
      noise <- if (broken == "shared") one_draw else
        rlaplace(1, if (broken == "lie") scale / 2 else scale)
      i <- length(ledger) + 1
      value <- if (i <= length(forced)) forced[i] else exact + noise
      ledger[[i]] <<- list(exact = exact, kind = 1, scale = scale, noise = value - exact,
                           value = value, release = i)
      value
    }
    n <- mean <- exact <- sum <- come <- last <- numeric(k)
    arm <- released <- integer(steps)
    for (t in seq_len(steps)) {
      if (broken == "redraw") for (i in which(n > 0)) mean[i] <- release(exact[i] * n[i]) / n[i]
      offer <- script$offers[[t]]
      if (is.null(offer)) offer <- seq_len(k)
      index <- (if (broken == "raw") exact else mean) + 3 * log(t) / (epsilon * n)
      if (broken == "hint") index <- index + 1e-6 * exact
      i <- if (any(n[offer] == 0)) offer[n[offer] == 0][1] else offer[which.max(index[offer])]
      arm[t] <- i
      come[i] <- come[i] + 1
      sum[i] <- sum[i] + script$rewards[t, i]
      early <- broken == "peek" && sum[i] > 0.5
      if (come[i] == max(1, 2 * n[i]) || early) {
        if (!(broken == "silent" && sum[i] == 0)) {
          mean[i] <- release(sum[i] + if (broken == "twice") last[i] else 0) / come[i]
        }
        exact[i] <- sum[i] / come[i]
        last[i] <- sum[i]
        n[i] <- come[i]
        sum[i] <- come[i] <- 0
      }
      released[t] <- length(ledger)
    }
    columns <- c("exact", "kind", "scale", "noise", "value", "release")
    list(arm = arm, released = released,
         ledger = lapply(stats::setNames(columns, columns), function(x) {
           vapply(ledger, `[[`, 0, x)
         }))
  })
}

# A linear policy in R, right or broken: two arms with contexts of two numbers and one model, whose sums
# are released with the square-root factorisation and Gaussian noise after every round. The arm of the
# largest theta.z. What can be broken:
#   raw       the choice takes the exact sums
#   norm      sqrt(1 + log(4 T / 5) / pi) for the norm of a column of R, which is too little
#   entries   the noise off A's diagonal is an eighth of that on it
#   share     A and b take all of mu each
#   redraw    running sums with fresh noise in place of the factorisation
#   length    contexts are not shortened
broken_linear_player <- function(mu, broken = "nothing") {
  function(script, forced = NULL) withr::with_seed(script$seed, {
    steps <- length(script$arms)
    f <- cumprod(c(1, 1 - 1 / (2 * seq_len(steps))))[seq_len(steps)]
    norm <- if (broken == "norm") sqrt(1 + log(4 * steps / 5) / pi) else sqrt(sum(f^2))
    half <- if (broken == "share") 1 else sqrt(2)
    off <- if (broken == "entries") 8 else sqrt(2)
    sd <- norm * sqrt(2) * half / mu * c(1, 1 / off, 1, 1, 1)
    items <- y <- matrix(0, 5, steps)
    exact <- numeric(5 * steps)
    arm <- integer(steps)
    sums <- numeric(5)
    for (t in seq_len(steps)) {
      z <- script$contexts[, , t]
      look <- if (broken == "raw") rowSums(items) else sums
      theta <- solve(matrix(look[c(1, 2, 2, 3)], 2) + diag(100, 2), look[4:5])
      arm[t] <- i <- if (sum(theta * z[, 1]) >= sum(theta * z[, 2])) 1L else 2L
      x <- z[, i]
      if (broken != "length") x <- x / max(1, sqrt(sum(x^2)))
      items[, t] <- c(x[1]^2, x[1] * x[2], x[2]^2, script$rewards[t, i] * x)
      at <- 5 * (t - 1) + 1:5
      exact[at] <- if (broken == "redraw") rowSums(items) else items[, 1:t, drop = FALSE] %*% f[t:1]
      y[, t] <- if (is.null(forced)) exact[at] + stats::rnorm(5, 0, sd) else forced[at]
      sums <- if (broken == "redraw") y[, t] else drop(y[, 1:t, drop = FALSE] %*% f[t:1])
    }
    noise <- as.vector(y) - exact
    list(arm = arm, released = 5L * seq_len(steps),
         ledger = list(exact = exact, kind = rep(2, 5 * steps), scale = rep(sd, steps), noise = noise,
                       value = as.vector(y), release = seq_len(5 * steps)))
  })
}

# A logistic policy in R, right or broken: like broken_linear_player(), with the logistic link, for contexts of
# length 1 at most. What can be broken:
#   raw       the choice takes the exact sums
#   eta       the weights take the exact sums
#   reach     eta is not cut to [-3, 3]
#   separate  A and b have the noise of moves of sqrt(2) / 4 and 1, each with half of mu^2
#   linear    the noise is made for weights of 1/4, but they are 1
broken_logistic_player <- function(mu, broken = "nothing") {
  function(script, forced = NULL) withr::with_seed(script$seed, {
    steps <- length(script$arms)
    f <- cumprod(c(1, 1 - 1 / (2 * seq_len(steps))))[seq_len(steps)]
    sd <- sqrt(sum(f^2)) / mu * (if (broken == "separate") c(1 / 2, sqrt(2)) else c(0.41, 1.64))
    sd <- sd[c(1, 1, 1, 2, 2)] / c(1, sqrt(2), 1, 1, 1)
    items <- y <- matrix(0, 5, steps)
    exact <- numeric(5 * steps)
    arm <- integer(steps)
    sums <- numeric(5)
    theta_of <- function(look) {
      e <- eigen(matrix(look[c(1, 2, 2, 3)], 2) + diag(0.1, 2), symmetric = TRUE)
      drop(e$vectors %*% (crossprod(e$vectors, look[4:5]) / pmax(e$values, 0.1)))
    }
    for (t in seq_len(steps)) {
      z <- script$contexts[, , t]
      true <- rowSums(items)
      theta <- theta_of(if (broken == "raw") true else sums)
      arm[t] <- i <- if (sum(theta * z[, 1]) >= sum(theta * z[, 2])) 1L else 2L
      x <- z[, i] / max(1, sqrt(sum(z[, i]^2)))
      eta <- sum((if (broken == "eta") theta_of(true) else theta) * x)
      if (broken != "reach") eta <- max(-3, min(3, eta))
      w <- if (broken == "linear") 1 else stats::dlogis(eta)
      items[, t] <- c(w * c(x[1]^2, x[1] * x[2], x[2]^2),
                      (script$rewards[t, i] - stats::plogis(eta) + stats::dlogis(eta) * eta) * x)
      at <- 5 * (t - 1) + 1:5
      exact[at] <- items[, 1:t, drop = FALSE] %*% f[t:1]
      y[, t] <- if (is.null(forced)) exact[at] + stats::rnorm(5, 0, sd) else forced[at]
      sums <- drop(y[, 1:t, drop = FALSE] %*% f[t:1])
    }
    list(arm = arm, released = 5L * seq_len(steps),
         ledger = list(exact = exact, kind = rep(2, 5 * steps), scale = rep(sd, steps),
                       noise = as.vector(y) - exact, value = as.vector(y), release = seq_len(5 * steps)))
  })
}

# ---- scripts, and what couplings cost ------------------------------------------------------------

# The cost as a share of what the guarantee promises under the conditions `at`: above 1, it is broken
coupling_share <- function(cost, guarantee, at) {
  if (promises_nothing(guarantee)) return(0)
  epsilon <- form(guarantee, "epsilon", at)
  if (!is.null(epsilon)) return(if (cost$mu > 0) Inf else ratio(sum(cost$epsilon), epsilon))
  mu <- form(guarantee, "mu", at)
  if (!is.null(mu)) return(ratio(sqrt(cost$mu^2 + sum(pure_mu(cost$epsilon)^2)), mu))
  delta <- c(0, 1e-9, 1e-6, 1e-3, 0.1)
  max(ratio(coupling_epsilon(cost, delta), form(guarantee, "curve", at)(delta)))
}

ratio <- function(x, y) ifelse(x == 0, 0, x / y)

# Is the noise what the ledger says? One number in (0, 1) for each release, uniform and independent
# if so: of the noise under Laplace's and the normal distribution, of its length under the Gamma
# mechanism's. Bits are left out.
coupling_noise <- function(ledger) {
  ledger <- lapply(ledger, `[`, noise_names(ledger$kind) != "response")
  z <- ledger$noise / ledger$scale
  kind <- noise_names(ledger$kind)
  first <- !duplicated(ledger$release)
  laplace <- ifelse(z < 0, exp(pmin(z, 0)) / 2, 1 - exp(-pmax(z, 0)) / 2)
  single <- ifelse(kind == "Laplace", laplace, stats::pnorm(z))
  if (!any(kind == "Gamma")) return(single)
  norm <- sqrt(tapply(z^2, ledger$release, sum))
  numbers <- tapply(z, ledger$release, length)
  ifelse(kind[first] == "Gamma", stats::pgamma(norm, numbers), single[first])
}

# A random script
#
# What is public is drawn at random, with all that can go wrong: arms that come and go, choices
# that are discarded, rewards that come at once, late, out of order or never, and an end at which what is open is released.
#
# @param dim Numbers in a context, 0 for none; `own`: has each arm its own?
random_script <- function(k, steps, dim = 0, own = FALSE) {
  one_of <- function(...) switch(sample.int(...length(), 1), ...)
  number <- function(n) one_of(stats::runif(n), stats::rbinom(n, 1, stats::runif(1)) + 0,
                               rep(stats::runif(1), n), rep(one_of(0, 1), n), stats::rbeta(n, 0.2, 0.2))
  rewards <- vapply(seq_len(k), function(i) number(steps), numeric(steps))
  discard <- one_of(NULL, stats::runif(steps) < stats::runif(1, 0, 0.7))
  script <- list(
    k = k, horizon = one_of(steps, steps + sample.int(steps, 1)), arms = rep(NA_integer_, steps),
    rewards = matrix(rewards, steps, k), seed = sample.int(1e9, 1),
    offers = one_of(NULL, random_offers(k, steps)), discard = discard,
    delays = one_of(NULL, random_delays(steps)), own = own, fresh = TRUE, finish = stats::runif(1) < 0.5
  )
  if (dim > 0) {
    shape <- c(dim, if (own) k, steps)
    script$contexts <- array(stats::runif(prod(shape)), shape)
  }
  script
}

random_offers <- function(k, steps) {
  new <- stats::runif(steps) > stats::runif(1)
  pools <- sum(new)
  on <- matrix(stats::runif(k * pools) < rep(stats::runif(pools), each = k), k)
  on[cbind(sample.int(k, pools, TRUE), seq_len(pools))] <- TRUE # never none
  offers <- c(list(seq_len(k)), lapply(seq_len(pools), function(i) which(on[, i])))
  offers[1 + cumsum(new)]
}

# Up to 40 rounds; a reward that is more rounds late than there are never comes.
random_delays <- function(steps) {
  delays <- switch(sample.int(3, 1), sample.int(41, 1) - 1L, sample.int(41, steps, TRUE) - 1L,
                   sample.int(sample.int(4, 1), steps, TRUE) - 1L)
  never <- stats::runif(length(delays)) < sample(c(0, 0, 0.2), 1)
  as.integer(ifelse(never, steps, delays))
}

# The neighbour of a script: other rewards in step `at`, and another context if it is protected
#
# The toss of a coin, which some policies make for a reward inside (0, 1), takes a random
# number, and rewards of 0 and 1 take none. Where rewards are late another toss may follow in the
# same step; so that it finds the same number in both runs, a reward of 0 or 1 then becomes 1 or 0,
# and one inside (0, 1) another one, as near to 0 or 1 as may be, too. Nothing is lost: a coin of
# 1e-300 shows 0 as a reward of 0 does.
random_neighbour <- function(script, at, context = FALSE) {
  old <- script$rewards[at, ]
  inside <- sample(c(1e-300, 1 - 2^-53, stats::runif(1)), script$k, TRUE)
  any <- sample(c(0, 1, stats::runif(1)), script$k, TRUE)
  script$rewards[at, ] <- if (is.null(script$delays)) ifelse(any == old, 1 - old, any) else
    ifelse(old %in% 0:1, 1 - old, inside)
  if (context) {
    size <- length(script$contexts) / length(script$arms)
    script$contexts[(at - 1) * size + seq_len(size)] <- sample(c(0, 1, stats::runif(1)), size, TRUE)
  }
  script
}
