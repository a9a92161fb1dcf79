#' Run a policy on people
#'
#' A live agent chooses an arm for each person, and learns when the reward comes. It keeps everything in a
#' database, so that nothing is lost, nothing is released twice, and no reward is kept longer than it is
#' needed. `dpts_agent()` creates an agent; `agent_open()` opens an existing one. Use it for real people; to
#' try a policy first use [dpts_simulate()]. It needs somebody who may see rewards: without such a server use
#' [policy_local()].
#'
#' @details
#' Quick start:
#'
#' ```
#' agent <- dpts_agent(policy_randomised(mu = 1), c("old", "new"), "test.sqlite", use = "arrival")
#' choice <- agent_choose(agent)                # show choice$arm to the person
#' agent_reward(agent, choice$ticket, 1)        # when the outcome is known
#' verdict(agent)
#' ```
#'
#' Each choice is a *ticket*. Its reward comes once: soon, late, out of order or never.
#' * `use = "deadline"`: a reward is used when its ticket's `deadline` has passed and not before,
#'   and a ticket without a reward counts as `missing` from then on. When a reward comes, and
#'   whether it comes at all, is then as protected as its value.
#' * `use = "arrival"`: a reward is used when it comes. Times of arrival are then taken to
#'   be public. A ticket past its `deadline`, if there is one, is resolved with `missing`. Without
#'   a deadline, a ticket whose reward never comes holds up its batch permanently: the arm is still
#'   chosen, but nothing more is learned from that batch.
#'
#' Neither suits everyone: `"deadline"` needs a finite `deadline`, and
#' `"arrival"` must be asked for. Deadlines that have passed are handled by the next call that reports no
#' protected outcome: a choice, a look, what an operator does.
#'
#' Every change is one transaction that holds the ticket, the journal and the policy's state. A call returns
#' when its change is durable. A kill, a full disk or a lost connection before that leaves the store as it
#' was. If a connection is lost before the answer comes, it is not known whether the change was made, and the
#' error has the class `dpts_error_store_unknown`. A call with a `key` ([agent_choose()]) can be made again,
#' and is done once. Several processes may share an agent, on PostgreSQL or on one SQLite file: they wait for
#' each other.
#'
#' Noise is exact: rewards are rounded to multiples of 2^-20, sums are integers, the noise is
#' integer noise from random bits of the operating system (see [mechanism_laplace()]). Policies in R
#' ([policy_custom()]) draw from R's generator, which the agent seeds from the operating
#' system for each call; a guarantee that they declare is theirs to keep.
#'
#' @section Contexts:
#' [policy_linucb()], [policy_lin_ts()] and [policy_logistic_ucb()] choose by what is known of a person:
#' `dim` numbers, in \[0, 1\] if the policy is private, given with each choice ([agent_choose()]). A ticket
#' keeps its context until the policy has learned from it, and no longer unless `keep_rewards`; from then
#' on it is in sums alone. Rounding, exact noise and what is refused (`mechanism = "gamma"`) are described
#' at [policy_linucb()], section On people.
#'
#' With private contexts the guarantee is joint: it is about what *others* are given. A person's own arm
#' depends on the person's own context, so [pulls()], [dpts_history()] and all other counts of arms must be
#' shown only to people who may see every person's arm. For that reason choices that are no rounds (after the
#' end, beyond `max_per_person` or the `budget`) do not depend on counts here: the policy chooses by the
#' context, and learns nothing. Estimates, evidence and verdicts are not available.
#'
#' @section Strata:
#' A stratum is a part of the people that is known before the randomisation, and public: a
#' country, a site, an age group, a class of predicted outcome. With `strata` each choice names one
#' ([agent_choose()]), and each stratum has its own open block and probabilities, from the same policy. With
#' policies that keep a person's rewards in different releases (see People who come again) a visit is no
#' round, like one that comes too early, if the person's last counted visit was in a block of another stratum.
#' A visit in no block, since other arms were available, binds nobody. The guarantee is that of the policy,
#' because each reward is in a sum of its own stratum alone.
#'
#' [evidence()] and [verdict()] are then about all people: the evidence of all blocks of all strata
#' multiplies, and there is a look once each stratum has released something new. [effects()] with
#' `by = "stratum"` gives each stratum's effect, with the error probability shared among them. Where strata
#' differ in how well people do, comparisons within them need fewer people.
#' For this, **outcomes of people in different strata must be independent**, given what was published. Blocks
#' of different strata are open at the same time, and an outcome in one must not depend on the assignments in
#' another. With 20 blocks that depend on each other in the worst way, 57% of claims at 5% were false.
#' Evidence by means is refused, because strata differ in their means.
#'
#' Each stratum learns by itself, and must fill blocks of its own. Without a `block` of your own,
#' [policy_randomised()] has smaller first blocks in strata. A `block` is the size in each stratum: half of
#' what it is without strata is about right for two. With many strata of few people the noise of the sums
#' costs more than strata save; a warning says when. Arms cannot be added later.
#'
#' @section People who come again:
#' With [policy_randomised()], [policy_top_two()], [policy_gaussian_imed()]
#' (`correlation = 0`), [policy_dp_imed()] and [policy_dp_klucb()] no release holds two rewards of a person,
#' so that m of them are mu sqrt(m)-GDP, or the m-fold composition of Laplace noise: 210 visits at mu = 0.1
#' are 1.45-GDP, not 21-GDP ([privacy_group()] with `apart = TRUE`). A person may come again while the block
#' or batch of their last reward still takes people, or while that reward is out. They then get an arm as
#' anybody else, but the visit is in no block: the choice is no round, its reward is not used, and it enters
#' no count that the policy reads. Tickets alone decide this, before the arm is chosen. Blocks much smaller
#' than the number of people count most visits.
#'
#' The block ends when more such visits have come than it is for, so that few people who return often do not
#' hold it up. With `block_time` it also ends by the clock. A block of few people has as much noise in its
#' sum as any other.
#'
#' With [policy_local()] each bit is a release. For other policies m rewards may be in one sum, and the
#' guarantee is that of a group: m mu. So it is with correlated noise, where one release carries the noise of
#' the last: with 50 rewards at correlation 0.65 a person gets up to 15.0 mu, where sqrt(50) is 7.1.
#'
#' Evidence by randomisation is then about visits: the effect of *this* assignment on this visit's reward,
#' averaged over visits, given all that happened before. It holds if a visit's reward is final before the
#' person is randomised again, which the agent sees to, and if rewards do not depend on later assignments of
#' others. It does not say which arm to give always. Suppose that the reward is 0.6, less 0.4 after a visit
#' with arm a, plus 0.1 under a. Then the effect of an assignment is 0.1, but always giving a has the mean 0.3
#' and always giving b has 0.6. People who come often weigh more. Evidence by means assumes that all rewards
#' of an arm have one mean; with several rewards of a person that is wrong (100 people with 100 visits each:
#' 64% of claims at 5% were false), and it is refused.
#'
#' @section Blinding:
#' [agent_choose()] tells the arm to all who ask. To blind those who treat and those who assess, name the
#' arms by codes that say nothing, such as `c("P", "Q")`, with the policy's `control` as a number. Reports,
#' the page, the journal and the clients then know the codes alone. Keep the table of codes outside, and put
#' its digest into the journal before the first person, as the `reason` of [agent_plan()]. A code does not
#' hide which arm does better: give the roles of [agent_api()] that read results to those who may know.
#'
#' @section A day as the unit:
#' With `window`, such as a day, all that happens to a person from a counted choice on until it is over is one
#' visit. Each further choice for the person gives the same ticket and arm again, whatever arms are available
#' then, so that there is one assignment and one place in a block.
#'
#' Report each of the person's rewards for that ticket, as it comes, by a call of [agent_reward()]. The reward
#' of the window is their mean. It lies in the range as each of them does, so that all of them together change
#' a sum by no more than one reward can, and have the guarantee of one reward, however many they are.
#' `max_per_person` is then the number of windows that count: 42 days at mu = 0.1 are 0.65-GDP for the person,
#' also with 5 rewards a day. An effect is that of a window's assignment on the mean of the window.
#'
#' The mean is taken once, and what was reported is forgotten then:
#' * `use = "deadline"`: at the deadline, of all that was reported until then. `deadline` must not be shorter
#'   than `window`.
#' * `use = "arrival"`: at the end of the window. If nothing came until then, the first report after it is the
#'   reward.
#'
#' A report that is sent twice would count twice, so give each call of [agent_reward()] a `key` of its own.
#' Other `outcomes` are means of all that is reported of them until their deadline. A window that is open when
#' the agent is finished is dropped.
#'
#' @section Privacy:
#' Neighbouring streams differ in one reward, replaced by any value of \[0, 1\]. The times
#' of arrivals, the available arms and contexts must not depend on rewards. With `max_per_person` = m no more
#' than m rewards of a person are used. All guarantees, budgets and statements are then for a person with m
#' rewards. A further choice for this person is no round of the policy and enters no sum and no estimate. It
#' gives the person's last arm again or, if that is not available, the one that was chosen most. With `sticky
#' = TRUE` a person has one ticket: every further choice gives the same arm and ticket again, whatever arms
#' are available then.
#'
#' Leading and trailing white space in a person's identifier is removed, and nothing else is changed: "Bob"
#' and "bob" are two people, and so are two spellings of the same letter in Unicode. All texts are kept in
#' UTF-8, whatever encoding R has them in; in a session without letters beyond ASCII (`LC_ALL=C`) bytes are
#' taken for UTF-8.
#'
#' Gaussian Thompson sampling compares draws in doubles, for which a `budget` of (epsilon, delta) must leave
#' room; no delta below 2.3e-9 is claimed for it (1e5 rounds, 5 arms, `variance_scale = 1`). A `budget` is
#' checked by all accountants of [dpts_privacy()] that apply. The table of an agent leaves out the slow ones
#' (`"direct"`, `"rdp"`, and of a policy with a pure guarantee `"pld"`), so that it may show a little more
#' than a budget that is kept.
#'
#' @section What is published:
#' The arms chosen, and what the functions print, plot and return:
#' * [agent_choose()]: tickets, round numbers, arms and their probabilities, and after the end the winner's
#'   arm;
#' * [pulls()], [dpts_history()]: numbers and times of choices, and how many are unresolved, where
#'   with `use = "deadline"` a ticket is resolved by its deadline alone;
#' * [estimates()]: released noisy sums, or sums of locally private bits, and how many rewards and
#'   releases are in them;
#' * [dpts_releases()]: the same noisy sums, each by itself; [evidence()], [effects()], [verdict()]:
#'   computed from these and the probabilities;
#' * [agent_finish()]: the noisy sums of what was open at the end, each reward still in one sum;
#' * [dpts_privacy()]: the guarantee and what has been spent, a function of all this;
#' * `print()`, `summary()`, `autoplot()` and the service ([agent_api()]): the same numbers again.
#'
#' How many predictions were clipped ([policy_randomised()]) is shown to you by `print()` and the service's
#' `/status`. How many contexts were longer than `norm`, and so were shortened ([policy_linucb()]), is shown
#' to you by `print()`. `/status` has it where contexts are public, and `null` where they are private, since
#' one person's context changes the number. A large number shows that the bound is too low. If predictions or
#' contexts are protected, leave the number out of what you publish.
#'
#' Nothing else: no reward, no sum before its noise, no posterior draw, and with
#' `use = "deadline"` not whether an answer came. [agent_reward()] answers the one who reports
#' a reward; its answer is not for publication.
#'
#' Anyone who holds a ticket can report its reward. By a second report they can learn whether the first was
#' the same, as long as it is kept. So give tickets only to the party that reports rewards, and leave the
#' column `ticket` out of what you publish.
#'
#' @section For operators:
#' * Going back to an old copy of the store releases the same rewards again, with fresh noise: the privacy
#'   loss doubles. If you must, open it by `agent_open(store, restored = TRUE)`. An agent that then is beyond
#'   its `budget` learns nothing more and chooses the arm that was chosen most. An agent that was open before,
#'   in a service for instance, is an error of class `dpts_error_store_back` until this is said.
#' * Each change checks that the store still holds the same agent. A forked process must open the
#'   store again: an agent of its parent is refused there.
#' * A process that has the store's lock, and is cut off or stopped, holds up the changes of all others. On
#'   PostgreSQL they take the lock over after half a minute. Its own change, if it comes back, is tried again,
#'   and is an error if others have changed the store again. A SQLite file is locked until that process ends.
#'   Nobody waits longer than 10 seconds for a lock, on PostgreSQL of a table as well: then comes an error of
#'   class `dpts_error_store_locked`, and nothing was changed.
#' * [agent_backup()] copies an agent that serves. `agent_open()` reads stores of its own format only; a store
#'   of an older or newer format is refused, with both formats in the message, and left alone.
#' * A clock that went back does no harm: the agent's own time, that of its last change, stands still until
#'   the clock has reached it, with a warning. Deadlines are later by the same time. A clock far ahead is
#'   refused: see [agent_clock()]. A report that is protected does not move the agent's time.
#' * The store contains rewards that are not yet released and partial sums without noise. It is as
#'   confidential as the rewards. A SQLite file is readable by its owner alone and overwrites what it deletes;
#'   the journal of the file system, backups and snapshots do not. On PostgreSQL deleted rows live on in its
#'   write-ahead log, its replicas and until `VACUUM`; its server's log gets no values, unless
#'   `log_parameter_max_length` asks for them. A pooler between them must give out connections by session.
#' * On PostgreSQL anyone who may connect to the agent's database sees, without any right to its tables, how
#'   many of their rows were changed and when they were vacuumed (`pg_stat_all_tables`). Anyone who may
#'   connect to another database of the server sees the sums (`pg_stat_database`). With `use = "deadline"`
#'   this tells how many answers came. Let nobody else connect (`REVOKE CONNECT ON DATABASE ... FROM PUBLIC`),
#'   and have a server for the agents alone if others on it must not know.
#' * With `max_per_person` identifiers are kept as keyed hashes (HMAC-SHA256), until `retention` is over. The
#'   key lies in the same store: anyone who has the store can test a guess.
#' * The guarantee does not cover how long a call takes.
#'
#' @param policy A policy, but not [policy_clipped()]: an agent has a `range`. Without a horizon it must be
#'   one that works at any time.
#' @param arms The arms: their names, their number, or a problem whose names are taken. Names are compared
#'   byte by byte: two spellings of the same letter in Unicode are two names. The state has at
#'   most 128 MB: enough for 100,000 arms of most policies, 6,000 of [policy_top_two()] and [policy_detect()],
#'   and fewer with contexts. Among 100,000 arms a choice takes about a second.
#' @param store Where the agent lives: the path of a SQLite file, which must not exist yet; a DBI connection
#'   of RSQLite or RPostgres, whose database must hold no agent yet; a function that makes a connection of
#'   RPostgres for this agent alone, with which changes take a quarter less time; or `NULL`, in memory.
#'   SQLite and memory need the packages DBI and RSQLite.
#' @param ... Not used; later arguments must be named.
#' @param name Title of the experiment, where it is shown; `NULL`: none.
#' @param horizon Maximum number of rounds, for policies that need it; after the last the agent
#'   continues with the winner's arm, see [agent_finish()].
#' @param use When a reward is used: see Details.
#' @param deadline How long a ticket waits for its reward: a difftime, or `Inf`. A report at just that time is
#'   late. This and the other times are a millisecond at least, and the others are finite.
#' @param range The smallest and the largest reward that there can be: `c(low, high)`.
#' @param missing The reward that a ticket without reward counts as: a number in `range`.
#' @param max_per_person Maximum number of rewards of one person that are given to the policy (one that it
#'   leaves out, such as of a visit with other available arms than its block's, counts as well), or `NULL`:
#'   persons are not distinguished. See People who come again.
#' @param sticky Whether a person always gets the same arm: see Privacy. Then `max_per_person` is 1.
#' @param keep_rewards Whether to keep rewards and contexts after they are inside a released sum.
#' @param dim Length of a context, for policies with contexts in C: at most 128.
#' @param budget A privacy budget that the agent must keep, for a person if `max_per_person` is
#'   given and for a reward if not; a policy that does not is refused. `NULL`: none.
#' @param retention How long identities are kept, a difftime: the keys of calls after their choice, and
#'   hashes of persons after the end. `NULL`: keys a day, and persons the `deadline`, or a day without one.
#'   See [agent_person()].
#' @param strata The names of strata of people, such as `c("north", "south")`; `NULL`: none. See Strata.
#' @param block_time A difftime: at each multiple of it since 1970 (UTC) the blocks or batches that take
#'   people end as they are, so that sums are released that often at least. `NULL`: they end when they are
#'   full.
#' @param window A difftime: how long a person keeps a ticket and its arm, from the choice that gave it. The
#'   mean of the rewards in it is one reward: see A day as the unit. It needs `max_per_person`. `NULL`: each
#'   choice is one of its own.
#' @param outcomes Other outcomes of the same people, a named list of [agent_outcome()], such as `list(harm =
#'   agent_outcome(mu = 0.2))`; `NULL`: none.
#' @returns An agent: an object of class `dpts_agent`. It is a handle: two names for it are one agent.
#' @seealso [agent_choose()] assigns a person and takes rewards, [verdict()] says when to stop,
#'   [agent_api()] serves an agent over HTTP.
#' @concept agent
#' @concept central model of privacy
#' @concept live experiment
#' @examplesIf rlang::is_installed(c("DBI", "RSQLite"))
#' agent <- dpts_agent(policy_gaussian_imed(mu = 1), c("short", "long"), use = "arrival")
#' choice <- agent_choose(agent)
#' choice
#' agent_reward(agent, choice$ticket, 1)
#' agent_close(agent)
#'
#' # By context, which is protected, too
#' agent <- dpts_agent(policy_linucb(mu = 1, norm = 1), c("short", "long"), use = "arrival", dim = 2)
#' choice <- agent_choose(agent, context = c(0.2, 0.9))
#' agent_reward(agent, choice$ticket, 1)
#'
#' # From a recommendation to a running agent
#' advice <- dpts_recommend(privacy_gdp(1), NULL, horizon = 1000, k = 2, runs = 2, seed = 1)
#' agent <- dpts_agent(recommended_policy(advice), c("short", "long"), horizon = 1000,
#'                     use = "arrival")
#' agent_choose(agent, n = 3)
#' @export
dpts_agent <- function(policy, arms, store = NULL, ..., name = NULL, horizon = NULL,
                       use = c("deadline", "arrival"), deadline = Inf, range = c(0, 1),
                       missing = range[1], max_per_person = NULL, sticky = FALSE,
                       keep_rewards = FALSE, dim = NULL, budget = NULL, retention = NULL,
                       strata = NULL, block_time = NULL, window = NULL, outcomes = NULL) {
  check_dots_empty(...)
  check_all_given()
  check_policy(policy)
  arms <- check_arm_labels(arms)
  if (!is.null(name)) name <- check_text(name)
  if (!is.null(horizon)) horizon <- check_count(horizon)
  use <- check_choice(use, c("deadline", "arrival"))
  deadline <- check_deadline(deadline, use)
  range <- check_range(range)
  missing <- in_units(check_number(missing, range[1], range[2]), range)
  check_flag(sticky)
  if (sticky) max_per_person <- max_per_person %||% 1
  if (!is.null(max_per_person)) {
    max_per_person <- check_count(max_per_person)
    if (sticky && max_per_person > 1) {
      abort_arg("max_per_person", "1 with `sticky = TRUE`", max_per_person)
    }
  }
  check_flag(keep_rewards)
  if (!is.null(dim)) dim <- check_count(dim, 1, .Call(C_max_context))
  if (!is.null(budget)) check_budget(budget)
  if (!is.null(retention)) retention <- check_seconds(retention)
  strata <- check_strata(strata, policy, horizon)
  if (!is.null(block_time)) block_time <- check_seconds(block_time)
  if (!is.null(window)) window <- check_window(window, max_per_person, sticky, deadline)
  terms <- list(policy = policy, arms = arms, name = name, horizon = horizon, use = use, deadline = deadline,
                range = range, missing = missing, max_per_person = max_per_person, sticky = sticky,
                keep_rewards = keep_rewards, dim = dim, budget = budget, retention = retention,
                strata = strata, block_time = block_time, window = window, key = system_bytes(32))
  terms$outcomes <- check_outcomes(outcomes, policy, deadline)
  check_terms(terms)
  check_state_fits(terms)
  if (!is.null(dim) && !is.null(horizon)) {
    inform_outweighed(stats::setNames(list(policy), policy$name), dim, length(arms), horizon)
  }
  opened <- open_store(store, create = TRUE)
  made <- FALSE
  on.exit(if (!made) opened$close())
  if (opened$exists()) refuse_store(opened, terms)
  definition <- serialize(terms, NULL)
  sum <- checksum(definition)
  agent <- new_agent(opened, terms, new_identity(sum))
  session_start(agent$session)
  first <- list2env(list(now = time_now(NA), next_due = NA_real_, entry = 0, restored = 0,
                         find_next_due = FALSE, journal = journal_begin(agent$identity)))
  change <- change_row(all_changes(agent, first, 0))
  opened$create(list(
    dpts_agent = c(list(id = 1L), utils::modifyList(change[c("version", "identity", HEAD)],
                                                     list(seq = -1, state_sum = agent$state_sum))),
    dpts_definition = list(id = 1L, definition = list(definition), definition_sum = sum), dpts_change = change
  ))
  made <- TRUE
  agent
}

#' @param store For `agent_open()`: the path of a SQLite file, a DBI connection, or a function that makes one.
#' @param restored Whether `store` is an old copy that the agent goes on with: as [agent_restored()], before
#'   rewards whose deadlines have passed are released once more.
#' @rdname dpts_agent
#' @export
agent_open <- function(store, ..., restored = FALSE) {
  check_dots_empty(...)
  check_all_given()
  check_flag(restored)
  opening <- begin_opening(store)
  agent <- opening$agent
  made <- FALSE
  on.exit(if (!made) agent$store$close())
  while (opening$step()) NULL
  agent_transact(agent, function(tx) NULL, look = TRUE, restored = restored, still = TRUE,
                 reason = if (restored) NA)
  made <- TRUE
  agent
}

# An agent that is being opened, and `step()`, which does a part of it: TRUE as long as there are more.
# Nothing is done that is due: a service may open an agent for a report of which nobody else may know.
begin_opening <- function(store) {
  opened <- open_store(store, create = FALSE)
  made <- FALSE
  on.exit(if (!made) opened$close())
  if (!opened$exists()) abort_arg("store", "a store that holds an agent; `dpts_agent()` makes one")
  kept <- read_definition(opened)
  agent <- new_agent(opened, kept$terms, kept$identity)
  # Read the state now: a damaged one is refused here and not at the first customer.
  head <- read_state(agent, "read")
  agent$seq <- head$seq
  parts <- checks_of_tables(agent, head)
  step <- function() {
    if (!isTRUE(parts[[1]]())) parts <<- parts[-1]
    length(parts) > 0
  }
  made <- TRUE
  list(agent = agent, step = step)
}

new_agent <- function(store, terms, identity) {
  agent <- new.env(parent = emptyenv())
  agent$store <- store
  agent$terms <- terms
  agent$identity <- identity
  agent$life <- new_life(terms$arms)
  agent$session <- session_of(terms, terms$arms)
  agent$releases <- agent$session$by_batch
  agent$silent <- terms$use == "deadline"
  # Of each arm: tickets that are not resolved, and tosses that it was on offer for
  agent$outstanding <- agent$offered <- numeric(length(terms$arms))
  # Of other outcomes, what waits, and rows that are not stored yet: R/agent-outcome.R
  agent$blocks <- if (!is.null(terms$outcomes)) no_blocks(agent)
  agent$fresh <- NULL
  agent$remembered <- list() # what was computed from releases, see remembered(),
  agent$memory <- weighing_memory() # and weighed
  agent$counted <- 0 # choices of persons that count, as far as persons are remembered
  agent$open <- new.env() # tickets that it gave out last, see open_tickets()
  agent$seq <- -1 # of the change whose state the session holds; -1: of none
  agent$last <- NULL # the head as it was after the last change that it has seen
  agent$state_sum <- "" # of that state
  agent$closed <- FALSE
  agent$read <- -Inf # the clock when it was last read here,
  agent$ticks <- 0 # and a clock then that nobody sets
  agent$process <- Sys.getpid()
  structure(agent, class = "dpts_agent")
}

session_of <- function(terms, arms) {
  live_session(terms$policy, length(arms), terms$horizon, terms$dim, max(1, length(terms$strata)))
}

# A store from the user's argument: NULL, a path or a DBI connection
open_store <- function(store, create, arg = caller_arg(store)) {
  force(arg)
  connected <- inherits(store, "DBIConnection") || is.function(store)
  need_package(c("DBI", if (!connected) "RSQLite"), "for an agent")
  if (is.null(store) && create) return(store_memory())
  if (is.character(store) && length(store) == 1 && !is.na(store) && nzchar(store)) {
    return(store_sqlite_file(store, create, arg))
  }
  if (inherits(store, "DBIConnection")) {
    if (inherits(store, "SQLiteConnection")) return(store_sqlite(store))
    if (inherits(store, "PqConnection")) return(store_postgres(store))
    abort_arg(arg, "a connection of RSQLite or RPostgres", store)
  }
  if (is.function(store)) {
    con <- check_callback(store, "store()", arg)()
    if (inherits(con, "PqConnection")) return(store_postgres(con, own = TRUE))
    abort_arg(arg, "a function that makes a connection of RPostgres", con)
  }
  abort_arg(arg, paste0(if (create) "NULL (in memory), ", "the path of a SQLite file or a DBI connection"),
            store)
}

# The state of an agent that is not in rows of tables: the pages of it that have changed
agent_image <- function(agent) {
  if (!rlang::is_reference(agent$life, agent$written)) {
    agent$written <- agent$life
    agent$life_bytes <- write_life(agent$life)
  }
  blocks <- if (!is.null(agent$blocks)) t(agent$blocks)
  session_image(agent$session, c(agent$outstanding, agent$offered, agent$counted, blocks), agent$life_bytes)
}

# Is the agent's state that of the store's head, or can it become so by the pages that were read? Not if the
# store went back to an older copy and others have gone on from there, or if it is damaged.
set_agent_state <- function(agent, head) {
  if (is.null(head[["state"]])) return(identical(head$state_sum, agent$state_sum))
  bytes <- session_pages(agent$session, head[["state"]], head$pages) # `$` would take state_sum for it
  parts <- .Call(C_image_parts, bytes)
  if (!identical(sealed(parts[[1]], head), head$state_sum)) return(FALSE)
  life <- if (identical(parts[[4]], agent$life_bytes)) agent$written else read_life(parts[[4]])
  # Another process may have added arms.
  if (length(life$arms) != length(agent$life$arms)) agent$session <- session_of(agent$terms, life$arms)
  host <- if (length(parts[[5]])) unserialize(parts[[5]])
  session_restore(agent$session, list(bytes = parts[[2]], state = host))
  session_known(agent$session, bytes)
  counts <- readBin(parts[[3]], "double", length(parts[[3]]) / 8)
  k <- length(life$arms)
  agent$outstanding <- counts[seq_len(k)]
  agent$offered <- counts[k + seq_len(k)]
  agent$counted <- counts[2 * k + 1]
  agent$life <- life
  agent$terms$arms <- life$arms
  if (!is.null(agent$blocks)) {
    agent$blocks <- matrix(counts[-seq_len(2 * k + 1)], ncol = ncol(no_blocks(agent)), byrow = TRUE)
  }
  agent$fresh <- NULL
  agent$open <- new.env()
  agent$state_sum <- head$state_sum
  TRUE
}

# The store's head, whose state the agent has then: by the pages that have changed, or else as a whole
read_state <- function(agent, how) {
  head <- agent$store$begin(agent$seq, how, agent$last$entry %||% 0)
  if (head$version != STORE_VERSION) read_definition(agent$store)
  check_same(agent, head)
  check_not_back(agent, head)
  if (set_agent_state(agent, head)) return(head)
  if (agent$seq < 0) abort_store("the checksum of the state is wrong")
  agent$seq <- -1
  read_state(agent, how)
}

refuse_store <- function(store, terms) {
  old <- read_definition(store)$terms
  other <- setdiff(names(terms), "key")
  other <- other[!vapply(other, function(x) identical(format(terms[[x]]), format(old[[x]])), NA)]
  words <- if (!length(other)) "`store` holds this agent already: `agent_open()` opens it." else sprintf(
    "`store` holds an agent already, %s, of other %s; nothing was changed.",
    format(old$policy, digits = 5), words_list(paste0("`", other, "`")))
  abort_dpts(words, c("dpts_error_store", "dpts_error_input"))
}

# What the agent in a store is, and who
read_definition <- function(store) {
  kept <- store$definition()
  if (is.null(kept)) abort_store("the definition cannot be read")
  if (kept$version != STORE_VERSION) {
    newer <- kept$version > STORE_VERSION
    abort_dpts(sprintf(paste("The store was made by %s version of dpts: it has format %s, and this version",
                             "reads format %s only. Nothing was changed. %s"),
                       if (newer) "a newer" else "an older", kept$version, STORE_VERSION,
                       if (newer) "Update dpts." else "Use that version, or begin a new store."),
               c(if (newer) "dpts_error_store_newer" else "dpts_error_store_older", "dpts_error_store"))
  }
  if (!is.raw(kept$definition) || !identical(checksum(kept$definition), kept$sum)) {
    abort_store("the checksum of the definition is wrong")
  }
  list(terms = unserialize(kept$definition), identity = kept$identity)
}

#' @param agent An agent.
#' @rdname dpts_agent
#' @export
agent_close <- function(agent, ...) {
  check_dots_empty(...)
  check_agent(agent, open = FALSE)
  # (What was forked leaves the connections to the process that made them.)
  if (!agent$closed && agent$process == Sys.getpid()) agent$store$close()
  agent$closed <- TRUE
  invisible(agent)
}

# One change: read, resolve what is due, do, write. `body` gets the transaction in progress; what
# it throws leaves the store as it was. First without the store's lock, then with it if another
# process has written meanwhile. look: the change needs what is stored now even if it writes nothing.
# ...: of try_change()
agent_transact <- function(agent, body, look = FALSE, ...) {
  fresh <- look || agent$seq < 0
  done <- tryCatch(
    try_change(agent, body, if (look) "read" else "remember", ...),
    error = function(e) {
      # What we saw may be old, or of two moments, and fit no longer what the tables say, which then seem to
      # be damaged. Bad input stays bad, but with what is remembered it may only seem so: another process has
      # resumed an arm.
      bad <- inherits(e, "dpts_error_input")
      failed <- inherits(e, "dpts_error_store") && !inherits(e, "dpts_error_store_damaged")
      if (failed || bad && fresh) raise_again(e)
      if (bad) try_change(agent, body, "read", ...)
    }
  )
  if (is.null(done)) done <- try_change(agent, body, "lock", ...)
  if (is.null(done)) abort_store("others write all the time")
  if (!is.null(done$alarm)) rlang::warn(done$alarm, class = "dpts_warning_guard")
  done[[1]]
}

# One try: a list of what `body` returned, or NULL if another process has written. restored: the operator
# went back to an old copy, which may decide whether anything is still released. still: with a clock that is
# not to be believed, is this done as of the last change? clock: the time, as the operator says; reason: why.
# hidden: is this a report of which nobody else may know whether and when it came? Then it is noted, and
# nothing else: what is due waits for the next call that others may know of, and so does their time.
try_change <- function(agent, body, how, restored = FALSE, still = FALSE, clock = NULL,
                       reason = NULL, hidden = FALSE) {
  store <- agent$store
  done <- FALSE
  on.exit(if (!done) {
    store$rollback()
    agent$seq <- -1 # the session is ahead of the store
  })
  head <- read_state(agent, how)
  tx <- new.env(parent = emptyenv())
  # What moved away stays as it was, to look at.
  moved <- agent$life$moved
  tx$now <- if (moved) head$clock else clock %||% agent_time(agent, head, still, hidden)
  tx$entry <- head$entry
  tx$next_due <- head$next_due
  tx$restored <- head$restored + restored
  tx$journal <- head$journal
  tx$reason <- reason
  tx$find_next_due <- tx$forgotten <- FALSE
  agent$over <- tx$restored > 0 && is_over(agent$terms, tx$restored) # is it beyond its budget?
  if (restored) note_events(tx, "restored")
  if (!is.null(clock)) set_clock(agent, tx, head)
  forgets <- !hidden && catch_up(agent, tx, head$clock)
  out <- body(tx)
  if (hidden) {
    tx$now <- head$clock
  } else {
    settle_life(agent, tx)
    settle_outcomes(agent, tx)
    note_releases(agent, tx)
  }
  seq <- head$seq
  if (has_rows(tx) || forgets) {
    if (moved) abort_moved()
    seq <- seq + 1
    changes <- all_changes(agent, tx, seq)
    if (!store$commit(changes)) return(NULL)
    agent$state_sum <- changes$agent$state_sum
  } else {
    store$rollback() # nothing to write: let go of the lock
  }
  agent$seq <- seq
  agent$last <- (if (seq > head$seq) changes$agent else head)[c("entry", "restored", "journal")]
  done <- TRUE
  list(out, alarm = tx$alarm)
}

# Is there anything to write, so far?
has_rows <- function(tx) {
  any(lengths(list(tx$events$kind, tx$resolved$ticket, tx$answers$ticket, tx$answered$batch)) > 0)
}

# What has become due since the last change, which was at `last` -> is anything forgotten of who people were?
catch_up <- function(agent, tx, last) {
  resolve_due(agent, tx)
  end_blocks(agent, tx, last)
  settle_life(agent, tx) # who comes now gets the winner that the last rewards have made
  settle_outcomes(agent, tx)
  forget_who(agent, tx, last)
}

abort_moved <- function() {
  abort_dpts("The agent moved to another store, by `agent_copy()`; nothing was changed. Open it there.",
             c("dpts_error_store_moved", "dpts_error_store"))
}

check_same <- function(agent, found) {
  if (identical(found$identity, agent$identity)) return(invisible())
  abort_dpts("The store holds another agent now; nothing was changed. Open it again.",
             c("dpts_error_store_other", "dpts_error_store"))
}

# Did the store go back to a copy that is older than what was last seen here, and nobody has said so? What was
# released since that copy would be released again. Others may have gone on from it: then the journal is
# another one.
check_not_back <- function(agent, head) {
  last <- agent$last
  if (is.null(last) || head$restored > last$restored) return(invisible())
  if (head$entry >= last$entry) { # a protected report has none, and that it is gone tells nobody that it came
    then <- if (head$entry == last$entry) head$journal else head$known
    if (last$entry == 0 || identical(then, last$journal)) return(invisible())
  }
  abort_dpts(paste("The store went back to an older copy; nothing was changed. To go on with it, which",
                   "releases rewards again, say so: `agent_open(store, restored = TRUE)`."),
             c("dpts_error_store_back", "dpts_error_store"))
}

# Can the store be read, and is it the agent's?
check_there <- function(agent) check_same(agent, agent$store$begin(agent$seq, "read"))

# What change number `seq` writes, as a store takes it
all_changes <- function(agent, tx, seq) {
  image <- agent_image(agent)
  # What was learned from needs no context any more.
  if (length(tx$resolved$ticket)) {
    tx$resolved$drop <- as.integer(!agent$terms$keep_rewards & tx$resolved$status != TICKET[["waiting"]])
  }
  sums <- take_all_sums(agent)
  note_events(tx, rep("sum", nrow(sums)), list(note = release_text(asplit(sums, 2))))
  entry <- tx$entry + (length(tx$events$kind) > 0)
  tx$events$digest <- journal_digests(agent, tx$journal, entry, tx$now, tx$events)
  head <- list(seq = seq, entry = entry, clock = tx$now, next_due = tx$next_due, restored = tx$restored,
               pages = image$pages, journal = c(tx$journal, tx$events$digest)[1 + length(tx$events$digest)])
  list(
    identity = agent$identity, sum_before = agent$state_sum,
    tickets = tx$tickets, resolved = tx$resolved, forget = tx$forget, persons = tx$persons,
    moved = tx$moved, forgotten = tx$forgotten, find_next_due = tx$find_next_due,
    events = tx$events, erased = tx$erased, keys_before = tx$keys_before, no_persons = tx$no_persons,
    answers = tx$answers, answered = tx$answered,
    releases = release_columns(sums), agent = c(head, state_sum = sealed(image$sum, head)), image = image
  )
}

# The checksum of the state, with what the head has beside it. (`next_due` is for a look at the tables.)
sealed <- function(sum, head) {
  numbers <- exactly(unlist(head[c("seq", "entry", "clock", "restored")], use.names = FALSE))
  checksum(charToRaw(paste(c(sum, numbers, head$journal), collapse = " ")))
}

# Rows of the release table as columns
release_columns <- function(rows) if (nrow(rows)) stats::setNames(asplit(rows, 2), c("outcome", RELEASE))

# The time, in seconds: the database's where it has a clock that all processes share
time_now <- function(now) {
  own <- getOption("dpts.clock") # of tests
  if (!is.null(own)) now <- own()
  if (is.na(now)) as.numeric(Sys.time()) else now
}

# The agent's time, which never goes back. Steps of a few seconds are what time servers do; of others each
# handle warns once. A reading far ahead of the last change, and of what this process has seen pass since its
# last reading, is no time: it would resolve all that is open. hidden: see try_change(); what is known of the
# clock then stays as it was
agent_time <- function(agent, head, still, hidden) {
  now <- time_now(head$now)
  ahead <- now - max(head$clock, agent$read + .Call(C_ticks) - agent$ticks)
  if (ahead > max(86400, agent$terms$deadline[agent$terms$deadline < Inf])) {
    words <- sprintf("The clock is %s ahead of the agent's last change.",
                     format_seconds(round(now - head$clock)))
    if (!still) {
      abort_dpts(paste(words, "Nothing was changed. Is the clock right? `agent_clock(agent)` says so."),
                 "dpts_error_clock")
    }
    if (is.null(agent$behind)) {
      rlang::warn(paste(words, "What is shown is of then, and choices and rewards are refused until",
                        "`agent_clock(agent)` says that the clock is right."), class = "dpts_warning_clock")
    }
    agent$behind <- head$clock - now
    return(head$clock)
  }
  if (hidden) return(max(now, head$clock))
  agent$read <- now
  agent$ticks <- .Call(C_ticks)
  if (head$clock - now <= 5) {
    agent$behind <- NULL
  } else if (is.null(agent$behind)) {
    agent$behind <- head$clock - now
    rlang::warn(sprintf(paste(
      "The clock is %s behind the agent's last change, so the agent keeps the time of that change until",
      "the clock has reached it. Is the clock right, or was it ahead, which `agent_clock(agent)` mends?"),
      format_seconds(round(agent$behind))), class = "dpts_warning_clock")
  }
  max(now, head$clock)
}

# The operator sets the time. What was given out later than that and is open waits from now on.
set_clock <- function(agent, tx, head) {
  agent$behind <- NULL
  agent$read <- tx$now
  agent$ticks <- .Call(C_ticks)
  note_events(tx, "clock")
  if (!is.null(agent$blocks)) agent$blocks[, 2] <- pmin(agent$blocks[, 2], tx$now)
  if (tx$now >= head$clock) return(invisible())
  open <- agent$store$ahead(tx$now)
  n <- length(open$ticket)
  in_window <- !is.null(agent$terms$window) && !agent$silent & open$status == TICKET[["waiting"]]
  tx$moved <- list(ticket = open$ticket, time = rep(tx$now, n),
                   due = ifelse(in_window, tx$now + agent$terms$window, rep(due_of(agent, tx), n)))
  tx$find_next_due <- TRUE
  agent$open <- new.env()
}

# When a ticket of now is due, NA: never
due_of <- function(agent, tx) if (agent$terms$deadline < Inf) tx$now + agent$terms$deadline else NA_real_

check_agent <- function(agent, open = TRUE, arg = caller_arg(agent)) {
  check_class(agent, "dpts_agent", "an agent from `dpts_agent()` or `agent_open()`", arg)
  if (open && agent$closed) {
    abort_dpts(sprintf("`%s` is closed: `agent_open()` opens its store again.", arg),
               c("dpts_error_closed", "dpts_error_input"))
  }
  if (open && agent$process != Sys.getpid()) {
    abort_dpts(sprintf(paste("`%s` is of the process that this one was forked from: `agent_open()` opens its",
                             "store here."), arg), c("dpts_error_forked", "dpts_error_input"))
  }
  agent
}

check_arm_labels <- function(arms, arg = caller_arg(arms)) {
  force(arg)
  if (inherits(arms, "dpts_arms")) arms <- names(arms) %||% n_arms(arms)
  if (is.numeric(arms)) return(as.character(seq_len(check_count(arms, 1, 1e6, arg))))
  check_names(arms, arg, "the arms' names, or how many they are")
}

check_strata <- function(strata, policy, horizon) {
  if (is.null(strata)) return(NULL)
  strata <- check_names(strata, "strata", "the names of the strata")
  why <- no_strata(policy)
  if (!is.null(why)) {
    abort_input("strata", "`strata` must be NULL: policy \"%s\" %s.", policy$name, why)
  }
  warn_small_strata(list(policy), rep(1 / length(strata), length(strata)), horizon %||% Inf)
  strata
}

check_window <- function(window, max_per_person, sticky, deadline) {
  window <- check_seconds(window)
  if (is.null(max_per_person)) abort_arg("window", "NULL without `max_per_person`, which counts windows")
  if (sticky) abort_arg("window", "NULL with `sticky = TRUE`: a person has one ticket for ever")
  if (deadline < window) {
    abort_input("window", "`window` must not be longer than `deadline`: a ticket waits for its window.")
  }
  window
}

check_deadline <- function(deadline, use) {
  if (inherits(deadline, "difftime") && identical(as.numeric(deadline), Inf)) deadline <- Inf
  if (!identical(deadline, Inf)) deadline <- check_seconds(deadline, also = ", or Inf")
  if (use == "deadline" && deadline == Inf) {
    abort_dpts(paste("With `use = \"deadline\"`, which hides when rewards come, `deadline` must be",
                     "finite. If arrival times may be known, say `use = \"arrival\"`."),
               "dpts_error_input")
  }
  deadline
}
