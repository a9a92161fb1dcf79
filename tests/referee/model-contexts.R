# Contextual policies event by event, by ?policy_linucb and ?policy_logistic_ucb: replays of logs whose rewards are all
# different, so that they tell which events were kept. The noise is too small to matter (mu = 1e10, margin 0); what is left
# is the regression: weights of rows, contexts longer than the norm, batches of all arms or of each, late rewards, the theta
# at which the approximation of the logistic model is taken.

context_settings <- function() {
  d <- whole(1, 5)
  list(k = whole(2, 4), d = d, n = whole(100, 300), delay = one_of(0, 1, 7, 30), batch = one_of(1, 3, 8),
       norm = stats::runif(1, 0.3, 1.2) * sqrt(d), logistic = flip(), public = flip(), alpha = one_of(0.3, 1, 2),
       ridge = one_of(0.3, 1, 4), centre = whole(0, 1024) / 1024, intercept = flip(0.3), shared = flip(0.3), pure = flip(0.3),
       seed = whole(1, 1e6))
}

# -> the features of each arm in an event (rows), as the model sees them
context_rows <- function(setting, context, features) {
  if (setting$shared) return(t(apply(features, 1, function(f) as.vector(outer(f, context)))))
  rows <- matrix(context, setting$k, length(context), byrow = TRUE)
  if (setting$intercept) cbind(1, rows) else rows
}

context_play <- function(setting) {
  n <- setting$n
  k <- setting$k
  contexts <- matrix(stats::runif(n * setting$d), n)
  features <- if (setting$shared) matrix(stats::runif(2 * k), k)
  log <- data.frame(arm = sample(k, n, TRUE), reward = (sample(n) - 0.5) / n,
                    stats::setNames(as.data.frame(contexts), paste0("context", seq_len(setting$d))))
  if (length(unique(log$arm)) < k) return(character())
  pure <- setting$pure && !setting$logistic && !setting$public # by rewards alone a pure policy draws bits
  arguments <- list(alpha = setting$alpha, norm = setting$norm, batch = setting$batch, margin = 0,
                    ridge = setting$ridge, contexts = if (setting$public) "public" else "private",
                    model = if (setting$shared) "shared" else "disjoint")
  arguments[[if (pure) "epsilon" else "mu"]] <- 1e10
  if (!setting$logistic) arguments <- c(arguments, centre = setting$centre, intercept = setting$intercept && !setting$shared)
  setting$intercept <- isTRUE(arguments$intercept)
  policy <- do.call(if (setting$logistic) policy_logistic_ucb else policy_linucb, arguments)
  replay <- dpts_replay(log, policy, runs = I(1), seed = setting$seed, delay = setting$delay, history = TRUE,
                        arm_features = features)
  kept <- log$reward %in% dpts_history(replay)$reward

  models <- if (setting$shared) 1 else k
  length_of <- length(context_rows(setting, contexts[1, ], features)[1, ])
  # Numbers of [0, 1]^d are no longer than sqrt(d), or d by their sum, and an intercept adds one of them that is 1.
  own <- length_of - setting$intercept
  size_of <- if (pure) function(z) sum(z) else function(z) sqrt(sum(z^2))
  norm <- if (pure) min(setting$norm, own) + setting$intercept else
    sqrt(min(setting$norm, sqrt(own))^2 + setting$intercept)
  a <- rep(list(diag(setting$ridge, length_of)), models)
  b <- rep(list(numeric(length_of)), models)
  theta <- b
  waiting <- vector("list", models) # items of the open batch
  queue <- list()                   # kept events whose reward is out
  complaints <- character()
  for (event in seq_len(n)) {
    rows <- context_rows(setting, contexts[event, ], features)
    model <- if (setting$shared) rep(1, k) else seq_len(k)
    index <- vapply(seq_len(k), function(arm) {
      z <- rows[arm, ]
      sum(theta[[model[arm]]] * z) + setting$alpha * sqrt(max(0, sum(z * solve(a[[model[arm]]], z))))
    }, 0)
    best <- which(index > max(index) - 1e-7)
    shown <- log$arm[event]
    if (kept[event] && !shown %in% best || !kept[event] && length(best) == 1 && best == shown) {
      return(sprintf("event %d: arm %d %s, with the indices %s", event, shown, if (kept[event]) "was kept" else "was not kept",
                     paste(format(index, digits = 8), collapse = " ")))
    }
    if (!kept[event]) next
    queue <- c(queue, list(list(z = rows[shown, ], model = model[shown], reward = log$reward[event])))
    if (length(queue) <= setting$delay) next
    item <- queue[[1]]
    queue <- queue[-1]
    z <- item$z
    size <- size_of(z)
    weight <- if (size <= norm) norm / size else (norm / size)^2
    if (setting$logistic) {
      eta <- min(max(sum(theta[[item$model]] * z), -3), 3)
      slope <- stats::dlogis(eta)
      new <- list(a = weight * slope * outer(z, z), b = weight * z * (item$reward - stats::plogis(eta) + slope * eta))
    } else {
      new <- list(a = weight * outer(z, z), b = weight * z * (item$reward - setting$centre))
    }
    new$model <- item$model
    place <- if (setting$public) item$model else 1
    waiting[[place]] <- c(waiting[[place]], list(new))
    if (length(waiting[[place]]) < setting$batch) next
    for (one in waiting[[place]]) {
      a[[one$model]] <- a[[one$model]] + one$a
      b[[one$model]] <- b[[one$model]] + one$b
    }
    waiting[place] <- list(NULL)
    for (m in seq_len(models)) theta[[m]] <- solve(a[[m]], b[[m]])
  }
  complaints
}

referee_model("contexts", context_settings, context_play)
