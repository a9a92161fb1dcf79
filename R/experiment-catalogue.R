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

PAPERS <- c(ou = "Ou, Avella Medina, Cummings 2024", hh = "Hu, Hegde 2022", mt = "Mishra, Thakurta 2015")

# The number of an experiment's figure
figure_of <- function(id) as.integer(sub("^.*-", "", id))

# Ou et al., section 5.1, and Hu and Hegde, section 4.
five_arms <- function() arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))

# The experiment that the calling function describes. Its arguments are what the paper leaves open.
# `settings`: A data frame, one row per policy, in the order of `policies`: `policy`, `panel`, `series`, and
#   the policy's parameters.
# `claims`: What the paper says the figure shows: a list of `claim()`s.
# `stated`: Arguments that the paper does state.
new_experiment <- function(id, title, kind, policies, ..., settings = NULL, open, claims,
                           stated = "horizon") {
  if (!is.null(settings)) {
    settings <- tibble::as_tibble(settings)
    labels <- c("policy", "panel", "series")
    settings[labels] <- lapply(settings[labels], ordered_labels)
    settings <- settings[c(labels, setdiff(names(settings), labels))]
    policies <- stats::setNames(policies, settings$policy)
  }
  chosen <- mget(setdiff(names(formals(sys.function(sys.parent()))), stated), parent.frame())
  if (kind == "privacy") chosen$delta <- range(chosen$delta)
  source <- sprintf("%s, Figure %d", PAPERS[[sub("-.*", "", id)]], figure_of(id))
  structure(
    list(id = id, title = title, source = source, kind = kind, policies = policies, ..., settings = settings,
         parameters = chosen, open = open, claims = claims),
    class = "dpts_experiment"
  )
}

# A factor whose levels are in the order they come in
ordered_labels <- function(x) if (is.factor(x)) x else factor(x, levels = unique(x))

# ---- Ou, Avella Medina and Cummings -----------------------------------------------------

experiment_ou_1 <- function(prepulls = c(0, 1, 4, 9, 49, 99),
                            variance_scale = c(1, 2, 5, 10, 50, 100),
                            delta = 10^-seq(1, 12, by = 0.25), accountant = "paper",
                            horizon = 1000) {
  prepulls <- unique(check_counts(prepulls, 0))
  variance_scale <- unique(check_numbers(variance_scale, 0, open = TRUE))
  delta <- check_numbers(delta, 0, 1, open = TRUE)
  horizon <- check_count(horizon)
  accountant <- check_choice(accountant, c("paper", "gdp", "rdp", "advanced", "sequence"), several = TRUE)
  by_b <- data.frame(panel = "varying b, c = 1", series = paste("b =", shorts(prepulls)),
                     prepulls = prepulls, variance_scale = 1)
  by_c <- data.frame(panel = "varying c, b = 0", series = paste("c =", shorts(variance_scale)),
                     prepulls = 0, variance_scale = variance_scale)
  settings <- rbind(by_b, by_c)
  settings$policy <- paste0(settings$panel, ": ", settings$series)
  new_experiment(
    "ou-1", "What pre-pulls and the variance scale do for privacy", "privacy", settings_policies(settings),
    arms = 2, horizon = horizon, delta = delta, accountant = accountant, conversion = "improved",
    settings = settings, open = "The paper fixes T = 1000 and does not name the values of b and c.",
    claims = claims_ou_1()
  )
}

# One Gaussian Thompson sampling policy for each row of settings
settings_policies <- function(settings) {
  Map(policy_ts_gaussian, settings$prepulls, settings$variance_scale)
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
    figure <- figure_of(id)
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
      abort_dpts("No pair of `mu` and `prepulls` leaves a variance scale of at least 1.", "dpts_error_input")
    }
    if (any(settings$variance_scale > VARIANCE_SCALE[2])) {
      abort_input("mu", "`mu` must be larger for this `horizon`: variance scales are at most %s.",
                  number_text(VARIANCE_SCALE[2]))
    }
    settings$panel <- sprintf("%s-GDP", shorts(settings$mu))
    if (accountant == "paper") {
      settings$panel <- sprintf("%s\nc(b + 1) = %s", settings$panel, shorts(horizon / settings$mu^2))
    }
    label <- function(b) paste("b =", shorts(b))
    settings$series <- factor(label(settings$prepulls), label(prepulls))
    settings$policy <- sprintf("%s-GDP, %s, c = %s", shorts(settings$mu), label(settings$prepulls),
                               shorts(settings$variance_scale))
    over_time <- figure %in% c(2, 4)
    what <- if (over_time) "over time by (b, c)" else "against the guarantee by b"
    new_experiment(
      id, sprintf("Regret %s, %s rewards", what, rewards), if (over_time) "simulation" else "tuning",
      settings_policies(settings), arms = arms, horizon = horizon, runs = 10, accountant = accountant,
      settings = settings[c("policy", "panel", "series", "mu", "prepulls", "variance_scale")],
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
  dpts_calibrate(budget, horizon, prepulls, accountant = accountant, arms = k)$params$variance_scale
}

# Figures 6 and 7: the analyses of Algorithm 1. N, T and delta are not in the text.
experiment_ou_accountants <- function(id, accountants) {
  force(accountants)
  function(arms = 5, horizon = c(1e3, 1e5), delta = 10^-(1:12), accountant = accountants,
           conversion = "mironov") {
    arms <- check_counts(arms, 2)
    horizon <- check_counts(horizon, 1)
    delta <- check_numbers(delta, 0, 1, open = TRUE)
    accountant <- check_choice(accountant, c("gdp", "rdp", "standard", "advanced", "sequence"),
                               several = TRUE)
    conversion <- check_choice(conversion, c("mironov", "improved"))
    both <- recycle_common(arms = arms, horizon = horizon)
    title <- if (figure_of(id) == 6) "Gaussian, Renyi and standard" else "Gaussian and Renyi"
    new_experiment(
      id, paste(title, "differential privacy compared"), "privacy",
      list("Thompson sampling" = policy_ts_gaussian()), arms = both$arms, horizon = both$horizon,
      delta = delta, accountant = accountant, conversion = conversion,
      claims = claims_ou_accountants(accountant),
      open = "N, T and delta of these figures are not in the paper's text.", stated = NULL
    )
  }
}

# Figure 8. delta is not in the text: 1e-5 is 1 / T. The pre-pulls are the best of
# ou_prepulls() for 1-, 5- and 10-GDP, by 100 runs of "ou-3"; the extended tests check it.
# Other guarantees take those of the nearest of the three.
experiment_ou_8 <- function(mu = c(1, 5, 10), delta = 1e-5, prepulls = NULL,
                            matching = "paper", also = FALSE, horizon = 1e5) {
  mu <- check_numbers(mu, 0, open = TRUE)
  if (anyDuplicated(mu)) abort_arg("mu", "numbers that differ", mu)
  delta <- check_number(delta, 0, 1, open = TRUE)
  prepulls <- prepulls %||% vapply(mu, function(m) {
    c(1999, 499, 499)[which.min(abs(log(m / c(1, 5, 10))))]
  }, 0)
  prepulls <- check_counts(prepulls, 0)
  if (!length(prepulls) %in% c(1, length(mu))) {
    abort_arg("prepulls", "one whole number for each `mu`", prepulls)
  }
  matching <- check_choice(matching, c("paper", "gdp"))
  check_flag(also)
  horizon <- check_count(horizon)
  # A pure epsilon is mu-GDP for mu = 2 qnorm(e^epsilon / (1 + e^epsilon)).
  epsilon <- if (matching == "paper") gdp_epsilon(mu, delta) else {
    stats::pnorm(mu / 2, log.p = TRUE) - stats::pnorm(-mu / 2, log.p = TRUE)
  }
  b <- rep_len(prepulls, length(mu))
  scale <- horizon / (mu^2 * (b + 1))
  policies <- lapply(seq_along(mu), function(i) c(
    list("DP-SE" = policy_dp_se(epsilon[i]), "Anytime-Lazy-UCB" = policy_lazy_ucb(epsilon[i]),
         "Modified TS" = policy_ts_gaussian(b[i], scale[i])),
    if (also) list("Lazy-DP-TS" = policy_lazy_dp_ts(epsilon[i], log_base = exp(1)))
  ))
  each <- lengths(policies)
  policies <- unlist(policies, recursive = FALSE)
  settings <- data.frame(series = names(policies), mu = rep(mu, each), epsilon = rep(epsilon, each),
                         prepulls = rep(b, each), variance_scale = rep(scale, each))
  settings$policy <- sprintf("%s, %s-GDP", settings$series, shorts(settings$mu))
  given <- if (matching == "paper") label_count(delta) else "0"
  settings$panel <- sprintf("%s-GDP\nepsilon = %s\ndelta = %s", shorts(settings$mu),
                            shorts(settings$epsilon), given)
  pure <- settings$series != "Modified TS"
  settings$epsilon[!pure] <- settings$prepulls[pure] <- settings$variance_scale[pure] <- NA
  new_experiment(
    "ou-8", "Modified Thompson sampling against DP-SE and Anytime-Lazy-UCB", "simulation", policies,
    arms = five_arms(), horizon = horizon, runs = 10, settings = settings,
    open = paste("delta and the grid of (b, c) are not in the paper's text. Its matching gives",
                 "the pure policies an epsilon that is a weaker guarantee than mu-GDP."),
    claims = claims_ou_8(mu)
  )
}

# ---- Hu and Hegde ---------------------------------------------------------------------------

# Figures 1 to 5, section 4. The number of runs is not in the text; that of Ou et al., 10, is doubled.
experiment_hh <- function(id, epsilon) {
  figure <- figure_of(id)
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
    new_experiment(
      id, sprintf("Private policies at epsilon = %s", number_text(epsilon)), "simulation", policies,
      arms = five_arms(), horizon = horizon, runs = 20,
      settings = data.frame(
        policy = names(policies), panel = paste("epsilon =", number_text(epsilon)), series = names(policies),
        epsilon = ifelse(grepl("not private", names(policies)), Inf, epsilon),
        log_base = vapply(policies, function(p) as.double(p$params$log_base %||% NA), 0, USE.NAMES = FALSE)
      ),
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
  ucb <- lapply(epsilon, policy_mt_ucb, gamma = gamma, tuned = tuned, split_budget = split_budget)
  ts <- lapply(epsilon, policy_mt_ts, tuned = tuned, warmup = warmup, split_budget = split_budget)
  if (nonprivate) {
    series <- c(series, "not private")
    ucb <- c(ucb, list(policy_ucb1()))
    ts <- c(ts, list(policy_ts_beta()))
  }
  settings <- data.frame(panel = rep(c("UCB sampling", "Thompson sampling"), each = length(series)),
                         series = rep(series, 2), epsilon = rep(c(epsilon, if (nonprivate) Inf), 2))
  settings$policy <- sprintf("%s, %s", settings$panel, settings$series)
  how <- if (tuned) "tuned as in the experiments" else "as the algorithms are written"
  new_experiment(
    "mt-1", paste0("Private UCB and Thompson sampling, ", how), "simulation", c(ucb, ts), log = "xy",
    arms = arms_bernoulli(c(0.9, rep(0.4, 4))), horizon = horizon, runs = 10, settings = settings,
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
    "private LinUCB" = policy_linucb(epsilon, alpha, mechanism = "tree"),
    "linear TS" = policy_lin_ts(v = v),
    "private linear TS" = policy_lin_ts(epsilon, v, mechanism = "tree")
  )
  new_experiment(
    "mt-2", "Contextual policies, private and not, replayed on a log with delays", "replay", policies,
    runs = 10, log = log, delay = delay,
    settings = data.frame(policy = names(policies), panel = "replay", series = names(policies),
                          epsilon = rep(c(Inf, epsilon), 2)),
    open = paste("The paper replays ten days of Yahoo's front page, which may not be passed on;",
                 "`log = read_yahoo_r6(...)` replays a copy. alpha, v, the unit of the delay",
                 "and the number of runs are not in its text."),
    claims = claims_mt_2()
  )
}

# The uniformly logged part of the sample of the Open Bandit logs that comes with the package
sample_log <- function() {
  here <- new.env()
  utils::data("open_bandit", package = "dpts", envir = here)
  here$open_bandit[here$open_bandit$logger == "random", ]
}
