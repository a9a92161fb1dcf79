#' Contextual policies: LinUCB and linear Thompson sampling
#'
#' Policies that see something about each person before they choose, and learn whom which arm suits.
#' Both regress the reward on the round's context. `policy_linucb()` adds a confidence
#' width to the prediction; `policy_lin_ts()` draws the regression's coefficients from
#' their posterior. With a finite `mu` or `epsilon` both are private: the regression's sums are
#' released with correlated Gaussian noise, or by tree-based aggregation.
#'
#' @details
#' A model keeps A = `ridge` I + sum z z' and b = sum r z over the contexts z and rewards r it has seen, and
#' theta = A^-1 b. In each round, for every arm on offer, with its context z:
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
#' Without privacy an observation costs O(d^2): A^-1 is updated by the formula of Sherman and Morrison. With
#' private contexts every observation costs an eigenvalue decomposition, O(d^3).
#'
#' @section Gaussian noise:
#' With `mu`, every model has one counter like [counter_gaussian()] for all of its sums (`mechanism =
#' "toeplitz"`): a factorisation of running sums, near the square root, with correlated noise. The other
#' choice, Gaussian trees (`mechanism = "tree"`), is there for comparison: in 100 releases the largest
#' variance of a sum is 6.5 times as high, in 1e5 releases 12 times.
#'
#' Let N be the bound `norm` on a context's Euclidean length, sqrt(d) if there is none. Longer contexts
#' are shortened to it before a model learns from them. If a round's context and reward are replaced,
#' z z' and r z move by at most sqrt(2) N^2 in Frobenius norm and sqrt(2) N, in one model or in
#' those of two arms together (in a shared model by at most d and sqrt(d), too): contexts and rewards are
#' not negative, so the squares of differences are at most the sums of squares. A gets symmetric noise
#' whose variance off the diagonal is half of that on it, which measures a move by its Frobenius norm. A
#' and b each take half of mu^2: what is released is `mu`-GDP, and so is all that is made of it.
#' Contexts that are known to be short are worth much: the noise in A is in proportion to N^2.
#'
#' The noise's spectrum sets the regularisation. With probability 99% the least eigenvalue of the noise in A
#' is above -sqrt(v) (sqrt(2 d) + sqrt(2 log(n / 0.01))) in all n releases (of all models) together, where
#' v is the variance on the diagonal (Davidson and Szarek 2001, Theorem 2.11, and the concentration of
#' Gaussian measure). `margin` times this bound is added to A's diagonal, so with `margin = 1` the noisy A
#' stays above `ridge` with probability 99%. The price is that arms that began badly may starve behind a
#' large regularisation: half of it had less regret in our simulations. Eigenvalues
#' that are below `ridge` even so are raised to it. All of this is post-processing.
#'
#' `vignette("contextual")` shows regret against `mu` beside trees and policies without privacy.
#'
#' @section On people:
#' In [dpts_agent()] these policies and [policy_logistic_ucb()] release whole numbers with exact noise.
#' Entries of contexts and rewards are rounded to multiples of 2^-10, and a context that is longer than
#' `norm` is then shortened on that grid, downwards: let contexts fill \[0, 1\]. Products of two such
#' numbers are multiples of 2^-20, and sums of them are exact; the products of the logistic model are
#' rounded to 2^-20. Trees release these sums with exact Laplace or Gaussian noise. The factorisation's
#' weighted sums are rounded down to 2^-20 before their noise, and the noise is larger by what this
#' rounding and that of the arithmetic before it can add to a round's move: by 0.2% at most in batches that
#' grow, up to eight numbers in a context and a `norm` of 1; more where batches are of a few rounds or
#' `norm` is small. After 2^24 rewards nothing more is learned from batches.
#'
#' Two things cannot be had. `mechanism = "gamma"` is refused, because its noise is a direction in space,
#' which has no exact form. And a choice itself, whose arithmetic is that of doubles, needs no exactness:
#' it is made of released sums and of the person's own context.
#'
#' @section Privacy:
#' `epsilon` is the whole budget, and pure; `mu` is the whole budget of Gaussian differential privacy (see
#' [privacy_gdp()]). The next section describes its noise, which is far less than that of the trees.
#' Neighbouring streams differ in the reward and the context of one round, replaced by any other reward
#' in \[0, 1\] and any other context in \[0, 1\]^d; pools of arms on offer are public. The arm of a round is
#' chosen from that round's own context in the clear, and to hide the context from it would force regret that
#' grows linearly (Shariff and Sheffet 2018). What is protected, therefore, is a round's reward and context
#' against the arms of *the other rounds*:
#'
#' * Rewards, always, and in the plain sense: the whole sequence of arms is `epsilon`-DP for the replacement
#'   of one reward. With `contexts = "public"` that is all that is promised.
#' * Contexts too, by `epsilon`-*joint* DP, with `model = "shared"`, or with a `batch`: the arms of all other
#'   rounds together change their probabilities by at most a factor e^`epsilon`. The reason is that a round is
#'   an item in the same place of the trees, whichever arm it pulled.
#' * `model = "disjoint"` without a `batch`, as in Mishra and Thakurta, promises less for contexts: given the
#'   arms up to and including the round's own, the arms of later rounds change their probabilities by at most
#'   a factor e^`epsilon`. In words: later arms tell about a round's context at most `epsilon` beyond what its
#'   own arm tells. Under joint DP the adversary does not see the round's own arm. Another context may move
#'   the round to another arm; then one arm's trees miss an item and another's have one more, and all later
#'   items change their places. The paper does not discuss it.
#'
#' With `mu` there is always a batch, and joint DP holds, or DP for rewards with public contexts.
#'
#' With a `batch` of B, every B rounds each model's trees get one leaf, the sum over the batch, be it zero or
#' not; a last batch that is not full is never released. There are fewer leaves, so levels = 1 +
#' floor(log2(horizon / B)). With `batch = "growing"` sums are released when the rounds have grown by a tenth,
#' but at least by 300 / max(1, budget), where the budget is `mu` or `epsilon`: after 300, 600, ..., 3000,
#' 3300, 3630, ... rounds, 46 times in 1e5 rounds and 311 times in 2^53. A round that moves to another arm
#' moves the sums of two, so disjoint models with private contexts get twice the noise that `mechanism` says.
#' At a horizon of 1e5 a sum therefore has about as much noise with a batch of 100 as without, and half of it
#' with a batch of 1000, for a stronger guarantee.
#'
#' Under `epsilon` what is released, and only that, are the sums that make up A (each pair i <= j once, so
#' that A is symmetric) and b. Every term of such a sum is a product of numbers of \[0, 1\], so one round
#' moves a sum by at most 1; the terms are clipped to make sure. By `mechanism`:
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
#' Noise can make A anything but positive definite: its eigenvalues below `ridge`, which without noise is the
#' least there can be, are raised to `ridge`. That is post-processing of what was released.
#'
#' @param epsilon The whole privacy budget: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf` for no privacy.
#' @param alpha Factor on the width: a number, at least 0.
#' @param v Factor on the posterior's standard deviation: a number, at least 0.
#' @param ... Must be empty: what follows is named.
#' @param mu The whole budget of Gaussian differential privacy: from 1e-6 to 1e12, or `Inf`. Not together
#'   with `epsilon`.
#' @param model One model an arm (`"disjoint"`) or one for all (`"shared"`).
#' @param contexts Are contexts to be protected (`"private"`), or only rewards
#'   (`"public"`)? Does nothing without `epsilon` and `mu`.
#' @param mechanism With `epsilon`, a tree for each number (`"tree"`) or one for all of them
#'   (`"gamma"`); with `mu`, a factorisation (`"toeplitz"`) or Gaussian trees (`"tree"`). `NULL` is the first.
#' @param batch Release sums every so many rounds: a whole number, or `"growing"`. `NULL` is after every
#'   reward with `epsilon`, and `"growing"` with `mu`. Does nothing without them.
#' @param norm With `mu`, a bound on the Euclidean length of contexts: a positive number, or `NULL`
#'   for what follows from \[0, 1\]^d.
#' @param ridge The regularisation: a positive number.
#' @param margin With `mu` and private contexts, what is added to the regularisation on account of the noise:
#'   see Gaussian noise. A number, at least 0.
#' @returns A contextual policy, for [dpts_simulate()] on [arms_linear()], [dpts_replay()] and [dpts_agent()].
#' @template li
#' @references Agrawal, S. and Goyal, N. (2013). Thompson Sampling for Contextual Bandits with Linear
#'   Payoffs. ICML. arXiv:1209.3352.
#' @template mishra
#' @template shariff
#' @references Davidson, K. R. and Szarek, S. J. (2001). Local operator theory, random matrices and Banach
#'   spaces. Handbook of the Geometry of Banach Spaces 1, 317-366.
#' @family policies
#' @concept contextual bandit
#' @examples
#' policy_linucb()
#' # The budget of Mishra and Thakurta's experiment with contexts of six numbers
#' policy_linucb(epsilon = 27 * 0.1)
#' # Joint privacy
#' policy_linucb(epsilon = 27 * 0.1, batch = 200)
#' # The same with less noise; contexts are known to have length 1 at most
#' policy_linucb(mu = 1, norm = 1)
#' policy_lin_ts(epsilon = 0.6, v = 0.5, contexts = "public")
#' @export
policy_linucb <- function(epsilon = Inf, alpha = 1, ..., mu = Inf, model = c("disjoint", "shared"),
                          contexts = c("private", "public"), mechanism = NULL, batch = NULL,
                          norm = NULL, ridge = 1, margin = 0.5) {
  check_dots_empty(...)
  alpha <- check_number(alpha, 0)
  new_linear_policy("linucb", list(alpha = alpha), epsilon, mu, model, contexts, mechanism,
                    batch, norm, ridge, margin, "LinUCB")
}

#' @rdname policy_linucb
#' @export
policy_lin_ts <- function(epsilon = Inf, v = 1, ..., mu = Inf, model = c("disjoint", "shared"),
                          contexts = c("private", "public"), mechanism = NULL, batch = NULL,
                          norm = NULL, ridge = 1, margin = 0.5) {
  check_dots_empty(...)
  v <- check_number(v, 0)
  new_linear_policy("lin_ts", list(v = v), epsilon, mu, model, contexts, mechanism, batch, norm,
                    ridge, margin, "linear Thompson sampling")
}

new_linear_policy <- function(name, width, epsilon, mu, model, contexts, mechanism, batch, norm,
                              ridge, margin, title) {
  epsilon <- check_budget_number(epsilon)
  mu <- check_budget_number(mu)
  if (epsilon < Inf && mu < Inf) {
    abort_arg("mu", "Inf where `epsilon` is finite, since noise is either Laplace's or Gaussian", mu)
  }
  model <- check_choice(model, c("disjoint", "shared"))
  contexts <- check_choice(contexts, c("private", "public"))
  known <- if (mu < Inf) c("toeplitz", "tree") else c("tree", "gamma", if (epsilon == Inf) "toeplitz")
  mechanism <- check_choice(mechanism %||% known[1], known, arg = "mechanism")
  if (mu < Inf && is.null(batch)) batch <- "growing"
  growing <- identical(batch, "growing")
  if (is.character(batch) && !growing) {
    abort_arg("batch", "a whole number, \"growing\" or NULL", batch)
  }
  if (!is.null(batch) && !growing) batch <- check_count(batch)
  if (!is.null(norm)) norm <- check_number(norm, 0, open = TRUE)
  ridge <- check_number(ridge, 0, open = TRUE)
  margin <- check_number(margin, 0)
  private <- min(epsilon, mu) < Inf
  # What follows from the kind of budget is no argument: update() may change the budget.
  args <- c(if (mu < Inf) list(mu = mu) else list(epsilon = epsilon), width, list(model = model),
            if (private) list(contexts = contexts, mechanism = if (mechanism != known[1]) mechanism,
                              batch = if (!growing || mu == Inf) batch),
            if (mu < Inf) list(norm = norm),
            list(ridge = ridge),
            if (mu < Inf && contexts == "private") list(margin = margin))
  params <- c(width, list(epsilon = epsilon, mu = mu, shared = as.numeric(model == "shared"),
                          public = as.numeric(contexts == "public"), mechanism = mechanism,
                          ridge = ridge,
                          batch = if (growing) least_batch(min(epsilon, mu)) else batch %||% 0,
                          growth = if (growing) BATCH_GROWTH else 0, norm = norm %||% NA_real_,
                          margin = margin))
  new_policy(
    name, params, args = args,
    guarantee = if (private) guarantee_linear(epsilon, mu, model, contexts, batch) else guarantee_none(),
    title = paste0(if (private) "private ", title)
  )
}

# Growing batches: by how much the rounds grow until sums are released again, and for how many at least.
# Sums of fewer rounds are noise, and until the first release arms are pulled at random.
BATCH_GROWTH <- 1.1
least_batch <- function(budget) ceiling(300 / max(1, budget))

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

is_shared <- function(policy) is_contextual(policy) && isTRUE(core(policy)$params$shared == 1)
# Does its guarantee rest on contexts in [0, 1]?
needs_unit_contexts <- function(policy) {
  is_contextual(policy) && !promises_nothing(core(policy)$guarantee)
}

# `context`: `NULL`, or a list: `own` (does each arm have its own?), `lower` and
#   `upper` (range of all entries)
check_fit <- function(policies, k, context, where) {
  stop_fit <- function(name, because) {
    abort_input("policies", "`policies` must fit %s: policy \"%s\" %s.", where, name, because,
                class = "dpts_error_contexts")
  }
  for (name in names(policies)) {
    policy <- core(policies[[name]])
    why <- misfit(policy, k)
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

# Why a policy cannot play so many arms, in words, or NULL
misfit <- function(policy, k) UseMethod("misfit")

#' @export
misfit.default <- function(policy, k) NULL

#' @export
misfit.dpts_policy_fixed <- function(policy, k) {
  if (policy$params$arm > k) sprintf("pulls arm %s of %d", number_text(policy$params$arm), k)
}
