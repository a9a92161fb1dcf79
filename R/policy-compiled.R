# Policies in C from a file of the user's, or from another package, checked against the contract of
# inst/include/dpts.h. How a file is compiled and loaded is in R/compiled.R.

#' A policy in C of your own
#'
#' `policy_compiled()` compiles a policy of your own, written in C with the header `dpts.h` of this package,
#' and checks that it keeps the contract. It runs as fast as the policies of the package, and can be used
#' wherever they can: in simulations on threads, replays, audits and agents. See `vignette("policy-in-c")`.
#'
#' @details
#' The header is `system.file("include", "dpts.h", package = "dpts")`; it says what each function of a policy
#' is for. The file is one file, which includes no other of yours. `R CMD SHLIB` compiles it with the compiler
#' and the settings of this R, into `tools::R_user_dir("dpts", "cache")`, once for each version of the file,
#' the header and R. The policy carries the source, so that another process or machine compiles it where it is
#' not in the cache.
#'
#' Then a scripted session runs it: two copies of the state, one moved about in memory, with late rewards,
#' arms unavailable, choices made twice, and a second run in the memory of the first. Its own skip, if it has
#' one, is compared with the rounds one by one. Later, too, it is an error if the state is written past its
#' end, or if probabilities are no distribution. Errors name what is wrong. A crash of the code is a crash of
#' R.
#'
#' A policy with `.each_once = 1` says that each reward is in one released sum at most, and that its report()
#' has all sums of an arm together: then there is evidence of it ([evidence()], [dpts_identify()],
#' [policy_detect()]). That is checked by what it releases of rewards of 1, and of a 1 among zeros.
#'
#' Noise must come from the header's functions: there it is counted, exact where an agent serves people, and
#' forced to the releases of a neighbour's run. A policy with a guarantee that releases sums (`.releases = 1`)
#' is run on hundreds of pairs of neighbouring streams in this way, of coins and of fractions, some with late
#' rewards and arms unavailable. If the arms differ, or what report(), verdict() and probability() say, or if
#' the releases cost more than the guarantee, a warning of class `dpts_warning_guarantee` says so. That is
#' evidence, not a proof: see [dpts_audit()].
#'
#' @param file A file's name, or `"package:NAME"` for the policies that a package with `LinkingTo: dpts`
#'   registered.
#' @param name Which of its policies: a string.
#' @param ... Not used; later arguments must be named.
#' @param params A named list of the policy's parameters: numbers, or strings where it gives choices.
#' @param guarantee The guarantee of the policy: a budget such as [privacy_pure()], a guarantee, or `NULL` for
#'   nothing.
#' @inherit policy_ts_gaussian return
#' @template see_policies
#' @examplesIf nzchar(Sys.which("make"))
#' file <- system.file("examples", "ucb1.c", package = "dpts")
#' ucb1 <- policy_compiled(file, "ucb1") # the first time it is compiled
#' dpts_simulate(arms_bernoulli(c(0.7, 0.5)), list(mine = ucb1, ours = policy_ucb1()), 1000, seed = 1)
#' @export
policy_compiled <- function(file, name, ..., params = list(), guarantee = NULL) {
  check_dots_empty(...)
  check_all_given()
  file <- check_string(file)
  name <- check_string(name)
  source <- read_source(file)
  what <- compiled_properties(load_library(file, source), file, name)
  given <- if (is.null(guarantee)) guarantee_none() else declared_guarantee(guarantee)
  policy <- new_policy(
    name, check_compiled_params(params, what[[2]], what[[3]], sprintf("policy \"%s\"", name)), given,
    sprintf("%s, in C from %s", name, basename(file)),
    args = list(file = file, name = name, params = if (length(params)) params, guarantee = guarantee),
    any_reward = promises_nothing(given)
  )
  policy$properties <- what[[1]]
  policy$source <- source
  class(policy) <- c("dpts_policy_compiled", "dpts_policy")
  check_contract(policy)
  check_once(policy)
  check_skip(policy)
  check_promise(policy)
  policy
}

# ---- the contract -----------------------------------------------------------------------------------

check_contract <- function(policy) {
  dim <- if (is_contextual(policy)) 2L else 0L
  wrong <- NULL
  for (k in c(3L, 16L)) wrong <- wrong %||% .Call(C_compiled_check, kernel(policy, 400), k, 400, dim)
  if (is.null(wrong) && !promises_nothing(policy$guarantee) && !is_true_of(policy, "releases") &&
      !is_true_of(policy, "tosses")) {
    wrong <- "it has a guarantee, and releases no noisy sums (.releases = 1), nor randomises (.tosses = 1)"
  }
  needs <- is_true_of(policy, "releases") && is_true_of(policy, "reports") && dim == 0
  if (is.null(wrong) && is_true_of(policy, "each_once") && !needs) {
    wrong <- "`.each_once = 1` is for policies without contexts that have `.releases = 1` and report()"
  }
  if (!is.null(wrong)) abort_broken(policy, wrong)
}

abort_broken <- function(policy, wrong) {
  abort_input("file", "Policy \"%s\" breaks the contract of dpts.h: %s.", policy$name, wrong,
              class = "dpts_error_contract")
}

# Where it says that each reward is in one released sum: of rewards of 1, some of them late, report() must
# have what the ledger has, and a single 1 among zeros must be in one of the sums, or in none yet.
check_once <- function(policy) {
  if (!is_true_of(policy, "each_once")) return(invisible())
  play <- coupling_player(policy)
  released <- function(rewards, finish = TRUE) {
    script <- table_script(matrix(rewards, length(rewards), 2), 1)
    script$finish <- finish
    script$delays <- c(0L, 7L, 2L)
    play(script)
  }
  broken <- function(...) abort_broken(policy, paste("each reward is in one sum, it says, and", sprintf(...)))
  amount <- function(x) sprintf("%s rewards with the sum %s in %s terms", number_text(x[1]),
                                number_text(signif(x[2], 6)), number_text(x[3]))
  n <- 120
  for (rounds in c(20, 60, n)) {
    out <- released(rep(1, rounds), rounds == n)
    ledger <- out$ledger
    was <- c(sum(ledger$exact), sum(ledger$value), length(ledger$exact))
    says <- rowSums(out$report)[c(1, 2, 4)]
    if (!isTRUE(all.equal(says, was, tolerance = 1e-9))) {
      broken("after %d rewards of 1 report() has %s, where %s were released", rounds, amount(says),
             amount(was))
    }
    if (was[3] > 0 && any(out$report[c(3, 5:8), ] != c(ledger$kind[1], ledger$scale[1], 0, 0, 0)) ||
        length(unique(ledger$scale)) > 1) {
      broken("report() of some arm has not the kind and scale of all noise, or last_terms, or looks")
    }
  }
  for (at in seq_len(n)) {
    exact <- released(replace(numeric(n), at, 1))$ledger$exact
    exact <- exact[abs(exact) > 1e-9]
    if (length(exact) > 1 || any(abs(exact - 1) > 1e-9)) {
      broken("a reward of 1 in round %d, among zeros, was released as %s", at, words_list(number_text(exact)))
    }
  }
}

# Does skip() play as the rounds one by one? On arms whose rewards are known a policy that does not toss pulls
# the very same arms; on others, and if it tosses, as many on average.
check_skip <- function(policy) {
  if (!is_true_of(policy, "skips")) return(invisible())
  n <- 300
  play <- function(engine, means, runs) {
    old <- options(dpts.engine = engine)
    on.exit(options(old))
    sim <- dpts_simulate(arms_bernoulli(means), policy, n, runs = runs, seed = 1, record = I(n), threads = 1,
                         progress = FALSE)
    matrix(pulls(sim)$pulls, length(means))
  }
  for (means in list(c(1, 0, 1), c(0, 0, 1), c(0.7, 0.4, 0.6))) {
    exact <- all(means %in% 0:1) && !is_true_of(policy, "tosses")
    runs <- if (exact) 1 else 200
    plain <- play("plain", means, runs)
    skip <- play("skip", means, runs)
    apart <- abs(rowMeans(skip) - rowMeans(plain))
    spread <- apply(plain, 1, stats::var) + apply(skip, 1, stats::var)
    error <- if (exact) 0 else 6 * sqrt(spread / runs) + 0.1
    bad <- which(apart > error)
    if (length(bad)) {
      abort_broken(policy, sprintf(
        paste("its skip() does not do what choose() and update() do: in %d rounds on means of %s it pulls",
              "arm %d %s times, and %s one by one"),
        n, paste(means, collapse = ", "), bad[1], number_text(mean(skip[bad[1], ])),
        number_text(mean(plain[bad[1], ]))))
    }
  }
}

# Neighbouring streams, with the releases of the one forced on the other: arms, releases, reports, verdicts
# and chances must be the same, also where rewards are late, and some arms are not on offer.
check_promise <- function(policy) {
  guarantee <- policy$guarantee
  if (promises_nothing(guarantee) || !is_true_of(policy, "releases") || is_contextual(policy)) {
    return(invisible())
  }
  n <- 100
  cases <- expand.grid(at = 1:60, k = 2:3, late = c(FALSE, TRUE), pools = c(FALSE, TRUE))
  for (i in seq_len(nrow(cases))) {
    at <- cases$at[i]
    k <- cases$k[i]
    if (at == 1) most <- least_epsilon(guarantee, conditions(n, k, pools = cases$pools[i]), 1e-6)
    # Half of them coins, of which a sum moves by 1. Half fractions, which code may treat in another way than
    # whole rewards: a whole reward becomes a fraction that is nearly 1 away.
    coins <- (at + k + cases$late[i] + cases$pools[i]) %% 2 == 1
    x <- matrix(rep(if (coins) c(1, 0, 0, 1, 1) else c(0.75, 0, 0.25, 1, 0.625), length.out = k * n), n)
    if (!coins) x[at, ] <- at %/% 2 %% 2
    y <- x
    y[at, ] <- abs(x[at, ] - if (coins) 1 else 0.99)
    script <- function(table) {
      table_script(table, i, if (cases$late[i]) c(0L, 3L, 11L, 2L),
                   if (cases$pools[i]) rep_len(list(seq_len(k), c(1L, k), 1:2), n))
    }
    out <- couple(coupling_player(policy), script(x), script(y))
    says <- if (!out$arms || !out$releases) {
      "other arms, or other releases, under the same released sums"
    } else if (!out$said) {
      "another report(), verdict() or probability() under the same released sums"
    } else {
      cost <- path_epsilon(out$cost, 1e-6)
      if (cost > most * (1 + 1e-9)) sprintf("an epsilon of %s at delta = 1e-6, above the guaranteed %s",
                                            number_text(signif(cost, 4)), number_text(signif(most, 4)))
    }
    if (!is.null(says)) {
      return(rlang::warn(
        sprintf(paste("The guarantee of policy \"%s\", %s, does not hold: streams that differ in the reward",
                      "of round %d give %s. Whatever depends on rewards must come from a noisy sum."),
                policy$name, format(guarantee), at, says), class = "dpts_warning_guarantee"))
    }
  }
}

# ---- as a policy ------------------------------------------------------------------------------------

#' @export
kernel.dpts_policy_compiled <- function(policy, horizon) {
  list(name = policy$name, params = policy$params, library = load_library(policy$args$file, policy$source))
}

#' @export
format.dpts_policy_compiled <- function(x, digits = 15, ...) {
  sprintf("policy_compiled(%s)", format_args(x$args, digits))
}

# Its source, wherever the file lies
#' @export
definition.dpts_policy_compiled <- function(x) {
  x$args$file <- if (is.null(x$source)) x$args$file
  x$title <- NULL
  unclass(x)
}
