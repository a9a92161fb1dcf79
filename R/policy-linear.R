#' Contextual policies: LinUCB and linear Thompson sampling
#'
#' Both regress the reward on the round's context. `policy_linucb()` adds a confidence
#' width to the prediction; `policy_lin_ts()` draws the regression's coefficients from
#' their posterior. With a finite `epsilon` both are private: the regression's sums are
#' released by tree-based aggregation.
#'
#' @details
#' A model keeps A = `ridge` I + sum z z' and b = sum r z over the contexts z and
#' rewards r it has seen, and theta = A^-1 b. In each round, for every arm on offer, with
#' its context z:
#'
#' * LinUCB pulls the arm of the largest theta.z + `alpha` sqrt(z' A^-1 z) (Li et al.
#'   2010, Algorithm 1; Mishra and Thakurta 2015, Algorithm 3, who print A
#'   instead of A^-1);
#' * linear Thompson sampling draws theta~ from N(theta, `v`^2 A^-1) and pulls the arm of
#'   the largest theta~.z (Agrawal and Goyal 2013; Mishra and Thakurta, Algorithm 4).
#'
#' `model = "disjoint"` keeps one model per arm, as Mishra and Thakurta do. `model =
#' "shared"` keeps one for all arms, and so needs contexts that differ between arms:
#' `theta` given as a vector in [arms_linear()], or `arm_features` in [dpts_replay()].
#'
#' Without privacy an observation costs O(d^2): A^-1 is updated by the formula of Sherman
#' and Morrison. With private contexts every observation costs an eigenvalue
#' decomposition, O(d^3).
#'
#' @section Privacy:
#' `epsilon` is the whole budget, and pure. Neighbouring streams differ in the reward and
#' the context of one round, replaced by any other reward in \[0, 1\] and any other context
#' in \[0, 1\]^d; pools of arms on offer are public. The arm of a round is chosen from that
#' round's own context in the clear, and to hide the context from it would force regret
#' that grows linearly (Shariff and Sheffet 2018). What is protected, therefore, is a round's
#' reward and context against the arms of *the other rounds*:
#'
#' * Rewards, always, and in the plain sense: the whole sequence of arms is `epsilon`-DP
#'   for the replacement of one reward. With `contexts = "public"` that is all that is
#'   promised.
#' * Contexts too, by `epsilon`-*joint* DP, with `model = "shared"`, or with a `batch`: the
#'   arms of all other rounds together change their probabilities by at most a factor
#'   e^`epsilon`. The reason is that a round is an item in the same place of the trees,
#'   whichever arm it pulled.
#' * `model = "disjoint"` without a `batch`, as in Mishra and Thakurta, promises less for
#'   contexts: given the arms up to and including the round's own, the arms of later rounds
#'   change their probabilities by at most a factor e^`epsilon`. In words: later arms tell
#'   about a round's context at most `epsilon` beyond what its own arm tells. Under joint DP the
#'   adversary does not see the round's own arm. Another context may move the round to another arm; then one arm's
#'   trees miss an item and another's have one more, and all later items change their
#'   places. The paper does not discuss it.
#'
#' With a `batch` of B, every B rounds each model's trees get one leaf, the sum over the
#' batch, be it zero or not; a last batch that is not full is never released. There are fewer
#' leaves, so levels = 1 + floor(log2(horizon / B)). A round that moves to another arm moves
#' the sums of two, so disjoint models with private contexts get twice the noise that
#' `mechanism` says. At a horizon of 1e5 a sum therefore has about as much noise with a batch of 100
#' as without, and half of it with a batch of 1000, for a stronger guarantee.
#'
#' What is released, and only that, are the sums that make up A (each pair i <= j once, so
#' that A is symmetric) and b. Every term of such a sum is a product of numbers of \[0,
#' 1\], so one round moves a sum by at most 1; the terms are clipped to make sure. By
#' `mechanism`:
#'
#' * `"tree"`: each of the d (d + 1) / 2 + d sums has a binary tree of its own with the
#'   budget epsilon_0 = `epsilon` / (d (d + 1) / 2 + d), and Laplace noise of scale levels
#'   / epsilon_0 on each node, levels = floor(log2(horizon)) + 1. With d = 6 these are 27
#'   sums: the total of 2.7 in Mishra and Thakurta is 27 times 0.1.
#' * `"gamma"`: one tree for the whole vector of p sums; a node gets noise of density
#'   proportional to exp(-`epsilon` |x| / (levels sqrt(p))), because one round moves the
#'   vector by at most sqrt(p) in Euclidean norm. For the same `epsilon` its noise has a
#'   standard deviation smaller by a factor of about sqrt(2).
#'
#' With `contexts = "public"` A is exact and the budget is spent on the d sums of b.
#'
#' Noise can make A anything but positive definite: its eigenvalues below `ridge`, which
#' without noise is the least there can be, are raised to `ridge`. That is post-processing
#' of what was released.
#'
#' @param alpha Factor on the width: a number, at least 0.
#' @param v Factor on the posterior's standard deviation: a number, at least 0.
#' @param epsilon The whole privacy budget: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no privacy.
#' @param ... Must be empty: what follows is named.
#' @param model One model an arm (`"disjoint"`) or one for all (`"shared"`).
#' @param contexts Are contexts to be protected (`"private"`), or only rewards
#'   (`"public"`)? Does nothing when `epsilon` is `Inf`.
#' @param mechanism A tree for each number (`"tree"`) or one for all of them (`"gamma"`).
#'   Does nothing when `epsilon` is `Inf`.
#' @param batch Release sums every so many rounds: a whole number, or `NULL` for after every
#'   reward. Does nothing when `epsilon` is `Inf`.
#' @param ridge The regularisation: a positive number.
#' @returns A contextual policy, for [dpts_simulate()] on [arms_linear()] and for
#'   [dpts_replay()].
#' @references Li, L., Chu, W., Langford, J. and Schapire, R. E. (2010). A
#' contextual-bandit approach to personalized news article recommendation. WWW.
#' arXiv:1003.0146.
#'
#' Agrawal, S. and Goyal, N. (2013). Thompson Sampling for Contextual Bandits with Linear
#' Payoffs. ICML. arXiv:1209.3352.
#'
#' Mishra, N. and Thakurta, A. (2015). (Nearly) Optimal Differentially Private Stochastic
#' Multi-Arm Bandits. UAI.
#'
#' Shariff, R. and Sheffet, O. (2018). Differentially Private Contextual Linear Bandits.
#' NeurIPS. arXiv:1810.00068.
#' @family policies
#' @examples
#' policy_linucb()
#' # The budget of Mishra and Thakurta's experiment with contexts of six numbers
#' policy_linucb(epsilon = 27 * 0.1)
#' # Joint privacy
#' policy_linucb(epsilon = 27 * 0.1, batch = 200)
#' policy_lin_ts(v = 0.5, epsilon = 0.6, contexts = "public")
#' @export
policy_linucb <- function(alpha = 1, epsilon = Inf, ..., model = c("disjoint", "shared"),
                          contexts = c("private", "public"), mechanism = c("tree", "gamma"),
                          batch = NULL, ridge = 1) {
  check_dots_empty(...)
  alpha <- check_number(alpha, 0)
  new_linear_policy("linucb", list(alpha = alpha), epsilon, model, contexts, mechanism,
                    batch, ridge, "LinUCB", rlang::current_env())
}

#' @rdname policy_linucb
#' @export
policy_lin_ts <- function(v = 1, epsilon = Inf, ..., model = c("disjoint", "shared"),
                          contexts = c("private", "public"), mechanism = c("tree", "gamma"),
                          batch = NULL, ridge = 1) {
  check_dots_empty(...)
  v <- check_number(v, 0)
  new_linear_policy("lin_ts", list(v = v), epsilon, model, contexts, mechanism, batch,
                    ridge, "linear Thompson sampling", rlang::current_env())
}

new_linear_policy <- function(name, width, epsilon, model, contexts, mechanism, batch, ridge,
                              title, call) {
  epsilon <- check_budget_number(epsilon, arg = "epsilon", call = call)
  model <- check_choice(model, c("disjoint", "shared"), arg = "model", call = call)
  contexts <- check_choice(contexts, c("private", "public"), arg = "contexts", call = call)
  mechanism <- check_choice(mechanism, c("tree", "gamma"), arg = "mechanism", call = call)
  if (!is.null(batch)) batch <- check_count(batch, arg = "batch", call = call)
  ridge <- check_number(ridge, 0, open = TRUE, arg = "ridge", call = call)
  private <- epsilon < Inf
  args <- c(width, list(epsilon = epsilon, model = model),
            if (private) list(contexts = contexts, mechanism = mechanism, batch = batch),
            list(ridge = ridge))
  params <- c(width, list(epsilon = epsilon, shared = as.numeric(model == "shared"),
                          public = as.numeric(contexts == "public"),
                          gamma = as.numeric(mechanism == "gamma"), ridge = ridge,
                          batch = batch %||% 0))
  policy <- new_policy(
    name, params, args = args,
    guarantee = if (private) guarantee_linear(epsilon, model, contexts, batch)
      else guarantee_none(),
    title = paste0(if (private) "private ", title)
  )
  policy$contextual <- TRUE
  policy
}

#' Composes and converts as pure privacy does; the neighbours say what is protected
#' @noRd
guarantee_linear <- function(epsilon, model, contexts, batch) {
  guarantee_pure(epsilon, neighbours = if (contexts == "public") {
    "public_context"
  } else if (model == "shared" || !is.null(batch)) {
    "joint"
  } else {
    "own_arm"
  })
}

#' Always the same arm
#'
#' `policy_fixed()` pulls one arm in every round: a baseline for [dpts_replay()], where it
#' keeps the rounds in which the log shows that arm.
#'
#' @param arm The arm: a whole number, from 1. In [dpts_replay()] it counts in the log's
#'   own order of arms (see there); where it is not on offer, the first arm of the pool is
#'   pulled.
#' @inherit policy_ts_gaussian return
#' @section Privacy:
#' The choice does not use the rewards: epsilon = 0.
#' @family policies
#' @examples
#' policy_fixed(2)
#' @export
policy_fixed <- function(arm = 1) {
  arm <- check_count(arm, 1, .Machine$integer.max)
  new_policy("fixed", list(arm = arm), guarantee_pure(0), title = "always the same arm",
             any_reward = TRUE)
}

# ---- does a policy fit a problem? -----------------------------------------------------

is_contextual <- function(policy) isTRUE(core(policy)$contextual)
is_shared <- function(policy) is_contextual(policy) && core(policy)$params$shared == 1
#' Does its guarantee rest on contexts in \[0, 1\]?
#' @noRd
needs_unit_contexts <- function(policy) is_contextual(policy) && core(policy)$params$epsilon < Inf

#' @param context `NULL`, or a list: `own` (does each arm have its own?), `lower` and
#'   `upper` (range of all entries)
#' @noRd
check_fit <- function(policies, k, context, where, call = caller_env()) {
  stop_fit <- function(name, because) {
    rlang::abort(sprintf("`policies` must fit %s: policy \"%s\" %s.", where, name, because),
                 class = c("dpts_error_contexts", "dpts_error_input", "dpts_error"),
                 arg = "policies", call = call)
  }
  for (name in names(policies)) {
    policy <- core(policies[[name]])
    if (inherits(policy, "policy_fixed") && policy$params$arm > k) {
      stop_fit(name, sprintf("pulls arm %s of %d", format(policy$params$arm), k))
    }
    if (!is_contextual(policy)) next
    if (is.null(context)) stop_fit(name, "needs contexts, and there are none")
    if (is_shared(policy) && !context$own) {
      stop_fit(name, paste("has one model for all arms, which needs contexts that differ between",
                           "arms"))
    }
    if (needs_unit_contexts(policy) && (context$lower < 0 || context$upper > 1)) {
      stop_fit(name, sprintf(
        "is private and needs contexts in [0, 1]; these range from %s to %s",
        format(context$lower, digits = 4), format(context$upper, digits = 4)
      ))
    }
  }
}
