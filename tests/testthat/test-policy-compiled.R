skip_on_cran() # takes seconds

# One cache for this file, and no optimisation, which takes longer than what it is for
withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir(.local_envir = teardown_env()),
                    R_MAKEVARS_USER = withr::local_tempfile(.local_envir = teardown_env(), lines = c(
                      unlist(lapply(tools::makevars_user(), readLines)), "CFLAGS = -O0"
                    )), .local_envir = teardown_env())
example_file <- function(name) system.file("examples", name, package = "dpts")

# The file of UCB1, or another one, with one thing changed
ucb1_with <- function(from, to, name = "changed", of = "ucb1.c") {
  code <- paste(readLines(example_file(of)), collapse = "\n")
  stopifnot(grepl(from, code, fixed = TRUE))
  file <- file.path(withr::local_tempdir(.local_envir = parent.frame()), paste0(name, ".c"))
  cat(sub(from, to, code, fixed = TRUE), file = file) # a last line without an end is no reason for a warning
  file
}

# One file, compiled once, with a copy of UCB1, or another policy, for each change: ucb1_1, ucb1_2, ...
# `changes`: A list of c(from, to, from, to, ...).
copies_with <- function(changes, of = "ucb1") {
  code <- readLines(example_file(paste0(of, ".c")))
  body <- paste(code[!grepl("^(#include|DPTS_POLICIES)", code)], collapse = "\n")
  # What a file defines, but not the fields of dpts_policy
  own <- sprintf("(?<![.])\\b(arm_t|state_t|EPSILON|PARAMS|RULES|size|init|opening|choose|release|update|report|finish|skip|%s)\\b", of)
  copies <- vapply(seq_along(changes), function(i) {
    change <- changes[[i]]
    for (j in 2 * seq_len(length(change) %/% 2) - 1) {
      stopifnot(grepl(change[j], body, fixed = TRUE))
      body <- sub(change[j], change[j + 1], body, fixed = TRUE)
    }
    gsub(own, paste0("\\1_", i), body, perl = TRUE)
  }, "")
  file <- withr::local_tempfile(fileext = ".c", .local_envir = parent.frame())
  writeLines(c("#include <dpts.h>", copies,
               sprintf("DPTS_POLICIES(%s)", paste0("&", of, "_", seq_along(changes), collapse = ", "))), file)
  file
}

test_that("UCB1 written with dpts.h is policy_ucb1(), to the bit, in every driver", {
  mine <- policy_compiled(example_file("ucb1.c"), "ucb1")
  expect_length(list.files(file.path(tools::R_user_dir("dpts", "cache"), "compiled")), 1) # is not compiled again
  arms <- arms_bernoulli(c(0.6, 0.5, 0.4))
  withr::local_options(dpts.engine = "plain")
  for (delay in c(0, 20)) {
    sim <- dpts_simulate(arms, list(mine = mine, ours = policy_ucb1()), 2000, runs = 3, seed = 1, delay = delay,
                         history = TRUE, threads = 2)
    h <- dpts_history(sim)
    expect_identical(h$arm[h$policy == "mine"], h$arm[h$policy == "ours"])
    expect_identical(sim$regret[sim$policy == "mine"], sim$regret[sim$policy == "ours"])
  }
  e <- estimates(sim)
  expect_identical(e$mean[e$policy == "mine"], e$mean[e$policy == "ours"])
  log <- random_log()
  replay <- dpts_replay(log, list(mine = mine, ours = policy_ucb1()), runs = 2, seed = 1)
  expect_identical(replay$reward[replay$policy == "mine"], replay$reward[replay$policy == "ours"])
  expect_identical(eval(str2lang(as.character(mine))), mine)
  expect_s3_class(update(mine, guarantee = NULL), "dpts_policy_compiled")
  restarted <- dpts_simulate(arms, list(a = policy_restart(mine, 100), b = policy_restart(policy_ucb1(), 100)), 500, runs = 2,
                             seed = 1)
  expect_identical(restarted$regret[restarted$policy == "a"], restarted$regret[restarted$policy == "b"])
})

test_that("a private policy counts its releases in the ledger, couples, and serves with exact noise", {
  epsilon <- 2
  mine <- policy_compiled(example_file("tree_ucb.c"), "tree_ucb", params = list(epsilon = epsilon),
                          guarantee = privacy_pure(epsilon))
  n <- 100
  out <- run_script(mine, 2, arms = rep(1:2, n / 2), rewards = rep(c(1, 0), n / 2), horizon = n)
  expect_equal(out$total, n) # each reward forms one partial sum
  expect_identical(unique(out$scale[seq_len(n)]), 7 / epsilon) # floor(log2(100)) + 1 levels
  expect_identical(unique(dpts:::noise_names(out$kind[seq_len(n)])), "Laplace")
  audit <- dpts_audit(mine, horizon = 64, method = "coupling", runs = 100, streams = "silent")
  expect_lte(max(audit$lower), epsilon + 1e-9)
  expect_gt(max(audit$lower), 0.2 * epsilon)
  expect_equal(dpts_privacy(mine, 100, delta = 0)$epsilon, epsilon)
  expect_error(policy_detect(mine), "that releases each reward in one sum", class = "dpts_error_input")
  expect_error(dpts_identify(two_arms(), mine), "releases no sums of batches", class = "dpts_error_verdict")
  plan <- dpts_plan(list(mine = mine, even = policy_uniform()), list(two = two_arms()), 60, runs = 3, seed = 1)
  expect_identical(as.character(unique(plan$design)), c("mine", "even"))
  agent <- dpts_agent(mine, c("a", "b"), horizon = 50, use = "arrival")
  for (i in 1:20) agent_reward(agent, agent_choose(agent)$ticket, 1)
  expect_identical(sum(pulls(agent)$pulls), 20)
})

lazy_ucb <- function(file = example_file("lazy_ucb.c"), epsilon = 1, name = "lazy_ucb") {
  policy_compiled(file, name, params = list(epsilon = epsilon), guarantee = privacy_pure(epsilon))
}
# As it is, checked once for all tests, and with next to no noise
lazy <- once(lazy_ucb)
lazy_100 <- once(function() lazy_ucb(epsilon = 100))

test_that("a private policy that releases each sum once has evidence, verdicts and a detector, as the built-in one", {
  mine <- lazy()
  policies <- list(mine = mine, ours = policy_lazy_ucb(1))
  withr::local_options(dpts.engine = "plain", rlib_message_verbosity = "quiet")
  twice <- function(x) expect_identical(drop_policy(x, "mine"), drop_policy(x, "ours"))
  drop_policy <- function(x, which) {
    rows <- as.data.frame(x)[x$policy == which, setdiff(names(x), "policy")]
    row.names(rows) <- NULL
    rows
  }
  arms <- arms_bernoulli(c(0.7, 0.4))
  sim <- dpts_simulate(arms, policies, 1500, runs = 3, seed = 1, history = TRUE, finish = TRUE)
  twice(dpts_history(sim))
  for (what in list(estimates, evidence, effects, verdict)) twice(what(sim))
  expect_false(anyNA(verdict(sim)$arm))
  twice(evidence(dpts_replay(random_log(), policies, runs = 1, seed = 1)))
  twice(dpts_identify(arms, policies, limit = 5000, runs = 5, seed = 1))
  moved <- arms_switch(list(arms, arms_bernoulli(c(0.1, 0.6))), at = 1000)
  detects <- lapply(policies, policy_detect)
  twice(dpts_simulate(moved, detects, 3000, runs = 2, seed = 1))
  expect_identical(detects$mine$guarantee, mine$guarantee)
  agent <- dpts_agent(lazy_100(), c("a", "b"), use = "arrival") # live noise that cannot hide a verdict
  for (i in 1:100) agent_reward(agent, { chosen <- agent_choose(agent) }$ticket, as.numeric(chosen$arm == "a"))
  expect_identical(as.character(verdict(agent)$arm), "a")
  expect_identical(sum(diff(c(0, unique(evidence(agent)$t))) > 0), as.integer(sum(estimates(agent)$releases)))
})

test_that("a detector that begins anew by a late reward drops that of its own round, too", {
  # Batches of 1, 2 and 4 rewards of one arm; the third is released when round 7's reward comes, in round 8, and
  # shows another mean. The reward of round 8, due in the same round, belongs to the life before.
  play <- function(policy) {
    run_script(policy_detect(policy, delta = 0.9), 1, rep(NA, 9), rep(0.5, 9), delays = c(rep(0, 6), 1, 0, 0),
               forced = c(0, 0, 1e4, 0, 0))
  }
  out <- play(lazy_100())
  expect_identical(out$released, play(policy_lazy_ucb(100))$released)
  expect_identical(which(diff(c(0L, out$released)) > 0), c(1L, 3L, 8L, 9L)) # round 9 begins the new life
})

test_that("a compiled policy is planned, audited, evaluated, kept and spread as the built-in one", {
  mine <- lazy()
  ours <- policy_lazy_ucb(1)
  withr::local_options(dpts.engine = "plain")
  arms <- two_arms()
  bare <- function(x) unclass(as.data.frame(x))
  expect_identical(unname(bare(dpts_plan(list(a = mine), list(x = arms), 200, runs = 4, seed = 1))[-1]),
                   unname(bare(dpts_plan(list(a = ours), list(x = arms), 200, runs = 4, seed = 1))[-1]))
  tosses <- ucb1_with("  const int first =", "  if (s) return round->offer[(int)(dpts_uniform(draws) * round->n_offer)];\n  const int first =")
  writeLines(sub("static const dpts_policy ucb1 = {", paste0(
    "static void chances(const void *state, const dpts_round *round, double *p) {\n",
    "  (void)state;\n  FOR_EACH_ARM(i, round) p[i] = 1.0 / round->n_offer;\n}\n\n",
    "static const dpts_policy ucb1 = {.tosses = 1, .probability = chances,"), readLines(tosses, warn = FALSE), fixed = TRUE), tosses)
  expect_equal(dpts_ope(random_log(), policy_compiled(tosses, "ucb1"))$estimate, dpts_ope(random_log(), "uniform")$estimate)
  expect_error(dpts_ope(random_log(), mine), "says its probabilities", class = "dpts_error_input")
  audit <- function(policy) dpts_audit(policy, horizon = 16, runs = 100, seed = 1, streams = "silent")$lower
  expect_identical(audit(mine), audit(ours))
  play <- function(runs = 4, policy = mine, ...) dpts_simulate(arms, policy, 200, runs = runs, seed = 1, ...)$regret
  base <- play()
  expect_identical(play(threads = 2), base)
  path <- withr::local_tempfile()
  play(2, checkpoint = path)
  expect_identical(play(checkpoint = path), base)
  expect_identical(play(policy = lazy_100(), checkpoint = path), play(policy = lazy_100()))
  store <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(mine, c("a", "b"), store, use = "arrival")
  serve <- function(agent) for (i in 1:30) dpts::agent_reward(agent, dpts::agent_choose(agent)$ticket, 1)
  serve(agent)
  agent_close(agent)
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(mine, file)
  skip_if_not_installed("callr") # where neither the file nor the library is
  out <- callr::r(function(store, file, serve) {
    agent <- dpts::agent_open(store)
    serve(agent)
    arms <- dpts::arms_bernoulli(c(0.9, 0.4))
    list(sum(dpts::pulls(agent)$pulls), nrow(dpts::evidence(agent)) > 0,
         dpts::dpts_simulate(arms, readRDS(file), 200, runs = 4, seed = 1)$regret)
  }, list(store, file, serve), env = c(R_USER_CACHE_DIR = withr::local_tempdir()))
  expect_identical(out, list(60, TRUE, dpts_simulate(arms_bernoulli(c(0.9, 0.4)), mine, 200, runs = 4, seed = 1)$regret))
})

test_that("what says that each reward is in one sum, and is not so, is refused", {
  twice <- "  a->terms += 2;\n  a->rewards += a->n;\n  a->all += dpts_laplace(draws, a->sum, s->scale);"
  bad <- list(
    c("  a->n = a->sum = 0;", "  a->n = 0;", "each reward is in one sum, it says, and (after 20 rewards|a reward of 1 in round 1)"),
    c("  a->terms += 1;", twice, "a reward of 1 in round 1, among zeros, was released as 1 and 1"),
    c(".rewards = a->rewards,", ".rewards = a->rewards + a->n,", "report\\(\\) has .* rewards with"),
    c(".scale = s->scale}", ".scale = 2 * s->scale}", "not the kind and scale"),
    c(".report = report,", "", "policies without contexts that have `.releases = 1` and report")
  )
  file <- copies_with(bad, "lazy_ucb")
  for (i in seq_along(bad)) {
    expect_error(lazy_ucb(file, name = paste0("lazy_ucb_", i)), bad[[i]][3], class = "dpts_error_contract")
  }
})

test_that("another source is another policy, wherever its file is", {
  mine <- policy_compiled(example_file("ucb1.c"), "ucb1")
  other <- policy_compiled(ucb1_with("sqrt(2 *", "sqrt(1 *", "ucb1"), "ucb1")
  expect_false(dpts:::same_thing(mine, other))
  moved <- policy_compiled(ucb1_with("UCB1 of", "UCB1 of", "ucb1"), "ucb1")
  expect_true(dpts:::same_thing(mine, moved))
})

test_that("what breaks the contract is an error by name", {
  broken_file <- function(from, to, words) {
    expect_error(policy_compiled(ucb1_with(from, to), "ucb1"), words, class = "dpts_error_compiled")
  }
  broken_file("arm->n += 1;", "arm->n += 1", "does not compile:.*expected")
  broken_file("DPTS_POLICIES(&ucb1)", "#undef DPTS_VERSION\n#define DPTS_VERSION 99\nDPTS_POLICIES(&ucb1)",
              "version 99 of dpts.h, and this is version [0-9]+")
  broken_file("DPTS_POLICIES(&ucb1)", "", "DPTS_POLICIES")
  broken_file(".init = init,", "", "needs the functions size, init and choose")
  broken_file("DPTS_POLICIES(&ucb1)", "DPTS_POLICIES(NULL)", "names none")
  bytes <- "* (size_t)problem->k;"
  past <- "past the bytes that size\\(\\)"
  best <- "  return dpts_best_arm(&best);"
  first <- "  dpts_best best"
  bad <- list(
    c(bytes, "* 1;", past), c(bytes, "* (size_t)(problem->k > 3 ? 3 : problem->k);", past),
    c(bytes, "* (size_t)problem->k - 1;", past),
    c(best, "  return 1;", "not available"),
    c(best, "  return round->t > 50 ? -1 : dpts_best_arm(&best);", "in round 51 it had no arm"),
    c("s->arms[i].mean +", "(i ? s->arms[i].mean : NAN) +", "in round [0-9]+ it had no arm"),
    c(first, "  ((state_t *)state)->arms[0].sum += 1e-9; dpts_best best", "choose\\(\\) changes the state"),
    c(first, "  static int calls; if (calls++ % 3 == 2) return round->offer[0]; dpts_best best", "asked again"),
    c("(arm_t){0};", "(arm_t){.sum = (double)(size_t)state};", "where it lies|asked again"),
    c("s->arms[i] = (arm_t){0};", "(void)s;", "init\\(\\) leaves"),
    c(".state_version = 1,", ".state_version = 1, .releases = 1,", "in round [0-9]+ .*released none")
  )
  rules <- c("static const dpts_policy ucb1 = {", paste0(
    "static const char *const RULES[] = {\"fast\", \"slow\", NULL};\n",
    "static const dpts_param PARAMS[] = {{\"rule\", OPTIONAL, RULES}, {.name = NULL}};\n",
    "static const dpts_policy ucb1 = {.params = PARAMS,"))
  file <- copies_with(c(bad, list(rules)))
  for (i in seq_along(bad)) {
    expect_error(policy_compiled(file, paste0("ucb1_", i)), bad[[i]][3], class = "dpts_error_contract")
  }
  expect_error(policy_compiled(example_file("ucb1.c"), "ucb1", params = list(x = 1)), class = "dpts_error_input")
  # One that releases later than the check is long keeps the contract.
  expect_s3_class(policy_compiled(example_file("explore_commit.c"), "explore_commit", params = list(epsilon = 1, m = 1000),
                                  guarantee = privacy_pure(1)), "dpts_policy_compiled")
  expect_error(policy_compiled(example_file("ucb1.c"), "ucb1", guarantee = privacy_pure(1)), "releases no noisy sums",
               class = "dpts_error_contract")
  expect_error(policy_compiled(example_file("ucb1.c"), "ucb2"), "one of the policies of \"ucb1.c\"", class = "dpts_error_input")
  expect_error(policy_compiled(example_file("tree_ucb.c"), "tree_ucb"), "must have \"epsilon\"", class = "dpts_error_input")
  expect_error(policy_compiled(example_file("tree_ucb.c"), "tree_ucb", params = list(epsilon = "one")), "`params\\$epsilon` must be a number",
               class = "dpts_error_input")
  chooses <- function(rule) policy_compiled(file, paste0("ucb1_", length(bad) + 1), params = list(rule = rule))
  expect_error(chooses("best"), "`params\\$rule` must be \"fast\" or \"slow\"", class = "dpts_error_input")
  expect_s3_class(chooses("slow"), "dpts_policy_compiled")
  expect_error(policy_compiled(tempdir(), "x"), "`file`", class = "dpts_error_input")
  expect_error(policy_compiled("nowhere.c", "x"), "`file`", class = "dpts_error_input")
  expect_error(policy_compiled("package:nowhere", "x"), "`file`", class = "dpts_error_input")
  expect_error(policy_compiled("package:stats", "x"), "has registered none", class = "dpts_error_compiled")
})

test_that("compiling reads and leaves nothing in the working directory", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir(), `_R_SHLIB_BUILD_OBJECTS_SYMBOL_TABLES_` = "TRUE")
  writeLines("PKG_CFLAGS = -Dchoose=nothing", "Makevars")
  file <- withr::local_tempfile(fileext = ".c")
  writeLines(c(readLines(example_file("ucb1.c")), "/* another one */"), file)
  expect_s3_class(policy_compiled(file, "ucb1"), "dpts_policy_compiled")
  expect_identical(list.files(folder), "Makevars")
})

test_that("a guarantee that a coupling contradicts is warned of", {
  code <- readLines(example_file("tree_ucb.c"))
  leaks <- file.path(withr::local_tempdir(), "leaks.c")
  writeLines(sub("arm[1] = dpts_tree_add(tree(state, feedback->arm), feedback->reward, draws);",
                 "dpts_tree_add(tree(state, feedback->arm), feedback->reward, draws), arm[1] += feedback->reward;", code, fixed = TRUE), leaks)
  expect_warning(policy_compiled(leaks, "tree_ucb", params = list(epsilon = 1), guarantee = privacy_pure(1)),
                 "other arms", class = "dpts_warning_guarantee")
  expect_warning(policy_compiled(example_file("tree_ucb.c"), "tree_ucb", params = list(epsilon = 1),
                                 guarantee = privacy_pure(0.1)), "above the guaranteed", class = "dpts_warning_guarantee")
  # What leaks in a report, a verdict, the chances, or by a reward that is late
  once <- c(".each_once = 1,", "")
  policy <- "static const dpts_policy lazy_ucb = {"
  file <- copies_with(list(
    c(once, ".sum = a->all,", ".sum = a->all + 1e-9 * a->sum,"),
    c(once, policy, paste0(
      "static dpts_verdict leader(const void *state) {\n  const state_t *s = state;\n",
      "  return (dpts_verdict){.arm = s->arms[0].sum > s->arms[1].sum ? 0 : 1};\n}\n", policy, ".verdict = leader,")),
    c(once, policy, paste0(
      "static void chances(const void *state, const dpts_round *round, double *p) {\n  const state_t *s = state;\n",
      "  double all = 0;\n  FOR_EACH_ARM(i, round) all += 1 + s->arms[i].sum;\n",
      "  FOR_EACH_ARM(i, round) p[i] = (1 + s->arms[i].sum) / all;\n}\n", policy, ".tosses = 1, .probability = chances,")),
    c(once, "  double scale;", "  double scale, last;", "  a->sum += feedback->reward;", paste0(
      "  if ((double)feedback->t < s->last) a->mean += 5 * feedback->reward;\n  else s->last = (double)feedback->t;\n",
      "  a->sum += feedback->reward;")),
    # Fractions without noise, which rewards of 0 and 1 do not show
    c(once, "  a->sum += feedback->reward;",
      "  if (feedback->reward > 0 && feedback->reward < 1) a->all += feedback->reward;\n  a->sum += feedback->reward;"),
    # Fractions twice, which fractions that differ by 1/2 do not show
    c(once, "a->sum += feedback->reward;", "a->sum += feedback->reward * (feedback->reward < 1 ? 2 : 1);")
  ), "lazy_ucb")
  for (i in c(1:3, 5)) expect_warning(lazy_ucb(file, name = paste0("lazy_ucb_", i)), "another report", class = "dpts_warning_guarantee")
  expect_warning(lazy_ucb(file, name = "lazy_ucb_4"), "other arms", class = "dpts_warning_guarantee")
  expect_warning(lazy_ucb(file, name = "lazy_ucb_6"), "an epsilon of 1.98", class = "dpts_warning_guarantee")
  audit <- function(i) {
    careless <- suppressWarnings(lazy_ucb(file, name = paste0("lazy_ucb_", i)))
    x <- y <- matrix(0.5, 64, 2)
    y[20, ] <- 1
    dpts_audit(careless, horizon = 64, method = "coupling", streams = list(x, y), runs = 100, seed = 1)$lower
  }
  expect_identical(vapply(c(1, 3), audit, 0), c(Inf, Inf))
  for (i in 5:6) {
    fractions <- suppressWarnings(lazy_ucb(file, name = paste0("lazy_ucb_", i)))
    found <- dpts_audit(fractions, horizon = 64, method = "coupling", runs = 100, seed = 1, streams = c("success", "random", "fractions"))
    expect_identical(as.character(found$adversary[found$lower > 1.5]), "fractions")
  }
})

test_that("what goes wrong after the check is an error, too: a write past the state, chances that are none", {
  policy <- "static const dpts_policy ucb1 = {"
  tosses <- function(i, p) c(policy, paste0(
    "static void chances_", i, "(const void *state, const dpts_round *round, double *p) {\n  (void)state;\n",
    "  FOR_EACH_ARM(i, round) p[i] = ", p, ";\n}\n", policy, ".tosses = 1, .probability = chances_", i, ","))
  file <- copies_with(list(
    c("  arm->n += 1;", "  arm->n += 1;\n  if (feedback->t > 450) s->arms[2].n = 7;"), # of two arms
    tosses(2, "round->t == 451 ? NAN : 1.0 / round->n_offer"), tosses(3, "1.0 / round->n_offer"),
    tosses(4, "1.0 / round->n_offer;\n  if (round->t > 450 && round->n_offer < 2) p[1 - round->offer[0]] = 0.5") # of the other arm, too
  ))
  made <- lapply(paste0("ucb1_", 1:4), function(name) policy_compiled(file, name))
  play <- function(policy, ...) dpts_simulate(two_arms(), policy, 600, runs = 2, seed = 1, ...)
  for (delay in c(0, 5)) {
    expect_error(play(made[[1]], delay = delay), "past the bytes that size\\(\\) asks for")
    expect_error(play(made[[2]], delay = delay), "round 451 of run 1: the probabilities of its arms")
  }
  expect_no_error(play(made[[3]]))
  log <- data.frame(arm = factor(rep(c("a", "b"), 300)), reward = 1)
  expect_error(dpts_ope(log, made[[2]]), "event 450 of run 1: the probabilities of its arms")
  expect_error(play(policy_restart(made[[1]], 500)), "past the bytes")
  agent <- dpts_agent(made[[1]], c("a", "b"), use = "arrival")
  tickets <- agent_choose(agent, 460)$ticket
  expect_error(agent_reward(agent, tickets, 1), "past the bytes")
  agent <- dpts_agent(made[[4]], c("a", "b"), use = "arrival")
  agent_choose(agent, 450)
  expect_error(agent_choose(agent, offer = "a"), "the probabilities of its arms")
})

test_that("a skip that plays nothing, or pulls an arm that is not there, ends the run", {
  round <- "const dpts_round r = dpts_next(player); dpts_feedback f = {.arm = choose(state, &r, draws)};"
  right <- paste(round, "f.reward = dpts_pull(player, f.arm); update(state, &f, draws);\n")
  # What a skip learns must be what the rounds one by one would have.
  wrong <- paste(round, "f.reward = 1 - dpts_pull(player, f.arm); update(state, &f, draws);\n")
  tossing <- "if (dpts_left(player) < 150 && dpts_uniform(draws) < 2) { dpts_pull(player, 1); return; } "
  bodies <- list("(void)state, (void)player, (void)draws;\n", "(void)state, (void)draws; dpts_pull(player, 7);\n",
                 right, wrong, paste0(tossing, right))
  before <- "static const dpts_policy ucb1 = {"
  file <- copies_with(lapply(bodies, function(body) c(before, paste0(
    "static void skip(void *state, dpts_player *player, dpts_draws *draws) {\n", body, "}\n", before, ".skip = skip,"
  ))))
  skip_is <- function(i) policy_compiled(file, paste0("ucb1_", i))
  run <- function(policy) dpts_simulate(two_arms(), policy, 100, runs = 1, seed = 1)
  expect_error(run(skip_is(1)), "played no round")
  expect_error(run(skip_is(2)), "no arm")
  whole <- run(skip_is(3))
  expect_identical(whole$regret, withr::with_options(list(dpts.engine = "plain"), run(policy_ucb1())$regret))
  expect_error(skip_is(4), "its skip\\(\\) does not do what choose\\(\\) and update\\(\\) do: in 300 rounds on means of 1, 0, 1 it pulls",
               class = "dpts_error_contract")
  expect_error(skip_is(5), "does not do what choose", class = "dpts_error_contract")
})

test_that("a policy inside another one commits with the counts that it chose by", {
  counts <- policy_compiled(ucb1_with("static const dpts_policy ucb1 = {", paste0(
    "static int64_t commit(void *state, const dpts_round *round, int arm, dpts_draws *draws) {\n",
    "  int64_t before = 0;\n  FOR_EACH_ARM(i, round) before += round->pulls[i];\n",
    "  if (before >= round->t) ((state_t *)state)->arms[arm].sum = NAN;\n",
    "  (void)draws;\n  return 0;\n}\n\nstatic const dpts_policy ucb1 = {.commit = commit, "
  )), "ucb1")
  arms <- arms_bernoulli(c(0.6, 0.4))
  clipped <- policy_clipped(counts, c(0, 1))
  plain <- dpts_simulate(arms, policy_clipped(policy_ucb1(), c(0, 1)), 100, runs = 1, seed = 1)
  expect_identical(dpts_simulate(arms, clipped, 100, runs = 1, seed = 1)$regret, plain$regret)
})

test_that("a package registers its policies", {
  skip_unless_extended()
  from <- withr::local_tempdir()
  dir.create(file.path(from, "src"))
  writeLines(c("Package: minipolicies", "Title: Policies", "Version: 0.1", "Author: A", "Maintainer: A <a@b.c>",
               "Description: Policies.", "License: MIT", "Imports: dpts", "LinkingTo: dpts"), file.path(from, "DESCRIPTION"))
  writeLines(c("useDynLib(minipolicies)", "importFrom(dpts, policy_compiled)"), file.path(from, "NAMESPACE"))
  writeLines(c(readLines(example_file("lazy_ucb.c")), "#include <R_ext/Rdynload.h>", "void R_init_minipolicies(DllInfo *dll) {",
               "  (void)dll;",
               "  ((dpts_register_t)R_GetCCallable(\"dpts\", \"dpts_register\"))(\"minipolicies\", dpts_module_of);", "}"),
             file.path(from, "src", "lazy_ucb.c"))
  to <- withr::local_tempdir()
  withr::local_libpaths(to, "prefix")
  utils::install.packages(from, to, repos = NULL, type = "source", quiet = TRUE)
  theirs <- lazy_ucb("package:minipolicies")
  found <- dpts_identify(two_arms(), list(a = theirs, b = lazy_ucb()), limit = 2000, runs = 2, seed = 1)
  expect_identical(found$people[found$policy == "a"], found$people[found$policy == "b"])
  path <- withr::local_tempfile(fileext = ".sqlite")
  agent <- dpts_agent(theirs, c("a", "b"), path, use = "arrival")
  for (i in 1:40) agent_reward(agent, agent_choose(agent)$ticket, 1)
  agent_close(agent)
  expect_identical(sum(pulls(agent_open(path))$pulls), 40)
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(theirs, file)
  play <- function(policy) dpts::dpts_simulate(dpts::arms_bernoulli(c(0.6, 0.4)), policy, 200, runs = 2, seed = 1)$regret
  expect_identical(callr::r(function(play, file) play(readRDS(file)), list(play, file), libpath = .libPaths()), play(theirs))
})
