# Calls of exported functions with junk in one argument. What is exported is read from the namespace, so that a new
# function is tried without an entry here.

junk_values <- function() {
  list(null = NULL, na = NA, na_number = NA_real_, nan = NaN, inf = Inf, minus = -1, zero = 0, half = 0.5, big = 1e308,
       text = "junk", empty_text = "", none = character(), no_number = numeric(), list = list(), function_ = function(...) 1,
       frame = data.frame(), frame_of_one = data.frame(a = 1), factor = factor("a"), s4 = methods::new("numeric"),
       environment = emptyenv(), formula = y ~ x, symbol = quote(x), call = quote(x + y), complex = 1i, raw = as.raw(1),
       date = as.Date("2024-01-01"), matrix = matrix(1:4, 2), flags = c(TRUE, NA), long = rep(1, 1e4))
}

# What makes a call work where an argument has no default, by the argument's name
usual_arguments <- function() {
  arms <- arms_bernoulli(c(a = 0.6, b = 0.4))
  sim <- dpts_simulate(arms, list(a = policy_ucb1(), b = policy_dp_imed(1)), 40, runs = 2, seed = 1, history = TRUE)
  list(
    arms = arms, policies = list(a = policy_ucb1()), policy = policy_ucb1(), horizon = 20, budget = privacy_approx(1, 1e-3),
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

# Every call: a function, an argument, a kind of junk
junk_calls <- function(namespace = asNamespace("dpts")) {
  names <- sort(getNamespaceExports(namespace))
  # Generics of other packages are theirs.
  names <- names[vapply(names, function(name) identical(environment(get(name, namespace)), namespace), NA)]
  rows <- lapply(names, function(name) {
    arguments <- setdiff(names(formals(get(name, namespace))), "...")
    if (length(arguments)) expand.grid(f = name, argument = arguments, junk = names(junk_values()), stringsAsFactors = FALSE)
  })
  do.call(rbind, rows)
}

# What is wrong with a call, in one line, or NULL: an error without a class of its own, or more than 20 seconds
junk_fault <- function(row, usual, junk, namespace = asNamespace("dpts")) {
  f <- get(row$f, namespace)
  default <- formals(f)
  needed <- names(default)[vapply(default, identical, NA, quote(expr = ))]
  args <- usual[intersect(setdiff(needed, "..."), names(usual))]
  if (length(setdiff(needed, c("...", names(usual), row$argument)))) return(NULL)
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
