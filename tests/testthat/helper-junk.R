# Calls of exported functions with junk in one argument. What is exported is read from the namespace, so that a new
# function is tried without an entry here.

junk_values <- function() {
  list(null = NULL, na = NA, na_number = NA_real_, nan = NaN, inf = Inf, minus = -1, zero = 0, half = 0.5, big = 1e308,
       text = "junk", empty_text = "", na_text = NA_character_, no_text = "\xff", none = character(), no_number = numeric(), list = list(), function_ = function(...) 1,
       frame = data.frame(), frame_of_one = data.frame(a = 1), factor = factor("a"), s4 = methods::new("numeric"),
       environment = emptyenv(), formula = y ~ x, symbol = quote(x), call = quote(x + y), complex = 1i, raw = as.raw(1),
       date = as.Date("2024-01-01"), matrix = matrix(1:4, 2), flags = c(TRUE, NA), long = rep(1, 1e4))
}

# What makes a call work where an argument has no default, by the argument's name
usual_arguments <- function() {
  arms <- arms_bernoulli(c(a = 0.6, b = 0.4))
  sim <- dpts_simulate(arms, list(a = policy_ucb1(), b = policy_dp_imed(1)), 40, runs = 2, seed = 1, history = TRUE)
  released <- dpts_simulate(arms, policy_randomised(mu = 1), 400, runs = 1, seed = 1, history = TRUE)
  list(
    released = released, arms = arms, policies = list(a = policy_ucb1()), policy = policy_ucb1(), horizon = 20, budget = privacy_approx(1, 1e-3),
    epsilon = 1, mu = 1, delta = 1e-3, rounds = 10, alpha = 2, rdp = function(alpha) alpha, x = sim, object = sim, data = sim,
    result = sim, mean = c(0.6, 0.4), means = c(0.6, 0.4), probs = c(0.6, 0.4), prob = c(0.6, 0.4), sd = 1, shape1 = 1, shape2 = 1,
    n = 3, k = 2, name = "a", window = 10, gamma = 0.9, variance_scale = 1, prepulls = 1, guarantee = privacy_pure(1),
    log = data.frame(arm = c("a", "b"), reward = c(1, 0)), runs = 2, seed = 1, dimension = 2, bound = 10, counter = counter_tree(10, 1),
    agent = dpts_agent(policy_ucb1(), 2, use = "arrival"), ticket = "1", reward = 1, token = "0123456789abcdef", port = 8000,
    draw = function(round) c(0.5, 0.5), from = 1, to = 5, scale = 1, sensitivity = 1, rho = 0.1, path = "none.csv", theta = c(0.5, 0.1),
    start = function(k, horizon) 0, choose = function(state, round) 1, update = function(state, feedback) state,
    id = "none", target = c(0.5, 0.5), arm = c("a", "b"), rates = c(1, 2), f = function(round) c(0.5, 0.4),
    values = c(1, 0), value = 1, level = 0.9, count = 10, period = 5, every = 5, times = 10, prepull = 1
  )
}

# The same for functions whose arguments of these names are others
own_arguments <- function(usual) {
  trial <- data.frame(arm = c("a", "b"), reward = c(1, 0), propensity = 0.5)
  arms <- usual$arms
  list(
    arms_adversary = list(f = function(past, t) c(0.5, 0.4)), arms_custom = list(draw = function(arm, n) rep(0.5, n), means = c(0.5, 0.5)),
    arms_data = list(data = trial, arm = "arm", reward = "reward"), arms_drift = list(from = c(0.5, 0.4), to = c(0.4, 0.5), period = 10),
    arms_linear = list(theta = c(0.5, 0.1), arms = 2), arms_switch = list(worlds = list(arms, arms), at = 10),
    counter_add = list(counter = usual$counter, x = 1), dpts_agent = list(policy = policy_ucb1(), arms = 2, use = "arrival"),
    dpts_audit = list(policy = policy_dp_imed(1), horizon = 8, runs = 200), dpts_experiment = list(id = "ou-1"),
    dpts_identify = list(arms = arms, policies = policy_top_two(mu = 1), runs = 2, limit = 200),
    dpts_ope = list(log = trial, target = "uniform"), dpts_privacy = list(policies = policy_dp_imed(1), horizon = 20),
    dpts_plan = list(designs = policy_uniform(), scenarios = arms, people = 50, runs = 2),
    dpts_recommend = list(budget = privacy_pure(1), arms = arms, horizon = 100, runs = 2, candidates = "dp_imed"),
    dpts_reproduce = list(id = "ou-1"), dpts_tune = list(budget = privacy_gdp(1), arms = arms, horizon = 100, prepulls = 0, runs = 2),
    policy_dp_ts_ucb = list(alpha = 0.5), policy_private = list(policy = policy_ucb1(), epsilon = 1),
    log_chunks = list(read = function(i) if (i < 3) trial), log_query = list(con = 1, query = "select 1"),
    policy_compiled = list(file = "none.c", name = "none"),
    policy_forget = list(window = 10), evidence = list(x = usual$released), verdict = list(x = usual$released),
    privacy_group = list(x = privacy_pure(1), k = 3), privacy_statement = list(x = policy_dp_imed(1))
  )
}

# Every call: a function, an argument, a kind of junk
junk_calls <- function(namespace = asNamespace("dpts")) {
  junk <- names(junk_values())
  names <- sort(getNamespaceExports(namespace))
  # Generics of other packages are theirs.
  names <- names[vapply(names, function(name) identical(environment(get(name, namespace)), namespace), NA)]
  rows <- lapply(names, function(name) {
    arguments <- setdiff(names(formals(get(name, namespace))), "...")
    if (length(arguments)) expand.grid(f = name, argument = arguments, junk = junk, stringsAsFactors = FALSE)
  })
  do.call(rbind, rows)
}

# What else a call needs that has something in one argument, or NULL if that is not known
junk_arguments <- function(name, argument, usual, namespace = asNamespace("dpts"), own = own_arguments(usual)) {
  default <- formals(get(name, namespace))
  needed <- names(default)[vapply(default, identical, NA, quote(expr = ))]
  args <- own[[name]] %||% usual[intersect(setdiff(needed, "..."), names(usual))]
  if (!length(setdiff(needed, c("...", names(args), argument)))) args
}

# What is wrong with a call, in one line, or NULL: an error without a class of its own, or more than 20 seconds
junk_fault <- function(row, usual, junk, namespace = asNamespace("dpts"), own = own_arguments(usual)) {
  f <- get(row$f, namespace)
  args <- junk_arguments(row$f, row$argument, usual, namespace, own)
  if (is.null(args)) return(NULL)
  args[row$argument] <- junk[row$junk]
  quiet <- c("agent_serve", "dpts_explore") # wait for a browser
  if (row$f %in% quiet) return(NULL)
  why <- tryCatch({
    setTimeLimit(cpu = 20, transient = TRUE)
    utils::capture.output(suppressMessages(suppressWarnings(force(do.call(f, args, quote = TRUE)))))
    NULL
  }, error = function(e) {
    if (any(grepl("^(dpts_error|dpts_message)", class(e)))) NULL else
      paste0(conditionMessage(e), " [", class(e)[1], "]")
  }, finally = setTimeLimit())
  if (!is.null(why)) sprintf("%s(%s = <%s>): %s", row$f, row$argument, row$junk, substr(gsub("\n", " ", why), 1, 120))
}
