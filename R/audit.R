#' Audit the privacy of a policy
#'
#' `dpts_audit()` attacks a policy and reports a lower bound on what it reveals, to compare with the guarantee
#' that it declares. The policy runs on two neighbouring streams of rewards many times. If the arms that it
#' publishes distinguish the streams better than the guarantee allows, the guarantee or its implementation is
#' wrong. An audit can refute a guarantee but never prove one. The article "How private is it really?"
#' (`vignette("audit", "dpts")`) puts claims, bounds and audits of eight policies side by side.
#'
#' @details
#' The methods:
#'
#' * `"sampling"`: `runs` runs on each stream. One half of them chooses an event, the other half measures
#'   how often it happens on either stream, with one-sided Clopper-Pearson limits. If it happens with
#'   probability at least p under one stream and at most q under the other, then (epsilon, delta)-DP needs
#'   epsilon >= log((p - delta) / q). Both directions are tried. The event is "the score of the published arms
#'   is at least c". The score is the likelihood ratio of the two streams where the probabilities of the next
#'   arm are known (Gaussian Thompson sampling without a filter, in closed form for two arms, by numerical
#'   integration for up to 50 rounds of more; uniform choice); else the best of a logistic regression on the
#'   private arm's pulls and of counts of the arms in a few rounds, both fitted on a quarter of the runs and
#'   compared on another. Whatever the score, the bound is valid. However bad the policy, no more can be found
#'   than the print says, about log(`runs` / 30). A policy in R that keeps something outside its state is an
#'   error, since its runs are not independent.
#' * `"exact"`: lists every transcript and adds up the hockey-stick divergence, for Gaussian
#'   Thompson sampling without a filter (probabilities in closed form for two arms, by numerical integration
#'   for more), Beta Thompson sampling on rewards of 0 and 1, [policy_uniform()], [policy_fixed()],
#'   [policy_ucb1()], [policy_imed()] and [policy_klucb()]. After the pre-pulls, 18 rounds of two arms
#'   are the limit, or 11 of three. Not for [policy_local()] and [policy_restart()].
#' * `"coupling"`: for policies of the package that release noisy sums, also if they restart
#'   ([policy_restart()]), and for [policy_local()], whose releases are bits. (Not around a policy with an
#'   epsilon of its own, such as another `policy_local()`: its releases one by one cost more than the
#'   guarantee, which counts them together.) The policy runs on one stream
#'   and records all that it releases, at the end what is still open (`finish = TRUE` in [dpts_simulate()]);
#'   then it runs on the neighbour with the same random numbers, and the same released values are forced upon
#'   it; on a quarter of the paths some rewards are late. If the arms differ, or what the policy reports
#'   (sums, verdict, probabilities), something other than releases decides them, and `lower` is `Inf`. Else it
#'   is what the releases that differ cost: the loss of one who sees the releases themselves, which bounds
#'   that of the arms from above, and which the guarantee must cover. At most 200 paths are run, since each is
#'   checked exactly.
#'
#' @section Adversaries:
#' A stream is a table of rewards, one row per round and one column per arm; the policy sees the reward of the
#' arm that it pulls. The streams of a pair differ in one round, of whose rewards only one is ever seen. In
#' the catalogue that is round 1, where all arms pay 0 in one stream and 1 in the other (of `"fractions"`, 0
#' and 0.99). From round 2 on
#'
#' * `"silent"`: arm 1 pays 0, the others 1. Will arm 1 be pulled ever again?
#' * `"success"`, `"failure"`, `"contest"`: every arm pays 1, 0 or 1/2.
#' * `"alternating"`: every arm pays 1 and 0 in turn.
#' * `"stages"`: arm 1 pays 1/2, the others 1 or 0 in stages that double in length, so that the lead changes.
#' * `"random"`: rewards of 0 or 1 with probability 1/2, by `seed`.
#' * `"searched"`: arms of constant rewards, more or less apart, and further random tables; the best of 18
#'   in a pilot of `runs` / 20 runs of its own (under `"exact"`, the best of them at each delta).
#' * `"fractions"`: every arm pays 1/4 or 3/4. Code may treat fractions in another way than 0 and 1.
#'
#' Of [policy_clipped()], 0 and 1 stand for the ends of its range. Where it finds the range, they are its
#' lower end and 1 more, or -1 and 1, and the reward that changes is a huge one in one stream. `"random"` then
#' changes the first reward of the pilot, and the others the first one after it, if `horizon` is that long.
#'
#' What a policy leaks depends on the streams, and the worst ones for your policy may not be in the catalogue.
#' `streams = list(x, y)` uses your own.
#'
#' @section Persons:
#' With `unit = "person"` the two streams differ in all rewards of the first person: in each of their rounds
#' these are 0 in one stream and 1 in the other, or 0 and 0.99. A round is a visit. People come as in
#' [dpts_plan()]: `visits = c(5, 60)` is five times each, 60 visits apart, and `max_per_person` limits the
#' visits that count. Policies that keep a person's rewards in different releases do so here, with the code
#' of a simulation. What is claimed is then the guarantee of a person: mu sqrt(m) for m visits that are kept
#' apart, m mu for those that may be in one sum. [dpts_plan()], section People who come again, says which
#' count.
#'
#' Under `"coupling"` all releases that contain a reward of the person are composed: Gaussian noise by the
#' squares of mu, Laplace noise and bits as in [privacy_group()] with `apart = TRUE`. Method `"exact"` lists
#' transcripts only where each visit counts.
#'
#' @section Confidence:
#' All rows of one call hold together with confidence `level`: each limit may err with probability (1 -
#' `level`) / (2 x rows). A policy that keeps its guarantee is accused wrongly with probability at most 1 -
#' `level`. Methods `"exact"` and `"coupling"` do not sample.
#'
#' @section Work:
#' Of a policy whose predictions are protected ([policy_randomised()]) the adversary moves reward and
#' prediction together, m = high - x (high - low) for the reward x: what is released is then of x, as without
#' predictions. Public predictions are the middle.
#'
#' Where a [future::plan()] other than sequential is set, workers share what would take more than some
#' seconds, as in [dpts_simulate()]. The numbers depend on `seed` and `runs` alone.
#'
#' @section Privacy:
#' An audit uses made-up rewards, and no data of anybody.
#'
#' @param policy A policy.
#' @param horizon Number of rounds: a whole number.
#' @param ... Not used; later arguments must be named.
#' @param arms Number of arms: a whole number, at least 2.
#' @param streams `NULL` for all adversaries of the catalogue, the names of some, or a pair of your
#'   own: `list(x, y)`, matrices of rewards with `horizon` rows and a column per
#'   arm, which differ in the reward of one round, or with `unit = "person"` in those of one person. Rewards
#'   are in \[0, 1\], or for a policy that takes any reward, such as [policy_clipped()], in its own units.
#' @param delta The probability with which epsilon may be exceeded: numbers in \[0, 1). A Gaussian guarantee
#'   claims nothing at 0.
#' @param runs Runs on each stream: a whole number, at least 100.
#' @param level Confidence level of the whole result: a number in (0, 1).
#' @param method `"sampling"`, `"coupling"` or `"exact"`.
#' @param seed A whole number, or `NULL` to take one from R's generator. A given seed leaves
#'   `.Random.seed` as it was.
#' @param threads Threads to use, over runs that are sampled.
#' @param progress Show a progress bar?
#' @param checkpoint A file, or `NULL`; it needs a `seed`. What is done is kept in it, and the same call
#'   resumes from it, as in [dpts_simulate()]; the pilot of `"searched"` is run again.
#' @param unit What differs between neighbours: one `"reward"`, or all rewards of a `"person"`. See Persons.
#' @param visits,max_per_person How often each person comes, and how many of these visits count, as in
#'   [dpts_plan()].
#' @returns A tibble of class `dpts_audit`, one row for each adversary and delta:
#'   * `adversary`: name of the pair of streams, `"given"` for your own;
#'   * `method`, `delta`: as given;
#'   * `claimed`: the least epsilon that follows from the policy's guarantee, or from that of a person, at
#'     this delta over `horizon` rounds ([dpts_privacy()]), `Inf` without a guarantee;
#'   * `lower`: the least that the policy leaks on this pair of streams at this delta (under
#'     `"coupling"`, what its releases leak);
#'   * `runs`: runs on each stream; under `"exact"` the transcripts listed, under `"coupling"` the paths;
#'   * `holds`: is `lower` no larger than `claimed`?
#'
#'   [summary()][summary.dpts_audit] gives the worst adversary at each delta.
#' @references Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
#'   illustrated in the case of the binomial. Biometrika 26, 404-413.
#'
#'   Jagielski, M., Ullman, J. and Oprea, A. (2020). Auditing Differentially Private Machine Learning:
#'   How Private is Private SGD? NeurIPS. arXiv:2006.07709.
#' @seealso [dpts_privacy()] gives the epsilon that is tested, [policy_custom()] and [policy_compiled()]
#'   build policies to test.
#' @concept privacy
#' @concept membership inference
#' @concept empirical privacy audit
#' @examples
#' # A pure policy: nothing above its epsilon is found, though not much below it
#' dpts_audit(policy_adap_ucb(epsilon = 1), horizon = 8, runs = 2000, seed = 1)
#'
#' # Its noisy sums cost what was promised, and nothing else decides
#' dpts_audit(policy_adap_ucb(epsilon = 1), horizon = 32, runs = 200, method = "coupling")
#'
#' # Every transcript of eight rounds of Thompson sampling, at two deltas
#' audit <- dpts_audit(policy_ts_gaussian(), horizon = 8, delta = c(1e-2, 1e-5), method = "exact")
#' summary(audit)
#' autoplot(audit)
#'
#' # All rewards of a person who comes four times, in four blocks: 2-GDP where a reward has 1-GDP
#' dpts_audit(policy_randomised(mu = 1, block = 5), horizon = 80, streams = "contest", delta = 1e-3,
#'            method = "coupling", runs = 100, seed = 1, unit = "person", visits = c(4, 20),
#'            max_per_person = 4)
#'
#' # Streams of your own: the first reward of arm 2, which is pulled in round 2
#' x <- matrix(0.5, 8, 2)
#' y <- x
#' y[2, 2] <- 1
#' dpts_audit(policy_adap_ucb(epsilon = 1), horizon = 8, streams = list(x, y), runs = 4000, seed = 1)
#' @export
dpts_audit <- function(policy, horizon, ..., arms = 2, streams = NULL, delta = 0, level = 0.999,
                       method = c("sampling", "coupling", "exact"), runs = 1e5, seed = NULL,
                       threads = getOption("dpts.threads", 1L), progress = interactive(), checkpoint = NULL,
                       unit = c("reward", "person"), visits = 1, max_per_person = NULL) {
  check_dots_empty(...)
  check_policy(policy)
  horizon <- check_count(horizon, 1, 1e9)
  if (missing(arms) && is.list(streams) && length(streams) && is.matrix(streams[[1]])) {
    arms <- ncol(streams[[1]])
  }
  arms <- check_count(arms, 2, 1e4)
  delta <- unique(check_numbers(delta, 0, 1, open = c(FALSE, TRUE)))
  runs <- check_count(runs, 100, 1e9)
  level <- check_number(level, 0, 1, open = TRUE)
  method <- check_choice(method, c("sampling", "coupling", "exact"))
  unit <- check_choice(unit, c("reward", "person"))
  visits <- check_visits(visits, max_per_person)
  check_horizon(stats::setNames(list(policy), policy$name), arms, horizon)
  check_audited(policy, arms)
  threads <- check_count(threads, 1, 1024)
  check_flag(progress)
  check_checkpoint(checkpoint, seed)
  seed <- check_seed(seed)
  begin_stages(progress)
  guarantee <- if (unit == "person") guarantee_in_plan(policy, visits, NULL) else policy$guarantee
  come <- visits_of(visits, ceiling(horizon / visits$number))
  pairs <- audit_adversaries(streams, horizon, arms, seed,
                             if (unit == "person" && !is.null(come)) who_comes(come, horizon), policy)
  # Beta Thompson sampling does not publish its coin tosses: of the catalogue, it has those
  # streams that need none.
  if (method == "exact" && is.null(streams) && is_true_of(policy, "tosses_coins")) {
    pairs <- Filter(only_bits, pairs)
  }
  if (method == "exact") check_exact(policy, pairs, horizon, arms, come)
  if (method == "coupling") check_coupling(policy)
  rows <- length(pairs) * length(delta)
  risk <- (1 - level) / (2 * rows)
  played <- shown_residuals(policy)
  found <- switch(
    method,
    sampling = audit_sampling(played, pairs, runs, seed, risk, delta, threads, checkpoint, progress, come),
    coupling = audit_coupling(played, pairs, runs, seed, delta, checkpoint = checkpoint, progress = progress,
                              visits = come),
    exact = audit_exact(played, pairs, delta, checkpoint, progress, come)
  )
  lower <- unlist(lapply(found, `[[`, "lower"), use.names = FALSE)
  claimed <- rep(least_epsilon(guarantee, conditions(horizon, arms), delta), length(pairs))
  each <- function(column) rep(unname(column), each = length(delta))
  new_audit(
    list(adversary = each(names(pairs)), method = rep(method, rows),
         delta = rep(delta, length(pairs)), claimed = claimed, lower = lower,
         runs = each(vapply(found, `[[`, 0, "runs")),
         # What is equal up to rounding is no more than was claimed.
         holds = lower <= claimed * (1 + 1e-9) + 1e-12),
    streams = lapply(found, `[[`, "pair"), seed = seed, risk = risk,
    shared = list(policy = policy, horizon = horizon, arms = arms, level = level, unit = unit,
                  visits = if (comes_again(visits)) visits, guarantee = guarantee)
  )
}

# Policies that play without contexts, on so many arms
check_audited <- function(policy, k) {
  if (is_contextual(policy)) {
    abort_input("policy", "`policy` must choose without contexts: an audit uses tables of rewards.",
                class = "dpts_error_contexts")
  }
  why <- misfit(unwrapped(policy), k)
  if (!is.null(why)) abort_input("policy", "`policy` must fit %s arms: it %s.", number_text(k), why)
}
