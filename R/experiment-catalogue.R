# One function a figure. Defaults that a paper does not state are ours; the comment beside
# each says what is known.

catalogue <- function() {
  list(
    "ou-1" = experiment_ou_1,
    "ou-2" = experiment_ou_regret("ou-2", c(1, 5, 10)),
    "ou-3" = experiment_ou_regret("ou-3", c(1, 2, 5, 10)),
    "ou-4" = experiment_ou_regret("ou-4", c(1, 5, 10)),
    "ou-5" = experiment_ou_regret("ou-5", c(1, 2, 5, 10)),
    "ou-6" = experiment_ou_accountants("ou-6", c("gdp", "rdp", "standard")),
    "ou-7" = experiment_ou_accountants("ou-7", c("gdp", "rdp")),
    "ou-8" = experiment_ou_8,
    "hh-1" = experiment_hh("hh-1", 500),
    "hh-2" = experiment_hh("hh-2", 1),
    "hh-3" = experiment_hh("hh-3", 0.5),
    "hh-4" = experiment_hh("hh-4", 0.25),
    "hh-5" = experiment_hh("hh-5", 0.1),
    "mt-1" = experiment_mt_1,
    "mt-2" = experiment_mt_2
  )
}

source_ou <- function(figure) sprintf("Ou, Avella Medina, Cummings 2024, Figure %d", figure)
source_hh <- function(figure) sprintf("Hu, Hegde 2022, Figure %d", figure)
source_mt <- function(figure) sprintf("Mishra, Thakurta 2015, Figure %d", figure)

# Ou et al., section 5.1, and Hu and Hegde, section 4.
five_arms <- function() arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))

# `settings`: A tibble, one row per policy, in the order of `policies`.
# `claims`: What the paper says the figure shows: a list of `claim()`s.
new_experiment <- function(id, title, source, kind, ..., settings = NULL,
                           parameters = list(), open = character(), claims = list()) {
  structure(
    list(id = id, title = title, source = source, kind = kind, ..., settings = settings,
         parameters = parameters, open = open, claims = claims),
    class = "dpts_experiment"
  )
}

# A factor whose levels are in the order they come in
ordered_labels <- function(x) factor(x, levels = unique(x))

# ---- Ou, Avella Medina and Cummings -----------------------------------------------------

experiment_ou_1 <- function(prepulls = c(0, 1, 4, 9, 49, 99),
                            variance_scale = c(1, 2, 5, 10, 50, 100),
                            delta = 10^-seq(1, 12, by = 0.25), accountant = "paper",
                            horizon = 1000) {
  prepulls <- unique(check_counts(prepulls, 0))
  variance_scale <- unique(check_numbers(variance_scale, 0, open = TRUE))
  delta <- check_numbers(delta, 0, 1, open = TRUE)
  horizon <- check_count(horizon)
  accountant <- check_choice(accountant, c("paper", "gdp", "rdp", "advanced", "sequence"),
                             several = TRUE)
  by_b <- data.frame(panel = "varying b, c = 1", series = paste("b =", shorts(prepulls)),
                     prepulls = prepulls, variance_scale = 1)
  by_c <- data.frame(panel = "varying c, b = 0", series = paste("c =", shorts(variance_scale)),
                     prepulls = 0, variance_scale = variance_scale)
  settings <- rbind(by_b, by_c)
  settings$panel <- ordered_labels(settings$panel)
  settings$series <- ordered_labels(settings$series)
  settings$policy <- ordered_labels(paste0(settings$panel, ": ", settings$series))
  new_experiment(
    "ou-1", "What pre-pulls and the variance scale do for privacy", source_ou(1), "privacy",
    arms = 2, policies = settings_policies(settings), horizon = horizon, delta = delta,
    accountant = accountant, conversion = "improved",
    settings = tibble::as_tibble(settings[c("policy", "panel", "series", "prepulls",
                                            "variance_scale")]),
    parameters = list(prepulls = prepulls, variance_scale = variance_scale,
                      delta = range(delta), accountant = accountant),
    open = "The paper fixes T = 1000 and does not name the values of b and c.",
    claims = claims_ou_1()
  )
}

# One Gaussian Thompson sampling policy for each row of settings
settings_policies <- function(settings) {
  stats::setNames(
    Map(policy_ts_gaussian, settings$prepulls, settings$variance_scale),
    as.character(settings$policy)
  )
}

# Ou et al. do not name their values of b. These run from none to the most that leaves
# most of 100,000 rounds to five arms.
ou_prepulls <- function() c(0, 9, 49, 99, 199, 499, 999, 1999, 3999)

# Figures 2 to 5. The arms of the paper, section 5.1 (2, 3) and 5.2 (4, 5); 10 runs; the
# guarantees are 1, 5 and 10 in its Appendix D.
experiment_ou_regret <- function(id, guarantees) {
  force(guarantees)
  function(mu = guarantees, prepulls = ou_prepulls(), accountant = "paper", horizon = 1e5) {
    mu <- unique(check_numbers(mu, 0, open = TRUE))
    prepulls <- sort(unique(check_counts(prepulls, 0)))
    accountant <- check_choice(accountant, c("paper", "gdp", "sequence"))
    horizon <- check_count(horizon)
    figure <- as.integer(sub("ou-", "", id))
    arms <- if (figure <= 3) five_arms() else arms_truncexp(c(0.1, 1, 2, 5, 10))
    rewards <- if (figure <= 3) "Bernoulli" else "truncated exponential"
    settings <- expand.grid(prepulls = prepulls, mu = sort(mu))
    # The last round must be one of sampling, and the paper assumes c >= 1.
    settings <- settings[settings$prepulls * n_arms(arms) < horizon, ]
    settings$variance_scale <- unlist(Map(
      function(mu, b) scale_for(mu, b, horizon, accountant, n_arms(arms)),
      settings$mu, settings$prepulls
    ))
    if (accountant == "paper") settings <- settings[settings$variance_scale >= 1, ]
    if (!nrow(settings)) {
      abort_dpts("No pair of `mu` and `prepulls` leaves a variance scale of at least 1.",
                 "dpts_error_input")
    }
    panel <- sprintf("%s-GDP", shorts(settings$mu))
    if (accountant == "paper") {
      panel <- sprintf("%s\nc(b + 1) = %s", panel, shorts(horizon / settings$mu^2))
    }
    settings$panel <- ordered_labels(panel)
    settings$series <- factor(paste("b =", shorts(settings$prepulls)),
                              levels = paste("b =", shorts(prepulls)))
    settings$policy <- ordered_labels(sprintf(
      "%s-GDP, b = %s, c = %s", shorts(settings$mu), shorts(settings$prepulls),
      shorts(settings$variance_scale)
    ))
    over_time <- figure %in% c(2, 4)
    new_experiment(
      id,
      sprintf(if (over_time) "Regret over time by (b, c), %s rewards"
              else "Regret against the guarantee by b, %s rewards", rewards),
      source_ou(figure), if (over_time) "simulation" else "tuning",
      arms = arms, policies = settings_policies(settings), horizon = horizon, runs = 10,
      accountant = accountant,
      settings = tibble::as_tibble(settings[c("policy", "panel", "series", "mu", "prepulls",
                                              "variance_scale")]),
      parameters = list(mu = mu, prepulls = prepulls, accountant = accountant),
      open = paste("The paper's values of b are not in its text; the guarantees 1, 5 and 10",
                   "are those of its Appendix D. c is the least inside the guarantee."),
      claims = if (over_time) claims_ou_over_time() else claims_ou_at_horizon()
    )
  }
}

# The least variance scale inside mu-GDP
scale_for <- function(mu, prepulls, horizon, accountant, k) {
  # Lemma 5, composed over T rounds: mu^2 = T / (c (b + 1)).
  if (accountant == "paper") return(horizon / (mu^2 * (prepulls + 1)))
  # The sequence accountant speaks of one delta, 1 / T.
  budget <- if (accountant == "gdp") privacy_gdp(mu)
    else privacy_approx(gdp_epsilon(mu, 1 / horizon), 1 / horizon)
  dpts_calibrate(budget, horizon, prepulls, accountant = accountant,
                 arms = k)$params$variance_scale
}

# Figures 6 and 7: the analyses of Algorithm 1. N, T and delta are not in the text.
experiment_ou_accountants <- function(id, accountants) {
  force(accountants)
  function(arms = 5, horizon = c(1e3, 1e5), delta = 10^-(1:12), accountant = accountants, conversion = "mironov") {
    arms <- check_counts(arms, 2)
    horizon <- check_counts(horizon, 1)
    delta <- check_numbers(delta, 0, 1, open = TRUE)
    accountant <- check_choice(accountant, c("gdp", "rdp", "standard", "advanced", "sequence"),
                               several = TRUE)
    conversion <- check_choice(conversion, c("mironov", "improved"))
    both <- recycle_common(arms = arms, horizon = horizon)
    figure <- as.integer(sub("ou-", "", id))
    new_experiment(
      id,
      if (figure == 6) "Gaussian, Renyi and standard differential privacy compared"
      else "Gaussian and Renyi differential privacy compared",
      source_ou(figure), "privacy",
      arms = both$arms, policies = list("Thompson sampling" = policy_ts_gaussian()),
      horizon = both$horizon, delta = delta, accountant = accountant, conversion = conversion,
      parameters = list(arms = arms, horizon = horizon, delta = range(delta),
                        accountant = accountant, conversion = conversion),
      open = "N, T and delta of these figures are not in the paper's text.",
      claims = claims_ou_accountants(accountant)
    )
  }
}

# Figure 8. delta is not in the text: 1e-5 is 1 / T. The pre-pulls are the best of
# ou_prepulls() for 1-, 5- and 10-GDP, by 100 runs of "ou-3"; the extended tests check it.
# Other guarantees take those of the nearest of the three.
experiment_ou_8 <- function(mu = c(1, 5, 10), delta = 1e-5, prepulls = NULL,
                            matching = "paper", also = FALSE, horizon = 1e5) {
  mu <- check_numbers(mu, 0, open = TRUE)
  if (anyDuplicated(mu)) abort_arg("mu", "numbers that differ", mu, caller_env())
  delta <- check_number(delta, 0, 1, open = TRUE)
  prepulls <- prepulls %||% vapply(mu, function(m) {
    c(1999, 499, 499)[which.min(abs(log(m / c(1, 5, 10))))]
  }, 0)
  prepulls <- check_counts(prepulls, 0)
  if (!length(prepulls) %in% c(1, length(mu))) {
    abort_arg("prepulls", "one whole number for each `mu`", prepulls, caller_env())
  }
  matching <- check_choice(matching, c("paper", "gdp"))
  check_flag(also)
  horizon <- check_count(horizon)
  # A pure epsilon is mu-GDP for mu = 2 qnorm(e^epsilon / (1 + e^epsilon)).
  epsilon <- if (matching == "paper") gdp_epsilon(mu, delta) else {
    stats::pnorm(mu / 2, log.p = TRUE) - stats::pnorm(-mu / 2, log.p = TRUE)
  }
  scale <- horizon / (mu^2 * (prepulls + 1))
  rows <- lapply(seq_along(mu), function(i) {
    policies <- list(
      "DP-SE" = policy_dp_se(epsilon[i]),
      "Anytime-Lazy-UCB" = policy_lazy_ucb(epsilon[i]),
      "Modified TS" = policy_ts_gaussian(rep_len(prepulls, length(mu))[i], scale[i])
    )
    if (also) policies[["Lazy-DP-TS"]] <- policy_lazy_dp_ts(epsilon[i], log_base = exp(1))
    given <- if (matching == "paper") {
      sprintf("epsilon = %s\ndelta = %s", short(epsilon[i]), label_count(delta))
    } else sprintf("epsilon = %s\ndelta = 0", short(epsilon[i]))
    pure <- names(policies) != "Modified TS"
    list(policies = policies, settings = data.frame(
      panel = sprintf("%s-GDP\n%s", short(mu[i]), given), series = names(policies), mu = mu[i],
      epsilon = ifelse(pure, epsilon[i], NA),
      prepulls = ifelse(pure, NA, rep_len(prepulls, length(mu))[i]),
      variance_scale = ifelse(pure, NA, scale[i])
    ))
  })
  settings <- do.call(rbind, lapply(rows, `[[`, "settings"))
  settings$policy <- ordered_labels(sprintf("%s, %s-GDP", settings$series, shorts(settings$mu)))
  settings$panel <- ordered_labels(settings$panel)
  settings$series <- ordered_labels(settings$series)
  policies <- unlist(lapply(rows, `[[`, "policies"), recursive = FALSE)
  new_experiment(
    "ou-8", "Modified Thompson sampling against DP-SE and Anytime-Lazy-UCB", source_ou(8),
    "simulation", arms = five_arms(), policies = stats::setNames(policies, settings$policy),
    horizon = horizon, runs = 10,
    settings = tibble::as_tibble(settings[c("policy", "panel", "series", "mu", "epsilon",
                                            "prepulls", "variance_scale")]),
    parameters = list(mu = mu, delta = delta, prepulls = prepulls, matching = matching,
                      also = also),
    open = paste("delta and the grid of (b, c) are not in the paper's text. Its matching gives",
                 "the pure policies an epsilon that is a weaker guarantee than mu-GDP."),
    claims = claims_ou_8(mu)
  )
}

# ---- Hu and Hegde ---------------------------------------------------------------------------

# Figures 1 to 5, section 4. The number of runs is not in the text; that of Ou et al., 10,
# is doubled.
experiment_hh <- function(id, epsilon) {
  figure <- as.integer(sub("hh-", "", id))
  force(epsilon)
  function(log_base = 2, lazy_ucb_log_base = exp(1), dp_ts = NULL,
           nonprivate = FALSE, horizon = 1e5) {
    dp_ts <- dp_ts %||% (figure == 1)
    log_base <- unique(check_numbers(log_base, 1, open = TRUE))
    lazy_ucb_log_base <- check_number(lazy_ucb_log_base, 1, open = TRUE)
    check_flag(dp_ts)
    check_flag(nonprivate)
    horizon <- check_count(horizon)
    several <- length(log_base) > 1
    label <- function(name, base) {
      if (!several) return(name)
      sprintf("%s, %s", name, if (isTRUE(all.equal(base, exp(1)))) "ln" else paste0("log", short(base)))
    }
    policies <- list()
    add <- function(name, policy) policies[[name]] <<- policy
    # What is in every figure comes first, so that it has the same colour in all.
    add("DP-SE", policy_dp_se(epsilon))
    add("Anytime-Lazy-UCB", policy_lazy_ucb(epsilon, log_base = lazy_ucb_log_base))
    for (b in log_base) add(label("Lazy-DP-TS", b), policy_lazy_dp_ts(epsilon, log_base = b))
    if (dp_ts) for (b in log_base) add(label("DP-TS", b), policy_dp_ts(epsilon, log_base = b))
    if (nonprivate) {
      add("TS, not private", policy_ts_beta())
      add("UCB1, not private", policy_ucb1())
    }
    private <- !grepl("not private", names(policies))
    new_experiment(
      id, sprintf("Private policies at epsilon = %s", number_text(epsilon)), source_hh(figure),
      "simulation", arms = five_arms(), policies = policies, horizon = horizon, runs = 20,
      settings = tibble::tibble(
        policy = ordered_labels(names(policies)),
        panel = ordered_labels(rep(sprintf("epsilon = %s", number_text(epsilon)), length(policies))),
        series = ordered_labels(names(policies)),
        epsilon = ifelse(private, epsilon, Inf),
        log_base = vapply(policies, function(p) as.double(p$params$log_base %||% NA), 0)
      ),
      parameters = list(log_base = log_base, lazy_ucb_log_base = lazy_ucb_log_base,
                        dp_ts = dp_ts, nonprivate = nonprivate),
      open = paste("The text says base 2 for the logarithms of DP-TS and Lazy-DP-TS and nothing",
                   "of the experiments' code. The number of runs is not in the text."),
      claims = claims_hh(names(policies), figure)
    )
  }
}

# ---- Mishra and Thakurta --------------------------------------------------------------------

# Figure 1, section 5: five arms, the best 0.9, the others 0.4. epsilon, the horizon, the
# runs and the number of random pulls are not in the text.
experiment_mt_1 <- function(epsilon = c(0.1, 1, 10, 100), tuned = TRUE, warmup = NULL,
                            gamma = 0.1, split_budget = TRUE, nonprivate = TRUE,
                            horizon = 1e5) {
  epsilon <- sort(unique(check_numbers(epsilon, 0, open = TRUE)))
  check_flag(tuned)
  if (!is.null(warmup)) warmup <- check_count(warmup, 0)
  gamma <- check_number(gamma, 0, 1, open = TRUE)
  check_flag(split_budget)
  check_flag(nonprivate)
  horizon <- check_count(horizon)
  series <- paste("epsilon =", shorts(epsilon))
  ucb <- lapply(epsilon, policy_mt_ucb, gamma = gamma, tuned = tuned,
                split_budget = split_budget)
  ts <- lapply(epsilon, policy_mt_ts, tuned = tuned, warmup = warmup,
               split_budget = split_budget)
  if (nonprivate) {
    series <- c(series, "not private")
    ucb <- c(ucb, list(policy_ucb1()))
    ts <- c(ts, list(policy_ts_beta()))
  }
  settings <- tibble::tibble(
    panel = ordered_labels(rep(c("UCB sampling", "Thompson sampling"), each = length(series))),
    series = ordered_labels(rep(series, 2)),
    epsilon = rep(c(epsilon, if (nonprivate) Inf), 2)
  )
  settings <- tibble::add_column(
    settings, policy = ordered_labels(sprintf("%s, %s", settings$panel, settings$series)),
    .before = 1
  )
  new_experiment(
    "mt-1",
    if (tuned) "Private UCB and Thompson sampling, tuned as in the experiments"
    else "Private UCB and Thompson sampling, as the algorithms are written",
    source_mt(1), "simulation", log = "xy", arms = arms_bernoulli(c(0.9, rep(0.4, 4))),
    policies = stats::setNames(c(ucb, ts), settings$policy), horizon = horizon, runs = 10,
    settings = settings,
    parameters = list(epsilon = epsilon, tuned = tuned, warmup = warmup, gamma = gamma,
                      split_budget = split_budget, nonprivate = nonprivate),
    open = paste("epsilon, the horizon, the number of runs and the reduced number of random",
                 "pulls are not in the paper's text."),
    claims = claims_mt_1(epsilon)
  )
}

# Figure 2, section 5.1: linear policies, private and not, replayed on a log with delays of
# 0, 100 and 1000. The paper gives each of 27 sums a budget of 0.1, 2.7 in all. The log of
# the paper is not ours to pass on; alpha and v are not in its text.
experiment_mt_2 <- function(log = NULL, delay = c(0, 100, 1000), epsilon = 2.7, alpha = 1,
                            v = 1) {
  if (is.null(log)) log <- sample_log()
  check_class(log, "data.frame", "a log, as of `read_open_bandit()` or `read_yahoo_r6()`")
  delay <- check_counts(delay, 0)
  epsilon <- check_number(epsilon, 0, open = TRUE)
  alpha <- check_number(alpha, 0)
  v <- check_number(v, 0)
  policies <- list(
    "LinUCB" = policy_linucb(alpha = alpha),
    "private LinUCB" = policy_linucb(epsilon, alpha),
    "linear TS" = policy_lin_ts(v = v),
    "private linear TS" = policy_lin_ts(epsilon, v)
  )
  new_experiment(
    "mt-2", "Contextual policies, private and not, replayed on a log with delays",
    source_mt(2), "replay", policies = policies, runs = 10, log = log, delay = delay,
    settings = tibble::tibble(
      policy = ordered_labels(names(policies)),
      panel = ordered_labels(rep("replay", length(policies))),
      series = ordered_labels(names(policies)),
      epsilon = rep(c(Inf, epsilon), 2)
    ),
    parameters = list(log = log, delay = delay, epsilon = epsilon, alpha = alpha, v = v),
    open = paste("The paper replays ten days of Yahoo's front page, which may not be passed on;",
                 "`log = read_yahoo_r6(...)` replays a copy. alpha, v, the unit of the delay",
                 "and the number of runs are not in its text."),
    claims = claims_mt_2()
  )
}

# The uniformly logged part of the sample of the Open Bandit logs that comes with the
# package
sample_log <- function() {
  here <- new.env()
  utils::data("open_bandit", package = "dpts", envir = here)
  here$open_bandit[here$open_bandit$logger == "random", ]
}
