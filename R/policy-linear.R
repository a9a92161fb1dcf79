#' Contextual policies: LinUCB and linear Thompson sampling
#'
#' Policies that see something about each person before they choose, and learn whom which arm suits.
#' Both regress the reward on the round's context. `policy_linucb()` adds a confidence
#' width to the prediction; `policy_lin_ts()` draws the regression's coefficients from
#' their posterior. With a finite `mu` or `epsilon` both are private: they see noisy sums only.
#'
#' @details
#' A model keeps A = `ridge` I + sum z z' and b = sum (r - `centre`) z over the contexts z and rewards r it
#' has seen, and theta = A^-1 b. In each round, for every available arm, with its context z:
#'
#' * LinUCB pulls the arm of the largest theta.z + `alpha` sqrt(z' A^-1 z) (Li et al. 2010, Algorithm 1;
#'   Mishra and Thakurta 2015, Algorithm 3, who print A instead of A^-1);
#' * linear Thompson sampling draws theta~ from N(theta, `v`^2 A^-1) and pulls the arm of
#'   the largest theta~.z (Agrawal and Goyal 2013; Mishra and Thakurta, Algorithm 4).
#'
#' `model = "disjoint"` keeps one model per arm, as Mishra and Thakurta do. `model =
#' "shared"` keeps one for all arms, and so needs contexts that differ between arms:
#' `theta` given as a vector in [arms_linear()], or `arm_features` in [dpts_replay()].
#'
#' **A model has no intercept** unless `intercept = TRUE` puts a 1 in front of each context: without it the
#' mean reward (less `centre`) of a person whose numbers are all 0 is 0 for every arm. Ask for it unless
#' the numbers of a context add up to a constant, or one of them is one: three arms with two uniform numbers
#' and means that are not 0 at 0 cost six times the regret without it.
#'
#' Without privacy an observation costs O(d^2): A^-1 is updated by the formula of Sherman and Morrison. With
#' private contexts each release costs a decomposition for each model, O(d^3): all of them get noise, since
#' which arm was pulled tells of the context. With public contexts it costs one, for the model that it belongs
#' to.
#'
#' @section Which privacy, which noise:
#' | to be protected | by | what is released |
#' | --- | --- | --- |
#' | rewards and contexts | `mu` | sums with correlated Gaussian noise (`"toeplitz"`) |
#' | rewards and contexts | `epsilon` | sums of batches with Laplace noise (`"batches"`) |
#' | rewards | `epsilon`, `contexts = "public"` | an arm's first rewards as bits, then as above |
#' | rewards | `mu`, `contexts = "public"` | running sums of each arm's own batches (`"toeplitz"`) |
#'
#' `"tree"` and `"gamma"` with `epsilon` are the published forms of Mishra and Thakurta: see Published forms.
#' If nobody is to be trusted with rewards, `policy_local(policy_linucb(centre = 0.5), epsilon)` randomises
#' each before it is seen ([policy_local()]). It guarantees more than `contexts = "public"`, and costs more
#' where arms have many rewards.
#'
#' **Say how long contexts are.** `norm` is a bound on their length, the Euclidean one with `mu`, the sum of
#' the numbers with `epsilon`. The noise in A is in proportion to `norm`^2, and what follows from \[0, 1\]^d
#' is sqrt(d) and d. A context of length |z| has the weight `norm` / |z| in the regression, so that each round
#' adds to b as much as the noise hides. A context longer than `norm` has the weight (`norm` / |z|)^2: it is
#' shortened, and its centred reward with it. A weighted regression has no bias. [dpts_simulate()] and
#' [dpts_replay()] warn where contexts are longer and say how many, and an agent counts them ([dpts_agent()]).
#'
#' @section How much noise:
#' A round's context and reward are replaced, (z, r) by (y, s). Let N be `norm`, or sqrt(1 + `norm`^2) with an
#' intercept; c the centre, h = max(c, 1 - c), p = r - c and q = s - c. Let u and v be the directions of z and
#' y. The round's items are N |z| u u' and N p u, for contexts longer than N N^2 u u' and less than N p u.
#'
#' With `mu`, A moves by at most sqrt(2) N^2 in Frobenius norm. But the same round does not move A and b by
#' as much as possible. For N = 1, f and g the lengths of z and y, m = u.v >= 0 and any w, in one model
#'
#' |f u u' - g v v'|^2 + w |p u - q v|^2 = f^2 + g^2 - 2 f g m^2 + w (p^2 + q^2 - 2 p q m).
#'
#' If p q >= 0, or if the round moves to another arm and moves the models of both, it is at most 2 + 2 w h^2.
#' If p q < 0 it is largest where f and g are 0 or 1. If one is 0, it is at most 1 + w. If both are 1, the
#' terms with m are at most (w p q)^2 / 2, and the whole at most 2 + w (1 - 2 c (1 - c)) +
#' (w c (1 - c))^2 / 2. Let M^2 be the largest of the three, with w = 5 / (4 h^2): for c = 1/2, w = 5 and
#' M^2 = 6. Noise of standard deviation 2.450 N^2 / `mu` on A's diagonal, less by a factor of sqrt(2) off
#' it, and of 1.096 N / `mu` on b therefore costs `mu` in all, before the factor of the counter. What is
#' released is `mu`-GDP, and so is everything computed from it. More noise in b would cost more regret than
#' less noise in A saves. Rewards that are not centred (`centre = 0`) would cost 2.122
#' and 1.898; the larger gain is that regularisation then shrinks means to the centre and not to 0, so that an
#' arm does not look good because it was pulled often. Where rewards are rare, a public guess of their rate is
#' a better `centre`.
#'
#' With `epsilon` the scale of Laplace noise is 5 N^2 / `epsilon` on A's diagonal, half of that off it, and
#' 10/3 h N / `epsilon` on b, N now a bound on sums of numbers, with an intercept 1 + `norm`. The entries of A
#' move by at most 2 N^2 in all, and those off the diagonal are released once, with half of the scale: the
#' move of A costs 2/5 of `epsilon`, and that of b, at most 2 h N, the rest. A batch of n rounds has the
#' weight n / (n + n0) in the sums, n0 the rounds whose rewards vary as much as the batch's noise: the
#' least noise in theta. The rounds of a small batch tell little, and its noise is that of a large one.
#'
#' With `contexts = "public"` A is exact, and b moves by at most N. An arm is a round's published answer, so
#' each arm has batches of its own, and an arm that was not pulled releases nothing. Under `epsilon` a reward
#' is released once: as a bit of mean r that is turned with probability 1 / (1 + e^`epsilon`), or in a sum
#' with Laplace noise of scale N / `epsilon`. Bits are better for few rewards, sums for many: bits are four
#' times as many as make up for the noise of one sum, or 12 (1 - 2 f)^2 times. A bit has the weight
#' (1 - 2 f)^2.
#'
#' `margin` regularises on account of the noise. With private contexts A is `ridge` I and the released sum,
#' each eigenvalue a of which becomes sqrt(max(a, 0)^2 + m^2), m the margin. Where a is lost in noise, theta
#' is shrunk as by a ridge of m. Where a is far above m, theta is hardly shrunk. The unit of `margin` is a
#' bound on the noise's eigenvalues: with probability 99% the least is above -sqrt(v) (sqrt(2 d) +
#' sqrt(2 log(n / 0.01))) in all n releases (of all models) together, where v is the variance on the diagonal
#' (Davidson and Szarek 2001, Theorem 2.11, and the concentration of Gaussian measure; for Laplace noise the
#' formula is a rule of thumb). With public contexts the margin is added to A's diagonal, and its unit is the
#' standard deviation of the noise in b. All of this is post-processing.
#'
#' **Defaults.** These are tuned on simulated problems with d = 5 to 20 numbers, 2 to 20 arms and 1e4 and 1e5
#' rounds, and tested on others:
#'
#' * `centre` 0.5; `margin` 0.5, 0.4 with `epsilon`, 0.8 in [policy_logistic_ucb()], 2 with public contexts;
#'   `ridge` 1, or, with bits, 2 - (1 - 2 f)^2, f the probability that a bit is turned, and the width is then
#'   0.7 of what `alpha` says;
#' * batches with private contexts: the first after 1.5 sqrt(horizon) / min(1, `mu`) rounds, `epsilon` / 5 in
#'   place of `mu`, and after 300 at most; then when the rounds have grown by a tenth (`mu`) or a fifth
#'   (`epsilon`), and never smaller than the first: with `mu = 1` 46 times in 1e5 rounds and 311 times in
#'   2^53. An agent without a `horizon` waits 300 rounds;
#' * batches with public contexts, in rewards of an arm: of 4 d with `mu`, growing by a tenth; with `epsilon`
#'   of e rewards after e max(4, 12 (1 - 2 f)^2) bits, growing by 0.6 / sqrt(max(1, `epsilon`)); e = 2 N^2 /
#'   (`epsilon`^2 x min(1/3, N / d)), x = f (1 - f) / (1 - 2 f)^2.
#'
#' **When it is of no use.** A policy has hardly less regret than [policy_uniform()] if sqrt(k) d^1.5 > 1.8 x
#' `mu` x horizon, or 0.5 x `epsilon` x horizon. "Hardly" is 95% or more, in simulations of k = 2 to 20 arms
#' whose means differ widely, and d = 2 to 20 numbers; k is 1 with `model = "shared"`. A message says so
#' before the first round, once a session. Without it a policy may be of little use all the same, if means
#' differ little or `norm` is far above the contexts' lengths.
#'
#' The sums of a batch are released when it is full, be they zero or not; `finish = TRUE` in [dpts_simulate()]
#' and [agent_finish()] release what is open at the end.
#'
#' @section Published forms:
#' With `epsilon`, `mechanism = "tree"` and `"gamma"` release sums by tree-based aggregation, after every
#' reward unless there is a `batch`. They are there for comparison: they
#' hardly learn. Rewards are not centred, every term of a sum is a product of numbers of \[0, 1\], so one
#' round moves a sum by at most 1, and `norm` and `margin` are refused.
#'
#' * `"tree"`: each of the d (d + 1) / 2 + d sums has a binary tree of its own with the budget epsilon_0 =
#'   `epsilon` / (d (d + 1) / 2 + d). Each node has Laplace noise of scale levels / epsilon_0, with levels =
#'   floor(log2(horizon)) + 1. With d = 6 these are 27 sums: the total of 2.7 in Mishra and Thakurta is 27
#'   times 0.1.
#' * `"gamma"`: one tree for the whole vector of p sums; a node gets noise of density
#'   proportional to exp(-`epsilon` |x| / (levels sqrt(p))), because one round moves the
#'   vector by at most sqrt(p) in Euclidean norm. For the same `epsilon` its noise has a
#'   standard deviation smaller by a factor of about sqrt(2).
#'
#' With a `batch` of B there are 1 + floor(log2(horizon / B)) levels, horizon / B rounded up, and disjoint
#' models with private contexts get twice the noise, as a round that moves to another arm moves the sums of
#' two. With `contexts = "public"` A is exact and the budget is spent on the d sums of b. With `mu`,
#' `mechanism = "tree"` is Gaussian trees in place of the factorisation of [counter_gaussian()]: in 100
#' releases the largest variance of a sum is 6.5 times as high, in 1e5 releases 12 times.
#'
#' @section On people:
#' In [dpts_agent()] these policies and [policy_logistic_ucb()] release whole numbers with exact noise.
#' Entries of contexts, the centre and centred rewards are rounded to multiples of 2^-10, and a context that
#' is longer than `norm` is then shortened on that grid, downwards: let contexts fill \[0, 1\]. Products of
#' two such numbers are multiples of 2^-20, and sums of them are exact; the products of the logistic model are
#' rounded to 2^-20. Trees and batches release these sums with exact Laplace or Gaussian noise, and bits are
#' turned with exact probabilities. The factorisation's weighted sums are rounded down to 2^-20 before their
#' noise, and the noise is larger by what this rounding and that of the arithmetic before it can add to a
#' round's move: by 0.2% at most in batches that grow, up to eight numbers in a context and a `norm` of 1;
#' more where batches are of a few rounds or `norm` is small. After 2^24 rewards nothing more is learned.
#'
#' Two things cannot be had. `mechanism = "gamma"` is refused, because its noise is a direction in space,
#' which has no exact form. And a choice itself, whose arithmetic is that of doubles, needs no exactness:
#' it is made of released sums and of the person's own context.
#'
#' @section What can be concluded:
#' A policy that minimises regret gives arms to the people whom they seem to suit, and its sums are of no use
#' for the question for whom an arm works: `effects()` and `evidence()` refuse it. Use a randomised design
#' with strata ([policy_randomised()]) for that.
#'
#' @section Privacy:
#' `epsilon` is the whole budget, and pure; `mu` is the whole budget of Gaussian differential privacy (see
#' [privacy_gdp()]).
#' Neighbouring streams differ in the reward and the context of one round, replaced by any other reward
#' in \[0, 1\] and any other context in \[0, 1\]^d; pools of available arms are public. The arm of a round is
#' chosen from that round's own context in the clear, and to hide the context from it would force regret that
#' grows linearly (Shariff and Sheffet 2018). What is protected, therefore, is a round's reward and context
#' against the arms of *the other rounds*:
#'
#' * Rewards, always, and in the plain sense: the whole sequence of arms is `epsilon`-DP for the replacement
#'   of one reward. With `contexts = "public"` the guarantee covers nothing else.
#' * Contexts too, by `epsilon`- or `mu`-*joint* privacy, in batches: the arms of all other
#'   rounds together change their probabilities by at most a factor e^`epsilon`. The reason is that a round is
#'   in the same batch, whichever arm it pulled. So is it in trees with `model = "shared"`.
#' * Trees with `model = "disjoint"` and without a `batch`, as in Mishra and Thakurta, guarantee less for
#'   contexts: given the arms up to and including the round's own, the arms of later rounds change their
#'   probabilities by at most a factor e^`epsilon`. In words: later arms tell about a round's context at most
#'   `epsilon` beyond what its own arm tells. Under joint DP the adversary does not see the round's own arm.
#'   Another context may move the round to another arm; then one arm's trees miss an item and another's have
#'   one more, and all later items change their places. The paper does not discuss it.
#'
#' @param epsilon The whole privacy budget: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no privacy.
#' @param alpha Factor on the width: a number, at least 0.
#' @param v Factor on the posterior's standard deviation: a number, at least 0. The default is the largest
#'   standard deviation that a reward in \[0, 1\] can have.
#' @param ... Not used; later arguments must be named.
#' @param mu The whole budget of Gaussian differential privacy: from 1e-6 to 1e12, or `Inf`. Not together
#'   with `epsilon`.
#' @param model One model an arm (`"disjoint"`) or one for all (`"shared"`).
#' @param contexts Are contexts to be protected (`"private"`), or only rewards
#'   (`"public"`)? Does nothing without `epsilon` and `mu`.
#' @param mechanism With `epsilon`, `"batches"`, or the published `"tree"` (for each number) or `"gamma"` (one
#' for all of
#'   them); with `mu`, a factorisation (`"toeplitz"`) or Gaussian trees (`"tree"`). `NULL` is the first.
#' @param batch Number of rounds between releases of sums (rewards of an arm, with public contexts): a whole
#' number, or `"growing"`, the same as `NULL`; for the published forms `NULL` is after every reward. Does
#' nothing without privacy.
#' @param norm A bound on the length of contexts: their Euclidean length with `mu`, the sum of their numbers
#'   with `epsilon`. A positive number, or `NULL` for what follows from \[0, 1\]^d, which is the most that a
#'   larger number counts as. Refused where there is no use for it.
#' @param ridge The regularisation: a positive number, or `NULL` for the default above; 1 without privacy.
#' @param margin How much to regularise on account of the noise, in units of it (see How much noise): a
#'   number, at least 0, or `NULL` for the default above. Refused where there is no use for it.
#' @param centre What rewards are measured from: a number in \[0, 1\], rounded to a multiple of 2^-10, or
#' `NULL` for 0.5
#'   with privacy, 0 without and in the published forms. It may not depend on the rewards to be protected.
#' @param intercept Put a 1 in front of each context? `TRUE` or `FALSE`.
#' @returns A contextual policy, for [dpts_simulate()] on [arms_linear()], [dpts_replay()] and [dpts_agent()].
#' @template li
#' @references Agrawal, S. and Goyal, N. (2013). Thompson Sampling for Contextual Bandits with Linear
#'   Payoffs. ICML. arXiv:1209.3352.
#' @template mishra
#' @template shariff
#' @references Davidson, K. R. and Szarek, S. J. (2001). Local operator theory, random matrices and Banach
#'   spaces. Handbook of the Geometry of Banach Spaces 1, 317-366.
#' @template see_policies
#' @concept contextual bandit
#' @examples
#' policy_linucb()
#' # Joint privacy of rewards and contexts, which are known to have length 1 at most
#' policy_linucb(mu = 1, norm = 1)
#' policy_linucb(epsilon = 1, norm = 1)
#' # Rewards alone
#' policy_lin_ts(epsilon = 1, v = 0.5, contexts = "public", norm = 1)
#' # As published, with the budget of Mishra and Thakurta's experiment with contexts of six numbers
#' policy_linucb(epsilon = 27 * 0.1, mechanism = "tree")
#' @export
policy_linucb <- function(epsilon = Inf, alpha = 1, ..., mu = Inf, model = c("disjoint", "shared"),
                          contexts = c("private", "public"), mechanism = NULL, batch = NULL,
                          norm = NULL, ridge = NULL, margin = NULL, centre = NULL, intercept = FALSE) {
  check_dots_empty(...)
  alpha <- check_number(alpha, 0)
  new_linear_policy("linucb", list(alpha = alpha), epsilon, mu, model, contexts, mechanism,
                    batch, norm, ridge, margin, centre, intercept, "LinUCB")
}

#' @rdname policy_linucb
#' @export
policy_lin_ts <- function(epsilon = Inf, v = 0.5, ..., mu = Inf, model = c("disjoint", "shared"),
                          contexts = c("private", "public"), mechanism = NULL, batch = NULL,
                          norm = NULL, ridge = NULL, margin = NULL, centre = NULL, intercept = FALSE) {
  check_dots_empty(...)
  v <- check_number(v, 0)
  new_linear_policy("lin_ts", list(v = v), epsilon, mu, model, contexts, mechanism, batch, norm,
                    ridge, margin, centre, intercept, "linear Thompson sampling")
}

new_linear_policy <- function(name, width, epsilon, mu, model, contexts, mechanism, batch, norm,
                              ridge, margin, centre, intercept, title) {
  epsilon <- check_budget_number(epsilon)
  mu <- check_budget_number(mu)
  if (epsilon < Inf && mu < Inf) {
    abort_arg("mu", "Inf where `epsilon` is finite, since noise is either Laplace's or Gaussian", mu)
  }
  model <- check_choice(model, c("disjoint", "shared"))
  contexts <- check_choice(contexts, c("private", "public"))
  private <- min(epsilon, mu) < Inf
  known <- if (mu < Inf) c("toeplitz", "tree") else c("batches", "tree", "gamma")
  mechanism <- check_choice(mechanism %||% known[1], known, arg = "mechanism")
  # As published: a tree of Laplace's or Gamma noise, an item a reward, and no bound on contexts
  published <- mu == Inf && mechanism != "batches"
  if (is.null(batch) && private && !published) batch <- "growing"
  growing <- identical(batch, "growing")
  if (is.character(batch) && !growing) {
    abort_arg("batch", "a whole number, \"growing\" or NULL", batch)
  }
  if (!is.null(batch) && !growing) batch <- check_count(batch)
  if (!private || published) {
    where <- if (private) "with a published `mechanism`" else "without `epsilon` and `mu`"
    if (!is.null(norm)) abort_arg("norm", paste("NULL", where), norm)
    if (!is.null(margin)) abort_arg("margin", paste("NULL", where), margin)
  }
  if (!is.null(norm)) norm <- check_number(norm, 0, open = TRUE)
  if (!is.null(ridge)) ridge <- check_number(ridge, 0, open = TRUE)
  if (!is.null(margin)) margin <- check_number(margin, 0)
  if (!is.null(centre)) centre <- check_number(centre, 0, 1)
  intercept <- check_flag(intercept)
  # What follows from the kind of budget is no argument: update() may change the budget.
  args <- c(if (mu < Inf) list(mu = mu) else list(epsilon = epsilon), width, list(model = model),
            if (private) list(contexts = contexts, mechanism = if (mechanism != known[1]) mechanism,
                              batch = if (!growing || published) batch),
            list(norm = norm, ridge = ridge, margin = margin, centre = centre),
            if (intercept) list(intercept = TRUE))
  by_rule <- linear_rule(name, epsilon, mu, private && !published, contexts)
  params <- c(width, list(epsilon = epsilon, mu = mu, shared = as.numeric(model == "shared"),
                          public = as.numeric(contexts == "public"), mechanism = mechanism,
                          ridge = ridge %||% by_rule$ridge,
                          batch = if (growing) 0 else batch %||% 0,
                          growth = if (growing) by_rule$growth else 0,
                          norm = norm %||% NA_real_, margin = margin %||% by_rule$margin,
                          centre = centre %||% by_rule$centre, intercept = as.numeric(intercept)))
  new_policy(
    name, params, args = args,
    guarantee = if (private) guarantee_linear(epsilon, mu, model, contexts, batch) else guarantee_none(),
    title = paste0(if (private) "private ", title)
  )
}

# The defaults, by the budget: tuned on problems with d = 5 to 20, k = 2 to 20 and horizons of 1e4 and 1e5, by
# bench/contextual.R shown on others. What depends on d or on the horizon is release_rule() in C.
linear_rule <- function(name, epsilon, mu, centred, contexts) {
  public <- contexts == "public"
  if (!centred) return(list(ridge = 1, growth = 1.1, margin = 0, centre = 0))
  # The weight of a bit
  bit <- if (public && epsilon < Inf) (1 - 2 * stats::plogis(-epsilon))^2 else 1
  growth <- if (mu < Inf) 1.1 else if (public) 1 + 0.6 / sqrt(max(1, epsilon)) else 1.2
  margin <- if (public) 2 else if (name == "logistic_ucb") 0.8 else if (mu < Inf) 0.5 else 0.4
  list(ridge = 2 - bit, growth = growth, centre = 0.5, margin = margin)
}

# Composes and converts as other guarantees do; the neighbours say what is protected
guarantee_linear <- function(epsilon, mu, model, contexts, batch) {
  neighbours <- if (contexts == "public") {
    "public_context"
  } else if (model == "shared" || !is.null(batch)) {
    "joint"
  } else {
    "own_arm"
  }
  if (mu < Inf) guarantee_gdp(mu, neighbours = neighbours) else
    guarantee_pure(epsilon, neighbours = neighbours)
}

# ---- does a policy fit a problem? -----------------------------------------------------

is_shared <- function(policy) is_contextual(policy) && isTRUE(unwrapped(policy)$params$shared == 1)
# Does its guarantee rest on contexts in [0, 1]?
needs_unit_contexts <- function(policy) {
  is_contextual(policy) && !promises_nothing(unwrapped(policy)$guarantee)
}

# `context`: `NULL`, or a list: `own` (does each arm have its own?), `lower` and
#   `upper` (range of all entries); `strata`: how many share the k arms
check_fit <- function(policies, k, context, where, strata = 1, arg = "policies") {
  stop_fit <- function(name, because) {
    abort_input(arg, "`%s` must fit %s: policy \"%s\" %s.", arg, where, name, because,
                class = "dpts_error_contexts")
  }
  for (name in names(policies)) {
    policy <- unwrapped(policies[[name]])
    why <- misfit(policy, k / strata) %||% if (strata > 1) no_strata(policies[[name]])
    if (!is.null(why)) stop_fit(name, why)
    if (!is.null(context) && !is.null(predictions_of(policy))) {
      stop_fit(name, "reads predictions, and there are contexts")
    }
    if (!is_contextual(policy)) next
    if (is.null(context)) stop_fit(name, "needs contexts, and there are none")
    if (is_shared(policy) && !context$own) {
      stop_fit(name, paste("has one model for all arms, which needs contexts that differ between", "arms"))
    }
    if (needs_unit_contexts(policy) && (context$lower < 0 || context$upper > 1)) {
      stop_fit(name, sprintf(
        "is private and needs contexts in [0, 1]; these range from %s to %s",
        number_text(context$lower, digits = 4), number_text(context$upper, digits = 4)
      ))
    }
  }
}

# After how many rounds a policy first releases sums or, with public contexts, after how many rewards of an
# arm. 0: at once, or there are no batches. d: how many numbers a context has
first_batch <- function(policy, d, horizon) {
  policy <- unwrapped(policy)
  if (!needs_unit_contexts(policy) || is.null(policy$params$growth)) return(0)
  .Call(C_first_batch, kernel(policy, horizon), as.integer(d), as.double(horizon))
}

# Has a policy released anything after so many rewards, and so many of an arm? Numbers
has_released <- function(policy, d, horizon, rounds = horizon, pulls = rounds) {
  (if (isTRUE(unwrapped(policy)$params$public == 1)) pulls else rounds) >= first_batch(policy, d, horizon)
}

# `policies`: of which no batch was full; `d`: how many numbers their contexts have
warn_unreleased <- function(policies, d, horizon, call = caller_env()) {
  for (i in seq_along(policies)) {
    first <- first_batch(policies[[i]], rep_len(d, i)[i], horizon)
    public <- unwrapped(policies[[i]])$params$public == 1
    rlang::warn(sprintf(paste("Policy \"%s\" released nothing, and so learned nothing: its first batch is",
                              "of %s. A smaller `batch` releases sooner."), names(policies)[i],
                        if (public) paste(count_noun(first, "reward", "rewards"), "of an arm") else
                          count_noun(first, "round", "rounds")),
                class = c("dpts_warning_unreleased", "dpts_warning"), call = call)
  }
}

# For the head of a result
words_unreleased <- function(names) {
  if (length(names) == 0) return(NULL)
  sprintf("%s released nothing, and so learned nothing from rewards.",
          words_list(paste0("\"", names, "\"")))
}

# Does noise outweigh what can be learned, so that a policy has 95% of the uniform policy's regret or more?
# A model has T / k rounds, and their contexts of d numbers add some T / (k d) to each eigenvalue of A, where
# noise moves these by the order of sqrt(d) / budget. With more arms there is more to gain from little, so
# that the budget at which regret reaches 95% grows like sqrt(k) only. Measured by
# bench/contextual-warning.R.
is_outweighed <- function(policy, d, k, horizon) {
  policy <- unwrapped(policy)
  p <- policy$params
  if (!needs_unit_contexts(policy) || is.null(p$growth)) return(FALSE)
  models <- if (p$shared == 1) 1 else k
  sqrt(models) * (d + p$intercept)^1.5 > min(1.8 * p$mu, 0.5 * p$epsilon) * horizon
}

# Before the first round: says so, once for each such policy and problem
inform_outweighed <- function(policies, d, k, horizon) {
  for (i in seq_along(policies)) {
    numbers <- rep_len(d, i)[i]
    if (!is_outweighed(policies[[i]], numbers, k, horizon)) next
    p <- unwrapped(policies[[i]])$params
    budget <- sprintf(if (p$mu < Inf) "mu = %s" else "epsilon = %s", number_text(min(p$mu, p$epsilon)))
    text <- sprintf("with %s, %s in a context, %s and %s", count_noun(k, "arm", "arms"),
                    count_noun(numbers, "number", "numbers"), count_noun(horizon, "round", "rounds"), budget)
    inform_once(paste("dpts_outweighed", unwrapped(policies[[i]])$name, text), c(
      sprintf(paste("Policy \"%s\" will hardly have less regret than `policy_uniform()`: %s, noise",
                    "outweighs what it learns."), names(policies)[i], text),
      i = "More rounds, a larger budget, fewer numbers or fewer arms help: see `?policy_linucb`."
    ), class = "dpts_message_outweighed")
  }
}

# The bound on contexts that a policy was given, NULL if there is none
norm_of <- function(policy) {
  norm <- if (is_contextual(policy) && !is_custom(policy)) unwrapped(policy)$params$norm
  if (isTRUE(norm > 0)) norm
}

# Which contexts does a policy shorten to its `norm`? `values`: a matrix with a column for each context
# `times`: by what their lengths are multiplied
shortens <- function(policy, values, times = 1) {
  norm <- norm_of(policy)
  if (is.null(norm)) return(logical(ncol(values)))
  context_length(policy, values) * times > norm * (1 + 1e-9)
}

# The length of contexts as `norm` bounds it
context_length <- function(policy, values) {
  if (unwrapped(policy)$params$mu < Inf) sqrt(colSums(values^2)) else colSums(abs(values))
}

# The share of a problem's contexts that a policy shortens; NA: some, of a continuous distribution
share_shortened <- function(policy, contexts) {
  if (is.null(contexts$values)) return(0)
  if (contexts$kind == "given") return(mean(shortens(policy, contexts$values)))
  d <- nrow(contexts$values)
  longest <- matrix(c(1, rep(if (contexts$kind == "uniform") 1 else 0, d - 1)), d)
  if (shortens(policy, longest)) NA else 0
}

# `share`: of the contexts that each policy shortens
warn_shortened <- function(policies, share, call = caller_env()) {
  for (i in which(is.na(share) | share > 0)) {
    rlang::warn(sprintf(paste("Policy \"%s\" shortens %s to `norm` = %s, together with their rewards:",
                              "they count for less."), names(policies)[i],
                        if (is.na(share[i])) "contexts that are longer" else
                          sprintf("%.1f%% of the contexts", 100 * share[i]),
                        number_text(norm_of(policies[[i]]))),
                class = c("dpts_warning_shortened", "dpts_warning"), call = call)
  }
}

# Why a policy cannot play so many arms, in words, or NULL
misfit <- function(policy, k) UseMethod("misfit")

#' @export
misfit.default <- function(policy, k) NULL

#' @export
misfit.dpts_policy_fixed <- function(policy, k) {
  if (policy$params$arm > k) sprintf("pulls arm %s of %d", number_text(policy$params$arm), k)
}
